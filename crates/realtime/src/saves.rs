//! Saves of a document come often while a class writes; sockets hear of one in five seconds, and of the last in any case.
//! Whatever else happens to the document is told at once, after the save that waits.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use model::news::{Event, Room};
use serde_json::Value;

use super::Live;
use super::orders::Emission;

/// One save is told in this time.
const PAUSE: Duration = Duration::from_secs(5);

/// The documents in their pauses; the staff and the members of a group have one each.
#[derive(Default)]
pub struct Saves(Mutex<HashMap<String, Vec<Pause>>>);

struct Pause {
    rooms: Vec<Room>,
    waiting: Option<Emission>,
}

/// What to do with an event.
#[derive(Debug)]
pub enum Turn {
    /// Tell these, in this order.
    Now(Vec<Emission>),
    /// Tell it, and then nothing but the last of its kind for a while.
    NowAndPause(Box<Emission>, String),
    /// It waits.
    Later,
}

impl Saves {
    /// Decides about an event.
    pub fn turn(&self, emission: Emission) -> Turn {
        let Some(document) = document(&emission.payload).filter(|_| is_about_document(emission.event)) else {
            return Turn::Now(vec![emission]);
        };
        let mut pauses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_save(&emission) {
            let pauses = pauses.get_mut(&document).into_iter().flatten();
            let waiting = pauses.filter_map(|pause| pause.waiting.take());
            let mut told: Vec<_> = waiting.filter(|_| emission.event != Event::DocumentDeleted).collect();
            told.push(emission);
            return Turn::Now(told);
        }
        let pauses = pauses.entry(document.clone()).or_default();
        if let Some(pause) = pauses.iter_mut().find(|pause| pause.rooms == emission.rooms) {
            pause.waiting = Some(emission);
            return Turn::Later;
        }
        pauses.push(Pause {
            rooms: emission.rooms.clone(),
            waiting: None,
        });
        Turn::NowAndPause(Box::new(emission), document)
    }

    /// A pause is over: what waited, or nothing, and then there is no pause any more.
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

impl Live {
    /// Waits for the end of a pause and tells what came meanwhile.
    pub(super) fn pause_saves(&self, document: String, rooms: Vec<Room>) {
        let live = self.clone();
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(PAUSE).await;
                match live.0.saves.after_pause(&document, &rooms) {
                    Some(emission) => live.emit(emission).await,
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

/// A save says nothing of what changed; whatever people do to a document does.
fn is_save(emission: &Emission) -> bool {
    emission.event == Event::DocumentUpdated && emission.payload.get("changed").is_none()
}

/// The document an event is about.
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
            rooms: vec![Room::Group(model::id::GroupId::new("g"))],
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
    fn of_many_saves_the_first_is_told_and_the_last() {
        let saves = Saves::default();
        assert!(matches!(saves.turn(save(1)), Turn::NowAndPause(..)));
        assert!(matches!(saves.turn(save(2)), Turn::Later));
        assert!(matches!(saves.turn(save(3)), Turn::Later));
        let last = saves
            .after_pause("d", &rooms())
            .map(|emission| emission.payload["document"]["version"].clone());
        assert_eq!(last, Some(json!(3)));
        assert!(
            matches!(saves.turn(save(4)), Turn::Later),
            "the pause goes on after the last"
        );
        assert!(saves.after_pause("d", &rooms()).is_some());
        assert!(saves.after_pause("d", &rooms()).is_none());
        assert!(matches!(saves.turn(save(5)), Turn::NowAndPause(..)));
    }

    #[test]
    fn each_audience_hears_its_version_of_the_first_save() {
        let saves = Saves::default();
        assert!(matches!(saves.turn(save(1)), Turn::NowAndPause(..)));
        let staff = Emission {
            rooms: vec![Room::Staff(model::id::ClassId::new("c"))],
            ..save(1)
        };
        assert!(matches!(saves.turn(staff), Turn::NowAndPause(..)));
    }

    #[test]
    fn whatever_else_happens_to_the_document_is_told_after_the_save_that_waits() {
        let saves = Saves::default();
        drop(saves.turn(save(1)));
        drop(saves.turn(save(2)));
        let told = |event| match saves.turn(emission(event, json!({"documentId": "d"}))) {
            Turn::Now(told) => told.iter().map(|emission| emission.event).collect::<Vec<_>>(),
            Turn::NowAndPause(..) | Turn::Later => Vec::new(),
        };
        assert_eq!(
            told(Event::DocumentStatus),
            [Event::DocumentUpdated, Event::DocumentStatus]
        );
        drop(saves.turn(save(3)));
        assert_eq!(
            told(Event::DocumentDeleted),
            [Event::DocumentDeleted],
            "nothing of what is gone"
        );
        assert!(saves.after_pause("d", &rooms()).is_none());
    }
}
