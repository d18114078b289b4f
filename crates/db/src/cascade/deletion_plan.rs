//! The rows that each kind of deletion affects, defined by its groups, topics and links. `$2` is the id of the deleted
//! entity, `$3` the current time. Each kind has the same statements over different conditions.

use std::sync::LazyLock;

use crate::archives::tables::{ArchivedTable, TABLES};
use crate::deleted_documents::{RECORD_DOCUMENTS, RECORDED_AGAIN};
use crate::documents::DOCUMENT_COLUMNS;
use crate::labels::GROUP_CONTEXT_COLUMNS;
use crate::sql::{NamedStatements, Sql};

/// The statements of one kind of deletion.
pub struct DeletionPlan {
    /// Lock every row that could get children concurrently, parents first.
    pub locks: Vec<(&'static str, Sql)>,
    /// The deleted groups with their class and start date.
    pub groups: Sql,
    /// The members of the deleted groups.
    pub members: Sql,
    /// The deleted topics.
    pub topics: Sql,
    /// The groups that work on the deleted topics, including groups that remain.
    pub topic_groups: Sql,
    /// The numbers of deleted documents, submissions and messages.
    pub counts: Sql,
    /// The file keys of all deleted rows.
    pub files: Sql,
    /// The topics from which documents are detached.
    pub detached_topics: Sql,
    /// Documents that remain and are detached from these topics, with the context of their group.
    pub detached_documents: Sql,
    /// Records the deleted documents: their editors are closed, and later saves of them are kept.
    pub record_documents: Sql,
    /// Deletions that run before documents are detached.
    pub deletions_before: Vec<(&'static str, Sql)>,
    /// Detaches the documents of remaining rooms; the SQL equivalent of `domain::document::Document::release`. Without
    /// a submission the document becomes a draft again.
    pub detach: Sql,
    /// Deletions that run afterwards.
    pub deletions_after: Vec<(&'static str, Sql)>,
}

/// Deletes a course: its groups and topics.
pub static COURSE: LazyLock<DeletionPlan> =
    LazyLock::new(|| DeletionPlan::of(&Selection::of("g.course_id = $2", "a.course_id = $2")));

/// Deletes a class: its groups and topics, including topics without a course.
pub static CLASS: LazyLock<DeletionPlan> =
    LazyLock::new(|| DeletionPlan::of(&Selection::of("g.class_id = $2", "a.class_id = $2")));

/// Deletes a group only; its topics remain.
pub static GROUP: LazyLock<DeletionPlan> =
    LazyLock::new(|| DeletionPlan::of(&Selection::of("g.id = $2", &none("a.id"))));

/// Deletes a topic only; groups, rooms and documents remain.
pub static TOPIC: LazyLock<DeletionPlan> =
    LazyLock::new(|| DeletionPlan::of(&Selection::of(&none("g.id"), "a.id = $2")));

/// Deletes the link of a group to a topic only; documents of that group are detached from the topic.
pub static LINK: LazyLock<DeletionPlan> = LazyLock::new(|| {
    let link = "FROM group_assignments l WHERE l.organization_id = $1 AND l.id = $2";
    DeletionPlan::of(&Selection {
        links: format!("SELECT l.id {link}"),
        detached_topics: format!("SELECT l.assignment_id {link}"),
        rooms: "work_room_id IN (SELECT w.id FROM work_rooms w JOIN group_assignments l ON l.group_id = w.group_id
            WHERE w.organization_id = $1 AND l.id = $2)",
        ..Selection::of(&none("g.id"), &none("a.id"))
    })
});

/// The rows of one kind of deletion.
struct Selection {
    /// A condition on the deleted groups `g`.
    groups: String,
    /// A condition on the deleted topics `a`.
    topics: String,
    /// A query of the deleted links.
    links: String,
    /// A query of the topics from which documents are detached.
    detached_topics: String,
    /// A condition on the rooms of the detached documents.
    rooms: &'static str,
}

impl Selection {
    /// Deletes groups and topics with all their links.
    fn of(groups: &str, topics: &str) -> Self {
        Self {
            groups: groups.to_owned(),
            topics: topics.to_owned(),
            links: format!(
                "SELECT l.id FROM group_assignments l JOIN groups g ON g.id = l.group_id
                    WHERE g.organization_id = $1 AND {groups}
                UNION SELECT l.id FROM group_assignments l JOIN assignments a ON a.id = l.assignment_id
                    WHERE a.organization_id = $1 AND {topics}"
            ),
            detached_topics: format!("SELECT a.id FROM assignments a WHERE a.organization_id = $1 AND {topics}"),
            rooms: "1 = 1",
        }
    }
}

/// A condition that no row satisfies. It uses `$2` because PostgreSQL must know the type of every parameter, and the id
/// so that the query planner recognizes that there is nothing to scan.
fn none(id: &str) -> String {
    format!("({id} = $2 AND CAST($2 AS TEXT) IS NULL)")
}

/// Rows that match either of two columns. For `a IN (..) OR b IN (..)` PostgreSQL scans the table of all organizations
/// whatever indexes exist; each half alone uses its own index.
fn either(table: &str, (first, these): (&str, &str), (second, those): (&str, &str)) -> String {
    format!(
        "id IN (SELECT x.id FROM {table} x WHERE x.{first} IN ({these})
            UNION SELECT x.id FROM {table} x WHERE x.{second} IN ({those}))"
    )
}

fn lock(table: &str, ids: &str) -> Sql {
    Sql::text_of(format!(
        "SELECT id FROM {table} WHERE organization_id = $1 AND id IN ({ids}) ORDER BY id FOR UPDATE"
    ))
}

/// The conditions and queries of one kind of deletion, as SQL text.
struct PlanParts {
    /// Queries of ids.
    groups: String,
    topics: String,
    links: String,
    rooms: String,
    documents: String,
    revisions: String,
    threads: String,
    submissions: String,
    copies: String,
    grades: String,
    /// The document is linked to a topic from which it is detached.
    is_linked: String,
    /// The document was locked by such a topic. Locks that predate `locked_by_assignment_id` are attributed to the
    /// linked topic.
    is_locked: String,
    is_affected: String,
}

impl PlanParts {
    fn of(selection: &Selection) -> Self {
        let Selection {
            groups: of_groups,
            topics: of_topics,
            links,
            detached_topics,
            rooms: _,
        } = selection;
        let documents = format!(
            "SELECT d.id FROM documents d JOIN work_rooms w ON w.id = d.work_room_id JOIN groups g ON g.id = w.group_id
                WHERE g.organization_id = $1 AND {of_groups}"
        );
        let submissions = format!(
            "SELECT s.id FROM submissions s WHERE s.organization_id = $1 AND s.group_assignment_id IN ({links})"
        );
        Self {
            groups: format!("SELECT g.id FROM groups g WHERE g.organization_id = $1 AND {of_groups}"),
            topics: format!("SELECT a.id FROM assignments a WHERE a.organization_id = $1 AND {of_topics}"),
            links: links.clone(),
            rooms: format!(
                "SELECT w.id FROM work_rooms w JOIN groups g ON g.id = w.group_id
                WHERE g.organization_id = $1 AND {of_groups}"
            ),
            revisions: format!(
                "SELECT r.id FROM document_revisions r WHERE r.organization_id = $1 AND r.document_id IN ({documents})"
            ),
            threads: format!(
                "SELECT t.id FROM comment_threads t WHERE t.organization_id = $1 AND t.document_id IN ({documents})"
            ),
            copies: format!(
                "SELECT sd.id FROM submission_documents sd
                WHERE sd.organization_id = $1 AND sd.submission_id IN ({submissions})"
            ),
            grades: format!(
                "SELECT gr.id FROM grades gr WHERE gr.organization_id = $1 AND gr.submission_id IN ({submissions})"
            ),
            is_linked: format!("(assignment_id IS NOT NULL AND assignment_id IN ({detached_topics}))"),
            is_locked: format!(
                "(status = 'LOCKED' AND COALESCE(locked_by_assignment_id, assignment_id) IS NOT NULL
                AND COALESCE(locked_by_assignment_id, assignment_id) IN ({detached_topics}))"
            ),
            is_affected: either(
                "documents",
                ("assignment_id", detached_topics),
                ("locked_by_assignment_id", detached_topics),
            ),
            documents,
            submissions,
        }
    }
}

