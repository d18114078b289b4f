//! The links of groups to topics (group assignments), with group and current submission. A viewer finds the links of
//! groups they can view: staff of the class all of them, students those of their own groups, others none.

use std::sync::LazyLock;

use domain::details::SubmissionDetails;
use domain::group::{ActiveTopic, GroupContext};
use domain::group_assignment::{GroupAssignment, Lateness};
use domain::id::{AssignmentId, GroupId, SubmissionId};
use domain::publication::TopicPublication;
use domain::submission::Submission;
use domain::text::Title;
use domain::time::Timestamp;

use super::current_submissions::CurrentParts;
use super::sql::{Columns, NamedStatements, Sql, Value};
use super::{ReadTx, WriteTx};
use crate::assignments::{STAFF_TOPICS, STUDENT_TOPICS};
use crate::labels::group_context;
use crate::visibility::{CAN_VIEW_GROUP, CAN_VIEW_LINK, IS_PUBLISHED};
use crate::{args, fragments, from_row, named, statements};
use common::error::{Error, Result};

fragments! {
    pub(crate) LINK_COLUMNS = "ga.id AS link_id, ga.organization_id, ga.assignment_id, ga.group_id,
        ga.status AS link_status, ga.current_submission_id,
            ga.description_override, ga.includes_shared_text, ga.late_allowed_until, ga.created_at AS link_created_at,
            ga.updated_at AS link_updated_at, ga.is_draft AS link_is_draft, ga.publish_at AS link_publish_at";
    pub(crate) SUBMISSION_COLUMNS = "s.id AS submission_id, s.group_assignment_id, s.attempt,
        s.status AS submission_status, s.submitted_by_id, s.submitted_at,
            s.on_behalf, s.is_late, s.late_by_seconds, s.member_ids, s.note, s.withdrawn_at, s.withdrawn_by_id,
            s.created_at AS submission_created_at";
    /// Links of topics, with topic `a`, class `k` and group `g`.
    FROM_TOPICS = "FROM assignments a
            JOIN classes k ON k.id = a.class_id
            JOIN group_assignments ga ON ga.assignment_id = a.id
            JOIN groups g ON g.id = ga.group_id";
    /// The links of one topic.
    SELECTED_TOPIC = "a.organization_id = $1 AND {CAN_VIEW_LINK} AND a.id = $5";
    /// The links of the topics of a staff list.
    STAFF_LIST = "a.organization_id = $1 AND {CAN_VIEW_LINK} AND {STAFF_TOPICS}";
    /// The links of the topics of a student list.
    STUDENT_LIST = "a.organization_id = $1 AND {CAN_VIEW_LINK} AND {STUDENT_TOPICS}";
    SELECT_LINKS = "SELECT {LINK_COLUMNS}, g.name AS group_name, g.group_number, g.display_name,
            g.course_id AS group_course_id, g.start_date, k.id AS class_id, k.status AS class_status,
                (SELECT COUNT(*) FROM submission_documents sd
                    WHERE sd.organization_id = $1 AND sd.submission_id = ga.current_submission_id) AS submitted_count,
            {SUBMISSION_COLUMNS} {FROM_TOPICS}
                    LEFT JOIN submissions s ON s.id = ga.current_submission_id WHERE";
}

/// The content of the current submissions of one topic.
static CURRENT_OF_ASSIGNMENT: LazyLock<CurrentParts> = LazyLock::new(|| {
    CurrentParts::of(
        &FROM_TOPICS.to_string(),
        "ga.current_submission_id",
        &SELECTED_TOPIC.to_string(),
    )
});
/// The content of the current submissions of the topics of a staff list.
static CURRENT_OF_STAFF_LIST: LazyLock<CurrentParts> = LazyLock::new(|| {
    CurrentParts::of(
        &FROM_TOPICS.to_string(),
        "ga.current_submission_id",
        &STAFF_LIST.to_string(),
    )
});
/// The content of the current submissions of the topics of a student list.
static CURRENT_OF_STUDENT_LIST: LazyLock<CurrentParts> = LazyLock::new(|| {
    CurrentParts::of(
        &FROM_TOPICS.to_string(),
        "ga.current_submission_id",
        &STUDENT_LIST.to_string(),
    )
});

