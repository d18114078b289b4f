//! Names: stored in NFC, sorted by the root collation, found regardless of case and accents. Their keys are migrated.

use db::{Database, migrate};
use domain::collation::{VERSION, person_sort_key, search_key, sort_key};
use serde_json::{Value, json};

use test_support::rows::{execute, texts};
use test_support::topics::{course, group, topic};
use test_support::{Client, TestApp};

/// Percent-encoded `ÄRGER`.
const UPPER_CASE: &str = "%C3%84RGER";

fn values(list: &Value, key: &str) -> Vec<String> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|row| row[key].as_str().unwrap().to_owned())
        .collect()
}

async fn list_values(client: &Client, path: &str, key: &str) -> Vec<String> {
    values(&client.get(path).await.expect(200), key)
}

async fn migrate_again(app: &TestApp) {
    let database = app.database.clone();
    let applied = tokio::task::spawn_blocking(move || migrate(&database)).await.unwrap();
    assert_eq!(applied.unwrap(), 0);
}

async fn select_column(app: &TestApp, column: &str, table: &str) -> Vec<String> {
    let rows = texts(&app.database, format!("SELECT {column} FROM {table} ORDER BY id")).await;
    rows.into_iter().map(Option::unwrap).collect()
}

both!(lists_are_sorted_by_the_root_collation, |app| {
    let (world, adam) = (&app.world, app.as_(&app.world.adam));
    for name in ["Zebra", "Ärger", "apfel", "Apfel 2"] {
        adam.post("/subjects", json!({"name": name})).await.expect(201);
        adam.post("/homerooms", json!({"name": name})).await.expect(201);
        let class = json!({"name": name, "academicYear": "2026/2027", "teacherId": world.ada.id});
        adam.post("/classes", class).await.expect(201);
        course(&adam, &world.seven_b, name).await;
    }
    let sorted = ["apfel", "Apfel 2", "Ärger"];
    assert_eq!(
        list_values(&adam, "/subjects", "name").await,
        [&sorted[..], &["Biology", "Zebra"]].concat()
    );
    assert_eq!(
        list_values(&adam, "/homerooms", "name").await,
        [&sorted[..], &["Zebra"]].concat()
    );
    assert_eq!(
        list_values(&adam, "/classes", "name").await,
        [&["7b", "8a"], &sorted[..], &["Zebra"]].concat()
    );
    let courses = format!("/courses?classId={}", world.seven_b.id);
    assert_eq!(
        list_values(&adam, &courses, "name").await,
        [&sorted[..], &["Cells", "Zebra"]].concat()
    );

    let root = app.as_(&world.root);
    let everywhere = list_values(&root, "/subjects", "name").await;
    assert_eq!(everywhere[..4], ["apfel", "Apfel 2", "Ärger", "Biology"]);
    for (name, slug) in [("Ärztekolleg", "aerzte"), ("Zentrum", "zentrum")] {
        root.post(
            "/tenants",
            json!({"name": name, "slug": slug, "ownerEmail": format!("{slug}@test.example"), "ownerName": "Olga"}),
        )
        .await
        .expect(201);
    }
    let tenants = list_values(&root, "/tenants", "name").await;
    assert_eq!(
        (tenants[0].as_str(), tenants.last().unwrap().as_str()),
        ("Ärztekolleg", "Zentrum")
    );
});

both!(topics_are_sorted_by_title_with_root_collation, |app| {
    let (world, ada) = (&app.world, app.as_(&app.world.ada));
    for title in ["Zebra", "Ärger", "apfel"] {
        topic(&ada, &world.seven_b, json!({"title": title})).await;
    }
    let sorted = ["apfel", "Ärger", "Zebra"];
    assert_eq!(list_values(&ada, "/assignments?sort=title", "title").await, sorted);
    let everywhere = list_values(&app.as_(&world.root), "/assignments?sort=title", "title").await;
    assert_eq!(everywhere, sorted);
});

