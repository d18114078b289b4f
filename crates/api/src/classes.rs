//! `/classes`. The students of a class are in [`super::enrollments`]. See docs/api-contract.md#classes.

use api_macros::{body, query, view};
use axum::Json;
use axum::extract::Path;
use domain::class::{Class, ClassEdit, ClassStatus};
use domain::course::CourseStatus;
use domain::from_fields;
use domain::id::{ClassId, HomeroomId, SubjectId, UserId};
use domain::patch::FieldPatch;
use domain::text::{AcademicYear, Search};
use domain::version::VersionedObject;

use super::context::Context;
use super::cross_tenant_list::by_name;
use super::dry_run::{DryRun, DryRunQuery};
use super::existing;
use super::patch_fields::Editable;
use super::response::{CreatedObject, PreserializedJson, Versioned, or_current};
use super::valid::{Patch, Switch, Valid, ValidQuery};
use api_types::assignment::ListedAssignmentView;
use api_types::class::{ClassFollowing, ClassView, CoTeacherView};
use api_types::course::CourseView;
use api_types::deletion::UndoView;
use api_types::group::ListedGroupView;
use common::error::{Error, Result};
use db::classes::ClassFilter;
use db::courses::CourseFilter;
use db::{ReadTx, WriteTx};
use service::actions::classes::{self, NewClass, NewCoTeacher, RemovedCounts};
use service::actions::deletions::KeptDeletion;

#[query]
pub(crate) struct ClassListQuery {
    /// Only classes with this status.
    status: Option<ClassStatus>,
    /// Substring of the name. Names that begin with it come first.
    search: Option<Search>,
    /// Only classes owned by this teacher.
    teacher_id: Option<UserId>,
    /// Only classes of this homeroom.
    homeroom_id: Option<HomeroomId>,
    /// Only classes with this subject.
    subject_id: Option<SubjectId>,
    /// Only classes of this school year.
    academic_year: Option<AcademicYear>,
    /// If `1`, only classes that the caller owns or co-teaches. Ignored for students.
    mine: Option<Switch>,
}

#[query]
pub(crate) struct CoursesFilter {
    /// Only courses of this subject.
    subject_id: Option<SubjectId>,
    /// Substring of the name. Names that begin with it come first.
    search: Option<Search>,
    /// Only courses with this status.
    status: Option<CourseStatus>,
}

#[query]
pub(crate) struct Removal {
    /// If `1`, delete the class with all its courses, groups and topics.
    force: Option<Switch>,
    /// Preview the effects of a forced deletion without changing anything.
    dry_run: DryRun,
}

/// The result of deleting a class.
#[view]
pub struct ClassRemoved {
    /// Always true; failures are reported as errors.
    success: bool,
    deleted: DeletedCounts,
    #[serde(flatten)]
    undo: UndoView,
}

/// Numbers of deleted objects, or of those a dry run would delete.
#[view(Copy)]
pub struct DeletedCounts {
    courses: i64,
    groups: i64,
    assignments: i64,
    documents: i64,
}

impl ClassRemoved {
    fn new(counts: RemovedCounts, dry_run: DryRun) -> Self {
        let RemovedCounts {
            courses,
            groups,
            assignments,
            documents,
            kept,
        } = counts;
        let deleted = DeletedCounts {
            courses,
            groups,
            assignments,
            documents,
        };
        Self {
            success: true,
            deleted,
            undo: UndoView::new(kept.map(KeptDeletion::into_parts), dry_run.is_on()),
        }
    }
}

impl Editable for ClassEdit {
    type Resource = ClassView;
}

/// List the classes visible to the caller, by name
#[utoipa::path(get, path = "/classes", params(ClassListQuery), responses((status = 200, body = [ClassView])))]
pub(crate) async fn list(cx: Context, ValidQuery(filter): ValidQuery<ClassListQuery>) -> Result<Json<Vec<ClassView>>> {
    let is_mine = filter.mine.unwrap_or_default().0;
    let search = filter.search.map(Search::into_string).filter(|text| !text.is_empty());
    let classes = cx
        .list(move |tx| {
            // All classes that a student can see are the student's own.
            let taught_by = tx.actor().user.clone().filter(|_| is_mine && tx.viewer().is_staff());
            let filter = from_fields!(&filter => ClassFilter {
                status, teacher_id, homeroom_id, subject_id, academic_year,
                search: search.clone(),
                taught_by: taught_by,
            });
            let classes = tx.classes(&filter)?.into_iter();
            let place = |class: &Class| by_name(search.as_deref(), class.name.as_str(), class.id.clone());
            let viewer = tx.viewer();
            Ok(classes
                .map(|details| (place(&details.class), ClassView::of(details, viewer)))
                .collect())
        })
        .await?;
    Ok(Json(classes))
}

