//! Steps and documents whose JSON was changed at random: an error or a valid document, never a panic.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use proptest::prelude::*;
use rich_text::{Bias, Node, RichTextError, Slice, Step, limits, rebase};
use serde_json::{Value, json};

fn document() -> Value {
    json!({"type": "doc", "content": [
        {"type": "heading", "attrs": {"level": 2}, "content": [{"type": "text", "text": "Fluß 😀"}]},
        {"type": "paragraph", "content": [
            {"type": "text", "text": "one "},
            {"type": "text", "text": "two😀", "marks": [{"type": "link", "attrs": {"href": "https://example.org"}}, {"type": "strong"}]},
            {"type": "image", "attrs": {"src": "a.png"}, "marks": [{"type": "em"}]},
        ]},
        {"type": "bullet_list", "content": [
            {"type": "list_item", "content": [{"type": "paragraph", "content": [{"type": "text", "text": "three"}]}]},
            {"type": "list_item", "content": [{"type": "paragraph"}, {"type": "horizontal_rule"}]},
        ]},
        {"type": "table", "content": [{"type": "table_row", "content": [
            {"type": "table_header", "attrs": {"colspan": 2, "colwidth": [10, 20]}, "content": [{"type": "paragraph"}]},
            {"type": "table_cell", "content": [{"type": "code_block", "content": [{"type": "text", "text": "x = 1"}]}]},
        ]}]},
    ]})
}

/// One step of each type that applies to the document.
fn steps() -> Vec<Value> {
    let strong = json!({"type": "strong"});
    let highlight = json!({"type": "highlight", "attrs": {"color": "green"}});
    let item =
        json!({"type": "list_item", "content": [{"type": "paragraph", "content": [{"type": "text", "text": "😀"}]}]});
    let split = json!({"content": [{"type": "paragraph"}, {"type": "paragraph"}], "openStart": 1, "openEnd": 1});
    let quote =
        json!({"content": [{"type": "blockquote", "content": [{"type": "paragraph"}]}, {"type": "blockquote"}]});
    vec![
        json!({"stepType": "replace", "from": 2, "to": 4, "slice": {"content": [{"type": "text", "text": "ä😀", "marks": [strong]}]}}),
        json!({"stepType": "replace", "from": 13, "to": 13, "slice": split, "structure": true}),
        json!({"stepType": "replace", "from": 22, "to": 22, "slice": {"content": [item]}}),
        json!({"stepType": "replaceAround", "from": 0, "to": 9, "gapFrom": 0, "gapTo": 9, "insert": 5, "slice": quote}),
        json!({"stepType": "addMark", "mark": highlight, "from": 1, "to": 30}),
        json!({"stepType": "removeMark", "mark": strong, "from": 10, "to": 20}),
        json!({"stepType": "markSet", "steps": [{"stepType": "addMark", "mark": strong, "from": 1, "to": 3}]}),
        json!({"stepType": "addNodeMark", "pos": 19, "mark": highlight}),
        json!({"stepType": "removeNodeMark", "pos": 19, "mark": {"type": "em"}}),
        json!({"stepType": "attr", "pos": 0, "attr": "level", "value": 3}),
        json!({"stepType": "docAttr", "attr": "language", "value": "de"}),
    ]
}

fn base() -> Node {
    Node::document_from_json(&document()).unwrap()
}

/// A value that is valid somewhere, or nowhere.
fn any_value() -> impl Strategy<Value = Value> {
    let names = vec![
        "doc",
        "paragraph",
        "text",
        "table_row",
        "list_item",
        "image",
        "strong",
        "subscript",
        "replaceAround",
        "attr",
        "",
    ];
    prop_oneof![
        prop::sample::select(names).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0_u32..60).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        "\\PC{0,5}".prop_map(Value::from),
        Just(Value::Null),
        Just(json!([])),
        Just(json!({})),
        Just(json!({"type": "paragraph", "content": [{"type": "paragraph"}]})),
        Just(json!([{"type": "text", "text": "a"}, {"type": "text", "text": "😀"}])),
        prop::sample::select(steps()),
        Just(document()),
    ]
}

/// Paths to all values, from the outermost.
fn paths(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => map
            .iter()
            .for_each(|(key, value)| paths(value, &format!("{path}/{key}"), found)),
        Value::Array(list) => list
            .iter()
            .enumerate()
            .for_each(|(key, value)| paths(value, &format!("{path}/{key}"), found)),
        _ => {}
    }
    found.push(path.to_owned());
}

fn mutate(mut json: Value, changes: &[(prop::sample::Index, Value)]) -> Value {
    for (index, value) in changes {
        let mut found = Vec::new();
        paths(&json, "", &mut found);
        *json.pointer_mut(&found[index.index(found.len())]).unwrap() = value.clone();
    }
    json
}

fn changes() -> impl Strategy<Value = Vec<(prop::sample::Index, Value)>> {
    prop::collection::vec((any::<prop::sample::Index>(), any_value()), 1..4)
}

