//! Reads the content of a paragraph.

use std::collections::HashMap;
use std::ops::Range;

use crate::content::{Image, Marks};
use crate::format::read_marks;
use crate::read::{DocxReader, IslandPlace, IslandXml, is_marker, open_fields, shown_text};
use crate::units::{LinkOrigin, Marker, Origin, Unit, UnitItem};
use crate::xml::{ElementId, Namespace, Tree};

/// English metric units per pixel.
const EMU: u64 = 9525;

/// What was read from a paragraph.
#[derive(Default)]
pub(super) struct ParagraphContent {
    pub units: Vec<Unit>,
    pub markers: Vec<Marker>,
    pub checkbox: Option<FoundCheckbox>,
}

/// A check box at the beginning of a paragraph.
pub(super) struct FoundCheckbox {
    pub checked: bool,
    pub span: Range<usize>,
    /// Units that belong to it: the box, and the space after it.
    pub units: usize,
}

impl ParagraphContent {
    /// Whether it consists of one page break.
    pub fn is_page_break(&self, islands: &HashMap<String, IslandXml>) -> bool {
        let [unit] = self.units.as_slice() else { return false };
        let island = unit.island().and_then(|island| islands.get(&island.id));
        island.is_some_and(|island| island.kind == "page_break")
    }

    pub fn remove_first(&mut self, count: usize) {
        self.units.drain(..count);
        for marker in &mut self.markers {
            marker.before = marker.before.saturating_sub(count);
        }
    }
}

/// The kind of the island that a paragraph has to be, because its parts cannot be separated.
pub(super) fn obstacle(tree: &Tree, paragraph: ElementId) -> Option<&'static str> {
    let mut open = 0;
    for child in tree.children(paragraph) {
        let is_part = matches!(tree.word(child), "pPr" | "r" | "hyperlink");
        let declares = |id: ElementId| tree.get(id).declares_namespaces;
        if is_part
            && (declares(child)
                || tree
                    .children(child)
                    .any(|inner| tree.word(inner) == "rPr" && declares(inner)))
        {
            return Some("other");
        }
        open += open_fields(tree, child).0;
        if open < 0 {
            return Some("field");
        }
    }
    if open != 0 {
        return Some("field");
    }
    tree.get(paragraph).declares_namespaces.then_some("other")
}

pub(super) fn read(reader: &mut DocxReader<'_>, paragraph: ElementId) -> ParagraphContent {
    let tree = reader.tree;
    let mut inline = InlineReader {
        reader,
        content: ParagraphContent::default(),
        link: None,
    };
    let children: Vec<ElementId> = tree.children(paragraph).collect();
    let mut index = 0;
    while index < children.len() {
        let child = children[index];
        index += 1;
        let word = tree.word(child);
        if matches!(word, "pPr" | "proofErr") {
            continue;
        }
        if is_marker(tree, child) {
            inline.marker(child);
            continue;
        }
        let (mut open, has_field) = open_fields(tree, child);
        if has_field {
            let first = child;
            let mut last = child;
            while open > 0 && index < children.len() {
                last = children[index];
                open += open_fields(tree, last).0;
                index += 1;
            }
            inline.field(first, last);
            continue;
        }
        match word {
            "r" => inline.run(child),
            "hyperlink" => inline.hyperlink(child),
            "sdt" => {
                index += inline.content_control(child, children.get(index).copied());
            }
            _ => {
                let kind = inline_kind(tree, child);
                inline.paragraph_island(child, kind);
            }
        }
    }
    let section = tree
        .child(paragraph, "pPr")
        .and_then(|properties| tree.child(properties, "sectPr"));
    if let Some(section) = section {
        inline.island(
            tree.xml(section).to_owned(),
            IslandPlace::Section,
            "section_break",
            "",
            Origin::default(),
        );
    }
    inline.content
}

fn inline_kind(tree: &Tree, element: ElementId) -> &'static str {
    match tree.word(element) {
        "ins" | "del" | "moveFrom" | "moveTo" => "tracked_change",
        "fldSimple" => "field",
        "smartTag" => "smart_tag",
        "sdt" => "content_control",
        "hyperlink" => "internal_link",
        _ if tree.get(element).namespace == Namespace::Math => "equation",
        _ => "other",
    }
}

