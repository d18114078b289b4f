//! Requests to one roster server: the access token, repetitions of failed requests, and responses that are read element
//! by element.

use std::time::Duration;

use reqwest::{Response, StatusCode};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};
use url::Url;

use super::items::{ItemSplitter, ListLocation, SplitError};
use super::{RosterError, RosterServer, RosterTimeouts};
use crate::outgoing_http::{OutgoingError, OutgoingHttp, unreachable};
use common::clock;

/// How often a failed request is repeated.
const REPETITIONS_MAX: u32 = 4;
/// Maximum size of a response in bytes. It is never held in memory.
const RESPONSE_MAX: u64 = 512 << 20;
/// Maximum length of an access token.
const TOKEN_MAX: usize = 16 << 10;
/// A token is replaced this long before it expires.
const RENEWAL_MARGIN: Duration = Duration::from_secs(30);
/// A token is used this long at most.
const TOKEN_AGE_MAX: u64 = 24 * 60 * 60;

/// The connection to one server during one run. It has no `Debug`, because it contains the token.
pub(super) struct RosterSession<'a> {
    http: &'a OutgoingHttp,
    server: &'a RosterServer,
    timeouts: RosterTimeouts,
    scope: Option<&'a str>,
    token: Option<AccessToken>,
    /// Whether the client authenticates with a header; otherwise in the form.
    uses_basic: bool,
}

struct AccessToken {
    text: String,
    expires_at: Option<Instant>,
}

/// What follows a response that is not usable.
enum Reaction {
    Fail(RosterError),
    /// Repeat after the pause that the server asks for, or after the usual one.
    Repeat(RosterError, Option<Duration>),
    RenewToken(RosterError),
}

impl<'a> RosterSession<'a> {
    pub(super) const fn new(
        http: &'a OutgoingHttp,
        server: &'a RosterServer,
        scope: Option<&'a str>,
        timeouts: RosterTimeouts,
    ) -> Self {
        Self {
            http,
            server,
            timeouts,
            scope,
            token: None,
            uses_basic: true,
        }
    }

    /// Requests a resource. Returns a response with status 200, or 304 if `etag` is given.
    pub(super) async fn get(
        &mut self,
        url: &Url,
        resource: &'static str,
        etag: Option<&str>,
    ) -> Result<Response, RosterError> {
        let (http, timeouts) = (self.http, self.timeouts);
        let (mut repetitions, mut is_renewed) = (0, false);
        loop {
            let token = self.token().await?;
            let request = http.start_get(url.clone(), timeouts.total);
            let mut request = request
                .map_err(|error| from_outgoing(error, resource))?
                .bearer_auth(token);
            if let Some(etag) = etag {
                request = request.header("if-none-match", etag);
            }
            let reaction = match timeout(timeouts.response, request.send()).await {
                Ok(Ok(response)) => match react(&response, resource, etag.is_some()) {
                    None => return Ok(response),
                    Some(reaction) => reaction,
                },
                Ok(Err(error)) => {
                    unreachable(error);
                    Reaction::Repeat(RosterError::Unreachable, None)
                }
                Err(_) => Reaction::Repeat(RosterError::TimedOut, None),
            };
            match reaction {
                Reaction::Fail(error) => return Err(error),
                Reaction::RenewToken(error) if is_renewed => return Err(error),
                Reaction::RenewToken(_) => {
                    self.token = None;
                    is_renewed = true;
                }
                Reaction::Repeat(error, pause) => self.pause(&mut repetitions, error, pause).await?,
            }
        }
    }

    /// Waits before a repetition, or returns the error if there were enough.
    async fn pause(
        &self,
        repetitions: &mut u32,
        error: RosterError,
        asked: Option<Duration>,
    ) -> Result<(), RosterError> {
        let usual = self.timeouts.backoff * 2_u32.pow(*repetitions);
        let pause = asked.unwrap_or(usual);
        if *repetitions == REPETITIONS_MAX || pause > self.timeouts.pause_max {
            return Err(error);
        }
        *repetitions += 1;
        tracing::info!(
            code = error.code(),
            repetition = *repetitions,
            "request to roster server repeated"
        );
        sleep(pause).await;
        Ok(())
    }

