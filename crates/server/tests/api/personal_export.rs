//! Export of personal data: everything about one user, nothing about others, available to authorized callers only.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Read as _};

use serde_json::{Value, json};

use test_support::canary_user::{CanaryUser, FILE, OF_ACCOUNT, OF_SCHOOL, OTHERS, SECRET, TO_BEN};
use test_support::jobs::wait_for_end;
use test_support::rows::execute;
use test_support::{Client, not_found_body};

/// Returns the entries of an archive.
pub fn read_archive(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    (0..archive.len())
        .map(|index| {
            let mut entry = archive.by_index(index).unwrap();
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            (entry.name().unwrap().to_string(), content)
        })
        .collect()
}

fn is_list(name: &str) -> bool {
    name.rsplit('.').next() == Some("json")
}

fn text(entries: &BTreeMap<String, Vec<u8>>) -> String {
    let lists = entries.iter().filter(|(name, _)| is_list(name));
    let texts: Vec<_> = lists.map(|(_, content)| String::from_utf8_lossy(content)).collect();
    texts.join("\n").to_lowercase()
}

fn list(entries: &BTreeMap<String, Vec<u8>>, name: &str) -> Vec<Value> {
    let content = entries.get(name).unwrap_or_else(|| panic!("no {name}"));
    serde_json::from_slice(content).unwrap()
}

async fn export_user(client: &Client, user: &str) -> (String, BTreeMap<String, Vec<u8>>) {
    let answer = client.post("/admin/gdpr/export", json!({"userId": user})).await;
    let location = answer.header("location").to_owned();
    let asked = answer.expect(202);
    assert_eq!(
        (&asked["userId"], &asked["kind"]),
        (&json!(user), &json!("PERSONAL_EXPORT"))
    );
    let job = wait_for_end(client, &location).await;
    assert_eq!(job["status"], "DONE", "{job}");
    let archive = client
        .get(&format!("{}/download", location.strip_prefix("/api").unwrap()))
        .await;
    assert_eq!(
        (archive.status, archive.header("content-type")),
        (200, "application/zip")
    );
    assert_eq!(archive.bytes.len() as u64, job["size"].as_u64().unwrap());
    (location, read_archive(&archive.bytes))
}

fn assert_complete(entries: &BTreeMap<String, Vec<u8>>, marks: &[&str]) {
    let text = text(entries);
    for mark in marks.iter().chain(&TO_BEN) {
        assert!(text.contains(mark), "{mark} is missing: {text}");
    }
    for strange in [OTHERS, SECRET] {
        let at = text.find(strange);
        assert!(
            at.is_none(),
            "{strange}: {}",
            &text[at.unwrap()..][..60.min(text.len() - at.unwrap())]
        );
    }
}

both!(export_contains_all_data_of_user_and_none_of_others, |app| {
    let canary = CanaryUser::create(app).await;
    let adam = app.as_(&app.world.adam);
    let (_, entries) = export_user(&adam, &app.world.ben.id).await;
    assert_complete(&entries, &[&OF_SCHOOL[..], &OF_ACCOUNT[..]].concat());
    assert!(!text(&entries).contains(&app.world.ben.token.to_lowercase()));
    assert!(
        !text(&entries).contains("benmark-snippet"),
        "only its user reads a snippet"
    );
    let files: Vec<_> = entries.iter().filter(|(name, _)| !is_list(name)).collect();
    let has = |bytes: &[u8]| files.iter().any(|(_, content)| content.as_slice() == bytes);
    assert!(has(FILE), "the file of the chat");
    assert!(has(&canary.document), "the version that the user wrote");
    assert!(
        files.iter().all(|(name, _)| name.starts_with("north/")),
        "{:?}",
        entries.keys()
    );
    let group = &list(&entries, "north/groups.json")[0];
    assert_eq!(
        (&group["groupId"], &group["name"]),
        (&json!(canary.lesson.group), &json!("Rivers"))
    );
    let received = list(&entries, "north/messages-received.json");
    assert_eq!(
        received[0]["senderId"],
        json!(app.world.ada.id),
        "others stand in it as ids"
    );
    let submission = &list(&entries, "north/submissions.json")[0];
    assert_eq!(submission["submitted"], json!(true));

    // Cem took part in the submission but did not write its note. The archive contains only documents that Cem wrote.
    let (_, entries) = export_user(&adam, &app.world.cem.id).await;
    let texts = text(&entries);
    assert!(
        texts.contains("othermark-chat") && !texts.contains("benmark"),
        "{texts}"
    );
    let handed_in = list(&entries, "north/submissions.json").len();
    assert_eq!(handed_in, 2, "the one of the lesson and the marked one");
    assert!(entries.keys().all(|name| !name.starts_with("north/documents/")));
});