/// The kind of an element inside of a run.
fn run_kind(tree: &Tree, element: ElementId) -> &'static str {
    let word = tree.word(element);
    match word {
        "br" => {
            return match tree.attribute(element, "type").as_deref() {
                Some("page") => "page_break",
                _ => "column_break",
            };
        }
        "sym" => return "symbol",
        "endnoteReference" => return "endnote",
        "footnoteReference" => return "footnote",
        "object" => return "object",
        "pgNum" | "dayShort" | "dayLong" | "monthShort" | "monthLong" | "yearShort" | "yearLong" => return "field",
        "ruby" => return "ruby",
        _ => {}
    }
    let has = |name: &str| tree.descendants(element).any(|inner| tree.local(inner) == name);
    let is_drawing =
        matches!(word, "drawing" | "pict") || tree.is(element, Namespace::Compatibility, "AlternateContent");
    match () {
        () if !is_drawing => "other",
        () if has("txbxContent") => "text_box",
        () if has("chart") => "chart",
        () if has("relIds") => "diagram",
        () if has("pic") || has("imagedata") => "picture",
        () => "drawing",
    }
}

struct InlineReader<'r, 'o> {
    reader: &'r mut DocxReader<'o>,
    content: ParagraphContent,
    /// Target and origin of the link around the current run.
    link: Option<(String, LinkOrigin)>,
}

