//! Creates, updates and deletes subjects.

use api_macros::body;
use domain::access::Viewer;
use domain::change::SubjectChange;
use domain::domain_error::DomainError;
use domain::id::SubjectId;
use domain::subject::{Subject, SubjectEdit};
use domain::text::{Color, ShortName, SubjectCode, SubjectDescription};

use common::clock;
use common::error::Result;
use db::{ReadTx, WriteTx};

/// A subject to create.
#[body]
pub struct NewSubject {
    /// The name, unique in the organization regardless of case.
    pub name: ShortName,
    /// A short code.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub code: Option<SubjectCode>,
    /// The color in which clients display the subject.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub color: Option<Color>,
    /// A description of the subject.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub description: Option<SubjectDescription>,
}

/// Rejects teachers if only administrators may change the organization's list of subjects.
pub fn may_add(tx: &mut ReadTx<'_>) -> Result<()> {
    let is_admin = *tx.viewer() == Viewer::Admin;
    if is_admin || tx.organization_settings()?.features.teachers_add_subjects {
        Ok(())
    } else {
        Err(DomainError::AdminOnly.into())
    }
}

pub fn create(tx: &mut WriteTx<'_>, new: &NewSubject) -> Result<Subject> {
    may_add(tx)?;
    let subject = Subject {
        id: SubjectId::new(clock::new_id()),
        organization_id: tx.organization().clone(),
        name: new.name.clone(),
        code: new.code.clone(),
        color: new.color.clone(),
        description: new.description.clone(),
        is_active: true,
        created_at: tx.now(),
        updated_at: tx.now(),
    };
    tx.insert_subject(&subject)?;
    tx.record(SubjectChange::Created {
        subject: subject.clone(),
    });
    Ok(subject)
}

/// Applies a PATCH.
pub fn edit(tx: &mut WriteTx<'_>, id: &SubjectId, edit: &SubjectEdit) -> Result<Subject> {
    let mut subject = tx.lock_subject(id)?;
    let changed = subject.edit(edit.clone(), tx.now())?;
    if !changed.is_empty() {
        tx.update_subject(&subject)?;
        tx.record(SubjectChange::Updated {
            subject: subject.clone(),
            changed,
        });
    }
    Ok(subject)
}

/// Deletes a subject that is not in use.
pub fn remove(tx: &mut WriteTx<'_>, id: &SubjectId) -> Result<()> {
    let subject = tx.lock_subject(id)?;
    subject.removable(tx.subject_in_use(id)?)?;
    tx.delete_subject(id)?;
    tx.record(SubjectChange::Deleted { subject });
    Ok(())
}
