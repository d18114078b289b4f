//! Readers of the nouns that rows of other objects contain, with the columns they read.

use domain::class::ClassLabel;
use domain::course::CourseLabel;
use domain::file::StoredFile;
use domain::group::{GroupContext, GroupLabel};
use domain::id::{CourseId, SubjectId};
use domain::subject::SubjectLabel;
use domain::user::Person;

use super::sql::Columns;
use crate::fragments;
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
    Ok(Person {
        id: row.get("user_id")?,
        name: row.get("user_name")?,
        image: row.get("user_image")?,
    })
}

/// Reads a user of an outer join.
pub(super) fn optional_person(row: &Columns<'_>) -> Result<Option<Person>> {
    let (id, name): (Option<_>, Option<_>) = (row.get("user_id")?, row.get("user_name")?);
    let image = row.get("user_image")?;
    Ok(id.zip(name).map(|(id, name)| Person { id, name, image }))
}

/// Reads what the delivery of events about a group depends on.
pub(super) fn group_context(row: &Columns<'_>) -> Result<GroupContext> {
    Ok(GroupContext {
        group: GroupLabel {
            id: row.get("group_id")?,
            name: row.get("group_name")?,
            group_number: row.get("group_number")?,
            display_name: row.get("display_name")?,
            course_id: row.get("group_course_id")?,
        },
        class: row.get("class_id")?,
        class_status: row.get("class_status")?,
        start_date: row.get("start_date")?,
    })
}

/// Reads the metadata of a file.
pub(super) fn stored_file(row: &Columns<'_>) -> Result<StoredFile> {
    Ok(StoredFile {
        key: row.get("file_key")?,
        file_name: row.get("file_name")?,
        mime_type: row.get("mime_type")?,
        size: row.get("size")?,
        sha256: row.get("sha256")?,
    })
}

pub(super) fn class_label(row: &Columns<'_>) -> Result<ClassLabel> {
    Ok(ClassLabel {
        id: row.get("class_id")?,
        name: row.get("class_name")?,
        academic_year: row.get("academic_year")?,
        status: row.get("class_status")?,
    })
}

/// Reads a course of an outer join.
pub(super) fn optional_course_label(row: &Columns<'_>) -> Result<Option<CourseLabel>> {
    let Some(id) = row.get::<Option<CourseId>>("course_id")? else {
        return Ok(None);
    };
    Ok(Some(CourseLabel {
        id,
        name: row.get("course_name")?,
        subject_id: row.get("course_subject_id")?,
    }))
}

pub(super) fn subject_label(row: &Columns<'_>) -> Result<SubjectLabel> {
    Ok(SubjectLabel {
        id: row.get("subject_id")?,
        name: row.get("subject_name")?,
        code: row.get("subject_code")?,
        color: row.get("subject_color")?,
    })
}

/// Reads a subject of an outer join.
pub(super) fn optional_subject_label(row: &Columns<'_>) -> Result<Option<SubjectLabel>> {
    match row.get::<Option<SubjectId>>("subject_id")? {
        Some(_) => subject_label(row).map(Some),
        None => Ok(None),
    }
}
