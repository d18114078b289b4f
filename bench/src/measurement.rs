//! The run: start the measured process, fill its school, record answers, then load one target after the other, round by
//! round in a rotating order.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde::Deserialize;

use crate::downloads::{self, Downloads};
use crate::finishing::{Finish, Finishing};
use crate::load::{self, Outcome, Question};
use crate::queries::{Answer, Loop, PAGE};
use crate::saves::{self, Session};
use crate::seed::{self, Lesson, People, Person, Talk};
use crate::{conditions, cpu, imports};

/// Connections that read at once.
pub const CONNECTIONS: usize = 32;

/// How long everything takes.
pub struct Pace {
    /// Rounds.
    pub rounds: usize,
    /// Load on each target in each round.
    pub sample: Duration,
    /// How many times the usual rows the larger school has; without one below 2.
    pub many: usize,
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
    /// Its statements in a raw loop.
    GroupsInLoop,
    /// The same list where there is much more beside it.
    GroupsOfMany,
    /// The page below, from memory.
    LogPageFromMemory,
    /// A page of the activity log, as an admin reads it.
    LogPage,
    /// Its statement in a raw loop.
    LogPageInLoop,
    /// The same page of a much longer log.
    LogPageOfMany,
    /// One row and its commit, 32 at once.
    RawTalk,
    /// A chat message, 32 at once.
    Talk,
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
    const ALL: [Self; 16] = [
        Self::SessionFromMemory,
        Self::Session,
        Self::GroupsFromMemory,
        Self::Groups,
        Self::GroupsInLoop,
        Self::GroupsOfMany,
        Self::LogPageFromMemory,
        Self::LogPage,
        Self::LogPageInLoop,
        Self::LogPageOfMany,
        Self::RawTalk,
        Self::Talk,
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
    /// Downloads, where there is nginx.
    pub downloads: Vec<downloads::Round>,
    /// Finishes of growing topics, one list for each round.
    pub finishes: Vec<Vec<Finish>>,
    /// How long each sample lasted.
    pub sample: Duration,
    /// Bytes of the recorded answers (session, groups, page of the log) and of a document.
    pub sizes: [usize; 4],
    /// Rows of the other classes, and records of the log.
    pub rows: [usize; 2],
    /// How many times that the larger school has, if there was one.
    pub many: usize,
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
    let usual = Site::open(folder.path().join("usual"), results, 1).await?;
    let many = match pace.many {
        0 | 1 => None,
        times => Some(Site::open(folder.path().join("many"), results, times).await?),
    };
    let measured = &usual.measured;
    let (teacher, admin) = (&measured.people.teacher, &measured.people.admin);
    let session = Recorded::new(measured, "session", "/api/auth/get-session", teacher).await?;
    measured.record("document", document.clone()).await?;
    let scene = Scene {
        sessions: saves::open(&measured.base, &usual.lesson).await?,
        results,
        notices: AtomicU64::new(0),
        session,
        queries: Loop::open(&usual.database, &teacher.id, &admin.id, &usual.lesson.class)?,
        talks: seed::talks(&measured.base, &measured.people, &usual.lesson).await?,
        many,
        usual,
    };
    let targets: Vec<Target> = Target::ALL.into_iter().filter(|target| scene.has(*target)).collect();
    for target in &targets {
        // Warm: caches, prepared statements, connections to the document server.
        scene.sample(*target, Duration::from_millis(300)).await?;
    }
    let mut rounds = Vec::new();
    for round in 0..pace.rounds {
        let mut samples = Vec::new();
        for position in 0..targets.len() {
            let target = targets[(position + round * 3) % targets.len()];
            samples.push(scene.sample(target, pace.sample).await?);
        }
        eprintln!("round {} of {}", round + 1, pace.rounds);
        rounds.push(samples);
    }
    // After everything else: the school must not grow while it is measured.
    let mut raw = imports::Raw::open(folder.path())?;
    let mut imported = Vec::new();
    let measured = &scene.usual.measured;
    for round in 0..pace.rounds {
        imported.push(imports::round(&measured.base, &measured.people.admin, &mut raw, round).await?);
    }
    let (downloads, finishes) = files(&folder.path().join("files"), results, pace).await?;
    let recorded = [&scene.session, &scene.usual.groups, &scene.usual.log_page].map(|recorded| recorded.body.len());
    let [session, groups, log_page] = recorded;
    Ok(Report {
        rounds,
        imports: imported,
        downloads,
        finishes,
        sample: pace.sample,
        sizes: [session, groups, log_page, document.len()],
        rows: scene.usual.rows,
        many: pace.many,
        conditions: conditions::describe(folder.path()),
        load: [before, conditions::load()],
        time: begin.elapsed(),
    })
}

/// Downloads and finishes, in a process of their own: their files and documents are in nobody's way there.
async fn files(
    folder: &Path,
    results: SocketAddr,
    pace: &Pace,
) -> anyhow::Result<(Vec<downloads::Round>, Vec<Vec<Finish>>)> {
    std::fs::create_dir_all(folder)?;
    let measured = Measured::start(folder, results)?;
    let (base, people, process) = (&measured.base, &measured.people, measured.child.id());
    let mut served = Vec::new();
    if let Some(downloads) = Downloads::open(folder, base, people).await? {
        for round in 0..pace.rounds {
            let service = (measured.address, process);
            served.push(downloads.round(service, pace.sample, round).await?);
        }
    }
    let finishing = Finishing::open(base, people).await?;
    let mut finishes = Vec::new();
    for _ in 0..pace.rounds {
        finishes.push(finishing.round(process).await?);
    }
    Ok((served, finishes))
}

/// A measured process with its school.
struct Site {
    measured: Measured,
    database: PathBuf,
    lesson: Lesson,
    rows: [usize; 2],
    groups: Recorded,
    log_page: Recorded,
}

impl Site {
    /// Starts the service in a folder of its own and fills its school, with so many times the usual rows beside the class.
    async fn open(folder: PathBuf, results: SocketAddr, times: usize) -> anyhow::Result<Self> {
        std::fs::create_dir_all(&folder)?;
        let measured = Measured::start(&folder, results)?;
        let database = folder.join("groupwork.db");
        let lesson = seed::lesson(&measured.base, &measured.people).await?;
        let classes = seed::other_classes(&database, seed::OTHER_CLASSES * times)?;
        let records = seed::log(&database, seed::LOG_ROWS * times)?;
        let people = &measured.people;
        let path = format!("/api/groups?classId={}", lesson.class);
        let groups = Recorded::new(&measured, "groups", &path, &people.teacher).await?;
        // Not the first page: what is written meanwhile would change it.
        let first = measured.get(&page_of_log(None), &people.admin).await?;
        let first: serde_json::Value = serde_json::from_slice(&first)?;
        let next = page_of_log(first["nextCursor"].as_str());
        let log_page = Recorded::new(&measured, "log", &next, &people.admin).await?;
        Ok(Self {
            measured,
            database,
            lesson,
            rows: [classes, records],
            groups,
            log_page,
        })
    }
}

fn page_of_log(cursor: Option<&str>) -> String {
    let cursor = cursor.map(|cursor| format!("&cursor={cursor}"));
    format!("/api/activity-logs?limit={PAGE}{}", cursor.unwrap_or_default())
}

/// An answer of the service, also kept in its memory under a name.
struct Recorded {
    ask: Vec<u8>,
    ask_memory: Vec<u8>,
    body: Vec<u8>,
}

impl Recorded {
    async fn new(measured: &Measured, name: &str, path: &str, person: &Person) -> anyhow::Result<Self> {
        let body = measured.get(path, person).await?;
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
    usual: Site,
    many: Option<Site>,
    queries: Loop,
    talks: Vec<Talk>,
    sessions: Vec<Session>,
    results: SocketAddr,
    notices: AtomicU64,
    session: Recorded,
}

impl Scene {
    fn has(&self, target: Target) -> bool {
        self.many.is_some() || !matches!(target, Target::GroupsOfMany | Target::LogPageOfMany)
    }

