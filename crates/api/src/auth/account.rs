//! The caller's own account in the format of better-auth: name and picture, and nothing that grants rights.

use better_auth::error::AuthError;
use serde_json::{Map, Value, json};

use super::super::valid;
use super::answer::{Answered, Refused, answer};
use super::asked::Asked;
use super::schema;
use super::sessions::done;
use super::wire;
use auth::actor;
use common::error::Error;
use db::platform::CrossTenantReason;
use service::actions::profile::{self, ProfileEdit};

/// Columns of the library that users may never write themselves.
const NOT_OWN: [&str; 4] = ["role", "banned", "banReason", "banExpires"];

/// Update the caller's name or picture
#[utoipa::path(post, path = "/auth/update-user",
    request_body = schema::UserUpdate,
    responses((status = 200, body = schema::AuthStatus, description = "status: true; updates the session cookies"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "NAME_SET_BY_SCHOOL"),
        (status = 400, description = "EMAIL_CAN_NOT_BE_UPDATED, FIELD_NOT_ALLOWED, BAD_REQUEST")))]
pub async fn update(asked: Asked) -> Answered {
    let Some(keys) = asked.keys() else {
        return Err(asked
            .reader()
            .finish()
            .err()
            .unwrap_or_else(AuthError::invalid_json)
            .into());
    };
    let mut present = asked.present().await?;
    if keys
        .get("email")
        .is_some_and(|email| *email != Value::Null && *email != json!(""))
    {
        return Err(AuthError::email_can_not_be_updated().into());
    }
    if let Some(key) = NOT_OWN.into_iter().find(|key| keys.contains_key(*key)) {
        return Err(AuthError::field_not_allowed(key).into());
    }
    if !["name", "image"].into_iter().any(|key| keys.contains_key(key)) {
        return Err(AuthError::no_fields_to_update().into());
    }
    let edit = profile_edit(keys, "body")?;
    let (user, now) = (present.user.id.clone(), asked.now);
    let actor = actor(&present.user, &present.session, None, asked.request_id.clone());
    let profile = asked
        .act(move |tx| profile::edit(tx, &user, &edit, None, &actor, now))
        .await?;
    present.user.name = profile.name.into_string();
    present.user.image = profile.image;
    present.user.updated_at = profile.updated_at;
    Ok(done(asked.issue(&present.session, &present.user, present.remember)))
}

/// List the caller's sign-in methods
#[utoipa::path(get, path = "/auth/list-accounts", responses((status = 200, body = [schema::AuthAccount], description = "accounts, without passwords")))]
pub async fn list(asked: Asked) -> Answered {
    let present = asked.present().await?;
    let user = present.user.id;
    let owner = user.clone();
    let load = asked
        .app
        .store()
        .platform_read(CrossTenantReason::SessionLookup, move |platform| {
            platform.accounts(&user)
        });
    let accounts: Vec<Value> = load
        .await?
        .into_iter()
        .map(|account| {
            json!({
                "id": account.id,
                "accountId": account.account_id,
                "providerId": account.provider_id,
                "userId": owner,
                "createdAt": wire::time(account.created_at),
                "updatedAt": wire::time(account.updated_at),
                "scopes": [],
            })
        })
        .collect();
    Ok(answer(&accounts, present.cookies))
}

/// Parses name and picture among these keys and checks their limits.
pub fn profile_edit(keys: &Map<String, Value>, place: &str) -> Result<ProfileEdit, Refused> {
    let own = keys.iter().filter(|(key, _)| matches!(key.as_str(), "name" | "image"));
    let own: Map<_, _> = own.map(|(key, value)| (key.clone(), value.clone())).collect();
    valid::checked(Value::Object(own)).map_err(|error| issues(error, place))
}

/// Converts validation errors to the library's format.
fn issues(error: Error, place: &str) -> Refused {
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
