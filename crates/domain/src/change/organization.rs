//! Changes of organizations.

use crate::file::FileKey;
use crate::id::SessionId;
use crate::organization::Organization;
use crate::patch::FieldDiff;
use crate::user::Person;

/// A change of an organization.
#[derive(Clone, Debug, PartialEq)]
pub enum OrganizationChange {
    Created {
        organization: Box<Organization>,
        /// The first owner; `None` while the owner is only invited.
        owner: Option<Person>,
    },
    /// Fields or settings changed.
    Updated {
        organization: Box<Organization>,
        changed: FieldDiff,
    },
    /// The organization was suspended; its socket connections are closed.
    Suspended {
        organization: Box<Organization>,
        /// Sessions in which the organization is active.
        sessions: Vec<SessionId>,
    },
    Activated {
        organization: Box<Organization>,
        /// Sessions in which the organization is active.
        sessions: Vec<SessionId>,
    },
    /// The organization was deleted. A job deletes its rows later.
    Deleted {
        /// The organization before its deletion.
        organization: Box<Organization>,
        /// Sessions in which the organization was active.
        sessions: Vec<SessionId>,
    },
    /// Some rows of a deleted organization were purged.
    Purged {
        /// The files referenced by these rows.
        files: Vec<FileKey>,
    },
}
