//! Writes a backup while the service runs: first the rows of a snapshot, then the files that they refer to. Files are
//! immutable, and while a backup holds its lease, files whose rows were deleted after the snapshot are not deleted.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use model::file::FileKey;
use tokio::io::AsyncReadExt as _;
use tokio::runtime::Handle;

use super::format::{
    Counted, FAULTS_MAX, FORMAT, FileLine, HEADER, Header, LIST, MANIFEST, Manifest, Part, TablePart, file_name, head,
    padding, rows_name, seal, to_line,
};
use super::{PIECE, Place, Progress, Tell};
use adapters::blob_store::BlobReader;
use common::clock;
use common::failpoint::hit;
use db::dump::Snapshot;
use db::platform::PlatformProof;
use db::{Database, Store};

/// The lease on files in seconds, and the interval of its renewal.
const HOLD: i64 = 600;
const SIGN: Duration = Duration::from_mins(1);
/// The number of rows between two checks of the time.
const ROWS: u64 = 10_000;

/// The result of a backup.
#[derive(Debug, Clone)]
pub struct Written {
    pub manifest: Manifest,
    /// The size of the archive in bytes.
    pub size: u64,
}

/// Writes a backup to a path that does not exist. Until it is complete, it has a temporary name in the same folder.
pub fn write(place: &Place, path: &Path, tell: Tell<'_>) -> anyhow::Result<Written> {
    if path.exists() {
        bail!("{} exists already", path.display());
    }
    let store = Store::open(&place.database, 1, 1)?;
    let mut hold = Hold::take(place, store)?;
    let part = beside(path, "part");
    let outcome = write_part(place, &part, &mut hold, tell);
    hold.release();
    let written = match outcome {
        Ok(written) => written,
        Err(error) => {
            drop(std::fs::remove_file(&part));
            return Err(error);
        }
    };
    hit("backup.before_rename");
    std::fs::rename(&part, path).with_context(|| path.display().to_string())?;
    File::open(folder(path))?.sync_all()?;
    Ok(written)
}

fn write_part(place: &Place, part: &Path, hold: &mut Hold, tell: Tell<'_>) -> anyhow::Result<Written> {
    // The archive contains password hashes and everything that students wrote.
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(part)
        .with_context(|| part.display().to_string())?;
    let mut archive = Writing {
        out: Counted::new(BufWriter::with_capacity(PIECE, file)),
        scratch: beside(part, "rows"),
        manifest: Manifest::default(),
    };
    let list = archive.rows(&place.database, hold, tell)?;
    archive.files(place, list, hold, tell)?;
    let Writing { mut out, manifest, .. } = archive;
    let text = serde_json::to_vec_pretty(&manifest)?;
    entry(&mut out, MANIFEST, text.len() as u64, &mut text.as_slice())?;
    let seal = seal(&out.digest())?;
    out.write_all(&seal)?;
    out.flush()?;
    out.inner.get_ref().sync_all()?;
    Ok(Written {
        manifest,
        size: out.size,
    })
}

type Out = Counted<BufWriter<File>>;

/// An archive that is being written.
struct Writing {
    out: Out,
    scratch: PathBuf,
    manifest: Manifest,
}

impl Writing {
    /// Writes all rows and the list of files that they refer to, from one snapshot.
    fn rows(&mut self, database: &Database, hold: &mut Hold, tell: Tell<'_>) -> anyhow::Result<File> {
        let taken_at = clock::now();
        let mut snapshot = Snapshot::take(database)?;
        let header = Header {
            format: FORMAT,
            release: env!("CARGO_PKG_VERSION").to_owned(),
            schema: snapshot.version(),
            database: snapshot.database().to_owned(),
            taken_at: taken_at.to_string(),
        };
        let text = serde_json::to_vec_pretty(&header)?;
        entry(&mut self.out, HEADER, text.len() as u64, &mut text.as_slice())?;
        let tables = snapshot.tables();
        for (index, table) in tables.iter().enumerate() {
            tell(Progress {
                what: format!("rows of {}", table.name),
                done: index as u64,
                of: Some(tables.len() as u64),
                bytes: self.out.size,
            });
            hit("backup.rows");
            let mut packing = Packing::new(&self.scratch)?;
            let mut line = Vec::new();
            snapshot.rows(table, |row| {
                line.clear();
                to_line(row, &mut line)?;
                packing.line(&line)?;
                if packing.lines % ROWS == 0 {
                    hold.sign()?;
                }
                Ok(())
            })?;
            let (rows, (_, part)) = packing.append(&mut self.out, &rows_name(&table.name))?;
            self.manifest.tables.push(TablePart {
                name: table.name.clone(),
                columns: table.columns.clone(),
                rows,
                part,
            });
            hold.sign()?;
        }
        let mut packing = Packing::new(&self.scratch)?;
        snapshot.files(false, |file| {
            let line = FileLine {
                key: file.key,
                size: file.size,
                sha256: file.sha256,
            };
            let mut text = serde_json::to_vec(&line)?;
            text.push(b'\n');
            packing.line(&text)
        })?;
        let (named, (list, part)) = packing.append(&mut self.out, LIST)?;
        self.manifest.files_named = named;
        self.manifest.list = part;
        Ok(list)
    }

    /// Writes the bytes of every file in the list.
    fn files(&mut self, place: &Place, list: File, hold: &mut Hold, tell: Tell<'_>) -> anyhow::Result<()> {
        let mut lines = super::read::Lines::new(list);
        let mut number = 0;
        while let Some(line) = lines.next_line()? {
            let line: FileLine = serde_json::from_slice(line)?;
            tell(Progress {
                what: "files".to_owned(),
                done: number,
                of: Some(self.manifest.files_named),
                bytes: self.manifest.bytes,
            });
            hit("backup.files");
            self.file(place, &line, number)?;
            number += 1;
            hold.sign()?;
        }
        Ok(())
    }

