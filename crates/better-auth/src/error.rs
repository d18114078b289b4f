//! The errors of the library that our routes return: status, code and message. The messages are part of the wire format
//! and are the library's own.

use std::borrow::Cow;

/// An error response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{status} {message}")]
pub struct AuthError {
    /// HTTP status.
    pub status: u16,
    /// Stable error code; a few errors have none.
    pub code: Option<&'static str>,
    /// The message sent with the code.
    pub message: Cow<'static, str>,
    /// Whether the response has no body.
    pub body_empty: bool,
}

impl AuthError {
    /// Creates an error with a code.
    pub const fn new(status: u16, code: &'static str, message: &'static str) -> Self {
        Self {
            status,
            code: Some(code),
            message: Cow::Borrowed(message),
            body_empty: false,
        }
    }

    /// Creates an error that has only a message.
    pub fn message_only(status: u16, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            status,
            code: None,
            message: message.into(),
            body_empty: false,
        }
    }

    /// Creates an error without a response body; the message is for the log.
    pub const fn empty(status: u16, message: &'static str) -> Self {
        Self {
            status,
            code: None,
            message: Cow::Borrowed(message),
            body_empty: true,
        }
    }

    /// Creates an error for a body or query that does not match its schema; the issues are joined by [`crate::schema`].
    pub fn validation(message: String) -> Self {
        Self::with_text(400, "VALIDATION_ERROR", message)
    }

    /// Creates an error for a body with a media type that the route does not accept.
    pub fn unsupported_media_type(sent: &str, allowed: &[&str]) -> Self {
        let allowed = allowed.join(", ");
        let message = format!("Content-Type \"{sent}\" is not allowed. Allowed types: {allowed}");
        Self::with_text(415, "UNSUPPORTED_MEDIA_TYPE", message)
    }

    /// Creates an error for a key that the caller may not set, such as a user's own role.
    pub fn field_not_allowed(key: &str) -> Self {
        let message = format!("{key} is not allowed to be set");
        Self::with_text(400, "FIELD_NOT_ALLOWED", message)
    }

    /// Creates an error for a callback URL that is not a string.
    pub fn callback_not_string(label: &str) -> Self {
        Self::message_only(400, format!("Invalid {label}: expected a string"))
    }

    /// Returns the JSON body; `None` if the library sends none.
    pub fn body(&self) -> Option<serde_json::Value> {
        if self.body_empty {
            return None;
        }
        let mut body = serde_json::json!({ "message": self.message });
        if let Some(code) = self.code {
            body["code"] = code.into();
        }
        Some(body)
    }

    fn with_text(status: u16, code: &'static str, message: String) -> Self {
        Self {
            status,
            code: Some(code),
            message: Cow::Owned(message),
            body_empty: false,
        }
    }
}

/// Generates one constructor per row, documented by its status, code and message.
macro_rules! auth_errors {
    ($($name:ident: $status:literal $code:literal $message:literal;)*) => {
        impl AuthError {
            $(
                #[doc = concat!(stringify!($status), " `", $code, "`: ", $message, ".")]
                pub const fn $name() -> Self {
                    Self::new($status, $code, $message)
                }
            )*

            /// Returns all errors with a fixed text, for tests and documentation.
            pub fn all() -> Vec<Self> {
                vec![$(Self::$name()),*]
            }
        }
    };
}

