//! Streams the archive of a topic: documents in their stored format, and PDFs that are converted while the archive is
//! read. What cannot be included is listed at its end, so no file is missing silently. The work stops when the reader
//! disconnects.

use std::collections::VecDeque;
use std::vec::IntoIter;

use bytes::Bytes;
use futures_util::stream;
use model::export::{ExportFormat, ExportedContent, ExportedDocument, TopicExport};
use model::file::FileKey;
use tokio_util::task::AbortOnDropHandle;

use super::Editing;
use super::conversion::{AT_ONCE, Content, Pdf, Source};
use crate::actions::topic_exports::{ERRORS, INDEX, blank_bytes};
use adapters::blob_store::zip_stream::{ByteStream, ZipStream, stream_zip};
use common::error::{Error, Result};
use db::Standpoint;
use db::converted_files::Converted;

/// Consecutive failed conversions after which the document server counts as unavailable and is not asked again.
const GIVE_UP: usize = 8;
/// The reason in the error list for bytes that cannot be opened.
const MISSING: &str = "it is not in the storage any more, or cannot be read there";
/// The reason in the error list for bytes with the wrong checksum.
const DAMAGED: &str = "it is damaged in the storage; what is here of it is not complete";

type Making = AbortOnDropHandle<Result<Pdf>>;

/// An archive that is being written.
struct Exporting {
    editing: Editing,
    standpoint: Standpoint,
    format: ExportFormat,
    rest: IntoIter<ExportedDocument>,
    /// The next documents, with their running conversions.
    ahead: VecDeque<(ExportedDocument, Option<Making>)>,
    /// The number of consecutive failed conversions.
    failed: usize,
    errors: String,
}

impl Editing {
    /// Returns the archive of a topic with its index as a stream.
    pub fn export(&self, standpoint: Standpoint, export: TopicExport, index: String) -> ByteStream {
        let documents: Vec<ExportedDocument> = export.groups.into_iter().flat_map(|group| group.documents).collect();
        let mut exporting = Exporting {
            editing: self.clone(),
            standpoint,
            format: export.format,
            rest: documents.into_iter(),
            ahead: VecDeque::new(),
            failed: 0,
            errors: String::new(),
        };
        stream_zip("a topic", move |mut zip| async move {
            zip.add_text(INDEX, &index).await?;
            while let Some((document, making)) = exporting.next() {
                exporting.write(&mut zip, document, making).await?;
            }
            if !exporting.errors.is_empty() {
                zip.add_text(ERRORS, &exporting.errors).await?;
            }
            Ok(zip)
        })
    }
}

impl Exporting {
    /// Returns the next document and starts conversions of the following ones, up to [`AT_ONCE`].
    fn next(&mut self) -> Option<(ExportedDocument, Option<Making>)> {
        while self.ahead.len() < AT_ONCE
            && let Some(document) = self.rest.next()
        {
            let making = self.begin(&document);
            self.ahead.push_back((document, making));
        }
        self.ahead.pop_front()
    }

    fn begin(&self, document: &ExportedDocument) -> Option<Making> {
        if !self.format.has_conversion(document.extension) || self.failed >= GIVE_UP {
            return None;
        }
        let (editing, standpoint, source) = (self.editing.clone(), self.standpoint.clone(), source(document));
        Some(AbortOnDropHandle::new(tokio::spawn(async move {
            // The document server downloads a submitted copy through its document.
            editing.pdf(standpoint, source.ok_or(Error::NotFound)?).await
        })))
    }

    async fn write(&mut self, zip: &mut ZipStream, document: ExportedDocument, making: Option<Making>) -> Result<()> {
        if self.format.has_original(document.extension) {
            let path = format!("{}.{}", document.path, document.extension);
            match &document.content {
                ExportedContent::Revision(_, key) | ExportedContent::Copy(_, key) => {
                    self.copy(zip, path, &document, (key, &document.sha256)).await?;
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
        let Some(making) = making else {
            self.note(
                &path,
                "it was not converted, because the document server had failed again and again",
            );
            return Ok(());
        };
        match making.await.unwrap_or_else(|error| Err(Error::Internal(error.into()))) {
            Ok(pdf) => {
                self.failed = 0;
                let file = &pdf.file;
                self.copy(zip, path, &document, (&file.key, &file.sha256)).await?;
                self.editing.forget_pdf(&pdf).await;
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
                    told => format!("it could not be converted. {told}"),
                };
                self.note(&path, &text);
            }
        }
        Ok(())
    }

    /// Copies stored bytes into the archive.
    async fn copy(
        &mut self,
        zip: &mut ZipStream,
        path: String,
        document: &ExportedDocument,
        (key, sha256): (&FileKey, &str),
    ) -> Result<()> {
        let opened = match self.editing.files.open(key).await {
            Ok(opened) => opened.read_verified(sha256).await,
            Err(error) => Err(error),
        };
        match opened {
            Ok(chunks) => {
                if let Err(error) = zip.add_file(path.clone(), document.written_at, chunks).await? {
                    tracing::error!(%error, file.key = %key, "exported file damaged: checksum mismatch");
                    self.note(&path, DAMAGED);
                }
            }
            Err(error) => {
                tracing::error!(error = format!("{error:?}"), file.key = %key, "exported file missing");
                self.note(&path, MISSING);
            }
        }
        Ok(())
    }

    fn note(&mut self, path: &str, what: &str) {
        self.errors.push_str(path);
        self.errors.push_str(": ");
        self.errors.push_str(what);
        self.errors.push_str("\r\n");
    }
}

/// Returns the source for the conversion of a document.
fn source(document: &ExportedDocument) -> Option<Source> {
    let file = |key: &FileKey| Converted {
        key: key.clone(),
        size: document.size,
        sha256: document.sha256.clone(),
    };
    Some(Source {
        document: document.id.clone()?,
        title: document.title.clone(),
        extension: document.extension,
        content: match &document.content {
            ExportedContent::Revision(id, key) => Content::Revision(id.clone(), file(key)),
            ExportedContent::Copy(id, key) => Content::Copy(id.clone(), file(key)),
            ExportedContent::Blank => Content::Blank,
        },
    })
}
