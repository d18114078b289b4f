//! Streams zip archives: they are written while they are read and never held in memory. The reader applies
//! backpressure; when it disconnects, writing stops.

use std::io;

use async_zip::base::write::{EntryStreamWriter, ZipFileWriter};
use async_zip::{Compression, ZipDateTime, ZipDateTimeBuilder, ZipEntryBuilder};
use bytes::Bytes;
use domain::time::Timestamp;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt, future, stream};
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio_util::compat::{Compat, FuturesAsyncWriteCompatExt};
use tokio_util::io::ReaderStream;
use tokio_util::task::AbortOnDropHandle;

use common::clock;
use common::error::{Error, Result};

/// The size of the buffer between the writer and the reader of an archive, in bytes.
const PIPE: usize = 64 * 1024;

/// An archive as a stream of chunks.
pub type ByteStream = BoxStream<'static, io::Result<Bytes>>;

/// An archive that is being written.
pub struct ZipStream(ZipFileWriter<Compat<DuplexStream>>);

/// A file in an archive that is being written.
pub struct ZipEntry<'p>(Compat<EntryStreamWriter<'p, Compat<DuplexStream>>>);

/// Returns the archive that `write` fills. If writing fails, the last item is an error, so that a partial archive is
/// not mistaken for a complete one; `what` names the archive in the log.
pub fn stream_zip<F>(what: &'static str, write: impl FnOnce(ZipStream) -> F) -> ByteStream
where
    F: Future<Output = Result<ZipStream>> + Send + 'static,
{
    let (reader, writer) = tokio::io::duplex(PIPE);
    let writing = write(ZipStream(ZipFileWriter::with_tokio(writer)));
    let writing = AbortOnDropHandle::new(tokio::spawn(async move {
        writing.await?.0.close().await.map_err(failed)?;
        Ok::<_, Error>(())
    }));
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
            self.0.write_entry_stream(entry).await.map_err(failed)?.compat_write(),
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
