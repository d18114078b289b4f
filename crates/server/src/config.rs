//! All settings, grouped by topic: an environment variable and a flag of the same name. No other module reads the
//! environment. Secrets are never displayed.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use domain::deleted_object::{self, DeletionRetention};
use domain::document_kind::EditorKind;
use domain::network::Network;
use domain::second_factor::{RequiredMembers, SecondFactorPolicy};
use lettre::message::Mailbox;

use adapters::blob_store::BlobStore;
use adapters::blob_store::settings::ObjectStoreArgs;
use adapters::mailer::{self, Language, MailerSettings, SmtpServer};
use adapters::onlyoffice::DocumentServerSettings;
use adapters::onlyoffice::timeouts::DocumentServerTimeouts;
use api::app::HttpSettings;
use common::error;
use common::settings::address::{NOT_AN_ADDRESS, NOT_AN_ORIGIN, base_address, base_domain, exact_origin, is_folder};
use common::settings::secret::{is_known, read_secret_file};
use common::settings::{RotatedSecret, Secret, SettingsError};
use db::Database;
use realtime::timeouts::RealtimeTimeouts;

pub mod dotenv;
pub mod listen;
pub mod renamed;
pub mod settings_file;

use self::listen::ListenAddress;

/// The value of FILES_FALLBACK_URL for files in DATA_DIR.
const DISK: &str = "disk";

/// Settings of the database and the file storage.
#[derive(Args, Debug, Clone)]
pub struct StorageArgs {
    /// Folder of the SQLite database and of the files
    #[arg(long, env = "DATA_DIR", default_value = "./data")]
    pub data_dir: PathBuf,
    /// `postgres://…` for a server, with TLS by `?sslmode=verify-full&sslrootcert=FILE`; unset: SQLite in DATA_DIR
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    pub database_url: Option<String>,
    /// File that contains DATABASE_URL
    #[arg(long, env = "DATABASE_URL_FILE", hide = true)]
    pub database_url_file: Option<PathBuf>,
    /// `s3://bucket/prefix` for an object store; unset: files in DATA_DIR
    #[arg(long, env = "FILES_URL")]
    pub files_url: Option<String>,
    /// While `groupwork files move` moves files to FILES_URL: the storage that has the others, `s3://bucket/prefix` or
    /// `disk` for DATA_DIR
    #[arg(long, env = "FILES_FALLBACK_URL")]
    pub files_fallback_url: Option<String>,
    #[command(flatten)]
    pub object_store: ObjectStoreArgs,
    /// Number of database connections: `reading` or `reading,writing` (PostgreSQL). Default 16,8; on SQLite the
    /// number of cores
    #[arg(long, env = "DATABASE_CONNECTIONS")]
    pub database_connections: Option<String>,
    /// Seconds that a start waits for a PostgreSQL server that is unavailable, starting or out of connections, or for
    /// the previous process to release the SQLite database
    #[arg(long, env = "DATABASE_WAIT_SECONDS", default_value_t = DATABASE_WAIT_SECONDS)]
    pub database_wait_seconds: u64,
}

