//! What people do in the chat of a work room: write, change, take back, bring files, read. Everything in one room happens
//! one after the other, so the order of its messages, of its events and of its counters is the same for everybody.

use garde::Validate;
use model::change::message::MessageChange;
use model::edit::{Edit, not_null};
use model::file::{FILES_MAX, FileKey, MessageAttachment, StoredFile};
use model::group::Place;
use model::id::{AttachmentId, MessageId, WorkRoomId};
use model::list::List;
use model::message::{self, ReadingMark, RoomMessage};
use model::text::{ChatText, ClientMessageId};
use serde::Deserialize;
use utoipa::ToSchema;

use super::assignments::person;
use common::error::{Error, Result};
use db::Work;

/// A chat message to be written.
#[derive(Debug, Clone, Default, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewRoomMessage {
    /// What it says; may be absent when it brings files.
    #[serde(default, deserialize_with = "model::text::optional")]
    #[garde(dive)]
    pub content: Option<ChatText>,
    /// Files that the sender uploaded to this room and has not sent yet; at most 20.
    #[serde(default)]
    #[garde(dive, custom(few))]
    pub attachment_ids: List<AttachmentId>,
    /// The message of this room that it answers.
    #[serde(default)]
    #[garde(skip)]
    pub reply_to_id: Option<MessageId>,
    /// An id of the client's own: a second message with it is the first one once more.
    #[serde(default, deserialize_with = "model::text::optional")]
    #[garde(dive)]
    pub client_message_id: Option<ClientMessageId>,
}

/// What a PATCH may change.
#[derive(Debug, Clone, Default, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RoomMessageEdit {
    /// What it says now.
    #[serde(default)]
    #[garde(dive, custom(not_null))]
    pub content: Edit<ChatText>,
}

/// How far somebody has read.
#[derive(Debug, Clone, Default, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Reading {
    /// The last message that was read; all of them when it is absent.
    #[serde(default)]
    #[garde(skip)]
    pub last_read_message_id: Option<MessageId>,
}

/// What became of a message that was sent.
#[derive(Debug, Clone)]
pub enum Sent {
    /// It was written.
    New(RoomMessage),
    /// It had been written before; this is the first one, as it is now.
    Again(RoomMessage),
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "garde hands its context over like this"
)]
fn few(files: &List<AttachmentId>, (): &()) -> garde::Result {
    if files.len() > FILES_MAX {
        return Err(garde::Error::new(format!("must have at most {FILES_MAX} entries")));
    }
    Ok(())
}

/// Writes a message. The caller has asked [`message::has_content`].
pub fn send(work: &mut Work<'_>, room: &WorkRoomId, id: &MessageId, new: &NewRoomMessage) -> Result<Sent> {
    let place = work.room_to_chat(room)?;
    let sender = person(work)?;
    // A client that lost the answer asks again, also when the class was archived meanwhile.
    if let Some(client_id) = &new.client_message_id
        && let Some(first) = work.sent_message(room, &sender, client_id)?
    {
        return Ok(Sent::Again(first));
    }
    if let Some(question) = &new.reply_to_id {
        work.room_message(room, question)?;
    }
    if !new.attachment_ids.is_empty() {
        let waiting = work.waiting_files(room, &sender)?;
        let is_waiting = |id: &AttachmentId| waiting.iter().any(|file| file.id == *id);
        if !new.attachment_ids.iter().all(is_waiting) {
            return Err(Error::NotFound);
        }
    }
    place.class_status.writable()?;
    let message = RoomMessage {
        id: id.clone(),
        organization_id: work.organization().clone(),
        work_room_id: room.clone(),
        seq: work.next_seq(room)?,
        sender: None,
        kind: message::kind(new.attachment_ids.len()),
        content: new.content.clone().unwrap_or_else(|| ChatText::stored("")),
        attachments: Vec::new(),
        reply_to_id: new.reply_to_id.clone(),
        client_message_id: new.client_message_id.clone(),
        created_at: work.now(),
        edited_at: None,
        deleted_at: None,
    };
    work.insert_room_message(&message, Some(&sender))?;
    for file in new.attachment_ids.iter() {
        work.name_file(room, file, &sender, id)?;
    }
    work.count_own(room, &sender)?;
    let message = work.room_message(room, id)?;
    work.record(MessageChange::Sent {
        place,
        message: Box::new(message.clone()),
    });
    Ok(Sent::New(message))
}

