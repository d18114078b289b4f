//! `/assignments/{id}/finish` and `/reopen`: finishing a topic locks documents, reopening unlocks them. See
//! docs/api-contract.md#finish-and-reopen.

use api_macros::view;
use axum::Json;
use axum::extract::Path;
use domain::assignment::AssignmentStatus;
use domain::from_fields;
use domain::id::{AssignmentId, DocumentId};
use domain::time::Timestamp;

use super::context::Context;
use super::dry_run::DryRunQuery;
use super::valid::{ValidOrEmpty, ValidQuery};
use api_types::finish::{LinkableTopicView, OpenDocumentView, UnlinkedDraftView};
use common::error::Result;
use db::group_assignments::OtherTopic;
use service::actions::finish::{self as actions, FinishOptions, OpenDocument, UnlinkedDraft};

/// The result of finishing a topic.
#[view]
pub(crate) struct FinishedTopic {
    assignment_id: AssignmentId,
    status: AssignmentStatus,
    finished_at: Timestamp,
    /// Number of documents locked by this request.
    locked_documents: i64,
    groups: i64,
    already_finished: bool,
    /// Locked drafts without a topic whose group works on another active topic. `links` can link them to a topic.
    unlinked_drafts: Vec<UnlinkedDraftView>,
    /// Documents that stay open because they are linked to another active topic.
    open_documents: Vec<OpenDocumentView>,
    /// Documents whose unsaved changes could not be requested from the document server. They are locked nevertheless.
    unsaved_documents: Vec<DocumentId>,
}

/// The result of reopening a topic.
#[view]
pub(crate) struct ReopenedTopic {
    assignment_id: AssignmentId,
    status: AssignmentStatus,
    unlocked_documents: i64,
    /// Documents without a topic that stay locked because another topic of their group is finished.
    still_locked_documents: Vec<DocumentId>,
    groups: i64,
}

/// Finish a topic and lock the documents of its groups
///
/// Documents without a topic are locked as well; documents linked to another active topic stay open. `links` links
/// documents to topics first, in the same transaction.
#[utoipa::path(post, path = "/assignments/{id}/finish", params(("id" = String, Path), DryRunQuery),
    request_body = Option<FinishOptions>,
    responses((status = 200, body = FinishedTopic),
        (status = 409, description = "CLASS_ARCHIVED, ASSIGNMENT_FINISHED, ASSIGNMENT_NOT_PUBLISHED, \
         GROUP_NOT_ON_ASSIGNMENT, ALREADY_SUBMITTED"),
        (status = 423, description = "DOCUMENT_LOCKED"), (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn finish(
    cx: Context,
    Path(id): Path<AssignmentId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
    ValidOrEmpty(options): ValidOrEmpty<FinishOptions>,
) -> Result<Json<FinishedTopic>> {
    let (editing, context) = (cx.app().document_workflows(), cx.context()?);
    let is_dry = query.dry_run.is_on();
    let done = editing.finish(context, id.clone(), options, is_dry).await?;
    let finished = done.finished;
    Ok(Json(FinishedTopic {
        assignment_id: id,
        status: AssignmentStatus::Finished,
        finished_at: finished.at,
        locked_documents: finished.locked,
        groups: finished.groups,
        already_finished: finished.already,
        unlinked_drafts: finished.unlinked.into_iter().map(unlinked).collect(),
        open_documents: finished.open.into_iter().map(open).collect(),
        unsaved_documents: done.unsaved,
    }))
}

fn unlinked(draft: UnlinkedDraft) -> UnlinkedDraftView {
    UnlinkedDraftView::new(draft.placed, draft.topics.into_iter().map(linkable).collect())
}

fn open(open: OpenDocument) -> OpenDocumentView {
    OpenDocumentView::new(open.placed, linkable(open.topic))
}

fn linkable(topic: OtherTopic) -> LinkableTopicView {
    from_fields!(topic => LinkableTopicView { assignment_id, title, deadline })
}

/// Reopen a topic and restore the status of its documents
#[utoipa::path(post, path = "/assignments/{id}/reopen", params(("id" = String, Path), DryRunQuery),
    responses((status = 200, body = ReopenedTopic), (status = 409, description = "COURSE_MISMATCH, CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn reopen(
    cx: Context,
    Path(id): Path<AssignmentId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<ReopenedTopic>> {
    let topic = id.clone();
    let reopen = cx.write_or_preview(query.dry_run, move |tx| actions::reopen(tx, &topic));
    let reopened = reopen.await?;
    Ok(Json(ReopenedTopic {
        assignment_id: id,
        status: AssignmentStatus::Active,
        unlocked_documents: reopened.unlocked,
        still_locked_documents: reopened.still_locked,
        groups: reopened.groups,
    }))
}
