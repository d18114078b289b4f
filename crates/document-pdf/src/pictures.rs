//! Pictures: their bytes come from the caller and are not trusted.

use std::collections::HashMap;

use krilla::geom::Size;
use krilla::image::Image;
use krilla::page::PageSettings;
use krilla::{Data, Document};

/// Which picture is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureRef<'a> {
    /// The `src` of an image.
    Image(&'a str),
    /// The id of an island; the picture that a word processor shows for it.
    Island(&'a str),
}

const MAX_BYTES: usize = 30_000_000;
const MAX_PIXELS: u64 = 25_000_000;
const MAX_PIXELS_OF_ALL: u64 = 200_000_000;

pub(crate) struct Pictures<'a> {
    source: &'a dyn Fn(PictureRef<'_>) -> Option<Vec<u8>>,
    /// None for a picture that cannot be printed.
    decoded: HashMap<String, Option<Image>>,
    pixels: u64,
}

impl<'a> Pictures<'a> {
    pub(crate) fn new(source: &'a dyn Fn(PictureRef<'_>) -> Option<Vec<u8>>) -> Self {
        Self {
            source,
            decoded: HashMap::new(),
            pixels: 0,
        }
    }

    /// Returns None if there is no picture, or a damaged or too large one.
    pub(crate) fn get(&mut self, picture: PictureRef<'_>) -> Option<Image> {
        let key = match picture {
            PictureRef::Image(source) => format!("image {source}"),
            PictureRef::Island(id) => format!("island {id}"),
        };
        if let Some(known) = self.decoded.get(&key) {
            return known.clone();
        }
        let image = (self.source)(picture).and_then(|bytes| self.decode(bytes));
        self.decoded.insert(key, image.clone());
        image
    }

    fn decode(&mut self, bytes: Vec<u8>) -> Option<Image> {
        if bytes.len() > MAX_BYTES {
            return None;
        }
        let read = match bytes.as_slice() {
            [0x89, b'P', b'N', b'G', ..] => Image::from_png,
            [b'G', b'I', b'F', b'8', ..] => Image::from_gif,
            [b'R', b'I', b'F', b'F', ..] => Image::from_webp,
            _ => Image::from_jpeg,
        };
        // This reads the header; the pixels are decoded when the PDF is written.
        let image = read(Data::from(bytes), true).ok()?;
        let (width, height) = image.size();
        let pixels = u64::from(width) * u64::from(height);
        if pixels == 0 || pixels > MAX_PIXELS || self.pixels + pixels > MAX_PIXELS_OF_ALL || !is_readable(&image) {
            return None;
        }
        self.pixels += pixels;
        Some(image)
    }
}

/// Whether the pixels can be decoded. Found out here, because later it would fail the whole PDF.
fn is_readable(image: &Image) -> bool {
    let mut document = Document::new();
    let Some((settings, size)) = PageSettings::from_wh(10.0, 10.0).zip(Size::from_wh(10.0, 10.0)) else {
        return false;
    };
    let mut page = document.start_page_with(settings);
    let mut surface = page.surface();
    surface.draw_image(image.clone(), size);
    surface.finish();
    page.finish();
    document.finish().is_ok()
}
