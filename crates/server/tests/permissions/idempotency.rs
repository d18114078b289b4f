//! `Idempotency-Key`: a repeated create request creates nothing and receives the first response.

use common::clock;
use futures_util::future::join_all;
use serde_json::{Value, json};
use service::jobs::idempotency_keys;

use test_support::rows::{execute, texts};
use test_support::samples::{Ids, Sample, sample};
use test_support::topics::{id, new_topic};
use test_support::{Answer, Client, DatabaseKind, LessonFixture, SecondInstance, TestApp};

fn with_key(client: &Client, key: &str) -> Client {
    client.with("idempotency-key", key)
}

async fn count(app: &TestApp, table: &str) -> usize {
    texts(&app.database, format!("SELECT id FROM {table}")).await.len()
}

/// Checks the response to a repeated request.
#[track_caller]
fn assert_replayed(first: &Answer, again: &Answer) {
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(first.header("idempotency-replayed"), "");
    for name in ["location", "etag"] {
        assert_eq!(first.header(name), again.header(name), "{name}");
    }
    assert_eq!((first.status, first.json()), (again.status, again.json()));
}

const RECORD_WORK: &str = "/assignments/{id}/groups/{groupId}/submission";

/// The path of `RECORD_WORK` for a group that has not submitted.
async fn path_without_submission(app: &TestApp, lesson: &LessonFixture) -> String {
    let ada = app.as_(&app.world.ada);
    let new = json!({"classId": app.world.seven_b.id, "name": "Speakers"});
    let group = ada.post("/groups", new).await.expect(201)["id"].clone();
    let attach = json!({"groupIds": [group]});
    ada.post(&format!("/assignments/{}/groups", lesson.assignment), attach)
        .await
        .expect(200);
    format!(
        "/assignments/{}/groups/{}/submission",
        lesson.assignment,
        group.as_str().unwrap()
    )
}

/// Every create route of an organization, with the table that it inserts into.
const CREATE_ROUTES: &[(&str, &str)] = &[
    ("/users", "members"),
    ("/admin/domains", "mail_domains"),
    ("/admin/api-tokens", "api_tokens"),
    ("/tenants/{id}/domains", "mail_domains"),
    ("/admin/sign-on", "sign_on_providers"),
    ("/admin/rosters", "roster_sources"),
    ("/admin/rosters/{id}/runs", "roster_runs"),
    ("/admin/sign-on/{id}/identities", "external_identities"),
    ("/subjects", "subjects"),
    ("/homerooms", "homerooms"),
    ("/homerooms/classes", "classes"),
    ("/classes", "classes"),
    ("/classes/{id}/clone", "classes"),
    ("/classes/{id}/copies", "courses"),
    ("/courses", "courses"),
    ("/courses/{id}/copies", "assignments"),
    ("/groups", "groups"),
    ("/groups/batch", "groups"),
    ("/groups/generate", "groups"),
    ("/groups/{id}/attachments", "group_attachments"),
    ("/assignments", "assignments"),
    ("/assignments/{id}/attachments", "assignment_attachments"),
    ("/assignments/{id}/clone", "assignments"),
    (RECORD_WORK, "submissions"),
    ("/workrooms/{id}/messages", "work_room_messages"),
    ("/workrooms/{id}/messages/attachments", "message_attachments"),
    ("/workrooms/{id}/documents", "documents"),
    ("/workrooms/documents/{id}/images", "document_images"),
    ("/workrooms/documents/{id}/comments", "comment_threads"),
    (
        "/workrooms/documents/{id}/comments/{threadId}/replies",
        "document_comments",
    ),
    ("/feedback", "feedback"),
    ("/feedback/submissions/{id}/files", "grade_files"),
    ("/messages", "direct_messages"),
    ("/snippets", "text_snippets"),
    ("/rubrics", "rubrics"),
];

