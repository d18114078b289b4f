//! `/workrooms/documents/{id}/content` and `/commits`: documents in the built-in editor. See docs/built-in-editor.md.

use api_macros::{body, query};
use axum::Json;
use axum::extract::{FromRequest, Path, Request};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use domain::document_log::{CommitResult, STEPS_MAX, is_reference};
use domain::from_fields;
use domain::id::DocumentId;
use serde_json::Value;

use super::body_timeout::read_body;
use super::context::Context;
use super::valid::{self, JSON_LIMIT, ValidQuery};
use api_types::document_log::{CommitPage, CommitReply, CommitView, EditorContentView};
use common::error::{Error, Result};
use service::actions::commits::{CommitOutcome, NewCommit};

/// Maximum nesting of a commit. A level of the document takes two, and the parser accepts 128.
const COMMIT_DEPTH: usize = 120;
/// The default and the maximum number of commits in a page.
const PAGE: (i64, i64) = (200, 500);

/// Get the content of a document for the built-in editor
#[utoipa::path(get, path = "/workrooms/documents/{id}/content", params(("id" = String, Path)),
    responses((status = 200, body = EditorContentView), (status = 409, description = "EDITOR_NOT_AVAILABLE"),
        (status = 415, description = "UNREADABLE_FILE")))]
pub(crate) async fn content(cx: Context, Path(id): Path<DocumentId>) -> Result<Response> {
    let content = cx.app().document_workflows().editor_content(cx.context()?, id).await?;
    let view = from_fields!(content => EditorContentView {
        document_id, generation, version, can_edit, read_only_reasons, styles,
        doc: content.content,
    });
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(view)).into_response())
}

/// Commits to list.
#[query]
#[serde(deny_unknown_fields)]
pub(crate) struct CommitQuery {
    /// The generation of the commits. Defaults to the present one.
    #[garde(range(min = 1))]
    generation: Option<i64>,
    /// Only commits after this version. Defaults to 0.
    #[garde(range(min = 0))]
    since: Option<i64>,
    /// The maximum number of commits. Defaults to 200.
    #[garde(range(min = 1, max = PAGE.1))]
    limit: Option<i64>,
}

/// List the commits of a document in the built-in editor, oldest first
#[utoipa::path(get, path = "/workrooms/documents/{id}/commits", params(("id" = String, Path), CommitQuery),
    responses((status = 200, body = CommitPage), (status = 409, description = "EDITOR_NOT_AVAILABLE")))]
pub(crate) async fn list(
    cx: Context,
    Path(id): Path<DocumentId>,
    ValidQuery(query): ValidQuery<CommitQuery>,
) -> Result<Json<CommitPage>> {
    let range = (query.generation, query.since.unwrap_or(0));
    let found = cx
        .app()
        .document_workflows()
        .commits_since(cx.context()?, id, range, query.limit.unwrap_or(PAGE.0));
    let found = found.await?;
    Ok(Json(from_fields!(found => CommitPage {
        generation, version, has_more,
        commits: found.commits.iter().map(CommitView::from).collect(),
    })))
}

/// Steps of one page, to be appended.
#[body]
pub(crate) struct CommitBody {
    /// The generation of the document key.
    #[garde(range(min = 1))]
    generation: i64,
    /// An id of the commit, chosen by the client. The same commit sent again is applied once.
    #[serde(rename = "ref")]
    #[garde(skip)]
    reference: String,
    /// An id of the open page.
    #[garde(custom(plain))]
    client_id: String,
    /// The version that the steps are based on.
    #[garde(range(min = 0))]
    version: i64,
    /// ProseMirror steps.
    #[schema(value_type = Vec<Object>)]
    #[garde(length(min = 1, max = STEPS_MAX))]
    steps: Vec<Value>,
}

#[expect(clippy::ptr_arg, reason = "garde passes references")]
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature of a custom rule of garde"
)]
fn plain(text: &String, (): &()) -> garde::Result {
    if is_reference(text) {
        Ok(())
    } else {
        Err(garde::Error::new("must be 1 to 64 of A-Z a-z 0-9 _ -"))
    }
}

/// A commit as sent. Documents nest deeper than the bodies of other routes.
pub(crate) struct SentCommit(CommitBody);

impl<S: Send + Sync> FromRequest<S> for SentCommit {
    type Rejection = Error;

    async fn from_request(request: Request, _: &S) -> Result<Self> {
        if !valid::is_json(request.headers()) {
            return Err(Error::UnsupportedMediaType("application/json"));
        }
        let body = read_body(request.into_body(), JSON_LIMIT).await?;
        let commit: CommitBody = valid::checked(valid::parse_nested(&body, COMMIT_DEPTH)?)?;
        // garde would name the field of the type instead of the one of the body.
        if let Err(error) = plain(&commit.reference, &()) {
            return Err(Error::invalid("ref", "format", error.to_string()));
        }
        Ok(Self(commit))
    }
}

/// Append a commit to a document in the built-in editor
///
/// The steps are mapped over the commits that came first. A commit whose generation has ended is kept as a late version.
#[utoipa::path(post, path = "/workrooms/documents/{id}/commits", params(("id" = String, Path)), request_body = CommitBody,
    responses((status = 200, body = CommitReply), (status = 423, description = "DOCUMENT_LOCKED"),
        (status = 409, description = "ALREADY_SUBMITTED, CLASS_ARCHIVED, EDITOR_NOT_AVAILABLE, LIMIT_REACHED"),
        (status = 413, description = "PAYLOAD_TOO_LARGE")))]
pub(crate) async fn commit(
    cx: Context,
    Path(id): Path<DocumentId>,
    SentCommit(body): SentCommit,
) -> Result<Json<CommitReply>> {
    let generation = body.generation;
    let new = from_fields!(body => NewCommit {
        reference, client_id, version, steps,
        document_id: id,
        generation: generation,
    });
    let outcome = cx.app().document_workflows().commit(cx.context()?, new).await?;
    Ok(Json(match outcome {
        CommitOutcome::Committed(committed) => CommitReply {
            outcome: CommitResult::Committed,
            generation,
            version: committed.commit.version,
            commits: committed
                .commits
                .map(|commits| commits.iter().map(CommitView::from).collect()),
        },
        CommitOutcome::Late { generation, .. } => CommitReply {
            outcome: CommitResult::Late,
            generation,
            version: 0,
            commits: None,
        },
    }))
}
