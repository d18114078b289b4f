//! What people do with the files of a topic. The bytes are kept before the row is written and go after it is gone; that
//! is the business of the caller and of `changes/`.

use garde::Validate;
use model::change::assignment::AssignmentChange;
use model::file::{AssignmentAttachment, FILES_MAX, StoredFile};
use model::id::{AssignmentId, AttachmentId, GroupAssignmentId};
use model::refusal::Refusal;
use model::whole::WholeAssignment;
use serde::Deserialize;

use super::assignments::person;
use common::error::{Error, Result};
use db::Work;

/// What a form says besides its file.
#[derive(Debug, Clone, Default, Deserialize, Validate)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[garde(allow_unvalidated)]
pub struct AttachmentFields {
    /// The link of the one group it is for; for all groups when it is absent or empty.
    #[serde(default)]
    pub group_assignment_id: Option<GroupAssignmentId>,
}

/// A file to be added to a topic.
#[derive(Debug, Clone)]
pub struct NewAttachment {
    /// Its id.
    pub id: AttachmentId,
    /// The bytes.
    pub file: StoredFile,
    /// The link of the one group it is for.
    pub group_assignment_id: Option<GroupAssignmentId>,
    /// Whether it waits for a bulk edit.
    pub is_staged: bool,
}

/// Adds a file to a topic, for all its groups or for one.
pub fn add(
    work: &mut Work<'_>,
    id: &AssignmentId,
    new: &NewAttachment,
) -> Result<(WholeAssignment, AssignmentAttachment)> {
    let whole = work.assignment_to_write(id)?;
    if let Some(link) = &new.group_assignment_id {
        whole
            .links
            .iter()
            .find(|whole| whole.link.id == *link)
            .ok_or(Error::NotFound)?;
    }
    whole.assignment.writable()?;
    // Staged files have a limit of their own: a full topic can still exchange one file for another.
    let present = if new.is_staged {
        work.staged_files(id)?.len()
    } else {
        whole.attachments.len()
    };
    room_for(present + 1)?;
    let attachment = AssignmentAttachment {
        id: new.id.clone(),
        organization_id: work.organization().clone(),
        assignment_id: id.clone(),
        group_assignment_id: new.group_assignment_id.clone(),
        file: new.file.clone(),
        staged_at: new.is_staged.then(|| work.now()),
        uploaded_by_id: person(work)?,
        created_at: work.now(),
    };
    work.insert_file(&attachment)?;
    let whole = work.assignment(id)?.whole;
    let assignment = Box::new(whole.clone());
    work.record(AssignmentChange::AttachmentAdded {
        assignment,
        attachment: attachment.clone(),
    });
    Ok((whole, attachment))
}

/// Removes a file of a topic, staged ones too.
pub fn remove(work: &mut Work<'_>, id: &AssignmentId, file: &AttachmentId) -> Result<()> {
    let whole = work.assignment_to_write(id)?;
    let attachment = work.file_of_assignment(id, file)?;
    whole.assignment.writable()?;
    work.delete_file(file)?;
    let assignment = Box::new(work.assignment(id)?.whole);
    work.record(AssignmentChange::AttachmentRemoved { assignment, attachment });
    Ok(())
}

/// Refuses more files than a topic can hold.
pub(super) fn room_for(files: usize) -> Result<()> {
    if files > FILES_MAX {
        return Err(Refusal::LimitReached {
            what: "files of a topic",
            limit: FILES_MAX,
        }
        .into());
    }
    Ok(())
}
