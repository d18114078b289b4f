//! Personal data that is not yet visible to the user: that of draft classes and of groups before their start date
//! (docs/specification.md#business-rules, rule 5). An archive downloaded by the user excludes it; one created by an
//! admin includes it.

use std::collections::HashSet;

use domain::id::UserId;
use serde_json::{Map, Value};

use super::files::PersonalFile;
use crate::{ReadTx, args, statements};
use common::error::Result;

statements! {
    /// The ids of everything in the classes and groups that are invisible to a student; `$2` is the student, `$3` the
    /// current time.
    HIDDEN = "WITH taught AS (SELECT k.id, k.status FROM classes k WHERE k.organization_id = $1
            AND EXISTS (SELECT 1 FROM class_enrollments ce
                WHERE ce.organization_id = $1 AND ce.class_id = k.id AND ce.student_id = $2)),
        hidden AS (SELECT g.id FROM groups g JOIN taught k ON k.id = g.class_id
            WHERE g.organization_id = $1 AND (k.status = 'DRAFT' OR g.start_date > $3)),
        rooms AS (SELECT w.id FROM work_rooms w JOIN hidden h ON h.id = w.group_id WHERE w.organization_id = $1),
        pages AS (SELECT d.id FROM documents d JOIN rooms w ON w.id = d.work_room_id WHERE d.organization_id = $1),
        links AS (SELECT a.id FROM group_assignments a JOIN hidden h ON h.id = a.group_id WHERE a.organization_id = $1)
        SELECT id FROM taught WHERE status = 'DRAFT'
        UNION ALL SELECT id FROM hidden
        UNION ALL SELECT id FROM rooms
        UNION ALL SELECT id FROM pages
        UNION ALL SELECT id FROM links
        UNION ALL SELECT r.id FROM document_revisions r JOIN pages d ON d.id = r.document_id
        WHERE r.organization_id = $1
        UNION ALL SELECT i.id FROM document_images i JOIN pages d ON d.id = i.document_id WHERE i.organization_id = $1
        UNION ALL SELECT s.id FROM submissions s JOIN links a ON a.id = s.group_assignment_id
        WHERE s.organization_id = $1
        UNION ALL SELECT f.id FROM message_attachments f JOIN rooms w ON w.id = f.work_room_id
            WHERE f.organization_id = $1";
}

/// The ids that an archive excludes.
#[derive(Debug, Default)]
pub struct HiddenRows(HashSet<String>);

impl ReadTx<'_> {
    /// Returns the ids that are invisible to this user now.
    pub fn rows_hidden_from(&mut self, user: &UserId) -> Result<HiddenRows> {
        let now = self.now();
        let ids = self.fetch_all(&HIDDEN, args![user, now], |row| row.get("id"))?;
        Ok(HiddenRows(ids.into_iter().collect()))
    }
}

impl HiddenRows {
    /// Returns whether the row contains no hidden id.
    pub fn is_visible(&self, row: &Map<String, Value>) -> bool {
        let is_hidden = |value: &Value| value.as_str().is_some_and(|id| self.0.contains(id));
        !row.values().any(is_hidden)
    }

    /// Returns whether the file is visible to the user.
    pub fn is_file_visible(&self, file: &PersonalFile) -> bool {
        !self.0.contains(&file.id)
    }
}
