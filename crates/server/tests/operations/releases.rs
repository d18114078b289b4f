//! Every recorded release still runs on the newest schema, on both databases, and starts on a database that a later
//! release has migrated (docs/versioning.md).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use db::connection::Connection;
use db::schema_compatibility::{SchemaRequirements, Table, tables};
use db::sql::Sql;
use db::{Database, migrate, newest_migration};

use test_support::rows::execute;
use test_support::{DatabaseKind, database};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the recorded releases, oldest first.
fn recorded_releases() -> Vec<SchemaRequirements> {
    let files = std::fs::read_dir(repository().join("releases")).unwrap();
    let mut recorded_releases: Vec<SchemaRequirements> = files
        .map(|file| {
            let path = file.unwrap().path();
            let release: SchemaRequirements = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
            assert_eq!(path.file_stem().unwrap().to_str(), Some(release.version.as_str()));
            release
        })
        .collect();
    recorded_releases.sort_by_key(|release| number(&release.version));
    recorded_releases
}

fn number(version: &str) -> Vec<u32> {
    version.split('.').map(|part| part.parse().unwrap()).collect()
}

/// Converts a statement of an old release, which is known only at run time.
fn sql(text: String) -> &'static Sql {
    Box::leak(Box::new(Sql::new(text.leak())))
}

fn open(database: &Database) -> Connection {
    match database {
        Database::Sqlite(path) => Connection::open_sqlite(path, false).unwrap(),
        Database::Postgres(url) => Connection::open_postgres(url).unwrap(),
    }
}

/// Creates a database with the newest schema, and returns it with its folder.
fn migrated_database(kind: DatabaseKind) -> Option<(Database, tempfile::TempDir)> {
    let folder = tempfile::tempdir().unwrap();
    let database = match kind {
        DatabaseKind::Postgres => database::postgres()?,
        DatabaseKind::Sqlite => {
            let database = Database::Sqlite(folder.path().join("x.db"));
            migrate(&database).unwrap();
            database
        }
    };
    Some((database, folder))
}

/// Returns the columns that every INSERT must set, by table.
fn required_columns(connection: &mut Connection) -> BTreeMap<String, BTreeSet<String>> {
    let query = match connection {
        Connection::Sqlite(_) => {
            "SELECT m.name AS table_name, c.name AS column_name FROM sqlite_master m JOIN pragma_table_info(m.name) c
             WHERE m.type = 'table' AND c.\"notnull\" = 1 AND c.dflt_value IS NULL"
        }
        Connection::Postgres(_) => {
            "SELECT table_name::text AS table_name, column_name::text AS column_name FROM information_schema.columns
             WHERE table_schema = 'public' AND is_nullable = 'NO' AND column_default IS NULL
             AND is_identity = 'NO' AND is_generated = 'NEVER'"
        }
    };
    let columns = connection.fetch_all(sql(query.to_owned()), &[], |row| {
        Ok((row.get::<String>("table_name")?, row.get::<String>("column_name")?))
    });
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (table, column) in columns.unwrap() {
        found.entry(table).or_default().insert(column);
    }
    found
}

/// Returns the tables that a statement inserts into, each with the columns it names.
fn inserts(text: &str) -> Vec<(String, BTreeSet<String>)> {
    let places = text
        .match_indices("INSERT INTO ")
        .map(|(at, word)| &text[at + word.len()..]);
    let named = places.map(|rest| {
        let (table, rest) = rest.split_at(rest.find([' ', '(']).unwrap_or(rest.len()));
        let columns = rest
            .trim_start()
            .strip_prefix('(')
            .and_then(|rest| rest.split_once(')'));
        let columns = columns.map_or("", |(columns, _)| columns).split(',');
        let columns = columns
            .map(|column| column.trim().to_owned())
            .filter(|column| !column.is_empty());
        (table.to_owned(), columns.collect())
    });
    named.collect()
}

