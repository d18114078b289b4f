//! Which rows go, said once for every kind of deletion: by the groups, the topics and the links that are doomed. `$2` is the
//! id of what is deleted, `$3` now. Each kind is a module of its own with the same statements over other conditions.

use crate::sql::Sql;

/// The statements of one kind of deletion.
pub struct Doomed {
    /// Holds every row that could get children meanwhile, from above downwards.
    pub locks: &'static [&'static Sql],
    /// The groups and where they stand.
    pub groups: &'static Sql,
    /// Who is in them.
    pub members: &'static Sql,
    /// The topics.
    pub topics: &'static Sql,
    /// The groups on those topics, those that stay included.
    pub topic_places: &'static Sql,
    /// How many documents, submissions and messages.
    pub counts: &'static Sql,
    /// The files of all rows.
    pub files: &'static Sql,
    /// The topics that let documents go.
    pub freed: &'static Sql,
    /// Documents that stay and are freed from those topics.
    pub released: &'static Sql,
    /// Remembers the documents that go: their editors are closed, and what is saved of them later is kept.
    pub remember: &'static Sql,
    /// What goes before the documents are freed.
    pub deletions_before: &'static [&'static Sql],
    /// Frees the documents of rooms that stay; the twin of `model::document::Document::release`.
    pub release: &'static Sql,
    /// What goes afterwards.
    pub deletions_after: &'static [&'static Sql],
}

/// Nothing of this sort is doomed. It names `$2` because `PostgreSQL` wants to know the type of every parameter, and the id
/// because planners shall see that there is nothing to go through.
macro_rules! none {
    ($id:literal) => {
        concat!("(", $id, " = $2 AND CAST($2 AS TEXT) IS NULL)")
    };
}

/// The links of doomed groups and of doomed topics.
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

/// The document stays, and is linked to a topic that lets it go.
macro_rules! linked {
    ($freed:expr) => {
        concat!("(assignment_id IS NOT NULL AND assignment_id IN (", $freed, "))")
    };
}

