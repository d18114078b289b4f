//! Origin checks of requests and of redirect targets: the library's rules as functions of header values. They do not
//! depend on the session.

use serde_json::Value;

use crate::{error::AuthError, trusted_origin::TrustedOrigin};

/// The request headers that the checks use.
#[derive(Debug, Clone, Copy, Default)]
pub struct OriginHeaders<'a> {
    /// Whether there is a `Cookie` header, whatever its value.
    pub has_cookie_header: bool,
    /// `Origin`.
    pub origin: Option<&'a str>,
    /// `Referer`.
    pub referer: Option<&'a str>,
    /// `Sec-Fetch-Site`.
    pub fetch_site: Option<&'a str>,
    /// `Sec-Fetch-Mode`.
    pub fetch_mode: Option<&'a str>,
    /// `Sec-Fetch-Dest`.
    pub fetch_dest: Option<&'a str>,
}

impl OriginHeaders<'_> {
    /// Returns the source of the request: `Origin`, or else `Referer`.
    fn source(&self) -> Option<&str> {
        [self.origin, self.referer]
            .into_iter()
            .flatten()
            .find(|text| !text.is_empty())
    }

    fn has_fetch_metadata(&self) -> bool {
        [self.fetch_site, self.fetch_mode, self.fetch_dest]
            .into_iter()
            .flatten()
            .any(|text| !text.trim().is_empty())
    }
}

/// Checks any route: a request that changes state and has cookies must come from the trusted origin. A `null` origin is
/// rejected even from the same site, unlike in the library.
pub fn check_request(method: &str, headers: &OriginHeaders<'_>, trusted: &TrustedOrigin) -> Result<(), AuthError> {
    let harmless = matches!(method, "GET" | "HEAD" | "OPTIONS");
    if harmless || !headers.has_cookie_header {
        return Ok(());
    }
    check_source(headers, trusted)
}

/// Checks sign-in and sign-up, which matter without a cookie: a form on a foreign page must not sign a user in. Clients
/// that are not browsers need no origin.
pub fn check_form(headers: &OriginHeaders<'_>, trusted: &TrustedOrigin) -> Result<(), AuthError> {
    if headers.has_cookie_header {
        return check_source(headers, trusted);
    }
    if headers.fetch_site == Some("cross-site") && headers.fetch_mode == Some("navigate") {
        return Err(AuthError::cross_site_navigation_login_blocked());
    }
    if headers.has_fetch_metadata() || headers.source().is_some() {
        return check_source(headers, trusted);
    }
    Ok(())
}

/// Checks URLs in the body or query of a request that changes state: the browser is redirected to the trusted origin
/// only.
pub fn check_redirects(
    body: Option<&Value>,
    query_callback: Option<&str>,
    trusted: &TrustedOrigin,
) -> Result<(), AuthError> {
    let given = |key: &str| body.and_then(|body| body.get(key)).filter(|value| !is_falsy(value));
    let query_callback = query_callback.map(|url| Value::String(url.to_owned()));
    let callback = given("callbackURL").or(query_callback.as_ref());

    let rules: [(Option<&Value>, &str, AuthError); 4] = [
        (callback, "callbackURL", AuthError::invalid_callback_url()),
        (given("redirectTo"), "redirectURL", AuthError::invalid_redirect_url()),
        (
            given("errorCallbackURL"),
            "errorCallbackURL",
            AuthError::invalid_error_callback_url(),
        ),
        (
            given("newUserCallbackURL"),
            "newUserCallbackURL",
            AuthError::invalid_new_user_callback_url(),
        ),
    ];
    for (target, label, refusal) in rules {
        match target {
            None => {}
            Some(Value::String(url)) if url.is_empty() || trusted.allows_redirect(url) => {}
            Some(Value::String(_)) => return Err(refusal),
            Some(_) => return Err(AuthError::callback_not_string(label)),
        }
    }
    Ok(())
}

/// Checks the callback URL of an emailed link.
pub fn check_callback(url: &str, trusted: &TrustedOrigin) -> Result<(), AuthError> {
    if url.is_empty() || trusted.allows_redirect(url) {
        return Ok(());
    }
    Err(AuthError::invalid_callback_url())
}

fn check_source(headers: &OriginHeaders<'_>, trusted: &TrustedOrigin) -> Result<(), AuthError> {
    match headers.source() {
        None | Some("null") => Err(AuthError::missing_or_null_origin()),
        Some(source) if trusted.contains_url(source) => Ok(()),
        Some(_) => Err(AuthError::invalid_origin()),
    }
}

