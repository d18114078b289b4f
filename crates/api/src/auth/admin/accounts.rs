//! Creating, updating and deleting accounts of the platform.

use better_auth::email;
use better_auth::error::AuthError;
use better_auth::schema::FieldReader;
use domain::access::PlatformRole;
use domain::account_email::is_placeholder;
use domain::id::UserId;
use domain::patch::FieldPatch;
use domain::text::Name;
use serde_json::{Map, Value, json};

use super::super::account::profile_edit;
use super::super::password::check_new;
use super::super::request::AuthRequest;
use super::super::response::{AuthRejection, AuthResult, json_response};
use super::super::sign_in::LONGEST_EMAIL;
use super::bans;
use super::schema;
use super::{account, administrator, role, shown};
use db::platform::administration::Ban;
use db::platform::users::NewUserAccount;
use service::actions::administration::{self, AccountEdit};
use service::jobs::retention;

/// Get an account
#[utoipa::path(get, path = "/auth/admin/get-user", params(("id" = String, Query, description = "The id of a user")),
    responses((status = 200, body = schema::AuthUser, description = "user"), (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_ALLOWED_TO_GET_USER"),
        (status = 404, description = "USER_NOT_FOUND")))]
pub(crate) async fn show(request: AuthRequest) -> AuthResult {
    let query = request.query_object();
    let mut reader = FieldReader::query(&query);
    let user = UserId::new(reader.string("id"));
    reader.finish()?;
    let (current_session, admin) = administrator(&request, AuthError::may_not_get_user()).await?;
    let account = account(&request, &user).await?;
    Ok(json_response(&shown(&account, admin.now), current_session.cookies))
}

/// Create an account without an organization
#[utoipa::path(post, path = "/auth/admin/create-user",
    request_body = schema::AuthNewUser,
    responses((status = 200, body = schema::AuthChangedUser, description = "user"),
        (status = 400, description = "USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL, INVALID_EMAIL, PASSWORD_TOO_SHORT, \
         PASSWORD_COMPROMISED, YOU_ARE_NOT_ALLOWED_TO_SET_NON_EXISTENT_VALUE, INVALID_ROLE_TYPE"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_ALLOWED_TO_CREATE_USERS")))]
pub(crate) async fn create(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let (address, name) = (reader.string("email").to_owned(), reader.string("name"));
    let password = reader
        .optional_string("password")
        .filter(|password| !password.is_empty());
    let given = request.keys().is_some_and(|keys| keys.contains_key("role"));
    let roles = if given { reader.strings("role") } else { Vec::new() };
    let data = reader.optional_record("data");
    reader.finish()?;
    let (current_session, admin) = administrator(&request, AuthError::may_not_create_users()).await?;
    let further = data.and_then(|data| data.get("role"));
    let role = match further.filter(|_| !given) {
        None if !given => PlatformRole::Student,
        None => role(&roles)?,
        Some(further) => role_of(further)?,
    };
    let address = known_address(&address)?;
    let name = named(name)?;
    if let Some(password) = password {
        check_new(password, &[name.as_str(), &address])?;
    }
    let hash = match password {
        Some(password) => Some(request.hash(password).await?),
        None => None,
    };
    let new = NewUserAccount::provisioned(name.as_str(), &address, role, hash);
    let now = admin.now;
    let account = request
        .act(move |tx| administration::create(tx, &new, now))
        .await
        .map_err(AuthRejection::about_users)?;
    Ok(json_response(
        &json!({ "user": shown(&account, now) }),
        current_session.cookies,
    ))
}

/// Update an account
#[utoipa::path(post, path = "/auth/admin/update-user",
    request_body = schema::AuthUserEdit,
    responses((status = 200, body = schema::AuthUser, description = "user"),
        (status = 400, description = "NO_DATA_TO_UPDATE, PASSWORD_CANNOT_BE_UPDATED_VIA_UPDATE_USER, \
         FIELD_NOT_ALLOWED, USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL, YOU_ARE_NOT_ALLOWED_TO_SET_NON_EXISTENT_VALUE, YOU_CANNOT_BAN_YOURSELF"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_ALLOWED_TO_UPDATE_USERS, YOU_ARE_NOT_ALLOWED_TO_CHANGE_USERS_ROLE, \
        PASSWORD_NOT_CONFIRMED"),
        (status = 404, description = "USER_NOT_FOUND")))]
pub(crate) async fn update(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let user = UserId::new(reader.string("userId"));
    let data = reader.record("data").cloned().unwrap_or_default();
    reader.finish()?;
    let (current_session, admin) = administrator(&request, AuthError::may_not_update_users()).await?;
    if data.contains_key("password") {
        return Err(AuthError::password_not_through_update().into());
    }
    if let Some(key) = ["id", "createdAt", "updatedAt"]
        .into_iter()
        .find(|key| data.contains_key(*key))
    {
        return Err(AuthError::field_not_allowed(key).into());
    }
    let edit = edit_of(&data)?;
    if user == admin.id && edit.ban.value().is_some() {
        return Err(AuthError::cannot_ban_yourself().into());
    }
    let now = admin.now;
    let account = request
        .act(move |tx| administration::edit(tx, &admin, &user, &edit))
        .await
        .map_err(AuthRejection::about_users)?;
    Ok(json_response(&shown(&account, now), current_session.cookies))
}

/// Set a platform role
#[utoipa::path(post, path = "/auth/admin/set-role",
    request_body = schema::AuthRoleChange,
    responses((status = 200, body = schema::AuthChangedUser, description = "user"),
        (status = 400, description = "YOU_ARE_NOT_ALLOWED_TO_SET_NON_EXISTENT_VALUE"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_ALLOWED_TO_CHANGE_USERS_ROLE, also for the own role, PASSWORD_NOT_CONFIRMED"),
        (status = 404, description = "USER_NOT_FOUND")))]
