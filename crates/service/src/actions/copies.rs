//! Copies topics into a course, or a whole course into a class, with their files and groups. One transaction makes all
//! copies of one target; the bytes of files are copied before it.

use api_macros::body;
use std::collections::{HashMap, HashSet};

use domain::assignment::Assignment;
use domain::change::{AssignmentChange, CourseChange, GroupChange};
use domain::class::Class;
use domain::copy::{DateShift, GroupsOfCopy, PublicationOfCopy};
use domain::course::{Course, CourseStatus, free_course_name};
use domain::details::{AssignmentDetails, CourseDetails, GroupDetails};
use domain::domain_error::DomainError;
use domain::group::{Group, GroupLabel};
use domain::group_assignment::{GroupAssignment, GroupAssignmentStatus};
use domain::help::HelpFlag;
use domain::id::{
    AssignmentId, AttachmentId, ClassId, CourseId, GroupAssignmentId, GroupId, SubjectId, UserId, WorkRoomId,
};
use domain::list::{self, List};
use domain::publication::TopicPublication;
use domain::school_year::YearShift;
use domain::text::{Name, name_key};
use domain::time::Timestamp;
use domain::zone::Zone;

use super::acting_user::acting_user;
use super::class_clones::{FileCopy, copied_files, insert_copy};
use super::group_assignments::groups_of_class;
use super::group_members;
use common::clock;
use common::error::{Error, Result};
use db::assignments::AssignmentFilter;
use db::courses::CourseFilter;
use db::{ReadTx, WriteTx};

/// The maximum numbers of topics, files and groups in one copy.
pub(super) const TOPICS_MAX: usize = 200;
pub(super) const FILES_MAX: usize = 500;
const GROUPS_MAX: usize = 300;
/// The largest shift of dates: ten years.
const DAYS_MAX: i64 = 3_660;

/// Topics to copy into a course.
#[body]
pub struct NewTopicCopies {
    /// The topics, of any class that the caller manages.
    #[garde(dive, custom(list::not_empty))]
    pub assignment_ids: List<AssignmentId>,
    /// The deadline of the copy, if one topic is copied. All its dates are shifted by the same span.
    pub deadline: Option<Timestamp>,
    /// By how many days all dates are shifted. By default, by whole weeks from the school year of the original to that
    /// of the copy.
    #[garde(inner(range(min = -DAYS_MAX, max = DAYS_MAX)))]
    pub shift_days: Option<i64>,
    /// Whether to copy the shared files and, with groups, their own files.
    #[serde(default)]
    pub with_files: bool,
    /// Which groups the copies get. Defaults to NONE.
    pub groups: Option<GroupsOfCopy>,
    /// When students see the copies. Defaults to DRAFT.
    pub publication: Option<PublicationOfCopy>,
}

/// A course to copy into a class, with its topics.
#[body]
pub struct NewCourseCopy {
    /// The course, of any class that the caller manages.
    pub course_id: CourseId,
    /// The name of the copy. Defaults to that of the original, with a number if the class has such a course.
    pub name: Option<Name>,
    /// By how many days all dates are shifted. By default, by whole weeks from the school year of the original to that
    /// of the copy.
    #[garde(inner(range(min = -DAYS_MAX, max = DAYS_MAX)))]
    pub shift_days: Option<i64>,
    /// Whether to copy the shared files and, with groups, their own files.
    #[serde(default)]
    pub with_files: bool,
    /// Which groups the copies get. Defaults to NONE.
    pub groups: Option<GroupsOfCopy>,
    /// When students see the copies. Defaults to DRAFT.
    pub publication: Option<PublicationOfCopy>,
}

/// What was created in one target.
#[derive(Debug, Clone)]
pub struct Copied {
    pub course: CourseDetails,
    pub topics: Vec<Assignment>,
    /// The new groups.
    pub groups: Vec<GroupLabel>,
    pub files: usize,
    /// Number of places in groups that were not copied, because their students are not in the class.
    pub missing_members: usize,
}

/// The groups of a copy by the id of the original.
#[derive(Debug, Default)]
pub(super) struct CopiedGroups {
    pub(super) ids: HashMap<GroupId, GroupId>,
    /// The new groups among them.
    pub(super) created: Vec<GroupId>,
    pub(super) missing_members: usize,
}

