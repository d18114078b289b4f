//! What happens to courses.

use super::removed::Removed;
use crate::course::Course;
use crate::edit::Changed;
use crate::whole::WholeCourse;

/// What happened to a course.
#[derive(Clone, Debug, PartialEq)]
pub enum CourseChange {
    /// It was made.
    Created {
        /// The course.
        course: Box<WholeCourse>,
    },
    /// Its fields changed; groups that follow it to another subject are changes of their own.
    Updated {
        /// The course as it is now.
        course: Box<WholeCourse>,
        /// What changed.
        changed: Changed,
    },
    /// It was deleted with everything in it.
    Deleted {
        /// The course as it was.
        course: Box<Course>,
        /// What went with it.
        removed: Removed,
    },
}
