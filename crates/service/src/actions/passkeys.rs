//! Adding, renaming and removing the passkeys of an account, and the challenges that bind a passkey to a browser. Sign-ins
//! are in `passkey_sign_in`.

use domain::change::{PasskeyEvent, SessionChange};
use domain::domain_error::DomainError;
use domain::id::{OrganizationId, PasskeyId, SessionId, UserId};
use domain::passkey::{CHALLENGE_SECONDS, PASSKEYS_MAX, Passkey, SignatureCounter, is_fresh, stored_transports};
use domain::realtime::KillReason;
use domain::text::ShortName;
use domain::time::Timestamp;
use sha2::{Digest as _, Sha256};
use webauthn::{RegistrationResponse, RelyingParty};

use super::passwords::link;
use super::{second_factor, sessions};
use adapters::mailer::{Mailer, PasskeyNotice, Recipient};
use common::clock;
use common::error::{Error, Result};
use db::platform::sessions::Session;
use db::platform::{PlatformTx, PlatformWriteTx};

/// The kind of a challenge that was used up.
const USED_CHALLENGE: &str = "passkey-challenge";
/// Separates the parts of a challenge in the cookie.
const SEPARATOR: char = '~';

/// What a challenge was issued for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ceremony {
    /// Adding a passkey in this session.
    Registration(SessionId),
    /// Signing in with a passkey alone.
    SignIn,
    /// Signing in again, in this session of the same user.
    Reauthentication(SessionId),
    /// The second step of the waiting sign-in with this digest.
    SecondStep(String),
}

/// A challenge for an authenticator. The browser keeps it in a signed cookie until it is used, so that requests without a
/// session store nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasskeyChallenge {
    /// As base64url without padding.
    pub text: String,
    pub ceremony: Ceremony,
    pub expires_at: Timestamp,
}

impl PasskeyChallenge {
    /// Generates a challenge that is valid from now on.
    pub fn issue(ceremony: Ceremony, now: Timestamp) -> Self {
        Self {
            text: better_auth::token::session_token(),
            ceremony,
            expires_at: now.plus_seconds(CHALLENGE_SECONDS),
        }
    }

    /// Returns the value of the cookie, which has to be signed.
    pub fn to_cookie(&self) -> String {
        let (kind, binding) = match &self.ceremony {
            Ceremony::Registration(session) => ("registration", session.as_str()),
            Ceremony::SignIn => ("sign-in", ""),
            Ceremony::Reauthentication(session) => ("reauthentication", session.as_str()),
            Ceremony::SecondStep(pending) => ("second-step", pending.as_str()),
        };
        let expires_at = self.expires_at.as_millis();
        format!(
            "{kind}{SEPARATOR}{binding}{SEPARATOR}{expires_at}{SEPARATOR}{}",
            self.text
        )
    }

    /// Parses the value of a cookie whose signature was verified; `None` if it has expired.
    pub fn from_cookie(value: &str, now: Timestamp) -> Option<Self> {
        let mut parts = value.split(SEPARATOR);
        let (kind, binding, expires_at, text) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let ceremony = match kind {
            "registration" => Ceremony::Registration(SessionId::new(binding)),
            "sign-in" => Ceremony::SignIn,
            "reauthentication" => Ceremony::Reauthentication(SessionId::new(binding)),
            "second-step" => Ceremony::SecondStep(binding.to_owned()),
            _ => return None,
        };
        let expires_at = Timestamp::from_millis(expires_at.parse().ok()?);
        (expires_at >= now).then(|| Self {
            text: text.to_owned(),
            ceremony,
            expires_at,
        })
    }

    /// Uses up the challenge; returns false if it was used before.
    pub(super) fn consume(&self, tx: &mut PlatformTx<'_>, now: Timestamp) -> Result<bool> {
        tx.use_challenge(&link(USED_CHALLENGE, &self.text), self.expires_at, now)
    }
}

/// Returns the form in which a challenge names a waiting sign-in.
pub fn pending_digest(token: &str) -> String {
    link(second_factor::PENDING, token)
}

/// Returns the handle under which authenticators store the passkey of a user. It does not contain the id of the user,
/// because authenticators show handles to other software.
pub fn user_handle(user: &UserId) -> Vec<u8> {
    Sha256::digest(format!("groupwork passkey {user}")).to_vec()
}

/// A passkey to add.
#[derive(Debug, Clone)]
pub struct NewPasskey {
    pub session: Session,
    pub challenge: PasskeyChallenge,
    pub response: RegistrationResponse,
    pub name: Option<ShortName>,
    pub relying_party: RelyingParty,
    /// The client address.
    pub address: String,
}

