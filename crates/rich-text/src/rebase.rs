//! Rebasing: moves the steps of one author over the steps of others.

use crate::{Mapping, Node, RichTextError, Step};

#[derive(Clone, Debug)]
pub struct Rebased {
    pub steps: Vec<Step>,
    /// The document after these steps.
    pub document: Node,
    /// Indexes of the steps that are left out, because what they change is gone or they no longer apply.
    pub dropped: Vec<usize>,
}

/// Rebases steps that follow each other over other steps that start from the same document. `document` is the document
/// after `over`.
///
/// A step is mapped backwards over the steps before it, then over `over`, then forwards over those steps as rebased: a
/// position that its author's own steps created is found again.
pub fn rebase(steps: &[Step], over: &[Step], document: &Node) -> Rebased {
    let mut mapping = Mapping::default();
    for step in steps.iter().rev() {
        mapping.push(step.step_map().inverted());
    }
    for step in over {
        mapping.push(step.step_map());
    }
    let mut rebased = Rebased {
        steps: Vec::new(),
        document: document.clone(),
        dropped: Vec::new(),
    };
    for (index, step) in steps.iter().enumerate() {
        let undone = steps.len() - index;
        let applied = step.map_over(mapping.starting_at(undone)).and_then(|mapped| {
            let document: Result<Node, RichTextError> = mapped.apply(&rebased.document);
            Some((mapped, document.ok()?))
        });
        match applied {
            Some((mapped, document)) => {
                mapping.push_mirror_of(mapped.step_map(), undone - 1);
                rebased.document = document;
                rebased.steps.push(mapped);
            }
            None => rebased.dropped.push(index),
        }
    }
    rebased
}
