//! Timeouts of the document server, and the intervals of its periodic checks.

use std::time::Duration;

use clap::Args;
use domain::time::Timestamp;

/// Timeouts and intervals of the document server, in the units of their settings.
#[derive(Args, Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentServerTimeouts {
    /// Timeout in seconds of a command to the document server and of the save that it requests
    #[arg(long = "docserver-command-seconds", env = "DOCSERVER_COMMAND_SECONDS", default_value_t = Self::default().command,
        value_parser = clap::value_parser!(u64).range(1..=30))]
    command: u64,
    /// Maximum time in milliseconds that submitting or finishing waits for the pages of open editors to send pending
    /// changes
    #[arg(long = "docserver-flush-milliseconds", env = "DOCSERVER_FLUSH_MILLISECONDS", default_value_t = Self::default().flush,
        value_parser = clap::value_parser!(u64).range(0..=4000))]
    flush: u64,
    /// Maximum total time in seconds that finishing a topic waits for open editors
    #[arg(long = "docserver-finish-seconds", env = "DOCSERVER_FINISH_SECONDS", default_value_t = Self::default().finish,
        value_parser = clap::value_parser!(u64).range(1..=60))]
    finish: u64,
    /// Timeout in seconds of a conversion, including the time in the queue
    #[arg(long = "docserver-conversion-seconds", env = "DOCSERVER_CONVERSION_SECONDS", default_value_t = Self::default().conversion,
        value_parser = clap::value_parser!(u64).range(1..=110))]
    conversion: u64,
    /// Interval in seconds of the check for saves that were never acknowledged
    #[arg(long = "docserver-reconcile-interval-seconds", alias = "docserver-sweep-seconds",
        env = "DOCSERVER_RECONCILE_INTERVAL_SECONDS", default_value_t = Self::default().sweep,
        value_parser = clap::value_parser!(u64).range(1..=3600))]
    sweep: u64,
    /// Time in seconds without a callback after which an editing session is checked
    #[arg(long = "docserver-session-timeout-seconds", alias = "docserver-silence-seconds",
        env = "DOCSERVER_SESSION_TIMEOUT_SECONDS", default_value_t = Self::default().silence,
        value_parser = clap::value_parser!(u64).range(1..=86_400))]
    silence: u64,
}

impl Default for DocumentServerTimeouts {
    fn default() -> Self {
        Self {
            command: 10,
            flush: 4_000,
            finish: 55,
            conversion: 60,
            sweep: 60,
            silence: 600,
        }
    }
}

impl DocumentServerTimeouts {
    /// Returns the timeout of a command and of the save that it requests.
    pub const fn command(self) -> Duration {
        Duration::from_secs(self.command)
    }

    /// Returns the maximum time for editor pages to send pending changes; applies once to a whole finish.
    pub const fn flush(self) -> Duration {
        Duration::from_millis(self.flush)
    }

    /// Returns the latest end of a flush that begins now.
    pub fn flush_deadline(self, now: Timestamp) -> Timestamp {
        Timestamp::from_millis(now.as_millis() + i64::try_from(self.flush).unwrap_or(0))
    }

    /// Returns the timeout of a submission with open editors. They usually respond within a second.
    pub const fn submit(self) -> Duration {
        Duration::from_secs(15)
    }

    /// Returns the maximum time that finishing a topic waits for all editors; at most a minute.
    pub const fn finish(self) -> Duration {
        Duration::from_secs(self.finish)
    }

    /// Returns the timeout of a conversion, from the request to the file.
    pub const fn conversion(self) -> Duration {
        Duration::from_secs(self.conversion)
    }

    /// Returns the interval of the check for forgotten saves.
    pub const fn sweep(self) -> Duration {
        Duration::from_secs(self.sweep)
    }

    /// Returns the interval in seconds.
    pub fn sweep_seconds(self) -> i64 {
        i64::try_from(self.sweep).unwrap_or(i64::MAX)
    }

    /// Returns the time without a callback after which a session is checked, in seconds.
    pub fn session_timeout_seconds(self) -> i64 {
        i64::try_from(self.silence).unwrap_or(i64::MAX)
    }
}
