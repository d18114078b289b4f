//! What happens to organizations.

use crate::edit::Changed;
use crate::file::FileKey;
use crate::id::SessionId;
use crate::organization::Organization;
use crate::user::Person;

/// What happened to an organization.
#[derive(Clone, Debug, PartialEq)]
pub enum OrganizationChange {
    /// It was made.
    Created {
        /// The organization.
        organization: Box<Organization>,
        /// Its first owner; none while the owner is invited.
        owner: Option<Person>,
    },
    /// Its fields or settings changed.
    Updated {
        /// The organization as it is now.
        organization: Box<Organization>,
        /// What changed.
        changed: Changed,
    },
    /// It was suspended; its sockets are cut off.
    Suspended {
        /// The organization as it is now.
        organization: Box<Organization>,
        /// Sessions that work in it.
        sessions: Vec<SessionId>,
    },
    /// It was activated again.
    Activated {
        /// The organization as it is now.
        organization: Box<Organization>,
        /// Sessions that work in it.
        sessions: Vec<SessionId>,
    },
    /// It was deleted; its rows follow later.
    Deleted {
        /// The organization as it was.
        organization: Box<Organization>,
        /// Sessions that work in it.
        sessions: Vec<SessionId>,
    },
    /// Some of the rows of a deleted organization are gone.
    Purged {
        /// The files they named.
        files: Vec<FileKey>,
    },
}
