//! Sign-in and its limits of failed attempts. Only failures count, so that a class behind one IP address can sign in
//! together. The limits are checked again after the password was hashed, so that concurrent attempts gain nothing
//! over sequential ones.

use domain::account_email::is_placeholder;
use domain::change::{SessionChange, SignInKind};
use domain::id::{OrganizationId, UserId};
use domain::text::Slug;
use domain::time::Timestamp;
use domain::user_name::{TypedUserName, full_name};

use super::passwords;
use super::second_factor::{self, FirstStep, SecondFactorMethods, SignInBrowser};
use common::error::{Error, Result};
use db::platform::sessions::Session;
use db::platform::sign_in::{Credential, SignInAttempt};
use db::platform::{PlatformTx, PlatformWriteTx};

/// How long a session may set a new password without the provisional one that opened it, in seconds.
pub(super) const NEW_PASSWORD_SECONDS: i64 = 15 * 60;

/// The input of a sign-in.
#[derive(Debug, Clone)]
pub struct SignIn {
    /// The account it names and the client address it comes from.
    pub attempt: SignInAttempt,
    /// The hash that the password matched; `None` if it was wrong.
    pub fitted: Option<String>,
    /// The hash to store instead, if the old one uses another algorithm.
    pub rehashed: Option<String>,
    /// The session to insert on success; its user is filled in here.
    pub session: Session,
    /// The browser, for the second factor.
    pub browser: SignInBrowser,
}

/// A session that was opened, or not yet.
#[derive(Debug, Clone)]
pub enum OpenedSession {
    Opened {
        session: Box<Session>,
        /// Whether the browser stays trusted: its cookie gets the new token.
        is_trusted: bool,
    },
    /// There is no session yet: the browser receives the token of the waiting sign-in, and the user presents one of the
    /// second factors.
    SecondFactorRequired(SecondFactorMethods),
}

/// The result of a sign-in.
#[derive(Debug, Clone)]
pub enum SignInResult {
    /// The password is right.
    Verified(OpenedSession),
    /// Rejected: the password is wrong, the account is unknown or deactivated, or the temporary password has expired.
    /// Clients cannot distinguish these.
    InvalidCredentials,
    /// Rejected: the password was right, but the user is banned.
    Banned,
    /// Rejected: the password was right, but the school requires its sign-on provider.
    PasswordsOff,
}

/// Rejects an attempt while there are too many failures. Behaves in the same way for accounts that do not exist.
pub fn within_limits(platform: &mut PlatformTx<'_>, attempt: &SignInAttempt, now: Timestamp) -> Result<()> {
    let Some(opens_at) = platform.failure_history(attempt, now)?.opens_at(now) else {
        return Ok(());
    };
    let milliseconds = opens_at.as_millis().saturating_sub(now.as_millis()).max(1);
    let retry_after = u64::try_from(milliseconds).unwrap_or(1).div_ceil(1000);
    Err(Error::RateLimited { retry_after })
}

/// Creates the session, or counts a failure.
pub fn sign_in(tx: &mut PlatformWriteTx<'_>, sign_in: &SignIn, now: Timestamp) -> Result<SignInResult> {
    let attempt = &sign_in.attempt;
    tx.lock_account_of_address(&attempt.account_key)?;
    within_limits(tx, attempt, now)?;
    let credential = tx.credential(&attempt.account_key, now)?;
    let Some((credential, account)) = matching_credential(credential.clone(), sign_in.fitted.as_deref()) else {
        let user = credential.map(|credential| credential.user);
        fail(tx, attempt, user, None, now)?;
        return Ok(SignInResult::InvalidCredentials);
    };
    if credential.is_banned {
        return Ok(SignInResult::Banned);
    }
    if !tx.may_sign_in_with_password(&credential.user)? {
        return Ok(SignInResult::PasswordsOff);
    }
    tx.lift_ban(&credential.user, now)?;
    if let Some(hash) = &sign_in.rehashed {
        tx.rehash_password(&account, hash, now)?;
    }
    let user = credential.user.clone();
    let session = provisional(&credential, sign_in.session.clone(), now);
    let opened = open_session(tx, user.clone(), session, &sign_in.browser, now)?;
    if let OpenedSession::Opened { .. } = opened {
        tx.insert_success(&user, attempt, now)?;
    }
    Ok(SignInResult::Verified(opened))
}