/// How topics are copied.
pub(super) struct CopyPlan<'a> {
    pub(super) class: ClassId,
    pub(super) groups: &'a HashMap<GroupId, GroupId>,
    /// By default, published topics are published and all others are drafts.
    pub(super) publication: Option<PublicationOfCopy>,
    pub(super) zone: &'a Zone,
    pub(super) files: HashMap<&'a AttachmentId, &'a FileCopy>,
}

/// Returns the files that [`copy_topics`] copies. Rejects what it would reject, before any byte is copied.
pub fn files_of_topics(tx: &mut ReadTx<'_>, course: &CourseId, new: &NewTopicCopies) -> Result<Vec<FileCopy>> {
    target_course(tx, course)?;
    let originals = original_topics(tx, new)?;
    files_to_copy(&originals, new.with_files, new.groups)
}

/// Copies topics into a course.
pub fn copy_topics(
    tx: &mut WriteTx<'_>,
    course: &CourseId,
    new: &NewTopicCopies,
    files: &[FileCopy],
) -> Result<Copied> {
    let class_id = tx.course(course)?.course.class_id;
    let class = tx.lock_writable_class(&class_id)?;
    let course = target_course(tx, course)?;
    let originals = original_topics(tx, new)?;
    let shifts = shifts(tx, &originals, &class, new.deadline, new.shift_days)?;
    let target = Target { class, course };
    copy_into(tx, &target, &originals, &shifts, (new.groups, new.publication), files)
}

/// Returns the files that [`copy_course`] copies. Rejects what it would reject, before any byte is copied.
pub fn files_of_course(tx: &mut ReadTx<'_>, class: &ClassId, new: &NewCourseCopy) -> Result<Vec<FileCopy>> {
    tx.managed_class(class)?.writable()?;
    let originals = topics_of_course(tx, &new.course_id)?;
    files_to_copy(&originals, new.with_files, new.groups)
}

/// Copies a course with its topics into a class.
pub fn copy_course(tx: &mut WriteTx<'_>, class: &ClassId, new: &NewCourseCopy, files: &[FileCopy]) -> Result<Copied> {
    let class = tx.lock_writable_class(class)?;
    let originals = topics_of_course(tx, &new.course_id)?;
    let old = tx.course(&new.course_id)?.course;
    tx.add_class_subject(&class.id, &old.subject_id)?;
    let name = match &new.name {
        Some(name) => name.clone(),
        None => free_name(tx, &class.id, &old.name)?,
    };
    let course = Course {
        id: CourseId::new(clock::new_id()),
        class_id: class.id.clone(),
        name,
        status: CourseStatus::Active,
        created_at: tx.now(),
        updated_at: tx.now(),
        ..old
    };
    tx.insert_course(&course)?;
    let created = Box::new(tx.course(&course.id)?);
    tx.record(CourseChange::Created { course: created });
    let shifts = shifts(tx, &originals, &class, None, new.shift_days)?;
    let target = Target { class, course };
    copy_into(tx, &target, &originals, &shifts, (new.groups, new.publication), files)
}

/// Returns the name of a course, with a number if the class has a course of this name.
fn free_name(tx: &mut ReadTx<'_>, class: &ClassId, name: &Name) -> Result<Name> {
    let of_class = CourseFilter {
        class_id: Some(class.clone()),
        ..CourseFilter::default()
    };
    let taken: HashSet<String> = tx
        .courses(&of_class)?
        .into_iter()
        .map(|details| name_key(details.course.name.as_str()))
        .collect();
    let is_taken = |name: &str| taken.contains(&name_key(name));
    Ok(Name::stored(free_course_name(name.as_str(), is_taken)))
}

/// The class and the course of the copies.
struct Target {
    class: Class,
    course: Course,
}

fn target_course(tx: &mut ReadTx<'_>, id: &CourseId) -> Result<Course> {
    let course = tx.course(id)?.course;
    tx.managed_class(&course.class_id)?.writable()?;
    course.takes_new_work()?;
    Ok(course)
}

