//! Memory of a connection that stays open without requests.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::cpu;
use crate::lanes::RoundSettings;
use crate::process::{ServiceProcess, StartOptions};

/// Number of connections: below the usual limit of file descriptors, for both ends.
const CONNECTIONS: u32 = 4_000;
/// Connections opened and closed before the measurement, so that memory kept for good is not counted.
const WARM: u32 = 400;

/// Opens the connections, sends one request on each, waits, and returns the bytes per connection.
pub async fn rounds(folder: &Path, results: SocketAddr, pace: &RoundSettings) -> anyhow::Result<Vec<f64>> {
    let mut sizes = Vec::new();
    for _ in 0..pace.rounds.min(3) {
        let measured = ServiceProcess::start(&StartOptions {
            with_people: false,
            ..StartOptions::usual(folder, results)
        })?;
        drop(open(measured.address, WARM).await?);
        tokio::time::sleep(Duration::from_millis(500)).await;
        let before = cpu::memory(measured.process())?;
        let lines = open(measured.address, CONNECTIONS).await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let grown = cpu::memory(measured.process())?.saturating_sub(before);
        drop(lines);
        sizes.push(f64::from(u32::try_from(grown).unwrap_or(u32::MAX)) / f64::from(CONNECTIONS));
    }
    Ok(sizes)
}

async fn open(address: SocketAddr, connections: u32) -> anyhow::Result<Vec<TcpStream>> {
    let mut lines = Vec::new();
    let mut answer = [0; 4096];
    for _ in 0..connections {
        let mut line = TcpStream::connect(address).await.context("raise `ulimit -n`")?;
        line.write_all(b"GET /api/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .await?;
        let read = line.read(&mut answer).await?;
        anyhow::ensure!(answer[..read].starts_with(b"HTTP/1.1 200"), "another answer than 200");
        lines.push(line);
    }
    Ok(lines)
}
