//! How many bytes a school keeps. Adding up takes time in proportion to the rows of that school, so a task does it now and
//! then; what came since is added to its row by the unit that writes the row of a file.

use std::collections::HashMap;

use model::file::FileKey;
use model::id::ClassId;
use model::storage::{ClassStorage, QuotaBytes, StorageKinds, StorageRoom, StorageUsage};
use model::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::sql::{Columns, Sql};
use super::{Scope, Work};
use crate::{args, statements};
use common::error::{Error, Result};

/// Exports whose sizes are asked for; they go after 14 days.
const EXPORTS_MAX: i64 = 1000;

/// The documents of a school, reached from its rooms: every join is by a key alone, whatever other schools keep. With
/// the organization beside it PostgreSQL would read the table of all schools for the rows of one; the references keep
/// within it anyway.
macro_rules! of_documents {
    ($select:literal, $join:literal) => {
        concat!(
            "SELECT k.id, k.name, CAST(SUM(",
            $select,
            ") AS BIGINT)
            FROM work_rooms w
            JOIN groups g ON g.id = w.group_id
            JOIN classes k ON k.id = g.class_id
            JOIN documents d ON d.work_room_id = w.id ",
            $join,
            " WHERE w.organization_id = $1 GROUP BY k.id, k.name"
        )
    };
}

/// What was handed in; attempts may share a copy, which counts once.
macro_rules! of_copies {
    ($select:literal, $join:literal) => {
        concat!(
            "SELECT x.id, x.name, CAST(SUM(x.size) AS BIGINT) FROM (SELECT DISTINCT k.id, k.name, ",
            $select,
            " FROM group_assignments l
            JOIN classes k ON k.organization_id = l.organization_id AND k.id = l.class_id
            JOIN submissions s ON s.organization_id = l.organization_id AND s.group_assignment_id = l.id
            JOIN submission_documents c ON c.organization_id = s.organization_id AND c.submission_id = s.id ",
            $join,
            " WHERE l.organization_id = $1) x GROUP BY x.id, x.name"
        )
    };
}

