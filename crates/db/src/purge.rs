//! What a deleted organization leaves behind, taken away piece by piece: children first, some rows a unit, so that nobody
//! else waits long. Where it got to is said by the rows that are still there, so it may stop anywhere and go on later.
//! Everything below a class goes as it does when somebody deletes a group, a topic, the class (`cascade.rs`), except that
//! nobody looks any more: a room is emptied in pieces first, then group after group goes, and a class is small when it does.

use model::file::FileKey;
use model::id::{AssignmentId, ClassId, GroupId, SessionId, UserId, WorkRoomId};

use super::Work;
use super::sql::Sql;
use crate::{args, statements};
use common::error::{Error, Result};

/// Rows of one unit.
const PIECE: i64 = 500;

/// The next members to go.
macro_rules! next_members {
    () => {
        "(SELECT user_id FROM members WHERE organization_id = $1 ORDER BY user_id LIMIT $2)"
    };
}

/// Those of them who belong to no other school, and not to the platform itself.
macro_rules! homeless {
    () => {
        concat!(
            "(SELECT u.id FROM users u WHERE u.role <> 'SUPER_ADMIN' AND u.id IN ",
            next_members!(),
            " AND NOT EXISTS (SELECT 1 FROM members m JOIN organizations o ON o.id = m.organization_id
                WHERE m.user_id = u.id AND m.organization_id <> $1 AND o.deleted_at IS NULL))"
        )
    };
}

/// Some rows of a table that has an id.
macro_rules! piece_of {
    ($table:literal) => {
        concat!(
            "DELETE FROM ",
            $table,
            " WHERE organization_id = $1 AND id IN (SELECT id FROM ",
            $table,
            " WHERE organization_id = $1 ORDER BY id LIMIT $2)"
        )
    };
}

/// Some rows of a table whose parents go next: those of the next parents.
macro_rules! children_of {
    ($table:literal, $key:literal, $parents:literal) => {
        concat!(
            "DELETE FROM ",
            $table,
            " WHERE organization_id = $1 AND ",
            $key,
            " IN (SELECT id FROM ",
            $parents,
            " WHERE organization_id = $1 ORDER BY id LIMIT $2)"
        )
    };
}

statements! {
    /// Whether the organization was deleted. Nothing is taken from one that was not.
    IS_DELETED = "SELECT deleted_at IS NOT NULL FROM organizations WHERE id = $1 FOR NO KEY UPDATE";
    /// The next class.
    CLASS = "SELECT id FROM classes WHERE organization_id = $1 ORDER BY name_key, id LIMIT 1";
    /// A room of that class in which something was said.
    ROOM = "SELECT w.id FROM groups g JOIN work_rooms w ON w.organization_id = g.organization_id AND w.group_id = g.id
        WHERE g.organization_id = $1 AND g.class_id = $2
            AND EXISTS (SELECT 1 FROM work_room_messages m WHERE m.organization_id = $1 AND m.work_room_id = w.id) LIMIT 1";
    /// The files of its messages.
    ROOM_FILES = "DELETE FROM message_attachments WHERE organization_id = $1 AND work_room_id = $2 RETURNING file_key";
    /// Its newest messages: an answer is newer than what it answers, so nothing is taken that something else still names.
    ROOM_MESSAGES = "DELETE FROM work_room_messages WHERE organization_id = $1 AND id IN (SELECT id FROM work_room_messages
        WHERE organization_id = $1 AND work_room_id = $2 ORDER BY seq DESC LIMIT $3)";
    /// A group of that class.
    GROUP = "SELECT id FROM groups WHERE organization_id = $1 AND class_id = $2 ORDER BY group_number LIMIT 1";
    /// A topic of that class.
    TOPIC = "SELECT id FROM assignments WHERE organization_id = $1 AND class_id = $2 ORDER BY deadline, id LIMIT 1";
    /// Who got the next messages.
    RECIPIENTS = children_of!("message_recipients", "message_id", "direct_messages");
    /// The next messages.
    MESSAGES = piece_of!("direct_messages");
    /// The students of the next homerooms.
    HOMEROOM_STUDENTS = children_of!("homeroom_enrollments", "homeroom_id", "homerooms");
    /// The next homerooms.
    HOMEROOMS = piece_of!("homerooms");
    /// The next subjects.
    SUBJECTS = piece_of!("subjects");
    /// What its jobs made.
    JOB_FILES = "SELECT file_key FROM jobs WHERE organization_id = $1 AND file_key IS NOT NULL";
    /// Its jobs, except the one that does this.
    JOBS = "DELETE FROM jobs WHERE organization_id = $1 AND kind <> 'ORGANIZATION_PURGE'";
    /// How much it kept.
    STORAGE = "DELETE FROM storage_usages WHERE organization_id = $1";
    /// The next invitations, in the order of the index of an organization.
    INVITATIONS = "DELETE FROM invitations WHERE organization_id = $1 AND id IN (SELECT id FROM invitations
        WHERE organization_id = $1 ORDER BY created_at, id LIMIT $2)";
    /// Its mail domains, few as they are.
    DOMAINS = "DELETE FROM mail_domains WHERE organization_id = $1";
    /// What was counted of its calls for help and its imports.
    RATES = "DELETE FROM rate_windows WHERE organization_id = $1";
    /// What was saved of documents after they were deleted.
    LATE_TEXTS = "DELETE FROM late_texts WHERE organization_id = $1 RETURNING file_key";
    /// Documents that were deleted.
    DELETED_DOCUMENTS = "DELETE FROM deleted_documents WHERE organization_id = $1";
    /// Responses to creating requests.
    IDEMPOTENCY_KEYS = "DELETE FROM idempotency_keys WHERE organization_id = $1";
    /// The sessions of the next members who have no other school end.
    END_SESSIONS = concat!("DELETE FROM sessions WHERE user_id IN ", homeless!(), " RETURNING user_id, id");
    /// Nobody signs in with their accounts any more.
    DEACTIVATE = concat!("UPDATE users SET is_active = FALSE, updated_at = $3 WHERE is_active AND id IN ", homeless!());
    /// The next memberships.
    MEMBERS = concat!("DELETE FROM members WHERE organization_id = $1 AND user_id IN ", next_members!());
    /// The next accounts that it made are at home nowhere.
    HOMES = "UPDATE users SET home_organization_id = NULL WHERE home_organization_id = $1
        AND id IN (SELECT id FROM users WHERE home_organization_id = $1 ORDER BY id LIMIT $2)";
    /// The next records of its log.
    LOG = "DELETE FROM activity_logs WHERE organization_id = $1 AND id IN (SELECT id FROM activity_logs
        WHERE organization_id = $1 ORDER BY created_at, id LIMIT $2)";
    /// No session works in it, although one may have been choosing it when it was deleted.
    LEAVE = "UPDATE sessions SET active_organization_id = NULL WHERE active_organization_id = $1";
    /// A password that its administrators chose opens no organization any more, until the mailbox confirms.
    PASSWORDS = "UPDATE users SET password_organization_id = '' WHERE password_organization_id = $1";
    /// The job that does this.
    LAST_JOB = "DELETE FROM jobs WHERE organization_id = $1";
    /// The organization itself.
    ORGANIZATION = "DELETE FROM organizations WHERE id = $1";
}

