//! What happens to homerooms.

use crate::edit::Changed;
use crate::homeroom::Homeroom;
use crate::id::UserId;
use crate::user::Person;

/// What happened to a homeroom.
#[derive(Clone, Debug, PartialEq)]
pub enum HomeroomChange {
    /// It was made.
    Created {
        /// The homeroom.
        homeroom: Homeroom,
    },
    /// Its fields changed.
    Updated {
        /// The homeroom as it is now.
        homeroom: Homeroom,
        /// What changed.
        changed: Changed,
        /// Its students.
        students: Vec<UserId>,
    },
    /// It was deleted; classes that named it name none.
    Deleted {
        /// The homeroom as it was.
        homeroom: Homeroom,
        /// The students whose enrolments ended with it.
        students: Vec<UserId>,
        /// How many classes named it.
        classes: u64,
    },
    /// Students came in.
    StudentsAdded {
        /// The homeroom.
        homeroom: Homeroom,
        /// The students.
        students: Vec<Person>,
    },
    /// A student went.
    StudentRemoved {
        /// The homeroom.
        homeroom: Homeroom,
        /// The student.
        student: Person,
    },
}
