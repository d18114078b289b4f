//! Changes of homerooms.

use crate::homeroom::Homeroom;
use crate::id::UserId;
use crate::patch::FieldDiff;
use crate::user::Person;
use crate::version::VersionedObject;

/// A change of a homeroom.
#[derive(Clone, Debug, PartialEq)]
pub enum HomeroomChange {
    Created {
        homeroom: Homeroom,
    },
    Updated {
        homeroom: Homeroom,
        changed: FieldDiff,
        students: Vec<UserId>,
    },
    /// The homeroom was deleted; classes that referred to it have no homeroom any more.
    Deleted {
        /// The homeroom before its deletion.
        homeroom: Homeroom,
        /// The students whose membership ended with it.
        students: Vec<UserId>,
        /// Number of classes that referred to it.
        classes: u64,
    },
    StudentsAdded {
        homeroom: Homeroom,
        students: Vec<Person>,
    },
    StudentRemoved {
        homeroom: Homeroom,
        student: Person,
    },
}

impl HomeroomChange {
    /// Returns the objects whose own content changed; their versions are raised.
    pub fn changed_objects(&self) -> Vec<VersionedObject> {
        match self {
            Self::Updated { homeroom, .. } => vec![(&homeroom.id).into()],
            Self::Created { .. } | Self::Deleted { .. } | Self::StudentsAdded { .. } | Self::StudentRemoved { .. } => {
                Vec::new()
            }
        }
    }
}
