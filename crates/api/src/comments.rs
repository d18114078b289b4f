//! `/workrooms/documents/{id}/comments`: comments on documents in the built-in editor. See docs/built-in-editor.md.

use axum::Json;
use axum::extract::Path;
use domain::id::{CommentId, CommentThreadId, DocumentId};

use super::context::Context;
use super::dry_run::DryRunQuery;
use super::patch_fields::Editable;
use super::response::{Ack, Created};
use super::valid::{Patch, Valid, ValidOrEmpty, ValidQuery};
use api_types::comment::{CommentListView, CommentThreadView, DocumentCommentView, UnreadCommentsView};
use common::clock;
use common::error::Result;
use db::WriteTx;
use service::actions::comments::{self, CommentEdit, CommentReading, CommentThreadEdit, NewCommentThread, NewReply};

impl Editable for CommentThreadEdit {
    type Resource = CommentThreadView;
}

impl Editable for CommentEdit {
    type Resource = DocumentCommentView;
}

/// List the comments on a document
///
/// All threads with their comments, oldest first. Their number is limited.
#[utoipa::path(get, path = "/workrooms/documents/{id}/comments", params(("id" = String, Path)),
    responses((status = 200, body = CommentListView), (status = 409, description = "EDITOR_NOT_AVAILABLE"),
        (status = 415, description = "UNREADABLE_FILE")))]
pub(crate) async fn list(cx: Context, Path(id): Path<DocumentId>) -> Result<Json<CommentListView>> {
    let found = cx.app().document_workflows().comment_threads(cx.context()?, id.clone());
    let found = found.await?;
    Ok(Json(CommentListView {
        document_id: id,
        generation: found.generation,
        version: found.version,
        can_comment: found.can_comment,
        read_until: found.read_until,
        threads: found.threads.iter().map(CommentThreadView::from).collect(),
        mentionable: found.mentionable,
        mentioned: found.mentioned,
    }))
}

/// Comment on a passage of a document, or on the whole document
///
/// Students comment on drafts, staff also on submitted and locked documents.
#[utoipa::path(post, path = "/workrooms/documents/{id}/comments", params(("id" = String, Path)),
    request_body = NewCommentThread,
    responses((status = 201, body = CommentThreadView), (status = 423, description = "DOCUMENT_LOCKED"),
        (status = 409, description = "ALREADY_SUBMITTED, CLASS_ARCHIVED, EDITOR_NOT_AVAILABLE, LIMIT_REACHED"),
        (status = 415, description = "UNREADABLE_FILE")))]
pub(crate) async fn create(
    cx: Context,
    Path(id): Path<DocumentId>,
    Valid(new): Valid<NewCommentThread>,
) -> Result<Created<CommentThreadView>> {
    let workflows = cx.app().document_workflows();
    let passage = workflows.find_passage(cx.context()?, id.clone(), new.passage).await?;
    let thread = CommentThreadId::new(clock::new_id());
    let create = move |tx: &mut WriteTx<'_>| {
        let created = comments::create(tx, &id, &thread, &new.text, passage.clone())?;
        let view = CommentThreadView::from(&created);
        Ok(Created(view.address(), view))
    };
    cx.create(create).await
}

/// Mark the comments on a document as read, all of them or up to a time
///
/// Only for the caller. Returns what remains unread.
#[utoipa::path(post, path = "/workrooms/documents/{id}/comments/read", params(("id" = String, Path)),
    request_body = Option<CommentReading>, responses((status = 200, body = UnreadCommentsView)))]
pub(crate) async fn read(
    cx: Context,
    Path(id): Path<DocumentId>,
    ValidOrEmpty(reading): ValidOrEmpty<CommentReading>,
) -> Result<Json<UnreadCommentsView>> {
    let unread = cx.write(move |tx| comments::read(tx, &id, &reading)).await?;
    Ok(Json(UnreadCommentsView::from(unread)))
}

