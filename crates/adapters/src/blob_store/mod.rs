//! File storage under immutable keys: files are staged, then committed durably. One interface for disk, object store
//! and memory; files are streamed and never held in memory completely, except by the memory backend.

mod checksum_reader;
mod compound;
mod disk;
mod marker;
mod memory;
mod relocate;
mod s3;
mod staged;

pub mod archive;
pub mod inspect;
pub mod name;
pub mod settings;
pub mod templates;
pub mod zip_stream;

use std::io;
use std::ops::Range;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use domain::file::FileKey;
use domain::time::Timestamp;
use futures_util::Stream;
use tokio::io::AsyncRead;

use self::disk::Disk;
use self::memory::Memory;
pub use self::relocate::Relocated;
pub use self::s3::archives::{ArchiveBucket, ArchiveUpload};
use self::s3::{S3Object, S3Store};
use self::settings::ObjectStoreArgs;
pub use self::staged::hex;
pub use self::staged::{FileSource, ReadSeek, Staged, Staging};
use common::error::{Error, Result};

/// A stored file has no bytes: they were lost, or the file was deleted after its row was read.
#[derive(Debug, thiserror::Error)]
#[error("the bytes of {0} are missing")]
struct MissingBytes(FileKey);

/// Returns the error of an operation that does not find the bytes of a file.
pub fn missing_bytes(key: &FileKey) -> Error {
    Error::Internal(MissingBytes(key.clone()).into())
}

/// Returns the file whose bytes an operation did not find, if this was its error.
pub fn missing_key(error: &Error) -> Option<&FileKey> {
    match error {
        Error::Internal(cause) => cause.downcast_ref().map(|MissingBytes(key)| key),
        _ => None,
    }
}

/// The file storage.
#[derive(Clone)]
pub struct BlobStore {
    backend: Backend,
    /// Files that are missing in the backend are read here, while files move from one storage to another.
    fallback: Option<Arc<BlobStore>>,
    /// Set while it is unknown whether this storage belongs to the database: all reads, writes and removals are
    /// rejected.
    is_suspended: Arc<AtomicBool>,
}

/// The backend.
#[derive(Clone)]
enum Backend {
    /// A local folder.
    Disk(Disk),
    /// An object store with the S3 API.
    S3(S3Store),
    /// Memory, lost on exit.
    Memory(Memory),
}

/// The number of partitions of a storage, for iterating over all files.
pub const SHARDS: std::ops::RangeInclusive<u8> = 0..=u8::MAX;

/// A stream of file bytes.
pub type BlobReader = Pin<Box<dyn AsyncRead + Send>>;

/// A stored file, ready to be read.
pub struct OpenBlob {
    size: u64,
    bytes: BlobSource,
}

enum BlobSource {
    File(std::fs::File),
    S3(S3Object),
    Bytes(Bytes),
}

