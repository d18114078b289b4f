//! What those who run the platform do to an account, told to every organization the person belongs to.

use crate::access::PlatformRole;
use crate::time::Timestamp;
use crate::user::Person;

/// What the platform did to the account of a member.
#[derive(Clone, Debug, PartialEq)]
pub enum AdministrationChange {
    /// The person is kept out; all sessions are over.
    Banned {
        /// The person.
        user: Person,
        /// Until when; for ever without an end.
        until: Option<Timestamp>,
    },
    /// The person may sign in again.
    Unbanned {
        /// The person.
        user: Person,
    },
    /// The role on the platform changed; all sessions of the person ended.
    PlatformRoleChanged {
        /// The person.
        user: Person,
        /// The role before.
        from: PlatformRole,
        /// The role now.
        to: PlatformRole,
        /// How many sessions ended.
        ended_sessions: usize,
    },
    /// Sessions of the person were revoked.
    SessionsRevoked {
        /// The person.
        user: Person,
        /// How many.
        count: usize,
    },
    /// Somebody who runs the platform begins to act as the person.
    ImpersonationBegun {
        /// The person.
        user: Person,
    },
    /// That is over.
    ImpersonationEnded {
        /// The person.
        user: Person,
    },
}
