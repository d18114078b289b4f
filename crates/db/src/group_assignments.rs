//! The links of groups to topics (group assignments), with group and current submission. A viewer finds the links of
//! groups they can view: staff of the class all of them, students those of their own groups, others none.

use domain::class::ClassStatus;
use domain::details::SubmissionDetails;
use domain::group::{ActiveTopic, GroupContext, GroupLabel};
use domain::group_assignment::{GroupAssignment, GroupAssignmentStatus, Lateness};
use domain::id::{AssignmentId, GroupId, SubmissionId};
use domain::submission::{Submission, SubmissionStatus};
use domain::text::Title;
use domain::time::Timestamp;

use super::current_submissions::{CurrentParts, current_parts};
use super::sql::{Columns, Sql, Value};
use super::{ReadTx, WriteTx};
use crate::{args, can_view_group, statements};
use common::error::{Error, Result};

macro_rules! link_columns {
    () => {
        "ga.id, ga.organization_id, ga.assignment_id, ga.group_id, ga.status, ga.current_submission_id,
            ga.description_override, ga.late_allowed_until, ga.created_at, ga.updated_at"
    };
}

macro_rules! submission_columns {
    () => {
        "s.id, s.organization_id, s.group_assignment_id, s.attempt, s.status, s.submitted_by_id, s.submitted_at,
            s.on_behalf, s.is_late, s.late_by_seconds, s.member_ids, s.note, s.withdrawn_at, s.withdrawn_by_id, s.created_at"
    };
}
pub(super) use {link_columns, submission_columns};

/// Links of topics, with topic `a`, class `k` and group `g`.
macro_rules! from_topics {
    () => {
        " FROM assignments a
            JOIN classes k ON k.id = a.class_id
            JOIN group_assignments ga ON ga.assignment_id = a.id
            JOIN groups g ON g.id = ga.group_id"
    };
}

/// The links of one topic.
macro_rules! of_assignment {
    () => {
        concat!(
            "a.organization_id = $1 AND ",
            $crate::can_view_group!(),
            " AND a.id = $5"
        )
    };
}

/// The links of the topics of a staff list.
macro_rules! of_staff_list {
    () => {
        concat!(
            "a.organization_id = $1 AND ",
            $crate::can_view_group!(),
            " AND ",
            $crate::assignments::staff_topics!()
        )
    };
}

/// The links of the topics of a student list.
macro_rules! of_student_list {
    () => {
        concat!(
            "a.organization_id = $1 AND ",
            $crate::can_view_group!(),
            " AND ",
            $crate::assignments::student_topics!()
        )
    };
}

macro_rules! links {
    ($($where:tt)*) => {
        concat!(
            "SELECT ", link_columns!(), ", g.name, g.group_number, g.display_name, g.course_id, g.start_date, k.id, k.status,
                (SELECT COUNT(*) FROM submission_documents sd
                    WHERE sd.organization_id = $1 AND sd.submission_id = ga.current_submission_id), ",
            submission_columns!(), from_topics!(),
            " LEFT JOIN submissions s ON s.id = ga.current_submission_id WHERE ",
            $($where)*,
            " ORDER BY g.group_number, g.id"
        )
    };
}

current_parts!(
    /// The content of the current submissions of one topic.
    of_assignment, from: from_topics!(), where: of_assignment!()
);
current_parts!(
    /// The content of the current submissions of the topics of a staff list.
    of_staff_list, from: from_topics!(), where: of_staff_list!()
);
current_parts!(
    /// The content of the current submissions of the topics of a student list.
    of_student_list, from: from_topics!(), where: of_student_list!()
);

