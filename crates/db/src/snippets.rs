//! Text snippets of a user in an organization. Every statement names the user, because snippets are private.

use domain::id::{SnippetId, UserId};
use domain::snippet::TextSnippet;

use super::sql::Columns;
use super::{ReadTx, WriteTx};
use crate::{args, fragments, from_row, named, statements};
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
        VALUES ($1, :id, :user_id, :text, :created_at, :updated_at)";
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
    pub fn count_snippets(&mut self, user: &UserId) -> Result<i64> {
        self.fetch_one(&COUNT, args![user], |row| row.only())
    }

    pub fn insert_snippet(&mut self, new: &TextSnippet) -> Result<()> {
        self.execute_named(&INSERT, named![new => id, user_id, text, created_at, updated_at])
    }

    pub fn update_snippet(&mut self, snippet: &TextSnippet) -> Result<()> {
        let arguments = args![snippet.user_id, snippet.id, snippet.text, snippet.updated_at];
        self.execute(&UPDATE, arguments)
    }

    pub fn delete_snippet(&mut self, snippet: &TextSnippet) -> Result<()> {
        self.execute(&DELETE, args![snippet.user_id, snippet.id])
    }
}

fn snippet(row: &Columns<'_>) -> Result<TextSnippet> {
    from_row!(row => TextSnippet { organization_id, id, user_id, text, created_at, updated_at })
}
