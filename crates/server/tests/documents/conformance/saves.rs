//! Checks of callbacks that come from simulated editors: open, type, save and close.

use std::time::Duration;

use document_server_simulator::{DownloadFault, DuplicateDelivery, Faults, SentCallback};
use serde_json::json;
use tokio::net::TcpListener;

use test_support::document_server_fixture::{DocumentServerFixture, eventually, path};
use test_support::{SocketListener, clients_are_installed};

/// Maximum time that a test waits for the document server.
const WAIT_TIMEOUT: Duration = test_support::WAIT_TIMEOUT;

with_document_server!(b02_last_editor_of_shared_session_saves, |fixture| {
    let world = &fixture.app.world;
    let document = fixture.document("Our page").await;
    let key = fixture.key(&document).await;
    let (ben, cem) = (
        fixture.open(&world.ben, &document).await,
        fixture.open(&world.cem, &document).await,
    );
    assert!(ben.may_edit() && cem.may_edit());
    assert_eq!(fixture.key(&document).await, key, "everybody joins one session");
    ben.type_text("From Ben.").await.unwrap();
    cem.type_text("From Cem.").await.unwrap();
    assert!(ben.text().await.unwrap().contains("From Cem."));

    let left = ben.close().await.unwrap();
    assert_eq!((left.status, left.accepted), (Some(1), true));
    assert_eq!(
        fixture.get_document(&document).await["version"],
        0,
        "nothing is stored while one goes on"
    );
    let left = cem.close().await.unwrap();
    assert_eq!((left.status, left.accepted), (Some(2), true));

    let text = fixture.text(&document).await;
    assert!(text.contains("From Ben.") && text.contains("From Cem."), "{text}");
    let seen = fixture.get_document(&document).await;
    assert_eq!(seen["version"], 1);
    assert_eq!(seen["lastEditedBy"], json!(world.cem.id));
    let versions = fixture.versions(&document).await;
    assert_eq!(versions[0]["origin"], "EDITOR");
    let mut editors = vec![world.ben.id.clone(), world.cem.id.clone()];
    editors.sort();
    assert_eq!(versions[0]["editors"], json!(editors));
    assert_ne!(fixture.key(&document).await, key, "a final save ends the session's key");
});

with_document_server!(b03_repeated_callback_is_idempotent, |fixture| {
    repeated(fixture, DuplicateDelivery::Sequential).await;
});

with_document_server!(b04_parallel_duplicates_create_one_revision, |fixture| {
    repeated(fixture, DuplicateDelivery::Parallel).await;
});

async fn repeated(fixture: &DocumentServerFixture, duplicate: DuplicateDelivery) {
    let document = fixture.document("Our page").await;
    fixture.server.set_faults(Faults {
        duplicate: Some(duplicate),
        ..Faults::default()
    });
    fixture.write(&fixture.app.world.ben, &document, "Once.").await;
    assert_eq!(fixture.origins(&document).await, ["EDITOR"]);
    let sent = fixture.server.callbacks().into_iter().filter(|sent| sent.status == 2);
    let answers: Vec<bool> = sent.map(|sent| sent.accepted).collect();
    assert_eq!(answers, [true, true]);
    assert_eq!(
        fixture.key(&document).await,
        format!("{document}-2"),
        "the key was renewed once"
    );
    let stored = fixture.files();
    let own = stored.iter().filter(|name| name.starts_with(&document)).count();
    assert_eq!(own, 1, "no bytes are left over: {stored:?}");
}

with_document_server!(b05_forced_save_keeps_the_key, |fixture| {
    let (world, document) = (&fixture.app.world, fixture.document("Our page").await);
    let key = fixture.key(&document).await;
    let editor = fixture.open(&world.ben, &document).await;
    editor.type_text("First.").await.unwrap();
    assert_eq!(editor.press_save().await.unwrap(), 0);
    eventually(async || fixture.get_document(&document).await["version"] == 1).await;
    assert_eq!(
        fixture.key(&document).await,
        key,
        "a save while people write keeps the key"
    );
    let third = fixture.configuration(&world.cem, &document).await;
    assert_eq!(
        third["document"]["key"],
        json!(key),
        "a user who opens it now joins the session"
    );
    assert!(fixture.text(&document).await.contains("First."));
    editor.close().await.unwrap();
});

