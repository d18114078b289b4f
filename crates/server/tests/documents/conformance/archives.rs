//! Checks Z1 to Z6: the archive of a topic is a snapshot, accepts every title, and lists missing files as errors.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::Method;
use serde_json::{Value, json};

use crate::documents::put;
use test_support::archive_entries::{ArchiveEntry, python_zip_error, read_archive, rows};
use test_support::document_server_fixture::{DocumentServerFixture, eventually, path, words};
use test_support::office::word_document_with;
use test_support::rows::{execute, texts};
use test_support::topics::{group, id, topic};
use test_support::{Answer, TestUser};

pub(super) async fn export(fixture: &DocumentServerFixture, person: &TestUser, query: &str) -> Answer {
    let path = format!("/assignments/{}/export.zip{query}", fixture.topic);
    fixture.app.as_(person).get(&path).await
}

/// Exports the archive as Ada.
pub(super) async fn archive(fixture: &DocumentServerFixture, query: &str) -> Vec<ArchiveEntry> {
    let answer = export(fixture, &fixture.app.world.ada, query).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/zip"));
    assert_eq!(python_zip_error(&answer.bytes), None, "Python reads it");
    read_archive(&answer.bytes)
}

pub(super) fn index(archive: &[ArchiveEntry]) -> Vec<BTreeMap<String, String>> {
    assert_eq!(archive[0].name, "index.csv", "the list comes first");
    rows(&archive[0].bytes)
}

pub(super) fn names(archive: &[ArchiveEntry]) -> Vec<&str> {
    archive.iter().map(|file| file.name.as_str()).collect()
}

pub(super) fn errors(archive: &[ArchiveEntry]) -> String {
    let last = archive.last().unwrap();
    assert!(
        archive[..archive.len() - 1]
            .iter()
            .all(|file| file.name != "errors.txt")
    );
    if last.name == "errors.txt" {
        String::from_utf8(last.bytes.clone()).unwrap()
    } else {
        String::new()
    }
}

/// Checks that every file in the list is present and matches its entry, or is listed among the errors.
pub(super) fn is_complete(archive: &[ArchiveEntry]) {
    let errors = errors(archive);
    for row in index(archive).iter().filter(|row| !row["file"].is_empty()) {
        let file = archive.iter().find(|file| file.name == row["file"]);
        let is_named = errors.contains(&row["file"]);
        let is_whole = file
            .is_some_and(|file| file.bytes.len().to_string() == row["size"] && sha256(&file.bytes) == row["sha256"]);
        assert!(is_whole != is_named, "{row:?}: {errors}");
    }
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest as _, Sha256};
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// Uploads a document with this content as Ben.
pub(super) async fn uploaded(fixture: &DocumentServerFixture, title: &str, bytes: Vec<u8>) -> String {
    let ben = fixture.app.as_(&fixture.app.world.ben);
    let rooms = format!("/workrooms/{}/documents", fixture.room);
    id(&ben
        .upload(&rooms, &format!("{title}.docx"), bytes, &[])
        .await
        .expect(201))
}

/// Creates a text document of about `size` bytes that cannot be compressed.
pub(super) fn incompressible_docx(text: &str, size: usize) -> Vec<u8> {
    let noise: Vec<u8> = (0..size).map(|_| rand::random()).collect();
    word_document_with(text, &[("word/media/noise.bin", &noise)])
}

with_both_editors!(
    #[sqlite]
    z01_archive_is_valid_and_has_unique_names_for_equal_titles,
    |fixture| {
        export(fixture, &fixture.app.world.ada, "")
            .await
            .refused(409, "NOTHING_TO_EXPORT");
        fixture.document("Plan").await;
        export(fixture, &fixture.app.world.ada, "?source=submission")
            .await
            .refused(409, "NOTHING_TO_EXPORT");
        let one = archive(fixture, "?format=both").await;
        assert_eq!(
            names(&one),
            ["index.csv", "Cells/1-Group 1/Plan.docx", "Cells/1-Group 1/Plan.pdf"]
        );
        for count in 1..50 {
            fixture
                .document(["plan", "PLAN", "Plan", "Plan (2)", "Grün"][count % 5])
                .await;
        }
        let fifty = archive(fixture, "").await;
        let unique: BTreeSet<String> = fifty.iter().map(|file| file.name.to_lowercase()).collect();
        assert_eq!((fifty.len(), unique.len()), (51, 51));
        assert!(
            names(&fifty).contains(&"Cells/1-Group 1/PLAN (2).docx"),
            "{:?}",
            names(&fifty)
        );
        assert_eq!(
            index(&fifty).len(),
            51,
            "a row for each document, and one for the group without any"
        );
        is_complete(&fifty);
    }
);

