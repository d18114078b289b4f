//! A minimal socket: a TCP stream and the bytes of an incomplete frame.

use anyhow::{Context as _, bail, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// An open socket that has joined the namespace.
pub struct BenchSocket {
    stream: TcpStream,
    bytes: Vec<u8>,
}

impl BenchSocket {
    /// Connects over WebSocket directly, without polling, and joins the namespace.
    pub async fn open(address: &str, query: &str, cookie: &str) -> anyhow::Result<Self> {
        let mut stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        // About as many headers as a browser sends.
        let head = format!(
            "GET /api/socket.io/?EIO=4&transport=websocket{query} HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\n\
             User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r\n\
             Accept: */*\r\nAccept-Language: en-US,en;q=0.5\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n\
             Origin: http://{address}\r\nPragma: no-cache\r\nCache-Control: no-cache\r\n\
             Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-Fetch-Dest: empty\r\nSec-Fetch-Mode: websocket\r\nSec-Fetch-Site: same-origin\r\n\
             Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await?;
        let mut socket = Self {
            stream,
            bytes: Vec::new(),
        };
        let end = loop {
            if let Some(at) = socket.bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            socket.read_more().await.context("the upgrade was not answered")?;
        };
        ensure!(
            socket.bytes.starts_with(b"HTTP/1.1 101"),
            "the upgrade was answered with {}",
            String::from_utf8_lossy(&socket.bytes)
        );
        socket.bytes.drain(..end);
        let opened = socket.next().await?;
        ensure!(opened.starts_with('0'), "the engine did not open: {opened}");
        socket.send("40").await?;
        Ok(socket)
    }

    /// Returns the next text message; pings are answered.
    pub async fn next(&mut self) -> anyhow::Result<String> {
        loop {
            if let Some((opcode, start, end)) = self.frame() {
                let text = String::from_utf8(self.bytes[start..end].to_vec())?;
                self.bytes.drain(..end);
                if self.bytes.is_empty() {
                    self.bytes.shrink_to(1024);
                }
                match opcode {
                    1 if text == "2" => self.send("3").await?,
                    1 => return Ok(text),
                    8 => bail!("the server closed the socket"),
                    _ => {}
                }
                continue;
            }
            self.read_more().await?;
        }
    }

    /// Sends a text of at most 64 KiB, masked with zeros as the protocol allows.
    pub async fn send(&mut self, text: &str) -> anyhow::Result<()> {
        let mut frame = if let Ok(length @ ..126) = u8::try_from(text.len()) {
            vec![0x81, 0x80 | length]
        } else {
            let [high, low] = u16::try_from(text.len())?.to_be_bytes();
            vec![0x81, 0xfe, high, low]
        };
        frame.extend([0; 4]);
        frame.extend(text.as_bytes());
        self.stream.write_all(&frame).await?;
        Ok(())
    }

    fn frame(&self) -> Option<(u8, usize, usize)> {
        let (first, second) = (*self.bytes.first()?, *self.bytes.get(1)?);
        let (length, start) = match second {
            126 => (
                usize::from(u16::from_be_bytes(self.bytes.get(2..4)?.try_into().ok()?)),
                4,
            ),
            // No message here is longer than 64 KiB.
            127 => return None,
            short => (usize::from(short), 2),
        };
        (self.bytes.len() >= start + length).then_some((first & 0x0f, start, start + length))
    }

    async fn read_more(&mut self) -> anyhow::Result<()> {
        self.stream.readable().await?;
        self.bytes.reserve(512);
        let length = self.stream.read_buf(&mut self.bytes).await?;
        ensure!(length > 0, "the connection ended");
        Ok(())
    }
}
