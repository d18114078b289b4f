//! TXT look-ups with the system resolver or DNS_SERVER. Every look-up is bounded in time, concurrency and response size
//! (at most one DNS message, of which at most `RECORDS_MAX` records are compared).

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use domain::mail_domain::{MailDomain, RecordCheck};
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::rr::{Name, RData};
use tokio::sync::Semaphore;

/// Timeout of a look-up including retries.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of one query to one name server.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(3);
const ATTEMPTS: usize = 2;
/// Concurrent look-ups of this instance. Further ones fail immediately.
const LOOKUPS_MAX: usize = 16;
/// Records of a response that are compared.
const RECORDS_MAX: usize = 64;

/// The resolver of this instance; clones share it.
#[derive(Clone)]
pub struct Dns {
    resolver: Option<TokioResolver>,
    permits: Arc<Semaphore>,
}

impl Dns {
    /// Creates a resolver that queries `server`, or the name servers of the system. When the system has none, a warning
    /// is logged and every look-up fails.
    pub fn new(server: Option<SocketAddr>) -> Self {
        let resolver = build(server)
            .inspect_err(|error| tracing::warn!(%error, "no DNS resolver: mail domains cannot be checked"))
            .ok();
        Self {
            resolver,
            permits: Arc::new(Semaphore::new(LOOKUPS_MAX)),
        }
    }

    /// Looks up the TXT record that proves ownership of a domain.
    pub async fn check(&self, domain: &MailDomain) -> RecordCheck {
        let (Some(resolver), Ok(_permit)) = (&self.resolver, self.permits.try_acquire()) else {
            return RecordCheck::Unanswered;
        };
        let lookup = lookup(resolver, domain);
        let check = tokio::time::timeout(TIMEOUT, lookup).await;
        check.unwrap_or(RecordCheck::Unanswered)
    }
}

async fn lookup(resolver: &TokioResolver, domain: &MailDomain) -> RecordCheck {
    // A fully qualified name prevents the use of search domains.
    let Ok(mut name) = Name::from_ascii(domain.domain.record_name()) else {
        return RecordCheck::Missing;
    };
    name.set_fqdn(true);
    match resolver.txt_lookup(name).await {
        Ok(found) => {
            let wanted = domain.record_value();
            let mut records = found.answers().iter().take(RECORDS_MAX);
            // A text of more than 255 bytes consists of several strings.
            let is_there = records.any(|record| match &record.data {
                RData::TXT(text) => text.txt_data.concat() == wanted.as_bytes(),
                _ => false,
            });
            if is_there {
                RecordCheck::Found
            } else {
                RecordCheck::Missing
            }
        }
        Err(NetError::Dns(DnsError::NoRecordsFound(_))) => RecordCheck::Missing,
        Err(error) => {
            tracing::info!(%error, domain = %domain.domain, "DNS lookup failed");
            RecordCheck::Unanswered
        }
    }
}

fn build(server: Option<SocketAddr>) -> Result<TokioResolver, NetError> {
    let mut builder = match server {
        None => TokioResolver::builder_tokio()?,
        Some(server) => {
            let mut connections = vec![ConnectionConfig::udp(), ConnectionConfig::tcp()];
            for connection in &mut connections {
                connection.port = server.port();
            }
            let server = NameServerConfig::new(server.ip(), true, connections);
            let config = ResolverConfig::from_parts(None, Vec::new(), vec![server]);
            TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
        }
    };
    let options = builder.options_mut();
    options.timeout = ATTEMPT_TIMEOUT;
    options.attempts = ATTEMPTS;
    // A record that was just added or removed must be visible immediately.
    options.cache_size = 0;
    options.use_hosts_file = ResolveHosts::Never;
    builder.build()
}
