//! Courses: their fields, their status, and whether they accept new groups and topics.

use api_macros::{patch, view};
use serde::Deserialize;

use crate::domain_error::DomainError;
use crate::id::{ClassId, CourseId, OrganizationId, SubjectId};
use crate::patch::{FieldDiff, FieldPatch, not_null, optional_text};
use crate::string_enum::string_enum;
use crate::text::{CourseDescription, Name};
use crate::time::Timestamp;

string_enum! {
    /// Status of a course.
    CourseStatus {
        /// Accepts new groups and topics.
        Active = "ACTIVE",
        /// Rejects new groups and topics; existing work continues.
        Archived = "ARCHIVED",
    }
}

/// The teaching of one subject in one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Course {
    pub id: CourseId,
    /// Equals the organization of the class.
    pub organization_id: OrganizationId,
    pub class_id: ClassId,
    pub subject_id: SubjectId,
    /// Unique among the courses of the same class and subject.
    pub name: Name,
    pub description: Option<CourseDescription>,
    pub status: CourseStatus,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Fields of a course that a PATCH request may change.
#[patch(PartialEq, Eq)]
pub struct CourseEdit {
    #[garde(dive, custom(not_null))]
    pub name: FieldPatch<Name>,
    #[serde(default, deserialize_with = "optional_text")]
    pub description: FieldPatch<CourseDescription>,
    /// New status.
    #[garde(custom(not_null))]
    pub status: FieldPatch<CourseStatus>,
    /// New subject. The groups of the course follow it.
    #[garde(custom(not_null))]
    pub subject_id: FieldPatch<SubjectId>,
    /// New class. Rejected unless the course is empty.
    #[garde(custom(not_null))]
    pub class_id: FieldPatch<ClassId>,
}

impl Course {
    /// Returns a new active course without a description.
    pub fn new(
        id: CourseId,
        organization_id: OrganizationId,
        class_id: ClassId,
        subject_id: SubjectId,
        name: Name,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            organization_id,
            class_id,
            subject_id,
            name,
            description: None,
            status: CourseStatus::Active,
            created_at: now,
            updated_at: now,
        }
    }

    /// Applies a PATCH. `is_empty` means that the course has neither groups nor topics. When the subject changes, the
    /// groups of the course follow it ([`crate::group::Group::follow_subject`]).
    pub fn edit(&mut self, edit: CourseEdit, is_empty: bool, now: Timestamp) -> Result<FieldDiff, DomainError> {
        let mut edited = self.clone();
        let mut changed = FieldDiff::new();
        changed.edit("name", &mut edited.name, edit.name)?;
        changed.edit_nullable("description", &mut edited.description, edit.description);
        changed.edit("status", &mut edited.status, edit.status)?;
        changed.edit("subjectId", &mut edited.subject_id, edit.subject_id)?;
        changed.edit("classId", &mut edited.class_id, edit.class_id)?;
        if changed.has("classId") && !is_empty {
            return Err(DomainError::ClassMismatch);
        }
        if !changed.is_empty() {
            edited.updated_at = now;
        }
        *self = edited;
        Ok(changed)
    }

    /// Rejects new groups and topics if the course is archived.
    pub const fn takes_new_work(&self) -> Result<(), DomainError> {
        match self.status {
            CourseStatus::Active => Ok(()),
            CourseStatus::Archived => Err(DomainError::CourseArchived),
        }
    }

    /// Rejects a course of another class.
    pub fn belongs_to(&self, class: &ClassId) -> Result<(), DomainError> {
        if self.class_id == *class {
            Ok(())
        } else {
            Err(DomainError::ClassMismatch)
        }
    }

    pub fn label(&self) -> CourseLabel {
        CourseLabel {
            id: self.id.clone(),
            name: self.name.as_str().to_owned(),
            subject_id: self.subject_id.clone(),
        }
    }
}

/// Returns the name of a restored or copied course: with the first free number, if the name itself is taken.
pub fn free_course_name(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(name) {
        return name.to_owned();
    }
    let numbered = |number: usize| {
        let suffix = format!(" ({number})");
        let kept: String = name.chars().take(Name::MAX.saturating_sub(suffix.len())).collect();
        format!("{}{suffix}", kept.trim_end())
    };
    let free = (2..10_000).map(numbered).find(|name| !is_taken(name));
    free.unwrap_or_else(|| name.to_owned())
}

/// Summary of a course, as embedded in other objects.
#[view(PartialEq, Eq, Deserialize)]
pub struct CourseLabel {
    pub id: CourseId,
    pub name: String,
    pub subject_id: SubjectId,
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;

    fn poems() -> Course {
        crate::samples::course("poems")
    }

    #[test]
    fn a_course_changes_its_class_only_while_it_is_empty() {
        let moved = || CourseEdit {
            class_id: FieldPatch::Value(ClassId::new("8b")),
            ..CourseEdit::default()
        };
        let mut course = poems();
        assert_eq!(
            course.edit(moved(), false, Timestamp::from_millis(2)),
            Err(DomainError::ClassMismatch)
        );
        assert_eq!(course, poems());
        assert_eq!(
            course.edit(moved(), true, Timestamp::from_millis(2)).unwrap().names(),
            ["classId"]
        );
    }

    #[test]
    fn same_class_of_course_is_no_change() {
        let edit = CourseEdit {
            class_id: FieldPatch::Value(ClassId::new("7b")),
            ..CourseEdit::default()
        };
        assert!(poems().edit(edit, false, Timestamp::from_millis(2)).unwrap().is_empty());
    }

    #[test]
    fn archived_course_rejects_new_work() {
        let mut course = poems();
        assert_eq!(course.takes_new_work(), Ok(()));
        let edit = CourseEdit {
            status: FieldPatch::Value(CourseStatus::Archived),
            ..CourseEdit::default()
        };
        course.edit(edit, false, Timestamp::from_millis(2)).unwrap();
        assert_eq!(course.takes_new_work(), Err(DomainError::CourseArchived));
    }

    #[test]
    fn a_course_of_another_class_is_refused() {
        assert_eq!(poems().belongs_to(&ClassId::new("7b")), Ok(()));
        assert_eq!(poems().belongs_to(&ClassId::new("8b")), Err(DomainError::ClassMismatch));
    }

    #[test]
    fn taken_name_is_numbered_and_fits_the_limit() {
        let taken = ["Cells", "Cells (2)"];
        assert_eq!(free_course_name("Plants", |name| taken.contains(&name)), "Plants");
        assert_eq!(free_course_name("Cells", |name| taken.contains(&name)), "Cells (3)");
        let longest = "x".repeat(Name::MAX);
        let shortened = format!("{} (2)", "x".repeat(Name::MAX - 4));
        assert_eq!(free_course_name(&longest, |name| name == longest), shortened);
    }
}
