//! Single files of groups. Lists of files are read together with their groups.

use domain::file::GroupAttachment;
use domain::id::{AttachmentId, GroupId};

use super::links::group_file;
use crate::visibility::CAN_VIEW_GROUP;
use crate::{ReadTx, WriteTx, args, named, statements};
use common::error::{Error, Result};

statements! {
    BY_ID = "SELECT t.id, t.organization_id, t.group_id, t.file_key, t.file_name, t.mime_type, t.size, t.sha256,
            t.uploaded_by_id, t.created_at
        FROM group_attachments t
        JOIN groups g ON g.id = t.group_id
        JOIN classes k ON k.id = g.class_id
        WHERE t.organization_id = $1 AND t.group_id = $5 AND t.id = $6 AND {CAN_VIEW_GROUP}";
    INSERT = "INSERT INTO group_attachments (organization_id, id, group_id, file_name, mime_type, size, sha256,
            file_key, uploaded_by_id, created_at)
        VALUES ($1, :id, :group_id, :file_name, :mime_type, :size, :sha256, :file_key, :uploaded_by_id, :created_at)";
    DELETE = "DELETE FROM group_attachments WHERE organization_id = $1 AND group_id = $2 AND id = $3";
}

impl ReadTx<'_> {
    /// Returns a file of a group, or `NotFound` if the viewer cannot view the group.
    pub fn file_of_group(&mut self, group: &GroupId, id: &AttachmentId) -> Result<GroupAttachment> {
        self.fetch_one_visible(&BY_ID, args![group, id], group_file)
    }
}

impl WriteTx<'_> {
    /// Inserts a file and counts its size against the storage quota.
    pub fn insert_group_file(&mut self, new: &GroupAttachment) -> Result<()> {
        self.stored(new.file.size);
        let file = &new.file;
        self.execute_named(
            &INSERT,
            named![new =>
                id, group_id, uploaded_by_id, created_at,
                file_name: file.file_name,
                mime_type: file.mime_type,
                size: file.size,
                sha256: file.sha256,
                file_key: file.key,
            ],
        )
    }

    /// Deletes the row of a file. The caller schedules the removal of the stored bytes with the change it records.
    pub fn delete_group_file(&mut self, group: &GroupId, id: &AttachmentId) -> Result<()> {
        if self.execute_counted(&DELETE, args![group, id])? == 0 {
            Err(Error::NotFound)
        } else {
            Ok(())
        }
    }
}
