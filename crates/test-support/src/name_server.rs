//! A DNS server on the loopback interface for all tests of this process: it serves the TXT records that tests set over
//! UDP and TCP, and returns NXDOMAIN for every other name. Each test uses separate domains ([`domain()`]).

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::sync::{Mutex, OnceLock};

use common::clock;

/// The response for a name.
#[derive(Debug, Clone)]
pub enum NameRecords {
    /// TXT records of any length. A response that exceeds a datagram is truncated, so that the client retries over TCP.
    Texts(Vec<String>),
    /// SERVFAIL.
    ServerFailure,
    /// No response.
    Silence,
}

/// The maximum size of a response over UDP without EDNS.
const DATAGRAM: usize = 512;

fn zones() -> &'static Mutex<HashMap<String, NameRecords>> {
    static ZONES: OnceLock<Mutex<HashMap<String, NameRecords>>> = OnceLock::new();
    ZONES.get_or_init(Mutex::default)
}

/// Returns a domain that no other test uses.
pub fn domain() -> String {
    format!("school-{}.example", clock::new_id())
}

/// Sets the response for the record that proves a domain.
pub fn set(domain: &str, zone: NameRecords) {
    zones().lock().unwrap().insert(format!("_groupwork.{domain}"), zone);
}

/// Removes the record of a domain.
pub fn clear(domain: &str) {
    zones().lock().unwrap().remove(&format!("_groupwork.{domain}"));
}

/// Returns the address of the DNS server; the first call starts it.
pub fn address() -> SocketAddr {
    static ADDRESS: OnceLock<SocketAddr> = OnceLock::new();
    *ADDRESS.get_or_init(|| {
        let (udp, tcp) = sockets();
        let address = udp.local_addr().unwrap();
        std::thread::spawn(move || {
            let mut question = [0; DATAGRAM];
            while let Ok((size, client)) = udp.recv_from(&mut question) {
                if let Some(answer) = answer(&question[..size], DATAGRAM) {
                    drop(udp.send_to(&answer, client));
                }
            }
        });
        std::thread::spawn(move || {
            for stream in tcp.incoming() {
                let Ok(mut stream) = stream else { continue };
                std::thread::spawn(move || {
                    let mut size = [0; 2];
                    while stream.read_exact(&mut size).is_ok() {
                        let mut question = vec![0; usize::from(u16::from_be_bytes(size))];
                        if stream.read_exact(&mut question).is_err() {
                            return;
                        }
                        let Some(answer) = answer(&question, usize::from(u16::MAX)) else {
                            return;
                        };
                        let size = u16::try_from(answer.len()).unwrap().to_be_bytes();
                        if stream.write_all(&[&size[..], &answer].concat()).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        address
    })
}

/// Opens UDP and TCP sockets on the same port.
fn sockets() -> (UdpSocket, TcpListener) {
    loop {
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()) {
            return (udp, tcp);
        }
    }
}

/// Builds the response to a message with one question, limited to this number of bytes.
fn answer(question: &[u8], limit: usize) -> Option<Vec<u8>> {
    let (header, rest) = question.split_at_checked(12)?;
    let mut labels = Vec::new();
    let mut at = 0;
    while let Some(&size) = rest.get(at).filter(|size| **size > 0) {
        let end = at + 1 + usize::from(size);
        labels.push(String::from_utf8_lossy(rest.get(at + 1..end)?).to_ascii_lowercase());
        at = end;
    }
    // The root label, type and class.
    let asked = rest.get(..at + 5)?;
    let zone = zones().lock().unwrap().get(&labels.join(".")).cloned();
    let (code, texts) = match zone {
        None => (3, Vec::new()),
        Some(NameRecords::ServerFailure) => (2, Vec::new()),
        Some(NameRecords::Silence) => return None,
        Some(NameRecords::Texts(texts)) => (0, texts),
    };
    let records: Vec<Vec<u8>> = texts.iter().map(|text| record(text)).collect();
    let whole = 12 + asked.len() + records.iter().map(Vec::len).sum::<usize>();
    let is_cut = whole > limit;
    let count = if is_cut {
        0
    } else {
        u16::try_from(records.len()).unwrap()
    };
    let mut message = header[..2].to_vec();
    message.extend([0x81 | if is_cut { 2 } else { 0 }, 0x80 | code]);
    message.extend([0, 1]);
    message.extend(count.to_be_bytes());
    message.extend([0, 0, 0, 0]);
    message.extend(asked);
    if !is_cut {
        message.extend(records.concat());
    }
    Some(message)
}

/// Builds a TXT record for the name in the question.
fn record(text: &str) -> Vec<u8> {
    let mut data = if text.is_empty() { vec![0] } else { Vec::new() };
    for part in text.as_bytes().chunks(255) {
        data.push(u8::try_from(part.len()).unwrap());
        data.extend(part);
    }
    let size = u16::try_from(data.len()).unwrap().to_be_bytes();
    [&[0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60][..], &size, &data].concat()
}
