//! Copies a class for another school year: courses, topics, files and groups are copied, the work of the groups is not. All
//! rows are inserted in one transaction; the bytes of files are copied before it.

use api_macros::body;
use std::collections::HashMap;

use domain::access::Viewer;
use domain::change::{AssignmentChange, ClassChange, CourseChange};
use domain::class::{Class, ClassStatus, CoTeacherOrigin};
use domain::copy::{DateShift, GroupsOfCopy, PublicationOfCopy};
use domain::course::{Course, CourseStatus};
use domain::details::{AssignmentDetails, ClassDetails};
use domain::domain_error::DomainError;
use domain::file::{AssignmentAttachment, FileKey};
use domain::group::Group;
use domain::id::{AssignmentId, AttachmentId, ClassId, CourseId, GroupAssignmentId, GroupId, HomeroomId, UserId};
use domain::school_year::YearShift;
use domain::text::{AcademicYear, Name};
use domain::zone::Zone;

use super::acting_user::acting_user;
use super::copies::{self, CopiedGroups, CopyPlan, FILES_MAX, TOPICS_MAX};
use super::homeroom_following::{FollowScope, follow};
use common::clock;
use common::error::{Error, Result};
use db::assignments::AssignmentFilter;
use db::courses::CourseFilter;
use db::groups::GroupFilter;
use db::{ReadTx, WriteTx};

/// What to copy into a new class.
#[body]
pub struct NewClone {
    /// The name of the new class.
    pub name: Name,
    /// The school year of the new class. Dates are shifted by its distance from the year of the original.
    pub academic_year: AcademicYear,
    /// Whether to copy the courses that are not archived.
    #[serde(default)]
    pub with_courses: bool,
    /// Whether to copy the topics with their shared files, but without groups. Requires `withCourses`.
    #[serde(default)]
    #[garde(custom(needs_courses(self.with_courses)))]
    pub with_topics: bool,
    /// Whether to enroll the students of the original.
    #[serde(default)]
    pub with_students: bool,
    /// Whether to copy the groups of the copied courses and those without a course: SAME with their members, NAMES
    /// without. Defaults to NONE. SAME requires `withStudents`.
    #[garde(custom(needs_students(self.with_students)))]
    pub groups: Option<GroupsOfCopy>,
    /// When students see the topics: DRAFT, or SAME with shifted times. By default, published topics are published and
    /// all others are drafts.
    pub publication: Option<PublicationOfCopy>,
}

/// A copy of a file.
#[derive(Debug, Clone)]
pub struct FileCopy {
    /// The original.
    pub of: AssignmentAttachment,
    /// The key of the original's bytes.
    pub from: FileKey,
    /// The id of the copy.
    pub id: AttachmentId,
    /// The key of the copy's bytes.
    pub to: FileKey,
}

impl FileCopy {
    /// Reserves an id and a key for a copy of this file.
    pub fn from_attachment(attachment: &AssignmentAttachment) -> Self {
        let id = AttachmentId::new(clock::new_id());
        let extension = attachment.file.key.as_str().rsplit('.').next().unwrap_or_default();
        Self {
            of: attachment.clone(),
            from: attachment.file.key.clone(),
            to: FileKey::new(format!("{id}.{extension}")),
            id,
        }
    }

    /// Returns the keys of the originals and of their copies.
    pub fn keys(copies: &[Self]) -> Vec<(FileKey, FileKey)> {
        copies.iter().map(|copy| (copy.from.clone(), copy.to.clone())).collect()
    }
}

/// Returns the files that a clone copies. The caller copies their bytes and then calls [`clone`].
pub fn files_to_copy(tx: &mut ReadTx<'_>, id: &ClassId, new: &NewClone) -> Result<Vec<FileCopy>> {
    tx.managed_class(id)?;
    let topics = topics_to_clone(tx, id, new)?;
    let files: Vec<_> = topics
        .iter()
        .flat_map(|topic| copied_files(topic, new.groups))
        .collect();
    DomainError::check_limit("topics in a copy of a class", topics.len(), TOPICS_MAX)?;
    DomainError::check_limit("files in a copy of a class", files.len(), FILES_MAX)?;
    Ok(files.into_iter().map(FileCopy::from_attachment).collect())
}

