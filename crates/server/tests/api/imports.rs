//! `POST /users/import`: accounts created from a table, repeated imports, dry runs, and accounts that an import never
//! changes.

use serde_json::{Value, json};

use test_support::rosters::{counted, counts, import, statuses, students, table};
use test_support::rows::texts;
use test_support::{SocketListener, TestApp, clients_are_installed};

/// A better-auth hash of `PASSWORD`.
const HASH: &str = "7d6f432a69baee753fc0b1f3cdc8c906:4b3b97c205fd6ed606646cb697b8bf18f44b27489d35dc82cd5eca9f12ccec05b519b9bf6d344389437b02c92ab336c5fa6f58874593d3642637e578828547d4";
const PASSWORD: &str = "root-password-1";

async fn select_texts(app: &TestApp, query: &str) -> Vec<String> {
    texts(&app.database, query.to_owned())
        .await
        .into_iter()
        .flatten()
        .collect()
}

async fn imports_logged(app: &TestApp) -> Vec<Value> {
    let page = app
        .as_(&app.world.adam)
        .get("/activity-logs?action=IMPORT")
        .await
        .expect(200);
    page["data"].as_array().unwrap().clone()
}

both!(import_creates_users_once_with_homeroom_and_classes, |app| {
    let adam = app.as_(&app.world.adam);
    let people = table(&[
        "Mia@new.example,Mia,Meer,student,S-1,9z,7b,",
        &format!(
            "noah@new.example,Noah,Nord,STUDENT,S-2,9Z,7b; {},",
            app.world.eight_a.id
        ),
        "tina@new.example,Tina,Turm,teacher,T-1,,8a,",
        "ben.student@test.example,Ben,Bach,student,S-3,,,",
        "nobody,,,admin,,,,",
    ]);
    let report = import(&adam, "", "people.csv", people.clone()).await.expect(200);
    assert_eq!(
        (counts(&report), &report["dryRun"]),
        ([3, 1, 0, 1], &json!(false)),
        "{report}"
    );
    let rows = report["rows"].as_array().unwrap();
    assert_eq!((&rows[0]["row"], &rows[4]["row"]), (&json!(2), &json!(6)));
    assert_eq!(rows[3]["userId"], json!(app.world.ben.id));
    let columns: Vec<&str> = rows[4]["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["column"].as_str().unwrap())
        .collect();
    assert_eq!(columns, ["role", "email", "firstName"]);

    let roster = adam
        .get(&format!("/classes/{}/students", app.world.seven_b.id))
        .await
        .expect(200);
    let names: Vec<&str> = roster
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["user"]["name"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"Mia Meer") && names.contains(&"Noah Nord") && names.contains(&"Ben Bach"),
        "{names:?}"
    );
    let homerooms = adam.get("/homerooms?search=9z").await.expect(200);
    assert_eq!(
        (homerooms[0]["name"].as_str(), homerooms[0]["studentCount"].as_i64()),
        (Some("9z"), Some(2))
    );
    let class = adam
        .get(&format!("/classes/{}", app.world.eight_a.id))
        .await
        .expect(200);
    assert_eq!(class["coTeachers"][0]["name"], json!("Tina Turm"));
    let by = "SELECT e.enrolled_by FROM class_enrollments e JOIN users u ON u.id = e.student_id WHERE u.email = 'mia@new.example'";
    assert_eq!(select_texts(app, by).await, ["import"]);

    let again = import(&adam, "", "people.csv", people).await.expect(200);
    assert_eq!(counts(&again), [0, 0, 4, 1], "{again}");
    let logged = imports_logged(app).await;
    assert_eq!(logged.len(), 1, "a repeat is not worth a record");
    assert_eq!(
        logged[0]["details"],
        json!({"created": 3, "updated": 1, "invited": 0, "skipped": 0, "failed": 1})
    );
});

