//! Opening an editor (contract 8.1), and what else the document server and this service say to each other.

use groupwork::document_server::DocumentServer;
use serde_json::{Value, json};

use crate::support::app::DOCSERVER_SECRET;
use crate::support::studio::path;
use crate::support::{Kind, TestApp};

/// The claims inside a token.
fn claims(token: &str) -> Value {
    let rules = jsonwebtoken::Validation::new(jsonwebtoken::Algorithm::HS256);
    let key = jsonwebtoken::DecodingKey::from_secret(DOCSERVER_SECRET.as_bytes());
    jsonwebtoken::decode(token, &key, &rules).unwrap().claims
}

studio!(
    the_configuration_is_signed_whole_and_names_our_own_addresses,
    |studio| {
        let world = &studio.app.world;
        let document = studio.document("Our page").await;
        let bens = studio
            .app
            .as_(&world.ben)
            .with("host", "evil.example")
            .with("x-forwarded-host", "evil.example");
        let answer = bens.get(&path(&document, "/editor-config?mode=edit")).await;
        assert_eq!(answer.header("cache-control"), "no-store");
        let config = answer.expect(200);
        let base = format!("{}/api/workrooms/documents/{document}", studio.app.base);
        assert_eq!(config["documentServerUrl"], json!(studio.server.url()));
        assert_eq!(config["documentType"], "word");
        assert_eq!(config["document"]["fileType"], "docx");
        assert_eq!(config["document"]["title"], "Our page.docx");
        assert_eq!(config["document"]["key"], json!(format!("{document}-1")));
        assert_eq!(config["document"]["url"], json!(format!("{base}/file")));
        assert_eq!(config["document"]["permissions"]["edit"], true);
        let settings = &config["editorConfig"];
        assert_eq!(settings["mode"], "edit");
        assert_eq!(settings["callbackUrl"], json!(format!("{base}/callback")));
        assert_eq!(settings["user"], json!({"id": world.ben.id, "name": "Ben Student"}));
        assert_eq!(
            (&settings["customization"]["macros"], &settings["lang"]),
            (&json!(false), &json!("en"))
        );

        let mut signed = claims(config["token"].as_str().unwrap());
        let (issued, ends) = (signed["iat"].as_i64().unwrap(), signed["exp"].as_i64().unwrap());
        assert_eq!(ends - issued, 600);
        let shown = config.as_object().unwrap().clone();
        let shown: Value = shown
            .into_iter()
            .filter(|(name, _)| name != "token" && name != "documentServerUrl")
            .collect();
        signed
            .as_object_mut()
            .unwrap()
            .retain(|name, _| name != "iat" && name != "exp");
        assert_eq!(signed, shown);
        let cems = studio.configuration(&world.cem, &document).await;
        assert_eq!(cems["document"]["key"], config["document"]["key"]);

        bens.get(&path(&document, "/editor-config?user=ada"))
            .await
            .invalid("user");
        for stranger in [&world.dana, &world.tom, &world.zoe, &world.zack] {
            let refused = studio.app.as_(stranger).get(&path(&document, "/editor-config")).await;
            assert!(!refused.refused(404, "NOT_FOUND").to_string().contains("token"));
        }
        let refused = studio.app.stranger().get(&path(&document, "/editor-config")).await;
        refused.refused(401, "UNAUTHENTICATED");
    }
);

studio!(a_viewer_may_change_nothing_and_brings_no_callback, |studio| {
    let world = &studio.app.world;
    let document = studio.document("Our page").await;
    let asked = studio
        .app
        .as_(&world.ben)
        .get(&path(&document, "/editor-config?mode=view"))
        .await
        .expect(200);
    studio.submit(&world.ben, &document).await.expect(200);
    let mut configurations = vec![asked];
    for person in [&world.ben, &world.ada, &world.adam] {
        configurations.push(studio.configuration(person, &document).await);
    }
    studio.finish().await;
    for person in [&world.ben, &world.ada, &world.adam] {
        configurations.push(studio.configuration(person, &document).await);
    }
    for config in configurations {
        assert_eq!(config["editorConfig"]["mode"], "view");
        assert!(config["editorConfig"].get("callbackUrl").is_none());
        for right in ["edit", "review", "comment", "fillForms"] {
            assert_eq!(config["document"]["permissions"][right], false, "{right}");
        }
        let viewer = practice_document_server::client::open(&studio.server.url(), &config)
            .await
            .unwrap();
        assert!(!viewer.may_edit());
    }
});

both!(without_a_document_server_documents_are_kept_all_the_same, |app| {
    use crate::support::topics::{group, id};
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
    ada.get(&path(&document, "/pdf")).await.refused(502, "DOCSERVER_ERROR");
    let ready = app.stranger().get("/health/ready").await.expect(200);
    assert_eq!(ready["checks"]["docserver"], "unset");
});

studio!(a_long_session_whose_header_was_cut_is_still_believed, |studio| {
    let document = studio.document("Our page").await;
    studio.server.faults().change(|faults| faults.history_padding = 1500);
    studio
        .write(&studio.app.world.ben, &document, "After a long day.")
        .await;
    let sent = studio
        .server
        .callbacks()
        .into_iter()
        .find(|sent| sent.status == 2)
        .unwrap();
    assert!(sent.body.get("history").is_none() && sent.body["token"].as_str().unwrap().len() > 100_000);
    assert_eq!(
        studio.versions(&document).await[0]["editors"],
        json!([studio.app.world.ben.id])
    );
});

#[tokio::test]
async fn results_are_paths_below_the_result_folder_and_nothing_else() {
    let Some(app) = TestApp::start_with(Kind::Sqlite, &["--docserver-url=http://docs.example/office"]).await else {
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
