//! Downloads: streamed, with ranges, safe file names, and headers that prevent display within a page.

use std::ops::Range;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use domain::error_code::ErrorCode;
use domain::file::{FileKey, StoredFile};
use domain::text::FileName;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tokio_util::io::ReaderStream;
use utoipa::ToSchema;

use super::response::ErrorReply;
use adapters::blob_store::BlobStore;
use adapters::blob_store::zip_stream::ByteStream;
use common::error::{Error, Result};

/// Characters that RFC 8187 allows without encoding.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'!')
    .remove(b'#')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b'-')
    .remove(b'.')
    .remove(b'^')
    .remove(b'_')
    .remove(b'`')
    .remove(b'|')
    .remove(b'~');
/// Bytes per read from disk.
const CHUNK: usize = 64 * 1024;

/// The schema of file contents in the OpenAPI document. The media type is that of the file.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
pub struct FileBytes(());

/// A file to download.
#[derive(Debug, Clone)]
pub struct Download {
    /// The file name for the client.
    pub name: FileName,
    /// The media type derived from the extension, never the one that the uploader sent.
    pub mime: String,
    /// SHA-256 of the content, in hexadecimal.
    pub sha256: String,
    pub content: Content,
}

/// Where the bytes of a download are.
#[derive(Debug, Clone)]
pub enum Content {
    /// A stored file, with the size recorded in its row.
    File(FileKey, i64),
    /// Bytes embedded in the binary.
    Embedded(&'static [u8]),
    /// Bytes that were read from a part of a file.
    Part(Bytes),
}

impl From<StoredFile> for Download {
    fn from(file: StoredFile) -> Self {
        Self {
            name: file.file_name,
            mime: file.mime_type,
            sha256: file.sha256,
            content: Content::File(file.key, file.size),
        }
    }
}

/// The response to a download: the whole file, one range (206), not modified (304) or range not satisfiable (416).
pub async fn download(files: &BlobStore, request_headers: &HeaderMap, file: Download) -> Result<Response> {
    let tag = format!("\"{}\"", file.sha256);
    let mut headers = response_headers(&file, &tag);
    if matches(request_headers, &header::IF_NONE_MATCH, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    let opened = match &file.content {
        Content::File(key, size) => {
            let opened = files.open(key).await?;
            if i64::try_from(opened.size()) != Ok(*size) {
                return Err(Error::Internal(anyhow::anyhow!(
                    "{key} has {} bytes instead of {size}",
                    opened.size()
                )));
            }
            Some(opened)
        }
        Content::Embedded(_) | Content::Part(_) => None,
    };
    let size = match &file.content {
        Content::File(..) => opened.as_ref().map_or(0, adapters::blob_store::OpenBlob::size),
        Content::Embedded(bytes) => bytes.len() as u64,
        Content::Part(bytes) => bytes.len() as u64,
    };
    // A range of another version than the client has must not be combined with it.
    let in_parts = request_headers
        .get(header::IF_RANGE)
        .is_none_or(|requested_range| requested_range.as_bytes() == tag.as_bytes());
    let (status, range) = match requested_range(request_headers).filter(|_| in_parts) {
        None => (StatusCode::OK, 0..size),
        Some(RequestedRange::Nothing) => return Ok(range_not_satisfiable(size)),
        Some(requested_range) => match requested_range.within(size) {
            None => return Ok(range_not_satisfiable(size)),
            Some(range) => {
                let text = format!("bytes {}-{}/{size}", range.start, range.end - 1);
                insert(&mut headers, header::CONTENT_RANGE, &text);
                (StatusCode::PARTIAL_CONTENT, range)
            }
        },
    };
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(range.end - range.start));
    let body = match (opened, file.content) {
        (Some(opened), _) if status == StatusCode::OK => Body::from_stream(opened.read_verified(&file.sha256).await?),
        (Some(opened), _) => Body::from_stream(ReaderStream::with_capacity(opened.read(range).await?, CHUNK)),
        (None, Content::Embedded(bytes)) => Body::from(part(&Bytes::from_static(bytes), &range)),
        (None, Content::Part(bytes)) => Body::from(part(&bytes, &range)),
        (None, Content::File(..)) => Body::empty(),
    };
    Ok((status, headers, body).into_response())
}

/// The response with an archive that is generated while it is streamed.
pub fn archive(name: &FileName, pieces: ByteStream) -> Response {
    let mut headers = HeaderMap::new();
    insert(&mut headers, header::CONTENT_TYPE, "application/zip");
    insert(&mut headers, header::CONTENT_DISPOSITION, &disposition(name.as_str()));
    insert(&mut headers, header::CACHE_CONTROL, "no-store");
    insert(&mut headers, header::CONTENT_SECURITY_POLICY, "sandbox");
    insert(&mut headers, header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    (headers, Body::from_stream(pieces)).into_response()
}

fn part(bytes: &Bytes, range: &Range<u64>) -> Bytes {
    let index = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
    bytes.slice(index(range.start)..index(range.end))
}

/// The headers of a download. They prevent that the file is displayed within a page.
fn response_headers(file: &Download, tag: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    insert(&mut headers, header::CONTENT_TYPE, &file.mime);
    insert(
        &mut headers,
        header::CONTENT_DISPOSITION,
        &disposition(file.name.as_str()),
    );
    insert(&mut headers, header::ETAG, tag);
    insert(&mut headers, header::ACCEPT_RANGES, "bytes");
    // The entity tag allows resuming downloads. `no-store` leaves nothing behind on a shared computer.
    insert(&mut headers, header::CACHE_CONTROL, "no-store");
    insert(&mut headers, header::CONTENT_SECURITY_POLICY, "sandbox");
    insert(&mut headers, header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    headers
}

fn insert(headers: &mut HeaderMap, name: HeaderName, text: &str) {
    if let Ok(value) = HeaderValue::from_str(text) {
        headers.insert(name, value);
    }
}

/// `attachment` with the file name twice: in ASCII for old clients, in UTF-8 for others.
pub fn disposition(name: &str) -> String {
    let plain = |character: char| match character {
        '"' | '\\' | '%' => '_',
        character if character == ' ' || character.is_ascii_graphic() => character,
        _ => '_',
    };
    let ascii: String = name.chars().map(plain).collect();
    format!(
        "attachment; filename=\"{ascii}\"; filename*=UTF-8''{}",
        utf8_percent_encode(name, PLAIN)
    )
}

/// Whether a list of entity tags contains this one. Uses weak comparison, as `If-None-Match` requires.
fn matches(request_headers: &HeaderMap, name: &HeaderName, tag: &str) -> bool {
    request_headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|list| list.split(','))
        .any(|listed| {
            let listed = listed.trim();
            listed == "*" || listed.strip_prefix("W/").unwrap_or(listed) == tag
        })
}

/// The requested range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestedRange {
    /// First and last byte, both inclusive, or to the end.
    From(u64, Option<u64>),
    /// A number of bytes at the end.
    Last(u64),
    /// An unsatisfiable range.
    Nothing,
}

/// Parses a single byte range. Several ranges and unknown units are ignored, as RFC 9110, section 14.2 allows.
fn requested_range(request_headers: &HeaderMap) -> Option<RequestedRange> {
    let text = request_headers.get(header::RANGE)?.to_str().ok()?.trim();
    let (unit, set) = text.split_once('=')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") || set.contains(',') {
        return None;
    }
    let number = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_digit())
            .then(|| text.parse::<u64>().ok())
            .flatten()
    };
    Some(match set.trim().split_once('-') {
        Some(("", last)) => number(last).map_or(RequestedRange::Nothing, RequestedRange::Last),
        Some((first, "")) => number(first).map_or(RequestedRange::Nothing, |first| RequestedRange::From(first, None)),
        Some((first, last)) => match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => RequestedRange::From(first, Some(last)),
            _ => RequestedRange::Nothing,
        },
        None => RequestedRange::Nothing,
    })
}

