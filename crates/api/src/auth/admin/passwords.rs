//! Setting the password of another user.

use better_auth::error::AuthError;
use model::id::UserId;

use super::super::answer::{Answered, Refused};
use super::super::asked::Asked;
use super::super::password::{check_new, check_new_of};
use super::super::sessions::done;
use super::schema;
use super::{account, administrator};
use service::actions::administration;

/// Set the password of a user
///
/// All sessions of the user end.
#[utoipa::path(post, path = "/auth/admin/set-user-password",
    request_body = schema::UserPassword,
    responses((status = 200, body = schema::AuthStatus, description = "status: true"),
        (status = 400, description = "PASSWORD_TOO_SHORT, PASSWORD_TOO_LONG, PASSWORD_COMPROMISED"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_ALLOWED_TO_SET_USERS_PASSWORD"),
        (status = 404, description = "USER_NOT_FOUND")))]
pub async fn set(asked: Asked) -> Answered {
    let mut reader = asked.reader();
    let new = reader.filled_string("newPassword");
    let user = UserId::new(reader.filled_string("userId"));
    reader.finish()?;
    let (present, admin) = administrator(&asked, AuthError::may_not_set_passwords()).await?;
    check_new(new, &[])?;
    // Avoids hashing for an unknown account.
    account(&asked, &user).await?;
    check_new_of(&asked, &user, new).await?;
    let hash = asked.app.authenticator().password_hasher().hash(new.to_owned()).await?;
    let is_own = user == admin.id;
    asked
        .act(move |tx| administration::set_password(tx, &admin, &user, &hash))
        .await
        .map_err(Refused::about_users)?;
    Ok(done(if is_own { asked.clear() } else { present.cookies }))
}
