//! Numbering definitions: what a list looks like, which number an item has, and new definitions for new lists.

use std::collections::{BTreeMap, HashMap};

use crate::content::{ListKind, NumberFormat};
use crate::xml::{ElementId, Tree, push};

/// Lists have nine levels.
pub const LEVEL_MAX: u8 = 8;
const WORD: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LevelFormat {
    Bullet,
    Ordered(NumberFormat),
    /// No number and no bullet.
    None,
}

#[derive(Debug, Clone, Copy)]
pub struct Level {
    pub format: LevelFormat,
    pub start: u32,
    /// The indent of the text in twentieths of a point.
    pub left: Option<i32>,
}

#[derive(Debug, Default)]
struct Definition {
    levels: BTreeMap<u8, Level>,
    /// The style whose definition is used instead.
    style_link: Option<String>,
    /// The style that this definition belongs to.
    style: Option<String>,
}

#[derive(Debug, Default)]
struct ListInstance {
    definition: u32,
    levels: BTreeMap<u8, Level>,
    starts: BTreeMap<u8, u32>,
}

/// A list that is added when a document is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NewList {
    number: u32,
    kind: ListKind,
}

#[derive(Debug, Default)]
pub struct Numbering {
    tree: Option<Tree>,
    definitions: BTreeMap<u32, Definition>,
    instances: BTreeMap<u32, ListInstance>,
    added: Vec<NewList>,
}

/// The current number of every level of every list, while a document is read from its beginning to its end.
#[derive(Debug, Default)]
pub struct Counters {
    numbers: HashMap<u32, [Option<u32>; 9]>,
    /// Instances whose own start has been used.
    started: std::collections::HashSet<(u32, u8)>,
}

impl Counters {
    /// The number of the next item.
    pub fn next(&mut self, numbering: &Numbering, number: u32, level: u8) -> u32 {
        let level = level.min(LEVEL_MAX);
        let instance = numbering.instances.get(&number);
        let key = instance.map_or(u32::MAX - number.min(1 << 20), |instance| instance.definition);
        let numbers = self.numbers.entry(key).or_default();
        let own_start = instance.and_then(|instance| instance.starts.get(&level).copied());
        let start = numbering.level(number, level).map_or(1, |level| level.start);
        let index = usize::from(level);
        let next = match (own_start, numbers[index]) {
            (Some(start), _) if self.started.insert((number, level)) => start,
            (_, Some(last)) => last.saturating_add(1),
            (own_start, None) => own_start.unwrap_or(start),
        };
        numbers[index] = Some(next);
        numbers[index + 1..].fill(None);
        next
    }
}

impl Numbering {
    pub fn read(tree: Option<Tree>) -> Self {
        let mut found = Self::default();
        if let Some(tree) = &tree {
            for element in tree.children(tree.root()) {
                match tree.word(element) {
                    "abstractNum" => found.read_definition(tree, element),
                    "num" => found.read_instance(tree, element),
                    _ => {}
                }
            }
        }
        found.tree = tree;
        found
    }

    fn read_definition(&mut self, tree: &Tree, element: ElementId) {
        let Some(id) = number(tree, element, "abstractNumId") else {
            return;
        };
        let definition = Definition {
            levels: read_levels(tree, element),
            style_link: tree
                .child_value(element, "numStyleLink")
                .map(std::borrow::Cow::into_owned),
            style: tree.child_value(element, "styleLink").map(std::borrow::Cow::into_owned),
        };
        self.definitions.insert(id, definition);
    }

