//! Users of a school: search, creation, editing and removal.

use serde_json::{Value, json};

use test_support::emails::{outbox, queued_emails};
use test_support::rows::texts;
use test_support::{Client, TestApp, TestUser};

fn names(page: &Value) -> Vec<String> {
    let people = page["data"].as_array().unwrap().iter();
    people
        .map(|person| person["name"].as_str().unwrap().to_owned())
        .collect()
}

async fn find_names(client: &Client, query: &str) -> Vec<String> {
    names(&client.get(&format!("/users{query}")).await.expect(200))
}

async fn sign_in(app: &TestApp, email: &str, password: &str) -> u16 {
    let body = json!({"email": email, "password": password});
    app.stranger().post("/auth/sign-in/email", body).await.status
}

tenants!(user_list_shows_teachers_less_than_admins, |app| {
    let world = &app.world;
    let (adam, ada) = (app.as_(&world.adam), app.as_(&world.ada));
    let everybody = [
        "Adam Admin",
        "Olga Owner",
        "Ben Student",
        "Cem Student",
        "Dana Student",
        "Eli Student",
        "Finn Student",
        "Ada Teacher",
        "Tom Teacher",
    ];
    assert_eq!(find_names(&adam, "").await, everybody);
    assert_eq!(find_names(&ada, "").await, everybody);
    assert_eq!(find_names(&adam, "?role=ADMIN").await, ["Adam Admin", "Olga Owner"]);
    assert_eq!(
        find_names(&adam, "?role=STUDENT&search=E").await[..1],
        ["Eli Student"],
        "what begins with it comes first"
    );
    assert_eq!(find_names(&adam, "?search=ben.student%40").await, ["Ben Student"]);
    assert!(
        find_names(&ada, "?search=finn.student%40").await.is_empty(),
        "an address a teacher may not know finds nobody"
    );
    assert_eq!(
        find_names(&adam, &format!("?classId={}", world.eight_a.id)).await,
        ["Finn Student"]
    );
    assert!(
        find_names(&ada, &format!("?classId={}", world.eight_a.id))
            .await
            .is_empty(),
        "a colleague's class"
    );
    assert_eq!(
        find_names(&ada, &format!("?classId={}", world.seven_b.id)).await.len(),
        4
    );
    assert!(
        find_names(&adam, &format!("?classId={}", world.south_class.id))
            .await
            .is_empty()
    );
    assert!(find_names(&adam, "?isActive=0").await.is_empty());
    adam.get("/users?role=OWNER").await.invalid("role");
    adam.get("/users?cursor=x").await.invalid("cursor");

    let page = ada.get("/users").await.expect(200);
    let by = |name: &str| {
        page["data"]
            .as_array()
            .unwrap()
            .iter()
            .find(|p| p["name"] == name)
            .unwrap()
            .clone()
    };
    assert_eq!(by("Ben Student")["email"], json!(world.ben.email), "her own student");
    assert_eq!(by("Tom Teacher")["email"], json!(world.tom.email), "a colleague");
    assert_eq!(
        by("Finn Student"),
        json!({"view": "OUTLINE", "id": world.finn.id, "name": "Finn Student", "image": null, "role": "STUDENT"}),
        "a student of others, by name only"
    );
    let keys: Vec<_> = by("Adam Admin").as_object().unwrap().keys().cloned().collect();
    assert_eq!(
        keys,
        ["view", "id", "name", "image", "role", "email"],
        "nothing private of admins"
    );
    let page = adam.get("/users?search=Ben").await.expect(200);
    let ben = &page["data"][0];
    assert_eq!(
        (&ben["member"]["role"], &ben["isActive"]),
        (&json!("student"), &json!(true))
    );
    assert!(!ben.to_string().contains("password\":"), "{ben}");
    for closed in ["/users", "/admin/members"] {
        app.as_(&world.ben).get(closed).await.refused(403, "FORBIDDEN_ROLE");
    }
});

