//! `/auth/admin`: account management for platform administrators, compatible with the admin plugin of better-auth.

use api::router;
use db::args;
use serde_json::{Value, json};

use super::{BAN, Browser, COUNT_VERIFICATIONS, enable, one, run, signed_in};
use test_support::TestApp;
use test_support::tables::fingerprints;

const NEW_PASSWORD: &str = "Dreieck und Kreis";

/// Returns a body with the fields that the routes of `/auth/admin` require.
fn complete_body(app: &TestApp) -> Value {
    json!({"userId": app.world.ben.id, "role": "SUPER_ADMIN", "data": {"name": "Somebody"}, "newPassword": NEW_PASSWORD,
        "sessionToken": app.world.ben.token, "email": "new@school.example", "name": "New"})
}

fn routes() -> Vec<(&'static str, String)> {
    let (_, rows) = router::description();
    rows.into_iter()
        .filter(|row| row.path.starts_with("/auth/admin/"))
        .map(|row| (row.method, row.path))
        .collect()
}

/// Returns the school's log records about a user's account, newest first.
pub async fn user_log_records(app: &TestApp, person: &str) -> Vec<Value> {
    let page = app
        .as_(&app.world.adam)
        .get("/activity-logs?limit=50")
        .await
        .expect(200);
    let records = page["data"].as_array().unwrap().iter();
    records
        .filter(|record| record["category"] == "USER" && record["entityId"] == person)
        .cloned()
        .collect()
}

both!(only_super_admin_calls_admin_routes, |app| {
    let world = &app.world;
    let before = fingerprints(&app.database).await;
    let own = ["/auth/admin/has-permission", "/auth/admin/stop-impersonating"];
    let mut called = 0;
    for (method, path) in routes().into_iter().filter(|(_, path)| !own.contains(&path.as_str())) {
        let asked = format!("{path}?id={}", world.ben.id);
        let call = async |client: test_support::Client| {
            let body = (method == "POST").then(|| complete_body(app));
            client.send(method.parse().unwrap(), &asked, body).await
        };
        call(app.stranger()).await.refused(401, "UNAUTHORIZED");
        for person in [&world.olga, &world.adam, &world.ada, &world.ben, &world.nobody] {
            let refused = call(app.as_(person)).await.expect(403);
            let code = refused["code"].as_str().unwrap();
            assert!(
                code.starts_with("YOU_ARE_NOT_ALLOWED_TO_"),
                "{path} as {}: {code}",
                person.name
            );
        }
        called += 1;
    }
    assert_eq!(called, 13);
    let after = fingerprints(&app.database).await;
    let changed: Vec<_> = before
        .iter()
        .filter(|(table, print)| after.get(*table) != Some(print))
        .collect();
    assert!(changed.is_empty(), "changed: {changed:?}");
});

tenants!(super_admin_creates_reads_and_edits_accounts, |app| {
    let (world, root) = (&app.world, signed_in(app, &app.world.root).await);
    let create = async |body: Value| root.post("/auth/admin/create-user", body).await;
    let new = json!({"email": "New@School.example", "name": " New Person ", "password": NEW_PASSWORD, "role": "TEACHER", "data": {"x": 1}});
    let user = create(new.clone()).await.expect(200)["user"].clone();
    assert_eq!(
        (&user["email"], &user["name"], &user["role"], &user["banned"]),
        (
            &json!("new@school.example"),
            &json!("New Person"),
            &json!("TEACHER"),
            &json!(false)
        )
    );
    create(new).await.refused(400, "USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL");
    let plain = json!({"email": "plain@school.example", "name": "Plain"});
    assert_eq!(create(plain.clone()).await.expect(200)["user"]["role"], "STUDENT");
    for (key, value, code) in [
        ("email", json!("no address"), "INVALID_EMAIL"),
        ("email", json!(7), "VALIDATION_ERROR"),
        ("name", json!(""), "VALIDATION_ERROR"),
        ("password", json!("short"), "PASSWORD_TOO_SHORT"),
        ("password", json!("password1"), "PASSWORD_COMPROMISED"),
        (
            "role",
            json!("janitor"),
            "YOU_ARE_NOT_ALLOWED_TO_SET_NON_EXISTENT_VALUE",
        ),
        (
            "role",
            json!(["ADMIN", "TEACHER"]),
            "YOU_ARE_NOT_ALLOWED_TO_SET_NON_EXISTENT_VALUE",
        ),
        ("data", json!({"role": 5}), "INVALID_ROLE_TYPE"),
    ] {
        let mut body = json!({"email": "third@school.example", "name": "Third"});
        body[key] = value;
        create(body).await.refused(400, code);
    }
    Browser::new(app)
        .sign_in("new@school.example", NEW_PASSWORD)
        .await
        .expect(200);

    let id = user["id"].as_str().unwrap();
    let get = async |id: &str| root.get(&format!("/auth/admin/get-user?id={id}")).await;
    assert_eq!(get(id).await.expect(200)["email"], "new@school.example");
    get("nobody").await.refused(404, "USER_NOT_FOUND");
    root.get("/auth/admin/get-user").await.refused(400, "VALIDATION_ERROR");

    let update = async |user: &str, data: Value| {
        root.post("/auth/admin/update-user", json!({"userId": user, "data": data}))
            .await
    };
    let changed = update(&world.ben.id, json!({"name": "Ben B.", "email": "BEN@new.example"}))
        .await
        .expect(200);
    assert_eq!(
        (&changed["name"], &changed["email"], &changed["emailVerified"]),
        (&json!("Ben B."), &json!("ben@new.example"), &json!(false))
    );
    update(&world.ben.id, json!({"emailVerified": true}))
        .await
        .refused(400, "FIELD_NOT_ALLOWED");
    let record = user_log_records(app, &world.ben.id).await.remove(0);
    assert_eq!(record["details"]["changed"], json!(["name", "email"]));
    assert_eq!(
        (&record["userRole"], &record["userId"]),
        (&json!("SUPER_ADMIN"), &json!(world.root.id))
    );
    for (data, status, code) in [
        (json!({}), 400, "NO_DATA_TO_UPDATE"),
        (json!({"nickname": "B"}), 400, "NO_DATA_TO_UPDATE"),
        (
            json!({"password": NEW_PASSWORD}),
            400,
            "PASSWORD_CANNOT_BE_UPDATED_VIA_UPDATE_USER",
        ),
        (json!({"id": "x"}), 400, "FIELD_NOT_ALLOWED"),
        (json!({"name": ""}), 400, "VALIDATION_ERROR"),
        (json!({"banned": "yes"}), 400, "VALIDATION_ERROR"),
        (
            json!({"email": world.ada.email}),
            400,
            "USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL",
        ),
        (
            json!({"role": "OWNER"}),
            400,
            "YOU_ARE_NOT_ALLOWED_TO_SET_NON_EXISTENT_VALUE",
        ),
    ] {
        update(&world.ben.id, data).await.refused(status, code);
    }
    update("nobody", json!({"name": "X"}))
        .await
        .refused(404, "USER_NOT_FOUND");
    assert_eq!(
        user_log_records(app, &world.ben.id).await.len(),
        1,
        "what is refused or changes nothing is not recorded"
    );
});

