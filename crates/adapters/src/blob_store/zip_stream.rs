//! Streams zip archives: they are written while they are read and never held in memory. The reader applies
//! backpressure; when it disconnects, writing stops.

use std::io;

use async_zip::base::write::{EntryStreamWriter, ZipFileWriter};
use async_zip::{Compression, ZipDateTime, ZipDateTimeBuilder, ZipEntryBuilder};
use bytes::Bytes;
use domain::file::FileKey;
use domain::time::Timestamp;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt, future, stream};
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio_util::compat::{Compat, FuturesAsyncWriteCompatExt};
use tokio_util::io::ReaderStream;
use tokio_util::task::AbortOnDropHandle;

use super::BlobStore;
use common::clock;
use common::error::{Error, Result};

/// The size of the buffer between the writer and the reader of an archive, in bytes.
const PIPE: usize = 64 * 1024;

/// An archive as a stream of chunks.
pub type ByteStream = BoxStream<'static, io::Result<Bytes>>;

/// The last file of an archive, present if something could not be included.
pub const ERRORS: &str = "errors.txt";
/// The reason in the error list for bytes that cannot be opened.
const MISSING: &str = "it is not in the storage any more, or cannot be read there";
/// The reason in the error list for bytes with the wrong checksum.
const DAMAGED: &str = "it is damaged in the storage; what is here of it is not complete";

/// An archive that is being written. What it could not include is listed in [`ERRORS`], so no file is missing silently.
pub struct ZipStream {
    writer: ZipFileWriter<Compat<DuplexStream>>,
    errors: String,
}

/// A file in an archive that is being written.
pub struct ZipEntry<'p>(Compat<EntryStreamWriter<'p, Compat<DuplexStream>>>);

/// Returns the archive that `write` fills. If writing fails, the last item is an error, so that a partial archive is
/// not mistaken for a complete one; `what` names the archive in the log.
pub fn stream_zip<F>(what: &'static str, write: impl FnOnce(ZipStream) -> F) -> ByteStream
where
    F: Future<Output = Result<ZipStream>> + Send + 'static,
{
    let (reader, writer) = tokio::io::duplex(PIPE);
    let writing = write(ZipStream {
        writer: ZipFileWriter::with_tokio(writer),
        errors: String::new(),
    });
    let writing = AbortOnDropHandle::new(tokio::spawn(async move { writing.await?.end().await }));
    let ending = stream::once(async move {
        match writing.await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => {
                tracing::warn!(error = format!("{error:?}"), archive = what, "archive stream aborted");
                Some(Err(io::Error::other("the archive broke off")))
            }
            Err(error) => Some(Err(io::Error::other(error))),
        }
    });
    let chunks = ReaderStream::with_capacity(reader, PIPE);
    chunks.chain(ending.filter_map(future::ready)).boxed()
}

impl ZipStream {
    /// Starts a file, which must be ended.
    pub async fn add_entry(&mut self, path: String, written: Timestamp) -> Result<ZipEntry<'_>> {
        // File names are UTF-8, and the entry is flagged as such.
        let entry =
            ZipEntryBuilder::new(path.into(), Compression::Deflate).last_modification_date(zip_date_time(written));
        Ok(ZipEntry(
            self.writer
                .write_entry_stream(entry)
                .await
                .map_err(failed)?
                .compat_write(),
        ))
    }

    /// Adds a file from a text.
    pub async fn add_text(&mut self, path: &str, text: &str) -> Result<()> {
        let mut entry = self.add_entry(path.to_owned(), clock::now()).await?;
        entry.write(text.as_bytes()).await?;
        entry.end().await
    }

    /// Adds a file from a stream. The inner result is that of the stream: if it fails, the file is truncated and the
    /// archive continues.
    pub async fn add_file(
        &mut self,
        path: String,
        written: Timestamp,
        chunks: impl Stream<Item = io::Result<Bytes>>,
    ) -> Result<io::Result<()>> {
        let mut entry = self.add_entry(path, written).await?;
        let mut chunks = std::pin::pin!(chunks);
        let mut outcome = Ok(());
        while let Some(chunk) = chunks.next().await {
            match chunk {
                Ok(chunk) => entry.write(&chunk).await?,
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            }
        }
        entry.end().await?;
        Ok(outcome)
    }

    /// Adds a stored file. If it is missing or damaged, it is listed among the errors and the archive continues.
    pub async fn add_stored(
        &mut self,
        files: &BlobStore,
        path: String,
        written: Timestamp,
        (key, sha256): (&FileKey, &str),
    ) -> Result<()> {
        let opened = match files.open(key).await {
            Ok(opened) => opened.read_verified(sha256).await,
            Err(error) => Err(error),
        };
        match opened {
            Ok(chunks) => {
                if let Err(error) = self.add_file(path.clone(), written, chunks).await? {
                    tracing::error!(%error, file.key = %key, "exported file damaged: checksum mismatch");
                    self.add_error(&path, DAMAGED);
                }
            }
            Err(error) => {
                tracing::error!(error = format!("{error:?}"), file.key = %key, "exported file missing");
                self.add_error(&path, MISSING);
            }
        }
        Ok(())
    }

    /// Lists a file that the archive cannot include, with the reason.
    pub fn add_error(&mut self, path: &str, reason: &str) {
        self.errors.push_str(path);
        self.errors.push_str(": ");
        self.errors.push_str(reason);
        self.errors.push_str("\r\n");
    }

    async fn end(mut self) -> Result<()> {
        let errors = std::mem::take(&mut self.errors);
        if !errors.is_empty() {
            self.add_text(ERRORS, &errors).await?;
        }
        self.writer.close().await.map_err(failed)?;
        Ok(())
    }
}

impl ZipEntry<'_> {
    /// Writes the next bytes.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.0.write_all(bytes).await?)
    }

    /// Ends the file.
    pub async fn end(self) -> Result<()> {
        self.0.into_inner().close().await.map_err(failed)
    }
}

/// Zip dates have no time zone and no years before 1980; UTC is used.
fn zip_date_time(written: Timestamp) -> ZipDateTime {
    let read = jiff::Timestamp::from_millisecond(written.as_millis()).unwrap_or_default();
    let civil = jiff::tz::Offset::UTC.to_datetime(read);
    let number = |part: i8| u32::try_from(part).unwrap_or_default();
    let year = i32::from(civil.year());
    if !(1980..2108).contains(&year) {
        return ZipDateTimeBuilder::new().year(1980).month(1).day(1).into();
    }
    let day = ZipDateTimeBuilder::new()
        .year(year)
        .month(number(civil.month()))
        .day(number(civil.day()));
    day.hour(number(civil.hour()))
        .minute(number(civil.minute()))
        .second(number(civil.second()))
        .into()
}

fn failed(error: async_zip::error::ZipError) -> Error {
    Error::Internal(anyhow::Error::new(error).context("archive"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn archive_that_fails_ends_with_an_error() {
        let chunks = stream_zip("a test", async |mut zip: ZipStream| {
            zip.add_text("first.txt", "text").await?;
            Err(Error::NotReady)
        });
        let chunks: Vec<_> = chunks.collect().await;
        let failures: Vec<_> = chunks.iter().map(Result::is_err).collect();
        // The text may arrive in one chunk or in several.
        assert!(matches!(failures.split_last(), Some((true, first)) if !first.is_empty() && !first.contains(&true)));
    }
}
