//! A fault proxy between an instance and PostgreSQL. It can close a connection before the response to a commit is
//! forwarded, and it can drop all data without closing the connection, as a failed firewall does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// The statements that begin and end a write transaction. Read transactions send additional text after `BEGIN`.
const BEGIN: &[u8] = b"Q\0\0\0\x0aBEGIN\0";
const COMMIT: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";
/// The application name of the event bus connection.
const BUS: &[u8] = b"groupwork bus\0";

#[derive(Default)]
struct Orders {
    cut_commit: AtomicBool,
    cuts: AtomicUsize,
    swallow_bus: AtomicBool,
}

/// A proxy to a server on this machine.
pub struct Cable {
    pub port: u16,
    orders: Arc<Orders>,
    _lines: tokio::task::JoinHandle<()>,
}

impl Cable {
    /// Starts a proxy to this port.
    pub async fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let orders = Arc::new(Orders::default());
        let own = Arc::clone(&orders);
        let lines = tokio::spawn(async move {
            let mut lines = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let orders = Arc::clone(&own);
                lines.spawn(async move {
                    // If the server does not accept the connection, the client connection is closed.
                    if let Ok(server) = TcpStream::connect(("127.0.0.1", server)).await {
                        drop(carry(client, server, &orders).await);
                    }
                });
            }
        });
        Self {
            port,
            orders,
            _lines: lines,
        }
    }

    /// Forwards the next commit of a write transaction, and closes the connection instead of forwarding its response.
    pub fn cut_next_commit(&self) {
        self.orders.cut_commit.store(true, Ordering::SeqCst);
    }

    /// The number of commits whose response was not forwarded.
    pub fn cuts(&self) -> usize {
        self.orders.cuts.load(Ordering::SeqCst)
    }

    /// Starts or stops dropping all data of the event bus connection in both directions, without closing it.
    pub fn swallow_bus(&self, on: bool) {
        self.orders.swallow_bus.store(on, Ordering::SeqCst);
    }
}

async fn carry(mut client: TcpStream, mut server: TcpStream, orders: &Orders) -> std::io::Result<()> {
    let (mut said, mut answered) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    let (mut writes, mut is_bus, mut is_doomed) = (false, false, false);
    // A connection that dropped data once never recovers, because that data is lost.
    let mut is_deaf = false;
    loop {
        tokio::select! {
            length = client.read(&mut said) => {
                let piece = &said[..length?];
                if piece.is_empty() {
                    return Ok(());
                }
                is_bus |= contains(piece, BUS);
                is_deaf |= is_bus && orders.swallow_bus.load(Ordering::SeqCst);
                if contains(piece, b"Q\0\0\0") && contains(piece, b"BEGIN") {
                    writes = contains(piece, BEGIN);
                }
                if writes && contains(piece, COMMIT) {
                    is_doomed = orders.cut_commit.swap(false, Ordering::SeqCst);
                }
                if !is_deaf {
                    server.write_all(piece).await?;
                }
            }
            length = server.read(&mut answered) => {
                let length = length?;
                is_deaf |= is_bus && orders.swallow_bus.load(Ordering::SeqCst);
                // A connection that drops data never closes by itself.
                if length == 0 && !is_deaf {
                    return Ok(());
                }
                if is_doomed {
                    orders.cuts.fetch_add(1, Ordering::SeqCst);
                    return Ok(());
                }
                if is_deaf {
                    if length == 0 {
                        std::future::pending::<()>().await;
                    }
                } else {
                    client.write_all(&answered[..length]).await?;
                }
            }
        }
    }
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|piece| piece == wanted)
}
