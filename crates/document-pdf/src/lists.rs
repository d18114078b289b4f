//! Lists, quotes: content with something on its left side.

use krilla::tagging::{ListNumbering, Tag};
use parley::Alignment;
use rich_text::{Node, NodeType};

use crate::PdfError;
use crate::blocks::{BODY, Layouter, TextColumn};
use crate::strip::{Color, ItemKind, Strip, StripItem, StripSink};
use crate::structure::GroupId;
use crate::text::TextBlock;

const INDENT: f32 = 20.0;
const QUOTE_INDENT: f32 = 14.0;
const QUOTE_BAR: Color = Color(170, 170, 170);

impl Layouter<'_> {
    pub(crate) fn list(
        &mut self,
        list: &Node,
        parent: GroupId,
        column: TextColumn,
        sink: &mut dyn StripSink,
    ) -> Result<(), PdfError> {
        let numbering = match (list.node_type(), list.attr("format").as_str()) {
            (NodeType::OrderedList, Some("lower_letter")) => ListNumbering::LowerAlpha,
            (NodeType::OrderedList, Some("upper_letter")) => ListNumbering::UpperAlpha,
            (NodeType::OrderedList, Some("lower_roman")) => ListNumbering::LowerRoman,
            (NodeType::OrderedList, Some("upper_roman")) => ListNumbering::UpperRoman,
            (NodeType::OrderedList, _) => ListNumbering::Decimal,
            (NodeType::CheckList, _) => ListNumbering::Square,
            _ => ListNumbering::Disc,
        };
        let group = self.structure.add_group(parent, Tag::L(numbering));
        let start = list.attr("start").as_u64().unwrap_or(1);
        for (number, item) in (start..).zip(list.children()) {
            let label = match item.attr("checked").as_bool() {
                Some(true) => "☑".to_owned(),
                Some(false) => "☐".to_owned(),
                None if list.node_type() == NodeType::OrderedList => format!("{}.", number_text(number, numbering)),
                None => "•".to_owned(),
            };
            let item_group = self.structure.add_group(group, Tag::LI);
            let label_group = self.structure.add_group(item_group, Tag::Lbl);
            let body_group = self.structure.add_group(item_group, Tag::LBody);
            let block = TextBlock {
                base: BODY,
                alignment: Alignment::Left,
                group: label_group,
            };
            let label_column = TextColumn {
                width: column.width.max(INDENT),
                ..column
            };
            let label = self.plain_text(&label, &block, label_column).into_iter().next();
            let mut labelled = Labelled {
                sink,
                label: label.map(|strip| strip.moved(0.0, 0.0)),
            };
            self.blocks(item.children(), body_group, column.indented(INDENT), &mut labelled)?;
        }
        Ok(())
    }

    pub(crate) fn quote(
        &mut self,
        quote: &Node,
        parent: GroupId,
        column: TextColumn,
        sink: &mut dyn StripSink,
    ) -> Result<(), PdfError> {
        let group = self.structure.add_group(parent, Tag::BlockQuote);
        let mut barred = Barred {
            sink,
            x: column.x + 2.0,
            is_first: true,
        };
        self.blocks(quote.children(), group, column.indented(QUOTE_INDENT), &mut barred)
    }
}

/// Adds the label of a list item to its first line.
struct Labelled<'a> {
    sink: &'a mut dyn StripSink,
    label: Option<Vec<StripItem>>,
}

impl StripSink for Labelled<'_> {
    fn push(&mut self, mut strip: Strip) -> Result<(), PdfError> {
        if let Some(label) = self.label.take() {
            strip.items.extend(label);
        }
        self.sink.push(strip)
    }

    fn break_page(&mut self) -> Result<(), PdfError> {
        self.sink.break_page()
    }
}

/// Draws a bar on the left of a quote.
struct Barred<'a> {
    sink: &'a mut dyn StripSink,
    x: f32,
    is_first: bool,
}

impl StripSink for Barred<'_> {
    fn push(&mut self, mut strip: Strip) -> Result<(), PdfError> {
        let above = if std::mem::take(&mut self.is_first) {
            0.0
        } else {
            strip.space_before
        };
        let kind = ItemKind::Rectangle {
            width: 2.0,
            height: strip.height + above,
            color: QUOTE_BAR,
        };
        strip.items.push(StripItem {
            x: self.x,
            y: -above,
            content: None,
            kind,
        });
        self.sink.push(strip)
    }

    fn break_page(&mut self) -> Result<(), PdfError> {
        self.sink.break_page()
    }
}

fn number_text(number: u64, numbering: ListNumbering) -> String {
    match numbering {
        ListNumbering::LowerAlpha => letters(number).to_lowercase(),
        ListNumbering::UpperAlpha => letters(number),
        ListNumbering::LowerRoman => roman(number).to_lowercase(),
        ListNumbering::UpperRoman => roman(number),
        _ => number.to_string(),
    }
}

/// A, B, … Z, AA, AB, …
fn letters(number: u64) -> String {
    let mut rest = number;
    let mut reversed = Vec::new();
    while rest > 0 {
        let digit = u8::try_from((rest - 1) % 26).unwrap_or(0);
        reversed.push(char::from(b'A' + digit));
        rest = (rest - 1) / 26;
    }
    if reversed.is_empty() {
        number.to_string()
    } else {
        reversed.into_iter().rev().collect()
    }
}

fn roman(number: u64) -> String {
    const DIGITS: [(u64, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    // Beyond it, the numerals only become longer.
    if number == 0 || number >= 4000 {
        return number.to_string();
    }
    let mut rest = number;
    let mut text = String::new();
    for (value, digit) in DIGITS {
        while rest >= value {
            text.push_str(digit);
            rest -= value;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_number_in_each_format_is_the_usual_one() {
        let texts = |numbering| [1, 4, 26, 27, 1994, 4000].map(|number| number_text(number, numbering));
        assert_eq!(texts(ListNumbering::UpperAlpha), ["A", "D", "Z", "AA", "BXR", "EWV"]);
        assert_eq!(
            texts(ListNumbering::LowerRoman),
            ["i", "iv", "xxvi", "xxvii", "mcmxciv", "4000"]
        );
        assert_eq!(number_text(0, ListNumbering::LowerAlpha), "0");
    }
}
