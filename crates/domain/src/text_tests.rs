//! Tests of the text types: limits, trimming, empty texts, control characters, and the `OpenAPI` schema.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use garde::Validate;
use proptest::prelude::*;
use serde::Deserialize;
use utoipa::PartialSchema;

use super::*;

#[derive(Deserialize, garde::Validate)]
struct NewThing {
    #[garde(dive)]
    name: Name,
    #[garde(dive)]
    title: Title,
    #[serde(default, deserialize_with = "optional")]
    #[garde(dive)]
    code: Option<SubjectCode>,
}

#[test]
fn reading_trims_and_several_bad_fields_are_reported_together() {
    let thing: NewThing =
        serde_json::from_str(r#"{"name": "  ", "title": " Bees ", "code": "123456789012345678901"}"#).unwrap();
    assert_eq!(thing.title.as_str(), "Bees");
    let report = thing.validate().unwrap_err();
    let mut received: Vec<String> = report.iter().map(|(path, error)| format!("{path} {error}")).collect();
    received.sort_unstable();
    assert_eq!(received, ["code must be at most 20 characters", "name is required"]);
    assert_eq!(thing.name.as_str(), "");
}

#[test]
fn an_optional_text_that_is_empty_is_no_text() {
    let thing: NewThing = serde_json::from_str(r#"{"name": "a", "title": "b", "code": "  "}"#).unwrap();
    assert_eq!(thing.code, None);
    assert!(thing.validate().is_ok());
}

#[test]
fn length_is_counted_in_characters_not_bytes() {
    assert!(Name::try_from("ü".repeat(120).as_str()).is_ok());
    assert_eq!(Name::try_from("ü".repeat(121).as_str()), Err(TextError::TooLong(120)));
}

#[test]
fn names_refuse_control_characters_and_long_texts_allow_line_breaks() {
    assert_eq!(Name::try_from("7\nb"), Err(TextError::ControlCharacter));
    assert_eq!(Name::try_from("7\u{0}b"), Err(TextError::ControlCharacter));
    assert_eq!(Description::try_from("a\r\nb\rc\td").unwrap().as_str(), "a\nb\nc\td");
    assert_eq!(Description::try_from("a\u{0}b"), Err(TextError::ControlCharacter));
    assert_eq!(Description::try_from("   ").unwrap().as_str(), "");
}

#[test]
fn a_color_is_a_hash_and_six_hexadecimal_digits() {
    assert!(Color::try_from("#3366cC").is_ok());
    assert_eq!(Color::try_from("#33 6cc"), Err(TextError::NotAColor));
    assert_eq!(Color::try_from("3366ccc"), Err(TextError::NotAColor));
    assert_eq!(Color::try_from("#fff"), Err(TextError::TooShort(7)));
}

#[test]
fn schema_contains_the_same_limits() {
    let schema = serde_json::to_value(Title::schema()).unwrap();
    assert_eq!(schema["type"], "string");
    assert_eq!(schema["minLength"], 1);
    assert_eq!(schema["maxLength"], 200);
}

#[test]
fn one_line_texts_are_normalized_to_nfc() {
    for name in ["E\u{301}va", "\u{c9}va"] {
        assert_eq!(Name::try_from(name).unwrap().as_str(), "\u{c9}va");
        let read: Title = serde_json::from_value(serde_json::json!(name)).unwrap();
        assert_eq!(read.as_str(), "\u{c9}va");
    }
    // The limit applies to the normalized text.
    assert!(Name::try_from("u\u{308}".repeat(120).as_str()).is_ok());
    // Ids and URLs of other systems are compared byte by byte.
    assert_eq!(ExternalId::try_from("E\u{301}").unwrap().as_str(), "E\u{301}");
    assert_eq!(Name::stored("E\u{301}va").as_str(), "E\u{301}va", "stored rows stay");
}

#[test]
fn name_keys_ignore_case_in_every_language() {
    assert_eq!(name_key(" ÜBUNG Ärzte "), "übung ärzte");
}

proptest! {
    #[test]
    fn an_accepted_name_is_trimmed_short_and_without_control_characters(text in ".{0,200}") {
        if let Ok(name) = Name::try_from(text.as_str()) {
            prop_assert_eq!(name.as_str().trim(), name.as_str());
            prop_assert!((1..=120).contains(&name.as_str().chars().count()));
            prop_assert!(!name.as_str().chars().any(char::is_control));
        }
    }

    #[test]
    fn deserialization_and_try_from_agree(text in "\\PC{0,130}") {
        let json = serde_json::to_string(&text).unwrap();
        let read: Name = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(read.check().is_ok(), Name::try_from(text.as_str()).is_ok());
    }
}
