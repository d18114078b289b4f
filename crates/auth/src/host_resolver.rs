//! Maps a Host to an organization: an exact custom domain, then `<slug>.<BASE_DOMAIN>`. An unknown Host maps to none.
//! See docs/api-contract.md#choosing-the-organization.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::{HeaderMap, HeaderValue, Uri, header};
use domain::network::{self, Network};
use domain::organization::PlatformHosts;

use db::platform::organizations::HostName;

/// The host settings of this installation.
#[derive(Debug, Clone, Default)]
pub struct HostResolver {
    /// `<slug>.<base_domain>` names an organization.
    pub base_domain: Option<String>,
    /// Proxies whose X-Forwarded-* headers are trusted.
    pub trusted_proxies: Vec<Network>,
    /// The host of the web client, which names no organization.
    pub frontend: Option<String>,
}

impl HostResolver {
    /// The host of a request. Returns `None` for two Host headers, and for a request target that contradicts the
    /// header.
    pub fn resolve(&self, uri: &Uri, headers: &HeaderMap, peer: Option<IpAddr>) -> Option<HostName> {
        let host = single_host(headers, header::HOST.as_str()).ok()?;
        let target = uri.authority().map(|authority| canonical(authority.as_str()));
        if target.is_some_and(|target| target.is_none() || target != host) {
            return None;
        }
        let behind_proxy = peer.is_some_and(|peer| self.is_proxy(peer));
        let host = if behind_proxy && headers.contains_key(FORWARDED_HOST) {
            single_host(headers, FORWARDED_HOST).ok()??
        } else {
            host?
        };
        // The host of the platform never names an organization, whatever slugs exist.
        if self.frontend.as_ref() == Some(&host) {
            return None;
        }
        let slug = self.base_domain.as_deref().and_then(|base| {
            let label = host.strip_suffix(base)?.strip_suffix('.')?;
            (!label.is_empty() && !label.contains('.')).then(|| label.to_owned())
        });
        Some(HostName { host, slug })
    }

    /// The hosts that no organization may use.
    pub fn platform_hosts(&self) -> PlatformHosts {
        PlatformHosts {
            base_domain: self.base_domain.clone(),
            frontend: self.frontend.clone(),
        }
    }

    /// Whether this is a proxy whose X-Forwarded-* headers are trusted.
    pub fn is_proxy(&self, peer: IpAddr) -> bool {
        network::contains(&self.trusted_proxies, peer)
    }

    /// The address of the client: the peer, or behind trusted proxies the last forwarded address that is not a proxy's.
    pub fn client_address(&self, headers: &HeaderMap, peer: Option<IpAddr>) -> Option<IpAddr> {
        let peer = peer?;
        let forwarded = headers.get_all(FORWARDED_FOR);
        if forwarded.iter().next().is_some() && !self.is_proxy(peer) {
            warn_of_untrusted_proxy(peer);
        }
        let values = forwarded.iter().map(HeaderValue::as_bytes);
        Some(network::client_address(values, peer, &self.trusted_proxies))
    }
}

/// Warns once per process about forwarded requests from a proxy that is not trusted: all its clients count as one
/// address, and sign-in limits apply to all of them together.
fn warn_of_untrusted_proxy(peer: IpAddr) {
    static HAS_WARNED: AtomicBool = AtomicBool::new(false);
    if !HAS_WARNED.swap(true, Ordering::Relaxed) {
        tracing::warn!(
            %peer,
            "X-Forwarded-For ignored: peer is not listed in TRUST_PROXY; if it is a reverse proxy, add its address to \
             TRUST_PROXY"
        );
    }
}

/// The address as rate limits count it: for IPv6 the /64 network, because a subscriber has at least that.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

/// The network of an address in canonical text: IPv6 groups are written in full.
pub fn network_text(address: IpAddr) -> String {
    match network(address) {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let groups = address.segments().map(|group| format!("{group:04x}"));
            groups.join(":")
        }
    }
}

/// Header in which a proxy names the client.
const FORWARDED_FOR: &str = "x-forwarded-for";
/// Header in which a proxy names the requested host.
const FORWARDED_HOST: &str = "x-forwarded-host";

/// A header that must be unique is repeated.
struct RepeatedHeader;

/// The canonical host in a header that must not be repeated.
fn single_host(headers: &HeaderMap, name: &str) -> Result<Option<String>, RepeatedHeader> {
    let mut given = headers.get_all(name).iter();
    match (given.next(), given.next()) {
        (_, Some(_)) => Err(RepeatedHeader),
        (value, None) => Ok(value.and_then(|value: &HeaderValue| canonical(value.to_str().ok()?))),
    }
}

