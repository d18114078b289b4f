//! `/users` (contract 6.3): the person who asks. What administrators do with other people is not served yet.

use axum::Json;
use model::access::{Access, PlatformRole};
use utoipa_axum::routes;

use super::context::Context;
use super::endpoint::Endpoints;
use super::valid::{Editable, Patch};
use crate::actions::profile::{self, ProfileEdit};
use crate::changes;
use crate::error::Result;
use crate::store::Tenant;
use crate::store::platform::PlatformProof;
use crate::store::platform::organizations::OrganizationName;
use crate::views::user::Me;

/// The routes of users.
pub fn routes() -> Endpoints {
    Endpoints::new("users").add(Access::SignedIn, routes!(me, edit_me))
}

impl Editable for ProfileEdit {
    const FIELDS: &'static [&'static str] = &["name", "image", "locale", "timezone"];
    const READ_ONLY: &'static [&'static str] = &[
        "id",
        "firstName",
        "lastName",
        "email",
        "username",
        "externalId",
        "role",
        "emailVerified",
        "isActive",
        "mustChangePassword",
        "lastLoginAt",
        "createdAt",
        "updatedAt",
        "member",
        "organization",
    ];
}

/// The person who asks, with membership and organization
#[utoipa::path(get, path = "/users/me", responses((status = 200, body = Me)))]
async fn me(cx: Context) -> Result<Json<Me>> {
    let (user, tenant) = (
        cx.caller().user.clone(),
        cx.caller().tenant.as_ref().map(Tenant::id).cloned(),
    );
    let look = cx
        .app()
        .store()
        .platform_read(PlatformProof::session_look_up(), move |platform| {
            let profile = platform.profile(&user.id)?;
            let name = tenant.map(|id| OrganizationName::Id(id.into_string()));
            let seen = name
                .map(|name| platform.organization(&name, &user.id))
                .transpose()?
                .flatten();
            // A Host may name a school that is none of the caller's business.
            let seen = seen.filter(|seen| seen.member.is_some() || user.role == PlatformRole::SuperAdmin);
            let (member, organization) = seen.map(|seen| (seen.member, seen.organization)).unzip();
            Ok(Me::new(profile, member.flatten(), organization))
        });
    Ok(Json(look.await?))
}

/// Change the own profile
#[utoipa::path(patch, path = "/users/me", request_body = ProfileEdit, responses((status = 200, body = Me)))]
async fn edit_me(cx: Context, patch: Patch<ProfileEdit>) -> Result<Json<Me>> {
    if !patch.echoed.is_empty() {
        let shown = me(cx.clone()).await?;
        patch.echoed.must_equal(&shown.0)?;
    }
    let (user, now) = (cx.caller().user.id.clone(), cx.caller().now);
    let (app, proof) = (cx.app(), PlatformProof::session_look_up());
    let act = move |work: &mut crate::store::platform::PlatformWork<'_>| profile::edit(work, &user, &patch.edit, now);
    changes::perform_platform(app.store(), app.bus(), proof, act).await?;
    me(cx).await
}