statements! {
    OF_ASSIGNMENT = links!(of_assignment!());
    OF_STAFF_LIST = links!(of_staff_list!());
    OF_STUDENT_LIST = links!(of_student_list!());
    BY_PAIR = concat!("SELECT ", link_columns!(), " FROM group_assignments ga
        WHERE ga.organization_id = $1 AND ga.assignment_id = $2 AND ga.group_id = $3");
    INSERT = "INSERT INTO group_assignments (organization_id, id, class_id, assignment_id, group_id, status,
            current_submission_id, description_override, late_allowed_until, created_at, updated_at)
        VALUES ($1, $2, (SELECT class_id FROM assignments WHERE organization_id = $1 AND id = $3), $3, $4, $5, $6, $7, $8, $9, $10)";
    /// Updates every mutable field of a link.
    UPDATE = "UPDATE group_assignments SET status = $3, current_submission_id = $4, description_override = $5,
            late_allowed_until = $6, updated_at = $7
        WHERE organization_id = $1 AND id = $2";
    ACTIVE_TOPICS = "SELECT a.id, a.course_id FROM group_assignments ga JOIN assignments a ON a.id = ga.assignment_id
        WHERE ga.organization_id = $1 AND ga.group_id = $2 AND a.status = 'ACTIVE'
        ORDER BY a.id";
    /// The other topics of the groups of one topic: active ones by deadline, finished ones by the time they were
    /// finished.
    OTHER_TOPICS = "SELECT other.group_id, a.id, a.title, a.deadline,
            CASE WHEN a.status = 'FINISHED' THEN COALESCE(a.finished_at, 0) END
        FROM group_assignments ga
        JOIN group_assignments other ON other.group_id = ga.group_id AND other.assignment_id <> ga.assignment_id
        JOIN assignments a ON a.id = other.assignment_id
        WHERE ga.organization_id = $1 AND ga.assignment_id = $2
        ORDER BY other.group_id, COALESCE(a.finished_at, 0), a.deadline, a.id";
    /// Whether the room of a group contains a document linked to a topic.
    HAS_DOCUMENT = "SELECT EXISTS (SELECT 1 FROM documents d JOIN work_rooms w ON w.id = d.work_room_id
        WHERE d.organization_id = $1 AND d.assignment_id = $2 AND w.group_id = $3)";
    /// All submissions of one topic.
    SUBMISSIONS = concat!("SELECT ", submission_columns!(), " FROM submissions s
        JOIN group_assignments ga ON ga.id = s.group_assignment_id
        WHERE s.organization_id = $1 AND ga.assignment_id = $2
        ORDER BY s.group_assignment_id, s.attempt");
    UPDATE_LATENESS = "UPDATE submissions SET is_late = $3, late_by_seconds = $4 WHERE organization_id = $1 AND id = $2";
    /// Whether the viewer can view a group.
    SEES_GROUP = concat!("SELECT g.id FROM groups g JOIN classes k ON k.id = g.class_id
        WHERE g.organization_id = $1 AND g.id = $5 AND ", can_view_group!());
    /// The active topics a group can submit for: upcoming deadlines first, then by distance from now.
    CANDIDATES = concat!("SELECT a.id, a.title, a.deadline FROM group_assignments ga
        JOIN assignments a ON a.id = ga.assignment_id
        JOIN groups g ON g.id = ga.group_id
        JOIN classes k ON k.id = g.class_id
        WHERE ga.organization_id = $1 AND ga.group_id = $5 AND a.status = 'ACTIVE' AND ", can_view_group!(), "
        ORDER BY CASE WHEN a.deadline >= $4 THEN 0 ELSE 1 END,
            CASE WHEN a.deadline >= $4 THEN a.deadline - $4 ELSE $4 - a.deadline END, a.id");
}

/// The statements of this file and of its submodules, for the tests of all SQL.
pub fn all_statements() -> Vec<(&'static str, &'static [(&'static str, &'static Sql)])> {
    vec![
        ("group_assignments", STATEMENTS),
        ("group_assignments::of_assignment", of_assignment::STATEMENTS),
        ("group_assignments::of_staff_list", of_staff_list::STATEMENTS),
        ("group_assignments::of_student_list", of_student_list::STATEMENTS),
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
        self.links(&OF_ASSIGNMENT, &of_assignment::PARTS, args![id])
    }

    /// Lists the links of all topics of a list. The arguments are those of the list.
    pub(super) fn links_of_assignments(&mut self, arguments: &[Value<'_>]) -> Result<Vec<LinkRow>> {
        if self.viewer().is_staff() {
            self.links(&OF_STAFF_LIST, &of_staff_list::PARTS, arguments)
        } else {
            self.links(&OF_STUDENT_LIST, &of_student_list::PARTS, arguments)
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
        self.fetch_all(&ACTIVE_TOPICS, args![group], |row| {
            Ok(ActiveTopic {
                assignment_id: row.take()?,
                course_id: row.take()?,
            })
        })
    }

    /// Lists the other topics of the groups of a topic, regardless of the viewer.
    pub fn other_topics(&mut self, topic: &AssignmentId) -> Result<Vec<(GroupId, OtherTopic)>> {
        self.fetch_all(&OTHER_TOPICS, args![topic], |row| {
            let group = row.take()?;
            let topic = OtherTopic {
                assignment_id: row.take()?,
                title: row.take()?,
                deadline: row.take()?,
                finished_at: row.take()?,
            };
            Ok((group, topic))
        })
    }

    /// Lists the topics a group can submit for, the most likely first; `NotFound` if the viewer cannot view the group.
    pub fn submission_candidates(&mut self, group: &GroupId) -> Result<Vec<SubmissionCandidate>> {
        self.fetch_one_visible(&SEES_GROUP, args![group], |row| row.take::<GroupId>())?;
        self.fetch_all_visible(&CANDIDATES, args![group], |row| {
            Ok(SubmissionCandidate {
                assignment_id: row.take()?,
                title: row.take()?,
                deadline: row.take()?,
            })
        })
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
        self.execute(
            &INSERT,
            args![
                new.id,
                new.assignment_id,
                new.group_id,
                new.status.as_str(),
                new.current_submission_id,
                new.description_override,
                new.late_allowed_until,
                new.created_at,
                new.updated_at,
            ],
        )
        .map(drop)
    }

    /// Updates every mutable field of a link.
    pub fn update_link(&mut self, link: &GroupAssignment) -> Result<()> {
        self.execute(
            &UPDATE,
            args![
                link.id,
                link.status.as_str(),
                link.current_submission_id,
                link.description_override,
                link.late_allowed_until,
                link.updated_at,
            ],
        )
        .map(drop)
    }

    /// Returns whether the room of the group contains a document linked to the topic.
    pub fn has_linked_document(&mut self, assignment: &AssignmentId, group: &GroupId) -> Result<bool> {
        self.fetch_one(&HAS_DOCUMENT, args![assignment, group], |row| row.take())
    }

    /// Lists all submissions of a topic, including superseded ones.
    pub fn submissions_of(&mut self, assignment: &AssignmentId) -> Result<Vec<Submission>> {
        self.fetch_all(&SUBMISSIONS, args![assignment], submission)
    }

    /// Updates the lateness of a submission.
    pub fn update_lateness(&mut self, id: &SubmissionId, lateness: Lateness) -> Result<()> {
        self.execute(&UPDATE_LATENESS, args![id, lateness.is_late, lateness.late_by_seconds])
            .map(drop)
    }
}

fn link_row(row: &mut Columns<'_>) -> Result<LinkRow> {
    let link = link(row)?;
    let group = GroupLabel {
        id: link.group_id.clone(),
        name: row.take()?,
        group_number: row.take()?,
        display_name: row.take()?,
        course_id: row.take()?,
    };
    let start_date = row.take()?;
    let group_context = GroupContext {
        group,
        class: row.take()?,
        class_status: row.parse(ClassStatus::parse)?,
        start_date,
    };
    let submitted_count = row.take()?;
    let current_submission = if link.current_submission_id.is_some() {
        let submission = submission(row)?;
        Some(SubmissionDetails {
            submission,
            documents: Vec::new(),
            grade: None,
            feedback: Vec::new(),
        })
    } else {
        None
    };
    Ok(LinkRow {
        link,
        group_context,
        submitted_count,
        current_submission,
    })
}

/// Reads the columns of [`link_columns`].
pub(super) fn link(row: &mut Columns<'_>) -> Result<GroupAssignment> {
    Ok(GroupAssignment {
        id: row.take()?,
        organization_id: row.take()?,
        assignment_id: row.take()?,
        group_id: row.take()?,
        status: row.parse(GroupAssignmentStatus::parse)?,
        current_submission_id: row.take()?,
        description_override: row.take()?,
        late_allowed_until: row.take()?,
        created_at: row.take()?,
        updated_at: row.take()?,
    })
}

/// Reads the columns of [`submission_columns`].
pub(super) fn submission(row: &mut Columns<'_>) -> Result<Submission> {
    Ok(Submission {
        id: row.take()?,
        organization_id: row.take()?,
        group_assignment_id: row.take()?,
        attempt: row.take()?,
        status: row.parse(SubmissionStatus::parse)?,
        submitted_by_id: row.take()?,
        submitted_at: row.take()?,
        on_behalf: row.take()?,
        lateness: Lateness {
            is_late: row.take()?,
            late_by_seconds: row.take()?,
        },
        member_ids: row.json()?,
        note: row.take()?,
        withdrawn_at: row.take()?,
        withdrawn_by_id: row.take()?,
        created_at: row.take()?,
    })
}
