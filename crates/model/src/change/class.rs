//! What happens to classes.

use super::removed::Removed;
use crate::class::{Class, ClassLabel};
use crate::edit::Changed;
use crate::id::UserId;
use crate::time::Timestamp;
use crate::user::Person;
use crate::whole::{WholeClass, WholeGroup};

/// What happened to a class.
#[derive(Clone, Debug, PartialEq)]
pub enum ClassChange {
    /// It was made.
    Created {
        /// The class.
        class: Box<WholeClass>,
        /// The class it is a copy of.
        copied_from: Option<ClassLabel>,
    },
    /// Its fields or its subjects changed.
    Updated {
        /// The class as it is now.
        class: Box<WholeClass>,
        /// What changed; `subjectIds` for the subjects.
        changed: Changed,
        /// Its students, whose sockets come or go when the class becomes or leaves a draft.
        students: Vec<UserId>,
    },
    /// It was deleted.
    Deleted {
        /// The class as it was.
        class: Box<Class>,
        /// What went with it.
        removed: Removed,
        /// Its students.
        students: Vec<UserId>,
        /// Its owner and co-teachers.
        teachers: Vec<UserId>,
    },
    /// Co-teachers came or went.
    TeachersChanged {
        /// The class as it is now.
        class: Box<WholeClass>,
        /// Who came.
        added: Vec<Person>,
        /// Who went.
        removed: Vec<Person>,
    },
    /// Students were enrolled.
    Enrolled {
        /// The class.
        class: Box<Class>,
        /// The students.
        students: Vec<Person>,
    },
    /// A student left the class and with it all its groups there.
    Unenrolled {
        /// The class.
        class: Box<Class>,
        /// The student.
        student: Person,
        /// The groups, as they are without the student.
        left: Vec<WholeGroup>,
    },
    /// The completion of a student was noted or cleared.
    EnrollmentUpdated {
        /// The class.
        class: Box<Class>,
        /// The student.
        student: Person,
        /// When the class was completed.
        completed_at: Option<Timestamp>,
    },
}
