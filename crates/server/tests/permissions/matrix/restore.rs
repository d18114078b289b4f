//! Restores the state before a call. Keeps a copy of every table and file, compares it with the current state, and
//! restores the differences with statements that are the same on both databases.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use db::Database;

use test_support::TestApp;
use test_support::row_counts;
use test_support::rows::execute;

/// Tables that change without a call: the event outbox, and what background jobs count and send.
const VOLATILE: [&str; 6] = [
    "event_outbox",
    "letters",
    "settings",
    "sign_in_failure_counts",
    "sign_in_failures",
    "storage_usages",
];

/// Trigger that records which tables are written, so that PostgreSQL does not have to compare all of them after each
/// call. The table has no unique key, so that transactions do not block each other on it.
const TRACK_WRITES: &str = "
    CREATE UNLOGGED TABLE kept.touched (name TEXT NOT NULL);
    CREATE FUNCTION kept.touch() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO kept.touched VALUES (TG_TABLE_NAME); RETURN NULL; END $$;";

/// A backup that never ends.
const SUSPEND_FILE_REMOVALS: &str =
    "INSERT INTO settings (name, value, updated_at) VALUES ('backup-matrix', '', 253402300799000)";

enum DatabaseConnection {
    Sqlite(rusqlite::Connection),
    Postgres(Box<postgres::Client>),
}

struct State {
    /// `None` only during drop.
    backend: Option<DatabaseConnection>,
    tables: Vec<String>,
    files: PathBuf,
    copies: PathBuf,
}

/// Snapshot of the state of a service.
#[derive(Clone)]
pub struct ServiceSnapshot(Arc<Mutex<State>>);

impl ServiceSnapshot {
    /// Takes a snapshot of the current state, and suspends removals of files: one that runs during a restore would remove a
    /// file to which a restored row refers.
    pub async fn take(app: &TestApp) -> Self {
        execute(&app.database, SUSPEND_FILE_REMOVALS.to_owned()).await;
        let (database, folder) = (app.database.clone(), app.folder().to_owned());
        let state = tokio::task::spawn_blocking(move || State::new(&database, &folder));
        Self(Arc::new(Mutex::new(state.await.unwrap())))
    }

    /// Restores the snapshot and returns what differed from it.
    pub async fn restore(&self) -> Vec<String> {
        let state = Arc::clone(&self.0);
        let restored = tokio::task::spawn_blocking(move || state.lock().unwrap().restore());
        restored.await.unwrap()
    }
}

impl State {
    fn new(database: &Database, folder: &std::path::Path) -> Self {
        let tables = row_counts::tables(database);
        let backend = match database {
            Database::Sqlite(path) => {
                let connection = rusqlite::Connection::open(path).unwrap();
                connection.busy_timeout(test_support::WAIT_TIMEOUT).unwrap();
                let copy = folder.join("kept.db");
                let begin = "PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF;";
                connection.execute_batch(begin).unwrap();
                let copied = format!("VACUUM INTO '{0}'; ATTACH '{0}' AS kept;", copy.display());
                connection.execute_batch(&copied).unwrap();
                DatabaseConnection::Sqlite(connection)
            }
            Database::Postgres(url) => {
                let mut client = postgres::Client::connect(url, postgres::NoTls).unwrap();
                // Rows are restored in any order, so this connection does not check foreign keys.
                client
                    .batch_execute("SET session_replication_role = replica; CREATE SCHEMA kept;")
                    .unwrap();
                for table in &tables {
                    let copy = format!("CREATE TABLE kept.{table} AS TABLE {table}; ANALYZE kept.{table}");
                    client.batch_execute(&copy).unwrap();
                }
                client.batch_execute(TRACK_WRITES).unwrap();
                for table in &tables {
                    let trigger = format!(
                        "CREATE TRIGGER touched AFTER INSERT OR UPDATE OR DELETE ON {table}
                            FOR EACH STATEMENT EXECUTE FUNCTION kept.touch()"
                    );
                    client.batch_execute(&trigger).unwrap();
                }
                DatabaseConnection::Postgres(Box::new(client))
            }
        };
        let (files, copies) = (folder.join("files"), folder.join("kept-files"));
        let state = Self {
            backend: Some(backend),
            tables,
            files,
            copies,
        };
        link_missing(&state.files, &state.copies);
        state
    }

