//! The children of a node.

use std::sync::Arc;

use serde_json::Value;

use crate::{Node, RichTextError};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fragment {
    nodes: Arc<[Node]>,
    size: usize,
    height: usize,
}

impl Fragment {
    /// Joins adjacent text with the same marks.
    pub fn from_nodes(nodes: Vec<Node>) -> Self {
        let is_joined = nodes.windows(2).all(|pair| !pair[0].is_same_text_style(&pair[1]));
        if is_joined {
            return Self::from_joined(nodes);
        }
        let joined = nodes.chunk_by(Node::is_same_text_style).map(|run| match run {
            [node] => node.clone(),
            run => run[0].with_text(run.iter().map(Node::text).collect()),
        });
        Self::from_joined(joined.collect())
    }

    fn from_joined(nodes: Vec<Node>) -> Self {
        Self {
            size: nodes.iter().map(Node::node_size).sum(),
            height: nodes.iter().map(|node| node.height() + 1).max().unwrap_or(0),
            nodes: nodes.into(),
        }
    }

    pub(crate) fn from_json(json: Option<&Value>, depth: usize) -> Result<Self, RichTextError> {
        let list = match json {
            None | Some(Value::Null) => return Ok(Self::default()),
            Some(Value::Array(list)) => list,
            Some(_) => return Err(RichTextError::Field("content")),
        };
        let nodes = list.iter().map(|node| Node::from_json_below(node, depth));
        nodes.collect::<Result<_, _>>().map(Self::from_nodes)
    }

    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Size in UTF-16 code units and node boundaries.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Levels of nodes.
    pub(crate) fn height(&self) -> usize {
        self.height
    }

    /// Index and start of the child that contains an offset; at a boundary, of the child behind it.
    pub(crate) fn find(&self, offset: usize) -> Option<(usize, usize)> {
        let mut start = 0;
        for (index, node) in self.nodes.iter().enumerate() {
            let end = start + node.node_size();
            if offset < end {
                return Some((index, start));
            }
            start = end;
        }
        (offset == start).then_some((self.nodes.len(), start))
    }

    /// The part between two offsets; partly covered children are cut.
    pub(crate) fn cut(&self, from: usize, to: usize) -> Result<Self, RichTextError> {
        if from == 0 && to >= self.size {
            return Ok(self.clone());
        }
        let mut nodes = Vec::new();
        let mut start = 0;
        for node in self.nodes.iter() {
            if start >= to {
                break;
            }
            let end = start + node.node_size();
            if end > from && to > from {
                if start >= from && end <= to {
                    nodes.push(node.clone());
                } else {
                    // The positions of a text begin at its start, those of other content behind an opening boundary.
                    let boundary = usize::from(!node.node_type().is_text());
                    let size = if boundary == 0 {
                        node.node_size()
                    } else {
                        node.content_size()
                    };
                    let inner = |position: usize| position.saturating_sub(start + boundary).min(size);
                    nodes.push(node.cut(inner(from), inner(to))?);
                }
            }
            start = end;
        }
        Ok(Self::from_joined(nodes))
    }

    /// Text at the boundary is joined.
    pub(crate) fn append(&self, other: &Self) -> Self {
        Self::from_nodes(self.nodes.iter().chain(other.nodes.iter()).cloned().collect())
    }

    pub(crate) fn with_child(&self, index: usize, child: Node) -> Self {
        let mut nodes = self.nodes.to_vec();
        nodes[index] = child;
        Self::from_joined(nodes)
    }
}