/// The result of adding, renaming or removing a passkey.
#[derive(Debug, Clone)]
pub enum PasskeyResult<T> {
    Done(T),
    /// A SUPER_ADMIN acts as the user.
    Impersonated,
    /// The sign-in and the last proof of the password are too long ago.
    NotFresh,
    /// The challenge is of another ceremony or session, or was used before.
    UnknownChallenge,
    /// The response of the authenticator is not accepted.
    Rejected,
    /// The credential belongs to an account already.
    AlreadyRegistered,
    /// There is no such passkey.
    NotFound,
    /// The passkey belongs to another user.
    Foreign,
}

/// Adds a passkey to the account of a session. With the first second factor of the account all other sessions end, because
/// they were opened without it. The user is notified by email.
pub fn add(
    tx: &mut PlatformWriteTx<'_>,
    new: &NewPasskey,
    mail: &Mailer,
    now: Timestamp,
) -> Result<PasskeyResult<Passkey>> {
    let session = &new.session;
    let user = &session.user_id;
    let account = tx.lock_account(user)?;
    if let Some(rejected) = check_session(tx, session, now)? {
        return Ok(rejected);
    }
    if new.challenge.ceremony != Ceremony::Registration(session.id.clone()) {
        return Ok(PasskeyResult::UnknownChallenge);
    }
    let verified = new
        .relying_party
        .verify_registration(&new.challenge.text, &new.response);
    let key = match verified {
        Ok(key) => key,
        Err(error) => {
            tracing::warn!(user_id = %user, reason = error.code(), "registration of a passkey rejected");
            return Ok(PasskeyResult::Rejected);
        }
    };
    if !new.challenge.consume(tx, now)? {
        return Ok(PasskeyResult::UnknownChallenge);
    }
    DomainError::check_limit("passkeys", tx.count_passkeys(user)? + 1, PASSKEYS_MAX)?;
    let passkey = Passkey {
        id: PasskeyId::new(clock::new_id()),
        user_id: user.clone(),
        name: new.name.clone(),
        credential_id: key.credential_id,
        public_key: key.public_key,
        counter: SignatureCounter(i64::from(key.counter)),
        transports: stored_transports(&new.response.response.transports),
        is_backup_eligible: key.is_backup_eligible,
        is_backed_up: key.is_backed_up,
        aaguid: uuid_text(key.aaguid),
        limited_to: limit_of(tx, session)?,
        created_at: now,
        last_used_at: None,
    };
    if !tx.insert_passkey(&passkey)? {
        return Ok(PasskeyResult::AlreadyRegistered);
    }
    tx.mark_second_factor(user)?;
    if !account.user.has_second_factor {
        sessions::revoke_all(tx, user, Some(&session.id), KillReason::Revoked)?;
    }
    notify(tx, mail, &passkey, PasskeyNotice::Added, now)?;
    record(tx, &passkey, PasskeyEvent::Added, &new.address);
    Ok(PasskeyResult::Done(passkey))
}

/// Renames a passkey of the user of a session.
pub fn rename(
    tx: &mut PlatformWriteTx<'_>,
    session: &Session,
    id: &PasskeyId,
    name: &ShortName,
) -> Result<PasskeyResult<Passkey>> {
    if session.impersonated_by.is_some() {
        return Ok(PasskeyResult::Impersonated);
    }
    sessions::may_use_account(tx, session)?;
    let passkey = match find(tx, session, id)? {
        PasskeyResult::Done(passkey) => passkey,
        other => return Ok(other),
    };
    tx.rename_passkey(id, name)?;
    Ok(PasskeyResult::Done(Passkey {
        name: Some(name.clone()),
        ..passkey
    }))
}

/// Removes a passkey of the user of a session, and notifies the user by email. `is_required` is whether the user is required
/// to have a second factor: then the last one cannot be removed.
pub fn remove(
    tx: &mut PlatformWriteTx<'_>,
    session: &Session,
    id: &PasskeyId,
    is_required: bool,
    address: &str,
    mail: &Mailer,
    now: Timestamp,
) -> Result<PasskeyResult<()>> {
    let user = &session.user_id;
    tx.lock_account(user)?;
    let passkey = match find(tx, session, id)? {
        PasskeyResult::Done(passkey) => passkey,
        other => return Ok(other.map(drop)),
    };
    if let Some(rejected) = check_session(tx, session, now)? {
        return Ok(rejected);
    }
    tx.delete_passkey(id, user)?;
    tx.mark_second_factor(user)?;
    let has_factor = tx.account(user)?.user.has_second_factor;
    if !has_factor && is_required {
        return Err(Error::SecondFactorRequired);
    }
    if !has_factor {
        // Recovery codes replace a second factor, and there is none any more.
        tx.delete_authenticator_app(user)?;
        second_factor::end_without_factor(tx, user)?;
    }
    notify(tx, mail, &passkey, PasskeyNotice::Removed, now)?;
    record(tx, &passkey, PasskeyEvent::Removed, address);
    Ok(PasskeyResult::Done(()))
}

