//! How long the document server is waited for, and how often it is asked about what it kept.

use std::time::Duration;

use clap::Args;
use model::time::Timestamp;

/// Times of the document server, in seconds as they are set.
#[derive(Args, Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Seconds a command may take, and the save that it asks for
    #[arg(long = "docserver-command-seconds", env = "DOCSERVER_COMMAND_SECONDS", default_value_t = Self::default().command,
        value_parser = clap::value_parser!(u64).range(1..=30))]
    command: u64,
    /// Milliseconds that a hand-in or a finish waits at most until the pages of open editors have sent what was typed
    #[arg(long = "docserver-flush-milliseconds", env = "DOCSERVER_FLUSH_MILLISECONDS", default_value_t = Self::default().flush,
        value_parser = clap::value_parser!(u64).range(0..=4000))]
    flush: u64,
    /// Seconds that finishing a topic waits for open editors in all
    #[arg(long = "docserver-finish-seconds", env = "DOCSERVER_FINISH_SECONDS", default_value_t = Self::default().finish,
        value_parser = clap::value_parser!(u64).range(1..=60))]
    finish: u64,
    /// Seconds a conversion to PDF may take, waiting for its turn included
    #[arg(long = "docserver-conversion-seconds", env = "DOCSERVER_CONVERSION_SECONDS", default_value_t = Self::default().conversion,
        value_parser = clap::value_parser!(u64).range(1..=110))]
    conversion: u64,
    /// Seconds between two looks for saves that nobody took
    #[arg(long = "docserver-sweep-seconds", env = "DOCSERVER_SWEEP_SECONDS", default_value_t = Self::default().sweep,
        value_parser = clap::value_parser!(u64).range(1..=3600))]
    sweep: u64,
    /// Seconds after which an open editor that said nothing is asked after
    #[arg(long = "docserver-silence-seconds", env = "DOCSERVER_SILENCE_SECONDS", default_value_t = Self::default().silence,
        value_parser = clap::value_parser!(u64).range(1..=86_400))]
    silence: u64,
}

impl Default for Patience {
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

impl Patience {
    /// How long a command may take, and the save that it asks for (contract 8.3).
    pub const fn command(self) -> Duration {
        Duration::from_secs(self.command)
    }

    /// How long the pages of open editors get to send what was typed (contract 8.3); once for a whole finish.
    pub const fn flush(self) -> Duration {
        Duration::from_millis(self.flush)
    }

    /// When a flush that begins now has ended at the latest.
    pub fn flush_ends(self, now: Timestamp) -> Timestamp {
        Timestamp::from_millis(now.as_millis() + i64::try_from(self.flush).unwrap_or(0))
    }

    /// How long handing in may take with open editors; they usually answer within a second.
    pub const fn submit(self) -> Duration {
        Duration::from_secs(15)
    }

    /// How long finishing a topic may wait for all its editors (contract 8.3); the answer is there within a minute.
    pub const fn finish(self) -> Duration {
        Duration::from_secs(self.finish)
    }

    /// How long a conversion may take from the question to the file (contract 8.4).
    pub const fn conversion(self) -> Duration {
        Duration::from_secs(self.conversion)
    }

    /// How often saves that nobody took are looked for.
    pub const fn sweep(self) -> Duration {
        Duration::from_secs(self.sweep)
    }

    /// The same in seconds, for moments.
    pub fn sweep_seconds(self) -> i64 {
        i64::try_from(self.sweep).unwrap_or(i64::MAX)
    }

    /// How many seconds an open editor may be silent.
    pub fn silence_seconds(self) -> i64 {
        i64::try_from(self.silence).unwrap_or(i64::MAX)
    }
}