/// Creates a session with the secret of a printed code and uses it up. An unknown, used or expired secret is
/// `InvalidCredentials`, as is one of an account whose password is no longer provisional.
pub fn sign_in_with_slip(
    tx: &mut PlatformWriteTx<'_>,
    token: &str,
    address: &str,
    session: &Session,
    browser: &SignInBrowser,
    now: Timestamp,
) -> Result<SignInResult> {
    let Some(user) = tx.take_verification(&slip(token), now)? else {
        return Ok(SignInResult::InvalidCredentials);
    };
    let Some(identifiers) = tx.identifiers_of(&user)? else {
        return Ok(SignInResult::InvalidCredentials);
    };
    let attempt = SignInAttempt {
        account_key: identifiers.email.stored_form().to_owned(),
        address: address.to_owned(),
    };
    tx.lock_account_of_address(&attempt.account_key)?;
    let credential = tx.credential(&attempt.account_key, now)?;
    let credential = credential.filter(|found| found.is_active && found.is_provisional && !found.is_outdated);
    let Some(credential) = credential.filter(|found| found.password.is_some()) else {
        return Ok(SignInResult::InvalidCredentials);
    };
    if credential.is_banned {
        return Ok(SignInResult::Banned);
    }
    // The code replaces the first password that is printed with it.
    if !tx.may_sign_in_with_password(&user)? {
        return Ok(SignInResult::PasswordsOff);
    }
    tx.lift_ban(&user, now)?;
    let session = provisional(&credential, session.clone(), now);
    let opened = open_session(tx, user.clone(), session, browser, now)?;
    if let OpenedSession::Opened { .. } = opened {
        tx.insert_success(&user, &attempt, now)?;
    }
    Ok(SignInResult::Verified(opened))
}

/// Returns the stored form of the secret of a printed code.
pub(super) fn slip(token: &str) -> String {
    passwords::link("sign-in-slip", token)
}

/// Permits a session that was opened with a provisional password to set a new one without the old one.
fn provisional(credential: &Credential, session: Session, now: Timestamp) -> Session {
    let until = now.plus_seconds(NEW_PASSWORD_SECONDS);
    Session {
        new_password_until: credential.is_provisional.then_some(until),
        ..session
    }
}

/// Returns the key of the account that a user name belongs to; `name@slug` if there is none. Names are resolved first,
/// so that all spellings of one name share the limits whether or not it exists.
pub fn key_of_user_name(platform: &mut PlatformTx<'_>, typed: &TypedUserName, school: Option<&Slug>) -> Result<String> {
    let Some(slug) = typed.slug.as_ref().or(school) else {
        return Ok(typed.name.to_string());
    };
    let school = platform.school_of_slug(slug)?;
    let (school, slug) = school.unwrap_or_else(|| (OrganizationId::new(""), slug.clone()));
    let key = platform.key_of_user_name(&school, &typed.name)?;
    Ok(key.unwrap_or_else(|| full_name(&typed.name, &slug)))
}

/// Inserts the session of a user whose identity was verified, unless a second factor is required first. Every sign-in
/// ends here, whatever it verified.
pub fn open_session(
    tx: &mut PlatformWriteTx<'_>,
    user: UserId,
    session: Session,
    browser: &SignInBrowser,
    now: Timestamp,
) -> Result<OpenedSession> {
    match second_factor::first_step(tx, &user, &session, browser, now)? {
        FirstStep::NeedsSecond(methods) => Ok(OpenedSession::SecondFactorRequired(methods)),
        FirstStep::Sufficient { is_trusted } => Ok(OpenedSession::Opened {
            session: Box::new(insert_session(tx, user, session, now)?),
            is_trusted,
        }),
    }
}

