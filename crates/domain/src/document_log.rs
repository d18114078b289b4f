//! The log of a document in the built-in editor: commits of steps in the order in which the service accepted them, one log
//! for each generation of the document key. See docs/built-in-editor.md.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::class::ClassStatus;
use crate::document::{Document, DocumentState};
use crate::domain_error::DomainError;
use crate::id::{DocumentId, RevisionId, UserId};
use crate::string_enum::string_enum;
use crate::time::Timestamp;

/// Maximum number of steps of a commit.
pub const STEPS_MAX: usize = 500;
/// Maximum length of a client id and of a commit reference, in characters.
pub const REFERENCE_MAX: usize = 64;
/// Maximum number of late commits that are kept of one user and document.
pub const LATE_COMMITS_MAX: usize = 100;
/// A snapshot is stored after this many commits, so that opening a document replays a short log.
pub const SNAPSHOT_INTERVAL: i64 = 100;

/// The head of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentLog {
    pub document_id: DocumentId,
    pub generation: i64,
    /// The number of the last commit; 0 before the first.
    pub version: i64,
    /// The version of the newest snapshot.
    pub snapshot_version: i64,
    /// The revision with which the generation began; `None` for the blank template.
    pub base_revision_id: Option<RevisionId>,
    /// The version that the last written revision contains.
    pub saved_version: i64,
    /// The time of the first commit that no revision contains.
    pub unsaved_since: Option<Timestamp>,
    /// The time of the last commit.
    pub last_commit_at: Option<Timestamp>,
    /// Whether the file of the frozen document is written, so that later commits of the generation are late.
    pub is_closed: bool,
    /// Up to this version, the commits are packed.
    pub packed_version: i64,
    /// Why the file cannot be edited without loss, as codes; empty if it can.
    pub read_only_reasons: Vec<String>,
    /// The paragraph styles of the file, as the editor offers them.
    pub styles: Value,
    /// The pictures of the file with which the generation began.
    pub images: Vec<PackagedImage>,
}

/// A picture in the file of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PackagedImage {
    /// The attribute `src` of image nodes.
    pub id: String,
    /// The part of the file.
    pub part: String,
    pub media_type: String,
}

/// A generation of a document in the built-in editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentGeneration {
    pub generation: i64,
    /// The number of its commits.
    pub version: i64,
    pub began_at: Timestamp,
    pub last_commit_at: Option<Timestamp>,
}

/// A commit of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentCommit {
    /// The version of the document after the commit.
    pub version: i64,
    /// The id that the client chose, by which a repeated request is recognized.
    pub reference: String,
    /// The open page.
    pub client_id: String,
    pub author_id: UserId,
    pub committed_at: Timestamp,
    /// The steps as JSON.
    pub steps: Vec<Value>,
}

string_enum! {
    /// What happened to a commit.
    CommitResult {
        /// It belongs to the document.
        Committed = "COMMITTED",
        /// Its generation has ended; it is kept as a late version.
        Late = "LATE",
    }
}

/// What happens to a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitAdmission {
    /// It belongs to the document.
    Append,
    /// It arrived after its generation ended and is kept as a late version of its author.
    Late,
}

impl Document {
    /// Decides what happens to a commit of a generation. `is_latest` is whether no later generation has a log. While a
    /// document is being frozen, the commits of the generation that was just frozen still belong to it until the flush
    /// has ended.
    pub fn admit_commit(
        &self,
        generation: i64,
        is_latest: bool,
        class_status: ClassStatus,
        now: Timestamp,
    ) -> Result<CommitAdmission, DomainError> {
        if generation == self.key().generation {
            self.status.writable()?.rewritable()?;
            class_status.writable()?;
            return Ok(CommitAdmission::Append);
        }
        let is_flushing = is_latest && self.is_freezing() && self.cut_at.is_some_and(|cut| now < cut);
        Ok(if self.status != DocumentState::Draft && is_flushing {
            CommitAdmission::Append
        } else {
            CommitAdmission::Late
        })
    }
}

/// Returns whether a text can be a client id or a commit reference.
pub fn is_reference(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=REFERENCE_MAX).contains(&text.len()) && text.bytes().all(is_allowed)
}

#[cfg(test)]
#[path = "document_log_tests.rs"]
mod tests;