/// Settings of `serve`.
#[derive(Args, Debug, Clone)]
pub struct ServeArgs {
    /// URL of the service for users; also the only allowed origin (required)
    #[arg(long, env = "FRONTEND_URL")]
    pub frontend_url: Option<String>,
    /// Secret that signs and verifies document-server tokens, at least 32 bytes (required)
    #[arg(long, env = "DOCSERVER_JWT_SECRET", hide_env_values = true)]
    pub docserver_jwt_secret: Option<Secret>,
    /// File that contains DOCSERVER_JWT_SECRET
    #[arg(long, env = "DOCSERVER_JWT_SECRET_FILE")]
    pub docserver_jwt_secret_file: Option<PathBuf>,
    /// The earlier DOCSERVER_JWT_SECRET while it is replaced: tokens that it signed are still accepted
    #[arg(long, env = "DOCSERVER_JWT_SECRET_PREVIOUS", hide_env_values = true)]
    pub docserver_jwt_secret_previous: Option<Secret>,
    /// File that contains DOCSERVER_JWT_SECRET_PREVIOUS
    #[arg(long, env = "DOCSERVER_JWT_SECRET_PREVIOUS_FILE")]
    pub docserver_jwt_secret_previous_file: Option<PathBuf>,
    /// Secret that signs session cookies, at least 32 bytes, different from DOCSERVER_JWT_SECRET (required)
    #[arg(long, env = "AUTH_SECRET", hide_env_values = true)]
    pub auth_secret: Option<Secret>,
    /// File that contains AUTH_SECRET
    #[arg(long, env = "AUTH_SECRET_FILE")]
    pub auth_secret_file: Option<PathBuf>,
    /// The earlier AUTH_SECRET while it is replaced: sessions and queued emails of it stay valid
    #[arg(long, env = "AUTH_SECRET_PREVIOUS", hide_env_values = true)]
    pub auth_secret_previous: Option<Secret>,
    /// File that contains AUTH_SECRET_PREVIOUS
    #[arg(long, env = "AUTH_SECRET_PREVIOUS_FILE")]
    pub auth_secret_previous_file: Option<PathBuf>,
    /// Address to listen on: `HOST:PORT` (port 0 selects a free port and prints it), or `unix:/PATH` for a proxy on
    /// this machine
    #[arg(long, env = "LISTEN", default_value = "127.0.0.1:3000")]
    pub listen: ListenAddress,
    /// URL of this service for the document server; default `http://LISTEN`
    #[arg(long, env = "API_INTERNAL_URL")]
    pub api_internal_url: Option<String>,
    /// URL of the document server for browsers
    #[arg(long, env = "DOCSERVER_URL")]
    pub docserver_url: Option<String>,
    /// URL of the document server for this service; default DOCSERVER_URL
    #[arg(long, env = "DOCSERVER_INTERNAL_URL")]
    pub docserver_internal_url: Option<String>,
    /// HTTP header for document-server tokens
    #[arg(long, env = "DOCSERVER_JWT_HEADER", default_value = "Authorization")]
    pub docserver_jwt_header: String,
    /// Whether other installations use the same document server; document keys are then prefixed with the id of this
    /// installation
    #[arg(long, env = "DOCSERVER_SHARED", default_value_t = false, action = clap::ArgAction::Set)]
    pub docserver_shared: bool,
    /// Path prefix of the document server's result files
    #[arg(long, env = "DOCSERVER_RESULTS_PATH", default_value = DOCSERVER_RESULTS_PATH)]
    pub docserver_results_path: String,
    #[command(flatten)]
    pub docserver_patience: DocumentServerTimeouts,
    /// Editor of text documents: builtin or onlyoffice; unset: onlyoffice with DOCSERVER_URL, otherwise builtin
    #[arg(long, env = "EDITOR_TEXT", value_parser = editor_kind)]
    pub editor_text: Option<EditorKind>,
    #[command(flatten)]
    pub realtime_timeouts: RealtimeTimeouts,
    /// `<slug>.<BASE_DOMAIN>` is the host name of an organization
    #[arg(long, env = "BASE_DOMAIN")]
    pub base_domain: Option<String>,
    /// SMTP server: `smtps://user:password@host`, `starttls://…` or `smtp://host`; unset: emails are written to
    /// DATA_DIR/outbox
    #[arg(long, env = "SMTP_URL", hide_env_values = true)]
    pub smtp_url: Option<Secret>,
    /// File that contains SMTP_URL
    #[arg(long, env = "SMTP_URL_FILE")]
    pub smtp_url_file: Option<PathBuf>,
    /// Sender of emails, `address` or `Name <address>`; required with SMTP_URL
    #[arg(long, env = "MAIL_FROM")]
    pub mail_from: Option<String>,
    /// Whether SUPER_ADMINs need a second factor: required or optional
    #[arg(long, env = "SECOND_FACTOR_FOR_PLATFORM_ADMINISTRATORS", default_value = "required", value_parser = is_required)]
    pub second_factor_for_platform_administrators: RequiredFactor,
    /// Who needs a second factor in every school: none, admins (with owners) or staff; schools can require it on their own
    #[arg(long, env = "REQUIRE_SECOND_FACTOR", default_value = "none", value_parser = required_members)]
    pub require_second_factor: FactorMembers,
    /// Language of emails to users who have not chosen one, if their school has no language either: en or de
    #[arg(long, env = "DEFAULT_LANGUAGE", default_value = "en", value_parser = language)]
    pub default_language: Language,
    /// Days that deleted classes, courses, groups, topics and documents can be restored; their files count towards the
    /// storage quota as long. 0: deletions are final
    #[arg(long, env = "DELETED_RETENTION_DAYS", default_value_t = deleted_object::RETENTION_DAYS,
        value_parser = clap::value_parser!(i64).range(0..=deleted_object::RETENTION_DAYS_MAX))]
    pub deleted_retention_days: i64,
    /// Whether browsers that have seen this service refuse all subdomains of its host without TLS, too: only if every
    /// service there has a certificate
    #[arg(long, env = "HSTS_SUBDOMAINS", default_value_t = false, action = clap::ArgAction::Set)]
    pub hsts_subdomains: bool,
    /// Proxies whose X-Forwarded-* headers are trusted: addresses and networks (10.0.0.7,172.16.0.0/12,fd00::/8),
    /// separated by commas
    #[arg(long, env = "TRUST_PROXY", value_delimiter = ',')]
    pub trust_proxy: Vec<Network>,
    /// Address and port of the DNS server for TXT records of email domains; unset: the DNS servers of the system
    #[arg(long, env = "DNS_SERVER")]
    pub dns_server: Option<SocketAddr>,
    /// Networks without public addresses in which sign-on providers of schools may be (10.0.5.0/24,fd00::/8), separated
    /// by commas; administrators of all schools can make this service send requests to them
    #[arg(long, env = "SIGN_ON_NETWORKS", value_delimiter = ',')]
    pub sign_on_networks: Vec<Network>,
    /// Factor for all request rate limits; 0 = no limits (loopback only)
    #[arg(long, env = "RATE_LIMIT_FACTOR", default_value_t = 1.0)]
    pub rate_limit_factor: f64,
    /// Maximum number of concurrent connections; further ones are closed immediately
    #[arg(long, env = "CONNECTIONS_MAX", default_value_t = CONNECTIONS_MAX)]
    pub connections_max: usize,
    /// Maximum number of connections from one client address, except proxies in TRUST_PROXY; a whole school may share
    /// one address
    #[arg(long, env = "CONNECTIONS_PER_ADDRESS", default_value_t = CONNECTIONS_PER_ADDRESS)]
    pub connections_per_address: usize,
    /// Seconds that the service continues to serve requests after SIGTERM while `/api/health/ready` fails, so that a
    /// proxy removes it
    #[arg(long, env = "DRAIN_SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=300))]
    pub drain_seconds: u64,
    /// Maximum size of an upload in MiB
    #[arg(long, env = "UPLOAD_MAX_MB", default_value_t = 50)]
    pub upload_max_mb: u64,
    /// Free disk space of DATA_DIR in MiB below which uploads are rejected; 0: no limit
    #[arg(long, env = "UPLOAD_FREE_DISK_MB", default_value_t = UPLOAD_FREE_DISK_MB)]
    pub upload_free_disk_mb: u64,
    /// Address and port of `/metrics` for Prometheus, without personal data and without authentication; unset:
    /// disabled
    #[arg(long, env = "METRICS_LISTEN")]
    pub metrics_listen: Option<ListenAddress>,
    /// Whether audit lines in the log (failed sign-ins, exports, …) contain the address of the client
    #[arg(long, env = "AUDIT_ADDRESS", default_value_t = true, action = clap::ArgAction::Set)]
    pub audit_address: bool,
    /// Log format: text or json
    #[arg(long, env = "LOG_FORMAT", default_value = "text")]
    pub log_format: String,
    /// Log level: error, warn, info, debug, trace
    #[arg(long, env = "LOG_LEVEL", default_value = "info")]
    pub log_level: String,
}

