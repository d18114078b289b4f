//! Text snippets of a user in an organization. Every statement names the user, because snippets are private.

use domain::id::{SnippetId, UserId};
use domain::snippet::TextSnippet;

use super::sql::Columns;
use super::{ReadTx, WriteTx};
use crate::{args, fragments, statements};
use common::error::Result;

fragments! {
    SNIPPET_COLUMNS = "x.organization_id, x.id, x.user_id, x.text, x.created_at, x.updated_at";
}

statements! {
    LIST = "SELECT {SNIPPET_COLUMNS} FROM text_snippets x
        WHERE x.organization_id = $1 AND x.user_id = $2 ORDER BY x.created_at, x.id";
    BY_ID = "SELECT {SNIPPET_COLUMNS} FROM text_snippets x
        WHERE x.organization_id = $1 AND x.user_id = $2 AND x.id = $3";
    COUNT = "SELECT COUNT(*) FROM text_snippets WHERE organization_id = $1 AND user_id = $2";
    INSERT = "INSERT INTO text_snippets (organization_id, id, user_id, text, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6)";
    UPDATE = "UPDATE text_snippets SET text = $4, updated_at = $5
        WHERE organization_id = $1 AND user_id = $2 AND id = $3";
    DELETE = "DELETE FROM text_snippets WHERE organization_id = $1 AND user_id = $2 AND id = $3";
}

impl ReadTx<'_> {
    /// Lists the snippets of a user, oldest first.
    pub fn snippets(&mut self, user: &UserId) -> Result<Vec<TextSnippet>> {
        self.fetch_all(&LIST, args![user], snippet)
    }

    /// Returns a snippet of a user, or `NotFound`.
    pub fn snippet(&mut self, user: &UserId, id: &SnippetId) -> Result<TextSnippet> {
        self.fetch_one(&BY_ID, args![user, id], snippet)
    }
}

impl WriteTx<'_> {
    /// Counts the snippets of a user.
    pub fn count_snippets(&mut self, user: &UserId) -> Result<usize> {
        let count: i64 = self.fetch_one(&COUNT, args![user], |row| row.only())?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    pub fn insert_snippet(&mut self, new: &TextSnippet) -> Result<()> {
        let arguments = args![new.id, new.user_id, new.text, new.created_at, new.updated_at];
        self.execute(&INSERT, arguments).map(drop)
    }

    pub fn update_snippet(&mut self, snippet: &TextSnippet) -> Result<()> {
        let arguments = args![snippet.user_id, snippet.id, snippet.text, snippet.updated_at];
        self.execute(&UPDATE, arguments).map(drop)
    }

    pub fn delete_snippet(&mut self, snippet: &TextSnippet) -> Result<()> {
        self.execute(&DELETE, args![snippet.user_id, snippet.id]).map(drop)
    }
}

fn snippet(row: &Columns<'_>) -> Result<TextSnippet> {
    Ok(TextSnippet {
        organization_id: row.get("organization_id")?,
        id: row.get("id")?,
        user_id: row.get("user_id")?,
        text: row.get("text")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}
