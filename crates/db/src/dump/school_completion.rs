//! The end of the import of a school: checks of references and of archives of deleted objects, derived values, invitations
//! and erasures, in the transaction of the import.

use std::collections::HashMap;

use domain::access::MemberRole;
use domain::account_email::AccountEmail;
use domain::file::FileKey;
use domain::invitation::LIFETIME;
use domain::time::Timestamp;

use super::Cell;
use super::school::SchoolTable;
use super::school_import::{FILES, SchoolImport, check_texts, refused, rename_mentioned, rename_people};
use super::school_people::{NamedPeople, NewInvitation};
use crate::archives::format::{ArchiveManifest, ArchivedRow, ChunkVerifier, ChunkWriter, read_chunk};
use crate::archives::tables::ArchivedTable;
use crate::platform::PlatformTx;
use crate::platform::erasure::LogScan;
use crate::sql::{Sql, Value};
use crate::{args, statements};
use common::clock;
use common::error::Result;

statements! {
    /// A document whose current revision is none of its own.
    CURRENT_REVISION = "SELECT d.id AS found FROM documents d WHERE d.organization_id = $1 AND d.current_revision_id IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM document_revisions r WHERE r.id = d.current_revision_id AND r.document_id = d.id) LIMIT 1";
    /// A group on a topic whose current submission is none of its own.
    CURRENT_SUBMISSION = "SELECT l.id AS found FROM group_assignments l WHERE l.organization_id = $1
        AND l.current_submission_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM submissions s
            WHERE s.id = l.current_submission_id AND s.group_assignment_id = l.id) LIMIT 1";
    SAVED_REVISION = "SELECT x.revision_id AS found FROM document_saves x JOIN document_revisions y ON y.id = x.revision_id
        WHERE x.organization_id = $1 AND y.organization_id <> $1 LIMIT 1";
    LOG_REVISION = "SELECT x.base_revision_id AS found FROM document_logs x JOIN document_revisions y ON y.id = x.base_revision_id
        WHERE x.organization_id = $1 AND y.organization_id <> $1 LIMIT 1";
    TOPIC_RUBRIC = "SELECT x.rubric_id AS found FROM assignment_rubrics x JOIN rubrics y ON y.id = x.rubric_id
        WHERE x.organization_id = $1 AND y.organization_id <> $1 LIMIT 1";
    HANDED_OUT_FILE = "SELECT x.handed_out_from AS found FROM documents x JOIN assignment_attachments y ON y.id = x.handed_out_from
        WHERE x.organization_id = $1 AND y.organization_id <> $1 LIMIT 1";
    DELETED_IN_CLASS = "SELECT x.class_id AS found FROM deletion_archives x JOIN classes y ON y.id = x.class_id
        WHERE x.organization_id = $1 AND y.organization_id <> $1 LIMIT 1";
    LOGGED_CLASS = "SELECT x.class_id AS found FROM activity_logs x JOIN classes y ON y.id = x.class_id
        WHERE x.organization_id = $1 AND y.organization_id <> $1 LIMIT 1";
    ARCHIVES = "SELECT id, manifest, seal FROM deletion_archives WHERE organization_id = $1 AND manifest <> '' ORDER BY id";
    ARCHIVE_FILES = "SELECT file_key, size, sha256 FROM deletion_archive_files WHERE organization_id = $1 AND archive_id = $2";
    CHUNK = "SELECT content FROM deletion_archive_chunks WHERE organization_id = $1 AND archive_id = $2 AND number = $3";
    SET_CHUNK = "UPDATE deletion_archive_chunks SET content = $4 WHERE organization_id = $1 AND archive_id = $2 AND number = $3";
    SET_MANIFEST = "UPDATE deletion_archives SET manifest = $3, seal = $4 WHERE organization_id = $1 AND id = $2";
    SET_ROLES = "UPDATE users SET role = $2 WHERE role <> 'SUPER_ADMIN' AND home_organization_id = $1
        AND id IN (SELECT m.user_id FROM members m WHERE m.organization_id = $1 AND m.role = $3)";
    /// New keys for documents without a log.
    SET_GENERATIONS = "UPDATE documents SET generation = $2 WHERE organization_id = $1 AND generation < $2
        AND NOT EXISTS (SELECT 1 FROM document_logs l
            WHERE l.document_id = documents.id AND l.generation = documents.generation)";
    CLASSES_OF = "SELECT class_id FROM class_enrollments WHERE organization_id = $1 AND student_id = $2
        UNION SELECT class_id FROM class_teachers WHERE organization_id = $1 AND user_id = $2 ORDER BY class_id";
    HOMEROOMS_OF = "SELECT homeroom_id FROM homeroom_enrollments WHERE organization_id = $1 AND student_id = $2
        ORDER BY homeroom_id";
    INVITE = "INSERT INTO invitations (organization_id, id, email, name, role, external_id, class_ids, homeroom_ids, status,
            expires_at, created_at, updated_at)
        SELECT $1, CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS TEXT), CAST($6 AS TEXT), CAST($7 AS TEXT),
            CAST($8 AS TEXT), 'pending', CAST($9 AS BIGINT), CAST($10 AS BIGINT), CAST($10 AS BIGINT)
        WHERE NOT EXISTS (SELECT 1 FROM invitations i WHERE i.organization_id = $1 AND i.email = $3 AND i.status = 'pending')";
    REMOVE_FILE = "INSERT INTO file_removals (organization_id, id, file_key, next_attempt_at, created_at)
        VALUES ($1, $2, $3, $4, $4)";
    OWNERS = "SELECT u.id, u.email FROM members m JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = $1 AND m.role = 'owner' AND m.is_active AND u.is_active ORDER BY u.email";
    WITHOUT_PASSWORD = "SELECT COUNT(*) AS count FROM members m JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = $1 AND m.is_active AND u.is_active
            AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.user_id = u.id)";
}

