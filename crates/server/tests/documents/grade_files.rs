//! Files of grades: drafts are invisible to the group, limits, quota, archive, and removal of the bytes.

use std::io::Cursor;

use serde_json::{Value, json};

use crate::object_store::eventually;
use test_support::document_server_fixture::{DocumentServerFixture, path};
use test_support::rows::texts;
use test_support::topics::id;

async fn submitted(fixture: &DocumentServerFixture) -> String {
    let document = fixture.document("Our page").await;
    let body = json!({"assignmentId": fixture.topic});
    let ben = fixture.app.as_(&fixture.app.world.ben);
    id(&ben.post(&path(&document, "/submit"), body).await.expect(200)["submission"])
}

with_document_server!(group_downloads_files_of_a_grade_once_it_is_published, |fixture| {
    let app = &fixture.app;
    let world = &app.world;
    let (ada, ben) = (app.as_(&world.ada), app.as_(&world.ben));
    let submission = submitted(fixture).await;
    let route = format!("/feedback/submissions/{submission}/files");
    let upload = async |name: &str, bytes: &[u8]| ada.upload(&route, name, bytes.to_vec(), &[]).await;
    ben.upload(&route, "a.txt", b"a".to_vec(), &[])
        .await
        .refused(403, "FORBIDDEN_ROLE");
    for stranger in [&world.tom, &world.zoe] {
        let client = app.as_(stranger);
        client
            .upload(&route, "a.txt", b"a".to_vec(), &[])
            .await
            .refused(404, "NOT_FOUND");
    }
    upload("page.html", b"<p>").await.refused(415, "UNSUPPORTED_FILE_TYPE");
    let file = upload("FILEMARK remarks.txt", b"Well drawn.").await.expect(201);
    let url = file["url"].as_str().unwrap().strip_prefix("/api").unwrap().to_owned();
    assert_eq!(ada.get(&url).await.bytes, b"Well drawn.");

    // A draft: the group finds nothing of it.
    let shown = format!("/feedback/submissions/{submission}");
    let grade = ada.get(&shown).await.expect(200)["grade"].clone();
    assert_eq!(
        (&grade["status"], &grade["files"][0]["id"]),
        (&json!("DRAFT"), &file["id"])
    );
    ben.get(&url).await.refused(404, "NOT_FOUND");
    for route in [
        &shown,
        "/groups",
        &format!("/groups/{}", fixture.group),
        &format!("/assignments/{}", fixture.topic),
    ] {
        let answer = ben.get(route).await;
        let text = String::from_utf8_lossy(&answer.bytes).into_owned();
        assert!(answer.status == 200 && !text.contains("FILEMARK"), "{route}: {text}");
    }
    let publish = format!("/feedback/assignments/{}/publish-grades", fixture.topic);
    let published = ada.post(&publish, json!({})).await.expect(200);
    assert_eq!(published["published"], 1, "a grade with a file is not empty");
    assert_eq!(ben.get(&shown).await.expect(200)["grade"]["files"][0]["id"], file["id"]);
    assert_eq!(ben.get(&url).await.bytes, b"Well drawn.");
    for stranger in [&world.dana, &world.tom, &world.zoe, &world.zara] {
        app.as_(stranger).get(&url).await.refused(404, "NOT_FOUND");
    }
    ada.put(&format!("{shown}/grade"), json!({"publish": false}))
        .await
        .expect(200);
    ben.get(&url).await.refused(404, "NOT_FOUND");

    // Five at most.
    for number in 2..=5 {
        upload(&format!("{number}.txt"), b"more").await.expect(201);
    }
    upload("6.txt", b"more").await.refused(409, "LIMIT_REACHED");
    let removed = url.strip_suffix("/download").unwrap();
    ben.delete(removed).await.refused(403, "FORBIDDEN_ROLE");
    ada.delete(&format!("{removed}?dryRun=1")).await.expect(200);
    let files = app.stored_files().len();
    ada.delete(removed).await.expect(200);
    ada.get(&url).await.refused(404, "NOT_FOUND");
    eventually(async || app.stored_files().len() == files - 1).await;
    let log = ada.get("/activity-logs?category=SUBMISSION").await.expect(200);
    assert!(log["data"][0]["details"]["removed"]["fileName"].is_string(), "{log}");
});

with_document_server!(
    files_of_a_grade_are_archived_counted_and_deleted_with_the_submission,
    |fixture| {
        let app = &fixture.app;
        let world = &app.world;
        let ada = app.as_(&world.ada);
        let submission = submitted(fixture).await;
        let route = format!("/feedback/submissions/{submission}/files");
        for content in ["first", "second"] {
            ada.upload(&route, "remarks.txt", content.as_bytes().to_vec(), &[])
                .await
                .expect(201);
        }
        for source in ["submission", "current"] {
            let archive = format!("/assignments/{}/export.zip?source={source}", fixture.topic);
            let bytes = ada.get(&archive).await.bytes;
            let archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
            let names: Vec<String> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
            let names: Vec<&String> = names.iter().filter(|name| name.contains("/feedback/")).collect();
            assert!(
                names.len() == 2 && names.iter().all(|name| name.contains("remarks")),
                "{source}: {names:?}"
            );
        }
        let root = app.as_(&world.root);
        let tenant = format!("/tenants/{}", world.north);
        root.patch(&tenant, json!({"storageQuota": 10})).await.expect(200);
        ada.upload(&route, "more.txt", b"more than fits".to_vec(), &[])
            .await
            .refused(507, "QUOTA_EXCEEDED");
        root.patch(&tenant, json!({"storageQuota": Value::Null}))
            .await
            .expect(200);
        let rows = || texts(&app.database, "SELECT id FROM grade_files".to_owned());
        assert_eq!(rows().await.len(), 2);
        let files = app.stored_files().len();
        ada.delete(&format!("/assignments/{}", fixture.topic)).await.expect(200);
        assert_eq!(rows().await.len(), 0);
        eventually(async || app.stored_files().len() + 2 <= files).await;
    }
);
