//! `/courses`. See docs/api-contract.md#courses.

use api_macros::{query, view};
use axum::Json;
use axum::extract::Path;
use domain::course::{Course, CourseEdit, CourseStatus};
use domain::id::{AssignmentId, ClassId, CourseId, GroupId, SubjectId};
use domain::text::Search;
use domain::version::VersionedObject;

use super::context::Context;
use super::cross_tenant_list::by_name;
use super::dry_run::DryRunQuery;
use super::existing;
use super::patch_fields::Editable;
use super::response::{CreatedObject, Versioned, or_current};
use super::valid::{Patch, Valid, ValidQuery};
use api_types::assignment::AssignmentOutlineView;
use api_types::audience::Audience;
use api_types::course::CourseView;
use api_types::course_detail::{AssignmentSummaryView, CourseAssignmentView, CourseDetailView, CourseGroupView};
use api_types::deletion::UndoView;
use api_types::group::{GroupOutlineView, GroupSummaryView};
use common::error::Result;
use db::assignments::{AssignmentFilter, VisibleAssignment};
use db::courses::CourseFilter;
use db::groups::{CourseChoice, GroupFilter, VisibleGroup};
use db::{ReadTx, RequestContext, WriteTx};
use service::actions::courses::{self, NewCourse};
use service::actions::deletions::KeptDeletion;

#[query]
pub(crate) struct CourseListQuery {
    /// Only courses of this class.
    class_id: Option<ClassId>,
    /// Only courses of this subject.
    subject_id: Option<SubjectId>,
    /// Substring of the name. Names that begin with it come first.
    search: Option<Search>,
    /// Only courses with this status.
    status: Option<CourseStatus>,
}

impl Editable for CourseEdit {
    type Resource = CourseDetailView;
}

/// List the courses of the organization, by name
#[utoipa::path(get, path = "/courses", params(CourseListQuery), responses((status = 200, body = [CourseView])))]
pub(crate) async fn list(
    cx: Context,
    ValidQuery(filter): ValidQuery<CourseListQuery>,
) -> Result<Json<Vec<CourseView>>> {
    let filter = CourseFilter {
        class_id: filter.class_id,
        subject_id: filter.subject_id,
        search: filter.search.map(Search::into_string).filter(|text| !text.is_empty()),
        status: filter.status,
    };
    let courses = cx.list(move |tx| {
        let found = tx.courses(&filter)?.into_iter();
        let search = filter.search.as_deref();
        let place = |course: &Course| by_name(search, course.name.as_str(), course.id.clone());
        Ok(found
            .map(|details| (place(&details.course), CourseView::from(details)))
            .collect())
    });
    Ok(Json(courses.await?))
}

/// Create a course
#[utoipa::path(post, path = "/courses", request_body = NewCourse,
    responses((status = 201, body = CourseView), (status = 409, description = "DUPLICATE_COURSE, CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn create(cx: Context, Valid(new): Valid<NewCourse>) -> Result<CreatedObject<CourseView>> {
    let requested = new.clone();
    let make = move |tx: &mut WriteTx<'_>| {
        let course = CourseView::from(courses::create(tx, &new)?);
        Ok(CreatedObject(format!("/api/courses/{}", course.id()), course))
    };
    let find =
        move |tx: &mut ReadTx<'_>| existing::course(tx, &requested.class_id, &requested.subject_id, &requested.name);
    existing::add_existing_id(&cx, cx.create(make).await, find).await
}

/// Get a course with its groups and topics
#[utoipa::path(get, path = "/courses/{id}", params(("id" = String, Path)), responses((status = 200, body = CourseDetailView)))]
pub(crate) async fn show(cx: Context, Path(id): Path<CourseId>) -> Result<Versioned<CourseDetailView>> {
    let context = cx.context()?;
    let groups = GroupFilter {
        course: Some(CourseChoice::Of(id.clone())),
        ..GroupFilter::default()
    };
    let topics = AssignmentFilter {
        course_id: Some(id.clone()),
        ..AssignmentFilter::default()
    };
    let object = VersionedObject::from(&id);
    let load = move |tx: &mut ReadTx<'_>| Ok((tx.course(&id)?, tx.groups(&groups)?, tx.assignments(&topics)?));
    let Versioned((course, groups, topics), version) = cx.read_object(object, load).await?;
    let groups = groups.into_iter().map(|known| group(known, &context)).collect();
    let topics = topics.into_iter().map(topic).collect();
    Ok(Versioned(CourseDetailView::new(course.into(), groups, topics), version))
}

