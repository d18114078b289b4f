//! Nodes: immutable, cheap to clone.

use std::sync::Arc;

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::mark::{find, serialize_attrs};
use crate::position::ResolvedPosition;
use crate::{Attrs, Fragment, Mark, NodeType, RichTextError, Slice, limits, replace};

#[derive(Clone, Debug, PartialEq)]
pub struct Node(Arc<NodeData>);

#[derive(Debug, PartialEq)]
struct NodeData {
    node_type: NodeType,
    attrs: Attrs,
    marks: Vec<Mark>,
    content: Fragment,
    text: Box<str>,
    size: usize,
}

impl Node {
    /// Missing attributes get their defaults, adjacent text is joined. Marks and content are checked by [`Node::check`].
    pub fn new(
        node_type: NodeType,
        attrs: &[(&str, Value)],
        content: Vec<Self>,
        marks: Vec<Mark>,
    ) -> Result<Self, RichTextError> {
        let attrs = node_type.attr_rules().build(|name| find(attrs, name))?;
        Self::with_attrs(node_type, attrs, Fragment::from_nodes(content), marks)
    }

    pub(crate) fn with_attrs(
        node_type: NodeType,
        attrs: Attrs,
        content: Fragment,
        marks: Vec<Mark>,
    ) -> Result<Self, RichTextError> {
        if node_type.is_text() {
            return Err(RichTextError::EmptyText);
        }
        let size = if node_type.is_leaf() { 1 } else { content.size() + 2 };
        Ok(Self(Arc::new(NodeData {
            node_type,
            attrs,
            marks,
            content,
            text: Box::default(),
            size,
        })))
    }

    pub fn new_text(text: impl Into<Box<str>>, marks: Vec<Mark>) -> Result<Self, RichTextError> {
        let text = text.into();
        if text.is_empty() {
            return Err(RichTextError::EmptyText);
        }
        let attrs = NodeType::Text.attr_rules().read(None)?;
        Ok(Self(Arc::new(NodeData {
            node_type: NodeType::Text,
            attrs,
            marks,
            content: Fragment::default(),
            size: text.encode_utf16().count(),
            text,
        })))
    }

    /// Reads a whole document and checks it. The caller limits the number of bytes.
    pub fn document_from_json(json: &Value) -> Result<Self, RichTextError> {
        let document = Self::from_json(json)?;
        if document.node_type() != NodeType::Doc {
            return Err(RichTextError::Content(NodeType::Doc.name()));
        }
        document.check()?;
        document.check_limits()?;
        Ok(document)
    }

    /// Reads a node with valid attributes; [`Node::check`] checks content and marks.
    pub fn from_json(json: &Value) -> Result<Self, RichTextError> {
        Self::from_json_below(json, 0)
    }

