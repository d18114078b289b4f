//! Roster servers of this installation: encrypts their secrets and reads their rosters. Requests run outside of
//! transactions; the steps inside are in `actions::rosters`, and a whole run is in `jobs::roster_run`.

use std::sync::Arc;

use domain::id::RosterSourceId;
use domain::roster_source::RosterSource;

use adapters::blob_store::BlobStore;
use adapters::roster::{FetchedRoster, RosterAnswer, RosterClient, RosterError, RosterServer, RosterTimeouts};
use common::encryptor::Encryptor;
use common::error::{Error, Result};
use common::settings::Secret;
use db::Store;
use db::platform::{CrossTenantReason, PlatformTx};

/// Roster servers; clones share the client.
#[derive(Clone)]
pub struct Rosters {
    client: RosterClient,
    encryptor: Arc<Encryptor>,
}

impl Rosters {
    pub fn new(client: RosterClient, encryptor: Encryptor) -> Self {
        Self {
            client,
            encryptor: Arc::new(encryptor),
        }
    }

    /// Returns whether a URL may be used as the address of a server.
    pub fn allows(&self, url: &str) -> bool {
        self.client.allows(url)
    }

    /// Encrypts the client secret of a source.
    pub fn encrypt(&self, source: &RosterSourceId, secret: &str) -> Result<String> {
        self.encryptor.encrypt(source.as_str(), secret)
    }

    /// Reads the roster of a source; `None` if it is unchanged since `etag`.
    pub async fn fetch(
        &self,
        source: &RosterSource,
        etag: Option<&str>,
        files: &BlobStore,
    ) -> Result<Option<FetchedRoster>, FetchFailure> {
        let server = self.server(source)?;
        match self.client.fetch(&server, etag, files).await? {
            RosterAnswer::Unchanged => Ok(None),
            RosterAnswer::Changed(roster) => Ok(Some(roster)),
        }
    }

    /// Reads the roster of a source for an administrator who waits for the result.
    pub async fn test(&self, source: &RosterSource, files: &BlobStore) -> Result<FetchedRoster, FetchFailure> {
        let server = self.server(source)?;
        let client = self.client.with_timeouts(RosterTimeouts::INTERACTIVE);
        match client.fetch(&server, None, files).await? {
            RosterAnswer::Changed(roster) => Ok(roster),
            RosterAnswer::Unchanged => Err(RosterError::ErrorResponse {
                resource: "the roster",
                status: 304,
            }
            .into()),
        }
    }

    /// Encrypts the client secrets of all sources with the current secret of the installation. Called when the service
    /// starts while the secret is replaced, because these secrets outlive the earlier one.
    pub async fn reencrypt_secrets(&self, store: &Store) -> Result<()> {
        let encryptor = Arc::clone(&self.encryptor);
        let reencrypt = move |platform: &mut PlatformTx<'_>| {
            for (id, sealed) in platform.roster_secrets()? {
                let Some(secret) = encryptor.decrypt(id.as_str(), &sealed) else {
                    tracing::warn!(source_id = %id, "client secret of roster source cannot be decrypted");
                    continue;
                };
                platform.replace_roster_secret(&id, &sealed, &encryptor.encrypt(id.as_str(), &secret)?)?;
            }
            Ok(())
        };
        store.platform_write(CrossTenantReason::Housekeeping, reencrypt).await
    }

    fn server(&self, source: &RosterSource) -> Result<RosterServer, FetchFailure> {
        let secret = self.encryptor.decrypt(source.id.as_str(), &source.client_secret);
        let client_secret = secret.ok_or(FetchFailure {
            code: "secret_unreadable",
            text: "AUTH_SECRET was replaced; enter the client secret again.".to_owned(),
        })?;
        let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        Ok(RosterServer {
            protocol: source.protocol,
            url: source.url.clone(),
            token_url: source.token_url.clone(),
            client_id: source.client_id.clone(),
            client_secret: Secret::new(client_secret),
            scope: text(&source.scope),
            school_id: text(&source.school_id),
        })
    }
}

/// Why a roster could not be read: a stable code and a sentence for administrators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchFailure {
    pub code: &'static str,
    pub text: String,
}

impl From<RosterError> for FetchFailure {
    fn from(error: RosterError) -> Self {
        if let RosterError::Internal(cause) = &error {
            tracing::error!(error = format!("{cause:?}"), "roster not stored");
            return Self {
                code: error.code(),
                text: "The roster could not be stored by this service.".to_owned(),
            };
        }
        let sentence = error.to_string();
        let mut mails = sentence.chars();
        let first = mails.next().map(|first| first.to_ascii_uppercase());
        Self {
            code: error.code(),
            text: first.into_iter().chain(mails).chain(['.']).collect(),
        }
    }
}

impl From<FetchFailure> for Error {
    fn from(failure: FetchFailure) -> Self {
        Self::RosterFailed {
            code: failure.code,
            message: failure.text,
        }
    }
}
