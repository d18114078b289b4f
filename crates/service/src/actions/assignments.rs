//! Creates, updates and deletes topics. A topic and its groups are always in the same course: when one moves, the
//! others move in the same transaction. `group_assignments.rs` links single groups, `bulk_edits.rs` edits all groups
//! at once.

use api_macros::body;
use domain::assignment::{Assignment, AssignmentEdit, GroupDescription, LatePolicy, check_group_descriptions};
use domain::change::{AssignmentChange, CascadeDeletion};
use domain::course::Course;
use domain::deleted_object::{DeletedNoun, DeletionRetention};
use domain::id::{AssignmentId, ClassId, CourseId, GroupId};
use domain::list::List;
use domain::number::{Points, RequiredSubmissions};
use domain::patch::FieldDiff;
use domain::publication::TopicPublication;
use domain::text::{Description, GradeScale, ShortName, Title};
use domain::time::Timestamp;

use super::acting_user::acting_user;
use super::deletions::{self, Deleting, KeptDeletion};
use super::group_assignments;
use common::clock;
use common::error::Result;
use db::WriteTx;
use db::assignments::VisibleAssignment;

/// A topic to create.
#[body]
pub struct NewAssignment {
    /// The title of the topic.
    pub title: Title,
    /// The text of the task.
    pub description: Option<Description>,
    /// The deadline, the same for all groups. It may be in the past.
    pub deadline: Timestamp,
    /// How long the work takes, such as "2 lessons".
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub working_time: Option<ShortName>,
    /// The number of documents that a group has to submit. Defaults to 1.
    pub required_submissions: Option<RequiredSubmissions>,
    /// The maximum points of a grade.
    pub max_points: Option<Points>,
    /// The grade scale. Defaults to the scale of the organization.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub grade_scale: Option<GradeScale>,
    /// Whether late submissions are accepted. Defaults to the setting of the organization, or ALLOW if it has none.
    pub late_policy: Option<LatePolicy>,
    /// The class of the topic.
    pub class_id: ClassId,
    /// The course of the topic; it must belong to the same class.
    pub course_id: Option<CourseId>,
    /// Defaults to true.
    pub is_shared: Option<bool>,
    /// True creates a draft, which students do not see until it is published. Defaults to false.
    pub is_draft: Option<bool>,
    /// Students see the topic from this time. By default they see it at once.
    pub publish_at: Option<Timestamp>,
    /// The groups that work on the topic.
    #[serde(default)]
    pub group_ids: List<GroupId>,
    /// The groups that work on the topic, with group-specific texts and exceptions from the publication.
    #[serde(default)]
    #[garde(custom(check_group_descriptions))]
    pub groups: List<GroupDescription>,
}

/// Creates a topic in a class that the caller manages, optionally with groups.
pub fn create(tx: &mut WriteTx<'_>, new: &NewAssignment) -> Result<VisibleAssignment> {
    let class = tx.lock_writable_class(&new.class_id)?;
    let course = course(tx, new.course_id.as_ref())?;
    let groups = group_assignments::resolve_requested_groups(tx, &class.id, &new.group_ids, &new.groups)?;
    if let Some(course) = &course {
        course.belongs_to(&class.id)?;
        course.takes_new_work()?;
    }
    let publication = TopicPublication::new(new.is_draft, new.publish_at)?;
    publication.check_deadline(new.deadline, &FieldDiff::new(), tx.now())?;
    let defaults = tx.organization_settings()?;
    let (id, school, title) = (
        AssignmentId::new(clock::new_id()),
        tx.organization().clone(),
        new.title.clone(),
    );
    let blank = Assignment::new(id, school, class.id, title, new.deadline, acting_user(tx)?, tx.now());
    let assignment = Assignment {
        course_id: course.as_ref().map(|course| course.id.clone()),
        description: new.description.clone().unwrap_or(blank.description),
        working_time: new.working_time.clone(),
        required_submissions: new.required_submissions.unwrap_or(blank.required_submissions),
        is_shared: new.is_shared.unwrap_or(blank.is_shared),
        max_points: new.max_points,
        grade_scale: new.grade_scale.clone().or(defaults.grade_scale),
        late_policy: new.late_policy.or(defaults.late_default).unwrap_or(blank.late_policy),
        publication,
        ..blank
    };
    tx.insert_assignment(&assignment)?;
    let attached = group_assignments::attach_all(tx, &assignment, course.as_ref(), groups)?;
    let seen = tx.assignment(&assignment.id)?;
    tx.record(AssignmentChange::Created {
        assignment: Box::new(seen.details.clone()),
        copied_from: None,
    });
    group_assignments::record_moved_groups(tx, attached.moved)?;
    Ok(seen)
}

