//! Emptying what is left of a person, in whatever school it stands: a name that one school keeps was not erased. `$1` is the
//! person. What only names him by id stays: the row of the account is kept, emptied, so that the id leads to nobody.
//! [`map`](crate::personal::map) says the same of each column; a test compares the two.

use model::activity::Action;
use model::collation::{person_sort_key, search_key};
use model::erasure::{ERASED_NAME, Erased, erased_address, without_grades_of, without_person};
use model::file::FileKey;
use model::id::{LogId, UserId};
use model::text::name_key;
use model::time::Timestamp;
use serde_json::Value;

use super::Platform;
use crate::sql::{Columns, Sql};
use crate::{args, statements};
use common::clock;
use common::error::Result;

/// Records read at once.
const PAGE: i64 = 500;
/// Records looked through at once, before the unit that erases.
const STRIDE: i64 = 20_000;
/// How far back the unit itself looks, in seconds: a record that is being written has an id and is not there yet.
const RECENT: i64 = 600;

/// The columns of a record as far as it may name somebody.
macro_rules! record {
    () => {
        "SELECT id, COALESCE(user_id = $1, FALSE), user_name, action, entity_type = 'user' AND entity_id = $1,
            entity_name, details, search_key FROM activity_logs"
    };
}

/// A record may name the person: it is his own, about him, or the answer to a call for help of a group in which he called or
/// is; whose words an answered call quotes is not known.
macro_rules! may_name {
    () => {
        "(user_id = $1 OR entity_id = $1 OR details LIKE '%' || $1 || '%'
            OR LOWER(details) LIKE '%' || (SELECT email FROM users WHERE id = $1) || '%'
            OR (action = 'HELP_RESOLVED' AND group_id IN (
                SELECT group_id FROM group_members WHERE user_id = $1
                UNION SELECT group_id FROM activity_logs WHERE user_id = $1 AND action = 'HELP_REQUESTED')))"
    };
}