/// Creates the new class as a draft, so that students see it only after the teacher activates it.
pub fn clone(tx: &mut WriteTx<'_>, id: &ClassId, new: &NewClone, copies: &[FileCopy]) -> Result<ClassDetails> {
    // Lock order: the homeroom before the class.
    if let Some(homeroom) = tx.class(id)?.homeroom_id.filter(|_| new.with_students) {
        tx.lock_homeroom_students(&homeroom)?;
    }
    let old = tx.lock_managed_class(id)?;
    let before = tx.whole_class(id)?;
    let shift = YearShift::between(&old.academic_year, &new.academic_year);
    let zone = tx.time_zone()?;
    let teacher_id = owner(tx, &old)?;
    let homeroom = followed_homeroom(tx, &old, new)?;
    let class = Class {
        id: ClassId::new(clock::new_id()),
        name: new.name.clone(),
        academic_year: new.academic_year.clone(),
        start_date: old.start_date.map(|moment| shift.apply(moment, &zone)),
        end_date: old.end_date.map(|moment| shift.apply(moment, &zone)),
        status: ClassStatus::Draft,
        teacher_id,
        follows_homeroom: homeroom.is_some(),
        homeroom_id: homeroom,
        external_id: None,
        created_at: tx.now(),
        updated_at: tx.now(),
        ..old.clone()
    };
    tx.insert_class(&class)?;
    for subject in &before.subjects {
        tx.add_class_subject(&class.id, &subject.id)?;
    }
    let co_teachers = before.co_teachers.iter().map(|person| &person.id);
    for teacher in std::iter::once(&old.teacher_id).chain(co_teachers) {
        if *teacher != class.teacher_id && is_teacher(tx, teacher)? {
            tx.add_co_teacher(&class.id, teacher, CoTeacherOrigin::Person)?;
        }
    }
    let courses = clone_courses(tx, id, &class.id, new)?;
    let students = if new.with_students {
        tx.class_learners(id)?
    } else {
        Vec::new()
    };
    for student in &students {
        tx.enroll(&class.id, &student.id)?;
    }
    let groups = clone_groups(tx, id, &class.id, new, &courses, (shift, &zone))?;
    let plan = CopyPlan {
        class: class.id.clone(),
        groups: &groups.ids,
        publication: new.publication,
        zone: &zone,
        files: copies.iter().map(|copy| (&copy.of.id, copy)).collect(),
    };
    clone_topics(tx, id, new, &courses, shift, &plan)?;
    let details = tx.whole_class(&class.id)?;
    tx.record(ClassChange::Created {
        class: Box::new(details.clone()),
        copied_from: Some(old.label()),
    });
    if !students.is_empty() {
        let class = Box::new(class.clone());
        tx.record(ClassChange::Enrolled { class, students });
    }
    if let Some(homeroom) = &class.homeroom_id {
        tx.adopt_homeroom(&class.id, homeroom)?;
        follow(tx, FollowScope::Class(&class))?;
    }
    record_clone(tx, &class.id, &groups.created)?;
    Ok(details)
}

/// Returns the owner of the new class: a teacher who clones it, or, if an administrator does, the previous owner as
/// long as they teach in this organization.
fn owner(tx: &mut WriteTx<'_>, old: &Class) -> Result<UserId> {
    let caller = tx.actor().user.clone();
    if let (Viewer::Teacher(_), Some(caller)) = (tx.viewer(), &caller) {
        return Ok(caller.clone());
    }
    for candidate in [Some(old.teacher_id.clone()), caller].into_iter().flatten() {
        if is_teacher(tx, &candidate)? {
            return Ok(candidate);
        }
    }
    // No teacher is available: an administrator has to transfer the new class, as well as the original.
    Ok(old.teacher_id.clone())
}

/// Returns the homeroom that the copy follows: that of the original, if the copy has the students and the homeroom is
/// not one of another school year.
fn followed_homeroom(tx: &mut WriteTx<'_>, old: &Class, new: &NewClone) -> Result<Option<HomeroomId>> {
    let Some(id) = old
        .homeroom_id
        .as_ref()
        .filter(|_| old.is_following() && new.with_students)
    else {
        return Ok(None);
    };
    let homeroom = tx.homeroom(id)?.homeroom;
    let is_of_year = homeroom.academic_year.is_none_or(|year| year == new.academic_year);
    Ok(is_of_year.then(|| id.clone()))
}

fn is_teacher(tx: &mut WriteTx<'_>, id: &UserId) -> Result<bool> {
    match tx.teaching_member(id) {
        Ok(_) => Ok(true),
        Err(Error::NotFound) => Ok(false),
        Err(error) => Err(error),
    }
}

fn clone_courses(
    tx: &mut WriteTx<'_>,
    old: &ClassId,
    class: &ClassId,
    new: &NewClone,
) -> Result<HashMap<CourseId, CourseId>> {
    let mut courses = HashMap::new();
    if !new.with_courses {
        return Ok(courses);
    }
    for details in tx.courses(&active_courses(old))? {
        let course = Course {
            id: CourseId::new(clock::new_id()),
            class_id: class.clone(),
            created_at: tx.now(),
            updated_at: tx.now(),
            ..details.course.clone()
        };
        tx.insert_course(&course)?;
        courses.insert(details.course.id, course.id);
    }
    Ok(courses)
}

/// Creates the groups of the copied courses and those without a course again.
fn clone_groups(
    tx: &mut WriteTx<'_>,
    old: &ClassId,
    class: &ClassId,
    new: &NewClone,
    courses: &HashMap<CourseId, CourseId>,
    (shift, zone): (YearShift, &Zone),
) -> Result<CopiedGroups> {
    let groups = new.groups.unwrap_or(GroupsOfCopy::None);
    if groups == GroupsOfCopy::None {
        return Ok(CopiedGroups::default());
    }
    let of_class = GroupFilter {
        class_id: Some(old.clone()),
        ..GroupFilter::default()
    };
    let comes_along = |group: &Group| {
        group
            .course_id
            .as_ref()
            .is_none_or(|course| courses.contains_key(course))
    };
    let found = tx.groups(&of_class)?.into_iter().map(|known| known.details);
    let originals: Vec<_> = found.filter(|details| comes_along(&details.group)).collect();
    let place = |group: &Group| {
        let course = group.course_id.as_ref().and_then(|course| courses.get(course));
        (course.cloned(), group.subject_id.clone())
    };
    copies::copy_groups(tx, class, &originals, groups, (DateShift::Years(shift), zone), place)
}