both!(admin_email_change_invalidates_emailed_links, |app| {
    let (world, root) = (&app.world, signed_in(app, &app.world.root).await);
    enable(app, &world.ben).await;
    let links = || one::<i64>(app, &COUNT_VERIFICATIONS, args![world.ben.id]);
    let ask = async || {
        let body = json!({"email": world.ben.email});
        app.stranger()
            .post("/auth/request-password-reset", body)
            .await
            .expect(200);
        while links() == 0 {
            tokio::task::yield_now().await;
        }
    };
    ask().await;
    let body = json!({"userId": world.ben.id, "data": {"email": "ben@new.example"}});
    root.post("/auth/admin/update-user", body).await.expect(200);
    assert_eq!(links(), 0);
});

both!(accounts_are_searched_filtered_and_sorted_in_pages, |app| {
    let (world, root) = (&app.world, signed_in(app, &app.world.root).await);
    let list = async |query: &str| root.get(&format!("/auth/admin/list-users?{query}")).await;
    let names = async |query: &str| {
        let page = list(query).await.expect(200);
        let users = page["users"].as_array().unwrap().iter();
        users
            .map(|user| user["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let all = list("").await.expect(200);
    assert_eq!(
        (all["total"].as_i64(), all.get("limit"), all.get("offset")),
        (Some(14), None, None)
    );
    assert!(!all.to_string().contains("assword"));
    let page = list("limit=2&offset=1&sortBy=name&sortDirection=desc")
        .await
        .expect(200);
    assert_eq!(
        (&page["limit"], &page["offset"], &page["total"]),
        (&json!(2), &json!(1), &json!(14))
    );
    assert_eq!(page["users"][0]["name"], "Tom Teacher", "by surname");
    assert_eq!(names("sortBy=name&limit=2").await, ["Adam Admin", "Root Admin"]);
    assert_eq!(
        list("limit=100000").await.expect(200)["limit"],
        200,
        "no page is longer"
    );
    assert_eq!(
        names("searchValue=ZOE&searchField=name&searchOperator=starts_with").await,
        ["Zoe Teacher"]
    );
    assert_eq!(
        names("searchValue=zoe.teacher").await,
        ["Zoe Teacher"],
        "addresses are searched by default"
    );
    assert_eq!(
        names("searchValue=%25").await,
        [] as [&str; 0],
        "a wildcard is a character"
    );
    assert_eq!(names("searchValue=_oe").await, [] as [&str; 0]);
    assert_eq!(names("filterField=role&filterValue=SUPER_ADMIN").await, ["Root Admin"]);
    let two = names("filterField=role&filterOperator=in&filterValue=SUPER_ADMIN&filterValue=TEACHER&sortBy=name").await;
    assert_eq!(two, ["Root Admin", "Nora Nobody"]);
    assert_eq!(
        names("filterField=role&filterOperator=not_in&filterValue=STUDENT&sortBy=name").await,
        two
    );
    assert_eq!(
        names(&format!("filterField=id&filterValue={}", world.tom.id)).await,
        ["Tom Teacher"]
    );
    assert_eq!(names("filterField=banned&filterValue=true").await, [] as [&str; 0]);
    run(app, &BAN, args![world.tom.id, None::<i64>]);
    assert_eq!(names("filterField=banned&filterValue=true").await, ["Tom Teacher"]);
    assert_eq!(
        names("filterField=createdAt&filterOperator=gt&filterValue=2099-01-01T00:00:00Z").await,
        [] as [&str; 0]
    );
    assert_eq!(
        names("filterField=createdAt&filterOperator=lt&filterValue=2099-01-01T00:00:00.000Z")
            .await
            .len(),
        14
    );
    for wrong in [
        "searchField=password&searchValue=x",
        "filterField=password&filterValue=x",
        "filterOperator=like&filterValue=x",
        "sortBy=password",
        "sortBy=name;DROP TABLE users",
        "sortDirection=sideways",
    ] {
        list(wrong).await.refused(400, "VALIDATION_ERROR");
    }
});
