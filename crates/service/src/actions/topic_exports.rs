//! Plans the archive of a topic from one consistent read: later writes are not in it. The bytes are read later; they
//! are immutable.

use std::collections::HashMap;

use domain::assignment::Assignment;
use domain::change::AssignmentChange;
use domain::details::GroupAssignmentDetails;
use domain::document_kind::FileExtension;
use domain::domain_error::DomainError;
use domain::export::{
    ExportFormat, ExportSource, ExportedContent, ExportedDocument, ExportedFile, ExportedGroup, TopicExport,
};
use domain::group::GroupLabel;
use domain::id::{AssignmentId, DocumentId, GroupId, UserId};
use domain::save::Revision;
use domain::submission::SubmissionDocument;

use adapters::blob_store::name::EntryNames;
use adapters::blob_store::templates;
use adapters::blob_store::zip_stream::ERRORS;
use common::error::{Error, Result};
use db::documents::VisibleDocument;
use db::{ReadTx, WriteTx};

/// The first file of an archive: the list of all others.
pub const INDEX: &str = "index.csv";

/// The folder of a group that contains the files of its grade.
const FEEDBACK: &str = "feedback";

/// The options of an export.
#[derive(Debug, Clone)]
pub struct TopicExportOptions {
    /// The format of the documents.
    pub format: ExportFormat,
    /// Which state of the documents to export.
    pub source: ExportSource,
    /// Only these groups; `None` for all.
    pub groups: Option<Vec<GroupId>>,
}

/// Returns the contents of a topic's archive. It includes groups that are hidden from students, because only staff of
/// the class can export.
pub fn plan(tx: &mut ReadTx<'_>, id: &AssignmentId, wanted: &TopicExportOptions) -> Result<TopicExport> {
    let seen = tx.assignment(id)?;
    // Teachers of other classes see the outline of a topic, but not the groups' work.
    if !seen.is_managed {
        return Err(Error::NotFound);
    }
    let mut links = seen.details.links;
    if let Some(groups) = &wanted.groups {
        let is_known = |group: &GroupId| links.iter().any(|link| link.link.group_id == *group);
        if !groups.iter().all(is_known) {
            return Err(Error::NotFound);
        }
        links.retain(|link| groups.contains(&link.link.group_id));
    }
    let assignment = seen.details.assignment;
    let groups = match wanted.source {
        ExportSource::Current => {
            let mut members: HashMap<GroupId, Vec<String>> = HashMap::new();
            for known in tx.groups_on_topic(&assignment.class_id, id)? {
                let names = known.details.members.into_iter().map(|member| member.user.name);
                members.insert(known.details.group.id, names.collect());
            }
            let mut documents: HashMap<GroupId, Vec<VisibleDocument>> = HashMap::new();
            for seen in tx.documents_of_topic(id)? {
                if seen.document().counts_for(id) {
                    documents
                        .entry(seen.group_context.group.id.clone())
                        .or_default()
                        .push(seen);
                }
            }
            let revisions = tx.current_revisions_of_topic(id)?.into_iter();
            let mut revisions: HashMap<DocumentId, Revision> = revisions
                .map(|revision| (revision.document_id.clone(), revision))
                .collect();
            let group = |link: GroupAssignmentDetails| ExportedGroup {
                members: members.remove(&link.link.group_id).unwrap_or_default(),
                documents: documents
                    .remove(&link.link.group_id)
                    .unwrap_or_default()
                    .into_iter()
                    .map(|seen| {
                        let revision = revisions.remove(&seen.document().id);
                        current_groups(seen, revision, &link, id)
                    })
                    .collect(),
                files: grade_files(&link),
                link,
            };
            links.into_iter().map(group).collect()
        }
        ExportSource::Submission => {
            let names: HashMap<UserId, String> = tx.names_of_topic(id)?.into_iter().collect();
            links.into_iter().map(|link| submitted_group(link, &names)).collect()
        }
    };
    let mut export = TopicExport {
        assignment,
        format: wanted.format,
        groups,
    };
    if export.count() == 0 {
        return Err(DomainError::NothingToExport.into());
    }
    assign_paths(&mut export);
    Ok(export)
}

