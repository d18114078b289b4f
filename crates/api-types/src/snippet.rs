//! Text snippets of the caller in responses.

use api_macros::view;
use domain::id::SnippetId;
use domain::snippet::TextSnippet;
use domain::text::SnippetText;
use domain::time::Timestamp;

/// A text that the caller inserts into feedback.
#[view]
#[schema(as = TextSnippet)]
pub struct SnippetView {
    pub id: SnippetId,
    text: SnippetText,
    created_at: Timestamp,
    updated_at: Timestamp,
}

view_from!(snippet: TextSnippet => SnippetView { id, text, created_at, updated_at });