both!(user_list_pages_are_stable_while_users_are_added, |app| {
    let mut early = 0;
    let adam = app.as_(&app.world.adam);
    for (path, query) in [
        ("/users", ""),
        ("/users", "&search=o"),
        ("/admin/members", ""),
        ("/admin/members", "&search=o"),
    ] {
        let whole = adam.get(&format!("{path}?limit=200{query}")).await.expect(200)["data"].clone();
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = adam.get(&format!("{path}?limit=1{query}{cursor}")).await.expect(200);
            seen.extend(page["data"].as_array().unwrap().iter().cloned());
            match page["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
            // A user inserted before the current position does not shift later pages.
            early += 1;
            let new = json!({"name": format!("A {:03}", 999 - early), "email": format!("early.{early}@test.example"), "role": "STUDENT", "sendInvite": true});
            adam.post("/users", new).await.expect(201);
        }
        assert_eq!(json!(seen), whole, "{path} {query}");
    }
});

tenants!(student_reads_own_profile_and_names_of_classmates, |app| {
    let world = &app.world;
    let ben = app.as_(&world.ben);
    let own = ben.get(&format!("/users/{}", world.ben.id)).await.expect(200);
    assert_eq!(
        (&own["email"], &own["member"]["role"]),
        (&json!(world.ben.email), &json!("student"))
    );
    let mate = ben.get(&format!("/users/{}", world.cem.id)).await.expect(200);
    assert_eq!(
        mate,
        json!({"view": "OUTLINE", "id": world.cem.id, "name": "Cem Student", "image": null})
    );
    for other in [&world.finn, &world.ada, &world.zack, &world.nobody] {
        ben.get(&format!("/users/{}", other.id)).await.refused(404, "NOT_FOUND");
        ben.get(&format!("/users/{}/groups", other.id))
            .await
            .refused(404, "NOT_FOUND");
    }
    ben.get(&format!("/users/{}/groups", world.cem.id))
        .await
        .refused(403, "FORBIDDEN_ROLE");
    let finn = app
        .as_(&world.ada)
        .get(&format!("/users/{}", world.finn.id))
        .await
        .expect(200);
    assert_eq!(finn["email"], Value::Null);
    app.as_(&world.zara)
        .get(&format!("/users/{}", world.ben.id))
        .await
        .refused(404, "NOT_FOUND");
});

tenants!(groups_of_student_are_listed_only_for_full_group_access, |app| {
    let (world, ada) = (&app.world, app.as_(&app.world.ada));
    let group = |name: &str, start: Value| json!({"name": name, "classId": world.seven_b.id, "memberIds": [world.ben.id], "startDate": start});
    ada.post("/groups", group("Open", Value::Null)).await.expect(201);
    ada.post("/groups", group("Hidden", json!("2099-01-01T00:00:00Z")))
        .await
        .expect(201);
    let path = format!("/users/{}/groups", world.ben.id);
    let seen = async |person: &TestUser| {
        let groups = app.as_(person).get(&path).await.expect(200);
        let groups: Vec<String> = groups
            .as_array()
            .unwrap()
            .iter()
            .map(|g| g["name"].as_str().unwrap().to_owned())
            .collect();
        groups
    };
    assert_eq!(seen(&world.ben).await, ["Open"]);
    assert_eq!(seen(&world.ada).await, ["Open", "Hidden"]);
    assert_eq!(seen(&world.adam).await, ["Open", "Hidden"]);
    assert!(
        seen(&world.tom).await.is_empty(),
        "a colleague would learn who is in which group"
    );
});

