//! HTTP behavior for the official client and for browsers: media types, origins and unknown routes.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Browser, PASSWORD, enable, signed_in};
use test_support::browser::set_cookies;
use test_support::{Answer, Client, FRONTEND};

async fn raw(client: &Client, path: &str, media: Option<&str>, body: &str) -> Answer {
    let mut request = client.request(Method::POST, path).body(body.to_owned());
    if let Some(media) = media {
        request = request.header("content-type", media);
    }
    client.finish(request).await
}

sqlite!(bodies_are_parsed_like_better_auth, |app| {
    let (ada, stranger) = (&app.world.ada, app.stranger());
    enable(app, ada).await;
    let sign_in = "/auth/sign-in/email";
    let refused = raw(&stranger, sign_in, Some("text/plain"), "{}")
        .await
        .refused(415, "UNSUPPORTED_MEDIA_TYPE");
    let message = "Content-Type \"text/plain\" is not allowed. Allowed types: application/json, application/x-www-form-urlencoded";
    assert_eq!(refused["message"], message);
    raw(
        &stranger,
        "/auth/sign-out",
        Some("application/x-www-form-urlencoded"),
        "a=b",
    )
    .await
    .refused(415, "UNSUPPORTED_MEDIA_TYPE");
    let malformed = raw(&stranger, sign_in, Some("application/json"), "{\"email\":")
        .await
        .refused(400, "BAD_REQUEST");
    assert_eq!(malformed["message"], "Invalid JSON in request body");
    let none = raw(&stranger, sign_in, None, "{}")
        .await
        .refused(400, "VALIDATION_ERROR");
    assert_eq!(
        none["message"],
        "[body] Invalid input: expected object, received undefined"
    );
    let list = raw(&stranger, sign_in, Some("application/json"), "[]")
        .await
        .refused(400, "VALIDATION_ERROR");
    assert_eq!(list["message"], "[body] Invalid input: expected object, received array");
    let large = format!("{{\"email\": \"{}\"}}", "x".repeat(1 << 20));
    raw(&stranger, sign_in, Some("application/json"), &large)
        .await
        .refused(413, "PAYLOAD_TOO_LARGE");

    let form = format!("email={}&password=Zirkel+und+Lineal&unknown=1", ada.email);
    raw(&stranger, sign_in, Some("application/x-www-form-urlencoded"), &form)
        .await
        .expect(200);
    let json = json!({"email": ada.email, "password": PASSWORD, "unknown": 1}).to_string();
    raw(&stranger, sign_in, Some("application/json; charset=utf-8"), &json)
        .await
        .expect(200);
    stranger
        .post("/auth/sign-out", json!({"unknown": true}))
        .await
        .expect(200);
    raw(&stranger, "/auth/sign-out", None, "").await.expect(200);
});

sqlite!(invalid_email_or_long_password_is_rejected_before_lookup, |app| {
    let browser = Browser::new(app);
    browser.sign_in("no address", "x").await.refused(400, "INVALID_EMAIL");
    browser
        .sign_in(&format!("{}@school.example", "x".repeat(300)), "x")
        .await
        .refused(400, "INVALID_EMAIL");
    browser
        .sign_in("ada@school.example", &"x".repeat(129))
        .await
        .refused(400, "PASSWORD_TOO_LONG");
    let body = browser
        .post("/auth/sign-in/email", json!({"email": 5}))
        .await
        .refused(400, "VALIDATION_ERROR");
    let message = "[body.email] Invalid input: expected string, received number; \
                   [body.password] Invalid input: expected string, received undefined";
    assert_eq!(body["message"], message);
});

