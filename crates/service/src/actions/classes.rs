//! Creates, updates, transfers and deletes classes, and manages their co-teachers.

use api_macros::body;
use domain::access::Viewer;
use domain::change::{CascadeDeletion, ClassChange};
use domain::class::{Class, ClassEdit, ClassStatus, CoTeacherOrigin, EnrolledBy};
use domain::deleted_object::{DeletedNoun, DeletionRetention};
use domain::details::ClassDetails;
use domain::domain_error::DomainError;
use domain::from_fields;
use domain::id::{ClassId, HomeroomId, SubjectId, UserId};
use domain::list::List;
use domain::patch::FieldDiff;
use domain::schedule::Schedule;
use domain::text::{AcademicYear, ExternalId, Name, Semester};
use domain::user::Person;
use domain::zone::DateOrTime;

use super::deletions::{self, Deleting, KeptDeletion};
use super::homeroom_following::{FollowOutcome, FollowScope, follow};
use common::clock;
use common::error::{Error, Result};
use db::WriteTx;

/// A class to create.
#[body]
pub struct NewClass {
    /// The name of the class. It does not have to be unique.
    pub name: Name,
    /// The school year, for example 2026/2027.
    pub academic_year: AcademicYear,
    /// The half-year, a free label.
    #[serde(default, deserialize_with = "domain::text::optional_label")]
    #[schema(schema_with = domain::text::semester_schema)]
    pub semester: Option<Semester>,
    /// The first day.
    pub start_date: Option<DateOrTime>,
    /// The last day. It cannot be before the first day.
    #[garde(custom(not_before(self.start_date)))]
    pub end_date: Option<DateOrTime>,
    /// Defaults to ACTIVE. Students cannot see a DRAFT class.
    pub status: Option<ClassStatus>,
    /// The owner. Defaults to the caller; only administrators can name another member who teaches.
    pub teacher_id: Option<UserId>,
    /// The homeroom that the class belongs to.
    pub homeroom_id: Option<HomeroomId>,
    /// Whether students who join or leave the homeroom join or leave the class. Requires a homeroom.
    #[garde(custom(needs_homeroom(self.homeroom_id.as_ref())))]
    pub follows_homeroom: Option<bool>,
    /// The subjects of the class.
    pub subject_ids: Option<List<SubjectId>>,
    /// The weekly lessons.
    pub schedule: Option<Schedule>,
    /// The id in the administration system of the school, unique among its classes.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub external_id: Option<ExternalId>,
    /// Whether to enroll the students of the homeroom immediately.
    #[garde(custom(needs_homeroom(self.homeroom_id.as_ref())))]
    pub enroll_homeroom: Option<bool>,
}

/// A co-teacher to add.
#[body]
pub struct NewCoTeacher {
    /// The user id of a teacher, an administrator or an owner of the organization.
    pub user_id: UserId,
}

/// What was deleted with a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedCounts {
    pub courses: i64,
    pub groups: i64,
    pub assignments: i64,
    pub documents: i64,
    pub kept: Option<KeptDeletion>,
}

impl RemovedCounts {
    fn of(removed: &CascadeDeletion, kept: Option<KeptDeletion>) -> Self {
        let counted = |length: usize| i64::try_from(length).unwrap_or(i64::MAX);
        Self {
            courses: counted(removed.courses.len()),
            groups: counted(removed.groups.len()),
            assignments: counted(removed.assignments.len()),
            documents: removed.documents,
            kept,
        }
    }
}