statements! {
    OF_ASSIGNMENT = "{SELECT_LINKS} {SELECTED_TOPIC} ORDER BY g.group_number, g.id";
    OF_STAFF_LIST = "{SELECT_LINKS} {STAFF_LIST} ORDER BY g.group_number, g.id";
    OF_STUDENT_LIST = "{SELECT_LINKS} {STUDENT_LIST} ORDER BY g.group_number, g.id";
    BY_PAIR = "SELECT {LINK_COLUMNS} FROM group_assignments ga
        WHERE ga.organization_id = $1 AND ga.assignment_id = $2 AND ga.group_id = $3";
    INSERT = "INSERT INTO group_assignments (organization_id, id, class_id, assignment_id, group_id, status,
            current_submission_id, description_override, late_allowed_until, created_at, updated_at, is_draft,
            publish_at, includes_shared_text)
        VALUES ($1, :id, (SELECT class_id FROM assignments WHERE organization_id = $1 AND id = :assignment_id),
            :assignment_id, :group_id, :status, :current_submission_id, :description_override, :late_allowed_until,
            :created_at, :updated_at, :is_draft, :publish_at, :includes_shared_text)";
    /// Updates every mutable field of a link.
    UPDATE = "UPDATE group_assignments SET status = :status, current_submission_id = :current_submission_id,
            description_override = :description_override, late_allowed_until = :late_allowed_until,
            updated_at = :updated_at, is_draft = :is_draft, publish_at = :publish_at,
            includes_shared_text = :includes_shared_text
        WHERE organization_id = $1 AND id = :id";
    ACTIVE_TOPICS = "SELECT a.id, a.course_id FROM group_assignments ga JOIN assignments a ON a.id = ga.assignment_id
        WHERE ga.organization_id = $1 AND ga.group_id = $2 AND a.status = 'ACTIVE'
        ORDER BY a.id";
    /// The other topics of the groups of one topic: active ones by deadline, finished ones by the time they were
    /// finished.
    OTHER_TOPICS = "SELECT other.group_id, a.id, a.title, a.deadline,
            CASE WHEN a.status = 'FINISHED' THEN COALESCE(a.finished_at, 0) END AS finished_at
        FROM group_assignments ga
        JOIN group_assignments other ON other.group_id = ga.group_id AND other.assignment_id <> ga.assignment_id
        JOIN assignments a ON a.id = other.assignment_id
        WHERE ga.organization_id = $1 AND ga.assignment_id = $2
        ORDER BY other.group_id, COALESCE(a.finished_at, 0), a.deadline, a.id";
    /// Whether the room of a group contains a document linked to a topic.
    HAS_DOCUMENT = "SELECT EXISTS (SELECT 1 FROM documents d JOIN work_rooms w ON w.id = d.work_room_id
        WHERE d.organization_id = $1 AND d.assignment_id = $2 AND w.group_id = $3)";
    /// All submissions of one topic.
    SUBMISSIONS = "SELECT s.organization_id, {SUBMISSION_COLUMNS} FROM submissions s
        JOIN group_assignments ga ON ga.id = s.group_assignment_id
        WHERE s.organization_id = $1 AND ga.assignment_id = $2
        ORDER BY s.group_assignment_id, s.attempt";
    UPDATE_LATENESS = "UPDATE submissions SET is_late = $3, late_by_seconds = $4
            WHERE organization_id = $1 AND id = $2";
    /// Whether the viewer can view a group.
    SEES_GROUP = "SELECT g.id FROM groups g JOIN classes k ON k.id = g.class_id
        WHERE g.organization_id = $1 AND g.id = $5 AND {CAN_VIEW_GROUP}";
    /// Whether a topic is published for a group; no row if the viewer cannot view the link.
    PUBLISHED = "SELECT {IS_PUBLISHED} AS is_published FROM group_assignments ga
        JOIN assignments a ON a.id = ga.assignment_id
        JOIN groups g ON g.id = ga.group_id
        JOIN classes k ON k.id = g.class_id
        WHERE ga.organization_id = $1 AND ga.assignment_id = $5 AND ga.group_id = $6 AND {CAN_VIEW_LINK}";
    /// The active and published topics a group can submit for: upcoming deadlines first, then by distance from now.
    CANDIDATES = "SELECT a.id, a.title, a.deadline FROM group_assignments ga
        JOIN assignments a ON a.id = ga.assignment_id
        JOIN groups g ON g.id = ga.group_id
        JOIN classes k ON k.id = g.class_id
        WHERE ga.organization_id = $1 AND ga.group_id = $5 AND a.status = 'ACTIVE' AND {CAN_VIEW_GROUP}
            AND {IS_PUBLISHED}
        ORDER BY CASE WHEN a.deadline >= $4 THEN 0 ELSE 1 END,
            CASE WHEN a.deadline >= $4 THEN a.deadline - $4 ELSE $4 - a.deadline END, a.id";
}