    /// Returns the tables whose rows differ from the snapshot.
    fn changed(&mut self) -> Vec<String> {
        let mut tables: Vec<String> = match self.backend.as_mut().unwrap() {
            DatabaseConnection::Sqlite(connection) => {
                let mut statement = connection.prepare_cached(&differences_query(&self.tables)).unwrap();
                let rows = statement.query_map([], |row| row.get(0)).unwrap();
                rows.map(Result::unwrap).collect()
            }
            DatabaseConnection::Postgres(client) => {
                // Rows that a concurrent transaction adds after the start of this one are left to the next call.
                let touched = "WITH gone AS (DELETE FROM kept.touched RETURNING name) SELECT DISTINCT name FROM gone";
                let touched: Vec<String> = client
                    .query(touched, &[])
                    .unwrap()
                    .iter()
                    .map(|row| row.get(0))
                    .collect();
                if touched.is_empty() {
                    return touched;
                }
                let rows = client.query(&differences_query(&touched), &[]).unwrap();
                rows.iter().map(|row| row.get(0)).collect()
            }
        };
        tables.retain(|table| !VOLATILE.contains(&table.as_str()));
        tables
    }

    fn restore(&mut self) -> Vec<String> {
        let changed = self.changed();
        assert!(changed.iter().all(|table| self.tables.contains(table)));
        link_missing(&self.copies, &self.files);
        if changed.is_empty() {
            return changed;
        }
        let backend = self.backend.as_mut().unwrap();
        let (begin, public) = match backend {
            DatabaseConnection::Sqlite(_) => ("BEGIN IMMEDIATE", "main"),
            DatabaseConnection::Postgres(_) => ("BEGIN", "public"),
        };
        let mut batch = begin.to_owned();
        for table in &changed {
            let put =
                format!("; DELETE FROM {public}.{table}; INSERT INTO {public}.{table} SELECT * FROM kept.{table}");
            batch.push_str(&put);
        }
        batch.push_str("; COMMIT");
        match backend {
            DatabaseConnection::Sqlite(connection) => connection.execute_batch(&batch).unwrap(),
            DatabaseConnection::Postgres(client) => run_with_retry(client, &batch),
        }
        changed
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // Dropping the PostgreSQL client blocks, which is not allowed in a task of the async runtime.
        let backend = self.backend.take();
        drop(std::thread::spawn(move || drop(backend)).join());
    }
}

/// Returns a query for the tables whose rows differ from the snapshot.
fn differences_query(tables: &[String]) -> String {
    let differs = |table: &String| {
        format!(
            "SELECT CAST('{table}' AS TEXT) WHERE EXISTS (SELECT * FROM {table} EXCEPT SELECT * FROM kept.{table}) \
             OR EXISTS (SELECT * FROM kept.{table} EXCEPT SELECT * FROM {table})"
        )
    };
    tables.iter().map(differs).collect::<Vec<_>>().join(" UNION ALL ")
}

/// Runs the batch until it succeeds. A background task of a call may hold a lock on one of its rows and wait for
/// another (deadlock).
fn run_with_retry(client: &mut postgres::Client, batch: &str) {
    use postgres::error::SqlState;
    for _ in 0..10 {
        match client.batch_execute(batch) {
            Err(error) if error.code() == Some(&SqlState::T_R_DEADLOCK_DETECTED) => {
                client.batch_execute("ROLLBACK").unwrap();
            }
            done => return done.unwrap(),
        }
    }
    panic!("ten deadlocks one after another");
}

/// Hard-links every file of one folder that is missing in the other.
fn link_missing(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    let Ok(entries) = std::fs::read_dir(from) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            link_missing(&path, &target);
        } else if !target.exists() {
            // A temporary file may have disappeared in the meantime.
            drop(std::fs::hard_link(&path, &target));
        }
    }
}
