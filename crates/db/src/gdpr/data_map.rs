//! The data map: every column with personal data, and how export and erasure treat it. It is the source of
//! `docs/privacy.md`. Tests compare it with the schema of both databases and with the remaining data after an erasure.

use self::ErasureEffect::{Cleared, Expiring, Kept, RowDeleted};
use self::PersonalDataKind::{Content, Id, Ids, Name, Other};

/// The kind of personal data in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PersonalDataKind {
    /// The id of the user.
    Id,
    /// Ids of several users, as JSON.
    Ids,
    /// A copy of the user's name or email address.
    Name,
    /// Content the user wrote.
    Content,
    /// Other data about the user.
    Other,
}

/// The effect of an erasure on a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErasureEffect {
    /// The row is deleted.
    RowDeleted,
    /// The row is kept and the value is cleared.
    Cleared,
    /// The value is kept: an id that refers to a cleared account, or data that also belongs to others.
    Kept,
    /// The row expires within minutes.
    Expiring,
}

/// One column of the map.
#[derive(Debug, Clone, Copy)]
pub struct MappedColumn {
    pub table: &'static str,
    pub column: &'static str,
    pub holds: PersonalDataKind,
    /// The export table that contains the column; `None` for secrets, copies and counters.
    pub export: Option<&'static str>,
    /// The effect of an erasure.
    pub erasure: ErasureEffect,
}

const fn exported(
    table: &'static str,
    column: &'static str,
    holds: PersonalDataKind,
    export: &'static str,
    erasure: ErasureEffect,
) -> MappedColumn {
    MappedColumn {
        table,
        column,
        holds,
        export: Some(export),
        erasure,
    }
}

const fn not_exported(
    table: &'static str,
    column: &'static str,
    holds: PersonalDataKind,
    erasure: ErasureEffect,
) -> MappedColumn {
    MappedColumn {
        table,
        column,
        holds,
        export: None,
        erasure,
    }
}