    /// Returns the access token, which is requested again when it is about to expire.
    async fn token(&mut self) -> Result<&str, RosterError> {
        let is_valid = |token: &AccessToken| token.expires_at.is_none_or(|at| at > Instant::now());
        let token = match self.token.take().filter(is_valid) {
            Some(token) => token,
            None => self.request_token().await?,
        };
        Ok(&self.token.insert(token).text)
    }

    async fn request_token(&mut self) -> Result<AccessToken, RosterError> {
        let mut repetitions = 0;
        loop {
            let (id, secret) = (self.server.client_id.as_str(), self.server.client_secret.expose());
            let mut form = vec![("grant_type", "client_credentials")];
            form.extend(self.scope.map(|scope| ("scope", scope)));
            let basic = self.uses_basic.then_some((id, secret));
            if basic.is_none() {
                form.extend([("client_id", id), ("client_secret", secret)]);
            }
            let error = match self.http.post_form(&self.server.token_url, &form, basic).await {
                Ok(body) => return read_token(&body),
                Err(error) => error,
            };
            match error {
                // Some servers accept the secret in the form only.
                OutgoingError::Status(status) if status.is_client_error() && self.uses_basic && status != 429 => {
                    self.uses_basic = false;
                }
                OutgoingError::Status(status) if status == 429 => {
                    self.pause(&mut repetitions, RosterError::TooManyRequests, None).await?;
                }
                OutgoingError::Status(status) if status.is_client_error() => return Err(RosterError::TokenRefused),
                OutgoingError::Status(status) if status.is_server_error() => {
                    self.pause(&mut repetitions, from_outgoing(error, "token"), None)
                        .await?;
                }
                OutgoingError::Unreachable => {
                    self.pause(&mut repetitions, RosterError::Unreachable, None).await?;
                }
                OutgoingError::UnexpectedBody => return Err(RosterError::NoToken),
                OutgoingError::AddressNotAllowed | OutgoingError::Status(_) => {
                    return Err(from_outgoing(error, "token"));
                }
            }
        }
    }
}

fn read_token(body: &serde_json::Map<String, Value>) -> Result<AccessToken, RosterError> {
    let text = body.get("access_token").and_then(Value::as_str).unwrap_or_default();
    let is_header_value = text.bytes().all(|byte| byte.is_ascii_graphic());
    if text.is_empty() || text.len() > TOKEN_MAX || !is_header_value {
        return Err(RosterError::NoToken);
    }
    let seconds = body.get("expires_in").and_then(|value| match value {
        Value::String(text) => text.parse().ok(),
        value => value.as_u64(),
    });
    let lifetime = |seconds: u64| {
        let lifetime = Duration::from_secs(seconds.min(TOKEN_AGE_MAX));
        // A token with a very short lifetime is used for half of it.
        lifetime.saturating_sub(RENEWAL_MARGIN.min(lifetime / 2))
    };
    Ok(AccessToken {
        text: text.to_owned(),
        expires_at: seconds.map(|seconds| Instant::now() + lifetime(seconds)),
    })
}

fn from_outgoing(error: OutgoingError, resource: &'static str) -> RosterError {
    match error {
        OutgoingError::AddressNotAllowed => RosterError::AddressNotAllowed,
        OutgoingError::Unreachable => RosterError::Unreachable,
        OutgoingError::Status(status) if status.is_redirection() => RosterError::Redirected,
        OutgoingError::Status(status) => RosterError::ErrorResponse {
            resource,
            status: status.as_u16(),
        },
        OutgoingError::UnexpectedBody => RosterError::NoToken,
    }
}

