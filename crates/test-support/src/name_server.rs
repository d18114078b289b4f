//! A name server on the loopback interface for all tests of this process: it serves the TXT records that tests set
//! over UDP and TCP, and returns NXDOMAIN for every other name. Tests use domains of their own ([`domain`]).

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::sync::{Mutex, OnceLock};

use common::clock;

/// What is answered for a name.
#[derive(Debug, Clone)]
pub enum Zone {
    /// TXT records, each a text of any length. What does not fit into a datagram is to be asked for over TCP.
    Texts(Vec<String>),
    /// The name server failed.
    ServerFailure,
    /// Nothing is answered.
    Silence,
}

/// The maximum size of a response over UDP without EDNS.
const DATAGRAM: usize = 512;

fn zones() -> &'static Mutex<HashMap<String, Zone>> {
    static ZONES: OnceLock<Mutex<HashMap<String, Zone>>> = OnceLock::new();
    ZONES.get_or_init(Mutex::default)
}

/// A domain that no other test uses.
pub fn domain() -> String {
    format!("school-{}.example", clock::new_id())
}

/// Sets what is answered for the record that proves a domain.
pub fn set(domain: &str, zone: Zone) {
    zones().lock().unwrap().insert(format!("_groupwork.{domain}"), zone);
}

/// Removes the name of the record.
pub fn clear(domain: &str) {
    zones().lock().unwrap().remove(&format!("_groupwork.{domain}"));
}

/// Starts the name server at the first call.
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

/// Both protocols on one port.
fn sockets() -> (UdpSocket, TcpListener) {
    loop {
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()) {
            return (udp, tcp);
        }
    }
}

/// The answer to a message with one question, of so many bytes at most.
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
        Some(Zone::ServerFailure) => (2, Vec::new()),
        Some(Zone::Silence) => return None,
        Some(Zone::Texts(texts)) => (0, texts),
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

/// A TXT record of the name that was asked for.
fn record(text: &str) -> Vec<u8> {
    let mut data = if text.is_empty() { vec![0] } else { Vec::new() };
    for part in text.as_bytes().chunks(255) {
        data.push(u8::try_from(part.len()).unwrap());
        data.extend(part);
    }
    let size = u16::try_from(data.len()).unwrap().to_be_bytes();
    [&[0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60][..], &size, &data].concat()
}
