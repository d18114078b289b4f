//! Rubrics: criteria with levels, by which work is assessed. A teacher owns a rubric and may share it in the school. A
//! topic keeps a copy of its rubric, so that later edits of the rubric do not change what was promised for the topic. A
//! filled criterion repeats the names of criterion and level, so that the history of a grade needs no rubric.

use api_macros::{body, view};
use serde::Deserialize;

use crate::access::Viewer;
use crate::domain_error::DomainError;
use crate::id::{AssignmentId, OrganizationId, RubricCriterionId, RubricId, RubricLevelId, UserId};
use crate::number::Points;
use crate::text::{CriterionNote, CriterionTitle, LevelLabel, RubricTitle, optional};
use crate::time::Timestamp;

/// Maximum number of criteria of a rubric.
pub const CRITERIA_MAX: usize = 20;
/// Maximum number of levels of a criterion.
pub const LEVELS_MAX: usize = 10;
/// Maximum number of rubrics of an organization.
pub const RUBRICS_MAX: usize = 1000;

/// A reusable rubric.
#[derive(Clone, Debug, PartialEq)]
pub struct Rubric {
    pub id: RubricId,
    pub organization_id: OrganizationId,
    pub owner_id: UserId,
    pub title: RubricTitle,
    /// Whether all teachers of the organization may use it.
    pub is_shared: bool,
    pub criteria: Vec<RubricCriterion>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// The rubric of a topic.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicRubric {
    pub assignment_id: AssignmentId,
    /// The rubric it was copied from, which may be deleted by now.
    pub rubric_id: Option<RubricId>,
    pub title: RubricTitle,
    pub criteria: Vec<RubricCriterion>,
    /// Whether students see the criteria before their grade is published.
    pub is_shown: bool,
}

/// A criterion of a rubric.
#[view(PartialEq, Deserialize)]
pub struct RubricCriterion {
    pub id: RubricCriterionId,
    pub title: CriterionTitle,
    pub description: Option<CriterionNote>,
    pub levels: Vec<RubricLevel>,
}

/// A level of a criterion. Its points are a number (`minPoints` equals `maxPoints`), a range, or absent.
#[view(PartialEq, Deserialize)]
pub struct RubricLevel {
    pub id: RubricLevelId,
    pub label: LevelLabel,
    pub description: Option<CriterionNote>,
    pub min_points: Option<Points>,
    pub max_points: Option<Points>,
}

