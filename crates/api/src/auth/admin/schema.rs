//! The OpenAPI schemas of `/auth/admin`. See `auth/schema.rs`.

#![expect(
    dead_code,
    clippy::struct_field_names,
    reason = "the types only describe what the library names"
)]

use domain::access::PlatformRole;
use domain::id::UserId;
use serde::Serialize;
use utoipa::ToSchema;

pub use super::super::schema::{
    AuthPermissions, AuthSession, AuthStatus, AuthUser, PermissionsQuestion, SessionAndUser, Success,
};

/// A platform role, alone or as the only element of a list.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = AuthPlatformRoles)]
pub enum PlatformRoles {
    /// A single role.
    One(PlatformRole),
    /// A list with one role.
    List(Vec<PlatformRole>),
}

/// A new account.
#[derive(ToSchema)]
#[schema(as = AuthNewUser)]
pub struct AuthNewUser {
    email: String,
    name: String,
    #[schema(nullable = false)]
    password: Option<String>,
    /// Defaults to `STUDENT`.
    #[schema(nullable = false)]
    role: Option<PlatformRoles>,
    #[schema(nullable = false)]
    data: Option<NewUserData>,
}

/// Further fields of a new account.
#[derive(ToSchema)]
#[schema(as = AuthNewUserData)]
pub struct NewUserData {
    #[schema(nullable = false)]
    role: Option<PlatformRoles>,
}

/// The fields of an account to update.
#[derive(ToSchema)]
#[schema(as = AuthUserEdit, rename_all = "camelCase")]
pub struct AuthUserEdit {
    user_id: UserId,
    data: UserEditData,
}

/// The fields of an account. At least one is required.
#[derive(ToSchema)]
#[schema(as = AuthUserEditData, rename_all = "camelCase")]
pub struct UserEditData {
    #[schema(nullable = false)]
    name: Option<String>,
    /// Null or an empty string removes the picture. An address is rejected.
    image: Option<String>,
    #[schema(nullable = false)]
    email: Option<String>,
    /// Accepts `false` only. `true` requires that the user opens a link sent to the mailbox.
    #[schema(nullable = false)]
    email_verified: Option<bool>,
    #[schema(nullable = false)]
    role: Option<PlatformRoles>,
    #[schema(nullable = false)]
    banned: Option<bool>,
    ban_reason: Option<String>,
    ban_expires: Option<String>,
}

/// The platform role to set.
#[derive(ToSchema)]
#[schema(as = AuthRoleChange, rename_all = "camelCase")]
pub struct RoleChange {
    user_id: UserId,
    role: PlatformRoles,
}

/// The updated account.
#[derive(ToSchema)]
#[schema(as = AuthChangedUser)]
pub struct ChangedUser {
    user: AuthUser,
}

/// The account to act on.
#[derive(ToSchema)]
#[schema(as = AuthUserId, rename_all = "camelCase")]
pub struct UserName {
    user_id: UserId,
}

/// A ban.
#[derive(ToSchema)]
#[schema(as = AuthBan, rename_all = "camelCase")]
pub struct AuthBan {
    user_id: UserId,
    #[schema(max_length = 500, nullable = false)]
    ban_reason: Option<String>,
    /// Duration in seconds. Absent or 0 means no end.
    #[schema(minimum = 0, nullable = false)]
    ban_expires_in: Option<f64>,
}

/// A page of accounts.
#[derive(ToSchema)]
#[schema(as = AuthUsers)]
pub struct Users {
    users: Vec<AuthUser>,
    total: i64,
    /// The limit of the page. Present only when the request has a limit.
    #[schema(nullable = false)]
    limit: Option<i64>,
    /// The offset of the page. Absent on the first page.
    #[schema(nullable = false)]
    offset: Option<i64>,
}

/// The sessions of a user.
#[derive(ToSchema)]
#[schema(as = AuthUserSessions)]
pub struct UserSessions {
    sessions: Vec<AuthSession>,
}

/// The session to end.
#[derive(ToSchema)]
#[schema(as = AuthUserSessionToken, rename_all = "camelCase")]
pub struct UserSessionToken {
    session_token: String,
}

/// The new password of a user.
#[derive(ToSchema)]
#[schema(as = AuthUserPassword, rename_all = "camelCase")]
pub struct UserPassword {
    #[schema(min_length = 1)]
    new_password: String,
    #[schema(min_length = 1)]
    user_id: UserId,
}
