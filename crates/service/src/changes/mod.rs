//! The consequences of a change: log entry, events, and files to delete. Each is one `match` over
//! [`domain::change::Change`] without a catch-all arm, so a new kind of change does not compile until all three are
//! decided.

mod activity_log;
mod events;
mod failed_sign_ins;
mod perform;
mod removed_files;
mod take_over;
mod versions;

pub use perform::{ConditionalChange, perform, perform_on, perform_platform};
pub use take_over::perform_taking_over;
