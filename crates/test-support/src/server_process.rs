//! The built binary as people run it: started on a port of its own, killed without warning, started again on what it
//! left behind. What it wrote to stderr is kept and shown when a test fails.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use db::{Database, Store};
use groupwork::bootstrap::open_store;

use super::app::{AUTH_SECRET, DOCSERVER_SECRET, FRONTEND};
use super::{Kind, database, hang_watchdog};

/// Longer than any start on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);
/// Lines of stderr that a failed test shows.
const SHOWN: usize = 80;

/// Where a service lives: its data folder, its database and its settings outlive every process.
pub struct ServerEnv {
    pub database: Database,
    folder: tempfile::TempDir,
    settings: Vec<(String, String)>,
    /// The address of the first start; later ones take it again, because others remember it.
    address: Option<SocketAddr>,
}

impl ServerEnv {
    /// A fresh place with the settings every test uses; nothing when there is no PostgreSQL server to live on.
    pub fn new(kind: Kind) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let database = match kind {
            Kind::Sqlite => Database::Sqlite(folder.path().join("groupwork.db")),
            Kind::Postgres => database::postgres()?,
        };
        Some(Self::in_folder(folder, database))
    }

    /// The same on a database without any table.
    pub fn on_nothing() -> Option<Self> {
        Some(Self::in_folder(tempfile::tempdir().unwrap(), database::empty()?))
    }

    /// A fresh place on a database that others use as well.
    pub fn on_database(database: &Database) -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), database.clone())
    }

    /// Where a further instance lives: the same database and settings, another data folder and another address.
    pub fn beside(&self) -> Self {
        let mut place = Self {
            database: self.database.clone(),
            folder: tempfile::tempdir().unwrap(),
            settings: self.settings.clone(),
            address: None,
        };
        let folder = place.folder().display().to_string();
        place.set("DATA_DIR", &folder);
        place
    }

    fn in_folder(folder: tempfile::TempDir, database: Database) -> Self {
        hang_watchdog::watch();
        let mut place = Self {
            database,
            folder,
            settings: Vec::new(),
            address: None,
        };
        if let Database::Postgres(url) = &place.database {
            let url = url.clone();
            place.set("DATABASE_URL", &url);
            place.set("DATABASE_CONNECTIONS", "4,4");
        }
        let folder = place.folder().display().to_string();
        for (name, value) in [
            ("DATA_DIR", folder.as_str()),
            ("FRONTEND_URL", FRONTEND),
            ("AUTH_SECRET", AUTH_SECRET),
            ("DOCSERVER_JWT_SECRET", DOCSERVER_SECRET),
            ("RATE_LIMIT_FACTOR", "0"),
            ("UPLOAD_FREE_DISK_MB", "0"),
            ("LOG_LEVEL", "warn"),
        ] {
            place.set(name, value);
        }
        place
    }

    /// Sets an environment variable of all later starts.
    pub fn set(&mut self, name: &str, value: &str) {
        self.settings.retain(|(known, _)| known != name);
        self.settings.push((name.to_owned(), value.to_owned()));
    }

    /// The data folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The place's rows, for a test that prepares or inspects them beside the service.
    pub async fn store(&self) -> Store {
        open_store(&self.database, 1, 1).await.unwrap()
    }

    /// `groupwork` with the settings of this place, for a command that ends by itself.
    pub fn command(&self, arguments: &[&str], extra: &[(&str, &str)]) -> Command {
        let mut command = Command::new(super::server_binary());
        command
            .args(arguments)
            .env_clear()
            .envs(self.settings.iter().map(|(name, value)| (name, value)))
            .envs(extra.iter().copied())
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command
    }

    /// Starts `groupwork <command>` and waits until it says where it listens.
    pub fn start(&mut self, command: &str) -> ServerProcess {
        let started = self.try_start(command, &[]);
        started.unwrap_or_else(|log| panic!("`groupwork {command}` did not start:\n{log}"))
    }

    /// The same with further environment variables for this start alone; the log when it ended before it listened.
    pub fn try_start(&mut self, command: &str, extra: &[(&str, &str)]) -> Result<ServerProcess, String> {
        // A client of some other test may hold the port of the last start for a moment.
        for _ in 0..50 {
            match self.launch(command, extra) {
                Err(log) if log.contains("Address already in use") => std::thread::sleep(Duration::from_millis(20)),
                outcome => return outcome,
            }
        }
        self.launch(command, extra)
    }

    fn launch(&mut self, command: &str, extra: &[(&str, &str)]) -> Result<ServerProcess, String> {
        let listen = self.address.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 0)));
        let log = self.folder.path().join(format!("{command}.log"));
        let begin = std::fs::metadata(&log).map_or(0, |found| found.len());
        let stderr = OpenOptions::new().create(true).append(true).open(&log).unwrap();
        let mut child = Command::new(super::server_binary())
            .arg(command)
            .env_clear()
            .env("LISTEN", listen.to_string())
            .envs(self.settings.iter().map(|(name, value)| (name, value)))
            .envs(extra.iter().copied())
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .unwrap();
        let lines = read_lines(&mut child);
        let since = Instant::now();
        let mut started = ServerProcess {
            child,
            lines,
            log,
            base: String::new(),
            metrics: None,
            since,
        };
        let mut metrics = None;
        let greeting = ["groupwork listens on ", "groupwork demo: "];
        match started.wait_for_line(|line| {
            metrics = metrics
                .take()
                .or_else(|| line.strip_prefix("metrics at ").map(str::to_owned));
            greeting
                .iter()
                .find_map(|word| line.strip_prefix(word).map(str::to_owned))
        }) {
            Some(base) => {
                self.address = base.strip_prefix("http://").and_then(|address| address.parse().ok());
                started.base = base;
                started.metrics = metrics;
                Ok(started)
            }
            None => Err(started.end_and_read_log(begin)),
        }
    }

    /// Drops the database; the folder goes by itself.
    pub fn close(self) {
        database::drop_postgres(&self.database);
    }
}

