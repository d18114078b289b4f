//! `/classes/{id}/students` and `/classes/{id}/ungrouped`. See docs/api-contract.md#students-of-a-class.

use api_macros::{query, view};
use axum::Json;
use axum::extract::Path;
use domain::access::Viewer;
use domain::id::{AssignmentId, ClassId, CourseId, GroupId, UserId};
use domain::text::Search;

use super::context::Context;
use super::dry_run::DryRunQuery;
use super::patch_fields::Editable;
use super::valid::{Patch, Valid, ValidQuery};
use api_types::class::{ClassEnrollmentView, ClassStudentView, RosterEntryView, StudentView};
use common::error::Result;
use db::enrollments::ClassStudent;
use service::actions::enrollments::{self, EnrollmentEdit, NewStudents};

#[query]
pub(crate) struct EnrollmentListQuery {
    /// Substring of the name. Names that begin with it come first.
    search: Option<Search>,
}

#[query]
pub(crate) struct GroupsOf {
    /// Only students in no group of this course.
    course_id: Option<CourseId>,
    /// Only students in no group that works on this topic.
    assignment_id: Option<AssignmentId>,
}

/// The result of enrolling students.
#[view(Copy)]
pub struct StudentsEnrolled {
    /// Number of students who were enrolled.
    added: usize,
    /// Number of students who were enrolled before.
    already_enrolled: usize,
}

/// The result of ending an enrolment.
#[view]
pub struct StudentRemoved {
    /// Always true; failures are reported as errors.
    success: bool,
    /// The groups from which the student was removed.
    removed_from_groups: Vec<GroupId>,
}

impl Editable for EnrollmentEdit {
    type Resource = ClassEnrollmentView;
}

/// List the students of a class, by name
///
/// Staff of the class receive addresses, enrolments and groups; students receive names and pictures.
#[utoipa::path(get, path = "/classes/{id}/students", params(("id" = String, Path), EnrollmentListQuery),
    responses((status = 200, body = [RosterEntryView]), (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn list(
    cx: Context,
    Path(id): Path<ClassId>,
    ValidQuery(filter): ValidQuery<EnrollmentListQuery>,
) -> Result<Json<Vec<RosterEntryView>>> {
    let search = filter.search.map(Search::into_string).filter(|text| !text.is_empty());
    let roster = cx.read(move |tx| -> Result<Vec<_>> {
        if matches!(tx.viewer(), Viewer::Student(_)) {
            tx.class(&id)?;
            let students = tx.class_students(&id, search.as_deref())?;
            let by_name = students
                .into_iter()
                .map(|student| RosterEntryView::Outline(student.person));
            return Ok(by_name.collect());
        }
        tx.managed_class(&id)?;
        let students = tx.class_students_with_groups(&id, search.as_deref())?;
        let details = students
            .into_iter()
            .map(|student| RosterEntryView::Full(Box::new(staff_view(student))));
        Ok(details.collect())
    });
    Ok(Json(roster.await?))
}

/// Enrol students, by id or by homeroom
#[utoipa::path(post, path = "/classes/{id}/students", params(("id" = String, Path)), request_body = NewStudents,
    responses((status = 200, body = StudentsEnrolled), (status = 409, description = "CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn enroll(
    cx: Context,
    Path(id): Path<ClassId>,
    Valid(new): Valid<NewStudents>,
) -> Result<Json<StudentsEnrolled>> {
    let enrolled = cx.write(move |tx| enrollments::enroll(tx, &id, &new)).await?;
    Ok(Json(StudentsEnrolled {
        added: enrolled.added,
        already_enrolled: enrolled.already_enrolled,
    }))
}

/// End an enrolment and the student's group memberships in the class
#[utoipa::path(delete, path = "/classes/{id}/students/{studentId}",
    params(("id" = String, Path), ("studentId" = String, Path), DryRunQuery),
    responses((status = 200, body = StudentRemoved), (status = 409, description = "CLASS_ARCHIVED, CLASS_FOLLOWS_HOMEROOM"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn unenroll(
    cx: Context,
    Path((id, student)): Path<(ClassId, UserId)>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<StudentRemoved>> {
    let removed_from_groups = cx
        .write_or_preview(query.dry_run, move |tx| enrollments::unenroll(tx, &id, &student))
        .await?;
    Ok(Json(StudentRemoved {
        success: true,
        removed_from_groups,
    }))
}

/// Set when a student completed the class
#[utoipa::path(patch, path = "/classes/{id}/students/{studentId}",
    params(("id" = String, Path), ("studentId" = String, Path)), request_body = EnrollmentEdit,
    responses((status = 200, body = ClassEnrollmentView), (status = 409, description = "CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn edit(
    cx: Context,
    Path((id, student)): Path<(ClassId, UserId)>,
    patch: Patch<EnrollmentEdit>,
) -> Result<Json<ClassEnrollmentView>> {
    let enrollment = cx
        .write(move |tx| enrollments::edit(tx, &id, &student, &patch.edit))
        .await?;
    Ok(Json(enrollment.into()))
}

/// List the students of a class who are in no group
#[utoipa::path(get, path = "/classes/{id}/ungrouped", params(("id" = String, Path), GroupsOf),
    responses((status = 200, body = [StudentView]), (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn ungrouped(
    cx: Context,
    Path(id): Path<ClassId>,
    ValidQuery(of): ValidQuery<GroupsOf>,
) -> Result<Json<Vec<StudentView>>> {
    let students = cx.read(move |tx| {
        tx.managed_class(&id)?;
        tx.ungrouped_students(&id, of.course_id.as_ref(), of.assignment_id.as_ref())
    });
    let students = students.await?.into_iter();
    Ok(Json(
        students
            .map(|student| StudentView::new(student.person, student.email))
            .collect(),
    ))
}

fn staff_view(student: ClassStudent) -> ClassStudentView {
    ClassStudentView::new(student.enrollment, student.person, student.email, student.group_ids)
}
