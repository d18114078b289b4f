//! Attachments of topics: who can see which file, how files are staged, and when they are removed.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use test_support::rows::{execute, texts};
use test_support::tables::fingerprints;
use test_support::topics::{LATER, group, id, ids, link, mark_finished, topic};
use test_support::{Client, TestApp, WAIT_TIMEOUT};

async fn add(client: &Client, topic: &Value, name: &str, fields: &[(&str, &str)]) -> Value {
    let path = format!("/assignments/{}/attachments", id(topic));
    client
        .upload(&path, name, format!("bytes of {name}").into_bytes(), fields)
        .await
        .expect(201)
}

fn download(file: &Value) -> String {
    file["url"].as_str().unwrap().strip_prefix("/api").unwrap().to_owned()
}

/// Waits until `count` text files are stored.
async fn wait_for_stored_files(app: &TestApp, count: usize) {
    let folder = app.folder().join("files");
    let begun = Instant::now();
    while stored_files(&folder) != count {
        let elapsed = begun.elapsed();
        assert!(
            elapsed < WAIT_TIMEOUT,
            "{} files are kept, not {count}",
            stored_files(&folder)
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn stored_files(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return 0;
    };
    let count = |path: PathBuf| {
        if path.is_dir() {
            stored_files(&path)
        } else {
            usize::from(path.extension() == Some("txt".as_ref()))
        }
    };
    entries.map(|entry| count(entry.unwrap().path())).sum()
}

tenants!(attachment_is_visible_to_all_groups_or_to_one, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let lakes = group(&ada, class, &[&app.world.cem], json!({})).await;
    let hidden = group(&ada, class, &[&app.world.dana], json!({"startDate": LATER})).await;
    let made = topic(
        &ada,
        class,
        json!({"isShared": false, "groupIds": [rivers, lakes, hidden]}),
    )
    .await;
    let path = format!("/assignments/{}", id(&made));
    let shared = add(&ada, &made, "map.txt", &[]).await;
    let own = add(
        &ada,
        &made,
        "rivers.txt",
        &[("groupAssignmentId", &id(link(&made, &rivers)))],
    )
    .await;
    let others = add(
        &ada,
        &made,
        "lakes.txt",
        &[("groupAssignmentId", &id(link(&made, &lakes)))],
    )
    .await;
    assert_eq!(
        (&shared["groupAssignmentId"], &shared["fileName"]),
        (&json!(null), &json!("map.txt"))
    );
    assert_eq!(
        (&shared["mimeType"], &shared["size"]),
        (&json!("text/plain; charset=utf-8"), &json!(16))
    );
    assert_eq!(
        (&shared["uploadedById"], &shared["isEffective"]),
        (&json!(app.world.ada.id), &json!(true))
    );
    assert!(shared.get("storedName").is_none() && shared.get("sha256").is_none());

    let all = [id(&shared), id(&own), id(&others)];
    assert_eq!(ids(&ada.get(&format!("{path}/attachments")).await.expect(200)), all);
    let seen = ada.get(&path).await.expect(200);
    assert_eq!(ids(&seen["attachments"]), all);
    assert_eq!(
        ids(&link(&seen, &rivers)["effectiveAttachments"]),
        [id(&shared), id(&own)]
    );
    assert_eq!(ids(&link(&seen, &hidden)["effectiveAttachments"]), [id(&shared)]);

    let ben = app.as_(&app.world.ben);
    let bens = ben.get(&format!("{path}/attachments")).await.expect(200);
    assert_eq!(ids(&bens), [id(&shared), id(&own)]);
    assert!(bens[0].get("isEffective").is_none());
    let listed = ben.get("/assignments").await.expect(200);
    assert_eq!(ids(&listed[0]["attachments"]), [id(&shared), id(&own)]);
    let detail = ben.get(&path).await.expect(200);
    assert_eq!(
        ids(&detail["groupAssignments"][0]["effectiveAttachments"]),
        [id(&shared), id(&own)]
    );
    let bytes = ben.get(&download(&own)).await;
    assert_eq!(
        (bytes.status, bytes.bytes.as_slice()),
        (200, &b"bytes of rivers.txt"[..])
    );
    assert!(
        bytes
            .header("content-disposition")
            .starts_with("attachment; filename=\"rivers.txt\"")
    );
    ben.get(&download(&others)).await.refused(404, "NOT_FOUND");
    for person in [
        &app.world.dana,
        &app.world.eli,
        &app.world.finn,
        &app.world.tom,
        &app.world.zoe,
        &app.world.zack,
    ] {
        app.as_(person).get(&download(&shared)).await.refused(404, "NOT_FOUND");
        app.as_(person)
            .get(&format!("{path}/attachments"))
            .await
            .refused(404, "NOT_FOUND");
    }
    let swapped = download(&shared).replace(&id(&made), &id(&topic(&ada, class, json!({})).await));
    ada.get(&swapped).await.refused(404, "NOT_FOUND");
});

both!(files_of_group_are_hidden_while_topic_is_shared, |app| {
    let (ada, ben, class) = (app.as_(&app.world.ada), app.as_(&app.world.ben), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let made = topic(&ada, class, json!({"isShared": false, "groupIds": [rivers]})).await;
    let path = format!("/assignments/{}", id(&made));
    add(&ada, &made, "map.txt", &[]).await;
    let own = add(
        &ada,
        &made,
        "rivers.txt",
        &[("groupAssignmentId", &id(link(&made, &rivers)))],
    )
    .await;
    let rows = "SELECT id || file_key || COALESCE(group_assignment_id, '-') || sha256 || created_at FROM assignment_attachments ORDER BY id";
    let before = texts(&app.database, rows.to_owned()).await;

    ada.patch(&path, json!({"isShared": true})).await.expect(200);
    ben.get(&download(&own)).await.refused(404, "NOT_FOUND");
    let seen = ada.get(&path).await.expect(200);
    assert_eq!(
        (
            &seen["attachments"][0]["isEffective"],
            &seen["attachments"][1]["isEffective"]
        ),
        (&json!(true), &json!(false))
    );
    assert_eq!(
        link(&seen, &rivers)["effectiveAttachments"].as_array().unwrap().len(),
        1
    );
    assert_eq!(ada.get(&download(&own)).await.status, 200, "staff still reach it");
    let added = add(
        &ada,
        &made,
        "more.txt",
        &[("groupAssignmentId", &id(link(&made, &rivers)))],
    )
    .await;
    assert_eq!(added["isEffective"], false);
    ada.delete(&format!("{path}/attachments/{}", id(&added)))
        .await
        .expect(200);

    ada.patch(&path, json!({"isShared": false})).await.expect(200);
    assert_eq!(ben.get(&download(&own)).await.bytes, b"bytes of rivers.txt");
    assert_eq!(texts(&app.database, rows.to_owned()).await, before);
});

both!(invalid_attachments_are_rejected_and_not_stored, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let made = topic(&ada, class, json!({"groupIds": [rivers]})).await;
    let other = topic(&ada, class, json!({"groupIds": [rivers]})).await;
    let path = format!("/assignments/{}/attachments", id(&made));
    for number in 0..19 {
        add(&ada, &made, &format!("{number}.txt"), &[]).await;
    }
    let before = fingerprints(&app.database).await;
    let send = async |client: &Client, name: &str, fields: &[(&str, &str)]| {
        client.upload(&path, name, b"text".to_vec(), fields).await
    };
    let elsewhere = id(link(&other, &rivers));
    send(&ada, "a.txt", &[("groupAssignmentId", &elsewhere)])
        .await
        .refused(404, "NOT_FOUND");
    send(&ada, "a.txt", &[("groupAssignmentId", "none")])
        .await
        .refused(404, "NOT_FOUND");
    send(&ada, "a.txt", &[("groupId", &rivers)]).await.invalid("groupId");
    send(&ada, "a.html", &[]).await.refused(415, "UNSUPPORTED_FILE_TYPE");
    ada.post(&path, json!({})).await.refused(415, "UNSUPPORTED_MEDIA_TYPE");
    let own = id(link(&made, &rivers));
    ada.upload(
        &format!("{path}?staged=1"),
        "a.txt",
        b"text".to_vec(),
        &[("groupAssignmentId", &own)],
    )
    .await
    .invalid("groupAssignmentId");
    send(&app.as_(&app.world.ben), "a.txt", &[])
        .await
        .refused(403, "FORBIDDEN_ROLE");
    send(&app.as_(&app.world.tom), "a.txt", &[])
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    send(&app.as_(&app.world.zoe), "a.txt", &[])
        .await
        .refused(404, "NOT_FOUND");
    assert_eq!(fingerprints(&app.database).await, before);
    wait_for_stored_files(app, 19).await;

    let last = add(&ada, &made, "last.txt", &[("groupAssignmentId", &own)]).await;
    send(&ada, "a.txt", &[]).await.refused(409, "LIMIT_REACHED");
    let gone = format!("{path}/{}", id(&last));
    app.as_(&app.world.ben)
        .delete(&gone)
        .await
        .refused(403, "FORBIDDEN_ROLE");
    app.as_(&app.world.tom)
        .delete(&gone)
        .await
        .refused(403, "NOT_CLASS_TEACHER");
    app.as_(&app.world.zoe).delete(&gone).await.refused(404, "NOT_FOUND");
    ada.delete(&format!("/assignments/{}/attachments/{}", id(&other), id(&last)))
        .await
        .refused(404, "NOT_FOUND");
    assert_eq!(ada.delete(&gone).await.expect(200), json!({"success": true}));
    ada.delete(&gone).await.refused(404, "NOT_FOUND");
    wait_for_stored_files(app, 19).await;
    mark_finished(app, &id(&made)).await;
    send(&ada, "a.txt", &[]).await.refused(409, "ASSIGNMENT_FINISHED");
    let first = ids(&ada.get(&path).await.expect(200))[0].clone();
    ada.delete(&format!("{path}/{first}"))
        .await
        .refused(409, "ASSIGNMENT_FINISHED");
});

both!(staged_file_is_attached_by_bulk_edit, |app| {
    let (ada, ben, class) = (app.as_(&app.world.ada), app.as_(&app.world.ben), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let made = topic(&ada, class, json!({"isShared": false, "groupIds": [rivers]})).await;
    let other = topic(&ada, class, json!({"title": "Other"})).await;
    let path = format!("/assignments/{}", id(&made));
    let stage = async |topic: &Value, name: &str| {
        let path = format!("/assignments/{}/attachments?staged=1", id(topic));
        ada.upload(&path, name, name.as_bytes().to_vec(), &[]).await.expect(201)
    };
    let old = add(&ada, &made, "old.txt", &[]).await;
    let own = add(
        &ada,
        &made,
        "own.txt",
        &[("groupAssignmentId", &id(link(&made, &rivers)))],
    )
    .await;
    let (staged, elsewhere) = (stage(&made, "new.txt").await, stage(&other, "other.txt").await);
    assert_eq!(staged["isEffective"], false);
    ben.get(&download(&staged)).await.refused(404, "NOT_FOUND");
    for client in [&ada, &ben] {
        assert_eq!(
            ids(&client.get(&format!("{path}/attachments")).await.expect(200)),
            [id(&old), id(&own)]
        );
    }
    let before = fingerprints(&app.database).await;
    let edit = json!({"addAttachmentIds": [id(&staged)], "removeAttachmentIds": [id(&old)]});
    let preview = ada
        .patch(&format!("{path}/bulk?dryRun=1"), edit.clone())
        .await
        .expect(200);
    let named = |file: &Value| json!([{"id": file["id"], "fileName": file["fileName"]}]);
    assert_eq!(
        preview["changes"],
        json!({"attachments": {"from": named(&old), "to": named(&staged)}})
    );
    for (key, file) in [
        ("addAttachmentIds", &elsewhere),
        ("addAttachmentIds", &old),
        ("addAttachmentIds", &own),
        ("removeAttachmentIds", &own),
        ("removeAttachmentIds", &staged),
        ("removeAttachmentIds", &elsewhere),
    ] {
        ada.patch(&format!("{path}/bulk"), json!({"title": "T", key: [id(file)]}))
            .await
            .refused(404, "NOT_FOUND");
    }
    ada.patch(
        &format!("{path}/bulk"),
        json!({"addAttachmentIds": [id(&staged), id(&staged)]}),
    )
    .await
    .invalid("addAttachmentIds");
    assert_eq!(fingerprints(&app.database).await, before);

    let done = ada.patch(&format!("{path}/bulk"), edit).await.expect(200);
    assert_eq!(done["updated"], json!({"attachments": named(&staged)}));
    assert_eq!(
        ids(&ben.get(&format!("{path}/attachments")).await.expect(200)),
        [id(&own), id(&staged)]
    );
    assert_eq!(ben.get(&download(&staged)).await.bytes, b"new.txt");
    ben.get(&download(&old)).await.refused(404, "NOT_FOUND");
    wait_for_stored_files(app, 3).await;

    execute(
        &app.database,
        format!(
            "UPDATE assignment_attachments SET staged_at = 1 WHERE id = '{}'",
            id(&elsewhere)
        ),
    )
    .await;
    wait_for_stored_files(app, 2).await;
    ada.get(&download(&elsewhere)).await.refused(404, "NOT_FOUND");
});

both!(files_are_deleted_with_their_link_or_topic, |app| {
    let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
    let rivers = group(&ada, class, &[&app.world.ben], json!({})).await;
    let made = topic(&ada, class, json!({"isShared": false, "groupIds": [rivers]})).await;
    let path = format!("/assignments/{}", id(&made));
    let shared = add(&ada, &made, "map.txt", &[]).await;
    add(
        &ada,
        &made,
        "rivers.txt",
        &[("groupAssignmentId", &id(link(&made, &rivers)))],
    )
    .await;
    wait_for_stored_files(app, 2).await;
    ada.delete(&format!("{path}/groups/{rivers}")).await.expect(200);
    assert_eq!(
        ids(&ada.get(&format!("{path}/attachments")).await.expect(200)),
        [id(&shared)]
    );
    ada.delete(&path).await.expect(200);
    let rows = texts(&app.database, "SELECT id FROM assignment_attachments".to_owned()).await;
    assert_eq!(rows, Vec::<Option<String>>::new());
});
