//! Writes the content of a paragraph as runs. Characters that were there before keep their run properties; new ones take
//! those of the text before them.

use std::collections::HashMap;
use std::ops::Range;

use crate::content::Marks;
use crate::format::{apply_marks, read_marks};
use crate::properties::{Properties, RUN};
use crate::read::IslandPlace;
use crate::units::{LinkOrigin, Unit, UnitItem, align};
use crate::write::paragraph::Base;
use crate::write::{DocxWriter, SaveProblem};
use crate::xml::{ElementId, push, push_escaped};

/// The formatting that a character starts from.
#[derive(Clone, Default)]
struct Format {
    /// The run properties in the original, and the marks that they show.
    properties: Option<Range<usize>>,
    marks: Marks,
    link: Option<LinkOrigin>,
}

impl Format {
    fn of(unit: &Unit) -> Self {
        Self {
            properties: unit.origin.properties.clone(),
            marks: unit.marks.clone(),
            link: unit.origin.link.clone(),
        }
    }
}

/// XML that is being written, with its open elements.
struct RunOutput<'x> {
    xml: &'x mut String,
    /// What opened the link, and what closes it.
    link: Option<(String, String)>,
    /// The properties of the open run.
    run: Option<String>,
    is_in_text: bool,
}

impl RunOutput<'_> {
    fn end_text(&mut self) {
        if self.is_in_text {
            self.xml.push_str("</w:t>");
            self.is_in_text = false;
        }
    }

    fn end_run(&mut self) {
        self.end_text();
        if self.run.take().is_some() {
            self.xml.push_str("</w:r>");
        }
    }

    fn end_link(&mut self) {
        self.end_run();
        if let Some((_, close)) = self.link.take() {
            self.xml.push_str(&close);
        }
    }

    fn start_run(&mut self, link: Option<(String, String)>, properties: &str) {
        if self.link != link {
            self.end_link();
            if let Some((open, _)) = &link {
                self.xml.push_str(open);
            }
            self.link = link;
        }
        if self.run.as_deref() != Some(properties) {
            self.end_run();
            self.xml.push_str("<w:r>");
            self.xml.push_str(properties);
            self.run = Some(properties.to_owned());
        }
    }

    /// An element inside of the open run.
    fn item(&mut self, xml: &str) {
        self.end_text();
        self.xml.push_str(xml);
    }

    fn character(&mut self, character: char) {
        if !self.is_in_text {
            self.xml.push_str("<w:t xml:space=\"preserve\">");
            self.is_in_text = true;
        }
        push_escaped(self.xml, character.encode_utf8(&mut [0; 4]));
    }
}

type Cache = HashMap<(Option<Range<usize>>, String), String>;

