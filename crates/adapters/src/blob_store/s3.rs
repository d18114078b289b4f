//! Storage in an object store with the S3 API. A file is staged in a local folder, checked there, and uploaded under
//! its final key on commit, which returns after the store has confirmed it. Memory holds at most one chunk per file,
//! and all requests have timeouts.

use std::fs;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path as FilePath, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use domain::file::FileKey;
use domain::time::Timestamp;
use futures_util::TryStreamExt;
use object_store::aws::AmazonS3;
use object_store::multipart::{MultipartStore, PartId};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode};
use sha2::{Digest, Sha256};
use tokio::io::AsyncReadExt as _;
use tokio::sync::Semaphore;
use tokio_util::io::StreamReader;

use self::connection::{READ_TIMEOUT, bucket_of, connect};
use super::disk::Disk;
use super::marker::{MARKER, MARKER_MAX};
use super::settings::ObjectStoreArgs;
use super::staged::{FileSource, ReadSeek, Staged, TempFile, hex};
use super::{BlobReader, blocking, failed, missing_bytes};
use common::clock;
use common::error::{Error, Result};

pub(super) mod archives;
mod connection;
pub(super) mod diagnosis;

/// Files up to this size are uploaded at once; larger ones in parts of this size, the minimum of S3.
const PART_BYTES: u64 = 5 << 20;
/// The maximum number of parts of an upload in S3.
const PARTS_MAX: u64 = 10_000;
/// The maximum number of concurrent uploads; each holds a chunk in memory.
const CONCURRENT_UPLOADS_MAX: usize = 16;
/// The timeout of one request, including retries.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// The timeout of the health check.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a successful health check is cached, because proxies poll often and stores charge for writes.
const PROBE_CACHE_TTL: Duration = Duration::from_secs(10);
/// The minimum age at which an upload counts as abandoned; another instance may be sending it.
const ABANDONED_AFTER: Duration = Duration::from_hours(1);

/// A bucket or a prefix in one: `files/00/` to `files/ff/` for stored files, `quarantine/` for orphaned ones.
#[derive(Clone)]
pub struct S3Store {
    store: AmazonS3,
    prefix: Path,
    staging: Disk,
    /// Records of unfinished multipart uploads, which cost money until they are aborted.
    uploads: PathBuf,
    upload_permits: Arc<Semaphore>,
    /// When the store was last found writable.
    probed: Arc<Mutex<Option<Instant>>>,
}

/// A stored file that has not been read yet.
pub(super) struct S3Object {
    store: AmazonS3,
    location: Path,
}

/// Returns whether a URL names a bucket.
pub(super) fn is_bucket_url(url: &str) -> bool {
    bucket_of(url).is_some()
}

impl S3Store {
    /// Parses `s3://bucket/prefix`; files are staged in `folder`. Does not connect: the service may start while its
    /// store is unavailable, and reports that it is not ready.
    pub(super) async fn open(url: &str, args: &ObjectStoreArgs, folder: PathBuf) -> Result<Self> {
        let (bucket, prefix) =
            bucket_of(url).ok_or_else(|| anyhow::anyhow!("FILES_URL must look like s3://bucket/prefix"))?;
        let store = connect(bucket, args, READ_TIMEOUT)?;
        let uploads = folder.join("uploads");
        let staging = blocking({
            let uploads = uploads.clone();
            move || {
                let disk = Disk::open(&folder)?;
                fs::create_dir_all(&uploads).map_err(failed)?;
                Ok(disk)
            }
        });
        let objects = Self {
            store,
            prefix,
            staging: staging.await?,
            uploads,
            upload_permits: Arc::new(Semaphore::new(CONCURRENT_UPLOADS_MAX)),
            probed: Arc::default(),
        };
        // If the store is unavailable now, the next sweep retries.
        let later = objects.clone();
        tokio::spawn(async move { later.abort_abandoned_uploads().await });
        Ok(objects)
    }

    /// Creates an empty local part, open for writing.
    pub(super) fn part(&self) -> Result<(fs::File, TempFile)> {
        self.staging.part()
    }

    /// Removes abandoned local parts and aborts abandoned uploads.
    pub(super) async fn remove_abandoned(&self) -> Result<()> {
        self.abort_abandoned_uploads().await;
        let staging = self.staging.clone();
        blocking(move || staging.remove_abandoned()).await
    }

