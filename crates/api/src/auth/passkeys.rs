//! Passkeys in the wire format of better-auth's plugin `passkey`, see docs/passkeys.md. A challenge is bound to the browser
//! by a signed cookie, and to the session or the waiting sign-in for which it was issued.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use better_auth::error::AuthError;
use better_auth::schema::FieldReader;
use better_auth::session::Remember;
use domain::id::{PasskeyId, UserId};
use domain::passkey::{CHALLENGE_SECONDS, Passkey, is_fresh};
use domain::text::ShortName;
use domain::user_name::full_name;
use serde_json::{Value, json};
use webauthn::{AssertionResponse, RegistrationResponse, public_key};

use super::dto;
use super::request::{AuthRequest, CurrentSession};
use super::response::{AuthRejection, AuthResult, json_response};
use super::schema;
use super::second_factor::session_of_step;
use super::sessions::done;
use common::error::Error;
use db::platform::sessions::SessionUser;
use service::actions::passkey_sign_in::{PasskeySignIn, PasskeySignInResult, sign_in_with_passkey};
use service::actions::passkeys::{self, Ceremony, NewPasskey, PasskeyChallenge, PasskeyResult};

/// The name of the service in the dialogs of authenticators.
const SERVICE: &str = "groupwork";
/// Maximum number of characters of the name of a passkey.
const NAME_MAX: usize = 80;
/// How long an authenticator may take, in milliseconds.
const TIMEOUT: i64 = CHALLENGE_SECONDS * 1000;

/// Start adding a passkey
///
/// The session must have been opened, or its password verified, in the last 15 minutes.
#[utoipa::path(get, path = "/auth/passkey/generate-register-options",
    params(("authenticatorAttachment" = Option<String>, Query, description = "platform or cross-platform"),
        ("name" = Option<String>, Query, description = "The name of the account in the dialog of the authenticator"),
        ("context" = Option<String>, Query, description = "Ignored")),
    responses((status = 200, body = schema::AuthPasskeyRegisterOptions, description = "options for navigator.credentials.create; sets the cookie of the challenge"),
        (status = 401, description = "UNAUTHORIZED, YOU_ARE_NOT_ALLOWED_TO_REGISTER_THIS_PASSKEY"),
        (status = 403, description = "SESSION_NOT_FRESH"), (status = 400, description = "VALIDATION_ERROR")))]
pub(crate) async fn register_options(request: AuthRequest) -> AuthResult {
    let query = request.query_object();
    let mut reader = FieldReader::query(&query);
    let attachment = reader.optional_enum("authenticatorAttachment", &["platform", "cross-platform"]);
    let name = reader.optional_string("name").filter(|name| !name.is_empty());
    reader.optional_string("context");
    reader.finish()?;
    let current_session = request.current_session().await?;
    let session = &current_session.session;
    if session.impersonated_by.is_some() {
        return current_session.reject(AuthError::may_not_register_passkey());
    }
    if !is_fresh(session.created_at, session.confirmed_at, request.now) {
        return current_session.reject(AuthError::session_not_fresh());
    }
    let known = load(&request, &current_session.user.id).await?;
    let challenge = PasskeyChallenge::issue(Ceremony::Registration(session.id.clone()), request.now);
    let name = name.map(|name| name.chars().take(NAME_MAX).collect::<String>());
    let mut selection = json!({
        "residentKey": "preferred",
        "userVerification": "preferred",
        "requireResidentKey": false,
    });
    if let Some(attachment) = attachment {
        selection["authenticatorAttachment"] = attachment.into();
    }
    let parameters: Vec<Value> = public_key::ALGORITHMS
        .iter()
        .map(|algorithm| json!({"alg": algorithm, "type": "public-key"}))
        .collect();
    let body = json!({
        "challenge": challenge.text,
        "rp": { "name": SERVICE, "id": request.relying_party().id },
        "user": {
            "id": URL_SAFE_NO_PAD.encode(passkeys::user_handle(&current_session.user.id)),
            "name": name.unwrap_or_else(|| account_name(&current_session.user)),
            "displayName": current_session.user.name,
        },
        "pubKeyCredParams": parameters,
        "timeout": TIMEOUT,
        "excludeCredentials": descriptors(&known),
        "authenticatorSelection": selection,
        "attestation": "none",
        "extensions": { "credProps": true },
        "hints": [],
    });
    let mut cookies = current_session.cookies;
    cookies.push(request.cookies().passkey(&challenge.to_cookie(), CHALLENGE_SECONDS));
    Ok(json_response(&body, cookies))
}