/// References that are no foreign keys.
static REFERENCES: [&Sql; 8] = [
    &CURRENT_REVISION,
    &CURRENT_SUBMISSION,
    &SAVED_REVISION,
    &LOG_REVISION,
    &TOPIC_RUBRIC,
    &HANDED_OUT_FILE,
    &DELETED_IN_CLASS,
    &LOGGED_CLASS,
];

impl SchoolImport {
    /// References that are no foreign keys do not lead to rows of other schools. One that leads nowhere is harmless: the row
    /// may have been deleted.
    pub(super) fn check_references(&mut self) -> Result<()> {
        for check in REFERENCES {
            let found = self
                .connection
                .fetch_optional(check, args![self.organization], |row| row.only::<String>())?;
            if let Some(id) = found {
                return Err(refused(format!(
                    "a row refers to a row that is not in the archive: {id}"
                )));
            }
        }
        Ok(())
    }

    /// Verifies the archives of deleted objects: they are restored later without these checks.
    pub(super) fn check_archives(&mut self) -> Result<()> {
        let archives = self.connection.fetch_all(&ARCHIVES, args![self.organization], |row| {
            Ok((
                row.get::<String>("id")?,
                row.get::<String>("manifest")?,
                row.get::<String>("seal")?,
            ))
        })?;
        for (id, manifest, seal) in archives {
            let damaged = |_| refused(format!("the archive of the deleted object {id} is damaged"));
            let manifest = ArchiveManifest::open(&manifest, &seal).map_err(damaged)?;
            if manifest.organization != self.organization {
                return Err(refused(format!("the deleted object {id} is one of another school")));
            }
            self.check_archive(&id, manifest)?;
        }
        Ok(())
    }

