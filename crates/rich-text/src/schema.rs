//! The schema of `schema.json`, read once: node and mark types, their rules, and the rules of attributes.

use std::sync::{Arc, LazyLock};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::content::ContentExpression;
use crate::{Node, RichTextError};

macro_rules! names {
    ($(#[$meta:meta])* $enum:ident { $($variant:ident = $name:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $enum { $($variant),+ }

        impl $enum {
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

names! {
    /// A type of node, in the order of `schema.json`.
    NodeType {
        Doc = "doc", Paragraph = "paragraph", Heading = "heading", Blockquote = "blockquote", CodeBlock = "code_block",
        BulletList = "bullet_list", OrderedList = "ordered_list", ListItem = "list_item",
        CheckList = "check_list", CheckItem = "check_item",
        Table = "table", TableRow = "table_row", TableCell = "table_cell", TableHeader = "table_header",
        HorizontalRule = "horizontal_rule", PageBreak = "page_break", IslandBlock = "island_block",
        Text = "text", HardBreak = "hard_break", Image = "image", Footnote = "footnote", IslandInline = "island_inline",
    }
}

names! {
    /// A type of mark, in the order of `schema.json`, which is the order of the marks of a node.
    MarkType {
        Link = "link", Strong = "strong", Em = "em", Underline = "underline", Strike = "strike",
        Superscript = "superscript", Subscript = "subscript", Highlight = "highlight", Color = "color", Code = "code",
    }
}

/// Limits of a document; the web client reads them from the same file.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct DocumentLimits {
    /// Levels of nodes below the document. JSON needs two levels for each, and serde_json reads 128.
    pub depth: usize,
    /// Size of the document's content in UTF-16 code units and node boundaries.
    pub size: usize,
}

pub fn limits() -> DocumentLimits {
    SCHEMA.limits
}

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let file: SchemaFile = serde_json::from_str(include_str!("../schema.json")).expect("schema.json is valid");
    Schema::new(&file)
});

struct Schema {
    limits: DocumentLimits,
    nodes: Vec<NodeRules>,
    marks: Vec<MarkRules>,
}

struct NodeRules {
    content: ContentExpression,
    is_inline: bool,
    is_atom: bool,
    has_inline_content: bool,
    /// Bits of the mark types that its children may have.
    marks: u32,
    attrs: AttrRules,
}

struct MarkRules {
    /// Bits of the mark types that cannot be combined with this one.
    excludes: u32,
    attrs: AttrRules,
}

impl NodeType {
    fn rules(self) -> &'static NodeRules {
        &SCHEMA.nodes[self as usize]
    }

    pub fn is_text(self) -> bool {
        self == Self::Text
    }

    pub fn is_inline(self) -> bool {
        self.rules().is_inline
    }

    /// Whether it never has children.
    pub fn is_leaf(self) -> bool {
        self.rules().content.is_leaf()
    }

    pub fn is_atom(self) -> bool {
        self.rules().is_atom
    }

    /// Whether its children are text, images and the like.
    pub fn has_inline_content(self) -> bool {
        self.rules().has_inline_content
    }

    pub fn allows_mark(self, mark: MarkType) -> bool {
        self.rules().marks & mark.bit() != 0
    }

    pub(crate) fn content(self) -> &'static ContentExpression {
        &self.rules().content
    }

    pub(crate) fn allows_marks_of(self, node: &Node) -> bool {
        node.marks().iter().all(|mark| self.allows_mark(mark.mark_type()))
    }

    /// Checks types and marks of the children, not their content.
    pub(crate) fn check_content(self, children: &[Node]) -> Result<(), RichTextError> {
        let matched = self.content().start().after(children.iter().map(Node::node_type));
        let is_valid =
            matched.is_some_and(|end| end.is_complete()) && children.iter().all(|node| self.allows_marks_of(node));
        if is_valid {
            Ok(())
        } else {
            Err(RichTextError::Content(self.name()))
        }
    }

    /// Whether the content of a node of the other type may follow the content of this one.
    pub(crate) fn can_join(self, other: Self) -> bool {
        self == other || self.content().is_compatible(other.content())
    }

    pub(crate) fn attr_rules(self) -> &'static AttrRules {
        &self.rules().attrs
    }
}

impl MarkType {
    const fn bit(self) -> u32 {
        1 << self as u32
    }

    pub(crate) fn excludes(self, other: Self) -> bool {
        SCHEMA.marks[self as usize].excludes & other.bit() != 0
    }

    pub(crate) fn attr_rules(self) -> &'static AttrRules {
        &SCHEMA.marks[self as usize].attrs
    }
}

/// The values of all attributes of a node or mark, in the order of the schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Attrs(Arc<[Value]>);

