//! The chat of work rooms: messages by their sequence number in the room, their files, and read markers. Access to the
//! room is checked before, with [`ReadTx::group_context_of_room`]; these functions do not check it again.

use std::collections::HashMap;

use domain::access::{MemberRole, PlatformRole};
use domain::file::MessageAttachment;
use domain::group::GroupContext;
use domain::id::{AttachmentId, MessageId, UserId, WorkRoomId};
use domain::message::{MessageSender, ReadingMark, RoomMessage};
use domain::text::ClientMessageId;

use super::page::{Position, Slice, Window};
use super::sql::{Columns, Sql, Value};
use super::{ReadTx, WriteTx};
use crate::labels::{PERSON_COLUMNS, stored_file};
use crate::{args, fragments, from_row, named, statements};
use common::error::{Error, Result};

fragments! {
    SELECT_MESSAGES = "SELECT m.id, m.organization_id, m.work_room_id, m.seq, {PERSON_COLUMNS},
            u.role AS platform_role, b.role AS member_role, m.type, m.content,
                m.reply_to_id, m.client_message_id, m.created_at, m.edited_at, m.deleted_at
            FROM work_room_messages m
            LEFT JOIN users u ON u.id = m.sender_id
            LEFT JOIN members b ON b.organization_id = m.organization_id AND b.user_id = m.sender_id
            WHERE m.organization_id = $1 AND m.work_room_id = $2 AND";
    SELECT_FILES = "SELECT f.id, f.organization_id, f.work_room_id, f.message_id, f.file_key, f.file_name,
        f.mime_type, f.size,
                f.sha256, f.uploaded_by_id, f.created_at
            FROM";
}

statements! {
    /// Locks the group of a room until the end of the transaction. Changes of its members and writes to its chat wait.
    LOCK = "SELECT id FROM groups WHERE organization_id = $1
            AND id = (SELECT w.group_id FROM work_rooms w WHERE w.organization_id = $1 AND w.id = $2)
        FOR NO KEY UPDATE";
    /// Messages before a sequence number, newest first.
    BEFORE = "{SELECT_MESSAGES} m.seq < $3 ORDER BY m.seq DESC LIMIT $4";
    /// Messages after a sequence number, oldest first.
    AFTER = "{SELECT_MESSAGES} m.seq > $3 ORDER BY m.seq LIMIT $4";
    BY_ID = "{SELECT_MESSAGES} m.id = $3";
    /// The message with the id that the client of its sender generated.
    BY_CLIENT_ID = "{SELECT_MESSAGES} m.sender_id = $3 AND m.client_message_id = $4";
    /// The next sequence number. The update locks the room, so there are neither gaps nor duplicates.
    NEXT_SEQ = "UPDATE work_rooms SET last_message_seq = last_message_seq + 1 WHERE organization_id = $1 AND id = $2
        RETURNING last_message_seq";
    LAST_SEQ = "SELECT last_message_seq FROM work_rooms WHERE organization_id = $1 AND id = $2";
    INSERT = "INSERT INTO work_room_messages (organization_id, id, work_room_id, seq, sender_id, type, content,
            reply_to_id, client_message_id, created_at)
        VALUES ($1, :id, :work_room_id, :seq, :sender_id, :type, :content, :reply_to_id, :client_message_id,
            :created_at)";
    /// Updates the content of a message.
    REWRITE = "UPDATE work_room_messages SET content = $4, edited_at = $5
        WHERE organization_id = $1 AND work_room_id = $2 AND id = $3";
    /// Marks a message as deleted. Its content is kept for a retention period.
    DELETE = "UPDATE work_room_messages SET deleted_at = $4, deleted_by_id = $5
        WHERE organization_id = $1 AND work_room_id = $2 AND id = $3";
    /// The files of the messages in a range of sequence numbers, except files of deleted messages.
    FILES = "{SELECT_FILES} work_room_messages m JOIN message_attachments f ON f.message_id = m.id
        WHERE m.organization_id = $1 AND m.work_room_id = $2 AND m.seq BETWEEN $3 AND $4 AND m.deleted_at IS NULL
        ORDER BY f.created_at, f.id";
    /// One file: of a message, or a pending upload of the user.
    FILE = "{SELECT_FILES} message_attachments f LEFT JOIN work_room_messages m ON m.id = f.message_id
        WHERE f.organization_id = $1 AND f.work_room_id = $2 AND f.id = $3
            AND ((m.id IS NOT NULL AND m.deleted_at IS NULL) OR (f.message_id IS NULL AND f.uploaded_by_id = $4))";
    /// The pending uploads of a user: files that no message refers to yet, oldest first.
    WAITING = "{SELECT_FILES} message_attachments f WHERE f.organization_id = $1 AND f.work_room_id = $2
            AND f.message_id IS NULL AND f.uploaded_by_id = $3
        ORDER BY f.created_at, f.id";
    /// Inserts a file that no message refers to yet.
    INSERT_FILE = "INSERT INTO message_attachments (organization_id, id, work_room_id, file_name, mime_type, size,
            sha256, file_key, uploaded_by_id, created_at)
        VALUES ($1, :id, :work_room_id, :file_name, :mime_type, :size, :sha256, :file_key, :uploaded_by_id, :created_at)";
    /// Attaches a pending upload to a message.
    NAME_FILE = "UPDATE message_attachments SET message_id = $5
            WHERE organization_id = $1 AND work_room_id = $2 AND id = $3
            AND uploaded_by_id = $4 AND message_id IS NULL";
    /// Deletes a pending upload.
    DROP_FILE = "DELETE FROM message_attachments WHERE organization_id = $1 AND work_room_id = $2 AND id = $3
            AND message_id IS NULL";
    /// The read marker of a user.
    MARK = "SELECT last_read_seq, own_after FROM work_room_reads
        WHERE organization_id = $1 AND work_room_id = $2 AND user_id = $3";
    /// Counts the messages that a user sent after a sequence number.
    OWN_AFTER = "SELECT COUNT(*) FROM work_room_messages
        WHERE organization_id = $1 AND work_room_id = $2 AND sender_id = $3 AND seq > $4";
    /// Sets the read marker of a user.
    SET_MARK = "INSERT INTO work_room_reads (organization_id, work_room_id, user_id, last_read_seq, own_after,
        last_read_at)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (work_room_id, user_id) DO UPDATE SET last_read_seq = excluded.last_read_seq,
            own_after = excluded.own_after, last_read_at = excluded.last_read_at";
    /// Increments the number of own messages after the read marker; they do not count as unread.
    COUNT_OWN = "INSERT INTO work_room_reads (organization_id, work_room_id, user_id, last_read_seq, own_after,
        last_read_at)
        VALUES ($1, $2, $3, 0, 1, $4)
        ON CONFLICT (work_room_id, user_id) DO UPDATE SET own_after = work_room_reads.own_after + 1";
}

