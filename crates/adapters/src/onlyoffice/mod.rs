//! Client for the external document server: tokens in both directions, editor configuration, callbacks, commands,
//! conversion. It knows addresses and the protocol, but does not decide what a save means or who may open a document.

pub mod callback;
pub mod client;
pub mod editor;
pub mod result_path;
pub mod timeouts;
pub mod token;

use std::sync::Arc;

use domain::document::Document;
use domain::document_kind::{EditorKind, FileExtension};
use domain::id::{ConversionSourceId, DocumentId, RevisionId, SubmissionDocumentId};
use domain::save::DocumentKey;
use reqwest::Url;

use self::timeouts::DocumentServerTimeouts;
use self::token::TokenSigner;
use common::error::Result;
use common::settings::RotatedSecret;

/// Settings of the document server's client.
#[derive(Debug, Clone)]
pub struct DocumentServerSettings {
    /// Signs and verifies tokens.
    pub jwt_secret: RotatedSecret,
    /// Header that carries tokens.
    pub jwt_header: String,
    /// Whether other installations use the same document server.
    pub is_shared: bool,
    /// Folder of its results, with a slash at both ends.
    pub results_path: String,
    /// Timeouts.
    pub timeouts: DocumentServerTimeouts,
    /// URL for browsers, without a slash at its end.
    pub public_url: Option<String>,
    /// URL for this service, without a slash at its end.
    pub internal_url: Option<String>,
    /// Largest file that is downloaded from it, in bytes.
    pub download_limit: u64,
    /// The editor of text documents; without one it depends on whether there is a document server.
    pub text_editor: Option<EditorKind>,
}

/// A handle to the document server. Clones share the same state.
#[derive(Clone)]
pub struct DocumentServer(Arc<DocumentServerInner>);

struct DocumentServerInner {
    tokens: TokenSigner,
    http: reqwest::Client,
    /// The URL for browsers.
    public_url: Option<String>,
    /// The URL for this service.
    internal_url: Option<Url>,
    /// The URL of this service for the document server, without a trailing slash.
    api_internal_url: String,
    /// The id of this installation.
    deployment: String,
    /// Whether document keys are prefixed with that id, because several installations share the document server.
    is_shared: bool,
    /// The path of its result folder, with leading and trailing slash.
    results_path: String,
    /// The HTTP header for tokens.
    header: String,
    /// The maximum size of a download in bytes.
    download_limit: u64,
    timeouts: DocumentServerTimeouts,
    /// The editor of text documents.
    text_editor: EditorKind,
}

/// The content of a document that the document server requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileVersion {
    /// The current content at the time of the request.
    Current,
    /// A specific revision.
    Revision(RevisionId),
    /// The copy in a submission.
    Copy(SubmissionDocumentId),
    /// The blank template of a file type, even if something was saved in the meantime.
    Blank(FileExtension),
}

impl DocumentServer {
    /// Reads addresses and secret from the settings. `api_internal_url` is the URL of this service for the document
    /// server; `deployment` is the permanent id of this installation.
    pub fn new(settings: DocumentServerSettings, api_internal_url: &str, deployment: String) -> Result<Self> {
        let address = settings.internal_url.as_deref();
        let internal_url = address
            .map(|address| Url::parse(address).map_err(|error| anyhow::anyhow!("DOCSERVER_INTERNAL_URL: {error}")))
            .transpose()?;
        let default_editor = if internal_url.is_some() {
            EditorKind::OnlyOffice
        } else {
            EditorKind::Builtin
        };
        Ok(Self(Arc::new(DocumentServerInner {
            text_editor: settings.text_editor.unwrap_or(default_editor),
            tokens: TokenSigner::new(&settings.jwt_secret),
            http: client::http_client()?,
            public_url: settings.public_url,
            internal_url,
            api_internal_url: api_internal_url.trim_end_matches('/').to_owned(),
            deployment,
            is_shared: settings.is_shared,
            results_path: settings.results_path,
            header: settings.jwt_header,
            download_limit: settings.download_limit,
            timeouts: settings.timeouts,
        })))
    }

    /// Returns whether a document server is configured.
    pub fn is_configured(&self) -> bool {
        self.0.internal_url.is_some()
    }

    /// Returns the editor in which a document opens. The document server has one for every type, if there is a document
    /// server.
    pub fn editor_kind(&self, document: &Document) -> EditorKind {
        self.editor_of(document.file_extension)
    }

    /// Returns the editor of a file type.
    pub fn editor_of(&self, extension: FileExtension) -> EditorKind {
        if extension == FileExtension::Docx {
            self.0.text_editor
        } else {
            EditorKind::OnlyOffice
        }
    }

    /// Returns whether a document can be edited in the browser.
    pub fn has_editor(&self, document: &Document) -> bool {
        self.is_configured() || self.editor_kind(document) == EditorKind::Builtin
    }

    /// Returns the timeouts.
    pub fn timeouts(&self) -> DocumentServerTimeouts {
        self.0.timeouts
    }

    /// Returns the name of the HTTP header for tokens.
    pub fn header(&self) -> &str {
        &self.0.header
    }

    /// Returns the permanent id of this installation.
    pub fn deployment(&self) -> &str {
        &self.0.deployment
    }

    /// Formats a document key as the document server sees it.
    pub fn key(&self, key: &DocumentKey) -> String {
        key.text(self.prefix())
    }

    /// Parses a document key; `None` if it belongs to another installation.
    pub fn parse_key(&self, text: &str) -> Option<DocumentKey> {
        DocumentKey::parse(text, self.prefix())
    }

    fn prefix(&self) -> Option<&str> {
        self.0.is_shared.then_some(self.0.deployment.as_str())
    }

    /// Returns the URL from which the document server downloads a document. Its tokens contain exactly this string.
    pub fn file_url(&self, document: &DocumentId, bytes: &FileVersion) -> String {
        let query = match bytes {
            FileVersion::Current => String::new(),
            FileVersion::Revision(id) => format!("?revision={id}"),
            FileVersion::Copy(id) => format!("?copy={id}"),
            FileVersion::Blank(extension) => format!("?blank={extension}"),
        };
        self.api_url(document, &format!("file{query}"))
    }

    /// Returns the URL from which the document server downloads an uploaded file for a conversion.
    pub fn source_url(&self, source: &ConversionSourceId) -> String {
        format!("{}/api/workrooms/uploads/{source}/file", self.0.api_internal_url)
    }

    /// Returns the callback URL of a document.
    pub fn callback_url(&self, document: &DocumentId) -> String {
        self.api_url(document, "callback")
    }

    fn api_url(&self, document: &DocumentId, rest: &str) -> String {
        format!("{}/api/workrooms/documents/{document}/{rest}", self.0.api_internal_url)
    }
}
