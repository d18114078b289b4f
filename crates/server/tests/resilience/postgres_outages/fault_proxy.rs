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
struct FaultSwitches {
    cut_commit: AtomicBool,
    cuts: AtomicUsize,
    drop_bus_data: AtomicBool,
}

/// A proxy to a server on this machine.
pub struct FaultProxy {
    pub port: u16,
    switches: Arc<FaultSwitches>,
    _connections: tokio::task::JoinHandle<()>,
}

impl FaultProxy {
    /// Starts a proxy to this port.
    pub async fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let switches = Arc::new(FaultSwitches::default());
        let own = Arc::clone(&switches);
        let connections = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let switches = Arc::clone(&own);
                connections.spawn(async move {
                    // If the server does not accept the connection, the client connection is closed.
                    if let Ok(server) = TcpStream::connect(("127.0.0.1", server)).await {
                        drop(forward(client, server, &switches).await);
                    }
                });
            }
        });
        Self {
            port,
            switches,
            _connections: connections,
        }
    }

    /// Forwards the next commit of a write transaction, and closes the connection instead of forwarding its response.
    pub fn cut_next_commit(&self) {
        self.switches.cut_commit.store(true, Ordering::SeqCst);
    }

    /// The number of commits whose response was not forwarded.
    pub fn cuts(&self) -> usize {
        self.switches.cuts.load(Ordering::SeqCst)
    }

    /// Starts or stops dropping all data of the event bus connection in both directions, without closing it.
    pub fn drop_bus_data(&self, on: bool) {
        self.switches.drop_bus_data.store(on, Ordering::SeqCst);
    }
}

async fn forward(mut client: TcpStream, mut server: TcpStream, switches: &FaultSwitches) -> std::io::Result<()> {
    let (mut request, mut answered) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    let (mut writes, mut is_bus, mut closes_after_commit) = (false, false, false);
    // A connection that dropped data once never recovers, because that data is lost.
    let mut drops_data = false;
    loop {
        tokio::select! {
            length = client.read(&mut request) => {
                let piece = &request[..length?];
                if piece.is_empty() {
                    return Ok(());
                }
                is_bus |= contains(piece, BUS);
                drops_data |= is_bus && switches.drop_bus_data.load(Ordering::SeqCst);
                if contains(piece, b"Q\0\0\0") && contains(piece, b"BEGIN") {
                    writes = contains(piece, BEGIN);
                }
                if writes && contains(piece, COMMIT) {
                    closes_after_commit = switches.cut_commit.swap(false, Ordering::SeqCst);
                }
                if !drops_data {
                    server.write_all(piece).await?;
                }
            }
            length = server.read(&mut answered) => {
                let length = length?;
                drops_data |= is_bus && switches.drop_bus_data.load(Ordering::SeqCst);
                // A connection that drops data never closes by itself.
                if length == 0 && !drops_data {
                    return Ok(());
                }
                if closes_after_commit {
                    switches.cuts.fetch_add(1, Ordering::SeqCst);
                    return Ok(());
                }
                if drops_data {
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
