//! A tree of elements over the text of an XML part. Every element knows the bytes it was read from, so that unchanged
//! parts of a document are copied instead of being written again.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

use crate::error::{DocxError, DocxResult};
use crate::limits::Limits;

/// The namespaces that the reader distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Namespace {
    /// WordprocessingML.
    Word,
    /// WordprocessingML in the strict variant of the standard.
    StrictWord,
    Relationships,
    WordDrawing,
    Drawing,
    Picture,
    Math,
    Compatibility,
    /// The extensions of Word 2010.
    Word2010,
    Vml,
    Xml,
    Package,
    ContentTypes,
    Other,
}

impl Namespace {
    fn of(uri: &str) -> Self {
        match uri {
            "http://schemas.openxmlformats.org/wordprocessingml/2006/main" => Self::Word,
            "http://purl.oclc.org/ooxml/wordprocessingml/main" => Self::StrictWord,
            "http://schemas.openxmlformats.org/officeDocument/2006/relationships" => Self::Relationships,
            "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" => Self::WordDrawing,
            "http://schemas.openxmlformats.org/drawingml/2006/main" => Self::Drawing,
            "http://schemas.openxmlformats.org/drawingml/2006/picture" => Self::Picture,
            "http://schemas.openxmlformats.org/officeDocument/2006/math" => Self::Math,
            "http://schemas.openxmlformats.org/markup-compatibility/2006" => Self::Compatibility,
            "http://schemas.microsoft.com/office/word/2010/wordml" => Self::Word2010,
            "urn:schemas-microsoft-com:vml" => Self::Vml,
            "http://schemas.openxmlformats.org/package/2006/relationships" => Self::Package,
            "http://schemas.openxmlformats.org/package/2006/content-types" => Self::ContentTypes,
            _ => Self::Other,
        }
    }
}

/// The position of an element in its [`Tree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ElementId(usize);

#[derive(Debug)]
pub enum Child {
    Element(ElementId),
    /// Text with entity references.
    Text(Range<usize>),
    /// The content of a CDATA section.
    Literal(Range<usize>),
}

#[derive(Debug)]
pub struct Element {
    pub namespace: Namespace,
    pub parent: Option<ElementId>,
    /// The bytes of the name without its prefix.
    local: Range<usize>,
    /// The bytes of the name with its prefix.
    name: Range<usize>,
    /// All bytes of the element.
    pub span: Range<usize>,
    /// The bytes of the start tag.
    pub tag: Range<usize>,
    /// The bytes between start tag and end tag; empty for an empty element.
    pub inner: Range<usize>,
    /// Whether the start tag binds a prefix to a namespace.
    pub declares_namespaces: bool,
    pub children: Vec<Child>,
}

/// The parsed text of a part.
#[derive(Debug)]
pub struct Tree {
    /// Without the byte order mark.
    pub source: String,
    pub has_byte_order_mark: bool,
    elements: Vec<Element>,
    root: ElementId,
    /// Prefixes that are bound at the root.
    root_prefixes: HashMap<String, String>,
}

/// The prefixes that are bound by one open element: prefix and the namespace that it had outside.
type Bindings = Vec<(String, Option<String>)>;

struct Builder<'a> {
    source: &'a str,
    elements: Vec<Element>,
    open: Vec<(ElementId, Bindings)>,
    prefixes: HashMap<String, String>,
    root: Option<ElementId>,
    root_prefixes: HashMap<String, String>,
}

impl Tree {
    /// Parses a part. A document type declaration is rejected, and with it all entities that a document can define.
    pub fn parse(bytes: Vec<u8>, limits: &Limits) -> DocxResult<Self> {
        let mut source =
            String::from_utf8(bytes).map_err(|_| DocxError::Damaged("a part is not encoded as UTF-8".to_owned()))?;
        let has_byte_order_mark = source.starts_with('\u{feff}');
        if has_byte_order_mark {
            source.drain(..'\u{feff}'.len_utf8());
        }
        let mut builder = Builder {
            source: &source,
            elements: Vec::new(),
            open: Vec::new(),
            prefixes: HashMap::new(),
            root: None,
            root_prefixes: HashMap::new(),
        };
        builder.read(limits)?;
        let Builder {
            elements,
            root,
            root_prefixes,
            ..
        } = builder;
        let root = root.ok_or_else(|| DocxError::Damaged("a part has no content".to_owned()))?;
        Ok(Self {
            source,
            has_byte_order_mark,
            elements,
            root,
            root_prefixes,
        })
    }

