//! Copies of topics and courses in responses.

use api_macros::view;
use domain::assignment::Assignment;
use domain::group::GroupLabel;
use domain::id::{AssignmentId, CourseId};
use domain::text::Title;
use domain::time::Timestamp;

use super::course::CourseView;

/// What a copy created. In a dry run, the ids are those of a preview and do not exist.
#[view]
pub struct CopiesView {
    /// The course of the copies.
    course: CourseView,
    assignments: Vec<CopiedTopicView>,
    /// The new groups. Groups that stay in their course are not listed.
    groups: Vec<GroupLabel>,
    /// Number of copied files.
    files: usize,
    /// Number of places in groups that were not copied, because their students are not in the class of the copy.
    missing_members: usize,
}

/// A topic that a copy created.
#[view]
pub struct CopiedTopicView {
    id: AssignmentId,
    title: Title,
    deadline: Timestamp,
    is_draft: bool,
    publish_at: Option<Timestamp>,
}

impl CopiesView {
    pub fn new(
        course: CourseView,
        topics: Vec<Assignment>,
        groups: Vec<GroupLabel>,
        files: usize,
        missing_members: usize,
    ) -> Self {
        Self {
            course,
            assignments: topics.into_iter().map(CopiedTopicView::from).collect(),
            groups,
            files,
            missing_members,
        }
    }

    pub fn course_id(&self) -> &CourseId {
        self.course.id()
    }
}

impl From<Assignment> for CopiedTopicView {
    fn from(topic: Assignment) -> Self {
        Self {
            id: topic.id,
            title: topic.title,
            deadline: topic.deadline,
            is_draft: topic.publication.is_draft,
            publish_at: topic.publication.publish_at,
        }
    }
}
