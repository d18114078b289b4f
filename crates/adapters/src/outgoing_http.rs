//! Requests to sign-on providers and roster servers, whose addresses are entered by administrators of schools. They use
//! TLS, follow no redirect, connect to public addresses and to networks that the operator allows only, and are bounded in
//! time and size.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use domain::network::{self, Network};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{RequestBuilder, StatusCode};
use serde_json::{Map, Value};
use url::{Host, Url};

use common::error::{Error, Result};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Timeout of a request including its response.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum size in bytes of a response that is read into memory.
const RESPONSE_MAX: usize = 256 << 10;

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutgoingError {
    AddressNotAllowed,
    /// There was no complete response.
    Unreachable,
    /// The status of the response is not 200.
    Status(StatusCode),
    /// The body is no JSON object, or too large.
    UnexpectedBody,
}

/// The HTTP client.
pub(crate) struct OutgoingHttp {
    http: reqwest::Client,
    networks: Arc<[Network]>,
}

impl OutgoingHttp {
    pub(crate) fn new(networks: &[Network]) -> Result<Self> {
        let networks: Arc<[Network]> = networks.into();
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .dns_resolver(PublicResolver(Arc::clone(&networks)))
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TIMEOUT)
            // Each request has its own connection: one that is kept may be closed by the server at the moment it is used
            // again, and a code of a sign-in cannot be sent twice.
            .pool_max_idle_per_host(0)
            .build()
            .map_err(|error| Error::Internal(error.into()))?;
        Ok(Self { http, networks })
    }

    /// Returns whether requests to this URL are allowed. Host names are checked again when they are resolved.
    pub(crate) fn allows(&self, url: &Url) -> bool {
        if !url.username().is_empty() || url.password().is_some() {
            return false;
        }
        let address = match url.host() {
            None => return false,
            Some(Host::Domain(_)) => None,
            Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
            Some(Host::Ipv6(address)) => Some(IpAddr::V6(address)),
        };
        let is_allowed = address.is_none_or(|address| is_allowed(address, &self.networks));
        match url.scheme() {
            "https" => is_allowed,
            "http" => is_allowed && address.is_some_and(|address| address.is_loopback()),
            _ => false,
        }
    }

    /// Reads a JSON object, with an access token if there is one.
    pub(crate) async fn get(&self, url: &str, token: Option<&str>) -> Result<Map<String, Value>, OutgoingError> {
        let request = self.http.get(self.checked(url)?);
        self.send(match token {
            Some(token) => request.bearer_auth(token),
            None => request,
        })
        .await
    }

    /// Posts a form and reads a JSON object.
    pub(crate) async fn post_form(
        &self,
        url: &str,
        form: &[(&str, &str)],
        basic: Option<(&str, &str)>,
    ) -> Result<Map<String, Value>, OutgoingError> {
        let body = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(form)
            .finish();
        let request = self
            .http
            .post(self.checked(url)?)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body);
        self.send(match basic {
            // RFC 6749, section 2.3.1: both are encoded as in a form first.
            Some((id, secret)) => request.basic_auth(encoded(id), Some(encoded(secret))),
            None => request,
        })
        .await
    }

    /// Starts a GET request whose response the caller reads. Its timeout replaces the default one.
    pub(crate) fn start_get(&self, url: Url, timeout: Duration) -> Result<RequestBuilder, OutgoingError> {
        if self.allows(&url) {
            Ok(self.http.get(url).timeout(timeout).header("accept", "application/json"))
        } else {
            Err(OutgoingError::AddressNotAllowed)
        }
    }

    fn checked(&self, url: &str) -> Result<Url, OutgoingError> {
        let url = Url::parse(url).map_err(|_| OutgoingError::AddressNotAllowed)?;
        if self.allows(&url) {
            Ok(url)
        } else {
            Err(OutgoingError::AddressNotAllowed)
        }
    }

    async fn send(&self, request: RequestBuilder) -> Result<Map<String, Value>, OutgoingError> {
        let request = request.header("accept", "application/json");
        let mut response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            if body.len() + chunk.len() > RESPONSE_MAX {
                return Err(OutgoingError::UnexpectedBody);
            }
            body.extend_from_slice(&chunk);
        }
        if status != StatusCode::OK {
            tracing::warn!(status = status.as_u16(), "outgoing request returned an error");
            return Err(OutgoingError::Status(status));
        }
        serde_json::from_slice(&body).map_err(|_| OutgoingError::UnexpectedBody)
    }
}

fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// Logs why a request got no complete response.
pub(crate) fn unreachable(error: reqwest::Error) -> OutgoingError {
    let error = error.without_url();
    tracing::warn!(error = format!("{error:?}"), "outgoing connection failed");
    OutgoingError::Unreachable
}

/// Resolves host names to public addresses only, so that no provider can make this service send requests to the network
/// that it runs in. The connection uses the address that was checked.
struct PublicResolver(Arc<[Network]>);

impl Resolve for PublicResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let networks = Arc::clone(&self.0);
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<_> = found.filter(|address| is_allowed(address.ip(), &networks)).collect();
            if allowed.is_empty() {
                return Err("the host has no public address".into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// Returns whether this service connects to an address: a public one, or one in a network that the operator allows.
fn is_allowed(address: IpAddr, networks: &[Network]) -> bool {
    is_public(address) || network::contains(networks, address)
}

/// Returns whether an address belongs to the public internet.
fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let is_shared = first == 100 && (64..128).contains(&second);
    let is_reserved = first == 0 || first >= 240 || (first == 192 && second == 0 && third == 0);
    let is_benchmark = first == 198 && (second == 18 || second == 19);
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || is_shared
        || is_reserved
        || is_benchmark)
}

/// Only global unicast addresses (2000::/3), without those that embed an IPv4 address or are reserved.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    let is_global = first & 0xe000 == 0x2000;
    // 6to4, Teredo and other protocol assignments, documentation.
    let is_special = first == 0x2002 || (first == 0x2001 && (second < 0x200 || second == 0xdb8)) || first == 0x3fff;
    is_global && !is_special
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;

    #[test]
    fn private_addresses_are_not_public() {
        for private in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:10.0.0.1",
            "fe80::1",
            "fd00::1",
            "64:ff9b::a00:1",
            "2002:a00:1::",
            "2001::1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
        for public in ["1.1.1.1", "198.51.99.1", "2606:4700::1111", "2a00:1450::1"] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }

    #[test]
    fn only_https_to_public_addresses_is_allowed() {
        let networks = ["10.0.0.0/8", "127.0.0.0/8"].map(|network| network.parse().unwrap());
        let (strict, open) = (OutgoingHttp::new(&[]).unwrap(), OutgoingHttp::new(&networks).unwrap());
        let allows = |http: &OutgoingHttp, url: &str| http.allows(&Url::parse(url).unwrap());
        assert!(allows(&strict, "https://id.school.example/realm"));
        for url in [
            "http://id.school.example",
            "https://127.0.0.1",
            "https://2130706433",
            "https://[::1]/",
            "https://user:password@id.school.example",
            "ftp://id.school.example",
            "http://127.0.0.1:8080",
        ] {
            assert!(!allows(&strict, url), "{url}");
        }
        assert!(allows(&open, "https://10.0.0.1") && allows(&open, "http://127.0.0.1:8080"));
        assert!(!allows(&open, "https://192.168.0.1"));
        assert!(!allows(&open, "http://10.0.0.1") && !allows(&open, "http://id.school.example"));
    }
}
