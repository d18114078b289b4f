//! Signing in with a passkey: alone, which requires that the authenticator verified the user, or as the second step of
//! another sign-in. Rejected assertions count as failed sign-ins; the limits are checked in the transaction that counts.

use domain::change::{PasskeyEvent, SessionChange, SignInKind};
use domain::id::{SessionId, UserId};
use domain::passkey::{Passkey, SignatureCounter};
use domain::second_factor::ATTEMPTS_MAX;
use domain::time::Timestamp;
use webauthn::{Assertion, AssertionResponse, RelyingParty};

use super::passkeys::{Ceremony, PasskeyChallenge, pending_digest, record, user_handle};
use super::{passwords, sign_in};
use common::error::Result;
use db::platform::PlatformWriteTx;
use db::platform::second_factors::PendingSession;
use db::platform::sessions::Session;
use db::platform::sign_in::SignInAttempt;

/// The kind of the key under which failures of an unknown credential are counted. No account has such a key.
const UNKNOWN: &str = "!passkey";

/// An assertion that a browser presents.
#[derive(Debug, Clone)]
pub struct PasskeySignIn {
    pub challenge: PasskeyChallenge,
    pub response: AssertionResponse,
    pub relying_party: RelyingParty,
    /// The client address, for the limits.
    pub address: String,
    /// The session of the request.
    pub current: Option<(SessionId, UserId)>,
    /// The token of the sign-in that waits in this browser.
    pub pending: Option<String>,
    /// The session to insert on success; its user is filled in here.
    pub session: Session,
}

/// The result of an assertion.
#[derive(Debug, Clone)]
pub enum PasskeySignInResult {
    Opened(Box<Session>),
    /// The challenge is of another session or sign-in, or was used before.
    UnknownChallenge,
    UnknownPasskey,
    /// The assertion is not accepted, or the account is not active. Clients cannot distinguish these.
    Rejected,
    Banned,
    /// The school requires its sign-on provider.
    PasswordsOff,
    /// The passkey is a second factor only.
    NotSufficient,
    /// The waiting sign-in has ended after too many failures.
    TooManyAttempts,
}

/// Verifies an assertion and opens a session, or counts a failure.
pub fn sign_in_with_passkey(
    tx: &mut PlatformWriteTx<'_>,
    sign_in: &PasskeySignIn,
    now: Timestamp,
) -> Result<PasskeySignInResult> {
    let Some(found) = tx.passkey_of_credential(&sign_in.response.id)? else {
        return unknown(tx, sign_in, now);
    };
    let account = tx.lock_account(&found.user_id)?;
    // Read again under the lock: a concurrent request may have used or removed the passkey.
    let Some(passkey) = tx.passkey_of_credential(&sign_in.response.id)? else {
        return unknown(tx, sign_in, now);
    };
    let attempt = SignInAttempt {
        account_key: account.user.email.stored_form().to_owned(),
        address: sign_in.address.clone(),
    };
    sign_in::within_limits(tx, &attempt, now)?;
    let pending = match begin(tx, sign_in, &passkey, now)? {
        Ok(pending) => pending,
        Err(result) => return Ok(result),
    };
    let assertion = match verify(sign_in, &passkey) {
        Ok(assertion) => assertion,
        Err(event) => {
            tx.insert_failure(&attempt, now)?;
            if let Ceremony::SecondStep(identifier) = &sign_in.challenge.ceremony {
                tx.count_attempt(identifier)?;
            }
            record(tx, &passkey, event, &sign_in.address);
            return Ok(PasskeySignInResult::Rejected);
        }
    };
    if !sign_in.challenge.consume(tx, now)? {
        return Ok(PasskeySignInResult::UnknownChallenge);
    }
    let counter = SignatureCounter(i64::from(assertion.counter));
    tx.record_passkey_use(&passkey.id, counter, assertion.is_backed_up, now)?;
    if !account.is_active {
        return Ok(PasskeySignInResult::Rejected);
    }
    if account.ban_at(now).is_some() {
        return Ok(PasskeySignInResult::Banned);
    }
    let session = match pending {
        Some(pending) => {
            if let Ceremony::SecondStep(identifier) = &sign_in.challenge.ceremony {
                tx.delete_verification(identifier)?;
            }
            pending.complete(sign_in.session.clone())
        }
        None => match alone(tx, sign_in, &passkey, now)? {
            Ok(session) => session,
            Err(result) => return Ok(result),
        },
    };
    tx.lift_ban(&passkey.user_id, now)?;
    tx.insert_success(&passkey.user_id, &attempt, now)?;
    let session = sign_in::insert_session(tx, passkey.user_id.clone(), session, now)?;
    tx.record(SessionChange::SignedIn {
        user: passkey.user_id.clone(),
        kind: SignInKind::Passkey,
        name: passkey.label().to_owned(),
        organization: None,
        address: Some(sign_in.address.clone()),
    });
    Ok(PasskeySignInResult::Opened(Box::new(session)))
}

