//! Changes of the roster sources of an organization and of their runs.

use crate::patch::FieldDiff;
use crate::roster_source::{RosterRun, RosterSource};

/// A change of a source or of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum RosterChange {
    SourceAdded {
        source: Box<RosterSource>,
    },
    SourceUpdated {
        source: Box<RosterSource>,
        changed: FieldDiff,
        /// Whether the client secret was replaced.
        is_secret_replaced: bool,
    },
    SourceRemoved {
        /// The source before its removal.
        source: Box<RosterSource>,
    },
    /// A run was queued.
    RunStarted {
        source: Box<RosterSource>,
        run: Box<RosterRun>,
    },
    /// A run ended, or waits for a confirmation.
    RunEnded {
        source: Box<RosterSource>,
        run: Box<RosterRun>,
    },
    RunConfirmed {
        source: Box<RosterSource>,
        run: Box<RosterRun>,
    },
    RunDiscarded {
        source: Box<RosterSource>,
        run: Box<RosterRun>,
    },
}
