//! Password reset by email, with a link that works once within an hour. Responses do not depend on whether an account
//! exists. Links are built from FRONTEND_URL, never from the Host of the request.

use axum::extract::{FromRequest as _, Path, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use better_auth::email;
use better_auth::error::AuthError;
use better_auth::token;
use serde_json::json;

use super::super::context::App;
use super::password::{check_new, check_new_of};
use super::request::AuthRequest;
use super::response::{AuthRejection, AuthResult, json_response};
use super::schema;
use super::sessions::done;
use common::clock;
use common::error::Result;
use db::platform::{CrossTenantReason, PlatformWriteTx};
use service::actions::passwords;

/// The page for the new password when the client names none.
pub const PAGE: &str = "/reset-password";

/// Request an email with a link that resets the password
#[utoipa::path(post, path = "/auth/request-password-reset",
    request_body = schema::AuthResetRequest,
    responses((status = 200, body = schema::AuthResetRequested, description = "status and message, the same for every address"),
        (status = 403, description = "INVALID_REDIRECT_URL")))]
pub(crate) async fn request(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let address = email::lower_case(reader.email("email"));
    let page = reader
        .optional_string("redirectTo")
        .filter(|page| !page.is_empty())
        .unwrap_or(PAGE)
        .to_owned();
    reader.finish()?;
    // Not awaited, because the response time would reveal whether the account exists.
    tokio::spawn(async move {
        if let Err(error) = send_link(&request.app, address, &page).await {
            tracing::error!(error = format!("{error:?}"), "password reset email could not be queued");
        }
    });
    let message = "If this email exists in our system, check your email for the reset link";
    Ok(json_response(
        &json!({ "status": true, "message": message }),
        Vec::new(),
    ))
}

/// Target of the link in the email, below FRONTEND_URL. The web client reads the token from the fragment, which
/// browsers do not send and servers do not log; the page of another client is reached as in the library.
pub fn path(token: &str, page: &str) -> String {
    if page == PAGE {
        return format!("{PAGE}#token={token}");
    }
    let page: String = form_urlencoded::byte_serialize(page.as_bytes()).collect();
    format!("/api/auth/reset-password/{token}?callbackURL={page}")
}

/// Stores the token and queues the email in one transaction.
async fn send_link(app: &App, address: String, page: &str) -> Result<()> {
    let (now, token) = (clock::now(), token::reset_token());
    let path = path(&token, page);
    let mail = app.mail().clone();
    let act = move |tx: &mut PlatformWriteTx<'_>| {
        let credential = tx
            .credential(&address, now)?
            .filter(|found| found.is_active && !found.is_banned);
        credential.map_or(Ok(()), |found| {
            passwords::request_reset(tx, &mail, &found.user, &token, &path, now)
        })
    };
    app.transactor()
        .write_platform(CrossTenantReason::SessionLookup, act)
        .await
}

/// Follow the link of a reset email to the page for the new password
#[utoipa::path(get, path = "/auth/reset-password/{token}",
    params(("token" = String, Path, description = "The token of the email"),
        ("callbackURL" = String, Query, description = "The page to open next, on the origin of FRONTEND_URL")),
    responses((status = 302, description = "Redirect to callbackURL with token, or with error=INVALID_TOKEN"),
        (status = 403, description = "INVALID_CALLBACK_URL")))]
pub(crate) async fn follow(State(app): State<App>, Path(token): Path<String>, request: Request) -> AuthResult {
    let request = AuthRequest::from_request(request, &app).await?;
    let query = request.query_object();
    let mut reader = better_auth::schema::FieldReader::query(&query);
    let callback = reader.string("callbackURL");
    reader.finish()?;
    request.check_callback(callback)?;
    let (lookup, now) = (token.clone(), request.now);
    let is_valid = !token.contains('\0')
        && app
            .store()
            .platform_read(CrossTenantReason::SessionLookup, move |platform| {
                passwords::is_reset(platform, &lookup, now)
            })
            .await?;
    let parameter = if is_valid {
        format!("token={token}")
    } else {
        "error=INVALID_TOKEN".to_owned()
    };
    redirect(&app, callback, &parameter)
}

/// Reset the password with the token of the email
///
/// All sessions of the user end.
#[utoipa::path(post, path = "/auth/reset-password",
    request_body = schema::AuthPasswordReset,
    responses((status = 200, body = schema::AuthStatus, description = "status: true"),
        (status = 400, description = "INVALID_TOKEN, PASSWORD_TOO_SHORT, PASSWORD_TOO_LONG, PASSWORD_COMPROMISED")))]
pub(crate) async fn reset(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let new = reader.string("newPassword");
    let token = reader.optional_string("token");
    reader.finish()?;
    let token = token
        .or_else(|| request.query("token"))
        .filter(|token| !token.is_empty());
    let token = token.ok_or_else(AuthError::invalid_token)?.to_owned();
    check_new(new, &[])?;
    // Avoids hashing for an invalid token.
    let (lookup, now) = (token.clone(), request.now);
    let load = request.read(move |platform| passwords::find_user_of_reset(platform, &lookup, now));
    let person = load.await?.ok_or_else(AuthError::invalid_token)?;
    check_new_of(&request, &person.id, new).await?;
    let hash = request.hash(new).await?;
    if !request.act(move |tx| passwords::reset(tx, &token, &hash, now)).await? {
        return Err(AuthError::invalid_token().into());
    }
    Ok(done(Vec::new()))
}

/// Redirects the browser to a page on the origin of FRONTEND_URL. The parameters are inserted before the fragment.
pub fn redirect(app: &App, callback: &str, parameter: &str) -> AuthResult {
    let (page, fragment) = callback
        .split_once('#')
        .map_or((callback, None), |(page, fragment)| (page, Some(fragment)));
    let front = if page.starts_with('/') || page.is_empty() {
        app.frontend_origin()
    } else {
        ""
    };
    let join = match (parameter, page.contains('?')) {
        ("", _) => "",
        (_, true) => "&",
        (_, false) => "?",
    };
    let fragment = fragment.map(|fragment| format!("#{fragment}")).unwrap_or_default();
    let location = HeaderValue::from_str(&format!("{front}{page}{join}{parameter}{fragment}"));
    let location = location.map_err(|_| AuthRejection::from(AuthError::invalid_callback_url()))?;
    let mut response: Response = StatusCode::FOUND.into_response();
    response.headers_mut().insert(header::LOCATION, location);
    Ok(response)
}
