//! `/auth` as the official client of better-auth uses it, and the stricter rules of this service: failures are counted,
//! revocation takes effect immediately, and the cache cookie decides nothing.

mod account;
mod admin;
mod admin_people;
mod http_requests;
mod impersonation;
mod limits;
mod organization;
mod passkey_attacks;
mod passkeys;
mod required_factor;
mod reset;
mod second_factor;
mod sessions;
mod sign_in;

pub use test_support::Browser;
pub use test_support::accounts::{PASSWORD, enable, one, run, signed_in};

db::statements! {
    /// Moves the expiry and the last renewal of a session into the past.
    AGE_SESSION = "UPDATE sessions SET expires_at = expires_at - $2, updated_at = updated_at - $2 WHERE token = $1";
    /// Moves the start of a session into the past.
    AGE_SIGN_IN = "UPDATE sessions SET created_at = created_at - $2 WHERE token = $1";
    /// Moves failures into the past.
    AGE_FAILURES = "UPDATE sign_in_failures SET created_at = created_at - $1";
    FORGET_FAILURES = "DELETE FROM sign_in_failures";
    SET_ROLE = "UPDATE members SET role = $2 WHERE user_id = $1";
    END_MEMBERSHIP = "DELETE FROM members WHERE user_id = $1";
    BAN = "UPDATE users SET banned = TRUE, ban_expires = $2 WHERE id = $1";
    /// Moves the end of a ban into the past.
    AGE_BAN = "UPDATE users SET ban_expires = ban_expires - $2 WHERE id = $1";
    SET_PLATFORM_ROLE = "UPDATE users SET role = $2 WHERE id = $1";
    END_SESSION = "DELETE FROM sessions WHERE token = $1";
    /// Counts the links that were emailed to a user.
    COUNT_VERIFICATIONS = "SELECT COUNT(*) FROM verifications WHERE value = $1";
    SWITCH_OFF = "UPDATE users SET is_active = FALSE WHERE id = $1";
    /// Marks the password of a user as temporary.
    TEMPORARY = "UPDATE users SET must_change_password = TRUE, temporary_password_expires_at = $2 WHERE id = $1";
    /// Sets a password hash in the format of better-auth.
    SET_HASH = "UPDATE accounts SET password = $2 WHERE user_id = $1";
    GET_HASH = "SELECT password FROM accounts WHERE user_id = $1";
    /// Sets the organization that administers an account.
    SET_HOME = "UPDATE users SET home_organization_id = $2 WHERE id = $1";
    /// Counts the failed sign-ins in a school's activity log.
    FAILURES_IN_LOG = "SELECT COUNT(*) FROM activity_logs
        WHERE organization_id = $1 AND entity_id = $2 AND category = 'AUTH' AND action = 'LOGIN_FAILED'";
    /// Moves the end of links and waiting sign-ins into the past.
    AGE_LINKS = "UPDATE verifications SET expires_at = expires_at - $1";
    /// Counts the log entries about the second factor of a user.
    FACTOR_ENTRIES = "SELECT COUNT(*) FROM activity_logs
        WHERE organization_id = $1 AND entity_id = $2 AND category = 'AUTH' AND action = $3";
    /// Forgets the last accepted codes, so that tests need not wait for the next ones.
    FORGET_STEP = "UPDATE second_factors SET last_step = NULL";
    STORED_SECRET = "SELECT secret FROM second_factors WHERE user_id = $1";
    COUNT_USERS = "SELECT COUNT(*) FROM users";
    COUNT_SESSIONS = "SELECT COUNT(*) FROM sessions WHERE user_id = $1";
    /// Returns the time of a user's last sign-in, or 0.
    LAST_LOGIN = "SELECT COALESCE(last_login_at, 0) FROM users WHERE id = $1";
}
