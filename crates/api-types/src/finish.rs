//! What the response to finishing a topic names besides counts.

use model::change::removed::PlacedDocument;
use model::document_kind::DocumentType;
use model::group::GroupLabel;
use model::id::{AssignmentId, DocumentId};
use model::text::{DocumentTitle, Title};
use model::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// A draft without a topic whose group works on another active topic.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UnlinkedDraft)]
pub struct UnlinkedDraftView {
    document_id: DocumentId,
    title: DocumentTitle,
    document_type: DocumentType,
    group: GroupLabel,
    /// The other active topics of the group, by deadline
    topics: Vec<LinkableTopicView>,
}

/// A topic to which a draft can be linked.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LinkableTopic)]
pub struct LinkableTopicView {
    /// The topic
    pub assignment_id: AssignmentId,
    /// Its title
    pub title: Title,
    /// Its deadline
    pub deadline: Timestamp,
}

/// A document that finishing a topic leaves open.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OpenDocument)]
pub struct OpenDocumentView {
    document_id: DocumentId,
    title: DocumentTitle,
    document_type: DocumentType,
    group: GroupLabel,
    /// The active topic it is linked to
    assignment_id: AssignmentId,
    /// The title of that topic
    assignment_title: Title,
}

impl UnlinkedDraftView {
    /// A draft and the other active topics of its group.
    pub fn new(draft: PlacedDocument, topics: Vec<LinkableTopicView>) -> Self {
        let PlacedDocument { place, document } = draft;
        Self {
            document_id: document.id,
            title: document.title,
            document_type: document.document_type,
            group: place.group,
            topics,
        }
    }
}

impl OpenDocumentView {
    /// A document and the topic it is linked to.
    pub fn new(open: PlacedDocument, topic: LinkableTopicView) -> Self {
        let PlacedDocument { place, document } = open;
        Self {
            document_id: document.id,
            title: document.title,
            document_type: document.document_type,
            group: place.group,
            assignment_id: topic.assignment_id,
            assignment_title: topic.title,
        }
    }
}
