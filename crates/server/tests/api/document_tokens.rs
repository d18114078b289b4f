//! The two doors of the document server (contract 8.2): whom they believe, and whom not. All tokens are signed with one
//! secret, and pages hold some of them, so each door has its table of what it must refuse.

use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};

use crate::support::app::{AUTH_SECRET, DOCSERVER_SECRET};
use crate::support::studio::{Studio, path, words};

fn now() -> i64 {
    groupwork::clock::now().as_millis() / 1000
}

fn sign_as(algorithm: Algorithm, secret: &str, claims: &Value) -> String {
    jsonwebtoken::encode(
        &Header::new(algorithm),
        claims,
        &EncodingKey::from_secret(secret.as_bytes()),
    )
    .unwrap()
}

/// The claims with times that are fine, signed as the document server does.
fn sign(mut claims: Value) -> String {
    for (name, value) in [("iat", now()), ("exp", now() + 300)] {
        if claims.get(name).is_none() {
            claims[name] = json!(value);
        }
    }
    sign_as(Algorithm::HS256, DOCSERVER_SECRET, &claims)
}

studio!(the_file_door_opens_for_the_document_server_alone, |studio| {
    let document = studio.document("Our page").await;
    let door = path(&document, "/file");
    let url = format!("{}/api{door}", studio.app.base);
    let stranger = studio.app.stranger();
    let bearer = |token: &str| stranger.with("authorization", &format!("Bearer {token}"));
    let file = |claims: Value| sign(json!({"payload": claims}));

    let opened = bearer(&file(json!({"url": url}))).get(&door).await;
    assert_eq!(opened.status, 200);
    assert_eq!(words(&opened.bytes), "", "the blank template of a text document");
    assert!(opened.header("content-disposition").starts_with("attachment"));
    assert_eq!(opened.header("x-content-type-options"), "nosniff");
    studio.write(&studio.app.world.ben, &document, "Stored.").await;
    let opened = bearer(&file(json!({"url": url}))).get(&door).await;
    assert_eq!(words(&opened.bytes), studio.text(&document).await);
    let late = json!({"payload": {"url": url}, "iat": now() - 330, "exp": now() - 30});
    assert_eq!(
        bearer(&sign(late)).get(&door).await.status,
        200,
        "clocks may differ by a minute"
    );

    // The cookie of a session opens this door as little as anything but a bearer token does.
    studio
        .app
        .as_(&studio.app.world.ben)
        .get(&door)
        .await
        .refused(401, "DOCSERVER_TOKEN_MISSING");
    stranger.get(&door).await.refused(401, "DOCSERVER_TOKEN_MISSING");
    stranger
        .with("authorization", &file(json!({"url": url})))
        .get(&door)
        .await
        .refused(401, "DOCSERVER_TOKEN_INVALID");
    stranger
        .get(&format!("{door}?anything=1"))
        .await
        .refused(401, "DOCSERVER_TOKEN_MISSING");
    let unknown = path(&groupwork::clock::new_id(), "/file");
    let elsewhere = file(json!({"url": format!("{}/api{unknown}", studio.app.base)}));
    bearer(&elsewhere).get(&unknown).await.refused(404, "NOT_FOUND");
});

studio!(the_file_door_refuses_every_other_token, |studio| {
    let document = studio.document("Our page").await;
    let other = studio.document("Another page").await;
    let door = path(&document, "/file");
    let url = format!("{}/api{door}", studio.app.base);
    let stranger = studio.app.stranger();
    let bearer = |token: &str| stranger.with("authorization", &format!("Bearer {token}"));
    let file = |claims: Value| sign(json!({"payload": claims}));
    let config = studio.configuration(&studio.app.world.ben, &document).await;
    let editor = config["token"].as_str().unwrap().to_owned();
    let invalid = "DOCSERVER_TOKEN_INVALID";
    let mismatch = "DOCSERVER_TOKEN_MISMATCH";
    let good = json!({"payload": {"url": url}, "iat": now(), "exp": now() + 300});
    let with = |name: &str, value: Value| {
        let mut claims = good.clone();
        claims[name] = value;
        sign_as(Algorithm::HS256, DOCSERVER_SECRET, &claims)
    };
    let without_end = json!({"payload": {"url": url}, "iat": now()});
    let parts: Vec<&str> = editor.split('.').collect();
    let unsigned = format!("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{}.", parts[1]);
    let elsewhere = |rest: &str| file(json!({"url": format!("{}/api{rest}", studio.app.base)}));
    let refused = [
        (401, invalid, sign_as(Algorithm::HS384, DOCSERVER_SECRET, &good)),
        (401, invalid, sign_as(Algorithm::HS512, DOCSERVER_SECRET, &good)),
        (401, invalid, sign_as(Algorithm::HS256, AUTH_SECRET, &good)),
        (401, invalid, sign_as(Algorithm::HS256, "", &good)),
        (401, invalid, unsigned),
        (401, invalid, sign_as(Algorithm::HS256, DOCSERVER_SECRET, &without_end)),
        (401, invalid, with("exp", json!(now() - 120))),
        (401, invalid, with("iat", json!(now() + 300))),
        (401, invalid, "no.token.atall".to_owned()),
        (403, mismatch, editor),
        (403, mismatch, with("key", json!(format!("{document}-1")))),
        (403, mismatch, with("status", json!(2))),
        (
            403,
            mismatch,
            file(json!({"url": url, "status": 2, "key": format!("{document}-2")})),
        ),
        (
            403,
            mismatch,
            file(json!({"url": url, "key": "conversion", "outputtype": "pdf"})),
        ),
        (403, mismatch, sign(json!({"url": url, "key": format!("{document}-1")}))),
        (403, mismatch, elsewhere(&path(&other, "/file"))),
        (403, mismatch, elsewhere(&path(&document, "/callback"))),
        (403, mismatch, elsewhere(&path(&document, "/file?revision=1"))),
        (403, mismatch, elsewhere(&path(&document, "/%2e%2e/x/file"))),
        (403, mismatch, elsewhere(&format!("/{}", path(&document, "/file")))),
        (
            403,
            mismatch,
            file(json!({"url": url.replace("http://127", "http://user@127")})),
        ),
        (
            403,
            mismatch,
            file(json!({"url": url.replace("127.0.0.1", "evil.example")})),
        ),
    ];
    assert!(refused.len() >= 15);
    for (status, code, token) in refused {
        let answer = bearer(&token).get(&door).await;
        assert_eq!(
            (answer.status, answer.json()["code"].as_str().unwrap()),
            (status, code),
            "{token}"
        );
    }
});

