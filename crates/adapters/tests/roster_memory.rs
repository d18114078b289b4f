//! A large roster needs no more memory than a small one. The binary has this test only, because the memory of the whole
//! process is measured, and the server generates its rows while it sends them.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests may panic and print the reason"
)]

use std::fmt::Write as _;
use std::time::Instant;

use adapters::blob_store::BlobStore;
use adapters::blob_store::settings::ObjectStoreArgs;
use adapters::roster::{FetchedRoster, RosterAnswer, RosterClient, RosterServer, RosterTimeouts};
use common::settings::Secret;
use domain::roster::RosterProtocol;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Maximum growth of memory: the ids of 5,000 people and their memberships are hashed.
const GROWTH_MAX: u64 = 12 << 20;

fn memory(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// Returns the row of a list; `None` behind its end.
fn row(list: &str, number: usize, people: usize) -> Option<String> {
    let padding = "x".repeat(200);
    let class = number % people.div_ceil(25);
    let (count, text) = match list {
        "orgs" => (1, r#"{"sourcedId":"O1","type":"school"}"#.to_owned()),
        "users" => (
            people,
            format!(
                r#"{{"sourcedId":"U{number}","role":"student","givenName":"Sam","familyName":"L","note":"{padding}"}}"#
            ),
        ),
        "classes" => (
            people.div_ceil(25),
            format!(r#"{{"sourcedId":"C{number}","title":"Course {number}","school":{{"sourcedId":"O1"}}}}"#),
        ),
        "enrollments" => (
            people * 10,
            format!(
                r#"{{"sourcedId":"E{number}","role":"student","class":{{"sourcedId":"C{class}"}},"user":{{"sourcedId":"U{}"}}}}"#,
                number / 10
            ),
        ),
        "personen-info" => {
            let group = |n: usize| {
                format!(
                    r#"{{"gruppe":{{"id":"C{n}","bezeichnung":"Course {n}","typ":"Kurs"}},"gruppenzugehoerigkeit":{{"rollen":["Lern"]}}}}"#
                )
            };
            let groups: Vec<String> = (0..10).map(|n| group(class + n)).collect();
            let text = format!(
                r#"{{"pid":"P{number}","person":{{"name":{{"vorname":"Sam","familienname":"L"}}}},"personenkontexte":[{{"id":"K","rolle":"Lern","organisation":{{"id":"O1"}},"gruppen":[{}]}}]}}"#,
                groups.join(",")
            );
            (people, text)
        }
        _ => (0, String::new()),
    };
    (number < count).then_some(text)
}

async fn serve(mut stream: TcpStream, people: usize) -> std::io::Result<()> {
    let (mut received, mut buffer) = (Vec::new(), [0; 4096]);
    while !received.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut buffer).await?;
        received.extend_from_slice(&buffer[..count]);
    }
    let head = String::from_utf8_lossy(&received).into_owned();
    let target = head.split(' ').nth(1).unwrap();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let list = path.rsplit('/').next().unwrap();
    let number = |key: &str| {
        let pair = query.split('&').find_map(|pair| pair.strip_prefix(key));
        pair.map_or(0, |text| text.parse::<usize>().unwrap())
    };
    let (open, close) = match list {
        "token" => (r#"{"access_token":"t""#.to_owned(), "}"),
        "personen-info" => ("[".to_owned(), "]"),
        _ => (format!(r#"{{"{list}":["#), "]}"),
    };
    // The end of the connection is the end of the body.
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\n\r\n";
    stream.write_all(format!("{head}{open}").as_bytes()).await?;
    let (offset, limit) = (number("offset="), number("limit="));
    let rows = if list == "personen-info" { people } else { limit };
    let mut text = String::new();
    for index in 0..rows {
        let Some(row) = row(list, offset + index, people) else {
            break;
        };
        text.clear();
        write!(text, "{}{row}", if index == 0 { "" } else { "," }).unwrap();
        stream.write_all(text.as_bytes()).await?;
    }
    stream.write_all(close.as_bytes()).await?;
    stream.shutdown().await
}

async fn fetch(files: &BlobStore, protocol: RosterProtocol, people: usize) -> FetchedRoster {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move { serve(stream, people).await.unwrap_or_default() });
        }
    });
    let server = RosterServer {
        protocol,
        token_url: format!("{url}/token"),
        url,
        client_id: "id".to_owned(),
        client_secret: Secret::new("secret"),
        scope: None,
        school_id: None,
    };
    let networks = ["127.0.0.0/8".parse().unwrap()];
    let client = RosterClient::new(&networks, RosterTimeouts::default()).unwrap();
    let answer = client.fetch(&server, None, files).await.unwrap();
    serving.abort();
    match answer {
        RosterAnswer::Changed(roster) => roster,
        RosterAnswer::Unchanged => panic!("the roster is unchanged"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_does_not_depend_on_the_size_of_a_roster() {
    let folder = tempfile::tempdir().unwrap();
    let settings = ObjectStoreArgs::default();
    let files = BlobStore::connect(folder.path(), None, &settings).await.unwrap();
    for protocol in [RosterProtocol::OneRoster11, RosterProtocol::Schulconnex] {
        for _ in 0..3 {
            fetch(&files, protocol, 50).await;
        }
        std::fs::write("/proc/self/clear_refs", "5").unwrap();
        let (before, began) = (memory("VmRSS:"), Instant::now());
        let roster = fetch(&files, protocol, 5_000).await;
        let growth = memory("VmHWM:").saturating_sub(before);
        println!(
            "{protocol}: 5,000 people in {:?}, +{} KiB",
            began.elapsed(),
            growth >> 10
        );
        assert_eq!((roster.people, roster.enrollments), (5_000, 50_000));
        assert!(growth < GROWTH_MAX, "{protocol}: memory grew by {growth} bytes");
    }
}
