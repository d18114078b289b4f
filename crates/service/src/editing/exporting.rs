//! The archive of a topic on its way out: documents as they are kept, and as PDFs that are made while it is read. What
//! cannot be brought is named at its end; an archive is never silently shorter. Nothing is begun for a reader who left.

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
use adapters::files::pack::{Pack, Pieces, packed};
use common::error::{Error, Result};
use db::Standpoint;
use db::converted_files::Converted;

/// So many conversions one after the other fail by chance of no document: then the document server is not asked again.
const GIVE_UP: usize = 8;
/// What is said of bytes that cannot be opened.
const MISSING: &str = "it is not in the storage any more, or cannot be read there";
/// What is said of bytes that are not those which were saved.
const DAMAGED: &str = "it is damaged in the storage; what is here of it is not complete";

type Making = AbortOnDropHandle<Result<Pdf>>;

/// An archive being written.
struct Exporting {
    editing: Editing,
    standpoint: Standpoint,
    format: ExportFormat,
    rest: IntoIter<ExportedDocument>,
    /// Documents that come next, with the conversions begun for them.
    ahead: VecDeque<(ExportedDocument, Option<Making>)>,
    /// Conversions that failed since the last one that did not.
    failed: usize,
    errors: String,
}

impl Editing {
    /// The archive of a topic with its list, piece by piece.
    pub fn export(&self, standpoint: Standpoint, export: TopicExport, index: String) -> Pieces {
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
        packed("a topic", move |mut pack| async move {
            pack.text(INDEX, &index).await?;
            while let Some((document, making)) = exporting.next() {
                exporting.write(&mut pack, document, making).await?;
            }
            if !exporting.errors.is_empty() {
                pack.text(ERRORS, &exporting.errors).await?;
            }
            Ok(pack)
        })
    }
}

impl Exporting {
    /// The next document; conversions of those that follow begin meanwhile, no more than the document server has hands for.
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
            // The document server fetches a copy through the document it was made of.
            editing.pdf(standpoint, source.ok_or(Error::NotFound)?).await
        })))
    }

    async fn write(&mut self, pack: &mut Pack, document: ExportedDocument, making: Option<Making>) -> Result<()> {
        if self.format.has_original(document.extension) {
            let path = format!("{}.{}", document.path, document.extension);
            match &document.content {
                ExportedContent::Revision(_, key) | ExportedContent::Copy(_, key) => {
                    self.copy(pack, path, &document, (key, &document.sha256)).await?;
                }
                ExportedContent::Blank => {
                    let bytes = Bytes::from_static(blank_bytes(document.extension));
                    let piece = stream::iter([Ok(bytes)]);
                    pack.file(path, document.written_at, piece).await??;
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
                self.copy(pack, path, &document, (&file.key, &file.sha256)).await?;
                self.editing.forget_pdf(&pdf).await;
            }
            Err(error) => {
                self.failed += 1;
                tracing::warn!(
                    error = format!("{error:?}"),
                    archive.path = path,
                    "a document was not converted"
                );
                let text = match error {
                    // What is wrong with us is for the log alone.
                    Error::Internal(_) => "it could not be converted".to_owned(),
                    Error::NotFound => "it could not be converted: the document is gone".to_owned(),
                    told => format!("it could not be converted. {told}"),
                };
                self.note(&path, &text);
            }
        }
        Ok(())
    }

    /// Copies kept bytes into the archive.
    async fn copy(
        &mut self,
        pack: &mut Pack,
        path: String,
        document: &ExportedDocument,
        (key, sha256): (&FileKey, &str),
    ) -> Result<()> {
        let opened = match self.editing.files.open(key).await {
            Ok(opened) => opened.verified(sha256).await,
            Err(error) => Err(error),
        };
        match opened {
            Ok(pieces) => {
                if let Err(error) = pack.file(path.clone(), document.written_at, pieces).await? {
                    tracing::error!(%error, file.key = %key, "an exported file is damaged");
                    self.note(&path, DAMAGED);
                }
            }
            Err(error) => {
                tracing::error!(error = format!("{error:?}"), file.key = %key, "an exported file is missing");
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

/// What a document is converted from.
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
