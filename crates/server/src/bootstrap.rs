//! Builds the service from its settings; `serve`, `demo` and the tests all use it.

use std::time::Duration;

use better_auth::cookie::CookieNames;

use crate::background::BackgroundWork;
use crate::config::Config;
use adapters::dns::Dns;
use adapters::mailer::Mailer;
use adapters::onlyoffice::DocumentServer;
use adapters::openid::OpenIdClient;
use adapters::roster::{RosterClient, RosterTimeouts};
use api::app::{App, AppParts};
use auth::Authenticator;
use auth::client_requests::ClientRequests;
use auth::concurrency::TenantSemaphore;
use auth::host_resolver::{self, HostResolver};
use auth::maintenance::MaintenanceMode;
use auth::rate_limiter::RateLimiter;
use auth::uploads::Uploads;
use backup::ownership;
use common::encryptor::{EncryptionPurpose, Encryptor};
use common::error::Result;
use common::scheduler::Scheduler;
use common::{clock, failpoint};
use db::platform::CrossTenantReason;
use db::server::wait_until_available;
use db::{Database, Store, migrate};
use realtime::RealtimeServer;
use realtime::bus::EventBus;
use service::actions::second_factor;
use service::changes::Transactor;
use service::document_workflows::DocumentWorkflows;
use service::jobs::Jobs;
use service::roster::Rosters;
use service::sign_on::SignOn;

/// Runs the migrations, opens the database and the file storage, and starts the background tasks.
/// `api_internal_url` is the address at which the document server reaches this service.
pub async fn build_app(config: Config, api_internal_url: &str) -> Result<App> {
    let database = config.storage.database().map_err(|refused| anyhow::anyhow!(refused))?;
    let (readers, writers) = config
        .storage
        .connections(&database)
        .map_err(|refused| anyhow::anyhow!(refused))?;
    wait_for(&database, Duration::from_secs(config.storage.database_wait_seconds)).await?;
    let store = open_store(&database, readers, writers).await?;
    // Not awaited: it takes longer than the rest of the start, and a deletion that comes before waits for it.
    drop(tokio::task::spawn_blocking(db::archives::tables::prepare));
    failpoint::hit("start.migrated");
    whole(&store).await?;
    let files = config.storage.open_files().await?;
    ownership::guard(&store, &files).await?;
    failpoint::hit("start.opened");
    let names = CookieNames::for_base_url(&config.frontend_url);
    let authenticator = Authenticator::new(
        store.clone(),
        names,
        config.auth_secret.clone(),
        host_resolver(&config),
        config.second_factor,
    )?;
    if config.auth_secret.previous().is_some() {
        renew_factor_secrets(&store, &authenticator).await?;
    }
    let document_server = DocumentServer::new(
        config.document_server(),
        api_internal_url,
        find_or_create_deployment_name(&store).await?,
    )?;
    failpoint::hit("start.named");
    let realtime = RealtimeServer::new(authenticator.clone(), store.clone(), &config.frontend_origin);
    let (bus, lost_access) = EventBus::start(&database, &realtime, config.serve.realtime_timeouts);
    // SQLite has exactly one instance, so it reuses its id: after a restart it need not wait for its own leases to
    // expire.
    let instance = match &database {
        Database::Sqlite(_) => document_server.deployment().to_owned(),
        Database::Postgres(_) => clock::new_id(),
    };
    let mail = Mailer::new(config.mail())?;
    let dns = Dns::new(config.serve.dns_server);
    let sign_on = sign_on(&config, &store).await?;
    let rosters = rosters(&config, &store).await?;
    let transactor = Transactor::new(store, bus);
    let document_workflows = DocumentWorkflows::new(transactor.clone(), files.clone(), document_server.clone());
    let rate_limiter = RateLimiter::new(config.serve.rate_limit_factor, config.auth_secret.current());
    realtime.share_rate_limits(&rate_limiter);
    let is_alone = matches!(database, Database::Sqlite(_));
    let jobs = Jobs::new(
        transactor.clone(),
        files.clone(),
        (mail.clone(), rosters.clone()),
        is_alone,
    );
    let client_requests = ClientRequests::new(config.serve.connections_per_address);
    let uploads = Uploads::new(config.storage.data_dir.clone(), config.upload_free_disk);
    let maintenance = MaintenanceMode::default();
    maintenance.refresh(&transactor).await?;
    let background_work = BackgroundWork {
        transactor: transactor.clone(),
        files: files.clone(),
        mail: mail.clone(),
        maintenance: maintenance.clone(),
        dns: dns.clone(),
        jobs: jobs.clone(),
        realtime: realtime.clone(),
        realtime_timeouts: config.serve.realtime_timeouts,
        has_event_outbox: !is_alone,
        document_server: document_server.clone(),
        document_workflows: document_workflows.clone(),
        instance,
        data_dir: config.storage.data_dir.clone(),
    };
    let mut scheduler = Scheduler::start(background_work.tasks());
    scheduler.spawn(document_workflows.clone().revoke_access_of(lost_access));
    if let Some(presence) = realtime.editor_presence() {
        scheduler.spawn(document_workflows.clone().record_editor_presence(presence));
    }
    Ok(App::new(AppParts {
        settings: config.http(),
        transactor,
        authenticator,
        rate_limiter,
        tenant_semaphore: TenantSemaphore::default(),
        client_requests,
        uploads,
        maintenance,
        realtime,
        files,
        document_server,
        document_workflows,
        mail,
        jobs,
        dns,
        sign_on,
        rosters,
        scheduler,
    }))
}

