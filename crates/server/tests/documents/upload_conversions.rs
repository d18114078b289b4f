//! Uploads of older Office formats (.doc, .rtf, .xls, .ppt): converted by the document server, or rejected by name.

use document_server_simulator::{DownloadFault, Faults, Outage};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::documents::put;
use crate::downloads::check_download;
use crate::files::create_work_room;
use test_support::app::AUTH_SECRET;
use test_support::document_server_fixture::{DocumentServerFixture, eventually, path};
use test_support::fake_document_server::{seconds, sign, sign_as};
use test_support::legacy_office::{self, doc, ppt, rtf, xls};
use test_support::office::docx;
use test_support::rows::{execute, texts};
use test_support::{Answer, Client, DatabaseKind, TestApp};

/// Returns one file of each format, with the extension of its result and the type of its document.
fn files() -> [(&'static str, Vec<u8>, &'static str, &'static str); 4] {
    [
        ("report.doc", doc("Letters of Word."), "docx", "word"),
        ("Notes.RTF", rtf("Letters of RTF."), "docx", "word"),
        ("table.xls", xls("Letters of Excel."), "xlsx", "cell"),
        ("talk.ppt", ppt("Letters of PowerPoint."), "pptx", "slide"),
    ]
}

fn documents(fixture: &DocumentServerFixture) -> String {
    format!("/workrooms/{}/documents", fixture.room)
}

/// Returns the conversions requested from the document server. Each is requested repeatedly until it ends.
fn conversions(fixture: &DocumentServerFixture) -> Vec<Value> {
    let requests = fixture.server.requests().into_iter();
    let conversions = requests.filter(|heard| heard.what == "converter");
    let mut parameters: Vec<Value> = conversions.map(|heard| heard.parameters).collect();
    parameters.dedup_by(|one, other| one["key"] == other["key"]);
    parameters
}

/// Returns the stored files that are sources of conversions.
fn sources(fixture: &DocumentServerFixture) -> Vec<String> {
    let mut files = fixture.files();
    files.retain(|name| name.starts_with("source."));
    files
}

/// Waits until no file removal is pending and exactly `kept` files are stored.
async fn wait_for_stored_files(fixture: &DocumentServerFixture, kept: usize) {
    eventually(async || {
        let rows = texts(&fixture.app.database, "SELECT file_key FROM file_removals".to_owned()).await;
        rows.is_empty() && fixture.files().len() == kept
    })
    .await;
}

with_document_server!(legacy_upload_opens_as_document_of_the_new_type, |fixture| {
    let (world, ben) = (&fixture.app.world, fixture.app.as_(&fixture.app.world.ben));
    for (name, bytes, extension, kind) in files() {
        let made = ben.upload(&documents(fixture), name, bytes, &[]).await.expect(201);
        assert_eq!(
            (&made["fileExtension"], &made["documentType"]),
            (&json!(extension), &json!(kind))
        );
        assert_eq!(made["title"], json!(name.split('.').next().unwrap()));
        let id = made["id"].as_str().unwrap();
        let text = fixture.text(id).await;
        assert!(text.contains("Letters of "), "{name}: {text}");
        let config = fixture.configuration(&world.ben, id).await;
        assert_eq!(config["document"]["fileType"], json!(extension));
        fixture.write(&world.cem, id, "And more.").await;
        assert!(fixture.text(id).await.contains("And more."), "{name} is edited");
    }
    wait_for_stored_files(fixture, 8).await;
    let conversions = conversions(fixture);
    for conversion in &conversions {
        let pair = (
            conversion["filetype"].as_str().unwrap(),
            conversion["outputtype"].as_str().unwrap(),
        );
        assert!(
            [("doc", "docx"), ("rtf", "docx"), ("xls", "xlsx"), ("ppt", "pptx")].contains(&pair),
            "{pair:?}"
        );
        // The name of a file can be the name of a student.
        assert!(!conversion.to_string().contains("report"), "{conversion}");
    }
    let keys: std::collections::BTreeSet<String> = conversions.iter().map(|one| one["key"].to_string()).collect();
    assert_eq!(keys.len(), 4, "each conversion has a key of its own");
});

with_document_server!(legacy_template_is_converted_and_handed_out, |fixture| {
    let ada = fixture.app.as_(&fixture.app.world.ada);
    let topic_files = format!("/assignments/{}/attachments", fixture.topic);
    let file = ada
        .upload(&topic_files, "sheet.doc", doc("For all groups."), &[])
        .await
        .expect(201);
    assert_eq!(file["fileName"], "sheet.docx");
    let out = json!({"templateAttachmentId": file["id"]});
    let out = ada
        .post(&format!("/assignments/{}/handouts", fixture.topic), out)
        .await
        .expect(200);
    let document = out["documents"][0]["id"].as_str().unwrap().to_owned();
    assert!(fixture.text(&document).await.contains("For all groups."));
    let group_files = format!("/groups/{}/attachments", fixture.group);
    let file = ada
        .upload(&group_files, "table.xls", xls("For one group."), &[])
        .await
        .expect(201);
    assert_eq!(file["fileName"], "table.xlsx");
    let template = json!({"title": "Ours", "templateAttachmentId": file["id"]});
    let made = ada.post(&documents(fixture), template).await.expect(201);
    assert!(
        fixture
            .text(made["id"].as_str().unwrap())
            .await
            .contains("For one group.")
    );
});

with_document_server!(legacy_content_replaces_content_of_the_same_type, |fixture| {
    let ben = fixture.app.as_(&fixture.app.world.ben);
    let document = fixture.document("Page").await;
    put(&ben, &path(&document, ""), doc("Replaced."), "new.doc")
        .await
        .expect(200);
    assert!(fixture.text(&document).await.contains("Replaced."));
    let refused = put(&ben, &path(&document, ""), xls("A table."), "new.xls").await;
    refused.refused(415, "UNSUPPORTED_FILE_TYPE");
    assert!(fixture.text(&document).await.contains("Replaced."));
});

with_document_server!(legacy_format_is_recognized_by_content, |fixture| {
    let ben = fixture.app.as_(&fixture.app.world.ben);
    let upload = async |name: &str, bytes: Vec<u8>| ben.upload(&documents(fixture), name, bytes, &[]).await;
    // Word saves .rtf as .doc, and users rename files.
    for (name, bytes) in [
        ("a.doc", rtf("Really RTF.")),
        ("b.docx", doc("Really a .doc.")),
        ("c.doc", legacy_office::doc_with_sheet("With a sheet inside.")),
    ] {
        let made = upload(name, bytes).await.expect(201);
        assert_eq!(made["fileExtension"], "docx", "{name}");
    }
    let count = conversions(fixture).len();
    let mut cut = doc("Cut.");
    cut.truncate(600);
    let mut circle = xls("Circle.");
    // The directory sector points to itself.
    circle[512 + 4..512 + 8].copy_from_slice(&1_u32.to_le_bytes());
    let mut sectors = doc("Sectors.");
    sectors[30] = 31;
    for (name, bytes) in [
        ("web.doc", b"<html>A page</html>".to_vec()),
        ("table.xls", b"name,grade\nBen,1\n".to_vec()),
        ("new.doc", docx("Really a .docx.")),
        ("text.xls", doc("Really a text.")),
        ("text.ppt", rtf("Really a text.")),
        ("text.xlsx", doc("Really a text.")),
        ("setup.doc", legacy_office::other_compound()),
        ("text.pdf", doc("Really a text.")),
        ("macros.docm", doc("No.")),
        ("cut.doc", cut),
        ("sectors.doc", sectors),
    ] {
        upload(name, bytes).await.refused(415, "UNSUPPORTED_FILE_TYPE");
    }
    upload("circle.xls", circle).await.expect(201);
    for (name, bytes) in [
        ("secret.doc", legacy_office::doc_with_password("No.")),
        ("secret.xls", legacy_office::xls_with_password("No.")),
        ("secret.docx", legacy_office::docx_with_password()),
    ] {
        let refused = upload(name, bytes).await.refused(415, "UNREADABLE_FILE");
        assert_eq!(refused["details"][0]["code"], "password", "{name}");
    }
    assert_eq!(conversions(fixture).len(), count + 1, "nothing else was converted");
});

with_document_server!(chat_and_imports_reject_legacy_format_by_name, |fixture| {
    let (ben, adam) = (
        fixture.app.as_(&fixture.app.world.ben),
        fixture.app.as_(&fixture.app.world.adam),
    );
    let chat = format!("/workrooms/{}/messages/attachments", fixture.room);
    let refused = ben.upload(&chat, "report.doc", doc("Hello."), &[]).await;
    let refused = refused.refused(415, "LEGACY_FILE_FORMAT");
    assert_eq!(refused["details"][0]["code"], "doc");
    let refused = adam.upload("/users/import", "people.xls", xls("Names."), &[]).await;
    let refused = refused.refused(415, "UNSUPPORTED_FILE_TYPE");
    assert!(refused["message"].as_str().unwrap().contains(".csv"), "{refused}");
    assert_eq!(conversions(fixture), Vec::<Value>::new());
});

both!(legacy_upload_without_document_server_is_rejected_by_name, |app| {
    let (ben, path) = create_work_room(app).await;
    for (name, bytes, successor, _) in files() {
        let refused = ben
            .upload(&path, name, bytes, &[])
            .await
            .refused(415, "LEGACY_FILE_FORMAT");
        let format = name.rsplit('.').next().unwrap().to_lowercase();
        assert_eq!(
            (&refused["details"][0]["path"], &refused["details"][0]["code"]),
            (&json!("file"), &json!(format))
        );
        let message = refused["message"].as_str().unwrap();
        let names = [format!(".{format}"), format!(".{successor}"), "PDF".to_owned()];
        assert!(names.iter().all(|name| message.contains(name)), "{message}");
    }
    assert_eq!(app.stored_files(), Vec::<String>::new());
});

with_document_server!(failed_conversion_is_explained_and_stores_nothing, |fixture| {
    let ben = fixture.app.as_(&fixture.app.world.ben);
    let upload = async || {
        ben.upload(&documents(fixture), "report.doc", doc("Unlucky."), &[])
            .await
    };
    let fault = |error| Faults {
        conversion_error: Some(error),
        ..Faults::default()
    };
    for (error, code) in [
        (-3, "conversion_failed"),
        (-5, "password"),
        (-9, "unknown_format"),
        (-10, "too_large"),
    ] {
        fixture.server.set_faults(fault(error));
        let refused = upload().await.refused(415, "UNREADABLE_FILE");
        assert_eq!(refused["details"][0]["code"], code);
    }
    for error in [-1, -4, -6, -7, -8] {
        fixture.server.set_faults(fault(error));
        upload().await.refused(502, "DOCSERVER_ERROR");
    }
    fixture.server.set_faults(fault(-2));
    upload().await.refused(504, "DOCSERVER_TIMEOUT");
    for download in [
        DownloadFault::Html,
        DownloadFault::Status(302),
        DownloadFault::Truncated,
    ] {
        fixture.server.set_faults(Faults {
            download: Some(download),
            ..Faults::default()
        });
        upload().await.refused(502, "DOCSERVER_ERROR");
    }
    fixture.server.set_faults(Faults {
        down: Some(Outage::Refuse),
        ..Faults::default()
    });
    upload().await.refused(502, "DOCSERVER_ERROR");
    fixture.server.faults().clear();
    wait_for_stored_files(fixture, 0).await;
    assert_eq!(ben.get(&documents(fixture)).await.expect(200), json!([]));
    upload().await.expect(201);
});

with_document_server!(source_that_was_unreachable_once_is_converted, |fixture| {
    let ben = fixture.app.as_(&fixture.app.world.ben);
    let unreachable_once = Faults {
        conversion_error: Some(-4),
        conversion_error_times: Some(1),
        ..Faults::default()
    };
    fixture.server.set_faults(unreachable_once.clone());
    let made = ben.upload(&documents(fixture), "report.doc", doc("Kept."), &[]).await;
    let path = format!("/workrooms/documents/{}/pdf", made.expect(201)["id"].as_str().unwrap());
    fixture.server.set_faults(unreachable_once);
    let pdf = fixture.app.as_(&fixture.app.world.ada).get(&path).await;
    assert_eq!((pdf.status, pdf.header("content-type")), (200, "application/pdf"));
});

with_document_server!(
    person_has_at_most_two_conversions_at_once,
    ["--docserver-conversion-seconds=110"],
    |fixture| {
        let (ben, ada) = (
            fixture.app.as_(&fixture.app.world.ben),
            fixture.app.as_(&fixture.app.world.ada),
        );
        let rooms = documents(fixture);
        fixture.server.faults().update(|faults| faults.conversion_polls = 3);
        ben.upload(&rooms, "slow.doc", doc("Not yet."), &[]).await.expect(201);
        // The source of this conversion is removed after the response.
        wait_for_stored_files(fixture, 1).await;
        fixture.server.set_faults(Faults {
            conversion_hangs: true,
            ..Faults::default()
        });
        let uploads = join_all((0..6).map(|_| ben.upload(&rooms, "waits.doc", doc("Waits."), &[])));
        let meanwhile = async {
            eventually(async || sources(fixture).len() == 2).await;
            ada.get(&rooms).await.expect(200);
            ada.post(&rooms, json!({"title": "Meanwhile", "documentType": "word"}))
                .await
                .expect(201);
            assert_eq!(sources(fixture).len(), 2, "others are served during the conversions");
            fixture.server.faults().clear();
        };
        for answer in tokio::join!(uploads, meanwhile).0 {
            answer.expect(201);
        }
    }
);

with_document_server!(
    conversion_that_never_ends_times_out_and_holds_no_permit,
    ["--docserver-conversion-seconds=2", "--upload-max-mb=1"],
    |fixture| {
        let ben = fixture.app.as_(&fixture.app.world.ben);
        let rooms = documents(fixture);
        fixture.server.set_faults(Faults {
            conversion_hangs: true,
            ..Faults::default()
        });
        // More conversions than run concurrently for one person and for one school.
        for answer in join_all((0..6).map(|_| ben.upload(&rooms, "never.doc", doc("Never."), &[]))).await {
            answer.refused(504, "DOCSERVER_TIMEOUT");
        }
        let large = ben.upload(&rooms, "large.doc", vec![b'x'; 2 << 20], &[]).await;
        large.refused(413, "PAYLOAD_TOO_LARGE");
        fixture.server.faults().clear();
        wait_for_stored_files(fixture, 0).await;
        // No permit was lost. On a busy machine a conversion takes longer than two seconds.
        eventually(async || {
            let again = ben.upload(&rooms, "again.doc", doc("Again."), &[]).await;
            again.status == 201
        })
        .await;
    }
);

with_document_server!(
    oversized_result_of_a_conversion_is_rejected,
    ["--upload-max-mb=1"],
    |fixture| {
        let ben = fixture.app.as_(&fixture.app.world.ben);
        fixture.server.set_faults(Faults {
            download: Some(DownloadFault::Oversized(3 << 20)),
            ..Faults::default()
        });
        let grown = ben.upload(&documents(fixture), "grows.doc", doc("Grows."), &[]).await;
        let refused = grown.refused(415, "UNREADABLE_FILE");
        assert_eq!(refused["details"][0]["code"], "too_large");
        fixture.server.faults().clear();
        wait_for_stored_files(fixture, 0).await;
    }
);

with_document_server!(repeated_legacy_upload_creates_one_document, |fixture| {
    let ben = fixture
        .app
        .as_(&fixture.app.world.ben)
        .with("idempotency-key", "legacy");
    let upload = async |text: &str| ben.upload(&documents(fixture), "once.doc", doc(text), &[]).await;
    let first = upload("Once.").await.expect(201);
    assert_eq!(upload("Once.").await.expect(201)["id"], first["id"]);
    upload("Another.").await.refused(409, "IDEMPOTENCY_KEY_REUSED");
    wait_for_stored_files(fixture, 1).await;
});

/// Starts an upload whose conversion does not end. Returns it with the path of its source. Starts again if the time
/// limit of the conversion has passed before it was requested.
async fn start_hanging_upload(fixture: &DocumentServerFixture) -> (tokio::task::JoinHandle<Answer>, String) {
    fixture.server.clear_log();
    fixture.server.set_faults(Faults {
        conversion_hangs: true,
        ..Faults::default()
    });
    let (ben, rooms) = (fixture.app.as_(&fixture.app.world.ben), documents(fixture));
    let mut attempts = 0;
    let upload = loop {
        attempts += 1;
        let (ben, rooms) = (ben.clone(), rooms.clone());
        let upload = tokio::spawn(async move { ben.upload(&rooms, "report.doc", doc("Private."), &[]).await });
        eventually(async || upload.is_finished() || !conversions(fixture).is_empty()).await;
        if !conversions(fixture).is_empty() {
            break upload;
        }
        upload.await.unwrap().refused(504, "DOCSERVER_TIMEOUT");
        assert!(attempts < 5, "no conversion was requested");
    };
    let url = conversions(fixture)[0]["url"].as_str().unwrap().to_owned();
    (
        upload,
        url.strip_prefix(&format!("{}/api", fixture.app.base))
            .unwrap()
            .to_owned(),
    )
}

fn with_token(fixture: &DocumentServerFixture, token: &str) -> Client {
    fixture.app.stranger().with("authorization", &format!("Bearer {token}"))
}

with_document_server!(
    conversion_source_is_readable_by_the_document_server_only,
    ["--docserver-conversion-seconds=110"],
    |fixture| {
        let (app, world) = (&fixture.app, &fixture.app.world);
        let (upload, source) = start_hanging_upload(fixture).await;
        let url = format!("{}/api{source}", app.base);
        let own = json!({"payload": {"url": url}});
        let genuine = with_token(fixture, &sign(own.clone())).get(&source).await;
        assert_eq!((genuine.status, &genuine.bytes), (200, &doc("Private.")));
        assert_eq!(genuine.header("content-type"), "application/msword");
        check_download(&with_token(fixture, &sign(own.clone())), &source).await;
        for person in [&world.ben, &world.cem, &world.ada, &world.adam, &world.zoe, &world.root] {
            app.as_(person)
                .get(&source)
                .await
                .refused(401, "DOCSERVER_TOKEN_MISSING");
        }
        app.stranger()
            .get(&source)
            .await
            .refused(401, "DOCSERVER_TOKEN_MISSING");
        let aged = |iat: i64, exp: i64| json!({"payload": {"url": url}, "iat": iat, "exp": exp});
        for token in [
            sign_as(
                jsonwebtoken::Algorithm::HS256,
                AUTH_SECRET,
                &aged(seconds(), seconds() + 300),
            ),
            sign(aged(seconds() - 400, seconds() - 100)),
            sign(aged(seconds(), seconds() + 86_400)),
            "no.token.atall".to_owned(),
        ] {
            with_token(fixture, &token)
                .get(&source)
                .await
                .refused(401, "DOCSERVER_TOKEN_INVALID");
        }
        let document = fixture.document("Page").await;
        let other = format!(
            "{}/api/workrooms/uploads/0190a1b2-0000-7000-8000-00000000dead/file",
            app.base
        );
        let config = fixture.configuration(&world.ben, &document).await;
        for token in [
            sign(json!({"payload": {"url": other}})),
            sign(json!({"payload": {"url": format!("{}/api{}", app.base, path(&document, "/file"))}})),
            sign(json!({"payload": {"url": url, "key": "k"}})),
            sign(json!({"url": url})),
            config["token"].as_str().unwrap().to_owned(),
        ] {
            with_token(fixture, &token)
                .get(&source)
                .await
                .refused(403, "DOCSERVER_TOKEN_MISMATCH");
        }
        // A token for a source that does not exist.
        let unknown = other.strip_prefix(&format!("{}/api", app.base)).unwrap();
        let token = sign(json!({"payload": {"url": other}}));
        with_token(fixture, &token).get(unknown).await.refused(404, "NOT_FOUND");
        fixture.server.faults().clear();
        upload.await.unwrap().expect(201);
        // The source can no longer be read, even while its bytes wait for removal.
        with_token(fixture, &sign(own))
            .get(&source)
            .await
            .refused(404, "NOT_FOUND");
        wait_for_stored_files(fixture, 1).await;
    }
);

with_document_server!(
    conversion_source_of_a_closed_connection_is_removed,
    ["--docserver-conversion-seconds=1"],
    |fixture| {
        let (upload, source) = start_hanging_upload(fixture).await;
        upload.abort();
        wait_for_stored_files(fixture, 0).await;
        let token = sign(json!({"payload": {"url": format!("{}/api{source}", fixture.app.base)}}));
        with_token(fixture, &token).get(&source).await.refused(404, "NOT_FOUND");
    }
);

with_document_server!(conversion_source_is_removed_after_expiry, |fixture| {
    // The state that a process leaves when it dies during a conversion.
    let (upload, source) = start_hanging_upload(fixture).await;
    let rows = texts(&fixture.app.database, "SELECT file_key FROM file_removals".to_owned()).await;
    assert_eq!(rows, sources(fixture).into_iter().map(Some).collect::<Vec<_>>());
    assert_eq!(rows.len(), 1);
    execute(
        &fixture.app.database,
        "UPDATE file_removals SET next_attempt_at = 1".to_owned(),
    )
    .await;
    let token = sign(json!({"payload": {"url": format!("{}/api{source}", fixture.app.base)}}));
    with_token(fixture, &token).get(&source).await.refused(404, "NOT_FOUND");
    wait_for_stored_files(fixture, 0).await;
    upload.abort();
});

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn legacy_upload_of_outsider_is_rejected() {
    let fixture = DocumentServerFixture::start(DatabaseKind::Sqlite, &[]).await.unwrap();
    let app: &TestApp = &fixture.app;
    for person in [&app.world.dana, &app.world.zoe] {
        let refused = app
            .as_(person)
            .upload(&documents(&fixture), "report.doc", doc("No."), &[])
            .await;
        refused.refused(404, "NOT_FOUND");
    }
    wait_for_stored_files(&fixture, 0).await;
    fixture.close().await;
}
