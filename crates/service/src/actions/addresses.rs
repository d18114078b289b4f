//! Another address for the own account: asked for with the password, confirmed by a link in a letter to the new address,
//! told to the old one. Nobody learns whether the new address has an account already.

use model::refusal::Refusal;
use model::time::Timestamp;

use super::acceptance;
use super::passwords::{self, Prover};
use adapters::mail::{Mail, Recipient};
use common::error::{Error, Result};
use db::platform::PlatformWork;

/// The kind of link that confirms an address.
const KIND: &str = "change-email";
/// Letters to one person within an hour, as for passwords (contract 9).
const LETTERS: i64 = 3;
const HOUR: i64 = 60 * 60;

/// Another address that somebody asks for.
#[derive(Debug, Clone)]
pub struct NewAddress {
    /// The hash that the password fitted; nothing when it was wrong.
    pub fitted: Option<String>,
    /// The address in its stored spelling.
    pub address: String,
    /// The secret of the link.
    pub token: String,
    /// Where the link leads, below FRONTEND_URL.
    pub path: String,
}

/// Lets letters to both addresses go out and remembers the link to the new one; false when the password was wrong, which
/// counts as a failed sign-in. Where the new address belongs to somebody, only the old one hears of it.
pub fn ask(
    work: &mut PlatformWork<'_>,
    mail: &Mail,
    prover: &Prover,
    new: &NewAddress,
    now: Timestamp,
) -> Result<bool> {
    if !passwords::prove(work, prover, new.fitted.as_deref(), now)? {
        return Ok(false);
    }
    let user = &prover.user;
    let person = work.profile_to_change(user)?;
    if acceptance::is_confined(work, user)? {
        return Err(Refusal::SharedAccount.into());
    }
    if work.recent_verifications(KIND, user, now.plus_seconds(-HOUR))? >= LETTERS {
        let retry_after = u64::try_from(HOUR).unwrap_or(u64::MAX);
        return Err(Error::RateLimited { retry_after });
    }
    let identifier = passwords::link(KIND, &new.token);
    work.insert_address_link(&identifier, user, &new.address, now.plus_seconds(HOUR), now)?;
    let old = Recipient::of(&person);
    let to = Recipient {
        address: &new.address,
        ..old
    };
    // Both are written, so that the time of the answer tells nothing.
    let confirmation = mail.address_confirmation(to, &new.path, now)?;
    let notice = mail.address_notice(old, &new.address, "/", now)?;
    if work.user_with_email(&new.address)?.is_none() {
        work.insert_letter(&confirmation)?;
    }
    work.insert_letter(&notice)?;
    Ok(true)
}

/// Uses up a link: the account has the new address now. False when the link is worth nothing, or the address was given to
/// somebody else meanwhile.
pub fn confirm(work: &mut PlatformWork<'_>, token: &str, now: Timestamp) -> Result<bool> {
    let Some((user, address)) = work.take_address_link(&passwords::link(KIND, token), now)? else {
        return Ok(false);
    };
    let account = match work.profile_to_change(&user) {
        Ok(account) => account,
        Err(Error::NotFound) => return Ok(false),
        Err(error) => return Err(error),
    };
    if !account.is_active || work.user_with_email(&address)?.is_some() || acceptance::is_confined(work, &user)? {
        return Ok(false);
    }
    work.change_address(&user, &address, now)?;
    work.move_sign_in_history(&account.email, &address)?;
    // The old mailbox has no business with this account any more.
    work.delete_verifications(&user)?;
    Ok(true)
}
