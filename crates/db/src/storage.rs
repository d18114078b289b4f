//! Storage usage of an organization. A full count takes time in proportion to its rows, so a background task does it
//! periodically; changes since then are added by the transactions that insert rows of files.

use std::collections::HashMap;

use domain::file::FileKey;
use domain::id::ClassId;
use domain::storage::{ClassStorage, QuotaBytes, StorageAllowance, StorageKinds, StorageUsage};
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::sql::{Columns, Sql};
use super::{ReadTx, WriteTx};
use crate::{args, from_row, statements};
use common::error::{Error, Result};

/// Maximum number of export files whose size is queried; exports expire after 14 days.
const EXPORTS_MAX: i64 = 1000;

statements! {
    /// Current revisions of documents.
    DOCUMENTS = "SELECT k.id, k.name, CAST(SUM(r.size) AS BIGINT) AS bytes
            FROM work_rooms w
            JOIN groups g ON g.id = w.group_id
            JOIN classes k ON k.id = g.class_id
            JOIN documents d ON d.work_room_id = w.id JOIN document_revisions r ON r.id = d.current_revision_id
            WHERE w.organization_id = $1 GROUP BY k.id, k.name";
    /// Older revisions of documents.
    REVISIONS = "SELECT k.id, k.name, CAST(SUM(r.size) AS BIGINT) AS bytes
            FROM work_rooms w
            JOIN groups g ON g.id = w.group_id
            JOIN classes k ON k.id = g.class_id
            JOIN documents d ON d.work_room_id = w.id JOIN document_revisions r ON r.document_id = d.id
        AND (d.current_revision_id IS NULL OR r.id <> d.current_revision_id) WHERE w.organization_id = $1
        GROUP BY k.id, k.name";
    TOPIC_FILES = "SELECT k.id, k.name, CAST(SUM(f.size) AS BIGINT) AS bytes
        FROM assignments a
        JOIN classes k ON k.organization_id = a.organization_id AND k.id = a.class_id
        JOIN assignment_attachments f ON f.organization_id = a.organization_id AND f.assignment_id = a.id
        WHERE a.organization_id = $1 GROUP BY k.id, k.name";
    GROUP_FILES = "SELECT k.id, k.name, CAST(SUM(f.size) AS BIGINT) AS bytes
        FROM groups g
        JOIN classes k ON k.organization_id = g.organization_id AND k.id = g.class_id
        JOIN group_attachments f ON f.organization_id = g.organization_id AND f.group_id = g.id
        WHERE g.organization_id = $1 GROUP BY k.id, k.name";
    MESSAGE_FILES = "SELECT k.id, k.name, CAST(SUM(f.size) AS BIGINT) AS bytes
        FROM work_rooms w
        JOIN groups g ON g.organization_id = w.organization_id AND g.id = w.group_id
        JOIN classes k ON k.organization_id = g.organization_id AND k.id = g.class_id
        JOIN message_attachments f ON f.organization_id = w.organization_id AND f.work_room_id = w.id
        WHERE w.organization_id = $1 GROUP BY k.id, k.name";    /// Pictures added in the built-in editor.
    IMAGES = "SELECT k.id, k.name, CAST(SUM(i.size) AS BIGINT) AS bytes
        FROM work_rooms w
        JOIN groups g ON g.id = w.group_id
        JOIN classes k ON k.id = g.class_id
        JOIN documents d ON d.work_room_id = w.id
        JOIN document_images i ON i.document_id = d.id
        WHERE w.organization_id = $1 GROUP BY k.id, k.name";
    GRADE_FILES = "SELECT k.id, k.name, CAST(SUM(f.size) AS BIGINT) AS bytes
        FROM group_assignments l
        JOIN classes k ON k.organization_id = l.organization_id AND k.id = l.class_id
        JOIN submissions s ON s.organization_id = l.organization_id AND s.group_assignment_id = l.id
        JOIN grade_files f ON f.organization_id = s.organization_id AND f.submission_id = s.id
        WHERE l.organization_id = $1 GROUP BY k.id, k.name";
    SUBMISSIONS = "SELECT x.id, x.name, CAST(SUM(x.size) AS BIGINT) AS bytes
            FROM (SELECT DISTINCT k.id, k.name, c.file_key, c.size FROM group_assignments l
            JOIN classes k ON k.organization_id = l.organization_id AND k.id = l.class_id
            JOIN submissions s ON s.organization_id = l.organization_id AND s.group_assignment_id = l.id
            JOIN submission_documents c ON c.organization_id = s.organization_id AND c.submission_id = s.id
            WHERE l.organization_id = $1) x GROUP BY x.id, x.name";
    /// Conversions of documents.
    CONVERTED_DOCUMENTS = "SELECT k.id, k.name, CAST(SUM(x.size) AS BIGINT) AS bytes
            FROM work_rooms w
            JOIN groups g ON g.id = w.group_id
            JOIN classes k ON k.id = g.class_id
            JOIN documents d ON d.work_room_id = w.id JOIN document_revisions r ON r.document_id = d.id
        JOIN converted_files x ON x.revision_id = r.id WHERE w.organization_id = $1 GROUP BY k.id, k.name";
    /// Conversions of submitted copies.
    CONVERTED_COPIES = "SELECT x.id, x.name, CAST(SUM(x.size) AS BIGINT) AS bytes
            FROM (SELECT DISTINCT k.id, k.name, v.file_key, v.size FROM group_assignments l
            JOIN classes k ON k.organization_id = l.organization_id AND k.id = l.class_id
            JOIN submissions s ON s.organization_id = l.organization_id AND s.group_assignment_id = l.id
            JOIN submission_documents c ON c.organization_id = s.organization_id AND c.submission_id = s.id
            JOIN converted_files v ON v.organization_id = c.organization_id
        AND v.submission_document_id = c.id WHERE l.organization_id = $1) x GROUP BY x.id, x.name";
    /// Exports that can be downloaded; their sizes are known only to the file storage.
    EXPORTS = "SELECT file_key FROM jobs WHERE organization_id = $1 AND file_key IS NOT NULL
        ORDER BY created_at DESC, id DESC LIMIT $2";
    /// The last count.
    USAGE = "SELECT details, counted_at FROM storage_usages WHERE organization_id = $1 AND counted_at > 0";
    /// The changes until now.
    MARK = "SELECT added, removals FROM storage_usages WHERE organization_id = $1";
    /// Usage and quotas.
    ROOM = "SELECT COALESCE(u.bytes + u.added, 0) AS used, o.storage_quota, o.group_storage_quota,
            COALESCE(u.counted_at, 0) AS counted_at,
            COALESCE(u.removals - u.removals_counted, 0) AS uncounted_removals
        FROM organizations o LEFT JOIN storage_usages u ON u.organization_id = $1 WHERE o.id = $1";
    /// Adds inserted files. Locks the row until the end of the transaction, so that concurrent uploads cannot exceed
    /// the quota.
    ADD = "INSERT INTO storage_usages (organization_id, bytes, counted_at, added, removals) VALUES ($1, 0, 0, $2, $3)
        ON CONFLICT (organization_id) DO UPDATE
        SET added = storage_usages.added + excluded.added, removals = storage_usages.removals + excluded.removals";
    /// Counts removed files. An organization that is being purged has no row and needs none.
    REMOVE = "UPDATE storage_usages SET removals = removals + $2 WHERE organization_id = $1";
    /// The group of a new file.
    GROUP_OF_FILE = "SELECT w.group_id FROM document_revisions r
            JOIN documents d ON d.organization_id = r.organization_id AND d.id = r.document_id
            JOIN work_rooms w ON w.organization_id = d.organization_id AND w.id = d.work_room_id
            WHERE r.organization_id = $1 AND r.file_key = $2
        UNION ALL SELECT w.group_id FROM message_attachments m
            JOIN work_rooms w ON w.organization_id = m.organization_id AND w.id = m.work_room_id
            WHERE m.organization_id = $1 AND m.file_key = $2
        UNION ALL SELECT f.group_id FROM group_attachments f WHERE f.organization_id = $1 AND f.file_key = $2
        UNION ALL SELECT w.group_id FROM document_images i
            JOIN documents d ON d.organization_id = i.organization_id AND d.id = i.document_id
            JOIN work_rooms w ON w.organization_id = d.organization_id AND w.id = d.work_room_id
            WHERE i.organization_id = $1 AND i.file_key = $2";
    /// The usage of a group: its documents with all revisions, its files and the files of its chat.
    OF_GROUP = "SELECT CAST(COALESCE(SUM(x.size), 0) AS BIGINT) FROM (
            SELECT r.size FROM work_rooms w
            JOIN documents d ON d.organization_id = w.organization_id AND d.work_room_id = w.id
            JOIN document_revisions r ON r.organization_id = d.organization_id AND r.document_id = d.id
            WHERE w.organization_id = $1 AND w.group_id = $2
        UNION ALL SELECT m.size FROM work_rooms w
            JOIN message_attachments m ON m.organization_id = w.organization_id AND m.work_room_id = w.id
            WHERE w.organization_id = $1 AND w.group_id = $2
        UNION ALL SELECT i.size FROM work_rooms w
            JOIN documents d ON d.organization_id = w.organization_id AND d.work_room_id = w.id
            JOIN document_images i ON i.organization_id = d.organization_id AND i.document_id = d.id
            WHERE w.organization_id = $1 AND w.group_id = $2
        UNION ALL SELECT f.size FROM group_attachments f WHERE f.organization_id = $1 AND f.group_id = $2) x";
}

