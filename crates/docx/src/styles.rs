//! The named styles of a document: which of them make a heading, a quote, code or a list, and what a character style
//! looks like.

use std::collections::HashMap;

use crate::content::{Marks, ParagraphKind, Script};
use crate::package::appended;
use crate::xml::{ElementId, Tree, escaped, push};

/// Styles may be based on each other; a longer chain is a loop or an attack.
const CHAIN_MAX: usize = 20;

/// Names of headings in programs that do not use the English names of the standard; the level follows.
const HEADING_NAMES: &[&str] = &[
    "heading",
    "überschrift",
    "titre",
    "título",
    "titolo",
    "titulo",
    "kop",
    "overskrift",
    "rubrik",
    "otsikko",
    "nagłówek",
    "nadpis",
    "naslov",
    "címsor",
    "titlu",
    "заголовок",
    "επικεφαλίδα",
    "başlık",
    "見出し",
    "标题",
    "標題",
    "제목",
];
const QUOTE_NAMES: &[&str] = &[
    "quote",
    "intense quote",
    "quotations",
    "block text",
    "zitat",
    "intensives zitat",
    "citation",
    "cita",
    "citazione",
];
const CODE_NAMES: &[&str] = &[
    "code",
    "source code",
    "html preformatted",
    "preformatted text",
    "plain text code",
    "code block",
    "html code",
    "html vorformatiert",
    "verbatim char",
    "source text",
    "quelltext",
    "inline code",
    "html typewriter",
];
const LIST_NAMES: &[&str] = &[
    "list paragraph",
    "listenabsatz",
    "paragraphe de liste",
    "párrafo de lista",
];

/// A named style of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StyleName {
    pub id: String,
    pub name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StyleRole {
    Body,
    Heading(u8),
    Quote,
    Code,
    ListParagraph,
}

#[derive(Debug)]
struct Style {
    name: String,
    /// `paragraph`, `character`, `table` or `numbering`.
    kind: String,
    based_on: Option<String>,
    outline_level: Option<u8>,
    numbering: Option<(Option<u32>, Option<u8>)>,
    marks: CharacterFormat,
    is_hidden: bool,
}

/// Whether characters are above or below the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerticalAlign {
    Baseline,
    Superscript,
    Subscript,
}

impl VerticalAlign {
    pub const fn script(self) -> Option<Script> {
        match self {
            Self::Baseline => None,
            Self::Superscript => Some(Script::Superscript),
            Self::Subscript => Some(Script::Subscript),
        }
    }
}

/// Properties of characters; nothing where a style does not mention them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CharacterFormat {
    pub strong: Option<bool>,
    pub em: Option<bool>,
    pub underline: Option<bool>,
    pub strike: Option<bool>,
    pub vertical: Option<VerticalAlign>,
}

impl CharacterFormat {
    /// Reads the properties in an element like `w:rPr`.
    pub fn read(tree: &Tree, properties: ElementId) -> Self {
        let vertical = tree.child_value(properties, "vertAlign").map(|value| match &*value {
            "superscript" => VerticalAlign::Superscript,
            "subscript" => VerticalAlign::Subscript,
            _ => VerticalAlign::Baseline,
        });
        Self {
            strong: tree.toggle(properties, "b"),
            em: tree.toggle(properties, "i"),
            underline: tree
                .child(properties, "u")
                .map(|u| tree.value(u).is_some_and(|value| value != "none")),
            strike: tree.toggle(properties, "strike"),
            vertical,
        }
    }

    /// Fills in what this format does not mention.
    #[must_use]
    pub fn or(self, base: Self) -> Self {
        Self {
            strong: self.strong.or(base.strong),
            em: self.em.or(base.em),
            underline: self.underline.or(base.underline),
            strike: self.strike.or(base.strike),
            vertical: self.vertical.or(base.vertical),
        }
    }

    pub fn marks(self) -> Marks {
        Marks {
            strong: self.strong.unwrap_or_default(),
            em: self.em.unwrap_or_default(),
            underline: self.underline.unwrap_or_default(),
            strike: self.strike.unwrap_or_default(),
            script: self.vertical.and_then(VerticalAlign::script),
            ..Marks::default()
        }
    }
}

/// The styles of a document, with those that are added when it is saved.
#[derive(Debug, Default)]
pub struct Styles {
    tree: Option<Tree>,
    by_id: HashMap<String, Style>,
    /// Ids in the order of the file.
    order: Vec<String>,
    default_paragraph: Option<String>,
    /// The usual styles of kinds of paragraphs.
    usual: HashMap<(ParagraphKind, bool, bool), String>,
    roles: HashMap<String, StyleRole>,
    /// Definitions that the original does not have.
    added: String,
    pub language: Option<String>,
}

