//! The archive of a school: a tar with known entries in a fixed order. The rows are chunks of the archives of deletions
//! (docs/undo.md#format); files and checksum are those of a backup.
//!
//! ```text
//! school.json         format, version, release, schema, school
//! chunks/<number>     rows, as in an archive of a deletion
//! files.jsonl.gz      key, size and SHA-256 of every file, sorted by key
//! files/<line>        the bytes of the file on that line
//! manifest.json       rows by table, chunks, sizes and checksums, and what was left out
//! SHA256              of all bytes before it
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::format::ArchivedFiles;
use db::archives::format::{FORMAT, VERSION};

pub(super) const HEADER: &str = "school.json";
/// What the archive contains, in the place of the kind of a deleted object.
const NOUN: &str = "SCHOOL";
/// The oldest schema whose rows can be inserted. A migration that transforms rows, instead of adding columns with a
/// default, raises it.
pub(super) const OLDEST_SCHEMA: i64 = 72;

/// The first entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SchoolHeader {
    pub format: String,
    pub version: i64,
    pub noun: String,
    /// The release that wrote the archive.
    pub release: String,
    /// The version of the schema of the rows.
    pub schema: i64,
    /// The id of the school.
    pub organization: String,
    pub slug: String,
    pub name: String,
    /// When the rows were read.
    pub taken_at: String,
    /// The address of the installation, where it is known.
    #[serde(default)]
    pub installation: Option<String>,
}

impl SchoolHeader {
    pub(super) fn new(
        school: &db::dump::school::SchoolRow,
        schema: i64,
        taken_at: String,
        installation: Option<String>,
    ) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            noun: NOUN.to_owned(),
            release: env!("CARGO_PKG_VERSION").to_owned(),
            schema,
            organization: school.id.clone(),
            slug: school.slug.clone(),
            name: school.name.clone(),
            taken_at,
            installation,
        }
    }

    /// Whether this release reads the format.
    pub(super) fn is_readable(&self) -> bool {
        self.format == FORMAT && self.version == VERSION && self.noun == NOUN
    }
}

/// The last entry before the checksum.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SchoolManifest {
    /// Number of rows by table.
    pub tables: BTreeMap<String, i64>,
    pub chunks: i64,
    /// Hexadecimal SHA-256 of the uncompressed chunks.
    pub sha256: String,
    #[serde(flatten)]
    pub archived: ArchivedFiles,
    /// The tables without rows in the archive, with the reason.
    pub left_out: BTreeMap<String, String>,
}

impl SchoolManifest {
    /// Returns the number of rows.
    pub fn rows(&self) -> i64 {
        self.tables.values().sum()
    }
}

/// Returns the entry name of a chunk.
pub(super) fn chunk_name(number: i64) -> String {
    format!("chunks/{number:010}")
}
