//! `groupwork backup`, `restore` and `scrub`: arguments and output.

use std::io::{self, BufRead as _, IsTerminal as _, StdoutLock, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use clap::Args;

use super::{data_folder, database};
use crate::config::StorageArgs;
use backup::{
    self, ArchiveFile, ArchiveOutput, ArchivedFiles, BackupArchive, BackupFolder, Findings, Identities, Installation,
    Manifest, Progress, Recipients, WriteOptions,
};
use common::failpoint;
use db::Database;

/// The interval between two progress lines.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(2);
/// The maximum number of names that are printed per category.
const NAMES_MAX: usize = 100;

/// Arguments of `groupwork backup`.
#[derive(Args)]
pub struct BackupArgs {
    /// The archive to write, a path or s3://bucket/name; it must not exist yet. `-` writes to standard output
    #[arg(required_unless_present = "folder", conflicts_with = "folder")]
    pub file: Option<PathBuf>,
    /// Write an archive with the time in its name into this folder or under s3://bucket/prefix
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
    /// After a complete backup, delete the oldest archives of the folder, except this many
    #[arg(long, requires = "folder", conflicts_with = "file", value_parser = clap::value_parser!(u16).range(1..))]
    pub keep: Option<u16>,
    /// Encrypt the archive for this public key of age (age1…); several keys are separated by commas
    #[arg(
        long = "recipient",
        value_name = "KEY",
        env = "BACKUP_RECIPIENTS",
        value_delimiter = ',',
        conflicts_with = "verify"
    )]
    pub recipients: Vec<String>,
    /// Leave out the files, because the bucket with the files keeps old versions by itself
    #[arg(long, conflicts_with = "verify")]
    pub without_files: bool,
    /// Only verify an existing archive
    #[arg(long, conflicts_with = "folder")]
    pub verify: bool,
    /// With --verify, the file with the private key of an encrypted archive
    #[arg(long, value_name = "FILE", requires = "verify")]
    pub identity: Option<PathBuf>,
    #[command(flatten)]
    pub storage: StorageArgs,
}

/// Arguments of `groupwork restore`.
#[derive(Args)]
pub struct RestoreArgs {
    /// The archive to restore, a path or s3://bucket/name
    pub file: PathBuf,
    /// The file with the private key of an encrypted archive
    #[arg(long, value_name = "FILE")]
    pub identity: Option<PathBuf>,
    /// Do not ask for confirmation
    #[arg(long)]
    pub yes: bool,
    /// Erasure journal of another installation (its DATA_DIR/erased-people.txt)
    #[arg(long)]
    pub erased: Option<PathBuf>,
    #[command(flatten)]
    pub storage: StorageArgs,
}

/// Arguments of `groupwork scrub`.
#[derive(Args)]
pub struct ScrubArgs {
    /// Minimum age in minutes of files without rows that are reported
    #[arg(long, default_value_t = 60)]
    pub older_than: u32,
    /// Assign the file storage to this database, regardless of its files and its marker, and exit
    #[arg(long)]
    pub adopt_storage: bool,
    /// First restore the quarantined files that rows refer to
    #[arg(long)]
    pub restore_quarantine: bool,
    #[command(flatten)]
    pub storage: StorageArgs,
}

/// Writes a backup, or verifies one.
pub fn backup(arguments: BackupArgs) -> anyhow::Result<()> {
    if let (true, Some(file)) = (arguments.verify, &arguments.file) {
        let archive = fetch_and_verify(file, arguments.identity.as_deref(), &arguments.storage)?;
        println!("{} is whole: {}", file.display(), summary(&archive.manifest));
        return check_complete(&archive.manifest.archived, "backup");
    }
    let recipients = Recipients::parse(&arguments.recipients)?;
    let path = match (&arguments.file, &arguments.folder) {
        (Some(file), _) => file.clone(),
        (None, Some(folder)) => folder.join(backup::archive_name(common::clock::now(), recipients.is_some())),
        (None, None) => bail!("name an archive, or --folder"),
    };
    let new = NewArchive {
        path: &path,
        recipients: recipients.as_ref(),
        is_without_files: arguments.without_files,
        storage: &arguments.storage,
    };
    new.write(backup::write, |archives, written| {
        super::report(&format!(
            "{}: {} MiB, {}",
            path.display(),
            written.size >> 20,
            summary(&written.manifest)
        ));
        check_complete(&written.manifest.archived, "backup")?;
        // An incomplete backup never replaces a complete one.
        if let (true, Some(keep)) = (arguments.folder.is_some(), arguments.keep) {
            for name in archives.delete_oldest(keep.into())? {
                super::report(&format!("{name} deleted: {keep} newer ones are kept"));
            }
        }
        Ok(())
    })
}

