//! Saves by the document server: each is stored once, whole and durably, or it is not acknowledged.

use document_server_simulator::{DownloadFault, Faults, SentCallback};
use serde_json::json;

use test_support::document_server_fixture::{eventually, next_second};

with_document_server!(temporary_download_fault_is_retried_in_one_callback, |fixture| {
    let document = fixture.document("Our page").await;
    let editor = fixture.open(&fixture.app.world.ben, &document).await;
    editor.type_text("Whole.").await.unwrap();
    fixture.server.set_faults(Faults {
        download: Some(DownloadFault::Truncated),
        download_times: Some(2),
        ..Faults::default()
    });
    assert!(editor.close().await.unwrap().accepted);
    assert_eq!(
        fixture
            .server
            .callbacks()
            .iter()
            .filter(|sent| sent.status == 2)
            .count(),
        1
    );
    assert!(fixture.text(&document).await.contains("Whole."));
});

with_document_server!(new_save_with_reused_result_name_is_stored, |fixture| {
    let document = fixture.document("Our page").await;
    fixture.server.set_faults(Faults {
        reuses_result_names: true,
        ..Faults::default()
    });
    let editor = fixture.open(&fixture.app.world.ben, &document).await;
    for number in 1..=3 {
        // A name of a save repeats after a long time, not within the same second.
        next_second().await;
        editor.type_text(&format!("Line {number}.")).await.unwrap();
        assert_eq!(editor.press_save().await.unwrap(), 0);
        eventually(async || fixture.get_document(&document).await["version"] == number).await;
        // The next forced save starts only after the response to the last one.
        let is_answered = |sent: &SentCallback| sent.status == 6 && sent.accepted;
        let heard = || {
            fixture
                .server
                .callbacks()
                .iter()
                .filter(|sent| is_answered(sent))
                .count()
        };
        eventually(async || heard() == number).await;
    }
    assert!(fixture.text(&document).await.contains("Line 3."));
    editor.close().await.unwrap();
});

with_document_server!(draft_keeps_last_fifty_revisions, |fixture| {
    let document = fixture.document("Our page").await;
    let ben = fixture.app.as_(&fixture.app.world.ben);
    for number in 1..=53 {
        let page = include_bytes!("../../../adapters/templates/blank.docx");
        let page = document_server_simulator::write_document(page, &[format!("Line {number}.")]).unwrap();
        let form =
            reqwest::multipart::Form::new().part("file", reqwest::multipart::Part::bytes(page).file_name("page.docx"));
        let request = ben.request(
            reqwest::Method::PUT,
            &format!("/workrooms/documents/{document}/content"),
        );
        ben.finish(request.multipart(form)).await.expect(200);
    }
    let versions = fixture.versions(&document).await;
    assert_eq!((versions.len(), &versions[49]["version"]), (50, &json!(4)));
});

both!(only_one_instance_runs_the_sweep, |app| {
    use db::platform::CrossTenantReason;
    let start = common::clock::now();
    let turn = async |holder: &'static str, seconds: i64| {
        let now = start.plus_seconds(seconds);
        let take = app
            .app
            .store()
            .platform_write(CrossTenantReason::Housekeeping, move |platform| {
                platform.acquire_lease("some chore", holder, now.plus_seconds(90), now)
            });
        take.await.unwrap()
    };
    assert!(turn("first", 0).await);
    assert!(!turn("second", 30).await);
    assert!(turn("first", 60).await, "who has the turn keeps it");
    assert!(!turn("second", 140).await);
    assert!(turn("second", 160).await, "and loses it by silence");
    assert!(!turn("first", 170).await);
});