/// Returns the faults of a release on the schema of this connection: statements that cannot be prepared, and inserts
/// that omit a required column.
fn execution_faults(release: &SchemaRequirements, connection: &mut Connection) -> Vec<String> {
    let required_columns = required_columns(connection);
    let mut faults = Vec::new();
    for (name, lines) in &release.statements {
        let text = lines.join("\n");
        if let Err(error) = connection.prepare(sql(text.clone())) {
            faults.push(format!("{name} does not prepare: {error:?}"));
            continue;
        }
        for (table, filled) in inserts(&lines.join(" ")) {
            for column in required_columns.get(&table).into_iter().flatten() {
                if !filled.contains(column) {
                    faults.push(format!("{name} leaves {table}.{column} empty"));
                }
            }
        }
    }
    faults
}

/// Returns what a release would misread or could not write, although its statements can be prepared.
fn compatibility_faults(release: &SchemaRequirements, newest: &BTreeMap<String, Table>) -> Vec<String> {
    let mut faults = Vec::new();
    for (name, old) in &release.tables {
        let Some(new) = newest.get(name) else { continue };
        for (column, kind) in &old.columns {
            let now = new.columns.get(column).unwrap_or(kind);
            if now != kind {
                faults.push(format!("{name}.{column} was {kind} and is {now}"));
            }
        }
        for key in new.unique.difference(&old.unique) {
            let columns = key.trim_end_matches(" of some rows").split(", ");
            if columns.into_iter().all(|column| old.columns.contains_key(column)) {
                faults.push(format!("{name} does not know that {key} is unique"));
            }
        }
    }
    faults
}

fn check_recorded_releases(kind: DatabaseKind) {
    let Some((database, _folder)) = migrated_database(kind) else {
        return;
    };
    let mut connection = open(&database);
    let newest = SchemaRequirements::current().unwrap();
    for release in recorded_releases() {
        let mut faults = execution_faults(&release, &mut connection);
        faults.extend(compatibility_faults(&release, &newest.tables));
        assert!(
            faults.is_empty(),
            "release {} does not run on the newest schema (docs/versioning.md):\n{}",
            release.version,
            faults.join("\n")
        );
        assert!(release.statements.len() > 300 && release.tables.len() > 30);
    }
    drop(connection);
    database::drop_postgres(&database);
}

#[test]
fn recorded_releases_run_on_newest_schema_of_sqlite() {
    check_recorded_releases(DatabaseKind::Sqlite);
}

#[test]
fn recorded_releases_run_on_newest_schema_of_postgres() {
    check_recorded_releases(DatabaseKind::Postgres);
}

/// Possible migrations, each with a keyword of the fault that it causes for this release.
const STEPS: [(&str, Option<&str>); 8] = [
    (
        "ALTER TABLE subjects DROP COLUMN description",
        Some("subjects::INSERT does not prepare"),
    ),
    (
        "ALTER TABLE subjects RENAME COLUMN color TO colour",
        Some("subjects::LIST does not prepare"),
    ),
    ("ALTER TABLE feedback RENAME TO remarks", Some("does not prepare")),
    ("DROP TABLE rate_windows", Some("rate_windows::")),
    (
        "ALTER TABLE subjects ADD COLUMN label TEXT NOT NULL",
        Some("subjects::INSERT leaves subjects.label empty"),
    ),
    ("ALTER TABLE subjects ADD COLUMN label TEXT", None),
    ("ALTER TABLE subjects ADD COLUMN weight BIGINT NOT NULL DEFAULT 0", None),
    (
        "CREATE TABLE labels (organization_id TEXT NOT NULL, id TEXT NOT NULL)",
        None,
    ),
];

fn check_breaking_steps(kind: DatabaseKind) {
    let this = SchemaRequirements::current().unwrap();
    for (step, broken) in STEPS {
        let Some((database, _folder)) = migrated_database(kind) else {
            return;
        };
        let mut connection = open(&database);
        assert_eq!(execution_faults(&this, &mut connection), Vec::<String>::new());
        connection.execute(sql(step.to_owned()), &[]).unwrap();
        let faults = execution_faults(&this, &mut connection);
        match broken {
            Some(word) => assert!(faults.iter().any(|fault| fault.contains(word)), "{step}: {faults:?}"),
            None => assert_eq!(faults, Vec::<String>::new(), "{step}"),
        }
        drop(connection);
        database::drop_postgres(&database);
    }
}