/// The rows that one kind of deletion changes, by table of an archive, as queries; tables with courses and classes are
/// added for those.
fn archived_rows(selection: &Selection) -> Vec<(&'static str, String)> {
    let PlanParts {
        groups,
        topics,
        links,
        rooms,
        documents,
        revisions,
        threads,
        submissions,
        copies,
        grades,
        is_linked,
        is_locked,
        is_affected,
    } = PlanParts::of(selection);
    let detached_rooms = selection.rooms;
    let of_documents = format!("document_id IN ({documents})");
    let mut rows = vec![
        ("groups", format!("id IN ({groups})")),
        ("group_members", format!("group_id IN ({groups})")),
        ("group_attachments", format!("group_id IN ({groups})")),
        ("assignments", format!("id IN ({topics})")),
        ("group_assignments", format!("id IN ({links})")),
        ("assignment_rubrics", format!("assignment_id IN ({topics})")),
        (
            "assignment_attachments",
            either(
                "assignment_attachments",
                ("assignment_id", &topics),
                ("group_assignment_id", &links),
            ),
        ),
        ("work_rooms", format!("id IN ({rooms})")),
        ("work_room_messages", format!("work_room_id IN ({rooms})")),
        ("message_attachments", format!("work_room_id IN ({rooms})")),
        ("work_room_reads", format!("work_room_id IN ({rooms})")),
        ("documents.open", of_documents.clone()),
        ("documents", format!("work_room_id IN ({rooms})")),
    ];
    for table in DOCUMENT_TABLES {
        rows.push((table, of_documents.clone()));
    }
    rows.extend([
        ("document_comments", format!("thread_id IN ({threads})")),
        ("submissions", format!("group_assignment_id IN ({links})")),
        ("submission_documents", format!("submission_id IN ({submissions})")),
        ("grades", format!("submission_id IN ({submissions})")),
        ("grade_files", format!("submission_id IN ({submissions})")),
        ("member_grades", format!("grade_id IN ({grades})")),
        ("grade_history", format!("grade_id IN ({grades})")),
        ("feedback", format!("group_assignment_id IN ({links})")),
        (
            "converted_files",
            either(
                "converted_files",
                ("revision_id", &revisions),
                ("submission_document_id", &copies),
            ),
        ),
        (
            "documents.released",
            format!(
                "{is_affected} AND ({is_linked} OR {is_locked}) AND work_room_id NOT IN ({rooms}) AND {detached_rooms}"
            ),
        ),
    ]);
    rows
}

