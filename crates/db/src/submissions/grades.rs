//! Grades: the present state in `grades` and `member_grades`, all states in `grade_history`. Grades are read with their
//! submissions (`submissions.rs`). Also resolves the group and topic of a submission for viewers of the group.

use domain::class::ClassStatus;
use domain::grade::{Grade, GradeMark, GradeState, MemberGrade};
use domain::id::{AssignmentId, ClassId, GroupAssignmentId, GroupId, SubmissionId, UserId};
use domain::number::Points;

use super::rubric_marks;
use crate::sql::Columns;
use crate::visibility::CAN_VIEW_LINK;
use crate::{ReadTx, WriteTx, args, fragments, from_row, named, statements};
use common::clock;
use common::error::Result;

fragments! {
    SELECT_WORK = "SELECT ga.id AS link_id, ga.assignment_id, g.id AS group_id, k.id AS class_id,
        k.status AS class_status FROM";
    JOIN_GROUP_AND_CLASS = "JOIN groups g ON g.id = ga.group_id
            JOIN classes k ON k.id = g.class_id
            JOIN assignments a ON a.id = ga.assignment_id
            WHERE ga.organization_id = $1 AND {CAN_VIEW_LINK}";
}

statements! {
    /// The link of a submission.
    OF_SUBMISSION = "{SELECT_WORK} submissions s
            JOIN group_assignments ga ON ga.id = s.group_assignment_id {JOIN_GROUP_AND_CLASS} AND s.id = $5";
    /// The work of a group on a topic.
    OF_LINK = "{SELECT_WORK} group_assignments ga {JOIN_GROUP_AND_CLASS} AND ga.id = $5";
    /// Inserts or updates the grade of a submission.
    WRITE = "INSERT INTO grades (organization_id, id, submission_id, value, points, feedback, status, version,
        graded_by_id,
            graded_at, published_at, created_at, updated_at, rubric)
        VALUES ($1, :id, :submission_id, :value, :points, :feedback, :status, :version, :graded_by_id, :graded_at,
            :published_at, :created_at, :created_at, :rubric)
        ON CONFLICT (submission_id) DO UPDATE SET value = excluded.value, points = excluded.points,
            feedback = excluded.feedback, status = excluded.status, version = excluded.version,
            graded_by_id = excluded.graded_by_id, graded_at = excluded.graded_at, published_at = excluded.published_at,
            updated_at = excluded.updated_at, rubric = excluded.rubric";
    /// The id of the grade of a submission.
    ROW = "SELECT id FROM grades WHERE organization_id = $1 AND submission_id = $2";
    /// Deletes the grades of single members before the new ones are inserted.
    CLEAR_MEMBERS = "DELETE FROM member_grades WHERE organization_id = $1 AND grade_id = $2";
    WRITE_MEMBER = "INSERT INTO member_grades (organization_id, id, grade_id, user_id, value, points, feedback,
            graded_at, graded_by_id)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    /// Inserts the present state into the history.
    REMEMBER = "INSERT INTO grade_history (organization_id, id, grade_id, version, value, points, feedback, status,
            member_grades, changed_by_id, created_at, rubric)
        VALUES ($1, :id, :grade_id, :version, :value, :points, :feedback, :status, :member_grades, :changed_by_id,
            :created_at, :rubric)";
    /// The newest states of the grade of a submission, newest first.
    STATES = "SELECT h.version, h.value, h.points, h.feedback, h.rubric, h.status, h.member_grades, h.changed_by_id, u.name,
        h.created_at
        FROM grades g JOIN grade_history h ON h.grade_id = g.id JOIN users u ON u.id = h.changed_by_id
        WHERE g.organization_id = $1 AND h.organization_id = $1 AND g.submission_id = $2
        ORDER BY h.version DESC LIMIT 200";
    /// The present members of the groups of a topic.
    MEMBERS_OF_TOPIC = "SELECT gm.group_id, gm.user_id FROM group_members gm
        JOIN group_assignments ga ON ga.group_id = gm.group_id
        WHERE gm.organization_id = $1 AND ga.assignment_id = $2 ORDER BY gm.joined_at, gm.user_id";
    /// The names of the members of the current submissions of a topic, including users who have left the group since.
    NAMES_OF_TOPIC = "SELECT DISTINCT u.id, u.name FROM group_assignments ga
        JOIN submissions s ON s.id = ga.current_submission_id
        JOIN members m ON m.organization_id = ga.organization_id
        JOIN users u ON u.id = m.user_id
        WHERE ga.organization_id = $1 AND ga.assignment_id = $2 AND s.member_ids LIKE '%\"' || u.id || '\"%'";
}

