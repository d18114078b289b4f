//! API tokens of an organization: created and revoked by its administrators.

use api_macros::body;
use domain::api_token::{ApiToken, ApiTokenText, TOKENS_MAX, TokenScope, TokenScopes, end_of_validity};
use domain::change::ApiTokenChange;
use domain::domain_error::DomainError;
use domain::id::{ApiTokenId, UserId};
use domain::list::{List, not_empty};
use domain::text::ShortName;
use domain::time::Timestamp;

use common::clock;
use common::error::{Error, Result};
use db::WriteTx;

/// A token to create.
#[body]
pub struct NewApiToken {
    /// What the token is for, for example the name of the program.
    pub name: ShortName,
    /// What the token opens.
    #[garde(dive, custom(not_empty))]
    pub scopes: List<TokenScope>,
    /// The end of validity, at most two years ahead; one year if missing.
    pub expires_at: Option<Timestamp>,
}

/// Creates a token that acts for the caller. Returns it with its text, which is not stored.
pub fn create(tx: &mut WriteTx<'_>, new: &NewApiToken) -> Result<(ApiToken, ApiTokenText)> {
    let actor = tx.actor().clone();
    // A token outlives the session that created it; an impersonation must not leave one behind.
    let created_by_id = actor.user.filter(|_| actor.impersonated_by.is_none());
    let created_by_id = created_by_id.ok_or(Error::ForbiddenRole)?;
    let expires_at = end_of_validity(new.expires_at, tx.now())?;
    tx.lock_membership_changes()?;
    tx.role_level()?;
    DomainError::check_limit("API tokens", tx.count_api_tokens()? + 1, TOKENS_MAX)?;
    let text = ApiTokenText::new(&better_auth::token::random_text(ApiTokenText::random_length()));
    let token = ApiToken {
        id: ApiTokenId::new(clock::new_id()),
        organization_id: tx.organization().clone(),
        name: new.name.clone(),
        scopes: TokenScopes::new(new.scopes.to_vec()),
        hint: text.hint(),
        created_by_id,
        created_at: tx.now(),
        expires_at,
        last_used_at: None,
    };
    tx.insert_api_token(&token, &text.hash())?;
    tx.record(ApiTokenChange::Created { token: token.clone() });
    Ok((token, text))
}

/// Revokes a token: its next request is rejected.
pub fn revoke(tx: &mut WriteTx<'_>, id: &ApiTokenId) -> Result<()> {
    let token = tx.delete_api_token(id)?;
    tx.record(ApiTokenChange::Revoked { token });
    Ok(())
}

/// Revokes the tokens of a user whose role or membership has ended, so that a later role does not revive them.
pub fn revoke_all_of(tx: &mut WriteTx<'_>, user: &UserId) -> Result<()> {
    for token in tx.delete_api_tokens_of(user)? {
        tx.record(ApiTokenChange::Revoked { token });
    }
    Ok(())
}
