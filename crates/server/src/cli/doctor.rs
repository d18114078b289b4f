//! `groupwork doctor`: checks all dependencies of the service separately and in both directions, and prints what to
//! do about each fault. It changes nothing: the database is only read, a probe file is written and deleted.

mod disk;
mod documents;
mod server;

use super::database::announce;
use crate::bootstrap::open_existing;
use crate::config::{Config, ServeArgs, StorageArgs};
use backup::ownership;
use common::error::Error;
use common::settings::SettingsError;
use db::platform::CrossTenantReason;
use db::{Database, Store};

/// The result of one check.
pub enum Finding {
    /// It works.
    Fine(String),
    /// It works, with a warning.
    Notice(String),
    /// It does not work; contains what to do about it.
    Fault(String),
}

/// The results in the order of the checks.
#[derive(Default)]
pub struct DoctorReport(Vec<(&'static str, Finding)>);

impl DoctorReport {
    /// Adds a result and prints it.
    pub fn add(&mut self, about: &'static str, finding: Finding) {
        let (sign, words) = match &finding {
            Finding::Fine(words) => ("ok    ", words),
            Finding::Notice(words) => ("notice", words),
            Finding::Fault(words) => ("FAULT ", words),
        };
        println!("{sign}  {about:<16} {words}");
        self.0.push((about, finding));
    }

    fn faults(&self) -> usize {
        self.0
            .iter()
            .filter(|(_, finding)| matches!(finding, Finding::Fault(_)))
            .count()
    }
}

/// Runs all checks; the exit code is nonzero if there was a fault.
pub fn run(serve: ServeArgs, storage: StorageArgs) -> anyhow::Result<()> {
    let mut found = DoctorReport::default();
    let config = match Config::check(serve, storage) {
        Ok(config) => {
            found.add("settings", Finding::Fine("complete".to_owned()));
            config
        }
        Err(refused) => {
            found.add("settings", Finding::Fault(refused.to_string()));
            return Err(
                SettingsError("Nothing else can be tried without settings: groupwork config init".to_owned()).into(),
            );
        }
    };
    super::runtime()?.block_on(async {
        database(&config, &mut found).await;
        files(&config, &mut found).await;
        documents::examine(&config, &mut found).await;
    });
    match found.faults() {
        0 => {
            println!("\nEverything the service needs works.");
            Ok(())
        }
        faults => Err(SettingsError(format!("\n{faults} faults")).into()),
    }
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
            let read = store.platform_read(CrossTenantReason::CommandLine, |platform| platform.system_facts());
            match read.await {
                Ok(facts) => found.add(
                    "database",
                    Finding::Fine(format!("{kind}, schema {}", facts.schema_version)),
                ),
                Err(error) => found.add("database", fault(&error)),
            }
            ownership(config, &store, found).await;
        }
        Ok(None) => found.add(
            "database",
            Finding::Notice(format!("{kind} is not there yet; the first start creates it")),
        ),
        Err(error) => return found.add("database", fault(&error)),
    }
    server::examine(config, &database, found).await;
}

/// Checks that rows and files belong together. Ignores a storage that is unavailable, which a later check reports.
async fn ownership(config: &Config, store: &Store, found: &mut DoctorReport) {
    let Ok(files) = config.storage.open_files().await else {
        return;
    };
    match ownership::verify(store, &files).await {
        Ok(()) => found.add(
            "rows and files",
            Finding::Fine("the file storage belongs to the database".to_owned()),
        ),
        Err(Error::NotReady) => {}
        Err(error) => found.add("rows and files", fault(&error)),
    }
}

async fn files(config: &Config, found: &mut DoctorReport) {
    let place = config
        .storage
        .files_url
        .clone()
        .unwrap_or_else(|| config.storage.data_dir.display().to_string());
    match config.storage.open_files().await {
        Ok(files) if files.is_writable().await => found.add("files", Finding::Fine(format!("{place} can be written"))),
        Ok(_) => found.add(
            "files",
            Finding::Fault(format!(
                "{place} cannot be written; compare the owner and the free space"
            )),
        ),
        Err(error) => found.add("files", fault(&error)),
    }
    if config.storage.files_url.is_none() {
        found.add("disk", disk::examine(&config.storage.data_dir));
    }
}

fn fault(error: &Error) -> Finding {
    Finding::Fault(match error {
        // The cause is hidden from API clients, but operators need it.
        Error::Internal(cause) => format!("{cause:#}"),
        other => other.to_string(),
    })
}