/// The document stays, and was locked by such a topic; locks from before that was kept go with the link.
macro_rules! held {
    ($freed:expr) => {
        concat!(
            "(status = 'LOCKED' AND COALESCE(locked_by_assignment_id, assignment_id) IS NOT NULL
                AND COALESCE(locked_by_assignment_id, assignment_id) IN (",
            $freed,
            "))"
        )
    };
}

/// Rows found by either of two columns. `PostgreSQL` answers `a IN (..) OR b IN (..)` by reading the table of all schools,
/// whatever indexes there are; each half alone goes by its own.
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

/// The documents that any of this is about.
macro_rules! touched {
    ($freed:expr) => {
        either!("documents", "assignment_id", $freed, "locked_by_assignment_id", $freed)
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

/// One kind of deletion. `freed` are the topics that let documents go, `where` the rooms in which they do.
macro_rules! doomed {
    ($(#[doc = $doc:expr])* $name:ident, groups: $groups:expr, topics: $topics:expr, links: $links:expr,
        freed: $freed:expr, where: $rooms:expr) => {
        $(#[doc = $doc])*
        pub mod $name {
            crate::statements! {
                /// Holds the groups.
                LOCK_GROUPS = lock!("groups", groups_of!($groups));
                /// Holds the topics.
                LOCK_TOPICS = lock!("assignments", topics_of!($topics));
                /// Holds the links.
                LOCK_LINKS = lock!("group_assignments", $links);
                /// Holds the rooms.
                LOCK_ROOMS = lock!("work_rooms", rooms_of!($groups));
                /// Holds the documents that go and those that are freed.
                LOCK_DOCUMENTS = concat!("SELECT id FROM documents WHERE organization_id = $1 AND id IN (",
                    documents_of!($groups), " UNION SELECT y.id FROM documents y WHERE y.", touched!($freed),
                    ") ORDER BY id FOR UPDATE");
                /// The groups and where they stand.
                GROUPS = concat!("SELECT g.id, g.name, g.group_number, g.display_name, g.course_id, g.class_id, k.status,
                        g.start_date
                    FROM groups g JOIN classes k ON k.id = g.class_id
                    WHERE g.organization_id = $1 AND ", $groups, " ORDER BY g.group_number, g.id");
                /// Who is in them.
                MEMBERS = concat!("SELECT m.group_id, m.user_id FROM group_members m JOIN groups g ON g.id = m.group_id
                    WHERE g.organization_id = $1 AND ", $groups, " ORDER BY m.joined_at, m.id");
                /// The topics.
                TOPICS = concat!("SELECT a.id, a.title, a.course_id FROM assignments a
                    WHERE a.organization_id = $1 AND ", $topics, " ORDER BY a.deadline, a.id");
                /// The groups on them.
                TOPIC_PLACES = concat!("SELECT l.assignment_id, g.id, g.name, g.group_number, g.display_name, g.course_id,
                        g.class_id, k.status, g.start_date
                    FROM assignments a JOIN group_assignments l ON l.assignment_id = a.id
                    JOIN groups g ON g.id = l.group_id JOIN classes k ON k.id = g.class_id
                    WHERE a.organization_id = $1 AND ", $topics, " ORDER BY g.group_number, g.id");
                /// How many documents, submissions and messages.
                COUNTS = concat!("SELECT
                    (SELECT COUNT(*) FROM documents WHERE organization_id = $1 AND work_room_id IN (", rooms_of!($groups), ")),
                    (SELECT COUNT(*) FROM submissions WHERE organization_id = $1 AND group_assignment_id IN (", $links, ")),
                    (SELECT COUNT(*) FROM work_room_messages WHERE organization_id = $1 AND work_room_id IN (",
                        rooms_of!($groups), "))");
                /// Every file of every row; attempts share the copies they kept.
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
                /// The topics that let documents go.
                FREED = $freed;
                /// Documents that stay and are freed, with the place of their group.
                RELEASED = concat!("SELECT g.id, g.name, g.group_number, g.display_name, g.course_id, g.class_id, k.status,
                        g.start_date, ", $crate::cascade::read::document_columns!(), "
                    FROM documents d JOIN work_rooms w ON w.id = d.work_room_id
                    JOIN groups g ON g.id = w.group_id JOIN classes k ON k.id = g.class_id
                    WHERE d.organization_id = $1 AND d.id IN (SELECT id FROM documents
                        WHERE organization_id = $1 AND ", touched!($freed), " AND (", linked!($freed), " OR ",
                        held!($freed), ") AND work_room_id NOT IN (", rooms_of!($groups), ") AND ", $rooms, ")
                    ORDER BY d.created_at, d.id");
                /// The documents that go are remembered for what is saved of them later.
                REMEMBER = $crate::deleted_documents::remember!($groups);
                /// Conversions of revisions and of copies.
                DELETE_CONVERTED = delete!("converted_files",
                    either!("converted_files", "revision_id", revisions_of!($groups), "submission_document_id",
                        copies_of!($links)));
                /// Feedback on the links.
                DELETE_FEEDBACK = delete!("feedback", "group_assignment_id IN (", $links, ")");
                /// States of grades.
                DELETE_GRADE_HISTORY = delete!("grade_history", "grade_id IN (", grades_of!($links), ")");
                /// Grades of single members.
                DELETE_MEMBER_GRADES = delete!("member_grades", "grade_id IN (", grades_of!($links), ")");
                /// Grades.
                DELETE_GRADES = delete!("grades", "submission_id IN (", submissions_of!($links), ")");
                /// Copies of documents.
                DELETE_COPIES = delete!("submission_documents", "submission_id IN (", submissions_of!($links), ")");
                /// Submissions.
                DELETE_SUBMISSIONS = delete!("submissions", "group_assignment_id IN (", $links, ")");
                /// Editors that are open.
                DELETE_SESSIONS = delete!("editing_sessions", "document_id IN (", documents_of!($groups), ")");
                /// Notices of the document server.
                DELETE_SAVES = delete!("document_saves", "document_id IN (", documents_of!($groups), ")");
                /// Who worked on them.
                DELETE_CONTRIBUTIONS = delete!("document_contributions", "document_id IN (", documents_of!($groups), ")");
                /// Revisions.
                DELETE_REVISIONS = delete!("document_revisions", "document_id IN (", documents_of!($groups), ")");
                /// Documents.
                DELETE_DOCUMENTS = delete!("documents", "work_room_id IN (", rooms_of!($groups), ")");
                /// Documents that stay lose link and lock; without a submission nothing is handed in.
                RELEASE = concat!("UPDATE documents SET
                        status = CASE
                            WHEN ", held!($freed), " AND NOT ", linked!($freed), " THEN status_before_lock
                            WHEN ", held!($freed), " THEN 'DRAFT'
                            WHEN status = 'LOCKED' THEN 'LOCKED'
                            WHEN ", linked!($freed), " THEN 'DRAFT'
                            ELSE status END,
                        generation = generation + CASE WHEN ", held!($freed), " THEN 1 ELSE 0 END
                            + CASE WHEN ", linked!($freed), " AND (status = 'SUBMITTED'
                                OR (", held!($freed), " AND status_before_lock = 'SUBMITTED')) THEN 1 ELSE 0 END,
                        last_activity = CASE
                            WHEN ", held!($freed), " OR (", linked!($freed), " AND status = 'SUBMITTED') THEN $3
                            ELSE last_activity END,
                        status_before_lock = CASE
                            WHEN ", held!($freed), " OR status <> 'LOCKED' THEN NULL
                            WHEN ", linked!($freed), " THEN 'DRAFT'
                            ELSE status_before_lock END,
                        locked_at = CASE WHEN ", held!($freed), " THEN NULL ELSE locked_at END,
                        locked_by_assignment_id = CASE WHEN ", held!($freed), " THEN NULL ELSE locked_by_assignment_id END,
                        submitted_at = CASE WHEN ", linked!($freed), " THEN NULL ELSE submitted_at END,
                        submitted_by_id = CASE WHEN ", linked!($freed), " THEN NULL ELSE submitted_by_id END,
                        assignment_id = CASE WHEN ", linked!($freed), " THEN NULL ELSE assignment_id END,
                        updated_at = $3
                    WHERE organization_id = $1 AND ", touched!($freed), " AND (", linked!($freed), " OR ", held!($freed),
                    ") AND ", $rooms);
                /// Files of messages.
                DELETE_MESSAGE_FILES = delete!("message_attachments", "work_room_id IN (", rooms_of!($groups), ")");
                /// Messages.
                DELETE_MESSAGES = delete!("work_room_messages", "work_room_id IN (", rooms_of!($groups), ")");
                /// Read markers.
                DELETE_READS = delete!("work_room_reads", "work_room_id IN (", rooms_of!($groups), ")");
                /// Rooms.
                DELETE_ROOMS = delete!("work_rooms", "id IN (", rooms_of!($groups), ")");
                /// Files of the topics, and those of single groups.
                DELETE_TOPIC_FILES = delete!("assignment_attachments",
                    either!("assignment_attachments", "assignment_id", topics_of!($topics), "group_assignment_id",
                        $links));
                /// Links.
                DELETE_LINKS = delete!("group_assignments", "id IN (", $links, ")");
                /// Topics.
                DELETE_TOPICS = delete!("assignments", "id IN (", topics_of!($topics), ")");
                /// Files of groups.
                DELETE_GROUP_FILES = delete!("group_attachments", "group_id IN (", groups_of!($groups), ")");
                /// Memberships.
                DELETE_MEMBERS = delete!("group_members", "group_id IN (", groups_of!($groups), ")");
                /// Groups.
                DELETE_GROUPS = delete!("groups", "id IN (", groups_of!($groups), ")");
            }

            /// The statements in the order of their use.
            pub static DOOMED: super::Doomed = super::Doomed {
                locks: &[&LOCK_GROUPS, &LOCK_TOPICS, &LOCK_LINKS, &LOCK_ROOMS, &LOCK_DOCUMENTS],
                groups: &GROUPS,
                members: &MEMBERS,
                topics: &TOPICS,
                topic_places: &TOPIC_PLACES,
                counts: &COUNTS,
                files: &FILES,
                freed: &FREED,
                released: &RELEASED,
                remember: &REMEMBER,
                deletions_before: &[
                    &DELETE_CONVERTED, &DELETE_FEEDBACK, &DELETE_GRADE_HISTORY, &DELETE_MEMBER_GRADES, &DELETE_GRADES,
                    &DELETE_COPIES, &DELETE_SUBMISSIONS, &DELETE_SESSIONS, &DELETE_SAVES,
                    &DELETE_CONTRIBUTIONS, &DELETE_REVISIONS, &DELETE_DOCUMENTS,
                ],
                release: &RELEASE,
                deletions_after: &[
                    &DELETE_MESSAGE_FILES, &DELETE_MESSAGES, &DELETE_READS, &DELETE_ROOMS, &DELETE_TOPIC_FILES,
                    &DELETE_LINKS, &DELETE_TOPICS, &DELETE_GROUP_FILES, &DELETE_MEMBERS, &DELETE_GROUPS,
                ],
            };
        }
    };
}

doomed!(
    /// With a course: its groups and its topics.
    course, groups: "g.course_id = $2", topics: "a.course_id = $2",
    links: links_of!("g.course_id = $2", "a.course_id = $2"),
    freed: topics_of!("a.course_id = $2"), where: "1 = 1"
);
doomed!(
    /// With a class: its groups and its topics, those without a course too.
    class, groups: "g.class_id = $2", topics: "a.class_id = $2",
    links: links_of!("g.class_id = $2", "a.class_id = $2"),
    freed: topics_of!("a.class_id = $2"), where: "1 = 1"
);
doomed!(
    /// With a group: the group alone; its topics stay.
    group, groups: "g.id = $2", topics: none!("a.id"),
    links: links_of!("g.id = $2", none!("a.id")),
    freed: topics_of!(none!("a.id")), where: "1 = 1"
);
doomed!(
    /// With a topic: the topic alone; groups, rooms and documents stay.
    topic, groups: none!("g.id"), topics: "a.id = $2",
    links: links_of!(none!("g.id"), "a.id = $2"),
    freed: topics_of!("a.id = $2"), where: "1 = 1"
);
doomed!(
    /// With the link of a group to a topic: the link alone; documents of that group are freed from the topic.
    link, groups: none!("g.id"), topics: none!("a.id"),
    links: "SELECT l.id FROM group_assignments l WHERE l.organization_id = $1 AND l.id = $2",
    freed: "SELECT l.assignment_id FROM group_assignments l WHERE l.organization_id = $1 AND l.id = $2",
    where: "work_room_id IN (SELECT w.id FROM work_rooms w JOIN group_assignments l ON l.group_id = w.group_id \
        WHERE w.organization_id = $1 AND l.id = $2)"
);
