//! The grade book of a class: topics, the work of each group on them, and the grades. The rules are in
//! `domain::grade_book`.

use std::collections::{BTreeMap, HashMap};

use domain::grade::GradeStatus;
use domain::grade_book::{GradeBookTopic, GradeContent, GradedWork, GroupWorkState};
use domain::group::GroupLabel;
use domain::id::{ClassId, CourseId, SubmissionId, UserId};
use domain::number::Points;

use super::ReadTx;
use super::sql::Columns;
use crate::visibility::IS_PUBLISHED;
use crate::{args, from_row, statements};
use common::error::Result;

statements! {
    /// The topics of a class, or of one of its courses, by deadline.
    TOPICS = "SELECT a.id, a.title, a.deadline, a.status, a.course_id, a.max_points, a.grade_scale
        FROM assignments a
        WHERE a.organization_id = $1 AND a.class_id = $2 AND (CAST($3 AS TEXT) IS NULL OR a.course_id = $3)
        ORDER BY a.deadline, a.id";
    /// The groups for which these topics are published, with their current submission and its grade.
    WORKS = "SELECT ga.id, ga.assignment_id, ga.status, ga.late_allowed_until,
            g.id AS group_id, g.name, g.group_number, g.display_name, g.course_id,
            s.id AS submission_id, s.is_late, s.member_ids,
            gr.value, gr.points, gr.status AS grade_status
        FROM assignments a
        JOIN group_assignments ga ON ga.assignment_id = a.id
        JOIN groups g ON g.id = ga.group_id
        LEFT JOIN submissions s ON s.id = ga.current_submission_id
        LEFT JOIN grades gr ON gr.submission_id = s.id
        WHERE a.organization_id = $1 AND a.class_id = $2 AND (CAST($3 AS TEXT) IS NULL OR a.course_id = $3)
            AND {IS_PUBLISHED}
        ORDER BY g.group_number, g.id";
    /// The recorded last names of the students of a class.
    LAST_NAMES = "SELECT u.id, u.last_name
        FROM class_enrollments e
        JOIN users u ON u.id = e.student_id
        WHERE e.organization_id = $1 AND e.class_id = $2 AND u.last_name IS NOT NULL";
    /// The grades of single members for these submissions.
    MEMBER_GRADES = "SELECT gr.submission_id, mg.user_id, mg.value, mg.points
        FROM assignments a
        JOIN group_assignments ga ON ga.assignment_id = a.id
        JOIN grades gr ON gr.submission_id = ga.current_submission_id
        JOIN member_grades mg ON mg.grade_id = gr.id
        WHERE a.organization_id = $1 AND a.class_id = $2 AND (CAST($3 AS TEXT) IS NULL OR a.course_id = $3)";
}

impl ReadTx<'_> {
    /// Lists the topics of a class, or of one of its courses, by deadline. The caller has checked the permission.
    pub fn grade_book_topics(&mut self, class: &ClassId, course: Option<&CourseId>) -> Result<Vec<GradeBookTopic>> {
        self.fetch_all(&TOPICS, args![class, course], topic)
    }

    /// Lists the work of all groups on these topics, with the grades. The caller has checked the permission.
    pub fn grade_book_works(&mut self, class: &ClassId, course: Option<&CourseId>) -> Result<Vec<GroupWorkState>> {
        let mut members: HashMap<SubmissionId, BTreeMap<UserId, GradeContent>> = HashMap::new();
        let own = self.fetch_all(&MEMBER_GRADES, args![class, course], |row| {
            Ok((row.get("submission_id")?, row.get("user_id")?, grade(row)?))
        })?;
        for (submission, user, grade) in own {
            members.entry(submission).or_default().insert(user, grade);
        }
        let now = self.now();
        let mut works = self.fetch_all(&WORKS, args![class, course, now], state)?;
        for work in works.iter_mut().filter_map(|state| state.work.as_mut()) {
            work.member_grades = members.remove(&work.submission_id).unwrap_or_default();
        }
        Ok(works)
    }

    /// Returns the recorded last names of the students of a class. The caller has checked the permission.
    pub fn last_names_of_class(&mut self, class: &ClassId) -> Result<BTreeMap<UserId, String>> {
        let names = self.fetch_all(&LAST_NAMES, args![class], |row| row.pair("id", "last_name"))?;
        Ok(names.into_iter().collect())
    }
}

fn topic(row: &Columns<'_>) -> Result<GradeBookTopic> {
    from_row!(row => GradeBookTopic {
        id, title, deadline, status, course_id, grade_scale,
        max_points: row.get::<Option<f64>>("max_points")?.map(Points::stored),
    })
}

fn state(row: &Columns<'_>) -> Result<GroupWorkState> {
    from_row!(row => GroupWorkState {
        link_id = "id", assignment_id, status, late_allowed_until,
        group: from_row!(row => GroupLabel { id = "group_id", name, group_number, display_name, course_id })?,
        work: work(row)?,
    })
}

/// Reads the current submission with its grade; both may be missing.
fn work(row: &Columns<'_>) -> Result<Option<GradedWork>> {
    let submission: Option<SubmissionId> = row.get("submission_id")?;
    let is_late: Option<bool> = row.get("is_late")?;
    let members: Option<Vec<UserId>> = row.json_option("member_ids")?;
    let content = grade(row)?;
    let status = row.get::<Option<GradeStatus>>("grade_status")?;
    let Some(submission_id) = submission else {
        return Ok(None);
    };
    Ok(Some(GradedWork {
        submission_id,
        is_late: is_late.unwrap_or_default(),
        member_ids: members.unwrap_or_default(),
        grade: status.map(|status| (content, status)),
        member_grades: BTreeMap::new(),
    }))
}

fn grade(row: &Columns<'_>) -> Result<GradeContent> {
    Ok(GradeContent {
        value: row.get("value")?,
        points: row.get::<Option<f64>>("points")?.map(Points::stored),
    })
}