impl BlobStore {
    /// Checks the form of `FILES_URL`. The error does not contain the value.
    pub fn check_url(url: &str) -> std::result::Result<(), &'static str> {
        match url.trim() {
            "memory:" => Ok(()),
            url if s3::is_bucket_url(url) => Ok(()),
            _ => Err("FILES_URL must be s3://bucket/prefix; unset, the files are in DATA_DIR"),
        }
    }

    /// Finds out why a bucket cannot be used: the error names the failed step and the setting to compare. A probe
    /// object is written and deleted.
    pub async fn diagnose_bucket(url: &str, object_store: &ObjectStoreArgs) -> std::result::Result<(), String> {
        s3::diagnosis::diagnose(url, object_store).await
    }

    /// Opens the configured storage and removes abandoned uploads.
    pub async fn connect(data_dir: &Path, files_url: Option<&str>, object_store: &ObjectStoreArgs) -> Result<Self> {
        let backend = match files_url.map(str::trim).filter(|url| !url.is_empty()) {
            None => {
                let root = data_dir.join("files");
                Backend::Disk(blocking(move || Disk::open(&root)).await?)
            }
            Some("memory:") => Backend::Memory(Memory::default()),
            Some(url) if url.starts_with("s3:") => {
                let folder = data_dir.join("staging");
                Backend::S3(S3Store::open(url, object_store, folder).await?)
            }
            Some(_) => {
                return Err(Error::Internal(anyhow::anyhow!(
                    "FILES_URL must be s3://bucket/prefix; unset, the files are in DATA_DIR"
                )));
            }
        };
        Ok(Self {
            backend,
            fallback: None,
            is_suspended: Arc::default(),
        })
    }

    /// Reads files that are missing in this storage from another one, and deletes files in both.
    #[must_use]
    pub fn with_fallback(mut self, fallback: Self) -> Self {
        self.fallback = Some(Arc::new(fallback));
        self
    }

    /// Rejects all operations with 503 until [`Self::resume`], for all clones of this value.
    pub fn suspend(&self) {
        self.is_suspended.store(true, Ordering::Relaxed);
    }

    /// Ends [`Self::suspend`].
    pub fn resume(&self) {
        self.is_suspended.store(false, Ordering::Relaxed);
    }

    /// Returns whether all operations are rejected.
    pub fn is_suspended(&self) -> bool {
        self.is_suspended.load(Ordering::Relaxed)
    }

    /// Returns the backend, unless the storage is suspended.
    fn available_backend(&self) -> Result<&Backend> {
        if self.is_suspended() {
            return Err(Error::NotReady);
        }
        Ok(&self.backend)
    }

    /// Starts an upload of at most `limit` bytes. It is invisible until it is committed, and no file is created
    /// before its first bytes are written.
    pub fn stage(&self, limit: u64) -> Staging {
        match &self.backend {
            Backend::Disk(disk) => {
                let disk = disk.clone();
                Staging::on_disk(move || disk.part(), limit)
            }
            Backend::S3(objects) => {
                let objects = objects.clone();
                Staging::on_disk(move || objects.part(), limit)
            }
            Backend::Memory(_) => Staging::in_memory(limit),
        }
    }

    /// Stores a staged file under a key. After this returns, the file survives a crash or power failure.
    pub async fn commit(&self, staged: Staged, key: &FileKey) -> Result<()> {
        check(key)?;
        match self.available_backend()? {
            Backend::Disk(disk) => {
                let (disk, key) = (disk.clone(), key.clone());
                blocking(move || disk.commit(staged, &key)).await
            }
            Backend::S3(objects) => objects.commit(staged, key).await,
            Backend::Memory(memory) => {
                memory.insert(key, staged.into_bytes()?);
                Ok(())
            }
        }
    }

    /// Opens a stored file. A row refers to it, so a missing file is an internal error.
    pub async fn open(&self, key: &FileKey) -> Result<OpenBlob> {
        check(key)?;
        match &self.fallback {
            Some(fallback) if !self.has_here(key).await? => fallback.open_here(key).await,
            _ => self.open_here(key).await,
        }
    }

    async fn open_here(&self, key: &FileKey) -> Result<OpenBlob> {
        match self.available_backend()? {
            Backend::Disk(disk) => {
                let (disk, key) = (disk.clone(), key.clone());
                let (size, file) = blocking(move || disk.read(&key)).await?;
                Ok(OpenBlob {
                    size,
                    bytes: BlobSource::File(file),
                })
            }
            Backend::S3(objects) => {
                let (size, object) = objects.read(key).await?;
                Ok(OpenBlob {
                    size,
                    bytes: BlobSource::S3(object),
                })
            }
            Backend::Memory(memory) => {
                let bytes = memory.get(key)?;
                Ok(OpenBlob {
                    size: bytes.len() as u64,
                    bytes: BlobSource::Bytes(bytes),
                })
            }
        }
    }

    /// Stores the bytes of one key under another key, with the durability of [`Self::commit`].
    pub async fn copy(&self, from: &FileKey, to: &FileKey) -> Result<()> {
        check(from)?;
        check(to)?;
        if let Some(fallback) = &self.fallback
            && !self.has_here(from).await?
        {
            return self.transfer(fallback, from, to, None).await;
        }
        match self.available_backend()? {
            Backend::Disk(disk) => {
                let (disk, from, to) = (disk.clone(), from.clone(), to.clone());
                blocking(move || disk.copy(&from, &to)).await
            }
            Backend::S3(objects) => objects.copy(from, to).await,
            Backend::Memory(memory) => {
                memory.insert(to, memory.get(from)?);
                Ok(())
            }
        }
    }

    /// Deletes a file; succeeds if it does not exist.
    pub async fn remove(&self, key: &FileKey) -> Result<()> {
        check(key)?;
        self.remove_here(key).await?;
        match &self.fallback {
            Some(fallback) => fallback.remove_here(key).await,
            None => Ok(()),
        }
    }

    async fn remove_here(&self, key: &FileKey) -> Result<()> {
        match self.available_backend()? {
            Backend::Disk(disk) => {
                let (disk, key) = (disk.clone(), key.clone());
                blocking(move || disk.remove(&key)).await
            }
            Backend::S3(objects) => objects.remove(key).await,
            Backend::Memory(memory) => {
                memory.remove(key);
                Ok(())
            }
        }
    }

    /// Returns the keys in one of the [`SHARDS`] whose files were stored before `before`.
    pub async fn list_older_than(&self, shard: u8, before: Timestamp) -> Result<Vec<FileKey>> {
        match self.available_backend()? {
            Backend::Disk(disk) => {
                let disk = disk.clone();
                blocking(move || disk.list_older_than(shard, before)).await
            }
            Backend::S3(objects) => objects.list_older_than(shard, before).await,
            Backend::Memory(_) => Ok(Vec::new()),
        }
    }

    /// Moves an orphaned file to the quarantine. It can be restored if its row was lost by mistake.
    pub async fn quarantine(&self, key: &FileKey) -> Result<()> {
        check(key)?;
        match self.available_backend()? {
            Backend::Disk(disk) => {
                let (disk, key) = (disk.clone(), key.clone());
                blocking(move || disk.quarantine(&key)).await
            }
            Backend::S3(objects) => objects.quarantine(key).await,
            Backend::Memory(_) => Ok(()),
        }
    }

    /// Removes uploads that were abandoned an hour ago or earlier.
    pub async fn remove_abandoned(&self) -> Result<()> {
        match &self.backend {
            Backend::Disk(disk) => {
                let disk = disk.clone();
                blocking(move || disk.remove_abandoned()).await
            }
            Backend::S3(objects) => objects.remove_abandoned().await,
            Backend::Memory(_) => Ok(()),
        }
    }

    /// Returns whether the storage is writable now.
    pub async fn is_writable(&self) -> bool {
        if self.is_suspended() {
            return false;
        }
        match &self.backend {
            Backend::Disk(disk) => {
                let disk = disk.clone();
                blocking(move || disk.probe()).await.is_ok()
            }
            Backend::S3(objects) => objects.is_writable().await,
            Backend::Memory(_) => true,
        }
    }
}

