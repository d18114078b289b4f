//! Topics together with their groups and files. The visibility of topics is decided here, in SQL: staff see every topic
//! of their organization, students the topics that a group visible to them works on. Links (`group_assignments.rs`) and
//! files (`attachments.rs`) are read with the same conditions and joined in memory.

use domain::from_fields;
use std::collections::HashMap;

use domain::assignment::{Assignment, AssignmentCompletion, AssignmentOrder, AssignmentStatus};
use domain::collation::search_key;
use domain::details::{AssignmentDetails, GroupAssignmentDetails};
use domain::file::AssignmentAttachment;
use domain::id::{AssignmentId, ClassId, CourseId, GroupId, SubjectId};
use domain::number::{Points, RequiredSubmissions};
use domain::publication::TopicPublication;
use domain::text::name_key;

use super::group_assignments::LinkRow;
use super::sql::{Columns, Sql};
use super::{ReadTx, WriteTx};
use crate::labels::{class_label, optional_course_label};
use crate::visibility::{CAN_MANAGE_CLASS, CAN_VIEW_LINK};
use crate::{args, fragments, from_row, named, statements};
use common::error::Result;

fragments! {
    /// The columns of a topic `a` of [`assignment`].
    pub(crate) ASSIGNMENT_COLUMNS = "a.class_id, a.course_id, a.title, a.description, a.deadline,
        a.working_time, a.required_submissions, a.is_shared, a.finished_at, a.finished_by_id, a.max_points,
        a.grade_scale, a.late_policy, a.created_by_id, a.created_at, a.updated_at, a.is_draft, a.publish_at";
    /// The viewer can know that topic `a` of class `k` exists: staff always, students if it is published for a visible
    /// group of theirs.
    CAN_LIST_TOPIC = "($2 <> 'STUDENT' OR EXISTS (SELECT 1 FROM group_assignments ga
            JOIN groups g ON g.id = ga.group_id
                WHERE ga.organization_id = a.organization_id AND ga.assignment_id = a.id AND {CAN_VIEW_LINK}))";
    /// Topics that are published for a group that the viewer is a member of and can view. The search starts at the
    /// viewer's groups, not at all topics.
    OWN_TOPICS = "a.id IN (SELECT ga.assignment_id FROM group_members m
                JOIN groups g ON g.id = m.group_id
                JOIN classes k ON k.id = g.class_id
                JOIN group_assignments ga ON ga.group_id = g.id
                JOIN assignments a ON a.id = ga.assignment_id
                WHERE m.organization_id = $1 AND m.user_id = $3 AND {CAN_VIEW_LINK})";
    /// The list filter, `$5` to `$11`. A group that is invisible to the viewer matches nothing.
    TOPIC_FILTER = "AND (CAST($5 AS TEXT) IS NULL OR a.class_id = $5)
            AND (CAST($6 AS TEXT) IS NULL OR a.course_id = $6)
            AND (NOT CAST($7 AS BOOLEAN) OR a.course_id IS NULL)
            AND (CAST($8 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM courses fc WHERE fc.organization_id = $1
                AND fc.id = a.course_id AND fc.subject_id = $8))
            AND (CAST($9 AS TEXT) IS NULL OR a.status = $9)
            AND (CAST($10 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM group_assignments ga
            JOIN groups g ON g.id = ga.group_id
                WHERE ga.organization_id = $1 AND ga.assignment_id = a.id AND g.id = $10 AND {CAN_VIEW_LINK}))
            AND (CAST($11 AS TEXT) IS NULL OR a.search_key LIKE '%' || $11 || '%' ESCAPE '\\')";
    /// The topics of a staff list: all matching topics of the organization.
    pub(crate) STAFF_TOPICS = "$2 <> 'STUDENT' {TOPIC_FILTER}";
    /// The topics of a student list: the student's own matching topics.
    pub(crate) STUDENT_TOPICS = "{OWN_TOPICS} {TOPIC_FILTER}";
    SELECT_TOPICS = "SELECT a.id AS assignment_id, a.organization_id, {ASSIGNMENT_COLUMNS}, k.name AS class_name,
        k.academic_year, k.status AS class_status, k.schedule,
            c.name AS course_name, c.subject_id AS course_subject_id,
                (SELECT COUNT(*) FROM group_assignments n
                WHERE n.organization_id = $1 AND n.assignment_id = a.id) AS group_count,
            EXISTS (SELECT 1 FROM assignment_rubrics r WHERE r.organization_id = $1 AND r.assignment_id = a.id
                AND ($2 <> 'STUDENT' OR r.is_shown)) AS has_rubric,
            {CAN_MANAGE_CLASS} AS is_managed
        FROM assignments a
            JOIN classes k ON k.id = a.class_id
            LEFT JOIN courses c ON c.id = a.course_id
            WHERE a.organization_id = $1 AND CAST($4 AS BIGINT) IS NOT NULL AND";
}

