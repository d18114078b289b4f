//! Events of comments on documents.

use domain::change::CommentChange;
use domain::realtime::{Event, Room};

use super::event_builder::EventBuilder;
use api_types::event::DocumentComments;

pub fn emit(change: &CommentChange, builder: &mut EventBuilder<'_>) {
    match change {
        CommentChange::Created(context)
        | CommentChange::Replied(context)
        | CommentChange::Edited(context)
        | CommentChange::Deleted(context)
        | CommentChange::Resolved(context)
        | CommentChange::Reopened(context) => {
            let mentioned = context.mentioned.iter().map(|person| person.id.clone());
            let mentioned: Vec<_> = mentioned.collect();
            let payload = DocumentComments {
                document_id: context.document.id.clone(),
                group_id: context.group_context.group.id.clone(),
                thread_id: Some(context.thread.clone()),
                mentioned_user_ids: (!mentioned.is_empty()).then_some(mentioned),
            };
            builder.emit_to_whole_group(&context.group_context, Event::DocumentComments, payload);
        }
        CommentChange::Read {
            group_context,
            document,
            user,
        } => {
            let payload = DocumentComments {
                document_id: document.clone(),
                group_id: group_context.group.id.clone(),
                thread_id: None,
                mentioned_user_ids: None,
            };
            let header = EventBuilder::event(&group_context.class, Event::DocumentComments);
            builder.emit(&header, vec![Room::User(user.clone())], payload);
        }
    }
}