statements! {
    /// The present content of documents.
    DOCUMENTS = of_documents!("r.size", "JOIN document_revisions r ON r.id = d.current_revision_id");
    /// Older revisions of documents.
    REVISIONS = of_documents!("r.size", "JOIN document_revisions r ON r.document_id = d.id
        AND (d.current_revision_id IS NULL OR r.id <> d.current_revision_id)");
    /// Files of topics.
    TOPIC_FILES = "SELECT k.id, k.name, CAST(SUM(f.size) AS BIGINT)
        FROM assignments a
        JOIN classes k ON k.organization_id = a.organization_id AND k.id = a.class_id
        JOIN assignment_attachments f ON f.organization_id = a.organization_id AND f.assignment_id = a.id
        WHERE a.organization_id = $1 GROUP BY k.id, k.name";
    /// Files of groups.
    GROUP_FILES = "SELECT k.id, k.name, CAST(SUM(f.size) AS BIGINT)
        FROM groups g
        JOIN classes k ON k.organization_id = g.organization_id AND k.id = g.class_id
        JOIN group_attachments f ON f.organization_id = g.organization_id AND f.group_id = g.id
        WHERE g.organization_id = $1 GROUP BY k.id, k.name";
    /// Files in chats.
    MESSAGE_FILES = "SELECT k.id, k.name, CAST(SUM(f.size) AS BIGINT)
        FROM work_rooms w
        JOIN groups g ON g.organization_id = w.organization_id AND g.id = w.group_id
        JOIN classes k ON k.organization_id = g.organization_id AND k.id = g.class_id
        JOIN message_attachments f ON f.organization_id = w.organization_id AND f.work_room_id = w.id
        WHERE w.organization_id = $1 GROUP BY k.id, k.name";
    /// Copies that were handed in.
    SUBMISSIONS = of_copies!("c.file_key, c.size", "");
    /// Conversions of documents.
    CONVERTED_DOCUMENTS = of_documents!("x.size", "JOIN document_revisions r ON r.document_id = d.id
        JOIN converted_files x ON x.revision_id = r.id");
    /// Conversions of what was handed in.
    CONVERTED_COPIES = of_copies!("v.file_key, v.size", "JOIN converted_files v ON v.organization_id = c.organization_id
        AND v.submission_document_id = c.id");
    /// Exports that can still be fetched; their sizes are known to the files alone.
    EXPORTS = "SELECT file_key FROM jobs WHERE organization_id = $1 AND file_key IS NOT NULL
        ORDER BY created_at DESC, id DESC LIMIT $2";
    /// What was counted last.
    USAGE = "SELECT details, counted_at FROM storage_usages WHERE organization_id = $1 AND counted_at > 0";
    /// What came and went until now.
    MARK = "SELECT added, removals FROM storage_usages WHERE organization_id = $1";
    /// What is kept and what may be kept.
    ROOM = "SELECT COALESCE(u.bytes + u.added, 0), o.storage_quota, o.group_storage_quota, COALESCE(u.counted_at, 0),
            COALESCE(u.removals - u.removals_counted, 0)
        FROM organizations o LEFT JOIN storage_usages u ON u.organization_id = $1 WHERE o.id = $1";
    /// Files came. The row is held until the unit ends: of two that want the last byte one sees the other.
    ADD = "INSERT INTO storage_usages (organization_id, bytes, counted_at, added, removals) VALUES ($1, 0, 0, $2, $3)
        ON CONFLICT (organization_id) DO UPDATE
        SET added = storage_usages.added + excluded.added, removals = storage_usages.removals + excluded.removals";
    /// Files went. A school that is being purged has no row any more, and needs none.
    REMOVE = "UPDATE storage_usages SET removals = removals + $2 WHERE organization_id = $1";
    /// The group whose room a new file is in.
    GROUP_OF_FILE = "SELECT w.group_id FROM document_revisions r
            JOIN documents d ON d.organization_id = r.organization_id AND d.id = r.document_id
            JOIN work_rooms w ON w.organization_id = d.organization_id AND w.id = d.work_room_id
            WHERE r.organization_id = $1 AND r.file_key = $2
        UNION ALL SELECT w.group_id FROM message_attachments m
            JOIN work_rooms w ON w.organization_id = m.organization_id AND w.id = m.work_room_id
            WHERE m.organization_id = $1 AND m.file_key = $2
        UNION ALL SELECT f.group_id FROM group_attachments f WHERE f.organization_id = $1 AND f.file_key = $2";
    /// What a group keeps: its documents with all revisions, its files, the files of its chat.
    OF_GROUP = "SELECT CAST(COALESCE(SUM(x.size), 0) AS BIGINT) FROM (
            SELECT r.size FROM work_rooms w
            JOIN documents d ON d.organization_id = w.organization_id AND d.work_room_id = w.id
            JOIN document_revisions r ON r.organization_id = d.organization_id AND r.document_id = d.id
            WHERE w.organization_id = $1 AND w.group_id = $2
        UNION ALL SELECT m.size FROM work_rooms w
            JOIN message_attachments m ON m.organization_id = w.organization_id AND m.work_room_id = w.id
            WHERE w.organization_id = $1 AND w.group_id = $2
        UNION ALL SELECT f.size FROM group_attachments f WHERE f.organization_id = $1 AND f.group_id = $2) x";
}

/// Files whose rows came and went in a unit.
#[derive(Debug, Default)]
pub(super) struct Stored {
    added: i64,
    removals: i64,
}

/// What had come and gone when a count looked.
#[derive(Debug, Default, Clone, Copy)]
pub struct StorageMark {
    pub(super) added: i64,
    pub(super) removals: i64,
}

/// Everything besides the sum and its time, as the row keeps it.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Details {
    kinds: StorageKinds,
    classes: Vec<ClassStorage>,
}

/// What the column `details` holds.
pub(super) fn details(usage: &StorageUsage) -> Result<String> {
    let details = Details {
        kinds: usage.kinds,
        classes: usage.classes.clone(),
    };
    Ok(serde_json::to_string(&details)?)
}

impl Scope<'_> {
    /// What was counted last; nothing when nobody counted yet.
    pub fn storage_usage(&mut self) -> Result<Option<StorageUsage>> {
        self.maybe(&USAGE, args![], |row| {
            let Details { kinds, classes } = row.json()?;
            let counted_at: Timestamp = row.take()?;
            Ok(StorageUsage {
                counted_at,
                total_bytes: kinds.total(),
                kinds,
                classes,
            })
        })
    }

    /// What is kept and what may be kept at this moment.
    pub fn storage_room(&mut self) -> Result<StorageRoom> {
        self.one(&ROOM, args![], |row| {
            let used = row.take()?;
            let quota = row.take::<Option<i64>>()?.map(QuotaBytes::stored);
            let group_quota = row.take::<Option<i64>>()?.map(QuotaBytes::stored);
            Ok(StorageRoom {
                used,
                quota: quota.unwrap_or(QuotaBytes::OF_SCHOOL),
                group_quota: group_quota.unwrap_or(QuotaBytes::OF_GROUP),
                is_counted: row.take::<i64>()? > 0,
                may_be_less: row.take::<i64>()? != 0,
            })
        })
    }

    /// What came and went until now; a count that reads it in the same unit knows what it saw.
    pub fn storage_mark(&mut self) -> Result<StorageMark> {
        let found = self.maybe(&MARK, args![], |row| {
            Ok(StorageMark {
                added: row.take()?,
                removals: row.take()?,
            })
        });
        Ok(found?.unwrap_or_default())
    }

    /// The bytes of every class by kind, counted now.
    pub fn storage_of_classes(&mut self) -> Result<Vec<(ClassStorage, StorageKinds)>> {
        type Field = fn(&mut StorageKinds) -> &mut i64;
        let sums: [(&'static Sql, Field); 8] = [
            (&DOCUMENTS, |kinds| &mut kinds.documents),
            (&REVISIONS, |kinds| &mut kinds.revisions),
            (&TOPIC_FILES, |kinds| &mut kinds.attachments),
            (&GROUP_FILES, |kinds| &mut kinds.attachments),
            (&MESSAGE_FILES, |kinds| &mut kinds.messages),
            (&SUBMISSIONS, |kinds| &mut kinds.submissions),
            (&CONVERTED_DOCUMENTS, |kinds| &mut kinds.conversions),
            (&CONVERTED_COPIES, |kinds| &mut kinds.conversions),
        ];
        let mut classes: HashMap<ClassId, (ClassStorage, StorageKinds)> = HashMap::new();
        for (statement, field) in sums {
            for (class, bytes) in self.many(statement, args![], sum)? {
                let entry = classes.entry(class.id.clone());
                *field(&mut entry.or_insert((class, StorageKinds::default())).1) += bytes;
            }
        }
        Ok(classes.into_values().collect())
    }

    /// The files of exports that can still be fetched.
    pub fn export_files(&mut self) -> Result<Vec<FileKey>> {
        self.many(&EXPORTS, args![EXPORTS_MAX], |row| {
            Ok(FileKey::new(row.take::<String>()?))
        })
    }
}

impl Work<'_> {
    /// Says that the row of a file of so many bytes was written.
    pub(super) fn stored(&mut self, bytes: i64) {
        self.stored.added += bytes;
    }

    /// Says that a file goes, however large it was.
    pub(super) fn unstored(&mut self) {
        self.stored.removals += 1;
    }

    /// Writes what came and went in this unit. It takes the one row that all writers of a school share, so it comes as
    /// late as possible.
    pub fn note_stored(&mut self) -> Result<()> {
        let Stored { added, removals } = std::mem::take(&mut self.stored);
        match (added, removals) {
            (0, 0) => Ok(()),
            (0, _) => self.run(&REMOVE, args![removals]).map(drop),
            _ => self.run(&ADD, args![added, removals]).map(drop),
        }
    }

    /// Refuses what this unit stored when the school, or the group whose room the file is in, may not keep so much.
    pub fn must_have_room(&mut self, file: Option<&FileKey>) -> Result<()> {
        if self.stored.added == 0 {
            return Ok(());
        }
        self.note_stored()?;
        let room = self.storage_room()?;
        let group: Option<String> = match file {
            Some(key) => self.maybe(&GROUP_OF_FILE, args![key.as_str()], |row| row.take())?,
            None => None,
        };
        let of_group: i64 = match group {
            Some(group) => self.one(&OF_GROUP, args![group], |row| row.take())?,
            None => 0,
        };
        if room.takes(0) && room.group_quota.allows(of_group) {
            Ok(())
        } else {
            Err(Error::QuotaExceeded)
        }
    }
}

fn sum(row: &mut Columns<'_>) -> Result<(ClassStorage, i64)> {
    let class = ClassStorage {
        id: row.take()?,
        name: row.take()?,
        bytes: 0,
    };
    Ok((class, row.take()?))
}
