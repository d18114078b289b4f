//! Direct messages and announcements to classes, each in the view of one user: a deletion affects the view of that user
//! only. Announcements are visible to the present audience of the class, messages to their sender and recipients.

use std::collections::HashMap;

use domain::id::{ClassId, MessageId, UserId};
use domain::message::DirectMessage;
use domain::user::Person;

use super::page::{Position, Slice, Window};
use super::sql::Columns;
use super::{ReadTx, WriteTx};
use crate::labels::{PERSON_COLUMNS, person};
use crate::visibility::CAN_MANAGE_CLASS;
use crate::{args, fragments, from_row, named, statements};
use common::error::Result;

/// Maximum number of recipients per message in lists; a single message contains all.
const NAMED: i64 = 5;

fragments! {
    /// The viewer receives announcements to class `k`, the same condition as for the socket rooms: staff who manage the
    /// class, and enrolled students unless the class is a draft.
    IS_CLASS_AUDIENCE = "({CAN_MANAGE_CLASS} OR ($2 = 'STUDENT' AND k.status <> 'DRAFT' AND EXISTS (SELECT 1
            FROM class_enrollments ce
                WHERE ce.organization_id = $1 AND ce.class_id = k.id AND ce.student_id = $3)))";
    /// Message `d` is in the view of the user `$5`; `r` is their recipient row, if there is one.
    OWN_VIEW = "d.organization_id = $1 AND CAST($4 AS BIGINT) IS NOT NULL AND r.deleted_at IS NULL
            AND (d.sender_id <> $5 OR d.deleted_by_sender_at IS NULL)
            AND (d.sender_id = $5 OR (d.class_id IS NULL AND r.user_id IS NOT NULL)
                OR EXISTS (SELECT 1 FROM classes k
                WHERE k.organization_id = $1 AND k.id = d.class_id AND {IS_CLASS_AUDIENCE}))";
    /// Joins the recipient row of the user `$5`, if there is one.
    OWN_ROW = "LEFT JOIN message_recipients r ON r.organization_id = $1 AND r.message_id = d.id AND r.user_id = $5";
    SELECT_MESSAGES = "SELECT d.id, d.organization_id, {PERSON_COLUMNS}, d.class_id, d.subject, d.content, d.created_at,
                r.user_id IS NOT NULL AS is_recipient, r.read_at, d.sender_id = $5 AS is_sender,
                (SELECT COUNT(*) FROM message_recipients n WHERE n.organization_id = $1
                AND n.message_id = d.id) AS recipient_count";
    /// Received messages, read along the recipient rows of the user.
    FROM_RECEIVED = "FROM message_recipients r
            JOIN direct_messages d ON d.organization_id = r.organization_id AND d.id = r.message_id";
    /// The messages of a page of the sent box.
    SENT_PAGE = "AND d.sender_id = $5 AND (d.created_at, d.id) < ($6, $7)
            AND (CAST($9 AS TEXT) IS NULL OR d.class_id = $9)
            ORDER BY d.created_at DESC, d.id DESC LIMIT $8";
}