impl Attrs {
    pub(crate) fn get(&self, rules: &AttrRules, name: &str) -> Option<&Value> {
        rules.index(name).map(|index| &self.0[index])
    }

    pub(crate) fn values(&self) -> &[Value] {
        &self.0
    }
}

pub(crate) struct AttrRules {
    owner: &'static str,
    rules: Vec<AttrRule>,
    /// Set if no attribute is required.
    defaults: Option<Attrs>,
}

impl AttrRules {
    fn new(owner: &'static str, file: &Map<String, Value>) -> Self {
        let rules: Vec<AttrRule> = file
            .iter()
            .map(|(name, rule)| AttrRule {
                name: name.clone(),
                default: rule.get("default").cloned(),
                file: AttrFile::deserialize(rule).expect("attribute of schema.json is valid"),
            })
            .collect();
        let defaults: Option<Arc<[Value]>> = rules.iter().map(|rule| rule.default.clone()).collect();
        Self {
            owner,
            rules,
            defaults: defaults.map(Attrs),
        }
    }

    pub(crate) fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.rules.iter().map(|rule| rule.name.as_str())
    }

    fn index(&self, name: &str) -> Option<usize> {
        self.rules.iter().position(|rule| rule.name == name)
    }

    /// Adds defaults and ignores attributes that do not exist.
    pub(crate) fn build<'a>(&self, given: impl Fn(&str) -> Option<&'a Value>) -> Result<Attrs, RichTextError> {
        let values = self.rules.iter().map(|rule| match given(&rule.name) {
            Some(value) if rule.accepts(value) => Ok(value.clone()),
            Some(_) => Err(RichTextError::attribute(self.owner, &rule.name)),
            None => rule
                .default
                .clone()
                .ok_or_else(|| RichTextError::attribute(self.owner, &rule.name)),
        });
        values.collect::<Result<_, _>>().map(Attrs)
    }

    pub(crate) fn read(&self, json: Option<&Value>) -> Result<Attrs, RichTextError> {
        match (json, &self.defaults) {
            (None | Some(Value::Null), Some(defaults)) => Ok(defaults.clone()),
            (None | Some(Value::Null), None) => self.build(|_| None),
            (Some(Value::Object(object)), _) => self.build(|name| object.get(name)),
            (Some(_), _) => Err(RichTextError::Field("attrs")),
        }
    }

    pub(crate) fn with(&self, attrs: &Attrs, name: &str, value: &Value) -> Result<Attrs, RichTextError> {
        let index = self
            .index(name)
            .ok_or_else(|| RichTextError::unknown("attribute", name))?;
        if !self.rules[index].accepts(value) {
            return Err(RichTextError::attribute(self.owner, name));
        }
        let mut values = attrs.0.to_vec();
        values[index] = value.clone();
        Ok(Attrs(values.into()))
    }
}

struct AttrRule {
    name: String,
    default: Option<Value>,
    file: AttrFile,
}

impl AttrRule {
    fn accepts(&self, value: &Value) -> bool {
        let rule = &self.file;
        let type_name = match value {
            Value::Null => return rule.validate.split('|').any(|name| name == "null"),
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) | Value::Object(_) => "object",
        };
        rule.validate.split('|').any(|name| name == type_name)
            && (rule.one_of.is_empty()
                || value
                    .as_str()
                    .is_some_and(|text| rule.one_of.iter().any(|one| one == text)))
            && value.as_str().is_none_or(|text| is_at_most(text, rule.max_length))
            && value
                .as_i64()
                .is_none_or(|number| rule.minimum <= number && number <= rule.maximum)
            && rule.format.is_none_or(|format| format.accepts(value))
    }
}

fn is_at_most(text: &str, length: usize) -> bool {
    // A UTF-16 code unit takes at most three bytes of UTF-8.
    text.len() <= length || text.len() <= length.saturating_mul(3) && text.encode_utf16().count() <= length
}

/// Rules for values that types do not express. The web client implements the same rules.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AttrFormat {
    Integer,
    /// An id of something inside the service, never a URL.
    Reference,
    Link,
    Language,
    ColumnWidths,
}

impl AttrFormat {
    fn accepts(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Integer, Value::Number(number)) => number.is_i64(),
            (Self::Reference, Value::String(text)) => {
                text.starts_with(|first: char| first.is_ascii_alphanumeric())
                    && text
                        .chars()
                        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
            }
            (Self::Link, Value::String(text)) => {
                let lower = text.get(..8).unwrap_or(text).to_ascii_lowercase();
                let is_allowed = ["http://", "https://", "mailto:"]
                    .iter()
                    .any(|scheme| lower.starts_with(scheme));
                is_allowed && !text.chars().any(|c| c.is_whitespace() || c.is_control())
            }
            (Self::Language, Value::String(text)) => {
                !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
            }
            (Self::ColumnWidths, Value::Array(widths)) => widths.len() <= 1_000 && widths.iter().all(is_column_width),
            _ => false,
        }
    }
}

