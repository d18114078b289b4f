//! Lays out blocks from top to bottom.

use std::collections::HashSet;
use std::num::NonZeroU16;

use krilla::image::Image;
use krilla::tagging::Tag;
use parley::Alignment;
use rich_text::{Node, NodeType};

use crate::PdfError;
use crate::fonts::Fonts;
use crate::inline::{BaseStyle, label};
use crate::pictures::{PictureRef, Pictures};
use crate::strip::{Color, ItemKind, Strip, StripItem, StripSink};
use crate::structure::{GroupId, Structure};
use crate::text::TextBlock;

pub(crate) const BODY: BaseStyle = BaseStyle {
    size: 11.0,
    is_bold: false,
    is_code: false,
};
pub(crate) const NOTE: BaseStyle = BaseStyle {
    size: 9.0,
    is_bold: false,
    is_code: false,
};
const CODE: BaseStyle = BaseStyle {
    size: 9.5,
    is_bold: false,
    is_code: true,
};

const PARAGRAPH_SPACE: f32 = 6.0;
const CODE_BACKGROUND: Color = Color(244, 244, 244);
const LINE: Color = Color(120, 120, 120);
/// Pixels of the editor, 96 per inch.
const PIXEL: f32 = 0.75;

/// Where content is placed. Lengths are in points.
#[derive(Clone, Copy)]
pub(crate) struct TextColumn {
    pub(crate) x: f32,
    pub(crate) width: f32,
    /// A strip is not higher.
    pub(crate) max_height: f32,
}

impl TextColumn {
    /// Deep nesting leaves a narrow column rather than none.
    pub(crate) fn indented(self, by: f32) -> Self {
        let by = by.min((self.width - 30.0).max(0.0));
        Self {
            x: self.x + by,
            width: self.width - by,
            ..self
        }
    }
}

pub(crate) struct HeadingEntry {
    pub(crate) level: u16,
    pub(crate) text: String,
}

pub(crate) struct Layouter<'a> {
    pub(crate) fonts: Fonts,
    pub(crate) structure: Structure,
    pub(crate) pictures: Pictures<'a>,
    pub(crate) headings: Vec<HeadingEntry>,
    /// The levels of the headings whose section is open, from the outermost.
    open_sections: Vec<u16>,
    /// How many footnotes there were.
    pub(crate) notes: usize,
    /// Characters without glyph.
    pub(crate) missing: HashSet<char>,
}

