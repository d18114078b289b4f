//! Accounts without an email address: sign-in with user names, printed codes, provisional passwords
//! (docs/user-names.md).

use serde_json::{Value, json};

use test_support::accounts::{PASSWORD, enable, signed_in};
use test_support::emails::queued_emails;
use test_support::rosters::{counts, import};
use test_support::rows::{execute, texts};
use test_support::{Browser, Client, TestApp};

/// Creates a student without an email address; returns the response.
async fn create(admin: &Client, name: &str) -> Value {
    admin
        .post("/users", json!({"name": name, "role": "STUDENT"}))
        .await
        .expect(201)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("{key}: {value}"))
}

async fn sign_in(browser: &Browser, username: &str, password: &str) -> test_support::Answer {
    let body = json!({"username": username, "password": password});
    browser.post("/auth/sign-in/username", body).await
}

async fn placeholder(app: &TestApp, user: &Value) -> String {
    let query = format!("SELECT email FROM users WHERE id = '{}'", text(user, "id"));
    texts(&app.database, query).await.remove(0).unwrap()
}

both!(student_without_email_signs_in_with_user_name_and_slug, |app| {
    let adam = app.as_(&app.world.adam);
    let mia = create(&adam, "Mía Groß-Müller").await;
    assert_eq!(
        (&mia["username"], &mia["email"]),
        (&json!("mia.gross-mueller"), &json!(null))
    );
    assert_eq!(mia["emailVerified"], false);
    let password = text(&mia, "temporaryPassword");
    let browser = Browser::new(app);
    let signed = sign_in(&browser, " Mia.Gross-Mueller@NORTH ", password)
        .await
        .expect(200);
    let user = &signed["user"];
    assert_eq!(user["username"], "mia.gross-mueller@north");
    assert_eq!(user["displayUsername"], "mia.gross-mueller");
    assert_eq!(user["email"], format!("{}@no-email.invalid", text(&mia, "id")));
    let me = browser.get("/users/me").await.expect(200);
    assert_eq!(
        (&me["email"], &me["username"]),
        (&json!(null), &json!("mia.gross-mueller"))
    );
    // The second person of the same name gets a number.
    assert_eq!(create(&adam, "Mia Groß-Müller").await["username"], "mia.gross-mueller2");
    // Accounts with an email address may have a user name, too.
    enable(app, &app.world.ben).await;
    adam.patch(&format!("/users/{}", app.world.ben.id), json!({"username": "Benny"}))
        .await
        .expect(200);
    let signed = sign_in(&Browser::new(app), "benny@north", PASSWORD).await.expect(200);
    assert_eq!(signed["user"]["email"], app.world.ben.email);
});

both!(user_name_alone_needs_the_school, |app| {
    let adam = app.as_(&app.world.adam);
    let mia = create(&adam, "Mia Meer").await;
    let password = text(&mia, "temporaryPassword");
    let zara = app.as_(&app.world.zara);
    let other = create(&zara, "Mia Meer").await;
    assert_eq!(
        (&mia["username"], &other["username"]),
        (&json!("mia.meer"), &json!("mia.meer"))
    );
    let wrong = "INVALID_USERNAME_OR_PASSWORD";
    sign_in(&Browser::new(app), "mia.meer", password)
        .await
        .refused(401, wrong);
    for slug in ["north", "NORTH"] {
        let body = json!({"username": "mia.meer", "password": password, "organizationSlug": slug});
        let signed = Browser::new(app).post("/auth/sign-in/username", body).await.expect(200);
        assert_eq!(signed["user"]["id"], mia["id"]);
    }
    let body = json!({"username": "mia.meer", "password": password});
    let by_query = |slug: &str| format!("/auth/sign-in/username?org={slug}");
    Browser::new(app)
        .post(&by_query("north"), body.clone())
        .await
        .expect(200);
    Browser::new(app)
        .post(&by_query("south"), body.clone())
        .await
        .refused(401, wrong);
    Browser::new(app)
        .post(&by_query("no%20slug"), body)
        .await
        .refused(401, wrong);
    // The short name in the user name decides, whatever else names a school.
    let body = json!({"username": "mia.meer@north", "password": password, "organizationSlug": "south"});
    Browser::new(app).post("/auth/sign-in/username", body).await.expect(200);
    let of_other = text(&other, "temporaryPassword");
    sign_in(&Browser::new(app), "mia.meer@south", of_other)
        .await
        .expect(200);
    sign_in(&Browser::new(app), "mia.meer@south", password)
        .await
        .refused(401, wrong);
});

