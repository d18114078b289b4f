//! The OpenAPI schemas of `/auth/admin`. See `auth/schema.rs`.

#![expect(dead_code, reason = "the types only describe what the library names")]

use api_macros::{described, view};
use domain::access::PlatformRole;
use domain::id::UserId;

pub use super::super::schema::{
    AuthPermissions, AuthPermissionsQuestion, AuthSession, AuthSessionAndUser, AuthStatus, AuthSuccess, AuthUser,
};

/// A platform role, alone or as the only element of a list.
#[view]
#[serde(untagged)]
pub enum AuthPlatformRoles {
    /// A single role.
    One(PlatformRole),
    /// A list with one role.
    List(Vec<PlatformRole>),
}

/// A new account.
#[described]
pub struct AuthNewUser {
    email: String,
    name: String,
    password: Option<String>,
    /// Defaults to `STUDENT`.
    role: Option<AuthPlatformRoles>,
    data: Option<AuthNewUserData>,
}

/// Further fields of a new account.
#[described]
pub struct AuthNewUserData {
    role: Option<AuthPlatformRoles>,
}

/// The fields of an account to update.
#[described]
pub struct AuthUserEdit {
    user_id: UserId,
    data: AuthUserEditData,
}

/// The fields of an account. At least one is required.
#[described]
pub struct AuthUserEditData {
    name: Option<String>,
    /// Null or an empty string removes the picture. An address is rejected.
    #[schema(nullable)]
    image: Option<String>,
    email: Option<String>,
    /// Accepts `false` only. `true` requires that the user opens a link sent to the mailbox.
    email_verified: Option<bool>,
    role: Option<AuthPlatformRoles>,
    banned: Option<bool>,
    #[schema(nullable)]
    ban_reason: Option<String>,
    #[schema(nullable)]
    ban_expires: Option<String>,
}

/// The platform role to set.
#[described]
pub struct AuthRoleChange {
    user_id: UserId,
    role: AuthPlatformRoles,
}

/// The updated account.
#[described]
pub struct AuthChangedUser {
    user: AuthUser,
}

/// The account to act on.
#[described]
pub struct AuthUserId {
    user_id: UserId,
}

/// A ban.
#[described]
pub struct AuthBan {
    user_id: UserId,
    #[schema(max_length = 500)]
    ban_reason: Option<String>,
    /// Duration in seconds. Absent or 0 means no end.
    #[schema(minimum = 0)]
    ban_expires_in: Option<f64>,
}

/// A page of accounts.
#[described]
pub struct AuthUsers {
    users: Vec<AuthUser>,
    total: i64,
    /// The limit of the page. Present only when the request has a limit.
    limit: Option<i64>,
    /// The offset of the page. Absent on the first page.
    offset: Option<i64>,
}

/// The sessions of a user.
#[described]
pub struct AuthUserSessions {
    sessions: Vec<AuthSession>,
}

/// The session to end.
#[described]
pub struct AuthUserSessionToken {
    session_token: String,
}

/// The new password of a user.
#[described]
pub struct AuthUserPassword {
    #[schema(min_length = 1)]
    new_password: String,
    #[schema(min_length = 1)]
    user_id: UserId,
}
