//! What people do with groups. A group and its one work room are made in one unit; its course follows the topics it works
//! on (contract 4.3). Everything happens under the lock of the class, so numbers and memberships change one after another.

use garde::Validate;
use model::assignment::OwnText;
use model::change::assignment::AssignmentChange;
use model::change::group::GroupChange;
use model::course::Course;
use model::edit::Edit;
use model::group::{Group, GroupEdit};
use model::help::HelpFlag;
use model::id::{AssignmentId, ClassId, CourseId, GroupId, SubjectId, UserId, WorkRoomId};
use model::list::List;
use model::number::{GroupNumber, RequiredDocuments};
use model::refusal::Refusal;
use model::text::{Description, ShortName};
use model::zone::DateOrTime;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{assignments, group_assignments, group_members};
use common::clock;
use common::error::{Error, Result};
use db::Work;
use db::groups::KnownGroup;

/// A group to be created.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewGroup {
    /// Its class.
    #[garde(skip)]
    pub class_id: ClassId,
    /// Its course, one of the same class.
    #[garde(skip)]
    pub course_id: Option<CourseId>,
    /// A topic it works on from the start; a group without a course takes that of the topic.
    #[garde(skip)]
    pub assignment_id: Option<AssignmentId>,
    /// "Group n" unless said otherwise.
    #[serde(default, deserialize_with = "model::text::optional")]
    #[garde(dive)]
    pub name: Option<ShortName>,
    /// The next free one unless said otherwise.
    #[garde(dive)]
    pub group_number: Option<GroupNumber>,
    /// A name the group likes better.
    #[serde(default, deserialize_with = "model::text::optional")]
    #[garde(dive)]
    pub display_name: Option<ShortName>,
    /// Students do not see the group before this moment.
    #[garde(skip)]
    pub start_date: Option<DateOrTime>,
    /// How many documents are asked for; one unless said otherwise.
    #[garde(dive)]
    pub required_documents: Option<RequiredDocuments>,
    /// Its subject; that of the course when there is one.
    #[garde(skip)]
    pub subject_id: Option<SubjectId>,
    /// Students of the class.
    #[serde(default, alias = "memberIds", alias = "userIds")]
    #[garde(dive)]
    pub student_ids: List<UserId>,
    /// The group's own task text for that topic.
    #[serde(default, deserialize_with = "model::text::optional")]
    #[garde(dive)]
    pub description_override: Option<Description>,
}

/// Several groups of one class to be created at once, all or none.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewGroupBatch {
    /// Their class.
    #[garde(skip)]
    pub class_id: ClassId,
    /// Their course.
    #[garde(skip)]
    pub course_id: Option<CourseId>,
    /// A topic they work on from the start.
    #[garde(skip)]
    pub assignment_id: Option<AssignmentId>,
    /// What differs from group to group.
    #[garde(length(min = 1, max = 100), dive)]
    #[schema(min_items = 1, max_items = 100)]
    pub groups: Vec<NewGroupInBatch>,
}

/// One of several groups to be created at once.
#[derive(Debug, Clone, Default, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewGroupInBatch {
    /// "Group n" unless said otherwise.
    #[serde(default, deserialize_with = "model::text::optional")]
    #[garde(dive)]
    pub name: Option<ShortName>,
    /// The next free one unless said otherwise.
    #[garde(dive)]
    pub group_number: Option<GroupNumber>,
    /// A name the group likes better.
    #[serde(default, deserialize_with = "model::text::optional")]
    #[garde(dive)]
    pub display_name: Option<ShortName>,
    /// Students do not see the group before this moment.
    #[garde(skip)]
    pub start_date: Option<DateOrTime>,
    /// How many documents are asked for; one unless said otherwise.
    #[garde(dive)]
    pub required_documents: Option<RequiredDocuments>,
    /// Its subject; that of the course when there is one.
    #[garde(skip)]
    pub subject_id: Option<SubjectId>,
    /// Students of the class.
    #[serde(default, alias = "memberIds", alias = "userIds")]
    #[garde(dive)]
    pub student_ids: List<UserId>,
    /// The group's own task text for the topic.
    #[serde(default, deserialize_with = "model::text::optional")]
    #[garde(dive)]
    pub description_override: Option<Description>,
}

