//! Writes a backup while the service runs: first the rows of a snapshot, then the files that they refer to. Files are
//! immutable, and while a backup holds its lease, files whose rows were deleted after the snapshot are not deleted.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek as _, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use domain::file::FileKey;
use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::io::AsyncReadExt as _;
use tokio::runtime::Handle;

use super::encryption::Recipients;
use super::format::{
    ArchiveHeader, ArchivePart, ArchivedFiles, FAULTS_MAX, FILE_LIST, FORMAT, FileEntry, HEADER, HashingStream,
    MANIFEST, Manifest, TablePart, checksum_entry, file_name, padding, rows_name, tar_header, write_row,
};
use super::{CHUNK_BYTES, Installation, Progress, ProgressCallback};
use adapters::blob_store::BlobReader;
use common::clock;
use common::failpoint::hit;
use db::dump::{FileReference, Snapshot};
use db::platform::CrossTenantReason;
use db::{Database, Store};

/// The lease on files in seconds, and the interval of its renewal.
const LEASE_SECONDS: i64 = 600;
const RENEWAL_INTERVAL: Duration = Duration::from_mins(1);
/// The number of rows between two checks of the time.
const RENEWAL_ROWS: u64 = 10_000;

/// The result of a backup.
#[derive(Debug, Clone)]
pub struct BackupSummary {
    pub manifest: Manifest,
    /// The size of the archive in bytes.
    pub size: u64,
}

/// Where the bytes of an archive go.
pub trait ArchiveOutput: Write {
    /// Called after the last byte: makes the archive durable, under its name. Otherwise there is no archive.
    fn complete(&mut self) -> anyhow::Result<()>;
}

/// How an archive is written.
pub struct WriteOptions<'a> {
    /// Who can read the archive; `None` leaves it unencrypted.
    pub recipients: Option<&'a Recipients>,
    /// A folder for compressed rows, which are not encrypted there. No other process can open their files.
    pub scratch: &'a Path,
    /// Leaves out the bytes of files: a bucket with versions keeps them.
    pub is_without_files: bool,
}

/// Writes a backup. An output that fails may contain an incomplete archive.
pub fn write(
    installation: &Installation,
    output: &mut dyn ArchiveOutput,
    options: &WriteOptions<'_>,
    report_progress: ProgressCallback<'_>,
) -> anyhow::Result<BackupSummary> {
    let store = Store::open(&installation.database, 1, 1)?;
    let mut lease = DeletionLease::acquire(installation, store)?;
    let outcome = with_output(output, options.recipients, |output| {
        write_archive(installation, output, options, &mut lease, report_progress)
    });
    lease.end(outcome)
}

/// Calls `write` with an output that encrypts, if there are recipients, and completes the archive.
pub(super) fn with_output<T>(
    output: &mut dyn ArchiveOutput,
    recipients: Option<&Recipients>,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let written = match recipients {
        None => write(&mut *output)?,
        Some(recipients) => {
            let mut encrypted = recipients.encrypt(&mut *output)?;
            let written = write(&mut encrypted)?;
            encrypted.finish()?;
            written
        }
    };
    output.complete()?;
    Ok(written)
}

fn write_archive(
    installation: &Installation,
    output: &mut dyn Write,
    options: &WriteOptions<'_>,
    lease: &mut DeletionLease,
    report_progress: ProgressCallback<'_>,
) -> anyhow::Result<BackupSummary> {
    let mut archive = ArchiveWriter {
        out: HashingStream::new(BufWriter::with_capacity(CHUNK_BYTES, output)),
        scratch: options.scratch.join(format!("{}.rows", lease.name)),
        manifest: Manifest {
            without_files: options.is_without_files,
            ..Manifest::default()
        },
    };
    let list = archive.rows(&installation.database, lease, report_progress)?;
    if !options.is_without_files {
        let (out, archived) = (&mut archive.out, &mut archive.manifest.archived);
        write_files(out, installation, list, archived, lease, report_progress)?;
    }
    let ArchiveWriter { mut out, manifest, .. } = archive;
    let text = serde_json::to_vec_pretty(&manifest)?;
    entry(&mut out, MANIFEST, text.len() as u64, &mut text.as_slice())?;
    let checksum_entry = checksum_entry(&out.digest())?;
    out.write_all(&checksum_entry)?;
    out.flush()?;
    Ok(BackupSummary {
        manifest,
        size: out.size,
    })
}

pub(super) type Out<'w> = HashingStream<BufWriter<&'w mut dyn Write>>;

/// An archive that is being written.
struct ArchiveWriter<'w> {
    out: Out<'w>,
    scratch: PathBuf,
    manifest: Manifest,
}

