//! Steps: atomic changes of a document.

use serde_json::Value;

use crate::map::ReplacedRange;
use crate::position::ResolvedPosition;
use crate::{Bias, Fragment, MappingView, Mark, Node, NodeType, RichTextError, Slice, StepMap, replace};

#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Replaces a range with a slice.
    Replace {
        from: usize,
        to: usize,
        slice: Slice,
        /// Fails if the range contains more than boundaries of nodes. Set for changes of structure only, so that they do
        /// not delete what another author wrote.
        is_structure: bool,
    },
    /// Replaces a range, but moves a part of it, the gap, into the slice. Wraps and unwraps content.
    ReplaceAround {
        from: usize,
        to: usize,
        gap_from: usize,
        gap_to: usize,
        slice: Slice,
        /// The offset in the slice at which the gap is inserted.
        insert: usize,
        is_structure: bool,
    },
    Mark(MarkChange),
    /// Several changes of marks at once; an undo makes them.
    MarkSet(Vec<MarkChange>),
    /// Adds or removes a mark of the node at a position.
    NodeMark {
        position: usize,
        mark: Mark,
        is_added: bool,
    },
    Attr {
        position: usize,
        attr: String,
        value: Value,
    },
    DocAttr {
        attr: String,
        value: Value,
    },
}

/// Adds a mark to the text between two positions, or removes it.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkChange {
    pub from: usize,
    pub to: usize,
    pub mark: Mark,
    pub is_added: bool,
}

impl Step {
    /// Returns the changed document, or why the step does not apply to this one.
    pub fn apply(&self, document: &Node) -> Result<Node, RichTextError> {
        match self {
            Self::Replace {
                from,
                to,
                slice,
                is_structure,
            } => {
                if *is_structure && has_content_between(document, *from, *to)? {
                    return Err(RichTextError::Overwrite);
                }
                document.replace(*from, *to, slice)
            }
            Self::ReplaceAround {
                from,
                to,
                gap_from,
                gap_to,
                slice,
                insert,
                is_structure,
            } => {
                if *is_structure
                    && (has_content_between(document, *from, *gap_from)?
                        || has_content_between(document, *gap_to, *to)?)
                {
                    return Err(RichTextError::Overwrite);
                }
                let gap = document.slice(*gap_from, *gap_to)?;
                if gap.open_start() > 0 || gap.open_end() > 0 {
                    return Err(RichTextError::Gap);
                }
                let filled = slice.insert(*insert, gap.content())?.ok_or(RichTextError::Gap)?;
                document.replace(*from, *to, &filled)
            }
            Self::Mark(change) => change.apply(document),
            Self::MarkSet(changes) => changes
                .iter()
                .try_fold(document.clone(), |document, change| change.apply(&document)),
            Self::NodeMark {
                position,
                mark,
                is_added,
            } => {
                let node = document.node_at(*position)?;
                let marks = if *is_added {
                    mark.add_to(node.marks())
                } else {
                    mark.remove_from(node.marks())
                };
                let changed = Node::with_attrs(node.node_type(), node.attrs().clone(), Fragment::default(), marks)?;
                replace_node(document, *position, changed)
            }
            Self::Attr { position, attr, value } => {
                let node = document.node_at(*position)?;
                let attrs = node.node_type().attr_rules().with(node.attrs(), attr, value)?;
                let changed = Node::with_attrs(node.node_type(), attrs, Fragment::default(), node.marks().to_vec())?;
                replace_node(document, *position, changed)
            }
            Self::DocAttr { attr, value } => {
                let attrs = document.node_type().attr_rules().with(document.attrs(), attr, value)?;
                Node::with_attrs(
                    document.node_type(),
                    attrs,
                    document.content().clone(),
                    document.marks().to_vec(),
                )
            }
        }
    }

    /// Where the step moves positions.
    pub fn step_map(&self) -> StepMap {
        let range = |start, end, new_size| ReplacedRange {
            start,
            old_size: end - start,
            new_size,
        };
        StepMap::new(match self {
            Self::Replace { from, to, slice, .. } => vec![range(*from, *to, slice.size())],
            Self::ReplaceAround {
                from,
                to,
                gap_from,
                gap_to,
                slice,
                insert,
                ..
            } => {
                vec![
                    range(*from, *gap_from, *insert),
                    range(*gap_to, *to, slice.size() - insert),
                ]
            }
            _ => Vec::new(),
        })
    }

