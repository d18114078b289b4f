//! Pages of the activity log and of chats are read from the matching index. The cost of a page depends on its length,
//! not on the amount of data in the school.

use db::Database;
use db::sql::Sql;

use test_support::TestApp;
use test_support::rows::execute;

/// Statement, the index that it must use, the number of the argument that narrows it, and the value of that argument.
const PLANS: [(&str, &str, usize, &str); 6] = [
    ("PAGE", "activity_logs_organization_idx", 0, ""),
    ("PAGE_OF_CLASS", "activity_logs_class_idx", 9, "k7"),
    ("PAGE_OF_GROUP", "activity_logs_group_idx", 10, "g7"),
    ("PAGE_OF_USER", "activity_logs_user_idx", 11, "u7"),
    ("PAGE_OF_COURSE", "activity_logs_course_idx", 12, "c7"),
    ("PAGE_OF_ASSIGNMENT", "activity_logs_assignment_idx", 13, "a7"),
];

fn statement(file: &str, name: &str) -> &'static Sql {
    let files = db::statements();
    let (_, statements) = files.into_iter().find(|(known, _)| *known == file).unwrap();
    statements.iter().find(|(known, _)| *known == name).unwrap().1
}

/// Inserts records of fifty classes, courses, groups, topics and people.
async fn insert_records(app: &TestApp) {
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

/// Returns the plan for the first page of an admin, with the arguments that a request would pass.
fn plan_of_log(database: &Database, north: &str, name: &str, narrowed: usize, to: &str) -> String {
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
    plan(database, statement("activity", name), &arguments)
}

/// Returns the query plan of a database for these arguments.
fn plan(database: &Database, sql: &'static Sql, arguments: &[String]) -> String {
    match database {
        Database::Sqlite(path) => {
            let connection = rusqlite::Connection::open(path).unwrap();
            let explained = format!("EXPLAIN QUERY PLAN {}", sql.sqlite());
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
                .batch_execute(&format!("PREPARE page AS {}", sql.text()))
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

both!(activity_log_page_uses_its_index, |app| {
    insert_records(app).await;
    for (name, index, narrowed, to) in PLANS {
        let (database, north) = (app.database.clone(), app.world.north.clone());
        let explained = tokio::task::spawn_blocking(move || plan_of_log(&database, &north, name, narrowed, to));
        let plan = explained.await.unwrap();
        assert!(plan.contains(index), "{name} does not use {index}:\n{plan}");
        let sorts = plan.contains("TEMP B-TREE") || plan.contains("Sort");
        assert!(!sorts, "{name} sorts what the index has sorted:\n{plan}");
    }
});

both!(chat_page_uses_the_message_sequence_index, |app| {
    let (north, ben) = (app.world.north.clone(), &app.world.ben);
    let room = app.room(&app.world.seven_b, &[ben]).await.id;
    let numbers = match app.database {
        Database::Sqlite(_) => {
            "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000)"
        }
        Database::Postgres(_) => "WITH numbers(n) AS (SELECT generate_series(1, 20000))",
    };
    let insert =
        "INSERT INTO work_room_messages (organization_id, id, work_room_id, seq, sender_id, content, created_at)";
    let select = format!(
        "SELECT '{north}', 'm' || n, '{room}', n, '{}', 'x', 1 FROM numbers",
        ben.id
    );
    let sql = match app.database {
        Database::Sqlite(_) => format!("{insert} {numbers} {select}"),
        Database::Postgres(_) => format!("{insert} {numbers} {select}; ANALYZE work_room_messages"),
    };
    execute(&app.database, sql).await;
    for (name, place) in [
        ("BEFORE", "9223372036854775807"),
        ("BEFORE", "10000"),
        ("AFTER", "0"),
        ("AFTER", "10000"),
    ] {
        let arguments = [
            format!("'{north}'"),
            format!("'{room}'"),
            place.to_owned(),
            "51".to_owned(),
        ];
        let database = app.database.clone();
        let explained = tokio::task::spawn_blocking(move || plan(&database, statement("chat", name), &arguments));
        let plan = explained.await.unwrap();
        // SQLite chooses its own name for the index of a constraint, and the plan shows the columns.
        let is_by_place = plan.contains("work_room_messages_room_seq_key") || plan.contains("(work_room_id=? AND seq");
        assert!(is_by_place, "{name} does not go by the place:\n{plan}");
        let sorts = plan.contains("TEMP B-TREE") || plan.contains("Sort");
        assert!(!sorts, "{name} sorts what the index has sorted:\n{plan}");
    }
});
