//! Saves of the document server: what it brings is stored once, whole and durably, or not acknowledged (contract 8.2).

use std::time::Duration;

use practice_document_server::{DownloadFault, Duplicate, Faults, Sent};
use serde_json::json;
use tokio::net::TcpListener;

use crate::support::lesson::eventually;
use crate::support::rows::texts;

/// How long a test waits for the document server at most.
const PATIENCE: Duration = Duration::from_secs(20);

lesson!(
    two_students_share_a_session_and_the_last_one_brings_the_save,
    |lesson| {
        let world = &lesson.app.world;
        let document = lesson.document("Our page").await;
        let key = lesson.key(&document).await;
        let (ben, cem) = (
            lesson.open(&world.ben, &document).await,
            lesson.open(&world.cem, &document).await,
        );
        assert!(ben.may_edit() && cem.may_edit());
        assert_eq!(lesson.key(&document).await, key, "everybody joins one session");
        ben.type_text("From Ben.").await.unwrap();
        cem.type_text("From Cem.").await.unwrap();
        assert!(ben.text().await.unwrap().contains("From Cem."));

        let left = ben.close().await.unwrap();
        assert_eq!((left.status, left.accepted), (Some(1), true));
        assert_eq!(
            lesson.seen(&document).await["version"],
            0,
            "nothing is stored while one goes on"
        );
        let left = cem.close().await.unwrap();
        assert_eq!((left.status, left.accepted), (Some(2), true));

        let text = lesson.text(&document).await;
        assert!(text.contains("From Ben.") && text.contains("From Cem."), "{text}");
        let seen = lesson.seen(&document).await;
        assert_eq!(seen["version"], 1);
        assert_eq!(seen["lastEditedBy"], json!(world.cem.id));
        let versions = lesson.versions(&document).await;
        assert_eq!(versions[0]["origin"], "EDITOR");
        let mut editors = vec![world.ben.id.clone(), world.cem.id.clone()];
        editors.sort();
        assert_eq!(versions[0]["editors"], json!(editors));
        assert_ne!(lesson.key(&document).await, key, "a final save ends the session's key");
    }
);

lesson!(the_save_button_keeps_the_key_and_the_end_adds_nothing, |lesson| {
    let (ben, document) = (&lesson.app.world.ben, lesson.document("Our page").await);
    let key = lesson.key(&document).await;
    let editor = lesson.open(ben, &document).await;
    editor.type_text("First.").await.unwrap();
    assert_eq!(editor.press_save().await.unwrap(), 0);
    eventually(async || lesson.seen(&document).await["version"] == 1).await;
    assert_eq!(
        lesson.key(&document).await,
        key,
        "a save while people write keeps the key"
    );
    assert!(lesson.text(&document).await.contains("First."));

    let closed = editor.close().await.unwrap();
    assert_eq!((closed.status, closed.accepted), (Some(2), true));
    assert_eq!(
        lesson.origins(&document).await,
        ["FORCESAVE"],
        "the same bytes are no second revision"
    );
    assert_ne!(lesson.key(&document).await, key);
});

lesson!(leaving_without_a_change_stores_nothing, |lesson| {
    let document = lesson.document("Our page").await;
    let key = lesson.key(&document).await;
    let editor = lesson.open(&lesson.app.world.ben, &document).await;
    let closed = editor.close().await.unwrap();
    assert_eq!((closed.status, closed.accepted), (Some(4), true));
    assert_eq!(lesson.seen(&document).await["version"], 0);
    assert_eq!(lesson.key(&document).await, key);
});

lesson!(a_repeated_notice_is_one_revision, |lesson| {
    for duplicate in [Duplicate::Sequential, Duplicate::Parallel] {
        let document = lesson.document("Our page").await;
        lesson.server.set_faults(Faults {
            duplicate: Some(duplicate),
            ..Faults::default()
        });
        lesson.write(&lesson.app.world.ben, &document, "Once.").await;
        assert_eq!(lesson.origins(&document).await, ["EDITOR"], "{duplicate:?}");
        let stored = lesson.files();
        let own = stored.iter().filter(|name| name.starts_with(&document)).count();
        assert_eq!(own, 1, "no bytes are left over: {stored:?}");
    }
});