/// Returns the sample of a create route.
fn create_request(app: &TestApp, lesson: &LessonFixture, route: &str) -> Sample {
    let mut body = sample("POST", route, &Ids::of_lesson(app, lesson));
    if let Sample::Json(body) = &mut body {
        match route {
            // An administrator names the teacher.
            "/classes" => body["teacherId"] = json!(app.world.ada.id),
            "/tenants/{id}/domains" => body["domain"] = json!("another-school.example"),
            _ => {}
        }
    }
    body
}

both!(every_create_route_creates_once_per_key, |app| {
    let lesson = LessonFixture::create(app).await;
    let document = serde_json::to_value(api::router::description().0).unwrap();
    let mut left: Vec<&String> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(path, item)| item["post"]["responses"].get("201").is_some() && *path != "/tenants")
        .map(|(path, _)| path)
        .collect();
    for &(route, table) in CREATE_ROUTES {
        let path = match route {
            RECORD_WORK => path_without_submission(app, &lesson).await,
            _ => lesson.path(app, route),
        };
        left.retain(|path| *path != route);
        let person = match route {
            "/tenants/{id}/domains" => &app.world.root,
            "/messages" | "/feedback" | "/workrooms/{id}/messages" => &app.world.ada,
            _ => &app.world.adam,
        };
        let client = with_key(&app.as_(person), "018f3c1e-6c2f");
        let before = count(app, table).await;
        let first = create_request(app, &lesson, route).send(&client, "POST", &path).await;
        assert_eq!(first.status, 201, "{route}: {}", first.json());
        let after = count(app, table).await;
        assert!(after > before, "{route}");
        let again = create_request(app, &lesson, route).send(&client, "POST", &path).await;
        assert_eq!(count(app, table).await, after, "{route}: {}", again.json());
        let shown_once: &[&str] = match route {
            "/users" => &["temporaryPassword", "slipToken"],
            "/admin/api-tokens" => &["secret"],
            _ => &[],
        };
        if shown_once.is_empty() {
            assert_replayed(&first, &again);
        } else {
            // A client that lost the response must reset the password, or create another token.
            let (mut with, without) = (first.json(), again.json());
            for secret in shown_once.iter().copied() {
                assert!(with[secret].is_string() && without[secret].is_null());
                with[secret] = Value::Null;
            }
            assert_eq!((with, again.status), (without, 201));
        }
        // Without a key, or with another key, every request creates a new object.
        assert!(
            document["paths"][route]["post"]["parameters"]
                .to_string()
                .contains("IdempotencyKey"),
            "{route}"
        );
    }
    assert_eq!(
        left,
        Vec::<&String>::new(),
        "creating routes that this test does not call"
    );
    let secrets = texts(
        &app.database,
        "SELECT answer FROM idempotency_keys WHERE route IN ('POST /api/users', 'POST /api/admin/api-tokens')"
            .to_owned(),
    )
    .await;
    let is_hidden =
        |answer: &&String| answer.contains("\"temporaryPassword\":null") || answer.contains("\"secret\":null");
    assert_eq!(secrets.iter().flatten().filter(is_hidden).count(), 2, "{secrets:?}");
});

both!(key_reused_for_another_request_is_rejected, |app| {
    let (ada, class) = (with_key(&app.as_(&app.world.ada), "one"), &app.world.seven_b);
    let made = ada
        .post("/groups", json!({"classId": class.id, "name": "Lakes"}))
        .await
        .expect(201);
    let groups = count(app, "groups").await;
    let other = json!({"classId": class.id, "name": "Seas"});
    ada.post("/groups", other.clone())
        .await
        .refused(409, "IDEMPOTENCY_KEY_REUSED");
    // The order of fields does not make a different request.
    let same = ada
        .post("/groups", json!({"name": "Lakes", "classId": class.id}))
        .await
        .expect(201);
    assert_eq!(
        (same["id"].clone(), count(app, "groups").await),
        (made["id"].clone(), groups)
    );
    with_key(&ada, "two").post("/groups", other).await.expect(201);
    // A failed request does not consume its key.
    let wrong = json!({"classId": class.id, "groupNumber": made["groupNumber"]});
    let three = with_key(&ada, "three");
    three
        .post("/groups", wrong)
        .await
        .refused(409, "DUPLICATE_GROUP_NUMBER");
    three.post("/groups", json!({"classId": class.id})).await.expect(201);
    for wrong in ["", "a b", &"k".repeat(256)] {
        with_key(&ada, wrong)
            .post("/groups", json!({"classId": class.id}))
            .await
            .invalid("Idempotency-Key");
    }
});

