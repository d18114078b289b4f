//! Saves from the document server: which of them become the content of a document, and the keys under which the
//! document server knows a document. A save is not an edit by a user, so a lock does not reject it but determines how
//! it is stored. No edits are lost.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::document::{Document, DocumentState, UnlockedStatus};
use crate::document_kind::FileExtension;
use crate::file::FileKey;
use crate::id::{DocumentId, OrganizationId, RevisionId, UserId};
use crate::string_enum::string_enum;
use crate::time::Timestamp;

/// A save as announced by the document server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Save {
    /// The generation of the document key under which it was written.
    pub generation: i64,
    /// When its last edit was made.
    pub last_save: Option<Timestamp>,
    /// Whether the editing session ended (status 2) or continues (status 6).
    pub is_final: bool,
    /// Whether the save that was forced for a freeze arrived before this one, so that everything up to the cut is
    /// stored.
    pub is_after_snapshot: bool,
}

/// The revision with the present content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredSave {
    /// The generation under which it arrived.
    pub generation: i64,
    /// When its last edit was made; `None` for uploads and restored revisions.
    pub last_save: Option<Timestamp>,
    /// Whether it was the final save of its editing session.
    pub is_final: bool,
}

/// How a save is stored. Every save is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaveDisposition {
    /// It becomes the content; for a submitted or locked document it completes the present attempt.
    Current,
    /// It is stored as a revision but never becomes the content.
    Late,
    /// The present content includes it, or is newer within the same session; nothing is stored.
    Superseded,
}

impl Document {
    /// Decides how a save is stored, given the revision with the present content.
    pub fn classify_save(&self, save: Save, stored_save: Option<StoredSave>) -> SaveDisposition {
        if let Some(stored_save) = stored_save {
            // Newer content from elsewhere (a later session, an upload, a restored revision) is never overwritten.
            if stored_save.generation > save.generation {
                return SaveDisposition::Late;
            }
            // Saves of one session may arrive out of order. The document server reports whole seconds only: of two
            // forced saves within the same second the later arrival is newer, and the final save is newer than both.
            if stored_save.generation == save.generation && stored_save.last_save.is_some() {
                let is_older = save.last_save < stored_save.last_save;
                let is_same = save.last_save == stored_save.last_save;
                if is_older || (is_same && stored_save.is_final && !save.is_final) {
                    return SaveDisposition::Superseded;
                }
            }
        }
        match self.frozen_at() {
            None => SaveDisposition::Current,
            Some(_) if save.is_after_snapshot => SaveDisposition::Late,
            // Compared in whole seconds, because the document server truncates its timestamps.
            Some(cut) if save.last_save.is_some_and(|last| second(last) <= second(cut)) => SaveDisposition::Current,
            Some(_) => SaveDisposition::Late,
        }
    }

    /// Begins a freeze that ends at `until` at the latest. Edits up to `cut` belong to the frozen content until the
    /// flush has ended.
    pub fn begin_freeze(&mut self, cut: Timestamp, until: Timestamp) {
        self.cut_at = Some(cut);
        self.freezing_until = Some(until);
    }

    /// Returns whether a freeze is in progress: editors may still be open, and the content may still be completed.
    pub const fn is_freezing(&self) -> bool {
        self.freezing_until.is_some()
    }

    /// Records that all edits of a session have arrived. For a draft that is still edited under the kept key, only the
    /// end of the session proves this; a new key before then would split the session.
    pub fn note_arrival(&mut self, generation: i64, is_final: bool) {
        if self.unsaved_generation == Some(generation) && (is_final || self.frozen_at().is_some()) {
            self.unsaved_generation = None;
        }
    }

    /// Returns the cut: the time after which the content no longer changes. For a submission that is its submission
    /// time, not the time of its lock; if editors were open, it is the time at which they had sent all edits.
    pub fn frozen_at(&self) -> Option<Timestamp> {
        let begun = match self.status {
            DocumentState::Draft => return None,
            DocumentState::Submitted
            | DocumentState::Locked {
                before: UnlockedStatus::Submitted,
            } => self.submitted_at.or(self.locked_at).unwrap_or(self.updated_at),
            DocumentState::Locked {
                before: UnlockedStatus::Draft,
            } => self.locked_at.unwrap_or(self.updated_at),
        };
        Some(self.cut_at.map_or(begun, |cut| cut.max(begun)))
    }

    /// Increments the generation after a final save, an upload or a restored revision.
    pub fn renew_key(&mut self) {
        self.generation += 1;
    }

    /// Returns the document key of the present session. A draft keeps the key under which the document server still
    /// holds edits, so that opening it recovers them.
    pub fn key(&self) -> DocumentKey {
        let stored_save = self.unsaved_generation.filter(|_| self.status == DocumentState::Draft);
        DocumentKey {
            document: self.id.clone(),
            generation: stored_save.unwrap_or(self.generation),
        }
    }
}

const fn second(moment: Timestamp) -> i64 {
    moment.as_millis().div_euclid(1000)
}