    pub const fn root(&self) -> ElementId {
        self.root
    }

    pub fn get(&self, id: ElementId) -> &Element {
        &self.elements[id.0]
    }

    pub fn text_of(&self, range: &Range<usize>) -> &str {
        &self.source[range.clone()]
    }

    /// The bytes of an element.
    pub fn xml(&self, id: ElementId) -> &str {
        self.text_of(&self.get(id).span)
    }

    /// The name without its prefix.
    pub fn local(&self, id: ElementId) -> &str {
        self.text_of(&self.get(id).local)
    }

    /// The name with its prefix.
    pub fn name(&self, id: ElementId) -> &str {
        self.text_of(&self.get(id).name)
    }

    /// Returns the name of an element of WordprocessingML, and nothing for elements of other namespaces.
    pub fn word(&self, id: ElementId) -> &str {
        if self.get(id).namespace == Namespace::Word {
            self.local(id)
        } else {
            ""
        }
    }

    pub fn is(&self, id: ElementId, namespace: Namespace, local: &str) -> bool {
        self.get(id).namespace == namespace && self.local(id) == local
    }

    /// The child elements.
    pub fn children(&self, id: ElementId) -> impl DoubleEndedIterator<Item = ElementId> + '_ {
        self.get(id).children.iter().filter_map(|child| match child {
            Child::Element(id) => Some(*id),
            _ => None,
        })
    }

    /// Returns the first child element of WordprocessingML with this name.
    pub fn child(&self, id: ElementId, local: &str) -> Option<ElementId> {
        self.children(id).find(|child| self.word(*child) == local)
    }

    /// All elements below this one, in document order.
    pub fn descendants(&self, id: ElementId) -> impl Iterator<Item = ElementId> + '_ {
        let end = self.get(id).span.end;
        (id.0 + 1..self.elements.len())
            .take_while(move |index| self.elements[*index].span.start < end)
            .map(ElementId)
    }

    /// The decoded value of the attribute with this local name, without regard to its prefix.
    pub fn attribute(&self, id: ElementId, local: &str) -> Option<Cow<'_, str>> {
        let element = self.get(id);
        let tag = self.text_of(&element.tag);
        let content = tag.strip_prefix('<').unwrap_or(tag);
        let content = content
            .strip_suffix("/>")
            .or_else(|| content.strip_suffix('>'))
            .unwrap_or(content);
        let start = BytesStart::from_content(content, element.name.len());
        let found = start.attributes().with_checks(false).flatten().find_map(|attribute| {
            let is_declaration = attribute.key.as_ref().starts_with(b"xmlns");
            (!is_declaration && attribute.key.local_name().as_ref() == local.as_bytes()).then(|| {
                let raw = String::from_utf8_lossy(&attribute.value).into_owned();
                unescape(&raw).map(Cow::into_owned).unwrap_or(raw)
            })
        });
        found.map(Cow::Owned)
    }

    /// The innermost element whose start tag begins at a position.
    pub fn element_at(&self, position: usize) -> Option<ElementId> {
        let index = self
            .elements
            .binary_search_by_key(&position, |element| element.span.start)
            .ok()?;
        Some(ElementId(index))
    }

    /// The start tag of an element with other values of attributes without a prefix. Attributes without a value are
    /// removed.
    pub fn tag_with(&self, id: ElementId, changes: &[(&str, Option<&str>)]) -> String {
        let element = self.get(id);
        let tag = self.text_of(&element.tag);
        let (content, end) = match tag.strip_suffix("/>") {
            Some(content) => (content, "/>"),
            None => (tag.strip_suffix('>').unwrap_or(tag), ">"),
        };
        let content = content.strip_prefix('<').unwrap_or(content);
        let start = BytesStart::from_content(content, element.name.len());
        let mut xml = format!("<{}", self.text_of(&element.name));
        let mut push = |name: &str, value: &str| push!(xml, " {name}=\"{value}\"");
        for attribute in start.attributes().with_checks(false).flatten() {
            let name = String::from_utf8_lossy(attribute.key.as_ref()).into_owned();
            if !changes.iter().any(|(changed, _)| *changed == name) {
                push(&name, &String::from_utf8_lossy(&attribute.value).replace('"', "&quot;"));
            }
        }
        for (name, value) in changes {
            if let Some(value) = value {
                push(name, &escaped(value));
            }
        }
        xml.push_str(end);
        xml
    }

    /// The `val` attribute.
    pub fn value(&self, id: ElementId) -> Option<Cow<'_, str>> {
        self.attribute(id, "val")
    }

    /// The `val` attribute of a child element of WordprocessingML.
    pub fn child_value(&self, id: ElementId, local: &str) -> Option<Cow<'_, str>> {
        self.child(id, local).and_then(|child| self.value(child))
    }

    /// Returns whether a property like `<w:b/>` is on; nothing if it is absent.
    pub fn toggle(&self, id: ElementId, local: &str) -> Option<bool> {
        let child = self.child(id, local)?;
        Some(
            self.value(child)
                .is_none_or(|value| !matches!(&*value, "0" | "false" | "off" | "none")),
        )
    }

    /// The text directly inside of an element, without markup.
    pub fn text(&self, id: ElementId) -> String {
        let mut text = String::new();
        for child in &self.get(id).children {
            match child {
                Child::Text(range) => {
                    let raw = self.text_of(range);
                    text.push_str(&unescape(raw).unwrap_or(Cow::Borrowed(raw)));
                }
                Child::Literal(range) => text.push_str(self.text_of(range)),
                Child::Element(_) => {}
            }
        }
        // A parser of XML reads every line end as a line feed.
        if text.contains('\r') {
            text.replace("\r\n", "\n").replace('\r', "\n")
        } else {
            text
        }
    }

    /// The namespace that a prefix has at the root.
    pub fn root_namespace(&self, prefix: &str) -> Option<Namespace> {
        self.root_prefixes.get(prefix).map(|uri| Namespace::of(uri))
    }
}

