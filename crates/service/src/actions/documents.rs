//! What people do with the documents of a work room. Bytes are kept before a unit begins; here only rows change. What the
//! document server does with them is elsewhere.

use garde::Validate;
use model::change::document::DocumentChange;
use model::document::{DOCUMENTS_MAX, Document, Status};
use model::document_kind::{DocumentType, FileExtension};
use model::edit::{Edit, not_null};
use model::file::FileKey;
use model::group_assignment::Step;
use model::id::{AssignmentId, AttachmentId, DocumentId, GroupId, RevisionId, UserId, WorkRoomId};
use model::refusal::Refusal;
use model::save::{Revision, RevisionOrigin};
use model::text::DocumentTitle;
use model::time::Timestamp;
use serde::Deserialize;
use utoipa::ToSchema;

use common::error::{Error, Result};
use db::Work;
use db::documents::SeenDocument;

/// A document to be created without a file of one's own.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewDocument {
    /// Its title.
    #[garde(dive)]
    pub title: DocumentTitle,
    /// What sort of document: `word`, `cell` or `slide`; or say `fileExtension`.
    #[garde(skip)]
    pub document_type: Option<DocumentType>,
    /// `docx`, `xlsx` or `pptx`; or say `documentType`.
    #[garde(skip)]
    pub file_extension: Option<FileExtension>,
    /// The topic it is for; loose until it is handed in.
    #[garde(skip)]
    pub assignment_id: Option<AssignmentId>,
    /// A file of the topic or the group to begin with, instead of a blank page.
    #[garde(skip)]
    pub template_attachment_id: Option<AttachmentId>,
}

/// What may be said about an uploaded document besides its file.
#[derive(Debug, Clone, Deserialize, Validate)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UploadedDocument {
    /// Its title; else the name of the file.
    #[serde(default, deserialize_with = "model::text::optional")]
    #[garde(dive)]
    pub title: Option<DocumentTitle>,
    /// The topic it is for.
    #[garde(skip)]
    pub assignment_id: Option<AssignmentId>,
}

/// What a PATCH may change.
#[derive(Debug, Clone, Default, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentEdit {
    /// New title.
    #[serde(default)]
    #[garde(dive, custom(not_null))]
    pub title: Edit<DocumentTitle>,
    /// Another topic, or none.
    #[serde(default)]
    #[garde(skip)]
    pub assignment_id: Edit<AssignmentId>,
}

/// A document as it will begin.
#[derive(Debug, Clone)]
pub struct Beginning {
    /// The id it will have.
    pub id: DocumentId,
    /// Its title.
    pub title: DocumentTitle,
    /// The kind of its file.
    pub file_extension: FileExtension,
    /// The topic it is for.
    pub assignment_id: Option<AssignmentId>,
    /// Its first content; without it the blank template is served.
    pub content: Option<NewContent>,
}

/// Bytes that are kept already and wait for their row.
#[derive(Debug, Clone)]
pub struct NewContent {
    /// The id of the revision.
    pub id: RevisionId,
    /// Where the bytes are.
    pub file_key: FileKey,
    /// How many.
    pub size: i64,
    /// Hexadecimal SHA-256 of them.
    pub sha256: String,
}

/// Adds a document to a room.
pub fn create(work: &mut Work<'_>, room: &WorkRoomId, new: &Beginning) -> Result<SeenDocument> {
    let author = author(work)?;
    let (place, count) = work.room_to_fill(room)?;
    let is_stray = is_stray(work, &place.group.id, new.assignment_id.as_ref())?;
    place.class_status.writable()?;
    if is_stray {
        return Err(Refusal::GroupNotOnAssignment.into());
    }
    if usize::try_from(count).is_ok_and(|count| count >= DOCUMENTS_MAX) {
        return Err(Refusal::LimitReached {
            what: "documents",
            limit: DOCUMENTS_MAX,
        }
        .into());
    }
    let now = work.now();
    let mut document = Document {
        id: new.id.clone(),
        organization_id: work.organization().clone(),
        work_room_id: room.clone(),
        group_id: place.group.id.clone(),
        title: new.title.clone(),
        document_type: new.file_extension.document_type(),
        file_extension: new.file_extension,
        status: Status::Draft,
        locked_at: None,
        locked_by_assignment_id: None,
        assignment_id: new.assignment_id.clone(),
        generation: 1,
        current_revision_id: None,
        version: 0,
        size: 0,
        created_by_id: author.clone(),
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
    };
    let revision = new.content.as_ref().map(|content| {
        let revision = revision(&document, 1, content, RevisionOrigin::Create, &author, now);
        take_over(&mut document, &revision);
        revision
    });
    work.insert_document(&document)?;
    if let Some(revision) = &revision {
        work.insert_revision(revision)?;
    }
    worked(work, &place.group.id, document.assignment_id.as_ref())?;
    let seen = work.document(&document.id)?;
    work.record(DocumentChange::Created {
        place: seen.place.clone(),
        document: Box::new(seen.whole.clone()),
    });
    Ok(seen)
}

