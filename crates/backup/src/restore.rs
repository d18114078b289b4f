//! Restores a backup into an empty installation. The archive is verified first; then the files are restored, then all
//! rows in one transaction. A state in the database prevents the service from starting on an incomplete restore, and
//! allows a repeated restore to continue.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use domain::file::FileKey;

use super::erasure_journal::{self, reapply_erasures};
use super::format::{FileEntry, Manifest};
use super::read::BackupArchive;
use super::{CHUNK_BYTES, Findings, Installation, Progress, ProgressCallback, ownership, scrub};
use adapters::blob_store::SHARDS;
use common::clock;
use common::failpoint::hit;
use db::dump::RestoreTarget;
use db::platform::CrossTenantReason;
use db::{Database, Store, migrate, migrate_to, newest_migration};

/// The states of a restore.
const BEGUN: &str = "begun";
const LOADED: &str = "loaded";
/// The number of missing files at which a restore of a backup without files fails.
const FAULTS_MAX: u64 = super::format::FAULTS_MAX as u64;

/// The result of a restore.
#[derive(Debug)]
pub struct RestoreSummary {
    pub manifest: Manifest,
    /// The number of users who were erased again, because they were erased after the backup was made.
    pub erased: u64,
    /// The number of migrations that were applied because they are newer than the backup.
    pub migrations: usize,
    /// The result of the scrub after the restore.
    pub findings: Findings,
}

/// Restores a verified archive. `erased` is an erasure journal in addition to that in the data folder.
pub fn restore(
    installation: &Installation,
    archive: &BackupArchive,
    erased: Option<&Path>,
    report_progress: ProgressCallback<'_>,
) -> anyhow::Result<RestoreSummary> {
    let mut ids = erasure_journal::read(&installation.data_dir.join(erasure_journal::FILE_NAME))?;
    if let Some(path) = erased {
        ensure!(path.exists(), "there is no list {}", path.display());
        ids.extend(erasure_journal::read(path)?);
    }
    let is_loaded = prepare(installation, archive)?;
    if !is_loaded {
        files(installation, archive, report_progress)?;
        rows(installation, archive, report_progress)?;
    }
    hit("restore.loaded");
    let migrations = migrate(&installation.database)?;
    let store = Store::open(&installation.database, 1, 1)?;
    let erased = installation.runtime.block_on(finish(&store, installation, ids))?;
    let mut findings = scrub(installation, 0, report_progress)?;
    findings.ignore_known(&archive.manifest);
    RestoreTarget::open(&installation.database)?.done()?;
    Ok(RestoreSummary {
        manifest: archive.manifest.clone(),
        erased,
        migrations,
        findings,
    })
}

async fn finish(store: &Store, installation: &Installation, ids: BTreeSet<String>) -> anyhow::Result<u64> {
    // The rows of the backup and this storage belong together from now on.
    ownership::adopt(store, &installation.files).await?;
    let erased = reapply_erasures(store, ids).await?;
    erasure_journal::append(store, &installation.data_dir).await?;
    Ok(erased)
}