/// The statements of this file, for the tests of all SQL.
pub fn all_statements() -> Vec<(&'static str, NamedStatements)> {
    vec![
        ("group_assignments", STATEMENTS.to_vec()),
        ("group_assignments::of_assignment", CURRENT_OF_ASSIGNMENT.statements()),
        ("group_assignments::of_staff_list", CURRENT_OF_STAFF_LIST.statements()),
        (
            "group_assignments::of_student_list",
            CURRENT_OF_STUDENT_LIST.statements(),
        ),
    ]
}

/// A link as read from one row. The topic is read by another statement.
pub(super) struct LinkRow {
    pub(super) link: GroupAssignment,
    pub(super) group_context: GroupContext,
    pub(super) submitted_count: i64,
    pub(super) current_submission: Option<SubmissionDetails>,
}

/// Another topic of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherTopic {
    pub assignment_id: AssignmentId,
    pub title: Title,
    pub deadline: Timestamp,
    /// `None` while the topic is active.
    pub finished_at: Option<Timestamp>,
}

/// A topic that a group can submit for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmissionCandidate {
    pub assignment_id: AssignmentId,
    pub title: Title,
    pub deadline: Timestamp,
}

impl ReadTx<'_> {
    /// Lists the links of a topic whose groups the viewer can view, by group number.
    pub(super) fn links_of_assignment(&mut self, id: &AssignmentId) -> Result<Vec<LinkRow>> {
        self.links(&OF_ASSIGNMENT, &CURRENT_OF_ASSIGNMENT, args![id])
    }

    /// Lists the links of all topics of a list. The arguments are those of the list.
    pub(super) fn links_of_assignments(&mut self, arguments: &[Value<'_>]) -> Result<Vec<LinkRow>> {
        if self.viewer().is_staff() {
            self.links(&OF_STAFF_LIST, &CURRENT_OF_STAFF_LIST, arguments)
        } else {
            self.links(&OF_STUDENT_LIST, &CURRENT_OF_STUDENT_LIST, arguments)
        }
    }

    fn links(
        &mut self,
        sql: &'static Sql,
        parts: &'static CurrentParts,
        arguments: &[Value<'_>],
    ) -> Result<Vec<LinkRow>> {
        let mut rows = self.fetch_all_visible(sql, arguments, link_row)?;
        let current = rows
            .iter_mut()
            .filter_map(|row| row.current_submission.as_mut())
            .collect();
        self.fill_current(parts, arguments, current)?;
        Ok(rows)
    }

    /// Lists the active topics of a group regardless of the viewer: the course invariant applies to all of them.
    pub fn active_topics(&mut self, group: &GroupId) -> Result<Vec<ActiveTopic>> {
        self.fetch_all(
            &ACTIVE_TOPICS,
            args![group],
            |row| from_row!(row => ActiveTopic { assignment_id = "id", course_id }),
        )
    }

    /// Lists the other topics of the groups of a topic, regardless of the viewer.
    pub fn other_topics(&mut self, topic: &AssignmentId) -> Result<Vec<(GroupId, OtherTopic)>> {
        self.fetch_all(&OTHER_TOPICS, args![topic], |row| {
            let group = row.get("group_id")?;
            let topic = from_row!(row => OtherTopic { assignment_id = "id", title, deadline, finished_at })?;
            Ok((group, topic))
        })
    }

    /// Returns whether a topic is published for a group; `None` if the group does not work on it, or the viewer cannot
    /// see that.
    pub fn is_published(&mut self, assignment: &AssignmentId, group: &GroupId) -> Result<Option<bool>> {
        let found = self.fetch_all_visible(&PUBLISHED, args![assignment, group], |row| row.get("is_published"))?;
        Ok(found.first().copied())
    }

    /// Lists the topics a group can submit for, the most likely first; `NotFound` if the viewer cannot view the group.
    pub fn submission_candidates(&mut self, group: &GroupId) -> Result<Vec<SubmissionCandidate>> {
        self.fetch_one_visible(&SEES_GROUP, args![group], |row| row.get::<GroupId>("id"))?;
        self.fetch_all_visible(
            &CANDIDATES,
            args![group],
            |row| from_row!(row => SubmissionCandidate { assignment_id = "id", title, deadline }),
        )
    }
}

impl WriteTx<'_> {
    /// Returns the link of a group to a topic, if there is one.
    pub fn link(&mut self, assignment: &AssignmentId, group: &GroupId) -> Result<Option<GroupAssignment>> {
        self.fetch_optional(&BY_PAIR, args![assignment, group], link)
    }

    /// Returns the link of a group to a topic, or `NotFound`.
    pub fn get_link(&mut self, assignment: &AssignmentId, group: &GroupId) -> Result<GroupAssignment> {
        self.link(assignment, group)?.ok_or(Error::NotFound)
    }

    /// Inserts a link; a duplicate is `DUPLICATE_GROUP_ASSIGNMENT`.
    pub fn insert_link(&mut self, new: &GroupAssignment) -> Result<()> {
        self.write_link(&INSERT, new)
    }

    /// Updates every mutable field of a link.
    pub fn update_link(&mut self, link: &GroupAssignment) -> Result<()> {
        self.write_link(&UPDATE, link)
    }

    fn write_link(&mut self, statement: &'static Sql, link: &GroupAssignment) -> Result<()> {
        self.execute_named(
            statement,
            named![link =>
                id, assignment_id, group_id, status, current_submission_id, description_override, late_allowed_until,
                created_at, updated_at, includes_shared_text,
                is_draft: link.publication.is_draft,
                publish_at: link.publication.publish_at,
            ],
        )
    }

    /// Returns whether the room of the group contains a document linked to the topic.
    pub fn has_linked_document(&mut self, assignment: &AssignmentId, group: &GroupId) -> Result<bool> {
        self.fetch_one(&HAS_DOCUMENT, args![assignment, group], |row| row.only())
    }

    /// Lists all submissions of a topic, including superseded ones.
    pub fn submissions_of(&mut self, assignment: &AssignmentId) -> Result<Vec<Submission>> {
        self.fetch_all(&SUBMISSIONS, args![assignment], submission)
    }

    /// Updates the lateness of a submission.
    pub fn update_lateness(&mut self, id: &SubmissionId, lateness: Lateness) -> Result<()> {
        self.execute(&UPDATE_LATENESS, args![id, lateness.is_late, lateness.late_by_seconds])
    }
}