impl Default for StorageArgs {
    fn default() -> Self {
        defaults()
    }
}

impl Default for ServeArgs {
    fn default() -> Self {
        defaults()
    }
}

/// Returns the default values of arguments, independent of the environment.
fn defaults<T: Args>() -> T {
    let command = T::augment_args(clap::Command::new("defaults").no_binary_name(true));
    let command = command.mut_args(|argument| argument.env(None::<&'static str>));
    let matches = command.try_get_matches_from(std::iter::empty::<&str>());
    let values = matches.and_then(|matches| T::from_arg_matches(&matches));
    values.expect("every setting is optional or has a default value")
}

/// The validated settings of a running service.
#[derive(Debug, Clone)]
pub struct Config {
    /// The origin of `FRONTEND_URL`, for example `https://school.example`.
    pub frontend_origin: String,
    /// `FRONTEND_URL` without a trailing slash; links in emails begin with it.
    pub frontend_url: String,
    /// The secret that signs session cookies.
    pub auth_secret: RotatedSecret,
    /// The secret that signs document-server tokens.
    pub docserver_jwt_secret: RotatedSecret,
    /// The HTTP header for document-server tokens.
    pub docserver_jwt_header: String,
    /// The path of the document server's result files, with leading and trailing slash.
    pub docserver_results_path: String,
    /// The URL of the document server for browsers, without a trailing slash.
    pub docserver_url: Option<String>,
    /// The URL of the document server for this service, without a trailing slash.
    pub docserver_internal_url: Option<String>,
    /// The URL of this service for the document server; `None` until the port is known.
    pub api_internal_url: Option<String>,
    /// `<slug>.<base_domain>` is the host name of an organization.
    pub base_domain: Option<String>,
    /// The SMTP server; without one, emails are written to the outbox folder.
    pub smtp: Option<SmtpServer>,
    /// The sender of emails.
    pub mail_from: Mailbox,
    /// Who is required to have a second factor.
    pub second_factor: SecondFactorPolicy,
    /// How long requests are served after the signal to stop.
    pub drain: Duration,
    /// The maximum size of an upload in bytes.
    pub upload_limit: u64,
    /// The free disk space in bytes that uploads leave; 0 for no limit.
    pub upload_free_disk: u64,
    /// The settings that need no more than a check of their values. Those that are fields above, too, are `None` here.
    pub serve: ServeArgs,
    pub storage: StorageArgs,
}

/// Whether a second factor is required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequiredFactor(pub bool);

/// The members of every organization who are required to have a second factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FactorMembers(pub Option<RequiredMembers>);

fn is_required(text: &str) -> Result<RequiredFactor, &'static str> {
    match text.trim() {
        "required" => Ok(RequiredFactor(true)),
        "optional" => Ok(RequiredFactor(false)),
        _ => Err("must be required or optional"),
    }
}

fn required_members(text: &str) -> Result<FactorMembers, &'static str> {
    match text.trim() {
        "none" => Ok(FactorMembers(None)),
        name => {
            let members = RequiredMembers::parse(name).ok_or("must be none, admins or staff")?;
            Ok(FactorMembers(Some(members)))
        }
    }
}

