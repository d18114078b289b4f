//! What happens to sessions.

use crate::id::{OrganizationId, SessionId, UserId};
use crate::news::KillReason;
use crate::user::Person;

/// What happened to sessions.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionChange {
    /// Sessions are over; their sockets are cut off.
    Ended {
        /// Whose.
        user: UserId,
        /// Which.
        sessions: Vec<SessionId>,
        /// Why.
        reason: KillReason,
    },
    /// Somebody who administers the school ended one session.
    RevokedByAdmin {
        /// Whose.
        user: Person,
        /// Which.
        session: SessionId,
    },
    /// Another organization was chosen: the sockets of the session change rooms.
    OrganizationChosen {
        /// The session.
        session: SessionId,
        /// The organization, if any.
        organization: Option<OrganizationId>,
    },
    /// A sign-in failed.
    LoginFailed {
        /// The account, if there is one of that address.
        user: Option<UserId>,
        /// The address that was typed.
        email: String,
        /// The network address it came from.
        address: Option<String>,
        /// The super admin who acted as this person.
        impersonated_by: Option<UserId>,
    },
}
