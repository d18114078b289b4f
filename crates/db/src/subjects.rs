//! Subjects of an organization.

use model::collation::{search_key, sort_key};
use model::id::SubjectId;
use model::subject::Subject;
use model::text::name_key;

use super::sql::Columns;
use super::{Scope, Work};
use crate::{args, statements};
use common::error::Result;

macro_rules! subject_columns {
    () => {
        "s.id, s.organization_id, s.name, s.code, s.color, s.description, s.is_active, s.created_at, s.updated_at"
    };
}
statements! {
    /// One subject.
    BY_ID = concat!("SELECT ", subject_columns!(), " FROM subjects s WHERE s.organization_id = $1 AND s.id = $2");
    /// All subjects by name; with a search text, those whose name begins with it come first.
    LIST = concat!("SELECT ", subject_columns!(), " FROM subjects s
        WHERE s.organization_id = $1
            AND (CAST($2 AS TEXT) IS NULL OR s.search_key LIKE '%' || $2 || '%' ESCAPE '\\')
            AND (CAST($3 AS BOOLEAN) IS NULL OR s.is_active = $3)
        ORDER BY CASE WHEN s.search_key LIKE $2 || '%' ESCAPE '\\' THEN 0 ELSE 1 END, s.sort_key, s.id");
    /// A new subject.
    INSERT = "INSERT INTO subjects (organization_id, id, name, name_key, code, color, description, is_active,
            created_at, updated_at, search_key, sort_key)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    /// All fields of a subject.
    UPDATE = "UPDATE subjects SET name = $3, name_key = $4, code = $5, color = $6, description = $7, is_active = $8,
            updated_at = $9, search_key = $10, sort_key = $11
        WHERE organization_id = $1 AND id = $2";
    /// Takes the row for this unit.
    LOCK = "SELECT id FROM subjects WHERE organization_id = $1 AND id = $2 FOR UPDATE";
    /// Whether a class, a course or a group still names it.
    IN_USE = "SELECT EXISTS (SELECT 1 FROM class_subjects WHERE organization_id = $1 AND subject_id = $2)
            OR EXISTS (SELECT 1 FROM groups WHERE organization_id = $1 AND subject_id = $2)";
    /// Removes a subject nobody names.
    DELETE = "DELETE FROM subjects WHERE organization_id = $1 AND id = $2";
}

impl Scope<'_> {
    /// One subject.
    pub fn subject(&mut self, id: &SubjectId) -> Result<Subject> {
        self.one(&BY_ID, args![id], subject)
    }

    /// The subjects that match, sorted by name (contract 1.9, 1.10).
    pub fn subjects(&mut self, search: Option<&str>, is_active: Option<bool>) -> Result<Vec<Subject>> {
        self.many(&LIST, args![search.map(super::pattern), is_active], subject)
    }

    /// Whether a class, a course or a group still names the subject.
    pub fn subject_in_use(&mut self, id: &SubjectId) -> Result<bool> {
        self.one(&IN_USE, args![id], |row| row.take())
    }
}

impl Work<'_> {
    /// One subject, held until this unit ends.
    pub fn subject_to_change(&mut self, id: &SubjectId) -> Result<Subject> {
        self.one(&LOCK, args![id], |row| row.take::<SubjectId>())?;
        self.subject(id)
    }

    /// Writes a new subject; a taken name is `DUPLICATE_SUBJECT`.
    pub fn insert_subject(&mut self, new: &Subject) -> Result<()> {
        let key = name_key(new.name.as_str());
        self.run(
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

    /// Writes all fields of a subject.
    pub fn update_subject(&mut self, subject: &Subject) -> Result<()> {
        let key = name_key(subject.name.as_str());
        self.run(
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

    /// Removes a subject.
    pub fn delete_subject(&mut self, id: &SubjectId) -> Result<()> {
        self.run(&DELETE, args![id]).map(drop)
    }
}

pub(super) fn subject(row: &mut Columns<'_>) -> Result<Subject> {
    Ok(Subject {
        id: row.take()?,
        organization_id: row.take()?,
        name: row.take()?,
        code: row.take()?,
        color: row.take()?,
        description: row.take()?,
        is_active: row.take()?,
        created_at: row.take()?,
        updated_at: row.take()?,
    })
}