both!(new_user_signs_in_with_password_that_is_shown_once, |app| {
    let (world, adam) = (&app.world, app.as_(&app.world.adam));
    let homeroom = adam.post("/homerooms", json!({"name": "7b"})).await.expect(201)["id"].clone();
    let new = json!({
        "name": "Gina New", "email": " Gina@School.Example ", "role": "STUDENT", "firstName": "Gina", "externalId": "S-1",
        "homeroomId": homeroom, "classIds": [world.seven_b.id],
    });
    let answer = adam.post("/users", new.clone()).await;
    let location = answer.header("location").to_owned();
    let gina = answer.expect(201);
    let id = gina["id"].as_str().unwrap();
    assert_eq!(location, format!("/api/users/{id}"));
    assert_eq!(
        (&gina["email"], &gina["mustChangePassword"]),
        (&json!("gina@school.example"), &json!(true))
    );
    assert_eq!(
        (&gina["member"]["role"], &gina["externalId"]),
        (&json!("student"), &json!("S-1"))
    );
    let password = gina["temporaryPassword"].as_str().unwrap();
    assert_eq!(sign_in(app, "gina@school.example", password).await, 200);
    assert!(adam.get(&format!("/users/{id}")).await.expect(200)["temporaryPassword"].is_null());
    assert_eq!(
        find_names(&adam, &format!("?homeroomId={}", homeroom.as_str().unwrap())).await,
        ["Gina New"]
    );
    assert_eq!(
        find_names(&adam, &format!("?classId={}", world.seven_b.id)).await.len(),
        5
    );

    adam.post("/users", new).await.refused(409, "DUPLICATE_EMAIL");
    let other = json!({"name": "Other", "email": "other@school.example", "role": "STUDENT", "externalId": "S-1"});
    adam.post("/users", other).await.refused(409, "DUPLICATE_EXTERNAL_ID");
    let stored = texts(
        &app.database,
        "SELECT email FROM users WHERE email LIKE '%school.example'".to_owned(),
    )
    .await;
    assert_eq!(stored.len(), 1, "what was refused left nothing: {stored:?}");
    let logged = texts(
        &app.database,
        format!("SELECT details FROM activity_logs WHERE entity_id = '{id}' AND category = 'USER'"),
    )
    .await;
    assert_eq!(logged.len(), 1);
    let everything = texts(&app.database, "SELECT details FROM activity_logs".to_owned()).await;
    assert!(
        !everything.iter().flatten().any(|details| details.contains(password)),
        "a password is never logged"
    );
});

both!(invalid_request_creates_no_user, |app| {
    let (world, adam) = (&app.world, app.as_(&app.world.adam));
    let before = texts(&app.database, "SELECT id FROM users".to_owned()).await.len();
    let good = json!({"name": "New", "email": "new@school.example", "role": "TEACHER"});
    let with = |key: &str, value: Value| {
        let mut body = good.clone();
        body[key] = value;
        body
    };
    for (key, value) in [
        ("email", json!("no address")),
        ("name", json!(" ")),
        ("role", json!("SUPER_ADMIN")),
        ("role", json!("OWNER")),
        ("password", json!("short")),
        ("password", json!("password123")),
        ("classIds", json!([world.seven_b.id])),
        ("homeroomId", json!("x")),
        ("isActive", json!(true)),
        ("organizationId", json!(world.south)),
        ("emailVerified", json!(true)),
        ("mustChangePassword", json!(false)),
        ("homeOrganizationId", json!(world.north)),
    ] {
        adam.post("/users", with(key, value)).await.invalid(key);
    }
    let mut both = with("sendInvite", json!(true));
    both["password"] = json!("Zirkel und Lineal");
    adam.post("/users", both).await.invalid("password");
    let student =
        |class: &str| json!({"name": "New", "email": "new@school.example", "role": "STUDENT", "classIds": [class]});
    adam.post("/users", student(&world.south_class.id))
        .await
        .refused(404, "NOT_FOUND");
    adam.patch(&format!("/classes/{}", world.eight_a.id), json!({"status": "ARCHIVED"}))
        .await
        .expect(200);
    adam.post("/users", student(&world.eight_a.id))
        .await
        .refused(409, "CLASS_ARCHIVED");
    assert_eq!(
        texts(&app.database, "SELECT id FROM users".to_owned()).await.len(),
        before
    );
    assert_eq!(queued_emails(app).await, 0, "no letter is on its way");
    assert!(outbox(app, 0).await.is_empty());
});