statements! {
    /// Whether the account was erased.
    IS_ERASED = "SELECT erased_at IS NOT NULL FROM users WHERE id = $1";
    /// Where the person is a member.
    MEMBERSHIPS = "SELECT organization_id FROM members WHERE user_id = $1 ORDER BY organization_id";
    /// The profile, emptied. The home stays, so that its admins are told the same when they ask again.
    PROFILE = "UPDATE users SET name = $2, name_key = $3, first_name = NULL, last_name = NULL, email = $4,
            email_verified = FALSE, username = NULL, role = 'STUDENT', image = NULL, locale = 'en', timezone = NULL,
            is_active = FALSE, must_change_password = FALSE, temporary_password_expires_at = NULL,
            password_organization_id = NULL, last_login_at = NULL, password_reset_at = NULL, password_reset_by_id = NULL,
            banned = FALSE, ban_reason = NULL, ban_expires = NULL, erased_at = $5, updated_at = $5,
            search_key = $6, sort_key = $7
        WHERE id = $1 AND erased_at IS NULL";
    /// Sign-ins of the person, and those in which he acted as somebody else.
    SESSIONS = "DELETE FROM sessions WHERE user_id = $1 OR impersonated_by = $1";
    /// The ways in which the person signs in.
    ACCOUNTS = "DELETE FROM accounts WHERE user_id = $1";
    /// Mailed links.
    VERIFICATIONS = "DELETE FROM verifications WHERE value LIKE '%' || $1 || '%' OR identifier LIKE '%' || $1 || '%'";
    /// Failed sign-ins under the address.
    FAILURES = "DELETE FROM sign_in_failures WHERE account_key = (SELECT email FROM users WHERE id = $1)";
    /// Invitations of the address.
    INVITATIONS = "DELETE FROM invitations WHERE email = (SELECT email FROM users WHERE id = $1)";
    /// Invitations that the person sent.
    INVITATIONS_SENT = "UPDATE invitations SET inviter_id = NULL WHERE inviter_id = $1";
    /// Where the person signed in from.
    SUCCESSES = "DELETE FROM sign_in_successes WHERE account_key = (SELECT email FROM users WHERE id = $1)";
    /// Consecutive failed sign-ins under the address.
    FAILURE_COUNTS = "DELETE FROM sign_in_failure_counts WHERE account_key = (SELECT email FROM users WHERE id = $1)";
    /// Counters of the person.
    RATES = "DELETE FROM rate_windows WHERE name LIKE '%' || $1 || '%'
            OR name LIKE '%' || (SELECT email FROM users WHERE id = $1) || '%'";
    /// Responses to creating requests of the person, and those that name the person.
    IDEMPOTENCY_KEYS = "DELETE FROM idempotency_keys WHERE user_id = $1 OR answer LIKE '%' || $1 || '%'
            OR answer LIKE '%' || (SELECT email FROM users WHERE id = $1) || '%'";
    /// Homerooms the person leads.
    HOMEROOMS_LED = "UPDATE homerooms SET teacher_id = NULL WHERE teacher_id = $1";
    /// Homerooms the person is in.
    HOMEROOMS = "DELETE FROM homeroom_enrollments WHERE student_id = $1";
    /// Classes the person teaches along.
    CO_TEACHINGS = "DELETE FROM class_teachers WHERE user_id = $1";
    /// Groups the person is in.
    GROUPS = "DELETE FROM group_members WHERE user_id = $1";
    /// Classes the person learns in.
    ENROLLMENTS = "DELETE FROM class_enrollments WHERE student_id = $1";
    /// Memberships.
    MEMBERS = "DELETE FROM members WHERE user_id = $1";
    /// Calls for help stand, without words and name.
    HELP_CALLS = "UPDATE groups SET help_message = NULL, help_requested_by_id = NULL WHERE help_requested_by_id = $1";
    /// Nobody is on the way any more.
    HELP_CLAIMS = "UPDATE groups SET help_claimed_by_id = NULL WHERE help_claimed_by_id = $1";
    /// Chat messages stay in their place and say nothing.
    CHAT_MESSAGES = "UPDATE work_room_messages
        SET content = '', client_message_id = NULL, deleted_at = COALESCE(deleted_at, $2)
        WHERE sender_id = $1 AND (content <> '' OR client_message_id IS NOT NULL OR deleted_at IS NULL)";
    /// Files of the chat.
    CHAT_FILES = "DELETE FROM message_attachments WHERE uploaded_by_id = $1 RETURNING file_key";
    /// Marks of what was read.
    READING_MARKS = "DELETE FROM work_room_reads WHERE user_id = $1";
    /// How long and how often the person wrote.
    CONTRIBUTIONS = "DELETE FROM document_contributions WHERE user_id = $1";
    /// Messages stay in the boxes of others and say nothing.
    MESSAGES_SENT = "UPDATE direct_messages
        SET content = '', subject = NULL, deleted_by_sender_at = COALESCE(deleted_by_sender_at, $2)
        WHERE sender_id = $1 AND (content <> '' OR subject IS NOT NULL OR deleted_by_sender_at IS NULL)";
    /// The own box.
    MESSAGES_RECEIVED = "DELETE FROM message_recipients WHERE user_id = $1";
    /// Notes on hand-ins.
    NOTES = "UPDATE submissions SET note = NULL WHERE submitted_by_id = $1 AND note IS NOT NULL";
    /// Grades of the person alone.
    MEMBER_GRADES = "DELETE FROM member_grades WHERE user_id = $1";
    /// Former states of grades in which the person had one of his own.
    FORMER_GRADES = "SELECT id, member_grades FROM grade_history WHERE member_grades LIKE '%' || $1 || '%'";
    /// A former state without it.
    REWRITE_FORMER_GRADES = "UPDATE grade_history SET member_grades = $2 WHERE id = $1";
    /// Exports of the person's data, made or under way.
    EXPORTS = "DELETE FROM jobs WHERE kind = 'PERSONAL_EXPORT' AND entity_id = $1 RETURNING file_key";
    /// Jobs the person asked for.
    JOBS = "UPDATE jobs SET created_by_id = NULL WHERE created_by_id = $1";
    /// Records after one of them that may name the person.
    RECORDS = concat!(record!(), " WHERE id > $2 AND ", may_name!(), " ORDER BY id LIMIT $3");
    /// One of those that were found before.
    RECORD = concat!(record!(), " WHERE id = $2");
    /// Where the next records to look through end.
    STRIDE_END = "SELECT id FROM activity_logs WHERE id > $1 AND id < $2 ORDER BY id LIMIT 1 OFFSET $3";
    /// Which of them may name the person.
    FOUND = concat!("SELECT id FROM activity_logs WHERE id > $2 AND id <= $3 AND ", may_name!(), " ORDER BY id");
    /// A record without him.
    REWRITE_RECORD = "UPDATE activity_logs SET user_name = $2, entity_name = $3, details = $4, search_key = $5 WHERE id = $1";
}

