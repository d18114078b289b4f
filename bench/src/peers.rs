//! The Node servers of `bench/peer`, started on the rows that the service wrote. Before a peer is measured, its parsed
//! responses must equal those of the service.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, ensure};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::database_copies::DatabaseLocation;
use crate::filled_school::{FilledSchool, RecordedResponse, chat_lane, fixed};
use crate::lanes::{Lane, LoadTarget, MeasuredServer, Operation};
use crate::seed::{BenchUser, BenchUsers};
use crate::server::AUTH_SECRET;

/// A running peer, killed when dropped.
pub struct NodePeer {
    child: Child,
    who: MeasuredServer,
    address: SocketAddr,
    processes: Vec<u32>,
    groups: RecordedResponse,
    log_page: RecordedResponse,
    nothing: RecordedResponse,
    check: RecordedResponse,
    cookies: Vec<String>,
}

#[derive(Deserialize)]
struct PeerStartup {
    base: String,
    processes: Vec<u32>,
}

/// Returns the folder of the programs if they can run here.
pub fn programs() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("peer");
    let is_ready = folder.join("generated/sqlite/client").is_dir();
    let has_node = Command::new("node").arg("--version").output().is_ok();
    if is_ready && has_node {
        return Some(folder);
    }
    eprintln!("NO FIGURES BESIDE NODE: in bench/peer run npm ci, npm rebuild better-sqlite3, npm run generate");
    None
}

impl NodePeer {
    /// Starts a peer on these rows and compares its responses.
    pub async fn start(
        programs: &Path,
        who: MeasuredServer,
        rows: &DatabaseLocation,
        site: &FilledSchool,
    ) -> anyhow::Result<Self> {
        let (program, workers) = match who {
            MeasuredServer::Express => ("express.mjs", 1),
            MeasuredServer::FastifyPair => ("fastify.mjs", 2),
            _ => ("fastify.mjs", 1),
        };
        let folder = site.folder.join(format!("{who:?}-{}", rand::random::<u32>()));
        std::fs::create_dir_all(&folder)?;
        let people = site.people()?;
        let mut settings = json!({
            "folder": folder, "secret": AUTH_SECRET, "people": listed(people), "workers": workers,
        });
        match rows {
            DatabaseLocation::Sqlite(path) => settings["sqlite"] = json!(path),
            DatabaseLocation::Postgres(url) => settings["postgres"] = json!(url),
        }
        let file = folder.join("settings.json");
        std::fs::write(&file, settings.to_string())?;
        let log_file = folder.join("log");
        let mut child = Command::new("node")
            .arg(programs.join(program))
            .arg(&file)
            .env("NODE_ENV", "production")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(&log_file)?)
            .spawn()?;
        let mut line = String::new();
        let stdout = child.stdout.take().context("a piped output")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let greeting: PeerStartup = serde_json::from_str(&line).with_context(|| {
            let log = std::fs::read_to_string(&log_file).unwrap_or_default();
            format!("{program} did not start: {line}{log}")
        })?;
        let address = greeting.base.trim_start_matches("http://").parse()?;
        let (teacher, admin) = (
            cookie(address, &people.teacher).await?,
            cookie(address, &people.admin).await?,
        );
        let mut cookies = Vec::new();
        for talk in &site.talks {
            cookies.push(cookie(address, &talk.student).await?);
        }
        let peer = Self {
            groups: RecordedResponse::of(address, &site.groups.path, &teacher, "").await?,
            log_page: RecordedResponse::of(address, &site.log_page.path, &admin, "").await?,
            nothing: RecordedResponse::of(address, nothing(who), &teacher, "").await?,
            check: RecordedResponse::of(address, check(who), &teacher, "").await?,
            child,
            who,
            address,
            processes: greeting.processes,
            cookies,
        };
        equal(who, &peer.groups, &site.groups)?;
        equal(who, &peer.log_page, &site.log_page)?;
        Ok(peer)
    }

    /// Creates a lane that reads.
    pub fn lane(&self, what: Operation) -> Lane<'_> {
        let recorded = match what {
            Operation::Groups => &self.groups,
            Operation::LogPage => &self.log_page,
            Operation::Check => &self.check,
            _ => &self.nothing,
        };
        let target = LoadTarget(what, self.who);
        fixed(
            target,
            self.address,
            self.processes.clone(),
            &recorded.ask,
            &recorded.body,
        )
    }

    /// Creates a lane of chat messages.
    pub fn chat_lane<'s>(&'s self, site: &'s FilledSchool) -> Lane<'s> {
        let processes = self.processes.clone();
        chat_lane(self.who, self.address, processes, &site.talks, self.cookies.clone())
    }
}

