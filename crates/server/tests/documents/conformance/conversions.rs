//! Checks V1 to V9: PDF conversion by the document server.

use document_server_simulator::{DownloadFault, Faults, Outage};
use serde_json::{Value, json};

use crate::documents::put;
use crate::pdf::conversions;
use test_support::document_server_fixture::{DocumentServerFixture, eventually, path, words};
use test_support::office::{docx, word_document};
use test_support::rows::texts;
use test_support::text_editor::AnyEditor;
use test_support::topics::{group, id};
use test_support::{DatabaseKind, TestApp};

/// Returns the keys of all conversions so far.
fn keys(fixture: &DocumentServerFixture) -> Vec<String> {
    let heard = fixture
        .server
        .requests()
        .into_iter()
        .filter(|heard| heard.what == "converter");
    heard
        .map(|heard| heard.parameters["key"].as_str().unwrap().to_owned())
        .collect()
}

with_both_editors!(
    #[sqlite]
    v01_every_document_type_and_its_template_convert_to_pdf,
    |fixture| {
        let (world, ada) = (&fixture.app.world, fixture.app.as_(&fixture.app.world.ada));
        let rooms = format!("/workrooms/{}/documents", fixture.room);
        for kind in ["word", "cell", "slide"] {
            let new = json!({"title": format!("Größe „{kind}“ – ß"), "documentType": kind});
            let document = id(&ada.post(&rooms, new).await.expect(201));
            let blank = ada.get(&path(&document, "/pdf")).await;
            assert_eq!((blank.status, &blank.bytes[..5]), (200, b"%PDF-".as_slice()), "{kind}");
            fixture.write(&world.ben, &document, "Inhalt.").await;
            let made = ada.get(&path(&document, "/pdf")).await;
            assert_eq!((made.status, &made.bytes[..5]), (200, b"%PDF-".as_slice()), "{kind}");
            assert!(words(&made.bytes).contains("Inhalt."), "{kind}");
            let name = made.header("content-disposition");
            assert!(
                name.contains("filename*=UTF-8''Gr%C3%B6%C3%9Fe%20") && name.contains(".pdf"),
                "{name}"
            );
        }
    }
);

with_both_editors!(v02_pdf_is_converted_once_per_document_version, |fixture| {
    let (ben, ada) = (&fixture.app.world.ben, fixture.app.as_(&fixture.app.world.ada));
    let document = fixture.document("Grüße / aus 7b").await;
    let pdf = path(&document, "/pdf");
    let blank = ada.get(&pdf).await;
    assert_eq!(
        (blank.status, &blank.bytes[..5]),
        (200, b"%PDF-".as_slice()),
        "a document nobody wrote in"
    );
    fixture.write(ben, &document, "First state.").await;
    let first = ada.get(&pdf).await;
    assert_eq!((first.status, first.header("content-type")), (200, "application/pdf"));
    assert!(
        first
            .header("content-disposition")
            .contains("Gr%C3%BC%C3%9Fe%20_%20aus%207b.pdf")
    );
    assert!(words(&first.bytes).contains("First state."));
    let so_far = conversions(fixture);
    assert_eq!(ada.get(&pdf).await.bytes, first.bytes);
    assert_eq!(conversions(fixture), so_far, "the second reader gets the kept one");
    assert_eq!(so_far == 0, fixture.is_builtin());

    fixture.write(ben, &document, "Second state.").await;
    let second = ada.get(&pdf).await;
    assert!(
        words(&second.bytes).contains("Second state."),
        "another state is another conversion"
    );
    let keys: Vec<String> = fixture
        .server
        .requests()
        .iter()
        .filter(|heard| heard.what == "converter")
        .map(|heard| heard.parameters["key"].as_str().unwrap().to_owned())
        .collect();
    assert!(keys.iter().all(|key| key.len() == 64));
});

with_both_editors!(v03_concurrent_readers_share_one_conversion, |fixture| {
    let document = fixture.document("Our page").await;
    fixture.write(&fixture.app.world.ben, &document, "For all.").await;
    fixture.server.faults().update(|faults| faults.conversion_polls = 2);
    let ada = fixture.app.as_(&fixture.app.world.ada);
    let pdf = path(&document, "/pdf");
    let all = futures_util::future::join_all((0..6).map(|_| ada.get(&pdf))).await;
    assert!(
        all.iter()
            .all(|answer| answer.status == 200 && answer.bytes == all[0].bytes)
    );
    let fetched =
        fixture.server.requests().into_iter().filter(|heard| {
            heard.what == "result" && heard.parameters.as_str().is_some_and(|path| path.contains("conv_"))
        });
    assert_eq!(
        fetched.count(),
        usize::from(!fixture.is_builtin()),
        "one job, one result"
    );
    let kept = fixture
        .files()
        .iter()
        .filter(|name| name.rsplit('.').next() == Some("pdf"))
        .count();
    assert_eq!(kept, 1);
});

