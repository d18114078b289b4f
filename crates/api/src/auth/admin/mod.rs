//! `/auth/admin`: account administration by SUPER_ADMINs, compatible with the library's admin plugin. The library
//! validates a body before it authenticates, so the routes are declared open, and each calls `administrator` before it
//! reads or writes. See docs/api-contract.md#authentication.

pub(crate) mod accounts;
pub(crate) mod bans;
pub(crate) mod impersonation;
pub(crate) mod listing;
pub(crate) mod passwords;
pub(crate) mod permissions;
mod schema;
pub(crate) mod sessions;

use better_auth::error::AuthError;
use better_auth::object::UserObject;
use domain::access::PlatformRole;
use domain::id::UserId;
use domain::time::Timestamp;

use super::dto;
use super::request::{AuthRequest, CurrentSession};
use super::response::AuthRejection;
use auth::actor;
use db::platform::administration::AdministeredAccount;
use service::actions::administration::Administrator;

/// Requires a SUPER_ADMIN. Other callers receive the error that the library defines for the route.
async fn administrator(
    request: &AuthRequest,
    refusal: AuthError,
) -> Result<(CurrentSession, Administrator), AuthRejection> {
    let current_session = request.current_session().await?;
    if current_session.user.role != PlatformRole::SuperAdmin {
        return Err(AuthRejection::from(refusal).with(current_session.cookies));
    }
    let admin = Administrator {
        id: current_session.user.id.clone(),
        actor: actor(
            &current_session.user,
            &current_session.session,
            None,
            request.request_id.clone(),
        ),
        now: request.now,
    };
    Ok((current_session, admin))
}

/// Reads an account, or fails with the library's 404.
async fn account(request: &AuthRequest, user: &UserId) -> Result<AdministeredAccount, AuthRejection> {
    let user = user.clone();
    let load = request.read(move |platform| platform.account(&user));
    load.await.map_err(|error| AuthRejection::from(error).about_users())
}

/// An account as the library's user object, with the ban that applies now.
fn shown(account: &AdministeredAccount, now: Timestamp) -> UserObject {
    let ban = account.ban_at(now);
    UserObject {
        banned: ban.is_some(),
        ban_reason: ban.and_then(|ban| ban.reason.clone()),
        ban_expires: ban.and_then(|ban| ban.until).map(dto::time),
        ..dto::user(&account.user)
    }
}

/// Parses a list that must name exactly one platform role.
fn role(texts: &[&str]) -> Result<PlatformRole, AuthError> {
    let [text] = texts else {
        return Err(AuthError::non_existent_role());
    };
    PlatformRole::parse(text).ok_or_else(AuthError::non_existent_role)
}
