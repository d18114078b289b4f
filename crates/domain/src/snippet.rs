//! Text snippets: texts that a teacher inserts into feedback. They are private to their user.

use crate::id::{OrganizationId, SnippetId, UserId};
use crate::text::SnippetText;
use crate::time::Timestamp;

/// Maximum number of snippets of a user in an organization.
pub const SNIPPETS_MAX: usize = 200;

/// A text snippet of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextSnippet {
    pub id: SnippetId,
    pub organization_id: OrganizationId,
    pub user_id: UserId,
    pub text: SnippetText,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}
