//! Brings a document into the form in which it is read back from a file.

use std::collections::HashMap;

use crate::content::{
    DocxBlock, ListKind, Paragraph, ParagraphKind, TextCell, TextDocument, TextList, TextRow, TextTable,
};
use crate::flat::{ListNumbers, flatten, inner_level, nest};
use crate::grid::{Grid, SlotContent};
use crate::read::empty_paragraph;
use crate::units::{from_inlines, to_inlines};
use crate::write::is_header;

/// Numbers as the writer assigns them to new lists.
#[derive(Default)]
struct NewNumbers {
    lists: u32,
    numbers: HashMap<(u32, u8), u32>,
    starts: HashMap<u32, u32>,
}

impl ListNumbers for NewNumbers {
    fn place(&mut self, list: &TextList, parent: Option<(u32, u8)>) -> (u32, u8) {
        let number = match list.kind {
            ListKind::Bullet => 0,
            ListKind::Check => 1,
            ListKind::Ordered { start, .. } => {
                self.lists += 1;
                self.starts.insert(self.lists + 1, start);
                self.lists + 1
            }
        };
        (number, inner_level(parent))
    }

    fn next(&mut self, number: u32, level: u8) -> u32 {
        let start = self.starts.get(&number).copied().unwrap_or(1);
        let next = self
            .numbers
            .get(&(number, level))
            .map_or(start, |last| last.saturating_add(1));
        self.numbers.insert((number, level), next);
        next
    }
}

pub fn document(document: &TextDocument) -> TextDocument {
    let mut numbers = NewNumbers::default();
    let mut blocks = container(&document.blocks, false, &mut numbers);
    if blocks.is_empty() {
        blocks.push(DocxBlock::Paragraph(empty_paragraph()));
    }
    TextDocument {
        language: document.language.clone(),
        blocks,
    }
}

fn container(blocks: &[DocxBlock], is_cell: bool, numbers: &mut NewNumbers) -> Vec<DocxBlock> {
    let mut flats = flatten(blocks, numbers);
    let mut separated = Vec::with_capacity(flats.len());
    let is_table = |block: &DocxBlock| matches!(block, DocxBlock::Table(_));
    for mut flat in flats.drain(..) {
        let is_quote = flat.context.is_quote;
        let block = match flat.block.into_owned() {
            DocxBlock::Paragraph(paragraph) => DocxBlock::Paragraph(normal_paragraph(paragraph, is_quote)),
            DocxBlock::Table(table) => DocxBlock::Table(normal_table(&table, numbers)),
            block => block,
        };
        let previous: Option<&crate::flat::Flat<'_>> = separated.last();
        if is_table(&block) && previous.is_some_and(|previous| is_table(&previous.block)) {
            separated.push(plain(DocxBlock::Paragraph(empty_paragraph())));
        }
        flat.block = std::borrow::Cow::Owned(block);
        separated.push(flat);
    }
    if is_cell && separated.last().is_none_or(|last| is_table(&last.block)) {
        separated.push(plain(DocxBlock::Paragraph(empty_paragraph())));
    }
    nest(separated)
}

fn plain(block: DocxBlock) -> crate::flat::Flat<'static> {
    crate::flat::Flat {
        block: std::borrow::Cow::Owned(block),
        context: crate::flat::BlockContext::default(),
    }
}

fn normal_paragraph(mut paragraph: Paragraph, is_quote: bool) -> Paragraph {
    let is_code = paragraph.kind == ParagraphKind::Code;
    paragraph.content = to_inlines(&from_inlines(&paragraph.content, is_code), is_code);
    if is_quote {
        paragraph.style = None;
    }
    paragraph
}

/// A table whose rows have the same width, with known widths of columns.
fn normal_table(table: &TextTable, numbers: &mut NewNumbers) -> TextTable {
    let grid = Grid::of(table);
    let rows = table.rows.iter().zip(&grid.rows).map(|(row, slots)| {
        let is_header = is_header(row);
        let mut cells = Vec::new();
        for slot in slots {
            let widths = Some(grid.slot_widths(slot));
            let (source, rowspan, blocks) = match slot.content {
                SlotContent::Cell { cell, rowspan } => (cell.source, rowspan, container(&cell.blocks, true, numbers)),
                SlotContent::Missing => (None, 1, vec![DocxBlock::Paragraph(empty_paragraph())]),
                SlotContent::Continued => continue,
            };
            cells.push(TextCell {
                source,
                is_header,
                colspan: slot.colspan,
                rowspan,
                widths,
                blocks,
            });
        }
        TextRow {
            source: row.source,
            cells,
        }
    });
    TextTable {
        source: table.source,
        rows: rows.collect(),
    }
}
