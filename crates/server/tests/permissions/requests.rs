//! Checks that apply to every request before its handler: order of checks, origin, media type, JSON, ids, headers.

use reqwest::Method;
use serde_json::{Value, json};

/// A course that fails every validation.
fn invalid_course() -> Value {
    json!({"name": "", "colour": 7})
}

sqlite!(first_failing_check_determines_the_error, |app| {
    let world = &app.world;
    app.stranger()
        .post("/courses", invalid_course())
        .await
        .refused(401, "UNAUTHENTICATED");
    app.as_(&world.nobody)
        .post("/courses", invalid_course())
        .await
        .refused(400, "NO_ACTIVE_ORGANIZATION");
    app.as_(&world.ben)
        .post("/courses", invalid_course())
        .await
        .refused(403, "FORBIDDEN_ROLE");
    app.as_(&world.ada)
        .post("/courses", invalid_course())
        .await
        .refused(400, "VALIDATION_ERROR");
    let foreign = app.as_(&world.ada).with("origin", "https://evil.example");
    foreign
        .post("/courses", invalid_course())
        .await
        .refused(403, "INVALID_ORIGIN");
    let stranger = app
        .stranger()
        .with("cookie", "a=b")
        .with("origin", "https://evil.example");
    stranger
        .post("/courses", invalid_course())
        .await
        .refused(403, "INVALID_ORIGIN");
});

tenants!(invalid_body_names_the_field, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let good = json!({"name": "Plants", "classId": class.id, "subjectId": class.subject});
    let with = |key: &str, value: Value| {
        let mut body = good.clone();
        body[key] = value;
        body
    };
    ada.post("/courses", with("colour", json!("red")))
        .await
        .invalid("colour");
    ada.post("/courses", with("name", json!(7))).await.invalid("name");
    // serde would accept an array for an object, with the fields by position.
    let list = json!(["Plants", class.id, class.subject]);
    ada.post("/courses", list).await.invalid("");
    let lessons = json!([[1, "08:00", "08:45", null]]);
    let new = json!({"name": "7c", "academicYear": "2026/2027", "schedule": lessons});
    ada.post("/classes", new).await.invalid("schedule[0]");
    ada.post("/courses", with("name", json!("   "))).await.invalid("name");
    ada.post("/courses", with("name", json!("x".repeat(121))))
        .await
        .invalid("name");
    ada.post("/courses", with("name", json!("bad\u{0}name")))
        .await
        .invalid("name");
    ada.post("/courses", with("status", json!("GONE")))
        .await
        .invalid("status");
    let mut missing = good.clone();
    missing.as_object_mut().unwrap().remove("subjectId");
    ada.post("/courses", missing).await.invalid("subjectId");
    let both = json!({"name": "", "description": "x".repeat(5001), "classId": class.id, "subjectId": class.subject});
    let body = ada.post("/courses", both).await.refused(400, "VALIDATION_ERROR");
    assert_eq!(
        body["details"].as_array().unwrap().len(),
        2,
        "all problems at once: {body}"
    );
    // Unknown query parameters are ignored, because clients add their own.
    ada.get("/courses?serach=x").await.expect(200);
    assert_eq!(
        ada.get(&format!("/courses?classId={}", class.id))
            .await
            .expect(200)
            .as_array()
            .unwrap()
            .len(),
        1
    );
});

/// Returns the paths and codes of a validation error, sorted.
fn codes(body: &Value) -> Vec<(String, String)> {
    let text = |detail: &Value, key: &str| detail[key].as_str().unwrap().to_owned();
    let details = body["details"].as_array().unwrap().iter();
    let mut codes: Vec<_> = details
        .map(|detail| (text(detail, "path"), text(detail, "code")))
        .collect();
    codes.sort();
    codes
}

