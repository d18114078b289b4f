//! Classes: who manages them, who sees them, and how their status may change.

use serde::{Deserialize, Serialize};

use crate::access::Viewer;
use crate::edit::{Changed, Edit, not_null, optional_label, optional_text};
use crate::id::{ClassId, EnrollmentId, HomeroomId, OrganizationId, UserId};
use crate::list::List;
use crate::policy::{self, Clause};
use crate::refusal::Refusal;
use crate::schedule::Schedule;
use crate::text::{AcademicYear, ExternalId, Name, Semester};
use crate::time::Timestamp;
use crate::word::words;
use crate::zone::DateOrTime;

words! {
    /// Whether a class is being prepared, at work, or over.
    ClassStatus {
        /// At work.
        Active = "ACTIVE",
        /// Over: everybody may read, nobody writes.
        Archived = "ARCHIVED",
        /// Being prepared: students see nothing of it.
        Draft = "DRAFT",
    }
}

words! {
    /// Who put a student into a class.
    EnrolledBy {
        /// One of its teachers.
        Teacher = "teacher",
        /// An administrator of the school.
        Admin = "admin",
        /// An import from the school's administration.
        Import = "import",
        /// One of its teachers, with all students of a homeroom.
        Homeroom = "homeroom",
    }
}

impl EnrolledBy {
    /// How an enrolment by this caller is recorded.
    pub const fn caller(viewer: &Viewer) -> Self {
        match viewer {
            Viewer::Admin => Self::Admin,
            Viewer::Teacher(_) | Viewer::Student(_) => Self::Teacher,
        }
    }

    /// How an enrolment of a whole homeroom by this caller is recorded. Naming a homeroom gives a teacher no rights over its
    /// students: otherwise making a class would be enough to take over their accounts.
    pub const fn caller_with_homeroom(viewer: &Viewer) -> Self {
        match viewer {
            Viewer::Admin => Self::Admin,
            Viewer::Teacher(_) | Viewer::Student(_) => Self::Homeroom,
        }
    }

    /// Whether the school itself enrolled the student, and not a teacher.
    pub const fn is_of_school(self) -> bool {
        matches!(self, Self::Admin | Self::Import)
    }
}

impl ClassStatus {
    /// The status after the wish of a teacher; a class with work in it cannot hide as a draft again.
    pub const fn change_to(self, wanted: Self, is_empty: bool) -> Result<Self, Refusal> {
        match (self, wanted) {
            (Self::Archived, Self::Draft) => Err(Refusal::ClassArchived),
            (Self::Active, Self::Draft) if !is_empty => Err(Refusal::ClassNotEmpty),
            (_, wanted) => Ok(wanted),
        }
    }

    /// Whether anything in the class may be written.
    pub fn writable(self) -> Result<(), Refusal> {
        if policy::holds(Clause::ClassWritable, self != Self::Archived) {
            Ok(())
        } else {
            Err(Refusal::ClassArchived)
        }
    }
}

/// Students and teachers who work together through a year.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// Its id.
    pub id: ClassId,
    /// The tenant.
    pub organization_id: OrganizationId,
    /// Its name.
    pub name: Name,
    /// School year.
    pub academic_year: AcademicYear,
    /// Half-year, a free label.
    pub semester: Option<Semester>,
    /// First day.
    pub start_date: Option<Timestamp>,
    /// Last day.
    pub end_date: Option<Timestamp>,
    /// Whether it is at work.
    pub status: ClassStatus,
    /// The owner.
    pub teacher_id: UserId,
    /// The homeroom it comes from.
    pub homeroom_id: Option<HomeroomId>,
    /// Id in the school's own administration.
    pub external_id: Option<ExternalId>,
    /// The lessons of the week.
    pub schedule: Option<Schedule>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// What a PATCH may change. Subjects are links of their own; [`Class::edit`] leaves them to the caller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, garde::Validate, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClassEdit {
    /// New name.
    #[serde(default)]
    #[garde(dive, custom(not_null))]
    pub name: Edit<Name>,
    /// New school year.
    #[serde(default)]
    #[garde(dive, custom(not_null))]
    pub academic_year: Edit<AcademicYear>,
    /// New half-year.
    #[serde(default, deserialize_with = "optional_label")]
    #[garde(dive)]
    #[schema(schema_with = crate::text::semester_schema)]
    pub semester: Edit<Semester>,
    /// New first day.
    #[serde(default)]
    #[garde(skip)]
    pub start_date: Edit<DateOrTime>,
    /// New last day.
    #[serde(default)]
    #[garde(skip)]
    pub end_date: Edit<DateOrTime>,
    /// New status.
    #[serde(default)]
    #[garde(custom(not_null))]
    pub status: Edit<ClassStatus>,
    /// New owner; only admins hand a class over.
    #[serde(default)]
    #[garde(custom(not_null))]
    pub teacher_id: Edit<UserId>,
    /// Another homeroom.
    #[serde(default)]
    #[garde(skip)]
    pub homeroom_id: Edit<HomeroomId>,
    /// New id in the school's own administration.
    #[serde(default, deserialize_with = "optional_text")]
    #[garde(dive)]
    pub external_id: Edit<ExternalId>,
    /// New schedule.
    #[serde(default)]
    #[garde(dive)]
    pub schedule: Edit<Schedule>,
    /// All subjects of the class.
    #[serde(default)]
    #[garde(dive, custom(not_null))]
    pub subject_ids: Edit<List<crate::id::SubjectId>>,
}