    fn check_archive(&mut self, id: &str, mut manifest: ArchiveManifest) -> Result<()> {
        let files = self
            .connection
            .fetch_all(&ARCHIVE_FILES, args![self.organization, id], |row| {
                Ok((row.get::<String>("file_key")?, (row.get("size")?, row.get("sha256")?)))
            })?;
        let files: HashMap<String, (i64, String)> = files.into_iter().collect();
        let mut is_rewritten = self.has_renamed_people()?;
        let mut verifier = ChunkVerifier::default();
        for number in 1..=manifest.chunks {
            let chunk = self.chunk_of_archive(id, number)?;
            verifier.add(&chunk)?;
            let (mut restored, mut kept) = (NamedPeople::default(), NamedPeople::default());
            read_chunk(&chunk, |mut row| {
                let people = check_archived_row(&row, &files)?;
                restored.add(&mut row, people.restored, people.lists, people.mentions)?;
                kept.add(&mut row, people.kept, &[], &[])
            })?;
            let people = self.people(&restored)?;
            self.refuse_foreign_people(restored.unknown(&people))?;
            let people = self.people(&kept)?;
            is_rewritten |= kept.unknown(&people).next().is_some();
        }
        verifier.verify(&manifest)?;
        if is_rewritten {
            self.rewrite_archive(id, &mut manifest)?;
        }
        Ok(())
    }

    fn chunk_of_archive(&mut self, id: &str, number: i64) -> Result<String> {
        self.connection
            .fetch_optional(&CHUNK, args![self.organization, id, number], |row| row.only::<String>())?
            .ok_or_else(|| refused(format!("the archive of the deleted object {id} is damaged")))
    }

    /// Writes the archive of a deleted object again, with the ids that its people have here.
    fn rewrite_archive(&mut self, id: &str, manifest: &mut ArchiveManifest) -> Result<()> {
        let mut writer = ChunkWriter::default();
        for number in 1..=manifest.chunks {
            let chunk = self.chunk_of_archive(id, number)?;
            let mut named = NamedPeople::default();
            read_chunk(&chunk, |mut row| {
                let people = ArchivedPeople::of(&row.header.table);
                named.add(&mut row, people.restored, people.lists, people.mentions)?;
                named.add(&mut row, people.kept, &[], &[])
            })?;
            let known = self.people(&named)?;
            read_chunk(&chunk, |mut row| {
                let people = ArchivedPeople::of(&row.header.table);
                rename_people(&mut row, people.restored, people.lists, &known)?;
                rename_mentioned(&mut row, people.mentions, &known);
                for column in people.kept {
                    let here = row.text(column).and_then(|id| known.get(id).cloned());
                    row.set(column, here.map_or(Cell::Null, Cell::Text));
                }
                writer.push(&row).map(drop)
            })?;
            let (_, content) = writer.take_chunk()?;
            self.connection
                .execute(&SET_CHUNK, args![self.organization, id, number, content])?;
        }
        manifest.sha256 = writer.sha256();
        let (text, seal) = manifest.sealed()?;
        self.connection
            .execute(&SET_MANIFEST, args![self.organization, id, text, seal])?;
        Ok(())
    }

    /// Writes what is derived from the rows: roles of accounts, keys of documents, and the used storage.
    pub(super) fn derive(&mut self) -> Result<()> {
        for role in [
            MemberRole::Owner,
            MemberRole::Admin,
            MemberRole::Teacher,
            MemberRole::Student,
        ] {
            let (platform, member) = (role.platform_role().as_str(), role.as_str());
            self.connection
                .execute(&SET_ROLES, args![self.organization, platform, member])?;
        }
        if self.has_known_people {
            // The school was here before: a document server may know its documents.
            let seconds = self.now.as_millis() / 1000;
            self.connection
                .execute(&SET_GENERATIONS, args![self.organization, seconds])?;
        }
        self.connection.execute_batch(&format!(
            "INSERT INTO storage_usages (organization_id, bytes, counted_at, added)
                SELECT {}, 0, 0, CAST(COALESCE(SUM(f.size), 0) AS BIGINT) FROM {FILES} f",
            super::school::literal(&self.organization)
        ))
    }

