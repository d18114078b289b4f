//! Documents of a work room in responses and events. Unpublished grades are never sent to students.

use api_macros::view;
use domain::comment::UnreadComments;
use domain::details::DocumentDetails;
use domain::document::{DocumentStatus, EditorMode, UnlockedStatus};
use domain::document_kind::{DocumentType, FileExtension};
use domain::from_fields;
use domain::grade::Grade;
use domain::id::{AssignmentId, DocumentId, GroupId, RevisionId, UserId, WorkRoomId};
use domain::number::Points;
use domain::save::{History, Revision, RevisionOrigin};
use domain::text::{DocumentTitle, FeedbackText, GradeValue};
use domain::time::Timestamp;

use super::audience::Audience;

/// A document of a work room.
#[view]
#[schema(as = WorkRoomDocument)]
pub struct DocumentView {
    #[serde(flatten)]
    fields: DocumentFieldsView,
    /// Comment on the grade.
    feedback: Option<FeedbackText>,
    /// Whether the caller may edit the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = bool, required = false)]
    can_edit: Option<bool>,
    /// Mode in which the editor opens for the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = EditorMode, required = false)]
    mode: Option<EditorMode>,
    /// Number of comments by others that the caller has not read. Absent where comments are not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = i64, required = false)]
    unread_comments: Option<i64>,
    /// Those among the unread comments that mention the caller. Absent where comments are not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = i64, required = false)]
    unread_mentions: Option<i64>,
}

/// The fields of a document, as contained in events.
#[view]
#[schema(as = WorkRoomDocumentFields)]
pub struct DocumentFieldsView {
    id: DocumentId,
    work_room_id: WorkRoomId,
    group_id: GroupId,
    title: DocumentTitle,
    document_type: DocumentType,
    file_extension: FileExtension,
    status: DocumentStatus,
    status_before_lock: Option<UnlockedStatus>,
    locked_at: Option<Timestamp>,
    locked_by_assignment_id: Option<AssignmentId>,
    /// The topic the document is linked to.
    assignment_id: Option<AssignmentId>,
    /// Number of the current revision; 0 before the first save.
    version: i64,
    size: i64,
    created_by_id: UserId,
    last_edited_by: Option<UserId>,
    last_edited_by_user: Option<EditorView>,
    last_activity: Timestamp,
    submitted_at: Option<Timestamp>,
    submitted_by_id: Option<UserId>,
    /// The published grade. Staff also see an unpublished one.
    grade: Option<GradeValue>,
    points: Option<Points>,
    graded_at: Option<Timestamp>,
    graded_by_id: Option<UserId>,
    /// When the document server failed to save the document; null after a successful save.
    save_failed_at: Option<Timestamp>,
    /// True while the document server may still hold edits made before the document was submitted or locked.
    content_pending: bool,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// The user who edited the document last.
#[view]
#[schema(as = EditorView)]
pub struct EditorView {
    id: UserId,
    name: String,
}

impl DocumentView {
    /// Returns the document as visible to the audience, without the fields that depend on the caller.
    pub fn new(details: &DocumentDetails, audience: &Audience) -> Self {
        let grade = details.grade.as_ref().and_then(|grade| shown(grade, audience));
        Self {
            fields: DocumentFieldsView::new(details, audience),
            feedback: grade.and_then(|grade| grade.feedback),
            can_edit: None,
            mode: None,
            unread_comments: None,
            unread_mentions: None,
        }
    }

    /// Adds the mode in which the editor opens for the caller.
    #[must_use]
    pub fn opening(self, mode: EditorMode) -> Self {
        Self {
            can_edit: Some(mode == EditorMode::Edit),
            mode: Some(mode),
            ..self
        }
    }

    /// Adds what the caller has not read.
    #[must_use]
    pub fn with_unread(self, unread: UnreadComments) -> Self {
        Self {
            unread_comments: Some(unread.comments),
            unread_mentions: Some(unread.mentions),
            ..self
        }
    }

    pub fn id(&self) -> &DocumentId {
        &self.fields.id
    }
}

impl DocumentFieldsView {
    /// Returns the document as visible to the audience.
    pub fn new(details: &DocumentDetails, audience: &Audience) -> Self {
        let document = &details.document;
        let grade = details.grade.as_ref().and_then(|grade| shown(grade, audience));
        from_fields!(&document => Self {
            id, work_room_id, group_id, title, document_type, file_extension, locked_at, locked_by_assignment_id,
            assignment_id, version, size, created_by_id, last_edited_by, last_activity, submitted_at, submitted_by_id,
            save_failed_at, created_at, updated_at,
            status: document.status.document_status(),
            status_before_lock: document.status.before_lock(),
            last_edited_by_user: details.last_editor.as_ref().map(|editor| EditorView {
                id: editor.id.clone(),
                name: editor.name.clone(),
            }),
            graded_at: grade.as_ref().map(|grade| grade.graded_at),
            graded_by_id: grade.as_ref().map(|grade| grade.graded_by_id.clone()),
            points: grade.as_ref().and_then(|grade| grade.points),
            grade: grade.and_then(|grade| grade.value),
            content_pending: document.unsaved_generation.is_some(),
        })
    }
}

/// Returns the grade of the group as visible to the audience.
fn shown(grade: &Grade, audience: &Audience) -> Option<Grade> {
    match audience {
        Audience::Staff => Some(grade.clone()),
        Audience::Student(_) | Audience::Group => grade.for_group(),
    }
}

/// A stored revision of a document.
#[view]
pub struct DocumentVersionView {
    id: RevisionId,
    document_id: DocumentId,
    version: i64,
    size: i64,
    sha256: String,
    saved_by_id: Option<UserId>,
    editors: Vec<UserId>,
    origin: RevisionOrigin,
    /// Edit history reported by the document server: the last hundred changes, oldest first.
    changes: Vec<VersionChangeView>,
    /// Release of the document server that reported the history.
    server_version: Option<String>,
    created_at: Timestamp,
}

/// Edits of one user up to a point in time.
#[view]
#[schema(as = DocumentVersionChange)]
pub struct VersionChangeView {
    user_id: UserId,
    at: Option<Timestamp>,
}

impl DocumentVersionView {
    /// Returns a revision with the edit history reported by the document server.
    pub fn new(revision: Revision, history: Option<History>) -> Self {
        let history = history.unwrap_or_default();
        let changes = history.changes.into_iter().map(|change| VersionChangeView {
            user_id: change.user_id,
            at: change.at,
        });
        from_fields!(revision => Self {
            id, document_id, version, size, sha256, saved_by_id, editors, origin, created_at,
            changes: changes.collect(),
            server_version: history.server_version,
        })
    }
}