both!(concurrent_equal_requests_create_one_object, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    for round in 0..6 {
        let client = with_key(&ada, &format!("round-{round}"));
        let body = json!({"classId": class.id, "name": format!("Round {round}")});
        let before = count(app, "groups").await;
        let answers = join_all((0..8).map(|_| client.post("/groups", body.clone()))).await;
        let replayed = answers
            .iter()
            .filter(|answer| answer.header("idempotency-replayed") == "true")
            .count();
        let made: Vec<String> = answers.into_iter().map(|answer| id(&answer.expect(201))).collect();
        assert!(made.iter().all(|id| *id == made[0]), "{made:?}");
        assert_eq!((count(app, "groups").await, replayed), (before + 1, 7));
    }
});

both!(concurrent_equal_uploads_keep_one_file, |app| {
    let lesson = LessonFixture::create(app).await;
    let client = with_key(&app.as_(&app.world.ada), "upload");
    let path = format!("/groups/{}/attachments", lesson.group);
    let uploads = (0..6).map(|_| client.upload(&path, "river.txt", b"the same river".to_vec(), &[]));
    let made: Vec<String> = join_all(uploads)
        .await
        .into_iter()
        .map(|answer| id(&answer.expect(201)))
        .collect();
    assert!(made.iter().all(|id| *id == made[0]), "{made:?}");
    client
        .upload(&path, "river.txt", b"another river".to_vec(), &[])
        .await
        .refused(409, "IDEMPOTENCY_KEY_REUSED");
    assert_eq!(count(app, "group_attachments").await, 2);
});

both!(a_key_belongs_to_one_person_organization_and_route, |app| {
    let (world, class) = (&app.world, &app.world.seven_b);
    let body = json!({"classId": class.id, "name": "Lakes"});
    let made = id(&with_key(&app.as_(&world.ada), "k")
        .post("/groups", body.clone())
        .await
        .expect(201));
    let others = id(&with_key(&app.as_(&world.adam), "k")
        .post("/groups", body.clone())
        .await
        .expect(201));
    assert_ne!(made, others, "another person's key is unknown");
    with_key(&app.as_(&world.zoe), "k")
        .post("/groups", body)
        .await
        .refused(404, "NOT_FOUND");
    let topic = with_key(&app.as_(&world.ada), "k")
        .post("/assignments", new_topic(class, json!({})))
        .await;
    assert_eq!((topic.status, topic.header("idempotency-replayed")), (201, ""));
    let keys = texts(&app.database, "SELECT key_digest FROM idempotency_keys".to_owned()).await;
    assert_eq!(keys.len(), 3);
    assert!(
        keys.iter().flatten().all(|digest| digest.len() == 64),
        "the key itself is not stored"
    );
});

both!(a_key_expires_after_a_day_and_is_deleted, |app| {
    let (ada, class) = (with_key(&app.as_(&app.world.ada), "k"), &app.world.seven_b);
    let body = json!({"classId": class.id});
    let first = id(&ada.post("/groups", body.clone()).await.expect(201));
    let day = 24 * 60 * 60 * 1000;
    execute(
        &app.database,
        format!("UPDATE idempotency_keys SET created_at = created_at - {day}"),
    )
    .await;
    let second = id(&ada.post("/groups", body.clone()).await.expect(201));
    assert_ne!(first, second);
    let store = app.app.store();
    idempotency_keys::sweep(store, clock::now()).await.unwrap();
    assert_eq!(count(app, "idempotency_keys").await, 1);
    idempotency_keys::sweep(store, clock::now().plus_seconds(day / 1000))
        .await
        .unwrap();
    assert_eq!(count(app, "idempotency_keys").await, 0);
});

