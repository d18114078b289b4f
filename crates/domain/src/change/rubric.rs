//! Changes of reusable rubrics. The rubric of a topic is a change of the topic.

use crate::patch::FieldDiff;
use crate::rubric::Rubric;

/// A change of a rubric.
#[derive(Clone, Debug, PartialEq)]
pub enum RubricChange {
    Created {
        rubric: Box<Rubric>,
    },
    Updated {
        rubric: Box<Rubric>,
        /// The changed fields; of the criteria only their number.
        changed: FieldDiff,
        /// Whether other teachers could see the rubric before.
        was_shared: bool,
    },
    Deleted {
        rubric: Box<Rubric>,
    },
}
