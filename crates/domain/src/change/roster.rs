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
    Run {
        source: Box<RosterSource>,
        run: Box<RosterRun>,
        step: RosterRunStep,
    },
}

/// What happened to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RosterRunStep {
    /// It was queued, or its first attempt began.
    Started,
    /// It ended, or waits for a confirmation.
    Ended,
    Confirmed,
    Discarded,
}