both!(export_lists_missing_and_damaged_files_and_contains_the_rest, |app| {
    let canary = CanaryUser::create(app).await;
    let ben = app.as_(&app.world.ben);
    let whole = read_archive(&ben.post("/users/me/export", json!({})).await.bytes);
    assert!(!whole.contains_key("errors.txt"), "{:?}", whole.keys());
    let path_of = |content: &[u8]| {
        let mut found = whole.iter().filter(|(_, bytes)| bytes.as_slice() == content);
        found.next().unwrap().0.clone()
    };
    let (lost, damaged) = (path_of(FILE), path_of(&canary.document));
    app.app.files().remove(&canary.chat_file).await.unwrap();
    let damage = "UPDATE document_revisions SET sha256 = 'another'";
    execute(&app.database, damage.to_owned()).await;

    let own = ben.post("/users/me/export", json!({})).await;
    let (_, by_school) = export_user(&app.as_(&app.world.adam), &app.world.ben.id).await;
    for entries in [read_archive(&own.bytes), by_school] {
        let errors = String::from_utf8(entries["errors.txt"].clone()).unwrap();
        let lines: Vec<_> = errors.lines().collect();
        assert!(
            lines
                .iter()
                .any(|line| line.starts_with(&format!("{lost}: it is not in the storage"))),
            "{errors}"
        );
        assert!(
            lines
                .iter()
                .any(|line| line.starts_with(&format!("{damaged}: it is damaged"))),
            "{errors}"
        );
        let of_school = whole
            .keys()
            .filter(|name| name.starts_with("north/") && !name.contains("snippet"));
        for name in of_school {
            assert_eq!(entries.contains_key(name), *name != lost, "{name}");
        }
    }
});

both!(user_downloads_own_export_immediately, |app| {
    CanaryUser::create(app).await;
    let answer = app.as_(&app.world.ben).post("/users/me/export", json!({})).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/zip"));
    assert!(text(&read_archive(&answer.bytes)).contains("benmark-snippet"));
    assert!(answer.header("content-disposition").contains("personal-data.zip"));
    assert_complete(
        &read_archive(&answer.bytes),
        &[&OF_SCHOOL[..], &OF_ACCOUNT[..]].concat(),
    );
    let nobody = app
        .as_(&app.world.nobody)
        .send(reqwest::Method::POST, "/users/me/export", None)
        .await;
    let entries = read_archive(&nobody.bytes);
    assert_eq!(list(&entries, "account.json")[0]["id"], json!(app.world.nobody.id));
    assert!(
        entries.keys().all(|name| !name.contains('/')),
        "no school holds anything: {:?}",
        entries.keys()
    );
    app.stranger()
        .post("/users/me/export", json!({}))
        .await
        .refused(401, "UNAUTHENTICATED");
    app.as_(&app.world.ben)
        .post("/users/me/export", json!({"a": 1}))
        .await
        .invalid("a");
});

both!(export_of_shared_user_contains_only_own_school_data, |app| {
    let (north, south, zack) = (&app.world.north, &app.world.south, &app.world.zack.id);
    let rows = format!(
        "UPDATE users SET home_organization_id = '{south}', first_name = 'SOUTHMARK-first' WHERE id = '{zack}';
         UPDATE members SET external_id = 'SOUTHMARK-external' WHERE user_id = '{zack}';
         INSERT INTO members (organization_id, id, user_id, role, external_id, created_at)
            VALUES ('{north}', 'guest', '{zack}', 'student', 'northmark', 1)"
    );
    let adam = app.as_(&app.world.adam);
    let asked = json!({"userId": zack});
    adam.post("/admin/gdpr/export", asked).await.refused(404, "NOT_FOUND");
    execute(&app.database, rows).await;
    let (_, entries) = export_user(&adam, zack).await;
    let texts = text(&entries);
    assert!(texts.contains("northmark") && !texts.contains("southmark"), "{texts}");
    assert!(!entries.contains_key("account.json") && !entries.contains_key("sessions.json"));
    // Both schools can export at the same time. Each archive contains only the data of its own school.
    let (_, entries) = export_user(&app.as_(&app.world.zara), zack).await;
    let texts = text(&entries);
    assert!(
        !texts.contains("northmark") && texts.contains("southmark-external"),
        "{texts}"
    );
    assert!(!texts.contains("southmark-first"), "the account has another membership");
    // The platform can export the account regardless of earlier exports; the request names the school.
    let root = app.as_(&app.world.root);
    let answer = root
        .post(
            &format!("/admin/gdpr/export?organizationId={south}"),
            json!({"userId": zack}),
        )
        .await;
    let location = answer.header("location").to_owned();
    answer.expect(202);
    assert_eq!(wait_for_end(&root, &location).await["status"], "DONE");
    let archive = root
        .get(&format!("{}/download", location.strip_prefix("/api").unwrap()))
        .await;
    assert!(read_archive(&archive.bytes).contains_key("account.json"));
});