/// An archive to write.
pub(super) struct NewArchive<'a> {
    /// A path, s3://bucket/name, or `-` for standard output.
    pub(super) path: &'a Path,
    pub(super) recipients: Option<&'a Recipients>,
    pub(super) is_without_files: bool,
    pub(super) storage: &'a StorageArgs,
}

impl NewArchive<'_> {
    /// Writes the archive with `write` and passes the result to `finish`, which prints nothing to standard output: that
    /// may be the archive.
    pub(super) fn write<T>(
        &self,
        write: impl FnOnce(
            &Installation,
            &mut dyn ArchiveOutput,
            &WriteOptions<'_>,
            &mut dyn FnMut(Progress),
        ) -> anyhow::Result<T>,
        finish: impl FnOnce(&BackupFolder, T) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let (folder, name) = backup::split_archive_path(self.path)?;
        let to_stdout = name == "-";
        if to_stdout && io::stdout().is_terminal() {
            bail!("standard output is a terminal: redirect the archive to a file or a program");
        }
        let storage = self.storage;
        let database = database::existing(storage)?;
        with_installation(storage, database, |installation| {
            installation.verify_storage()?;
            let archives = BackupFolder::open(&folder, &storage.object_store, &installation.runtime)?;
            let mut output = if to_stdout {
                Box::new(StandardOutput(io::stdout().lock()))
            } else {
                archives.create(&name)?
            };
            let options = WriteOptions {
                recipients: self.recipients,
                scratch: match &archives {
                    BackupFolder::Disk(folder) if !to_stdout => folder,
                    _ => &storage.data_dir,
                },
                is_without_files: self.is_without_files,
            };
            let mut progress_printer = ProgressPrinter::new();
            let written = write(installation, output.as_mut(), &options, &mut |progress| {
                progress_printer.print(&progress);
            })?;
            finish(&archives, written)
        })
    }
}

/// Verifies a backup.
fn fetch_and_verify(file: &Path, identity: Option<&Path>, storage: &StorageArgs) -> anyhow::Result<BackupArchive> {
    let fetched = fetch(file, identity, storage)?;
    let mut progress_printer = ProgressPrinter::new();
    backup::verify(fetched, &mut |progress| {
        progress_printer.print(&progress);
    })
}

/// Opens an archive. One in a bucket is downloaded, for as long as the result is used: into the data folder, or the
/// working directory of a machine without one.
pub(super) fn fetch(file: &Path, identity: Option<&Path>, storage: &StorageArgs) -> anyhow::Result<ArchiveFile> {
    let identities = identity.map(Identities::read).transpose()?;
    let (folder, name) = backup::split_archive_path(file)?;
    let runtime = super::runtime()?;
    let archives = BackupFolder::open(&folder, &storage.object_store, runtime.handle())?;
    let scratch = if storage.data_dir.is_dir() {
        &storage.data_dir
    } else {
        Path::new(".")
    };
    let fetched = archives
        .fetch(&name, scratch)
        .with_context(|| file.display().to_string())?;
    Ok(ArchiveFile::new(fetched, identities))
}

