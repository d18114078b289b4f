//! Files in an object store that speaks S3. A file is staged in a folder of this machine, looked at there, and sent under
//! its final key when it is committed: whoever was told that it is kept has the word of the store. Nothing here holds more
//! of a file in memory than one piece, and nothing waits for the store without an end.

use std::fs;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path as FilePath, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::TryStreamExt;
use model::file::FileKey;
use model::time::Timestamp;
use object_store::aws::AmazonS3;
use object_store::multipart::{MultipartStore, PartId};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode};
use sha2::{Digest, Sha256};
use tokio::io::AsyncReadExt as _;
use tokio::sync::Semaphore;
use tokio_util::io::StreamReader;

use self::connection::{bucket_of, connect};
use super::disk::Disk;
use super::marker::{MARKER, MARKER_MAX};
use super::settings::ObjectStoreArgs;
use super::staged::{ReadSeek, Source, Staged, Temporary, hex};
use super::{Reader, blocking, failed};
use common::clock;
use common::error::{Error, Result};

mod connection;

/// Bytes that are sent at once; larger files go in parts of this size, which is the least that S3 takes.
const PIECE: u64 = 5 << 20;
/// The most parts a file may have in S3.
const PARTS_MAX: u64 = 10_000;
/// Files that are sent at the same time: each holds a piece in memory.
const SENDING_MAX: usize = 16;
/// How long one request with its repetitions may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long the health may ask the store.
const PROBE: Duration = Duration::from_secs(5);
/// How long it believes that the store can be written: proxies ask all the time, and a store takes money for each write.
const BELIEVED: Duration = Duration::from_secs(10);
/// How old the note of an upload must be before it counts as abandoned; another instance may be sending it.
const ABANDONED: Duration = Duration::from_hours(1);

/// A bucket, or a part of one: `files/00/` to `files/ff/` for what is kept, `quarantine/` for what nobody names.
#[derive(Clone)]
pub struct Objects {
    store: AmazonS3,
    prefix: Path,
    staging: Disk,
    /// Notes of uploads in parts that were begun: one that was never ended costs money until it is given up.
    uploads: PathBuf,
    turns: Arc<Semaphore>,
    /// When the store was last found writable.
    probed: Arc<Mutex<Option<Instant>>>,
}

/// A kept file, not read yet.
pub(super) struct Object {
    store: AmazonS3,
    place: Path,
}

