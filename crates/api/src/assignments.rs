//! `/assignments`: topics. The groups of a topic are in `group_assignments.rs`, its files in `attachments.rs`. See
//! docs/api-contract.md#topics.

use api_macros::{query, view};
use axum::Json;
use axum::extract::Path;
use domain::access::Viewer;
use domain::assignment::{Assignment, AssignmentEdit, AssignmentOrder, AssignmentStatus, BulkAssignmentEdit};
use domain::id::{AssignmentId, ClassId, CourseId, DocumentId, GroupId, SubjectId};
use domain::text::Search;
use domain::version::VersionedObject;

use super::context::Context;
use super::cross_tenant_list::{DirectedKey, starts_with_search};
use super::dry_run::{DryRun, DryRunQuery};
use super::patch_fields::Editable;
use super::response::{CreatedObject, Versioned, or_current};
use super::valid::{Patch, Switch, Valid, ValidQuery};
use api_types::assignment::{
    AssignmentListItemView, AssignmentOutlineView, AssignmentView, CandidateView, KnownAssignmentView,
    ListedAssignmentView,
};
use api_types::audience::Audience;
use api_types::bulk_edit::BulkEditView;
use api_types::deletion::UndoView;
use common::error::Result;
use db::WriteTx;
use db::assignments::{AssignmentFilter, VisibleAssignment};
use db::group_assignments::SubmissionCandidate;
use service::actions::assignments::{self, NewAssignment, Reminder};
use service::actions::bulk_edits::{self, BulkOptions};
use service::actions::deletions::KeptDeletion;
use service::actions::submissions;

#[query]
pub(super) struct AssignmentListQuery {
    /// Only topics of this class.
    pub(super) class_id: Option<ClassId>,
    /// Only topics of this course; `none` for topics without a course.
    course_id: Option<CourseId>,
    /// Only topics of courses in this subject.
    subject_id: Option<SubjectId>,
    /// Only topics with this status.
    status: Option<AssignmentStatus>,
    /// Only topics on which this group works.
    group_id: Option<GroupId>,
    /// Substring of the title. Titles that begin with it come first unless `sort` is given.
    search: Option<Search>,
    /// Sort order. Defaults to the deadline.
    sort: Option<AssignmentOrder>,
}

/// The groups that have a reminder.
#[view]
pub(crate) struct RemindedGroups {
    group_ids: Vec<GroupId>,
}

#[query]
pub(crate) struct BulkQuery {
    /// Preview the effects without changing anything.
    dry_run: DryRun,
    /// If `1`, the lateness of all submissions is determined again.
    recompute_late: Switch,
}

#[query]
pub(crate) struct OfGroup {
    /// The group that submits.
    group_id: GroupId,
    /// A document of the group that is to be submitted.
    document_id: Option<DocumentId>,
}

/// The result of deleting a topic.
#[view]
pub(crate) struct RemovedTopic {
    /// Always true; failures are reported as errors.
    success: bool,
    /// Number of submissions that were deleted, or would be in a dry run.
    deleted_submissions: i64,
    #[serde(flatten)]
    undo: UndoView,
}

impl Editable for AssignmentEdit {
    type Resource = AssignmentView;
}

/// List topics
///
/// Students receive the topics of their groups. Teachers receive topics of other teachers' classes as an outline.
#[utoipa::path(get, path = "/assignments", params(AssignmentListQuery), responses((status = 200, body = [ListedAssignmentView])))]
pub(crate) async fn list(
    cx: Context,
    ValidQuery(filter): ValidQuery<AssignmentListQuery>,
) -> Result<Json<Vec<ListedAssignmentView>>> {
    matching(cx, filter).await
}

/// The sort key of a topic in a list that spans organizations.
fn list_key(filter: &AssignmentFilter, topic: &Assignment) -> impl Ord + Send + use<> {
    let starts_with_search = starts_with_search(filter.search.as_deref(), topic.title.as_str());
    let (is_after, key, is_descending) = match filter.order {
        None => (!starts_with_search, topic.sort_key(AssignmentOrder::Deadline), false),
        Some(order) => (false, topic.sort_key(order), order.is_descending()),
    };
    (is_after, DirectedKey { key, is_descending })
}

