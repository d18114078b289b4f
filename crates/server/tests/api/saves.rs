//! Saves of the document server: what it brings is stored once, whole and durably, or not acknowledged (contract 8.2).

use std::time::Duration;

use practice_document_server::{DownloadFault, Duplicate, Faults, Sent};
use serde_json::json;
use tokio::net::TcpListener;

use crate::support::rows::texts;
use crate::support::studio::eventually;

/// How long a test waits for the document server at most.
const PATIENCE: Duration = Duration::from_secs(20);

studio!(
    two_students_share_a_session_and_the_last_one_brings_the_save,
    |studio| {
        let world = &studio.app.world;
        let document = studio.document("Our page").await;
        let key = studio.key(&document).await;
        let (ben, cem) = (
            studio.open(&world.ben, &document).await,
            studio.open(&world.cem, &document).await,
        );
        assert!(ben.may_edit() && cem.may_edit());
        assert_eq!(studio.key(&document).await, key, "everybody joins one session");
        ben.type_text("From Ben.").await.unwrap();
        cem.type_text("From Cem.").await.unwrap();
        assert!(ben.text().await.unwrap().contains("From Cem."));

        let left = ben.close().await.unwrap();
        assert_eq!((left.status, left.accepted), (Some(1), true));
        assert_eq!(
            studio.seen(&document).await["version"],
            0,
            "nothing is stored while one goes on"
        );
        let left = cem.close().await.unwrap();
        assert_eq!((left.status, left.accepted), (Some(2), true));

        let text = studio.text(&document).await;
        assert!(text.contains("From Ben.") && text.contains("From Cem."), "{text}");
        let seen = studio.seen(&document).await;
        assert_eq!(seen["version"], 1);
        assert_eq!(seen["lastEditedBy"], json!(world.cem.id));
        let versions = studio.versions(&document).await;
        assert_eq!(versions[0]["origin"], "EDITOR");
        let mut editors = vec![world.ben.id.clone(), world.cem.id.clone()];
        editors.sort();
        assert_eq!(versions[0]["editors"], json!(editors));
        assert_ne!(studio.key(&document).await, key, "a final save ends the session's key");
    }
);

studio!(the_save_button_keeps_the_key_and_the_end_adds_nothing, |studio| {
    let (ben, document) = (&studio.app.world.ben, studio.document("Our page").await);
    let key = studio.key(&document).await;
    let editor = studio.open(ben, &document).await;
    editor.type_text("First.").await.unwrap();
    assert_eq!(editor.press_save().await.unwrap(), 0);
    eventually(async || studio.seen(&document).await["version"] == 1).await;
    assert_eq!(
        studio.key(&document).await,
        key,
        "a save while people write keeps the key"
    );
    assert!(studio.text(&document).await.contains("First."));

    let closed = editor.close().await.unwrap();
    assert_eq!((closed.status, closed.accepted), (Some(2), true));
    assert_eq!(
        studio.origins(&document).await,
        ["FORCESAVE"],
        "the same bytes are no second revision"
    );
    assert_ne!(studio.key(&document).await, key);
});

studio!(leaving_without_a_change_stores_nothing, |studio| {
    let document = studio.document("Our page").await;
    let key = studio.key(&document).await;
    let editor = studio.open(&studio.app.world.ben, &document).await;
    let closed = editor.close().await.unwrap();
    assert_eq!((closed.status, closed.accepted), (Some(4), true));
    assert_eq!(studio.seen(&document).await["version"], 0);
    assert_eq!(studio.key(&document).await, key);
});

studio!(a_repeated_notice_is_one_revision, |studio| {
    for duplicate in [Duplicate::Sequential, Duplicate::Parallel] {
        let document = studio.document("Our page").await;
        studio.server.set_faults(Faults {
            duplicate: Some(duplicate),
            ..Faults::default()
        });
        studio.write(&studio.app.world.ben, &document, "Once.").await;
        assert_eq!(studio.origins(&document).await, ["EDITOR"], "{duplicate:?}");
        let stored = studio.files();
        let own = stored.iter().filter(|name| name.starts_with(&document)).count();
        assert_eq!(own, 1, "no bytes are left over: {stored:?}");
    }
});

