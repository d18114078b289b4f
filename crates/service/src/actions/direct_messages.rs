//! Messages to users and classes. A message to a group, or to all groups of a topic, is written into the chats of
//! their work rooms, where all members of the group see it.

use api_macros::body;
use domain::access::Viewer;
use domain::change::MessageChange;
use domain::domain_error::DomainError;
use domain::id::{AssignmentId, ClassId, GroupId, MessageId, UserId, WorkRoomId};
use domain::list::List;
use domain::message::{DirectMessage, RoomMessage, has_content};
use domain::text::{ChatText, MessageSubject};
use domain::user::Person;

use super::acting_user::{acting_person, acting_user};
use super::chat::{self, NewRoomMessage};
use common::clock;
use common::error::Result;
use db::WriteTx;
use db::direct_messages::VisibleMessage;

/// A message to send. It has exactly one target: users, a class, a group, or all groups of a topic.
#[body]
pub struct NewMessage {
    /// The users who receive it.
    #[serde(default)]
    pub recipient_ids: List<UserId>,
    /// The class that it is announced to.
    pub class_id: Option<ClassId>,
    /// The group whose chat it is written to.
    pub group_id: Option<GroupId>,
    /// The topic; the message is written to the chats of all its groups.
    pub assignment_id: Option<AssignmentId>,
    /// The subject. Not allowed for messages to groups.
    #[serde(default, deserialize_with = "domain::text::optional")]
    pub subject: Option<MessageSubject>,
    /// The text.
    pub content: ChatText,
}

/// The result of sending a message.
#[derive(Debug)]
pub enum DeliveredMessage {
    /// A message to users or a class.
    Direct(Box<VisibleMessage>),
    /// A message in the work room of a group.
    Room(Box<RoomMessage>),
    /// One message in the work room of each group of a topic.
    Rooms(AssignmentId, Vec<RoomMessage>),
}

/// The target of a message.
enum MessageTarget<'n> {
    People(&'n [UserId]),
    Class(&'n ClassId),
    Group(&'n GroupId),
    Topic(&'n AssignmentId),
}

impl NewMessage {
    /// Returns the target; exactly one must be present.
    fn target(&self) -> Result<MessageTarget<'_>, DomainError> {
        let people = (!self.recipient_ids.is_empty()).then_some(MessageTarget::People(&self.recipient_ids));
        let named = [
            people,
            self.class_id.as_ref().map(MessageTarget::Class),
            self.group_id.as_ref().map(MessageTarget::Group),
            self.assignment_id.as_ref().map(MessageTarget::Topic),
        ];
        let mut named = named.into_iter().flatten();
        match (named.next(), named.next()) {
            (Some(target), None) => Ok(target),
            (None, _) => Err(invalid(
                "recipientIds",
                "required",
                "is required unless classId, groupId or assignmentId is there",
            )),
            (Some(_), Some(_)) => Err(invalid(
                "recipientIds",
                "ambiguous",
                "goes with neither classId, groupId nor assignmentId, nor these with each other",
            )),
        }
    }
}

pub fn send(tx: &mut WriteTx<'_>, new: &NewMessage) -> Result<DeliveredMessage> {
    has_content(Some(&new.content), 0)?;
    let target = new.target()?;
    if matches!(target, MessageTarget::Group(_) | MessageTarget::Topic(_)) && new.subject.is_some() {
        return Err(invalid("subject", "unexpected", "is only for messages to persons and classes").into());
    }
    match target {
        MessageTarget::People(people) => {
            let recipients = people.iter().map(|id| find_recipient(tx, id)).collect::<Result<_>>()?;
            send_direct(tx, new, recipients, None)
        }
        MessageTarget::Class(id) => {
            check_is_staff(tx)?;
            let class = tx.lock_writable_class(id)?;
            send_direct(tx, new, Vec::new(), Some(class.id))
        }
        MessageTarget::Group(id) => {
            let room = tx.work_room_of(id)?.room.id;
            Ok(DeliveredMessage::Room(Box::new(post_to_room(tx, &room, new)?)))
        }
        MessageTarget::Topic(id) => {
            check_is_staff(tx)?;
            let topic = tx.lock_writable_assignment(id)?.assignment;
            let groups = tx.groups_on_topic(&topic.class_id, id)?;
            let rooms = groups.iter().map(|known| &known.details.group.work_room_id);
            let messages = rooms.map(|room| post_to_room(tx, room, new)).collect::<Result<_>>()?;
            Ok(DeliveredMessage::Rooms(topic.id, messages))
        }
    }
}

/// Marks a message as read. Returns the number of unread messages.
pub fn read(tx: &mut WriteTx<'_>, id: &MessageId) -> Result<i64> {
    let seen = tx.message(id)?;
    if is_for_reading(&seen) {
        let by = acting_user(tx)?;
        tx.read_message(&seen.message, &by)?;
    }
    tx.unread_messages()
}

/// Removes a message from the caller's own view.
pub fn remove(tx: &mut WriteTx<'_>, id: &MessageId) -> Result<()> {
    let seen = tx.message(id)?;
    if seen.is_own {
        tx.delete_sent_message(id)?;
    }
    if is_for_reading(&seen) {
        let by = acting_user(tx)?;
        tx.delete_received_message(&seen.message, &by)?;
    }
    Ok(())
}

fn post_to_room(tx: &mut WriteTx<'_>, room: &WorkRoomId, new: &NewMessage) -> Result<RoomMessage> {
    let content = NewRoomMessage {
        content: Some(new.content.clone()),
        ..NewRoomMessage::default()
    };
    match chat::send(tx, room, &MessageId::new(clock::new_id()), &content)? {
        chat::SentMessage::New(message) | chat::SentMessage::Repeated(message) => Ok(message),
    }
}

/// Returns whether the caller is a recipient, either directly or through the class.
fn is_for_reading(seen: &VisibleMessage) -> bool {
    seen.is_received || !seen.is_own
}

fn send_direct(
    tx: &mut WriteTx<'_>,
    new: &NewMessage,
    recipients: Vec<Person>,
    class: Option<ClassId>,
) -> Result<DeliveredMessage> {
    let message = DirectMessage {
        id: MessageId::new(clock::new_id()),
        organization_id: tx.organization().clone(),
        sender: acting_person(tx)?,
        recipients,
        class_id: class,
        subject: new.subject.clone(),
        content: new.content.clone(),
        created_at: tx.now(),
    };
    tx.insert_message(&message)?;
    let seen = tx.message(&message.id)?;
    let sent = DirectMessage {
        sender: seen.message.sender.clone(),
        ..message
    };
    tx.record(MessageChange::DirectSent {
        message: Box::new(sent),
    });
    Ok(DeliveredMessage::Direct(Box::new(seen)))
}

/// Returns a user whom the caller may write to. An unrelated user is not found; writing to a classmate is forbidden.
fn find_recipient(tx: &mut WriteTx<'_>, id: &UserId) -> Result<Person> {
    match tx.addressee(id)? {
        (person, true) => Ok(person),
        (_, false) => Err(DomainError::StudentsWriteToStaff.into()),
    }
}

fn check_is_staff(tx: &WriteTx<'_>) -> Result<(), DomainError> {
    match tx.viewer() {
        Viewer::Admin | Viewer::Teacher(_) => Ok(()),
        Viewer::Student(_) => Err(DomainError::StudentsWriteToStaff),
    }
}

fn invalid(path: &'static str, code: &'static str, message: &'static str) -> DomainError {
    DomainError::Invalid { path, code, message }
}
