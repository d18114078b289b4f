//! Classes: who manages them, who sees them, and the rules for changing their status.

use api_macros::{patch, view};
use serde::Deserialize;

use crate::access::Viewer;
use crate::domain_error::DomainError;
use crate::id::{ClassId, EnrollmentId, HomeroomId, OrganizationId, UserId};
use crate::list::List;
use crate::patch::{FieldDiff, FieldPatch, not_null, optional_label, optional_text};
use crate::schedule::Schedule;
use crate::string_enum::string_enum;
use crate::text::{AcademicYear, ExternalId, Name, Semester};
use crate::time::Timestamp;
use crate::zone::DateOrTime;

string_enum! {
    /// Status of a class.
    ClassStatus {
        Active = "ACTIVE",
        /// The class is over: members may read, and writes are rejected.
        Archived = "ARCHIVED",
        /// The class is being prepared and is not visible to students.
        Draft = "DRAFT",
    }
}

string_enum! {
    /// How a student was enrolled in a class.
    EnrolledBy {
        /// By a teacher of the class.
        Teacher = "teacher",
        /// By an admin of the organization.
        Admin = "admin",
        /// By an import from the school's administration system.
        Import = "import",
        /// By a teacher of the class, with all students of a homeroom, or because the class follows the homeroom.
        Homeroom = "homeroom",
    }
}

string_enum! {
    /// How a co-teacher was added to a class.
    CoTeacherOrigin {
        /// By a user, also by accepting an invitation.
        Person = "person",
        /// By an import from the school's administration system.
        Import = "import",
    }
}

impl EnrolledBy {
    /// Returns how an enrolment by this caller is recorded.
    pub const fn caller(viewer: &Viewer) -> Self {
        match viewer {
            Viewer::Admin => Self::Admin,
            Viewer::Teacher(_) | Viewer::Student(_) => Self::Teacher,
        }
    }

    /// Returns how an enrolment of a whole homeroom by this caller is recorded. Selecting a homeroom does not give a
    /// teacher rights over its students: otherwise creating a class would be enough to take over their accounts.
    pub const fn caller_with_homeroom(viewer: &Viewer) -> Self {
        match viewer {
            Viewer::Admin => Self::Admin,
            Viewer::Teacher(_) | Viewer::Student(_) => Self::Homeroom,
        }
    }

    /// Returns whether the organization itself, and not a teacher, enrolled the student.
    pub const fn is_of_school(self) -> bool {
        matches!(self, Self::Admin | Self::Import)
    }
}

impl ClassStatus {
    /// Returns the new status, or rejects the transition: an archived class cannot become a draft, and an active class
    /// only if it has neither groups nor topics.
    pub const fn change_to(self, wanted: Self, is_empty: bool) -> Result<Self, DomainError> {
        match (self, wanted) {
            (Self::Archived, Self::Draft) => Err(DomainError::ClassArchived),
            (Self::Active, Self::Draft) if !is_empty => Err(DomainError::ClassNotEmpty),
            (_, wanted) => Ok(wanted),
        }
    }

    /// Rejects writes to an archived class.
    pub fn writable(self) -> Result<(), DomainError> {
        match self {
            Self::Archived => Err(DomainError::ClassArchived),
            Self::Draft | Self::Active => Ok(()),
        }
    }
}

/// Students and teachers who work together for a school year.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    pub id: ClassId,
    pub organization_id: OrganizationId,
    pub name: Name,
    pub academic_year: AcademicYear,
    /// Semester, a free-form label.
    pub semester: Option<Semester>,
    pub start_date: Option<Timestamp>,
    pub end_date: Option<Timestamp>,
    pub status: ClassStatus,
    /// The teacher who owns the class.
    pub teacher_id: UserId,
    /// The homeroom the class was created from.
    pub homeroom_id: Option<HomeroomId>,
    /// Whether students who join or leave the homeroom join or leave the class.
    pub follows_homeroom: bool,
    /// Id in the school's administration system.
    pub external_id: Option<ExternalId>,
    /// Weekly timetable.
    pub schedule: Option<Schedule>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Fields of a class that a PATCH request may change.
