//! A class once more, for another school year: what was planned and prepared comes along, what was worked on stays where
//! it is. Everything is one unit; the bytes of files are copied before it.

use std::collections::HashMap;

use garde::Validate;
use model::access::Viewer;
use model::assignment::Assignment;
use model::change::assignment::AssignmentChange;
use model::change::class::ClassChange;
use model::change::course::CourseChange;
use model::class::{Class, ClassStatus};
use model::course::{Course, CourseStatus};
use model::file::{AssignmentAttachment, FileKey};
use model::id::{AssignmentId, AttachmentId, ClassId, CourseId, UserId};
use model::refusal::Refusal;
use model::school_year::YearShift;
use model::text::{AcademicYear, Name};
use model::whole::{WholeAssignment, WholeClass};
use model::zone::Zone;
use serde::Deserialize;
use utoipa::ToSchema;

use super::assignments::person;
use common::clock;
use common::error::{Error, Result};
use db::assignments::AssignmentFilter;
use db::courses::CourseFilter;
use db::{Scope, Work};

/// The most topics and files that come along in one unit.
const TOPICS_MAX: usize = 200;
const FILES_MAX: usize = 500;

/// What of a class is to come along into a new one.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewClone {
    /// The name of the new class.
    #[garde(dive)]
    pub name: Name,
    /// Its school year; dates move as far as this is from the year of the old class.
    #[garde(dive)]
    pub academic_year: AcademicYear,
    /// Whether courses that are not archived come along.
    #[serde(default)]
    #[garde(skip)]
    pub with_courses: bool,
    /// Whether topics come along, with the files all groups share and without groups; needs withCourses.
    #[serde(default)]
    #[garde(custom(needs_courses(self.with_courses)))]
    pub with_topics: bool,
    /// Whether the students come along.
    #[serde(default)]
    #[garde(skip)]
    pub with_students: bool,
}

/// The copy of a file: which file it is of, and the key of its own bytes.
#[derive(Debug, Clone)]
pub struct FileCopy {
    /// The file it is of.
    pub of: AssignmentAttachment,
    /// Where the bytes are.
    pub from: FileKey,
    /// The id of the copy.
    pub id: AttachmentId,
    /// Where its bytes come.
    pub to: FileKey,
}

impl FileCopy {
    /// A copy of this file that is yet to be made.
    pub fn of(attachment: &AssignmentAttachment) -> Self {
        let id = AttachmentId::new(clock::new_id());
        let extension = attachment.file.key.as_str().rsplit('.').next().unwrap_or_default();
        Self {
            of: attachment.clone(),
            from: attachment.file.key.clone(),
            to: FileKey::new(format!("{id}.{extension}")),
            id,
        }
    }
}

/// The files that a clone needs copies of. The caller copies them and then calls [`clone`].
pub fn files_to_copy(scope: &mut Scope<'_>, id: &ClassId, new: &NewClone) -> Result<Vec<FileCopy>> {
    scope.managed_class(id)?;
    let topics = topics_to_clone(scope, id, new)?;
    let files: Vec<_> = topics.iter().flat_map(shared_files).collect();
    limited("topics in a copy of a class", topics.len(), TOPICS_MAX)?;
    limited("files in a copy of a class", files.len(), FILES_MAX)?;
    Ok(files.into_iter().map(FileCopy::of).collect())
}

/// Makes the new class. It is a draft, so that its students see it when the teacher is ready.
pub fn clone(work: &mut Work<'_>, id: &ClassId, new: &NewClone, copies: &[FileCopy]) -> Result<WholeClass> {
    let old = work.class_to_manage(id)?;
    let before = work.whole_class(id)?;
    let shift = YearShift::between(&old.academic_year, &new.academic_year);
    let zone = work.time_zone()?;
    let teacher_id = owner(work, &old)?;
    let class = Class {
        id: ClassId::new(clock::new_id()),
        name: new.name.clone(),
        academic_year: new.academic_year.clone(),
        start_date: old.start_date.map(|moment| shift.apply(moment, &zone)),
        end_date: old.end_date.map(|moment| shift.apply(moment, &zone)),
        status: ClassStatus::Draft,
        teacher_id,
        homeroom_id: None,
        external_id: None,
        created_at: work.now(),
        updated_at: work.now(),
        ..old.clone()
    };
    work.insert_class(&class)?;
    for subject in &before.subjects {
        work.add_class_subject(&class.id, &subject.id)?;
    }
    let co_teachers = before.co_teachers.iter().map(|person| &person.id);
    for teacher in std::iter::once(&old.teacher_id).chain(co_teachers) {
        if *teacher != class.teacher_id && teaches_here(work, teacher)? {
            work.add_co_teacher(&class.id, teacher)?;
        }
    }
    let courses = clone_courses(work, id, &class.id, new)?;
    clone_topics(work, id, &class.id, new, &courses, (shift, &zone), copies)?;
    let students = if new.with_students {
        work.class_learners(id)?
    } else {
        Vec::new()
    };
    for student in &students {
        work.enroll(&class.id, &student.id)?;
    }
    let whole = work.whole_class(&class.id)?;
    work.record(ClassChange::Created {
        class: Box::new(whole.clone()),
        copied_from: Some(old.label()),
    });
    if !students.is_empty() {
        let class = Box::new(class.clone());
        work.record(ClassChange::Enrolled { class, students });
    }
    tell(work, &class.id)?;
    Ok(whole)
}

