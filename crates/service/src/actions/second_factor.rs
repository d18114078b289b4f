//! Second factors: authenticator app, recovery codes, and the second step of a sign-in. Passkeys are in `passkeys`. Whether a sign-in needs the second step is decided in
//! `sign_in::open_session` alone. Wrong codes are counted for the waiting sign-in, for the account, and toward the limits
//! of failed sign-ins; all are checked in the transaction that counts them.

use better_auth::timestamp::UnixMillis;
use better_auth::totp::{TotpSecret, recovery_code, recovery_code_hash};
use domain::change::{SecondFactorEvent, SessionChange};
use domain::id::{SessionId, UserId};
use domain::realtime::KillReason;
use domain::second_factor::{ATTEMPTS_MAX, CodeHistory, PENDING_SECONDS, RECOVERY_CODES, TRUST_SECONDS};
use domain::time::Timestamp;

use super::passwords::{self, PasswordCheck, link};
use super::{sessions, sign_in};
use common::clock;
use common::encryptor::Encryptor;
use common::error::Result;
use db::platform::second_factors::{PendingSession, SecondFactor};
use db::platform::sessions::Session;
use db::platform::sign_in::SignInAttempt;
use db::platform::{PlatformTx, PlatformWriteTx};

/// The kind of a sign-in that waits for its second factor.
pub(super) const PENDING: &str = "second-factor";
/// The kind of a browser that needs no second factor for a while.
const TRUSTED: &str = "trusted-device";
/// Number of secrets that one transaction encrypts again.
const RENEWED_AT_ONCE: i64 = 200;

/// What the browser of a sign-in presents and receives for the second factor. The new tokens are generated before the
/// transaction, which may be repeated.
#[derive(Debug, Clone)]
pub struct SignInBrowser {
    /// The token of the cookie of a trusted browser.
    pub trusted: Option<String>,
    /// The token of the cookie if the sign-in has to wait for its second factor.
    pub new_pending: String,
    /// The token of the cookie if the browser becomes or stays trusted.
    pub new_trusted: String,
}

impl SignInBrowser {
    /// Generates the new tokens of a browser that presents this token.
    pub fn new(trusted: Option<String>) -> Self {
        Self {
            trusted,
            new_pending: better_auth::token::session_token(),
            new_trusted: better_auth::token::session_token(),
        }
    }
}

/// A code that a user enters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnteredCode {
    /// A code of the authenticator app.
    App(String),
    Recovery(String),
}

/// The result of an entered code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeResult<T> {
    Accepted(T),
    /// The code is wrong or was used before.
    Wrong,
    /// The user has no second factor that this code could belong to.
    NotEnabled,
    /// The second factor is locked after too many wrong codes.
    Locked,
    /// The waiting sign-in has ended after too many wrong codes.
    TooManyAttempts,
    /// There is no such waiting sign-in.
    UnknownSignIn,
}

/// The second step of a sign-in.
#[derive(Debug, Clone)]
pub struct SecondStep {
    /// The token of the cookie of the waiting sign-in.
    pub pending: String,
    pub code: EnteredCode,
    /// The client address, for the limits.
    pub address: String,
    /// The token with which the browser becomes trusted, if the user wants that.
    pub new_trusted: Option<String>,
    /// The session to insert on success; its user is filled in here.
    pub session: Session,
}

/// A new second factor and its recovery codes. They are generated before the transaction, which may be repeated.
#[derive(Debug, Clone)]
pub struct NewSecondFactor {
    pub id: String,
    pub secret: TotpSecret,
    pub recovery_codes: Vec<String>,
}

impl NewSecondFactor {
    pub fn generate() -> Self {
        Self {
            id: clock::new_id(),
            secret: TotpSecret::generate(),
            recovery_codes: new_recovery_codes(),
        }
    }
}

/// Returns new recovery codes.
pub fn new_recovery_codes() -> Vec<String> {
    std::iter::repeat_with(recovery_code).take(RECOVERY_CODES).collect()
}

/// Decides whether a sign-in needs a second step, and stores it as waiting if so. It needs none without a second factor,
/// or in a trusted browser, whose trust then continues under its new token.
pub(super) fn first_step(
    tx: &mut PlatformWriteTx<'_>,
    user: &UserId,
    session: &Session,
    browser: &SignInBrowser,
    now: Timestamp,
) -> Result<FirstStep> {
    if !tx.account(user)?.user.has_second_factor {
        return Ok(FirstStep::Sufficient { is_trusted: false });
    }
    let methods = methods(tx, user)?;
    if let Some(token) = &browser.trusted {
        let identifier = link(TRUSTED, token);
        let owner = tx.owner_of_verification(&identifier, now)?;
        if owner.as_ref() == Some(user) && tx.delete_verification(&identifier)? {
            trust(tx, user, &browser.new_trusted, now)?;
            return Ok(FirstStep::Sufficient { is_trusted: true });
        }
    }
    let (identifier, expires_at) = (link(PENDING, &browser.new_pending), now.plus_seconds(PENDING_SECONDS));
    tx.insert_pending_sign_in(&identifier, user, &PendingSession::of(session), expires_at, now)?;
    Ok(FirstStep::NeedsSecond(methods))
}

