//! Invariants of the database that are checked after every test.

use db::Database;
use db::connection::Connection;
use db::sql::Sql;

db::statements! {
    /// Every group has exactly one work room.
    ROOMS = "SELECT g.organization_id, g.id FROM groups g WHERE (SELECT COUNT(*) FROM work_rooms w WHERE w.group_id = g.id) <> 1";
    /// A group belongs to the course of each topic it works on.
    COURSES = "SELECT ga.organization_id, ga.id FROM group_assignments ga
        JOIN assignments a ON a.id = ga.assignment_id JOIN groups g ON g.id = ga.group_id
        WHERE a.status = 'ACTIVE' AND COALESCE(a.course_id, '') <> COALESCE(g.course_id, '')";
    /// A group has the subject of its course.
    SUBJECTS = "SELECT g.organization_id, g.id FROM groups g JOIN courses c ON c.id = g.course_id
        WHERE COALESCE(g.subject_id, '') <> c.subject_id";
    /// A document stores its status before the lock if and only if it is locked.
    LOCKS = "SELECT organization_id, id FROM documents WHERE (status = 'LOCKED') <> (status_before_lock IS NOT NULL)";
    /// Only a finished topic locks documents.
    LOCKERS = "SELECT d.organization_id, d.id FROM documents d JOIN assignments a ON a.id = d.locked_by_assignment_id
        WHERE a.status <> 'FINISHED'";
    /// A topic assignment of a group has at most one active submission.
    ACTIVE = "SELECT organization_id, group_assignment_id AS id FROM submissions WHERE status = 'ACTIVE'
        GROUP BY organization_id, group_assignment_id HAVING COUNT(*) > 1";
    /// The current submission of a topic assignment is its active submission.
    CURRENT = "SELECT ga.organization_id, ga.id FROM group_assignments ga LEFT JOIN submissions s ON s.id = ga.current_submission_id
        WHERE ga.current_submission_id IS NOT NULL
            AND (s.id IS NULL OR s.status <> 'ACTIVE' OR s.group_assignment_id <> ga.id)";
    /// The active submission of a topic assignment is its current submission.
    NOT_CURRENT = "SELECT s.organization_id, s.id FROM submissions s JOIN group_assignments ga ON ga.id = s.group_assignment_id
        WHERE s.status = 'ACTIVE' AND (ga.current_submission_id IS NULL OR ga.current_submission_id <> s.id)";
    /// A submitted document has a copy in the current submission.
    HANDED_IN = "SELECT d.organization_id, d.id FROM documents d JOIN work_rooms w ON w.id = d.work_room_id
        WHERE (d.status = 'SUBMITTED' OR d.status_before_lock = 'SUBMITTED') AND NOT EXISTS (
            SELECT 1 FROM group_assignments ga JOIN submission_documents sd ON sd.submission_id = ga.current_submission_id
            WHERE ga.group_id = w.group_id AND ga.assignment_id = d.assignment_id AND sd.document_id = d.id)";
    /// A draft of a topic has no time of publication.
    DRAFTS = "SELECT organization_id, id FROM assignments WHERE is_draft AND publish_at IS NOT NULL
        UNION ALL SELECT organization_id, id FROM group_assignments WHERE is_draft AND publish_at IS NOT NULL";
    /// No group works on a draft.
    STARTED = "SELECT ga.organization_id, ga.id FROM group_assignments ga JOIN assignments a ON a.id = ga.assignment_id
        WHERE ga.status <> 'NOT_STARTED' AND (ga.is_draft OR (ga.publish_at IS NULL AND a.is_draft))";
    /// The commits of a log are numbered without gaps.
    COMMITS = "SELECT l.organization_id, l.document_id AS id FROM document_logs l WHERE l.version <> (
            SELECT COALESCE(SUM(s.version - COALESCE(s.packed_from, s.version) + 1), 0) FROM document_steps s
            WHERE s.document_id = l.document_id AND s.generation = l.generation)";
    /// A thread has at least one comment.
    COMMENT_THREADS = "SELECT t.organization_id, t.id FROM comment_threads t WHERE NOT EXISTS (
            SELECT 1 FROM document_comments c WHERE c.thread_id = t.id)";
    /// A passage that a comment refers to is in a generation that the document had.
    COMMENT_ANCHORS = "SELECT t.organization_id, t.id FROM comment_threads t JOIN documents d ON d.id = t.document_id
        WHERE t.generation > d.generation";
    /// The active students of a homeroom are enrolled in the classes that follow it.
    FOLLOWERS = "SELECT k.organization_id, k.id FROM classes k
        JOIN homeroom_enrollments h ON h.organization_id = k.organization_id AND h.homeroom_id = k.homeroom_id
        JOIN members m ON m.organization_id = h.organization_id AND m.user_id = h.student_id
        JOIN users u ON u.id = m.user_id
        WHERE k.follows_homeroom AND k.status <> 'ARCHIVED' AND m.role = 'student' AND m.is_active AND u.is_active
            AND NOT EXISTS (SELECT 1 FROM class_enrollments e WHERE e.class_id = k.id AND e.student_id = h.student_id)";
    /// Who left a homeroom has no enrollment from it in the classes that follow it.
    LEAVERS = "SELECT e.organization_id, e.id FROM class_enrollments e JOIN classes k ON k.id = e.class_id
        WHERE k.follows_homeroom AND k.status <> 'ARCHIVED' AND e.from_homeroom
            AND NOT EXISTS (SELECT 1 FROM homeroom_enrollments h
                JOIN members m ON m.organization_id = h.organization_id AND m.user_id = h.student_id
                WHERE h.homeroom_id = k.homeroom_id AND h.student_id = e.student_id AND m.is_active)";
    /// The content of a document is one of its own revisions.
    CONTENT = "SELECT d.organization_id, d.id FROM documents d WHERE d.current_revision_id IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM document_revisions r WHERE r.id = d.current_revision_id AND r.document_id = d.id)";
}

