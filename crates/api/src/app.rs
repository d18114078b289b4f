//! The state that all handlers share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use domain::deleted_object::DeletionRetention;
use domain::network::Network;

use adapters::blob_store::BlobStore;
use adapters::dns::Dns;
use adapters::mailer::Mailer;
use adapters::onlyoffice::DocumentServer;
use auth::Authenticator;
use auth::client_requests::ClientRequests;
use auth::concurrency::TenantSemaphore;
use auth::maintenance::MaintenanceMode;
use auth::rate_limiter::RateLimiter;
use auth::uploads::Uploads;
use common::scheduler::Scheduler;
use db::Store;
use realtime::RealtimeServer;
use service::changes::Transactor;
use service::document_workflows::DocumentWorkflows;
use service::jobs::Jobs;
use service::roster::Rosters;
use service::sign_on::SignOn;

/// Settings of the HTTP server and its routes.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// Origin of FRONTEND_URL, the only origin whose pages may use the service.
    pub frontend_origin: String,
    /// FRONTEND_URL without a slash at its end.
    pub frontend_url: String,
    /// URL of the document server for browsers, without a slash at its end.
    pub docserver_url: Option<String>,
    /// Proxies whose X-Forwarded-* headers are trusted.
    pub trusted_proxies: Vec<Network>,
    /// Most connections at the same time.
    pub connections_max: usize,
    /// Most connections at the same time from one address.
    pub connections_per_address: usize,
    /// Time between the first stop signal and the end of the listener.
    pub drain: Duration,
    /// Largest upload, in bytes.
    pub upload_limit: u64,
    /// Whether audit lines in the log contain the address of the client.
    pub audit_address: bool,
    /// How long deleted objects can be restored.
    pub deletion_retention: DeletionRetention,
    /// Whether HSTS includes the subdomains of the host.
    pub hsts_subdomains: bool,
}

/// The state that all handlers share: cheap to clone.
#[derive(Clone)]
pub struct App(Arc<AppInner>);

/// What [`App::new`] is made of.
pub struct AppParts {
    pub settings: HttpSettings,
    pub transactor: Transactor,
    pub authenticator: Authenticator,
    pub rate_limiter: RateLimiter,
    pub tenant_semaphore: TenantSemaphore,
    pub client_requests: ClientRequests,
    pub uploads: Uploads,
    pub maintenance: MaintenanceMode,
    pub realtime: RealtimeServer,
    pub files: BlobStore,
    pub document_server: DocumentServer,
    pub document_workflows: DocumentWorkflows,
    pub mail: Mailer,
    pub jobs: Jobs,
    pub dns: Dns,
    pub sign_on: SignOn,
    pub rosters: Rosters,
    /// Background tasks, aborted when the last clone of the [`App`] is dropped.
    pub scheduler: Scheduler,
}

struct AppInner {
    parts: AppParts,
    started: std::time::Instant,
    draining: AtomicBool,
}

impl App {
    /// Shares the parts between all clones.
    pub fn new(parts: AppParts) -> Self {
        Self(Arc::new(AppInner {
            parts,
            started: std::time::Instant::now(),
            draining: AtomicBool::new(false),
        }))
    }

    /// Settings of the HTTP server and its routes.
    pub fn settings(&self) -> &HttpSettings {
        &self.0.parts.settings
    }

    /// The only origin whose pages may use the service.
    pub fn frontend_origin(&self) -> &str {
        &self.0.parts.settings.frontend_origin
    }

    /// The database, for reads and for writes without events.
    pub fn store(&self) -> &Store {
        &self.0.parts.transactor
    }

    /// Runs the transactions of requests.
    pub fn transactor(&self) -> &Transactor {
        &self.0.parts.transactor
    }

    /// Authenticates requests.
    pub fn authenticator(&self) -> &Authenticator {
        &self.0.parts.authenticator
    }

    /// Rate limits.
    pub fn rate_limiter(&self) -> &RateLimiter {
        &self.0.parts.rate_limiter
    }

    /// Limits concurrent exports and imports.
    pub fn tenant_semaphore(&self) -> &TenantSemaphore {
        &self.0.parts.tenant_semaphore
    }

    /// Requests in flight per client behind a proxy.
    pub fn client_requests(&self) -> &ClientRequests {
        &self.0.parts.client_requests
    }

    /// Limits concurrent uploads and their total size.
    pub fn uploads(&self) -> &Uploads {
        &self.0.parts.uploads
    }

    /// The maintenance mode.
    pub fn maintenance(&self) -> &MaintenanceMode {
        &self.0.parts.maintenance
    }

    /// Sockets of this instance.
    pub fn realtime(&self) -> &RealtimeServer {
        &self.0.parts.realtime
    }

    /// File storage.
    pub fn files(&self) -> &BlobStore {
        &self.0.parts.files
    }

    pub fn document_server(&self) -> &DocumentServer {
        &self.0.parts.document_server
    }

    /// Workflows of several transactions that involve the document server.
    pub fn document_workflows(&self) -> &DocumentWorkflows {
        &self.0.parts.document_workflows
    }

    /// Renders and queues emails.
    pub fn mail(&self) -> &Mailer {
        &self.0.parts.mail
    }

    /// Background jobs.
    pub fn jobs(&self) -> &Jobs {
        &self.0.parts.jobs
    }

    /// The roster servers of the schools.
    pub fn rosters(&self) -> &Rosters {
        &self.0.parts.rosters
    }

    /// Sign-on through providers of organizations.
    pub fn sign_on(&self) -> &SignOn {
        &self.0.parts.sign_on
    }

    /// DNS look-ups.
    pub fn dns(&self) -> &Dns {
        &self.0.parts.dns
    }

    /// Starts draining: readiness fails, but requests that still arrive are served.
    pub fn drain(&self) {
        self.0.draining.store(true, Ordering::Relaxed);
    }

    /// Whether [`Self::drain`] was called.
    pub fn is_draining(&self) -> bool {
        self.0.draining.load(Ordering::Relaxed)
    }

    /// Time since the service was built.
    pub fn uptime(&self) -> std::time::Duration {
        self.0.started.elapsed()
    }
}