fn clone_topics(
    tx: &mut WriteTx<'_>,
    old: &ClassId,
    new: &NewClone,
    courses: &HashMap<CourseId, CourseId>,
    shift: YearShift,
    plan: &CopyPlan<'_>,
) -> Result<()> {
    for details in topics_to_clone(tx, old, new)? {
        // A file that was added after the copies were made has none: the caller has to retry.
        if copied_files(&details, new.groups).any(|file| !plan.files.contains_key(&file.id)) {
            return Err(Error::Overloaded);
        }
        let course_id = details.assignment.course_id.as_ref().map(|course| courses.get(course));
        copies::insert_topic(
            tx,
            &details,
            course_id.flatten().cloned(),
            DateShift::Years(shift),
            plan,
        )?;
    }
    Ok(())
}

/// Records the creation of the courses, groups and topics of a new class.
fn record_clone(tx: &mut WriteTx<'_>, class: &ClassId, groups: &[GroupId]) -> Result<()> {
    let of_class = CourseFilter {
        class_id: Some(class.clone()),
        ..CourseFilter::default()
    };
    for course in tx.courses(&of_class)? {
        let course = Box::new(course);
        tx.record(CourseChange::Created { course });
    }
    copies::record_groups(tx, class, groups)?;
    for seen in tx.assignments(&topics_of(class))? {
        let assignment = Box::new(seen.details);
        tx.record(AssignmentChange::Created {
            assignment,
            copied_from: None,
        });
    }
    Ok(())
}

/// Returns the topics to copy: those without a course and those of copied courses.
fn topics_to_clone(tx: &mut ReadTx<'_>, class: &ClassId, new: &NewClone) -> Result<Vec<AssignmentDetails>> {
    if !new.with_topics {
        return Ok(Vec::new());
    }
    let courses = tx.courses(&active_courses(class))?;
    let comes_along = |id: &CourseId| courses.iter().any(|details| details.course.id == *id);
    let topics = tx.assignments(&topics_of(class))?.into_iter().map(|seen| seen.details);
    Ok(topics
        .filter(|details| details.assignment.course_id.as_ref().is_none_or(comes_along))
        .collect())
}

fn active_courses(class: &ClassId) -> CourseFilter {
    CourseFilter {
        class_id: Some(class.clone()),
        status: Some(CourseStatus::Active),
        ..CourseFilter::default()
    }
}

fn topics_of(class: &ClassId) -> AssignmentFilter {
    AssignmentFilter {
        class_id: Some(class.clone()),
        ..AssignmentFilter::default()
    }
}

/// Inserts the row of a copy whose bytes are stored.
pub(super) fn insert_copy(
    tx: &mut WriteTx<'_>,
    topic: &AssignmentId,
    owner: Option<GroupAssignmentId>,
    copy: &FileCopy,
) -> Result<()> {
    let mut attachment = AssignmentAttachment {
        id: copy.id.clone(),
        assignment_id: topic.clone(),
        group_assignment_id: owner,
        uploaded_by_id: acting_user(tx)?,
        created_at: tx.now(),
        ..copy.of.clone()
    };
    attachment.file.key = copy.to.clone();
    tx.insert_file(&attachment)
}

/// Returns the files of a topic that a copy gets: with groups, also their own.
pub(super) fn copied_files(
    details: &AssignmentDetails,
    groups: Option<GroupsOfCopy>,
) -> impl Iterator<Item = &AssignmentAttachment> {
    let with_own = groups.is_some_and(|groups| groups != GroupsOfCopy::None);
    let files = details.attachments.iter();
    files.filter(move |file| file.staged_at.is_none() && (with_own || file.group_assignment_id.is_none()))
}

/// Returns the files that are shared by all groups of a topic.
pub(super) fn shared_files(details: &AssignmentDetails) -> impl Iterator<Item = &AssignmentAttachment> {
    let files = details.attachments.iter();
    files.filter(|attachment| attachment.group_assignment_id.is_none() && attachment.staged_at.is_none())
}

fn needs_courses(with_courses: bool) -> impl FnOnce(&bool, &()) -> garde::Result {
    move |with_topics, ()| {
        if *with_topics && !with_courses {
            return Err(garde::Error::new("needs withCourses"));
        }
        Ok(())
    }
}

fn needs_students(with_students: bool) -> impl FnOnce(&Option<GroupsOfCopy>, &()) -> garde::Result {
    move |groups, ()| {
        if *groups == Some(GroupsOfCopy::Same) && !with_students {
            return Err(garde::Error::new("needs withStudents"));
        }
        Ok(())
    }
}
