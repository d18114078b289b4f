//! Modified values are rejected, unmodified ones are accepted.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use better_auth::{
    cookie::{CookieNames, RequestCookies, sign, verify},
    session::{Lifecycle, Remember},
    set_cookie::SetCookies,
};
use percent_encoding::percent_decode_str;
use proptest::prelude::*;
use serde_json::Value;

use crate::users::{NOW, SECRET, WireUser};

/// Flips one bit; `None` if the result is not valid UTF-8.
fn flip_bit(text: &str, place: prop::sample::Index, bit: u8) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    let place = place.index(bytes.len());
    bytes[place] ^= 1 << bit;
    String::from_utf8(bytes).ok()
}

fn envelope(cached: &str) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(cached).unwrap()).unwrap()
}

fn encoded(envelope: &Value) -> String {
    URL_SAFE_NO_PAD.encode(envelope.to_string())
}

/// The paths of all values in a JSON document, including objects.
fn paths(value: &Value) -> Vec<String> {
    let Value::Object(entries) = value else {
        return vec![String::new()];
    };
    let below = |(key, value): (&String, &Value)| -> Vec<String> {
        paths(value).into_iter().map(|path| format!("/{key}{path}")).collect()
    };
    let mut all: Vec<String> = entries.iter().flat_map(below).collect();
    all.push(String::new());
    all
}

#[test]
fn cache_field_of_another_user_is_rejected() {
    let (ada, ben) = (WireUser::ada(), WireUser::ben());
    let (of_ada, of_ben) = (envelope(&ada.cached()), envelope(&ben.cached()));
    assert!(ada.accepts(&encoded(&of_ada)) && ben.accepts(&encoded(&of_ben)));

    let mut swapped = 0;
    for path in paths(&of_ada) {
        let mut mixed = of_ada.clone();
        let other = of_ben.pointer(&path).unwrap().clone();
        if path.is_empty() || mixed.pointer(&path) == Some(&other) {
            continue;
        }
        *mixed.pointer_mut(&path).unwrap() = other;
        let value = encoded(&mixed);
        assert!(!ada.accepts(&value) && !ben.accepts(&value), "{path}");
        swapped += 1;
    }
    assert!(swapped >= 12, "only {swapped} fields differ");
}

#[test]
fn changed_removed_or_added_cache_field_is_rejected() {
    let ada = WireUser::ada();
    let original = envelope(&ada.cached());
    for (path, forged) in [
        ("/session/user/role", Value::from("SUPER_ADMIN")),
        ("/session/user/banned", Value::from(true)),
        ("/session/session/activeOrganizationId", Value::from("another-school")),
        ("/session/session/impersonatedBy", Value::from("somebody")),
        ("/session/session/expiresAt", Value::from("2099-01-01T00:00:00.000Z")),
        ("/session/version", Value::from("2")),
        ("/session/updatedAt", Value::from(0)),
        ("/expiresAt", Value::from(4_102_444_800_000_i64)),
        ("/expiresAt", Value::from(1.5)),
        ("/signature", Value::from("")),
        ("/signature", Value::Null),
    ] {
        let mut changed = original.clone();
        *changed.pointer_mut(path).unwrap() = forged;
        assert!(!ada.accepts(&encoded(&changed)), "{path}");
    }
    for key in ["session", "expiresAt", "signature"] {
        let mut changed = original.clone();
        changed.as_object_mut().unwrap().shift_remove(key);
        assert!(!ada.accepts(&encoded(&changed)), "without {key}");
    }
    let mut changed = original.clone();
    changed["session"]["user"]["admin"] = true.into();
    assert!(!ada.accepts(&encoded(&changed)));
    let mut changed = original;
    changed["admin"] = true.into();
    assert!(!ada.accepts(&encoded(&changed)));
}

