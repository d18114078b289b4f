//! Time from the start of the process to the first healthy response, with an existing schema.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Instant;

use anyhow::ensure;

use crate::lanes::RoundSettings;
use crate::process::{ServiceProcess, StartOptions, get};

/// Starts the service several times. Returns the milliseconds of each start.
pub async fn rounds(folder: &Path, results: SocketAddr, pace: &RoundSettings) -> anyhow::Result<Vec<f64>> {
    let how = StartOptions {
        with_people: false,
        ..StartOptions::usual(folder, results)
    };
    // The first start creates the schema.
    drop(ServiceProcess::start(&how)?);
    let mut times = Vec::new();
    for _ in 0..pace.rounds.max(3) {
        let begin = Instant::now();
        let measured = ServiceProcess::start(&how)?;
        let health = get(&format!("{}/api/health", measured.base), "").await?;
        times.push(begin.elapsed().as_secs_f64() * 1e3);
        ensure!(!health.is_empty(), "no health");
    }
    Ok(times)
}