both!(host_of_the_school_completes_user_name, |app| {
    let mia = create(&app.as_(&app.world.adam), "Mia Meer").await;
    let body = json!({"username": "mia.meer", "password": mia["temporaryPassword"]});
    let at = async |host: &str| {
        let client = app.stranger().with("host", host);
        client.post("/auth/sign-in/username", body.clone()).await
    };
    at("north.schools.test").await.expect(200);
    at("south.schools.test")
        .await
        .refused(401, "INVALID_USERNAME_OR_PASSWORD");
    at("other.test").await.refused(401, "INVALID_USERNAME_OR_PASSWORD");
    // Links with the former short name go on working.
    rename(app, &app.world.north, "nord").await.expect(200);
    at("north.schools.test").await.expect(200);
    at("nord.schools.test").await.expect(200);
});

async fn rename(app: &TestApp, school: &str, slug: &str) -> test_support::Answer {
    app.as_(&app.world.root)
        .patch(&format!("/tenants/{school}"), json!({"slug": slug}))
        .await
}

both!(former_slug_signs_in_and_is_never_given_away, |app| {
    let world = &app.world;
    let mia = create(&app.as_(&world.adam), "Mia Meer").await;
    let password = text(&mia, "temporaryPassword");
    rename(app, &world.north, "nord").await.expect(200);
    for name in ["mia.meer@nord", "mia.meer@north"] {
        let signed = sign_in(&Browser::new(app), name, password).await.expect(200);
        assert_eq!(signed["user"]["username"], "mia.meer@nord");
    }
    rename(app, &world.south, "north").await.refused(409, "DUPLICATE_SLUG");
    let new = json!({"name": "Third", "slug": "north", "ownerName": "Third Owner", "ownerEmail": "third@new.example"});
    app.as_(&world.root)
        .post("/tenants", new)
        .await
        .refused(409, "DUPLICATE_SLUG");
    rename(app, &world.north, "nordschule").await.expect(200);
    sign_in(&Browser::new(app), "mia.meer@north", password)
        .await
        .expect(200);
    sign_in(&Browser::new(app), "mia.meer@nord", password).await.expect(200);
    // The school itself may return to a former one.
    rename(app, &world.north, "north").await.expect(200);
    sign_in(&Browser::new(app), "mia.meer@nordschule", password)
        .await
        .expect(200);
    rename(app, &world.south, "nord").await.refused(409, "DUPLICATE_SLUG");
});

