//! API tokens: which routes accept them, that they never exceed the rank of an administrator of their organization, and
//! when they end. See docs/api-tokens.md.

use api::router;
use domain::access::Access;
use domain::api_token::{TokenScope, TokenScopes};
use reqwest::Method;
use serde_json::{Value, json};

use test_support::rows::{execute, texts};
use test_support::samples::path_with_unknown_ids;
use test_support::{Browser, Client, TestApp, TestUser};

const HEADER: &str = "x-api-key";

/// Creates a token of North and returns its id and its text.
async fn create(app: &TestApp, person: &TestUser, scopes: &[&str]) -> (String, String) {
    let mut body = json!({"name": "Timetable program", "scopes": scopes});
    if person.id == app.world.root.id {
        body["organizationId"] = json!(app.world.north);
    }
    let created = app.as_(person).post("/admin/api-tokens", body).await.expect(201);
    let text = |field: &str| created[field].as_str().unwrap().to_owned();
    (text("id"), text("secret"))
}

/// A program that knows a token.
fn program(app: &TestApp, secret: &str) -> Client {
    app.stranger().with(HEADER, secret)
}

async fn program_of(app: &TestApp, person: &TestUser, scope: &str) -> Client {
    program(app, &create(app, person, &[scope]).await.1)
}

both!(every_route_accepts_only_tokens_of_its_scope, |app| {
    let mut programs = Vec::new();
    for scope in TokenScope::ALL {
        programs.push((*scope, program_of(app, &app.world.olga, scope.as_str()).await));
    }
    let (_, rows) = router::description();
    for row in &rows {
        for (scope, program) in &programs {
            let method: Method = row.method.parse().unwrap();
            let body = (row.method != "GET").then(|| json!({}));
            let answer = program.send(method, &path_with_unknown_ids(&row.path), body).await;
            let code = serde_json::from_slice::<Value>(&answer.bytes)
                .ok()
                .and_then(|body| body["code"].as_str().map(str::to_owned));
            let context = format!("{} {} with {scope}: {} {code:?}", row.method, row.path, answer.status);
            let under_auth = row.path.starts_with("/auth/");
            match (row.access, row.tokens) {
                (Access::Anyone, _) => assert!(answer.status < 500, "{context}"),
                (Access::DocumentServer, _) => {
                    assert_eq!(code.as_deref(), Some("DOCSERVER_TOKEN_MISSING"), "{context}");
                }
                (_, None) => {
                    assert_eq!(answer.status, 401, "{context}");
                    assert!(under_auth || code.as_deref() == Some("UNAUTHENTICATED"), "{context}");
                }
                (_, Some(route)) if TokenScopes::new(vec![*scope]).open(route, row.method == "GET") => {
                    let stopped = matches!(
                        code.as_deref(),
                        Some("UNAUTHENTICATED" | "FORBIDDEN_ROLE" | "TOKEN_SCOPE_MISSING" | "NOT_A_MEMBER")
                    );
                    assert!(!stopped && answer.status < 500, "{context}");
                }
                (_, Some(_)) => assert_eq!(code.as_deref(), Some("TOKEN_SCOPE_MISSING"), "{context}"),
            }
        }
    }
});

sqlite!(no_route_accepts_a_bearer_token, |app| {
    let (_, secret) = create(app, &app.world.olga, &["read", "provisioning", "grades"]).await;
    let (_, rows) = router::description();
    for credential in [secret.as_str(), app.world.olga.token.as_str()] {
        let bearer = app.stranger().with("authorization", &format!("Bearer {credential}"));
        for row in rows.iter().filter(|row| row.access != Access::Anyone) {
            let method: Method = row.method.parse().unwrap();
            let body = (row.method != "GET").then(|| json!({}));
            let answer = bearer.send(method, &path_with_unknown_ids(&row.path), body).await;
            assert_eq!(answer.status, 401, "{} {}", row.method, row.path);
        }
    }
});