with_both_editors!(
    #[sqlite]
    z02_archive_file_name_of_any_title_is_safe,
    |fixture| {
        let (ada, database) = (fixture.app.as_(&fixture.app.world.ada), &fixture.app.database);
        let rooms = format!("/workrooms/{}/documents", fixture.room);
        for refused in ["x\0", "שלום \u{202E}fdp", &"x".repeat(300)] {
            ada.post(&rooms, json!({"title": refused, "documentType": "word"}))
                .await
                .invalid("title");
        }
        let titles = [
            "../../x",
            "a/b",
            "CON",
            "Übung ♥ 👩‍👩‍👧",
            "שלום fdp",
            &"👩".repeat(120),
            "=1+1",
            ".",
        ];
        for title in titles {
            fixture.document(title).await;
        }
        // A title that an older release may have accepted.
        let long = fixture.document("long").await;
        execute(
            database,
            format!("UPDATE documents SET title = '{}' WHERE id = '{long}'", "y".repeat(300)),
        )
        .await;
        execute(
            database,
            format!("UPDATE assignments SET title = '..' WHERE id = '{}'", fixture.topic),
        )
        .await;
        execute(
            database,
            format!(
                "UPDATE groups SET display_name = '/etc/aux.' WHERE id = '{}'",
                fixture.group
            ),
        )
        .await;
        let hidden = fixture.document("hidden").await;
        execute(
            database,
            format!("UPDATE documents SET title = 'שלום \u{202E}fdp' WHERE id = '{hidden}'"),
        )
        .await;
        let archive = archive(fixture, "").await;
        assert_eq!(archive.len(), titles.len() + 3);
        let mut found = BTreeSet::new();
        for file in &archive[1..] {
            let parts: Vec<&str> = file.name.split('/').collect();
            assert_eq!(
                (parts.len(), parts[0], parts[1]),
                (3, "file", "1-_etc_aux"),
                "{}",
                file.name
            );
            assert!(
                parts[2].chars().count() <= 100 && parts[2].len() <= 255,
                "{}",
                file.name
            );
            assert!(
                file.name.is_ascii() || file.is_utf8,
                "{} is not said to be UTF-8",
                file.name
            );
            let forbidden = |mail: char| mail.is_control() || "\\:*?\"<>|\u{202E}".contains(mail);
            assert!(!file.name.contains(forbidden), "{}", file.name);
            found.insert(parts[2]);
        }
        for expected in [
            "_.._x.docx",
            "a_b.docx",
            "_CON.docx",
            "Übung ♥ 👩‍👩‍👧.docx",
            "=1+1.docx",
            "file.docx",
        ] {
            assert!(found.contains(expected), "{expected}: {found:?}");
        }
        let list = String::from_utf8(archive[0].bytes.clone()).unwrap();
        assert!(list.contains("\"'=1+1\""), "a spreadsheet would run it: {list}");
        is_complete(&archive);
    }
);

with_both_editors!(z03_archive_is_a_snapshot_without_later_saves, |fixture| {
    let (world, ada) = (&fixture.app.world, fixture.app.as_(&fixture.app.world.ada));
    // More data than all buffers between service and client hold.
    for count in 0..5 {
        uploaded(
            fixture,
            &format!("Heavy {count}"),
            incompressible_docx("heavy", 4 << 20),
        )
        .await;
    }
    let written = fixture.document("Written").await;
    fixture.write(&world.ben, &written, "Before.").await;
    let blank = fixture.document("Blank").await;
    let gone = uploaded(fixture, "Gone", incompressible_docx("gone", 1000)).await;
    let request = ada.request(
        Method::GET,
        &format!("/assignments/{}/export.zip?format=both", fixture.topic),
    );
    let mut answer = request.send().await.unwrap();
    let mut bytes = answer.chunk().await.unwrap().unwrap().to_vec();

    fixture.write(&world.ben, &written, "Afterwards.").await;
    fixture.write(&world.ben, &blank, "Afterwards.").await;
    fixture.document("New").await;
    ada.delete(&path(&gone, "")).await.expect(200);
    eventually(async || !fixture.files().iter().any(|name| name.starts_with(&gone))).await;
    while let Some(piece) = answer.chunk().await.unwrap() {
        bytes.extend_from_slice(&piece);
    }
    let archive = read_archive(&bytes);
    is_complete(&archive);
    assert_eq!(index(&archive).len(), 9, "eight documents, and a group without any");
    let file = |name: &str| &archive.iter().find(|file| file.name.ends_with(name)).unwrap().bytes;
    for name in ["Written.docx", "Written.pdf", "Blank.docx", "Blank.pdf"] {
        assert!(
            !words(file(name)).contains("Afterwards."),
            "{name} is of another moment"
        );
    }
    assert!(words(file("Written.pdf")).contains("Before."));
    let errors = errors(&archive);
    assert!(
        errors.contains("/Gone.docx: it is not in the storage any more"),
        "{errors}"
    );
    assert!(
        errors.contains("/Gone.pdf: it could not be converted") && errors.lines().count() == 2,
        "{errors}"
    );
});

