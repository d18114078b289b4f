//! Verifies checksums while streaming files (detects bit rot).

use std::io;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use sha2::{Digest, Sha256};
use tokio_util::io::ReaderStream;

use super::BlobReader;
use super::staged::hex;

/// The chunk size in bytes.
const CHUNK_BYTES: usize = 64 * 1024;

/// Streams a reader; the last chunk is withheld until the checksum has been verified.
pub(super) fn verify_checksum(
    reader: BlobReader,
    sha256: String,
) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let begin = (
        ReaderStream::with_capacity(reader, CHUNK_BYTES),
        Sha256::new(),
        None::<Bytes>,
        sha256,
    );
    stream::try_unfold(begin, |(mut chunks, mut digest, mut held, sha256)| async move {
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk?;
            digest.update(&chunk);
            if let Some(before) = held.replace(chunk) {
                return Ok(Some((before, (chunks, digest, held, sha256))));
            }
        }
        let Some(last) = held.take() else { return Ok(None) };
        if hex(&digest.clone().finalize()) != sha256 {
            tracing::error!(file.sha256 = sha256, "stored file damaged: checksum mismatch");
            return Err(io::Error::other("the bytes are damaged"));
        }
        Ok(Some((last, (chunks, digest, held, sha256))))
    })
}
