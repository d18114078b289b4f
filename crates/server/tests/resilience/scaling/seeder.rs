//! Fills a database with the schools of a country by set-based SQL, as data for query plans. The amounts are
//! proportional: a class of 25 students with five groups, five topics that every group works on, documents with their
//! versions, submissions, grades, messages, and a log that is larger than everything else.

use std::fmt::Write as _;

use db::Database;

use test_support::{environment, rows, size};

/// The amount of data.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    pub schools: i64,
    /// Per school.
    pub students: i64,
    pub groups: i64,
    /// In total.
    pub logs: i64,
}

/// The number of students, groups and topics of a class.
const CLASS: i64 = 25;
const GROUPS: i64 = 5;
const TOPICS: i64 = 5;
/// The first timestamp, in Unix milliseconds. Ids are numbered from 0: `k3-0` is the first class of school `o3`.
const FROM: i64 = 1_700_000_000_000;
/// The maximum number of rows in one transaction.
const PIECE: usize = 500_000;

impl Extent {
    /// Returns the amount for `make test`, or for `make soak` in a soak run.
    pub fn for_run() -> Self {
        Self {
            schools: size(20, 200),
            students: size(100, 1000),
            groups: size(20, 200),
            // `GROUPWORK_LOGS` reduces the number for a soak run on a small disk.
            logs: environment("GROUPWORK_LOGS").map_or(size(100_000, 10_000_000), |logs| logs.parse().unwrap()),
        }
    }

    /// Returns a tenth of the schools, each with the same amount of data.
    pub fn tenth(self) -> Self {
        Self {
            schools: self.schools / 10,
            logs: self.logs / 10,
            ..self
        }
    }
}

