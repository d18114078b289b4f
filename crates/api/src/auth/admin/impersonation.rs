//! Impersonation of a user: for one hour, never of a SUPER_ADMIN, and every log record names the actor. A separate
//! cookie holds the actor's own session.

use better_auth::error::AuthError;
use better_auth::session::{Lifecycle, Remember};
use model::id::UserId;

use super::super::answer::{Answered, Refused, answer};
use super::super::asked::Asked;
use super::super::wire;
use super::administrator;
use super::schema;
use auth::actor;
use db::platform::sessions::Session;
use service::actions::administration::{self, Impersonation};

/// Impersonate a user for an hour
#[utoipa::path(post, path = "/auth/admin/impersonate-user",
    request_body = schema::UserName,
    responses((status = 200, body = schema::SessionAndUser, description = "session and user; sets the session cookies and a cookie for returning"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 403, description = "YOU_CANNOT_IMPERSONATE_ADMINS, YOU_ARE_NOT_ALLOWED_TO_IMPERSONATE_USERS, \
         BANNED_USER"),
        (status = 404, description = "USER_NOT_FOUND")))]
pub async fn begin(asked: Asked) -> Answered {
    let mut reader = asked.reader();
    let user = UserId::new(reader.string("userId"));
    reader.finish()?;
    let (present, admin) = administrator(&asked, AuthError::may_not_impersonate_users()).await?;
    let session = Session {
        expires_at: wire::moment(Lifecycle::STANDARD.impersonation_expires_at(wire::time(asked.now))),
        ..asked.new_session(user.clone())
    };
    let act = asked.act(move |tx| administration::impersonate(tx, &admin, &user, &session));
    let session = match act.await.map_err(Refused::about_users)? {
        Impersonation::Begun(session) => session,
        Impersonation::OfSuperAdmin => return Err(AuthError::cannot_impersonate_admins().into()),
        Impersonation::OfBanned => return Err(AuthError::banned_user().into()),
        Impersonation::OfInactive => return Err(AuthError::may_not_impersonate_users().into()),
    };
    let facts = asked
        .app
        .authenticator()
        .find_session(session.token, None, None)
        .await?;
    // A user who was deactivated at this moment cannot be impersonated.
    let facts = facts.ok_or_else(AuthError::may_not_impersonate_users)?;
    let mut cookies = asked.cookies().clear();
    cookies.push(asked.cookies().admin_session(&present.session.token, present.remember));
    cookies.extend(asked.issue(&facts.session, &facts.user, Remember::No));
    Ok(answer(&wire::session_and_user(&facts.session, &facts.user), cookies))
}

/// Stop impersonating
#[utoipa::path(post, path = "/auth/admin/stop-impersonating",
    responses((status = 200, body = schema::SessionAndUser, description = "the actor's own session and user; sets the session cookies"),
        (status = 400, description = "No impersonation is active, BAD_REQUEST"),
        (status = 401, description = "UNAUTHORIZED, also when the actor's own session has ended")))]
pub async fn stop(asked: Asked) -> Answered {
    let present = asked.present().await?;
    let Some(admin) = present.session.impersonated_by.clone() else {
        return Err(Refused::from(AuthError::not_impersonating()).with(present.cookies));
    };
    let role = actor(&present.user, &present.session, None, asked.request_id.clone());
    let (token, now) = (present.session.token.clone(), asked.now);
    asked
        .act(move |tx| administration::stop_impersonating(tx, &role, &token, now))
        .await?;
    let way_back = match asked.way_back() {
        Some((token, remember)) => asked
            .app
            .authenticator()
            .find_session(token, None, None)
            .await?
            .map(|facts| (facts, remember)),
        None => None,
    };
    // The signature of the cookie is valid, but the owner of the session is read from the database.
    let Some((facts, remember)) = way_back.filter(|(facts, _)| facts.user.id == admin) else {
        return Err(Refused::from(AuthError::unauthorized()).with(asked.clear()));
    };
    let mut cookies = asked.issue(&facts.session, &facts.user, remember);
    cookies.push(asked.cookies().clear_admin_session());
    Ok(answer(&wire::session_and_user(&facts.session, &facts.user), cookies))
}