both!(failed_sign_in_does_not_reveal_whether_user_name_exists, |app| {
    let mia = create(&app.as_(&app.world.adam), "Mia Meer").await;
    let context = async |username: &str, password: &str| {
        let client = app.stranger().with("x-request-id", "same");
        let body = json!({"username": username, "password": password});
        client
            .post("/auth/sign-in/username", body)
            .await
            .refused(401, "INVALID_USERNAME_OR_PASSWORD")
    };
    let wrong = context("mia.meer@north", "another password").await;
    assert_eq!(wrong, context("no.body@north", "another password").await);
    assert_eq!(wrong, context("mia.meer@nowhere", "another password").await);
    assert_eq!(wrong, context("", "another password").await);
    assert_eq!(wrong, context("mia.meer@north", "").await);
    let off = json!({"isActive": false});
    let path = format!("/users/{}", text(&mia, "id"));
    app.as_(&app.world.adam).patch(&path, off).await.expect(200);
    assert_eq!(wrong, context("mia.meer@north", text(&mia, "temporaryPassword")).await);
    for (username, code) in [
        ("m", "USERNAME_TOO_SHORT"),
        ("mia meer", "INVALID_USERNAME"),
        ("mia@school.example", "INVALID_USERNAME"),
    ] {
        let answer = sign_in(&Browser::new(app), username, "another password").await;
        answer.refused(422, code);
    }
    let answer = sign_in(&Browser::new(app), &"m".repeat(125), "another password").await;
    answer.refused(422, "USERNAME_TOO_LONG");
    sign_in(&Browser::new(app), "mia.meer@north", &"p".repeat(129))
        .await
        .refused(400, "PASSWORD_TOO_LONG");
});

both!(guesses_by_user_name_and_email_count_together, |app| {
    let ben = &app.world.ben;
    enable(app, ben).await;
    let adam = app.as_(&app.world.adam);
    adam.patch(&format!("/users/{}", ben.id), json!({"username": "ben"}))
        .await
        .expect(200);
    rename(app, &app.world.north, "nord").await.expect(200);
    let browser = Browser::new(app);
    for _ in 0..2 {
        browser.sign_in(&ben.email, "another password").await.expect(401);
    }
    sign_in(&browser, "ben@nord", "another password").await.expect(401);
    sign_in(&browser, "BEN@north", "another password").await.expect(401);
    let body = json!({"username": "ben", "password": "another password", "organizationSlug": "nord"});
    browser.post("/auth/sign-in/username", body).await.expect(401);
    browser.sign_in(&ben.email, PASSWORD).await.refused(429, "RATE_LIMITED");
    sign_in(&browser, "ben@nord", PASSWORD)
        .await
        .refused(429, "RATE_LIMITED");
    // An unknown name is limited in the same way, in all its spellings.
    for name in [
        "no.body@nord",
        "no.body@north",
        "NO.body@nord",
        "no.body@north",
        "no.body@nord",
    ] {
        sign_in(&browser, name, "another password").await.expect(401);
    }
    sign_in(&browser, "no.body@north", "another password")
        .await
        .refused(429, "RATE_LIMITED");
});

both!(placeholder_is_no_identifier, |app| {
    let (world, browser) = (&app.world, Browser::new(app));
    let adam = app.as_(&world.adam);
    let mia = create(&adam, "Mia Meer").await;
    let (address, password) = (placeholder(app, &mia).await, text(&mia, "temporaryPassword"));
    assert!(address.ends_with("@no-email.invalid"), "{address}");
    browser
        .sign_in(&address, password)
        .await
        .refused(401, "INVALID_EMAIL_OR_PASSWORD");
    let (before, reset) = (
        queued_emails(app).await,
        json!({"email": address, "redirectTo": "/reset-password"}),
    );
    browser.post("/auth/request-password-reset", reset).await.expect(200);
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(queued_emails(app).await, before, "no email is queued for a placeholder");
    // It is never searched and cannot be given to another account.
    for search in ["no-email", "invalid", text(&mia, "id")] {
        let found = adam.get(&format!("/users?search={search}")).await.expect(200);
        assert_eq!(found["data"], json!([]), "{search}");
        let found = adam.get(&format!("/admin/members?search={search}")).await.expect(200);
        assert_eq!(found["data"], json!([]), "{search}");
        let query = format!("/auth/admin/list-users?searchField=email&searchValue={search}");
        let found = app.as_(&world.root).get(&query).await.expect(200);
        assert_eq!(found["total"], 0, "{search}");
    }
    let found = adam.get("/users?search=mia.me").await.expect(200);
    assert_eq!(found["data"][0]["id"], mia["id"], "the user name is searched");
    let other = json!({"name": "Other", "role": "STUDENT", "email": "x@No-Email.invalid"});
    adam.post("/users", other).await.invalid("email");
    let path = format!("/users/{}", world.ben.id);
    adam.patch(&path, json!({"email": "x@no-email.invalid"}))
        .await
        .invalid("email");
    let rows = "email,firstName,lastName,role\nx@no-email.invalid,Ox,Ox,student\n";
    let report = import(&adam, "", "people.csv", rows).await.expect(200);
    assert_eq!(report["rows"][0]["errors"][0]["column"], "email");
});

