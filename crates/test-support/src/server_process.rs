//! The built binary as operators run it: started on a free port, killed without warning, restarted on its existing
//! data. Its stderr is stored and shown when a test fails.

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
use super::{DatabaseKind, WAIT_TIMEOUT, database, hang_watchdog, until};

/// The number of stderr lines that a failed test shows.
const SHOWN: usize = 80;

/// The environment of a server: its data folder, database and settings outlive the processes.
pub struct ServerEnv {
    pub database: Database,
    folder: tempfile::TempDir,
    settings: Vec<(String, String)>,
    /// The address of the first start; later starts reuse it, because clients have stored it.
    address: Option<SocketAddr>,
}

impl ServerEnv {
    /// Creates an environment with the default test settings; returns `None` if no PostgreSQL server is available.
    pub fn new(kind: DatabaseKind) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let database = match kind {
            DatabaseKind::Sqlite => Database::Sqlite(folder.path().join("groupwork.db")),
            DatabaseKind::Postgres => database::postgres()?,
        };
        Some(Self::in_folder(folder, database))
    }

    /// Like `new`, on a database without tables.
    pub fn on_empty_postgres() -> Option<Self> {
        Some(Self::in_folder(tempfile::tempdir().unwrap(), database::empty()?))
    }

    /// Creates an environment on a shared database.
    pub fn on_database(database: &Database) -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), database.clone())
    }

    /// Creates the environment of a further instance: same database and settings, but a different data folder and
    /// address.
    pub fn another_instance(&self) -> Self {
        let mut env = Self {
            database: self.database.clone(),
            folder: tempfile::tempdir().unwrap(),
            settings: self.settings.clone(),
            address: None,
        };
        let folder = env.folder().display().to_string();
        env.set("DATA_DIR", &folder);
        env
    }

    fn in_folder(folder: tempfile::TempDir, database: Database) -> Self {
        hang_watchdog::watch();
        let mut env = Self {
            database,
            folder,
            settings: Vec::new(),
            address: None,
        };
        if let Database::Postgres(url) = &env.database {
            let url = url.clone();
            env.set("DATABASE_URL", &url);
            env.set("DATABASE_CONNECTIONS", "4,4");
        }
        let folder = env.folder().display().to_string();
        for (name, value) in [
            ("DATA_DIR", folder.as_str()),
            ("FRONTEND_URL", FRONTEND),
            ("AUTH_SECRET", AUTH_SECRET),
            ("DOCSERVER_JWT_SECRET", DOCSERVER_SECRET),
            ("RATE_LIMIT_FACTOR", "0"),
            ("SECOND_FACTOR_FOR_PLATFORM_ADMINISTRATORS", "optional"),
            ("UPLOAD_FREE_DISK_MB", "0"),
            ("LOG_LEVEL", "warn"),
        ] {
            env.set(name, value);
        }
        env
    }

    /// Sets an environment variable for all later starts.
    pub fn set(&mut self, name: &str, value: &str) {
        self.settings.retain(|(known, _)| known != name);
        self.settings.push((name.to_owned(), value.to_owned()));
    }

    /// Returns the data folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Opens the database directly, for a test that prepares or inspects rows.
    pub async fn store(&self) -> Store {
        open_store(&self.database, 1, 1).await.unwrap()
    }

    /// Builds a `groupwork` command with the settings of this environment, for commands that exit on their own.
    pub fn command(&self, arguments: &[&str], extra: &[(&str, &str)]) -> Command {
        let mut command = Command::new(super::server_binary());
        command
            .args(arguments)
            .env_clear()
            .envs(super::selected_fault())
            .envs(self.settings.iter().map(|(name, value)| (name, value)))
            .envs(extra.iter().copied())
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command
    }

    /// Starts `groupwork <command>` and waits until it prints its listen address.
    pub fn start(&mut self, command: &str) -> ServerProcess {
        let started = self.try_start(command, &[]);
        started.unwrap_or_else(|log| panic!("`groupwork {command}` did not start:\n{log}"))
    }

    /// Like `start`, with environment variables for this start only; returns the log if the process exits before it
    /// listens.
    pub fn try_start(&mut self, command: &str, extra: &[(&str, &str)]) -> Result<ServerProcess, String> {
        let since = Instant::now();
        loop {
            match self.launch(command, extra) {
                // A client of another test may use the port of the last start for a while.
                Err(log) if log.contains("Address already in use") && since.elapsed() < WAIT_TIMEOUT => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                outcome => return outcome,
            }
        }
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
            // Deletions are final unless a test is about their undo.
            .env("DELETED_RETENTION_DAYS", "0")
            .envs(super::selected_fault())
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

    /// Drops the database; the folder is removed on drop.
    pub fn close(self) {
        database::drop_postgres(&self.database);
    }
}

