//! Grades of submissions. Students see a grade only once it is published, and of the individual grades only their own.

use api_macros::body;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::assignment::Assignment;
use crate::domain_error::DomainError;
use crate::file::GradeFile;
use crate::id::{SubmissionId, UserId};
use crate::number::Points;
use crate::patch::{FieldPatch, optional_text};
use crate::rubric::{CRITERIA_MAX, NewRubricMark, RubricMark, TopicRubric};
use crate::string_enum::string_enum;
use crate::text::{FeedbackText, GradeScale, GradeValue, optional};
use crate::time::Timestamp;

string_enum! {
    /// Visibility of a grade.
    GradeStatus {
        /// Visible to staff only.
        Draft = "DRAFT",
        /// Visible to the students.
        Published = "PUBLISHED",
    }
}

/// The grade of a submission.
#[derive(Clone, Debug, PartialEq)]
pub struct Grade {
    pub submission_id: SubmissionId,
    /// A value of the grade scale.
    pub value: Option<GradeValue>,
    pub points: Option<Points>,
    /// Comment on the grade.
    pub feedback: Option<FeedbackText>,
    /// The filled criteria of the topic's rubric.
    pub rubric: Vec<RubricMark>,
    /// Files for the group, oldest first. They have rows of their own and no history.
    pub files: Vec<GradeFile>,
    pub status: GradeStatus,
    /// Incremented with every change; used to detect concurrent changes by several teachers.
    pub version: i64,
    /// The teacher who last graded the group or, in the view of one student, that student.
    pub graded_by_id: UserId,
    pub graded_at: Timestamp,
    pub published_at: Option<Timestamp>,
    /// Individual grades of members that differ from the grade of the group.
    pub member_grades: Vec<MemberGrade>,
    /// Who set the individual grades, and when; no entry for grades of earlier releases.
    pub member_marks: BTreeMap<UserId, GradeMark>,
}

/// Who set a grade, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GradeMark {
    pub at: Timestamp,
    pub by: UserId,
}

/// A present or former state of a grade.
#[derive(Clone, Debug, PartialEq)]
pub struct GradeState {
    /// Number of the state, from 1.
    pub version: i64,
    /// A value of the grade scale.
    pub value: Option<GradeValue>,
    pub points: Option<Points>,
    /// Comment on the grade.
    pub feedback: Option<FeedbackText>,
    /// The filled criteria of the topic's rubric.
    pub rubric: Vec<RubricMark>,
    pub status: GradeStatus,
    /// Individual grades of members that differed from the grade of the group.
    pub member_grades: Vec<MemberGrade>,
    /// The user whose change led to this state.
    pub changed_by_id: UserId,
    /// The name of that user.
    pub changed_by_name: String,
    pub changed_at: Timestamp,
}

/// The individual grade of a member.
#[body(PartialEq, Serialize)]
pub struct MemberGrade {
    pub user_id: UserId,
    /// A value of the grade scale.
    #[serde(default, deserialize_with = "optional", alias = "grade")]
    pub value: Option<GradeValue>,
    pub points: Option<Points>,
    /// Comment for this member.
    #[serde(default, deserialize_with = "optional")]
    pub feedback: Option<FeedbackText>,
}

/// A change of a grade by a teacher. Absent fields are unchanged.
#[body(Default, PartialEq)]
pub struct GradeEdit {
    /// A value of the grade scale.
    #[serde(default, deserialize_with = "optional_text", alias = "grade")]
    pub value: FieldPatch<GradeValue>,
    /// Points, at most the maximum of the topic.
    pub points: FieldPatch<Points>,
    /// Comment on the grade.
    #[serde(default, deserialize_with = "optional_text")]
    pub feedback: FieldPatch<FeedbackText>,
    /// The filled criteria of the topic's rubric: the complete list, which replaces the present one. A draft may be
    /// filled in part.
    #[garde(dive, length(max = CRITERIA_MAX))]
    #[schema(max_items = 20)]
    pub rubric: Option<Vec<NewRubricMark>>,
    /// The complete list of individual grades; it replaces the present one.
    #[garde(dive, length(max = 50))]
    pub member_grades: Option<Vec<MemberGrade>>,
    /// `true` publishes the grade, `false` withdraws it. If absent, its visibility is unchanged.
    pub publish: Option<bool>,
}

/// A change of the grade of a document: the grade of the group, without individual grades.
#[body(Default, PartialEq)]
pub struct DocumentGradeEdit {
    /// A value of the grade scale.
    #[serde(default, deserialize_with = "optional_text", alias = "grade")]
    pub value: FieldPatch<GradeValue>,
    /// Points, at most the maximum of the topic.
    pub points: FieldPatch<Points>,
    /// Comment on the grade.
    #[serde(default, deserialize_with = "optional_text")]
    pub feedback: FieldPatch<FeedbackText>,
    /// `true` publishes the grade, `false` withdraws it. If absent, its visibility is unchanged.
    pub publish: Option<bool>,
}

