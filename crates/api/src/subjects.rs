//! `/subjects`. See docs/api-contract.md#homerooms-and-subjects.

use api_macros::query;
use axum::Json;
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use domain::access::EffectiveRole;
use domain::id::SubjectId;
use domain::subject::{Subject, SubjectEdit};
use domain::text::Search;
use domain::version::VersionedObject;

use super::context::{App, Context};
use super::cross_tenant_list::by_name;
use super::dry_run::DryRunQuery;
use super::existing;
use super::patch_fields::Editable;
use super::response::{Ack, CreatedObject, Versioned, or_current};
use super::valid::{Patch, Switch, Valid, ValidQuery};
use api_types::subject::SubjectView;
use common::error::{Error, Result};
use db::{ReadTx, WriteTx};
use service::actions::subjects::{self, NewSubject};

#[query]
pub(crate) struct SubjectListQuery {
    /// Substring of the name. Names that begin with it come first.
    search: Option<Search>,
    /// Only active (`1`) or inactive (`0`) subjects.
    is_active: Option<Switch>,
}

impl Editable for SubjectEdit {
    type Resource = SubjectView;
}

/// List the subjects of the organization, by name
#[utoipa::path(get, path = "/subjects", params(SubjectListQuery), responses((status = 200, body = [SubjectView])))]
pub(crate) async fn list(
    cx: Context,
    ValidQuery(filter): ValidQuery<SubjectListQuery>,
) -> Result<Json<Vec<SubjectView>>> {
    let subjects = cx.list(move |tx| {
        let search = filter.search.as_ref().map(Search::as_str);
        let found = tx.subjects(search, filter.is_active.map(|on| on.0))?.into_iter();
        let place = |subject: &Subject| by_name(search, subject.name.as_str(), subject.id.clone());
        Ok(found
            .map(|subject| (place(&subject), SubjectView::from(subject)))
            .collect())
    });
    Ok(Json(subjects.await?))
}

/// Checks that the caller may add subjects. As an extractor before the body, so that a missing permission is reported
/// before an invalid body.
pub(crate) struct MayAdd;

impl FromRequestParts<App> for MayAdd {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let cx = Context::from_request_parts(parts, app).await?;
        if cx.caller().effective_role == EffectiveRole::Teacher {
            cx.read(subjects::may_add).await?;
        }
        Ok(Self)
    }
}

/// Create a subject
///
/// Administrators, and teachers if the organization allows it (`metadata.features.teachersAddSubjects`).
#[utoipa::path(post, path = "/subjects", request_body = NewSubject,
    responses((status = 201, body = SubjectView), (status = 409, description = "DUPLICATE_SUBJECT")))]
pub(crate) async fn create(
    cx: Context,
    _: MayAdd,
    Valid(new): Valid<NewSubject>,
) -> Result<CreatedObject<SubjectView>> {
    let name = new.name.clone();
    let make = move |tx: &mut WriteTx<'_>| {
        let subject = subjects::create(tx, &new)?;
        Ok(CreatedObject(format!("/api/subjects/{}", subject.id), subject.into()))
    };
    let find = move |tx: &mut ReadTx<'_>| existing::subject(tx, Some(&name));
    existing::add_existing_id(&cx, cx.create(make).await, find).await
}

/// Get a subject
#[utoipa::path(get, path = "/subjects/{id}", params(("id" = String, Path)), responses((status = 200, body = SubjectView)))]
pub(crate) async fn show(cx: Context, Path(id): Path<SubjectId>) -> Result<Versioned<SubjectView>> {
    let object = VersionedObject::from(&id);
    let shown = cx.read_object(object, move |tx| tx.subject(&id)).await?;
    Ok(shown.map(SubjectView::from))
}

/// Update a subject
#[utoipa::path(patch, path = "/subjects/{id}", params(("id" = String, Path)), request_body = SubjectEdit,
    responses((status = 200, body = SubjectView), (status = 412, description = "PRECONDITION_FAILED"),
        (status = 409, description = "DUPLICATE_SUBJECT")))]
pub(crate) async fn edit(
    cx: Context,
    Path(id): Path<SubjectId>,
    patch: Patch<SubjectEdit>,
) -> Result<Versioned<SubjectView>> {
    let (object, current) = (VersionedObject::from(&id), show(cx.clone(), Path(id.clone())));
    let name = patch.edit.name.value().cloned();
    let act = move |tx: &mut WriteTx<'_>| subjects::edit(tx, &id, &patch.edit);
    let find = move |tx: &mut ReadTx<'_>| existing::subject(tx, name.as_ref());
    let edited = existing::add_existing_id(&cx, cx.write_object(object, act).await, find).await;
    Ok(or_current(edited, current).await?.map(SubjectView::from))
}

/// Delete a subject that is not in use
#[utoipa::path(delete, path = "/subjects/{id}", params(("id" = String, Path), DryRunQuery),
    responses((status = 200, body = Ack), (status = 412, description = "PRECONDITION_FAILED"), (status = 409, description = "SUBJECT_IN_USE")))]
pub(crate) async fn remove(
    cx: Context,
    Path(id): Path<SubjectId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<Ack>> {
    let (object, current) = (VersionedObject::from(&id), show(cx.clone(), Path(id.clone())));
    let act = move |tx: &mut WriteTx<'_>| subjects::remove(tx, &id);
    or_current(cx.delete_or_preview(query.dry_run, object, act).await, current).await?;
    Ok(Json(Ack::SUCCESS))
}