both!(token_has_at_most_the_rank_of_an_administrator, |app| {
    let world = &app.world;
    for holder in [&world.olga, &world.root] {
        let program = program_of(app, holder, "provisioning").await;
        let nick = json!({"firstName": "New"});
        for above in [&world.olga, &world.adam] {
            program
                .patch(&format!("/users/{}", above.id), nick.clone())
                .await
                .refused(403, "FORBIDDEN_RANK");
            program
                .delete(&format!("/users/{}", above.id))
                .await
                .refused(403, "FORBIDDEN_RANK");
        }
        program
            .patch(&format!("/users/{}", world.ben.id), nick)
            .await
            .expect(200);
        let person = |role: &str| {
            let address = format!("{}-{}@new.example", role.to_lowercase(), holder.token.to_lowercase());
            json!({"name": "New Person", "email": address, "role": role})
        };
        program
            .post("/users", person("ADMIN"))
            .await
            .refused(403, "FORBIDDEN_RANK");
        program.post("/users", person("TEACHER")).await.expect(201);
    }
});

both!(token_knows_nothing_of_other_schools, |app| {
    let world = &app.world;
    for holder in [&world.olga, &world.root] {
        let program = program_of(app, holder, "provisioning").await;
        let classes = program.get("/classes").await.expect(200).to_string();
        assert!(classes.contains(&world.seven_b.id) && !classes.contains(&world.south_class.id));
        for path in [
            format!("/classes/{}", world.south_class.id),
            format!("/classes/{}/students", world.south_class.id),
            format!("/users/{}", world.zack.id),
        ] {
            program.get(&path).await.refused(404, "NOT_FOUND");
        }
        let other = program.with("x-organization-id", &world.south);
        other.get("/classes").await.refused(409, "ORGANIZATION_CHANGED");
    }
    let (id, _) = create(app, &world.olga, &["read"]).await;
    let foreign = app.as_(&world.zara);
    foreign
        .delete(&format!("/admin/api-tokens/{id}"))
        .await
        .refused(404, "NOT_FOUND");
    assert_eq!(foreign.get("/admin/api-tokens").await.expect(200), json!([]));
});

both!(
    token_ends_with_its_time_its_revocation_and_the_rank_of_its_user,
    |app| {
        let (world, database) = (&app.world, &app.database);
        let (id, secret) = create(app, &world.adam, &["read"]).await;
        let program = program(app, &secret);
        program.get("/groups").await.expect(200);
        let set = async |statement: String| execute(database, statement).await;
        let undo = [
            (
                format!("UPDATE api_tokens SET expires_at = 1 WHERE id = '{id}'"),
                format!("UPDATE api_tokens SET expires_at = 4000000000000 WHERE id = '{id}'"),
            ),
            (
                format!("UPDATE users SET is_active = FALSE WHERE id = '{}'", world.adam.id),
                format!("UPDATE users SET is_active = TRUE WHERE id = '{}'", world.adam.id),
            ),
            (
                format!("UPDATE users SET banned = TRUE WHERE id = '{}'", world.adam.id),
                format!("UPDATE users SET banned = FALSE WHERE id = '{}'", world.adam.id),
            ),
            (
                format!(
                    "UPDATE members SET is_active = FALSE WHERE user_id = '{}'",
                    world.adam.id
                ),
                format!(
                    "UPDATE members SET is_active = TRUE WHERE user_id = '{}'",
                    world.adam.id
                ),
            ),
            (
                format!(
                    "UPDATE members SET role = 'teacher' WHERE user_id = '{}'",
                    world.adam.id
                ),
                format!("UPDATE members SET role = 'admin' WHERE user_id = '{}'", world.adam.id),
            ),
            (
                format!(
                    "UPDATE users SET password_organization_id = '{}' WHERE id = '{}'",
                    world.south, world.adam.id
                ),
                format!(
                    "UPDATE users SET password_organization_id = NULL WHERE id = '{}'",
                    world.adam.id
                ),
            ),
        ];
        for (end, restore) in undo {
            set(end.clone()).await;
            program.get("/groups").await.refused(401, "UNAUTHENTICATED");
            set(restore).await;
            assert_eq!(program.get("/groups").await.status, 200, "after {end} was undone");
        }
        set(format!(
            "UPDATE organizations SET status = 'SUSPENDED' WHERE id = '{}'",
            world.north
        ))
        .await;
        program.get("/groups").await.refused(403, "ORGANIZATION_SUSPENDED");
        set(format!(
            "UPDATE organizations SET status = 'ACTIVE' WHERE id = '{}'",
            world.north
        ))
        .await;

        let olga = app.as_(&world.olga);
        olga.delete(&format!("/admin/api-tokens/{id}")).await.expect(200);
        program.get("/groups").await.refused(401, "UNAUTHENTICATED");
    }
);

