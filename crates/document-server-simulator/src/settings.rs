//! What a practice document server is started with; what goes wrong on purpose is in `faults`.

use std::{net::SocketAddr, time::Duration};

/// Everything a practice document server is started with.
#[derive(Clone)]
pub struct Settings {
    /// Where to listen; port 0 takes a free one. Not used by [`crate::Practice::router`].
    pub listen: SocketAddr,
    /// The one secret that signs and checks tokens in all directions.
    pub secret: String,
    /// Base for links to result files instead of the `Host` a caller used. A forwarded host still wins, as on the real server.
    pub public_url: Option<String>,
    /// The header that carries tokens in both directions.
    pub token_header: String,
    /// What stands before the token in that header, with its space.
    pub token_prefix: String,
    /// Factor on every waiting time (save delay, retries, assembly, polling): 1.0 is as measured, 0.01 is for tests.
    pub time_scale: f64,
    /// How many editing connections are open at once before the next one silently becomes a viewer.
    pub connection_limit: usize,
    /// How long an answer to a callback is waited for; not scaled.
    pub callback_timeout: Duration,
    /// How long a link to a result file is valid; not scaled.
    pub link_life: Duration,
}

impl Settings {
    /// The measured behaviour on a free port of this machine.
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
            link_life: Duration::from_mins(15),
        }
    }

    /// The same, with all waiting times a hundred times shorter.
    pub fn quick(secret: impl Into<String>) -> Self {
        Self {
            time_scale: 0.01,
            ..Self::new(secret)
        }
    }

    /// A measured waiting time, scaled.
    pub(crate) fn pause(&self, measured: Duration) -> Duration {
        measured.mul_f64(self.time_scale.max(0.0))
    }
}
