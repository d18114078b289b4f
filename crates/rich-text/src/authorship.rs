//! Authorship: who wrote which part of a document.
//!
//! [`Authorship`] assigns an author to every position of a document, as runs. A step is applied to it before it is
//! applied to the document: what it inserts belongs to its author, what it deletes is forgotten, marks and attributes
//! change nothing. Text that a step replaces by equal text keeps its author. So does a passage of at least
//! [`MOVED_MIN`] units that was deleted recently and is inserted again, by cut and paste or by an undo.

mod stored;
mod text;

use std::collections::{HashMap, VecDeque};

use crate::{Fragment, Node, RichTextError, Slice, Step};
pub use text::{AuthoredPassage, AuthoredText};

/// The minimum length of a passage that keeps its author when it is moved, in UTF-16 code units.
pub const MOVED_MIN: usize = 10;
/// The maximum number of deleted passages that are remembered, and of their UTF-16 code units together.
const REMOVED_MAX: (usize, usize) = (20, 20_000);

/// Who wrote which part of a document. Positions count as in [`Step`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Authorship {
    authors: Vec<String>,
    runs: Vec<AuthorRun>,
    removed: VecDeque<RemovedPassage>,
}

/// Adjacent positions with the same author.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AuthorRun {
    /// The index of the author; `None` for content of unknown origin.
    pub(crate) author: Option<usize>,
    pub(crate) length: usize,
}

/// A passage that was deleted, with the author of each unit.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RemovedPassage {
    text: Vec<u16>,
    authors: Vec<Option<usize>>,
}

impl Authorship {
    /// Content of unknown origin.
    pub fn unknown(document: &Node) -> Self {
        let mut authorship = Self::default();
        push(&mut authorship.runs, None, document.content_size());
        authorship
    }

    /// The authorship of a document whose text comes from another one, such as a file that was written and read again.
    /// Stretches of text between two boundaries of nodes keep their authors if the former document has an equal one;
    /// everything else has no known author.
    pub fn matched(former: &Self, former_document: &Node, document: &Node) -> Self {
        let former_tokens = tokens(former_document.content());
        let former_authors = expand(&former.runs);
        let new_tokens = tokens(document.content());
        let mut authors = vec![None; new_tokens.len()];
        let mut by_text: HashMap<&[Token], VecDeque<usize>> = HashMap::new();
        for (start, text) in stretches(&former_tokens) {
            by_text.entry(text).or_default().push_back(start);
        }
        for (start, text) in stretches(&new_tokens) {
            let found = by_text.get_mut(text).and_then(VecDeque::pop_front);
            if let Some(found) = found
                && let Some(known) = former_authors.get(found..found + text.len())
            {
                authors[start..start + text.len()].copy_from_slice(known);
            }
        }
        Self {
            authors: former.authors.clone(),
            runs: collapse(&authors),
            removed: VecDeque::new(),
        }
    }

    /// The number of positions, which is the size of the document's content.
    pub fn size(&self) -> usize {
        self.runs.iter().map(|run| run.length).sum()
    }

    /// Applies a step of an author. `document` is the document before the step.
    pub fn apply(&mut self, step: &Step, document: &Node, author: &str) -> Result<(), RichTextError> {
        match step {
            Step::Replace { from, to, slice, .. } => self.replace(document, *from, *to, slice, author),
            Step::ReplaceAround {
                from,
                to,
                gap_from,
                gap_to,
                slice,
                insert,
                ..
            } => {
                let own = Some(self.author(author));
                let rest = slice.size().checked_sub(*insert).ok_or(RichTextError::Gap)?;
                // From the end, so that the earlier positions stay valid.
                self.splice(*gap_to, *to, &vec![own; rest])?;
                self.splice(*from, *gap_from, &vec![own; *insert])
            }
            Step::Mark(_) | Step::MarkSet(_) | Step::NodeMark { .. } | Step::Attr { .. } | Step::DocAttr { .. } => {
                Ok(())
            }
        }
    }

    fn replace(
        &mut self,
        document: &Node,
        from: usize,
        to: usize,
        slice: &Slice,
        author: &str,
    ) -> Result<(), RichTextError> {
        let own = Some(self.author(author));
        let inserted = tokens_of_slice(slice);
        let mut authors = vec![own; inserted.len()];
        let written = text_positions(&inserted);
        if from == to {
            self.restore(&inserted, &written, &mut authors);
            return self.splice(from, to, &authors);
        }
        let deleted = tokens_of_slice(&document.slice(from, to)?);
        let former = self.between(from, to)?;
        let erased = text_positions(&deleted);
        let is_equal = |(old, new): &(&usize, &usize)| deleted[**old] == inserted[**new];
        let start = erased.iter().zip(&written).take_while(is_equal).count();
        let ends = erased[start..].iter().rev().zip(written[start..].iter().rev());
        let end = ends.take_while(is_equal).count();
        for (old, new) in erased.iter().zip(&written).take(start) {
            authors[*new] = former[*old];
        }
        for (old, new) in erased.iter().rev().zip(written.iter().rev()).take(end) {
            authors[*new] = former[*old];
        }
        self.restore(&inserted, &written[start..written.len() - end], &mut authors);
        let removed = &erased[start..erased.len() - end];
        self.remember(RemovedPassage {
            text: removed.iter().filter_map(|index| deleted[*index]).collect(),
            authors: removed.iter().map(|index| former[*index]).collect(),
        });
        self.splice(from, to, &authors)
    }