/// Changes what a message of one's own says, for a quarter of an hour.
pub fn edit(work: &mut Work<'_>, room: &WorkRoomId, id: &MessageId, edit: &RoomMessageEdit) -> Result<RoomMessage> {
    let (place, mut message) = to_change(work, room, id)?;
    message.editable_by(&person(work)?, work.now())?;
    place.class_status.writable()?;
    let Some(content) = edit.content.value() else {
        return Ok(message);
    };
    if message.rewrite(content.clone(), work.now())? {
        work.rewrite_room_message(&message)?;
        let told = Box::new(message.clone());
        work.record(MessageChange::Edited { place, message: told });
    }
    Ok(message)
}

/// Takes a message back: it keeps its place and says nothing any more. Once more is no mistake.
pub fn remove(work: &mut Work<'_>, room: &WorkRoomId, id: &MessageId) -> Result<RoomMessage> {
    let (place, mut message) = to_change(work, room, id)?;
    let by = person(work)?;
    message.removable_by(work.viewer(), &by, work.now())?;
    if message.deleted_at.is_some() {
        return Ok(message);
    }
    place.class_status.writable()?;
    message.deleted_at = Some(work.now());
    work.delete_room_message(&message, &by)?;
    let told = Box::new(message.clone());
    work.record(MessageChange::Deleted { place, message: told });
    Ok(message)
}

/// Adds a file that a message may name. Of those that wait too many, the one that waited longest goes.
pub fn add_file(
    work: &mut Work<'_>,
    room: &WorkRoomId,
    id: AttachmentId,
    stored: StoredFile,
) -> Result<MessageAttachment> {
    let place = work.room_to_chat(room)?;
    place.class_status.writable()?;
    let uploader = person(work)?;
    let waiting = work.waiting_files(room, &uploader)?;
    let too_many = (waiting.len() + 1).saturating_sub(FILES_MAX);
    let mut files: Vec<FileKey> = Vec::new();
    for old in waiting.into_iter().take(too_many) {
        if work.drop_waiting_file(room, &old.id)? {
            files.push(old.file.key);
        }
    }
    if !files.is_empty() {
        work.record(MessageChange::Pruned { files });
    }
    let attachment = MessageAttachment {
        id,
        organization_id: work.organization().clone(),
        work_room_id: room.clone(),
        message_id: None,
        file: stored,
        uploaded_by_id: uploader,
        created_at: work.now(),
    };
    work.insert_chat_file(&attachment)?;
    Ok(attachment)
}

/// Moves the caller's reading mark forward, never back, and answers what is left unread.
pub fn read(work: &mut Work<'_>, room: &WorkRoomId, reading: &Reading) -> Result<i64> {
    let place = work.room_to_chat(room)?;
    let reader = person(work)?;
    let last = work.last_seq(room)?;
    let seq = match &reading.last_read_message_id {
        Some(id) => work.room_message(room, id)?.seq,
        None => last,
    };
    let before = work.reading_mark(room, &reader)?;
    if seq <= before.seq {
        return Ok(before.unread(last));
    }
    let own_after = work.own_after(room, &reader, seq)?;
    let mark = ReadingMark { seq, own_after };
    work.set_reading_mark(room, &reader, mark)?;
    let unread_count = mark.unread(last);
    let last_read_at = work.now();
    work.record(MessageChange::Read {
        place,
        work_room_id: room.clone(),
        user: reader,
        last_read_at,
        unread_count,
    });
    Ok(unread_count)
}

/// A message of a room that is held.
fn to_change(work: &mut Work<'_>, room: &WorkRoomId, id: &MessageId) -> Result<(Place, RoomMessage)> {
    let place = work.room_to_chat(room)?;
    let message = work.room_message(room, id)?;
    Ok((place, message))
}
