//! Builds the service from its settings; `serve`, `demo` and the tests all come through here.

use std::sync::Arc;

use better_auth::cookie::CookieNames;
use tokio_util::task::AbortOnDropHandle;

use crate::auth::Gate;
use crate::auth::tenant::Hosts;
use crate::changes::removal;
use crate::config::Config;
use crate::document_server::DocumentServer;
use crate::error::Result;
use crate::files::Files;
use crate::live::Live;
use crate::live::bus::Bus;
use crate::store::{Database, Store, migrate};

/// The service: cheap to clone, no public fields.
#[derive(Clone)]
pub struct App(Arc<Parts>);

struct Parts {
    config: Config,
    store: Store,
    gate: Gate,
    bus: Bus,
    live: Live,
    files: Files,
    document_server: DocumentServer,
    started: std::time::Instant,
    /// Ends with the service.
    _removals: AbortOnDropHandle<()>,
}

impl App {
    /// Migrates, opens the store and the files, and starts the publisher. `api_internal_url` is where the document
    /// server reaches this service.
    pub async fn build(config: Config, api_internal_url: &str) -> Result<Self> {
        let database = config.storage.database().map_err(|refused| anyhow::anyhow!(refused))?;
        let (readers, writers) = config
            .storage
            .connections(&database)
            .map_err(|refused| anyhow::anyhow!(refused))?;
        let store = open_store(&database, readers, writers).await?;
        let files = Files::connect(&config.storage).await?;
        let hosts = Hosts {
            base_domain: config.base_domain.clone(),
            trusted_proxies: config.trusted_proxies.clone(),
        };
        let names = CookieNames::for_base_url(&config.frontend_url);
        let gate = Gate::new(store.clone(), names, config.auth_secret.clone(), hosts);
        let document_server = DocumentServer::new(&config, api_internal_url)?;
        let live = Live::new(gate.clone(), store.clone(), &config.frontend_origin);
        let bus = Bus::start(&database, &live);
        let removals = removal::start(store.clone(), files.clone());
        let started = std::time::Instant::now();
        Ok(Self(Arc::new(Parts {
            config,
            store,
            gate,
            bus,
            live,
            files,
            document_server,
            started,
            _removals: removals,
        })))
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.0.config
    }

    /// The only origin whose pages may use the service.
    pub fn frontend_origin(&self) -> &str {
        &self.0.config.frontend_origin
    }

    /// What is remembered.
    pub fn store(&self) -> &Store {
        &self.0.store
    }

    /// Finds out who asks.
    pub fn gate(&self) -> &Gate {
        &self.0.gate
    }

    /// Carries what happened to the sockets of every instance.
    pub fn bus(&self) -> &Bus {
        &self.0.bus
    }

    /// The sockets of this instance.
    pub fn live(&self) -> &Live {
        &self.0.live
    }

    /// The bytes.
    pub fn files(&self) -> &Files {
        &self.0.files
    }

    /// The external editor.
    pub fn document_server(&self) -> &DocumentServer {
        &self.0.document_server
    }

    /// How long the service has been up.
    pub fn uptime(&self) -> std::time::Duration {
        self.0.started.elapsed()
    }
}

/// Brings the schema up to date and opens the store, away from the async runtime.
pub async fn open_store(database: &Database, readers: usize, writers: usize) -> Result<Store> {
    let database = database.clone();
    let opened = tokio::task::spawn_blocking(move || {
        if let Database::Sqlite(path) = &database
            && let Some(folder) = path.parent()
        {
            std::fs::create_dir_all(folder)?;
        }
        migrate(&database)?;
        Store::open(&database, readers, writers)
    });
    opened.await.map_err(|error| anyhow::anyhow!(error))?
}
