use domain::collation::{search_key, sort_key};
use domain::id::SubjectId;
use domain::subject::Subject;
use domain::text::name_key;

use super::sql::{Columns, Sql};
use super::{ReadTx, WriteTx};
use crate::{args, fragments, from_row, named, statements};
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
        VALUES ($1, :id, :name, :name_key, :code, :color, :description, :is_active, :created_at, :updated_at,
            :search_key, :sort_key)";
    /// Updates every field of a subject.
    UPDATE = "UPDATE subjects SET name = :name, name_key = :name_key, code = :code, color = :color,
            description = :description, is_active = :is_active, updated_at = :updated_at, search_key = :search_key,
            sort_key = :sort_key
        WHERE organization_id = $1 AND id = :id";
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
        self.write_subject(&INSERT, new)
    }

    /// Updates every field of a subject.
    pub fn update_subject(&mut self, subject: &Subject) -> Result<()> {
        self.write_subject(&UPDATE, subject)
    }

    fn write_subject(&mut self, statement: &'static Sql, subject: &Subject) -> Result<()> {
        let name = subject.name.as_str();
        self.execute_named(
            statement,
            named![subject =>
                id, code, color, description, is_active, created_at, updated_at,
                name: name,
                name_key: name_key(name),
                search_key: search_key(name),
                sort_key: sort_key(name),
            ],
        )
    }

    pub fn delete_subject(&mut self, id: &SubjectId) -> Result<()> {
        self.execute(&DELETE, args![id])
    }
}

pub(super) fn subject(row: &Columns<'_>) -> Result<Subject> {
    from_row!(row => Subject {
        id, organization_id, name, code, color, description, is_active, created_at, updated_at,
    })
}
