//! `/groups`. The store decides what a caller sees: teachers of other classes see outlines, students their own groups.
//! See docs/api-contract.md#groups.

use api_macros::{query, view};
use axum::Json;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use domain::access::EffectiveRole;
use domain::group::{Group, GroupEdit};
use domain::id::{AssignmentId, ClassId, CourseId, GroupId, SubjectId, SubmissionId, UserId};
use domain::number::GroupNumber;
use domain::text::{Search, ShortName};
use domain::user::Person;
use domain::version::VersionedObject;

use super::context::Context;
use super::cross_tenant_list::starts_with_search;
use super::dry_run::DryRunQuery;
use super::existing;
use super::patch_fields::Editable;
use super::response::{CreatedAll, CreatedObject, PreserializedJson, Versioned, or_current};
use super::valid::{Patch, Switch, Valid, ValidQuery};
use api_types::audience::Audience;
use api_types::deletion::UndoView;
use api_types::group::{GroupListItemView, GroupOutlineView, GroupView, KnownGroupView, ListedGroupView};
use common::error::Result;
use db::groups::{CourseChoice, GroupFilter, VisibleGroup};
use db::{ReadTx, RequestContext, WriteTx};
use service::actions::deletions::KeptDeletion;
use service::actions::group_divisions::{self, NewDivision};
use service::actions::group_members::{self, Move, NewMembers};
use service::actions::groups::{self, NewGroup, NewGroupBatch};

#[query]
pub(super) struct GroupListQuery {
    /// Only groups of this class.
    pub(super) class_id: Option<ClassId>,
    /// Only groups of this course; `none` for groups without a course.
    #[garde(skip)]
    course_id: Option<String>,
    /// Only groups with this subject.
    subject_id: Option<SubjectId>,
    /// Only groups that work on this topic.
    assignment_id: Option<AssignmentId>,
    /// Only groups that ask for help (`1`) or do not (`0`).
    needs_help: Option<Switch>,
    /// Substring of the name or the display name. Names that begin with it come first.
    search: Option<Search>,
    /// If `1`, only groups of classes that the caller owns or co-teaches, or of which the caller is a member.
    mine: Option<Switch>,
}

impl Editable for GroupEdit {
    type Resource = GroupView;
    /// These are fields of topics now.
    const FORMER: &'static [&'static str] = &["topic", "deadline"];
}

/// List the groups visible to the caller, by number
#[utoipa::path(get, path = "/groups", params(GroupListQuery), responses((status = 200, body = [ListedGroupView])))]
pub(crate) async fn list(cx: Context, ValidQuery(filter): ValidQuery<GroupListQuery>) -> Result<PreserializedJson> {
    matching(cx, filter).await
}

/// The list for a filter. `GET /classes/{id}/groups` uses it too.
pub(super) async fn matching(cx: Context, filter: GroupListQuery) -> Result<PreserializedJson> {
    let filter = GroupFilter {
        class_id: filter.class_id,
        course: filter
            .course_id
            .filter(|id| !id.is_empty())
            .map(|id| match id.as_str() {
                "none" => CourseChoice::None,
                _ => CourseChoice::Of(CourseId::new(id)),
            }),
        subject_id: filter.subject_id,
        assignment_id: filter.assignment_id,
        needs_help: filter.needs_help.map(|on| on.0),
        search: filter.search.map(Search::into_string).filter(|text| !text.is_empty()),
        mine: filter.mine.is_some_and(|on| on.0),
    };
    if !cx.caller().is_cross_tenant() {
        let load = cx.read(move |tx| {
            let found = tx.groups(&filter)?;
            let context = tx.context();
            let shown: Vec<GroupId> = found.iter().map(|group| group.details.group.id.clone()).collect();
            Ok((
                shown,
                PreserializedJson::list(found.into_iter().map(|group| listed(group, context)))?,
            ))
        });
        let (shown, groups) = load.await?;
        join_rooms(&cx, &shown);
        return Ok(groups);
    }
    let load = cx.list(move |tx| {
        let found = tx.groups(&filter)?.into_iter();
        let search = filter.search.as_deref();
        let place = |group: &Group| {
            (
                !starts_with_search(search, group.name.as_str()),
                group.group_number,
                group.id.clone(),
            )
        };
        let context = tx.context();
        Ok(found
            .map(|group| {
                let place = place(&group.details.group);
                (place, listed(group, context))
            })
            .collect())
    });
    PreserializedJson::list(load.await?.into_iter())
}

