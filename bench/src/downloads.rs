//! Downloading a document beside nginx sending the very same file: the service asks who reads, opens the kept file and
//! compares its hash on the way; nginx does none of that and lets the kernel copy. Without nginx it is left out, loudly.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};

use crate::cpu;
use crate::load::{self, Question};
use crate::seed::{Asking, People, Person};

/// Bytes of the file.
pub const SIZE: usize = 10_000_000;
/// Connections that read at once.
const CONNECTIONS: usize = 4;

/// Files per second, and CPU of the process for each, in microseconds.
#[derive(Debug, Clone, Copy)]
pub struct Served {
    /// Files per second.
    pub rate: f64,
    /// CPU for each file.
    pub cpu: f64,
}

/// One round.
#[derive(Debug, Clone, Copy)]
pub struct Round {
    /// Through the route of a document's download.
    pub service: Served,
    /// By nginx.
    pub nginx: Served,
}

/// A document to be read, and nginx beside it.
pub struct Downloads {
    nginx: Nginx,
    file: String,
    path: String,
    reader: Person,
}

impl Downloads {
    /// Uploads the file and starts nginx on it; nothing when there is no nginx.
    pub async fn open(folder: &Path, base: &str, people: &People) -> anyhow::Result<Option<Self>> {
        let asking = Asking::new(base)?;
        let reader = people.students[0].clone();
        let room = asking.room_of(people, "The class that reads").await?;
        // Text in random letters: nothing on the way makes it smaller.
        let text: Vec<u8> = (0..SIZE).map(|_| rand::random_range(b'a'..=b'z')).collect();
        let document = asking.upload(&reader, &room, "large.txt", text).await?;
        let kept = kept(&folder.join("files"), &document)?.context("the uploaded file is not kept")?;
        let Some(nginx) = Nginx::start(folder, kept.parent().context("a file has a folder")?)? else {
            eprintln!("NO FIGURES FOR DOWNLOADS: there is no nginx here (apt-get install nginx-light)");
            return Ok(None);
        };
        let name = kept
            .file_name()
            .and_then(|name| name.to_str())
            .context("a file has a name")?;
        Ok(Some(Self {
            nginx,
            file: format!("/{name}"),
            path: format!("/api/workrooms/documents/{document}/download"),
            reader,
        }))
    }

    /// Both, one after the other; the other first in every second round.
    pub async fn round(&self, service: (SocketAddr, u32), sample: Duration, round: usize) -> anyhow::Result<Round> {
        let nginx = (self.nginx.address, self.nginx.child.id());
        let (first, second) = if round.is_multiple_of(2) {
            let first = self.serve(service, &self.path, sample).await?;
            (first, self.serve(nginx, &self.file, sample).await?)
        } else {
            let second = self.serve(nginx, &self.file, sample).await?;
            (self.serve(service, &self.path, sample).await?, second)
        };
        Ok(Round {
            service: first,
            nginx: second,
        })
    }

    async fn serve(&self, server: (SocketAddr, u32), path: &str, sample: Duration) -> anyhow::Result<Served> {
        let (address, process) = server;
        // Both requests carry the cookie, so that both heads cost the same to read.
        let cookie = &self.reader.cookie;
        let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\n\r\n").into_bytes();
        let question = Question {
            ask: &|_, _| request.clone(),
            status: 200,
            body: None,
        };
        let before = cpu::used(process)?;
        let outcome = load::drive(address, CONNECTIONS, sample, &question).await?;
        let used = cpu::used(process)?.saturating_sub(before);
        ensure!(outcome.answers > 0, "{path}: no file within {sample:?}");
        let files = f64::from(u32::try_from(outcome.answers)?);
        Ok(Served {
            rate: files / outcome.time.as_secs_f64(),
            cpu: used.as_secs_f64() * 1e6 / files,
        })
    }
}

/// The kept file of a document.
fn kept(folder: &Path, document: &str) -> anyhow::Result<Option<PathBuf>> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let is_it = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with(document));
        let found = if path.is_dir() {
            kept(&path, document)?
        } else {
            Some(path).filter(|_| is_it)
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// One process of nginx, killed when dropped.
struct Nginx {
    child: Child,
    address: SocketAddr,
}

impl Nginx {
    fn start(folder: &Path, root: &Path) -> anyhow::Result<Option<Self>> {
        // The port is free again before nginx takes it; nobody else looks for one at this moment.
        let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let here = folder.join("nginx");
        std::fs::create_dir_all(&here)?;
        let (here, root) = (here.display(), root.display());
        // One process without a master, so that its CPU can be read. It writes a log, as the service does.
        let settings = format!(
            "daemon off; master_process off; pid {here}/pid; error_log {here}/error.log;\n\
             events {{}}\n\
             http {{ sendfile on; tcp_nopush on; access_log {here}/access.log; keepalive_requests 1000000;\n\
               client_body_temp_path {here}; proxy_temp_path {here}; fastcgi_temp_path {here};\n\
               uwsgi_temp_path {here}; scgi_temp_path {here};\n\
               server {{ listen {address}; root {root}; }} }}\n"
        );
        let file = folder.join("nginx.conf");
        std::fs::write(&file, settings)?;
        let mut command = Command::new("nginx");
        command.arg("-c").arg(&file).arg("-p").arg(folder).stdout(Stdio::null());
        let child = match command.stderr(Stdio::null()).spawn() {
            Ok(child) => child,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let nginx = Self { child, address };
        for _ in 0..500 {
            if std::net::TcpStream::connect(address).is_ok() {
                return Ok(Some(nginx));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        anyhow::bail!("nginx does not listen; its log is in {here}/error.log")
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