/// Checks that the installation is empty and migrates to the schema of the backup. Returns whether an interrupted
/// restore has already loaded the rows.
fn prepare(installation: &Installation, archive: &BackupArchive) -> anyhow::Result<bool> {
    let wanted = archive.header.schema;
    let newest = i64::from(newest_migration());
    ensure!(
        wanted <= newest,
        "the backup was made by release {} with schema {wanted}; this one knows schemas up to {newest}",
        archive.header.release
    );
    if let Database::Sqlite(path) = &installation.database
        && let Some(folder) = path.parent()
    {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let mut target = RestoreTarget::open(&installation.database)?;
    let found = target.version()?;
    let state = if found.is_some() { target.state()? } else { None };
    let id = archive.header.taken_at.as_str();
    match state.as_deref().and_then(|state| state.split_once(' ')) {
        Some((_, of)) if of != id => bail!("a restore of another backup (of {of}) was begun here and not ended"),
        Some((LOADED, _)) => return Ok(true),
        Some(_) => {}
        None => {
            if let Some(version) = found {
                if let Some(table) = target.occupied()? {
                    bail!("the database is not empty: {table} has rows. Restore into an empty one");
                }
                ensure!(
                    version <= wanted,
                    "the database has schema {version} and the backup {wanted}. Restore into a new database"
                );
            }
            if archive.manifest.without_files {
                check_files_exist(installation, archive)?;
            } else {
                refuse_foreign_storage(installation, found.is_some())?;
                if let Some(key) = first_file(installation)? {
                    bail!("the file storage is not empty: it has {key}. Restore into an empty one");
                }
            }
        }
    }
    drop(target);
    migrate_to(&installation.database, wanted)?;
    let mut target = RestoreTarget::open(&installation.database)?;
    ensure!(
        target.version()? == Some(wanted),
        "the schema of the backup could not be made"
    );
    let tables: Vec<_> = archive
        .manifest
        .tables
        .iter()
        .map(super::format::TablePart::table)
        .collect();
    let own = target.tables()?;
    for table in &tables {
        ensure!(own.contains(table), "the schema has no such table {}", table.name);
    }
    if let Some(lacking) = own.iter().find(|table| !tables.contains(table)) {
        bail!("the backup lacks the rows of {}", lacking.name);
    }
    target.note(&format!("{BEGUN} {id}"), clock::now())?;
    Ok(false)
}

/// The files of a backup without files are expected in the storage. The scrub after the restore names those that are
/// missing; if many are, it is another storage.
fn check_files_exist(installation: &Installation, archive: &BackupArchive) -> anyhow::Result<()> {
    let mut missing = 0;
    archive.for_each_file(&mut |line, _| {
        let key = FileKey::new(&line.key);
        if !installation.runtime.block_on(installation.files.has(&key))? {
            tracing::warn!(file.key = %key, "file missing in the storage");
            missing += 1;
            ensure!(
                missing <= FAULTS_MAX,
                "the backup is one without files, and more than {FAULTS_MAX} of them are not in this storage. Compare FILES_URL \
                 and DATA_DIR"
            );
        }
        Ok(())
    })?;
    ensure!(
        missing == 0 || missing < archive.manifest.archived.files_named,
        "the backup is one without files, and none of them is in this storage. Compare FILES_URL and DATA_DIR"
    );
    Ok(())
}

/// An empty storage with a marker is in use by the database that contains its id.
fn refuse_foreign_storage(installation: &Installation, has_schema: bool) -> anyhow::Result<()> {
    let Some(marker) = installation.runtime.block_on(installation.files.marker())? else {
        return Ok(());
    };
    let mut recorded = None;
    if has_schema {
        let store = Store::open(&installation.database, 1, 1)?;
        let read = store.platform_read(CrossTenantReason::CommandLine, |platform| platform.storage_id());
        recorded = installation.runtime.block_on(read)?;
    }
    ensure!(
        recorded.as_deref() == Some(marker.as_str()),
        "the file storage has the marker of another installation (files/installation/id). Restore into a new one, or remove \
         the marker if no service uses this storage"
    );
    Ok(())
}

fn first_file(installation: &Installation) -> anyhow::Result<Option<FileKey>> {
    let later = clock::now().plus_seconds(31_536_000);
    for shard in SHARDS {
        let found = installation
            .runtime
            .block_on(installation.files.list_older_than(shard, later))?;
        if let Some(key) = found.into_iter().next() {
            return Ok(Some(key));
        }
    }
    Ok(None)
}

fn files(
    installation: &Installation,
    archive: &BackupArchive,
    report_progress: ProgressCallback<'_>,
) -> anyhow::Result<()> {
    let (mut done, mut bytes) = (0, 0);
    let of = Some(archive.manifest.archived.files);
    archive.for_each_file(&mut |line, content| {
        hit("restore.files");
        if let Some(content) = content {
            bytes += file(installation, &archive.manifest, line, content).with_context(|| line.key.clone())?;
            done += 1;
            report_progress(Progress {
                what: "files".to_owned(),
                done,
                of,
                bytes,
            });
        }
        Ok(())
    })
}

fn file(
    installation: &Installation,
    manifest: &Manifest,
    line: &FileEntry,
    content: &mut dyn Read,
) -> anyhow::Result<u64> {
    store_file(
        installation,
        manifest.archived.damaged.contains(&line.key),
        line,
        content,
    )
}

/// Stores a file of an archive. A file that the archive does not list as damaged has the checksum of the list.
pub(super) fn store_file(
    installation: &Installation,
    is_damaged: bool,
    line: &FileEntry,
    content: &mut dyn Read,
) -> anyhow::Result<u64> {
    let files = &installation.files;
    let mut staging = files.stage(u64::MAX);
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let count = content.read(&mut chunk)?;
        if count == 0 {
            break;
        }
        installation.runtime.block_on(staging.write(&chunk[..count]))?;
    }
    let staged = installation.runtime.block_on(staging.finish())?;
    let is_other = line.sha256.as_ref().is_some_and(|sha256| sha256 != staged.sha256());
    // Verified before, but the archive may have changed or its disk may be faulty.
    ensure!(!is_other || is_damaged, "it changed while it was read");
    let size = staged.size();
    installation
        .runtime
        .block_on(files.commit(staged, &FileKey::new(&line.key)))?;
    Ok(size)
}

fn rows(
    installation: &Installation,
    archive: &BackupArchive,
    report_progress: ProgressCallback<'_>,
) -> anyhow::Result<()> {
    let mut target = RestoreTarget::open(&installation.database)?;
    target.begin()?;
    let tables = &archive.manifest.tables;
    for (index, table) in tables.iter().enumerate() {
        report_progress(Progress {
            what: format!("rows of {}", table.name),
            done: index as u64,
            of: Some(tables.len() as u64),
            bytes: 0,
        });
        hit("restore.rows");
        let mut rows = archive.rows(index)?;
        let written = target.load(&table.table(), || Ok(rows.next_row()?))?;
        ensure!(
            written == table.rows,
            "{}: {written} rows and not {}",
            table.name,
            table.rows
        );
    }
    target.commit(&format!("{LOADED} {}", archive.header.taken_at), clock::now())?;
    Ok(())
}