/// Parses the language of emails.
pub fn language(text: &str) -> Result<Language, &'static str> {
    Language::from_tag(text).ok_or("must be en or de")
}

fn editor_kind(text: &str) -> Result<EditorKind, &'static str> {
    EditorKind::parse(text).ok_or("must be builtin or onlyoffice")
}

/// The default path of a document server.
const DOCSERVER_RESULTS_PATH: &str = "/cache/files/";
/// Enough for a database server that is started together with this service.
const DATABASE_WAIT_SECONDS: u64 = 30;
/// See `docs/capacity.md` for the number of sockets that an instance can serve.
const CONNECTIONS_MAX: usize = 20_000;
/// The reserve for saves and the database.
const UPLOAD_FREE_DISK_MB: u64 = 1024;
/// A whole school may share one address.
const CONNECTIONS_PER_ADDRESS: usize = 1_000;
/// The largest upload in MiB that can be set: such a file still fits into one part list of an object store.
const UPLOAD_MAX_MB: u64 = 32 * 1024;
/// The largest sum that PostgreSQL accepts as `max_connections`.
const DATABASE_CONNECTIONS_MAX: usize = 262_143;
/// The values of `LOG_FORMAT` and `LOG_LEVEL`.
pub const LOG_FORMATS: [&str; 2] = ["text", "json"];
pub const LOG_LEVELS: [&str; 5] = ["error", "warn", "info", "debug", "trace"];

