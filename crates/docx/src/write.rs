//! Writes an edited document as a patch of the original file. A block that shows the same as the block it was read from
//! is copied byte for byte.

mod drawing;
mod lists;
mod paragraph;
mod runs;
mod table;

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::content::{DocxBlock, Island, Source, TextDocument};
use crate::error::{DocxError, DocxResult};
use crate::flat::{Flat, flatten};
use crate::limits::Limits;
use crate::numbering::Numbering;
use crate::original::OriginalFile;
use crate::package::{Changes, Package, PartType, Relationship, relative};
use crate::read::{IslandPlace, ReadDocument, SourceContent};
use crate::styles::Styles;
use crate::xml::Tree;

use lists::Lists;
pub(crate) use table::is_header;

const TYPES: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.";
const RELATIONSHIPS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const EMPTY_PARAGRAPH: &str = "<w:p/>";

/// A picture that was added to a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewImage {
    pub media_type: String,
    pub bytes: Vec<u8>,
}

/// Something that could not be written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SaveProblem {
    /// The file does not contain an island with this id.
    UnknownIsland(String),
    /// There is no picture with this id, or its type is not supported.
    UnknownImage(String),
}

/// The result of [`crate::save`].
#[derive(Debug)]
pub struct Saved {
    pub bytes: Vec<u8>,
    /// What was left out.
    pub problems: Vec<SaveProblem>,
}

/// Returns the picture with an id that is not part of the original file.
pub type ImageSource<'i> = dyn Fn(&str) -> Option<NewImage> + 'i;

struct DocxWriter<'w> {
    tree: &'w Tree,
    reading: &'w ReadDocument,
    styles: &'w mut Styles,
    numbering: &'w mut Numbering,
    footnotes: &'w mut crate::footnotes::Footnotes,
    relationships: &'w HashMap<String, Relationship>,
    images: &'w ImageSource<'w>,
    /// Blocks of the original that are in the document.
    present: HashSet<usize>,
    /// Blocks of the original whose bytes or start tag were used.
    used: HashSet<usize>,
    /// Starts of the ordered lists of the original by the number of the block of an item.
    list_starts: HashMap<usize, u32>,
    used_footnotes: HashSet<i64>,
    /// How many ends of a range were deleted, by kind and id of the range.
    deleted_ranges: HashMap<(String, String), usize>,
    added_relationships: Vec<Relationship>,
    /// Relationships to pictures that were added, by the id of the picture.
    added_images: HashMap<String, String>,
    media: Vec<(String, NewImage)>,
    parts: HashSet<String>,
    main_folder: String,
    last_drawing_id: u32,
    needs_relationship_prefix: bool,
    problems: BTreeSet<SaveProblem>,
    table_depth: usize,
}

/// What the writer produced.
struct Written {
    body: String,
    relationships: Vec<Relationship>,
    media: Vec<(String, NewImage)>,
    needs_relationship_prefix: bool,
    problems: BTreeSet<SaveProblem>,
}

/// Writes a document; see [`crate::save`].
pub fn save(bytes: &[u8], document: &TextDocument, images: &ImageSource<'_>, limits: &Limits) -> DocxResult<Saved> {
    let mut package = Package::open(bytes, limits)?;
    let mut original = OriginalFile::read(&mut package)?;
    if let Some(reason) = original.read_only_reason() {
        return Err(DocxError::ReadOnly(reason.message()));
    }
    let written = write(&package, &mut original, document, images, limits);
    let problems = written.problems.iter().cloned().collect();
    let changes = changes(&package, &mut original, written);
    let bytes = if changes.is_empty() {
        bytes.to_vec()
    } else {
        package.patched(&changes)?
    };
    Ok(Saved { bytes, problems })
}