/// The rows of one table: the table name, the number of rows per school, the columns after `organization_id` and their
/// values. `{s}` is the number of the school, `{i}` the number of the row within the school, `n` its number in total.
type Rows = (&'static str, i64, &'static str, &'static str);

/// Returns the tables of a school in insertion order, parents first.
fn tables(extent: Extent) -> Vec<Rows> {
    let mut tables = course_tables(extent);
    tables.extend(work_room_tables(extent));
    tables.extend(administration_tables(extent));
    tables
}

fn course_tables(extent: Extent) -> Vec<Rows> {
    let (students, groups) = (extent.students, extent.groups);
    let classes = groups / GROUPS;
    let (topics, links) = (classes * TOPICS, classes * TOPICS * GROUPS);
    vec![
        ("members", students, "id, user_id, role, external_id, created_at",
            "'m{s}-{i}', 'u{s}-{i}', CASE WHEN {i} % 20 = 1 THEN 'teacher' WHEN {i} = 0 THEN 'admin' ELSE 'student' END, 'x' || {i}, {t}"),
        ("subjects", 10, "id, name, name_key, created_at, updated_at", "'s{s}-{i}', 'Subject {i}', 'subject {i}', {t}, {t}"),
        ("homerooms", classes, "id, name, name_key, academic_year, teacher_id, external_id, created_at, updated_at",
            "'h{s}-{i}', 'Room {i}', 'room {i}', '2026/2027', 'u{s}-1', 'h{i}', {t}, {t}"),
        ("homeroom_enrollments", students, "id, homeroom_id, student_id, enrolled_at",
            "'he{s}-{i}', 'h{s}-{i/25}', 'u{s}-{i}', {t}"),
        ("classes", classes, "id, name, name_key, academic_year, teacher_id, homeroom_id, external_id, created_at, updated_at",
            "'k{s}-{i}', 'Class {i}', 'class {i}', '2026/2027', 'u{s}-1', 'h{s}-{i}', 'k{i}', {t}, {t}"),
        ("class_teachers", classes, "class_id, user_id, created_at", "'k{s}-{i}', 'u{s}-21', {t}"),
        ("class_subjects", classes, "class_id, subject_id", "'k{s}-{i}', 's{s}-{i%10}'"),
        ("class_enrollments", students, "id, class_id, student_id, enrolled_at", "'ce{s}-{i}', 'k{s}-{i/25}', 'u{s}-{i}', {t}"),
        ("courses", classes, "id, name, name_key, class_id, subject_id, created_at, updated_at",
            "'c{s}-{i}', 'Course {i}', 'course {i}', 'k{s}-{i}', 's{s}-{i%10}', {t}, {t}"),
        ("groups", groups, "id, name, name_key, group_number, class_id, subject_id, course_id, needs_help, help_requested_at,
            created_by_id, created_at, updated_at",
            "'g{s}-{i}', 'Group {i}', 'group {i}', {i%5} + 1, 'k{s}-{i/5}', 's{s}-{i/5%10}', 'c{s}-{i/5}', {i} % 10 = 0,
            CASE WHEN {i} % 10 = 0 THEN {t} END, 'u{s}-1', {t}, {t}"),
        ("group_members", students, "id, class_id, group_id, user_id, joined_at",
            "'gm{s}-{i}', 'k{s}-{i/25}', 'g{s}-{i/5}', 'u{s}-{i}', {t}"),
        ("group_attachments", groups, "id, group_id, file_name, mime_type, size, sha256, file_key, uploaded_by_id, created_at",
            "'gf{s}-{i}', 'g{s}-{i}', 'a.pdf', 'application/pdf', 1, 'x', 'gf{s}-{i}', 'u{s}-1', {t}"),
        ("assignments", topics, "id, title, title_key, description, deadline, class_id, course_id, created_by_id, created_at, updated_at",
            "'a{s}-{i}', 'Topic {i}', 'topic {i}', 'Draw.', {t}, 'k{s}-{i/5}', 'c{s}-{i/5}', 'u{s}-1', {t}, {t}"),
        ("group_assignments", links, "id, class_id, assignment_id, group_id, status, current_submission_id, created_at, updated_at",
            "'l{s}-{i}', 'k{s}-{i/25}', 'a{s}-{i/5}', 'g{s}-' || ({i} / 25 * 5 + {i} % 5), CASE WHEN {i} % 2 = 0 THEN 'SUBMITTED' ELSE
            'IN_PROGRESS' END, CASE WHEN {i} % 2 = 0 THEN 'su{s}-' || ({i} / 2) END, {t}, {t}"),
        ("assignment_attachments", topics, "id, assignment_id, file_name, mime_type, size, sha256, file_key, uploaded_by_id, created_at",
            "'f{s}-{i}', 'a{s}-{i}', 'a.pdf', 'application/pdf', 1, 'x', 'f{s}-{i}', 'u{s}-1', {t}"),
    ]
}

fn work_room_tables(extent: Extent) -> Vec<Rows> {
    let (students, groups) = (extent.students, extent.groups);
    let (rooms, documents, links) = (groups, groups * 2, groups * TOPICS);
    vec![
        ("work_rooms", rooms, "id, group_id, last_message_seq, created_at, updated_at", "'w{s}-{i}', 'g{s}-{i}', 20, {t}, {t}"),
        ("work_room_messages", rooms * 20, "id, work_room_id, seq, sender_id, content, client_message_id, created_at, deleted_at",
            "'ms{s}-{i}', 'w{s}-{i/20}', {i%20} + 1, 'u{s}-' || ({i} / 20 * 5), 'Hello', 'c{i}', {t},
            CASE WHEN {i} % 50 = 7 THEN {t} END"),
        ("message_attachments", rooms, "id, work_room_id, message_id, file_name, mime_type, size, sha256, file_key, uploaded_by_id, created_at",
            "'mf{s}-{i}', 'w{s}-{i}', CASE WHEN {i} % 4 > 0 THEN 'ms{s}-' || ({i} * 20) END, 'a.pdf', 'application/pdf', 1, 'x', 'mf{s}-{i}', 'u{s}-' || ({i} * 5), {t}"),
        ("work_room_reads", students, "work_room_id, user_id, last_read_seq, last_read_at", "'w{s}-{i/5}', 'u{s}-{i}', 10, {t}"),
        ("documents", documents, "id, work_room_id, title, document_type, file_extension, assignment_id, current_revision_id, version,
            created_by_id, last_activity, created_at, updated_at",
            "'d{s}-{i}', 'w{s}-{i/2}', 'Page {i}', 'word', 'docx', 'a{s}-' || ({i} / 10 * 5), 'r{s}-' || ({i} * 5 + 4), 5,
            'u{s}-1', {t}, {t}, {t}"),
        ("document_revisions", documents * 5, "id, document_id, version, file_key, size, sha256, origin, generation, created_at",
            "'r{s}-{i}', 'd{s}-{i/5}', {i%5} + 1, 'r{s}-{i}', 1, 'x', 'EDITOR', 1, {t}"),
        ("document_saves", documents * 2, "id, document_id, document_key, url_path_hash, outcome, created_at",
            "'ds{s}-{i}', 'd{s}-{i/2}', 'key', 'p{i}', 'CURRENT', {t}"),
        ("document_contributions", documents, "document_id, user_id, editing_millis, saves, first_at, last_at, counted_until",
            "'d{s}-{i}', 'u{s}-' || ({i} / 2 * 5), 0, 1, {t}, {t}, {t}"),
        ("document_logs", documents / 5, "document_id, generation, version, unsaved_since, last_commit_at, created_at",
            "'d{s}-' || ({i} * 5), 1, 20, CASE WHEN {i} % 10 = 0 THEN {t} END, {t}, {t}"),
        ("document_snapshots", documents / 5, "document_id, generation, version, content, created_at",
            "'d{s}-' || ({i} * 5), 1, 0, '{{}}', {t}"),
        ("document_steps", documents * 4, "document_id, generation, version, author_id, client_id, ref, steps, created_at",
            "'d{s}-' || ({i} / 20 * 5), 1, {i%20} + 1, 'u{s}-1', 'c', 'r{i}', '[]', {t}"),
        ("document_images", documents / 5, "id, document_id, mime_type, size, sha256, file_key, width, height, uploaded_by_id, created_at",
            "'di{s}-{i}', 'd{s}-' || ({i} * 5), 'image/png', 1, 'x', 'di{s}-{i}', 1, 1, 'u{s}-' || ({i} * 5), {t}"),
        ("late_commits", documents / 5, "id, document_id, generation, author_id, client_id, ref, version, steps, created_at, is_saved",
            "'lc{s}-{i}', 'd{s}-' || ({i} * 5), 1, 'u{s}-1', 'c', 'r', 1, '[]', {t}, {i} % 10 > 0"),
        ("comment_threads", documents / 5, "id, document_id, created_at", "'ct{s}-{i}', 'd{s}-' || ({i} * 5), {t}"),
        ("document_comments", documents / 5, "id, thread_id, author_id, text, created_at",
            "'co{s}-{i}', 'ct{s}-{i}', 'u{s}-' || ({i} * 5), 'Why?', {t}"),
        ("comment_reads", documents / 5, "document_id, user_id, read_until", "'d{s}-' || ({i} * 5), 'u{s}-' || ({i} * 5), {t}"),
        ("editing_sessions", documents / 5, "id, document_id, generation, document_key, since, last_callback_at",
            "'es{s}-{i}', 'd{s}-' || ({i} * 5), 1, 'key', {t}, {t}"),
        ("submissions", links / 2, "id, group_assignment_id, attempt, status, submitted_by_id, submitted_at, member_ids, created_at",
            "'su{s}-{i}', 'l{s}-' || ({i} * 2), 1, 'ACTIVE', 'u{s}-1', {t}, '[]', {t}"),
        ("submission_documents", links / 2, "id, submission_id, document_id, document_version, title, file_extension, size, sha256,
            file_key, created_at",
            "'sd{s}-{i}', 'su{s}-{i}', 'd{s}-' || ({i} % {documents}), 1, 'Page', 'docx', 1, 'x', 'sd{s}-{i}', {t}"),
        ("grades", links / 4, "id, submission_id, status, published_at, graded_by_id, graded_at, created_at, updated_at",
            "'gr{s}-{i}', 'su{s}-' || ({i} * 2), 'PUBLISHED', {t}, 'u{s}-1', {t}, {t}, {t}"),
        ("member_grades", links / 4, "id, grade_id, user_id, value", "'mg{s}-{i}', 'gr{s}-{i}', 'u{s}-' || ({i} % {students}), '2'"),
        ("grade_files", links / 8, "id, submission_id, file_name, mime_type, size, sha256, file_key, uploaded_by_id, created_at",
            "'gf{s}-{i}', 'su{s}-' || ({i} * 4), 'a.pdf', 'application/pdf', 1, 'x', 'gf{s}-{i}', 'u{s}-1', {t}"),
        ("grade_history", links / 4, "id, grade_id, version, status, changed_by_id, created_at",
            "'gh{s}-{i}', 'gr{s}-{i}', 1, 'PUBLISHED', 'u{s}-1', {t}"),
        ("feedback", links / 2, "id, group_assignment_id, submission_id, author_id, text, published_at, created_at, updated_at",
            "'fb{s}-{i}', 'l{s}-' || ({i} * 2), 'su{s}-{i}', 'u{s}-1', 'Good', {t}, {t}, {t}"),
        ("converted_files", links / 4, "id, submission_document_id, revision_id, format, file_key, size, sha256, created_at",
            "'cf{s}-{i}', CASE WHEN {i} % 2 = 0 THEN 'sd{s}-{i}' END, CASE WHEN {i} % 2 = 1 THEN 'r{s}-{i}' END, 'pdf',
            'cf{s}-{i}', 1, 'x', {t}"),
        ("direct_messages", students, "id, sender_id, class_id, content, created_at",
            "'dm{s}-{i}', 'u{s}-{i}', CASE WHEN {i} % 10 = 0 THEN 'k{s}-{i/25}' END, 'Hello', {t}"),
        ("message_recipients", students * 2, "message_id, user_id, created_at",
            "'dm{s}-{i/2}', 'u{s}-' || (({i} * 7 + {i} % 2) % {students}), {t}"),
    ]
}

fn administration_tables(extent: Extent) -> Vec<Rows> {
    let (students, groups) = (extent.students, extent.groups);
    let logs = extent.logs / extent.schools;
    let mut tables: Vec<Rows> = vec![
        ("file_removals", 100, "id, file_key, next_attempt_at, created_at", "'fr{s}-{i}', 'k{s}-{i}', 4000000000000, {t}"),
        ("deletion_archives", 100, "id, noun, object_id, name, class_id, class_name, courses, groups, assignments, documents,
            submissions, messages, bytes, manifest, seal, deleted_by_id, deleted_at, expires_at",
            "'da{s}-{i}', 'GROUP', 'dg{s}-{i}', 'Deleted', 'k{s}-1', '7b', 0, 1, 0, 0, 0, 0, 0, '', '',
            'u{s}-' || ({i} % 20), {t} + {i}, 4000000000000"),
        ("deletion_archive_chunks", 100, "archive_id, number, content", "'da{s}-{i}', 1, ''"),
        ("deletion_archive_files", 200, "archive_id, file_key, size, sha256", "'da{s}-{i/2}', 'daf{s}-{i}', 1, 'x'"),
        ("deletion_archive_people", 200, "archive_id, user_id, mentions", "'da{s}-{i/2}', 'u{s}-{i}', 1"),
        ("rate_windows", groups, "name, window_started_at, hits", "'help:g{s}-{i}', {t}, 1"),
        ("idempotency_keys", students, "id, user_id, route, key_digest, request_digest, status, answer, size, created_at",
            "'ik{s}-{i}', 'u{s}-' || ({i} % 20), 'POST /api/groups', 'k{i}', 'r', 201, '{{}}', 2, 4000000000000 + {i}"),
        ("mail_domains", 5, "id, domain, method, status, token, next_check_at, created_at, updated_at",
            "'md{s}-{i}', 'd{s}-{i}.example', 'DNS', 'VERIFIED', 't', 4000000000000, {t}, {t}"),
        ("api_tokens", 5, "id, name, scopes, hash, hint, created_by_id, created_at, expires_at",
            "'at{s}-{i}', 't{i}', 'read', 'at{s}-{i}', 'gwt_', 'u{s}-{i}', {t}, 4000000000000"),
        ("rubrics", extent.groups, "id, owner_id, title, title_key, is_shared, criteria, criterion_count, created_at, updated_at",
            "'ru{s}-{i}', 'u{s}-' || ({i} % 20), 'Poster', 'poster', {i} % 2 = 0, '[]', 0, {t}, {t}"),
        ("assignment_rubrics", extent.groups / 10, "assignment_id, title, criteria, created_at, updated_at",
            "'a{s}-{i}', 'Poster', '[]', {t}, {t}"),
        ("text_snippets", extent.groups, "id, user_id, text, created_at, updated_at", "'ts{s}-{i}', 'u{s}-' || ({i} % 20), 'Good.', {t}, {t}"),
        ("former_slugs", 3, "slug, created_at", "'former{s}-{i}', {t}"),
        ("invitations", students, "id, email, name, role, external_id, status, token_digest, expires_at, created_at, updated_at",
            "'iv{s}-{i}', 'p' || {i} || '@s{s}.example', 'Ida', 'student', 'i' || {i}, CASE WHEN {i} % 4 = 0 THEN 'pending' ELSE
            'accepted' END, 'iv{s}-{i}', {t}, {t}, {t}"),
        ("sign_on_providers", 3, "id, name, preset, issuer, client_id, client_secret, linking, external_id_claim, account_creation,
            role_claim, teacher_values, domains, is_enabled, created_at, updated_at",
            "'sp{s}-{i}', 'School', 'OTHER', 'https://id.s{s}.example', 'c', 's', 'ADMINISTRATOR', '', 'NEVER', '', '[]', '[]', TRUE,
            {t}, {t}"),
        ("external_identities", students, "id, provider_id, issuer, subject, user_id, linked_by, created_at",
            "'xi{s}-{i}', 'sp{s}-1', 'https://id.s{s}.example', 'p{i}', 'u{s}-{i}', 'ADMINISTRATOR', {t}"),
        ("roster_sources", 3, "id, name, protocol, url, token_url, client_id, client_secret, scope, school_id, roles, ends_absent,
            leave_percent, is_nightly, nightly_hour, created_at, updated_at",
            "'rs{s}-{i}', 'School', 'SCHULCONNEX', 'https://r.example', 'https://r.example', 'c', 's', '', '', 'ALL', TRUE, 5, TRUE, 3,
            {t}, {t}"),
        ("roster_runs", 200, "id, source_id, kind, state, counts, applied, job_key, started_by_id, created_at",
            "'rr{s}-{i}', 'rs{s}-' || ({i} % 2), 'NIGHTLY', 'DONE', '{{}}', '{{}}', 'rj{s}-{i}', 'u{s}-' || ({i} % 20), {t} + {i}"),
        ("roster_run_entries", students, "run_id, effect, place, object, external_id, name",
            "'rr{s}-1', 'JOINS', {i}, 'PERSON', 'x{i}', 'Ida {i}'"),
        ("roster_origins", students, "source_id, object, external_id, created_at",
            "'rs{s}-1', 'PERSON', 'x{i}', {t}"),
        ("sign_on_attempts", 50, "state_digest, browser_digest, provider_id, nonce, code_verifier, callback_url, error_url, new_user_url,
            expires_at", "'sa{s}-{i}', 'b', 'sp{s}-1', 'n', 'v', '/', '/', '/', 4000000000000"),
        ("sign_on_logouts", 50, "provider_id, token_id, expires_at", "'sp{s}-1', 'j{i}', 4000000000000"),
        ("letters", 5, "id, kind, sealed, next_attempt_at, expires_at, created_at", "'le{s}-{i}', 'reset', '', 4000000000000, 4000000000000, {t}"),
        ("event_outbox", 50, "id, signals, created_at", "'ev{s}-{i}', '[]', {t}"),
        ("jobs", 10, "id, kind, entity_id, status, run_at, created_at, updated_at, expires_at",
            "'j{s}-{i}', 'PERSONAL_EXPORT', 'u{s}-{i}', 'DONE', {t}, {t}, {t}, 4000000000000"),
    ];
    tables.push((
        "activity_logs",
        logs,
        "id, user_id, user_name, user_role, category, action, entity_type, entity_id, class_id, course_id, group_id, assignment_id,
            created_at",
        "'al{s}-{i}', 'u{s}-' || ({i} % {students}), 'Ada', 'teacher', 'CLASS', 'UPDATE', 'class', 'x', 'k{s}-' || ({i} % {classes}),
            'c{s}-' || ({i} % {classes}), 'g{s}-' || ({i} % {groups}), 'a{s}-' || ({i} % {topics}), {t}",
    ));
    tables
}

/// Inserts the rows of these schools and collects the statistics that the planner uses.
#[expect(clippy::too_many_lines, reason = "one statement per table")]
pub async fn fill(database: &Database, extent: Extent) {
    let is_sqlite = matches!(database, Database::Sqlite(_));
    let mut script = String::from(if is_sqlite {
        "PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -200000;\n"
    } else {
        // Disables the foreign key checks, which would run about a hundred lookups for every row. The inserted rows are
        // valid by construction.
        "SET session_replication_role = replica; SET synchronous_commit = off;\n"
    });
    // Splits the rows into batches, because a single transaction would be as large as the database.
    let mut insert = |table: &str, columns: &str, values: &str, count: i64| {
        for from in (0..count).step_by(PIECE) {
            let last = count.min(from + i64::try_from(PIECE).unwrap()) - 1;
            let numbers = if is_sqlite {
                format!(
                    "(WITH RECURSIVE numbers(n) AS (SELECT {from} UNION ALL SELECT n + 1 FROM numbers WHERE n < {last})
                    SELECT n FROM numbers)"
                )
            } else {
                format!("generate_series(CAST({from} AS BIGINT), {last}) AS numbers(n)")
            };
            writeln!(
                script,
                "BEGIN; INSERT INTO {table} ({columns}) SELECT {values} FROM {numbers}; COMMIT;"
            )
            .unwrap();
        }
    };
    let (schools, people) = (extent.schools, extent.schools * extent.students);
    let school = format!("'o' || (n / {})", extent.students);
    for (table, count, columns, values) in [
        (
            "organizations",
            schools,
            "id, name, name_key, slug, created_at, updated_at",
            "'o' || n, 'School ' || n, 'school ' || n, 'school-' || n, {t}, {t}",
        ),
        (
            "users",
            people,
            "id, name, name_key, email, home_organization_id, created_at, updated_at",
            "{u}, 'Person ' || n, 'person ' || n, 'p' || n || '@growth.example', {o}, {t}, {t}",
        ),
        (
            "accounts",
            people,
            "id, user_id, provider_id, account_id, created_at, updated_at",
            "'ac' || n, {u}, 'credential', {u}, {t}, {t}",
        ),
        (
            "sessions",
            people,
            "id, user_id, token, expires_at, active_organization_id, created_at, updated_at",
            "'se' || n, {u}, 'token' || n, 4000000000000, {o}, {t}, {t}",
        ),
        (
            "verifications",
            people / 10,
            "id, identifier, value, expires_at, created_at, updated_at",
            "'ve' || n, 'reset-password:' || n, {u}, {t}, {t}, {t}",
        ),
        (
            "second_factors",
            people / 10,
            "id, user_id, secret, confirmed_at, created_at",
            "'fa' || n, {u}, 'sealed', {t}, {t}",
        ),
        (
            "passkeys",
            people / 10,
            "id, user_id, credential_id, public_key, counter, transports, is_backup_eligible, is_backed_up, aaguid,
                created_at",
            "'pk' || n, {u}, 'credential' || n, '', 0, '', FALSE, FALSE, '', {t}",
        ),
        (
            "recovery_codes",
            people / 10,
            "id, user_id, code_hash, created_at",
            "'rc' || n, {u}, 'hash' || n, {t}",
        ),
        (
            "sign_in_failures",
            people / 10,
            "id, account_key, address, created_at",
            "'sf' || n, 'p' || n || '@growth.example', '192.0.2.' || (n % 250), {t}",
        ),
        (
            "sign_in_failure_counts",
            people / 10,
            "account_key, failures, last_failure_at",
            "'p' || n || '@growth.example', 1, {t}",
        ),
        (
            "sign_in_successes",
            people,
            "account_key, address, last_success_at",
            "'p' || n || '@growth.example', '192.0.2.' || (n % 250), {t}",
        ),
    ] {
        let user = format!("'u' || (n / {0}) || '-' || (n % {0})", extent.students);
        let values = values.replace("{u}", &user).replace("{o}", &school);
        let values = values.replace("{t}", &format!("({FROM} + n)"));
        insert(table, columns, &values, count);
    }
    for (table, each, columns, values) in tables(extent) {
        let values = format!("'o' || (n / {each}), {}", render_row(values, each, extent));
        insert(table, &format!("organization_id, {columns}"), &values, each * schools);
    }
    rows::execute(database, script).await;
    // The service never collects statistics for SQLite, so its plans must not depend on them. PostgreSQL collects them
    // automatically.
    if !is_sqlite {
        rows::execute(database, "ANALYZE".to_owned()).await;
    }
}

/// Renders the values of one row as SQL. Placeholders inside quotes become string concatenations.
fn render_row(values: &str, each: i64, extent: Extent) -> String {
    let (school, number) = (format!("(n / {each})"), format!("(n % {each})"));
    let classes = extent.groups / GROUPS;
    let constants = [
        ("{students}", extent.students),
        ("{groups}", extent.groups),
        ("{classes}", classes),
        ("{topics}", classes * TOPICS),
        ("{documents}", extent.groups * 2),
    ];
    let mut values = values.replace("{t}", &format!("({FROM} + n)"));
    for (name, value) in constants {
        values = values.replace(name, &value.to_string());
    }
    let parts = [
        ("{i/5%10}", format!("({number} / 5 % 10)")),
        ("{i/25}", format!("({number} / {CLASS})")),
        ("{i/20}", format!("({number} / 20)")),
        ("{i/5}", format!("({number} / 5)")),
        ("{i/2}", format!("({number} / 2)")),
        ("{i%10}", format!("({number} % 10)")),
        ("{i%20}", format!("({number} % 20)")),
        ("{i%5}", format!("({number} % 5)")),
        ("{i}", number.clone()),
        ("{s}", school),
    ];
    let mut sql = String::new();
    for (index, piece) in values.split('\'').enumerate() {
        let is_text = index % 2 == 1;
        let mut piece = piece.to_owned();
        for (place, term) in &parts {
            let term = if is_text {
                format!("' || {term} || '")
            } else {
                term.clone()
            };
            piece = piece.replace(place, &term);
        }
        if is_text {
            write!(sql, "'{piece}'").unwrap();
        } else {
            sql.push_str(&piece);
        }
    }
    sql
}
