//! Courses in responses and events.

use api_macros::view;
use domain::class::ClassLabel;
use domain::course::CourseStatus;
use domain::details::{CourseCounts, CourseDetails};
use domain::from_fields;
use domain::id::{ClassId, CourseId, SubjectId};
use domain::text::{CourseDescription, Name};
use domain::time::Timestamp;

/// A course.
#[view]
pub struct CourseView {
    id: CourseId,
    name: Name,
    description: Option<CourseDescription>,
    class_id: ClassId,
    subject_id: SubjectId,
    status: CourseStatus,
    created_at: Timestamp,
    updated_at: Timestamp,
    class: ClassLabel,
    subject: CourseSubjectView,
    counts: CourseCounts,
}

/// The subject of a course.
#[view]
#[schema(as = CourseSubjectView)]
pub struct CourseSubjectView {
    id: SubjectId,
    name: String,
    color: Option<String>,
}

impl CourseView {
    pub fn id(&self) -> &CourseId {
        &self.id
    }
}

impl From<CourseDetails> for CourseView {
    fn from(details: CourseDetails) -> Self {
        let CourseDetails {
            course,
            class,
            subject,
            counts,
        } = details;
        from_fields!(course => Self {
            id, name, description, class_id, subject_id, status, created_at, updated_at,
            class: class,
            subject: from_fields!(subject => CourseSubjectView { id, name, color }),
            counts: counts,
        })
    }
}
