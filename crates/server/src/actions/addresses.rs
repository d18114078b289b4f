//! Another address for the own account: asked for with the password, confirmed by a link in a letter to the new address,
//! told to the old one. Nobody learns whether the new address has an account already.

use model::time::Timestamp;

use super::passwords::{self, Prover};
use crate::error::{Error, Result};
use crate::store::platform::PlatformWork;

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
}

/// How asking for another address ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// The password was wrong.
    Wrong,
    /// Letters go out.
    Told,
    /// Nothing goes out, and nobody is told why: the address belongs to somebody.
    Silent,
}

/// Remembers the link to the new address; a wrong password counts as a failed sign-in.
pub fn ask(work: &mut PlatformWork<'_>, prover: &Prover, new: &NewAddress, now: Timestamp) -> Result<Asked> {
    if !passwords::prove(work, prover, new.fitted.as_deref(), now)? {
        return Ok(Asked::Wrong);
    }
    let user = &prover.user;
    work.profile_to_change(user)?;
    if work.recent_verifications(KIND, user, now.plus_seconds(-HOUR))? >= LETTERS {
        let retry_after = u64::try_from(HOUR).unwrap_or(u64::MAX);
        return Err(Error::RateLimited { retry_after });
    }
    let identifier = passwords::link(KIND, &new.token);
    work.insert_address_link(&identifier, user, &new.address, now.plus_seconds(HOUR), now)?;
    let is_taken = work.user_with_email(&new.address)?.is_some();
    Ok(if is_taken { Asked::Silent } else { Asked::Told })
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
    if !account.is_active || work.user_with_email(&address)?.is_some() {
        return Ok(false);
    }
    work.change_address(&user, &address, now)?;
    // The old mailbox has no business with this account any more.
    work.take_back_verifications(KIND, &user)?;
    work.take_back_verifications(passwords::RESET, &user)?;
    Ok(true)
}
