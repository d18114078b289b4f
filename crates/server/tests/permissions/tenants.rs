//! The platform creates, changes, suspends and activates schools.

use serde_json::{Value, json};

use test_support::topics::id;
use test_support::{Client, TestApp, raw_socket};

fn new_tenant(slug: &str, owner: &str) -> Value {
    json!({"name": "West School", "slug": slug, "ownerEmail": owner, "ownerName": "Wanda West"})
}

/// Signs in with a password.
async fn sign_in(app: &TestApp, email: &str, password: &str) -> test_support::Answer {
    app.stranger()
        .post("/auth/sign-in/email", json!({"email": email, "password": password}))
        .await
}

/// Returns a client with the session cookies of a sign-in response.
fn with_session(app: &TestApp, answer: &test_support::Answer) -> Client {
    let cookies = answer.headers.get_all("set-cookie").iter();
    let cookies: Vec<_> = cookies
        .map(|cookie| cookie.to_str().unwrap().split(';').next().unwrap())
        .collect();
    Client::new(&app.base, Some(cookies.join("; ")))
}

async fn records(client: &Client, organization: &str) -> Vec<Value> {
    let path = format!("/activity-logs?organizationId={organization}&category=TENANT");
    client.get(&path).await.expect(200)["data"].as_array().unwrap().clone()
}

both!(new_school_has_an_owner_who_can_sign_in, |app| {
    let root = app.as_(&app.world.root);
    let mut body = new_tenant("west", "Wanda@West.Example");
    body["customDomain"] = json!("learn.west.example");
    body["metadata"] = json!({"gradeScale": "1-6", "features": {"teachersAddSubjects": true}});
    let answer = root.post("/tenants", body).await;
    let location = answer.header("location").to_owned();
    let founded = answer.expect(201);
    let (tenant, owner) = (&founded["tenant"], &founded["owner"]);
    assert_eq!(location, format!("/api/tenants/{}", id(tenant)));
    assert_eq!((&tenant["slug"], &tenant["status"]), (&json!("west"), &json!("ACTIVE")));
    assert_eq!(tenant["metadata"]["gradeScale"], "1-6");
    assert_eq!(
        (&owner["email"], &owner["role"], &owner["isNewAccount"]),
        (&json!("wanda@west.example"), &json!("owner"), &json!(true))
    );
    let password = founded["temporaryPassword"].as_str().unwrap();
    let answer = sign_in(app, "wanda@west.example", password).await;
    let wanda = with_session(app, &answer);
    answer.expect(200);
    let list = wanda.get("/auth/organization/list").await.expect(200);
    assert_eq!((list.as_array().unwrap().len(), &list[0]["id"]), (1, &tenant["id"]));
    wanda
        .post("/auth/organization/set-active", json!({"organizationId": tenant["id"]}))
        .await
        .expect(200);
    wanda.get("/subjects").await.expect(200);
    let me = wanda.get("/users/me").await.expect(200);
    assert_eq!(
        (&me["mustChangePassword"], &me["member"]["role"]),
        (&json!(true), &json!("owner"))
    );
    let log = records(&root, &id(tenant)).await;
    assert_eq!(
        (&log[0]["action"], &log[0]["userRole"]),
        (&json!("CREATE"), &json!("SUPER_ADMIN"))
    );
    let text = serde_json::to_string(
        &root
            .get(&format!("/activity-logs?organizationId={}", id(tenant)))
            .await
            .json(),
    );
    assert!(!text.unwrap().contains(password), "the password is shown once");

    let members = root.get(&format!("/tenants/{}/members", id(tenant))).await.expect(200);
    assert_eq!(members["data"][0]["user"]["email"], "wanda@west.example");
    assert_eq!(members["nextCursor"], Value::Null);
});

