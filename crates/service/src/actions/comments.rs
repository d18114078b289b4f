//! Comments on documents in the built-in editor. All changes of the comments on a document are serialized by its lock.
//! Where the passage of a new thread is, is found before (`document_workflows/comments.rs`).

use api_macros::{body, patch};
use domain::change::{CommentChange, CommentContext};
use domain::comment::{
    CommentAnchor, CommentCounts, CommentThread, DocumentComment, MENTIONS_MAX, UnreadComments, mentions,
};
use domain::document_log::{DocumentCommit, DocumentLog};
use domain::id::{CommentId, CommentThreadId, DocumentId, UserId};
use domain::patch::{FieldPatch, not_null};
use domain::text::CommentText;
use domain::time::Timestamp;
use domain::user::Person;
use rich_text::{Passage, Step, StepMap};

use super::acting_user::{acting_person, acting_user};
use super::commits::parse_stored;
use common::clock;
use common::error::{Error, Result};
use db::WriteTx;
use db::documents::VisibleDocument;

/// A comment that begins a thread.
#[body]
pub struct NewCommentThread {
    /// What the comment is about. If absent, the comment is about the whole document.
    pub passage: Option<NewPassage>,
    /// The text.
    pub text: CommentText,
}

/// A passage of a document, as the caller sees it.
#[body]
pub struct NewPassage {
    /// The generation of the document key.
    #[garde(range(min = 1))]
    pub generation: i64,
    /// The version that the positions refer to.
    #[garde(range(min = 0))]
    pub version: i64,
    /// The position at which the passage starts.
    #[garde(range(min = 0))]
    pub from: i64,
    /// The position at which the passage ends.
    #[garde(range(min = 1))]
    pub to: i64,
}

/// A comment in an existing thread.
#[body]
pub struct NewReply {
    /// The text.
    pub text: CommentText,
}

/// How far the caller has read the comments on a document.
#[body(Default)]
pub struct CommentReading {
    /// The time of the newest comment or edit that was shown. If absent, all comments are marked as read.
    pub read_until: Option<Timestamp>,
}

/// The fields of a comment that a PATCH can change.
#[patch]
pub struct CommentEdit {
    /// The new text.
    #[garde(dive, custom(not_null))]
    pub text: FieldPatch<CommentText>,
}

/// The fields of a thread that a PATCH can change.
#[patch]
pub struct CommentThreadEdit {
    /// Whether the thread is resolved.
    #[garde(custom(not_null))]
    pub is_resolved: FieldPatch<bool>,
}

/// A passage that was found in the document, with its text.
#[derive(Debug, Clone)]
pub struct QuotedPassage {
    pub anchor: CommentAnchor,
    pub quote: String,
}

/// Creates a thread with its first comment.
pub fn create(
    tx: &mut WriteTx<'_>,
    document: &DocumentId,
    id: &CommentThreadId,
    text: &CommentText,
    passage: Option<QuotedPassage>,
) -> Result<CommentThread> {
    let seen = lock(tx, document)?;
    let counts = tx.comment_counts(document)?;
    counts.admit_thread()?;
    let generation = seen.document().key().generation;
    if passage
        .as_ref()
        .is_some_and(|found| found.anchor.generation != generation)
    {
        return Err(Error::invalid("passage.generation", "format", "has ended"));
    }
    let mentioned = check_mentions(tx, &seen, text, &[])?;
    let (anchor, quote) = passage.map_or((None, None), |found| (Some(found.anchor), Some(found.quote)));
    let comment = new_comment(tx, text, counts)?;
    let thread = CommentThread {
        id: id.clone(),
        document_id: document.clone(),
        anchor,
        quote,
        resolution: None,
        comments: vec![comment.clone()],
        created_at: comment.created_at,
    };
    tx.insert_comment_thread(&thread)?;
    tx.insert_comment(id, &comment)?;
    tx.record(CommentChange::Created(context(&seen, id, mentioned)));
    tx.comment_thread(document, id)
}