lesson!(a_lost_answer_is_repeated_and_stored_once, |lesson| {
    let document = lesson.document("Our page").await;
    let editor = lesson.open(&lesson.app.world.ben, &document).await;
    editor.type_text("Once.").await.unwrap();
    // The news of the joining is answered first, or its answer would be lost instead.
    lesson
        .server
        .wait_for_callback(|sent| sent.status == 1, PATIENCE)
        .await
        .unwrap();
    lesson.server.faults().change(|faults| faults.lose_answers = 2);
    assert!(editor.close().await.unwrap().accepted);
    assert_eq!(lesson.origins(&document).await, ["EDITOR"]);
    let tries = lesson.server.callbacks().iter().filter(|sent| sent.status == 2).count();
    assert_eq!(tries, 3);
});

lesson!(the_address_of_a_save_leads_to_our_document_server_only, |lesson| {
    let foreign = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = foreign.local_addr().unwrap().to_string();
    lesson.server.set_faults(Faults {
        foreign_host: Some(host.clone()),
        ..Faults::default()
    });
    let document = lesson.document("Our page").await;
    lesson.write(&lesson.app.world.ben, &document, "From home.").await;
    let sent = lesson
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
    assert!(lesson.text(&document).await.contains("From home."));
    let heard = tokio::time::timeout(Duration::from_millis(200), foreign.accept()).await;
    assert!(heard.is_err(), "somebody called the foreign host");
});

lesson!(
    what_cannot_be_fetched_whole_is_not_acknowledged,
    ["--upload-max-mb=1"],
    |lesson| {
        let faults = [
            (DownloadFault::Truncated, 503),
            (DownloadFault::Html, 503),
            (DownloadFault::Status(404), 503),
            (DownloadFault::Status(302), 503),
            (DownloadFault::Oversized(3 << 20), 200),
            (DownloadFault::Endless, 200),
        ];
        for (fault, status) in faults {
            let document = lesson.document("Our page").await;
            let editor = lesson.open(&lesson.app.world.ben, &document).await;
            editor.type_text("Still here.").await.unwrap();
            lesson.server.set_faults(Faults {
                download: Some(fault),
                ..Faults::default()
            });
            assert_eq!(editor.press_save().await.unwrap(), 0);
            let answered = |sent: &Sent| sent.status == 6 && sent.key.contains(&document);
            let sent = lesson.server.wait_for_callback(answered, PATIENCE).await.unwrap();
            assert_eq!((sent.answer_status, sent.accepted), (Some(status), false), "{fault:?}");
            assert_eq!(lesson.origins(&document).await, Vec::<String>::new(), "{fault:?}");
            let own = lesson
                .files()
                .into_iter()
                .filter(|name| name.starts_with(&document))
                .count();
            assert_eq!(own, 0, "{fault:?}");

            lesson.server.faults().clear();
            let closed = editor.close().await.unwrap();
            assert_eq!((closed.status, closed.accepted), (Some(2), true), "{fault:?}");
            assert!(lesson.text(&document).await.contains("Still here."), "{fault:?}");
        }
    }
);

lesson!(a_fault_that_passes_is_not_even_noticed, |lesson| {
    let document = lesson.document("Our page").await;
    let editor = lesson.open(&lesson.app.world.ben, &document).await;
    editor.type_text("Whole.").await.unwrap();
    lesson.server.set_faults(Faults {
        download: Some(DownloadFault::Truncated),
        download_times: Some(2),
        ..Faults::default()
    });
    assert!(editor.close().await.unwrap().accepted);
    assert_eq!(
        lesson.server.callbacks().iter().filter(|sent| sent.status == 2).count(),
        1
    );
    assert!(lesson.text(&document).await.contains("Whole."));
});

lesson!(the_type_a_save_claims_is_not_believed, |lesson| {
    // The page is served as a text document, so whatever passes for one must be one.
    let document = lesson.document("Our page").await;
    let editor = lesson.open(&lesson.app.world.ben, &document).await;
    editor.type_text("Words.").await.unwrap();
    lesson.server.set_faults(Faults {
        wrong_filetype: Some("xlsx".to_owned()),
        ..Faults::default()
    });
    // Only the claim is wrong: the bytes are what the document is, and they decide.
    assert!(editor.close().await.unwrap().accepted);
    assert_eq!(lesson.seen(&document).await["fileExtension"], "docx");
    assert!(lesson.text(&document).await.contains("Words."));
});