/// Returns whether a list of active editors shows that a callback was missed since the last one, for example because
/// the document server was restarted. `before` are the editors listed in the last callback.
pub fn shows_gap(before: &[UserId], users: &[UserId], joined: &[UserId], left: &[UserId]) -> bool {
    let came_again = joined.iter().any(|user| before.contains(user));
    let vanished = before.iter().any(|user| !users.contains(user) && !left.contains(user));
    let appeared = users
        .iter()
        .any(|user| !before.contains(user) && !joined.contains(user));
    came_again || vanished || appeared
}

/// The key by which the document server identifies one editing session of a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DocumentKey {
    pub document: DocumentId,
    pub generation: i64,
}

impl DocumentKey {
    /// Returns the key with the deployment name as prefix, for installations that share a document server.
    pub fn text(&self, deployment: Option<&str>) -> String {
        deployment.map_or_else(|| self.to_string(), |deployment| format!("{deployment}-{self}"))
    }

    /// Parses a key; `None` for keys of another installation.
    pub fn parse(text: &str, deployment: Option<&str>) -> Option<Self> {
        let own = match deployment {
            Some(deployment) => text.strip_prefix(deployment)?.strip_prefix('-')?,
            None => text,
        };
        let (document, generation) = own.rsplit_once('-')?;
        let is_plain = !document.is_empty() && generation.bytes().all(|byte| byte.is_ascii_digit());
        let generation = generation
            .parse()
            .ok()
            .filter(|generation| is_plain && *generation >= 1)?;
        Some(Self {
            document: DocumentId::new(document),
            generation,
        })
    }
}

impl fmt::Display for DocumentKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", self.document, self.generation)
    }
}

string_enum! {
    /// Origin of a revision.
    RevisionOrigin {
        /// The initial content.
        Create = "CREATE",
        /// The final save of an editing session.
        Editor = "EDITOR",
        /// A save during an editing session.
        Forcesave = "FORCESAVE",
        /// An upload by a user.
        Upload = "UPLOAD",
        /// A user restored an earlier revision.
        Restore = "RESTORE",
        /// Arrived after newer content of a draft: a restored revision, an upload or a later session.
        Late = "LATE",
        /// Arrived after the document was submitted or locked, or contains only a part of the edits.
        LateAfterLock = "LATE_AFTER_LOCK",
    }
}

/// An immutable state of the content of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    pub id: RevisionId,
    pub organization_id: OrganizationId,
    pub document_id: DocumentId,
    /// Number of the revision, counted per document.
    pub version: i64,
    pub file_key: FileKey,
    /// Size in bytes.
    pub size: i64,
    /// SHA-256 of the content, hexadecimal.
    pub sha256: String,
    /// The user who edited last.
    pub saved_by_id: Option<UserId>,
    /// All users whose edits it contains.
    pub editors: Vec<UserId>,
    pub origin: RevisionOrigin,
    /// When the last edit was made.
    pub last_save: Option<Timestamp>,
    /// The generation under which it arrived.
    pub generation: i64,
    /// When it was stored.
    pub created_at: Timestamp,
}

impl Revision {
    /// Returns the storage key of a revision. It is known before the row is inserted.
    pub fn file_key(document: &DocumentId, revision: &RevisionId, extension: FileExtension) -> FileKey {
        FileKey::new(format!("{document}.{revision}.{extension}"))
    }

    /// Returns the file type of the revision, which may differ from the present type of the document.
    pub fn extension(&self) -> Option<FileExtension> {
        let (_, extension) = self.file_key.as_str().rsplit_once('.')?;
        FileExtension::parse(extension)
    }

    /// Returns the properties that [`Document::classify_save`] compares.
    pub const fn stored_save(&self) -> StoredSave {
        StoredSave {
            generation: self.generation,
            last_save: self.last_save,
            is_final: matches!(self.origin, RevisionOrigin::Editor),
        }
    }
}

/// Edit history of an editing session, reduced to what is stored: user ids instead of names, and only the latest
/// changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct History {
    /// Release of the document server, which displays changes of the same release only.
    pub server_version: Option<String>,
    /// The changes, oldest first.
    pub changes: Vec<HistoryChange>,
}

/// Edits of one user up to a point in time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryChange {
    pub at: Option<Timestamp>,
    pub user_id: UserId,
}

impl History {
    /// Maximum number of changes stored per session.
    pub const CHANGES_MAX: usize = 100;
    /// Maximum length of the release in characters.
    pub const VERSION_MAX: usize = 40;
    /// Maximum length of a user id in bytes; changes with longer ids are dropped.
    pub const ID_MAX: usize = 128;

    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns a history within these limits: the latest changes, without those whose user id is invalid.
    #[must_use]
    pub fn bounded(server_version: Option<&str>, changes: impl DoubleEndedIterator<Item = HistoryChange>) -> Self {
        let is_person = |change: &HistoryChange| (1..=Self::ID_MAX).contains(&change.user_id.as_str().len());
        let mut changes: Vec<_> = changes.rev().filter(is_person).take(Self::CHANGES_MAX).collect();
        changes.reverse();
        Self {
            server_version: server_version.map(|version| version.chars().take(Self::VERSION_MAX).collect()),
            changes,
        }
    }
}

#[cfg(test)]
#[path = "save_tests.rs"]
mod tests;
