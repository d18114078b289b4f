//! Checks B1 to B18 with hand-written callbacks that no editor sends.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use test_support::document_server_fixture::{DocumentServerFixture, path};
use test_support::fake_document_server::{Manner, post, save, sign, tell};
use test_support::office::{SHEET, archive, content_types, docx};
use test_support::rows::texts;

const ACCEPTED: (u16, i64) = (200, 0);
const REJECTED: (u16, i64) = (200, 1);
const MISMATCH: &str = "DOCSERVER_TOKEN_MISMATCH";

/// Returns all state that a callback can change.
async fn state(studio: &DocumentServerFixture, document: &str) -> (Value, Vec<Value>, String, Vec<String>) {
    let mut files = studio.files();
    files.sort();
    (
        studio.seen(document).await,
        studio.versions(document).await,
        studio.key(document).await,
        files,
    )
}

shelved!(b01_status_1_records_editors_and_nothing_else, [], |_shelf, studio| {
    let world = &studio.app.world;
    let document = studio.document("Our page").await;
    let before = state(studio, &document).await;
    let editors = async || {
        let query = format!("SELECT editors FROM editing_sessions WHERE document_id = '{document}'");
        texts(&studio.app.database, query).await
    };
    for users in [
        json!([world.ben.id]),
        json!([world.ben.id, world.cem.id]),
        json!([world.cem.id]),
    ] {
        let joined = json!({"key": before.2, "status": 1, "users": users,
            "actions": [{"type": 1, "userid": world.ben.id}]});
        assert_eq!(tell(studio, &document, joined).await, ACCEPTED);
        assert_eq!(editors().await, [Some(users.to_string())]);
    }
    assert_eq!(state(studio, &document).await, before);
    let closed = json!({"key": before.2, "status": 4, "actions": [{"type": 0, "userid": world.cem.id}]});
    assert_eq!(tell(studio, &document, closed).await, ACCEPTED);
    assert_eq!(editors().await, Vec::<Option<String>>::new());
    // A callback with status 1 and no editors that arrives after the end does not reopen the session.
    let late = json!({"key": before.2, "status": 1, "users": []});
    assert_eq!(tell(studio, &document, late).await, ACCEPTED);
    assert_eq!(editors().await, Vec::<Option<String>>::new());
    assert_eq!(state(studio, &document).await, before);
});

shelved!(
    #[sqlite]
    b10_unknown_status_changes_nothing,
    [],
    |shelf, studio| {
        let document = studio.document("Our page").await;
        let before = state(studio, &document).await;
        let url = shelf.lay("odd", Manner::Whole(docx("odd")));
        for status in [0, 5, 8, 99, -1, i64::MAX] {
            let odd = save(status, &before.2, &url, 1);
            assert_eq!(tell(studio, &document, odd).await, ACCEPTED, "{status}");
        }
        for status in [
            json!("2"),
            json!(2.5),
            json!(null),
            json!([2]),
            json!({"status": 2}),
            json!(true),
        ] {
            let mut odd = save(2, &before.2, &url, 1);
            odd["status"] = status;
            let answer = post(studio, &document, json!({"token": sign(odd.clone())}), None).await;
            let problem = &answer.refused(400, "VALIDATION_ERROR")["details"][0];
            assert_eq!((&problem["path"], &problem["code"]), (&json!("status"), &json!("type")));
            odd.as_object_mut().unwrap().remove("status");
            let answer = post(studio, &document, json!({"token": sign(odd)}), None).await;
            answer.refused(403, MISMATCH);
        }
        assert_eq!(state(studio, &document).await, before);
        assert_eq!(shelf.fetched(), Vec::<String>::new());
    }
);

shelved!(
    #[sqlite]
    b13_body_fields_outside_the_token_are_ignored,
    [],
    |shelf, studio| {
        let document = studio.document("Our page").await;
        let (before, key) = (state(studio, &document).await, studio.key(&document).await);
        let closed = json!({"key": key, "status": 4});
        let url = shelf.lay("beside", Manner::Whole(docx("beside")));
        let mut lying = save(2, &key, &url, 1);
        lying["users"] = json!([studio.app.world.eli.id]);
        lying["token"] = json!(sign(closed.clone()));
        for header in [None, Some(sign(json!({"payload": closed})))] {
            let answer = post(studio, &document, lying.clone(), header).await;
            assert_eq!(answer.expect(200), json!({"error": 0}));
        }
        assert_eq!(state(studio, &document).await, before);
        assert_eq!(shelf.fetched(), Vec::<String>::new());
        // The reverse case: the plain body does not contain the save that the token contains.
        let mut body = json!({"key": "another", "status": 4, "users": [studio.app.world.eli.id]});
        let mut claims = save(2, &key, &url, 1);
        claims["users"] = json!([studio.app.world.ben.id]);
        body["token"] = json!(sign(claims));
        assert_eq!(
            post(studio, &document, body, None).await.expect(200),
            json!({"error": 0})
        );
        let seen = studio.seen(&document).await;
        assert_eq!(
            (&seen["version"], &seen["lastEditedBy"]),
            (&json!(1), &json!(studio.app.world.ben.id))
        );
    }
);