lesson!(a_failed_save_raises_the_alarm_and_keeps_the_key, |lesson| {
    let document = lesson.document("Our page").await;
    let key = lesson.key(&document).await;
    let editor = lesson.open(&lesson.app.world.ben, &document).await;
    editor.type_text("Kept over there.").await.unwrap();
    lesson.server.set_faults(Faults {
        assembly_fails: true,
        ..Faults::default()
    });
    let closed = editor.close().await.unwrap();
    assert_eq!(
        (closed.status, closed.accepted),
        (Some(3), false),
        "a yes would lose the changes for good"
    );
    assert_eq!(lesson.key(&document).await, key);
    let alarm = texts(
        &lesson.app.database,
        format!("SELECT CAST(save_failed_at AS TEXT) FROM documents WHERE id = '{document}'"),
    );
    assert!(alarm.await[0].is_some(), "the staff can see that something is wrong");

    lesson.server.faults().clear();
    let editor = lesson.open(&lesson.app.world.ben, &document).await;
    assert!(editor.text().await.unwrap().contains("Kept over there."));
    assert!(editor.close().await.unwrap().accepted);
    assert!(lesson.text(&document).await.contains("Kept over there."));
    let alarm = texts(
        &lesson.app.database,
        format!("SELECT CAST(save_failed_at AS TEXT) FROM documents WHERE id = '{document}'"),
    );
    assert_eq!(alarm.await, [None]);
});

lesson!(a_slow_forced_save_never_covers_the_final_one, |lesson| {
    let document = lesson.document("Our page").await;
    let editor = lesson.open(&lesson.app.world.ben, &document).await;
    editor.type_text("First.").await.unwrap();
    lesson.server.set_faults(Faults {
        hold: vec![6],
        ..Faults::default()
    });
    assert_eq!(editor.press_save().await.unwrap(), 0);
    lesson.server.faults().until_held(1).await;
    editor.type_text("Second.").await.unwrap();
    let closed = editor.close().await.unwrap();
    assert_eq!((closed.status, closed.accepted), (Some(2), true));
    lesson.server.faults().clear();
    let late = lesson
        .server
        .wait_for_callback(|sent| sent.status == 6, PATIENCE)
        .await
        .unwrap();
    assert!(late.accepted, "it is taken, and it changes nothing");
    let text = lesson.text(&document).await;
    assert!(text.contains("First.") && text.contains("Second."), "{text}");
    assert_eq!(
        lesson.seen(&document).await["version"],
        lesson.versions(&document).await[0]["version"]
    );
});

lesson!(a_forgotten_save_is_brought_home, |lesson| {
    let document = lesson.document("Our page").await;
    let key = lesson.key(&document).await;
    let editor = lesson.open(&lesson.app.world.ben, &document).await;
    editor.type_text("While nobody listened.").await.unwrap();
    lesson.server.set_faults(Faults {
        forgets_saves: true,
        ..Faults::default()
    });
    assert!(!editor.close().await.unwrap().accepted);
    lesson.server.faults().clear();
    assert_eq!(lesson.server.forgotten_keys().first(), Some(&key));
    assert_eq!(lesson.seen(&document).await["version"], 0);

    lesson.app.app.editing().sweep().await;
    assert!(lesson.text(&document).await.contains("While nobody listened."));
    assert_eq!(lesson.server.forgotten_keys(), Vec::<String>::new());
    assert_ne!(lesson.key(&document).await, key);
    lesson.app.app.editing().sweep().await;
    assert_eq!(lesson.origins(&document).await, ["EDITOR"]);
});

lesson!(a_draft_keeps_its_last_fifty_revisions, |lesson| {
    let document = lesson.document("Our page").await;
    let editor = lesson.open(&lesson.app.world.ben, &document).await;
    for number in 1..=53 {
        editor.type_text(&format!("Line {number}.")).await.unwrap();
        assert_eq!(editor.press_save().await.unwrap(), 0);
        eventually(async || lesson.seen(&document).await["version"] == number).await;
    }
    let versions = lesson.versions(&document).await;
    assert_eq!((versions.len(), &versions[49]["version"]), (50, &json!(4)));
    editor.close().await.unwrap();
});