impl StorageArgs {
    /// Returns the configured database.
    pub fn database(&self) -> Result<Database, SettingsError> {
        let from_file = self.database_url_file.as_deref().map(read_secret_file).transpose()?;
        let url = self
            .database_url
            .clone()
            .filter(|url| !url.trim().is_empty())
            .or(from_file);
        match url {
            Some(url) if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
                db::server::Server::of(&url).map_err(SettingsError)?;
                Ok(Database::Postgres(url))
            }
            Some(_) => Err(SettingsError("DATABASE_URL must begin with postgres://".to_owned())),
            None => Ok(Database::Sqlite(self.data_dir.join("groupwork.db"))),
        }
    }

    /// Opens the file storage.
    pub async fn open_files(&self) -> error::Result<BlobStore> {
        self.open_files_staged_in(&self.data_dir).await
    }

    /// Opens the file storage; uploads to an object store are staged in `folder`.
    pub async fn open_files_staged_in(&self, folder: &Path) -> error::Result<BlobStore> {
        let open = async |url: Option<&str>| {
            let folder = if url.is_some() { folder } else { &self.data_dir };
            BlobStore::connect(folder, url, &self.object_store).await
        };
        let files_url = self.files_url.as_deref().map(str::trim);
        let files = open(files_url.filter(|url| !url.is_empty())).await?;
        Ok(match self.fallback_url() {
            None => files,
            Some(DISK) => files.with_fallback(open(None).await?),
            Some(url) => files.with_fallback(open(Some(url)).await?),
        })
    }

    /// Returns the storage that has files which are missing in FILES_URL.
    pub fn fallback_url(&self) -> Option<&str> {
        let url = self.files_fallback_url.as_deref().map(str::trim);
        url.filter(|url| !url.is_empty())
    }

    /// Returns the number of connections for reads and writes.
    pub fn connections(&self, database: &Database) -> Result<(usize, usize), SettingsError> {
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        let (reading, writing) = match database {
            Database::Sqlite(_) => (cores.max(2), 1),
            Database::Postgres(_) => (16, 8),
        };
        let Some(text) = &self.database_connections else {
            return Ok((reading, writing));
        };
        let mut numbers = text
            .split(',')
            .map(|part| part.trim().parse::<usize>().ok())
            .map(|number| number.filter(|number| (1..=DATABASE_CONNECTIONS_MAX).contains(number)));
        match (numbers.next(), numbers.next(), numbers.next()) {
            (Some(Some(reading)), None, None) => Ok((reading, writing)),
            (Some(Some(reading)), Some(Some(writing)), None) => Ok((reading, writing)),
            _ => Err(SettingsError(
                "DATABASE_CONNECTIONS must be one number or two, reading,writing, each from 1 up".to_owned(),
            )),
        }
    }
}