both!(validation_names_all_problems_at_once_with_their_codes, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let pairs = |expected: &[(&str, &str)]| {
        let owned = expected
            .iter()
            .map(|(path, code)| ((*path).to_owned(), (*code).to_owned()));
        owned.collect::<Vec<_>>()
    };
    let missing = ada
        .post("/assignments", json!({}))
        .await
        .refused(400, "VALIDATION_ERROR");
    assert_eq!(
        codes(&missing),
        pairs(&[("classId", "required"), ("deadline", "required"), ("title", "required")])
    );
    let wrong = json!({
        "title": "x".repeat(201), "deadline": "tomorrow", "classId": class.id, "isShared": "yes", "latePolicy": "NEVER",
        "colour": "red", "description": 7, "groupIds": "all",
    });
    let wrong = ada.post("/assignments", wrong).await.refused(400, "VALIDATION_ERROR");
    assert_eq!(
        codes(&wrong),
        pairs(&[
            ("colour", "unknown"),
            ("deadline", "format"),
            ("description", "type"),
            ("groupIds", "type"),
            ("isShared", "type"),
            ("latePolicy", "enum"),
            ("title", "too_long"),
        ])
    );
    let patch = json!({"name": "", "colour": 1, "color": 2, "status": "GONE", "startDate": "soon"});
    let patched = ada.patch(&format!("/classes/{}", class.id), patch).await;
    assert_eq!(
        codes(&patched.refused(400, "VALIDATION_ERROR")),
        pairs(&[
            ("color", "unknown"),
            ("colour", "unknown"),
            ("name", "required"),
            ("startDate", "format"),
            ("status", "enum"),
        ])
    );
    let query = format!("/activity-logs?category=NONE&limit=x&search={}", "y".repeat(101));
    let query = ada.get(&query).await.refused(400, "VALIDATION_ERROR");
    assert_eq!(
        codes(&query),
        pairs(&[("category", "enum"), ("limit", "format"), ("search", "too_long")])
    );
    let slug = json!({"name": "S", "slug": "s", "ownerEmail": "nobody", "ownerName": "N"});
    let root = app.as_(&app.world.root).post("/tenants", slug).await;
    let named = codes(&root.refused(400, "VALIDATION_ERROR"));
    assert!(
        named.contains(&("slug".to_owned(), "too_short".to_owned())),
        "{named:?}"
    );
    assert!(
        named.contains(&("ownerEmail".to_owned(), "format".to_owned())),
        "{named:?}"
    );
    let groups = json!({"classId": class.id, "groups": [{"groupNumber": "one"}, {"name": 1, "size": 2}, []]});
    let groups = ada.post("/groups/batch", groups).await.refused(400, "VALIDATION_ERROR");
    assert_eq!(
        codes(&groups),
        pairs(&[
            ("groups[0].groupNumber", "type"),
            ("groups[1].name", "type"),
            ("groups[1].size", "unknown"),
            ("groups[2]", "type"),
        ])
    );
});

sqlite!(bodies_are_json_of_limited_size, |app| {
    let ada = app.as_(&app.world.ada);
    let send = async |media: Option<&str>, body: String| {
        let mut request = ada.request(Method::POST, "/courses").body(body);
        if let Some(media) = media {
            request = request.header("content-type", media);
        }
        ada.finish(request).await
    };
    send(Some("application/json"), "{\"name\": ".to_owned())
        .await
        .refused(400, "INVALID_JSON");
    send(Some("application/json"), "\u{feff}".to_owned())
        .await
        .refused(400, "INVALID_JSON");
    send(Some("text/plain"), "{}".to_owned())
        .await
        .refused(415, "UNSUPPORTED_MEDIA_TYPE");
    send(Some("application/x-www-form-urlencoded"), "name=x".to_owned())
        .await
        .refused(415, "UNSUPPORTED_MEDIA_TYPE");
    send(None, "{}".to_owned()).await.refused(415, "UNSUPPORTED_MEDIA_TYPE");
    send(Some("application/json; charset=utf-8"), "[]".to_owned())
        .await
        .refused(400, "VALIDATION_ERROR");
    let large = format!("{{\"name\": \"{}\"}}", "x".repeat(1 << 20));
    send(Some("application/json"), large)
        .await
        .refused(413, "PAYLOAD_TOO_LARGE");
    let deep = "[".repeat(100_000);
    send(Some("application/json"), deep).await.refused(400, "INVALID_JSON");
});

sqlite!(unknown_ids_paths_and_methods_return_plain_errors, |app| {
    let ada = app.as_(&app.world.ada);
    let random = ada.get("/courses/0190a1b2-0000-7000-8000-000000000001").await;
    let malformed = ada.get("/courses/..%2f..%2fetc%2fpasswd").await;
    let (mut random, mut malformed) = (random.refused(404, "NOT_FOUND"), malformed.refused(404, "NOT_FOUND"));
    random["requestId"] = json!(null);
    malformed["requestId"] = json!(null);
    assert_eq!(random, malformed);
    ada.get("/no-such-noun").await.refused(404, "NOT_FOUND");
    ada.put("/courses", json!({})).await.refused(405, "METHOD_NOT_ALLOWED");
});

