use domain::list::List;
use domain::text::Title;
use domain::time::Timestamp;
use serde::Deserialize;

use super::*;

#[derive(Debug, Deserialize, Validate)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only read")]
struct Lesson {
    #[garde(dive)]
    title: Title,
    #[garde(skip)]
    starts_at: Timestamp,
    #[garde(skip)]
    kind: Kind,
    #[serde(default)]
    #[garde(dive)]
    room_ids: List<String>,
    #[serde(default)]
    #[garde(dive)]
    parts: Vec<ShapePart>,
}

#[derive(Debug, Deserialize, Validate)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ShapePart {
    #[garde(range(min = 1, max = 9))]
    minutes: u32,
    #[garde(dive)]
    title: Option<Title>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Talk,
    WriteTx,
}

fn problems(value: Value) -> Vec<(String, String)> {
    let read = body::<Lesson>(Vec::new(), value);
    let mut found: Vec<(String, String)> = read
        .err()
        .unwrap_or_default()
        .into_iter()
        .map(|problem| (problem.path, problem.code))
        .collect();
    found.sort();
    found
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = expected
        .iter()
        .map(|(path, code)| ((*path).to_owned(), (*code).to_owned()));
    owned.collect()
}

#[test]
fn all_errors_of_a_body_are_reported_at_once() {
    assert_eq!(
        problems(json!({})),
        pairs(&[("kind", "required"), ("startsAt", "required"), ("title", "required")])
    );
    let wrong = json!({
        "title": 7, "startsAt": "soon", "kind": "party", "roomIds": "a", "colour": 1, "size": 2,
        "parts": [{"minutes": "x", "title": ""}, {"minute": 1}, {"minutes": 10, "title": "y".repeat(201)}, 5],
    });
    assert_eq!(
        problems(wrong),
        pairs(&[
            ("colour", "unknown"),
            ("kind", "enum"),
            ("parts[0].minutes", "type"),
            ("parts[0].title", "required"),
            ("parts[1].minute", "unknown"),
            ("parts[1].minutes", "required"),
            ("parts[2].minutes", "format"),
            ("parts[2].title", "too_long"),
            ("parts[3]", "type"),
            ("roomIds", "type"),
            ("size", "unknown"),
            ("startsAt", "format"),
            ("title", "type"),
        ])
    );
    assert_eq!(problems(json!([])), pairs(&[("", "type")]));
    let good = json!({"title": "A", "startsAt": "2030-01-01T00:00:00Z", "kind": "talk"});
    assert_eq!(problems(good), pairs(&[]));
}

#[test]
fn limit_messages_map_to_their_codes() {
    for (message, code) in [
        ("is required", "required"),
        ("must not be null", "required"),
        ("needs withCourses", "required"),
        ("must be at most 80 characters", "too_long"),
        ("must have at most 500 entries", "too_long"),
        ("length is greater than 100", "too_long"),
        ("must be at least 2 characters", "too_short"),
        ("must not be empty", "too_short"),
        ("length is lower than 1", "too_short"),
        ("must be ADMIN, TEACHER or STUDENT", "enum"),
        ("must be between 1 and 9", "format"),
        ("must not contain control characters", "format"),
    ] {
        assert_eq!(code_of_limit(message), code, "{message}");
    }
}

#[derive(Debug, Deserialize, Validate)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only read")]
struct TestListQuery {
    #[garde(skip)]
    kind: Option<Kind>,
    #[garde(range(max = 9))]
    page: Option<u32>,
    #[garde(dive)]
    search: Option<domain::text::Search>,
}

#[test]
fn all_errors_of_a_query_are_reported_at_once() {
    let of = |text: &str| {
        let read = query::<TestListQuery>(text.as_bytes());
        let found = read.err().unwrap_or_default().into_iter();
        found.map(|problem| (problem.path, problem.code)).collect::<Vec<_>>()
    };
    assert_eq!(of("other=1&kind=talk"), pairs(&[]));
    let long = format!("kind=party&page=x&search={}", "y".repeat(101));
    assert_eq!(
        of(&long),
        pairs(&[("kind", "enum"), ("page", "type"), ("search", "too_long")])
    );
}