impl ArchiveWriter<'_> {
    /// Writes all rows and the list of files that they refer to, from one snapshot.
    fn rows(
        &mut self,
        database: &Database,
        lease: &mut DeletionLease,
        report_progress: ProgressCallback<'_>,
    ) -> anyhow::Result<File> {
        let taken_at = clock::now();
        let mut snapshot = Snapshot::take(database)?;
        let header = ArchiveHeader {
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
            report_progress(Progress {
                what: format!("rows of {}", table.name),
                done: index as u64,
                of: Some(tables.len() as u64),
                bytes: self.out.size,
            });
            hit("backup.rows");
            let mut gzip = GzipEntry::new(&self.scratch)?;
            let mut line = Vec::new();
            snapshot.rows(table, |row| {
                line.clear();
                write_row(row, &mut line)?;
                gzip.line(&line)?;
                if gzip.lines % RENEWAL_ROWS == 0 {
                    lease.renew()?;
                }
                Ok(())
            })?;
            let (rows, (_, part)) = gzip.append(&mut self.out, &rows_name(&table.name))?;
            self.manifest.tables.push(TablePart {
                name: table.name.clone(),
                columns: table.columns.clone(),
                rows,
                part,
            });
            lease.renew()?;
        }
        let mut gzip = GzipEntry::new(&self.scratch)?;
        snapshot.files(false, |file| write_file_entry(file, &mut gzip))?;
        let (named, (list, part)) = gzip.append(&mut self.out, FILE_LIST)?;
        self.manifest.archived.files_named = named;
        self.manifest.archived.list = part;
        Ok(list)
    }
}

/// Writes the bytes of every file in the list, and counts them.
pub(super) fn write_files(
    out: &mut Out<'_>,
    installation: &Installation,
    list: File,
    archived: &mut ArchivedFiles,
    lease: &mut DeletionLease,
    report_progress: ProgressCallback<'_>,
) -> anyhow::Result<()> {
    let mut lines = super::read::GzipLines::new(list);
    let mut number = 0;
    while let Some(line) = lines.next_line()? {
        let line: FileEntry = serde_json::from_slice(line)?;
        report_progress(Progress {
            what: "files".to_owned(),
            done: number,
            of: Some(archived.files_named),
            bytes: archived.bytes,
        });
        hit("backup.files");
        match copy_file(out, installation, &line, number)? {
            CopiedFile::Missing => add_fault(&mut archived.missing, &line.key)?,
            CopiedFile::Copied { size, is_whole } => {
                archived.files += 1;
                archived.bytes += size;
                if !is_whole {
                    add_fault(&mut archived.damaged, &line.key)?;
                }
            }
        }
        number += 1;
        lease.renew()?;
    }
    Ok(())
}

/// The result of copying a stored file into an archive.
enum CopiedFile {
    Missing,
    Copied {
        size: u64,
        /// Whether the checksum matches.
        is_whole: bool,
    },
}

/// Appends a stored file to an archive.
fn copy_file(
    out: &mut Out<'_>,
    installation: &Installation,
    line: &FileEntry,
    number: u64,
) -> anyhow::Result<CopiedFile> {
    let key = FileKey::new(&line.key);
    let runtime = &installation.runtime;
    let opened = runtime.block_on(async {
        let opened = installation.files.open(&key).await?;
        let size = opened.size();
        Ok::<_, common::error::Error>((size, opened.read(0..size).await?))
    });
    let (size, reader) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            tracing::error!(error = format!("{error:?}"), file.key = %key, "file missing: not in the archive");
            return Ok(CopiedFile::Missing);
        }
    };
    let bytes = BufReader::with_capacity(CHUNK_BYTES, BlockingReader::new(runtime.clone(), reader));
    let mut hashed = HashingStream::new(bytes.take(size));
    entry(out, &file_name(number), size, &mut hashed).with_context(|| line.key.clone())?;
    let is_whole = line.sha256.as_ref().is_none_or(|sha256| *sha256 == hashed.sha256());
    if !is_whole {
        tracing::error!(file.key = %key, "file damaged: checksum mismatch, copied unchanged");
    }
    Ok(CopiedFile::Copied { size, is_whole })
}

/// Writes a line of the list of files.
pub(super) fn write_file_entry(file: FileReference, lines: &mut GzipEntry) -> common::error::Result<()> {
    let entry = FileEntry {
        key: file.key,
        size: file.size,
        sha256: file.sha256,
    };
    let mut text = serde_json::to_vec(&entry)?;
    text.push(b'\n');
    lines.line(&text)
}

/// Appends one entry of exactly this size.
pub(super) fn entry(out: &mut Out<'_>, name: &str, size: u64, bytes: &mut dyn Read) -> anyhow::Result<()> {
    out.write_all(tar_header(name, size)?.as_bytes())?;
    let copied = io::copy(&mut bytes.take(size), out)?;
    if copied != size {
        bail!("{name} ended after {copied} of {size} bytes");
    }
    out.write_all(padding(size))?;
    Ok(())
}

