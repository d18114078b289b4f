//! The sockets of this client process: which are ready, and which events each received.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use futures_util::stream::{self, TryStreamExt as _};
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::school::SocketSchool;
use super::socket::BenchSocket;
use super::target::{BenchServer, ServerKind};

/// Maximum number of concurrent connection attempts.
const MAX_CONNECTING: usize = 64;
/// The event that is emitted to a class.
const EVENT: &str = "class:updated";
/// Timeout of the delivery of an event to all sockets.
const DELIVERY_TIMEOUT: Duration = Duration::from_mins(1);

/// A growing number of sockets: the students of a class in order, class after class.
pub struct SocketPool<'s> {
    address: String,
    school: &'s SocketSchool,
    received: Arc<EventTotals>,
    sockets: Mutex<Vec<AbortHandle>>,
}

#[derive(Default)]
struct EventTotals {
    /// For each socket: number of received events, and the sum of their markers.
    by_socket: Mutex<Vec<(u32, u64)>>,
    total: AtomicUsize,
    lost: AtomicUsize,
    /// One event, recorded for the peer to emit.
    sample: Mutex<Option<String>>,
    /// The markers of all events.
    marks: Mutex<HashSet<u64>>,
    arrivals: Notify,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the id of the event in its text.
fn event_id(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("\"eventId\":\"")?;
    rest.split('"').next()
}

impl EventTotals {
    fn record(&self, place: usize, text: &str) {
        let Some(id) = event_id(text).filter(|_| text.starts_with("42[\"class:updated\"")) else {
            return;
        };
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        let mark = hasher.finish();
        {
            let mut by_socket = lock(&self.by_socket);
            let (count, sum) = &mut by_socket[place];
            *count += 1;
            *sum = sum.wrapping_add(mark);
        }
        if lock(&self.marks).insert(mark) {
            lock(&self.sample).get_or_insert_with(|| text.to_owned());
        }
        self.total.fetch_add(1, Ordering::Relaxed);
        self.arrivals.notify_one();
    }
}

impl<'s> SocketPool<'s> {
    /// Creates an empty set of sockets.
    pub fn new(target: &BenchServer, school: &'s SocketSchool) -> Self {
        Self {
            address: target.address().to_owned(),
            school,
            received: Arc::default(),
            sockets: Mutex::default(),
        }
    }

    /// Returns the number of connected sockets.
    pub fn connected(&self) -> usize {
        lock(&self.sockets).len() - self.received.lost.load(Ordering::Relaxed)
    }

    /// Opens connections until there are `count` and all were notified that their rooms are joined.
    pub async fn connect(&self, count: usize) -> anyhow::Result<()> {
        let have = lock(&self.sockets).len();
        lock(&self.received.by_socket).resize(count, (0, 0));
        stream::iter((have..count).map(Ok))
            .try_for_each_concurrent(MAX_CONNECTING, |place| self.connect_one(place))
            .await
    }

    async fn connect_one(&self, place: usize) -> anyhow::Result<()> {
        let learner = &self.school.people[place];
        let class = SocketSchool::class(place / self.school.class_size);
        // The service ignores these values; the peer has no other source.
        let query = format!(
            "&user={}&session={}&organization={}&rooms=class:{class},group:{}",
            learner.id, learner.session, self.school.id, learner.group,
        );
        let mut socket = BenchSocket::open(&self.address, &query, &learner.cookie).await?;
        while !socket.next().await?.starts_with("42[\"ready\"") {}
        let received = Arc::clone(&self.received);
        let listening = tokio::spawn(async move {
            while let Ok(text) = socket.next().await {
                received.record(place, &text);
            }
            received.lost.fetch_add(1, Ordering::Relaxed);
        });
        lock(&self.sockets).push(listening.abort_handle());
        Ok(())
    }

    /// Emits events to the first class with this many in flight; an event is complete when all its students received
    /// it. Returns the number of deliveries.
    pub async fn emit_events(
        &self,
        target: &BenchServer,
        events: usize,
        in_flight: usize,
        sample: &mut Option<String>,
    ) -> anyhow::Result<usize> {
        let room = self.school.class_size.min(self.connected());
        let begin = self.received.total.load(Ordering::Relaxed);
        for number in (0..events).step_by(in_flight) {
            let one = async |number: usize| match target.kind() {
                ServerKind::Service => {
                    target
                        .write(self.school, &format!("Class {in_flight}-{number:06}"))
                        .await
                }
                ServerKind::Node => {
                    let sample = sample.as_deref().context("no event was recorded yet")?;
                    let id = format!("{in_flight:08}-{number:027}");
                    let text = sample.replacen(event_id(sample).context("no eventId")?, &id, 1);
                    let (_, payload) = text.split_once(',').context("no payload")?;
                    let payload = payload.strip_suffix(']').context("no payload")?;
                    let room = SocketSchool::class(0);
                    let body = format!("{{\"room\":\"class:{room}\",\"event\":\"{EVENT}\",\"payload\":{payload}}}");
                    target.emit(body).await
                }
            };
            futures_util::future::try_join_all((number..number + in_flight).map(one)).await?;
            let due = begin + (number + in_flight) * room;
            let all = async {
                while self.received.total.load(Ordering::Relaxed) < due {
                    self.received.arrivals.notified().await;
                }
            };
            let told = timeout(DELIVERY_TIMEOUT, all).await;
            let have = self.received.total.load(Ordering::Relaxed);
            told.with_context(|| format!("{have} of {due} deliveries came"))?;
        }
        if sample.is_none() {
            sample.clone_from(&lock(&self.received.sample));
        }
        Ok(self.received.total.load(Ordering::Relaxed) - begin)
    }

    /// Checks that every socket of the first class received every event once, and no other socket received any.
    pub fn check(&self) -> anyhow::Result<()> {
        let marks = lock(&self.received.marks);
        let sum = marks.iter().fold(0_u64, |sum, mark| sum.wrapping_add(*mark));
        let all = (u32::try_from(marks.len())?, sum);
        for (place, received) in lock(&self.received.by_socket).iter().enumerate() {
            let due = if place < self.school.class_size { all } else { (0, 0) };
            ensure!(*received == due, "socket {place} received {received:?}, not {due:?}");
        }
        Ok(())
    }

    /// Closes all connections.
    pub async fn leave(self) {
        for socket in lock(&self.sockets).drain(..) {
            socket.abort();
        }
        tokio::task::yield_now().await;
    }
}
