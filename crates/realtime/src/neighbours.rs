//! Messages between instances over PostgreSQL: presence and typing for lesson boards, and request counts of active
//! users, so that rate limits apply to all instances together. They are sent with NOTIFY and are neither stored nor
//! logged. Delivery is best effort; a later message supersedes a lost one.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use model::id::{GroupId, OrganizationId, UserId};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use super::Live;
use super::presence::Guest;
use auth::rates::{Count, Rates};
use common::clock;

/// The NOTIFY channel.
pub const CHANNEL: &str = "app_board";
/// Messages queued for the connection. Further ones are dropped.
const WAITING: usize = 256;
/// Users per message; the payload of a notification is limited to less than 8,000 bytes.
const AT_ONCE: usize = 80;

/// The connection to the other instances.
pub struct Neighbours {
    /// The id of this instance.
    name: String,
    words: OnceLock<mpsc::Sender<String>>,
    /// The rate limiter that counts of other instances are added to.
    rates: OnceLock<Rates>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Word {
    from: String,
    says: Says,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Says {
    Writing(OrganizationId, GroupId, UserId),
    Here(Vec<Guest>),
    Gone(Vec<Guest>),
    Asked(Count),
}

impl Neighbours {
    /// Creates a disconnected value.
    pub fn new() -> Self {
        Self {
            name: clock::new_id(),
            words: OnceLock::new(),
            rates: OnceLock::new(),
        }
    }

    /// Opens the queue of outgoing messages and returns its receiver.
    pub fn meet(&self) -> mpsc::Receiver<String> {
        let (sender, words) = mpsc::channel(WAITING);
        drop(self.words.set(sender));
        words
    }

    /// Whether there can be other instances. With SQLite there is only one.
    pub fn are_there(&self) -> bool {
        self.words.get().is_some()
    }

    /// Sends that a user is writing.
    pub fn tell_writing(&self, (organization, group): &(OrganizationId, GroupId), user: &UserId) {
        self.say(Says::Writing(organization.clone(), group.clone(), user.clone()));
    }

    /// Sends the users connected to this instance.
    pub fn tell_here(&self, guests: &[Arc<Guest>]) {
        guests
            .chunks(AT_ONCE)
            .for_each(|some| self.say(Says::Here(named(some))));
    }

    /// Sends the users who disconnected from this instance.
    pub fn tell_gone(&self, guests: &[Arc<Guest>]) {
        guests
            .chunks(AT_ONCE)
            .for_each(|some| self.say(Says::Gone(named(some))));
    }

    fn say(&self, says: Says) {
        let Some(words) = self.words.get() else { return };
        let from = self.name.clone();
        let word = serde_json::to_string(&Word { from, says }).expect("ids can be written as JSON");
        if words.try_send(word).is_err() {
            tracing::debug!("peer message dropped: queue full");
        }
    }
}

fn named(guests: &[Arc<Guest>]) -> Vec<Guest> {
    guests.iter().map(|guest| Guest::clone(guest)).collect()
}

impl Live {
    /// Shares rate limits between instances: counts of active users are sent to the others, and theirs are added.
    pub fn share(&self, rates: &Rates) {
        let live = Arc::downgrade(&self.0);
        rates.tell_with(move |count| {
            if let Some(live) = live.upgrade() {
                live.neighbours.say(Says::Asked(count));
            }
        });
        drop(self.0.neighbours.rates.set(rates.clone()));
    }

    /// The rate limiter; `None` until [`Self::share`] was called.
    pub(super) fn rates(&self) -> Option<&Rates> {
        self.0.neighbours.rates.get()
    }

    /// Opens the queue of outgoing peer messages and returns its receiver.
    pub(super) fn meet_neighbours(&self) -> mpsc::Receiver<String> {
        self.0.neighbours.meet()
    }

    /// Handles a message of an instance. Its own messages are ignored.
    pub(super) fn hear_word(&self, word: &str) {
        let Ok(Word { from, says }) = serde_json::from_str(word) else {
            return tracing::warn!("peer message could not be parsed");
        };
        if from == self.0.neighbours.name {
            return;
        }
        match says {
            Says::Writing(organization, group, user) => self.0.pulses.note((organization, group), user, clock::now()),
            Says::Here(guests) => self.0.presence.note(&from, guests, Instant::now()),
            Says::Gone(guests) => self.0.presence.forget(&from, &guests),
            Says::Asked(count) => {
                if let Some(rates) = self.0.neighbours.rates.get() {
                    rates.add(count);
                }
            }
        }
    }
}
