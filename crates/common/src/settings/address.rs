//! Validates URLs and paths in settings.

use url::{Host, Url};

/// Returns whether a path consists of plain names between slashes, at least one: the root of the document server is
/// not a result folder.
pub fn is_folder(path: &str) -> bool {
    let inside = path.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    let is_plain = |name: &str| {
        let mut bytes = name.bytes();
        !matches!(name, "" | "." | "..") && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"._~-".contains(&byte))
    };
    inside.is_some_and(|inside| inside.split('/').all(is_plain))
}

/// The error for a setting that is not an origin.
pub const NOT_AN_ORIGIN: &str =
    "must be exactly one origin such as https://school.example: no list, no wildcard, no path";
/// The error for a setting that is not a base URL.
pub const NOT_AN_ADDRESS: &str =
    "must be an http:// or https:// address of one host, without user name, query or wildcard";

/// Returns `scheme://host[:port]` of an http(s) URL as browsers send it: lower case, without the default port.
pub fn origin_of(text: &str) -> Option<String> {
    parse(text).map(|url| url.origin().ascii_serialization())
}

/// Parses a setting that is an origin; the only allowed path is `/`.
pub fn exact_origin(text: &str) -> Option<String> {
    let url = parse(text)?;
    let is_alone = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    is_alone.then(|| url.origin().ascii_serialization())
}

/// Parses an http(s) URL that paths are appended to; removes a trailing slash.
pub fn base_address(text: &str) -> Option<String> {
    let url = parse(text)?;
    let is_base = url.query().is_none() && url.fragment().is_none();
    is_base.then(|| url.as_str().trim_end_matches('/').to_owned())
}

/// Parses a domain that subdomains are prepended to; converts it to lower case.
pub fn base_domain(text: &str) -> Option<String> {
    let domain = text.trim().trim_matches('.').to_ascii_lowercase();
    let label = |label: &str| !label.is_empty() && is_plain_host(label) && !label.contains('_');
    domain.split('.').all(label).then_some(domain)
}

/// Parses an http(s) URL of exactly one host. Rejects what browsers would repair or interpret differently:
/// whitespace, backslashes, missing slashes.
fn parse(text: &str) -> Option<Url> {
    let is_plain =
        !text.contains(|character: char| character == '\\' || character.is_whitespace() || character.is_control());
    let (scheme, _) = text.split_once("://").filter(|_| is_plain)?;
    let is_http = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    let url = Url::parse(text).ok().filter(|_| is_http)?;
    let is_one_host = match url.host()? {
        Host::Domain(name) => is_plain_host(name),
        Host::Ipv4(_) | Host::Ipv6(_) => true,
    };
    let has_user = !url.username().is_empty() || url.password().is_some();
    (is_one_host && !has_user && url.port() != Some(0)).then_some(url)
}

/// Rejects `*` and `,`, which the URL standard allows in a host.
fn is_plain_host(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origin_consists_of_scheme_host_and_port() {
        assert_eq!(
            origin_of("https://School.Example:443/path?x").as_deref(),
            Some("https://school.example")
        );
        assert_eq!(
            origin_of("http://localhost:3000").as_deref(),
            Some("http://localhost:3000")
        );
        assert_eq!(origin_of("ftp://x"), None);
        assert_eq!(origin_of("school.example"), None);
    }

    #[test]
    fn frontend_url_is_exactly_one_origin() {
        for (text, origin) in [
            ("https://School.Example", "https://school.example"),
            ("https://school.example:443/", "https://school.example"),
            ("http://localhost:3000", "http://localhost:3000"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("http://[::1]:3000", "http://[::1]:3000"),
            ("https://schüle.example", "https://xn--schle-mva.example"),
        ] {
            assert_eq!(exact_origin(text).as_deref(), Some(origin), "{text}");
            assert!(
                better_auth::trusted_origin::TrustedOrigin::of(origin).is_some(),
                "{origin}"
            );
        }
        for text in [
            "https://a.example,https://b.example",
            "https://a.example, https://b.example",
            "https://a.example,b.example",
            "https://*.school.example",
            "*",
            "https://school.example:99999",
            "https://school.example:0",
            "https://school.example:http",
            "https://school.example/app",
            "https://school.example/?",
            "https://school.example#",
            "https://user:password@school.example",
            "https://",
            "https:school.example",
            "https:\\\\school.example",
            "https://school.exa mple",
            "ftp://school.example",
            "school.example",
            "null",
        ] {
            assert_eq!(exact_origin(text), None, "{text}");
        }
    }

    #[test]
    fn other_urls_may_have_path_and_one_host() {
        assert_eq!(
            base_address("https://docs.example/office/").as_deref(),
            Some("https://docs.example/office")
        );
        for text in [
            "https://a.example,b.example",
            "https://*.example",
            "https://docs.example/?a=b",
            "docs.example",
        ] {
            assert_eq!(base_address(text), None, "{text}");
        }
        assert_eq!(base_domain(".Schools.Example.").as_deref(), Some("schools.example"));
        for text in [
            "*.schools.example",
            "https://schools.example",
            "schools.example:80",
            "a..b",
            ".",
        ] {
            assert_eq!(base_domain(text), None, "{text}");
        }
    }
}
