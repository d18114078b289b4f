//! TXT records of the domain name system, asked of the resolver of the machine or of DNS_SERVER. Every look-up is bounded:
//! in time, in number at once, and in the size of what is read (one message of DNS at most, of which a few records count).

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::rr::{Name, RData};
use model::mail_domain::{MailDomain, RecordCheck};
use tokio::sync::Semaphore;

/// The most time for one look-up with its retries.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The most time for one question to one name server.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(3);
const ATTEMPTS: usize = 2;
/// The most look-ups of this instance at once; a further one fails at once.
const LOOKUPS_MAX: usize = 16;
/// The most records of one answer that are compared.
const RECORDS_MAX: usize = 64;

/// The resolver of this instance; copies are the same one.
#[derive(Clone)]
pub struct Dns {
    resolver: Option<TokioResolver>,
    permits: Arc<Semaphore>,
}

impl Dns {
    /// Prepares a resolver that asks `server`, or the name servers of the machine. A machine without any is reported in the
    /// log, and every look-up fails.
    pub fn new(server: Option<SocketAddr>) -> Self {
        let resolver = build(server)
            .inspect_err(|error| tracing::warn!(%error, "no DNS resolver: mail domains cannot be checked"))
            .ok();
        Self {
            resolver,
            permits: Arc::new(Semaphore::new(LOOKUPS_MAX)),
        }
    }

    /// Looks for the TXT record that proves a domain.
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
    // With a dot at its end no search domain of the machine is tried.
    let Ok(mut name) = Name::from_ascii(domain.domain.record_name()) else {
        return RecordCheck::Missing;
    };
    name.set_fqdn(true);
    match resolver.txt_lookup(name).await {
        Ok(found) => {
            let wanted = domain.record_value();
            let mut records = found.answers().iter().take(RECORDS_MAX);
            // A text of more than 255 bytes comes in several parts.
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
    // A record that was just set, or taken away, counts at once.
    options.cache_size = 0;
    options.use_hosts_file = ResolveHosts::Never;
    builder.build()
}