// Subjects are stored as links; `Class::edit` leaves them to the caller.
#[patch(PartialEq, Eq)]
pub struct ClassEdit {
    #[garde(dive, custom(not_null))]
    pub name: FieldPatch<Name>,
    #[garde(dive, custom(not_null))]
    pub academic_year: FieldPatch<AcademicYear>,
    /// New semester, a free-form label.
    #[serde(default, deserialize_with = "optional_label")]
    #[schema(schema_with = crate::text::semester_schema)]
    pub semester: FieldPatch<Semester>,
    pub start_date: FieldPatch<DateOrTime>,
    pub end_date: FieldPatch<DateOrTime>,
    #[garde(custom(not_null))]
    pub status: FieldPatch<ClassStatus>,
    /// New owner. Only admins may change the owner.
    #[garde(custom(not_null))]
    pub teacher_id: FieldPatch<UserId>,
    /// The homeroom the class is created from.
    pub homeroom_id: FieldPatch<HomeroomId>,
    /// Whether students who join or leave the homeroom join or leave the class. Requires a homeroom.
    #[garde(custom(not_null))]
    pub follows_homeroom: FieldPatch<bool>,
    /// New id in the school's administration system.
    #[serde(default, deserialize_with = "optional_text")]
    pub external_id: FieldPatch<ExternalId>,
    /// New weekly timetable.
    pub schedule: FieldPatch<Schedule>,
    /// The complete list of subjects of the class; it replaces the present one.
    #[garde(dive, custom(not_null))]
    pub subject_ids: FieldPatch<List<crate::id::SubjectId>>,
}

impl Class {
    /// Returns whether the viewer manages the class: admins, its owner and its co-teachers do.
    pub fn managed_by(&self, viewer: &Viewer, co_teachers: &[UserId]) -> bool {
        match viewer {
            Viewer::Admin => true,
            Viewer::Teacher(teacher) => self.teacher_id == *teacher || co_teachers.contains(teacher),
            Viewer::Student(_) => false,
        }
    }

    /// Rejects viewers who do not manage the class.
    pub fn require_managed_by(&self, viewer: &Viewer, co_teachers: &[UserId]) -> Result<(), DomainError> {
        if self.managed_by(viewer, co_teachers) {
            Ok(())
        } else {
            Err(DomainError::NotClassTeacher)
        }
    }

    /// Returns whether the viewer is the owner of the class or an admin. Only they may change the co-teachers.
    pub fn owned_by(&self, viewer: &Viewer) -> bool {
        self.managed_by(viewer, &[])
    }

    /// Returns whether the viewer may see the class: staff always may, students if they are enrolled and the class is
    /// not a draft.
    pub fn visible_to(&self, viewer: &Viewer, is_enrolled: bool) -> bool {
        viewer.is_staff() || (is_enrolled && self.status != ClassStatus::Draft)
    }

    /// Rejects writes to an archived class. Not checked for saves of the document server, for read receipts and for the
    /// deletion of the class.
    pub fn writable(&self) -> Result<(), DomainError> {
        self.status.writable()
    }

