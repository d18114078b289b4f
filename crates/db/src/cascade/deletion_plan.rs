//! The rows that each kind of deletion affects, defined by its groups, topics and links. `$2` is the id of the deleted
//! entity, `$3` the current time. Each kind is a module with the same statements over different conditions.

use crate::sql::Sql;

/// The statements of one kind of deletion.
pub struct DeletionPlan {
    /// Lock every row that could get children concurrently, parents first.
    pub locks: &'static [&'static Sql],
    /// The deleted groups with their class and start date.
    pub groups: &'static Sql,
    /// The members of the deleted groups.
    pub members: &'static Sql,
    /// The deleted topics.
    pub topics: &'static Sql,
    /// The groups that work on the deleted topics, including groups that remain.
    pub topic_groups: &'static Sql,
    /// The numbers of deleted documents, submissions and messages.
    pub counts: &'static Sql,
    /// The file keys of all deleted rows.
    pub files: &'static Sql,
    /// The topics from which documents are detached.
    pub detached_topics: &'static Sql,
    /// Documents that remain and are detached from these topics.
    pub detached_documents: &'static Sql,
    /// Records the deleted documents: their editors are closed, and later saves of them are kept.
    pub record_documents: &'static Sql,
    /// Deletions that run before documents are detached.
    pub deletions_before: &'static [&'static Sql],
    /// Detaches the documents of remaining rooms; the SQL equivalent of `domain::document::Document::release`.
    pub detach: &'static Sql,
    /// Deletions that run afterwards.
    pub deletions_after: &'static [&'static Sql],
}

/// A condition that no row satisfies. It uses `$2` because PostgreSQL must know the type of every parameter, and the id
/// so that the query planner recognizes that there is nothing to scan.
macro_rules! none {
    ($id:literal) => {
        concat!("(", $id, " = $2 AND CAST($2 AS TEXT) IS NULL)")
    };
}

/// The links of the deleted groups and topics.
macro_rules! links_of {
    ($groups:expr, $topics:expr) => {
        concat!(
            "SELECT l.id FROM group_assignments l JOIN groups g ON g.id = l.group_id WHERE g.organization_id = $1 AND ",
            $groups,
            " UNION SELECT l.id FROM group_assignments l JOIN assignments a ON a.id = l.assignment_id WHERE a.organization_id = $1 AND ",
            $topics
        )
    };
}

macro_rules! topics_of {
    ($topics:expr) => {
        concat!(
            "SELECT a.id FROM assignments a WHERE a.organization_id = $1 AND ",
            $topics
        )
    };
}

macro_rules! groups_of {
    ($groups:expr) => {
        concat!("SELECT g.id FROM groups g WHERE g.organization_id = $1 AND ", $groups)
    };
}

macro_rules! rooms_of {
    ($groups:expr) => {
        concat!(
            "SELECT w.id FROM work_rooms w JOIN groups g ON g.id = w.group_id WHERE g.organization_id = $1 AND ",
            $groups
        )
    };
}

macro_rules! documents_of {
    ($groups:expr) => {
        concat!(
            "SELECT d.id FROM documents d JOIN work_rooms w ON w.id = d.work_room_id JOIN groups g ON g.id = w.group_id \
             WHERE g.organization_id = $1 AND ",
            $groups
        )
    };
}

macro_rules! revisions_of {
    ($groups:expr) => {
        concat!(
            "SELECT r.id FROM document_revisions r WHERE r.organization_id = $1 AND r.document_id IN (",
            documents_of!($groups),
            ")"
        )
    };
}

macro_rules! submissions_of {
    ($links:expr) => {
        concat!(
            "SELECT s.id FROM submissions s WHERE s.organization_id = $1 AND s.group_assignment_id IN (",
            $links,
            ")"
        )
    };
}

macro_rules! copies_of {
    ($links:expr) => {
        concat!(
            "SELECT sd.id FROM submission_documents sd WHERE sd.organization_id = $1 AND sd.submission_id IN (",
            submissions_of!($links),
            ")"
        )
    };
}