impl Class {
    /// Whether the viewer manages the class: admins, its owner, and its co-teachers.
    pub fn managed_by(&self, viewer: &Viewer, co_teachers: &[UserId]) -> bool {
        match viewer {
            Viewer::Admin => true,
            Viewer::Teacher(teacher) => self.teacher_id == *teacher || co_teachers.contains(teacher),
            Viewer::Student(_) => false,
        }
    }

    /// Refuses viewers who do not manage the class.
    pub fn require_managed_by(&self, viewer: &Viewer, co_teachers: &[UserId]) -> Result<(), Refusal> {
        if policy::holds(Clause::ManagesClass, self.managed_by(viewer, co_teachers)) {
            Ok(())
        } else {
            Err(Refusal::NotClassTeacher)
        }
    }

    /// Whether the viewer owns the class or stands above its owner; only they choose co-teachers.
    pub fn owned_by(&self, viewer: &Viewer) -> bool {
        policy::holds(Clause::OwnsClass, self.managed_by(viewer, &[]))
    }

    /// Whether the viewer sees the class at all: staff always, students when enrolled and once it is no draft.
    pub fn visible_to(&self, viewer: &Viewer, is_enrolled: bool) -> bool {
        viewer.is_staff() || (is_enrolled && self.status != ClassStatus::Draft)
    }

    /// Whether anything in the class may be written. What the document server saves, what somebody
    /// has read, and the end of the class itself are not asked for here.
    pub fn writable(&self) -> Result<(), Refusal> {
        self.status.writable()
    }

    /// Applies a PATCH of someone who manages the class. `is_empty`: it has neither groups nor topics.
    pub fn edit(
        &mut self,
        edit: ClassEdit,
        viewer: &Viewer,
        is_empty: bool,
        now: Timestamp,
    ) -> Result<Changed, Refusal> {
        let mut edited = self.clone();
        let mut changed = Changed::new();
        if let Some(wanted) = edit.status.required("status")? {
            let wanted = edited.status.change_to(wanted, is_empty)?;
            changed.write("status", &mut edited.status, wanted);
        }
        let mut fields = Changed::new();
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
        fields.edit_nullable("externalId", &mut edited.external_id, edit.external_id);
        fields.edit_nullable("schedule", &mut edited.schedule, edit.schedule);
        let hands_over = fields.has("teacherId");
        if hands_over && !policy::holds(Clause::HandsClassOver, *viewer == Viewer::Admin) {
            return Err(Refusal::AdminOnly);
        }
        // An archived class takes nothing but its way back; with it, other fields may change at once.
        if !fields.is_empty() && self.status == ClassStatus::Archived {
            edited.writable()?;
        }
        if edited
            .end_date
            .zip(edited.start_date)
            .is_some_and(|(end, start)| end < start)
        {
            return Err(Refusal::Invalid {
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

    /// A class that still holds courses, groups or topics goes only by force.
    pub const fn removable(&self, is_empty: bool, force: bool) -> Result<(), Refusal> {
        if is_empty || force {
            Ok(())
        } else {
            Err(Refusal::ClassNotEmpty)
        }
    }

    /// The class as others mention it.
    pub fn label(&self) -> ClassLabel {
        ClassLabel {
            id: self.id.clone(),
            name: self.name.as_str().to_owned(),
            academic_year: self.academic_year.as_str().to_owned(),
            status: self.status,
        }
    }
}

/// The class as others mention it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClassLabel {
    /// Its id.
    pub id: ClassId,
    /// Its name.
    pub name: String,
    /// Its school year.
    pub academic_year: String,
    /// Whether it is at work.
    pub status: ClassStatus,
}

/// A student's place in a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassEnrollment {
    /// Its id.
    pub id: EnrollmentId,
    /// The class.
    pub class_id: ClassId,
    /// The student.
    pub student_id: UserId,
    /// Since when.
    pub enrolled_at: Timestamp,
    /// When the student completed the class; kept for the school, otherwise unused.
    pub completed_at: Option<Timestamp>,
}

#[cfg(test)]
#[path = "class_tests.rs"]
mod tests;
