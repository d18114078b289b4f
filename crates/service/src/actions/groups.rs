//! Creates, updates and deletes groups. A group and its work room are created in one transaction. The course of a
//! group follows that of its topics. All writes hold the lock of the class, so changes of numbers and memberships are
//! serialized.

use api_macros::body;
use domain::assignment::GroupDescription;
use domain::change::{AssignmentChange, GroupChange};
use domain::course::Course;
use domain::deleted_object::{DeletedNoun, DeletionRetention};
use domain::domain_error::DomainError;
use domain::from_fields;
use domain::group::{Group, GroupEdit};
use domain::id::{AssignmentId, ClassId, CourseId, GroupId, SubjectId, UserId, WorkRoomId};
use domain::list::List;
use domain::number::{GroupNumber, RequiredDocuments};
use domain::patch::FieldPatch;
use domain::text::{Description, ShortName};
use domain::zone::DateOrTime;

use super::acting_user::acting_user;
use super::deletions::{self, Deleting, KeptDeletion};
use super::{assignments, group_assignments, group_members};
use common::clock;
use common::error::{Error, Result};
use db::WriteTx;
use db::groups::VisibleGroup;

/// A group to create.
#[body]
pub struct NewGroup {
    /// The class of the group.
    pub class_id: ClassId,
    /// The course of the group; it must belong to the same class.
    pub course_id: Option<CourseId>,
    /// A topic to attach the group to. A group without a course moves to the course of the topic.
    pub assignment_id: Option<AssignmentId>,
    /// The name. Defaults to "Group n".
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub name: Option<ShortName>,
    /// The number. Defaults to the next free number of the class.
    pub group_number: Option<GroupNumber>,
    /// A display name chosen by the group.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub display_name: Option<ShortName>,
    /// Students cannot see the group before this time.
    pub start_date: Option<DateOrTime>,
    /// The room or place where the group meets.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub meeting_place: Option<ShortName>,
    /// The number of required documents. Defaults to 1.
    pub required_documents: Option<RequiredDocuments>,
    /// The subject. Defaults to that of the course.
    pub subject_id: Option<SubjectId>,
    /// The members: students of the class.
    #[serde(default, alias = "memberIds", alias = "userIds")]
    pub student_ids: List<UserId>,
    /// The group-specific task text for the topic.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub description_override: Option<Description>,
}

/// Several groups of one class, created all or none.
#[body]
pub struct NewGroupBatch {
    /// The class of the groups.
    pub class_id: ClassId,
    /// The course of the groups.
    pub course_id: Option<CourseId>,
    /// A topic to attach the groups to.
    pub assignment_id: Option<AssignmentId>,
    /// The individual properties of each group.
    #[garde(length(min = 1, max = 100), dive)]
    #[schema(min_items = 1, max_items = 100)]
    pub groups: Vec<NewGroupInBatch>,
}

/// One group of a batch.
#[body(Default)]
pub struct NewGroupInBatch {
    /// The name. Defaults to "Group n".
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub name: Option<ShortName>,
    /// The number. Defaults to the next free number of the class.
    pub group_number: Option<GroupNumber>,
    /// A display name chosen by the group.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub display_name: Option<ShortName>,
    /// Students cannot see the group before this time.
    pub start_date: Option<DateOrTime>,
    /// The room or place where the group meets.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub meeting_place: Option<ShortName>,
    /// The number of required documents. Defaults to 1.
    pub required_documents: Option<RequiredDocuments>,
    /// The subject. Defaults to that of the course.
    pub subject_id: Option<SubjectId>,
    /// The members: students of the class.
    #[serde(default, alias = "memberIds", alias = "userIds")]
    pub student_ids: List<UserId>,
    /// The group-specific task text for the topic.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub description_override: Option<Description>,
}

impl NewGroupBatch {
    fn each(&self) -> impl Iterator<Item = NewGroup> {
        self.groups.iter().cloned().map(|group| from_fields!(group => NewGroup {
            name, group_number, display_name, start_date, meeting_place, required_documents, subject_id, student_ids,
            description_override,
            class_id: self.class_id.clone(),
            course_id: self.course_id.clone(),
            assignment_id: self.assignment_id.clone(),
        }))
    }
}

