//! Saves whose download is truncated, replaced, too large or endless: none is acknowledged, none becomes a revision, no
//! partial file stays, and the previous content stays. A short run makes 100 of them, `make soak` 2,000.

use futures_util::StreamExt as _;
use futures_util::stream;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use test_support::document_server_fixture::{DocumentServerFixture, path};
use test_support::fake_document_server::{FakeDocumentServer, ResultDelivery, save, tell, whole};
use test_support::office::{
    SHEET, archive, archive_with_false_sizes, archive_with_many_entries, content_types, docx, docx_with, overlapping,
};
use test_support::{is_soak, size};

/// Number of documents that are saved concurrently.
const DOCUMENTS: usize = 10;

fn head(more: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n{more}\r\n")
}

fn with_content_length(length: usize, bytes: &[u8]) -> Vec<u8> {
    [head(&format!("Content-Length: {length}\r\n")).as_bytes(), bytes].concat()
}

/// Test files, created once: a valid text document and files that are not text documents.
struct TestFiles {
    good: Vec<u8>,
    wrong: Vec<Vec<u8>>,
}

impl TestFiles {
    fn new() -> Self {
        let noise: Vec<u8> = (0..90_000_u32)
            .map(|number| number.wrapping_mul(2_654_435_761).to_be_bytes()[1])
            .collect();
        let good = docx_with("as it should be", &[("word/media/noise.bin", &noise)]);
        let types = content_types("/xl/workbook.xml", SHEET);
        let bomb = docx_with("x", &[("word/big.xml", &vec![b' '; 80 << 20])]);
        let nested = archive(&[("word/big.xml", &vec![b' '; 40 << 20])]);
        let wrong = vec![
            b"<!doctype html><title>Sign in</title>".to_vec(),
            b"{\"error\":1}".to_vec(),
            b"PK\x03\x04".to_vec(),
            b"PK\x03\x04 and nothing that follows from it".repeat(100),
            b"%PDF-1.7 not what it was".to_vec(),
            archive(&[("[Content_Types].xml", types.as_bytes()), ("xl/workbook.xml", b"<x/>")]),
            archive(&[("word/document.xml", b"<x/>")]),
            docx_with("x", &[("word/vbaProject.bin", b"x")]),
            docx_with("x", &[("../../x", b"x")]),
            docx_with("x", &[("word/embeddings/a.xlsx", &nested)]),
            [b"GIF89a".as_slice(), &good].concat(),
            [good.as_slice(), b"<script>"].concat(),
            bomb,
            archive_with_false_sizes(),
            overlapping(40),
            archive_with_many_entries(),
        ];
        Self { good, wrong }
    }

    /// Returns one of the ways in which a download fails.
    fn bad(&self, rng: &mut StdRng, number: usize) -> (String, ResultDelivery) {
        let good = &self.good;
        let cut = rng.random_range(0..good.len());
        let half = &good[..cut];
        let raw = |what: &str, bytes: Vec<u8>| (format!("{what} at {cut}"), ResultDelivery::Raw(bytes));
        match number % 16 {
            0 => raw("cut", with_content_length(good.len(), half)),
            1 => raw(
                "cut, no length",
                [head("Connection: close\r\n").as_bytes(), half].concat(),
            ),
            2 => {
                let reset = with_content_length(good.len(), half);
                (format!("reset at {cut}"), ResultDelivery::Reset(reset))
            }
            3 => {
                let piece = format!("{:x}\r\n", good.len());
                raw(
                    "chunked, cut",
                    [
                        head("Transfer-Encoding: chunked\r\n").as_bytes(),
                        piece.as_bytes(),
                        half,
                    ]
                    .concat(),
                )
            }
            4 => {
                let garbage = [head("Transfer-Encoding: chunked\r\n").as_bytes(), b"zz\r\n", half].concat();
                raw("chunked garbage", garbage)
            }
            5 => {
                let status = [
                    "302 Found",
                    "404 Not Found",
                    "500 Oops",
                    "204 No Content",
                    "206 Partial",
                    "403 No",
                    "410 Gone",
                ];
                let status = status[rng.random_range(0..status.len())];
                let more = "Location: http://127.0.0.1:1/x\r\nConnection: close\r\n";
                let head = format!("HTTP/1.1 {status}\r\n{more}Content-Length: {}\r\n\r\n", good.len());
                raw(status, [head.as_bytes(), good].concat())
            }
            6 => {
                let page = b"<!doctype html><title>Sign in</title>";
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/HTML\r\nContent-Length: {}\r\n\r\n",
                    page.len()
                );
                raw("a page", [head.as_bytes(), page].concat())
            }
            7..=10 => {
                let at = rng.random_range(0..self.wrong.len());
                (
                    format!("wrong file {at}"),
                    ResultDelivery::Whole(self.wrong[at].clone()),
                )
            }
            11 => {
                let mut flipped = good.clone();
                // Inside the incompressible data, where only the checksum detects the change.
                let at = good.len() / 2 + cut / 4;
                flipped[at] ^= 1 << rng.random_range(0..8);
                (format!("a bit flipped at {at}"), ResultDelivery::Whole(flipped))
            }
            12 => {
                let length = rng.random_range(2 << 20..1_u64 << 40);
                raw(
                    "announced too large",
                    [head(&format!("Content-Length: {length}\r\n")).as_bytes(), half].concat(),
                )
            }
            13 => (
                "endless".to_owned(),
                ResultDelivery::Endless(head("Connection: close\r\n")),
            ),
            14 => match cut % 4 {
                0 => raw("nothing", Vec::new()),
                1 => raw("no HTTP", half.to_vec()),
                2 => raw("empty", whole(b"")),
                _ => raw("too short", with_content_length(cut.saturating_sub(1), good)),
            },
            _ => {
                let more = format!("Content-Encoding: gzip\r\nContent-Length: {}\r\n", half.len());
                raw("encoded", [head(&more).as_bytes(), half].concat())
            }
        }
    }
}