/// Trims a setting; an empty one counts as unset.
fn present(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Returns a secret, or reads it from its file.
fn secret(text: Option<Secret>, file: Option<&Path>) -> Result<Option<String>, SettingsError> {
    let from_file = file.map(read_secret_file).transpose()?;
    Ok(present(text.map(Secret::into_text)).or(from_file))
}

const NOT_A_BASE_DOMAIN: &str =
    "BASE_DOMAIN must be a domain such as schools.example, without wildcard, scheme or port";

impl Config {
    /// Validates the settings of `serve`. One error names all missing settings, in the order of
    /// `docs/specification.md`.
    pub fn check(mut serve: ServeArgs, storage: StorageArgs) -> Result<Self, SettingsError> {
        let value_faults = check_values(&serve, &storage);
        let frontend_url = present(serve.frontend_url.take());
        let docserver = secret(
            serve.docserver_jwt_secret.take(),
            serve.docserver_jwt_secret_file.as_deref(),
        )?;
        let auth = secret(serve.auth_secret.take(), serve.auth_secret_file.as_deref())?;
        let previous_file = serve.docserver_jwt_secret_previous_file.as_deref();
        let docserver_previous = secret(serve.docserver_jwt_secret_previous.take(), previous_file)?;
        let auth_previous = secret(
            serve.auth_secret_previous.take(),
            serve.auth_secret_previous_file.as_deref(),
        )?;
        let (Some(frontend_url), Some(docserver), Some(auth)) = (&frontend_url, &docserver, &auth) else {
            let all = [
                ("FRONTEND_URL", frontend_url.is_none()),
                ("DOCSERVER_JWT_SECRET", docserver.is_none()),
                ("AUTH_SECRET", auth.is_none()),
            ];
            return Err(missing(&all));
        };
        let mut faults = Vec::new();
        check_secrets(
            &[
                ("DOCSERVER_JWT_SECRET", Some(docserver)),
                ("AUTH_SECRET", Some(auth)),
                ("DOCSERVER_JWT_SECRET_PREVIOUS", docserver_previous.as_deref()),
                ("AUTH_SECRET_PREVIOUS", auth_previous.as_deref()),
            ],
            &mut faults,
        );
        let frontend_origin = exact_origin(frontend_url).unwrap_or_else(|| {
            faults.push(format!("FRONTEND_URL {NOT_AN_ORIGIN}"));
            String::new()
        });
        let mut address = |name: &str, url: Option<String>| {
            let url = present(url)?;
            let address = base_address(&url);
            if address.is_none() {
                faults.push(format!("{name} {NOT_AN_ADDRESS}"));
            }
            address
        };
        let docserver_url = address("DOCSERVER_URL", serve.docserver_url.take());
        let docserver_internal_url = address("DOCSERVER_INTERNAL_URL", serve.docserver_internal_url.take());
        let api_internal_url = address("API_INTERNAL_URL", serve.api_internal_url.take());
        address("AWS_ENDPOINT_URL", storage.object_store.aws_endpoint_url.clone());
        let domain = present(serve.base_domain.take());
        let base_domain = domain.as_deref().and_then(base_domain);
        if domain.is_some() && base_domain.is_none() {
            faults.push(NOT_A_BASE_DOMAIN.to_owned());
        }
        let docserver_results_path = serve.docserver_results_path.trim().to_owned();
        if !is_folder(&docserver_results_path) {
            faults.push("DOCSERVER_RESULTS_PATH must be a folder like /cache/files/".to_owned());
        }
        let smtp_url = secret(serve.smtp_url.take(), serve.smtp_url_file.as_deref())?;
        let smtp = smtp_url.and_then(|url| SmtpServer::parse(&url).map_err(|why| faults.push(why.to_owned())).ok());
        let mail_from = check_sender(
            present(serve.mail_from.take()),
            smtp.is_some(),
            &frontend_origin,
            &mut faults,
        );
        faults.extend(value_faults);
        if !faults.is_empty() {
            return Err(SettingsError(format!("Refused configuration: {}", faults.join("; "))));
        }
        Ok(Self {
            frontend_url: frontend_origin.clone(),
            frontend_origin,
            auth_secret: RotatedSecret::new(auth, auth_previous),
            docserver_jwt_secret: RotatedSecret::new(docserver, docserver_previous),
            docserver_jwt_header: serve.docserver_jwt_header.trim().to_owned(),
            docserver_results_path,
            docserver_internal_url: docserver_internal_url.or_else(|| docserver_url.clone()),
            docserver_url,
            api_internal_url,
            base_domain,
            smtp,
            mail_from,
            second_factor: SecondFactorPolicy {
                for_platform_administrators: serve.second_factor_for_platform_administrators.0,
                members: serve.require_second_factor.0,
            },
            drain: Duration::from_secs(serve.drain_seconds),
            upload_limit: serve.upload_max_mb << 20,
            upload_free_disk: serve.upload_free_disk_mb.saturating_mul(1 << 20),
            serve,
            storage,
        })
    }
}

impl Config {
    /// Settings of the document server's client.
    pub fn document_server(&self) -> DocumentServerSettings {
        DocumentServerSettings {
            jwt_secret: self.docserver_jwt_secret.clone(),
            jwt_header: self.docserver_jwt_header.clone(),
            is_shared: self.serve.docserver_shared,
            results_path: self.docserver_results_path.clone(),
            timeouts: self.serve.docserver_patience,
            public_url: self.docserver_url.clone(),
            internal_url: self.docserver_internal_url.clone(),
            download_limit: self.upload_limit,
            text_editor: self.serve.editor_text,
        }
    }

    /// Settings of the mailer.
    pub fn mail(&self) -> MailerSettings {
        MailerSettings {
            frontend_url: self.frontend_url.clone(),
            from: self.mail_from.clone(),
            smtp: self.smtp.clone(),
            encryption_secret: self.auth_secret.clone(),
            default_language: self.serve.default_language,
            data_dir: self.storage.data_dir.clone(),
        }
    }

    /// Settings of the HTTP server and its routes.
    pub fn http(&self) -> HttpSettings {
        HttpSettings {
            frontend_origin: self.frontend_origin.clone(),
            frontend_url: self.frontend_url.clone(),
            docserver_url: self.docserver_url.clone(),
            trusted_proxies: self.serve.trust_proxy.clone(),
            connections_max: self.serve.connections_max,
            connections_per_address: self.serve.connections_per_address,
            drain: self.drain,
            upload_limit: self.upload_limit,
            audit_address: self.serve.audit_address,
            deletion_retention: DeletionRetention::of_days(self.serve.deleted_retention_days),
            hsts_subdomains: self.serve.hsts_subdomains,
        }
    }
}

/// Checks the secrets that are set: each is long and random, and no two are equal.
fn check_secrets(secrets: &[(&str, Option<&str>)], faults: &mut Vec<String>) {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for (name, secret) in secrets {
        let Some(secret) = *secret else { continue };
        if secret.len() < 32 {
            faults.push(format!("{name} must have at least 32 bytes"));
        } else if is_known(secret) {
            faults.push(format!("{name} is a known default; make a random one"));
        }
        if let Some((other, _)) = seen.iter().find(|(_, other)| *other == secret) {
            faults.push(format!("{other} and {name} must differ"));
        }
        seen.push((name, secret));
    }
}

/// Checks the settings whose value is one of a few words.
fn check_words(log_format: &str, log_level: &str, faults: &mut Vec<String>) {
    for (name, value, words) in [
        ("LOG_FORMAT", log_format, &LOG_FORMATS[..]),
        ("LOG_LEVEL", log_level, &LOG_LEVELS[..]),
    ] {
        if !words.contains(&value.trim()) {
            faults.push(format!("{name} must be one of {}, not {value:?}", words.join(", ")));
        }
    }
}

/// Returns the sender of emails.
fn check_sender(named: Option<String>, is_required: bool, frontend_origin: &str, faults: &mut Vec<String>) -> Mailbox {
    named.as_deref().and_then(mailer::sender).unwrap_or_else(|| {
        if named.is_some() {
            faults.push("MAIL_FROM must be an address or Name <address>".to_owned());
        } else if is_required {
            faults.push("SMTP_URL needs MAIL_FROM".to_owned());
        }
        mailer::sender_at(frontend_origin)
    })
}

/// Checks the addresses to listen on, and what they require.
fn check_listen(serve: &ServeArgs, faults: &mut Vec<String>) {
    let is_set = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.trim().is_empty());
    if serve.rate_limit_factor == 0.0 && !serve.listen.is_local() {
        faults.push("RATE_LIMIT_FACTOR=0 is for a loopback LISTEN only".to_owned());
    }
    if serve.listen.socket().is_some() && is_set(&serve.docserver_url) && !is_set(&serve.api_internal_url) {
        faults.push("LISTEN is a Unix socket, which the document server cannot reach: set API_INTERNAL_URL".to_owned());
    }
    if serve
        .metrics_listen
        .as_ref()
        .is_some_and(|address| address.socket().is_some())
    {
        faults.push("METRICS_LISTEN must be HOST:PORT".to_owned());
    }
}

