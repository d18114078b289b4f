//! Calls every GET route for a school with one row of everything and again with a hundred. The number of statements
//! does not grow, and every list does. New routes are included automatically, because the test iterates over the route
//! table.

use std::collections::BTreeMap;

use api::endpoint::Row;
use api::router;
use domain::access::{Access, EffectiveRole};
use serde_json::Value;

use test_support::many_rows::grow;
use test_support::office::word_document;
use test_support::topics::link;
use test_support::{LessonFixture, TestApp, TestUser};

/// Number of rows from which a list counts as grown: the default page size.
const GROWN: usize = 50;

/// Number of reads that background tasks may add to one request. They poll for jobs and files every few seconds, and on
/// a busy machine a response can take as long. A query per row (N+1) on fifty rows exceeds this by far.
const BACKGROUND_READS: u64 = 10;

/// Lists that stay short, and why.
const SHORT_LISTS: &[(&str, &str)] = &[
    ("/groups/{id}/contributions", "the people of one group"),
    ("/rubrics", "the rubrics of one school, in one statement"),
    ("/snippets", "the snippets of one teacher, two hundred at most"),
    ("/admin/api-tokens", "the API tokens of one school, fifty at most"),
    ("/admin/domains", "the mail domains of one school, twenty at most"),
    ("/admin/sign-on", "the sign-on providers of one school, twenty at most"),
    ("/sign-on/providers", "the same"),
    ("/tenants/{id}/domains", "the same"),
    ("/admin/rosters", "the roster sources of one school, ten at most"),
    ("/auth/organization/list", "the schools of one person"),
    (
        "/auth/organization/list-user-invitations",
        "the organizations that invite one person",
    ),
    ("/auth/list-accounts", "the accounts of one person"),
    (
        "/auth/passkey/list-user-passkeys",
        "the passkeys of one account, twenty at most",
    ),
    (
        "/feedback/submissions/{id}/grades",
        "the states of one grade, in one statement",
    ),
];

/// Requests whose number of statements grows, and why that is intended.
const GROWING: &[(&str, EffectiveRole, &str)] = &[(
    "/activity-logs",
    EffectiveRole::Teacher,
    "a teacher's page is merged from one page for each own class: few, each from its own index (crates/db/src/activity.rs)",
)];

/// Expected rejections that are not a fault of the test.
const EXPECTED_REJECTIONS: &[(&str, u16, &str)] = &[
    (
        "/workrooms/late-texts/{id}/download",
        404,
        "the lesson deletes no document; the list has the text of others",
    ),
    (
        "/workrooms/documents/{id}/pdf",
        409,
        "students wait for the end of the topic",
    ),
    (
        "/feedback/submissions/{id}/files/{fileId}/download",
        404,
        "the grades of the lesson have no files",
    ),
    (
        "/feedback/submissions/{id}/documents/{documentId}/pdf",
        409,
        "students wait for the end of the topic",
    ),
];

/// Returns the query string that a route requires.
fn query(path: &str, lesson: &LessonFixture) -> String {
    match path {
        "/assignments/submission-candidates" => format!("?groupId={}", lesson.group),
        "/feedback" => format!("?assignmentId={}", lesson.assignment),
        _ => String::new(),
    }
}

#[derive(Debug)]
struct RouteCost {
    statements: u64,
    /// Number of rows in the response, if it is a list.
    rows: Option<usize>,
}

fn rows(answer: &Value) -> Option<usize> {
    let list = ["data", "members", "users", "sessions"]
        .into_iter()
        .find_map(|key| answer.get(key).and_then(Value::as_array));
    answer.as_array().or(list).map(Vec::len)
}

fn path_of_lesson(app: &TestApp, lesson: &LessonFixture, path: &str) -> String {
    lesson.path(app, path) + &query(path, lesson)
}

