//! Adds and removes files of groups. The bytes are stored before the row is inserted and deleted after the row is
//! gone.

use model::change::group::GroupChange;
use model::file::{FILES_MAX, GroupAttachment, StoredFile};
use model::id::{AttachmentId, GroupId};
use model::refusal::Refusal;

use super::assignments::person;
use common::error::Result;
use db::Work;

pub fn add(work: &mut Work<'_>, id: &GroupId, file: AttachmentId, stored: StoredFile) -> Result<GroupAttachment> {
    let whole = work.group_to_write(id)?;
    if whole.attachments.len() >= FILES_MAX {
        return Err(Refusal::LimitReached {
            what: "files of a group",
            limit: FILES_MAX,
        }
        .into());
    }
    let attachment = GroupAttachment {
        id: file,
        organization_id: work.organization().clone(),
        group_id: id.clone(),
        file: stored,
        uploaded_by_id: person(work)?,
        created_at: work.now(),
    };
    work.insert_group_file(&attachment)?;
    let group = Box::new(work.whole_group(id)?);
    work.record(GroupChange::AttachmentAdded {
        group,
        attachment: attachment.clone(),
    });
    Ok(attachment)
}

pub fn remove(work: &mut Work<'_>, id: &GroupId, file: &AttachmentId) -> Result<()> {
    work.group_to_write(id)?;
    let attachment = work.file_of_group(id, file)?;
    work.delete_group_file(id, file)?;
    let group = Box::new(work.whole_group(id)?);
    work.record(GroupChange::AttachmentRemoved { group, attachment });
    Ok(())
}