with_both_editors!(z06_archive_has_documents_of_one_topic_for_its_staff_only, |fixture| {
    let (world, ada, database) = (
        &fixture.app.world,
        fixture.app.as_(&fixture.app.world.ada),
        &fixture.app.database,
    );
    let class = &world.seven_b;
    let other = id(&topic(&ada, class, json!({"title": "Other", "groupIds": [fixture.group]})).await);
    let stranger = group(&ada, class, &[&world.eli], json!({})).await;
    topic(&ada, class, json!({"title": "Third", "groupIds": [stranger]})).await;
    let ours = fixture.document("Ours").await;
    fixture.submit(&world.ben, &ours).await.expect(200);
    fixture.document("Loose").await;
    let theirs = fixture.document("Theirs").await;
    let hand_in = json!({"assignmentId": other});
    fixture
        .app
        .as_(&world.ben)
        .post(&path(&theirs, "/submit"), hand_in)
        .await
        .expect(200);
    fixture.document_in(&fixture.hidden_room().await, "Hidden").await;
    let titles = |archive: &[ArchiveEntry]| -> Vec<String> {
        index(archive).iter().map(|row| row["document"].clone()).collect()
    };
    let all = archive(fixture, "").await;
    assert_eq!(
        titles(&all),
        ["Ours", "Loose", "Hidden"],
        "Theirs is for the other topic"
    );
    is_complete(&all);

    for (person, status, code) in [
        (&world.ben, 403, "FORBIDDEN_ROLE"),
        (&world.dana, 403, "FORBIDDEN_ROLE"),
        (&world.tom, 404, "NOT_FOUND"),
        (&world.zoe, 404, "NOT_FOUND"),
    ] {
        export(fixture, person, "").await.refused(status, code);
    }
    assert_eq!(export(fixture, &world.adam, "").await.status, 200);
    let exports = format!(
        "SELECT details FROM activity_logs WHERE action = 'EXPORT' AND assignment_id = '{}'",
        fixture.topic
    );
    assert_eq!(
        texts(database, exports).await.len(),
        2,
        "only what was handed out is recorded"
    );

    let one = archive(fixture, &format!("?groupIds={}", fixture.hidden)).await;
    assert_eq!(titles(&one), ["Hidden"]);
    let unknown = format!("?groupIds={},{stranger}", fixture.group);
    export(fixture, &world.ada, &unknown).await.refused(404, "NOT_FOUND");
    for (query, field) in [
        ("?format=docx", "format"),
        ("?source=both", "source"),
        ("?groupIds=", "groupIds"),
        ("?groupIds=a,a", "groupIds"),
    ] {
        export(fixture, &world.ada, query).await.invalid(field);
    }

    // The submitted content does not change.
    let before = archive(fixture, "?source=submission").await;
    assert_eq!(titles(&before), ["Ours", ""]);
    fixture
        .app
        .as_(&world.ben)
        .post(&path(&ours, "/unsubmit"), json!({}))
        .await
        .expect(200);
    put(
        &fixture.app.as_(&world.ben),
        &path(&ours, ""),
        incompressible_docx("new", 10),
        "a.docx",
    )
    .await
    .expect(200);
    fixture.submit(&world.ben, &ours).await.expect(200);
    let after = archive(fixture, "?source=submission").await;
    let row = |archive: &[ArchiveEntry]| index(archive)[0].clone();
    assert_ne!(row(&before)["sha256"], row(&after)["sha256"]);
    let expected = [
        ("groupNumber", "1"),
        ("status", "SUBMITTED"),
        ("attempt", "2"),
        ("late", "0"),
        ("linked", "1"),
        ("grade", ""),
        ("file", "Cells/1-Group 1/Ours.docx"),
        ("pdf", ""),
    ];
    for (column, value) in expected {
        assert_eq!(row(&after)[column], value, "{column}");
    }
    assert!(row(&after)["members"].contains("; ") && row(&after)["submittedAt"].ends_with('Z'));
    assert_eq!(Value::from(row(&all)["documentStatus"].as_str()), json!("SUBMITTED"));
});
