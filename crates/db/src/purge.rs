//! Purges the data of a deleted organization in small transactions, children first, so that other writes do not wait
//! long. The progress is determined by the remaining rows, so a purge can stop at any point and resume. Classes are
//! deleted with the statements of `cascade.rs`, without events: first the messages of their rooms in batches, then
//! group by group, then the small remainder.

use domain::file::FileKey;
use domain::id::{AssignmentId, ClassId, GroupId, SessionId, UserId, WorkRoomId};

use super::WriteTx;
use super::sql::Sql;
use crate::{args, fragments, statements};
use common::error::{Error, Result};

/// Rows per transaction.
const BATCH: i64 = 500;

fragments! {
    /// The next members to delete.
    NEXT_MEMBERS = "(SELECT user_id FROM members WHERE organization_id = $1 ORDER BY user_id LIMIT $2)";
    /// Those of the next members who belong to no other organization and are not super admins.
    WITHOUT_OTHER_MEMBERSHIP = "(SELECT u.id FROM users u
            WHERE u.role <> 'SUPER_ADMIN' AND u.id IN {NEXT_MEMBERS} AND NOT EXISTS (SELECT 1 FROM members m
            JOIN organizations o ON o.id = m.organization_id
                WHERE m.user_id = u.id AND m.organization_id <> $1 AND o.deleted_at IS NULL))";
}

