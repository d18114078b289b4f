//! `groupwork doctor`: checks all dependencies of the service separately and in both directions, and prints what to
//! do about each fault. It changes nothing: the database is only read, a probe file is written and deleted.

mod address;
mod disk;
mod documents;
mod mail;
mod report;
mod server;
mod storage;

use self::report::{DoctorReport, Finding};
use super::database::announce;
use crate::bootstrap::open_existing;
use crate::config::{Config, ServeArgs, StorageArgs, settings_file};
use common::error::Error;
use common::settings::SettingsError;
use db::platform::CrossTenantReason;
use db::{Database, SchemaState, compare_schema};

/// Runs all checks; the exit code is nonzero if there was a fault.
pub fn run(serve: ServeArgs, storage: StorageArgs, as_json: bool) -> anyhow::Result<()> {
    let mut found = DoctorReport::new(as_json);
    let source = settings_file::loaded().map_or_else(
        || "the environment".to_owned(),
        |file| format!("{} and the environment", file.path.display()),
    );
    match Config::check(serve, storage) {
        Ok(config) => {
            found.add("settings", Finding::Fine(format!("complete: {source}")));
            super::runtime()?.block_on(examine(&config, &mut found));
        }
        Err(refused) => {
            let message = format!("{refused} (settings of {source}); nothing else is checked");
            found.add("settings", Finding::Fault(message));
        }
    }
    match found.finish() {
        0 => Ok(()),
        1 => Err(SettingsError("1 fault".to_owned()).into()),
        faults => Err(SettingsError(format!("{faults} faults")).into()),
    }
}

async fn examine(config: &Config, found: &mut DoctorReport) {
    database(config, found).await;
    storage::examine(config, found).await;
    mail::examine(config, found).await;
    address::examine(config, found).await;
    documents::examine(config, found).await;
}

async fn database(config: &Config, found: &mut DoctorReport) {
    let database = match config.storage.database() {
        Ok(database) => database,
        Err(refused) => return found.add("database", Finding::Fault(refused.to_string())),
    };
    let kind = match &database {
        Database::Sqlite(path) => path.display().to_string(),
        Database::Postgres(_) => "PostgreSQL".to_owned(),
    };
    announce(&database);
    let asked = database.clone();
    let has_schema = tokio::task::spawn_blocking(move || asked.has_schema()).await;
    if let Ok(Err(error)) = has_schema {
        return found.add("database", fault(&error));
    }
    if let (Ok(Ok(false)), Database::Postgres(_)) = (&has_schema, &database) {
        let words = format!("{kind} is empty; the first start brings the schema");
        found.add("database", Finding::Fine(words));
        return server::examine(config, &database, found).await;
    }
    match open_existing(&database).await {
        Ok(Some(store)) => {
            let read = store.platform_read(CrossTenantReason::CommandLine, |platform| platform.schema_version());
            match read.await {
                Ok(version) => found.add("database", check_schema(&database, &kind, version).await),
                Err(error) => found.add("database", fault(&error)),
            }
            storage::check_owner(config, &store, found).await;
            mail::examine_records(&store, found).await;
        }
        Ok(None) => found.add(
            "database",
            Finding::Notice(format!("{kind} is not there yet; the first start creates it")),
        ),
        Err(error) => return found.add("database", fault(&error)),
    }
    server::examine(config, &database, found).await;
}

/// Compares the schema with this release.
async fn check_schema(database: &Database, kind: &str, version: i64) -> Finding {
    let database = database.clone();
    let compared = tokio::task::spawn_blocking(move || compare_schema(&database)).await;
    let message = format!("{kind}, schema {version}");
    match compared {
        Ok(Ok(SchemaState::Current)) => Finding::Fine(message),
        Ok(Ok(SchemaState::Outdated)) => Finding::Fine(format!("{message}; the next start applies newer migrations")),
        Ok(Ok(SchemaState::Newer)) => Finding::Notice(format!(
            "{message} is that of a later release, with which this one can work"
        )),
        Ok(Err(error)) => fault(&error),
        Err(error) => Finding::Fault(error.to_string()),
    }
}

fn fault(error: &Error) -> Finding {
    Finding::Fault(match error {
        // The cause is hidden from API clients, but operators need it.
        Error::Internal(cause) => format!("{cause:#}"),
        other => other.to_string(),
    })
}
