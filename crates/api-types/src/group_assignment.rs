//! Group assignments in responses and events. A view can only be built from a `GroupAssignmentDetails`, so that every
//! response contains the effective task text.

use api_macros::view;
use domain::assignment::{AssignmentLabel, AssignmentStatus};
use domain::details::{GroupAssignmentDetails, SubmissionDetails};
use domain::from_fields;
use domain::grade::Grade;
use domain::group::GroupLabel;
use domain::group_assignment::GroupAssignmentStatus;
use domain::id::{AssignmentId, GroupAssignmentId, GroupId, SubmissionId};
use domain::text::Description;
use domain::time::Timestamp;

use super::attachment::AssignmentAttachmentView;
use super::audience::{Audience, StaffOnly};
use super::submission::SubmissionView;

/// The link of a group to a topic.
#[view]
pub struct GroupAssignmentView {
    id: GroupAssignmentId,
    assignment_id: AssignmentId,
    group_id: GroupId,
    status: GroupAssignmentStatus,
    current_submission_id: Option<SubmissionId>,
    /// Staff only: the group's own task text, even while it is ignored because the topic is shared.
    description_override: StaffOnly<Option<Description>>,
    /// Staff only: whether the group reads its own text after the shared one instead of alone.
    includes_shared_text: StaffOnly<bool>,
    /// The task text that the group reads.
    effective_description: Description,
    /// The attachments that the group sees.
    effective_attachments: Vec<AssignmentAttachmentView>,
    late_allowed_until: Option<Timestamp>,
    /// Staff only: whether the topic is hidden from this group until it is published for it.
    is_draft: StaffOnly<bool>,
    /// Staff only: this group sees the topic from this time. If null and `isDraft` is false, the group follows the
    /// topic.
    publish_at: StaffOnly<Option<Timestamp>>,
    /// Number of documents in the current submission.
    submitted_count: i64,
    /// Whether the group submitted the required number of documents.
    is_complete: bool,
    created_at: Timestamp,
    updated_at: Timestamp,
    group: GroupLabel,
    assignment: AssignmentLabel,
    current_submission: Option<SubmissionView>,
}

/// The link of a group to a topic in a list. Texts, attachments and grades of the submission are only returned with the
/// group or the topic.
#[view]
pub struct GroupAssignmentSummaryView {
    id: GroupAssignmentId,
    assignment_id: AssignmentId,
    group_id: GroupId,
    status: GroupAssignmentStatus,
    current_submission_id: Option<SubmissionId>,
    /// The task text that the group reads.
    effective_description: Description,
    /// Extended deadline of the group; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    late_allowed_until: Option<Timestamp>,
    /// Absent without a submission.
    #[serde(skip_serializing_if = "Option::is_none")]
    current_submission: Option<SubmissionBriefView>,
}

/// A topic of a group, in a list of groups.
#[view]
pub struct GroupAssignmentOfGroupView {
    #[serde(flatten)]
    link: GroupAssignmentSummaryView,
    assignment: AssignmentBriefView,
}

/// A group of a topic, in a list of topics.
#[view]
pub struct GroupAssignmentOfTopicView {
    #[serde(flatten)]
    link: GroupAssignmentSummaryView,
    group: GroupBriefView,
}

/// A topic without its id.
#[view]
pub struct AssignmentBriefView {
    title: String,
    deadline: Timestamp,
    is_shared: bool,
    status: AssignmentStatus,
}

/// A group without its id.
#[view]
pub struct GroupBriefView {
    name: String,
    group_number: i64,
    display_name: Option<String>,
}

/// A submission without its id.
#[view]
pub struct SubmissionBriefView {
    submitted_at: Timestamp,
    is_late: bool,
    /// When its grade was published; absent without a published grade.
    #[serde(skip_serializing_if = "Option::is_none")]
    grade_published_at: Option<Timestamp>,
    /// When the latest feedback visible to students was published; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback_published_at: Option<Timestamp>,
}

impl From<&SubmissionDetails> for SubmissionBriefView {
    fn from(details: &SubmissionDetails) -> Self {
        let grade = details.grade.as_ref().and_then(Grade::for_group);
        let read = details
            .feedback
            .iter()
            .filter(|feedback| feedback.visible_to_students());
        Self {
            submitted_at: details.submission.submitted_at,
            is_late: details.submission.lateness.is_late,
            grade_published_at: grade.and_then(|grade| grade.published_at),
            feedback_published_at: read.filter_map(|feedback| feedback.published_at).max(),
        }
    }
}

impl From<&GroupAssignmentDetails> for GroupAssignmentOfGroupView {
    fn from(details: &GroupAssignmentDetails) -> Self {
        let topic = &details.assignment;
        Self {
            link: GroupAssignmentSummaryView::from(details),
            assignment: AssignmentBriefView {
                title: topic.title.as_str().to_owned(),
                deadline: topic.deadline,
                is_shared: topic.is_shared,
                status: topic.status(),
            },
        }
    }
}

impl From<&GroupAssignmentDetails> for GroupAssignmentOfTopicView {
    fn from(details: &GroupAssignmentDetails) -> Self {
        let group = &details.group_context.group;
        Self {
            link: GroupAssignmentSummaryView::from(details),
            group: from_fields!(&group => GroupBriefView { name, group_number, display_name }),
        }
    }
}

impl From<&GroupAssignmentDetails> for GroupAssignmentSummaryView {
    fn from(details: &GroupAssignmentDetails) -> Self {
        let link = &details.link;
        from_fields!(&link => Self {
            id, assignment_id, group_id, status, current_submission_id, late_allowed_until,
            effective_description: details.effective_description().into_owned(),
            current_submission: details.current_submission.as_ref().map(SubmissionBriefView::from),
        })
    }
}

impl GroupAssignmentView {
    /// Returns the link as visible to the audience.
    pub fn new(details: &GroupAssignmentDetails, audience: &Audience) -> Self {
        let link = &details.link;
        let file = |file| AssignmentAttachmentView::new(file, &details.assignment, audience);
        from_fields!(&link => Self {
            id, assignment_id, group_id, status, current_submission_id, late_allowed_until, created_at, updated_at,
            description_override: audience.staff_only(link.description_override.clone()),
            includes_shared_text: audience.staff_only(link.includes_shared_text),
            effective_description: details.effective_description().into_owned(),
            effective_attachments: details.effective_attachments().map(file).collect(),
            is_draft: audience.staff_only(link.publication.is_draft),
            publish_at: audience.staff_only(link.publication.publish_at),
            submitted_count: details.submitted_count,
            is_complete: details.is_complete(),
            group: details.group_context.group.clone(),
            assignment: details.assignment.label(),
            current_submission: details
                .current_submission
                .as_ref()
                .map(|submission| SubmissionView::new(submission, audience)),
        })
    }
}
