//! Attachments of topics and groups in responses and events. Storage keys are not exposed.

use api_macros::view;
use domain::assignment::Assignment;
use domain::file::{AssignmentAttachment, GroupAttachment};
use domain::from_fields;
use domain::group_assignment::is_effective;
use domain::id::{AssignmentId, AttachmentId, GroupAssignmentId, GroupId, UserId};
use domain::text::FileName;
use domain::time::Timestamp;

use super::audience::{Audience, StaffOnly};

/// An attachment of a topic, for all its groups or for one.
#[view]
pub struct AssignmentAttachmentView {
    id: AttachmentId,
    assignment_id: AssignmentId,
    /// The group the attachment is for; null if it is for all groups of the topic.
    group_assignment_id: Option<GroupAssignmentId>,
    file_name: FileName,
    mime_type: String,
    size: i64,
    uploaded_by_id: UserId,
    created_at: Timestamp,
    url: String,
    /// Staff only: false while the attachment of a single group is ignored because the topic is shared.
    is_effective: StaffOnly<bool>,
}

impl AssignmentAttachmentView {
    /// Returns the download URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the attachment as visible to the audience.
    pub fn new(file: &AssignmentAttachment, assignment: &Assignment, audience: &Audience) -> Self {
        from_fields!(&file => Self {
            id, assignment_id, group_assignment_id, uploaded_by_id, created_at,
            file_name: file.file.file_name.clone(),
            mime_type: file.file.mime_type.clone(),
            size: file.file.size,
            url: format!(
                "/api/assignments/{}/attachments/{}/download",
                file.assignment_id, file.id
            ),
            is_effective: audience.staff_only(is_effective(assignment, file)),
        })
    }
}

/// An attachment of a group.
#[view]
pub struct GroupAttachmentView {
    id: AttachmentId,
    group_id: GroupId,
    file_name: FileName,
    mime_type: String,
    size: i64,
    uploaded_by_id: UserId,
    created_at: Timestamp,
    url: String,
}

impl GroupAttachmentView {
    /// Returns the download URL.
    pub fn url(&self) -> &str {
        &self.url
    }
}

view_from!(file: &GroupAttachment => GroupAttachmentView {
    id, group_id, uploaded_by_id, created_at,
    file_name: file.file.file_name.clone(),
    mime_type: file.file.mime_type.clone(),
    size: file.file.size,
    url: format!("/api/groups/{}/attachments/{}/download", file.group_id, file.id),
});
