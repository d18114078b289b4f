//! The run: start the servers, fill the school, compare responses, load the lanes in turn, and finally run the
//! measurements that need a process of their own.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::archives::{self, PeakMemory};
use crate::database_copies::{self, DatabaseLocation};
use crate::downloads::{self, Downloads};
use crate::filled_school::{FilledSchool, RecordedResponse, post};
use crate::finishing::{FinishBenchmark, FinishCost};
use crate::lanes::{self, HttpLoad, Lane, Load, LoadSample, LoadTarget, MeasuredServer, Operation, RoundSettings};
use crate::peers::{self, NodePeer};
use crate::process::{ServiceProcess, StartOptions};
use crate::queries::{LoopResponse, QueryLoop};
use crate::saves::{self, SavedDocument};
use crate::{conditions, cpu, idle, imports, sign_ins, starts};

/// Options of a run.
pub struct RunOptions {
    pub pace: RoundSettings,
    /// A PostgreSQL server for the second part.
    pub postgres: Option<String>,
}

/// All results of a run.
pub struct Report {
    /// The samples of each round on SQLite.
    pub sqlite: Vec<Vec<LoadSample>>,
    /// The samples of each round on PostgreSQL, if available.
    pub postgres: Vec<Vec<LoadSample>>,
    /// Imports, one per round.
    pub imports: Vec<imports::ImportRound>,
    /// Downloads, if nginx is available.
    pub downloads: Option<downloads::DownloadRounds>,
    /// Finishes of growing topics, one list per round.
    pub finishes: Vec<Vec<FinishCost>>,
    /// Start times in milliseconds.
    pub starts: Vec<f64>,
    /// Bytes per idle connection.
    pub idle: Vec<f64>,
    /// Private memory of the service after all rounds, in bytes.
    pub memory: u64,
    /// Classes that signed in at once.
    pub sign_ins: Vec<sign_ins::SignInRound>,
    /// Peak memory while archives and PDFs were streamed.
    pub growth: PeakMemory,
    /// Whether the Node servers were measured.
    pub has_peers: bool,
    pub pace: RoundSettings,
    /// Bytes of the recorded responses (session, groups, page of the log) and of a document.
    pub sizes: [usize; 4],
    /// Rows of the other classes, and records of the activity log.
    pub rows: [usize; 2],
    /// Description of the machine.
    pub conditions: Vec<String>,
    /// Load averages before and after.
    pub load: [String; 2],
    /// Duration of the run.
    pub time: Duration,
}

/// Runs all measurements.
pub fn run(plan: &RunOptions) -> anyhow::Result<Report> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(measure(plan))
}

async fn measure(plan: &RunOptions) -> anyhow::Result<Report> {
    let (begin, before, pace) = (Instant::now(), conditions::load(), &plan.pace);
    let folder = tempfile::tempdir()?;
    let document = saves::document()?;
    let results = saves::serve_results(document.clone())?;
    let programs = peers::programs();
    let sqlite = on_sqlite(folder.path(), results, &document, pace, programs.as_deref()).await?;
    let postgres = match &plan.postgres {
        None => {
            eprintln!("NO FIGURES ON POSTGRESQL: run this as scripts/postgres run -- ..., as make bench does");
            Vec::new()
        }
        Some(server) => {
            let place = (folder.path().join("postgres"), results);
            on_postgres(server, place, pace, programs.as_deref()).await?
        }
    };
    let alone = alone(folder.path(), results, &document, pace).await?;
    Ok(Report {
        sqlite: sqlite.rounds,
        postgres,
        imports: sqlite.imports,
        downloads: alone.downloads,
        finishes: alone.finishes,
        starts: alone.starts,
        idle: alone.idle,
        memory: sqlite.memory,
        sign_ins: alone.sign_ins,
        growth: alone.growth,
        has_peers: programs.is_some(),
        pace: *pace,
        sizes: sqlite.sizes,
        rows: sqlite.rows,
        conditions: conditions::describe(folder.path()),
        load: [before, conditions::load()],
        time: begin.elapsed(),
    })
}

struct SqliteResults {
    rounds: Vec<Vec<LoadSample>>,
    imports: Vec<imports::ImportRound>,
    memory: u64,
    sizes: [usize; 4],
    rows: [usize; 2],
}

