//! PDFs of documents. A conversion is made of bytes that never change, so it is made once and kept.

use std::fmt::Write as _;
use std::sync::Arc;

use model::document_kind::FileExtension;
use model::file::{FileKey, FileType};
use model::id::{DocumentId, RevisionId, SubmissionDocumentId};
use sha2::{Digest, Sha256};

use super::Editing;
use super::fetching::surely_not_written;
use crate::clock;
use crate::document_server::Bytes;
use crate::document_server::client::Conversion;
use crate::error::{Error, Result};
use crate::files::inspect;
use crate::store::Standpoint;
use crate::store::converted_files::{Converted, ConvertedOf};

/// Bytes of a document that shall be a PDF.
#[derive(Debug, Clone)]
pub struct Source {
    /// The document they belong to.
    pub document: DocumentId,
    /// Its title.
    pub title: String,
    /// What the bytes are.
    pub extension: FileExtension,
    /// Which bytes.
    pub content: Content,
}

/// Which bytes of a document are meant.
#[derive(Debug, Clone)]
pub enum Content {
    /// A revision, with its stored file.
    Revision(RevisionId, Converted),
    /// The copy in a submission, with its stored file.
    Copy(SubmissionDocumentId, Converted),
    /// The blank template: nothing was saved yet.
    Blank,
}

/// A PDF, ready to be read.
#[derive(Debug, Clone)]
pub struct Pdf {
    /// Its bytes.
    pub file: Converted,
    /// Whether they are kept only until they were read once.
    pub is_passing: bool,
}

impl Editing {
    /// The PDF of some bytes: kept from an earlier conversion, converted now, or the bytes themselves when they are one.
    pub async fn pdf(&self, standpoint: Standpoint, source: Source) -> Result<Pdf> {
        let kept_of = match (&source.content, source.extension) {
            (Content::Revision(_, file) | Content::Copy(_, file), FileExtension::Pdf) => {
                return Ok(Pdf {
                    file: file.clone(),
                    is_passing: false,
                });
            }
            (Content::Revision(id, _), _) => Some(ConvertedOf::Revision(id.clone())),
            (Content::Copy(id, _), _) => Some(ConvertedOf::Copy(id.clone())),
            (Content::Blank, _) => None,
        };
        if let Some(kept) = self.kept(&standpoint, kept_of.clone()).await? {
            return Ok(Pdf {
                file: kept,
                is_passing: false,
            });
        }
        let turn = Arc::clone(&self.conversions).acquire_owned();
        let turn = turn.await.map_err(|_| Error::NotReady)?;
        // Whoever waited for a turn may find that another one made it meanwhile.
        if let Some(kept) = self.kept(&standpoint, kept_of.clone()).await? {
            return Ok(Pdf {
                file: kept,
                is_passing: false,
            });
        }
        let editing = self.clone();
        let converting = tokio::spawn(async move {
            // It goes on when nobody waits for it any more, and takes its turn as long as it does.
            let _turn = turn;
            editing.convert(standpoint, source, kept_of).await
        });
        converting.await.map_err(|error| anyhow::anyhow!(error))?
    }

    async fn kept(&self, standpoint: &Standpoint, kept_of: Option<ConvertedOf>) -> Result<Option<Converted>> {
        let Some(kept_of) = kept_of else { return Ok(None) };
        self.read(standpoint.clone(), move |scope| scope.converted(&kept_of, "pdf"))
            .await
    }

    async fn convert(&self, standpoint: Standpoint, source: Source, kept_of: Option<ConvertedOf>) -> Result<Pdf> {
        let bytes = match &source.content {
            Content::Revision(id, _) => Bytes::Revision(id.clone()),
            Content::Copy(id, _) => Bytes::Copy(id.clone()),
            Content::Blank => Bytes::Blank(source.extension),
        };
        let conversion = Conversion {
            key: self.conversion_key(&standpoint, &source),
            file_type: source.extension.as_str(),
            url: self.server.file_url(&source.document, &bytes),
            title: format!("{}.pdf", source.title).chars().take(128).collect(),
        };
        let result = self.server.convert(&conversion).await?;
        let staged = self.fetch(&result).await?;
        let is_pdf = inspect::must_be(&staged, FileType::Pdf).await;
        is_pdf.map_err(|_| Error::DocumentServer("its PDF is none".to_owned()))?;
        let file = Converted {
            key: FileKey::new(format!("{}.{}.pdf", source.document, clock::new_id())),
            size: i64::try_from(staged.size()).unwrap_or(i64::MAX),
            sha256: staged.sha256().to_owned(),
        };
        self.files.commit(staged, &file.key).await?;
        let Some(kept_of) = kept_of else {
            return Ok(Pdf { file, is_passing: true });
        };
        let new = file.clone();
        let written = self
            .write(standpoint, move |work| work.keep_converted(&kept_of, "pdf", &new))
            .await;
        match written {
            // Another request kept its own first; or the source went, and with it the reason to keep anything.
            Ok(Some(kept)) if kept.key != file.key => {
                self.forget(&file.key).await;
                Ok(Pdf {
                    file: kept,
                    is_passing: false,
                })
            }
            Ok(Some(kept)) => Ok(Pdf {
                file: kept,
                is_passing: false,
            }),
            Ok(None) => Ok(Pdf { file, is_passing: true }),
            Err(error) => {
                if surely_not_written(&error) {
                    self.forget(&file.key).await;
                }
                Err(error)
            }
        }
    }

    /// Throws away a PDF that was made to be read once; whoever has it open reads on.
    pub async fn forget_pdf(&self, pdf: &Pdf) {
        if pdf.is_passing {
            self.forget(&pdf.file.key).await;
        }
    }

    /// The document server keeps conversions by key, for all who use it: whatever makes another result is in the key.
    fn conversion_key(&self, standpoint: &Standpoint, source: &Source) -> String {
        let content = match &source.content {
            Content::Revision(id, _) => format!("revision {id}"),
            Content::Copy(id, file) => format!("copy {id} {}", file.sha256),
            Content::Blank => format!("blank {}", clock::now()),
        };
        let parts = [
            self.server.deployment(),
            standpoint.tenant.id().as_str(),
            source.document.as_str(),
            &content,
            source.extension.as_str(),
            "pdf",
        ];
        let digest = Sha256::digest(parts.join("\n").as_bytes());
        digest.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}
