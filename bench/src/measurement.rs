//! The run: start the measured process, fill its school, record answers, then load one target after the other, round by
//! round in a rotating order.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde::Deserialize;

use crate::load::{self, Question};
use crate::saves::{self, Session};
use crate::seed::{self, People, Person};
use crate::{conditions, cpu, imports};

/// Connections that read at once.
pub const CONNECTIONS: usize = 32;

/// How long everything takes.
pub struct Pace {
    /// Rounds.
    pub rounds: usize,
    /// Load on each target in each round.
    pub sample: Duration,
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The smallest answer, from memory.
    SessionFromMemory,
    /// Who am I: the check of the session and its answer.
    Session,
    /// The list below, from memory.
    GroupsFromMemory,
    /// The groups of a class with members, course and topics.
    Groups,
    /// The bytes of a document made durable, with nothing around, one after the other.
    RawSave,
    /// A document saved through the document server's notice, one after the other.
    Save,
    /// The first of the two, eight at once.
    RawSaves,
    /// The second of the two, eight at once.
    Saves,
}

impl Target {
    const ALL: [Self; 8] = [
        Self::SessionFromMemory,
        Self::Session,
        Self::GroupsFromMemory,
        Self::Groups,
        Self::RawSave,
        Self::Save,
        Self::RawSaves,
        Self::Saves,
    ];

    fn connections(self) -> usize {
        match self {
            Self::RawSave | Self::Save => 1,
            Self::RawSaves | Self::Saves => seed::DOCUMENTS,
            _ => CONNECTIONS,
        }
    }
}

/// One sample.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// What was asked.
    pub target: Target,
    /// Answers per second.
    pub rate: f64,
    /// CPU of the measured process for each answer, in microseconds.
    pub cpu: f64,
}

/// Everything a report needs.
pub struct Report {
    /// The samples of each round.
    pub rounds: Vec<Vec<Sample>>,
    /// Imports, one for each round.
    pub imports: Vec<imports::Round>,
    /// How long each sample lasted.
    pub sample: Duration,
    /// Bytes of the two recorded answers and of a document.
    pub sizes: [usize; 3],
    /// Rows of the other classes.
    pub rows: usize,
    /// The machine.
    pub conditions: Vec<String>,
    /// Load averages before and after.
    pub load: [String; 2],
    /// How long the run took.
    pub time: Duration,
}

/// Measures everything.
pub fn run(pace: &Pace) -> anyhow::Result<Report> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(measure(pace))
}

async fn measure(pace: &Pace) -> anyhow::Result<Report> {
    let (begin, before) = (Instant::now(), conditions::load());
    let folder = tempfile::tempdir()?;
    let document = saves::document()?;
    let results = saves::serve_results(document.clone())?;
    let measured = Measured::start(folder.path(), results)?;
    let lesson = seed::lesson(&measured.base, &measured.people).await?;
    let rows = seed::other_classes(&folder.path().join("groupwork.db"), seed::OTHER_CLASSES)?;
    let teacher = &measured.people.teacher;
    let session = Recorded::new(&measured, "session", "/api/auth/get-session", teacher).await?;
    let path = format!("/api/groups?classId={}", lesson.class);
    let groups = Recorded::new(&measured, "groups", &path, teacher).await?;
    measured.record("document", document.clone()).await?;
    let scene = Scene {
        sessions: saves::open(&measured.base, &lesson).await?,
        results,
        notices: AtomicU64::new(0),
        session,
        groups,
    };
    for target in Target::ALL {
        // Warm: caches, prepared statements, connections to the document server.
        scene.sample(&measured, target, Duration::from_millis(300)).await?;
    }
    let mut rounds = Vec::new();
    for round in 0..pace.rounds {
        let mut samples = Vec::new();
        for position in 0..Target::ALL.len() {
            let target = Target::ALL[(position + round * 3) % Target::ALL.len()];
            samples.push(scene.sample(&measured, target, pace.sample).await?);
        }
        eprintln!("round {} of {}", round + 1, pace.rounds);
        rounds.push(samples);
    }
    // After everything else: the school must not grow while it is measured.
    let mut raw = imports::Raw::open(folder.path())?;
    let mut imported = Vec::new();
    for round in 0..pace.rounds {
        imported.push(imports::round(&measured.base, &measured.people.admin, &mut raw, round).await?);
    }
    Ok(Report {
        rounds,
        imports: imported,
        sample: pace.sample,
        sizes: [scene.session.body.len(), scene.groups.body.len(), document.len()],
        rows,
        conditions: conditions::describe(folder.path()),
        load: [before, conditions::load()],
        time: begin.elapsed(),
    })
}

