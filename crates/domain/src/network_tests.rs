//! Tests of networks and of the client address behind proxies.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use proptest::prelude::*;

use super::*;

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn network(text: &str) -> Network {
    text.parse().unwrap()
}

fn client(values: &[&str], trusted: &[&str]) -> String {
    let trusted: Vec<Network> = trusted.iter().map(|text| network(text)).collect();
    let values = values.iter().map(|value| value.as_bytes());
    client_address(values, address("10.0.0.1"), &trusted).to_string()
}

#[test]
fn network_contains_its_addresses_and_no_other() {
    for (text, inside, outside) in [
        ("10.0.0.0/8", "10.255.0.1", "11.0.0.0"),
        ("10.1.2.3/8", "10.0.0.0", "9.255.255.255"),
        ("192.0.2.7", "192.0.2.7", "192.0.2.6"),
        ("192.0.2.6/31", "192.0.2.7", "192.0.2.8"),
        ("fd00::/8", "fdff::1", "fe00::"),
        ("::1", "::1", "::2"),
        ("::ffff:10.0.0.0/104", "10.9.9.9", "11.0.0.0"),
        ("10.0.0.0/8", "::ffff:10.0.0.9", "::a00:9"),
        ("::/1", "::1", "10.0.0.1"),
    ] {
        assert!(network(text).contains(address(inside)), "{inside} in {text}");
        assert!(!network(text).contains(address(outside)), "{outside} in {text}");
    }
}

#[test]
fn unreadable_network_is_refused() {
    use NetworkError::{AllAddresses, PrefixTooLong, Unreadable};
    for (text, error) in [
        ("", Unreadable),
        ("proxy.example", Unreadable),
        ("10.0.0.0/", Unreadable),
        ("10.0.0.0/+8", Unreadable),
        ("10.0.0.0/8/8", Unreadable),
        ("10.0.0/8", Unreadable),
        ("*", Unreadable),
        ("10.0.0.0/33", PrefixTooLong),
        ("::/129", PrefixTooLong),
        ("10.0.0.0/99999999999", Unreadable),
        ("0.0.0.0/0", AllAddresses),
        ("::/0", AllAddresses),
        ("::ffff:0.0.0.0/96", AllAddresses),
    ] {
        assert_eq!(text.parse::<Network>(), Err(error), "{text}");
    }
}

#[test]
fn hop_is_an_address_with_or_without_port() {
    for (hop, expected) in [
        ("192.0.2.7", Some("192.0.2.7")),
        (" 192.0.2.7\t", Some("192.0.2.7")),
        ("192.0.2.7:4711", Some("192.0.2.7")),
        ("2001:db8::7", Some("2001:db8::7")),
        ("[2001:db8::7]", Some("2001:db8::7")),
        ("[2001:db8::7]:4711", Some("2001:db8::7")),
        ("::ffff:192.0.2.7", Some("192.0.2.7")),
        ("[::ffff:192.0.2.7]:1", Some("192.0.2.7")),
        ("", None),
        ("unknown", None),
        ("_hidden", None),
        ("192.0.2.7:", None),
        ("192.0.2.7:99999", None),
        ("192.0.2.7:+1", None),
        ("192.0.2.7:1:2", None),
        ("[192.0.2.7]", None),
        ("[2001:db8::7", None),
        ("[2001:db8::7]x", None),
        ("[2001:db8::7]:", None),
        ("fe80::1%eth0", None),
        ("\"192.0.2.7\"", None),
        ("192.0.2.7 192.0.2.8", None),
        ("192.0.2.07", None),
    ] {
        assert_eq!(hop_address(hop.as_bytes()), expected.map(address), "{hop:?}");
    }
    assert_eq!(hop_address(b"\xff"), None);
}

