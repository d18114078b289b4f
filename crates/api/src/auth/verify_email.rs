//! The link of an email that confirms a new address. As in the library, it needs no session: opening the link proves
//! access to the new mailbox.

use better_auth::error::AuthError;
use better_auth::schema::FieldReader;
use serde_json::json;

use super::request::AuthRequest;
use super::reset::redirect;
use super::response::{AuthResult, json_response};
use super::schema;
use service::actions::addresses;

/// Confirm a new email address with the link of the email
#[utoipa::path(get, path = "/auth/verify-email",
    params(("token" = String, Query, description = "The token of the email"),
        ("callbackURL" = Option<String>, Query, description = "The page to open next, on the origin of FRONTEND_URL")),
    responses((status = 200, body = schema::AuthAddressConfirmed, description = "status: true and user: null, without callbackURL"),
        (status = 302, description = "Redirect to callbackURL, with error=INVALID_TOKEN if the link is invalid"),
        (status = 400, description = "INVALID_TOKEN"), (status = 403, description = "INVALID_CALLBACK_URL"),
        (status = 503, description = "MAINTENANCE")))]
pub(crate) async fn follow(request: AuthRequest) -> AuthResult {
    let query = request.query_object();
    let mut reader = FieldReader::query(&query);
    let token = reader.string("token").to_owned();
    reader.finish()?;
    let callback = request.query("callbackURL").filter(|callback| !callback.is_empty());
    if let Some(callback) = callback {
        request.check_callback(callback)?;
    }
    let now = request.now;
    let is_good = request.act(move |tx| addresses::confirm(tx, &token, now)).await?;
    match (callback, is_good) {
        (Some(callback), true) => redirect(&request.app, callback, "emailChanged=true"),
        (Some(callback), false) => redirect(&request.app, callback, "error=INVALID_TOKEN"),
        (None, true) => Ok(json_response(&json!({ "status": true, "user": null }), Vec::new())),
        (None, false) => Err(AuthError::invalid_token().into()),
    }
}
