//! The whole service carried away and brought back: rows of one moment, the files they name, and a list of both that
//! proves nothing is missing. One archive, read and written from first to last; the memory it takes does not grow with it.
//! All of it blocks: it runs on the thread of a command.

pub mod erase_list;
mod format;
pub mod ownership;
mod quarantine;
mod read;
mod restore;
mod scrub;
mod write;

use std::path::PathBuf;

use tokio::runtime::Handle;

pub use self::format::{Header, Manifest};
pub use self::quarantine::{Returned, restore_quarantine};
pub use self::read::{Archive, verify};
pub use self::restore::{Restored, restore};
pub use self::scrub::{Findings, scrub};
pub use self::write::{Written, write};
use adapters::files::Files;
use db::{Database, Store};

/// Where rows and files are, and where file work runs.
#[derive(Clone)]
pub struct Place {
    /// The rows.
    pub database: Database,
    /// The bytes.
    pub files: Files,
    /// The folder of this installation; the list of erased people lies there.
    pub data_dir: PathBuf,
    /// The runtime of the command; its threads do the file work.
    pub runtime: Handle,
}

impl Place {
    /// Refuses a file storage that belongs to another database.
    pub fn verify_storage(&self) -> anyhow::Result<()> {
        let store = Store::open(&self.database, 1, 1)?;
        Ok(self.runtime.block_on(ownership::verify(&store, &self.files))?)
    }

    /// Marks the file storage as that of this database.
    pub fn adopt_storage(&self) -> anyhow::Result<()> {
        let store = Store::open(&self.database, 1, 1)?;
        Ok(self.runtime.block_on(ownership::adopt(&store, &self.files))?)
    }
}

/// How far it has come.
#[derive(Debug, Clone)]
pub struct Progress {
    /// What is being done.
    pub what: String,
    /// How many of them are done.
    pub done: u64,
    /// How many there are, where that is known.
    pub of: Option<u64>,
    /// Bytes so far.
    pub bytes: u64,
}

/// Is told now and then how far it has come.
pub type Tell<'t> = &'t mut dyn FnMut(Progress);

/// Bytes read or written at once.
const PIECE: usize = 256 * 1024;
