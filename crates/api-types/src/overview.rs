//! The submission overview: a page of group assignments, and the progress of the groups of each topic.

use api_macros::view;
use domain::assignment::AssignmentLabel;
use domain::course::CourseLabel;
use domain::details::GroupAssignmentDetails;
use domain::from_fields;
use domain::group::GroupLabel;
use domain::group_assignment::Statistics;
use domain::id::AssignmentId;
use domain::subject::SubjectLabel;
use domain::text::Title;
use domain::time::Timestamp;

use super::audience::Audience;
use super::group::GroupSubjectView;
use super::group_assignment::GroupAssignmentView;
use super::submission::SubmissionView;

/// A page of the submission overview.
#[view]
#[schema(as = SubmissionOverview)]
pub struct OverviewView {
    /// The rows of this page.
    pub data: Vec<OverviewRowView>,
    /// Progress of the groups of each topic, subject to all filters except status and paging.
    pub stats: Vec<OverviewStatsView>,
    /// Value of `cursor` for the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// A row of the submission overview: the link of one group to one topic.
#[view]
#[schema(as = SubmissionOverviewRow)]
pub struct OverviewRowView {
    group_assignment: GroupAssignmentView,
    group: GroupLabel,
    assignment: AssignmentLabel,
    course: Option<CourseLabel>,
    subject: Option<GroupSubjectView>,
    current_submission: Option<SubmissionView>,
}

/// Progress of the groups of one topic. The five status counts add up to `groups`.
#[view]
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
    /// Groups whose current submission was late.
    late: i64,
    /// Groups that submitted and have no published grade.
    ungraded: i64,
}

impl OverviewRowView {
    /// Returns the row as visible to users who manage the class.
    pub fn new(details: &GroupAssignmentDetails, course: Option<CourseLabel>, subject: Option<&SubjectLabel>) -> Self {
        let submission = |submission| SubmissionView::new(submission, &Audience::Staff);
        Self {
            group_assignment: GroupAssignmentView::new(details, &Audience::Staff),
            group: details.group_context.group.clone(),
            assignment: details.assignment.label(),
            course,
            subject: subject.map(GroupSubjectView::from),
            current_submission: details.current_submission.as_ref().map(submission),
        }
    }
}

impl OverviewStatsView {
    pub fn new(assignment_id: AssignmentId, title: Title, deadline: Timestamp, counted: &Statistics) -> Self {
        from_fields!(counted => Self {
            groups, not_started, in_progress, submitted, returned, graded, late, ungraded,
            assignment_id: assignment_id,
            title: title,
            deadline: deadline,
        })
    }
}