/// null is an unknown width: prosemirror-tables leaves holes in the list.
fn is_column_width(width: &Value) -> bool {
    width.is_null() || width.as_u64().is_some_and(|pixels| pixels <= 20_000)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "fields that only the web client uses are listed to find misspelled ones"
)]
struct SchemaFile {
    limits: DocumentLimits,
    top_node: String,
    nodes: Map<String, Value>,
    marks: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "the fields are those of ProseMirror")]
struct NodeFile {
    content: String,
    group: String,
    marks: Option<String>,
    inline: bool,
    atom: bool,
    code: bool,
    defining: bool,
    isolating: bool,
    draggable: bool,
    selectable: Option<bool>,
    linebreak_replacement: bool,
    table_role: Option<String>,
    attrs: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[derive(Default)]
struct MarkFile {
    group: String,
    excludes: Option<String>,
    inclusive: Option<bool>,
    code: bool,
    attrs: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "the default is read from the map, because null differs from a missing one"
)]
struct AttrFile {
    #[serde(default)]
    default: Value,
    validate: String,
    #[serde(default)]
    one_of: Vec<String>,
    #[serde(default = "unlimited")]
    max_length: usize,
    #[serde(default = "lowest")]
    minimum: i64,
    #[serde(default = "highest")]
    maximum: i64,
    #[serde(default)]
    format: Option<AttrFormat>,
}

const fn unlimited() -> usize {
    usize::MAX
}

const fn lowest() -> i64 {
    i64::MIN
}

const fn highest() -> i64 {
    i64::MAX
}

impl Schema {
    fn new(file: &SchemaFile) -> Self {
        let names_of = |map: &Map<String, Value>| map.keys().cloned().collect::<Vec<_>>();
        let node_names: Vec<_> = NodeType::ALL.iter().map(|node| node.name()).collect();
        let mark_names: Vec<_> = MarkType::ALL.iter().map(|mark| mark.name()).collect();
        assert_eq!(
            names_of(&file.nodes),
            node_names,
            "schema.json and NodeType list the same names in the same order"
        );
        assert_eq!(
            names_of(&file.marks),
            mark_names,
            "schema.json and MarkType list the same names in the same order"
        );
        let read = "entry of schema.json is valid";
        let nodes: Vec<NodeFile> = file
            .nodes
            .values()
            .map(|node| NodeFile::deserialize(node).expect(read))
            .collect();
        let marks: Vec<MarkFile> = file
            .marks
            .values()
            .map(|mark| MarkFile::deserialize(mark).expect(read))
            .collect();

        let is_inline = |node: NodeType| nodes[node as usize].inline || node.is_text();
        let types_of = |name: &str| -> Vec<NodeType> {
            let is_named = |node: &NodeType| node.name() == name || has_word(&nodes[*node as usize].group, name);
            NodeType::ALL.iter().copied().filter(is_named).collect()
        };
        let marks_of = |names: &str| -> u32 {
            let is_named = |mark: &&MarkType| {
                names == "_"
                    || has_word(names, mark.name())
                    || marks[**mark as usize]
                        .group
                        .split(' ')
                        .any(|group| !group.is_empty() && has_word(names, group))
            };
            MarkType::ALL
                .iter()
                .filter(is_named)
                .fold(0, |bits, mark| bits | mark.bit())
        };

        let node_rules = NodeType::ALL.iter().map(|&node| {
            let file = &nodes[node as usize];
            let content = ContentExpression::parse(&file.content, &types_of);
            let has_inline_content = NodeType::ALL
                .iter()
                .any(|&child| is_inline(child) && content.can_begin_with(child));
            let all_if_inline = if has_inline_content { "_" } else { "" };
            NodeRules {
                is_inline: is_inline(node),
                is_atom: file.atom || content.is_leaf(),
                has_inline_content,
                marks: marks_of(file.marks.as_deref().unwrap_or(all_if_inline)),
                attrs: AttrRules::new(node.name(), &file.attrs),
                content,
            }
        });
        let mark_rules = MarkType::ALL.iter().map(|&mark| {
            let file = &marks[mark as usize];
            MarkRules {
                excludes: file.excludes.as_deref().map_or(mark.bit(), marks_of),
                attrs: AttrRules::new(mark.name(), &file.attrs),
            }
        });
        Self {
            limits: file.limits,
            nodes: node_rules.collect(),
            marks: mark_rules.collect(),
        }
    }
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(' ').any(|one| one == word)
}
