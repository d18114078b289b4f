//! `groupwork files`: where the files are stored.

use anyhow::bail;
use clap::Subcommand;

use super::backup::{ProgressPrinter, describe_names, with_installation};
use super::database;
use crate::config::StorageArgs;

#[derive(Subcommand)]
pub enum FilesCommand {
    /// Copy all files from `FILES_FALLBACK_URL` to `FILES_URL`, while the service runs with both settings
    Move {
        #[command(flatten)]
        storage: StorageArgs,
    },
}

impl FilesCommand {
    pub fn run(self) -> anyhow::Result<()> {
        let Self::Move { storage } = self;
        if storage.fallback_url().is_none() {
            bail!("FILES_FALLBACK_URL is not set: it names the storage that the files are copied from");
        }
        let database = database::existing(&storage)?;
        let mut progress_printer = ProgressPrinter::new();
        let moved = with_installation(&storage, database, |installation| {
            installation.verify_storage()?;
            backup::move_files(installation, &mut |progress| progress_printer.print(&progress))
        })?;
        for line in describe_names("not copied", &moved.failed) {
            println!("{line}");
        }
        println!(
            "{} files copied, {} were there, {} failed",
            moved.copied,
            moved.present,
            moved.failed.len()
        );
        if moved.failed.is_empty() {
            return Ok(());
        }
        bail!("keep FILES_FALLBACK_URL: not all files are in the new storage")
    }
}
