//! Documents as PDF: permissions, caching and failures.

use test_support::document_server_fixture::{DocumentServerFixture, path, words};

pub fn conversions(fixture: &DocumentServerFixture) -> usize {
    fixture
        .server
        .requests()
        .iter()
        .filter(|heard| heard.what == "converter")
        .count()
}

with_document_server!(student_gets_pdf_only_after_topic_is_finished, |fixture| {
    let (world, document) = (&fixture.app.world, fixture.document("Our page").await);
    fixture.write(&world.ben, &document, "Ours.").await;
    let pdf = path(&document, "/pdf");
    fixture
        .app
        .as_(&world.ben)
        .get(&pdf)
        .await
        .refused(409, "ASSIGNMENT_NOT_FINISHED");
    fixture.submit(&world.ben, &document).await.expect(200);
    fixture
        .app
        .as_(&world.ben)
        .get(&pdf)
        .await
        .refused(409, "ASSIGNMENT_NOT_FINISHED");
    fixture.finish().await;
    for person in [&world.ben, &world.cem, &world.ada, &world.adam] {
        assert!(words(&fixture.app.as_(person).get(&pdf).await.bytes).contains("Ours."));
    }
    for stranger in [&world.dana, &world.tom, &world.zoe] {
        fixture.app.as_(stranger).get(&pdf).await.refused(404, "NOT_FOUND");
    }
});

with_document_server!(uploaded_pdf_is_served_without_conversion, |fixture| {
    let ada = fixture.app.as_(&fixture.app.world.ada);
    let bytes = document_server_simulator::pdf_document("Sheet", &["Ready made.".to_owned()]);
    let rooms = format!("/workrooms/{}/documents", fixture.room);
    let sheet = ada.upload(&rooms, "sheet.pdf", bytes.clone(), &[]).await.expect(201);
    let id = sheet["id"].as_str().unwrap();
    assert_eq!(ada.get(&path(id, "/pdf")).await.bytes, bytes);
    assert_eq!(conversions(fixture), 0);
    let config = fixture.configuration(&fixture.app.world.ben, id).await;
    assert_eq!(config["editorConfig"]["mode"], "view", "a PDF is read, not written");
});
