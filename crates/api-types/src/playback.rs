//! How a document was written, for its teachers. See docs/built-in-editor.md#playback.

use api_macros::view;
use domain::document_log::DocumentGeneration;
use domain::id::DocumentId;
use domain::time::Timestamp;
use domain::user::Person;
use serde_json::Value;

use crate::document_log::CommitView;

/// A page of the commits of a document.
#[view]
pub struct PlaybackView {
    pub document_id: DocumentId,
    /// All generations that were opened in the built-in editor, oldest first.
    pub generations: Vec<GenerationView>,
    /// The generation of the commits; null if the document has none.
    pub generation: Option<i64>,
    /// The content with which the generation began, as ProseMirror JSON; null on later pages.
    #[schema(value_type = Option<Object>)]
    pub doc: Option<Value>,
    pub commits: Vec<CommitView>,
    /// Whether the generation has later commits.
    pub has_more: bool,
    /// The authors that are still known.
    pub authors: Vec<Person>,
}

/// A generation of a document in the built-in editor.
#[view]
#[schema(as = DocumentGeneration)]
pub struct GenerationView {
    generation: i64,
    /// The number of its commits.
    version: i64,
    began_at: Timestamp,
    last_commit_at: Option<Timestamp>,
}

view_from!(one: DocumentGeneration => GenerationView { generation, version, began_at, last_commit_at });
