#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PdfError {
    #[error("the document is too large for a PDF")]
    TooLarge,
    #[error("the PDF has too many pages")]
    TooManyPages,
    #[error("the PDF cannot be written: {0}")]
    Write(String),
}
