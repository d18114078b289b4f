//! Commits and content of the built-in editor in responses and events. See docs/built-in-editor.md.

use api_macros::view;
use domain::document_image::DocumentImage;
use domain::document_log::{CommitResult, DocumentCommit};
use domain::id::{DocumentId, ImageId, UserId};
use domain::time::Timestamp;
use serde_json::Value;

/// A commit of a document in the built-in editor.
#[view]
#[schema(as = DocumentCommit)]
pub struct CommitView {
    /// The version of the document after the commit.
    version: i64,
    /// The id that the client chose for the commit.
    #[serde(rename = "ref")]
    reference: String,
    /// The open page.
    client_id: String,
    user_id: UserId,
    at: Timestamp,
    /// ProseMirror steps.
    #[schema(value_type = Vec<Object>)]
    steps: Vec<Value>,
}

view_from!(commit: &DocumentCommit => CommitView {
    version, reference, client_id, steps,
    user_id: commit.author_id.clone(),
    at: commit.committed_at,
});

/// The response to a commit.
#[view]
pub struct CommitReply {
    pub outcome: CommitResult,
    /// The generation of the commit; for a late one the present generation.
    pub generation: i64,
    /// The version of the document after the commit; 0 for a late one.
    pub version: i64,
    /// All commits after the version of the request up to this one; null if they have to be fetched.
    pub commits: Option<Vec<CommitView>>,
}

/// A page of commits, oldest first.
#[view]
pub struct CommitPage {
    pub generation: i64,
    pub commits: Vec<CommitView>,
    /// The version of the document.
    pub version: i64,
    /// Whether there are later commits.
    pub has_more: bool,
}

/// The content of a document for the built-in editor.
#[view]
#[schema(as = EditorContentView)]
pub struct EditorContentView {
    pub document_id: DocumentId,
    /// The generation of the document key.
    pub generation: i64,
    /// The last commit that the content includes.
    pub version: i64,
    /// The document as ProseMirror JSON.
    #[schema(value_type = Object)]
    pub doc: Value,
    /// Whether the caller may send commits.
    pub can_edit: bool,
    /// Codes of what prevents editing the file without loss.
    pub read_only_reasons: Vec<String>,
    /// The paragraph styles of the file: `id` and `name`.
    #[schema(value_type = Vec<Object>)]
    pub styles: Value,
}

/// A picture that was added to a document.
#[view]
pub struct DocumentImageView {
    /// The attribute `src` of image nodes.
    id: ImageId,
    content_type: String,
    /// Size in bytes.
    size: i64,
    /// Width in pixels.
    width: i64,
    /// Height in pixels.
    height: i64,
}

impl DocumentImageView {
    /// Returns the URL of the picture.
    pub fn url(&self, document: &DocumentId) -> String {
        format!("/api/workrooms/documents/{document}/images/{}", self.id)
    }
}

view_from!(image: &DocumentImage => DocumentImageView {
    id, size, width, height,
    content_type: image.mime_type.clone(),
});
