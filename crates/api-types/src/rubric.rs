//! Rubrics in responses.

use api_macros::view;
use domain::from_fields;
use domain::id::{AssignmentId, RubricId};
use domain::number::Points;
use domain::rubric::{Rubric, RubricCriterion, TopicRubric, max_points};
use domain::text::RubricTitle;
use domain::time::Timestamp;
use domain::user::Person;

use super::audience::{Audience, StaffOnly};

/// A rubric with its criteria.
#[view]
pub struct RubricView {
    pub id: RubricId,
    title: RubricTitle,
    owner: Person,
    /// Whether all teachers of the school may use it.
    is_shared: bool,
    /// Whether the caller may change and delete it.
    can_edit: bool,
    criteria: Vec<RubricCriterion>,
    /// The most points of all criteria; null if none has points.
    max_points: Option<Points>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl RubricView {
    pub fn new(rubric: Rubric, owner: Person, can_edit: bool) -> Self {
        from_fields!(rubric => Self {
            max_points: max_points(&rubric.criteria),
            id, title, is_shared, criteria, created_at, updated_at,
            owner: owner,
            can_edit: can_edit,
        })
    }
}

/// A rubric in a list, without its criteria.
#[view]
pub struct ListedRubricView {
    pub id: RubricId,
    pub title: RubricTitle,
    pub owner: Person,
    /// Whether all teachers of the school may use it.
    pub is_shared: bool,
    /// Whether the caller may change and delete it.
    pub can_edit: bool,
    /// Number of criteria.
    pub criterion_count: i64,
    /// The most points of all criteria; null if none has points.
    pub max_points: Option<Points>,
    pub updated_at: Timestamp,
}

/// The rubric of a topic, as far as the caller may see it.
#[view]
pub struct RubricOfTopic {
    /// Null if the topic has none. For students also null before a grade with filled criteria is published, unless the
    /// teacher shows the criteria beforehand.
    pub rubric: Option<TopicRubricView>,
}

/// The criteria of a topic: a copy of a rubric.
#[view]
pub struct TopicRubricView {
    assignment_id: AssignmentId,
    title: RubricTitle,
    criteria: Vec<RubricCriterion>,
    /// The most points of all criteria; null if none has points.
    max_points: Option<Points>,
    /// Whether students see the criteria before their grade is published.
    is_shown: bool,
    /// Staff only: the rubric it was copied from, which may be deleted by now.
    rubric_id: StaffOnly<Option<RubricId>>,
    /// Staff only: whether a grade uses it, so that it cannot be replaced or removed.
    is_used: StaffOnly<bool>,
}

impl TopicRubricView {
    pub fn new(rubric: TopicRubric, is_used: bool, audience: &Audience) -> Self {
        from_fields!(rubric => Self {
            max_points: max_points(&rubric.criteria),
            assignment_id, title, criteria, is_shown,
            rubric_id: audience.staff_only(rubric.rubric_id),
            is_used: audience.staff_only(is_used),
        })
    }
}
