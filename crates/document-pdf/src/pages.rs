//! Places strips on pages and draws them.

use std::collections::VecDeque;

use krilla::Document;
use krilla::action::{Action, LinkAction};
use krilla::annotation::{Annotation, LinkAnnotation, Target};
use krilla::color::rgb;
use krilla::destination::XyzDestination;
use krilla::geom::{PathBuilder, Point, Rect, Size, Transform};
use krilla::outline::{Outline, OutlineNode};
use krilla::page::PageSettings;
use krilla::paint::Fill;
use krilla::surface::Surface;
use krilla::tagging::{Artifact, ArtifactType, ContentTag, Identifier, SpanTag};
use krilla::text::KrillaGlyph;
use parley::Alignment;

use crate::PdfError;
use crate::blocks::{HeadingEntry, Layouter, NOTE, TextColumn};
use crate::strip::{Color, GlyphLine, ItemKind, Strip, StripItem, StripSink};
use crate::structure::Structure;
use crate::text::TextBlock;

/// A4.
const PAGE: (f32, f32) = (595.28, 841.89);
const MARGIN: f32 = 70.87;
const HEIGHT: f32 = PAGE.1 - 2.0 * MARGIN;
/// Between the text and the footnotes: space and a line.
const NOTE_SPACE: f32 = 12.0;
const MAX_NOTE_HEIGHT: f32 = HEIGHT / 2.0;
const MAX_PAGES: usize = 2_000;
const NOTE_LINE: Color = Color(120, 120, 120);

pub(crate) const COLUMN: TextColumn = TextColumn {
    x: 0.0,
    width: PAGE.0 - 2.0 * MARGIN,
    max_height: HEIGHT,
};

pub(crate) struct Pages {
    pub(crate) document: Document,
    /// Of contents and annotations.
    pub(crate) identifiers: Vec<Option<Identifier>>,
    /// Page and distance from its top, by heading.
    pub(crate) heading_places: Vec<(usize, f32)>,
    /// The glyphs of the digits from 0 to 9.
    digits: GlyphLine,
    items: Vec<StripItem>,
    /// The bottom of what is placed.
    y: f32,
    /// Footnotes that wait for the bottom of a page.
    notes: VecDeque<Strip>,
    /// Headings that wait for what follows them.
    kept: Vec<Strip>,
    count: usize,
}

impl Pages {
    pub(crate) fn new(document: Document, digits: GlyphLine) -> Self {
        Self {
            document,
            identifiers: Vec::new(),
            heading_places: Vec::new(),
            digits,
            items: Vec::new(),
            y: 0.0,
            notes: VecDeque::new(),
            kept: Vec::new(),
            count: 0,
        }
    }

    /// Draws the last page and the rest of the footnotes.
    pub(crate) fn finish(&mut self) -> Result<(), PdfError> {
        self.place_kept()?;
        while self.count == 0 || !self.items.is_empty() || !self.notes.is_empty() {
            self.draw_page()?;
        }
        Ok(())
    }

    fn place_kept(&mut self) -> Result<(), PdfError> {
        let kept = std::mem::take(&mut self.kept);
        let needed: f32 = kept.iter().map(|strip| strip.space_before + strip.height).sum();
        if !self.fits(needed, 0.0) {
            self.draw_page()?;
        }
        kept.into_iter().try_for_each(|strip| self.place(strip))
    }

    fn place(&mut self, mut strip: Strip) -> Result<(), PdfError> {
        let note_height: f32 = strip.notes.iter().map(|note| note.height).sum();
        if !self.fits(strip.space_before + strip.height, note_height) {
            self.draw_page()?;
        }
        let space_before = if self.y > 0.0 { strip.space_before } else { 0.0 };
        self.notes.extend(std::mem::take(&mut strip.notes));
        let top = self.y + space_before;
        self.y = top + strip.height;
        self.items.extend(strip.moved(0.0, top));
        Ok(())
    }

    /// Whether more text and footnotes fit on the page. An empty page takes everything.
    fn fits(&self, height: f32, note_height: f32) -> bool {
        self.y <= 0.0 || self.y + height + self.reserved(note_height) <= HEIGHT
    }

    /// The height at the bottom of the page that footnotes take.
    fn reserved(&self, more: f32) -> f32 {
        let height: f32 = self.notes.iter().map(|note| note.height).sum::<f32>() + more;
        if height > 0.0 {
            height.min(MAX_NOTE_HEIGHT) + NOTE_SPACE
        } else {
            0.0
        }
    }

