//! Archives of deleted objects of all organizations: expiry, and the erasure of a user in them. `$1` is the user in the
//! statements of an erasure.

use std::collections::BTreeSet;

use domain::erasure::without_grades_of;
use domain::file::FileKey;
use domain::id::{DeletionId, UserId};
use domain::time::Timestamp;
use serde_json::Value;

use super::PlatformTx;
use crate::archives::format::{ArchiveManifest, ArchivedRow, ChunkVerifier, ChunkWriter, read_chunk};
use crate::dump::Cell;
use crate::{args, statements};
use common::error::{Error, Result};

statements! {
    /// Whether there are expired archives.
    ANY_EXPIRED = "SELECT EXISTS (SELECT 1 FROM deletion_archives WHERE expires_at <= $1)";
    /// The next expired archives, locked until the end of the transaction.
    EXPIRED = "SELECT id FROM deletion_archives WHERE expires_at <= $1 ORDER BY expires_at, id LIMIT $2 FOR UPDATE";
    /// Schedules the files of an archive for removal after the commit.
    FORGET = "INSERT INTO file_removals (organization_id, id, file_key, next_attempt_at, created_at)
        SELECT organization_id, archive_id || '/' || file_key, file_key, $2, $2 FROM deletion_archive_files
        WHERE archive_id = $1";
    DELETE_CHUNKS = "DELETE FROM deletion_archive_chunks WHERE archive_id = $1";
    DELETE_FILES = "DELETE FROM deletion_archive_files WHERE archive_id = $1";
    DELETE_PEOPLE = "DELETE FROM deletion_archive_people WHERE archive_id = $1";
    DELETE = "DELETE FROM deletion_archives WHERE id = $1";
    /// The archives with rows about a user, locked until the end of the transaction.
    OF_USER = "SELECT a.id, a.manifest, a.seal FROM deletion_archives a WHERE a.id IN
            (SELECT p.archive_id FROM deletion_archive_people p WHERE p.user_id = $1)
        ORDER BY a.id FOR UPDATE";
    CHUNK = "SELECT content FROM deletion_archive_chunks WHERE archive_id = $1 AND number = $2";
    REWRITE_CHUNK = "UPDATE deletion_archive_chunks SET content = $3 WHERE archive_id = $1 AND number = $2";
    RESEAL = "UPDATE deletion_archives SET manifest = $2, seal = $3, bytes = $4 WHERE id = $1";
    DELETE_FILE = "DELETE FROM deletion_archive_files WHERE archive_id = $1 AND file_key = $2";
    DELETE_PERSON = "DELETE FROM deletion_archive_people WHERE archive_id = $2 AND user_id = $1";
    ARCHIVE_FILES = "SELECT file_key FROM deletion_archive_files WHERE archive_id = $1 ORDER BY file_key";
}

/// The effect of an erasure on a row of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErasedRow {
    /// The row has no content of the user.
    Unchanged,
    /// The content of the user is cleared.
    Cleared,
    /// The row is about the user alone.
    Dropped,
}

/// Erases a user from a row of an archive, with the rules of the erasure of present rows ([`super::erasure`]).
pub(crate) fn erase_row(row: &mut ArchivedRow<'_>, user: &UserId, now: Timestamp) -> ErasedRow {
    let id = user.as_str();
    let mut is_changed = false;
    match row.header.table.as_str() {
        "class_teachers"
        | "group_members"
        | "work_room_reads"
        | "document_contributions"
        | "comment_reads"
        | "member_grades"
            if row.is("user_id", id) =>
        {
            return ErasedRow::Dropped;
        }
        "class_enrollments" if row.is("student_id", id) => return ErasedRow::Dropped,
        "message_attachments" if row.is("uploaded_by_id", id) => return ErasedRow::Dropped,
        "groups" => {
            if row.is("help_requested_by_id", id) {
                row.clear(&["help_message", "help_requested_by_id"]);
                is_changed = true;
            }
            if row.is("help_claimed_by_id", id) {
                row.clear(&["help_claimed_by_id"]);
                is_changed = true;
            }
        }
        "work_room_messages" if row.is("sender_id", id) => {
            row.set_text("content", "");
            row.clear(&["client_message_id"]);
            if row.int("deleted_at").is_none() {
                row.set("deleted_at", Cell::Int(now.as_millis()));
            }
            is_changed = true;
        }
        "document_comments" if row.is("author_id", id) => {
            row.set_text("text", "");
            is_changed = true;
        }
        "submissions" if row.is("submitted_by_id", id) && row.text("note").is_some() => {
            row.clear(&["note"]);
            is_changed = true;
        }
        "grade_history" => {
            let grades: Option<Value> = row
                .text("member_grades")
                .and_then(|text| serde_json::from_str(text).ok());
            if let Some(grades) = grades {
                let (kept, gone) = without_grades_of(grades, user);
                if gone > 0 {
                    row.set_text("member_grades", &kept.to_string());
                    is_changed = true;
                }
            }
        }
        _ => {}
    }
    if is_changed {
        ErasedRow::Cleared
    } else {
        ErasedRow::Unchanged
    }
}

