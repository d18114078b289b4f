//! Impersonation of a user: for one hour, never of a SUPER_ADMIN, and every log record names the actor. A separate
//! cookie holds the actor's own session.

use better_auth::error::AuthError;
use better_auth::session::{Lifecycle, Remember};
use domain::id::UserId;

use super::super::dto;
use super::super::request::AuthRequest;
use super::super::response::{AuthRejection, AuthResult, json_response};
use super::administrator;
use super::schema;
use auth::actor;
use db::platform::sessions::Session;
use service::actions::administration::{self, Impersonation};

/// Impersonate a user for an hour
#[utoipa::path(post, path = "/auth/admin/impersonate-user",
    request_body = schema::AuthUserId,
    responses((status = 200, body = schema::AuthSessionAndUser, description = "session and user; sets the session cookies and a cookie for returning"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_CANNOT_IMPERSONATE_ADMINS, YOU_ARE_NOT_ALLOWED_TO_IMPERSONATE_USERS, \
         BANNED_USER"),
        (status = 404, description = "USER_NOT_FOUND")))]
pub(crate) async fn begin(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let user = UserId::new(reader.string("userId"));
    reader.finish()?;
    let (current_session, admin) = administrator(&request, AuthError::may_not_impersonate_users()).await?;
    let session = Session {
        expires_at: dto::to_timestamp(Lifecycle::STANDARD.impersonation_expires_at(dto::time(request.now))),
        ..request.new_session(user.clone())
    };
    let act = request.act(move |tx| administration::impersonate(tx, &admin, &user, &session));
    let session = match act.await.map_err(AuthRejection::about_users)? {
        Impersonation::Begun(session) => session,
        Impersonation::OfSuperAdmin => return Err(AuthError::cannot_impersonate_admins().into()),
        Impersonation::OfBanned => return Err(AuthError::banned_user().into()),
        Impersonation::OfInactive => return Err(AuthError::may_not_impersonate_users().into()),
    };
    let facts = request
        .app
        .authenticator()
        .find_session(session.token, None, None)
        .await?;
    // A user who was deactivated at this moment cannot be impersonated.
    let facts = facts.ok_or_else(AuthError::may_not_impersonate_users)?;
    let mut cookies = request.cookies().clear();
    cookies.push(
        request
            .cookies()
            .admin_session(&current_session.session.token, current_session.remember),
    );
    cookies.extend(request.issue(&facts.session, &facts.user, Remember::No));
    Ok(json_response(
        &dto::session_and_user(&facts.session, &facts.user),
        cookies,
    ))
}

/// Stop impersonating
#[utoipa::path(post, path = "/auth/admin/stop-impersonating",
    responses((status = 200, body = schema::AuthSessionAndUser, description = "the actor's own session and user; sets the session cookies"),
        (status = 400, description = "No impersonation is active, BAD_REQUEST"),
        (status = 401, description = "UNAUTHORIZED, also when the actor's own session has ended")))]
pub(crate) async fn stop(request: AuthRequest) -> AuthResult {
    let current_session = request.current_session().await?;
    let Some(admin) = current_session.session.impersonated_by.clone() else {
        return Err(AuthRejection::from(AuthError::not_impersonating()).with(current_session.cookies));
    };
    let role = actor(
        &current_session.user,
        &current_session.session,
        None,
        request.request_id.clone(),
    );
    let (token, now) = (current_session.session.token.clone(), request.now);
    request
        .act(move |tx| administration::stop_impersonating(tx, &role, &token, now))
        .await?;
    let impersonator_session = match request.impersonator_session() {
        Some((token, remember)) => request
            .app
            .authenticator()
            .find_session(token, None, None)
            .await?
            .map(|facts| (facts, remember)),
        None => None,
    };
    // The signature of the cookie is valid, but the owner of the session is read from the database.
    let Some((facts, remember)) = impersonator_session.filter(|(facts, _)| facts.user.id == admin) else {
        return Err(AuthRejection::from(AuthError::unauthorized()).with(request.clear()));
    };
    let mut cookies = request.issue(&facts.session, &facts.user, remember);
    cookies.push(request.cookies().clear_admin_session());
    Ok(json_response(
        &dto::session_and_user(&facts.session, &facts.user),
        cookies,
    ))
}
