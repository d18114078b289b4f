//! Reads the main part of a document. Every block gets a number, its `source`, under which the writer finds the bytes
//! it was read from.

mod inline;
pub mod table;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::content::{Align, DocxBlock, Island, Item, ListKind, Paragraph, ParagraphKind, TextDocument};
use crate::flat::{BlockContext, Flat, ListPosition, nest};
use crate::limits::Limits;
use crate::numbering::{Counters, LEVEL_MAX, LevelFormat, left_indent};
use crate::original::OriginalFile;
use crate::read::table::{SourceCell, SourceRow, SourceTable};
use crate::styles::StyleRole;
use crate::units::{Marker, Unit};
use crate::xml::{ElementId, Namespace, Tree};

/// The beginning of the text of an island, which is shown to users.
const LABEL_MAX: usize = 80;

/// The length of an id of a style in the schema.
const STYLE_MAX: usize = 255;

/// A block of the original file.
#[derive(Debug)]
pub struct SourceBlock {
    pub element: ElementId,
    /// Several elements if a field extends over them.
    pub span: Range<usize>,
    pub container: usize,
    pub content: SourceContent,
}

#[derive(Debug)]
pub enum SourceContent {
    Paragraph(Box<SourceParagraph>),
    Table(SourceTable),
    Row(SourceRow),
    Cell(SourceCell),
    Rule,
    PageBreak,
    Island,
}

/// What was read from a paragraph.
#[derive(Debug)]
pub struct SourceParagraph {
    /// Without content, which is in `units`.
    pub paragraph: Paragraph,
    pub context: BlockContext,
    pub units: Vec<Unit>,
    pub markers: Vec<Marker>,
    pub checkbox: Option<Checkbox>,
}

/// The check box before the text of an item of a check list.
#[derive(Debug, Clone)]
pub struct Checkbox {
    pub checked: bool,
    /// With the space that follows.
    pub span: Range<usize>,
}

/// The body or a cell: blocks between which other elements may stand.
#[derive(Debug)]
pub struct Container {
    pub inner: Range<usize>,
    /// Numbers of the blocks.
    pub blocks: Vec<usize>,
}

/// The XML of an island.
#[derive(Debug, Clone)]
pub struct IslandXml {
    pub xml: String,
    pub place: IslandPlace,
    pub kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IslandPlace {
    Block,
    Paragraph,
    /// Inside of a run with these properties.
    Run(Option<String>),
    /// In the properties of a paragraph.
    Section,
}

/// The result of reading a document.
#[derive(Debug)]
pub struct ReadDocument {
    pub document: TextDocument,
    pub sources: Vec<SourceBlock>,
    pub containers: Vec<Container>,
    pub islands: HashMap<String, IslandXml>,
}

pub(crate) struct DocxReader<'o> {
    original: &'o OriginalFile,
    tree: &'o Tree,
    sources: Vec<SourceBlock>,
    containers: Vec<Container>,
    islands: HashMap<String, IslandXml>,
    counters: Counters,
    /// Tables around the current block.
    nesting: usize,
    nesting_max: usize,
}

/// Elements between blocks or runs that mark a position and show nothing.
pub(crate) fn is_marker(tree: &Tree, element: ElementId) -> bool {
    matches!(
        tree.word(element),
        "bookmarkStart"
            | "bookmarkEnd"
            | "commentRangeStart"
            | "commentRangeEnd"
            | "permStart"
            | "permEnd"
            | "moveFromRangeStart"
            | "moveFromRangeEnd"
            | "moveToRangeStart"
            | "moveToRangeEnd"
            | "customXmlInsRangeStart"
            | "customXmlInsRangeEnd"
            | "customXmlDelRangeStart"
            | "customXmlDelRangeEnd"
            | "customXmlMoveFromRangeStart"
            | "customXmlMoveFromRangeEnd"
            | "customXmlMoveToRangeStart"
            | "customXmlMoveToRangeEnd"
    )
}

