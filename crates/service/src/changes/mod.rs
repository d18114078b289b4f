//! The consequences of a change: log entry, events, and files to delete. Each is one `match` over
//! [`model::change::Change`] without a catch-all arm, so a new kind of change does not compile until all three are
//! decided.

mod broadcast;
mod cleanup;
pub mod idempotency;
pub mod letters;
mod log;
pub mod old_messages;
pub mod orphans;
mod perform;
pub mod removal;
pub mod retention;
mod sessions;
pub mod storage;
mod take_over;
mod versions;

pub use perform::{Changing, perform, perform_on, perform_platform};
pub use take_over::perform_taking_over;
