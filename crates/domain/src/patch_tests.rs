//! Tests of PATCH fields: absent, null and value, null where it is not allowed, and the generated schema.
#![expect(clippy::unwrap_used, reason = "tests may panic")]
use garde::Validate;
use utoipa::OpenApi;

use super::*;
use crate::id::CourseId;
use crate::text::{Name, ShortName};

#[derive(Debug, Deserialize, garde::Validate, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct ThingEdit {
    #[serde(default)]
    #[garde(dive, custom(not_null))]
    name: FieldPatch<Name>,
    #[serde(default, deserialize_with = "optional_text")]
    #[garde(dive)]
    display_name: FieldPatch<ShortName>,
    #[serde(default)]
    #[garde(skip)]
    course_id: FieldPatch<CourseId>,
}

fn read(json: &str) -> ThingEdit {
    serde_json::from_str(json).unwrap()
}

#[test]
fn absent_keeps_null_clears_and_a_value_sets() {
    let edit = read(r#"{"displayName": null, "courseId": "c1"}"#);
    assert_eq!(edit.name, FieldPatch::Unchanged);
    assert_eq!(edit.display_name, FieldPatch::Null);
    assert_eq!(edit.course_id, FieldPatch::Value(CourseId::new("c1")));
}

#[test]
fn apply_returns_whether_value_changed() {
    let mut field = Some(1);
    assert!(!FieldPatch::Unchanged.apply(&mut field));
    assert!(!FieldPatch::Value(1).apply(&mut field));
    assert!(FieldPatch::Value(2).apply(&mut field));
    assert!(FieldPatch::Null.apply(&mut field));
    assert_eq!(field, None);
}

#[test]
fn null_is_refused_where_a_value_is_needed() {
    let mut field = 1;
    assert_eq!(
        FieldPatch::Null
            .apply_required("deadline", &mut field)
            .unwrap_err()
            .to_string(),
        "deadline must not be null"
    );
    assert!(FieldPatch::Value(2).apply_required("deadline", &mut field).unwrap());
    let report = read(r#"{"name": null}"#).validate().unwrap_err();
    assert_eq!(report.to_string(), "name: must not be null\n");
}

#[test]
fn validation_passes_through_to_the_value() {
    assert_eq!(
        read(r#"{"name": " "}"#).validate().unwrap_err().to_string(),
        "name: is required\n"
    );
    assert!(read(r#"{"displayName": " "}"#).validate().is_ok());
}

#[derive(OpenApi)]
#[openapi(components(schemas(ThingEdit)))]
struct PatchDocument;

#[test]
fn schema_contains_limits_of_value_and_null() {
    let document = serde_json::to_value(PatchDocument::openapi()).unwrap();
    let text = document.to_string();
    assert!(text.contains("\"maxLength\":120"), "{document:#}");
    assert!(text.contains("\"null\""), "{document:#}");
    let schemas = &document["components"]["schemas"];
    assert!(schemas["ThingEdit"]["required"].is_null(), "{document:#}");
    // Every reference resolves to a schema.
    for part in text.split("#/components/schemas/").skip(1) {
        let name = part.split('"').next().unwrap();
        assert!(!schemas[name].is_null(), "{name} is missing in {document:#}");
    }
}

#[test]
fn only_real_differences_are_recorded() {
    let mut changed = FieldDiff::new();
    let (mut name, mut note) = ("7b".to_owned(), Some(1));
    changed.write("name", &mut name, "7b".to_owned());
    assert!(changed.is_empty());
    changed
        .edit("name", &mut name, FieldPatch::Value("7c".to_owned()))
        .unwrap();
    changed.edit_nullable("note", &mut note, FieldPatch::Null);
    assert_eq!(changed.names(), ["name", "note"]);
    assert_eq!(changed.before(), serde_json::json!({"name": "7b", "note": 1}));
    assert_eq!(changed.after(), serde_json::json!({"name": "7c", "note": null}));
    assert!(changed.edit("name", &mut name, FieldPatch::Null).is_err());
}
