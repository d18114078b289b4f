//! The footnotes of a document as plain text, changed ones and new ones.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::xml::{ElementId, Namespace, Tree, push, push_escaped};

const TEXT_MAX: usize = 5000;

#[derive(Debug)]
struct Footnote {
    text: String,
    span: Range<usize>,
}

#[derive(Debug, Default)]
pub struct Footnotes {
    tree: Option<Tree>,
    /// Footnotes that consist of text only.
    plain: BTreeMap<i64, Footnote>,
    last: i64,
    changed: BTreeMap<i64, String>,
    added: BTreeMap<i64, String>,
}

impl Footnotes {
    pub fn read(tree: Option<Tree>) -> Self {
        let mut found = Self {
            last: 0,
            ..Self::default()
        };
        if let Some(tree) = &tree {
            for element in tree
                .children(tree.root())
                .filter(|child| tree.word(*child) == "footnote")
            {
                let Some(id) = tree
                    .attribute(element, "id")
                    .and_then(|id| id.trim().parse::<i64>().ok())
                else {
                    continue;
                };
                found.last = found.last.max(id);
                let is_separator = tree.attribute(element, "type").is_some_and(|kind| kind != "normal");
                if let Some(text) = plain_text(tree, element)
                    && !is_separator
                {
                    found.plain.insert(
                        id,
                        Footnote {
                            text,
                            span: tree.get(element).span.clone(),
                        },
                    );
                }
            }
        }
        found.tree = tree;
        found
    }

    /// The text of a footnote; nothing if it contains more than text.
    pub fn text(&self, id: i64) -> Option<String> {
        self.plain.get(&id).map(|footnote| footnote.text.clone())
    }

    pub fn is_changed(&self) -> bool {
        !self.changed.is_empty() || !self.added.is_empty()
    }

    pub fn change(&mut self, id: i64, text: &str) {
        if self.text(id).as_deref() != Some(text) {
            self.changed.insert(id, text.to_owned());
        }
    }

    pub fn add(&mut self, text: &str) -> i64 {
        self.last = self.last.saturating_add(1);
        self.added.insert(self.last, text.to_owned());
        self.last
    }

    pub fn has_word_prefix(&self) -> bool {
        self.tree
            .as_ref()
            .is_none_or(|tree| tree.root_namespace("w") == Some(Namespace::Word))
    }

    /// The text of the part with changes; nothing if there are none.
    pub fn changed_part(&self, reference_style: &str) -> Option<String> {
        if self.changed.is_empty() && self.added.is_empty() {
            return None;
        }
        let added: String = self
            .added
            .iter()
            .map(|(id, text)| footnote_xml(*id, text, reference_style))
            .collect();
        let Some(tree) = &self.tree else {
            let separator = |id: i64, kind: &str, element: &str| {
                format!(
                    "<w:footnote w:type=\"{kind}\" w:id=\"{id}\"><w:p><w:pPr><w:spacing w:after=\"0\" w:line=\"240\" \
                     w:lineRule=\"auto\"/></w:pPr><w:r><w:{element}/></w:r></w:p></w:footnote>"
                )
            };
            return Some(format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<w:footnotes \
                 xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\">{}{}{added}</w:footnotes>",
                separator(-1, "separator", "separator"),
                separator(0, "continuationSeparator", "continuationSeparator"),
            ));
        };
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        for (id, text) in &self.changed {
            if let Some(footnote) = self.plain.get(id) {
                edits.push((footnote.span.clone(), footnote_xml(*id, text, reference_style)));
            }
        }
        edits.sort_by_key(|(span, _)| span.start);
        let root = tree.get(tree.root());
        if root.span == root.tag {
            return Some(crate::package::appended(tree, &added));
        }
        let mut xml = String::from(if tree.has_byte_order_mark { "\u{feff}" } else { "" });
        let mut position = 0;
        edits.push((root.inner.end..root.inner.end, added));
        for (span, text) in edits {
            xml.push_str(&tree.source[position..span.start]);
            xml.push_str(&text);
            position = span.end;
        }
        xml.push_str(&tree.source[position..]);
        Some(xml)
    }
}

fn footnote_xml(id: i64, text: &str, reference_style: &str) -> String {
    let mut xml = format!("<w:footnote w:id=\"{id}\">");
    for (index, line) in text.split('\n').enumerate() {
        xml.push_str("<w:p>");
        if index == 0 {
            push!(
                xml,
                "<w:r><w:rPr><w:rStyle w:val=\"{reference_style}\"/></w:rPr><w:footnoteRef/></w:r><w:r><w:t \
                 xml:space=\"preserve\"> </w:t></w:r>"
            );
        }
        if !line.is_empty() {
            xml.push_str("<w:r><w:t xml:space=\"preserve\">");
            push_escaped(&mut xml, line);
            xml.push_str("</w:t></w:r>");
        }
        xml.push_str("</w:p>");
    }
    xml.push_str("</w:footnote>");
    xml
}

/// The text of a footnote with one line per paragraph; nothing if it contains anything else.
fn plain_text(tree: &Tree, footnote: ElementId) -> Option<String> {
    let mut lines = Vec::new();
    for paragraph in tree.children(footnote) {
        if tree.word(paragraph) != "p" {
            return None;
        }
        let mut line = String::new();
        for child in tree.children(paragraph) {
            match tree.word(child) {
                "pPr" | "bookmarkStart" | "bookmarkEnd" | "proofErr" => {}
                "r" => read_run(tree, child, &mut line)?,
                _ => return None,
            }
        }
        lines.push(line);
    }
    if let Some(first) = lines.first_mut() {
        // The space after the number of the footnote.
        let rest = first.strip_prefix(' ').unwrap_or(first).to_owned();
        *first = rest;
    }
    let text = lines.join("\n");
    (text.encode_utf16().count() <= TEXT_MAX).then_some(text)
}

fn read_run(tree: &Tree, run: ElementId, line: &mut String) -> Option<()> {
    for item in tree.children(run) {
        match tree.word(item) {
            "rPr" | "footnoteRef" | "lastRenderedPageBreak" => {}
            "t" => line.extend(
                tree.text(item)
                    .chars()
                    .map(|character| if character == '\n' { ' ' } else { character }),
            ),
            "tab" => line.push('\t'),
            _ => return None,
        }
    }
    Some(())
}
