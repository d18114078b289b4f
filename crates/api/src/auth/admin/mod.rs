//! `/auth/admin`: what those who run the platform do with accounts, as the library's admin plugin has it (contract 6.1).
//! The library judges a body before it asks who sends it, so the routes are open at the gate and each asks with
//! [`administrator`] before it does anything.

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
use db::platform::PlatformProof;
use db::platform::administration::Account;
use service::actions::administration::Administrator;

/// The routes of administration.
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

/// Somebody who runs the platform; everybody else gets the library's refusal of this route.
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

/// An account, or the library's 404.
async fn account(asked: &Asked, user: &UserId) -> Result<Account, Refused> {
    let user = user.clone();
    let look = asked
        .app
        .store()
        .platform_read(PlatformProof::session_look_up(), move |platform| {
            platform.account(&user)
        });
    look.await.map_err(|error| Refused::from(error).about_users())
}

/// An account as the library's user object, with what keeps the person out at this moment.
fn shown(account: &Account, now: Timestamp) -> UserObject {
    let ban = account.ban_at(now);
    UserObject {
        banned: ban.is_some(),
        ban_reason: ban.and_then(|ban| ban.reason.clone()),
        ban_expires: ban.and_then(|ban| ban.until).map(wire::time),
        ..wire::user(&account.user)
    }
}

/// The one platform role that texts name.
fn role(texts: &[&str]) -> Result<PlatformRole, AuthError> {
    let [text] = texts else {
        return Err(AuthError::non_existent_role());
    };
    PlatformRole::parse(text).ok_or_else(AuthError::non_existent_role)
}
