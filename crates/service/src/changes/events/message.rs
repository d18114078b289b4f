//! Events of chats, direct messages and announcements.

use domain::change::MessageChange;
use domain::group::GroupContext;
use domain::message::RoomMessage;
use domain::realtime::{Event, Room};

use super::event_builder::EventBuilder;
use api_types::event::{DirectNew, MessageEvent, MessageRead};
use api_types::message::{DirectMessageView, RoomMessageView};

pub fn emit(change: &MessageChange, builder: &mut EventBuilder<'_>) {
    match change {
        MessageChange::Sent { group_context, message } => {
            emit_message(group_context, message, Event::MessageNew, builder);
        }
        MessageChange::Edited { group_context, message } => {
            emit_message(group_context, message, Event::MessageUpdated, builder);
        }
        MessageChange::Deleted { group_context, message } => {
            emit_message(group_context, message, Event::MessageDeleted, builder);
        }
        MessageChange::Read {
            group_context,
            work_room_id,
            user,
            last_read_at,
            unread_count,
        } => {
            let payload = MessageRead {
                work_room_id: work_room_id.clone(),
                last_read_at: *last_read_at,
                unread_count: *unread_count,
            };
            let header = EventBuilder::event(&group_context.class, Event::MessageRead);
            builder.emit(&header, vec![Room::User(user.clone())], payload);
        }
        MessageChange::DirectSent { message } => {
            let payload = DirectNew {
                message: DirectMessageView::from(message.as_ref()),
            };
            if let Some(class) = &message.class_id {
                // Students receive an announcement; staff see it in the class's list of announcements.
                let header = EventBuilder::event(class, Event::DirectNew);
                let staff = vec![Room::Staff(class.clone())];
                builder.emit_except(&header, vec![Room::Class(class.clone())], staff, payload);
            } else {
                let recipients = message.recipients.iter().map(|person| Room::User(person.id.clone()));
                let header = EventBuilder::event_without_class(Event::DirectNew);
                builder.emit(&header, recipients.collect(), payload);
            }
        }
        MessageChange::Pruned { files: _ } => {}
    }
}

fn emit_message(group_context: &GroupContext, message: &RoomMessage, event: Event, builder: &mut EventBuilder<'_>) {
    let payload = MessageEvent {
        message: RoomMessageView::from(message),
        work_room_id: message.work_room_id.clone(),
        group_id: group_context.group.id.clone(),
    };
    builder.emit_to_whole_group(group_context, event, payload);
}
