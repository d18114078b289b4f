//! Checks B1 to B18 with hand-written callbacks that no editor sends.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use test_support::document_server_fixture::{DocumentServerFixture, path};
use test_support::fake_document_server::{ResultDelivery, post, save, sign, tell};
use test_support::office::{SHEET, archive, content_types, docx};
use test_support::rows::texts;

const ACCEPTED: (u16, i64) = (200, 0);
const REJECTED: (u16, i64) = (200, 1);
const MISMATCH: &str = "DOCSERVER_TOKEN_MISMATCH";

/// Returns all state that a callback can change.
async fn state(fixture: &DocumentServerFixture, document: &str) -> (Value, Vec<Value>, String, Vec<String>) {
    let mut files = fixture.files();
    files.sort();
    (
        fixture.get_document(document).await,
        fixture.versions(document).await,
        fixture.key(document).await,
        files,
    )
}

with_fake_document_server!(b01_status_1_records_editors_and_nothing_else, [], |_shelf, fixture| {
    let world = &fixture.app.world;
    let document = fixture.document("Our page").await;
    let before = state(fixture, &document).await;
    let editors = async || {
        let query = format!("SELECT editors FROM editing_sessions WHERE document_id = '{document}'");
        texts(&fixture.app.database, query).await
    };
    for users in [
        json!([world.ben.id]),
        json!([world.ben.id, world.cem.id]),
        json!([world.cem.id]),
    ] {
        let joined = json!({"key": before.2, "status": 1, "users": users,
            "actions": [{"type": 1, "userid": world.ben.id}]});
        assert_eq!(tell(fixture, &document, joined).await, ACCEPTED);
        assert_eq!(editors().await, [Some(users.to_string())]);
    }
    assert_eq!(state(fixture, &document).await, before);
    let closed = json!({"key": before.2, "status": 4, "actions": [{"type": 0, "userid": world.cem.id}]});
    assert_eq!(tell(fixture, &document, closed).await, ACCEPTED);
    assert_eq!(editors().await, Vec::<Option<String>>::new());
    // A callback with status 1 and no editors that arrives after the end does not reopen the session.
    let late = json!({"key": before.2, "status": 1, "users": []});
    assert_eq!(tell(fixture, &document, late).await, ACCEPTED);
    assert_eq!(editors().await, Vec::<Option<String>>::new());
    assert_eq!(state(fixture, &document).await, before);
});

with_fake_document_server!(
    #[sqlite]
    b10_unknown_status_changes_nothing,
    [],
    |fake_server, fixture| {
        let document = fixture.document("Our page").await;
        let before = state(fixture, &document).await;
        let url = fake_server.add_result("odd", ResultDelivery::Whole(docx("odd")));
        for status in [0, 5, 8, 99, -1, i64::MAX] {
            let odd = save(status, &before.2, &url, 1);
            assert_eq!(tell(fixture, &document, odd).await, ACCEPTED, "{status}");
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
            let answer = post(fixture, &document, json!({"token": sign(odd.clone())}), None).await;
            let problem = &answer.refused(400, "VALIDATION_ERROR")["details"][0];
            assert_eq!((&problem["path"], &problem["code"]), (&json!("status"), &json!("type")));
            odd.as_object_mut().unwrap().remove("status");
            let answer = post(fixture, &document, json!({"token": sign(odd)}), None).await;
            answer.refused(403, MISMATCH);
        }
        assert_eq!(state(fixture, &document).await, before);
        assert_eq!(fake_server.fetched(), Vec::<String>::new());
    }
);

with_fake_document_server!(
    #[sqlite]
    b13_body_fields_outside_the_token_are_ignored,
    [],
    |fake_server, fixture| {
        let document = fixture.document("Our page").await;
        let (before, key) = (state(fixture, &document).await, fixture.key(&document).await);
        let closed = json!({"key": key, "status": 4});
        let url = fake_server.add_result("beside", ResultDelivery::Whole(docx("beside")));
        let mut lying = save(2, &key, &url, 1);
        lying["users"] = json!([fixture.app.world.eli.id]);
        lying["token"] = json!(sign(closed.clone()));
        for header in [None, Some(sign(json!({"payload": closed})))] {
            let answer = post(fixture, &document, lying.clone(), header).await;
            assert_eq!(answer.expect(200), json!({"error": 0}));
        }
        assert_eq!(state(fixture, &document).await, before);
        assert_eq!(fake_server.fetched(), Vec::<String>::new());
        // The reverse case: the plain body does not contain the save that the token contains.
        let mut body = json!({"key": "another", "status": 4, "users": [fixture.app.world.eli.id]});
        let mut claims = save(2, &key, &url, 1);
        claims["users"] = json!([fixture.app.world.ben.id]);
        body["token"] = json!(sign(claims));
        assert_eq!(
            post(fixture, &document, body, None).await.expect(200),
            json!({"error": 0})
        );
        let seen = fixture.get_document(&document).await;
        assert_eq!(
            (&seen["version"], &seen["lastEditedBy"]),
            (&json!(1), &json!(fixture.app.world.ben.id))
        );
    }
);

