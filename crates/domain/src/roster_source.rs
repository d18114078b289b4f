//! The roster sources of a school and their runs: servers with the people and classes of a school. A run reads one, compares it with the school and applies the
//! difference through the import. The rule that stops a run before too many people leave is here.

use api_macros::view;
use serde::Deserialize;

use crate::access::MemberRole;
use crate::id::{OrganizationId, RosterRunId, RosterSourceId};
use crate::roster::RosterProtocol;
use crate::string_enum::string_enum;
use crate::text::Name;
use crate::time::Timestamp;
use crate::user::Person;

/// Maximum number of sources of one organization.
pub const SOURCES_MAX: usize = 10;
/// Number of runs of a source that are kept.
pub const RUNS_KEPT: i64 = 100;
/// Maximum number of entries of one effect that a run lists.
pub const ENTRIES_MAX: i64 = 1_000;
/// Default of [`RosterSource::leave_percent`].
pub const LEAVE_PERCENT: i64 = 5;
/// Default of [`RosterSource::nightly_hour`].
pub const NIGHTLY_HOUR: i64 = 3;

string_enum! {
    /// The people of a roster that are imported.
    RosterRoles {
        All = "ALL",
        Students = "STUDENTS",
        Teachers = "TEACHERS",
    }
}

string_enum! {
    /// Why a run takes place.
    RosterRunKind {
        /// It shows the difference and changes nothing.
        DryRun = "DRY_RUN",
        /// An administrator started it.
        OnDemand = "ON_DEMAND",
        Nightly = "NIGHTLY",
    }
}

string_enum! {
    /// State of a run.
    RosterRunState {
        /// Waits for a worker.
        Queued = "QUEUED",
        Running = "RUNNING",
        /// Too many people or classes would leave: an administrator confirms or discards the run.
        Waiting = "WAITING",
        Done = "DONE",
        Failed = "FAILED",
        /// An administrator discarded it, or a later run replaced it.
        Discarded = "DISCARDED",
        /// Every attempt ended with its process.
        Interrupted = "INTERRUPTED",
    }
}

string_enum! {
    /// What a run does with a person or class.
    RosterEffect {
        Joins = "JOINS",
        /// The address has an account elsewhere, so it is invited.
        Invited = "INVITED",
        Changes = "CHANGES",
        Leaves = "LEAVES",
        /// The row was rejected.
        Rejected = "REJECTED",
    }
}

string_enum! {
    /// What an entry of a run is about.
    RosterObject {
        Person = "PERSON",
        Class = "CLASS",
        Homeroom = "HOMEROOM",
        Enrollment = "ENROLLMENT",
    }
}

impl RosterRoles {
    /// Returns whether people of this role are imported.
    pub fn includes(self, role: MemberRole) -> bool {
        match self {
            Self::All => true,
            Self::Students => role == MemberRole::Student,
            Self::Teachers => role == MemberRole::Teacher,
        }
    }
}

/// A roster server of an organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RosterSource {
    pub id: RosterSourceId,
    pub organization_id: OrganizationId,
    pub name: Name,
    pub protocol: RosterProtocol,
    pub url: String,
    pub token_url: String,
    pub client_id: String,
    /// Encrypted with the id of the source.
    pub client_secret: String,
    /// The scopes of the token request; empty for those of the protocol.
    pub scope: String,
    /// The id of the school at the server; empty if the server has one school only.
    pub school_id: String,
    pub roles: RosterRoles,
    /// Whether absent people leave and absent classes are archived.
    pub ends_absent: bool,
    /// A run that would end more than this percentage waits for an administrator.
    pub leave_percent: i64,
    pub is_nightly: bool,
    /// The hour of nightly runs in the time zone of the school.
    pub nightly_hour: i64,
    pub next_run_at: Option<Timestamp>,
    /// The version of the roster that was applied completely.
    pub etag: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Numbers of a run. People and classes are counted once each, enrollments by their change.
#[view(Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct RosterCounts {
    /// People who join.
    pub created: i64,
    /// People whose data changes.
    pub updated: i64,
    /// People without a change.
    pub unchanged: i64,
    /// People who are invited.
    pub invited: i64,
    /// People who leave.
    pub left: i64,
    /// Classes and homerooms that are created.
    pub classes_created: i64,
    /// Classes and homerooms that change.
    pub classes_updated: i64,
    /// Classes that are archived.
    pub classes_left: i64,
    /// Enrollments that begin.
    pub enrollments_created: i64,
    /// Enrollments that end.
    pub enrollments_left: i64,
    /// Rejected rows.
    pub errors: i64,
    /// Rows that the server sent and the roster client could not use.
    pub omitted: i64,
}

