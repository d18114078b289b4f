//! Grades: kept once, with the submission they judge. Students see a grade only when it is published, and of the
//! grades of single members only their own.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::assignment::Assignment;
use crate::edit::{Edit, optional_text};
use crate::id::{SubmissionId, UserId};
use crate::number::Points;
use crate::policy::{self, Clause};
use crate::refusal::Refusal;
use crate::text::{FeedbackText, GradeScale, GradeValue, optional};
use crate::time::Timestamp;
use crate::word::words;

words! {
    /// Whether students see a grade.
    GradeStatus {
        /// Only staff see it.
        Draft = "DRAFT",
        /// It is out.
        Published = "PUBLISHED",
    }
}

/// The grade of a submission.
#[derive(Clone, Debug, PartialEq)]
pub struct Grade {
    /// The submission it judges.
    pub submission_id: SubmissionId,
    /// A value of the scale.
    pub value: Option<GradeValue>,
    /// Points.
    pub points: Option<Points>,
    /// Words with the grade.
    pub feedback: Option<FeedbackText>,
    /// Whether students see it.
    pub status: GradeStatus,
    /// Rises with every change, so that nobody overwrites a colleague unseen.
    pub version: i64,
    /// Who graded the group last; in what one person sees, who graded that person last.
    pub graded_by_id: UserId,
    /// When.
    pub graded_at: Timestamp,
    /// When it was published.
    pub published_at: Option<Timestamp>,
    /// Grades of single members that differ.
    pub member_grades: Vec<MemberGrade>,
    /// Who wrote the grades of single members, and when; those of earlier releases have none.
    pub member_marks: BTreeMap<UserId, GradeMark>,
}

/// Who wrote a grade, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GradeMark {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub by: UserId,
}

/// A state that a grade has or had.
#[derive(Clone, Debug, PartialEq)]
pub struct GradeState {
    /// Counts the states of the grade from 1.
    pub version: i64,
    /// A value of the scale.
    pub value: Option<GradeValue>,
    /// Points.
    pub points: Option<Points>,
    /// Words with the grade.
    pub feedback: Option<FeedbackText>,
    /// Whether students saw it.
    pub status: GradeStatus,
    /// Grades of single members that differed.
    pub member_grades: Vec<MemberGrade>,
    /// Who made the change that led to this state.
    pub changed_by_id: UserId,
    /// The name of that account.
    pub changed_by_name: String,
    /// When.
    pub changed_at: Timestamp,
}

/// The grade of a single member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, garde::Validate, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MemberGrade {
    /// The member.
    #[garde(skip)]
    pub user_id: UserId,
    /// A value of the scale.
    #[serde(default, deserialize_with = "optional", alias = "grade")]
    #[garde(dive)]
    pub value: Option<GradeValue>,
    /// Points.
    #[serde(default)]
    #[garde(dive)]
    pub points: Option<Points>,
    /// Words for this member.
    #[serde(default, deserialize_with = "optional")]
    #[garde(dive)]
    pub feedback: Option<FeedbackText>,
}

/// What a teacher writes; what is absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, garde::Validate, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GradeEdit {
    /// A value of the scale.
    #[serde(default, deserialize_with = "optional_text", alias = "grade")]
    #[garde(dive)]
    pub value: Edit<GradeValue>,
    /// Points.
    #[serde(default)]
    #[garde(dive)]
    pub points: Edit<Points>,
    /// Words with the grade.
    #[serde(default, deserialize_with = "optional_text")]
    #[garde(dive)]
    pub feedback: Edit<FeedbackText>,
    /// All grades of single members.
    #[serde(default)]
    #[garde(dive, length(max = 50))]
    pub member_grades: Option<Vec<MemberGrade>>,
    /// True publishes, false withdraws, absent leaves it.
    #[serde(default)]
    #[garde(skip)]
    pub publish: Option<bool>,
}

/// What a teacher writes about a document: the grade of the group, without those of single members.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, garde::Validate, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DocumentGradeEdit {
    /// A value of the scale.
    #[serde(default, deserialize_with = "optional_text", alias = "grade")]
    #[garde(dive)]
    pub value: Edit<GradeValue>,
    /// Points.
    #[serde(default)]
    #[garde(dive)]
    pub points: Edit<Points>,
    /// Words with the grade.
    #[serde(default, deserialize_with = "optional_text")]
    #[garde(dive)]
    pub feedback: Edit<FeedbackText>,
    /// True publishes, false withdraws, absent leaves it.
    #[serde(default)]
    #[garde(skip)]
    pub publish: Option<bool>,
}

impl From<DocumentGradeEdit> for GradeEdit {
    fn from(edit: DocumentGradeEdit) -> Self {
        Self {
            value: edit.value,
            points: edit.points,
            feedback: edit.feedback,
            member_grades: None,
            publish: edit.publish,
        }
    }
}

/// What a grade of a submission has to keep.
#[derive(Clone, Copy, Debug)]
pub struct GradeRules<'a> {
    /// The most points of the topic.
    pub max_points: Option<Points>,
    /// The scale of the topic.
    pub scale: Option<&'a GradeScale>,
    /// The members of the submission, as they were when it was handed in; only they can be graded singly.
    pub members: &'a [UserId],
}

