//! `/courses` (specification, Courses; contract 6.7).

use axum::Json;
use axum::extract::Path;
use garde::Validate;
use model::access::Access;
use model::course::{CourseEdit, CourseStatus};
use model::id::{ClassId, CourseId, SubjectId};
use model::text::Search;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::routes;

use super::context::Context;
use super::endpoint::Endpoints;
use super::reply::Created;
use super::valid::{Editable, Patch, Valid, ValidQuery};
use crate::actions::courses::{self, NewCourse};
use crate::error::Result;
use crate::store::courses::CourseFilter;
use crate::views::course::CourseView;

/// The routes of courses.
pub fn routes() -> Endpoints {
    Endpoints::new("courses")
        .add(Access::Staff, routes!(list, create))
        .add(Access::Staff, routes!(show, edit))
}

#[derive(Deserialize, Validate, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Filter {
    /// Of this class
    #[garde(skip)]
    class_id: Option<ClassId>,
    /// Of this subject
    #[garde(skip)]
    subject_id: Option<SubjectId>,
    /// Part of the name; names that begin with it come first
    #[garde(dive)]
    search: Option<Search>,
    /// In this status
    #[garde(skip)]
    status: Option<CourseStatus>,
}

impl Editable for CourseEdit {
    const FIELDS: &'static [&'static str] = &["name", "description", "status", "subjectId", "classId"];
    const READ_ONLY: &'static [&'static str] = &[
        "id",
        "createdAt",
        "updatedAt",
        "class",
        "subject",
        "counts",
        "groups",
        "assignments",
    ];
}

/// The courses of the organization, by name
#[utoipa::path(get, path = "/courses", params(Filter), responses((status = 200, body = [CourseView])))]
async fn list(cx: Context, ValidQuery(filter): ValidQuery<Filter>) -> Result<Json<Vec<CourseView>>> {
    let filter = CourseFilter {
        class_id: filter.class_id,
        subject_id: filter.subject_id,
        search: filter.search.map(Search::into_string).filter(|text| !text.is_empty()),
        status: filter.status,
    };
    let courses = cx.read(move |scope| scope.courses(&filter)).await?;
    Ok(Json(courses.into_iter().map(CourseView::from).collect()))
}

/// Add a course to a class
#[utoipa::path(post, path = "/courses", request_body = NewCourse,
    responses((status = 201, body = CourseView), (status = 409, description = "DUPLICATE_COURSE, CLASS_ARCHIVED")))]
async fn create(cx: Context, Valid(new): Valid<NewCourse>) -> Result<Created<CourseView>> {
    let course = CourseView::from(cx.write(move |work| courses::create(work, &new)).await?);
    Ok(Created(format!("/api/courses/{}", course.id()), course))
}

/// One course
#[utoipa::path(get, path = "/courses/{id}", params(("id" = String, Path)), responses((status = 200, body = CourseView)))]
async fn show(cx: Context, Path(id): Path<CourseId>) -> Result<Json<CourseView>> {
    Ok(Json(cx.read(move |scope| scope.course(&id)).await?.into()))
}

/// Change a course
#[utoipa::path(patch, path = "/courses/{id}", params(("id" = String, Path)), request_body = CourseEdit,
    responses((status = 200, body = CourseView), (status = 409, description = "DUPLICATE_COURSE, CLASS_MISMATCH, CLASS_ARCHIVED")))]
async fn edit(cx: Context, Path(id): Path<CourseId>, patch: Patch<CourseEdit>) -> Result<Json<CourseView>> {
    if !patch.echoed.is_empty() {
        let shown = show(cx.clone(), Path(id.clone())).await?;
        patch.echoed.must_equal(&shown.0)?;
    }
    Ok(Json(
        cx.write(move |work| courses::edit(work, &id, &patch.edit))
            .await?
            .into(),
    ))
}
