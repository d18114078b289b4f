//! The checks of document-server.md, section 4: each test begins with the id of its check.

mod conversions;
mod faults;
mod states;

use crate::support::environment;

/// How many rounds a test takes: few as a rule, many for somebody who has time (`make soak`).
fn rounds(few: usize, many: usize) -> usize {
    if environment("GROUPWORK_SOAK").is_some() {
        many
    } else {
        few
    }
}
