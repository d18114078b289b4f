//! Storage quotas of schools and groups: uploads beyond the quota are rejected, also concurrent ones; deleted files
//! free space; saves by the document server are never rejected.

use serde_json::{Value, json};

use crate::object_store::eventually;
use test_support::document_server_fixture::path;
use test_support::rows::execute;
use test_support::topics::{group, id};
use test_support::{Answer, Client, TestApp};

async fn limit(app: &TestApp, limits: Value) -> Value {
    let root = app.as_(&app.world.root);
    let tenant = format!("/tenants/{}", app.world.north);
    root.patch(&tenant, limits).await.expect(200)
}

async fn storage(app: &TestApp) -> Value {
    app.as_(&app.world.adam).get("/admin/storage").await.expect(200)
}

async fn upload(client: &Client, path: &str, size: usize) -> Answer {
    client.upload(path, "a.txt", vec![b'x'; size], &[]).await
}

both!(super_admin_sets_storage_quotas_of_school, |app| {
    let world = &app.world;
    let plain = storage(app).await;
    let shown =
        |storage: &Value| ["usedBytes", "quotaBytes", "groupQuotaBytes"].map(|field| storage[field].as_i64().unwrap());
    assert_eq!(shown(&plain), [0, 200 << 30, 2 << 30]);
    let limited = limit(app, json!({"storageQuota": 1000, "groupStorageQuota": 500})).await;
    assert_eq!(
        (&limited["storageQuota"], &limited["groupStorageQuota"]),
        (&json!(1000), &json!(500))
    );
    assert_eq!(shown(&storage(app).await), [0, 1000, 500]);
    let south = app.as_(&world.zara).get("/admin/storage").await.expect(200);
    assert_eq!(south["quotaBytes"], json!(200_i64 << 30));

    // The school can read its quota and cannot change it.
    let adam = app.as_(&world.adam);
    assert_eq!(adam.get("/admin/settings").await.expect(200)["storageQuota"], 1000);
    let same = adam.patch("/admin/settings", json!({"storageQuota": 5000})).await;
    assert_eq!(same.expect(200)["storageQuota"], 1000, "read-only fields are ignored");
    let root = app.as_(&world.root);
    let tenant = format!("/tenants/{}", world.north);
    for wrong in [json!(-1), json!("1"), json!(1.5), json!(i64::MAX)] {
        root.patch(&tenant, json!({"storageQuota": wrong}))
            .await
            .invalid("storageQuota");
    }
    limit(app, json!({"storageQuota": null, "groupStorageQuota": null})).await;
    assert_eq!(shown(&storage(app).await), [0, 200 << 30, 2 << 30]);
});

both!(every_upload_route_checks_quota_and_deletion_frees_it, |app| {
    let (world, ada) = (&app.world, app.as_(&app.world.ada));
    let room = app.room(&world.seven_b, &[&world.ben]).await;
    let ben = app.as_(&world.ben);
    let topic = test_support::topics::topic(&ada, &world.seven_b, json!({"groupIds": [room.group]})).await;
    let documents = format!("/workrooms/{}/documents", room.id);
    limit(app, json!({"storageQuota": 1000})).await;
    let first = upload(&ben, &documents, 600).await.expect(201);
    assert_eq!(storage(app).await["usedBytes"], 600);
    let routes = [
        (&ben, documents.clone()),
        (&ben, format!("/workrooms/{}/messages/attachments", room.id)),
        (&ada, format!("/groups/{}/attachments", room.group)),
        (&ada, format!("/assignments/{}/attachments", id(&topic))),
    ];
    let kept = app.stored_files();
    for (client, route) in &routes {
        upload(client, route, 401).await.refused(507, "QUOTA_EXCEEDED");
    }
    let content = path(&id(&first), "/content");
    let replace = async |size: usize| {
        let part = reqwest::multipart::Part::bytes(vec![b'y'; size]).file_name("a.txt");
        let form = reqwest::multipart::Form::new().part("file", part);
        ben.finish(ben.request(reqwest::Method::PUT, &content).multipart(form))
            .await
    };
    replace(401).await.refused(507, "QUOTA_EXCEEDED");
    let restore = path(&id(&first), "/versions/1/restore");
    ben.send(reqwest::Method::POST, &restore, None)
        .await
        .refused(507, "QUOTA_EXCEEDED");
    let files = format!("/assignments/{}/attachments", id(&topic));
    let sheet = test_support::office::docx("Fill me in");
    limit(app, json!({"storageQuota": 600 + sheet.len()})).await;
    let sheet = ada.upload(&files, "Sheet.docx", sheet, &[]).await.expect(201);
    let template = json!({"templateAttachmentId": sheet["id"]});
    let handing_out = format!("/assignments/{}/handouts", id(&topic));
    ada.post(&handing_out, template).await.refused(507, "QUOTA_EXCEEDED");
    ada.delete(&format!("{files}/{}", id(&sheet))).await.expect(200);
    limit(app, json!({"storageQuota": 1000})).await;
    eventually(async || app.stored_files() == kept).await;
    replace(100).await.expect(200);
    upload(&ada, &routes[2].1, 100).await.expect(201);
    upload(&ada, &routes[3].1, 100).await.expect(201);
    upload(&ben, &routes[1].1, 100).await.expect(201);
    assert_eq!(storage(app).await["usedBytes"], 1000, "the last byte fits");
    upload(&ben, &documents, 1).await.refused(507, "QUOTA_EXCEEDED");
    // A form whose announced size is too large is rejected before its bytes arrive.
    let large = ben.request(reqwest::Method::POST, &documents);
    let large = large
        .header("content-type", "multipart/form-data; boundary=x")
        .header("content-length", "10000000")
        .header("expect", "100-continue")
        .body(reqwest::Body::wrap_stream(futures_util::stream::pending::<
            Result<Vec<u8>, std::io::Error>,
        >()));
    ben.finish(large).await.refused(507, "QUOTA_EXCEEDED");

    ben.delete(&path(&id(&first), "")).await.expect(200);
    upload(&ben, &documents, 700).await.expect(201);
    upload(&ben, &documents, 1).await.refused(507, "QUOTA_EXCEEDED");
    assert_eq!(storage(app).await["usedBytes"], 1000);
    // The other school has its own quota.
    let south = app.as_(&world.zara).get("/admin/storage").await.expect(200);
    assert_eq!(south["usedBytes"], 0);
});

