//! Renders text documents as PDF without a document server, if the built-in editor edits them.

use std::collections::HashMap;

use document_pdf::{PdfError, PictureRef, RenderOptions};
use docx::Limits;

use super::DocumentWorkflows;
use super::conversion::{ConversionInput, ConversionRequest};
use super::word_file::{blank, open, run, unreadable};
use adapters::blob_store::Staged;
use common::error::{Error, Result};
use db::RequestContext;

/// Used if neither the document nor the organization names a language.
const DEFAULT_LANGUAGE: &str = "en";

impl DocumentWorkflows {
    /// Renders the Word file of a document and stages the result. The caller holds a permit for a conversion.
    pub(super) async fn render_pdf(&self, context: &RequestContext, source: &ConversionRequest) -> Result<Staged> {
        let settings = self
            .transactor
            .read(context.clone(), |tx| tx.organization_settings())
            .await?;
        let language = settings.locale.map(|locale| locale.as_str().to_owned());
        let file = match &source.content {
            ConversionInput::Revision(_, file) | ConversionInput::Copy(_, file) => {
                self.read_stored(&file.key, &file.sha256).await?
            }
            ConversionInput::Blank => blank(source.extension)?,
        };
        let title = source.title.clone();
        let bytes = run(move || render(&file, &title, language.as_deref().unwrap_or(DEFAULT_LANGUAGE))).await?;
        self.stage_file(&bytes).await
    }
}

fn render(file: &[u8], title: &str, language: &str) -> Result<Vec<u8>> {
    let word = open(file)?;
    let parts: HashMap<&str, &str> = word
        .images
        .iter()
        .map(|image| (image.id.as_str(), image.part.as_str()))
        .collect();
    let picture = |picture: PictureRef<'_>| match picture {
        PictureRef::Image(id) => {
            let part = parts.get(id)?;
            // An unreadable picture is printed as a box with its description.
            docx::read_part(file, part, &Limits::default())
                .map_err(unreadable)
                .ok()
                .flatten()
        }
        PictureRef::Island(_) => None,
    };
    let options = RenderOptions {
        title,
        language,
        picture: &picture,
    };
    match document_pdf::render(&word.content, &options) {
        Ok(pdf) => Ok(pdf.bytes),
        Err(PdfError::TooLarge | PdfError::TooManyPages) => Err(Error::DocumentServerFault {
            code: "pdf_too_large",
            message: "the PDF is larger than allowed",
        }),
        Err(error @ PdfError::Write(_)) => Err(Error::Internal(anyhow::anyhow!(error))),
    }
}
