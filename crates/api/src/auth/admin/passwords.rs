//! Setting the password of another user.

use better_auth::error::AuthError;
use domain::id::UserId;

use super::super::password::{check_new, check_new_of};
use super::super::request::AuthRequest;
use super::super::response::{AuthRejection, AuthResult};
use super::super::sessions::done;
use super::schema;
use super::{account, administrator};
use service::actions::administration;

/// Set the password of a user
///
/// All sessions of the user end.
#[utoipa::path(post, path = "/auth/admin/set-user-password",
    request_body = schema::AuthUserPassword,
    responses((status = 200, body = schema::AuthStatus, description = "status: true"),
        (status = 400, description = "PASSWORD_TOO_SHORT, PASSWORD_TOO_LONG, PASSWORD_COMPROMISED"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_ARE_NOT_ALLOWED_TO_SET_USERS_PASSWORD"),
        (status = 404, description = "USER_NOT_FOUND")))]
pub(crate) async fn set(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let new = reader.filled_string("newPassword");
    let user = UserId::new(reader.filled_string("userId"));
    reader.finish()?;
    let (current_session, admin) = administrator(&request, AuthError::may_not_set_passwords()).await?;
    check_new(new, &[])?;
    // Avoids hashing for an unknown account.
    account(&request, &user).await?;
    check_new_of(&request, &user, new).await?;
    let hash = request.hash(new).await?;
    let is_own = user == admin.id;
    request
        .act(move |tx| administration::set_password(tx, &admin, &user, &hash))
        .await
        .map_err(AuthRejection::about_users)?;
    Ok(done(if is_own {
        request.clear()
    } else {
        current_session.cookies
    }))
}
