//! Clients of roster servers: OneRoster REST 1.1 and 1.2, and Schulconnex. A roster is read completely or not at all,
//! and written as a OneRoster CSV archive into a staged file, which the import reads. It decides nothing about accounts.
//! See docs/rosters.md.

mod error;

use std::time::Duration;

use domain::network::Network;
use domain::roster::RosterProtocol;

pub use self::error::RosterError;
use crate::blob_store::{BlobStore, Staged};
use common::error::Result;
use common::settings::Secret;

/// Maximum number of unusable records that are listed. Further ones are counted.
pub const SKIPPED_MAX: usize = 100;

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
    /// Active memberships of students and teachers.
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
    /// A stable code: `no_id`, `not_an_object`, `too_long`, `unknown_user`, `unknown_class`.
    pub reason: &'static str,
}

/// Limits of time of a client.
#[derive(Debug, Clone, Copy)]
pub struct RosterTimeouts {
    /// The whole roster, with all attempts and pauses.
    pub total: Duration,
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
            idle: Duration::from_secs(30),
            backoff: Duration::from_secs(1),
            pause_max: Duration::from_mins(1),
        }
    }
}

/// The client.
#[derive(Clone)]
pub struct RosterClient {
    timeouts: RosterTimeouts,
}

impl RosterClient {
    /// Creates a client. It connects to public addresses and to these networks; to loopback addresses in them also
    /// without TLS.
    pub fn new(_networks: &[Network], timeouts: RosterTimeouts) -> Result<Self> {
        Ok(Self { timeouts })
    }

    /// Returns whether a URL may be used as the address of a server or of its token endpoint.
    pub fn allows(&self, _url: &str) -> bool {
        false
    }

    /// Reads the roster of a server. `etag` is that of the last roster that was imported completely.
    pub async fn fetch(
        &self,
        _server: &RosterServer,
        _etag: Option<&str>,
        _files: &BlobStore,
    ) -> Result<RosterAnswer, RosterError> {
        tracing::debug!(total = ?self.timeouts.total, "roster client is not implemented");
        Err(RosterError::Unreachable)
    }
}