both!(placeholder_is_in_no_response, |app| {
    let world = &app.world;
    let adam = app.as_(&world.adam);
    let new = json!({"name": "Mia Meer", "role": "STUDENT", "classIds": [world.seven_b.id]});
    let mia = adam.post("/users", new).await.expect(201);
    let id = text(&mia, "id");
    let homeroom = adam.post("/homerooms", json!({"name": "9z"})).await.expect(201);
    let homeroom = text(&homeroom, "id");
    adam.post(&format!("/homerooms/{homeroom}/students"), json!({"studentIds": [id]}))
        .await
        .expect(200);
    let ada = app.as_(&world.ada);
    let group = json!({"classId": world.seven_b.id, "courseId": world.seven_b.course, "memberIds": [id]});
    let group = ada.post("/groups", group).await.expect(201);
    sign_in(&Browser::new(app), "mia.meer@north", "another password")
        .await
        .expect(401);
    let browser = Browser::new(app);
    sign_in(&browser, "mia.meer@north", text(&mia, "temporaryPassword"))
        .await
        .expect(200);
    browser
        .set_active(json!({"organizationId": world.north}))
        .await
        .expect(200);
    let member = text(&mia["member"], "id").to_owned();
    for path in [
        "/users".to_owned(),
        format!("/users/{id}"),
        "/admin/members".to_owned(),
        "/admin/sessions".to_owned(),
        "/activity-logs".to_owned(),
        format!("/classes/{}/students", world.seven_b.id),
        format!("/homerooms/{homeroom}/students"),
        format!("/groups/{}", text(&group, "id")),
    ] {
        let shown = adam.get(&path).await.expect(200).to_string();
        assert!(shown.contains(id) || path == "/activity-logs", "{path}: {shown}");
        assert!(!shown.contains("no-email.invalid"), "{path}: {shown}");
    }
    let log = adam
        .get("/activity-logs?action=LOGIN_FAILED")
        .await
        .expect(200)
        .to_string();
    assert!(log.contains("mia.meer@north"), "{log}");
    let students = ada
        .get(&format!("/classes/{}/students", world.seven_b.id))
        .await
        .expect(200);
    let student = students
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["user"]["id"] == id)
        .unwrap();
    assert_eq!(student["user"]["email"], json!(null));
    let me = browser.get("/users/me").await.expect(200).to_string();
    assert!(!me.contains("no-email.invalid"), "{me}");
    // The type of the library requires a text.
    let members = app
        .as_(&world.adam)
        .get("/auth/organization/list-members?limit=100")
        .await
        .expect(200);
    let listed = members["members"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["userId"] == id)
        .unwrap();
    assert_eq!(
        (&listed["id"], &listed["user"]["email"]),
        (&json!(member), &json!(format!("{id}@no-email.invalid")))
    );
});

