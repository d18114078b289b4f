//! An editing session: the text under one key, its members, and the authors of changes. Pure state without any waiting;
//! its effects are in `connections` and `save`.

use std::collections::HashMap;

use bytes::Bytes;
use tokio::sync::{mpsc, watch};

use crate::{
    callback::QueuedCallback,
    clock,
    editor_config::{ConfiguredUser, EditorConfig, EditorError},
    ooxml::{self, DocumentError, DocumentKind},
    save::AssembledFile,
};

/// An open editor or viewer.
#[derive(Clone)]
pub(crate) struct SessionMember {
    pub(crate) id: String,
    pub(crate) user: ConfiguredUser,
    pub(crate) edit: bool,
    /// False after a close or a network failure.
    pub(crate) present: bool,
    /// True from a network failure until the member reconnects or closes.
    pub(crate) lost: bool,
    /// Message of the `drop` command that made it read-only.
    pub(crate) dropped: Option<String>,
    /// Base URL of the simulator as seen by its browser; result URLs are built from it.
    pub(crate) origin: String,
}

/// Progress of a session from opening to its final save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionPhase {
    /// May be edited, or waits with changes for a reconnect.
    Live,
    /// The final save is in progress.
    Saving,
    /// The final save was accepted; this key only shows old content from now on.
    Finished,
}

/// The latest change.
#[derive(Clone)]
pub(crate) struct LastChange {
    pub(crate) user: ConfiguredUser,
    pub(crate) origin: String,
    pub(crate) at: u64,
}

/// The result of a forced save.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ForcedSaveState {
    Pending,
    Accepted,
    Rejected,
}

/// The latest forced save.
pub(crate) struct ForcedSave {
    pub(crate) revision: u64,
    pub(crate) assembled: Option<AssembledFile>,
    pub(crate) status: ForcedSaveState,
}

/// A replacement of lines, used to transform edits that were made against an older revision.
struct Splice {
    revision: u64,
    start: usize,
    removed: usize,
    inserted: usize,
}

/// The text under one key and its members.
pub(crate) struct SharedSession {
    pub(crate) key: String,
    pub(crate) title: String,
    pub(crate) kind: DocumentKind,
    pub(crate) source: Bytes,
    original: Vec<String>,
    lines: Vec<String>,
    /// Number of changes since the document was downloaded.
    pub(crate) revision: u64,
    splices: Vec<Splice>,
    pub(crate) history: Vec<(ConfiguredUser, u64)>,
    pub(crate) from_forgotten: bool,
    pub(crate) phase: SessionPhase,
    pub(crate) members: Vec<SessionMember>,
    /// The latest callback URL of each user: the last tab wins.
    callback_urls: HashMap<String, String>,
    pub(crate) last_change: Option<LastChange>,
    pub(crate) forced: Option<ForcedSave>,
    /// The revision at the last restart. The state of forced saves is kept in memory only: without a later change there
    /// is nothing to force, although the changes are still in the database.
    pub(crate) restarted_at: Option<u64>,
    /// Incremented when an editor joins; a delayed save checks it and is skipped if it changed.
    pub(crate) epoch: u64,
    pub(crate) callback_queue: mpsc::UnboundedSender<QueuedCallback>,
    pub(crate) updates: watch::Sender<u64>,
}

impl SharedSession {
    pub(crate) fn new(
        config: &EditorConfig,
        source: Bytes,
        from_forgotten: bool,
        callback_queue: mpsc::UnboundedSender<QueuedCallback>,
    ) -> Result<Self, DocumentError> {
        let (kind, lines) = ooxml::read(&source)?;
        Ok(Self {
            key: config.key.clone(),
            title: config.title.clone(),
            kind,
            source,
            original: lines.clone(),
            lines,
            revision: 0,
            splices: Vec::new(),
            history: Vec::new(),
            from_forgotten,
            phase: SessionPhase::Live,
            members: Vec::new(),
            callback_urls: HashMap::new(),
            last_change: None,
            forced: None,
            restarted_at: None,
            epoch: 0,
            callback_queue,
            updates: watch::Sender::new(0),
        })
    }

    /// Returns the shown text: after the final save only the content that was opened first.
    pub(crate) fn lines(&self) -> &[String] {
        if self.phase == SessionPhase::Live {
            &self.lines
        } else {
            &self.original
        }
    }

    /// Returns the text to be saved.
    pub(crate) fn current_lines(&self) -> Vec<String> {
        self.lines.clone()
    }

    pub(crate) fn has_changes(&self) -> bool {
        self.revision > 0
    }

    pub(crate) fn editors(&self) -> impl Iterator<Item = &SessionMember> {
        self.members.iter().filter(|member| member.edit && member.present)
    }

    /// Returns the distinct ids of the editors, in the order in which they joined.
    pub(crate) fn editor_ids(&self) -> Vec<String> {
        let mut ids: Vec<String> = Vec::new();
        for member in self.editors() {
            if !ids.contains(&member.user.id) {
                ids.push(member.user.id.clone());
            }
        }
        ids
    }

    pub(crate) fn member(&mut self, connection: &str) -> Option<&mut SessionMember> {
        self.members.iter_mut().find(|member| member.id == connection)
    }