/// A running process. It is killed when dropped.
pub struct ServerProcess {
    /// `http://127.0.0.1:…`.
    pub base: String,
    /// The page of metrics, where METRICS_LISTEN was set.
    pub metrics: Option<String>,
    child: Child,
    lines: Receiver<String>,
    log: PathBuf,
    since: Instant,
}

impl ServerProcess {
    /// The first line of stdout, from now on, that `read` makes something of; nothing when the process ends first.
    pub fn wait_for_line<T>(&mut self, mut read: impl FnMut(&str) -> Option<T>) -> Option<T> {
        let until = Instant::now() + PATIENCE;
        loop {
            let line = self
                .lines
                .recv_timeout(until.saturating_duration_since(Instant::now()))
                .ok()?;
            if let Some(found) = read(&line) {
                return Some(found);
            }
        }
    }

    /// How long after its start the process answered that it is ready.
    pub async fn ready(&mut self) -> Duration {
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let url = format!("{}/api/health/ready", self.base);
        while self.since.elapsed() < PATIENCE {
            let answer = http.get(&url).timeout(Duration::from_secs(5)).send().await;
            if answer.is_ok_and(|answer| answer.status() == 200) {
                return self.since.elapsed();
            }
            assert!(self.ended().is_none(), "it ended before it was ready:\n{}", self.tail());
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        panic!("not ready within {PATIENCE:?}:\n{}", self.tail());
    }

    /// SIGKILL: no destructor runs and no answer leaves any more.
    pub fn kill(mut self) {
        self.end();
    }

    /// SIGTERM, and how the process ended.
    pub fn stop(self) -> ExitStatus {
        self.ask_to_stop();
        self.wait()
    }

    /// SIGTERM.
    pub fn ask_to_stop(&self) {
        self.signal("-TERM");
    }

    /// Nothing of the process goes on until [`Self::go_on`].
    pub fn pause(&self) {
        self.signal("-STOP");
    }

    /// It goes on.
    pub fn go_on(&self) {
        self.signal("-CONT");
    }

    /// Sends a signal.
    pub fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// How the process ended, once it has; the longest is `DRAIN_SECONDS` and then 20 s for requests in flight.
    pub fn wait(mut self) -> ExitStatus {
        let since = Instant::now();
        loop {
            if let Some(status) = self.ended() {
                return status;
            }
            assert!(since.elapsed() < 2 * PATIENCE, "it does not end:\n{}", self.tail());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// How the process ended, if it did.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// The number of the process, for whoever looks at it from outside.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// How much memory the process holds, in bytes.
    pub fn resident(&self) -> u64 {
        self.status("VmRSS:")
    }

    /// The most it held since [`Self::forget_peak`], in bytes.
    pub fn peak(&self) -> u64 {
        self.status("VmHWM:")
    }

    /// From now on the peak counts anew.
    pub fn forget_peak(&self) {
        std::fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5").unwrap();
    }

    fn status(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }

    /// What all processes of this command wrote to stderr in this place.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// Stops the process and returns its stderr: the last lines are written at the end.
    pub fn log_of_stopped(self) -> String {
        let log = self.log.clone();
        self.stop();
        std::fs::read_to_string(log).unwrap()
    }

    /// The end of what the process wrote to stderr.
    pub fn tail(&self) -> String {
        tail(&self.log, 0)
    }

    fn end(&mut self) {
        // An error means that it has ended already.
        drop(self.child.kill());
        self.child.wait().unwrap();
    }

    fn end_and_read_log(mut self, begin: u64) -> String {
        self.end();
        tail(&self.log, begin)
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.end();
        if std::thread::panicking() {
            println!("stderr of the service ({}):\n{}", self.log.display(), self.tail());
        }
    }
}

/// The lines of stdout as they come. The thread ends with the process.
fn read_lines(child: &mut Child) -> Receiver<String> {
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in stdout.lines().map_while(Result::ok) {
            // Nobody listens any more once the test has what it wanted; the pipe must be emptied all the same.
            drop(sender.send(line));
        }
    });
    lines
}

fn tail(log: &Path, begin: u64) -> String {
    let bytes = std::fs::read(log).unwrap_or_default();
    let begin = usize::try_from(begin).unwrap_or(0).min(bytes.len());
    let text = String::from_utf8_lossy(&bytes[begin..]).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(SHOWN)..].join("\n")
}
