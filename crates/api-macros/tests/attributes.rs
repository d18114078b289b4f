//! Types with the attributes: their JSON, their schemas and what they reject.

#![expect(clippy::unwrap_used, reason = "tests may panic")]
#![expect(dead_code, reason = "the fields are written and described, but not read")]

use api_macros::{body, described, patch, query, view};
use garde::Validate;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
struct Name(String);

impl Validate for Name {
    type Context = ();

    fn validate_into(&self, (): &(), parent: &mut dyn FnMut() -> garde::Path, report: &mut garde::Report) {
        if self.0.is_empty() {
            report.append(parent(), garde::Error::new("must not be empty"));
        }
    }
}

type FieldPatch<T> = Option<T>;

#[derive(Debug, Clone, Serialize)]
struct StaffOnly<T>(Option<T>);

impl<T> StaffOnly<T> {
    const fn is_absent(&self) -> bool {
        self.0.is_none()
    }
}

#[view(PartialEq)]
struct PartView {
    part_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<String>,
}

#[view]
struct SampleView {
    is_hidden: StaffOnly<bool>,
    thing_part: PartView,
    #[schema(required = false)]
    not_required: Option<i64>,
}

#[described]
struct Described {
    may_be_absent: Option<String>,
    #[schema(nullable)]
    may_be_null: Option<String>,
    #[schema(required)]
    is_written: Option<String>,
}

#[body]
struct NewSample {
    full_name: Name,
    other_name: Option<Name>,
    #[garde(length(max = 3))]
    code: Option<String>,
    is_open: Option<bool>,
}

#[patch]
struct SampleEdit {
    full_name: FieldPatch<Name>,
}

#[derive(Default, Deserialize)]
struct Switch(bool);

impl Validate for Switch {
    type Context = ();

    fn validate_into(&self, (): &(), _: &mut dyn FnMut() -> garde::Path, _: &mut garde::Report) {}
}

impl utoipa::PartialSchema for Switch {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        bool::schema()
    }
}

impl ToSchema for Switch {}

#[query]
struct SampleListQuery {
    full_name: Option<Name>,
    show_all: Switch,
}

fn schema<T: ToSchema>() -> Value {
    serde_json::to_value(T::schema()).unwrap()
}

#[test]
fn view_is_named_and_written_in_camel_case() {
    let part = PartView {
        part_name: None,
        left_out: None,
    };
    assert_eq!(PartView::name(), "Part");
    assert_eq!(json!(part), json!({ "partName": null }));
    assert_eq!(schema::<PartView>()["required"], json!(["partName"]));
}

#[test]
fn staff_only_field_is_left_out_if_it_is_absent() {
    let thing = |is_hidden| SampleView {
        is_hidden: StaffOnly(is_hidden),
        thing_part: PartView {
            part_name: None,
            left_out: None,
        },
        not_required: None,
    };
    assert_eq!(json!(thing(None)).get("isHidden"), None);
    assert_eq!(json!(thing(Some(true)))["isHidden"], true);
    assert_eq!(schema::<SampleView>()["required"], json!(["thingPart"]));
    assert_eq!(schema::<SampleView>()["properties"]["isHidden"]["type"], "boolean");
}

#[test]
fn option_of_described_type_may_be_absent_but_not_null() {
    let schema = schema::<Described>();
    assert_eq!(schema["required"], json!(["isWritten"]));
    assert_eq!(schema["properties"]["mayBeAbsent"]["type"], "string");
    assert_eq!(schema["properties"]["mayBeNull"]["type"], json!(["string", "null"]));
}

#[test]
fn body_validates_every_field_and_rejects_unknown_ones() {
    let read = |value: Value| serde_json::from_value::<NewSample>(value);
    assert!(read(json!({ "fullName": "a", "color": "red" })).is_err());
    assert!(read(json!({ "fullName": "a" })).unwrap().validate().is_ok());
    for (body, field) in [
        (json!({ "fullName": "" }), "full_name"),
        (json!({ "fullName": "a", "otherName": "" }), "other_name"),
        (json!({ "fullName": "a", "code": "long" }), "code"),
    ] {
        let report = read(body).unwrap().validate().unwrap_err();
        let paths: Vec<String> = report.iter().map(|(path, _)| path.to_string()).collect();
        assert_eq!(paths, [field]);
    }
}

#[test]
fn patch_accepts_absent_fields_and_validates_the_others() {
    let read = |value: Value| serde_json::from_value::<SampleEdit>(value).unwrap();
    assert!(read(json!({ "unknown": 1 })).validate().is_ok());
    assert!(read(json!({ "fullName": "" })).validate().is_err());
}

#[test]
fn query_is_described_as_parameters_of_the_query() {
    let parameters = json!(SampleListQuery::into_params(|| None));
    assert_eq!(parameters[0]["name"], "fullName");
    assert_eq!(parameters[0]["in"], "query");
    assert_eq!(parameters[1]["name"], "showAll");
    assert_eq!(parameters[1]["required"], false);
    let query: SampleListQuery = serde_json::from_value(json!({ "fullName": "" })).unwrap();
    assert!(query.validate().is_err());
}