    /// Gives inserted text the authors of an equal passage that was deleted before. A second copy belongs to the user who
    /// inserts it.
    fn restore(&mut self, inserted: &[Token], written: &[usize], authors: &mut [Option<usize>]) {
        if written.len() < MOVED_MIN {
            return;
        }
        let is_it = |passage: &RemovedPassage| {
            passage.text.len() == written.len()
                && passage
                    .text
                    .iter()
                    .zip(written)
                    .all(|(unit, index)| inserted[*index] == Some(*unit))
        };
        let found = self.removed.iter().rposition(is_it);
        let Some(passage) = found.and_then(|index| self.removed.remove(index)) else {
            return;
        };
        for (author, index) in passage.authors.iter().zip(written) {
            authors[*index] = *author;
        }
    }

    fn remember(&mut self, passage: RemovedPassage) {
        let (count_max, units_max) = REMOVED_MAX;
        if passage.text.len() < MOVED_MIN || passage.text.len() > units_max {
            return;
        }
        self.removed.push_back(passage);
        let mut units: usize = self.removed.iter().map(|passage| passage.text.len()).sum();
        while self.removed.len() > count_max || units > units_max {
            units -= self.removed.pop_front().map_or(units, |passage| passage.text.len());
        }
    }

    fn author(&mut self, author: &str) -> usize {
        self.authors.iter().position(|one| one == author).unwrap_or_else(|| {
            self.authors.push(author.to_owned());
            self.authors.len() - 1
        })
    }

    /// The author of each position of a range.
    fn between(&self, from: usize, to: usize) -> Result<Vec<Option<usize>>, RichTextError> {
        if from > to || to > self.size() {
            return Err(RichTextError::Range);
        }
        Ok(expand(&cut(&self.runs, from, to)))
    }

    fn splice(&mut self, from: usize, to: usize, authors: &[Option<usize>]) -> Result<(), RichTextError> {
        let size = self.size();
        if from > to || to > size {
            return Err(RichTextError::Range);
        }
        let mut runs = cut(&self.runs, 0, from);
        let inserted = collapse(authors);
        for run in inserted.iter().chain(&cut(&self.runs, to, size)) {
            push(&mut runs, run.author, run.length);
        }
        self.runs = runs;
        Ok(())
    }
}

/// A position of a document: a UTF-16 code unit of text, or `None` for a boundary or a node without text.
type Token = Option<u16>;

fn tokens(content: &Fragment) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(content.size());
    add_tokens(content, &mut tokens);
    tokens
}

fn add_tokens(content: &Fragment, tokens: &mut Vec<Token>) {
    for node in content.nodes() {
        if node.node_type().is_text() {
            tokens.extend(node.text().encode_utf16().map(Some));
        } else if node.node_type().is_leaf() {
            tokens.push(None);
        } else {
            tokens.push(None);
            add_tokens(node.content(), tokens);
            tokens.push(None);
        }
    }
}

/// The tokens by which a document grows if the slice is inserted.
fn tokens_of_slice(slice: &Slice) -> Vec<Token> {
    let mut tokens = tokens(slice.content());
    tokens.truncate(tokens.len().saturating_sub(slice.open_end()));
    tokens.drain(..slice.open_start().min(tokens.len()));
    tokens
}

fn text_positions(tokens: &[Token]) -> Vec<usize> {
    let texts = tokens.iter().enumerate().filter(|(_, token)| token.is_some());
    texts.map(|(index, _)| index).collect()
}

/// The text between boundaries, with its first position.
fn stretches(tokens: &[Token]) -> impl Iterator<Item = (usize, &[Token])> {
    let mut start = 0;
    let chunks = tokens.chunk_by(|one, next| one.is_some() == next.is_some());
    let chunks = chunks.map(move |chunk| {
        start += chunk.len();
        (start - chunk.len(), chunk)
    });
    chunks.filter(|(_, chunk)| chunk.first().is_some_and(Option::is_some))
}

fn push(runs: &mut Vec<AuthorRun>, author: Option<usize>, length: usize) {
    match runs.last_mut() {
        _ if length == 0 => {}
        Some(last) if last.author == author => last.length += length,
        _ => runs.push(AuthorRun { author, length }),
    }
}

fn cut(runs: &[AuthorRun], from: usize, to: usize) -> Vec<AuthorRun> {
    let (mut found, mut start) = (Vec::new(), 0);
    for run in runs {
        let end = start + run.length;
        push(&mut found, run.author, end.min(to).saturating_sub(start.max(from)));
        start = end;
    }
    found
}

fn expand(runs: &[AuthorRun]) -> Vec<Option<usize>> {
    let authors = runs.iter().flat_map(|run| std::iter::repeat_n(run.author, run.length));
    authors.collect()
}

fn collapse(authors: &[Option<usize>]) -> Vec<AuthorRun> {
    let mut runs = Vec::new();
    for author in authors {
        push(&mut runs, *author, 1);
    }
    runs
}