impl From<DocumentGradeEdit> for GradeEdit {
    fn from(edit: DocumentGradeEdit) -> Self {
        Self {
            value: edit.value,
            points: edit.points,
            feedback: edit.feedback,
            rubric: None,
            member_grades: None,
            publish: edit.publish,
        }
    }
}

/// Constraints on the grade of a submission.
#[derive(Clone, Copy, Debug)]
pub struct GradeRules<'a> {
    /// Maximum number of points of the topic.
    pub max_points: Option<Points>,
    /// Grade scale of the topic.
    pub scale: Option<&'a GradeScale>,
    /// The members at the time of submission; only they can have individual grades.
    pub members: &'a [UserId],
    /// The rubric of the topic. Needed only where criteria are filled or a grade is published.
    pub rubric: Option<&'a TopicRubric>,
}

impl<'a> GradeRules<'a> {
    /// Returns the constraints of a topic for a submission of these members.
    pub fn of(assignment: &'a Assignment, members: &'a [UserId], rubric: Option<&'a TopicRubric>) -> Self {
        Self {
            max_points: assignment.max_points,
            scale: assignment.grade_scale.as_ref(),
            members,
            rubric,
        }
    }

    /// Resolves the criteria that an edit fills.
    fn fill(&self, marks: &[NewRubricMark]) -> Result<Vec<RubricMark>, DomainError> {
        match self.rubric {
            Some(rubric) => rubric.fill(marks),
            None if marks.is_empty() => Ok(Vec::new()),
            None => Err(DomainError::Invalid {
                path: "rubric",
                code: "no_rubric",
                message: "cannot be filled: the topic has no rubric",
            }),
        }
    }

    /// Rejects publishing criteria that are filled in part.
    fn check_complete(&self, marks: &[RubricMark]) -> Result<(), DomainError> {
        if marks.is_empty() || self.rubric.is_none_or(|rubric| rubric.is_complete(marks)) {
            Ok(())
        } else {
            Err(DomainError::RubricIncomplete)
        }
    }

    /// Rejects a value that is not in the scale, and points above the maximum.
    pub fn check(&self, value: Option<&GradeValue>, points: Option<Points>) -> Result<(), DomainError> {
        if self
            .scale
            .zip(value)
            .is_some_and(|(scale, value)| !scale.accepts(value))
        {
            return Err(DomainError::Invalid {
                path: "value",
                code: "not_in_scale",
                message: "must be a value of the scale of the topic",
            });
        }
        if points.zip(self.max_points).is_some_and(|(points, max)| points > max) {
            return Err(DomainError::Invalid {
                path: "points",
                code: "too_many",
                message: "must not exceed the points of the topic",
            });
        }
        Ok(())
    }

    /// Like [`Self::check`], for individual grades. Values that did not change are not checked again.
    fn check_members(&self, grades: &[MemberGrade], before: &[MemberGrade]) -> Result<(), DomainError> {
        let refused = |code, message| DomainError::Invalid {
            path: "memberGrades",
            code,
            message,
        };
        for (index, grade) in grades.iter().enumerate() {
            if !self.members.contains(&grade.user_id) {
                return Err(refused("unknown", "names someone who is not in the submission"));
            }
            if grades[..index].iter().any(|other| other.user_id == grade.user_id) {
                return Err(refused("duplicate", "names someone twice"));
            }
            let own = before.iter().find(|own| own.user_id == grade.user_id);
            let value = grade.value.as_ref();
            let value = value.filter(|value| own.is_none_or(|own| own.value.as_ref() != Some(value)));
            let points = grade.points;
            let points = points.filter(|points| own.is_none_or(|own| own.points != Some(*points)));
            if let Err(DomainError::Invalid { code, message, .. }) = self.check(value, points) {
                return Err(refused(code, message));
            }
        }
        Ok(())
    }
}

/// Effect of a change on the visibility of a grade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Publication {
    /// It remains visible to staff only.
    Kept,
    /// The grade was published, or a published grade changed.
    Published,
    /// The grade is no longer published.
    Withdrawn,
}

/// What a change of a grade affected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GradeWritten {
    pub publication: Publication,
    /// Whether the grade of the group changed.
    pub is_group: bool,
    /// The members whose individual grades changed.
    pub members: Vec<UserId>,
}

impl Grade {
    /// Returns the initial grade of a submission, before the first change.
    pub fn blank(submission: SubmissionId, teacher: UserId, now: Timestamp) -> Self {
        Self {
            submission_id: submission,
            value: None,
            points: None,
            feedback: None,
            rubric: Vec::new(),
            files: Vec::new(),
            status: GradeStatus::Draft,
            version: 0,
            graded_by_id: teacher,
            graded_at: now,
            published_at: None,
            member_grades: Vec::new(),
            member_marks: BTreeMap::new(),
        }
    }

