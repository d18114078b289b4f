//! School subjects, defined for the whole organization.

use api_macros::{patch, view};
use serde::Deserialize;

use crate::domain_error::DomainError;
use crate::id::{OrganizationId, SubjectId};
use crate::patch::{FieldDiff, FieldPatch, not_null, optional_text};
use crate::text::{Color, ShortName, SubjectCode, SubjectDescription};
use crate::time::Timestamp;

/// A school subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub id: SubjectId,
    pub organization_id: OrganizationId,
    /// Unique within the organization, ignoring case.
    pub name: ShortName,
    pub code: Option<SubjectCode>,
    /// Color in which clients show the subject.
    pub color: Option<Color>,
    pub description: Option<SubjectDescription>,
    /// Whether it can be selected for new classes and courses.
    pub is_active: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Fields of a subject that a PATCH request may change.
#[patch(PartialEq, Eq)]
pub struct SubjectEdit {
    /// New name, unique within the organization.
    #[garde(dive, custom(not_null))]
    pub name: FieldPatch<ShortName>,
    /// New short code.
    #[serde(default, deserialize_with = "optional_text")]
    pub code: FieldPatch<SubjectCode>,
    /// New color, `#rrggbb`.
    #[serde(default, deserialize_with = "optional_text")]
    pub color: FieldPatch<Color>,
    /// New description.
    #[serde(default, deserialize_with = "optional_text")]
    pub description: FieldPatch<SubjectDescription>,
    /// Whether the subject can be selected for new classes and courses.
    #[garde(custom(not_null))]
    pub is_active: FieldPatch<bool>,
}

impl Subject {
    /// Applies a PATCH.
    pub fn edit(&mut self, edit: SubjectEdit, now: Timestamp) -> Result<FieldDiff, DomainError> {
        let mut changed = FieldDiff::new();
        changed.edit("name", &mut self.name, edit.name)?;
        changed.edit_nullable("code", &mut self.code, edit.code);
        changed.edit_nullable("color", &mut self.color, edit.color);
        changed.edit_nullable("description", &mut self.description, edit.description);
        changed.edit("isActive", &mut self.is_active, edit.is_active)?;
        if !changed.is_empty() {
            self.updated_at = now;
        }
        Ok(changed)
    }

    /// Rejects the deletion of a subject that classes, courses or groups use; it can be deactivated instead.
    pub const fn removable(&self, in_use: bool) -> Result<(), DomainError> {
        if in_use { Err(DomainError::SubjectInUse) } else { Ok(()) }
    }

    pub fn label(&self) -> SubjectLabel {
        SubjectLabel {
            id: self.id.clone(),
            name: self.name.as_str().to_owned(),
            code: self.code.as_ref().map(|code| code.as_str().to_owned()),
            color: self.color.as_ref().map(|color| color.as_str().to_owned()),
        }
    }
}

/// Summary of a subject, as embedded in other objects.
#[view(PartialEq, Eq, Deserialize)]
pub struct SubjectLabel {
    pub id: SubjectId,
    pub name: String,
    /// Short code, such as "BIO".
    #[schema(required = false)]
    pub code: Option<String>,
    /// Color, `#rrggbb`.
    #[schema(required = false)]
    pub color: Option<String>,
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use garde::Validate;

    use super::*;

    fn biology() -> Subject {
        Subject {
            id: SubjectId::new("bio"),
            organization_id: OrganizationId::new("school"),
            name: ShortName::stored("Biology"),
            code: Some(SubjectCode::stored("BIO")),
            color: None,
            description: None,
            is_active: true,
            created_at: Timestamp::from_millis(1),
            updated_at: Timestamp::from_millis(1),
        }
    }

    #[test]
    fn a_subject_in_use_is_not_removed() {
        assert_eq!(biology().removable(true), Err(DomainError::SubjectInUse));
        assert_eq!(biology().removable(false), Ok(()));
    }

    #[test]
    fn a_patch_changes_what_it_names_and_an_empty_code_clears() {
        let edit: SubjectEdit = serde_json::from_str(r##"{"code": " ", "color": "#00ff00"}"##).unwrap();
        edit.validate().unwrap();
        let mut subject = biology();
        let changed = subject.edit(edit, Timestamp::from_millis(2)).unwrap();
        assert_eq!(changed.names(), ["code", "color"]);
        assert_eq!((subject.code, subject.updated_at), (None, Timestamp::from_millis(2)));
    }

    #[test]
    fn a_patch_without_difference_leaves_the_time_alone() {
        let mut subject = biology();
        let edit = SubjectEdit {
            name: FieldPatch::Value(ShortName::stored("Biology")),
            ..SubjectEdit::default()
        };
        assert!(subject.edit(edit, Timestamp::from_millis(2)).unwrap().is_empty());
        assert_eq!(subject.updated_at, Timestamp::from_millis(1));
    }
}
