//! Backup and restore of the whole service: a consistent snapshot of the rows, the files that they refer to, and a
//! manifest that proves completeness. An archive is streamed, so memory does not depend on its size. All functions
//! block: they run on the thread of a command.

mod encryption;
pub mod erasure_journal;
mod folder;
mod format;
pub mod ownership;
mod quarantine;
mod read;
mod relocate;
mod restore;
pub mod school;
mod scrub;
mod write;

use std::path::PathBuf;

use tokio::runtime::Handle;

pub use self::encryption::{ArchiveFile, Identities, Recipients};
pub use self::folder::{BackupFolder, FetchedFile, archive_name, split_archive_path};
pub use self::format::{ArchiveHeader, ArchivedFiles, Manifest};
pub use self::quarantine::{QuarantineSummary, restore_quarantine};
pub use self::read::{BackupArchive, verify};
pub use self::relocate::{MovedFiles, move_files};
pub use self::restore::{RestoreSummary, restore};
pub use self::scrub::{Findings, scrub};
pub use self::write::{ArchiveOutput, BackupSummary, WriteOptions, write};
use adapters::blob_store::BlobStore;
use db::{Database, Store};

/// The database and the file storage of a command.
#[derive(Clone)]
pub struct Installation {
    pub database: Database,
    pub files: BlobStore,
    /// The data folder, which contains the erasure journal.
    pub data_dir: PathBuf,
    /// The runtime of the command; its threads do the file I/O.
    pub runtime: Handle,
}

impl Installation {
    /// Rejects a file storage that belongs to another database.
    pub fn verify_storage(&self) -> anyhow::Result<()> {
        let store = Store::open(&self.database, 1, 1)?;
        Ok(self.runtime.block_on(ownership::verify(&store, &self.files))?)
    }

    /// Assigns the file storage to this database.
    pub fn adopt_storage(&self) -> anyhow::Result<()> {
        let store = Store::open(&self.database, 1, 1)?;
        Ok(self.runtime.block_on(ownership::adopt(&store, &self.files))?)
    }
}

/// The progress of a command.
#[derive(Debug, Clone)]
pub struct Progress {
    /// The current step.
    pub what: String,
    /// The number of items that are done.
    pub done: u64,
    /// The total number of items, if known.
    pub of: Option<u64>,
    /// The number of bytes so far.
    pub bytes: u64,
}

/// A callback for the progress.
pub type ProgressCallback<'t> = &'t mut dyn FnMut(Progress);

/// The buffer size in bytes.
const CHUNK_BYTES: usize = 256 * 1024;