/// Standard output as the destination of an archive.
struct StandardOutput(StdoutLock<'static>);

impl Write for StandardOutput {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl ArchiveOutput for StandardOutput {
    fn complete(&mut self) -> anyhow::Result<()> {
        Ok(self.0.flush()?)
    }
}

/// Restores a backup.
pub fn restore(arguments: RestoreArgs) -> anyhow::Result<()> {
    let mut progress_printer = ProgressPrinter::new();
    let archive = fetch_and_verify(&arguments.file, arguments.identity.as_deref(), &arguments.storage)?;
    let header = &archive.header;
    println!(
        "{}: taken at {} by release {} from {}, {}",
        arguments.file.display(),
        header.taken_at,
        header.release,
        header.database,
        summary(&archive.manifest)
    );
    if !arguments.yes {
        confirm(&arguments.storage)?;
    }
    let database = arguments.storage.database()?;
    database::announce(&database);
    let _lock = data_folder::lock(&database, Duration::ZERO).context("stop the service first")?;
    with_installation(&arguments.storage, database, |installation| {
        let erased = arguments.erased.as_deref();
        let restored = backup::restore(installation, &archive, erased, &mut |progress| {
            progress_printer.print(&progress);
        })?;
        for table in restored.manifest.tables.iter().filter(|table| table.rows > 0) {
            println!("{:>10}  {}", table.rows, table.name);
        }
        println!(
            "restored: {}; {} migrations since; {} people erased again; nobody is signed in",
            summary(&restored.manifest),
            restored.migrations,
            restored.erased
        );
        report(&restored.findings)?;
        check_complete(&restored.manifest.archived, "backup")
    })
}

/// Verifies rows, files and checksums.
pub fn scrub(arguments: ScrubArgs) -> anyhow::Result<()> {
    let mut progress_printer = ProgressPrinter::new();
    let database = database::existing(&arguments.storage)?;
    with_installation(&arguments.storage, database, |installation| {
        if arguments.adopt_storage {
            installation.adopt_storage()?;
            println!("the file storage is marked as that of this database");
            return Ok(());
        }
        installation.verify_storage()?;
        if arguments.restore_quarantine {
            let back = backup::restore_quarantine(installation, &mut |progress| progress_printer.print(&progress))?;
            println!(
                "{} files brought back from the quarantine; {} stay without a row, {} because their place is taken",
                back.returned, back.without_row, back.kept_already
            );
        }
        let findings = backup::scrub(installation, arguments.older_than, &mut |progress| {
            progress_printer.print(&progress);
        })?;
        report(&findings)
    })
}

/// Opens the configured database and file storage and runs `act` on this thread.
pub(super) fn with_installation<T>(
    storage: &StorageArgs,
    database: Database,
    act: impl FnOnce(&Installation) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    if storage.files_url.as_deref().map(str::trim) == Some("memory:") {
        bail!("FILES_URL=memory: keeps files in the service itself; nobody else can read them");
    }
    let log = super::serve::start_log("text", "warn")?;
    if let Some(specification) = crate::config::failpoint() {
        failpoint::arm_kill(&specification);
    }
    let runtime = super::runtime()?;
    let files = runtime
        .block_on(storage.open_files())
        .context("open the file storage")?;
    let outcome = act(&Installation {
        database,
        files,
        data_dir: storage.data_dir.clone(),
        runtime: runtime.handle().clone(),
    });
    log.flush(super::serve::LOG_FLUSH_TIMEOUT);
    outcome
}

fn confirm(storage: &StorageArgs) -> anyhow::Result<()> {
    if !std::io::stdin().is_terminal() {
        bail!("say --yes to restore it");
    }
    let installation = if storage.database_url.is_some() {
        "the database of DATABASE_URL"
    } else {
        "DATA_DIR"
    };
    println!(
        "Restore into {installation} ({})? Type yes:",
        storage.data_dir.display()
    );
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    if answer.trim() != "yes" {
        bail!("nothing was changed");
    }
    Ok(())
}

fn summary(manifest: &Manifest) -> String {
    let rows: u64 = manifest.tables.iter().map(|table| table.rows).sum();
    let (tables, files, bytes) = (manifest.tables.len(), manifest.archived.files, manifest.archived.bytes);
    if manifest.without_files {
        return format!(
            "{rows} rows of {tables} tables, without the {} files",
            manifest.archived.files_named
        );
    }
    format!("{rows} rows of {tables} tables, {files} files of {bytes} bytes")
}

/// An archive with missing or damaged files is written, but its command fails, so that an operator notices.
pub(super) fn check_complete(archived: &ArchivedFiles, what: &str) -> anyhow::Result<()> {
    if archived.is_whole() {
        return Ok(());
    }
    for (what, names) in [("missing", &archived.missing), ("damaged", &archived.damaged)] {
        for line in describe_names(what, names) {
            super::report(&line);
        }
    }
    bail!(
        "the {what} was written, but {} files were missing and {} damaged when it was made",
        archived.missing.len(),
        archived.damaged.len()
    )
}

fn report(findings: &Findings) -> anyhow::Result<()> {
    names("missing", &findings.missing);
    names("damaged", &findings.damaged);
    names("contradiction", &findings.contradictions);
    names("without a row", &findings.orphaned);
    println!(
        "{} files of {} bytes compared: {} missing, {} damaged, {} contradictions in rows, {} files without a row",
        findings.files,
        findings.bytes,
        findings.missing.len(),
        findings.damaged.len(),
        findings.contradictions.len(),
        findings.orphaned.len()
    );
    if findings.is_whole() {
        Ok(())
    } else {
        bail!("something is lost: restore it from a backup")
    }
}

fn names(what: &str, names: &[String]) {
    for line in describe_names(what, names) {
        println!("{line}");
    }
}

pub(super) fn describe_names(what: &str, names: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = names
        .iter()
        .take(NAMES_MAX)
        .map(|name| format!("{what}: {name}"))
        .collect();
    if names.len() > NAMES_MAX {
        lines.push(format!("{what}: and {} more", names.len() - NAMES_MAX));
    }
    lines
}

/// Prints progress lines at a limited rate.
pub(super) struct ProgressPrinter {
    last: Instant,
}

impl ProgressPrinter {
    pub(super) fn new() -> Self {
        Self { last: Instant::now() }
    }

    pub(super) fn print(&mut self, progress: &Progress) {
        if self.last.elapsed() < PROGRESS_INTERVAL {
            return;
        }
        self.last = Instant::now();
        let of = progress.of.map(|of| format!(" of {of}")).unwrap_or_default();
        let megabytes = progress.bytes >> 20;
        super::report(&format!("{}: {}{of}, {megabytes} MiB", progress.what, progress.done));
    }
}