impl<'a> Layouter<'a> {
    pub(crate) fn new(picture: &'a dyn Fn(PictureRef<'_>) -> Option<Vec<u8>>) -> Self {
        Self {
            fonts: Fonts::new(),
            structure: Structure::new(),
            pictures: Pictures::new(picture),
            headings: Vec::new(),
            open_sections: Vec::new(),
            notes: 0,
            missing: HashSet::new(),
        }
    }

    pub(crate) fn document(&mut self, document: &Node, pages: &mut crate::pages::Pages) -> Result<(), PdfError> {
        let column = crate::pages::COLUMN;
        self.blocks(document.children(), Structure::ROOT, column, pages)
    }

    pub(crate) fn blocks(
        &mut self,
        blocks: &[Node],
        group: GroupId,
        column: TextColumn,
        sink: &mut dyn StripSink,
    ) -> Result<(), PdfError> {
        blocks
            .iter()
            .try_for_each(|block| self.block(block, group, column, sink))
    }

    fn block(
        &mut self,
        block: &Node,
        group: GroupId,
        column: TextColumn,
        sink: &mut dyn StripSink,
    ) -> Result<(), PdfError> {
        match block.node_type() {
            NodeType::Paragraph => {
                let group = self.structure.add_group(group, Tag::P);
                let text = TextBlock {
                    base: BODY,
                    alignment: alignment(block),
                    group,
                };
                push_all(self.inline(block.children(), &text, column), PARAGRAPH_SPACE, sink)
            }
            NodeType::Heading => self.heading(block, group, column, sink),
            NodeType::CodeBlock => self.code(block, group, column, sink),
            NodeType::Blockquote => self.quote(block, group, column, sink),
            NodeType::BulletList | NodeType::OrderedList | NodeType::CheckList => self.list(block, group, column, sink),
            NodeType::Table => self.table(block, group, column, sink),
            NodeType::PageBreak => sink.break_page(),
            NodeType::HorizontalRule => {
                let kind = ItemKind::Rectangle {
                    width: column.width,
                    height: 0.75,
                    color: LINE,
                };
                let line = StripItem {
                    x: column.x,
                    y: 4.0,
                    content: None,
                    kind,
                };
                sink.push(Strip {
                    height: 9.0,
                    space_before: PARAGRAPH_SPACE,
                    items: vec![line],
                    ..Strip::default()
                })
            }
            NodeType::IslandBlock => {
                let mut strip = self.island(block, group, column);
                strip.space_before = PARAGRAPH_SPACE;
                sink.push(strip)
            }
            // Not blocks: `Node::check` finds them before.
            NodeType::Doc
            | NodeType::ListItem
            | NodeType::CheckItem
            | NodeType::TableRow
            | NodeType::TableCell
            | NodeType::TableHeader
            | NodeType::Text
            | NodeType::HardBreak
            | NodeType::Image
            | NodeType::Footnote
            | NodeType::IslandInline => Ok(()),
        }
    }

    fn heading(
        &mut self,
        heading: &Node,
        group: GroupId,
        column: TextColumn,
        sink: &mut dyn StripSink,
    ) -> Result<(), PdfError> {
        let level = heading
            .attr("level")
            .as_u64()
            .and_then(|level| u16::try_from(level).ok())
            .unwrap_or(1);
        let size = match level {
            1 => 20.0,
            2 => 16.0,
            3 => 13.5,
            _ => 12.0,
        };
        let text = heading.text_content();
        let is_named = !text.trim().is_empty();
        // PDF/UA requires a heading to have a title.
        let group = if is_named {
            let depth = self.section_depth(level);
            self.structure.add_group(group, Tag::Hn(depth, Some(text.clone())))
        } else {
            self.structure.add_group(group, Tag::P)
        };
        let block = TextBlock {
            base: BaseStyle {
                size,
                is_bold: true,
                is_code: false,
            },
            alignment: alignment(heading),
            group,
        };
        let mut strips = self.inline(heading.children(), &block, column);
        for strip in &mut strips {
            strip.keeps_with_next = true;
        }
        if let Some(first) = strips.first_mut().filter(|_| is_named) {
            let kind = ItemKind::Heading(self.headings.len());
            first.items.push(StripItem {
                x: column.x,
                y: 0.0,
                content: None,
                kind,
            });
            self.headings.push(HeadingEntry { level, text });
        }
        push_all(strips, size * 0.9, sink)
    }

    /// Begins the section of a heading and returns its depth. PDF/UA forbids to skip levels of headings, and a document
    /// may begin with any of them.
    fn section_depth(&mut self, level: u16) -> NonZeroU16 {
        while self.open_sections.last().is_some_and(|open| *open >= level) {
            self.open_sections.pop();
        }
        self.open_sections.push(level);
        let depth = u16::try_from(self.open_sections.len()).unwrap_or(u16::MAX);
        NonZeroU16::new(depth).unwrap_or(NonZeroU16::MIN)
    }

    fn code(
        &mut self,
        block: &Node,
        group: GroupId,
        column: TextColumn,
        sink: &mut dyn StripSink,
    ) -> Result<(), PdfError> {
        let paragraph = self.structure.add_group(group, Tag::P);
        let text = TextBlock {
            base: CODE,
            alignment: Alignment::Left,
            group: paragraph,
        };
        let inner = TextColumn {
            x: column.x + 6.0,
            width: (column.width - 12.0).max(30.0),
            ..column
        };
        let mut strips = self.inline(block.children(), &text, inner);
        for strip in &mut strips {
            let kind = ItemKind::Rectangle {
                width: column.width,
                height: strip.height + 0.5,
                color: CODE_BACKGROUND,
            };
            strip.items.insert(
                0,
                StripItem {
                    x: column.x,
                    y: 0.0,
                    content: None,
                    kind,
                },
            );
        }
        push_all(strips, PARAGRAPH_SPACE, sink)
    }

    /// A footnote at the bottom of its page.
    pub(crate) fn note(&mut self, note: &Node, parent: GroupId) -> Vec<Strip> {
        let group = self.structure.add_group(parent, Tag::Note);
        let text = format!("{} {}", self.notes, note.attr("text").as_str().unwrap_or_default());
        let block = TextBlock {
            base: NOTE,
            alignment: Alignment::Start,
            group,
        };
        self.plain_text(&text, &block, crate::pages::COLUMN)
    }

    /// An image in a text, not wider than the column. Its group is attached where its line is.
    pub(crate) fn image(&mut self, node: &Node, column: TextColumn) -> (Strip, Option<GroupId>) {
        let text = |name| node.attr(name).as_str().unwrap_or_default().trim().to_owned();
        let picture = self
            .pictures
            .get(PictureRef::Image(node.attr("src").as_str().unwrap_or_default()));
        let alt = if text("alt").is_empty() {
            text("title")
        } else {
            text("alt")
        };
        let Some(image) = picture else {
            let alt = if alt.is_empty() { "[–]" } else { &alt };
            let group = self.structure.add_detached(Tag::Figure(Some(alt.to_owned())));
            return (self.labelled_box(alt, group, column), Some(group));
        };
        // Without alternative text, the image is decoration.
        let group = (!alt.is_empty()).then(|| self.structure.add_detached(Tag::Figure(Some(alt))));
        let size = |name| {
            let pixels = node.attr(name).as_u64();
            pixels.and_then(|pixels| u16::try_from(pixels).ok()).map(f32::from)
        };
        (
            self.picture_strip(image, (size("width"), size("height")), group, column),
            group,
        )
    }

    fn island(&mut self, node: &Node, parent: GroupId, column: TextColumn) -> Strip {
        let alt = label(node);
        let group = self.structure.add_group(parent, Tag::Figure(Some(alt.clone())));
        let id = node.attr("id").as_str().unwrap_or_default();
        let mut strip = match self.pictures.get(PictureRef::Island(id)) {
            Some(image) => self.picture_strip(image, (None, None), Some(group), column),
            None => self.labelled_box(&alt, group, column),
        };
        for item in &mut strip.items {
            item.x += column.x;
        }
        strip
    }

    fn picture_strip(
        &mut self,
        image: Image,
        wanted: (Option<f32>, Option<f32>),
        group: Option<GroupId>,
        column: TextColumn,
    ) -> Strip {
        let (width, height) = image.size();
        let natural = (pixels(width), pixels(height));
        let ratio = natural.1 / natural.0;
        let (width, height) = match wanted {
            (Some(width), Some(height)) => (width, height),
            (Some(width), None) => (width, width * ratio),
            (None, Some(height)) => (height / ratio, height),
            (None, None) => natural,
        };
        let (width, height) = ((width * PIXEL).max(1.0), (height * PIXEL).max(1.0));
        let scale = (column.width / width).min(column.max_height / height).min(1.0);
        let (width, height) = (width * scale, height * scale);
        let content = group.map(|group| self.structure.add_content(group));
        let kind = ItemKind::Picture { image, width, height };
        let item = StripItem {
            x: 0.0,
            y: 0.0,
            content,
            kind,
        };
        Strip {
            height,
            items: vec![item],
            ..Strip::default()
        }
    }

    /// Replaces a picture that cannot be printed.
    fn labelled_box(&mut self, text: &str, group: GroupId, column: TextColumn) -> Strip {
        let block = TextBlock {
            base: NOTE,
            alignment: Alignment::Left,
            group,
        };
        let padding = 6.0;
        let inner = TextColumn {
            x: padding,
            width: (column.width - 2.0 * padding).max(30.0),
            ..column
        };
        let mut height = padding;
        let mut items = Vec::new();
        for strip in self.plain_text(text, &block, inner) {
            if height + strip.height + padding > column.max_height {
                break;
            }
            let line = strip.height;
            items.extend(strip.moved(0.0, height));
            height += line;
        }
        height += padding;
        let right = items.iter().map(|item| item.x + item.width()).fold(0.0, f32::max) + padding;
        items.extend(frame(0.0, 0.0, right.min(column.width), height, LINE));
        Strip {
            height,
            items,
            ..Strip::default()
        }
    }
}

