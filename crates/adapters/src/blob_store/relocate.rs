//! Moves files from the fallback of a storage into the storage.

use domain::file::FileKey;
use tokio::io::AsyncReadExt as _;

use super::{BlobStore, check};
use common::error::{Error, Result};

const CHUNK_BYTES: usize = 256 * 1024;

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relocated {
    /// It was copied from the fallback.
    Copied,
    /// It is in the storage already.
    Present,
    /// It is in neither storage.
    Missing,
}

impl BlobStore {
    /// Copies a file from the fallback into this storage, unless it is there. Fails if its SHA-256 is another one.
    pub async fn relocate(&self, key: &FileKey, sha256: Option<&str>) -> Result<Relocated> {
        check(key)?;
        if self.has_here(key).await? {
            return Ok(Relocated::Present);
        }
        let Some(fallback) = &self.fallback else {
            return Ok(Relocated::Missing);
        };
        if !fallback.has_here(key).await? {
            return Ok(Relocated::Missing);
        }
        self.transfer(fallback, key, key, sha256).await?;
        Ok(Relocated::Copied)
    }

    /// Copies a file of another storage.
    pub(super) async fn transfer(
        &self,
        source: &Self,
        from: &FileKey,
        to: &FileKey,
        sha256: Option<&str>,
    ) -> Result<()> {
        let opened = source.open_here(from).await?;
        let size = opened.size();
        let mut reader = opened.read(0..size).await?;
        let mut staging = self.stage(u64::MAX);
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let count = reader
                .read(&mut chunk)
                .await
                .map_err(|error| Error::Internal(error.into()))?;
            if count == 0 {
                break;
            }
            staging.write(&chunk[..count]).await?;
        }
        let staged = staging.finish().await?;
        if staged.size() != size || sha256.is_some_and(|expected| expected != staged.sha256()) {
            return Err(Error::Internal(anyhow::anyhow!(
                "{from} is damaged: its checksum differs"
            )));
        }
        self.commit(staged, to).await
    }
}