impl Styles {
    pub fn read(tree: Option<Tree>) -> Self {
        let mut found = Self::default();
        if let Some(tree) = &tree {
            for element in tree.children(tree.root()) {
                match tree.word(element) {
                    "style" => found.read_style(tree, element),
                    "docDefaults" => found.language = read_language(tree, element),
                    _ => {}
                }
            }
        }
        found.tree = tree;
        found.roles = found.order.iter().map(|id| (id.clone(), found.role_of(id))).collect();
        let kinds = [ParagraphKind::Body, ParagraphKind::Code].into_iter();
        for kind in kinds.chain((1..=4).map(ParagraphKind::Heading)) {
            for (is_quote, is_list) in [(false, false), (false, true), (true, false), (true, true)] {
                if let Some(id) = found.find_usual(kind, is_quote, is_list).map(str::to_owned) {
                    found.usual.insert((kind, is_quote, is_list), id);
                }
            }
        }
        found
    }

    fn read_style(&mut self, tree: &Tree, element: ElementId) {
        let Some(id) = tree.attribute(element, "styleId") else {
            return;
        };
        let kind = tree.attribute(element, "type").unwrap_or_default().into_owned();
        let is_default = tree
            .attribute(element, "default")
            .is_some_and(|value| matches!(&*value, "1" | "true" | "on"));
        if is_default && kind == "paragraph" {
            self.default_paragraph = Some(id.clone().into_owned());
        }
        let paragraph = tree.child(element, "pPr");
        let numbering = paragraph.and_then(|paragraph| tree.child(paragraph, "numPr"));
        let numbering = numbering.map(|numbering| {
            let number = |name| {
                tree.child_value(numbering, name)
                    .and_then(|value| value.parse::<u32>().ok())
            };
            (
                number("numId"),
                number("ilvl").and_then(|level| u8::try_from(level).ok()),
            )
        });
        let outline_level = paragraph.and_then(|paragraph| tree.child_value(paragraph, "outlineLvl"));
        let style = Style {
            name: tree.child_value(element, "name").unwrap_or_default().into_owned(),
            kind,
            based_on: tree.child_value(element, "basedOn").map(std::borrow::Cow::into_owned),
            outline_level: outline_level.and_then(|level| level.parse().ok()),
            numbering,
            marks: tree
                .child(element, "rPr")
                .map(|properties| CharacterFormat::read(tree, properties))
                .unwrap_or_default(),
            is_hidden: tree.toggle(element, "semiHidden").unwrap_or_default(),
        };
        if self.by_id.insert(id.clone().into_owned(), style).is_none() {
            self.order.push(id.into_owned());
        }
    }

    /// A style and those it is based on.
    fn chain<'s>(&'s self, id: &'s str) -> impl Iterator<Item = &'s Style> {
        let mut next = Some(id);
        std::iter::from_fn(move || {
            let style = self.by_id.get(next?)?;
            next = style.based_on.as_deref();
            Some(style)
        })
        .take(CHAIN_MAX)
    }

    pub fn role(&self, id: Option<&str>) -> StyleRole {
        id.and_then(|id| self.roles.get(id).copied()).unwrap_or(StyleRole::Body)
    }

    fn role_of(&self, id: &str) -> StyleRole {
        for (depth, style) in self.chain(id).enumerate() {
            let name = style.name.to_lowercase();
            if depth == 0 {
                match () {
                    () if QUOTE_NAMES.contains(&name.as_str()) => return StyleRole::Quote,
                    () if CODE_NAMES.contains(&name.as_str()) => return StyleRole::Code,
                    () if LIST_NAMES.contains(&name.as_str()) => return StyleRole::ListParagraph,
                    () => {}
                }
            }
            if let Some(level) = heading_level(&name) {
                return StyleRole::Heading(level);
            }
            match style.outline_level {
                Some(level @ 0..=8) => return StyleRole::Heading(level + 1),
                Some(_) => return StyleRole::Body,
                None => {}
            }
        }
        StyleRole::Body
    }

    /// Number and level of the list that a paragraph style belongs to.
    pub fn numbering(&self, id: Option<&str>) -> Option<(u32, u8)> {
        let mut level = None;
        for style in self.chain(id?) {
            if let Some((number, own_level)) = style.numbering {
                level = level.or(own_level);
                if let Some(number) = number {
                    return (number != 0).then_some((number, level.unwrap_or_default()));
                }
            }
        }
        None
    }

    /// What a character style looks like.
    pub fn character_format(&self, id: &str) -> CharacterFormat {
        self.chain(id)
            .take_while(|style| style.kind == "character")
            .fold(CharacterFormat::default(), |format, style| format.or(style.marks))
    }

