//! Direct reads and writes of rows: states that no route of these tests can create, and checks of the stored data.

use db::Database;

/// Runs one statement without arguments.
pub async fn execute(database: &Database, statement: String) {
    let database = database.clone();
    let run = tokio::task::spawn_blocking(move || match &database {
        Database::Sqlite(path) => {
            let connection = rusqlite::Connection::open(path).unwrap();
            connection.busy_timeout(super::WAIT_TIMEOUT).unwrap();
            connection.execute_batch("PRAGMA foreign_keys = ON").unwrap();
            connection.execute_batch(&statement).unwrap();
        }
        Database::Postgres(url) => {
            postgres::Client::connect(url, postgres::NoTls)
                .unwrap()
                .batch_execute(&statement)
                .unwrap();
        }
    });
    run.await.unwrap();
}

/// Returns the first column, a text, of every row.
pub async fn texts(database: &Database, query: String) -> Vec<Option<String>> {
    let database = database.clone();
    let read = tokio::task::spawn_blocking(move || match &database {
        Database::Sqlite(path) => {
            let connection = rusqlite::Connection::open(path).unwrap();
            let mut statement = connection.prepare(&query).unwrap();
            statement
                .query_map([], |row| row.get(0))
                .unwrap()
                .map(Result::unwrap)
                .collect()
        }
        Database::Postgres(url) => {
            let mut client = postgres::Client::connect(url, postgres::NoTls).unwrap();
            client
                .query(&query, &[])
                .unwrap()
                .iter()
                .map(|row| row.get(0))
                .collect()
        }
    });
    read.await.unwrap()
}
