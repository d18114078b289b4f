//! Events of chats, direct messages and announcements.

use model::change::message::MessageChange;
use model::group::Place;
use model::message::RoomMessage;
use model::news::{Event, Room};

use super::telling::Telling;
use api_types::event::{DirectNew, MessageEvent, MessageRead};
use api_types::message::{DirectMessageView, RoomMessageView};

pub fn tell(change: &MessageChange, telling: &mut Telling<'_>) {
    match change {
        MessageChange::Sent { place, message } => chat(place, message, Event::MessageNew, telling),
        MessageChange::Edited { place, message } => chat(place, message, Event::MessageUpdated, telling),
        MessageChange::Deleted { place, message } => chat(place, message, Event::MessageDeleted, telling),
        MessageChange::Read {
            place,
            work_room_id,
            user,
            last_read_at,
            unread_count,
        } => {
            let rest = MessageRead {
                work_room_id: work_room_id.clone(),
                last_read_at: *last_read_at,
                unread_count: *unread_count,
            };
            let told = Telling::event(&place.class, Event::MessageRead);
            telling.tell(&told, vec![Room::User(user.clone())], rest);
        }
        MessageChange::DirectSent { message } => {
            let rest = DirectNew {
                message: DirectMessageView::from(message.as_ref()),
            };
            if let Some(class) = &message.class_id {
                // Students receive an announcement; staff see it in the class's list of announcements.
                let told = Telling::event(class, Event::DirectNew);
                let staff = vec![Room::Staff(class.clone())];
                telling.tell_except(&told, vec![Room::Class(class.clone())], staff, rest);
            } else {
                let recipients = message.recipients.iter().map(|person| Room::User(person.id.clone()));
                let told = Telling::event_without_class(Event::DirectNew);
                telling.tell(&told, recipients.collect(), rest);
            }
        }
        MessageChange::Pruned { files: _ } => {}
    }
}

fn chat(place: &Place, message: &RoomMessage, event: Event, telling: &mut Telling<'_>) {
    let rest = MessageEvent {
        message: RoomMessageView::from(message),
        work_room_id: message.work_room_id.clone(),
        group_id: place.group.id.clone(),
    };
    telling.tell_group_alike(place, event, rest);
}
