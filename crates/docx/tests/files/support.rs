//! Shared by the tests of this crate.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::path::Path;

use docx::NewImage;
use serde_json::Value;

/// The decompressed parts of a file.
pub type Parts = BTreeMap<String, Vec<u8>>;

pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Names and bytes of the files of the corpus.
pub fn corpus() -> Vec<(String, Vec<u8>)> {
    let folder = root().join("tests/corpus/docx");
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            (
                path.file_name().unwrap().to_str().unwrap().to_owned(),
                std::fs::read(&path).unwrap(),
            )
        })
        .collect();
    files.sort();
    files
}

pub fn parts(bytes: &[u8]) -> Parts {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    (0..archive.len())
        .map(|index| {
            let mut entry = archive.by_index(index).unwrap();
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            (entry.name().unwrap().into_owned(), content)
        })
        .collect()
}

pub fn no_images(_: &str) -> Option<NewImage> {
    None
}

pub fn visit(node: &mut Value, see: &mut dyn FnMut(&mut Value)) {
    see(node);
    if let Some(children) = node.get_mut("content").and_then(Value::as_array_mut) {
        for child in children {
            visit(child, see);
        }
    }
}

/// A document without the attributes that refer to the file that it was read from.
pub fn without_sources(mut document: Value) -> Value {
    visit(&mut document, &mut |node| {
        if let Some(attrs) = node.get_mut("attrs").and_then(Value::as_object_mut) {
            attrs.shift_remove("source");
        }
        if node
            .get("attrs")
            .and_then(Value::as_object)
            .is_some_and(serde_json::Map::is_empty)
        {
            node.as_object_mut().unwrap().shift_remove("attrs");
        }
        if node.get("content").and_then(Value::as_array).is_some_and(Vec::is_empty) {
            node.as_object_mut().unwrap().shift_remove("content");
        }
    });
    document
}

/// The first text of a document.
pub fn first_text(node: &mut Value) -> Option<&mut Value> {
    if node["type"] == "text" {
        return Some(&mut node["text"]);
    }
    node.get_mut("content")?.as_array_mut()?.iter_mut().find_map(first_text)
}