/// What a user can present in the second step of a sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecondFactorMethods {
    /// A code of the authenticator app.
    pub has_app: bool,
    pub has_passkey: bool,
}

/// Returns the second factors of a user.
pub(super) fn methods(tx: &mut PlatformTx<'_>, user: &UserId) -> Result<SecondFactorMethods> {
    let app = tx.second_factor(user)?;
    Ok(SecondFactorMethods {
        has_app: app.is_some_and(|app| app.confirmed_at.is_some()),
        has_passkey: tx.count_passkeys(user)? > 0,
    })
}

/// Whether the first step of a sign-in is sufficient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FirstStep {
    Sufficient {
        /// Whether the browser is trusted.
        is_trusted: bool,
    },
    NeedsSecond(SecondFactorMethods),
}

/// Completes a waiting sign-in with a code. The waiting sign-in is used up with it.
pub fn complete_sign_in(
    tx: &mut PlatformWriteTx<'_>,
    encryptor: &Encryptor,
    step: &SecondStep,
    now: Timestamp,
) -> Result<CodeResult<Session>> {
    let identifier = link(PENDING, &step.pending);
    let Some(found) = tx.pending_sign_in(&identifier, now)? else {
        return Ok(CodeResult::UnknownSignIn);
    };
    let user = found.user;
    let account = tx.lock_account(&user)?;
    // Read again under the lock: a concurrent request may have used or ended the sign-in.
    let Some(pending) = tx.pending_sign_in(&identifier, now)? else {
        return Ok(CodeResult::UnknownSignIn);
    };
    if !account.is_active || account.ban_at(now).is_some() {
        return Ok(CodeResult::UnknownSignIn);
    }
    if !account.user.has_second_factor {
        return Ok(CodeResult::NotEnabled);
    }
    if pending.attempts >= ATTEMPTS_MAX {
        tx.delete_verification(&identifier)?;
        return Ok(CodeResult::TooManyAttempts);
    }
    let attempt = SignInAttempt {
        account_key: account.user.email.stored_form().to_owned(),
        address: step.address.clone(),
    };
    let entered = CodeOfUser {
        user: &user,
        impersonated_by: None,
        attempt: &attempt,
        code: &step.code,
        is_confirming: false,
    };
    match enter(tx, encryptor, &entered, now)? {
        CodeResult::Accepted(()) => {}
        CodeResult::Wrong => {
            tx.count_attempt(&identifier)?;
            return Ok(CodeResult::Wrong);
        }
        other => return Ok(other.map(|()| step.session.clone())),
    }
    tx.delete_verification(&identifier)?;
    if let Some(token) = &step.new_trusted {
        trust(tx, &user, token, now)?;
    }
    tx.insert_success(&user, &attempt, now)?;
    let session = pending.session.complete(step.session.clone());
    let session = sign_in::insert_session(tx, user, session, now)?;
    Ok(CodeResult::Accepted(session))
}

/// Starts setting up an authenticator app for a user who proved the password. Returns false if the user has a confirmed
/// one, and `None` if the password was wrong.
pub fn set_up(
    tx: &mut PlatformWriteTx<'_>,
    encryptor: &Encryptor,
    prover: &PasswordCheck,
    fitted: Option<&str>,
    new: &NewSecondFactor,
    now: Timestamp,
) -> Result<Option<bool>> {
    if !passwords::verify(tx, prover, fitted, now)? {
        return Ok(None);
    }
    let user = &prover.user;
    if tx
        .second_factor(user)?
        .is_some_and(|factor| factor.confirmed_at.is_some())
    {
        return Ok(Some(false));
    }
    let secret = encryptor.encrypt(&new.id, &new.secret.to_base32())?;
    tx.insert_second_factor(&new.id, user, &secret, now)?;
    replace_codes(tx, user, &new.recovery_codes, now)?;
    Ok(Some(true))
}

