//! All 120 orders in which five callbacks of one session can arrive, with repeats and with a slow download. A small
//! model of the rules determines the expected final state. Every response on the way is "accepted".

use futures_util::StreamExt as _;
use futures_util::stream;
use serde_json::{Value, json};

use test_support::document_server_fixture::{DocumentServerFixture, eventually, path};
use test_support::fake_document_server::{FakeDocumentServer, ResultDelivery, save, tell};
use test_support::is_soak;
use test_support::office::docx;

/// The callbacks of a session in the usual order: a user joins, two forced saves, the final save, and the close of a
/// user who made no changes.
const CALLBACKS: [i64; 5] = [1, 6, 60, 2, 4];

fn orders(left: &[i64]) -> Vec<Vec<i64>> {
    if left.is_empty() {
        return vec![Vec::new()];
    }
    let firsts = left.iter().enumerate();
    let all = firsts.flat_map(|(at, first)| {
        let mut rest = left.to_vec();
        rest.remove(at);
        orders(&rest).into_iter().map(move |mut order| {
            order.insert(0, *first);
            order
        })
    });
    all.collect()
}

/// Returns the time of the last change in a save; `None` for other callbacks.
fn written_at(callback: i64) -> Option<u32> {
    match callback {
        6 => Some(10),
        60 => Some(20),
        2 => Some(30),
        _ => None,
    }
}

fn text(callback: i64) -> String {
    format!("written at {}", written_at(callback).unwrap())
}

/// Returns the saves that become the content, in order: each one that is newer than all before it, once.
fn model(processed: &[i64]) -> Vec<i64> {
    let mut kept: Vec<i64> = Vec::new();
    for callback in processed.iter().filter(|callback| written_at(**callback).is_some()) {
        if kept.last().is_none_or(|last| written_at(*last) < written_at(*callback)) {
            kept.push(*callback);
        }
    }
    kept
}

struct CallbackSession<'s> {
    fake_server: &'s FakeDocumentServer,
    fixture: &'s DocumentServerFixture,
    document: &'s str,
}

impl CallbackSession<'_> {
    fn claims(&self, callback: i64, delivery: fn(Vec<u8>) -> ResultDelivery) -> Value {
        let key = format!("{}-1", self.document);
        let ben = &self.fixture.app.world.ben.id;
        let Some(at) = written_at(callback) else {
            return json!({"key": key, "status": callback, "users": [ben]});
        };
        let url = self
            .fake_server
            .add_result(&format!("{key}-{callback}"), delivery(docx(&text(callback))));
        let mut claims = save(if callback == 2 { 2 } else { 6 }, &key, &url, at);
        claims["users"] = json!([ben]);
        claims
    }

    async fn tell(&self, callback: i64) {
        let event = tell(
            self.fixture,
            self.document,
            self.claims(callback, ResultDelivery::Whole),
        )
        .await;
        assert_eq!(event, (200, 0), "{callback} of {}", self.document);
    }

    /// Checks the state after all callbacks were sent and processed in the order `processed`.
    async fn check(&self, order: &[i64], processed: &[i64]) {
        let ada = self.fixture.app.as_(&self.fixture.app.world.ada);
        let kept = model(processed);
        let versions = self.fixture.versions(self.document).await;
        let sizes: Vec<i64> = versions
            .iter()
            .rev()
            .map(|version| version["version"].as_i64().unwrap())
            .collect();
        let numbers: Vec<i64> = (1..=i64::try_from(kept.len()).unwrap()).collect();
        assert_eq!(
            sizes, numbers,
            "{order:?}: one revision for each save that was news, without gaps"
        );
        for (number, callback) in numbers.iter().zip(&kept) {
            let bytes = ada
                .get(&path(self.document, &format!("/versions/{number}/download")))
                .await
                .bytes;
            assert_eq!(bytes, docx(&text(*callback)), "{order:?}: revision {number}");
        }
        let content = ada.get(&path(self.document, "/download")).await.bytes;
        assert_eq!(
            content,
            docx(&text(2)),
            "{order:?}: the newest is the content, and it holds all text"
        );
        assert_eq!(
            self.fixture.key(self.document).await,
            format!("{}-2", self.document),
            "{order:?}"
        );
        let own = self
            .fixture
            .files()
            .into_iter()
            .filter(|name| name.starts_with(self.document))
            .count();
        assert_eq!(own, kept.len(), "{order:?}: no bytes are left over");
    }

    /// Sends all callbacks in this order, and repeats those at the positions `again` at the end.
    async fn repeated(&self, order: &[i64], again: &[usize]) {
        let mut processed = Vec::new();
        for (at, callback) in order.iter().enumerate() {
            self.tell(*callback).await;
            processed.push(*callback);
            if again.contains(&at) {
                self.tell(order[at]).await;
            }
        }
        for at in again {
            self.tell(order[*at]).await;
        }
        self.check(order, &processed).await;
    }

    /// Sends all callbacks in this order. The download of the first save ends after all others.
    async fn delayed(&self, order: &[i64]) {
        let slow = *order.iter().find(|callback| written_at(**callback).is_some()).unwrap();
        let mut processed: Vec<i64> = order.iter().copied().filter(|callback| *callback != slow).collect();
        let claims = self.claims(slow, ResultDelivery::Held);
        let asked = |line: &String| line.contains(&format!("{}-1-{slow}/", self.document));
        let others = async {
            eventually(async || self.fake_server.fetched().iter().any(asked)).await;
            for callback in &processed {
                self.tell(*callback).await;
            }
            self.fake_server.release(&format!("{}-1-{slow}", self.document));
        };
        let (event, ()) = tokio::join!(tell(self.fixture, self.document, claims), others);
        assert_eq!(event, (200, 0), "{order:?}");
        processed.push(slow);
        self.check(order, &processed).await;
    }
}

with_fake_document_server!(
    every_order_of_five_callbacks_has_same_result,
    [],
    |fake_server, fixture| {
        let orders = orders(&CALLBACKS);
        assert_eq!(orders.len(), 120);
        let third = fixture
            .app
            .room(&fixture.app.world.seven_b, &[&fixture.app.world.eli])
            .await;
        let rooms = [fixture.room.clone(), fixture.hidden_room().await, third.id];
        // A short run sends every order once, alternating between a slow download and one repeat.
        let is_long = is_soak();
        let stories = orders.iter().enumerate().map(async |(number, order)| {
            let room = &rooms[number % 3];
            if is_long || number % 2 == 0 {
                let document = fixture.document_in(room, "Our page").await;
                CallbackSession {
                    fake_server,
                    fixture,
                    document: &document,
                }
                .delayed(order)
                .await;
            }
            if is_long || number % 2 == 1 {
                let document = fixture.document_in(room, "Our page").await;
                let again = if is_long {
                    vec![0, 1, 2, 3, 4]
                } else {
                    vec![number / 2 % 5]
                };
                CallbackSession {
                    fake_server,
                    fixture,
                    document: &document,
                }
                .repeated(order, &again)
                .await;
            }
        });
        stream::iter(stories).buffer_unordered(6).collect::<Vec<()>>().await;
    }
);