both!(people_are_listed_by_surname_in_pages, |app| {
    let adam = app.as_(&app.world.adam);
    let mut number = 0;
    for (name, last_name) in [
        ("Zoe Äcker", None),
        ("Anna Acker", None),
        ("Ana García Acosta", Some("García Acosta")),
        ("Johann von Aachen", Some("von Aachen")),
    ] {
        number += 1;
        let email = format!("person{number}@test.example");
        let new = json!({"name": name, "lastName": last_name, "email": email, "role": "STUDENT"});
        adam.post("/users", new).await.expect(201);
    }
    let sorted = [
        "Johann von Aachen",
        "Anna Acker",
        "Zoe Äcker",
        "Adam Admin",
        "Ana García Acosta",
        "Olga Owner",
    ];
    for (path, name) in [("/users", "/name"), ("/admin/members", "/user/name")] {
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = adam.get(&format!("{path}?limit=2{cursor}")).await.expect(200);
            let rows = page["data"].as_array().unwrap();
            found.extend(
                rows.iter()
                    .map(|row| row.pointer(name).unwrap().as_str().unwrap().to_owned()),
            );
            let Some(next) = page["nextCursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(
            (&found[..6], found.len()),
            (&sorted.map(str::to_owned)[..], 13),
            "{path}"
        );
    }
    // A new name changes the sort position.
    let zoe = adam.get("/users?search=zoe%20acker").await.expect(200)["data"][0].clone();
    let path = format!("/users/{}", zoe["id"].as_str().unwrap());
    adam.patch(&path, json!({"name": "Zoe Aabel"})).await.expect(200);
    let page = adam.get("/users?limit=1").await.expect(200);
    assert_eq!(page["data"][0]["name"], "Zoe Aabel");
    adam.patch(&path, json!({"lastName": "Zoe"})).await.expect(200);
    let page = adam.get("/users?limit=200").await.expect(200);
    assert_eq!(values(&page["data"], "name").last().unwrap(), "Zoe Aabel");
});

both!(searches_ignore_case_and_accents, |app| {
    let (world, adam, ada) = (&app.world, app.as_(&app.world.adam), app.as_(&app.world.ada));
    adam.post("/subjects", json!({"name": "Ärgernis"})).await.expect(201);
    adam.post("/homerooms", json!({"name": "Ärgernis"})).await.expect(201);
    let class = json!({"name": "Ärgernis", "academicYear": "2026/2027", "teacherId": world.ada.id});
    adam.post("/classes", class).await.expect(201);
    course(&ada, &world.seven_b, "Ärgernis").await;
    group(
        &ada,
        &world.seven_b,
        &[&world.ben],
        json!({"name": "7b Rot", "displayName": "Ärgernis"}),
    )
    .await;
    topic(&ada, &world.seven_b, json!({"title": "Ärgernis"})).await;
    adam.patch(&format!("/users/{}", world.ben.id), json!({"name": "Ben Ärgernis"}))
        .await
        .expect(200);
    let root = app.as_(&world.root);
    root.post(
        "/tenants",
        json!({"name": "Ärgernis", "slug": "school", "ownerEmail": "owner@test.example", "ownerName": "Olga"}),
    )
    .await
    .expect(201);
    for text in ["argernis", "ARGERNIS", UPPER_CASE, "%C3%A4rgernis", "A%CC%88RGER"] {
        for path in ["subjects", "homerooms", "classes", "courses", "groups", "assignments"] {
            for client in [&adam, &root] {
                let found = client.get(&format!("/{path}?search={text}")).await.expect(200);
                assert_eq!(found.as_array().unwrap().len(), 1, "{path} {text}");
            }
        }
        let of_class = format!("/classes/{}/students?search={text}", world.seven_b.id);
        assert_eq!(
            adam.get(&of_class).await.expect(200).as_array().unwrap().len(),
            1,
            "{text}"
        );
        let tenants = root.get(&format!("/tenants?search={text}")).await.expect(200);
        assert_eq!(tenants.as_array().unwrap().len(), 1, "{text}");
        for path in ["users", "admin/members"] {
            let page = adam.get(&format!("/{path}?search={text}")).await.expect(200);
            assert_eq!(page["data"].as_array().unwrap().len(), 1, "{path} {text}");
        }
        let log = adam
            .get(&format!("/activity-logs?category=SUBJECT&search={text}"))
            .await
            .expect(200);
        assert_eq!(log["data"].as_array().unwrap().len(), 1, "{text}");
    }
});

both!(names_are_stored_in_nfc, |app| {
    let (adam, decomposed) = (app.as_(&app.world.adam), "A\u{308}rger");
    let new = adam.post("/subjects", json!({"name": decomposed})).await.expect(201);
    assert_eq!(new["name"], "Ärger");
    adam.post("/subjects", json!({"name": "Ärger"}))
        .await
        .refused(409, "DUPLICATE_SUBJECT");
    // Older rows are kept even if they equal a newer one after normalization.
    let (north, id) = (&app.world.north, "decomposed");
    let row = format!(
        "INSERT INTO subjects (organization_id, id, name, name_key, created_at, updated_at)
         VALUES ('{north}', '{id}', '{decomposed}', '{}', 1, 1)",
        decomposed.to_lowercase()
    );
    execute(&app.database, row).await;
    migrate_again(app).await;
    let found = list_values(&adam, "/subjects?search=arger", "name").await;
    assert_eq!(found.len(), 2);
    assert!(found.contains(&decomposed.to_owned()), "{found:?}");
    let edit = json!({"color": "#00aa00"});
    adam.patch(&format!("/subjects/{id}"), edit).await.expect(200);
});