/// Repeats the request until it runs no more statements than expected. Background tasks can only add statements, so the
/// lowest count is the right one. Without an expected count, the request is sent three times.
async fn measure(app: &TestApp, person: &TestUser, row: &Row, path: &str, expected: Option<u64>) -> Option<RouteCost> {
    let (client, mut fewest, mut found) = (app.as_(person), u64::MAX, None);
    let tries = if expected.is_some() { 12 } else { 3 };
    for _ in 0..tries {
        let before = app.app.store().read_statement_count();
        let answer = client.get(path).await;
        fewest = fewest.min(app.app.store().read_statement_count() - before);
        let refused = |(refused, status, _): &(&str, u16, &str)| *refused == row.path && *status == answer.status;
        if answer.status != 200 {
            let context = String::from_utf8_lossy(&answer.bytes).into_owned();
            let fine = row.path.starts_with("/auth/") || EXPECTED_REJECTIONS.iter().any(refused);
            assert!(fine, "{} as {}: {} {context}", row.path, person.name, answer.status);
            return None;
        }
        if !answer.header("content-type").starts_with("application/json") {
            return None;
        }
        found = rows(&answer.json());
        if expected.is_some_and(|expected| fewest <= expected + BACKGROUND_READS) {
            break;
        }
    }
    Some(RouteCost {
        statements: fewest,
        rows: found,
    })
}

type RouteCosts = BTreeMap<(String, EffectiveRole), RouteCost>;

async fn measure_all(app: &TestApp, lesson: &LessonFixture, before: Option<&RouteCosts>) -> RouteCosts {
    let world = &app.world;
    let people = [
        (EffectiveRole::Student, &world.ben),
        (EffectiveRole::Teacher, &world.ada),
        (EffectiveRole::Admin, &world.adam),
        (EffectiveRole::SuperAdmin, &world.root),
    ];
    let (_, table) = router::description();
    let mut asked = BTreeMap::new();
    for row in table.iter().filter(|row| row.method == "GET") {
        let is_public = row.access == Access::Anyone && !row.path.starts_with("/auth/");
        if is_public || row.access == Access::DocumentServer || row.path.contains("{token}") {
            continue;
        }
        for (effective_role, person) in people {
            // A super admin has no active school. With one, they would count as an admin.
            let is_platform = row.access == Access::SuperAdmin;
            if row.access.allows(effective_role) && (effective_role == EffectiveRole::SuperAdmin) == is_platform {
                let key = (row.path.clone(), effective_role);
                let expected = before.and_then(|before| before.get(&key)).map(|asked| asked.statements);
                let answer = measure(app, person, row, &path_of_lesson(app, lesson, &row.path), expected).await;
                asked.extend(answer.map(|answer| (key, answer)));
            }
        }
    }
    asked
}

/// Saves a first version of the lesson's document.
async fn save_content(app: &TestApp, lesson: &LessonFixture) {
    let file = reqwest::multipart::Part::bytes(word_document("one")).file_name("page.docx");
    let form = reqwest::multipart::Form::new().part("file", file);
    let (ben, path) = (
        app.as_(&app.world.ben),
        format!("/workrooms/documents/{}/content", lesson.document),
    );
    let request = ben.request(reqwest::Method::PUT, &path).multipart(form);
    ben.finish(request).await.expect(200);
}

sqlite!(no_route_runs_one_statement_per_row, |app| {
    let lesson = LessonFixture::create(app).await;
    save_content(app, &lesson).await;
    let path = format!("/assignments/{}", lesson.assignment);
    let topic = app.as_(&app.world.ada).get(&path).await.expect(200);
    let link = link(&topic, &lesson.group)["id"].as_str().unwrap().to_owned();
    let few = measure_all(app, &lesson, None).await;
    grow(app, &lesson, &link).await;
    let many = measure_all(app, &lesson, Some(&few)).await;
    assert!(many.len() > 40, "the walk reads the table of routes");

    let mut faults = Vec::new();
    for ((path, effective_role), many) in &many {
        let few = &few[&(path.clone(), *effective_role)];
        let is_wanted = GROWING.iter().any(|(p, s, _)| p == path && s == effective_role);
        if few.statements + BACKGROUND_READS < many.statements && !is_wanted {
            faults.push(format!(
                "GET {path} as {effective_role:?} ran {} statements and then {}",
                few.statements, many.statements
            ));
        }
    }
    let lists: std::collections::BTreeSet<&str> = many
        .iter()
        .filter(|(_, asked)| asked.rows.is_some())
        .map(|((path, _), _)| path.as_str())
        .collect();
    for path in lists {
        let of_path = many.iter().filter(|((asked, _), _)| asked == path);
        let longest = of_path.filter_map(|(_, asked)| asked.rows).max().unwrap_or(0);
        if longest < GROWN && !SHORT_LISTS.iter().any(|(short, _)| *short == path) {
            faults.push(format!(
                "GET {path} lists {longest} rows: add rows in crates/test-support/src/many_rows.rs"
            ));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
});
