//! Imports the archive of a school into an installation that is in use: first the files, under keys that no row refers
//! to, then all rows in one transaction. Until that commits, nothing is visible; files of an interrupted import are
//! stored again by the next one, or removed as files without rows.

use std::collections::BTreeSet;
use std::io::Read;

use anyhow::{Context as _, bail, ensure};
use common::error::Error;
use common::failpoint::hit;
use db::activity::LogEntry;
use db::dump::{Cell, ImportedSchool, SchoolImport, Snapshot};
use db::{Store, newest_migration};
use domain::file::FileKey;

use super::format::OLDEST_SCHEMA;
use super::read::SchoolArchive;
use crate::format::FileEntry;
use crate::restore::store_file;
use crate::write::DeletionLease;
use crate::{Installation, Progress, ProgressCallback, erasure_journal};

/// The bytes that stay free on the disk.
const RESERVE: u64 = 64 << 20;

/// How an archive is imported.
#[derive(Debug, Clone, Default)]
pub struct ImportOptions {
    /// The short name, if it is another one.
    pub slug: Option<String>,
    /// Checks everything, also the rows against the database, and changes nothing.
    pub is_dry_run: bool,
    /// Imports an archive in which files are missing or damaged.
    pub is_incomplete_accepted: bool,
    /// The free bytes of the disk with the files; `None` for an object store.
    pub free_bytes: Option<u64>,
}

/// Returns the record of an import in the activity log of the school.
pub type ImportLogEntry<'a> = &'a dyn Fn(&ImportedSchool) -> Option<LogEntry>;

/// The name of the command in the activity log.
pub const COMMAND: &str = "groupwork school";

/// Imports a verified archive.
pub fn import(
    installation: &Installation,
    archive: &SchoolArchive,
    options: &ImportOptions,
    record: ImportLogEntry<'_>,
    report_progress: ProgressCallback<'_>,
) -> anyhow::Result<ImportedSchool> {
    check(installation, archive, options)?;
    // The rows are tried before a file is stored, so that a refused archive leaves nothing.
    let tried = rows(installation, archive, options, None, report_progress)?;
    if options.is_dry_run {
        return Ok(tried);
    }
    let store = Store::open(&installation.database, 1, 1)?;
    let mut lease = DeletionLease::acquire(installation, store)?;
    let outcome = files(installation, archive, &mut lease, report_progress)
        .and_then(|()| rows(installation, archive, options, Some(record), report_progress));
    if outcome.is_err()
        && let Err(error) = remove_files(installation, archive)
    {
        tracing::warn!(
            error = format!("{error:#}"),
            "files of the import not removed: they have no rows"
        );
    }
    lease.release();
    outcome
}

/// Checks what needs no rows.
fn check(installation: &Installation, archive: &SchoolArchive, options: &ImportOptions) -> anyhow::Result<()> {
    let (header, manifest) = (&archive.header, &archive.manifest);
    let own = Snapshot::take(&installation.database)?.version();
    let newest = i64::from(newest_migration());
    ensure!(
        own == newest,
        "the database has schema {own} and this release {newest}: start the service once, or run `groupwork migrate`"
    );
    ensure!(
        header.schema <= newest,
        "the archive was made by release {} with schema {}; this one knows schemas up to {newest}",
        header.release,
        header.schema
    );
    ensure!(
        header.schema >= OLDEST_SCHEMA,
        "the archive was made by release {} with schema {}; this one reads schemas from {OLDEST_SCHEMA}. Upgrade the other \
         installation and export the school again",
        header.release,
        header.schema
    );
    if !manifest.archived.is_whole() && !options.is_incomplete_accepted {
        bail!(
            "{} files are missing in the archive and {} damaged: --incomplete imports it nevertheless",
            manifest.archived.missing.len(),
            manifest.archived.damaged.len()
        );
    }
    check_quota(manifest.archived.bytes, SchoolImport::quota())?;
    check_space(manifest.archived.bytes, options.free_bytes)
}

fn check_quota(bytes: u64, quota: i64) -> anyhow::Result<()> {
    ensure!(
        i64::try_from(bytes).is_ok_and(|bytes| bytes <= quota),
        "the files have {} MB, and the quota of a school here is {} MB",
        bytes / 1_000_000,
        quota / 1_000_000
    );
    Ok(())
}

fn check_space(bytes: u64, free: Option<u64>) -> anyhow::Result<()> {
    if let Some(free) = free {
        ensure!(
            bytes.saturating_add(RESERVE) <= free,
            "the files have {} MB, and {} MB are free on the disk of DATA_DIR",
            bytes / 1_000_000,
            free / 1_000_000
        );
    }
    Ok(())
}

/// Returns the cause of an internal error: this command shows it to the operator.
fn plain(error: Error) -> anyhow::Error {
    match error {
        Error::Internal(cause) => cause,
        other => other.into(),
    }
}

