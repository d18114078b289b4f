//! `/workrooms/documents/{id}/submit` and `/unsubmit`. See docs/api-contract.md#submissions-grades-and-feedback.

use axum::Json;
use axum::extract::Path;
use domain::id::DocumentId;
use domain::submission;
use serde::Serialize;
use utoipa::ToSchema;

use super::context::Context;
use super::response::Ack;
use super::valid::ValidOrEmpty;
use api_types::audience::Audience;
use api_types::document::DocumentView;
use api_types::group_assignment::GroupAssignmentView;
use api_types::submission::SubmissionView;
use common::error::{Error, Result};
use service::actions::freeze;
use service::actions::submissions::{self, SubmissionState, SubmitDocument, WithdrawSubmission};

/// The result of submitting a document.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HandedIn {
    document: DocumentView,
    submission: SubmissionView,
    group_assignment: GroupAssignmentView,
    /// True if the document server could not be asked for the last changes, or has changes that were never saved.
    unsaved: bool,
}

/// The result of withdrawing a document.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TakenBack {
    document: DocumentView,
    group_assignment: GroupAssignmentView,
}

/// Submit a document for a topic
#[utoipa::path(post, path = "/workrooms/documents/{id}/submit", params(("id" = String, Path)), request_body = SubmitDocument,
    responses((status = 200, body = HandedIn), (status = 400, description = "ASSIGNMENT_ID_REQUIRED"),
        (status = 423, description = "DOCUMENT_LOCKED"),
        (status = 409, description = "ALREADY_SUBMITTED, ASSIGNMENT_FINISHED, ASSIGNMENT_NOT_PUBLISHED, GRADE_PUBLISHED, \
         GROUP_NOT_ON_ASSIGNMENT, \
            LATE_NOT_ALLOWED, CLASS_ARCHIVED")))]
pub(crate) async fn submit(
    cx: Context,
    Path(id): Path<DocumentId>,
    ValidOrEmpty(hand_in): ValidOrEmpty<SubmitDocument>,
) -> Result<Json<HandedIn>> {
    let assignment = submission::explicit(hand_in.assignment_id)?;
    let (context, audience) = (cx.context()?, audience(&cx)?);
    let submit = cx
        .app()
        .document_workflows()
        .submit(context, id, assignment, hand_in.note)
        .await?;
    let state = submit.state;
    let submission = state.submission.as_ref().ok_or_else(taken_back_meanwhile)?;
    Ok(Json(HandedIn {
        submission: SubmissionView::new(submission, &audience),
        document: document(&state, &audience),
        group_assignment: GroupAssignmentView::new(&state.link, &audience),
        unsaved: submit.unsaved,
    }))
}

/// Report that the caller's editor has sent all changes
///
/// Clients call this after `document:freezing`. It applies to the caller's own editor only and has no effect at any
/// other time.
#[utoipa::path(post, path = "/workrooms/documents/{id}/flushed", params(("id" = String, Path)),
    responses((status = 200, body = Ack)))]
pub(crate) async fn confirm_flush(cx: Context, Path(id): Path<DocumentId>) -> Result<Json<Ack>> {
    cx.write(move |tx| freeze::record_flushed(tx, &id)).await?;
    Ok(Json(Ack::SUCCESS))
}

/// Unsubmit a document
#[utoipa::path(post, path = "/workrooms/documents/{id}/unsubmit", params(("id" = String, Path)), request_body = Option<WithdrawSubmission>,
    responses((status = 200, body = TakenBack), (status = 423, description = "DOCUMENT_LOCKED"),
        (status = 409, description = "NOT_SUBMITTED, GRADE_PUBLISHED, CLASS_ARCHIVED")))]
pub(crate) async fn unsubmit(
    cx: Context,
    Path(id): Path<DocumentId>,
    ValidOrEmpty(take_back): ValidOrEmpty<WithdrawSubmission>,
) -> Result<Json<TakenBack>> {
    let audience = audience(&cx)?;
    let write = cx.write(move |tx| submissions::unsubmit(tx, &id, take_back.reason.as_ref()));
    let state = write.await?;
    Ok(Json(TakenBack {
        document: document(&state, &audience),
        group_assignment: GroupAssignmentView::new(&state.link, &audience),
    }))
}

fn audience(cx: &Context) -> Result<Audience> {
    Ok(Audience::of(&cx.context()?.viewer))
}

fn document(state: &SubmissionState, audience: &Audience) -> DocumentView {
    DocumentView::new(&state.seen.details, audience).opening(state.seen.mode())
}

/// The submission was made and logged, but withdrawn by another request before this response.
fn taken_back_meanwhile() -> Error {
    domain::domain_error::DomainError::NotSubmitted.into()
}