shelved!(
    #[sqlite]
    b14_history_is_read_from_body_token_if_header_has_none,
    [],
    |shelf, studio| {
        let (world, document) = (&studio.app.world, studio.document("Our page").await);
        let key = studio.key(&document).await;
        let history = |people: &[&str]| {
            let change = |id: &&str| json!({"created": "2026-11-20 07:59:00", "user": {"id": id, "name": "A Name"}});
            json!({"serverVersion": "9.3.1", "changes": people.iter().map(change).collect::<Vec<_>>()})
        };
        // A callback with a token only in the header is accepted, with its history.
        let mut forced = save(6, &key, &shelf.lay("one", Manner::Whole(docx("one"))), 1);
        forced["users"] = json!([world.ben.id]);
        forced["history"] = history(&[&world.ben.id]);
        let header = sign(json!({"payload": forced}));
        assert_eq!(
            post(studio, &document, forced, Some(header)).await.expect(200),
            json!({"error": 0})
        );
        // A long history is missing from the header and from the plain body. The token in the body contains it.
        let mut last = save(2, &key, &shelf.lay("two", Manner::Whole(docx("two"))), 2);
        last["users"] = json!([world.cem.id]);
        let mut cut = last.clone();
        last["history"] = history(&[&world.ben.id, &world.cem.id]);
        let header = sign(json!({"payload": cut}));
        cut["token"] = json!(sign(last));
        assert_eq!(
            post(studio, &document, cut, Some(header)).await.expect(200),
            json!({"error": 0})
        );

        let versions = studio.versions(&document).await;
        let change = |id: &str| json!({"userId": id, "at": "2026-11-20T07:59:00.000Z"});
        assert_eq!(
            versions[0]["changes"],
            json!([change(&world.ben.id), change(&world.cem.id)])
        );
        assert_eq!(versions[1]["changes"], json!([change(&world.ben.id)]));
        assert_eq!(versions[0]["serverVersion"], "9.3.1");
        let kept = "SELECT history FROM document_revisions WHERE history IS NOT NULL".to_owned();
        let kept = texts(&studio.app.database, kept).await;
        assert!(
            kept.len() == 2 && kept.iter().flatten().all(|text| !text.contains("A Name")),
            "{kept:?}"
        );
    }
);

shelved!(
    #[sqlite]
    b15_long_history_is_accepted_and_oversized_is_rejected,
    [],
    |shelf, studio| {
        let (world, document) = (&studio.app.world, studio.document("Our page").await);
        let key = studio.key(&document).await;
        let change =
            json!({"created": "2026-11-20 07:59:00", "documentSha256": "0".repeat(64), "user": {"id": world.ben.id}});
        let mut long = save(2, &key, &shelf.lay("long", Manner::Whole(docx("long"))), 1);
        long["history"] = json!({"serverVersion": "9.3.1", "changes": vec![change; 1500]});
        let mut body = long.clone();
        body["token"] = json!(sign(long));
        assert!(body.to_string().len() > 300 * 1024);
        assert_eq!(
            post(studio, &document, body, None).await.expect(200),
            json!({"error": 0})
        );
        let versions = studio.versions(&document).await;
        assert_eq!(
            versions[0]["changes"].as_array().unwrap().len(),
            100,
            "the last ones are kept"
        );
        let before = state(studio, &document).await;
        // The request announces 5 MB. The response arrives after 2 MB, without waiting for the rest.
        let address = studio.app.base.strip_prefix("http://").unwrap();
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        let head = format!(
            "POST /api{} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            path(&document, "/callback"),
            5 << 20
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&vec![b'x'; (2 << 20) + 1]).await.unwrap();
        let mut answer = [0; 64];
        let read = stream.read(&mut answer).await.unwrap();
        assert!(answer[..read].starts_with(b"HTTP/1.1 413"));
        assert_eq!(state(studio, &document).await, before);
    }
);

