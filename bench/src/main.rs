//! Measures the hot routes of the real service, in one run: each beside the same process answering the same bytes from
//! memory, interleaved round by round, so that what the machine does meanwhile meets both. It prints ratios and CPU per
//! request; absolute rates are this machine's alone. It must never be read as a test: nothing fails when it is slow.

mod conditions;
mod cpu;
mod downloads;
mod finishing;
mod imports;
mod load;
mod measurement;
mod queries;
mod report;
mod saves;
mod seed;
mod server;
mod sockets;

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
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Seconds of load on each target in each round
    #[arg(long, default_value_t = 1.5)]
    seconds: f64,
    /// A second school has so many times the rows of the usual one; with 1 there is none
    #[arg(long, default_value_t = 10)]
    many: usize,
    /// A Markdown file whose part between the two `bench` marks is replaced by the figures
    #[arg(long)]
    write: Option<PathBuf>,
    /// Runs the measured service itself, in this folder; the program calls itself so
    #[arg(long, hide = true)]
    serve_in: Option<PathBuf>,
    /// The document server of the measured service
    #[arg(long, hide = true, default_value = "")]
    document_server: String,
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
        return server::run(&folder, &arguments.document_server);
    }
    let pace = measurement::Pace {
        rounds: arguments.rounds.max(1),
        sample: Duration::from_secs_f64(arguments.seconds),
        many: arguments.many,
    };
    let report = measurement::run(&pace)?;
    report::publish(&report, arguments.write.as_deref())
}
