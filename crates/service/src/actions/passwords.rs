//! Password changes and resets. Users with a session have to prove their old password; failures count toward the
//! limit of failed sign-ins.

use domain::id::{SessionId, UserId};
use domain::realtime::KillReason;
use domain::time::Timestamp;
use domain::user::User;
use sha2::{Digest as _, Sha256};

use super::{sessions, sign_in};
use adapters::mailer::{Mailer, Recipient};
use common::error::{Error, Result};
use db::platform::sessions::Session;
use db::platform::sign_in::SignInAttempt;
use db::platform::{PlatformTx, PlatformWriteTx};

/// The kind of link that resets a password.
const RESET: &str = "reset-password";
/// The maximum number of reset emails to one user per hour.
const RESET_EMAILS_PER_HOUR_MAX: i64 = 3;
const HOUR_SECONDS: i64 = 60 * 60;

/// A verified old password and the new one.
#[derive(Debug, Clone)]
pub struct VerifiedPasswordChange {
    /// The hash that the old password matched; `None` if it was wrong.
    pub fitted: Option<String>,
    /// The hash of the new password.
    pub hash: String,
    /// The session that replaces all others, if they are to be ended.
    pub successor: Option<Session>,
}

/// A signed-in user who proves the password of their account.
#[derive(Debug, Clone)]
pub struct PasswordCheck {
    pub user: UserId,
    /// The SUPER_ADMIN who impersonates the user.
    pub impersonated_by: Option<UserId>,
    /// The attempt, for the rate limits.
    pub attempt: SignInAttempt,
}

/// Checks the password of a signed-in user and counts a failure. Returns whether it is right.
pub fn verify(
    tx: &mut PlatformWriteTx<'_>,
    prover: &PasswordCheck,
    fitted: Option<&str>,
    now: Timestamp,
) -> Result<bool> {
    let PasswordCheck {
        user,
        impersonated_by,
        attempt,
    } = prover;
    tx.lock_account_of_address(&attempt.account_key)?;
    sign_in::within_limits(tx, attempt, now)?;
    // The password may have changed since its hash was read.
    let right = fitted.is_some() && tx.password_hash(user)?.as_deref() == fitted;
    if !right {
        sign_in::fail(tx, attempt, Some(user.clone()), impersonated_by.clone(), now)?;
    }
    Ok(right)
}

/// Changes the user's own password; returns false if the old one was wrong. With a successor, all other sessions end
/// and it begins.
pub fn change(
    tx: &mut PlatformWriteTx<'_>,
    prover: &PasswordCheck,
    new: &VerifiedPasswordChange,
    now: Timestamp,
) -> Result<bool> {
    if !verify(tx, prover, new.fitted.as_deref(), now)? {
        return Ok(false);
    }
    let user = &prover.user;
    tx.choose_password(user, &new.hash, now)?;
    if let Some(successor) = &new.successor {
        sessions::revoke_all(tx, user, None::<&SessionId>, KillReason::PasswordChanged)?;
        tx.insert_session(successor)?;
    }
    Ok(true)
}

/// Sets the password of the user of a session that was opened with a provisional one, once and within 15 minutes. All
/// other sessions end. Returns false if the session may not.
pub fn choose_new(tx: &mut PlatformWriteTx<'_>, session: &Session, hash: &str, now: Timestamp) -> Result<bool> {
    let user = &session.user_id;
    tx.lock_profile(user)?;
    if !tx.use_new_password(&session.id, user, now)? {
        return Ok(false);
    }
    tx.choose_password(user, hash, now)?;
    sessions::revoke_all(tx, user, Some(&session.id), KillReason::PasswordChanged)?;
    Ok(true)
}

/// Emails a reset link to `path`, unless the limit of emails to the user is reached.
pub fn request_reset(
    tx: &mut PlatformWriteTx<'_>,
    mail: &Mailer,
    user: &UserId,
    token: &str,
    path: &str,
    now: Timestamp,
) -> Result<()> {
    // Locked, so that concurrent requests are counted correctly.
    let person = tx.lock_profile(user)?;
    if person.email.address().is_none() {
        return Ok(());
    }
    if tx.recent_verifications(RESET, user, now.plus_seconds(-HOUR_SECONDS))? >= RESET_EMAILS_PER_HOUR_MAX {
        return Ok(());
    }
    tx.insert_verification(&identifier(token), user, now.plus_seconds(HOUR_SECONDS), now)?;
    let school = tx.settings_of_school(user)?;
    tx.enqueue_email(&mail.password_reset(Recipient::from_user(&person, school.as_ref()), path, now)?)
}

/// Returns whether a reset link is valid.
pub fn is_reset(platform: &mut PlatformTx<'_>, token: &str, now: Timestamp) -> Result<bool> {
    platform.is_verification(&identifier(token), now)
}

/// Returns the user whose password a link resets, if the link is valid.
pub fn find_user_of_reset(platform: &mut PlatformTx<'_>, token: &str, now: Timestamp) -> Result<Option<User>> {
    let owner = platform.owner_of_verification(&identifier(token), now)?;
    owner.map(|user| platform.profile(&user)).transpose()
}

/// Resets a password with an emailed token and consumes it; returns false if the token is invalid.
pub fn reset(tx: &mut PlatformWriteTx<'_>, token: &str, hash: &str, now: Timestamp) -> Result<bool> {
    let Some(user) = tx.take_verification(&identifier(token), now)? else {
        return Ok(false);
    };
    let account = tx.lock_profile(&user);
    match account {
        Ok(account) if account.is_active => {}
        Ok(_) | Err(Error::NotFound) => return Ok(false),
        Err(error) => return Err(error),
    }
    replace(tx, &user, hash, now)?;
    // The token was sent by email, so the email address is verified.
    tx.verify_mailbox(&user, now)?;
    Ok(true)
}

/// Sets a new password: all sessions end, and emailed links become invalid.
pub fn replace(tx: &mut PlatformWriteTx<'_>, user: &UserId, hash: &str, now: Timestamp) -> Result<()> {
    tx.choose_password(user, hash, now)?;
    sessions::revoke_all(tx, user, None, KillReason::PasswordChanged).map(drop)
}

/// Returns the stored form of the token of a reset link.
pub(super) fn identifier(token: &str) -> String {
    link(RESET, token)
}

/// Returns the stored form of the token of an emailed link: a hash, so that tokens cannot be recovered from a backup.
pub(super) fn link(kind: &str, token: &str) -> String {
    let digest = Sha256::digest(token.as_bytes());
    digest
        .iter()
        .fold(format!("{kind}:"), |text, byte| text + &format!("{byte:02x}"))
}
