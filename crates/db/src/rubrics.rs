//! Reusable rubrics, and the rubrics of topics. Teachers see their own rubrics and shared ones, administrators all.

use domain::id::{AssignmentId, RubricId};
use domain::number::Points;
use domain::rubric::{Rubric, RubricCriterion, TopicRubric, max_points};
use domain::text::{RubricTitle, name_key};
use domain::time::Timestamp;
use domain::user::Person;

use super::sql::Columns;
use super::{ReadTx, WriteTx};
use crate::labels::{PERSON_COLUMNS, person};
use crate::{args, fragments, from_row, named, statements};
use common::error::Result;

fragments! {
    /// The rubrics `r` that the viewer may use. `$4` is used because PostgreSQL must know the type of every parameter.
    VISIBLE_RUBRICS = "r.organization_id = $1 AND CAST($4 AS BIGINT) IS NOT NULL
            AND ($2 = 'ADMIN' OR ($2 = 'TEACHER' AND (r.is_shared OR r.owner_id = $3)))";
    FROM_RUBRICS = "FROM rubrics r JOIN users u ON u.id = r.owner_id";
    RUBRIC_COLUMNS = "r.organization_id, r.id, r.title, r.is_shared, r.created_at, r.updated_at, {PERSON_COLUMNS}";
}

statements! {
    /// The rubrics by title, without their criteria.
    LIST = "SELECT {RUBRIC_COLUMNS}, r.criterion_count, r.max_points {FROM_RUBRICS}
        WHERE {VISIBLE_RUBRICS} ORDER BY r.title_key, r.id";
    BY_ID = "SELECT {RUBRIC_COLUMNS}, r.criteria {FROM_RUBRICS} WHERE {VISIBLE_RUBRICS} AND r.id = $5";
    COUNT = "SELECT COUNT(*) FROM rubrics WHERE organization_id = $1";
    /// Serializes the creation of rubrics, so that their number stays bounded.
    LOCK_COUNT = "SELECT id FROM organizations WHERE id = $1 FOR NO KEY UPDATE";
    LOCK = "SELECT id FROM rubrics WHERE organization_id = $1 AND id = $2 FOR UPDATE";
    INSERT = "INSERT INTO rubrics (organization_id, id, owner_id, title, title_key, is_shared, criteria,
            criterion_count, max_points, created_at, updated_at)
        VALUES ($1, :id, :owner_id, :title, :title_key, :is_shared, :criteria, :criterion_count, :max_points,
            :created_at, :updated_at)";
    UPDATE = "UPDATE rubrics SET title = :title, title_key = :title_key, is_shared = :is_shared, criteria = :criteria,
            criterion_count = :criterion_count, max_points = :max_points, updated_at = :updated_at
        WHERE organization_id = $1 AND id = :id";
    DELETE = "DELETE FROM rubrics WHERE organization_id = $1 AND id = $2";
    OF_TOPIC = "SELECT x.assignment_id, x.rubric_id, x.title, x.criteria, x.is_shown FROM assignment_rubrics x
        WHERE x.organization_id = $1 AND x.assignment_id = $2";
    SET_OF_TOPIC = "INSERT INTO assignment_rubrics (organization_id, assignment_id, rubric_id, title, criteria,
            is_shown,
            created_at, updated_at)
        VALUES ($1, :assignment_id, :rubric_id, :title, :criteria, :is_shown, :created_at, :created_at)
        ON CONFLICT (assignment_id) DO UPDATE SET rubric_id = excluded.rubric_id, title = excluded.title,
            criteria = excluded.criteria, is_shown = excluded.is_shown, updated_at = excluded.updated_at";
    COPY_OF_TOPIC = "INSERT INTO assignment_rubrics (organization_id, assignment_id, rubric_id, title, criteria, is_shown,
            created_at, updated_at)
        SELECT organization_id, $3, rubric_id, title, criteria, is_shown, $4, $4 FROM assignment_rubrics
        WHERE organization_id = $1 AND assignment_id = $2";
    DELETE_OF_TOPIC = "DELETE FROM assignment_rubrics WHERE organization_id = $1 AND assignment_id = $2";
    /// Whether a grade of the topic, also a draft or a former one, has filled criteria.
    IS_USED = "SELECT EXISTS (SELECT 1 FROM group_assignments ga
        JOIN submissions s ON s.group_assignment_id = ga.id
        JOIN grades gr ON gr.submission_id = s.id
        WHERE ga.organization_id = $1 AND ga.assignment_id = $2 AND gr.rubric IS NOT NULL)";
}

/// A rubric with its owner.
#[derive(Debug, Clone)]
pub struct OwnedRubric {
    pub rubric: Rubric,
    pub owner: Person,
}

/// A rubric in a list, without its criteria.
#[derive(Debug, Clone)]
pub struct ListedRubric {
    pub id: RubricId,
    pub title: RubricTitle,
    pub owner: Person,
    pub is_shared: bool,
    /// Number of criteria.
    pub criteria: i64,
    pub max_points: Option<Points>,
    pub updated_at: Timestamp,
}