both!(emailed_invite_link_sets_the_first_password, |app| {
    let adam = app.as_(&app.world.adam);
    let new = json!({"name": "Ina Invited", "email": "ina@school.example", "role": "TEACHER", "sendInvite": true});
    let ina = adam.post("/users", new).await.expect(201);
    assert!(ina["temporaryPassword"].is_null());
    let mail = outbox(app, 1).await.remove(0);
    assert_eq!(mail.to, "ina@school.example");
    assert_eq!(mail.subject, "Your account at North School");
    let link = mail.link();
    let token = link.strip_prefix("/reset-password#token=").unwrap();
    let choice = json!({"newPassword": "Zirkel und Lineal", "token": token});
    app.stranger()
        .post("/auth/reset-password", choice.clone())
        .await
        .expect(200);
    app.stranger()
        .post("/auth/reset-password", choice)
        .await
        .refused(400, "INVALID_TOKEN");
    assert_eq!(sign_in(app, "ina@school.example", "Zirkel und Lineal").await, 200);
});

both!(admin_edits_account_and_protected_fields_stay, |app| {
    let (world, adam) = (&app.world, app.as_(&app.world.adam));
    let path = format!("/users/{}", world.ben.id);
    let mut shown = adam.get(&path).await.expect(200);
    let edit = json!({"name": "Benjamin", "firstName": "Ben", "email": "BEN@new.example", "externalId": "B-7", "locale": "de"});
    let edited = adam.patch(&path, edit).await.expect(200);
    for (key, value) in [
        ("name", "Benjamin"),
        ("firstName", "Ben"),
        ("email", "ben@new.example"),
        ("externalId", "B-7"),
        ("locale", "de"),
    ] {
        assert_eq!(edited[key], value);
    }
    adam.patch(&path, edited.clone()).await.expect(200);
    let same = adam.patch(&path, json!({"role": "TEACHER"})).await.expect(200);
    assert_eq!(
        same["role"], edited["role"],
        "the role is changed by PATCH /admin/members"
    );
    adam.patch(&path, json!({"temporaryPassword": "x"}))
        .await
        .invalid("temporaryPassword");
    adam.patch(&path, json!({"email": world.cem.email}))
        .await
        .refused(409, "DUPLICATE_EMAIL");
    adam.patch(&path, json!({"email": null}))
        .await
        .refused(409, "EMAIL_REQUIRED");
    adam.patch(&path, json!({"firstName": null, "name": shown["name"].take()}))
        .await
        .expect(200);
    let changed =
        "SELECT details FROM activity_logs WHERE category = 'USER' AND action = 'UPDATE' ORDER BY id".to_owned();
    let changed = texts(&app.database, changed).await;
    assert_eq!(changed.len(), 2, "what changes nothing is not recorded: {changed:?}");
    assert!(
        !changed
            .iter()
            .flatten()
            .any(|details| details.contains("Benjamin") || details.contains("new.example"))
    );
});

