//! Restores a backup into an empty installation. The archive is verified first; then the files are restored, then all
//! rows in one transaction. A state in the database prevents the service from starting on an incomplete restore, and
//! allows a repeated restore to continue.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use model::file::FileKey;

use super::erase_list::{self, erase_again};
use super::format::{FileLine, Manifest};
use super::read::Archive;
use super::{Findings, PIECE, Place, Progress, Tell, ownership, scrub};
use adapters::blob_store::SHARDS;
use common::clock;
use common::failpoint::hit;
use db::dump::Target;
use db::platform::PlatformProof;
use db::{Database, Store, migrate, migrate_to, newest_migration};

/// The states of a restore.
const BEGUN: &str = "begun";
const LOADED: &str = "loaded";

/// The result of a restore.
#[derive(Debug)]
pub struct Restored {
    pub manifest: Manifest,
    /// The number of users who were erased again, because they were erased after the backup was made.
    pub erased: u64,
    /// The number of migrations that were applied because they are newer than the backup.
    pub migrations: usize,
    /// The result of the scrub after the restore.
    pub findings: Findings,
}

/// Restores a verified archive. `erased` is an erasure journal in addition to that in the data folder.
pub fn restore(place: &Place, archive: &Archive, erased: Option<&Path>, tell: Tell<'_>) -> anyhow::Result<Restored> {
    let mut ids = erase_list::read(&place.data_dir.join(erase_list::NAME))?;
    if let Some(path) = erased {
        ensure!(path.exists(), "there is no list {}", path.display());
        ids.extend(erase_list::read(path)?);
    }
    let is_loaded = prepare(place, archive)?;
    if !is_loaded {
        files(place, archive, tell)?;
        rows(place, archive, tell)?;
    }
    hit("restore.loaded");
    let migrations = migrate(&place.database)?;
    let store = Store::open(&place.database, 1, 1)?;
    let erased = place.runtime.block_on(finish(&store, place, ids))?;
    let mut findings = scrub(place, 0, tell)?;
    findings.forgive(&archive.manifest);
    Target::open(&place.database)?.done()?;
    Ok(Restored {
        manifest: archive.manifest.clone(),
        erased,
        migrations,
        findings,
    })
}

async fn finish(store: &Store, place: &Place, ids: BTreeSet<String>) -> anyhow::Result<u64> {
    // The rows of the backup and this storage belong together from now on.
    ownership::adopt(store, &place.files).await?;
    let erased = erase_again(store, ids).await?;
    erase_list::add(store, &place.data_dir).await?;
    Ok(erased)
}

/// Checks that the installation is empty and migrates to the schema of the backup. Returns whether an interrupted
/// restore has already loaded the rows.
fn prepare(place: &Place, archive: &Archive) -> anyhow::Result<bool> {
    let wanted = archive.header.schema;
    let newest = i64::from(newest_migration());
    ensure!(
        wanted <= newest,
        "the backup was made by release {} with schema {wanted}; this one knows schemas up to {newest}",
        archive.header.release
    );
    if let Database::Sqlite(path) = &place.database
        && let Some(folder) = path.parent()
    {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let mut target = Target::open(&place.database)?;
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
            refuse_foreign_storage(place, found.is_some())?;
            if let Some(key) = first_file(place)? {
                bail!("the file storage is not empty: it has {key}. Restore into an empty one");
            }
        }
    }
    drop(target);
    migrate_to(&place.database, wanted)?;
    let mut target = Target::open(&place.database)?;
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

/// An empty storage with a marker is in use by the database that contains its id.
fn refuse_foreign_storage(place: &Place, has_schema: bool) -> anyhow::Result<()> {
    let Some(marker) = place.runtime.block_on(place.files.marker())? else {
        return Ok(());
    };
    let mut recorded = None;
    if has_schema {
        let store = Store::open(&place.database, 1, 1)?;
        let read = store.platform_read(PlatformProof::command_line(), |platform| platform.storage_id());
        recorded = place.runtime.block_on(read)?;
    }
    ensure!(
        recorded.as_deref() == Some(marker.as_str()),
        "the file storage has the marker of another installation (files/installation/id). Restore into a new one, or remove \
         the marker if no service uses this storage"
    );
    Ok(())
}

fn first_file(place: &Place) -> anyhow::Result<Option<FileKey>> {
    let later = clock::now().plus_seconds(31_536_000);
    for shard in SHARDS {
        let found = place.runtime.block_on(place.files.list_older_than(shard, later))?;
        if let Some(key) = found.into_iter().next() {
            return Ok(Some(key));
        }
    }
    Ok(None)
}

fn files(place: &Place, archive: &Archive, tell: Tell<'_>) -> anyhow::Result<()> {
    let (mut done, mut bytes) = (0, 0);
    let of = Some(archive.manifest.files);
    archive.each_file(&mut |line, content| {
        hit("restore.files");
        if let Some(content) = content {
            bytes += file(place, &archive.manifest, line, content).with_context(|| line.key.clone())?;
            done += 1;
            tell(Progress {
                what: "files".to_owned(),
                done,
                of,
                bytes,
            });
        }
        Ok(())
    })
}

fn file(place: &Place, manifest: &Manifest, line: &FileLine, content: &mut dyn Read) -> anyhow::Result<u64> {
    let files = &place.files;
    let mut staging = files.stage(u64::MAX);
    let mut piece = vec![0; PIECE];
    loop {
        let count = content.read(&mut piece)?;
        if count == 0 {
            break;
        }
        place.runtime.block_on(staging.write(&piece[..count]))?;
    }
    let staged = place.runtime.block_on(staging.finish())?;
    let is_other = line.sha256.as_ref().is_some_and(|sha256| sha256 != staged.sha256());
    // Verified before, but the archive may have changed or its disk may be faulty.
    ensure!(
        !is_other || manifest.damaged.contains(&line.key),
        "it changed while it was read"
    );
    let size = staged.size();
    place.runtime.block_on(files.commit(staged, &FileKey::new(&line.key)))?;
    Ok(size)
}

fn rows(place: &Place, archive: &Archive, tell: Tell<'_>) -> anyhow::Result<()> {
    let mut target = Target::open(&place.database)?;
    target.begin()?;
    let tables = &archive.manifest.tables;
    for (index, table) in tables.iter().enumerate() {
        tell(Progress {
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
