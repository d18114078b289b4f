//! A PostgreSQL server for a single test, which may stop, restart and freeze it. `fsync` is enabled, as in production.
//! The server binaries are those that `scripts/postgres` uses.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rand::RngExt as _;

use super::database;

/// The server. It is stopped when the value is dropped or the test process ends.
pub struct Cluster {
    programs: PathBuf,
    home: PathBuf,
    port: u16,
    /// Stops the server if the test process is killed.
    guardian: Child,
}

impl Cluster {
    /// Starts a server with these configuration lines; returns `None` if PostgreSQL is not available.
    pub fn start(settings: &[&str]) -> Option<Self> {
        Self::prepare().map(|mut cluster| {
            cluster.configure(settings);
            cluster.begin();
            cluster
        })
    }

    /// Creates a server without starting it, for tests that first modify its data folder.
    pub fn prepare() -> Option<Self> {
        database::server()?;
        let programs = programs().expect("the run has a server, so its programs are there");
        let home = PathBuf::from(format!("/tmp/groupwork-storm.{:016x}", rand::random::<u64>()));
        std::fs::create_dir(&home).unwrap();
        if is_root() {
            let given = Command::new("chown").arg("postgres").arg(&home).status().unwrap();
            assert!(given.success());
        }
        let script = format!(
            "cat >/dev/null; kill -QUIT $(head -n 1 {home}/cluster/postmaster.pid); sleep 1; rm -rf {home}",
            home = home.display()
        );
        let guardian = Command::new("setsid")
            .args(["sh", "-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let cluster = Self {
            programs,
            home,
            port: 0,
            guardian,
        };
        let folder = cluster.folder().display().to_string();
        cluster.run(
            "initdb",
            &[
                "-D",
                &folder,
                "-U",
                "postgres",
                "--auth=trust",
                "--locale=C",
                "--encoding=UTF8",
                "--no-sync",
            ],
        );
        Some(cluster)
    }

    /// Appends configuration lines; they take effect at the next start.
    pub fn configure(&self, settings: &[&str]) {
        let home = self.home.display();
        let own = format!("listen_addresses = '127.0.0.1'\nunix_socket_directories = '{home}'\nfsync = on\n");
        self.append("postgresql.conf", &format!("{own}{}\n", settings.join("\n")));
    }

    /// Appends text to a file of the data folder, as the owner of the cluster.
    pub fn append(&self, file: &str, text: &str) {
        let path = self.folder().join(file);
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        self.put(file, &format!("{before}{text}"));
    }

    /// Writes a file of the data folder, readable only by the owner of the cluster.
    pub fn put(&self, file: &str, text: &str) {
        let (draft, path) = (self.home.join("draft"), self.folder().join(file));
        std::fs::write(&draft, text).unwrap();
        let (draft, path) = (draft.display().to_string(), path.display().to_string());
        let written = Self::owned("install")
            .args(["-m", "600", &draft, &path])
            .status()
            .unwrap();
        assert!(written.success());
    }

    /// Starts the server on a free port.
    pub fn begin(&mut self) {
        for _ in 0..20 {
            // Below the range of ephemeral ports.
            self.port = rand::rng().random_range(20_000..32_000);
            if self.try_start() {
                return;
            }
        }
        panic!("the server did not start:\n{}", self.log());
    }

    /// Returns the URL of a database of this server.
    pub fn url(&self, name: &str) -> String {
        Self::url_at(self.port, name)
    }

    /// Returns the URL of a database through another port.
    pub fn url_at(port: u16, name: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{port}/{name}")
    }

    /// Returns the port of the server.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Stops the server: `fast` disconnects all sessions cleanly, `immediate` simulates a crash.
    pub fn stop(&self, mode: &str) {
        let folder = self.folder().display().to_string();
        self.run("pg_ctl", &["stop", "-D", &folder, "-m", mode, "-w", "-t", "60"]);
    }

    /// Restarts the server on the same port.
    pub fn start_again(&self) {
        assert!(self.try_start(), "the server did not start again:\n{}", self.log());
    }

    /// Suspends all server processes at an arbitrary point (SIGSTOP); [`Self::thaw`] resumes them.
    pub fn freeze(&self) {
        self.signal("-STOP");
    }

    /// Resumes the processes after [`Self::freeze`].
    pub fn thaw(&self) {
        self.signal("-CONT");
    }

    /// Returns the end of the server log.
    pub fn log(&self) -> String {
        let text = std::fs::read_to_string(self.home.join("log")).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(30)..].join("\n")
    }

    fn folder(&self) -> PathBuf {
        self.home.join("cluster")
    }

    fn try_start(&self) -> bool {
        let (folder, log) = (
            self.folder().display().to_string(),
            self.home.join("log").display().to_string(),
        );
        let port = format!("-p {}", self.port);
        let mut start = Self::owned(self.programs.join("pg_ctl"));
        start.args(["start", "-D", &folder, "-l", &log, "-w", "-t", "60", "-o", &port]);
        start
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap()
            .success()
    }

    fn signal(&self, signal: &str) {
        let pid_file = std::fs::read_to_string(self.folder().join("postmaster.pid")).unwrap();
        let first = pid_file.lines().next().unwrap().to_owned();
        let processes = std::iter::once(first.clone()).chain(children_of(&first));
        // A process may have exited in the meantime.
        drop(
            Command::new("kill")
                .arg(signal)
                .args(processes)
                .stderr(Stdio::null())
                .status(),
        );
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let done = Self::owned(self.programs.join(program))
            .args(arguments)
            .output()
            .unwrap();
        assert!(
            done.status.success(),
            "{program}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
    }

    /// Builds a command that runs as the owner of the cluster: PostgreSQL refuses to run as root.
    fn owned(program: impl AsRef<Path>) -> Command {
        let mut command = if is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--init-groups", "--"]);
            command.arg(program.as_ref());
            command
        } else {
            Command::new(program.as_ref())
        };
        command
            .env_clear()
            .env("PATH", super::environment("PATH").unwrap_or_default());
        command.env("LC_ALL", "C").current_dir("/").stdin(Stdio::null());
        command
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.thaw_if_there();
        if std::thread::panicking() {
            println!("the end of the server's log:\n{}", self.log());
        }
        drop(self.guardian.stdin.take());
        drop(self.guardian.wait());
    }
}

impl Cluster {
    fn thaw_if_there(&self) {
        if self.folder().join("postmaster.pid").exists() {
            self.thaw();
        }
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

fn children_of(parent: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().into_string().ok());
    let is_child = |number: &String| {
        let status = std::fs::read_to_string(format!("/proc/{number}/status")).unwrap_or_default();
        status
            .lines()
            .any(|line| line.strip_prefix("PPid:").is_some_and(|id| id.trim() == parent))
    };
    numbers
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .filter(is_child)
        .collect()
}

/// Returns the folder of the server binaries of the newest installed release.
fn programs() -> Option<PathBuf> {
    let named = super::environment("POSTGRES_BIN").map(PathBuf::from);
    let releases = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut releases: Vec<PathBuf> = releases.map(|entry| entry.path()).collect();
    releases.sort_by_key(|path| {
        let release = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        release
            .split('.')
            .map(|part| part.parse().unwrap_or(0))
            .collect::<Vec<u32>>()
    });
    releases.reverse();
    let packaged = releases.into_iter().map(|release| release.join("bin"));
    let path = super::environment("PATH").unwrap_or_default();
    let found: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut places = named.into_iter().chain(packaged).chain(found);
    places.find(|place| {
        ["initdb", "pg_ctl", "postgres"]
            .iter()
            .all(|program| place.join(program).is_file())
    })
}