    fn read_instance(&mut self, tree: &Tree, element: ElementId) {
        let Some(id) = number(tree, element, "numId") else {
            return;
        };
        let definition = tree
            .child_value(element, "abstractNumId")
            .and_then(|value| value.parse().ok());
        let Some(definition) = definition else { return };
        let mut instance = ListInstance {
            definition,
            ..ListInstance::default()
        };
        for change in tree
            .children(element)
            .filter(|child| tree.word(*child) == "lvlOverride")
        {
            instance.levels.extend(read_levels(tree, change));
            let level = number(tree, change, "ilvl").and_then(|level| u8::try_from(level).ok());
            let start = tree
                .child_value(change, "startOverride")
                .and_then(|value| value.parse().ok());
            if let (Some(level), Some(start)) = (level, start) {
                instance.starts.insert(level, start);
            }
        }
        self.instances.insert(id, instance);
    }

    /// The definition of a level of a list; nothing if the document does not define it.
    pub fn level(&self, number: u32, level: u8) -> Option<Level> {
        if let Some(list) = self.added.iter().find(|list| list.number == number) {
            return Some(new_level(list.kind, level));
        }
        let instance = self.instances.get(&number)?;
        if let Some(level) = instance.levels.get(&level) {
            return Some(*level);
        }
        let mut definition = self.definitions.get(&instance.definition)?;
        if let Some(style) = &definition.style_link {
            let linked = self
                .definitions
                .values()
                .find(|definition| definition.style.as_ref() == Some(style));
            definition = linked.unwrap_or(definition);
        }
        definition.levels.get(&level).copied()
    }

    /// Adds a list of a kind and returns its number. Bullets and check boxes need one definition only.
    pub fn add(&mut self, kind: ListKind) -> u32 {
        let is_shared = matches!(kind, ListKind::Bullet | ListKind::Check);
        if let Some(list) = self.added.iter().find(|list| is_shared && list.kind == kind) {
            return list.number;
        }
        let last = self
            .instances
            .keys()
            .copied()
            .chain(self.added.iter().map(|list| list.number))
            .max();
        let number = last.map_or(1, |last| last.saturating_add(1));
        self.added.push(NewList { number, kind });
        number
    }

    /// Whether added definitions can use the prefix `w`.
    pub fn has_word_prefix(&self) -> bool {
        self.tree
            .as_ref()
            .is_none_or(|tree| tree.root_namespace("w") == Some(crate::xml::Namespace::Word))
    }

    /// The text of the part with added lists; nothing if none was added.
    pub fn changed_part(&self) -> Option<String> {
        if self.added.is_empty() {
            return None;
        }
        let mut next = self.definitions.keys().max().map_or(0, |last| last.saturating_add(1));
        let (mut definitions, mut instances) = (String::new(), String::new());
        for list in &self.added {
            definitions.push_str(&definition_xml(next, list.kind));
            let number = list.number;
            push!(
                instances,
                "<w:num w:numId=\"{number}\"><w:abstractNumId w:val=\"{next}\"/></w:num>"
            );
            next = next.saturating_add(1);
        }
        let Some(tree) = &self.tree else {
            return Some(format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<w:numbering \
                 xmlns:w=\"{WORD}\">{definitions}{instances}</w:numbering>"
            ));
        };
        // Definitions precede instances, and both precede what else the part contains.
        let children: Vec<ElementId> = tree.children(tree.root()).collect();
        let root = tree.get(tree.root());
        if root.tag == root.span {
            return Some(crate::package::appended(tree, &format!("{definitions}{instances}")));
        }
        let start = |id: ElementId| tree.get(id).span.start;
        let is = |id: ElementId, names: &[&str]| names.contains(&tree.word(id));
        let after_definitions = children
            .iter()
            .copied()
            .find(|id| !is(*id, &["numPicBullet", "abstractNum"]))
            .map_or(root.inner.end, start);
        let after_instances = children
            .iter()
            .copied()
            .find(|id| !is(*id, &["numPicBullet", "abstractNum", "num"]))
            .map_or(root.inner.end, start);
        let mark = if tree.has_byte_order_mark { "\u{feff}" } else { "" };
        let text = &tree.source;
        Some(format!(
            "{mark}{}{definitions}{}{instances}{}",
            &text[..after_definitions],
            &text[after_definitions..after_instances.max(after_definitions)],
            &text[after_instances.max(after_definitions)..]
        ))
    }
}