both!(administrators_need_an_email_address, |app| {
    let world = &app.world;
    let (adam, olga) = (app.as_(&world.adam), app.as_(&world.olga));
    let admin = json!({"name": "New Admin", "role": "ADMIN"});
    olga.post("/users", admin).await.refused(409, "EMAIL_REQUIRED");
    let teacher = json!({"name": "New Teacher", "role": "TEACHER"});
    let teacher = adam.post("/users", teacher).await.expect(201);
    let member = format!("/admin/members/{}", text(&teacher["member"], "id"));
    olga.patch(&member, json!({"role": "admin"}))
        .await
        .refused(409, "EMAIL_REQUIRED");
    let path = format!("/users/{}", text(&teacher, "id"));
    adam.patch(&path, json!({"username": null}))
        .await
        .refused(409, "EMAIL_REQUIRED");
    adam.patch(&path, json!({"email": "teacher@new.example"}))
        .await
        .expect(200);
    olga.patch(&member, json!({"role": "admin"})).await.expect(200);
    olga.patch(&path, json!({"email": null}))
        .await
        .refused(409, "EMAIL_REQUIRED");
    let ben = format!("/users/{}", world.ben.id);
    adam.patch(&ben, json!({"email": null}))
        .await
        .refused(409, "EMAIL_REQUIRED");
    let known = adam
        .patch(&ben, json!({"email": null, "username": "ben"}))
        .await
        .expect(200);
    assert_eq!((&known["email"], &known["username"]), (&json!(null), &json!("ben")));
    let invite = json!({"name": "New", "role": "STUDENT", "sendInvite": true});
    adam.post("/users", invite).await.invalid("sendInvite");
});

both!(user_names_are_unique_within_the_school, |app| {
    let world = &app.world;
    let adam = app.as_(&world.adam);
    let new = |username: &str| json!({"name": "Somebody", "role": "STUDENT", "username": username});
    adam.post("/users", new("Tim.T")).await.expect(201);
    adam.post("/users", new("tim.t"))
        .await
        .refused(409, "DUPLICATE_USERNAME");
    let with_email = json!({"name": "Tim", "role": "STUDENT", "username": "tim.t", "email": "tim@new.example"});
    adam.post("/users", with_email).await.refused(409, "DUPLICATE_USERNAME");
    let ben = format!("/users/{}", world.ben.id);
    adam.patch(&ben, json!({"username": "tim.t"}))
        .await
        .refused(409, "DUPLICATE_USERNAME");
    app.as_(&world.zara).post("/users", new("tim.t")).await.expect(201);
    for wrong in ["t", "tim t", "tim@north", ".tim", "tïm"] {
        adam.post("/users", new(wrong)).await.invalid("username");
    }
});

both!(only_administrators_check_user_names_of_their_school, |app| {
    let world = &app.world;
    create(&app.as_(&world.adam), "Mia Meer").await;
    let ask = async |client: &Client, username: &str| {
        client
            .post("/auth/is-username-available", json!({"username": username}))
            .await
    };
    ask(&app.stranger(), "mia.meer").await.refused(401, "UNAUTHORIZED");
    for person in [&world.ben, &world.ada, &world.root] {
        ask(&app.as_(person), "mia.meer").await.refused(403, "FORBIDDEN");
    }
    let adam = app.as_(&world.adam);
    assert_eq!(ask(&adam, "Mia.Meer").await.expect(200), json!({"available": false}));
    assert_eq!(
        ask(&adam, "mia.meer@north").await.expect(200),
        json!({"available": false})
    );
    assert_eq!(ask(&adam, "mia.meer2").await.expect(200), json!({"available": true}));
    ask(&adam, "mia.meer@south").await.refused(403, "FORBIDDEN");
    assert_eq!(
        ask(&app.as_(&world.zara), "mia.meer").await.expect(200),
        json!({"available": true})
    );
    ask(&adam, "mia meer").await.refused(422, "INVALID_USERNAME");
});

both!(user_name_is_set_by_the_school, |app| {
    let mia = create(&app.as_(&app.world.adam), "Mia Meer").await;
    let browser = Browser::new(app);
    sign_in(&browser, "mia.meer@north", text(&mia, "temporaryPassword"))
        .await
        .expect(200);
    let edit = json!({"username": "other", "image": null});
    browser
        .post("/auth/update-user", edit)
        .await
        .refused(400, "USERNAME_IS_IMMUTABLE");
    let same = json!({"username": "mia.meer@north", "image": null});
    browser.post("/auth/update-user", same).await.expect(200);
});

