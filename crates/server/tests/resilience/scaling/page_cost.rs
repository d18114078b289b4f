//! Compares the same pages with a tenth of the schools and with all of them. The cost of a page depends on its content
//! and not on the data of other schools.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::seeder::{self, Extent};
use test_support::app::AUTH_SECRET;
use test_support::{Client, DatabaseKind, TestApp, is_soak, size};

/// Measures the median time of each page of one school in a service with this amount of data.
async fn medians(kind: DatabaseKind, extent: Extent) -> Option<BTreeMap<&'static str, Duration>> {
    let app = TestApp::start(kind).await?;
    seeder::fill(&app.database, extent).await;
    let school = extent.schools / 2;
    let person = |number: i64| {
        let token = format!("token{}", school * extent.students + number);
        let cookie = format!(
            "better-auth.session_token={}",
            better_auth::cookie::sign(AUTH_SECRET, &token)
        );
        Client::new(&app.base, Some(cookie))
    };
    let (admin, teacher, student) = (person(0), person(1), person(5));
    let mut medians = BTreeMap::new();
    for (name, client, path) in [
        ("log of the school", &admin, "/activity-logs".to_owned()),
        ("log of a class", &admin, format!("/activity-logs?classId=k{school}-1")),
        ("log of a person", &admin, format!("/activity-logs?userId=u{school}-5")),
        ("users of the school", &admin, "/users?limit=50".to_owned()),
        (
            "submissions overview",
            &teacher,
            "/assignments/submissions/overview?limit=50".to_owned(),
        ),
        ("groups of a class", &teacher, format!("/classes/k{school}-1/groups")),
        (
            "students of a class",
            &teacher,
            format!("/classes/k{school}-1/students"),
        ),
        ("a student's groups", &student, "/groups".to_owned()),
        ("a student's classes", &student, "/classes".to_owned()),
        (
            "a page of the chat",
            &student,
            format!("/workrooms/w{school}-1/messages"),
        ),
        (
            "documents of a room",
            &student,
            format!("/workrooms/w{school}-1/documents"),
        ),
        ("inbox", &student, "/messages?box=inbox".to_owned()),
    ] {
        let mut times = Vec::new();
        for _ in 0..size(1, 200) {
            let begun = Instant::now();
            let answer = client.get(&path).await;
            times.push(begun.elapsed());
            answer.expect(200);
        }
        times.sort_unstable();
        medians.insert(name, times[times.len() / 2]);
    }
    app.close().await;
    Some(medians)
}

async fn compare_page_cost(kind: DatabaseKind) {
    let all = Extent::for_run();
    let Some(few) = medians(kind, all.tenth()).await else {
        return;
    };
    if !is_soak() {
        // All pages were served. Their times are not meaningful while other tests use the machine.
        return;
    }
    let Some(many) = medians(kind, all).await else { return };
    let mut slower = Vec::new();
    for (name, one) in &few {
        let ratio = many[name].as_secs_f64() / one.as_secs_f64();
        println!(
            "{kind:?}: {name}: {one:.1?} at 1x, {:.1?} at 10x, ratio {ratio:.2}",
            many[name]
        );
        slower.push(ratio);
    }
    // Single medians vary on a shared machine. Their overall level grows tenfold only if the cost of pages grows.
    slower.sort_by(f64::total_cmp);
    let middle = slower[slower.len() / 2];
    assert!(middle < 2.0, "pages grow with the schools of others: {slower:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_cost_does_not_grow_with_schools_on_sqlite() {
    compare_page_cost(DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_cost_does_not_grow_with_schools_on_postgres() {
    compare_page_cost(DatabaseKind::Postgres).await;
}
