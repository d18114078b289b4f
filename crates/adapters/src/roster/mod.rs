//! Clients of roster servers: OneRoster REST 1.1 and 1.2, and Schulconnex. A roster is read completely or not at all,
//! and written as a OneRoster CSV archive into a staged file, which the import reads. It decides nothing about accounts.
//! See docs/rosters.md.

mod error;
mod items;
mod one_roster;
mod paging;
mod schulconnex;
mod session;
mod writer;

use std::sync::Arc;
use std::time::Duration;

use domain::network::Network;
use domain::roster::RosterProtocol;
use tokio::time::timeout;
use url::Url;

pub use self::error::RosterError;
use self::one_roster::OneRosterRun;
use self::schulconnex::SchulconnexRun;
use self::session::RosterSession;
use self::writer::RosterWriter;
use crate::blob_store::{BlobStore, Staged};
use crate::outgoing_http::OutgoingHttp;
use common::error::Result;
use common::settings::Secret;

/// Maximum number of unusable records that are listed. Further ones are counted.
pub const SKIPPED_MAX: usize = 100;

/// How often an incomplete roster is read.
const ATTEMPTS_MAX: u32 = 3;

/// A roster server as this client needs it.
#[derive(Debug, Clone)]
pub struct RosterServer {
    pub protocol: RosterProtocol,
    /// The URL below which the resources are: `/users` of OneRoster, `/personen-info` of Schulconnex.
    pub url: String,
    pub token_url: String,
    pub client_id: String,
    /// The decrypted secret.
    pub client_secret: Secret,
    /// `None` for the scope of the protocol: `roster-core.readonly` for OneRoster, none for Schulconnex.
    pub scope: Option<String>,
    /// The id of the school at the server; `None` if the server has one school only.
    pub school_id: Option<String>,
}

/// The result of a request for a roster.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one value per run")]
pub enum RosterAnswer {
    /// The roster has the entity tag of the request. Only Schulconnex servers return this.
    Unchanged,
    Changed(FetchedRoster),
}

/// A complete roster.
#[derive(Debug)]
pub struct FetchedRoster {
    /// A OneRoster CSV archive (1.1) of one school. `users.csv` contains every user of the school whom the server lists,
    /// whatever their role; who is absent or `tobedeleted` there has left.
    pub archive: Staged,
    /// The entity tag for the next request.
    pub etag: Option<String>,
    /// Active students and teachers.
    pub people: u64,
    /// Active classes and homerooms.
    pub classes: u64,
    /// Active memberships of students and teachers in listed classes.
    pub enrollments: u64,
    /// Records that cannot be used, at most [`SKIPPED_MAX`].
    pub skipped: Vec<SkippedRecord>,
    /// The number of records that cannot be used.
    pub skipped_count: u64,
}

/// A record that cannot be used, and is not in the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedRecord {
    /// `users`, `classes` or `enrollments`.
    pub resource: &'static str,
    /// Its id at the server, shortened; empty if it has none.
    pub id: String,
    /// A stable code: `no_id`, `invalid_id`, `not_an_object`, `too_long`.
    pub reason: &'static str,
}

/// Limits of time of a client.
#[derive(Debug, Clone, Copy)]
pub struct RosterTimeouts {
    /// The whole roster, with all attempts and pauses.
    pub total: Duration,
    /// The time until a response begins.
    pub response: Duration,
    /// A pause within a response.
    pub idle: Duration,
    /// The pause before the first repetition of a failed request; it doubles with each one.
    pub backoff: Duration,
    /// The longest pause that a server may ask for.
    pub pause_max: Duration,
}

impl Default for RosterTimeouts {
    fn default() -> Self {
        Self {
            total: Duration::from_mins(15),
            response: Duration::from_mins(2),
            idle: Duration::from_secs(30),
            backoff: Duration::from_secs(1),
            pause_max: Duration::from_mins(1),
        }
    }
}

