//! The link of a group to a topic as answers and events show it (contract 3.5). It can only be built from the whole link,
//! so that no answer leaves without the task text that the group reads.

use model::assignment::AssignmentLabel;
use model::group::GroupLabel;
use model::group_assignment::GroupAssignmentStatus;
use model::id::{AssignmentId, GroupAssignmentId, GroupId, SubmissionId};
use model::text::Description;
use model::time::Timestamp;
use model::whole::WholeGroupAssignment;
use serde::Serialize;
use utoipa::ToSchema;

use super::attachment::AssignmentAttachmentView;
use super::audience::{Audience, StaffOnly};
use super::submission::SubmissionView;

/// One group on one topic.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = GroupAssignment)]
pub struct GroupAssignmentView {
    id: GroupAssignmentId,
    assignment_id: AssignmentId,
    group_id: GroupId,
    status: GroupAssignmentStatus,
    #[schema(required)]
    current_submission_id: Option<SubmissionId>,
    /// Staff only: the group's own text, also while the topic is shared and it is ignored
    #[serde(skip_serializing_if = "StaffOnly::is_absent")]
    #[schema(value_type = Option<Description>, required = false)]
    description_override: StaffOnly<Option<Description>>,
    /// The task text that the group reads
    effective_description: Description,
    /// The files that the group sees
    effective_attachments: Vec<AssignmentAttachmentView>,
    #[schema(required)]
    late_allowed_until: Option<Timestamp>,
    /// Documents in the current submission
    submitted_count: i64,
    /// Whether the group handed in as much as was asked for
    is_complete: bool,
    created_at: Timestamp,
    updated_at: Timestamp,
    group: GroupLabel,
    assignment: AssignmentLabel,
    #[schema(required)]
    current_submission: Option<SubmissionView>,
}

impl GroupAssignmentView {
    /// The link as this audience sees it.
    pub fn new(whole: &WholeGroupAssignment, audience: &Audience) -> Self {
        let link = &whole.link;
        let file = |file| AssignmentAttachmentView::new(file, &whole.assignment, audience);
        Self {
            id: link.id.clone(),
            assignment_id: link.assignment_id.clone(),
            group_id: link.group_id.clone(),
            status: link.status,
            current_submission_id: link.current_submission_id.clone(),
            description_override: audience.staff_only(link.description_override.clone()),
            effective_description: whole.effective_description().clone(),
            effective_attachments: whole.effective_attachments().map(file).collect(),
            late_allowed_until: link.late_allowed_until,
            submitted_count: whole.submitted_count,
            is_complete: whole.is_complete(),
            created_at: link.created_at,
            updated_at: link.updated_at,
            group: whole.place.group.clone(),
            assignment: whole.assignment.label(),
            current_submission: whole
                .current_submission
                .as_ref()
                .map(|submission| SubmissionView::new(submission, audience)),
        }
    }
}
