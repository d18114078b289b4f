//! Homerooms: the fixed classes a school keeps, from which students are enrolled into teaching classes.

use serde::{Deserialize, Serialize};

use crate::edit::{Changed, Edit, not_null, optional_text};
use crate::id::{EnrollmentId, HomeroomId, OrganizationId, UserId};
use crate::refusal::Refusal;
use crate::text::{AcademicYear, ExternalId, GradeLevel, ShortName};
use crate::time::Timestamp;

/// A class as the school keeps it, apart from its teaching.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Homeroom {
    /// Its id.
    pub id: HomeroomId,
    /// The tenant.
    pub organization_id: OrganizationId,
    /// Its name, unique with the year in the organization.
    pub name: ShortName,
    /// Grade level.
    pub grade_level: Option<GradeLevel>,
    /// School year.
    pub academic_year: Option<AcademicYear>,
    /// The homeroom teacher.
    pub teacher_id: Option<UserId>,
    /// Id in the school's own administration.
    pub external_id: Option<ExternalId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// What a PATCH may change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, garde::Validate, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HomeroomEdit {
    /// New name.
    #[serde(default)]
    #[garde(dive, custom(not_null))]
    pub name: Edit<ShortName>,
    /// New grade level.
    #[serde(default, deserialize_with = "optional_text")]
    #[garde(dive)]
    pub grade_level: Edit<GradeLevel>,
    /// New school year.
    #[serde(default, deserialize_with = "optional_text")]
    #[garde(dive)]
    pub academic_year: Edit<AcademicYear>,
    /// New homeroom teacher.
    #[serde(default)]
    #[garde(skip)]
    pub teacher_id: Edit<UserId>,
}

impl Homeroom {
    /// Applies a PATCH.
    pub fn edit(&mut self, edit: HomeroomEdit, now: Timestamp) -> Result<Changed, Refusal> {
        let mut changed = Changed::new();
        changed.edit("name", &mut self.name, edit.name)?;
        changed.edit_nullable("gradeLevel", &mut self.grade_level, edit.grade_level);
        changed.edit_nullable("academicYear", &mut self.academic_year, edit.academic_year);
        changed.edit_nullable("teacherId", &mut self.teacher_id, edit.teacher_id);
        if !changed.is_empty() {
            self.updated_at = now;
        }
        Ok(changed)
    }
}

/// A student's place in a homeroom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HomeroomEnrollment {
    /// Its id.
    pub id: EnrollmentId,
    /// The homeroom.
    pub homeroom_id: HomeroomId,
    /// The student.
    pub student_id: UserId,
    /// Since when.
    pub enrolled_at: Timestamp,
}

/// The homeroom as others mention it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HomeroomLabel {
    /// Its id.
    pub id: HomeroomId,
    /// Its name.
    pub name: String,
}