/// Adds a comment to a thread.
pub fn reply(
    tx: &mut WriteTx<'_>,
    document: &DocumentId,
    id: &CommentThreadId,
    text: &CommentText,
) -> Result<CommentThread> {
    let seen = lock(tx, document)?;
    let thread = tx.comment_thread(document, id)?;
    let counts = tx.comment_counts(document)?;
    counts.admit_reply(&thread)?;
    let mentioned = check_mentions(tx, &seen, text, &[])?;
    let comment = new_comment(tx, text, counts)?;
    tx.insert_comment(id, &comment)?;
    tx.record(CommentChange::Replied(context(&seen, id, mentioned)));
    tx.comment_thread(document, id)
}

/// Resolves or reopens a thread.
pub fn edit_thread(
    tx: &mut WriteTx<'_>,
    document: &DocumentId,
    id: &CommentThreadId,
    edit: &CommentThreadEdit,
) -> Result<CommentThread> {
    let seen = lock(tx, document)?;
    let mut thread = tx.comment_thread(document, id)?;
    let Some(is_resolved) = edit.is_resolved.value().copied() else {
        return Ok(thread);
    };
    if !thread.set_resolved(is_resolved, acting_person(tx)?, tx.now()) {
        return Ok(thread);
    }
    tx.update_resolution(&thread)?;
    let context = context(&seen, id, Vec::new());
    tx.record(if is_resolved {
        CommentChange::Resolved(context)
    } else {
        CommentChange::Reopened(context)
    });
    tx.comment_thread(document, id)
}

/// Edits the caller's own comment.
pub fn edit(
    tx: &mut WriteTx<'_>,
    document: &DocumentId,
    (thread_id, id): (&CommentThreadId, &CommentId),
    edit: &CommentEdit,
) -> Result<DocumentComment> {
    let seen = lock(tx, document)?;
    let thread = tx.comment_thread(document, thread_id)?;
    let mut comment = thread.comment(id).cloned().ok_or(Error::NotFound)?;
    comment.editable_by(&acting_user(tx)?)?;
    let Some(text) = edit.text.value() else {
        return Ok(comment);
    };
    let mentioned = check_mentions(tx, &seen, text, &mentions(comment.text.as_str()))?;
    let at = tx.comment_counts(document)?.next_time(tx.now());
    if comment.rewrite(text, at) {
        tx.update_comment(thread_id, &comment)?;
        tx.record(CommentChange::Edited(context(&seen, thread_id, mentioned)));
    }
    Ok(comment)
}

/// Deletes a comment, the last one with its thread.
pub fn remove(
    tx: &mut WriteTx<'_>,
    document: &DocumentId,
    (thread_id, id): (&CommentThreadId, &CommentId),
) -> Result<()> {
    let seen = lock(tx, document)?;
    let thread = tx.comment_thread(document, thread_id)?;
    let comment = thread.comment(id).ok_or(Error::NotFound)?;
    comment.removable_by(tx.viewer(), &acting_user(tx)?)?;
    tx.delete_comment(thread_id, id, thread.comments.len() == 1)?;
    tx.record(CommentChange::Deleted(context(&seen, thread_id, Vec::new())));
    Ok(())
}

/// Marks the comments on a document as read by the caller, up to a time, never back. Returns what remains unread.
pub fn read(tx: &mut WriteTx<'_>, document: &DocumentId, reading: &CommentReading) -> Result<UnreadComments> {
    let seen = tx.lock_writable_document(document)?;
    let user = acting_user(tx)?;
    let until = tx.comment_counts(document)?.read_until(reading.read_until);
    if until > tx.comments_read_until(document)?
        && let Some(until) = until
    {
        tx.set_comments_read_until(document, &user, until)?;
        tx.record(CommentChange::Read {
            group_context: Box::new(seen.group_context),
            document: document.clone(),
            user,
        });
    }
    tx.unread_comments(document)
}

/// Moves the passages of all threads to the version of a new snapshot, so that a list of comments maps them over a short
/// log.
pub(super) fn move_anchors(tx: &mut WriteTx<'_>, log: &DocumentLog, version: i64) -> Result<()> {
    let anchors = tx.comment_anchors(&log.document_id, log.generation)?;
    let Some(oldest) = anchors.iter().map(|(_, anchor)| anchor.version).min() else {
        return Ok(());
    };
    let commits = tx.commits_since(&log.document_id, log.generation, oldest, i64::MAX)?;
    let changes = PositionChanges::of(&commits)?;
    for (thread, anchor) in &anchors {
        let moved = changes.map(anchor, version);
        tx.move_comment_anchor(thread, anchor, moved.as_ref(), None)?;
    }
    Ok(())
}

