//! Selects the database of a command: prints it to stderr and creates a new one only on request. A command that
//! makes one where it was pointed to the wrong place succeeds and does nothing.

use anyhow::{Context as _, bail};
use clap::Args;

use crate::config::StorageArgs;
use db::Database;

/// The permission to make a new database.
#[derive(Args, Debug, Clone, Copy)]
pub struct CreateArgs {
    /// Create the database where there is none; without this only `serve`, `restore` and `demo` do
    #[arg(long)]
    create_database: bool,
}

/// Prints the database in use to stderr, without its password.
pub fn announce(database: &Database) {
    super::report(&format!("database: {}", database.describe()));
}

/// The database of the settings, which must exist already.
pub fn existing(storage: &StorageArgs) -> anyhow::Result<Database> {
    opened(storage, "Only `groupwork serve` and `groupwork restore` create one")
}

/// The database of the settings, which must exist already unless the command may make it.
pub fn existing_or_new(storage: &StorageArgs, create: CreateArgs) -> anyhow::Result<Database> {
    if create.create_database {
        let database = storage.database()?;
        announce(&database);
        return Ok(database);
    }
    opened(
        storage,
        "Start the service once (`groupwork serve`), or say --create-database",
    )
}

fn opened(storage: &StorageArgs, way_out: &str) -> anyhow::Result<Database> {
    let database = storage.database()?;
    announce(&database);
    if !database.has_schema().context("open the database")? {
        bail!(
            "there is no database of groupwork at {}. Compare DATA_DIR and DATABASE_URL. {way_out}",
            database.describe()
        );
    }
    Ok(database)
}
