//! PDFs of documents. A conversion is made of bytes that never change, so it is made once and kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::document_kind::FileExtension;
use model::file::{FileKey, FileType};
use model::id::{DocumentId, RevisionId, SubmissionDocumentId};
use sha2::{Digest, Sha256};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, timeout_at};

use super::Editing;
use super::fetching::surely_not_written;
use adapters::document_server::Bytes;
use adapters::document_server::client::Conversion;
use adapters::files::{Staged, hex, inspect};
use common::clock;
use common::error::{Error, Result};
use common::measures::measures;
use db::Standpoint;
use db::converted_files::{Converted, ConvertedOf};

/// Conversions that run at once; the document server has few hands.
pub(super) const AT_ONCE: usize = 4;

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

/// The conversions under way: few at once, and each once however many wait for it.
pub(super) struct Conversions {
    turns: Semaphore,
    underway: Mutex<HashMap<String, Told>>,
}

/// What those who wait for a conversion are told in the end.
type Told = watch::Receiver<Option<Arc<Result<Pdf>>>>;

impl Default for Conversions {
    fn default() -> Self {
        Self {
            turns: Semaphore::new(AT_ONCE),
            underway: Mutex::default(),
        }
    }
}

impl Conversions {
    fn underway(&self) -> MutexGuard<'_, HashMap<String, Told>> {
        self.underway.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a conversion off the list whatever becomes of it.
struct Listed {
    conversions: Arc<Conversions>,
    key: String,
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.conversions.underway().remove(&self.key);
    }
}

impl Editing {
    /// The PDF of some bytes: kept from an earlier conversion, converted now, or the bytes themselves when they are one.
    pub async fn pdf(&self, standpoint: Standpoint, source: Source) -> Result<Pdf> {
        let kept_of = match (&source.content, source.extension) {
            (Content::Revision(_, file) | Content::Copy(_, file), FileExtension::Pdf) => {
                return Ok(Pdf::of(file.clone()));
            }
            (Content::Revision(id, file), _) => Some((ConvertedOf::Revision(id.clone()), file.key.clone())),
            (Content::Copy(id, file), _) => Some((ConvertedOf::Copy(id.clone()), file.key.clone())),
            (Content::Blank, _) => None,
        };
        if let Some(kept) = self.kept(&standpoint, kept_of.as_ref()).await? {
            return Ok(Pdf::of(kept));
        }
        let mut told = self.begin(standpoint, source, kept_of);
        let outcome = told.wait_for(Option::is_some).await.map(|outcome| outcome.clone());
        // Whoever converted has ended without a word only if it broke.
        let outcome = outcome.ok().flatten().ok_or(Error::NotReady)?;
        match outcome.as_ref() {
            Ok(pdf) => Ok(pdf.clone()),
            Err(error) => Err(told_again(error)),
        }
    }

    /// Begins a conversion, or joins the one that is under way. It goes on when those who asked leave, and its deadline
    /// is its own: a document server that hangs holds up nobody longer.
    fn begin(&self, standpoint: Standpoint, source: Source, kept_of: Option<(ConvertedOf, FileKey)>) -> Told {
        let key = self.conversion_key(&standpoint, &source);
        let mut underway = self.conversions.underway();
        if let Some(told) = underway.get(&key) {
            return told.clone();
        }
        let (tell, told) = watch::channel(None);
        underway.insert(key.clone(), told.clone());
        let listed = Listed {
            conversions: Arc::clone(&self.conversions),
            key: key.clone(),
        };
        let editing = self.clone();
        tokio::spawn(async move {
            let _listed = listed;
            let deadline = Instant::now() + editing.server.patience().conversion();
            let made = editing.make(standpoint, source, kept_of, key, deadline).await;
            tell.send_replace(Some(Arc::new(made)));
        });
        told
    }

    async fn kept(
        &self,
        standpoint: &Standpoint,
        kept_of: Option<&(ConvertedOf, FileKey)>,
    ) -> Result<Option<Converted>> {
        let Some((kept_of, _)) = kept_of.cloned() else {
            return Ok(None);
        };
        self.read(standpoint.clone(), move |scope| scope.converted(&kept_of, "pdf"))
            .await
    }