/// The change of the stored files in a transaction.
#[derive(Debug, Default)]
pub(super) struct Stored {
    added: i64,
    removals: i64,
}

/// The changes up to the time of a count.
#[derive(Debug, Default, Clone, Copy)]
pub struct StorageMark {
    pub(super) added: i64,
    pub(super) removals: i64,
}

/// The JSON of the column `details`.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Details {
    kinds: StorageKinds,
    classes: Vec<ClassStorage>,
}

/// Serializes the column `details`.
pub(super) fn details(usage: &StorageUsage) -> Result<String> {
    let details = Details {
        kinds: usage.kinds,
        classes: usage.classes.clone(),
    };
    Ok(serde_json::to_string(&details)?)
}

impl ReadTx<'_> {
    /// Returns the last count; `None` if there is none yet.
    pub fn storage_usage(&mut self) -> Result<Option<StorageUsage>> {
        self.fetch_optional(&USAGE, args![], |row| {
            let Details { kinds, classes } = row.json("details")?;
            let counted_at: Timestamp = row.get("counted_at")?;
            Ok(StorageUsage {
                counted_at,
                total_bytes: kinds.total(),
                kinds,
                classes,
            })
        })
    }

    /// Returns present usage and quotas.
    pub fn storage_allowance(&mut self) -> Result<StorageAllowance> {
        self.fetch_one(&ROOM, args![], |row| {
            let used = row.get("used")?;
            let quota = row.get::<Option<i64>>("storage_quota")?.map(QuotaBytes::stored);
            let group_quota = row.get::<Option<i64>>("group_storage_quota")?.map(QuotaBytes::stored);
            Ok(StorageAllowance {
                used,
                quota: quota.unwrap_or(QuotaBytes::OF_SCHOOL),
                group_quota: group_quota.unwrap_or(QuotaBytes::OF_GROUP),
                is_counted: row.get::<i64>("counted_at")? > 0,
                may_be_less: row.get::<i64>("uncounted_removals")? != 0,
            })
        })
    }

    /// Returns the changes until now. A count in the same transaction includes exactly these.
    pub fn storage_mark(&mut self) -> Result<StorageMark> {
        let found = self.fetch_optional(&MARK, args![], |row| from_row!(row => StorageMark { added, removals }));
        Ok(found?.unwrap_or_default())
    }

    /// Counts the bytes of each class by kind.
    pub fn storage_of_classes(&mut self) -> Result<Vec<(ClassStorage, StorageKinds)>> {
        type Field = fn(&mut StorageKinds) -> &mut i64;
        let sums: [(&'static Sql, Field); 10] = [
            (&DOCUMENTS, |kinds| &mut kinds.documents),
            (&REVISIONS, |kinds| &mut kinds.revisions),
            (&IMAGES, |kinds| &mut kinds.documents),
            (&TOPIC_FILES, |kinds| &mut kinds.attachments),
            (&GROUP_FILES, |kinds| &mut kinds.attachments),
            (&GRADE_FILES, |kinds| &mut kinds.attachments),
            (&MESSAGE_FILES, |kinds| &mut kinds.messages),
            (&SUBMISSIONS, |kinds| &mut kinds.submissions),
            (&CONVERTED_DOCUMENTS, |kinds| &mut kinds.conversions),
            (&CONVERTED_COPIES, |kinds| &mut kinds.conversions),
        ];
        let mut classes: HashMap<ClassId, (ClassStorage, StorageKinds)> = HashMap::new();
        for (statement, field) in sums {
            for (class, bytes) in self.fetch_all(statement, args![], sum)? {
                let entry = classes.entry(class.id.clone());
                *field(&mut entry.or_insert((class, StorageKinds::default())).1) += bytes;
            }
        }
        Ok(classes.into_values().collect())
    }

    /// Lists the files of exports that can be downloaded.
    pub fn export_files(&mut self) -> Result<Vec<FileKey>> {
        self.fetch_all(&EXPORTS, args![EXPORTS_MAX], |row| row.get::<FileKey>("file_key"))
    }
}

