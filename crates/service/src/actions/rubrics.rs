//! Reusable rubrics of teachers, and the rubric of a topic.

use api_macros::{body, patch};
use domain::assignment::Assignment;
use domain::change::{AssignmentChange, RubricChange};
use domain::domain_error::DomainError;
use domain::id::{AssignmentId, RubricId};
use domain::patch::{FieldDiff, FieldPatch, not_null};
use domain::rubric::{NewCriteria, RUBRICS_MAX, Rubric, TopicRubric};
use domain::text::RubricTitle;
use garde::Validate;
use serde::Deserialize;
use utoipa::ToSchema;

use super::acting_user::acting_user;
use common::clock;
use common::error::{Error, Result};
use db::rubrics::OwnedRubric;
use db::{ReadTx, WriteTx};

/// A rubric to create.
#[body]
pub struct NewRubric {
    pub title: RubricTitle,
    /// Whether all teachers of the school may use it. Defaults to false.
    #[serde(default)]
    pub is_shared: bool,
    /// The criteria, in the order in which they are shown.
    pub criteria: NewCriteria,
}

/// The fields of a rubric that a PATCH can change.
#[patch]
pub struct RubricEdit {
    #[garde(dive, custom(not_null))]
    pub title: FieldPatch<RubricTitle>,
    /// Whether all teachers of the school may use it.
    #[garde(custom(not_null))]
    pub is_shared: FieldPatch<bool>,
    /// The complete list of criteria; it replaces the present one.
    #[garde(dive, custom(not_null))]
    pub criteria: FieldPatch<NewCriteria>,
}

/// The rubric of a topic.
#[derive(Debug, Clone, Default, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[garde(allow_unvalidated)]
pub struct TopicRubricChoice {
    /// The rubric to copy to the topic. If absent, the criteria of the topic stay.
    #[serde(default)]
    pub rubric_id: Option<RubricId>,
    /// Whether students see the criteria before their grade is published. Defaults to true, or stays.
    #[serde(default)]
    pub is_shown: Option<bool>,
}

/// Creates a rubric of the caller.
pub fn create(tx: &mut WriteTx<'_>, new: &NewRubric) -> Result<OwnedRubric> {
    let owner_id = acting_user(tx)?;
    DomainError::check_limit("rubrics", tx.lock_rubric_count()? + 1, RUBRICS_MAX)?;
    let rubric = Rubric {
        id: RubricId::new(clock::new_id()),
        organization_id: tx.organization().clone(),
        owner_id,
        title: new.title.clone(),
        is_shared: new.is_shared,
        criteria: new.criteria.with_ids(clock::new_id)?,
        created_at: tx.now(),
        updated_at: tx.now(),
    };
    tx.insert_rubric(&rubric)?;
    let created = tx.rubric(&rubric.id)?;
    let rubric = Box::new(rubric);
    tx.record(RubricChange::Created { rubric });
    Ok(created)
}

/// Changes a rubric. Topics that use it keep their criteria.
pub fn edit(tx: &mut WriteTx<'_>, id: &RubricId, edit: &RubricEdit) -> Result<OwnedRubric> {
    let mut rubric = rubric_to_change(tx, id)?;
    let was_shared = rubric.is_shared;
    let mut changed = FieldDiff::new();
    changed
        .edit("title", &mut rubric.title, edit.title.clone())
        .map_err(DomainError::from)?;
    changed
        .edit("isShared", &mut rubric.is_shared, edit.is_shared.clone())
        .map_err(DomainError::from)?;
    if let FieldPatch::Value(criteria) = &edit.criteria
        && !criteria.is_same(&rubric.criteria)
    {
        let count = rubric.criteria.len();
        rubric.criteria = criteria.with_ids(clock::new_id)?;
        changed.summarize("criteria", count, rubric.criteria.len());
    }
    if !changed.is_empty() {
        rubric.updated_at = tx.now();
        tx.update_rubric(&rubric)?;
        tx.record(RubricChange::Updated {
            rubric: Box::new(rubric),
            changed,
            was_shared,
        });
    }
    tx.rubric(id)
}

/// Deletes a rubric. Topics that use it keep their criteria.
pub fn remove(tx: &mut WriteTx<'_>, id: &RubricId) -> Result<()> {
    let rubric = Box::new(rubric_to_change(tx, id)?);
    tx.delete_rubric(id)?;
    tx.record(RubricChange::Deleted { rubric });
    Ok(())
}