// All routes.
auth_errors! {
    unauthorized: 401 "UNAUTHORIZED" "Unauthorized";
    invalid_json: 400 "BAD_REQUEST" "Invalid JSON in request body";

    // Origin checks.
    invalid_origin: 403 "INVALID_ORIGIN" "Invalid origin";
    missing_or_null_origin: 403 "MISSING_OR_NULL_ORIGIN" "Missing or null Origin";
    cross_site_navigation_login_blocked: 403 "CROSS_SITE_NAVIGATION_LOGIN_BLOCKED" "Cross-site navigation login blocked. This request appears to be a CSRF attack.";
    invalid_callback_url: 403 "INVALID_CALLBACK_URL" "Invalid callbackURL";
    invalid_redirect_url: 403 "INVALID_REDIRECT_URL" "Invalid redirectURL";
    invalid_error_callback_url: 403 "INVALID_ERROR_CALLBACK_URL" "Invalid errorCallbackURL";
    invalid_new_user_callback_url: 403 "INVALID_NEW_USER_CALLBACK_URL" "Invalid newUserCallbackURL";

    // Sign-in, sign-up, sessions, accounts.
    invalid_email: 400 "INVALID_EMAIL" "Invalid email";
    invalid_email_or_password: 401 "INVALID_EMAIL_OR_PASSWORD" "Invalid email or password";
    invalid_password: 400 "INVALID_PASSWORD" "Invalid password";
    invalid_token_of_sign_in: 401 "INVALID_TOKEN" "Invalid token";
    // The plugin for user names.
    invalid_username_or_password: 401 "INVALID_USERNAME_OR_PASSWORD" "Invalid username or password";
    username_too_short: 422 "USERNAME_TOO_SHORT" "Username is too short";
    username_too_long: 422 "USERNAME_TOO_LONG" "Username is too long";
    invalid_username: 422 "INVALID_USERNAME" "Username is invalid";
    username_is_immutable: 400 "USERNAME_IS_IMMUTABLE" "Username cannot be updated";
    password_too_short: 400 "PASSWORD_TOO_SHORT" "Password too short";
    password_too_long: 400 "PASSWORD_TOO_LONG" "Password too long";
    // The message of the library's plugin for leaked passwords.
    password_compromised: 400 "PASSWORD_COMPROMISED" "The password you entered has been compromised. Please choose a different password.";
    email_not_verified: 403 "EMAIL_NOT_VERIFIED" "Email not verified";
    banned_user: 403 "BANNED_USER" "You have been banned from this application. Please contact support if you believe this is an error.";
    // Of this service: back-channel logout is no part of the library.
    invalid_logout_token: 400 "INVALID_LOGOUT_TOKEN" "Invalid logout token";
    failed_to_create_user: 422 "FAILED_TO_CREATE_USER" "Failed to create user";
    session_not_fresh: 403 "SESSION_NOT_FRESH" "Session is not fresh";
    session_expired: 400 "SESSION_EXPIRED" "Session expired. Re-authenticate to perform this action.";
    post_needs_deferred_refresh: 405 "METHOD_NOT_ALLOWED_DEFER_SESSION_REQUIRED" "POST method requires deferSessionRefresh to be enabled in session config";
    credential_account_not_found: 400 "CREDENTIAL_ACCOUNT_NOT_FOUND" "Credential account not found";
    invalid_token: 400 "INVALID_TOKEN" "Invalid token";
    reset_password_disabled: 400 "RESET_PASSWORD_DISABLED" "Reset password isn't enabled";
    email_can_not_be_updated: 400 "EMAIL_CAN_NOT_BE_UPDATED" "Email can not be updated";
    change_email_disabled: 400 "CHANGE_EMAIL_DISABLED" "Change email is disabled";
    provider_not_found: 404 "PROVIDER_NOT_FOUND" "Provider not found";

    // Second factors.
    otp_not_available: 400 "OTP_NOT_CONFIGURED" "OTP is not available";
    otp_not_configured: 400 "OTP_NOT_CONFIGURED" "otp isn't configured";
    otp_has_expired: 400 "OTP_HAS_EXPIRED" "OTP has expired";
    totp_not_enabled: 400 "TOTP_NOT_ENABLED" "TOTP not enabled";
    totp_already_enabled: 400 "TOTP_ALREADY_ENABLED" "TOTP is already enabled";
    two_factor_not_enabled: 400 "TWO_FACTOR_NOT_ENABLED" "Two factor isn't enabled";
    backup_codes_not_enabled: 400 "BACKUP_CODES_NOT_ENABLED" "Backup codes aren't enabled";
    invalid_backup_code: 401 "INVALID_BACKUP_CODE" "Invalid backup code";
    invalid_code: 401 "INVALID_CODE" "Invalid code";
    invalid_two_factor_cookie: 401 "INVALID_TWO_FACTOR_COOKIE" "Invalid two factor cookie";
    too_many_attempts: 400 "TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE" "Too many attempts. Please request a new code.";
    account_temporarily_locked: 429 "ACCOUNT_TEMPORARILY_LOCKED" "Too many failed verification attempts. Your account is temporarily locked. Please try again later.";

    // Passkeys. The codes of 401 and 400 are those of the library; `passkey_not_sufficient` is ours.
    challenge_not_found: 400 "CHALLENGE_NOT_FOUND" "Challenge not found";
    may_not_register_passkey: 401 "YOU_ARE_NOT_ALLOWED_TO_REGISTER_THIS_PASSKEY" "You are not allowed to register this passkey";
    failed_to_verify_registration: 400 "FAILED_TO_VERIFY_REGISTRATION" "Failed to verify registration";
    previously_registered: 400 "PREVIOUSLY_REGISTERED" "Previously registered";
    passkey_unknown: 401 "PASSKEY_NOT_FOUND" "Passkey not found";
    passkey_not_found: 404 "PASSKEY_NOT_FOUND" "Passkey not found";
    authentication_failed: 401 "AUTHENTICATION_FAILED" "Authentication failed";
    passkey_not_sufficient: 403 "PASSKEY_NOT_SUFFICIENT" "This passkey is a second factor only. Sign in with your password or the account of your school first.";

    // Organizations: reading and selecting.
    organization_not_found: 400 "ORGANIZATION_NOT_FOUND" "Organization not found";
    no_active_organization: 400 "NO_ACTIVE_ORGANIZATION" "No active organization";
    not_a_member_of_the_organization: 403 "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION" "User is not a member of the organization";
    permission_of_not_a_member: 401 "USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION" "User is not a member of the organization";
    not_a_member_of_this_organization: 403 "YOU_ARE_NOT_A_MEMBER_OF_THIS_ORGANIZATION" "You are not a member of this organization";
    member_not_found: 400 "MEMBER_NOT_FOUND" "Member not found";

    // Organizations: changes. Rejected for every caller, because members are managed by our own routes.
    may_not_create_organization: 403 "YOU_ARE_NOT_ALLOWED_TO_CREATE_A_NEW_ORGANIZATION" "You are not allowed to create a new organization";
    may_not_update_organization: 403 "YOU_ARE_NOT_ALLOWED_TO_UPDATE_THIS_ORGANIZATION" "You are not allowed to update this organization";
    may_not_delete_organization: 403 "YOU_ARE_NOT_ALLOWED_TO_DELETE_THIS_ORGANIZATION" "You are not allowed to delete this organization";
    may_not_access_organization: 403 "YOU_ARE_NOT_ALLOWED_TO_ACCESS_THIS_ORGANIZATION" "You are not allowed to access this organization as an owner";
    may_not_update_member: 403 "YOU_ARE_NOT_ALLOWED_TO_UPDATE_THIS_MEMBER" "You are not allowed to update this member";
    may_not_delete_member: 403 "YOU_ARE_NOT_ALLOWED_TO_DELETE_THIS_MEMBER" "You are not allowed to delete this member";
    may_not_invite: 403 "YOU_ARE_NOT_ALLOWED_TO_INVITE_USERS_TO_THIS_ORGANIZATION" "You are not allowed to invite users to this organization";
    may_not_list_invitations: 403 "YOU_ARE_NOT_ALLOWED_TO_LIST_INVITATIONS" "You are not allowed to list invitations";
    may_not_cancel_invitation: 403 "YOU_ARE_NOT_ALLOWED_TO_CANCEL_THIS_INVITATION" "You are not allowed to cancel this invitation";
    not_the_recipient_of_the_invitation: 403 "YOU_ARE_NOT_THE_RECIPIENT_OF_THE_INVITATION" "You are not the recipient of the invitation";

    // Invitations, for the invited user.
    invitation_not_found: 400 "INVITATION_NOT_FOUND" "Invitation not found";
    invitation_needs_mailbox: 403 "EMAIL_VERIFICATION_REQUIRED_FOR_INVITATION" "Email verification required to view or list invitations for the session email";
    answer_needs_mailbox: 403 "EMAIL_VERIFICATION_REQUIRED_BEFORE_ACCEPTING_OR_REJECTING_INVITATION" "Email verification required before accepting or rejecting invitation";

    // Administration.
    user_not_found: 404 "USER_NOT_FOUND" "User not found";
    user_already_exists: 400 "USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL" "User already exists. Use another email.";
    non_existent_role: 400 "YOU_ARE_NOT_ALLOWED_TO_SET_NON_EXISTENT_VALUE" "You are not allowed to set a non-existent role value";
    invalid_role_type: 400 "INVALID_ROLE_TYPE" "Invalid role type";
    no_data_to_update: 400 "NO_DATA_TO_UPDATE" "No data to update";
    password_not_through_update: 400 "PASSWORD_CANNOT_BE_UPDATED_VIA_UPDATE_USER" "Password cannot be updated through update-user. Use the set-user-password endpoint instead";
    cannot_ban_yourself: 400 "YOU_CANNOT_BAN_YOURSELF" "You cannot ban yourself";
    cannot_remove_yourself: 400 "YOU_CANNOT_REMOVE_YOURSELF" "You cannot remove yourself";
    cannot_impersonate_admins: 403 "YOU_CANNOT_IMPERSONATE_ADMINS" "You cannot impersonate admins";
    may_not_create_users: 403 "YOU_ARE_NOT_ALLOWED_TO_CREATE_USERS" "You are not allowed to create users";
    may_not_list_users: 403 "YOU_ARE_NOT_ALLOWED_TO_LIST_USERS" "You are not allowed to list users";
    may_not_get_user: 403 "YOU_ARE_NOT_ALLOWED_TO_GET_USER" "You are not allowed to get user";
    may_not_update_users: 403 "YOU_ARE_NOT_ALLOWED_TO_UPDATE_USERS" "You are not allowed to update users";
    may_not_change_roles: 403 "YOU_ARE_NOT_ALLOWED_TO_CHANGE_USERS_ROLE" "You are not allowed to change users role";
    may_not_ban_users: 403 "YOU_ARE_NOT_ALLOWED_TO_BAN_USERS" "You are not allowed to ban users";
    may_not_delete_users: 403 "YOU_ARE_NOT_ALLOWED_TO_DELETE_USERS" "You are not allowed to delete users";
    may_not_set_passwords: 403 "YOU_ARE_NOT_ALLOWED_TO_SET_USERS_PASSWORD" "You are not allowed to set users password";
    may_not_list_sessions_of_users: 403 "YOU_ARE_NOT_ALLOWED_TO_LIST_USERS_SESSIONS" "You are not allowed to list users sessions";
    may_not_revoke_sessions_of_users: 403 "YOU_ARE_NOT_ALLOWED_TO_REVOKE_USERS_SESSIONS" "You are not allowed to revoke users sessions";
    may_not_impersonate_users: 403 "YOU_ARE_NOT_ALLOWED_TO_IMPERSONATE_USERS" "You are not allowed to impersonate users";
}