/// The canonical form of a host: lower case, without port and trailing dot. Returns `None` for IP addresses in
/// brackets.
pub fn canonical(host: &str) -> Option<String> {
    let without_port = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.contains(':') => name,
        _ => host,
    };
    let name = without_port
        .strip_suffix('.')
        .unwrap_or(without_port)
        .to_ascii_lowercase();
    let plain = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte));
    plain.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn slug(host_resolver: &HostResolver, given: &[&'static str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for host in given {
            headers.append(header::HOST, HeaderValue::from_static(host));
        }
        host_resolver.resolve(&Uri::from_static("/"), &headers, None)?.slug
    }

    #[test]
    fn every_spelling_of_host_resolves_to_same_tenant_or_none() {
        let host_resolver = HostResolver {
            base_domain: Some("schools.example".to_owned()),
            trusted_proxies: Vec::new(),
            frontend: None,
        };
        for same in [
            "north.schools.example",
            "NORTH.Schools.Example",
            "north.schools.example.",
            "north.schools.example:8443",
        ] {
            assert_eq!(slug(&host_resolver, &[same]).as_deref(), Some("north"), "{same}");
        }
        for none in [
            "schools.example",
            "a.b.schools.example",
            "northschools.example",
            "north.schools.example.evil",
            "north_.x",
            "",
            "[::1]:3000",
        ] {
            assert_eq!(slug(&host_resolver, &[none]), None, "{none}");
        }
        assert_eq!(
            slug(&host_resolver, &["north.schools.example", "north.schools.example"]),
            None,
            "two Host headers"
        );
    }

    fn named(host_resolver: &HostResolver, headers: &HeaderMap, peer: IpAddr) -> Option<String> {
        host_resolver
            .resolve(&Uri::from_static("/"), headers, Some(peer))
            .map(|name| name.host)
    }

    #[test]
    fn request_line_contradicting_host_resolves_to_no_tenant() {
        let host_resolver = HostResolver::default();
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static("north.example"));
        let name = |target: &'static str| {
            host_resolver
                .resolve(&Uri::from_static(target), &headers, None)
                .map(|name| name.host)
        };
        assert_eq!(name("http://NORTH.example:80/x").as_deref(), Some("north.example"));
        assert_eq!(name("http://south.example/x"), None);
        assert_eq!(name("/x").as_deref(), Some("north.example"));
    }

    #[test]
    fn web_client_host_resolves_to_no_tenant() {
        let host_resolver = HostResolver {
            base_domain: Some("schools.example".to_owned()),
            frontend: Some("app.schools.example".to_owned()),
            ..HostResolver::default()
        };
        assert_eq!(slug(&host_resolver, &["App.schools.example:443"]), None);
        assert_eq!(
            slug(&host_resolver, &["north.schools.example"]).as_deref(),
            Some("north")
        );
    }

    #[test]
    fn ipv6_network_counts_as_one_address() {
        let text = |address: &str| address.parse().map(network_text).unwrap_or_default();
        assert_eq!(text("2001:db8:1:2:3:4:5:6"), "2001:0db8:0001:0002:0000:0000:0000:0000");
        assert_eq!(text("2001:db8:1:2::1"), text("2001:db8:1:2:ffff::"));
        assert_eq!(text("::ffff:192.0.2.7"), "192.0.2.7");
    }

    #[test]
    fn forwarded_headers_count_only_from_a_trusted_proxy() {
        let proxy: IpAddr = IpAddr::from([10, 0, 0, 1]);
        let stranger = IpAddr::from([192, 0, 2, 7]);
        let host_resolver = HostResolver {
            base_domain: None,
            trusted_proxies: vec!["10.0.0.0/24".parse().expect("a network")],
            frontend: None,
        };
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static("inner"));
        headers.insert("x-forwarded-host", HeaderValue::from_static("outer"));
        headers.insert(
            "x-forwarded-for",
            HeaderValue::from_static("198.51.100.9, 203.0.113.5, 10.0.0.1"),
        );
        assert_eq!(named(&host_resolver, &headers, proxy).as_deref(), Some("outer"));
        assert_eq!(named(&host_resolver, &headers, stranger).as_deref(), Some("inner"));
        assert_eq!(
            host_resolver.client_address(&headers, Some(proxy)),
            Some(IpAddr::from([203, 0, 113, 5]))
        );
        assert_eq!(host_resolver.client_address(&headers, Some(stranger)), Some(stranger));
        // A header sent by the client precedes the proxy's.
        headers.append("x-forwarded-for", HeaderValue::from_static("203.0.113.77:4711"));
        assert_eq!(
            host_resolver.client_address(&headers, Some(proxy)),
            Some(IpAddr::from([203, 0, 113, 77]))
        );
    }
}
