//! School administration (statistics, storage, settings, sessions) and platform administration.

use serde_json::{Value, json};

use test_support::lesson_rows;
use test_support::rows::execute;
use test_support::topics::{group, topic};
use test_support::{RealtimeRows, TestApp, TestUser, raw_socket};

async fn sessions(app: &TestApp, person: &TestUser, query: &str) -> Vec<Value> {
    let page = app
        .as_(person)
        .get(&format!("/admin/sessions{query}"))
        .await
        .expect(200);
    page["data"].as_array().unwrap().clone()
}

async fn session_of(app: &TestApp, person: &TestUser) -> String {
    let found = sessions(app, &app.world.olga, &format!("?userId={}", person.id)).await;
    found[0]["id"].as_str().unwrap().to_owned()
}

/// Inserts rows directly into the database.
async fn insert_directly(app: &TestApp, write: impl FnOnce(&db::Database, &str) + Send + 'static) {
    let (database, north) = (app.database.clone(), app.world.north.clone());
    tokio::task::spawn_blocking(move || write(&database, &north))
        .await
        .unwrap();
}

both!(school_statistics_count_own_data_only, |app| {
    let (adam, ada, world) = (app.as_(&app.world.adam), app.as_(&app.world.ada), &app.world);
    let rivers = group(&ada, &world.seven_b, &[&world.ben], json!({})).await;
    topic(&ada, &world.seven_b, json!({"groupIds": [rivers]})).await;
    app.as_(&world.ben)
        .post(&format!("/groups/{rivers}/help"), json!({}))
        .await
        .expect(200);
    let stats = adam.get("/admin/stats").await.expect(200);
    let expected = json!({
        "users": {"owner": 1, "admin": 1, "teacher": 2, "student": 5}, "classes": 2, "courses": 2, "groups": 1,
        "assignments": 1, "storageBytes": 0, "openHelp": 1, "activeSessions": 9,
    });
    assert_eq!(stats, expected);
    let stats = app.as_(&world.zara).get("/admin/stats").await.expect(200);
    assert_eq!((&stats["classes"], &stats["groups"]), (&json!(1), &json!(0)));
    assert_eq!(stats["users"]["student"], 1);
    for person in [&world.ada, &world.ben] {
        for path in ["/admin/stats", "/admin/storage", "/admin/settings", "/admin/sessions"] {
            app.as_(person).get(path).await.refused(403, "FORBIDDEN_ROLE");
        }
    }
});

both!(files_are_counted_by_kind_and_by_class, |app| {
    let world = &app.world;
    for (class, teacher, student, lessons) in [
        (&world.seven_b, &world.ada, &world.ben, 2),
        (&world.eight_a, &world.tom, &world.finn, 1),
    ] {
        let (class, teacher, student) = (class.clone(), teacher.id.clone(), student.id.clone());
        insert_directly(app, move |database, north| {
            let mut rows = lesson_rows::LessonRows::of(database, north, &class.id, &teacher, &student);
            for number in 1..=lessons {
                rows.lesson(number, Some(&class.course));
            }
        })
        .await;
    }
    // A second attempt that keeps an unchanged copy refers to the same file, which is counted once.
    let again = "INSERT INTO submissions (organization_id, id, group_assignment_id, attempt, status, submitted_by_id,
            submitted_at, member_ids, created_at)
        SELECT organization_id, 'again', group_assignment_id, 2, 'SUPERSEDED', submitted_by_id, 1, '[]', 1
        FROM submissions WHERE id = (SELECT MIN(id) FROM submissions);
        INSERT INTO submission_documents (organization_id, id, submission_id, document_id, document_version, title,
            file_extension, size, sha256, file_key, created_at)
        SELECT organization_id, 'again', 'again', document_id, 1, 'Page', 'docx', size, 'x', file_key, 1
        FROM submission_documents WHERE submission_id = (SELECT MIN(id) FROM submissions)";
    execute(&app.database, again.to_owned()).await;
    let adam = app.as_(&world.adam);
    let counted = adam.get("/admin/storage").await.expect(200);
    // Each lesson has one byte in each of these: two documents and their pictures, a common and a group-specific topic file and a group
    // file, two chat files, one submission copy, and the conversions of two revisions and of a copy.
    let kinds = json!({
        "documents": 12, "revisions": 0, "attachments": 9, "messages": 6, "submissions": 3, "conversions": 9, "exports": 0,
        "deleted": 0,
    });
    assert_eq!(counted["kinds"], kinds);
    assert_eq!(counted["totalBytes"], 39);
    let classes = json!([
        {"id": world.seven_b.id, "name": "7b", "bytes": 26}, {"id": world.eight_a.id, "name": "8a", "bytes": 13},
    ]);
    assert_eq!(counted["classes"], classes);
    assert_eq!(adam.get("/admin/stats").await.expect(200)["storageBytes"], 39);
    let south = app.as_(&world.zara).get("/admin/storage").await.expect(200);
    assert_eq!((&south["totalBytes"], &south["classes"]), (&json!(0), &json!([])));

    // Later data is counted by the scheduled task, not by the request.
    let (class, teacher, student) = (world.eight_a.clone(), world.tom.id.clone(), world.finn.id.clone());
    insert_directly(app, move |database, north| {
        lesson_rows::LessonRows::of(database, north, &class.id, &teacher, &student).topic(Some(&class.course));
    })
    .await;
    assert_eq!(adam.get("/admin/storage").await.expect(200), counted);
    let tenant = app
        .request_context(
            &world.north,
            &world.adam.id,
            test_support::request_context::ViewedAs::Admin,
            common::clock::now(),
        )
        .await
        .tenant;
    service::jobs::storage_usage::count(app.app.store(), app.app.files(), tenant)
        .await
        .unwrap();
    assert_eq!(adam.get("/admin/storage").await.expect(200)["totalBytes"], 40);
});