    /// Moves the step over other changes. None if what it changes was deleted.
    #[must_use]
    pub fn map_over<'a>(&self, mapping: impl Into<MappingView<'a>>) -> Option<Self> {
        let mapping = mapping.into();
        let mut step = self.clone();
        match &mut step {
            Self::Replace { from, to, .. } => {
                let (start, end) = (
                    mapping.map_result(*from, Bias::After),
                    mapping.map_result(*to, Bias::Before),
                );
                if start.is_deleted_across() && end.is_deleted_across() {
                    return None;
                }
                (*from, *to) = (start.position, end.position.max(start.position));
            }
            Self::ReplaceAround {
                from,
                to,
                gap_from,
                gap_to,
                ..
            } => {
                let (start, end) = (
                    mapping.map_result(*from, Bias::After),
                    mapping.map_result(*to, Bias::Before),
                );
                let gap_start = if from == gap_from {
                    start.position
                } else {
                    mapping.map(*gap_from, Bias::Before)
                };
                let gap_end = if to == gap_to {
                    end.position
                } else {
                    mapping.map(*gap_to, Bias::After)
                };
                let is_deleted = start.is_deleted_across() && end.is_deleted_across();
                if is_deleted || gap_start < start.position || gap_end > end.position || gap_start > gap_end {
                    return None;
                }
                (*from, *to, *gap_from, *gap_to) = (start.position, end.position, gap_start, gap_end);
            }
            Self::Mark(change) => *change = change.map_over(&mapping)?,
            Self::MarkSet(changes) => {
                *changes = changes.iter().filter_map(|change| change.map_over(&mapping)).collect();
                if changes.is_empty() {
                    return None;
                }
            }
            Self::NodeMark { position, .. } | Self::Attr { position, .. } => {
                let mapped = mapping.map_result(*position, Bias::After);
                if mapped.is_deleted_after() {
                    return None;
                }
                *position = mapped.position;
            }
            Self::DocAttr { .. } => {}
        }
        Some(step)
    }
}

impl MarkChange {
    fn apply(&self, document: &Node) -> Result<Node, RichTextError> {
        let slice = document.slice(self.from, self.to)?;
        let start = document.resolve(self.from)?;
        let parent = start.node(start.shared_depth(self.to)).node_type();
        let content = map_inline(slice.content(), parent, &|node, parent| {
            if !self.is_added {
                return node.with_marks(self.mark.remove_from(node.marks()));
            }
            if !node.node_type().is_atom() || !parent.allows_mark(self.mark.mark_type()) {
                return node.clone();
            }
            node.with_marks(self.mark.add_to(node.marks()))
        });
        replace::replace(document, self.from, self.to, &slice.with_content(content))
    }

    fn map_over(&self, mapping: &MappingView<'_>) -> Option<Self> {
        let from = mapping.map(self.from, Bias::After);
        let to = mapping.map(self.to, Bias::Before);
        (from < to).then(|| Self {
            from,
            to,
            ..self.clone()
        })
    }
}

fn map_inline(content: &Fragment, parent: NodeType, change: &dyn Fn(&Node, NodeType) -> Node) -> Fragment {
    let nodes = content.nodes().iter().map(|node| {
        if node.node_type().is_inline() {
            change(node, parent)
        } else if node.content_size() > 0 {
            node.with_content(map_inline(node.content(), node.node_type(), change))
        } else {
            node.clone()
        }
    });
    Fragment::from_nodes(nodes.collect())
}

/// Replaces the node at a position with a node of the same type and no content, which then takes over the content.
fn replace_node(document: &Node, position: usize, changed: Node) -> Result<Node, RichTextError> {
    let open_end = usize::from(!changed.node_type().is_leaf());
    let slice = Slice::new(Fragment::from_nodes(vec![changed]), 0, open_end)?;
    replace::replace(document, position, position + 1, &slice)
}

/// Whether a range contains more than closing and then opening boundaries of nodes.
fn has_content_between(document: &Node, from: usize, to: usize) -> Result<bool, RichTextError> {
    let start: ResolvedPosition = document.resolve(from)?;
    let mut distance = to.checked_sub(from).ok_or(RichTextError::Range)?;
    let mut depth = start.depth();
    while distance > 0 && depth > 0 && start.index_after(depth) == start.node(depth).children().len() {
        depth -= 1;
        distance -= 1;
    }
    let mut next = start.node(depth).children().get(start.index_after(depth));
    while distance > 0 {
        match next {
            Some(node) if !node.node_type().is_leaf() => next = node.children().first(),
            _ => return Ok(true),
        }
        distance -= 1;
    }
    Ok(false)
}