pub(crate) async fn set_role(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let user = UserId::new(reader.string("userId"));
    let roles = reader.strings("role");
    reader.finish()?;
    let (current_session, admin) = administrator(&request, AuthError::may_not_change_roles()).await?;
    let edit = AccountEdit {
        role: Some(role(&roles)?),
        ..AccountEdit::default()
    };
    let now = admin.now;
    let account = request
        .act(move |tx| administration::edit(tx, &admin, &user, &edit))
        .await
        .map_err(AuthRejection::about_users)?;
    Ok(json_response(
        &json!({ "user": shown(&account, now) }),
        current_session.cookies,
    ))
}

/// Delete a user
///
/// Memberships, sessions and personal data are deleted. Work and activity records are kept.
#[utoipa::path(post, path = "/auth/admin/remove-user",
    request_body = schema::AuthUserId,
    responses((status = 200, body = schema::AuthSuccess, description = "success: true"), (status = 400, description = "YOU_CANNOT_REMOVE_YOURSELF"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_ALLOWED_TO_DELETE_USERS"),
        (status = 404, description = "USER_NOT_FOUND"), (status = 409, description = "LAST_OWNER")))]
pub(crate) async fn remove(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let user = UserId::new(reader.string("userId"));
    reader.finish()?;
    let (current_session, admin) = administrator(&request, AuthError::may_not_delete_users()).await?;
    if user == admin.id {
        return Err(AuthError::cannot_remove_yourself().into());
    }
    let address = request
        .act(move |tx| administration::remove(tx, &admin, &user))
        .await
        .map_err(AuthRejection::about_users)?;
    retention::delete_emails(request.app.store(), request.app.mail(), &address).await?;
    Ok(json_response(&json!({ "success": true }), current_session.cookies))
}

/// Parses the keys of `data`. Other keys are ignored, as everywhere under `/auth`.
fn edit_of(data: &Map<String, Value>) -> Result<AccountEdit, AuthRejection> {
    let mut edit = AccountEdit::default();
    let profile = profile_edit(data, "body.data")?;
    edit.name = profile.name.required("name").ok().flatten();
    edit.image = match profile.image {
        FieldPatch::Value(image) if image.trim().is_empty() => FieldPatch::Null,
        image => image,
    };
    let mut reader = FieldReader::nested("body.data", data);
    if data.contains_key("email") {
        edit.email = Some(known_address(reader.string("email"))?);
    }
    edit.email_verified = reader.optional_bool("emailVerified");
    if edit.email_verified == Some(true) {
        // Only a link sent to the mailbox verifies an address.
        return Err(AuthError::field_not_allowed("emailVerified").into());
    }
    let banned = reader.optional_bool("banned");
    let reason = reader.nullable_string("banReason").text();
    let until = reader.nullable_string("banExpires").text();
    reader.finish()?;
    if let Some(role) = data.get("role") {
        edit.role = Some(role_of(role)?);
    }
    let tells_ban = reason.is_some() || until.is_some();
    edit.ban = match banned {
        Some(false) => FieldPatch::Null,
        Some(true) => FieldPatch::Value(Ban {
            reason: Some(reason.unwrap_or(bans::NO_REASON).to_owned()),
            until: until.map(bans::until).transpose()?,
        }),
        None if tells_ban => {
            let message = "[body.data.banned] Invalid input: expected boolean, received undefined";
            return Err(AuthError::validation(message.to_owned()).into());
        }
        None => FieldPatch::Unchanged,
    };
    if edit == AccountEdit::default() {
        return Err(AuthError::no_data_to_update().into());
    }
    Ok(edit)
}

fn role_of(value: &Value) -> Result<PlatformRole, AuthError> {
    let texts: Option<Vec<&str>> = match value {
        Value::Array(items) => items.iter().map(Value::as_str).collect(),
        single => single.as_str().map(|text| vec![text]),
    };
    role(&texts.ok_or_else(AuthError::invalid_role_type)?)
}

fn known_address(address: &str) -> Result<String, AuthError> {
    let address = email::lower_case(address);
    if address.len() <= LONGEST_EMAIL && email::is_email(&address) && !is_placeholder(&address) {
        Ok(address)
    } else {
        Err(AuthError::invalid_email())
    }
}

fn named(name: &str) -> Result<Name, AuthError> {
    let name = Name::try_from(name);
    name.map_err(|error| AuthError::validation(format!("[body.name] {error}")))
}
