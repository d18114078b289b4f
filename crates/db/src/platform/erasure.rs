//! Erases the personal data of a user in all organizations: a name kept by one organization would not be erased. `$1`
//! is the user. References by id are kept: the account row remains, cleared, so the id no longer identifies the person.
//! [`data_map`](crate::gdpr::data_map) defines the treatment of each column; a test compares both.

use crate::{args, fragments, from_row, statements};
use common::clock;
use domain::activity::Action;
use domain::collation::{person_sort_key, search_key};
use domain::erasure::{ERASED_NAME, ErasureCounts, erased_address, without_grades_of, without_person};
use domain::file::FileKey;
use domain::id::{LogId, UserId};
use domain::text::name_key;
use domain::time::Timestamp;
use serde_json::Value;

use super::PlatformTx;
use crate::sql::{Columns, Sql};
use common::error::Result;

/// Log records read per query.
const PAGE: i64 = 500;
/// Log records scanned per query before the erasing transaction.
const STRIDE: i64 = 20_000;
/// The period, in seconds, that the erasing transaction scans itself: a record of an uncommitted transaction has an id
/// but is not visible yet.
const RECENT: i64 = 600;

fragments! {
    /// The columns of a log record that may name a user.
    SELECT_RECORDS = "SELECT id, COALESCE(user_id = $1, FALSE) AS is_actor, user_name, action,
            entity_type = 'user' AND entity_id = $1 AS is_entity,
            entity_name, details, search_key FROM activity_logs";
    /// A log record may name the user: it was caused by them, is about them, or resolves a help request of a group in
    /// which they requested help or are a member, because it quotes the message without its author.
    MAY_NAME = "(user_id = $1 OR entity_id = $1 OR details LIKE '%' || $1 || '%'
            OR LOWER(details) LIKE '%' || (SELECT email FROM users WHERE id = $1) || '%'
            OR (action = 'HELP_RESOLVED' AND group_id IN (
                SELECT group_id FROM group_members WHERE user_id = $1
                UNION SELECT group_id FROM activity_logs WHERE user_id = $1 AND action = 'HELP_REQUESTED')))";
}