/// Counts a credential that no account has.
fn unknown(tx: &mut PlatformWriteTx<'_>, sign_in: &PasskeySignIn, now: Timestamp) -> Result<PasskeySignInResult> {
    let attempt = SignInAttempt {
        account_key: passwords::link(UNKNOWN, &sign_in.response.id),
        address: sign_in.address.clone(),
    };
    sign_in::within_limits(tx, &attempt, now)?;
    tx.insert_failure(&attempt, now)?;
    Ok(PasskeySignInResult::UnknownPasskey)
}

/// Checks that the challenge was issued for this browser and this user. Returns what the first step of a waiting sign-in
/// determines of the session.
fn begin(
    tx: &mut PlatformWriteTx<'_>,
    sign_in: &PasskeySignIn,
    passkey: &Passkey,
    now: Timestamp,
) -> Result<std::result::Result<Option<PendingSession>, PasskeySignInResult>> {
    match &sign_in.challenge.ceremony {
        Ceremony::Registration(_) => Ok(Err(PasskeySignInResult::UnknownChallenge)),
        Ceremony::SignIn => Ok(Ok(None)),
        Ceremony::Reauthentication(session) => {
            let is_current = sign_in
                .current
                .as_ref()
                .is_some_and(|(current, user)| current == session && *user == passkey.user_id);
            Ok(if is_current {
                Ok(None)
            } else {
                Err(PasskeySignInResult::UnknownChallenge)
            })
        }
        Ceremony::SecondStep(identifier) => {
            if sign_in.pending.as_deref().map(pending_digest).as_ref() != Some(identifier) {
                return Ok(Err(PasskeySignInResult::UnknownChallenge));
            }
            let waiting = tx.pending_sign_in(identifier, now)?;
            let Some(waiting) = waiting.filter(|waiting| waiting.user == passkey.user_id) else {
                return Ok(Err(PasskeySignInResult::UnknownChallenge));
            };
            if waiting.attempts >= ATTEMPTS_MAX {
                tx.delete_verification(identifier)?;
                return Ok(Err(PasskeySignInResult::TooManyAttempts));
            }
            Ok(Ok(Some(waiting.session)))
        }
    }
}

/// Verifies the assertion with the stored key. The user must have been verified unless the passkey is the second of two
/// factors, and the counter must grow.
fn verify(sign_in: &PasskeySignIn, passkey: &Passkey) -> std::result::Result<Assertion, PasskeyEvent> {
    let reject = |reason: &str| {
        tracing::warn!(user_id = %passkey.user_id, passkey_id = %passkey.id, reason, "assertion of a passkey rejected");
        PasskeyEvent::Rejected
    };
    let (challenge, response) = (&sign_in.challenge.text, &sign_in.response);
    let handle = response.user_handle().map_err(|error| reject(error.code()))?;
    if handle.is_some_and(|handle| handle != user_handle(&passkey.user_id)) {
        return Err(reject("wrong_user_handle"));
    }
    let assertion = sign_in
        .relying_party
        .verify_assertion(challenge, &passkey.public_key, response)
        .map_err(|error| reject(error.code()))?;
    let is_second = matches!(sign_in.challenge.ceremony, Ceremony::SecondStep(_));
    if !is_second && !assertion.is_user_verified {
        return Err(reject("user_not_verified"));
    }
    if !passkey.counter.accepts(SignatureCounter(i64::from(assertion.counter))) {
        reject("counter_regressed");
        return Err(PasskeyEvent::CounterRegressed);
    }
    Ok(assertion)
}

/// Returns the session of a sign-in with nothing but a passkey.
fn alone(
    tx: &mut PlatformWriteTx<'_>,
    sign_in: &PasskeySignIn,
    passkey: &Passkey,
    now: Timestamp,
) -> Result<std::result::Result<Session, PasskeySignInResult>> {
    let user = &passkey.user_id;
    let mailbox = tx.mailbox(user)?;
    let password_of = mailbox.and_then(|mailbox| mailbox.password_organization);
    if !passkey.is_sufficient(password_of.as_ref()) {
        return Ok(Err(PasskeySignInResult::NotSufficient));
    }
    // A school that requires its provider decides there who may sign in.
    if !tx.may_sign_in_with_password(user)? {
        return Ok(Err(PasskeySignInResult::PasswordsOff));
    }
    let is_provisional = tx.profile(user)?.must_change_password;
    Ok(Ok(Session {
        new_password_until: is_provisional.then(|| now.plus_seconds(sign_in::NEW_PASSWORD_SECONDS)),
        ..sign_in.session.clone()
    }))
}