/// Returns what follows a response; `None` if it is to be read.
fn react(response: &Response, resource: &'static str, has_etag: bool) -> Option<Reaction> {
    let status = response.status();
    let failed = || RosterError::ErrorResponse {
        resource,
        status: status.as_u16(),
    };
    Some(match status {
        StatusCode::OK => return None,
        StatusCode::NOT_MODIFIED if has_etag => return None,
        StatusCode::NOT_MODIFIED => Reaction::Fail(failed()),
        StatusCode::UNAUTHORIZED => Reaction::RenewToken(RosterError::Forbidden(resource)),
        StatusCode::FORBIDDEN => Reaction::Fail(RosterError::Forbidden(resource)),
        StatusCode::NOT_FOUND => Reaction::Fail(RosterError::NotFound(resource)),
        StatusCode::TOO_MANY_REQUESTS => Reaction::Repeat(RosterError::TooManyRequests, retry_after(response)),
        status if status.is_redirection() => Reaction::Fail(RosterError::Redirected),
        status if status.is_server_error() => Reaction::Repeat(failed(), retry_after(response)),
        _ => Reaction::Fail(failed()),
    })
}

/// Reads `Retry-After`: seconds or a date.
fn retry_after(response: &Response) -> Option<Duration> {
    let value = response.headers().get("retry-after")?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    let millis = date.as_millisecond().saturating_sub(clock::now().as_millis());
    Some(Duration::from_millis(u64::try_from(millis).unwrap_or_default()))
}

/// The elements of a response.
pub(super) struct ItemReader {
    response: Response,
    splitter: ItemSplitter,
    /// Complete elements in reverse order.
    ready: Vec<Vec<u8>>,
    resource: &'static str,
    idle: Duration,
    size: u64,
}

impl ItemReader {
    pub(super) const fn new(
        response: Response,
        location: ListLocation,
        resource: &'static str,
        timeouts: RosterTimeouts,
    ) -> Self {
        Self {
            response,
            splitter: ItemSplitter::new(location),
            ready: Vec::new(),
            resource,
            idle: timeouts.idle,
            size: 0,
        }
    }

    /// Returns the next element; `None` at the end of a complete response.
    pub(super) async fn next(&mut self) -> Result<Option<Value>, RosterError> {
        loop {
            if let Some(item) = self.ready.pop() {
                return serde_json::from_slice(&item).map(Some).map_err(|_| self.not_json());
            }
            let Ok(chunk) = timeout(self.idle, self.response.chunk()).await else {
                return Err(RosterError::Interrupted(self.resource));
            };
            let chunk = chunk.map_err(|error| {
                unreachable(error);
                RosterError::Interrupted(self.resource)
            })?;
            let Some(chunk) = chunk else {
                self.splitter.finish().map_err(|error| self.split_error(error))?;
                return Ok(None);
            };
            self.size += chunk.len() as u64;
            if self.size > RESPONSE_MAX {
                return Err(RosterError::TooLarge(self.resource));
            }
            let fed = self.splitter.feed(&chunk, &mut self.ready);
            fed.map_err(|error| self.split_error(error))?;
            self.ready.reverse();
        }
    }

    const fn split_error(&self, error: SplitError) -> RosterError {
        match error {
            SplitError::NotJson => self.not_json(),
            SplitError::NoList => RosterError::NotARoster {
                resource: self.resource,
                reason: "the list is missing",
            },
            SplitError::ItemTooLarge => RosterError::TooLarge(self.resource),
            SplitError::Incomplete => RosterError::Interrupted(self.resource),
        }
    }

    const fn not_json(&self) -> RosterError {
        RosterError::NotARoster {
            resource: self.resource,
            reason: "it is not valid JSON",
        }
    }
}

/// Returns the text of a property. Numbers and booleans are converted.
pub(super) fn text(value: &Value, key: &str) -> String {
    match value.get(key) {
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Bool(is_true)) => is_true.to_string(),
        _ => String::new(),
    }
}

/// Returns the elements of a property that is an array.
pub(super) fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