    pub(super) async fn commit(&self, staged: Staged, key: &FileKey) -> Result<()> {
        let _permit = self.acquire_upload_permit().await?;
        let location = self.location(key);
        let (size, source) = (staged.size(), staged.source());
        if size > PART_BYTES {
            // Completing a multipart upload supports no precondition, so existence is checked first.
            return match self.find(&location).await? {
                Some(found) => self.check_same_content(&found, &staged).await,
                None => self.upload_multipart(&source, size, &location).await,
            };
        }
        let (_, bytes) = read_part(open(source).await?, size).await?;
        let sent = with_timeout(self.store.put_opts(&location, bytes.into(), PutMode::Create.into())).await?;
        match sent {
            Ok(_) => Ok(()),
            // The first attempt arrived but its response was lost, or the key existed before.
            Err(object_store::Error::AlreadyExists { .. }) => match self.find(&location).await? {
                Some(found) => self.check_same_content(&found, &staged).await,
                None => Err(Error::NotReady),
            },
            Err(error) => Err(unavailable(error)),
        }
    }

    /// Looks up a stored file.
    pub(super) async fn read(&self, key: &FileKey) -> Result<(u64, S3Object)> {
        let location = self.location(key);
        let found = self.find(&location).await?;
        let found = found.ok_or_else(|| missing_bytes(key))?;
        let object = S3Object {
            store: self.store.clone(),
            location,
        };
        Ok((found.size, object))
    }

    /// Copies within the store; the bytes do not pass through this process.
    pub(super) async fn copy(&self, from: &FileKey, to: &FileKey) -> Result<()> {
        let copied = with_timeout(self.store.copy(&self.location(from), &self.location(to))).await?;
        copied.map_err(|error| match error {
            object_store::Error::NotFound { .. } => missing_bytes(from),
            error => unavailable(error),
        })
    }

    pub(super) async fn remove(&self, key: &FileKey) -> Result<()> {
        self.delete(&self.location(key)).await
    }

    pub(super) async fn list_older_than(&self, shard: u8, before: Timestamp) -> Result<Vec<FileKey>> {
        let folder = self.prefix.clone().join("files").join(format!("{shard:02x}"));
        let mut listed = self.store.list(Some(&folder));
        let mut found = Vec::new();
        while let Some(object) = with_timeout(listed.try_next()).await?.map_err(unavailable)? {
            let name = object.location.filename().map(FileKey::new);
            found.extend(name.filter(|_| object.last_modified.timestamp_millis() < before.as_millis()));
        }
        Ok(found)
    }

    pub(super) async fn quarantine(&self, key: &FileKey) -> Result<()> {
        let location = self.location(key);
        let quarantine_location = self.prefix.clone().join("quarantine").join(key.as_str());
        match with_timeout(self.store.copy(&location, &quarantine_location)).await? {
            Ok(()) => self.delete(&location).await,
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(unavailable(error)),
        }
    }

    pub(super) async fn has(&self, key: &FileKey) -> Result<bool> {
        Ok(self.find(&self.location(key)).await?.is_some())
    }

