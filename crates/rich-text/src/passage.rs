//! Passages: parts of a document that something outside of it refers to, such as comments.

use crate::{Bias, Node, NodeType, RichTextError, StepMap};

/// Represents content without text, such as a picture, in the text of a passage.
const OBJECT: char = '\u{fffc}';

/// The content between two positions; never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    pub from: usize,
    pub to: usize,
}

impl Passage {
    /// Moves the passage over changes of the document. What is inserted inside of the passage belongs to it, what is
    /// inserted at its edges does not. `None` once nothing of the passage is left.
    #[must_use]
    pub fn map_over<'a>(self, maps: impl IntoIterator<Item = &'a StepMap>) -> Option<Self> {
        let mut passage = self;
        for map in maps {
            passage.from = map.map(passage.from, Bias::After);
            passage.to = map.map(passage.to, Bias::Before);
            if passage.from >= passage.to {
                return None;
            }
        }
        Some(passage)
    }

    /// Returns the text of the passage, with a line break between blocks. Fails if it is no range of the document.
    pub fn text_in(self, document: &Node) -> Result<String, RichTextError> {
        if self.from >= self.to {
            return Err(RichTextError::Range);
        }
        document.resolve(self.from)?;
        document.resolve(self.to)?;
        let text = PlainText::of(document);
        let (from, to) = (text.offset(self.from), text.offset(self.to));
        Ok(text.text[from.min(to)..to].trim_matches('\n').to_owned())
    }

    /// Finds a text in a document; if it occurs several times, the occurrence that starts closest to a position.
    pub fn find(wanted: &str, near: usize, document: &Node) -> Option<Self> {
        if wanted.is_empty() {
            return None;
        }
        let text = PlainText::of(document);
        let near = text.offset(near);
        let found = text.text.match_indices(wanted);
        let (start, _) = found.min_by_key(|(start, _)| start.abs_diff(near))?;
        let last = wanted.chars().next_back()?;
        let end = text.position(start + wanted.len() - last.len_utf8())? + last.len_utf16();
        Some(Self {
            from: text.position(start)?,
            to: end,
        })
    }
}

/// The text of a document, and where its parts are.
#[derive(Default)]
struct PlainText {
    text: String,
    runs: Vec<TextRun>,
}

/// A text or an object of a document.
struct TextRun {
    /// The first byte in the text.
    offset: usize,
    /// The position in the document.
    position: usize,
    /// The length in bytes.
    length: usize,
}

impl PlainText {
    fn of(document: &Node) -> Self {
        let mut text = Self::default();
        text.add(document, 0);
        text
    }

    /// Adds the content of a node, which starts at a position.
    fn add(&mut self, node: &Node, start: usize) {
        let mut position = start;
        for child in node.children() {
            let node_type = child.node_type();
            if node_type.is_text() {
                self.push(child.text(), position);
            } else if node_type == NodeType::HardBreak {
                self.push("\n", position);
            } else if node_type.is_leaf() {
                self.push(OBJECT.encode_utf8(&mut [0; 4]), position);
            } else {
                if !self.text.is_empty() && !self.text.ends_with('\n') {
                    self.text.push('\n');
                }
                self.add(child, position + 1);
            }
            position += child.node_size();
        }
    }

    fn push(&mut self, text: &str, position: usize) {
        self.runs.push(TextRun {
            offset: self.text.len(),
            position,
            length: text.len(),
        });
        self.text.push_str(text);
    }

    /// Returns the byte at which the text behind a position starts.
    fn offset(&self, position: usize) -> usize {
        let after = self.runs.partition_point(|run| run.position <= position);
        let Some(run) = after.checked_sub(1).and_then(|index| self.runs.get(index)) else {
            return 0;
        };
        let mut units = position - run.position;
        let text = &self.text[run.offset..run.offset + run.length];
        let within = text.char_indices().find(|(_, character)| {
            let is_reached = units == 0;
            units = units.saturating_sub(character.len_utf16());
            is_reached
        });
        run.offset + within.map_or(run.length, |(offset, _)| offset)
    }

