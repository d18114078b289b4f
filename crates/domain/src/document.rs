//! Documents of a work room and their status: `DRAFT` ⇄ `SUBMITTED`, and `LOCKED` on top of either. A lock is released
//! only when the topic that holds it is reopened, deleted or detached; every mutator calls [`DocumentState::writable`] first.
//! The kinds of documents are in [`crate::document_kind`], the saves of the document server in [`crate::save`].

use crate::access::Viewer;
use crate::class::ClassStatus;
use crate::document_kind::{DocumentType, FileExtension};
use crate::domain_error::DomainError;
use crate::id::{AssignmentId, DocumentId, GroupId, OrganizationId, RevisionId, UserId, WorkRoomId};
use crate::patch::{FieldDiff, FieldPatch};
use crate::string_enum::string_enum;
use crate::text::DocumentTitle;
use crate::time::Timestamp;

/// Maximum number of documents in one work room.
pub const DOCUMENTS_MAX: usize = 100;

string_enum! {
    /// Status of a document without its lock.
    #[schema(as = Open)]
    UnlockedStatus {
        /// The group works on it.
        Draft = "DRAFT",
        Submitted = "SUBMITTED",
    }
}

string_enum! {
    /// Status of a document.
    DocumentStatus {
        /// The group works on it.
        Draft = "DRAFT",
        Submitted = "SUBMITTED",
        /// The topic is finished; the document cannot be changed.
        Locked = "LOCKED",
    }
}

string_enum! {
    /// Mode in which the editor opens.
    #[schema(as = Mode)]
    EditorMode {
        Edit = "edit",
        /// Read-only.
        View = "view",
    }
}

/// Status of a document. A lock keeps the previous status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DocumentState {
    /// The group works on it.
    Draft,
    Submitted,
    /// The topic is finished.
    Locked {
        /// The status before the lock.
        before: UnlockedStatus,
    },
}

impl From<UnlockedStatus> for DocumentState {
    fn from(open: UnlockedStatus) -> Self {
        match open {
            UnlockedStatus::Draft => Self::Draft,
            UnlockedStatus::Submitted => Self::Submitted,
        }
    }
}

impl UnlockedStatus {
    pub const fn submit(self) -> Result<Self, DomainError> {
        match self {
            Self::Draft => Ok(Self::Submitted),
            Self::Submitted => Err(DomainError::AlreadySubmitted),
        }
    }

    pub const fn unsubmit(self) -> Result<Self, DomainError> {
        match self {
            Self::Submitted => Ok(Self::Draft),
            Self::Draft => Err(DomainError::NotSubmitted),
        }
    }

    /// Rejects new content unless the document is a draft.
    pub fn rewritable(self) -> Result<(), DomainError> {
        if self == Self::Draft {
            Ok(())
        } else {
            Err(DomainError::AlreadySubmitted)
        }
    }
}

impl DocumentState {
    /// Returns the status without its lock, or rejects the change if the document is locked, for every role. Every
    /// mutator starts here.
    pub fn writable(self) -> Result<UnlockedStatus, DomainError> {
        if self.is_locked() {
            Err(DomainError::DocumentLocked)
        } else {
            Ok(self.open())
        }
    }

    pub fn submit(self) -> Result<Self, DomainError> {
        self.writable()?.submit().map(Self::from)
    }

    pub fn unsubmit(self) -> Result<Self, DomainError> {
        self.writable()?.unsubmit().map(Self::from)
    }

    /// Locks the document. A document that is locked already keeps its previous status.
    #[must_use]
    pub const fn lock(self) -> Self {
        match self {
            Self::Draft => Self::Locked {
                before: UnlockedStatus::Draft,
            },
            Self::Submitted => Self::Locked {
                before: UnlockedStatus::Submitted,
            },
            Self::Locked { before } => Self::Locked { before },
        }
    }

    /// Restores the status before the lock; a document that is not locked is unchanged.
    #[must_use]
    pub fn unlock(self) -> Self {
        match self {
            Self::Locked { before } => before.into(),
            open => open,
        }
    }

    pub const fn is_locked(self) -> bool {
        matches!(self, Self::Locked { .. })
    }

    /// Returns the status without its lock.
    pub const fn open(self) -> UnlockedStatus {
        match self {
            Self::Draft
            | Self::Locked {
                before: UnlockedStatus::Draft,
            } => UnlockedStatus::Draft,
            Self::Submitted
            | Self::Locked {
                before: UnlockedStatus::Submitted,
            } => UnlockedStatus::Submitted,
        }
    }

    /// Returns the status as serialized in JSON and stored in the database.
    pub const fn document_status(self) -> DocumentStatus {
        match self {
            Self::Draft => DocumentStatus::Draft,
            Self::Submitted => DocumentStatus::Submitted,
            Self::Locked { .. } => DocumentStatus::Locked,
        }
    }

    /// Returns the value of `statusBeforeLock`.
    pub const fn before_lock(self) -> Option<UnlockedStatus> {
        match self {
            Self::Locked { before } => Some(before),
            Self::Draft | Self::Submitted => None,
        }
    }