impl NewGroupBatch {
    fn each(&self) -> impl Iterator<Item = NewGroup> {
        self.groups.iter().cloned().map(|group| NewGroup {
            class_id: self.class_id.clone(),
            course_id: self.course_id.clone(),
            assignment_id: self.assignment_id.clone(),
            name: group.name,
            group_number: group.group_number,
            display_name: group.display_name,
            start_date: group.start_date,
            required_documents: group.required_documents,
            subject_id: group.subject_id,
            student_ids: group.student_ids,
            description_override: group.description_override,
        })
    }
}

/// Adds a group with its work room to a class the caller manages.
pub fn create(work: &mut Work<'_>, new: &NewGroup) -> Result<KnownGroup> {
    let group = make(work, new)?;
    let attached = attach(work, new, &[own_text(&group, new)])?;
    let known = tell_created(work, &group)?;
    if let Some(change) = attached {
        work.record(change);
    }
    Ok(known)
}

/// Adds several groups to a class the caller manages, all or none.
pub fn create_all(work: &mut Work<'_>, new: &NewGroupBatch) -> Result<Vec<KnownGroup>> {
    let each: Vec<NewGroup> = new.each().collect();
    let made: Vec<Group> = each.iter().map(|new| make(work, new)).collect::<Result<_>>()?;
    let texts: Vec<OwnText> = made
        .iter()
        .zip(&each)
        .map(|(group, new)| own_text(group, new))
        .collect();
    let attached = each.first().map_or(Ok(None), |first| attach(work, first, &texts))?;
    let known = made
        .iter()
        .map(|group| tell_created(work, group))
        .collect::<Result<_>>()?;
    if let Some(change) = attached {
        work.record(change);
    }
    Ok(known)
}

/// Writes a group with its room and its members.
fn make(work: &mut Work<'_>, new: &NewGroup) -> Result<Group> {
    let class = work.class_to_write(&new.class_id)?.id;
    let course = course_for_new_work(work, new.course_id.as_ref(), &class)?;
    if new.assignment_id.is_none() && new.description_override.is_some() {
        return Err(Error::invalid("descriptionOverride", "unused", "needs assignmentId"));
    }
    let number = match new.group_number {
        Some(number) => number,
        None => work.next_group_number(&class)?,
    };
    let start_date = new.start_date.map(|date| work.moment(date)).transpose()?;
    let group = Group {
        id: GroupId::new(clock::new_id()),
        organization_id: work.organization().clone(),
        class_id: class,
        work_room_id: WorkRoomId::new(clock::new_id()),
        name: new.name.clone().unwrap_or_else(|| default_name(number)),
        group_number: number,
        display_name: new.display_name.clone(),
        start_date,
        required_documents: new.required_documents.unwrap_or(RequiredDocuments::stored(1)),
        subject_id: subject_of(work, new.subject_id.as_ref(), course.as_ref())?,
        course_id: course.map(|course| course.id),
        help: HelpFlag::default(),
        created_by_id: work.actor().user.clone().ok_or(Error::Unauthenticated)?,
        created_at: work.now(),
        updated_at: work.now(),
    };
    work.insert_group(&group)?;
    group_members::join(work, &group, 0, &new.student_ids)?;
    Ok(group)
}

/// What a group is called whose maker did not say.
pub(super) fn default_name(number: GroupNumber) -> ShortName {
    ShortName::stored(format!("Group {number}"))
}

/// The course of new groups: known to the caller, of this class, and not archived.
pub(super) fn course_for_new_work(
    work: &mut Work<'_>,
    id: Option<&CourseId>,
    class: &ClassId,
) -> Result<Option<Course>> {
    let course = course_of(work, id, class)?;
    course.as_ref().map_or(Ok(()), Course::takes_new_work)?;
    Ok(course)
}

