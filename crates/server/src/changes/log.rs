//! Each change as the activity log tells it.

use model::change::Change;

use crate::store::activity::Entry;

/// The record of a change, if it is worth one.
pub fn entry(_: &Change) -> Option<Entry> {
    None
}