    pub(crate) fn from_json_below(json: &Value, depth: usize) -> Result<Self, RichTextError> {
        if depth > limits().depth {
            return Err(RichTextError::TooDeep);
        }
        let name = json
            .get("type")
            .and_then(Value::as_str)
            .ok_or(RichTextError::Field("type"))?;
        let node_type = NodeType::from_name(name).ok_or_else(|| RichTextError::unknown("node", name))?;
        let marks = Mark::set_from_json(json.get("marks"))?;
        if node_type.is_text() {
            let text = json
                .get("text")
                .and_then(Value::as_str)
                .ok_or(RichTextError::Field("text"))?;
            return Self::new_text(text, marks);
        }
        let content = Fragment::from_json(json.get("content"), depth + 1)?;
        // A leaf with children would have a wrong size.
        if node_type.is_leaf() && content.size() > 0 {
            return Err(RichTextError::Content(node_type.name()));
        }
        Self::with_attrs(
            node_type,
            node_type.attr_rules().read(json.get("attrs"))?,
            content,
            marks,
        )
    }

    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("a node has string keys only")
    }

    pub fn node_type(&self) -> NodeType {
        self.0.node_type
    }

    /// The value of an attribute, null if the type of node does not have it.
    pub fn attr(&self, name: &str) -> &Value {
        self.0
            .attrs
            .get(self.0.node_type.attr_rules(), name)
            .unwrap_or(&Value::Null)
    }

    pub(crate) fn attrs(&self) -> &Attrs {
        &self.0.attrs
    }

    pub fn marks(&self) -> &[Mark] {
        &self.0.marks
    }

    /// Empty if the node is no text.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The text of the node and its descendants, without separators.
    pub fn text_content(&self) -> String {
        let mut text = self.text().to_owned();
        text.extend(self.children().iter().map(Self::text_content));
        text
    }

    pub fn content(&self) -> &Fragment {
        &self.0.content
    }

    pub fn children(&self) -> &[Self] {
        self.0.content.nodes()
    }

    pub fn content_size(&self) -> usize {
        self.0.content.size()
    }

    /// How many positions the node takes in its parent.
    pub fn node_size(&self) -> usize {
        self.0.size
    }

    /// Levels of nodes below this one.
    pub(crate) fn height(&self) -> usize {
        self.0.content.height()
    }

    pub(crate) fn with_content(&self, content: Fragment) -> Self {
        let size = if self.node_type().is_leaf() {
            1
        } else {
            content.size() + 2
        };
        Self(Arc::new(NodeData {
            node_type: self.0.node_type,
            attrs: self.0.attrs.clone(),
            marks: self.0.marks.clone(),
            content,
            text: Box::default(),
            size,
        }))
    }

    pub(crate) fn with_marks(&self, marks: Vec<Mark>) -> Self {
        if marks == self.0.marks {
            return self.clone();
        }
        Self(Arc::new(NodeData {
            node_type: self.0.node_type,
            attrs: self.0.attrs.clone(),
            marks,
            content: self.0.content.clone(),
            text: self.0.text.clone(),
            size: self.0.size,
        }))
    }

    pub(crate) fn with_text(&self, text: String) -> Self {
        Self(Arc::new(NodeData {
            node_type: NodeType::Text,
            attrs: self.0.attrs.clone(),
            marks: self.0.marks.clone(),
            content: Fragment::default(),
            size: text.encode_utf16().count(),
            text: text.into(),
        }))
    }

    /// Whether both are text with the same marks, which is stored as one node.
    pub(crate) fn is_same_text_style(&self, other: &Self) -> bool {
        self.node_type().is_text() && other.node_type().is_text() && self.0.marks == other.0.marks
    }

    /// The byte offset of a UTF-16 offset in the text.
    pub(crate) fn text_offset(&self, utf16: usize) -> Result<usize, RichTextError> {
        let text = self.text();
        if self.0.size == text.len() {
            return Ok(utf16);
        }
        let mut seen = 0;
        for (offset, c) in text.char_indices() {
            if seen >= utf16 {
                return if seen == utf16 {
                    Ok(offset)
                } else {
                    Err(RichTextError::SurrogatePair)
                };
            }
            seen += c.len_utf16();
        }
        if seen == utf16 {
            Ok(text.len())
        } else {
            Err(RichTextError::SurrogatePair)
        }
    }

    /// Cuts the text or the content to a range.
    pub(crate) fn cut(&self, from: usize, to: usize) -> Result<Self, RichTextError> {
        if self.node_type().is_text() {
            let (from, to) = (self.text_offset(from)?, self.text_offset(to)?);
            return Ok(self.with_text(self.text()[from..to].to_owned()));
        }
        Ok(self.with_content(self.content().cut(from, to)?))
    }

    /// Checks content, marks and their combination, recursively. Attributes are valid since the node was made.
    pub fn check(&self) -> Result<(), RichTextError> {
        self.node_type().check_content(self.children())?;
        self.check_marks()?;
        self.children().iter().try_for_each(Self::check)
    }

    pub(crate) fn check_marks(&self) -> Result<(), RichTextError> {
        if Mark::is_valid_set(self.marks()) {
            Ok(())
        } else {
            Err(RichTextError::Marks(self.node_type().name()))
        }
    }

    pub(crate) fn check_limits(&self) -> Result<(), RichTextError> {
        if self.height() > limits().depth {
            return Err(RichTextError::TooDeep);
        }
        if self.content_size() > limits().size {
            return Err(RichTextError::TooLarge);
        }
        Ok(())
    }

    pub fn resolve(&self, position: usize) -> Result<ResolvedPosition<'_>, RichTextError> {
        ResolvedPosition::new(self, position)
    }

    /// The node that starts at a position, or the text that contains it.
    pub fn node_at(&self, position: usize) -> Result<&Self, RichTextError> {
        let mut node = self;
        let mut rest = position;
        loop {
            let (index, offset) = node.content().find(rest).ok_or(RichTextError::Position(position))?;
            node = node.children().get(index).ok_or(RichTextError::NoNode(position))?;
            if offset == rest || node.node_type().is_text() {
                return Ok(node);
            }
            rest -= offset + 1;
        }
    }

    /// The content between two positions, open as deep as they are nested in it.
    pub fn slice(&self, from: usize, to: usize) -> Result<Slice, RichTextError> {
        if from > to {
            return Err(RichTextError::Range);
        }
        let (start, end) = (self.resolve(from)?, self.resolve(to)?);
        if from == to {
            return Ok(Slice::default());
        }
        let depth = start.shared_depth(to);
        let offset = start.start(depth);
        let content = start.node(depth).content().cut(from - offset, to - offset)?;
        Slice::new(content, start.depth() - depth, end.depth() - depth)
    }

    /// Replaces the content between two positions. The open sides of the slice are joined with the nodes around them.
    pub fn replace(&self, from: usize, to: usize, slice: &Slice) -> Result<Self, RichTextError> {
        slice.check_closed_nodes()?;
        replace::replace(self, from, to, slice)
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", self.node_type().name())?;
        serialize_attrs(&mut map, self.node_type().attr_rules(), self.attrs())?;
        if self.content_size() > 0 {
            map.serialize_entry("content", self.children())?;
        }
        if !self.marks().is_empty() {
            map.serialize_entry("marks", self.marks())?;
        }
        if self.node_type().is_text() {
            map.serialize_entry("text", self.text())?;
        }
        map.end()
    }
}

/// Reads a whole document, as [`Node::document_from_json`].
impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Value::deserialize(deserializer)?;
        Self::document_from_json(&json).map_err(D::Error::custom)
    }
}
