//! Creates, updates and deletes subjects.

use garde::Validate;
use model::access::Viewer;
use model::change::subject::SubjectChange;
use model::id::SubjectId;
use model::refusal::Refusal;
use model::subject::{Subject, SubjectEdit};
use model::text::{Color, ShortName, SubjectCode, SubjectDescription};
use serde::Deserialize;
use utoipa::ToSchema;

use common::clock;
use common::error::Result;
use db::{Scope, Work};

/// A subject to create.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewSubject {
    /// The name, unique in the organization regardless of case.
    #[garde(dive)]
    pub name: ShortName,
    /// A short code.
    #[serde(default, deserialize_with = "model::text::optional")]
    #[garde(dive)]
    pub code: Option<SubjectCode>,
    /// The color in which clients display the subject.
    #[serde(default, deserialize_with = "model::text::optional")]
    #[garde(dive)]
    pub color: Option<Color>,
    /// A description of the subject.
    #[serde(default, deserialize_with = "model::text::optional")]
    #[garde(dive)]
    pub description: Option<SubjectDescription>,
}

/// Rejects teachers if only administrators may change the organization's list of subjects.
pub fn may_add(scope: &mut Scope<'_>) -> Result<()> {
    let is_admin = *scope.viewer() == Viewer::Admin;
    if is_admin || scope.school_settings()?.features.teachers_add_subjects {
        Ok(())
    } else {
        Err(Refusal::AdminOnly.into())
    }
}

pub fn create(work: &mut Work<'_>, new: &NewSubject) -> Result<Subject> {
    may_add(work)?;
    let subject = Subject {
        id: SubjectId::new(clock::new_id()),
        organization_id: work.organization().clone(),
        name: new.name.clone(),
        code: new.code.clone(),
        color: new.color.clone(),
        description: new.description.clone(),
        is_active: true,
        created_at: work.now(),
        updated_at: work.now(),
    };
    work.insert_subject(&subject)?;
    work.record(SubjectChange::Created {
        subject: subject.clone(),
    });
    Ok(subject)
}

/// Applies a PATCH.
pub fn edit(work: &mut Work<'_>, id: &SubjectId, edit: &SubjectEdit) -> Result<Subject> {
    let mut subject = work.subject_to_change(id)?;
    let changed = subject.edit(edit.clone(), work.now())?;
    if !changed.is_empty() {
        work.update_subject(&subject)?;
        work.record(SubjectChange::Updated {
            subject: subject.clone(),
            changed,
        });
    }
    Ok(subject)
}

/// Deletes a subject that is not in use.
pub fn remove(work: &mut Work<'_>, id: &SubjectId) -> Result<()> {
    let subject = work.subject_to_change(id)?;
    subject.removable(work.subject_in_use(id)?)?;
    work.delete_subject(id)?;
    work.record(SubjectChange::Deleted { subject });
    Ok(())
}
