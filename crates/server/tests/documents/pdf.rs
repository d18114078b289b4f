//! Documents as PDF: permissions, caching and failures.

use test_support::document_server_fixture::{DocumentServerFixture, path, words};

pub fn conversions(studio: &DocumentServerFixture) -> usize {
    studio
        .server
        .requests()
        .iter()
        .filter(|heard| heard.what == "converter")
        .count()
}

studio!(student_gets_pdf_only_after_topic_is_finished, |studio| {
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

studio!(uploaded_pdf_is_served_without_conversion, |studio| {
    let ada = studio.app.as_(&studio.app.world.ada);
    let bytes = document_server_simulator::pdf_document("Sheet", &["Ready made.".to_owned()]);
    let rooms = format!("/workrooms/{}/documents", studio.room);
    let sheet = ada.upload(&rooms, "sheet.pdf", bytes.clone(), &[]).await.expect(201);
    let id = sheet["id"].as_str().unwrap();
    assert_eq!(ada.get(&path(id, "/pdf")).await.bytes, bytes);
    assert_eq!(conversions(studio), 0);
    let config = studio.configuration(&studio.app.world.ben, id).await;
    assert_eq!(config["editorConfig"]["mode"], "view", "a PDF is read, not written");
});