    /// Returns the position of a byte of the text; `None` for a line break between blocks.
    fn position(&self, offset: usize) -> Option<usize> {
        let after = self.runs.partition_point(|run| run.offset <= offset);
        let run = self.runs.get(after.checked_sub(1)?)?;
        if offset >= run.offset + run.length {
            return None;
        }
        let before = &self.text[run.offset..offset];
        Some(run.position + before.encode_utf16().count())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use serde_json::{Value, json};

    use super::*;
    use crate::{Step, rebase};

    fn document(paragraphs: &[&str]) -> Node {
        let paragraph = |text: &&str| json!({"type": "paragraph", "content": [{"type": "text", "text": text}]});
        let content: Vec<Value> = paragraphs.iter().map(paragraph).collect();
        Node::document_from_json(&json!({"type": "doc", "content": content})).unwrap()
    }

    fn replace(from: usize, to: usize, text: &str) -> Step {
        let mut step = json!({"stepType": "replace", "from": from, "to": to});
        if !text.is_empty() {
            step["slice"] = json!({"content": [{"type": "text", "text": text}]});
        }
        Step::from_json(&step).unwrap()
    }

    fn passage(from: usize, to: usize) -> Passage {
        Passage { from, to }
    }

    #[test]
    fn text_of_a_passage_has_line_breaks_between_blocks() {
        let document = document(&["The 🌊 river", "flows"]);
        assert_eq!(passage(5, 7).text_in(&document).unwrap(), "🌊");
        assert_eq!(passage(8, 17).text_in(&document).unwrap(), "river\nfl");
        assert_eq!(passage(0, 15).text_in(&document).unwrap(), "The 🌊 river");
        assert!(passage(6, 8).text_in(&document).is_err(), "inside of a surrogate pair");
        assert!(passage(5, 5).text_in(&document).is_err());
        assert!(passage(5, 99).text_in(&document).is_err());
    }

    #[test]
    fn passage_follows_changes_around_and_inside_of_it() {
        let start = document(&["The river flows"]);
        let steps = [
            replace(1, 1, ">> "),
            // Inside, and at both edges.
            replace(9, 9, "xx"),
            replace(8, 8, "A"),
            replace(16, 16, "B"),
        ];
        let mut changed = start.clone();
        for step in &steps {
            changed = step.apply(&changed).unwrap();
        }
        let maps: Vec<StepMap> = steps.iter().map(Step::step_map).collect();
        let moved = passage(5, 10).map_over(&maps).unwrap();
        assert_eq!(moved.text_in(&changed).unwrap(), "rxxiver");
    }

    #[test]
    fn passage_is_gone_once_its_text_was_deleted() {
        let maps = |steps: &[Step]| steps.iter().map(Step::step_map).collect::<Vec<_>>();
        assert_eq!(passage(5, 10).map_over(&maps(&[replace(4, 11, "")])), None);
        assert_eq!(passage(5, 10).map_over(&maps(&[replace(5, 10, "")])), None);
        let replaced = passage(5, 10).map_over(&maps(&[replace(5, 10, "lake")]));
        assert_eq!(replaced, Some(passage(5, 9)));
        let rest = passage(5, 10).map_over(&maps(&[replace(3, 8, "")]));
        assert_eq!(rest, Some(passage(3, 5)));
    }

    #[test]
    fn passage_maps_like_the_steps_of_its_author() {
        let start = document(&["one two three"]);
        let over = [replace(1, 5, ""), replace(1, 1, "nothing ")];
        let maps: Vec<StepMap> = over.iter().map(Step::step_map).collect();
        let mut after = start;
        for step in &over {
            after = step.apply(&after).unwrap();
        }
        let moved = passage(5, 8).map_over(&maps).unwrap();
        assert_eq!(moved.text_in(&after).unwrap(), "two");
        let rebased = rebase(&[replace(5, 8, "2")], &over, &after);
        assert_eq!(rebased.document.text_content(), "nothing 2 three");
    }

    #[test]
    fn text_is_found_near_its_former_position() {
        let document = document(&["🌊 river", "a river and", "river"]);
        assert_eq!(Passage::find("river", 0, &document), Some(passage(4, 9)));
        assert_eq!(Passage::find("river", 14, &document), Some(passage(13, 18)));
        assert_eq!(Passage::find("river", 99, &document), Some(passage(24, 29)));
        assert_eq!(Passage::find("river\na", 0, &document), Some(passage(4, 12)));
        assert_eq!(Passage::find("lake", 0, &document), None);
        assert_eq!(Passage::find("", 0, &document), None);
    }
}