impl Builder<'_> {
    fn read(&mut self, limits: &Limits) -> DocxResult<()> {
        let mut reader = Reader::from_str(self.source);
        reader.config_mut().allow_dangling_amp = false;
        let position = |reader: &Reader<&[u8]>| usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        loop {
            let start = position(&reader);
            let event = reader
                .read_event()
                .map_err(|error| DocxError::damaged(format_args!("XML: {error}")))?;
            let span = start..position(&reader);
            match event {
                Event::Start(tag) => self.open(&tag, span, false, limits)?,
                Event::Empty(tag) => self.open(&tag, span, true, limits)?,
                Event::End(_) => self.close(span),
                Event::Text(_) | Event::GeneralRef(_) => self.add_text(span)?,
                Event::CData(_) => {
                    let inner = span.start + "<![CDATA[".len()..span.end - "]]>".len();
                    self.add_child(Child::Literal(inner));
                }
                Event::DocType(_) => return Err(DocxError::Damaged("it declares a document type".to_owned())),
                Event::Comment(_) | Event::PI(_) | Event::Decl(_) => {}
                Event::Eof => break,
            }
        }
        if self.open.is_empty() {
            Ok(())
        } else {
            Err(DocxError::Damaged("an element is not closed".to_owned()))
        }
    }

    fn open(&mut self, tag: &BytesStart<'_>, span: Range<usize>, is_empty: bool, limits: &Limits) -> DocxResult<()> {
        if self.open.len() >= limits.depth {
            return Err(DocxError::TooLarge("its elements are nested too deeply"));
        }
        if self.elements.len() >= limits.elements {
            return Err(DocxError::TooLarge("it has too many elements"));
        }
        if span.len() > limits.tag_bytes {
            return Err(DocxError::TooLarge("an element has too many attributes"));
        }
        if self.open.is_empty() && self.root.is_some() {
            return Err(DocxError::Damaged("a part has two root elements".to_owned()));
        }
        let mut bindings = Bindings::new();
        for (count, attribute) in tag.attributes().with_checks(true).enumerate() {
            if count >= limits.attributes {
                return Err(DocxError::TooLarge("an element has too many attributes"));
            }
            let attribute = attribute.map_err(|error| DocxError::damaged(format_args!("XML: {error}")))?;
            let prefix = match attribute.key.as_ref() {
                b"xmlns" => "",
                key => match key.strip_prefix(b"xmlns:") {
                    Some(prefix) => std::str::from_utf8(prefix).unwrap_or_default(),
                    None => continue,
                },
            };
            let uri = String::from_utf8_lossy(&attribute.value);
            let uri = unescape(&uri)
                .map_err(|error| DocxError::damaged(format_args!("XML: {error}")))?
                .into_owned();
            let outside = self.prefixes.insert(prefix.to_owned(), uri);
            bindings.push((prefix.to_owned(), outside));
        }
        let name_start = span.start + 1;
        let name = name_start..name_start + tag.name().as_ref().len();
        let colon = self.source[name.clone()].find(':');
        let prefix = colon.map_or("", |colon| &self.source[name.start..name.start + colon]);
        let namespace = match prefix {
            "xml" => Namespace::Xml,
            _ => self
                .prefixes
                .get(prefix)
                .map_or(Namespace::Other, |uri| Namespace::of(uri)),
        };
        // A prefix that keeps its meaning is no obstacle to moving the element.
        let declares_namespaces = bindings
            .iter()
            .any(|(prefix, outside)| self.prefixes.get(prefix) != outside.as_ref());
        let id = ElementId(self.elements.len());
        self.elements.push(Element {
            namespace,
            parent: self.open.last().map(|(parent, _)| *parent),
            local: colon.map_or(name.start, |colon| name.start + colon + 1)..name.end,
            name,
            inner: span.end..span.end,
            tag: span.clone(),
            span,
            declares_namespaces,
            children: Vec::new(),
        });
        self.add_child(Child::Element(id));
        if self.root.is_none() {
            self.root = Some(id);
            self.root_prefixes = self.prefixes.clone();
        }
        if is_empty {
            self.restore(bindings);
        } else {
            self.open.push((id, bindings));
        }
        Ok(())
    }

    fn close(&mut self, span: Range<usize>) {
        // The reader has checked that the names match.
        if let Some((id, bindings)) = self.open.pop() {
            let element = &mut self.elements[id.0];
            element.inner.end = span.start;
            element.span.end = span.end;
            self.restore(bindings);
        }
    }

    fn restore(&mut self, bindings: Bindings) {
        for (prefix, outside) in bindings.into_iter().rev() {
            match outside {
                Some(uri) => self.prefixes.insert(prefix, uri),
                None => self.prefixes.remove(&prefix),
            };
        }
    }

    fn add_text(&mut self, span: Range<usize>) -> DocxResult<()> {
        unescape(&self.source[span.clone()]).map_err(|error| DocxError::damaged(format_args!("XML: {error}")))?;
        if let Some((parent, _)) = self.open.last()
            && let Some(Child::Text(before)) = self.elements[parent.0].children.last_mut()
            && before.end == span.start
        {
            before.end = span.end;
        } else {
            self.add_child(Child::Text(span));
        }
        Ok(())
    }

    fn add_child(&mut self, child: Child) {
        if let Some((parent, _)) = self.open.last() {
            self.elements[parent.0].children.push(child);
        }
    }
}

/// Appends formatted text to a string.
macro_rules! push {
    ($text:expr, $($arguments:tt)*) => {{
        use std::fmt::Write as _;
        write!($text, $($arguments)*).expect("writing to a string does not fail");
    }};
}
pub(crate) use push;

/// Appends text to XML. Characters that XML cannot contain are left out.
pub fn push_escaped(xml: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '"' => xml.push_str("&quot;"),
            // A parser would read them as spaces in an attribute.
            '\t' => xml.push_str("&#9;"),
            '\n' => xml.push_str("&#10;"),
            '\r' => xml.push_str("&#13;"),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {}
            character => xml.push(character),
        }
    }
}

pub fn escaped(text: &str) -> String {
    let mut xml = String::with_capacity(text.len());
    push_escaped(&mut xml, text);
    xml
}
