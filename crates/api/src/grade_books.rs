//! `/classes/{id}/grade-book`: the grades of all students of a class on all its topics. See
//! docs/api-contract.md#submissions-grades-and-feedback.

use api_macros::query;
use std::collections::BTreeMap;

use axum::Json;
use axum::extract::Path;
use axum::response::Response;
use domain::grade_book::{GradeBook, TableLanguage};
use domain::id::{ClassId, CourseId, UserId};
use domain::user::Person;

use super::context::Context;
use super::grade_tables::{Delimiter, csv_response};
use super::valid::ValidQuery;
use api_types::grade_book::{GradeBookView, table};
use common::error::{Error, Result};
use db::ReadTx;

#[query]
pub(crate) struct GradeBookQuery {
    /// Only topics of this course.
    course_id: Option<CourseId>,
}

#[query]
pub(crate) struct GradeBookTableQuery {
    /// Only topics of this course.
    course_id: Option<CourseId>,
    /// Separator: `,` (the default), `;` or `tab`.
    delimiter: Option<Delimiter>,
    /// Language of the headers. German numbers have a decimal comma.
    #[param(inline)]
    language: Option<TableLanguage>,
}

/// Get the grade book of a class
///
/// For each student the grade that counts: the student's own grade, otherwise that of the group. Drafts are included.
#[utoipa::path(get, path = "/classes/{id}/grade-book", params(("id" = String, Path), GradeBookQuery),
    responses((status = 200, body = GradeBookView), (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn show(
    cx: Context,
    Path(id): Path<ClassId>,
    ValidQuery(query): ValidQuery<GradeBookQuery>,
) -> Result<Json<GradeBookView>> {
    let load = cx.read(move |tx| load(tx, &id, query.course_id.as_ref()));
    let (book, people, last_names) = load.await?;
    Ok(Json(GradeBookView::new(book, people, &last_names)))
}

/// Export the grade book of a class as CSV
///
/// One row for each student, the surname first. Drafts are marked.
#[utoipa::path(get, path = "/classes/{id}/grade-book.csv", params(("id" = String, Path), GradeBookTableQuery),
    responses((status = 200, description = "RFC 4180, UTF-8", content_type = "text/csv", body = String),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn export(
    cx: Context,
    Path(id): Path<ClassId>,
    ValidQuery(query): ValidQuery<GradeBookTableQuery>,
) -> Result<Response> {
    let (language, delimiter) = (query.language.unwrap_or(TableLanguage::English), query.delimiter);
    let load = cx.read(move |tx| {
        let (book, people, last_names) = load(tx, &id, query.course_id.as_ref())?;
        let delimiter = delimiter.unwrap_or_default();
        Ok((
            tx.class(&id)?.name,
            table(&book, &people, &last_names, language, delimiter.character()),
        ))
    });
    let (name, text) = load.await?;
    Ok(csv_response(name.as_str(), text))
}

/// A grade book with its students in the order of the rows, and their recorded last names.
type LoadedBook = (GradeBook, Vec<Person>, BTreeMap<UserId, String>);

/// Loads the grade book; `NOT_CLASS_TEACHER` unless the viewer manages the class, `NotFound` for a course of another
/// class.
fn load(tx: &mut ReadTx<'_>, class: &ClassId, course: Option<&CourseId>) -> Result<LoadedBook> {
    tx.managed_class(class)?;
    if let Some(course) = course
        && tx.course(course)?.course.class_id != *class
    {
        return Err(Error::NotFound);
    }
    let students = tx.class_students_with_groups(class, None)?;
    let (topics, works) = (
        tx.grade_book_topics(class, course)?,
        tx.grade_book_works(class, course)?,
    );
    let groups: Vec<_> = students
        .iter()
        .map(|student| (student.person.id.clone(), student.group_ids.iter().cloned().collect()))
        .collect();
    let book = GradeBook::new(topics, &works, &groups, tx.now());
    let people = students.into_iter().map(|student| student.person).collect();
    Ok((book, people, tx.last_names_of_class(class)?))
}
