//! A lesson in the built-in editor: documents with several writers, each of whom sends a commit at a fixed interval.
//! Measured are the time from a key until the page of a partner has received the commit, other requests meanwhile, and
//! what the lesson leaves in memory and in the database, before and after old commits are packed.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use futures_util::future::try_join_all;
use serde_json::{Value, json};
use tokio::time::{interval, sleep};

use super::school::{BenchStudent, SocketSchool};
use super::socket::BenchSocket;
use super::target::{self, BenchServer, ServerKind};

/// How long events of the last commits may take to arrive.
const LAST_EVENTS: Duration = Duration::from_secs(3);
/// Timeout of the packing of old commits, which begins a minute after the start of the service.
const PACKING_TIMEOUT: Duration = Duration::from_mins(5);

/// Benchmarks a lesson in the built-in editor.
#[derive(clap::Args)]
pub struct EditorArguments {
    /// Number of documents
    #[arg(long, default_value_t = 75)]
    documents: usize,
    /// Writers of each document
    #[arg(long, default_value_t = 4)]
    writers: usize,
    /// Seconds of writing
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// Milliseconds between two commits of a writer
    #[arg(long, default_value_t = 400)]
    interval: u64,
}

/// When each commit was sent, by its reference.
type Sent = Arc<Mutex<HashMap<String, Instant>>>;
/// Latencies of one kind.
type Latencies = Arc<Mutex<Vec<Duration>>>;

/// A writer with an open page.
#[derive(Clone)]
struct DocumentWriter {
    number: usize,
    cookie: String,
    document: String,
    /// The writer whose commits are timed at this page: the one before in the same document.
    partner: usize,
}

/// Runs the benchmark and prints the figures.
pub fn run(arguments: &EditorArguments) -> anyhow::Result<()> {
    target::raise_descriptors()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let text = runtime.block_on(measure(arguments))?;
    write!(std::io::stdout(), "{text}")?;
    Ok(())
}

async fn measure(arguments: &EditorArguments) -> anyhow::Result<String> {
    ensure!(arguments.writers >= 2, "a document needs a writer and a partner");
    let folder = tempfile::tempdir()?;
    let count = arguments.documents * arguments.writers;
    let school = target::prepare(folder.path(), 1, count, arguments.writers).await?;
    let server = BenchServer::start(ServerKind::Service, folder.path(), folder.path()).await?;
    let writers = open_documents(&server, &school, arguments.writers).await?;
    sleep(Duration::from_secs(2)).await;
    let (before, cpu) = (server.resident()?, server.cpu()?);
    let lesson = write_lesson(&server, &school, &writers, arguments).await?;
    let cpu = server.cpu()?.saturating_sub(cpu);
    let grown = server.resident()?.saturating_sub(before);
    drop(server);
    let (commits, stored) = log_size(folder.path())?;
    let packed = pack(folder.path()).await?;
    let figure = |durations: &Latencies, share: f64| {
        let mut durations = lock(durations).clone();
        durations.sort_unstable();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an index of a list"
        )]
        let index = (durations.len() as f64 * share) as usize;
        durations
            .get(index.min(durations.len().saturating_sub(1)))
            .map_or(f64::NAN, |duration| duration.as_secs_f64() * 1e3)
    };
    let received = lock(&lesson.deliveries).len();
    let per_commit = |bytes: u64| bytes as f64 / commits as f64;
    let mebibytes = |bytes: u64| bytes as f64 / 1_048_576.0;
    Ok(format!(
        "| {} documents, {} writers each, a commit every {} ms, {} s | |\n|---|--:|\n\
         | commits | {commits} |\n\
         | commits that a partner received | {} |\n\
         | from key to partner, median / p95 / p99 | {:.1} / {:.1} / {:.1} ms |\n\
         | other requests meanwhile, median / p99 | {:.1} / {:.1} ms |\n\
         | memory of the service in addition | {:.1} MiB |\n\
         | CPU per commit | {:.0} µs |\n\
         | log in the database | {:.1} MiB, {:.0} bytes per commit |\n\
         | log after packing | {:.1} MiB, {:.0} bytes per commit |\n",
        arguments.documents,
        arguments.writers,
        arguments.interval,
        arguments.seconds,
        received,
        figure(&lesson.deliveries, 0.5),
        figure(&lesson.deliveries, 0.95),
        figure(&lesson.deliveries, 0.99),
        figure(&lesson.others, 0.5),
        figure(&lesson.others, 0.99),
        mebibytes(grown),
        cpu.as_secs_f64() * 1e6 / commits as f64,
        mebibytes(stored),
        per_commit(stored),
        mebibytes(packed),
        per_commit(packed),
    ))
}

