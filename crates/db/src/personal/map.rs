//! The data map: every column with personal data, and how export and erasure treat it. It is the source of
//! `docs/privacy.md`. Tests compare it with the schema of both databases and with the remaining data after an erasure.

use self::Erasure::{Emptied, Kept, Passing, Row};
use self::Holds::{Fact, Id, Ids, Name, Words};

/// The kind of personal data in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// The id of the user.
    Id,
    /// Ids of several users, as JSON.
    Ids,
    /// A copy of the user's name or email address.
    Name,
    /// Content the user wrote.
    Words,
    /// Other data about the user.
    Fact,
}

/// The effect of an erasure on a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Erasure {
    /// The row is deleted.
    Row,
    /// The row is kept and the value is cleared.
    Emptied,
    /// The value is kept: an id that refers to a cleared account, or data that also belongs to others.
    Kept,
    /// The row expires within minutes.
    Passing,
}

/// One column of the map.
#[derive(Debug, Clone, Copy)]
pub struct Mapped {
    pub table: &'static str,
    pub column: &'static str,
    pub holds: Holds,
    /// The export table that contains the column; `None` for secrets, copies and counters.
    pub export: Option<&'static str>,
    /// The effect of an erasure.
    pub erasure: Erasure,
}

const fn told(
    table: &'static str,
    column: &'static str,
    holds: Holds,
    export: &'static str,
    erasure: Erasure,
) -> Mapped {
    Mapped {
        table,
        column,
        holds,
        export: Some(export),
        erasure,
    }
}

const fn untold(table: &'static str, column: &'static str, holds: Holds, erasure: Erasure) -> Mapped {
    Mapped {
        table,
        column,
        holds,
        export: None,
        erasure,
    }
}

