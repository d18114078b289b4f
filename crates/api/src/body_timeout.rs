//! Timeouts for slow request bodies and slow handlers. A body that stalls or drips ends the request; time spent waiting
//! for the body is not counted as time of the handler. See docs/api-contract.md#sizes-and-times.

use std::error::Error as StdError;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use http_body_util::BodyExt as _;
use hyper::body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep};

use super::anonymous_body::is_budget_exhausted;
use common::error::{Error, Result};

/// A minimum transfer rate.
#[derive(Debug, Clone, Copy)]
pub(super) struct MinimumRate {
    /// The longest pause, and the total time a transfer may fall behind `bytes_per_second`.
    pub(super) idle: Duration,
    /// Minimum bytes per second once `idle` is used up.
    pub(super) bytes_per_second: u64,
}

/// The minimum rate of request bodies.
const BODY_RATE: MinimumRate = MinimumRate {
    idle: Duration::from_secs(15),
    bytes_per_second: 1024,
};

/// The minimum rate at which clients read responses. The kernel buffers megabytes of a response, so a client with a
/// slow network reads nothing for long periods.
pub(super) const READER_RATE: MinimumRate = MinimumRate {
    idle: Duration::from_mins(1),
    bytes_per_second: 4096,
};

impl MinimumRate {
    /// How long a pause may last, after this total waiting time and number of bytes.
    pub(super) fn timeout(self, past: Duration, received: u64) -> Duration {
        let allowed = self.idle + Duration::from_secs(received / self.bytes_per_second);
        self.idle.min(allowed.saturating_sub(past))
    }
}

/// The body stalled or fell below the minimum rate.
#[derive(Debug, thiserror::Error)]
#[error("request body timeout")]
pub struct BodyTimeout;

