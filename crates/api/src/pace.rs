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
pub(super) struct Pace {
    /// The longest pause, and the total time a transfer may fall behind `slowest`.
    pub(super) idle: Duration,
    /// Minimum bytes per second once `idle` is used up.
    pub(super) slowest: u64,
}

/// The minimum rate of request bodies.
const PACE: Pace = Pace {
    idle: Duration::from_secs(15),
    slowest: 1024,
};

/// The minimum rate at which clients read responses. The kernel buffers megabytes of a response, so a client with a
/// slow network reads nothing for long periods.
pub(super) const READER_PACE: Pace = Pace {
    idle: Duration::from_mins(1),
    slowest: 4096,
};

impl Pace {
    /// How long a pause may last, after this total waiting time and number of bytes.
    pub(super) fn timeout(self, past: Duration, received: u64) -> Duration {
        let allowed = self.idle + Duration::from_secs(received / self.slowest);
        self.idle.min(allowed.saturating_sub(past))
    }
}

/// The body stalled or fell below the minimum rate.
#[derive(Debug, thiserror::Error)]
#[error("request body timeout")]
pub struct TooSlow;

/// Whether an error was caused by [`TooSlow`].
pub fn is_too_slow(error: &(dyn StdError + 'static)) -> bool {
    error.is::<TooSlow>() || error.source().is_some_and(is_too_slow)
}

/// How long a request has waited for its body; clones share the state.
#[derive(Clone, Default)]
pub struct Waiting(Arc<Mutex<Waited>>);

#[derive(Default)]
struct Waited {
    past: Duration,
    since: Option<Instant>,
}

impl Waiting {
    /// The total time waited so far.
    pub fn total(&self) -> Duration {
        let waited = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waited.past + waited.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// The body has no data at the moment. Returns the deadline of this pause, given the bytes received so far.
    fn pause(&self, pace: Pace, received: u64) -> Instant {
        let mut waited = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let since = *waited.since.get_or_insert_with(Instant::now);
        since + pace.timeout(waited.past, received)
    }

    fn go_on(&self) {
        let mut waited = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(since) = waited.since.take() {
            waited.past += since.elapsed();
        }
    }
}

/// A request body with a minimum rate.
pub struct Paced {
    body: Body,
    pace: Pace,
    waiting: Waiting,
    received: u64,
    alarm: Option<Pin<Box<Sleep>>>,
}

impl Paced {
    /// Wraps a body.
    pub fn new(body: Body, waiting: Waiting) -> Self {
        Self {
            body,
            pace: PACE,
            waiting,
            received: 0,
            alarm: None,
        }
    }
}

impl HttpBody for Paced {
    type Data = Bytes;
    type Error = Box<dyn StdError + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let paced = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut paced.body).poll_frame(context) {
            paced.waiting.go_on();
            paced.alarm = None;
            if let Some(Ok(frame)) = &frame {
                paced.received += frame.data_ref().map_or(0, |data| data.len() as u64);
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let deadline = paced.waiting.pause(paced.pace, paced.received);
        let alarm = paced
            .alarm
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        ready!(alarm.as_mut().poll(context));
        paced.waiting.go_on();
        Poll::Ready(Some(Err(Box::new(TooSlow))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A body that owns a value until it was read completely or is dropped.
pub struct Holding<T> {
    body: Body,
    _held: T,
}

impl<T: Send + Unpin + 'static> Holding<T> {
    /// Wraps a body with the value it owns.
    pub fn keep(body: Body, held: T) -> Body {
        Body::new(Self { body, _held: held })
    }
}

impl<T: Unpin> HttpBody for Holding<T> {
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
/// (`changes/perform.rs`).
pub async fn within<T>(limit: Option<Duration>, waiting: &Waiting, answer: impl Future<Output = T>) -> Result<T> {
    let Some(limit) = limit else { return Ok(answer.await) };
    let started = Instant::now();
    tokio::pin!(answer);
    loop {
        let deadline = started + limit + waiting.total();
        if deadline <= Instant::now() {
            return Err(Error::Overloaded);
        }
        if let Ok(answered) = tokio::time::timeout_at(deadline, &mut answer).await {
            return Ok(answered);
        }
    }
}

/// Reads a small body completely. Fails with [`Error::TooLarge`] above `limit` bytes and with [`Error::BodyTimeout`] when
/// it stalls.
pub async fn read_body(body: Body, limit: u64) -> Result<Bytes> {
    let most = usize::try_from(limit).map_err(|error| Error::Internal(error.into()))?;
    match http_body_util::Limited::new(body, most).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if is_too_slow(error.as_ref()) => Err(Error::BodyTimeout),
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
    fn pauses_and_drips_are_bounded_and_slow_lines_are_not() {
        let seconds = Duration::from_secs;
        assert_eq!(PACE.patience(Duration::ZERO, 0), seconds(15));
        assert_eq!(PACE.patience(seconds(15), 900), Duration::ZERO, "a byte now and then");
        assert_eq!(PACE.patience(seconds(14), 900), seconds(1));
        assert_eq!(
            PACE.patience(seconds(600), 1 << 20),
            seconds(15),
            "a slow line is no offence"
        );
    }

    #[tokio::test]
    async fn a_body_that_stalls_ends_the_request() {
        let waiting = Waiting::default();
        let mut paced = Paced::new(late(Duration::from_millis(1), false), waiting.clone());
        paced.pace.idle = Duration::from_millis(100);
        let outcome = read_body(Body::new(paced), 1 << 20).await;
        assert!(matches!(outcome, Err(Error::BodyTimeout)), "{outcome:?}");
        assert!(waiting.total() >= Duration::from_millis(100));
    }

    #[tokio::test]
    async fn the_clients_time_is_not_ours() {
        let (limit, waiting) = (Some(Duration::from_millis(500)), Waiting::default());
        let body = Body::new(Paced::new(late(Duration::from_millis(1200), true), waiting.clone()));
        let answer = within(limit, &waiting, read_body(body, 10)).await;
        assert_eq!(answer.unwrap().unwrap(), "x");
        let nothing = Waiting::default();
        let ours = within(limit, &nothing, std::future::pending::<()>()).await;
        assert!(matches!(ours, Err(Error::Overloaded)));
        assert!(within(None, &nothing, std::future::ready(())).await.is_ok());
    }

    #[tokio::test]
    async fn more_than_the_limit_is_too_large() {
        assert!(matches!(
            read_body(Body::from(vec![0; 11]), 10).await,
            Err(Error::TooLarge { limit_bytes: 10 })
        ));
        assert_eq!(read_body(Body::from(vec![0; 10]), 10).await.unwrap().len(), 10);
    }
}