/// Add a passkey
#[utoipa::path(post, path = "/auth/passkey/verify-registration",
    request_body = schema::AuthPasskeyRegistration,
    responses((status = 200, body = schema::AuthPasskey, description = "the passkey; with the first second factor all other sessions end"),
        (status = 401, description = "UNAUTHORIZED, YOU_ARE_NOT_ALLOWED_TO_REGISTER_THIS_PASSKEY"),
        (status = 403, description = "SESSION_NOT_FRESH, SIGNED_ON_ELSEWHERE"), (status = 409, description = "LIMIT_REACHED"),
        (status = 400, description = "CHALLENGE_NOT_FOUND, FAILED_TO_VERIFY_REGISTRATION, PREVIOUSLY_REGISTERED, \
         FIELD_NOT_ALLOWED, VALIDATION_ERROR")))]
pub(crate) async fn register(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let response = reader.any("response").cloned();
    let name = reader
        .optional_string("name")
        .map(str::trim)
        .filter(|name| !name.is_empty());
    reader.check_length("name", name.unwrap_or_default(), NAME_MAX);
    let creates_session = reader.optional_bool("createSession").unwrap_or(false);
    reader.finish()?;
    let mut current_session = request.current_session().await?;
    if creates_session {
        return current_session.reject(AuthError::field_not_allowed("createSession"));
    }
    let Some(challenge) = request.passkey_challenge() else {
        return current_session.reject(AuthError::challenge_not_found());
    };
    let response = response.and_then(|response| serde_json::from_value::<RegistrationResponse>(response).ok());
    let Some(response) = response else {
        return current_session.reject(AuthError::failed_to_verify_registration());
    };
    let Ok(name) = name.map(ShortName::try_from).transpose() else {
        return current_session.reject(invalid_name());
    };
    let new = NewPasskey {
        session: current_session.session.clone(),
        challenge,
        response,
        name,
        relying_party: request.relying_party(),
        address: request.address(),
    };
    let (mail, now) = (request.app.mail().clone(), request.now);
    let result = request.act(move |tx| passkeys::add(tx, &new, &mail, now)).await?;
    let passkey = completed(result, &current_session)?;
    current_session.user.has_second_factor = true;
    let mut cookies = request.reissue(&current_session);
    cookies.push(request.cookies().clear_passkey());
    Ok(json_response(&passkey_object(&passkey), cookies))
}

/// Start a sign-in with a passkey, or the second step of a sign-in
///
/// Without a waiting sign-in the authenticator has to verify the user. The official client passes no query; `signIn=true`
/// ignores a waiting sign-in of this browser.
#[utoipa::path(get, path = "/auth/passkey/generate-authenticate-options",
    params(("signIn" = Option<String>, Query, description = "true: a new sign-in, even if one waits for its second factor in this browser")),
    responses((status = 200, body = schema::AuthPasskeyAuthenticateOptions, description = "options for navigator.credentials.get; sets the cookie of the challenge")))]
pub(crate) async fn sign_in_options(request: AuthRequest) -> AuthResult {
    let is_new = request.query("signIn") == Some("true");
    let (mut cookies, mut known) = (Vec::new(), Vec::new());
    let ceremony = if let Some(current_session) = session_of_step(&request).await? {
        known = load(&request, &current_session.user.id).await?;
        cookies = current_session.cookies;
        Ceremony::Reauthentication(current_session.session.id)
    } else if let Some(token) = request.pending_sign_in().filter(|_| !is_new) {
        let (digest, now) = (passkeys::pending_digest(&token), request.now);
        let identifier = digest.clone();
        let load = request.read(move |platform| match platform.pending_sign_in(&identifier, now)? {
            Some(waiting) => platform.passkeys(&waiting.user).map(Some),
            None => Ok(None),
        });
        match load.await? {
            Some(passkeys) => {
                known = passkeys;
                Ceremony::SecondStep(digest)
            }
            None => Ceremony::SignIn,
        }
    } else {
        Ceremony::SignIn
    };
    let is_second = matches!(ceremony, Ceremony::SecondStep(_));
    let challenge = PasskeyChallenge::issue(ceremony, request.now);
    let mut body = json!({
        "challenge": challenge.text,
        "rpId": request.relying_party().id,
        "timeout": TIMEOUT,
        "userVerification": if is_second { "preferred" } else { "required" },
    });
    if !known.is_empty() {
        body["allowCredentials"] = descriptors(&known);
    }
    cookies.push(request.cookies().passkey(&challenge.to_cookie(), CHALLENGE_SECONDS));
    Ok(json_response(&body, cookies))
}

