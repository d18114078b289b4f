//! Edits every paragraph with text of the .docx files in a folder, for `scripts/check-docx-corpus`: each gets a mark at
//! its end.
//! Usage: `edit_files <folder> <target folder>`. The target contains the saved files, and in `unchanged/` those that were
//! saved without an edit.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program of the tests")]

use std::path::PathBuf;

use docx::{Limits, open, save};
use serde_json::{Value, json};

/// Text that no file contains.
const MARK: &str = "§¤§";

/// Appends the mark to every paragraph and heading with text, and returns how many there were.
fn edit(node: &mut Value) -> usize {
    if matches!(node["type"].as_str(), Some("paragraph" | "heading")) {
        let content = node.get_mut("content").and_then(Value::as_array_mut);
        let Some(content) = content.filter(|content| content.iter().any(|inline| inline["type"] == "text")) else {
            return 0;
        };
        content.push(json!({"type": "text", "text": MARK}));
        return 1;
    }
    let children = node.get_mut("content").and_then(Value::as_array_mut);
    children.into_iter().flatten().map(edit).sum()
}

fn main() {
    let folders: Vec<PathBuf> = std::env::args().skip(1).map(PathBuf::from).collect();
    let [from, to] = folders.as_slice() else {
        panic!("two folders are needed")
    };
    std::fs::create_dir_all(to.join("unchanged")).unwrap();
    let (mut files, mut paragraphs) = (0, 0);
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "docx") {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let opened = open(&bytes, &Limits::default()).unwrap();
        let unchanged = save(&bytes, &opened.document, &|_| None, &Limits::default()).unwrap();
        std::fs::write(to.join("unchanged").join(path.file_name().unwrap()), unchanged.bytes).unwrap();
        let mut document = opened.document;
        paragraphs += edit(&mut document);
        let saved = save(&bytes, &document, &|_| None, &Limits::default()).unwrap();
        assert!(saved.problems.is_empty(), "{}", path.display());
        std::fs::write(to.join(path.file_name().unwrap()), saved.bytes).unwrap();
        files += 1;
    }
    println!("{files} files saved, {paragraphs} paragraphs edited");
}
