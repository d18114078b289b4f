//! `/admin`: the organization for its administrators: statistics, storage, settings, sessions. See
//! docs/api-contract.md#the-organization.

use api_macros::query;
use axum::Json;
use axum::extract::Path;
use domain::access::RoleLevel;
use domain::id::{SessionId, UserId};
use domain::organization::SettingsEdit;
use domain::storage::StorageUsage;
use domain::version::VersionedObject;

use super::context::Context;
use super::dry_run::DryRunQuery;
use super::pagination::{Cursor, Limit, Page, Sessions, window};
use super::patch_fields::Editable;
use super::response::{Ack, Versioned, or_current};
use super::valid::{Patch, ValidQuery};
use api_types::school::{MembersByRole, SchoolStats, SessionPerson, SessionView, StorageView};
use api_types::user::OrganizationView;
use common::error::Result;
use db::WriteTx;
use db::organization_stats::OrganizationStats;
use service::actions::school;
use service::jobs::storage_usage;

impl Editable for SettingsEdit {
    type Resource = OrganizationView;
}

#[query]
pub(crate) struct SessionListQuery {
    /// Only sessions of this user.
    user_id: Option<UserId>,
    /// Maximum number of sessions. A value above 200 counts as 200.
    limit: Option<Limit>,
    /// The `nextCursor` of the previous page.
    cursor: Option<Cursor<i64, Sessions>>,
}

/// Get statistics of the organization
#[utoipa::path(get, path = "/admin/stats", responses((status = 200, body = SchoolStats),
        (status = 400, description = "VALIDATION_ERROR")))]
pub(crate) async fn stats(cx: Context) -> Result<Json<SchoolStats>> {
    let storage_bytes = usage(&cx).await?.total_bytes;
    let OrganizationStats {
        members: [owner, admin, teacher, student],
        classes,
        courses,
        groups,
        assignments,
        open_help,
        active_sessions,
    } = cx.read(|tx| tx.organization_stats()).await?;
    Ok(Json(SchoolStats {
        users: MembersByRole {
            owner,
            admin,
            teacher,
            student,
        },
        classes,
        courses,
        groups,
        assignments,
        storage_bytes,
        open_help,
        active_sessions,
    }))
}

/// Get the storage used by the organization
///
/// The bytes by kind and the classes that use the most, as of the last count.
#[utoipa::path(get, path = "/admin/storage", responses((status = 200, body = StorageView),
        (status = 400, description = "VALIDATION_ERROR")))]
pub(crate) async fn show_storage(cx: Context) -> Result<Json<StorageView>> {
    let usage = usage(&cx).await?;
    let room = cx.read(|tx| tx.storage_allowance()).await?;
    Ok(Json(StorageView {
        usage,
        used_bytes: room.used,
        quota_bytes: room.quota,
        group_quota_bytes: room.group_quota,
    }))
}

/// The result of the last count. An organization that was never counted is counted now.
async fn usage(cx: &Context) -> Result<StorageUsage> {
    if let Some(usage) = cx.read(|tx| tx.storage_usage()).await? {
        return Ok(usage);
    }
    let (app, tenant) = (cx.app(), cx.context()?.tenant);
    storage_usage::count(app.store(), app.files(), tenant).await
}

/// Get name, logo and settings of the organization
#[utoipa::path(get, path = "/admin/settings", responses((status = 200, body = OrganizationView),
        (status = 400, description = "VALIDATION_ERROR")))]
pub(crate) async fn settings(cx: Context) -> Result<Versioned<OrganizationView>> {
    let school = cx
        .read_object(VersionedObject::Organization, |tx| tx.current_organization())
        .await?;
    Ok(school.map(OrganizationView::from))
}

/// Update name, logo and settings of the organization
///
/// `metadata` is updated key by key.
#[utoipa::path(patch, path = "/admin/settings", request_body = SettingsEdit,
    responses((status = 200, body = OrganizationView), (status = 412, description = "PRECONDITION_FAILED")))]
pub(crate) async fn edit_settings(cx: Context, patch: Patch<SettingsEdit>) -> Result<Versioned<OrganizationView>> {
    let (object, current) = (VersionedObject::Organization, settings(cx.clone()));
    let act = move |tx: &mut WriteTx<'_>| school::edit_settings(tx, &patch.edit);
    let school = or_current(cx.write_object(object, act).await, current).await?;
    Ok(school.map(OrganizationView::from))
}

/// List the sessions of members that have this organization active, newest first
#[utoipa::path(get, path = "/admin/sessions", params(SessionListQuery), responses((status = 200, body = Page<SessionView>)))]
pub(crate) async fn sessions(
    cx: Context,
    ValidQuery(query): ValidQuery<SessionListQuery>,
) -> Result<Json<Page<SessionView>>> {
    let (user, window) = (query.user_id, window(query.limit, query.cursor));
    let slice = cx
        .read(move |tx| tx.organization_sessions(user.as_ref(), &window))
        .await?;
    let (caller, organization) = (cx.caller(), cx.caller().organization()?);
    let role_level = RoleLevel::of(caller.user.role, caller.member_role);
    Ok(Json(Page::of(Sessions, slice, |session| {
        // Address and browser of users of the same or a higher rank are hidden: an administrator could follow the
        // owner.
        let is_shown = caller.is(&session.person.id)
            || role_level.is_some_and(|role_level| {
                role_level
                    .may_act_on(session.platform_role, session.member_role)
                    .is_ok()
            });
        SessionView {
            user_id: session.person.id.clone(),
            expires_at: session.expires_at,
            created_at: session.created_at,
            updated_at: session.updated_at,
            ip_address: session.ip_address.filter(|_| is_shown),
            user_agent: session.user_agent.filter(|_| is_shown),
            active_organization_id: organization.clone(),
            is_current: session.id == caller.session.id,
            role: session.member_role,
            user: SessionPerson::new(session.person, session.email),
            id: session.id,
        }
    })))
}

/// End a session of a user of lower rank, or one of the caller's own
///
/// Its sockets are disconnected.
#[utoipa::path(delete, path = "/admin/sessions/{id}", params(("id" = String, Path), DryRunQuery),
    responses((status = 200, body = Ack), (status = 403, description = "FORBIDDEN_RANK"),
        (status = 400, description = "VALIDATION_ERROR")))]
pub(crate) async fn revoke_session(
    cx: Context,
    Path(id): Path<SessionId>,
    ValidQuery(query): ValidQuery<DryRunQuery>,
) -> Result<Json<Ack>> {
    cx.write_or_preview(query.dry_run, move |tx| school::revoke_session(tx, &id))
        .await?;
    Ok(Json(Ack::SUCCESS))
}