both!(an_admin_changes_name_logo_and_settings, |app| {
    let (adam, world) = (app.as_(&app.world.adam), &app.world);
    let mut shown = adam.get("/admin/settings").await.expect(200);
    assert_eq!(
        (&shown["name"], &shown["metadata"]),
        (&json!("North School"), &json!(null))
    );
    let edit = json!({
        "name": "North Academy", "logo": "https://north.example/logo.png",
        "metadata": {"gradeScale": "A-F", "lateDefault": "BLOCK", "features": {"teachersAddSubjects": true, "formalAddress": true}},
    });
    let edited = adam.patch("/admin/settings", edit).await.expect(200);
    assert_eq!(edited["name"], "North Academy");
    assert_eq!(edited["metadata"]["gradeScale"], "A-F");
    assert_eq!(adam.get("/admin/settings").await.expect(200), edited);
    // Settings are merged by key: an absent key is unchanged, null clears it.
    let edited = adam
        .patch(
            "/admin/settings",
            json!({"metadata": {"gradeScale": null, "timezone": "Europe/Berlin"}}),
        )
        .await
        .expect(200);
    let metadata = json!({
        "timezone": "Europe/Berlin", "lateDefault": "BLOCK",
        "features": {
            "teachersAddSubjects": true, "studentsChangeNames": false, "formalAddress": true, "passwordsForOwnersOnly": false,
            "documentPlayback": false,
        },
    });
    assert_eq!(edited["metadata"], metadata);
    // Clients read the settings of the organization with the signed-in user.
    let ada = app.as_(&world.ada).get("/users/me").await.expect(200);
    assert_eq!(ada["organization"]["metadata"]["features"]["formalAddress"], true);
    // A setting of earlier releases without effect is accepted and never returned.
    let former = json!({"metadata": {"retentionDays": 400}});
    let same = adam.patch("/admin/settings", former).await.expect(200);
    assert_eq!(same["metadata"], metadata);
    for (body, path) in [
        (json!({"name": null}), "name"),
        (json!({"metadata": {"colour": "red"}}), "metadata.colour"),
        (
            json!({"metadata": {"lateDefault": "SOMETIMES"}}),
            "metadata.lateDefault",
        ),
        (json!({"theme": "dark"}), "theme"),
    ] {
        adam.patch("/admin/settings", body).await.invalid(path);
    }
    shown = adam.get("/admin/settings").await.expect(200);
    assert_eq!(shown, edited);
    shown["logo"] = json!(null);
    adam.patch("/admin/settings", shown).await.expect(200);
    let log = adam.get("/activity-logs?category=TENANT").await.expect(200);
    assert_eq!(log["data"].as_array().unwrap().len(), 3);
    assert_eq!(
        log["data"][2]["details"]["changed"],
        json!(["name", "logo", "metadata"])
    );
    let south = app.as_(&world.zara).get("/admin/settings").await.expect(200);
    assert_eq!(
        (&south["name"], &south["metadata"]),
        (&json!("South School"), &json!(null))
    );
});