both!(concurrent_uploads_never_exceed_the_quota, |app| {
    let (world, ada) = (&app.world, app.as_(&app.world.ada));
    let mut routes = Vec::new();
    for person in [&world.ben, &world.cem, &world.dana, &world.eli] {
        let group = group(&ada, &world.seven_b, &[person], json!({})).await;
        let room = ada.get(&format!("/groups/{group}")).await.expect(200)["workRoomId"].clone();
        routes.push((
            app.as_(person),
            format!("/workrooms/{}/documents", room.as_str().unwrap()),
        ));
    }
    upload(&routes[0].0, &routes[0].1, 50).await.expect(201);
    for round in 1..=5 {
        limit(app, json!({"storageQuota": 50 + round * 100 + 99})).await;
        let racing: Vec<_> = (0..8)
            .map(|number| {
                let (client, route) = routes[number % 4].clone();
                tokio::spawn(async move { upload(&client, &route, 100).await.status })
            })
            .collect();
        let mut answers = Vec::new();
        for answer in racing {
            answers.push(answer.await.unwrap());
        }
        answers.sort_unstable();
        assert_eq!(answers, [201, 507, 507, 507, 507, 507, 507, 507], "round {round}");
        assert_eq!(storage(app).await["usedBytes"], 50 + round * 100);
        assert_eq!(app.stored_files().len(), 1 + usize::try_from(round).unwrap());
    }
    // The usage counted from the rows is the same.
    let stale = "UPDATE storage_usages SET counted_at = 0";
    execute(&app.database, stale.to_owned()).await;
    upload(&routes[0].0, &routes[0].1, 100)
        .await
        .refused(507, "QUOTA_EXCEEDED");
    let counted = storage(app).await;
    assert_eq!(
        (&counted["usedBytes"], &counted["totalBytes"]),
        (&json!(550), &json!(550))
    );
});

both!(group_quota_limits_files_of_one_group, |app| {
    let (world, ada) = (&app.world, app.as_(&app.world.ada));
    let room = app.room(&world.seven_b, &[&world.ben, &world.cem]).await;
    let other = app.room(&world.seven_b, &[&world.dana]).await;
    let (ben, cem, dana) = (app.as_(&world.ben), app.as_(&world.cem), app.as_(&world.dana));
    let documents = format!("/workrooms/{}/documents", room.id);
    let chat = format!("/workrooms/{}/messages/attachments", room.id);
    let files = format!("/groups/{}/attachments", room.group);
    limit(app, json!({"groupStorageQuota": 300})).await;
    upload(&ben, &documents, 100).await.expect(201);
    upload(&cem, &chat, 100).await.expect(201);
    upload(&ada, &files, 51).await.expect(201);
    for (client, route) in [(&ben, &documents), (&cem, &chat), (&ada, &files)] {
        upload(client, route, 50).await.refused(507, "QUOTA_EXCEEDED");
    }
    assert_eq!(storage(app).await["usedBytes"], 251, "what was refused is not counted");
    upload(&dana, &format!("/workrooms/{}/documents", other.id), 300)
        .await
        .expect(201);
    let racing = [(ben.clone(), documents), (cem.clone(), chat)]
        .map(|(client, route)| tokio::spawn(async move { upload(&client, &route, 49).await.status }));
    let [first, second] = racing;
    let mut answers = [first.await.unwrap(), second.await.unwrap()];
    answers.sort_unstable();
    assert_eq!(answers, [201, 507], "the last bytes of a group go to one, too");
});

with_document_server!(save_is_stored_and_counted_beyond_the_quota, |fixture| {
    let app = &fixture.app;
    let document = fixture.document("Our page").await;
    limit(app, json!({"storageQuota": 0, "groupStorageQuota": 0})).await;
    fixture
        .write(&app.world.ben, &document, "Nothing a student wrote is lost.")
        .await;
    assert!(
        fixture
            .text(&document)
            .await
            .contains("Nothing a student wrote is lost.")
    );
    let size = fixture.get_document(&document).await["size"].as_i64().unwrap();
    assert_eq!(storage(app).await["usedBytes"], size);
    fixture.submit(&app.world.ben, &document).await.expect(200);
    assert_eq!(
        storage(app).await["usedBytes"],
        2 * size,
        "the copy counts, and is not refused"
    );
    let room = format!("/workrooms/{}/documents", fixture.room);
    upload(&app.as_(&app.world.ben), &room, 1)
        .await
        .refused(507, "QUOTA_EXCEEDED");
});