#[test]
fn breaking_migration_is_detected_on_sqlite() {
    check_breaking_steps(DatabaseKind::Sqlite);
}

#[test]
fn breaking_migration_is_detected_on_postgres() {
    check_breaking_steps(DatabaseKind::Postgres);
}

#[test]
fn change_that_a_release_would_misread_is_detected() {
    let this = SchemaRequirements::current().unwrap();
    let add = |column: &str| format!("ALTER TABLE subjects ADD COLUMN {column}");
    let drop_first = |column: &str, kind: &str| {
        let gone = format!("ALTER TABLE subjects DROP COLUMN {column}");
        vec![gone, add(&format!("{column} {kind}"))]
    };
    let (with_key, of_others) = (
        add("label TEXT"),
        "CREATE UNIQUE INDEX labels ON subjects (organization_id, label)",
    );
    let one_color = "CREATE UNIQUE INDEX colors ON subjects (organization_id, color)";
    for (steps, broken) in [
        (
            drop_first("color", "BIGINT"),
            Some("subjects.color was TEXT and is BIGINT"),
        ),
        (
            drop_first("color", "TEXT NOT NULL DEFAULT ''"),
            Some("subjects.color was TEXT and is TEXT NOT NULL"),
        ),
        (
            drop_first("is_active", "BOOLEAN"),
            Some("subjects.is_active was BOOLEAN NOT NULL and is BOOLEAN"),
        ),
        (
            vec![one_color.to_owned()],
            Some("subjects does not know that organization_id, color is unique"),
        ),
        (vec![with_key, of_others.to_owned()], None),
    ] {
        let (database, _folder) = migrated_database(DatabaseKind::Sqlite).unwrap();
        let mut connection = open(&database);
        for step in &steps {
            connection.execute(sql(step.clone()), &[]).unwrap();
        }
        let faults = compatibility_faults(&this, &tables(&mut connection).unwrap());
        assert_eq!(faults, broken.into_iter().collect::<Vec<_>>(), "{steps:?}");
    }
}

both!(release_starts_on_schema_of_later_release, |app| {
    let newest = newest_migration();
    let again = async || {
        let database = app.database.clone();
        tokio::task::spawn_blocking(move || migrate(&database)).await.unwrap()
    };
    let row = |version: i32, name: &str| {
        format!(
            "INSERT INTO refinery_schema_history (version, name, applied_on, checksum)
             VALUES ({version}, '{name}', '2026-11-22T00:00:00Z', '1')"
        )
    };
    let refused = async || format!("{:?}", again().await.unwrap_err());
    assert_eq!(again().await.unwrap(), 0);

    execute(&app.database, row(newest + 1, "more_columns")).await;
    assert_eq!(again().await.unwrap(), 0, "additions do not concern it");
    execute(
        &app.database,
        row(newest + 2, &format!("contract_{newest:04}_old_columns")),
    )
    .await;
    assert_eq!(again().await.unwrap(), 0, "it can do without what went");
    let ada = app.as_(&app.world.ada);
    ada.get("/classes").await.expect(200);

    // A required object is removed, or it is unknown whether it is removed.
    for name in [
        format!("contract_{:04}_columns", newest + 1),
        "contract_columns".to_owned(),
    ] {
        execute(&app.database, row(newest + 3, &name)).await;
        let printed = refused().await;
        assert!(
            printed.contains("has taken away what this one needs") && printed.contains(&name),
            "{printed}"
        );
        let gone = format!("DELETE FROM refinery_schema_history WHERE version = {}", newest + 3);
        execute(&app.database, gone).await;
    }
    // A schema that lacks an object of this release was not created by a later release.
    execute(
        &app.database,
        "DELETE FROM refinery_schema_history WHERE version = 5".to_owned(),
    )
    .await;
    assert!(refused().await.contains("left out migration 5"));
});

