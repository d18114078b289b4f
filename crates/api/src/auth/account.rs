//! The caller's own account in the format of better-auth: name and picture, and nothing that grants rights.

use better_auth::error::AuthError;
use domain::user_name::full_name;
use serde_json::{Map, Value, json};

use super::super::valid;
use super::dto;
use super::request::AuthRequest;
use super::response::{AuthRejection, AuthResult, json_response};
use super::schema;
use super::sessions::done;
use auth::actor;
use common::error::Error;
use service::actions::profile::{self, ProfileEdit};
use service::actions::sessions;

/// Columns of the library that users may never write themselves.
const NOT_OWN: [&str; 4] = ["role", "banned", "banReason", "banExpires"];

/// Update the caller's name or picture
#[utoipa::path(post, path = "/auth/update-user",
    request_body = schema::AuthUserUpdate,
    responses((status = 200, body = schema::AuthStatus, description = "status: true; updates the session cookies"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "NAME_SET_BY_SCHOOL, SIGNED_ON_ELSEWHERE"),
        (status = 400, description = "EMAIL_CAN_NOT_BE_UPDATED, FIELD_NOT_ALLOWED, BAD_REQUEST, USERNAME_IS_IMMUTABLE")))]
pub(crate) async fn update(request: AuthRequest) -> AuthResult {
    let Some(keys) = request.keys() else {
        return Err(request
            .reader()
            .finish()
            .err()
            .unwrap_or_else(AuthError::invalid_json)
            .into());
    };
    let mut current_session = request.current_session().await?;
    if keys
        .get("email")
        .is_some_and(|email| *email != Value::Null && *email != json!(""))
    {
        return Err(AuthError::email_can_not_be_updated().into());
    }
    if let Some(key) = NOT_OWN.into_iter().find(|key| keys.contains_key(*key)) {
        return Err(AuthError::field_not_allowed(key).into());
    }
    // Schools choose user names, as with the option `immutableUsername` of the library's plugin.
    let own_name = current_session.user.user_name.as_ref();
    let own_name = own_name.map(|(name, slug)| full_name(name, slug));
    if keys
        .get("username")
        .is_some_and(|name| *name != json!(own_name) && *name != Value::Null)
    {
        return Err(AuthError::username_is_immutable().into());
    }
    if !["name", "image"].into_iter().any(|key| keys.contains_key(key)) {
        return Err(AuthError::no_fields_to_update().into());
    }
    let edit = profile_edit(keys, "body")?;
    let (user, now) = (current_session.user.id.clone(), request.now);
    let actor = actor(
        &current_session.user,
        &current_session.session,
        None,
        request.request_id.clone(),
    );
    let session = current_session.session.clone();
    let profile = request
        .act(move |tx| {
            sessions::may_use_account(tx, &session)?;
            profile::edit(tx, &user, &edit, None, &actor, now)
        })
        .await?;
    current_session.user.name = profile.name.into_string();
    current_session.user.image = profile.image;
    current_session.user.updated_at = profile.updated_at;
    Ok(done(request.issue(
        &current_session.session,
        &current_session.user,
        current_session.remember,
    )))
}

/// List the caller's sign-in methods
#[utoipa::path(get, path = "/auth/list-accounts", responses((status = 200, body = [schema::AuthAccount], description = "accounts, without passwords")))]
pub(crate) async fn list(request: AuthRequest) -> AuthResult {
    let current_session = request.current_session().await?;
    let user = current_session.user.id;
    let owner = user.clone();
    let load = request.read(move |platform| platform.accounts(&user));
    let accounts: Vec<Value> = load
        .await?
        .into_iter()
        .map(|account| {
            json!({
                "id": account.id,
                "accountId": account.account_id,
                "providerId": account.provider_id,
                "userId": owner,
                "createdAt": dto::time(account.created_at),
                "updatedAt": dto::time(account.updated_at),
                "scopes": [],
            })
        })
        .collect();
    Ok(json_response(&accounts, current_session.cookies))
}

/// Parses name and picture among these keys and checks their limits.
pub fn profile_edit(keys: &Map<String, Value>, place: &str) -> Result<ProfileEdit, AuthRejection> {
    let own = keys.iter().filter(|(key, _)| matches!(key.as_str(), "name" | "image"));
    let own: Map<_, _> = own.map(|(key, value)| (key.clone(), value.clone())).collect();
    valid::checked(Value::Object(own)).map_err(|error| issues(error, place))
}

/// Converts validation errors to the library's format.
fn issues(error: Error, place: &str) -> AuthRejection {
    match error {
        Error::Invalid(problems) => {
            let issues: Vec<_> = problems
                .iter()
                .map(|problem| format!("[{place}.{}] {}", problem.path, problem.message))
                .collect();
            AuthError::validation(issues.join("; ")).into()
        }
        error => error.into(),
    }
}
