//! Errors of reading and writing a document.

/// The reason why a file cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocxError {
    /// The file is not a word processing document, or it is damaged.
    #[error("the file cannot be read: {0}")]
    Damaged(String),
    /// The file exceeds a limit.
    #[error("the file is too large: {0}")]
    TooLarge(&'static str),
    /// The rich text is not a document of the schema.
    #[error("the rich text is invalid: {0}")]
    InvalidDocument(String),
    /// The original file can be read but not edited; the reason is [`crate::ReadOnlyReason`].
    #[error("the file cannot be edited: {0}")]
    ReadOnly(&'static str),
}

impl DocxError {
    pub(crate) fn damaged(reason: impl std::fmt::Display) -> Self {
        Self::Damaged(reason.to_string())
    }
}

pub type DocxResult<T, E = DocxError> = std::result::Result<T, E>;
