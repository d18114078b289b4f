//! Whole values as the original library wrote them, and what happens when they are touched.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod golden;
mod mutations;
mod people;
