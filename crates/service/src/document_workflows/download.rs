//! Downloads results of the document server: with retries after network failures, a check of the file type, and
//! durable storage. What the result means is decided elsewhere.

use std::time::Duration;

use domain::document_kind::FileExtension;
use domain::file::{FileKey, FileType};
use tokio::time::{Instant, sleep, timeout_at};

use super::DocumentWorkflows;
use adapters::blob_store::{Staged, inspect};
use adapters::onlyoffice::client::connection_error;
use adapters::onlyoffice::result_path::ResultPath;
use common::error::{Error, Result};

/// The delays before the second and the third attempt.
const RETRY_DELAYS: [Duration; 2] = [Duration::from_millis(300), Duration::from_millis(1200)];
/// The timeout of all attempts together.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_mins(1);

impl DocumentWorkflows {
    /// Downloads a result, with up to three attempts after transient errors.
    pub(super) async fn download(&self, result: &ResultPath) -> Result<Staged> {
        let deadline = Instant::now() + DOWNLOAD_TIMEOUT;
        let mut pauses = RETRY_DELAYS.iter();
        loop {
            let attempt = timeout_at(deadline, self.download_once(result)).await;
            let error = match attempt.unwrap_or(Err(Error::DocumentServerTimeout)) {
                Ok(staged) => return Ok(staged),
                Err(error) => error,
            };
            match pauses.next() {
                Some(pause) if is_retryable_error(&error) && Instant::now() + *pause < deadline => sleep(*pause).await,
                _ => return Err(error),
            }
        }
    }

    async fn download_once(&self, result: &ResultPath) -> Result<Staged> {
        let mut response = self.server.fetch(result).await?;
        let announced = response.content_length();
        let mut staging = self.files.stage(self.server.download_limit());
        while let Some(chunk) = response.chunk().await.map_err(connection_error)? {
            staging.write(&chunk).await?;
        }
        let staged = staging.finish().await?;
        if staged.size() == 0 || announced.is_some_and(|announced| announced != staged.size()) {
            return Err(Error::DocumentServer("a result was cut off".to_owned()));
        }
        Ok(staged)
    }

    /// Deletes a file without a row. A failure only leaves an orphaned file.
    pub(super) async fn remove_orphan(&self, key: &FileKey) {
        if let Err(error) = self.files.remove(key).await {
            tracing::warn!(error = format!("{error:?}"), file.key = %key, "orphaned file not removed");
        }
    }
}

/// Returns whether an error is transient. A file that is too large or has the wrong type stays so.
pub(super) fn is_retryable_error(error: &Error) -> bool {
    !matches!(
        error,
        Error::TooLarge { .. } | Error::UnsupportedFileType(_) | Error::NotFound
    )
}

/// Returns whether the rows of a failed transaction are certainly not written. After any other error they may exist,
/// so their files must be kept.
pub(super) fn is_rolled_back(error: &Error) -> bool {
    !matches!(error, Error::Internal(_) | Error::NotReady)
}

/// Returns the type of a result: that of the document, or the one that the document server claims. The bytes decide.
pub(super) async fn detect_extension(
    staged: &Staged,
    own: FileExtension,
    claimed: Option<&str>,
) -> Result<FileExtension> {
    let other = claimed.and_then(FileExtension::parse).filter(|other| {
        // A text document that became a spreadsheet is an error; an old text format that became a new one is not.
        *other != own && other.document_type() == own.document_type()
    });
    let kinds = other.into_iter().chain([own]);
    let mut refused = Error::UnsupportedFileType(own.to_string());
    for kind in kinds {
        let file_type = FileType::parse(kind.as_str()).ok_or_else(|| Error::UnsupportedFileType(kind.to_string()))?;
        match inspect::check_type(staged, file_type).await {
            Ok(()) => return Ok(kind),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}
