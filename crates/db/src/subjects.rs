use domain::collation::{search_key, sort_key};
use domain::id::SubjectId;
use domain::subject::Subject;
use domain::text::name_key;

use super::sql::Columns;
use super::{ReadTx, WriteTx};
use crate::{args, fragments, statements};
use common::error::Result;

fragments! {
    SUBJECT_COLUMNS = "s.id, s.organization_id, s.name, s.code, s.color, s.description, s.is_active, s.created_at,
        s.updated_at";
}

statements! {
    BY_ID = "SELECT {SUBJECT_COLUMNS} FROM subjects s WHERE s.organization_id = $1 AND s.id = $2";
    /// The matching subjects by name; those whose name begins with the search text come first.
    LIST = "SELECT {SUBJECT_COLUMNS} FROM subjects s
        WHERE s.organization_id = $1
            AND (CAST($2 AS TEXT) IS NULL OR s.search_key LIKE '%' || $2 || '%' ESCAPE '\\')
            AND (CAST($3 AS BOOLEAN) IS NULL OR s.is_active = $3)
        ORDER BY CASE WHEN s.search_key LIKE $2 || '%' ESCAPE '\\' THEN 0 ELSE 1 END, s.sort_key, s.id";
    INSERT = "INSERT INTO subjects (organization_id, id, name, name_key, code, color, description, is_active,
            created_at, updated_at, search_key, sort_key)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    /// Updates every field of a subject.
    UPDATE = "UPDATE subjects SET name = $3, name_key = $4, code = $5, color = $6, description = $7, is_active = $8,
            updated_at = $9, search_key = $10, sort_key = $11
        WHERE organization_id = $1 AND id = $2";
    /// Locks the row until the end of the transaction.
    LOCK = "SELECT id FROM subjects WHERE organization_id = $1 AND id = $2 FOR UPDATE";
    /// Whether a class, a course or a group references it.
    IN_USE = "SELECT EXISTS (SELECT 1 FROM class_subjects WHERE organization_id = $1 AND subject_id = $2)
            OR EXISTS (SELECT 1 FROM groups WHERE organization_id = $1 AND subject_id = $2)";
    /// Deletes a subject that nothing references.
    DELETE = "DELETE FROM subjects WHERE organization_id = $1 AND id = $2";
}

impl ReadTx<'_> {
    pub fn subject(&mut self, id: &SubjectId) -> Result<Subject> {
        self.fetch_one(&BY_ID, args![id], subject)
    }

    /// Lists the matching subjects by name; those whose name begins with the search text come first.
    pub fn subjects(&mut self, search: Option<&str>, is_active: Option<bool>) -> Result<Vec<Subject>> {
        self.fetch_all(&LIST, args![search.map(super::pattern), is_active], subject)
    }

    /// Returns whether a class, a course or a group references the subject.
    pub fn subject_in_use(&mut self, id: &SubjectId) -> Result<bool> {
        self.fetch_one(&IN_USE, args![id], |row| row.only())
    }
}

impl WriteTx<'_> {
    /// Returns a subject, locked until the end of the transaction.
    pub fn lock_subject(&mut self, id: &SubjectId) -> Result<Subject> {
        self.fetch_one(&LOCK, args![id], |row| row.get::<SubjectId>("id"))?;
        self.subject(id)
    }

    /// Inserts a subject; a name that is in use is `DUPLICATE_SUBJECT`.
    pub fn insert_subject(&mut self, new: &Subject) -> Result<()> {
        let key = name_key(new.name.as_str());
        self.execute(
            &INSERT,
            args![
                new.id,
                new.name,
                key,
                new.code,
                new.color,
                new.description,
                new.is_active,
                new.created_at,
                new.updated_at,
                search_key(new.name.as_str()),
                sort_key(new.name.as_str()),
            ],
        )
        .map(drop)
    }

    /// Updates every field of a subject.
    pub fn update_subject(&mut self, subject: &Subject) -> Result<()> {
        let key = name_key(subject.name.as_str());
        self.execute(
            &UPDATE,
            args![
                subject.id,
                subject.name,
                key,
                subject.code,
                subject.color,
                subject.description,
                subject.is_active,
                subject.updated_at,
                search_key(subject.name.as_str()),
                sort_key(subject.name.as_str()),
            ],
        )
        .map(drop)
    }

    pub fn delete_subject(&mut self, id: &SubjectId) -> Result<()> {
        self.execute(&DELETE, args![id]).map(drop)
    }
}

pub(super) fn subject(row: &Columns<'_>) -> Result<Subject> {
    Ok(Subject {
        id: row.get("id")?,
        organization_id: row.get("organization_id")?,
        name: row.get("name")?,
        code: row.get("code")?,
        color: row.get("color")?,
        description: row.get("description")?,
        is_active: row.get("is_active")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}