/// Returns the topics to copy, in the order of the request. The caller must manage their classes, which may be archived.
fn original_topics(tx: &mut ReadTx<'_>, new: &NewTopicCopies) -> Result<Vec<AssignmentDetails>> {
    DomainError::check_limit("topics in a copy", new.assignment_ids.len(), TOPICS_MAX)?;
    if new.deadline.is_some() && new.assignment_ids.len() > 1 {
        return Err(Error::invalid("deadline", "unused", "is for a single topic"));
    }
    if new.deadline.is_some() && new.shift_days.is_some() {
        return Err(Error::invalid("shiftDays", "unused", "must be absent with a deadline"));
    }
    let mut known: HashMap<AssignmentId, AssignmentDetails> = HashMap::new();
    let mut topics = Vec::with_capacity(new.assignment_ids.len());
    for id in new.assignment_ids.iter() {
        if !known.contains_key(id) {
            // Topics of one class are read together.
            let class_id = tx.assignment(id)?.details.assignment.class_id;
            tx.managed_class(&class_id)?;
            let of_class = AssignmentFilter {
                class_id: Some(class_id),
                ..AssignmentFilter::default()
            };
            let of_class = tx.assignments(&of_class)?.into_iter().map(|seen| seen.details);
            known.extend(of_class.map(|details| (details.assignment.id.clone(), details)));
        }
        topics.push(known.remove(id).ok_or(Error::NotFound)?);
    }
    Ok(topics)
}

fn topics_of_course(tx: &mut ReadTx<'_>, id: &CourseId) -> Result<Vec<AssignmentDetails>> {
    let course = tx.course(id)?.course;
    tx.managed_class(&course.class_id)?;
    let topics = topics_in(tx, id)?;
    DomainError::check_limit("topics in a copy", topics.len(), TOPICS_MAX)?;
    Ok(topics)
}

fn topics_in(tx: &mut ReadTx<'_>, course: &CourseId) -> Result<Vec<AssignmentDetails>> {
    let of_course = AssignmentFilter {
        course_id: Some(course.clone()),
        ..AssignmentFilter::default()
    };
    Ok(tx
        .assignments(&of_course)?
        .into_iter()
        .map(|seen| seen.details)
        .collect())
}

fn files_to_copy(
    originals: &[AssignmentDetails],
    with_files: bool,
    groups: Option<GroupsOfCopy>,
) -> Result<Vec<FileCopy>> {
    if !with_files {
        return Ok(Vec::new());
    }
    let files: Vec<_> = originals.iter().flat_map(|topic| copied_files(topic, groups)).collect();
    DomainError::check_limit("files in a copy", files.len(), FILES_MAX)?;
    Ok(files.into_iter().map(FileCopy::from_attachment).collect())
}

/// Returns by how much the dates of each topic are shifted.
fn shifts(
    tx: &mut ReadTx<'_>,
    originals: &[AssignmentDetails],
    target: &Class,
    deadline: Option<Timestamp>,
    days: Option<i64>,
) -> Result<Vec<DateShift>> {
    let mut years = HashMap::new();
    let mut shifts = Vec::with_capacity(originals.len());
    for AssignmentDetails { assignment, .. } in originals {
        if let Some(deadline) = deadline {
            let span = deadline.as_millis().saturating_sub(assignment.deadline.as_millis());
            shifts.push(DateShift::Millis(span));
        } else if let Some(days) = days {
            shifts.push(DateShift::Days(days));
        } else {
            if !years.contains_key(&assignment.class_id) {
                let year = tx.class(&assignment.class_id)?.academic_year;
                let shift = YearShift::between(&year, &target.academic_year);
                years.insert(assignment.class_id.clone(), DateShift::Years(shift));
            }
            shifts.push(years[&assignment.class_id]);
        }
    }
    Ok(shifts)
}

