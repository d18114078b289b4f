//! Streams the archive of a topic: documents in their stored format, and PDFs that are converted while the archive is
//! read. What cannot be included is listed at its end, so no file is missing silently. The work stops when the reader
//! disconnects.

use std::collections::VecDeque;
use std::vec::IntoIter;

use bytes::Bytes;
use domain::export::{ExportFormat, ExportedContent, ExportedDocument, ExportedFile, TopicExport};
use domain::file::FileKey;
use futures_util::stream;
use tokio_util::task::AbortOnDropHandle;

use super::DocumentWorkflows;
use super::conversion::{CONCURRENCY_MAX, ConversionInput, ConversionRequest, Pdf};
use crate::actions::topic_exports::{INDEX, blank_bytes};
use adapters::blob_store::zip_stream::{ByteStream, ZipStream, stream_zip};
use common::error::{Error, Result};
use db::RequestContext;
use db::converted_files::ConvertedFile;

/// Consecutive failed conversions after which the document server counts as unavailable and is not asked again.
const FAILURES_MAX: usize = 8;

type PendingPdf = AbortOnDropHandle<Result<Pdf>>;

/// An archive that is being written.
struct ExportState {
    workflows: DocumentWorkflows,
    context: RequestContext,
    format: ExportFormat,
    rest: IntoIter<ExportedDocument>,
    /// The next documents, with their running conversions.
    pending_documents: VecDeque<(ExportedDocument, Option<PendingPdf>)>,
    /// The number of consecutive failed conversions.
    failed: usize,
}

impl DocumentWorkflows {
    /// Returns the archive of a topic with its index as a stream.
    pub fn export(&self, context: RequestContext, export: TopicExport, index: String) -> ByteStream {
        let (mut documents, mut files) = (Vec::new(), Vec::new());
        for group in export.groups {
            documents.extend(group.documents);
            files.extend(group.files);
        }
        let mut state = ExportState {
            workflows: self.clone(),
            context,
            format: export.format,
            rest: documents.into_iter(),
            pending_documents: VecDeque::new(),
            failed: 0,
        };
        stream_zip("a topic", move |mut zip| async move {
            zip.add_text(INDEX, &index).await?;
            while let Some((document, pending)) = state.next() {
                state.write(&mut zip, document, pending).await?;
            }
            for ExportedFile { file, written_at, path } in files {
                zip.add_stored(&state.workflows.files, path, written_at, (&file.key, &file.sha256))
                    .await?;
            }
            Ok(zip)
        })
    }
}

impl ExportState {
    /// Returns the next document and starts conversions of the following ones, up to [`CONCURRENCY_MAX`].
    fn next(&mut self) -> Option<(ExportedDocument, Option<PendingPdf>)> {
        while self.pending_documents.len() < CONCURRENCY_MAX
            && let Some(document) = self.rest.next()
        {
            let pending = self.start_conversion(&document);
            self.pending_documents.push_back((document, pending));
        }
        self.pending_documents.pop_front()
    }

    fn start_conversion(&self, document: &ExportedDocument) -> Option<PendingPdf> {
        if !self.format.has_conversion(document.extension) || self.failed >= FAILURES_MAX {
            return None;
        }
        let (workflows, context, source) = (self.workflows.clone(), self.context.clone(), source(document));
        Some(AbortOnDropHandle::new(tokio::spawn(async move {
            // The document server downloads a submitted copy through its document.
            workflows.pdf(context, source.ok_or(Error::NotFound)?).await
        })))
    }

    async fn write(
        &mut self,
        zip: &mut ZipStream,
        document: ExportedDocument,
        pending: Option<PendingPdf>,
    ) -> Result<()> {
        if self.format.has_original(document.extension) {
            let path = format!("{}.{}", document.path, document.extension);
            match &document.content {
                ExportedContent::Revision(_, key) | ExportedContent::Copy(_, key) => {
                    zip.add_stored(
                        &self.workflows.files,
                        path,
                        document.written_at,
                        (key, &document.sha256),
                    )
                    .await?;
                }
                ExportedContent::Blank => {
                    let bytes = Bytes::from_static(blank_bytes(document.extension));
                    let chunk = stream::iter([Ok(bytes)]);
                    zip.add_file(path, document.written_at, chunk).await??;
                }
            }
        }
        if !self.format.has_conversion(document.extension) {
            return Ok(());
        }
        let path = format!("{}.pdf", document.path);
        let Some(pending) = pending else {
            zip.add_error(
                &path,
                "it was not converted, because the document server had failed again and again",
            );
            return Ok(());
        };
        match pending.await.unwrap_or_else(|error| Err(Error::Internal(error.into()))) {
            Ok(pdf) => {
                self.failed = 0;
                let file = &pdf.file;
                zip.add_stored(
                    &self.workflows.files,
                    path,
                    document.written_at,
                    (&file.key, &file.sha256),
                )
                .await?;
                self.workflows.release_pdf(&pdf).await;
            }
            Err(error) => {
                self.failed += 1;
                tracing::warn!(
                    error = format!("{error:?}"),
                    archive.path = path,
                    "document conversion failed: listed in the archive as an error"
                );
                let text = match error {
                    // Details of internal errors are only logged.
                    Error::Internal(_) => "it could not be converted".to_owned(),
                    Error::NotFound => "it could not be converted: the document is gone".to_owned(),
                    error => format!("it could not be converted. {error}"),
                };
                zip.add_error(&path, &text);
            }
        }
        Ok(())
    }
}

/// Returns the source for the conversion of a document.
fn source(document: &ExportedDocument) -> Option<ConversionRequest> {
    let file = |key: &FileKey| ConvertedFile {
        key: key.clone(),
        size: document.size,
        sha256: document.sha256.clone(),
    };
    Some(ConversionRequest {
        document: document.id.clone()?,
        title: document.title.clone(),
        extension: document.extension,
        content: match &document.content {
            ExportedContent::Revision(id, key) => ConversionInput::Revision(id.clone(), file(key)),
            ExportedContent::Copy(id, key) => ConversionInput::Copy(id.clone(), file(key)),
            ExportedContent::Blank => ConversionInput::Blank,
        },
    })
}