/// Creates a group with its work room in a class that the caller manages.
pub fn create(tx: &mut WriteTx<'_>, new: &NewGroup) -> Result<VisibleGroup> {
    let group = insert_group(tx, new)?;
    let attached = attach(tx, new, &[own_text(&group, new)])?;
    let known = record_created(tx, &group)?;
    if let Some(change) = attached {
        tx.record(change);
    }
    Ok(known)
}

/// Creates several groups in a class that the caller manages, all or none.
pub fn create_all(tx: &mut WriteTx<'_>, new: &NewGroupBatch) -> Result<Vec<VisibleGroup>> {
    let each: Vec<NewGroup> = new.each().collect();
    let made: Vec<Group> = each.iter().map(|new| insert_group(tx, new)).collect::<Result<_>>()?;
    let texts: Vec<GroupDescription> = made
        .iter()
        .zip(&each)
        .map(|(group, new)| own_text(group, new))
        .collect();
    let attached = each.first().map_or(Ok(None), |first| attach(tx, first, &texts))?;
    let known = made
        .iter()
        .map(|group| record_created(tx, group))
        .collect::<Result<_>>()?;
    if let Some(change) = attached {
        tx.record(change);
    }
    Ok(known)
}

/// Inserts a group with its work room and its members.
fn insert_group(tx: &mut WriteTx<'_>, new: &NewGroup) -> Result<Group> {
    let class = tx.lock_writable_class(&new.class_id)?.id;
    let course = course_for_new_work(tx, new.course_id.as_ref(), &class)?;
    if new.assignment_id.is_none() && new.description_override.is_some() {
        return Err(Error::invalid("descriptionOverride", "unused", "needs assignmentId"));
    }
    let number = match new.group_number {
        Some(number) => number,
        None => tx.next_group_number(&class)?,
    };
    let start_date = new.start_date.map(|date| tx.resolve_timestamp(date)).transpose()?;
    let (id, room) = (GroupId::new(clock::new_id()), WorkRoomId::new(clock::new_id()));
    let blank = Group::new(
        id,
        tx.organization().clone(),
        class,
        room,
        number,
        acting_user(tx)?,
        tx.now(),
    );
    let group = Group {
        name: new.name.clone().unwrap_or(blank.name),
        display_name: new.display_name.clone(),
        start_date,
        meeting_place: new.meeting_place.clone(),
        required_documents: new.required_documents.unwrap_or(blank.required_documents),
        subject_id: subject_of(tx, new.subject_id.as_ref(), course.as_ref())?,
        course_id: course.map(|course| course.id),
        ..blank
    };
    tx.insert_group(&group)?;
    group_members::join(tx, &group, 0, &new.student_ids)?;
    Ok(group)
}

/// Returns the course of new groups: visible to the caller, of this class, and not archived.
pub(super) fn course_for_new_work(
    tx: &mut WriteTx<'_>,
    id: Option<&CourseId>,
    class: &ClassId,
) -> Result<Option<Course>> {
    let course = course_of(tx, id, class)?;
    course.as_ref().map_or(Ok(()), Course::takes_new_work)?;
    Ok(course)
}

fn own_text(group: &Group, new: &NewGroup) -> GroupDescription {
    GroupDescription {
        group_id: group.id.clone(),
        description_override: new
            .description_override
            .clone()
            .map_or(FieldPatch::Unchanged, FieldPatch::Value),
        includes_shared_text: FieldPatch::Unchanged,
        is_draft: FieldPatch::Unchanged,
        publish_at: FieldPatch::Unchanged,
    }
}

