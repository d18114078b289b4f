//! Grades: kept once, with the submission they judge. Students see a grade only when it is published, and of the
//! grades of single members only their own.

use serde::{Deserialize, Serialize};

use crate::edit::{Edit, optional_text};
use crate::id::{SubmissionId, UserId};
use crate::number::Points;
use crate::policy::{self, Clause};
use crate::refusal::Refusal;
use crate::text::{FeedbackText, GradeValue, optional};
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
    /// Who graded last.
    pub graded_by_id: UserId,
    /// When.
    pub graded_at: Timestamp,
    /// When it was published.
    pub published_at: Option<Timestamp>,
    /// Grades of single members that differ.
    pub member_grades: Vec<MemberGrade>,
}

/// The grade of a single member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, garde::Validate, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MemberGrade {
    /// The member.
    #[garde(skip)]
    pub user_id: UserId,
    /// A value of the scale.
    #[serde(default, deserialize_with = "optional")]
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
    #[serde(default, deserialize_with = "optional_text")]
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
        }
    }

    /// Writes what the teacher says. `members` are the members of the submission; only they can be graded singly.
    pub fn write(
        &mut self,
        edit: GradeEdit,
        max_points: Option<Points>,
        members: &[UserId],
        teacher: &UserId,
        now: Timestamp,
    ) -> Result<Publication, Refusal> {
        let member_grades = edit.member_grades.unwrap_or_else(|| self.member_grades.clone());
        if member_grades.iter().any(|grade| !members.contains(&grade.user_id)) {
            return Err(Refusal::Invalid {
                path: "memberGrades",
                code: "unknown",
                message: "names someone who is not in the submission",
            });
        }
        let points = edit.points.resolve(self.points);
        let given = points
            .into_iter()
            .chain(member_grades.iter().filter_map(|grade| grade.points));
        if given
            .into_iter()
            .any(|points| max_points.is_some_and(|max| points > max))
        {
            return Err(Refusal::Invalid {
                path: "points",
                code: "too_many",
                message: "must not exceed the points of the topic",
            });
        }
        let was_published = self.status == GradeStatus::Published;
        let is_published = edit.publish.unwrap_or(was_published);
        self.value = edit.value.resolve(self.value.take());
        self.points = points;
        self.feedback = edit.feedback.resolve(self.feedback.take());
        self.member_grades = member_grades;
        self.version += 1;
        self.graded_by_id = teacher.clone();
        self.graded_at = now;
        self.status = if is_published {
            GradeStatus::Published
        } else {
            GradeStatus::Draft
        };
        self.published_at = if is_published {
            self.published_at.or(Some(now))
        } else {
            None
        };
        Ok(match (was_published, is_published) {
            (_, true) => Publication::Published,
            (true, false) => Publication::Withdrawn,
            (false, false) => Publication::Kept,
        })
    }

    /// What a student sees of it: nothing before it is published, and of the others' grades nothing at all.
    pub fn for_student(&self, student: &UserId) -> Option<Self> {
        self.is_shown().then(|| {
            let mut own = self.clone();
            own.member_grades.retain(|grade| grade.user_id == *student);
            own
        })
    }

    fn is_shown(&self) -> bool {
        policy::holds(Clause::GradePublished, self.status == GradeStatus::Published)
    }

    /// What the whole group sees of it: the group's grade without those of single members.
    pub fn for_group(&self) -> Option<Self> {
        self.is_shown().then(|| Self {
            member_grades: Vec::new(),
            ..self.clone()
        })
    }
}

#[cfg(test)]
#[path = "grade_tests.rs"]
mod tests;