both!(oldest_keys_of_a_user_are_deleted, |app| {
    let (ada, class, north) = (app.as_(&app.world.ada), &app.world.seven_b, &app.world.north);
    let now = clock::now().as_millis();
    let (ada_id, adam_id) = (&app.world.ada.id, &app.world.adam.id);
    let mut rows = Vec::new();
    for number in 0..1_000 {
        let at = now - 2_000 + number;
        rows.push(format!(
            "('{north}', 'i{number}', '{ada_id}', 'POST /x', 'k{number}', 'r', 201, '{{}}', 2, {at})"
        ));
    }
    rows.push(format!(
        "('{north}', 'of-adam', '{adam_id}', 'POST /x', 'k', 'r', 201, '{{}}', 2, {})",
        now - 3_000
    ));
    let insert = "INSERT INTO idempotency_keys (organization_id, id, user_id, route, key_digest, request_digest, status, \
        answer, size, created_at) VALUES ";
    execute(&app.database, format!("{insert}{}", rows.join(", "))).await;
    with_key(&ada, "newest")
        .post("/groups", json!({"classId": class.id}))
        .await
        .expect(201);
    let left = texts(&app.database, "SELECT id FROM idempotency_keys".to_owned()).await;
    assert_eq!(left.len(), 1_001, "1000 of Ada, one of Adam");
    assert!(!left.contains(&Some("i0".to_owned())) && left.contains(&Some("i1".to_owned())));
    // Large responses count by their size in bytes.
    execute(
        &app.database,
        "UPDATE idempotency_keys SET size = 5000000 WHERE id IN ('i998', 'i999')".to_owned(),
    )
    .await;
    with_key(&ada, "next")
        .post("/groups", json!({"classId": class.id}))
        .await
        .expect(201);
    assert_eq!(
        count(app, "idempotency_keys").await,
        4,
        "two groups, i999 and the key of Adam"
    );
});

both!(erasure_deletes_stored_responses_naming_the_user, |app| {
    let (world, class) = (&app.world, &app.world.seven_b);
    let ada = app.as_(&world.ada);
    let with = json!({"classId": class.id, "memberIds": [world.ben.id]});
    with_key(&ada, "with").post("/groups", with).await.expect(201);
    with_key(&ada, "without")
        .post("/groups", json!({"classId": class.id}))
        .await
        .expect(201);
    let erase = json!({"userId": world.ben.id, "dryRun": false});
    app.as_(&world.adam).post("/admin/gdpr/erase", erase).await.expect(200);
    assert_eq!(count(app, "idempotency_keys").await, 1);
});

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn equal_requests_to_two_instances_create_one_object() {
    let Some(one) = TestApp::start(DatabaseKind::Postgres).await else {
        return;
    };
    let two = SecondInstance::start(&one, &[]).await;
    let body = json!({"classId": one.world.seven_b.id, "name": "Lakes"});
    let (here, there) = (
        with_key(&one.as_(&one.world.ada), "k"),
        with_key(&Client::new(&two.base, Some(one.world.ada.cookie.clone())), "k"),
    );
    let calls = (0..8).map(|number| if number % 2 == 0 { &here } else { &there }.post("/groups", body.clone()));
    let made: Vec<String> = join_all(calls)
        .await
        .into_iter()
        .map(|answer| id(&answer.expect(201)))
        .collect();
    assert!(made.iter().all(|id| *id == made[0]), "{made:?}");
    two.close().await;
    one.close().await;
}