/// Groups as far as the caller may see them. The sockets of a student join their rooms.
pub(super) fn shown(cx: &Context, groups: Vec<VisibleGroup>) -> Result<Json<Vec<ListedGroupView>>> {
    let context = cx.context()?;
    let ids: Vec<GroupId> = groups.iter().map(|group| group.details.group.id.clone()).collect();
    join_rooms(cx, &ids);
    Ok(Json(groups.into_iter().map(|group| listed(group, &context)).collect()))
}

/// Create a group with its work room
#[utoipa::path(post, path = "/groups", request_body = NewGroup, responses((status = 201, body = GroupView),
    (status = 409, description = "DUPLICATE_GROUP_NUMBER, STUDENT_NOT_ENROLLED, COURSE_MISMATCH, CLASS_MISMATCH, \
        COURSE_ARCHIVED, CLASS_ARCHIVED, ASSIGNMENT_FINISHED, LIMIT_REACHED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn create(cx: Context, Valid(new): Valid<NewGroup>) -> Result<CreatedObject<GroupView>> {
    let context = cx.context()?;
    let (class, number) = (new.class_id.clone(), new.group_number);
    let make = move |tx: &mut WriteTx<'_>| {
        let group = details(&groups::create(tx, &new)?, &context);
        Ok(CreatedObject(format!("/api/groups/{}", group.id()), group))
    };
    let find = move |tx: &mut ReadTx<'_>| existing::group(tx, &class, number);
    existing::add_existing_id(&cx, cx.create(make).await, find).await
}

/// Create several groups of one class, all or none
#[utoipa::path(post, path = "/groups/batch", request_body = NewGroupBatch, responses((status = 201, body = [GroupView]),
    (status = 409, description = "DUPLICATE_GROUP_NUMBER, STUDENT_NOT_ENROLLED, COURSE_MISMATCH, CLASS_MISMATCH, \
         COURSE_ARCHIVED, CLASS_ARCHIVED"), (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn create_all(cx: Context, Valid(new): Valid<NewGroupBatch>) -> Result<CreatedAll<GroupView>> {
    let context = cx.context()?;
    let class = new.class_id.clone();
    let numbers: Vec<_> = new.groups.iter().filter_map(|group| group.group_number).collect();
    let make = move |tx: &mut WriteTx<'_>| {
        let groups = groups::create_all(tx, &new)?;
        let groups = groups.iter().map(|group| details(group, &context));
        Ok(CreatedAll(groups.collect()))
    };
    let find = move |tx: &mut ReadTx<'_>| existing::group_with_one_of(tx, &class, &numbers);
    existing::add_existing_id(&cx, cx.create(make).await, find).await
}

/// A preview of generated groups.
#[view]
struct DivisionPreview {
    /// Always true.
    dry_run: bool,
    /// Creates exactly these groups when it is sent with the same request.
    seed: u32,
    /// How many pairs of students in these groups have shared a group of the class before.
    repeated_pairs: i64,
    groups: Vec<GroupPreview>,
}

/// A group that would be created.
#[view]
struct GroupPreview {
    name: ShortName,
    group_number: GroupNumber,
    members: Vec<Person>,
}

