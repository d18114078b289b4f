//! `/auth` as the official client of better-auth knows it, and what is stricter here: failures are counted, revocation
//! holds at once, the cache cookie decides nothing.

mod account;
mod admin;
mod admin_people;
mod impersonation;
mod limits;
mod organization;
mod reset;
mod sessions;
mod sign_in;
mod wire;

pub use test_support::Browser;
pub use test_support::accounts::{PASSWORD, enable, one, run, signed_in};

db::statements! {
    /// Moves the end and the last renewal of a session, as time would.
    AGE_SESSION = "UPDATE sessions SET expires_at = expires_at - $2, updated_at = updated_at - $2 WHERE token = $1";
    /// Moves the beginning of a session.
    AGE_SIGN_IN = "UPDATE sessions SET created_at = created_at - $2 WHERE token = $1";
    /// Lets failures grow old.
    AGE_FAILURES = "UPDATE sign_in_failures SET created_at = created_at - $1";
    /// Forgets failures.
    FORGET_FAILURES = "DELETE FROM sign_in_failures";
    /// Another role.
    SET_ROLE = "UPDATE members SET role = $2 WHERE user_id = $1";
    /// The membership ends.
    END_MEMBERSHIP = "DELETE FROM members WHERE user_id = $1";
    /// Keeps somebody out.
    BAN = "UPDATE users SET banned = TRUE, ban_expires = $2 WHERE id = $1";
    /// Lets a ban grow old.
    AGE_BAN = "UPDATE users SET ban_expires = ban_expires - $2 WHERE id = $1";
    /// Another platform role.
    SET_PLATFORM_ROLE = "UPDATE users SET role = $2 WHERE id = $1";
    /// Ends the session of a token.
    END_SESSION = "DELETE FROM sessions WHERE token = $1";
    /// How many links somebody was mailed.
    COUNT_VERIFICATIONS = "SELECT COUNT(*) FROM verifications WHERE value = $1";
    /// Switches an account off.
    SWITCH_OFF = "UPDATE users SET is_active = FALSE WHERE id = $1";
    /// A temporary password.
    TEMPORARY = "UPDATE users SET must_change_password = TRUE, temporary_password_expires_at = $2 WHERE id = $1";
    /// A hash as better-auth made it.
    SET_HASH = "UPDATE accounts SET password = $2 WHERE user_id = $1";
    /// The hash of somebody.
    GET_HASH = "SELECT password FROM accounts WHERE user_id = $1";
    /// Which school made an account.
    SET_HOME = "UPDATE users SET home_organization_id = $2 WHERE id = $1";
    /// What a school reads about sign-ins that failed.
    FAILURES_IN_LOG = "SELECT COUNT(*) FROM activity_logs
        WHERE organization_id = $1 AND entity_id = $2 AND category = 'AUTH' AND action = 'LOGIN_FAILED'";
    /// How many people there are.
    COUNT_USERS = "SELECT COUNT(*) FROM users";
    /// How many sessions somebody has.
    COUNT_SESSIONS = "SELECT COUNT(*) FROM sessions WHERE user_id = $1";
    /// When somebody last signed in.
    LAST_LOGIN = "SELECT COALESCE(last_login_at, 0) FROM users WHERE id = $1";
}