async fn on_sqlite(
    folder: &Path,
    results: SocketAddr,
    document: &[u8],
    pace: &RoundSettings,
    programs: Option<&Path>,
) -> anyhow::Result<SqliteResults> {
    let usual = FilledSchool::open(&folder.join("usual"), results, None, 1).await?;
    let many = match pace.many {
        0 | 1 => None,
        times => Some(FilledSchool::open(&folder.join("many"), results, None, times).await?),
    };
    let measured = &usual.measured;
    let people = usual.people()?;
    let session = RecordedResponse::new(measured, "session", "/api/auth/get-session", &people.teacher).await?;
    let check = RecordedResponse::new(measured, "check", "/session-check", &people.teacher).await?;
    let nothing = RecordedResponse::new(measured, "nothing", "/nothing", &people.teacher).await?;
    measured.record("document", document.to_vec()).await?;
    let sessions = saves::open(&measured.base, &usual.lesson).await?;
    let notices = AtomicU64::new(0);
    let DatabaseLocation::Sqlite(database) = &usual.rows else {
        anyhow::bail!("this part is on SQLite")
    };
    let queries = QueryLoop::open(database, &people.teacher.id, &people.admin.id, &usual.lesson.class)?;
    // Read-heavy peers are compared on the larger school; a peer that writes gets its own copy of the database.
    let large = many.as_ref().unwrap_or(&usual);
    let mut beside = Vec::new();
    if let Some(programs) = programs {
        let copy = folder.join("copy.db");
        database_copies::copy_file(database, &copy)?;
        beside.push(NodePeer::start(programs, MeasuredServer::Express, &large.rows, large).await?);
        beside.push(NodePeer::start(programs, MeasuredServer::Fastify, &large.rows, large).await?);
        beside.push(
            NodePeer::start(
                programs,
                MeasuredServer::FastifyPair,
                &DatabaseLocation::Sqlite(copy),
                &usual,
            )
            .await?,
        );
    }
    let mut lanes = vec![
        usual.lane(Operation::Session, MeasuredServer::Limit, &session),
        usual.lane(Operation::Session, MeasuredServer::Service, &session),
        usual.lane(Operation::Nothing, MeasuredServer::Service, &nothing),
        usual.lane(Operation::Check, MeasuredServer::Service, &check),
        usual.lane(Operation::Groups, MeasuredServer::Limit, &usual.groups),
        usual.lane(Operation::Groups, MeasuredServer::Service, &usual.groups),
        looping(Operation::Groups, &queries, LoopResponse::Groups),
        usual.lane(Operation::LogPage, MeasuredServer::Limit, &usual.log_page),
        usual.lane(Operation::LogPage, MeasuredServer::Service, &usual.log_page),
        looping(Operation::LogPage, &queries, LoopResponse::LogPage),
        raw(Operation::SendMessage, measured, "/raw-message"),
        usual.chat_lane(),
        raw(Operation::Save, measured, "/raw"),
        saving(Operation::Save, measured, &sessions, results, &notices),
        raw(Operation::Saves, measured, "/raw"),
        saving(Operation::Saves, measured, &sessions, results, &notices),
    ];
    if many.is_some() {
        lanes.push(large.lane(Operation::Groups, MeasuredServer::Many, &large.groups));
        lanes.push(large.lane(Operation::LogPage, MeasuredServer::Many, &large.log_page));
    }
    if let [express, fastify, pair] = beside.as_slice() {
        lanes.extend([express.lane(Operation::Groups), express.lane(Operation::LogPage)]);
        lanes.extend([fastify.lane(Operation::Groups), fastify.lane(Operation::LogPage)]);
        lanes.extend([fastify.lane(Operation::Nothing), fastify.lane(Operation::Check)]);
        lanes.push(pair.chat_lane(&usual));
    }
    let rounds = lanes::rounds(&lanes, pace, "SQLite").await?;
    drop(lanes);
    drop(beside);
    let memory = cpu::memory(measured.process())?;
    // Runs last: the school must not grow while it is measured.
    let mut raw = imports::PlainInserts::open(folder)?;
    let mut imported = Vec::new();
    for round in 0..pace.rounds {
        imported.push(imports::round(&measured.base, &people.admin, &mut raw, round).await?);
    }
    Ok(SqliteResults {
        rounds,
        imports: imported,
        memory,
        sizes: [
            session.body.len(),
            usual.groups.body.len(),
            usual.log_page.body.len(),
            document.len(),
        ],
        rows: usual.sizes,
    })
}