/// Inserts the session of a user after all steps of a sign-in.
pub(super) fn insert_session(
    tx: &mut PlatformWriteTx<'_>,
    user: UserId,
    session: Session,
    now: Timestamp,
) -> Result<Session> {
    tx.forget_sessions(&user, now)?;
    let session = Session {
        user_id: user,
        ..session
    };
    tx.insert_session(&session)?;
    if let Some(sign_on) = &session.sign_on
        && let Some((_, provider)) = tx.enabled_sign_on_provider(&sign_on.provider_id)?
    {
        tx.record(SessionChange::SignedIn {
            user: session.user_id.clone(),
            kind: SignInKind::Provider,
            name: provider.name.to_string(),
            organization: Some(provider.organization_id),
            address: session.ip_address.clone(),
        });
    }
    Ok(session)
}

/// Counts a wrong password; also if the user is already signed in or impersonated.
pub fn fail(
    tx: &mut PlatformWriteTx<'_>,
    attempt: &SignInAttempt,
    user: Option<UserId>,
    impersonated_by: Option<UserId>,
    now: Timestamp,
) -> Result<()> {
    tx.insert_failure(attempt, now)?;
    let user_name = match &user {
        Some(user) if is_placeholder(&attempt.account_key) => tx.identifiers_of(user)?,
        _ => None,
    };
    let user_name = user_name.and_then(|identifiers| identifiers.full_user_name());
    tx.record(SessionChange::LoginFailed {
        user,
        email: user_name.unwrap_or_else(|| attempt.account_key.clone()),
        address: Some(attempt.address.clone()),
        impersonated_by,
    });
    Ok(())
}

