//! The grade book of a class: the students by the topics, with the grade that counts for each student. It is computed
//! from the current submission of each group; staff read it, so it includes drafts.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::assignment::AssignmentStatus;
use crate::grade::GradeStatus;
use crate::grade_scale::numeric_value;
use crate::group::GroupLabel;
use crate::group_assignment::GroupAssignmentStatus;
use crate::id::{AssignmentId, CourseId, GroupAssignmentId, SubmissionId, UserId};
use crate::number::Points;
use crate::string_enum::string_enum;
use crate::text::{GradeScale, GradeValue, Title};
use crate::time::Timestamp;

string_enum! {
    /// Language of the headers of an exported table.
    TableLanguage {
        German = "de",
        English = "en",
    }
}

/// A column of the grade book.
#[derive(Debug, Clone, PartialEq)]
pub struct GradeBookTopic {
    pub id: AssignmentId,
    pub title: Title,
    pub deadline: Timestamp,
    pub status: AssignmentStatus,
    pub course_id: Option<CourseId>,
    pub max_points: Option<Points>,
    pub grade_scale: Option<GradeScale>,
}

/// A grade in the grade book: a value of the scale, points, or both.
#[derive(Debug, Clone, PartialEq)]
pub struct GradeContent {
    pub value: Option<GradeValue>,
    pub points: Option<Points>,
}

/// The current submission of a group with its grade.
#[derive(Debug, Clone, PartialEq)]
pub struct GradedWork {
    pub submission_id: SubmissionId,
    pub is_late: bool,
    /// The members at the time of the submission.
    pub member_ids: Vec<UserId>,
    /// The grade of the group and its visibility.
    pub grade: Option<(GradeContent, GradeStatus)>,
    /// The grades of single members.
    pub member_grades: BTreeMap<UserId, GradeContent>,
}

/// The work of one group on one topic.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupWorkState {
    pub link_id: GroupAssignmentId,
    pub assignment_id: AssignmentId,
    pub group: GroupLabel,
    pub status: GroupAssignmentStatus,
    /// The extended deadline of the group.
    pub late_allowed_until: Option<Timestamp>,
    pub work: Option<GradedWork>,
}

/// The grade that counts for one student.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectiveGrade {
    pub content: GradeContent,
    pub status: GradeStatus,
    /// Whether it is the student's own grade instead of the grade of the group.
    pub is_individual: bool,
}

/// One student on one topic.
#[derive(Debug, Clone, PartialEq)]
pub struct GradeBookCell {
    pub assignment_id: AssignmentId,
    pub link_id: GroupAssignmentId,
    pub group: GroupLabel,
    pub status: GroupAssignmentStatus,
    pub is_late: bool,
    /// Whether the deadline of the group has passed without a submission.
    pub is_missing: bool,
    pub grade: Option<EffectiveGrade>,
}

/// Means of several grades. Each grade counts equally.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct GradeMean {
    /// Mean of the values that are numbers; a plus or minus after the number is ignored.
    pub value: Option<f64>,
    /// Mean of the points in percent of the maximum, for topics that have one.
    pub percent: Option<f64>,
    /// The number of graded topics or students, with and without a number.
    pub graded: usize,
}

/// The grade book of a class or of one of its courses.
#[derive(Debug, Clone, PartialEq)]
pub struct GradeBook {
    /// By deadline.
    pub topics: Vec<GradeBookTopic>,
    /// One row for each student, in the order given; the cells follow the order of the topics, without those on which
    /// the student has no group.
    pub rows: Vec<GradeBookRow>,
    /// One mean for each topic, drafts included.
    pub topic_means: Vec<GradeMean>,
}

/// The row of one student.
#[derive(Debug, Clone, PartialEq)]
pub struct GradeBookRow {
    pub student: UserId,
    pub cells: Vec<GradeBookCell>,
    /// Of the published grades, which the student knows.
    pub mean: GradeMean,
}

impl GradedWork {
    /// Returns the grade that counts for a student: the own grade if it has a value or points, otherwise that of the
    /// group. Only members of the submission have one.
    pub fn grade_of(&self, student: &UserId) -> Option<EffectiveGrade> {
        if !self.member_ids.contains(student) {
            return None;
        }
        let (group, status) = self.grade.as_ref()?;
        let own = self.member_grades.get(student).filter(|own| own.is_set());
        let content = own.or_else(|| group.is_set().then_some(group))?;
        Some(EffectiveGrade {
            content: content.clone(),
            status: *status,
            is_individual: own.is_some(),
        })
    }
}