/// Posts a notice with these tokens: one in the body, one in the header.
async fn post(studio: &Studio, document: &str, body: Value, header: Option<String>) -> crate::support::Answer {
    let mut client = studio.app.stranger();
    if let Some(token) = header {
        client = client.with("authorization", &format!("Bearer {token}"));
    }
    client.post(&path(document, "/callback"), body).await
}

studio!(the_notice_door_believes_tokens_only, |studio| {
    let document = studio.document("Our page").await;
    let key = studio.key(&document).await;
    let closed = json!({"key": key, "status": 4});
    let in_body = |claims: &Value| json!({"token": sign(claims.clone())});
    let in_header = |claims: &Value| Some(sign(json!({"payload": claims})));
    let taken = json!({"error": 0});
    assert_eq!(post(studio, &document, in_body(&closed), None).await.expect(200), taken);
    assert_eq!(
        post(studio, &document, closed.clone(), in_header(&closed))
            .await
            .expect(200),
        taken
    );
    // What stands beside the token is not even read.
    let mut lying = in_body(&closed);
    lying["status"] = json!(2);
    lying["url"] = json!("http://evil.example/cache/files/x");
    assert_eq!(
        post(studio, &document, lying, in_header(&closed)).await.expect(200),
        taken
    );
    for status in [0, 5, 99] {
        let odd = json!({"key": key, "status": status});
        assert_eq!(post(studio, &document, in_body(&odd), None).await.expect(200), taken);
    }
});

studio!(the_notice_door_refuses_every_other_token, |studio| {
    let document = studio.document("Our page").await;
    let other = studio.document("Another page").await;
    let key = studio.key(&document).await;
    let closed = json!({"key": key, "status": 4});
    let in_body = |claims: &Value| json!({"token": sign(claims.clone())});
    let in_header = |claims: &Value| Some(sign(json!({"payload": claims})));
    let config = studio.configuration(&studio.app.world.ben, &document).await;
    let editor = config["token"].as_str().unwrap().to_owned();
    let file_url = config["document"]["url"].clone();
    let missing = "DOCSERVER_TOKEN_MISSING";
    let (invalid, mismatch) = ("DOCSERVER_TOKEN_INVALID", "DOCSERVER_TOKEN_MISMATCH");
    let foreign = json!({"key": studio.key(&other).await, "status": 4});
    let future = json!({"key": format!("{document}-9"), "status": 1, "users": []});
    let disagreeing = json!({"key": key, "status": 1});
    let stale = json!({"key": key, "status": 4, "iat": now() - 900, "exp": now() + 900});
    let forged = sign_as(
        Algorithm::HS256,
        AUTH_SECRET,
        &json!({"key": key, "status": 4, "exp": now() + 300}),
    );
    let refused = [
        (401, missing, closed.clone(), None),
        (401, missing, json!({"token": ""}), None),
        (401, invalid, json!({"token": forged}), None),
        (401, invalid, json!({"token": "x"}), in_header(&closed)),
        (401, invalid, in_body(&stale), None),
        (
            401,
            invalid,
            in_body(&json!({"key": key, "status": 4, "exp": now() - 120})),
            None,
        ),
        (403, mismatch, json!({"token": editor}), None),
        (403, mismatch, json!({}), Some(editor.clone())),
        (403, mismatch, in_body(&json!({"payload": closed})), None),
        (403, mismatch, json!({}), Some(sign(closed.clone()))),
        (
            403,
            mismatch,
            json!({}),
            Some(sign(json!({"payload": {"url": file_url}}))),
        ),
        (
            403,
            mismatch,
            in_body(&json!({"key": key, "url": "http://x/y", "version": 1})),
            None,
        ),
        (403, mismatch, in_body(&json!({"key": key})), None),
        (403, mismatch, in_body(&json!({"key": key, "status": "2"})), None),
        (403, mismatch, in_body(&closed), in_header(&disagreeing)),
        (403, mismatch, in_body(&foreign), None),
        (403, mismatch, in_body(&future), None),
        (403, mismatch, in_body(&json!({"key": "nobody's", "status": 4})), None),
    ];
    assert!(refused.len() >= 15);
    for (status, code, body, header) in refused {
        let answer = post(studio, &document, body.clone(), header).await;
        assert_eq!(
            (answer.status, answer.json()["code"].as_str().unwrap()),
            (status, code),
            "{body}"
        );
    }
    assert_eq!(
        studio.seen(&document).await["version"],
        0,
        "none of these stored anything"
    );
    let huge = json!({"token": "x", "history": "x".repeat(3 << 20)});
    post(studio, &document, huge, None)
        .await
        .refused(413, "PAYLOAD_TOO_LARGE");
    let unusable = json!({"key": key, "status": 2, "url": "http://docs.example/../etc/passwd"});
    assert_eq!(
        post(studio, &document, in_body(&unusable), None).await.expect(200),
        json!({"error": 1})
    );
});
