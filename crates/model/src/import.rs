//! Importing people: what a file may ask for, and how each of its rows ends. Rows stand for themselves: one that is refused
//! changes nothing, and the others go on.

use serde::{Deserialize, Serialize};

use crate::word::words;

/// The most people of one import (contract 9).
pub const PEOPLE_MAX: usize = 50_000;
/// The most people that a JSON body brings (contract 9: lists in bodies).
pub const BODY_MAX: usize = crate::list::MAX;

words! {
    /// What an import does with people who are members already.
    ImportMode {
        /// Brings them up to date.
        Upsert = "upsert",
        /// Leaves them as they are.
        Create = "create",
    }
}

words! {
    /// How a row ended.
    RowStatus {
        /// It made something new.
        Created = "created",
        /// It changed something.
        Updated = "updated",
        /// It invited an address whose account another organization made.
        Invited = "invited",
        /// It said nothing new.
        Skipped = "skipped",
        /// It was refused and changed nothing.
        Failed = "failed",
    }
}

/// Why a row is refused, with the column in question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct RowProblem {
    /// The column as the header spells it; empty when the row as a whole is meant.
    pub column: String,
    /// Why, for programs.
    pub code: String,
    /// Why, for people; to be read after the name of the column.
    pub message: String,
}

impl RowProblem {
    /// A problem with one column.
    pub fn new(column: impl Into<String>, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            column: column.into(),
            code: code.into(),
            message: message.into(),
        }
    }
}

/// How many rows ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportCounts {
    /// Rows that made something new.
    pub created: i64,
    /// Rows that changed something.
    pub updated: i64,
    /// Rows that created an invitation.
    #[serde(default)]
    pub invited: i64,
    /// Rows that said nothing new.
    pub skipped: i64,
    /// Rows that were refused.
    pub failed: i64,
}

impl ImportCounts {
    /// Counts one more row.
    pub const fn add(&mut self, status: RowStatus) {
        match status {
            RowStatus::Created => self.created += 1,
            RowStatus::Updated => self.updated += 1,
            RowStatus::Invited => self.invited += 1,
            RowStatus::Skipped => self.skipped += 1,
            RowStatus::Failed => self.failed += 1,
        }
    }

    /// How many rows that were.
    pub const fn total(&self) -> i64 {
        self.created + self.updated + self.invited + self.skipped + self.failed
    }

    /// Whether anything is different now.
    pub const fn changed_anything(&self) -> bool {
        self.created + self.updated + self.invited > 0
    }
}

/// What is left of a cell: nothing where only blanks were.
pub fn cell(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty())
}

/// The entries of a cell that lists several things, each once, in their order.
pub fn entries(text: &str, separator: char) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for entry in text.split(separator).filter_map(cell) {
        if !found.iter().any(|known| known == entry) {
            found.push(entry.to_owned());
        }
    }
    found
}

/// Whether a text is spelled like our ids, so that it names a thing and not its name.
pub fn looks_like_an_id(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_counted_once() {
        let mut counts = ImportCounts::default();
        for status in RowStatus::ALL {
            counts.add(*status);
        }
        counts.add(RowStatus::Failed);
        assert_eq!((counts.total(), counts.failed), (6, 2));
        let idle = ImportCounts {
            skipped: 7,
            failed: 1,
            ..ImportCounts::default()
        };
        assert!(!idle.changed_anything() && counts.changed_anything());
    }

    #[test]
    fn a_list_in_a_cell_names_each_thing_once() {
        assert_eq!(entries(" 7b; 8a ;;7b ", ';'), ["7b", "8a"]);
        assert!(entries(" ; ", ';').is_empty());
    }

    #[test]
    fn names_are_not_taken_for_ids() {
        assert!(looks_like_an_id("0190a1b2-0000-7000-8000-000000000001"));
        for name in [
            "7b",
            "0190a1b2-0000-7000-8000-00000000000x",
            "0190a1b200007000800000000000000000001",
        ] {
            assert!(!looks_like_an_id(name), "{name}");
        }
    }
}