    fn draw_page(&mut self) -> Result<(), PdfError> {
        if self.count == MAX_PAGES {
            return Err(PdfError::TooManyPages);
        }
        let mut items = std::mem::take(&mut self.items);
        items.extend(self.note_items());
        let index = self.count;
        self.count += 1;
        items.push(self.page_number());
        self.y = 0.0;

        let settings = PageSettings::from_wh(PAGE.0, PAGE.1).ok_or(PdfError::Write("page size".to_owned()))?;
        let mut page = self.document.start_page_with(settings);
        let mut links = Vec::new();
        let mut surface = page.surface();
        for item in items {
            let (x, y) = (MARGIN + item.x, MARGIN + item.y);
            if let ItemKind::Heading(heading) = item.kind {
                set_at(&mut self.heading_places, heading, (index, y), (0, 0.0));
                continue;
            }
            if matches!(item.kind, ItemKind::Link { .. }) {
                links.push(item);
                continue;
            }
            let actual_text = match &item.kind {
                ItemKind::Glyphs(line) => line.actual_text.clone(),
                _ => None,
            };
            let tag = match (&item.content, &item.kind) {
                (None, _) => ContentTag::Artifact(Artifact::with_kind(ArtifactType::Layout)),
                (Some(_), ItemKind::Glyphs(_)) => {
                    ContentTag::Span(SpanTag::empty().with_actual_text(actual_text.as_deref()))
                }
                (Some(_), _) => ContentTag::Other,
            };
            let identifier = surface.start_tagged(tag);
            draw(&mut surface, item.kind, x, y);
            surface.end_tagged();
            if let Some(content) = item.content {
                set_at(&mut self.identifiers, content.0, Some(identifier), None);
            }
        }
        surface.finish();
        for item in links {
            let ItemKind::Link {
                width,
                height,
                href,
                text,
            } = item.kind
            else {
                continue;
            };
            let (x, y) = (MARGIN + item.x, MARGIN + item.y);
            let area = Rect::from_xywh(x, y, width.max(0.1), height);
            if let Some((area, content)) = area.zip(item.content) {
                let target = Target::Action(Action::Link(LinkAction::new(href.to_string())));
                let annotation =
                    Annotation::new_link(LinkAnnotation::new(area, target), Some(format!("{text} ({href})")));
                let identifier = page.add_tagged_annotation(annotation);
                set_at(&mut self.identifiers, content.0, Some(identifier), None);
            }
        }
        page.finish();
        Ok(())
    }

    /// The footnotes that fit on this page; the others remain.
    fn note_items(&mut self) -> Vec<StripItem> {
        let available = self.reserved(0.0);
        if self.notes.is_empty() {
            return Vec::new();
        }
        let top = HEIGHT - available;
        let kind = ItemKind::Rectangle {
            width: COLUMN.width / 3.0,
            height: 0.5,
            color: NOTE_LINE,
        };
        let mut items = vec![StripItem {
            x: 0.0,
            y: top + NOTE_SPACE / 2.0,
            content: None,
            kind,
        }];
        let mut y = top + NOTE_SPACE;
        let mut is_first = true;
        while let Some(note) = self.notes.pop_front() {
            if !is_first && y + note.height > HEIGHT + 0.01 {
                self.notes.push_front(note);
                break;
            }
            is_first = false;
            let height = note.height;
            items.extend(note.moved(0.0, y));
            y += height;
        }
        items
    }

    fn page_number(&self) -> StripItem {
        let text = self.count.to_string();
        let glyphs: Vec<KrillaGlyph> = text
            .bytes()
            .enumerate()
            .filter_map(|(index, digit)| {
                let mut glyph = self.digits.glyphs.get(usize::from(digit - b'0'))?.clone();
                glyph.text_range = index..index + 1;
                Some(glyph)
            })
            .collect();
        let width: f32 = glyphs.iter().map(|glyph| glyph.x_advance * self.digits.size).sum();
        let line = GlyphLine {
            font: self.digits.font.clone(),
            size: self.digits.size,
            color: self.digits.color,
            text: text.into(),
            glyphs,
            actual_text: None,
        };
        StripItem {
            x: (COLUMN.width - width) / 2.0,
            y: HEIGHT + MARGIN / 2.0,
            content: None,
            kind: ItemKind::Glyphs(line),
        }
    }
}

