//! Lays out inline content: lines as strips.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use krilla::tagging::Tag;
use krilla::text::{GlyphId, KrillaGlyph};
use parley::style::{FontStyle, FontWeight, LineHeight, OverflowWrap, StyleProperty};
use parley::{
    Alignment, AlignmentOptions, InlineBox, InlineBoxKind, Layout, Line, PositionedInlineBox, PositionedLayoutItem,
    Run, VerticalAlign,
};
use rich_text::Node;

use crate::blocks::{Layouter, TextColumn};
use crate::fonts::families;
use crate::inline::{BaseStyle, Embedded, InlineText, Span, SpanRole, SpanScript, SpanStyle};
use crate::strip::{GlyphLine, ItemKind, Strip, StripItem};
use crate::structure::{ContentId, GroupId};

const SCRIPT_SIZE: f32 = 0.65;
const SUPERSCRIPT_RISE: f32 = 0.35;
const SUBSCRIPT_DROP: f32 = 0.14;
const RULE: f32 = 0.06;

/// Text that is laid out at once. Longer paragraphs are divided, so that memory is limited.
const MAX_CHARACTERS: usize = 20_000;

pub(crate) struct TextBlock {
    pub(crate) base: BaseStyle,
    pub(crate) alignment: Alignment,
    pub(crate) group: GroupId,
}

