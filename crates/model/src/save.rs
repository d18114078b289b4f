//! Saves that the document server delivers: which become the content, and under which key the server knows a document.
//! A save is no mutation by a person, so a lock does not refuse it; it decides what becomes of it. Nothing written is lost.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::document::{Document, Open, Status};
use crate::document_kind::FileExtension;
use crate::file::FileKey;
use crate::id::{DocumentId, OrganizationId, RevisionId, UserId};
use crate::time::Timestamp;
use crate::word::words;

/// A save as the document server announces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Save {
    /// The generation of the key under which it was written.
    pub generation: i64,
    /// When its last change was made.
    pub last_save: Option<Timestamp>,
    /// Whether the session is over (status 2) or goes on (status 6).
    pub is_final: bool,
    /// Whether the save that was forced for the freeze has arrived before it: then everything up to the cut is here.
    pub is_after_snapshot: bool,
}

/// The revision that is the content now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The generation under which it came.
    pub generation: i64,
    /// When its last change was made; none for uploads and restores.
    pub last_save: Option<Timestamp>,
    /// Whether it came with the end of its session.
    pub is_final: bool,
}

/// What becomes of a save. It is acknowledged in every case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// It becomes the content; on a document that is handed in or locked it completes this very attempt.
    Current,
    /// It is kept as a revision, but never becomes the content.
    Late,
    /// The content holds it already, or something newer of the same session; nothing is kept.
    Superseded,
}

impl Document {
    /// What becomes of a save, given the revision that is the content now.
    pub fn receive(&self, save: Save, kept: Option<Kept>) -> Received {
        if let Some(kept) = kept {
            // Newer content came in from elsewhere (a later session, an upload, a restore): never overwrite it.
            if kept.generation > save.generation {
                return Received::Late;
            }
            // Saves of one session may overtake each other. The document server names whole seconds only: of two forced saves
            // of the same second the one that arrives later holds more, and the final one wins over both.
            if kept.generation == save.generation && kept.last_save.is_some() {
                let is_older = save.last_save < kept.last_save;
                let is_same = save.last_save == kept.last_save;
                if is_older || (is_same && kept.is_final && !save.is_final) {
                    return Received::Superseded;
                }
            }
        }
        match self.frozen_at() {
            None => Received::Current,
            Some(_) if save.is_after_snapshot => Received::Late,
            // In whole seconds: the document server cuts the rest off.
            Some(cut) if save.last_save.is_some_and(|last| second(last) <= second(cut)) => Received::Current,
            Some(_) => Received::Late,
        }
    }

    /// Begins a freeze that ends at `until` at the latest. Changes up to `cut` belong to it, until the flush has ended.
    pub fn begin_freeze(&mut self, cut: Timestamp, until: Timestamp) {
        self.cut_at = Some(cut);
        self.freezing_until = Some(until);
    }

    /// Whether a freeze is under way: the editors may still be open, and the content may still be completed.
    pub const fn is_freezing(&self) -> bool {
        self.freezing_until.is_some()
    }

    /// Notes that everything of a session has arrived. Of a draft whose writers go on under the kept key that is so with
    /// the end of the session alone; before, another key would divide them.
    pub fn note_arrival(&mut self, generation: i64, is_final: bool) {
        if self.unsaved_generation == Some(generation) && (is_final || self.frozen_at().is_some()) {
            self.unsaved_generation = None;
        }
    }

    /// The cut: the moment from which the content no longer changes. For a submission that is its submission, not its lock;
    /// where editors were open, since they had sent what was typed.
    pub fn frozen_at(&self) -> Option<Timestamp> {
        let begun = match self.status {
            Status::Draft => return None,
            Status::Submitted
            | Status::Locked {
                before: Open::Submitted,
            } => self.submitted_at.or(self.locked_at).unwrap_or(self.updated_at),
            Status::Locked { before: Open::Draft } => self.locked_at.unwrap_or(self.updated_at),
        };
        Some(self.cut_at.map_or(begun, |cut| cut.max(begun)))
    }

    /// Makes the key of the document server new, after a final save, an upload or a restore.
    pub fn renew_key(&mut self) {
        self.generation += 1;
    }

    /// The name by which the document server knows the present session. A draft keeps the key under which the document
    /// server still holds changes: opening it brings them.
    pub fn key(&self) -> DocumentKey {
        let kept = self.unsaved_generation.filter(|_| self.status == Status::Draft);
        DocumentKey {
            document: self.id.clone(),
            generation: kept.unwrap_or(self.generation),
        }
    }
}

