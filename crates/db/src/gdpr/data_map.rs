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

/// `table.column: kind => "export table", effect of an erasure;`
macro_rules! map {
    (@export) => { None };
    (@export $export:literal) => { Some($export) };
    ($($table:ident.$column:ident: $holds:ident $(=> $export:literal)?, $erasure:ident;)+) => {
        /// Every column with personal data.
        pub static MAP: &[MappedColumn] = &[$(MappedColumn {
            table: stringify!($table),
            column: stringify!($column),
            holds: $holds,
            export: map!(@export $($export)?),
            erasure: $erasure,
        }),+];
    };
}

map! {
    users.id: Id => "account", Kept;
    users.name: Name => "account", Cleared;
    users.name_key: Name => "account", Cleared;
    users.search_key: Name => "account", Cleared;
    users.sort_key: Name => "account", Cleared;
    users.first_name: Name => "account", Cleared;
    users.last_name: Name => "account", Cleared;
    users.email: Name => "account", Cleared;
    users.username: Name => "account", Cleared;
    users.user_name: Name => "account", Cleared;
    users.image: Name => "account", Cleared;
    users.email_verified: Other => "account", Cleared;
    users.role: Other => "account", Cleared;
    users.locale: Other => "account", Cleared;
    users.timezone: Other => "account", Cleared;
    users.is_active: Other => "account", Cleared;
    users.must_change_password: Other => "account", Cleared;
    users.last_login_at: Other => "account", Cleared;
    users.banned: Other => "account", Cleared;
    users.ban_reason: Other => "account", Cleared;
    users.ban_expires: Other => "account", Cleared;
    users.temporary_password_expires_at: Other, Cleared;
    users.has_second_factor: Other => "account", Cleared;
    users.password_reset_at: Other => "account", Cleared;
    users.password_reset_by_id: Id => "account", Kept;
    users.home_organization_id: Other, Kept;
    users.erased_at: Other, Kept;
    users.row_version: Other, Kept;
    users.created_at: Other => "account", Kept;
    users.updated_at: Other => "account", Kept;
    accounts.user_id: Id => "sign-ins", RowDeleted;
    accounts.account_id: Id => "sign-ins", RowDeleted;
    accounts.password: Other, RowDeleted;
    second_factors.user_id: Id, RowDeleted;
    second_factors.secret: Other, RowDeleted;
    recovery_codes.user_id: Id, RowDeleted;
    recovery_codes.code_hash: Other, RowDeleted;
    passkeys.user_id: Id => "passkeys", RowDeleted;
    passkeys.name: Content => "passkeys", RowDeleted;
    passkeys.last_used_at: Other => "passkeys", RowDeleted;
    passkeys.credential_id: Id, RowDeleted;
    passkeys.public_key: Other, RowDeleted;
    sessions.user_id: Id => "sessions", RowDeleted;
    sessions.ip_address: Other => "sessions", RowDeleted;
    sessions.user_agent: Other => "sessions", RowDeleted;
    sessions.impersonated_by: Id, RowDeleted;
    sessions.sign_on_subject: Id, RowDeleted;
    sessions.sign_on_session: Other, RowDeleted;
    sessions.sign_on_id_token: Other, RowDeleted;
    external_identities.user_id: Id => "sign-on-identities", RowDeleted;
    external_identities.subject: Id => "sign-on-identities", RowDeleted;
    external_identities.last_sign_in_at: Other => "sign-on-identities", RowDeleted;
    verifications.identifier: Id, RowDeleted;
    verifications.value: Id, RowDeleted;
    members.user_id: Id => "membership", RowDeleted;
    members.external_id: Other => "membership", RowDeleted;
    sign_in_failures.account_key: Name => "failed-sign-ins", RowDeleted;
    sign_in_failures.address: Other => "failed-sign-ins", RowDeleted;
    sign_in_failure_counts.account_key: Name => "failed-sign-ins-in-a-row", RowDeleted;
    sign_in_successes.account_key: Name => "sign-in-addresses", RowDeleted;
    sign_in_successes.address: Other => "sign-in-addresses", RowDeleted;
    members.is_active: Other => "membership", RowDeleted;
    invitations.email: Name => "invitations", RowDeleted;
    invitations.name: Name, RowDeleted;
    invitations.external_id: Other, RowDeleted;
    invitations.inviter_id: Id, Cleared;
    api_tokens.name: Content => "api-tokens", RowDeleted;
    api_tokens.created_by_id: Id => "api-tokens", RowDeleted;
    users.password_organization_id: Other, Cleared;
    rate_windows.name: Id, RowDeleted;
    idempotency_keys.user_id: Id, RowDeleted;
    idempotency_keys.answer: Name, RowDeleted;
    homerooms.teacher_id: Id => "homerooms-led", Cleared;
    homeroom_enrollments.student_id: Id => "homerooms", RowDeleted;
    classes.teacher_id: Id => "classes-taught", Kept;
    class_teachers.user_id: Id => "classes-taught", RowDeleted;
    class_enrollments.student_id: Id => "enrollments", RowDeleted;
    groups.help_message: Content => "help-calls", Cleared;
    groups.help_requested_by_id: Id => "help-calls", Cleared;
    groups.help_claimed_by_id: Id, Cleared;
    groups.help_resolved_by_id: Id => "activity", Kept;
    groups.created_by_id: Id => "activity", Kept;
    group_members.user_id: Id => "groups", RowDeleted;
    group_attachments.uploaded_by_id: Id => "group-files", Kept;
    assignments.created_by_id: Id => "activity", Kept;
    assignments.finished_by_id: Id => "activity", Kept;
    assignment_attachments.uploaded_by_id: Id => "topic-files", Kept;
    work_room_messages.sender_id: Id => "chat-messages", Kept;
    work_room_messages.content: Content => "chat-messages", Cleared;
    work_room_messages.client_message_id: Content, Cleared;
    work_room_messages.deleted_by_id: Id, Kept;
    message_attachments.uploaded_by_id: Id => "chat-files", RowDeleted;
    message_attachments.file_name: Content => "chat-files", RowDeleted;
    work_room_reads.user_id: Id => "reading-marks", RowDeleted;
    documents.created_by_id: Id => "documents", Kept;
    documents.last_edited_by: Id => "documents", Kept;
    documents.submitted_by_id: Id => "documents", Kept;
    document_revisions.saved_by_id: Id => "document-versions", Kept;
    document_revisions.editors: Ids => "document-versions", Kept;
    document_revisions.history: Ids, Kept;
    document_contributions.user_id: Id => "contributions", RowDeleted;
    document_contributions.editing_millis: Other => "contributions", RowDeleted;
    document_contributions.saves: Other => "contributions", RowDeleted;
    document_contributions.characters: Other => "contributions", RowDeleted;
    editing_sessions.editors: Ids, Expiring;
    editing_sessions.flushed: Ids, Expiring;
    document_images.uploaded_by_id: Id => "document-images", Kept;
    document_comments.author_id: Id => "document-comments", Kept;
    document_comments.text: Content => "document-comments", Cleared;
    // Comments of others mention the person.
    document_comments.text: Ids, Kept;
    comment_threads.resolved_by_id: Id, Kept;
    comment_reads.user_id: Id => "comment-reading-marks", RowDeleted;
    document_steps.author_id: Id, Kept;
    document_snapshots.authorship: Ids, Kept;
    submission_documents.authorship: Ids, Kept;
    late_commits.author_id: Id, Kept;
    late_texts.saved_by_id: Id, Expiring;
    submissions.submitted_by_id: Id => "submissions", Kept;
    submissions.withdrawn_by_id: Id => "activity", Kept;
    submissions.member_ids: Ids => "submissions", Kept;
    submissions.note: Content => "submissions", Cleared;
    grades.value: Other => "grades", Kept;
    grades.points: Other => "grades", Kept;
    grades.feedback: Other => "grades", Kept;
    grades.rubric: Other => "grades", Kept;
    grades.graded_by_id: Id => "activity", Kept;
    member_grades.user_id: Id => "member-grades", RowDeleted;
    member_grades.value: Other => "member-grades", RowDeleted;
    member_grades.points: Other => "member-grades", RowDeleted;
    member_grades.feedback: Other => "member-grades", RowDeleted;
    member_grades.graded_by_id: Id, Kept;
    grade_files.uploaded_by_id: Id => "grade-files", Kept;
    grade_history.changed_by_id: Id => "activity", Kept;
    grade_history.member_grades: Ids, Cleared;
    feedback.author_id: Id => "feedback-given", Kept;
    feedback.group_assignment_id: Other => "feedback-received", Kept;
    feedback.text: Content => "feedback-given", Kept;
    rubrics.owner_id: Id => "rubrics", Kept;
    rubrics.title: Content => "rubrics", Kept;
    rubrics.criteria: Content => "rubrics", Kept;
    text_snippets.user_id: Id => "text-snippets", RowDeleted;
    text_snippets.text: Content => "text-snippets", RowDeleted;
    direct_messages.sender_id: Id => "messages-sent", Kept;
    direct_messages.subject: Content => "messages-sent", Cleared;
    direct_messages.content: Content => "messages-sent", Cleared;
    message_recipients.user_id: Id => "messages-received", RowDeleted;
    activity_logs.user_id: Id => "activity", Kept;
    activity_logs.user_name: Name, Cleared;
    activity_logs.entity_id: Id => "activity", Kept;
    activity_logs.entity_name: Name, Cleared;
    activity_logs.details: Name, Cleared;
    activity_logs.search_key: Name, Cleared;
    event_outbox.signals: Name, Expiring;
    deletion_archives.deleted_by_id: Id => "activity", Kept;
    deletion_archive_people.user_id: Id => "deleted-items", RowDeleted;
    deletion_archive_people.mentions: Other => "deleted-items", RowDeleted;
    deletion_archive_chunks.content: Content, Cleared;
    jobs.entity_id: Id => "exports", RowDeleted;
    jobs.created_by_id: Id, Cleared;
    roster_origins.external_id: Other, RowDeleted;
    roster_run_entries.external_id: Other, RowDeleted;
    roster_run_entries.name: Name, RowDeleted;
    roster_runs.started_by_id: Id, Cleared;
    roster_runs.confirmed_by_id: Id, Cleared;
}

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
