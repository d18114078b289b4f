//! Earlier versions of documents: stored revisions, restoring, templates, and what is deleted with them.

use serde_json::json;

use crate::documents::{id, list, path, put, room};
use test_support::office::{docx, docx_with};
use test_support::until;

both!(document_keeps_earlier_revisions, |app| {
    let room = room(app).await;
    let (ben, cem, ada) = (
        app.as_(&app.world.ben),
        app.as_(&app.world.cem),
        app.as_(&app.world.ada),
    );
    let made = ben
        .upload(&list(&room), "Plan.docx", docx("one"), &[])
        .await
        .expect(201);
    let document = path(&made);
    assert_eq!((&made["title"], &made["version"]), (&json!("Plan"), &json!(1)));
    assert_eq!(
        made["lastEditedByUser"],
        json!({"id": app.world.ben.id, "name": app.world.ben.name})
    );
    assert_eq!(app.generation(id(&made)).await, 1);

    let second = docx_with("two", &[("word/more.xml", b"<x/>")]);
    let replaced = put(&cem, &document, second.clone(), "any name.docx").await.expect(200);
    assert_eq!(
        (&replaced["version"], &replaced["size"]),
        (&json!(2), &json!(second.len()))
    );
    assert_eq!(replaced["lastEditedBy"], json!(app.world.cem.id));
    assert_eq!(app.generation(id(&made)).await, 2);
    put(&cem, &document, b"text".to_vec(), "a.txt")
        .await
        .refused(415, "UNSUPPORTED_FILE_TYPE");
    put(&cem, &document, b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec(), "a.png")
        .await
        .refused(415, "UNSUPPORTED_FILE_TYPE");

    let restored = ada
        .post(&format!("{document}/versions/1/restore"), json!({}))
        .await
        .expect(200);
    assert_eq!(
        (&restored["version"], &restored["lastEditedBy"]),
        (&json!(3), &json!(app.world.ada.id))
    );
    assert_eq!(app.generation(id(&made)).await, 3);
    assert_eq!(ben.get(&format!("{document}/download")).await.bytes, docx("one"));
    let old = ben.get(&format!("{document}/versions/2/download")).await;
    assert_eq!((old.status, old.bytes == second), (200, true));
    assert!(old.header("content-disposition").contains("Plan (version 2).docx"));

    let versions = ben.get(&format!("{document}/versions")).await.expect(200);
    let received: Vec<_> = versions
        .as_array()
        .unwrap()
        .iter()
        .map(|v| (v["version"].clone(), v["origin"].clone()))
        .collect();
    assert_eq!(
        received,
        [
            (json!(3), json!("RESTORE")),
            (json!(2), json!("UPLOAD")),
            (json!(1), json!("CREATE"))
        ]
    );
    assert_eq!(versions[0]["sha256"], versions[2]["sha256"]);
    assert_eq!(versions[1]["editors"], json!([app.world.cem.id]));

    // Content that arrived too late is visible to the staff only.
    app.insert_late_revision(id(&made), 2).await;
    assert_eq!(
        ben.get(&format!("{document}/versions"))
            .await
            .expect(200)
            .as_array()
            .unwrap()
            .len(),
        2
    );
    ben.get(&format!("{document}/versions/2/download"))
        .await
        .refused(404, "NOT_FOUND");
    ben.post(&format!("{document}/versions/2/restore"), json!({}))
        .await
        .refused(404, "NOT_FOUND");
    assert_eq!(
        ada.get(&format!("{document}/versions"))
            .await
            .expect(200)
            .as_array()
            .unwrap()
            .len(),
        3
    );
    assert_eq!(ada.get(&format!("{document}/versions/2/download")).await.status, 200);
    ben.post(&format!("{document}/versions/9/restore"), json!({}))
        .await
        .refused(404, "NOT_FOUND");
    assert_eq!(app.stored_files().len(), 3);
});

both!(draft_keeps_last_fifty_revisions_without_late_ones, |app| {
    let room = room(app).await;
    let ben = app.as_(&app.world.ben);
    let made = ben.upload(&list(&room), "a.txt", b"1".to_vec(), &[]).await.expect(201);
    put(&ben, &path(&made), b"2".to_vec(), "a.txt").await.expect(200);
    app.insert_late_revision(id(&made), 2).await;
    for number in 3..=53 {
        put(&ben, &path(&made), number.to_string().into_bytes(), "a.txt")
            .await
            .expect(200);
    }
    let ada = app.as_(&app.world.ada);
    let versions = ada.get(&format!("{}/versions", path(&made))).await.expect(200);
    let numbers: Vec<i64> = versions
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v["version"].as_i64().unwrap())
        .collect();
    let expected: Vec<i64> = (4..=53).rev().chain([2]).collect();
    assert_eq!(numbers, expected);
    until("51 files are left", async || app.stored_files().len() == 51).await;
});

tenants!(document_is_created_from_file_of_its_group, |app| {
    let room = room(app).await;
    let other = app.room(&app.world.seven_b, &[&app.world.dana]).await;
    let form = docx("fill me in");
    let template = app.group_file(&room, "Form.docx", &form).await;
    let picture = app.group_file(&room, "photo.png", b"x").await;
    let ben = app.as_(&app.world.ben);
    let new = |file: &str| json!({"title": "Mine", "templateAttachmentId": file});
    let made = ben.post(&list(&room), new(&template)).await.expect(201);
    assert_eq!((&made["fileExtension"], &made["version"]), (&json!("docx"), &json!(1)));
    assert_eq!(ben.get(&format!("{}/download", path(&made))).await.bytes, form);
    ben.post(&list(&room), new(&picture))
        .await
        .invalid("templateAttachmentId");
    let mut sheet = new(&template);
    sheet["documentType"] = json!("cell");
    ben.post(&list(&room), sheet).await.invalid("documentType");
    app.as_(&app.world.dana)
        .post(&list(&other), new(&template))
        .await
        .refused(404, "NOT_FOUND");

    // The copy is independent of its source.
    ben.delete(&path(&made)).await.expect(200);
    let again = ben.post(&list(&room), new(&template)).await.expect(201);
    assert_eq!(ben.get(&format!("{}/download", path(&again))).await.bytes, form);
});

both!(converted_pdf_is_deleted_with_its_document, |app| {
    let room = room(app).await;
    let ben = app.as_(&app.world.ben);
    let made = ben.upload(&list(&room), "a.docx", docx("a"), &[]).await.expect(201);
    app.insert_conversion(id(&made)).await;
    ben.delete(&path(&made)).await.expect(200);
    until("no file is left", async || {
        app.pending_removals().await == 0 && app.stored_files().is_empty()
    })
    .await;
});