    fn file(&mut self, place: &Place, line: &FileLine, number: u64) -> anyhow::Result<()> {
        let key = FileKey::new(&line.key);
        let runtime = &place.runtime;
        let opened = runtime.block_on(async {
            let opened = place.files.open(&key).await?;
            let size = opened.size();
            Ok::<_, common::error::Error>((size, opened.read(0..size).await?))
        });
        let (size, reader) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                tracing::error!(error = format!("{error:?}"), file.key = %key, "file missing: not in the backup");
                return note(&mut self.manifest.missing, &line.key);
            }
        };
        let bytes = BufReader::with_capacity(PIECE, Kept::new(runtime.clone(), reader));
        let mut counted = Counted::new(bytes.take(size));
        entry(&mut self.out, &file_name(number), size, &mut counted).with_context(|| line.key.clone())?;
        self.manifest.files += 1;
        self.manifest.bytes += size;
        let is_other = line.sha256.as_ref().is_some_and(|sha256| *sha256 != counted.sha256());
        if is_other {
            tracing::error!(file.key = %key, "file damaged: checksum mismatch, backed up unchanged");
            note(&mut self.manifest.damaged, &line.key)?;
        }
        Ok(())
    }
}

/// Appends one entry of exactly this size.
fn entry(out: &mut Out, name: &str, size: u64, bytes: &mut dyn Read) -> anyhow::Result<()> {
    out.write_all(head(name, size)?.as_bytes())?;
    let copied = io::copy(&mut bytes.take(size), out)?;
    if copied != size {
        bail!("{name} ended after {copied} of {size} bytes");
    }
    out.write_all(padding(size))?;
    Ok(())
}

fn note(faults: &mut Vec<String>, key: &str) -> anyhow::Result<()> {
    if faults.len() == FAULTS_MAX {
        bail!(
            "more than {FAULTS_MAX} files are missing or damaged: is this the right storage? `groupwork scrub` names them"
        );
    }
    faults.push(key.to_owned());
    Ok(())
}

/// Compresses lines into a temporary file, because a tar header contains the size of the entry.
struct Packing {
    out: GzEncoder<BufWriter<File>>,
    lines: u64,
    unpacked: u64,
}

impl Packing {
    fn new(path: &Path) -> anyhow::Result<Self> {
        let mut options = OpenOptions::new();
        let file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(path)?;
        // Unlinked immediately, so that a crash leaves no file.
        std::fs::remove_file(path)?;
        Ok(Self {
            out: GzEncoder::new(BufWriter::with_capacity(PIECE, file), Compression::default()),
            lines: 0,
            unpacked: 0,
        })
    }

    fn line(&mut self, line: &[u8]) -> common::error::Result<()> {
        self.out.write_all(line)?;
        self.lines += 1;
        self.unpacked += line.len() as u64;
        Ok(())
    }

    /// Appends the compressed lines to the archive. Returns their number, and the file to read them again.
    fn append(self, out: &mut Out, name: &str) -> anyhow::Result<(u64, (File, Part))> {
        let mut file = self
            .out
            .finish()?
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        let size = file.stream_position()?;
        file.rewind()?;
        let mut counted = Counted::new(BufReader::with_capacity(PIECE, &file));
        entry(out, name, size, &mut counted)?;
        let part = Part {
            size,
            unpacked: self.unpacked,
            sha256: counted.sha256(),
        };
        file.rewind()?;
        Ok((self.lines, (file, part)))
    }
}

/// Reads a stored file on the thread of a command.
pub(super) struct Kept {
    runtime: Handle,
    reader: BlobReader,
}

impl Kept {
    pub(super) fn new(runtime: Handle, reader: BlobReader) -> Self {
        Self { runtime, reader }
    }
}

impl Read for Kept {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.runtime.block_on(self.reader.read(buffer))
    }
}

/// A lease in the database that prevents the deletion of files during a backup.
struct Hold {
    store: Store,
    runtime: Handle,
    name: String,
    signed: Instant,
}

impl Hold {
    fn take(place: &Place, store: Store) -> anyhow::Result<Self> {
        let hold = Self {
            store,
            runtime: place.runtime.clone(),
            name: format!("backup-{}", clock::new_id()),
            signed: Instant::now(),
        };
        hold.write()?;
        Ok(hold)
    }

    fn write(&self) -> common::error::Result<()> {
        let (name, until) = (self.name.clone(), clock::now().plus_seconds(HOLD));
        let written = self
            .store
            .platform_write(PlatformProof::command_line(), move |platform| {
                platform.hold_files(&name, until)
            });
        self.runtime.block_on(written)
    }

    /// Renews the lease if it is old.
    fn sign(&mut self) -> common::error::Result<()> {
        if self.signed.elapsed() > SIGN {
            self.write()?;
            self.signed = Instant::now();
        }
        Ok(())
    }

    fn release(&self) {
        let (name, now) = (self.name.clone(), clock::now());
        let written = self
            .store
            .platform_write(PlatformProof::command_line(), move |platform| {
                platform.release_files(&name, now)
            });
        // The lease expires anyway.
        if let Err(error) = self.runtime.block_on(written) {
            tracing::warn!(%error, "backup lease not released: file deletion resumes when it expires");
        }
    }
}

/// Appends an extension to a path.
fn beside(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    PathBuf::from(name)
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