/// Four lines around an area.
pub(crate) fn frame(x: f32, y: f32, width: f32, height: f32, color: Color) -> [StripItem; 4] {
    const THICKNESS: f32 = 0.5;
    let line = |x, y, width, height| StripItem {
        x,
        y,
        content: None,
        kind: ItemKind::Rectangle { width, height, color },
    };
    [
        line(x, y, width, THICKNESS),
        line(x, y + height - THICKNESS, width, THICKNESS),
        line(x, y, THICKNESS, height),
        line(x + width - THICKNESS, y, THICKNESS, height),
    ]
}

#[expect(
    clippy::cast_precision_loss,
    reason = "pictures have fewer pixels than f32 represents exactly"
)]
fn pixels(count: u32) -> f32 {
    count as f32
}

fn alignment(block: &Node) -> Alignment {
    match block.attr("align").as_str() {
        Some("left") => Alignment::Left,
        Some("center") => Alignment::Center,
        Some("right") => Alignment::Right,
        Some("justify") => Alignment::Justify,
        _ => Alignment::Start,
    }
}

fn push_all(strips: Vec<Strip>, space_before: f32, sink: &mut dyn StripSink) -> Result<(), PdfError> {
    let mut space_before = space_before;
    for mut strip in strips {
        strip.space_before = std::mem::take(&mut space_before);
        sink.push(strip)?;
    }
    Ok(())
}