    pub(crate) fn set_callback_url(&mut self, user: &ConfiguredUser, url: Option<&String>) {
        if let Some(url) = url {
            self.callback_urls.insert(user.id.clone(), url.clone());
        }
    }

    pub(crate) fn callback_url_of(&self, user: &ConfiguredUser) -> Option<String> {
        self.callback_urls.get(&user.id).cloned()
    }

    /// Returns any known callback URL, for callbacks that no user caused.
    pub(crate) fn any_callback_url(&self) -> Option<String> {
        let newest = self
            .members
            .iter()
            .rev()
            .find_map(|member| self.callback_url_of(&member.user));
        newest.or_else(|| self.callback_urls.values().next().cloned())
    }

    /// Notifies open pages of a change.
    pub(crate) fn notify(&self) {
        self.updates.send_modify(|count| *count += 1);
    }

    /// Replaces lines as they were at revision `base`. If two edits replace the same line, the later one wins.
    pub(crate) fn replace(
        &mut self,
        connection: &str,
        base: u64,
        lines: std::ops::Range<usize>,
        new: Vec<String>,
    ) -> Result<u64, EditorError> {
        let phase = self.phase;
        let kind = self.kind;
        let Some(member) = self.member(connection) else {
            return Err(EditorError::access("this connection is not part of the session"));
        };
        if !member.edit || !(member.present || member.lost) || member.dropped.is_some() || phase != SessionPhase::Live {
            return Err(EditorError::access("this connection may only read"));
        }
        if kind == DocumentKind::Pdf {
            return Err(EditorError::new(-82, "the simulated editor does not change PDFs"));
        }
        let (user, origin) = (member.user.clone(), member.origin.clone());
        let mut start = lines.start;
        for splice in self.splices.iter().filter(|splice| splice.revision > base) {
            if splice.start + splice.removed <= start {
                start = start - splice.removed + splice.inserted;
            }
        }
        let start = start.min(self.lines.len());
        let removed = lines.len().min(self.lines.len() - start);
        self.revision += 1;
        self.splices.push(Splice {
            revision: self.revision,
            start,
            removed,
            inserted: new.len(),
        });
        self.lines.splice(start..start + removed, new);
        let at = clock::now_millis();
        if self.history.last().is_none_or(|(last, _)| last.id != user.id) {
            self.history.push((user.clone(), at));
        }
        self.last_change = Some(LastChange { user, origin, at });
        self.notify();
        Ok(self.revision)
    }

    /// Types at the end of a paragraph, by default the last one. Line breaks start new paragraphs.
    pub(crate) fn type_text(
        &mut self,
        connection: &str,
        paragraph: Option<usize>,
        text: &str,
    ) -> Result<u64, EditorError> {
        let last = self.lines.len().saturating_sub(1);
        let at = paragraph.unwrap_or(last).min(last);
        let before = self.lines.get(at).cloned().unwrap_or_default();
        let new = (before + text).split('\n').map(str::to_owned).collect();
        let end = (at + 1).min(self.lines.len());
        self.replace(connection, self.revision, at..end, new)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    fn session(text: &str) -> SharedSession {
        let config = EditorConfig {
            key: "k".into(),
            url: String::new(),
            file_type: "docx".into(),
            title: "T".into(),
            edit: true,
            callback_url: None,
            user: ConfiguredUser {
                id: "ben".into(),
                name: "Ben".into(),
            },
        };
        let (callback_queue, _) = mpsc::unbounded_channel();
        let mut session = SharedSession::new(&config, text.to_owned().into(), false, callback_queue).unwrap();
        for id in ["ben", "mia"] {
            session.members.push(SessionMember {
                id: id.into(),
                user: ConfiguredUser {
                    id: id.into(),
                    name: id.into(),
                },
                edit: true,
                present: true,
                lost: false,
                dropped: None,
                origin: String::new(),
            });
        }
        session
    }

    fn one(text: &str) -> Vec<String> {
        vec![text.to_owned()]
    }

    #[test]
    fn concurrent_edits_of_different_lines_are_merged() {
        let mut session = session("a\nb\nc");
        session.replace("ben", 0, 0..1, vec!["a1".into(), "a2".into()]).unwrap();
        session.replace("mia", 0, 2..3, one("C")).unwrap();
        assert_eq!(session.lines(), ["a1", "a2", "b", "C"]);
    }

    #[test]
    fn later_edit_of_same_line_wins() {
        let mut session = session("a\nb");
        session.replace("ben", 0, 1..2, one("ben")).unwrap();
        session.replace("mia", 0, 1..2, one("mia")).unwrap();
        assert_eq!(session.lines(), ["a", "mia"]);
        assert_eq!(session.last_change.as_ref().unwrap().user.id, "mia");
    }

    #[test]
    fn text_is_appended_and_viewers_cannot_type() {
        let mut session = session("a\nb");
        session.type_text("ben", None, "!\nnew").unwrap();
        assert_eq!(session.lines(), ["a", "b!", "new"]);
        session.member("mia").unwrap().edit = false;
        assert_eq!(session.type_text("mia", None, "x").unwrap_err().code, 4004);
        assert!(session.type_text("zoe", None, "x").is_err());
    }
}
