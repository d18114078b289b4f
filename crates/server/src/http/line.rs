//! The wire of one connection, which can be cut: after [`Cut::pull`] every read and write fails at once, also those that
//! wait for a client that does not read. The kernel gives up such a client by itself after a while, too.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::live::cut::Cut;

/// A peer that acknowledges nothing, or takes nothing, for this long is gone (contract 9: cut within 30 s).
const UNACKNOWLEDGED: Duration = Duration::from_secs(25);
/// After this long without traffic the kernel asks whether the peer is still there.
const KEEP_ALIVE: Duration = Duration::from_mins(1);

type Pulled = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A TCP stream with its cut. Readers and writers are different tasks after an upgrade, so each waits on its own.
pub struct Line {
    stream: TcpStream,
    cut: Cut,
    read_pulled: Pulled,
    write_pulled: Pulled,
}

impl Line {
    /// Makes an accepted stream ready to be served.
    pub fn new(stream: TcpStream) -> io::Result<(Self, Cut)> {
        stream.set_nodelay(true)?;
        let socket = SockRef::from(&stream);
        socket.set_tcp_user_timeout(Some(UNACKNOWLEDGED))?;
        socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEP_ALIVE))?;
        let cut = Cut::default();
        let line = Self {
            read_pulled: Box::pin(cut.pulled()),
            write_pulled: Box::pin(cut.pulled()),
            cut: cut.clone(),
            stream,
        };
        Ok((line, cut))
    }

    fn check(pulled: &mut Pulled, stream: &TcpStream, context: &mut Context<'_>) -> io::Result<()> {
        if pulled.as_mut().poll(context).is_pending() {
            return Ok(());
        }
        // What still waits in the kernel for a client that was cut off is thrown away.
        drop(SockRef::from(stream).set_linger(Some(Duration::ZERO)));
        *pulled = Box::pin(std::future::ready(()));
        Err(io::Error::new(
            io::ErrorKind::ConnectionAborted,
            "the connection was cut",
        ))
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        // Whoever keeps the cut learns that there is nothing left to cut.
        self.cut.pull();
    }
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let line = &mut *self;
        Self::check(&mut line.read_pulled, &line.stream, context)?;
        Pin::new(&mut line.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Line {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let line = &mut *self;
        Self::check(&mut line.write_pulled, &line.stream, context)?;
        Pin::new(&mut line.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let line = &mut *self;
        Self::check(&mut line.write_pulled, &line.stream, context)?;
        Pin::new(&mut line.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let line = &mut *self;
        Self::check(&mut line.write_pulled, &line.stream, context)?;
        Pin::new(&mut line.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
