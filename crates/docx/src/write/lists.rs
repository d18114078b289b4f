//! Chooses the numbering of lists: lists of the original keep theirs, new lists get a new one.

use std::collections::{HashMap, HashSet};

use crate::content::{DocxBlock, ListKind, ParagraphKind, Source, TextList};
use crate::flat::{ListNumbers, inner_level};
use crate::numbering::Numbering;
use crate::read::{ReadDocument, SourceContent};

pub(super) struct Lists<'l> {
    pub numbering: &'l mut Numbering,
    pub reading: &'l ReadDocument,
    pub starts: &'l HashMap<usize, u32>,
}

/// The source of the first paragraph of an item.
fn item_source(blocks: &[DocxBlock]) -> Source {
    match blocks.first()? {
        DocxBlock::Paragraph(paragraph) if paragraph.kind == ParagraphKind::Body => paragraph.source,
        _ => None,
    }
}

impl ListNumbers for Lists<'_> {
    fn place(&mut self, list: &TextList, parent: Option<(u32, u8)>) -> (u32, u8) {
        let mut votes: Vec<((u32, u8), usize)> = Vec::new();
        for item in &list.items {
            let Some(source) = item_source(&item.blocks) else {
                continue;
            };
            let Some(SourceContent::Paragraph(paragraph)) =
                self.reading.sources.get(source).map(|block| &block.content)
            else {
                continue;
            };
            let Some(position) = paragraph.context.list.filter(|position| !position.continues) else {
                continue;
            };
            let is_same = match (position.kind, list.kind) {
                (ListKind::Ordered { format: one, .. }, ListKind::Ordered { format, start }) => {
                    one == format && self.starts.get(&source) == Some(&start)
                }
                (one, other) => one == other,
            };
            let is_inside = parent.is_none_or(|(_, level)| position.level > level);
            if !is_same || !is_inside {
                continue;
            }
            let place = (position.number, position.level);
            match votes.iter_mut().find(|(known, _)| *known == place) {
                Some((_, count)) => *count += 1,
                None => votes.push((place, 1)),
            }
        }
        // The first of those with the most votes.
        let most = votes.iter().map(|(_, count)| *count).max();
        if let Some((place, _)) = votes.iter().find(|(_, count)| Some(*count) == most) {
            return *place;
        }
        (self.numbering.add(list.kind), inner_level(parent))
    }

    fn next(&mut self, _number: u32, _level: u8) -> u32 {
        // The file does not contain numbers of items.
        0
    }
}

/// The starts of ordered lists by the sources of their items.
pub(super) fn list_starts(blocks: &[DocxBlock]) -> HashMap<usize, u32> {
    let mut starts = HashMap::new();
    visit(blocks, &mut |block| {
        if let DocxBlock::List(list) = block
            && let ListKind::Ordered { start, .. } = list.kind
        {
            starts.extend(
                list.items
                    .iter()
                    .filter_map(|item| Some((item_source(&item.blocks)?, start))),
            );
        }
    });
    starts
}

/// The sources of all blocks of a document.
pub(super) fn present_sources(blocks: &[DocxBlock]) -> HashSet<usize> {
    let mut present = HashSet::new();
    visit(blocks, &mut |block| {
        present.extend(match block {
            DocxBlock::Paragraph(paragraph) => paragraph.source,
            DocxBlock::Table(table) => table.source,
            DocxBlock::Rule(source) | DocxBlock::PageBreak(source) | DocxBlock::Island(_, source) => *source,
            DocxBlock::Quote(_) | DocxBlock::List(_) => None,
        });
    });
    present
}

fn visit(blocks: &[DocxBlock], see: &mut dyn FnMut(&DocxBlock)) {
    for block in blocks {
        see(block);
        match block {
            DocxBlock::Quote(blocks) => visit(blocks, see),
            DocxBlock::List(list) => list.items.iter().for_each(|item| visit(&item.blocks, see)),
            DocxBlock::Table(table) => {
                table
                    .rows
                    .iter()
                    .flat_map(|row| &row.cells)
                    .for_each(|cell| visit(&cell.blocks, see));
            }
            _ => {}
        }
    }
}
