//! The stream of a connection (TCP, or a Unix socket behind a proxy), which can be aborted: after [`AbortHandle::abort`] every read and write fails at once, even
//! while it waits for a client that does not read (the kernel also gives up such a client after a while). Clients that
//! send a request head too slowly, or stay idle too long, are disconnected here, because hyper has one timeout for
//! both.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::{Instant, Sleep};
use tokio_util::either::Either;

use super::body_timeout::{MinimumRate, READER_RATE};
use super::head_scanner::HeadScanner;
use realtime::abort::AbortHandle;

/// TCP user timeout: a peer that acknowledges nothing for this long is disconnected.
const USER_TIMEOUT: Duration = Duration::from_secs(25);
/// Idle time before the kernel sends a keep-alive probe.
const KEEP_ALIVE: Duration = Duration::from_mins(1);

/// Timeout of a request head.
const HEAD: Duration = Duration::from_secs(10);
/// Timeout of an idle connection between two requests.
const IDLE: Duration = Duration::from_mins(1);

/// The phase of a connection; clones share it. Its lowest two bits are the kind of the phase, the others count the phases
/// of the connection: the heads of two requests are different phases even if nothing was read in between.
#[derive(Debug, Clone, Default)]
pub struct Phase(Arc<AtomicU64>);

impl Phase {
    /// Waiting for a request head: the first one, or one that has begun to arrive.
    const HEAD: u64 = 0;
    /// Processing a request.
    const BUSY: u64 = 1;
    /// Waiting for the next request.
    const IDLE: u64 = 2;
    /// Upgraded to a WebSocket, which has limits of its own.
    const UPGRADED: u64 = 3;

    const KIND_BITS: u32 = 2;

    /// A request head is complete and is being processed.
    pub fn begin(&self) {
        self.enter(Self::BUSY);
    }

    /// The connection was upgraded and is no longer HTTP.
    pub fn upgrade(&self) {
        self.enter(Self::UPGRADED);
    }

    /// Returns a guard to hold until the response is complete.
    pub fn begin_response(&self) -> ResponseGuard {
        ResponseGuard(self.clone())
    }

    /// Whether the head of a request is arriving, or may be.
    pub fn is_awaiting_head(&self) -> bool {
        self.kind() == Self::HEAD
    }