/// Creates a document in each group and opens it.
async fn open_documents(
    server: &BenchServer,
    school: &SocketSchool,
    writers_each: usize,
) -> anyhow::Result<Vec<DocumentWriter>> {
    let mut writers = Vec::new();
    for (group, members) in school.people.chunks(writers_each).enumerate() {
        let BenchStudent {
            cookie, group: room, ..
        } = &members[0];
        let body = json!({"title": "Report", "documentType": "word"});
        let created = server
            .post(&format!("/workrooms/{room}/documents"), cookie, &body)
            .await?;
        let document = created["id"].as_str().context("id")?.to_owned();
        server
            .get(&format!("/workrooms/documents/{document}/content"), cookie)
            .await?;
        for (place, member) in members.iter().enumerate() {
            writers.push(DocumentWriter {
                number: group * writers_each + place,
                cookie: member.cookie.clone(),
                document: document.clone(),
                partner: group * writers_each + (place + members.len() - 1) % members.len(),
            });
        }
    }
    Ok(writers)
}

struct LessonLatencies {
    deliveries: Latencies,
    others: Latencies,
}

async fn write_lesson(
    server: &BenchServer,
    school: &SocketSchool,
    writers: &[DocumentWriter],
    arguments: &EditorArguments,
) -> anyhow::Result<LessonLatencies> {
    let (sent, deliveries, others) = (Sent::default(), Latencies::default(), Latencies::default());
    let mut listening = Vec::new();
    for writer in writers {
        let socket = join(server, writer).await?;
        listening.push(tokio::spawn(listen(
            socket,
            writer.partner,
            Arc::clone(&sent),
            Arc::clone(&deliveries),
        )));
    }
    let end = Instant::now() + Duration::from_secs(arguments.seconds);
    let typing = try_join_all(
        writers
            .iter()
            .map(|writer| type_until(server, writer, &sent, end, arguments)),
    );
    let asking = async {
        let mut ticks = interval(Duration::from_millis(50));
        while Instant::now() < end {
            ticks.tick().await;
            let begin = Instant::now();
            server.get("/users/me", &school.teacher).await?;
            lock(&others).push(begin.elapsed());
        }
        anyhow::Ok(())
    };
    futures_util::future::try_join(typing, asking).await?;
    sleep(LAST_EVENTS).await;
    for task in listening {
        task.abort();
    }
    Ok(LessonLatencies { deliveries, others })
}

async fn join(server: &BenchServer, writer: &DocumentWriter) -> anyhow::Result<BenchSocket> {
    let mut socket = BenchSocket::open(server.address(), "", &writer.cookie).await?;
    while !socket.next().await?.starts_with("42[\"ready\"") {}
    let open = json!(["document:open", {"documentId": writer.document, "generation": 1,
        "clientId": format!("w{}", writer.number)}]);
    socket.send(&format!("420{open}")).await?;
    loop {
        let text = socket.next().await?;
        if text.starts_with("430") {
            ensure!(text.contains("true"), "the document was not joined: {text}");
            return Ok(socket);
        }
    }
}