with_both_editors!(v04_equal_documents_of_two_schools_are_converted_separately, |fixture| {
    let (app, world) = (&fixture.app, &fixture.app.world);
    let south = app.room(&world.south_class, &[&world.zack]).await;
    let bytes = word_document("The same.");
    let mut made = Vec::new();
    for (person, room) in [(&world.ada, &fixture.room), (&world.zoe, &south.id)] {
        let client = app.as_(person);
        let rooms = format!("/workrooms/{room}/documents");
        let document = client.upload(&rooms, "Same.docx", bytes.clone(), &[]).await.expect(201);
        let pdf = client.get(&path(document["id"].as_str().unwrap(), "/pdf")).await;
        assert!(words(&pdf.bytes).contains("The same."));
        made.extend(keys(fixture).pop());
    }
    if fixture.is_builtin() {
        assert_eq!(made.len(), 0);
    } else {
        assert_ne!(made[0], made[1]);
    }
    assert!(made.iter().all(|key| key.len() == 64), "and never without a key");
    let kept = fixture.files();
    let kept = kept.iter().filter(|name| name.rsplit('.').next() == Some("pdf"));
    assert_eq!(kept.count(), 2);
});

with_document_server!(
    #[sqlite]
    v05_each_conversion_error_has_its_own_code,
    |fixture| {
        let document = fixture.document("Our page").await;
        fixture.write(&fixture.app.world.ben, &document, "Unlucky.").await;
        let ada = fixture.app.as_(&fixture.app.world.ada);
        let pdf = path(&document, "/pdf");
        let mut words = std::collections::BTreeSet::new();
        for error in [-1, -3, -4, -5, -6, -7, -8, -9, -10] {
            fixture.server.set_faults(Faults {
                conversion_error: Some(error),
                ..Faults::default()
            });
            let refused = ada.get(&pdf).await.refused(502, "DOCSERVER_ERROR");
            assert_eq!(refused["details"][0]["path"], "documentServer");
            words.insert(refused["details"][0]["code"].as_str().unwrap().to_owned());
        }
        assert_eq!(words.len(), 9);
        fixture
            .server
            .faults()
            .update(|faults| faults.conversion_error = Some(-2));
        ada.get(&pdf).await.refused(504, "DOCSERVER_TIMEOUT");
        fixture.server.set_faults(Faults {
            down: Some(Outage::Refuse),
            ..Faults::default()
        });
        ada.get(&pdf).await.refused(502, "DOCSERVER_ERROR");
        let config = fixture.configuration(&fixture.app.world.ben, &document).await;
        assert_eq!(
            config["editorConfig"]["mode"],
            json!("edit"),
            "pages open without asking it"
        );
        fixture.server.faults().clear();
        eventually(async || ada.get(&pdf).await.status == 200).await;
    }
);

with_document_server!(
    #[sqlite]
    v06_conversion_is_polled_until_it_is_done,
    |fixture| {
        let ada = fixture.app.as_(&fixture.app.world.ada);
        fixture.server.faults().update(|faults| faults.conversion_polls = 3);
        let slow = fixture.document("Slow").await;
        assert_eq!(ada.get(&path(&slow, "/pdf")).await.status, 200);
    }
);

with_document_server!(
    #[sqlite]
    v06_hanging_conversions_time_out_and_block_no_others,
    ["--docserver-conversion-seconds=2"],
    |fixture| {
        let ada = fixture.app.as_(&fixture.app.world.ada);
        fixture.server.set_faults(Faults {
            conversion_hangs: true,
            ..Faults::default()
        });
        let mut documents = Vec::new();
        for number in 0..6 {
            documents.push(path(&fixture.document(&format!("Page {number}")).await, "/pdf"));
        }
        // More conversions than run concurrently: the waiting ones have the same deadline.
        for answer in futures_util::future::join_all(documents.iter().map(|pdf| ada.get(pdf))).await {
            answer.refused(504, "DOCSERVER_TIMEOUT");
        }
        fixture.server.faults().clear();
        // No permit was lost. On a busy machine a conversion takes longer than two seconds.
        for pdf in &documents {
            eventually(async || ada.get(pdf).await.status == 200).await;
        }
    }
);

