//! Messages from person to person and announcements to classes, each in the view of one person: what he deleted is gone
//! for him alone. An announcement is seen by those who hear the class now; a message by its sender and its recipients.

use std::collections::HashMap;

use model::id::{ClassId, MessageId, UserId};
use model::message::DirectMessage;
use model::user::Person;

use super::classes::person;
use super::page::{Position, Slice, Window};
use super::sql::Columns;
use super::{Scope, Work};
use crate::{args, manages_class, statements};
use common::error::Result;

/// How many recipients of a message a list names; one message names all.
const NAMED: i64 = 5;

/// The viewer hears class `k`, as his sockets do: staff who manage it, students who are enrolled once it is no draft.
macro_rules! hears_class {
    () => {
        concat!(
            "(",
            manages_class!(),
            " OR ($2 = 'STUDENT' AND k.status <> 'DRAFT' AND EXISTS (SELECT 1 FROM class_enrollments ce
                WHERE ce.organization_id = $1 AND ce.class_id = k.id AND ce.student_id = $3)))"
        )
    };
}

/// Message `d` is in the view of the user `$5`, whose row of it, if there is one, is `r`.
macro_rules! own_view {
    () => {
        concat!(
            "d.organization_id = $1 AND CAST($4 AS BIGINT) IS NOT NULL AND r.deleted_at IS NULL
            AND (d.sender_id <> $5 OR d.deleted_by_sender_at IS NULL)
            AND (d.sender_id = $5 OR (d.class_id IS NULL AND r.user_id IS NOT NULL)
                OR EXISTS (SELECT 1 FROM classes k WHERE k.organization_id = $1 AND k.id = d.class_id AND ",
            hears_class!(),
            "))"
        )
    };
}

/// The row of the user `$5`, if there is one.
macro_rules! own_row {
    () => {
        " LEFT JOIN message_recipients r ON r.organization_id = $1 AND r.message_id = d.id AND r.user_id = $5"
    };
}

macro_rules! messages {
    ($from:expr, $($where:tt)*) => {
        concat!(
            "SELECT d.id, d.organization_id, u.id, u.name, u.image, d.class_id, d.subject, d.content, d.created_at,
                r.user_id IS NOT NULL, r.read_at, d.sender_id = $5,
                (SELECT COUNT(*) FROM message_recipients n WHERE n.organization_id = $1 AND n.message_id = d.id)",
            $from,
            " JOIN users u ON u.id = d.sender_id WHERE ",
            own_view!(),
            $($where)*
        )
    };
}

/// What the user received: walked along his own rows.
macro_rules! from_received {
    () => {
        " FROM message_recipients r JOIN direct_messages d ON d.organization_id = r.organization_id AND d.id = r.message_id"
    };
}

/// Which messages he sent are on the page.
macro_rules! sent {
    () => {
        " AND d.sender_id = $5 AND (d.created_at, d.id) < ($6, $7)
            AND (CAST($9 AS TEXT) IS NULL OR d.class_id = $9)
            ORDER BY d.created_at DESC, d.id DESC LIMIT $8"
    };
}

statements! {
    /// What the user received, newest first.
    INBOX = messages!(from_received!(), " AND r.organization_id = $1 AND r.user_id = $5
        AND (r.created_at, r.message_id) < ($6, $7)
        AND (CAST($9 AS TEXT) IS NULL OR d.class_id = $9)
        ORDER BY r.created_at DESC, r.message_id DESC LIMIT $8");
    /// What the user sent, newest first.
    SENT = messages!(concat!(" FROM direct_messages d", own_row!()), sent!());
    /// The first of those whom he sent it to; whoever hears an announcement is not told one by one.
    SENT_TO = concat!("SELECT n.message_id, n.id, n.name, n.image FROM (
            SELECT t.message_id AS message_id, u.id AS id, u.name AS name, u.image AS image,
                ROW_NUMBER() OVER (PARTITION BY t.message_id ORDER BY u.sort_key, u.id) AS place
            FROM message_recipients t JOIN users u ON u.id = t.user_id
            WHERE t.organization_id = $1 AND t.message_id IN (SELECT d.id FROM direct_messages d", own_row!(), "
                WHERE ", own_view!(), " AND d.class_id IS NULL", sent!(), ")) n
        WHERE n.place <= $10 ORDER BY n.message_id, n.place");
    /// The announcements to one class, newest first.
    OF_CLASS = messages!(concat!(" FROM direct_messages d", own_row!()), " AND d.class_id = $9
        AND (d.created_at, d.id) < ($6, $7)
        ORDER BY d.created_at DESC, d.id DESC LIMIT $8");
    /// One message.
    BY_ID = messages!(concat!(" FROM direct_messages d", own_row!()), " AND d.id = $6");
    /// All whom a message was sent to.
    RECIPIENTS = "SELECT u.id, u.name, u.image FROM message_recipients r JOIN users u ON u.id = r.user_id
        WHERE r.organization_id = $1 AND r.message_id = $2 ORDER BY u.sort_key, u.id";
    /// How much of what the user received is unread.
    UNREAD = concat!("SELECT COUNT(*)", from_received!(), " WHERE r.organization_id = $1 AND r.user_id = $5
        AND r.read_at IS NULL AND ", own_view!());
    /// Somebody the viewer knows, and whether he may write to him: staff to everybody, students to the teachers of their
    /// classes and to admins.
    ADDRESSEE = "SELECT x.id, x.name, x.image, x.may FROM (
            SELECT u.id AS id, u.name AS name, u.image AS image,
                ($2 <> 'STUDENT' OR m.role IN ('owner', 'admin') OR EXISTS (
                    SELECT 1 FROM class_enrollments e JOIN classes k ON k.id = e.class_id
                    WHERE e.organization_id = $1 AND e.student_id = $3 AND k.status <> 'DRAFT' AND (k.teacher_id = u.id
                        OR EXISTS (SELECT 1 FROM class_teachers ct
                            WHERE ct.organization_id = $1 AND ct.class_id = k.id AND ct.user_id = u.id)))) AS may,
                EXISTS (SELECT 1 FROM class_enrollments own
                    JOIN class_enrollments mate ON mate.class_id = own.class_id
                    JOIN classes k ON k.id = own.class_id
                    WHERE own.organization_id = $1 AND own.student_id = $3 AND k.status <> 'DRAFT'
                        AND mate.student_id = u.id) AS is_mate
            FROM members m JOIN users u ON u.id = m.user_id
            WHERE m.organization_id = $1 AND m.user_id = $5 AND m.is_active AND u.is_active AND CAST($4 AS BIGINT) IS NOT NULL) x
        WHERE x.may OR x.is_mate";
    /// A new message.
    INSERT = "INSERT INTO direct_messages (organization_id, id, sender_id, class_id, subject, content, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7)";
    /// Somebody gets it.
    INSERT_RECIPIENT = "INSERT INTO message_recipients (organization_id, message_id, user_id, created_at)
        VALUES ($1, $2, $3, $4)";
    /// Everybody in a class gets it but its sender: students and teachers.
    INSERT_CLASS = "INSERT INTO message_recipients (organization_id, message_id, user_id, created_at)
        SELECT m.organization_id, CAST($2 AS TEXT), m.user_id, CAST($5 AS BIGINT) FROM (
            SELECT e.student_id AS user_id FROM class_enrollments e WHERE e.organization_id = $1 AND e.class_id = $3
            UNION SELECT k.teacher_id FROM classes k WHERE k.organization_id = $1 AND k.id = $3
            UNION SELECT t.user_id FROM class_teachers t WHERE t.organization_id = $1 AND t.class_id = $3) p
        CROSS JOIN members m
        WHERE m.organization_id = $1 AND m.user_id = p.user_id AND m.user_id <> $4";
    /// The user has read it; the first time counts. Who came into the class later gets a row of his own now.
    READ = "INSERT INTO message_recipients (organization_id, message_id, user_id, created_at, read_at)
        VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (message_id, user_id) DO UPDATE SET read_at = COALESCE(message_recipients.read_at, excluded.read_at)";
    /// It is gone for this recipient.
    DELETE_RECEIVED = "INSERT INTO message_recipients (organization_id, message_id, user_id, created_at, deleted_at)
        VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (message_id, user_id) DO UPDATE SET deleted_at = excluded.deleted_at";
    /// It is gone for its sender.
    DELETE_SENT = "UPDATE direct_messages SET deleted_by_sender_at = $3 WHERE organization_id = $1 AND id = $2";
}

/// A message in the view of one person.
#[derive(Debug, Clone)]
pub struct SeenMessage {
    /// The message; its recipients are those that the viewer is told.
    pub message: DirectMessage,
    /// Whether the viewer sent it.
    pub is_own: bool,
    /// Whether it was sent to the viewer.
    pub is_received: bool,
    /// When the viewer read it.
    pub read_at: Option<model::time::Timestamp>,
    /// How many got it.
    pub recipients: i64,
}

/// A part of somebody's messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageBox {
    /// What he received.
    Inbox,
    /// What he sent.
    Sent,
    /// The announcements to a class.
    Class,
}

impl Scope<'_> {
    /// A page of a box, newest first.
    pub fn messages(
        &mut self,
        of: MessageBox,
        class: Option<&ClassId>,
        window: &Window<i64>,
    ) -> Result<Slice<SeenMessage, i64>> {
        let user = self.user_text();
        let (time, id) = window.newest_before();
        let rows = window.rows();
        let arguments = args![user, time, id, rows, class];
        let found = match of {
            MessageBox::Inbox => self.many_visible(&INBOX, arguments, seen)?,
            MessageBox::Sent => self.many_visible(&SENT, arguments, seen)?,
            MessageBox::Class => self.many_visible(&OF_CLASS, arguments, seen)?,
        };
        let mut slice = window.cut(found, position);
        if of == MessageBox::Sent {
            let named = args![user, time, id, rows, class, NAMED];
            let mut to: HashMap<MessageId, Vec<Person>> = HashMap::new();
            for (message, recipient) in self.many_visible(&SENT_TO, named, |row| Ok((row.take()?, person(row)?)))? {
                to.entry(message).or_default().push(recipient);
            }
            for seen in &mut slice.rows {
                seen.message.recipients = to.remove(&seen.message.id).unwrap_or_default();
            }
        }
        Ok(slice)
    }

    /// One message in the user's view; its sender is told all recipients.
    pub fn message(&mut self, id: &MessageId) -> Result<SeenMessage> {
        let user = self.user_text();
        let mut found = self.one_visible(&BY_ID, args![user, id], seen)?;
        if found.is_own && found.message.class_id.is_none() {
            found.message.recipients = self.many(&RECIPIENTS, args![id], person)?;
        }
        Ok(found)
    }

    /// How many messages the user has received and not read.
    pub fn unread_messages(&mut self) -> Result<i64> {
        let user = self.user_text();
        self.one_visible(&UNREAD, args![user], |row| row.take())
    }

    /// Somebody the viewer knows, and whether he may write to him; 404 for everybody else.
    pub fn addressee(&mut self, user: &UserId) -> Result<(Person, bool)> {
        self.one_visible(&ADDRESSEE, args![user], |row| Ok((person(row)?, row.take()?)))
    }
}

impl Work<'_> {
    /// Writes a message to its recipients, or to everybody in its class.
    pub fn insert_message(&mut self, new: &DirectMessage) -> Result<()> {
        self.run(
            &INSERT,
            args![
                new.id,
                new.sender.id,
                new.class_id,
                new.subject,
                new.content,
                new.created_at,
            ],
        )?;
        if let Some(class) = &new.class_id {
            self.run(&INSERT_CLASS, args![new.id, class, new.sender.id, new.created_at])?;
        }
        for recipient in &new.recipients {
            self.run(&INSERT_RECIPIENT, args![new.id, recipient.id, new.created_at])?;
        }
        Ok(())
    }

    /// Notes that somebody read a message that he sees.
    pub fn read_message(&mut self, message: &DirectMessage, by: &UserId) -> Result<()> {
        let now = self.now();
        self.run(&READ, args![message.id, by, message.created_at, now])
            .map(drop)
    }

    /// Takes a message that he sees out of a recipient's view.
    pub fn delete_received_message(&mut self, message: &DirectMessage, by: &UserId) -> Result<()> {
        let now = self.now();
        self.run(&DELETE_RECEIVED, args![message.id, by, message.created_at, now])
            .map(drop)
    }

    /// Takes a message out of its sender's view.
    pub fn delete_sent_message(&mut self, id: &MessageId) -> Result<()> {
        let now = self.now();
        self.run(&DELETE_SENT, args![id, now]).map(drop)
    }
}

/// Where a message stands in a box.
pub fn position(seen: &SeenMessage) -> Position<i64> {
    Position {
        key: seen.message.created_at.as_millis(),
        id: seen.message.id.to_string(),
    }
}

fn seen(row: &mut Columns<'_>) -> Result<SeenMessage> {
    let message = DirectMessage {
        id: row.take()?,
        organization_id: row.take()?,
        sender: person(row)?,
        recipients: Vec::new(),
        class_id: row.take()?,
        subject: row.take()?,
        content: row.take()?,
        created_at: row.take()?,
    };
    Ok(SeenMessage {
        message,
        is_received: row.take()?,
        read_at: row.take()?,
        is_own: row.take()?,
        recipients: row.take()?,
    })
}
