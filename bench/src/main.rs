//! Benchmarks the hot routes of the service in one run: compared with the same process serving the same bytes from
//! memory, with its own statements without a service, with Node servers on the same rows, and with nginx. All are
//! interleaved round by round, so that background activity of the machine affects all of them. The output has ratios
//! and CPU per request; absolute rates are valid on this machine only. This is not a test: it never fails because of a
//! slow result.

mod archives;
mod conditions;
mod cpu;
mod database_copies;
mod downloads;
mod filled_school;
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
mod sockets;
mod spread;
mod starts;

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Benchmarks the hot routes of the service
#[derive(Parser)]
struct BenchArguments {
    #[command(subcommand)]
    part: Option<BenchCommand>,
    /// Number of rounds; every figure is the median over them
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds of load on each target in each round
    #[arg(long, default_value_t = 1.5)]
    seconds: f64,
    /// Factor of the rows of a second, larger school; 1 disables it
    #[arg(long, default_value_t = 10)]
    many: usize,
    /// Run one short round of everything to check that it works; the figures mean little
    #[arg(long)]
    quick: bool,
    /// A PostgreSQL server whose databases may be deleted; without one that part is skipped
    #[arg(long, env = "TEST_DATABASE_URL", hide_env_values = true)]
    postgres: Option<String>,
    /// A Markdown file in which the part between the two `bench` markers is replaced by the figures
    #[arg(long)]
    write: Option<PathBuf>,
    /// Runs the measured service in this folder; used by the program to start itself
    #[arg(long, hide = true)]
    serve_in: Option<PathBuf>,
    /// The document server of the measured service
    #[arg(long, hide = true, default_value = "")]
    document_server: String,
    /// The database of the measured service
    #[arg(long, hide = true)]
    database_url: Option<String>,
    /// Start the measured service without a school
    #[arg(long, hide = true)]
    empty: bool,
}

/// Alternatives to the benchmark of the hot routes
#[derive(clap::Subcommand)]
enum BenchCommand {
    /// Many sockets, compared with the official Socket.IO server on Node
    Sockets(sockets::SocketArguments),
    /// A lesson of many writers in the built-in editor
    Editor(sockets::editor::EditorArguments),
}

fn main() -> anyhow::Result<()> {
    let arguments = BenchArguments::parse();
    match arguments.part {
        Some(BenchCommand::Sockets(arguments)) => return sockets::run(&arguments),
        Some(BenchCommand::Editor(arguments)) => return sockets::editor::run(&arguments),
        None => {}
    }
    if let Some(folder) = arguments.serve_in {
        return server::run(&server::ServeOptions {
            folder,
            document_server: arguments.document_server,
            database_url: arguments.database_url,
            is_empty: arguments.empty,
        });
    }
    let pace = if arguments.quick {
        lanes::RoundSettings {
            rounds: 1,
            sample: Duration::from_millis(700),
            many: 2,
        }
    } else {
        lanes::RoundSettings {
            rounds: arguments.rounds.max(1),
            sample: Duration::from_secs_f64(arguments.seconds),
            many: arguments.many,
        }
    };
    let report = measurement::run(&measurement::RunOptions {
        pace,
        postgres: arguments.postgres,
    })?;
    report::publish(&report, arguments.write.as_deref())
}
