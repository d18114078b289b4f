//! `/assignments/{id}/grades.csv` and `/assignments/{id}/grades/import`: the grades of a topic as a table. See
//! docs/api-contract.md#submissions-grades-and-feedback.

use api_macros::query;
use axum::Json;
use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use domain::id::AssignmentId;
use serde::Deserialize;

use super::context::Context;
use super::downloads::disposition;
use super::dry_run::DryRun;
use super::files::{FileForm, TemporaryUpload};
use super::valid::ValidQuery;
use adapters::blob_store::name;
use api_types::grade_table::{GradeImportView, table};
use api_types::import::ImportRowView;
use common::error::{Error, Result};
use service::actions::grade_imports;
use service::import::grades;

/// The separator of cells: a comma by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delimiter(char);

domain::valid_when_parsed!(Delimiter);

impl Default for Delimiter {
    fn default() -> Self {
        Self(',')
    }
}

impl Delimiter {
    pub(crate) const fn character(self) -> char {
        self.0
    }
}

impl<'de> Deserialize<'de> for Delimiter {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "," => Ok(Self(',')),
            ";" => Ok(Self(';')),
            "\t" | "tab" => Ok(Self('\t')),
            _ => Err(serde::de::Error::custom("must be a comma, a semicolon or tab")),
        }
    }
}

#[query]
pub(crate) struct GradeTableQuery {
    /// Separator: `,` (the default), `;` or `tab`.
    delimiter: Option<Delimiter>,
}

#[query]
pub(crate) struct Imported {
    /// Separator: `,`, `;` or `tab`. Detected from the header by default.
    delimiter: Option<Delimiter>,
    /// Preview the effects without changing anything.
    dry_run: DryRun,
}

/// Export the grades of a topic as CSV
///
/// Drafts are included. The table has a row for each group and one for each member of its current submission.
#[utoipa::path(get, path = "/assignments/{id}/grades.csv", params(("id" = String, Path), GradeTableQuery),
    responses((status = 200, description = "RFC 4180, UTF-8", content_type = "text/csv", body = String)))]
pub(crate) async fn export(
    cx: Context,
    Path(id): Path<AssignmentId>,
    ValidQuery(query): ValidQuery<GradeTableQuery>,
) -> Result<Response> {
    let delimiter = query.delimiter.unwrap_or_default().character();
    let load = cx.read(move |tx| {
        let seen = tx.assignment(&id)?;
        // Teachers of other classes see the outline of the topic, which does not include grades.
        if !seen.is_managed {
            return Err(Error::NotFound);
        }
        let names = tx.names_of_topic(&id)?.into_iter().collect();
        let text = table(&seen.details.links, &names, delimiter);
        Ok((seen.details.assignment.title, text))
    });
    let (title, text) = load.await?;
    Ok(csv_response(title.as_str(), text))
}

/// Returns a CSV file as a download that is named after `title`.
pub(crate) fn csv_response(title: &str, text: String) -> Response {
    let file = name::from_title(title, "csv");
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
        (header::CONTENT_DISPOSITION, disposition(file.as_str())),
    ];
    (headers, text).into_response()
}

/// Import grades from an exported table
///
/// An empty cell changes nothing, and nothing is published: drafts stay drafts. Invalid rows are listed in the report
/// and change nothing.
#[utoipa::path(post, path = "/assignments/{id}/grades/import", params(("id" = String, Path), Imported),
    request_body(content = FileForm, content_type = "multipart/form-data"),
    responses((status = 200, body = GradeImportView), (status = 400, description = "IMPORT_HEADER"),
        (status = 409, description = "CLASS_ARCHIVED"), (status = 413, description = "PAYLOAD_TOO_LARGE"),
        (status = 415, description = "UNSUPPORTED_FILE_TYPE"), (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn import(
    cx: Context,
    Path(id): Path<AssignmentId>,
    ValidQuery(query): ValidQuery<Imported>,
    TemporaryUpload(file): TemporaryUpload,
) -> Result<Json<GradeImportView>> {
    let is_dry = query.dry_run.is_on();
    // Permissions are checked before anything is reported about the file.
    let topic = id.clone();
    let load = cx.read(move |tx| {
        let class = tx.assignment(&topic)?.details.assignment.class_id;
        tx.managed_class(&class).map(drop)
    });
    load.await?;
    let separator = query
        .delimiter
        .and_then(|delimiter| u8::try_from(delimiter.character()).ok());
    let rows = grades::read(file.staged.source(), file.kind, separator).await?;
    let write = cx.write(move |tx| grade_imports::import(tx, &id, &rows, is_dry));
    let view = |row: grade_imports::GradeOutcome| {
        let view = ImportRowView::new(None, row.number, row.status, row.user, row.problems);
        (row.status, view)
    };
    let outcomes = write.await?;
    // The staged file must exist until its last row was read.
    drop(file);
    Ok(Json(GradeImportView::new(
        is_dry,
        outcomes.into_iter().map(view).collect(),
    )))
}