statements! {
    INBOX = "{SELECT_MESSAGES} {FROM_RECEIVED} JOIN users u ON u.id = d.sender_id
            WHERE {OWN_VIEW} AND r.organization_id = $1 AND r.user_id = $5
        AND (r.created_at, r.message_id) < ($6, $7)
        AND (CAST($9 AS TEXT) IS NULL OR d.class_id = $9)
        ORDER BY r.created_at DESC, r.message_id DESC LIMIT $8";
    SENT = "{SELECT_MESSAGES} FROM direct_messages d {OWN_ROW} JOIN users u ON u.id = d.sender_id
            WHERE {OWN_VIEW} {SENT_PAGE}";
    /// The first `$10` recipients of each sent message of a page. The audience of an announcement is not listed.
    SENT_TO = "SELECT n.message_id, n.id AS user_id, n.name AS user_name, n.image AS user_image FROM (
            SELECT t.message_id AS message_id, u.id AS id, u.name AS name, u.image AS image,
                ROW_NUMBER() OVER (PARTITION BY t.message_id ORDER BY u.sort_key, u.id) AS place
            FROM message_recipients t JOIN users u ON u.id = t.user_id
            WHERE t.organization_id = $1 AND t.message_id IN (SELECT d.id FROM direct_messages d {OWN_ROW}
                WHERE {OWN_VIEW} AND d.class_id IS NULL {SENT_PAGE})) n
        WHERE n.place <= $10 ORDER BY n.message_id, n.place";
    /// The announcements to one class, newest first.
    OF_CLASS = "{SELECT_MESSAGES} FROM direct_messages d {OWN_ROW} JOIN users u ON u.id = d.sender_id
            WHERE {OWN_VIEW} AND d.class_id = $9
        AND (d.created_at, d.id) < ($6, $7)
        ORDER BY d.created_at DESC, d.id DESC LIMIT $8";
    BY_ID = "{SELECT_MESSAGES} FROM direct_messages d {OWN_ROW} JOIN users u ON u.id = d.sender_id
            WHERE {OWN_VIEW} AND d.id = $6";
    RECIPIENTS = "SELECT {PERSON_COLUMNS} FROM message_recipients r JOIN users u ON u.id = r.user_id
        WHERE r.organization_id = $1 AND r.message_id = $2 ORDER BY u.sort_key, u.id";
    /// The number of unread received messages.
    UNREAD = "SELECT COUNT(*) {FROM_RECEIVED} WHERE r.organization_id = $1 AND r.user_id = $5
        AND r.read_at IS NULL AND {OWN_VIEW}";
    /// A user known to the viewer, and whether the viewer may write to them: staff to all members, students to the
    /// teachers of their classes and to admins.
    ADDRESSEE = "SELECT x.id AS user_id, x.name AS user_name, x.image AS user_image, x.may FROM (
            SELECT u.id AS id, u.name AS name, u.image AS image,
                ($2 <> 'STUDENT' OR m.role IN ('owner', 'admin') OR EXISTS (
                    SELECT 1 FROM class_enrollments e JOIN classes k ON k.id = e.class_id
                    WHERE e.organization_id = $1 AND e.student_id = $3 AND k.status <> 'DRAFT'
                    AND (k.teacher_id = u.id
                        OR EXISTS (SELECT 1 FROM class_teachers ct
                            WHERE ct.organization_id = $1 AND ct.class_id = k.id AND ct.user_id = u.id)))) AS may,
                EXISTS (SELECT 1 FROM class_enrollments own
                    JOIN class_enrollments mate ON mate.class_id = own.class_id
                    JOIN classes k ON k.id = own.class_id
                    WHERE own.organization_id = $1 AND own.student_id = $3 AND k.status <> 'DRAFT'
                        AND mate.student_id = u.id) AS is_mate
            FROM members m JOIN users u ON u.id = m.user_id
            WHERE m.organization_id = $1 AND m.user_id = $5 AND m.is_active AND u.is_active
            AND CAST($4 AS BIGINT) IS NOT NULL) x
        WHERE x.may OR x.is_mate";
    INSERT = "INSERT INTO direct_messages (organization_id, id, sender_id, class_id, subject, content, created_at)
        VALUES ($1, :id, :sender_id, :class_id, :subject, :content, :created_at)";
    INSERT_RECIPIENT = "INSERT INTO message_recipients (organization_id, message_id, user_id, created_at)
        VALUES ($1, $2, $3, $4)";
    /// Adds all students and teachers of a class except the sender as recipients.
    INSERT_CLASS = "INSERT INTO message_recipients (organization_id, message_id, user_id, created_at)
        SELECT m.organization_id, CAST($2 AS TEXT), m.user_id, CAST($5 AS BIGINT) FROM (
            SELECT e.student_id AS user_id FROM class_enrollments e WHERE e.organization_id = $1 AND e.class_id = $3
            UNION SELECT k.teacher_id FROM classes k WHERE k.organization_id = $1 AND k.id = $3
            UNION SELECT t.user_id FROM class_teachers t WHERE t.organization_id = $1 AND t.class_id = $3) p
        CROSS JOIN members m
        WHERE m.organization_id = $1 AND m.user_id = p.user_id AND m.user_id <> $4";
    /// Marks a message as read; the first time is kept. Users who joined the class after an announcement have no
    /// recipient row yet, so it is inserted.
    READ = "INSERT INTO message_recipients (organization_id, message_id, user_id, created_at, read_at)
        VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (message_id, user_id) DO UPDATE SET read_at = COALESCE(message_recipients.read_at,
        excluded.read_at)";
    /// Hides a message from this recipient.
    DELETE_RECEIVED = "INSERT INTO message_recipients (organization_id, message_id, user_id, created_at, deleted_at)
        VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (message_id, user_id) DO UPDATE SET deleted_at = excluded.deleted_at";
    /// Hides a message from its sender.
    DELETE_SENT = "UPDATE direct_messages SET deleted_by_sender_at = $3 WHERE organization_id = $1 AND id = $2";
}

/// A message in the view of one user.
#[derive(Debug, Clone)]
pub struct VisibleMessage {
    /// The message with the recipients that the viewer may know.
    pub message: DirectMessage,
    pub is_own: bool,
    /// Whether the viewer is a recipient.
    pub is_received: bool,
    pub read_at: Option<domain::time::Timestamp>,
    /// The number of recipients.
    pub recipients: i64,
}