/// Checks a code of a signed-in user. The first correct code of an app confirms the second factor; all other sessions
/// then end, because they were opened without it.
pub fn verify(
    tx: &mut PlatformWriteTx<'_>,
    encryptor: &Encryptor,
    prover: &PasswordCheck,
    session: &SessionId,
    code: &EnteredCode,
    now: Timestamp,
) -> Result<CodeResult<()>> {
    let user = &prover.user;
    let account = tx.lock_account(user)?;
    let is_confirmed = tx
        .second_factor(user)?
        .is_some_and(|factor| factor.confirmed_at.is_some());
    let entered = CodeOfUser {
        user,
        impersonated_by: prover.impersonated_by.as_ref(),
        attempt: &prover.attempt,
        code,
        is_confirming: true,
    };
    if matches!(code, EnteredCode::Recovery(_)) && !account.user.has_second_factor {
        return Ok(CodeResult::NotEnabled);
    }
    let result = enter(tx, encryptor, &entered, now)?;
    if result == CodeResult::Accepted(()) && !is_confirmed && matches!(code, EnteredCode::App(_)) {
        tx.confirm_second_factor(user, now)?;
        sessions::revoke_all(tx, user, Some(session), KillReason::Revoked)?;
        record(tx, prover, SecondFactorEvent::Enabled);
    }
    Ok(result)
}

/// Removes the authenticator app and the recovery codes of a user who proved the password. Without a passkey, the trust in
/// all browsers ends. Returns false if the password was wrong.
pub fn disable(
    tx: &mut PlatformWriteTx<'_>,
    prover: &PasswordCheck,
    fitted: Option<&str>,
    now: Timestamp,
) -> Result<bool> {
    if !passwords::verify(tx, prover, fitted, now)? {
        return Ok(false);
    }
    if tx.delete_authenticator_app(&prover.user)? {
        end_without_factor(tx, &prover.user)?;
        record(tx, prover, SecondFactorEvent::Disabled);
    }
    Ok(true)
}

/// Replaces the recovery codes of a user who proved the password; returns false if the password was wrong.
pub fn renew_recovery_codes(
    tx: &mut PlatformWriteTx<'_>,
    prover: &PasswordCheck,
    fitted: Option<&str>,
    codes: &[String],
    now: Timestamp,
) -> Result<bool> {
    if !passwords::verify(tx, prover, fitted, now)? {
        return Ok(false);
    }
    if tx.second_factor(&prover.user)?.is_some() || tx.count_passkeys(&prover.user)? > 0 {
        tx.insert_code_count(&prover.user, now)?;
        replace_codes(tx, &prover.user, codes, now)?;
        record(tx, prover, SecondFactorEvent::RecoveryCodesRenewed);
    }
    Ok(true)
}

/// Returns the secret of a user's second factor; `None` if there is none.
pub fn secret(platform: &mut PlatformTx<'_>, encryptor: &Encryptor, user: &UserId) -> Result<Option<TotpSecret>> {
    let factor = platform.second_factor(user)?;
    Ok(factor.and_then(|factor| decrypt(encryptor, &factor.id, factor.secret.as_deref()?)))
}

/// Encrypts the next secrets again that only the previous secret of the installation decrypts. Returns the last id of the
/// page; `None` at the end.
pub fn renew_secrets(platform: &mut PlatformTx<'_>, encryptor: &Encryptor, after: &str) -> Result<Option<String>> {
    let page = platform.second_factor_secrets(after, RENEWED_AT_ONCE)?;
    for (id, former) in &page {
        if let Some(secret) = encryptor.renew(id, former)? {
            platform.renew_second_factor_secret(id, former, &secret)?;
        }
    }
    Ok(page.into_iter().next_back().map(|(id, _)| id))
}

/// Ends sign-ins that wait for a second factor, and the trust in browsers, if the user has no second factor any more.
pub(super) fn end_without_factor(tx: &mut PlatformWriteTx<'_>, user: &UserId) -> Result<()> {
    if tx.account(user)?.user.has_second_factor {
        return Ok(());
    }
    for kind in [PENDING, TRUSTED] {
        tx.delete_verifications_of_kind(user, kind)?;
    }
    Ok(())
}

/// Deletes all second factors of a user, sign-ins that wait for one, and the trust in browsers; returns whether there was
/// one.
pub(super) fn remove(tx: &mut PlatformWriteTx<'_>, user: &UserId) -> Result<bool> {
    for kind in [PENDING, TRUSTED] {
        tx.delete_verifications_of_kind(user, kind)?;
    }
    tx.delete_second_factor(user)
}

/// A code, the user whose account is locked, and the attempt that the limits count.
struct CodeOfUser<'a> {
    user: &'a UserId,
    impersonated_by: Option<&'a UserId>,
    attempt: &'a SignInAttempt,
    code: &'a EnteredCode,
    /// Whether a code of an unconfirmed app is accepted, which confirms it.
    is_confirming: bool,
}