/// Create a class
#[utoipa::path(post, path = "/classes", request_body = NewClass,
    responses((status = 201, body = ClassView), (status = 409, description = "DUPLICATE_EXTERNAL_ID")))]
pub(crate) async fn create(cx: Context, Valid(new): Valid<NewClass>) -> Result<CreatedObject<ClassView>> {
    let external_id = new.external_id.clone();
    let make = move |tx: &mut WriteTx<'_>| {
        let class = ClassView::of(classes::create(tx, &new)?, tx.viewer());
        Ok(CreatedObject(format!("/api/classes/{}", class.id()), class))
    };
    let find = move |tx: &mut ReadTx<'_>| existing::class(tx, external_id.as_ref());
    existing::add_existing_id(&cx, cx.create(make).await, find).await
}

/// Get a class
#[utoipa::path(get, path = "/classes/{id}", params(("id" = String, Path)), responses((status = 200, body = ClassView)))]
pub(crate) async fn show(cx: Context, Path(id): Path<ClassId>) -> Result<Versioned<ClassView>> {
    let object = VersionedObject::from(&id);
    let load = move |tx: &mut ReadTx<'_>| Ok(ClassView::of(tx.whole_class(&id)?, tx.viewer()));
    cx.read_object(object, load).await
}

/// Update a class
#[utoipa::path(patch, path = "/classes/{id}", params(("id" = String, Path)), request_body = ClassEdit,
    responses((status = 200, body = ClassView), (status = 412, description = "PRECONDITION_FAILED"),
        (status = 409, description = "CLASS_ARCHIVED, CLASS_NOT_EMPTY, SUBJECT_IN_USE, DUPLICATE_EXTERNAL_ID"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn edit(
    cx: Context,
    Path(id): Path<ClassId>,
    patch: Patch<ClassEdit>,
) -> Result<Versioned<ClassView>> {
    let (object, current) = (VersionedObject::from(&id), show(cx.clone(), Path(id.clone())));
    let external_id = patch.edit.external_id.value().cloned();
    let act = move |tx: &mut WriteTx<'_>| Ok(ClassView::of(classes::edit(tx, &id, &patch.edit)?, tx.viewer()));
    let find = move |tx: &mut ReadTx<'_>| existing::class(tx, external_id.as_ref());
    let edited = existing::add_existing_id(&cx, cx.write_object(object, act).await, find).await;
    or_current(edited, current).await
}

/// Which homeroom a class follows.
#[body]
pub struct FollowingEdit {
    /// Whether students who join or leave the homeroom join or leave the class.
    follows_homeroom: bool,
    /// The homeroom. Defaults to the present one.
    homeroom_id: Option<HomeroomId>,
}

/// Let a class follow its homeroom, or stop it
///
/// The response lists who joins and leaves the class; with `dryRun`, nothing is changed.
#[utoipa::path(post, path = "/classes/{id}/following", params(("id" = String, Path), DryRunQuery),
    request_body = FollowingEdit,
    responses((status = 200, body = ClassFollowing), (status = 409, description = "CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn follow(
    cx: Context,
    Path(id): Path<ClassId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
    Valid(following): Valid<FollowingEdit>,
) -> Result<Json<ClassFollowing>> {
    let edit = ClassEdit {
        follows_homeroom: FieldPatch::Value(following.follows_homeroom),
        homeroom_id: following.homeroom_id.map_or(FieldPatch::Unchanged, FieldPatch::Value),
        ..ClassEdit::default()
    };
    let act = move |tx: &mut WriteTx<'_>| classes::edit_following(tx, &id, &edit);
    let (details, outcome) = cx.write_or_preview(query.dry_run, act).await?;
    let left = outcome.left.into_iter().map(|leaver| {
        let groups = leaver.left.into_iter().map(|details| details.group.id).collect();
        (leaver.student, groups)
    });
    Ok(Json(ClassFollowing::new(&details, outcome.joined, left.collect())))
}

/// Delete a class
#[utoipa::path(delete, path = "/classes/{id}", params(("id" = String, Path), Removal),
    responses((status = 200, body = ClassRemoved), (status = 412, description = "PRECONDITION_FAILED"), (status = 409, description = "CLASS_NOT_EMPTY")))]
pub(crate) async fn remove(
    cx: Context,
    Path(id): Path<ClassId>,
    ValidQuery(removal): ValidQuery<Removal>,
) -> Result<Json<ClassRemoved>> {
    // A preview shows what a forced deletion would remove.
    let is_forced = removal.force.unwrap_or_default().0 || removal.dry_run.is_on();
    let (object, current) = (VersionedObject::from(&id), show(cx.clone(), Path(id.clone())));
    let retention = cx.app().settings().deletion_retention;
    let act = move |tx: &mut WriteTx<'_>| classes::remove(tx, &id, is_forced, retention);
    let removed = cx.delete_or_preview(removal.dry_run, object, act).await;
    let counts = or_current(removed, current).await?;
    Ok(Json(ClassRemoved::new(counts, removal.dry_run)))
}

/// List the groups of a class visible to the caller, by number
#[utoipa::path(get, path = "/classes/{id}/groups", params(("id" = String, Path), super::groups::GroupListQuery),
    responses((status = 200, body = [ListedGroupView])))]
