//! Letters that a school writes: rows of the unit that makes them worth sending. Sending is the platform's business
//! (`platform/letters.rs`).

use model::letter::Letter;

use super::Work;
use crate::{args, statements};
use common::error::Result;

statements! {
    /// A letter to be sent.
    INSERT = "INSERT INTO letters (organization_id, id, kind, sealed, next_attempt_at, expires_at, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $5)";
}

impl Work<'_> {
    /// Lets a letter go out once this unit is committed.
    pub fn insert_letter(&mut self, letter: &Letter) -> Result<()> {
        let Letter {
            id,
            kind,
            sealed,
            created_at,
            expires_at,
        } = letter;
        self.run(&INSERT, args![id, kind.as_str(), sealed, created_at, expires_at])
            .map(drop)
    }
}
