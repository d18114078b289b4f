//! Client for the document server: commands, conversions, health check, and download of results. Requests go only to
//! the configured address, follow no redirect and use no proxy, and have timeouts.

use std::time::Duration;

use domain::id::UserId;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Response, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::DocumentServer;
use super::result_path::ResultPath;
use super::token::Claims;
use common::error::{Error, Result};

/// Connect timeout.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// Read timeout.
const READ_TIMEOUT: Duration = Duration::from_secs(20);
/// Timeout of the health check.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(3);
/// The first and the maximum delay between two polls of a conversion.
const POLL_INTERVALS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));

/// Builds the HTTP client, one for the whole service.
pub(super) fn http_client() -> Result<reqwest::Client> {
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(READ_TIMEOUT)
        // Each request has its own connection: one that is kept may be closed by the document server at the moment it is
        // used again, and the command of a submission would be lost.
        .pool_max_idle_per_host(0)
        .build()
        .map_err(|error| Error::Internal(error.into()))
}

/// The result of a forced save.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForceSaveResult {
    /// The save follows as a callback with the given user data.
    Started,
    /// Nothing has changed since the last save.
    Unchanged,
    /// There is no such session.
    Unknown,
    /// The session is closing; its final save follows.
    Closing,
}

/// The state of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentInfo {
    /// The session has ended or never existed.
    Unknown,
    /// The users who are editing. An empty list means that changes may still have to be saved; older servers return
    /// no list.
    Open(Option<Vec<UserId>>),
}

/// A conversion of a file.
#[derive(Debug, Clone)]
pub struct Conversion {
    /// Identifies source and output. The document server caches results by key, so another result needs another key.
    pub key: String,
    /// The extension of the source.
    pub file_type: &'static str,
    /// The extension of the result.
    pub output_type: &'static str,
    /// The URL from which the document server downloads the source.
    pub url: String,
    /// The title of the result.
    pub title: String,
}

#[derive(Deserialize)]
struct CommandResponse {
    #[serde(default)]
    error: i64,
    #[serde(default)]
    keys: Vec<String>,
    url: Option<String>,
    users: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConversionResponse {
    error: Option<i64>,
    #[serde(default)]
    end_convert: bool,
    file_url: Option<String>,
}

impl DocumentServer {
    /// Requests a save of the current state of a session; the callback contains `nonce`.
    pub async fn force_save(&self, key: &str, nonce: &str) -> Result<ForceSaveResult> {
        let response = self.command("forcesave", key, &[("userdata", nonce.into())]).await?;
        match response.error {
            0 => Ok(ForceSaveResult::Started),
            1 => Ok(ForceSaveResult::Unknown),
            3 => Ok(ForceSaveResult::Closing),
            4 => Ok(ForceSaveResult::Unchanged),
            error => Err(command_error(error)),
        }
    }

    /// Returns the state of the session. The document server also repeats its last callback.
    pub async fn info(&self, key: &str) -> Result<DocumentInfo> {
        let response = self.command("info", key, &[]).await?;
        let users = response.users.map(|users| users.into_iter().map(UserId::new).collect());
        match response.error {
            0 => Ok(DocumentInfo::Open(users)),
            1 => Ok(DocumentInfo::Unknown),
            error => Err(command_error(error)),
        }
    }

    /// Disconnects all users of a session. Browsers comply, other clients may not; the lock does not depend on it.
    pub async fn drop_all_users(&self, key: &str) -> Result<()> {
        match self.command("drop", key, &[]).await?.error {
            0 | 1 => Ok(()),
            error => Err(command_error(error)),
        }
    }

    /// Disconnects some users of a session.
    pub async fn drop_users(&self, key: &str, people: &[UserId]) -> Result<()> {
        match self.command("drop", key, &[("users", json!(people))]).await?.error {
            0 | 1 => Ok(()),
            error => Err(command_error(error)),
        }
    }

    /// Returns the keys of forgotten saves, whose callbacks were never acknowledged.
    pub async fn list_forgotten(&self) -> Result<Vec<String>> {
        let response = self.command("getForgottenList", "", &[]).await?;
        if response.error == 0 {
            Ok(response.keys)
        } else {
            Err(command_error(response.error))
        }
    }