impl ReadTx<'_> {
    /// Lists the rubrics that the viewer may use, by title.
    pub fn rubrics(&mut self) -> Result<Vec<ListedRubric>> {
        self.fetch_all_visible(&LIST, args![], |row| {
            from_row!(row => ListedRubric {
                id, title, is_shared, criteria = "criterion_count", updated_at,
                owner: person(row)?,
                max_points: row.get::<Option<f64>>("max_points")?.map(Points::stored),
            })
        })
    }

    /// Returns a rubric that the viewer may use, or `NotFound`.
    pub fn rubric(&mut self, id: &RubricId) -> Result<OwnedRubric> {
        self.fetch_one_visible(&BY_ID, args![id], rubric)
    }

    /// Returns the rubric of a topic, regardless of the viewer.
    pub fn topic_rubric(&mut self, topic: &AssignmentId) -> Result<Option<TopicRubric>> {
        self.fetch_optional(&OF_TOPIC, args![topic], |row| {
            from_row!(row => TopicRubric {
                assignment_id, rubric_id, title, is_shown,
                criteria: serde_json::from_str(&row.get::<String>("criteria")?)?,
            })
        })
    }

    /// Returns whether a grade of the topic has filled criteria.
    pub fn is_rubric_used(&mut self, topic: &AssignmentId) -> Result<bool> {
        self.fetch_one(&IS_USED, args![topic], |row| row.only())
    }
}

impl WriteTx<'_> {
    /// Counts the rubrics of the organization. Until the end of the transaction no other one is created.
    pub fn lock_rubric_count(&mut self) -> Result<i64> {
        self.fetch_one(&LOCK_COUNT, args![], |row| row.get::<String>("id"))?;
        self.fetch_one(&COUNT, args![], |row| row.only())
    }

    /// Locks a rubric that the viewer may use.
    pub fn lock_rubric(&mut self, id: &RubricId) -> Result<OwnedRubric> {
        self.fetch_one(&LOCK, args![id], |row| row.get::<RubricId>("id"))?;
        self.rubric(id)
    }

    pub fn insert_rubric(&mut self, new: &Rubric) -> Result<()> {
        let (criteria, count, most) = criteria_columns(&new.criteria)?;
        let title_key = name_key(new.title.as_str());
        self.execute_named(
            &INSERT,
            named![new =>
                id, owner_id, title, is_shared, created_at, updated_at,
                title_key: title_key,
                criteria: criteria,
                criterion_count: count,
                max_points: most,
            ],
        )
    }

    pub fn update_rubric(&mut self, rubric: &Rubric) -> Result<()> {
        let (criteria, count, most) = criteria_columns(&rubric.criteria)?;
        let title_key = name_key(rubric.title.as_str());
        self.execute_named(
            &UPDATE,
            named![rubric =>
                id, title, is_shared, updated_at,
                title_key: title_key,
                criteria: criteria,
                criterion_count: count,
                max_points: most,
            ],
        )
    }

    pub fn delete_rubric(&mut self, id: &RubricId) -> Result<()> {
        self.execute(&DELETE, args![id])
    }

    /// Inserts or replaces the rubric of a topic.
    pub fn set_topic_rubric(&mut self, rubric: &TopicRubric) -> Result<()> {
        let (criteria, now) = (serde_json::to_string(&rubric.criteria)?, self.now());
        self.execute_named(
            &SET_OF_TOPIC,
            named![rubric =>
                assignment_id, rubric_id, title, is_shown,
                criteria: criteria,
                created_at: now,
            ],
        )
    }

    /// Copies the rubric of a topic, if it has one, to a new topic.
    pub fn copy_topic_rubric(&mut self, from: &AssignmentId, to: &AssignmentId) -> Result<()> {
        let now = self.now();
        self.execute(&COPY_OF_TOPIC, args![from, to, now])
    }

    pub fn delete_topic_rubric(&mut self, topic: &AssignmentId) -> Result<()> {
        self.execute(&DELETE_OF_TOPIC, args![topic])
    }
}

fn criteria_columns(criteria: &[RubricCriterion]) -> Result<(String, i64, Option<f64>)> {
    let count = i64::try_from(criteria.len()).unwrap_or(i64::MAX);
    let most = max_points(criteria).map(Points::get);
    Ok((serde_json::to_string(criteria)?, count, most))
}

fn rubric(row: &Columns<'_>) -> Result<OwnedRubric> {
    let owner = person(row)?;
    let rubric = from_row!(row => Rubric {
        id, organization_id, title, is_shared, created_at, updated_at,
        owner_id: owner.id.clone(),
        criteria: serde_json::from_str(&row.get::<String>("criteria")?)?,
    })?;
    Ok(OwnedRubric { rubric, owner })
}