/// How commits move positions, by version.
#[derive(Debug, Default)]
pub struct PositionChanges(Vec<(i64, Vec<StepMap>)>);

impl PositionChanges {
    /// Reads commits, oldest first.
    pub fn of(commits: &[DocumentCommit]) -> Result<Self> {
        let changes = commits.iter().map(|commit| {
            let steps = parse_stored(std::slice::from_ref(commit))?;
            Ok((commit.version, steps.iter().map(Step::step_map).collect()))
        });
        Ok(Self(changes.collect::<Result<_>>()?))
    }

    /// Moves an anchor over the commits after its version, up to `version`, which is the last of them. `None` if the
    /// passage was deleted.
    pub fn map(&self, anchor: &CommentAnchor, version: i64) -> Option<CommentAnchor> {
        let passage = passage(anchor)?;
        let later = self.0.iter().filter(|(version, _)| *version > anchor.version);
        let moved = passage.map_over(later.flat_map(|(_, maps)| maps))?;
        anchored(anchor.generation, version, moved)
    }
}

/// Returns the positions of an anchor.
pub fn passage(anchor: &CommentAnchor) -> Option<Passage> {
    Some(Passage {
        from: usize::try_from(anchor.from).ok()?,
        to: usize::try_from(anchor.to).ok()?,
    })
}

/// Returns the anchor of a passage in a version.
pub fn anchored(generation: i64, version: i64, passage: Passage) -> Option<CommentAnchor> {
    Some(CommentAnchor {
        generation,
        version,
        from: i64::try_from(passage.from).ok()?,
        to: i64::try_from(passage.to).ok()?,
    })
}

/// Locks a document on which the caller may comment.
fn lock(tx: &mut WriteTx<'_>, document: &DocumentId) -> Result<VisibleDocument> {
    let seen = tx.lock_writable_document(document)?;
    let class_status = seen.group_context.class_status;
    seen.document().commentable_by(tx.viewer(), class_status)?;
    Ok(seen)
}

fn new_comment(tx: &WriteTx<'_>, text: &CommentText, counts: CommentCounts) -> Result<DocumentComment> {
    Ok(DocumentComment {
        id: CommentId::new(clock::new_id()),
        author: acting_person(tx)?,
        text: text.clone(),
        created_at: counts.next_time(tx.now()),
        edited_at: None,
    })
}

/// Checks that all users whom a text mentions can view the document, except those whom it mentioned before. Returns whom
/// it mentions since this change, without the caller. The error does not depend on the user who cannot be mentioned.
fn check_mentions(
    tx: &mut WriteTx<'_>,
    seen: &VisibleDocument,
    text: &CommentText,
    before: &[UserId],
) -> Result<Vec<Person>> {
    let mut added = mentions(text.as_str());
    if added.len() > MENTIONS_MAX {
        return Err(Error::invalid("text", "too_many", "mentions too many people"));
    }
    added.retain(|user| !before.contains(user));
    if added.is_empty() {
        return Ok(Vec::new());
    }
    let mut people = tx.people_of_group(&seen.group_context.group.id)?;
    people.retain(|found| found.can_view && added.contains(&found.person.id));
    let mut mentioned: Vec<Person> = people.into_iter().map(|found| found.person).collect();
    if mentioned.len() < added.len() {
        return Err(Error::invalid(
            "text",
            "unknown_mention",
            "mentions a user who cannot be mentioned here",
        ));
    }
    let caller = acting_user(tx)?;
    mentioned.retain(|person| person.id != caller);
    Ok(mentioned)
}

fn context(seen: &VisibleDocument, thread: &CommentThreadId, mentioned: Vec<Person>) -> Box<CommentContext> {
    Box::new(CommentContext {
        group_context: seen.group_context.clone(),
        document: seen.document().clone(),
        thread: thread.clone(),
        mentioned,
    })
}