/// The mailbox that a list reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageBox {
    Inbox,
    Sent,
    /// The announcements to a class.
    Class,
}

impl ReadTx<'_> {
    /// Returns a page of a mailbox, newest first.
    pub fn messages(
        &mut self,
        of: MessageBox,
        class: Option<&ClassId>,
        window: &Window<i64>,
    ) -> Result<Slice<VisibleMessage, i64>> {
        let user = self.user_text();
        let (time, id) = window.newest_before();
        let rows = window.rows();
        let arguments = args![user, time, id, rows, class];
        let found = match of {
            MessageBox::Inbox => self.fetch_all_visible(&INBOX, arguments, visible)?,
            MessageBox::Sent => self.fetch_all_visible(&SENT, arguments, visible)?,
            MessageBox::Class => self.fetch_all_visible(&OF_CLASS, arguments, visible)?,
        };
        let mut slice = window.cut(found, position);
        if of == MessageBox::Sent {
            let named = args![user, time, id, rows, class, NAMED];
            let mut to: HashMap<MessageId, Vec<Person>> = HashMap::new();
            for (message, recipient) in
                self.fetch_all_visible(&SENT_TO, named, |row| Ok((row.get("message_id")?, person(row)?)))?
            {
                to.entry(message).or_default().push(recipient);
            }
            for visible in &mut slice.rows {
                visible.message.recipients = to.remove(&visible.message.id).unwrap_or_default();
            }
        }
        Ok(slice)
    }

    /// Returns a message in the view of the user; for its sender with all recipients.
    pub fn message(&mut self, id: &MessageId) -> Result<VisibleMessage> {
        let user = self.user_text();
        let mut found = self.fetch_one_visible(&BY_ID, args![user, id], visible)?;
        if found.is_own && found.message.class_id.is_none() {
            found.message.recipients = self.fetch_all(&RECIPIENTS, args![id], person)?;
        }
        Ok(found)
    }

    /// Returns the number of unread received messages.
    pub fn unread_messages(&mut self) -> Result<i64> {
        let user = self.user_text();
        self.fetch_one_visible(&UNREAD, args![user], |row| row.only())
    }

    /// Returns a user known to the viewer, and whether the viewer may write to them; otherwise `NotFound`.
    pub fn addressee(&mut self, user: &UserId) -> Result<(Person, bool)> {
        self.fetch_one_visible(&ADDRESSEE, args![user], |row| Ok((person(row)?, row.get("may")?)))
    }
}

impl WriteTx<'_> {
    /// Inserts a message and its recipients: the named ones, or everyone in its class.
    pub fn insert_message(&mut self, new: &DirectMessage) -> Result<()> {
        self.execute_named(
            &INSERT,
            named![new => id, class_id, subject, content, created_at, sender_id: new.sender.id],
        )?;
        if let Some(class) = &new.class_id {
            self.execute(&INSERT_CLASS, args![new.id, class, new.sender.id, new.created_at])?;
        }
        for recipient in &new.recipients {
            self.execute(&INSERT_RECIPIENT, args![new.id, recipient.id, new.created_at])?;
        }
        Ok(())
    }

    /// Marks a message as read by a user who can view it.
    pub fn read_message(&mut self, message: &DirectMessage, by: &UserId) -> Result<()> {
        let now = self.now();
        self.execute(&READ, args![message.id, by, message.created_at, now])
    }

    /// Hides a message from a recipient who can view it.
    pub fn delete_received_message(&mut self, message: &DirectMessage, by: &UserId) -> Result<()> {
        let now = self.now();
        self.execute(&DELETE_RECEIVED, args![message.id, by, message.created_at, now])
    }

    /// Hides a message from its sender.
    pub fn delete_sent_message(&mut self, id: &MessageId) -> Result<()> {
        let now = self.now();
        self.execute(&DELETE_SENT, args![id, now])
    }
}

/// Returns the pagination position of a message.
pub fn position(visible: &VisibleMessage) -> Position<i64> {
    Position {
        key: visible.message.created_at.as_millis(),
        id: visible.message.id.to_string(),
    }
}

fn visible(row: &Columns<'_>) -> Result<VisibleMessage> {
    let message = from_row!(row => DirectMessage {
        id, organization_id, class_id, subject, content, created_at,
        sender: person(row)?,
        recipients: Vec::new(),
    })?;
    from_row!(row => VisibleMessage {
        is_received = "is_recipient", read_at, is_own = "is_sender", recipients = "recipient_count",
        message: message,
    })
}
