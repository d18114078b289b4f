//! Homerooms: the permanent administrative classes of a school, from which students are enrolled in teaching classes.

use api_macros::{patch, view};
use serde::Deserialize;

use crate::domain_error::DomainError;
use crate::id::{EnrollmentId, HomeroomId, OrganizationId, UserId};
use crate::patch::{FieldDiff, FieldPatch, not_null, optional_text};
use crate::string_enum::string_enum;
use crate::text::{AcademicYear, ExternalId, GradeLevel, ShortName};
use crate::time::Timestamp;

string_enum! {
    /// Why no class was created for a homeroom.
    HomeroomClassProblem {
        /// The homeroom is unknown.
        NotFound = "NOT_FOUND",
        /// The homeroom has a class in the school year.
        HasClass = "HAS_CLASS",
        /// Neither the homeroom nor the request names a teacher of the organization.
        NoTeacher = "NO_TEACHER",
    }
}

/// An administrative class of the school, independent of its lessons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Homeroom {
    pub id: HomeroomId,
    pub organization_id: OrganizationId,
    /// Unique within the organization and school year.
    pub name: ShortName,
    pub grade_level: Option<GradeLevel>,
    pub academic_year: Option<AcademicYear>,
    pub teacher_id: Option<UserId>,
    /// Id in the school's administration system.
    pub external_id: Option<ExternalId>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Fields of a homeroom that a PATCH request may change.
#[patch(PartialEq, Eq)]
pub struct HomeroomEdit {
    #[garde(dive, custom(not_null))]
    pub name: FieldPatch<ShortName>,
    #[serde(default, deserialize_with = "optional_text")]
    pub grade_level: FieldPatch<GradeLevel>,
    #[serde(default, deserialize_with = "optional_text")]
    pub academic_year: FieldPatch<AcademicYear>,
    /// New homeroom teacher.
    pub teacher_id: FieldPatch<UserId>,
}

impl Homeroom {
    /// Applies a PATCH.
    pub fn edit(&mut self, edit: HomeroomEdit, now: Timestamp) -> Result<FieldDiff, DomainError> {
        let mut changed = FieldDiff::new();
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

/// Membership of a student in a homeroom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HomeroomEnrollment {
    pub id: EnrollmentId,
    pub homeroom_id: HomeroomId,
    pub student_id: UserId,
    pub enrolled_at: Timestamp,
}

/// Summary of a homeroom, as embedded in other objects.
#[view(PartialEq, Eq, Deserialize)]
pub struct HomeroomLabel {
    pub id: HomeroomId,
    pub name: String,
}
