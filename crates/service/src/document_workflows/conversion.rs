//! Converts documents to PDF. The source bytes are immutable, so each conversion runs once and its result is stored.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::document_kind::{EditorKind, FileExtension};
use domain::file::{FileKey, FileType};
use domain::id::{DocumentId, RevisionId, SubmissionDocumentId};
use sha2::{Digest, Sha256};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, timeout_at};

use super::DocumentWorkflows;
use super::download::is_rolled_back;
use adapters::blob_store::{Staged, hex, inspect};
use adapters::onlyoffice::FileVersion;
use adapters::onlyoffice::client::{Conversion, SOURCE_UNREACHABLE};
use adapters::onlyoffice::result_path::ResultPath;
use common::clock;
use common::error::{Error, Result};
use common::metrics::metrics;
use db::RequestContext;
use db::converted_files::{ConvertedFile, ConvertedSource};

/// The maximum number of concurrent conversions, limited by the few workers of the document server.
pub(super) const CONCURRENCY_MAX: usize = 4;

/// The source of a conversion.
#[derive(Debug, Clone)]
pub struct ConversionRequest {
    pub document: DocumentId,
    pub title: String,
    pub extension: FileExtension,
    pub content: ConversionInput,
}

/// Which content of a document to convert.
#[derive(Debug, Clone)]
pub enum ConversionInput {
    /// A revision, with its stored file.
    Revision(RevisionId, ConvertedFile),
    /// The copy in a submission, with its stored file.
    Copy(SubmissionDocumentId, ConvertedFile),
    /// The blank template, if nothing was saved yet.
    Blank,
}

/// A PDF that can be read.
#[derive(Debug, Clone)]
pub struct Pdf {
    pub file: ConvertedFile,
    /// Whether the file is deleted after it was read once.
    pub is_temporary: bool,
}

/// Running conversions: limits their number and shares a conversion between all callers that wait for it.
pub(super) struct Conversions {
    pub(super) permits: Semaphore,
    in_progress: Mutex<HashMap<String, ConversionReceiver>>,
}

/// The result of a conversion, for all callers that wait for it.
type ConversionReceiver = watch::Receiver<Option<Arc<Result<Pdf>>>>;

impl Default for Conversions {
    fn default() -> Self {
        Self {
            permits: Semaphore::new(CONCURRENCY_MAX),
            in_progress: Mutex::default(),
        }
    }
}

impl Conversions {
    fn in_progress(&self) -> MutexGuard<'_, HashMap<String, ConversionReceiver>> {
        self.in_progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes a conversion from the map of running ones on drop.
struct InProgressGuard {
    conversions: Arc<Conversions>,
    key: String,
}

impl Drop for InProgressGuard {
    fn drop(&mut self) {
        self.conversions.in_progress().remove(&self.key);
    }
}

impl DocumentWorkflows {
    /// Returns the PDF of a source: stored by an earlier conversion, converted now, or the source itself if it is a
    /// PDF.
    pub async fn pdf(&self, context: RequestContext, source: ConversionRequest) -> Result<Pdf> {
        let converted_of = match (&source.content, source.extension) {
            (ConversionInput::Revision(_, file) | ConversionInput::Copy(_, file), FileExtension::Pdf) => {
                return Ok(Pdf::of(file.clone()));
            }
            (ConversionInput::Revision(id, file), _) => Some((ConvertedSource::Revision(id.clone()), file.key.clone())),
            (ConversionInput::Copy(id, file), _) => Some((ConvertedSource::Copy(id.clone()), file.key.clone())),
            (ConversionInput::Blank, _) => None,
        };
        if let Some(kept) = self.find_converted(&context, converted_of.as_ref()).await? {
            return Ok(Pdf::of(kept));
        }
        let mut receiver = self.start(context, source, converted_of);
        let outcome = receiver.wait_for(Option::is_some).await.map(|outcome| outcome.clone());
        // The task ends without a result only if it panicked.
        let outcome = outcome.ok().flatten().ok_or(Error::NotReady)?;
        match outcome.as_ref() {
            Ok(pdf) => Ok(pdf.clone()),
            Err(error) => Err(clone_error(error)),
        }
    }

