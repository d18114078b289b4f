//! Opens and saves every file of the corpus.

use crate::support::{corpus, first_text, no_images, parts, without_sources};
use docx::{Limits, normalize, open, save};
use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::Value;

#[test]
fn corpus_file_when_saved_without_edit_is_the_same_file() {
    let files = corpus();
    assert_eq!(files.len(), 262);
    for (name, bytes) in &files {
        let opened = open(bytes, &Limits::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(opened.read_only, None, "{name}");
        let saved = save(bytes, &opened.document, &no_images, &Limits::default()).unwrap();
        assert_eq!(saved.problems, [], "{name}");
        let (before, after) = (parts(bytes), parts(&saved.bytes));
        let main = "word/document.xml";
        if before[main] != after[main] {
            let (before, after) = (
                String::from_utf8_lossy(&before[main]),
                String::from_utf8_lossy(&after[main]),
            );
            let same = before
                .bytes()
                .zip(after.bytes())
                .take_while(|(one, other)| one == other)
                .count();
            let around = |text: &str| {
                let bytes = &text.as_bytes()[same.saturating_sub(200)..(same + 200).min(text.len())];
                String::from_utf8_lossy(bytes).into_owned()
            };
            panic!(
                "{name} differs at {same}:\n{}\n---\n{}",
                around(&before),
                around(&after)
            );
        }
        assert_eq!(before, after, "{name}");
        assert!(saved.bytes == *bytes, "{name} was written again");
    }
}

#[test]
fn corpus_file_when_opened_is_normalized() {
    for (name, bytes) in &corpus() {
        let opened = open(bytes, &Limits::default()).unwrap();
        let normal = normalize(&opened.document).unwrap();
        assert_eq!(without_starts(normal), without_starts(opened.document), "{name}");
    }
}

#[test]
fn corpus_file_when_opened_is_a_document_of_the_schema() {
    for (name, bytes) in &corpus() {
        let opened = open(bytes, &Limits::default()).unwrap();
        let node = rich_text::Node::document_from_json(&opened.document);
        let node = node.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(
            without_attributes(node.to_json()),
            without_attributes(opened.document),
            "{name}"
        );
    }
}

/// A document with text and marks only: attributes with their default are left out by one side and written by the other.
fn without_attributes(mut document: Value) -> Value {
    crate::support::visit(&mut document, &mut |node| {
        if let Some(node) = node.as_object_mut() {
            node.shift_remove("attrs");
        }
    });
    document
}

/// Numbers that continue from a list before are not known without the file.
fn without_starts(mut value: Value) -> Value {
    crate::support::visit(&mut value, &mut |node| {
        if node["type"] == "ordered_list" {
            node["attrs"]["start"] = Value::from(0);
        }
    });
    value
}

#[test]
fn corpus_file_when_one_paragraph_is_edited_changes_in_this_paragraph_only() {
    let mut edited = 0;
    for (name, bytes) in &corpus() {
        let opened = open(bytes, &Limits::default()).unwrap();
        let mut document = opened.document.clone();
        let Some(text) = first_text(&mut document) else {
            continue;
        };
        edited += 1;
        *text = Value::from(format!("Zugefügt & <neu> {}", text.as_str().unwrap()));
        let saved = save(bytes, &document, &no_images, &Limits::default()).unwrap();
        let (before, after) = (parts(bytes), parts(&saved.bytes));
        for (part, content) in &before {
            assert!(part == "word/document.xml" || after[part] == *content, "{name}: {part}");
        }
        assert_eq!(before.len(), after.len(), "{name}");
        let text = |parts: &crate::support::Parts| String::from_utf8(parts["word/document.xml"].clone()).unwrap();
        let (before, after) = (text(&before), text(&after));
        let (before, after) = (body_blocks(&before), body_blocks(&after));
        assert_eq!(before.len(), after.len(), "{name}");
        let changed = before
            .iter()
            .zip(&after)
            .filter(|(before, after)| before != after)
            .count();
        assert_eq!(changed, 1, "{name}");

        let again = open(&saved.bytes, &Limits::default()).unwrap();
        assert_eq!(without_ids(again.document), without_ids(document), "{name}");
    }
    assert!(edited > 200, "{edited} files were edited");
}

/// The XML of every block of the body, with the XML between them.
fn body_blocks(xml: &str) -> Vec<&str> {
    let mut reader = Reader::from_str(xml);
    let mut depth = 0;
    let mut blocks = Vec::new();
    let mut start = 0;
    loop {
        let event = reader.read_event().unwrap();
        let end = usize::try_from(reader.buffer_position()).unwrap();
        let is_block = match event {
            Event::Start(_) => {
                depth += 1;
                false
            }
            Event::Empty(_) => depth == 2,
            Event::End(_) => {
                depth -= 1;
                depth == 2
            }
            Event::Eof => break,
            _ => false,
        };
        if is_block {
            blocks.push(&xml[start..end]);
            start = end;
        }
    }
    blocks.push(&xml[start..]);
    blocks
}

/// Ids of islands are numbers in the order of the file.
fn without_ids(value: Value) -> Value {
    without_sources(value)
}
