//! A document as a sequence of blocks, as a file stores it: a list is not a node but a property of its paragraphs.

use crate::content::{DocxBlock, ListItem, ListKind, Paragraph, ParagraphKind, TextList};
use crate::numbering::LEVEL_MAX;

/// The list and the quote that a block is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BlockContext {
    pub is_quote: bool,
    pub list: Option<ListPosition>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListPosition {
    pub number: u32,
    pub level: u8,
    /// For an ordered list with the number of this item.
    pub kind: ListKind,
    pub checked: bool,
    /// A further paragraph of the item before.
    pub continues: bool,
}

impl ListPosition {
    /// Whether a block needs no other properties to stand at the other position: the number of an item follows from
    /// the items before.
    pub fn is_same_place(&self, other: &Self) -> bool {
        let is_check = |position: &Self| (position.kind == ListKind::Check).then_some(position.checked);
        self.number == other.number
            && self.level == other.level
            && self.continues == other.continues
            && is_check(self) == is_check(other)
    }
}

impl BlockContext {
    pub fn is_same_place(&self, other: &Self) -> bool {
        self.is_quote == other.is_quote
            && match (&self.list, &other.list) {
                (Some(one), Some(other)) => one.is_same_place(other),
                (None, None) => true,
                _ => false,
            }
    }
}

#[derive(Debug, Clone)]
pub struct Flat<'b> {
    pub block: std::borrow::Cow<'b, DocxBlock>,
    pub context: BlockContext,
}

/// Chooses the numbering of lists.
pub trait ListNumbers {
    /// The number and level of a list inside of another one.
    fn place(&mut self, list: &TextList, parent: Option<(u32, u8)>) -> (u32, u8);
    /// The number of the next item.
    fn next(&mut self, number: u32, level: u8) -> u32;
}

pub fn flatten<'b>(blocks: &'b [DocxBlock], numbers: &mut dyn ListNumbers) -> Vec<Flat<'b>> {
    let mut flats = Vec::new();
    flatten_into(blocks, false, numbers, &mut flats);
    flats
}

fn flatten_into<'b>(blocks: &'b [DocxBlock], is_quote: bool, numbers: &mut dyn ListNumbers, flats: &mut Vec<Flat<'b>>) {
    for block in blocks {
        flatten_block(block, is_quote, numbers, flats);
    }
}

fn flatten_block<'b>(block: &'b DocxBlock, is_quote: bool, numbers: &mut dyn ListNumbers, flats: &mut Vec<Flat<'b>>) {
    match block {
        DocxBlock::Quote(blocks) => flatten_into(blocks, true, numbers, flats),
        DocxBlock::List(list) => flatten_list(list, None, is_quote, numbers, flats),
        block => {
            // A style makes a quote, and a paragraph has one style.
            let context = BlockContext {
                is_quote: is_quote && body(block).is_some(),
                list: None,
            };
            flats.push(Flat {
                block: std::borrow::Cow::Borrowed(block),
                context,
            });
        }
    }
}

fn body(block: &DocxBlock) -> Option<&Paragraph> {
    match block {
        DocxBlock::Paragraph(paragraph) if paragraph.kind == ParagraphKind::Body => Some(paragraph),
        _ => None,
    }
}

fn flatten_list<'b>(
    list: &'b TextList,
    parent: Option<(u32, u8)>,
    is_quote: bool,
    numbers: &mut dyn ListNumbers,
    flats: &mut Vec<Flat<'b>>,
) {
    let (number, level) = numbers.place(list, parent);
    for item in &list.items {
        for (index, block) in item.blocks.iter().enumerate() {
            match block {
                DocxBlock::List(inner) => flatten_list(inner, Some((number, level)), is_quote, numbers, flats),
                block if body(block).is_some() => {
                    let continues = index > 0;
                    let kind = match list.kind {
                        ListKind::Ordered { format, .. } if !continues => ListKind::Ordered {
                            start: numbers.next(number, level),
                            format,
                        },
                        kind => kind,
                    };
                    let checked = item.checked && kind == ListKind::Check;
                    let position = ListPosition {
                        number,
                        level,
                        kind,
                        checked,
                        continues,
                    };
                    let context = BlockContext {
                        is_quote,
                        list: Some(position),
                    };
                    flats.push(Flat {
                        block: std::borrow::Cow::Borrowed(block),
                        context,
                    });
                }
                block => flatten_block(block, is_quote, numbers, flats),
            }
        }
    }
}

/// Builds lists and quotes from their paragraphs.
pub fn nest(flats: Vec<Flat<'_>>) -> Vec<DocxBlock> {
    let mut blocks = Vec::new();
    let mut flats = flats.into_iter().peekable();
    while let Some(first) = flats.next() {
        let is_quote = first.context.is_quote;
        let mut run = vec![first];
        while let Some(next) = flats.next_if(|next| next.context.is_quote == is_quote) {
            run.push(next);
        }
        let inner = nest_lists(run);
        if is_quote {
            blocks.push(DocxBlock::Quote(inner));
        } else {
            blocks.extend(inner);
        }
    }
    blocks
}

/// Lists that are not closed yet, from the outermost to the innermost.
#[derive(Default)]
struct OpenLists {
    open: Vec<(u32, u8, TextList)>,
    blocks: Vec<DocxBlock>,
}

impl OpenLists {
    fn close(&mut self) {
        let Some((_, _, list)) = self.open.pop() else { return };
        let parent = self.open.last_mut().and_then(|(_, _, list)| list.items.last_mut());
        parent
            .map_or(&mut self.blocks, |item| &mut item.blocks)
            .push(DocxBlock::List(list));
    }

    fn close_until(&mut self, is_outer: impl Fn(u32, u8, &TextList) -> bool) {
        while self
            .open
            .last()
            .is_some_and(|(number, level, list)| !is_outer(*number, *level, list))
        {
            self.close();
        }
    }

    fn push(&mut self, block: DocxBlock, position: Option<ListPosition>) {
        let Some(position) = position else {
            self.close_until(|_, _, _| false);
            self.blocks.push(block);
            return;
        };
        let is_same = |number: u32, level: u8| number == position.number && level == position.level;
        if position.continues {
            self.close_until(|number, level, _| is_same(number, level));
            let item = self.open.last_mut().and_then(|(_, _, list)| list.items.last_mut());
            item.map_or(&mut self.blocks, |item| &mut item.blocks).push(block);
            return;
        }
        self.close_until(|number, level, list| {
            level < position.level || (is_same(number, level) && is_same_kind(list.kind, position.kind))
        });
        let item = ListItem {
            checked: position.checked,
            blocks: vec![block],
        };
        match self.open.last_mut() {
            Some((_, level, list)) if *level == position.level => list.items.push(item),
            _ => {
                let list = TextList {
                    kind: position.kind,
                    items: vec![item],
                };
                self.open.push((position.number, position.level, list));
            }
        }
    }
}

fn is_same_kind(one: ListKind, other: ListKind) -> bool {
    match (one, other) {
        (ListKind::Ordered { format: one, .. }, ListKind::Ordered { format: other, .. }) => one == other,
        (one, other) => one == other,
    }
}

fn nest_lists(flats: Vec<Flat<'_>>) -> Vec<DocxBlock> {
    let mut lists = OpenLists::default();
    for flat in flats {
        lists.push(flat.block.into_owned(), flat.context.list);
    }
    lists.close_until(|_, _, _| false);
    lists.blocks
}

/// The level of a list inside of another one.
pub fn inner_level(parent: Option<(u32, u8)>) -> u8 {
    parent.map_or(0, |(_, level)| (level + 1).min(LEVEL_MAX))
}