studio!(the_address_of_a_save_leads_to_our_document_server_only, |studio| {
    let foreign = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = foreign.local_addr().unwrap().to_string();
    studio.server.set_faults(Faults {
        foreign_host: Some(host.clone()),
        ..Faults::default()
    });
    let document = studio.document("Our page").await;
    studio.write(&studio.app.world.ben, &document, "From home.").await;
    let sent = studio
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
    assert!(studio.text(&document).await.contains("From home."));
    let heard = tokio::time::timeout(Duration::from_millis(200), foreign.accept()).await;
    assert!(heard.is_err(), "somebody called the foreign host");
});

studio!(
    what_cannot_be_fetched_whole_is_not_acknowledged,
    ["--upload-max-mb=1"],
    |studio| {
        let faults = [
            (DownloadFault::Truncated, 503),
            (DownloadFault::Html, 503),
            (DownloadFault::Status(404), 503),
            (DownloadFault::Status(302), 503),
            (DownloadFault::Oversized(3 << 20), 200),
            (DownloadFault::Endless, 200),
        ];
        for (fault, status) in faults {
            let document = studio.document("Our page").await;
            let editor = studio.open(&studio.app.world.ben, &document).await;
            editor.type_text("Still here.").await.unwrap();
            studio.server.set_faults(Faults {
                download: Some(fault),
                ..Faults::default()
            });
            assert_eq!(editor.press_save().await.unwrap(), 0);
            let answered = |sent: &Sent| sent.status == 6 && sent.key.contains(&document);
            let sent = studio.server.wait_for_callback(answered, PATIENCE).await.unwrap();
            assert_eq!((sent.answer_status, sent.accepted), (Some(status), false), "{fault:?}");
            assert_eq!(studio.origins(&document).await, Vec::<String>::new(), "{fault:?}");
            let own = studio
                .files()
                .into_iter()
                .filter(|name| name.starts_with(&document))
                .count();
            assert_eq!(own, 0, "{fault:?}");

            studio.server.faults().clear();
            let closed = editor.close().await.unwrap();
            assert_eq!((closed.status, closed.accepted), (Some(2), true), "{fault:?}");
            assert!(studio.text(&document).await.contains("Still here."), "{fault:?}");
        }
    }
);

studio!(a_fault_that_passes_is_not_even_noticed, |studio| {
    let document = studio.document("Our page").await;
    let editor = studio.open(&studio.app.world.ben, &document).await;
    editor.type_text("Whole.").await.unwrap();
    studio.server.set_faults(Faults {
        download: Some(DownloadFault::Truncated),
        download_times: Some(2),
        ..Faults::default()
    });
    assert!(editor.close().await.unwrap().accepted);
    assert_eq!(
        studio.server.callbacks().iter().filter(|sent| sent.status == 2).count(),
        1
    );
    assert!(studio.text(&document).await.contains("Whole."));
});

studio!(the_type_a_save_claims_is_not_believed, |studio| {
    // The page is served as a text document, so whatever passes for one must be one.
    let document = studio.document("Our page").await;
    let editor = studio.open(&studio.app.world.ben, &document).await;
    editor.type_text("Words.").await.unwrap();
    studio.server.set_faults(Faults {
        wrong_filetype: Some("xlsx".to_owned()),
        ..Faults::default()
    });
    // Only the claim is wrong: the bytes are what the document is, and they decide.
    assert!(editor.close().await.unwrap().accepted);
    assert_eq!(studio.seen(&document).await["fileExtension"], "docx");
    assert!(studio.text(&document).await.contains("Words."));
});