impl WriteTx<'_> {
    /// Adds the size of an inserted file to the usage.
    pub(super) fn stored(&mut self, bytes: i64) {
        self.stored.added += bytes;
    }

    /// Counts a removed file, whatever its size.
    pub(super) fn unstored(&mut self) {
        self.stored.removals += 1;
    }

    /// Stores the changes of this transaction. It locks the one row that all writers of the organization share, so it
    /// is called as late as possible.
    pub fn record_storage_change(&mut self) -> Result<()> {
        let Stored { added, removals } = std::mem::take(&mut self.stored);
        match (added, removals) {
            (0, 0) => Ok(()),
            (0, _) => self.execute(&REMOVE, args![removals]),
            _ => self.execute(&ADD, args![added, removals]),
        }
    }

    /// Rejects the files stored in this transaction if they exceed the quota of the organization, or of the group of
    /// the file.
    pub fn must_have_room(&mut self, file: Option<&FileKey>) -> Result<()> {
        if self.stored.added == 0 {
            return Ok(());
        }
        self.record_storage_change()?;
        let room = self.storage_allowance()?;
        let group: Option<String> = match file {
            Some(key) => self.fetch_optional(&GROUP_OF_FILE, args![key.as_str()], |row| row.get("group_id"))?,
            None => None,
        };
        let of_group: i64 = match group {
            Some(group) => self.fetch_one(&OF_GROUP, args![group], |row| row.only())?,
            None => 0,
        };
        if room.has_room_for(0) && room.group_quota.allows(of_group) {
            Ok(())
        } else {
            Err(Error::QuotaExceeded)
        }
    }
}

fn sum(row: &Columns<'_>) -> Result<(ClassStorage, i64)> {
    let class = from_row!(row => ClassStorage { id, name, bytes: 0 })?;
    Ok((class, row.get("bytes")?))
}