    /// Applies a change; returns `None` if it changes nothing. Values that stay the same are not validated again,
    /// because the topic may have another scale by now.
    pub fn write(
        &mut self,
        edit: GradeEdit,
        rules: &GradeRules<'_>,
        teacher: &UserId,
        now: Timestamp,
    ) -> Result<Option<GradeWritten>, DomainError> {
        let value = edit.value.value().filter(|value| self.value.as_ref() != Some(value));
        let points = edit.points.value().copied();
        rules.check(value, points.filter(|points| self.points != Some(*points)))?;
        if let Some(grades) = &edit.member_grades {
            rules.check_members(grades, &self.member_grades)?;
        }
        let was_published = self.status == GradeStatus::Published;
        let is_published = edit.publish.unwrap_or(was_published);
        let mut written = self.clone();
        written.value = edit.value.resolve(written.value);
        written.points = edit.points.resolve(written.points);
        written.feedback = edit.feedback.resolve(written.feedback);
        if let Some(marks) = &edit.rubric {
            written.rubric = rules.fill(marks)?;
        }
        if is_published && (edit.rubric.is_some() || edit.publish == Some(true)) {
            rules.check_complete(&written.rubric)?;
        }
        if let Some(mut grades) = edit.member_grades {
            // The database returns them in this order; a different order alone is not a change.
            grades.sort_by(|left, right| left.user_id.cmp(&right.user_id));
            written.member_grades = grades;
        }
        written.status = if is_published {
            GradeStatus::Published
        } else {
            GradeStatus::Draft
        };
        if written == *self {
            return Ok(None);
        }
        let members = written.members_changed_since(self);
        let is_group = self.version == 0 && members.is_empty() || !written.is_same_for_group(self);
        written.version += 1;
        let mark = GradeMark {
            at: now,
            by: teacher.clone(),
        };
        if is_group || self.version == 0 {
            written.graded_by_id = mark.by.clone();
            written.graded_at = mark.at;
        }
        let is_there = |user: &UserId| written.member_grades.iter().any(|grade| grade.user_id == *user);
        written.member_marks.retain(|user, _| is_there(user));
        let marked = members.iter().filter(|user| is_there(user));
        let marked: Vec<_> = marked.map(|user| (user.clone(), mark.clone())).collect();
        written.member_marks.extend(marked);
        written.published_at = if is_published {
            self.published_at.or(Some(now))
        } else {
            None
        };
        *self = written;
        let publication = match (was_published, is_published) {
            (_, true) => Publication::Published,
            (true, false) => Publication::Withdrawn,
            (false, false) => Publication::Kept,
        };
        let members = members.into_iter().collect();
        Ok(Some(GradeWritten {
            publication,
            is_group,
            members,
        }))
    }

    /// Returns whether members without an individual grade see the same grade.
    fn is_same_for_group(&self, other: &Self) -> bool {
        let seen = |grade: &Self| (grade.value.clone(), grade.points, grade.feedback.clone(), grade.status);
        seen(self) == seen(other) && self.rubric == other.rubric
    }

    /// Returns the members whose individual grades were added, changed or removed.
    fn members_changed_since(&self, before: &Self) -> BTreeSet<UserId> {
        let differs = |grade: &&MemberGrade, others: &[MemberGrade]| !others.contains(grade);
        let new = self
            .member_grades
            .iter()
            .filter(|grade| differs(grade, &before.member_grades));
        let old = before
            .member_grades
            .iter()
            .filter(|grade| differs(grade, &self.member_grades));
        new.chain(old).map(|grade| grade.user_id.clone()).collect()
    }

    /// Returns whether the grade has no content.
    pub fn is_empty(&self) -> bool {
        self.value.is_none()
            && self.points.is_none()
            && self.feedback.is_none()
            && self.rubric.is_empty()
            && self.files.is_empty()
            && self.member_grades.is_empty()
    }

    /// Returns whether the criteria are filled in part, so that the grade cannot be published.
    pub fn is_rubric_incomplete(&self, rubric: Option<&TopicRubric>) -> bool {
        !self.rubric.is_empty() && rubric.is_some_and(|rubric| !rubric.is_complete(&self.rubric))
    }

    /// Returns the grade as visible to a student: `None` unless it is published, and without the individual grades of
    /// others.
    pub fn for_student(&self, student: &UserId) -> Option<Self> {
        self.is_shown().then(|| {
            let mut own = self.clone();
            own.member_grades.retain(|grade| grade.user_id == *student);
            own.member_marks.retain(|user, _| user == student);
            own.with_last_mark()
        })
    }

    /// Returns the grade as visible to staff: everything, with the time and author of the latest change.
    #[must_use]
    pub fn for_staff(&self) -> Self {
        self.clone().with_last_mark()
    }

    fn with_last_mark(mut self) -> Self {
        let last = self.member_marks.values().max_by_key(|mark| mark.at);
        if let Some(mark) = last.filter(|mark| mark.at > self.graded_at).cloned() {
            self.graded_at = mark.at;
            self.graded_by_id = mark.by;
        }
        self
    }

    fn is_shown(&self) -> bool {
        self.status == GradeStatus::Published
    }

    /// Returns the grade as visible to the whole group: `None` unless it is published, and without individual grades.
    pub fn for_group(&self) -> Option<Self> {
        self.is_shown().then(|| Self {
            member_grades: Vec::new(),
            member_marks: BTreeMap::new(),
            ..self.clone()
        })
    }
}

#[cfg(test)]
#[path = "grade_tests.rs"]
mod tests;