both!(teachers_add_subjects_only_if_school_allows_it, |app| {
    let (adam, ada) = (app.as_(&app.world.adam), app.as_(&app.world.ada));
    // Permissions are checked before the body is validated.
    for body in [json!({"name": "Art"}), json!({"colour": 7})] {
        ada.post("/subjects", body).await.refused(403, "FORBIDDEN_ROLE");
    }
    let switch = |on: bool| json!({"metadata": {"features": {"teachersAddSubjects": on}}});
    adam.patch("/admin/settings", switch(true)).await.expect(200);
    let art = ada.post("/subjects", json!({"name": "Art"})).await.expect(201);
    ada.post("/subjects", json!({"colour": 7}))
        .await
        .refused(400, "VALIDATION_ERROR");
    let path = format!("/subjects/{}", art["id"].as_str().unwrap());
    ada.patch(&path, json!({"name": "Arts"}))
        .await
        .refused(403, "FORBIDDEN_ROLE");
    app.as_(&app.world.ben)
        .post("/subjects", json!({"name": "Games"}))
        .await
        .refused(403, "FORBIDDEN_ROLE");
    app.as_(&app.world.zoe)
        .post("/subjects", json!({"name": "Art"}))
        .await
        .refused(403, "FORBIDDEN_ROLE");
    adam.patch("/admin/settings", switch(false)).await.expect(200);
    ada.post("/subjects", json!({"name": "Music"}))
        .await
        .refused(403, "FORBIDDEN_ROLE");
});

both!(topic_takes_defaults_from_school_settings, |app| {
    let (adam, ada, class) = (app.as_(&app.world.adam), app.as_(&app.world.ada), &app.world.seven_b);
    let plain = topic(&ada, class, json!({})).await;
    assert_eq!(
        (&plain["latePolicy"], &plain["gradeScale"]),
        (&json!("ALLOW"), &json!(null))
    );
    let settings = json!({"metadata": {"lateDefault": "BLOCK", "gradeScale": "1-6"}});
    adam.patch("/admin/settings", settings).await.expect(200);
    let set = topic(&ada, class, json!({})).await;
    assert_eq!(
        (&set["latePolicy"], &set["gradeScale"]),
        (&json!("BLOCK"), &json!("1-6"))
    );
    let own = topic(&ada, class, json!({"latePolicy": "ALLOW", "gradeScale": "A-F"})).await;
    assert_eq!(
        (&own["latePolicy"], &own["gradeScale"]),
        (&json!("ALLOW"), &json!("A-F"))
    );
});