    pub fn is_code(&self, id: &str) -> bool {
        self.by_id
            .get(id)
            .is_some_and(|style| CODE_NAMES.contains(&style.name.to_lowercase().as_str()))
    }

    pub fn is_default_paragraph(&self, id: &str) -> bool {
        self.default_paragraph.as_deref() == Some(id)
    }

    pub fn has_paragraph_style(&self, id: &str) -> bool {
        self.by_id.get(id).is_some_and(|style| style.kind == "paragraph")
    }

    /// The paragraph styles that a user can choose.
    pub fn names(&self) -> Vec<StyleName> {
        let styles = self
            .order
            .iter()
            .filter_map(|id| self.by_id.get(id).map(|style| (id, style)));
        styles
            .filter(|(_, style)| style.kind == "paragraph" && !style.is_hidden && !style.name.is_empty())
            .map(|(id, style)| StyleName {
                id: id.clone(),
                name: style.name.clone(),
            })
            .collect()
    }

    fn find(&self, kind: &str, is_meant: impl Fn(&str) -> bool) -> Option<&str> {
        self.order.iter().map(String::as_str).find(|id| {
            let style = &self.by_id[*id];
            style.kind == kind && is_meant(&style.name.to_lowercase())
        })
    }

    /// The id of the usual style of a kind of paragraph, if the document has one.
    pub fn usual(&self, kind: ParagraphKind, is_quote: bool, is_list: bool) -> Option<&str> {
        self.usual.get(&usual_key(kind, is_quote, is_list)).map(String::as_str)
    }

    fn find_usual(&self, kind: ParagraphKind, is_quote: bool, is_list: bool) -> Option<&str> {
        match kind {
            ParagraphKind::Heading(level) => self.find("paragraph", |name| heading_level(name) == Some(level)),
            ParagraphKind::Code => self.find("paragraph", |name| CODE_NAMES.contains(&name)),
            ParagraphKind::Body if is_quote => self.find("paragraph", |name| QUOTE_NAMES.contains(&name)),
            ParagraphKind::Body if is_list => self.find("paragraph", |name| LIST_NAMES.contains(&name)),
            ParagraphKind::Body => None,
        }
    }

    /// The id of the usual style of a kind of paragraph. It is added if the document does not have it.
    pub fn usual_or_added(&mut self, kind: ParagraphKind, is_quote: bool, is_list: bool) -> Option<String> {
        if let Some(id) = self.usual(kind, is_quote, is_list) {
            return Some(id.to_owned());
        }
        let (id, name, properties) = match kind {
            ParagraphKind::Heading(level) => {
                let size = 36 - 4 * u32::from(level);
                let outline = level - 1;
                (
                    format!("Heading{level}"),
                    format!("heading {level}"),
                    format!(
                        "<w:uiPriority w:val=\"9\"/><w:qFormat/><w:pPr><w:keepNext/><w:spacing w:before=\"240\" \
                         w:after=\"120\"/><w:outlineLvl w:val=\"{outline}\"/></w:pPr><w:rPr><w:b/><w:bCs/>\
                         <w:sz w:val=\"{size}\"/><w:szCs w:val=\"{size}\"/></w:rPr>"
                    ),
                )
            }
            ParagraphKind::Code => (
                "HTMLPreformatted".to_owned(),
                "HTML Preformatted".to_owned(),
                "<w:uiPriority w:val=\"99\"/><w:pPr><w:spacing w:after=\"0\" w:line=\"240\" w:lineRule=\"auto\"/></w:pPr>\
                 <w:rPr><w:rFonts w:ascii=\"Courier New\" w:hAnsi=\"Courier New\" w:cs=\"Courier New\"/>\
                 <w:sz w:val=\"20\"/><w:szCs w:val=\"20\"/></w:rPr>"
                    .to_owned(),
            ),
            ParagraphKind::Body if is_quote => (
                "Quote".to_owned(),
                "Quote".to_owned(),
                "<w:uiPriority w:val=\"29\"/><w:qFormat/><w:pPr><w:ind w:left=\"720\" w:right=\"720\"/></w:pPr>\
                 <w:rPr><w:i/><w:iCs/></w:rPr>"
                    .to_owned(),
            ),
            ParagraphKind::Body => return None,
        };
        let id = self.add("paragraph", &id, &name, &properties);
        self.usual.insert(usual_key(kind, is_quote, is_list), id.clone());
        Some(id)
    }

    /// The id of the character style of hyperlinks. It is added if the document does not have it.
    pub fn hyperlink_or_added(&mut self) -> String {
        if let Some(id) = self.find("character", |name| name == "hyperlink") {
            return id.to_owned();
        }
        let properties =
            "<w:uiPriority w:val=\"99\"/><w:rPr><w:color w:val=\"0563C1\"/><w:u w:val=\"single\"/></w:rPr>";
        self.add("character", "Hyperlink", "Hyperlink", properties)
    }