impl GradeContent {
    fn is_set(&self) -> bool {
        self.value.is_some() || self.points.is_some()
    }
}

impl GroupWorkState {
    /// Returns whether the deadline of the group has passed without a submission. Returned work was submitted once.
    fn is_missing(&self, topic: &GradeBookTopic, now: Timestamp) -> bool {
        let limit = self
            .late_allowed_until
            .map_or(topic.deadline, |grace| grace.max(topic.deadline));
        let is_open = match self.status {
            GroupAssignmentStatus::NotStarted | GroupAssignmentStatus::InProgress => true,
            GroupAssignmentStatus::Submitted | GroupAssignmentStatus::Returned | GroupAssignmentStatus::Graded => false,
        };
        is_open && limit < now
    }

    fn cell(&self, topic: &GradeBookTopic, student: &UserId, now: Timestamp) -> GradeBookCell {
        GradeBookCell {
            assignment_id: self.assignment_id.clone(),
            link_id: self.link_id.clone(),
            group: self.group.clone(),
            status: self.status,
            is_late: self.work.as_ref().is_some_and(|work| work.is_late),
            is_missing: self.is_missing(topic, now),
            grade: self.work.as_ref().and_then(|work| work.grade_of(student)),
        }
    }
}

impl GradeBook {
    /// Computes the grade book. `students` are the rows in order; `groups` the present groups of each student.
    ///
    /// A student's cell is the work of the group that submitted with the student; without one, the work of the
    /// student's present group on the topic.
    pub fn new(
        topics: Vec<GradeBookTopic>,
        works: &[GroupWorkState],
        students: &[(UserId, BTreeSet<crate::id::GroupId>)],
        now: Timestamp,
    ) -> Self {
        let mut by_topic: HashMap<&AssignmentId, Vec<&GroupWorkState>> = HashMap::new();
        for work in works {
            by_topic.entry(&work.assignment_id).or_default().push(work);
        }
        let cell_of = |topic: &GradeBookTopic, (student, groups): &(UserId, BTreeSet<_>)| {
            let works = by_topic.get(&topic.id)?;
            let submitted = works.iter().find(|state| {
                let work = state.work.as_ref();
                work.is_some_and(|work| work.member_ids.contains(student))
            });
            // Work that a group submitted without the student does not count for the student.
            let present = || works.iter().find(|state| groups.contains(&state.group.id));
            submitted.or_else(present).map(|state| state.cell(topic, student, now))
        };
        let mut columns: Vec<MeanOfGrades> = vec![MeanOfGrades::default(); topics.len()];
        let rows = students
            .iter()
            .map(|row| {
                let mut mean = MeanOfGrades::default();
                let mut cells = Vec::new();
                for (topic, column) in topics.iter().zip(&mut columns) {
                    let Some(cell) = cell_of(topic, row) else { continue };
                    if let Some(grade) = &cell.grade {
                        column.add(&grade.content, topic);
                        if grade.status == GradeStatus::Published {
                            mean.add(&grade.content, topic);
                        }
                    }
                    cells.push(cell);
                }
                GradeBookRow {
                    student: row.0.clone(),
                    cells,
                    mean: mean.finish(),
                }
            })
            .collect();
        Self {
            topics,
            rows,
            topic_means: columns.into_iter().map(MeanOfGrades::finish).collect(),
        }
    }
}

#[derive(Clone, Default)]
struct MeanOfGrades {
    values: Vec<f64>,
    percents: Vec<f64>,
    graded: usize,
}

impl MeanOfGrades {
    fn add(&mut self, grade: &GradeContent, topic: &GradeBookTopic) {
        self.graded += 1;
        self.values.extend(grade.value.as_ref().and_then(numeric_value));
        let percent = grade.points.zip(topic.max_points).filter(|(_, max)| max.get() > 0.0);
        self.percents
            .extend(percent.map(|(points, max)| points.get() / max.get() * 100.0));
    }

    fn finish(self) -> GradeMean {
        GradeMean {
            value: mean(&self.values),
            percent: mean(&self.percents),
            graded: self.graded,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a class has fewer than 2^52 students")]
fn mean(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

#[cfg(test)]
#[path = "grade_book_tests.rs"]
mod tests;
