//! Documents as PDF (contract 6.10, 8.4): for whom, made once, and what goes wrong with them.

use practice_document_server::{Down, Faults};
use serde_json::json;

use crate::support::studio::{Studio, path, words};

fn conversions(studio: &Studio) -> usize {
    studio
        .server
        .requests()
        .iter()
        .filter(|heard| heard.what == "converter")
        .count()
}

studio!(a_pdf_is_made_once_for_each_state_of_a_document, |studio| {
    let (ben, ada) = (&studio.app.world.ben, studio.app.as_(&studio.app.world.ada));
    let document = studio.document("Grüße / aus 7b").await;
    let pdf = path(&document, "/pdf");
    let blank = ada.get(&pdf).await;
    assert_eq!(
        (blank.status, &blank.bytes[..5]),
        (200, b"%PDF-".as_slice()),
        "a document nobody wrote in"
    );
    studio.write(ben, &document, "First state.").await;
    let first = ada.get(&pdf).await;
    assert_eq!((first.status, first.header("content-type")), (200, "application/pdf"));
    assert!(
        first
            .header("content-disposition")
            .contains("Gr%C3%BC%C3%9Fe%20_%20aus%207b.pdf")
    );
    assert!(words(&first.bytes).contains("First state."));
    let so_far = conversions(studio);
    assert_eq!(ada.get(&pdf).await.bytes, first.bytes);
    assert_eq!(conversions(studio), so_far, "the second reader gets the kept one");

    studio.write(ben, &document, "Second state.").await;
    let second = ada.get(&pdf).await;
    assert!(
        words(&second.bytes).contains("Second state."),
        "another state is another conversion"
    );
    let keys: Vec<String> = studio
        .server
        .requests()
        .iter()
        .filter(|heard| heard.what == "converter")
        .map(|heard| heard.parameters["key"].as_str().unwrap().to_owned())
        .collect();
    assert!(keys.iter().all(|key| key.len() == 64));
});

studio!(students_get_the_pdf_once_the_topic_is_finished, |studio| {
    let (world, document) = (&studio.app.world, studio.document("Our page").await);
    studio.write(&world.ben, &document, "Ours.").await;
    let pdf = path(&document, "/pdf");
    studio
        .app
        .as_(&world.ben)
        .get(&pdf)
        .await
        .refused(409, "ASSIGNMENT_NOT_FINISHED");
    studio.submit(&world.ben, &document).await.expect(200);
    studio
        .app
        .as_(&world.ben)
        .get(&pdf)
        .await
        .refused(409, "ASSIGNMENT_NOT_FINISHED");
    studio.finish().await;
    for person in [&world.ben, &world.cem, &world.ada, &world.adam] {
        assert!(words(&studio.app.as_(person).get(&pdf).await.bytes).contains("Ours."));
    }
    for stranger in [&world.dana, &world.tom, &world.zoe] {
        studio.app.as_(stranger).get(&pdf).await.refused(404, "NOT_FOUND");
    }
});

studio!(readers_at_once_share_one_conversion, |studio| {
    let document = studio.document("Our page").await;
    studio.write(&studio.app.world.ben, &document, "For all.").await;
    studio.server.faults().change(|faults| faults.conversion_polls = 2);
    let ada = studio.app.as_(&studio.app.world.ada);
    let pdf = path(&document, "/pdf");
    let all = futures_util::future::join_all((0..6).map(|_| ada.get(&pdf))).await;
    assert!(
        all.iter()
            .all(|answer| answer.status == 200 && answer.bytes == all[0].bytes)
    );
    let kept = studio
        .files()
        .iter()
        .filter(|name| name.rsplit('.').next() == Some("pdf"))
        .count();
    assert_eq!(kept, 1);
});

studio!(a_pdf_passes_through, |studio| {
    let ada = studio.app.as_(&studio.app.world.ada);
    let bytes = practice_document_server::pdf_document("Sheet", &["Ready made.".to_owned()]);
    let rooms = format!("/workrooms/{}/documents", studio.room);
    let sheet = ada.upload(&rooms, "sheet.pdf", bytes.clone(), &[]).await.expect(201);
    let id = sheet["id"].as_str().unwrap();
    assert_eq!(ada.get(&path(id, "/pdf")).await.bytes, bytes);
    assert_eq!(conversions(studio), 0);
    let config = studio.configuration(&studio.app.world.ben, id).await;
    assert_eq!(config["editorConfig"]["mode"], "view", "a PDF is read, not written");
});

studio!(each_failure_of_a_conversion_has_its_own_word, |studio| {
    let document = studio.document("Our page").await;
    studio.write(&studio.app.world.ben, &document, "Unlucky.").await;
    let ada = studio.app.as_(&studio.app.world.ada);
    let pdf = path(&document, "/pdf");
    let mut words = std::collections::BTreeSet::new();
    for error in [-1, -3, -4, -5, -6, -7, -8, -9, -10] {
        studio.server.set_faults(Faults {
            conversion_error: Some(error),
            ..Faults::default()
        });
        let refused = ada.get(&pdf).await.refused(502, "DOCSERVER_ERROR");
        assert_eq!(refused["details"][0]["path"], "documentServer");
        words.insert(refused["details"][0]["code"].as_str().unwrap().to_owned());
    }
    assert_eq!(words.len(), 9);
    studio
        .server
        .faults()
        .change(|faults| faults.conversion_error = Some(-2));
    ada.get(&pdf).await.refused(504, "DOCSERVER_TIMEOUT");
    studio.server.set_faults(Faults {
        down: Some(Down::Refuse),
        ..Faults::default()
    });
    ada.get(&pdf).await.refused(502, "DOCSERVER_ERROR");
    let config = studio.configuration(&studio.app.world.ben, &document).await;
    assert_eq!(
        config["editorConfig"]["mode"],
        json!("edit"),
        "pages open without asking it"
    );
    studio.server.faults().clear();
    crate::support::studio::eventually(async || ada.get(&pdf).await.status == 200).await;
});
