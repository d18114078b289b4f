//! Measures the hot routes of the real service, in one run: beside the same process answering the same bytes from memory,
//! beside its own statements without a service, beside Node servers on the same rows, beside nginx. All are interleaved
//! round by round, so that what the machine does meanwhile meets all of them. It prints ratios and CPU per request;
//! absolute rates are this machine's alone. It must never be read as a test: nothing fails when it is slow.

mod archives;
mod conditions;
mod copies;
mod cpu;
mod downloads;
mod finishing;
mod goals;
mod idle;
mod imports;
mod lanes;
mod load;
mod measurement;
mod nginx;
mod peers;
mod process;
mod queries;
mod report;
mod saves;
mod seed;
mod server;
mod sign_ins;
mod site;
mod sockets;
mod spread;
mod starts;

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures the hot routes of the service
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    part: Option<Part>,
    /// Rounds; every figure is the median over them
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds of load on each target in each round
    #[arg(long, default_value_t = 1.5)]
    seconds: f64,
    /// A second school has so many times the rows of the usual one; with 1 there is none
    #[arg(long, default_value_t = 10)]
    many: usize,
    /// One short round of everything, to see that it works; its figures say little
    #[arg(long)]
    quick: bool,
    /// A PostgreSQL server whose databases nobody misses; without one that part is left out
    #[arg(long, env = "TEST_DATABASE_URL", hide_env_values = true)]
    postgres: Option<String>,
    /// A Markdown file whose part between the two `bench` marks is replaced by the figures
    #[arg(long)]
    write: Option<PathBuf>,
    /// Runs the measured service itself, in this folder; the program calls itself so
    #[arg(long, hide = true)]
    serve_in: Option<PathBuf>,
    /// The document server of the measured service
    #[arg(long, hide = true, default_value = "")]
    document_server: String,
    /// The database of the measured service
    #[arg(long, hide = true)]
    database_url: Option<String>,
    /// The measured service makes no school
    #[arg(long, hide = true)]
    empty: bool,
}

/// What is measured instead of the hot routes
#[derive(clap::Subcommand)]
enum Part {
    /// Many sockets, beside the official Socket.IO server on Node
    Sockets(sockets::Arguments),
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    if let Some(Part::Sockets(arguments)) = arguments.part {
        return sockets::run(&arguments);
    }
    if let Some(folder) = arguments.serve_in {
        return server::run(&server::Serving {
            folder,
            document_server: arguments.document_server,
            database_url: arguments.database_url,
            is_empty: arguments.empty,
        });
    }
    let pace = if arguments.quick {
        lanes::Pace {
            rounds: 1,
            sample: Duration::from_millis(700),
            many: 2,
        }
    } else {
        lanes::Pace {
            rounds: arguments.rounds.max(1),
            sample: Duration::from_secs_f64(arguments.seconds),
            many: arguments.many,
        }
    };
    let report = measurement::run(&measurement::Plan {
        pace,
        postgres: arguments.postgres,
    })?;
    report::publish(&report, arguments.write.as_deref())
}