fn link_row(row: &Columns<'_>) -> Result<LinkRow> {
    let link = link(row)?;
    from_row!(row => LinkRow {
        submitted_count,
        group_context: group_context(row)?,
        current_submission: current_submission(&link, row)?,
        link: link,
    })
}

/// Reads the columns of [`LINK_COLUMNS`].
pub(super) fn link(row: &Columns<'_>) -> Result<GroupAssignment> {
    from_row!(row => GroupAssignment {
        id = "link_id", organization_id, assignment_id, group_id, status = "link_status", current_submission_id,
        description_override, includes_shared_text, late_allowed_until, created_at = "link_created_at",
        updated_at = "link_updated_at",
        publication: from_row!(row => TopicPublication {
            is_draft = "link_is_draft", publish_at = "link_publish_at",
        })?,
    })
}

/// Reads the current submission of a link without its documents, grade and feedback.
pub(super) fn current_submission(link: &GroupAssignment, row: &Columns<'_>) -> Result<Option<SubmissionDetails>> {
    let read = |_: &SubmissionId| {
        Ok(SubmissionDetails {
            submission: submission(row)?,
            documents: Vec::new(),
            grade: None,
            feedback: Vec::new(),
        })
    };
    link.current_submission_id.as_ref().map(read).transpose()
}

/// Reads a submission from [`SUBMISSION_COLUMNS`] with its organization.
pub(super) fn submission(row: &Columns<'_>) -> Result<Submission> {
    from_row!(row => Submission {
        id = "submission_id", organization_id, group_assignment_id, attempt, status = "submission_status",
        submitted_by_id, submitted_at, on_behalf, note, withdrawn_at, withdrawn_by_id,
        created_at = "submission_created_at",
        lateness: from_row!(row => Lateness { is_late, late_by_seconds })?,
        member_ids: row.json("member_ids")?,
    })
}
