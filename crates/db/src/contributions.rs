//! Editing time and number of saves per user and document, as reported by the document server.

use std::collections::BTreeMap;

use domain::contribution::Contribution;
use domain::id::{DocumentId, GroupId, UserId, WorkRoomId};
use domain::time::Timestamp;
use domain::user::Person;

use super::{ReadTx, WriteTx};
use crate::labels::{PERSON_COLUMNS, person};
use crate::{args, from_row, statements};
use common::error::Result;

statements! {
    /// All contributions to the documents of a group.
    OF_GROUP = "SELECT {PERSON_COLUMNS}, d.id AS document_id, d.title, c.editing_millis, c.saves, c.first_at, c.last_at,
            c.characters, c.text_characters
        FROM work_rooms w
        JOIN documents d ON d.work_room_id = w.id
        JOIN document_contributions c ON c.document_id = d.id
        JOIN users u ON u.id = c.user_id
        WHERE w.organization_id = $1 AND w.group_id = $2 ORDER BY c.user_id, d.created_at, d.id";
    /// The users who contributed to a document.
    PEOPLE = "SELECT {PERSON_COLUMNS} FROM document_contributions c JOIN users u ON u.id = c.user_id
        WHERE c.organization_id = $1 AND c.document_id = $2 ORDER BY c.user_id";
    /// Until when the editing time of each user was counted in the documents of a room. Locks the rows until the end of
    /// the transaction.
    COUNTED = "SELECT user_id, counted_until FROM document_contributions
        WHERE organization_id = $1 AND document_id IN (SELECT id FROM documents
        WHERE organization_id = $1 AND work_room_id = $2)
        ORDER BY document_id, user_id FOR UPDATE";
    /// Adds a period of presence. Only members of the organization are counted.
    PRESENT = "INSERT INTO document_contributions (organization_id, document_id, user_id, editing_millis, first_at,
        last_at,
            counted_until)
        SELECT m.organization_id, CAST($2 AS TEXT), m.user_id, CAST($6 AS BIGINT) - CAST($5 AS BIGINT),
        CAST($4 AS BIGINT),
            CAST($6 AS BIGINT), CAST($6 AS BIGINT)
        FROM members m WHERE m.organization_id = $1 AND m.user_id = $3
        ON CONFLICT (document_id, user_id) DO UPDATE SET
            editing_millis = document_contributions.editing_millis + CASE
                WHEN document_contributions.counted_until <= CAST($5 AS BIGINT) THEN CAST($6 AS BIGINT) - CAST($5 AS BIGINT)
                WHEN document_contributions.counted_until < CAST($6 AS BIGINT)
                    THEN CAST($6 AS BIGINT) - document_contributions.counted_until
                ELSE 0 END,
            last_at = excluded.last_at,
            counted_until = CASE WHEN document_contributions.counted_until < excluded.counted_until
                THEN excluded.counted_until ELSE document_contributions.counted_until END";
    /// Counts a save.
    SAVED = "INSERT INTO document_contributions (organization_id, document_id, user_id, saves, first_at, last_at,
        counted_until)
        VALUES ($1, $2, $3, 1, $4, $4, $4)
        ON CONFLICT (document_id, user_id) DO UPDATE SET saves = document_contributions.saves + 1,
            last_at = excluded.last_at";
    /// Records the length of the text, of which no user has written anything yet.
    TEXT_LENGTH = "UPDATE document_contributions SET characters = 0, text_characters = $3
        WHERE organization_id = $1 AND document_id = $2";
    CHARACTERS = "UPDATE document_contributions SET characters = $4
        WHERE organization_id = $1 AND document_id = $2 AND user_id = $3";
}

impl ReadTx<'_> {
    /// Returns the contributions to the documents of a group, grouped by user.
    pub fn contributions(&mut self, group: &GroupId) -> Result<Vec<(Person, Vec<Contribution>)>> {
        let rows = self.fetch_all(&OF_GROUP, args![group], |row| {
            let person = person(row)?;
            let contribution = from_row!(row => Contribution {
                document_id, title, editing_millis, saves, first_at, last_at, characters, text_characters,
            })?;
            Ok((person, contribution))
        })?;
        let mut people: Vec<(Person, Vec<Contribution>)> = Vec::new();
        for (person, contribution) in rows {
            match people.last_mut() {
                Some((last, contributions)) if last.id == person.id => contributions.push(contribution),
                _ => people.push((person, vec![contribution])),
            }
        }
        Ok(people)
    }

    /// Lists the users who contributed to a document. Erased users are not among them.
    pub fn contributors(&mut self, document: &DocumentId) -> Result<Vec<Person>> {
        self.fetch_all(&PEOPLE, args![document], person)
    }
}

impl WriteTx<'_> {
    /// Returns, per user, until when their editing time was counted in any document of a room. Concurrent counts wait
    /// until the end of the transaction.
    pub fn counted_in_room(&mut self, room: &WorkRoomId) -> Result<BTreeMap<UserId, Timestamp>> {
        let rows: Vec<(UserId, Timestamp)> =
            self.fetch_all(&COUNTED, args![room], |row| row.pair("user_id", "counted_until"))?;
        let mut counted = BTreeMap::new();
        for (user, until) in rows {
            let last = counted.entry(user).or_insert(until);
            *last = (*last).max(until);
        }
        Ok(counted)
    }

    /// Adds a period to the editing time of a member. Time that was counted before is not counted again. `since` is the
    /// time they opened the document, recorded if this is their first contribution.
    pub fn add_presence(
        &mut self,
        document: &DocumentId,
        user: &UserId,
        since: Timestamp,
        (from, until): (Timestamp, Timestamp),
    ) -> Result<()> {
        self.execute(&PRESENT, args![document, user, since, from, until])
    }

    /// Records how many characters of a text each user has written. Users without contributions are ignored.
    pub fn record_characters(
        &mut self,
        document: &DocumentId,
        total: i64,
        by_author: &BTreeMap<UserId, i64>,
    ) -> Result<()> {
        self.execute(&TEXT_LENGTH, args![document, total])?;
        for (user, count) in by_author {
            self.execute(&CHARACTERS, args![document, user, *count])?;
        }
        Ok(())
    }

    /// Counts a save of a member.
    pub fn add_save(&mut self, document: &DocumentId, user: &UserId) -> Result<()> {
        let now = self.now();
        self.execute(&SAVED, args![document, user, now])
    }
}