impl RosterTimeouts {
    /// For a person who waits for the result: nothing is repeated.
    pub const INTERACTIVE: Self = Self {
        total: Duration::from_mins(2),
        response: Duration::from_secs(20),
        idle: Duration::from_secs(10),
        backoff: Duration::from_secs(1),
        pause_max: Duration::ZERO,
    };
}

/// The client.
#[derive(Clone)]
pub struct RosterClient {
    http: Arc<OutgoingHttp>,
    timeouts: RosterTimeouts,
}

impl RosterClient {
    /// Creates a client. It connects to public addresses and to these networks; to loopback addresses in them also
    /// without TLS.
    pub fn new(networks: &[Network], timeouts: RosterTimeouts) -> Result<Self> {
        Ok(Self {
            http: Arc::new(OutgoingHttp::new(networks)?),
            timeouts,
        })
    }

    /// Returns a client with the same connections and other timeouts.
    #[must_use]
    pub fn with_timeouts(&self, timeouts: RosterTimeouts) -> Self {
        Self {
            http: Arc::clone(&self.http),
            timeouts,
        }
    }

    /// Returns whether a URL may be used as the address of a server or of its token endpoint.
    pub fn allows(&self, url: &str) -> bool {
        self.parse(url).is_ok()
    }

    /// Reads the roster of a server. `etag` is that of the last roster that was imported completely with the same
    /// settings. An incomplete or inconsistent roster is read again a few times, and then is an error.
    pub async fn fetch(
        &self,
        server: &RosterServer,
        etag: Option<&str>,
        files: &BlobStore,
    ) -> Result<RosterAnswer, RosterError> {
        let attempts = async {
            let mut attempt = 1;
            loop {
                match self.fetch_once(server, etag, files).await {
                    Err(error) if error.is_retried() && attempt < ATTEMPTS_MAX => {
                        tracing::info!(code = error.code(), attempt, "incomplete roster is read again");
                        tokio::time::sleep(self.timeouts.backoff * attempt).await;
                        attempt += 1;
                    }
                    result => return result,
                }
            }
        };
        let result = timeout(self.timeouts.total, attempts).await;
        let result = result.unwrap_or(Err(RosterError::TimedOut));
        if let Err(error) = &result {
            tracing::warn!(code = error.code(), %error, "roster could not be read");
        }
        result
    }

    async fn fetch_once(
        &self,
        server: &RosterServer,
        etag: Option<&str>,
        files: &BlobStore,
    ) -> Result<RosterAnswer, RosterError> {
        let base = self.parse(&server.url)?;
        self.parse(&server.token_url)?;
        let default_scope = match server.protocol {
            RosterProtocol::OneRoster11 => Some("https://purl.imsglobal.org/spec/or/v1p1/scope/roster-core.readonly"),
            RosterProtocol::OneRoster12 => Some("https://purl.imsglobal.org/spec/or/v1p2/scope/roster-core.readonly"),
            RosterProtocol::Schulconnex => None,
        };
        let scope = server.scope.as_deref().or(default_scope);
        let session = RosterSession::new(&self.http, server, scope, self.timeouts);
        let school_id = server.school_id.as_deref().filter(|id| !id.is_empty());
        let writer = RosterWriter::new(files).await?;
        match server.protocol {
            RosterProtocol::OneRoster11 | RosterProtocol::OneRoster12 => {
                let run = OneRosterRun::new(session, self.timeouts, base, school_id, writer);
                run.read().await.map(RosterAnswer::Changed)
            }
            RosterProtocol::Schulconnex => {
                let run = SchulconnexRun::new(session, self.timeouts, base, school_id, writer);
                run.read(etag).await
            }
        }
    }

    fn parse(&self, url: &str) -> Result<Url, RosterError> {
        let url = Url::parse(url).map_err(|_| RosterError::AddressNotAllowed)?;
        let is_plain = url.query().is_none() && url.fragment().is_none();
        if is_plain && self.http.allows(&url) {
            Ok(url)
        } else {
            Err(RosterError::AddressNotAllowed)
        }
    }
}
