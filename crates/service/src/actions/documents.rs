//! Creates, updates and deletes the documents of a work room. The bytes are stored before a transaction begins; only
//! rows change here. `editing/` holds the workflows that involve the document server.

use api_macros::{body, patch};
use domain::change::{DocumentChange, DocumentStep};
use domain::deleted_object::{DeletedNoun, DeletionRetention};
use domain::document::{DOCUMENTS_MAX, Document};
use domain::document_kind::{DocumentType, FileExtension};
use domain::domain_error::DomainError;
use domain::file::FileKey;
use domain::group_assignment::StatusTransition;
use domain::id::{AssignmentId, AttachmentId, DocumentId, GroupId, RevisionId, UserId, WorkRoomId};
use domain::patch::{FieldPatch, not_null};
use domain::save::{Revision, RevisionOrigin};
use domain::text::DocumentTitle;
use domain::time::Timestamp;
use garde::Validate;
use serde::Deserialize;

use super::acting_user::acting_user;
use super::deletions::{self, Deleting, KeptDeletion};
use common::error::{Error, Result};
use db::WriteTx;
use db::documents::VisibleDocument;

/// A document to create without an upload.
#[body]
pub struct NewDocument {
    /// The title of the document.
    pub title: DocumentTitle,
    /// The type of the document: `word`, `cell` or `slide`. Alternative to `fileExtension`.
    pub document_type: Option<DocumentType>,
    /// `docx`, `xlsx` or `pptx`. Alternative to `documentType`.
    pub file_extension: Option<FileExtension>,
    /// The topic that the document is for. It can also be chosen at submission.
    pub assignment_id: Option<AssignmentId>,
    /// A file of the topic or the group to use as the initial content, instead of a blank document.
    pub template_attachment_id: Option<AttachmentId>,
}

/// The fields of an upload form besides the file.
#[derive(Debug, Clone, Deserialize, Validate)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UploadedDocument {
    /// The title. Defaults to the file name.
    #[serde(default, deserialize_with = "domain::text::optional")]
    #[garde(dive)]
    pub title: Option<DocumentTitle>,
    /// The topic that the document is for.
    #[garde(skip)]
    pub assignment_id: Option<AssignmentId>,
}

/// The fields that a PATCH can change.
#[patch]
pub struct DocumentEdit {
    /// The new title.
    #[garde(dive, custom(not_null))]
    pub title: FieldPatch<DocumentTitle>,
    /// The new topic; null removes the link.
    pub assignment_id: FieldPatch<AssignmentId>,
}

/// The initial state of a document.
#[derive(Debug, Clone)]
pub struct DocumentCreation {
    pub id: DocumentId,
    pub title: DocumentTitle,
    pub file_extension: FileExtension,
    /// The topic that the document is for.
    pub assignment_id: Option<AssignmentId>,
    /// The initial content; without it the blank template is served.
    pub content: Option<NewContent>,
}

/// Stored bytes without a row.
#[derive(Debug, Clone)]
pub struct NewContent {
    /// The id of the revision.
    pub id: RevisionId,
    /// The key of the bytes.
    pub file_key: FileKey,
    /// The size in bytes.
    pub size: i64,
    /// The hexadecimal SHA-256 of the bytes.
    pub sha256: String,
}

/// Adds a document to a work room.
pub fn create(tx: &mut WriteTx<'_>, room: &WorkRoomId, new: &DocumentCreation) -> Result<VisibleDocument> {
    let author = acting_user(tx)?;
    let (group_context, count) = tx.lock_room_for_documents(room)?;
    let linkable = check_link(tx, &group_context.group.id, new.assignment_id.as_ref())?;
    group_context.class_status.writable()?;
    linkable?;
    DomainError::check_limit("documents", count + 1, DOCUMENTS_MAX)?;
    let now = tx.now();
    let (school, group, title) = (
        tx.organization().clone(),
        group_context.group.id.clone(),
        new.title.clone(),
    );
    let mut document = Document {
        document_type: new.file_extension.document_type(),
        file_extension: new.file_extension,
        assignment_id: new.assignment_id.clone(),
        ..Document::new(new.id.clone(), school, room.clone(), group, title, author.clone(), now)
    };
    let revision = new.content.as_ref().map(|content| {
        let revision = revision(&document, 1, content, RevisionOrigin::Create, &author, now);
        take_over(&mut document, &revision);
        revision
    });
    tx.insert_document(&document)?;
    if let Some(revision) = &revision {
        tx.insert_revision(revision)?;
    }
    record_activity(tx, &group_context.group.id, document.assignment_id.as_ref())?;
    let seen = tx.document(&document.id)?;
    tx.record(seen.change(DocumentStep::Created));
    Ok(seen)
}

/// Applies a PATCH.
pub fn edit(tx: &mut WriteTx<'_>, id: &DocumentId, edit: &DocumentEdit) -> Result<VisibleDocument> {
    let seen = tx.lock_writable_document(id)?;
    let linkable = check_link(tx, &seen.group_context.group.id, edit.assignment_id.value())?;
    seen.writable()?;
    linkable?;
    let mut document = seen.details.document;
    let (viewer, now) = (tx.viewer().clone(), tx.now());
    let changed = document.edit(edit.title.clone(), edit.assignment_id.clone(), &viewer, now)?;
    if changed.is_empty() {
        return tx.document(id);
    }
    tx.update_document(&document)?;
    if changed.has("assignmentId") {
        record_activity(tx, &document.group_id, document.assignment_id.as_ref())?;
    }
    let seen = tx.document(id)?;
    tx.record(seen.change(DocumentStep::Updated(changed)));
    Ok(seen)
}