/// Checks a code and uses it up, or counts a failure. An unconfirmed app accepts codes of a signed-in user, which confirm it,
/// but completes no sign-in.
fn enter(
    tx: &mut PlatformWriteTx<'_>,
    encryptor: &Encryptor,
    entered: &CodeOfUser<'_>,
    now: Timestamp,
) -> Result<CodeResult<()>> {
    let CodeOfUser {
        user, attempt, code, ..
    } = *entered;
    sign_in::within_limits(tx, attempt, now)?;
    let Some(factor) = tx.second_factor(user)? else {
        return Ok(CodeResult::NotEnabled);
    };
    let has_app = factor.secret.is_some() && (factor.confirmed_at.is_some() || entered.is_confirming);
    if matches!(code, EnteredCode::App(_)) && !has_app {
        return Ok(CodeResult::NotEnabled);
    }
    let history = factor.history;
    if history.is_locked(now) {
        return Ok(CodeResult::Locked);
    }
    let accepted = match code {
        EnteredCode::App(code) => new_step(encryptor, &factor, code, now).map(Some),
        EnteredCode::Recovery(code) => tx
            .use_recovery_code(user, &recovery_code_hash(user.as_str(), code))?
            .then_some(None),
    };
    let history: CodeHistory = match accepted {
        Some(step) => history.after_success(step),
        None => history.after_failure(now),
    };
    tx.update_code_history(user, &history)?;
    let event = match (accepted, code) {
        (Some(_), EnteredCode::App(_)) => return Ok(CodeResult::Accepted(())),
        (Some(_), EnteredCode::Recovery(_)) => SecondFactorEvent::RecoveryCodeUsed,
        (None, _) => {
            tx.insert_failure(attempt, now)?;
            SecondFactorEvent::CodeRejected
        }
    };
    tx.record(SessionChange::SecondFactor {
        user: user.clone(),
        event,
        address: Some(attempt.address.clone()),
        impersonated_by: entered.impersonated_by.cloned(),
    });
    Ok(if accepted.is_some() {
        CodeResult::Accepted(())
    } else {
        CodeResult::Wrong
    })
}

/// Returns the step of a code that was not accepted before.
fn new_step(encryptor: &Encryptor, factor: &SecondFactor, code: &str, now: Timestamp) -> Option<i64> {
    let secret = decrypt(encryptor, &factor.id, factor.secret.as_deref()?)?;
    let step = secret.matching_step(code, UnixMillis::from_millis(now.as_millis()))?;
    factor.history.accepts(step).then_some(step)
}

fn decrypt(encryptor: &Encryptor, id: &str, secret: &str) -> Option<TotpSecret> {
    let text = encryptor.decrypt(id, secret);
    if text.is_none() {
        tracing::warn!(
            "secret of a second factor not decrypted: AUTH_SECRET was replaced without AUTH_SECRET_PREVIOUS"
        );
    }
    TotpSecret::from_base32(&text?)
}

fn trust(tx: &mut PlatformWriteTx<'_>, user: &UserId, token: &str, now: Timestamp) -> Result<()> {
    tx.insert_verification(&link(TRUSTED, token), user, now.plus_seconds(TRUST_SECONDS), now)
}

fn replace_codes(tx: &mut PlatformWriteTx<'_>, user: &UserId, codes: &[String], now: Timestamp) -> Result<()> {
    let hashes: Vec<String> = codes
        .iter()
        .map(|code| recovery_code_hash(user.as_str(), code))
        .collect();
    tx.replace_recovery_codes(user, &hashes, now)
}

fn record(tx: &mut PlatformWriteTx<'_>, prover: &PasswordCheck, event: SecondFactorEvent) {
    tx.record(SessionChange::SecondFactor {
        user: prover.user.clone(),
        event,
        address: Some(prover.attempt.address.clone()),
        impersonated_by: prover.impersonated_by.clone(),
    });
}

impl<T> CodeResult<T> {
    fn map<U>(self, accepted: impl FnOnce(T) -> U) -> CodeResult<U> {
        match self {
            Self::Accepted(value) => CodeResult::Accepted(accepted(value)),
            Self::Wrong => CodeResult::Wrong,
            Self::NotEnabled => CodeResult::NotEnabled,
            Self::Locked => CodeResult::Locked,
            Self::TooManyAttempts => CodeResult::TooManyAttempts,
            Self::UnknownSignIn => CodeResult::UnknownSignIn,
        }
    }
}