/// Sign in with a passkey, or complete the second step of a sign-in
#[utoipa::path(post, path = "/auth/passkey/verify-authentication",
    request_body = schema::AuthPasskeyAssertion,
    responses((status = 200, body = schema::AuthSessionAndUser, description = "session and user; sets the session cookies"),
        (status = 401, description = "PASSKEY_NOT_FOUND, AUTHENTICATION_FAILED"),
        (status = 403, description = "BANNED_USER, PASSWORDS_OFF, PASSKEY_NOT_SUFFICIENT, INVALID_ORIGIN, CROSS_SITE_NAVIGATION_LOGIN_BLOCKED"),
        (status = 400, description = "CHALLENGE_NOT_FOUND, TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE, VALIDATION_ERROR")))]
pub(crate) async fn sign_in(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let response = reader.record("response").cloned();
    reader.finish()?;
    request.check_form()?;
    let Some(challenge) = request.passkey_challenge() else {
        return Err(AuthError::challenge_not_found().into());
    };
    let response = response.and_then(|response| serde_json::from_value(Value::Object(response)).ok());
    let Some(response): Option<AssertionResponse> = response else {
        return Err(AuthError::authentication_failed().into());
    };
    let current_session = session_of_step(&request).await?;
    let is_second = matches!(challenge.ceremony, Ceremony::SecondStep(_));
    let sign_in = PasskeySignIn {
        challenge,
        response,
        relying_party: request.relying_party(),
        address: request.address(),
        current: current_session.map(|current_session| (current_session.session.id, current_session.user.id)),
        pending: request.pending_sign_in(),
        session: request.new_session(UserId::new("")),
    };
    let now = request.now;
    let result = request.act(move |tx| sign_in_with_passkey(tx, &sign_in, now)).await?;
    let session = match result {
        PasskeySignInResult::Opened(session) => session,
        PasskeySignInResult::UnknownChallenge => return Err(AuthError::challenge_not_found().into()),
        PasskeySignInResult::UnknownPasskey => return Err(AuthError::passkey_unknown().into()),
        PasskeySignInResult::Rejected => return Err(AuthError::authentication_failed().into()),
        PasskeySignInResult::Banned => return Err(AuthError::banned_user().into()),
        PasskeySignInResult::PasswordsOff => return Err(Error::PasswordsOff.into()),
        PasskeySignInResult::NotSufficient => return Err(AuthError::passkey_not_sufficient().into()),
        PasskeySignInResult::TooManyAttempts => {
            let cookies = vec![request.cookies().clear_two_factor()];
            return Err(AuthRejection::from(AuthError::too_many_attempts()).with(cookies));
        }
    };
    let facts = request
        .app
        .authenticator()
        .find_session(session.token, None, None)
        .await?;
    // A user who was deactivated at this moment has no session.
    let facts = facts.ok_or_else(AuthError::authentication_failed)?;
    let remember = if is_second { request.remember() } else { Remember::Yes };
    let mut cookies = request.issue(&facts.session, &facts.user, remember);
    cookies.push(request.cookies().clear_passkey());
    if is_second {
        cookies.push(request.cookies().clear_two_factor());
    }
    Ok(json_response(
        &dto::session_and_user(&facts.session, &facts.user),
        cookies,
    ))
}

/// List the caller's passkeys
#[utoipa::path(get, path = "/auth/passkey/list-user-passkeys",
    responses((status = 200, body = Vec<schema::AuthPasskey>, description = "the passkeys, oldest first"),
        (status = 401, description = "UNAUTHORIZED")))]
pub(crate) async fn list(request: AuthRequest) -> AuthResult {
    let current_session = request.current_session().await?;
    let known = load(&request, &current_session.user.id).await?;
    let body: Vec<Value> = known.iter().map(passkey_object).collect();
    Ok(json_response(&body, current_session.cookies))
}

/// Rename a passkey
#[utoipa::path(post, path = "/auth/passkey/update-passkey",
    request_body = schema::AuthPasskeyName,
    responses((status = 200, body = schema::AuthUpdatedPasskey, description = "passkey"),
        (status = 401, description = "UNAUTHORIZED, YOU_ARE_NOT_ALLOWED_TO_REGISTER_THIS_PASSKEY"),
        (status = 403, description = "SIGNED_ON_ELSEWHERE"), (status = 404, description = "PASSKEY_NOT_FOUND"),
        (status = 400, description = "VALIDATION_ERROR")))]
