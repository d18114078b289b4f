//! The embedded fonts.

use std::collections::HashMap;
use std::sync::Arc;

use krilla::text::Font;
use parley::fontique::{Blob, Collection, CollectionOptions, SourceCache};
use parley::{FontContext, FontData, FontFamily, FontFamilyName, LayoutContext};

use std::borrow::Cow;

/// Read in this order for characters that the first font does not have.
const TEXT_FAMILIES: [&str; 3] = ["Carlito", "DejaVu Sans", "Noto Emoji"];
const CODE_FAMILIES: [&str; 3] = ["DejaVu Sans Mono", "DejaVu Sans", "Noto Emoji"];

const FILES: [&[u8]; 7] = [
    include_bytes!("../fonts/Carlito-Regular.ttf"),
    include_bytes!("../fonts/Carlito-Bold.ttf"),
    include_bytes!("../fonts/Carlito-Italic.ttf"),
    include_bytes!("../fonts/Carlito-BoldItalic.ttf"),
    include_bytes!("../fonts/DejaVuSans.ttf"),
    include_bytes!("../fonts/DejaVuSansMono.ttf"),
    include_bytes!("../fonts/NotoEmoji-Regular.ttf"),
];

/// `B` of the layout is the index of a span.
pub(crate) struct Fonts {
    pub(crate) context: FontContext,
    pub(crate) layouts: LayoutContext<u32>,
    /// By the id of the font file's bytes.
    embedded: HashMap<u64, Font>,
}

impl Fonts {
    pub(crate) fn new() -> Self {
        let options = CollectionOptions {
            shared: false,
            system_fonts: false,
        };
        let mut collection = Collection::new(options);
        for file in FILES {
            collection.register_fonts(Blob::new(Arc::new(file)), None);
        }
        Self {
            context: FontContext {
                collection,
                source_cache: SourceCache::default(),
            },
            layouts: LayoutContext::new(),
            embedded: HashMap::new(),
        }
    }

    /// Returns None for a font that the PDF writer cannot read.
    pub(crate) fn embedded(&mut self, font: &FontData) -> Option<Font> {
        let (data, id) = font.data.clone().into_raw_parts();
        if let Some(known) = self.embedded.get(&id) {
            return Some(known.clone());
        }
        let embedded = Font::new(data.into(), font.index)?;
        self.embedded.insert(id, embedded.clone());
        Some(embedded)
    }
}

pub(crate) fn families(is_code: bool) -> FontFamily<'static> {
    let names = if is_code { CODE_FAMILIES } else { TEXT_FAMILIES };
    let list: Vec<_> = names
        .into_iter()
        .map(|name| FontFamilyName::Named(Cow::Borrowed(name)))
        .collect();
    FontFamily::List(Cow::Owned(list))
}