/// The criteria of a new or changed rubric.
#[derive(Clone, Debug, PartialEq, Deserialize, garde::Validate, utoipa::ToSchema)]
#[serde(transparent)]
#[garde(transparent)]
pub struct NewCriteria(#[garde(dive, length(min = 1, max = CRITERIA_MAX))] pub Vec<NewCriterion>);

/// A criterion of a new or changed rubric. The service assigns its id.
#[body(PartialEq)]
pub struct NewCriterion {
    /// Ignored, so that a criterion can be sent as it was read.
    pub id: Option<RubricCriterionId>,
    pub title: CriterionTitle,
    #[serde(default, deserialize_with = "optional")]
    pub description: Option<CriterionNote>,
    /// The levels, in the order in which they are shown.
    #[garde(dive, length(min = 1, max = LEVELS_MAX))]
    #[schema(min_items = 1, max_items = 10)]
    pub levels: Vec<NewLevel>,
}

/// A level of a new or changed criterion. The service assigns its id.
#[body(PartialEq)]
pub struct NewLevel {
    /// Ignored, so that a level can be sent as it was read.
    pub id: Option<RubricLevelId>,
    pub label: LevelLabel,
    #[serde(default, deserialize_with = "optional")]
    pub description: Option<CriterionNote>,
    /// The least points of the level. Absent for a level without points.
    pub min_points: Option<Points>,
    /// The most points of the level; the same as `minPoints` for a fixed number.
    pub max_points: Option<Points>,
}

/// A filled criterion of a grade. It repeats the names, because the rubric of the topic may be replaced later.
#[view(PartialEq, Deserialize)]
pub struct RubricMark {
    pub criterion_id: RubricCriterionId,
    /// The title of the criterion.
    pub criterion: CriterionTitle,
    pub level_id: Option<RubricLevelId>,
    /// The label of the level.
    pub level: Option<LevelLabel>,
    pub points: Option<Points>,
    /// The most points of the criterion; null if it has none.
    pub max_points: Option<Points>,
    pub comment: Option<CriterionNote>,
}

/// A criterion that a teacher fills in. Without a level it is a comment alone.
#[body(PartialEq)]
pub struct NewRubricMark {
    /// The criterion of the rubric of the topic.
    pub criterion_id: RubricCriterionId,
    /// The level of the criterion.
    pub level_id: Option<RubricLevelId>,
    /// Points in the range of the level. Defaults to the points of a level that has a fixed number.
    pub points: Option<Points>,
    /// Comment on this criterion.
    #[serde(default, deserialize_with = "optional")]
    pub comment: Option<CriterionNote>,
}

const fn invalid(path: &'static str, code: &'static str, message: &'static str) -> DomainError {
    DomainError::Invalid { path, code, message }
}

impl NewCriteria {
    /// Returns the criteria with new ids. Rejects levels whose points are no range.
    pub fn with_ids(&self, mut new_id: impl FnMut() -> String) -> Result<Vec<RubricCriterion>, DomainError> {
        let mut criteria = Vec::with_capacity(self.0.len());
        for criterion in &self.0 {
            let mut levels = Vec::with_capacity(criterion.levels.len());
            for level in &criterion.levels {
                match (level.min_points, level.max_points) {
                    (None, None) => {}
                    (Some(min), Some(max)) if min <= max => {}
                    (Some(_), Some(_)) => {
                        let message = "has a level whose least points exceed its most points";
                        return Err(invalid("criteria", "range", message));
                    }
                    _ => {
                        return Err(invalid(
                            "criteria",
                            "range",
                            "has a level with only one end of its points",
                        ));
                    }
                }
                levels.push(RubricLevel {
                    id: RubricLevelId::new(new_id()),
                    label: level.label.clone(),
                    description: level.description.clone(),
                    min_points: level.min_points,
                    max_points: level.max_points,
                });
            }
            criteria.push(RubricCriterion {
                id: RubricCriterionId::new(new_id()),
                title: criterion.title.clone(),
                description: criterion.description.clone(),
                levels,
            });
        }
        Ok(criteria)
    }

    /// Returns whether these are the same criteria, apart from their ids.
    pub fn is_same(&self, criteria: &[RubricCriterion]) -> bool {
        let is_same_level = |new: &NewLevel, level: &RubricLevel| {
            (&new.label, &new.description, new.min_points, new.max_points)
                == (&level.label, &level.description, level.min_points, level.max_points)
        };
        self.0.len() == criteria.len()
            && self.0.iter().zip(criteria).all(|(new, criterion)| {
                (&new.title, &new.description) == (&criterion.title, &criterion.description)
                    && new.levels.len() == criterion.levels.len()
                    && new
                        .levels
                        .iter()
                        .zip(&criterion.levels)
                        .all(|(new, level)| is_same_level(new, level))
            })
    }
}

impl RubricCriterion {
    /// Returns the most points of the criterion, if it has points.
    pub fn max_points(&self) -> Option<Points> {
        let points = self.levels.iter().filter_map(|level| level.max_points);
        points.reduce(|most, points| if points > most { points } else { most })
    }
}

/// Returns the most points of all criteria, if any has points.
pub fn max_points(criteria: &[RubricCriterion]) -> Option<Points> {
    total(criteria.iter().map(RubricCriterion::max_points))
}

/// Returns the points of all filled criteria, if any has points.
pub fn points_of(marks: &[RubricMark]) -> Option<Points> {
    total(marks.iter().map(|mark| mark.points))
}

fn total(points: impl Iterator<Item = Option<Points>>) -> Option<Points> {
    let sum = points.flatten().map(Points::get).reduce(|sum, points| sum + points);
    sum.map(Points::stored)
}

impl Rubric {
    /// Rejects users who may not change the rubric: only its owner and administrators may.
    pub fn editable_by(&self, viewer: &Viewer, user: &UserId) -> Result<(), DomainError> {
        if *viewer == Viewer::Admin || self.owner_id == *user {
            Ok(())
        } else {
            Err(DomainError::NotAuthor)
        }
    }
}

impl TopicRubric {
    /// Resolves filled criteria, in the order of the rubric. Criteria without content are left out.
    pub fn fill(&self, marks: &[NewRubricMark]) -> Result<Vec<RubricMark>, DomainError> {
        let refused = |code, message| invalid("rubric", code, message);
        let mut filled = Vec::new();
        for (index, mark) in marks.iter().enumerate() {
            if !self.criteria.iter().any(|criterion| criterion.id == mark.criterion_id) {
                return Err(refused("unknown", "names a criterion that the topic does not have"));
            }
            if marks[..index]
                .iter()
                .any(|other| other.criterion_id == mark.criterion_id)
            {
                return Err(refused("duplicate", "names a criterion twice"));
            }
        }
        for criterion in &self.criteria {
            let Some(mark) = marks.iter().find(|mark| mark.criterion_id == criterion.id) else {
                continue;
            };
            let level = match &mark.level_id {
                Some(id) => {
                    let found = criterion.levels.iter().find(|level| level.id == *id);
                    Some(found.ok_or_else(|| refused("unknown", "names a level that the criterion does not have"))?)
                }
                None => None,
            };
            let points = match (level, mark.points) {
                (None, None) => None,
                (None, Some(_)) => return Err(refused("no_level", "has points without a level")),
                (Some(level), points) => level.points(points)?,
            };
            if level.is_none() && mark.comment.is_none() {
                continue;
            }
            filled.push(RubricMark {
                criterion_id: criterion.id.clone(),
                criterion: criterion.title.clone(),
                level_id: level.map(|level| level.id.clone()),
                level: level.map(|level| level.label.clone()),
                points,
                max_points: criterion.max_points(),
                comment: mark.comment.clone(),
            });
        }
        Ok(filled)
    }

    /// Returns whether every criterion has a level, and its points if the level has points.
    pub fn is_complete(&self, marks: &[RubricMark]) -> bool {
        self.criteria.iter().all(|criterion| {
            let mark = marks.iter().find(|mark| mark.criterion_id == criterion.id);
            let level = mark.and_then(|mark| {
                let level = criterion
                    .levels
                    .iter()
                    .find(|level| Some(&level.id) == mark.level_id.as_ref())?;
                Some(level.max_points.is_none() || mark.points.is_some())
            });
            level == Some(true)
        })
    }
}

impl RubricLevel {
    /// Returns the points of a criterion on this level: the given ones if they are in the range, or the fixed number.
    fn points(&self, points: Option<Points>) -> Result<Option<Points>, DomainError> {
        match (self.min_points.zip(self.max_points), points) {
            (None, None) => Ok(None),
            (None, Some(_)) => Err(invalid("rubric", "no_points", "has points on a level without points")),
            (Some((min, max)), None) => Ok((min == max).then_some(max)),
            (Some((min, max)), Some(points)) if min <= points && points <= max => Ok(Some(points)),
            (Some(_), Some(_)) => Err(invalid(
                "rubric",
                "range",
                "has points outside of the range of the level",
            )),
        }
    }
}

#[cfg(test)]
#[path = "rubric_tests.rs"]
mod tests;
