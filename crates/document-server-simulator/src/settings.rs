//! The settings of a simulator. Faults are in `faults`.

use std::{net::SocketAddr, time::Duration};

/// All settings of a simulator.
#[derive(Clone)]
pub struct SimulatorSettings {
    /// Address to listen on; port 0 selects a free one. Not used by [`crate::Simulator::router`].
    pub listen: SocketAddr,
    /// The shared secret that signs and verifies all tokens.
    pub secret: String,
    /// Base URL of result files instead of the caller's `Host`. A forwarded host still takes precedence, as on the real
    /// server.
    pub public_url: Option<String>,
    /// The header that carries tokens in both directions.
    pub token_header: String,
    /// Prefix of the token in that header, including the space.
    pub token_prefix: String,
    /// Factor on every delay (save delay, retries, assembly, polling): 1.0 matches the real server, 0.01 is for tests.
    pub time_scale: f64,
    /// Maximum number of connected editors; further ones are opened as viewers without an error.
    pub connection_limit: usize,
    /// Timeout of callback requests; not scaled.
    pub callback_timeout: Duration,
    /// Lifetime of result URLs; not scaled.
    pub link_lifetime: Duration,
}

impl SimulatorSettings {
    /// The measured behaviour, on a free local port.
    pub fn new(secret: impl Into<String>) -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            secret: secret.into(),
            public_url: None,
            token_header: "Authorization".into(),
            token_prefix: "Bearer ".into(),
            time_scale: 1.0,
            connection_limit: 20,
            callback_timeout: Duration::from_mins(10),
            link_lifetime: Duration::from_mins(15),
        }
    }

    /// Like [`SimulatorSettings::new`] with all delays divided by 100.
    pub fn quick(secret: impl Into<String>) -> Self {
        Self {
            time_scale: 0.01,
            ..Self::new(secret)
        }
    }

    /// Scales a measured delay.
    pub(crate) fn scaled(&self, measured: Duration) -> Duration {
        measured.mul_f64(self.time_scale.max(0.0))
    }
}
