//! `/rubrics`: reusable rubrics of teachers; `/assignments/{id}/rubric`: the rubric of a topic. See docs/rubrics.md.

use axum::Json;
use axum::extract::Path;
use domain::access::Viewer;
use domain::from_fields;
use domain::id::{AssignmentId, RubricId, UserId};

use super::context::Context;
use super::dry_run::DryRunQuery;
use super::patch_fields::Editable;
use super::response::{Ack, Created};
use super::valid::{Patch, Valid, ValidQuery};
use api_types::audience::Audience;
use api_types::rubric::{ListedRubricView, RubricOfTopic, RubricView, TopicRubricView};
use common::error::Result;
use db::WriteTx;
use db::rubrics::{ListedRubric, OwnedRubric};
use service::actions::rubrics::{self, NewRubric, RubricEdit, ShownTopicRubric, TopicRubricChoice};

impl Editable for RubricEdit {
    type Resource = RubricView;
}

/// List the rubrics that the caller may use, by title
///
/// The caller's own and shared ones; administrators see all. Without the criteria. A school has at most 1,000.
#[utoipa::path(get, path = "/rubrics", responses((status = 200, body = [ListedRubricView])))]
pub(crate) async fn list(cx: Context) -> Result<Json<Vec<ListedRubricView>>> {
    let viewer = RubricViewer::of(&cx)?;
    let found = cx.read(|tx| tx.rubrics()).await?;
    Ok(Json(found.into_iter().map(|rubric| viewer.listed(rubric)).collect()))
}

/// Create a rubric
#[utoipa::path(post, path = "/rubrics", request_body = NewRubric,
    responses((status = 201, body = RubricView), (status = 409, description = "LIMIT_REACHED")))]
pub(crate) async fn create(cx: Context, Valid(new): Valid<NewRubric>) -> Result<Created<RubricView>> {
    let viewer = RubricViewer::of(&cx)?;
    let create = move |tx: &mut WriteTx<'_>| {
        let view = viewer.view(rubrics::create(tx, &new)?);
        Ok(Created(format!("/api/rubrics/{}", view.id), view))
    };
    cx.create(create).await
}

/// Get a rubric
#[utoipa::path(get, path = "/rubrics/{id}", params(("id" = String, Path)), responses((status = 200, body = RubricView)))]
pub(crate) async fn show(cx: Context, Path(id): Path<RubricId>) -> Result<Json<RubricView>> {
    let viewer = RubricViewer::of(&cx)?;
    let found = cx.read(move |tx| tx.rubric(&id)).await?;
    Ok(Json(viewer.view(found)))
}

/// Change a rubric
///
/// Only its owner and administrators. `criteria` replaces the whole list. Topics keep the criteria that they have.
#[utoipa::path(patch, path = "/rubrics/{id}", params(("id" = String, Path)), request_body = RubricEdit,
    responses((status = 200, body = RubricView), (status = 403, description = "NOT_AUTHOR")))]
pub(crate) async fn edit(cx: Context, Path(id): Path<RubricId>, patch: Patch<RubricEdit>) -> Result<Json<RubricView>> {
    let viewer = RubricViewer::of(&cx)?;
    let edited = cx.write(move |tx| rubrics::edit(tx, &id, &patch.edit)).await?;
    Ok(Json(viewer.view(edited)))
}

/// Delete a rubric
///
/// Only its owner and administrators. Topics keep the criteria that they have.
#[utoipa::path(delete, path = "/rubrics/{id}", params(("id" = String, Path), DryRunQuery),
    responses((status = 200, body = Ack), (status = 403, description = "NOT_AUTHOR")))]
pub(crate) async fn remove(
    cx: Context,
    Path(id): Path<RubricId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<Ack>> {
    cx.write_or_preview(query.dry_run, move |tx| rubrics::remove(tx, &id))
        .await?;
    Ok(Json(Ack::SUCCESS))
}

/// Get the rubric of a topic
///
/// Students receive it if the teacher shows it beforehand, otherwise once a grade with filled criteria is published.
#[utoipa::path(get, path = "/assignments/{id}/rubric", params(("id" = String, Path)),
    responses((status = 200, body = RubricOfTopic)))]
pub(crate) async fn show_of_topic(cx: Context, Path(id): Path<AssignmentId>) -> Result<Json<RubricOfTopic>> {
    let audience = Audience::of(&cx.context()?.viewer);
    let found = cx.read(move |tx| rubrics::of_topic(tx, &id)).await?;
    Ok(Json(of_topic(found, &audience)))
}

/// Set the rubric of a topic, or whether students see it beforehand
///
/// The topic keeps a copy of the criteria. While a grade uses it, it cannot be replaced.
#[utoipa::path(put, path = "/assignments/{id}/rubric", params(("id" = String, Path)), request_body = TopicRubricChoice,
    responses((status = 200, body = RubricOfTopic), (status = 403, description = "NOT_CLASS_TEACHER"),
        (status = 409, description = "RUBRIC_IN_USE, CLASS_ARCHIVED")))]
pub(crate) async fn set_of_topic(
    cx: Context,
    Path(id): Path<AssignmentId>,
    Valid(choice): Valid<TopicRubricChoice>,
) -> Result<Json<RubricOfTopic>> {
    let set = cx.write(move |tx| rubrics::set_of_topic(tx, &id, &choice)).await?;
    Ok(Json(of_topic(set, &Audience::Staff)))
}

/// Remove the rubric of a topic
#[utoipa::path(delete, path = "/assignments/{id}/rubric", params(("id" = String, Path), DryRunQuery),
    responses((status = 200, body = Ack), (status = 403, description = "NOT_CLASS_TEACHER"),
        (status = 409, description = "RUBRIC_IN_USE, CLASS_ARCHIVED")))]
pub(crate) async fn remove_of_topic(
    cx: Context,
    Path(id): Path<AssignmentId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<Ack>> {
    cx.write_or_preview(query.dry_run, move |tx| rubrics::remove_of_topic(tx, &id))
        .await?;
    Ok(Json(Ack::SUCCESS))
}

fn of_topic(found: ShownTopicRubric, audience: &Audience) -> RubricOfTopic {
    let is_used = found.is_used;
    RubricOfTopic {
        rubric: found
            .rubric
            .map(|rubric| TopicRubricView::new(rubric, is_used, audience)),
    }
}

/// The caller, for whom responses say what may be edited.
#[derive(Debug, Clone)]
struct RubricViewer {
    user: UserId,
    is_admin: bool,
}

impl RubricViewer {
    fn of(cx: &Context) -> Result<Self> {
        Ok(Self {
            user: cx.caller().user.id.clone(),
            is_admin: cx.context()?.viewer == Viewer::Admin,
        })
    }

    fn can_edit(&self, owner: &UserId) -> bool {
        self.is_admin || self.user == *owner
    }

    fn view(&self, found: OwnedRubric) -> RubricView {
        let can_edit = self.can_edit(&found.owner.id);
        RubricView::new(found.rubric, found.owner, can_edit)
    }

    fn listed(&self, found: ListedRubric) -> ListedRubricView {
        from_fields!(found => ListedRubricView {
            can_edit: self.can_edit(&found.owner.id),
            id, title, owner, is_shared, max_points, updated_at,
            criterion_count: found.criteria,
        })
    }
}