both!(import_dry_run_matches_the_run_and_changes_nothing, |app| {
    let adam = app.as_(&app.world.adam);
    let mut people = table(&[
        "mia@new.example,Mia,Meer,student,S-1,9z,7b,",
        "MIA@new.example,Mia,Meer,student,,,,",
        "noah@new.example,Noah,Nord,student,S-1,,,",
        "cem.student@test.example,Cem,Kaya,student,S-3,9z,8a,",
        "dana.student@test.example,,,student,,,,",
        "finn.student@test.example,Finn,F,teacher,,,,",
        "eva@new.example,Eva,E,student,,,no such class,",
        "zack.student@test.example,Other,Name,student,Z-1,,7b,",
    ]);
    // More rows than one transaction handles, so that later rows meet what an earlier transaction would have created.
    people.extend((0..250).map(|n| format!("d{n}@new.example,D{n},Dry,student,,9z,7b,\n")));
    people += "eli.student@test.example,Eli,Elm,student,,9z,,\nlast@new.example,L,L,student,S-1,,,\n";
    let before = counted(app).await;
    let received = import(&adam, "?dryRun=1", "people.csv", people.clone())
        .await
        .expect(200);
    assert_eq!(counted(app).await, before);
    assert_eq!(received["dryRun"], json!(true));
    let done = import(&adam, "?dryRun=0", "people.csv", people).await.expect(200);
    assert_eq!(statuses(&received), statuses(&done));
    assert_eq!(done["invited"], 1, "Zack's account is South's");
    assert_eq!(counts(&done), [251, 2, 0, 6], "{:#?}", &statuses(&done)[..8]);
    assert!(imports_logged(app).await.len() == 1);
});

both!(import_never_changes_admins_or_foreign_accounts, |app| {
    let adam = app.as_(&app.world.adam);
    let people = table(&[
        "adam.admin@test.example,New,Name,student,A-1,,,",
        "olga.owner@test.example,New,Name,teacher,,,,",
        "root.admin@test.example,New,Name,teacher,,,,",
        &format!("zack.student@test.example,New,Name,student,Z-9,,,{HASH}"),
        &format!("zara.owner@test.example,New,Name,student,,,,{HASH}"),
    ]);
    let before = select_texts(
        app,
        "SELECT name || email || COALESCE(home_organization_id, '-') FROM users ORDER BY id",
    )
    .await;
    let report = import(&adam, "", "people.csv", people.clone()).await.expect(200);
    assert_eq!(counts(&report), [0, 0, 0, 2], "{report}");
    assert_eq!(report["invited"], 3, "{report}");
    let codes: Vec<&Value> = (0..2).map(|n| &report["rows"][n]["errors"][0]["code"]).collect();
    assert_eq!(codes, ["FORBIDDEN_RANK", "FORBIDDEN_RANK"]);
    assert_eq!(
        select_texts(
            app,
            "SELECT name || email || COALESCE(home_organization_id, '-') FROM users ORDER BY id"
        )
        .await,
        before
    );
    assert!(
        select_texts(app, "SELECT password FROM accounts WHERE password IS NOT NULL")
            .await
            .is_empty()
    );
    // The owner of South is invited to North and is not a member before accepting.
    let roles = format!(
        "SELECT role FROM members WHERE user_id = '{}' ORDER BY role",
        app.world.zara.id
    );
    assert_eq!(select_texts(app, &roles).await, ["owner"]);
    assert_eq!(
        counts(&import(&adam, "", "people.csv", people).await.expect(200)),
        [0, 0, 0, 2]
    );
});

both!(import_changes_roles_only_of_users_without_classes, |app| {
    let adam = app.as_(&app.world.adam);
    let people = |role: &str| table(&[&format!("mia@new.example,Mia,Meer,{role},,,,")]);
    import(&adam, "", "people.csv", people("student")).await.expect(200);
    let changed = import(&adam, "", "people.csv", people("teacher")).await.expect(200);
    assert_eq!(counts(&changed), [0, 1, 0, 0]);
    let log = adam.get("/activity-logs?action=ROLE_CHANGED").await.expect(200);
    assert_eq!(
        log["data"][0]["details"],
        json!({"from": "student", "to": "teacher", "endedSessions": 0})
    );
    let placed = table(&[
        "ben.student@test.example,Ben,B,teacher,,,,",
        "ada.teacher@test.example,Ada,A,student,,,,",
    ]);
    let refused = import(&adam, "", "people.csv", placed).await.expect(200);
    assert_eq!(counts(&refused), [0, 0, 0, 2]);
    assert_eq!(refused["rows"][0]["errors"][0]["column"], "role");
});

both!(create_mode_skips_existing_members, |app| {
    let adam = app.as_(&app.world.adam);
    let people = table(&[
        "ben.student@test.example,Changed,Name,student,B-1,,8a,",
        "mia@new.example,Mia,M,student,,,,",
    ]);
    let report = import(&adam, "?mode=create", "people.csv", people).await.expect(200);
    assert_eq!(counts(&report), [1, 0, 1, 0]);
    let name = format!("SELECT name FROM users WHERE id = '{}'", app.world.ben.id);
    assert_eq!(select_texts(app, &name).await, ["Ben Student"]);
});