fn group(known: VisibleGroup, context: &RequestContext) -> CourseGroupView {
    let (group, members) = (&known.details.group, known.member_count);
    if known.has_full_access {
        let summary = GroupSummaryView::new(group, members, &Audience::of(&context.viewer), context.now);
        CourseGroupView::Summary(Box::new(summary.into()))
    } else {
        CourseGroupView::Outline(GroupOutlineView::new(group, members))
    }
}

fn topic(seen: VisibleAssignment) -> CourseAssignmentView {
    if seen.is_managed {
        CourseAssignmentView::Summary(Box::new(AssignmentSummaryView::new(
            seen.details.assignment,
            seen.groups,
        )))
    } else {
        CourseAssignmentView::Outline(AssignmentOutlineView::new(&seen.details.assignment, seen.groups))
    }
}

/// Update a course
#[utoipa::path(patch, path = "/courses/{id}", params(("id" = String, Path)), request_body = CourseEdit,
    responses((status = 200, body = CourseView), (status = 412, description = "PRECONDITION_FAILED"),
        (status = 409, description = "DUPLICATE_COURSE, CLASS_MISMATCH, CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn edit(
    cx: Context,
    Path(id): Path<CourseId>,
    patch: Patch<CourseEdit>,
) -> Result<Versioned<CourseView>> {
    let (object, current) = (VersionedObject::from(&id), show(cx.clone(), Path(id.clone())));
    let (lookup, requested) = (id.clone(), patch.edit.clone());
    let act = move |tx: &mut WriteTx<'_>| courses::edit(tx, &id, &patch.edit);
    let find = move |tx: &mut ReadTx<'_>| existing::course_of_edit(tx, &lookup, &requested);
    let edited = existing::add_existing_id(&cx, cx.write_object(object, act).await, find).await;
    Ok(or_current(edited, current).await?.map(CourseView::from))
}

/// The result of deleting a course.
#[view]
pub(crate) struct CourseRemoved {
    success: bool,
    deleted_groups: Vec<GroupId>,
    deleted_assignments: Vec<AssignmentId>,
    deleted_documents: i64,
    deleted_submissions: i64,
    #[serde(flatten)]
    undo: UndoView,
}

/// Delete a course with its groups, topics, rooms, documents and submissions
#[utoipa::path(delete, path = "/courses/{id}", params(("id" = String, Path), DryRunQuery),
    responses((status = 200, body = CourseRemoved), (status = 412, description = "PRECONDITION_FAILED"), (status = 409, description = "CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn remove(
    cx: Context,
    Path(id): Path<CourseId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<CourseRemoved>> {
    let (object, current) = (VersionedObject::from(&id), show(cx.clone(), Path(id.clone())));
    let retention = cx.app().settings().deletion_retention;
    let act = move |tx: &mut WriteTx<'_>| courses::remove(tx, &id, retention);
    let removed = cx.delete_or_preview(query.dry_run, object, act).await;
    let (removed, kept) = or_current(removed, current).await?;
    Ok(Json(CourseRemoved {
        undo: UndoView::new(kept.map(KeptDeletion::into_parts), query.dry_run.is_on()),
        success: true,
        deleted_groups: removed
            .groups
            .into_iter()
            .map(|group| group.group_context.group.id)
            .collect(),
        deleted_assignments: removed.assignments.into_iter().map(|topic| topic.id).collect(),
        deleted_documents: removed.documents,
        deleted_submissions: removed.submissions,
    }))
}