/// Applies a PATCH. Group-specific texts and publications change only for the groups in the request.
pub fn edit(tx: &mut WriteTx<'_>, id: &AssignmentId, edit: &AssignmentEdit) -> Result<VisibleAssignment> {
    let details = tx.lock_writable_assignment(id)?;
    let course = course(tx, edit.course_id.value())?;
    let texts = edit.groups.value().map_or(&[][..], |texts| &**texts);
    let links = group_assignments::named_links(tx, &details, texts)?;

    let mut assignment = details.assignment.clone();
    let mut changed = FieldDiff::new();
    let mut moved = Vec::new();
    if !edit.course_id.is_unchanged() {
        moved = group_assignments::move_all(tx, &mut assignment, course.as_ref(), &details.group_ids())?;
        changed.write(
            "courseId",
            &mut details.assignment.course_id.clone(),
            assignment.course_id.clone(),
        );
    }
    changed.extend(assignment.edit(edit.clone(), tx.now())?);
    if !changed.is_empty() {
        tx.update_assignment(&assignment)?;
    }
    let edited = group_assignments::edit_links(tx, &assignment, links, texts)?;
    let seen = tx.assignment(id)?;
    let published_before = details.published_groups(tx.now());
    for link in &seen.details.links {
        let was_published = published_before.contains(&link.link.group_id);
        link.link.check_still_published(was_published, &assignment, tx.now())?;
    }
    if !changed.is_empty() || !edited.overridden.is_empty() || !edited.excepted.is_empty() {
        let assignment = Box::new(seen.details.clone());
        tx.record(AssignmentChange::Updated {
            assignment,
            changed,
            overridden: edited.overridden,
            excepted: edited.excepted,
            published_before,
        });
    }
    group_assignments::record_moved_groups(tx, moved)?;
    Ok(seen)
}

/// Deletes a topic with its links, submissions and files. Work rooms and documents stay. Returns the number of
/// deleted submissions.
pub fn remove(
    tx: &mut WriteTx<'_>,
    id: &AssignmentId,
    retention: DeletionRetention,
) -> Result<(i64, Option<KeptDeletion>)> {
    let details = tx.lock_writable_assignment(id)?;
    let deleting = Deleting {
        noun: DeletedNoun::Assignment,
        id: id.as_str(),
        name: details.assignment.title.as_str(),
        class: &details.assignment.class_id,
        course: details.assignment.course_id.as_ref(),
        group: None,
    };
    let kept = deletions::keep(tx, retention, &deleting)?;
    let group_contexts = details.links.iter().map(|link| link.group_context.clone()).collect();
    let published_groups = details.published_groups(tx.now());
    let CascadeDeletion {
        submissions,
        released,
        files,
        ..
    } = tx.delete_assignment(id)?;
    let files = if kept.is_some() { Vec::new() } else { files };
    let assignment = Box::new(details.assignment);
    tx.record(AssignmentChange::Deleted {
        assignment,
        group_contexts,
        published_groups,
        submissions,
        released,
        files,
    });
    Ok((submissions, kept))
}

/// Returns the course that a request names; [`Error::NotFound`] if the caller cannot see it.
pub(super) fn course(tx: &mut WriteTx<'_>, id: Option<&CourseId>) -> Result<Option<Course>> {
    id.map(|id| tx.course(id).map(|record| record.course)).transpose()
}