both!(imported_password_hash_signs_in_and_replaces_none, |app| {
    let adam = app.as_(&app.world.adam);
    let people = table(&[&format!("mia@new.example,Mia,Meer,student,,,,{HASH}")]);
    let report = import(&adam, "", "people.csv", people.clone()).await.expect(200);
    assert!(!report.to_string().contains(&HASH[..16]), "a report contains no hash");
    let hashes = "SELECT a.password FROM accounts a JOIN users u ON u.id = a.user_id WHERE u.email = 'mia@new.example'";
    assert_eq!(select_texts(app, hashes).await, [HASH]);
    let sign_in = async |password: &str| {
        let body = json!({"email": "mia@new.example", "password": password});
        app.stranger().post("/auth/sign-in/email", body).await.status
    };
    assert_eq!((sign_in("another password").await, sign_in(PASSWORD).await), (401, 200));
    let rehashed = select_texts(app, hashes).await;
    assert!(rehashed[0].starts_with("$argon2id$"), "{rehashed:?}");
    assert_eq!(
        counts(&import(&adam, "", "people.csv", people).await.expect(200)),
        [0, 0, 1, 0]
    );
    assert_eq!(select_texts(app, hashes).await, rehashed);
    assert_eq!(sign_in(PASSWORD).await, 200);

    // An account without a password gets its first one by import, as long as the school administers the account.
    let without = table(&["noah@new.example,Noah,Nord,student,,,,"]);
    import(&adam, "", "people.csv", without).await.expect(200);
    let with = table(&[&format!("noah@new.example,Noah,Nord,student,,,,{HASH}")]);
    assert_eq!(
        counts(&import(&adam, "", "people.csv", with).await.expect(200)),
        [0, 1, 0, 0]
    );
    let details = "SELECT details FROM activity_logs WHERE action = 'UPDATE'";
    assert_eq!(select_texts(app, details).await, ["{\"changed\":[\"password\"]}"]);
});

both!(json_list_is_imported_like_a_table, |app| {
    let adam = app.as_(&app.world.adam);
    let ben = json!({"email": "ben.student@test.example", "role": "student", "firstName": "Ben", "lastName": "B", "classes": ["8a"]});
    let body = json!({"users": [ben, {"email": "mia@new.example", "role": "owner", "firstName": "Mia"}]});
    let report = adam.post("/users/import", body).await.expect(200);
    assert_eq!(
        (counts(&report), &report["rows"][1]["row"]),
        ([0, 1, 0, 1], &json!(2)),
        "{report}"
    );
    assert_eq!(
        counts(&adam.post("/users/import", json!({"users": []})).await.expect(200)),
        [0; 4]
    );

    let one = json!({"email": "mia@new.example", "role": "student", "firstName": "Mia"});
    adam.post("/users/import", json!({"users": vec![one.clone(); 501]}))
        .await
        .invalid("users");
    adam.post(
        "/users/import",
        json!({"users": [{"email": "x@y.example", "organizationId": "x"}]}),
    )
    .await
    .invalid("users[0].organizationId");
    adam.post("/users/import", json!({"people": []}))
        .await
        .invalid("people");
    adam.post("/users/import?dryrun=1", json!({"users": [one.clone()]}))
        .await
        .invalid("dryrun");
    adam.post("/users/import?mode=replace", json!({"users": [one.clone()]}))
        .await
        .invalid("mode");
    adam.post("/users/import?dryRun=maybe", json!({"users": [one]}))
        .await
        .invalid("dryRun");
});

