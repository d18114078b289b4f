//! Text snippets of the caller. They are private, so they are not logged.

use api_macros::{body, patch};
use domain::change::SnippetChange;
use domain::domain_error::DomainError;
use domain::id::{SnippetId, UserId};
use domain::patch::{FieldPatch, not_null};
use domain::snippet::{SNIPPETS_MAX, TextSnippet};
use domain::text::SnippetText;

use super::acting_user::acting_user;
use common::clock;
use common::error::Result;
use db::WriteTx;

/// A text snippet to create.
#[body]
pub struct NewSnippet {
    /// The text.
    pub text: SnippetText,
}

/// The fields of a text snippet that a PATCH can change.
#[patch]
pub struct SnippetEdit {
    /// The new text.
    #[garde(dive, custom(not_null))]
    pub text: FieldPatch<SnippetText>,
}

/// Creates a snippet of the caller.
pub fn create(tx: &mut WriteTx<'_>, new: &NewSnippet) -> Result<TextSnippet> {
    let user = acting_user(tx)?;
    DomainError::check_limit("text snippets", tx.count_snippets(&user)? + 1, SNIPPETS_MAX)?;
    let snippet = TextSnippet {
        id: SnippetId::new(clock::new_id()),
        organization_id: tx.organization().clone(),
        user_id: user,
        text: new.text.clone(),
        created_at: tx.now(),
        updated_at: tx.now(),
    };
    tx.insert_snippet(&snippet)?;
    record(tx, &snippet.user_id);
    Ok(snippet)
}

/// Changes a snippet of the caller.
pub fn edit(tx: &mut WriteTx<'_>, id: &SnippetId, edit: &SnippetEdit) -> Result<TextSnippet> {
    let user = acting_user(tx)?;
    let mut snippet = tx.snippet(&user, id)?;
    if edit
        .text
        .clone()
        .apply_required("text", &mut snippet.text)
        .map_err(DomainError::from)?
    {
        snippet.updated_at = tx.now();
        tx.update_snippet(&snippet)?;
        record(tx, &user);
    }
    Ok(snippet)
}

/// Deletes a snippet of the caller.
pub fn remove(tx: &mut WriteTx<'_>, id: &SnippetId) -> Result<()> {
    let user = acting_user(tx)?;
    let snippet = tx.snippet(&user, id)?;
    tx.delete_snippet(&snippet)?;
    record(tx, &user);
    Ok(())
}

fn record(tx: &mut WriteTx<'_>, user: &UserId) {
    tx.record(SnippetChange::Updated { user: user.clone() });
}