impl Objects {
    /// Reads `s3://bucket/prefix`; files are staged in `folder`. The store itself is not asked: a service may start while
    /// its store is away, and says that it is not ready.
    pub(super) async fn open(url: &str, args: &ObjectStoreArgs, folder: PathBuf) -> Result<Self> {
        let (bucket, prefix) =
            bucket_of(url).ok_or_else(|| anyhow::anyhow!("FILES_URL must look like s3://bucket/prefix"))?;
        let store = connect(bucket, args)?;
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
            turns: Arc::new(Semaphore::new(SENDING_MAX)),
            probed: Arc::default(),
        };
        // A store that is away now is asked again with the next sweep.
        let later = objects.clone();
        tokio::spawn(async move { later.give_up_abandoned().await });
        Ok(objects)
    }

    /// An empty part on this machine, open for writing.
    pub(super) fn part(&self) -> Result<(fs::File, Temporary)> {
        self.staging.part()
    }

    /// Removes parts on this machine that nobody writes any more, and gives up uploads that nobody sends any more.
    pub(super) async fn clear_away(&self) -> Result<()> {
        self.give_up_abandoned().await;
        let staging = self.staging.clone();
        blocking(move || staging.clear_away()).await
    }

    pub(super) async fn commit(&self, staged: Staged, key: &FileKey) -> Result<()> {
        let _turn = self.turn().await?;
        let place = self.place(key);
        let (size, source) = (staged.size(), staged.source());
        if size > PIECE {
            // The last step of an upload in parts knows no condition, so it is asked before.
            return match self.find(&place).await? {
                Some(found) => self.must_be_same(&found, &staged).await,
                None => self.send_in_parts(&source, size, &place).await,
            };
        }
        let (_, bytes) = piece(open(source).await?, size).await?;
        let sent = bounded(self.store.put_opts(&place, bytes.into(), PutMode::Create.into())).await?;
        match sent {
            Ok(_) => Ok(()),
            // The first attempt arrived and its answer did not, or somebody had this key before.
            Err(object_store::Error::AlreadyExists { .. }) => match self.find(&place).await? {
                Some(found) => self.must_be_same(&found, &staged).await,
                None => Err(Error::NotReady),
            },
            Err(error) => Err(unavailable(error)),
        }
    }

    /// Looks a kept file up.
    pub(super) async fn read(&self, key: &FileKey) -> Result<(u64, Object)> {
        let place = self.place(key);
        let found = self.find(&place).await?;
        let found = found.ok_or_else(|| anyhow::anyhow!("the bytes of {key} are missing"))?;
        let object = Object {
            store: self.store.clone(),
            place,
        };
        Ok((found.size, object))
    }

    /// Copies within the store: the bytes do not pass through this process.
    pub(super) async fn copy(&self, from: &FileKey, to: &FileKey) -> Result<()> {
        let copied = bounded(self.store.copy(&self.place(from), &self.place(to))).await?;
        copied.map_err(unavailable)
    }

    pub(super) async fn remove(&self, key: &FileKey) -> Result<()> {
        self.delete(&self.place(key)).await
    }

    pub(super) async fn aged(&self, part: u8, before: Timestamp) -> Result<Vec<FileKey>> {
        let folder = self.prefix.clone().join("files").join(format!("{part:02x}"));
        let mut listed = self.store.list(Some(&folder));
        let mut found = Vec::new();
        while let Some(object) = bounded(listed.try_next()).await?.map_err(unavailable)? {
            let name = object.location.filename().map(FileKey::new);
            found.extend(name.filter(|_| object.last_modified.timestamp_millis() < before.as_millis()));
        }
        Ok(found)
    }

    pub(super) async fn quarantine(&self, key: &FileKey) -> Result<()> {
        let place = self.place(key);
        let aside = self.prefix.clone().join("quarantine").join(key.as_str());
        match bounded(self.store.copy(&place, &aside)).await? {
            Ok(()) => self.delete(&place).await,
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(unavailable(error)),
        }
    }

    pub(super) async fn has(&self, key: &FileKey) -> Result<bool> {
        Ok(self.find(&self.place(key)).await?.is_some())
    }

    /// Whether nothing is kept.
    pub(super) async fn is_empty(&self) -> Result<bool> {
        let (folder, marker) = (self.prefix.clone().join("files"), self.marker_place());
        let mut listed = self.store.list(Some(&folder));
        while let Some(object) = bounded(listed.try_next()).await?.map_err(unavailable)? {
            if object.location != marker {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The text of the marker, if there is one.
    pub(super) async fn marker(&self) -> Result<Option<String>> {
        let place = self.marker_place();
        let Some(found) = self.find(&place).await? else {
            return Ok(None);
        };
        let store = self.store.clone();
        let mut reader = Object { store, place }.read(0..found.size.min(MARKER_MAX)).await?;
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).await.map_err(cut_off)?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Writes the marker.
    pub(super) async fn write_marker(&self, text: String) -> Result<()> {
        let sent = bounded(self.store.put(&self.marker_place(), Bytes::from(text).into())).await?;
        sent.map(drop).map_err(unavailable)
    }

    fn marker_place(&self) -> Path {
        MARKER.split('/').fold(self.prefix.clone().join("files"), Path::join)
    }

    /// The keys of everything in the quarantine.
    pub(super) async fn quarantined(&self) -> Result<Vec<FileKey>> {
        let mut listed = self.store.list(Some(&self.prefix.clone().join("quarantine")));
        let mut found = Vec::new();
        while let Some(object) = bounded(listed.try_next()).await?.map_err(unavailable)? {
            found.extend(object.location.filename().map(FileKey::new));
        }
        Ok(found)
    }

    /// Takes a file back out of the quarantine. False where a file of this key is kept: it is never replaced.
    pub(super) async fn take_from_quarantine(&self, key: &FileKey) -> Result<bool> {
        let place = self.place(key);
        if self.find(&place).await?.is_some() {
            return Ok(false);
        }
        let aside = self.prefix.clone().join("quarantine").join(key.as_str());
        bounded(self.store.copy(&aside, &place)).await?.map_err(unavailable)?;
        self.delete(&aside).await?;
        Ok(true)
    }

    /// Whether a byte can be written and removed, here and there. Whoever asks for the health does not wait as long as
    /// somebody who brings a file.
    pub(super) async fn is_writable(&self) -> bool {
        let probed = || self.probed.lock().unwrap_or_else(PoisonError::into_inner);
        if probed().is_some_and(|at| at.elapsed() < BELIEVED) {
            return true;
        }
        let outcome = tokio::time::timeout(PROBE, self.probe()).await;
        let is_writable = outcome.is_ok_and(|outcome| outcome.is_ok());
        *probed() = is_writable.then(Instant::now);
        is_writable
    }

    async fn probe(&self) -> Result<()> {
        let staging = self.staging.clone();
        blocking(move || staging.probe()).await?;
        let place = self.prefix.clone().join("probes").join(clock::new_id());
        let sent = bounded(self.store.put(&place, Bytes::from_static(b"?").into())).await?;
        sent.map_err(unavailable)?;
        self.delete(&place).await
    }

    /// Where a key's bytes are. Ids begin with the time, so the folder is drawn from a hash, as on a disk: a part of the
    /// storage can be listed by itself.
    fn place(&self, key: &FileKey) -> Path {
        let first = Sha256::digest(key.as_str().as_bytes())[0];
        let folder = self.prefix.clone().join("files").join(format!("{first:02x}"));
        folder.join(key.as_str())
    }

    async fn turn(&self) -> Result<tokio::sync::SemaphorePermit<'_>> {
        let turn = tokio::time::timeout(PATIENCE, self.turns.acquire()).await;
        turn.map_err(|_| Error::NotReady)?.map_err(|_| Error::NotReady)
    }

    async fn find(&self, place: &Path) -> Result<Option<ObjectMeta>> {
        match bounded(self.store.head(place)).await? {
            Ok(found) => Ok(Some(found)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(unavailable(error)),
        }
    }

    /// What is kept is never written over: the same bytes are kept already, others are a fault of ours.
    async fn must_be_same(&self, found: &ObjectMeta, staged: &Staged) -> Result<()> {
        let object = Object {
            store: self.store.clone(),
            place: found.location.clone(),
        };
        let mut kept = object.read(0..found.size).await?;
        let (mut digest, mut buffer) = (Sha256::new(), vec![0; 256 * 1024]);
        loop {
            match kept.read(&mut buffer).await.map_err(cut_off)? {
                0 => break,
                count => digest.update(&buffer[..count]),
            }
        }
        if hex(&digest.finalize()) == staged.sha256() {
            return Ok(());
        }
        let place = &found.location;
        Err(Error::Internal(anyhow::anyhow!(
            "{place} is kept already with other bytes"
        )))
    }

    async fn send_in_parts(&self, source: &Source, size: u64, place: &Path) -> Result<()> {
        let id = bounded(self.store.create_multipart(place))
            .await?
            .map_err(unavailable)?;
        let note = self.note(place, &id).await?;
        let sent = self.send_parts(source, size, place, &id).await;
        if sent.is_ok() {
            forget(note).await;
        } else {
            self.give_up(place, &id, note).await;
        }
        sent
    }

    async fn send_parts(&self, source: &Source, size: u64, place: &Path, id: &String) -> Result<()> {
        let length = PIECE.max(size.div_ceil(PARTS_MAX));
        let mut reading = open(source.clone()).await?;
        let mut parts: Vec<PartId> = Vec::new();
        let mut rest = size;
        while rest > 0 {
            let (read, bytes) = piece(reading, rest.min(length)).await?;
            reading = read;
            rest -= bytes.len() as u64;
            let sent = bounded(self.store.put_part(place, id, parts.len(), bytes.into())).await?;
            parts.push(sent.map_err(unavailable)?);
        }
        let completed = bounded(self.store.complete_multipart(place, id, parts)).await?;
        completed.map_err(unavailable)?;
        match self.find(place).await? {
            Some(found) if found.size == size => Ok(()),
            _ => Err(Error::Internal(anyhow::anyhow!("{place} did not become whole"))),
        }
    }

    /// Remembers an upload that began, so that whoever starts next can end it.
    async fn note(&self, place: &Path, id: &str) -> Result<PathBuf> {
        let path = self.uploads.join(format!("{}.upload", clock::new_id()));
        let text = format!("{place}\n{id}");
        let written = path.clone();
        blocking(move || fs::write(written, text).map_err(failed)).await?;
        Ok(path)
    }

    async fn give_up(&self, place: &Path, id: &String, note: PathBuf) {
        match bounded(self.store.abort_multipart(place, id)).await {
            Ok(Ok(()) | Err(object_store::Error::NotFound { .. })) => forget(note).await,
            Ok(Err(error)) => tracing::warn!(%error, %place, "an upload waits to be given up"),
            Err(_) => tracing::warn!(%place, "an upload waits to be given up"),
        }
    }

    /// Gives up what a crash left half sent.
    async fn give_up_abandoned(&self) {
        let folder = self.uploads.clone();
        let found = blocking(move || abandoned(&folder).map_err(failed)).await;
        for (note, text) in found.unwrap_or_default() {
            match text.split_once('\n') {
                Some((place, id)) => self.give_up(&Path::from(place), &id.to_owned(), note).await,
                // It was written when the power went, before anything was sent.
                None => forget(note).await,
            }
        }
    }

    async fn delete(&self, place: &Path) -> Result<()> {
        match bounded(self.store.delete(place)).await? {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(unavailable(error)),
        }
    }
}

impl Object {
    /// Reads a part of it, piece by piece as the reader takes it.
    pub(super) async fn read(&self, range: Range<u64>) -> Result<Reader> {
        if range.is_empty() {
            return Ok(Box::pin(tokio::io::empty()));
        }
        let options = GetOptions {
            range: Some(GetRange::Bounded(range)),
            ..GetOptions::default()
        };
        let found = bounded(self.store.get_opts(&self.place, options)).await?;
        let stream = found.map_err(unavailable)?.into_stream();
        Ok(Box::pin(StreamReader::new(stream.map_err(io::Error::other))))
    }
}

/// Waits for the store, but not for ever.
async fn bounded<T>(asked: impl Future<Output = T>) -> Result<T> {
    tokio::time::timeout(PATIENCE, asked).await.map_err(|_| {
        tracing::error!("the object store did not answer in time");
        Error::NotReady
    })
}

/// Whatever the store says, the service needs it and does not have it; only a file that is missing is our fault.
fn unavailable(error: object_store::Error) -> Error {
    match error {
        object_store::Error::NotFound { path, .. } => {
            Error::Internal(anyhow::anyhow!("the bytes at {path} are missing"))
        }
        error => {
            tracing::error!(%error, "the object store failed");
            Error::NotReady
        }
    }
}

fn cut_off(error: io::Error) -> Error {
    tracing::error!(%error, "the object store failed");
    Error::NotReady
}

async fn open(source: Source) -> Result<Box<dyn ReadSeek>> {
    blocking(move || source.open()).await
}

/// The next bytes, exactly as many.
async fn piece(mut reading: Box<dyn ReadSeek>, length: u64) -> Result<(Box<dyn ReadSeek>, Bytes)> {
    blocking(move || {
        let mut bytes = vec![0; usize::try_from(length).map_err(|error| anyhow::anyhow!(error))?];
        reading.read_exact(&mut bytes).map_err(failed)?;
        Ok((reading, bytes.into()))
    })
    .await
}

async fn forget(note: PathBuf) {
    let removed = blocking(move || match fs::remove_file(&note) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
        _ => Ok(()),
    });
    if removed.await.is_err() {
        tracing::warn!("the note of an upload stays");
    }
}

/// Notes that nobody works on any more, with what they say.
fn abandoned(folder: &FilePath) -> io::Result<Vec<(PathBuf, String)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let age = entry.metadata()?.modified()?.elapsed().unwrap_or_default();
        if age > ABANDONED {
            found.push((entry.path(), fs::read_to_string(entry.path())?));
        }
    }
    Ok(found)
}
