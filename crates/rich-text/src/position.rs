//! A position with the nodes that contain it.

use crate::{Node, RichTextError};

#[derive(Clone, Debug)]
pub struct ResolvedPosition<'a> {
    /// From the document to the innermost node.
    levels: Vec<ResolvedLevel<'a>>,
    /// Start of the child at or around the position, inside the innermost node.
    child_start: usize,
    parent_offset: usize,
}

#[derive(Clone, Debug)]
struct ResolvedLevel<'a> {
    node: &'a Node,
    index: usize,
    /// The position at which the content of the node starts.
    start: usize,
}

impl<'a> ResolvedPosition<'a> {
    pub(crate) fn new(document: &'a Node, position: usize) -> Result<Self, RichTextError> {
        let mut levels = Vec::new();
        let (mut node, mut start) = (document, 0);
        loop {
            let offset = position - start;
            let (index, child_start) = node.content().find(offset).ok_or(RichTextError::Position(position))?;
            levels.push(ResolvedLevel { node, index, start });
            let child = node.children().get(index).filter(|_| child_start < offset);
            let is_innermost = child.is_none_or(|child| child.node_type().is_text());
            if is_innermost {
                if let Some(text) = child {
                    text.text_offset(offset - child_start)?;
                }
                return Ok(Self {
                    levels,
                    child_start,
                    parent_offset: offset,
                });
            }
            start += child_start + 1;
            node = child.unwrap_or(node);
        }
    }

    /// The number of nodes around the position, without the document.
    pub fn depth(&self) -> usize {
        self.levels.len() - 1
    }

    /// The node around the position at a depth; 0 is the document.
    pub fn node(&self, depth: usize) -> &'a Node {
        self.levels[depth].node
    }

    pub fn parent(&self) -> &'a Node {
        self.node(self.depth())
    }

    pub fn parent_offset(&self) -> usize {
        self.parent_offset
    }

    /// The index of the child that contains the position or follows it.
    pub fn index(&self, depth: usize) -> usize {
        self.levels[depth].index
    }

    /// The index of the first child behind the position.
    pub(crate) fn index_after(&self, depth: usize) -> usize {
        let is_between_children = depth == self.depth() && self.text_offset() == 0;
        self.index(depth) + usize::from(!is_between_children)
    }

    pub fn start(&self, depth: usize) -> usize {
        self.levels[depth].start
    }

    pub fn end(&self, depth: usize) -> usize {
        self.start(depth) + self.node(depth).content_size()
    }

    /// The deepest depth whose node contains the other position, too.
    pub fn shared_depth(&self, position: usize) -> usize {
        let contains = |depth: &usize| self.start(*depth) <= position && position <= self.end(*depth);
        (1..=self.depth()).rev().find(contains).unwrap_or(0)
    }

    /// The distance from the start of the text around the position, 0 between nodes.
    pub(crate) fn text_offset(&self) -> usize {
        self.parent_offset - self.child_start
    }

    /// The text before and after the position, if it is inside of one.
    pub(crate) fn split_text(&self) -> Result<Option<(Node, Node)>, RichTextError> {
        let offset = self.text_offset();
        if offset == 0 {
            return Ok(None);
        }
        let text = &self.parent().children()[self.index(self.depth())];
        Ok(Some((text.cut(0, offset)?, text.cut(offset, text.node_size())?)))
    }
}
