//! Keys of providers, with a cache. A token that no cached key verifies causes the keys to be read again, so that a
//! provider that replaces its keys costs no sign-in. How often is limited for each provider.

use std::time::Duration;

use jsonwebtoken::jwk::{Jwk, PublicKeyUse};
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::tokens::{self, TokenHeader};
use super::{OpenIdError, VerifiedClaims};
use crate::outgoing_http::OutgoingHttp;

/// How long keys are used before they are read again.
const FRESH: Duration = Duration::from_mins(10);
/// How long replaced keys are still accepted: tokens may have been signed and received before the replacement.
const FORMER_ACCEPTED: Duration = Duration::from_mins(1);
/// How often tokens may cause the keys to be read again without a pause.
const REFETCHES_MAX: u32 = 5;
/// The time after which another refetch is allowed.
const REFETCH_INTERVAL: Duration = Duration::from_mins(1);
/// Keys of a provider that are considered.
const KEYS_MAX: usize = 64;

/// Who sent a token. Refetches are counted separately, so that forged tokens cannot use up those of the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenSender {
    /// The token is from the token endpoint.
    Provider,
    /// The token is from a request without a session.
    Anyone,
}

/// Reads the keys of a provider. Keys that cannot be read are ignored.
pub(super) async fn fetch(http: &OutgoingHttp, url: &str) -> Result<Vec<Jwk>, OpenIdError> {
    let document = http.get(url, None).await?;
    let keys = document.get("keys").and_then(Value::as_array);
    let keys = keys.ok_or(OpenIdError::UnexpectedResponse)?;
    let readable = keys
        .iter()
        .take(KEYS_MAX)
        .filter_map(|key| serde_json::from_value::<Jwk>(key.clone()).ok());
    Ok(readable
        .filter(|key| {
            let purpose = key.common.public_key_use.as_ref();
            purpose.is_none_or(|purpose| *purpose == PublicKeyUse::Signature)
        })
        .collect())
}

/// The cached keys of one provider.
#[derive(Default)]
pub(super) struct KeyStore(Mutex<CachedKeys>);

#[derive(Default)]
struct CachedKeys {
    keys: Vec<Jwk>,
    fetched_at: Option<Instant>,
    /// Replaced keys that are still accepted, with the time of the replacement.
    former: Vec<(Vec<Jwk>, Instant)>,
    provider: RefetchBudget,
    anyone: RefetchBudget,
}

impl KeyStore {
    /// Verifies the signature of a token and returns its claims, which are not checked yet. If no key fits, the keys are
    /// read again, as often as the budget of the sender allows. While they are read, other callers wait.
    pub(super) async fn verify(
        &self,
        http: &OutgoingHttp,
        url: &str,
        token: (&str, &TokenHeader),
        sender: TokenSender,
    ) -> Result<VerifiedClaims, OpenIdError> {
        let mut cached = self.0.lock().await;
        let is_outdated = cached.fetched_at.is_none_or(|at| at.elapsed() >= FRESH);
        if is_outdated {
            match fetch(http, url).await {
                Ok(keys) => cached.replace(keys, Instant::now()),
                // A provider that is unavailable for a moment keeps its last keys.
                Err(error) if cached.fetched_at.is_none() => return Err(error),
                Err(_) => cached.fetched_at = Some(Instant::now()),
            }
        }
        let verified = cached.verify(token, Instant::now());
        if verified.is_ok() || is_outdated || !cached.budget(sender).take(Instant::now()) {
            return verified;
        }
        let keys = fetch(http, url).await?;
        cached.replace(keys, Instant::now());
        cached.verify(token, Instant::now())
    }
}

impl CachedKeys {
    const fn budget(&mut self, sender: TokenSender) -> &mut RefetchBudget {
        match sender {
            TokenSender::Provider => &mut self.provider,
            TokenSender::Anyone => &mut self.anyone,
        }
    }

    fn replace(&mut self, keys: Vec<Jwk>, now: Instant) {
        self.former.retain(|(_, replaced_at)| is_accepted(*replaced_at, now));
        if self.fetched_at.is_some() && keys != self.keys {
            self.former.push((std::mem::take(&mut self.keys), now));
        }
        self.keys = keys;
        self.fetched_at = Some(now);
    }

    fn verify(&self, (token, header): (&str, &TokenHeader), now: Instant) -> Result<VerifiedClaims, OpenIdError> {
        let former = self
            .former
            .iter()
            .filter(|(_, replaced_at)| is_accepted(*replaced_at, now));
        let sets = std::iter::once(&self.keys).chain(former.map(|(keys, _)| keys));
        let fitting: Vec<Jwk> = sets.flat_map(|keys| header.matching(keys)).collect();
        if fitting.is_empty() {
            return Err(OpenIdError::UnknownKey);
        }
        tokens::verify(token, header, &fitting)
    }
}

/// Returns whether replaced keys are still accepted.
fn is_accepted(replaced_at: Instant, now: Instant) -> bool {
    now.saturating_duration_since(replaced_at) < FORMER_ACCEPTED
}

/// How often keys may be read again: a few times at once, then once per interval.
#[derive(Debug, Default)]
struct RefetchBudget {
    used: u32,
    /// Since when `used` counts.
    since: Option<Instant>,
}

impl RefetchBudget {
    /// Uses up one refetch; returns false if there is none.
    fn take(&mut self, now: Instant) -> bool {
        let since = *self.since.get_or_insert(now);
        let passed = now.saturating_duration_since(since).as_secs() / REFETCH_INTERVAL.as_secs();
        let regained = u32::try_from(passed).unwrap_or(u32::MAX);
        self.used = self.used.saturating_sub(regained);
        self.since = Some(if self.used == 0 {
            now
        } else {
            since + REFETCH_INTERVAL * regained
        });
        let is_allowed = self.used < REFETCHES_MAX;
        self.used += u32::from(is_allowed);
        is_allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refetches_are_limited_and_regained_one_per_interval() {
        let start = Instant::now();
        let mut budget = RefetchBudget::default();
        let mut taken = |at: Instant| std::iter::from_fn(|| budget.take(at).then_some(())).count();
        assert_eq!(taken(start), 5);
        assert_eq!(taken(start + Duration::from_secs(59)), 0);
        assert_eq!(taken(start + Duration::from_mins(1)), 1);
        assert_eq!(taken(start + Duration::from_secs(119)), 0);
        assert_eq!(taken(start + Duration::from_secs(185)), 2);
        assert_eq!(taken(start + Duration::from_secs(239)), 0);
        assert_eq!(taken(start + Duration::from_hours(24)), 5);
    }
}