/// Returns the migrations with their numbers, names and statements.
fn migrations() -> Vec<(i32, String, String)> {
    let files = std::fs::read_dir(repository().join("migrations")).unwrap();
    let read = |path: PathBuf| {
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let (version, name) = stem.strip_prefix('V').unwrap().split_once("__").unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = text.lines().map(|line| line.split("--").next().unwrap());
        let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
        (
            version.parse().unwrap(),
            name.to_owned(),
            words.join(" ").to_uppercase(),
        )
    };
    files.map(|file| read(file.unwrap().path())).collect()
}

/// Returns the number in the name of a migration that removes something.
fn contract(name: &str) -> Option<i32> {
    name.strip_prefix("contract_")?.split('_').next()?.parse().ok()
}

/// Returns a change in a migration that its name does not declare.
fn undeclared_change(name: &str, text: &str) -> Option<String> {
    let removes = ["DROP TABLE", "DROP COLUMN", " RENAME "]
        .iter()
        .any(|word| text.contains(word));
    if removes && contract(name).is_none() {
        return Some(format!("{name} takes something away: call it contract_<number>_<what>"));
    }
    // This succeeds on an empty table, so no other test would detect it.
    let unfilled = text.split(';').find(|statement| {
        statement.contains("ADD COLUMN") && statement.contains("NOT NULL") && !statement.contains("DEFAULT")
    });
    unfilled.map(|statement| format!("{name}: existing rows have no value for this column:{statement}"))
}

#[test]
fn removing_migration_names_releases_it_breaks() {
    let recorded_releases = recorded_releases();
    // Migrations before the first release do not affect any installation.
    let first = recorded_releases.first().map_or(i32::MAX, |release| release.migration);
    let new = migrations().into_iter().filter(|(version, ..)| *version > first);
    let faults: Vec<String> = new
        .filter_map(|(_, name, text)| undeclared_change(&name, &text))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));

    let floor = migrations()
        .iter()
        .filter_map(|(_, name, _)| contract(name))
        .max()
        .unwrap_or(0);
    let this = number(env!("CARGO_PKG_VERSION"));
    let mut older = recorded_releases
        .iter()
        .filter(|release| number(&release.version) < this);
    if let Some(previous) = older.next_back() {
        let version = &previous.version;
        assert!(
            previous.migration >= floor,
            "{version} needs what goes: wait for the next release"
        );
    }
    for release in &recorded_releases {
        let version = &release.version;
        assert!(number(version) <= this, "{version} is not released yet");
        assert!(
            release.migration >= floor,
            "{version} no longer runs here: remove releases/{version}.json"
        );
    }

    for (name, text, is_fault) in [
        ("columns", "ALTER TABLE A DROP COLUMN B;", true),
        ("contract_columns", "ALTER TABLE A DROP COLUMN B;", true),
        ("contract_0018_columns", "ALTER TABLE A DROP COLUMN B;", false),
        ("columns", "ALTER TABLE A RENAME COLUMN B TO C;", true),
        ("columns", "DROP TABLE A;", true),
        ("columns", "ALTER TABLE A ADD COLUMN B TEXT NOT NULL;", true),
        ("columns", "ALTER TABLE A ADD COLUMN B TEXT NOT NULL DEFAULT '';", false),
        (
            "columns",
            "ALTER TABLE A ADD COLUMN B TEXT; CREATE TABLE C (D TEXT NOT NULL);",
            false,
        ),
    ] {
        assert_eq!(undeclared_change(name, text).is_some(), is_fault, "{name}: {text}");
    }
}

#[test]
fn every_statement_names_its_columns() {
    // A column added by a later release would change the result while this release runs.
    let this = SchemaRequirements::current().unwrap();
    for (name, lines) in &this.statements {
        let text = lines.join(" ");
        let is_star = |part: &str| part.ends_with('*') && !part.ends_with("COUNT(*");
        let stars = text.split([')', ',', ' ']).filter(|part| is_star(part));
        assert_eq!(stars.collect::<Vec<_>>(), Vec::<&str>::new(), "{name}: {text}");
        for (table, columns) in inserts(&text) {
            assert!(!columns.is_empty(), "{name} names no columns of {table}");
        }
    }
}
