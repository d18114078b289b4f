//! The protocol between the document server and this service. The editor configuration is tested in `conformance`.

use adapters::onlyoffice::DocumentServer;
use serde_json::{Value, json};

use test_support::document_server_fixture::path;
use test_support::{DatabaseKind, TestApp};

sqlite!(documents_are_stored_without_document_server, |app| {
    use test_support::topics::{group, id};
    let ada = app.as_(&app.world.ada);
    let group = group(&ada, &app.world.seven_b, &[&app.world.ben], json!({})).await;
    let room = ada.get(&format!("/groups/{group}")).await.expect(200)["workRoomId"].clone();
    let new = json!({"title": "Alone", "documentType": "word"});
    let rooms = format!("/workrooms/{}/documents", room.as_str().unwrap());
    let document = id(&ada.post(&rooms, new).await.expect(201));
    let config = app
        .as_(&app.world.ben)
        .get(&path(&document, "/editor-config"))
        .await
        .expect(200);
    assert_eq!(config["documentServerUrl"], Value::Null);
    assert!(config["token"].is_string());
    let pdf = ada.get(&path(&document, "/pdf")).await;
    assert!(
        pdf.status == 200 && pdf.bytes.starts_with(b"%PDF-1.7"),
        "rendered by the service"
    );
    let sheet = json!({"title": "Sheet", "documentType": "cell"});
    let sheet = id(&ada.post(&rooms, sheet).await.expect(201));
    ada.get(&path(&sheet, "/pdf")).await.refused(502, "DOCSERVER_ERROR");
    let ready = app.stranger().get("/health/ready").await.expect(200);
    assert_eq!(ready["checks"]["docserver"], "unset");
});

#[tokio::test]
async fn result_url_is_reduced_to_path_below_result_folder() {
    let Some(app) = TestApp::start_with(DatabaseKind::Sqlite, &["--docserver-url=http://docs.example/office"]).await
    else {
        return;
    };
    let server: &DocumentServer = app.app.document_server();
    for claimed in [
        "http://docs.example/office/cache/files/data/k/output.docx/output.docx?md5=x",
        "https://evil.example/cache/files/data/k/output.docx",
        "http://169.254.169.254/office/cache/files/x",
        "http://user:secret@docs/cache/files/x",
    ] {
        let path = server.result_path(claimed).unwrap_or_else(|| panic!("{claimed}"));
        assert!(path.path().starts_with("/cache/files/"), "{claimed}");
    }
    for claimed in [
        "",
        "/cache/files/x",
        "file:///cache/files/x",
        "ftp://docs/cache/files/x",
        "http://docs/etc/passwd",
        "http://docs/cache/files/../../command",
        "http://docs/cache/files/%2e%2e/%2e%2e/command",
        "http://docs/cache/files/..%2f..%2fcommand",
        "http://docs/cache/files/..%5c..%5ccommand",
        "http://docs//cache/files//x",
        "http://docs/cache/filesx",
        "http://docs/?/cache/files/x",
    ] {
        assert_eq!(server.result_path(claimed), None, "{claimed}");
    }
    app.close().await;
}

#[tokio::test]
async fn result_folder_is_configurable() {
    let flags = [
        "--docserver-url=http://docs.example",
        "--docserver-results-path=/kept/files/",
    ];
    let Some(app) = TestApp::start_with(DatabaseKind::Sqlite, &flags).await else {
        return;
    };
    let server: &DocumentServer = app.app.document_server();
    assert!(server.result_path("http://docs.example/kept/files/data/x").is_some());
    assert_eq!(server.result_path("http://docs.example/cache/files/data/x"), None);
    app.close().await;
}
