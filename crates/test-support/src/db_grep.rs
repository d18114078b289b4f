//! Searches the whole database for a text. The tables are read from the schema, so that none is missed.

use std::collections::BTreeMap;

use db::Database;

use super::rows::texts;

/// Returns the tables whose rows belong to an organization.
pub async fn tenant_tables(database: &Database) -> Vec<String> {
    let query = match database {
        Database::Sqlite(_) => {
            "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c ON c.name = 'organization_id'
                WHERE m.type = 'table' ORDER BY m.name"
        }
        Database::Postgres(_) => {
            "SELECT CAST(table_name AS TEXT) FROM information_schema.columns
                WHERE table_schema = 'public' AND column_name = 'organization_id' ORDER BY table_name"
        }
    };
    texts(database, query.to_owned()).await.into_iter().flatten().collect()
}

/// Counts the rows of an organization in each of these tables.
pub async fn rows_of(database: &Database, organization: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for table in tenant_tables(database).await {
        let query = format!("SELECT organization_id FROM {table} WHERE organization_id = '{organization}'");
        counts.insert(table, texts(database, query).await.len());
    }
    counts
}

/// Returns the rows of all tables that contain a text in any column, as (table, row text).
pub async fn mentions(database: &Database, needle: &str) -> Vec<(String, String)> {
    let (database, needle) = (database.clone(), needle.to_owned());
    let all = tokio::task::spawn_blocking(move || match &database {
        Database::Sqlite(path) => sqlite(path),
        Database::Postgres(url) => postgres(url),
    });
    let mut found = all.await.unwrap();
    found.retain(|(_, row)| row.contains(&needle));
    found
}

fn sqlite(path: &std::path::Path) -> Vec<(String, String)> {
    let connection = rusqlite::Connection::open(path).unwrap();
    let list = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let mut statement = connection.prepare(list).unwrap();
    let tables: Vec<String> = statement
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let mut found = Vec::new();
    for table in tables {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            // Decodes texts, which are otherwise formatted as bytes.
            let values = (0..columns).map(|index| match row.get_ref(index).unwrap() {
                rusqlite::types::ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
                other => format!("{other:?}"),
            });
            found.push((table.clone(), values.collect::<Vec<_>>().join("|")));
        }
    }
    found
}

fn postgres(url: &str) -> Vec<(String, String)> {
    let mut client = postgres::Client::connect(url, postgres::NoTls).unwrap();
    let list = "SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public'";
    let tables: Vec<String> = client.query(list, &[]).unwrap().iter().map(|row| row.get(0)).collect();
    let mut found = Vec::new();
    for table in tables {
        let rows = client.query(&format!("SELECT t::text FROM {table} t"), &[]).unwrap();
        found.extend(rows.iter().map(|row| (table.clone(), row.get(0))));
    }
    found
}