/// Returns the credential and its account row, if the matched hash is still stored and may be used.
fn matching_credential(credential: Option<Credential>, fitted: Option<&str>) -> Option<(Credential, String)> {
    let credential = credential?;
    let (account, hash) = credential.password.clone()?;
    let right = fitted == Some(hash.as_str()) && credential.is_active && !credential.is_outdated;
    right.then_some((credential, account))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;
    use db::platform::CrossTenantReason;
    use db::{Database, Store, migrate};

    const START: i64 = 1_800_000_000_000;

    /// A store whose limits can be checked at any time.
    struct Limits {
        store: Store,
        _folder: tempfile::TempDir,
    }

    impl Limits {
        fn open() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let database = Database::Sqlite(folder.path().join("limits.db"));
            migrate(&database).unwrap();
            let store = Store::open(&database, 1, 1).unwrap();
            Self { store, _folder: folder }
        }

        async fn failed(&self, address: &str, at: i64) {
            let attempt = attempt(address);
            let write = self
                .store
                .platform_write(CrossTenantReason::CommandLine, move |platform| {
                    let at = Timestamp::from_millis(START + at);
                    platform.insert_failure(&attempt, at)
                });
            write.await.unwrap();
        }

        /// Returns the seconds to wait; `None` if an attempt is allowed.
        async fn wait(&self, address: &str, at: i64) -> Option<u64> {
            let attempt = attempt(address);
            let look = self
                .store
                .platform_read(CrossTenantReason::CommandLine, move |platform| {
                    within_limits(platform, &attempt, Timestamp::from_millis(START + at))
                });
            match look.await {
                Ok(()) => None,
                Err(Error::RateLimited { retry_after }) => Some(retry_after),
                Err(error) => panic!("{error:?}"),
            }
        }
    }

    fn attempt(address: &str) -> SignInAttempt {
        of("ada@school.example", address)
    }

    fn of(account: &str, address: &str) -> SignInAttempt {
        SignInAttempt {
            account_key: account.to_owned(),
            address: address.to_owned(),
        }
    }

    #[tokio::test]
    async fn five_failures_of_one_account_from_one_address_close_a_minute() {
        let limits = Limits::open();
        for second in 0..4 {
            limits.failed("192.0.2.1", second * 1000).await;
        }
        assert_eq!(limits.wait("192.0.2.1", 4000).await, None, "four are allowed");
        limits.failed("192.0.2.1", 4000).await;
        for (at, wait) in [(4000, Some(56)), (59_000, Some(1)), (59_999, Some(1)), (60_000, None)] {
            assert_eq!(
                limits.wait("192.0.2.1", at).await,
                wait,
                "{at} ms after the first of five"
            );
        }
        assert_eq!(
            limits.wait("192.0.2.2", 5000).await,
            None,
            "another address is not closed"
        );
    }

    #[tokio::test]
    async fn ten_failures_of_one_account_from_anywhere_close_a_quarter_of_an_hour() {
        let limits = Limits::open();
        for number in 0..10 {
            limits.failed(&format!("198.51.100.{number}"), 0).await;
        }
        let quarter = 15 * 60 * 1000;
        for (at, wait) in [
            (0, Some(900)),
            (60_000, Some(840)),
            (quarter - 1, Some(1)),
            (quarter, None),
        ] {
            assert_eq!(limits.wait("203.0.113.9", at).await, wait, "after {at} ms");
        }
    }

    #[tokio::test]
    async fn consecutive_failures_close_unknown_addresses_until_cleared() {
        let limits = Limits::open();
        let hour = 3_600_000;
        for number in 0..100 {
            limits
                .failed(&format!("198.51.100.{}", number % 7), number * hour)
                .await;
        }
        let after = 100 * hour;
        assert!(limits.wait("203.0.113.9", after).await > Some(29 * 24 * 3600), "closed");
        let write = limits.store.platform_write(CrossTenantReason::CommandLine, |platform| {
            platform.clear_failures("ada@school.example")
        });
        write.await.unwrap();
        assert_eq!(
            limits.wait("203.0.113.9", after).await,
            None,
            "a new password opens the account"
        );
    }

    #[tokio::test]
    async fn known_address_has_its_own_count_of_consecutive_failures() {
        let limits = Limits::open();
        let hour = 3_600_000;
        let success = |address: &'static str, at: i64| {
            limits
                .store
                .platform_write(CrossTenantReason::CommandLine, move |platform| {
                    let at = Timestamp::from_millis(START + at);
                    platform.insert_success(&UserId::new("ada"), &attempt(address), at)
                })
        };
        success("192.0.2.1", 0).await.unwrap();
        for number in 1..=100 {
            limits.failed("198.51.100.1", number * hour).await;
        }
        let after = 101 * hour;
        assert!(limits.wait("198.51.100.1", after).await.is_some(), "closed for others");
        assert_eq!(limits.wait("192.0.2.1", after).await, None, "open at the known address");
        for number in 0..100 {
            limits.failed("192.0.2.1", after + number * 60_000).await;
        }
        assert!(
            limits.wait("192.0.2.1", after + 3 * hour).await > Some(24 * 3600),
            "closed by its own failures"
        );
        success("192.0.2.1", after + 3 * hour).await.unwrap();
        assert_eq!(limits.wait("192.0.2.1", after + 3 * hour).await, None);
        assert!(
            limits.wait("198.51.100.1", after + 3 * hour).await.is_some(),
            "a success at a known address does not open the others"
        );
    }

    #[tokio::test]
    async fn counts_of_unknown_accounts_are_deleted_after_thirty_days() {
        let limits = Limits::open();
        limits.failed("198.51.100.1", 0).await;
        let count = async |at: i64| {
            let look = limits
                .store
                .platform_write(CrossTenantReason::CommandLine, move |platform| {
                    let now = Timestamp::from_millis(START + at);
                    let had = platform.has_expired_sign_ins(now)?;
                    platform.expire_sign_ins(now)?;
                    Ok((had, platform.failure_history(&attempt("203.0.113.9"), now)?.consecutive))
                });
            look.await.unwrap()
        };
        let day = 24 * 3_600_000;
        assert_eq!(count(1000).await, (false, 1));
        assert_eq!(
            count(day).await,
            (true, 1),
            "the failure itself is old, the count is not"
        );
        assert_eq!(count(30 * day).await, (true, 0));
        assert_eq!(count(30 * day).await, (false, 0));
    }
}