/// The list for a filter. `GET /classes/{id}/assignments` uses it too.
pub(super) async fn matching(cx: Context, filter: AssignmentListQuery) -> Result<Json<Vec<ListedAssignmentView>>> {
    let course = filter.course_id;
    let filter = AssignmentFilter {
        class_id: filter.class_id,
        without_course: course.as_ref().is_some_and(|id| id.as_str() == "none"),
        course_id: course.filter(|id| id.as_str() != "none"),
        subject_id: filter.subject_id,
        status: filter.status,
        group_id: filter.group_id,
        search: filter.search.map(Search::into_string).filter(|text| !text.is_empty()),
        order: filter.sort,
    };
    let load = cx.list(move |tx| {
        let viewer = tx.viewer().clone();
        let found = tx.assignments(&filter)?;
        Ok(found
            .iter()
            .map(|seen| (list_key(&filter, &seen.details.assignment), listed(seen, &viewer)))
            .collect())
    });
    Ok(Json(load.await?))
}

/// Create a topic, optionally with groups
#[utoipa::path(post, path = "/assignments", request_body = NewAssignment,
    responses((status = 201, body = AssignmentView),
        (status = 409, description = "CLASS_MISMATCH, COURSE_MISMATCH, COURSE_ARCHIVED, CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn create(cx: Context, Valid(new): Valid<NewAssignment>) -> Result<CreatedObject<AssignmentView>> {
    let make = move |tx: &mut WriteTx<'_>| {
        let topic = staff(&assignments::create(tx, &new)?);
        Ok(CreatedObject(format!("/api/assignments/{}", topic.id()), topic))
    };
    cx.create(make).await
}

/// List the active topics for which a group may submit
///
/// Topics with a future deadline come first. The topic of the document is preselected; without a document, or when its
/// topic is not active, the topic with the nearest deadline.
#[utoipa::path(get, path = "/assignments/submission-candidates", params(OfGroup),
    responses((status = 200, body = [CandidateView])))]
pub(crate) async fn candidates(
    cx: Context,
    ValidQuery(query): ValidQuery<OfGroup>,
) -> Result<Json<Vec<CandidateView>>> {
    let found = cx.read(move |tx| submissions::submission_candidates(tx, &query.group_id, query.document_id.as_ref()));
    let view = |(topic, is_preselected): (SubmissionCandidate, bool)| CandidateView {
        assignment_id: topic.assignment_id,
        title: topic.title,
        deadline: topic.deadline,
        is_preselected,
    };
    Ok(Json(found.await?.into_iter().map(view).collect()))
}

/// Get a topic
#[utoipa::path(get, path = "/assignments/{id}", params(("id" = String, Path)),
    responses((status = 200, body = KnownAssignmentView)))]
pub(crate) async fn show(cx: Context, Path(id): Path<AssignmentId>) -> Result<Versioned<KnownAssignmentView>> {
    let object = VersionedObject::from(&id);
    let load = cx.read_object(object, move |tx| {
        let viewer = tx.viewer().clone();
        Ok(known(&tx.assignment(&id)?, &viewer))
    });
    load.await
}

