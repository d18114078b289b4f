//! Changes of the text snippets of a user. They carry no text, because snippets are private.

use crate::id::UserId;

/// A change of the snippets of a user.
#[derive(Clone, Debug, PartialEq)]
pub enum SnippetChange {
    /// A snippet was created, changed or deleted.
    Updated { user: UserId },
}