pub(crate) async fn rename(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let id = PasskeyId::new(reader.string("id"));
    let name = reader.filled_string("name").trim();
    reader.check_length("name", name, NAME_MAX);
    reader.finish()?;
    let current_session = request.current_session().await?;
    let Ok(name) = ShortName::try_from(name) else {
        return current_session.reject(invalid_name());
    };
    let session = current_session.session.clone();
    let result = request
        .act(move |tx| passkeys::rename(tx, &session, &id, &name))
        .await?;
    let passkey = completed(result, &current_session)?;
    let body = json!({ "passkey": passkey_object(&passkey) });
    Ok(json_response(&body, current_session.cookies))
}

/// Remove a passkey
///
/// The last second factor of a user who is required to have one cannot be removed.
#[utoipa::path(post, path = "/auth/passkey/delete-passkey",
    request_body = schema::AuthPasskeyReference,
    responses((status = 200, body = schema::AuthStatus, description = "status: true"),
        (status = 401, description = "UNAUTHORIZED, YOU_ARE_NOT_ALLOWED_TO_REGISTER_THIS_PASSKEY"),
        (status = 403, description = "SESSION_NOT_FRESH, SIGNED_ON_ELSEWHERE, SECOND_FACTOR_REQUIRED"),
        (status = 404, description = "PASSKEY_NOT_FOUND"), (status = 400, description = "VALIDATION_ERROR")))]
pub(crate) async fn remove(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let id = PasskeyId::new(reader.string("id"));
    reader.finish()?;
    let mut current_session = request.current_session().await?;
    let authenticator = request.app.authenticator();
    let token = current_session.session.token.clone();
    let facts = authenticator.find_session(token, request.host().cloned(), None).await?;
    let is_required = facts.is_some_and(|facts| authenticator.requires_second_factor(&facts));
    let (session, address, now) = (current_session.session.clone(), request.address(), request.now);
    let mail = request.app.mail().clone();
    let result = request
        .act(move |tx| passkeys::remove(tx, &session, &id, is_required, &address, &mail, now))
        .await?;
    completed(result, &current_session)?;
    let token = current_session.session.token.clone();
    let facts = request.app.authenticator().find_session(token, None, None).await?;
    current_session.user.has_second_factor = facts.is_some_and(|facts| facts.user.has_second_factor);
    Ok(done(request.reissue(&current_session)))
}

async fn load(request: &AuthRequest, user: &UserId) -> Result<Vec<Passkey>, AuthRejection> {
    let user = user.clone();
    let load = request.read(move |platform| platform.passkeys(&user));
    Ok(load.await?)
}

/// The name of the account in the dialog of an authenticator.
fn account_name(user: &SessionUser) -> String {
    let name = user.user_name.as_ref().map(|(name, slug)| full_name(name, slug));
    user.email.shown().or(name).unwrap_or_else(|| user.name.clone())
}

fn descriptors(known: &[Passkey]) -> Value {
    let describe = |passkey: &Passkey| {
        let mut described = json!({ "id": passkey.credential_id, "type": "public-key" });
        if !passkey.transports.is_empty() {
            described["transports"] = passkey.transports.split(',').collect();
        }
        described
    };
    known.iter().map(describe).collect()
}

/// A passkey, for its owner.
fn passkey_object(passkey: &Passkey) -> Value {
    json!({
        "id": passkey.id,
        "name": passkey.name,
        "publicKey": STANDARD.encode(&passkey.public_key),
        "userId": passkey.user_id,
        "credentialID": passkey.credential_id,
        "counter": passkey.counter.0,
        "deviceType": if passkey.is_backup_eligible { "multiDevice" } else { "singleDevice" },
        "backedUp": passkey.is_backed_up,
        "transports": passkey.transports,
        "createdAt": dto::time(passkey.created_at),
        "aaguid": passkey.aaguid,
        "lastUsedAt": passkey.last_used_at.map(dto::time),
    })
}

fn completed<T>(result: PasskeyResult<T>, current_session: &CurrentSession) -> Result<T, AuthRejection> {
    let error = match result {
        PasskeyResult::Done(value) => return Ok(value),
        PasskeyResult::Impersonated | PasskeyResult::Foreign => AuthError::may_not_register_passkey(),
        PasskeyResult::NotFresh => AuthError::session_not_fresh(),
        PasskeyResult::UnknownChallenge => AuthError::challenge_not_found(),
        PasskeyResult::Rejected => AuthError::failed_to_verify_registration(),
        PasskeyResult::AlreadyRegistered => AuthError::previously_registered(),
        PasskeyResult::NotFound => AuthError::passkey_not_found(),
    };
    Err(AuthRejection::from(error).with(current_session.cookies.clone()))
}

fn invalid_name() -> AuthError {
    AuthError::validation("[body.name] Invalid string: control characters are not allowed".to_owned())
}
