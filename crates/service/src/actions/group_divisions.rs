//! Divides the students of a class into groups. The algorithm is a rule of the model; this module looks up the class,
//! the students and their earlier partners, and creates the groups.

use api_macros::body;
use std::collections::HashMap;

use domain::domain_error::DomainError;
use domain::group::Group;
use domain::group_generator::{self, GroupConstraints, GroupSizing, Strategy};
use domain::id::{ClassId, CourseId, UserId};
use domain::list::List;
use domain::number::GroupNumber;
use domain::text::ShortName;
use domain::user::Person;

use super::groups::{self, NewGroupBatch, NewGroupInBatch};
use common::clock;
use common::error::{Error, Result};
use db::WriteTx;
use db::groups::VisibleGroup;

/// A request to divide students into groups.
#[body]
pub struct NewDivision {
    /// The class whose students are divided.
    pub class_id: ClassId,
    /// The course of the groups.
    pub course_id: Option<CourseId>,
    /// The maximum size of a group. Provide either this or `groupCount`.
    #[garde(range(min = 1, max = 50))]
    #[schema(minimum = 1, maximum = 50)]
    pub group_size: Option<u32>,
    /// The number of groups. Provide either this or `groupSize`.
    #[garde(range(min = 1, max = 100))]
    #[schema(minimum = 1, maximum = 100)]
    pub group_count: Option<u32>,
    /// Divide randomly, or prefer partners who have not worked together yet.
    pub strategy: Strategy,
    /// The random seed: the same seed divides the same students in the same way. Generated if absent; a preview
    /// returns it.
    #[garde(skip)]
    pub seed: Option<u32>,
    /// Sets of students who are placed in the same group.
    #[serde(default)]
    #[garde(length(max = 100), dive)]
    #[schema(max_items = 100)]
    pub keep_together: Vec<List<UserId>>,
    /// Sets of students of whom no two are placed in the same group.
    #[serde(default)]
    #[garde(length(max = 100), dive)]
    #[schema(max_items = 100)]
    pub keep_apart: Vec<List<UserId>>,
    /// The students to divide. Defaults to all students of the class who are in no group of the course, or of the
    /// class if there is no course.
    #[serde(alias = "memberIds", alias = "userIds")]
    pub student_ids: Option<List<UserId>>,
}

/// The groups that would be created.
#[derive(Debug, Clone)]
pub struct DivisionPlan {
    /// The random seed that was used.
    pub seed: u32,
    /// How often pairs of these groups have been in one group of the class before, in total.
    pub repeated: i64,
    pub groups: Vec<PlannedGroup>,
}

/// A group that would be created.
#[derive(Debug, Clone)]
pub struct PlannedGroup {
    pub name: ShortName,
    pub number: GroupNumber,
    pub members: Vec<Person>,
}

/// Divides the students and creates the groups, all or none.
pub fn generate(tx: &mut WriteTx<'_>, new: &NewDivision) -> Result<Vec<VisibleGroup>> {
    let plan = plan(tx, new)?;
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
    groups::create_all(tx, &batch)
}

/// Computes the groups while holding the lock of the class. Writes nothing.
pub fn plan(tx: &mut WriteTx<'_>, new: &NewDivision) -> Result<DivisionPlan> {
    let class = tx.lock_writable_class(&new.class_id)?.id;
    groups::course_for_new_work(tx, new.course_id.as_ref(), &class)?;
    let students = students(tx, new, &class)?;
    let seed = new.seed.unwrap_or_else(clock::random_seed);
    let sets = |sets: &[List<UserId>]| sets.iter().map(|set| set.0.clone()).collect();
    let constraints = GroupConstraints {
        sizing: sizing(new)?,
        strategy: new.strategy,
        seed: seed.into(),
        together: sets(&new.keep_together),
        apart: sets(&new.keep_apart),
    };
    let ids: Vec<UserId> = students.iter().map(|student| student.id.clone()).collect();
    let generated = group_generator::generate_groups(&ids, &constraints, &tx.partners(&class)?)?;
    let mut people: HashMap<UserId, Person> = students.into_iter().map(|person| (person.id.clone(), person)).collect();
    let mut number = tx.next_group_number(&class)?;
    let mut groups = Vec::with_capacity(generated.groups.len());
    for members in generated.groups {
        groups.push(PlannedGroup {
            name: Group::default_name(number),
            number,
            members: members.iter().filter_map(|id| people.remove(id)).collect(),
        });
        number = Group::next_number(Some(number))?;
    }
    Ok(DivisionPlan {
        seed,
        repeated: generated.repeated,
        groups,
    })
}

/// Returns the students to divide, sorted by name.
fn students(tx: &mut WriteTx<'_>, new: &NewDivision, class: &ClassId) -> Result<Vec<Person>> {
    let Some(wanted) = &new.student_ids else {
        let free = tx.ungrouped_students(class, new.course_id.as_ref(), None)?;
        return Ok(free.into_iter().map(|student| student.person).collect());
    };
    let mut enrolled = tx.class_students(class, None)?;
    enrolled.retain(|student| wanted.contains(&student.person.id));
    let mut strangers = Vec::new();
    for id in wanted
        .iter()
        .filter(|id| !enrolled.iter().any(|student| student.person.id == **id))
    {
        // Ids of users outside the organization are not found, like ids that do not exist.
        if !tx.is_member(id)? {
            return Err(Error::NotFound);
        }
        strangers.push(id.clone());
    }
    if strangers.is_empty() {
        Ok(enrolled.into_iter().map(|student| student.person).collect())
    } else {
        Err(DomainError::StudentNotEnrolled { users: strangers }.into())
    }
}

fn sizing(new: &NewDivision) -> Result<GroupSizing> {
    let usize = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    match (new.group_size, new.group_count) {
        (Some(size), None) => Ok(GroupSizing::Size(usize(size))),
        (None, Some(count)) => Ok(GroupSizing::Count(usize(count))),
        (None, None) => Err(Error::invalid("groupSize", "required", "or groupCount is required")),
        (Some(_), Some(_)) => Err(Error::invalid(
            "groupCount",
            "unused",
            "cannot be combined with groupSize",
        )),
    }
}