impl Layouter<'_> {
    /// Lays out the content of a text block. At least one strip, so that an empty paragraph takes a line.
    pub(crate) fn inline(&mut self, nodes: &[Node], block: &TextBlock, column: TextColumn) -> Vec<Strip> {
        let mut strips = Vec::new();
        let mut rest = nodes;
        loop {
            let count = nodes_of_chunk(rest);
            let (chunk, others) = rest.split_at(count);
            let first_note = self.notes + 1;
            let inline = self.covered(|missing| InlineText::new(chunk, block.base, first_note, missing));
            strips.extend(self.lines(&inline, block, column));
            rest = others;
            if rest.is_empty() {
                return strips;
            }
        }
    }

    pub(crate) fn plain_text(&mut self, text: &str, block: &TextBlock, column: TextColumn) -> Vec<Strip> {
        let inline = self.covered(|missing| InlineText::from_text(text, block.base, missing));
        self.lines(&inline, block, column)
    }

    /// Builds the text again if the fonts lack some of its characters.
    fn covered<'n>(&mut self, build: impl Fn(&HashSet<char>) -> InlineText<'n>) -> InlineText<'n> {
        let inline = build(&self.missing);
        let layout = self.shape(
            &inline,
            BaseStyle {
                size: 10.0,
                is_bold: false,
                is_code: false,
            },
            &[],
        );
        let mut found = HashSet::new();
        for cluster in layout
            .lines()
            .flat_map(|line| line.runs().collect::<Vec<_>>())
            .flat_map(|run| run.clusters().collect::<Vec<_>>())
        {
            if cluster.glyphs().any(|glyph| glyph.id == 0) {
                let text = inline.text.get(cluster.text_range()).unwrap_or_default();
                found.extend(text.chars().filter(|c| !c.is_whitespace()));
            }
        }
        if found.is_empty() {
            return inline;
        }
        self.missing.extend(found);
        build(&self.missing)
    }

    fn shape(&mut self, inline: &InlineText<'_>, base: BaseStyle, boxes: &[InlineBox]) -> Layout<u32> {
        let fonts = &mut self.fonts;
        let mut builder = fonts
            .layouts
            .ranged_builder(&mut fonts.context, &inline.text, 1.0, false);
        builder.push_default(StyleProperty::FontFamily(families(base.is_code)));
        builder.push_default(StyleProperty::FontSize(base.size));
        builder.push_default(StyleProperty::LineHeight(LineHeight::FontSizeRelative(1.3)));
        builder.push_default(StyleProperty::OverflowWrap(OverflowWrap::Anywhere));
        builder.push_default(StyleProperty::Brush(u32::MAX));
        for (index, span) in (0_u32..).zip(&inline.spans) {
            let style = &span.style;
            builder.push(StyleProperty::Brush(index), span.range.clone());
            if style.is_bold {
                builder.push(StyleProperty::FontWeight(FontWeight::BOLD), span.range.clone());
            }
            if style.is_italic {
                builder.push(StyleProperty::FontStyle(FontStyle::Italic), span.range.clone());
            }
            if style.is_code && !base.is_code {
                builder.push(StyleProperty::FontFamily(families(true)), span.range.clone());
                builder.push(StyleProperty::FontSize(base.size * 0.9), span.range.clone());
            }
            if style.script != SpanScript::Normal {
                builder.push(StyleProperty::FontSize(base.size * SCRIPT_SIZE), span.range.clone());
            }
        }
        for one in boxes {
            builder.push_inline_box(one.clone());
        }
        let mut layout = builder.build(&inline.text);
        layout.break_all_lines(None);
        layout
    }

    fn lines(&mut self, inline: &InlineText<'_>, block: &TextBlock, column: TextColumn) -> Vec<Strip> {
        let pictures: Vec<(Strip, Option<GroupId>)> = inline
            .images
            .iter()
            .map(|image| self.image(image.node, column))
            .collect();
        let boxes: Vec<InlineBox> = (0_u64..)
            .zip(&pictures)
            .zip(&inline.images)
            .map(|((id, (picture, _)), image)| inline_box(id, picture, image))
            .collect();
        let mut layout = self.shape(inline, block.base, &boxes);
        layout.break_all_lines(Some(column.width));
        layout.align(block.alignment, AlignmentOptions::default());

        let text: Arc<str> = inline.text.as_str().into();
        let mut pictures: Vec<_> = pictures.into_iter().map(Some).collect();
        let mut groups = SpanGroups::new(block.group);
        let mut strips = Vec::new();
        for line in layout.lines() {
            let metrics = line.metrics();
            let mut strip = Strip {
                height: metrics.line_height,
                ..Strip::default()
            };
            let top = metrics.block_min_coord;
            let mut last_run = None;
            for item in line.items() {
                match item {
                    PositionedLayoutItem::GlyphRun(glyph_run) => {
                        let run = glyph_run.run();
                        if last_run.replace(run.index()) == Some(run.index()) {
                            continue;
                        }
                        let start = (column.x + glyph_run.offset(), metrics.baseline - top);
                        self.run(run, start, &layout, inline, &text, &mut groups, &mut strip);
                    }
                    PositionedLayoutItem::InlineBox(PositionedInlineBox { x, y, id, .. }) => {
                        let picture = usize::try_from(id)
                            .ok()
                            .and_then(|id| pictures.get_mut(id))
                            .and_then(Option::take);
                        if let Some((picture, group)) = picture {
                            strip.items.extend(picture.moved(column.x + x, y - top));
                            if let Some(group) = group {
                                self.structure.attach(block.group, group);
                            }
                        }
                    }
                }
            }
            strip.notes = self.notes_of(&line, inline, block.group);
            strips.push(strip);
        }
        if strips.is_empty() {
            strips.push(Strip {
                height: block.base.size * 1.3,
                ..Strip::default()
            });
        }
        strips
    }

    /// Divides a run of glyphs into pieces of the same style.
    #[expect(clippy::too_many_arguments, reason = "the parts of one layout")]
    fn run(
        &mut self,
        run: &Run<'_, u32>,
        (mut x, baseline): (f32, f32),
        layout: &Layout<u32>,
        inline: &InlineText<'_>,
        text: &Arc<str>,
        groups: &mut SpanGroups,
        strip: &mut Strip,
    ) {
        let Some(font) = self.fonts.embedded(run.font()) else {
            return;
        };
        let size = run.font_size();
        let mut pieces: Vec<Piece> = Vec::new();
        for cluster in run.visual_clusters() {
            let range = cluster.text_range();
            if cluster.is_ligature_continuation() {
                if let Some(glyph) = pieces.last_mut().and_then(|piece| piece.glyphs.last_mut()) {
                    glyph.text_range.end = glyph.text_range.end.max(range.end);
                    glyph.text_range.start = glyph.text_range.start.min(range.start);
                }
                continue;
            }
            for glyph in cluster.glyphs() {
                let style = layout.styles().get(usize::from(cluster.style_index()));
                let span = style.map_or(u32::MAX, |style| style.brush);
                if pieces.last().is_none_or(|piece| piece.span != span) {
                    pieces.push(Piece {
                        span,
                        needs_text: run.is_rtl(),
                        x,
                        width: 0.0,
                        glyphs: Vec::new(),
                    });
                }
                if let Some(piece) = pieces.last_mut() {
                    piece.needs_text |= piece.glyphs.last().is_some_and(|last| last.text_range == range);
                    let id = GlyphId::new(glyph.id);
                    let (dx, dy) = (glyph.x / size, glyph.y / size);
                    piece.glyphs.push(KrillaGlyph::new(
                        id,
                        glyph.advance / size,
                        dx,
                        dy,
                        0.0,
                        range.clone(),
                        None,
                    ));
                    piece.width += glyph.advance;
                }
                x += glyph.advance;
            }
        }
        for piece in pieces {
            let span = usize::try_from(piece.span)
                .ok()
                .and_then(|index| inline.spans.get(index));
            if let Some(span) = span {
                let is_blank = text
                    .get(piece.range())
                    .is_none_or(|text| text.trim_matches(['\n', '\r']).is_empty());
                if !is_blank {
                    self.piece(piece, baseline, (&font, size), span, text, groups, strip);
                }
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one layout")]
    fn piece(
        &mut self,
        piece: Piece,
        baseline: f32,
        (font, size): (&krilla::text::Font, f32),
        span: &Span,
        text: &Arc<str>,
        groups: &mut SpanGroups,
        strip: &mut Strip,
    ) {
        let style = &span.style;
        let (x, width) = (piece.x, piece.width);
        let shift = match style.script {
            SpanScript::Normal => 0.0,
            SpanScript::Super => -SUPERSCRIPT_RISE * size / SCRIPT_SIZE,
            SpanScript::Sub => SUBSCRIPT_DROP * size / SCRIPT_SIZE,
        };
        let baseline = baseline + shift;
        if let Some(color) = style.highlight {
            let kind = ItemKind::Rectangle {
                width,
                height: size * 1.2,
                color,
            };
            strip.items.insert(
                0,
                StripItem {
                    x,
                    y: baseline - size * 0.92,
                    content: None,
                    kind,
                },
            );
        }
        for (is_drawn, y) in [
            (style.is_underlined, baseline + size * 0.12),
            (style.is_struck, baseline - size * 0.27),
        ] {
            if is_drawn {
                let kind = ItemKind::Rectangle {
                    width,
                    height: size * RULE,
                    color: style.color,
                };
                strip.items.push(StripItem {
                    x,
                    y,
                    content: None,
                    kind,
                });
            }
        }
        let group = groups.group_of(&mut self.structure, style);
        let content = self.structure.add_content(group);
        let range = piece.range();
        // Only a span that is on one line has its original text.
        let original = span.original.clone().filter(|_| range == span.range);
        let actual_text = original.or_else(|| text.get(range.clone()).filter(|_| piece.needs_text).map(str::to_owned));
        let glyphs = GlyphLine {
            font: font.clone(),
            size,
            color: style.color,
            text: Arc::clone(text),
            actual_text,
            glyphs: piece.glyphs,
        };
        strip.items.push(StripItem {
            x,
            y: baseline,
            content: Some(content),
            kind: ItemKind::Glyphs(glyphs),
        });
        if let Some(href) = &style.link {
            let content: ContentId = self.structure.add_content(group);
            let text = text.get(range).unwrap_or_default().to_owned();
            let kind = ItemKind::Link {
                width,
                height: size * 1.2,
                href: Arc::clone(href),
                text,
            };
            strip.items.push(StripItem {
                x,
                y: baseline - size * 0.92,
                content: Some(content),
                kind,
            });
        }
    }

    /// The footnotes whose number is on a line.
    fn notes_of(&mut self, line: &Line<'_, u32>, inline: &InlineText<'_>, group: GroupId) -> Vec<Strip> {
        let mut strips = Vec::new();
        let range = line.text_range();
        for note in inline.notes.iter().filter(|note| range.contains(&note.offset)) {
            self.notes += 1;
            strips.extend(self.note(note.node, group));
        }
        strips
    }
}

/// How many nodes are laid out at once.
fn nodes_of_chunk(nodes: &[Node]) -> usize {
    let mut size = 0;
    let fitting = nodes.iter().take_while(|node| {
        size += node.node_size();
        size <= MAX_CHARACTERS
    });
    fitting.count().max(1).min(nodes.len())
}

fn inline_box(id: u64, picture: &Strip, image: &Embedded<'_>) -> InlineBox {
    let width = picture
        .items
        .iter()
        .map(|item| item.x + item.width())
        .fold(0.0, f32::max);
    InlineBox {
        id,
        kind: InlineBoxKind::InFlow,
        index: image.offset,
        width,
        height: picture.height,
        baseline: None,
        vertical_align: VerticalAlign::BASELINE,
    }
}

struct Piece {
    span: u32,
    /// Readers cannot take its text from the glyphs: they are in another order, or several stand for one character.
    needs_text: bool,
    x: f32,
    width: f32,
    glyphs: Vec<KrillaGlyph>,
}

impl Piece {
    fn range(&self) -> Range<usize> {
        let start = self
            .glyphs
            .iter()
            .map(|glyph| glyph.text_range.start)
            .min()
            .unwrap_or(0);
        let end = self.glyphs.iter().map(|glyph| glyph.text_range.end).max().unwrap_or(0);
        start..end
    }
}

/// The structure group of the last span: a link that continues keeps its group.
struct SpanGroups {
    block: GroupId,
    last: Option<(Option<Arc<str>>, bool, SpanRole, GroupId)>,
}

impl SpanGroups {
    fn new(block: GroupId) -> Self {
        Self { block, last: None }
    }

    fn group_of(&mut self, structure: &mut crate::structure::Structure, style: &SpanStyle) -> GroupId {
        if let Some((link, is_code, role, group)) = &self.last
            && (link, *is_code, *role) == (&style.link, style.is_code, style.role)
        {
            return *group;
        }
        let group = match (&style.link, style.role) {
            (Some(_), _) => structure.add_group(self.block, Tag::Link),
            (None, SpanRole::NoteReference) => structure.add_group(self.block, Tag::Reference),
            (None, _) if style.is_code => structure.add_group(self.block, Tag::Code),
            (None, _) => self.block,
        };
        self.last = Some((style.link.clone(), style.is_code, style.role, group));
        group
    }
}
