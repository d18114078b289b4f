//! The ids of a roster: who and what is in it, whatever else is known about them. An import compares them with the people
//! and classes of earlier rosters.

use std::collections::HashSet;

use domain::file::FileType;
use domain::import::PEOPLE_MAX;
use sha2::{Digest as _, Sha256};

use super::{CLASSES, ENROLLMENTS, ENROLLMENTS_MAX, OneRosterArchive, USERS, is_deleted};
use crate::import::header::{RowCells, TableLayout};
use adapters::blob_store::{FileSource, hex};
use common::error::{Error, Result};

/// The ids of a roster. Rows that the import rejects are contained as well: a person with an invalid name is present.
#[derive(Debug, Default)]
pub struct RosterSnapshot {
    pub people: HashSet<String>,
    /// People whom the roster marks as deleted.
    pub removed_people: HashSet<String>,
    /// Classes and homerooms.
    pub classes: HashSet<String>,
    pub removed_classes: HashSet<String>,
    /// Hashes of class and person.
    enrollments: HashSet<[u8; 16]>,
    /// The sum of the digests of all rows: servers may return the same rows in another order.
    rows: [u64; 4],
}

impl RosterSnapshot {
    /// Reads an archive, in a blocking thread.
    pub async fn read(source: FileSource) -> Result<Self> {
        let read = tokio::task::spawn_blocking(move || Self::of(&mut OneRosterArchive::open(&source)?));
        read.await.map_err(|error| Error::Internal(error.into()))?
    }

    /// The type of the files that can be read.
    pub const KIND: FileType = FileType::Zip;

    fn of(archive: &mut OneRosterArchive) -> Result<Self> {
        let mut snapshot = Self::default();
        archive.for_each_row(&USERS, PEOPLE_MAX, |_, cells| {
            let Ok(cells) = cells else { return Ok(()) };
            snapshot.add_row(&USERS, cells);
            let id = cells.get("sourcedId").to_owned();
            let ids = if is_deleted(cells) {
                &mut snapshot.removed_people
            } else {
                &mut snapshot.people
            };
            ids.insert(id);
            Ok(())
        })?;
        archive.for_each_row(&CLASSES, PEOPLE_MAX, |_, cells| {
            let Ok(cells) = cells else { return Ok(()) };
            snapshot.add_row(&CLASSES, cells);
            let id = cells.get("sourcedId").to_owned();
            let ids = if is_deleted(cells) {
                &mut snapshot.removed_classes
            } else {
                &mut snapshot.classes
            };
            ids.insert(id);
            Ok(())
        })?;
        archive.for_each_row(&ENROLLMENTS, ENROLLMENTS_MAX, |_, cells| {
            let Ok(cells) = cells else { return Ok(()) };
            snapshot.add_row(&ENROLLMENTS, cells);
            if !is_deleted(cells) {
                let pair = pair(cells.get("classSourcedId"), cells.get("userSourcedId"));
                snapshot.enrollments.insert(pair);
            }
            Ok(())
        })?;
        Ok(snapshot)
    }

    /// Returns whether a person is enrolled in a class or homeroom.
    pub fn has_enrollment(&self, class: &str, person: &str) -> bool {
        self.enrollments.contains(&pair(class, person))
    }

    /// Returns a digest of the roster and of further texts.
    pub fn digest<'a>(&self, more: impl Iterator<Item = &'a str>) -> String {
        let mut digest = Sha256::new();
        for number in self.rows {
            digest.update(number.to_be_bytes());
        }
        for text in more {
            digest.update(text.len().to_be_bytes());
            digest.update(text);
        }
        hex(&digest.finalize())
    }

    fn add_row(&mut self, layout: &TableLayout, cells: RowCells<'_>) {
        let mut digest = Sha256::new();
        for column in [layout.table].iter().chain(layout.required).chain(layout.optional) {
            let cell = cells.get(column);
            digest.update(cell.len().to_be_bytes());
            digest.update(cell);
        }
        digest.update(layout.table);
        let digest = digest.finalize();
        for (sum, bytes) in self.rows.iter_mut().zip(digest.chunks_exact(8)) {
            let number = bytes.iter().fold(0, |number, byte| (number << 8) | u64::from(*byte));
            *sum = sum.wrapping_add(number);
        }
    }
}

fn pair(class: &str, person: &str) -> [u8; 16] {
    let mut digest = Sha256::new();
    digest.update(class.len().to_be_bytes());
    digest.update(class);
    digest.update(person);
    let mut key = [0; 16];
    key.iter_mut()
        .zip(digest.finalize())
        .for_each(|(key, byte)| *key = byte);
    key
}