    /// Begins a phase of this kind. One task changes the phase at a time.
    fn enter(&self, kind: u64) {
        let count = (self.get() >> Self::KIND_BITS) + 1;
        self.0.store(count << Self::KIND_BITS | kind, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn kind(&self) -> u64 {
        Self::kind_of(self.get())
    }

    const fn kind_of(phase: u64) -> u64 {
        phase & ((1 << Self::KIND_BITS) - 1)
    }

    /// The timeout for client input in this phase.
    fn timeout(phase: u64) -> Option<Duration> {
        match Self::kind_of(phase) {
            Self::HEAD => Some(HEAD),
            Self::IDLE => Some(IDLE),
            _ => None,
        }
    }
}

/// A response in progress. When it is dropped, the connection waits for the next request.
pub struct ResponseGuard(Phase);

impl Drop for ResponseGuard {
    fn drop(&mut self) {
        self.0.enter(Phase::IDLE);
    }
}

/// An accepted connection.
pub type Accepted = Either<TcpStream, UnixStream>;

/// A stream that can be aborted. After an upgrade, reader and writer are different tasks, so each has its own
/// waker.
pub struct ClientStream {
    stream: Accepted,
    abort_handle: AbortHandle,
    phase: Phase,
    /// The phase and its timer. The timer is reset when the phase changes.
    timer: (u64, Option<Pin<Box<Sleep>>>),
    reader: SlowReader,
    head_scanner: HeadScanner,
}

/// Measures for how long the client of a connection has not read its responses.
struct SlowReader {
    minimum_rate: MinimumRate,
    written: u64,
    waited: Duration,
    since: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl SlowReader {
    fn new(minimum_rate: MinimumRate) -> Self {
        Self {
            minimum_rate,
            written: 0,
            waited: Duration::ZERO,
            since: None,
            timer: None,
        }
    }

    /// The client has read something.
    fn progress(&mut self, bytes: usize) {
        self.written += bytes as u64;
        if let Some(since) = self.since.take() {
            self.waited += since.elapsed();
            self.timer = None;
        }
    }

    /// The client reads nothing at the moment. Fails once that has lasted too long.
    fn wait(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let since = *self.since.get_or_insert_with(Instant::now);
        let timeout = self.minimum_rate.timeout(self.waited, self.written);
        let timer = self
            .timer
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(since + timeout)));
        if timer.as_mut().poll(context).is_pending() {
            return Ok(());
        }
        let message = "timeout: client reads the response too slowly";
        Err(io::Error::new(io::ErrorKind::TimedOut, message))
    }
}

impl ClientStream {
    /// Sets the socket options of an accepted stream and wraps it.
    pub fn new(stream: Accepted, phase: Phase) -> io::Result<(Self, AbortHandle)> {
        if let Either::Left(stream) = &stream {
            stream.set_nodelay(true)?;
            let socket = SockRef::from(stream);
            socket.set_tcp_user_timeout(Some(USER_TIMEOUT))?;
            socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEP_ALIVE))?;
        }
        let abort_handle = AbortHandle::default();
        let this = Self {
            abort_handle: abort_handle.clone(),
            timer: (phase.get(), Some(Box::pin(tokio::time::sleep(HEAD)))),
            phase,
            stream,
            reader: SlowReader::new(READER_RATE),
            head_scanner: HeadScanner::default(),
        };
        Ok((this, abort_handle))
    }

    /// The client has sent nothing. Closes the connection once the timeout of the phase has elapsed.
    fn wait(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let phase = self.phase.get();
        if self.timer.0 != phase {
            let timeout = Phase::timeout(phase).map(|timeout| Box::pin(tokio::time::sleep(timeout)));
            self.timer = (phase, timeout);
        }
        let is_over = self
            .timer
            .1
            .as_mut()
            .is_some_and(|timer| timer.as_mut().poll(context).is_ready());
        if is_over {
            let message = "timeout: client sent nothing";
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, message)));
        }
        Poll::Pending
    }

    /// Records the progress of a write. Fails a write that waits for a client that reads too slowly.
    fn after_write(&mut self, context: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Ready(Ok(bytes)) => self.reader.progress(*bytes),
            Poll::Pending if self.phase.kind() != Phase::UPGRADED => {
                if let Err(error) = self.reader.wait(context) {
                    self.discard_unsent();
                    return Poll::Ready(Err(error));
                }
            }
            _ => {}
        }
        written
    }

    /// Discards what the kernel has buffered for the client when the stream is closed.
    fn discard_unsent(&self) {
        if let Either::Left(stream) = &self.stream {
            drop(SockRef::from(stream).set_linger(Some(Duration::ZERO)));
        }
    }

    /// Fails once the connection was aborted.
    fn check_aborted(&self, is_aborted: bool) -> io::Result<()> {
        if !is_aborted {
            return Ok(());
        }
        self.discard_unsent();
        Err(io::Error::new(
            io::ErrorKind::ConnectionAborted,
            "connection aborted by the server",
        ))
    }
}

impl Drop for ClientStream {
    fn drop(&mut self) {
        // Marks the handle as used, so that its owner knows that the connection has ended.
        self.abort_handle.abort();
    }
}

