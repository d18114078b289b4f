//! The response body of a long-running route. Its permit limits computation: it is released with the last computed
//! byte, or once the client has delayed the response for too long, so that slow clients do not block the exports of an
//! organization.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

/// Total time a client may be slower than the service before the permit is released.
const CLIENT_WAIT: Duration = Duration::from_secs(10);

/// A body that owns the permit for computing it, and a value that is held until the body was read.
pub struct ExportBody<P, R> {
    body: Body,
    computing: Computing<P>,
    _reading: R,
    /// Releases the permit while the client does not read.
    _release: Option<AbortOnDropHandle<()>>,
}

/// The permit, and how long the client has delayed it. Clones share the state.
struct Computing<P>(Arc<Mutex<ExportBodyState<P>>>);

struct ExportBodyState<P> {
    permit: Option<P>,
    /// When the last chunk was returned and no further one was polled.
    since: Option<Instant>,
    waited: Duration,
    wait_max: Duration,
}

impl<P> Computing<P> {
    fn lock(&self) -> MutexGuard<'_, ExportBodyState<P>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn release(&self) {
        // Dropped without holding the lock, because dropping a permit wakes the next waiting request.
        let permit = self.lock().permit.take();
        drop(permit);
    }

    /// Completes once the client has delayed the permit for the maximum time.
    async fn exhausted(&self) {
        loop {
            let deadline = {
                let state = self.lock();
                let left = state.wait_max.saturating_sub(state.waited);
                state.since.unwrap_or_else(Instant::now) + left
            };
            if deadline <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(deadline).await;
        }
    }
}

impl<P: Send + 'static, R: Send + Unpin + 'static> ExportBody<P, R> {
    /// A body that holds `permit` while it is computed and `reading` until it was read.
    pub fn hold(body: Body, permit: P, reading: R) -> Body {
        Body::new(Self::new(body, permit, reading, CLIENT_WAIT))
    }

    fn new(body: Body, permit: P, reading: R, wait_max: Duration) -> Self {
        let is_computed = body.is_end_stream();
        let computing = Computing(Arc::new(Mutex::new(ExportBodyState {
            permit: Some(permit).filter(|_| !is_computed),
            since: None,
            waited: Duration::ZERO,
            wait_max,
        })));
        let watched = Computing(Arc::clone(&computing.0));
        let release = async move {
            watched.exhausted().await;
            watched.release();
        };
        Self {
            body,
            computing,
            _reading: reading,
            _release: (!is_computed).then(|| AbortOnDropHandle::new(tokio::spawn(release))),
        }
    }
}

impl<P, R: Unpin> HttpBody for ExportBody<P, R> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let export = &mut *self;
        {
            let mut state = export.computing.lock();
            if let Some(since) = state.since.take() {
                state.waited += since.elapsed();
            }
        }
        let frame = ready!(Pin::new(&mut export.body).poll_frame(context));
        if !matches!(frame, Some(Ok(_))) || export.body.is_end_stream() {
            export.computing.release();
        }
        export.computing.lock().since = Some(Instant::now());
        Poll::Ready(frame)
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
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use std::sync::Arc;

    use http_body_util::BodyExt as _;

    use super::*;

    fn pieces(count: usize) -> Body {
        let pieces = (0..count).map(|_| Ok::<_, std::io::Error>("piece"));
        Body::from_stream(futures_util::stream::iter(pieces))
    }

    const LONG: Duration = Duration::from_hours(1);

    #[tokio::test]
    async fn permit_is_released_with_the_last_computed_byte() {
        let (permit, reading) = (Arc::new(()), Arc::new(()));
        let mut body = ExportBody::new(Body::from("all of it"), permit.clone(), reading.clone(), LONG);
        assert_eq!(Arc::strong_count(&permit), 2);
        body.frame().await.unwrap().unwrap();
        assert_eq!(Arc::strong_count(&permit), 1, "nothing is left to compute, read or not");
        assert_eq!(Arc::strong_count(&reading), 2);
        drop(body);
        assert_eq!(Arc::strong_count(&reading), 1);
        let mut body = ExportBody::new(pieces(2), permit.clone(), (), LONG);
        body.frame().await.unwrap().unwrap();
        body.frame().await.unwrap().unwrap();
        assert_eq!(Arc::strong_count(&permit), 2, "there may be more");
        assert!(body.frame().await.is_none());
        assert_eq!(Arc::strong_count(&permit), 1);
        drop(ExportBody::new(Body::empty(), permit.clone(), (), LONG));
        assert_eq!(Arc::strong_count(&permit), 1);
    }

    #[tokio::test]
    async fn slow_reader_loses_the_permit_and_keeps_the_response() {
        let permit = Arc::new(());
        let mut body = ExportBody::new(pieces(3), permit.clone(), (), Duration::from_millis(10));
        body.frame().await.unwrap().unwrap();
        // The client does not read.
        while Arc::strong_count(&permit) > 1 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        body.frame().await.unwrap().unwrap();
        body.frame().await.unwrap().unwrap();
        assert!(body.frame().await.is_none(), "the answer is whole");
    }

    #[tokio::test]
    async fn slow_computing_keeps_the_permit() {
        let permit = Arc::new(());
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let late = futures_util::stream::once(async move {
            drop(receiver.await);
            Ok::<_, std::io::Error>("piece")
        });
        let mut body = ExportBody::new(Body::from_stream(late), permit.clone(), (), Duration::from_millis(10));
        let mut frame = std::pin::pin!(body.frame());
        let pause = tokio::time::timeout(Duration::from_millis(50), frame.as_mut()).await;
        assert!(
            pause.is_err() && Arc::strong_count(&permit) == 2,
            "it is still computed"
        );
        sender.send(()).unwrap();
        frame.await.unwrap().unwrap();
    }
}
