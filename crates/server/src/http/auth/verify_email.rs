//! The link of a letter that confirms another address. Like the library's, it needs no session: whoever reads the new
//! mailbox has proved what was to be proved.

use better_auth::error::AuthError;
use better_auth::schema::FieldReader;
use serde_json::json;

use super::answer::{Answered, answer};
use super::asked::Asked;
use super::reset::redirect;
use super::schema;
use crate::actions::addresses;

/// The link of the letter: from now on the account has the new address
#[utoipa::path(get, path = "/auth/verify-email",
    params(("token" = String, Query, description = "The token of the letter"),
        ("callbackURL" = Option<String>, Query, description = "The page to go on to, on the origin of FRONTEND_URL")),
    responses((status = 200, body = schema::AddressConfirmed, description = "status: true and user: null, without callbackURL"),
        (status = 302, description = "to callbackURL, with error=INVALID_TOKEN where the link is worth nothing"),
        (status = 400, description = "INVALID_TOKEN"), (status = 403, description = "INVALID_CALLBACK_URL")))]
pub async fn follow(asked: Asked) -> Answered {
    let query = asked.query_object();
    let mut reader = FieldReader::query(&query);
    let token = reader.string("token").to_owned();
    reader.finish()?;
    let callback = asked.query("callbackURL").filter(|callback| !callback.is_empty());
    if let Some(callback) = callback {
        asked.check_callback(callback)?;
    }
    let now = asked.now;
    let is_good = asked.act(move |work| addresses::confirm(work, &token, now)).await?;
    match (callback, is_good) {
        (Some(callback), true) => redirect(&asked.app, callback, "emailChanged=true"),
        (Some(callback), false) => redirect(&asked.app, callback, "error=INVALID_TOKEN"),
        (None, true) => Ok(answer(&json!({ "status": true, "user": null }), Vec::new())),
        (None, false) => Err(AuthError::invalid_token().into()),
    }
}