/// Divide the students of a class into groups, or preview that
#[utoipa::path(post, path = "/groups/generate", params(DryRunQuery), request_body = NewDivision,
    responses((status = 201, body = [GroupView]), (status = 200, body = DivisionPreview, description = "With dryRun=1"),
    (status = 409, description = "STUDENT_NOT_ENROLLED, CLASS_MISMATCH, COURSE_ARCHIVED, CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn generate(
    cx: Context,
    ValidQuery(query): ValidQuery<DryRunQuery>,
    Valid(new): Valid<NewDivision>,
) -> Result<Response> {
    if query.dry_run.is_on() {
        // The same checks under the same locks, but nothing is written.
        let plan = cx.write(move |tx| group_divisions::plan(tx, &new)).await?;
        let groups = plan.groups.into_iter().map(|group| GroupPreview {
            name: group.name,
            group_number: group.number,
            members: group.members,
        });
        let preview = DivisionPreview {
            dry_run: true,
            seed: plan.seed,
            repeated_pairs: plan.repeated,
            groups: groups.collect(),
        };
        return Ok(Json(preview).into_response());
    }
    let context = cx.context()?;
    let make = move |tx: &mut WriteTx<'_>| {
        let groups = group_divisions::generate(tx, &new)?;
        let groups = groups.iter().map(|group| details(group, &context));
        Ok(CreatedAll(groups.collect()))
    };
    Ok(cx.create(make).await?.into_response())
}

/// Get a group
///
/// Teachers of other classes receive an outline.
#[utoipa::path(get, path = "/groups/{id}", params(("id" = String, Path)),
    responses((status = 200, body = KnownGroupView)))]
pub(crate) async fn show(cx: Context, Path(id): Path<GroupId>) -> Result<Versioned<KnownGroupView>> {
    let (context, object) = (cx.context()?, VersionedObject::from(&id));
    let group = cx.read_object(object, move |tx| tx.group(&id)).await?;
    join_rooms(&cx, std::slice::from_ref(&group.0.details.group.id));
    Ok(group.map(|group| known(group, &context)))
}

