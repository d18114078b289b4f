//! findings
use groupwork::store::Database;
use crate::support::{TestApp, rows};
use super::plan::Planner;
use super::seeder::{self, Extent};

both!(every_statement_keeps_to_its_rows, |app| {
    let t0 = std::time::Instant::now();
    seeder::fill(&app.database, Extent::usual()).await;
    println!("filled {:?}", t0.elapsed());
    let database = app.database.clone();
    tokio::task::spawn_blocking(move || {
        let name = if matches!(database, Database::Sqlite(_)) { "sqlite" } else { "postgres" };
        let mut out = String::new();
        let mut planner = Planner::on(&database, false);
        let tenant = groupwork::store::statements();
        for (file, statements) in tenant.into_iter().chain(groupwork::store::platform::statements()) {
            for (which, sql) in statements {
                if let Some(plan) = planner.plan(sql) {
                    out.push_str(&serde_json::json!({"name": format!("{file}::{which}"), "sql": sql.text(), "plan": plan.text,
                        "sorts": plan.sorts, "accesses": plan.accesses.iter().map(|a| serde_json::json!([a.table, a.index, a.narrowed])).collect::<Vec<_>>()}).to_string());
                    out.push('\n');
                }
            }
        }
        std::fs::write(format!("/tmp/growth_{name}.jsonl"), out).unwrap();
        if let Database::Sqlite(path) = &database { std::fs::copy(path, "/tmp/growth_copy.db").unwrap(); }
    }).await.unwrap();
});
