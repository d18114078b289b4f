//! The document as the reader and the writer see it. Two values are equal if they show the same to a user; the writer
//! compares them to find out what was edited.

/// The position of a block in the original file: the number of the block in document order.
pub type Source = Option<usize>;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct TextDocument {
    pub language: Option<String>,
    pub blocks: Vec<DocxBlock>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum DocxBlock {
    Paragraph(Paragraph),
    Quote(Vec<DocxBlock>),
    List(TextList),
    Table(TextTable),
    Rule(Source),
    PageBreak(Source),
    Island(Island, Source),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParagraphKind {
    Body,
    /// A heading with its level, 1 to 4.
    Heading(u8),
    Code,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Center,
    Right,
    Justify,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Paragraph {
    pub kind: ParagraphKind,
    pub align: Option<Align>,
    /// The id of a named style that differs from the usual one of this kind.
    pub style: Option<String>,
    pub source: Source,
    pub content: Vec<Inline>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Inline {
    pub item: Item,
    pub marks: Marks,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    Text(String),
    Break,
    Image(Image),
    /// A footnote with its plain text.
    Footnote(String),
    Island(Island),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    pub src: String,
    pub alt: String,
    pub title: Option<String>,
    /// In pixels of 1/96 inch.
    pub width: Option<u32>,
    pub height: Option<u32>,
}

/// Content that is kept but cannot be edited.
#[derive(Debug, Clone)]
pub struct Island {
    pub id: String,
    pub label: String,
    pub kind: String,
}

/// Label and kind follow from the id.
impl PartialEq for Island {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Script {
    Superscript,
    Subscript,
}

#[derive(Debug, Clone, PartialEq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "marks are independent of each other")]
pub struct Marks {
    pub link: Option<String>,
    pub strong: bool,
    pub em: bool,
    pub underline: bool,
    pub strike: bool,
    pub script: Option<Script>,
    pub highlight: Option<String>,
    pub color: Option<String>,
    pub code: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NumberFormat {
    Decimal,
    LowerLetter,
    UpperLetter,
    LowerRoman,
    UpperRoman,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ListKind {
    Bullet,
    Ordered { start: u32, format: NumberFormat },
    Check,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TextList {
    pub kind: ListKind,
    pub items: Vec<ListItem>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ListItem {
    /// The state of an item of a check list.
    pub checked: bool,
    pub blocks: Vec<DocxBlock>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TextTable {
    pub source: Source,
    pub rows: Vec<TextRow>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TextRow {
    pub source: Source,
    pub cells: Vec<TextCell>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TextCell {
    pub source: Source,
    pub is_header: bool,
    pub colspan: usize,
    pub rowspan: usize,
    /// Widths of the columns in pixels.
    pub widths: Option<Vec<u32>>,
    pub blocks: Vec<DocxBlock>,
}

impl TextDocument {
    /// Brings a document into the form in which it is read back from a file: what a file cannot express is dropped.
    #[must_use]
    pub fn normalized(&self) -> Self {
        crate::normalize::document(self)
    }
}