fn add_fault(faults: &mut Vec<String>, key: &str) -> anyhow::Result<()> {
    if faults.len() == FAULTS_MAX {
        bail!(
            "more than {FAULTS_MAX} files are missing or damaged: is this the right storage? `groupwork scrub` names them"
        );
    }
    faults.push(key.to_owned());
    Ok(())
}

/// Compresses lines into a temporary file, because a tar header contains the size of the entry.
pub(super) struct GzipEntry {
    out: GzEncoder<BufWriter<File>>,
    lines: u64,
    unpacked: u64,
}

impl GzipEntry {
    pub(super) fn new(path: &Path) -> anyhow::Result<Self> {
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
            out: GzEncoder::new(BufWriter::with_capacity(CHUNK_BYTES, file), Compression::default()),
            lines: 0,
            unpacked: 0,
        })
    }

    pub(super) fn line(&mut self, line: &[u8]) -> common::error::Result<()> {
        self.out.write_all(line)?;
        self.lines += 1;
        self.unpacked += line.len() as u64;
        Ok(())
    }

    /// Returns the file with the compressed lines, to read them.
    pub(super) fn finish(self) -> anyhow::Result<File> {
        let mut file = self
            .out
            .finish()?
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        Ok(file)
    }

    /// Appends the compressed lines to the archive. Returns their number, and the file to read them again.
    pub(super) fn append(self, out: &mut Out<'_>, name: &str) -> anyhow::Result<(u64, (File, ArchivePart))> {
        let (lines, unpacked) = (self.lines, self.unpacked);
        let mut file = self.finish()?;
        let size = file.metadata()?.len();
        let mut hashed = HashingStream::new(BufReader::with_capacity(CHUNK_BYTES, &file));
        entry(out, name, size, &mut hashed)?;
        let part = ArchivePart {
            size,
            unpacked,
            sha256: hashed.sha256(),
        };
        file.rewind()?;
        Ok((lines, (file, part)))
    }
}

/// Reads a stored file on the thread of a command.
pub(super) struct BlockingReader {
    runtime: Handle,
    reader: BlobReader,
}

impl BlockingReader {
    pub(super) fn new(runtime: Handle, reader: BlobReader) -> Self {
        Self { runtime, reader }
    }
}

impl Read for BlockingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.runtime.block_on(self.reader.read(buffer))
    }
}

/// A lease in the database that prevents the deletion of files during a backup.
pub(super) struct DeletionLease {
    store: Store,
    runtime: Handle,
    pub(super) name: String,
    renewed_at: Instant,
}

impl DeletionLease {
    pub(super) fn acquire(installation: &Installation, store: Store) -> anyhow::Result<Self> {
        let lease = Self {
            store,
            runtime: installation.runtime.clone(),
            name: format!("backup-{}", clock::new_id()),
            renewed_at: Instant::now(),
        };
        lease.write()?;
        Ok(lease)
    }

    fn write(&self) -> common::error::Result<()> {
        let (name, until) = (self.name.clone(), clock::now().plus_seconds(LEASE_SECONDS));
        let written = self
            .store
            .platform_write(CrossTenantReason::CommandLine, move |platform| {
                platform.suspend_file_removals(&name, until)
            });
        self.runtime.block_on(written)
    }

    /// Renews the lease if it is old.
    pub(super) fn renew(&mut self) -> common::error::Result<()> {
        if self.renewed_at.elapsed() > RENEWAL_INTERVAL {
            self.write()?;
            self.renewed_at = Instant::now();
        }
        Ok(())
    }

    /// Ends the backup. A complete one is recorded in the database, for monitoring.
    fn end(self, outcome: anyhow::Result<BackupSummary>) -> anyhow::Result<BackupSummary> {
        self.release();
        let written = outcome?;
        if written.manifest.archived.is_whole() {
            let now = clock::now();
            let recorded = self
                .store
                .platform_write(CrossTenantReason::CommandLine, move |platform| {
                    platform.record_backup(now)
                });
            self.runtime.block_on(recorded)?;
        }
        Ok(written)
    }

    pub(super) fn release(&self) {
        let (name, now) = (self.name.clone(), clock::now());
        let written = self
            .store
            .platform_write(CrossTenantReason::CommandLine, move |platform| {
                platform.resume_file_removals(&name, now)
            });
        // The lease expires anyway.
        if let Err(error) = self.runtime.block_on(written) {
            tracing::warn!(%error, "backup lease not released: file deletion resumes when it expires");
        }
    }
}