both!(teacher_resets_passwords_only_of_school_enrolled_students, |app| {
    let (world, adam, ada) = (&app.world, app.as_(&app.world.adam), app.as_(&app.world.ada));
    let reset = async |client: &Client, person: &TestUser| {
        client
            .post(&format!("/users/{}/reset-password", person.id), json!({}))
            .await
    };
    let students = format!("/classes/{}/students", world.seven_b.id);
    // A teacher can enroll any student. This alone must not grant the right to reset the student's password.
    ada.post(&students, json!({"studentIds": [world.finn.id]}))
        .await
        .expect(200);
    reset(&ada, &world.finn).await.refused(403, "FORBIDDEN_ROLE");
    reset(&ada, &world.ben).await.refused(403, "FORBIDDEN_ROLE");
    reset(&ada, &world.tom).await.refused(403, "FORBIDDEN_RANK");
    reset(&app.as_(&world.tom), &world.finn)
        .await
        .refused(403, "FORBIDDEN_ROLE");
    reset(&app.as_(&world.ben), &world.cem)
        .await
        .refused(403, "FORBIDDEN_ROLE");
    adam.post(&students, json!({"studentIds": [world.finn.id]}))
        .await
        .expect(200);
    let password = reset(&ada, &world.finn).await.expect(200)["temporaryPassword"].clone();
    app.as_(&world.finn)
        .get("/users/me")
        .await
        .refused(401, "UNAUTHENTICATED");
    let password = password.as_str().unwrap();
    assert_eq!(sign_in(app, &world.finn.email, password).await, 200);
    let late = common::clock::now().plus_seconds(-1).as_millis();
    let end = format!(
        "UPDATE users SET temporary_password_expires_at = {late} WHERE id = '{}'",
        world.finn.id
    );
    test_support::rows::execute(&app.database, end).await;
    assert_eq!(
        sign_in(app, &world.finn.email, password).await,
        401,
        "it is over after a week"
    );
    let expiry = "SELECT CAST((temporary_password_expires_at - updated_at) / 1000 AS TEXT) FROM users WHERE must_change_password";
    reset(&adam, &world.finn).await.expect(200);
    assert_eq!(
        texts(&app.database, expiry.to_owned()).await,
        [Some("604800".to_owned())]
    );

    let homeroom = adam.post("/homerooms", json!({"name": "7b"})).await.expect(201)["id"].clone();
    let path = format!("/homerooms/{}/students", homeroom.as_str().unwrap());
    adam.post(&path, json!({"studentIds": [world.ben.id]}))
        .await
        .expect(200);
    // Enrolling a whole homeroom must not grant the right to reset its students' passwords.
    ada.post(&students, json!({"homeroomId": homeroom})).await.expect(200);
    reset(&ada, &world.ben).await.refused(403, "FORBIDDEN_ROLE");
    let class = json!({"name": "7x", "academicYear": "2026/2027", "homeroomId": homeroom, "enrollHomeroom": true});
    ada.post("/classes", class).await.expect(201);
    reset(&ada, &world.ben).await.refused(403, "FORBIDDEN_ROLE");
    let lead = |teacher: serde_json::Value| json!({"teacherId": teacher});
    let of_homeroom = format!("/homerooms/{}", homeroom.as_str().unwrap());
    adam.patch(&of_homeroom, lead(json!(world.ada.id))).await.expect(200);
    reset(&ada, &world.ben).await.expect(200);
    adam.patch(&of_homeroom, lead(json!(null))).await.expect(200);
    reset(&ada, &world.ben).await.refused(403, "FORBIDDEN_ROLE");
    adam.post(&students, json!({"homeroomId": homeroom})).await.expect(200);
    reset(&ada, &world.ben).await.expect(200);
    adam.patch(&format!("/classes/{}", world.seven_b.id), json!({"status": "ARCHIVED"}))
        .await
        .expect(200);
    reset(&ada, &world.ben).await.refused(403, "FORBIDDEN_ROLE");
});

both!(administrator_sees_who_has_no_valid_password, |app| {
    let adam = app.as_(&app.world.adam);
    let new = json!({"name": "Ida Newcomer", "email": "ida.n@north.example", "role": "STUDENT", "sendInvite": true});
    let id = adam.post("/users", new).await.expect(201)["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let has_credential = async || {
        let one = adam.get(&format!("/users/{id}")).await.expect(200)["hasCredential"].clone();
        let listed = adam.get("/users?search=Ida").await.expect(200)["data"][0]["hasCredential"].clone();
        assert_eq!(one, listed);
        one
    };
    assert_eq!(has_credential().await, false);
    adam.post(&format!("/users/{id}/reset-password"), json!({}))
        .await
        .expect(200);
    assert_eq!(has_credential().await, true);
    let past = common::clock::now().plus_seconds(-60).as_millis();
    let end = format!("UPDATE users SET temporary_password_expires_at = {past} WHERE id = '{id}'");
    test_support::rows::execute(&app.database, end).await;
    assert_eq!(has_credential().await, false, "an expired temporary password");
    let seen = app.as_(&app.world.ada).get(&format!("/users/{id}")).await.expect(200);
    assert_eq!(seen.get("hasCredential"), None, "teachers do not see it");
});
