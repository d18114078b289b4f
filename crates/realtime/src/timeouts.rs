//! The timeouts of the real-time channel: heartbeat of the LISTEN connection, its timeout, and the interval at which
//! all sockets are reconciled.

use std::time::Duration;

use clap::Args;

/// Intervals of the real-time channel, in seconds.
#[derive(Args, Debug, Clone, Copy, PartialEq, Eq)]
pub struct RealtimeTimeouts {
    /// Seconds between two heartbeats that an instance sends to itself through PostgreSQL
    #[arg(long = "bus-heartbeat-seconds", env = "BUS_HEARTBEAT_SECONDS", default_value_t = Self::default().bus_heartbeat,
        value_parser = clap::value_parser!(u64).range(1..=60))]
    bus_heartbeat: u64,
    /// Seconds after a heartbeat in which a notification must arrive; otherwise the connection is closed and clients
    /// reload
    #[arg(long = "bus-timeout-seconds", alias = "bus-silence-seconds", env = "BUS_TIMEOUT_SECONDS",
        default_value_t = Self::default().bus_silence,
        value_parser = clap::value_parser!(u64).range(1..=300))]
    bus_silence: u64,
    /// Seconds between two checks of the sessions of all sockets
    #[arg(long = "socket-reconcile-interval-seconds", alias = "socket-sweep-seconds",
        env = "SOCKET_RECONCILE_INTERVAL_SECONDS", default_value_t = Self::default().socket_sweep,
        value_parser = clap::value_parser!(u64).range(1..=600))]
    socket_sweep: u64,
}

impl Default for RealtimeTimeouts {
    fn default() -> Self {
        Self {
            bus_heartbeat: 10,
            bus_silence: 20,
            socket_sweep: 60,
        }
    }
}

impl RealtimeTimeouts {
    /// Interval of heartbeats.
    pub const fn heartbeat_interval(self) -> Duration {
        Duration::from_secs(self.bus_heartbeat)
    }

    /// Timeout of a heartbeat, independent of TCP.
    pub const fn heartbeat_timeout(self) -> Duration {
        Duration::from_secs(self.bus_silence)
    }

    /// Interval at which all sockets are reconciled.
    pub const fn reconcile_interval(self) -> Duration {
        Duration::from_secs(self.socket_sweep)
    }
}
