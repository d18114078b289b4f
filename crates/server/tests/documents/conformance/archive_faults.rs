//! Checks Z4 and Z5: archives when files are missing, the document server fails or the client disconnects.

use std::collections::BTreeSet;

use document_server_simulator::{Faults, Outage};
use reqwest::Method;

use super::archives::{archive, errors, incompressible_docx, is_complete, names, uploaded};
use test_support::document_server_fixture::{eventually, path};
use test_support::topics::id;

with_both_editors!(z04_archive_lists_missing_and_damaged_files_as_errors, |fixture| {
    let mut documents = Vec::new();
    for title in ["Whole", "Missing", "Damaged", "Cut", "Small"] {
        documents.push(
            uploaded(
                fixture,
                title,
                incompressible_docx(title, if title == "Small" { 100 } else { 300_000 }),
            )
            .await,
        );
    }
    let place = |document: &str| {
        let mut folders = vec![fixture.app.folder().join("files")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                match entry.file_name().unwrap().to_str().unwrap() {
                    _ if entry.is_dir() => folders.push(entry),
                    name if name.starts_with(document) => return entry,
                    _ => {}
                }
            }
        }
        panic!("{document} has no file");
    };
    std::fs::remove_file(place(&documents[1])).unwrap();
    for (document, at) in [(&documents[2], 150_000), (&documents[4], 60)] {
        let mut bytes = std::fs::read(place(document)).unwrap();
        bytes[at] ^= 1;
        std::fs::write(place(document), bytes).unwrap();
    }
    let cut = std::fs::OpenOptions::new()
        .write(true)
        .open(place(&documents[3]))
        .unwrap();
    cut.set_len(1000).unwrap();
    let originals = archive(fixture, "").await;
    is_complete(&originals);
    let context = errors(&originals);
    assert_eq!(context.lines().count(), 4, "{context}");
    for (title, what) in [
        ("Missing", "it is not in the storage any more"),
        ("Damaged", "it is damaged"),
        ("Cut", "it is damaged"),
        ("Small", "it is damaged"),
    ] {
        assert!(context.contains(&format!("/{title}.docx: {what}")), "{context}");
    }

    let converted = archive(fixture, "?format=pdf").await;
    is_complete(&converted);
    let context = errors(&converted);
    assert_eq!((names(&converted).len(), context.lines().count()), (3, 4), "{context}");
    for title in ["Missing", "Damaged", "Cut", "Small"] {
        assert!(
            context.contains(&format!("/{title}.pdf: it could not be converted")),
            "{context}"
        );
    }
});

with_document_server!(z04_archive_lists_failed_conversions_as_errors, |fixture| {
    uploaded(fixture, "Whole", incompressible_docx("Whole", 100)).await;
    fixture.server.set_faults(Faults {
        conversion_error: Some(-5),
        ..Faults::default()
    });
    let refused = archive(fixture, "?format=pdf").await;
    let context = errors(&refused);
    assert!(context.contains("/Whole.pdf: it could not be converted"), "{context}");
    assert_eq!((names(&refused).len(), context.lines().count()), (2, 1), "{context}");
    fixture.server.set_faults(Faults {
        down: Some(Outage::Refuse),
        ..Faults::default()
    });
    for count in 0..14 {
        fixture.document(&format!("More {count}")).await;
    }
    let both = archive(fixture, "?format=both").await;
    is_complete(&both);
    let context = errors(&both);
    assert_eq!(context.lines().count(), 15, "{context}");
    assert!(
        context.contains("failed again and again"),
        "it is not asked for ever: {context}"
    );
});

with_both_editors!(
    z05_client_disconnect_stops_archive_conversions,
    // Without limits, the running exports of a user are not counted.
    ["--rate-limit-factor=1"],
    |fixture| {
        for count in 0..20 {
            fixture.document(&format!("Page {count}")).await;
        }
        fixture.server.faults().update(|faults| faults.conversion_polls = 3);
        let world = &fixture.app.world;
        let user = domain::id::UserId::new(world.ada.id.as_str());
        let request = fixture.app.as_(&world.ada);
        let request = request.request(
            Method::GET,
            &format!("/assignments/{}/export.zip?format=pdf", fixture.topic),
        );
        let mut answer = request.send().await.unwrap();
        answer.chunk().await.unwrap().unwrap();
        let asked = || {
            let heard = fixture.server.requests();
            let keys = heard.iter().filter(|heard| heard.what == "converter");
            keys.map(|heard| heard.parameters["key"].to_string())
                .collect::<BTreeSet<_>>()
                .len()
        };
        // The built-in editor converts without a document server.
        eventually(async || fixture.is_builtin() || asked() > 0).await;
        drop(answer);
        eventually(async || {
            fixture
                .app
                .app
                .rate_limiter()
                .acquire_export(&user)
                .is_ok_and(|_one| fixture.app.app.rate_limiter().acquire_export(&user).is_ok())
        })
        .await;
        // The running conversions end. The waiting ones are dropped.
        let begun = asked();
        assert!(begun < 20, "all were converted already");
        let ada = fixture.app.as_(&world.ada);
        fixture.server.faults().clear();
        let list = ada
            .get(&format!("/workrooms/{}/documents", fixture.room))
            .await
            .expect(200);
        let last = list.as_array().unwrap().last().unwrap().clone();
        assert_eq!(
            ada.get(&path(&id(&last), "/pdf")).await.status,
            200,
            "there are turns for others"
        );
        // A running conversion sends one or two more requests at most. A waiting conversion never starts.
        assert!(asked() <= begun + 1 + 4, "{begun} and then {}", asked());
    }
);