studio!(a_failed_save_raises_the_alarm_and_keeps_the_key, |studio| {
    let document = studio.document("Our page").await;
    let key = studio.key(&document).await;
    let editor = studio.open(&studio.app.world.ben, &document).await;
    editor.type_text("Kept over there.").await.unwrap();
    studio.server.set_faults(Faults {
        assembly_fails: true,
        ..Faults::default()
    });
    let closed = editor.close().await.unwrap();
    assert_eq!(
        (closed.status, closed.accepted),
        (Some(3), false),
        "a yes would lose the changes for good"
    );
    assert_eq!(studio.key(&document).await, key);
    let alarm = texts(
        &studio.app.database,
        format!("SELECT CAST(save_failed_at AS TEXT) FROM documents WHERE id = '{document}'"),
    );
    assert!(alarm.await[0].is_some(), "the staff can see that something is wrong");

    studio.server.faults().clear();
    let editor = studio.open(&studio.app.world.ben, &document).await;
    assert!(editor.text().await.unwrap().contains("Kept over there."));
    assert!(editor.close().await.unwrap().accepted);
    assert!(studio.text(&document).await.contains("Kept over there."));
    let alarm = texts(
        &studio.app.database,
        format!("SELECT CAST(save_failed_at AS TEXT) FROM documents WHERE id = '{document}'"),
    );
    assert_eq!(alarm.await, [None]);
});

studio!(a_slow_forced_save_never_covers_the_final_one, |studio| {
    let document = studio.document("Our page").await;
    let editor = studio.open(&studio.app.world.ben, &document).await;
    editor.type_text("First.").await.unwrap();
    studio.server.set_faults(Faults {
        hold: vec![6],
        ..Faults::default()
    });
    assert_eq!(editor.press_save().await.unwrap(), 0);
    studio.server.faults().until_held(1).await;
    editor.type_text("Second.").await.unwrap();
    let closed = editor.close().await.unwrap();
    assert_eq!((closed.status, closed.accepted), (Some(2), true));
    studio.server.faults().clear();
    let late = studio
        .server
        .wait_for_callback(|sent| sent.status == 6, PATIENCE)
        .await
        .unwrap();
    assert!(late.accepted, "it is taken, and it changes nothing");
    let text = studio.text(&document).await;
    assert!(text.contains("First.") && text.contains("Second."), "{text}");
    assert_eq!(
        studio.seen(&document).await["version"],
        studio.versions(&document).await[0]["version"]
    );
});

studio!(a_new_save_under_a_name_that_was_used_before_is_no_repeat, |studio| {
    let document = studio.document("Our page").await;
    studio.server.set_faults(Faults {
        reuses_result_names: true,
        ..Faults::default()
    });
    let editor = studio.open(&studio.app.world.ben, &document).await;
    for number in 1..=3 {
        editor.type_text(&format!("Line {number}.")).await.unwrap();
        assert_eq!(editor.press_save().await.unwrap(), 0);
        eventually(async || studio.seen(&document).await["version"] == number).await;
        // The next press asks only once our answer has arrived.
        let is_answered = |sent: &Sent| sent.status == 6 && sent.accepted;
        let heard = || {
            studio
                .server
                .callbacks()
                .iter()
                .filter(|sent| is_answered(sent))
                .count()
        };
        eventually(async || heard() == number).await;
    }
    assert!(studio.text(&document).await.contains("Line 3."));
    editor.close().await.unwrap();
});

studio!(a_draft_keeps_its_last_fifty_revisions, |studio| {
    let document = studio.document("Our page").await;
    let ben = studio.app.as_(&studio.app.world.ben);
    for number in 1..=53 {
        let page = include_bytes!("../../templates/blank.docx");
        let page = practice_document_server::write_document(page, &[format!("Line {number}.")]).unwrap();
        let form =
            reqwest::multipart::Form::new().part("file", reqwest::multipart::Part::bytes(page).file_name("page.docx"));
        let request = ben.request(
            reqwest::Method::PUT,
            &format!("/workrooms/documents/{document}/content"),
        );
        ben.finish(request.multipart(form)).await.expect(200);
    }
    let versions = studio.versions(&document).await;
    assert_eq!((versions.len(), &versions[49]["version"]), (50, &json!(4)));
});

both!(one_instance_at_a_time_sweeps, |app| {
    use groupwork::store::platform::PlatformProof;
    let turn = async |holder: &'static str, seconds: i64| {
        let now = groupwork::clock::now().plus_seconds(seconds);
        let take = app
            .app
            .store()
            .platform_write(PlatformProof::housekeeping(), move |platform| {
                platform.take_turn("some chore", holder, now.plus_seconds(90), now)
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
