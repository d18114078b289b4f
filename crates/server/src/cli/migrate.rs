//! `groupwork migrate`: applies pending migrations.

use anyhow::Context as _;

use super::database::{self, CreateArgs};
use crate::config::StorageArgs;
use db::{Database, migrate};

/// Applies pending migrations; idempotent.
pub fn run(storage: &StorageArgs, create: CreateArgs) -> anyhow::Result<()> {
    let database = database::existing_or_new(storage, create)?;
    if let Database::Sqlite(path) = &database
        && let Some(folder) = path.parent()
    {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let applied = migrate(&database).context("migrate")?;
    println!("{applied} migrations applied");
    Ok(())
}
