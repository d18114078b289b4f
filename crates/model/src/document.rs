//! Documents of a work room: DRAFT ⇄ SUBMITTED, and LOCKED around either. A locked document leaves its lock only when the
//! topic that locked it is reopened or goes; every mutator asks [`Status::writable`] first.
//! The kinds of documents are in [`crate::document_kind`], the saves of the document server in [`crate::save`].

use crate::access::Viewer;
use crate::class::ClassStatus;
use crate::document_kind::{DocumentType, FileExtension};
use crate::edit::{Changed, Edit};
use crate::id::{AssignmentId, DocumentId, GroupId, OrganizationId, RevisionId, UserId, WorkRoomId};
use crate::policy::{self, Clause};
use crate::refusal::Refusal;
use crate::text::DocumentTitle;
use crate::time::Timestamp;
use crate::word::words;

/// The most documents of one work room.
pub const DOCUMENTS_MAX: usize = 100;

words! {
    /// The status of a document that is not locked, or was before the lock.
    Open {
        /// The group works on it.
        Draft = "DRAFT",
        /// It is handed in.
        Submitted = "SUBMITTED",
    }
}

words! {
    /// The status of a document as one word.
    DocumentStatus {
        /// The group works on it.
        Draft = "DRAFT",
        /// It is handed in.
        Submitted = "SUBMITTED",
        /// Its topic is finished; nobody changes it.
        Locked = "LOCKED",
    }
}

words! {
    /// How the editor opens for somebody.
    Mode {
        /// Writing.
        Edit = "edit",
        /// Reading only.
        View = "view",
    }
}

/// The status of a document; a lock remembers what was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// The group works on it.
    Draft,
    /// It is handed in.
    Submitted,
    /// Its topic is finished.
    Locked {
        /// What it was before.
        before: Open,
    },
}

impl From<Open> for Status {
    fn from(open: Open) -> Self {
        match open {
            Open::Draft => Self::Draft,
            Open::Submitted => Self::Submitted,
        }
    }
}

impl Open {
    /// Hands in.
    pub const fn submit(self) -> Result<Self, Refusal> {
        match self {
            Self::Draft => Ok(Self::Submitted),
            Self::Submitted => Err(Refusal::AlreadySubmitted),
        }
    }

    /// Takes back.
    pub const fn unsubmit(self) -> Result<Self, Refusal> {
        match self {
            Self::Submitted => Ok(Self::Draft),
            Self::Draft => Err(Refusal::NotSubmitted),
        }
    }

    /// Only a draft takes other content.
    pub fn rewritable(self) -> Result<(), Refusal> {
        if policy::holds(Clause::DocumentDraft, self == Self::Draft) {
            Ok(())
        } else {
            Err(Refusal::AlreadySubmitted)
        }
    }
}

impl Status {
    /// The only way to the mutators: a locked document refuses, for every role.
    pub fn writable(self) -> Result<Open, Refusal> {
        if policy::holds(Clause::DocumentUnlocked, !self.is_locked()) {
            Ok(self.open())
        } else {
            Err(Refusal::DocumentLocked)
        }
    }

    /// Hands in a draft.
    pub fn submit(self) -> Result<Self, Refusal> {
        self.writable()?.submit().map(Self::from)
    }

    /// Takes back what was handed in.
    pub fn unsubmit(self) -> Result<Self, Refusal> {
        self.writable()?.unsubmit().map(Self::from)
    }

    /// Locks; what is locked already keeps what it remembers.
    #[must_use]
    pub const fn lock(self) -> Self {
        match self {
            Self::Draft => Self::Locked { before: Open::Draft },
            Self::Submitted => Self::Locked {
                before: Open::Submitted,
            },
            Self::Locked { before } => Self::Locked { before },
        }
    }

    /// Unlocks to what was before; what is not locked stays as it is.
    #[must_use]
    pub fn unlock(self) -> Self {
        match self {
            Self::Locked { before } => before.into(),
            open => open,
        }
    }

    /// Whether it is locked.
    pub const fn is_locked(self) -> bool {
        matches!(self, Self::Locked { .. })
    }

    /// The status with the lock looked through.
    pub const fn open(self) -> Open {
        match self {
            Self::Draft | Self::Locked { before: Open::Draft } => Open::Draft,
            Self::Submitted
            | Self::Locked {
                before: Open::Submitted,
            } => Open::Submitted,
        }
    }

    /// The word of the wire and of the store.
    pub const fn word(self) -> DocumentStatus {
        match self {
            Self::Draft => DocumentStatus::Draft,
            Self::Submitted => DocumentStatus::Submitted,
            Self::Locked { .. } => DocumentStatus::Locked,
        }
    }

    /// What `statusBeforeLock` says.
    pub const fn before_lock(self) -> Option<Open> {
        match self {
            Self::Locked { before } => Some(before),
            Self::Draft | Self::Submitted => None,
        }
    }

