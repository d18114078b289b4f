//! Backup archives in a bucket: streamed in parts, so that memory does not depend on their size. All functions block:
//! they run on the thread of a command.

use std::io::{self, Write};
use std::time::Duration;

use futures_util::TryStreamExt;
use object_store::aws::AmazonS3;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, WriteMultipart};
use tokio::runtime::Handle;

use super::connection::{bucket_of, connect};
use crate::blob_store::settings::ObjectStoreArgs;

/// The size of a part. S3 has at most 10,000 parts, so an archive has at most 160 GB.
const PART_BYTES: usize = 16 << 20;
/// The number of parts that are sent at the same time.
const CONCURRENT_PARTS: usize = 2;
/// The timeout of a request that sends a part, over a slow connection.
const PART_TIMEOUT: Duration = Duration::from_mins(5);

/// The archives under a prefix of a bucket.
pub struct ArchiveBucket {
    store: AmazonS3,
    prefix: Path,
    runtime: Handle,
}

impl ArchiveBucket {
    /// Parses `s3://bucket/prefix`.
    pub fn open(url: &str, args: &ObjectStoreArgs, runtime: &Handle) -> anyhow::Result<Self> {
        let (bucket, prefix) =
            bucket_of(url).ok_or_else(|| anyhow::anyhow!("{url}: the URL must look like s3://bucket/prefix"))?;
        Ok(Self {
            store: connect(bucket, args, PART_TIMEOUT)?,
            prefix,
            runtime: runtime.clone(),
        })
    }

    /// Begins an upload under a name that does not exist yet.
    pub fn create(&self, name: &str) -> anyhow::Result<ArchiveUpload> {
        let location = self.prefix.clone().join(name);
        let upload = self.runtime.block_on(async {
            match self.store.head(&location).await {
                Ok(_) => anyhow::bail!("{location} exists already"),
                Err(object_store::Error::NotFound { .. }) => Ok(self.store.put_multipart(&location).await?),
                Err(error) => Err(error.into()),
            }
        })?;
        Ok(ArchiveUpload {
            runtime: self.runtime.clone(),
            upload: Some(WriteMultipart::new_with_chunk_size(upload, PART_BYTES)),
        })
    }

    /// Returns the names directly under the prefix.
    pub fn names(&self) -> anyhow::Result<Vec<String>> {
        let prefix = (!self.prefix.as_ref().is_empty()).then_some(&self.prefix);
        let listed = self.runtime.block_on(self.store.list_with_delimiter(prefix))?;
        let names = listed.objects.iter().filter_map(|object| object.location.filename());
        Ok(names.map(str::to_owned).collect())
    }

    pub fn delete(&self, name: &str) -> anyhow::Result<()> {
        let location = self.prefix.clone().join(name);
        Ok(self.runtime.block_on(self.store.delete(&location))?)
    }

    pub fn download(&self, name: &str, target: &mut dyn Write) -> anyhow::Result<()> {
        let location = self.prefix.clone().join(name);
        self.runtime.block_on(async {
            let mut chunks = self.store.get(&location).await?.into_stream();
            while let Some(chunk) = chunks.try_next().await? {
                target.write_all(&chunk)?;
            }
            Ok(())
        })
    }
}

/// An archive that is being uploaded. Nothing exists under its name before [`ArchiveUpload::finish`].
pub struct ArchiveUpload {
    runtime: Handle,
    upload: Option<WriteMultipart>,
}

impl ArchiveUpload {
    pub fn finish(&mut self) -> io::Result<()> {
        let upload = self.upload.take().ok_or_else(ended)?;
        self.runtime.block_on(upload.finish())?;
        Ok(())
    }
}

impl Write for ArchiveUpload {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let upload = self.upload.as_mut().ok_or_else(ended)?;
        self.runtime.block_on(async {
            upload.wait_for_capacity(CONCURRENT_PARTS).await?;
            upload.write(buffer);
            Ok(buffer.len())
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for ArchiveUpload {
    fn drop(&mut self) {
        if let Some(upload) = self.upload.take()
            && let Err(error) = self.runtime.block_on(upload.abort())
        {
            tracing::warn!(%error, "upload not aborted: the store may keep its parts");
        }
    }
}

fn ended() -> io::Error {
    io::Error::other("the upload has ended")
}
