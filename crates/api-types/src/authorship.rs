//! Who wrote which part of a document, for its teachers. See docs/built-in-editor.md#authorship.

use api_macros::view;
use std::collections::BTreeMap;

use domain::contribution::share;
use domain::id::{DocumentId, UserId};
use domain::user::Person;
use rich_text::AuthoredText;

/// The text of a document with its authors.
#[view]
pub struct DocumentAuthorshipView {
    document_id: DocumentId,
    /// Whether the authors are recorded. False for submissions of earlier releases and of other kinds of files.
    is_recorded: bool,
    /// Number of characters of the text, without line breaks.
    characters: i64,
    /// The authors, the one with the most characters first; text of unknown origin is the last one.
    authors: Vec<TextAuthorView>,
    /// The text in blocks, such as paragraphs and table cells.
    blocks: Vec<Vec<TextPassageView>>,
}

/// An author of a text.
#[view]
pub struct TextAuthorView {
    /// Null for text of unknown origin: it was in the file, or its author was erased.
    user_id: Option<UserId>,
    name: Option<String>,
    image: Option<String>,
    characters: i64,
    /// The characters in percent of the text, rounded.
    share: i64,
}

/// Adjacent text of one author.
#[view(PartialEq, Eq)]
pub struct TextPassageView {
    /// The index in `authors`.
    author: usize,
    text: String,
}

impl DocumentAuthorshipView {
    /// `people` are the authors that are still known; all others are unknown. `None` if no authors are recorded.
    pub fn new(document: DocumentId, text: Option<&AuthoredText>, people: Vec<Person>) -> Self {
        let Some(text) = text else {
            return Self {
                document_id: document,
                is_recorded: false,
                characters: 0,
                authors: Vec::new(),
                blocks: Vec::new(),
            };
        };
        let people: BTreeMap<String, Person> = people
            .into_iter()
            .map(|person| (person.id.as_str().to_owned(), person))
            .collect();
        let mut counts: BTreeMap<Option<&str>, i64> = BTreeMap::new();
        for (author, count) in text.characters() {
            let known = author.filter(|author| people.contains_key(*author));
            *counts.entry(known).or_default() += i64::try_from(count).unwrap_or(i64::MAX);
        }
        let total: i64 = counts.values().sum();
        let mut order: Vec<(Option<&str>, i64)> = counts.into_iter().collect();
        order.sort_by_key(|(author, count)| (author.is_none(), -count));
        // Passages of line breaks only have an author without characters.
        let index = |author: Option<&str>| order.iter().position(|(one, _)| *one == author);
        let mut blocks = Vec::with_capacity(text.blocks.len());
        for block in &text.blocks {
            let mut passages: Vec<TextPassageView> = Vec::new();
            for passage in block {
                let author = passage.author.and_then(|author| text.authors.get(author));
                let known = author.map(String::as_str).filter(|author| people.contains_key(*author));
                let last = passages.last().map(|last| last.author);
                let author = index(known).or(last).unwrap_or(0);
                match passages.last_mut() {
                    Some(last) if last.author == author => last.text.push_str(&passage.text),
                    _ => passages.push(TextPassageView {
                        author,
                        text: passage.text.clone(),
                    }),
                }
            }
            blocks.push(passages);
        }
        if order.is_empty() {
            blocks.clear();
        }
        let authors = order.iter().map(|(author, count)| {
            let person = author.and_then(|author| people.get(author));
            TextAuthorView {
                user_id: person.map(|person| person.id.clone()),
                name: person.map(|person| person.name.clone()),
                image: person.and_then(|person| person.image.clone()),
                characters: *count,
                share: share(*count, total).unwrap_or(0),
            }
        });
        Self {
            document_id: document,
            is_recorded: true,
            characters: total,
            authors: authors.collect(),
            blocks,
        }
    }
}