    fn site(&self, target: Target) -> &Site {
        match target {
            Target::GroupsOfMany | Target::LogPageOfMany => self.many.as_ref().unwrap_or(&self.usual),
            _ => &self.usual,
        }
    }

    async fn sample(&self, target: Target, time: Duration) -> anyhow::Result<Sample> {
        let (outcome, used) = match target {
            Target::GroupsInLoop => self.queries.run(Answer::Groups, time)?,
            Target::LogPageInLoop => self.queries.run(Answer::LogPage, time)?,
            _ => self.load(target, time).await.with_context(|| format!("{target:?}"))?,
        };
        ensure!(outcome.answers > 0, "{target:?}: no answer within {time:?}");
        let answers = f64::from(u32::try_from(outcome.answers)?);
        Ok(Sample {
            target,
            rate: answers / outcome.time.as_secs_f64(),
            cpu: used.as_secs_f64() * 1e6 / answers,
        })
    }

    async fn load(&self, target: Target, time: Duration) -> anyhow::Result<(Outcome, Duration)> {
        let site = self.site(target);
        let host = site.measured.address;
        let post = |path: &str, more: &str, body: &str| {
            let length = body.len();
            format!("POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n{more}\r\n{body}").into_bytes()
        };
        let ask = |connection: usize, count: u64| match target {
            Target::SessionFromMemory => self.session.ask_memory.clone(),
            Target::Session => self.session.ask.clone(),
            Target::GroupsFromMemory => site.groups.ask_memory.clone(),
            Target::Groups | Target::GroupsOfMany | Target::GroupsInLoop => site.groups.ask.clone(),
            Target::LogPageFromMemory => site.log_page.ask_memory.clone(),
            Target::LogPage | Target::LogPageOfMany | Target::LogPageInLoop => site.log_page.ask.clone(),
            Target::RawSave | Target::RawSaves => post("/raw", "", ""),
            Target::RawTalk => post("/raw-message", "", &said(connection, count)),
            Target::Talk => {
                let Talk { room, student } = &self.talks[connection % self.talks.len()];
                let (cookie, origin) = (&student.cookie, &site.measured.base);
                let head = format!("Cookie: {cookie}\r\nOrigin: {origin}\r\nContent-Type: application/json\r\n");
                post(
                    &format!("/api/workrooms/{room}/messages"),
                    &head,
                    &said(connection, count),
                )
            }
            Target::Save | Target::Saves => {
                let number = self.notices.fetch_add(1, Ordering::Relaxed);
                self.sessions[connection].notice(host, self.results, number)
            }
        };
        let (status, body): (u16, Option<&[u8]>) = match target {
            Target::SessionFromMemory | Target::Session => (200, Some(&self.session.body)),
            Target::GroupsFromMemory | Target::Groups | Target::GroupsOfMany | Target::GroupsInLoop => {
                (200, Some(&site.groups.body))
            }
            Target::LogPageFromMemory | Target::LogPage | Target::LogPageOfMany | Target::LogPageInLoop => {
                (200, Some(&site.log_page.body))
            }
            Target::Talk => (201, None),
            Target::RawTalk => (200, None),
            Target::RawSave | Target::Save | Target::RawSaves | Target::Saves => (200, Some(b"{\"error\":0}")),
        };
        let question = Question {
            ask: &ask,
            status,
            body,
        };
        let process = site.measured.child.id();
        let before = cpu::used(process)?;
        let outcome = load::drive(host, target.connections(), time, &question).await?;
        Ok((outcome, cpu::used(process)?.saturating_sub(before)))
    }
}

fn said(connection: usize, count: u64) -> String {
    format!(
        "{{\"content\":\"We have looked at the onion, {connection} of us, for the {count}th time. What is next?\"}}"
    )
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

    async fn get(&self, path: &str, person: &Person) -> anyhow::Result<Vec<u8>> {
        let http = reqwest::Client::builder().no_proxy().build()?;
        let request = http
            .get(format!("{}{path}", self.base))
            .header("cookie", &person.cookie);
        Ok(request.send().await?.error_for_status()?.bytes().await?.to_vec())
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
