//! `ETag` and `If-Match`: of two changes that start from the same version, one succeeds and the other receives the
//! current state. Data outside the content of an object does not raise its version.

use reqwest::Method;
use serde_json::{Value, json};

use test_support::topics::id;
use test_support::{Client, LessonFixture, TestApp};

/// Number of concurrent pairs of changes for each resource.
const PAIRS: usize = 24;

/// Returns the current version from a GET.
async fn etag(client: &Client, path: &str) -> String {
    let answer = client.get(path).await;
    let etag = answer.header("etag").to_owned();
    answer.expect(200);
    assert!(
        etag.len() > 2 && etag.starts_with('"') && etag.ends_with('"'),
        "{path}: {etag}"
    );
    etag
}

/// A resource that users change: its path, how it is changed, and a body that differs for each number.
struct Resource {
    name: &'static str,
    read: String,
    method: Method,
    change: String,
    body: fn(usize) -> Value,
}

fn resource(name: &'static str, read: &str, method: Method, change: &str, body: fn(usize) -> Value) -> Resource {
    Resource {
        name,
        read: read.to_owned(),
        method,
        change: change.to_owned(),
        body,
    }
}

fn patched(name: &'static str, path: &str, body: fn(usize) -> Value) -> Resource {
    resource(name, path, Method::PATCH, path, body)
}

/// Returns every resource with a version, for its owner and for others who may change it.
fn resources(app: &TestApp, lesson: &LessonFixture) -> Vec<Resource> {
    let (class, ben) = (&app.world.seven_b, &app.world.ben.id);
    let named = |number: usize| json!({"name": format!("Name {number}")});
    let titled = |number: usize| json!({"title": format!("Title {number}")});
    let graded = |number: usize| json!({"points": number});
    let topic = format!("/assignments/{}", lesson.assignment);
    let submission = format!("/feedback/submissions/{}", lesson.submission);
    vec![
        patched("group", &format!("/groups/{}", lesson.group), named),
        patched("topic", &topic, titled),
        resource(
            "topic of all groups",
            &topic,
            Method::PATCH,
            &format!("{topic}/bulk"),
            titled,
        ),
        patched("class", &format!("/classes/{}", class.id), named),
        patched("course", &format!("/courses/{}", class.course), named),
        patched("subject", &format!("/subjects/{}", class.subject), named),
        patched("homeroom", &format!("/homerooms/{}", lesson.homeroom), named),
        patched("settings", "/admin/settings", named),
        patched("person", &format!("/users/{ben}"), named),
        patched("own profile", "/users/me", named),
        patched("document", &format!("/workrooms/documents/{}", lesson.document), titled),
        resource(
            "grade",
            &submission,
            Method::PUT,
            &format!("{submission}/grade"),
            graded,
        ),
    ]
}

both!(concurrent_changes_of_one_version_have_one_winner, |app| {
    let lesson = LessonFixture::create(app).await;
    let adam = app.as_(&app.world.adam);
    for Resource {
        name,
        read,
        method,
        change,
        body,
    } in resources(app, &lesson)
    {
        for pair in 0..PAIRS {
            let before = etag(&adam, &read).await;
            let client = adam.with("if-match", &before);
            let (one, other) = (body(1000 + 2 * pair), body(1001 + 2 * pair));
            let (one, other) = tokio::join!(
                client.send(method.clone(), &change, Some(one)),
                client.send(method.clone(), &change, Some(other))
            );
            let (won, lost) = if one.status == 200 { (one, other) } else { (other, one) };
            let now = won.header("etag").to_owned();
            won.expect(200);
            assert_ne!(now, before, "{name}, pair {pair}");
            assert_eq!(lost.header("etag"), now, "{name}, pair {pair}");
            let refused = lost.refused(412, "PRECONDITION_FAILED");
            let current = adam.get(&read).await;
            assert_eq!(current.header("etag"), now, "{name}, pair {pair}");
            assert_eq!(refused["current"], current.expect(200), "{name}, pair {pair}");
        }
    }
});

tenants!(precondition_is_optional_and_takes_star_weak_tags_and_lists, |app| {
    let lesson = LessonFixture::create(app).await;
    let (ada, path) = (app.as_(&app.world.ada), format!("/groups/{}", lesson.group));
    let first = etag(&ada, &path).await;
    ada.patch(&path, json!({"name": "Without"})).await.expect(200);
    let second = etag(&ada, &path).await;
    let change = async |tags: &str, name: &str| ada.with("if-match", tags).patch(&path, json!({"name": name})).await;
    change("*", "Star").await.expect(200);
    change(&second, "Stale").await.refused(412, "PRECONDITION_FAILED");
    let third = etag(&ada, &path).await;
    change(&format!("W/{third}"), "Weak").await.expect(200);
    let fourth = etag(&ada, &path).await;
    change(&format!("{first}, {fourth}"), "List").await.expect(200);
    for wrong in ["7", "\"7", "*, \"7\""] {
        change(wrong, "Wrong").await.invalid("If-Match");
    }
    // A change without effect keeps the version, but its precondition is still checked.
    let fifth = etag(&ada, &path).await;
    let same = change(&fifth, "List").await;
    assert_eq!(same.header("etag"), fifth);
    same.expect(200);
    change(&first, "List").await.refused(412, "PRECONDITION_FAILED");
    assert_eq!(etag(&ada, &path).await, fifth);
});