impl StripSink for Pages {
    fn push(&mut self, strip: Strip) -> Result<(), PdfError> {
        if strip.keeps_with_next {
            let height: f32 = self.kept.iter().map(|strip| strip.space_before + strip.height).sum();
            // Headings that fill half a page have nothing to stay with.
            if height > HEIGHT / 2.0 {
                self.place_kept()?;
            }
            self.kept.push(strip);
            return Ok(());
        }
        if !self.kept.is_empty() {
            let kept: f32 = self.kept.iter().map(|strip| strip.space_before + strip.height).sum();
            if !self.fits(kept + strip.space_before + strip.height.min(HEIGHT / 3.0), 0.0) {
                self.draw_page()?;
            }
            self.place_kept()?;
        }
        self.place(strip)
    }

    fn break_page(&mut self) -> Result<(), PdfError> {
        self.place_kept()?;
        self.draw_page()
    }
}

fn set_at<T: Clone>(list: &mut Vec<T>, index: usize, value: T, empty: T) {
    if list.len() <= index {
        list.resize(index + 1, empty);
    }
    list[index] = value;
}

fn draw(surface: &mut Surface<'_>, kind: ItemKind, x: f32, y: f32) {
    match kind {
        ItemKind::Glyphs(line) => {
            surface.set_fill(Some(fill(line.color)));
            surface.draw_glyphs(
                Point::from_xy(x, y),
                &line.glyphs,
                line.font,
                &line.text,
                line.size,
                false,
            );
        }
        ItemKind::Rectangle { width, height, color } => {
            let mut path = PathBuilder::new();
            if let Some(area) = Rect::from_xywh(x, y, width, height) {
                path.push_rect(area);
            }
            if let Some(path) = path.finish() {
                surface.set_fill(Some(fill(color)));
                surface.draw_path(&path);
            }
        }
        ItemKind::Picture { image, width, height } => {
            if let Some(size) = Size::from_wh(width, height) {
                surface.push_transform(&Transform::from_translate(x, y));
                surface.draw_image(image, size);
                surface.pop();
            }
        }
        // Links and headings are no marked content.
        ItemKind::Nothing | ItemKind::Link { .. } | ItemKind::Heading(_) => {}
    }
}

fn fill(color: Color) -> Fill {
    Fill {
        paint: rgb::Color::new(color.0, color.1, color.2).into(),
        ..Fill::default()
    }
}

/// The glyphs for page numbers.
pub(crate) fn digits(layouter: &mut Layouter<'_>) -> Result<GlyphLine, PdfError> {
    let block = TextBlock {
        base: NOTE,
        alignment: Alignment::Left,
        group: Structure::ROOT,
    };
    let strips = layouter.plain_text("0123456789", &block, COLUMN);
    let items = strips.into_iter().flat_map(|strip| strip.items);
    let lines = items.filter_map(|item| match item.kind {
        ItemKind::Glyphs(line) => Some(line),
        _ => None,
    });
    lines
        .into_iter()
        .next()
        .ok_or(PdfError::Write("the font has no digits".to_owned()))
}

/// The headings as a tree. A document without headings gets an entry with its title, because PDF/UA requires an outline.
pub(crate) fn outline(headings: &[HeadingEntry], places: &[(usize, f32)], title: &str) -> Outline {
    let mut outline = Outline::new();
    let entries: Vec<(u16, OutlineNode)> = headings
        .iter()
        .zip(places)
        .map(|(heading, (page, y))| {
            let destination = XyzDestination::new(*page, Point::from_xy(MARGIN, *y));
            (heading.level, OutlineNode::new(heading.text.clone(), destination))
        })
        .collect();
    if entries.is_empty() {
        let start = XyzDestination::new(0, Point::from_xy(MARGIN, MARGIN));
        outline.push_child(OutlineNode::new(title.to_owned(), start));
        return outline;
    }
    // Headings that are open, from the outermost.
    let mut open: Vec<(u16, OutlineNode)> = Vec::new();
    for (level, node) in entries {
        close(&mut open, level, &mut outline);
        open.push((level, node));
    }
    close(&mut open, 0, &mut outline);
    outline
}

/// Moves the open headings of a level or deeper to their parents.
fn close(open: &mut Vec<(u16, OutlineNode)>, level: u16, outline: &mut Outline) {
    while open.last().is_some_and(|(last, _)| *last >= level) {
        if let Some((_, node)) = open.pop() {
            match open.last_mut() {
                Some((_, parent)) => parent.push_child(node),
                None => outline.push_child(node),
            }
        }
    }
}
