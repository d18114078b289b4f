//! The submission overview (contract 6.9): a page of groups on topics, and how far the groups of each topic are.

use model::assignment::AssignmentLabel;
use model::course::CourseLabel;
use model::group::GroupLabel;
use model::group_assignment::Statistics;
use model::id::AssignmentId;
use model::subject::SubjectLabel;
use model::text::Title;
use model::time::Timestamp;
use model::whole::WholeGroupAssignment;
use serde::Serialize;
use utoipa::ToSchema;

use super::audience::Audience;
use super::group::GroupSubjectView;
use super::group_assignment::GroupAssignmentView;
use super::submission::SubmissionView;

/// A page of the submission overview.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SubmissionOverview)]
pub struct OverviewView {
    /// The rows of this page
    pub data: Vec<OverviewRowView>,
    /// How far the groups of each topic are; they follow the filters except status and paging
    pub stats: Vec<OverviewStatsView>,
    /// What to send as `cursor` for the next page; null on the last one
    #[schema(required)]
    pub next_cursor: Option<String>,
}

/// One group on one topic.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SubmissionOverviewRow)]
pub struct OverviewRowView {
    group_assignment: GroupAssignmentView,
    group: GroupLabel,
    assignment: AssignmentLabel,
    #[schema(required)]
    course: Option<CourseLabel>,
    #[schema(required)]
    subject: Option<GroupSubjectView>,
    #[schema(required)]
    current_submission: Option<SubmissionView>,
}

/// How far the groups of one topic are; the five statuses add up to the groups.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SubmissionOverviewStats)]
pub struct OverviewStatsView {
    assignment_id: AssignmentId,
    title: Title,
    deadline: Timestamp,
    groups: i64,
    not_started: i64,
    in_progress: i64,
    submitted: i64,
    returned: i64,
    graded: i64,
    /// Groups whose current submission came late
    late: i64,
    /// Groups that handed in and have no published grade
    ungraded: i64,
}

impl OverviewRowView {
    /// The row as those see it who manage the class.
    pub fn new(whole: &WholeGroupAssignment, course: Option<CourseLabel>, subject: Option<&SubjectLabel>) -> Self {
        let submission = |submission| SubmissionView::new(submission, &Audience::Staff);
        Self {
            group_assignment: GroupAssignmentView::new(whole, &Audience::Staff),
            group: whole.place.group.clone(),
            assignment: whole.assignment.label(),
            course,
            subject: subject.map(GroupSubjectView::from),
            current_submission: whole.current_submission.as_ref().map(submission),
        }
    }
}

impl OverviewStatsView {
    /// The numbers of one topic.
    pub fn new(assignment_id: AssignmentId, title: Title, deadline: Timestamp, counted: &Statistics) -> Self {
        Self {
            assignment_id,
            title,
            deadline,
            groups: counted.groups,
            not_started: counted.not_started,
            in_progress: counted.in_progress,
            submitted: counted.submitted,
            returned: counted.returned,
            graded: counted.graded,
            late: counted.late,
            ungraded: counted.ungraded,
        }
    }
}
