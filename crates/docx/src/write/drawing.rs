//! Writes pictures.

use crate::content::Image;
use crate::package::relative;
use crate::read::SourceContent;
use crate::units::UnitItem;
use crate::write::DocxWriter;
use crate::xml::{ElementId, Namespace, Tree, escaped, push};

/// English metric units per pixel.
const EMU: u64 = 9525;
/// The width of a picture without a size, in pixels.
const WIDTH: u32 = 480;

const EXTENSIONS: &[(&str, &str)] = &[
    ("image/png", "png"),
    ("image/jpeg", "jpeg"),
    ("image/gif", "gif"),
    ("image/bmp", "bmp"),
    ("image/webp", "webp"),
    ("image/svg+xml", "svg"),
];

/// The largest id of a drawing; new ones follow.
pub(super) fn last_id(tree: &Tree) -> u32 {
    let drawings = tree
        .descendants(tree.root())
        .filter(|id| tree.is(*id, Namespace::WordDrawing, "docPr"));
    drawings
        .filter_map(|id| tree.attribute(id, "id")?.parse().ok())
        .filter(|id| *id < 0x4000_0000)
        .max()
        .unwrap_or(0)
}

impl DocxWriter<'_> {
    /// The XML of a picture that is new in this place; nothing if it does not exist.
    pub(super) fn drawing(&mut self, image: &Image) -> Option<String> {
        if let Some(drawing) = self.original_drawing(&image.src) {
            return Some(self.changed_drawing(drawing, image));
        }
        let relationship = self.image_relationship(&image.src)?;
        self.needs_relationship_prefix = true;
        self.last_drawing_id += 1;
        let id = self.last_drawing_id;
        let (width, height) = match (image.width, image.height) {
            (Some(width), Some(height)) => (width, height),
            (Some(width), None) => (width, width * 3 / 4),
            (None, Some(height)) => (height * 4 / 3, height),
            (None, None) => (WIDTH, WIDTH * 3 / 4),
        };
        let (cx, cy) = (u64::from(width.max(1)) * EMU, u64::from(height.max(1)) * EMU);
        let described = description(image);
        Some(format!(
            "<w:drawing><wp:inline xmlns:wp=\"http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing\" \
             distT=\"0\" distB=\"0\" distL=\"0\" distR=\"0\"><wp:extent cx=\"{cx}\" cy=\"{cy}\"/><wp:docPr id=\"{id}\" \
             name=\"Picture {id}\"{described}/><wp:cNvGraphicFramePr><a:graphicFrameLocks \
             xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" noChangeAspect=\"1\"/>\
             </wp:cNvGraphicFramePr><a:graphic xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\">\
             <a:graphicData uri=\"http://schemas.openxmlformats.org/drawingml/2006/picture\"><pic:pic \
             xmlns:pic=\"http://schemas.openxmlformats.org/drawingml/2006/picture\"><pic:nvPicPr><pic:cNvPr id=\"{id}\" \
             name=\"Picture {id}\"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:embed=\"{relationship}\"/>\
             <a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x=\"0\" y=\"0\"/><a:ext \
             cx=\"{cx}\" cy=\"{cy}\"/></a:xfrm><a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom></pic:spPr></pic:pic>\
             </a:graphicData></a:graphic></wp:inline></w:drawing>"
        ))
    }

    /// A drawing of the original with this picture.
    fn original_drawing(&self, src: &str) -> Option<ElementId> {
        let paragraphs = self.reading.sources.iter().filter_map(|block| match &block.content {
            SourceContent::Paragraph(paragraph) => Some(paragraph),
            _ => None,
        });
        let unit = paragraphs
            .flat_map(|paragraph| &paragraph.units)
            .find(|unit| matches!(&unit.item, UnitItem::Image(image) if image.src == src))?;
        self.tree.element_at(unit.origin.xml.as_ref()?.start)
    }

    /// A drawing with another size or description.
    fn changed_drawing(&self, drawing: ElementId, image: &Image) -> String {
        let tree = self.tree;
        let span = tree.get(drawing).span.clone();
        let mut xml = String::new();
        let mut position = span.start;
        for element in tree.descendants(drawing) {
            let is_extent = tree.is(element, Namespace::WordDrawing, "extent")
                || (tree.is(element, Namespace::Drawing, "ext") && tree.attribute(element, "cx").is_some());
            let replaced = if is_extent {
                let (Some(width), Some(height)) = (image.width, image.height) else {
                    continue;
                };
                // A size that is the same in pixels keeps its fractions.
                let size = |name, pixels: u32| {
                    let emu: u64 = tree
                        .attribute(element, name)
                        .and_then(|emu| emu.parse().ok())
                        .unwrap_or_default();
                    let is_same = (emu + EMU / 2) / EMU == u64::from(pixels);
                    (if is_same { emu } else { u64::from(pixels) * EMU }).to_string()
                };
                tree.tag_with(
                    element,
                    &[("cx", Some(&size("cx", width))), ("cy", Some(&size("cy", height)))],
                )
            } else if tree.is(element, Namespace::WordDrawing, "docPr") {
                let alt = Some(image.alt.as_str()).filter(|alt| !alt.is_empty());
                tree.tag_with(element, &[("descr", alt), ("title", image.title.as_deref())])
            } else {
                continue;
            };
            let tag = &tree.get(element).tag;
            xml.push_str(&tree.source[position..tag.start]);
            xml.push_str(&replaced);
            position = tag.end;
        }
        xml.push_str(&tree.source[position..span.end]);
        xml
    }

    /// The id of a relationship to a picture that is added to the package.
    fn image_relationship(&mut self, src: &str) -> Option<String> {
        if let Some(known) = self.added_images.get(src) {
            return Some(known.clone());
        }
        let image = (self.images)(src)?;
        let extension = EXTENSIONS
            .iter()
            .find(|(media_type, _)| *media_type == image.media_type)?
            .1;
        let folder = self.main_folder.clone();
        let name = |number: usize| format!("{folder}media/image{number}.{extension}");
        let number =
            (self.media.len() + 1..100_000).find(|number| !self.parts.contains(&name(*number).to_lowercase()))?;
        let part = name(number);
        self.parts.insert(part.to_lowercase());
        let target = relative(&format!("{folder}document.xml"), &part);
        let id = self.add_relationship("image", target, false);
        self.added_images.insert(src.to_owned(), id.clone());
        self.media.push((part, image));
        Some(id)
    }
}

fn description(image: &Image) -> String {
    let mut xml = String::new();
    if !image.alt.is_empty() {
        push!(xml, " descr=\"{}\"", escaped(&image.alt));
    }
    if let Some(title) = &image.title {
        push!(xml, " title=\"{}\"", escaped(title));
    }
    xml
}