with_document_server!(
    #[sqlite]
    v07_result_is_fetched_from_configured_host_with_size_limit,
    ["--upload-max-mb=1"],
    |fixture| {
        let ada = fixture.app.as_(&fixture.app.world.ada);
        let (page, other) = (fixture.document("Page").await, fixture.document("Other").await);
        let foreign = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = foreign.local_addr().unwrap().to_string();
        fixture.server.set_faults(Faults {
            foreign_host: Some(host),
            ..Faults::default()
        });
        assert_eq!(ada.get(&path(&page, "/pdf")).await.status, 200);
        let heard = tokio::time::timeout(std::time::Duration::from_millis(200), foreign.accept()).await;
        assert!(heard.is_err(), "the foreign host was called");
        for fault in [DownloadFault::Oversized(3 << 20), DownloadFault::Endless] {
            fixture.server.set_faults(Faults {
                download: Some(fault),
                ..Faults::default()
            });
            let refused = ada.get(&path(&other, "/pdf")).await.refused(502, "DOCSERVER_ERROR");
            assert_eq!(refused["details"][0]["code"], "pdf_too_large", "{fault:?}");
        }
        let parts = std::fs::read_dir(fixture.app.folder().join("files/parts")).unwrap();
        assert_eq!(parts.count(), 0, "nothing half fetched stays");
    }
);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v08_xml_response_of_converter_is_a_clear_error() {
    let answer = "<?xml version=\"1.0\" encoding=\"utf-8\"?><FileResult><EndConvert>True</EndConvert></FileResult>";
    let old = axum::Router::new().fallback(move || async move { ([("content-type", "text/xml")], answer) });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("--docserver-url=http://{}", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move { axum::serve(listener, old).await });
    let app = TestApp::start_with(DatabaseKind::Sqlite, &[&url]).await.unwrap();
    let ada = app.as_(&app.world.ada);
    let group = group(&ada, &app.world.seven_b, &[], json!({})).await;
    let room = ada.get(&format!("/groups/{group}")).await.expect(200)["workRoomId"].clone();
    let new = json!({"title": "Page", "documentType": "word"});
    let rooms = format!("/workrooms/{}/documents", room.as_str().unwrap());
    let document = id(&ada.post(&rooms, new).await.expect(201));
    let refused = ada.get(&path(&document, "/pdf")).await.refused(502, "DOCSERVER_ERROR");
    assert!(refused["message"].as_str().unwrap().contains("XML"), "{refused}");
    app.close().await;
    serving.abort();
}

with_both_editors!(v09_pdf_of_open_document_contains_its_last_save, |fixture| {
    let (ben, ada) = (&fixture.app.world.ben, fixture.app.as_(&fixture.app.world.ada));
    let document = fixture.document("Our page").await;
    let editor = fixture.open_editor(ben, &document).await;
    editor.type_text("Saved half.").await.unwrap();
    if let AnyEditor::OnlyOffice(editor) = &editor {
        assert_eq!(editor.press_save().await.unwrap(), 0);
        eventually(async || fixture.get_document(&document).await["version"] == 1).await;
    }
    editor.type_text("Open half.").await.unwrap();
    let first = words(&ada.get(&path(&document, "/pdf")).await.bytes);
    // The built-in editor saves what is read.
    assert!(
        first.contains("Saved half.") && first.contains("Open half.") == fixture.is_builtin(),
        "{first}"
    );
    assert!(editor.close().await.unwrap().accepted);
    let whole = words(&ada.get(&path(&document, "/pdf")).await.bytes);
    assert!(whole.contains("Saved half.") && whole.contains("Open half."), "{whole}");
});

with_both_editors!(v09_pdf_of_open_unsaved_document_contains_typed_text, |fixture| {
    let (ben, ada) = (&fixture.app.world.ben, fixture.app.as_(&fixture.app.world.ada));
    let document = fixture.document("Our page").await;
    let editor = fixture.open_editor(ben, &document).await;
    if !fixture.is_builtin() {
        let sessions = format!("SELECT document_key FROM editing_sessions WHERE document_id = '{document}'");
        eventually(async || texts(&fixture.app.database, sessions.clone()).await.len() == 1).await;
    }
    let blank = ada.get(&path(&document, "/pdf")).await;
    assert_eq!(blank.status, 200, "nothing was typed yet");
    editor.type_text("Never saved.").await.unwrap();
    let pdf = words(&ada.get(&path(&document, "/pdf")).await.bytes);
    assert!(pdf.contains("Never saved."), "{pdf}");
    assert!(editor.type_text("It goes on.").await.is_ok(), "the editor stays open");
});

with_document_server!(pdf_of_submission_is_renewed_when_pending_save_arrives, |fixture| {
    let (world, ada) = (&fixture.app.world, fixture.app.as_(&fixture.app.world.ada));
    let document = fixture.document("Our page").await;
    let editor = fixture.open(&world.cem, &document).await;
    editor.type_text("On its way.").await.unwrap();
    fixture.server.set_faults(Faults {
        command_error: Some(3),
        ..Faults::default()
    });
    let submitted = fixture.submit(&world.ben, &document).await.expect(200);
    fixture.server.faults().clear();
    let submission: &Value = &submitted["submission"]["id"];
    let pdf = format!(
        "/feedback/submissions/{}/documents/{document}/pdf",
        submission.as_str().unwrap()
    );
    assert!(!words(&ada.get(&pdf).await.bytes).contains("On its way."));
    assert!(editor.close().await.unwrap().accepted);
    assert!(words(&ada.get(&pdf).await.bytes).contains("On its way."));
    // The document becomes a draft again and gets other bytes; the submitted PDF does not change.
    let ben = fixture.app.as_(&world.ben);
    ben.post(&path(&document, "/unsubmit"), json!({})).await.expect(200);
    put(&ben, &path(&document, ""), docx("New."), "a.docx")
        .await
        .expect(200);
    assert!(words(&ada.get(&pdf).await.bytes).contains("On its way."));
});
