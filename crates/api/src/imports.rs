//! `POST /users/import`: a file in a form, or a short list as JSON. The report is streamed while rows are imported;
//! when the client disconnects, the import stops between two transactions. See docs/api-contract.md#importing-people.

use api_macros::{body, query};
use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use domain::import::{BODY_MAX, ImportCounts, ImportMode};
use futures_util::stream;
use garde::Validate;
use serde::Deserialize;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use utoipa::ToSchema;

use super::context::{App, Context};
use super::dry_run::DryRun;
use super::files::{FileForm, TemporaryUpload, Uploaded, is_form};
use super::valid::{Valid, ValidQuery};
use api_types::import::{ImportReportView, ImportRowView};
use common::error::{Error, Result};
use service::import::{self, Import, ImportPlan, ImportRules, PersonRow, RowReport};

/// Transactions whose report may be buffered for a slow client. Beyond that the import waits.
const AHEAD: usize = 2;

#[query]
pub(crate) struct Options {
    /// Preview the effects without changing anything.
    dry_run: DryRun,
    /// Whether existing members are updated (`upsert`, the default) or skipped (`create`).
    mode: Option<ImportMode>,
}

/// People to import.
#[body]
pub struct PeopleToImport {
    /// At most 500 people. Use a file for more.
    #[garde(length(max = BODY_MAX))]
    #[schema(max_items = 500)]
    users: Vec<PersonToImport>,
}

/// A student or a teacher. Problems are listed in the report, as for a row of a file.
#[derive(Debug, Clone, Default, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[garde(allow_unvalidated)]
pub struct PersonToImport {
    /// Email address.
    email: Option<String>,
    /// First name. A first or last name is required.
    first_name: Option<String>,
    /// Last name.
    last_name: Option<String>,
    /// The name to sign in with. Without it and without an email address it is made of the name.
    username: Option<String>,
    /// `student` or `teacher`.
    role: Option<String>,
    /// Id in the school's administration system.
    external_id: Option<String>,
    /// Id or name of a homeroom. A new name creates a homeroom.
    homeroom: Option<String>,
    /// Ids or names of classes.
    classes: Option<Vec<String>>,
    /// Password hash from a better-auth database.
    password_hash: Option<String>,
}

/// The content of an import request.
pub(crate) enum ImportBody {
    File(Box<Uploaded>),
    People(PeopleToImport),
}

impl FromRequest<App> for ImportBody {
    type Rejection = Error;

    async fn from_request(request: Request, app: &App) -> Result<Self> {
        if is_form(request.headers()) {
            let TemporaryUpload(file) = TemporaryUpload::from_request(request, app).await?;
            return Ok(Self::File(Box::new(file)));
        }
        let Valid(people) = Valid::from_request(request, app).await?;
        Ok(Self::People(people))
    }
}

/// Import students and teachers from a table, a OneRoster archive or a list
#[utoipa::path(post, path = "/users/import", params(Options),
    request_body(content((FileForm = "multipart/form-data"), (PeopleToImport = "application/json"))),
    responses((status = 200, body = ImportReportView), (status = 413, description = "PAYLOAD_TOO_LARGE"),
        (status = 415, description = "UNSUPPORTED_FILE_TYPE"), (status = 400, description = "IMPORT_HEADER")))]
pub(crate) async fn run(
    cx: Context,
    ValidQuery(options): ValidQuery<Options>,
    import_body: ImportBody,
) -> Result<Response> {
    let context = cx.context()?;
    let (plan, file) = match import_body {
        ImportBody::People(people) => (
            ImportPlan::from_list(people.users.iter().map(PersonToImport::fields)),
            None,
        ),
        ImportBody::File(file) => {
            let year = import::school_year(context.now);
            (
                ImportPlan::from_file(file.staged.source(), file.kind, year).await?,
                Some(file),
            )
        }
    };
    let rules = ImportRules {
        mode: options.mode.unwrap_or(ImportMode::Upsert),
        is_dry_run: options.dry_run.is_on(),
        is_repeated: false,
    };
    let import = Import {
        transactor: cx.app().transactor().clone(),
        context,
        mail: Some(cx.app().mail().clone()),
        rules,
        origin: None,
    };
    let (sender, reports) = mpsc::channel(AHEAD);
    let authenticator = cx.app().authenticator().clone();
    let running = tokio::spawn(async move {
        let counts = import.run(plan, sender).await;
        if !rules.is_dry_run {
            // Imported hashes may exist now. Sign-in times must not reveal which accounts have them.
            authenticator
                .password_hasher()
                .set_imported_exist(true, common::clock::now());
        }
        // The staged file must exist until its last row was read.
        drop(file);
        counts
    });
    let body = Body::from_stream(report(rules, reports, running));
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

impl PersonToImport {
    fn fields(&self) -> PersonRow<'_> {
        fn text(fields: Option<&String>) -> &str {
            fields.map_or("", String::as_str)
        }
        let classes = self.classes.iter().flatten();
        PersonRow {
            email: text(self.email.as_ref()),
            username: text(self.username.as_ref()),
            first_name: text(self.first_name.as_ref()),
            last_name: text(self.last_name.as_ref()),
            role: text(self.role.as_ref()),
            external_id: text(self.external_id.as_ref()),
            homeroom: text(self.homeroom.as_ref()),
            classes: classes
                .filter_map(|class| domain::import::cell(class))
                .map(str::to_owned)
                .collect(),
            password_hash: text(self.password_hash.as_ref()),
        }
    }
}

/// How much of the report was written.
enum ReportProgress {
    Nothing,
    Rows(bool),
    All,
}

/// The report as a stream. When the import fails the response is aborted, so that a partial report is not mistaken for
/// a complete one.
fn report(
    rules: ImportRules,
    reports: mpsc::Receiver<Vec<RowReport>>,
    running: JoinHandle<Result<ImportCounts>>,
) -> impl stream::Stream<Item = Result<Bytes, anyhow::Error>> + Send + 'static {
    use api_types::import::{begin, end};
    let state = (ReportProgress::Nothing, reports, Some(running));
    stream::try_unfold(state, move |(written, mut reports, running)| async move {
        let mut has_rows = match written {
            ReportProgress::Nothing => {
                let text = begin(rules.is_dry_run);
                return Ok(Some((
                    Bytes::from(text),
                    (ReportProgress::Rows(false), reports, running),
                )));
            }
            ReportProgress::Rows(has_rows) => has_rows,
            ReportProgress::All => return Ok(None),
        };
        if let Some(unit) = reports.recv().await {
            let mut text = Vec::new();
            for row in unit {
                if std::mem::replace(&mut has_rows, true) {
                    text.push(b',');
                }
                let outcome = row.outcome;
                let view = ImportRowView::new(row.file, row.row, outcome.status, outcome.user, outcome.problems);
                serde_json::to_writer(&mut text, &view)?;
            }
            return Ok(Some((
                Bytes::from(text),
                (ReportProgress::Rows(has_rows), reports, running),
            )));
        }
        let Some(running) = running else { return Ok(None) };
        let outcome = running.await?;
        if let Err(error) = &outcome {
            tracing::error!(error = format!("{error:?}"), "import failed");
        }
        Ok(Some((Bytes::from(end(outcome?)), (ReportProgress::All, reports, None))))
    })
}