impl PlatformTx<'_> {
    /// Returns whether there are archives that expired by `now`.
    pub fn has_expired_archives(&mut self, now: Timestamp) -> Result<bool> {
        self.fetch_one(&ANY_EXPIRED, args![now], |row| row.only())
    }

    /// Deletes archives that expired by `now`, at most `limit`, and schedules their files for removal. Returns their
    /// number.
    pub fn expire_archives(&mut self, now: Timestamp, limit: i64) -> Result<usize> {
        let expired: Vec<DeletionId> = self.fetch_all(&EXPIRED, args![now, limit], |row| row.get("id"))?;
        for id in &expired {
            self.execute(&FORGET, args![id, now])?;
            self.delete_archive(id)?;
        }
        Ok(expired.len())
    }

    fn delete_archive(&mut self, id: &DeletionId) -> Result<()> {
        for statement in [&DELETE_CHUNKS, &DELETE_FILES, &DELETE_PEOPLE, &DELETE] {
            self.execute(statement, args![id])?;
        }
        Ok(())
    }

    /// Erases a user from all archives: each is written again without their content, one chunk at a time. A damaged
    /// archive, which cannot be restored, is deleted. Returns the number of archives and the files that are no longer
    /// referenced.
    pub(super) fn erase_from_archives(&mut self, user: &UserId, now: Timestamp) -> Result<(i64, Vec<FileKey>)> {
        let archives: Vec<(DeletionId, String, String)> = self.fetch_all(&OF_USER, args![user], |row| {
            Ok((row.get("id")?, row.get("manifest")?, row.get("seal")?))
        })?;
        let mut files = Vec::new();
        for (id, manifest, seal) in &archives {
            match self.erase_from_archive(id, (manifest, seal), user, now) {
                Ok(dropped) => files.extend(dropped),
                Err(Error::Domain(_)) => {
                    tracing::error!(deletion.id = %id, "damaged archive of a deleted object deleted by an erasure");
                    let all = self.fetch_all(&ARCHIVE_FILES, args![id], |row| row.get::<FileKey>("file_key"))?;
                    files.extend(all);
                    self.delete_archive(id)?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok((i64::try_from(archives.len()).unwrap_or(i64::MAX), files))
    }

    fn erase_from_archive(
        &mut self,
        id: &DeletionId,
        (manifest, seal): (&str, &str),
        user: &UserId,
        now: Timestamp,
    ) -> Result<Vec<FileKey>> {
        let mut manifest = ArchiveManifest::open(manifest, seal)?;
        let (mut verifier, mut writer) = (ChunkVerifier::default(), ChunkWriter::default());
        let mut dropped = BTreeSet::new();
        for number in 1..=manifest.chunks {
            let chunk: Option<String> = self.fetch_optional(&CHUNK, args![id, number], |row| row.get("content"))?;
            let chunk = chunk.ok_or(domain::domain_error::DomainError::ArchiveDamaged)?;
            verifier.add(&chunk)?;
            read_chunk(&chunk, |mut row| {
                if erase_row(&mut row, user, now) == ErasedRow::Dropped {
                    dropped.extend(row.text("file_key").map(str::to_owned));
                    return Ok(());
                }
                writer.push(&row).map(drop)
            })?;
            let (_, content) = writer.take_chunk()?;
            self.execute(&REWRITE_CHUNK, args![id, number, content])?;
        }
        verifier.verify(&manifest)?;
        manifest.tables.clone_from(&writer.tables);
        manifest.sha256 = writer.sha256();
        manifest.files = i64::try_from(writer.files.len()).unwrap_or(i64::MAX);
        manifest.bytes = writer.bytes();
        let (text, seal) = manifest.sealed()?;
        self.execute(&RESEAL, args![id, text, seal, manifest.bytes])?;
        let lost: Vec<String> = dropped
            .into_iter()
            .filter(|key| !writer.files.contains_key(key))
            .collect();
        for key in &lost {
            self.execute(&DELETE_FILE, args![id, key])?;
        }
        self.execute(&DELETE_PERSON, args![user, id])?;
        Ok(lost.into_iter().map(FileKey::new).collect())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;
    use crate::archives::format::RowHeader;
    use crate::archives::tables::ArchivedTable;

    fn erased(table: &str, cells: &[(&str, &str)], user: &str) -> (ErasedRow, Vec<Option<String>>) {
        let header = RowHeader::of(ArchivedTable::find(table).unwrap());
        let mut row = ArchivedRow {
            header: &header,
            cells: vec![Cell::Null; header.columns.len()],
        };
        for (column, text) in cells {
            row.set_text(column, text);
        }
        let outcome = erase_row(&mut row, &UserId::new(user), Timestamp::from_millis(5));
        let read = cells.iter().map(|(column, _)| row.text(column).map(str::to_owned));
        (outcome, read.collect())
    }

    #[test]
    fn rows_about_the_user_are_dropped() {
        for (table, column) in [
            ("group_members", "user_id"),
            ("class_enrollments", "student_id"),
            ("member_grades", "user_id"),
            ("message_attachments", "uploaded_by_id"),
        ] {
            assert_eq!(
                erased(table, &[(column, "ben")], "ben").0,
                ErasedRow::Dropped,
                "{table}"
            );
            assert_eq!(
                erased(table, &[(column, "cem")], "ben").0,
                ErasedRow::Unchanged,
                "{table}"
            );
        }
    }

    #[test]
    fn content_of_the_user_is_cleared_and_that_of_others_kept() {
        let message = [("sender_id", "ben"), ("content", "hello")];
        let (outcome, read) = erased("work_room_messages", &message, "ben");
        assert_eq!(
            (outcome, read),
            (ErasedRow::Cleared, vec![Some("ben".to_owned()), Some(String::new())])
        );
        assert_eq!(erased("work_room_messages", &message, "cem").0, ErasedRow::Unchanged);
        let history = [("member_grades", r#"[{"userId":"ben"},{"userId":"cem"}]"#)];
        let (outcome, read) = erased("grade_history", &history, "ben");
        assert_eq!(outcome, ErasedRow::Cleared);
        assert_eq!(read, vec![Some(r#"[{"userId":"cem"}]"#.to_owned())]);
    }
}
