//! What people do with topics. A topic and its groups stay in one course: whatever moves one moves the others in the
//! same unit (contract 4.3). Links of single groups are in `group_assignments.rs`, bulk edits in `bulk_edits.rs`.

use garde::Validate;
use model::assignment::{Assignment, AssignmentEdit, LatePolicy, OwnText, own_texts};
use model::change::assignment::AssignmentChange;
use model::change::removed::Removed;
use model::course::Course;
use model::edit::Changed;
use model::id::{AssignmentId, ClassId, CourseId, GroupId, UserId};
use model::list::List;
use model::number::{Points, RequiredSubmissions};
use model::text::{Description, GradeScale, Title};
use model::time::Timestamp;
use serde::Deserialize;
use utoipa::ToSchema;

use super::group_assignments;
use common::clock;
use common::error::{Error, Result};
use db::Work;
use db::assignments::SeenAssignment;

/// A topic to be created.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewAssignment {
    /// The name of the topic.
    #[garde(dive)]
    pub title: Title,
    /// The task text.
    #[garde(dive)]
    pub description: Option<Description>,
    /// The only deadline there is; one in the past is allowed.
    #[garde(skip)]
    pub deadline: Timestamp,
    /// How many documents a group has to submit; one unless said otherwise.
    #[garde(dive)]
    pub required_submissions: Option<RequiredSubmissions>,
    /// The most points a grade may have.
    #[garde(dive)]
    pub max_points: Option<Points>,
    /// The scale of the grades; the school's own unless said otherwise.
    #[serde(default, deserialize_with = "model::text::optional")]
    #[garde(dive)]
    pub grade_scale: Option<GradeScale>,
    /// What the school has set unless said otherwise, and ALLOW where it has set nothing.
    #[garde(skip)]
    pub late_policy: Option<LatePolicy>,
    /// Its class.
    #[garde(skip)]
    pub class_id: ClassId,
    /// Its course, one of the same class.
    #[garde(skip)]
    pub course_id: Option<CourseId>,
    /// True unless said otherwise.
    #[garde(skip)]
    pub is_shared: Option<bool>,
    /// Groups that work on it.
    #[serde(default)]
    #[garde(dive)]
    pub group_ids: List<GroupId>,
    /// Groups that work on it, with texts of their own.
    #[serde(default)]
    #[garde(custom(own_texts))]
    pub groups: List<OwnText>,
}

/// Adds a topic to a class the caller manages, perhaps with groups.
pub fn create(work: &mut Work<'_>, new: &NewAssignment) -> Result<SeenAssignment> {
    let class = work.class_to_write(&new.class_id)?;
    let course = course(work, new.course_id.as_ref())?;
    let groups = group_assignments::wanted(work, &class.id, &new.group_ids, &new.groups)?;
    if let Some(course) = &course {
        course.belongs_to(&class.id)?;
        course.takes_new_work()?;
    }
    let defaults = work.school_settings()?;
    let assignment = Assignment {
        id: AssignmentId::new(clock::new_id()),
        organization_id: work.organization().clone(),
        class_id: class.id,
        course_id: course.as_ref().map(|course| course.id.clone()),
        title: new.title.clone(),
        description: new.description.clone().unwrap_or_else(|| Description::stored("")),
        deadline: new.deadline,
        required_submissions: new.required_submissions.unwrap_or(RequiredSubmissions::stored(1)),
        is_shared: new.is_shared.unwrap_or(true),
        finished: None,
        max_points: new.max_points,
        grade_scale: new.grade_scale.clone().or(defaults.grade_scale),
        late_policy: new.late_policy.or(defaults.late_default).unwrap_or(LatePolicy::Allow),
        created_by_id: person(work)?,
        created_at: work.now(),
        updated_at: work.now(),
    };
    work.insert_assignment(&assignment)?;
    let attached = group_assignments::attach_all(work, &assignment, course.as_ref(), groups)?;
    let seen = work.assignment(&assignment.id)?;
    work.record(AssignmentChange::Created {
        assignment: Box::new(seen.whole.clone()),
        copied_from: None,
    });
    group_assignments::tell_moved(work, attached.moved)?;
    Ok(seen)
}

/// Changes what a PATCH names; own texts of the groups it lists and of no others.
pub fn edit(work: &mut Work<'_>, id: &AssignmentId, edit: &AssignmentEdit) -> Result<SeenAssignment> {
    let whole = work.assignment_to_write(id)?;
    let course = course(work, edit.course_id.value())?;
    let texts = edit.groups.value().map_or(&[][..], |texts| &**texts);
    let links = group_assignments::named_links(work, &whole, texts)?;

    let mut assignment = whole.assignment.clone();
    let mut changed = Changed::new();
    let mut moved = Vec::new();
    if !edit.course_id.is_keep() {
        moved = group_assignments::move_all(work, &mut assignment, course.as_ref(), &whole.group_ids())?;
        changed.write(
            "courseId",
            &mut whole.assignment.course_id.clone(),
            assignment.course_id.clone(),
        );
    }
    changed.extend(assignment.edit(edit.clone(), work.now())?);
    if !changed.is_empty() {
        work.update_assignment(&assignment)?;
    }
    let overridden = group_assignments::write_texts(work, &assignment, links, texts)?;
    let seen = work.assignment(id)?;
    if !changed.is_empty() || !overridden.is_empty() {
        let assignment = Box::new(seen.whole.clone());
        work.record(AssignmentChange::Updated {
            assignment,
            changed,
            overridden,
        });
    }
    group_assignments::tell_moved(work, moved)?;
    Ok(seen)
}

/// Removes a topic with its links, submissions and files; rooms and documents stay. Returns how many submissions were
/// deleted.
pub fn remove(work: &mut Work<'_>, id: &AssignmentId) -> Result<i64> {
    let whole = work.assignment_to_write(id)?;
    let places = whole.links.iter().map(|link| link.place.clone()).collect();
    let Removed {
        submissions,
        released,
        files,
        ..
    } = work.delete_assignment(id)?;
    let assignment = Box::new(whole.assignment);
    work.record(AssignmentChange::Deleted {
        assignment,
        places,
        submissions,
        released,
        files,
    });
    Ok(submissions)
}

/// The course a request names, known to the caller, or none.
pub(super) fn course(work: &mut Work<'_>, id: Option<&CourseId>) -> Result<Option<Course>> {
    id.map(|id| work.course(id).map(|record| record.course)).transpose()
}

/// The person who acts; the service itself makes no topics.
pub(super) fn person(work: &Work<'_>) -> Result<UserId> {
    work.actor().user.clone().ok_or(Error::Unauthenticated)
}
