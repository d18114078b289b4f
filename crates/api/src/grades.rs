//! Grading (contract 6.12; 6.10 for the grade of a document): a grade is kept with the submission, so it can be given
//! after the topic is finished.

use axum::Json;
use axum::extract::Path;
use model::access::Access;
use model::grade::{DocumentGradeEdit, GradeEdit};
use model::id::{AssignmentId, DocumentId, SubmissionId};
use model::version::Object;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::attempts;
use super::context::Context;
use super::documents::{self, shown};
use super::endpoint::Endpoints;
use super::reply::{Versioned, or_current};
use super::valid::{Valid, ValidOrEmpty};
use api_types::audience::Audience;
use api_types::document::DocumentView;
use api_types::submission::{GradeStateView, SubmissionView};
use common::error::Result;
use db::Work;
use service::actions::grades::{self, GradesToPublish};

/// The routes of grading.
pub fn routes() -> Endpoints {
    Endpoints::new("feedback")
        .add(Access::Staff, routes!(grade))
        .add(Access::Staff, routes!(grade_document))
        .add(Access::Staff, routes!(list_states))
        .add(Access::Staff, routes!(publish))
}

/// How many grades are out now.
#[derive(Debug, Serialize, ToSchema)]
struct PublishedGrades {
    /// Grades that were drafts before
    published: i64,
}

/// Grade a submission, publish its grade, or withdraw it
///
/// What is absent stays. `memberGrades` replaces all grades of single members; they are those who were in the group when
/// it handed in.
#[utoipa::path(put, path = "/feedback/submissions/{id}/grade", params(("id" = String, Path)), request_body = GradeEdit,
    responses((status = 200, body = SubmissionView), (status = 412, description = "PRECONDITION_FAILED"),
        (status = 409, description = "NOT_SUBMITTED, CLASS_ARCHIVED")))]
async fn grade(
    cx: Context,
    Path(id): Path<SubmissionId>,
    Valid(edit): Valid<GradeEdit>,
) -> Result<Versioned<SubmissionView>> {
    let (object, current) = (Object::from(&id), attempts::show(cx.clone(), Path(id.clone())));
    let act = move |work: &mut Work<'_>| grades::grade_submission(work, &id, &edit);
    let graded = or_current(cx.write_object(object, act).await, current).await?;
    Ok(graded.map(|graded| SubmissionView::new(&graded, &Audience::Staff)))
}

/// Grade the submission in which a document is handed in, until the topic is finished
#[utoipa::path(put, path = "/workrooms/documents/{id}/grade", params(("id" = String, Path)),
    request_body = DocumentGradeEdit,
    responses((status = 200, body = DocumentView), (status = 423, description = "DOCUMENT_LOCKED"),
        (status = 412, description = "PRECONDITION_FAILED"), (status = 409, description = "NOT_SUBMITTED, CLASS_ARCHIVED")))]
async fn grade_document(
    cx: Context,
    Path(id): Path<DocumentId>,
    Valid(edit): Valid<DocumentGradeEdit>,
) -> Result<Versioned<DocumentView>> {
    let edit: GradeEdit = edit.into();
    let (object, current) = (Object::from(&id), documents::show(cx.clone(), Path(id.clone())));
    let act = move |work: &mut Work<'_>| grades::grade_document(work, &id, &edit);
    let Versioned(seen, version) = or_current(cx.write_object(object, act).await, current).await?;
    Ok(Versioned(shown(&cx, &seen)?, version))
}

/// The states that the grade of a submission has had, newest first, the present one included; at most the newest 200
#[utoipa::path(get, path = "/feedback/submissions/{id}/grades", params(("id" = String, Path)),
    responses((status = 200, body = [GradeStateView])))]
async fn list_states(cx: Context, Path(id): Path<SubmissionId>) -> Result<Json<Vec<GradeStateView>>> {
    let states = cx.read(move |scope| scope.states_of_grade(&id)).await?;
    Ok(Json(states.into_iter().map(GradeStateView::from).collect()))
}

/// Publish the grades of a topic that are still drafts, of all its groups or of some
#[utoipa::path(post, path = "/feedback/assignments/{id}/publish-grades", params(("id" = String, Path)),
    request_body = Option<GradesToPublish>,
    responses((status = 200, body = PublishedGrades),
        (status = 409, description = "GROUP_NOT_ON_ASSIGNMENT, CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
async fn publish(
    cx: Context,
    Path(id): Path<AssignmentId>,
    ValidOrEmpty(asked): ValidOrEmpty<GradesToPublish>,
) -> Result<Json<PublishedGrades>> {
    let published = cx.write(move |work| grades::publish(work, &id, &asked)).await?;
    Ok(Json(PublishedGrades { published }))
}