both!(existing_account_is_invited_as_owner_without_details, |app| {
    let (root, world) = (app.as_(&app.world.root), &app.world);
    let founded = root
        .post("/tenants", new_tenant("west", &world.zoe.email))
        .await
        .expect(201);
    assert_eq!(founded["invitation"]["email"], json!(world.zoe.email));
    assert!(founded.get("owner").is_none(), "{founded}");
    assert!(founded.get("temporaryPassword").is_none());
    assert!(!founded.to_string().contains("Zoe Teacher"), "{founded}");
    let me = app.as_(&world.zoe).get("/users/me").await.expect(200);
    assert_eq!(
        (&me["name"], &me["mustChangePassword"]),
        (&json!("Zoe Teacher"), &json!(false))
    );
    assert_eq!(me["member"]["role"], "teacher", "the role at South is unchanged");
    let list = app.as_(&world.zoe).get("/auth/organization/list").await.expect(200);
    assert_eq!(list.as_array().unwrap().len(), 1, "an invitation is no membership");
});

both!(slugs_and_domains_are_validated_and_unique, |app| {
    let root = app.as_(&app.world.root);
    for (field, value) in [
        ("slug", json!("W")),
        ("slug", json!("North!")),
        ("slug", json!("west.school")),
        ("customDomain", json!("https://west.example")),
        ("customDomain", json!("west")),
        ("customDomain", json!("north.schools.test")),
        ("customDomain", json!("schools.test")),
        ("customDomain", json!("school.test")),
        ("ownerEmail", json!("nobody")),
        ("ownerName", json!(" ")),
        ("name", json!("")),
        ("colour", json!("red")),
    ] {
        let mut body = new_tenant("west", "wanda@west.example");
        body[field] = value;
        root.post("/tenants", body).await.invalid(field);
    }
    let mut body = new_tenant("west", "wanda@west.example");
    body["metadata"] = json!({"theme": "dark"});
    root.post("/tenants", body).await.invalid("metadata.theme");
    let taken = root.post("/tenants", new_tenant("north", "wanda@west.example")).await;
    taken.refused(409, "DUPLICATE_SLUG");
    let mut body = new_tenant("west", "wanda@west.example");
    body["customDomain"] = json!("learn.west.example");
    let west = root.post("/tenants", body).await.expect(201)["tenant"].clone();
    let mut body = new_tenant("west-2", "wim@west.example");
    body["customDomain"] = json!("learn.west.example");
    root.post("/tenants", body).await.refused(409, "DUPLICATE_DOMAIN");
    let all = root.get("/tenants?search=west").await.expect(200);
    assert_eq!(all, json!([west]), "what was refused left nothing behind");
    let accounts = test_support::rows::texts(
        &app.database,
        "SELECT id FROM users WHERE email = 'wim@west.example'".to_owned(),
    );
    assert_eq!(accounts.await.len(), 0);
});

both!(school_edit_accepts_fields_as_they_were_read, |app| {
    let (root, north) = (app.as_(&app.world.root), &app.world.north);
    let path = format!("/tenants/{north}");
    let mut whole = root.get(&path).await.expect(200);
    assert_eq!((&whole["slug"], &whole["metadata"]), (&json!("north"), &Value::Null));
    whole["name"] = json!("North Side School");
    whole["logo"] = json!("https://north.example/logo.png");
    let changed = root.patch(&path, whole).await.expect(200);
    assert_eq!(changed["name"], "North Side School");
    root.patch(&path, json!({"metadata": {"locale": "de", "lateDefault": "BLOCK"}}))
        .await
        .expect(200);
    let changed = root
        .patch(&path, json!({"metadata": {"locale": null}}))
        .await
        .expect(200);
    assert_eq!(changed["metadata"], json!({"lateDefault": "BLOCK"}));
    let same = root.patch(&path, json!({"status": "SUSPENDED"})).await.expect(200);
    assert_eq!(same["status"], "ACTIVE", "read-only fields are ignored");
    root.patch(&path, json!({"name": null})).await.invalid("name");
    root.patch(&path, json!({"logo": "javascript:alert(1)"}))
        .await
        .invalid("logo");
    root.patch(&path, json!({"slug": "south"}))
        .await
        .refused(409, "DUPLICATE_SLUG");
    root.patch(&path, json!({"customDomain": "x.schools.test"}))
        .await
        .invalid("customDomain");
    let log = records(&root, north).await;
    assert_eq!(log.len(), 3, "what was refused is not recorded");
    assert_eq!(log[2]["details"]["changed"], json!(["name", "logo"]));
    let unknown = "/tenants/0190a1b2-0000-7000-8000-00000000dead";
    root.get(unknown).await.refused(404, "NOT_FOUND");
    root.patch(unknown, json!({"name": "X"}))
        .await
        .refused(404, "NOT_FOUND");
    root.post(&format!("{unknown}/suspend"), json!({}))
        .await
        .refused(404, "NOT_FOUND");
});

