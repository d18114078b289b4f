//! `/admin/gdpr` and `/users/me/export`: export and erasure of personal data. See docs/api-contract.md#personal-data.

use api_macros::view;
use axum::Json;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::erasure::ErasureCounts;
use domain::id::{JobId, UserId};
use domain::job::{JobKind, JobStatus};
use domain::text::FileName;
use garde::Validate;
use serde::Deserialize;

use super::context::Context;
use super::downloads::{self, Content, Download, archive};
use super::dry_run::DryRunQuery;
use super::valid::{Valid, ValidOrEmpty, ValidQuery};
use api_types::privacy::{PersonalExportView, path};
use common::clock;
use common::error::{Error, Result};
use db::platform::CrossTenantReason;
use db::platform::erasure::LogScan;
use service::actions::acceptance;
use service::actions::privacy::{self, EraseRequest, ExportRequest};
use service::actions::sessions;
use service::jobs::retention;

/// The body of an action without arguments.
#[derive(Deserialize, Validate)]
#[serde(deny_unknown_fields)]
pub(crate) struct EmptyBody {}

/// The result of an erasure or of its preview.
#[view]
pub(crate) struct Erasure {
    user_id: domain::id::UserId,
    dry_run: bool,
    erased: ErasureCounts,
}

/// Export the caller's personal data
///
/// A ZIP archive with everything that the service holds about the caller: lists as JSON, and files. Files that cannot be
/// read are listed in `errors.txt`, its last entry.
#[utoipa::path(post, path = "/users/me/export",
    responses((status = 200, description = "A ZIP archive", content_type = "application/zip", body = Vec<u8>),
        (status = 403, description = "PASSWORD_NOT_CONFIRMED, SIGNED_ON_ELSEWHERE"),
        (status = 400, description = "VALIDATION_ERROR, INVALID_JSON")))]
pub(crate) async fn export_own(cx: Context, ValidOrEmpty(EmptyBody {}): ValidOrEmpty<EmptyBody>) -> Result<Response> {
    let (user, session) = (cx.caller().user.id.clone(), cx.caller().session.clone());
    let load = cx
        .app()
        .store()
        .platform_read(CrossTenantReason::PersonalData, move |platform| {
            sessions::may_use_account(platform, &session)?;
            acceptance::is_confined(platform, &user)
        });
    if load.await? {
        return Err(Error::PasswordNotConfirmed);
    }
    let pieces = cx.app().jobs().export_own_data(&cx.caller().user.id).await?;
    Ok(archive(&FileName::stored("personal-data.zip"), pieces))
}

/// Start an export of what the organization holds about a person
#[utoipa::path(post, path = "/admin/gdpr/export", request_body = ExportRequest,
    responses((status = 202, description = "The export was started; Location is the URL of its status", body = PersonalExportView),
        (status = 403, description = "FORBIDDEN_RANK"), (status = 507, description = "DISK_FULL")))]
pub(crate) async fn export(cx: Context, Valid(request): Valid<ExportRequest>) -> Result<Response> {
    // The archive stays on the disk for days.
    cx.app().uploads().check_disk_space().await?;
    let job = cx.write(move |tx| privacy::export(tx, &request)).await?;
    cx.app().jobs().notify();
    let mut headers = HeaderMap::new();
    if let Ok(location) = HeaderValue::from_str(&path(&job.id)) {
        headers.insert(header::LOCATION, location);
    }
    Ok((StatusCode::ACCEPTED, headers, Json(PersonalExportView::from(job))).into_response())
}

/// Get the status of an export
#[utoipa::path(get, path = "/admin/gdpr/jobs/{id}", params(("id" = String, Path)),
    responses((status = 200, body = PersonalExportView)))]
pub(crate) async fn show(cx: Context, Path(id): Path<JobId>) -> Result<Json<PersonalExportView>> {
    let job = cx.read(move |tx| tx.job(JobKind::PersonalExport, &id)).await?;
    Ok(Json(job.into()))
}

/// Download the archive of an export
///
/// Available for 14 days.
#[utoipa::path(get, path = "/admin/gdpr/jobs/{id}/download", params(("id" = String, Path)),
    responses((status = 200, description = "The ZIP archive", content_type = "application/zip", body = Vec<u8>),
        (status = 206, description = "The requested range"), (status = 304, description = "Not modified"),
        (status = 416, description = "The file has no such range, RANGE_NOT_SATISFIABLE")))]
pub(crate) async fn download(cx: Context, Path(id): Path<JobId>, request: HeaderMap) -> Result<Response> {
    let job = cx.read(move |tx| tx.job(JobKind::PersonalExport, &id)).await?;
    let made = job.result.filter(|_| job.status == JobStatus::Done);
    let (Some(made), Some(key)) = (made, job.file_key) else {
        return Err(Error::NotFound);
    };
    let file = Download {
        name: FileName::stored(format!("personal-data-{}.zip", job.id)),
        mime: "application/zip".to_owned(),
        sha256: made["sha256"].as_str().unwrap_or_default().to_owned(),
        content: Content::File(key, made["size"].as_i64().unwrap_or_default()),
    };
    downloads::download(cx.app().files(), &request, file).await
}

/// Erase the personal data of a person, or preview that
///
/// The name is removed; the work of the group is kept.
#[utoipa::path(post, path = "/admin/gdpr/erase", params(DryRunQuery), request_body = EraseRequest,
    responses((status = 200, body = Erasure), (status = 403, description = "FORBIDDEN_RANK, SHARED_ACCOUNT"),
        (status = 409, description = "LAST_OWNER")))]
pub(crate) async fn erase(
    cx: Context,
    ValidQuery(query): ValidQuery<DryRunQuery>,
    Valid(mut request): Valid<EraseRequest>,
) -> Result<Json<Erasure>> {
    request.dry_run = query.dry_run.or(request.dry_run).is_on();
    let (user_id, dry_run) = (request.user_id.clone(), request.dry_run);
    let user = user_id.clone();
    let address = cx.write(move |tx| privacy::may_erase(tx, &user)).await?;
    let traces = traces(&cx, &user_id).await?;
    let erased = cx.write(move |tx| privacy::erase(tx, &request, &traces)).await?;
    if !dry_run {
        retention::delete_emails(cx.app().store(), cx.app().mail(), &address).await?;
    }
    Ok(Json(Erasure {
        user_id,
        dry_run,
        erased,
    }))
}

/// Searches the activity log for traces of a person, in batches that are queued for the caller's organization.
async fn traces(cx: &Context, user: &UserId) -> Result<LogScan> {
    let mut traces = LogScan::begin(clock::now());
    loop {
        let line = cx.caller().tenant.as_ref().map(|tenant| tenant.id().clone());
        let user = user.clone();
        let load = cx
            .app()
            .store()
            .platform_read_for(line, CrossTenantReason::PersonalData, move |platform| {
                let goes_on = platform.scan_log(&user, &mut traces)?;
                Ok((goes_on, traces))
            });
        let (goes_on, found) = load.await?;
        traces = found;
        if !goes_on {
            return Ok(traces);
        }
    }
}
