//! Parses query plans: which tables a statement reads, by which index and with which conditions.

use std::collections::BTreeMap;

use db::Database;
use db::connection::SETTINGS;
use db::sql::Sql;
use serde_json::Value;

/// The access to one table in a plan.
#[derive(Debug, Clone)]
pub struct TableAccess {
    /// The table name, or its alias in the statement.
    pub table: String,
    /// The index, or `None` when every row is read.
    pub index: Option<String>,
    /// The conditions that restrict the index.
    pub narrowed: String,
    /// Whether the conditions omit the first column of the index, so that the whole index is scanned.
    pub skips: bool,
}

/// The plan of a statement.
#[derive(Debug, Clone)]
pub struct Plan {
    pub accesses: Vec<TableAccess>,
    pub sorts: bool,
    pub text: String,
}

/// Plans statements on one connection.
pub enum Planner {
    Sqlite(rusqlite::Connection),
    /// The client, and the first column of every index.
    Postgres(Box<postgres::Client>, BTreeMap<String, String>),
}

impl Planner {
    /// Connects a planner that plans as the service does: for any arguments, not for those of one call. Unless `with_real_statistics`
    /// is set, PostgreSQL uses an index wherever one is usable, because it would scan a table with few rows sequentially.
    pub fn on(database: &Database, with_real_statistics: bool) -> Self {
        match database {
            Database::Sqlite(path) => {
                let connection = rusqlite::Connection::open(path).unwrap();
                connection.execute_batch("PRAGMA foreign_keys = ON").unwrap();
                let stable = rusqlite::config::DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG;
                connection.set_db_config(stable, true).unwrap();
                Self::Sqlite(connection)
            }
            Database::Postgres(url) => {
                let mut client = postgres::Client::connect(url, postgres::NoTls).unwrap();
                client.batch_execute(SETTINGS).unwrap();
                client
                    .batch_execute("SET plan_cache_mode = force_generic_plan; SET jit = off")
                    .unwrap();
                if !with_real_statistics {
                    let by_index = "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off";
                    client.batch_execute(by_index).unwrap();
                }
                let first = "SELECT c.relname::text, COALESCE(a.attname::text, '') FROM pg_index i
                    JOIN pg_class c ON c.oid = i.indexrelid
                    LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]";
                let first = client.query(first, &[]).unwrap();
                Self::Postgres(
                    Box::new(client),
                    first.iter().map(|row| (row.get(0), row.get(1))).collect(),
                )
            }
        }
    }

    /// Returns the plan of a statement, or `None` for a statement that has no plan.
    pub fn plan(&mut self, sql: &'static Sql) -> Option<Plan> {
        let text = sql.text().trim_start();
        let is_planned = ["SELECT", "UPDATE", "DELETE", "INSERT", "WITH"]
            .iter()
            .any(|verb| text.starts_with(verb));
        if !is_planned {
            return None;
        }
        Some(match self {
            Self::Sqlite(connection) => {
                let mut statement = connection
                    .prepare(&format!("EXPLAIN QUERY PLAN {}", sql.sqlite()))
                    .unwrap();
                let unbound = vec![rusqlite::types::Value::Null; statement.parameter_count()];
                let rows = statement.query_map(rusqlite::params_from_iter(unbound), |row| row.get::<_, String>(3));
                let lines: Vec<String> = rows.unwrap().map(Result::unwrap).collect();
                of_sqlite(&lines)
            }
            Self::Postgres(client, first) => {
                client.batch_execute(&format!("PREPARE asked AS {text}")).unwrap();
                let arguments = vec!["NULL"; parameters(text)].join(", ");
                let call = if arguments.is_empty() {
                    String::new()
                } else {
                    format!("({arguments})")
                };
                let asked = format!("EXPLAIN (FORMAT JSON) EXECUTE asked{call}");
                let rows = client.simple_query(&asked);
                client.batch_execute("DEALLOCATE asked").unwrap();
                let rows = rows.unwrap();
                let json = rows.iter().find_map(|row| match row {
                    postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
                    _ => None,
                });
                let mut plan = of_postgres(&serde_json::from_str(&json.unwrap()).unwrap());
                for access in &mut plan.accesses {
                    let column = access.index.as_ref().and_then(|index| first.get(index));
                    access.skips = column.is_some_and(|column| {
                        let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
                        let mut words = access.narrowed.split(|character: char| !is_word(character));
                        words.all(|word| word != column)
                    });
                }
                plan
            }
        })
    }
}

/// Returns the number of parameters in a statement.
fn parameters(text: &str) -> usize {
    let numbers = text.split('$').skip(1).map(|rest| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or(0)
    });
    numbers.max().unwrap_or(0)
}

fn of_sqlite(lines: &[String]) -> Plan {
    let access = |line: &String| {
        let (verb, rest) = line.split_once(' ')?;
        if verb != "SCAN" && verb != "SEARCH" {
            return None;
        }
        let table = rest.split(' ').next()?.to_owned();
        let index = rest
            .split_once("INDEX ")
            .map(|(_, rest)| rest.split(' ').next().unwrap().to_owned());
        let is_by_key = rest.contains("USING INTEGER PRIMARY KEY") || rest.contains("USING PRIMARY KEY");
        let narrowed = rest.split_once('(').map_or("", |(_, rest)| rest.trim_end_matches(')'));
        Some(TableAccess {
            table,
            index: index.or_else(|| is_by_key.then(|| "PRIMARY KEY".to_owned())),
            narrowed: if verb == "SEARCH" {
                narrowed.to_owned()
            } else {
                String::new()
            },
            skips: false,
        })
    };
    Plan {
        accesses: lines.iter().filter_map(access).collect(),
        sorts: lines.iter().any(|line| line.contains("TEMP B-TREE FOR ORDER BY")),
        text: lines.join("\n"),
    }
}

fn of_postgres(explained: &Value) -> Plan {
    let mut plan = Plan {
        accesses: Vec::new(),
        sorts: false,
        text: String::new(),
    };
    collect_accesses(&explained[0]["Plan"], 0, None, &mut plan);
    plan
}

fn collect_accesses(node: &Value, depth: usize, table: Option<&str>, plan: &mut Plan) {
    let text = |name: &str| node[name].as_str();
    let kind = text("Node Type").unwrap_or_default();
    let table = text("Relation Name").or(table);
    plan.text.push_str(&"  ".repeat(depth));
    let parts = [
        Some(kind),
        text("Relation Name"),
        text("Alias"),
        text("Index Name"),
        text("Index Cond"),
        text("Filter"),
        text("CTE Name"),
    ];
    for part in parts.into_iter().flatten() {
        plan.text.push_str(part);
        plan.text.push_str(" | ");
    }
    plan.text.push('\n');
    plan.sorts |= kind.contains("Sort");
    let reads = [
        "Seq Scan",
        "Index Scan",
        "Index Only Scan",
        "Bitmap Index Scan",
        "Tid Scan",
    ]
    .contains(&kind);
    if let (true, Some(table)) = (reads, table) {
        plan.accesses.push(TableAccess {
            table: table.to_owned(),
            index: text("Index Name").map(str::to_owned),
            narrowed: text("Index Cond").unwrap_or_default().to_owned(),
            skips: false,
        });
    }
    for child in node["Plans"].as_array().into_iter().flatten() {
        collect_accesses(child, depth + 1, table, plan);
    }
}