#[test]
fn non_canonical_cache_is_rejected() {
    let ada = WireUser::ada();
    let text = envelope(&ada.cached()).to_string();
    let blank = text.replacen(':', ": ", 1);
    let escaped = text.replacen("Ada", "\\u0041da", 1);
    let repeated = text.replacen('{', "{\"expiresAt\":1,", 1);
    for other in [blank, escaped, repeated, format!("{text} ")] {
        assert_ne!(other, text);
        assert!(!ada.accepts(&URL_SAFE_NO_PAD.encode(&other)), "{other}");
    }
    assert!(!ada.accepts(&format!("{}=", ada.cached())));
    for nonsense in ["", "e30", "bnVsbA", "W10", "not base64!", "eyJzZXNzaW9uIjp7fX0"] {
        assert!(!ada.accepts(nonsense), "{nonsense}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn flipped_bit_in_cache_is_rejected(place: prop::sample::Index, bit in 0_u8..8) {
        let ada = WireUser::ada();
        if let Some(touched) = flip_bit(&ada.cached(), place, bit) {
            prop_assert!(!ada.accepts(&touched));
        }
    }

    #[test]
    fn flipped_bit_inside_cache_is_rejected(place: prop::sample::Index, bit in 0_u8..8) {
        let ada = WireUser::ada();
        let text = envelope(&ada.cached()).to_string();
        if let Some(touched) = flip_bit(&text, place, bit) {
            prop_assert!(!ada.accepts(&URL_SAFE_NO_PAD.encode(touched)));
        }
    }

    #[test]
    fn flipped_bit_in_signed_cookie_is_rejected(
        token in "[A-Za-z0-9]{32}",
        place: prop::sample::Index,
        bit in 0_u8..8,
    ) {
        let cookie_value = sign(SECRET, &token);
        let meaning = |value: &str| percent_decode_str(value).collect::<Vec<u8>>();
        if let Some(touched) = flip_bit(&cookie_value, place, bit) {
            // `%2b` and `%2B` encode the same cookie, as in the library.
            let same = meaning(&touched) == meaning(&cookie_value);
            prop_assert_eq!(verify(SECRET, &touched), same.then(|| token.clone()));
        }
        let plain = String::from_utf8(meaning(&cookie_value)).unwrap();
        if let Some(touched) = flip_bit(&plain, place, bit) {
            prop_assert_eq!(verify(SECRET, &touched), None);
        }
    }

    #[test]
    fn signature_is_valid_for_one_value_and_secret(
        one in "[A-Za-z0-9]{1,40}",
        other in "[A-Za-z0-9]{1,40}",
    ) {
        prop_assume!(one != other);
        let signed = sign(SECRET, &other);
        let (_, signature) = signed.rsplit_once('.').unwrap();
        prop_assert_eq!(verify(SECRET, &format!("{one}.{signature}")), None);
        prop_assert_eq!(verify(&one, &signed), None);
    }

    #[test]
    fn signed_cookie_roundtrips_any_text(secret in "\\PC{1,40}", value in any::<String>()) {
        let signed = sign(&secret, &value);
        prop_assert!(signed.bytes().all(|byte| byte.is_ascii_graphic() && !b"\",;\\".contains(&byte)));
        let expected = (!value.is_empty()).then_some(value);
        prop_assert_eq!(verify(&secret, &signed), expected.clone());

        let cookies = RequestCookies::parse([format!("a=b; name={signed}; c=d")]);
        prop_assert_eq!(cookies.signed("name", secret.as_str()), expected);
    }

    #[test]
    fn chunks_of_any_length_are_joined(
        value in "[A-Za-z0-9_-]{1,64}",
        times in 1_usize..700,
        before in 0_usize..5,
        secure: bool,
        remember in prop_oneof![Just(Remember::Yes), Just(Remember::No)],
    ) {
        let value = value.repeat(times);
        let names = CookieNames::for_base_url(if secure { "https://a.test" } else { "http://a.test" });
        let stored = (0..before).map(|index| format!("{}.{index}=old", names.session_data()));
        let received = RequestCookies::parse(stored);
        let lines = SetCookies {
            names: &names,
            secret: SECRET,
            lifecycle: &Lifecycle::STANDARD,
            received: &received,
        }
        .session_data_value(&value, remember);

        prop_assert!(lines.iter().all(|line| line.len() <= 4050));
        let kept = lines.iter().filter(|line| !line.contains("=; Max-Age=0;"));
        let sent_back: Vec<&str> = kept.map(|line| line.split(';').next().unwrap()).collect();
        let cookies = RequestCookies::parse([sent_back.join("; ")]);
        prop_assert_eq!(cookies.joined(names.session_data()), Some(value));

        let rewritten = lines.iter().map(|line| line.split('=').next().unwrap());
        let rewritten: Vec<&str> = rewritten.collect();
        for index in 0..before {
            let old = format!("{}.{index}", names.session_data());
            prop_assert!(rewritten.contains(&old.as_str()));
        }
    }

    #[test]
    fn arbitrary_header_does_not_panic(header: Vec<u8>, body in any::<String>()) {
        let names = CookieNames::for_base_url("http://a.test");
        for bytes in [header.as_slice(), body.as_bytes()] {
            let cookies = RequestCookies::parse([bytes]);
            cookies.session(&names, SECRET);
            cookies.joined(names.session_data());
        }
        prop_assert!(better_auth::cache::verify(SECRET, &body, "token", NOW).is_none());
        prop_assert_eq!(verify(SECRET, &body), None);
    }
}