/// Resolve or reopen a thread of comments
#[utoipa::path(patch, path = "/workrooms/documents/{id}/comments/{threadId}",
    params(("id" = String, Path), ("threadId" = String, Path)), request_body = CommentThreadEdit,
    responses((status = 200, body = CommentThreadView), (status = 423, description = "DOCUMENT_LOCKED"),
        (status = 409, description = "ALREADY_SUBMITTED, CLASS_ARCHIVED")))]
pub(crate) async fn edit_thread(
    cx: Context,
    Path((id, thread)): Path<(DocumentId, CommentThreadId)>,
    patch: Patch<CommentThreadEdit>,
) -> Result<Json<CommentThreadView>> {
    let edit = move |tx: &mut WriteTx<'_>| comments::edit_thread(tx, &id, &thread, &patch.edit);
    let edited = cx.write(edit).await?;
    Ok(Json(CommentThreadView::from(&edited)))
}

/// Reply to a thread of comments
#[utoipa::path(post, path = "/workrooms/documents/{id}/comments/{threadId}/replies",
    params(("id" = String, Path), ("threadId" = String, Path)), request_body = NewReply,
    responses((status = 201, body = CommentThreadView), (status = 423, description = "DOCUMENT_LOCKED"),
        (status = 409, description = "ALREADY_SUBMITTED, CLASS_ARCHIVED, LIMIT_REACHED")))]
pub(crate) async fn reply(
    cx: Context,
    Path((id, thread)): Path<(DocumentId, CommentThreadId)>,
    Valid(new): Valid<NewReply>,
) -> Result<Created<CommentThreadView>> {
    let reply = move |tx: &mut WriteTx<'_>| {
        let replied = comments::reply(tx, &id, &thread, &new.text)?;
        let view = CommentThreadView::from(&replied);
        Ok(Created(view.address(), view))
    };
    cx.create(reply).await
}

/// Edit a comment
///
/// Only its author.
#[utoipa::path(patch, path = "/workrooms/documents/{id}/comments/{threadId}/replies/{commentId}",
    params(("id" = String, Path), ("threadId" = String, Path), ("commentId" = String, Path)), request_body = CommentEdit,
    responses((status = 200, body = DocumentCommentView), (status = 423, description = "DOCUMENT_LOCKED"),
        (status = 409, description = "ALREADY_SUBMITTED, CLASS_ARCHIVED"), (status = 403, description = "NOT_AUTHOR")))]
pub(crate) async fn edit(
    cx: Context,
    Path((id, thread, comment)): Path<(DocumentId, CommentThreadId, CommentId)>,
    patch: Patch<CommentEdit>,
) -> Result<Json<DocumentCommentView>> {
    let edit = move |tx: &mut WriteTx<'_>| comments::edit(tx, &id, (&thread, &comment), &patch.edit);
    let edited = cx.write(edit).await?;
    Ok(Json(DocumentCommentView::from(&edited)))
}

/// Delete a comment, the last one with its thread
///
/// Authors may delete their own comments, staff of the class every comment.
#[utoipa::path(delete, path = "/workrooms/documents/{id}/comments/{threadId}/replies/{commentId}",
    params(("id" = String, Path), ("threadId" = String, Path), ("commentId" = String, Path), DryRunQuery),
    responses((status = 200, body = Ack), (status = 423, description = "DOCUMENT_LOCKED"),
        (status = 409, description = "ALREADY_SUBMITTED, CLASS_ARCHIVED"), (status = 403, description = "NOT_AUTHOR")))]
pub(crate) async fn remove(
    cx: Context,
    Path((id, thread, comment)): Path<(DocumentId, CommentThreadId, CommentId)>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<Ack>> {
    let remove = move |tx: &mut WriteTx<'_>| comments::remove(tx, &id, (&thread, &comment));
    cx.write_or_preview(query.dry_run, remove).await?;
    Ok(Json(Ack::SUCCESS))
}
