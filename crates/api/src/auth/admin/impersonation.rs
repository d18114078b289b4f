//! Acting as somebody else, to see what he sees: for an hour, never as somebody who runs the platform, and every record of
//! it names who it really was. The way back is a cookie of its own.

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

/// Act as somebody else for an hour
#[utoipa::path(post, path = "/auth/admin/impersonate-user",
    request_body = schema::UserName,
    responses((status = 200, body = schema::SessionAndUser, description = "session and user; sets their cookies and the way back"),
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
    let act = asked.act(move |work| administration::impersonate(work, &admin, &user, &session));
    let session = match act.await.map_err(Refused::about_users)? {
        Impersonation::Begun(session) => session,
        Impersonation::OfSuperAdmin => return Err(AuthError::cannot_impersonate_admins().into()),
        Impersonation::OfBanned => return Err(AuthError::banned_user().into()),
        Impersonation::OfInactive => return Err(AuthError::may_not_impersonate_users().into()),
    };
    let facts = asked.app.gate().facts(session.token, None, None).await?;
    // Whoever was switched off in this very moment is acted as by nobody.
    let facts = facts.ok_or_else(AuthError::may_not_impersonate_users)?;
    let mut cookies = asked.cookies().clear();
    cookies.push(asked.cookies().admin_session(&present.session.token, present.remember));
    cookies.extend(asked.issue(&facts.session, &facts.user, Remember::No));
    Ok(answer(&wire::session_and_user(&facts.session, &facts.user), cookies))
}

/// Stop acting as somebody else
#[utoipa::path(post, path = "/auth/admin/stop-impersonating",
    responses((status = 200, body = schema::SessionAndUser, description = "the own session and user; sets their cookies"),
        (status = 400, description = "Not acting as anybody, BAD_REQUEST"),
        (status = 401, description = "UNAUTHORIZED, also when the own session is over")))]
pub async fn stop(asked: Asked) -> Answered {
    let present = asked.present().await?;
    let Some(admin) = present.session.impersonated_by.clone() else {
        return Err(Refused::from(AuthError::not_impersonating()).with(present.cookies));
    };
    let role = actor(&present.user, &present.session, None, asked.request_id.clone());
    let (token, now) = (present.session.token.clone(), asked.now);
    asked
        .act(move |work| administration::stop_impersonating(work, &role, &token, now))
        .await?;
    let way_back = match asked.way_back() {
        Some((token, remember)) => asked
            .app
            .gate()
            .facts(token, None, None)
            .await?
            .map(|facts| (facts, remember)),
        None => None,
    };
    // The cookie is ours, but whose session it names is asked of the store.
    let Some((facts, remember)) = way_back.filter(|(facts, _)| facts.user.id == admin) else {
        return Err(Refused::from(AuthError::unauthorized()).with(asked.clear()));
    };
    let mut cookies = asked.issue(&facts.session, &facts.user, remember);
    cookies.push(asked.cookies().clear_admin_session());
    Ok(answer(&wire::session_and_user(&facts.session, &facts.user), cookies))
}
