//! How an instance makes sure that it hears: how often it says something to itself, how long it believes in silence, and
//! how often it looks at all its sockets for what was lost all the same.

use std::time::Duration;

use clap::Args;

/// Times of the live channel, in seconds as they are set.
#[derive(Args, Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watch {
    /// Seconds between two words that an instance says to itself through PostgreSQL
    #[arg(long = "bus-heartbeat-seconds", env = "BUS_HEARTBEAT_SECONDS", default_value_t = Self::default().bus_heartbeat,
        value_parser = clap::value_parser!(u64).range(1..=60))]
    bus_heartbeat: u64,
    /// Seconds after such a word in which something must be heard; else the connection is given up and clients fetch anew
    #[arg(long = "bus-silence-seconds", env = "BUS_SILENCE_SECONDS", default_value_t = Self::default().bus_silence,
        value_parser = clap::value_parser!(u64).range(1..=300))]
    bus_silence: u64,
    /// Seconds between two looks at the sessions of all sockets
    #[arg(long = "socket-sweep-seconds", env = "SOCKET_SWEEP_SECONDS", default_value_t = Self::default().socket_sweep,
        value_parser = clap::value_parser!(u64).range(1..=600))]
    socket_sweep: u64,
}

impl Default for Watch {
    fn default() -> Self {
        Self {
            bus_heartbeat: 10,
            bus_silence: 20,
            socket_sweep: 60,
        }
    }
}

impl Watch {
    /// How often an instance says something to itself.
    pub const fn heartbeat(self) -> Duration {
        Duration::from_secs(self.bus_heartbeat)
    }

    /// How long the answer to that may take, whatever TCP believes.
    pub const fn silence(self) -> Duration {
        Duration::from_secs(self.bus_silence)
    }

    /// How often all sockets are looked at.
    pub const fn sweep(self) -> Duration {
        Duration::from_secs(self.socket_sweep)
    }
}
