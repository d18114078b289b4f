//! Archives on their way out: written while they are read, so that none is ever held in memory. Whoever reads sets the
//! pace; when he leaves, the writing is broken off where it is.

use std::io;

use async_zip::base::write::{EntryStreamWriter, ZipFileWriter};
use async_zip::{Compression, ZipDateTime, ZipDateTimeBuilder, ZipEntryBuilder};
use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt, future, stream};
use model::time::Timestamp;
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio_util::compat::{Compat, FuturesAsyncWriteCompatExt};
use tokio_util::io::ReaderStream;
use tokio_util::task::AbortOnDropHandle;

use common::clock;
use common::error::{Error, Result};

/// Bytes on their way from the writer of an archive to its reader.
const PIPE: usize = 64 * 1024;

/// An archive piece by piece.
pub type Pieces = BoxStream<'static, io::Result<Bytes>>;

/// An archive being written.
pub struct Pack(ZipFileWriter<Compat<DuplexStream>>);

/// One file in it, being written.
pub struct Entry<'p>(Compat<EntryStreamWriter<'p, Compat<DuplexStream>>>);

/// The archive that `write` fills. When it cannot be finished the last piece is an error, so that nobody takes half of it
/// for all; `what` names it in the log.
pub fn packed<F>(what: &'static str, write: impl FnOnce(Pack) -> F) -> Pieces
where
    F: Future<Output = Result<Pack>> + Send + 'static,
{
    let (reader, writer) = tokio::io::duplex(PIPE);
    let writing = write(Pack(ZipFileWriter::with_tokio(writer)));
    let writing = AbortOnDropHandle::new(tokio::spawn(async move {
        writing.await?.0.close().await.map_err(failed)?;
        Ok::<_, Error>(())
    }));
    let ending = stream::once(async move {
        match writing.await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => {
                tracing::warn!(error = format!("{error:?}"), archive = what, "an archive broke off");
                Some(Err(io::Error::other("the archive broke off")))
            }
            Err(error) => Some(Err(io::Error::other(error))),
        }
    });
    let pieces = ReaderStream::with_capacity(reader, PIPE);
    pieces.chain(ending.filter_map(future::ready)).boxed()
}

impl Pack {
    /// Begins a file; it has to be ended.
    pub async fn entry(&mut self, path: String, written: Timestamp) -> Result<Entry<'_>> {
        // The names of the program are UTF-8, and the entry says so.
        let entry = ZipEntryBuilder::new(path.into(), Compression::Deflate).last_modification_date(moment(written));
        Ok(Entry(
            self.0.write_entry_stream(entry).await.map_err(failed)?.compat_write(),
        ))
    }

    /// A file whose text is at hand.
    pub async fn text(&mut self, path: &str, text: &str) -> Result<()> {
        let mut entry = self.entry(path.to_owned(), clock::now()).await?;
        entry.write(text.as_bytes()).await?;
        entry.end().await
    }

    /// A file whose bytes are read meanwhile. The inner result is theirs: bytes that break off leave a file that ends there,
    /// and the archive goes on.
    pub async fn file(
        &mut self,
        path: String,
        written: Timestamp,
        pieces: impl Stream<Item = io::Result<Bytes>>,
    ) -> Result<io::Result<()>> {
        let mut entry = self.entry(path, written).await?;
        let mut pieces = std::pin::pin!(pieces);
        let mut outcome = Ok(());
        while let Some(piece) = pieces.next().await {
            match piece {
                Ok(piece) => entry.write(&piece).await?,
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

impl Entry<'_> {
    /// Takes the next bytes.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.0.write_all(bytes).await?)
    }

    /// All bytes are in.
    pub async fn end(self) -> Result<()> {
        self.0.into_inner().close().await.map_err(failed)
    }
}

/// Archives know neither zones nor years before 1980; what they say is UTC.
fn moment(written: Timestamp) -> ZipDateTime {
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