    /// Returns a JSON list of the ids that a query selects.
    fn listed(&mut self, statement: &'static Sql, arguments: &[Value<'_>]) -> Result<String> {
        let ids = self
            .connection
            .fetch_all(statement, arguments, |row| row.only::<String>())?;
        Ok(serde_json::to_string(&ids)?)
    }

    /// Invites the addresses that have an account. No email is sent.
    pub(super) fn invite(&mut self) -> Result<()> {
        let expires = self.now.plus_seconds(LIFETIME);
        let mut after = String::new();
        loop {
            let page = self.next_invitations(&after)?;
            let Some(last) = page.last() else { return Ok(()) };
            after.clone_from(&last.user);
            for new in page {
                self.invite_person(new, expires)?;
            }
        }
    }

    fn invite_person(&mut self, new: NewInvitation, expires: Timestamp) -> Result<()> {
        let organization = self.organization.clone();
        let classes = self.listed(&CLASSES_OF, args![organization, new.user])?;
        let homerooms = self.listed(&HOMEROOMS_OF, args![organization, new.user])?;
        let id = clock::new_id();
        let arguments = args![
            organization,
            id,
            new.email,
            new.name,
            new.role,
            new.external_id,
            classes,
            homerooms,
            expires,
            self.now,
        ];
        self.connection.execute(&INVITE, arguments)?;
        self.result.invited.push(new.email);
        Ok(())
    }

    /// Erases the people who were erased in this installation.
    pub(super) fn erase(&mut self) -> Result<()> {
        let mut after = String::new();
        loop {
            let page = self.next_erased(&after)?;
            let Some((last, _)) = page.last() else { return Ok(()) };
            last.as_str().clone_into(&mut after);
            self.result.erased += page.len() as u64;
            for (user, address) in &page {
                let none = AccountEmail::none(user);
                let address = address.as_deref().unwrap_or(none.stored_form());
                let mut platform = PlatformTx::on(&mut self.connection);
                platform.erase_from_log(user, address, &LogScan::default())?;
                let (_, files) = platform.erase_person(user, self.now)?;
                for key in files {
                    self.remove_later(&key)?;
                }
            }
        }
    }

    fn remove_later(&mut self, key: &FileKey) -> Result<()> {
        let id = clock::new_id();
        let arguments = args![self.organization, id, key, self.now];
        self.connection.execute(&REMOVE_FILE, arguments).map(drop)
    }

    pub(super) fn summarize(&mut self) -> Result<()> {
        let owners = self
            .connection
            .fetch_all(&OWNERS, args![self.organization], |row| row.pair("id", "email"))?;
        let without_password = self
            .connection
            .fetch_optional(&WITHOUT_PASSWORD, args![self.organization], |row| row.only::<i64>())?;
        self.result.owners = owners;
        self.result.without_password = without_password
            .and_then(|count| u64::try_from(count).ok())
            .unwrap_or(0);
        self.result.organization.clone_from(&self.organization);
        self.result.slug.clone_from(&self.slug);
        Ok(())
    }
}

/// The columns of an archived table with ids of people.
#[derive(Debug, Default)]
struct ArchivedPeople {
    /// Those that a restore writes.
    restored: &'static [&'static str],
    /// Those of the former state of a row that was not deleted, which a restore does not write.
    kept: &'static [&'static str],
    lists: &'static [&'static str],
    mentions: &'static [&'static str],
}

impl ArchivedPeople {
    fn of(table: &str) -> Self {
        let found = ArchivedTable::find(table);
        let Some((archived, rules)) = found.and_then(|found| Some((found, SchoolTable::find(found.table)?))) else {
            return Self::default();
        };
        let (restored, kept): (&[&str], &[&str]) = if archived.is_inserted() {
            (rules.users, &[])
        } else {
            (&["submitted_by_id"], &["created_by_id", "last_edited_by"])
        };
        Self {
            restored,
            kept,
            lists: rules.user_lists,
            mentions: rules.mentions,
        }
    }
}

/// Checks a row of an archive of a deleted object; returns its columns with ids of people.
fn check_archived_row(row: &ArchivedRow<'_>, files: &HashMap<String, (i64, String)>) -> Result<ArchivedPeople> {
    let table = row.header.table.as_str();
    if ArchivedTable::find(table).is_none() {
        return Err(refused(format!("a deleted object has rows of {table:?}")));
    }
    check_texts(row)?;
    if let Some(key) = row.text("file_key") {
        let is_listed = files
            .get(key)
            .is_some_and(|(size, sha256)| row.int("size") == Some(*size) && row.is("sha256", sha256));
        if !is_listed {
            return Err(refused(format!(
                "a deleted object refers to the file {key}, which is not in the archive"
            )));
        }
    }
    Ok(ArchivedPeople::of(table))
}
