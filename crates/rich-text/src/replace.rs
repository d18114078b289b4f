//! Replacing a range of a document with a slice.
//!
//! The document before the range, the slice and the document behind the range are joined level by level: at each depth,
//! the node on the left continues with the content on its right, if their types allow it.

use crate::position::ResolvedPosition;
use crate::{Fragment, Node, RichTextError, Slice};

/// The caller has checked the complete nodes of the slice.
pub(crate) fn replace(document: &Node, from: usize, to: usize, slice: &Slice) -> Result<Node, RichTextError> {
    if from > to {
        return Err(RichTextError::Range);
    }
    let (from, to) = (document.resolve(from)?, document.resolve(to)?);
    let is_balanced = from.depth() + slice.open_end() == to.depth() + slice.open_start();
    if slice.open_start() > from.depth() || !is_balanced {
        return Err(RichTextError::OpenDepth);
    }
    let replaced = replace_at(&from, &to, slice, 0)?;
    replaced.check_limits()?;
    Ok(replaced)
}

/// Descends to the innermost node that contains everything that changes.
fn replace_at(
    from: &ResolvedPosition,
    to: &ResolvedPosition,
    slice: &Slice,
    depth: usize,
) -> Result<Node, RichTextError> {
    let index = from.index(depth);
    let node = from.node(depth);
    if index == to.index(depth) && depth < from.depth() - slice.open_start() {
        let child = replace_at(from, to, slice, depth + 1)?;
        return Ok(node.with_content(node.content().with_child(index, child)));
    }
    if slice.content().size() == 0 {
        return close(node, join_two(from, to, depth)?);
    }
    let is_flat = slice.open_start() == 0 && slice.open_end() == 0 && from.depth() == depth && to.depth() == depth;
    if is_flat {
        let content = node.content();
        let before = content.cut(0, from.parent_offset())?;
        let after = content.cut(to.parent_offset(), content.size())?;
        return close(node, before.append(slice.content()).append(&after));
    }
    let wrapped = wrap(slice, from);
    let outer_depth = from.depth() - slice.open_start();
    let start = wrapped.resolve(slice.open_start() + outer_depth)?;
    let end = wrapped.resolve(wrapped.content_size() - slice.open_end() - outer_depth)?;
    close(node, join_three(from, &start, &end, to, depth)?)
}

/// Puts the slice into copies of the nodes around the position, so that its depths are those of the document.
fn wrap(slice: &Slice, around: &ResolvedPosition) -> Node {
    let depth = around.depth() - slice.open_start();
    let innermost = around.node(depth).with_content(slice.content().clone());
    let outer = (0..depth).rev();
    outer.fold(innermost, |child, depth| {
        around.node(depth).with_content(Fragment::from_nodes(vec![child]))
    })
}

fn join_two(left: &ResolvedPosition, right: &ResolvedPosition, depth: usize) -> Result<Fragment, RichTextError> {
    let mut nodes = Vec::new();
    push_before(left, depth, &mut nodes)?;
    if left.depth() > depth {
        let joined = joinable(left, right, depth + 1)?;
        nodes.push(close(joined, join_two(left, right, depth + 1)?)?);
    }
    push_after(right, depth, &mut nodes)?;
    Ok(Fragment::from_nodes(nodes))
}

fn join_three(
    left: &ResolvedPosition,
    start: &ResolvedPosition,
    end: &ResolvedPosition,
    right: &ResolvedPosition,
    depth: usize,
) -> Result<Fragment, RichTextError> {
    let inner = depth + 1;
    let open_start = if left.depth() > depth {
        Some(joinable(left, start, inner)?)
    } else {
        None
    };
    let open_end = if right.depth() > depth {
        Some(joinable(end, right, inner)?)
    } else {
        None
    };
    let mut nodes = Vec::new();
    push_before(left, depth, &mut nodes)?;
    match (open_start, open_end) {
        (Some(first), Some(last)) if start.index(depth) == end.index(depth) => {
            check_join(first, last)?;
            nodes.push(close(first, join_three(left, start, end, right, inner)?)?);
        }
        _ => {
            if let Some(first) = open_start {
                nodes.push(close(first, join_two(left, start, inner)?)?);
            }
            push_between(start, end, depth, &mut nodes);
            if let Some(last) = open_end {
                nodes.push(close(last, join_two(end, right, inner)?)?);
            }
        }
    }
    push_after(right, depth, &mut nodes)?;
    Ok(Fragment::from_nodes(nodes))
}

fn push_before(position: &ResolvedPosition, depth: usize, nodes: &mut Vec<Node>) -> Result<(), RichTextError> {
    nodes.extend_from_slice(&position.node(depth).children()[..position.index(depth)]);
    if position.depth() == depth
        && let Some((before, _)) = position.split_text()?
    {
        nodes.push(before);
    }
    Ok(())
}

fn push_after(position: &ResolvedPosition, depth: usize, nodes: &mut Vec<Node>) -> Result<(), RichTextError> {
    let mut index = position.index(depth);
    if position.depth() > depth {
        index += 1;
    } else if let Some((_, after)) = position.split_text()? {
        nodes.push(after);
        index += 1;
    }
    nodes.extend_from_slice(&position.node(depth).children()[index..]);
    Ok(())
}

/// The complete children of the slice between its open sides.
fn push_between(start: &ResolvedPosition, end: &ResolvedPosition, depth: usize, nodes: &mut Vec<Node>) {
    let first = start.index(depth) + usize::from(start.depth() > depth);
    let children = end.node(depth).children().get(first..end.index(depth));
    nodes.extend_from_slice(children.unwrap_or_default());
}

fn joinable<'a>(
    left: &ResolvedPosition<'a>,
    right: &ResolvedPosition,
    depth: usize,
) -> Result<&'a Node, RichTextError> {
    let node = left.node(depth);
    // A position that is less deep has no content to join.
    if depth > right.depth() {
        return Err(RichTextError::OpenDepth);
    }
    check_join(node, right.node(depth))?;
    Ok(node)
}

fn check_join(left: &Node, right: &Node) -> Result<(), RichTextError> {
    let (left, right) = (left.node_type(), right.node_type());
    if right.can_join(left) {
        Ok(())
    } else {
        Err(RichTextError::Join(left.name(), right.name()))
    }
}

fn close(node: &Node, content: Fragment) -> Result<Node, RichTextError> {
    node.node_type().check_content(content.nodes())?;
    Ok(node.with_content(content))
}
