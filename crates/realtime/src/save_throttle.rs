//! Throttles save events: a document is saved often while a class writes, so at most one event per document is emitted
//! in five seconds, and always the last one. Any other event of the document is emitted immediately, after a save event
//! that is still waiting.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use domain::realtime::{Event, Room};
use serde_json::Value;

use super::RealtimeServer;
use super::dispatch::Emission;

/// Minimum time between two save events of a document.
const PAUSE: Duration = Duration::from_secs(5);

/// The throttled documents. Staff and members of a group are throttled separately.
#[derive(Default)]
pub struct SaveThrottle(Mutex<HashMap<String, Vec<Pause>>>);

struct Pause {
    rooms: Vec<Room>,
    waiting: Option<Emission>,
}

/// What to do with an event.
#[derive(Debug)]
pub enum ThrottleDecision {
    /// Emit these events, in this order.
    Now(Vec<Emission>),
    /// Emit the event, and then only the last one of its kind after a pause.
    NowThenPause(Box<Emission>, String),
    /// Keep the event until the pause is over.
    Later,
}

impl SaveThrottle {
    /// Decides what to do with an event.
    pub fn decide(&self, emission: Emission) -> ThrottleDecision {
        let Some(document) = document(&emission.payload).filter(|_| is_about_document(emission.event)) else {
            return ThrottleDecision::Now(vec![emission]);
        };
        let mut pauses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_save(&emission) {
            let pauses = pauses.get_mut(&document).into_iter().flatten();
            let waiting = pauses.filter_map(|pause| pause.waiting.take());
            let mut emissions: Vec<_> = waiting.filter(|_| emission.event != Event::DocumentDeleted).collect();
            emissions.push(emission);
            return ThrottleDecision::Now(emissions);
        }
        let pauses = pauses.entry(document.clone()).or_default();
        if let Some(pause) = pauses.iter_mut().find(|pause| pause.rooms == emission.rooms) {
            pause.waiting = Some(emission);
            return ThrottleDecision::Later;
        }
        pauses.push(Pause {
            rooms: emission.rooms.clone(),
            waiting: None,
        });
        ThrottleDecision::NowThenPause(Box::new(emission), document)
    }

    /// At the end of a pause, takes the event that was kept. Without one, throttling of the document ends.
    fn after_pause(&self, document: &str, rooms: &[Room]) -> Option<Emission> {
        let mut documents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let pauses = documents.get_mut(document)?;
        let waiting = pauses.iter_mut().find(|pause| pause.rooms == rooms)?.waiting.take();
        if waiting.is_none() {
            pauses.retain(|pause| pause.rooms != rooms);
            if pauses.is_empty() {
                documents.remove(document);
            }
        }
        waiting
    }
}

impl RealtimeServer {
    /// Waits for the end of each pause and emits the event that was kept.
    pub(super) fn pause_saves(&self, document: String, rooms: Vec<Room>) {
        let realtime = self.clone();
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(PAUSE).await;
                match realtime.0.save_throttle.after_pause(&document, &rooms) {
                    Some(emission) => realtime.emit(emission).await,
                    None => return,
                }
            }
        });
    }
}

fn is_about_document(event: Event) -> bool {
    matches!(
        event,
        Event::DocumentUpdated | Event::DocumentStatus | Event::DocumentDeleted
    )
}

/// Whether this is a save event: unlike changes by users, it has no `changed` field.
fn is_save(emission: &Emission) -> bool {
    emission.event == Event::DocumentUpdated && emission.payload.get("changed").is_none()
}

/// The document of an event.
fn document(payload: &Value) -> Option<String> {
    let id = payload
        .get("documentId")
        .or_else(|| payload.get("document")?.get("id"))?;
    id.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn emission(event: Event, payload: Value) -> Emission {
        Emission {
            organization: None,
            rooms: vec![Room::Group(domain::id::GroupId::new("g"))],
            except: Vec::new(),
            event,
            payload,
        }
    }

    fn save(number: i64) -> Emission {
        emission(
            Event::DocumentUpdated,
            json!({"document": {"id": "d", "version": number}}),
        )
    }

    fn rooms() -> Vec<Room> {
        save(0).rooms
    }

    #[test]
    fn first_and_last_of_many_saves_are_emitted() {
        let save_throttle = SaveThrottle::default();
        assert!(matches!(
            save_throttle.decide(save(1)),
            ThrottleDecision::NowThenPause(..)
        ));
        assert!(matches!(save_throttle.decide(save(2)), ThrottleDecision::Later));
        assert!(matches!(save_throttle.decide(save(3)), ThrottleDecision::Later));
        let last = save_throttle
            .after_pause("d", &rooms())
            .map(|emission| emission.payload["document"]["version"].clone());
        assert_eq!(last, Some(json!(3)));
        assert!(
            matches!(save_throttle.decide(save(4)), ThrottleDecision::Later),
            "the pause goes on after the last"
        );
        assert!(save_throttle.after_pause("d", &rooms()).is_some());
        assert!(save_throttle.after_pause("d", &rooms()).is_none());
        assert!(matches!(
            save_throttle.decide(save(5)),
            ThrottleDecision::NowThenPause(..)
        ));
    }

    #[test]
    fn each_audience_receives_its_version_of_first_save() {
        let save_throttle = SaveThrottle::default();
        assert!(matches!(
            save_throttle.decide(save(1)),
            ThrottleDecision::NowThenPause(..)
        ));
        let staff = Emission {
            rooms: vec![Room::Staff(domain::id::ClassId::new("c"))],
            ..save(1)
        };
        assert!(matches!(
            save_throttle.decide(staff),
            ThrottleDecision::NowThenPause(..)
        ));
    }

    #[test]
    fn other_document_events_flush_the_delayed_save_first() {
        let save_throttle = SaveThrottle::default();
        drop(save_throttle.decide(save(1)));
        drop(save_throttle.decide(save(2)));
        let emissions = |event| match save_throttle.decide(emission(event, json!({"documentId": "d"}))) {
            ThrottleDecision::Now(emissions) => emissions.iter().map(|emission| emission.event).collect::<Vec<_>>(),
            ThrottleDecision::NowThenPause(..) | ThrottleDecision::Later => Vec::new(),
        };
        assert_eq!(
            emissions(Event::DocumentStatus),
            [Event::DocumentUpdated, Event::DocumentStatus]
        );
        drop(save_throttle.decide(save(3)));
        assert_eq!(
            emissions(Event::DocumentDeleted),
            [Event::DocumentDeleted],
            "nothing of what is gone"
        );
        assert!(save_throttle.after_pause("d", &rooms()).is_none());
    }
}
