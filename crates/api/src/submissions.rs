//! `/workrooms/documents/{id}/submit` and `/unsubmit`, and `/assignments/{id}/groups/{groupId}/submission` for work
//! without documents. See docs/api-contract.md#submissions-grades-and-feedback.

use api_macros::view;
use axum::Json;
use axum::extract::Path;
use domain::id::{AssignmentId, DocumentId, GroupId};
use domain::submission;

use super::context::Context;
use super::dry_run::DryRunQuery;
use super::response::{Ack, Created};
use super::valid::{Valid, ValidOrEmpty, ValidQuery};
use api_types::audience::Audience;
use api_types::document::DocumentView;
use api_types::group_assignment::GroupAssignmentView;
use api_types::submission::SubmissionView;
use common::error::{Error, Result};
use db::WriteTx;
use service::actions::freeze;
use service::actions::submissions::{
    self, RecordGroupWork, RecordWork, SubmissionState, SubmitDocument, WithdrawSubmission,
};

/// The result of submitting a document.
#[view]
pub(crate) struct HandedIn {
    document: DocumentView,
    submission: SubmissionView,
    group_assignment: GroupAssignmentView,
    /// True if the document server could not be asked for the last changes, or has changes that were never saved.
    unsaved: bool,
}

/// The result of withdrawing a document.
#[view]
pub(crate) struct TakenBack {
    document: DocumentView,
    group_assignment: GroupAssignmentView,
}

/// Recorded work without documents.
#[view]
pub(crate) struct RecordedWork {
    submission: SubmissionView,
    group_assignment: GroupAssignmentView,
}

/// Record work without documents for a group
///
/// For a talk, a poster or other work that was not written here, so that it can be graded. The result is a submission
/// without documents. Finished topics accept it.
#[utoipa::path(post, path = "/assignments/{id}/groups/{groupId}/submission",
    params(("id" = String, Path), ("groupId" = String, Path)), request_body = Option<RecordWork>,
    responses((status = 201, body = RecordedWork), (status = 403, description = "NOT_CLASS_TEACHER"),
        (status = 409, description = "ALREADY_SUBMITTED, ASSIGNMENT_NOT_PUBLISHED, GRADE_PUBLISHED, CLASS_ARCHIVED")))]
pub(crate) async fn record(
    cx: Context,
    Path((id, group)): Path<(AssignmentId, GroupId)>,
    ValidOrEmpty(new): ValidOrEmpty<RecordWork>,
) -> Result<Created<RecordedWork>> {
    let record = move |tx: &mut WriteTx<'_>| {
        let (submission, link) = submissions::record(tx, &id, &group, &new)?;
        let path = format!("/api/feedback/submissions/{}", submission.submission.id);
        let recorded = RecordedWork {
            submission: SubmissionView::new(&submission, &Audience::Staff),
            group_assignment: GroupAssignmentView::new(&link, &Audience::Staff),
        };
        Ok(Created(path, recorded))
    };
    cx.create(record).await
}

/// The result of recording work of several groups.
#[view]
pub(crate) struct RecordedGroups {
    /// Number of groups for which work was recorded.
    recorded: i64,
}

/// Record work without documents for several groups of a topic
///
/// All of them or none: if one group cannot be recorded, nothing changes.
#[utoipa::path(post, path = "/assignments/{id}/record-work", params(("id" = String, Path), DryRunQuery),
    request_body = RecordGroupWork,
    responses((status = 200, body = RecordedGroups), (status = 403, description = "NOT_CLASS_TEACHER"),
        (status = 409, description = "ALREADY_SUBMITTED, ASSIGNMENT_NOT_PUBLISHED, GRADE_PUBLISHED, \
         GROUP_NOT_ON_ASSIGNMENT, CLASS_ARCHIVED")))]
pub(crate) async fn record_for_groups(
    cx: Context,
    Path(id): Path<AssignmentId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
    Valid(new): Valid<RecordGroupWork>,
) -> Result<Json<RecordedGroups>> {
    let record = move |tx: &mut WriteTx<'_>| submissions::record_for_groups(tx, &id, &new);
    let recorded = cx.write_or_preview(query.dry_run, record).await?;
    Ok(Json(RecordedGroups { recorded }))
}

/// Remove recorded work without documents
#[utoipa::path(delete, path = "/assignments/{id}/groups/{groupId}/submission",
    params(("id" = String, Path), ("groupId" = String, Path), DryRunQuery),
    responses((status = 200, body = GroupAssignmentView), (status = 403, description = "NOT_CLASS_TEACHER"),
        (status = 409, description = "ALREADY_SUBMITTED when it has documents, NOT_SUBMITTED, GRADE_PUBLISHED, \
         CLASS_ARCHIVED")))]
pub(crate) async fn remove_record(
    cx: Context,
    Path((id, group)): Path<(AssignmentId, GroupId)>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<GroupAssignmentView>> {
    let remove = move |tx: &mut WriteTx<'_>| submissions::remove_record(tx, &id, &group);
    let link = cx.write_or_preview(query.dry_run, remove).await?;
    Ok(Json(GroupAssignmentView::new(&link, &Audience::Staff)))
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