impl<'o> InlineReader<'_, 'o> {
    fn tree(&self) -> &'o Tree {
        self.reader.tree
    }

    fn marker(&mut self, element: ElementId) {
        let tree = self.tree();
        let span = tree.get(element).span.clone();
        let name = tree.local(element);
        let kind = name.strip_suffix("Start").or_else(|| name.strip_suffix("End"));
        let range = kind.and_then(|kind| Some((kind.to_owned(), tree.attribute(element, "id")?.into_owned())));
        self.content.markers.push(Marker {
            before: self.content.units.len(),
            span,
            range,
        });
    }

    fn island(&mut self, xml: String, place: IslandPlace, kind: &'static str, text: &str, origin: Origin) {
        let island = self.reader.add_island(xml, place, kind, text);
        self.content.units.push(Unit {
            item: UnitItem::Island(island),
            marks: Marks::default(),
            origin,
        });
    }

    fn paragraph_island(&mut self, element: ElementId, kind: &'static str) {
        let tree = self.tree();
        let text = shown_text(tree, element);
        self.island(
            tree.xml(element).to_owned(),
            IslandPlace::Paragraph,
            kind,
            &text,
            Origin::default(),
        );
    }

    fn field(&mut self, first: ElementId, last: ElementId) {
        let tree = self.tree();
        if self.link_field(first, last) {
            return;
        }
        let span = tree.get(first).span.start..tree.get(last).span.end;
        let mut text = String::new();
        let mut element = Some(first);
        for sibling in tree
            .get(first)
            .parent
            .into_iter()
            .flat_map(|parent| tree.children(parent))
        {
            if element == Some(sibling) {
                text.push_str(&shown_text(tree, sibling));
                element = None;
            } else if element.is_none() && tree.get(sibling).span.end <= span.end {
                text.push_str(&shown_text(tree, sibling));
            }
        }
        self.island(
            tree.text_of(&span).to_owned(),
            IslandPlace::Paragraph,
            "field",
            &text,
            Origin::default(),
        );
    }

    /// Reads a field that is a link to a web address. Returns false if it is another field, or contains more than text.
    fn link_field(&mut self, first: ElementId, last: ElementId) -> bool {
        let tree = self.tree();
        let span = tree.get(first).span.start..tree.get(last).span.end;
        let siblings = tree
            .get(first)
            .parent
            .into_iter()
            .flat_map(|parent| tree.children(parent));
        let runs: Vec<ElementId> = siblings
            .filter(|sibling| tree.get(*sibling).span.start >= span.start && tree.get(*sibling).span.end <= span.end)
            .filter(|sibling| tree.word(*sibling) != "proofErr")
            .collect();
        let (mut instruction, mut shown, mut is_result) = (String::new(), Vec::new(), false);
        let (mut open, mut close) = (span.start..span.start, span.end..span.end);
        for run in runs {
            if tree.word(run) != "r" {
                return false;
            }
            let mut is_code = false;
            for item in tree.children(run).filter(|item| tree.word(*item) != "rPr") {
                match tree.word(item) {
                    "instrText" if !is_result => {
                        instruction.push_str(&tree.text(item));
                        is_code = true;
                    }
                    "fldChar" => {
                        let kind = tree.attribute(item, "fldCharType");
                        is_result = match kind.as_deref() {
                            Some("begin") if instruction.is_empty() => false,
                            Some("separate") if !is_result => {
                                open.end = tree.get(run).span.end;
                                true
                            }
                            Some("end") if is_result => {
                                close.start = tree.get(run).span.start;
                                true
                            }
                            _ => return false,
                        };
                        is_code = true;
                    }
                    "t" | "tab" | "br" | "lastRenderedPageBreak" if is_result && !is_code => {}
                    _ => return false,
                }
            }
            if !is_code {
                shown.push(run);
            }
        }
        let Some(href) = link_of_field(&instruction) else {
            return false;
        };
        self.link = Some((
            href,
            LinkOrigin {
                open,
                close: Some(close),
            },
        ));
        for run in shown {
            self.run(run);
        }
        self.link = None;
        true
    }

    /// Returns how many of the following elements belong to the control.
    fn content_control(&mut self, element: ElementId, next: Option<ElementId>) -> usize {
        let tree = self.tree();
        let is_first = self.content.units.is_empty();
        self.paragraph_island(element, "content_control");
        let properties = tree.child(element, "sdtPr");
        let checkbox = properties.and_then(|properties| {
            tree.children(properties)
                .find(|child| tree.is(*child, Namespace::Word2010, "checkbox"))
        });
        let (Some(checkbox), true) = (checkbox, is_first) else {
            return 0;
        };
        let state = tree.children(checkbox).find(|child| tree.local(*child) == "checked");
        let checked = state
            .and_then(|state| tree.value(state))
            .is_some_and(|value| matches!(&*value, "1" | "true"));
        let mut span = tree.get(element).span.clone();
        let mut units = 1;
        let separator = next.filter(|next| tree.word(*next) == "r" && span.end == tree.get(*next).span.start);
        let mut skipped = 0;
        if let Some(run) = separator {
            let mut items = tree.children(run).filter(|child| tree.word(*child) != "rPr");
            let is_space = |item| match tree.word(item) {
                "tab" => true,
                "t" => tree.text(item) == " ",
                _ => false,
            };
            if items.next().is_some_and(is_space) && items.next().is_none() {
                let before = self.content.units.len();
                self.run(run);
                units += self.content.units.len() - before;
                span.end = tree.get(run).span.end;
                skipped = 1;
            }
        }
        self.content.checkbox = Some(FoundCheckbox { checked, span, units });
        skipped
    }

    fn hyperlink(&mut self, element: ElementId) {
        let tree = self.tree();
        let id = tree.attribute(element, "id");
        let target = id
            .and_then(|id| self.reader.original.relationships.get(&*id))
            .filter(|target| target.is_external);
        let anchor = tree.attribute(element, "anchor");
        let href = target.map(|target| match &anchor {
            Some(anchor) => format!("{}#{anchor}", target.target),
            None => target.target.clone(),
        });
        let href = href.filter(|href| is_web_address(href));
        let is_simple = tree
            .children(element)
            .all(|child| tree.word(child) == "r" || tree.word(child) == "proofErr");
        let (Some(href), true) = (href, is_simple) else {
            self.paragraph_island(element, "internal_link");
            return;
        };
        let open = tree.get(element).tag.clone();
        self.link = Some((href, LinkOrigin { open, close: None }));
        for run in tree.children(element).filter(|child| tree.word(*child) == "r") {
            self.run(run);
        }
        self.link = None;
    }

    fn run(&mut self, run: ElementId) {
        let tree = self.tree();
        let properties = tree.child(run, "rPr");
        let is_link = self.link.is_some();
        let mut marks = read_marks(tree, &self.reader.original.styles, properties, is_link);
        let origin = Origin {
            properties: properties.map(|properties| tree.get(properties).span.clone()),
            link: self.link.as_ref().map(|(_, origin)| origin.clone()),
            ..Origin::default()
        };
        marks.link = self.link.as_ref().map(|(href, _)| href.clone());
        if tree.children(run).any(|child| tree.word(child) == "commentReference") {
            self.marker(run);
            return;
        }
        for child in tree.children(run) {
            self.run_item(child, &marks, &origin, properties);
        }
    }

    fn run_item(&mut self, element: ElementId, marks: &Marks, origin: &Origin, properties: Option<ElementId>) {
        let tree = self.tree();
        let with_xml = || Origin {
            xml: Some(tree.get(element).span.clone()),
            ..origin.clone()
        };
        let units = &mut self.content.units;
        let item = match tree.word(element) {
            "rPr" | "lastRenderedPageBreak" => return,
            "t" => {
                let text = tree.text(element);
                let is_preserved = tree
                    .attribute(element, "space")
                    .is_some_and(|value| value == "preserve");
                let text = if is_preserved {
                    text.as_str()
                } else {
                    text.trim_matches([' ', '\t', '\n'])
                };
                let chars = text.chars().map(|character| match character {
                    // A line end in text is a space to Word.
                    '\n' | '\r' => UnitItem::Char(' '),
                    character => UnitItem::Char(character),
                });
                units.extend(chars.map(|item| Unit {
                    item,
                    marks: marks.clone(),
                    origin: origin.clone(),
                }));
                return;
            }
            "tab" => UnitItem::Char('\t'),
            "noBreakHyphen" => UnitItem::Char('\u{2011}'),
            "softHyphen" => UnitItem::Char('\u{ad}'),
            "cr" => UnitItem::Break,
            "br" if matches!(tree.attribute(element, "type").as_deref(), None | Some("textWrapping")) => {
                UnitItem::Break
            }
            "footnoteReference" => match self.footnote(element) {
                Some((id, text)) => {
                    let origin = Origin {
                        footnote: Some(id),
                        ..with_xml()
                    };
                    units_push(
                        &mut self.content.units,
                        UnitItem::Footnote(text),
                        Marks::default(),
                        origin,
                    );
                    return;
                }
                None => return self.run_island(element, with_xml(), properties),
            },
            "drawing" => match self.image(element) {
                Some(image) => {
                    let marks = Marks {
                        link: marks.link.clone(),
                        ..Marks::default()
                    };
                    units_push(&mut self.content.units, UnitItem::Image(image), marks, with_xml());
                    return;
                }
                None => return self.run_island(element, with_xml(), properties),
            },
            _ => return self.run_island(element, with_xml(), properties),
        };
        let marks = if item == UnitItem::Break {
            Marks::default()
        } else {
            marks.clone()
        };
        units_push(units, item, marks, with_xml());
    }

    fn run_island(&mut self, element: ElementId, origin: Origin, properties: Option<ElementId>) {
        let tree = self.tree();
        let kind = run_kind(tree, element);
        let mut text = shown_text(tree, element);
        if kind == "footnote" || kind == "endnote" {
            text = tree.attribute(element, "id").unwrap_or_default().into_owned();
        } else if let Some(described) = tree.descendants(element).find(|inner| tree.local(*inner) == "docPr")
            && text.trim().is_empty()
        {
            let attribute = |name| tree.attribute(described, name).filter(|value| !value.trim().is_empty());
            text = attribute("descr")
                .or_else(|| attribute("title"))
                .unwrap_or_default()
                .into_owned();
        }
        let properties = properties.map(|properties| tree.xml(properties).to_owned());
        self.island(
            tree.xml(element).to_owned(),
            IslandPlace::Run(properties),
            kind,
            &text,
            origin,
        );
    }

    fn footnote(&self, reference: ElementId) -> Option<(i64, String)> {
        let tree = self.tree();
        if tree.attribute(reference, "customMarkFollows").is_some() {
            return None;
        }
        let id = tree.attribute(reference, "id")?.trim().parse().ok()?;
        let text = self.reader.original.footnotes.text(id)?;
        Some((id, text))
    }

    /// A picture in the line of text whose file is part of the package.
    fn image(&self, drawing: ElementId) -> Option<Image> {
        let tree = self.tree();
        let mut children = tree.children(drawing);
        let inline = children
            .next()
            .filter(|inline| tree.is(*inline, Namespace::WordDrawing, "inline"))?;
        if children.next().is_some() {
            return None;
        }
        let find = |namespace, name: &str| tree.descendants(drawing).find(|inner| tree.is(*inner, namespace, name));
        let mut pictures = tree
            .descendants(drawing)
            .filter(|inner| tree.is(*inner, Namespace::Picture, "pic"));
        let (Some(_), None) = (pictures.next(), pictures.next()) else {
            return None;
        };
        let data = find(Namespace::Drawing, "graphicData")?;
        if !tree.attribute(data, "uri")?.ends_with("/picture") {
            return None;
        }
        let picture = find(Namespace::Drawing, "blip")?;
        let target = self
            .reader
            .original
            .relationships
            .get(&*tree.attribute(picture, "embed")?)?;
        let src = self.reader.original.image_id(&target.target)?.to_owned();
        let extent = tree
            .children(inline)
            .find(|child| tree.is(*child, Namespace::WordDrawing, "extent"))?;
        let properties = tree
            .children(inline)
            .find(|child| tree.is(*child, Namespace::WordDrawing, "docPr"))?;
        let size = |name| {
            let emu: u64 = tree.attribute(extent, name)?.parse().ok()?;
            u32::try_from((emu + EMU / 2) / EMU)
                .ok()
                .filter(|pixels| (1..=20_000).contains(pixels))
        };
        let limited = |name, most| {
            let value = tree.attribute(properties, name)?;
            Some(value.chars().take(most).collect::<String>()).filter(|value| !value.is_empty())
        };
        Some(Image {
            src,
            alt: limited("descr", 1000).unwrap_or_default(),
            title: limited("title", 127),
            width: size("cx"),
            height: size("cy"),
        })
    }
}

