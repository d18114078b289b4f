//! Selects the database of a command: prints it to stderr and creates a new one only on request. Otherwise a command
//! with wrong settings would create an empty database, succeed and have no effect.

use anyhow::{Context as _, bail};
use clap::Args;

use crate::config::StorageArgs;
use db::Database;

/// The permission to create a database.
#[derive(Args, Debug, Clone, Copy)]
pub struct CreateArgs {
    /// Create the database if it does not exist; by default only `serve`, `restore` and `demo` do
    #[arg(long)]
    create_database: bool,
}

/// Prints the database in use to stderr, without its password.
pub fn announce(database: &Database) {
    super::report(&format!("database: {}", database.describe()));
}

/// Returns the configured database, which must exist.
pub fn existing(storage: &StorageArgs) -> anyhow::Result<Database> {
    opened(storage, "Only `groupwork serve` and `groupwork restore` create one")
}

/// Returns the configured database, which must exist unless the command may create it.
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

fn opened(storage: &StorageArgs, hint: &str) -> anyhow::Result<Database> {
    let database = storage.database()?;
    announce(&database);
    if !database.has_schema().context("open the database")? {
        bail!(
            "there is no database of groupwork at {}. Compare DATA_DIR and DATABASE_URL. {hint}",
            database.describe()
        );
    }
    Ok(database)
}