/// A running process. It is killed when dropped.
pub struct ServerProcess {
    /// `http://127.0.0.1:…`.
    pub base: String,
    /// The URL of the metrics page, if `METRICS_LISTEN` is set.
    pub metrics: Option<String>,
    child: Child,
    lines: Receiver<String>,
    log: PathBuf,
    since: Instant,
}

impl ServerProcess {
    /// Returns the first further stdout line for which `read` returns a value; `None` if the process exits first.
    pub fn wait_for_line<T>(&mut self, mut read: impl FnMut(&str) -> Option<T>) -> Option<T> {
        let until = Instant::now() + WAIT_TIMEOUT;
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

    /// Waits until the process is ready and returns the time since its start. If it has metrics, it also receives events
    /// then: sockets miss those that are committed before.
    pub async fn ready(&mut self) -> Duration {
        let http = super::http_client().build().unwrap();
        let url = format!("{}/api/health/ready", self.base);
        while self.since.elapsed() < WAIT_TIMEOUT {
            let answer = http.get(&url).timeout(Duration::from_secs(5)).send().await;
            if answer.is_ok_and(|answer| answer.status() == 200) {
                if self.metrics.is_some() {
                    until("the process receives events", async || {
                        self.metric("groupwork_event_listener_up").await == 1
                    })
                    .await;
                }
                return self.since.elapsed();
            }
            assert!(
                self.try_wait().is_none(),
                "it ended before it was ready:\n{}",
                self.tail()
            );
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        panic!("not ready within {WAIT_TIMEOUT:?}:\n{}", self.tail());
    }

    /// Returns the value of a metric without labels. Requires `METRICS_LISTEN`.
    pub async fn metric(&self, name: &str) -> u64 {
        let http = super::http_client().build().unwrap();
        let url = self.metrics.as_ref().unwrap();
        let page = http.get(url).send().await.unwrap().text().await.unwrap();
        let line = page.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
        line.unwrap_or_else(|| panic!("no {name} in {page}")).parse().unwrap()
    }

    /// Sends SIGKILL: no destructor runs and no further response is sent.
    pub fn kill(mut self) {
        self.end();
    }

    /// Sends SIGTERM and returns the exit status.
    pub fn stop(self) -> ExitStatus {
        self.send_sigterm();
        self.wait()
    }

    /// Sends SIGTERM without waiting.
    pub fn send_sigterm(&self) {
        self.signal("-TERM");
    }

    /// Suspends the process until [`Self::resume`].
    pub fn pause(&self) {
        self.signal("-STOP");
    }

    /// Resumes the process.
    pub fn resume(&self) {
        self.signal("-CONT");
    }

    /// Sends a signal.
    pub fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// Waits for the exit status; the maximum is `DRAIN_SECONDS` plus 20 s for requests in flight.
    pub fn wait(mut self) -> ExitStatus {
        let since = Instant::now();
        loop {
            if let Some(status) = self.try_wait() {
                return status;
            }
            assert!(since.elapsed() < 2 * WAIT_TIMEOUT, "it does not end:\n{}", self.tail());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns the exit status if the process has exited.
    pub fn try_wait(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the resident memory of the process in bytes.
    pub fn resident(&self) -> u64 {
        self.status("VmRSS:")
    }

    /// Returns the peak resident memory since [`Self::reset_peak`] in bytes.
    pub fn peak(&self) -> u64 {
        self.status("VmHWM:")
    }

    /// Resets the peak memory.
    pub fn reset_peak(&self) {
        std::fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5").unwrap();
    }

    fn status(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }

    /// Returns the stderr of all processes of this command in this environment.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// Stops the process and returns its complete stderr, including lines written during shutdown.
    pub fn log_of_stopped(self) -> String {
        let log = self.log.clone();
        self.stop();
        std::fs::read_to_string(log).unwrap()
    }

    /// Returns the end of the stderr.
    pub fn tail(&self) -> String {
        tail(&self.log, 0)
    }

    fn end(&mut self) {
        // An error means that the process has already exited.
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

/// Sends the lines of stdout to a channel. The thread ends with the process.
fn read_lines(child: &mut Child) -> Receiver<String> {
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in stdout.lines().map_while(Result::ok) {
            // The test may have dropped the receiver, but the pipe must still be drained.
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
