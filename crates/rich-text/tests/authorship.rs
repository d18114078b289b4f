//! Authorship against a model with one author for each position, for random edits of several authors.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use proptest::prelude::*;
use rich_text::{AuthoredText, Authorship, MOVED_MIN, Node, Step};
use serde_json::{Value, json};

const AUTHORS: [&str; 3] = ["ada", "ben", "cem"];

fn document(blocks: &[&str]) -> Node {
    let paragraph = |text: &&str| {
        if text.is_empty() {
            json!({"type": "paragraph"})
        } else {
            json!({"type": "paragraph", "content": [{"type": "text", "text": text}]})
        }
    };
    let content: Vec<Value> = blocks.iter().map(paragraph).collect();
    Node::document_from_json(&json!({"type": "doc", "content": content})).unwrap()
}

fn step(json: &Value) -> Step {
    Step::from_json(json).unwrap()
}

fn insert(at: usize, text: &str) -> Step {
    step(&json!({"stepType": "replace", "from": at, "to": at, "slice": {"content": [{"type": "text", "text": text}]}}))
}

fn replace(from: usize, to: usize, text: &str) -> Step {
    step(
        &json!({"stepType": "replace", "from": from, "to": to, "slice": {"content": [{"type": "text", "text": text}]}}),
    )
}

fn delete(from: usize, to: usize) -> Step {
    step(&json!({"stepType": "replace", "from": from, "to": to}))
}

/// The text with the author of each part, as `ben:text|?:text`.
fn shown(authorship: &Authorship, document: &Node) -> String {
    let text = authorship.text_of(document);
    let name = |author: Option<usize>| author.map_or("?", |author| text.authors[author].as_str()).to_owned();
    let blocks = text.blocks.iter().map(|block| {
        let passages = block.iter().map(|one| format!("{}:{}", name(one.author), one.text));
        passages.collect::<Vec<_>>().join("|")
    });
    blocks.collect::<Vec<_>>().join(" / ")
}

struct Pad {
    document: Node,
    authorship: Authorship,
}

impl Pad {
    fn new(blocks: &[&str]) -> Self {
        let document = document(blocks);
        Self {
            authorship: Authorship::unknown(&document),
            document,
        }
    }

    fn apply(&mut self, author: &str, step: &Step) -> &mut Self {
        self.authorship.apply(step, &self.document, author).unwrap();
        self.document = step.apply(&self.document).unwrap();
        self
    }

    fn shown(&self) -> String {
        shown(&self.authorship, &self.document)
    }
}

#[test]
fn inserted_text_belongs_to_its_author_and_deleted_text_is_forgotten() {
    let mut pad = Pad::new(&["The end"]);
    pad.apply("ben", &insert(5, "very ")).apply("ada", &insert(7, "--"));
    assert_eq!(pad.shown(), "?:The |ben:ve|ada:--|ben:ry |?:end");
    pad.apply("cem", &delete(3, 8));
    assert_eq!(pad.shown(), "?:Th|ada:-|ben:ry |?:end");
}

#[test]
fn marks_blocks_and_attributes_change_no_author() {
    let mut pad = Pad::new(&["one two"]);
    let split = json!({"content": [{"type": "paragraph"}, {"type": "paragraph"}], "openStart": 1, "openEnd": 1});
    let quote = json!({"content": [{"type": "blockquote"}]});
    pad.apply("ben", &insert(1, "0 "))
        .apply("ada", &step(&json!({"stepType": "addMark", "mark": {"type": "strong"}, "from": 1, "to": 6})))
        .apply("ada", &step(&json!({"stepType": "replace", "from": 7, "to": 7, "slice": split, "structure": true})))
        .apply(
            "cem",
            &step(&json!({"stepType": "replaceAround", "from": 0, "to": 8, "gapFrom": 0, "gapTo": 8, "insert": 1, "slice": quote})),
        );
    assert_eq!(pad.shown(), "ben:0 |?:one  / ?:two");
}

#[test]
fn replaced_text_keeps_authors_where_it_is_equal() {
    let mut pad = Pad::new(&[""]);
    pad.apply("ben", &insert(1, "I wrote form text"))
        .apply("ada", &replace(9, 13, "from"));
    assert_eq!(pad.shown(), "ben:I wrote f|ada:ro|ben:m text");
}

#[test]
fn moved_passage_keeps_its_author_and_a_copy_does_not() {
    let mut pad = Pad::new(&["", "second"]);
    let passage = "written by Ben";
    let length = passage.encode_utf16().count();
    pad.apply("ben", &insert(1, passage))
        .apply("ada", &delete(1, 1 + length))
        .apply("ada", &insert(3, passage))
        .apply("ada", &insert(3, passage));
    assert_eq!(pad.shown(), "ada:written by Ben|ben:written by Ben|?:second");
}