impl AsyncRead for ClientStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.check_aborted(this.abort_handle.register_reader(context))?;
        let before = buffer.filled().len();
        if Pin::new(&mut this.stream).poll_read(context, buffer)?.is_pending() {
            return this.wait(context);
        }
        let kind = this.phase.kind();
        if kind != Phase::UPGRADED {
            this.head_scanner.scan(&mut buffer.filled_mut()[before..]);
        }
        if buffer.filled().len() > before && kind == Phase::IDLE {
            this.phase.enter(Phase::HEAD);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        this.check_aborted(this.abort_handle.register_writer(context))?;
        let written = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.after_write(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        this.check_aborted(this.abort_handle.register_writer(context))?;
        let written = Pin::new(&mut this.stream).poll_write_vectored(context, slices);
        this.after_write(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.check_aborted(this.abort_handle.register_writer(context))?;
        Pin::new(&mut this.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use futures_util::FutureExt as _;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    const IMPATIENT: MinimumRate = MinimumRate {
        idle: Duration::from_millis(100),
        bytes_per_second: 1 << 40,
    };

    async fn pair() -> (ClientStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (this, _) = ClientStream::new(Either::Left(listener.accept().await.unwrap().0), Phase::default()).unwrap();
        (this, client)
    }

    #[tokio::test]
    async fn client_that_does_not_read_is_disconnected() {
        let (mut this, _client) = pair().await;
        this.reader = SlowReader::new(IMPATIENT);
        this.phase.begin();
        let piece = vec![0; 1 << 20];
        let error = loop {
            if let Err(error) = this.write_all(&piece).await {
                break error;
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    /// A connection, the other end of which has sent nothing.
    struct Waiting {
        this: ClientStream,
        client: UnixStream,
    }

    impl Waiting {
        fn new() -> Self {
            let (server, client) = UnixStream::pair().unwrap();
            let (this, _) = ClientStream::new(Either::Right(server), Phase::default()).unwrap();
            Self { this, client }
        }

        async fn receive(&mut self, bytes: &[u8]) {
            self.client.write_all(bytes).await.unwrap();
            let mut received = vec![0; bytes.len()];
            self.this.read_exact(&mut received).await.unwrap();
        }

        fn respond(&self) {
            self.this.phase.begin();
            drop(self.this.phase.begin_response());
        }

        /// Returns when the connection is closed if the client sends nothing more.
        fn deadline(&mut self) -> Instant {
            let mut byte = [0];
            assert!(self.this.read(&mut byte).now_or_never().is_none());
            self.this.timer.1.as_ref().unwrap().deadline()
        }
    }

    #[tokio::test]
    async fn idle_timeout_restarts_after_each_response() {
        let mut connection = Waiting::new();
        for _ in 0..3 {
            connection.receive(b"GET / HTTP/1.1\r\n\r\n").await;
            connection.respond();
            let responded = Instant::now();
            assert!(connection.deadline() >= responded + IDLE);
        }
    }

    /// hyper reads once more after a head, and after a quick response not before the next head arrives.
    #[tokio::test]
    async fn head_timeout_restarts_with_each_request_although_no_read_saw_the_pause() {
        let mut connection = Waiting::new();
        let mut last = connection.deadline();
        for _ in 0..3 {
            connection.respond();
            connection.receive(b"GET / HTTP/1.1\r\n\r\n").await;
            let deadline = connection.deadline();
            assert!(deadline > last);
            last = deadline;
        }
    }

    #[tokio::test]
    async fn bytes_of_slow_head_do_not_extend_its_timeout() {
        let mut connection = Waiting::new();
        let first = connection.deadline();
        connection.receive(b"G").await;
        assert_eq!(connection.deadline(), first);
        connection.respond();
        connection.receive(b"G").await;
        let second = connection.deadline();
        assert!(second > first);
        connection.receive(b"E").await;
        assert_eq!(connection.deadline(), second);
    }

    #[tokio::test]
    async fn websocket_is_exempt_from_slow_reader_limit() {
        let (mut this, mut client) = pair().await;
        this.reader = SlowReader::new(IMPATIENT);
        this.phase.upgrade();
        let writing = tokio::spawn(async move { this.write_all(&vec![0; 32 << 20]).await });
        tokio::time::sleep(Duration::from_millis(300)).await;
        tokio::spawn(async move { client.read_to_end(&mut Vec::new()).await });
        writing.await.unwrap().unwrap();
    }
}
