//! Changes the email address of the caller's account. The request needs the password, a link emailed to the new
//! address confirms it, and the old address is notified. Responses do not reveal whether the new address already has
//! an account.

use domain::domain_error::DomainError;
use domain::time::Timestamp;

use super::acceptance;
use super::passwords::{self, PasswordCheck};
use adapters::mailer::{Mailer, Recipient};
use common::error::{Error, Result};
use db::platform::PlatformWriteTx;

/// The kind of the verification link.
const KIND: &str = "change-email";
/// The maximum number of emails to one user per hour, the same as for password resets.
const EMAILS_PER_HOUR_MAX: i64 = 3;
const HOUR_SECONDS: i64 = 60 * 60;

/// A requested change of the email address.
#[derive(Debug, Clone)]
pub struct NewAddress {
    /// The hash that the password matched; `None` if the password was wrong.
    pub fitted: Option<String>,
    /// The new address in its normalized form.
    pub address: String,
    /// The secret token of the link.
    pub token: String,
    /// The path of the link, relative to `FRONTEND_URL`.
    pub path: String,
}

/// Enqueues an email to both addresses and stores the link to the new one. Returns false if the password was wrong,
/// which counts as a failed sign-in. If the new address already has an account, only the old address gets an email.
pub fn request_change(
    tx: &mut PlatformWriteTx<'_>,
    mail: &Mailer,
    prover: &PasswordCheck,
    new: &NewAddress,
    now: Timestamp,
) -> Result<bool> {
    if !passwords::verify(tx, prover, new.fitted.as_deref(), now)? {
        return Ok(false);
    }
    let user = &prover.user;
    let person = tx.lock_profile(user)?;
    if acceptance::is_confined(tx, user)? {
        return Err(DomainError::SharedAccount.into());
    }
    if tx.recent_verifications(KIND, user, now.plus_seconds(-HOUR_SECONDS))? >= EMAILS_PER_HOUR_MAX {
        let retry_after = u64::try_from(HOUR_SECONDS).unwrap_or(u64::MAX);
        return Err(Error::RateLimited { retry_after });
    }
    let identifier = passwords::link(KIND, &new.token);
    tx.insert_address_link(&identifier, user, &new.address, now.plus_seconds(HOUR_SECONDS), now)?;
    let school = tx.settings_of_school(user)?;
    let old = Recipient::from_user(&person, school.as_ref());
    let to = Recipient {
        address: &new.address,
        ..old
    };
    // Both emails are always rendered, so that the response time does not reveal whether the account exists.
    let confirmation = mail.address_confirmation(to, &new.path, now)?;
    let notice = person
        .email
        .address()
        .is_some()
        .then(|| mail.address_notice(old, &new.address, "/", now));
    if tx.user_with_email(&new.address)?.is_none() {
        tx.enqueue_email(&confirmation)?;
    }
    if let Some(notice) = notice {
        tx.enqueue_email(&notice?)?;
    }
    Ok(true)
}

/// Consumes a link and changes the address of the account. Returns false if the link is invalid or another account
/// took the address in the meantime.
pub fn confirm(tx: &mut PlatformWriteTx<'_>, token: &str, now: Timestamp) -> Result<bool> {
    let Some((user, address)) = tx.take_address_link(&passwords::link(KIND, token), now)? else {
        return Ok(false);
    };
    let account = match tx.lock_profile(&user) {
        Ok(account) => account,
        Err(Error::NotFound) => return Ok(false),
        Err(error) => return Err(error),
    };
    if !account.is_active || tx.user_with_email(&address)?.is_some() || acceptance::is_confined(tx, &user)? {
        return Ok(false);
    }
    tx.change_address(&user, &address, now)?;
    tx.move_sign_in_history(account.email.stored_form(), &address)?;
    // Links sent to the old address must not work any more.
    tx.delete_verifications(&user)?;
    Ok(true)
}
