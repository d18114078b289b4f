//! Every download route has the same headers and behaviour: whole files, ranges, unchanged files, missing files, and
//! never shown inline. The table is compared with the description of all routes, so a new route must be added to it.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::Method;
use serde_json::{Value, json};

use crate::object_store::eventually;
use test_support::document_server_fixture::{DocumentServerFixture, path};
use test_support::topics::id;
use test_support::{Answer, Client};

/// Headers of every download.
const SAFE: [(&str, &str); 4] = [
    ("accept-ranges", "bytes"),
    ("cache-control", "no-store"),
    ("content-security-policy", "sandbox"),
    ("x-content-type-options", "nosniff"),
];

pub async fn check_download(client: &Client, path: &str) {
    let whole = client.get(path).await;
    assert_eq!(whole.status, 200, "{path}: {}", String::from_utf8_lossy(&whole.bytes));
    let (size, tag) = (whole.bytes.len(), whole.header("etag").to_owned());
    assert!(size > 4 && tag.len() == 66, "{path}: {size} {tag}");
    let is_safe = |answer: &Answer| {
        for (name, value) in SAFE {
            assert_eq!(answer.header(name), value, "{path}: {name}");
        }
        let disposition = answer.header("content-disposition");
        assert!(
            disposition.starts_with("attachment; filename=\""),
            "{path}: {disposition}"
        );
        let kind = answer.header("content-type");
        assert!(
            !kind.is_empty() && !kind.contains("html") && !kind.contains("svg"),
            "{path}: {kind}"
        );
        assert_eq!(answer.header("etag"), tag, "{path}");
    };
    is_safe(&whole);
    assert_eq!(whole.header("content-length"), size.to_string(), "{path}");

    let head = client.send(Method::HEAD, path, None).await;
    assert_eq!((head.status, head.bytes.len()), (200, 0), "{path}");
    is_safe(&head);
    assert_eq!(head.header("content-length"), size.to_string(), "{path}");

    for (range, expected) in [("bytes=1-3", 1..4), ("bytes=2-", 2..size), ("bytes=-2", size - 2..size)] {
        let part = client.with("range", range).get(path).await;
        assert_eq!(
            (part.status, &part.bytes[..]),
            (206, &whole.bytes[expected.clone()]),
            "{path} {range}"
        );
        let context = format!("bytes {}-{}/{size}", expected.start, expected.end - 1);
        assert_eq!(part.header("content-range"), context, "{path} {range}");
        is_safe(&part);
    }
    for ignored in ["bytes=0-0,2-3", "pages=1-2"] {
        let answer = client.with("range", ignored).get(path).await;
        assert_eq!((answer.status, answer.bytes.len()), (200, size), "{path} {ignored}");
    }
    let other = client
        .with("range", "bytes=1-3")
        .with("if-range", "\"other\"")
        .get(path)
        .await;
    assert_eq!((other.status, other.bytes.len()), (200, size), "{path}");
    let beyond = client.with("range", &format!("bytes={size}-")).get(path).await;
    assert_eq!(beyond.header("content-range"), format!("bytes */{size}"), "{path}");
    beyond.refused(416, "RANGE_NOT_SATISFIABLE");
    for known in [tag.clone(), format!("W/{tag}"), "*".to_owned()] {
        let same = client.with("if-none-match", &known).get(path).await;
        assert_eq!((same.status, same.bytes.len()), (304, 0), "{path}");
        assert_eq!(same.header("etag"), tag, "{path}");
    }
    let changed = client.with("if-none-match", "\"other\"").get(path).await;
    assert_eq!(changed.status, 200, "{path}");
}

/// Returns the URL of a file in a list.
fn address(file: &Value) -> String {
    file["url"].as_str().unwrap().strip_prefix("/api").unwrap().to_owned()
}

