//! Adds and removes files of topics. The bytes are stored before the row is inserted and deleted after the row is
//! gone; the caller and `changes/` take care of that.

use domain::change::AssignmentChange;
use domain::details::AssignmentDetails;
use domain::domain_error::DomainError;
use domain::file::{AssignmentAttachment, FILES_MAX, StoredFile};
use domain::id::{AssignmentId, AttachmentId, GroupAssignmentId};
use garde::Validate;
use serde::Deserialize;

use super::acting_user::acting_user;
use common::error::{Error, Result};
use db::WriteTx;

/// The fields of the upload form besides the file.
#[derive(Debug, Clone, Default, Deserialize, Validate)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[garde(allow_unvalidated)]
pub struct AttachmentFields {
    /// The group assignment that the file is for. If absent or empty, the file is for all groups.
    #[serde(default)]
    pub group_assignment_id: Option<GroupAssignmentId>,
}

/// A file to add to a topic.
#[derive(Debug, Clone)]
pub struct NewAttachment {
    pub id: AttachmentId,
    /// The stored bytes.
    pub file: StoredFile,
    /// The group assignment that the file is for; `None` for all groups.
    pub group_assignment_id: Option<GroupAssignmentId>,
    /// Whether the file is staged for a bulk edit.
    pub is_staged: bool,
}

/// Adds a file to a topic, for all groups or for one.
pub fn add(
    tx: &mut WriteTx<'_>,
    id: &AssignmentId,
    new: &NewAttachment,
) -> Result<(AssignmentDetails, AssignmentAttachment)> {
    let details = tx.lock_writable_assignment(id)?;
    if let Some(link) = &new.group_assignment_id {
        details
            .links
            .iter()
            .find(|details| details.link.id == *link)
            .ok_or(Error::NotFound)?;
    }
    details.assignment.writable()?;
    // Staged files have a separate limit, so that a topic with the maximum number of files can still exchange one.
    let present = if new.is_staged {
        tx.staged_files(id)?.len()
    } else {
        details.attachments.len()
    };
    room_for(present + 1)?;
    let attachment = AssignmentAttachment {
        id: new.id.clone(),
        organization_id: tx.organization().clone(),
        assignment_id: id.clone(),
        group_assignment_id: new.group_assignment_id.clone(),
        file: new.file.clone(),
        staged_at: new.is_staged.then(|| tx.now()),
        uploaded_by_id: acting_user(tx)?,
        created_at: tx.now(),
    };
    tx.insert_file(&attachment)?;
    let details = tx.assignment(id)?.details;
    let assignment = Box::new(details.clone());
    tx.record(AssignmentChange::AttachmentChanged {
        assignment,
        attachment: attachment.clone(),
        is_added: true,
    });
    Ok((details, attachment))
}

/// Removes a file from a topic. Staged files can be removed too.
pub fn remove(tx: &mut WriteTx<'_>, id: &AssignmentId, file: &AttachmentId) -> Result<()> {
    let details = tx.lock_writable_assignment(id)?;
    let attachment = tx.file_of_assignment(id, file)?;
    details.assignment.writable()?;
    tx.delete_file(file)?;
    let assignment = Box::new(tx.assignment(id)?.details);
    tx.record(AssignmentChange::AttachmentChanged {
        assignment,
        attachment,
        is_added: false,
    });
    Ok(())
}

/// Checks the maximum number of files of a topic.
pub(super) fn room_for(files: usize) -> Result<()> {
    Ok(DomainError::check_limit("files of a topic", files, FILES_MAX)?)
}
