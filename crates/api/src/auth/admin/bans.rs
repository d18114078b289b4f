//! Bans accounts from the platform, temporarily or permanently.

use better_auth::error::AuthError;
use domain::id::UserId;
use domain::patch::FieldPatch;
use domain::time::Timestamp;
use serde_json::json;

use super::super::request::AuthRequest;
use super::super::response::{AuthRejection, AuthResult, json_response};
use super::schema;
use super::{administrator, shown};
use db::platform::administration::Ban;
use service::actions::administration::{self, AccountEdit};

/// The value that the library stores when no reason is given.
pub const NO_REASON: &str = "No reason";
/// Maximum length of a reason in characters.
const LONGEST_REASON: usize = 500;
/// Longer bans, in seconds, have no end.
const LONGEST_BAN: f64 = 100.0 * 365.0 * 24.0 * 60.0 * 60.0;

/// Ban a user
///
/// All sessions of the user end immediately.
#[utoipa::path(post, path = "/auth/admin/ban-user",
    request_body = schema::AuthBan,
    responses((status = 200, body = schema::AuthChangedUser, description = "user"), (status = 400, description = "YOU_CANNOT_BAN_YOURSELF"),
        (status = 401, description = "UNAUTHORIZED"), (status = 403, description = "YOU_ARE_NOT_ALLOWED_TO_BAN_USERS"),
        (status = 404, description = "USER_NOT_FOUND")))]
pub(crate) async fn ban(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let user = UserId::new(reader.string("userId"));
    let reason = reader.optional_string("banReason").filter(|reason| !reason.is_empty());
    let seconds = reader.optional_number("banExpiresIn");
    reader.finish()?;
    if reason.is_some_and(|reason| reason.chars().count() > LONGEST_REASON) {
        let message = format!("[body.banReason] Too big: expected string to have <={LONGEST_REASON} characters");
        return Err(AuthError::validation(message).into());
    }
    let ban = Ban {
        reason: Some(reason.unwrap_or(NO_REASON).to_owned()),
        until: end(seconds, request.now)?,
    };
    change(request, user, FieldPatch::Value(ban)).await
}

/// Lift a ban
#[utoipa::path(post, path = "/auth/admin/unban-user",
    request_body = schema::AuthUserId,
    responses((status = 200, body = schema::AuthChangedUser, description = "user"), (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_ALLOWED_TO_BAN_USERS"),
        (status = 404, description = "USER_NOT_FOUND")))]
pub(crate) async fn unban(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let user = UserId::new(reader.string("userId"));
    reader.finish()?;
    change(request, user, FieldPatch::Null).await
}

async fn change(request: AuthRequest, user: UserId, ban: FieldPatch<Ban>) -> AuthResult {
    let (current_session, admin) = administrator(&request, AuthError::may_not_ban_users()).await?;
    if ban.value().is_some() && user == admin.id {
        return Err(AuthError::cannot_ban_yourself().into());
    }
    let edit = AccountEdit {
        ban,
        ..AccountEdit::default()
    };
    let now = admin.now;
    let account = request
        .act(move |tx| administration::edit(tx, &admin, &user, &edit))
        .await
        .map_err(AuthRejection::about_users)?;
    Ok(json_response(
        &json!({ "user": shown(&account, now) }),
        current_session.cookies,
    ))
}

/// The end of a ban of this many seconds. `None` and zero mean no end, as in the library.
fn end(seconds: Option<f64>, now: Timestamp) -> Result<Option<Timestamp>, AuthError> {
    match seconds {
        Some(seconds) if seconds < 0.0 => {
            let message = "[body.banExpiresIn] Too small: expected number to be >=0";
            Err(AuthError::validation(message.to_owned()))
        }
        Some(seconds) if seconds > 0.0 && seconds <= LONGEST_BAN => {
            #[expect(clippy::cast_possible_truncation, reason = "a hundred years of seconds fit")]
            let seconds = seconds.ceil() as i64;
            Ok(Some(now.plus_seconds(seconds)))
        }
        _ => Ok(None),
    }
}

/// Parses the end of a ban.
pub fn until(text: &str) -> Result<Timestamp, AuthError> {
    let time = Timestamp::parse(text);
    time.map_err(|_| {
        AuthError::validation("[body.data.banExpires] Invalid input: expected date, received string".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ban_without_valid_duration_has_no_end() {
        let now = Timestamp::from_millis(1_000);
        let ends = |seconds| end(seconds, now).expect("no negative number");
        assert_eq!(ends(Some(60.0)), Some(Timestamp::from_millis(61_000)));
        assert_eq!(ends(Some(0.5)), Some(Timestamp::from_millis(2_000)));
        for endless in [None, Some(0.0), Some(1e300)] {
            assert_eq!(ends(endless), None);
        }
        assert!(end(Some(-1.0), now).is_err());
    }
}
