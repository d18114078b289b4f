//! `dryRun`: a route that deletes, finishes, moves, copies or imports returns a preview. Every other route rejects the
//! parameter. tests/permissions/activity_log_coverage checks for every route of its story that a preview changes no row.

use reqwest::Method;
use serde_json::{Value, json};

use test_support::LessonFixture;
use test_support::openapi_check::document;
use test_support::rows::texts;
use test_support::samples::path_with_unknown_ids;
use test_support::tables::fingerprints;

#[test]
fn dry_run_is_documented_on_every_destructive_route() {
    for row in &document().rows {
        let parameters = document().operation(row)["parameters"].as_array();
        let mut parameters = parameters.into_iter().flatten();
        let is_documented = parameters.any(|parameter| parameter["name"] == "dryRun" && parameter["in"] == "query");
        let ends = [
            "/finish",
            "/reopen",
            "/move",
            "/import",
            "/erase",
            "/generate",
            "/bulk",
            "/copies",
            "/record-work",
            "/following",
            "/homerooms/classes",
        ];
        let is_due = row.method == "DELETE" || ends.iter().any(|end| row.path.ends_with(end));
        assert_eq!(is_documented, is_due, "dryRun of {} {}", row.method, row.path);
    }
}

both!(route_without_dry_run_rejects_it_and_does_nothing, |app| {
    let before = fingerprints(&app.database).await;
    let root = app.as_(&app.world.root);
    for row in &document().rows {
        let parameters = document().operation(row)["parameters"].as_array();
        let mut parameters = parameters.into_iter().flatten();
        if parameters.any(|parameter| parameter["name"] == "dryRun") {
            continue;
        }
        let method: Method = row.method.parse().unwrap();
        let body = (method != Method::GET).then(|| json!({}));
        for query in ["dryRun=1", "dryRun", "dryRun=0"] {
            let path = format!("{}?{query}", path_with_unknown_ids(&row.path));
            let answer = root.send(method.clone(), &path, body.clone()).await;
            // Routes only for students or the document server reject a super admin before they check the parameter.
            let is_refused = matches!(answer.status, 400 | 401 | 403);
            assert!(is_refused, "{method} {path}: {}", answer.status);
        }
    }
    assert_eq!(fingerprints(&app.database).await, before);
    app.as_(&app.world.ada).get("/courses?dryRun=1").await.invalid("dryRun");
    app.as_(&app.world.ben)
        .post("/courses?dryRun=1", json!({}))
        .await
        .refused(403, "FORBIDDEN_ROLE");
});

tenants!(dry_run_in_another_spelling_deletes_nothing, |app| {
    let lesson = LessonFixture::create(app).await;
    let (ada, path) = (app.as_(&app.world.ada), format!("/groups/{}", lesson.group));
    for query in [
        "dryrun=1",
        "dry_run=1",
        "dry-run",
        "DRYRUN=true",
        "dryRun=maybe",
        "dryRun=1&dryRun=0",
    ] {
        let refused = ada.delete(&format!("{path}?{query}")).await;
        refused.refused(400, "VALIDATION_ERROR");
    }
    for query in ["dryRun", "dryRun=", "dryRun=1", "dryRun=true", "a=b&dryRun"] {
        let shown = ada.delete(&format!("{path}?{query}")).await.expect(200);
        assert_eq!(shown["deletedDocuments"], 2, "{query}: {shown}");
        ada.get(&path).await.expect(200);
    }
    let done = ada.delete(&format!("{path}?dryRun=0")).await.expect(200);
    assert_eq!(done["deletedDocuments"], 2);
    ada.get(&path).await.refused(404, "NOT_FOUND");
});

both!(finish_preview_matches_the_result, |app| {
    let lesson = LessonFixture::create(app).await;
    let (ada, path) = (
        app.as_(&app.world.ada),
        format!("/assignments/{}/finish", lesson.assignment),
    );
    let before = fingerprints(&app.database).await;
    let shown = ada.post(&format!("{path}?dryRun=1"), json!({})).await.expect(200);
    assert_eq!(fingerprints(&app.database).await, before);
    let done = ada.post(&path, json!({})).await.expect(200);
    for field in ["lockedDocuments", "groups", "alreadyFinished", "unsavedDocuments"] {
        assert_eq!(shown[field], done[field], "{field}");
    }
    assert_eq!(done["lockedDocuments"], 2);
});

both!(move_and_erasure_accept_dry_run_in_the_query, |app| {
    let lesson = LessonFixture::create(app).await;
    let (ada, world) = (app.as_(&app.world.ada), &app.world);
    let before = fingerprints(&app.database).await;
    let path = format!("/groups/{}/members/{}/move", lesson.group, world.ben.id);
    let to = json!({"toGroupId": lesson.hidden_group});
    let moved = ada.post(&format!("{path}?dryRun"), to.clone()).await.expect(200);
    let members = |group: &Value| group["members"].as_array().unwrap().len();
    assert_eq!(
        (members(&moved["from"]), members(&moved["to"])),
        (1, 2),
        "as it would be"
    );
    let erase = json!({"userId": world.eli.id});
    let adam = app.as_(&world.adam);
    let shown = adam.post("/admin/gdpr/erase?dryRun=1", erase).await.expect(200);
    assert_eq!(shown["dryRun"], true);
    assert_eq!(fingerprints(&app.database).await, before);
});

tenants!(preview_checks_if_match_and_keeps_the_version, |app| {
    let lesson = LessonFixture::create(app).await;
    let adam = app.as_(&app.world.adam);
    let class = &app.world.seven_b;
    for path in [
        format!("/workrooms/documents/{}", lesson.document),
        format!("/groups/{}", lesson.group),
        format!("/assignments/{}", lesson.assignment),
        format!("/courses/{}", class.course),
        format!("/homerooms/{}", lesson.homeroom),
        format!("/classes/{}", class.id),
    ] {
        let etag = adam.get(&path).await.header("etag").to_owned();
        let preview = format!("{path}?dryRun=1");
        adam.delete(&preview).await.expect(200);
        adam.with("if-match", &etag).delete(&preview).await.expect(200);
        let stale = adam.with("if-match", "\"0\"").delete(&preview).await;
        assert_eq!(stale.header("etag"), etag, "{path}");
        stale.refused(412, "PRECONDITION_FAILED");
        assert_eq!(adam.get(&path).await.header("etag"), etag, "{path}");
    }
});

both!(preview_stores_no_idempotency_key, |app| {
    let (ada, world) = (app.as_(&app.world.ada).with("idempotency-key", "k"), &app.world);
    let new = json!({
        "classId": world.seven_b.id, "strategy": "random", "groupCount": 1, "studentIds": [world.ben.id, world.cem.id],
    });
    let before = fingerprints(&app.database).await;
    for _ in 0..2 {
        let shown = ada.post("/groups/generate?dryRun=1", new.clone()).await;
        assert_eq!(shown.header("idempotency-replayed"), "");
        assert_eq!(shown.expect(200)["dryRun"], true);
    }
    assert_eq!(fingerprints(&app.database).await, before);
    let made = ada.post("/groups/generate", new.clone()).await;
    assert_eq!(made.header("idempotency-replayed"), "");
    made.expect(201);
    // A preview with the idempotency key of the action is still a preview.
    let shown = ada.post("/groups/generate?dryRun=1", new).await.expect(200);
    assert_eq!(shown["dryRun"], true);
    let keys = texts(&app.database, "SELECT id FROM idempotency_keys".to_owned()).await;
    assert_eq!(keys.len(), 1);
});