    /// Starts a conversion, or joins a running one. It continues if its callers disconnect, and has its own deadline,
    /// so that a document server that hangs does not delay callers longer.
    fn start(
        &self,
        context: RequestContext,
        source: ConversionRequest,
        converted_of: Option<(ConvertedSource, FileKey)>,
    ) -> ConversionReceiver {
        let key = self.conversion_key(&context, &source);
        let mut in_progress = self.conversions.in_progress();
        if let Some(receiver) = in_progress.get(&key) {
            return receiver.clone();
        }
        let (sender, receiver) = watch::channel(None);
        in_progress.insert(key.clone(), receiver.clone());
        let guard = InProgressGuard {
            conversions: Arc::clone(&self.conversions),
            key: key.clone(),
        };
        let workflows = self.clone();
        tokio::spawn(async move {
            let _guard = guard;
            let deadline = Instant::now() + workflows.server.timeouts().conversion();
            let outcome = workflows
                .convert_and_store(context, source, converted_of, key, deadline)
                .await;
            sender.send_replace(Some(Arc::new(outcome)));
        });
        receiver
    }

    async fn find_converted(
        &self,
        context: &RequestContext,
        converted_of: Option<&(ConvertedSource, FileKey)>,
    ) -> Result<Option<ConvertedFile>> {
        let Some((converted_of, _)) = converted_of.cloned() else {
            return Ok(None);
        };
        self.transactor
            .read(context.clone(), move |tx| tx.converted(&converted_of, "pdf"))
            .await
    }

    async fn convert_and_store(
        &self,
        context: RequestContext,
        source: ConversionRequest,
        converted_of: Option<(ConvertedSource, FileKey)>,
        key: String,
        deadline: Instant,
    ) -> Result<Pdf> {
        let permit = timeout_at(deadline, self.conversions.permits.acquire()).await;
        let _permit = permit
            .map_err(|_| Error::DocumentServerTimeout)?
            .map_err(|_| Error::NotReady)?;
        // Another conversion may have finished after the first look-up.
        if let Some(kept) = self.find_converted(&context, converted_of.as_ref()).await? {
            return Ok(Pdf::of(kept));
        }
        let staged = self.make_pdf(&context, &source, key, deadline).await?;
        let file = ConvertedFile {
            key: FileKey::new(format!("{}.{}.pdf", source.document, clock::new_id())),
            size: i64::try_from(staged.size()).unwrap_or(i64::MAX),
            sha256: staged.sha256().to_owned(),
        };
        self.files.commit(staged, &file.key).await?;
        let Some((converted_of, source_key)) = converted_of else {
            return Ok(Pdf {
                file,
                is_temporary: true,
            });
        };
        let new = file.clone();
        let written = self
            .transactor
            .write(context, move |tx| {
                tx.insert_converted_file(&converted_of, &source_key, "pdf", &new)
            })
            .await;
        match written {
            Ok(Some(kept)) => {
                // Another instance stored its result first.
                if kept.key != file.key {
                    self.remove_orphan(&file.key).await;
                }
                Ok(Pdf::of(kept))
            }
            // The source was deleted or replaced: the caller may retry with the new state.
            Ok(None) => {
                self.remove_orphan(&file.key).await;
                Err(Error::Overloaded)
            }
            Err(error) => {
                if is_rolled_back(&error) {
                    self.remove_orphan(&file.key).await;
                }
                Err(error)
            }
        }
    }