/// Records of the log that may name a person, looked for before the unit that erases him: the log is the largest table of
/// all, and nobody shall wait until it was read.
#[derive(Debug, Clone, Default)]
pub struct Traces {
    records: Vec<LogId>,
    /// The id up to which the log was looked through.
    until: String,
    /// Where looking ends.
    end: String,
}

impl Traces {
    /// Nothing was looked through yet; what is younger than some minutes is left to the unit.
    pub fn begin(now: Timestamp) -> Self {
        Self {
            end: clock::before_ids_of(now.plus_seconds(-RECENT)),
            ..Self::default()
        }
    }
}

/// A record as far as it may name somebody.
#[derive(Debug, Clone, PartialEq)]
struct Record {
    id: LogId,
    is_own: bool,
    user_name: String,
    action: String,
    is_about: bool,
    entity_name: Option<String>,
    details: Value,
    search_key: String,
}

impl Platform<'_> {
    /// Whether the account was erased already.
    pub fn is_erased(&mut self, user: &UserId) -> Result<bool> {
        let found = self.connection.maybe(&IS_ERASED, args![user], |row| row.take())?;
        Ok(found.unwrap_or(false))
    }

    /// The organizations a person is a member of.
    pub fn memberships(&mut self, user: &UserId) -> Result<Vec<model::id::OrganizationId>> {
        self.connection.many(&MEMBERSHIPS, args![user], |row| row.take())
    }

    /// Looks through some more of the log; false when nothing is left to look through.
    pub fn look_for(&mut self, user: &UserId, traces: &mut Traces) -> Result<bool> {
        let arguments = args![traces.until, traces.end, STRIDE];
        let next: Option<String> = self.connection.maybe(&STRIDE_END, arguments, |row| row.take())?;
        let goes_on = next.is_some();
        let until = next.unwrap_or_else(|| traces.end.clone());
        let found = self
            .connection
            .many(&FOUND, args![user, traces.until, until], |row| row.take())?;
        traces.records.extend(found);
        traces.until = until;
        Ok(goes_on)
    }

    /// Takes name and address of a person out of the log, of what was found before and what has come since; answers how
    /// many records named him. Comes before everything else: address and groups are still known.
    pub fn erase_from_log(&mut self, user: &UserId, address: &str, traces: &Traces) -> Result<i64> {
        let mut changed = 0;
        for id in &traces.records {
            if let Some(found) = self.connection.maybe(&RECORD, args![user, id], record)? {
                changed += self.rewrite(found, user, address)?;
            }
        }
        let mut after = traces.until.clone();
        loop {
            let records = self.connection.many(&RECORDS, args![user, after, PAGE], record)?;
            let Some(last) = records.last() else { return Ok(changed) };
            after = last.id.to_string();
            for record in records {
                changed += self.rewrite(record, user, address)?;
            }
        }
    }

    /// Writes a record without the person, if it named him; answers how many that were.
    fn rewrite(&mut self, record: Record, user: &UserId, address: &str) -> Result<i64> {
        let erased = record.clone().without(user, address);
        if erased == record {
            return Ok(0);
        }
        let Record {
            id,
            user_name,
            entity_name,
            details,
            search_key,
            ..
        } = erased;
        let details = details.to_string();
        let arguments = args![id, user_name, entity_name, details, search_key];
        self.connection.run(&REWRITE_RECORD, arguments).map(|_| 1)
    }

    /// Erases everything but the log; answers how much, and the files nobody needs any more.
    pub fn erase_person(&mut self, user: &UserId, now: Timestamp) -> Result<(Erased, Vec<FileKey>)> {
        let former = self.erase_former_grades(user)?;
        let chat_files: Vec<String> = self.connection.many(&CHAT_FILES, args![user], |row| row.take())?;
        let exports: Vec<Option<String>> = self.connection.many(&EXPORTS, args![user], |row| row.take())?;
        let mut run = |statement: &'static Sql| -> Result<i64> {
            let touched = self.connection.run(statement, args![user])?;
            Ok(i64::try_from(touched).unwrap_or(i64::MAX))
        };
        let mut erased = Erased {
            sessions: run(&SESSIONS)?,
            sign_ins: run(&ACCOUNTS)?,
            sign_in_traces: run(&VERIFICATIONS)?
                + run(&INVITATIONS)?
                + run(&INVITATIONS_SENT)?
                + run(&FAILURES)?
                + run(&SUCCESSES)?
                + run(&FAILURE_COUNTS)?
                + run(&RATES)?
                + run(&IDEMPOTENCY_KEYS)?,
            homerooms: run(&HOMEROOMS)? + run(&HOMEROOMS_LED)?,
            co_teachings: run(&CO_TEACHINGS)?,
            groups: run(&GROUPS)?,
            enrollments: run(&ENROLLMENTS)?,
            memberships: run(&MEMBERS)?,
            help_calls: run(&HELP_CALLS)? + run(&HELP_CLAIMS)?,
            reading_marks: run(&READING_MARKS)?,
            contributions: run(&CONTRIBUTIONS)?,
            messages_received: run(&MESSAGES_RECEIVED)?,
            submission_notes: run(&NOTES)?,
            member_grades: run(&MEMBER_GRADES)? + former,
            chat_files: i64::try_from(chat_files.len()).unwrap_or(i64::MAX),
            exports: i64::try_from(exports.len()).unwrap_or(i64::MAX),
            ..Erased::default()
        };
        run(&JOBS)?;
        let mut run_at = |statement: &'static Sql| -> Result<i64> {
            let touched = self.connection.run(statement, args![user, now])?;
            Ok(i64::try_from(touched).unwrap_or(i64::MAX))
        };
        erased.chat_messages = run_at(&CHAT_MESSAGES)?;
        erased.messages_sent = run_at(&MESSAGES_SENT)?;
        let (key, address) = (name_key(ERASED_NAME), erased_address(user));
        let (search_key, sort_key) = (search_key(ERASED_NAME), person_sort_key(ERASED_NAME, None));
        let profile = args![user, ERASED_NAME, key, address, now, search_key, sort_key];
        erased.profiles = i64::try_from(self.connection.run(&PROFILE, profile)?).unwrap_or(i64::MAX);
        let files = chat_files.into_iter().chain(exports.into_iter().flatten());
        Ok((erased, files.map(FileKey::new).collect()))
    }

    fn erase_former_grades(&mut self, user: &UserId) -> Result<i64> {
        let former: Vec<(String, Value)> = self
            .connection
            .many(&FORMER_GRADES, args![user], |row| Ok((row.take()?, row.json()?)))?;
        let mut gone = 0;
        for (id, grades) in former {
            let (kept, count) = without_grades_of(grades, user);
            self.connection
                .run(&REWRITE_FORMER_GRADES, args![id, kept.to_string()])?;
            gone += count;
        }
        Ok(gone)
    }
}