impl<'a> GradeRules<'a> {
    /// The rules of a topic for a submission of these members.
    pub fn of(assignment: &'a Assignment, members: &'a [UserId]) -> Self {
        Self {
            max_points: assignment.max_points,
            scale: assignment.grade_scale.as_ref(),
            members,
        }
    }

    /// Whether a value and points can be given at all.
    pub fn take(&self, value: Option<&GradeValue>, points: Option<Points>) -> Result<(), Refusal> {
        if self.scale.zip(value).is_some_and(|(scale, value)| !scale.takes(value)) {
            return Err(Refusal::Invalid {
                path: "value",
                code: "not_in_scale",
                message: "must be a value of the scale of the topic",
            });
        }
        if points.zip(self.max_points).is_some_and(|(points, max)| points > max) {
            return Err(Refusal::Invalid {
                path: "points",
                code: "too_many",
                message: "must not exceed the points of the topic",
            });
        }
        Ok(())
    }

    /// The same for the grades of single members, of which some may be there already.
    fn take_members(&self, grades: &[MemberGrade], before: &[MemberGrade]) -> Result<(), Refusal> {
        let refused = |code, message| Refusal::Invalid {
            path: "memberGrades",
            code,
            message,
        };
        for (place, grade) in grades.iter().enumerate() {
            if !self.members.contains(&grade.user_id) {
                return Err(refused("unknown", "names someone who is not in the submission"));
            }
            if grades[..place].iter().any(|other| other.user_id == grade.user_id) {
                return Err(refused("duplicate", "names someone twice"));
            }
            let own = before.iter().find(|own| own.user_id == grade.user_id);
            let value = grade.value.as_ref();
            let value = value.filter(|value| own.is_none_or(|own| own.value.as_ref() != Some(value)));
            let points = grade.points;
            let points = points.filter(|points| own.is_none_or(|own| own.points != Some(*points)));
            if let Err(Refusal::Invalid { code, message, .. }) = self.take(value, points) {
                return Err(refused(code, message));
            }
        }
        Ok(())
    }
}

/// What writing a grade did to its visibility.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Publication {
    /// It stays with the staff.
    Kept,
    /// It is out, or a grade that is out changed.
    Published,
    /// It was out and is not any more.
    Withdrawn,
}

/// What a teacher changed of a grade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GradeWritten {
    /// Whether students see it.
    pub publication: Publication,
    /// Whether the grade of the group changed.
    pub is_group: bool,
    /// The members whose own grades changed.
    pub members: Vec<UserId>,
}

impl Grade {
    /// The grade before anything was written.
    pub fn blank(submission: SubmissionId, teacher: UserId, now: Timestamp) -> Self {
        Self {
            submission_id: submission,
            value: None,
            points: None,
            feedback: None,
            status: GradeStatus::Draft,
            version: 0,
            graded_by_id: teacher,
            graded_at: now,
            published_at: None,
            member_grades: Vec::new(),
            member_marks: BTreeMap::new(),
        }
    }

    /// Writes what the teacher says; answers nothing when that is what the grade says already. What stays as it was is
    /// not judged anew: the topic may have got another scale since.
    pub fn write(
        &mut self,
        edit: GradeEdit,
        rules: &GradeRules<'_>,
        teacher: &UserId,
        now: Timestamp,
    ) -> Result<Option<GradeWritten>, Refusal> {
        let value = edit.value.value().filter(|value| self.value.as_ref() != Some(value));
        let points = edit.points.value().copied();
        rules.take(value, points.filter(|points| self.points != Some(*points)))?;
        if let Some(grades) = &edit.member_grades {
            rules.take_members(grades, &self.member_grades)?;
        }
        let was_published = self.status == GradeStatus::Published;
        let is_published = edit.publish.unwrap_or(was_published);
        let mut written = self.clone();
        written.value = edit.value.resolve(written.value);
        written.points = edit.points.resolve(written.points);
        written.feedback = edit.feedback.resolve(written.feedback);
        if let Some(mut grades) = edit.member_grades {
            // The store keeps them in this order; what was only sent in another one is no change.
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

    /// Whether those who have no grade of their own see the same.
    fn is_same_for_group(&self, other: &Self) -> bool {
        let seen = |grade: &Self| (grade.value.clone(), grade.points, grade.feedback.clone(), grade.status);
        seen(self) == seen(other)
    }

    /// The members whose own grades came, changed or went.
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

    /// Whether it says nothing at all.
    pub fn is_empty(&self) -> bool {
        self.value.is_none() && self.points.is_none() && self.feedback.is_none() && self.member_grades.is_empty()
    }

    /// What a student sees of it: nothing before it is published, and of the others' grades nothing at all.
    pub fn for_student(&self, student: &UserId) -> Option<Self> {
        self.is_shown().then(|| {
            let mut own = self.clone();
            own.member_grades.retain(|grade| grade.user_id == *student);
            own.member_marks.retain(|user, _| user == student);
            own.with_last_mark()
        })
    }

    /// What the staff see of it: everything, with the time of what was written last.
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
        policy::holds(Clause::GradePublished, self.status == GradeStatus::Published)
    }

    /// What the whole group sees of it: the group's grade without those of single members.
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