    /// Returns the path of a forgotten save.
    pub async fn get_forgotten(&self, key: &str) -> Result<Option<ResultPath>> {
        let response = self.command("getForgotten", key, &[]).await?;
        match response.error {
            0 => Ok(response.url.as_deref().and_then(|url| self.result_path(url))),
            1 => Ok(None),
            error => Err(command_error(error)),
        }
    }

    /// Deletes a forgotten save on the document server.
    pub async fn delete_forgotten(&self, key: &str) -> Result<()> {
        match self.command("deleteForgotten", key, &[]).await?.error {
            0 | 1 => Ok(()),
            error => Err(command_error(error)),
        }
    }

    /// Converts until the deadline. Returns the path of the result.
    pub async fn convert(&self, conversion: &Conversion, deadline: Instant) -> Result<ResultPath> {
        let claims = object(json!({
            "async": true,
            "filetype": conversion.file_type,
            "key": conversion.key,
            "outputtype": conversion.output_type,
            "title": conversion.title,
            "url": conversion.url,
        }));
        let polling = async {
            let mut pause = POLL_INTERVALS.0;
            loop {
                let response: ConversionResponse = self.post("converter", &conversion.key, claims.clone()).await?;
                if let Some(error) = response.error.filter(|error| *error != 0) {
                    return Err(conversion_error(error));
                }
                if response.end_convert {
                    let result = response.file_url.as_deref().and_then(|url| self.result_path(url));
                    return result
                        .ok_or_else(|| unexpected_response("the result of a conversion has no usable address"));
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(POLL_INTERVALS.1);
            }
        };
        tokio::time::timeout_at(deadline, polling)
            .await
            .map_err(|_| Error::DocumentServerTimeout)?
    }

    /// Starts the download of a result. Checks status and length; the caller counts the bytes.
    pub async fn fetch(&self, result: &ResultPath) -> Result<Response> {
        let url = result.resolve(self.internal_url()?);
        let response = self.0.http.get(url).send().await.map_err(connection_error)?;
        if response.status() != StatusCode::OK {
            return Err(unexpected_response(&format!(
                "a result was answered with {}",
                response.status()
            )));
        }
        let limit = self.0.download_limit;
        if response.content_length().is_some_and(|length| length > limit) {
            return Err(Error::TooLarge { limit_bytes: limit });
        }
        // Results are never HTML, but a proxy may return an error page with status 200.
        let kind = response
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        if kind.is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/html")) {
            return Err(unexpected_response("a result was answered with a web page"));
        }
        Ok(response)
    }

    /// Returns the maximum size of a download in bytes.
    pub fn download_limit(&self) -> u64 {
        self.0.download_limit
    }

    /// Returns the result of the health check; `None` if no document server is configured. The status is always 200,
    /// so the body is checked.
    pub async fn is_healthy(&self) -> Option<bool> {
        let mut url = self.0.internal_url.clone()?;
        let path = format!("{}/healthcheck", url.path().trim_end_matches('/'));
        url.set_path(&path);
        let health = async {
            let response = self
                .0
                .http
                .get(url)
                .timeout(HEALTH_TIMEOUT)
                .send()
                .await?
                .error_for_status()?;
            response.text().await
        };
        Some(health.await.is_ok_and(|body| body.trim() == "true"))
    }

    async fn command(&self, name: &str, key: &str, more: &[(&str, Value)]) -> Result<CommandResponse> {
        let mut claims = object(json!({ "c": name }));
        if !key.is_empty() {
            claims.insert("key".to_owned(), key.into());
        }
        claims.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        self.post("command", key, claims).await
    }