both!(provisional_password_is_replaced_once_without_typing_it, |app| {
    let adam = app.as_(&app.world.adam);
    let mia = create(&adam, "Mia Meer").await;
    let password = text(&mia, "temporaryPassword");
    let (browser, other) = (Browser::new(app), Browser::new(app));
    sign_in(&browser, "mia.meer@north", password).await.expect(200);
    sign_in(&other, "mia.meer@north", password).await.expect(200);
    let new = |password: &str| json!({"newPassword": password});
    browser
        .post("/auth/new-password", new("short"))
        .await
        .refused(400, "PASSWORD_TOO_SHORT");
    browser
        .post("/auth/new-password", new("mia.meer"))
        .await
        .refused(400, "PASSWORD_COMPROMISED");
    browser
        .post("/auth/new-password", new("blue whale 42"))
        .await
        .expect(200);
    let me = browser.get("/users/me").await.expect(200);
    assert_eq!(me["mustChangePassword"], false);
    other.get("/users/me").await.refused(401, "UNAUTHENTICATED");
    browser
        .post("/auth/new-password", new("red whale 42"))
        .await
        .refused(403, "SESSION_NOT_FRESH");
    sign_in(&Browser::new(app), "mia.meer@north", password)
        .await
        .expect(401);
    sign_in(&Browser::new(app), "mia.meer@north", "blue whale 42")
        .await
        .expect(200);
    // A session of an own password may not, and neither may one that is older than a quarter of an hour.
    let ben = signed_in(app, &app.world.ben).await;
    ben.post("/auth/new-password", new("red whale 42"))
        .await
        .refused(403, "SESSION_NOT_FRESH");
    app.stranger()
        .post("/auth/new-password", new("red whale 42"))
        .await
        .refused(401, "UNAUTHORIZED");
    let mia = create(&adam, "Mia Late").await;
    let late = Browser::new(app);
    sign_in(&late, "mia.late@north", text(&mia, "temporaryPassword"))
        .await
        .expect(200);
    execute(
        &app.database,
        "UPDATE sessions SET new_password_until = new_password_until - 900001 WHERE new_password_until IS NOT NULL"
            .to_owned(),
    )
    .await;
    late.post("/auth/new-password", new("red whale 42"))
        .await
        .refused(403, "SESSION_NOT_FRESH");
});

both!(temporary_password_is_three_words_of_the_language_of_the_school, |app| {
    let adam = app.as_(&app.world.adam);
    let mia = create(&adam, "Mia Meer").await;
    let words = |list: &'static str| list.split_whitespace().collect::<Vec<_>>();
    let is_of = |password: &str, list: &[&str]| {
        let parts: Vec<&str> = password.split('-').collect();
        parts.len() == 3 && parts.iter().all(|part| list.contains(part))
    };
    let english = words(include_str!("../../../auth/words/en.txt"));
    let german = words(include_str!("../../../auth/words/de.txt"));
    assert!(is_of(text(&mia, "temporaryPassword"), &english));
    adam.patch("/admin/settings", json!({"metadata": {"locale": "de"}}))
        .await
        .expect(200);
    let path = format!("/users/{}/reset-password", text(&mia, "id"));
    let reset = adam.post(&path, json!({})).await.expect(200);
    assert!(is_of(text(&reset, "temporaryPassword"), &german));
});