fn copy_into(
    tx: &mut WriteTx<'_>,
    target: &Target,
    originals: &[AssignmentDetails],
    shifts: &[DateShift],
    (groups, publication): (Option<GroupsOfCopy>, Option<PublicationOfCopy>),
    files: &[FileCopy],
) -> Result<Copied> {
    let zone = tx.time_zone()?;
    let groups = groups.unwrap_or(GroupsOfCopy::None);
    let (old_groups, reused) = original_groups(tx, target, originals, groups)?;
    let shift = shifts.first().copied().unwrap_or(DateShift::Days(0));
    let place = |_: &Group| (Some(target.course.id.clone()), Some(target.course.subject_id.clone()));
    let mut copied = copy_groups(tx, &target.class.id, &old_groups, groups, (shift, &zone), place)?;
    copied.ids.extend(reused);
    let plan = CopyPlan {
        class: target.class.id.clone(),
        groups: &copied.ids,
        publication: Some(publication.unwrap_or(PublicationOfCopy::Draft)),
        zone: &zone,
        files: files.iter().map(|copy| (&copy.of.id, copy)).collect(),
    };
    let mut topics = Vec::with_capacity(originals.len());
    for (original, shift) in originals.iter().zip(shifts) {
        let course = Some(target.course.id.clone());
        let topic = insert_topic(tx, original, course, *shift, &plan)?;
        topics.push((topic, original.assignment.label()));
    }
    let created = record_groups(tx, &target.class.id, &copied.created)?;
    // All topics of the course are read together.
    let seen = topics_in(tx, &target.course.id)?;
    let mut seen: HashMap<_, _> = seen
        .into_iter()
        .map(|details| (details.assignment.id.clone(), details))
        .collect();
    for (topic, original) in &topics {
        let details = seen.remove(&topic.id).ok_or(Error::NotFound)?;
        tx.record(AssignmentChange::Created {
            assignment: Box::new(details),
            copied_from: Some(original.clone()),
        });
    }
    Ok(Copied {
        course: tx.course(&target.course.id)?,
        topics: topics.into_iter().map(|(topic, _)| topic).collect(),
        groups: created,
        files: originals
            .iter()
            .flat_map(|topic| copied_files(topic, Some(groups)))
            .filter(|file| plan.files.contains_key(&file.id))
            .count(),
        missing_members: copied.missing_members,
    })
}

/// Returns the groups of the topics that are created again, and those that the copies share with the originals.
fn original_groups(
    tx: &mut WriteTx<'_>,
    target: &Target,
    originals: &[AssignmentDetails],
    groups: GroupsOfCopy,
) -> Result<(Vec<GroupDetails>, HashMap<GroupId, GroupId>)> {
    let mut of_class: HashMap<ClassId, Vec<GroupId>> = HashMap::new();
    if groups != GroupsOfCopy::None {
        for topic in originals {
            let ids = of_class.entry(topic.assignment.class_id.clone()).or_default();
            ids.extend(topic.group_ids());
        }
    }
    let (mut created, mut reused) = (Vec::new(), HashMap::new());
    for (class, ids) in of_class {
        for (id, details) in groups_of_class(tx, &class, &ids)? {
            let stays = groups == GroupsOfCopy::Same && details.group.course_id.as_ref() == Some(&target.course.id);
            if stays {
                reused.insert(id.clone(), id);
            } else {
                created.push(details);
            }
        }
    }
    Ok((created, reused))
}

