//! The measured servers: the service in a separate process on SQLite, or the official Socket.IO server on Node.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use api::{router, server};
use groupwork::bootstrap::build_app;
use groupwork::config::StorageArgs;
use reqwest::header::CONTENT_TYPE;
use serde_json::{Value, json};

use super::school::{self, SocketSchool};
use crate::cpu;
use crate::server::settings;

/// The database of the measured service in its folder.
pub const DATABASE: &str = "groupwork.db";

/// The kind of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerKind {
    /// The service.
    Service,
    /// The official Socket.IO server.
    Node,
}

impl ServerKind {
    /// The name used in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Service => "groupwork",
            Self::Node => "Node socket.io",
        }
    }
}

/// A started process, killed when dropped.
pub struct BenchServer {
    kind: ServerKind,
    child: Child,
    base: String,
    log: PathBuf,
    http: reqwest::Client,
}

impl BenchServer {
    /// Starts the server and waits until it prints its address.
    pub async fn start(kind: ServerKind, folder: &Path, peer: &Path) -> anyhow::Result<Self> {
        let log = folder.join(format!("{kind:?}.log"));
        let mut command = match kind {
            ServerKind::Service => {
                let mut command = Command::new(std::env::current_exe()?);
                command.args(["sockets", "--serve-in"]).arg(folder);
                command
            }
            ServerKind::Node => {
                let mut command = Command::new("node");
                command.arg("server.mjs").current_dir(peer);
                command.env("NODE_ENV", "production");
                command
            }
        };
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&log)?)
            .spawn()
            .with_context(|| format!("start {}", kind.name()))?;
        let stdout = child.stdout.take().context("stdout")?;
        let greeting = tokio::task::spawn_blocking(move || {
            let mut line = String::new();
            BufReader::new(stdout).read_line(&mut line).map(|_| line)
        });
        let greeting: Value = serde_json::from_str(&greeting.await??).context("the greeting of the target")?;
        let base = greeting["base"].as_str().context("base")?.to_owned();
        Ok(Self {
            kind,
            child,
            base,
            log,
            http: reqwest::Client::builder().no_proxy().build()?,
        })
    }

    pub fn kind(&self) -> ServerKind {
        self.kind
    }

    /// Host and port.
    pub fn address(&self) -> &str {
        self.base.trim_start_matches("http://")
    }

    /// Returns the CPU time used so far.
    pub fn cpu(&self) -> anyhow::Result<Duration> {
        cpu::used(self.child.id())
    }

    /// Returns the resident memory in bytes.
    pub fn resident(&self) -> anyhow::Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let text = line.and_then(|line| line.trim().strip_suffix(" kB")).context("VmRSS")?;
        Ok(text.trim().parse::<u64>()? << 10)
    }

    /// Renames the first class as its teacher, which emits an event to the class.
    pub async fn write(&self, school: &SocketSchool, name: &str) -> anyhow::Result<()> {
        let url = format!("{}/api/classes/{}", self.base, SocketSchool::class(0));
        let request = self.http.patch(url).header("cookie", &school.teacher);
        let request = request.header("origin", &self.base).json(&json!({"name": name}));
        Self::succeeded(request).await.map(drop)
    }

    /// Sends a GET request to the service and returns the response.
    pub async fn get(&self, path: &str, cookie: &str) -> anyhow::Result<Value> {
        let request = self.http.get(format!("{}/api{path}", self.base));
        Self::succeeded(request.header("cookie", cookie)).await
    }

    /// Sends a POST request to the service and returns the response.
    pub async fn post(&self, path: &str, cookie: &str, body: &Value) -> anyhow::Result<Value> {
        let request = self.http.post(format!("{}/api{path}", self.base));
        let request = request.header("cookie", cookie).header("origin", &self.base);
        Self::succeeded(request.json(body)).await
    }

    /// Emits an event on the peer.
    pub async fn emit(&self, body: String) -> anyhow::Result<()> {
        let request = self.http.post(format!("{}/emit", self.base));
        let request = request.header(CONTENT_TYPE, "application/json").body(body);
        Self::succeeded(request).await.map(drop)
    }

    /// Returns the body as JSON, null if it is none.
    async fn succeeded(request: reqwest::RequestBuilder) -> anyhow::Result<Value> {
        let answer = request.send().await?;
        let (status, text) = (answer.status(), answer.text().await?);
        ensure!(status.is_success(), "it answered {status}: {text}");
        Ok(serde_json::from_str(&text).unwrap_or_default())
    }

    /// Returns the end of its stderr output.
    pub fn tail(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(10)..].join("\n")
    }
}

impl Drop for BenchServer {
    fn drop(&mut self) {
        // An error means that the process has already exited.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Creates the tables and fills the school.
pub async fn prepare(
    folder: &Path,
    classes: usize,
    class_size: usize,
    group_size: usize,
) -> anyhow::Result<SocketSchool> {
    drop(BenchServer::start(ServerKind::Service, folder, folder).await?);
    school::write(&folder.join(DATABASE), classes, class_size, group_size)
}

/// Raises the limit of file descriptors to the allowed maximum.
pub fn raise_descriptors() -> anyhow::Result<()> {
    let open = api::fd_limit::raise();
    ensure!(
        open.is_none_or(|open| open > 1024),
        "only {open:?} descriptors may be open"
    );
    Ok(())
}

/// Serves in this folder until killed. The first line of stdout is the address.
pub fn serve(folder: &Path) -> anyhow::Result<()> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_env_filter(tracing_subscriber::EnvFilter::new("info"))
        .with_target(false)
        .init();
    raise_descriptors()?;
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(serve_until_stopped(folder))
}

async fn serve_until_stopped(folder: &Path) -> anyhow::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let base = format!("http://{}", listener.local_addr()?);
    let storage = StorageArgs {
        data_dir: folder.to_owned(),
        ..StorageArgs::default()
    };
    let config = settings(&base, listener.local_addr()?, None, storage)?;
    let app = build_app(config, &base).await.map_err(anyhow::Error::new)?;
    let routes = router::router(app.clone());
    let signals = server::StopSignals::watch()?;
    writeln!(std::io::stdout(), "{}", json!({"base": base}))?;
    server::serve(listener, routes, app, signals.received()).await?;
    Ok(())
}
