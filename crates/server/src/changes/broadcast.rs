//! Each change as the sockets hear it: event, rooms, payload.

use model::change::Change;
use model::id::OrganizationId;
use model::news::Signal;
use model::time::Timestamp;

use crate::store::Actor;

/// The signals of a change.
pub fn signals(_: &Change, _: &Actor, _: &OrganizationId, _: Timestamp) -> Vec<Signal> {
    Vec::new()
}
