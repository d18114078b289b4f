//! The export tables of an organization. `$2` is the user. Content written by others is excluded, unless it is
//! addressed to the user or assesses their work and is visible to them.

use super::ExportTable;
use crate::labels::SHOWN_EMAIL;
use crate::{fragments, statements};

fragments! {
    /// Submission `s` belongs to a link `ga` of the organization. The member ids are a JSON text without an index, so
    /// the query starts at the links of the organization instead of scanning the tables of all organizations by id.
    /// `CROSS JOIN` enforces this join order in SQLite.
    OF_LINKS = "ga.organization_id = $1 AND s.organization_id = ga.organization_id AND s.group_assignment_id = ga.id";
    /// The user is a member of submission `s` or submitted it.
    TOOK_PART = "(s.submitted_by_id = $2 OR s.member_ids LIKE '%' || $2 || '%')";
}

statements! {
    /// The membership, and the account as visible to other members.
    MEMBERSHIP = "SELECT m.id, u.name, u.image, {SHOWN_EMAIL} AS email, m.role, m.external_id, m.is_active, m.created_at, m.updated_at
        FROM members m JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = $1 AND m.user_id = $2 AND m.id > $3 ORDER BY m.id LIMIT $4";
    /// Homerooms in which the user is enrolled.
    HOMEROOMS = "SELECT e.id, e.homeroom_id, h.name, h.academic_year, e.enrolled_at
        FROM homeroom_enrollments e JOIN homerooms h ON h.organization_id = e.organization_id AND h.id = e.homeroom_id
        WHERE e.organization_id = $1 AND e.student_id = $2 AND e.id > $3 ORDER BY e.id LIMIT $4";
    /// Homerooms the user leads.
    HOMEROOMS_LED = "SELECT id, name, academic_year, created_at FROM homerooms
        WHERE organization_id = $1 AND teacher_id = $2 AND id > $3 ORDER BY id LIMIT $4";
    /// Classes in which the user is enrolled.
    ENROLLMENTS = "SELECT e.id, e.class_id, k.name AS class_name, k.academic_year, e.enrolled_at, e.completed_at
        FROM class_enrollments e JOIN classes k ON k.organization_id = e.organization_id AND k.id = e.class_id
        WHERE e.organization_id = $1 AND e.student_id = $2 AND e.id > $3 ORDER BY e.id LIMIT $4";
    /// Classes the user teaches.
    CLASSES_TAUGHT = "SELECT k.id, k.name, k.academic_year, k.teacher_id = $2 AS is_owner, k.created_at FROM classes k
        WHERE k.organization_id = $1 AND (k.teacher_id = $2 OR EXISTS (SELECT 1 FROM class_teachers t
            WHERE t.organization_id = $1 AND t.class_id = k.id AND t.user_id = $2)) AND k.id > $3
            ORDER BY k.id LIMIT $4";
    /// Groups the user is a member of.
    GROUPS = "SELECT m.id, m.group_id, g.name, g.group_number, m.class_id, m.role, m.joined_at
        FROM group_members m JOIN groups g ON g.organization_id = m.organization_id AND g.id = m.group_id
        WHERE m.organization_id = $1 AND m.user_id = $2 AND m.id > $3 ORDER BY m.id LIMIT $4";
    /// Current help requests of the user.
    HELP_CALLS = "SELECT id AS group_id, needs_help, help_requested_at, help_message, help_withdrawn_at
        FROM groups
        WHERE organization_id = $1 AND help_requested_by_id = $2 AND id > $3 ORDER BY id LIMIT $4";
    /// Messages of the user in work rooms.
    CHAT_MESSAGES = "SELECT id, work_room_id, type, content, reply_to_id, created_at, edited_at, deleted_at
        FROM work_room_messages WHERE organization_id = $1 AND sender_id = $2 AND id > $3 ORDER BY id LIMIT $4";
    /// Read markers of the user in work rooms.
    READING_MARKS = "SELECT work_room_id, last_read_seq, last_read_at FROM work_room_reads
        WHERE organization_id = $1 AND user_id = $2 AND work_room_id > $3 ORDER BY work_room_id LIMIT $4";
    /// Read markers of the user in comments on documents.
    COMMENT_READING_MARKS = "SELECT document_id, read_until FROM comment_reads
        WHERE organization_id = $1 AND user_id = $2 AND document_id > $3 ORDER BY document_id LIMIT $4";
    /// Editing time and number of saves of the user per document.
    CONTRIBUTIONS = "SELECT document_id, editing_millis, saves, characters, first_at, last_at
        FROM document_contributions
        WHERE organization_id = $1 AND user_id = $2 AND document_id > $3 ORDER BY document_id LIMIT $4";
    /// Documents the user created, edited or submitted. The revisions are counted because with `EXISTS` PostgreSQL
    /// might read the revisions of all organizations.
    DOCUMENTS = "SELECT d.id, d.work_room_id, d.title, d.document_type, d.file_extension, d.status,
            d.created_by_id = $2 AS begun, COALESCE(d.last_edited_by = $2, FALSE) AS edited_last,
            COALESCE(d.submitted_by_id = $2, FALSE) AS submitted,
            d.created_at
        FROM work_rooms w CROSS JOIN documents d
        WHERE w.organization_id = $1 AND d.organization_id = w.organization_id AND d.work_room_id = w.id
            AND (d.created_by_id = $2 OR d.last_edited_by = $2 OR d.submitted_by_id = $2
            OR (SELECT COUNT(*) FROM document_revisions r WHERE r.organization_id = $1 AND r.document_id = d.id
                AND (r.saved_by_id = $2 OR r.editors LIKE '%' || $2 || '%')) > 0) AND d.id > $3
                ORDER BY d.id LIMIT $4";
    /// Revisions the user wrote, alone or with others.
    DOCUMENT_VERSIONS = "SELECT r.id, r.document_id, r.version, COALESCE(r.saved_by_id = $2, FALSE) AS saved,
            CASE WHEN r.is_for_group THEN 'LATE' ELSE r.origin END AS origin,
            r.size, r.sha256, r.created_at
        FROM work_rooms w CROSS JOIN documents d CROSS JOIN document_revisions r
        WHERE w.organization_id = $1 AND d.organization_id = w.organization_id AND d.work_room_id = w.id
            AND r.organization_id = d.organization_id AND r.document_id = d.id
            AND (r.saved_by_id = $2 OR r.editors LIKE '%' || $2 || '%') AND r.id > $3 ORDER BY r.id LIMIT $4";
    /// Submissions with the user as a member; the note is included if the user submitted.
    SUBMISSIONS = "SELECT s.id, s.group_assignment_id, s.attempt, s.status, s.submitted_at,
            s.submitted_by_id = $2 AS submitted, s.is_late, s.late_by_seconds,
            CASE WHEN s.submitted_by_id = $2 THEN s.note ELSE NULL END AS note, s.withdrawn_at
        FROM group_assignments ga CROSS JOIN submissions s
        WHERE {OF_LINKS} AND {TOOK_PART} AND s.id > $3 ORDER BY s.id LIMIT $4";
    /// Published grades of these submissions.
    GRADES = "SELECT g.id, g.submission_id, g.value, g.points, g.feedback, g.rubric, g.published_at
        FROM group_assignments ga CROSS JOIN submissions s CROSS JOIN grades g
        WHERE {OF_LINKS} AND g.organization_id = s.organization_id AND g.submission_id = s.id
            AND g.status = 'PUBLISHED' AND {TOOK_PART} AND g.id > $3 ORDER BY g.id LIMIT $4";
    /// Published grades of the user alone.
    MEMBER_GRADES = "SELECT p.id, g.submission_id, p.value, p.points, p.feedback, g.published_at
        FROM member_grades p JOIN grades g ON g.organization_id = p.organization_id AND g.id = p.grade_id
        WHERE p.organization_id = $1 AND p.user_id = $2 AND g.status = 'PUBLISHED' AND p.id > $3
        ORDER BY p.id LIMIT $4";
    /// Published feedback on submissions of the user, as far as it is visible to the group.
    FEEDBACK_RECEIVED = "SELECT f.id, f.group_assignment_id, f.submission_id, f.document_id, f.author_id, f.text,
            f.published_at
        FROM group_assignments ga CROSS JOIN feedback f
        WHERE ga.organization_id = $1 AND f.organization_id = ga.organization_id AND f.group_assignment_id = ga.id
            AND f.visibility = 'GROUP' AND f.published_at IS NOT NULL AND f.author_id <> $2
            AND EXISTS (SELECT 1 FROM submissions s WHERE s.organization_id = $1
                AND s.group_assignment_id = f.group_assignment_id AND {TOOK_PART}) AND f.id > $3
                ORDER BY f.id LIMIT $4";
    /// Feedback the user gave.
    FEEDBACK_GIVEN = "SELECT id, group_assignment_id, submission_id, document_id, text, visibility, published_at,
        created_at
        FROM feedback WHERE organization_id = $1 AND author_id = $2 AND id > $3 ORDER BY id LIMIT $4";
    /// Uploads of the user to grades.
    GRADE_FILES = "SELECT id, submission_id, file_name, mime_type, size, sha256, created_at
        FROM grade_files WHERE organization_id = $1 AND uploaded_by_id = $2 AND id > $3 ORDER BY id LIMIT $4";
    /// Rubrics of the user.
    RUBRICS = "SELECT id, title, is_shared, criteria, created_at, updated_at FROM rubrics
        WHERE organization_id = $1 AND owner_id = $2 AND id > $3 ORDER BY id LIMIT $4";
    /// Text snippets of the user.
    TEXT_SNIPPETS = "SELECT id, text, created_at, updated_at FROM text_snippets
        WHERE organization_id = $1 AND user_id = $2 AND id > $3 ORDER BY id LIMIT $4";
    /// Messages the user sent.
    MESSAGES_SENT = "SELECT id, class_id, subject, content, created_at FROM direct_messages
        WHERE organization_id = $1 AND sender_id = $2 AND id > $3 ORDER BY id LIMIT $4";
    /// Messages the user received and did not delete.
    MESSAGES_RECEIVED = "SELECT r.message_id, d.sender_id, d.subject, d.content, r.read_at, r.created_at
        FROM message_recipients r
        JOIN direct_messages d ON d.organization_id = r.organization_id AND d.id = r.message_id
        WHERE r.organization_id = $1 AND r.user_id = $2 AND r.deleted_at IS NULL AND r.message_id > $3
        ORDER BY r.message_id LIMIT $4";
    /// Pictures that the user added to documents.
    DOCUMENT_IMAGES = "SELECT id, document_id, mime_type, size, sha256, created_at
        FROM document_images WHERE organization_id = $1 AND uploaded_by_id = $2 AND id > $3 ORDER BY id LIMIT $4";
    /// Comments of the user on documents.
    DOCUMENT_COMMENTS = "SELECT c.id, t.document_id, c.thread_id, c.text, c.created_at, c.edited_at
        FROM document_comments c JOIN comment_threads t ON t.organization_id = c.organization_id AND t.id = c.thread_id
        WHERE c.organization_id = $1 AND c.author_id = $2 AND c.id > $3 ORDER BY c.id LIMIT $4";
    /// Uploads of the user to chats.
    CHAT_FILES = "SELECT id, work_room_id, message_id, file_name, mime_type, size, sha256, created_at
        FROM message_attachments WHERE organization_id = $1 AND uploaded_by_id = $2 AND id > $3 ORDER BY id LIMIT $4";
    /// Uploads of the user to topics.
    TOPIC_FILES = "SELECT id, assignment_id, group_assignment_id, file_name, mime_type, size, sha256, created_at
        FROM assignment_attachments WHERE organization_id = $1 AND uploaded_by_id = $2 AND id > $3
        ORDER BY id LIMIT $4";
    /// Uploads of the user to groups.
    GROUP_FILES = "SELECT id, group_id, file_name, mime_type, size, sha256, created_at
        FROM group_attachments WHERE organization_id = $1 AND uploaded_by_id = $2 AND id > $3 ORDER BY id LIMIT $4";
    /// Log records of actions by the user and of actions on their account.
    ACTIVITY = "SELECT id, COALESCE(user_id = $2, FALSE) AS own, category, action, entity_type, entity_id, class_id,
        course_id, group_id,
            assignment_id, created_at
        FROM activity_logs
        WHERE organization_id = $1 AND id IN (
            SELECT id FROM activity_logs WHERE organization_id = $1 AND user_id = $2
            UNION SELECT id FROM activity_logs
            WHERE organization_id = $1 AND entity_type = 'user' AND entity_id = $2) AND id > $3 ORDER BY id LIMIT $4";
    /// Deleted objects that can be restored and contain rows with the user's id. Neither their names nor their content
    /// are exported: the user cannot see them.
    DELETED_ITEMS = "SELECT a.id, a.noun, p.mentions, a.deleted_at, a.expires_at
        FROM deletion_archive_people p
        JOIN deletion_archives a ON a.organization_id = p.organization_id AND a.id = p.archive_id
        WHERE p.organization_id = $1 AND p.user_id = $2 AND a.id > $3 ORDER BY a.id LIMIT $4";
    /// Exports of the user's data.
    EXPORTS = "SELECT id, status, created_at, finished_at FROM jobs
        WHERE organization_id = $1 AND kind = 'PERSONAL_EXPORT' AND entity_id = $2 AND id > $3 ORDER BY id LIMIT $4";
}