/// Every column with personal data.
pub static MAP: &[Mapped] = &[
    told("users", "id", Id, "account", Kept),
    told("users", "name", Name, "account", Emptied),
    told("users", "name_key", Name, "account", Emptied),
    told("users", "search_key", Name, "account", Emptied),
    told("users", "sort_key", Name, "account", Emptied),
    told("users", "first_name", Name, "account", Emptied),
    told("users", "last_name", Name, "account", Emptied),
    told("users", "email", Name, "account", Emptied),
    told("users", "username", Name, "account", Emptied),
    told("users", "image", Name, "account", Emptied),
    told("users", "email_verified", Fact, "account", Emptied),
    told("users", "role", Fact, "account", Emptied),
    told("users", "locale", Fact, "account", Emptied),
    told("users", "timezone", Fact, "account", Emptied),
    told("users", "is_active", Fact, "account", Emptied),
    told("users", "must_change_password", Fact, "account", Emptied),
    told("users", "last_login_at", Fact, "account", Emptied),
    told("users", "banned", Fact, "account", Emptied),
    told("users", "ban_reason", Fact, "account", Emptied),
    told("users", "ban_expires", Fact, "account", Emptied),
    untold("users", "temporary_password_expires_at", Fact, Emptied),
    told("users", "password_reset_at", Fact, "account", Emptied),
    told("users", "password_reset_by_id", Id, "account", Kept),
    untold("users", "home_organization_id", Fact, Kept),
    untold("users", "erased_at", Fact, Kept),
    untold("users", "row_version", Fact, Kept),
    told("users", "created_at", Fact, "account", Kept),
    told("users", "updated_at", Fact, "account", Kept),
    told("accounts", "user_id", Id, "sign-ins", Row),
    told("accounts", "account_id", Id, "sign-ins", Row),
    untold("accounts", "password", Fact, Row),
    told("sessions", "user_id", Id, "sessions", Row),
    told("sessions", "ip_address", Fact, "sessions", Row),
    told("sessions", "user_agent", Fact, "sessions", Row),
    untold("sessions", "impersonated_by", Id, Row),
    untold("verifications", "identifier", Id, Row),
    untold("verifications", "value", Id, Row),
    told("members", "user_id", Id, "membership", Row),
    told("members", "external_id", Fact, "membership", Row),
    told("sign_in_failures", "account_key", Name, "failed-sign-ins", Row),
    told("sign_in_failures", "address", Fact, "failed-sign-ins", Row),
    told(
        "sign_in_failure_counts",
        "account_key",
        Name,
        "failed-sign-ins-in-a-row",
        Row,
    ),
    told("sign_in_successes", "account_key", Name, "sign-in-addresses", Row),
    told("sign_in_successes", "address", Fact, "sign-in-addresses", Row),
    told("members", "is_active", Fact, "membership", Row),
    told("invitations", "email", Name, "invitations", Row),
    untold("invitations", "name", Name, Row),
    untold("invitations", "external_id", Fact, Row),
    untold("invitations", "inviter_id", Id, Emptied),
    untold("users", "password_organization_id", Fact, Emptied),
    untold("rate_windows", "name", Id, Row),
    untold("idempotency_keys", "user_id", Id, Row),
    untold("idempotency_keys", "answer", Name, Row),
    told("homerooms", "teacher_id", Id, "homerooms-led", Emptied),
    told("homeroom_enrollments", "student_id", Id, "homerooms", Row),
    told("classes", "teacher_id", Id, "classes-taught", Kept),
    told("class_teachers", "user_id", Id, "classes-taught", Row),
    told("class_enrollments", "student_id", Id, "enrollments", Row),
    told("groups", "help_message", Words, "help-calls", Emptied),
    told("groups", "help_requested_by_id", Id, "help-calls", Emptied),
    untold("groups", "help_claimed_by_id", Id, Emptied),
    told("groups", "help_resolved_by_id", Id, "activity", Kept),
    told("groups", "created_by_id", Id, "activity", Kept),
    told("group_members", "user_id", Id, "groups", Row),
    told("group_attachments", "uploaded_by_id", Id, "group-files", Kept),
    told("assignments", "created_by_id", Id, "activity", Kept),
    told("assignments", "finished_by_id", Id, "activity", Kept),
    told("assignment_attachments", "uploaded_by_id", Id, "topic-files", Kept),
    told("work_room_messages", "sender_id", Id, "chat-messages", Kept),
    told("work_room_messages", "content", Words, "chat-messages", Emptied),
    untold("work_room_messages", "client_message_id", Words, Emptied),
    untold("work_room_messages", "deleted_by_id", Id, Kept),
    told("message_attachments", "uploaded_by_id", Id, "chat-files", Row),
    told("message_attachments", "file_name", Words, "chat-files", Row),
    told("work_room_reads", "user_id", Id, "reading-marks", Row),
    told("documents", "created_by_id", Id, "documents", Kept),
    told("documents", "last_edited_by", Id, "documents", Kept),
    told("documents", "submitted_by_id", Id, "documents", Kept),
    told("document_revisions", "saved_by_id", Id, "document-versions", Kept),
    told("document_revisions", "editors", Ids, "document-versions", Kept),
    untold("document_revisions", "history", Ids, Kept),
    told("document_contributions", "user_id", Id, "contributions", Row),
    told("document_contributions", "editing_millis", Fact, "contributions", Row),
    told("document_contributions", "saves", Fact, "contributions", Row),
    untold("editing_sessions", "editors", Ids, Passing),
    untold("editing_sessions", "flushed", Ids, Passing),
    untold("late_texts", "saved_by_id", Id, Passing),
    told("submissions", "submitted_by_id", Id, "submissions", Kept),
    told("submissions", "withdrawn_by_id", Id, "activity", Kept),
    told("submissions", "member_ids", Ids, "submissions", Kept),
    told("submissions", "note", Words, "submissions", Emptied),
    told("grades", "value", Fact, "grades", Kept),
    told("grades", "points", Fact, "grades", Kept),
    told("grades", "feedback", Fact, "grades", Kept),
    told("grades", "graded_by_id", Id, "activity", Kept),
    told("member_grades", "user_id", Id, "member-grades", Row),
    told("member_grades", "value", Fact, "member-grades", Row),
    told("member_grades", "points", Fact, "member-grades", Row),
    told("member_grades", "feedback", Fact, "member-grades", Row),
    untold("member_grades", "graded_by_id", Id, Kept),
    told("grade_history", "changed_by_id", Id, "activity", Kept),
    untold("grade_history", "member_grades", Ids, Emptied),
    told("feedback", "author_id", Id, "feedback-given", Kept),
    told("feedback", "group_assignment_id", Fact, "feedback-received", Kept),
    told("feedback", "text", Words, "feedback-given", Kept),
    told("direct_messages", "sender_id", Id, "messages-sent", Kept),
    told("direct_messages", "subject", Words, "messages-sent", Emptied),
    told("direct_messages", "content", Words, "messages-sent", Emptied),
    told("message_recipients", "user_id", Id, "messages-received", Row),
    told("activity_logs", "user_id", Id, "activity", Kept),
    untold("activity_logs", "user_name", Name, Emptied),
    told("activity_logs", "entity_id", Id, "activity", Kept),
    untold("activity_logs", "entity_name", Name, Emptied),
    untold("activity_logs", "details", Name, Emptied),
    untold("activity_logs", "search_key", Name, Emptied),
    untold("event_outbox", "signals", Name, Passing),
    told("jobs", "entity_id", Id, "exports", Row),
    untold("jobs", "created_by_id", Id, Emptied),
];

impl Holds {
    /// Description for `docs/privacy.md`.
    pub fn words(self) -> &'static str {
        match self {
            Id => "the person's id",
            Ids => "ids of people",
            Name => "a copy of name or address",
            Words => "the person's words",
            Fact => "a fact",
        }
    }
}

impl Erasure {
    /// Description for `docs/privacy.md`.
    pub fn words(self) -> &'static str {
        match self {
            Row => "the row goes",
            Emptied => "emptied",
            Kept => "stays",
            Passing => "goes by itself",
        }
    }
}
