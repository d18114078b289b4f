//! Strips: pieces of the layout that a page boundary does not divide.

use std::sync::Arc;

use krilla::image::Image;
use krilla::text::{Font, KrillaGlyph};

use crate::PdfError;
use crate::structure::ContentId;

/// Lengths are in points.
#[derive(Default)]
pub(crate) struct Strip {
    pub(crate) height: f32,
    /// Left out at the top of a page.
    pub(crate) space_before: f32,
    pub(crate) items: Vec<StripItem>,
    /// Footnotes that belong to the bottom of the page.
    pub(crate) notes: Vec<Self>,
    /// A heading is not the last thing on a page.
    pub(crate) keeps_with_next: bool,
}

/// Red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Color(pub(crate) u8, pub(crate) u8, pub(crate) u8);

pub(crate) struct StripItem {
    /// From the left margin and from the top of the strip.
    pub(crate) x: f32,
    pub(crate) y: f32,
    /// Content without it is decoration.
    pub(crate) content: Option<ContentId>,
    pub(crate) kind: ItemKind,
}

pub(crate) enum ItemKind {
    Glyphs(GlyphLine),
    Rectangle {
        width: f32,
        height: f32,
        color: Color,
    },
    Picture {
        image: Image,
        width: f32,
        height: f32,
    },
    Link {
        width: f32,
        height: f32,
        href: Arc<str>,
        text: String,
    },
    /// Marks where a heading of the outline is.
    Heading(usize),
    /// Marked content of a cell without text.
    Nothing,
}

/// Glyphs in a row with the same style. `y` of the item is the baseline.
pub(crate) struct GlyphLine {
    pub(crate) font: Font,
    pub(crate) size: f32,
    pub(crate) color: Color,
    pub(crate) text: Arc<str>,
    pub(crate) glyphs: Vec<KrillaGlyph>,
    /// The original text if characters were replaced.
    pub(crate) actual_text: Option<String>,
}

impl StripItem {
    pub(crate) fn width(&self) -> f32 {
        match &self.kind {
            ItemKind::Glyphs(line) => line.glyphs.iter().map(|glyph| glyph.x_advance * line.size).sum(),
            ItemKind::Rectangle { width, .. } | ItemKind::Picture { width, .. } | ItemKind::Link { width, .. } => {
                *width
            }
            ItemKind::Heading(_) | ItemKind::Nothing => 0.0,
        }
    }
}

impl Strip {
    pub(crate) fn moved(mut self, x: f32, y: f32) -> Vec<StripItem> {
        for item in &mut self.items {
            item.x += x;
            item.y += y;
        }
        self.items
    }
}

/// Receives strips from top to bottom.
pub(crate) trait StripSink {
    fn push(&mut self, strip: Strip) -> Result<(), PdfError>;

    fn break_page(&mut self) -> Result<(), PdfError> {
        Ok(())
    }
}

impl StripSink for Vec<Strip> {
    fn push(&mut self, strip: Strip) -> Result<(), PdfError> {
        self.push(strip);
        Ok(())
    }
}
