//! `/homerooms`. See docs/api-contract.md#homerooms-and-subjects.

use api_macros::{query, view};
use axum::Json;
use axum::extract::Path;
use axum::response::{IntoResponse as _, Response};
use domain::homeroom::HomeroomEdit;
use domain::id::{HomeroomId, UserId};
use domain::text::{AcademicYear, Search};
use domain::version::VersionedObject;

use super::context::Context;
use super::cross_tenant_list::by_name;
use super::dry_run::DryRunQuery;
use super::existing;
use super::patch_fields::Editable;
use super::response::{Ack, Created, CreatedObject, Versioned, or_current};
use super::valid::{Patch, Valid, ValidQuery};
use api_types::homeroom::{HomeroomClasses, HomeroomStudentView, HomeroomView};
use common::error::Result;
use db::homerooms::{HomeroomFilter, HomeroomWithCount};
use db::{ReadTx, WriteTx};
use service::actions::homeroom_classes::{self, NewHomeroomClasses};
use service::actions::homerooms::{self, NewHomeroom, NewHomeroomStudents};

#[query]
pub(crate) struct HomeroomListQuery {
    /// Substring of the name. Names that begin with it come first.
    search: Option<Search>,
    /// Only homerooms of this school year.
    academic_year: Option<AcademicYear>,
    /// Only homerooms of this homeroom teacher.
    teacher_id: Option<UserId>,
}

#[query]
pub(crate) struct StudentFilter {
    /// Substring of the name. Names that begin with it come first.
    search: Option<Search>,
}

/// The result of adding students to a homeroom.
#[view(Copy)]
pub struct HomeroomStudentsAdded {
    /// Number of students who were added.
    added: usize,
}

impl Editable for HomeroomEdit {
    type Resource = HomeroomView;
}

fn homeroom_view(counted: HomeroomWithCount) -> HomeroomView {
    HomeroomView::new(counted.homeroom, counted.students)
}

/// List homerooms by name
///
/// Students receive their own homerooms.
#[utoipa::path(get, path = "/homerooms", params(HomeroomListQuery), responses((status = 200, body = [HomeroomView])))]
pub(crate) async fn list(
    cx: Context,
    ValidQuery(filter): ValidQuery<HomeroomListQuery>,
) -> Result<Json<Vec<HomeroomView>>> {
    let filter = HomeroomFilter {
        search: filter.search.map(Search::into_string).filter(|text| !text.is_empty()),
        academic_year: filter.academic_year,
        teacher_id: filter.teacher_id,
    };
    let homerooms = cx.list(move |tx| {
        let found = tx.homerooms(&filter)?.into_iter();
        let search = filter.search.as_deref();
        let place =
            |counted: &HomeroomWithCount| by_name(search, counted.homeroom.name.as_str(), counted.homeroom.id.clone());
        Ok(found
            .map(|homeroom| (place(&homeroom), homeroom_view(homeroom)))
            .collect())
    });
    Ok(Json(homerooms.await?))
}

/// Create a homeroom
#[utoipa::path(post, path = "/homerooms", request_body = NewHomeroom,
    responses((status = 201, body = HomeroomView), (status = 409, description = "DUPLICATE_HOMEROOM")))]
pub(crate) async fn create(cx: Context, Valid(new): Valid<NewHomeroom>) -> Result<CreatedObject<HomeroomView>> {
    let requested = new.clone();
    let make = move |tx: &mut WriteTx<'_>| {
        let view = homeroom_view(homerooms::create(tx, &new)?);
        Ok(CreatedObject(format!("/api/homerooms/{}", view.id()), view))
    };
    let find = move |tx: &mut ReadTx<'_>| existing::homeroom(tx, &requested.name, requested.academic_year.as_ref());
    existing::add_existing_id(&cx, cx.create(make).await, find).await
}

/// Get a homeroom
#[utoipa::path(get, path = "/homerooms/{id}", params(("id" = String, Path)), responses((status = 200, body = HomeroomView)))]
pub(crate) async fn show(cx: Context, Path(id): Path<HomeroomId>) -> Result<Versioned<HomeroomView>> {
    let object = VersionedObject::from(&id);
    let shown = cx.read_object(object, move |tx| tx.homeroom(&id)).await?;
    Ok(shown.map(homeroom_view))
}

/// Update a homeroom
#[utoipa::path(patch, path = "/homerooms/{id}", params(("id" = String, Path)), request_body = HomeroomEdit,
    responses((status = 200, body = HomeroomView), (status = 412, description = "PRECONDITION_FAILED"),
        (status = 409, description = "DUPLICATE_HOMEROOM")))]
