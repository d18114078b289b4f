//! Dividing the students of a class into groups (contract 6.8). How is a rule of the model; here the class, the students
//! and their earlier partners are looked up, and the groups are made like any others.

use std::collections::HashMap;

use garde::Validate;
use model::division::{self, Shape, Strategy, Wish};
use model::group::Group;
use model::id::{ClassId, CourseId, UserId};
use model::list::List;
use model::number::GroupNumber;
use model::refusal::Refusal;
use model::text::ShortName;
use model::user::Person;
use serde::Deserialize;
use utoipa::ToSchema;

use super::groups::{self, NewGroupBatch, NewGroupInBatch};
use common::clock;
use common::error::{Error, Result};
use db::Work;
use db::groups::KnownGroup;

/// A wish for groups.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewDivision {
    /// The class.
    #[garde(skip)]
    pub class_id: ClassId,
    /// The course of the groups.
    #[garde(skip)]
    pub course_id: Option<CourseId>,
    /// No group is larger than this; either this or `groupCount`.
    #[garde(range(min = 1, max = 50))]
    #[schema(minimum = 1, maximum = 50)]
    pub group_size: Option<u32>,
    /// So many groups; either this or `groupSize`.
    #[garde(range(min = 1, max = 100))]
    #[schema(minimum = 1, maximum = 100)]
    pub group_count: Option<u32>,
    /// By lot, or so that people meet new partners.
    #[garde(skip)]
    pub strategy: Strategy,
    /// Draws the lots: the same number divides the same students alike. Drawn when absent; a preview tells it.
    #[garde(skip)]
    pub seed: Option<u32>,
    /// Students who stay in one group.
    #[serde(default)]
    #[garde(length(max = 100), dive)]
    #[schema(max_items = 100)]
    pub keep_together: Vec<List<UserId>>,
    /// Students of whom no two share a group.
    #[serde(default)]
    #[garde(length(max = 100), dive)]
    #[schema(max_items = 100)]
    pub keep_apart: Vec<List<UserId>>,
    /// Who is divided; without it all students of the class who are in no group of the course, or of the class.
    #[serde(alias = "memberIds", alias = "userIds")]
    #[garde(dive)]
    pub student_ids: Option<List<UserId>>,
}

/// Groups that would be made.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What drew the lots.
    pub seed: u32,
    /// How often pairs of these groups share a group of the class already.
    pub repeated: i64,
    /// The groups.
    pub groups: Vec<PlannedGroup>,
}

/// One group that would be made.
#[derive(Debug, Clone)]
pub struct PlannedGroup {
    /// Its name.
    pub name: ShortName,
    /// Its number.
    pub number: GroupNumber,
    /// Who would be in it.
    pub members: Vec<Person>,
}

/// Divides and makes the groups, all or none.
pub fn generate(work: &mut Work<'_>, new: &NewDivision) -> Result<Vec<KnownGroup>> {
    let plan = plan(work, new)?;
    let each = plan.groups.into_iter().map(|group| NewGroupInBatch {
        name: Some(group.name),
        group_number: Some(group.number),
        student_ids: List(group.members.into_iter().map(|member| member.id).collect()),
        ..NewGroupInBatch::default()
    });
    let batch = NewGroupBatch {
        class_id: new.class_id.clone(),
        course_id: new.course_id.clone(),
        assignment_id: None,
        groups: each.collect(),
    };
    groups::create_all(work, &batch)
}

/// Works out the groups under the lock of the class, and writes nothing.
pub fn plan(work: &mut Work<'_>, new: &NewDivision) -> Result<Plan> {
    let class = work.class_to_write(&new.class_id)?.id;
    groups::course_for_new_work(work, new.course_id.as_ref(), &class)?;
    let students = students(work, new, &class)?;
    let seed = new.seed.unwrap_or_else(clock::lot);
    let sets = |sets: &[List<UserId>]| sets.iter().map(|set| set.0.clone()).collect();
    let wish = Wish {
        shape: shape(new)?,
        strategy: new.strategy,
        seed: seed.into(),
        together: sets(&new.keep_together),
        apart: sets(&new.keep_apart),
    };
    let ids: Vec<UserId> = students.iter().map(|student| student.id.clone()).collect();
    let division = division::divide(&ids, &wish, &work.partners(&class)?)?;
    let mut people: HashMap<UserId, Person> = students.into_iter().map(|person| (person.id.clone(), person)).collect();
    let mut number = work.next_group_number(&class)?;
    let mut groups = Vec::with_capacity(division.groups.len());
    for members in division.groups {
        groups.push(PlannedGroup {
            name: groups::default_name(number),
            number,
            members: members.iter().filter_map(|id| people.remove(id)).collect(),
        });
        number = Group::next_number(Some(number))?;
    }
    Ok(Plan {
        seed,
        repeated: division.repeated,
        groups,
    })
}

/// Who is divided, by name.
fn students(work: &mut Work<'_>, new: &NewDivision, class: &ClassId) -> Result<Vec<Person>> {
    let Some(wanted) = &new.student_ids else {
        let free = work.ungrouped_students(class, new.course_id.as_ref(), None)?;
        return Ok(free.into_iter().map(|student| student.person).collect());
    };
    let mut enrolled = work.class_students(class, None)?;
    enrolled.retain(|student| wanted.contains(&student.person.id));
    let mut strangers = Vec::new();
    for id in wanted
        .iter()
        .filter(|id| !enrolled.iter().any(|student| student.person.id == **id))
    {
        // Who is not of this school is as unknown as anybody.
        if !work.is_member(id)? {
            return Err(Error::NotFound);
        }
        strangers.push(id.clone());
    }
    if strangers.is_empty() {
        Ok(enrolled.into_iter().map(|student| student.person).collect())
    } else {
        Err(Refusal::StudentNotEnrolled { users: strangers }.into())
    }
}

fn shape(new: &NewDivision) -> Result<Shape> {
    let usize = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    match (new.group_size, new.group_count) {
        (Some(size), None) => Ok(Shape::Size(usize(size))),
        (None, Some(count)) => Ok(Shape::Count(usize(count))),
        (None, None) => Err(Error::invalid("groupSize", "required", "or groupCount is required")),
        (Some(_), Some(_)) => Err(Error::invalid(
            "groupCount",
            "unused",
            "cannot be combined with groupSize",
        )),
    }
}