/// Checks numbers whose range is not part of their type.
fn check_sizes(serve: &ServeArgs, faults: &mut Vec<String>) {
    if !(serve.rate_limit_factor.is_finite() && serve.rate_limit_factor >= 0.0) {
        faults.push("RATE_LIMIT_FACTOR must be a number from 0 up".to_owned());
    }
    if !(1..=UPLOAD_MAX_MB).contains(&serve.upload_max_mb) {
        faults.push(format!(
            "UPLOAD_MAX_MB must be a number of MiB from 1 to {UPLOAD_MAX_MB}"
        ));
    }
    if serve.upload_free_disk_mb > u64::MAX >> 20 {
        faults.push("UPLOAD_FREE_DISK_MB is larger than any disk".to_owned());
    }
    for (name, number) in [
        ("CONNECTIONS_MAX", serve.connections_max),
        ("CONNECTIONS_PER_ADDRESS", serve.connections_per_address),
    ] {
        if number == 0 {
            faults.push(format!("{name} must be at least 1"));
        }
    }
    let header = serve.docserver_jwt_header.trim();
    if axum::http::HeaderName::from_bytes(header.as_bytes()).is_err() {
        faults.push("DOCSERVER_JWT_HEADER must be the name of an HTTP header".to_owned());
    }
}

