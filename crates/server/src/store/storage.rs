//! How many bytes a school keeps. Adding up takes time in proportion to the rows of that school, so a task does it now and
//! then and what it found is read from one row.

use std::collections::HashMap;

use model::file::FileKey;
use model::id::ClassId;
use model::storage::{ClassStorage, StorageKinds, StorageUsage};
use model::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::Scope;
use super::sql::{Columns, Sql};
use crate::error::Result;
use crate::{args, statements};

/// Exports whose sizes are asked for; they go after 14 days.
const EXPORTS_MAX: i64 = 1000;

/// The documents of a school, reached from its rooms: every join is by a key, whatever other schools keep.
macro_rules! of_documents {
    ($select:literal, $join:literal) => {
        concat!(
            "SELECT k.id, k.name, CAST(SUM(",
            $select,
            ") AS BIGINT)
            FROM work_rooms w
            JOIN groups g ON g.organization_id = w.organization_id AND g.id = w.group_id
            JOIN classes k ON k.organization_id = g.organization_id AND k.id = g.class_id
            JOIN documents d ON d.organization_id = w.organization_id AND d.work_room_id = w.id ",
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
    DOCUMENTS = of_documents!("r.size", "JOIN document_revisions r ON r.organization_id = d.organization_id
        AND r.id = d.current_revision_id");
    /// Older revisions of documents.
    REVISIONS = of_documents!("r.size", "JOIN document_revisions r ON r.organization_id = d.organization_id
        AND r.document_id = d.id AND (d.current_revision_id IS NULL OR r.id <> d.current_revision_id)");
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
    CONVERTED_DOCUMENTS = of_documents!("x.size", "JOIN document_revisions r ON r.organization_id = d.organization_id
        AND r.document_id = d.id
        JOIN converted_files x ON x.organization_id = r.organization_id AND x.revision_id = r.id");
    /// Conversions of what was handed in.
    CONVERTED_COPIES = of_copies!("v.file_key, v.size", "JOIN converted_files v ON v.organization_id = c.organization_id
        AND v.submission_document_id = c.id");
    /// Exports that can still be fetched; their sizes are known to the files alone.
    EXPORTS = "SELECT file_key FROM jobs WHERE organization_id = $1 AND file_key IS NOT NULL
        ORDER BY created_at DESC, id DESC LIMIT $2";
    /// What was counted last.
    USAGE = "SELECT bytes, details, counted_at FROM storage_usages WHERE organization_id = $1";
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
            let total_bytes = row.take()?;
            let Details { kinds, classes } = row.json()?;
            let counted_at: Timestamp = row.take()?;
            Ok(StorageUsage {
                counted_at,
                total_bytes,
                kinds,
                classes,
            })
        })
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

fn sum(row: &mut Columns<'_>) -> Result<(ClassStorage, i64)> {
    let class = ClassStorage {
        id: row.take()?,
        name: row.take()?,
        bytes: 0,
    };
    Ok((class, row.take()?))
}
