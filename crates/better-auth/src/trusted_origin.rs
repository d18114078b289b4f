//! The origin whose pages may use the service, and the URLs that belong to it. URLs that browsers and servers may parse
//! differently are never trusted.

/// The origin whose pages may use the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedOrigin(String);

impl TrustedOrigin {
    /// Returns the origin of an http or https URL; `None` if it has none.
    pub fn of(url: &str) -> Option<Self> {
        origin_of(url).map(Self)
    }

    /// Returns the origin as serialized by browsers: lower case, no default port, no path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether a URL or origin belongs to the trusted origin.
    pub fn contains_url(&self, url: &str) -> bool {
        origin_of(url).is_some_and(|origin| origin == self.0)
    }

    /// Returns whether the browser may be redirected to the target: the trusted origin or a path on it.
    pub fn allows_redirect(&self, target: &str) -> bool {
        is_same_origin_path(target) || self.contains_url(target)
    }
}

/// Returns whether every browser resolves a path on the current origin.
fn is_same_origin_path(target: &str) -> bool {
    let path = target.split(['?', '#']).next().unwrap_or_default();
    let path = path.to_ascii_lowercase();
    target.starts_with('/')
        && !target.starts_with("//")
        && !target.contains(|character: char| character == '\\' || character.is_control())
        && !path.contains("%2f")
        && !path.contains("%5c")
}

/// Returns the origin of a plainly written http or https URL. URLs that browsers would repair (backslashes, whitespace,
/// missing slashes, escapes, user names, non-ASCII names) have none here.
fn origin_of(url: &str) -> Option<String> {
    if url.contains(|character: char| character == '\\' || character.is_control()) {
        return None;
    }
    let (scheme, rest) = url.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let default_port = match scheme.as_str() {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let authority = rest.split(['/', '?', '#']).next()?.to_ascii_lowercase();
    let (host, port) = match authority.rfind(':') {
        Some(colon) if !authority.ends_with(']') => authority.split_at(colon),
        _ => (authority.as_str(), ""),
    };
    if !is_plain_host(host) {
        return None;
    }
    match port.trim_start_matches(':') {
        "" => Some(format!("{scheme}://{host}")),
        digits if !digits.bytes().all(|byte| byte.is_ascii_digit()) => None,
        digits => match digits.parse::<u16>().ok()? {
            port if port == default_port => Some(format!("{scheme}://{host}")),
            port => Some(format!("{scheme}://{host}:{port}")),
        },
    }
}

fn is_plain_host(host: &str) -> bool {
    let inside = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match inside {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            !host.is_empty()
                && host
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    #[test]
    fn trusted_origin_is_origin_of_url() {
        let front = TrustedOrigin::of("https://front.test").unwrap();
        assert_eq!(TrustedOrigin::of("HTTPS://Front.test:443/app/?a#b"), Some(front));
        let with_port = TrustedOrigin::of("http://localhost:3000/").unwrap();
        assert_eq!(with_port.as_str(), "http://localhost:3000");
        let address = TrustedOrigin::of("http://[::1]:3000").unwrap();
        assert_eq!(address.as_str(), "http://[::1]:3000");
        for none in [
            "front.test",
            "ftp://front.test",
            "https://",
            "https://a b",
            "*",
            "https://*.front.test",
            "https://ä.test",
        ] {
            assert_eq!(TrustedOrigin::of(none), None, "{none}");
        }
    }
}