/// Every column with personal data.
pub static MAP: &[MappedColumn] = &[
    exported("users", "id", Id, "account", Kept),
    exported("users", "name", Name, "account", Cleared),
    exported("users", "name_key", Name, "account", Cleared),
    exported("users", "search_key", Name, "account", Cleared),
    exported("users", "sort_key", Name, "account", Cleared),
    exported("users", "first_name", Name, "account", Cleared),
    exported("users", "last_name", Name, "account", Cleared),
    exported("users", "email", Name, "account", Cleared),
    exported("users", "username", Name, "account", Cleared),
    exported("users", "user_name", Name, "account", Cleared),
    exported("users", "image", Name, "account", Cleared),
    exported("users", "email_verified", Other, "account", Cleared),
    exported("users", "role", Other, "account", Cleared),
    exported("users", "locale", Other, "account", Cleared),
    exported("users", "timezone", Other, "account", Cleared),
    exported("users", "is_active", Other, "account", Cleared),
    exported("users", "must_change_password", Other, "account", Cleared),
    exported("users", "last_login_at", Other, "account", Cleared),
    exported("users", "banned", Other, "account", Cleared),
    exported("users", "ban_reason", Other, "account", Cleared),
    exported("users", "ban_expires", Other, "account", Cleared),
    not_exported("users", "temporary_password_expires_at", Other, Cleared),
    exported("users", "has_second_factor", Other, "account", Cleared),
    exported("users", "password_reset_at", Other, "account", Cleared),
    exported("users", "password_reset_by_id", Id, "account", Kept),
    not_exported("users", "home_organization_id", Other, Kept),
    not_exported("users", "erased_at", Other, Kept),
    not_exported("users", "row_version", Other, Kept),
    exported("users", "created_at", Other, "account", Kept),
    exported("users", "updated_at", Other, "account", Kept),
    exported("accounts", "user_id", Id, "sign-ins", RowDeleted),
    exported("accounts", "account_id", Id, "sign-ins", RowDeleted),
    not_exported("accounts", "password", Other, RowDeleted),
    not_exported("second_factors", "user_id", Id, RowDeleted),
    not_exported("second_factors", "secret", Other, RowDeleted),
    not_exported("recovery_codes", "user_id", Id, RowDeleted),
    not_exported("recovery_codes", "code_hash", Other, RowDeleted),
    exported("passkeys", "user_id", Id, "passkeys", RowDeleted),
    exported("passkeys", "name", Content, "passkeys", RowDeleted),
    exported("passkeys", "last_used_at", Other, "passkeys", RowDeleted),
    not_exported("passkeys", "credential_id", Id, RowDeleted),
    not_exported("passkeys", "public_key", Other, RowDeleted),
    exported("sessions", "user_id", Id, "sessions", RowDeleted),
    exported("sessions", "ip_address", Other, "sessions", RowDeleted),
    exported("sessions", "user_agent", Other, "sessions", RowDeleted),
    not_exported("sessions", "impersonated_by", Id, RowDeleted),
    not_exported("sessions", "sign_on_subject", Id, RowDeleted),
    not_exported("sessions", "sign_on_session", Other, RowDeleted),
    not_exported("sessions", "sign_on_id_token", Other, RowDeleted),
    exported("external_identities", "user_id", Id, "sign-on-identities", RowDeleted),
    exported("external_identities", "subject", Id, "sign-on-identities", RowDeleted),
    exported(
        "external_identities",
        "last_sign_in_at",
        Other,
        "sign-on-identities",
        RowDeleted,
    ),
    not_exported("verifications", "identifier", Id, RowDeleted),
    not_exported("verifications", "value", Id, RowDeleted),
    exported("members", "user_id", Id, "membership", RowDeleted),
    exported("members", "external_id", Other, "membership", RowDeleted),
    exported("sign_in_failures", "account_key", Name, "failed-sign-ins", RowDeleted),
    exported("sign_in_failures", "address", Other, "failed-sign-ins", RowDeleted),
    exported(
        "sign_in_failure_counts",
        "account_key",
        Name,
        "failed-sign-ins-in-a-row",
        RowDeleted,
    ),
    exported(
        "sign_in_successes",
        "account_key",
        Name,
        "sign-in-addresses",
        RowDeleted,
    ),
    exported("sign_in_successes", "address", Other, "sign-in-addresses", RowDeleted),
    exported("members", "is_active", Other, "membership", RowDeleted),
    exported("invitations", "email", Name, "invitations", RowDeleted),
    not_exported("invitations", "name", Name, RowDeleted),
    not_exported("invitations", "external_id", Other, RowDeleted),
    not_exported("invitations", "inviter_id", Id, Cleared),
    exported("api_tokens", "name", Content, "api-tokens", RowDeleted),
    exported("api_tokens", "created_by_id", Id, "api-tokens", RowDeleted),
    not_exported("users", "password_organization_id", Other, Cleared),
    not_exported("rate_windows", "name", Id, RowDeleted),
    not_exported("idempotency_keys", "user_id", Id, RowDeleted),
    not_exported("idempotency_keys", "answer", Name, RowDeleted),
    exported("homerooms", "teacher_id", Id, "homerooms-led", Cleared),
    exported("homeroom_enrollments", "student_id", Id, "homerooms", RowDeleted),
    exported("classes", "teacher_id", Id, "classes-taught", Kept),
    exported("class_teachers", "user_id", Id, "classes-taught", RowDeleted),
    exported("class_enrollments", "student_id", Id, "enrollments", RowDeleted),
    exported("groups", "help_message", Content, "help-calls", Cleared),
    exported("groups", "help_requested_by_id", Id, "help-calls", Cleared),
    not_exported("groups", "help_claimed_by_id", Id, Cleared),
    exported("groups", "help_resolved_by_id", Id, "activity", Kept),
    exported("groups", "created_by_id", Id, "activity", Kept),
    exported("group_members", "user_id", Id, "groups", RowDeleted),
    exported("group_attachments", "uploaded_by_id", Id, "group-files", Kept),
    exported("assignments", "created_by_id", Id, "activity", Kept),
    exported("assignments", "finished_by_id", Id, "activity", Kept),
    exported("assignment_attachments", "uploaded_by_id", Id, "topic-files", Kept),
    exported("work_room_messages", "sender_id", Id, "chat-messages", Kept),
    exported("work_room_messages", "content", Content, "chat-messages", Cleared),
    not_exported("work_room_messages", "client_message_id", Content, Cleared),
    not_exported("work_room_messages", "deleted_by_id", Id, Kept),
    exported("message_attachments", "uploaded_by_id", Id, "chat-files", RowDeleted),
    exported("message_attachments", "file_name", Content, "chat-files", RowDeleted),
    exported("work_room_reads", "user_id", Id, "reading-marks", RowDeleted),
    exported("documents", "created_by_id", Id, "documents", Kept),
    exported("documents", "last_edited_by", Id, "documents", Kept),
    exported("documents", "submitted_by_id", Id, "documents", Kept),
    exported("document_revisions", "saved_by_id", Id, "document-versions", Kept),
    exported("document_revisions", "editors", Ids, "document-versions", Kept),
    not_exported("document_revisions", "history", Ids, Kept),
    exported("document_contributions", "user_id", Id, "contributions", RowDeleted),
    exported(
        "document_contributions",
        "editing_millis",
        Other,
        "contributions",
        RowDeleted,
    ),
    exported("document_contributions", "saves", Other, "contributions", RowDeleted),
    exported(
        "document_contributions",
        "characters",
        Other,
        "contributions",
        RowDeleted,
    ),
    not_exported("editing_sessions", "editors", Ids, Expiring),
    not_exported("editing_sessions", "flushed", Ids, Expiring),
    exported("document_images", "uploaded_by_id", Id, "document-images", Kept),
    exported("document_comments", "author_id", Id, "document-comments", Kept),
    exported("document_comments", "text", Content, "document-comments", Cleared),
    // Comments of others mention the person.
    not_exported("document_comments", "text", Ids, Kept),
    not_exported("comment_threads", "resolved_by_id", Id, Kept),
    exported("comment_reads", "user_id", Id, "comment-reading-marks", RowDeleted),
    not_exported("document_steps", "author_id", Id, Kept),
    not_exported("document_snapshots", "authorship", Ids, Kept),
    not_exported("submission_documents", "authorship", Ids, Kept),
    not_exported("late_commits", "author_id", Id, Kept),
    not_exported("late_texts", "saved_by_id", Id, Expiring),
    exported("submissions", "submitted_by_id", Id, "submissions", Kept),
    exported("submissions", "withdrawn_by_id", Id, "activity", Kept),
    exported("submissions", "member_ids", Ids, "submissions", Kept),
    exported("submissions", "note", Content, "submissions", Cleared),
    exported("grades", "value", Other, "grades", Kept),
    exported("grades", "points", Other, "grades", Kept),
    exported("grades", "feedback", Other, "grades", Kept),
    exported("grades", "rubric", Other, "grades", Kept),
    exported("grades", "graded_by_id", Id, "activity", Kept),
    exported("member_grades", "user_id", Id, "member-grades", RowDeleted),
    exported("member_grades", "value", Other, "member-grades", RowDeleted),
    exported("member_grades", "points", Other, "member-grades", RowDeleted),
    exported("member_grades", "feedback", Other, "member-grades", RowDeleted),
    not_exported("member_grades", "graded_by_id", Id, Kept),
    exported("grade_files", "uploaded_by_id", Id, "grade-files", Kept),
    exported("grade_history", "changed_by_id", Id, "activity", Kept),
    not_exported("grade_history", "member_grades", Ids, Cleared),
    exported("feedback", "author_id", Id, "feedback-given", Kept),
    exported("feedback", "group_assignment_id", Other, "feedback-received", Kept),
    exported("feedback", "text", Content, "feedback-given", Kept),
    exported("rubrics", "owner_id", Id, "rubrics", Kept),
    exported("rubrics", "title", Content, "rubrics", Kept),
    exported("rubrics", "criteria", Content, "rubrics", Kept),
    exported("text_snippets", "user_id", Id, "text-snippets", RowDeleted),
    exported("text_snippets", "text", Content, "text-snippets", RowDeleted),
    exported("direct_messages", "sender_id", Id, "messages-sent", Kept),
    exported("direct_messages", "subject", Content, "messages-sent", Cleared),
    exported("direct_messages", "content", Content, "messages-sent", Cleared),
    exported("message_recipients", "user_id", Id, "messages-received", RowDeleted),
    exported("activity_logs", "user_id", Id, "activity", Kept),
    not_exported("activity_logs", "user_name", Name, Cleared),
    exported("activity_logs", "entity_id", Id, "activity", Kept),
    not_exported("activity_logs", "entity_name", Name, Cleared),
    not_exported("activity_logs", "details", Name, Cleared),
    not_exported("activity_logs", "search_key", Name, Cleared),
    not_exported("event_outbox", "signals", Name, Expiring),
    exported("deletion_archives", "deleted_by_id", Id, "activity", Kept),
    exported("deletion_archive_people", "user_id", Id, "deleted-items", RowDeleted),
    exported(
        "deletion_archive_people",
        "mentions",
        Other,
        "deleted-items",
        RowDeleted,
    ),
    not_exported("deletion_archive_chunks", "content", Content, Cleared),
    exported("jobs", "entity_id", Id, "exports", RowDeleted),
    not_exported("jobs", "created_by_id", Id, Cleared),
    not_exported("roster_origins", "external_id", Other, RowDeleted),
    not_exported("roster_run_entries", "external_id", Other, RowDeleted),
    not_exported("roster_run_entries", "name", Name, RowDeleted),
    not_exported("roster_runs", "started_by_id", Id, Cleared),
    not_exported("roster_runs", "confirmed_by_id", Id, Cleared),
];

impl PersonalDataKind {
    /// Description for `docs/privacy.md`.
    pub fn description(self) -> &'static str {
        match self {
            Id => "the person's id",
            Ids => "ids of people",
            Name => "a copy of name or address",
            Content => "a text by the person",
            Other => "data about the person",
        }
    }
}

impl ErasureEffect {
    /// Description for `docs/privacy.md`.
    pub fn description(self) -> &'static str {
        match self {
            RowDeleted => "the row is deleted",
            Cleared => "emptied",
            Kept => "kept",
            Expiring => "deleted after its retention time",
        }
    }
}
