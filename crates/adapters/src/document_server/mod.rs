//! The external editing server: tokens both ways, the editor configuration, notices, commands, conversion. It knows
//! addresses and the protocol; it must never decide what a save means or who may open a document.

pub mod client;
pub mod editor;
pub mod notice;
pub mod patience;
pub mod result_path;
pub mod token;

use std::sync::Arc;

use model::document_kind::FileExtension;
use model::id::{DocumentId, RevisionId, SubmissionDocumentId};
use model::save::DocumentKey;
use reqwest::Url;

use self::patience::Patience;
use self::token::Tokens;
use common::error::Result;
use common::settings::Secret;
use common::settings::address::origin_of;

/// Settings of the document server's client.
#[derive(Debug, Clone)]
pub struct DocumentServerSettings {
    /// Signs and verifies tokens.
    pub jwt_secret: Secret,
    /// Header that carries tokens.
    pub jwt_header: String,
    /// Whether other installations use the same document server.
    pub is_shared: bool,
    /// Folder of its results, with a slash at both ends.
    pub results_path: String,
    /// Timeouts.
    pub patience: Patience,
    /// URL for browsers, without a slash at its end.
    pub public_url: Option<String>,
    /// URL for this service, without a slash at its end.
    pub internal_url: Option<String>,
    /// Largest file that is downloaded from it, in bytes.
    pub download_limit: u64,
}

/// The document server as this service knows it; copies are the same one.
#[derive(Clone)]
pub struct DocumentServer(Arc<Parts>);

struct Parts {
    tokens: Tokens,
    http: reqwest::Client,
    /// As browsers reach it.
    public_url: Option<String>,
    /// As this service reaches it.
    internal_url: Option<Url>,
    /// This service as the document server reaches it, without a slash at its end.
    api_internal_url: String,
    /// The name of this installation.
    deployment: String,
    /// Whether document keys begin with that name.
    is_shared: bool,
    /// Its folder of results, with a slash at both ends.
    results_path: String,
    /// The header that carries tokens.
    header: String,
    /// The largest file that is taken from it.
    download_limit: u64,
    patience: Patience,
}

/// Which bytes of a document the document server asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bytes {
    /// The content as it is when asked.
    Current,
    /// One revision, whatever comes after it.
    Revision(RevisionId),
    /// The copy in a submission.
    Copy(SubmissionDocumentId),
    /// The blank template of a kind, also when something was saved meanwhile.
    Blank(FileExtension),
}

impl DocumentServer {
    /// Takes its addresses and secret from the settings. `api_internal_url` is where it reaches this service;
    /// `deployment` is the lasting name of this installation.
    pub fn new(settings: DocumentServerSettings, api_internal_url: &str, deployment: String) -> Result<Self> {
        let address = settings.internal_url.as_deref();
        let internal_url = address
            .map(|address| Url::parse(address).map_err(|error| anyhow::anyhow!("DOCSERVER_INTERNAL_URL: {error}")))
            .transpose()?;
        Ok(Self(Arc::new(Parts {
            tokens: Tokens::new(settings.jwt_secret.expose()),
            http: client::connections()?,
            public_url: settings.public_url,
            internal_url,
            api_internal_url: api_internal_url.trim_end_matches('/').to_owned(),
            deployment,
            is_shared: settings.is_shared,
            results_path: settings.results_path,
            header: settings.jwt_header,
            download_limit: settings.download_limit,
            patience: settings.patience,
        })))
    }

    /// Whether there is one at all.
    pub fn is_configured(&self) -> bool {
        self.0.internal_url.is_some()
    }

    /// How long it is waited for.
    pub fn patience(&self) -> Patience {
        self.0.patience
    }

    /// The header that carries its tokens.
    pub fn header(&self) -> &str {
        &self.0.header
    }

    /// The lasting name of this installation.
    pub fn deployment(&self) -> &str {
        &self.0.deployment
    }

    /// The name under which it knows a session of a document.
    pub fn key(&self, key: &DocumentKey) -> String {
        key.text(self.prefix())
    }

    /// Reads such a name back; one of another installation is none of ours.
    pub fn parse_key(&self, text: &str) -> Option<DocumentKey> {
        DocumentKey::parse(text, self.prefix())
    }

    fn prefix(&self) -> Option<&str> {
        self.0.is_shared.then_some(self.0.deployment.as_str())
    }

    /// Where it fetches bytes of a document; its tokens name this very text.
    pub fn file_url(&self, document: &DocumentId, bytes: &Bytes) -> String {
        let query = match bytes {
            Bytes::Current => String::new(),
            Bytes::Revision(id) => format!("?revision={id}"),
            Bytes::Copy(id) => format!("?copy={id}"),
            Bytes::Blank(extension) => format!("?blank={extension}"),
        };
        self.own_url(document, &format!("file{query}"))
    }

    /// Where it tells us about a document.
    pub fn callback_url(&self, document: &DocumentId) -> String {
        self.own_url(document, "callback")
    }

    fn own_url(&self, document: &DocumentId, rest: &str) -> String {
        format!("{}/api/workrooms/documents/{document}/{rest}", self.0.api_internal_url)
    }

    /// The origin of the address browsers use, which their pages may load scripts and frames from.
    pub fn public_origin(&self) -> Option<String> {
        self.0.public_url.as_deref().and_then(origin_of)
    }
}
