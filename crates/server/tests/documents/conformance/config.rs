//! Checks C1 to C11: the editor configuration.

use std::collections::BTreeSet;

use domain::document_kind::EditorKind;
use domain::id::DocumentId;
use domain::save::DocumentKey;
use serde_json::{Value, json};

use super::start_with_work_room;
use test_support::app::{AUTH_SECRET, DOCSERVER_SECRET};
use test_support::document_server_fixture::{DocumentServerFixture, path};
use test_support::office::{SHEET, archive, content_types, docx, open_document};
use test_support::{Client, DatabaseKind, ServerEnv, TestUser};

/// Decodes the claims of a token.
fn claims(token: &str) -> Value {
    let rules = jsonwebtoken::Validation::new(jsonwebtoken::Algorithm::HS256);
    let key = jsonwebtoken::DecodingKey::from_secret(DOCSERVER_SECRET.as_bytes());
    jsonwebtoken::decode(token, &key, &rules).unwrap().claims
}

with_both_editors!(
    #[sqlite]
    c01_entire_configuration_is_signed,
    |fixture| {
        let world = &fixture.app.world;
        let document = fixture.document("Our page").await;
        let bens = fixture.app.as_(&world.ben);
        let answer = bens.get(&path(&document, "/editor-config?mode=edit")).await;
        let config = answer.expect(200);
        let base = format!("{}/api/workrooms/documents/{document}", fixture.app.base);
        assert_eq!(config["editor"], fixture.editor.as_str());
        assert_eq!(config["documentServerUrl"], json!(fixture.editor_url()));
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
        assert_eq!(settings["customization"]["features"], json!({"featuresTips": false}));

        let mut signed = claims(config["token"].as_str().unwrap());
        let (issued, ends) = (signed["iat"].as_i64().unwrap(), signed["exp"].as_i64().unwrap());
        assert_eq!(ends - issued, 600);
        let shown = config.as_object().unwrap().clone();
        let shown: Value = shown
            .into_iter()
            .filter(|(name, _)| !["token", "editor", "documentServerUrl"].contains(&name.as_str()))
            .collect();
        signed
            .as_object_mut()
            .unwrap()
            .retain(|name, _| name != "iat" && name != "exp");
        assert_eq!(signed, shown);
        bens.get(&path(&document, "/editor-config?user=ada"))
            .await
            .invalid("user");
    }
);

/// Checks that these users can read and not write, and that the configuration states this to the document server too.
async fn opens_read_only(fixture: &DocumentServerFixture, people: &[&TestUser], document: &str) {
    for person in people {
        let config = fixture.configuration(person, document).await;
        assert_eq!(config["editorConfig"]["mode"], "view");
        assert!(config["editorConfig"].get("callbackUrl").is_none());
        for right in ["edit", "review", "comment", "fillForms"] {
            assert_eq!(config["document"]["permissions"][right], false, "{right}");
        }
        assert_eq!(
            claims(config["token"].as_str().unwrap())["document"]["permissions"],
            config["document"]["permissions"]
        );
        assert!(!fixture.open_editor(person, document).await.may_edit());
    }
}

with_both_editors!(
    #[sqlite]
    c02_submitted_document_opens_read_only,
    |fixture| {
        let world = &fixture.app.world;
        let document = fixture.document("Our page").await;
        let ben = fixture.app.as_(&world.ben);
        let looking = ben.get(&path(&document, "/editor-config?mode=view")).await.expect(200);
        assert_eq!(looking["editorConfig"]["mode"], "view");
        fixture.submit(&world.ben, &document).await.expect(200);
        opens_read_only(fixture, &[&world.ben, &world.cem, &world.ada, &world.adam], &document).await;
    }
);

with_both_editors!(
    #[sqlite]
    c03_locked_document_opens_read_only_for_all_roles,
    |fixture| {
        let world = &fixture.app.world;
        let document = fixture.document("Our page").await;
        fixture.finish().await;
        opens_read_only(fixture, &[&world.ben, &world.ada, &world.adam, &world.olga], &document).await;
    }
);