tenants!(deletion_of_an_older_version_is_refused, |app| {
    let lesson = LessonFixture::create(app).await;
    let adam = app.as_(&app.world.adam);
    let subject = adam.post("/subjects", json!({"name": "Latin"})).await.expect(201);
    let new = json!({"name": "Lakes", "classId": app.world.seven_b.id, "subjectId": app.world.seven_b.subject});
    let course = adam.post("/courses", new).await.expect(201);
    for (path, change) in [
        (
            format!("/workrooms/documents/{}", lesson.document),
            json!({"title": "Else"}),
        ),
        (format!("/groups/{}", lesson.group), json!({"name": "Else"})),
        (format!("/assignments/{}", lesson.assignment), json!({"title": "Else"})),
        (format!("/courses/{}", id(&course)), json!({"name": "Else"})),
        (format!("/subjects/{}", id(&subject)), json!({"name": "Else"})),
        (format!("/homerooms/{}", lesson.homeroom), json!({"name": "Else"})),
    ] {
        let before = etag(&adam, &path).await;
        let changed = adam.patch(&path, change).await;
        let now = changed.header("etag").to_owned();
        changed.expect(200);
        let refused = adam.with("if-match", &before).delete(&path).await;
        assert_eq!(refused.header("etag"), now, "{path}");
        refused.refused(412, "PRECONDITION_FAILED");
        assert_eq!(etag(&adam, &path).await, now, "{path}");
        adam.with("if-match", &now).delete(&path).await.expect(200);
        adam.get(&path).await.refused(404, "NOT_FOUND");
    }
});

tenants!(created_object_has_the_first_version, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let new = json!({"classId": class.id, "name": "Lakes"});
    let made = ada.post("/groups", new).await;
    assert_eq!(made.header("etag"), "\"1\"");
    let path = format!("/groups/{}", id(&made.expect(201)));
    assert_eq!(etag(&ada, &path).await, "\"1\"");
});

tenants!(help_chat_and_presence_do_not_raise_a_version, |app| {
    let lesson = LessonFixture::create(app).await;
    let (ada, ben) = (app.as_(&app.world.ada), app.as_(&app.world.ben));
    let paths = [
        format!("/groups/{}", lesson.group),
        format!("/assignments/{}", lesson.assignment),
        format!("/workrooms/documents/{}", lesson.document),
        format!("/classes/{}", app.world.seven_b.id),
    ];
    let mut before = Vec::new();
    for path in &paths {
        before.push(etag(&ada, path).await);
    }
    let help = format!("/groups/{}/help", lesson.group);
    ben.post(&help, json!({"message": "We are stuck."})).await.expect(200);
    ada.post(&format!("{help}/claim"), json!({})).await.expect(200);
    ada.post(&format!("{help}/resolve"), json!({})).await.expect(200);
    let chat = format!("/workrooms/{}/messages", lesson.work_room);
    ben.post(&chat, json!({"content": "Hello"})).await.expect(201);
    ada.post(&format!("/workrooms/{}/read", lesson.work_room), json!({}))
        .await
        .expect(200);
    for (path, before) in paths.iter().zip(before) {
        assert_eq!(etag(&ada, path).await, before, "{path}");
    }
});

tenants!(changes_of_object_parts_raise_its_version, |app| {
    let lesson = LessonFixture::create(app).await;
    let (ada, world) = (app.as_(&app.world.ada), &app.world);
    let raises = async |path: &str, act: &str, answer: test_support::Answer, before: String| {
        assert!((200..300).contains(&answer.status), "{act}: {}", answer.json());
        assert_ne!(etag(&ada, path).await, before, "{act}");
    };
    let group = format!("/groups/{}", lesson.group);
    let topic = format!("/assignments/{}", lesson.assignment);
    let submission = format!("/feedback/submissions/{}", lesson.submission);
    let before = etag(&ada, &group).await;
    let answer = ada
        .post(&format!("{group}/members"), json!({"userIds": [world.eli.id]}))
        .await;
    raises(&group, "a member joins", answer, before).await;
    let before = etag(&ada, &group).await;
    let answer = ada.delete(&format!("{group}/members/{}", world.eli.id)).await;
    raises(&group, "a member leaves", answer, before).await;
    let before = etag(&ada, &topic).await;
    let answer = ada
        .patch(
            &format!("{topic}/groups/{}", lesson.group),
            json!({"descriptionOverride": "Two pages."}),
        )
        .await;
    raises(&topic, "a group has a text of its own", answer, before).await;
    let document = ada.get(&submission).await.expect(200)["documents"][0]["documentId"].clone();
    let document = format!("/workrooms/documents/{}", document.as_str().unwrap());
    let before = etag(&ada, &document).await;
    let answer = ada.put(&format!("{submission}/grade"), json!({"points": 2})).await;
    raises(&document, "a document shows its grade", answer, before).await;
    let before = etag(&ada, &document).await;
    let answer = ada.post(&format!("{topic}/finish"), json!({})).await;
    raises(&document, "a document is locked", answer, before).await;
});