/// Returns whether JavaScript treats the value as not given.
fn is_falsy(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use serde_json::json;

    use super::*;

    fn front() -> TrustedOrigin {
        TrustedOrigin::of("https://front.test").unwrap()
    }

    fn from(origin: &str) -> OriginHeaders<'_> {
        OriginHeaders {
            has_cookie_header: true,
            origin: Some(origin),
            ..OriginHeaders::default()
        }
    }

    #[test]
    fn state_changing_requests_require_trusted_origin() {
        assert_eq!(check_request("POST", &from("https://front.test"), &front()), Ok(()));
        for foreign in [
            "https://evil.test",
            "http://front.test",
            "https://front.test:8443",
            "https://front.test.evil.test",
            "https://sub.front.test",
            "https://front.test@evil.test",
            "https://front.test\\@evil.test",
            "file://",
        ] {
            for method in ["POST", "PUT", "PATCH", "DELETE", "TRACE", "post"] {
                let refusal = check_request(method, &from(foreign), &front());
                assert_eq!(refusal, Err(AuthError::invalid_origin()), "{method} {foreign}");
            }
            for method in ["GET", "HEAD", "OPTIONS"] {
                assert_eq!(check_request(method, &from(foreign), &front()), Ok(()));
            }
        }
    }

    #[test]
    fn cookie_without_origin_is_rejected() {
        let missing = Err(AuthError::missing_or_null_origin());
        for origin in ["null", ""] {
            assert_eq!(check_request("POST", &from(origin), &front()), missing);
        }
        let none = OriginHeaders {
            has_cookie_header: true,
            ..OriginHeaders::default()
        };
        assert_eq!(check_request("POST", &none, &front()), missing);
        assert_eq!(check_request("POST", &OriginHeaders::default(), &front()), Ok(()));
    }

    #[test]
    fn referer_is_used_only_without_origin() {
        let referred = |origin, referer| OriginHeaders {
            has_cookie_header: true,
            origin,
            referer: Some(referer),
            ..OriginHeaders::default()
        };
        let page = "https://front.test/class/7b?x=1";
        assert_eq!(check_request("POST", &referred(None, page), &front()), Ok(()));
        assert_eq!(check_request("POST", &referred(Some(""), page), &front()), Ok(()));
        assert_eq!(
            check_request("POST", &referred(Some("https://evil.test"), page), &front()),
            Err(AuthError::invalid_origin())
        );
        assert_eq!(
            check_request("POST", &referred(Some("null"), page), &front()),
            Err(AuthError::missing_or_null_origin())
        );
    }

    #[test]
    fn sign_in_from_foreign_form_is_rejected() {
        let bare = OriginHeaders::default();
        assert_eq!(check_form(&bare, &front()), Ok(()));

        let cookie_only = OriginHeaders {
            has_cookie_header: true,
            ..bare
        };
        assert_eq!(
            check_form(&cookie_only, &front()),
            Err(AuthError::missing_or_null_origin())
        );

        let foreign_form = OriginHeaders {
            origin: Some("https://front.test"),
            fetch_site: Some("cross-site"),
            fetch_mode: Some("navigate"),
            ..bare
        };
        assert_eq!(
            check_form(&foreign_form, &front()),
            Err(AuthError::cross_site_navigation_login_blocked())
        );

        for metadata in [
            OriginHeaders {
                fetch_site: Some("same-origin"),
                ..bare
            },
            OriginHeaders {
                fetch_mode: Some("cors"),
                ..bare
            },
            OriginHeaders {
                fetch_dest: Some("empty"),
                ..bare
            },
        ] {
            assert_eq!(
                check_form(&metadata, &front()),
                Err(AuthError::missing_or_null_origin())
            );
            let trusted = OriginHeaders {
                origin: Some("https://front.test"),
                ..metadata
            };
            assert_eq!(check_form(&trusted, &front()), Ok(()));
        }

        let blank = OriginHeaders {
            fetch_site: Some("  "),
            ..bare
        };
        assert_eq!(check_form(&blank, &front()), Ok(()));
        let evil = OriginHeaders {
            origin: Some("https://evil.test"),
            ..bare
        };
        assert_eq!(check_form(&evil, &front()), Err(AuthError::invalid_origin()));
        assert_eq!(
            check_form(&from("https://evil.test"), &front()),
            Err(AuthError::invalid_origin())
        );
    }

    #[test]
    fn redirects_outside_trusted_origin_are_rejected() {
        let check = |body: Value| check_redirects(Some(&body), None, &front());
        assert_eq!(
            check(json!({"callbackURL": "/dash", "redirectTo": "https://front.test/x"})),
            Ok(())
        );
        assert_eq!(
            check(json!({"callbackURL": "", "redirectTo": null, "errorCallbackURL": false})),
            Ok(())
        );
        assert_eq!(check(json!([])), Ok(()));
        let evil = "https://evil.test";
        assert_eq!(
            check(json!({"callbackURL": evil})),
            Err(AuthError::invalid_callback_url())
        );
        assert_eq!(
            check(json!({"redirectTo": evil})),
            Err(AuthError::invalid_redirect_url())
        );
        assert_eq!(
            check(json!({"errorCallbackURL": evil})),
            Err(AuthError::invalid_error_callback_url())
        );
        assert_eq!(
            check(json!({"newUserCallbackURL": evil})),
            Err(AuthError::invalid_new_user_callback_url())
        );
        let no_text = check(json!({"callbackURL": 5})).unwrap_err();
        assert_eq!((no_text.status, no_text.code), (400, None));
        assert_eq!(no_text.message, "Invalid callbackURL: expected a string");
        assert_eq!(
            check_redirects(None, Some(evil), &front()),
            Err(AuthError::invalid_callback_url())
        );
    }

    #[test]
    fn callbacks_outside_trusted_origin_are_rejected() {
        assert_eq!(check_callback("/reset", &front()), Ok(()));
        for target in [
            "//evil.test",
            "/\\evil.test",
            "/\t/evil.test",
            "javascript:alert(1)",
            "/a%2Fb",
        ] {
            assert_eq!(
                check_callback(target, &front()),
                Err(AuthError::invalid_callback_url()),
                "{target}"
            );
        }
    }
}