mod platform {
    db::statements! {
    /// Known sign-in addresses are stored under current email addresses, so that erasures and exports find them.
        KNOWN_ADDRESSES = "SELECT s.account_key AS id FROM sign_in_successes s
            WHERE NOT EXISTS (SELECT 1 FROM users u WHERE u.email = s.account_key)";
    }
}

mod sqlite {
    db::statements! {
        /// Every foreign key references an existing row.
        REFERENCES = "SELECT \"table\" || ' ' || rowid AS id FROM pragma_foreign_key_check";
    }
}

/// Fails with the ids of rows that violate an invariant.
pub fn check(database: &Database) {
    let mut connection = open(database);
    for (name, statement) in STATEMENTS {
        let broken = of_organizations(&mut connection, statement);
        assert!(broken.is_empty(), "invariant {name} is broken by {broken:?}");
    }
    let only_sqlite = if matches!(database, Database::Sqlite(_)) {
        sqlite::STATEMENTS
    } else {
        &[]
    };
    for (name, statement) in platform::STATEMENTS.iter().chain(only_sqlite) {
        let broken: Vec<String> = connection.fetch_all(statement, &[], |row| row.get("id")).unwrap();
        assert!(broken.is_empty(), "invariant {name} is broken by {broken:?}");
    }
}

/// Checks only the rows of some organizations: tests of others may be running.
pub fn check_of(database: &Database, organizations: &[String]) {
    let mut connection = open(database);
    for (name, statement) in STATEMENTS {
        let mut broken = of_organizations(&mut connection, statement);
        broken.retain(|(organization, _)| organizations.contains(organization));
        assert!(broken.is_empty(), "invariant {name} is broken by {broken:?}");
    }
}

fn open(database: &Database) -> Connection {
    match database {
        Database::Sqlite(path) => Connection::open_sqlite(path, true).unwrap(),
        Database::Postgres(url) => Connection::open_postgres(url).unwrap(),
    }
}

/// Returns the organizations and ids of rows that violate an invariant.
fn of_organizations(connection: &mut Connection, statement: &'static Sql) -> Vec<(String, String)> {
    let pair = |row: &db::sql::Columns<'_>| Ok((row.get("organization_id")?, row.get("id")?));
    connection.fetch_all(statement, &[], pair).unwrap()
}