/// The direction in which messages are paged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadDirection {
    /// Newest first.
    Back,
    /// Oldest first, after this sequence number: the messages that a client missed.
    From(i64),
}

impl ReadTx<'_> {
    /// Returns a page of the messages of a room, with their files.
    pub fn room_messages(
        &mut self,
        room: &WorkRoomId,
        way: ReadDirection,
        window: &Window<i64>,
    ) -> Result<Slice<RoomMessage, i64>> {
        let (sql, first) = match way {
            ReadDirection::Back => (&BEFORE, i64::MAX),
            ReadDirection::From(seq) => (&AFTER, seq),
        };
        let from = window.after.as_ref().map_or(first, |position| position.key);
        let rows = self.with_files(room, sql, args![room, from, window.rows()])?;
        Ok(window.cut(rows, |message| Position {
            key: message.seq,
            id: message.id.to_string(),
        }))
    }

    /// Returns a message of a room with its files.
    pub fn room_message(&mut self, room: &WorkRoomId, id: &MessageId) -> Result<RoomMessage> {
        let found = self.with_files(room, &BY_ID, args![room, id])?;
        found.into_iter().next().ok_or(Error::NotFound)
    }

    /// Returns the message that was sent with this client message id, if there is one. Detects retries.
    pub fn sent_message(
        &mut self,
        room: &WorkRoomId,
        sender: &UserId,
        id: &ClientMessageId,
    ) -> Result<Option<RoomMessage>> {
        let found = self.with_files(room, &BY_CLIENT_ID, args![room, sender, id])?;
        Ok(found.into_iter().next())
    }

    /// Returns a file of a message that is not deleted, or a pending upload of the user.
    pub fn file_of_chat(&mut self, room: &WorkRoomId, id: &AttachmentId) -> Result<MessageAttachment> {
        let user = self.user_text();
        self.fetch_one(&FILE, args![room, id, user], file)
    }

    /// Lists the pending uploads of a user in a room: files that no message refers to yet, oldest first.
    pub fn unsent_files(&mut self, room: &WorkRoomId, uploader: &UserId) -> Result<Vec<MessageAttachment>> {
        self.fetch_all(&WAITING, args![room, uploader], file)
    }

    /// Returns the sequence number of the newest message of a room.
    pub fn last_seq(&mut self, room: &WorkRoomId) -> Result<i64> {
        self.fetch_one(&LAST_SEQ, args![room], |row| row.get("last_message_seq"))
    }

    /// Returns the read marker of a user in a room.
    pub fn reading_mark(&mut self, room: &WorkRoomId, reader: &UserId) -> Result<ReadingMark> {
        let found = self.fetch_optional(
            &MARK,
            args![room, reader],
            |row| from_row!(row => ReadingMark { seq = "last_read_seq", own_after }),
        );
        Ok(found?.unwrap_or_default())
    }

    /// Counts the messages that a user sent after a sequence number.
    pub fn own_after(&mut self, room: &WorkRoomId, author: &UserId, seq: i64) -> Result<i64> {
        self.fetch_one(&OWN_AFTER, args![room, author, seq], |row| row.only())
    }

    /// Reads messages and, with one more statement, the files of all of them.
    fn with_files(
        &mut self,
        room: &WorkRoomId,
        sql: &'static Sql,
        arguments: &[Value<'_>],
    ) -> Result<Vec<RoomMessage>> {
        let mut messages = self.fetch_all(sql, arguments, message)?;
        let places = messages.iter().map(|message| message.seq);
        let (Some(first), Some(last)) = (places.clone().min(), places.max()) else {
            return Ok(messages);
        };
        let mut files: HashMap<MessageId, Vec<MessageAttachment>> = HashMap::new();
        for file in self.fetch_all(&FILES, args![room, first, last], file)? {
            if let Some(message) = file.message_id.clone() {
                files.entry(message).or_default().push(file);
            }
        }
        for message in &mut messages {
            message.attachments = files.remove(&message.id).unwrap_or_default();
        }
        Ok(messages)
    }
}