/// Deletes a draft that was never submitted. Its files are deleted after the commit.
pub fn remove(tx: &mut WriteTx<'_>, id: &DocumentId, retention: DeletionRetention) -> Result<Option<KeptDeletion>> {
    let seen = tx.lock_writable_document(id)?;
    let was_submitted = tx.was_submitted(id)?;
    seen.document().removable_by(tx.viewer(), was_submitted)?;
    seen.writable()?;
    let group = &seen.group_context.group;
    let deleting = Deleting {
        noun: DeletedNoun::Document,
        id: id.as_str(),
        name: seen.document().title.as_str(),
        class: &seen.group_context.class,
        course: group.course_id.as_ref(),
        group: Some((&group.id, group.display_name.as_deref().unwrap_or(&group.name))),
    };
    let kept = deletions::keep(tx, retention, &deleting)?;
    let mut files = tx.delete_document(id)?;
    if kept.is_some() {
        files.clear();
    }
    let document = Box::new(seen.details.document);
    tx.record(DocumentChange::Deleted {
        group_context: seen.group_context,
        document,
        files,
    });
    Ok(kept)
}

/// Replaces the content of a draft with an upload of the same kind or an earlier revision. Open editors stay in a
/// session that is no longer current; what they save is kept as a late revision.
pub fn replace(
    tx: &mut WriteTx<'_>,
    id: &DocumentId,
    extension: FileExtension,
    content: &NewContent,
    origin: RevisionOrigin,
) -> Result<VisibleDocument> {
    let author = acting_user(tx)?;
    let seen = tx.lock_writable_document(id)?;
    check_replaceable(&seen)?;
    let mut document = seen.details.document;
    if extension != document.file_extension {
        if origin != RevisionOrigin::Restore {
            let wanted = document.file_extension;
            return Err(Error::UnsupportedFileType(format!("this document is a {wanted} file")));
        }
        // The document server may have saved the document as another kind; restoring an earlier revision restores its
        // kind.
        document.file_extension = extension;
        tx.correct_extension(id, extension)?;
    }
    document.renew_key();
    document.unsaved_generation = None;
    let version = tx.next_version(id)?;
    let revision = revision(&document, version, content, origin, &author, tx.now());
    take_over(&mut document, &revision);
    tx.insert_revision(&revision)?;
    tx.update_document(&document)?;
    record_activity(tx, &document.group_id, document.assignment_id.as_ref())?;
    let files = tx.prune_revisions(id)?;
    if !files.is_empty() {
        tx.record(DocumentChange::RevisionsPruned { files });
    }
    let seen = tx.document(id)?;
    tx.record(seen.change(DocumentStep::Replaced(Box::new(revision))));
    Ok(seen)
}

/// Checks whether a user may replace the content.
pub fn check_replaceable(seen: &VisibleDocument) -> Result<()> {
    Ok(seen.writable()?.rewritable()?)
}

/// Marks the untouched topics of the group as in progress.
pub fn record_activity(tx: &mut WriteTx<'_>, group: &GroupId, topic: Option<&AssignmentId>) -> Result<()> {
    let now = tx.now();
    for topic in tx.untouched_topics(group, topic)? {
        let mut link = tx.get_link(&topic, group)?;
        if link.apply_transition(StatusTransition::Worked, now)? {
            tx.update_link(&link)?;
        }
    }
    Ok(())
}

/// Returns whether a document of the group can be linked to the topic: the group works on it, and it is published for
/// the group. [`Error::NotFound`] if the caller cannot see the topic.
fn check_link(
    tx: &mut WriteTx<'_>,
    group: &GroupId,
    topic: Option<&AssignmentId>,
) -> Result<std::result::Result<(), DomainError>> {
    let Some(topic) = topic else { return Ok(Ok(())) };
    match tx.is_published(topic, group)? {
        Some(true) => Ok(Ok(())),
        Some(false) => Ok(Err(DomainError::AssignmentNotPublished)),
        None => {
            tx.assignment(topic)?;
            Ok(Err(DomainError::GroupNotOnAssignment))
        }
    }
}

/// Builds a revision under the present key of the document.
fn revision(
    document: &Document,
    version: i64,
    content: &NewContent,
    origin: RevisionOrigin,
    author: &UserId,
    now: Timestamp,
) -> Revision {
    Revision {
        id: content.id.clone(),
        organization_id: document.organization_id.clone(),
        document_id: document.id.clone(),
        version,
        file_key: content.file_key.clone(),
        size: content.size,
        sha256: content.sha256.clone(),
        saved_by_id: Some(author.clone()),
        editors: vec![author.clone()],
        origin,
        last_save: None,
        generation: document.generation,
        created_at: now,
    }
}

/// Makes a revision the current content of its document.
fn take_over(document: &mut Document, revision: &Revision) {
    document.current_revision_id = Some(revision.id.clone());
    document.version = revision.version;
    document.size = revision.size;
    document.last_edited_by.clone_from(&revision.saved_by_id);
    document.last_activity = revision.created_at;
    document.updated_at = revision.created_at;
    document.save_failed_at = None;
}