/// Whether an error was caused by [`BodyTimeout`].
pub fn is_body_timeout(error: &(dyn StdError + 'static)) -> bool {
    error.is::<BodyTimeout>() || error.source().is_some_and(is_body_timeout)
}

/// How long a request has waited for its body; clones share the state.
#[derive(Clone, Default)]
pub struct BodyWait(Arc<Mutex<WaitState>>);

#[derive(Default)]
struct WaitState {
    past: Duration,
    since: Option<Instant>,
}

impl BodyWait {
    /// The total time waited so far.
    pub fn total(&self) -> Duration {
        let waited = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waited.past + waited.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// The body has no data at the moment. Returns the deadline of this pause, given the bytes received so far.
    fn pause(&self, minimum_rate: MinimumRate, received: u64) -> Instant {
        let mut waited = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let since = *waited.since.get_or_insert_with(Instant::now);
        since + minimum_rate.timeout(waited.past, received)
    }

    fn resume(&self) {
        let mut waited = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(since) = waited.since.take() {
            waited.past += since.elapsed();
        }
    }
}

/// A request body with a minimum rate.
pub struct TimedBody {
    body: Body,
    minimum_rate: MinimumRate,
    body_wait: BodyWait,
    received: u64,
    timer: Option<Pin<Box<Sleep>>>,
}

impl TimedBody {
    /// Wraps a body.
    pub fn new(body: Body, body_wait: BodyWait) -> Self {
        Self {
            body,
            minimum_rate: BODY_RATE,
            body_wait,
            received: 0,
            timer: None,
        }
    }
}

impl HttpBody for TimedBody {
    type Data = Bytes;
    type Error = Box<dyn StdError + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(context) {
            this.body_wait.resume();
            this.timer = None;
            if let Some(Ok(frame)) = &frame {
                this.received += frame.data_ref().map_or(0, |data| data.len() as u64);
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let deadline = this.body_wait.pause(this.minimum_rate, this.received);
        let timer = this
            .timer
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        ready!(timer.as_mut().poll(context));
        this.body_wait.resume();
        Poll::Ready(Some(Err(Box::new(BodyTimeout))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A body that owns a value until it was read completely or is dropped.
pub struct OwningBody<T> {
    body: Body,
    _owned: T,
}

impl<T: Send + Unpin + 'static> OwningBody<T> {
    /// Wraps a body with the value it owns.
    pub fn wrap(body: Body, owned: T) -> Body {
        Body::new(Self { body, _owned: owned })
    }
}

impl<T: Unpin> HttpBody for OwningBody<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Awaits a response for at most `limit`, not counting the time spent waiting for the client's body. A request that
/// timed out is not acknowledged; a queued transaction continues on its own and is applied completely or not at all
/// (`service/changes/transactor.rs`).
pub async fn with_timeout<T>(
    limit: Option<Duration>,
    body_wait: &BodyWait,
    response: impl Future<Output = T>,
) -> Result<T> {
    let Some(limit) = limit else { return Ok(response.await) };
    let started = Instant::now();
    tokio::pin!(response);
    loop {
        let deadline = started + limit + body_wait.total();
        if deadline <= Instant::now() {
            return Err(Error::Overloaded);
        }
        if let Ok(response) = tokio::time::timeout_at(deadline, &mut response).await {
            return Ok(response);
        }
    }
}

/// Reads a small body completely. Fails with [`Error::TooLarge`] above `limit` bytes and with [`Error::BodyTimeout`] when
/// it stalls.
pub async fn read_body(body: Body, limit: u64) -> Result<Bytes> {
    let most = usize::try_from(limit).map_err(|error| Error::Internal(error.into()))?;
    match http_body_util::Limited::new(body, most).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if is_body_timeout(error.as_ref()) => Err(Error::BodyTimeout),
        Err(error) if is_budget_exhausted(error.as_ref()) => Err(Error::Overloaded),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => Err(Error::TooLarge { limit_bytes: limit }),
        // A client that disconnected does not read the response.
        Err(_) => Err(Error::invalid("", "body", "the body is not complete")),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;
    use futures_util::stream;

    /// A body that yields one chunk after a pause, and then ends or stalls.
    fn late(pause: Duration, ends: bool) -> Body {
        Body::from_stream(stream::unfold(false, move |sent| async move {
            if sent && ends {
                return None;
            }
            tokio::time::sleep(if sent { Duration::MAX } else { pause }).await;
            Some((Ok::<_, std::io::Error>("x"), true))
        }))
    }

    #[test]
    fn stalled_bodies_time_out_and_slow_connections_do_not() {
        let seconds = Duration::from_secs;
        assert_eq!(BODY_RATE.timeout(Duration::ZERO, 0), seconds(15));
        assert_eq!(
            BODY_RATE.timeout(seconds(15), 900),
            Duration::ZERO,
            "a byte now and then"
        );
        assert_eq!(BODY_RATE.timeout(seconds(14), 900), seconds(1));
        assert_eq!(
            BODY_RATE.timeout(seconds(600), 1 << 20),
            seconds(15),
            "a slow line is no offence"
        );
    }

    #[tokio::test]
    async fn stalled_body_ends_the_request() {
        let body_wait = BodyWait::default();
        let mut this = TimedBody::new(late(Duration::from_millis(1), false), body_wait.clone());
        this.minimum_rate.idle = Duration::from_millis(100);
        let outcome = read_body(Body::new(this), 1 << 20).await;
        assert!(matches!(outcome, Err(Error::BodyTimeout)), "{outcome:?}");
        assert!(body_wait.total() >= Duration::from_millis(100));
    }

    #[tokio::test]
    async fn request_timeout_excludes_waiting_for_the_client() {
        let (limit, body_wait) = (Some(Duration::from_millis(500)), BodyWait::default());
        let body = Body::new(TimedBody::new(
            late(Duration::from_millis(1200), true),
            body_wait.clone(),
        ));
        let response = with_timeout(limit, &body_wait, read_body(body, 10)).await;
        assert_eq!(response.unwrap().unwrap(), "x");
        let nothing = BodyWait::default();
        let ours = with_timeout(limit, &nothing, std::future::pending::<()>()).await;
        assert!(matches!(ours, Err(Error::Overloaded)));
        assert!(with_timeout(None, &nothing, std::future::ready(())).await.is_ok());
    }

    #[tokio::test]
    async fn body_above_limit_is_too_large() {
        assert!(matches!(
            read_body(Body::from(vec![0; 11]), 10).await,
            Err(Error::TooLarge { limit_bytes: 10 })
        ));
        assert_eq!(read_body(Body::from(vec![0; 10]), 10).await.unwrap().len(), 10);
    }
}
