//! A fresh database for each test, cloned from a template that is created once per process.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Instant;

use db::{Database, migrate};
use groupwork::bootstrap::open_store;

use super::{World, scratch};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseKind {
    Sqlite,
    Postgres,
}

/// Returns the URL of the PostgreSQL server of this run. Without a server the test is skipped with a message, but in CI
/// it fails.
pub fn server() -> Option<String> {
    super::hang_watchdog::watch();
    let url = super::environment("TEST_DATABASE_URL");
    if url.is_none() {
        assert!(
            super::environment("CI").is_none(),
            "TEST_DATABASE_URL is required in CI: run `make test`"
        );
        super::report_skipped("tests on PostgreSQL: TEST_DATABASE_URL is not set; `make test` starts a server");
    }
    url
}

/// Creates a PostgreSQL database with the newest schema and no test data.
pub fn postgres() -> Option<Database> {
    static TEMPLATE: OnceLock<String> = OnceLock::new();
    let url = server()?;
    Some(on_thread(move || {
        let template = TEMPLATE.get_or_init(|| {
            let name = format!("groupwork_schema_{}", std::process::id());
            execute(&url, &format!("CREATE DATABASE {name}"));
            migrate(&Database::Postgres(with_name(&url, &name))).unwrap();
            name
        });
        clone_of(&url, template)
    }))
}

/// Creates a PostgreSQL database without tables.
pub fn empty() -> Option<Database> {
    let url = server()?;
    Some(on_thread(move || {
        let name = fresh_name();
        execute(&url, &format!("CREATE DATABASE {name}"));
        Database::Postgres(with_name(&url, &name))
    }))
}

/// Creates a database with the users and classes of [`World`]; the file of a SQLite database is created in `folder`.
pub fn with_world(kind: DatabaseKind, folder: &Path) -> Option<(Database, World)> {
    match kind {
        DatabaseKind::Sqlite => {
            static TEMPLATE: OnceLock<(PathBuf, World)> = OnceLock::new();
            let (template, world) = TEMPLATE.get_or_init(|| on_thread(sqlite_template));
            let path = folder.join("groupwork.db");
            std::fs::copy(template, &path).unwrap();
            Some((Database::Sqlite(path), world.clone()))
        }
        DatabaseKind::Postgres => {
            static TEMPLATE: OnceLock<(String, World)> = OnceLock::new();
            let url = server()?;
            Some(on_thread(move || {
                let (template, world) = TEMPLATE.get_or_init(|| postgres_template(&url));
                (clone_of(&url, template), world.clone())
            }))
        }
    }
}

/// Drops a PostgreSQL database that this module created.
pub fn drop_postgres(database: &Database) {
    let Database::Postgres(url) = database else { return };
    let (url, name) = (url.clone(), url.rsplit('/').next().unwrap().to_owned());
    on_thread(move || {
        execute(
            &url.replace(&name, "postgres"),
            &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
        );
    });
}

fn sqlite_template() -> (PathBuf, World) {
    let folder = scratch::folder();
    let database = Database::Sqlite(folder.path().join("groupwork.db"));
    let world = seed(&database);
    let template = scratch::shared_folder().join("template.db");
    let connection = rusqlite::Connection::open(folder.path().join("groupwork.db")).unwrap();
    connection
        .execute("VACUUM INTO ?1", [template.to_str().unwrap()])
        .unwrap();
    (template, world)
}

fn postgres_template(url: &str) -> (String, World) {
    let name = format!("groupwork_world_{}", std::process::id());
    execute(url, &format!("CREATE DATABASE {name}"));
    let world = seed(&Database::Postgres(with_name(url, &name)));
    // PostgreSQL clones a database only while it has no sessions, and the store closes its connections asynchronously.
    execute(url, &format!("ALTER DATABASE {name} WITH ALLOW_CONNECTIONS false"));
    execute(
        url,
        &format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"),
    );
    (name, world)
}

/// Migrates a database and inserts the users and classes of [`World`].
fn seed(database: &Database) -> World {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = open_store(database, 1, 1).await.unwrap();
        World::create(&store, database).await
    })
}

fn clone_of(url: &str, template: &str) -> Database {
    let name = fresh_name();
    execute(url, &format!("CREATE DATABASE {name} TEMPLATE {template}"));
    Database::Postgres(with_name(url, &name))
}

fn fresh_name() -> String {
    format!("t{}", common::clock::new_id().replace('-', ""))
}

fn with_name(url: &str, name: &str) -> String {
    format!("{}/{name}", url.rsplit_once('/').unwrap().0)
}

/// Runs a closure on a thread without an async runtime: the synchronous driver must not block one.
fn on_thread<T: Send>(act: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(act).join().unwrap())
}

/// Executes a statement. PostgreSQL waits only five seconds for the last session of a database that is cloned or dropped;
/// the statement is then repeated.
fn execute(url: &str, statement: &str) {
    let mut client = postgres::Client::connect(url, postgres::NoTls).unwrap();
    let since = Instant::now();
    while let Err(error) = client.batch_execute(statement) {
        let is_in_use = error.code() == Some(&postgres::error::SqlState::OBJECT_IN_USE);
        assert!(
            is_in_use && since.elapsed() < super::WAIT_TIMEOUT,
            "{statement}: {error}"
        );
    }
}