/// Records the export in the activity log.
pub fn record_export(tx: &mut WriteTx<'_>, topic: &Assignment) {
    tx.record(AssignmentChange::Exported {
        assignment: Box::new(topic.clone()),
        format: "zip",
    });
}

fn current_groups(
    seen: VisibleDocument,
    revision: Option<Revision>,
    link: &GroupAssignmentDetails,
    topic: &AssignmentId,
) -> ExportedDocument {
    let document = seen.details.document;
    let submitted = link.current_submission.iter().flat_map(|current| &current.documents);
    let is_submitted = submitted
        .into_iter()
        .any(|copy| copy.document_id.as_ref() == Some(&document.id));
    let (content, size, sha256, written_at) = if let Some(revision) = revision {
        let content = ExportedContent::Revision(revision.id, revision.file_key);
        (content, revision.size, revision.sha256, revision.created_at)
    } else {
        let bytes = blank_bytes(document.file_extension);
        let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        (
            ExportedContent::Blank,
            size,
            templates::sha256(bytes),
            document.created_at,
        )
    };
    ExportedDocument {
        title: document.title.as_str().to_owned(),
        extension: document.file_extension,
        content,
        size,
        sha256,
        written_at,
        path: String::new(),
        status: Some(document.status.document_status()),
        is_linked: document.assignment_id.as_ref() == Some(topic),
        is_submitted,
        id: Some(document.id),
    }
}

/// Returns the bytes of a document without a saved revision.
pub fn blank_bytes(extension: FileExtension) -> &'static [u8] {
    templates::blank_document(extension).unwrap_or_default()
}

fn submitted_group(link: GroupAssignmentDetails, names: &HashMap<UserId, String>) -> ExportedGroup {
    let Some(current) = &link.current_submission else {
        return ExportedGroup {
            link,
            members: Vec::new(),
            documents: Vec::new(),
            files: Vec::new(),
        };
    };
    let then = current.submission.submitted_at;
    let copy = |copy: &SubmissionDocument| ExportedDocument {
        id: copy.document_id.clone(),
        title: copy.title.clone(),
        extension: copy.file_extension,
        content: ExportedContent::Copy(copy.id.clone(), copy.file_key.clone()),
        size: copy.size,
        sha256: copy.sha256.clone(),
        written_at: then,
        path: String::new(),
        status: None,
        is_linked: true,
        is_submitted: true,
    };
    let members = current.submission.member_ids.iter();
    ExportedGroup {
        members: members.filter_map(|member| names.get(member).cloned()).collect(),
        documents: current.documents.iter().map(copy).collect(),
        files: grade_files(&link),
        link,
    }
}

/// Returns the files of the grade of the current submission.
fn grade_files(link: &GroupAssignmentDetails) -> Vec<ExportedFile> {
    let grade = link
        .current_submission
        .as_ref()
        .and_then(|current| current.grade.as_ref());
    let files = grade.into_iter().flat_map(|grade| &grade.files);
    let exported = files.map(|file| ExportedFile {
        file: file.file.clone(),
        written_at: file.created_at,
        path: String::new(),
    });
    exported.collect()
}

/// Assigns the paths in the archive: a folder for the topic, one for each group, and names that are unique on every
/// file system.
fn assign_paths(export: &mut TopicExport) {
    let topic = EntryNames::with_reserved(&[INDEX, ERRORS]).assign(export.assignment.title.as_str());
    let mut folders = EntryNames::default();
    for group in &mut export.groups {
        let folder = folders.assign(&folder_of(&group.link.group_context.group));
        let mut names = EntryNames::default();
        for document in &mut group.documents {
            document.path = format!("{topic}/{folder}/{}", names.assign(&document.title));
        }
        let mut names = EntryNames::default();
        for file in &mut group.files {
            let name = file.file.file_name.as_str();
            let (stem, extension) = name.rsplit_once('.').unwrap_or((name, "bin"));
            file.path = format!("{topic}/{folder}/{FEEDBACK}/{}.{extension}", names.assign(stem));
        }
    }
}

fn folder_of(group: &GroupLabel) -> String {
    let name = group.display_name.as_ref().unwrap_or(&group.name);
    format!("{}-{name}", group.group_number)
}