both!(printed_code_signs_in_once, |app| {
    let adam = app.as_(&app.world.adam);
    let mia = create(&adam, "Mia Meer").await;
    let slip = |token: &str| json!({"token": token});
    let first = text(&mia, "slipToken").to_owned();
    let browser = Browser::new(app);
    let signed = browser.post("/auth/sign-in/slip", slip(&first)).await.expect(200);
    assert_eq!(signed["user"]["id"], mia["id"]);
    Browser::new(app)
        .post("/auth/sign-in/slip", slip(&first))
        .await
        .refused(401, "INVALID_TOKEN");
    let new = json!({"newPassword": "blue whale 42"});
    browser.post("/auth/new-password", new.clone()).await.expect(200);
    let stored = texts(&app.database, "SELECT identifier FROM verifications".to_owned()).await;
    assert!(stored.is_empty(), "{stored:?}");

    // A reset makes another code, and a password change invalidates it.
    let path = format!("/users/{}/reset-password", text(&mia, "id"));
    let reset = adam.post(&path, json!({})).await.expect(200);
    assert_eq!(reset["username"], "mia.meer@north");
    let stored = texts(&app.database, "SELECT identifier FROM verifications".to_owned()).await;
    assert!(
        !stored[0].as_ref().unwrap().contains(text(&reset, "slipToken")),
        "only a hash is stored"
    );
    let again = adam.post(&path, json!({})).await.expect(200);
    let with = async |answer: &Value| {
        let body = json!({"token": answer["slipToken"]});
        Browser::new(app).post("/auth/sign-in/slip", body).await
    };
    with(&reset).await.refused(401, "INVALID_TOKEN");
    let browser = Browser::new(app);
    sign_in(&browser, "mia.meer@north", text(&again, "temporaryPassword"))
        .await
        .expect(200);
    browser.post("/auth/new-password", new).await.expect(200);
    with(&again).await.refused(401, "INVALID_TOKEN");

    // It expires with the temporary password.
    let late = adam.post(&path, json!({})).await.expect(200);
    let past = common::clock::now().plus_seconds(-1).as_millis();
    execute(
        &app.database,
        format!("UPDATE users SET temporary_password_expires_at = {past} WHERE user_name = 'mia.meer'"),
    )
    .await;
    with(&late).await.refused(401, "INVALID_TOKEN");
    let late = adam.post(&path, json!({})).await.expect(200);
    execute(&app.database, format!("UPDATE verifications SET expires_at = {past}")).await;
    with(&late).await.refused(401, "INVALID_TOKEN");
    let late = adam.post(&path, json!({})).await.expect(200);
    adam.patch(&format!("/users/{}", text(&mia, "id")), json!({"isActive": false}))
        .await
        .expect(200);
    with(&late).await.refused(401, "INVALID_TOKEN");
    // Administrators of another school get nothing.
    app.as_(&app.world.zara)
        .post(&path, json!({}))
        .await
        .refused(404, "NOT_FOUND");
});

both!(import_without_email_makes_user_names_and_finds_people_again, |app| {
    let adam = app.as_(&app.world.adam);
    let rows = "firstName,lastName,role,externalId,username,homeroom\n\
        Mia,Meer,student,S-1,,9z\n\
        Mia,Meer,student,S-2,,9z\n\
        Jörg,Groß,teacher,T-1,joggi,\n\
        Noah,Nord,student,,,9z\n\
        Noah,Nord,student,,,9z\n\
        Eva,Eng,student,,EVA,\n\
        Bad,Name,student,,bad name,\n";
    let report = import(&adam, "", "people.csv", rows).await.expect(200);
    assert_eq!(counts(&report), [5, 0, 0, 2], "{report}");
    let same_name = &report["rows"][4]["errors"][0];
    assert_eq!(
        (&same_name["column"], &same_name["code"]),
        (&json!("username"), &json!("required"))
    );
    let invalid = &report["rows"][6]["errors"][0];
    assert_eq!(invalid["column"], "username");
    let message = text(invalid, "message");
    assert!(message.contains("bad name") && message.contains("a-z"), "{message}");
    let names = "SELECT user_name FROM users WHERE user_name IS NOT NULL ORDER BY user_name".to_owned();
    let made = texts(&app.database, names.clone()).await;
    let made: Vec<&str> = made.iter().flatten().map(String::as_str).collect();
    assert_eq!(made, ["eva", "joggi", "mia.meer", "mia.meer2", "noah.nord"]);
    let again = import(&adam, "", "people.csv", rows).await.expect(200);
    assert_eq!(counts(&again), [0, 0, 5, 2], "{again}");
    // A row with an address gives it to the person with this external id, who had none.
    let later = "email,firstName,lastName,role,externalId,username\nmia@new.example,Mia,Meer,student,S-1,\n,Mia,Meer,student,S-2,mia.m\n,Ada,Other,student,S-9,mia.m\n";
    let report = import(&adam, "", "people.csv", later).await.expect(200);
    assert_eq!(counts(&report), [0, 2, 0, 1], "{report}");
    let emails = "SELECT email FROM users WHERE user_name = 'mia.meer'".to_owned();
    assert_eq!(texts(&app.database, emails).await, [Some("mia@new.example".to_owned())]);
    assert!(texts(&app.database, names).await.contains(&Some("mia.m".to_owned())));
});