with_fake_document_server!(
    #[sqlite]
    b14_history_is_read_from_body_token_if_header_has_none,
    [],
    |fake_server, fixture| {
        let (world, document) = (&fixture.app.world, fixture.document("Our page").await);
        let key = fixture.key(&document).await;
        let history = |people: &[&str]| {
            let change = |id: &&str| json!({"created": "2026-11-20 07:59:00", "user": {"id": id, "name": "A Name"}});
            json!({"serverVersion": "9.3.1", "changes": people.iter().map(change).collect::<Vec<_>>()})
        };
        // A callback with a token only in the header is accepted, with its history.
        let mut forced = save(
            6,
            &key,
            &fake_server.add_result("one", ResultDelivery::Whole(docx("one"))),
            1,
        );
        forced["users"] = json!([world.ben.id]);
        forced["history"] = history(&[&world.ben.id]);
        let header = sign(json!({"payload": forced}));
        assert_eq!(
            post(fixture, &document, forced, Some(header)).await.expect(200),
            json!({"error": 0})
        );
        // A long history is missing from the header and from the plain body. The token in the body contains it.
        let mut last = save(
            2,
            &key,
            &fake_server.add_result("two", ResultDelivery::Whole(docx("two"))),
            2,
        );
        last["users"] = json!([world.cem.id]);
        let mut cut = last.clone();
        last["history"] = history(&[&world.ben.id, &world.cem.id]);
        let header = sign(json!({"payload": cut}));
        cut["token"] = json!(sign(last));
        assert_eq!(
            post(fixture, &document, cut, Some(header)).await.expect(200),
            json!({"error": 0})
        );

        let versions = fixture.versions(&document).await;
        let change = |id: &str| json!({"userId": id, "at": "2026-11-20T07:59:00.000Z"});
        assert_eq!(
            versions[0]["changes"],
            json!([change(&world.ben.id), change(&world.cem.id)])
        );
        assert_eq!(versions[1]["changes"], json!([change(&world.ben.id)]));
        assert_eq!(versions[0]["serverVersion"], "9.3.1");
        let kept = "SELECT history FROM document_revisions WHERE history IS NOT NULL".to_owned();
        let kept = texts(&fixture.app.database, kept).await;
        assert!(
            kept.len() == 2 && kept.iter().flatten().all(|text| !text.contains("A Name")),
            "{kept:?}"
        );
    }
);

with_fake_document_server!(
    #[sqlite]
    b15_long_history_is_accepted_and_oversized_is_rejected,
    [],
    |fake_server, fixture| {
        let (world, document) = (&fixture.app.world, fixture.document("Our page").await);
        let key = fixture.key(&document).await;
        let change =
            json!({"created": "2026-11-20 07:59:00", "documentSha256": "0".repeat(64), "user": {"id": world.ben.id}});
        let mut long = save(
            2,
            &key,
            &fake_server.add_result("long", ResultDelivery::Whole(docx("long"))),
            1,
        );
        long["history"] = json!({"serverVersion": "9.3.1", "changes": vec![change; 1500]});
        let mut body = long.clone();
        body["token"] = json!(sign(long));
        assert!(body.to_string().len() > 300 * 1024);
        assert_eq!(
            post(fixture, &document, body, None).await.expect(200),
            json!({"error": 0})
        );
        let versions = fixture.versions(&document).await;
        assert_eq!(
            versions[0]["changes"].as_array().unwrap().len(),
            100,
            "the last ones are kept"
        );
        let before = state(fixture, &document).await;
        // The request announces 5 MB. The response arrives after 2 MB, without waiting for the rest.
        let address = fixture.app.base.strip_prefix("http://").unwrap();
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
        assert_eq!(state(fixture, &document).await, before);
    }
);

with_fake_document_server!(
    b16_callback_with_key_of_another_document_stores_nothing,
    [],
    |fake_server, fixture| {
        let world = &fixture.app.world;
        let (document, other) = (
            fixture.document("Our page").await,
            fixture.document("Another page").await,
        );
        let south = fixture.app.room(&world.south_class, &[&world.zack]).await;
        let new = json!({"title": "Theirs", "documentType": "word"});
        let rooms = format!("/workrooms/{}/documents", south.id);
        let theirs = fixture.app.as_(&world.zoe).post(&rooms, new).await.expect(201);
        let before = (state(fixture, &document).await, state(fixture, &other).await);
        let url = fake_server.add_result("stray", ResultDelivery::Whole(docx("stray")));
        let keys = [
            fixture.key(&other).await,
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
                let answer = post(fixture, &document, json!({"token": sign(stray)}), None).await;
                answer.refused(403, MISMATCH);
            }
        }
        assert_eq!((state(fixture, &document).await, state(fixture, &other).await), before);
        let seen = fixture
            .app
            .as_(&world.zoe)
            .get(&path(theirs["id"].as_str().unwrap(), ""))
            .await
            .expect(200);
        assert_eq!(seen["version"], 0);
        assert_eq!(fake_server.fetched(), Vec::<String>::new(), "and nothing was fetched");
    }
);

