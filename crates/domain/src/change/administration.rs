//! Changes that platform administrators make to an account; recorded for every organization the user belongs to.

use crate::access::PlatformRole;
use crate::time::Timestamp;
use crate::user::Person;

/// A change of a member's account by a platform administrator.
#[derive(Clone, Debug, PartialEq)]
pub enum AdministrationChange {
    /// The user was banned; all sessions ended.
    Banned {
        user: Person,
        /// End of the ban; `None` for a permanent ban.
        until: Option<Timestamp>,
    },
    /// The ban was lifted.
    Unbanned { user: Person },
    /// The platform role changed; all sessions of the user ended.
    PlatformRoleChanged {
        user: Person,
        from: PlatformRole,
        to: PlatformRole,
        /// Number of sessions that ended.
        ended_sessions: usize,
    },
    SessionsRevoked {
        user: Person,
        /// Number of sessions that ended.
        count: usize,
    },
    /// A platform administrator started to impersonate the user.
    ImpersonationBegun { user: Person },
    /// The impersonation ended.
    ImpersonationEnded { user: Person },
}
