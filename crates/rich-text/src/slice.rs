//! A piece of a document, whose outermost nodes may be open: cut through rather than complete.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::{Fragment, Node, RichTextError};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slice {
    content: Fragment,
    open_start: usize,
    open_end: usize,
}

impl Slice {
    pub fn new(content: Fragment, open_start: usize, open_end: usize) -> Result<Self, RichTextError> {
        let is_open_start = is_open(&content, open_start, |nodes| nodes.first());
        let is_open_end = is_open(&content, open_end, |nodes| nodes.last());
        if !is_open_start || !is_open_end {
            return Err(RichTextError::OpenDepth);
        }
        Ok(Self {
            content,
            open_start,
            open_end,
        })
    }

    /// A slice without open sides.
    pub fn closed(nodes: Vec<Node>) -> Self {
        Self {
            content: Fragment::from_nodes(nodes),
            open_start: 0,
            open_end: 0,
        }
    }

    pub(crate) fn from_json(json: Option<&Value>) -> Result<Self, RichTextError> {
        let json = match json {
            None | Some(Value::Null) => return Ok(Self::default()),
            Some(json) if json.is_object() => json,
            Some(_) => return Err(RichTextError::Field("slice")),
        };
        let open = |name: &'static str| match json.get(name) {
            None | Some(Value::Null) => Ok(0),
            Some(depth) => depth
                .as_u64()
                .and_then(|depth| usize::try_from(depth).ok())
                .ok_or(RichTextError::Field(name)),
        };
        Self::new(
            Fragment::from_json(json.get("content"), 0)?,
            open("openStart")?,
            open("openEnd")?,
        )
    }

    pub fn content(&self) -> &Fragment {
        &self.content
    }

    pub fn open_start(&self) -> usize {
        self.open_start
    }

    pub fn open_end(&self) -> usize {
        self.open_end
    }

    /// By how much a document grows if the slice is inserted.
    pub fn size(&self) -> usize {
        self.content.size() - self.open_start - self.open_end
    }

    /// The same open sides around other content of the same shape.
    pub(crate) fn with_content(&self, content: Fragment) -> Self {
        Self { content, ..*self }
    }

    /// Inserts nodes at an offset that counts from the innermost open start. None if they do not fit there.
    pub(crate) fn insert(&self, offset: usize, nodes: &Fragment) -> Result<Option<Self>, RichTextError> {
        let content = insert_into(
            None,
            &self.content,
            offset + self.open_start,
            nodes,
            self.open_start + 1,
            self.open_end + 1,
        )?;
        Ok(content.map(|content| self.with_content(content)))
    }

    /// Checks the nodes that are complete. Open nodes are checked when they are joined.
    pub(crate) fn check_closed_nodes(&self) -> Result<(), RichTextError> {
        check_closed(self.content.nodes(), self.open_start, self.open_end)
    }
}

fn is_open(content: &Fragment, depth: usize, outermost: impl Fn(&[Node]) -> Option<&Node>) -> bool {
    let mut nodes = content.nodes();
    for _ in 0..depth {
        match outermost(nodes) {
            Some(node) if !node.node_type().is_leaf() => nodes = node.children(),
            _ => return false,
        }
    }
    true
}

fn check_closed(nodes: &[Node], open_start: usize, open_end: usize) -> Result<(), RichTextError> {
    for (index, node) in nodes.iter().enumerate() {
        let open_start = if index == 0 { open_start } else { 0 };
        let open_end = if index == nodes.len() - 1 { open_end } else { 0 };
        if open_start == 0 && open_end == 0 {
            node.check()?;
        } else {
            node.check_marks()?;
            check_closed(
                node.children(),
                open_start.saturating_sub(1),
                open_end.saturating_sub(1),
            )?;
        }
    }
    Ok(())
}

/// `open_start` and `open_end` are 0 inside of complete nodes, in which the inserted nodes must fit.
fn insert_into(
    parent: Option<&Node>,
    content: &Fragment,
    offset: usize,
    inserted: &Fragment,
    open_start: usize,
    open_end: usize,
) -> Result<Option<Fragment>, RichTextError> {
    let (index, start) = content.find(offset).ok_or(RichTextError::Gap)?;
    let child = content
        .nodes()
        .get(index)
        .filter(|child| start < offset && !child.node_type().is_text());
    let Some(child) = child else {
        let is_complete = open_start == 0 && open_end == 0;
        if is_complete && parent.is_some_and(|parent| !can_insert(parent, index, inserted)) {
            return Ok(None);
        }
        let before = content.cut(0, offset)?;
        let after = content.cut(offset, content.size())?;
        return Ok(Some(before.append(inserted).append(&after)));
    };
    let open_start = if index == 0 { open_start.saturating_sub(1) } else { 0 };
    let is_last = index == content.nodes().len() - 1;
    let open_end = if is_last { open_end.saturating_sub(1) } else { 0 };
    let inner = insert_into(
        Some(child),
        child.content(),
        offset - start - 1,
        inserted,
        open_start,
        open_end,
    )?;
    Ok(inner.map(|inner| content.with_child(index, child.with_content(inner))))
}

fn can_insert(parent: &Node, index: usize, inserted: &Fragment) -> bool {
    let (before, after) = parent.children().split_at(index);
    let all = before.iter().chain(inserted.nodes()).chain(after);
    let matched = parent.node_type().content().start().after(all.map(Node::node_type));
    matched.is_some_and(|end| end.is_complete())
        && inserted
            .nodes()
            .iter()
            .all(|node| parent.node_type().allows_marks_of(node))
}

impl Serialize for Slice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("content", self.content.nodes())?;
        if self.open_start > 0 {
            map.serialize_entry("openStart", &self.open_start)?;
        }
        if self.open_end > 0 {
            map.serialize_entry("openEnd", &self.open_end)?;
        }
        map.end()
    }
}