/// An answer of the service, also kept in its memory under a name.
struct Recorded {
    ask: Vec<u8>,
    ask_memory: Vec<u8>,
    body: Vec<u8>,
}

impl Recorded {
    async fn new(measured: &Measured, name: &str, path: &str, person: &Person) -> anyhow::Result<Self> {
        let http = reqwest::Client::builder().no_proxy().build()?;
        let request = http.get(format!("{}{path}", measured.base));
        let answer = request
            .header("cookie", &person.cookie)
            .send()
            .await?
            .error_for_status()?;
        let body = answer.bytes().await?.to_vec();
        measured.record(name, body.clone()).await?;
        // Both requests carry the cookie, so that both heads cost the same to read.
        let ask = |path: &str| {
            let (host, cookie) = (measured.address, &person.cookie);
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n").into_bytes()
        };
        Ok(Self {
            ask: ask(path),
            ask_memory: ask(&format!("/memory/{name}")),
            body,
        })
    }
}

struct Scene {
    sessions: Vec<Session>,
    results: SocketAddr,
    notices: AtomicU64,
    session: Recorded,
    groups: Recorded,
}

impl Scene {
    async fn sample(&self, measured: &Measured, target: Target, time: Duration) -> anyhow::Result<Sample> {
        let host = measured.address;
        let ask = |connection: usize, _: u64| match target {
            Target::SessionFromMemory => self.session.ask_memory.clone(),
            Target::Session => self.session.ask.clone(),
            Target::GroupsFromMemory => self.groups.ask_memory.clone(),
            Target::Groups => self.groups.ask.clone(),
            Target::RawSave | Target::RawSaves => {
                format!("POST /raw HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\n\r\n").into_bytes()
            }
            Target::Save | Target::Saves => {
                let number = self.notices.fetch_add(1, Ordering::Relaxed);
                self.sessions[connection].notice(host, self.results, number)
            }
        };
        let body: &[u8] = match target {
            Target::SessionFromMemory | Target::Session => &self.session.body,
            Target::GroupsFromMemory | Target::Groups => &self.groups.body,
            _ => b"{\"error\":0}",
        };
        let question = Question { ask: &ask, body };
        let before = cpu::used(measured.child.id())?;
        let outcome = load::drive(host, target.connections(), time, &question)
            .await
            .with_context(|| format!("{target:?}"))?;
        let used = cpu::used(measured.child.id())?.saturating_sub(before);
        ensure!(outcome.answers > 0, "{target:?}: no answer within {time:?}");
        let answers = f64::from(u32::try_from(outcome.answers)?);
        Ok(Sample {
            target,
            rate: answers / outcome.time.as_secs_f64(),
            cpu: used.as_secs_f64() * 1e6 / answers,
        })
    }
}

/// The measured process, killed when dropped: nothing in it is worth keeping.
struct Measured {
    child: Child,
    base: String,
    address: SocketAddr,
    people: People,
}

#[derive(Deserialize)]
struct Greeting {
    base: String,
    people: People,
}

impl Measured {
    fn start(folder: &Path, document_server: SocketAddr) -> anyhow::Result<Self> {
        let log = std::fs::File::create(folder.join("service.log"))?;
        let mut child = Command::new(std::env::current_exe()?)
            .arg("--serve-in")
            .arg(folder)
            .arg(format!("--document-server=http://{document_server}"))
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()?;
        let mut line = String::new();
        let stdout = child.stdout.take().context("a piped output")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let greeting: Greeting = serde_json::from_str(&line).with_context(|| {
            let log = std::fs::read_to_string(folder.join("service.log")).unwrap_or_default();
            format!("the measured service did not start: {line}{log}")
        })?;
        let address = greeting.base.trim_start_matches("http://").parse()?;
        Ok(Self {
            child,
            base: greeting.base,
            address,
            people: greeting.people,
        })
    }

    async fn record(&self, name: &str, body: Vec<u8>) -> anyhow::Result<()> {
        let http = reqwest::Client::builder().no_proxy().build()?;
        let url = format!("{}/memory/{name}", self.base);
        http.put(url).body(body).send().await?.error_for_status()?;
        Ok(())
    }
}

impl Drop for Measured {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