    /// Applies a PATCH by a viewer who manages the class. `is_empty` means that it has neither groups nor topics.
    pub fn edit(
        &mut self,
        edit: ClassEdit,
        viewer: &Viewer,
        is_empty: bool,
        now: Timestamp,
    ) -> Result<FieldDiff, DomainError> {
        let mut edited = self.clone();
        let mut changed = FieldDiff::new();
        if let Some(wanted) = edit.status.required("status")? {
            let wanted = edited.status.change_to(wanted, is_empty)?;
            changed.write("status", &mut edited.status, wanted);
        }
        let mut fields = FieldDiff::new();
        fields.edit("name", &mut edited.name, edit.name)?;
        fields.edit("academicYear", &mut edited.academic_year, edit.academic_year)?;
        fields.edit_nullable("semester", &mut edited.semester, edit.semester);
        fields.edit_nullable(
            "startDate",
            &mut edited.start_date,
            edit.start_date.map(DateOrTime::moment),
        );
        fields.edit_nullable("endDate", &mut edited.end_date, edit.end_date.map(DateOrTime::moment));
        fields.edit("teacherId", &mut edited.teacher_id, edit.teacher_id)?;
        fields.edit_nullable("homeroomId", &mut edited.homeroom_id, edit.homeroom_id);
        edited.edit_following(edit.follows_homeroom, &mut fields)?;
        fields.edit_nullable("externalId", &mut edited.external_id, edit.external_id);
        fields.edit_nullable("schedule", &mut edited.schedule, edit.schedule);
        let hands_over = fields.has("teacherId");
        if hands_over && *viewer != Viewer::Admin {
            return Err(DomainError::AdminOnly);
        }
        // An archived class accepts only a change of its status; other fields may change in the same request.
        if !fields.is_empty() && self.status == ClassStatus::Archived {
            edited.writable()?;
        }
        if edited
            .end_date
            .zip(edited.start_date)
            .is_some_and(|(end, start)| end < start)
        {
            return Err(DomainError::Invalid {
                path: "endDate",
                code: "order",
                message: "must not be before startDate",
            });
        }
        changed.extend(fields);
        if !changed.is_empty() {
            edited.updated_at = now;
        }
        *self = edited;
        Ok(changed)
    }

    /// Applies `followsHomeroom`. A class without a homeroom stops following.
    fn edit_following(&mut self, edit: FieldPatch<bool>, fields: &mut FieldDiff) -> Result<(), DomainError> {
        let wanted = edit.required("followsHomeroom")?;
        let has_homeroom = self.homeroom_id.is_some();
        if wanted == Some(true) && !has_homeroom {
            return Err(DomainError::Invalid {
                path: "followsHomeroom",
                code: "needs_homeroom",
                message: "needs a homeroomId",
            });
        }
        let follows = wanted.unwrap_or(self.follows_homeroom) && has_homeroom;
        fields.write("followsHomeroom", &mut self.follows_homeroom, follows);
        Ok(())
    }

    /// Returns whether changes of the homeroom change the enrolments now. Archived classes do not follow.
    pub fn is_following(&self) -> bool {
        self.follows_homeroom && self.status != ClassStatus::Archived
    }

    /// Rejects a single unenrolment of a student whom the homeroom would enrol again.
    pub fn may_unenroll(&self, is_in_homeroom: bool) -> Result<(), DomainError> {
        if self.is_following() && is_in_homeroom {
            Err(DomainError::ClassFollowsHomeroom)
        } else {
            Ok(())
        }
    }

    /// Rejects the deletion of a class that still has courses, groups or topics, unless `force` is set.
    pub const fn removable(&self, is_empty: bool, force: bool) -> Result<(), DomainError> {
        if is_empty || force {
            Ok(())
        } else {
            Err(DomainError::ClassNotEmpty)
        }
    }

    pub fn label(&self) -> ClassLabel {
        ClassLabel {
            id: self.id.clone(),
            name: self.name.as_str().to_owned(),
            academic_year: self.academic_year.as_str().to_owned(),
            status: self.status,
        }
    }
}

/// Summary of a class, as embedded in other objects.
#[view(PartialEq, Eq, Deserialize)]
pub struct ClassLabel {
    pub id: ClassId,
    pub name: String,
    pub academic_year: String,
    pub status: ClassStatus,
}

/// Enrolment of a student in a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassEnrollment {
    pub id: EnrollmentId,
    pub class_id: ClassId,
    pub student_id: UserId,
    pub enrolled_at: Timestamp,
    /// When the student completed the class. Informational only; the service does not use it.
    pub completed_at: Option<Timestamp>,
}

#[cfg(test)]
#[path = "class_tests.rs"]
mod tests;
