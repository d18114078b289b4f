//! The content of a paragraph as a sequence of characters and objects. A unit that was read remembers the XML that it
//! came from.

use std::ops::Range;

use crate::content::{Image, Inline, Island, Item, Marks};

#[derive(Debug, Clone, PartialEq)]
pub enum UnitItem {
    Char(char),
    Break,
    Image(Image),
    Footnote(String),
    Island(Island),
}

#[derive(Debug, Clone)]
pub struct Unit {
    pub item: UnitItem,
    pub marks: Marks,
    pub origin: Origin,
}

/// The bytes that a unit was read from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// The run properties.
    pub properties: Option<Range<usize>>,
    pub link: Option<LinkOrigin>,
    /// The element inside of the run, unless it is text.
    pub xml: Option<Range<usize>>,
    /// The id of the footnote.
    pub footnote: Option<i64>,
}

/// The bytes around the text of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkOrigin {
    /// The start tag of the hyperlink, or the runs of a field before its result.
    pub open: Range<usize>,
    /// The runs at the end of a field.
    pub close: Option<Range<usize>>,
}

/// An element without content before the unit with this index.
#[derive(Debug, Clone)]
pub struct Marker {
    pub before: usize,
    pub span: Range<usize>,
    /// Kind and id, which the start and the end of a range share.
    pub range: Option<(String, String)>,
}

impl Unit {
    /// Whether code can contain it.
    pub fn is_plain(&self) -> bool {
        matches!(self.item, UnitItem::Char(_) | UnitItem::Break) && self.origin.link.is_none()
    }

    pub const fn island(&self) -> Option<&Island> {
        match &self.item {
            UnitItem::Island(island) => Some(island),
            _ => None,
        }
    }

    pub fn is_same(&self, other: &Self) -> bool {
        self.item == other.item && self.marks == other.marks
    }
}

/// Whether XML can contain a character.
const fn is_allowed(character: char) -> bool {
    !matches!(character, '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

/// The units of a content that was not read from a file. What a file cannot express is left out: marks of objects, and
/// control characters.
pub fn from_inlines(content: &[Inline], is_code: bool) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut section = None;
    for inline in content {
        let mut marks = if is_code {
            Marks::default()
        } else {
            inline.marks.clone()
        };
        if marks.link.as_deref() == Some("") {
            marks.link = None;
        }
        let mut push = |item, marks| {
            units.push(Unit {
                item,
                marks,
                origin: Origin::default(),
            });
        };
        match &inline.item {
            Item::Text(text) => {
                for character in text.chars() {
                    match character {
                        '\n' => push(UnitItem::Break, Marks::default()),
                        '\r' => {}
                        character if is_allowed(character) => push(UnitItem::Char(character), marks.clone()),
                        _ => {}
                    }
                }
            }
            Item::Break => push(UnitItem::Break, Marks::default()),
            Item::Image(image) => {
                let link = marks.link.take();
                push(
                    UnitItem::Image(image.clone()),
                    Marks {
                        link,
                        ..Marks::default()
                    },
                );
            }
            Item::Footnote(text) => {
                let text = text.chars().filter(|character| is_allowed(*character)).collect();
                push(UnitItem::Footnote(text), Marks::default());
            }
            // A section ends with a paragraph.
            Item::Island(island) if island.kind == "section_break" => section = Some(island.clone()),
            Item::Island(island) => push(UnitItem::Island(island.clone()), Marks::default()),
        }
    }
    units.extend(section.map(|island| Unit {
        item: UnitItem::Island(island),
        marks: Marks::default(),
        origin: Origin::default(),
    }));
    units
}

/// The content that the units show.
pub fn to_inlines(units: &[Unit], is_code: bool) -> Vec<Inline> {
    let mut content: Vec<Inline> = Vec::new();
    for unit in units {
        let item = match &unit.item {
            UnitItem::Break if is_code => Item::Text("\n".to_owned()),
            UnitItem::Char(character) => Item::Text(character.to_string()),
            UnitItem::Break => Item::Break,
            UnitItem::Image(image) => Item::Image(image.clone()),
            UnitItem::Footnote(text) => Item::Footnote(text.clone()),
            UnitItem::Island(island) => Item::Island(island.clone()),
        };
        let marks = if is_code { Marks::default() } else { unit.marks.clone() };
        if let (
            Item::Text(text),
            Some(Inline {
                item: Item::Text(before),
                marks: same,
            }),
        ) = (&item, content.last_mut())
            && *same == marks
        {
            before.push_str(text);
        } else {
            content.push(Inline { item, marks });
        }
    }
    content
}

/// For every unit of `new` the index of the unit of `old` that it was, if it is still the same object or character.
pub fn align(old: &[Unit], new: &[Unit]) -> Vec<Option<usize>> {
    /// Longest common subsequences are computed for parts up to this product of lengths.
    const AREA_MAX: usize = 4_000_000;

    let is_same = |old: &Unit, new: &Unit| old.item == new.item;
    let prefix = old.iter().zip(new).take_while(|(old, new)| is_same(old, new)).count();
    let (old_rest, new_rest) = (&old[prefix..], &new[prefix..]);
    let suffix = old_rest
        .iter()
        .rev()
        .zip(new_rest.iter().rev())
        .take_while(|(old, new)| is_same(old, new))
        .count();
    let (old_middle, new_middle) = (
        &old_rest[..old_rest.len() - suffix],
        &new_rest[..new_rest.len() - suffix],
    );

    let mut aligned: Vec<Option<usize>> = (0..prefix).map(Some).collect();
    aligned.resize(prefix + new_middle.len(), None);
    if old_middle.len().saturating_mul(new_middle.len()) <= AREA_MAX {
        align_middle(old_middle, new_middle, prefix, &mut aligned, is_same);
    }
    aligned.extend((old.len() - suffix..old.len()).map(Some));
    aligned
}

fn align_middle(
    old: &[Unit],
    new: &[Unit],
    offset: usize,
    aligned: &mut [Option<usize>],
    is_same: impl Fn(&Unit, &Unit) -> bool,
) {
    let width = new.len() + 1;
    let mut lengths = vec![0_u32; (old.len() + 1) * width];
    for row in (0..old.len()).rev() {
        for column in (0..new.len()).rev() {
            lengths[row * width + column] = if is_same(&old[row], &new[column]) {
                lengths[(row + 1) * width + column + 1] + 1
            } else {
                lengths[(row + 1) * width + column].max(lengths[row * width + column + 1])
            };
        }
    }
    let (mut row, mut column) = (0, 0);
    while row < old.len() && column < new.len() {
        if is_same(&old[row], &new[column]) {
            aligned[offset + column] = Some(offset + row);
            row += 1;
            column += 1;
        } else if lengths[(row + 1) * width + column] >= lengths[row * width + column + 1] {
            row += 1;
        } else {
            column += 1;
        }
    }
}
