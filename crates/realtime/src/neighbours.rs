//! What instances say to each other (PostgreSQL): for their lesson boards who is writing, who came, who went; and who asks
//! for much, so that limits hold for all of them together. It is said over a channel of the database and never stored: no
//! row, no log. What nobody hears is lost, and the next one says it.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use model::id::{GroupId, OrganizationId, UserId};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use super::Live;
use super::presence::Guest;
use auth::rates::{Count, Rates};
use common::clock;

/// The channel.
pub const CHANNEL: &str = "app_board";
/// Words that wait for the connection; more are dropped.
const WAITING: usize = 256;
/// People in one word: a notification holds less than 8,000 bytes.
const AT_ONCE: usize = 80;

/// The other instances, as far as this one knows of them.
pub struct Neighbours {
    /// How this instance calls itself.
    name: String,
    words: OnceLock<mpsc::Sender<String>>,
    /// What is told of those who ask for much is added here.
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
    /// Knows of no other instance yet.
    pub fn new() -> Self {
        Self {
            name: clock::new_id(),
            words: OnceLock::new(),
            rates: OnceLock::new(),
        }
    }

    /// Begins to speak; answers what is to be said, in order.
    pub fn meet(&self) -> mpsc::Receiver<String> {
        let (sender, words) = mpsc::channel(WAITING);
        drop(self.words.set(sender));
        words
    }

    /// Whether anybody can listen at all: the embedded database has one instance.
    pub fn are_there(&self) -> bool {
        self.words.get().is_some()
    }

    /// Says that somebody is writing.
    pub fn tell_writing(&self, (organization, group): &(OrganizationId, GroupId), user: &UserId) {
        self.say(Says::Writing(organization.clone(), group.clone(), user.clone()));
    }

    /// Says who is here.
    pub fn tell_here(&self, guests: &[Arc<Guest>]) {
        guests
            .chunks(AT_ONCE)
            .for_each(|some| self.say(Says::Here(named(some))));
    }

    /// Says who left.
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
            tracing::debug!("a word to the other instances was dropped");
        }
    }
}

fn named(guests: &[Arc<Guest>]) -> Vec<Guest> {
    guests.iter().map(|guest| Guest::clone(guest)).collect()
}

impl Live {
    /// Lets the instances count together: of whoever asks this one much the others are told, and the other way round.
    pub fn share(&self, rates: &Rates) {
        let live = Arc::downgrade(&self.0);
        rates.tell_with(move |count| {
            if let Some(live) = live.upgrade() {
                live.neighbours.say(Says::Asked(count));
            }
        });
        drop(self.0.neighbours.rates.set(rates.clone()));
    }

    /// How often people ask, once the service has announced it.
    pub(super) fn rates(&self) -> Option<&Rates> {
        self.0.neighbours.rates.get()
    }

    /// Begins to speak to the other instances; answers what is to be said, in order.
    pub(super) fn meet_neighbours(&self) -> mpsc::Receiver<String> {
        self.0.neighbours.meet()
    }

    /// Hears a word of an instance; its own it knows already.
    pub(super) fn hear_word(&self, word: &str) {
        let Ok(Word { from, says }) = serde_json::from_str(word) else {
            return tracing::warn!("a word of another instance was not understood");
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
