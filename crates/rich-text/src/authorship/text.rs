//! The text of a document with its authors, for readers and for submissions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Authorship, expand};
use crate::{Node, NodeType};

/// The text of a document in blocks, such as paragraphs and cells, each with its passages by author.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthoredText {
    /// The ids of the authors.
    pub authors: Vec<String>,
    pub blocks: Vec<Vec<AuthoredPassage>>,
}

/// Text of one author.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthoredPassage {
    /// The index of the author; `None` if it is unknown.
    pub author: Option<usize>,
    pub text: String,
}

impl Authorship {
    /// Returns the text of the document with its authors. Authors of whom no text is left are not listed.
    pub fn text_of(&self, document: &Node) -> AuthoredText {
        let authors = expand(&self.runs);
        let mut text = AuthoredText {
            authors: self.authors.clone(),
            blocks: Vec::new(),
        };
        add_blocks(&mut text.blocks, document, 0, &authors);
        text.blocks.retain(|block| !block.is_empty());
        text.without_unused_authors()
    }
}

fn add_blocks(blocks: &mut Vec<Vec<AuthoredPassage>>, node: &Node, start: usize, authors: &[Option<usize>]) {
    let mut position = start;
    for child in node.children() {
        let node_type = child.node_type();
        if node_type.is_text() {
            let mut at = position;
            for character in child.text().chars() {
                push(blocks, authors.get(at).copied().flatten(), character);
                at += character.len_utf16();
            }
        } else if node_type == NodeType::HardBreak {
            push(blocks, authors.get(position).copied().flatten(), '\n');
        } else if !node_type.is_leaf() {
            if !node_type.is_inline() {
                blocks.push(Vec::new());
            }
            add_blocks(blocks, child, position + 1, authors);
        }
        position += child.node_size();
    }
}

fn push(blocks: &mut Vec<Vec<AuthoredPassage>>, author: Option<usize>, character: char) {
    if blocks.is_empty() {
        blocks.push(Vec::new());
    }
    let Some(block) = blocks.last_mut() else { return };
    match block.last_mut() {
        Some(last) if last.author == author => last.text.push(character),
        _ => block.push(AuthoredPassage {
            author,
            text: character.to_string(),
        }),
    }
}

impl AuthoredText {
    /// The number of characters by author; `None` is the key of text by unknown authors. Line breaks do not count.
    pub fn characters(&self) -> BTreeMap<Option<&str>, usize> {
        let mut counts = BTreeMap::new();
        for passage in self.blocks.iter().flatten() {
            let author = passage.author.and_then(|index| self.authors.get(index));
            let count = passage.text.chars().filter(|one| *one != '\n').count();
            *counts.entry(author.map(String::as_str)).or_insert(0) += count;
        }
        counts.retain(|_, count| *count > 0);
        counts
    }

    fn without_unused_authors(mut self) -> Self {
        let mut used: Vec<usize> = Vec::new();
        for passage in self.blocks.iter_mut().flatten() {
            if let Some(author) = &mut passage.author {
                let index = used.iter().position(|one| one == author).unwrap_or_else(|| {
                    used.push(*author);
                    used.len() - 1
                });
                *author = index;
            }
        }
        let authors = used.iter().filter_map(|index| self.authors.get(*index).cloned());
        self.authors = authors.collect();
        self
    }
}