pub(crate) async fn groups(
    cx: Context,
    Path(id): Path<ClassId>,
    ValidQuery(mut filter): ValidQuery<super::groups::GroupListQuery>,
) -> Result<PreserializedJson> {
    filter.class_id = Some(of_path(&cx, id, filter.class_id).await?);
    super::groups::matching(cx, filter).await
}

/// List the topics of a class visible to the caller
#[utoipa::path(get, path = "/classes/{id}/assignments", params(("id" = String, Path), super::assignments::AssignmentListQuery),
    responses((status = 200, body = [ListedAssignmentView])))]
pub(crate) async fn assignments(
    cx: Context,
    Path(id): Path<ClassId>,
    ValidQuery(mut filter): ValidQuery<super::assignments::AssignmentListQuery>,
) -> Result<Json<Vec<ListedAssignmentView>>> {
    filter.class_id = Some(of_path(&cx, id, filter.class_id).await?);
    super::assignments::matching(cx, filter).await
}

/// Checks that the caller may see the class of the path. A `classId` filter with another class is invalid.
async fn of_path(cx: &Context, id: ClassId, filtered: Option<ClassId>) -> Result<ClassId> {
    if filtered.is_some_and(|filtered| filtered != id) {
        return Err(Error::invalid("classId", "format", "must be the class of the path"));
    }
    Ok(cx.read(move |tx| tx.class(&id)).await?.id)
}

/// List the courses of a class, by name
#[utoipa::path(get, path = "/classes/{id}/courses", params(("id" = String, Path), CoursesFilter),
    responses((status = 200, body = [CourseView])))]
pub(crate) async fn courses(
    cx: Context,
    Path(id): Path<ClassId>,
    ValidQuery(filter): ValidQuery<CoursesFilter>,
) -> Result<Json<Vec<CourseView>>> {
    let courses = cx
        .read(move |tx| {
            tx.class(&id)?;
            tx.courses(&CourseFilter {
                class_id: Some(id),
                subject_id: filter.subject_id,
                search: filter.search.map(Search::into_string).filter(|text| !text.is_empty()),
                status: filter.status,
            })
        })
        .await?;
    Ok(Json(courses.into_iter().map(CourseView::from).collect()))
}

/// Add a co-teacher
#[utoipa::path(post, path = "/classes/{id}/teachers", params(("id" = String, Path)), request_body = NewCoTeacher,
    responses((status = 200, body = [CoTeacherView]), (status = 409, description = "CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn add_teacher(
    cx: Context,
    Path(id): Path<ClassId>,
    Valid(new): Valid<NewCoTeacher>,
) -> Result<Json<Vec<CoTeacherView>>> {
    let teachers = cx.write(move |tx| classes::add_teacher(tx, &id, &new)).await?;
    Ok(Json(teachers.into_iter().map(CoTeacherView::from).collect()))
}

/// Remove a co-teacher
#[utoipa::path(delete, path = "/classes/{id}/teachers/{userId}",
    params(("id" = String, Path), ("userId" = String, Path), DryRunQuery),
    responses((status = 200, body = [CoTeacherView]), (status = 409, description = "CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn remove_teacher(
    cx: Context,
    Path((id, teacher)): Path<(ClassId, UserId)>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<Vec<CoTeacherView>>> {
    let teachers = cx
        .write_or_preview(query.dry_run, move |tx| classes::remove_teacher(tx, &id, &teacher))
        .await?;
    Ok(Json(teachers.into_iter().map(CoTeacherView::from).collect()))
}
