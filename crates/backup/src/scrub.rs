//! Verifies rows, files and checksums against each other, also while the service runs. Read-only.

use std::io::{self, BufReader};

use anyhow::Context as _;
use domain::file::FileKey;

use super::format::{HashingStream, Manifest};
use super::write::BlockingReader;
use super::{CHUNK_BYTES, Installation, Progress, ProgressCallback};
use adapters::blob_store::SHARDS;
use common::clock;
use db::Store;
use db::dump::{FileReference, Snapshot};
use db::platform::CrossTenantReason;

/// The maximum number of names per category; others are only counted.
const NAMES_MAX: usize = 10_000;

/// The result of a scrub.
#[derive(Debug, Default)]
pub struct Findings {
    /// The number of files that rows refer to.
    pub files: u64,
    /// The total size of these files in bytes.
    pub bytes: u64,
    /// Files that a row refers to, but that do not exist.
    pub missing: Vec<String>,
    /// Files with a wrong checksum.
    pub damaged: Vec<String>,
    /// Files that no row refers to.
    pub orphaned: Vec<String>,
    /// Inconsistent rows.
    pub contradictions: Vec<String>,
}

impl Findings {
    /// Returns whether no data is lost. Orphaned files are harmless leftovers of crashes.
    pub fn is_whole(&self) -> bool {
        self.missing.is_empty() && self.damaged.is_empty() && self.contradictions.is_empty()
    }

    /// Removes the findings that a backup has already reported.
    pub(super) fn ignore_known(&mut self, manifest: &Manifest) {
        let known = |line: &String, keys: &[String]| keys.iter().any(|key| line.starts_with(key.as_str()));
        self.missing.retain(|line| !known(line, &manifest.archived.missing));
        self.damaged.retain(|line| !known(line, &manifest.archived.damaged));
    }
}

/// Verifies everything. A file counts as orphaned only if it is older than `older_than` minutes: the row of a younger
/// one may not be inserted yet.
pub fn scrub(
    installation: &Installation,
    older_than: u32,
    report_progress: ProgressCallback<'_>,
) -> anyhow::Result<Findings> {
    let store = Store::open(&installation.database, 1, 1)?;
    let mut findings = Findings::default();
    let mut suspects = Vec::new();
    {
        let mut snapshot = Snapshot::take(&installation.database)?;
        findings.contradictions = snapshot.contradictions()?;
        snapshot.files(true, |file| {
            findings.files += 1;
            report_progress(Progress {
                what: "files".to_owned(),
                done: findings.files,
                of: None,
                bytes: findings.bytes,
            });
            match check_file(installation, &file) {
                Ok((size, true)) => findings.bytes += size,
                Ok((_, false)) => suspects.push((file, false)),
                Err(error) => {
                    tracing::debug!(error = format!("{error:?}"), "file not readable");
                    suspects.push((file, true));
                }
            }
            Ok(())
        })?;
    }
    for (file, is_missing) in suspects {
        let key = FileKey::new(&file.key);
        let named = store.platform_read(CrossTenantReason::CommandLine, move |platform| {
            platform.is_file_referenced(&key)
        });
        // The row may have been deleted since the snapshot.
        if installation.runtime.block_on(named)? {
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
    findings.orphaned = installation
        .runtime
        .block_on(orphans(installation, &store, older_than))?;
    Ok(findings)
}

/// Returns the size of a file and whether its checksum is correct.
fn check_file(installation: &Installation, file: &FileReference) -> anyhow::Result<(u64, bool)> {
    let key = FileKey::new(&file.key);
    let opened = installation.runtime.block_on(async {
        let opened = installation.files.open(&key).await?;
        let size = opened.size();
        Ok::<_, common::error::Error>((size, opened.read(0..size).await?))
    });
    let (size, reader) = opened?;
    let is_other_size = file.size.is_some_and(|wanted| u64::try_from(wanted).ok() != Some(size));
    if is_other_size {
        return Ok((size, false));
    }
    let mut bytes = HashingStream::new(BufReader::with_capacity(
        CHUNK_BYTES,
        BlockingReader::new(installation.runtime.clone(), reader),
    ));
    io::copy(&mut bytes, &mut io::sink()).with_context(|| file.key.clone())?;
    let is_whole = file.sha256.as_ref().is_none_or(|sha256| *sha256 == bytes.sha256());
    Ok((size, is_whole))
}

async fn orphans(installation: &Installation, store: &Store, older_than: u32) -> anyhow::Result<Vec<String>> {
    let before = clock::now().plus_seconds(-i64::from(older_than) * 60 + i64::from(older_than == 0));
    let mut found = Vec::new();
    for shard in SHARDS {
        let aged = installation.files.list_older_than(shard, before).await?;
        if aged.is_empty() || found.len() >= NAMES_MAX {
            continue;
        }
        let unnamed = store.platform_read(CrossTenantReason::CommandLine, move |platform| {
            platform.unreferenced_stored_files(aged)
        });
        found.extend(unnamed.await?.into_iter().map(|key| key.as_str().to_owned()));
    }
    Ok(found)
}
