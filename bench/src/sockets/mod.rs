//! Ten thousand users with an open page: memory of an idle socket, cost of connecting, and cost of an event per
//! receiving socket, on the service and on the official Socket.IO server on Node, in one run. A round measures both one
//! after the other, each in a new process, in alternating order; ratios are computed within a round.
#![expect(
    clippy::cast_precision_loss,
    reason = "no figure of a machine needs more than 52 bits"
)]

pub mod editor;
mod figures;
mod school;
mod socket;
mod socket_pool;
mod target;

use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use tokio::time::sleep;

use figures::{DeliveryCost, SocketRound, SocketStep};
use school::SocketSchool;
use socket_pool::SocketPool;
use target::{BenchServer, ServerKind};

/// Delay before the memory of an idle process is read, because freed memory is returned with a delay.
const SETTLE: Duration = Duration::from_secs(4);
/// How long the CPU of idle sockets is measured.
const WATCH: Duration = Duration::from_secs(5);
/// Members of a group.
const GROUP_SIZE: usize = 5;
/// Sockets opened and closed before the first figure, to load code and tables.
const WARMING: usize = 100;

/// Benchmarks sockets against the official Socket.IO server.
#[derive(clap::Args)]
pub struct SocketArguments {
    /// Numbers of sockets, in steps; memory is read after each step
    #[arg(long, value_delimiter = ',', default_value = "1000,5000,10000")]
    counts: Vec<usize>,
    /// Sockets of the room that events are emitted to; also the number of students per class
    #[arg(long, default_value_t = 1000)]
    room: usize,
    /// Number of rounds; every figure is the median over them
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Events that are emitted with one in flight, and again with two
    #[arg(long, default_value_t = 200)]
    events: usize,
    /// Where `npm ci` was run for the Node peer; without its modules only the service is measured
    #[arg(long, default_value = "bench/peer/sockets")]
    peer: PathBuf,
    /// Runs the measured service in this folder; used by the program to start itself
    #[arg(long, hide = true)]
    serve_in: Option<PathBuf>,
}

/// Runs the benchmark and prints the figures.
pub fn run(arguments: &SocketArguments) -> anyhow::Result<()> {
    if let Some(folder) = &arguments.serve_in {
        return target::serve(folder);
    }
    target::raise_descriptors()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let text = runtime.block_on(measure(arguments))?;
    write!(std::io::stdout(), "{text}")?;
    Ok(())
}

async fn measure(arguments: &SocketArguments) -> anyhow::Result<String> {
    let most = arguments.counts.iter().copied().max().context("no counts")?;
    let folder = tempfile::tempdir()?;
    let school = target::prepare(folder.path(), most.div_ceil(arguments.room), arguments.room, GROUP_SIZE).await?;
    let mut kinds = vec![ServerKind::Service];
    if arguments.peer.join("node_modules/socket.io").is_dir() {
        kinds.push(ServerKind::Node);
    } else {
        note("the Node peer is not installed (npm ci in bench/peer/sockets): the service is measured alone")?;
    }
    let mut rounds = Vec::new();
    let mut sample = None;
    for number in 0..arguments.rounds.max(1) {
        let mut round = Vec::new();
        for kind in &kinds {
            let target = BenchServer::start(*kind, folder.path(), &arguments.peer).await?;
            let of_one = one(&target, &school, arguments, &mut sample).await;
            let of_one = of_one.with_context(|| target.tail())?;
            note(&format!("round {number}, {}: {of_one:?}", kind.name()))?;
            round.push((*kind, of_one));
        }
        rounds.push(round);
        // The first process of the first round records the event for the peer; afterwards the order alternates.
        kinds.reverse();
    }
    Ok(figures::markdown(
        &rounds,
        arguments.room,
        arguments.events,
        folder.path(),
    ))
}

fn note(text: &str) -> anyhow::Result<()> {
    writeln!(std::io::stderr(), "{text}")?;
    Ok(())
}

/// Measures one target in one round.
async fn one(
    target: &BenchServer,
    school: &SocketSchool,
    arguments: &SocketArguments,
    sample: &mut Option<String>,
) -> anyhow::Result<SocketRound> {
    let warming = SocketPool::new(target, school);
    warming.connect(WARMING.min(school.people.len())).await?;
    warming.leave().await;
    sleep(SETTLE).await;
    let alone = write_alone(target, school, arguments.events).await?;
    let empty = target.resident()?;
    let pool = SocketPool::new(target, school);
    let mut steps = Vec::new();
    for count in &arguments.counts {
        let before = pool.connected();
        let (cpu, begin) = (target.cpu()?, Instant::now());
        pool.connect(*count).await?;
        let time = begin.elapsed();
        let cpu = target.cpu()?.saturating_sub(cpu);
        sleep(SETTLE).await;
        let resident = target.resident()?;
        let idle = target.cpu()?;
        sleep(WATCH).await;
        let idle = target.cpu()?.saturating_sub(idle);
        let came = count - before;
        steps.push(SocketStep {
            count: *count,
            memory: (resident.saturating_sub(empty)) as f64 / *count as f64 / 1024.0,
            time,
            cpu_per_connect: cpu.as_secs_f64() * 1e6 / came as f64,
            idle: idle.as_secs_f64() / WATCH.as_secs_f64(),
        });
    }
    let mut deliveries = Vec::new();
    for in_flight in [1, 2] {
        let (cpu, begin) = (target.cpu()?, Instant::now());
        let received = pool.emit_events(target, arguments.events, in_flight, sample).await?;
        let (time, cpu) = (begin.elapsed(), target.cpu()?.saturating_sub(cpu));
        deliveries.push(DeliveryCost {
            cpu: cpu.as_secs_f64() * 1e6 / received as f64,
            rate: received as f64 / time.as_secs_f64(),
        });
    }
    ensure!(
        pool.connected() == *arguments.counts.last().context("no counts")?,
        "sockets were lost"
    );
    pool.check()?;
    sleep(SETTLE).await;
    let last = arguments.counts.last().copied().unwrap_or(1);
    let after_events = target.resident()?.saturating_sub(empty) as f64 / last as f64 / 1024.0;
    pool.leave().await;
    sleep(SETTLE).await;
    let left = target.resident()?.saturating_sub(empty) as f64 / 1_048_576.0;
    Ok(SocketRound {
        empty: empty as f64 / 1_048_576.0,
        steps,
        deliveries,
        write_alone: alone,
        after_events,
        left,
    })
}

/// Returns the CPU of a write without receivers, in microseconds, before any socket is connected.
async fn write_alone(target: &BenchServer, school: &SocketSchool, events: usize) -> anyhow::Result<f64> {
    if target.kind() == ServerKind::Node {
        return Ok(0.0);
    }
    let cpu = target.cpu()?;
    for number in 0..events {
        target.write(school, &format!("Alone {number}")).await?;
    }
    Ok(target.cpu()?.saturating_sub(cpu).as_secs_f64() * 1e6 / events as f64)
}