async fn on_postgres(
    server: &str,
    (folder, results): (PathBuf, SocketAddr),
    pace: &RoundSettings,
    programs: Option<&Path>,
) -> anyhow::Result<Vec<Vec<LoadSample>>> {
    let url = database_copies::make_database(server, &format!("bench_{}", std::process::id()))?;
    let site = FilledSchool::open(&folder, results, Some(&url), 1).await?;
    let mut beside = Vec::new();
    if let Some(programs) = programs {
        beside.push(NodePeer::start(programs, MeasuredServer::Express, &site.rows, &site).await?);
        beside.push(NodePeer::start(programs, MeasuredServer::Fastify, &site.rows, &site).await?);
    }
    let mut lanes = vec![
        site.lane(Operation::Groups, MeasuredServer::Service, &site.groups),
        site.lane(Operation::LogPage, MeasuredServer::Service, &site.log_page),
        site.chat_lane(),
    ];
    for peer in &beside {
        lanes.extend([
            peer.lane(Operation::Groups),
            peer.lane(Operation::LogPage),
            peer.chat_lane(&site),
        ]);
    }
    lanes::rounds(&lanes, pace, "PostgreSQL").await
}

fn looping(what: Operation, queries: &QueryLoop, answer: LoopResponse) -> Lane<'_> {
    Lane {
        target: LoadTarget(what, MeasuredServer::QueryLoop),
        work: Load::Statements(queries, answer),
    }
}

/// Creates a lane of the lower bound of a durable write.
fn raw<'s>(what: Operation, measured: &'s ServiceProcess, path: &'s str) -> Lane<'s> {
    let host = measured.address;
    Lane {
        target: LoadTarget(what, MeasuredServer::Limit),
        work: Load::Http(HttpLoad {
            address: host,
            processes: vec![measured.process()],
            ask: Box::new(move |_, _| {
                post(
                    host,
                    path,
                    "",
                    "The limit of a message is its row and the commit of it.",
                )
            }),
            status: 200,
            body: None,
        }),
    }
}

fn saving<'s>(
    what: Operation,
    measured: &'s ServiceProcess,
    sessions: &'s [SavedDocument],
    results: SocketAddr,
    notices: &'s AtomicU64,
) -> Lane<'s> {
    let host = measured.address;
    let ask = move |connection: usize, _| {
        let number = notices.fetch_add(1, Ordering::Relaxed);
        sessions[connection].notice(host, results, number)
    };
    Lane {
        target: LoadTarget(what, MeasuredServer::Service),
        work: Load::Http(HttpLoad {
            address: host,
            processes: vec![measured.process()],
            ask: Box::new(ask),
            status: 200,
            body: Some(b"{\"error\":0}"),
        }),
    }
}

struct SeparateResults {
    downloads: Option<downloads::DownloadRounds>,
    finishes: Vec<Vec<FinishCost>>,
    starts: Vec<f64>,
    idle: Vec<f64>,
    sign_ins: Vec<sign_ins::SignInRound>,
    growth: PeakMemory,
}

/// Measurements with a process of their own: their files, documents and connections disturb no other measurement.
async fn alone(
    folder: &Path,
    results: SocketAddr,
    document: &[u8],
    pace: &RoundSettings,
) -> anyhow::Result<SeparateResults> {
    let starts = starts::rounds(&folder.join("starts"), results, pace).await?;
    let idle = idle::rounds(&folder.join("idle"), results, pace).await?;
    let sign_ins = sign_ins::rounds(&folder.join("sign-ins"), results, pace).await?;
    let place = folder.join("files");
    let measured = ServiceProcess::start(&StartOptions::usual(&place, results))?;
    let downloads = match Downloads::open(&place, &measured, document).await? {
        None => None,
        Some(downloads) => Some(downloads.rounds(&measured, pace).await?),
    };
    let finishing = FinishBenchmark::open(&measured.base, measured.people()?).await?;
    let mut finishes = Vec::new();
    for _ in 0..pace.rounds {
        finishes.push(finishing.round(measured.process()).await?);
    }
    let growth = archives::measure(&folder.join("archives"), results).await?;
    Ok(SeparateResults {
        downloads,
        finishes,
        starts,
        idle,
        sign_ins,
        growth,
    })
}