fn units_push(units: &mut Vec<Unit>, item: UnitItem, marks: Marks, origin: Origin) {
    units.push(Unit { item, marks, origin });
}

/// The web address in an instruction like `HYPERLINK "https://example.org" \o "Hint"`.
fn link_of_field(instruction: &str) -> Option<String> {
    let mut words = instruction.trim().splitn(2, char::is_whitespace);
    if !words.next()?.eq_ignore_ascii_case("HYPERLINK") {
        return None;
    }
    let rest = words.next()?.trim_start();
    let (href, switches) = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?,
        None => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
    };
    // A place inside of the target is part of no web address that the schema knows.
    (is_web_address(href) && !switches.contains("\\l")).then(|| href.to_owned())
}

/// Whether the schema allows a link to it.
pub fn is_web_address(href: &str) -> bool {
    let is_known = ["http://", "https://", "mailto:"].iter().any(|scheme| {
        href.get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
            && href.len() > scheme.len()
    });
    let is_clean = !href
        .chars()
        .any(|character| character.is_whitespace() || character.is_control());
    // Exactly as the schema: in lower case.
    is_known
        && is_clean
        && href.encode_utf16().count() <= 2048
        && href[..4].chars().all(|first| first.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::link_of_field;

    #[test]
    fn hyperlink_field_when_it_leads_to_the_web_is_a_link() {
        let address = Some("https://example.org".to_owned());
        assert_eq!(
            link_of_field(" HYPERLINK \"https://example.org\" \\o \"Hint\""),
            address
        );
        assert_eq!(link_of_field("hyperlink https://example.org"), address);
        assert_eq!(link_of_field(" HYPERLINK \"https://example.org/a b\" "), None);
        assert_eq!(link_of_field("HYPERLINK \\l \"_Toc1\""), None);
        assert_eq!(link_of_field("HYPERLINK \"https://example.org\" \\l \"part\""), None);
        assert_eq!(link_of_field("PAGE"), None);
    }
}