/// Times the commits of the partner.
async fn listen(mut socket: BenchSocket, partner: usize, sent: Sent, deliveries: Latencies) {
    let of_partner = format!("w{partner}");
    while let Ok(text) = socket.next().await {
        let Some(event) = text
            .strip_prefix("42")
            .filter(|text| text.starts_with("[\"document:commits\""))
        else {
            continue;
        };
        let arrived = Instant::now();
        let event: Value = serde_json::from_str(event).unwrap_or_default();
        for commit in event[1]["commits"].as_array().into_iter().flatten() {
            if commit["clientId"] == *of_partner
                && let Some(at) = lock(&sent).remove(commit["ref"].as_str().unwrap_or_default())
            {
                lock(&deliveries).push(arrived.duration_since(at));
            }
        }
    }
}

async fn type_until(
    server: &BenchServer,
    writer: &DocumentWriter,
    sent: &Sent,
    end: Instant,
    arguments: &EditorArguments,
) -> anyhow::Result<()> {
    let pause = Duration::from_millis(arguments.interval);
    // Writers do not press their keys at the same moment.
    let share = u32::try_from(writer.number * 37 % 100)?;
    sleep(pause * share / 100).await;
    let mut ticks = interval(pause);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let path = format!("/workrooms/documents/{}/commits", writer.document);
    let text: Vec<char> = "The Rhine begins in Switzerland. ".chars().collect();
    let mut version = 0;
    for number in 0.. {
        ticks.tick().await;
        if Instant::now() >= end {
            break;
        }
        let reference = format!("w{}-{number}", writer.number);
        let body = json!({"generation": 1, "ref": reference, "clientId": format!("w{}", writer.number),
            "version": version, "steps": [{"stepType": "replace", "from": 1, "to": 1,
            "slice": {"content": [{"type": "text", "text": text[number % text.len()].to_string()}]}}]});
        lock(sent).insert(reference, Instant::now());
        let reply = server.post(&path, &writer.cookie, &body).await?;
        ensure!(reply["outcome"] == "COMMITTED", "{reply}");
        version = reply["version"].as_i64().context("version")?;
    }
    Ok(())
}

/// Returns the number of commits, and the size of their table with its indexes in bytes.
fn log_size(folder: &Path) -> anyhow::Result<(u64, u64)> {
    let database = rusqlite::Connection::open(folder.join(target::DATABASE))?;
    let read = |sql: &str| database.query_row(sql, [], |row| row.get::<_, i64>(0));
    let commits = read("SELECT COALESCE(SUM(version), 0) FROM document_logs")?;
    let bytes = read(
        "SELECT SUM(pgsize - unused) FROM dbstat WHERE name IN
            (SELECT name FROM sqlite_schema WHERE tbl_name = 'document_steps')",
    )?;
    Ok((u64::try_from(commits)?, u64::try_from(bytes)?))
}

/// Makes the log as old as an hour, runs the service until it is packed, and returns its size.
async fn pack(folder: &Path) -> anyhow::Result<u64> {
    let unpacked = |change: Option<&str>| {
        let database = rusqlite::Connection::open(folder.join(target::DATABASE))?;
        database.busy_timeout(Duration::from_secs(10))?;
        if let Some(change) = change {
            database.execute_batch(change)?;
        }
        let count = "SELECT COUNT(*) FROM document_logs WHERE packed_version < version";
        anyhow::Ok(database.query_row(count, [], |row| row.get::<_, i64>(0))?)
    };
    unpacked(Some(
        "UPDATE document_steps SET created_at = created_at - 3600000;
         UPDATE document_logs SET last_commit_at = last_commit_at - 3600000, saved_version = version, unsaved_since = NULL;",
    ))?;
    let server = BenchServer::start(ServerKind::Service, folder, folder).await?;
    let begin = Instant::now();
    while unpacked(None)? > 0 {
        ensure!(begin.elapsed() < PACKING_TIMEOUT, "the log was not packed");
        sleep(Duration::from_secs(1)).await;
    }
    drop(server);
    Ok(log_size(folder)?.1)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