both!(admin_lists_sessions_of_school_in_pages, |app| {
    let (adam, world) = (&app.world.adam, &app.world);
    // Tom's sessions in the other school are not visible to this one.
    let rows = RealtimeRows(app);
    rows.join_school(&world.south, &world.tom, "teacher").await;
    let elsewhere = rows.another_session(&world.tom).await;
    rows.set_active_school(&elsewhere, Some(&world.south)).await;
    let elsewhere = rows.session(&elsewhere).await;
    let origins = "UPDATE sessions SET ip_address = '192.0.2.7', user_agent = 'Browser'".to_owned();
    test_support::rows::execute(&app.database, origins).await;
    let all = sessions(app, adam, "").await;
    for (reader, of, is_shown) in [
        (adam, &world.olga, false),
        (adam, adam, true),
        (adam, &world.ben, true),
        (&world.olga, adam, true),
    ] {
        let read = sessions(app, reader, &format!("?userId={}", of.id)).await;
        let shown = (!read[0]["ipAddress"].is_null(), !read[0]["userAgent"].is_null());
        assert_eq!(shown, (is_shown, is_shown), "{} reads of {}", reader.name, of.name);
    }
    assert_eq!(
        all.len(),
        9,
        "the members of the school; not the platform, not the other school"
    );
    let own = all.iter().find(|session| session["isCurrent"] == true).unwrap();
    assert_eq!(own["userId"], world.adam.id);
    assert_eq!(own["user"]["email"], world.adam.email);
    assert_eq!(
        (&own["role"], &own["activeOrganizationId"]),
        (&json!("admin"), &json!(world.north))
    );
    assert!(all.iter().all(|session| session.get("token").is_none()));
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = app
            .as_(adam)
            .get(&format!("/admin/sessions?limit=4{cursor}"))
            .await
            .expect(200);
        seen.extend(page["data"].as_array().unwrap().clone());
        let Some(next) = page["nextCursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(seen, all);
    assert_eq!(
        sessions(app, adam, &format!("?userId={}", world.zack.id)).await.len(),
        0
    );
    let path = format!("/admin/sessions/{elsewhere}");
    app.as_(adam).delete(&path).await.refused(404, "NOT_FOUND");
    assert_eq!(sessions(app, &world.zara, "").await.len(), 4);
});

both!(higher_role_ends_session_and_its_sockets, |app| {
    let (adam, olga, world) = (app.as_(&app.world.adam), app.as_(&app.world.olga), &app.world);
    let path = |session: &str| format!("/admin/sessions/{session}");
    for (person, of) in [(&world.olga, &world.adam), (&world.ben, &world.ada)] {
        assert_ne!(session_of(app, person).await, session_of(app, of).await);
    }
    // An admin cannot end the session of an owner or of another school.
    adam.delete(&path(&session_of(app, &world.olga).await))
        .await
        .refused(403, "FORBIDDEN_RANK");
    let foreign = app.as_(&world.zara).get("/admin/sessions").await.expect(200)["data"][0]["id"].clone();
    for unknown in [foreign.as_str().unwrap(), "nothing"] {
        adam.delete(&path(unknown)).await.refused(404, "NOT_FOUND");
    }
    app.as_(&world.zara).get("/users/me").await.expect(200);
    olga.get("/users/me").await.expect(200);

    let mut socket = raw_socket::Socket::open(app, &world.ben.cookie).await;
    socket.expect("ready").await;
    let session = session_of(app, &world.ben).await;
    app.as_(&world.ada)
        .delete(&path(&session))
        .await
        .refused(403, "FORBIDDEN_ROLE");
    adam.delete(&path(&session)).await.expect(200);
    socket.wait_until_closed().await;
    app.as_(&world.ben)
        .get("/users/me")
        .await
        .refused(401, "UNAUTHENTICATED");
    adam.delete(&path(&session)).await.refused(404, "NOT_FOUND");
    let log = adam.get("/activity-logs?category=AUTH").await.expect(200);
    assert_eq!(log["data"][0]["event"], "AUTH_DELETE");
    assert_eq!(log["data"][0]["details"]["user"]["id"], world.ben.id);

    // A platform administrator can end an owner's session. Every user can end their own.
    let of_olga = format!(
        "{}?organizationId={}",
        path(&session_of(app, &world.olga).await),
        world.north
    );
    app.as_(&world.root).delete(&of_olga).await.expect(200);
    olga.get("/users/me").await.refused(401, "UNAUTHENTICATED");
    let all = sessions(app, &world.adam, "").await;
    let own = all.iter().find(|session| session["isCurrent"] == true).unwrap();
    let of_adam = own["id"].as_str().unwrap().to_owned();
    adam.delete(&path(&of_adam)).await.expect(200);
    adam.get("/users/me").await.refused(401, "UNAUTHENTICATED");
});

both!(super_admin_reads_system_status, |app| {
    let world = &app.world;
    let system = app.as_(&world.root).get("/admin/system").await.expect(200);
    assert_eq!(system["version"], env!("CARGO_PKG_VERSION"));
    let kind = match app.database {
        db::Database::Sqlite(_) => "sqlite",
        db::Database::Postgres(_) => "postgresql",
    };
    assert_eq!(system["database"]["kind"], kind);
    assert!(system["database"]["bytes"].as_i64().unwrap() > 0);
    assert!(system["database"]["schemaVersion"].as_i64().unwrap() >= 14);
    assert_eq!(
        (&system["documentServer"], &system["storage"]),
        (&json!("unset"), &json!("ok"))
    );
    assert_eq!(system["jobs"], json!({"queued": 0, "running": 0, "failed": 0}));
    let tables = system["database"]["tables"].as_array().unwrap();
    let named: Vec<&str> = tables.iter().map(|table| table["name"].as_str().unwrap()).collect();
    let database = app.database.clone();
    let counted = tokio::task::spawn_blocking(move || test_support::row_counts::tables(&database)).await;
    assert_eq!(
        named,
        counted.unwrap(),
        "crates/db/src/platform/system.rs names every table"
    );
    let users = tables.iter().find(|table| table["name"] == "users").unwrap();
    assert_eq!(users, &json!({"name": "users", "rows": 14, "isAtLeast": false}));
    let text = system.to_string();
    for secret in [test_support::AUTH_SECRET, test_support::DOCSERVER_SECRET, "North"] {
        assert!(!text.contains(secret));
    }
    for person in [&world.olga, &world.ada, &world.ben, &world.nobody] {
        app.as_(person)
            .get("/admin/system")
            .await
            .refused(403, "FORBIDDEN_ROLE");
    }
});
