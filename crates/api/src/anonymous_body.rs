//! Limits the bodies of requests without a session: the bytes of all of them in this process, the bytes per client
//! address, and the time in which each must arrive. Requests with a session are bounded by the limits of the user.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::pin::Pin;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use hyper::body::{Frame, SizeHint};
use tokio::time::Sleep;

use super::body_timeout::BodyTimeout;

/// Total bytes of such bodies.
const TOTAL: usize = 32 << 20;
/// Bytes of such bodies per client address.
const PER_CLIENT: usize = 8 << 20;
/// Bytes at the start of each body that are not counted, so that an exhausted budget does not prevent sign-in. A
/// connection uses more memory than this anyway, and connections are bounded.
const UNCOUNTED: usize = 8 << 10;
/// Time in which a body must arrive completely.
const TIME: Duration = Duration::from_secs(30);

/// The budget of this process.
static BUDGET: LazyLock<BodyMemory> = LazyLock::new(|| BodyMemory::new(TOTAL, PER_CLIENT));

/// Too many bytes of bodies without a session are in memory.
#[derive(Debug, thiserror::Error)]
#[error("memory budget for bodies without a session exhausted")]
pub struct BudgetExhausted;

/// Whether an error was caused by [`BudgetExhausted`].
pub fn is_budget_exhausted(error: &(dyn StdError + 'static)) -> bool {
    error.is::<BudgetExhausted>() || error.source().is_some_and(is_budget_exhausted)
}

/// Bytes in memory, in total and by client address. Clones share the counts.
#[derive(Clone)]
struct BodyMemory(Arc<BodyMemoryLimits>);

struct BodyMemoryLimits {
    total: usize,
    per_client: usize,
    used: Mutex<Used>,
}

#[derive(Default)]
struct Used {
    total: usize,
    by_client: HashMap<String, usize>,
}

impl BodyMemory {
    fn new(total: usize, per_client: usize) -> Self {
        Self(Arc::new(BodyMemoryLimits {
            total,
            per_client,
            used: Mutex::default(),
        }))
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.0.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, client: &str, bytes: usize) -> Result<(), BudgetExhausted> {
        let mut used = self.used();
        let of_client = used.by_client.get(client).copied().unwrap_or_default() + bytes;
        if used.total + bytes > self.0.total || of_client > self.0.per_client {
            return Err(BudgetExhausted);
        }
        used.total += bytes;
        used.by_client.insert(client.to_owned(), of_client);
        Ok(())
    }

    fn release(&self, client: &str, bytes: usize) {
        let mut used = self.used();
        used.total -= bytes;
        let left = used.by_client.get_mut(client).map(|of_client| {
            *of_client -= bytes;
            *of_client
        });
        if left == Some(0) {
            used.by_client.remove(client);
        }
    }
}

/// The bytes that a request without a session has read of its body. Clones share the charge; the last one releases it.
#[derive(Clone)]
pub struct AnonymousBody(Arc<Charge>);

struct Charge {
    budget: BodyMemory,
    client: String,
    state: Mutex<BodyState>,
}

#[derive(Default)]
struct BodyState {
    received: usize,
    taken: usize,
    is_authenticated: bool,
}

impl AnonymousBody {
    /// Applies the limits to a request without a session. The handler keeps the returned value until it responds.
    pub fn limit(request: Request, client: String) -> (Request, Self) {
        Self::limit_with(request, client, BUDGET.clone(), TIME)
    }

    fn limit_with(mut request: Request, client: String, budget: BodyMemory, time: Duration) -> (Request, Self) {
        let charge = Self(Arc::new(Charge {
            budget,
            client,
            state: Mutex::default(),
        }));
        request.extensions_mut().insert(charge.clone());
        let limited = charge.clone();
        let request = request.map(|body| {
            if body.is_end_stream() {
                return body;
            }
            Body::new(LimitedBody {
                body,
                charge: limited,
                deadline: Box::pin(tokio::time::sleep(time)),
            })
        });
        (request, charge)
    }

    /// Lifts the limits: the caller has proved its identity by other means than a session.
    pub fn authenticate(&self) {
        let mut state = self.state();
        state.is_authenticated = true;
        let taken = std::mem::take(&mut state.taken);
        drop(state);
        if taken > 0 {
            self.0.budget.release(&self.0.client, taken);
        }
    }

    fn receive(&self, bytes: usize) -> Result<(), BudgetExhausted> {
        let mut state = self.state();
        state.received += bytes;
        if state.is_authenticated {
            return Ok(());
        }
        let more = state.received.saturating_sub(UNCOUNTED) - state.taken;
        if more > 0 {
            self.0.budget.take(&self.0.client, more)?;
            state.taken += more;
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, BodyState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        let taken = self.state.get_mut().unwrap_or_else(PoisonError::into_inner).taken;
        if taken > 0 {
            self.budget.release(&self.client, taken);
        }
    }
}

/// The limited body of a request without a session.
struct LimitedBody {
    body: Body,
    charge: AnonymousBody,
    deadline: Pin<Box<Sleep>>,
}

impl HttpBody for LimitedBody {
    type Data = Bytes;
    type Error = Box<dyn StdError + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let limited = &mut *self;
        let is_late = limited.deadline.as_mut().poll(context).is_ready();
        if is_late && !limited.charge.state().is_authenticated {
            return Poll::Ready(Some(Err(Box::new(BodyTimeout))));
        }
        let frame = std::task::ready!(Pin::new(&mut limited.body).poll_frame(context));
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
            && let Err(error) = limited.charge.receive(data.len())
        {
            return Poll::Ready(Some(Err(Box::new(error))));
        }
        Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body_timeout::read_body;
    use common::error::Error;

    const LONG: Duration = Duration::from_hours(1);

    fn request(budget: &BodyMemory, client: &str, body: Body, time: Duration) -> (Body, AnonymousBody) {
        let request = Request::new(body);
        let (request, charge) = AnonymousBody::limit_with(request, client.to_owned(), budget.clone(), time);
        (request.into_body(), charge)
    }

    fn bytes(count: usize) -> Body {
        Body::from(vec![0; count])
    }

    #[tokio::test]
    async fn bytes_count_in_total_and_per_client_until_the_request_ends() {
        let budget = BodyMemory::new(300 << 10, 200 << 10);
        let size = 100 << 10;
        let (body, first) = request(&budget, "a", bytes(size + UNCOUNTED), LONG);
        assert!(read_body(body, u64::MAX).await.is_ok());
        assert_eq!(budget.used().total, size);
        let (body, second) = request(&budget, "a", bytes(size + UNCOUNTED), LONG);
        assert!(read_body(body, u64::MAX).await.is_ok());
        let (body, refused) = request(&budget, "a", bytes(size), LONG);
        assert!(
            matches!(read_body(body, u64::MAX).await, Err(Error::Overloaded)),
            "the client's share"
        );
        let (body, other) = request(&budget, "b", bytes(size + UNCOUNTED), LONG);
        assert!(read_body(body, u64::MAX).await.is_ok());
        let (body, full) = request(&budget, "c", bytes(size), LONG);
        assert!(
            matches!(read_body(body, u64::MAX).await, Err(Error::Overloaded)),
            "the total"
        );
        let (body, small) = request(&budget, "a", bytes(UNCOUNTED), LONG);
        assert!(
            read_body(body, u64::MAX).await.is_ok(),
            "a sign-in is read all the same"
        );
        first.authenticate();
        assert_eq!(budget.used().by_client["a"], size);
        drop((first, second, refused, other, full, small));
        assert!(budget.used().total == 0 && budget.used().by_client.is_empty());
    }

    #[tokio::test]
    async fn slow_anonymous_body_ends_the_request() {
        let budget = BodyMemory::new(TOTAL, PER_CLIENT);
        let never = || Body::from_stream(futures_util::stream::pending::<Result<Bytes, std::io::Error>>());
        let (body, _charge) = request(&budget, "a", never(), Duration::from_millis(10));
        assert!(matches!(read_body(body, 10).await, Err(Error::BodyTimeout)));
        let (body, charge) = request(&budget, "a", never(), Duration::from_millis(10));
        charge.authenticate();
        let waited = tokio::time::timeout(Duration::from_millis(100), read_body(body, 10)).await;
        assert!(waited.is_err(), "an authenticated caller has more time");
    }
}