statements! {
    BY_ID = "{SELECT_TOPICS} a.id = $5 AND {CAN_LIST_TOPIC}";
    STAFF_LIST = "{SELECT_TOPICS} {STAFF_TOPICS}
            ORDER BY CASE WHEN a.search_key LIKE $11 || '%' ESCAPE '\\' THEN 0 ELSE 1 END, a.deadline, a.id";
    STUDENT_LIST = "{SELECT_TOPICS} {STUDENT_TOPICS}
            ORDER BY CASE WHEN a.search_key LIKE $11 || '%' ESCAPE '\\' THEN 0 ELSE 1 END, a.deadline, a.id";
    /// Locks the row until the end of the transaction.
    LOCK = "SELECT id FROM assignments WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE";
    INSERT = "INSERT INTO assignments (organization_id, id, title, title_key, description, deadline,
            required_submissions, class_id, course_id, is_shared, status, finished_at, finished_by_id, max_points,
            grade_scale, late_policy, created_by_id, created_at, updated_at, search_key, is_draft, publish_at,
            working_time)
        VALUES ($1, :id, :title, :title_key, :description, :deadline, :required_submissions, :class_id, :course_id,
            :is_shared, :status, :finished_at, :finished_by_id, :max_points, :grade_scale, :late_policy, :created_by_id,
            :created_at, :updated_at, :search_key, :is_draft, :publish_at, :working_time)";
    /// Updates every mutable field of a topic.
    UPDATE = "UPDATE assignments SET title = :title, title_key = :title_key, description = :description,
            deadline = :deadline, required_submissions = :required_submissions, course_id = :course_id,
            is_shared = :is_shared, status = :status, finished_at = :finished_at, finished_by_id = :finished_by_id,
            max_points = :max_points, grade_scale = :grade_scale, late_policy = :late_policy, updated_at = :updated_at,
            search_key = :search_key, is_draft = :is_draft, publish_at = :publish_at,
            working_time = :working_time
        WHERE organization_id = $1 AND id = :id";
}

/// A topic as visible to the viewer: without the groups and files that are invisible to them.
#[derive(Debug, Clone)]
pub struct VisibleAssignment {
    pub details: AssignmentDetails,
    /// The number of all groups that work on the topic, including those invisible to the viewer. Shown to staff only.
    pub groups: i64,
    /// Whether the viewer manages the class of the topic.
    pub is_managed: bool,
}

/// Restricts a list of topics. A `None` field does not restrict.
#[derive(Debug, Clone, Default)]
pub struct AssignmentFilter {
    pub class_id: Option<ClassId>,
    pub course_id: Option<CourseId>,
    /// Only topics without a course.
    pub without_course: bool,
    pub subject_id: Option<SubjectId>,
    pub status: Option<AssignmentStatus>,
    pub group_id: Option<GroupId>,
    /// Matches a part of the title.
    pub search: Option<String>,
    /// The sort order. If `None`, topics whose title begins with the search text come first, the rest by deadline.
    pub order: Option<AssignmentOrder>,
}

impl ReadTx<'_> {
    /// Returns a topic, or `NotFound` if it is invisible to the viewer.
    pub fn assignment(&mut self, id: &AssignmentId) -> Result<VisibleAssignment> {
        let row = self.fetch_one_visible(&BY_ID, args![id], visible)?;
        let links = self.links_of_assignment(id)?;
        let files = self.files_of_assignment(id)?;
        Ok(joined(vec![row], links, files).remove(0))
    }

    /// Lists the topics that match the filter, in its order.
    pub fn assignments(&mut self, filter: &AssignmentFilter) -> Result<Vec<VisibleAssignment>> {
        let (search, status) = (
            filter.search.as_deref().map(super::pattern),
            filter.status.map(AssignmentStatus::as_str),
        );
        let arguments = args![
            filter.class_id,
            filter.course_id,
            filter.without_course,
            filter.subject_id,
            status,
            filter.group_id,
            search,
        ];
        let rows = self.fetch_all_visible(
            if self.viewer().is_staff() {
                &STAFF_LIST
            } else {
                &STUDENT_LIST
            },
            arguments,
            visible,
        )?;
        let links = self.links_of_assignments(arguments)?;
        let files = self.files_of_assignments(arguments)?;
        let mut topics = joined(rows, links, files);
        if let Some(order) = filter.order {
            sort(&mut topics, order);
        }
        Ok(topics)
    }
}

