//! A bare WebSocket client that reads only on request.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{TestApp, WAIT_TIMEOUT};

pub struct Socket {
    stream: TcpStream,
    bytes: Vec<u8>,
}

impl Socket {
    /// Connects and joins the namespace.
    pub async fn open(app: &TestApp, cookie: &str) -> Self {
        Self::open_at(&app.base, cookie).await
    }

    /// Like `open`, for another instance.
    pub async fn open_at(base: &str, cookie: &str) -> Self {
        Self::try_open_at(base, cookie).await.unwrap()
    }

    /// Like `open`, but returns `None` if the handshake is rejected.
    pub async fn try_open(app: &TestApp, cookie: &str) -> Option<Self> {
        Self::try_open_at(&app.base, cookie).await
    }

    /// Like `open_at`, but returns `None` if the handshake is rejected or the connection fails.
    pub async fn try_open_at(base: &str, cookie: &str) -> Option<Self> {
        let address = base.strip_prefix("http://").unwrap();
        let stream = TcpStream::connect(address).await.ok()?;
        let mut socket = Self {
            stream,
            bytes: Vec::new(),
        };
        let head = format!(
            "GET /api/socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\n\
             Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
        );
        socket.stream.write_all(head.as_bytes()).await.ok()?;
        while !socket.bytes.windows(4).any(|four| four == b"\r\n\r\n") {
            socket.read_more().await?;
        }
        if !socket.bytes.starts_with(b"HTTP/1.1 101") {
            return None;
        }
        let end = socket.bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        socket.bytes.drain(..end + 4);
        assert!(socket.next().await?.starts_with('0'), "the engine opens");
        socket.send("40").await;
        Some(socket)
    }

    /// Sends a short text frame, masked with zeros, which the protocol allows.
    pub async fn send(&mut self, text: &str) {
        let length = u8::try_from(text.len()).unwrap();
        assert!(length < 126);
        let mut frame = vec![0x81, 0x80 | length, 0, 0, 0, 0];
        frame.extend(text.as_bytes());
        // The server may have closed the connection already; the next read detects it.
        drop(self.stream.write_all(&frame).await);
    }

    /// Returns the next text frame that is not a ping; `None` if the connection has ended.
    pub async fn next(&mut self) -> Option<String> {
        loop {
            if let Some((opcode, start, end)) = self.frame() {
                let payload: Vec<u8> = self.bytes.drain(..end).skip(start).collect();
                match opcode {
                    // An Engine.IO ping.
                    1 if payload == b"2" => {
                        self.send("3").await;
                        continue;
                    }
                    1 => return Some(String::from_utf8(payload).unwrap()),
                    8 => return None,
                    _ => continue,
                }
            }
            self.read_more().await?;
        }
    }

    /// Reads until this event arrives.
    pub async fn expect(&mut self, event: &str) {
        let heard = tokio::time::timeout(WAIT_TIMEOUT, self.receives(event)).await;
        let heard = heard.unwrap_or_else(|_| panic!("{event} did not come"));
        assert!(heard, "the connection ended before {event} came");
    }

    /// Reads until this event arrives; returns `false` if the connection ends first.
    pub async fn receives(&mut self, event: &str) -> bool {
        let needle = format!("42[\"{event}\"");
        while let Some(frame) = self.next().await {
            if frame.starts_with(&needle) {
                return true;
            }
        }
        false
    }

    /// Whether the server, on this machine, has not closed its side; queries the kernel and reads nothing.
    pub fn is_open_on_server(&self) -> bool {
        const ESTABLISHED: &str = "01";
        let port = |address: std::net::SocketAddr| format!(":{:04X}", address.port());
        // A reset connection has no peer address.
        let Ok(server) = self.stream.peer_addr().map(port) else {
            return false;
        };
        let client = port(self.stream.local_addr().unwrap());
        let connections = std::fs::read_to_string("/proc/net/tcp").unwrap();
        connections.lines().any(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            fields[1].ends_with(&server) && fields[2].ends_with(&client) && fields[3] == ESTABLISHED
        })
    }

    /// Reads until a text frame contains this text.
    pub async fn expect_text(&mut self, text: &str) {
        let reading = async {
            while let Some(frame) = self.next().await {
                if frame.contains(text) {
                    return true;
                }
            }
            false
        };
        let found = tokio::time::timeout(WAIT_TIMEOUT, reading).await;
        assert_eq!(found, Ok(true), "{text} did not come");
    }

    /// Reads until the connection ends or the namespace is refused, and returns the text frames.
    pub async fn frames_until_closed(&mut self) -> Vec<String> {
        let reading = async {
            let mut frames = Vec::new();
            while let Some(frame) = self.next().await {
                let is_refused = frame.starts_with("44");
                frames.push(frame);
                if is_refused {
                    break;
                }
            }
            frames
        };
        let frames = tokio::time::timeout(WAIT_TIMEOUT, reading).await;
        frames.unwrap_or_else(|_| panic!("the connection stands"))
    }

    /// Reads until the connection ends, and returns the number of bytes.
    pub async fn wait_until_closed(&mut self) -> usize {
        let until_cut = async {
            let mut read = 0;
            while self.read_more().await.is_some() {
                read += self.bytes.len();
                self.bytes.clear();
            }
            read
        };
        let cut = tokio::time::timeout(WAIT_TIMEOUT, until_cut).await;
        cut.unwrap_or_else(|_| panic!("the connection stands"))
    }

    fn frame(&self) -> Option<(u8, usize, usize)> {
        let (first, second) = (*self.bytes.first()?, usize::from(*self.bytes.get(1)?));
        let (length, start) = match second {
            126 => (
                usize::from(u16::from_be_bytes(self.bytes.get(2..4)?.try_into().unwrap())),
                4,
            ),
            127 => (
                usize::try_from(u64::from_be_bytes(self.bytes.get(2..10)?.try_into().unwrap())).unwrap(),
                10,
            ),
            short => (short, 2),
        };
        (self.bytes.len() >= start + length).then_some((first & 0x0f, start, start + length))
    }

    async fn read_more(&mut self) -> Option<()> {
        let mut piece = vec![0_u8; 16 * 1024];
        match self.stream.read(&mut piece).await {
            Ok(0) | Err(_) => None,
            Ok(length) => {
                self.bytes.extend(&piece[..length]);
                Some(())
            }
        }
    }
}
