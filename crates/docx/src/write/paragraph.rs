//! Writes paragraphs: an unchanged one is copied, a changed one keeps its properties as far as they still apply.

use crate::content::{Align, ListKind, Paragraph, ParagraphKind};
use crate::flat::BlockContext;
use crate::properties::{PARAGRAPH, Properties};
use crate::read::{IslandPlace, SourceContent, SourceParagraph};
use crate::styles::StyleRole;
use crate::units::{Unit, from_inlines};
use crate::write::DocxWriter;
use crate::xml::{ElementId, escaped};

/// A paragraph of the original that another one is made from.
#[derive(Clone, Copy)]
pub(super) struct Base<'p> {
    pub read: &'p SourceParagraph,
    pub element: ElementId,
    /// Whether no other paragraph was made from it. Ids and section breaks are used once.
    pub is_first: bool,
}

impl DocxWriter<'_> {
    pub(super) fn paragraph(&mut self, paragraph: &Paragraph, context: &BlockContext) -> String {
        let units = from_inlines(&paragraph.content, paragraph.kind == ParagraphKind::Code);
        let reading = self.reading;
        let source = paragraph
            .source
            .and_then(|source| Some((source, reading.sources.get(source)?)));
        let Some((source, block)) = source else {
            return self.rebuilt(None, paragraph, context, &units);
        };
        let SourceContent::Paragraph(read) = &block.content else {
            return self.rebuilt(None, paragraph, context, &units);
        };
        let is_first = !self.used.contains(&source);
        if is_first && is_unchanged(read, paragraph, context, &units) {
            self.used.insert(source);
            self.mark_footnotes(source);
            return self.tree.text_of(&block.span).to_owned();
        }
        self.used.insert(source);
        self.rebuilt(
            Some(Base {
                read,
                element: block.element,
                is_first,
            }),
            paragraph,
            context,
            &units,
        )
    }

    fn rebuilt(
        &mut self,
        base: Option<Base<'_>>,
        paragraph: &Paragraph,
        context: &BlockContext,
        units: &[Unit],
    ) -> String {
        let tree = self.tree;
        let (tag, end) = match base.filter(|base| base.is_first) {
            Some(base) => {
                let tag = tree.text_of(&tree.get(base.element).tag);
                let tag = tag
                    .strip_suffix("/>")
                    .map_or_else(|| tag.to_owned(), |open| format!("{open}>"));
                (tag, format!("</{}>", tree.name(base.element)))
            }
            None => ("<w:p>".to_owned(), "</w:p>".to_owned()),
        };
        let properties = self.paragraph_properties(base, paragraph, context, units);
        let mut xml = tag;
        xml.push_str(&properties.xml("w:pPr"));
        if let Some(position) = context
            .list
            .filter(|position| position.kind == ListKind::Check && !position.continues)
        {
            let original = base
                .filter(|base| base.is_first)
                .and_then(|base| base.read.checkbox.as_ref());
            match original.filter(|checkbox| checkbox.checked == position.checked) {
                Some(checkbox) => xml.push_str(tree.text_of(&checkbox.span)),
                None => xml.push_str(&checkbox_xml(position.checked)),
            }
        }
        self.push_content(&mut xml, base, units);
        xml.push_str(&end);
        xml
    }

    fn paragraph_properties(
        &mut self,
        base: Option<Base<'_>>,
        paragraph: &Paragraph,
        context: &BlockContext,
        units: &[Unit],
    ) -> Properties {
        let tree = self.tree;
        let original = base.and_then(|base| tree.child(base.element, "pPr"));
        let mut properties = Properties::read(tree, original);
        let read = base.map(|base| base.read);
        if base.is_some_and(|base| !base.is_first) {
            properties.remove(&["sectPr", "pPrChange"]);
            let is_tracked = original
                .and_then(|original| tree.child(original, "rPr"))
                .is_some_and(|mark| {
                    tree.children(mark)
                        .any(|child| matches!(tree.word(child), "ins" | "del" | "moveFrom" | "moveTo"))
                });
            if is_tracked {
                properties.remove(&["rPr"]);
            }
        }
        let is_list = context.list.is_some();
        let is_same_style = read.is_some_and(|read| {
            read.paragraph.kind == paragraph.kind
                && read.paragraph.style == paragraph.style
                && read.context.is_quote == context.is_quote
                && (read.context.list.is_some() == is_list || paragraph.style.is_some())
        });
        if !is_same_style {
            self.set_style(&mut properties, paragraph, context);
        }
        self.set_list(&mut properties, read, paragraph, context);
        if read.is_none_or(|read| read.paragraph.align != paragraph.align) && paragraph.kind != ParagraphKind::Code {
            match paragraph.align {
                None => properties.remove(&["jc"]),
                Some(align) => {
                    let value = match align {
                        Align::Left => "left",
                        Align::Center => "center",
                        Align::Right => "right",
                        Align::Justify => "both",
                    };
                    properties.set(PARAGRAPH, "jc", format!("<w:jc w:val=\"{value}\"/>"));
                }
            }
        }
        self.set_section(&mut properties, units);
        properties
    }

    fn set_style(&mut self, properties: &mut Properties, paragraph: &Paragraph, context: &BlockContext) {
        properties.remove(&["outlineLvl"]);
        let wanted = paragraph.style.as_deref().filter(|style| {
            self.styles.has_paragraph_style(style)
                && match (self.styles.role(Some(style)), paragraph.kind) {
                    (StyleRole::Heading(style), ParagraphKind::Heading(level)) => style.min(4) == level,
                    (StyleRole::Quote, ParagraphKind::Body) => context.is_quote,
                    (StyleRole::Body | StyleRole::ListParagraph | StyleRole::Code, ParagraphKind::Body) => {
                        !context.is_quote
                    }
                    _ => false,
                }
        });
        let style = match wanted {
            Some(style) => Some(style.to_owned()),
            None => self
                .styles
                .usual_or_added(paragraph.kind, context.is_quote, context.list.is_some()),
        };
        match style {
            Some(style) => properties.set(
                PARAGRAPH,
                "pStyle",
                format!("<w:pStyle w:val=\"{}\"/>", escaped(&style)),
            ),
            None => properties.remove(&["pStyle"]),
        }
    }

    fn set_list(
        &self,
        properties: &mut Properties,
        read: Option<&SourceParagraph>,
        paragraph: &Paragraph,
        context: &BlockContext,
    ) {
        let before = read.and_then(|read| read.context.list);
        let is_same = match (&before, &context.list) {
            (Some(before), Some(now)) => {
                before.number == now.number && before.level == now.level && before.continues == now.continues
            }
            // A numbered heading that becomes a paragraph would be an item of a list.
            (None, None) => {
                paragraph.kind != ParagraphKind::Body || read.is_some_and(|read| read.paragraph.kind == paragraph.kind)
            }
            _ => false,
        };
        if is_same {
            return;
        }
        properties.remove(&["numPr", "ind"]);
        let style = paragraph.style.as_deref();
        match context.list.filter(|position| !position.continues) {
            Some(position) => {
                let (number, level) = (position.number, position.level);
                let xml = format!("<w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"{number}\"/></w:numPr>");
                properties.set(PARAGRAPH, "numPr", xml);
            }
            None if self.styles.numbering(style).is_some() && paragraph.kind == ParagraphKind::Body => {
                // The style would make it an item again.
                properties.set(
                    PARAGRAPH,
                    "numPr",
                    "<w:numPr><w:numId w:val=\"0\"/></w:numPr>".to_owned(),
                );
            }
            None => {}
        }
        if let Some(position) = context.list.filter(|position| position.continues)
            && let Some(left) = self
                .numbering
                .level(position.number, position.level)
                .and_then(|level| level.left)
        {
            properties.set(PARAGRAPH, "ind", format!("<w:ind w:left=\"{left}\"/>"));
        }
    }

    /// A section ends with the paragraph that contains its island.
    fn set_section(&self, properties: &mut Properties, units: &[Unit]) {
        let mut sections = units
            .iter()
            .filter_map(Unit::island)
            .filter_map(|island| self.reading.islands.get(&island.id));
        match sections.rfind(|island| island.place == IslandPlace::Section) {
            Some(section) if self.table_depth == 0 => properties.set(PARAGRAPH, "sectPr", section.xml.clone()),
            _ => properties.remove(&["sectPr"]),
        }
    }
}

