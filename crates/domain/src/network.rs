//! Networks in CIDR notation, and the client IP address behind trusted proxies.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// An IPv4 or IPv6 network: `10.0.0.0/8`, `fd00::/8`. A single address is a network of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    /// An address of the network, with IPv4-mapped IPv6 addresses converted to IPv4.
    address: IpAddr,
    /// Prefix length; at least one.
    prefix: u32,
}

/// Why a text is rejected as a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// Neither an address nor an address with a prefix.
    #[error("must be an address (10.0.0.7) or a network (10.0.0.0/8, fd00::/8)")]
    Unreadable,
    /// The prefix is longer than the address.
    #[error("the prefix is longer than the address")]
    PrefixTooLong,
    /// The network contains all addresses, so that every client would be a trusted proxy.
    #[error("a network of all addresses would trust every client")]
    AllAddresses,
}

/// Length of the prefix of IPv4-mapped IPv6 addresses, in bits.
const MAPPED: u32 = 96;

fn bits(address: IpAddr) -> (u128, u32) {
    match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()), Ipv4Addr::BITS),
        IpAddr::V6(address) => (address.to_bits(), Ipv6Addr::BITS),
    }
}

impl Network {
    /// Returns the network of all addresses that share the first `prefix` bits with this one.
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

    /// Returns whether the network contains an address. An IPv4-mapped IPv6 address counts as the IPv4 address.
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
            // `u32::from_str` would also accept `+8`.
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

pub fn contains(networks: &[Network], address: IpAddr) -> bool {
    networks.iter().any(|network| network.contains(address))
}

/// Parses the address of one hop of X-Forwarded-For: `192.0.2.7`, `192.0.2.7:4711`, `2001:db8::7`, `[2001:db8::7]`,
/// `[2001:db8::7]:4711`. Other forms are rejected.
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

/// Returns the client address, given the values of all X-Forwarded-For headers in order. Each proxy appends the address
/// of its peer, so the list is read from the end, through trusted proxies to the first untrusted address. The search
/// stops at a hop that cannot be parsed, with the last known address, because the hops before it may be forged by the
/// client.
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