impl DocxWriter<'_> {
    pub(super) fn push_content(&mut self, xml: &mut String, base: Option<Base<'_>>, units: &[Unit]) {
        let old: &[Unit] = base.map_or(&[], |base| &base.read.units);
        let aligned = align(old, units);
        let mut markers = base
            .filter(|base| base.is_first)
            .map_or(&[][..], |base| &base.read.markers)
            .iter()
            .peekable();
        let mut unmatched = unmatched_footnotes(old, &aligned);
        let mut output = RunOutput {
            xml,
            link: None,
            run: None,
            is_in_text: false,
        };
        let mut format = first_format(self, base, old, &aligned);
        let mut cache = Cache::new();
        for (unit, aligned) in units.iter().zip(&aligned) {
            let before = aligned.map(|index| &old[index]);
            if let Some(index) = *aligned {
                while let Some(marker) = markers.next_if(|marker| marker.before <= index) {
                    output.end_link();
                    output.xml.push_str(self.tree.text_of(&marker.span));
                }
            }
            // Objects do not show the formatting of their run.
            let own = before.map(Format::of);
            if let (Some(own), UnitItem::Char(_)) = (&own, &unit.item) {
                format = own.clone();
            }
            match &unit.item {
                UnitItem::Island(island) => self.push_island(&mut output, &island.id),
                UnitItem::Footnote(text) => {
                    let kept = before.and_then(|before| before.origin.footnote.map(|id| (before, id)));
                    let kept = kept.filter(|(_, id)| self.used_footnotes.insert(*id));
                    if let Some((before, _)) = kept
                        && let Some(reference) = &before.origin.xml
                    {
                        let properties = before
                            .origin
                            .properties
                            .as_ref()
                            .map_or("", |span| self.tree.text_of(span));
                        output.start_run(None, properties);
                        output.item(self.tree.text_of(reference));
                    } else {
                        let id = self.footnote_id(text, &mut unmatched);
                        let style = self.styles.footnote_reference_or_added();
                        output.start_run(None, &format!("<w:rPr><w:rStyle w:val=\"{style}\"/></w:rPr>"));
                        output.item(&format!("<w:footnoteReference w:id=\"{id}\"/>"));
                    }
                }
                UnitItem::Image(image) => {
                    let drawing = before.and_then(|before| before.origin.xml.clone());
                    let drawing = match drawing {
                        Some(span) => Some(self.tree.text_of(&span).to_owned()),
                        None => self.drawing(image),
                    };
                    let Some(drawing) = drawing else {
                        self.problems.insert(SaveProblem::UnknownImage(image.src.clone()));
                        continue;
                    };
                    let link = self.link_tag(unit.marks.link.as_deref(), own.as_ref());
                    let properties = own.and_then(|own| own.properties);
                    let properties = properties.map_or("", |span| self.tree.text_of(&span));
                    output.start_run(link, properties);
                    output.item(&drawing);
                }
                UnitItem::Char(_) | UnitItem::Break => {
                    let start = if unit.item == UnitItem::Break {
                        own.as_ref().unwrap_or(&format)
                    } else {
                        &format
                    };
                    let marks = if unit.item == UnitItem::Break {
                        &start.marks
                    } else {
                        &unit.marks
                    };
                    let link = self.link_tag(marks.link.as_deref(), Some(start));
                    let properties = self.run_properties(&mut cache, start, marks);
                    output.start_run(link, &properties);
                    match (&unit.item, before.and_then(|before| before.origin.xml.as_ref())) {
                        (_, Some(span)) => output.item(self.tree.text_of(span)),
                        (UnitItem::Break, None) => output.item("<w:br/>"),
                        (UnitItem::Char('\t'), None) => output.item("<w:tab/>"),
                        (UnitItem::Char(character), None) => output.character(*character),
                        _ => {}
                    }
                }
            }
        }
        output.end_link();
        for marker in markers {
            output.xml.push_str(self.tree.text_of(&marker.span));
        }
    }

    fn push_island(&mut self, output: &mut RunOutput<'_>, id: &str) {
        let Some(island) = self.reading.islands.get(id) else {
            self.problems.insert(SaveProblem::UnknownIsland(id.to_owned()));
            return;
        };
        match &island.place {
            // It is written with the properties of the paragraph.
            IslandPlace::Section => {}
            IslandPlace::Paragraph => {
                output.end_link();
                output.xml.push_str(&island.xml);
            }
            IslandPlace::Run(properties) => {
                output.end_link();
                push!(
                    output.xml,
                    "<w:r>{}{}</w:r>",
                    properties.as_deref().unwrap_or_default(),
                    island.xml
                );
            }
            // Blocks cannot stand in a paragraph.
            IslandPlace::Block => {
                self.problems.insert(SaveProblem::UnknownIsland(id.to_owned()));
            }
        }
    }

    /// What opens and closes a link.
    fn link_tag(&mut self, href: Option<&str>, format: Option<&Format>) -> Option<(String, String)> {
        let href = href?;
        let original = format.filter(|format| format.marks.link.as_deref() == Some(href));
        let end = "</w:hyperlink>";
        if let Some(origin) = original.and_then(|format| format.link.as_ref()) {
            let close = origin.close.as_ref().map_or(end, |close| self.tree.text_of(close));
            return Some((self.tree.text_of(&origin.open).to_owned(), close.to_owned()));
        }
        let id = self.link_relationship(href);
        Some((format!("<w:hyperlink r:id=\"{id}\" w:history=\"1\">"), end.to_owned()))
    }

    fn run_properties(&mut self, cache: &mut Cache, format: &Format, marks: &Marks) -> String {
        if format.marks == *marks {
            return format
                .properties
                .as_ref()
                .map_or(String::new(), |span| self.tree.text_of(span).to_owned());
        }
        let key = (format.properties.clone(), format!("{:?}{marks:?}", format.marks));
        if let Some(known) = cache.get(&key) {
            return known.clone();
        }
        let tree = self.tree;
        let element = format.properties.as_ref().and_then(|span| self.run_properties_at(span));
        let mut properties = Properties::read(tree, element);
        let mut style = element
            .and_then(|element| tree.child_value(element, "rStyle"))
            .map(std::borrow::Cow::into_owned);
        if marks.link.is_none() != format.marks.link.is_none() {
            let link_style = self.styles.hyperlink_or_added();
            if marks.link.is_none() && style.as_deref() == Some(&link_style) {
                properties.remove(&["rStyle"]);
                style = None;
            } else if marks.link.is_some() && style.is_none() {
                properties.set(RUN, "rStyle", format!("<w:rStyle w:val=\"{link_style}\"/>"));
                style = Some(link_style);
            }
        }
        apply_marks(&mut properties, self.styles, style.as_deref(), &format.marks, marks);
        let xml = properties.xml("w:rPr");
        cache.insert(key, xml.clone());
        xml
    }

    fn run_properties_at(&self, span: &Range<usize>) -> Option<ElementId> {
        self.tree.element_at(span.start)
    }

    fn footnote_id(&mut self, text: &str, unmatched: &mut Vec<i64>) -> i64 {
        while let Some(id) = unmatched.pop() {
            if self.used_footnotes.insert(id) {
                self.footnotes.change(id, text);
                return id;
            }
        }
        self.footnotes.add(text)
    }
}