const fn second(moment: Timestamp) -> i64 {
    moment.as_millis().div_euclid(1000)
}

/// Whether a notice of who edits shows that something was missed since the last one: the document server may have been
/// restarted. `before` are the editors as the last notice named them.
pub fn shows_gap(before: &[UserId], users: &[UserId], joined: &[UserId], left: &[UserId]) -> bool {
    let came_again = joined.iter().any(|user| before.contains(user));
    let vanished = before.iter().any(|user| !users.contains(user) && !left.contains(user));
    let appeared = users
        .iter()
        .any(|user| !before.contains(user) && !joined.contains(user));
    came_again || vanished || appeared
}

/// The name by which the document server knows one session of a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DocumentKey {
    /// The document.
    pub document: DocumentId,
    /// Its generation.
    pub generation: i64,
}

impl DocumentKey {
    /// The key with the name of this installation in front, for installations that share a document server.
    pub fn text(&self, deployment: Option<&str>) -> String {
        deployment.map_or_else(|| self.to_string(), |deployment| format!("{deployment}-{self}"))
    }

    /// Reads a key back; one of another installation is none of ours.
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

words! {
    /// Where the bytes of a revision came from.
    RevisionOrigin {
        /// The document began with them.
        Create = "CREATE",
        /// The last writer left the editor.
        Editor = "EDITOR",
        /// A save while writing went on.
        Forcesave = "FORCESAVE",
        /// Somebody uploaded them.
        Upload = "UPLOAD",
        /// Somebody went back to an earlier revision.
        Restore = "RESTORE",
        /// They came after newer content of a draft: a restore, an upload or a later session.
        Late = "LATE",
        /// They came after the document was submitted or locked, or are only a part of what was written.
        LateAfterLock = "LATE_AFTER_LOCK",
    }
}

/// One immutable state of a document's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// Its id.
    pub id: RevisionId,
    /// The tenant.
    pub organization_id: OrganizationId,
    /// The document.
    pub document_id: DocumentId,
    /// Its number, counted per document.
    pub version: i64,
    /// Where the bytes are.
    pub file_key: FileKey,
    /// Bytes.
    pub size: i64,
    /// Hexadecimal SHA-256 of the bytes.
    pub sha256: String,
    /// The last author.
    pub saved_by_id: Option<UserId>,
    /// Everybody who wrote.
    pub editors: Vec<UserId>,
    /// Where the bytes came from.
    pub origin: RevisionOrigin,
    /// When the last change was made.
    pub last_save: Option<Timestamp>,
    /// The generation under which it came.
    pub generation: i64,
    /// When it was stored.
    pub created_at: Timestamp,
}

impl Revision {
    /// The name under which the bytes of a revision are stored; known before there is a row.
    pub fn file_key(document: &DocumentId, revision: &RevisionId, extension: FileExtension) -> FileKey {
        FileKey::new(format!("{document}.{revision}.{extension}"))
    }

    /// The kind of its bytes, which the document may have had before another one.
    pub fn extension(&self) -> Option<FileExtension> {
        let (_, extension) = self.file_key.as_str().rsplit_once('.')?;
        FileExtension::parse(extension)
    }

    /// What [`Document::receive`] needs to know of it.
    pub const fn kept(&self) -> Kept {
        Kept {
            generation: self.generation,
            last_save: self.last_save,
            is_final: matches!(self.origin, RevisionOrigin::Editor),
        }
    }
}

/// What an editing session tells of its changes, as far as it is kept: ids instead of names, and the last changes only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct History {
    /// The release of the document server: it shows changes of the same release only.
    pub server_version: Option<String>,
    /// The changes, oldest first.
    pub changes: Vec<HistoryChange>,
}

/// Somebody's changes up to a moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryChange {
    /// When.
    pub at: Option<Timestamp>,
    /// Who.
    pub user_id: UserId,
}

impl History {
    /// How many changes are kept of one session.
    pub const CHANGES_MAX: usize = 100;
    /// The longest release that is kept.
    pub const VERSION_MAX: usize = 40;
    /// The longest id of a user that is believed to be one.
    pub const ID_MAX: usize = 128;

    /// Whether it tells nothing.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The same within the bounds: the last changes, and of people only.
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