with_both_editors!(
    #[sqlite]
    c04_document_key_is_unique_per_document_and_deployment,
    ["--docserver-shared=true"],
    |fixture| {
        let world = &fixture.app.world;
        let (document, other) = (fixture.document("Our page").await, fixture.document("Our page").await);
        let key = async |person, document| {
            let config = fixture.configuration(person, document).await;
            config["document"]["key"].as_str().unwrap().to_owned()
        };
        assert_eq!(key(&world.ben, &document).await, key(&world.cem, &document).await);
        assert_eq!(key(&world.ben, &document).await, key(&world.ada, &document).await);
        assert_ne!(key(&world.ben, &document).await, key(&world.ben, &other).await);
        let deployment = fixture.app.app.document_server().deployment().to_owned();
        assert_eq!(key(&world.ben, &document).await, format!("{deployment}-{document}-1"));

        let elsewhere = DocumentServerFixture::start(DatabaseKind::Sqlite, &["--docserver-shared=true"])
            .await
            .unwrap();
        let theirs = elsewhere.app.app.document_server();
        assert_ne!(theirs.deployment(), deployment);
        assert_eq!(
            theirs.parse_key(&key(&world.ben, &document).await),
            None,
            "it is none of theirs"
        );
        elsewhere.close().await;

        let south = fixture.app.room(&world.south_class, &[&world.zack]).await;
        let zoe = fixture.app.as_(&world.zoe);
        let new = json!({"title": "Our page", "documentType": "word"});
        let made = zoe
            .post(&format!("/workrooms/{}/documents", south.id), new)
            .await
            .expect(201);
        let theirs = key(&world.zoe, made["id"].as_str().unwrap()).await;
        assert!(theirs != key(&world.ben, &document).await && theirs.starts_with(&deployment));
    }
);

with_both_editors!(
    #[sqlite]
    c05_keys_and_names_are_short_and_contain_no_email_address,
    [],
    |fixture| {
        let world = &fixture.app.world;
        let is_key = |key: &str| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._=-".contains(&byte);
            (1..=128).contains(&key.len()) && key.bytes().all(plain)
        };
        for title in ["Ärger / \"7b\" 🦉".to_owned(), "🦉".repeat(120), "x".repeat(120)] {
            let document = fixture.document(&title).await;
            let config = fixture.configuration(&world.ben, &document).await;
            assert!(is_key(config["document"]["key"].as_str().unwrap()), "{config}");
            assert!(config["document"]["title"].as_str().unwrap().chars().count() <= 128);
            let user = &config["editorConfig"]["user"];
            let id = user["id"].as_str().unwrap();
            assert!(
                id.len() <= 128 && !id.contains('@') && !id.to_lowercase().contains("ben"),
                "{id}"
            );
            assert!(user["name"].as_str().unwrap().chars().count() <= 128 && user.as_object().unwrap().len() == 2);
            assert!(!config.to_string().contains(&world.ben.email));
        }
        // Every id that this service creates and every generation, with and without an installation name.
        let mut keys = BTreeSet::new();
        for power in 0..63 {
            let key = DocumentKey {
                document: DocumentId::new(common::clock::new_id()),
                generation: 1 << power,
            };
            for deployment in [None, Some(common::clock::new_id())] {
                let text = key.text(deployment.as_deref());
                assert!(is_key(&text), "{text}");
                assert_eq!(DocumentKey::parse(&text, deployment.as_deref()), Some(key.clone()));
                assert!(keys.insert(text));
            }
        }
    }
);

with_both_editors!(
    #[sqlite]
    c06_users_without_access_get_no_token,
    [],
    |fixture| {
        let world = &fixture.app.world;
        let document = fixture.document("Our page").await;
        let route = path(&document, "/editor-config");
        for stranger in [&world.dana, &world.tom, &world.zoe, &world.zack] {
            let refused = fixture.app.as_(stranger).get(&route).await;
            assert!(!refused.refused(404, "NOT_FOUND").to_string().contains("token"));
        }
        let refused = fixture.app.stranger().get(&route).await.refused(401, "UNAUTHENTICATED");
        assert!(!refused.to_string().contains("token"));
        let hidden = fixture.document_in(&fixture.hidden_room().await, "Later").await;
        let refused = fixture.app.as_(&world.dana).get(&path(&hidden, "/editor-config")).await;
        refused.refused(404, "NOT_FOUND");
    }
);

with_both_editors!(
    #[sqlite]
    c07_host_headers_do_not_change_urls,
    [],
    |fixture| {
        let document = fixture.document("Our page").await;
        let base = format!("{}/api/workrooms/documents/{document}", fixture.app.base);
        let evil = fixture
            .app
            .as_(&fixture.app.world.ben)
            .with("host", "evil.example")
            .with("x-forwarded-host", "evil.example")
            .with("x-forwarded-proto", "https");
        let config = evil.get(&path(&document, "/editor-config")).await.expect(200);
        assert_eq!(config["document"]["url"], json!(format!("{base}/file")));
        assert_eq!(config["editorConfig"]["callbackUrl"], json!(format!("{base}/callback")));
        assert_eq!(config["documentServerUrl"], json!(fixture.editor_url()));
        assert!(!config.to_string().contains("evil"));
    }
);

with_both_editors!(
    #[sqlite]
    c08_each_token_is_new_and_expires_after_ten_minutes,
    [],
    |fixture| {
        let document = fixture.document("Our page").await;
        let read = async || {
            let config = fixture.configuration(&fixture.app.world.ben, &document).await;
            let signed = claims(config["token"].as_str().unwrap());
            assert_eq!(signed["exp"].as_i64().unwrap() - signed["iat"].as_i64().unwrap(), 600);
            (signed["iat"].as_i64().unwrap(), config["document"]["key"].clone())
        };
        let (issued, key) = read().await;
        test_support::document_server_fixture::eventually(async || {
            let (later, same) = read().await;
            assert_eq!(same, key);
            later > issued
        })
        .await;
    }
);