/// Footnotes of a paragraph that were removed or got another text, the last one first.
fn unmatched_footnotes(old: &[Unit], aligned: &[Option<usize>]) -> Vec<i64> {
    let matched: std::collections::HashSet<usize> = aligned.iter().flatten().copied().collect();
    let units = old
        .iter()
        .enumerate()
        .rev()
        .filter(|(index, _)| !matched.contains(index));
    units.filter_map(|(_, unit)| unit.origin.footnote).collect()
}

/// What text at the beginning of a paragraph looks like: like its first character, or like the paragraph mark.
fn first_format(writer: &DocxWriter<'_>, base: Option<Base<'_>>, old: &[Unit], aligned: &[Option<usize>]) -> Format {
    let is_char = |unit: &&Unit| matches!(unit.item, UnitItem::Char(_));
    let kept = aligned.iter().flatten().map(|index| &old[*index]).find(is_char);
    if let Some(unit) = kept.or_else(|| old.iter().find(is_char)) {
        return Format::of(unit);
    }
    let tree = writer.tree;
    let properties = base.and_then(|base| tree.child(base.element, "pPr"));
    let mark = properties
        .and_then(|properties| tree.child(properties, "rPr"))
        .filter(|mark| {
            // Changes of the paragraph mark are no formatting of text.
            let is_change = |name: &str| matches!(name, "ins" | "del" | "moveFrom" | "moveTo" | "rPrChange");
            !tree.children(*mark).any(|child| is_change(tree.word(child)))
        });
    Format {
        properties: mark.map(|mark| tree.get(mark).span.clone()),
        marks: read_marks(tree, writer.styles, mark, false),
        link: None,
    }
}