both!(concurrent_imports_create_each_user_once, |app| {
    let adam = app.as_(&app.world.adam);
    let people = |from| {
        let rows: Vec<String> = (from..from + 300)
            .map(|n| format!("p{n}@new.example,P{n},P,student,P-{n},9z,7b,"))
            .collect();
        table(&rows.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let (one, two) = (
        import(&adam, "", "a.csv", people(0)),
        import(&adam, "", "b.csv", people(100)),
    );
    let (one, two) = tokio::join!(one, two);
    let (one, two) = (one.expect(200), two.expect(200));
    assert_eq!(
        one["created"].as_i64().unwrap() + two["created"].as_i64().unwrap(),
        400,
        "{one} {two}"
    );
    let homerooms = app.as_(&app.world.adam).get("/homerooms?search=9z").await.expect(200);
    assert_eq!(
        (homerooms.as_array().unwrap().len(), &homerooms[0]["studentCount"]),
        (1, &json!(400))
    );
    let third = import(&adam, "", "c.csv", people(0)).await.expect(200);
    assert_eq!(counts(&third), [0, 0, 300, 0]);
});

both!(only_the_importing_admin_receives_progress_events, |app| {
    if !clients_are_installed() {
        return;
    }
    let mut adam = SocketListener::connect(app, &app.world.adam).await;
    let mut olga = SocketListener::connect(app, &app.world.olga).await;
    let people = students(0, 2_100);
    import(&app.as_(&app.world.adam), "", "people.csv", people.clone())
        .await
        .expect(200);
    let first = adam.expect("import:progress").await;
    assert_eq!(
        (&first["done"], &first["rows"], &first["isFinished"]),
        (&json!(1_000), &json!(2_100), &json!(false))
    );
    let last = adam
        .expect_where("import:progress", |payload| payload["isFinished"] == true)
        .await;
    assert_eq!((&last["created"], &last["done"]), (&json!(2_100), &json!(2_100)));
    assert_eq!(
        (&last["importId"], &last["dryRun"]),
        (&first["importId"], &json!(false))
    );
    // The other admins receive one event at the end and no progress events.
    let is_imported = |payload: &Value| payload["action"] == "IMPORTED";
    let announced = olga.expect_where("user:updated", is_imported).await;
    assert!(announced["userId"].is_null());
    assert!(olga.all("import:progress").is_empty());
});

both!(disconnected_import_leaves_complete_rows_and_a_record, |app| {
    let adam = app.as_(&app.world.adam);
    let request = adam.request(reqwest::Method::POST, "/users/import");
    let part = reqwest::multipart::Part::bytes(students(0, 12_000).into_bytes()).file_name("people.csv");
    let mut answer = request
        .multipart(reqwest::multipart::Form::new().part("file", part))
        .send()
        .await
        .unwrap();
    answer.chunk().await.unwrap();
    drop(answer);
    let mut logged = Vec::new();
    while logged.is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        logged = imports_logged(app).await;
    }
    let created = logged[0]["details"]["created"].as_i64().unwrap();
    assert!(created < 12_000, "nobody listened, and it went on to the end");
    let found = select_texts(
        app,
        "SELECT m.id FROM members m JOIN users u ON u.id = m.user_id WHERE u.email LIKE '%@long.example'",
    )
    .await;
    assert_eq!(i64::try_from(found.len()).unwrap(), created);
});

both!(import_of_demoted_admin_is_aborted, |app| {
    let adam = app.as_(&app.world.adam);
    let member = format!("SELECT id FROM members WHERE user_id = '{}'", app.world.adam.id);
    let path = format!("/admin/members/{}", select_texts(app, &member).await[0]);
    let request = adam.request(reqwest::Method::POST, "/users/import");
    let part = reqwest::multipart::Part::bytes(students(0, 12_000).into_bytes()).file_name("people.csv");
    let mut answer = request
        .multipart(reqwest::multipart::Form::new().part("file", part))
        .send()
        .await
        .unwrap();
    answer.chunk().await.unwrap();
    app.as_(&app.world.olga)
        .patch(&path, json!({"role": "teacher"}))
        .await
        .expect(200);
    // The response is aborted, so that a partial report cannot be mistaken for a complete one.
    while let Ok(Some(_)) = answer.chunk().await {}
    let found = select_texts(app, "SELECT id FROM users WHERE email LIKE '%@long.example'").await;
    assert!(found.len() < 12_000);
});

both!(imported_formulas_are_escaped_in_csv_export, |app| {
    let adam = app.as_(&app.world.adam);
    for last in ["First", "Second"] {
        let people = table(&[&format!(
            "mia@new.example,\"=HYPERLINK(\"\"http://evil.example\"\")\",{last},student,,,,"
        )]);
        import(&adam, "", "people.csv", people).await.expect(200);
    }
    let export = adam.get("/activity-logs/export.csv").await;
    let text = String::from_utf8(export.bytes).unwrap();
    assert!(
        text.contains("\"'=HYPERLINK(\"\"http://evil.example\"\") Second\""),
        "{text}"
    );
});