impl WriteTx<'_> {
    /// Locks the chat of a room until the end of the transaction. Access is checked while the lock is held: a user who
    /// was removed from the group before can no longer write.
    pub fn lock_room_for_chat(&mut self, id: &WorkRoomId) -> Result<GroupContext> {
        self.fetch_one(&LOCK, args![id], |row| row.get::<String>("id"))?;
        self.group_context_of_room(id)
    }

    /// Increments and returns the sequence number for the next message of a room.
    pub fn next_seq(&mut self, room: &WorkRoomId) -> Result<i64> {
        self.fetch_one(&NEXT_SEQ, args![room], |row| row.get("last_message_seq"))
    }

    /// Inserts a message without its files.
    pub fn insert_room_message(&mut self, new: &RoomMessage, sender: Option<&UserId>) -> Result<()> {
        self.execute_named(
            &INSERT,
            named![new =>
                id, work_room_id, seq, content, reply_to_id, client_message_id, created_at,
                sender_id: sender,
                type: new.kind,
            ],
        )
    }

    /// Updates the content of a message.
    pub fn rewrite_room_message(&mut self, message: &RoomMessage) -> Result<()> {
        let arguments = args![message.work_room_id, message.id, message.content, message.edited_at];
        self.execute(&REWRITE, arguments)
    }

    /// Marks a message as deleted.
    pub fn delete_room_message(&mut self, message: &RoomMessage, by: &UserId) -> Result<()> {
        let arguments = args![message.work_room_id, message.id, message.deleted_at, by];
        self.execute(&DELETE, arguments)
    }

    /// Inserts a file that no message refers to yet.
    pub fn insert_chat_file(&mut self, new: &MessageAttachment) -> Result<()> {
        self.stored(new.file.size);
        let file = &new.file;
        self.execute_named(
            &INSERT_FILE,
            named![new =>
                id, work_room_id, uploaded_by_id, created_at,
                file_name: file.file_name,
                mime_type: file.mime_type,
                size: file.size,
                sha256: file.sha256,
                file_key: file.key,
            ],
        )
    }

    /// Attaches a pending upload of this user to a message; `NotFound` for every other file.
    pub fn attach_file(
        &mut self,
        room: &WorkRoomId,
        id: &AttachmentId,
        uploader: &UserId,
        message: &MessageId,
    ) -> Result<()> {
        if self.execute_counted(&NAME_FILE, args![room, id, uploader, message])? == 0 {
            Err(Error::NotFound)
        } else {
            Ok(())
        }
    }

    /// Deletes the row of a pending upload; returns whether it existed. The caller schedules the removal of the stored
    /// bytes with the change it records.
    pub fn delete_unsent_file(&mut self, room: &WorkRoomId, id: &AttachmentId) -> Result<bool> {
        Ok(self.execute_counted(&DROP_FILE, args![room, id])? > 0)
    }

    /// Sets the read marker of a user.
    pub fn set_reading_mark(&mut self, room: &WorkRoomId, reader: &UserId, mark: ReadingMark) -> Result<()> {
        let now = self.now();
        self.execute(&SET_MARK, args![room, reader, mark.seq, mark.own_after, now])
    }

    /// Counts a message of the user's own, which is never unread for them.
    pub fn count_own(&mut self, room: &WorkRoomId, author: &UserId) -> Result<()> {
        let now = self.now();
        self.execute(&COUNT_OWN, args![room, author, now])
    }
}

fn message(row: &Columns<'_>) -> Result<RoomMessage> {
    from_row!(row => RoomMessage {
        id, organization_id, work_room_id, seq, kind = "type", content, reply_to_id, client_message_id, created_at,
        edited_at, deleted_at,
        sender: sender(row)?,
        attachments: Vec::new(),
    })
}

fn sender(row: &Columns<'_>) -> Result<Option<MessageSender>> {
    let Some(id) = row.get("user_id")? else {
        return Ok(None);
    };
    let (name, image) = (row.get("user_name")?, row.get("user_image")?);
    let account = row.get::<PlatformRole>("platform_role")?;
    let member = row.get::<Option<MemberRole>>("member_role")?;
    let role = MessageSender::role(account, member);
    Ok(Some(MessageSender { id, name, role, image }))
}

fn file(row: &Columns<'_>) -> Result<MessageAttachment> {
    from_row!(row => MessageAttachment {
        id, organization_id, work_room_id, message_id, uploaded_by_id, created_at,
        file: stored_file(row)?,
    })
}
