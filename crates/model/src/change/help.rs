//! What happens to the help flag of a group.

use crate::text::{HelpMessage, Note};
use crate::user::Person;
use crate::whole::WholeGroup;

/// What happened to the help flag of a group.
#[derive(Clone, Debug, PartialEq)]
pub enum HelpChange {
    /// A student asked for help, or asked again.
    Requested {
        /// The group as it is now.
        group: Box<WholeGroup>,
        /// Who asked.
        by: Person,
        /// Whether the flag went up: only then it is logged.
        is_first: bool,
    },
    /// A teacher is on the way.
    Claimed {
        /// The group as it is now.
        group: Box<WholeGroup>,
        /// The teacher.
        by: Person,
    },
    /// The call was handled.
    Resolved {
        /// The group as it is now.
        group: Box<WholeGroup>,
        /// The teacher.
        by: Person,
        /// What the group had asked.
        message: Option<HelpMessage>,
        /// What the teacher noted.
        note: Option<Note>,
        /// How long the group waited.
        waited_seconds: i64,
    },
}