/// Deletes a document that has an open editor. Its text is kept for one day.
async fn late_text(fixture: &DocumentServerFixture) -> String {
    let (world, ada) = (&fixture.app.world, fixture.app.as_(&fixture.app.world.ada));
    let document = fixture.document("Deleted").await;
    let editor = fixture.open(&world.ben, &document).await;
    editor.type_text("Typed before the deletion.").await.unwrap();
    ada.delete(&path(&document, "")).await.expect(200);
    drop(editor.close().await);
    let kept = async || ada.get("/workrooms/late-texts").await.expect(200);
    eventually(async || kept().await.as_array().unwrap().len() == 1).await;
    format!("/workrooms/late-texts/{}/download", id(&kept().await[0]))
}

with_document_server!(every_download_route_has_same_headers_and_ranges, |fixture| {
    let (app, world) = (&fixture.app, &fixture.app.world);
    let (ada, ben) = (app.as_(&world.ada), app.as_(&world.ben));
    let document = fixture.document("Our page").await;
    fixture.write(&world.ben, &document, "Written.").await;
    let submitted = fixture.submit(&world.ben, &document).await.expect(200);
    let copy = format!(
        "/feedback/submissions/{}/documents/{document}",
        submitted["submission"]["id"].as_str().unwrap()
    );
    let upload = async |client: &Client, route: String| {
        let bytes = b"bytes of a file".to_vec();
        client.upload(&route, "a.txt", bytes, &[]).await.expect(201)
    };
    let shared = upload(&ada, format!("/assignments/{}/attachments", fixture.topic)).await;
    let of_group = upload(&ada, format!("/groups/{}/attachments", fixture.group)).await;
    let of_grade = upload(
        &ada,
        format!("/feedback/submissions/{}/files", id(&submitted["submission"])),
    )
    .await;
    let of_chat = upload(&ben, format!("/workrooms/{}/messages/attachments", fixture.room)).await;
    let adam = app.as_(&world.adam);
    let export = adam
        .post("/admin/gdpr/export", json!({"userId": world.ben.id}))
        .await
        .expect(202);
    let job = format!("/admin/gdpr/jobs/{}", id(&export));
    eventually(async || adam.get(&job).await.expect(200)["status"] == "DONE").await;

    let late_text = late_text(fixture).await;

    let routes: BTreeMap<&str, (&Client, String)> = BTreeMap::from([
        (
            "/workrooms/documents/{id}/download",
            (&ada, path(&document, "/download")),
        ),
        ("/workrooms/documents/{id}/pdf", (&ada, path(&document, "/pdf"))),
        (
            "/workrooms/documents/{id}/versions/{version}/download",
            (&ada, path(&document, "/versions/1/download")),
        ),
        (
            "/feedback/submissions/{id}/documents/{documentId}/download",
            (&ada, format!("{copy}/download")),
        ),
        (
            "/feedback/submissions/{id}/documents/{documentId}/pdf",
            (&ada, format!("{copy}/pdf")),
        ),
        (
            "/assignments/{id}/attachments/{attachmentId}/download",
            (&ben, address(&shared)),
        ),
        (
            "/groups/{id}/attachments/{attachmentId}/download",
            (&ben, address(&of_group)),
        ),
        (
            "/feedback/submissions/{id}/files/{fileId}/download",
            (&ada, address(&of_grade)),
        ),
        (
            "/workrooms/{id}/messages/attachments/{attachmentId}/download",
            (&ben, address(&of_chat)),
        ),
        ("/workrooms/late-texts/{id}/download", (&ada, late_text)),
        ("/admin/gdpr/jobs/{id}/download", (&adam, format!("{job}/download"))),
    ]);
    for (client, route) in routes.values() {
        check_download(client, route).await;
    }

    let described = app.stranger().get("/openapi.json").await.expect(200);
    let all: BTreeSet<&str> = described["paths"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, item)| item.get("get").is_some())
        .map(|(path, _)| path.strip_prefix("/api").unwrap_or(path))
        .filter(|path| path.ends_with("/download") || path.ends_with("/pdf"))
        .collect();
    let walked: BTreeSet<&str> = routes.keys().copied().collect();
    let missing: Vec<_> = all.difference(&walked).collect();
    assert_eq!(missing, Vec::<&&str>::new(), "doors nobody walked through");
});