fn write(
    package: &Package<'_>,
    original: &mut OriginalFile,
    document: &TextDocument,
    images: &ImageSource<'_>,
    limits: &Limits,
) -> Written {
    let reading = crate::read::read(original, limits);
    let present = lists::present_sources(&document.blocks);
    let mut writer = DocxWriter {
        tree: &original.tree,
        reading: &reading,
        styles: &mut original.styles,
        numbering: &mut original.numbering,
        footnotes: &mut original.footnotes,
        relationships: &original.relationships,
        images,
        deleted_ranges: deleted_ranges(&reading, &present),
        present,
        used: HashSet::new(),
        list_starts: lists::list_starts(&reading.document.blocks),
        used_footnotes: HashSet::new(),
        added_relationships: Vec::new(),
        added_images: HashMap::new(),
        media: Vec::new(),
        parts: package.part_names().map(str::to_lowercase).collect(),
        main_folder: folder(&package.main_part).to_owned(),
        last_drawing_id: drawing::last_id(&original.tree),
        needs_relationship_prefix: false,
        problems: BTreeSet::new(),
        table_depth: 0,
    };
    let body = writer.container(&document.blocks, Some(0));
    Written {
        body,
        relationships: writer.added_relationships,
        media: writer.media,
        needs_relationship_prefix: writer.needs_relationship_prefix,
        problems: writer.problems,
    }
}

/// The folder of a part, with a slash at its end unless it is empty.
fn folder(part: &str) -> &str {
    part.rfind('/').map_or("", |slash| &part[..=slash])
}

fn changes(package: &Package<'_>, original: &mut OriginalFile, written: Written) -> Changes {
    let mut changes = Changes::default();
    let main_part = &package.main_part;
    let mut relationships = written.relationships;
    let reference_style = if original.footnotes.is_changed() {
        original.styles.footnote_reference_or_added()
    } else {
        String::new()
    };
    let changed = [
        ("styles", original.styles.changed_part()),
        ("numbering", original.numbering.changed_part()),
        ("footnotes", original.footnotes.changed_part(&reference_style)),
    ];
    for (kind, xml) in changed {
        let Some(xml) = xml else { continue };
        let add_part = || {
            let part = format!("{}{kind}.xml", folder(main_part));
            relationships.push(Relationship {
                id: RelationshipIds::new(&original.relationships, &relationships).next(),
                kind: format!("{RELATIONSHIPS}/{kind}"),
                target: relative(main_part, &part),
                is_external: false,
            });
            changes
                .types
                .insert(PartType::Part(part.clone()), format!("{TYPES}{kind}+xml"));
            part
        };
        let part = original.part(kind).map_or_else(add_part, str::to_owned);
        changes.parts.insert(part, xml.into_bytes());
    }
    for (part, image) in written.media {
        let extension = part.rsplit('.').next().unwrap_or_default().to_owned();
        if package.content_type(&part).is_none() {
            changes
                .types
                .insert(PartType::Extension(extension), image.media_type.clone());
        }
        changes.parts.insert(part, image.bytes);
    }
    if !relationships.is_empty() {
        changes.relationships.insert(main_part.clone(), relationships);
    }
    let text = compose(original, &written.body, written.needs_relationship_prefix);
    if text.strip_prefix('\u{feff}').unwrap_or(&text) != original.tree.source {
        changes.parts.insert(main_part.clone(), text.into_bytes());
    }
    changes
}

/// The text of the main part with another body.
fn compose(original: &OriginalFile, body: &str, needs_relationship_prefix: bool) -> String {
    let tree = &original.tree;
    let element = tree.get(original.body);
    let mark = if tree.has_byte_order_mark { "\u{feff}" } else { "" };
    let root = tree.get(tree.root());
    let name_end = root.tag.start + 1 + tree.name(tree.root()).len();
    let declaration = if needs_relationship_prefix && tree.root_namespace("r").is_none() {
        format!(" xmlns:r=\"{RELATIONSHIPS}\"")
    } else {
        String::new()
    };
    let (before, after) = tree.source.split_at(name_end);
    if element.span == element.tag {
        let tag = tree.text_of(&element.tag).trim_end_matches("/>");
        let until = &after[..element.span.start - name_end];
        let rest = &tree.source[element.span.end..];
        return format!(
            "{mark}{before}{declaration}{until}{tag}>{body}</{}>{rest}",
            tree.name(original.body)
        );
    }
    let until = &after[..element.inner.start - name_end];
    format!(
        "{mark}{before}{declaration}{until}{body}{}",
        &tree.source[element.inner.end..]
    )
}

/// Free ids of relationships.
struct RelationshipIds {
    taken: HashSet<String>,
    next: usize,
}

impl RelationshipIds {
    fn new(relationships: &HashMap<String, Relationship>, added: &[Relationship]) -> Self {
        let added = added.iter().map(|relationship| relationship.id.clone());
        let taken: HashSet<String> = relationships.keys().cloned().chain(added).collect();
        Self {
            next: taken.len() + 1,
            taken,
        }
    }

