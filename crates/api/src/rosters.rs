//! `/admin/rosters`: the roster sources of an organization and their runs. See docs/rosters.md.

use api_macros::query;
use axum::Json;
use axum::extract::Path;
use domain::id::{RosterRunId, RosterSourceId};
use domain::roster_source::{RosterEffect, RosterRunKind};

use super::context::Context;
use super::dry_run::DryRunQuery;
use super::pagination::{Cursor, Limit, Page, RosterEntries, RosterRuns, window};
use super::patch_fields::Editable;
use super::response::{Ack, Created};
use super::valid::{Patch, Valid, ValidQuery};
use api_types::roster::{RosterRunEntryView, RosterRunView, RosterSourceView, RosterTestView};
use common::error::{Error, Result};
use db::WriteTx;
use service::actions::rosters::{self, NewRosterRun, NewRosterSource, RosterConfirmation, RosterSourceEdit};

#[query]
pub(crate) struct RunListQuery {
    /// Maximum number of runs. A value above 200 counts as 200.
    limit: Option<Limit>,
    /// The `nextCursor` of the previous page.
    cursor: Option<Cursor<i64, RosterRuns>>,
}

#[query]
pub(crate) struct EntryListQuery {
    /// What the run does with the people and classes; by default those who leave.
    effect: Option<RosterEffect>,
    /// Maximum number of entries. A value above 200 counts as 200.
    limit: Option<Limit>,
    /// The `nextCursor` of the previous page.
    cursor: Option<Cursor<i64, RosterEntries>>,
}

impl Editable for RosterSourceEdit {
    type Resource = RosterSourceView;
}

/// List the roster sources of the organization, by name
#[utoipa::path(get, path = "/admin/rosters", responses((status = 200, body = [RosterSourceView]),
    (status = 400, description = "VALIDATION_ERROR")))]
pub(crate) async fn list(cx: Context) -> Result<Json<Vec<RosterSourceView>>> {
    let sources = cx.read(|tx| tx.roster_sources()).await?;
    Ok(Json(sources.into_iter().map(RosterSourceView::from).collect()))
}

/// Add a roster source
#[utoipa::path(post, path = "/admin/rosters", request_body = NewRosterSource,
    responses((status = 201, body = RosterSourceView), (status = 409, description = "LIMIT_REACHED")))]
pub(crate) async fn add(cx: Context, Valid(new): Valid<NewRosterSource>) -> Result<Created<RosterSourceView>> {
    let rosters = cx.app().rosters().clone();
    let add = move |tx: &mut WriteTx<'_>| {
        let source = rosters::add(tx, &new, &rosters)?;
        let path = format!("/api/admin/rosters/{}", source.id);
        Ok(Created(path, RosterSourceView::from(source)))
    };
    cx.create(add).await
}

/// Update a roster source
///
/// A new address needs the client secret again.
#[utoipa::path(patch, path = "/admin/rosters/{id}", params(("id" = String, Path, description = "The id of a roster source")),
    request_body = RosterSourceEdit, responses((status = 200, body = RosterSourceView)))]
pub(crate) async fn edit(
    cx: Context,
    Path(id): Path<RosterSourceId>,
    patch: Patch<RosterSourceEdit>,
) -> Result<Json<RosterSourceView>> {
    let rosters = cx.app().rosters().clone();
    let edit = move |tx: &mut WriteTx<'_>| rosters::edit(tx, &id, &patch.edit, &rosters);
    Ok(Json(cx.write(edit).await?.into()))
}

/// Remove a roster source with its runs
///
/// The people and classes that it brought remain.
#[utoipa::path(delete, path = "/admin/rosters/{id}",
    params(("id" = String, Path, description = "The id of a roster source"), DryRunQuery),
    responses((status = 200, body = Ack)))]
pub(crate) async fn remove(
    cx: Context,
    Path(id): Path<RosterSourceId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<Ack>> {
    cx.write_or_preview(query.dry_run, move |tx| rosters::remove(tx, &id))
        .await?;
    Ok(Json(Ack::SUCCESS))
}

/// Test the connection to a roster server
///
/// Reads the whole roster and changes nothing.
#[utoipa::path(post, path = "/admin/rosters/{id}/test", params(("id" = String, Path, description = "The id of a roster source")),
    responses((status = 200, body = RosterTestView), (status = 409, description = "ROSTER_FAILED")))]
pub(crate) async fn test(cx: Context, Path(id): Path<RosterSourceId>) -> Result<Json<RosterTestView>> {
    let source = cx.read(move |tx| tx.roster_source(&id)).await?;
    // No transaction is open during the requests.
    let fetched = cx.app().rosters().test(&source, cx.app().files()).await;
    let roster = fetched.map_err(Error::from)?;
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    Ok(Json(RosterTestView {
        people: number(roster.people),
        classes: number(roster.classes),
        enrollments: number(roster.enrollments),
        omitted: number(roster.skipped_count),
    }))
}

/// List the runs of a roster source, newest first
///
/// The newest 100 are kept.
#[utoipa::path(get, path = "/admin/rosters/{id}/runs",
    params(("id" = String, Path, description = "The id of a roster source"), RunListQuery),
    responses((status = 200, body = Page<RosterRunView>)))]
