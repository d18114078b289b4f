//! Random documents and random edits.

use docx::{Limits, normalize, open, save};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

use crate::support::{corpus, no_images, root, without_sources};

/// No test depends on chance.
const SEED: u64 = 19;

fn blank() -> Vec<u8> {
    std::fs::read(root().join("crates/adapters/templates/blank.docx")).unwrap()
}

/// Characters that XML, Word or UTF-16 treat in a special way, and ordinary ones.
fn text() -> impl Strategy<Value = String> {
    let special = prop::sample::select(vec![
        "<", "&", "\"", ">", "'", "\t", " ", "  ", "\u{a0}", "\u{ad}", "\u{2011}", "😀", "e\u{301}", "]]>", "\u{1}",
        "\u{200f}", "שלום", "&amp;", "\u{fffd}", "\u{7f}",
    ]);
    let word = prop_oneof![3 => "[a-zäöüß]{1,8}".boxed(), 1 => special.prop_map(str::to_owned).boxed()];
    vec(word, 1..5).prop_map(|words| words.concat())
}

fn marks() -> impl Strategy<Value = Value> {
    let simple = prop::sample::select(vec!["strong", "em", "underline", "strike", "code"]);
    let script = prop::sample::select(vec!["superscript", "subscript"]);
    let highlight = prop::sample::select(vec![
        "yellow", "green", "blue", "pink", "red", "orange", "purple", "gray",
    ]);
    let color = prop::sample::select(vec![
        "black", "gray", "red", "orange", "green", "teal", "blue", "purple",
    ]);
    let link = prop::sample::select(vec![
        "https://example.org/?a=1&b=<2>",
        "mailto:ada@example.org",
        "http://x/#y",
    ]);
    (
        prop::option::weighted(0.2, link),
        prop::collection::btree_set(simple, 0..3),
        prop::option::weighted(0.1, script),
        prop::option::weighted(0.1, highlight),
        prop::option::weighted(0.1, color),
    )
        .prop_map(|(link, simple, script, highlight, color)| {
            let mut marks: Vec<Value> = Vec::new();
            marks.extend(link.map(|href| json!({"type": "link", "attrs": {"href": href}})));
            marks.extend(simple.into_iter().map(|mark| json!({"type": mark})));
            marks.extend(script.map(|mark| json!({"type": mark})));
            marks.extend(highlight.map(|color| json!({"type": "highlight", "attrs": {"color": color}})));
            marks.extend(color.map(|color| json!({"type": "color", "attrs": {"color": color}})));
            json!(marks)
        })
}

fn inline() -> impl Strategy<Value = Value> {
    prop_oneof![
        8 => (text(), marks()).prop_map(|(text, marks)| json!({"type": "text", "text": text, "marks": marks})),
        1 => marks().prop_map(|marks| json!({"type": "hard_break", "marks": marks})),
        1 => text().prop_map(|text| json!({"type": "footnote", "attrs": {"text": text}})),
    ]
}

fn align() -> impl Strategy<Value = Option<&'static str>> {
    prop::option::weighted(0.2, prop::sample::select(vec!["left", "center", "right", "justify"]))
}

fn paragraph() -> impl Strategy<Value = Value> {
    (vec(inline(), 0..4), align())
        .prop_map(|(content, align)| json!({"type": "paragraph", "attrs": {"align": align}, "content": content}))
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => paragraph(),
        2 => (vec(inline(), 0..3), align(), 1..=4).prop_map(|(content, align, level)| {
            json!({"type": "heading", "attrs": {"level": level, "align": align}, "content": content})
        }),
        1 => "[a-z <&\n\t]{0,20}".prop_map(|code| {
            let content = if code.is_empty() { json!([]) } else { json!([{"type": "text", "text": code}]) };
            json!({"type": "code_block", "content": content})
        }),
        1 => Just(json!({"type": "horizontal_rule"})),
        1 => Just(json!({"type": "page_break"})),
    ]
}

fn list(
    kind: &'static str,
    item: &'static str,
    inner: impl Strategy<Value = Vec<Value>> + 'static,
) -> BoxedStrategy<Value> {
    let items = vec((paragraph(), inner, any::<bool>()), 1..4);
    let format = prop::sample::select(vec![
        "decimal",
        "lower_letter",
        "upper_letter",
        "lower_roman",
        "upper_roman",
    ]);
    (items, 0..30_u32, format)
        .prop_map(move |(items, start, format)| {
            let items: Vec<Value> = items
                .into_iter()
                .map(|(first, rest, checked)| {
                    let content: Vec<Value> = std::iter::once(first).chain(rest).collect();
                    match item {
                        "check_item" => json!({"type": item, "attrs": {"checked": checked}, "content": content}),
                        item => json!({"type": item, "content": content}),
                    }
                })
                .collect();
            match kind {
                "ordered_list" => json!({"type": kind, "attrs": {"start": start, "format": format}, "content": items}),
                kind => json!({"type": kind, "content": items}),
            }
        })
        .boxed()
}