    /// Reads the two columns of the store back; a lock without memory counts as a locked draft.
    pub fn stored(word: DocumentStatus, before: Option<Open>) -> Self {
        match word {
            DocumentStatus::Draft => Self::Draft,
            DocumentStatus::Submitted => Self::Submitted,
            DocumentStatus::Locked => Self::Locked {
                before: before.unwrap_or(Open::Draft),
            },
        }
    }
}

/// The other topics of a group, as finishing and reopening one of its topics sees them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtherTopics {
    /// The topics the group still works on.
    pub active: Vec<AssignmentId>,
    /// The finished ones, the one that was finished first in front.
    pub finished: Vec<AssignmentId>,
}

/// What reopening a topic does to a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reopening<'a> {
    /// Nothing: the topic does not hold its lock.
    Untouched,
    /// The document is what it was before the lock.
    Unlocks,
    /// It stays locked, and this finished topic holds the lock now.
    PassesOn(&'a AssignmentId),
}

/// A file that a group edits in its work room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its id.
    pub id: DocumentId,
    /// The tenant.
    pub organization_id: OrganizationId,
    /// Its room.
    pub work_room_id: WorkRoomId,
    /// The group of the room.
    pub group_id: GroupId,
    /// Its title.
    pub title: DocumentTitle,
    /// What sort of editor it needs.
    pub document_type: DocumentType,
    /// The extension of its file.
    pub file_extension: FileExtension,
    /// Its status.
    pub status: Status,
    /// When it was locked.
    pub locked_at: Option<Timestamp>,
    /// The topic that locked it; unknown for locks from before this was kept.
    pub locked_by_assignment_id: Option<AssignmentId>,
    /// The topic it is for; loose until it is submitted.
    pub assignment_id: Option<AssignmentId>,
    /// Part of its key at the document server; rises when a session must not be joined any more.
    pub generation: i64,
    /// The revision that is its content; none before the first save.
    pub current_revision_id: Option<RevisionId>,
    /// Number of the current revision.
    pub version: i64,
    /// Bytes of the current revision.
    pub size: i64,
    /// Who made it.
    pub created_by_id: UserId,
    /// Who wrote last.
    pub last_edited_by: Option<UserId>,
    /// When something last happened to it.
    pub last_activity: Timestamp,
    /// Set while the document server could not save it.
    pub save_failed_at: Option<Timestamp>,
    /// The latest moment whose changes belong to the frozen content: the end of the flush, and until that is known the
    /// latest moment at which it may end.
    pub cut_at: Option<Timestamp>,
    /// Set while a freeze is under way: the moment at which it ends at the latest.
    pub freezing_until: Option<Timestamp>,
    /// The generation whose changes the document server may still hold although they were never saved here.
    pub unsaved_generation: Option<i64>,
    /// When it was handed in.
    pub submitted_at: Option<Timestamp>,
    /// Who handed it in.
    pub submitted_by_id: Option<UserId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its row last changed.
    pub updated_at: Timestamp,
}

impl Document {
    /// How the editor opens: writing needs a draft, the right to write, and a class that is not archived.
    /// PDFs are read only: the document server reports no changes of them when the last reader leaves.
    pub fn mode(&self, may_write: bool, class_status: ClassStatus) -> Mode {
        let is_writable = self.status == Status::Draft
            && may_write
            && class_status != ClassStatus::Archived
            && self.document_type != DocumentType::Pdf;
        if is_writable { Mode::Edit } else { Mode::View }
    }

    /// Renames the document or links it to another topic. Students leave what is handed in alone; the link of a hand-in
    /// belongs to its submission, so nobody moves it.
    pub fn edit(
        &mut self,
        title: Edit<DocumentTitle>,
        assignment: Edit<AssignmentId>,
        viewer: &Viewer,
        now: Timestamp,
    ) -> Result<Changed, Refusal> {
        let open = self.status.writable()?;
        let mut edited = self.clone();
        let mut changed = Changed::new();
        changed.edit("title", &mut edited.title, title)?;
        changed.edit_nullable("assignmentId", &mut edited.assignment_id, assignment);
        if !viewer.is_staff() || changed.has("assignmentId") {
            open.rewritable()?;
        }
        if !changed.is_empty() {
            edited.updated_at = now;
            edited.last_activity = now;
        }
        *self = edited;
        Ok(changed)
    }

    /// Whether other content may come in (upload, restore).
    pub fn rewritable(&self) -> Result<(), Refusal> {
        self.status.writable()?.rewritable()
    }

    /// Whether the viewer may delete it: its creator or staff, and only a draft that was never handed in.
    pub fn removable_by(&self, viewer: &Viewer, was_submitted: bool) -> Result<(), Refusal> {
        let is_his = viewer.is_staff() || viewer.user_text() == self.created_by_id.as_str();
        if !policy::holds(Clause::DocumentAuthor, is_his) {
            return Err(Refusal::NotAuthor);
        }
        self.rewritable()?;
        if was_submitted {
            Err(Refusal::AlreadySubmitted)
        } else {
            Ok(())
        }
    }

