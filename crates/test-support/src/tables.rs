//! A fingerprint of every table, to prove that a rejected request changed nothing.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use db::Database;

/// Tables that change independently of requests: sign-in counters, the event outbox, queued emails, and storage usage.
const VOLATILE: [&str; 7] = [
    "event_outbox",
    "letters",
    "refinery_schema_history",
    "sessions",
    "sign_in_failure_counts",
    "sign_in_failures",
    "storage_usages",
];

/// Returns a fingerprint of each table's rows.
pub async fn fingerprints(database: &Database) -> BTreeMap<String, u64> {
    let database = database.clone();
    let all = tokio::task::spawn_blocking(move || all_rows(&database));
    all.await
        .unwrap()
        .into_iter()
        .filter(|(table, _)| !VOLATILE.contains(&table.as_str()))
        .map(|(table, rows)| (table, fingerprint(rows)))
        .collect()
}

/// Returns each table's rows as text.
pub fn all_rows(database: &Database) -> BTreeMap<String, Vec<String>> {
    match database {
        Database::Sqlite(path) => sqlite(path),
        Database::Postgres(url) => postgres(url),
    }
}

fn fingerprint(mut rows: Vec<String>) -> u64 {
    rows.sort();
    let mut hasher = DefaultHasher::new();
    rows.hash(&mut hasher);
    hasher.finish()
}

fn sqlite(path: &std::path::Path) -> BTreeMap<String, Vec<String>> {
    let connection = rusqlite::Connection::open(path).unwrap();
    let list = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let mut statement = connection.prepare(list).unwrap();
    let tables: Vec<String> = statement
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let rows_of = |table: &str| -> Vec<String> {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        let mut texts = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            let values = (0..columns).map(|index| value(row.get_ref(index).unwrap()));
            texts.push(values.collect::<Vec<_>>().join("|"));
        }
        texts
    };
    tables
        .into_iter()
        .map(|table| (table.clone(), rows_of(&table)))
        .collect()
}

/// Formats a value with readable texts, so that tests can search for words.
fn value(value: rusqlite::types::ValueRef<'_>) -> String {
    match value {
        rusqlite::types::ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        other => format!("{other:?}"),
    }
}

fn postgres(url: &str) -> BTreeMap<String, Vec<String>> {
    let mut client = postgres::Client::connect(url, postgres::NoTls).unwrap();
    let list = "SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public'";
    let tables: Vec<String> = client.query(list, &[]).unwrap().iter().map(|row| row.get(0)).collect();
    let mut rows_of = |table: &str| -> Vec<String> {
        let rows = client.query(&format!("SELECT t::text FROM {table} t"), &[]).unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    };
    tables
        .into_iter()
        .map(|table| (table.clone(), rows_of(&table)))
        .collect()
}