/// All export tables of an organization, in the order of the archive.
pub static TABLES: &[ExportTable] = &[
    ExportTable::new("membership", &MEMBERSHIP),
    ExportTable::new("homerooms", &HOMEROOMS),
    ExportTable::new("homerooms-led", &HOMEROOMS_LED),
    ExportTable::new("enrollments", &ENROLLMENTS),
    ExportTable::new("classes-taught", &CLASSES_TAUGHT),
    ExportTable::new("groups", &GROUPS),
    ExportTable::new("help-calls", &HELP_CALLS),
    ExportTable::new("chat-messages", &CHAT_MESSAGES),
    ExportTable::new("document-images", &DOCUMENT_IMAGES),
    ExportTable::new("chat-files", &CHAT_FILES),
    ExportTable::new("reading-marks", &READING_MARKS),
    ExportTable::new("comment-reading-marks", &COMMENT_READING_MARKS),
    ExportTable::new("contributions", &CONTRIBUTIONS),
    ExportTable::new("documents", &DOCUMENTS),
    ExportTable::new("document-versions", &DOCUMENT_VERSIONS),
    ExportTable::new("document-comments", &DOCUMENT_COMMENTS),
    ExportTable::new("submissions", &SUBMISSIONS),
    ExportTable::new("grades", &GRADES),
    ExportTable::new("member-grades", &MEMBER_GRADES),
    ExportTable::new("feedback-received", &FEEDBACK_RECEIVED),
    ExportTable::new("feedback-given", &FEEDBACK_GIVEN),
    ExportTable::new("rubrics", &RUBRICS),
    ExportTable::new("messages-sent", &MESSAGES_SENT),
    ExportTable::new("messages-received", &MESSAGES_RECEIVED),
    ExportTable::new("topic-files", &TOPIC_FILES),
    ExportTable::new("group-files", &GROUP_FILES),
    ExportTable::new("grade-files", &GRADE_FILES),
    ExportTable::new("activity", &ACTIVITY),
    ExportTable::new("deleted-items", &DELETED_ITEMS),
    ExportTable::new("exports", &EXPORTS),
];

/// Export tables that only an archive downloaded by the user contains: no other user may read them.
pub static PRIVATE_TABLES: &[ExportTable] = &[ExportTable::new("text-snippets", &TEXT_SNIPPETS)];
