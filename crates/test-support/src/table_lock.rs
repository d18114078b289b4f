//! Holds a table of PostgreSQL, so that a test can act while the service waits for it.

use db::Database;

use crate::rows::texts;
use crate::until;

/// A locked table. Dropping the value releases it too.
pub struct TableLock {
    database: Database,
    table: &'static str,
    client: postgres::Client,
}

impl TableLock {
    /// Locks a table in a mode of LOCK TABLE.
    pub async fn hold(database: &Database, table: &'static str, mode: &str) -> Self {
        let Database::Postgres(url) = database.clone() else {
            panic!("SQLite has no locks of tables")
        };
        let lock = format!("BEGIN; LOCK TABLE {table} IN {mode} MODE");
        let locking = tokio::task::spawn_blocking(move || {
            let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
            client.batch_execute(&lock).unwrap();
            client
        });
        Self {
            database: database.clone(),
            table,
            client: locking.await.unwrap(),
        }
    }

    /// Waits until a statement of another connection waits for the table.
    pub async fn wait_for_waiter(&self) {
        let waiting = format!(
            "SELECT CAST(COUNT(*) > 0 AS TEXT) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
            WHERE d.datname = current_database() AND l.relation = CAST('{}' AS regclass) AND NOT l.granted",
            self.table
        );
        until("a statement waits for the table", async || {
            texts(&self.database, waiting.clone()).await == [Some("true".to_owned())]
        })
        .await;
    }

    /// Ends the transaction of the lock, and with it the wait.
    pub async fn release(self) {
        tokio::task::spawn_blocking(move || drop(self.client)).await.unwrap();
    }
}