    /// The id of the character style of references to footnotes. It is added if the document does not have it.
    pub fn footnote_reference_or_added(&mut self) -> String {
        if let Some(id) = self.find("character", |name| name == "footnote reference") {
            return id.to_owned();
        }
        let properties = "<w:uiPriority w:val=\"99\"/><w:rPr><w:vertAlign w:val=\"superscript\"/></w:rPr>";
        self.add("character", "FootnoteReference", "footnote reference", properties)
    }

    /// The id of the default table style with visible borders. It is added if the document does not have it.
    pub fn table_grid_or_added(&mut self) -> String {
        if let Some(id) = self.find("table", |name| name == "table grid") {
            return id.to_owned();
        }
        let border = |side: &str| format!("<w:{side} w:val=\"single\" w:sz=\"4\" w:space=\"0\" w:color=\"auto\"/>");
        let borders: String = ["top", "left", "bottom", "right", "insideH", "insideV"]
            .map(border)
            .concat();
        let properties = format!(
            "<w:uiPriority w:val=\"39\"/><w:pPr><w:spacing w:after=\"0\" w:line=\"240\" w:lineRule=\"auto\"/></w:pPr>\
             <w:tblPr><w:tblBorders>{borders}</w:tblBorders></w:tblPr>"
        );
        self.add("table", "TableGrid", "Table Grid", &properties)
    }

    fn add(&mut self, kind: &str, id: &str, name: &str, properties: &str) -> String {
        let mut free = id.to_owned();
        while self.by_id.contains_key(&free) {
            free.push('_');
        }
        let based_on = match kind {
            "paragraph" => self.default_paragraph.as_deref(),
            kind => self.order.iter().map(String::as_str).find(|id| {
                let style = &self.by_id[*id];
                style.kind == kind && matches!(style.name.as_str(), "Normal Table" | "Default Paragraph Font")
            }),
        };
        let based_on = based_on
            .map(|id| format!("<w:basedOn w:val=\"{}\"/>", escaped(id)))
            .unwrap_or_default();
        push!(
            self.added,
            "<w:style w:type=\"{kind}\" w:styleId=\"{free}\"><w:name w:val=\"{name}\"/>{based_on}{properties}</w:style>"
        );
        let outline_level = name.strip_prefix("heading ").and_then(|level| level.parse::<u8>().ok());
        let style = Style {
            name: name.to_owned(),
            kind: kind.to_owned(),
            based_on: None,
            outline_level: outline_level.map(|level| level - 1),
            numbering: None,
            marks: CharacterFormat::default(),
            is_hidden: false,
        };
        self.by_id.insert(free.clone(), style);
        self.order.push(free.clone());
        free
    }

    /// The text of the part with added styles; nothing if none was added.
    pub fn changed_part(&self) -> Option<String> {
        if self.added.is_empty() {
            return None;
        }
        Some(self.tree.as_ref().map_or_else(
            || {
                format!(
                    "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<w:styles \
                     xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\">{}</w:styles>",
                    self.added
                )
            },
            |tree| appended(tree, &self.added),
        ))
    }

    /// Whether added definitions can use the prefix `w`.
    pub fn has_word_prefix(&self) -> bool {
        self.tree
            .as_ref()
            .is_none_or(|tree| tree.root_namespace("w") == Some(crate::xml::Namespace::Word))
    }
}

/// What the style of a kind of paragraph depends on: a quote in a list looks like a quote.
const fn usual_key(kind: ParagraphKind, is_quote: bool, is_list: bool) -> (ParagraphKind, bool, bool) {
    match kind {
        ParagraphKind::Body => (kind, is_quote, is_list && !is_quote),
        ParagraphKind::Heading(_) | ParagraphKind::Code => (kind, false, false),
    }
}

fn read_language(tree: &Tree, defaults: ElementId) -> Option<String> {
    let properties = tree.child(tree.child(defaults, "rPrDefault")?, "rPr")?;
    let language = tree.child_value(properties, "lang")?;
    let is_tag = language
        .chars()
        .all(|character| character.is_ascii_alphanumeric() || character == '-');
    (is_tag && !language.is_empty() && language.len() <= 35).then(|| language.into_owned())
}

/// The level of a heading by the name of its style in lower case.
fn heading_level(name: &str) -> Option<u8> {
    let (word, number) = name.rsplit_once(' ').or_else(|| {
        let digit = name
            .char_indices()
            .next_back()
            .filter(|(_, last)| last.is_ascii_digit())?;
        Some(name.split_at(digit.0))
    })?;
    let level = number.parse().ok().filter(|level| (1..=9).contains(level))?;
    HEADING_NAMES.contains(&word.trim()).then_some(level)
}