/// Copies a rubric to a topic, or changes whether students see its criteria beforehand.
pub fn set_of_topic(tx: &mut WriteTx<'_>, id: &AssignmentId, choice: &TopicRubricChoice) -> Result<ShownTopicRubric> {
    let details = tx.lock_writable_assignment(id)?;
    let before = tx.topic_rubric(id)?;
    let was_shown = before.as_ref().is_some_and(|rubric| rubric.is_shown);
    let is_shown = choice
        .is_shown
        .or(before.as_ref().map(|rubric| rubric.is_shown))
        .unwrap_or(true);
    let after = match (&choice.rubric_id, before.clone()) {
        (None, None) => {
            return Err(Error::invalid(
                "rubricId",
                "required",
                "is required: the topic has no rubric",
            ));
        }
        (None, Some(present)) => TopicRubric { is_shown, ..present },
        (Some(rubric_id), _) => {
            let rubric = tx.rubric(rubric_id)?.rubric;
            let is_replaced = before.as_ref().is_none_or(|before| before.criteria != rubric.criteria);
            if is_replaced && tx.is_rubric_used(id)? {
                return Err(DomainError::RubricInUse.into());
            }
            TopicRubric {
                assignment_id: id.clone(),
                rubric_id: Some(rubric.id),
                title: rubric.title,
                criteria: rubric.criteria,
                is_shown,
            }
        }
    };
    if before.as_ref() != Some(&after) {
        tx.set_topic_rubric(&after)?;
        tx.record(AssignmentChange::RubricChanged {
            assignment: Box::new(details),
            rubric: Some(Box::new(after)),
            is_shown: was_shown || is_shown,
        });
    }
    of_topic(tx, id)
}

/// Removes the rubric of a topic. Rejected while a grade uses it.
pub fn remove_of_topic(tx: &mut WriteTx<'_>, id: &AssignmentId) -> Result<()> {
    let details = tx.lock_writable_assignment(id)?;
    let before = tx.topic_rubric(id)?.ok_or(Error::NotFound)?;
    if tx.is_rubric_used(id)? {
        return Err(DomainError::RubricInUse.into());
    }
    tx.delete_topic_rubric(id)?;
    tx.record(AssignmentChange::RubricChanged {
        assignment: Box::new(details),
        rubric: None,
        is_shown: before.is_shown,
    });
    Ok(())
}

/// The rubric of a topic as visible to the viewer.
#[derive(Debug, Clone)]
pub struct ShownTopicRubric {
    pub assignment: Assignment,
    /// `None` if the topic has none, or the viewer may not see it yet.
    pub rubric: Option<TopicRubric>,
    /// Whether a grade uses it; always false for students.
    pub is_used: bool,
}

/// Returns the rubric of a topic. Students see it if the teacher chose so, and otherwise once a grade with filled criteria
/// is published for them. Teachers of other classes do not see it.
pub fn of_topic(tx: &mut ReadTx<'_>, id: &AssignmentId) -> Result<ShownTopicRubric> {
    let seen = tx.assignment(id)?;
    let is_staff = tx.viewer().is_staff();
    if is_staff && !seen.is_managed {
        return Err(Error::NotFound);
    }
    let mut rubric = tx.topic_rubric(id)?;
    if !is_staff {
        let grades = seen
            .details
            .links
            .iter()
            .filter_map(|link| link.current_submission.as_ref()?.grade.as_ref());
        let is_graded = grades
            .filter_map(domain::grade::Grade::for_group)
            .any(|grade| !grade.rubric.is_empty());
        rubric = rubric.filter(|rubric| rubric.is_shown || is_graded);
    }
    let is_used = is_staff && rubric.is_some() && tx.is_rubric_used(id)?;
    Ok(ShownTopicRubric {
        assignment: seen.details.assignment,
        rubric,
        is_used,
    })
}

/// Locks a rubric that the caller may change.
fn rubric_to_change(tx: &mut WriteTx<'_>, id: &RubricId) -> Result<Rubric> {
    let user = acting_user(tx)?;
    let rubric = tx.lock_rubric(id)?.rubric;
    rubric.editable_by(tx.viewer(), &user)?;
    Ok(rubric)
}