/// How many fields begin inside of an element minus how many end.
fn open_fields(tree: &Tree, element: ElementId) -> (i32, bool) {
    let (mut open, mut has_field) = (0, false);
    for descendant in std::iter::once(element).chain(tree.descendants(element)) {
        if tree.word(descendant) == "fldChar" {
            has_field = true;
            match tree.attribute(descendant, "fldCharType").as_deref() {
                Some("begin") => open += 1,
                Some("end") => open -= 1,
                _ => {}
            }
        }
    }
    (open, has_field)
}

/// The text that an element shows.
fn shown_text(tree: &Tree, element: ElementId) -> String {
    let mut text = String::new();
    for descendant in std::iter::once(element).chain(tree.descendants(element)) {
        if text.len() > LABEL_MAX * 8 {
            break;
        }
        match (tree.get(descendant).namespace, tree.local(descendant)) {
            (Namespace::Word | Namespace::Math | Namespace::Drawing, "t") | (Namespace::Word, "delText") => {
                text.push_str(&tree.text(descendant));
            }
            (Namespace::Word, "tab" | "br" | "cr" | "p") => text.push(' '),
            _ => {}
        }
    }
    text
}

/// A text in one line that is short enough for a label.
fn label(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text: String = text.chars().filter(|character| !character.is_control()).collect();
    if text.chars().count() > LABEL_MAX {
        text.chars().take(LABEL_MAX).chain(['…']).collect()
    } else {
        text
    }
}

pub fn read(original: &OriginalFile, limits: &Limits) -> ReadDocument {
    let mut reader = DocxReader {
        original,
        tree: &original.tree,
        sources: Vec::new(),
        containers: Vec::new(),
        islands: HashMap::new(),
        counters: Counters::default(),
        nesting: 0,
        nesting_max: limits.nesting,
    };
    let mut blocks = reader.container(original.body, &[]);
    if blocks.is_empty() {
        blocks.push(DocxBlock::Paragraph(empty_paragraph()));
    }
    let document = TextDocument {
        language: original.styles.language.clone(),
        blocks,
    };
    let DocxReader {
        sources,
        containers,
        islands,
        ..
    } = reader;
    ReadDocument {
        document,
        sources,
        containers,
        islands,
    }
}

pub const fn empty_paragraph() -> Paragraph {
    Paragraph {
        kind: ParagraphKind::Body,
        align: None,
        style: None,
        source: None,
        content: Vec::new(),
    }
}

/// An island of an opened file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IslandSummary {
    pub id: String,
    /// What it is: for example `chart`, `field`, `content_control`, `tracked_change`.
    pub kind: String,
    /// The beginning of its text, or the description of a picture. May be empty.
    pub label: String,
}

impl ReadDocument {
    pub fn summaries(&self) -> Vec<IslandSummary> {
        let mut found = Vec::new();
        visit_islands(&self.document.blocks, &mut |island| {
            let Island { id, label, kind } = island.clone();
            found.push(IslandSummary { id, kind, label });
        });
        found
    }
}

fn visit_islands(blocks: &[DocxBlock], see: &mut dyn FnMut(&Island)) {
    for block in blocks {
        match block {
            DocxBlock::Island(island, _) => see(island),
            DocxBlock::Paragraph(paragraph) => {
                for inline in &paragraph.content {
                    if let Item::Island(island) = &inline.item {
                        see(island);
                    }
                }
            }
            DocxBlock::Quote(blocks) => visit_islands(blocks, see),
            DocxBlock::List(list) => list.items.iter().for_each(|item| visit_islands(&item.blocks, see)),
            DocxBlock::Table(table) => {
                table
                    .rows
                    .iter()
                    .flat_map(|row| &row.cells)
                    .for_each(|cell| visit_islands(&cell.blocks, see));
            }
            DocxBlock::Rule(_) | DocxBlock::PageBreak(_) => {}
        }
    }
}