/// The teacher who clones owns the new class; an admin leaves it to the old owner, as long as he teaches here.
fn owner(work: &mut Work<'_>, old: &Class) -> Result<UserId> {
    let caller = work.actor().user.clone();
    if let (Viewer::Teacher(_), Some(caller)) = (work.viewer(), &caller) {
        return Ok(caller.clone());
    }
    for candidate in [Some(old.teacher_id.clone()), caller].into_iter().flatten() {
        if teaches_here(work, &candidate)? {
            return Ok(candidate);
        }
    }
    // Nobody who could teach it is at hand; an admin hands it over later, as he has to do with the old class.
    Ok(old.teacher_id.clone())
}

fn teaches_here(work: &mut Work<'_>, id: &UserId) -> Result<bool> {
    match work.teaching_member(id) {
        Ok(_) => Ok(true),
        Err(Error::NotFound) => Ok(false),
        Err(error) => Err(error),
    }
}

fn clone_courses(
    work: &mut Work<'_>,
    old: &ClassId,
    class: &ClassId,
    new: &NewClone,
) -> Result<HashMap<CourseId, CourseId>> {
    let mut courses = HashMap::new();
    if !new.with_courses {
        return Ok(courses);
    }
    for whole in work.courses(&active_courses(old))? {
        let course = Course {
            id: CourseId::new(clock::new_id()),
            class_id: class.clone(),
            created_at: work.now(),
            updated_at: work.now(),
            ..whole.course.clone()
        };
        work.insert_course(&course)?;
        courses.insert(whole.course.id, course.id);
    }
    Ok(courses)
}

fn clone_topics(
    work: &mut Work<'_>,
    old: &ClassId,
    class: &ClassId,
    new: &NewClone,
    courses: &HashMap<CourseId, CourseId>,
    dates: (YearShift, &Zone),
    copies: &[FileCopy],
) -> Result<()> {
    let copies: HashMap<&AttachmentId, &FileCopy> = copies.iter().map(|copy| (&copy.of.id, copy)).collect();
    for whole in topics_to_clone(work, old, new)? {
        let course_id = whole.assignment.course_id.as_ref().map(|course| courses.get(course));
        let topic = Assignment {
            id: AssignmentId::new(clock::new_id()),
            class_id: class.clone(),
            course_id: course_id.flatten().cloned(),
            deadline: dates.0.apply(whole.assignment.deadline, dates.1),
            finished: None,
            created_by_id: person(work)?,
            created_at: work.now(),
            updated_at: work.now(),
            ..whole.assignment.clone()
        };
        work.insert_assignment(&topic)?;
        for attachment in shared_files(&whole) {
            // One that came after the copies were made: the caller tries again.
            let copy = copies.get(&attachment.id).ok_or(Error::Overloaded)?;
            insert_copy(work, &topic.id, copy)?;
        }
    }
    Ok(())
}

/// Records the courses and topics of a new class, each as what it is: made.
fn tell(work: &mut Work<'_>, class: &ClassId) -> Result<()> {
    let of_class = CourseFilter {
        class_id: Some(class.clone()),
        ..CourseFilter::default()
    };
    for course in work.courses(&of_class)? {
        let course = Box::new(course);
        work.record(CourseChange::Created { course });
    }
    for seen in work.assignments(&topics_of(class))? {
        let assignment = Box::new(seen.whole);
        work.record(AssignmentChange::Created {
            assignment,
            copied_from: None,
        });
    }
    Ok(())
}

/// The topics that come along: those without a course, and those of courses that come along.
fn topics_to_clone(scope: &mut Scope<'_>, class: &ClassId, new: &NewClone) -> Result<Vec<WholeAssignment>> {
    if !new.with_topics {
        return Ok(Vec::new());
    }
    let courses = scope.courses(&active_courses(class))?;
    let comes_along = |id: &CourseId| courses.iter().any(|whole| whole.course.id == *id);
    let topics = scope.assignments(&topics_of(class))?.into_iter().map(|seen| seen.whole);
    Ok(topics
        .filter(|whole| whole.assignment.course_id.as_ref().is_none_or(comes_along))
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

/// Writes the row of a copy whose bytes are there.
pub(super) fn insert_copy(work: &mut Work<'_>, topic: &AssignmentId, copy: &FileCopy) -> Result<()> {
    let mut attachment = AssignmentAttachment {
        id: copy.id.clone(),
        assignment_id: topic.clone(),
        uploaded_by_id: person(work)?,
        created_at: work.now(),
        ..copy.of.clone()
    };
    attachment.file.key = copy.to.clone();
    work.insert_file(&attachment)
}

/// The files that are for all groups of a topic.
pub(super) fn shared_files(whole: &WholeAssignment) -> impl Iterator<Item = &AssignmentAttachment> {
    let files = whole.attachments.iter();
    files.filter(|attachment| attachment.group_assignment_id.is_none() && attachment.staged_at.is_none())
}

fn limited(what: &'static str, found: usize, limit: usize) -> Result<()> {
    if found > limit {
        Err(Refusal::LimitReached { what, limit }.into())
    } else {
        Ok(())
    }
}

fn needs_courses(with_courses: bool) -> impl FnOnce(&bool, &()) -> garde::Result {
    move |with_topics, ()| {
        if *with_topics && !with_courses {
            return Err(garde::Error::new("needs withCourses"));
        }
        Ok(())
    }
}