statements! {
    /// Whether the organization is deleted; nothing is purged from others.
    IS_DELETED = "SELECT deleted_at IS NOT NULL FROM organizations WHERE id = $1 FOR NO KEY UPDATE";
    CLASS = "SELECT id FROM classes WHERE organization_id = $1 ORDER BY name_key, id LIMIT 1";
    /// A room of the class with messages.
    ROOM = "SELECT w.id FROM groups g JOIN work_rooms w ON w.organization_id = g.organization_id AND w.group_id = g.id
        WHERE g.organization_id = $1 AND g.class_id = $2
            AND EXISTS (SELECT 1 FROM work_room_messages m
            WHERE m.organization_id = $1 AND m.work_room_id = w.id) LIMIT 1";
    /// The files of the messages of a room.
    ROOM_FILES = "DELETE FROM message_attachments
            WHERE organization_id = $1 AND work_room_id = $2 RETURNING file_key";
    /// The newest messages of a room: a reply is newer than the message it refers to, so no reference dangles.
    ROOM_MESSAGES = "DELETE FROM work_room_messages WHERE organization_id = $1 AND id IN (SELECT id
            FROM work_room_messages
        WHERE organization_id = $1 AND work_room_id = $2 ORDER BY seq DESC LIMIT $3)";
    GROUP = "SELECT id FROM groups WHERE organization_id = $1 AND class_id = $2 ORDER BY group_number LIMIT 1";
    TOPIC = "SELECT id FROM assignments WHERE organization_id = $1 AND class_id = $2 ORDER BY deadline, id LIMIT 1";
    RECIPIENTS = "DELETE FROM message_recipients WHERE organization_id = $1 AND message_id IN (SELECT id
            FROM direct_messages WHERE organization_id = $1 ORDER BY id LIMIT $2)";
    MESSAGES = "DELETE FROM direct_messages WHERE organization_id = $1 AND id IN (SELECT id FROM direct_messages
            WHERE organization_id = $1 ORDER BY id LIMIT $2)";
    HOMEROOM_STUDENTS = "DELETE FROM homeroom_enrollments WHERE organization_id = $1 AND homeroom_id IN (SELECT id
            FROM homerooms WHERE organization_id = $1 ORDER BY id LIMIT $2)";
    HOMEROOMS = "DELETE FROM homerooms WHERE organization_id = $1 AND id IN (SELECT id FROM homerooms
            WHERE organization_id = $1 ORDER BY id LIMIT $2)";
    SUBJECTS = "DELETE FROM subjects WHERE organization_id = $1 AND id IN (SELECT id FROM subjects
            WHERE organization_id = $1 ORDER BY id LIMIT $2)";
    /// The result files of its jobs.
    JOB_FILES = "SELECT file_key FROM jobs WHERE organization_id = $1 AND file_key IS NOT NULL";
    JOBS = "DELETE FROM jobs WHERE organization_id = $1 AND kind <> 'ORGANIZATION_PURGE'";
    STORAGE = "DELETE FROM storage_usages WHERE organization_id = $1";
    /// The next invitations, in the order of the organization's index.
    INVITATIONS = "DELETE FROM invitations WHERE organization_id = $1 AND id IN (SELECT id FROM invitations
        WHERE organization_id = $1 ORDER BY created_at, id LIMIT $2)";
    /// All mail domains; there are few.
    DOMAINS = "DELETE FROM mail_domains WHERE organization_id = $1";
    API_TOKENS = "DELETE FROM api_tokens WHERE organization_id = $1";
    /// The next rubrics.
    RUBRICS = "DELETE FROM rubrics WHERE organization_id = $1 AND id IN (SELECT id FROM rubrics
        WHERE organization_id = $1 ORDER BY title_key, id LIMIT $2)";
    /// The next text snippets.
    SNIPPETS = "DELETE FROM text_snippets WHERE organization_id = $1 AND id IN (SELECT id FROM text_snippets
        WHERE organization_id = $1 LIMIT $2)";
    /// The former short names; there are few.
    FORMER_SLUGS = "DELETE FROM former_slugs WHERE organization_id = $1";
    /// Sessions that its providers opened.
    SIGN_ON_SESSIONS = "DELETE FROM sessions WHERE sign_on_organization_id = $1 RETURNING user_id, id";
    SIGN_ON_ATTEMPTS = "DELETE FROM sign_on_attempts WHERE organization_id = $1";
    SIGN_ON_LOGOUTS = "DELETE FROM sign_on_logouts WHERE organization_id = $1";
    /// The next identities at its providers.
    IDENTITIES = "DELETE FROM external_identities WHERE organization_id = $1 AND id IN (SELECT id
            FROM external_identities WHERE organization_id = $1 ORDER BY created_at, id LIMIT $2)";
    /// The next entries of roster runs.
    ROSTER_ENTRIES = "DELETE FROM roster_run_entries WHERE organization_id = $1 AND run_id IN (SELECT id FROM roster_runs
        WHERE organization_id = $1 ORDER BY source_id, created_at, id LIMIT $2)";
    ROSTER_RUNS = "DELETE FROM roster_runs WHERE organization_id = $1 AND id IN (SELECT id FROM roster_runs
        WHERE organization_id = $1 ORDER BY source_id, created_at, id LIMIT $2)";
    /// The next people and classes that its roster sources brought.
    ROSTER_ORIGINS = "DELETE FROM roster_origins WHERE organization_id = $1 AND (object, external_id) IN (
            SELECT object, external_id FROM roster_origins WHERE organization_id = $1
            ORDER BY object, external_id LIMIT $2)";
    ROSTER_SOURCES = "DELETE FROM roster_sources WHERE organization_id = $1";
    PROVIDERS = "DELETE FROM sign_on_providers WHERE organization_id = $1";
    /// Rate limit windows for help requests and imports.
    RATES = "DELETE FROM rate_windows WHERE organization_id = $1";
    /// Late texts.
    LATE_TEXTS = "DELETE FROM late_texts WHERE organization_id = $1 RETURNING file_key";
    DELETED_DOCUMENTS = "DELETE FROM deleted_documents WHERE organization_id = $1";
    /// Stored responses of idempotency keys.
    IDEMPOTENCY_KEYS = "DELETE FROM idempotency_keys WHERE organization_id = $1";
    /// Ends the sessions of the next members without another organization.
    END_SESSIONS = "DELETE FROM sessions WHERE user_id IN {WITHOUT_OTHER_MEMBERSHIP} RETURNING user_id, id";
    /// Deactivates the accounts of the next members without another organization.
    DEACTIVATE = "UPDATE users SET is_active = FALSE, updated_at = $3
            WHERE is_active AND id IN {WITHOUT_OTHER_MEMBERSHIP}";
    /// The next memberships.
    MEMBERS = "DELETE FROM members WHERE organization_id = $1 AND user_id IN {NEXT_MEMBERS}";
    /// Clears the home organization of the next accounts and the user names in it.
    HOMES = "UPDATE users SET home_organization_id = NULL, username = NULL, user_name = NULL
        WHERE home_organization_id = $1
        AND id IN (SELECT id FROM users WHERE home_organization_id = $1 ORDER BY id LIMIT $2)";
    /// The next log records.
    LOG = "DELETE FROM activity_logs WHERE organization_id = $1 AND id IN (SELECT id FROM activity_logs
        WHERE organization_id = $1 ORDER BY created_at, id LIMIT $2)";
    /// Clears the active organization of sessions: one may have been switching to it when it was deleted.
    LEAVE = "UPDATE sessions SET active_organization_id = NULL WHERE active_organization_id = $1";
    /// Passwords set by its administrators are valid in no organization until the user verifies their email address.
    PASSWORDS = "UPDATE users SET password_organization_id = '' WHERE password_organization_id = $1";
    /// Passkeys that its administrators could have added are second factors only from now on.
    PASSKEYS = "UPDATE passkeys SET limited_to_organization_id = '' WHERE limited_to_organization_id = $1";
    /// The purge job itself.
    LAST_JOB = "DELETE FROM jobs WHERE organization_id = $1";
    ORGANIZATION = "DELETE FROM organizations WHERE id = $1";
}

/// The result of one transaction of a purge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PurgeProgress {
    /// Files that are no longer referenced.
    pub files: Vec<FileKey>,
    /// Sessions that ended, by user.
    pub ended: Vec<(UserId, SessionId)>,
    /// Whether nothing is left.
    pub is_over: bool,
}

