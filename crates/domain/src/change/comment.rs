//! Changes of comments on documents.

use crate::document::Document;
use crate::group::GroupContext;
use crate::id::{CommentThreadId, DocumentId, UserId};
use crate::user::Person;

/// A change of a thread of comments.
#[derive(Clone, Debug, PartialEq)]
pub enum CommentChange {
    /// A thread was created with its first comment.
    Created(Box<CommentContext>),
    Replied(Box<CommentContext>),
    /// The text of a comment was changed.
    Edited(Box<CommentContext>),
    /// A comment was deleted, the last one with its thread.
    Deleted(Box<CommentContext>),
    Resolved(Box<CommentContext>),
    Reopened(Box<CommentContext>),
    /// A user read the comments. Only the user's own sessions are notified.
    Read {
        group_context: Box<GroupContext>,
        document: DocumentId,
        user: UserId,
    },
}

/// The thread that changed, and its document.
#[derive(Clone, Debug, PartialEq)]
pub struct CommentContext {
    /// The group that owns the document.
    pub group_context: GroupContext,
    pub document: Document,
    pub thread: CommentThreadId,
    /// The users whom the comment mentions since this change, without the actor.
    pub mentioned: Vec<Person>,
}
