//! Recorded values: `vectors.json` from the reference server, `recordings.json` from functions of better-auth 1.7.7.

use std::sync::LazyLock;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use better_auth::{
    cache,
    cookie::{CookieNames, RequestCookies, SessionCookie, sign, verify},
    email::is_email,
    object::{SessionObject, UserObject},
    password,
    session::{Lifecycle, Remember},
    set_cookie::SetCookies,
    timestamp::UnixMillis,
    trusted_origin::TrustedOrigin,
};
use serde_json::Value;

use crate::users::{NOW, SECRET, WireUser};

static VECTORS: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(include_str!("vectors.json")).unwrap());
static RECORDINGS: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(include_str!("recordings.json")).unwrap());

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn object<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap()
}

/// Returns the `Set-Cookie` headers of a response to a request with these cookies.
fn lines(header: &str, write: impl Fn(&SetCookies<'_>) -> Vec<String>) -> Vec<String> {
    lines_at("http://localhost:4100", header, write)
}

fn lines_at(base_url: &str, header: &str, write: impl Fn(&SetCookies<'_>) -> Vec<String>) -> Vec<String> {
    write(&SetCookies {
        names: &CookieNames::for_base_url(base_url),
        secret: SECRET,
        lifecycle: &Lifecycle::STANDARD,
        received: &RequestCookies::parse([header]),
    })
}

/// Cookie names and attributes, without values.
fn without_values(lines: &[String]) -> Vec<String> {
    let cut = |line: &String| {
        let (name, rest) = line.split_once('=').unwrap();
        let (value, attributes) = rest.split_once(';').unwrap();
        let value = if value.is_empty() { "" } else { "…" };
        format!("{name}={value};{attributes}")
    };
    lines.iter().map(cut).collect()
}

#[test]
fn recorded_signatures_are_reproduced_and_accepted() {
    assert_eq!(text(&VECTORS["secret"]), SECRET);
    for (value, cookie_value) in [("session_token", "token"), ("dont_remember", "value")]
        .map(|(cookie, key)| (text(&VECTORS[cookie][key]), text(&VECTORS[cookie]["cookie_value"])))
    {
        assert_eq!(sign(SECRET, value), cookie_value);
        assert_eq!(verify(SECRET, cookie_value).as_deref(), Some(value));
    }
    let recorded = RECORDINGS["signed"].as_array().unwrap();
    assert!(recorded.len() >= 7);
    for pair in recorded {
        let (value, cookie_value) = (text(&pair["value"]), text(&pair["cookie_value"]));
        assert_eq!(sign(SECRET, value), cookie_value);
        assert_eq!(verify(SECRET, cookie_value).as_deref(), Some(value));
    }
}

#[test]
fn recorded_session_cookie_has_its_token() {
    let recorded = &VECTORS["session_token"];
    let names = CookieNames::for_base_url("http://localhost:4100");
    let header = format!("{}={}", names.session_token(), text(&recorded["cookie_value"]));
    let cookies = RequestCookies::parse([header]);
    let token = text(&recorded["token"]).to_owned();
    assert_eq!(cookies.session(&names, SECRET), SessionCookie::Token(token));
}

#[test]
fn recorded_cache_is_reproduced() {
    let recorded = &VECTORS["session_data_compact"];
    let signed: Value = serde_json::from_str(text(&recorded["signed_text"])).unwrap();
    let session: SessionObject = object(&signed["session"]);
    let user: UserObject = object(&signed["user"]);
    let now = UnixMillis::from_millis(signed["updatedAt"].as_i64().unwrap());

    let value = cache::build(SECRET, &session, &user, now, 300);
    assert_eq!(value, text(&recorded["cookie_value"]));
    let envelope = String::from_utf8(URL_SAFE_NO_PAD.decode(&value).unwrap()).unwrap();
    let signature = format!("\"signature\":\"{}\"}}", text(&recorded["signature"]));
    assert!(envelope.ends_with(&signature));

    let cached = cache::verify(SECRET, &value, &session.token, now).unwrap();
    assert_eq!(cached.session, signed["session"]);
    assert_eq!(cached.user, signed["user"]);
    assert_eq!(cached.updated_at, now);
    assert_eq!(cached.expires_at, now.plus_seconds(300));
}

#[test]
fn recorded_cache_with_special_characters_is_reproduced() {
    let recorded = &RECORDINGS["cache"];
    let session: SessionObject = object(&recorded["session"]);
    let user: UserObject = object(&recorded["user"]);
    let now = UnixMillis::from_millis(recorded["now"].as_i64().unwrap());
    let written = lines("", |cookies| cookies.session_data(&session, &user, now, Remember::Yes));
    assert_eq!(written, [text(&recorded["lines"][0])]);
}

#[test]
fn cache_is_valid_only_for_its_token_and_lifetime() {
    let ada = WireUser::ada();
    let value = ada.cached();
    let used = |token: &str, now| cache::verify(SECRET, &value, token, now).is_some();
    assert!(used(&ada.session.token, NOW));
    assert!(used(&ada.session.token, NOW.plus_seconds(300)));
    assert!(!used(
        &ada.session.token,
        UnixMillis::from_millis(NOW.millis() + 300_001)
    ));
    assert!(!used(&WireUser::ben().session.token, NOW));
    assert!(!used("", NOW));
    assert!(cache::verify("another secret", &value, &ada.session.token, NOW).is_none());
}

#[test]
fn cache_expires_with_its_session() {
    let mut ada = WireUser::ada();
    ada.session.expires_at = NOW.plus_seconds(10);
    let value = ada.cached();
    let used = |now| cache::verify(SECRET, &value, &ada.session.token, now).is_some();
    assert!(used(NOW.plus_seconds(10)));
    assert!(!used(NOW.plus_seconds(11)));
}

#[test]
fn recorded_chunks_are_reproduced() {
    let recorded = RECORDINGS["chunks"].as_array().unwrap();
    assert!(recorded.len() >= 17);
    for chunks in recorded {
        let length = usize::try_from(chunks["length"].as_u64().unwrap()).unwrap();
        let expected: Vec<String> = object(&chunks["lines"]);
        let written = lines(text(&chunks["cookie"]), |cookies| {
            cookies.session_data_value(&"x".repeat(length), Remember::Yes)
        });
        let shortened: Vec<String> = written.iter().map(|line| shorten(line)).collect();
        assert_eq!(shortened, expected, "{length}");
        assert!(written.iter().all(|line| line.len() <= 4050));
    }
}

/// Abbreviates a header like the recording: `x*3977` for that many of them.
fn shorten(line: &str) -> String {
    let (name, rest) = line.split_once('=').unwrap();
    let (value, attributes) = rest.split_once(';').unwrap();
    match value.len() {
        0 | 1 => line.to_owned(),
        count => format!("{name}=x*{count};{attributes}"),
    }
}

#[test]
fn remembered_sign_in_sets_token_and_cache() {
    let ada = WireUser::ada();
    let issued = |header: &str| {
        lines(header, |cookies| {
            cookies.issue(&ada.session, &ada.user, NOW, Remember::Yes)
        })
    };
    let plain = issued("");
    assert_eq!(
        without_values(&plain),
        [
            "better-auth.session_token=…; Max-Age=86400; Path=/; HttpOnly; SameSite=Lax",
            "better-auth.session_data=…; Max-Age=300; Path=/; HttpOnly; SameSite=Lax",
        ]
    );
    let token = format!("better-auth.session_token={};", sign(SECRET, &ada.session.token));
    assert!(plain[0].starts_with(&token));
    assert!(plain[1].starts_with(&format!("better-auth.session_data={};", ada.cached())));

    let with_stale_flag = issued(&format!("better-auth.dont_remember={}", sign(SECRET, "true")));
    assert_eq!(
        without_values(&with_stale_flag),
        [
            "better-auth.session_token=…; Max-Age=86400; Path=/; HttpOnly; SameSite=Lax",
            "better-auth.dont_remember=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax",
            "better-auth.session_data=…; Max-Age=300; Path=/; HttpOnly; SameSite=Lax",
        ]
    );
}

#[test]
fn unremembered_sign_in_sets_session_cookies() {
    let ada = WireUser::ada();
    let issued = lines("", |cookies| cookies.issue(&ada.session, &ada.user, NOW, Remember::No));
    assert_eq!(
        without_values(&issued),
        [
            "better-auth.session_token=…; Path=/; HttpOnly; SameSite=Lax",
            "better-auth.dont_remember=…; Path=/; HttpOnly; SameSite=Lax",
            "better-auth.session_data=…; Path=/; HttpOnly; SameSite=Lax",
        ]
    );
    let flag = text(&VECTORS["dont_remember"]["cookie_value"]);
    assert!(issued[1].contains(flag));
    let cached = issued[2].split(['=', ';']).nth(1).unwrap();
    let used = |now| cache::verify(SECRET, cached, &ada.session.token, now).is_some();
    assert!(used(NOW.plus_seconds(60)));
    assert!(!used(NOW.plus_seconds(61)));
}

#[test]
fn https_cookies_are_secure_and_prefixed() {
    let ada = WireUser::ada();
    let issued = lines_at("https://school.test", "", |cookies| {
        let mut lines = cookies.issue(&ada.session, &ada.user, NOW, Remember::Yes);
        lines.push(cookies.clear_session_data());
        lines
    });
    assert_eq!(
        without_values(&issued),
        [
            "__Secure-better-auth.session_token=…; Max-Age=86400; Path=/; HttpOnly; Secure; SameSite=Lax",
            "__Secure-better-auth.session_data=…; Max-Age=300; Path=/; HttpOnly; Secure; SameSite=Lax",
            "__Secure-better-auth.session_data=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax",
        ]
    );
}

#[test]
fn sign_out_clears_received_cookies() {
    let line = |name: &&str| format!("better-auth.{name}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax");
    for (header, cleared) in [
        ("", vec!["session_token", "session_data", "dont_remember"]),
        (
            "better-auth.session_data=x; other=y",
            vec!["session_token", "session_data", "session_data", "dont_remember"],
        ),
        (
            "better-auth.session_data.0=x; better-auth.session_data.1=y",
            vec![
                "session_token",
                "session_data",
                "session_data.0",
                "session_data.1",
                "dont_remember",
            ],
        ),
    ] {
        let written = lines(header, |cookies| {
            let mut lines = cookies.clear();
            lines.push(cookies.clear_admin_session());
            lines
        });
        let mut expected: Vec<String> = cleared.iter().map(line).collect();
        expected.push(line(&"admin_session"));
        assert_eq!(written, expected);
    }
}

#[test]
fn admin_session_cookie_restores_session() {
    let names = CookieNames::for_base_url("http://localhost:4100");
    for remember in [Remember::Yes, Remember::No] {
        let written = lines("", |cookies| vec![cookies.admin_session("tok", remember)]);
        assert_eq!(
            without_values(&written),
            ["better-auth.admin_session=…; Max-Age=86400; Path=/; HttpOnly; SameSite=Lax",]
        );
        let header = written[0].split(';').next().unwrap();
        let read = RequestCookies::parse([header]).admin_session(&names, SECRET);
        assert_eq!(read, Some(("tok".to_owned(), remember)));
    }
}

#[test]
fn recorded_passwords_verify() {
    let recorded = &VECTORS["password"];
    assert!(password::verify(text(&recorded["password"]), text(&recorded["hash"])));
    for recorded in RECORDINGS["passwords"].as_array().unwrap() {
        let stored = text(&recorded["hash"]);
        assert!(password::verify(text(&recorded["password"]), stored));
        assert!(!password::verify("another password", stored));
    }
    // The recording used a ligature, a circled digit and a combining accent.
    let plain = ["fish-Paßwort 1", "café-Noir-99"];
    for (plain, recorded) in plain.iter().zip(RECORDINGS["passwords"].as_array().unwrap()) {
        assert!(password::verify(plain, text(&recorded["hash"])));
    }
}

#[test]
fn recorded_addresses_have_same_validity() {
    let recorded = RECORDINGS["emails"].as_object().unwrap();
    assert!(recorded.len() >= 35);
    for (address, taken) in recorded {
        assert_eq!(is_email(address), taken.as_bool().unwrap(), "{address:?}");
    }
}

#[test]
fn recorded_origins_have_same_or_stricter_result() {
    let front = TrustedOrigin::of("https://front.test").unwrap();
    let recorded = RECORDINGS["origins"].as_array().unwrap();
    assert!(recorded.len() >= 40);
    let mut stricter = Vec::new();
    for judged in recorded {
        let url = text(&judged["url"]);
        let theirs = (
            judged["origin"].as_bool().unwrap(),
            judged["redirect"].as_bool().unwrap(),
        );
        let ours = (front.contains_url(url), front.allows_redirect(url));
        if ours == (false, false) && theirs != ours {
            stricter.push(url);
        } else {
            assert_eq!(ours, theirs, "{url:?}");
        }
    }
    assert_eq!(stricter, ["https://front.test\\@evil.test"]);
}
