//! Every SQL literal is prepared on both databases, and every literal outside `crates/db/src/platform` is restricted
//! to its organization.

use std::collections::BTreeSet;

use db::connection::Connection;
use db::sql::Sql;
use db::{Database, migrate, platform};

use test_support::{DatabaseKind, database};

fn all_statements() -> Vec<(String, &'static Sql, bool)> {
    let tenant = db::statements().into_iter().map(|file| (file, true));
    let platform = platform::statements().into_iter().map(|file| (file, false));
    let files = tenant.chain(platform);
    files
        .flat_map(|((file, statements), tenant)| {
            statements
                .into_iter()
                .map(move |(name, sql)| (format!("{file}::{name}"), sql, tenant))
        })
        .collect()
}

/// Prepares every statement; returns the columns of each.
fn prepare_all(connection: &mut Connection) -> Vec<(String, Vec<String>)> {
    let (mut columns, mut failures) = (Vec::new(), Vec::new());
    for (name, sql, _) in all_statements() {
        match connection.prepare(sql) {
            Ok(names) => columns.push((name, names)),
            Err(error) => failures.push(format!("{name}: {error:?}")),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(columns.len() > 900, "the list of statements is complete");
    columns
}

/// Rows are read by the names of their columns, so each has a name of its own that both databases give it. Only the
/// single expression of a statement may lack one.
fn assert_column_names(columns: &[(String, Vec<String>)]) {
    let is_plain = |name: &str| {
        name.chars()
            .all(|character| character == '_' || character.is_ascii_alphanumeric())
    };
    for (statement, names) in columns.iter().filter(|(_, names)| names.len() > 1) {
        let unnamed: Vec<&String> = names.iter().filter(|name| !is_plain(name)).collect();
        assert!(
            unnamed.is_empty(),
            "{statement} has columns without a name: {unnamed:?}"
        );
        let distinct: BTreeSet<&String> = names.iter().collect();
        assert_eq!(
            distinct.len(),
            names.len(),
            "{statement} has two columns of one name: {names:?}"
        );
    }
}

#[test]
fn every_statement_prepares_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    migrate(&Database::Sqlite(path.clone())).unwrap();
    assert_column_names(&prepare_all(&mut Connection::open_sqlite(&path, false).unwrap()));
}

#[test]
fn every_statement_prepares_on_postgres() {
    let Some(database) = database::postgres() else { return };
    let Database::Postgres(url) = &database else {
        unreachable!()
    };
    let on_postgres = prepare_all(&mut Connection::open_postgres(url).unwrap());
    database::drop_postgres(&database);
    assert_column_names(&on_postgres);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    migrate(&Database::Sqlite(path.clone())).unwrap();
    let on_sqlite = prepare_all(&mut Connection::open_sqlite(&path, false).unwrap());
    for ((statement, here), (_, there)) in on_postgres.iter().zip(&on_sqlite) {
        assert!(here.len() == 1 || here == there, "{statement}: {here:?} or {there:?}");
    }
}

#[test]
fn every_tenant_statement_filters_by_organization() {
    let strays: Vec<String> = all_statements()
        .into_iter()
        .filter(|(_, sql, tenant)| *tenant && !filters_by_organization(sql.text()))
        .map(|(name, ..)| name)
        .collect();
    assert!(strays.is_empty(), "without organization_id = $1: {strays:?}");
}

/// Checks for `organization_id = $1`, the organization's own row, or the organization as the first column of an INSERT.
fn filters_by_organization(text: &str) -> bool {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let own_row = ["organizations WHERE id = $1", "organizations o WHERE o.id = $1"];
    let writes_own_row = words.starts_with("INSERT INTO organizations (id, ")
        || (words.starts_with("UPDATE organizations SET ") && words.ends_with(" WHERE id = $1"));
    words.contains("organization_id = $1") || own_row.iter().any(|row| words.contains(row)) || writes_own_row || {
        let columns = words.strip_prefix("INSERT INTO ").and_then(|rest| rest.split_once('('));
        let first = columns.and_then(|(_, columns)| columns.trim_start().split(',').next());
        first.is_some_and(|column| ["organization_id", "home_organization_id"].contains(&column))
    }
}

#[test]
fn parameters_may_appear_in_any_order() {
    // SQLite numbers `$n` by first appearance, so crates/db/src/sql.rs rewrites it to `?n`. Without that, this
    // statement writes the wrong columns.
    let folder = tempfile::tempdir().unwrap();
    let mut connection = Connection::open_sqlite(&folder.path().join("x.db"), false).unwrap();
    assert_parameter_order(&mut connection);
    let Some(Database::Postgres(url)) = database::postgres() else {
        return;
    };
    assert_parameter_order(&mut Connection::open_postgres(&url).unwrap());
    database::drop_postgres(&Database::Postgres(url));
}

mod swapped_statements {
    db::statements! {
        CREATE = "CREATE TEMPORARY TABLE swapped (a TEXT NOT NULL, b TEXT NOT NULL)";
        INSERT = "INSERT INTO swapped (a, b) VALUES ('old', 'x')";
        UPDATE = "UPDATE swapped SET b = $2 WHERE a = $1";
        READ = "SELECT b FROM swapped WHERE a = 'old'";
    }

    pub fn run(connection: &mut super::Connection) -> Option<String> {
        assert_eq!(STATEMENTS.len(), 4);
        connection.execute(&CREATE, &[]).unwrap();
        connection.execute(&INSERT, &[]).unwrap();
        connection.execute(&UPDATE, db::args!["old", "new"]).unwrap();
        connection.fetch_optional(&READ, &[], |row| row.get("b")).unwrap()
    }
}

fn assert_parameter_order(connection: &mut Connection) {
    assert_eq!(swapped_statements::run(connection).as_deref(), Some("new"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn service_starts_on_both_databases() {
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres] {
        if let Some(app) = test_support::TestApp::start(kind).await {
            app.stranger().get("/health").await.expect(200);
            app.close().await;
        }
    }
}