both!(export_requires_higher_role_and_is_fetched_by_own_school, |app| {
    let world = &app.world;
    let (adam, olga) = (app.as_(&world.adam), app.as_(&world.olga));
    let export = |user: &str| json!({"userId": user});
    for person in [&world.ada, &world.ben] {
        let asked = app.as_(person).post("/admin/gdpr/export", export(&world.ben.id)).await;
        asked.refused(403, "FORBIDDEN_ROLE");
    }
    adam.post("/admin/gdpr/export", export(&world.olga.id))
        .await
        .refused(403, "FORBIDDEN_RANK");
    adam.post("/admin/gdpr/export", json!({})).await.invalid("userId");
    adam.post("/admin/gdpr/export", json!({"userId": world.ben.id, "x": 1}))
        .await
        .invalid("x");
    for unknown in ["nobody", &world.zoe.id, &world.nobody.id] {
        adam.post("/admin/gdpr/export", export(unknown))
            .await
            .refused(404, "NOT_FOUND");
    }
    adam.post("/admin/gdpr/export", export(&world.adam.id))
        .await
        .expect(202);
    let (location, _) = export_user(&olga, &world.adam.id).await;
    let path = location.strip_prefix("/api").unwrap();
    for path in [path.to_owned(), format!("{path}/download")] {
        let foreign = not_found_body(app.as_(&world.zara).get(&path).await);
        let unknown = not_found_body(
            app.as_(&world.zara)
                .get("/admin/gdpr/jobs/0190a1b2-0000-7000-8000-00000000dead")
                .await,
        );
        assert_eq!(foreign, unknown);
        app.as_(&world.ada).get(&path).await.refused(403, "FORBIDDEN_ROLE");
    }
    let log = olga.get("/activity-logs?action=EXPORT").await.expect(200);
    let about: Vec<_> = log["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["entityId"].clone())
        .collect();
    assert!(about.contains(&json!(world.adam.id)), "{log}");
});

both!(export_runs_once_per_user_and_expires, |app| {
    let (adam, ben) = (app.as_(&app.world.adam), &app.world.ben.id);
    app.app.jobs().close().await;
    let ask = async || {
        adam.post("/admin/gdpr/export", json!({"userId": ben}))
            .await
            .expect(202)
    };
    let (first, second) = (ask().await, ask().await);
    assert_eq!(first["id"], second["id"]);
    assert_eq!(
        (&first["status"], &first["downloadUrl"]),
        (&json!("QUEUED"), &json!(null))
    );
    let path = format!("/admin/gdpr/jobs/{}", first["id"].as_str().unwrap());
    adam.get(&format!("{path}/download")).await.refused(404, "NOT_FOUND");
    let log = adam.get("/activity-logs?action=EXPORT").await.expect(200);
    assert_eq!(
        log["data"].as_array().unwrap().len(),
        1,
        "who asks again asks for nothing new"
    );
    let over = "UPDATE jobs SET status = 'DONE', file_key = 'x.1.zip', expires_at = 1, result = '{\"size\":1,\"sha256\":\"\"}'";
    execute(&app.database, over.to_owned()).await;
    adam.get(&path).await.refused(404, "NOT_FOUND");
    adam.get(&format!("{path}/download")).await.refused(404, "NOT_FOUND");
});

both!(export_of_a_person_without_email_contains_no_placeholder, |app| {
    let adam = app.as_(&app.world.adam);
    let new = json!({"name": "Mia Meer", "role": "STUDENT"});
    let mia = adam.post("/users", new).await.expect(201);
    let guess = json!({"username": "mia.meer@north", "password": "another password"});
    app.stranger().post("/auth/sign-in/username", guess).await.expect(401);
    let (_, entries) = export_user(&adam, mia["id"].as_str().unwrap()).await;
    let text = text(&entries);
    assert!(
        text.contains("mia.meer") && !text.contains("no-email.invalid"),
        "{text}"
    );
});

both!(list_of_many_rows_is_exported_page_by_page, |app| {
    let (north, ben) = (&app.world.north, &app.world.ben.id);
    let rows = format!(
        "INSERT INTO activity_logs (organization_id, id, user_id, user_name, user_role, category, action, entity_type,
            entity_id, details, created_at)
        SELECT '{north}', '01' || (100000000 + n), '{ben}', 'Ben', 'student', 'GROUP', 'UPDATE', 'group', 'x', '{{}}', 1 FROM (
            WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1099)
            SELECT n FROM numbers) AS numbers"
    );
    execute(&app.database, rows).await;
    let answer = app.as_(&app.world.ben).post("/users/me/export", json!({})).await;
    let activity = list(&read_archive(&answer.bytes), "north/activity.json");
    let added = activity.iter().filter(|row| row["entityId"] == "x");
    let ids: Vec<&str> = added.map(|row| row["id"].as_str().unwrap()).collect();
    let distinct: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!((ids.len(), distinct.len()), (1_100, 1_100));
});