/// Creates a class. The caller becomes its owner, unless an administrator names another one.
pub fn create(tx: &mut WriteTx<'_>, new: &NewClass) -> Result<ClassDetails> {
    let teacher = owner(tx, new.teacher_id.as_ref())?;
    if let Some(homeroom) = &new.homeroom_id {
        tx.homeroom_label(homeroom)?;
        if new.follows_homeroom == Some(true) {
            tx.lock_homeroom_students(homeroom)?;
        }
    }
    let start_date = new.start_date.map(|date| tx.resolve_timestamp(date)).transpose()?;
    let end_date = new.end_date.map(|date| tx.resolve_timestamp(date)).transpose()?;
    let subjects = new.subject_ids.as_deref().unwrap_or_default();
    for subject in subjects {
        tx.subject(subject)?;
    }
    let class = from_fields!(&new => Class {
        name, academic_year, semester, homeroom_id, external_id, schedule,
        id: ClassId::new(clock::new_id()),
        organization_id: tx.organization().clone(),
        start_date: start_date,
        end_date: end_date,
        status: new.status.unwrap_or(ClassStatus::Active),
        teacher_id: teacher.id,
        follows_homeroom: new.follows_homeroom == Some(true),
        created_at: tx.now(),
        updated_at: tx.now(),
    });
    tx.insert_class(&class)?;
    for subject in subjects {
        tx.add_class_subject(&class.id, subject)?;
    }
    let mut students = Vec::new();
    let is_following = class.is_following();
    if let Some(homeroom) = new
        .homeroom_id
        .as_ref()
        .filter(|_| is_following || new.enroll_homeroom == Some(true))
    {
        let by = if is_following {
            EnrolledBy::Homeroom
        } else {
            EnrolledBy::caller_with_homeroom(tx.viewer())
        };
        students = tx.enroll_homeroom(&class.id, homeroom, by, is_following)?;
    }
    let details = tx.whole_class(&class.id)?;
    tx.record(ClassChange::Created {
        class: Box::new(details.clone()),
        copied_from: None,
    });
    if !students.is_empty() {
        let class = Box::new(class);
        tx.record(ClassChange::Enrolled { class, students });
    }
    Ok(details)
}

/// Applies a PATCH.
pub fn edit(tx: &mut WriteTx<'_>, id: &ClassId, edit: &ClassEdit) -> Result<ClassDetails> {
    edit_following(tx, id, edit).map(|(details, _)| details)
}

/// Applies a PATCH, and returns who joined and left the class because of its homeroom. Subjects are added and removed
/// one by one, because courses refer to the links that stay.
pub fn edit_following(tx: &mut WriteTx<'_>, id: &ClassId, edit: &ClassEdit) -> Result<(ClassDetails, FollowOutcome)> {
    lock_homerooms(tx, id, edit)?;
    let mut class = tx.lock_managed_class(id)?;
    let former = class.clone();
    let before = tx.whole_class(id)?;
    if let Some(teacher) = edit.teacher_id.value().filter(|teacher| **teacher != class.teacher_id) {
        tx.teaching_member(teacher)?;
    }
    if let Some(homeroom) = edit
        .homeroom_id
        .value()
        .filter(|homeroom| class.homeroom_id.as_ref() != Some(*homeroom))
    {
        tx.homeroom_label(homeroom)?;
    }
    for subject in edit
        .subject_ids
        .value()
        .into_iter()
        .flat_map(|subjects| subjects.iter())
    {
        tx.subject(subject)?;
    }
    let is_empty = before.counts.groups + before.counts.assignments == 0;
    let mut edit = edit.clone();
    edit.start_date = tx.patched_timestamp(&edit.start_date)?.map(DateOrTime::Time);
    edit.end_date = tx.patched_timestamp(&edit.end_date)?.map(DateOrTime::Time);
    let subjects = edit.subject_ids.clone();
    let mut changed = class.edit(edit, &tx.viewer().clone(), is_empty, tx.now())?;
    if let Some(wanted) = subjects.value() {
        let listed = before.subjects.into_iter().map(|subject| subject.id).collect();
        changed.extend(replace_subjects(tx, &class, listed, wanted)?);
    }
    let mut followed = FollowOutcome::default();
    if !changed.is_empty() {
        class.updated_at = tx.now();
        tx.update_class(&class)?;
        if changed.has("teacherId") {
            // The owner has no row among the co-teachers.
            tx.remove_co_teacher(id, &class.teacher_id)?;
        }
        let students = tx.class_student_ids(id)?;
        let details = Box::new(tx.whole_class(id)?);
        tx.record(ClassChange::Updated {
            class: details,
            changed,
            students,
        });
        followed = update_following(tx, &former, &class)?;
    }
    Ok((tx.whole_class(id)?, followed))
}

