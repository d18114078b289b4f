//! A real object store in this process (S3 over a folder) behind a fault injector that can close connections, delay
//! requests or break them. The unit tests of `files` also use it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s_fs::FileSystem;
use tokio::net::TcpListener;

pub const NAME: &str = "school";
pub const KEY_ID: &str = "test-key";
pub const SECRET: &str = "test-secret-0123456789";

/// The faults that are injected into requests.
#[derive(Default)]
pub struct S3Faults {
    /// Every request fails with a closed connection.
    pub closes_connections: AtomicBool,
    /// Write requests are delayed.
    pub holds_requests: AtomicBool,
    /// Write requests are broken from this request number on; 0: never.
    pub breaks_after: AtomicUsize,
    /// Write requests are delayed from this request number on; 0: never.
    holds_after: AtomicUsize,
    writes: AtomicUsize,
    waiting: AtomicUsize,
}

/// An S3 bucket stored in a folder.
pub struct FakeS3 {
    pub endpoint: String,
    pub faults: Arc<S3Faults>,
    folder: tempfile::TempDir,
    serving: tokio::task::JoinHandle<()>,
}

impl FakeS3 {
    pub async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(NAME)).unwrap();
        let mut builder = S3ServiceBuilder::new(FileSystem::new(folder.path()).unwrap());
        builder.set_auth(SimpleAuth::from_single(KEY_ID, SECRET));
        let service = builder.build();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let faults = Arc::new(S3Faults::default());
        let serving = tokio::spawn(serve(listener, service, Arc::clone(&faults)));
        Self {
            endpoint,
            faults,
            folder,
            serving,
        }
    }

    /// Returns the settings of this store as `--flag=value`.
    pub fn flags(&self) -> Vec<String> {
        vec![
            format!("--files-url=s3://{NAME}/work"),
            format!("--aws-endpoint-url={}", self.endpoint),
            format!("--aws-access-key-id={KEY_ID}"),
            format!("--aws-secret-access-key={SECRET}"),
            "--aws-region=eu-central-1".to_owned(),
            "--aws-allow-http=true".to_owned(),
        ]
    }

    /// Returns the same settings as environment variables.
    pub fn settings(&self) -> Vec<(String, String)> {
        let flags = self.flags();
        let pairs = flags.iter().filter_map(|flag| flag.strip_prefix("--")?.split_once('='));
        pairs
            .map(|(name, value)| (name.to_uppercase().replace('-', "_"), value.to_owned()))
            .collect()
    }

    /// Returns the folder in which the store keeps objects below `files/` or `quarantine/`.
    pub fn folder(&self, below: &str) -> PathBuf {
        self.folder.path().join(NAME).join("work").join(below)
    }

    /// Returns the names of the stored objects, without the marker of the storage.
    pub fn stored_keys(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        gather(&self.folder("files"), &mut found);
        found.remove("id");
        found
    }

    /// Whether the store still contains parts of a multipart upload.
    #[allow(dead_code, reason = "the storage's own tests use it, the API's do not")]
    pub fn has_unfinished(&self) -> bool {
        let mut found = BTreeSet::new();
        gather(self.folder.path(), &mut found);
        found.iter().any(|name| name.contains(".upload"))
    }

    /// Returns the number of delayed requests.
    pub fn held_requests(&self) -> usize {
        self.faults.waiting.load(Ordering::SeqCst)
    }

    /// Breaks write requests after this number of further requests.
    #[allow(dead_code, reason = "the storage's own tests use it, the API's do not")]
    pub fn break_after(&self, requests: usize) {
        let passed = self.faults.writes.load(Ordering::SeqCst);
        self.faults.breaks_after.store(passed + requests, Ordering::SeqCst);
    }

    /// Delays write requests after this number of further requests.
    #[allow(dead_code, reason = "the storage's own tests use it, the API's do not")]
    pub fn hold_after(&self, requests: usize) {
        let passed = self.faults.writes.load(Ordering::SeqCst);
        self.faults.holds_after.store(passed + requests, Ordering::SeqCst);
    }

    /// Removes all faults.
    pub fn clear_faults(&self) {
        self.faults.closes_connections.store(false, Ordering::SeqCst);
        self.faults.holds_requests.store(false, Ordering::SeqCst);
        self.faults.breaks_after.store(0, Ordering::SeqCst);
        self.faults.holds_after.store(0, Ordering::SeqCst);
    }
}

impl Drop for FakeS3 {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(listener: TcpListener, service: S3Service, faults: Arc<S3Faults>) {
    while let Ok((socket, _)) = listener.accept().await {
        let (service, faults) = (service.clone(), Arc::clone(&faults));
        tokio::spawn(async move {
            let answer = service_fn(move |request: Request<Incoming>| {
                let (service, faults) = (service.clone(), Arc::clone(&faults));
                async move {
                    if !faults.passes(&request).await {
                        return Err(std::io::Error::other("the faults is closes_connections"));
                    }
                    service
                        .call(request.map(s3s::Body::from))
                        .await
                        .map_err(|error| std::io::Error::other(format!("{error:?}")))
                }
            });
            drop(
                http1::Builder::new()
                    .serve_connection(TokioIo::new(socket), answer)
                    .await,
            );
        });
    }
}

impl S3Faults {
    async fn passes(&self, request: &Request<Incoming>) -> bool {
        let writes = matches!(*request.method(), Method::PUT | Method::POST);
        if writes {
            let passed = self.writes.fetch_add(1, Ordering::SeqCst);
            if is_reached(&self.breaks_after, passed) {
                return false;
            }
            self.waiting.fetch_add(1, Ordering::SeqCst);
            while self.holds_requests.load(Ordering::SeqCst) || is_reached(&self.holds_after, passed) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            self.waiting.fetch_sub(1, Ordering::SeqCst);
        }
        !self.closes_connections.load(Ordering::SeqCst)
    }
}

/// Whether this request reaches the limit; 0 means no limit.
fn is_reached(limit: &AtomicUsize, request: usize) -> bool {
    let limit = limit.load(Ordering::SeqCst);
    limit > 0 && request >= limit
}

fn gather(folder: &Path, found: &mut BTreeSet<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.path().is_dir() {
            gather(&entry.path(), found);
        } else {
            found.insert(entry.file_name().to_string_lossy().into_owned());
        }
    }
}
