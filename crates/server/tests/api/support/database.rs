//! A fresh database per test: a SQLite file, or a PostgreSQL clone of one migrated template.

use std::sync::{Mutex, OnceLock, PoisonError};

use db::{Database, migrate};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Sqlite,
    Postgres,
}

/// The PostgreSQL server of this run. Without one the test is skipped loudly, and never in CI.
pub fn server() -> Option<String> {
    super::overdue::watch();
    let url = super::environment("TEST_DATABASE_URL");
    if url.is_none() {
        assert!(
            super::environment("CI").is_none(),
            "TEST_DATABASE_URL is required in CI: run `make test`"
        );
        println!("SKIPPED on PostgreSQL: TEST_DATABASE_URL is not set; `make test` starts a server");
    }
    url
}

/// A fresh PostgreSQL database with the newest schema; runs on a thread without async runtime.
pub fn postgres() -> Option<Database> {
    let url = server()?;
    let name = fresh_name();
    std::thread::spawn(move || {
        let template = template(&url);
        execute(&url, &format!("CREATE DATABASE {name} TEMPLATE {template}"));
        Some(Database::Postgres(with_name(&url, &name)))
    })
    .join()
    .unwrap()
}

/// A fresh PostgreSQL database without any table.
pub fn empty() -> Option<Database> {
    let url = server()?;
    let name = fresh_name();
    std::thread::spawn(move || {
        execute(&url, &format!("CREATE DATABASE {name}"));
        Some(Database::Postgres(with_name(&url, &name)))
    })
    .join()
    .unwrap()
}

fn fresh_name() -> String {
    format!("t{}", common::clock::new_id().replace('-', ""))
}

/// Drops a database of [`postgres`] or [`empty`].
pub fn drop_postgres(database: &Database) {
    let Database::Postgres(url) = database else { return };
    let (url, name) = (url.clone(), url.rsplit('/').next().unwrap().to_owned());
    std::thread::spawn(move || {
        execute(
            &url.replace(&name, "postgres"),
            &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
        );
    })
    .join()
    .unwrap();
}

fn template(url: &str) -> &'static str {
    static TEMPLATE: OnceLock<Mutex<Option<&'static str>>> = OnceLock::new();
    let slot = TEMPLATE.get_or_init(Mutex::default);
    let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
    slot.get_or_insert_with(|| {
        let name = format!("groupwork_template_{}", std::process::id());
        execute(url, &format!("CREATE DATABASE {name}"));
        migrate(&Database::Postgres(with_name(url, &name))).unwrap();
        Box::leak(name.into_boxed_str())
    })
}

fn with_name(url: &str, name: &str) -> String {
    format!("{}/{name}", url.rsplit_once('/').unwrap().0)
}

fn execute(url: &str, statement: &str) {
    let mut client = postgres::Client::connect(url, postgres::NoTls).unwrap();
    client.batch_execute(statement).unwrap();
}