shelved!(
    b16_callback_with_key_of_another_document_stores_nothing,
    [],
    |shelf, studio| {
        let world = &studio.app.world;
        let (document, other) = (studio.document("Our page").await, studio.document("Another page").await);
        let south = studio.app.room(&world.south_class, &[&world.zack]).await;
        let new = json!({"title": "Theirs", "documentType": "word"});
        let rooms = format!("/workrooms/{}/documents", south.id);
        let theirs = studio.app.as_(&world.zoe).post(&rooms, new).await.expect(201);
        let before = (state(studio, &document).await, state(studio, &other).await);
        let url = shelf.lay("stray", Manner::Whole(docx("stray")));
        let keys = [
            studio.key(&other).await,
            format!("{}-1", theirs["id"].as_str().unwrap()),
            format!("{document}-2"),
            format!("{document}-0"),
            format!("{document}--1"),
            format!("x-{document}-1"),
            format!("{document}-1-1"),
            document.clone(),
            String::new(),
            "x".repeat(5000),
        ];
        for key in keys {
            for status in [1, 2, 4, 6, 7] {
                let mut stray = save(status, &key, &url, 1);
                stray["users"] = json!([world.ben.id]);
                let answer = post(studio, &document, json!({"token": sign(stray)}), None).await;
                answer.refused(403, MISMATCH);
            }
        }
        assert_eq!((state(studio, &document).await, state(studio, &other).await), before);
        let seen = studio
            .app
            .as_(&world.zoe)
            .get(&path(theirs["id"].as_str().unwrap(), ""))
            .await
            .expect(200);
        assert_eq!(seen["version"], 0);
        assert_eq!(shelf.fetched(), Vec::<String>::new(), "and nothing was fetched");
    }
);

shelved!(b17_late_save_is_stored_as_late_revision, [], |shelf, studio| {
    let world = &studio.app.world;
    let document = studio.document("Our page").await;
    let (first, ada) = (studio.key(&document).await, studio.app.as_(&world.ada));
    let lay = |name: &str| shelf.lay(name, Manner::Whole(docx(name)));
    assert_eq!(tell(studio, &document, save(2, &first, &lay("one"), 1)).await, ACCEPTED);
    let second = studio.key(&document).await;
    assert_eq!(
        tell(studio, &document, save(2, &second, &lay("two"), 2)).await,
        ACCEPTED
    );
    let before = studio.seen(&document).await;
    assert_eq!(
        tell(studio, &document, save(2, &first, &lay("late"), 3)).await,
        ACCEPTED
    );
    let seen = studio.seen(&document).await;
    assert_eq!((&seen["version"], &seen["size"]), (&before["version"], &before["size"]));
    assert_eq!(ada.get(&path(&document, "/download")).await.bytes, docx("two"));
    assert_eq!(studio.origins(&document).await, ["LATE", "EDITOR", "EDITOR"]);
    for person in [&world.ada, &world.ben] {
        let kept = studio
            .app
            .as_(person)
            .get(&path(&document, "/versions/3/download"))
            .await;
        assert_eq!(kept.bytes, docx("late"), "staff and group find what came late");
    }
    // The same callback again, and the same bytes under another name, add no revision.
    assert_eq!(
        tell(studio, &document, save(2, &first, &lay("late"), 3)).await,
        ACCEPTED
    );
    let again = shelf.lay("again", Manner::Whole(docx("late")));
    assert_eq!(tell(studio, &document, save(2, &first, &again, 4)).await, ACCEPTED);
    assert_eq!(studio.origins(&document).await.len(), 3);
});

shelved!(
    #[sqlite]
    b18_type_of_saved_file_is_detected_from_its_content,
    [],
    |shelf, studio| {
        let ada = studio.app.as_(&studio.app.world.ada);
        let rooms = format!("/workrooms/{}/documents", studio.room);
        let notes = ada
            .upload(&rooms, "notes.txt", b"Plain.".to_vec(), &[])
            .await
            .expect(201);
        let notes = notes["id"].as_str().unwrap().to_owned();
        // A plain text document that is saved as a text document becomes a text document.
        let url = shelf.lay("grown", Manner::Whole(docx("grown")));
        assert_eq!(
            tell(studio, &notes, save(2, &studio.key(&notes).await, &url, 1)).await,
            ACCEPTED
        );
        let config = studio.configuration(&studio.app.world.ben, &notes).await;
        assert_eq!(
            (&config["document"]["fileType"], &config["documentType"]),
            (&json!("docx"), &json!("word"))
        );
        let now = ada.get(&path(&notes, "/download")).await;
        assert!(now.header("content-disposition").contains("notes.docx") && now.bytes == docx("grown"));
        let earlier = ada.get(&path(&notes, "/versions/1/download")).await;
        assert!(earlier.header("content-disposition").contains("notes (version 1).txt"));

        // A text document cannot become a spreadsheet, whatever the callback contains.
        let document = studio.document("Our page").await;
        let key = studio.key(&document).await;
        let before = studio.versions(&document).await;
        let types = content_types("/xl/workbook.xml", SHEET);
        let table = archive(&[("[Content_Types].xml", types.as_bytes()), ("xl/workbook.xml", b"<x/>")]);
        for claimed in ["xlsx", "docx", "pdf", "docm", "", "../docx"] {
            let mut wrong = save(2, &key, &shelf.lay("table", Manner::Whole(table.clone())), 1);
            wrong["filetype"] = json!(claimed);
            assert_eq!(tell(studio, &document, wrong).await, REJECTED, "{claimed}");
        }
        assert_eq!(studio.versions(&document).await, before);
        assert!(
            studio.seen(&document).await["saveFailedAt"].is_string(),
            "the room hears of it"
        );
    }
);
