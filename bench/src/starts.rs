//! Time from the start of the process to the first healthy response, with an existing schema.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Instant;

use anyhow::ensure;

use crate::lanes::Pace;
use crate::process::{Measured, Start, get};

/// Starts the service several times. Returns the milliseconds of each start.
pub async fn rounds(folder: &Path, results: SocketAddr, pace: &Pace) -> anyhow::Result<Vec<f64>> {
    let how = Start {
        with_people: false,
        ..Start::usual(folder, results)
    };
    // The first start creates the schema.
    drop(Measured::start(&how)?);
    let mut times = Vec::new();
    for _ in 0..pace.rounds.max(3) {
        let begin = Instant::now();
        let measured = Measured::start(&how)?;
        let health = get(&format!("{}/api/health", measured.base), "").await?;
        times.push(begin.elapsed().as_secs_f64() * 1e3);
        ensure!(!health.is_empty(), "no health");
    }
    Ok(times)
}
