//! Calls every route with ids of another school. For every role, the response is the same as for an id that does not
//! exist, and no row changes.

use api::endpoint::Row;
use api::router;
use domain::access::Access;
use serde_json::{Value, json};

use test_support::samples::{Ids, path_with_unknown_ids, sample};
use test_support::tables::fingerprints;
use test_support::{Answer, Client, LessonFixture};

fn is_checked(row: &Row) -> bool {
    !row.path.starts_with("/auth/") && !matches!(row.access, Access::Anyone | Access::DocumentServer)
}

/// Sends the sample request of a route.
pub async fn call(client: &Client, row: &Row, path: &str, ids: &Ids) -> Answer {
    sample(row.method, &row.path, ids).send(client, row.method, path).await
}

fn without_request_id(answer: Answer) -> (u16, Value) {
    let status = answer.status;
    let mut body = serde_json::from_slice(&answer.bytes).unwrap_or(Value::Null);
    if let Some(body) = body.as_object_mut() {
        body.remove("requestId");
    }
    (status, body)
}

both!(ids_of_another_school_look_unknown, |app| {
    let lesson = LessonFixture::create(app).await;
    let world = &app.world;
    let before = fingerprints(&app.database).await;
    let (_, rows) = router::description();
    for row in rows.iter().filter(|row| is_checked(row) && row.path.contains('{')) {
        for person in [&world.zara, &world.zoe, &world.zack] {
            let client = app.as_(person);
            let foreign = without_request_id(
                call(
                    &client,
                    row,
                    &lesson.path(app, &row.path),
                    &Ids::of_lesson(app, &lesson),
                )
                .await,
            );
            let unknown =
                without_request_id(call(&client, row, &path_with_unknown_ids(&row.path), &Ids::unknown()).await);
            let context = format!("{} {} as {}", row.method, row.path, person.name);
            assert_eq!(foreign, unknown, "{context}: a foreign id must look unknown");
            assert!(matches!(foreign.0, 403 | 404), "{context}: {foreign:?}");
        }
    }
    for row in rows
        .iter()
        .filter(|row| is_checked(row) && row.method == "POST" && !row.path.contains('{'))
    {
        if matches!(
            row.path.as_str(),
            "/subjects"
                | "/homerooms"
                | "/classes"
                | "/users/import"
                | "/users/me/email"
                | "/users/me/export"
                | "/admin/domains"
                | "/admin/api-tokens"
                | "/admin/sign-on"
                | "/admin/rosters"
                | "/snippets"
                | "/rubrics"
        ) {
            continue; // They name no other object.
        }
        for person in [&world.zara, &world.zoe, &world.zack] {
            let answer =
                without_request_id(call(&app.as_(person), row, &row.path, &Ids::of_lesson(app, &lesson)).await);
            // Each homeroom is reported on its own.
            let is_reported = row.path == "/homerooms/classes"
                && answer.1["created"] == json!([])
                && answer.1["problems"][0]["problem"] == "NOT_FOUND";
            assert!(
                is_reported || matches!(answer.0, 403 | 404),
                "{} {} as {}: {answer:?}",
                row.method,
                row.path,
                person.name
            );
        }
    }
    let after = fingerprints(&app.database).await;
    let changed: Vec<_> = before
        .iter()
        .filter(|(table, print)| after.get(*table) != Some(print))
        .collect();
    assert!(changed.is_empty(), "changed: {changed:?}");
});

both!(hidden_group_looks_unknown_to_its_own_student, |app| {
    let lesson = LessonFixture::create(app).await;
    let dana = app.as_(&app.world.dana);
    let mut hidden = lesson.clone();
    hidden.group = lesson.hidden_group.clone();
    let (_, rows) = router::description();
    for row in rows
        .iter()
        .filter(|row| is_checked(row) && row.path.contains("{groupId}") || row.path.starts_with("/groups/{id}"))
    {
        let known =
            without_request_id(call(&dana, row, &hidden.path(app, &row.path), &Ids::of_lesson(app, &hidden)).await);
        let unknown = without_request_id(call(&dana, row, &path_with_unknown_ids(&row.path), &Ids::unknown()).await);
        assert_eq!(known, unknown, "{} {}", row.method, row.path);
    }
    for path in ["/groups", "/assignments", "/workrooms"] {
        let text = String::from_utf8(dana.get(path).await.bytes).unwrap();
        assert!(
            !text.contains(&lesson.hidden_group) && !text.contains("Mountains"),
            "{path}: {text}"
        );
    }
});
