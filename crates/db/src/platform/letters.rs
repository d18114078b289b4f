//! Letters as the instances send them: what is due, who takes it, what is done; and letters of people who write for
//! themselves.

use anyhow::Context as _;
use model::letter::{Letter, LetterKind};
use model::time::Timestamp;

use super::Platform;
use crate::sql::Columns;
use crate::{args, statements};
use common::error::Result;

/// Emails read per page.
const PAGE: i64 = 500;

statements! {
    /// A letter of no school.
    INSERT = "INSERT INTO letters (id, kind, sealed, next_attempt_at, expires_at, created_at)
        VALUES ($1, $2, $3, $4, $5, $4)";
    /// What is due, the longest waiting first.
    DUE = "SELECT id, kind, sealed, created_at, expires_at, attempts, next_attempt_at FROM letters
        WHERE next_attempt_at <= $1 ORDER BY next_attempt_at, id LIMIT $2";
    /// A page of queued emails by id.
    AFTER = "SELECT id, kind, sealed, created_at, expires_at, attempts, next_attempt_at FROM letters
        WHERE id > $1 ORDER BY id LIMIT $2";
    /// Takes a letter, unless another instance took it since it was read.
    CLAIM = "UPDATE letters SET next_attempt_at = $3 WHERE id = $1 AND next_attempt_at = $2";
    /// It is with the mail server.
    DELETE = "DELETE FROM letters WHERE id = $1";
    /// It was not taken; when it is tried again.
    POSTPONE = "UPDATE letters SET attempts = $2, next_attempt_at = $3 WHERE id = $1";
}

/// A letter that is due.
#[derive(Debug, Clone)]
pub struct DueLetter {
    /// The letter.
    pub letter: Letter,
    /// How often the server did not take it.
    pub attempts: i64,
    /// Since when it is due; whoever claims it must have read this.
    pub due_at: Timestamp,
}

impl Platform<'_> {
    /// Lets a letter go out once this unit is committed.
    pub fn insert_letter(&mut self, letter: &Letter) -> Result<()> {
        let Letter {
            id,
            kind,
            sealed,
            created_at,
            expires_at,
        } = letter;
        self.connection
            .run(&INSERT, args![id, kind.as_str(), sealed, created_at, expires_at])
            .map(drop)
    }

    /// Letters to be sent by now, at most `limit`.
    pub fn due_letters(&mut self, now: Timestamp, limit: i64) -> Result<Vec<DueLetter>> {
        self.connection.many(&DUE, args![now, limit], due_letter)
    }

    /// A page of all queued emails, by id.
    pub fn letters_after(&mut self, id: &str) -> Result<Vec<Letter>> {
        let found = self.connection.many(&AFTER, args![id, PAGE], due_letter)?;
        Ok(found.into_iter().map(|due| due.letter).collect())
    }

    /// Takes a letter for sending until `lease`; false when somebody else has it.
    pub fn claim_letter(&mut self, id: &str, due_at: Timestamp, lease: Timestamp) -> Result<bool> {
        Ok(self.connection.run(&CLAIM, args![id, due_at, lease])? == 1)
    }

    /// Forgets a letter that is out of our hands.
    pub fn delete_letter(&mut self, id: &str) -> Result<()> {
        self.connection.run(&DELETE, args![id]).map(drop)
    }

    /// Notes how often a letter was not taken and when to try again.
    pub fn postpone_letter(&mut self, id: &str, attempts: i64, next: Timestamp) -> Result<()> {
        self.connection.run(&POSTPONE, args![id, attempts, next]).map(drop)
    }
}

fn due_letter(row: &mut Columns<'_>) -> Result<DueLetter> {
    let id = row.take()?;
    let kind: String = row.take()?;
    let letter = Letter {
        id,
        kind: LetterKind::parse(&kind).context("an unknown kind of letter")?,
        sealed: row.take()?,
        created_at: row.take()?,
        expires_at: row.take()?,
    };
    Ok(DueLetter {
        letter,
        attempts: row.take()?,
        due_at: row.take()?,
    })
}
