//! `X-Organization-Id`: a page that shows one school changes nothing in another school that became active in the
//! meantime.

use api::router;
use reqwest::Method;
use reqwest::header::HeaderValue;
use serde_json::{Value, json};

use test_support::samples::path_with_unknown_ids;
use test_support::tables::fingerprints;
use test_support::{Answer, Client, FRONTEND, RealtimeRows};

const HEADER: &str = "x-organization-id";
const CODE: &str = "ORGANIZATION_CHANGED";

/// Returns the body of the error without the fields that differ between two requests.
#[track_caller]
fn error_of(answer: Answer) -> Value {
    let mut body = answer.refused(409, CODE);
    body["requestId"] = json!(null);
    body
}

both!(tenant_routes_reject_header_of_another_school, |app| {
    let world = &app.world;
    let (_, rows) = router::description();
    let routes: Vec<_> = rows.iter().filter(|row| row.access.needs_organization()).collect();
    assert!(routes.len() > 80, "{}", routes.len());
    let before = fingerprints(&app.database).await;
    for row in routes {
        for person in [&world.olga, &world.ada, &world.ben] {
            let client = app.as_(person).with(HEADER, &world.south);
            let body = (row.method != "GET").then(|| json!({}));
            let method = row.method.parse().unwrap();
            client
                .send(method, &path_with_unknown_ids(&row.path), body)
                .await
                .refused(409, CODE);
        }
    }
    assert_eq!(fingerprints(&app.database).await, before);
    let name = json!({"name": "Geology"});
    let olga = app.as_(&world.olga).with(HEADER, &world.north);
    olga.post("/subjects", name).await.expect(201);
    olga.get("/subjects").await.expect(200);
});

tenants!(switching_school_in_second_tab_blocks_the_first, |app| {
    let (world, rows) = (&app.world, RealtimeRows(app));
    rows.join_school(&world.south, &world.ada, "teacher").await;
    let (first, second) = (
        app.as_(&world.ada).with(HEADER, &world.north),
        app.as_(&world.ada).with(HEADER, &world.south),
    );
    let set_active = async |client: &Client, school: &str| {
        let body = json!({"organizationId": school});
        client.post("/auth/organization/set-active", body).await.expect(200);
    };
    first.get("/classes").await.expect(200);
    // The page in the second tab sends its own school while the first one is still active in the session. `set-active`
    // accepts this.
    set_active(&second, &world.south).await;
    second.get("/classes").await.expect(200);
    error_of(first.get("/classes").await);
    let course = json!({"name": "Rocks", "classId": world.seven_b.id, "subjectId": world.seven_b.subject});
    error_of(first.post("/courses", course.clone()).await);
    set_active(&first, &world.north).await;
    first.post("/courses", course).await.expect(201);
    error_of(second.get("/classes").await);
    // Requests without the header work as before.
    app.as_(&world.ada).get("/classes").await.expect(200);
    // The user's own account does not belong to a school.
    second.get("/users/me").await.expect(200);
});

both!(organization_header_reveals_nothing_to_non_members, |app| {
    let (world, rows) = (&app.world, RealtimeRows(app));
    let named = [world.north.as_str(), world.south.as_str(), "no-such-school", ""];
    let ask = async |client: &Client, host: &str| {
        let mut errors = Vec::new();
        for id in named {
            let client = client.with(HEADER, id).with("host", host);
            errors.push(error_of(client.get("/classes").await));
        }
        assert!(errors.windows(2).all(|pair| pair[0] == pair[1]), "{errors:?}");
    };
    // Without a membership, at the platform host and at the host of a school.
    let nobody = app.as_(&world.nobody);
    for host in ["localhost", "north.schools.test"] {
        ask(&nobody, host).await;
    }
    // With an active school of which the user is no longer a member.
    let former = rows.another_session(&world.nobody).await;
    rows.set_active_school(&former, Some(&world.north)).await;
    ask(&app.as_(&former), "localhost").await;
    // A member without an active school.
    let idle = rows.another_session(&world.ada).await;
    rows.set_active_school(&idle, None).await;
    ask(&app.as_(&idle), "localhost").await;
    // For such a member, the school of the host is the active one.
    let at_host = app.as_(&idle).with("host", "north.schools.test");
    at_host.with(HEADER, &world.north).get("/classes").await.expect(200);
    error_of(at_host.with(HEADER, &world.south).get("/classes").await);
    // Without a session, 401 takes precedence.
    app.stranger()
        .with(HEADER, &world.north)
        .get("/classes")
        .await
        .refused(401, "UNAUTHENTICATED");
});

tenants!(unreadable_or_repeated_organization_header_is_rejected, |app| {
    let (north, ada) = (&app.world.north, app.as_(&app.world.ada));
    let twice = ada.request(Method::GET, "/classes");
    let twice = twice.header(HEADER, north).header(HEADER, north);
    error_of(ada.finish(twice).await);
    let unreadable = HeaderValue::from_bytes(&[0xff, 0xfe]).unwrap();
    let unreadable = ada.request(Method::GET, "/classes").header(HEADER, unreadable);
    error_of(ada.finish(unreadable).await);
    error_of(ada.with(HEADER, &"x".repeat(4_000)).get("/classes").await);
});

tenants!(organization_header_also_applies_to_super_admins, |app| {
    let world = &app.world;
    let rows = RealtimeRows(app);
    let inside = rows.another_session(&world.root).await;
    rows.set_active_school(&inside, Some(&world.south)).await;
    let inside = app.as_(&inside);
    inside.with(HEADER, &world.south).get("/classes").await.expect(200);
    error_of(inside.with(HEADER, &world.north).get("/classes").await);
    let everywhere = app.as_(&world.root);
    everywhere.get("/classes").await.expect(200);
    error_of(everywhere.with(HEADER, &world.north).get("/classes").await);
    // The page also sends the school in the query, so it is the school of the request.
    let path = format!("/classes?organizationId={}", world.north);
    everywhere.with(HEADER, &world.north).get(&path).await.expect(200);
});

tenants!(frontend_origin_may_send_organization_header, |app| {
    let preflight = app
        .stranger()
        .request(Method::OPTIONS, "/classes")
        .header("origin", FRONTEND)
        .header("access-control-request-method", "GET")
        .header("access-control-request-headers", HEADER);
    let answer = app.stranger().finish(preflight).await;
    let allowed = answer.header("access-control-allow-headers").to_owned();
    assert!(allowed.split(", ").any(|name| name == HEADER), "{allowed}");
});
