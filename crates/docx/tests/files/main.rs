//! Opens and saves files.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod corpus;
mod editing;
mod hostile;
mod random;
mod report;
mod support;
