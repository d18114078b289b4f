//! The consequences of a change: log entry, events, and files to delete. Each is one `match` over
//! [`domain::change::Change`] without a catch-all arm, so a new kind of change does not compile until all three are
//! decided.

mod activity_log;
mod events;
mod removed_files;
mod sign_in_log;
mod transactor;
mod versions;

pub use activity_log::entry as activity_entry;
pub use transactor::{ConditionalChange, Transactor};
