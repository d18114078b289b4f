//! Hands out a file of a topic: every group of the topic gets one copy of it as a document.

use api_macros::body;
use domain::document::DOCUMENTS_MAX;
use domain::document_kind::FileExtension;
use domain::file::FileKey;
use domain::id::{AssignmentId, AttachmentId, DocumentId, GroupId, RevisionId, WorkRoomId};
use domain::save::Revision;
use domain::text::DocumentTitle;

use super::documents::{self, DocumentCreation, NewContent};
use adapters::blob_store::name::stem;
use common::clock;
use common::error::{Error, Result};
use db::documents::VisibleDocument;
use db::{ReadTx, WriteTx};

/// What to hand out.
#[body]
pub struct NewHandout {
    /// A file of the topic that is shared by all groups.
    pub template_attachment_id: AttachmentId,
    /// The title of the copies. Defaults to the file name.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub title: Option<DocumentTitle>,
}

/// A copy to create.
#[derive(Debug, Clone)]
pub struct HandoutCopy {
    pub group: GroupId,
    pub room: WorkRoomId,
    /// The new document. Its bytes are stored under their key before the transaction begins.
    pub creation: DocumentCreation,
}

/// The copies that do not exist yet.
#[derive(Debug, Clone)]
pub struct Handout {
    /// The key of the original's bytes.
    pub from: FileKey,
    pub copies: Vec<HandoutCopy>,
}

/// The result of a handout.
#[derive(Debug, Clone)]
pub struct HandoutResult {
    /// The new documents.
    pub documents: Vec<VisibleDocument>,
    /// Groups that already had a copy.
    pub had: Vec<GroupId>,
    /// Groups whose work rooms have the maximum number of documents.
    pub full: Vec<GroupId>,
}

/// Returns the copies for groups that have none yet. The transaction checks everything again.
pub fn prepare(tx: &mut ReadTx<'_>, id: &AssignmentId, new: &NewHandout) -> Result<Handout> {
    let seen = tx.assignment(id)?;
    tx.managed_class(&seen.details.assignment.class_id)?;
    seen.details.assignment.writable()?;
    seen.details.published(tx.now())?;
    let file = seen
        .details
        .attachments
        .iter()
        .find(|file| file.id == new.template_attachment_id);
    let file = file
        .filter(|file| file.group_assignment_id.is_none())
        .ok_or(Error::NotFound)?;
    let name = file.file.file_name.as_str();
    let extension = FileExtension::of_name(name)
        .ok_or_else(|| Error::invalid("templateAttachmentId", "format", "is no document that can be edited"))?;
    let shortened: String = stem(name).chars().take(DocumentTitle::MAX).collect();
    let title = new
        .title
        .clone()
        .unwrap_or_else(|| DocumentTitle::stored(shortened.trim()));
    let have = tx.groups_with_handout(id, &new.template_attachment_id)?;
    let copies = tx
        .rooms_of_topic(id)?
        .into_iter()
        .filter(|(group, _)| !have.contains(group));
    let copies = copies.map(|(group, room)| {
        let (document, revision) = (DocumentId::new(clock::new_id()), RevisionId::new(clock::new_id()));
        let content = NewContent {
            file_key: Revision::file_key(&document, &revision, extension),
            id: revision,
            size: file.file.size,
            sha256: file.file.sha256.clone(),
        };
        let creation = DocumentCreation {
            id: document,
            title: title.clone(),
            file_extension: extension,
            assignment_id: Some(id.clone()),
            content: Some(content),
        };
        HandoutCopy { group, room, creation }
    });
    Ok(Handout {
        from: file.file.key.clone(),
        copies: copies.collect(),
    })
}

/// Inserts the documents of the copies. Skips groups that got a copy in the meantime, left the topic, or have the
/// maximum number of documents.
pub fn hand_out(tx: &mut WriteTx<'_>, id: &AssignmentId, new: &NewHandout, handout: &Handout) -> Result<HandoutResult> {
    let topic = tx.lock_writable_assignment(id)?;
    topic.assignment.writable()?;
    topic.published(tx.now())?;
    let attachment = &new.template_attachment_id;
    let here = |group: &GroupId| topic.links.iter().any(|link| link.link.group_id == *group);
    let had = tx.groups_with_handout(id, attachment)?;
    let (mut documents, mut full) = (Vec::new(), Vec::new());
    for copy in handout
        .copies
        .iter()
        .filter(|copy| here(&copy.group) && !had.contains(&copy.group))
    {
        let (_, count) = tx.lock_room_for_documents(&copy.room)?;
        if usize::try_from(count).is_ok_and(|count| count >= DOCUMENTS_MAX) {
            full.push(copy.group.clone());
            continue;
        }
        documents.push(documents::create(tx, &copy.room, &copy.creation)?);
        tx.record_handout(&copy.creation.id, attachment)?;
    }
    Ok(HandoutResult { documents, had, full })
}