impl DocxReader<'_> {
    /// Reads the blocks of the body or of a cell. Elements with the given names are no content.
    fn container(&mut self, parent: ElementId, properties: &[&str]) -> Vec<DocxBlock> {
        let tree = self.tree;
        let container = self.containers.len();
        let children: Vec<ElementId> = tree.children(parent).collect();
        let mut inner = tree.get(parent).inner.clone();
        for child in children.iter().filter(|child| properties.contains(&tree.word(**child))) {
            inner.start = tree.get(*child).span.end;
        }
        self.containers.push(Container {
            inner,
            blocks: Vec::new(),
        });
        let mut flats: Vec<Flat<'static>> = Vec::new();
        let mut open_lists: Vec<ListPosition> = Vec::new();
        let mut index = 0;
        while index < children.len() {
            let start = index;
            let first = children[start];
            let mut last = start;
            let (mut open, _) = open_fields(tree, first);
            if open > 0 {
                // A field that is never closed does not extend beyond its paragraph.
                let mut end = start;
                while open > 0 && end + 1 < children.len() {
                    end += 1;
                    open += open_fields(tree, children[end]).0;
                }
                if open == 0 {
                    last = end;
                }
            }
            index = last + 1;
            if last > start {
                let end = tree.get(children[last]).span.end;
                let text = shown_text(tree, first);
                flats.push(self.block_island(first, tree.get(first).span.start..end, container, "field", &text));
                open_lists.clear();
                continue;
            }
            let word = tree.word(first);
            if is_marker(tree, first) || word == "proofErr" || properties.contains(&word) {
                continue;
            }
            if word == "sectPr" && parent == self.original.body && last + 1 == children.len() {
                continue;
            }
            let flat = match word {
                "p" => self.paragraph(first, container, &open_lists),
                "tbl" => self.table(first, container),
                _ => {
                    let kind = block_kind(tree, first);
                    let text = shown_text(tree, first);
                    self.block_island(first, tree.get(first).span.clone(), container, kind, &text)
                }
            };
            update_open_lists(&mut open_lists, flat.context.list);
            flats.push(flat);
        }
        nest(flats)
    }

    fn add_source(
        &mut self,
        element: ElementId,
        span: Range<usize>,
        container: usize,
        content: SourceContent,
    ) -> usize {
        let source = self.sources.len();
        self.sources.push(SourceBlock {
            element,
            span,
            container,
            content,
        });
        if let Some(container) = self.containers.get_mut(container) {
            container.blocks.push(source);
        }
        source
    }

    fn add_island(&mut self, xml: String, place: IslandPlace, kind: &'static str, text: &str) -> Island {
        let id = format!("island-{}", self.islands.len());
        self.islands.insert(id.clone(), IslandXml { xml, place, kind });
        Island {
            id,
            label: label(text),
            kind: kind.to_owned(),
        }
    }

    fn block_island(
        &mut self,
        element: ElementId,
        span: Range<usize>,
        container: usize,
        kind: &'static str,
        text: &str,
    ) -> Flat<'static> {
        let xml = self.tree.text_of(&span).to_owned();
        let island = self.add_island(xml, IslandPlace::Block, kind, text);
        let source = self.add_source(element, span, container, SourceContent::Island);
        Flat {
            block: Cow::Owned(DocxBlock::Island(island, Some(source))),
            context: BlockContext::default(),
        }
    }

    fn paragraph(&mut self, element: ElementId, container: usize, open_lists: &[ListPosition]) -> Flat<'static> {
        let tree = self.tree;
        let span = tree.get(element).span.clone();
        if let Some(kind) = inline::obstacle(tree, element) {
            let text = shown_text(tree, element);
            return self.block_island(element, span, container, kind, &text);
        }
        let properties = tree.child(element, "pPr");
        let content = inline::read(self, element);
        if content.units.is_empty() && content.markers.is_empty() && is_rule(tree, properties) {
            let source = self.add_source(element, span, container, SourceContent::Rule);
            return Flat {
                block: Cow::Owned(DocxBlock::Rule(Some(source))),
                context: BlockContext::default(),
            };
        }
        if content.is_page_break(&self.islands) && content.markers.is_empty() {
            let source = self.add_source(element, span, container, SourceContent::PageBreak);
            return Flat {
                block: Cow::Owned(DocxBlock::PageBreak(Some(source))),
                context: BlockContext::default(),
            };
        }
        let mut paragraph = empty_paragraph();
        let mut context = BlockContext::default();
        let mut checkbox = None;
        self.read_style(properties, &content.units, &mut paragraph, &mut context);
        if let Some(properties) = properties {
            paragraph.align = tree.child_value(properties, "jc").and_then(|value| align(&value));
        }
        let mut content = content;
        if paragraph.kind == ParagraphKind::Code {
            // The schema has no alignment for code.
            paragraph.align = None;
        }
        if paragraph.kind == ParagraphKind::Body {
            context.list = self.list_position(properties, open_lists);
            if let Some(position) = &mut context.list
                && !position.continues
                && let Some(found) = content.checkbox.take()
            {
                position.kind = ListKind::Check;
                position.checked = found.checked;
                content.remove_first(found.units);
                checkbox = Some(Checkbox {
                    checked: found.checked,
                    span: found.span,
                });
            }
            if checkbox.is_none()
                && context
                    .list
                    .is_some_and(|position| position.kind == ListKind::Check && !position.continues)
            {
                context.list = None;
            }
        } else if let Some((number, level)) = self.numbering_of(properties) {
            // A numbered heading is no item of a list, but it counts.
            self.counters.next(&self.original.numbering, number, level);
        }
        if paragraph.kind == ParagraphKind::Body
            && let Some(style) = self.own_style(properties, context.is_quote, context.list.is_some())
        {
            paragraph.style = Some(style);
        }
        let source = self.add_source(element, span, container, SourceContent::Rule);
        paragraph.source = Some(source);
        let mut shown = paragraph.clone();
        shown.content = crate::units::to_inlines(&content.units, paragraph.kind == ParagraphKind::Code);
        let read = SourceParagraph {
            paragraph,
            context,
            units: content.units,
            markers: content.markers,
            checkbox,
        };
        self.sources[source].content = SourceContent::Paragraph(Box::new(read));
        Flat {
            block: Cow::Owned(DocxBlock::Paragraph(shown)),
            context,
        }
    }

    fn style_id(&self, properties: Option<ElementId>) -> Option<String> {
        let style = self.tree.child_value(properties?, "pStyle")?;
        self.original
            .styles
            .has_paragraph_style(&style)
            .then(|| style.into_owned())
    }

    fn read_style(
        &self,
        properties: Option<ElementId>,
        units: &[Unit],
        paragraph: &mut Paragraph,
        context: &mut BlockContext,
    ) {
        let styles = &self.original.styles;
        let style = self.style_id(properties);
        let own_outline = properties.and_then(|properties| self.tree.child_value(properties, "outlineLvl"));
        let own_outline: Option<u8> = own_outline.and_then(|level| level.parse().ok());
        let role = match (styles.role(style.as_deref()), own_outline) {
            (StyleRole::Body, Some(level @ 0..=8)) => StyleRole::Heading(level + 1),
            (StyleRole::Heading(_), Some(9..)) => StyleRole::Body,
            (role, _) => role,
        };
        match role {
            StyleRole::Heading(level) => {
                paragraph.kind = ParagraphKind::Heading(level.min(4));
                let usual = styles.usual(paragraph.kind, false, false);
                paragraph.style = style.filter(|style| Some(style.as_str()) != usual && style.len() <= STYLE_MAX);
            }
            StyleRole::Code if units.iter().all(Unit::is_plain) => paragraph.kind = ParagraphKind::Code,
            StyleRole::Quote => context.is_quote = true,
            StyleRole::Code | StyleRole::Body | StyleRole::ListParagraph => {}
        }
    }

    /// The style of a body paragraph if it is not the usual one.
    fn own_style(&self, properties: Option<ElementId>, is_quote: bool, is_list: bool) -> Option<String> {
        let styles = &self.original.styles;
        let style = self.style_id(properties)?;
        let usual = styles.usual(ParagraphKind::Body, is_quote, is_list);
        let is_usual = usual == Some(style.as_str()) || (!is_quote && styles.is_default_paragraph(&style));
        (!is_usual && style.len() <= STYLE_MAX).then_some(style)
    }

    /// Number and level of the list of a paragraph.
    fn numbering_of(&self, properties: Option<ElementId>) -> Option<(u32, u8)> {
        let tree = self.tree;
        let own = properties.and_then(|properties| tree.child(properties, "numPr"));
        let value = |name| {
            own.and_then(|own| tree.child_value(own, name))
                .and_then(|value| value.trim().parse::<u32>().ok())
        };
        let style = properties.and_then(|properties| tree.child_value(properties, "pStyle"));
        let by_style = self.original.styles.numbering(style.as_deref());
        let number = value("numId").or(by_style.map(|(number, _)| number))?;
        let level = value("ilvl").and_then(|level| u8::try_from(level).ok());
        let level = level
            .or(by_style.map(|(_, level)| level))
            .unwrap_or_default()
            .min(LEVEL_MAX);
        (number != 0).then_some((number, level))
    }

    fn list_position(&mut self, properties: Option<ElementId>, open_lists: &[ListPosition]) -> Option<ListPosition> {
        let numbering = &self.original.numbering;
        let Some((number, level)) = self.numbering_of(properties) else {
            return self.continued_position(properties?, open_lists);
        };
        let format = numbering.level(number, level)?.format;
        let count = self.counters.next(numbering, number, level);
        let kind = match format {
            LevelFormat::Bullet => ListKind::Bullet,
            LevelFormat::Ordered(format) => ListKind::Ordered {
                start: count.min(1_000_000),
                format,
            },
            // The number is written out in the text, or there is a check box.
            LevelFormat::None => ListKind::Check,
        };
        Some(ListPosition {
            number,
            level,
            kind,
            checked: false,
            continues: false,
        })
    }

    /// A paragraph below an item of a list, indented like its text, is part of the item.
    fn continued_position(&self, properties: ElementId, open_lists: &[ListPosition]) -> Option<ListPosition> {
        let indent = left_indent(self.tree, self.tree.child(properties, "ind")?)?;
        let position = open_lists.iter().rev().find(|position| {
            let level = self.original.numbering.level(position.number, position.level);
            level.is_some_and(|level| level.left == Some(indent))
        })?;
        Some(ListPosition {
            continues: true,
            ..*position
        })
    }
}

