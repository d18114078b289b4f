//! Import of users: limits and the results of rows. Rows are independent: a rejected row changes nothing, and the
//! remaining rows are processed.

use api_macros::view;
use serde::{Deserialize, Serialize};

use crate::string_enum::string_enum;

/// Maximum number of users in one import.
pub const PEOPLE_MAX: usize = 50_000;
/// Maximum number of users in a JSON body, the general limit of lists in request bodies.
pub const BODY_MAX: usize = crate::list::MAX;

string_enum! {
    /// How an import treats users who are members already.
    ImportMode {
        /// They are updated.
        Upsert = "upsert",
        /// They are left unchanged.
        Create = "create",
    }
}

string_enum! {
    /// Result of a row.
    RowStatus {
        /// A user or membership was created.
        Created = "created",
        /// An existing member was updated.
        Updated = "updated",
        /// An address whose account belongs to another organization was invited.
        Invited = "invited",
        /// The row changed nothing.
        Skipped = "skipped",
        /// The row was rejected and changed nothing.
        Failed = "failed",
    }
}

/// Why a row was rejected, with the column concerned.
#[view(PartialEq, Eq)]
pub struct RowProblem {
    /// Name of the column as spelled in the header; empty if the problem concerns the whole row.
    pub column: String,
    /// Machine-readable error code.
    pub code: String,
    /// Human-readable message, to be shown after the name of the column.
    pub message: String,
}

impl RowProblem {
    pub fn new(column: impl Into<String>, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            column: column.into(),
            code: code.into(),
            message: message.into(),
        }
    }
}

/// Number of rows by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportCounts {
    /// Rows that created a user or a membership.
    pub created: i64,
    /// Rows that updated an existing member.
    pub updated: i64,
    /// Rows that created an invitation.
    #[serde(default)]
    pub invited: i64,
    /// Rows that changed nothing.
    pub skipped: i64,
    /// Rows that were rejected.
    pub failed: i64,
}

impl ImportCounts {
    /// Adds one row to the counts.
    pub const fn add(&mut self, status: RowStatus) {
        match status {
            RowStatus::Created => self.created += 1,
            RowStatus::Updated => self.updated += 1,
            RowStatus::Invited => self.invited += 1,
            RowStatus::Skipped => self.skipped += 1,
            RowStatus::Failed => self.failed += 1,
        }
    }

    /// Returns the number of rows.
    pub const fn total(&self) -> i64 {
        self.created + self.updated + self.invited + self.skipped + self.failed
    }

    /// Returns whether any row changed data.
    pub const fn changed_anything(&self) -> bool {
        self.created + self.updated + self.invited > 0
    }
}

/// Returns the trimmed content of a cell; `None` if it is blank.
pub fn cell(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty())
}

/// Splits a cell with several values; returns each distinct value once, in order.
pub fn entries(text: &str, separator: char) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for entry in text.split(separator).filter_map(cell) {
        if !found.iter().any(|known| known == entry) {
            found.push(entry.to_owned());
        }
    }
    found
}

/// Returns whether a text has the format of an id, so that it refers to an object by id and not by name.
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
    fn list_in_cell_is_deduplicated() {
        assert_eq!(entries(" 7b; 8a ;;7b ", ';'), ["7b", "8a"]);
        assert!(entries(" ; ", ';').is_empty());
    }

    #[test]
    fn names_are_not_mistaken_for_ids() {
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
