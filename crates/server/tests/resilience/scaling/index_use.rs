//! Every statement of the store finds its rows by an index: on SQLite with the plan that the service uses, on
//! PostgreSQL wherever an index is usable, and in the soak run with the plan that PostgreSQL chooses for all the data.

use std::collections::{BTreeMap, BTreeSet};

use db::Database;
use db::sql::Sql;

use super::plan_rules::{
    ALL, LARGE_POSTGRES, RANGE, SCHOOL, SILENT, SMALL, SMALL_POSTGRES, Width, YOUNG, findings, reason,
};
use super::query_plan::{Plan, Planner};
use super::seeder::{self, Extent};
use test_support::rows::{execute, texts};
use test_support::{TestApp, is_soak};

/// The number of rows from which PostgreSQL must not scan a table sequentially.
const LARGE: f64 = 10_000.0;

fn statements() -> Vec<(String, &'static Sql)> {
    let files = db::statements().into_iter();
    let files = files.chain(db::platform::statements());
    files
        .flat_map(|(file, statements)| {
            statements
                .into_iter()
                .map(move |(name, sql)| (format!("{file}::{name}"), sql))
        })
        .collect()
}

async fn names(database: &Database, sqlite: &str, postgres: &str) -> BTreeSet<String> {
    let query = match database {
        Database::Sqlite(_) => sqlite,
        Database::Postgres(_) => postgres,
    };
    texts(database, query.to_owned()).await.into_iter().flatten().collect()
}

async fn plans(database: &Database, with_real_statistics: bool) -> Vec<(String, &'static Sql, Plan)> {
    let database = database.clone();
    let read = tokio::task::spawn_blocking(move || {
        let mut planner = Planner::on(&database, with_real_statistics);
        let all = statements().into_iter();
        all.filter_map(|(name, sql)| planner.plan(sql).map(|plan| (name, sql, plan)))
            .collect()
    });
    read.await.unwrap()
}

both!(every_statement_uses_an_index, |app| {
    seeder::fill(&app.database, Extent::for_run()).await;
    let is_sqlite = matches!(app.database, Database::Sqlite(_));
    let tables = names(
        &app.database,
        "SELECT name FROM sqlite_master WHERE type = 'table'",
        "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
    )
    .await;
    let partial = names(
        &app.database,
        "SELECT name FROM sqlite_master WHERE type = 'index' AND sql LIKE '% WHERE %'",
        "SELECT indexname::text FROM pg_indexes WHERE schemaname = 'public' AND indexdef LIKE '% WHERE %'",
    )
    .await;
    if !is_sqlite {
        // Multiplies the number of rows on each page by 100, so that the planner treats the small tables as large ones.
        let grow = "UPDATE pg_class SET reltuples = reltuples * 100
            WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND reltuples > 0";
        execute(&app.database, grow.to_owned()).await;
    }
    let (mut faults, mut used, mut excused) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
    for (name, sql, plan) in plans(&app.database, false).await {
        used.extend(plan.accesses.iter().filter_map(|access| access.index.clone()));
        for (width, table) in findings(sql.text(), &plan, &tables, &partial) {
            let (list, counts) = match width {
                Width::All => (ALL, true),
                // Small tables and artificial row counts do not show which of two indexes PostgreSQL would use.
                Width::Range => (RANGE, is_sqlite),
                Width::Young => (YOUNG, is_sqlite),
                Width::School | Width::Narrow => (SCHOOL, is_sqlite),
            };
            let is_small = !is_sqlite && reason(SMALL_POSTGRES, &name).is_some();
            match reason(list, &name) {
                _ if is_small => {}
                Some(pattern) => drop(excused.insert(pattern)),
                None if counts => {
                    faults
                        .entry(name.clone())
                        .or_insert_with(|| format!("{width:?} of {table}\n{}", plan.text));
                }
                None => {}
            }
        }
    }
    let received: Vec<String> = faults
        .iter()
        .map(|(name, fault)| format!("## {name}: {fault}"))
        .collect();
    assert!(
        received.is_empty(),
        "{} statements read too much:\n{}",
        received.len(),
        received.join("\n\n")
    );
    if is_sqlite {
        let stale = [ALL, RANGE, SCHOOL, YOUNG].concat();
        let stale: Vec<&str> = stale
            .iter()
            .map(|(name, _)| *name)
            .filter(|name| !excused.contains(name))
            .collect();
        assert!(stale.is_empty(), "they read little and need no excuse: {stale:?}");
        let indexes = "SELECT name FROM sqlite_master WHERE type = 'index' AND sql LIKE 'CREATE INDEX%'";
        let unread: Vec<String> = names(&app.database, indexes, "")
            .await
            .difference(&used)
            .cloned()
            .collect();
        let unread: Vec<String> = unread
            .into_iter()
            .filter(|index| reason(SILENT, index).is_none())
            .collect();
        assert!(unread.is_empty(), "indexes that nobody reads: {unread:?}");
    }
    if is_soak() && !is_sqlite {
        with_real_statistics(app).await;
    }
});

/// Plans with the real statistics of PostgreSQL and all its plan types enabled: no large table is scanned sequentially.
async fn with_real_statistics(app: &TestApp) {
    execute(&app.database, "ANALYZE".to_owned()).await;
    let large = format!(
        "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
            AND reltuples > {LARGE}"
    );
    let large = names(&app.database, "", &large).await;
    assert!(large.len() > 15, "{large:?}");
    let (mut faults, mut excused) = (Vec::new(), BTreeSet::new());
    for (name, _, plan) in plans(&app.database, true).await {
        let whole = plan.accesses.iter().filter(|access| access.index.is_none());
        let whole: BTreeSet<&str> = whole.map(|access| access.table.as_str()).collect();
        let is_large = |table: &&&str| large.contains(**table) && !SMALL.contains(*table);
        let read: Vec<&&str> = whole.iter().filter(is_large).collect();
        if read.is_empty() || reason(ALL, &name).is_some() {
            continue;
        }
        match reason(LARGE_POSTGRES, &name) {
            Some(pattern) => drop(excused.insert(pattern)),
            None => faults.push(format!("## {name}: {read:?}\n{}", plan.text)),
        }
    }
    let stale = LARGE_POSTGRES.iter().map(|(name, _)| *name);
    let stale: Vec<&str> = stale.filter(|name| !excused.contains(name)).collect();
    assert!(
        faults.is_empty(),
        "{} statements read too much:\n{}",
        faults.len(),
        faults.join("\n\n")
    );
    assert!(stale.is_empty(), "they read little and need no excuse: {stale:?}");
}
