//! A document of a work room as answers and events show it (contract 3.7). Grades that are not out never reach a student.

use model::document::{DocumentStatus, Mode, Open};
use model::document_kind::{DocumentType, FileExtension};
use model::grade::Grade;
use model::id::{AssignmentId, DocumentId, GroupId, RevisionId, UserId, WorkRoomId};
use model::number::Points;
use model::save::{History, Revision, RevisionOrigin};
use model::text::{DocumentTitle, FeedbackText, GradeValue};
use model::time::Timestamp;
use model::whole::WholeDocument;
use serde::Serialize;
use utoipa::ToSchema;

use super::audience::Audience;

/// A document of a work room.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WorkRoomDocument)]
pub struct DocumentView {
    #[serde(flatten)]
    fields: DocumentFieldsView,
    /// The text with the grade
    #[schema(required)]
    feedback: Option<FeedbackText>,
    /// Whether the caller may write in it
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = bool, required = false)]
    can_edit: Option<bool>,
    /// How the editor opens for the caller
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Mode, required = false)]
    mode: Option<Mode>,
}

/// The fields of a document, as events carry them.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WorkRoomDocumentFields)]
pub struct DocumentFieldsView {
    id: DocumentId,
    work_room_id: WorkRoomId,
    group_id: GroupId,
    title: DocumentTitle,
    document_type: DocumentType,
    file_extension: FileExtension,
    status: DocumentStatus,
    #[schema(required)]
    status_before_lock: Option<Open>,
    #[schema(required)]
    locked_at: Option<Timestamp>,
    #[schema(required)]
    locked_by_assignment_id: Option<AssignmentId>,
    /// The topic it is for
    #[schema(required)]
    assignment_id: Option<AssignmentId>,
    /// The number of its content; 0 before the first save
    version: i64,
    size: i64,
    created_by_id: UserId,
    #[schema(required)]
    last_edited_by: Option<UserId>,
    #[schema(required)]
    last_edited_by_user: Option<EditorView>,
    last_activity: Timestamp,
    #[schema(required)]
    submitted_at: Option<Timestamp>,
    #[schema(required)]
    submitted_by_id: Option<UserId>,
    /// Students see the grade once it is published
    #[schema(required)]
    grade: Option<GradeValue>,
    #[schema(required)]
    points: Option<Points>,
    #[schema(required)]
    graded_at: Option<Timestamp>,
    #[schema(required)]
    graded_by_id: Option<UserId>,
    /// The document server could not save what was written, and nothing was saved since
    #[schema(required)]
    save_failed_at: Option<Timestamp>,
    /// The document server may still hold changes that were made before the document was submitted or locked
    content_pending: bool,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// Who wrote last.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct EditorView {
    id: UserId,
    name: String,
}

impl DocumentView {
    /// The document as this audience sees it, without what differs from caller to caller.
    pub fn new(whole: &WholeDocument, audience: &Audience) -> Self {
        let grade = whole.grade.as_ref().and_then(|grade| shown(grade, audience));
        Self {
            fields: DocumentFieldsView::new(whole, audience),
            feedback: grade.and_then(|grade| grade.feedback),
            can_edit: None,
            mode: None,
        }
    }

    /// The same with how the editor opens for the caller.
    #[must_use]
    pub fn opening(self, mode: Mode) -> Self {
        Self {
            can_edit: Some(mode == Mode::Edit),
            mode: Some(mode),
            ..self
        }
    }

    /// Its id.
    pub fn id(&self) -> &DocumentId {
        &self.fields.id
    }
}

impl DocumentFieldsView {
    /// The document as this audience sees it.
    pub fn new(whole: &WholeDocument, audience: &Audience) -> Self {
        let document = &whole.document;
        let grade = whole.grade.as_ref().and_then(|grade| shown(grade, audience));
        Self {
            id: document.id.clone(),
            work_room_id: document.work_room_id.clone(),
            group_id: document.group_id.clone(),
            title: document.title.clone(),
            document_type: document.document_type,
            file_extension: document.file_extension,
            status: document.status.word(),
            status_before_lock: document.status.before_lock(),
            locked_at: document.locked_at,
            locked_by_assignment_id: document.locked_by_assignment_id.clone(),
            assignment_id: document.assignment_id.clone(),
            version: document.version,
            size: document.size,
            created_by_id: document.created_by_id.clone(),
            last_edited_by: document.last_edited_by.clone(),
            last_edited_by_user: whole.last_editor.as_ref().map(|editor| EditorView {
                id: editor.id.clone(),
                name: editor.name.clone(),
            }),
            last_activity: document.last_activity,
            submitted_at: document.submitted_at,
            submitted_by_id: document.submitted_by_id.clone(),
            graded_at: grade.as_ref().map(|grade| grade.graded_at),
            graded_by_id: grade.as_ref().map(|grade| grade.graded_by_id.clone()),
            points: grade.as_ref().and_then(|grade| grade.points),
            grade: grade.and_then(|grade| grade.value),
            save_failed_at: document.save_failed_at,
            content_pending: document.unsaved_generation.is_some(),
            created_at: document.created_at,
            updated_at: document.updated_at,
        }
    }
}

/// The grade of the group as far as this audience sees it.
fn shown(grade: &Grade, audience: &Audience) -> Option<Grade> {
    match audience {
        Audience::Staff => Some(grade.clone()),
        Audience::Student(_) | Audience::Group => grade.for_group(),
    }
}

/// A kept state of a document.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DocumentVersion)]
pub struct DocumentVersionView {
    id: RevisionId,
    document_id: DocumentId,
    version: i64,
    size: i64,
    sha256: String,
    #[schema(required)]
    saved_by_id: Option<UserId>,
    editors: Vec<UserId>,
    origin: RevisionOrigin,
    /// Who changed it when, as the document server tells: the last hundred changes, oldest first
    changes: Vec<VersionChangeView>,
    /// The release of the document server that told it
    #[schema(required)]
    server_version: Option<String>,
    created_at: Timestamp,
}

/// Somebody's changes up to a moment.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DocumentVersionChange)]
pub struct VersionChangeView {
    user_id: UserId,
    #[schema(required)]
    at: Option<Timestamp>,
}

impl DocumentVersionView {
    /// A kept state with what the document server told of its changes.
    pub fn new(revision: Revision, history: Option<History>) -> Self {
        let history = history.unwrap_or_default();
        let changes = history.changes.into_iter().map(|change| VersionChangeView {
            user_id: change.user_id,
            at: change.at,
        });
        Self {
            changes: changes.collect(),
            server_version: history.server_version,
            id: revision.id,
            document_id: revision.document_id,
            version: revision.version,
            size: revision.size,
            sha256: revision.sha256,
            saved_by_id: revision.saved_by_id,
            editors: revision.editors,
            origin: revision.origin,
            created_at: revision.created_at,
        }
    }
}
