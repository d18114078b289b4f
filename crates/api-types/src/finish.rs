//! Documents listed in the response to finishing a topic.

use api_macros::view;
use domain::change::GroupDocument;
use domain::document_kind::DocumentType;
use domain::group::GroupLabel;
use domain::id::{AssignmentId, DocumentId};
use domain::text::{DocumentTitle, Title};
use domain::time::Timestamp;

/// A draft without a topic whose group works on another active topic.
#[view]
pub struct UnlinkedDraftView {
    document_id: DocumentId,
    title: DocumentTitle,
    document_type: DocumentType,
    group: GroupLabel,
    /// The other active topics of the group, by deadline.
    topics: Vec<LinkableTopicView>,
}

/// A topic to which a draft can be linked.
#[view]
pub struct LinkableTopicView {
    pub assignment_id: AssignmentId,
    pub title: Title,
    pub deadline: Timestamp,
}

/// A document that stays open when a topic is finished.
#[view]
pub struct OpenDocumentView {
    document_id: DocumentId,
    title: DocumentTitle,
    document_type: DocumentType,
    group: GroupLabel,
    /// The active topic the document is linked to.
    assignment_id: AssignmentId,
    /// Title of that topic.
    assignment_title: Title,
}

impl UnlinkedDraftView {
    pub fn new(draft: GroupDocument, topics: Vec<LinkableTopicView>) -> Self {
        let GroupDocument {
            group_context,
            document,
        } = draft;
        Self {
            document_id: document.id,
            title: document.title,
            document_type: document.document_type,
            group: group_context.group,
            topics,
        }
    }
}

impl OpenDocumentView {
    pub fn new(open: GroupDocument, topic: LinkableTopicView) -> Self {
        let GroupDocument {
            group_context,
            document,
        } = open;
        Self {
            document_id: document.id,
            title: document.title,
            document_type: document.document_type,
            group: group_context.group,
            assignment_id: topic.assignment_id,
            assignment_title: topic.title,
        }
    }
}
