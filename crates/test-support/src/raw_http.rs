//! A bare HTTP client that sends arbitrary bytes at any speed.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::TestApp;

pub struct RawHttp {
    stream: TcpStream,
    bytes: Vec<u8>,
}

impl RawHttp {
    pub async fn open(app: &TestApp) -> Self {
        Self::open_at(&app.base).await
    }

    /// Like `open`, for another address.
    pub async fn open_at(base: &str) -> Self {
        let address = base.strip_prefix("http://").unwrap();
        Self {
            stream: TcpStream::connect(address).await.unwrap(),
            bytes: Vec::new(),
        }
    }

    /// Sends bytes; if the server has closed the connection, the next read detects it.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        drop(self.stream.write_all(bytes.as_ref()).await);
    }

    /// Returns the status and body of the next response; `None` if the connection ends before the response is complete.
    pub async fn answer(&mut self) -> Option<(u16, String)> {
        loop {
            if let Some(end) = self.bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&self.bytes[..end]).to_ascii_lowercase();
                if let Some(whole) = self.length(&head, end + 4) {
                    let answer: Vec<u8> = self.bytes.drain(..whole).collect();
                    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
                    return Some((status, String::from_utf8_lossy(&answer[end + 4..]).into_owned()));
                }
            }
            if !self.read().await {
                return None;
            }
        }
    }

    /// Waits until the server closes the connection, and returns the number of bytes received.
    pub async fn wait_for_end(&mut self) -> usize {
        while self.read().await {}
        self.bytes.len()
    }

    /// Returns the length of the response with this head, once it is complete.
    fn length(&self, head: &str, begin: usize) -> Option<usize> {
        if head.contains("\ntransfer-encoding: chunked") {
            let last = b"0\r\n\r\n";
            let mut ends = self.bytes[begin..].windows(last.len());
            return ends.position(|piece| piece == last).map(|at| begin + at + last.len());
        }
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let whole = begin + length.map_or(0, |length| length.trim().parse::<usize>().unwrap());
        (self.bytes.len() >= whole).then_some(whole)
    }

    async fn read(&mut self) -> bool {
        let mut piece = [0_u8; 4096];
        match self.stream.read(&mut piece).await {
            Ok(0) | Err(_) => false,
            Ok(length) => {
                self.bytes.extend(&piece[..length]);
                true
            }
        }
    }
}