fn number(tree: &Tree, element: ElementId, attribute: &str) -> Option<u32> {
    tree.attribute(element, attribute)
        .and_then(|value| value.trim().parse().ok())
}

fn read_levels(tree: &Tree, parent: ElementId) -> BTreeMap<u8, Level> {
    let levels = tree.children(parent).filter(|child| tree.word(*child) == "lvl");
    let read = levels.filter_map(|element| {
        let index = number(tree, element, "ilvl").and_then(|level| u8::try_from(level).ok())?;
        let indent = tree
            .child(element, "pPr")
            .and_then(|properties| tree.child(properties, "ind"));
        let level = Level {
            format: read_format(tree.child_value(element, "numFmt").as_deref()),
            start: tree
                .child_value(element, "start")
                .and_then(|value| value.parse().ok())
                .unwrap_or(1),
            left: indent.and_then(|indent| left_indent(tree, indent)),
        };
        Some((index, level))
    });
    read.collect()
}

/// The left indent in an element `w:ind`, in twentieths of a point.
pub fn left_indent(tree: &Tree, indent: ElementId) -> Option<i32> {
    let value = tree
        .attribute(indent, "left")
        .or_else(|| tree.attribute(indent, "start"))?;
    value.parse().ok()
}

fn read_format(name: Option<&str>) -> LevelFormat {
    LevelFormat::Ordered(match name {
        Some("bullet") => return LevelFormat::Bullet,
        Some("none") => return LevelFormat::None,
        Some("lowerLetter") => NumberFormat::LowerLetter,
        Some("upperLetter") => NumberFormat::UpperLetter,
        Some("lowerRoman") => NumberFormat::LowerRoman,
        Some("upperRoman") => NumberFormat::UpperRoman,
        _ => NumberFormat::Decimal,
    })
}

fn new_level(kind: ListKind, level: u8) -> Level {
    let (format, start) = match kind {
        ListKind::Bullet => (LevelFormat::Bullet, 1),
        ListKind::Check => (LevelFormat::None, 1),
        ListKind::Ordered { start, format } => (LevelFormat::Ordered(format), start),
    };
    Level {
        format,
        start,
        left: Some(720 * (i32::from(level) + 1)),
    }
}

fn definition_xml(id: u32, kind: ListKind) -> String {
    let mut xml = format!("<w:abstractNum w:abstractNumId=\"{id}\"><w:multiLevelType w:val=\"hybridMultilevel\"/>");
    for level in 0..=LEVEL_MAX {
        let left = 720 * (u32::from(level) + 1);
        let (start, format, text, suffix) = match kind {
            ListKind::Bullet => {
                let bullet = ["\u{2022}", "\u{25e6}", "\u{25aa}"][usize::from(level) % 3];
                (1, "bullet", bullet.to_owned(), "")
            }
            ListKind::Check => (1, "none", String::new(), "<w:suff w:val=\"nothing\"/>"),
            ListKind::Ordered { start, format } => {
                let format = match format {
                    NumberFormat::Decimal => "decimal",
                    NumberFormat::LowerLetter => "lowerLetter",
                    NumberFormat::UpperLetter => "upperLetter",
                    NumberFormat::LowerRoman => "lowerRoman",
                    NumberFormat::UpperRoman => "upperRoman",
                };
                (start, format, format!("%{}.", level + 1), "")
            }
        };
        push!(
            xml,
            "<w:lvl w:ilvl=\"{level}\"><w:start w:val=\"{start}\"/><w:numFmt w:val=\"{format}\"/>{suffix}<w:lvlText \
             w:val=\"{text}\"/><w:lvlJc w:val=\"left\"/><w:pPr><w:ind w:left=\"{left}\" w:hanging=\"360\"/></w:pPr>\
             </w:lvl>"
        );
    }
    xml.push_str("</w:abstractNum>");
    xml
}