/// Locks the homerooms that the class follows before or after the change, in the order of their ids and before the
/// class, as changes of their students do.
fn lock_homerooms(tx: &mut WriteTx<'_>, id: &ClassId, edit: &ClassEdit) -> Result<()> {
    let class = tx.class(id)?;
    if !class.follows_homeroom && edit.follows_homeroom.is_unchanged() {
        return Ok(());
    }
    let mut homerooms: Vec<_> = edit
        .homeroom_id
        .value()
        .into_iter()
        .chain(&class.homeroom_id)
        .cloned()
        .collect();
    homerooms.sort_unstable();
    homerooms.dedup();
    for homeroom in &homerooms {
        tx.lock_homeroom_students(homeroom)?;
    }
    Ok(())
}

/// Adapts the enrolments to a changed homeroom, `followsHomeroom` or status. Students of the homeroom who are enrolled
/// when the following starts belong to the homeroom from then on.
fn update_following(tx: &mut WriteTx<'_>, former: &Class, class: &Class) -> Result<FollowOutcome> {
    let is_moved = former.homeroom_id != class.homeroom_id;
    if is_moved && !(former.follows_homeroom && class.follows_homeroom) {
        tx.release_enrollments(&class.id)?;
    }
    let Some(homeroom) = class.homeroom_id.as_ref().filter(|_| class.follows_homeroom) else {
        return Ok(FollowOutcome::default());
    };
    let is_started = is_moved || !former.follows_homeroom;
    if is_started {
        tx.adopt_homeroom(&class.id, homeroom)?;
    }
    if !is_started && former.is_following() {
        return Ok(FollowOutcome::default());
    }
    follow(tx, FollowScope::Class(class))
}

/// Deletes a class; with `force`, together with its content.
pub fn remove(tx: &mut WriteTx<'_>, id: &ClassId, force: bool, retention: DeletionRetention) -> Result<RemovedCounts> {
    let class = tx.lock_managed_class(id)?;
    let details = tx.whole_class(id)?;
    let is_empty = details.counts.courses + details.counts.groups + details.counts.assignments == 0;
    class.removable(is_empty, force)?;
    let students = tx.class_student_ids(id)?;
    let co_teachers = details.co_teachers.into_iter().map(|person| person.id);
    let teachers = std::iter::once(class.teacher_id.clone()).chain(co_teachers).collect();
    let deleting = Deleting {
        noun: DeletedNoun::Class,
        id: id.as_str(),
        name: class.name.as_str(),
        class: id,
        course: None,
        group: None,
    };
    let kept = deletions::keep(tx, retention, &deleting)?;
    let mut removed = tx.delete_class(id)?;
    if kept.is_some() {
        removed.files.clear();
    }
    let counts = RemovedCounts::of(&removed, kept);
    let class = Box::new(class);
    tx.record(ClassChange::Deleted {
        class,
        removed,
        students,
        teachers,
    });
    Ok(counts)
}

/// Adds a co-teacher; idempotent. Returns all co-teachers.
pub fn add_teacher(tx: &mut WriteTx<'_>, id: &ClassId, new: &NewCoTeacher) -> Result<Vec<Person>> {
    insert_teacher(tx, id, &new.user_id, CoTeacherOrigin::Person)?;
    tx.co_teachers(id)
}

/// Adds a co-teacher; idempotent.
pub(super) fn insert_teacher(
    tx: &mut WriteTx<'_>,
    id: &ClassId,
    teacher: &UserId,
    origin: CoTeacherOrigin,
) -> Result<()> {
    let class = owned_class(tx, id)?;
    let teacher = tx.teaching_member(teacher)?;
    class.writable()?;
    // The owner teaches the class already.
    if teacher.id != class.teacher_id && tx.add_co_teacher(id, &teacher.id, origin)? {
        record_teachers(tx, id, vec![teacher], Vec::new())?;
    }
    Ok(())
}