    /// Builds the status from its two database columns. A lock without a previous status counts as a locked draft.
    pub fn stored(document_status: DocumentStatus, before: Option<UnlockedStatus>) -> Self {
        match document_status {
            DocumentStatus::Draft => Self::Draft,
            DocumentStatus::Submitted => Self::Submitted,
            DocumentStatus::Locked => Self::Locked {
                before: before.unwrap_or(UnlockedStatus::Draft),
            },
        }
    }
}

/// The other topics of a group, as needed to finish or reopen one of its topics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtherTopics {
    /// The active topics of the group.
    pub active: Vec<AssignmentId>,
    /// The finished topics, in the order in which they were finished.
    pub finished: Vec<AssignmentId>,
}

/// Effect of reopening a topic on a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reopening<'a> {
    /// None: another topic holds the lock, or the document is not locked.
    Untouched,
    /// The document returns to its status before the lock.
    Unlocks,
    /// The document stays locked, and this finished topic takes over the lock.
    TransfersTo(&'a AssignmentId),
}

/// A file that a group edits in its work room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    pub id: DocumentId,
    pub organization_id: OrganizationId,
    pub work_room_id: WorkRoomId,
    /// The group that owns the work room.
    pub group_id: GroupId,
    pub title: DocumentTitle,
    pub document_type: DocumentType,
    pub file_extension: FileExtension,
    pub status: DocumentState,
    pub locked_at: Option<Timestamp>,
    /// The topic that holds the lock; `None` for locks older than this field.
    pub locked_by_assignment_id: Option<AssignmentId>,
    /// The topic the document is linked to; usually `None` until it is submitted.
    pub assignment_id: Option<AssignmentId>,
    /// Part of the document key at the document server. Incremented to prevent clients from joining an earlier editing
    /// session.
    pub generation: i64,
    /// The revision with the present content; `None` before the first save.
    pub current_revision_id: Option<RevisionId>,
    /// Number of the current revision.
    pub version: i64,
    /// Size of the current revision in bytes.
    pub size: i64,
    pub created_by_id: UserId,
    /// The user who edited the document last.
    pub last_edited_by: Option<UserId>,
    pub last_activity: Timestamp,
    /// Set while the document server cannot save the document.
    pub save_failed_at: Option<Timestamp>,
    /// Edits up to this time belong to the frozen content: the end of the flush or, until that is known, the latest
    /// time at which the flush may end.
    pub cut_at: Option<Timestamp>,
    /// Set during a freeze: the latest time at which it ends.
    pub freezing_until: Option<Timestamp>,
    /// The generation whose edits the document server may still hold, because they were never saved.
    pub unsaved_generation: Option<i64>,
    pub submitted_at: Option<Timestamp>,
    pub submitted_by_id: Option<UserId>,
    pub created_at: Timestamp,
    /// When the row last changed.
    pub updated_at: Timestamp,
}