fn table(block: impl Strategy<Value = Value> + 'static) -> BoxedStrategy<Value> {
    let cell =
        (vec(block, 1..3), 1..3_u32, 1..3_u32, any::<bool>()).prop_map(|(content, colspan, rowspan, is_header)| {
            let kind = if is_header { "table_header" } else { "table_cell" };
            json!({"type": kind, "attrs": {"colspan": colspan, "rowspan": rowspan}, "content": content})
        });
    vec(vec(cell, 1..4), 1..4)
        .prop_map(|rows| {
            let rows: Vec<Value> = rows
                .into_iter()
                .map(|cells| json!({"type": "table_row", "content": cells}))
                .collect();
            json!({"type": "table", "content": rows})
        })
        .boxed()
}

fn block() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 1..3).prop_map(|content| json!({"type": "blockquote", "content": content})),
            list("bullet_list", "list_item", vec(inner.clone(), 0..3)),
            list("ordered_list", "list_item", vec(inner.clone(), 0..3)),
            list("check_list", "check_item", vec(inner.clone(), 0..3)),
            table(inner),
        ]
    })
}

fn document() -> impl Strategy<Value = Value> {
    vec(block(), 1..6).prop_map(|content| json!({"type": "doc", "content": content}))
}

fn limits() -> Limits {
    Limits::default()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(SEED),
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_document_when_saved_and_opened_is_the_same(document in document()) {
        let saved = save(&blank(), &document, &no_images, &limits()).unwrap();
        prop_assert_eq!(&saved.problems, &[]);
        let opened = open(&saved.bytes, &limits()).unwrap().document;
        prop_assert_eq!(without_sources(opened.clone()), without_sources(normalize(&document).unwrap()));
        // What was read is in its normal form, and saving it changes nothing.
        let again = save(&saved.bytes, &opened, &no_images, &limits()).unwrap();
        prop_assert!(again.bytes == saved.bytes);
    }

    #[test]
    fn random_edits_of_a_corpus_file_when_saved_are_read_back(
        file in 0..262_usize,
        edits in vec((any::<prop::sample::Index>(), edit()), 1..6),
    ) {
        let (name, bytes) = &corpus()[file];
        let mut document = open(bytes, &limits()).unwrap().document;
        // Large files add nothing but time.
        prop_assume!(document["content"].as_array().unwrap().len() < 300);
        for (index, edit) in &edits {
            let blocks = document["content"].as_array_mut().unwrap();
            edit.apply(blocks, index.index(blocks.len().max(1)));
        }
        let saved = save(bytes, &document, &no_images, &limits()).unwrap();
        let opened = open(&saved.bytes, &limits()).unwrap().document;
        prop_assert_eq!(comparable(opened), comparable(normalize(&document).unwrap()), "{}", name);
    }
}

