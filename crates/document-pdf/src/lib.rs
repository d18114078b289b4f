//! Renders a document of the built-in editor as a tagged PDF.
//!
//! The document is laid out in strips, horizontal pieces that are not divided by a page boundary: a line of text, a row of a
//! table. Strips are placed on pages as soon as they exist, so memory does not grow with the document's layout. Besides
//! them, the structure tree is built in reading order, with headings, lists, tables and header cells, links, notes and
//! alternative texts, as PDF/UA-1 requires.
//!
//! Limits: a document of more than 2,000,000 characters or 2,000 pages is an error; pictures that are too large or
//! damaged are printed as labelled boxes. Characters without glyph in the embedded fonts (Chinese, for example) are
//! printed as a square; readers get the original text.

mod blocks;
mod error;
mod fonts;
mod inline;
mod lists;
mod pages;
mod pictures;
mod strip;
mod structure;
mod tables;
mod text;

use krilla::configure::{Accessibility, ConfigurationBuilder};
use krilla::error::KrillaError;
use krilla::metadata::Metadata;
use krilla::{Document, SerializeSettings};
use rich_text::Node;

pub use error::PdfError;
pub use pictures::PictureRef;

use blocks::Layouter;
use pages::Pages;
use structure::Structure;

pub struct RenderOptions<'a> {
    /// Shown by viewers; the first heading if empty.
    pub title: &'a str,
    /// A language tag, used if the document has none.
    pub language: &'a str,
    /// Returns the bytes of a PNG, JPEG, GIF or WebP file.
    pub picture: &'a dyn Fn(PictureRef<'_>) -> Option<Vec<u8>>,
}

pub struct RenderedPdf {
    pub bytes: Vec<u8>,
    /// What the text contains that PDF/UA-1 forbids. If there is nothing, the file claims the standard.
    pub problems: Vec<String>,
}

impl RenderedPdf {
    pub fn is_accessible(&self) -> bool {
        self.problems.is_empty()
    }
}

/// Needs time in proportion to the document: about a second for 300 pages. Call it in a thread that may block.
pub fn render(document: &Node, options: &RenderOptions<'_>) -> Result<RenderedPdf, PdfError> {
    if document.content_size() > MAX_SIZE {
        return Err(PdfError::TooLarge);
    }
    let write_error = |error: KrillaError| PdfError::Write(format!("{error:?}"));
    match render_as(document, options, true)? {
        Ok(bytes) => Ok(RenderedPdf {
            bytes,
            problems: Vec::new(),
        }),
        Err(KrillaError::Validation(problems)) => {
            let bytes = render_as(document, options, false)?.map_err(write_error)?;
            let problems = problems.iter().map(|(problem, _)| format!("{problem:?}")).collect();
            Ok(RenderedPdf { bytes, problems })
        }
        Err(error) => Err(write_error(error)),
    }
}

const MAX_SIZE: usize = 2_000_000;

type WriteResult = Result<Vec<u8>, KrillaError>;

fn render_as(document: &Node, options: &RenderOptions<'_>, is_accessible: bool) -> Result<WriteResult, PdfError> {
    let configuration = if is_accessible {
        ConfigurationBuilder::new().with_accessibility_validator(Accessibility::UA1)
    } else {
        ConfigurationBuilder::new()
    };
    let settings = SerializeSettings {
        configuration: configuration
            .finish()
            .map_err(|error| PdfError::Write(format!("{error:?}")))?,
        ..SerializeSettings::default()
    };
    let language = document.attr("language").as_str().unwrap_or(options.language);

    let mut layouter = Layouter::new(options.picture);
    let digits = pages::digits(&mut layouter)?;
    layouter.structure = Structure::new();
    let mut pages = Pages::new(Document::new_with(settings), digits);
    layouter.document(document, &mut pages)?;
    pages.finish()?;

    let headings = layouter.headings;
    let title = match (options.title, headings.first()) {
        ("", Some(heading)) => heading.text.clone(),
        (title, _) => title.to_owned(),
    };
    let outline = pages::outline(&headings, &pages.heading_places, &title);
    let tree = layouter.structure.into_tree(&pages.identifiers, language);
    let mut pdf = pages.document;
    pdf.set_metadata(Metadata::new().title(title).language(language.to_owned()));
    pdf.set_outline(outline);
    pdf.set_tag_tree(tree);
    Ok(pdf.finish())
}
