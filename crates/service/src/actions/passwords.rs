//! Choosing another password. Whoever holds a session must still prove the old one, as often as a sign-in may be wrong.

use model::id::{SessionId, UserId};
use model::news::KillReason;
use model::time::Timestamp;
use model::user::User;
use sha2::{Digest as _, Sha256};

use super::{sessions, sign_in};
use adapters::mail::{Mail, Recipient};
use common::error::{Error, Result};
use db::platform::sessions::Session;
use db::platform::sign_in::Attempt;
use db::platform::{Platform, PlatformWork};

/// The kind of link that resets a password.
const RESET: &str = "reset-password";
/// Mails to one person within an hour (contract 9).
const RESET_MAILS: i64 = 3;
const HOUR: i64 = 60 * 60;

/// A password that was proved, and the one to come.
#[derive(Debug, Clone)]
pub struct NewPassword {
    /// The hash that the old password fitted; nothing when it was wrong.
    pub fitted: Option<String>,
    /// The hash of the new password.
    pub hash: String,
    /// The session that goes on alone when all others shall end.
    pub successor: Option<Session>,
}

/// Somebody signed in who proves the password of the account he is in.
#[derive(Debug, Clone)]
pub struct Prover {
    /// The account.
    pub user: UserId,
    /// The super admin who acts as this person.
    pub impersonated_by: Option<UserId>,
    /// How the limits count it.
    pub attempt: Attempt,
}

/// Counts the proof of a password by somebody signed in: right, or one failure more.
pub fn prove(work: &mut PlatformWork<'_>, prover: &Prover, fitted: Option<&str>, now: Timestamp) -> Result<bool> {
    let Prover {
        user,
        impersonated_by,
        attempt,
    } = prover;
    work.hold_account(&attempt.account_key)?;
    sign_in::within_limits(work, attempt, now)?;
    // The password may have changed since its hash was read.
    let right = fitted.is_some() && work.password_hash(user)?.as_deref() == fitted;
    if !right {
        sign_in::fail(work, attempt, Some(user.clone()), impersonated_by.clone(), now)?;
    }
    Ok(right)
}

/// Changes the own password; false when the old one was wrong. With a successor, all other sessions end and it begins.
pub fn change(work: &mut PlatformWork<'_>, prover: &Prover, new: &NewPassword, now: Timestamp) -> Result<bool> {
    if !prove(work, prover, new.fitted.as_deref(), now)? {
        return Ok(false);
    }
    let user = &prover.user;
    work.choose_password(user, &new.hash, now)?;
    if let Some(successor) = &new.successor {
        sessions::revoke_all(work, user, None::<&SessionId>, KillReason::PasswordChanged)?;
        work.insert_session(successor)?;
    }
    Ok(true)
}

/// Sends a reset link, unless the person was sent enough of them; `path` leads to the link's page.
pub fn request_reset(
    work: &mut PlatformWork<'_>,
    mail: &Mail,
    user: &UserId,
    token: &str,
    path: &str,
    now: Timestamp,
) -> Result<()> {
    // Held, so that several at once are counted one after the other.
    let person = work.profile_to_change(user)?;
    if work.recent_verifications(RESET, user, now.plus_seconds(-HOUR))? >= RESET_MAILS {
        return Ok(());
    }
    work.insert_verification(&identifier(token), user, now.plus_seconds(HOUR), now)?;
    work.insert_letter(&mail.password_reset(Recipient::of(&person), path, now)?)
}

/// Whether a reset link still works.
pub fn is_reset(platform: &mut Platform<'_>, token: &str, now: Timestamp) -> Result<bool> {
    platform.is_verification(&identifier(token), now)
}

/// The person whose password a link resets, if it still works.
pub fn whose_reset(platform: &mut Platform<'_>, token: &str, now: Timestamp) -> Result<Option<User>> {
    let owner = platform.owner_of_verification(&identifier(token), now)?;
    owner.map(|user| platform.profile(&user)).transpose()
}

/// Resets a password with a mailed token, which then is used up; false when it is worth nothing.
pub fn reset(work: &mut PlatformWork<'_>, token: &str, hash: &str, now: Timestamp) -> Result<bool> {
    let Some(user) = work.take_verification(&identifier(token), now)? else {
        return Ok(false);
    };
    let account = work.profile_to_change(&user);
    match account {
        Ok(account) if account.is_active => {}
        Ok(_) | Err(Error::NotFound) => return Ok(false),
        Err(error) => return Err(error),
    }
    replace(work, &user, hash, now)?;
    // The link came out of the mailbox.
    work.prove_mailbox(&user, now)?;
    Ok(true)
}

/// Stores another password than the one that is known: all sessions end, and links that went out are worth nothing.
pub fn replace(work: &mut PlatformWork<'_>, user: &UserId, hash: &str, now: Timestamp) -> Result<()> {
    work.choose_password(user, hash, now)?;
    sessions::revoke_all(work, user, None, KillReason::PasswordChanged).map(drop)
}

/// How the token of a reset link is stored.
pub(super) fn identifier(token: &str) -> String {
    link(RESET, token)
}

/// How the token of a mailed link is stored: whoever reads a backup can do nothing with it.
pub(super) fn link(kind: &str, token: &str) -> String {
    let digest = Sha256::digest(token.as_bytes());
    digest
        .iter()
        .fold(format!("{kind}:"), |text, byte| text + &format!("{byte:02x}"))
}