/// Creates groups again in a class. `place` returns the course and the subject of the copy of a group.
pub(super) fn copy_groups(
    tx: &mut WriteTx<'_>,
    class: &ClassId,
    originals: &[GroupDetails],
    groups: GroupsOfCopy,
    (shift, zone): (DateShift, &Zone),
    place: impl Fn(&Group) -> (Option<CourseId>, Option<SubjectId>),
) -> Result<CopiedGroups> {
    DomainError::check_limit("groups in a copy", originals.len(), GROUPS_MAX)?;
    let mut copied = CopiedGroups::default();
    if originals.is_empty() {
        return Ok(copied);
    }
    let enrolled = tx.enrolled(class)?;
    let mut originals: Vec<&GroupDetails> = originals.iter().collect();
    originals.sort_by(|one, other| {
        (one.group.group_number, &one.group.id).cmp(&(other.group.group_number, &other.group.id))
    });
    let mut last = None;
    for GroupDetails {
        group: old, members, ..
    } in originals
    {
        let number = match last {
            None => tx.next_group_number(class)?,
            Some(_) => Group::next_number(last)?,
        };
        last = Some(number);
        let is_default_name = old.name == Group::default_name(old.group_number);
        let (course_id, subject_id) = place(old);
        let group = Group {
            id: GroupId::new(clock::new_id()),
            class_id: class.clone(),
            course_id,
            subject_id,
            work_room_id: WorkRoomId::new(clock::new_id()),
            name: if is_default_name {
                Group::default_name(number)
            } else {
                old.name.clone()
            },
            group_number: number,
            start_date: old.start_date.map(|moment| shift.apply(moment, zone)),
            help: HelpFlag::default(),
            created_by_id: acting_user(tx)?,
            created_at: tx.now(),
            updated_at: tx.now(),
            ..old.clone()
        };
        tx.insert_group(&group)?;
        if groups == GroupsOfCopy::Same {
            let members = members.iter().map(|member| member.user.id.clone());
            let (present, missing): (Vec<UserId>, Vec<UserId>) = members.partition(|user| enrolled.contains_key(user));
            copied.missing_members += missing.len();
            group_members::join(tx, &group, 0, &present)?;
        }
        copied.ids.insert(old.id.clone(), group.id.clone());
        copied.created.push(group.id);
    }
    Ok(copied)
}

/// Records the creation of groups. The caller has attached them to their topics.
pub(super) fn record_groups(tx: &mut WriteTx<'_>, class: &ClassId, ids: &[GroupId]) -> Result<Vec<GroupLabel>> {
    let mut created = groups_of_class(tx, class, ids)?;
    let mut labels = Vec::with_capacity(ids.len());
    for details in ids.iter().filter_map(|id| created.remove(id)) {
        labels.push(details.group.label());
        tx.record(GroupChange::Created {
            group: Box::new(details),
        });
    }
    Ok(labels)
}

/// Inserts the copy of a topic with its files and the links of its groups.
pub(super) fn insert_topic(
    tx: &mut WriteTx<'_>,
    original: &AssignmentDetails,
    course_id: Option<CourseId>,
    shift: DateShift,
    plan: &CopyPlan<'_>,
) -> Result<Assignment> {
    let old = &original.assignment;
    let moved = |moment| shift.apply(moment, plan.zone);
    let topic = Assignment {
        id: AssignmentId::new(clock::new_id()),
        class_id: plan.class.clone(),
        course_id,
        deadline: moved(old.deadline),
        finished: None,
        publication: match plan.publication {
            Some(rule) => rule.of_topic(old.publication, moved),
            None => old.publication.of_copy(tx.now()),
        },
        created_by_id: acting_user(tx)?,
        created_at: tx.now(),
        updated_at: tx.now(),
        ..old.clone()
    };
    tx.insert_assignment(&topic)?;
    tx.copy_topic_rubric(&old.id, &topic.id)?;
    let mut links = HashMap::new();
    for details in &original.links {
        let Some(group_id) = plan.groups.get(&details.link.group_id) else {
            continue;
        };
        let link = GroupAssignment {
            id: GroupAssignmentId::new(clock::new_id()),
            assignment_id: topic.id.clone(),
            group_id: group_id.clone(),
            status: GroupAssignmentStatus::at_attachment(false),
            current_submission_id: None,
            late_allowed_until: None,
            publication: plan.publication.map_or_else(TopicPublication::default, |rule| {
                rule.of_link(details.link.publication, topic.deadline, moved)
            }),
            created_at: tx.now(),
            updated_at: tx.now(),
            ..details.link.clone()
        };
        tx.insert_link(&link)?;
        links.insert(&details.link.id, link.id);
    }
    for attachment in original.attachments.iter().filter(|file| file.staged_at.is_none()) {
        let Some(copy) = plan.files.get(&attachment.id) else {
            continue;
        };
        match &attachment.group_assignment_id {
            None => insert_copy(tx, &topic.id, None, copy)?,
            Some(own) => {
                if let Some(link) = links.get(own) {
                    insert_copy(tx, &topic.id, Some(link.clone()), copy)?;
                }
            }
        }
    }
    Ok(topic)
}
