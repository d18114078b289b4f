//! Changes of the help flag of a group.

use crate::details::GroupDetails;
use crate::help::HelpRequestOutcome;
use crate::text::{HelpMessage, Note};
use crate::user::Person;

/// A change of the help flag of a group.
#[derive(Clone, Debug, PartialEq)]
pub enum HelpChange {
    /// A student requested help, or repeated the request.
    Requested {
        group: Box<GroupDetails>,
        by: Person,
        outcome: HelpRequestOutcome,
    },
    /// A student marked the help request as no longer needed.
    Withdrawn { group: Box<GroupDetails>, by: Person },
    /// A teacher claimed the help request.
    Claimed { group: Box<GroupDetails>, by: Person },
    /// The help request was resolved.
    Resolved {
        group: Box<GroupDetails>,
        by: Person,
        /// The message of the request.
        message: Option<HelpMessage>,
        /// The teacher's note.
        note: Option<Note>,
        /// How long the group waited, in seconds.
        waited_seconds: i64,
    },
}