#[test]
fn undo_of_a_deletion_restores_the_author_after_storage() {
    let mut pad = Pad::new(&[""]);
    pad.apply("ben", &insert(1, "ten symbols 😀"))
        .apply("ada", &delete(1, 15));
    pad.authorship = Authorship::from_json(&pad.authorship.to_json()).unwrap();
    pad.apply("ada", &insert(1, "ten symbols 😀"));
    assert_eq!(pad.shown(), "ben:ten symbols 😀");
}

#[test]
fn short_passage_belongs_to_the_user_who_inserts_it() {
    let mut pad = Pad::new(&[""]);
    pad.apply("ben", &insert(1, "nine char"))
        .apply("ada", &delete(1, 10))
        .apply("ada", &insert(1, "nine char"));
    assert!("nine char".len() < MOVED_MIN);
    assert_eq!(pad.shown(), "ada:nine char");
}

#[test]
fn matched_document_keeps_authors_of_equal_paragraphs() {
    let mut pad = Pad::new(&["first", "second", "third"]);
    pad.apply("ben", &insert(1, "The ")).apply("ada", &insert(12, "The "));
    assert_eq!(pad.shown(), "ben:The |?:first / ada:The |?:second / ?:third");
    let uploaded = document(&["new", "The second", "The first", "The first", "thirds"]);
    let matched = Authorship::matched(&pad.authorship, &pad.document, &uploaded);
    assert_eq!(
        shown(&matched, &uploaded),
        "?:new / ada:The |?:second / ben:The |?:first / ?:The first / ?:thirds"
    );
}

#[test]
fn characters_are_counted_by_author() {
    let mut pad = Pad::new(&["ab"]);
    pad.apply("ben", &insert(1, "😀é")).apply("ada", &insert(1, "x"));
    let text = pad.authorship.text_of(&pad.document);
    let counts: Vec<_> = text.characters().into_iter().collect();
    assert_eq!(counts, [(None, 2), (Some("ada"), 1), (Some("ben"), 2)]);
}

#[test]
fn damaged_authorship_is_an_error() {
    for text in [
        "",
        "{}",
        r#"{"a":[],"r":[0,3]}"#,
        r#"{"a":["x"],"r":[0]}"#,
        r#"{"a":["x"],"r":[0,-1]}"#,
        r#"{"a":["x"],"r":[0,99999999999]}"#,
        r#"{"a":["x"],"r":[-2,1]}"#,
        r#"{"a":["x"],"r":[],"d":[["ab",[0,1]]]}"#,
    ] {
        assert!(Authorship::from_json(text).is_err(), "{text}");
    }
}

/// An edit of a random place, of which only those that apply are used.
#[derive(Clone, Debug)]
enum RandomEdit {
    Insert(usize, String),
    Delete(usize, usize),
    Split(usize),
    Mark(usize, usize),
    Wrap(usize),
    Replace(usize, usize, String),
}

fn edit() -> impl Strategy<Value = (usize, RandomEdit)> {
    let text = "[a-z😀ß ]{1,12}";
    let at = 0..60_usize;
    let edit = prop_oneof![
        (at.clone(), text).prop_map(|(at, text)| RandomEdit::Insert(at, text)),
        (at.clone(), 1..20_usize).prop_map(|(at, length)| RandomEdit::Delete(at, length)),
        at.clone().prop_map(RandomEdit::Split),
        (at.clone(), 1..20_usize).prop_map(|(at, length)| RandomEdit::Mark(at, length)),
        at.clone().prop_map(RandomEdit::Wrap),
        (at, 1..8_usize, text).prop_map(|(at, length, text)| RandomEdit::Replace(at, length, text)),
    ];
    (0..AUTHORS.len(), edit)
}

fn steps_of(edit: &RandomEdit, document: &Node) -> Step {
    let size = document.content_size();
    let clip = |at: usize| at.min(size);
    match edit {
        RandomEdit::Insert(at, text) => insert(clip(*at), text),
        RandomEdit::Delete(at, length) => delete(clip(*at), clip(at + length)),
        RandomEdit::Split(at) => step(
            &json!({"stepType": "replace", "from": clip(*at), "to": clip(*at), "slice":
            {"content": [{"type": "paragraph"}, {"type": "paragraph"}], "openStart": 1, "openEnd": 1}}),
        ),
        RandomEdit::Mark(at, length) => step(&json!({"stepType": "addMark", "mark": {"type": "em"},
            "from": clip(*at), "to": clip(at + length)})),
        RandomEdit::Wrap(index) => {
            let children = document.children();
            let index = index % children.len();
            let from: usize = children[..index].iter().map(Node::node_size).sum();
            let to = from + children[index].node_size();
            step(
                &json!({"stepType": "replaceAround", "from": from, "to": to, "gapFrom": from, "gapTo": to,
                "insert": 1, "slice": {"content": [{"type": "blockquote"}]}}),
            )
        }
        RandomEdit::Replace(at, length, text) => replace(clip(*at), clip(at + length), text),
    }
}

