//! Stores result files and serves them under signed URLs that expire, with the injected faults. The signature covers
//! path and expiry, not the host.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use axum::{
    body::Body,
    extract::{Query, State},
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header},
    response::{Html, IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::{clock, faults::DownloadFault, settings::SimulatorSettings, simulator::Simulator};

/// Result files by path.
#[derive(Default)]
pub(crate) struct ResultFiles {
    files: Mutex<HashMap<String, Bytes>>,
}

impl ResultFiles {
    /// Stores a file and returns its path, from which URLs are made.
    pub(crate) fn put(&self, folder: &str, name: &str, bytes: Bytes) -> String {
        let path = format!("/cache/files/{folder}/{name}/{name}");
        self.lock().insert(path.clone(), bytes);
        path
    }

    /// Returns a folder for the next result of a session that no stored result uses.
    pub(crate) fn find_unused_folder(&self, key: &str) -> String {
        let files = self.lock();
        loop {
            let folder = format!("data/{key}_{:04}", rand::random_range(0..10_000));
            let inside = format!("/cache/files/{folder}/");
            if !files.keys().any(|path| path.starts_with(&inside)) {
                return folder;
            }
        }
    }

    fn get(&self, path: &str) -> Option<Bytes> {
        self.lock().get(path).cloned()
    }

    pub(crate) fn remove(&self, path: &str) {
        self.lock().remove(path);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Bytes>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a signed URL of a result file, valid for the link lifetime of the settings.
pub(crate) fn signed_url(simulator: &Simulator, path: &str, origin: &str, download_name: &str) -> String {
    let settings = simulator.settings();
    let origin = simulator
        .faults()
        .get()
        .foreign_host
        .map_or_else(|| origin.to_owned(), |host| format!("http://{host}"));
    let expires = clock::now_seconds() + settings.link_lifetime.as_secs();
    let signature = signature(&settings.secret, path, expires);
    let name = utf8_percent_encode(download_name, NON_ALPHANUMERIC);
    format!("{origin}{path}?md5={signature}&expires={expires}&filename={name}")
}

/// The query parameter is named `md5`; the value here is half of a SHA-256, which clients cannot distinguish.
fn signature(secret: &str, path: &str, expires: u64) -> String {
    let digest = Sha256::digest(format!("{expires}{path}{secret}"));
    let (half, _) = digest.split_at(16);
    format!(
        "{:032x}",
        u128::from_be_bytes(half.try_into().expect("half of 32 bytes"))
    )
}

/// Returns the base URL of the simulator as seen by the caller. A forwarded host takes precedence, as measured on the
/// real server.
pub(crate) fn caller_origin(settings: &SimulatorSettings, headers: &HeaderMap) -> String {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let scheme = text("x-forwarded-proto").unwrap_or("http");
    if let Some(host) = text("x-forwarded-host") {
        return format!("{scheme}://{host}");
    }
    match &settings.public_url {
        Some(url) => url.trim_end_matches('/').to_owned(),
        None => format!("{scheme}://{}", text("host").unwrap_or("localhost")),
    }
}

#[derive(Deserialize)]
pub(crate) struct LinkQuery {
    #[serde(default)]
    md5: String,
    #[serde(default)]
    expires: u64,
    #[serde(default)]
    filename: String,
}

/// `GET /cache/files/…`.
pub(crate) async fn serve(State(simulator): State<Simulator>, uri: Uri, Query(query): Query<LinkQuery>) -> Response {
    let path = percent_decode_str(uri.path()).decode_utf8_lossy().into_owned();
    let fault = simulator.faults().take_download();
    let response = if signature(&simulator.settings().secret, &path, query.expires) != query.md5 {
        StatusCode::FORBIDDEN.into_response()
    } else if clock::now_seconds() >= query.expires {
        StatusCode::GONE.into_response()
    } else {
        match simulator.results().get(&path) {
            None => StatusCode::NOT_FOUND.into_response(),
            Some(bytes) => apply_fault(bytes, &query.filename, fault).await,
        }
    };
    let status = i64::from(response.status().as_u16());
    simulator
        .request_log()
        .push_request("result", json!(uri.to_string()), status);
    response
}

async fn apply_fault(bytes: Bytes, name: &str, fault: Option<DownloadFault>) -> Response {
    match fault {
        None => attachment(bytes.into(), name),
        Some(DownloadFault::Slow(milliseconds)) => {
            tokio::time::sleep(Duration::from_millis(milliseconds)).await;
            attachment(bytes.into(), name)
        }
        Some(DownloadFault::Truncated) => {
            let whole = bytes.len();
            let half = bytes.slice(..whole / 2);
            let mut response = attachment(truncated_body(half), name);
            response.headers_mut().insert(header::CONTENT_LENGTH, whole.into());
            response
        }
        Some(DownloadFault::Html) => Html("<!doctype html><title>Sign in</title><p>Welcome.").into_response(),
        Some(DownloadFault::Status(302)) => (StatusCode::FOUND, [(header::LOCATION, "/healthcheck")]).into_response(),
        Some(DownloadFault::Status(status)) => StatusCode::from_u16(status)
            .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
            .into_response(),
        Some(DownloadFault::Oversized(size)) => attachment(padded_body(bytes, size), name),
        Some(DownloadFault::Endless) => attachment(padded_body(bytes, u64::MAX), name),
    }
}

/// Sends the bytes, then closes the connection before the announced length.
fn truncated_body(half: Bytes) -> Body {
    let end = stream::once(async {
        // Waits until the bytes are sent; an immediate error would discard them.
        tokio::time::sleep(Duration::from_millis(30)).await;
        Err(std::io::Error::other("the connection is cut on purpose"))
    });
    Body::from_stream(stream::iter([Ok(half)]).chain(end))
}

/// Sends the bytes, followed by zeros up to the size.
fn padded_body(bytes: Bytes, size: u64) -> Body {
    static ZEROS: Bytes = Bytes::from_static(&[0; 64 * 1024]);
    let missing = size.saturating_sub(bytes.len() as u64);
    let tail = stream::unfold(missing, |missing| async move {
        let step = missing.min(ZEROS.len() as u64);
        let chunk = ZEROS.slice(..usize::try_from(step).expect("at most one block"));
        // Yields to other tasks: this stream never awaits anything else.
        tokio::task::yield_now().await;
        (step > 0).then(|| (Ok::<_, std::io::Error>(chunk), missing - step))
    });
    Body::from_stream(stream::iter([Ok(bytes)]).chain(tail))
}

fn attachment(body: Body, name: &str) -> Response {
    let name = utf8_percent_encode(name, NON_ALPHANUMERIC);
    let disposition = HeaderValue::from_str(&format!("attachment; filename*=UTF-8''{name}"))
        .expect("percent-encoded text is plain ASCII");
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_DISPOSITION, disposition);
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/octet-stream"),
    );
    response
}