impl RosterCounts {
    /// Adds the changes of an earlier, interrupted attempt. What it has done is unchanged in the next one.
    #[must_use]
    pub const fn after(self, earlier: Self) -> Self {
        Self {
            created: self.created + earlier.created,
            updated: self.updated + earlier.updated,
            left: self.left + earlier.left,
            classes_created: self.classes_created + earlier.classes_created,
            classes_updated: self.classes_updated + earlier.classes_updated,
            classes_left: self.classes_left + earlier.classes_left,
            enrollments_created: self.enrollments_created + earlier.enrollments_created,
            enrollments_left: self.enrollments_left + earlier.enrollments_left,
            ..self
        }
    }
}

/// One run of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RosterRun {
    pub id: RosterRunId,
    pub source_id: RosterSourceId,
    pub kind: RosterRunKind,
    pub state: RosterRunState,
    /// The difference; once the run is done, what it has done.
    pub counts: RosterCounts,
    /// What earlier attempts of an interrupted run have applied.
    pub applied: RosterCounts,
    pub error_code: Option<String>,
    pub error_text: Option<String>,
    /// Identifies the roster and the people and classes that would leave.
    pub difference: Option<String>,
    /// The difference that an administrator confirmed.
    pub confirmed: Option<String>,
    pub started_by: Option<Person>,
    pub confirmed_by: Option<Person>,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
}

/// One person or class of the difference of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RosterEntry {
    pub effect: RosterEffect,
    pub place: i64,
    pub object: RosterObject,
    pub external_id: String,
    pub name: String,
    /// Why the row was rejected.
    pub problem: Option<String>,
}

/// How many of the people and classes that a source brought would leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Departures {
    /// Members whom the source brought.
    pub people: i64,
    pub leaving_people: i64,
    /// Unarchived classes that the source brought.
    pub classes: i64,
    pub leaving_classes: i64,
    /// Enrollments that the source brought.
    pub enrollments: i64,
    pub leaving_enrollments: i64,
    /// Whether the roster contains no people.
    pub is_empty: bool,
}

impl Departures {
    /// Returns whether an administrator has to confirm the run: more than `percent` of the people, of the
    /// classes or of the enrollments would leave, or anyone at all because of an empty roster.
    pub const fn needs_confirmation(self, percent: i64) -> bool {
        exceeds(self.leaving_people, self.people, percent)
            || exceeds(self.leaving_classes, self.classes, percent)
            || exceeds(self.leaving_enrollments, self.enrollments, percent)
            || (self.is_empty && self.leaving_people + self.leaving_classes > 0)
    }
}

const fn exceeds(leaving: i64, all: i64, percent: i64) -> bool {
    leaving * 100 > all * percent
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn departures(leaving_people: i64, people: i64) -> Departures {
        Departures {
            people,
            leaving_people,
            ..Departures::default()
        }
    }

    #[test]
    fn run_waits_when_more_than_the_share_leaves() {
        assert!(!departures(5, 100).needs_confirmation(5));
        assert!(departures(6, 100).needs_confirmation(5));
        assert!(departures(1, 10).needs_confirmation(5));
        assert!(departures(1, 100).needs_confirmation(0));
        assert!(!departures(0, 100).needs_confirmation(0));
        assert!(!departures(100, 100).needs_confirmation(100));
        let classes = Departures {
            classes: 20,
            leaving_classes: 2,
            ..departures(0, 500)
        };
        assert!(classes.needs_confirmation(5));
        assert!(!classes.needs_confirmation(10));
    }

    #[test]
    fn empty_roster_never_removes_anyone_without_confirmation() {
        for percent in [0, 5, 100] {
            let empty = Departures {
                is_empty: true,
                ..departures(3, 3)
            };
            assert!(empty.needs_confirmation(percent), "{percent}");
        }
        let new = Departures {
            is_empty: true,
            ..departures(0, 0)
        };
        assert!(!new.needs_confirmation(5));
    }

    #[test]
    fn counts_of_interrupted_attempt_are_added() {
        let first = RosterCounts {
            created: 3,
            unchanged: 1,
            errors: 1,
            ..RosterCounts::default()
        };
        let second = RosterCounts {
            created: 1,
            unchanged: 4,
            errors: 1,
            ..RosterCounts::default()
        };
        let sum = second.after(first);
        assert_eq!((sum.created, sum.unchanged, sum.errors), (4, 4, 1));
    }

    proptest! {
        #[test]
        fn fewer_departures_never_need_more_confirmation(people in 0_i64..10_000, leaving in 0_i64..10_000, percent in 0_i64..=100) {
            let leaving = leaving.min(people);
            if !departures(leaving, people).needs_confirmation(percent) && leaving > 0 {
                prop_assert!(!departures(leaving - 1, people).needs_confirmation(percent));
            }
        }
    }
}
