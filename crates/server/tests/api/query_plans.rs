//! Pages of the activity log are read from the index that fits their filter: the cost of a page is its length, whatever
//! a school has piled up.

use groupwork::store::Database;

use crate::support::TestApp;
use crate::support::rows::execute;

/// Statement, the index it has to use, and which of its arguments names what it is narrowed to.
const PLANS: [(&str, &str, usize, &str); 6] = [
    ("PAGE", "activity_logs_organization_idx", 0, ""),
    ("PAGE_OF_CLASS", "activity_logs_class_idx", 9, "k7"),
    ("PAGE_OF_GROUP", "activity_logs_group_idx", 10, "g7"),
    ("PAGE_OF_USER", "activity_logs_user_idx", 11, "u7"),
    ("PAGE_OF_COURSE", "activity_logs_course_idx", 12, "c7"),
    ("PAGE_OF_ASSIGNMENT", "activity_logs_assignment_idx", 13, "a7"),
];

fn statement(name: &str) -> &'static groupwork::store::sql::Sql {
    let files = groupwork::store::statements();
    let (_, activity) = files.into_iter().find(|(file, _)| *file == "activity").unwrap();
    activity.iter().find(|(known, _)| *known == name).unwrap().1
}

/// Records of fifty classes, courses, groups, topics and people.
async fn fill(app: &TestApp) {
    let numbers = match app.database {
        Database::Sqlite(_) => {
            "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000)"
        }
        Database::Postgres(_) => "WITH numbers(n) AS (SELECT generate_series(1, 20000))",
    };
    let north = &app.world.north;
    let insert = "INSERT INTO activity_logs (organization_id, id, user_id, user_name, user_role, category, action,
        entity_type, entity_id, class_id, course_id, group_id, assignment_id, created_at)";
    let select = format!(
        "SELECT '{north}', 'l' || n, 'u' || (n % 50), 'Past', 'teacher', 'CLASS', 'UPDATE', 'class', 'x', 'k' || (n % 50),
            'c' || (n % 50), 'g' || (n % 50), 'a' || (n % 50), n FROM numbers"
    );
    let sql = match app.database {
        Database::Sqlite(_) => format!("{insert} {numbers} {select}"),
        Database::Postgres(_) => format!("{insert} {numbers} {select}; ANALYZE activity_logs"),
    };
    execute(&app.database, sql).await;
}

/// The plan for the first page of an admin, with the arguments a request would bring.
fn plan(database: &Database, north: &str, name: &str, narrowed: usize, to: &str) -> String {
    let argument = |number: usize| match number {
        1 => Some(format!("'{north}'")),
        2 => Some("'ADMIN'".to_owned()),
        3 | 6 => Some("''".to_owned()),
        4 | 7 => Some("1".to_owned()),
        5 => Some("9223372036854775807".to_owned()),
        8 => Some("51".to_owned()),
        number => (number == narrowed).then(|| format!("'{to}'")),
    };
    let arguments: Vec<String> = (1..=16)
        .map(|number| argument(number).unwrap_or_else(|| "NULL".to_owned()))
        .collect();
    match database {
        Database::Sqlite(path) => {
            let connection = rusqlite::Connection::open(path).unwrap();
            let explained = format!("EXPLAIN QUERY PLAN {}", statement(name).sqlite());
            let mut statement = connection.prepare(&explained).unwrap();
            let bound = arguments.iter().map(|text| match text.as_str() {
                "NULL" => rusqlite::types::Value::Null,
                text if text.starts_with('\'') => rusqlite::types::Value::Text(text.trim_matches('\'').to_owned()),
                number => rusqlite::types::Value::Integer(number.parse().unwrap()),
            });
            let rows = statement.query_map(rusqlite::params_from_iter(bound), |row| row.get::<_, String>(3));
            rows.unwrap().map(Result::unwrap).collect::<Vec<_>>().join("\n")
        }
        Database::Postgres(url) => {
            let mut client = postgres::Client::connect(url, postgres::NoTls).unwrap();
            client
                .batch_execute(&format!("PREPARE page AS {}", statement(name).text()))
                .unwrap();
            let explained = format!("EXPLAIN EXECUTE page({})", arguments.join(", "));
            let rows = client.simple_query(&explained).unwrap();
            let line = |row: &postgres::SimpleQueryMessage| match row {
                postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
                _ => None,
            };
            rows.iter().filter_map(line).collect::<Vec<_>>().join("\n")
        }
    }
}

both!(a_page_of_the_log_is_read_from_its_index, |app| {
    fill(app).await;
    for (name, index, narrowed, to) in PLANS {
        let (database, north) = (app.database.clone(), app.world.north.clone());
        let explained = tokio::task::spawn_blocking(move || plan(&database, &north, name, narrowed, to));
        let plan = explained.await.unwrap();
        assert!(plan.contains(index), "{name} does not use {index}:\n{plan}");
        let sorts = plan.contains("TEMP B-TREE") || plan.contains("Sort");
        assert!(!sorts, "{name} sorts what the index has sorted:\n{plan}");
    }
});
