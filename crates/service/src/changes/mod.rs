//! The consequences of a change: log entry, events, files to delete, and raised versions. Each is one `match` over
//! [`domain::change::Change`] without a catch-all arm, so a new kind of change does not compile until all are decided;
//! the matches for files and versions are methods of [`domain::change::Change`].

mod activity_log;
mod events;
mod sign_in_log;
mod transactor;
mod versions;

pub use activity_log::entry as activity_entry;
pub use transactor::{ConditionalChange, Transactor};