fn host_resolver(config: &Config) -> HostResolver {
    let frontend = config.frontend_origin.split_once("://");
    HostResolver {
        base_domain: config.base_domain.clone(),
        trusted_proxies: config.serve.trust_proxy.clone(),
        frontend: frontend.and_then(|(_, host)| host_resolver::canonical(host)),
    }
}

/// Creates the client of sign-on providers, and encrypts their secrets with the present secret of the installation.
async fn sign_on(config: &Config, store: &Store) -> Result<SignOn> {
    let sign_on = SignOn::new(
        OpenIdClient::new(&config.serve.sign_on_networks)?,
        Encryptor::new(&config.auth_secret, EncryptionPurpose::SignOn)?,
        &config.frontend_url,
    );
    if config.auth_secret.previous().is_some() {
        sign_on.reencrypt_secrets(store).await?;
    }
    Ok(sign_on)
}

/// Creates the client of roster servers, and encrypts their secrets with the present secret of the installation.
async fn rosters(config: &Config, store: &Store) -> Result<Rosters> {
    let rosters = Rosters::new(
        RosterClient::new(&config.serve.sign_on_networks, RosterTimeouts::default())?,
        Encryptor::new(&config.auth_secret, EncryptionPurpose::Rosters)?,
    );
    if config.auth_secret.previous().is_some() {
        rosters.reencrypt_secrets(store).await?;
    }
    Ok(rosters)
}

/// Waits until the database accepts connections, so that services which are started together need no order.
async fn wait_for(database: &Database, timeout: Duration) -> Result<()> {
    let database = database.clone();
    let waited = tokio::task::spawn_blocking(move || wait_until_available(&database, timeout));
    waited.await.map_err(|error| anyhow::anyhow!(error))?
}

/// The permanent id of this installation. It is generated at the first start; instances that start at the same time
/// agree on one id.
async fn find_or_create_deployment_name(store: &Store) -> Result<String> {
    let name = store
        .platform_write(CrossTenantReason::Housekeeping, |platform| {
            platform.name_deployment(&clock::new_id(), clock::now())?;
            platform.deployment_id()
        })
        .await?;
    name.ok_or_else(|| anyhow::anyhow!("the installation has no name").into())
}

/// Encrypts the secrets of second factors with the new `AUTH_SECRET`, so that the previous one can be removed later.
async fn renew_factor_secrets(store: &Store, authenticator: &Authenticator) -> Result<()> {
    let mut after = Some(String::new());
    while let Some(last) = after {
        let encryptor = authenticator.factor_encryptor();
        let write = store.platform_write(CrossTenantReason::Housekeeping, move |platform| {
            second_factor::renew_secrets(platform, &encryptor, &last)
        });
        after = write.await?;
    }
    Ok(())
}

/// Rejects a database whose restore was interrupted.
async fn whole(store: &Store) -> Result<()> {
    let read = store.platform_read(CrossTenantReason::Housekeeping, |platform| platform.is_half_restored());
    if read.await? {
        let why = "a restore was interrupted: run `groupwork restore` again with the same file";
        return Err(anyhow::anyhow!(why).into());
    }
    Ok(())
}

/// Opens an existing database without migrating its schema. Returns `None` when the SQLite file has no schema yet.
pub async fn open_existing(database: &Database) -> Result<Option<Store>> {
    if let Database::Sqlite(_) = database
        && !database.has_schema()?
    {
        return Ok(None);
    }
    let database = database.clone();
    let opened = tokio::task::spawn_blocking(move || Store::open(&database, 1, 1));
    opened.await.map_err(|error| anyhow::anyhow!(error))?.map(Some)
}

/// Migrates the schema and opens the store on a blocking thread.
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