/// Changes what a PATCH names.
pub fn edit(work: &mut Work<'_>, id: &DocumentId, edit: &DocumentEdit) -> Result<SeenDocument> {
    let seen = work.document_to_write(id)?;
    let is_stray = is_stray(work, &seen.place.group.id, edit.assignment_id.value())?;
    seen.writable()?;
    if is_stray {
        return Err(Refusal::GroupNotOnAssignment.into());
    }
    let mut document = seen.whole.document;
    let (viewer, now) = (work.viewer().clone(), work.now());
    let changed = document.edit(edit.title.clone(), edit.assignment_id.clone(), &viewer, now)?;
    if changed.is_empty() {
        return work.document(id);
    }
    work.update_document(&document)?;
    if changed.has("assignmentId") {
        worked(work, &document.group_id, document.assignment_id.as_ref())?;
    }
    let seen = work.document(id)?;
    let document = Box::new(seen.whole.clone());
    work.record(DocumentChange::Updated {
        place: seen.place.clone(),
        document,
        changed,
    });
    Ok(seen)
}

/// Removes a draft that was never handed in; its files go after the commit.
pub fn remove(work: &mut Work<'_>, id: &DocumentId) -> Result<()> {
    let seen = work.document_to_write(id)?;
    let was_submitted = work.was_handed_in(id)?;
    seen.document().removable_by(work.viewer(), was_submitted)?;
    seen.writable()?;
    let files = work.delete_document(id)?;
    let document = Box::new(seen.whole.document);
    work.record(DocumentChange::Deleted {
        place: seen.place,
        document,
        files,
    });
    Ok(())
}

/// Puts other bytes in the place of a draft's content: an upload of the same kind, or an earlier revision. Whoever has
/// the document open writes in a session that is no longer current; what they save is kept as a late revision.
pub fn replace(
    work: &mut Work<'_>,
    id: &DocumentId,
    extension: FileExtension,
    content: &NewContent,
    origin: RevisionOrigin,
) -> Result<SeenDocument> {
    let author = author(work)?;
    let seen = work.document_to_write(id)?;
    takes_content(&seen)?;
    let mut document = seen.whole.document;
    if extension != document.file_extension {
        if origin != RevisionOrigin::Restore {
            let wanted = document.file_extension;
            return Err(Error::UnsupportedFileType(format!("this document is a {wanted} file")));
        }
        // The document server once gave it back as another kind; with the earlier state comes the earlier kind.
        document.file_extension = extension;
        work.correct_extension(id, extension)?;
    }
    document.renew_key();
    document.unsaved_generation = None;
    let version = work.next_version(id)?;
    let revision = revision(&document, version, content, origin, &author, work.now());
    take_over(&mut document, &revision);
    work.insert_revision(&revision)?;
    work.update_document(&document)?;
    worked(work, &document.group_id, document.assignment_id.as_ref())?;
    let files = work.prune_revisions(id)?;
    if !files.is_empty() {
        work.record(DocumentChange::RevisionsPruned { files });
    }
    let seen = work.document(id)?;
    let document = Box::new(seen.whole.clone());
    work.record(DocumentChange::Replaced {
        place: seen.place.clone(),
        document,
        revision: Box::new(revision),
    });
    Ok(seen)
}

/// Whether other content may come in by a person's hand.
pub fn takes_content(seen: &SeenDocument) -> Result<()> {
    Ok(seen.writable()?.rewritable()?)
}

/// The group has worked: topics on which nothing was done before are in progress now.
pub fn worked(work: &mut Work<'_>, group: &GroupId, topic: Option<&AssignmentId>) -> Result<()> {
    let now = work.now();
    for topic in work.untouched_topics(group, topic)? {
        let mut link = work.link_to_write(&topic, group)?;
        if link.step(Step::Worked, now)? {
            work.update_link(&link)?;
        }
    }
    Ok(())
}

/// Whether a topic named with a document is none of its group; 404 when the caller may not even know of it.
fn is_stray(work: &mut Work<'_>, group: &GroupId, topic: Option<&AssignmentId>) -> Result<bool> {
    let Some(topic) = topic else { return Ok(false) };
    if work.link(topic, group)?.is_some() {
        return Ok(false);
    }
    work.assignment(topic)?;
    Ok(true)
}

fn author(work: &Work<'_>) -> Result<UserId> {
    work.actor().user.clone().ok_or(Error::Unauthenticated)
}

/// A revision under the present key of the document.
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

/// Makes a revision the content of its document.
fn take_over(document: &mut Document, revision: &Revision) {
    document.current_revision_id = Some(revision.id.clone());
    document.version = revision.version;
    document.size = revision.size;
    document.last_edited_by.clone_from(&revision.saved_by_id);
    document.last_activity = revision.created_at;
    document.updated_at = revision.created_at;
    document.save_failed_at = None;
}
