//! Comments on documents in the built-in editor in responses. See docs/built-in-editor.md.

use api_macros::view;
use domain::comment::{CommentAnchor, CommentThread, DocumentComment, Resolution, UnreadComments};
use domain::id::{CommentId, CommentThreadId, DocumentId};
use domain::time::Timestamp;
use domain::user::Person;

/// The comments on a document.
#[view]
pub struct CommentListView {
    pub document_id: DocumentId,
    /// The present generation of the document.
    pub generation: i64,
    /// The version that the anchors refer to.
    pub version: i64,
    /// Whether the caller may write comments.
    pub can_comment: bool,
    /// The time of the newest comment or edit that the caller has read; null if none is known to be read.
    pub read_until: Option<Timestamp>,
    /// All threads, oldest first.
    pub threads: Vec<CommentThreadView>,
    /// Whom comments can mention as `@[id]`: members of the group and teachers of its class who can view the document, by name, at most 200. Empty if the caller cannot comment.
    pub mentionable: Vec<Person>,
    /// The users whom the comments mention, with their present names. Former members who wrote neither text nor comments, and erased users, are missing.
    pub mentioned: Vec<Person>,
}

/// A thread of comments.
#[view]
pub struct CommentThreadView {
    id: CommentThreadId,
    document_id: DocumentId,
    /// Where the passage is. Null for a comment on the whole document, and once the passage was deleted.
    anchor: Option<CommentAnchorView>,
    /// The text of the passage when the thread was created or the last generation ended. Null for a comment on the whole document.
    quote: Option<String>,
    is_resolved: bool,
    resolved_at: Option<Timestamp>,
    resolved_by: Option<Person>,
    /// Oldest first.
    comments: Vec<DocumentCommentView>,
    created_at: Timestamp,
}

/// A passage in one version of a document.
#[view]
pub struct CommentAnchorView {
    generation: i64,
    /// The version that the positions refer to.
    version: i64,
    from: i64,
    to: i64,
}

/// A comment in a thread.
#[view]
pub struct DocumentCommentView {
    id: CommentId,
    author: Person,
    /// Empty once the account of the author was erased.
    text: String,
    created_at: Timestamp,
    edited_at: Option<Timestamp>,
}

/// The comments on a document that the caller has not read.
#[view]
pub struct UnreadCommentsView {
    /// Number of comments that others wrote or edited since the caller read them.
    unread_comments: i64,
    /// Those among them that mention the caller.
    unread_mentions: i64,
}

impl From<UnreadComments> for UnreadCommentsView {
    fn from(unread: UnreadComments) -> Self {
        Self {
            unread_comments: unread.comments,
            unread_mentions: unread.mentions,
        }
    }
}

impl CommentThreadView {
    /// Returns the URL of the list that contains the thread.
    pub fn address(&self) -> String {
        format!("/api/workrooms/documents/{}/comments", self.document_id)
    }
}

impl From<&CommentThread> for CommentThreadView {
    fn from(thread: &CommentThread) -> Self {
        let resolution = thread.resolution.as_ref();
        Self {
            id: thread.id.clone(),
            document_id: thread.document_id.clone(),
            anchor: thread.anchor.as_ref().map(CommentAnchorView::from),
            quote: thread.quote.clone(),
            is_resolved: resolution.is_some(),
            resolved_at: resolution.map(|Resolution { resolved_at, .. }| *resolved_at),
            resolved_by: resolution.map(|Resolution { resolved_by, .. }| resolved_by.clone()),
            comments: thread.comments.iter().map(DocumentCommentView::from).collect(),
            created_at: thread.created_at,
        }
    }
}

impl From<&CommentAnchor> for CommentAnchorView {
    fn from(anchor: &CommentAnchor) -> Self {
        Self {
            generation: anchor.generation,
            version: anchor.version,
            from: anchor.from,
            to: anchor.to,
        }
    }
}

impl From<&DocumentComment> for DocumentCommentView {
    fn from(comment: &DocumentComment) -> Self {
        Self {
            id: comment.id.clone(),
            author: comment.author.clone(),
            text: comment.text.as_str().to_owned(),
            created_at: comment.created_at,
            edited_at: comment.edited_at,
        }
    }
}
