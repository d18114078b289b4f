//! What a person is not to read of a school yet, although it is about him: classes in preparation and groups that have not
//! started (rule 5). An archive that he takes himself leaves it out; one that an admin hands out holds it.

use std::collections::HashSet;

use model::id::UserId;
use serde_json::{Map, Value};

use super::files::PersonalFile;
use crate::Scope;
use crate::{args, statements};
use common::error::Result;

statements! {
    /// Everything that stands in the classes and groups which a student does not see; `$2` the student, `$3` now.
    CONCEALED = "WITH taught AS (SELECT k.id, k.status FROM classes k WHERE k.organization_id = $1
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
        UNION ALL SELECT r.id FROM document_revisions r JOIN pages d ON d.id = r.document_id WHERE r.organization_id = $1
        UNION ALL SELECT s.id FROM submissions s JOIN links a ON a.id = s.group_assignment_id WHERE s.organization_id = $1
        UNION ALL SELECT f.id FROM message_attachments f JOIN rooms w ON w.id = f.work_room_id
            WHERE f.organization_id = $1";
}

/// The ids that an archive does not name.
#[derive(Debug, Default)]
pub struct Concealed(HashSet<String>);

impl Scope<'_> {
    /// What this person is not to read at this moment.
    pub fn concealed_from(&mut self, user: &UserId) -> Result<Concealed> {
        let now = self.now();
        let ids = self.many(&CONCEALED, args![user, now], |row| row.take())?;
        Ok(Concealed(ids.into_iter().collect()))
    }
}

impl Concealed {
    /// Whether the person may read a row: it names nothing of what is concealed.
    pub fn shows(&self, row: &Map<String, Value>) -> bool {
        let is_hidden = |value: &Value| value.as_str().is_some_and(|id| self.0.contains(id));
        !row.values().any(is_hidden)
    }

    /// Whether the person may have a file.
    pub fn shows_file(&self, file: &PersonalFile) -> bool {
        !self.0.contains(&file.id)
    }
}