/// Reads the columns of a record.
fn record(row: &mut Columns<'_>) -> Result<Record> {
    Ok(Record {
        id: row.take()?,
        is_own: row.take()?,
        user_name: row.take()?,
        action: row.take()?,
        is_about: row.take()?,
        entity_name: row.take()?,
        details: row.json()?,
        search_key: row.take()?,
    })
}

impl Record {
    /// The record without a person's name, address, and words.
    fn without(mut self, user: &UserId, address: &str) -> Self {
        if self.is_own {
            ERASED_NAME.clone_into(&mut self.user_name);
        }
        if self.is_about {
            let named = self.entity_name.as_ref().is_some_and(|name| !name.is_empty());
            self.entity_name = if named {
                Some(ERASED_NAME.to_owned())
            } else {
                self.entity_name
            };
        }
        let is_his_call = self.is_own && self.action == Action::HelpRequested.as_str();
        let is_answer = self.action == Action::HelpResolved.as_str();
        if (is_his_call || is_answer)
            && let Some(message) = self.details.get_mut("message")
        {
            *message = Value::Null;
        }
        self.details = without_person(self.details, user, address);
        let name = self.entity_name.as_deref().unwrap_or("");
        self.search_key = search_key(&format!("{} {name}", self.user_name));
        self
    }
}