impl Document {
    /// Returns a new Word document without a revision.
    pub fn new(
        id: DocumentId,
        organization_id: OrganizationId,
        work_room_id: WorkRoomId,
        group_id: GroupId,
        title: DocumentTitle,
        created_by_id: UserId,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            organization_id,
            work_room_id,
            group_id,
            title,
            document_type: DocumentType::Word,
            file_extension: FileExtension::Docx,
            status: DocumentState::Draft,
            locked_at: None,
            locked_by_assignment_id: None,
            assignment_id: None,
            generation: 1,
            current_revision_id: None,
            version: 0,
            size: 0,
            created_by_id,
            last_edited_by: None,
            last_activity: now,
            save_failed_at: None,
            cut_at: None,
            freezing_until: None,
            unsaved_generation: None,
            submitted_at: None,
            submitted_by_id: None,
            created_at: now,
            updated_at: now,
        }
    }

    /// Returns the mode in which the editor opens. Editing requires a draft, write permission, and a class that is not
    /// archived. PDFs are read-only: the document server does not report changes to them when the last user leaves.
    pub fn mode(&self, may_write: bool, class_status: ClassStatus) -> EditorMode {
        let is_writable = self.status == DocumentState::Draft
            && may_write
            && class_status != ClassStatus::Archived
            && self.document_type != DocumentType::Pdf;
        if is_writable {
            EditorMode::Edit
        } else {
            EditorMode::View
        }
    }

    /// Renames the document or links it to another topic. Students cannot change a submitted document. The topic of a
    /// submitted document cannot be changed by any user, because the link belongs to its submission.
    pub fn edit(
        &mut self,
        title: FieldPatch<DocumentTitle>,
        assignment: FieldPatch<AssignmentId>,
        viewer: &Viewer,
        now: Timestamp,
    ) -> Result<FieldDiff, DomainError> {
        let open = self.status.writable()?;
        let mut edited = self.clone();
        let mut changed = FieldDiff::new();
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

    /// Rejects new content (upload or restored revision) unless the document is an unlocked draft.
    pub fn rewritable(&self) -> Result<(), DomainError> {
        self.status.writable()?.rewritable()
    }

    /// Rejects the deletion of the document unless the viewer is its creator or staff and it is a draft that was never
    /// submitted.
    pub fn removable_by(&self, viewer: &Viewer, was_submitted: bool) -> Result<(), DomainError> {
        let is_allowed = viewer.is_staff() || viewer.user_text() == self.created_by_id.as_str();
        if !is_allowed {
            return Err(DomainError::NotAuthor);
        }
        self.rewritable()?;
        if was_submitted {
            Err(DomainError::AlreadySubmitted)
        } else {
            Ok(())
        }
    }

    /// Sets a new status and increments the generation, so that earlier editing sessions cannot be joined.
    pub(crate) fn become_status(&mut self, status: DocumentState, now: Timestamp) {
        self.status = status;
        self.generation += 1;
        self.last_activity = now;
        self.updated_at = now;
        if status == DocumentState::Draft {
            self.cut_at = None;
            self.freezing_until = None;
        }
    }

    /// Marks the document as submitted for a topic. [`crate::submission::submit`] checks all rules first.
    pub(crate) fn mark_submitted(
        &mut self,
        assignment: &AssignmentId,
        by: &UserId,
        now: Timestamp,
    ) -> Result<(), DomainError> {
        let status = self.status.submit()?;
        self.become_status(status, now);
        self.assignment_id = Some(assignment.clone());
        self.submitted_at = Some(now);
        self.submitted_by_id = Some(by.clone());
        Ok(())
    }

    /// Turns the document into a draft again after it was withdrawn or returned.
    pub(crate) fn mark_withdrawn(&mut self, now: Timestamp) -> Result<(), DomainError> {
        let status = self.status.unsubmit()?;
        self.become_status(status, now);
        self.submitted_at = None;
        self.submitted_by_id = None;
        Ok(())
    }

    /// Returns the topic that holds the lock of this document after `topic` is finished; `None` if the document stays
    /// open. A document without a topic is locked by any topic of the group; a linked document stays open while its own
    /// topic is active.
    pub fn lock_owner<'a>(&'a self, topic: &'a AssignmentId, others: &OtherTopics) -> Option<&'a AssignmentId> {
        match &self.assignment_id {
            None => Some(topic),
            Some(own) => (own == topic || others.finished.contains(own)).then_some(own),
        }
    }

    /// Returns whether finishing a topic locks the document.
    pub fn locks_with(&self, topic: &AssignmentId, others: &OtherTopics) -> bool {
        !self.status.is_locked() && self.lock_owner(topic, others).is_some()
    }

    /// Returns the topic that holds the lock. For locks older than that field, this is the topic of the document, if
    /// any.
    fn lock_holder(&self) -> Option<&AssignmentId> {
        self.locked_by_assignment_id.as_ref().or(self.assignment_id.as_ref())
    }

    /// Returns the effect of reopening a topic. A document without a topic of its own stays locked while another topic
    /// of its group is finished.
    pub fn reopening<'a>(&self, topic: &AssignmentId, others: &'a OtherTopics) -> Reopening<'a> {
        let is_held = self.lock_holder().is_none_or(|holder| holder == topic);
        if !self.status.is_locked() || !is_held {
            return Reopening::Untouched;
        }
        match others.finished.first() {
            Some(next) if self.assignment_id.is_none() => Reopening::TransfersTo(next),
            _ => Reopening::Unlocks,
        }
    }

    /// Locks the document for a finished topic and returns whether it did. An existing lock is never replaced.
    pub fn lock(&mut self, topic: &AssignmentId, others: &OtherTopics, now: Timestamp) -> bool {
        let lock_owner = self.lock_owner(topic, others).cloned();
        let locks = !self.status.is_locked() && lock_owner.is_some();
        if locks {
            self.become_status(self.status.lock(), now);
            self.locked_at = Some(now);
            self.locked_by_assignment_id = lock_owner;
        }
        locks
    }

    /// Applies [`Document::reopening`] and returns whether anything changed. A lock that passes to another topic
    /// remains the same lock: its start and the status before it do not change.
    pub fn reopen(&mut self, topic: &AssignmentId, others: &OtherTopics, now: Timestamp) -> bool {
        match self.reopening(topic, others) {
            Reopening::Untouched => return false,
            Reopening::Unlocks => self.open_again(now),
            Reopening::TransfersTo(next) => {
                self.locked_by_assignment_id = Some(next.clone());
                self.updated_at = now;
            }
        }
        true
    }

    /// Unlinks the document from a topic that is deleted or detached together with its submissions, and returns whether
    /// anything changed. A lock held by the topic is released, because it could not be released later, and a submitted
    /// document becomes a draft.
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
                DocumentState::Submitted => self.become_status(DocumentState::Draft, now),
                DocumentState::Locked {
                    before: UnlockedStatus::Submitted,
                } => {
                    self.status = DocumentState::Locked {
                        before: UnlockedStatus::Draft,
                    }
                }
                DocumentState::Draft
                | DocumentState::Locked {
                    before: UnlockedStatus::Draft,
                } => {}
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