impl RequestedRange {
    /// The range within a file of this size, if satisfiable.
    fn within(self, size: u64) -> Option<Range<u64>> {
        match self {
            Self::From(first, last) => {
                (first < size).then(|| first..last.map_or(size, |last| last.saturating_add(1).min(size)))
            }
            Self::Last(count) => (count > 0 && size > 0).then(|| size.saturating_sub(count)..size),
            Self::Nothing => None,
        }
    }
}

fn range_not_satisfiable(size: u64) -> Response {
    let mut response = StatusCode::RANGE_NOT_SATISFIABLE.into_response();
    insert(
        response.headers_mut(),
        header::CONTENT_RANGE,
        &format!("bytes */{size}"),
    );
    response.extensions_mut().insert(ErrorReply {
        code: ErrorCode::RangeNotSatisfiable.as_str(),
        message: "The file has no such part.".to_owned(),
        details: Vec::new(),
        current: None,
    });
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request_headers(range: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(header::RANGE, HeaderValue::from_static(range))])
    }

    #[test]
    fn single_range_is_parsed_and_several_are_ignored() {
        for (text, expected) in [
            ("bytes=0-4", Some(0..5)),
            ("bytes=5-", Some(5..10)),
            ("bytes=-3", Some(7..10)),
            ("bytes=-30", Some(0..10)),
            ("bytes=8-20", Some(8..10)),
            ("bytes=10-", None),
            ("bytes=-0", None),
            ("bytes=5-2", None),
            ("bytes=x-y", None),
            ("bytes=+1-2", None),
            ("bytes=0-99999999999999999999", None),
        ] {
            let found = requested_range(&request_headers(text)).and_then(|requested_range| requested_range.within(10));
            assert_eq!(found, expected, "{text}");
        }
        for ignored in ["bytes=0-1,3-4", "pages=1-2", "bytes"] {
            assert_eq!(requested_range(&request_headers(ignored)), None, "{ignored}");
        }
    }

    #[test]
    fn file_name_is_escaped_in_content_disposition() {
        assert_eq!(
            disposition("Grüße \"7b\".docx"),
            "attachment; filename=\"Gr__e _7b_.docx\"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%20%227b%22.docx"
        );
        assert!(HeaderValue::from_str(&disposition("a\\b;c=d'e.pdf")).is_ok());
    }
}