/// Notifies the user of a passkey, in the language of the user, the school or the installation.
fn notify(
    tx: &mut PlatformWriteTx<'_>,
    mail: &Mailer,
    passkey: &Passkey,
    notice: PasskeyNotice,
    now: Timestamp,
) -> Result<()> {
    let profile = tx.profile(&passkey.user_id)?;
    if profile.email_verified {
        let school = tx.settings_of_school(&passkey.user_id)?;
        let to = Recipient::from_user(&profile, school.as_ref());
        tx.enqueue_email(&mail.passkey_notice(to, notice, passkey.label(), now)?)?;
    }
    Ok(())
}

/// Rejects changes of passkeys in a session that proves too little: a passkey outlasts it.
fn check_session<T>(tx: &mut PlatformTx<'_>, session: &Session, now: Timestamp) -> Result<Option<PasskeyResult<T>>> {
    if session.impersonated_by.is_some() {
        return Ok(Some(PasskeyResult::Impersonated));
    }
    sessions::may_use_account(tx, session)?;
    let fresh = is_fresh(session.created_at, session.confirmed_at, now);
    Ok((!fresh).then_some(PasskeyResult::NotFresh))
}

fn find(tx: &mut PlatformTx<'_>, session: &Session, id: &PasskeyId) -> Result<PasskeyResult<Passkey>> {
    Ok(match tx.passkey(id)? {
        None => PasskeyResult::NotFound,
        Some(passkey) if passkey.user_id != session.user_id => PasskeyResult::Foreign,
        Some(passkey) => PasskeyResult::Done(passkey),
    })
}

/// Returns the organization whose administrators could have opened the session.
fn limit_of(tx: &mut PlatformTx<'_>, session: &Session) -> Result<Option<OrganizationId>> {
    if let Some(sign_on) = &session.sign_on {
        return Ok(Some(sign_on.organization_id.clone()));
    }
    let mailbox = tx.mailbox(&session.user_id)?;
    Ok(mailbox.and_then(|mailbox| mailbox.password_organization))
}

fn uuid_text(bytes: [u8; 16]) -> String {
    let hex = format!("{:032x}", u128::from_be_bytes(bytes));
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

pub(super) fn record(tx: &mut PlatformWriteTx<'_>, passkey: &Passkey, event: PasskeyEvent, address: &str) {
    tx.record(SessionChange::Passkey {
        user: passkey.user_id.clone(),
        event,
        name: passkey.label().to_owned(),
        address: Some(address.to_owned()),
    });
}

impl<T> PasskeyResult<T> {
    fn map<U>(self, done: impl FnOnce(T) -> U) -> PasskeyResult<U> {
        match self {
            Self::Done(value) => PasskeyResult::Done(done(value)),
            Self::Impersonated => PasskeyResult::Impersonated,
            Self::NotFresh => PasskeyResult::NotFresh,
            Self::UnknownChallenge => PasskeyResult::UnknownChallenge,
            Self::Rejected => PasskeyResult::Rejected,
            Self::AlreadyRegistered => PasskeyResult::AlreadyRegistered,
            Self::NotFound => PasskeyResult::NotFound,
            Self::Foreign => PasskeyResult::Foreign,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    #[test]
    fn challenge_survives_the_cookie_until_it_expires() {
        let session = SessionId::new("0190-a");
        for ceremony in [
            Ceremony::Registration(session.clone()),
            Ceremony::SignIn,
            Ceremony::Reauthentication(session),
            Ceremony::SecondStep(pending_digest("token")),
        ] {
            let challenge = PasskeyChallenge::issue(ceremony, NOW);
            let cookie = challenge.to_cookie();
            let end = NOW.plus_seconds(CHALLENGE_SECONDS);
            assert_eq!(PasskeyChallenge::from_cookie(&cookie, end), Some(challenge));
            assert_eq!(PasskeyChallenge::from_cookie(&cookie, end.plus_seconds(1)), None);
        }
        assert_eq!(PasskeyChallenge::from_cookie("sign-in~~x~y", NOW), None);
    }

    #[test]
    fn model_of_an_authenticator_is_a_uuid() {
        let bytes = [
            0xea, 0x9b, 0x8d, 0x66, 0x4d, 1, 0x1d, 0x21, 0x3c, 0xe4, 0xb6, 0xb4, 0x8c, 0xb5, 0x75, 0xd4,
        ];
        assert_eq!(uuid_text(bytes), "ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4");
    }
}