with_fake_document_server!(b17_late_save_is_stored_as_late_revision, [], |fake_server, fixture| {
    let world = &fixture.app.world;
    let document = fixture.document("Our page").await;
    let (first, ada) = (fixture.key(&document).await, fixture.app.as_(&world.ada));
    let add_result = |name: &str| fake_server.add_result(name, ResultDelivery::Whole(docx(name)));
    assert_eq!(
        tell(fixture, &document, save(2, &first, &add_result("one"), 1)).await,
        ACCEPTED
    );
    let second = fixture.key(&document).await;
    assert_eq!(
        tell(fixture, &document, save(2, &second, &add_result("two"), 2)).await,
        ACCEPTED
    );
    let before = fixture.get_document(&document).await;
    assert_eq!(
        tell(fixture, &document, save(2, &first, &add_result("late"), 3)).await,
        ACCEPTED
    );
    let seen = fixture.get_document(&document).await;
    assert_eq!((&seen["version"], &seen["size"]), (&before["version"], &before["size"]));
    assert_eq!(ada.get(&path(&document, "/download")).await.bytes, docx("two"));
    assert_eq!(fixture.origins(&document).await, ["LATE", "EDITOR", "EDITOR"]);
    for person in [&world.ada, &world.ben] {
        let kept = fixture
            .app
            .as_(person)
            .get(&path(&document, "/versions/3/download"))
            .await;
        assert_eq!(kept.bytes, docx("late"), "staff and group find what came late");
    }
    // The same callback again, and the same bytes under another name, add no revision.
    assert_eq!(
        tell(fixture, &document, save(2, &first, &add_result("late"), 3)).await,
        ACCEPTED
    );
    let again = fake_server.add_result("again", ResultDelivery::Whole(docx("late")));
    assert_eq!(tell(fixture, &document, save(2, &first, &again, 4)).await, ACCEPTED);
    assert_eq!(fixture.origins(&document).await.len(), 3);
});

with_fake_document_server!(
    #[sqlite]
    b18_type_of_saved_file_is_detected_from_its_content,
    [],
    |fake_server, fixture| {
        let ada = fixture.app.as_(&fixture.app.world.ada);
        let rooms = format!("/workrooms/{}/documents", fixture.room);
        let notes = ada
            .upload(&rooms, "notes.txt", b"Plain.".to_vec(), &[])
            .await
            .expect(201);
        let notes = notes["id"].as_str().unwrap().to_owned();
        // A plain text document that is saved as a text document becomes a text document.
        let url = fake_server.add_result("grown", ResultDelivery::Whole(docx("grown")));
        assert_eq!(
            tell(fixture, &notes, save(2, &fixture.key(&notes).await, &url, 1)).await,
            ACCEPTED
        );
        let config = fixture.configuration(&fixture.app.world.ben, &notes).await;
        assert_eq!(
            (&config["document"]["fileType"], &config["documentType"]),
            (&json!("docx"), &json!("word"))
        );
        let now = ada.get(&path(&notes, "/download")).await;
        assert!(now.header("content-disposition").contains("notes.docx") && now.bytes == docx("grown"));
        let earlier = ada.get(&path(&notes, "/versions/1/download")).await;
        assert!(earlier.header("content-disposition").contains("notes (version 1).txt"));

        // A text document cannot become a spreadsheet, whatever the callback contains.
        let document = fixture.document("Our page").await;
        let key = fixture.key(&document).await;
        let before = fixture.versions(&document).await;
        let types = content_types("/xl/workbook.xml", SHEET);
        let table = archive(&[("[Content_Types].xml", types.as_bytes()), ("xl/workbook.xml", b"<x/>")]);
        for claimed in ["xlsx", "docx", "pdf", "docm", "", "../docx"] {
            let mut wrong = save(
                2,
                &key,
                &fake_server.add_result("table", ResultDelivery::Whole(table.clone())),
                1,
            );
            wrong["filetype"] = json!(claimed);
            assert_eq!(tell(fixture, &document, wrong).await, REJECTED, "{claimed}");
        }
        assert_eq!(fixture.versions(&document).await, before);
        assert!(
            fixture.get_document(&document).await["saveFailedAt"].is_string(),
            "the room receives the event"
        );
    }
);
