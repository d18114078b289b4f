//! Chat, direct messages and announcements.

use model::change::message::MessageChange;
use model::group::Place;
use model::message::RoomMessage;
use model::news::{Event, Room};
use serde_json::json;

use super::telling::Telling;
use crate::views::message::{DirectMessageView, RoomMessageView};

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
            let rest = json!({"workRoomId": work_room_id, "lastReadAt": last_read_at, "unreadCount": unread_count});
            let told = Telling::event(&place.class, Event::MessageRead);
            telling.tell(&told, vec![Room::User(user.clone())], rest);
        }
        MessageChange::DirectSent { message } => {
            let rest = json!({"message": DirectMessageView::from(message.as_ref())});
            let (told, rooms) = if let Some(class) = &message.class_id {
                (
                    Telling::event(class, Event::DirectNew),
                    vec![Room::Class(class.clone())],
                )
            } else {
                let recipients = message.recipients.iter().map(|person| Room::User(person.id.clone()));
                (Telling::event_without_class(Event::DirectNew), recipients.collect())
            };
            telling.tell(&told, rooms, rest);
        }
        MessageChange::Pruned { files: _ } => {}
    }
}

fn chat(place: &Place, message: &RoomMessage, event: Event, telling: &mut Telling<'_>) {
    let rest = json!({
        "message": RoomMessageView::from(message),
        "workRoomId": message.work_room_id,
        "groupId": place.group.id,
    });
    telling.tell_group_alike(place, event, rest);
}
