//! Every SQL literal is prepared on both databases, and every literal outside `crates/db/src/platform` is restricted
//! to its organization.

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
                .iter()
                .map(move |(name, sql)| (format!("{file}::{name}"), *sql, tenant))
        })
        .collect()
}

fn prepare_all(connection: &mut Connection) {
    let failures: Vec<String> = all_statements()
        .into_iter()
        .filter_map(|(name, sql, _)| connection.prepare(sql).err().map(|error| format!("{name}: {error:?}")))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(all_statements().len() > 25, "the list of statements is complete");
}

#[test]
fn every_statement_prepares_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    migrate(&Database::Sqlite(path.clone())).unwrap();
    prepare_all(&mut Connection::open_sqlite(&path, false).unwrap());
}

#[test]
fn every_statement_prepares_on_postgres() {
    let Some(database) = database::postgres() else { return };
    let Database::Postgres(url) = &database else {
        unreachable!()
    };
    prepare_all(&mut Connection::open_postgres(url).unwrap());
    database::drop_postgres(&database);
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
        connection.fetch_optional(&READ, &[], |row| row.take()).unwrap()
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