/// Expects that all rows have the keys of their names.
async fn assert_keys(app: &TestApp) {
    for table in ["organizations", "subjects", "homerooms", "classes", "courses"] {
        let names = select_column(app, "name", table).await;
        let (search, sort) = (
            select_column(app, "search_key", table).await,
            select_column(app, "sort_key", table).await,
        );
        assert!(!names.is_empty(), "{table}");
        for (name, keys) in names.iter().zip(search.iter().zip(&sort)) {
            assert_eq!(keys, (&search_key(name), &sort_key(name)), "{table}");
        }
    }
    let names = select_column(app, "name", "users").await;
    let last_names = select_column(app, "COALESCE(last_name, '')", "users").await;
    let (search, sort) = (
        select_column(app, "search_key", "users").await,
        select_column(app, "sort_key", "users").await,
    );
    for (index, name) in names.iter().enumerate() {
        let last_name = Some(last_names[index].as_str());
        assert_eq!(search[index], search_key(name));
        assert_eq!(sort[index], person_sort_key(name, last_name), "{name}");
    }
    let groups = select_column(app, "name", "groups").await;
    let keys: Vec<String> = groups
        .iter()
        .map(|name| format!("{}\narger", search_key(name)))
        .collect();
    assert_eq!(select_column(app, "search_key", "groups").await, keys);
    let topics: Vec<String> = select_column(app, "title", "assignments")
        .await
        .iter()
        .map(|title| search_key(title))
        .collect();
    assert_eq!(select_column(app, "search_key", "assignments").await, topics);
    let log = texts(
        &app.database,
        "SELECT search_key FROM activity_logs WHERE entity_type = 'subject'".to_owned(),
    )
    .await;
    assert!(log[0].as_deref().unwrap().ends_with("argernis"), "{log:?}");
}

/// Creates a row with accents in every table.
async fn create_accented_names(app: &TestApp) {
    let (world, adam, ada) = (&app.world, app.as_(&app.world.adam), app.as_(&app.world.ada));
    adam.post("/subjects", json!({"name": "Ärgernis"})).await.expect(201);
    adam.post("/homerooms", json!({"name": "Öffner"})).await.expect(201);
    group(
        &ada,
        &world.seven_b,
        &[&world.ben],
        json!({"name": "Grün", "displayName": "Ärger"}),
    )
    .await;
    topic(&ada, &world.seven_b, json!({"title": "Übung"})).await;
    let person = json!({"name": "Johann von Öttingen", "lastName": "von Öttingen"});
    adam.patch(&format!("/users/{}", world.ben.id), person)
        .await
        .expect(200);
}