macro_rules! grades_of {
    ($links:expr) => {
        concat!(
            "SELECT gr.id FROM grades gr WHERE gr.organization_id = $1 AND gr.submission_id IN (",
            submissions_of!($links),
            ")"
        )
    };
}

/// The document is linked to a topic from which it is detached.
macro_rules! is_linked {
    ($detached_topics:expr) => {
        concat!(
            "(assignment_id IS NOT NULL AND assignment_id IN (",
            $detached_topics,
            "))"
        )
    };
}

/// The document was locked by such a topic. Locks that predate `locked_by_assignment_id` are attributed to the linked
/// topic.
macro_rules! is_locked {
    ($detached_topics:expr) => {
        concat!(
            "(status = 'LOCKED' AND COALESCE(locked_by_assignment_id, assignment_id) IS NOT NULL
                AND COALESCE(locked_by_assignment_id, assignment_id) IN (",
            $detached_topics,
            "))"
        )
    };
}

/// Rows that match either of two columns. For `a IN (..) OR b IN (..)` PostgreSQL scans the table of all organizations
/// whatever indexes exist; each half alone uses its own index.
macro_rules! either {
    ($table:literal, $first:literal, $these:expr, $second:literal, $those:expr) => {
        concat!(
            "id IN (SELECT x.id FROM ",
            $table,
            " x WHERE x.",
            $first,
            " IN (",
            $these,
            ") UNION SELECT x.id FROM ",
            $table,
            " x WHERE x.",
            $second,
            " IN (",
            $those,
            "))"
        )
    };
}

/// The documents that are linked to or locked by these topics.
macro_rules! is_affected {
    ($detached_topics:expr) => {
        either!(
            "documents",
            "assignment_id",
            $detached_topics,
            "locked_by_assignment_id",
            $detached_topics
        )
    };
}

macro_rules! delete {
    ($table:literal, $($condition:expr),+) => {
        concat!("DELETE FROM ", $table, " WHERE organization_id = $1 AND ", $($condition),+)
    };
}

macro_rules! lock {
    ($table:literal, $ids:expr) => {
        concat!(
            "SELECT id FROM ",
            $table,
            " WHERE organization_id = $1 AND id IN (",
            $ids,
            ") ORDER BY id FOR UPDATE"
        )
    };
}

/// Defines one kind of deletion. `detached_topics` selects the topics from which documents are detached, `where` the rooms
/// of these documents.
macro_rules! deletion_plan {
    ($(#[doc = $doc:expr])* $name:ident, groups: $groups:expr, topics: $topics:expr, links: $links:expr,
        detached_topics: $detached_topics:expr, where: $rooms:expr) => {
        $(#[doc = $doc])*
        pub mod $name {
            crate::statements! {
                LOCK_GROUPS = lock!("groups", groups_of!($groups));
                LOCK_TOPICS = lock!("assignments", topics_of!($topics));
                LOCK_LINKS = lock!("group_assignments", $links);
                LOCK_ROOMS = lock!("work_rooms", rooms_of!($groups));
                LOCK_DOCUMENTS = concat!("SELECT id FROM documents WHERE organization_id = $1 AND id IN (",
                    documents_of!($groups), " UNION SELECT y.id FROM documents y WHERE y.", is_affected!($detached_topics),
                    ") ORDER BY id FOR UPDATE");
                GROUPS = concat!("SELECT g.id, g.name, g.group_number, g.display_name, g.course_id, g.class_id, k.status,
                        g.start_date
                    FROM groups g JOIN classes k ON k.id = g.class_id
                    WHERE g.organization_id = $1 AND ", $groups, " ORDER BY g.group_number, g.id");
                MEMBERS = concat!("SELECT m.group_id, m.user_id FROM group_members m JOIN groups g ON g.id = m.group_id
                    WHERE g.organization_id = $1 AND ", $groups, " ORDER BY m.joined_at, m.id");
                TOPICS = concat!("SELECT a.id, a.title, a.course_id FROM assignments a
                    WHERE a.organization_id = $1 AND ", $topics, " ORDER BY a.deadline, a.id");
                TOPIC_GROUPS = concat!("SELECT l.assignment_id, g.id, g.name, g.group_number, g.display_name, g.course_id,
                        g.class_id, k.status, g.start_date
                    FROM assignments a JOIN group_assignments l ON l.assignment_id = a.id
                    JOIN groups g ON g.id = l.group_id JOIN classes k ON k.id = g.class_id
                    WHERE a.organization_id = $1 AND ", $topics, " ORDER BY g.group_number, g.id");
                COUNTS = concat!("SELECT
                    (SELECT COUNT(*) FROM documents WHERE organization_id = $1 AND work_room_id IN (", rooms_of!($groups), ")),
                    (SELECT COUNT(*) FROM submissions WHERE organization_id = $1 AND group_assignment_id IN (", $links, ")),
                    (SELECT COUNT(*) FROM work_room_messages WHERE organization_id = $1 AND work_room_id IN (",
                        rooms_of!($groups), "))");
                /// Every file of every deleted row. Attempts share their copies, hence the `UNION`.
                FILES = concat!("SELECT file_key FROM document_revisions WHERE organization_id = $1 AND document_id IN (",
                        documents_of!($groups), ")
                    UNION SELECT file_key FROM submission_documents WHERE organization_id = $1 AND submission_id IN (",
                        submissions_of!($links), ")
                    UNION SELECT file_key FROM converted_files WHERE organization_id = $1 AND revision_id IN (",
                        revisions_of!($groups), ")
                    UNION SELECT file_key FROM converted_files WHERE organization_id = $1 AND submission_document_id IN (",
                        copies_of!($links), ")
                    UNION SELECT file_key FROM message_attachments WHERE organization_id = $1 AND work_room_id IN (",
                        rooms_of!($groups), ")
                    UNION SELECT file_key FROM assignment_attachments WHERE organization_id = $1 AND assignment_id IN (",
                        topics_of!($topics), ")
                    UNION SELECT file_key FROM assignment_attachments WHERE organization_id = $1
                        AND group_assignment_id IN (", $links, ")
                    UNION SELECT file_key FROM group_attachments WHERE organization_id = $1 AND group_id IN (",
                        groups_of!($groups), ")");
                DETACHED_TOPICS = $detached_topics;
                /// Documents that remain and are detached, with the context of their group.
                DETACHED_DOCUMENTS = concat!("SELECT g.id, g.name, g.group_number, g.display_name, g.course_id, g.class_id, k.status,
                        g.start_date, ", $crate::cascade::read::document_columns!(), "
                    FROM documents d JOIN work_rooms w ON w.id = d.work_room_id
                    JOIN groups g ON g.id = w.group_id JOIN classes k ON k.id = g.class_id
                    WHERE d.organization_id = $1 AND d.id IN (SELECT id FROM documents
                        WHERE organization_id = $1 AND ", is_affected!($detached_topics), " AND (", is_linked!($detached_topics), " OR ",
                        is_locked!($detached_topics), ") AND work_room_id NOT IN (", rooms_of!($groups), ") AND ", $rooms, ")
                    ORDER BY d.created_at, d.id");
                /// Records the deleted documents for saves that arrive later.
                RECORD_DOCUMENTS = $crate::deleted_documents::record_documents!($groups);
                DELETE_CONVERTED = delete!("converted_files",
                    either!("converted_files", "revision_id", revisions_of!($groups), "submission_document_id",
                        copies_of!($links)));
                DELETE_FEEDBACK = delete!("feedback", "group_assignment_id IN (", $links, ")");
                DELETE_GRADE_HISTORY = delete!("grade_history", "grade_id IN (", grades_of!($links), ")");
                DELETE_MEMBER_GRADES = delete!("member_grades", "grade_id IN (", grades_of!($links), ")");
                DELETE_GRADES = delete!("grades", "submission_id IN (", submissions_of!($links), ")");
                DELETE_COPIES = delete!("submission_documents", "submission_id IN (", submissions_of!($links), ")");
                DELETE_SUBMISSIONS = delete!("submissions", "group_assignment_id IN (", $links, ")");
                DELETE_SESSIONS = delete!("editing_sessions", "document_id IN (", documents_of!($groups), ")");
                DELETE_SAVES = delete!("document_saves", "document_id IN (", documents_of!($groups), ")");
                DELETE_CONTRIBUTIONS = delete!("document_contributions", "document_id IN (", documents_of!($groups), ")");
                DELETE_REVISIONS = delete!("document_revisions", "document_id IN (", documents_of!($groups), ")");
                DELETE_DOCUMENTS = delete!("documents", "work_room_id IN (", rooms_of!($groups), ")");
                /// Removes the link and the lock of documents that remain. Without a submission the document becomes a
                /// draft again.
                DETACH = concat!("UPDATE documents SET
                        status = CASE
                            WHEN ", is_locked!($detached_topics), " AND NOT ", is_linked!($detached_topics), " THEN status_before_lock
                            WHEN ", is_locked!($detached_topics), " THEN 'DRAFT'
                            WHEN status = 'LOCKED' THEN 'LOCKED'
                            WHEN ", is_linked!($detached_topics), " THEN 'DRAFT'
                            ELSE status END,
                        generation = generation + CASE WHEN ", is_locked!($detached_topics), " THEN 1 ELSE 0 END
                            + CASE WHEN ", is_linked!($detached_topics), " AND (status = 'SUBMITTED'
                                OR (", is_locked!($detached_topics), " AND status_before_lock = 'SUBMITTED')) THEN 1 ELSE 0 END,
                        last_activity = CASE
                            WHEN ", is_locked!($detached_topics), " OR (", is_linked!($detached_topics), " AND status = 'SUBMITTED') THEN $3
                            ELSE last_activity END,
                        status_before_lock = CASE
                            WHEN ", is_locked!($detached_topics), " OR status <> 'LOCKED' THEN NULL
                            WHEN ", is_linked!($detached_topics), " THEN 'DRAFT'
                            ELSE status_before_lock END,
                        locked_at = CASE WHEN ", is_locked!($detached_topics), " THEN NULL ELSE locked_at END,
                        locked_by_assignment_id = CASE WHEN ", is_locked!($detached_topics), " THEN NULL ELSE locked_by_assignment_id END,
                        submitted_at = CASE WHEN ", is_linked!($detached_topics), " THEN NULL ELSE submitted_at END,
                        submitted_by_id = CASE WHEN ", is_linked!($detached_topics), " THEN NULL ELSE submitted_by_id END,
                        assignment_id = CASE WHEN ", is_linked!($detached_topics), " THEN NULL ELSE assignment_id END,
                        updated_at = $3
                    WHERE organization_id = $1 AND ", is_affected!($detached_topics), " AND (", is_linked!($detached_topics), " OR ", is_locked!($detached_topics),
                    ") AND ", $rooms);
                DELETE_MESSAGE_FILES = delete!("message_attachments", "work_room_id IN (", rooms_of!($groups), ")");
                DELETE_MESSAGES = delete!("work_room_messages", "work_room_id IN (", rooms_of!($groups), ")");
                DELETE_READS = delete!("work_room_reads", "work_room_id IN (", rooms_of!($groups), ")");
                DELETE_ROOMS = delete!("work_rooms", "id IN (", rooms_of!($groups), ")");
                /// Files of the topics, including those for single groups.
                DELETE_TOPIC_FILES = delete!("assignment_attachments",
                    either!("assignment_attachments", "assignment_id", topics_of!($topics), "group_assignment_id",
                        $links));
                DELETE_LINKS = delete!("group_assignments", "id IN (", $links, ")");
                DELETE_TOPICS = delete!("assignments", "id IN (", topics_of!($topics), ")");
                DELETE_GROUP_FILES = delete!("group_attachments", "group_id IN (", groups_of!($groups), ")");
                DELETE_MEMBERS = delete!("group_members", "group_id IN (", groups_of!($groups), ")");
                DELETE_GROUPS = delete!("groups", "id IN (", groups_of!($groups), ")");
            }

            /// The statements in the order of their use.
            pub static PLAN: super::DeletionPlan = super::DeletionPlan {
                locks: &[&LOCK_GROUPS, &LOCK_TOPICS, &LOCK_LINKS, &LOCK_ROOMS, &LOCK_DOCUMENTS],
                groups: &GROUPS,
                members: &MEMBERS,
                topics: &TOPICS,
                topic_groups: &TOPIC_GROUPS,
                counts: &COUNTS,
                files: &FILES,
                detached_topics: &DETACHED_TOPICS,
                detached_documents: &DETACHED_DOCUMENTS,
                record_documents: &RECORD_DOCUMENTS,
                deletions_before: &[
                    &DELETE_CONVERTED, &DELETE_FEEDBACK, &DELETE_GRADE_HISTORY, &DELETE_MEMBER_GRADES, &DELETE_GRADES,
                    &DELETE_COPIES, &DELETE_SUBMISSIONS, &DELETE_SESSIONS, &DELETE_SAVES,
                    &DELETE_CONTRIBUTIONS, &DELETE_REVISIONS, &DELETE_DOCUMENTS,
                ],
                detach: &DETACH,
                deletions_after: &[
                    &DELETE_MESSAGE_FILES, &DELETE_MESSAGES, &DELETE_READS, &DELETE_ROOMS, &DELETE_TOPIC_FILES,
                    &DELETE_LINKS, &DELETE_TOPICS, &DELETE_GROUP_FILES, &DELETE_MEMBERS, &DELETE_GROUPS,
                ],
            };
        }
    };
}

deletion_plan!(
    /// Deletes a course: its groups and topics.
    course, groups: "g.course_id = $2", topics: "a.course_id = $2",
    links: links_of!("g.course_id = $2", "a.course_id = $2"),
    detached_topics: topics_of!("a.course_id = $2"), where: "1 = 1"
);
deletion_plan!(
    /// Deletes a class: its groups and topics, including topics without a course.
    class, groups: "g.class_id = $2", topics: "a.class_id = $2",
    links: links_of!("g.class_id = $2", "a.class_id = $2"),
    detached_topics: topics_of!("a.class_id = $2"), where: "1 = 1"
);
deletion_plan!(
    /// Deletes a group only; its topics remain.
    group, groups: "g.id = $2", topics: none!("a.id"),
    links: links_of!("g.id = $2", none!("a.id")),
    detached_topics: topics_of!(none!("a.id")), where: "1 = 1"
);
deletion_plan!(
    /// Deletes a topic only; groups, rooms and documents remain.
    topic, groups: none!("g.id"), topics: "a.id = $2",
    links: links_of!(none!("g.id"), "a.id = $2"),
    detached_topics: topics_of!("a.id = $2"), where: "1 = 1"
);
deletion_plan!(
    /// Deletes the link of a group to a topic only; documents of that group are detached from the topic.
    link, groups: none!("g.id"), topics: none!("a.id"),
    links: "SELECT l.id FROM group_assignments l WHERE l.organization_id = $1 AND l.id = $2",
    detached_topics: "SELECT l.assignment_id FROM group_assignments l WHERE l.organization_id = $1 AND l.id = $2",
    where: "work_room_id IN (SELECT w.id FROM work_rooms w JOIN group_assignments l ON l.group_id = w.group_id \
        WHERE w.organization_id = $1 AND l.id = $2)"
);