impl AuthError {
    /// 404 without a body: an unknown route or method.
    pub const fn not_found() -> Self {
        Self::empty(404, "no such route")
    }

    /// 401 without a body: administration and organization routes without a session.
    pub const fn unauthorized_without_body() -> Self {
        Self::empty(401, "not signed in")
    }

    /// 429 without a code; the response also has the header `X-Retry-After`.
    pub fn too_many_requests() -> Self {
        Self::message_only(429, "Too many requests. Please try again later.")
    }

    /// 400: `update-user` without any field.
    pub fn no_fields_to_update() -> Self {
        Self::message_only(400, "No fields to update")
    }

    /// 400: `stop-impersonating` in a session that does not impersonate.
    pub fn not_impersonating() -> Self {
        Self::message_only(400, "You are not impersonating anyone")
    }

    /// 400: `has-permission` without the key `permissions`.
    pub fn no_permissions_passed() -> Self {
        let message = "invalid permission check. no permission(s) were passed.";
        Self::message_only(400, message)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use std::collections::HashSet;

    use super::*;

    #[test]
    fn error_body_has_message_before_code() {
        let body = AuthError::invalid_email_or_password().body().unwrap();
        assert_eq!(
            body.to_string(),
            r#"{"message":"Invalid email or password","code":"INVALID_EMAIL_OR_PASSWORD"}"#
        );
    }

    #[test]
    fn errors_without_code_or_body_are_supported() {
        assert_eq!(
            AuthError::no_fields_to_update().body().unwrap().to_string(),
            r#"{"message":"No fields to update"}"#
        );
        assert_eq!(AuthError::not_found().body(), None);
        assert_eq!(AuthError::unauthorized_without_body().body(), None);
    }

    #[test]
    fn unsupported_media_type_error_names_media_types() {
        let refusal = AuthError::unsupported_media_type("text/plain", &["application/json"]);
        assert_eq!(refusal.status, 415);
        assert_eq!(
            refusal.message,
            "Content-Type \"text/plain\" is not allowed. Allowed types: application/json"
        );
    }

    #[test]
    fn error_codes_are_upper_case_and_statuses_are_errors() {
        let mut seen = HashSet::new();
        for refusal in AuthError::all() {
            let code = refusal.code.unwrap();
            assert!(
                code.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'),
                "{code}"
            );
            assert!((400..500).contains(&refusal.status), "{code}");
            // The library has two messages for OTP_NOT_CONFIGURED.
            assert!(
                seen.insert((refusal.status, code, refusal.message.to_string())),
                "{code} twice"
            );
        }
    }
}