/// Attaches new groups to the topic in the request; groups without a course move to its course. Returns the change to
/// record after the creation of the groups.
fn attach(tx: &mut WriteTx<'_>, new: &NewGroup, texts: &[GroupDescription]) -> Result<Option<AssignmentChange>> {
    let Some(topic) = &new.assignment_id else {
        return Ok(None);
    };
    let assignment = tx.assignment(topic)?.details.assignment;
    let course = assignments::course(tx, assignment.course_id.as_ref())?;
    let wanted = group_assignments::resolve_requested_groups(tx, &new.class_id, &[], texts)?;
    let attached = group_assignments::attach_all(tx, &assignment, course.as_ref(), wanted)?.groups;
    let assignment = Box::new(tx.assignment(topic)?.details);
    Ok(Some(AssignmentChange::GroupsAttached { assignment, attached }))
}

fn record_created(tx: &mut WriteTx<'_>, group: &Group) -> Result<VisibleGroup> {
    let known = tx.group(&group.id)?;
    tx.record(GroupChange::Created {
        group: Box::new(known.details.clone()),
    });
    Ok(known)
}

/// Applies a PATCH.
pub fn edit(tx: &mut WriteTx<'_>, id: &GroupId, edit: &GroupEdit) -> Result<VisibleGroup> {
    let details = tx.lock_writable_group(id)?;
    let (before, active) = (details.group_context(), group_assignments::active_topics(&details));
    let mut group = details.group;
    let course = course_of(tx, edit.course_id.value(), &group.class_id)?;
    if let Some(subject) = edit.subject_id.value() {
        tx.subject(subject)?;
    }
    let mut edit = edit.clone();
    edit.start_date = tx.patched_timestamp(&edit.start_date)?.map(DateOrTime::Time);
    let changed = group.edit(edit, course.as_ref(), &active, tx.now())?;
    if !changed.is_empty() {
        tx.update_group(&group)?;
        let group = Box::new(tx.whole_group(id)?);
        tx.record(GroupChange::Updated { group, before, changed });
    }
    tx.group(id)
}

/// What was deleted with a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedWithGroup {
    pub documents: i64,
    pub submissions: i64,
    pub kept: Option<KeptDeletion>,
}

/// Deletes a group with its work room, documents and submissions. Its topics stay.
pub fn remove(tx: &mut WriteTx<'_>, id: &GroupId, retention: DeletionRetention) -> Result<RemovedWithGroup> {
    let details = tx.lock_writable_group(id)?;
    let name = details.group.shown_name();
    let deleting = Deleting {
        noun: DeletedNoun::Group,
        id: id.as_str(),
        name,
        class: &details.group.class_id,
        course: details.group.course_id.as_ref(),
        group: Some((id, name)),
    };
    let kept = deletions::keep(tx, retention, &deleting)?;
    let mut removed = tx.delete_group(id)?;
    if kept.is_some() {
        removed.files.clear();
    }
    let counts = RemovedWithGroup {
        documents: removed.documents,
        submissions: removed.submissions,
        kept,
    };
    tx.record(from_fields!(removed => GroupChange::Deleted {
        documents, submissions, files,
        group_context: details.group_context(),
        members: details.member_ids(),
        group: Box::new(details.group),
    }));
    Ok(counts)
}

/// Returns the course in a request: visible to the caller and of this class.
fn course_of(tx: &mut WriteTx<'_>, id: Option<&CourseId>, class: &ClassId) -> Result<Option<Course>> {
    let Some(id) = id else { return Ok(None) };
    let course = tx.course(id)?.course;
    course.belongs_to(class)?;
    Ok(Some(course))
}

/// Returns the subject of a new group. If the group has a course, it must be the subject of the course.
fn subject_of(tx: &mut WriteTx<'_>, wanted: Option<&SubjectId>, course: Option<&Course>) -> Result<Option<SubjectId>> {
    let wanted = wanted.map(|id| tx.subject(id)).transpose()?.map(|subject| subject.id);
    match (course, wanted) {
        (Some(course), None) => Ok(Some(course.subject_id.clone())),
        (Some(course), Some(wanted)) if wanted != course.subject_id => Err(DomainError::ClassMismatch.into()),
        (_, wanted) => Ok(wanted),
    }
}