/// Only Fastify has these two routes; they are not requested from the other peer.
fn nothing(who: MeasuredServer) -> &'static str {
    match who {
        MeasuredServer::Express => "/api/auth/ok",
        _ => "/nothing",
    }
}

fn check(who: MeasuredServer) -> &'static str {
    match who {
        MeasuredServer::Express => "/api/auth/ok",
        _ => "/session-check",
    }
}

fn listed(people: &BenchUsers) -> Vec<Value> {
    let all = [&people.admin, &people.teacher].into_iter().chain(&people.students);
    all.map(|person| {
        json!({
            "id": person.id, "name": person.name, "email": person.email, "token": person.token,
            "organizationId": people.organization,
        })
    })
    .collect()
}

/// Returns the cookies of a user: the session, and its copy that better-auth trusts for a while.
async fn cookie(address: SocketAddr, person: &BenchUser) -> anyhow::Result<String> {
    let http = reqwest::Client::builder().no_proxy().build()?;
    let request = http.get(format!("http://{address}/api/auth/get-session"));
    let answer = request.header("cookie", &person.cookie).send().await?;
    let given = answer.headers().get_all("set-cookie").iter();
    let mut given = given.filter_map(|value| value.to_str().ok()?.split(';').next());
    let cached = given
        .rfind(|cookie| cookie.starts_with("better-auth.session_data="))
        .map(str::to_owned);
    let cached = cached.with_context(|| format!("{}: no cached session: {}", person.name, answer.status()))?;
    Ok(format!("{}; {cached}", person.cookie))
}

fn equal(who: MeasuredServer, peer: &RecordedResponse, service: &RecordedResponse) -> anyhow::Result<()> {
    let read = |recorded: &RecordedResponse| serde_json::from_slice::<Value>(&recorded.body);
    let (theirs, ours) = (read(peer)?, read(service)?);
    let mut found = Vec::new();
    differences("", Some(&theirs), Some(&ours), &mut found);
    found.truncate(30);
    ensure!(
        found.is_empty(),
        "{}: {who:?} responds differently:\n{}",
        service.path,
        found.join("\n")
    );
    Ok(())
}

/// Adds where two values differ, and the values there.
fn differences(at: &str, theirs: Option<&Value>, ours: Option<&Value>, found: &mut Vec<String>) {
    match (theirs, ours) {
        (Some(Value::Array(left)), Some(Value::Array(right))) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                differences(&format!("{at}[{index}]"), Some(left), Some(right), found);
            }
        }
        (Some(Value::Object(left)), Some(Value::Object(right))) => {
            let names: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            for name in names {
                differences(&format!("{at}.{name}"), left.get(name), right.get(name), found);
            }
        }
        _ if theirs == ours => {}
        _ => {
            let shown = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), Value::to_string);
            found.push(format!("{at}: {} instead of {}", shown(theirs), shown(ours)));
        }
    }
}

impl Drop for NodePeer {
    fn drop(&mut self) {
        // The workers of a pair exit when the pipe that they share with their first process is closed.
        drop(self.child.stdin.take());
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