fn check_result(document: &Node) {
    document.check().unwrap();
    let json = document.to_json();
    assert_eq!(&Node::document_from_json(&json).unwrap(), document);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn mutated_step_is_rejected_or_leaves_a_valid_document(
        step in prop::sample::select(steps()),
        changes in changes(),
        other in prop::sample::select(steps()),
        position in 0_usize..80,
    ) {
        let document = base();
        let Ok(step) = Step::from_json(&mutate(step, &changes)) else {
            return Ok(());
        };
        prop_assert_eq!(&Step::from_json(&step.to_json()).unwrap().to_json(), &step.to_json());
        let map = step.step_map();
        map.map_result(position, Bias::Before);
        map.inverted().map_result(position, Bias::After);
        if let Ok(changed) = step.apply(&document) {
            check_result(&changed);
            prop_assert!(position > document.content_size() || map.map(position, Bias::After) <= changed.content_size());
        }
        let other = Step::from_json(&other).unwrap();
        let steps = [step.clone(), step, other.clone()];
        let rebased = rebase(&steps, std::slice::from_ref(&other), &other.apply(&document).unwrap());
        check_result(&rebased.document);
        check_result(&rebase(std::slice::from_ref(&other), &steps, &document).document);
    }

    #[test]
    fn mutated_document_is_rejected_or_valid(changes in changes()) {
        if let Ok(document) = Node::document_from_json(&mutate(document(), &changes)) {
            check_result(&document);
        }
    }

    #[test]
    fn slice_of_any_range_fits_where_it_was_cut(from in 0_usize..80, to in 0_usize..80) {
        let document = base();
        if let Ok(slice) = document.slice(from, to) {
            prop_assert_eq!(document.replace(from, to, &slice).unwrap(), document);
        }
    }
}

#[test]
fn every_step_type_applies_unchanged() {
    for json in steps() {
        check_result(
            &Step::from_json(&json)
                .unwrap()
                .apply(&base())
                .unwrap_or_else(|error| panic!("{error}: {json}")),
        );
    }
}

#[test]
fn position_inside_surrogate_pair_is_rejected() {
    let insertion =
        json!({"stepType": "replace", "from": 7, "to": 7, "slice": {"content": [{"type": "text", "text": "a"}]}});
    let step = Step::from_json(&insertion).unwrap();
    assert_eq!(step.apply(&base()), Err(RichTextError::SurrogatePair));
    assert_eq!(base().slice(6, 7), Err(RichTextError::SurrogatePair));
    assert_eq!(base().slice(6, 8).unwrap().content().nodes()[0].text(), "😀");
}

#[test]
fn document_deeper_or_longer_than_the_limits_is_rejected() {
    let nested = |levels: usize| {
        let innermost = json!({"type": "paragraph"});
        let quote = |child: Value, _| json!({"type": "blockquote", "content": [child]});
        json!({"type": "doc", "content": [(1..levels).fold(innermost, quote)]})
    };
    let deepest = Node::document_from_json(&nested(limits().depth)).unwrap();
    assert_eq!(
        Node::document_from_json(&nested(limits().depth + 1)),
        Err(RichTextError::TooDeep)
    );
    let text = serde_json::to_string(&deepest).unwrap();
    assert!(
        serde_json::from_str::<Node>(&text).is_ok(),
        "serde_json reads the deepest document"
    );

    let quote = json!({"content": [{"type": "blockquote", "content": []}]});
    let size = deepest.content_size();
    let wrap = json!({"stepType": "replaceAround", "from": 0, "to": size, "gapFrom": 0, "gapTo": size, "insert": 1, "slice": quote});
    assert_eq!(
        Step::from_json(&wrap).unwrap().apply(&deepest),
        Err(RichTextError::TooDeep)
    );

    let text = Node::new_text("x".repeat(limits().size), Vec::new()).unwrap();
    let result = base().replace(1, 1, &Slice::closed(vec![text]));
    assert_eq!(result, Err(RichTextError::TooLarge));
}

#[test]
fn link_to_another_scheme_and_image_outside_of_the_service_are_rejected() {
    for (href, is_valid) in [
        ("https://example.org/a?b#c", true),
        ("MAILTO:ada@school.example", true),
        ("javascript:alert(1)", false),
        ("https://example.org/ a", false),
        ("/relative", false),
    ] {
        let step =
            json!({"stepType": "addMark", "from": 1, "to": 3, "mark": {"type": "link", "attrs": {"href": href}}});
        assert_eq!(Step::from_json(&step).is_ok(), is_valid, "{href}");
    }
    for (source, is_valid) in [
        ("0198-ab.png", true),
        ("https://example.org/a.png", false),
        ("../a", false),
        ("", false),
    ] {
        let image = json!({"type": "image", "attrs": {"src": source}});
        assert_eq!(Node::from_json(&image).is_ok(), is_valid, "{source}");
    }
}