    async fn make(
        &self,
        standpoint: Standpoint,
        source: Source,
        kept_of: Option<(ConvertedOf, FileKey)>,
        key: String,
        deadline: Instant,
    ) -> Result<Pdf> {
        let turn = timeout_at(deadline, self.conversions.turns.acquire()).await;
        let _turn = turn
            .map_err(|_| Error::DocumentServerTimeout)?
            .map_err(|_| Error::NotReady)?;
        // Another one may have ended between the look and the place on the list.
        if let Some(kept) = self.kept(&standpoint, kept_of.as_ref()).await? {
            return Ok(Pdf::of(kept));
        }
        let staged = self.convert(&source, key, deadline).await?;
        let file = Converted {
            key: FileKey::new(format!("{}.{}.pdf", source.document, clock::new_id())),
            size: i64::try_from(staged.size()).unwrap_or(i64::MAX),
            sha256: staged.sha256().to_owned(),
        };
        self.files.commit(staged, &file.key).await?;
        let Some((kept_of, made_of)) = kept_of else {
            return Ok(Pdf { file, is_passing: true });
        };
        let new = file.clone();
        let written = self
            .write(standpoint, move |work| {
                work.keep_converted(&kept_of, &made_of, "pdf", &new)
            })
            .await;
        match written {
            Ok(Some(kept)) => {
                // Another instance kept its own first.
                if kept.key != file.key {
                    self.forget(&file.key).await;
                }
                Ok(Pdf::of(kept))
            }
            // The source went, or other bytes took its place: whoever asks again is answered as it is now.
            Ok(None) => {
                self.forget(&file.key).await;
                Err(Error::Overloaded)
            }
            Err(error) => {
                if surely_not_written(&error) {
                    self.forget(&file.key).await;
                }
                Err(error)
            }
        }
    }

    /// Has the document server convert, and fetches what it made; nothing of it is kept yet.
    async fn convert(&self, source: &Source, key: String, deadline: Instant) -> Result<Staged> {
        let bytes = match &source.content {
            Content::Revision(id, _) => Bytes::Revision(id.clone()),
            Content::Copy(id, _) => Bytes::Copy(id.clone()),
            Content::Blank => Bytes::Blank(source.extension),
        };
        let conversion = Conversion {
            key,
            file_type: source.extension.as_str(),
            url: self.server.file_url(&source.document, &bytes),
            title: format!("{}.pdf", source.title).chars().take(128).collect(),
        };
        let begun = Instant::now();
        let result = self.server.convert(&conversion, deadline).await;
        measures().conversion(if result.is_ok() { "made" } else { "failed" }, begun.elapsed());
        let result = result?;
        let fetched = timeout_at(deadline, self.fetch(&result)).await;
        let staged = fetched
            .unwrap_or(Err(Error::DocumentServerTimeout))
            .map_err(|error| match error {
                // The document is not too large for the one who reads it: what became of it is.
                Error::TooLarge { .. } => Error::DocumentServerFault {
                    code: "pdf_too_large",
                    message: "the PDF is larger than allowed",
                },
                error => error,
            })?;
        let is_pdf = inspect::must_be(&staged, FileType::Pdf).await;
        is_pdf.map_err(|_| Error::DocumentServer("its PDF is none".to_owned()))?;
        Ok(staged)
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
            Content::Blank => format!("blank {}", clock::new_id()),
        };
        let parts = [
            self.server.deployment(),
            standpoint.tenant.id().as_str(),
            source.document.as_str(),
            &content,
            source.extension.as_str(),
            "pdf",
        ];
        hex(&Sha256::digest(parts.join("\n").as_bytes()))
    }
}

impl Pdf {
    /// A PDF that stays where it is.
    const fn of(file: Converted) -> Self {
        Self {
            file,
            is_passing: false,
        }
    }
}

/// The same failure for each of those who waited.
fn told_again(error: &Error) -> Error {
    match error {
        Error::DocumentServerTimeout => Error::DocumentServerTimeout,
        Error::DocumentServer(why) => Error::DocumentServer(why.clone()),
        Error::DocumentServerFault { code, message } => Error::DocumentServerFault { code, message },
        Error::Overloaded => Error::Overloaded,
        Error::NotReady => Error::NotReady,
        Error::NotFound => Error::NotFound,
        error => Error::Internal(anyhow::anyhow!("a conversion failed: {error:?}")),
    }
}
