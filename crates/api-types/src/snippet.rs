//! Text snippets of the caller in responses.

use domain::from_fields;
use domain::id::SnippetId;
use domain::snippet::TextSnippet;
use domain::text::SnippetText;
use domain::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// A text that the caller inserts into feedback.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TextSnippet)]
pub struct SnippetView {
    pub id: SnippetId,
    text: SnippetText,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl From<TextSnippet> for SnippetView {
    fn from(snippet: TextSnippet) -> Self {
        from_fields!(snippet => Self { id, text, created_at, updated_at })
    }
}
