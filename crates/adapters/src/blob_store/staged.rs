//! Uploads: written in chunks, counted and hashed, and deleted unless they are committed.

use std::any::Any;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, Write};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::{blocking, failed};
use common::error::{Error, Result};

/// Bytes that are buffered before they are written on a blocking thread.
const CHUNK_BYTES: usize = 256 * 1024;
/// The number of leading bytes that are kept in memory.
const HEAD: usize = 4096;

/// The path of a temporary file, deleted on drop.
#[derive(Debug)]
pub(super) struct TempFile(PathBuf);

impl TempFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        // After a commit, nothing is left at this path.
        if let Err(error) = std::fs::remove_file(&self.0)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, path = %self.0.display(), "removing a temporary file failed");
        }
    }
}

/// An upload in progress.
pub struct Staging {
    writing: Option<Box<OpenTarget>>,
    buffered: Vec<u8>,
    head: Vec<u8>,
    size: u64,
    limit: u64,
}

struct OpenTarget {
    target: PartTarget,
    digest: Sha256,
}

/// Creates an empty part, open for writing.
type OpenPart = Box<dyn FnOnce() -> Result<(File, TempFile)> + Send>;

enum PartTarget {
    /// A part that is created with its first bytes, so that a small file needs one blocking call.
    Part(OpenPart),
    File(File, TempFile),
    Memory(Vec<u8>),
}

impl PartTarget {
    fn write(self, bytes: &[u8]) -> Result<Self> {
        match self {
            Self::Part(make) => {
                let (file, temp_file) = make()?;
                Self::File(file, temp_file).write(bytes)
            }
            Self::File(mut file, temp_file) => {
                file.write_all(bytes).map_err(failed)?;
                Ok(Self::File(file, temp_file))
            }
            Self::Memory(mut buffered) => {
                buffered.extend_from_slice(bytes);
                Ok(Self::Memory(buffered))
            }
        }
    }
}

impl Staging {
    pub(super) fn on_disk(make: impl FnOnce() -> Result<(File, TempFile)> + Send + 'static, limit: u64) -> Self {
        Self::new(PartTarget::Part(Box::new(make)), limit)
    }

    pub(super) fn in_memory(limit: u64) -> Self {
        Self::new(PartTarget::Memory(Vec::new()), limit)
    }

    fn new(target: PartTarget, limit: u64) -> Self {
        let writing = Some(Box::new(OpenTarget {
            target,
            digest: Sha256::new(),
        }));
        Self {
            writing,
            buffered: Vec::new(),
            head: Vec::new(),
            size: 0,
            limit,
        }
    }

    /// Appends bytes. Fails with [`Error::TooLarge`] beyond the limit.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.size += bytes.len() as u64;
        if self.size > self.limit {
            return Err(Error::TooLarge {
                limit_bytes: self.limit,
            });
        }
        let missing = HEAD.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..missing]);
        self.buffered.extend_from_slice(bytes);
        if self.buffered.len() >= CHUNK_BYTES {
            self.buffered = self.flush().await?;
            self.buffered.clear();
        }
        Ok(())
    }

    /// Completes the upload.
    pub async fn finish(mut self) -> Result<Staged> {
        let is_small = self.size == self.buffered.len() as u64;
        let buffered = self.flush().await?;
        let OpenTarget { target, digest } = *self.writing.take().ok_or_else(interrupted)?;
        let content = match target {
            PartTarget::File(file, temp_file) => StagedContent::File {
                file,
                temp_file,
                small: is_small.then(|| buffered.into()),
            },
            PartTarget::Memory(bytes) => StagedContent::Bytes(bytes.into()),
            PartTarget::Part(_) => return Err(interrupted()),
        };
        Ok(Staged {
            size: self.size,
            sha256: hex(&digest.finalize()),
            head: self.head,
            content,
            held: None,
        })
    }

    /// Writes the buffered bytes and returns them.
    async fn flush(&mut self) -> Result<Vec<u8>> {
        let OpenTarget { target, mut digest } = *self.writing.take().ok_or_else(interrupted)?;
        let buffered = std::mem::take(&mut self.buffered);
        let (target, digest, buffered) = blocking(move || {
            digest.update(&buffered);
            Ok((target.write(&buffered)?, digest, buffered))
        })
        .await?;
        self.writing = Some(Box::new(OpenTarget { target, digest }));
        Ok(buffered)
    }
}

fn interrupted() -> Error {
    Error::Internal(anyhow::anyhow!("a piece of this file failed to be written"))
}

/// A complete file that is not stored yet; deleted on drop.
#[derive(Debug)]
pub struct Staged {
    size: u64,
    sha256: String,
    head: Vec<u8>,
    content: StagedContent,
    held: Option<Box<dyn Any + Send + Sync>>,
}

#[derive(Debug)]
enum StagedContent {
    File {
        file: File,
        temp_file: TempFile,
        /// All bytes, if they fit into the buffer.
        small: Option<Bytes>,
    },
    Bytes(Bytes),
}

impl Staged {
    /// Keeps a value alive until this file is stored or dropped.
    pub fn hold(&mut self, value: impl Any + Send + Sync) {
        self.held = Some(Box::new(value));
    }

    /// Takes the value of [`Self::hold`], for the file that replaces this one.
    pub fn take_held(&mut self) -> Option<Box<dyn Any + Send + Sync>> {
        self.held.take()
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the hexadecimal SHA-256.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Returns the first `count` bytes, at most 4096.
    pub fn peek(&self, count: usize) -> &[u8] {
        &self.head[..count.min(self.head.len())]
    }

    /// Returns a source that can be read again while this value lives.
    pub fn source(&self) -> FileSource {
        match &self.content {
            StagedContent::File { temp_file, small, .. } => match small {
                Some(bytes) => FileSource::Buffered(temp_file.path().to_owned(), bytes.clone()),
                None => FileSource::File(temp_file.path().to_owned()),
            },
            StagedContent::Bytes(bytes) => FileSource::Bytes(bytes.clone()),
        }
    }

    pub(super) fn into_file(self) -> Result<(File, TempFile)> {
        match self.content {
            StagedContent::File { file, temp_file, .. } => Ok((file, temp_file)),
            StagedContent::Bytes(_) => Err(wrong_backend()),
        }
    }

    pub(super) fn into_bytes(self) -> Result<Bytes> {
        match self.content {
            StagedContent::Bytes(bytes) => Ok(bytes),
            StagedContent::File { .. } => Err(wrong_backend()),
        }
    }
}

fn wrong_backend() -> Error {
    Error::Internal(anyhow::anyhow!("this file was staged for another storage"))
}

/// A source of staged bytes, to be read on a blocking thread.
#[derive(Debug, Clone)]
pub enum FileSource {
    File(PathBuf),
    /// A small file and its bytes, which need not be read from disk.
    Buffered(PathBuf, Bytes),
    Bytes(Bytes),
}

/// Bytes that can be read from any position.
pub trait ReadSeek: Read + Seek + Send {}
impl<T: Read + Seek + Send> ReadSeek for T {}

impl FileSource {
    /// Opens the source.
    pub fn open(&self) -> Result<Box<dyn ReadSeek>> {
        match self {
            Self::File(path) => Ok(Box::new(File::open(path).map_err(failed)?)),
            Self::Buffered(_, bytes) | Self::Bytes(bytes) => Ok(Box::new(Cursor::new(bytes.clone()))),
        }
    }
}

/// Formats bytes as lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}