/// The positions of the items that a further paragraph can belong to, from the outermost to the innermost.
fn update_open_lists(open_lists: &mut Vec<ListPosition>, position: Option<ListPosition>) {
    let Some(position) = position else {
        return open_lists.clear();
    };
    open_lists.retain(|open| open.level < position.level || (position.continues && open.level == position.level));
    if !position.continues {
        open_lists.push(position);
    }
}

fn align(value: &str) -> Option<Align> {
    match value {
        "left" | "start" => Some(Align::Left),
        "center" => Some(Align::Center),
        "right" | "end" => Some(Align::Right),
        "both" => Some(Align::Justify),
        _ => None,
    }
}

/// Whether a paragraph without content is a line: it has a border above or below, but none at the sides.
fn is_rule(tree: &Tree, properties: Option<ElementId>) -> bool {
    let Some(properties) = properties else { return false };
    let Some(borders) = tree.child(properties, "pBdr") else {
        return false;
    };
    let has = |side| {
        let value = tree.child_value(borders, side);
        value.is_some_and(|value| !matches!(&*value, "none" | "nil"))
    };
    let is_in_section = tree.child(properties, "sectPr").is_some();
    (has("top") != has("bottom")) && !has("left") && !has("right") && !is_in_section
}

fn block_kind(tree: &Tree, element: ElementId) -> &'static str {
    match tree.word(element) {
        "sdt" => "content_control",
        "ins" | "del" | "moveFrom" | "moveTo" => "tracked_change",
        "sectPr" => "section_break",
        "altChunk" => "embedded_document",
        _ if tree.get(element).namespace == Namespace::Math => "equation",
        _ => "other",
    }
}