#[test]
fn client_is_the_last_address_that_no_trusted_proxy_has() {
    let proxies = ["10.0.0.0/8"];
    assert_eq!(client(&["203.0.113.5"], &proxies), "203.0.113.5");
    assert_eq!(
        client(&["198.51.100.9, 203.0.113.5, 10.0.0.2"], &proxies),
        "203.0.113.5"
    );
    assert_eq!(
        client(&["203.0.113.5"], &["10.0.0.2"]),
        "10.0.0.1",
        "the peer is no proxy"
    );
    assert_eq!(client(&[], &proxies), "10.0.0.1");
    assert_eq!(client(&["10.0.0.3, 10.0.0.2"], &proxies), "10.0.0.3", "all are proxies");
    // The client sends a header of its own, and the proxy adds a second one.
    assert_eq!(client(&["198.51.100.9", "203.0.113.5"], &proxies), "203.0.113.5");
    assert_eq!(client(&["198.51.100.9", "203.0.113.5:4711"], &proxies), "203.0.113.5");
    assert_eq!(client(&["198.51.100.9, [2001:db8::7]:4711"], &proxies), "2001:db8::7");
    // Hops before one that cannot be parsed are not trusted.
    assert_eq!(client(&["198.51.100.9, unknown, 10.0.0.2"], &proxies), "10.0.0.2");
    assert_eq!(client(&["198.51.100.9, unknown"], &proxies), "10.0.0.1");
    assert_eq!(client(&["198.51.100.9, "], &proxies), "10.0.0.1");
}

fn any_address() -> impl Strategy<Value = IpAddr> {
    prop_oneof![
        any::<[u8; 4]>().prop_map(IpAddr::from),
        any::<[u8; 16]>().prop_map(|bytes| IpAddr::from(bytes).to_canonical()),
    ]
}

/// Formats an address in one of the notations used by proxies.
fn written(address: IpAddr, form: u8, port: u16) -> String {
    match (address, form % 4) {
        (IpAddr::V6(address), 0) => format!("[{address}]"),
        (IpAddr::V6(address), 1) => format!("[{address}]:{port}"),
        (IpAddr::V4(address), 0 | 1) => format!("{address}:{port}"),
        (address, 2) => format!("  {address} "),
        (address, _) => address.to_string(),
    }
}

proptest! {
    #[test]
    fn every_written_form_of_an_address_is_read(address in any_address(), form in any::<u8>(), port in any::<u16>()) {
        prop_assert_eq!(hop_address(written(address, form, port).as_bytes()), Some(address));
    }

    #[test]
    fn network_contains_exactly_what_shares_its_prefix(address in any_address(), other in any_address(), length in 1_u32..=128) {
        let (own, width) = bits(address);
        let prefix = length.min(width);
        let network: Network = format!("{address}/{prefix}").parse().unwrap();
        prop_assert!(network.contains(address));
        let (bits_of_other, other_width) = bits(other);
        let shares = width == other_width && (0..prefix).all(|bit| {
            let at = width - 1 - bit;
            (own >> at) & 1 == (bits_of_other >> at) & 1
        });
        prop_assert_eq!(network.contains(other), shares);
        prop_assert_eq!(network.to_string().parse::<Network>(), Ok(network));
    }

    /// Hops that a client sends before those appended by the trusted proxies are ignored, whether in one header or
    /// several.
    #[test]
    fn prefix_written_by_the_client_changes_nothing(
        invented in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..4),
        client in any_address(),
        proxies in 0_u8..3,
        form in any::<u8>(),
        is_one_header in any::<bool>(),
    ) {
        let trusted = [network("10.0.0.0/8")];
        prop_assume!(!contains(&trusted, client));
        let mut appended = written(client, form, 4711);
        for number in 0..proxies {
            appended = format!("{appended}, 10.0.0.{}", number + 2);
        }
        let mut values = invented;
        match values.last_mut() {
            Some(last) if is_one_header => {
                last.extend(b", ");
                last.extend(appended.as_bytes());
            }
            _ => values.push(appended.into_bytes()),
        }
        let found = client_address(values.iter().map(Vec::as_slice), address("10.0.0.1"), &trusted);
        prop_assert_eq!(found, client);
    }

    #[test]
    fn reading_never_panics_and_answers_a_known_address(
        values in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 0..5),
        peer in any_address(),
    ) {
        let found = client_address(values.iter().map(Vec::as_slice), peer, &[]);
        prop_assert_eq!(found, peer, "no proxy is trusted");
    }
}