/// Inserts the rows. Without `record` it is a trial, which is rolled back.
fn rows(
    installation: &Installation,
    archive: &SchoolArchive,
    options: &ImportOptions,
    record: Option<ImportLogEntry<'_>>,
    report_progress: ProgressCallback<'_>,
) -> anyhow::Result<ImportedSchool> {
    let erased: BTreeSet<String> = erasure_journal::read(&installation.data_dir.join(erasure_journal::FILE_NAME))?;
    let slug = options.slug.as_deref().unwrap_or(&archive.header.slug);
    let mut import =
        SchoolImport::begin(&installation.database, &archive.header.organization, slug, erased).map_err(plain)?;
    import.check_absent().map_err(plain)?;
    check_keys(archive, &mut import)?;
    let mut stream = archive.rows();
    let (mut done, of) = (0, archive.manifest.tables.len() as u64);
    while let Some(header) = stream.next_table()? {
        report_progress(Progress {
            what: format!("rows of {}", header.table),
            done,
            of: Some(of),
            bytes: 0,
        });
        if record.is_some() {
            hit("restore.rows");
        }
        import.load(&header, || Ok(stream.next_row(&header)?)).map_err(plain)?;
        done += 1;
    }
    let list = archive.file_list();
    let mut lines = list.lines()?;
    let registered = import.files(|| {
        let Some(line) = lines.next_line()? else {
            return Ok(None);
        };
        let line: FileEntry = serde_json::from_slice(line)?;
        let size = line.size.map_or(Cell::Null, Cell::Int);
        let sha256 = line.sha256.map_or(Cell::Null, Cell::Text);
        Ok(Some(vec![Cell::Text(line.key), size, sha256]))
    });
    registered.map_err(plain)?;
    let imported = import.complete().map_err(plain)?;
    let Some(record) = record else {
        import.roll_back()?;
        return Ok(imported);
    };
    if let Some(entry) = record(&imported) {
        import.insert_log(&entry, COMMAND).map_err(plain)?;
    }
    hit("restore.loaded");
    import.commit()?;
    Ok(imported)
}

/// Fails if a row of this installation refers to a file of the archive, which would be overwritten or be shown to the
/// school, or if the file is about to be removed.
fn check_keys(archive: &SchoolArchive, import: &mut SchoolImport) -> anyhow::Result<()> {
    let list = archive.file_list();
    let mut lines = list.lines()?;
    while let Some(line) = lines.next_line()? {
        let line: FileEntry = serde_json::from_slice(line)?;
        ensure!(
            !import.is_file_referenced(&line.key)?,
            "the file {} of the archive belongs to a school of this installation",
            line.key
        );
        // The removal could follow the import.
        ensure!(
            !import.is_removal_pending(&line.key)?,
            "files of the former school are still being removed: try again in a minute, while the service runs"
        );
    }
    Ok(())
}

fn files(
    installation: &Installation,
    archive: &SchoolArchive,
    lease: &mut DeletionLease,
    report_progress: ProgressCallback<'_>,
) -> anyhow::Result<()> {
    let (mut done, mut bytes) = (0, 0);
    archive
        .file_list()
        .for_each(&mut |line, content: Option<&mut dyn Read>| {
            hit("restore.files");
            if let Some(content) = content {
                let is_damaged = archive.manifest.archived.damaged.contains(&line.key);
                let size = store_file(installation, is_damaged, line, content).with_context(|| line.key.clone())?;
                ensure!(
                    is_damaged || line.size.and_then(|size| u64::try_from(size).ok()) == Some(size),
                    "{}: its size is not that of its row",
                    line.key
                );
                bytes += size;
                done += 1;
                report_progress(Progress {
                    what: "files".to_owned(),
                    done,
                    of: Some(archive.manifest.archived.files),
                    bytes,
                });
            }
            lease.renew()?;
            Ok(())
        })
}

/// Removes the files of an import that failed, unless a row refers to them.
fn remove_files(installation: &Installation, archive: &SchoolArchive) -> anyhow::Result<()> {
    let store = Store::open(&installation.database, 1, 1)?;
    let list = archive.file_list();
    let mut lines = list.lines()?;
    while let Some(line) = lines.next_line()? {
        let line: FileEntry = serde_json::from_slice(line)?;
        let key = FileKey::new(&line.key);
        let looked_up = key.clone();
        let named = store.platform_read(db::platform::CrossTenantReason::CommandLine, move |platform| {
            platform.is_file_referenced(&looked_up)
        });
        if !installation.runtime.block_on(named)? {
            installation.runtime.block_on(installation.files.remove(&key))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;

    #[test]
    fn quota_and_space_are_checked_before_anything_is_written() {
        check_quota(1000, 1000).unwrap();
        let refused = check_quota(1001, 1000).unwrap_err().to_string();
        assert!(refused.contains("quota"), "{refused}");
        check_quota(u64::MAX, i64::MAX).unwrap_err();
        check_space(u64::MAX, None).unwrap();
        check_space(1000, Some(RESERVE + 1000)).unwrap();
        let refused = check_space(1001, Some(RESERVE + 1000)).unwrap_err().to_string();
        assert!(refused.contains("are free"), "{refused}");
    }
}
