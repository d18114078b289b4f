//! Complete values as written by the original library, and the effect of modifications.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod golden;
mod mutations;
mod users;
