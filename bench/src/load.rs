//! Keep-alive connections that send the next request as soon as the response arrives. The client is minimal because it
//! shares the machine with what it measures.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The requests to send and the expected response.
pub struct RequestPlan<'q> {
    /// Builds the request with its headers, by connection and count.
    pub ask: &'q (dyn Fn(usize, u64) -> Vec<u8> + 'q),
    /// The expected status.
    pub status: u16,
    /// The expected body, if it is always the same.
    pub body: Option<&'q [u8]>,
}

/// Number of responses and the time they took.
#[derive(Debug, Clone, Copy)]
pub struct LoadResult {
    /// Complete responses.
    pub answers: u64,
    /// From the first request to the last response.
    pub time: Duration,
}

/// Sends requests over this many connections for this long. Any other response than the expected one fails the
/// measurement: a fast error page is not a fast service.
pub async fn drive(
    address: SocketAddr,
    connections: usize,
    sample: Duration,
    plan: &RequestPlan<'_>,
) -> anyhow::Result<LoadResult> {
    let mut open_connections = Vec::new();
    for _ in 0..connections {
        open_connections.push(LoadConnection::open(address).await?);
    }
    let begin = Instant::now();
    let end = begin + sample;
    let asking = open_connections
        .into_iter()
        .enumerate()
        .map(|(number, mut connection)| async move {
            let mut answers = 0;
            while Instant::now() < end {
                connection.exchange(&(plan.ask)(number, answers), plan).await?;
                answers += 1;
            }
            anyhow::Ok(answers)
        });
    let answers: u64 = join_all(asking).await?.into_iter().sum();
    Ok(LoadResult {
        answers,
        time: begin.elapsed(),
    })
}

/// Awaits all futures on this thread.
async fn join_all<T>(futures: impl Iterator<Item = impl Future<Output = anyhow::Result<T>>>) -> anyhow::Result<Vec<T>> {
    let mut pending: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        let mut all = std::task::Poll::Ready(());
        for (future, outcome) in &mut pending {
            if outcome.is_none() {
                match future.as_mut().poll(context) {
                    std::task::Poll::Ready(done) => *outcome = Some(done),
                    std::task::Poll::Pending => all = std::task::Poll::Pending,
                }
            }
        }
        all
    })
    .await;
    pending.into_iter().filter_map(|(_, outcome)| outcome).collect()
}

struct LoadConnection {
    stream: TcpStream,
    buffer: BytesMut,
}

impl LoadConnection {
    async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await.context("connect to the service")?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: BytesMut::with_capacity(1 << 16),
        })
    }

    async fn exchange(&mut self, request: &[u8], expected: &RequestPlan<'_>) -> anyhow::Result<()> {
        self.stream.write_all(request).await?;
        let (head, length) = loop {
            if let Some(found) = head(&self.buffer)? {
                break found;
            }
            self.more().await?;
        };
        while self.buffer.len() < head + length {
            self.more().await?;
        }
        let body = &self.buffer[head..head + length];
        let status = format!("HTTP/1.1 {}", expected.status);
        ensure!(
            self.buffer.starts_with(status.as_bytes()) && expected.body.is_none_or(|expected| body == expected),
            "another answer than the recorded one: {}",
            String::from_utf8_lossy(&self.buffer[..(head + length).min(2000)])
        );
        self.buffer.advance(head + length);
        Ok(())
    }

    async fn more(&mut self) -> anyhow::Result<()> {
        if self.stream.read_buf(&mut self.buffer).await? == 0 {
            bail!("the service closed a connection");
        }
        Ok(())
    }
}

/// Returns the offset and length of the body once the headers are complete.
fn head(buffer: &[u8]) -> anyhow::Result<Option<(usize, usize)>> {
    let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") else {
        return Ok(None);
    };
    let text = std::str::from_utf8(&buffer[..end])?;
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse())
    });
    let length = length.context("an answer without Content-Length")??;
    Ok(Some((end + 4, length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_head_is_not_parsed() -> anyhow::Result<()> {
        assert_eq!(head(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n")?, None);
        assert_eq!(head(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")?, Some((38, 2)));
        assert!(head(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
        Ok(())
    }
}