/// Update a group
#[utoipa::path(patch, path = "/groups/{id}", params(("id" = String, Path)), request_body = GroupEdit,
    responses((status = 200, body = GroupView), (status = 412, description = "PRECONDITION_FAILED"),
    (status = 409, description = "DUPLICATE_GROUP_NUMBER, COURSE_MISMATCH, CLASS_MISMATCH, COURSE_ARCHIVED, \
         CLASS_ARCHIVED"), (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn edit(
    cx: Context,
    Path(id): Path<GroupId>,
    patch: Patch<GroupEdit>,
) -> Result<Versioned<GroupView>> {
    let context = cx.context()?;
    let (object, current) = (VersionedObject::from(&id), show(cx.clone(), Path(id.clone())));
    let (lookup, requested) = (id.clone(), patch.edit.clone());
    let act = move |tx: &mut WriteTx<'_>| groups::edit(tx, &id, &patch.edit);
    let find = move |tx: &mut ReadTx<'_>| existing::group_of_edit(tx, &lookup, &requested);
    let edited = existing::add_existing_id(&cx, cx.write_object(object, act).await, find).await;
    let group = or_current(edited, current).await?;
    Ok(group.map(|group| details(&group, &context)))
}

/// The result of deleting a group.
#[view]
#[schema(as = GroupRemoved)]
pub(crate) struct GroupDeletionView {
    success: bool,
    deleted_documents: i64,
    deleted_submissions: i64,
    #[serde(flatten)]
    undo: UndoView,
}

/// Delete a group with its room, documents and submissions
#[utoipa::path(delete, path = "/groups/{id}", params(("id" = String, Path), DryRunQuery),
    responses((status = 200, body = GroupDeletionView), (status = 412, description = "PRECONDITION_FAILED"), (status = 409, description = "CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn remove(
    cx: Context,
    Path(id): Path<GroupId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<GroupDeletionView>> {
    let (object, current) = (VersionedObject::from(&id), show(cx.clone(), Path(id.clone())));
    let retention = cx.app().settings().deletion_retention;
    let act = move |tx: &mut WriteTx<'_>| groups::remove(tx, &id, retention);
    let removed = cx.delete_or_preview(query.dry_run, object, act).await;
    let removed = or_current(removed, current).await?;
    Ok(Json(GroupDeletionView {
        success: true,
        undo: UndoView::new(removed.kept.map(KeptDeletion::into_parts), query.dry_run.is_on()),
        deleted_documents: removed.documents,
        deleted_submissions: removed.submissions,
    }))
}

/// A group with its new members.
#[view]
pub(crate) struct GroupJoined {
    #[serde(flatten)]
    group: GroupView,
    /// The requested students who are in another group of the same topic.
    already_in_topic: Vec<UserId>,
}

/// Add students of the class to a group
#[utoipa::path(post, path = "/groups/{id}/members", params(("id" = String, Path)), request_body = NewMembers,
    responses((status = 200, body = GroupJoined),
    (status = 409, description = "STUDENT_NOT_ENROLLED, LIMIT_REACHED, CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn add_members(
    cx: Context,
    Path(id): Path<GroupId>,
    Valid(new): Valid<NewMembers>,
) -> Result<Json<GroupJoined>> {
    let context = cx.context()?;
    let joined = cx.write(move |tx| group_members::add(tx, &id, &new)).await?;
    Ok(Json(GroupJoined {
        group: details(&joined.group, &context),
        already_in_topic: joined.already_in_topic,
    }))
}

/// Remove a student from a group
#[utoipa::path(delete, path = "/groups/{id}/members/{userId}", params(("id" = String, Path), ("userId" = String, Path), DryRunQuery),
    responses((status = 200, body = GroupView), (status = 409, description = "CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn remove_member(
    cx: Context,
    Path((id, user)): Path<(GroupId, UserId)>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<GroupView>> {
    let context = cx.context()?;
    let group = cx
        .write_or_preview(query.dry_run, move |tx| group_members::remove(tx, &id, &user))
        .await?;
    Ok(Json(details(&group, &context)))
}

/// The result of moving a student.
#[view]
pub(crate) struct MemberMoved {
    from: GroupView,
    to: GroupView,
    /// Submissions in which the student took part. They stay with the former group.
    kept_submissions: Vec<SubmissionId>,
}

/// Move a student to another group of the class
#[utoipa::path(post, path = "/groups/{id}/members/{userId}/move",
    params(("id" = String, Path), ("userId" = String, Path), DryRunQuery), request_body = Move,
    responses((status = 200, body = MemberMoved),
    (status = 409, description = "CLASS_MISMATCH, LIMIT_REACHED, CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn move_member(
    cx: Context,
    Path((id, user)): Path<(GroupId, UserId)>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
    Valid(requested): Valid<Move>,
) -> Result<Json<MemberMoved>> {
    let context = cx.context()?;
    let dry_run = query.dry_run.or(requested.dry_run);
    let moved = cx
        .write_or_preview(dry_run, move |tx| group_members::move_to(tx, &id, &user, &requested))
        .await?;
    Ok(Json(MemberMoved {
        from: details(&moved.from, &context),
        to: details(&moved.to, &context),
        kept_submissions: moved.kept_submissions,
    }))
}

/// Joins the sockets of a student to the rooms of visible groups. No event is sent when a start date passes; the rooms
/// are joined when the student next reads the groups. See docs/specification.md#group-visibility.
fn join_rooms(cx: &Context, shown: &[GroupId]) {
    if let (EffectiveRole::Student, Some(tenant)) = (cx.caller().effective_role, &cx.caller().tenant) {
        cx.app()
            .realtime()
            .join_visible_groups(tenant.id(), &cx.caller().user.id, shown);
    }
}

fn known(group: VisibleGroup, context: &RequestContext) -> KnownGroupView {
    if group.has_full_access {
        KnownGroupView::Full(Box::new(details(&group, context)))
    } else {
        KnownGroupView::Outline(GroupOutlineView::new(&group.details.group, group.member_count))
    }
}

fn listed(group: VisibleGroup, context: &RequestContext) -> ListedGroupView {
    if group.has_full_access {
        let audience = Audience::of(&context.viewer);
        let item = GroupListItemView::new(&group.details, &audience, group.unread, context.now);
        ListedGroupView::Full(Box::new(item))
    } else {
        ListedGroupView::Outline(GroupOutlineView::new(&group.details.group, group.member_count))
    }
}

/// A group of which the caller may see everything.
fn details(group: &VisibleGroup, context: &RequestContext) -> GroupView {
    let audience = Audience::of(&context.viewer);
    GroupView::new(&group.details, &audience, group.unread, context.now)
}