/// One entry for each position: the unit of text, if it is text, and the author.
type Model = Vec<(Option<u16>, Option<&'static str>)>;

fn model_of(node: &Node, model: &mut Model) {
    for child in node.children() {
        if child.node_type().is_text() {
            model.extend(child.text().encode_utf16().map(|unit| (Some(unit), None)));
        } else {
            model.push((None, None));
            if !child.node_type().is_leaf() {
                model_of(child, model);
                model.push((None, None));
            }
        }
    }
}

/// Finds the range that a step changed by comparing sizes and the maps of its positions, and gives what is new to the
/// author, except text that was replaced by equal text.
fn apply_to_model(model: &Model, step: &Step, after: &Node, author: &'static str) -> Model {
    let mut changed = Model::new();
    model_of(after, &mut changed);
    let ranges: Vec<(usize, usize, usize)> = match step {
        Step::Replace { from, to, slice, .. } => vec![(*from, *to, slice.size())],
        Step::ReplaceAround {
            from,
            to,
            gap_from,
            gap_to,
            slice,
            insert,
            ..
        } => {
            vec![(*from, *gap_from, *insert), (*gap_to, *to, slice.size() - insert)]
        }
        _ => Vec::new(),
    };
    let (mut old, mut new) = (0, 0);
    for (start, end, size) in ranges {
        while old < start {
            changed[new].1 = model[old].1;
            (old, new) = (old + 1, new + 1);
        }
        for position in &mut changed[new..new + size] {
            position.1 = Some(author);
        }
        let former: Vec<_> = model[start..end].iter().filter(|one| one.0.is_some()).collect();
        let text: Vec<usize> = (new..new + size).filter(|index| changed[*index].0.is_some()).collect();
        let mut first = 0;
        while first < former.len() && first < text.len() && former[first].0 == changed[text[first]].0 {
            changed[text[first]].1 = former[first].1;
            first += 1;
        }
        let mut last = 0;
        while first + last < former.len().min(text.len())
            && former[former.len() - 1 - last].0 == changed[text[text.len() - 1 - last]].0
        {
            changed[text[text.len() - 1 - last]].1 = former[former.len() - 1 - last].1;
            last += 1;
        }
        (old, new) = (end, new + size);
    }
    while old < model.len() {
        changed[new].1 = model[old].1;
        (old, new) = (old + 1, new + 1);
    }
    assert_eq!(new, changed.len());
    changed
}

/// The units of the text with their authors.
fn units(text: &AuthoredText) -> Vec<(u16, Option<&str>)> {
    let passages = text.blocks.iter().flatten();
    let units = passages.flat_map(|passage| {
        let author = passage.author.map(|author| text.authors[author].as_str());
        passage.text.encode_utf16().map(move |unit| (unit, author))
    });
    units.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn random_edits_have_the_authors_of_the_model(edits in prop::collection::vec(edit(), 1..60)) {
        let mut pad = Pad::new(&["The first paragraph", "", "a second one 😀"]);
        let mut model = Model::new();
        model_of(&pad.document, &mut model);
        for (author, edit) in edits {
            let step = steps_of(&edit, &pad.document);
            let Ok(after) = step.apply(&pad.document) else { continue };
            let author = AUTHORS[author];
            model = apply_to_model(&model, &step, &after, author);
            pad.authorship.apply(&step, &pad.document, author).unwrap();
            pad.document = after;
            prop_assert_eq!(pad.authorship.size(), pad.document.content_size());
            // A passage that was deleted and inserted again keeps its author, which the model does not know.
            let text = pad.authorship.text_of(&pad.document);
            let expected: Vec<_> = model.iter().filter_map(|(unit, author)| Some(((*unit)?, *author))).collect();
            prop_assert_eq!(units(&text), expected);
            let count: usize = text.characters().values().sum();
            prop_assert_eq!(count, String::from_utf16(&units(&text).iter().map(|one| one.0).collect::<Vec<_>>()).unwrap().chars().count());
            let stored = Authorship::from_json(&pad.authorship.to_json()).unwrap();
            prop_assert_eq!(stored.size(), pad.authorship.size());
            prop_assert_eq!(stored.text_of(&pad.document), text);
        }
    }

    #[test]
    fn a_written_and_read_document_keeps_its_authors(edits in prop::collection::vec(edit(), 1..40)) {
        let mut pad = Pad::new(&["one", "two"]);
        for (author, edit) in edits {
            let step = steps_of(&edit, &pad.document);
            let Ok(after) = step.apply(&pad.document) else { continue };
            pad.authorship.apply(&step, &pad.document, AUTHORS[author]).unwrap();
            pad.document = after;
        }
        let matched = Authorship::matched(&pad.authorship, &pad.document, &pad.document);
        // Equal paragraphs are matched in their order, so all authors are found again.
        prop_assert_eq!(matched.text_of(&pad.document), pad.authorship.text_of(&pad.document));
    }
}