/// The tables with rows of a document.
const DOCUMENT_TABLES: [&str; 10] = [
    "document_revisions",
    "document_saves",
    "document_contributions",
    "comment_threads",
    "comment_reads",
    "late_commits",
    "document_logs",
    "document_steps",
    "document_snapshots",
    "document_images",
];

/// The archived rows that are deleted before documents are detached, children first.
const DELETED_BEFORE: &[&str] = &[
    "converted_files",
    "feedback",
    "grade_history",
    "member_grades",
    "grade_files",
    "grades",
    "submission_documents",
    "submissions",
    "documents.open",
    "document_saves",
    "document_contributions",
    "document_comments",
    "comment_threads",
    "comment_reads",
    "late_commits",
    "document_steps",
    "document_snapshots",
    "document_images",
    "document_logs",
    "document_revisions",
    "documents",
];

/// The archived rows that are deleted afterwards.
const DELETED_AFTER: &[&str] = &[
    "message_attachments",
    "work_room_messages",
    "work_room_reads",
    "work_rooms",
    "assignment_attachments",
    "assignment_rubrics",
    "group_assignments",
    "assignments",
    "group_attachments",
    "group_members",
    "groups",
];

/// Deletes archived rows, so that an archive contains every row that a deletion deletes.
fn deletions(rows: &[(&'static str, String)], names: &[&'static str]) -> Vec<(&'static str, Sql)> {
    let deletion = |name: &&'static str| {
        let (_, condition) = rows.iter().find(|(of, _)| of == name)?;
        let table = ArchivedTable::find(name)?.table;
        let text = format!("DELETE FROM {table} WHERE organization_id = $1 AND {condition}");
        Some((table, Sql::text_of(text)))
    };
    names.iter().filter_map(deletion).collect()
}