both!(only_super_admin_lists_and_searches_schools, |app| {
    let root = app.as_(&app.world.root);
    let names = |list: Value| -> Vec<String> {
        let list = list.as_array().unwrap().iter();
        list.map(|tenant| tenant["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        names(root.get("/tenants").await.expect(200)),
        ["North School", "South School"]
    );
    assert_eq!(
        names(root.get("/tenants?search=SOU").await.expect(200)),
        ["South School"]
    );
    assert_eq!(names(root.get("/tenants?search=%25").await.expect(200)), [""; 0]);
    for person in [&app.world.olga, &app.world.ada, &app.world.ben] {
        app.as_(person).get("/tenants").await.refused(403, "FORBIDDEN_ROLE");
        let own = format!("/tenants/{}", app.world.north);
        app.as_(person).get(&own).await.refused(403, "FORBIDDEN_ROLE");
        app.as_(person)
            .post("/tenants", json!({}))
            .await
            .refused(403, "FORBIDDEN_ROLE");
    }
});

both!(members_are_paged_by_name, |app| {
    let root = app.as_(&app.world.root);
    let path = format!("/tenants/{}/members?limit=4", app.world.north);
    let (mut names, mut next) = (Vec::new(), String::new());
    loop {
        let page = root.get(&format!("{path}{next}")).await.expect(200);
        let data = page["data"].as_array().unwrap().iter();
        names.extend(data.map(|member| member["user"]["name"].as_str().unwrap().to_owned()));
        let Some(cursor) = page["nextCursor"].as_str() else {
            break;
        };
        next = format!("&cursor={cursor}");
    }
    let mut sorted = names.clone();
    sorted.sort_by_cached_key(|name| domain::collation::person_sort_key(name, None));
    assert_eq!((names.len(), &names), (9, &sorted));
    root.get(&format!("{path}&cursor=x")).await.invalid("cursor");
});

both!(suspended_school_rejects_members_until_activated, |app| {
    let (world, root) = (&app.world, app.as_(&app.world.root));
    let ben = app.as_(&world.ben);
    let mut socket = raw_socket::Socket::open(app, &world.ben.cookie).await;
    socket.expect("ready").await;
    let path = format!("/tenants/{}", world.north);
    assert_eq!(
        root.post(&format!("{path}/suspend"), json!({})).await.expect(200)["status"],
        "SUSPENDED"
    );
    socket.expect("session:revoked").await;
    for person in [&world.olga, &world.adam, &world.ada, &world.ben] {
        app.as_(person)
            .get("/classes")
            .await
            .refused(403, "ORGANIZATION_SUSPENDED");
        let course = json!({"name": "X", "classId": world.seven_b.id, "subjectId": world.seven_b.subject});
        let refused = app.as_(person).post("/courses", course).await;
        refused.refused(403, "ORGANIZATION_SUSPENDED");
    }
    app.as_(&world.zoe).get("/classes").await.expect(200);
    let courses = root.get(&format!("/courses?organizationId={}", world.north)).await;
    assert_eq!(
        courses.expect(200).as_array().unwrap().len(),
        2,
        "the platform still looks in"
    );
    root.post(&format!("{path}/suspend"), json!({})).await.expect(200);
    // A user who reconnects receives no events of the suspended school.
    let mut back = raw_socket::Socket::open(app, &world.ben.cookie).await;
    back.expect("ready").await;
    assert_eq!(
        app.app
            .realtime()
            .count(&domain::realtime::Room::Class(domain::id::ClassId::new(
                &world.seven_b.id
            ))),
        0
    );
    assert_eq!(
        root.post(&format!("{path}/activate"), json!({})).await.expect(200)["status"],
        "ACTIVE"
    );
    // The waiting socket joins its rooms again without a new connection.
    back.expect("ready").await;
    ben.get("/classes").await.expect(200);
    let log = records(&root, &world.north).await;
    assert_eq!(log.len(), 2, "suspending twice is one change");
    assert_eq!(log[0]["details"]["after"]["status"], "ACTIVE");
});
