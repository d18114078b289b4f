//! A listener that can refuse connections and reset open ones at runtime, to simulate an outage.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::serve::Listener;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpSocket, TcpStream},
    sync::watch,
};
use tokio_util::sync::CancellationToken;

use crate::faults::Outage;

/// Maximum number of connections that wait to be accepted.
const BACKLOG: u32 = 1024;

/// Accepts connections, except during an outage.
pub(crate) struct FaultyListener {
    listener: Option<TcpListener>,
    /// During an outage: bound without listening, so that connections are refused and nothing else gets the port.
    reserved: Option<TcpSocket>,
    address: SocketAddr,
    down: watch::Receiver<Option<Outage>>,
    stop: CancellationToken,
}

impl FaultyListener {
    pub(crate) async fn bind(
        address: SocketAddr,
        down: watch::Receiver<Option<Outage>>,
        stop: CancellationToken,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        Ok(Self {
            address: listener.local_addr()?,
            listener: Some(listener),
            reserved: None,
            down,
            stop,
        })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Begins an outage. The port cannot be bound again before the listener is closed.
    fn refuse(&mut self) {
        if self.listener.take().is_some() {
            self.reserved = bind_socket(self.address).ok();
        }
    }

    /// Ends an outage.
    fn listen(&mut self) -> io::Result<()> {
        let socket = match self.reserved.take() {
            Some(socket) => socket,
            None => bind_socket(self.address)?,
        };
        self.listener = Some(socket.listen(BACKLOG)?);
        Ok(())
    }
}

/// Binds an address that connections of the former listener may still use.
fn bind_socket(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

fn is_refusing(down: &watch::Receiver<Option<Outage>>) -> bool {
    *down.borrow() == Some(Outage::Refuse)
}

impl Listener for FaultyListener {
    type Io = FaultyStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (FaultyStream, SocketAddr) {
        loop {
            if is_refusing(&self.down) {
                self.refuse();
                if self.down.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
                continue;
            }
            let Some(listener) = &self.listener else {
                if self.listen().is_err() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                continue;
            };
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, from)) => {
                        let stream = FaultyStream { stream, down: self.down.clone(), stop: self.stop.clone() };
                        return (stream, from);
                    }
                    // For example too many open files, which may be temporary.
                    Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                },
                _ = self.down.changed() => {}
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}

/// A connection that fails with a reset at its next use after an outage or stop.
pub(crate) struct FaultyStream {
    stream: TcpStream,
    down: watch::Receiver<Option<Outage>>,
    stop: CancellationToken,
}

impl FaultyStream {
    fn check(&self) -> io::Result<()> {
        if self.stop.is_cancelled() || is_refusing(&self.down) {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        Ok(())
    }
}

impl AsyncRead for FaultyStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for FaultyStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
