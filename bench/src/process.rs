//! Starts the measured service as a separate process and queries it before the load.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::Context as _;
use serde::Deserialize;

use crate::seed::{BenchUser, BenchUsers};

/// Start options of the service.
#[derive(Clone, Copy)]
pub struct StartOptions<'a> {
    /// Its data folder.
    pub folder: &'a Path,
    /// Its document server.
    pub document_server: SocketAddr,
    /// A PostgreSQL database; if unset, SQLite in the folder.
    pub database_url: Option<&'a str>,
    /// Whether a school is created first.
    pub with_people: bool,
    /// Whether it may use only the first processor.
    pub on_one_core: bool,
}

impl<'a> StartOptions<'a> {
    /// The options for SQLite with a school.
    pub fn usual(folder: &'a Path, document_server: SocketAddr) -> Self {
        Self {
            folder,
            document_server,
            database_url: None,
            with_people: true,
            on_one_core: false,
        }
    }
}

/// The measured process, killed when dropped: its data is disposable.
pub struct ServiceProcess {
    child: Child,
    /// Base URL with `http://`.
    pub base: String,
    pub address: SocketAddr,
    people: Option<BenchUsers>,
}

#[derive(Deserialize)]
struct ServiceStartup {
    base: String,
    people: Option<BenchUsers>,
}

impl ServiceProcess {
    /// Starts the process and waits until it listens.
    pub fn start(how: &StartOptions<'_>) -> anyhow::Result<Self> {
        std::fs::create_dir_all(how.folder)?;
        let log_file = how.folder.join("service.log");
        let log = std::fs::File::create(&log_file)?;
        let program = std::env::current_exe()?;
        let mut command = if how.on_one_core {
            let mut command = Command::new("taskset");
            command.args(["--cpu-list", "0"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.arg("--serve-in").arg(how.folder);
        command.arg(format!("--document-server=http://{}", how.document_server));
        if let Some(url) = how.database_url {
            command.arg("--database-url").arg(url);
        }
        if !how.with_people {
            command.arg("--empty");
        }
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn()?;
        let mut line = String::new();
        let stdout = child.stdout.take().context("a piped output")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let greeting: ServiceStartup = serde_json::from_str(&line).with_context(|| {
            let log = std::fs::read_to_string(&log_file).unwrap_or_default();
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

    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Returns the users of its school.
    pub fn people(&self) -> anyhow::Result<&BenchUsers> {
        self.people.as_ref().context("this process has no school")
    }

    /// Returns the body of a response; anything but success is an error.
    pub async fn get(&self, path: &str, person: &BenchUser) -> anyhow::Result<Vec<u8>> {
        get(&format!("{}{path}", self.base), &person.cookie).await
    }

    /// Stores bytes in the memory of the process under a name.
    pub async fn record(&self, name: &str, body: Vec<u8>) -> anyhow::Result<()> {
        let http = reqwest::Client::builder().no_proxy().build()?;
        let url = format!("{}/memory/{name}", self.base);
        http.put(url).body(body).send().await?.error_for_status()?;
        Ok(())
    }
}

/// Returns the body of a response to a request with this cookie.
pub async fn get(url: &str, cookie: &str) -> anyhow::Result<Vec<u8>> {
    let http = reqwest::Client::builder().no_proxy().build()?;
    let answer = http.get(url).header("cookie", cookie).send().await?;
    let (status, body) = (answer.status(), answer.bytes().await?);
    anyhow::ensure!(
        status.is_success(),
        "{url}: {status}: {}",
        String::from_utf8_lossy(&body)
    );
    Ok(body.to_vec())
}

impl Drop for ServiceProcess {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
