//! `/auth/admin`: account administration by SUPER_ADMINs, compatible with the library's admin plugin. The library
//! validates a body before it authenticates, so the routes are declared open, and each calls `administrator` before it
//! reads or writes. See docs/api-contract.md#authentication.

mod accounts;
mod bans;
mod impersonation;
mod listing;
mod passwords;
mod permissions;
mod schema;
mod sessions;

use better_auth::error::AuthError;
use better_auth::object::UserObject;
use model::access::{Access, PlatformRole};
use model::id::UserId;
use model::time::Timestamp;
use utoipa_axum::routes;

use super::super::endpoint::Endpoints;
use super::answer::Refused;
use super::asked::{Asked, Present};
use super::wire;
use auth::actor;
use db::platform::CrossTenantReason;
use db::platform::administration::AdministeredAccount;
use service::actions::administration::Administrator;

pub fn routes() -> Endpoints {
    Endpoints::new("auth")
        .add(Access::Anyone, routes!(listing::list))
        .add(Access::Anyone, routes!(accounts::show))
        .add(Access::Anyone, routes!(accounts::create))
        .add(Access::Anyone, routes!(accounts::update))
        .add(Access::Anyone, routes!(accounts::set_role))
        .add(Access::Anyone, routes!(accounts::remove))
        .add(Access::Anyone, routes!(bans::ban))
        .add(Access::Anyone, routes!(bans::unban))
        .add(Access::Anyone, routes!(impersonation::begin))
        .add(Access::Anyone, routes!(impersonation::stop))
        .add(Access::Anyone, routes!(sessions::list))
        .add(Access::Anyone, routes!(sessions::revoke))
        .add(Access::Anyone, routes!(sessions::revoke_all))
        .add(Access::Anyone, routes!(passwords::set))
        .add(Access::Anyone, routes!(permissions::has))
}

/// Requires a SUPER_ADMIN. Other callers receive the error that the library defines for the route.
async fn administrator(asked: &Asked, refusal: AuthError) -> Result<(Present, Administrator), Refused> {
    let present = asked.present().await?;
    if present.user.role != PlatformRole::SuperAdmin {
        return Err(Refused::from(refusal).with(present.cookies));
    }
    let admin = Administrator {
        id: present.user.id.clone(),
        actor: actor(&present.user, &present.session, None, asked.request_id.clone()),
        now: asked.now,
    };
    Ok((present, admin))
}

/// Reads an account, or fails with the library's 404.
async fn account(asked: &Asked, user: &UserId) -> Result<AdministeredAccount, Refused> {
    let user = user.clone();
    let load = asked
        .app
        .store()
        .platform_read(CrossTenantReason::SessionLookup, move |platform| {
            platform.account(&user)
        });
    load.await.map_err(|error| Refused::from(error).about_users())
}

/// An account as the library's user object, with the ban that applies now.
fn shown(account: &AdministeredAccount, now: Timestamp) -> UserObject {
    let ban = account.ban_at(now);
    UserObject {
        banned: ban.is_some(),
        ban_reason: ban.and_then(|ban| ban.reason.clone()),
        ban_expires: ban.and_then(|ban| ban.until).map(wire::time),
        ..wire::user(&account.user)
    }
}

/// Parses a list that must name exactly one platform role.
fn role(texts: &[&str]) -> Result<PlatformRole, AuthError> {
    let [text] = texts else {
        return Err(AuthError::non_existent_role());
    };
    PlatformRole::parse(text).ok_or_else(AuthError::non_existent_role)
}