both!(import_of_a_thousand_students_without_email, |app| {
    let adam = app.as_(&app.world.adam);
    let mut rows = "firstName,lastName,role,externalId\n".to_owned();
    // A hundred people share each name.
    rows.extend((0..1000).map(|n| format!("Sam{},Long,student,S-{n}\n", n % 10)));
    let dry = import(&adam, "?dryRun=1", "people.csv", rows.clone()).await.expect(200);
    assert_eq!(counts(&dry), [1000, 0, 0, 0]);
    let report = import(&adam, "", "people.csv", rows.clone()).await.expect(200);
    assert_eq!(counts(&report), [1000, 0, 0, 0]);
    let distinct = "SELECT CAST(COUNT(DISTINCT user_name) AS TEXT) FROM users WHERE user_name LIKE 'sam%'".to_owned();
    assert_eq!(texts(&app.database, distinct).await, [Some("1000".to_owned())]);
    let again = import(&adam, "", "people.csv", rows).await.expect(200);
    assert_eq!(counts(&again), [0, 0, 1000, 0]);
});

both!(erasure_of_a_person_without_email_removes_the_user_name, |app| {
    let adam = app.as_(&app.world.adam);
    let mia = create(&adam, "Mia Meer").await;
    let id = text(&mia, "id");
    sign_in(&Browser::new(app), "mia.meer@north", "another password")
        .await
        .expect(401);
    let placeholder = placeholder(app, &mia).await;
    let erased = adam.post("/admin/gdpr/erase", json!({"userId": id})).await.expect(200);
    assert!(erased["erased"]["account"] != json!(0), "{erased}");
    for query in [
        format!("SELECT user_name FROM users WHERE id = '{id}' AND (user_name IS NOT NULL OR username IS NOT NULL)"),
        format!("SELECT account_key FROM sign_in_failures WHERE account_key = '{placeholder}'"),
        "SELECT id FROM activity_logs WHERE details LIKE '%mia.meer%'".to_owned(),
        format!("SELECT id FROM verifications WHERE value = '{id}'"),
    ] {
        assert_eq!(
            texts(&app.database, query.clone()).await,
            Vec::<Option<String>>::new(),
            "{query}"
        );
    }
    // The name is free again.
    assert_eq!(create(&adam, "Mia Meer").await["username"], "mia.meer");
});

both!(member_who_leaves_frees_the_user_name, |app| {
    let adam = app.as_(&app.world.adam);
    let mia = create(&adam, "Mia Meer").await;
    adam.delete(&format!("/users/{}", text(&mia, "id"))).await.expect(200);
    sign_in(&Browser::new(app), "mia.meer@north", text(&mia, "temporaryPassword"))
        .await
        .expect(401);
    assert_eq!(create(&adam, "Mia Meer").await["username"], "mia.meer");
});