statements! {
    IS_ERASED = "SELECT erased_at IS NOT NULL FROM users WHERE id = $1";
    /// The organizations of the user.
    MEMBERSHIPS = "SELECT organization_id FROM members WHERE user_id = $1 ORDER BY organization_id";
    /// Clears the profile. The home organization is kept, so that its admins get the same response to a repeated
    /// request.
    PROFILE = "UPDATE users SET name = $2, name_key = $3, first_name = NULL, last_name = NULL, email = $4,
            email_verified = FALSE, username = NULL, user_name = NULL, role = 'STUDENT', image = NULL, locale = 'en', timezone = NULL,
            is_active = FALSE, must_change_password = FALSE, temporary_password_expires_at = NULL,
            password_organization_id = NULL, last_login_at = NULL, password_reset_at = NULL,
            password_reset_by_id = NULL,
            banned = FALSE, ban_reason = NULL, ban_expires = NULL, has_second_factor = FALSE,
            erased_at = $5, updated_at = $5,
            search_key = $6, sort_key = $7
        WHERE id = $1 AND erased_at IS NULL";
    /// Sessions of the user, and those in which they impersonated others.
    SESSIONS = "DELETE FROM sessions WHERE user_id = $1 OR impersonated_by = $1";
    /// Sign-in methods.
    ACCOUNTS = "DELETE FROM accounts WHERE user_id = $1";
    /// Second factors.
    SECOND_FACTORS = "DELETE FROM second_factors WHERE user_id = $1";
    /// Passkeys.
    PASSKEYS = "DELETE FROM passkeys WHERE user_id = $1";
    /// Recovery codes.
    RECOVERY_CODES = "DELETE FROM recovery_codes WHERE user_id = $1";
    /// Identities at the sign-on providers of organizations.
    IDENTITIES = "DELETE FROM external_identities WHERE user_id = $1";
    /// Emailed links.
    VERIFICATIONS = "DELETE FROM verifications WHERE value LIKE '%' || $1 || '%' OR identifier LIKE '%' || $1 || '%'";
    /// API tokens that act for the user.
    API_TOKENS = "DELETE FROM api_tokens WHERE created_by_id = $1";
    /// Failed sign-ins with the email address.
    FAILURES = "DELETE FROM sign_in_failures WHERE account_key = (SELECT email FROM users WHERE id = $1)";
    /// Invitations of the email address.
    INVITATIONS = "DELETE FROM invitations WHERE email = (SELECT email FROM users WHERE id = $1)";
    /// Invitations sent by the user.
    INVITATIONS_SENT = "UPDATE invitations SET inviter_id = NULL WHERE inviter_id = $1";
    /// Successful sign-ins with their IP addresses.
    SUCCESSES = "DELETE FROM sign_in_successes WHERE account_key = (SELECT email FROM users WHERE id = $1)";
    /// Counts of consecutive failed sign-ins with the email address.
    FAILURE_COUNTS = "DELETE FROM sign_in_failure_counts WHERE account_key = (SELECT email FROM users WHERE id = $1)";
    /// Rate limit counters of the user.
    RATES = "DELETE FROM rate_windows WHERE name LIKE '%' || $1 || '%'
            OR name LIKE '%' || (SELECT email FROM users WHERE id = $1) || '%'";
    /// Stored responses to requests of the user, and those that contain the user's id or email address.
    IDEMPOTENCY_KEYS = "DELETE FROM idempotency_keys WHERE user_id = $1 OR answer LIKE '%' || $1 || '%'
            OR answer LIKE '%' || (SELECT email FROM users WHERE id = $1) || '%'";
    /// Homerooms the user leads.
    HOMEROOMS_LED = "UPDATE homerooms SET teacher_id = NULL WHERE teacher_id = $1";
    /// Homerooms in which the user is enrolled.
    HOMEROOMS = "DELETE FROM homeroom_enrollments WHERE student_id = $1";
    /// Classes in which the user is a co-teacher.
    CO_TEACHINGS = "DELETE FROM class_teachers WHERE user_id = $1";
    /// Group memberships.
    GROUPS = "DELETE FROM group_members WHERE user_id = $1";
    /// Classes in which the user is enrolled.
    ENROLLMENTS = "DELETE FROM class_enrollments WHERE student_id = $1";
    MEMBERS = "DELETE FROM members WHERE user_id = $1";
    /// Help requests remain, without message and author.
    HELP_CALLS = "UPDATE groups SET help_message = NULL, help_requested_by_id = NULL WHERE help_requested_by_id = $1";
    /// Help requests the user claimed become unclaimed.
    HELP_CLAIMS = "UPDATE groups SET help_claimed_by_id = NULL WHERE help_claimed_by_id = $1";
    /// Chat messages keep their sequence number and lose their content.
    CHAT_MESSAGES = "UPDATE work_room_messages
        SET content = '', client_message_id = NULL, deleted_at = COALESCE(deleted_at, $2)
        WHERE sender_id = $1 AND (content <> '' OR client_message_id IS NOT NULL OR deleted_at IS NULL)";
    /// Comments on documents lose their text.
    COMMENTS = "UPDATE document_comments SET text = '' WHERE author_id = $1 AND text <> ''";
    /// Text snippets.
    TEXT_SNIPPETS = "DELETE FROM text_snippets WHERE user_id = $1";
    /// Uploads to chats.
    CHAT_FILES = "DELETE FROM message_attachments WHERE uploaded_by_id = $1 RETURNING file_key";
    /// Read markers.
    READING_MARKS = "DELETE FROM work_room_reads WHERE user_id = $1";
    /// Read markers of comments.
    COMMENT_READS = "DELETE FROM comment_reads WHERE user_id = $1";
    /// Editing time and number of saves.
    CONTRIBUTIONS = "DELETE FROM document_contributions WHERE user_id = $1";
    /// Sent messages remain in the mailboxes of others and lose their content.
    MESSAGES_SENT = "UPDATE direct_messages
        SET content = '', subject = NULL, deleted_by_sender_at = COALESCE(deleted_by_sender_at, $2)
        WHERE sender_id = $1 AND (content <> '' OR subject IS NOT NULL OR deleted_by_sender_at IS NULL)";
    /// Received messages.
    MESSAGES_RECEIVED = "DELETE FROM message_recipients WHERE user_id = $1";
    /// Notes on submissions.
    NOTES = "UPDATE submissions SET note = NULL WHERE submitted_by_id = $1 AND note IS NOT NULL";
    /// Grades of the user alone.
    MEMBER_GRADES = "DELETE FROM member_grades WHERE user_id = $1";
    /// Grade history entries that contain a grade of the user alone.
    FORMER_GRADES = "SELECT id, member_grades FROM grade_history WHERE member_grades LIKE '%' || $1 || '%'";
    /// Updates a grade history entry.
    REWRITE_FORMER_GRADES = "UPDATE grade_history SET member_grades = $2 WHERE id = $1";
    /// Exports of the user's data, completed or running.
    EXPORTS = "DELETE FROM jobs WHERE kind = 'PERSONAL_EXPORT' AND entity_id = $1 RETURNING file_key";
    /// Jobs the user created.
    JOBS = "UPDATE jobs SET created_by_id = NULL WHERE created_by_id = $1";
    /// The user among the people whom roster sources brought.
    ROSTER_ORIGINS = "DELETE FROM roster_origins WHERE object = 'PERSON' AND (organization_id, external_id) IN (
        SELECT m.organization_id, m.external_id FROM members m WHERE m.user_id = $1 AND m.external_id IS NOT NULL)";
    /// The user in the differences of roster runs.
    ROSTER_ENTRIES = "DELETE FROM roster_run_entries WHERE (organization_id, external_id) IN (
        SELECT m.organization_id, m.external_id FROM members m WHERE m.user_id = $1 AND m.external_id IS NOT NULL)";
    ROSTER_NAMES = "DELETE FROM roster_run_entries WHERE name = (SELECT u.name FROM users u WHERE u.id = $1)";
    /// Roster runs that the user started or confirmed.
    ROSTER_STARTS = "UPDATE roster_runs SET started_by_id = NULL WHERE started_by_id = $1";
    ROSTER_CONFIRMATIONS = "UPDATE roster_runs SET confirmed_by_id = NULL WHERE confirmed_by_id = $1";
    /// A page of log records that may name the user.
    RECORDS = "{SELECT_RECORDS} WHERE id > $2 AND {MAY_NAME} ORDER BY id LIMIT $3";
    /// A log record found by the previous scan.
    RECORD = "{SELECT_RECORDS} WHERE id = $2";
    /// The last id of the next batch to scan.
    STRIDE_END = "SELECT id FROM activity_logs WHERE id > $1 AND id < $2 ORDER BY id LIMIT 1 OFFSET $3";
    /// The records of a batch that may name the user.
    FOUND = "SELECT id FROM activity_logs WHERE id > $2 AND id <= $3 AND {MAY_NAME} ORDER BY id";
    /// Updates a log record.
    REWRITE_RECORD = "UPDATE activity_logs SET user_name = $2, entity_name = $3, details = $4, search_key = $5
            WHERE id = $1";
}