/// What a unit of a purge took away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Purged {
    /// Files that no row names any more.
    pub files: Vec<FileKey>,
    /// Sessions that ended, by person.
    pub ended: Vec<(UserId, SessionId)>,
    /// Whether nothing is left.
    pub is_over: bool,
}

impl Work<'_> {
    /// Takes the next piece of the deleted organization away.
    pub fn purge_piece(&mut self) -> Result<Purged> {
        match self.maybe(&IS_DELETED, args![], |row| row.take())? {
            // An earlier attempt finished and could not say so.
            None => {
                return Ok(Purged {
                    is_over: true,
                    ..Purged::default()
                });
            }
            Some(false) => return Err(Error::Internal(anyhow::anyhow!("a living organization is not purged"))),
            Some(true) => {}
        }
        if let Some(class) = self.maybe(&CLASS, args![], |row| row.take::<ClassId>())? {
            let files = self.purge_class(&class)?;
            return Ok(Purged {
                files,
                ..Purged::default()
            });
        }
        let pieces: [(Option<&'static Sql>, &'static Sql); 4] = [
            (Some(&RECIPIENTS), &MESSAGES),
            (Some(&HOMEROOM_STUDENTS), &HOMEROOMS),
            (None, &SUBJECTS),
            (None, &INVITATIONS),
        ];
        for (children, piece) in pieces {
            if let Some(children) = children {
                self.run(children, args![PIECE])?;
            }
            if self.run(piece, args![PIECE])? > 0 {
                return Ok(Purged::default());
            }
        }
        let mut files: Vec<String> = self.many(&JOB_FILES, args![], |row| row.take())?;
        files.extend(self.many(&LATE_TEXTS, args![], |row| row.take::<String>())?);
        let mut counted = 0;
        for table in [&DELETED_DOCUMENTS, &JOBS, &STORAGE, &RATES, &DOMAINS, &IDEMPOTENCY_KEYS] {
            counted += self.run(table, args![])?;
        }
        if counted > 0 {
            let files = files.into_iter().map(FileKey::new).collect();
            return Ok(Purged {
                files,
                ..Purged::default()
            });
        }
        let ended = self.purge_accounts()?;
        if self.run(&MEMBERS, args![PIECE])? > 0 {
            return Ok(Purged {
                ended,
                ..Purged::default()
            });
        }
        for piece in [&HOMES, &LOG] {
            if self.run(piece, args![PIECE])? > 0 {
                return Ok(Purged::default());
            }
        }
        for last in [&LEAVE, &PASSWORDS, &LAST_JOB, &ORGANIZATION] {
            self.run(last, args![])?;
        }
        Ok(Purged {
            is_over: true,
            ..Purged::default()
        })
    }

    /// Takes the next piece of a class, at last the class itself; answers the files that no row names any more.
    fn purge_class(&mut self, class: &ClassId) -> Result<Vec<FileKey>> {
        if let Some(room) = self.maybe(&ROOM, args![class], |row| row.take::<WorkRoomId>())? {
            let files = self.many(&ROOM_FILES, args![room], |row| {
                row.take().map(|key: String| FileKey::new(key))
            })?;
            self.run(&ROOM_MESSAGES, args![room, PIECE])?;
            return Ok(files);
        }
        if let Some(group) = self.maybe(&GROUP, args![class], |row| row.take::<GroupId>())? {
            return Ok(self.delete_group(&group)?.files);
        }
        if let Some(topic) = self.maybe(&TOPIC, args![class], |row| row.take::<AssignmentId>())? {
            return Ok(self.delete_assignment(&topic)?.files);
        }
        Ok(self.delete_class(class)?.files)
    }

    /// Switches off the accounts of the next members who have no other school; contract 4.6 asks for this whenever a last
    /// membership ends.
    fn purge_accounts(&mut self) -> Result<Vec<(UserId, SessionId)>> {
        let now = self.now();
        let ended = self.many(&END_SESSIONS, args![PIECE], |row| Ok((row.take()?, row.take()?)))?;
        self.run(&DEACTIVATE, args![PIECE, now])?;
        Ok(ended)
    }
}