both!(token_is_not_revived_by_a_later_role, |app| {
    let world = &app.world;
    let olga = app.as_(&world.olga);
    let members = olga.get("/admin/members?search=adam").await.expect(200);
    let adam = format!("/admin/members/{}", members["data"][0]["id"].as_str().unwrap());
    let program = program_of(app, &world.adam, "read").await;
    for role in ["teacher", "admin"] {
        olga.patch(&adam, json!({"role": role})).await.expect(200);
        program.get("/groups").await.refused(401, "UNAUTHENTICATED");
    }
    let log = olga.get("/activity-logs?category=TENANT").await.expect(200);
    assert_eq!(log["data"][0]["event"], "TENANT_DELETE", "{log}");
});

both!(token_decides_beside_a_cookie_and_needs_no_origin, |app| {
    let world = &app.world;
    let (_, secret) = create(app, &world.olga, &["provisioning"]).await;
    let student = app
        .as_(&world.ben)
        .with(HEADER, &secret)
        .with("origin", "https://elsewhere.example");
    let created = student.post("/subjects", json!({"name": "Astronomy"})).await;
    created.expect(201);
    let wrong = app.as_(&world.olga).with(HEADER, "gwt_wrong");
    wrong.get("/subjects").await.refused(401, "UNAUTHENTICATED");
    // A route without tokens ignores the header.
    wrong.get("/admin/api-tokens").await.expect(200);
});

both!(uses_are_recorded_and_named_in_the_log, |app| {
    let world = &app.world;
    let olga = app.as_(&world.olga);
    let (id, secret) = create(app, &world.olga, &["provisioning"]).await;
    let listed = async || {
        let tokens = olga.get("/admin/api-tokens").await.expect(200);
        tokens
            .as_array()
            .unwrap()
            .iter()
            .find(|token| token["id"] == json!(id))
            .unwrap()
            .clone()
    };
    let before = listed().await;
    assert_eq!(before["lastUsedAt"], json!(null));
    assert_eq!(before["createdBy"]["id"], json!(world.olga.id));
    assert_eq!(before["isValid"], json!(true));
    assert!(!before.to_string().contains(&secret[12..]), "the secret is shown once");
    program(app, &secret)
        .post("/subjects", json!({"name": "Geology"}))
        .await
        .expect(201);
    assert!(listed().await["lastUsedAt"].is_string());
    let log = olga.get("/activity-logs?category=SUBJECT").await.expect(200);
    let entry = &log["data"][0];
    assert_eq!(
        entry["details"]["apiToken"],
        json!({"id": id, "name": "Timetable program"}),
        "{entry}"
    );
    assert_eq!(entry["userId"], json!(world.olga.id), "{entry}");
    let stored = texts(&app.database, "SELECT hash FROM api_tokens".to_owned()).await;
    assert!(stored.iter().flatten().all(|hash| !hash.contains(&secret[4..])));
});

both!(new_token_is_checked_and_counted, |app| {
    let olga = app.as_(&app.world.olga);
    let body = |more: Value| {
        let mut body = json!({"name": "Program", "scopes": ["read"]});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    for wrong in [
        json!({"name": ""}),
        json!({"scopes": []}),
        json!({"scopes": ["everything"]}),
        json!({"scopes": ["read", "read"]}),
        json!({"expiresAt": "2020-01-01T00:00:00.000Z"}),
        json!({"expiresAt": "2050-01-01T00:00:00.000Z"}),
        json!({"token": "gwt_chosen"}),
    ] {
        olga.post("/admin/api-tokens", body(wrong.clone()))
            .await
            .refused(400, "VALIDATION_ERROR");
    }
    for _ in 0..50 {
        olga.post("/admin/api-tokens", body(json!({}))).await.expect(201);
    }
    olga.post("/admin/api-tokens", body(json!({})))
        .await
        .refused(409, "LIMIT_REACHED");
});

both!(impersonated_administrator_cannot_create_a_token, |app| {
    let world = &app.world;
    test_support::accounts::enable(app, &world.root).await;
    let root = test_support::accounts::signed_in(app, &world.root).await;
    let impersonate = json!({"userId": world.adam.id});
    root.post("/auth/admin/impersonate-user", impersonate).await.expect(200);
    let active = json!({"organizationId": world.north});
    root.set_active(active).await.expect(200);
    let body = json!({"name": "Left behind", "scopes": ["provisioning"]});
    let refused: &Browser = &root;
    refused
        .post("/admin/api-tokens", body)
        .await
        .refused(403, "FORBIDDEN_ROLE");
});
