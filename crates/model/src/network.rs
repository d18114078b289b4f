//! Addresses of clients and proxies: networks in CIDR notation, and the client's address behind trusted proxies.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A network of IPv4 or IPv6 addresses: `10.0.0.0/8`, `fd00::/8`; a single address is the network of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    /// An address of it, of the family in which addresses are compared.
    address: IpAddr,
    /// Leading bits that all addresses of it share; at least one.
    prefix: u32,
}

/// Why a text is no network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// Neither an address nor an address with a prefix.
    #[error("must be an address (10.0.0.7) or a network (10.0.0.0/8, fd00::/8)")]
    Unreadable,
    /// The prefix is longer than the address.
    #[error("the prefix is longer than the address")]
    PrefixTooLong,
    /// Every client would be a proxy.
    #[error("a network of all addresses would trust every client")]
    AllAddresses,
}

/// The bits of an IPv6 address before an IPv4 address that is mapped into it.
const MAPPED: u32 = 96;

fn bits(address: IpAddr) -> (u128, u32) {
    match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()), Ipv4Addr::BITS),
        IpAddr::V6(address) => (address.to_bits(), Ipv6Addr::BITS),
    }
}

impl Network {
    /// The network of all addresses that share so many leading bits with this one.
    pub fn new(address: IpAddr, prefix: u32) -> Result<Self, NetworkError> {
        if prefix > bits(address).1 {
            return Err(NetworkError::PrefixTooLong);
        }
        // `::ffff:10.0.0.0/104` is 10.0.0.0/8.
        let (address, prefix) = match (address, address.to_canonical()) {
            (IpAddr::V6(_), mapped @ IpAddr::V4(_)) if prefix >= MAPPED => (mapped, prefix - MAPPED),
            _ => (address, prefix),
        };
        if prefix == 0 {
            return Err(NetworkError::AllAddresses);
        }
        Ok(Self { address, prefix })
    }

    /// Whether an address belongs to it. An IPv4 address mapped into IPv6 is the IPv4 address.
    pub fn contains(&self, address: IpAddr) -> bool {
        let ((own, width), (other, other_width)) = (bits(self.address), bits(address.to_canonical()));
        let host_bits = width - self.prefix;
        width == other_width && own >> host_bits == other >> host_bits
    }
}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let text = text.trim();
        let (address, prefix) = match text.split_once('/') {
            None => (text, None),
            Some((address, prefix)) => (address, Some(prefix)),
        };
        let address: IpAddr = address.parse().map_err(|_| NetworkError::Unreadable)?;
        let prefix = match prefix {
            None => bits(address).1,
            // `+8` is a number to Rust.
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                digits.parse().map_err(|_| NetworkError::Unreadable)?
            }
            Some(_) => return Err(NetworkError::Unreadable),
        };
        Self::new(address, prefix)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.address, self.prefix)
    }
}

/// Whether a network of the list contains the address.
pub fn contains(networks: &[Network], address: IpAddr) -> bool {
    networks.iter().any(|network| network.contains(address))
}

/// The address of one hop of X-Forwarded-For: `192.0.2.7`, `192.0.2.7:4711`, `2001:db8::7`, `[2001:db8::7]`,
/// `[2001:db8::7]:4711`. Nothing else is readable.
pub fn hop_address(hop: &[u8]) -> Option<IpAddr> {
    let hop = std::str::from_utf8(hop).ok()?.trim_matches([' ', '\t']);
    if let Ok(address) = hop.parse::<IpAddr>() {
        return Some(address.to_canonical());
    }
    let (address, port) = if let Some(rest) = hop.strip_prefix('[') {
        let (address, rest) = rest.split_once(']')?;
        let port = if rest.is_empty() {
            None
        } else {
            Some(rest.strip_prefix(':')?)
        };
        (IpAddr::V6(address.parse().ok()?), port)
    } else {
        let (address, port) = hop.split_once(':')?;
        (IpAddr::V4(address.parse().ok()?), Some(port))
    };
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    port.is_none_or(is_port).then(|| address.to_canonical())
}

/// The client's address, given the values of all X-Forwarded-For headers in their order. Each proxy appends the address
/// it was called from, so the list is read from its end: through trusted proxies to the first address that is none. A hop
/// that cannot be read ends the search at the last address that is known: the part before it may be the client's own
/// invention.
pub fn client_address<'v>(
    values: impl DoubleEndedIterator<Item = &'v [u8]>,
    peer: IpAddr,
    trusted: &[Network],
) -> IpAddr {
    let mut known = peer.to_canonical();
    let mut hops = values.rev().flat_map(|value| value.rsplit(|byte| *byte == b','));
    while contains(trusted, known) {
        match hops.next().and_then(hop_address) {
            Some(address) => known = address,
            None => break,
        }
    }
    known
}

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;
