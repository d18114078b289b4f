//! `/feedback`: feedback on the work of a group, and returning work for revision. See
//! docs/api-contract.md#submissions-grades-and-feedback.

use api_macros::query;
use axum::Json;
use axum::extract::Path;
use domain::feedback::FeedbackEdit;
use domain::id::{AssignmentId, DocumentId, FeedbackId, GroupAssignmentId, SubmissionId};
use domain::version::VersionedObject;

use super::context::Context;
use super::dry_run::DryRunQuery;
use super::patch_fields::Editable;
use super::response::{Ack, CreatedObject, Versioned, or_current};
use super::valid::{Patch, Valid, ValidQuery};
use api_types::audience::Audience;
use api_types::group_assignment::GroupAssignmentView;
use api_types::submission::FeedbackView;
use common::error::{Error, Result};
use db::WriteTx;
use db::submissions::feedback::FeedbackOf;
use service::actions::feedback::{self, NewFeedback, ReturnSubmission};

#[query]
#[expect(clippy::struct_field_names, reason = "every parameter is an id")]
pub(crate) struct FeedbackListQuery {
    /// Feedback on the work of this group on this topic. Exactly one of the four ids is required.
    group_assignment_id: Option<GroupAssignmentId>,
    /// Feedback on this attempt.
    submission_id: Option<SubmissionId>,
    /// Feedback on this document.
    document_id: Option<DocumentId>,
    /// Feedback on all work on this topic.
    assignment_id: Option<AssignmentId>,
}

impl FeedbackListQuery {
    fn of(self) -> Result<FeedbackOf> {
        let filters = [
            self.group_assignment_id.map(FeedbackOf::Link),
            self.submission_id.map(FeedbackOf::Submission),
            self.document_id.map(FeedbackOf::Document),
            self.assignment_id.map(FeedbackOf::Topic),
        ];
        let mut filters = filters.into_iter().flatten();
        match (filters.next(), filters.next()) {
            (Some(of), None) => Ok(of),
            _ => Err(Error::invalid(
                "groupAssignmentId",
                "exactly_one",
                "or submissionId, documentId or assignmentId must be given, and only one of them",
            )),
        }
    }
}

impl Editable for FeedbackEdit {
    type Resource = FeedbackView;
}

/// List the feedback on a group's work, a submission, a document or a topic, oldest first
///
/// Students receive published feedback for their group.
#[utoipa::path(get, path = "/feedback", params(FeedbackListQuery), responses((status = 200, body = [FeedbackView])))]
pub(crate) async fn list(
    cx: Context,
    ValidQuery(filter): ValidQuery<FeedbackListQuery>,
) -> Result<Json<Vec<FeedbackView>>> {
    let of = filter.of()?;
    let load = cx.list(move |tx| {
        let found = tx.feedback_of(&of)?;
        Ok(found.iter().map(keyed).collect())
    });
    Ok(Json(load.await?))
}

fn keyed(feedback: &domain::feedback::Feedback) -> ((i64, FeedbackId), FeedbackView) {
    ((feedback.created_at.as_millis(), feedback.id.clone()), feedback.into())
}

/// Create feedback on the work of a group, on an attempt or on a document
#[utoipa::path(post, path = "/feedback", request_body = NewFeedback,
    responses((status = 201, body = FeedbackView), (status = 409, description = "CLASS_ARCHIVED")))]
pub(crate) async fn create(cx: Context, Valid(new): Valid<NewFeedback>) -> Result<CreatedObject<FeedbackView>> {
    let give = move |tx: &mut WriteTx<'_>| {
        let given = feedback::create(tx, &new)?;
        Ok(CreatedObject(
            format!("/api/feedback/{}", given.id),
            FeedbackView::from(&given),
        ))
    };
    cx.create(give).await
}

/// Update, publish or unpublish feedback
#[utoipa::path(patch, path = "/feedback/{id}", params(("id" = String, Path)), request_body = FeedbackEdit,
    responses((status = 200, body = FeedbackView), (status = 412, description = "PRECONDITION_FAILED"), (status = 409, description = "CLASS_ARCHIVED"),
        (status = 403, description = "NOT_AUTHOR")))]
pub(crate) async fn edit(
    cx: Context,
    Path(id): Path<FeedbackId>,
    patch: Patch<FeedbackEdit>,
) -> Result<Versioned<FeedbackView>> {
    let (object, lookup) = (VersionedObject::from(&id), id.clone());
    let current = cx.read_object(object.clone(), move |tx| {
        tx.feedback(&lookup).map(|found| FeedbackView::from(&found))
    });
    let act = move |tx: &mut WriteTx<'_>| feedback::edit(tx, &id, &patch.edit);
    let changed = or_current(cx.write_object(object, act).await, current).await?;
    Ok(changed.map(|changed| FeedbackView::from(&changed)))
}

/// Delete feedback
#[utoipa::path(delete, path = "/feedback/{id}", params(("id" = String, Path), DryRunQuery),
    responses((status = 200, body = Ack), (status = 409, description = "CLASS_ARCHIVED"),
        (status = 403, description = "NOT_AUTHOR")))]
pub(crate) async fn remove(
    cx: Context,
    Path(id): Path<FeedbackId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<Ack>> {
    cx.write_or_preview(query.dry_run, move |tx| feedback::remove(tx, &id))
        .await?;
    Ok(Json(Ack::SUCCESS))
}

/// Return an attempt for revision
///
/// Its documents become drafts again.
#[utoipa::path(post, path = "/feedback/submissions/{id}/return", params(("id" = String, Path)), request_body = ReturnSubmission,
    responses((status = 200, body = GroupAssignmentView), (status = 423, description = "DOCUMENT_LOCKED"),
        (status = 409, description = "NOT_SUBMITTED, CLASS_ARCHIVED")))]
pub(crate) async fn return_work(
    cx: Context,
    Path(id): Path<SubmissionId>,
    Valid(words): Valid<ReturnSubmission>,
) -> Result<Json<GroupAssignmentView>> {
    let link = cx.write(move |tx| feedback::return_submission(tx, &id, &words)).await?;
    Ok(Json(GroupAssignmentView::new(&link, &Audience::Staff)))
}