with_document_server!(b06_close_after_forced_save_adds_no_revision, |fixture| {
    let document = fixture.document("Our page").await;
    let key = fixture.key(&document).await;
    let editor = fixture.open(&fixture.app.world.ben, &document).await;
    editor.type_text("First.").await.unwrap();
    assert_eq!(editor.press_save().await.unwrap(), 0);
    // The version is visible before the document server has the response.
    let taken = |sent: &SentCallback| sent.status == 6 && sent.accepted;
    fixture.server.wait_for_callback(taken, WAIT_TIMEOUT).await.unwrap();
    let closed = editor.close().await.unwrap();
    assert_eq!((closed.status, closed.accepted), (Some(2), true));
    let last = fixture
        .server
        .callbacks()
        .into_iter()
        .rfind(|sent| sent.status == 2)
        .unwrap();
    assert_eq!(last.body["notmodified"], true);
    assert_eq!(
        fixture.origins(&document).await,
        ["FORCESAVE"],
        "the same bytes are no second revision"
    );
    assert_ne!(fixture.key(&document).await, key);
});

with_document_server!(b07_late_forced_save_does_not_replace_the_final_save, |fixture| {
    let document = fixture.document("Our page").await;
    let editor = fixture.open(&fixture.app.world.ben, &document).await;
    editor.type_text("First.").await.unwrap();
    fixture.server.set_faults(Faults {
        hold: vec![6],
        ..Faults::default()
    });
    assert_eq!(editor.press_save().await.unwrap(), 0);
    fixture.server.faults().wait_until_held(1).await;
    editor.type_text("Second.").await.unwrap();
    let closed = editor.close().await.unwrap();
    assert_eq!((closed.status, closed.accepted), (Some(2), true));
    fixture.server.faults().clear();
    let late = fixture
        .server
        .wait_for_callback(|sent| sent.status == 6, WAIT_TIMEOUT)
        .await
        .unwrap();
    assert!(late.accepted, "it is taken, and it changes nothing");
    let text = fixture.text(&document).await;
    assert!(text.contains("First.") && text.contains("Second."), "{text}");
    assert_eq!(
        fixture.get_document(&document).await["version"],
        fixture.versions(&document).await[0]["version"]
    );
});

with_both_editors!(b08_close_without_changes_stores_nothing, |fixture| {
    let document = fixture.document("Our page").await;
    let key = fixture.key(&document).await;
    let editor = fixture.open_editor(&fixture.app.world.ben, &document).await;
    let closed = editor.close().await.unwrap();
    let status = (!fixture.is_builtin()).then_some(4);
    assert_eq!((closed.status, closed.accepted), (status, true));
    assert_eq!(fixture.text(&document).await.trim(), "");
    assert_eq!(fixture.get_document(&document).await["version"], 0);
    assert_eq!(fixture.key(&document).await, key);
});

with_document_server!(b09_failed_save_warns_staff_and_keeps_the_key, |fixture| {
    let world = &fixture.app.world;
    let document = fixture.document("Our page").await;
    fixture.write(&world.ben, &document, "Good.").await;
    let (key, before) = (fixture.key(&document).await, fixture.versions(&document).await);
    let failed_at = async |person| {
        let seen = fixture.app.as_(person).get(&path(&document, "")).await.expect(200);
        seen["saveFailedAt"].clone()
    };
    assert_eq!(failed_at(&world.ben).await, json!(null));
    let mut listeners = Vec::new();
    if clients_are_installed() {
        for person in [&world.ben, &world.ada] {
            listeners.push(SocketListener::connect(&fixture.app, person).await);
        }
    }
    let editor = fixture.open(&world.ben, &document).await;
    editor.type_text("Kept over there.").await.unwrap();
    fixture.server.set_faults(Faults {
        assembly_fails: true,
        ..Faults::default()
    });
    // First a forced save (7), then the final one (3): accepting it would lose the changes permanently.
    assert_eq!(editor.press_save().await.unwrap(), 0);
    let sent = fixture
        .server
        .wait_for_callback(|sent| sent.status == 7, WAIT_TIMEOUT)
        .await
        .unwrap();
    assert!(!sent.accepted && sent.answer_status == Some(200));
    let closed = editor.close().await.unwrap();
    assert_eq!((closed.status, closed.accepted), (Some(3), false));
    assert_eq!(fixture.key(&document).await, key);
    assert_eq!(fixture.versions(&document).await, before);
    let since = failed_at(&world.ben).await;
    assert!(
        since.is_string() && failed_at(&world.ada).await == since,
        "the room sees that it is not saved"
    );
    let is_failed = |event: &serde_json::Value| event["changed"] == json!(["saveFailedAt"]);
    for listener in &mut listeners {
        let event = listener.expect_where("document:updated", is_failed).await;
        assert_eq!(
            (&event["document"]["id"], &event["document"]["saveFailedAt"]),
            (&json!(document), &since)
        );
    }
    let logged = async || {
        let log = fixture
            .app
            .as_(&world.ada)
            .get("/activity-logs?category=DOCUMENT")
            .await
            .expect(200);
        let about = log["data"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|entry| entry["entityId"] == json!(document));
        about.filter(|entry| is_failed(&entry["details"])).count()
    };
    assert_eq!(logged().await, 1, "once, however often it fails");

    fixture.server.faults().clear();
    let editor = fixture.open(&world.ben, &document).await;
    assert!(editor.text().await.unwrap().contains("Kept over there."));
    assert!(editor.close().await.unwrap().accepted);
    assert!(fixture.text(&document).await.contains("Kept over there."));
    assert_eq!(failed_at(&world.ben).await, json!(null));
    for listener in &mut listeners {
        let event = listener.expect_where("document:updated", is_failed).await;
        assert_eq!(
            event["document"]["saveFailedAt"],
            json!(null),
            "the room is notified of the successful save"
        );
    }
    assert_eq!(logged().await, 2);
});