    fn next(&mut self) -> String {
        loop {
            let id = format!("rId{}", self.next);
            self.next += 1;
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }
}

impl DocxWriter<'_> {
    /// Writes the blocks of the body or of a cell.
    fn container(&mut self, blocks: &[DocxBlock], container: Option<usize>) -> String {
        let flats = {
            let mut lists = Lists {
                numbering: self.numbering,
                reading: self.reading,
                starts: &self.list_starts,
            };
            flatten(blocks, &mut lists)
        };
        let mut leads = self.leads(container);
        let mut xml = String::new();
        let mut is_after_table = None;
        for flat in &flats {
            let table = match flat.block.as_ref() {
                DocxBlock::Table(table) => Some(table.source),
                _ => None,
            };
            if let (Some(before), Some(source)) = (is_after_table, table)
                && !self.is_next(before, source)
            {
                // Word would join the tables.
                xml.push_str(EMPTY_PARAGRAPH);
            }
            is_after_table = table;
            if let Some(lead) = flat_source(flat).and_then(|source| leads.remove(&source)) {
                xml.push_str(&lead);
            }
            xml.push_str(&self.block(flat));
        }
        let ends_with_table = match flats.last().map(|flat| flat.block.as_ref()) {
            None | Some(DocxBlock::Table(_)) => true,
            Some(DocxBlock::Island(island, _)) => self
                .reading
                .islands
                .get(&island.id)
                .is_some_and(|island| island.xml.ends_with("</w:tbl>")),
            Some(_) => false,
        };
        if self.table_depth > 0 && ends_with_table {
            // A cell ends with a paragraph.
            xml.push_str(EMPTY_PARAGRAPH);
        }
        xml.push_str(&leads.remove(&usize::MAX).unwrap_or_default());
        xml
    }

    /// The XML before each block of a container, and under the largest number the XML at its end. Elements
    /// before a deleted block move to the next one.
    fn leads(&self, container: Option<usize>) -> HashMap<usize, String> {
        let mut leads = HashMap::new();
        let Some(container) = container.and_then(|container| self.reading.containers.get(container)) else {
            return leads;
        };
        let mut kept = String::new();
        let mut position = container.inner.start;
        for number in &container.blocks {
            let block = &self.reading.sources[*number];
            let before = &self.tree.source[position..block.span.start];
            position = block.span.end;
            if self.present.contains(number) {
                leads.insert(*number, format!("{kept}{before}"));
                kept.clear();
            } else {
                kept.push_str(before.trim());
                if let SourceContent::Paragraph(paragraph) = &block.content {
                    // Half of a range whose other half still exists.
                    for marker in &paragraph.markers {
                        if marker
                            .range
                            .as_ref()
                            .is_some_and(|range| self.deleted_ranges.get(range) == Some(&1))
                        {
                            kept.push_str(&self.tree.source[marker.span.clone()]);
                        }
                    }
                }
            }
        }
        let end = &self.tree.source[position..container.inner.end];
        leads.insert(usize::MAX, format!("{kept}{end}"));
        leads
    }

    fn block(&mut self, flat: &Flat<'_>) -> String {
        match flat.block.as_ref() {
            DocxBlock::Paragraph(paragraph) => self.paragraph(paragraph, &flat.context),
            DocxBlock::Table(table) => self.table(table),
            DocxBlock::Rule(source) => {
                let is_rule = |content: &SourceContent| matches!(content, SourceContent::Rule);
                self.copied(*source, is_rule).unwrap_or_else(|| {
                    "<w:p><w:pPr><w:pBdr><w:bottom w:val=\"single\" w:sz=\"6\" w:space=\"1\" w:color=\"auto\"/></w:pBdr>\
                     </w:pPr></w:p>"
                        .to_owned()
                })
            }
            DocxBlock::PageBreak(source) => {
                let is_break = |content: &SourceContent| matches!(content, SourceContent::PageBreak);
                self.copied(*source, is_break)
                    .unwrap_or_else(|| "<w:p><w:r><w:br w:type=\"page\"/></w:r></w:p>".to_owned())
            }
            DocxBlock::Island(island, source) => self.block_island(island, *source),
            // Flat sequences contain neither.
            DocxBlock::Quote(_) | DocxBlock::List(_) => String::new(),
        }
    }