impl OpenBlob {
    /// Returns the size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Streams the file. The last chunk is withheld unless the whole has this SHA-256, so corruption is an error.
    pub async fn read_verified(self, sha256: &str) -> Result<impl Stream<Item = io::Result<Bytes>> + Send + 'static> {
        let size = self.size;
        Ok(checksum_reader::verify_checksum(
            self.read(0..size).await?,
            sha256.to_owned(),
        ))
    }

    /// Reads a range; bytes beyond the end are omitted.
    pub async fn read(self, range: Range<u64>) -> Result<BlobReader> {
        use tokio::io::{AsyncReadExt, AsyncSeekExt};
        let end = range.end.min(self.size);
        let start = range.start.min(end);
        match self.bytes {
            BlobSource::File(file) => {
                let mut file = tokio::fs::File::from_std(file);
                if start > 0 {
                    file.seek(io::SeekFrom::Start(start)).await.map_err(failed)?;
                }
                Ok(Box::pin(file.take(end - start)))
            }
            BlobSource::S3(object) => object.read(start..end).await,
            BlobSource::Bytes(bytes) => {
                let index = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                Ok(Box::pin(io::Cursor::new(bytes.slice(index(start)..index(end)))))
            }
        }
    }
}

/// Checks the format of a key. Keys are generated, never user input, so an invalid one is an internal error.
fn check(key: &FileKey) -> Result<()> {
    let text = key.as_str();
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'.';
    let fits = (1..=200).contains(&text.len()) && !text.starts_with('.') && text.bytes().all(plain);
    if fits {
        Ok(())
    } else {
        Err(Error::Internal(anyhow::anyhow!("no file key: {text:?}")))
    }
}

/// Runs blocking file operations.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| anyhow::anyhow!(error))?
}

/// A full disk makes the service unavailable (503); every other failure is an internal error.
fn failed(error: io::Error) -> Error {
    use io::ErrorKind;
    if matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) {
        tracing::error!(%error, "file storage full: no space left on device");
        return Error::NotReady;
    }
    Error::Internal(anyhow::Error::new(error).context("file storage"))
}

#[cfg(test)]
mod tests;