with_document_server!(b11_save_is_downloaded_from_configured_host_only, |fixture| {
    let foreign = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = foreign.local_addr().unwrap().to_string();
    fixture.server.set_faults(Faults {
        foreign_host: Some(host.clone()),
        ..Faults::default()
    });
    let document = fixture.document("Our page").await;
    fixture.write(&fixture.app.world.ben, &document, "From home.").await;
    let sent = fixture
        .server
        .callbacks()
        .into_iter()
        .find(|sent| sent.status == 2)
        .unwrap();
    assert!(
        sent.body["url"].as_str().unwrap().contains(&host),
        "{}",
        sent.body["url"]
    );
    assert!(fixture.text(&document).await.contains("From home."));
    let heard = tokio::time::timeout(Duration::from_millis(200), foreign.accept()).await;
    assert!(heard.is_err(), "the foreign host was called");
});

with_document_server!(
    b12_incomplete_download_is_not_acknowledged,
    ["--upload-max-mb=1"],
    |fixture| {
        let faults = [
            (DownloadFault::Truncated, 503),
            (DownloadFault::Html, 503),
            (DownloadFault::Status(404), 503),
            (DownloadFault::Status(302), 503),
            (DownloadFault::Oversized(3 << 20), 200),
            (DownloadFault::Endless, 200),
        ];
        for (fault, status) in faults {
            let document = fixture.document("Our page").await;
            let editor = fixture.open(&fixture.app.world.ben, &document).await;
            editor.type_text("Still here.").await.unwrap();
            fixture.server.set_faults(Faults {
                download: Some(fault),
                ..Faults::default()
            });
            assert_eq!(editor.press_save().await.unwrap(), 0);
            let answered = |sent: &SentCallback| sent.status == 6 && sent.key.contains(&document);
            let sent = fixture.server.wait_for_callback(answered, WAIT_TIMEOUT).await.unwrap();
            assert_eq!((sent.answer_status, sent.accepted), (Some(status), false), "{fault:?}");
            assert_eq!(fixture.origins(&document).await, Vec::<String>::new(), "{fault:?}");
            let own = fixture
                .files()
                .into_iter()
                .filter(|name| name.starts_with(&document))
                .count();
            assert_eq!(own, 0, "{fault:?}");

            fixture.server.faults().clear();
            let closed = editor.close().await.unwrap();
            assert_eq!((closed.status, closed.accepted), (Some(2), true), "{fault:?}");
            assert!(fixture.text(&document).await.contains("Still here."), "{fault:?}");
        }
    }
);

with_document_server!(b14_save_with_history_in_body_token_only_is_accepted, |fixture| {
    let document = fixture.document("Our page").await;
    fixture.server.faults().update(|faults| faults.history_padding = 1500);
    fixture
        .write(&fixture.app.world.ben, &document, "After a long day.")
        .await;
    let sent = fixture
        .server
        .callbacks()
        .into_iter()
        .find(|sent| sent.status == 2)
        .unwrap();
    assert!(sent.body.get("history").is_none() && sent.body["token"].as_str().unwrap().len() > 100_000);
    assert_eq!(
        fixture.versions(&document).await[0]["editors"],
        json!([fixture.app.world.ben.id])
    );
});

with_document_server!(b18_file_type_claimed_by_callback_is_ignored, |fixture| {
    // The document is served as a text document, so its content must be one.
    let document = fixture.document("Our page").await;
    let editor = fixture.open(&fixture.app.world.ben, &document).await;
    editor.type_text("Words.").await.unwrap();
    fixture.server.set_faults(Faults {
        wrong_filetype: Some("xlsx".to_owned()),
        ..Faults::default()
    });
    // Only the claim is wrong. The bytes have the type of the document, and they decide.
    assert!(editor.close().await.unwrap().accepted);
    assert_eq!(fixture.get_document(&document).await["fileExtension"], "docx");
    assert!(fixture.text(&document).await.contains("Words."));
});