/// The ids of the work of a group on a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupWork {
    pub link_id: GroupAssignmentId,
    pub assignment_id: AssignmentId,
    pub group_id: GroupId,
    /// The class of topic and group.
    pub class_id: ClassId,
    /// Determines whether changes are allowed.
    pub class_status: ClassStatus,
}

impl ReadTx<'_> {
    /// Returns group and topic of a submission, or `NotFound` if the viewer cannot view the group.
    pub fn work_of_submission(&mut self, id: &SubmissionId) -> Result<GroupWork> {
        self.fetch_one_visible(&OF_SUBMISSION, args![id], group_work)
    }

    /// Returns group and topic of a link, or `NotFound` if the viewer cannot view the group.
    pub fn work_of_link(&mut self, id: &GroupAssignmentId) -> Result<GroupWork> {
        self.fetch_one_visible(&OF_LINK, args![id], group_work)
    }

    /// Lists the newest 200 states of the grade of a submission, newest first; `NotFound` if the viewer cannot view the
    /// group.
    pub fn states_of_grade(&mut self, id: &SubmissionId) -> Result<Vec<GradeState>> {
        self.work_of_submission(id)?;
        self.fetch_all(&STATES, args![id], grade_state)
    }

    /// Lists the present members of the groups of a topic, regardless of the viewer.
    pub fn members_of_topic(&mut self, id: &AssignmentId) -> Result<Vec<(GroupId, UserId)>> {
        self.fetch_all(&MEMBERS_OF_TOPIC, args![id], |row| row.pair("group_id", "user_id"))
    }

    /// Lists the names of the members of the current submissions of a topic.
    pub fn names_of_topic(&mut self, id: &AssignmentId) -> Result<Vec<(UserId, String)>> {
        self.fetch_all(&NAMES_OF_TOPIC, args![id], |row| row.pair("id", "name"))
    }
}

impl WriteTx<'_> {
    /// Writes the present state of a grade and appends it to the history with its author.
    pub fn write_grade(&mut self, grade: &Grade, by: &UserId) -> Result<()> {
        let (points, now) = (grade.points.map(Points::get), self.now());
        let rubric = match grade.rubric.as_slice() {
            [] => None,
            marks => Some(serde_json::to_string(marks)?),
        };
        self.execute_named(
            &WRITE,
            named![grade =>
                submission_id, value, feedback, status, version, graded_by_id, graded_at, published_at,
                id: clock::new_id(),
                points: points,
                created_at: now,
                rubric: rubric,
            ],
        )?;
        let row: String = self.fetch_one(&ROW, args![grade.submission_id], |row| row.get("id"))?;
        self.execute(&CLEAR_MEMBERS, args![row])?;
        for member in &grade.member_grades {
            self.write_member_grade(&row, member, grade.member_marks.get(&member.user_id))?;
        }
        let members = serde_json::to_string(&grade.member_grades)?;
        self.execute_named(
            &REMEMBER,
            named![grade =>
                version, value, feedback, status,
                id: clock::new_id(),
                grade_id: row,
                points: points,
                member_grades: members,
                changed_by_id: by,
                created_at: now,
                rubric: rubric,
            ],
        )
    }

    fn write_member_grade(&mut self, row: &str, member: &MemberGrade, mark: Option<&GradeMark>) -> Result<()> {
        let (id, points) = (clock::new_id(), member.points.map(Points::get));
        let (at, by) = (mark.map(|mark| mark.at), mark.map(|mark| mark.by.clone()));
        let new = args![id, row, member.user_id, member.value, points, member.feedback, at, by];
        self.execute(&WRITE_MEMBER, new)
    }
}

fn grade_state(row: &Columns<'_>) -> Result<GradeState> {
    from_row!(row => GradeState {
        version, value, feedback, status, changed_by_id, changed_by_name = "name", changed_at = "created_at",
        points: row.get::<Option<f64>>("points")?.map(Points::stored),
        rubric: rubric_marks(row)?,
        member_grades: serde_json::from_str(&row.get::<String>("member_grades")?)?,
    })
}

fn group_work(row: &Columns<'_>) -> Result<GroupWork> {
    from_row!(row => GroupWork { link_id, assignment_id, group_id, class_id, class_status })
}