with_both_editors!(
    #[sqlite]
    c09_editor_type_fits_file_and_other_types_are_rejected,
    [],
    |fixture| {
        let ada = fixture.app.as_(&fixture.app.world.ada);
        let rooms = format!("/workrooms/{}/documents", fixture.room);
        let sheet = content_types("/xl/workbook.xml", SHEET);
        let slides = content_types(
            "/ppt/presentation.xml",
            "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml",
        );
        let packed = |types: &str, part: &str| archive(&[("[Content_Types].xml", types.as_bytes()), (part, b"<x/>")]);
        let open = |kind: &str| open_document(&format!("application/vnd.oasis.opendocument.{kind}"), &[]);
        let files = [
            ("a.docx", "word", docx("x")),
            ("a.xlsx", "cell", packed(&sheet, "xl/workbook.xml")),
            ("a.pptx", "slide", packed(&slides, "ppt/presentation.xml")),
            ("a.pdf", "pdf", b"%PDF-1.7 x".to_vec()),
            ("a.odt", "word", open("text")),
            ("a.ods", "cell", open("spreadsheet")),
            ("a.odp", "slide", open("presentation")),
            ("a.txt", "word", b"x".to_vec()),
            ("a.csv", "cell", b"a,b".to_vec()),
        ];
        for (name, kind, bytes) in files {
            let made = ada.upload(&rooms, name, bytes, &[]).await.expect(201);
            let config = fixture
                .configuration(&fixture.app.world.ada, made["id"].as_str().unwrap())
                .await;
            assert_eq!(config["documentType"], kind, "{name}");
            assert_eq!(config["document"]["fileType"], name[2..], "{name}");
        }
        // No other file type becomes a document, so no other file can be opened.
        for (name, bytes) in [
            ("a.docm", docx("x")),
            ("a.vsdx", docx("x")),
            ("a.svg", b"<svg/>".to_vec()),
            ("a", docx("x")),
        ] {
            let refused = ada.upload(&rooms, name, bytes, &[]).await;
            assert!(
                !refused
                    .refused(415, "UNSUPPORTED_FILE_TYPE")
                    .to_string()
                    .contains("token"),
                "{name}"
            );
        }
        let unknown = json!({"title": "x", "documentType": "diagram"});
        ada.post(&rooms, unknown).await.invalid("documentType");
    }
);

async fn c10_token_is_neither_cached_nor_logged(editor: EditorKind) {
    let mut env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    env.set("LOG_LEVEL", "trace");
    env.set("DOCSERVER_URL", "http://127.0.0.1:9");
    env.set("EDITOR_TEXT", editor.as_str());
    let (service, ada, rooms) = start_with_work_room(&mut env).await;
    let new = json!({"title": "x", "documentType": "word"});
    let document = ada.post(&rooms, new).await.expect(201)["id"].clone();
    let route = path(document.as_str().unwrap(), "/editor-config");
    let answer = ada.get(&route).await;
    assert_eq!(answer.header("cache-control"), "no-store");
    let token = answer.expect(200)["token"].as_str().unwrap().to_owned();
    // The token is sent to a wrong route. The log of rejected requests must not contain the token.
    let bearer = Client::new(&service.base, None).with("authorization", &format!("Bearer {token}"));
    bearer
        .get(&path(document.as_str().unwrap(), "/file"))
        .await
        .refused(403, "DOCSERVER_TOKEN_MISMATCH");
    service.stop();
    let log = std::fs::read_to_string(env.folder().join("serve.log")).unwrap();
    assert!(log.lines().count() > 10, "the log is on");
    let signature = token.rsplit('.').next().unwrap();
    for secret in [token.as_str(), signature, DOCSERVER_SECRET, AUTH_SECRET] {
        assert!(!log.contains(secret), "the log holds {secret}");
    }
    env.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c10_token_of_document_server_is_neither_cached_nor_logged() {
    c10_token_is_neither_cached_nor_logged(EditorKind::OnlyOffice).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c10_token_of_builtin_editor_is_neither_cached_nor_logged() {
    c10_token_is_neither_cached_nor_logged(EditorKind::Builtin).await;
}

#[test]
fn c11_start_fails_with_weak_document_server_secret() {
    for bad in [
        "",
        "   ",
        "x",
        "0123456789012345678901234567890",
        "secretsecretsecretsecretsecretsecret",
        AUTH_SECRET,
    ] {
        let mut env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
        let log = env
            .try_start("serve", &[("DOCSERVER_JWT_SECRET", bad)])
            .map(|_| ())
            .unwrap_err();
        assert!(log.contains("DOCSERVER_JWT_SECRET"), "{bad:?}: {log}");
        assert!(!env.folder().join("groupwork.db").exists(), "nothing was opened");
        env.close();
    }
}