pub(crate) async fn edit(
    cx: Context,
    Path(id): Path<HomeroomId>,
    patch: Patch<HomeroomEdit>,
) -> Result<Versioned<HomeroomView>> {
    let (object, current) = (VersionedObject::from(&id), show(cx.clone(), Path(id.clone())));
    let (lookup, requested) = (id.clone(), patch.edit.clone());
    let act = move |tx: &mut WriteTx<'_>| homerooms::edit(tx, &id, &patch.edit);
    let find = move |tx: &mut ReadTx<'_>| existing::homeroom_of_edit(tx, &lookup, &requested);
    let edited = existing::add_existing_id(&cx, cx.write_object(object, act).await, find).await;
    Ok(or_current(edited, current).await?.map(homeroom_view))
}

/// Delete a homeroom
///
/// Its students stay in their classes; `homeroomId` of its classes becomes null, and they stop following it.
#[utoipa::path(delete, path = "/homerooms/{id}", params(("id" = String, Path), DryRunQuery),
    responses((status = 200, body = Ack), (status = 412, description = "PRECONDITION_FAILED")))]
pub(crate) async fn remove(
    cx: Context,
    Path(id): Path<HomeroomId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<Ack>> {
    let (object, current) = (VersionedObject::from(&id), show(cx.clone(), Path(id.clone())));
    let act = move |tx: &mut WriteTx<'_>| homerooms::remove(tx, &id);
    or_current(cx.delete_or_preview(query.dry_run, object, act).await, current).await?;
    Ok(Json(Ack::SUCCESS))
}

/// Create a class for each homeroom, with its name, teacher and students
///
/// Homerooms for which no class can be created are listed in `problems` and do not affect the others.
#[utoipa::path(post, path = "/homerooms/classes", params(DryRunQuery), request_body = NewHomeroomClasses,
    responses((status = 201, body = HomeroomClasses),
        (status = 200, body = HomeroomClasses, description = "With dryRun=1"),
        (status = 409, description = "LIMIT_REACHED")))]
pub(crate) async fn create_classes(
    cx: Context,
    ValidQuery(query): ValidQuery<DryRunQuery>,
    Valid(new): Valid<NewHomeroomClasses>,
) -> Result<Response> {
    let is_dry_run = query.dry_run.is_on();
    let make = move |tx: &mut WriteTx<'_>| {
        let results = homeroom_classes::create(tx, &new)?;
        let mut classes = HomeroomClasses::with_capacity(results.len());
        for result in results {
            match result.outcome {
                Ok(details) => classes.add_class(result.homeroom_id, *details, is_dry_run),
                Err(problem) => classes.add_problem(result.homeroom_id, result.homeroom_name, problem),
            }
        }
        Ok(classes)
    };
    if is_dry_run {
        return Ok(Json(cx.write_or_preview(query.dry_run, make).await?).into_response());
    }
    let created = cx
        .create(move |tx| Ok(Created("/api/classes".to_owned(), make(tx)?)))
        .await?;
    Ok(created.into_response())
}

/// List the students of a homeroom, by name
#[utoipa::path(get, path = "/homerooms/{id}/students", params(("id" = String, Path), StudentFilter),
    responses((status = 200, body = [HomeroomStudentView])))]
pub(crate) async fn students(
    cx: Context,
    Path(id): Path<HomeroomId>,
    ValidQuery(filter): ValidQuery<StudentFilter>,
) -> Result<Json<Vec<HomeroomStudentView>>> {
    let search = filter.search.map(Search::into_string).filter(|text| !text.is_empty());
    let students = cx
        .read(move |tx| {
            tx.homeroom(&id)?;
            tx.homeroom_students(&id, search.as_deref())
        })
        .await?;
    let views = students
        .into_iter()
        .map(|student| HomeroomStudentView::new(student.enrollment, student.person, student.email));
    Ok(Json(views.collect()))
}

/// Add students to a homeroom
///
/// They are enrolled in the classes that follow the homeroom.
#[utoipa::path(post, path = "/homerooms/{id}/students", params(("id" = String, Path)),
    request_body = NewHomeroomStudents, responses((status = 200, body = HomeroomStudentsAdded)))]
pub(crate) async fn add_students(
    cx: Context,
    Path(id): Path<HomeroomId>,
    Valid(new): Valid<NewHomeroomStudents>,
) -> Result<Json<HomeroomStudentsAdded>> {
    let added = cx.write(move |tx| homerooms::add_students(tx, &id, &new)).await?;
    Ok(Json(HomeroomStudentsAdded { added }))
}

/// Remove a student from a homeroom
///
/// The student also leaves the classes that follow the homeroom.
#[utoipa::path(delete, path = "/homerooms/{id}/students/{studentId}",
    params(("id" = String, Path), ("studentId" = String, Path), DryRunQuery), responses((status = 200, body = Ack)))]
pub(crate) async fn remove_student(
    cx: Context,
    Path((id, student)): Path<(HomeroomId, UserId)>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<Ack>> {
    cx.write_or_preview(query.dry_run, move |tx| homerooms::remove_student(tx, &id, &student))
        .await?;
    Ok(Json(Ack::SUCCESS))
}