/// Update a topic
///
/// `groups` sets the own texts of the groups it lists and their exceptions from the publication. Other groups are not
/// changed.
#[utoipa::path(patch, path = "/assignments/{id}", params(("id" = String, Path)), request_body = AssignmentEdit,
    responses((status = 200, body = AssignmentView), (status = 412, description = "PRECONDITION_FAILED"),
        (status = 409, description = "ASSIGNMENT_FINISHED, COURSE_MISMATCH, CLASS_MISMATCH, COURSE_ARCHIVED, \
         GROUP_NOT_ON_ASSIGNMENT, CLASS_ARCHIVED, ASSIGNMENT_STARTED"), (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn edit(
    cx: Context,
    Path(id): Path<AssignmentId>,
    patch: Patch<AssignmentEdit>,
) -> Result<Versioned<AssignmentView>> {
    let (object, current) = (VersionedObject::from(&id), show(cx.clone(), Path(id.clone())));
    let act = move |tx: &mut WriteTx<'_>| assignments::edit(tx, &id, &patch.edit);
    let topic = or_current(cx.write_object(object, act).await, current).await?;
    Ok(topic.map(|topic| staff(&topic)))
}

/// Delete a topic with its submissions and files
///
/// Work rooms and documents are kept.
#[utoipa::path(delete, path = "/assignments/{id}", params(("id" = String, Path), DryRunQuery),
    responses((status = 200, body = RemovedTopic), (status = 412, description = "PRECONDITION_FAILED"), (status = 409, description = "CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn remove(
    cx: Context,
    Path(id): Path<AssignmentId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<RemovedTopic>> {
    let (object, current) = (VersionedObject::from(&id), show(cx.clone(), Path(id.clone())));
    let retention = cx.app().settings().deletion_retention;
    let act = move |tx: &mut WriteTx<'_>| assignments::remove(tx, &id, retention);
    let removed = cx.delete_or_preview(query.dry_run, object, act).await;
    let (deleted_submissions, kept) = or_current(removed, current).await?;
    Ok(Json(RemovedTopic {
        success: true,
        deleted_submissions,
        undo: UndoView::new(kept.map(KeptDeletion::into_parts), query.dry_run.is_on()),
    }))
}

/// Update what all groups of a topic share
///
/// Members, own texts and files of single groups are not changed.
#[utoipa::path(patch, path = "/assignments/{id}/bulk", params(("id" = String, Path), BulkQuery), request_body = BulkAssignmentEdit,
    responses((status = 200, body = BulkEditView), (status = 412, description = "PRECONDITION_FAILED"),
        (status = 409, description = "ASSIGNMENT_FINISHED, LIMIT_REACHED, CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn bulk(
    cx: Context,
    Path(id): Path<AssignmentId>,
    ValidQuery(query): ValidQuery<BulkQuery>,
    Valid(edit): Valid<BulkAssignmentEdit>,
) -> Result<Versioned<BulkEditView>> {
    let options = BulkOptions {
        is_dry: query.dry_run.is_on(),
        recompute_late: query.recompute_late.0,
    };
    let (object, current) = (VersionedObject::from(&id), show(cx.clone(), Path(id.clone())));
    let act = move |tx: &mut WriteTx<'_>| bulk_edits::bulk(tx, &id, &edit, options);
    let done = or_current(cx.write_object(object, act).await, current).await?;
    Ok(done.map(|done| {
        if options.is_dry {
            BulkEditView::preview(done.affected, &done.changed)
        } else {
            BulkEditView::done(staff(&done.seen), done.affected, &done.changed)
        }
    }))
}

/// Remind the groups that have not submitted
///
/// The message is written into the chats of their work rooms. Groups whose work was returned are reminded, too, and those
/// that do not see the topic yet are not.
#[utoipa::path(post, path = "/assignments/{id}/remind", params(("id" = String, Path)), request_body = Reminder,
    responses((status = 200, body = RemindedGroups), (status = 409, description = "ASSIGNMENT_FINISHED, CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn remind(
    cx: Context,
    Path(id): Path<AssignmentId>,
    Valid(reminder): Valid<Reminder>,
) -> Result<Json<RemindedGroups>> {
    let group_ids = cx.write(move |tx| assignments::remind(tx, &id, &reminder)).await?;
    Ok(Json(RemindedGroups { group_ids }))
}

/// The topic as staff of its class see it.
fn staff(seen: &VisibleAssignment) -> AssignmentView {
    AssignmentView::new(&seen.details, &Audience::Staff)
}

/// The topic as a list element, as far as this viewer may see it.
fn listed(seen: &VisibleAssignment, viewer: &Viewer) -> ListedAssignmentView {
    outline(seen, viewer).map_or_else(
        || {
            ListedAssignmentView::Full(Box::new(AssignmentListItemView::new(
                &seen.details,
                &Audience::of(viewer),
            )))
        },
        ListedAssignmentView::Outline,
    )
}

/// The topic as far as this viewer may see it.
fn known(seen: &VisibleAssignment, viewer: &Viewer) -> KnownAssignmentView {
    outline(seen, viewer).map_or_else(
        || KnownAssignmentView::Full(Box::new(AssignmentView::new(&seen.details, &Audience::of(viewer)))),
        KnownAssignmentView::Outline,
    )
}

/// The outline of the topic, for a teacher of another class.
fn outline(seen: &VisibleAssignment, viewer: &Viewer) -> Option<AssignmentOutlineView> {
    let is_others = viewer.is_staff() && !seen.is_managed;
    is_others.then(|| AssignmentOutlineView::new(&seen.details.assignment, seen.groups))
}