/// Removes a co-teacher. Returns the remaining co-teachers.
pub fn remove_teacher(tx: &mut WriteTx<'_>, id: &ClassId, teacher: &UserId) -> Result<Vec<Person>> {
    let class = owned_class(tx, id)?;
    let person = tx
        .co_teachers(id)?
        .into_iter()
        .find(|person| person.id == *teacher)
        .ok_or(Error::NotFound)?;
    class.writable()?;
    tx.remove_co_teacher(id, teacher)?;
    record_teachers(tx, id, Vec::new(), vec![person])?;
    tx.co_teachers(id)
}

fn record_teachers(tx: &mut WriteTx<'_>, id: &ClassId, added: Vec<Person>, removed: Vec<Person>) -> Result<()> {
    let class = Box::new(tx.whole_class(id)?);
    tx.record(ClassChange::TeachersChanged { class, added, removed });
    Ok(())
}

fn owned_class(tx: &mut WriteTx<'_>, id: &ClassId) -> Result<Class> {
    let class = tx.lock_managed_class(id)?;
    if class.owned_by(tx.viewer()) {
        Ok(class)
    } else {
        Err(DomainError::NotClassOwner.into())
    }
}

/// Returns the owner of a new class: the named teacher, or the caller.
fn owner(tx: &mut WriteTx<'_>, named: Option<&UserId>) -> Result<Person> {
    let caller = tx.actor().user.clone();
    if let Some(named) = named {
        let teacher = tx.teaching_member(named)?;
        let is_allowed = *tx.viewer() == Viewer::Admin || caller.as_ref() == Some(named);
        return if is_allowed {
            Ok(teacher)
        } else {
            Err(DomainError::AdminOnly.into())
        };
    }
    // Platform administrators are not members of the organization and have to name the owner.
    let missing = || Error::invalid("teacherId", "required", "is required, because you do not teach here");
    match tx.teaching_member(&caller.ok_or_else(missing)?) {
        Err(Error::NotFound) => Err(missing()),
        other => other,
    }
}

/// Removes the subjects that are not wanted any more and adds the new ones.
fn replace_subjects(
    tx: &mut WriteTx<'_>,
    class: &Class,
    mut listed: Vec<SubjectId>,
    wanted: &[SubjectId],
) -> Result<FieldDiff> {
    let mut changed = FieldDiff::new();
    let mut wanted = wanted.to_vec();
    listed.sort_unstable();
    wanted.sort_unstable();
    if listed == wanted {
        return Ok(changed);
    }
    class.writable()?;
    for gone in listed.iter().filter(|subject| !wanted.contains(subject)) {
        if tx.class_subject_has_courses(&class.id, gone)? {
            return Err(DomainError::SubjectInUse.into());
        }
        tx.remove_class_subject(&class.id, gone)?;
    }
    for new in wanted.iter().filter(|subject| !listed.contains(subject)) {
        tx.add_class_subject(&class.id, new)?;
    }
    changed.write("subjectIds", &mut listed, wanted);
    Ok(changed)
}

fn not_before(start: Option<DateOrTime>) -> impl FnOnce(&Option<DateOrTime>, &()) -> garde::Result {
    move |end, ()| {
        if end.zip(start).is_some_and(|(end, start)| end.moment() < start.moment()) {
            return Err(garde::Error::new("must not be before startDate"));
        }
        Ok(())
    }
}

fn needs_homeroom(homeroom: Option<&HomeroomId>) -> impl FnOnce(&Option<bool>, &()) -> garde::Result {
    let is_missing = homeroom.is_none();
    move |enroll, ()| {
        if *enroll == Some(true) && is_missing {
            return Err(garde::Error::new("needs a homeroomId"));
        }
        Ok(())
    }
}
