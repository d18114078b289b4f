//! File downloads compared with nginx: a document of 50 KB as the document server fetches it, the configuration that
//! opens it, and the download of a large document. nginx sends the same bytes from a file. The service authenticates
//! the request, opens the stored file and verifies its hash while streaming; nginx does none of that and the
//! kernel copies the file.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use common::clock;
use serde_json::{Value, json};

use crate::cpu;
use crate::lanes::RoundSettings;
use crate::load::{self, RequestPlan};
use crate::nginx::Nginx;
use crate::process::ServiceProcess;
use crate::saves;
use crate::seed::SeedClient;

/// Bytes of the large file.
pub const LARGE: usize = 10_000_000;

/// Throughput and CPU cost of one server.
#[derive(Debug, Clone, Copy)]
pub struct Throughput {
    /// Responses per second.
    pub rate: f64,
    /// CPU per response in microseconds.
    pub cpu: f64,
}

/// One round of one subject.
#[derive(Debug, Clone, Copy)]
pub struct DownloadRound {
    pub service: Throughput,
    pub nginx: Throughput,
}

/// The rounds of each subject.
pub struct DownloadRounds {
    /// The configuration that opens a document.
    pub configuration: Vec<DownloadRound>,
    /// A document of 50 KB, as fetched by the document server.
    pub file: Vec<DownloadRound>,
    /// The download of a large document.
    pub large: Vec<DownloadRound>,
}

/// A request that both servers are measured with.
struct DownloadSubject {
    connections: usize,
    service: String,
    head: String,
    nginx: String,
    /// The expected body, if it is the same each time; a configuration contains a new token.
    body: Option<Vec<u8>>,
}

/// Documents to download, and nginx with the same files.
pub struct Downloads {
    nginx: Nginx,
    subjects: [DownloadSubject; 3],
}

impl Downloads {
    /// Uploads the documents and starts nginx on their files; none without nginx.
    pub async fn open(folder: &Path, measured: &ServiceProcess, document: &[u8]) -> anyhow::Result<Option<Self>> {
        let asking = SeedClient::new(&measured.base)?;
        let people = measured.people()?;
        let reader = &people.students[0];
        let room = asking.room_of(people, "The class that reads").await?;
        let small = asking.upload(reader, (&room, None), "small.docx", document.to_vec());
        let small = small.await?;
        // Random text, which does not compress.
        let text: Vec<u8> = (0..LARGE).map(|_| rand::random_range(b'a'..=b'z')).collect();
        let large = asking.upload(reader, (&room, None), "large.txt", text.clone()).await?;
        let path = format!("/api/workrooms/documents/{small}/editor-config");
        let configuration = measured.get(&path, reader).await?;
        let root = folder.join("static");
        std::fs::create_dir_all(&root)?;
        std::fs::write(root.join("configuration.json"), &configuration)?;
        for (name, document) in [("small.docx", &small), ("large.txt", &large)] {
            let kept = kept(&folder.join("files"), document)?.context("the uploaded file is not kept")?;
            std::fs::hard_link(kept, root.join(name))?;
        }
        let Some(nginx) = Nginx::start(folder, &root)? else {
            return Ok(None);
        };
        let configuration: Value = serde_json::from_slice(&configuration)?;
        let url = configuration["document"]["url"]
            .as_str()
            .context("a document's address")?;
        let cookie = format!("Cookie: {}\r\n", reader.cookie);
        let subjects = [
            DownloadSubject {
                connections: 32,
                service: path,
                head: cookie.clone(),
                nginx: "/configuration.json".to_owned(),
                body: None,
            },
            DownloadSubject {
                connections: 8,
                service: url.trim_start_matches(&measured.base).to_owned(),
                head: format!("Authorization: Bearer {}\r\n", pass(url)),
                nginx: "/small.docx".to_owned(),
                body: Some(document.to_vec()),
            },
            DownloadSubject {
                connections: 4,
                service: format!("/api/workrooms/documents/{large}/download"),
                head: cookie,
                nginx: "/large.txt".to_owned(),
                body: Some(text),
            },
        ];
        Ok(Some(Self { nginx, subjects }))
    }

    /// Measures every subject on both servers, in alternating order.
    pub async fn rounds(&self, measured: &ServiceProcess, pace: &RoundSettings) -> anyhow::Result<DownloadRounds> {
        let mut rounds = [Vec::new(), Vec::new(), Vec::new()];
        for round in 0..pace.rounds {
            for (subject, rounds) in self.subjects.iter().zip(&mut rounds) {
                let service = (measured.address, measured.process(), &subject.service);
                let nginx = (self.nginx.address, self.nginx.process(), &subject.nginx);
                let served = if round.is_multiple_of(2) {
                    let first = serve(service, subject, pace.sample).await?;
                    (first, serve(nginx, subject, pace.sample).await?)
                } else {
                    let second = serve(nginx, subject, pace.sample).await?;
                    (serve(service, subject, pace.sample).await?, second)
                };
                rounds.push(DownloadRound {
                    service: served.0,
                    nginx: served.1,
                });
            }
        }
        let [configuration, file, large] = rounds;
        Ok(DownloadRounds {
            configuration,
            file,
            large,
        })
    }
}

async fn serve(
    server: (SocketAddr, u32, &String),
    subject: &DownloadSubject,
    sample: Duration,
) -> anyhow::Result<Throughput> {
    let (address, process, path) = server;
    // Both requests have the same headers, so parsing costs the same.
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n{}\r\n", subject.head).into_bytes();
    let plan = RequestPlan {
        ask: &|_, _| request.clone(),
        status: 200,
        body: subject.body.as_deref(),
    };
    let before = cpu::used(process)?;
    let outcome = load::drive(address, subject.connections, sample, &plan).await?;
    let used = cpu::used(process)?.saturating_sub(before);
    ensure!(outcome.answers > 0, "{path}: no file within {sample:?}");
    let files = f64::from(u32::try_from(outcome.answers)?);
    Ok(Throughput {
        rate: files / outcome.time.as_secs_f64(),
        cpu: used.as_secs_f64() * 1e6 / files,
    })
}

/// Returns the token with which the document server fetches a file.
fn pass(url: &str) -> String {
    let now = clock::now().as_millis() / 1000;
    saves::signed(&json!({"payload": {"url": url}, "iat": now, "exp": now + 3_600}))
}

/// Returns the stored file of a document.
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
