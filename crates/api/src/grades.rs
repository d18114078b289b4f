//! Grading. A grade is stored with the submission, so it can be given after the topic is finished. See
//! docs/api-contract.md#submissions-grades-and-feedback.

use api_macros::view;
use axum::Json;
use axum::extract::Path;
use domain::grade::{DocumentGradeEdit, GradeEdit};
use domain::id::{AssignmentId, DocumentId, SubmissionId};
use domain::version::VersionedObject;

use super::context::Context;
use super::documents::{self, shown};
use super::response::{Versioned, or_current};
use super::submission_history;
use super::valid::{Valid, ValidOrEmpty};
use api_types::audience::Audience;
use api_types::document::DocumentView;
use api_types::submission::{GradeStateView, SubmissionView};
use common::error::Result;
use db::WriteTx;
use service::actions::grades::{self, GradesToPublish};

/// The result of publishing grades.
#[view]
pub(crate) struct PublishedGrades {
    /// Number of grades that were drafts and are published now.
    published: i64,
    /// Number of drafts that were left out, because their rubric is filled in only in part.
    incomplete: i64,
}

/// Grade a submission, publish its grade, or withdraw it
///
/// Absent fields are not changed. `memberGrades` replaces all individual grades; it accepts the members of the group at
/// the time of the submission.
#[utoipa::path(put, path = "/feedback/submissions/{id}/grade", params(("id" = String, Path)), request_body = GradeEdit,
    responses((status = 200, body = SubmissionView), (status = 412, description = "PRECONDITION_FAILED"),
        (status = 409, description = "NOT_SUBMITTED, RUBRIC_INCOMPLETE, CLASS_ARCHIVED")))]
pub(crate) async fn grade(
    cx: Context,
    Path(id): Path<SubmissionId>,
    Valid(edit): Valid<GradeEdit>,
) -> Result<Versioned<SubmissionView>> {
    let (object, current) = (
        VersionedObject::from(&id),
        submission_history::show(cx.clone(), Path(id.clone())),
    );
    let act = move |tx: &mut WriteTx<'_>| grades::grade_submission(tx, &id, &edit);
    let graded = or_current(cx.write_object(object, act).await, current).await?;
    Ok(graded.map(|graded| SubmissionView::new(&graded, &Audience::Staff)))
}

/// Grade the submission that contains a document
///
/// Not possible while the document is locked.
#[utoipa::path(put, path = "/workrooms/documents/{id}/grade", params(("id" = String, Path)),
    request_body = DocumentGradeEdit,
    responses((status = 200, body = DocumentView), (status = 423, description = "DOCUMENT_LOCKED"),
        (status = 412, description = "PRECONDITION_FAILED"), (status = 409, description = "NOT_SUBMITTED, RUBRIC_INCOMPLETE, CLASS_ARCHIVED")))]
pub(crate) async fn grade_document(
    cx: Context,
    Path(id): Path<DocumentId>,
    Valid(edit): Valid<DocumentGradeEdit>,
) -> Result<Versioned<DocumentView>> {
    let edit: GradeEdit = edit.into();
    let (object, current) = (
        VersionedObject::from(&id),
        documents::show(cx.clone(), Path(id.clone())),
    );
    let act = move |tx: &mut WriteTx<'_>| grades::grade_document(tx, &id, &edit);
    let Versioned(seen, version) = or_current(cx.write_object(object, act).await, current).await?;
    Ok(Versioned(shown(&cx, &seen)?, version))
}

/// List the states of a grade, newest first
///
/// The current state is included; at most the newest 200 are returned.
#[utoipa::path(get, path = "/feedback/submissions/{id}/grades", params(("id" = String, Path)),
    responses((status = 200, body = [GradeStateView])))]
pub(crate) async fn list_states(cx: Context, Path(id): Path<SubmissionId>) -> Result<Json<Vec<GradeStateView>>> {
    let states = cx.read(move |tx| tx.states_of_grade(&id)).await?;
    Ok(Json(states.into_iter().map(GradeStateView::from).collect()))
}

/// Publish the draft grades of a topic, of all its groups or of some
#[utoipa::path(post, path = "/feedback/assignments/{id}/publish-grades", params(("id" = String, Path)),
    request_body = Option<GradesToPublish>,
    responses((status = 200, body = PublishedGrades),
        (status = 409, description = "GROUP_NOT_ON_ASSIGNMENT, CLASS_ARCHIVED"),
        (status = 403, description = "NOT_CLASS_TEACHER")))]
pub(crate) async fn publish(
    cx: Context,
    Path(id): Path<AssignmentId>,
    ValidOrEmpty(request): ValidOrEmpty<GradesToPublish>,
) -> Result<Json<PublishedGrades>> {
    let counts = cx.write(move |tx| grades::publish(tx, &id, &request)).await?;
    Ok(Json(PublishedGrades {
        published: counts.published,
        incomplete: counts.incomplete,
    }))
}
