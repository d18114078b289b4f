//! Changes of organizations.

use crate::file::FileKey;
use crate::id::{OrganizationId, SessionId};
use crate::organization::Organization;
use crate::patch::FieldDiff;
use crate::time::Timestamp;
use crate::user::Person;
use crate::version::VersionedObject;

/// What the archive of an imported organization states about itself, and the number of its people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchiveOrigin {
    /// The address of the other installation.
    pub installation: Option<String>,
    /// The short name there.
    pub slug: String,
    pub release: String,
    /// When the rows were read.
    pub taken_at: Option<Timestamp>,
    /// New accounts.
    pub accounts: u64,
    /// People whose addresses had an account and were invited.
    pub invited: usize,
}

/// A change of an organization.
#[derive(Clone, Debug, PartialEq)]
pub enum OrganizationChange {
    Created {
        organization: Box<Organization>,
        /// The first owner; `None` while the owner is only invited.
        owner: Option<Person>,
    },
    /// The organization arrived from another installation, with all rows.
    Imported {
        organization: OrganizationId,
        name: String,
        origin: ArchiveOrigin,
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

impl OrganizationChange {
    /// Returns the files that no row refers to any more.
    pub fn removed_files(&self) -> &[FileKey] {
        match self {
            Self::Purged { files } => files,
            Self::Created { .. }
            | Self::Imported { .. }
            | Self::Updated { .. }
            | Self::Suspended { .. }
            | Self::Activated { .. }
            | Self::Deleted { .. } => &[],
        }
    }

    /// Returns the objects whose own content changed; their versions are raised.
    pub fn changed_objects(&self) -> Vec<VersionedObject> {
        match self {
            Self::Updated { .. } | Self::Suspended { .. } | Self::Activated { .. } => {
                vec![VersionedObject::Organization]
            }
            Self::Created { .. } | Self::Imported { .. } | Self::Deleted { .. } | Self::Purged { .. } => Vec::new(),
        }
    }
}