with_fake_document_server!(
    #[sqlite]
    bad_download_is_never_stored,
    ["--upload-max-mb=1"],
    |fake_server, fixture| {
        let seed = rand::random::<u64>();
        println!("bad downloads: seed {seed}");
        let each = size(5, 100);
        let files = TestFiles::new();
        let ada = fixture.app.as_(&fixture.app.world.ada);
        let runs = (0..DOCUMENTS).map(async |document_number| {
            let (ada, files) = (&ada, &files);
            let mut rng = StdRng::seed_from_u64(seed.wrapping_add(document_number as u64));
            let document = fixture.document("Our page").await;
            let good = fake_server.add_result(&format!("{document}-good"), ResultDelivery::Whole(files.good.clone()));
            let key = format!("{document}-1");
            assert_eq!(tell(fixture, &document, save(6, &key, &good, 1)).await, (200, 0));
            for number in 0..each {
                let (what, delivery) = files.bad(&mut rng, document_number * each + number);
                let url = fake_server.add_result(&format!("{document}-{number}"), delivery);
                let status = if number % 2 == 0 { 6 } else { 2 };
                let (answered, error) = tell(fixture, &document, save(status, &key, &url, 2)).await;
                assert!(
                    matches!((answered, error), (200 | 503, 1)),
                    "{what}: {answered} {error}"
                );
            }
            assert_eq!(fixture.origins(&document).await, ["FORCESAVE"], "the good one alone");
            assert_eq!(ada.get(&path(&document, "/download")).await.bytes, files.good);
            assert_eq!(fixture.key(&document).await, key);
            assert_eq!(
                fixture
                    .files()
                    .iter()
                    .filter(|name| name.starts_with(&document))
                    .count(),
                1
            );
            // The next valid save is accepted.
            let last = fake_server.add_result(&format!("{document}-last"), ResultDelivery::Whole(docx("at last")));
            assert_eq!(tell(fixture, &document, save(2, &key, &last, 3)).await, (200, 0));
            assert_eq!(ada.get(&path(&document, "/download")).await.bytes, docx("at last"));
        });
        stream::iter(runs)
            .buffer_unordered(DOCUMENTS)
            .collect::<Vec<()>>()
            .await;
        let parts = std::fs::read_dir(fixture.app.folder().join("files/parts"))
            .unwrap()
            .count();
        assert_eq!(parts, 0, "no part stays");
        if is_soak() {
            stalled_download_is_aborted(fake_server, fixture).await;
        }
    }
);

/// Three times 20 seconds without data. It runs only in the long run.
async fn stalled_download_is_aborted(fake_server: &FakeDocumentServer, fixture: &DocumentServerFixture) {
    let document = fixture.document("Our page").await;
    let key = fixture.key(&document).await;
    for delivery in [
        ResultDelivery::Silent(String::new()),
        ResultDelivery::Silent("HTTP/1.1 200 OK\r\n".to_owned()),
        ResultDelivery::Silent(head("Content-Length: 1000\r\n")),
    ] {
        let url = fake_server.add_result("silent", delivery);
        assert_eq!(tell(fixture, &document, save(2, &key, &url, 1)).await, (503, 1));
    }
    assert_eq!(fixture.origins(&document).await, Vec::<String>::new());
}
