//! Handles a request body that is still arriving when the response is ready. A client whose connection is closed while
//! it sends sees a connection error instead of the response (Node's fetch fails with EPIPE), so the rest is read and
//! discarded for a short time.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use hyper::body::{Frame, SizeHint};

/// Maximum time to read the rest of a body.
const DRAIN: Duration = Duration::from_secs(10);
/// A client that pauses for this long is waiting for the response.
const PAUSE: Duration = Duration::from_secs(2);

/// Reads the rest of the body before the response is sent.
pub async fn drain(request: Request, next: Next) -> Response {
    // With `Expect: 100-continue` the client receives the response instead of the permission to send.
    let asks_first = request.headers().contains_key(header::EXPECT);
    if asks_first || request.body().is_end_stream() {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let rest = SharedBody(Arc::new(Mutex::new(body)));
    let response = next.run(Request::from_parts(parts, Body::new(rest.clone()))).await;
    // If the handler still reads while it responds, the body is not unread yet.
    let is_unread = Arc::strong_count(&rest.0) == 1 && !rest.is_end_stream();
    if is_unread && response.status() != StatusCode::SWITCHING_PROTOCOLS {
        let _ = tokio::time::timeout(DRAIN, rest.read_on()).await;
    }
    response
}

/// A body that two owners can read, one after the other.
#[derive(Clone)]
struct SharedBody(Arc<Mutex<Body>>);

impl SharedBody {
    fn lock(&self) -> MutexGuard<'_, Body> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Discards frames until the body ends, fails or pauses.
    async fn read_on(&self) {
        let frame = || std::future::poll_fn(|context| Pin::new(&mut *self.lock()).poll_frame(context));
        while let Ok(Some(Ok(_))) = tokio::time::timeout(PAUSE, frame()).await {}
    }
}

impl HttpBody for SharedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut *self.lock()).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.lock().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.lock().size_hint()
    }
}
