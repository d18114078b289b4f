//! Edits of the blank template and of small documents.

use crate::support::{no_images, parts, root, without_sources};
use docx::{Limits, NewImage, SaveProblem, normalize, open, save};
use serde_json::{Value, json};

fn blank() -> Vec<u8> {
    std::fs::read(root().join("crates/adapters/templates/blank.docx")).unwrap()
}

fn paragraph(content: Value) -> Value {
    json!({"type": "paragraph", "content": content})
}

fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

fn doc(blocks: Value) -> Value {
    json!({"type": "doc", "content": blocks})
}

/// Saves a document in the blank template and opens the result.
fn round_trip(document: &Value) -> Value {
    let saved = save(&blank(), document, &no_images, &Limits::default()).unwrap();
    assert_eq!(saved.problems, []);
    without_sources(open(&saved.bytes, &Limits::default()).unwrap().document)
}

fn expect_round_trip(blocks: Value) {
    let document = doc(blocks);
    assert_eq!(round_trip(&document), without_sources(normalize(&document).unwrap()));
}

#[test]
fn paragraphs_and_headings_when_saved_are_read_back() {
    expect_round_trip(json!([
        {"type": "heading", "attrs": {"level": 1}, "content": text("Titel & mehr")},
        {"type": "heading", "attrs": {"level": 4, "align": "center"}, "content": text("Vier")},
        {"type": "paragraph", "attrs": {"align": "justify"}, "content": text("  zwei  Leerzeichen\tTab 😀")},
        {"type": "paragraph"},
        {"type": "blockquote", "content": [paragraph(text("Zitat")), paragraph(text("zweiter Absatz"))]},
        {"type": "code_block", "content": text("fn main() {\n    1 < 2\n}")},
        {"type": "horizontal_rule"},
        {"type": "page_break"},
        paragraph(json!([{"type": "text", "text": "a"}, {"type": "hard_break"}, {"type": "text", "text": "b"}])),
    ]));
}

#[test]
fn marks_when_saved_are_read_back() {
    let marks = [
        json!({"type": "strong"}),
        json!({"type": "em"}),
        json!({"type": "underline"}),
        json!({"type": "strike"}),
        json!({"type": "superscript"}),
        json!({"type": "subscript"}),
        json!({"type": "highlight", "attrs": {"color": "orange"}}),
        json!({"type": "color", "attrs": {"color": "teal"}}),
        json!({"type": "code"}),
        json!({"type": "link", "attrs": {"href": "https://example.org/?a=1&b=2"}}),
    ];
    let content: Vec<Value> = marks
        .iter()
        .map(|mark| json!({"type": "text", "text": format!("{mark} "), "marks": [mark]}))
        .collect();
    expect_round_trip(json!([paragraph(json!(content))]));
}

#[test]
fn nested_lists_when_saved_are_read_back() {
    let item = |blocks: Value| json!({"type": "list_item", "content": blocks});
    let check =
        |checked: bool, blocks: Value| json!({"type": "check_item", "attrs": {"checked": checked}, "content": blocks});
    expect_round_trip(json!([
        {"type": "bullet_list", "content": [
            item(json!([paragraph(text("eins")), {"type": "ordered_list", "attrs": {"start": 3, "format": "lower_roman"},
                "content": [item(json!([paragraph(text("innen"))])), item(json!([paragraph(text("innen 2"))]))]},
                paragraph(text("weiter"))])),
            item(json!([paragraph(text("zwei"))])),
        ]},
        {"type": "ordered_list", "attrs": {"start": 1, "format": "decimal"}, "content": [item(json!([paragraph(text("a"))]))]},
        {"type": "ordered_list", "attrs": {"start": 5, "format": "decimal"}, "content": [item(json!([paragraph(text("b"))]))]},
        {"type": "check_list", "content": [
            check(true, json!([paragraph(text("fertig"))])),
            check(false, json!([paragraph(text("offen")),
                {"type": "check_list", "content": [check(true, json!([paragraph(text("innen"))]))]}])),
        ]},
    ]));
}

#[test]
fn picture_when_added_becomes_a_part() {
    let image =
        json!({"type": "image", "attrs": {"src": "upload-1", "alt": "Ein \"Baum\"", "width": 100, "height": 50}});
    let document = doc(json!([paragraph(json!([image]))]));
    let source = |id: &str| {
        (id == "upload-1").then(|| NewImage {
            media_type: "image/png".to_owned(),
            bytes: b"\x89PNG".to_vec(),
        })
    };
    let saved = save(&blank(), &document, &source, &Limits::default()).unwrap();
    assert_eq!(parts(&saved.bytes)["word/media/image1.png"], b"\x89PNG");
    let opened = open(&saved.bytes, &Limits::default()).unwrap();
    assert_eq!(opened.images.len(), 1);
    let attrs = &opened.document["content"][0]["content"][0]["attrs"];
    assert_eq!(attrs["src"], json!(opened.images[0].id));
    assert_eq!(
        (&attrs["alt"], &attrs["width"], &attrs["height"]),
        (&json!("Ein \"Baum\""), &json!(100), &json!(50))
    );
}

#[test]
fn picture_without_a_file_when_saved_is_reported() {
    let document = doc(json!([paragraph(
        json!([{"type": "image", "attrs": {"src": "missing"}}])
    )]));
    let saved = save(&blank(), &document, &no_images, &Limits::default()).unwrap();
    assert_eq!(saved.problems, [SaveProblem::UnknownImage("missing".to_owned())]);
}

#[test]
fn footnotes_when_saved_are_read_back() {
    let note = |text: &str| json!({"type": "footnote", "attrs": {"text": text}});
    let document = doc(json!([paragraph(
        json!([{"type": "text", "text": "a"}, note("Erste"), note("Zweite\nZeile")])
    )]));
    let saved = save(&blank(), &document, &no_images, &Limits::default()).unwrap();
    let opened = open(&saved.bytes, &Limits::default()).unwrap();
    assert_eq!(without_sources(opened.document.clone()), document);

    let mut edited = opened.document;
    edited["content"][0]["content"][1]["attrs"]["text"] = json!("Geändert");
    let again = save(&saved.bytes, &edited, &no_images, &Limits::default()).unwrap();
    assert_eq!(open(&again.bytes, &Limits::default()).unwrap().document, edited);
    let (before, after) = (parts(&saved.bytes), parts(&again.bytes));
    assert_eq!(
        before["word/footnotes.xml"].len() + "Geändert".len() - "Erste".len(),
        after["word/footnotes.xml"].len()
    );
}
