//! Comments on documents in the built-in editor: threads about a passage or about the whole document. A thread is no part
//! of the document, so staff can comment on submitted work without changing it. See docs/built-in-editor.md.

use std::ops::Range;

use crate::access::Viewer;
use crate::class::ClassStatus;
use crate::document::Document;
use crate::domain_error::DomainError;
use crate::id::{CommentId, CommentThreadId, DocumentId, UserId};
use crate::text::CommentText;
use crate::time::Timestamp;
use crate::user::Person;

/// Maximum number of threads of a document.
pub const THREADS_MAX: usize = 200;
/// Maximum number of comments in a thread.
pub const THREAD_COMMENTS_MAX: usize = 50;
/// Maximum number of comments on a document in all threads together, because they are listed at once.
pub const DOCUMENT_COMMENTS_MAX: usize = 1000;
/// Maximum length of a quote, in characters.
pub const QUOTE_MAX: usize = 1000;
/// Maximum number of users whom a comment mentions.
pub const MENTIONS_MAX: usize = 20;

/// A passage in one version of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommentAnchor {
    pub generation: i64,
    pub version: i64,
    pub from: i64,
    pub to: i64,
}

/// A thread of comments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommentThread {
    pub id: CommentThreadId,
    pub document_id: DocumentId,
    /// `None` for a comment on the whole document, and once the passage was deleted.
    pub anchor: Option<CommentAnchor>,
    /// The text of the passage when the thread was created or the last generation ended; `None` for a comment on the whole document.
    pub quote: Option<String>,
    pub resolution: Option<Resolution>,
    /// Oldest first; never empty.
    pub comments: Vec<DocumentComment>,
    pub created_at: Timestamp,
}

/// Who marked a thread as resolved, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    pub resolved_at: Timestamp,
    pub resolved_by: Person,
}

/// A comment in a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentComment {
    pub id: CommentId,
    pub author: Person,
    /// Empty once the author was erased.
    pub text: CommentText,
    pub created_at: Timestamp,
    pub edited_at: Option<Timestamp>,
}

/// The numbers of threads and comments of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommentCounts {
    pub threads: i64,
    pub comments: i64,
    /// The time of the newest comment or edit.
    pub latest: Option<Timestamp>,
}

/// The comments on a document that a user has not read: written or edited by others since the user saw them last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnreadComments {
    pub comments: i64,
    /// Those among them that mention the user.
    pub mentions: i64,
}

impl Document {
    /// Rejects comments of students on documents that are no drafts, and of all users in archived classes. Staff may
    /// comment on submitted and locked documents.
    pub fn commentable_by(&self, viewer: &Viewer, class_status: ClassStatus) -> Result<(), DomainError> {
        if !viewer.is_staff() {
            self.rewritable()?;
        }
        class_status.writable()
    }
}

impl CommentCounts {
    /// Returns the time of the next comment or edit. It is later than all before, so a user who has read up to a time
    /// has seen everything before it.
    pub fn next_time(self, now: Timestamp) -> Timestamp {
        let after_latest = self.latest.map(|latest| Timestamp::from_millis(latest.as_millis() + 1));
        after_latest.map_or(now, |earliest| earliest.max(now))
    }

    /// Returns the time up to which a user has read who has seen the comments up to `until`, or all of them.
    pub fn read_until(self, until: Option<Timestamp>) -> Option<Timestamp> {
        let latest = self.latest?;
        Some(until.map_or(latest, |until| until.min(latest)))
    }

    /// Rejects another thread if the document has too many.
    pub fn admit_thread(self) -> Result<(), DomainError> {
        below("threads of comments", self.threads, THREADS_MAX)?;
        below("comments on a document", self.comments, DOCUMENT_COMMENTS_MAX)
    }

    /// Rejects another comment in a thread if the thread or the document has too many.
    pub fn admit_reply(self, thread: &CommentThread) -> Result<(), DomainError> {
        let in_thread = i64::try_from(thread.comments.len()).unwrap_or(i64::MAX);
        below("comments in a thread", in_thread, THREAD_COMMENTS_MAX)?;
        below("comments on a document", self.comments, DOCUMENT_COMMENTS_MAX)
    }
}

fn below(what: &'static str, count: i64, limit: usize) -> Result<(), DomainError> {
    if usize::try_from(count).is_ok_and(|count| count < limit) {
        Ok(())
    } else {
        Err(DomainError::LimitReached { what, limit })
    }
}

impl CommentThread {
    /// Returns a comment of the thread.
    pub fn comment(&self, id: &CommentId) -> Option<&DocumentComment> {
        self.comments.iter().find(|comment| comment.id == *id)
    }

    /// Resolves or reopens the thread; returns whether that changed it.
    pub fn set_resolved(&mut self, is_resolved: bool, by: Person, now: Timestamp) -> bool {
        if self.resolution.is_some() == is_resolved {
            return false;
        }
        self.resolution = is_resolved.then_some(Resolution {
            resolved_at: now,
            resolved_by: by,
        });
        true
    }
}

impl DocumentComment {
    /// Rejects an edit by another user than the author.
    pub fn editable_by(&self, user: &UserId) -> Result<(), DomainError> {
        if self.author.id == *user {
            Ok(())
        } else {
            Err(DomainError::NotAuthor)
        }
    }

    /// Rejects the deletion unless the viewer is staff or the author.
    pub fn removable_by(&self, viewer: &Viewer, user: &UserId) -> Result<(), DomainError> {
        if viewer.is_staff() {
            Ok(())
        } else {
            self.editable_by(user)
        }
    }

    /// Changes the text; returns whether it differs.
    pub fn rewrite(&mut self, text: &CommentText, now: Timestamp) -> bool {
        if self.text == *text {
            return false;
        }
        self.text = text.clone();
        self.edited_at = Some(now);
        true
    }
}

/// Returns the users whom a text mentions as `@[id]`, each once.
pub fn mentions(text: &str) -> Vec<UserId> {
    let mut users = Vec::new();
    for range in mentioned_ids(text) {
        let user = text.get(range).map(UserId::new);
        users.extend(user.filter(|user| !users.contains(user)));
    }
    users
}

/// Replaces the ids of the users whom a text mentions. An id for which `new_id` returns `None` stays.
pub fn rename_mentions(text: &str, new_id: impl Fn(&str) -> Option<String>) -> String {
    let mut renamed = String::with_capacity(text.len());
    let mut end = 0;
    for range in mentioned_ids(text) {
        let Some(id) = text.get(range.clone()).and_then(&new_id) else {
            continue;
        };
        renamed.push_str(text.get(end..range.start).unwrap_or_default());
        renamed.push_str(&id);
        end = range.end;
    }
    renamed.push_str(text.get(end..).unwrap_or_default());
    renamed
}

/// Returns where the ids of mentioned users are in a text.
fn mentioned_ids(text: &str) -> impl Iterator<Item = Range<usize>> {
    const ID_MAX: usize = 200;
    let is_of_id = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte);
    text.match_indices("@[").filter_map(move |(at, opening)| {
        let start = at + opening.len();
        let rest = text.as_bytes().get(start..)?;
        let length = rest.iter().take(ID_MAX + 1).take_while(|byte| is_of_id(byte)).count();
        let is_mention = (1..=ID_MAX).contains(&length) && rest.get(length) == Some(&b']');
        is_mention.then_some(start..start + length)
    })
}

/// Shortens the text of a passage to a quote.
pub fn quote(text: &str) -> String {
    text.chars().take(QUOTE_MAX).collect()
}

#[cfg(test)]
#[path = "comment_tests.rs"]
mod tests;
