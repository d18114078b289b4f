//! Multiplies the measured class and the activity log by copying rows with statements that both databases support.

use std::path::{Path, PathBuf};

use anyhow::ensure;

/// Tables of a class and their columns that refer to the class; copies get ids of their own in these columns.
const COPIED: [(&str, &[&str]); 9] = [
    ("classes", &["id", "name", "name_key"]),
    ("class_subjects", &["class_id"]),
    ("class_enrollments", &["id", "class_id"]),
    ("courses", &["id", "class_id"]),
    ("groups", &["id", "class_id", "course_id"]),
    ("group_members", &["id", "class_id", "group_id"]),
    ("work_rooms", &["id", "group_id"]),
    ("assignments", &["id", "class_id", "course_id"]),
    ("group_assignments", &["id", "class_id", "assignment_id", "group_id"]),
];

/// Location of the rows of a service.
#[derive(Debug, Clone)]
pub enum DatabaseLocation {
    /// A database file.
    Sqlite(PathBuf),
    /// A connection URL.
    Postgres(String),
}

/// A database connection besides the service's own.
enum CopyConnection {
    Sqlite(rusqlite::Connection),
    Postgres(Box<postgres::Client>),
}

impl DatabaseLocation {
    /// Copies the measured class this many times. Returns the number of rows.
    pub fn copy_classes(&self, copies: usize) -> anyhow::Result<usize> {
        // The PostgreSQL client has its own runtime, which cannot be started inside another one.
        std::thread::scope(|scope| scope.spawn(|| self.open()?.copy_classes(copies)).join()).map_err(gone)?
    }

    /// Copies the records of the activity log until there are at least `wanted`, each copy a second older than the
    /// previous one. Returns their number.
    pub fn copy_log(&self, wanted: usize) -> anyhow::Result<usize> {
        std::thread::scope(|scope| scope.spawn(|| self.open()?.copy_log(wanted)).join()).map_err(gone)?
    }

    fn open(&self) -> anyhow::Result<CopyConnection> {
        match self {
            Self::Sqlite(path) => {
                let connection = rusqlite::Connection::open(path)?;
                connection.busy_timeout(std::time::Duration::from_secs(10))?;
                Ok(CopyConnection::Sqlite(connection))
            }
            Self::Postgres(url) => {
                let client = postgres::Client::connect(url, postgres::NoTls)?;
                Ok(CopyConnection::Postgres(Box::new(client)))
            }
        }
    }
}

fn gone(_: Box<dyn std::any::Any + Send>) -> anyhow::Error {
    anyhow::anyhow!("the thread that copied rows panicked")
}

impl CopyConnection {
    fn copy_classes(&mut self, copies: usize) -> anyhow::Result<usize> {
        self.run("BEGIN")?;
        // Copies only the rows that exist now; copies of copies would grow without end.
        for (table, _) in COPIED {
            self.run(&format!("CREATE TEMP TABLE original_{table} AS SELECT * FROM {table}"))?;
        }
        let mut rows = 0;
        for (table, renamed) in COPIED {
            rows += self.copy(table, copies, |column| {
                renamed
                    .contains(&column)
                    .then(|| format!("'c' || number || '-' || {column}"))
            })?;
        }
        self.run("COMMIT")?;
        self.run("ANALYZE")?;
        Ok(rows)
    }

    fn copy_log(&mut self, wanted: usize) -> anyhow::Result<usize> {
        self.run("BEGIN")?;
        self.run("CREATE TEMP TABLE original_activity_logs AS SELECT * FROM activity_logs")?;
        let there = self.run("UPDATE original_activity_logs SET details = details")?;
        ensure!(there > 0, "nothing was recorded");
        let copies = wanted.saturating_sub(there).div_ceil(there);
        let rows = self.copy("activity_logs", copies, |column| match column {
            "id" => Some("'r' || number || '-' || id".to_owned()),
            "created_at" => Some("created_at - 1000 * number".to_owned()),
            _ => None,
        })?;
        self.run("COMMIT")?;
        self.run("ANALYZE")?;
        Ok(there + rows)
    }

    /// Inserts copies of the saved rows; `changed` returns the expression of a column that differs.
    fn copy(&mut self, table: &str, copies: usize, changed: impl Fn(&str) -> Option<String>) -> anyhow::Result<usize> {
        let columns = self.columns(table)?;
        let selected: Vec<String> = columns
            .iter()
            .map(|column| changed(column).unwrap_or_else(|| column.clone()))
            .collect();
        self.run(&format!(
            "INSERT INTO {table} ({}) WITH RECURSIVE copies(number) AS (
                SELECT 1 UNION ALL SELECT number + 1 FROM copies WHERE number < {copies})
            SELECT {} FROM copies CROSS JOIN original_{table}",
            columns.join(", "),
            selected.join(", "),
        ))
    }

    fn run(&mut self, sql: &str) -> anyhow::Result<usize> {
        match self {
            Self::Sqlite(connection) => Ok(connection.execute(sql, [])?),
            Self::Postgres(client) => Ok(usize::try_from(client.execute(sql, &[])?)?),
        }
    }

    fn columns(&mut self, table: &str) -> anyhow::Result<Vec<String>> {
        match self {
            Self::Sqlite(connection) => {
                let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
                let names = statement.query_map([table], |row| row.get(0))?;
                Ok(names.collect::<Result<_, _>>()?)
            }
            Self::Postgres(client) => {
                let sql = "SELECT CAST(column_name AS TEXT) FROM information_schema.columns
                    WHERE table_schema = 'public' AND table_name = $1 ORDER BY ordinal_position";
                let rows = client.query(sql, &[&table])?;
                rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
            }
        }
    }
}

/// Creates a new database on the server. It is removed with the temporary server.
pub fn make_database(server: &str, name: &str) -> anyhow::Result<String> {
    let made = std::thread::scope(|scope| {
        let making = scope.spawn(|| {
            let mut client = postgres::Client::connect(server, postgres::NoTls)?;
            client.batch_execute(&format!("DROP DATABASE IF EXISTS {name}"))?;
            client.batch_execute(&format!("CREATE DATABASE {name}"))?;
            anyhow::Ok(())
        });
        making.join()
    });
    made.map_err(gone)??;
    let (before, _) = server.rsplit_once('/').unwrap_or((server, ""));
    Ok(format!("{before}/{name}"))
}

/// Copies a database file for a process that writes to it while the service continues.
pub fn copy_file(from: &Path, to: &Path) -> anyhow::Result<()> {
    let connection = rusqlite::Connection::open(from)?;
    connection.execute("VACUUM INTO ?1", [to.to_string_lossy()])?;
    Ok(())
}
