//! API tokens of an organization (docs/api-tokens.md).

use domain::api_token::{ApiToken, TokenScopes};
use domain::id::{ApiTokenId, UserId};
use domain::user::Person;

use super::sql::Columns;
use super::{ReadTx, WriteTx};
use crate::{args, fragments, from_row, named, statements};
use common::error::Result;

fragments! {
    API_TOKEN_COLUMNS = "t.organization_id, t.id, t.name, t.scopes, t.hint, t.created_by_id, t.created_at, t.expires_at,
            t.last_used_at";
}

statements! {
    /// All tokens by name, with the user for whom each acts, and whether they still administer the organization.
    LIST = "SELECT {API_TOKEN_COLUMNS}, u.name AS user_name, u.image AS user_image,
            u.is_active AND NOT u.banned AND (u.role = 'SUPER_ADMIN'
                OR COALESCE(m.is_active AND m.role IN ('owner', 'admin'), FALSE)) AS is_administrator
        FROM api_tokens t JOIN users u ON u.id = t.created_by_id
        LEFT JOIN members m ON m.organization_id = t.organization_id AND m.user_id = u.id
        WHERE t.organization_id = $1 ORDER BY t.name, t.id";
    LOCK = "SELECT {API_TOKEN_COLUMNS} FROM api_tokens t WHERE t.organization_id = $1 AND t.id = $2 FOR UPDATE";
    COUNT = "SELECT COUNT(*) FROM api_tokens WHERE organization_id = $1";
    INSERT = "INSERT INTO api_tokens (organization_id, id, name, scopes, hash, hint, created_by_id, created_at,
            expires_at)
        VALUES ($1, :id, :name, :scopes, :hash, :hint, :created_by_id, :created_at, :expires_at)";
    DELETE = "DELETE FROM api_tokens WHERE organization_id = $1 AND id = $2";
    /// The tokens that act for a user.
    DELETE_OF_USER = "DELETE FROM api_tokens WHERE organization_id = $1 AND created_by_id = $2
        RETURNING organization_id, id, name, scopes, hint, created_by_id, created_at, expires_at, last_used_at";
}

/// A token with the user for whom it acts.
#[derive(Debug, Clone)]
pub struct ListedToken {
    pub token: ApiToken,
    pub created_by: Person,
    /// Whether the user still administers the organization. Otherwise the token is rejected.
    pub is_administrator: bool,
}

impl ReadTx<'_> {
    /// Lists the tokens of the organization by name.
    pub fn api_tokens(&mut self) -> Result<Vec<ListedToken>> {
        self.fetch_all(&LIST, args![], |row| {
            let token = api_token(row)?;
            Ok(ListedToken {
                created_by: from_row!(row => Person {
                    name = "user_name", image = "user_image",
                    id: token.created_by_id.clone(),
                })?,
                is_administrator: row.get("is_administrator")?,
                token,
            })
        })
    }
}

impl WriteTx<'_> {
    /// Counts the tokens of the organization.
    pub fn count_api_tokens(&mut self) -> Result<i64> {
        self.fetch_one(&COUNT, args![], |row| row.only())
    }

    /// Inserts a token with the hash of its text.
    pub fn insert_api_token(&mut self, token: &ApiToken, hash: &str) -> Result<()> {
        let scopes = token.scopes.to_column();
        self.execute_named(
            &INSERT,
            named![token =>
                id, name, hint, created_by_id, created_at, expires_at,
                scopes: scopes,
                hash: hash,
            ],
        )
    }

    /// Deletes a token and returns it.
    pub fn delete_api_token(&mut self, id: &ApiTokenId) -> Result<ApiToken> {
        let token = self.fetch_one(&LOCK, args![id], api_token)?;
        self.execute(&DELETE, args![id])?;
        Ok(token)
    }

    /// Deletes the tokens that act for a user who no longer administers the organization.
    pub fn delete_api_tokens_of(&mut self, user: &UserId) -> Result<Vec<ApiToken>> {
        self.fetch_all(&DELETE_OF_USER, args![user], api_token)
    }
}

fn api_token(row: &Columns<'_>) -> Result<ApiToken> {
    let scopes: String = row.get("scopes")?;
    from_row!(row => ApiToken {
        organization_id, id, name, hint, created_by_id, created_at, expires_at, last_used_at,
        scopes: TokenScopes::stored(&scopes),
    })
}