/// The queries of the archived rows of one kind of deletion, in the order of the archive.
pub type ArchivedRows = Vec<(&'static ArchivedTable, Sql)>;

fn in_archive_order(rows: &[(&'static str, String)]) -> ArchivedRows {
    let of = |table: &'static ArchivedTable| {
        let condition = rows.iter().find(|(name, _)| *name == table.name);
        condition.map(|(_, condition)| (table, table.select(condition)))
    };
    TABLES.iter().filter_map(of).collect()
}

/// The archived rows of a group.
pub static ARCHIVED_GROUP: LazyLock<ArchivedRows> =
    LazyLock::new(|| in_archive_order(&archived_rows(&Selection::of("g.id = $2", &none("a.id")))));

/// The archived rows of a topic.
pub static ARCHIVED_TOPIC: LazyLock<ArchivedRows> =
    LazyLock::new(|| in_archive_order(&archived_rows(&Selection::of(&none("g.id"), "a.id = $2"))));

/// The archived rows of a course.
pub static ARCHIVED_COURSE: LazyLock<ArchivedRows> = LazyLock::new(|| {
    let mut rows = archived_rows(&Selection::of("g.course_id = $2", "a.course_id = $2"));
    rows.push(("courses", "id = $2".to_owned()));
    in_archive_order(&rows)
});

/// The archived rows of a class.
pub static ARCHIVED_CLASS: LazyLock<ArchivedRows> = LazyLock::new(|| {
    let mut rows = archived_rows(&Selection::of("g.class_id = $2", "a.class_id = $2"));
    rows.push(("classes", "id = $2".to_owned()));
    for table in [
        "class_subjects",
        "class_teachers",
        "class_enrollments",
        "courses",
        "direct_messages.freed",
    ] {
        rows.push((table, "class_id = $2".to_owned()));
    }
    in_archive_order(&rows)
});

/// The archived rows of a document.
pub static ARCHIVED_DOCUMENT: LazyLock<ArchivedRows> = LazyLock::new(|| {
    let revisions = "SELECT r.id FROM document_revisions r WHERE r.organization_id = $1 AND r.document_id = $2";
    let threads = "SELECT t.id FROM comment_threads t WHERE t.organization_id = $1 AND t.document_id = $2";
    let mut rows = vec![
        ("documents", "id = $2".to_owned()),
        ("document_comments", format!("thread_id IN ({threads})")),
        ("converted_files", format!("revision_id IN ({revisions})")),
    ];
    for table in DOCUMENT_TABLES
        .into_iter()
        .chain(["documents.open", "feedback.unlinked"])
    {
        rows.push((table, "document_id = $2".to_owned()));
    }
    in_archive_order(&rows)
});

impl DeletionPlan {
    #[expect(clippy::too_many_lines, reason = "one literal per statement")]
    fn of(selection: &Selection) -> Self {
        let Selection {
            groups: of_groups,
            topics: of_topics,
            links,
            detached_topics,
            rooms: detached_rooms,
        } = selection;
        let PlanParts {
            groups,
            topics,
            links: _,
            rooms,
            documents,
            revisions,
            threads: _,
            submissions,
            copies,
            grades: _,
            is_linked,
            is_locked,
            is_affected,
        } = PlanParts::of(selection);
        let rows = archived_rows(selection);
        Self {
            locks: vec![
                ("LOCK_GROUPS", lock("groups", &groups)),
                ("LOCK_TOPICS", lock("assignments", &topics)),
                ("LOCK_LINKS", lock("group_assignments", links)),
                ("LOCK_ROOMS", lock("work_rooms", &rooms)),
                (
                    "LOCK_DOCUMENTS",
                    lock(
                        "documents",
                        &format!("{documents} UNION SELECT y.id FROM documents y WHERE y.{is_affected}"),
                    ),
                ),
            ],
            groups: Sql::text_of(format!(
                "SELECT {GROUP_CONTEXT_COLUMNS} FROM groups g JOIN classes k ON k.id = g.class_id
                WHERE g.organization_id = $1 AND {of_groups} ORDER BY g.group_number, g.id"
            )),
            members: Sql::text_of(format!(
                "SELECT m.group_id, m.user_id FROM group_members m JOIN groups g ON g.id = m.group_id
                WHERE g.organization_id = $1 AND {of_groups} ORDER BY m.joined_at, m.id"
            )),
            topics: Sql::text_of(format!(
                "SELECT a.id, a.title, a.course_id FROM assignments a
                WHERE a.organization_id = $1 AND {of_topics} ORDER BY a.deadline, a.id"
            )),
            topic_groups: Sql::text_of(format!(
                "SELECT ga.assignment_id, {GROUP_CONTEXT_COLUMNS}, a.is_draft, a.publish_at,
                    ga.is_draft AS link_is_draft, ga.publish_at AS link_publish_at
                FROM assignments a JOIN group_assignments ga ON ga.assignment_id = a.id
                JOIN groups g ON g.id = ga.group_id JOIN classes k ON k.id = g.class_id
                WHERE a.organization_id = $1 AND {of_topics} ORDER BY g.group_number, g.id"
            )),
            counts: Sql::text_of(format!(
                "SELECT
                    (SELECT COUNT(*) FROM documents WHERE organization_id = $1
                    AND work_room_id IN ({rooms})) AS documents,
                    (SELECT COUNT(*) FROM submissions WHERE organization_id = $1
                    AND group_assignment_id IN ({links})) AS submissions,
                    (SELECT COUNT(*) FROM work_room_messages
                    WHERE organization_id = $1 AND work_room_id IN ({rooms})) AS messages"
            )),
            // Attempts share their copies, hence the `UNION`.
            files: Sql::text_of(format!(
                "SELECT file_key FROM document_revisions WHERE organization_id = $1 AND document_id IN ({documents})
                UNION SELECT file_key FROM submission_documents
                    WHERE organization_id = $1 AND submission_id IN ({submissions})
                UNION SELECT file_key FROM grade_files
                    WHERE organization_id = $1 AND submission_id IN ({submissions})
                UNION SELECT file_key FROM converted_files WHERE organization_id = $1 AND revision_id IN ({revisions})
                UNION SELECT file_key FROM converted_files
                    WHERE organization_id = $1 AND submission_document_id IN ({copies})
                UNION SELECT file_key FROM message_attachments WHERE organization_id = $1 AND work_room_id IN ({rooms})
                UNION SELECT file_key FROM assignment_attachments
                    WHERE organization_id = $1 AND assignment_id IN ({topics})
                UNION SELECT file_key FROM assignment_attachments
                    WHERE organization_id = $1 AND group_assignment_id IN ({links})
                UNION SELECT file_key FROM document_images WHERE organization_id = $1 AND document_id IN ({documents})
                UNION SELECT file_key FROM group_attachments WHERE organization_id = $1 AND group_id IN ({groups})"
            )),
            detached_topics: Sql::text_of(detached_topics.clone()),
            detached_documents: Sql::text_of(format!(
                "SELECT {GROUP_CONTEXT_COLUMNS}, {DOCUMENT_COLUMNS}
                FROM documents d JOIN work_rooms w ON w.id = d.work_room_id
                JOIN groups g ON g.id = w.group_id JOIN classes k ON k.id = g.class_id
                WHERE d.organization_id = $1 AND d.id IN (SELECT id FROM documents
                    WHERE organization_id = $1 AND {is_affected} AND ({is_linked} OR {is_locked})
                        AND work_room_id NOT IN ({rooms}) AND {detached_rooms})
                ORDER BY d.created_at, d.id"
            )),
            record_documents: Sql::text_of(format!("{RECORD_DOCUMENTS} {of_groups} {RECORDED_AGAIN}")),
            deletions_before: deletions(&rows, DELETED_BEFORE),
            detach: Sql::text_of(format!(
                "UPDATE documents SET
                        status = CASE
                            WHEN {is_locked} AND NOT {is_linked} THEN status_before_lock
                            WHEN {is_locked} THEN 'DRAFT'
                            WHEN status = 'LOCKED' THEN 'LOCKED'
                            WHEN {is_linked} THEN 'DRAFT'
                            ELSE status END,
                        generation = generation + CASE WHEN {is_locked} THEN 1 ELSE 0 END
                            + CASE WHEN {is_linked} AND (status = 'SUBMITTED'
                                OR ({is_locked} AND status_before_lock = 'SUBMITTED')) THEN 1 ELSE 0 END,
                        last_activity = CASE
                            WHEN {is_locked} OR ({is_linked} AND status = 'SUBMITTED') THEN $3
                            ELSE last_activity END,
                        status_before_lock = CASE
                            WHEN {is_locked} OR status <> 'LOCKED' THEN NULL
                            WHEN {is_linked} THEN 'DRAFT'
                            ELSE status_before_lock END,
                        locked_at = CASE WHEN {is_locked} THEN NULL ELSE locked_at END,
                        locked_by_assignment_id = CASE WHEN {is_locked} THEN NULL ELSE locked_by_assignment_id END,
                        submitted_at = CASE WHEN {is_linked} THEN NULL ELSE submitted_at END,
                        submitted_by_id = CASE WHEN {is_linked} THEN NULL ELSE submitted_by_id END,
                        assignment_id = CASE WHEN {is_linked} THEN NULL ELSE assignment_id END,
                        updated_at = $3
                    WHERE organization_id = $1 AND {is_affected} AND ({is_linked} OR {is_locked}) AND {detached_rooms}"
            )),
            deletions_after: deletions(&rows, DELETED_AFTER),
        }
    }

    /// The statements by name, for the tests of all SQL.
    pub fn statements(&'static self) -> NamedStatements {
        let lists = self
            .locks
            .iter()
            .chain(&self.deletions_before)
            .chain(&self.deletions_after);
        let mut all: NamedStatements = lists.map(|(name, statement)| (*name, statement)).collect();
        all.extend([
            ("GROUPS", &self.groups),
            ("MEMBERS", &self.members),
            ("TOPICS", &self.topics),
            ("TOPIC_GROUPS", &self.topic_groups),
            ("COUNTS", &self.counts),
            ("FILES", &self.files),
            ("DETACHED_TOPICS", &self.detached_topics),
            ("DETACHED_DOCUMENTS", &self.detached_documents),
            ("RECORD_DOCUMENTS", &self.record_documents),
            ("DETACH", &self.detach),
        ]);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table that a deletion empties and its archive lacks would be lost. Open editors are not restored.
    #[test]
    fn archives_contain_every_table_that_a_deletion_empties() {
        for (plan, archived) in [
            (&*COURSE, &*ARCHIVED_COURSE),
            (&*CLASS, &*ARCHIVED_CLASS),
            (&*GROUP, &*ARCHIVED_GROUP),
            (&*TOPIC, &*ARCHIVED_TOPIC),
        ] {
            let deletions = || plan.deletions_before.iter().chain(&plan.deletions_after);
            assert_eq!(deletions().count(), DELETED_BEFORE.len() + DELETED_AFTER.len());
            for (table, _) in deletions() {
                let is_archived = archived.iter().any(|(archived, _)| archived.table == *table);
                assert!(is_archived, "add {table} to archived_rows and to archives/tables.rs");
            }
        }
    }
}