fn own_text(group: &Group, new: &NewGroup) -> OwnText {
    OwnText {
        group_id: group.id.clone(),
        description_override: new.description_override.clone().map_or(Edit::Keep, Edit::Set),
    }
}

/// Puts new groups on the topic that the request names; they take its course when they have none. Answers what to tell
/// after the groups themselves.
fn attach(work: &mut Work<'_>, new: &NewGroup, texts: &[OwnText]) -> Result<Option<AssignmentChange>> {
    let Some(topic) = &new.assignment_id else {
        return Ok(None);
    };
    let assignment = work.assignment(topic)?.whole.assignment;
    let course = assignments::course(work, assignment.course_id.as_ref())?;
    let wanted = group_assignments::wanted(work, &new.class_id, &[], texts)?;
    let attached = group_assignments::attach_all(work, &assignment, course.as_ref(), wanted)?.groups;
    let assignment = Box::new(work.assignment(topic)?.whole);
    Ok(Some(AssignmentChange::GroupsAttached { assignment, attached }))
}

fn tell_created(work: &mut Work<'_>, group: &Group) -> Result<KnownGroup> {
    let known = work.group(&group.id)?;
    work.record(GroupChange::Created {
        group: Box::new(known.whole.clone()),
    });
    Ok(known)
}

/// Changes what a PATCH names.
pub fn edit(work: &mut Work<'_>, id: &GroupId, edit: &GroupEdit) -> Result<KnownGroup> {
    let whole = work.group_to_write(id)?;
    let (before, active) = (whole.place(), group_assignments::active_topics(&whole));
    let mut group = whole.group;
    let course = course_of(work, edit.course_id.value(), &group.class_id)?;
    if let Some(subject) = edit.subject_id.value() {
        work.subject(subject)?;
    }
    let mut edit = edit.clone();
    edit.start_date = work.edited_moment(&edit.start_date)?.map(DateOrTime::Time);
    let changed = group.edit(edit, course.as_ref(), &active, work.now())?;
    if !changed.is_empty() {
        work.update_group(&group)?;
        let group = Box::new(work.whole_group(id)?);
        work.record(GroupChange::Updated { group, before, changed });
    }
    work.group(id)
}

/// What a deletion took along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemovedWithGroup {
    /// How many documents.
    pub documents: i64,
    /// How many submissions.
    pub submissions: i64,
}

/// Removes a group with its room, its documents and its submissions; its topics stay.
pub fn remove(work: &mut Work<'_>, id: &GroupId) -> Result<RemovedWithGroup> {
    let whole = work.group_to_write(id)?;
    let removed = work.delete_group(id)?;
    let counts = RemovedWithGroup {
        documents: removed.documents,
        submissions: removed.submissions,
    };
    work.record(GroupChange::Deleted {
        place: whole.place(),
        members: whole.member_ids(),
        group: Box::new(whole.group),
        documents: removed.documents,
        submissions: removed.submissions,
        files: removed.files,
    });
    Ok(counts)
}

/// The course that a request names: known to the caller and of this class.
fn course_of(work: &mut Work<'_>, id: Option<&CourseId>, class: &ClassId) -> Result<Option<Course>> {
    let Some(id) = id else { return Ok(None) };
    let course = work.course(id)?.course;
    course.belongs_to(class)?;
    Ok(Some(course))
}

/// The subject of a new group: its course's, which another one may not contradict.
fn subject_of(work: &mut Work<'_>, wanted: Option<&SubjectId>, course: Option<&Course>) -> Result<Option<SubjectId>> {
    let wanted = wanted.map(|id| work.subject(id)).transpose()?.map(|subject| subject.id);
    match (course, wanted) {
        (Some(course), None) => Ok(Some(course.subject_id.clone())),
        (Some(course), Some(wanted)) if wanted != course.subject_id => Err(Refusal::ClassMismatch.into()),
        (_, wanted) => Ok(wanted),
    }
}
