//! Adds and removes files of groups. The bytes are stored before the row is inserted and deleted after the row is
//! gone.

use domain::change::GroupChange;
use domain::domain_error::DomainError;
use domain::file::{FILES_MAX, GroupAttachment, StoredFile};
use domain::id::{AttachmentId, GroupId};

use super::acting_user::acting_user;
use common::error::Result;
use db::WriteTx;

pub fn add(tx: &mut WriteTx<'_>, id: &GroupId, file: AttachmentId, stored: StoredFile) -> Result<GroupAttachment> {
    let details = tx.lock_writable_group(id)?;
    DomainError::check_limit("files of a group", details.attachments.len() + 1, FILES_MAX)?;
    let attachment = GroupAttachment {
        id: file,
        organization_id: tx.organization().clone(),
        group_id: id.clone(),
        file: stored,
        uploaded_by_id: acting_user(tx)?,
        created_at: tx.now(),
    };
    tx.insert_group_file(&attachment)?;
    let group = Box::new(tx.whole_group(id)?);
    tx.record(GroupChange::AttachmentChanged {
        group,
        attachment: attachment.clone(),
        is_added: true,
    });
    Ok(attachment)
}

pub fn remove(tx: &mut WriteTx<'_>, id: &GroupId, file: &AttachmentId) -> Result<()> {
    tx.lock_writable_group(id)?;
    let attachment = tx.file_of_group(id, file)?;
    tx.delete_group_file(id, file)?;
    let group = Box::new(tx.whole_group(id)?);
    tx.record(GroupChange::AttachmentChanged {
        group,
        attachment,
        is_added: false,
    });
    Ok(())
}