both!(renaming_updates_search_and_sort_keys, |app| {
    create_accented_names(app).await;
    let (world, adam, root) = (&app.world, app.as_(&app.world.adam), app.as_(&app.world.root));
    let class = &world.seven_b;
    for (path, key) in [
        ("/subjects", "name"),
        ("/homerooms", "name"),
        ("/classes", "name"),
        ("/courses", "name"),
        ("/groups", "name"),
        ("/assignments", "title"),
    ] {
        for row in adam.get(path).await.expect(200).as_array().unwrap() {
            let (id, name) = (
                row["id"].as_str().unwrap(),
                format!("Öl {}", row[key].as_str().unwrap()),
            );
            adam.patch(&format!("{path}/{id}"), json!({ (key): name }))
                .await
                .expect(200);
        }
    }
    let bulk = adam.get("/assignments").await.expect(200)[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    adam.patch(&format!("/assignments/{bulk}/bulk"), json!({"title": "Überall"}))
        .await
        .expect(200);
    adam.post(
        &format!("/classes/{}/clone", class.id),
        json!({"name": "Ähre", "academicYear": "2027/2028"}),
    )
    .await
    .expect(201);
    adam.patch("/admin/settings", json!({"name": "Österschule"}))
        .await
        .expect(200);
    root.patch(&format!("/tenants/{}", world.south), json!({"name": "Ästerschule"}))
        .await
        .expect(200);
    app.as_(&world.tom)
        .patch("/users/me", json!({"name": "Tom Öder"}))
        .await
        .expect(200);
    let update = json!({"userId": world.zoe.id, "data": {"name": "Zoe Äder"}});
    app.as_(&world.root).post("/auth/admin/update-user", update).await;
    let import = json!({"users": [
        {"email": "ida@test.example", "firstName": "Ida", "lastName": "von Ürzig", "role": "STUDENT"},
    ]});
    adam.post("/users/import", import).await.expect(200);
    assert_keys(app).await;
});

/// Restores the state of the previous release: no keys, and log search texts in lower case.
const WITHOUT_KEYS: &str = "UPDATE organizations SET search_key = '', sort_key = '';
    UPDATE users SET search_key = '', sort_key = ''; UPDATE subjects SET search_key = '', sort_key = '';
    UPDATE homerooms SET search_key = '', sort_key = ''; UPDATE classes SET search_key = '', sort_key = '';
    UPDATE courses SET search_key = '', sort_key = ''; UPDATE groups SET search_key = '';
    UPDATE assignments SET search_key = '';
    UPDATE activity_logs SET search_key = REPLACE(search_key, 'argernis', 'ärgernis');
    DELETE FROM settings WHERE name = 'name_keys'";

both!(migrating_computes_the_keys_of_existing_rows, |app| {
    create_accented_names(app).await;
    assert_keys(app).await;
    execute(&app.database, WITHOUT_KEYS.to_owned()).await;
    migrate_again(app).await;
    assert_keys(app).await;
    let version = texts(
        &app.database,
        "SELECT value FROM settings WHERE name = 'name_keys'".to_owned(),
    )
    .await;
    assert_eq!(version, [Some(VERSION.to_owned())]);
});

both!(keys_of_another_version_are_computed_again, |app| {
    create_accented_names(app).await;
    let other = "UPDATE users SET sort_key = 'other'; UPDATE subjects SET sort_key = 'other', search_key = 'other';
        UPDATE settings SET value = 'other' WHERE name = 'name_keys'";
    execute(&app.database, other.to_owned()).await;
    migrate_again(app).await;
    assert_keys(app).await;
});

both!(an_interrupted_computation_of_keys_continues, |app| {
    create_accented_names(app).await;
    execute(&app.database, WITHOUT_KEYS.to_owned()).await;
    // The update of one table fails, as if the process had crashed there: earlier tables are done and the version is
    // not recorded.
    let (fail, repair) = match &app.database {
        Database::Sqlite(_) => (
            "CREATE TRIGGER fail BEFORE UPDATE ON courses BEGIN SELECT RAISE(ABORT, 'interrupted'); END",
            "DROP TRIGGER fail",
        ),
        Database::Postgres(_) => (
            "ALTER TABLE courses ADD CONSTRAINT fail CHECK (sort_key = '')",
            "ALTER TABLE courses DROP CONSTRAINT fail",
        ),
    };
    execute(&app.database, fail.to_owned()).await;
    let database = app.database.clone();
    let failed = tokio::task::spawn_blocking(move || migrate(&database)).await.unwrap();
    assert!(failed.is_err());
    assert!(!select_column(app, "sort_key", "users").await.contains(&String::new()));
    assert!(
        texts(
            &app.database,
            "SELECT value FROM settings WHERE name = 'name_keys'".to_owned()
        )
        .await
        .is_empty()
    );
    execute(&app.database, repair.to_owned()).await;
    migrate_again(app).await;
    assert_keys(app).await;
});

both!(names_written_by_previous_release_get_keys_at_start, |app| {
    create_accented_names(app).await;
    let north = &app.world.north;
    // The previous release writes `name` and `name_key` only.
    let written = format!(
        "INSERT INTO subjects (organization_id, id, name, name_key, created_at, updated_at)
            VALUES ('{north}', 'new', 'Neu', 'neu', 1, 1);
        UPDATE courses SET name = 'Zellen', name_key = 'zellen';
        UPDATE users SET name = 'Ägidius Ömer', name_key = 'ägidius ömer' WHERE id = '{}'",
        app.world.cem.id
    );
    execute(&app.database, written).await;
    migrate_again(app).await;
    assert_keys(app).await;
});

both!(erasing_a_person_replaces_the_keys, |app| {
    create_accented_names(app).await;
    let ben = &app.world.ben.id;
    let before = texts(&app.database, format!("SELECT sort_key FROM users WHERE id = '{ben}'")).await;
    app.as_(&app.world.adam)
        .post("/admin/gdpr/erase", json!({"userId": ben, "dryRun": false}))
        .await
        .expect(200);
    let after = texts(&app.database, format!("SELECT sort_key FROM users WHERE id = '{ben}'")).await;
    assert_ne!(before, after);
    assert_keys(app).await;
});