impl WriteTx<'_> {
    /// Purges the next batch of rows of the deleted organization.
    pub fn purge_batch(&mut self) -> Result<PurgeProgress> {
        match self.fetch_optional(&IS_DELETED, args![], |row| row.only())? {
            // An earlier attempt finished without recording it.
            None => {
                return Ok(PurgeProgress {
                    is_over: true,
                    ..PurgeProgress::default()
                });
            }
            Some(false) => return Err(Error::Internal(anyhow::anyhow!("a living organization is not purged"))),
            Some(true) => {}
        }
        if let Some(class) = self.fetch_optional(&CLASS, args![], |row| row.get::<ClassId>("id"))? {
            let files = self.purge_class(&class)?;
            return Ok(PurgeProgress {
                files,
                ..PurgeProgress::default()
            });
        }
        if let Some(files) = self.purge_next_archive()? {
            return Ok(PurgeProgress {
                files,
                ..PurgeProgress::default()
            });
        }
        let pieces: [(Option<&'static Sql>, &'static Sql); 9] = [
            (Some(&RECIPIENTS), &MESSAGES),
            (Some(&HOMEROOM_STUDENTS), &HOMEROOMS),
            (None, &SUBJECTS),
            (None, &INVITATIONS),
            (None, &SNIPPETS),
            (None, &RUBRICS),
            (None, &IDENTITIES),
            (Some(&ROSTER_ENTRIES), &ROSTER_RUNS),
            (None, &ROSTER_ORIGINS),
        ];
        for (children, piece) in pieces {
            if let Some(children) = children {
                self.execute(children, args![BATCH])?;
            }
            if self.execute_counted(piece, args![BATCH])? > 0 {
                return Ok(PurgeProgress::default());
            }
        }
        let mut files: Vec<String> = self.fetch_all(&JOB_FILES, args![], |row| row.get("file_key"))?;
        files.extend(self.fetch_all(&LATE_TEXTS, args![], |row| row.get::<String>("file_key"))?);
        let mut counted = 0;
        for table in [
            &DELETED_DOCUMENTS,
            &JOBS,
            &STORAGE,
            &RATES,
            &DOMAINS,
            &API_TOKENS,
            &FORMER_SLUGS,
            &IDEMPOTENCY_KEYS,
            &SIGN_ON_ATTEMPTS,
            &SIGN_ON_LOGOUTS,
            &PROVIDERS,
            &ROSTER_SOURCES,
        ] {
            counted += self.execute_counted(table, args![])?;
        }
        if counted > 0 {
            let files = files.into_iter().map(FileKey::new).collect();
            return Ok(PurgeProgress {
                files,
                ..PurgeProgress::default()
            });
        }
        let ended = self.purge_accounts()?;
        if self.execute_counted(&MEMBERS, args![BATCH])? > 0 {
            return Ok(PurgeProgress {
                ended,
                ..PurgeProgress::default()
            });
        }
        for piece in [&HOMES, &LOG] {
            if self.execute_counted(piece, args![BATCH])? > 0 {
                return Ok(PurgeProgress::default());
            }
        }
        for last in [&LEAVE, &PASSWORDS, &PASSKEYS, &LAST_JOB, &ORGANIZATION] {
            self.execute(last, args![])?;
        }
        Ok(PurgeProgress {
            is_over: true,
            ..PurgeProgress::default()
        })
    }

    /// Purges the next batch of rows of a class, and finally the class itself; returns the files that are no longer
    /// referenced.
    fn purge_class(&mut self, class: &ClassId) -> Result<Vec<FileKey>> {
        if let Some(room) = self.fetch_optional(&ROOM, args![class], |row| row.get::<WorkRoomId>("id"))? {
            let files = self.fetch_all(&ROOM_FILES, args![room], |row| row.get::<FileKey>("file_key"))?;
            self.execute(&ROOM_MESSAGES, args![room, BATCH])?;
            return Ok(files);
        }
        if let Some(group) = self.fetch_optional(&GROUP, args![class], |row| row.get::<GroupId>("id"))? {
            return Ok(self.delete_group(&group)?.files);
        }
        if let Some(topic) = self.fetch_optional(&TOPIC, args![class], |row| row.get::<AssignmentId>("id"))? {
            return Ok(self.delete_assignment(&topic)?.files);
        }
        Ok(self.delete_class(class)?.files)
    }

    /// Deactivates the accounts of the next members without another organization. Accounts are deactivated whenever
    /// their last membership ends (docs/api-contract.md#people).
    fn purge_accounts(&mut self) -> Result<Vec<(UserId, SessionId)>> {
        let now = self.now();
        let mut ended = self.fetch_all(&SIGN_ON_SESSIONS, args![], |row| row.pair("user_id", "id"))?;
        ended.extend(self.fetch_all(&END_SESSIONS, args![BATCH], |row| row.pair("user_id", "id"))?);
        self.execute(&DEACTIVATE, args![BATCH, now])?;
        Ok(ended)
    }
}
