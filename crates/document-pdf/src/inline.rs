//! Inline content as one string with spans of the same style.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use rich_text::{Mark, MarkType, Node, NodeType};

use crate::strip::Color;

/// How a text block is printed; marks change it.
#[derive(Clone, Copy)]
pub(crate) struct BaseStyle {
    pub(crate) size: f32,
    pub(crate) is_bold: bool,
    pub(crate) is_code: bool,
}

#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "marks are independent of each other")]
pub(crate) struct SpanStyle {
    pub(crate) is_bold: bool,
    pub(crate) is_italic: bool,
    pub(crate) is_underlined: bool,
    pub(crate) is_struck: bool,
    pub(crate) is_code: bool,
    pub(crate) script: SpanScript,
    pub(crate) color: Color,
    pub(crate) highlight: Option<Color>,
    pub(crate) link: Option<Arc<str>>,
    pub(crate) role: SpanRole,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpanScript {
    Normal,
    Super,
    Sub,
}

/// What a span is, apart from text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpanRole {
    Text,
    /// The number of a footnote.
    NoteReference,
    Island,
}

pub(crate) struct Span {
    pub(crate) range: Range<usize>,
    pub(crate) style: SpanStyle,
    /// The text before characters were replaced.
    pub(crate) original: Option<String>,
}

/// Something that is no text, at a byte offset.
pub(crate) struct Embedded<'a> {
    pub(crate) offset: usize,
    pub(crate) node: &'a Node,
}

#[derive(Default)]
pub(crate) struct InlineText<'a> {
    pub(crate) text: String,
    pub(crate) spans: Vec<Span>,
    pub(crate) images: Vec<Embedded<'a>>,
    /// Footnotes with the offset of their number.
    pub(crate) notes: Vec<Embedded<'a>>,
}

pub(crate) const BLACK: Color = Color(0, 0, 0);
const LINK: Color = Color(5, 80, 160);
const CHIP: Color = Color(232, 232, 232);

/// Printed for characters without glyph.
const MISSING: char = '□';

impl<'a> InlineText<'a> {
    /// `first_note` is the number of the first footnote; `missing` are characters without glyph.
    pub(crate) fn new(nodes: &'a [Node], base: BaseStyle, first_note: usize, missing: &HashSet<char>) -> Self {
        let mut inline = Self::default();
        for node in nodes {
            let style = span_style(node.marks(), base);
            match node.node_type() {
                NodeType::Text => inline.push(node.text(), style, missing),
                NodeType::HardBreak => inline.push("\n", style, missing),
                NodeType::Image => inline.images.push(Embedded {
                    offset: inline.text.len(),
                    node,
                }),
                NodeType::Footnote => {
                    let offset = inline.text.len();
                    let number = (first_note + inline.notes.len()).to_string();
                    let style = SpanStyle {
                        script: SpanScript::Super,
                        role: SpanRole::NoteReference,
                        ..style
                    };
                    inline.push(&number, style, missing);
                    inline.notes.push(Embedded { offset, node });
                }
                NodeType::IslandInline if is_invisible(node) => {}
                NodeType::IslandInline => {
                    let style = SpanStyle {
                        highlight: Some(CHIP),
                        role: SpanRole::Island,
                        ..style
                    };
                    let label = node.attr("label").as_str().unwrap_or_default();
                    let label = if label.trim().is_empty() {
                        self::label(node)
                    } else {
                        label.to_owned()
                    };
                    inline.push(&label, style, missing);
                }
                _ => {}
            }
        }
        inline
    }

    pub(crate) fn from_text(text: &str, base: BaseStyle, missing: &HashSet<char>) -> Self {
        let mut inline = Self::default();
        inline.push(text, span_style(&[], base), missing);
        inline
    }

    fn push(&mut self, text: &str, style: SpanStyle, missing: &HashSet<char>) {
        let start = self.text.len();
        let mut has_replaced = false;
        for c in text.chars() {
            match c {
                '\t' => self.text.push_str("    "),
                '\n' => self.text.push('\n'),
                // A PDF cannot contain them as text.
                c if c.is_control() || matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}' | '\u{2028}' | '\u{2029}') => {}
                c if missing.contains(&c) => {
                    has_replaced = true;
                    self.text.push(MISSING);
                }
                c => self.text.push(c),
            }
        }
        let range = start..self.text.len();
        if !range.is_empty() {
            let original = has_replaced.then(|| text.to_owned());
            self.spans.push(Span { range, style, original });
        }
    }
}

/// Breaks of sections and columns have nothing to print.
fn is_invisible(island: &Node) -> bool {
    matches!(
        island.attr("kind").as_str(),
        Some("section_break" | "page_break" | "column_break")
    )
}

/// The text of an island without picture.
pub(crate) fn label(node: &Node) -> String {
    let text = |name| node.attr(name).as_str().unwrap_or_default();
    let label = if text("label").trim().is_empty() {
        text("kind")
    } else {
        text("label")
    };
    format!("[{label}]")
}

fn span_style(marks: &[Mark], base: BaseStyle) -> SpanStyle {
    let mut style = SpanStyle {
        is_bold: base.is_bold,
        is_italic: false,
        is_underlined: false,
        is_struck: false,
        is_code: base.is_code,
        script: SpanScript::Normal,
        color: BLACK,
        highlight: None,
        link: None,
        role: SpanRole::Text,
    };
    for mark in marks {
        match mark.mark_type() {
            MarkType::Strong => style.is_bold = true,
            MarkType::Em => style.is_italic = true,
            MarkType::Underline => style.is_underlined = true,
            MarkType::Strike => style.is_struck = true,
            MarkType::Code => style.is_code = true,
            MarkType::Superscript => style.script = SpanScript::Super,
            MarkType::Subscript => style.script = SpanScript::Sub,
            MarkType::Highlight => style.highlight = mark.attr("color").as_str().and_then(highlight_color),
            MarkType::Color => style.color = mark.attr("color").as_str().map_or(BLACK, text_color),
            MarkType::Link => {
                style.link = mark.attr("href").as_str().map(Arc::from);
                style.is_underlined = true;
                style.color = LINK;
            }
        }
    }
    style
}

/// Dark enough to be read on white: a contrast of at least 4.5.
fn text_color(name: &str) -> Color {
    match name {
        "gray" => Color(95, 95, 95),
        "red" => Color(185, 28, 28),
        "orange" => Color(165, 75, 5),
        "green" => Color(21, 110, 50),
        "teal" => Color(15, 105, 105),
        "blue" => Color(29, 78, 200),
        "purple" => Color(110, 45, 190),
        _ => BLACK,
    }
}

/// Light enough for black text.
fn highlight_color(name: &str) -> Option<Color> {
    Some(match name {
        "yellow" => Color(255, 243, 140),
        "green" => Color(187, 240, 190),
        "blue" => Color(190, 220, 255),
        "pink" => Color(252, 205, 230),
        "red" => Color(255, 200, 200),
        "orange" => Color(255, 217, 170),
        "purple" => Color(226, 210, 255),
        "gray" => Color(225, 225, 225),
        _ => return None,
    })
}