    /// The bytes of a block of the original that is used for the first time.
    fn copied(&mut self, source: Source, is_meant: impl Fn(&SourceContent) -> bool) -> Option<String> {
        let source = source?;
        let block = self
            .reading
            .sources
            .get(source)
            .filter(|block| is_meant(&block.content))?;
        self.used
            .insert(source)
            .then(|| self.tree.text_of(&block.span).to_owned())
    }

    /// Footnotes of a paragraph that is copied.
    fn mark_footnotes(&mut self, source: usize) {
        if let Some(SourceContent::Paragraph(paragraph)) = self.reading.sources.get(source).map(|block| &block.content)
        {
            self.used_footnotes
                .extend(paragraph.units.iter().filter_map(|unit| unit.origin.footnote));
        }
    }

    fn block_island(&mut self, island: &Island, source: Source) -> String {
        let Some(xml) = self.reading.islands.get(&island.id) else {
            self.problems.insert(SaveProblem::UnknownIsland(island.id.clone()));
            return EMPTY_PARAGRAPH.to_owned();
        };
        if let Some(source) = source {
            self.used.insert(source);
        }
        match &xml.place {
            IslandPlace::Block => xml.xml.clone(),
            IslandPlace::Paragraph => format!("<w:p>{}</w:p>", xml.xml),
            IslandPlace::Run(properties) => {
                format!(
                    "<w:p><w:r>{}{}</w:r></w:p>",
                    properties.as_deref().unwrap_or_default(),
                    xml.xml
                )
            }
            IslandPlace::Section => format!("<w:p><w:pPr>{}</w:pPr></w:p>", xml.xml),
        }
    }

    /// Whether a block followed another one in the original already.
    fn is_next(&self, before: Source, source: Source) -> bool {
        let (Some(before), Some(source)) = (before, source) else {
            return false;
        };
        let container = self
            .reading
            .sources
            .get(before)
            .and_then(|block| self.reading.containers.get(block.container));
        let blocks = container.map_or(&[][..], |container| &container.blocks);
        blocks.windows(2).any(|pair| pair == [before, source])
    }

    /// A new relationship of the main part.
    fn add_relationship(&mut self, kind: &str, target: String, is_external: bool) -> String {
        let id = RelationshipIds::new(self.relationships, &self.added_relationships).next();
        let kind = format!("{RELATIONSHIPS}/{kind}");
        self.added_relationships.push(Relationship {
            id: id.clone(),
            kind,
            target,
            is_external,
        });
        id
    }

    /// The id of a relationship to a web address.
    fn link_relationship(&mut self, href: &str) -> String {
        self.needs_relationship_prefix = true;
        let is_link = |relationship: &Relationship| {
            relationship.is_external
                && relationship.target == href
                && relationship.kind.rsplit('/').next() == Some("hyperlink")
        };
        let mut known: Vec<&Relationship> = self.relationships.values().filter(|known| is_link(known)).collect();
        known.sort_by(|one, other| one.id.cmp(&other.id));
        let known = known
            .first()
            .copied()
            .or_else(|| self.added_relationships.iter().find(|added| is_link(added)));
        match known {
            Some(known) => known.id.clone(),
            None => self.add_relationship("hyperlink", href.to_owned(), true),
        }
    }
}

fn flat_source(flat: &Flat<'_>) -> Source {
    match flat.block.as_ref() {
        DocxBlock::Paragraph(paragraph) => paragraph.source,
        DocxBlock::Table(table) => table.source,
        DocxBlock::Rule(source) | DocxBlock::PageBreak(source) | DocxBlock::Island(_, source) => *source,
        DocxBlock::Quote(_) | DocxBlock::List(_) => None,
    }
}

/// Counts the ends of ranges in paragraphs that are not in the document any more.
fn deleted_ranges(reading: &ReadDocument, present: &HashSet<usize>) -> HashMap<(String, String), usize> {
    let mut ranges = HashMap::new();
    for (_, block) in reading
        .sources
        .iter()
        .enumerate()
        .filter(|(number, _)| !present.contains(number))
    {
        if let SourceContent::Paragraph(paragraph) = &block.content {
            for range in paragraph.markers.iter().filter_map(|marker| marker.range.clone()) {
                *ranges.entry(range).or_default() += 1;
            }
        }
    }
    ranges
}
