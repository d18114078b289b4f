//! Changes of courses.

use super::deletion::CascadeDeletion;
use crate::course::Course;
use crate::details::CourseDetails;
use crate::patch::FieldDiff;

/// A change of a course.
#[derive(Clone, Debug, PartialEq)]
pub enum CourseChange {
    Created {
        course: Box<CourseDetails>,
    },
    /// Fields of the course changed. Groups that follow it to another subject are recorded as changes of their own.
    Updated {
        course: Box<CourseDetails>,
        changed: FieldDiff,
    },
    /// The course was deleted with everything in it.
    Deleted {
        /// The course before its deletion.
        course: Box<Course>,
        /// Everything deleted with it.
        removed: CascadeDeletion,
    },
}