#[derive(Debug, Clone)]
enum Edit {
    Insert(Value),
    Delete,
    Duplicate,
    Move(prop::sample::Index),
    AppendText(String),
    Mark(Value),
    /// Makes a paragraph of a heading and a heading of a paragraph.
    ChangeKind,
    Wrap(&'static str),
    /// Replaces lists, quotes and tables by their content.
    Unwrap,
    Align(Option<&'static str>),
    DeleteText,
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        leaf().prop_map(Edit::Insert),
        Just(Edit::Delete),
        Just(Edit::Duplicate),
        any::<prop::sample::Index>().prop_map(Edit::Move),
        text().prop_map(Edit::AppendText),
        marks().prop_map(Edit::Mark),
        Just(Edit::ChangeKind),
        prop::sample::select(vec!["bullet_list", "ordered_list", "check_list", "blockquote"]).prop_map(Edit::Wrap),
        Just(Edit::Unwrap),
        align().prop_map(Edit::Align),
        Just(Edit::DeleteText),
    ]
}

impl Edit {
    fn apply(&self, blocks: &mut Vec<Value>, index: usize) {
        if index >= blocks.len() {
            return;
        }
        match self {
            Self::Insert(block) => blocks.insert(index, block.clone()),
            Self::Delete if blocks.len() > 1 => {
                blocks.remove(index);
            }
            Self::Delete => {}
            Self::Duplicate => blocks.insert(index, blocks[index].clone()),
            Self::Move(to) => {
                let block = blocks.remove(index);
                let to = to.index(blocks.len() + 1);
                blocks.insert(to, block);
            }
            Self::AppendText(text) => {
                if let Some(inlines) = first_paragraph(&mut blocks[index]) {
                    inlines.push(json!({"type": "text", "text": text}));
                }
            }
            Self::Mark(marks) => {
                for inline in first_paragraph(&mut blocks[index]).into_iter().flatten() {
                    inline["marks"] = marks.clone();
                }
            }
            Self::ChangeKind => {
                let block = &mut blocks[index];
                match block["type"].as_str() {
                    Some("paragraph") => {
                        block["type"] = json!("heading");
                        block["attrs"]["level"] = json!(2);
                    }
                    Some("heading") => {
                        block["type"] = json!("paragraph");
                        block["attrs"].as_object_mut().unwrap().shift_remove("level");
                    }
                    _ => {}
                }
            }
            Self::Wrap(kind) => {
                if blocks[index]["type"] != "paragraph" {
                    return;
                }
                let paragraph = blocks[index].take();
                blocks[index] = match *kind {
                    "blockquote" => json!({"type": kind, "content": [paragraph]}),
                    "check_list" => {
                        let item = json!({"type": "check_item", "attrs": {"checked": true}, "content": [paragraph]});
                        json!({"type": kind, "content": [item]})
                    }
                    kind => json!({"type": kind, "content": [{"type": "list_item", "content": [paragraph]}]}),
                };
            }
            Self::Unwrap => {
                let mut inner = Vec::new();
                unwrap(blocks[index].clone(), &mut inner);
                if !inner.is_empty() {
                    blocks.splice(index..=index, inner);
                }
            }
            Self::Align(align) => {
                if matches!(blocks[index]["type"].as_str(), Some("paragraph" | "heading")) {
                    blocks[index]["attrs"]["align"] = json!(align);
                }
            }
            Self::DeleteText => {
                if let Some(inlines) = first_paragraph(&mut blocks[index]) {
                    inlines.truncate(inlines.len() / 2);
                }
            }
        }
    }
}

fn unwrap(block: Value, inner: &mut Vec<Value>) {
    let kind = block["type"].as_str().unwrap_or_default();
    let is_wrapper = matches!(
        kind,
        "blockquote"
            | "bullet_list"
            | "ordered_list"
            | "check_list"
            | "list_item"
            | "check_item"
            | "table"
            | "table_row"
            | "table_cell"
            | "table_header"
    );
    if !is_wrapper {
        inner.push(block);
        return;
    }
    for child in block["content"].as_array().into_iter().flatten() {
        unwrap(child.clone(), inner);
    }
}

/// The content of the first paragraph or heading of a block.
fn first_paragraph(node: &mut Value) -> Option<&mut Vec<Value>> {
    if matches!(node["type"].as_str(), Some("paragraph" | "heading")) {
        if node.get("content").is_none() {
            node["content"] = json!([]);
        }
        return node["content"].as_array_mut();
    }
    node.get_mut("content")?
        .as_array_mut()?
        .iter_mut()
        .find_map(first_paragraph)
}

/// A document without what an edit elsewhere may change: numbers of islands and of continued lists, and how adjacent
/// lists and indented paragraphs belong together.
fn comparable(document: Value) -> Value {
    let mut document = without_sources(document);
    crate::support::visit(&mut document, &mut |node| {
        if let Some(attrs) = node.get_mut("attrs").and_then(Value::as_object_mut) {
            attrs.shift_remove("start");
            attrs.shift_remove("id");
            // A style that does not fit the new kind of a paragraph is replaced.
            attrs.shift_remove("style");
            if attrs.is_empty() {
                node.as_object_mut().unwrap().shift_remove("attrs");
            }
        }
    });
    flatten_lists(&mut document);
    document
}

/// Replaces lists by their paragraphs.
fn flatten_lists(node: &mut Value) {
    let Some(children) = node.get_mut("content").and_then(Value::as_array_mut) else {
        return;
    };
    let mut flat = Vec::new();
    for child in children.drain(..) {
        flatten_list(child, &mut flat);
    }
    *children = flat;
}

fn flatten_list(mut node: Value, flat: &mut Vec<Value>) {
    let kind = node["type"].as_str().unwrap_or_default().to_owned();
    if !kind.ends_with("_list") {
        flatten_lists(&mut node);
        flat.push(node);
        return;
    }
    let place = format!("{kind} {}", node.get("attrs").unwrap_or(&Value::Null));
    for item in node["content"].as_array().into_iter().flatten() {
        let checked = &item["attrs"]["checked"];
        for (index, mut block) in item["content"].as_array().cloned().into_iter().flatten().enumerate() {
            if index == 0 {
                block["place"] = json!(format!("{place} {checked}"));
            }
            flatten_list(block, flat);
        }
    }
}
