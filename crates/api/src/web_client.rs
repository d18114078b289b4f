//! The web client embedded in this binary: its page for every path outside `/api`, and its assets, compressed as the
//! browser accepts. Without a built client there is one page that explains how to build it.

use std::fmt::Write as _;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use rust_embed::{EmbeddedFile, RustEmbed};

use super::context::App;
use common::error::{Error, Result};

/// The output of `npm run build`; empty if it was never run, which is not an error of the server.
#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct EmbeddedClient;

/// The page for every path of the client.
const PAGE: &str = "index.html";
/// Assets with a content hash in their name.
const HASHED: &str = "assets/";
/// Encodings and file suffixes of precompressed assets, best first.
const PRECOMPRESSED: [(&str, &str); 2] = [("br", ".br"), ("gzip", ".gz")];

/// Serves a request outside `/api`: an asset of the client, or its page.
pub async fn client(request: Request) -> Result<Response> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Err(Error::NotFound);
    }
    let path = request.uri().path().trim_start_matches('/');
    if path == "api" || path.starts_with("api/") {
        return Err(Error::NotFound);
    }
    let is_page = path == PAGE || !path.rsplit('/').next().unwrap_or_default().contains('.');
    if is_page && EmbeddedClient::get(PAGE).is_none() {
        return Ok(welcome());
    }
    let name = if is_page { PAGE } else { path };
    let file = EmbeddedClient::get(name)
        .filter(|_| !is_precompressed(name))
        .ok_or(Error::NotFound)?;
    let mut response = part(name, file, request.headers());
    if is_page {
        let app = request
            .extensions()
            .get::<App>()
            .expect("layers.rs puts the app into every request");
        let policy = policy(app.settings().docserver_url.as_deref());
        let policy = HeaderValue::try_from(policy).map_err(|error| Error::Internal(error.into()))?;
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    Ok(response)
}

/// A page that explains how to build the client.
fn welcome() -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, Html(include_str!("welcome.html"))).into_response()
}

/// Whether this is a precompressed variant, which is only served instead of the original.
fn is_precompressed(name: &str) -> bool {
    PRECOMPRESSED.iter().any(|(_, suffix)| name.ends_with(suffix))
}

/// Serves an asset in the best encoding that the browser accepts.
fn part(name: &str, file: EmbeddedFile, request_headers: &HeaderMap) -> Response {
    let tag = tag_of(&file);
    let age = if name.starts_with(HASHED) {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let fields = [
        (header::CACHE_CONTROL, age.to_owned()),
        (header::ETAG, tag.clone()),
        (header::VARY, "accept-encoding".to_owned()),
    ];
    let known = request_headers
        .get(header::IF_NONE_MATCH)
        .and_then(|value| value.to_str().ok());
    if known.is_some_and(|known| known.split(',').any(|one| one.trim().trim_start_matches("W/") == tag)) {
        return (StatusCode::NOT_MODIFIED, fields).into_response();
    }
    let media = mime_guess::from_path(name).first_or_octet_stream();
    let media = if media.type_() == "text" {
        format!("{media}; charset=utf-8")
    } else {
        media.to_string()
    };
    let accepted = request_headers
        .get(header::ACCEPT_ENCODING)
        .and_then(|value| value.to_str().ok());
    let precompressed = PRECOMPRESSED.into_iter().find_map(|(encoding, suffix)| {
        let is_accepted = accepted.is_some_and(|accepted| accepts_encoding(accepted, encoding));
        let file = is_accepted.then(|| EmbeddedClient::get(&format!("{name}{suffix}")))??;
        Some((encoding, file))
    });
    let kind = [(header::CONTENT_TYPE, media)];
    match precompressed {
        Some((encoding, precompressed)) => {
            let encoded = [(header::CONTENT_ENCODING, encoding)];
            (fields, kind, encoded, precompressed.data.into_owned()).into_response()
        }
        None => (fields, kind, file.data.into_owned()).into_response(),
    }
}

/// Whether a browser accepts an encoding: it is listed, and not with weight zero.
pub(super) fn accepts_encoding(accepted: &str, encoding: &str) -> bool {
    accepted.split(',').any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let is_named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(encoding));
        is_named && !parts.any(|weight| matches!(weight, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

/// The entity tag of the content. All encodings share it, as with a weak tag.
fn tag_of(file: &EmbeddedFile) -> String {
    let mut tag = String::from("\"");
    for byte in &file.metadata.sha256_hash()[..16] {
        let _ = write!(tag, "{byte:02x}");
    }
    tag.push('"');
    tag
}

/// The content security policy of the page: its own files, and scripts and frames of the document server. Widgets write
/// inline styles; no other inline content is allowed.
fn policy(document_server: Option<&str>) -> String {
    let docs = document_server
        .and_then(common::settings::address::origin_of)
        .unwrap_or_default();
    format!(
        "default-src 'self'; script-src 'self' {docs}; frame-src 'self' {docs}; style-src 'self' 'unsafe-inline'; \
         img-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'self'; \
         form-action 'self'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policy_lets_pages_load_pictures_of_this_host_only() {
        assert!(policy(None).contains("img-src 'self' data:;"));
    }

    #[test]
    fn encoding_is_used_if_named_with_nonzero_quality() {
        assert!(accepts_encoding("gzip, deflate, br", "br"));
        assert!(accepts_encoding("BR;q=0.5", "br"));
        assert!(!accepts_encoding("gzip, br;q=0", "br"));
        assert!(!accepts_encoding("brotli", "br"));
    }

    #[test]
    fn page_policy_allows_editor_scripts_only() {
        let policy = policy(Some("https://docs.school.example/office"));
        assert!(
            policy.contains("script-src 'self' https://docs.school.example;"),
            "{policy}"
        );
        assert!(!policy.contains("script-src 'self' 'unsafe"), "{policy}");
    }
}
