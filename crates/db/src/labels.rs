//! Readers of the nouns that rows of other objects contain, with the columns they read.

use domain::class::ClassLabel;
use domain::course::CourseLabel;
use domain::file::StoredFile;
use domain::group::{GroupContext, GroupLabel};
use domain::id::{CourseId, SubjectId};
use domain::subject::SubjectLabel;
use domain::user::Person;

use super::sql::Columns;
use crate::{fragments, from_row};
use common::error::Result;

fragments! {
    /// The columns of [`person`] for user `u`.
    pub(crate) PERSON_COLUMNS = "u.id AS user_id, u.name AS user_name, u.image AS user_image";
    /// The email address of user `u`; NULL instead of the placeholder of an account without one.
    pub(crate) SHOWN_EMAIL = "CASE WHEN u.email LIKE '%@no-email.invalid' THEN NULL ELSE u.email END";
    /// The columns of [`group_context`] for group `g` in class `k`.
    pub(crate) GROUP_CONTEXT_COLUMNS = "g.id AS group_id, g.name AS group_name, g.group_number, g.display_name,
            g.course_id AS group_course_id, k.id AS class_id, k.status AS class_status, g.start_date";
    /// The columns of [`subject_label`] for subject `s`.
    pub(crate) SUBJECT_LABEL_COLUMNS =
        "s.id AS subject_id, s.name AS subject_name, s.code AS subject_code, s.color AS subject_color";
}

pub(super) fn person(row: &Columns<'_>) -> Result<Person> {
    from_row!(row => Person { id = "user_id", name = "user_name", image = "user_image" })
}

/// Reads a user of an outer join.
pub(super) fn optional_person(row: &Columns<'_>) -> Result<Option<Person>> {
    let (id, name): (Option<_>, Option<_>) = (row.get("user_id")?, row.get("user_name")?);
    let image = row.get("user_image")?;
    Ok(id.zip(name).map(|(id, name)| Person { id, name, image }))
}

/// Reads what the delivery of events about a group depends on.
pub(super) fn group_context(row: &Columns<'_>) -> Result<GroupContext> {
    from_row!(row => GroupContext {
        class = "class_id", class_status, start_date,
        group: from_row!(row => GroupLabel {
            id = "group_id", name = "group_name", group_number, display_name, course_id = "group_course_id",
        })?,
    })
}

/// Reads the metadata of a file.
pub(super) fn stored_file(row: &Columns<'_>) -> Result<StoredFile> {
    from_row!(row => StoredFile { key = "file_key", file_name, mime_type, size, sha256 })
}

pub(super) fn class_label(row: &Columns<'_>) -> Result<ClassLabel> {
    from_row!(row => ClassLabel { id = "class_id", name = "class_name", academic_year, status = "class_status" })
}

/// Reads a course of an outer join.
pub(super) fn optional_course_label(row: &Columns<'_>) -> Result<Option<CourseLabel>> {
    let Some(id) = row.get::<Option<CourseId>>("course_id")? else {
        return Ok(None);
    };
    Ok(Some(
        from_row!(row => CourseLabel { name = "course_name", subject_id = "course_subject_id", id: id })?,
    ))
}

pub(super) fn subject_label(row: &Columns<'_>) -> Result<SubjectLabel> {
    from_row!(row => SubjectLabel {
        id = "subject_id", name = "subject_name", code = "subject_code", color = "subject_color",
    })
}

/// Reads a subject of an outer join.
pub(super) fn optional_subject_label(row: &Columns<'_>) -> Result<Option<SubjectLabel>> {
    match row.get::<Option<SubjectId>>("subject_id")? {
        Some(_) => subject_label(row).map(Some),
        None => Ok(None),
    }
}