    /// Returns whether no file is stored.
    pub(super) async fn is_empty(&self) -> Result<bool> {
        let (folder, marker) = (self.prefix.clone().join("files"), self.marker_location());
        let mut listed = self.store.list(Some(&folder));
        while let Some(object) = with_timeout(listed.try_next()).await?.map_err(unavailable)? {
            if object.location != marker {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the text of the marker, if it exists.
    pub(super) async fn marker(&self) -> Result<Option<String>> {
        let location = self.marker_location();
        let Some(found) = self.find(&location).await? else {
            return Ok(None);
        };
        let store = self.store.clone();
        let mut reader = S3Object { store, location }.read(0..found.size.min(MARKER_MAX)).await?;
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).await.map_err(read_failed)?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Writes the marker.
    pub(super) async fn write_marker(&self, text: String) -> Result<()> {
        let sent = with_timeout(self.store.put(&self.marker_location(), Bytes::from(text).into())).await?;
        sent.map(drop).map_err(unavailable)
    }

    fn marker_location(&self) -> Path {
        MARKER.split('/').fold(self.prefix.clone().join("files"), Path::join)
    }

    /// Returns the keys of all quarantined files.
    pub(super) async fn list_quarantined(&self) -> Result<Vec<FileKey>> {
        let mut listed = self.store.list(Some(&self.prefix.clone().join("quarantine")));
        let mut found = Vec::new();
        while let Some(object) = with_timeout(listed.try_next()).await?.map_err(unavailable)? {
            found.extend(object.location.filename().map(FileKey::new));
        }
        Ok(found)
    }

    /// Moves a file out of the quarantine. Returns false if a file with this key exists; it is never replaced.
    pub(super) async fn restore_from_quarantine(&self, key: &FileKey) -> Result<bool> {
        let location = self.location(key);
        if self.find(&location).await?.is_some() {
            return Ok(false);
        }
        let quarantine_location = self.prefix.clone().join("quarantine").join(key.as_str());
        with_timeout(self.store.copy(&quarantine_location, &location))
            .await?
            .map_err(unavailable)?;
        self.delete(&quarantine_location).await?;
        Ok(true)
    }

    /// Returns whether a byte can be written and removed, locally and in the store. The timeout is shorter than that
    /// of uploads.
    pub(super) async fn is_writable(&self) -> bool {
        let probed = || self.probed.lock().unwrap_or_else(PoisonError::into_inner);
        if probed().is_some_and(|at| at.elapsed() < PROBE_CACHE_TTL) {
            return true;
        }
        let outcome = tokio::time::timeout(PROBE_TIMEOUT, self.probe()).await;
        let is_writable = outcome.is_ok_and(|outcome| outcome.is_ok());
        *probed() = is_writable.then(Instant::now);
        is_writable
    }

    async fn probe(&self) -> Result<()> {
        let staging = self.staging.clone();
        blocking(move || staging.probe()).await?;
        let location = self.prefix.clone().join("probes").join(clock::new_id());
        let sent = with_timeout(self.store.put(&location, Bytes::from_static(b"?").into())).await?;
        sent.map_err(unavailable)?;
        self.delete(&location).await
    }

    /// Returns the path of a key. Ids begin with a timestamp, so the folder is a hash, as on disk; this allows
    /// listing each partition separately.
    fn location(&self, key: &FileKey) -> Path {
        let first = Sha256::digest(key.as_str().as_bytes())[0];
        let folder = self.prefix.clone().join("files").join(format!("{first:02x}"));
        folder.join(key.as_str())
    }

    async fn acquire_upload_permit(&self) -> Result<tokio::sync::SemaphorePermit<'_>> {
        let permit = tokio::time::timeout(REQUEST_TIMEOUT, self.upload_permits.acquire()).await;
        permit.map_err(|_| Error::NotReady)?.map_err(|_| Error::NotReady)
    }

    async fn find(&self, location: &Path) -> Result<Option<ObjectMeta>> {
        match with_timeout(self.store.head(location)).await? {
            Ok(found) => Ok(Some(found)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(unavailable(error)),
        }
    }

    /// Stored files are never overwritten: equal bytes are a retry, different bytes an internal error.
    async fn check_same_content(&self, found: &ObjectMeta, staged: &Staged) -> Result<()> {
        let object = S3Object {
            store: self.store.clone(),
            location: found.location.clone(),
        };
        let mut stored = object.read(0..found.size).await?;
        let (mut digest, mut buffer) = (Sha256::new(), vec![0; 256 * 1024]);
        loop {
            match stored.read(&mut buffer).await.map_err(read_failed)? {
                0 => break,
                count => digest.update(&buffer[..count]),
            }
        }
        if hex(&digest.finalize()) == staged.sha256() {
            return Ok(());
        }
        let location = &found.location;
        Err(Error::Internal(anyhow::anyhow!(
            "{location} is kept already with other bytes"
        )))
    }

    async fn upload_multipart(&self, source: &FileSource, size: u64, location: &Path) -> Result<()> {
        let id = with_timeout(self.store.create_multipart(location))
            .await?
            .map_err(unavailable)?;
        let record = self.write_upload_record(location, &id).await?;
        let sent = self.upload_parts(source, size, location, &id).await;
        if sent.is_ok() {
            remove_upload_record(record).await;
        } else {
            self.abort_upload(location, &id, record).await;
        }
        sent
    }

    async fn upload_parts(&self, source: &FileSource, size: u64, location: &Path, id: &String) -> Result<()> {
        let length = PART_BYTES.max(size.div_ceil(PARTS_MAX));
        let mut reading = open(source.clone()).await?;
        let mut parts: Vec<PartId> = Vec::new();
        let mut rest = size;
        while rest > 0 {
            let (read, bytes) = read_part(reading, rest.min(length)).await?;
            reading = read;
            rest -= bytes.len() as u64;
            let sent = with_timeout(self.store.put_part(location, id, parts.len(), bytes.into())).await?;
            parts.push(sent.map_err(unavailable)?);
        }
        let completed = with_timeout(self.store.complete_multipart(location, id, parts)).await?;
        completed.map_err(unavailable)?;
        match self.find(location).await? {
            Some(found) if found.size == size => Ok(()),
            _ => Err(Error::Internal(anyhow::anyhow!("{location} did not become whole"))),
        }
    }

    /// Records the start of an upload, so that a later process can abort it.
    async fn write_upload_record(&self, location: &Path, id: &str) -> Result<PathBuf> {
        let path = self.uploads.join(format!("{}.upload", clock::new_id()));
        let text = format!("{location}\n{id}");
        let written = path.clone();
        blocking(move || fs::write(written, text).map_err(failed)).await?;
        Ok(path)
    }

    async fn abort_upload(&self, location: &Path, id: &String, record: PathBuf) {
        match with_timeout(self.store.abort_multipart(location, id)).await {
            Ok(Ok(()) | Err(object_store::Error::NotFound { .. })) => remove_upload_record(record).await,
            Ok(Err(error)) => tracing::warn!(%error, %location, "aborting an abandoned upload failed"),
            Err(_) => tracing::warn!(%location, "aborting an abandoned upload failed"),
        }
    }

    /// Aborts uploads that a crash left unfinished.
    async fn abort_abandoned_uploads(&self) {
        let folder = self.uploads.clone();
        let found = blocking(move || abandoned(&folder).map_err(failed)).await;
        for (record, text) in found.unwrap_or_default() {
            match text.split_once('\n') {
                Some((location, id)) => self.abort_upload(&Path::from(location), &id.to_owned(), record).await,
                // Power failed while the record was written, before anything was uploaded.
                None => remove_upload_record(record).await,
            }
        }
    }

    async fn delete(&self, location: &Path) -> Result<()> {
        match with_timeout(self.store.delete(location)).await? {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(unavailable(error)),
        }
    }
}

impl S3Object {
    /// Reads a range in chunks, at the pace of the reader.
    pub(super) async fn read(&self, range: Range<u64>) -> Result<BlobReader> {
        if range.is_empty() {
            return Ok(Box::pin(tokio::io::empty()));
        }
        let options = GetOptions {
            range: Some(GetRange::Bounded(range)),
            ..GetOptions::default()
        };
        let found = with_timeout(self.store.get_opts(&self.location, options)).await?;
        let stream = found.map_err(unavailable)?.into_stream();
        Ok(Box::pin(StreamReader::new(stream.map_err(io::Error::other))))
    }
}

/// Waits for the store with a timeout.
async fn with_timeout<T>(request: impl Future<Output = T>) -> Result<T> {
    tokio::time::timeout(REQUEST_TIMEOUT, request).await.map_err(|_| {
        tracing::error!("object store request timeout");
        Error::NotReady
    })
}

/// An error of the store makes the service unavailable (503); a missing file is an internal error.
fn unavailable(error: object_store::Error) -> Error {
    match error {
        object_store::Error::NotFound { path, .. } => {
            Error::Internal(anyhow::anyhow!("the bytes at {path} are missing"))
        }
        error => {
            tracing::error!(%error, "object store request failed");
            Error::NotReady
        }
    }
}

fn read_failed(error: io::Error) -> Error {
    tracing::error!(%error, "object store request failed");
    Error::NotReady
}

async fn open(source: FileSource) -> Result<Box<dyn ReadSeek>> {
    blocking(move || source.open()).await
}

/// Reads exactly the next `length` bytes.
async fn read_part(mut reading: Box<dyn ReadSeek>, length: u64) -> Result<(Box<dyn ReadSeek>, Bytes)> {
    blocking(move || {
        let mut bytes = vec![0; usize::try_from(length).map_err(|error| anyhow::anyhow!(error))?];
        reading.read_exact(&mut bytes).map_err(failed)?;
        Ok((reading, bytes.into()))
    })
    .await
}

async fn remove_upload_record(record: PathBuf) {
    let removed = blocking(move || match fs::remove_file(&record) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
        _ => Ok(()),
    });
    if removed.await.is_err() {
        tracing::warn!("removing the record of an upload failed");
    }
}

/// Returns the records of abandoned uploads with their content.
fn abandoned(folder: &FilePath) -> io::Result<Vec<(PathBuf, String)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let age = entry.metadata()?.modified()?.elapsed().unwrap_or_default();
        if age > ABANDONED_AFTER {
            found.push((entry.path(), fs::read_to_string(entry.path())?));
        }
    }
    Ok(found)
}