sqlite!(response_has_request_id_and_security_headers, |app| {
    let ada = app.as_(&app.world.ada);
    let answer = ada.with("x-request-id", "lesson-7.b_1").get("/courses").await;
    assert_eq!(answer.header("x-request-id"), "lesson-7.b_1");
    assert_eq!(answer.header("cache-control"), "no-store");
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    let refused = ada.with("x-request-id", "not allowed!").get("/courses/x").await;
    let generated = refused.header("x-request-id").to_owned();
    assert_ne!(generated, "not allowed!");
    assert_eq!(refused.refused(404, "NOT_FOUND")["requestId"], generated);
});

sqlite!(only_our_own_origin_gets_cors_headers, |app| {
    let stranger = app.stranger();
    let preflight = |origin: &'static str| {
        let request = stranger.request(Method::OPTIONS, "/courses").header("origin", origin);
        stranger.finish(request.header("access-control-request-method", "POST"))
    };
    let ours = preflight("http://school.test").await;
    assert_eq!(ours.status, 204);
    assert_eq!(ours.header("access-control-allow-origin"), "http://school.test");
    assert_eq!(ours.header("access-control-allow-credentials"), "true");
    let foreign = preflight("http://school.test.evil.example").await;
    assert!(!foreign.headers.contains_key("access-control-allow-origin"));
    let read = stranger.with("origin", "http://school.test").get("/health").await;
    assert_eq!(read.header("access-control-allow-origin"), "http://school.test");
});

tenants!(forged_or_duplicate_session_cookie_is_rejected, |app| {
    let good = app.world.ada.cookie.clone();
    let forged = good.replace(&app.world.ada.token[..4], "AAAA");
    let unsigned = format!("better-auth.session_token={}", app.world.ada.token);
    let doubled = format!("{good}; {}", app.world.ben.cookie);
    for cookie in [forged, unsigned, doubled] {
        app.stranger()
            .with("cookie", &cookie)
            .get("/courses")
            .await
            .refused(401, "UNAUTHENTICATED");
    }
    app.stranger()
        .with("cookie", &format!("other=1; {good}"))
        .get("/courses")
        .await
        .expect(200);
});

sqlite!(bearer_token_is_not_accepted_as_session, |app| {
    let ada = &app.world.ada;
    for value in [&ada.token, ada.cookie.split_once('=').unwrap().1] {
        let stranger = app.stranger().with("authorization", &format!("Bearer {value}"));
        stranger.get("/courses").await.refused(401, "UNAUTHENTICATED");
        assert_eq!(stranger.get("/auth/get-session").await.expect(200), json!(null));
    }
});

sqlite!(health_and_openapi_need_no_session, |app| {
    let stranger = app.stranger();
    let health = stranger.get("/health").await.expect(200);
    assert_eq!(health["status"], "ok");
    assert_eq!(health["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(stranger.get("/health/live").await.status, 200);
    let ready = stranger.get("/health/ready").await.expect(200);
    assert_eq!(ready["checks"]["database"], "ok");
    assert!(stranger.get("/openapi.json").await.expect(200)["paths"]["/courses"]["post"].is_object());
});

sqlite!(no_response_is_cached_by_browsers, |app| {
    let (_, rows) = api::router::description();
    let clients = [app.stranger(), app.as_(&app.world.ada), app.as_(&app.world.root)];
    for row in &rows {
        for client in &clients {
            // Signing out would change the caller of the following requests.
            if row.path == "/auth/sign-out" || row.path.starts_with("/auth/revoke") {
                continue;
            }
            let path = test_support::samples::path_with_unknown_ids(&row.path);
            let body = (row.method != "GET").then(|| json!({}));
            let answer = client.send(row.method.parse().unwrap(), &path, body).await;
            assert_eq!(answer.header("cache-control"), "no-store", "{} {path}", row.method);
        }
    }
    let out = app.as_(&app.world.ben).post("/auth/sign-out", json!({})).await;
    assert_eq!(out.header("cache-control"), "no-store");
    assert_eq!(out.header("clear-site-data"), "\"cache\", \"storage\"");
});