fn is_unchanged(read: &SourceParagraph, paragraph: &Paragraph, context: &BlockContext, units: &[Unit]) -> bool {
    read.paragraph.kind == paragraph.kind
        && read.paragraph.align == paragraph.align
        && read.paragraph.style == paragraph.style
        && read.context.is_same_place(context)
        && read.units.len() == units.len()
        && read
            .units
            .iter()
            .zip(units)
            .all(|(one, other)| one.is_same(other) || (paragraph.kind == ParagraphKind::Code && one.item == other.item))
}

fn checkbox_xml(checked: bool) -> String {
    let (state, sign) = if checked { (1, '\u{2612}') } else { (0, '\u{2610}') };
    let font = "<w:rFonts w:ascii=\"MS Gothic\" w:eastAsia=\"MS Gothic\" w:hAnsi=\"MS Gothic\" w:hint=\"eastAsia\"/>";
    format!(
        "<w:sdt><w:sdtPr><w14:checkbox xmlns:w14=\"http://schemas.microsoft.com/office/word/2010/wordml\"><w14:checked \
         w14:val=\"{state}\"/><w14:checkedState w14:val=\"2612\" w14:font=\"MS Gothic\"/><w14:uncheckedState \
         w14:val=\"2610\" w14:font=\"MS Gothic\"/></w14:checkbox></w:sdtPr><w:sdtContent><w:r><w:rPr>{font}</w:rPr>\
         <w:t>{sign}</w:t></w:r></w:sdtContent></w:sdt><w:r><w:tab/></w:r>"
    )
}
