//! Moves all files from one storage to another while the service uses both.

use anyhow::{Context as _, ensure};
use common::clock;
use db::dump::Snapshot;
use domain::file::FileKey;
use futures_util::future::join_all;

use super::format::{FAULTS_MAX, FileEntry};
use super::read::GzipLines;
use super::write::{GzipEntry, write_file_entry};
use super::{Installation, Progress, ProgressCallback};
use adapters::blob_store::Relocated;

/// The number of files that are copied at the same time.
const CONCURRENT_FILES: usize = 8;

/// The result of a move.
#[derive(Debug, Default)]
pub struct MovedFiles {
    /// The number of files that were copied.
    pub copied: u64,
    /// The number of files that were in the new storage already.
    pub present: u64,
    /// The keys of files that are in neither storage, or damaged.
    pub failed: Vec<String>,
}

/// Copies every file that a row refers to from the fallback of the storage into the storage. The originals stay. Files
/// that are in the storage are left alone, so an interrupted move continues.
pub fn move_files(installation: &Installation, report_progress: ProgressCallback<'_>) -> anyhow::Result<MovedFiles> {
    let scratch = installation.data_dir.join(format!("move-{}.rows", clock::new_id()));
    let mut list = GzipEntry::new(&scratch)?;
    let mut named = 0;
    Snapshot::take(&installation.database)?.files(true, |file| {
        named += 1;
        write_file_entry(file, &mut list)
    })?;
    let mut lines = GzipLines::new(list.finish()?);
    let mut moved = MovedFiles::default();
    loop {
        let mut entries = Vec::with_capacity(CONCURRENT_FILES);
        while entries.len() < CONCURRENT_FILES
            && let Some(line) = lines.next_line()?
        {
            entries.push(serde_json::from_slice::<FileEntry>(line)?);
        }
        if entries.is_empty() {
            return Ok(moved);
        }
        let copies = entries.iter().map(|entry| async {
            let key = FileKey::new(&entry.key);
            installation.files.relocate(&key, entry.sha256.as_deref()).await
        });
        for (outcome, entry) in installation
            .runtime
            .block_on(join_all(copies))
            .into_iter()
            .zip(&entries)
        {
            match outcome {
                Ok(Relocated::Copied) => moved.copied += 1,
                Ok(Relocated::Present) => moved.present += 1,
                Ok(Relocated::Missing) => moved.failed.push(entry.key.clone()),
                Err(common::error::Error::NotReady) => {
                    return Err(common::error::Error::NotReady).context("the storage is unavailable");
                }
                Err(error) => {
                    tracing::error!(error = format!("{error:?}"), file.key = %entry.key, "file not copied");
                    moved.failed.push(entry.key.clone());
                }
            }
        }
        ensure!(
            moved.failed.len() <= FAULTS_MAX,
            "more than {FAULTS_MAX} files cannot be copied"
        );
        report_progress(Progress {
            what: "files".to_owned(),
            done: moved.copied + moved.present,
            of: Some(named),
            bytes: 0,
        });
    }
}