    /// Makes the PDF where the document is edited: here or in the document server.
    async fn make_pdf(
        &self,
        context: &RequestContext,
        source: &ConversionRequest,
        key: String,
        deadline: Instant,
    ) -> Result<Staged> {
        if self.server.editor_of(source.extension) == EditorKind::OnlyOffice {
            return self.convert(source, key, deadline).await;
        }
        let begun = Instant::now();
        let result = self.render_pdf(context, source).await;
        metrics().record_conversion(if result.is_ok() { "made" } else { "failed" }, begun.elapsed());
        result
    }

    /// Requests the conversion from the document server and downloads its result, without storing it.
    async fn convert(&self, source: &ConversionRequest, key: String, deadline: Instant) -> Result<Staged> {
        let bytes = match &source.content {
            ConversionInput::Revision(id, _) => FileVersion::Revision(id.clone()),
            ConversionInput::Copy(id, _) => FileVersion::Copy(id.clone()),
            ConversionInput::Blank => FileVersion::Blank(source.extension),
        };
        let conversion = Conversion {
            key,
            file_type: source.extension.as_str(),
            output_type: "pdf",
            url: self.server.file_url(&source.document, &bytes),
            title: format!("{}.pdf", source.title).chars().take(128).collect(),
        };
        let begun = Instant::now();
        let result = self.request_conversion(conversion, deadline).await;
        metrics().record_conversion(if result.is_ok() { "made" } else { "failed" }, begun.elapsed());
        let result = result?;
        let fetched = timeout_at(deadline, self.download(&result)).await;
        let staged = fetched
            .unwrap_or(Err(Error::DocumentServerTimeout))
            .map_err(|error| match error {
                // The PDF exceeds the limit, not the document that the user opened.
                Error::TooLarge { .. } => Error::DocumentServerFault {
                    code: "pdf_too_large",
                    message: "the PDF is larger than allowed",
                },
                error => error,
            })?;
        let is_pdf = inspect::check_type(&staged, FileType::Pdf).await;
        is_pdf.map_err(|_| Error::DocumentServer("its PDF is none".to_owned()))?;
        Ok(staged)
    }

    /// Requests a conversion and returns where its result is. If the document server cannot fetch the source, this service
    /// may have been unable to serve it, because its database was away: the error is `NotReady` as long as that lasts,
    /// otherwise the conversion is requested once more.
    pub(super) async fn request_conversion(&self, conversion: Conversion, deadline: Instant) -> Result<ResultPath> {
        match self.server.convert(&conversion, deadline).await {
            Err(Error::DocumentServerFault {
                code: SOURCE_UNREACHABLE,
                ..
            }) => {}
            result => return result,
        }
        self.transactor.check_connection().await?;
        // The document server may keep the failure under the first key.
        let second = Conversion {
            key: format!("{}-2", conversion.key),
            ..conversion
        };
        self.server.convert(&second, deadline).await
    }

    /// Deletes a PDF that was made to be read once. Open readers can finish.
    pub async fn release_pdf(&self, pdf: &Pdf) {
        if pdf.is_temporary {
            self.remove_orphan(&pdf.file.key).await;
        }
    }

    /// The document server caches conversions by key for all of its clients, so the key contains everything that
    /// affects the result.
    fn conversion_key(&self, context: &RequestContext, source: &ConversionRequest) -> String {
        let content = match &source.content {
            ConversionInput::Revision(id, _) => format!("revision {id}"),
            ConversionInput::Copy(id, file) => format!("copy {id} {}", file.sha256),
            ConversionInput::Blank => format!("blank {}", clock::new_id()),
        };
        let parts = [
            self.server.deployment(),
            context.tenant.id().as_str(),
            source.document.as_str(),
            &content,
            source.extension.as_str(),
            "pdf",
        ];
        hex(&Sha256::digest(parts.join("\n").as_bytes()))
    }
}

impl Pdf {
    /// Returns a PDF that stays stored.
    const fn of(file: ConvertedFile) -> Self {
        Self {
            file,
            is_temporary: false,
        }
    }
}

/// Copies an error for each of the callers that wait.
fn clone_error(error: &Error) -> Error {
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