/// Log records that may name a user, collected before the erasing transaction: the log is the largest table, and its
/// scan must not block other writes.
#[derive(Debug, Clone, Default)]
pub struct LogScan {
    records: Vec<LogId>,
    /// The id up to which the log was scanned.
    until: String,
    /// The id at which the scan ends.
    end: String,
}

impl LogScan {
    /// Starts a scan. Records of the last minutes are left to the erasing transaction.
    pub fn begin(now: Timestamp) -> Self {
        Self {
            end: clock::min_id_at(now.plus_seconds(-RECENT)),
            ..Self::default()
        }
    }
}

/// The fields of a log record that may name a user.
#[derive(Debug, Clone, PartialEq)]
struct ErasableRecord {
    id: LogId,
    is_own: bool,
    user_name: String,
    action: String,
    is_about: bool,
    entity_name: Option<String>,
    details: Value,
    search_key: String,
}

impl PlatformTx<'_> {
    /// Returns whether the account is already erased.
    pub fn is_erased(&mut self, user: &UserId) -> Result<bool> {
        let found = self.fetch_optional(&IS_ERASED, args![user], |row| row.only())?;
        Ok(found.unwrap_or(false))
    }

    /// Lists the organizations of a user.
    pub fn memberships(&mut self, user: &UserId) -> Result<Vec<domain::id::OrganizationId>> {
        self.fetch_all(&MEMBERSHIPS, args![user], |row| row.get("organization_id"))
    }

    /// Scans the next batch of the log; returns false at the end.
    pub fn scan_log(&mut self, user: &UserId, traces: &mut LogScan) -> Result<bool> {
        let arguments = args![traces.until, traces.end, STRIDE];
        let next: Option<String> = self.fetch_optional(&STRIDE_END, arguments, |row| row.get("id"))?;
        let goes_on = next.is_some();
        let until = next.unwrap_or_else(|| traces.end.clone());
        let found = self.fetch_all(&FOUND, args![user, traces.until, until], |row| row.get("id"))?;
        traces.records.extend(found);
        traces.until = until;
        Ok(goes_on)
    }

    /// Removes name and email address of a user from the log: from the records found by the scan and from newer ones.
    /// Returns the number of changed records. Must run before the rest of the erasure, while address and groups are
    /// still known.
    pub fn erase_from_log(&mut self, user: &UserId, address: &str, traces: &LogScan) -> Result<i64> {
        let mut changed = 0;
        for id in &traces.records {
            if let Some(found) = self.fetch_optional(&RECORD, args![user, id], record)? {
                changed += self.rewrite(found, user, address)?;
            }
        }
        let mut after = traces.until.clone();
        loop {
            let records = self.fetch_all(&RECORDS, args![user, after, PAGE], record)?;
            let Some(last) = records.last() else { return Ok(changed) };
            after = last.id.to_string();
            for record in records {
                changed += self.rewrite(record, user, address)?;
            }
        }
    }

    /// Updates a log record if it names the user; returns the number of changed records.
    fn rewrite(&mut self, record: ErasableRecord, user: &UserId, address: &str) -> Result<i64> {
        let erased = record.clone().without(user, address);
        if erased == record {
            return Ok(0);
        }
        let ErasableRecord {
            id,
            user_name,
            entity_name,
            details,
            search_key,
            ..
        } = erased;
        let details = details.to_string();
        let arguments = args![id, user_name, entity_name, details, search_key];
        self.execute_counted(&REWRITE_RECORD, arguments).map(|_| 1)
    }

    /// Erases everything but the log; returns counts, and the files that are no longer referenced.
    pub fn erase_person(&mut self, user: &UserId, now: Timestamp) -> Result<(ErasureCounts, Vec<FileKey>)> {
        let former = self.erase_former_grades(user)?;
        let (deleted_items, archived_files) = self.erase_from_archives(user, now)?;
        let chat_files: Vec<String> = self.fetch_all(&CHAT_FILES, args![user], |row| row.get("file_key"))?;
        let exports: Vec<Option<String>> = self.fetch_all(&EXPORTS, args![user], |row| row.get("file_key"))?;
        for statement in [
            &ROSTER_ORIGINS,
            &ROSTER_ENTRIES,
            &ROSTER_NAMES,
            &ROSTER_STARTS,
            &ROSTER_CONFIRMATIONS,
        ] {
            self.execute(statement, args![user])?;
        }
        let mut run = |statement: &'static Sql| -> Result<i64> {
            let touched = self.execute_counted(statement, args![user])?;
            Ok(i64::try_from(touched).unwrap_or(i64::MAX))
        };
        let mut erased = ErasureCounts {
            sessions: run(&SESSIONS)?,
            sign_ins: run(&ACCOUNTS)?
                + run(&SECOND_FACTORS)?
                + run(&RECOVERY_CODES)?
                + run(&PASSKEYS)?
                + run(&IDENTITIES)?,
            sign_in_traces: run(&VERIFICATIONS)?
                + run(&API_TOKENS)?
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
            document_comments: run(&COMMENTS)?,
            text_snippets: run(&TEXT_SNIPPETS)?,
            reading_marks: run(&READING_MARKS)? + run(&COMMENT_READS)?,
            contributions: run(&CONTRIBUTIONS)?,
            messages_received: run(&MESSAGES_RECEIVED)?,
            submission_notes: run(&NOTES)?,
            member_grades: run(&MEMBER_GRADES)? + former,
            chat_files: i64::try_from(chat_files.len()).unwrap_or(i64::MAX),
            deleted_items,
            exports: i64::try_from(exports.len()).unwrap_or(i64::MAX),
            ..ErasureCounts::default()
        };
        run(&JOBS)?;
        let mut run_at = |statement: &'static Sql| -> Result<i64> {
            let touched = self.execute_counted(statement, args![user, now])?;
            Ok(i64::try_from(touched).unwrap_or(i64::MAX))
        };
        erased.chat_messages = run_at(&CHAT_MESSAGES)?;
        erased.messages_sent = run_at(&MESSAGES_SENT)?;
        let (key, address) = (name_key(ERASED_NAME), erased_address(user));
        let (search_key, sort_key) = (search_key(ERASED_NAME), person_sort_key(ERASED_NAME, None));
        let profile = args![user, ERASED_NAME, key, address, now, search_key, sort_key];
        erased.profiles = i64::try_from(self.execute_counted(&PROFILE, profile)?).unwrap_or(i64::MAX);
        let files = chat_files.into_iter().chain(exports.into_iter().flatten());
        Ok((erased, files.map(FileKey::new).chain(archived_files).collect()))
    }

    fn erase_former_grades(&mut self, user: &UserId) -> Result<i64> {
        let former: Vec<(String, Value)> = self.fetch_all(&FORMER_GRADES, args![user], |row| {
            Ok((row.get("id")?, row.json("member_grades")?))
        })?;
        let mut gone = 0;
        for (id, grades) in former {
            let (kept, count) = without_grades_of(grades, user);
            self.execute(&REWRITE_FORMER_GRADES, args![id, kept.to_string()])?;
            gone += count;
        }
        Ok(gone)
    }
}

/// Reads the columns of a log record.
fn record(row: &Columns<'_>) -> Result<ErasableRecord> {
    from_row!(row => ErasableRecord {
        id, is_own = "is_actor", user_name, action, is_about = "is_entity", entity_name, search_key,
        details: row.json("details")?,
    })
}

impl ErasableRecord {
    /// Returns the record without the user's name, email address and content.
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
        let is_own_request = self.is_own && self.action == Action::HelpRequested.as_str();
        let is_resolution = self.action == Action::HelpResolved.as_str();
        if (is_own_request || is_resolution)
            && let Some(message) = self.details.get_mut("message")
        {
            *message = Value::Null;
        }
        if self.is_about && self.action == Action::LoginFailed.as_str() {
            // It names the account by what was typed, which may be a former address or user name.
            for key in ["email", "address"] {
                if let Some(value) = self.details.get_mut(key) {
                    *value = Value::Null;
                }
            }
        }
        self.details = without_person(self.details, user, address);
        let name = self.entity_name.as_deref().unwrap_or("");
        self.search_key = search_key(&format!("{} {name}", self.user_name));
        self
    }
}