pub(crate) async fn runs(
    cx: Context,
    Path(id): Path<RosterSourceId>,
    ValidQuery(query): ValidQuery<RunListQuery>,
) -> Result<Json<Page<RosterRunView>>> {
    let window = window(query.limit, query.cursor);
    let slice = cx
        .read(move |tx| {
            tx.roster_source(&id)?;
            tx.roster_runs(&id, &window)
        })
        .await?;
    Ok(Json(Page::of(RosterRuns, slice, RosterRunView::from)))
}

/// Read a roster now
///
/// Queues a run. A run that waits for a confirmation is replaced, unless this is a dry run.
#[utoipa::path(post, path = "/admin/rosters/{id}/runs", params(("id" = String, Path, description = "The id of a roster source")),
    request_body = NewRosterRun,
    responses((status = 201, body = RosterRunView), (status = 409, description = "ROSTER_RUN_OPEN")))]
pub(crate) async fn start(
    cx: Context,
    Path(id): Path<RosterSourceId>,
    Valid(new): Valid<NewRosterRun>,
) -> Result<Created<RosterRunView>> {
    let kind = if new.is_dry_run == Some(true) {
        RosterRunKind::DryRun
    } else {
        RosterRunKind::OnDemand
    };
    let start = move |tx: &mut WriteTx<'_>| {
        let run = rosters::start(tx, &id, kind)?;
        let path = format!("/api/admin/rosters/{id}/runs/{}", run.id);
        Ok(Created(path, RosterRunView::from(run)))
    };
    let created = cx.create(start).await;
    cx.app().jobs().notify();
    created
}

/// Show a run of a roster source
#[utoipa::path(get, path = "/admin/rosters/{id}/runs/{runId}",
    params(("id" = String, Path, description = "The id of a roster source"),
        ("runId" = String, Path, description = "The id of a run")),
    responses((status = 200, body = RosterRunView)))]
pub(crate) async fn show(
    cx: Context,
    Path((id, run)): Path<(RosterSourceId, RosterRunId)>,
) -> Result<Json<RosterRunView>> {
    let found = cx.read(move |tx| tx.roster_run(&id, &run)).await?;
    Ok(Json(found.into()))
}

/// List who joins, changes or leaves in a run
///
/// At most 1,000 for each effect; only the latest run of a source and a run that waits have entries.
#[utoipa::path(get, path = "/admin/rosters/{id}/runs/{runId}/entries",
    params(("id" = String, Path, description = "The id of a roster source"),
        ("runId" = String, Path, description = "The id of a run"), EntryListQuery),
    responses((status = 200, body = Page<RosterRunEntryView>)))]
pub(crate) async fn entries(
    cx: Context,
    Path((id, run)): Path<(RosterSourceId, RosterRunId)>,
    ValidQuery(query): ValidQuery<EntryListQuery>,
) -> Result<Json<Page<RosterRunEntryView>>> {
    let effect = query.effect.unwrap_or(RosterEffect::Leaves);
    let window = window(query.limit, query.cursor);
    let slice = cx
        .read(move |tx| {
            tx.roster_run(&id, &run)?;
            tx.roster_entries(&run, effect, &window)
        })
        .await?;
    Ok(Json(Page::of(RosterEntries, slice, RosterRunEntryView::from)))
}

/// Confirm a run that waits because many would leave
///
/// The confirmation is valid for the difference that it names; if the roster has changed, the run asks again.
#[utoipa::path(post, path = "/admin/rosters/{id}/runs/{runId}/confirm",
    params(("id" = String, Path, description = "The id of a roster source"),
        ("runId" = String, Path, description = "The id of a run")),
    request_body = RosterConfirmation,
    responses((status = 200, body = RosterRunView), (status = 409, description = "ROSTER_RUN_CHANGED, ROSTER_RUN_OPEN")))]
pub(crate) async fn confirm(
    cx: Context,
    Path((id, run)): Path<(RosterSourceId, RosterRunId)>,
    Valid(confirmation): Valid<RosterConfirmation>,
) -> Result<Json<RosterRunView>> {
    let confirmed = cx
        .write(move |tx| rosters::confirm(tx, &id, &run, &confirmation))
        .await?;
    cx.app().jobs().notify();
    Ok(Json(confirmed.into()))
}

/// Discard a run that waits because many would leave
#[utoipa::path(post, path = "/admin/rosters/{id}/runs/{runId}/discard",
    params(("id" = String, Path, description = "The id of a roster source"),
        ("runId" = String, Path, description = "The id of a run")),
    responses((status = 200, body = RosterRunView), (status = 409, description = "ROSTER_RUN_CHANGED")))]
pub(crate) async fn discard(
    cx: Context,
    Path((id, run)): Path<(RosterSourceId, RosterRunId)>,
) -> Result<Json<RosterRunView>> {
    let discarded = cx.write(move |tx| rosters::discard(tx, &id, &run)).await?;
    Ok(Json(discarded.into()))
}
