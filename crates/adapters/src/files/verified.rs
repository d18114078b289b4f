//! Verifies checksums while streaming files (detects bit rot).

use std::io;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use sha2::{Digest, Sha256};
use tokio_util::io::ReaderStream;

use super::Reader;
use super::staged::hex;

/// The chunk size in bytes.
const PIECE: usize = 64 * 1024;

/// Streams a reader; the last chunk is withheld until the checksum has been verified.
pub(super) fn verified(reader: Reader, sha256: String) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let begin = (
        ReaderStream::with_capacity(reader, PIECE),
        Sha256::new(),
        None::<Bytes>,
        sha256,
    );
    stream::try_unfold(begin, |(mut pieces, mut digest, mut held, sha256)| async move {
        while let Some(piece) = pieces.next().await {
            let piece = piece?;
            digest.update(&piece);
            if let Some(before) = held.replace(piece) {
                return Ok(Some((before, (pieces, digest, held, sha256))));
            }
        }
        let Some(last) = held.take() else { return Ok(None) };
        if hex(&digest.clone().finalize()) != sha256 {
            tracing::error!(file.sha256 = sha256, "stored file damaged: checksum mismatch");
            return Err(io::Error::other("the bytes are damaged"));
        }
        Ok(Some((last, (pieces, digest, held, sha256))))
    })
}
