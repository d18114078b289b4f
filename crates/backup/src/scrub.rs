//! Rows, files and checksums compared with each other, while the service runs or not. It changes nothing.

use std::io::{self, BufReader};

use anyhow::Context as _;
use model::file::FileKey;

use super::format::{Counted, Manifest};
use super::write::Kept;
use super::{PIECE, Place, Progress, Tell};
use adapters::files::PARTS;
use common::clock;
use db::Store;
use db::dump::{NamedFile, Snapshot};
use db::platform::PlatformProof;

/// Names of one sort that are kept; the others are only counted.
const NAMES_MAX: usize = 10_000;

/// What a scrub found.
#[derive(Debug, Default)]
pub struct Findings {
    /// Files that rows name.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Named by a row, and not there.
    pub missing: Vec<String>,
    /// There, and other than they were written.
    pub damaged: Vec<String>,
    /// There, and named by no row.
    pub orphaned: Vec<String>,
    /// Rows that contradict each other.
    pub contradictions: Vec<String>,
}

impl Findings {
    /// Whether nothing that anybody was promised is lost. Files without rows are what crashes leave; they harm nobody.
    pub fn is_whole(&self) -> bool {
        self.missing.is_empty() && self.damaged.is_empty() && self.contradictions.is_empty()
    }

    /// Takes out what a backup already said that it lacks.
    pub(super) fn forgive(&mut self, manifest: &Manifest) {
        let known = |line: &String, keys: &[String]| keys.iter().any(|key| line.starts_with(key.as_str()));
        self.missing.retain(|line| !known(line, &manifest.missing));
        self.damaged.retain(|line| !known(line, &manifest.damaged));
    }
}

/// Compares everything. Files without rows count when they are older than so many minutes: a younger one may be waiting for
/// its row.
pub fn scrub(place: &Place, older_than: u32, tell: Tell<'_>) -> anyhow::Result<Findings> {
    let store = Store::open(&place.database, 1, 1)?;
    let mut findings = Findings::default();
    let mut suspects = Vec::new();
    {
        let mut snapshot = Snapshot::take(&place.database)?;
        findings.contradictions = snapshot.contradictions()?;
        snapshot.files(true, |file| {
            findings.files += 1;
            tell(Progress {
                what: "files".to_owned(),
                done: findings.files,
                of: None,
                bytes: findings.bytes,
            });
            match look(place, &file) {
                Ok((size, true)) => findings.bytes += size,
                Ok((_, false)) => suspects.push((file, false)),
                Err(error) => {
                    tracing::debug!(error = format!("{error:?}"), "a file cannot be read");
                    suspects.push((file, true));
                }
            }
            Ok(())
        })?;
    }
    for (file, is_missing) in suspects {
        let key = FileKey::new(&file.key);
        let named = store.platform_read(PlatformProof::command_line(), move |platform| {
            platform.file_is_named(&key)
        });
        // Its row may have gone since.
        if place.runtime.block_on(named)? {
            let list = if is_missing {
                &mut findings.missing
            } else {
                &mut findings.damaged
            };
            if list.len() < NAMES_MAX {
                list.push(format!("{} ({})", file.key, file.table));
            }
        }
    }
    findings.orphaned = place.runtime.block_on(orphans(place, &store, older_than))?;
    Ok(findings)
}

/// The size of a file, and whether its bytes are those that were written.
fn look(place: &Place, file: &NamedFile) -> anyhow::Result<(u64, bool)> {
    let key = FileKey::new(&file.key);
    let opened = place.runtime.block_on(async {
        let opened = place.files.open(&key).await?;
        let size = opened.size();
        Ok::<_, common::error::Error>((size, opened.read(0..size).await?))
    });
    let (size, reader) = opened?;
    let is_other_size = file.size.is_some_and(|wanted| u64::try_from(wanted).ok() != Some(size));
    if is_other_size {
        return Ok((size, false));
    }
    let mut bytes = Counted::new(BufReader::with_capacity(
        PIECE,
        Kept::new(place.runtime.clone(), reader),
    ));
    io::copy(&mut bytes, &mut io::sink()).with_context(|| file.key.clone())?;
    let is_whole = file.sha256.as_ref().is_none_or(|sha256| *sha256 == bytes.sha256());
    Ok((size, is_whole))
}

async fn orphans(place: &Place, store: &Store, older_than: u32) -> anyhow::Result<Vec<String>> {
    let before = clock::now().plus_seconds(-i64::from(older_than) * 60 + i64::from(older_than == 0));
    let mut found = Vec::new();
    for part in PARTS {
        let aged = place.files.aged(part, before).await?;
        if aged.is_empty() || found.len() >= NAMES_MAX {
            continue;
        }
        let unnamed = store.platform_read(PlatformProof::command_line(), move |platform| {
            platform.abandoned_files(aged)
        });
        found.extend(unnamed.await?.into_iter().map(|key| key.as_str().to_owned()));
    }
    Ok(found)
}
