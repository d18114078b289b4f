//! Bringing results of the document server into our own storage: fetched again when the way was bad, checked for what they
//! are, kept durably. Nothing here decides what they mean.

use std::time::Duration;

use model::document_kind::FileExtension;
use model::file::{FileKey, FileType};
use tokio::time::{Instant, sleep, timeout_at};

use super::Editing;
use adapters::document_server::client::network;
use adapters::document_server::result_path::ResultPath;
use adapters::files::{Staged, inspect};
use common::error::{Error, Result};

/// The pauses before the second and the third attempt.
const PAUSES: [Duration; 2] = [Duration::from_millis(300), Duration::from_millis(1200)];
/// How long all attempts may take.
const DEADLINE: Duration = Duration::from_mins(1);

impl Editing {
    /// Fetches a result whole, up to three times while the fault may pass.
    pub(super) async fn fetch(&self, result: &ResultPath) -> Result<Staged> {
        let deadline = Instant::now() + DEADLINE;
        let mut pauses = PAUSES.iter();
        loop {
            let attempt = timeout_at(deadline, self.fetch_once(result)).await;
            let error = match attempt.unwrap_or(Err(Error::DocumentServerTimeout)) {
                Ok(staged) => return Ok(staged),
                Err(error) => error,
            };
            match pauses.next() {
                Some(pause) if may_pass(&error) && Instant::now() + *pause < deadline => sleep(*pause).await,
                _ => return Err(error),
            }
        }
    }

    async fn fetch_once(&self, result: &ResultPath) -> Result<Staged> {
        let mut response = self.server.fetch(result).await?;
        let announced = response.content_length();
        let mut staging = self.files.stage(self.server.download_limit());
        while let Some(piece) = response.chunk().await.map_err(network)? {
            staging.write(&piece).await?;
        }
        let staged = staging.finish().await?;
        if staged.size() == 0 || announced.is_some_and(|announced| announced != staged.size()) {
            return Err(Error::DocumentServer("a result was cut off".to_owned()));
        }
        Ok(staged)
    }

    /// Removes a file that no row names; a failure leaves it lying there and harms nobody.
    pub(super) async fn forget(&self, key: &FileKey) {
        if let Err(error) = self.files.remove(key).await {
            tracing::warn!(error = format!("{error:?}"), file.key = %key, "a file stays although nothing names it");
        }
    }
}

/// Whether a later attempt may do better; what is too large or something else stays so.
pub(super) fn may_pass(error: &Error) -> bool {
    !matches!(
        error,
        Error::TooLarge { .. } | Error::UnsupportedFileType(_) | Error::NotFound
    )
}

/// Whether the rows of a failed unit are certainly not written: after any other error they may be there, and then their
/// files have to stay.
pub(super) fn surely_not_written(error: &Error) -> bool {
    !matches!(error, Error::Internal(_) | Error::NotReady)
}

/// The kind of a result: what the document already is, or what the document server says it made of it. The bytes decide.
pub(super) async fn kind_of(staged: &Staged, own: FileExtension, claimed: Option<&str>) -> Result<FileExtension> {
    let other = claimed.and_then(FileExtension::parse).filter(|other| {
        // A text document that became a spreadsheet is a mistake, an old text format that became a new one is not.
        *other != own && other.document_type() == own.document_type()
    });
    let kinds = other.into_iter().chain([own]);
    let mut refused = Error::UnsupportedFileType(own.to_string());
    for kind in kinds {
        let file_type = FileType::parse(kind.as_str()).ok_or_else(|| Error::UnsupportedFileType(kind.to_string()))?;
        match inspect::must_be(staged, file_type).await {
            Ok(()) => return Ok(kind),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}
