//! Protects the routes outside `/auth` against cross-site request forgery: a mutating request with cookies must come
//! from the web client's own origin. Scripts send neither Origin nor Sec-Fetch-Site and are allowed. See
//! docs/api-contract.md#cross-origin-requests.

use axum::http::{HeaderMap, Method, header};

use common::error::{Error, Result};

/// Rejects a request from a foreign or unnamed origin.
pub fn check(method: &Method, headers: &HeaderMap, frontend_origin: &str) -> Result<()> {
    let changes = matches!(*method, Method::POST | Method::PUT | Method::PATCH | Method::DELETE);
    if !changes || !headers.contains_key(header::COOKIE) {
        return Ok(());
    }
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("not text"));
    let claimed = text(header::ORIGIN).or_else(|| text(header::REFERER).map(origin_of));
    match claimed {
        Some(origin) if origin == frontend_origin => Ok(()),
        Some(_) => Err(Error::InvalidOrigin),
        None => match headers.get("sec-fetch-site") {
            Some(site) if site != "same-origin" => Err(Error::MissingOrigin),
            _ => Ok(()),
        },
    }
}

/// Returns `scheme://host:port` of a URL.
fn origin_of(url: &str) -> &str {
    let authority = url.find("://").map_or(0, |scheme| scheme + 3);
    let end = url[authority..]
        .find(['/', '?', '#'])
        .map_or(url.len(), |length| authority + length);
    &url[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{HeaderName, HeaderValue};

    fn answer(headers: &[(&'static str, &'static str)]) -> bool {
        let pairs = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        check(&Method::POST, &pairs.collect(), "https://school.example").is_ok()
    }

    #[test]
    fn write_with_cookie_from_foreign_origin_is_rejected() {
        let cookie = ("cookie", "a=b");
        assert!(answer(&[cookie, ("origin", "https://school.example")]));
        assert!(answer(&[cookie, ("referer", "https://school.example/groups?x=1")]));
        assert!(answer(&[cookie]), "a scripted client");
        assert!(
            answer(&[("origin", "https://evil.example")]),
            "no cookie, nothing to steal"
        );
        for origin in [
            "https://evil.example",
            "null",
            "http://school.example",
            "https://school.example.evil",
            "https://school.example:8443",
            "https://school.example/",
        ] {
            assert!(!answer(&[cookie, ("origin", origin)]), "{origin}");
        }
        assert!(!answer(&[
            cookie,
            ("referer", "https://evil.example/https://school.example")
        ]));
        assert!(!answer(&[cookie, ("sec-fetch-site", "cross-site")]));
        assert!(answer(&[cookie, ("sec-fetch-site", "same-origin")]));
    }
}