sqlite!(request_from_foreign_origin_is_rejected, |app| {
    let browser = signed_in(app, &app.world.ada).await;
    let sign_out = async |headers: &[(&str, &str)]| {
        let mut client =
            Client::new(&app.base, None).with("cookie", &format!("a=b; {}", browser.client().cookie().unwrap()));
        for (name, value) in headers {
            client = client.with(name, value);
        }
        client.post("/auth/sign-out", json!({})).await
    };
    let evil = "https://evil.example";
    sign_out(&[("origin", evil)]).await.refused(403, "INVALID_ORIGIN");
    sign_out(&[("origin", evil), ("referer", FRONTEND)])
        .await
        .refused(403, "INVALID_ORIGIN");
    sign_out(&[("referer", "https://evil.example/http://school.test")])
        .await
        .refused(403, "INVALID_ORIGIN");
    sign_out(&[("origin", "http://sub.school.test")])
        .await
        .refused(403, "INVALID_ORIGIN");
    sign_out(&[]).await.refused(403, "MISSING_OR_NULL_ORIGIN");
    sign_out(&[("origin", "null")])
        .await
        .refused(403, "MISSING_OR_NULL_ORIGIN");
    assert!(browser.session().await.is_object(), "none of them signed out");
    sign_out(&[("referer", "http://school.test/class/7b")])
        .await
        .expect(200);
    assert_eq!(browser.session().await, json!(null));
});

sqlite!(cross_site_sign_in_is_rejected, |app| {
    let ada = &app.world.ada;
    enable(app, ada).await;
    let body = json!({"email": ada.email, "password": PASSWORD});
    let from = async |headers: &[(&str, &str)], body: &Value| {
        let client = headers
            .iter()
            .fold(app.stranger(), |client, (name, value)| client.with(name, value));
        client.post("/auth/sign-in/email", body.clone()).await
    };
    let navigation = [
        ("origin", FRONTEND),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-mode", "navigate"),
    ];
    from(&navigation, &body)
        .await
        .refused(403, "CROSS_SITE_NAVIGATION_LOGIN_BLOCKED");
    from(&[("sec-fetch-mode", "cors")], &body)
        .await
        .refused(403, "MISSING_OR_NULL_ORIGIN");
    from(&[("origin", "https://evil.example")], &body)
        .await
        .refused(403, "INVALID_ORIGIN");
    from(&[("origin", "https://evil.example")], &json!({}))
        .await
        .refused(400, "VALIDATION_ERROR");
    from(&[("cookie", "a=b"), ("origin", "https://evil.example")], &json!({}))
        .await
        .refused(403, "INVALID_ORIGIN");
    let mut away = body.clone();
    away["callbackURL"] = json!("https://evil.example/");
    from(&[("origin", FRONTEND)], &away)
        .await
        .refused(403, "INVALID_CALLBACK_URL");
    let answer = from(&[("origin", FRONTEND), ("sec-fetch-mode", "cors")], &body).await;
    assert_eq!(set_cookies(&answer).len(), 2);
    answer.expect(200);
});

sqlite!(unknown_routes_and_methods_return_empty_404, |app| {
    let browser = signed_in(app, &app.world.ada).await;
    let paths = [
        (Method::GET, "/auth/no-such-route"),
        (Method::GET, "/auth/sign-in/email"),
        (Method::PUT, "/auth/sign-out"),
        (Method::DELETE, "/auth/get-session"),
        (Method::HEAD, "/auth/get-session"),
        (Method::OPTIONS, "/auth/ok"),
        (Method::GET, "/auth/ok/"),
        (Method::GET, "/auth"),
        (Method::POST, "/auth/organization/add-member"),
        (Method::GET, "/auth/admin/no-such-route"),
    ];
    for (method, path) in paths {
        let answer = browser.client().send(method.clone(), path, None).await;
        assert_eq!((answer.status, answer.bytes.len()), (404, 0), "{method} {path}");
        assert_eq!(answer.header("content-type"), "", "{method} {path}");
    }
    assert_eq!(app.stranger().get("/auth/ok").await.expect(200), json!({"ok": true}));
    app.stranger().get("/authority").await.refused(404, "NOT_FOUND");
});

sqlite!(auth_error_has_request_id_and_is_not_cached, |app| {
    let answer = app
        .stranger()
        .with("x-request-id", "lesson-1")
        .get("/auth/list-sessions")
        .await;
    assert_eq!(answer.header("cache-control"), "no-store");
    let body = answer.refused(401, "UNAUTHORIZED");
    assert_eq!(body["requestId"], "lesson-1");
    assert_eq!(body["message"], "Unauthorized");
});