    /// Takes over a new status and makes the key of the document server new, so that no old session is joined.
    pub(crate) fn become_status(&mut self, status: Status, now: Timestamp) {
        self.status = status;
        self.generation += 1;
        self.last_activity = now;
        self.updated_at = now;
        if status == Status::Draft {
            self.cut_at = None;
            self.freezing_until = None;
        }
    }

    /// Marks the document as handed in for a topic; [`crate::submission::submit`] asks all the rules first.
    pub(crate) fn hand_in(&mut self, assignment: &AssignmentId, by: &UserId, now: Timestamp) -> Result<(), Refusal> {
        let status = self.status.submit()?;
        self.become_status(status, now);
        self.assignment_id = Some(assignment.clone());
        self.submitted_at = Some(now);
        self.submitted_by_id = Some(by.clone());
        Ok(())
    }

    /// Makes the document a draft again, after it was taken back or returned.
    pub(crate) fn take_back(&mut self, now: Timestamp) -> Result<(), Refusal> {
        let status = self.status.unsubmit()?;
        self.become_status(status, now);
        self.submitted_at = None;
        self.submitted_by_id = None;
        Ok(())
    }

    /// The topic that holds the lock of this document once `topic` is finished; none if the document stays open. A document
    /// without a topic is locked with any of them, a linked one with its own: it stays open while its own topic is active.
    pub fn locker<'a>(&'a self, topic: &'a AssignmentId, others: &OtherTopics) -> Option<&'a AssignmentId> {
        match &self.assignment_id {
            None => Some(topic),
            Some(own) => (own == topic || others.finished.contains(own)).then_some(own),
        }
    }

    /// Whether finishing a topic locks the document.
    pub fn locks_with(&self, topic: &AssignmentId, others: &OtherTopics) -> bool {
        !self.status.is_locked() && self.locker(topic, others).is_some()
    }

    /// The topic that holds the lock. For locks from before it was stored, this is the topic of the document, if any.
    fn lock_holder(&self) -> Option<&AssignmentId> {
        self.locked_by_assignment_id.as_ref().or(self.assignment_id.as_ref())
    }

    /// What reopening a topic does to the document. Without a topic of its own it stays locked while another topic of its
    /// group is finished.
    pub fn reopening<'a>(&self, topic: &AssignmentId, others: &'a OtherTopics) -> Reopening<'a> {
        let is_held = self.lock_holder().is_none_or(|holder| holder == topic);
        if !self.status.is_locked() || !is_held {
            return Reopening::Untouched;
        }
        match others.finished.first() {
            Some(next) if self.assignment_id.is_none() => Reopening::PassesOn(next),
            _ => Reopening::Unlocks,
        }
    }

    /// Locks the document with a finished topic; returns whether it did. A lock is never replaced by another.
    pub fn lock(&mut self, topic: &AssignmentId, others: &OtherTopics, now: Timestamp) -> bool {
        let locker = self.locker(topic, others).cloned();
        let locks = !self.status.is_locked() && locker.is_some();
        if locks {
            self.become_status(self.status.lock(), now);
            self.locked_at = Some(now);
            self.locked_by_assignment_id = locker;
        }
        locks
    }

    /// Carries out [`Document::reopening`]; returns whether anything changed. A lock that passes on stays the same lock:
    /// since when it holds and what was before it do not change.
    pub fn reopen(&mut self, topic: &AssignmentId, others: &OtherTopics, now: Timestamp) -> bool {
        match self.reopening(topic, others) {
            Reopening::Untouched => return false,
            Reopening::Unlocks => self.open_again(now),
            Reopening::PassesOn(next) => {
                self.locked_by_assignment_id = Some(next.clone());
                self.updated_at = now;
            }
        }
        true
    }

    /// Lets go of a topic that is deleted or detached, with its submissions: the lock it holds is lifted, for nobody could
    /// lift it afterwards, and a hand-in without submission is a draft. Answers whether anything changed.
    pub fn release(&mut self, topic: &AssignmentId, now: Timestamp) -> bool {
        let was_locked = self.status.is_locked() && self.lock_holder() == Some(topic);
        if was_locked {
            self.open_again(now);
        }
        let was_linked = self.assignment_id.as_ref() == Some(topic);
        if was_linked {
            self.assignment_id = None;
            self.submitted_at = None;
            self.submitted_by_id = None;
            match self.status {
                Status::Submitted => self.become_status(Status::Draft, now),
                Status::Locked {
                    before: Open::Submitted,
                } => self.status = Status::Locked { before: Open::Draft },
                Status::Draft | Status::Locked { before: Open::Draft } => {}
            }
            self.updated_at = now;
        }
        was_locked || was_linked
    }

    fn open_again(&mut self, now: Timestamp) {
        self.become_status(self.status.unlock(), now);
        self.locked_at = None;
        self.locked_by_assignment_id = None;
    }
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