tenants!(not_found_forbidden_and_locked_precede_version_conflict, |app| {
    let lesson = LessonFixture::create(app).await;
    let world = &app.world;
    let (ada, tom) = (app.as_(&world.ada), app.as_(&world.tom));
    let stale = "\"0\"";
    let group = format!("/groups/{}", lesson.group);
    let change = json!({"name": "Else"});
    tom.with("if-match", stale)
        .patch(&group, change.clone())
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    ada.with("if-match", "*")
        .patch("/groups/none", change.clone())
        .await
        .refused(404, "NOT_FOUND");
    // 412 takes precedence over 409, because the caller must read the current object first.
    let taken =
        json!({"groupNumber": ada.get(&format!("/groups/{}", lesson.hidden_group)).await.expect(200)["groupNumber"]});
    ada.with("if-match", stale)
        .patch(&group, taken.clone())
        .await
        .refused(412, "PRECONDITION_FAILED");
    ada.with("if-match", "*")
        .patch(&group, taken)
        .await
        .refused(409, "DUPLICATE_GROUP_NUMBER");
    let finish = format!("/assignments/{}/finish", lesson.assignment);
    ada.post(&finish, json!({})).await.expect(200);
    let document = format!("/workrooms/documents/{}", lesson.document);
    ada.with("if-match", stale)
        .patch(&document, json!({"title": "Late"}))
        .await
        .refused(423, "DOCUMENT_LOCKED");
});

tenants!(submission_is_read_by_those_who_see_its_group, |app| {
    let lesson = LessonFixture::create(app).await;
    let world = &app.world;
    let path = format!("/feedback/submissions/{}", lesson.submission);
    let graded = json!({"value": "B", "feedback": "GRADEMARK"});
    app.as_(&world.ada)
        .put(&format!("{path}/grade"), graded)
        .await
        .expect(200);
    let seen = app.as_(&world.ada).get(&path).await.expect(200);
    assert_eq!(
        (&seen["id"], &seen["grade"]["value"]),
        (&json!(lesson.submission), &json!("B"))
    );
    let own = app.as_(&world.ben).get(&path).await.expect(200);
    assert_eq!(own["grade"], Value::Null, "a grade that is no draft any more");
    for stranger in [&world.dana, &world.tom, &world.zoe] {
        app.as_(stranger).get(&path).await.refused(404, "NOT_FOUND");
    }
});

#[test]
fn every_editable_object_documents_etag_and_if_match() {
    /// Objects that are changed with PATCH but read only in lists, so that their version is never returned.
    const LISTED: [&str; 11] = [
        // Only their owner and administrators change them.
        "/rubrics/{id}",
        // It can be replaced only as long as no grade uses it.
        "/assignments/{id}/rubric",
        "/snippets/{id}",
        "/admin/sign-on/{id}",
        "/admin/rosters/{id}",
        "/admin/members/{id}",
        "/classes/{id}/students/{studentId}",
        "/assignments/{id}/groups/{groupId}",
        "/workrooms/{id}/messages/{messageId}",
        "/workrooms/documents/{id}/comments/{threadId}",
        "/workrooms/documents/{id}/comments/{threadId}/replies/{commentId}",
    ];
    let document = serde_json::to_value(api::router::description().0).unwrap();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in ["patch", "put"] {
            let Some(operation) = item.get(method).filter(|_| !LISTED.contains(&path.as_str())) else {
                continue;
            };
            let parameters = operation["parameters"].to_string();
            assert!(
                parameters.contains("#/components/parameters/IfMatch"),
                "{method} {path}"
            );
            assert!(operation["responses"].get("412").is_some(), "{method} {path}");
            let tag = |operation: &Value| operation["responses"]["200"]["headers"].get("ETag").is_some();
            assert!(tag(operation), "{method} {path}");
            assert!(item.get("get").is_none_or(tag), "GET {path}");
        }
    }
}