    /// Posts signed parameters. In a cluster, the shard key routes a session to one node; a single server ignores it.
    async fn post<T: DeserializeOwned>(&self, what: &str, key: &str, claims: Claims) -> Result<T> {
        let mut url = self.internal_url()?.clone();
        let path = format!("{}/{what}", url.path().trim_end_matches('/'));
        url.set_path(&path);
        if !key.is_empty() {
            url.query_pairs_mut().append_pair("shardkey", key);
        }
        let body = json!({ "token": self.sign_command(claims)? });
        let request = self.0.http.post(url).json(&body).header("accept", "application/json");
        let request = request.timeout(self.0.timeouts.command());
        let response = request.send().await.map_err(connection_error)?;
        if response.status() != StatusCode::OK {
            return Err(unexpected_response(&format!(
                "{what} was answered with {}",
                response.status()
            )));
        }
        let bytes = response.bytes().await.map_err(connection_error)?;
        serde_json::from_slice(&bytes).map_err(|_| {
            let is_xml = bytes.trim_ascii_start().first() == Some(&b'<');
            let why = if is_xml {
                "XML: the document server is too old"
            } else {
                "something else"
            };
            unexpected_response(&format!("{what} was answered with {why}"))
        })
    }

    fn internal_url(&self) -> Result<&reqwest::Url> {
        let url = self.0.internal_url.as_ref();
        url.ok_or_else(|| Error::DocumentServer("none is configured (DOCSERVER_URL)".to_owned()))
    }
}

fn object(value: Value) -> Claims {
    match value {
        Value::Object(object) => object,
        _ => Claims::new(),
    }
}

/// Converts a network error. Its text may contain internal addresses, so it is logged and not returned to clients.
pub fn connection_error(error: reqwest::Error) -> Error {
    // The URL of a result contains a signature that grants access.
    let error = error.without_url();
    tracing::warn!(%error, "document server connection failed");
    if error.is_timeout() && !error.is_connect() {
        Error::DocumentServerTimeout
    } else {
        Error::DocumentServer("it cannot be reached".to_owned())
    }
}

fn unexpected_response(what: &str) -> Error {
    tracing::warn!(what, "document server returned an unexpected response");
    Error::DocumentServer(what.to_owned())
}

fn command_error(error: i64) -> Error {
    let why = match error {
        2 => "the callback address is wrong",
        3 => "it failed inside",
        5 => "it does not know this command",
        6 | 7 => "it refuses our token; compare DOCSERVER_JWT_SECRET and the clocks",
        _ => "a command failed",
    };
    unexpected_response(&format!("{why} ({error})"))
}

/// The code of a conversion whose source the document server could not fetch.
pub const SOURCE_UNREACHABLE: &str = "source_unreachable";

/// Maps each conversion error to its own code, because users decide by it what to do.
fn conversion_error(error: i64) -> Error {
    let (code, message) = match error {
        -2 => return Error::DocumentServerTimeout,
        -3 => ("conversion_failed", "the document could not be converted"),
        -4 => (
            SOURCE_UNREACHABLE,
            "it cannot fetch the document from this service; compare API_INTERNAL_URL",
        ),
        -5 => ("password", "the document is protected with a password"),
        -6 => ("result_lost", "its database lost the result"),
        -7 => ("bad_request", "it refuses the request"),
        -8 => (
            "token",
            "it refuses our token; compare DOCSERVER_JWT_SECRET and the clocks",
        ),
        -9 => ("unknown_format", "it does not know this kind of file"),
        -10 => ("too_large", "the document is too large for it"),
        _ => ("unknown", "the conversion failed"),
    };
    tracing::warn!(error, code, "document conversion failed");
    Error::DocumentServerFault { code, message }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    use super::http_client;

    /// Sends one response, and closes the connection when a second request arrives on it.
    async fn serve_once(mut stream: TcpStream) {
        let mut buffer = [0; 4096];
        assert_ne!(stream.read(&mut buffer).await.unwrap(), 0);
        let response = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ntrue";
        stream.write_all(response).await.unwrap();
        drop(stream.read(&mut buffer).await);
    }

    #[tokio::test]
    async fn server_that_closes_unused_connections_loses_no_request() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/command", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve_once(stream));
            }
        });
        let http = http_client().unwrap();
        for _ in 0..3 {
            let response = http.post(&url).body("{}").send().await.unwrap();
            assert_eq!(response.text().await.unwrap(), "true");
        }
        serving.abort();
    }
}