/// Checks the values that need no other setting.
fn check_values(serve: &ServeArgs, storage: &StorageArgs) -> Vec<String> {
    let mut faults = Vec::new();
    check_words(&serve.log_format, &serve.log_level, &mut faults);
    check_sizes(serve, &mut faults);
    check_listen(serve, &mut faults);
    check_storage(storage, &mut faults);
    faults
}

/// Checks the database and the file storage without connecting to them.
fn check_storage(storage: &StorageArgs, faults: &mut Vec<String>) {
    let database = storage.database();
    let connections = database.and_then(|database| storage.connections(&database));
    faults.extend(connections.err().map(|SettingsError(why)| why));
    let files_url = storage
        .files_url
        .as_deref()
        .map(str::trim)
        .filter(|url| !url.is_empty());
    if let Some(Err(why)) = files_url.map(BlobStore::check_url) {
        faults.push(why.to_owned());
    }
    match storage.fallback_url() {
        Some(url) if url == files_url.unwrap_or(DISK) => {
            faults.push("FILES_FALLBACK_URL must be another storage than that of FILES_URL".to_owned());
        }
        Some(url) if url != DISK && BlobStore::check_url(url).is_err() => {
            faults.push("FILES_FALLBACK_URL must be s3://bucket/prefix, or disk for DATA_DIR".to_owned());
        }
        _ => {}
    }
    let has_key_id = storage
        .object_store
        .aws_access_key_id
        .as_deref()
        .is_some_and(|id| !id.trim().is_empty());
    match storage.object_store.secret_access_key() {
        Ok(secret) if files_url.is_some() && secret.is_some() != has_key_id => {
            faults.push("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY go together".to_owned());
        }
        Ok(_) => {}
        Err(SettingsError(why)) => faults.push(why),
    }
}

/// Returns the error for missing required settings.
fn missing(required: &[(&str, bool)]) -> SettingsError {
    let missing = required.iter().filter(|(_, is_missing)| *is_missing);
    let names: Vec<&str> = missing.map(|(name, _)| *name).collect();
    SettingsError(format!("Missing required configuration: {}", names.join(", ")))
}

/// Returns the failpoint that a crash test activated for this process.
pub fn failpoint() -> Option<String> {
    environment("GROUPWORK_FAILPOINT")
}

/// Returns the names of all environment variables.
pub fn environment_names() -> Vec<String> {
    std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .collect()
}

/// Reads an environment variable.
pub fn environment(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "no other module reads the environment")]
    std::env::var(name).ok()
}

#[cfg(test)]
mod tests;