impl WriteTx<'_> {
    /// Locks a topic and its class until the end of the transaction. Requires that the viewer manages the class and
    /// that the class is not archived.
    pub fn lock_writable_assignment(&mut self, id: &AssignmentId) -> Result<AssignmentDetails> {
        let class = self
            .fetch_one_visible(&BY_ID, args![id], visible)?
            .details
            .assignment
            .class_id;
        self.lock_writable_class(&class)?;
        self.fetch_one(&LOCK, args![id], |row| row.get::<AssignmentId>("id"))?;
        Ok(self.assignment(id)?.details)
    }

    /// Inserts a topic.
    pub fn insert_assignment(&mut self, new: &Assignment) -> Result<()> {
        self.write_assignment(&INSERT, new)
    }

    /// Updates every mutable field of a topic.
    pub fn update_assignment(&mut self, assignment: &Assignment) -> Result<()> {
        self.write_assignment(&UPDATE, assignment)
    }

    fn write_assignment(&mut self, statement: &'static Sql, assignment: &Assignment) -> Result<()> {
        let (title, finish) = (assignment.title.as_str(), assignment.finished.as_ref());
        self.execute_named(
            statement,
            named![assignment =>
                id, description, deadline, working_time, class_id, course_id, is_shared, grade_scale, late_policy,
                created_by_id, created_at, updated_at,
                title: title,
                title_key: name_key(title),
                required_submissions: assignment.required_submissions.get(),
                status: assignment.status(),
                finished_at: finish.map(|finish| finish.at),
                finished_by_id: finish.and_then(|finish| finish.by.as_ref()),
                max_points: assignment.max_points.map(Points::get),
                search_key: search_key(title),
                is_draft: assignment.publication.is_draft,
                publish_at: assignment.publication.publish_at,
            ],
        )
    }
}

/// Attaches links and files to their topics, each row once.
fn joined(
    mut topics: Vec<VisibleAssignment>,
    links: Vec<LinkRow>,
    files: Vec<AssignmentAttachment>,
) -> Vec<VisibleAssignment> {
    let indexes: HashMap<AssignmentId, usize> = topics
        .iter()
        .enumerate()
        .map(|(index, visible)| (visible.details.assignment.id.clone(), index))
        .collect();
    for file in files {
        if let Some(index) = indexes.get(&file.assignment_id) {
            topics[*index].details.attachments.push(file);
        }
    }
    for row in links {
        if let Some(index) = indexes.get(&row.link.assignment_id) {
            let details = &mut topics[*index].details;
            let link = from_fields!(row => GroupAssignmentDetails {
                link, group_context, submitted_count, current_submission,
                assignment: details.assignment.clone(),
                attachments: details.attachments.clone(),
            });
            details.links.push(link);
        }
    }
    topics
}

fn sort(topics: &mut [VisibleAssignment], order: AssignmentOrder) {
    topics.sort_by_cached_key(|visible| visible.details.assignment.sort_key(order));
    if order.is_descending() {
        topics.reverse();
    }
}

fn visible(row: &Columns<'_>) -> Result<VisibleAssignment> {
    let assignment = assignment(row)?;
    let (class, course) = (class_label(row)?, optional_course_label(row)?);
    let details = AssignmentDetails {
        assignment,
        class,
        schedule: row.json_option("schedule")?,
        has_rubric: row.get("has_rubric")?,
        course,
        attachments: Vec::new(),
        links: Vec::new(),
    };
    from_row!(row => VisibleAssignment { groups = "group_count", is_managed, details: details })
}

/// Reads a topic from [`ASSIGNMENT_COLUMNS`] with its id and organization.
pub(super) fn assignment(row: &Columns<'_>) -> Result<Assignment> {
    from_row!(row => Assignment {
        id = "assignment_id", organization_id, class_id, course_id, title, description, deadline, working_time,
        is_shared, grade_scale, late_policy, created_by_id, created_at, updated_at,
        required_submissions: RequiredSubmissions::stored(row.get("required_submissions")?),
        finished: {
            let (at, by) = (row.get::<Option<_>>("finished_at")?, row.get("finished_by_id")?);
            at.map(|at| AssignmentCompletion { at, by })
        },
        max_points: row.get::<Option<f64>>("max_points")?.map(Points::stored),
        publication: from_row!(row => TopicPublication { is_draft, publish_at })?,
    })
}
