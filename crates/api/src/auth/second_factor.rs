//! Second factors in the wire format of better-auth's plugin `two-factor`, see docs/second-factor.md. The second step of a
//! sign-in is bound to the browser by a signed cookie. Codes by email are not supported: these routes respond as the
//! library does without `sendOTP`.

use axum::response::Response;
use better_auth::error::AuthError;
use better_auth::session::Remember;
use domain::id::UserId;
use domain::second_factor::{PENDING_SECONDS, TRUST_SECONDS};
use domain::user_name::full_name;
use serde_json::json;

use super::dto;
use super::password::{prove, prover};
use super::request::{AuthRequest, CurrentSession};
use super::response::{AuthRejection, AuthResult, json_response};
use super::schema;
use super::sessions::done;
use db::platform::sessions::SessionUser;
use service::actions::second_factor::{
    self, CodeResult, EnteredCode, NewSecondFactor, SecondFactorMethods, SecondStep, SignInBrowser,
};

/// The name of the service in authenticator apps, unless the request names another one.
const ISSUER: &str = "groupwork";
/// Maximum number of characters of an issuer.
const LONGEST_ISSUER: usize = 64;

/// Set up an authenticator app; the first code confirms it
#[utoipa::path(post, path = "/auth/two-factor/enable",
    request_body = schema::AuthTwoFactorSetup,
    responses((status = 200, body = schema::AuthTwoFactorSecret, description = "method, totpURI, backupCodes"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 400, description = "INVALID_PASSWORD, CREDENTIAL_ACCOUNT_NOT_FOUND, OTP_NOT_CONFIGURED, \
         TOTP_ALREADY_ENABLED, VALIDATION_ERROR")))]
pub(crate) async fn enable(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let password = reader.string("password");
    let method = reader.optional_enum("method", &["otp", "totp"]);
    let issuer = reader.optional_string("issuer").filter(|issuer| !issuer.is_empty());
    reader.finish()?;
    let current_session = request.current_session().await?;
    let fitted = prove(&request, &current_session, password).await?;
    if method == Some("otp") {
        return current_session.reject(AuthError::otp_not_available());
    }
    let new = NewSecondFactor::generate();
    let (made, encryptor) = (new.clone(), request.app.authenticator().factor_encryptor());
    let (prover, now) = (prover(&request, &current_session), request.now);
    let is_set_up = request
        .act(move |tx| second_factor::set_up(tx, &encryptor, &prover, Some(&fitted), &made, now))
        .await?;
    match is_set_up {
        Some(true) => {}
        Some(false) => return current_session.reject(AuthError::totp_already_enabled()),
        None => return current_session.reject(AuthError::invalid_password()),
    }
    let issuer: String = issuer.unwrap_or(ISSUER).chars().take(LONGEST_ISSUER).collect();
    let body = json!({
        "method": "totp",
        "totpURI": new.secret.uri(&issuer, &label(&current_session.user)),
        "backupCodes": new.recovery_codes,
    });
    Ok(json_response(&body, current_session.cookies))
}

/// The name of the account in authenticator apps.
fn label(user: &SessionUser) -> String {
    let name = user.user_name.as_ref().map(|(name, slug)| full_name(name, slug));
    user.email.shown().or(name).unwrap_or_else(|| user.name.clone())
}

/// Remove the authenticator app
#[utoipa::path(post, path = "/auth/two-factor/disable",
    request_body = schema::AuthPassword,
    responses((status = 200, body = schema::AuthStatus, description = "status: true; without a passkey, no browser is trusted any more"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 400, description = "INVALID_PASSWORD, CREDENTIAL_ACCOUNT_NOT_FOUND")))]
pub(crate) async fn disable(request: AuthRequest) -> AuthResult {
    let password = request.password()?;
    let mut current_session = request.current_session().await?;
    let fitted = prove(&request, &current_session, password).await?;
    let (prover, now) = (prover(&request, &current_session), request.now);
    let is_right = request
        .act(move |tx| second_factor::disable(tx, &prover, Some(&fitted), now))
        .await?;
    if !is_right {
        return current_session.reject(AuthError::invalid_password());
    }
    let user = current_session.user.id.clone();
    let load = request.read(move |platform| platform.count_passkeys(&user));
    current_session.user.has_second_factor = load.await? > 0;
    let mut cookies = request.reissue(&current_session);
    let is_trusted = request.has_cookie(request.app.authenticator().names().trust_device());
    if is_trusted && !current_session.user.has_second_factor {
        cookies.push(request.cookies().clear_trust_device());
    }
    Ok(done(cookies))
}

/// Show the secret for the authenticator app again
#[utoipa::path(post, path = "/auth/two-factor/get-totp-uri",
    request_body = schema::AuthPassword,
    responses((status = 200, body = schema::AuthTotpUri, description = "totpURI"), (status = 401, description = "UNAUTHORIZED"),
        (status = 400, description = "TOTP_NOT_ENABLED, INVALID_PASSWORD, CREDENTIAL_ACCOUNT_NOT_FOUND")))]
pub(crate) async fn show_uri(request: AuthRequest) -> AuthResult {
    let password = request.password()?;
    let current_session = request.current_session().await?;
    let (user, encryptor) = (
        current_session.user.id.clone(),
        request.app.authenticator().factor_encryptor(),
    );
    let load = request.read(move |platform| second_factor::secret(platform, &encryptor, &user));
    let Some(secret) = load.await? else {
        return current_session.reject(AuthError::totp_not_enabled());
    };
    let fitted = prove(&request, &current_session, password).await?;
    let (prover, now) = (prover(&request, &current_session), request.now);
    let is_right = request
        .act(move |tx| service::actions::passwords::verify(tx, &prover, Some(&fitted), now))
        .await?;
    if !is_right {
        return current_session.reject(AuthError::invalid_password());
    }
    let uri = secret.uri(ISSUER, &label(&current_session.user));
    Ok(json_response(&json!({ "totpURI": uri }), current_session.cookies))
}

/// Enter a code of the authenticator app: the second step of a sign-in, or the confirmation of a new app
#[utoipa::path(post, path = "/auth/two-factor/verify-totp",
    request_body = schema::AuthFactorCode,
    responses((status = 200, body = schema::AuthFactorVerified, description = "token and user; sets the session cookies"),
        (status = 401, description = "INVALID_CODE, INVALID_TWO_FACTOR_COOKIE"),
        (status = 429, description = "ACCOUNT_TEMPORARILY_LOCKED"),
        (status = 400, description = "TOTP_NOT_ENABLED, TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE")))]
pub(crate) async fn verify_totp(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let code = EnteredCode::App(reader.string("code").to_owned());
    let is_trusting = reader.optional_bool("trustDevice").unwrap_or(false);
    reader.finish()?;
    enter(&request, code, is_trusting, false).await
}

/// Enter a recovery code instead of a code of the app
#[utoipa::path(post, path = "/auth/two-factor/verify-backup-code",
    request_body = schema::AuthFactorCode,
    responses((status = 200, body = schema::AuthFactorVerified, description = "token and user; sets the session cookies"),
        (status = 401, description = "INVALID_BACKUP_CODE, INVALID_TWO_FACTOR_COOKIE"),
        (status = 429, description = "ACCOUNT_TEMPORARILY_LOCKED"),
        (status = 400, description = "BACKUP_CODES_NOT_ENABLED, TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE, FIELD_NOT_ALLOWED")))]
pub(crate) async fn verify_backup_code(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    let code = EnteredCode::Recovery(reader.string("code").to_owned());
    let is_sessionless = reader.optional_bool("disableSession").unwrap_or(false);
    let is_trusting = reader.optional_bool("trustDevice").unwrap_or(false);
    reader.finish()?;
    enter(&request, code, is_trusting, is_sessionless).await
}

/// Replace the recovery codes
#[utoipa::path(post, path = "/auth/two-factor/generate-backup-codes",
    request_body = schema::AuthPassword,
    responses((status = 200, body = schema::AuthBackupCodes, description = "status: true, backupCodes"),
        (status = 401, description = "UNAUTHORIZED"),
        (status = 400, description = "TWO_FACTOR_NOT_ENABLED, INVALID_PASSWORD, CREDENTIAL_ACCOUNT_NOT_FOUND")))]
pub(crate) async fn renew_backup_codes(request: AuthRequest) -> AuthResult {
    let password = request.password()?;
    let current_session = request.current_session().await?;
    if !current_session.user.has_second_factor {
        return current_session.reject(AuthError::two_factor_not_enabled());
    }
    let fitted = prove(&request, &current_session, password).await?;
    let codes = second_factor::new_recovery_codes();
    let (made, prover, now) = (codes.clone(), prover(&request, &current_session), request.now);
    let is_right = request
        .act(move |tx| second_factor::renew_recovery_codes(tx, &prover, Some(&fitted), &made, now))
        .await?;
    if !is_right {
        return current_session.reject(AuthError::invalid_password());
    }
    let body = json!({ "status": true, "backupCodes": codes });
    Ok(json_response(&body, current_session.cookies))
}

/// Send a code by email (not supported)
#[utoipa::path(post, path = "/auth/two-factor/send-otp", request_body = schema::AuthOtpRequest,
    responses((status = 400, description = "OTP_NOT_CONFIGURED")))]
pub(crate) async fn send_otp(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    reader.optional_bool("trustDevice");
    if request.keys().is_some() {
        reader.finish()?;
    }
    Err(AuthError::otp_not_configured().into())
}

/// Enter a code of an email (not supported)
#[utoipa::path(post, path = "/auth/two-factor/verify-otp", request_body = schema::AuthFactorCode,
    responses((status = 400, description = "OTP_HAS_EXPIRED"), (status = 401, description = "INVALID_TWO_FACTOR_COOKIE")))]
pub(crate) async fn verify_otp(request: AuthRequest) -> AuthResult {
    let mut reader = request.reader();
    reader.string("code");
    reader.optional_bool("trustDevice");
    reader.finish()?;
    let Some(current_session) = session_of_step(&request).await? else {
        return match request.pending_sign_in() {
            Some(_) => Err(AuthError::otp_has_expired().into()),
            None => Err(AuthError::invalid_two_factor_cookie().into()),
        };
    };
    current_session.reject(AuthError::otp_has_expired())
}

/// The response of a sign-in that waits for its second factor.
pub fn challenge(
    request: &AuthRequest,
    browser: &SignInBrowser,
    methods: SecondFactorMethods,
    remember: Remember,
) -> Response {
    let body = json!({ "twoFactorRedirect": true, "twoFactorMethods": method_names(methods) });
    json_response(&body, challenge_cookies(request, browser, remember))
}

/// The second factors that a user can present, as clients name them.
pub fn method_names(methods: SecondFactorMethods) -> Vec<&'static str> {
    let app = methods.has_app.then_some("totp");
    app.into_iter()
        .chain(methods.has_passkey.then_some("passkey"))
        .collect()
}

/// The cookies of a sign-in that waits for its second factor.
pub fn challenge_cookies(request: &AuthRequest, browser: &SignInBrowser, remember: Remember) -> Vec<String> {
    request
        .cookies()
        .two_factor(&browser.new_pending, PENDING_SECONDS, remember)
}

/// The cookie of a trusted browser with its new token. One that is not valid is kept: it may be that of another user of
/// this computer.
pub fn trust_cookie(request: &AuthRequest, browser: &SignInBrowser, is_trusted: bool) -> Option<String> {
    is_trusted.then(|| request.cookies().trust_device(&browser.new_trusted, TRUST_SECONDS))
}

/// Enters a code for the session of the request, else for the sign-in that waits in this browser.
async fn enter(request: &AuthRequest, code: EnteredCode, is_trusting: bool, is_sessionless: bool) -> AuthResult {
    let is_recovery = matches!(code, EnteredCode::Recovery(_));
    let encryptor = request.app.authenticator().factor_encryptor();
    if let Some(mut current_session) = session_of_step(request).await? {
        let (prover, now) = (prover(request, &current_session), request.now);
        let session = current_session.session.id.clone();
        let result = request
            .act(move |tx| second_factor::verify(tx, &encryptor, &prover, &session, &code, now))
            .await?;
        if let Some(error) = error_of(&result, is_recovery) {
            return current_session.reject(error);
        }
        current_session.user.has_second_factor = true;
        let body = json!({ "token": current_session.session.token, "user": dto::user(&current_session.user) });
        return Ok(json_response(&body, request.reissue(&current_session)));
    }
    let Some(pending) = request.pending_sign_in() else {
        return Err(AuthError::invalid_two_factor_cookie().into());
    };
    if is_sessionless {
        return Err(AuthError::field_not_allowed("disableSession").into());
    }
    let browser = request.browser();
    let step = SecondStep {
        pending,
        code,
        address: request.address(),
        new_trusted: is_trusting.then(|| browser.new_trusted.clone()),
        session: request.new_session(UserId::new("")),
    };
    let now = request.now;
    let result = request
        .act(move |tx| second_factor::complete_sign_in(tx, &encryptor, &step, now))
        .await?;
    if let Some(error) = error_of(&result, is_recovery) {
        let is_over = matches!(result, CodeResult::TooManyAttempts | CodeResult::UnknownSignIn);
        let cookies = is_over.then(|| request.cookies().clear_two_factor());
        return Err(AuthRejection::from(error).with(cookies.into_iter().collect()));
    }
    let CodeResult::Accepted(session) = result else {
        return Err(AuthError::invalid_two_factor_cookie().into());
    };
    let facts = request
        .app
        .authenticator()
        .find_session(session.token, None, None)
        .await?;
    // A user who was deactivated at this moment has no session.
    let facts = facts.ok_or_else(AuthError::invalid_two_factor_cookie)?;
    let mut cookies = request.issue(&facts.session, &facts.user, request.remember());
    cookies.push(request.cookies().clear_two_factor());
    cookies.extend(trust_cookie(request, &browser, is_trusting));
    let body = json!({ "token": facts.session.token, "user": dto::user(&facts.user) });
    Ok(json_response(&body, cookies))
}

/// The session of the request, if there is one: then a code or a passkey is not the second step of a sign-in.
pub(super) async fn session_of_step(request: &AuthRequest) -> Result<Option<CurrentSession>, AuthRejection> {
    match request.current_session().await {
        Ok(current_session) => Ok(Some(current_session)),
        Err(rejected) if rejected.is_unauthorized() => Ok(None),
        Err(rejected) => Err(rejected),
    }
}

fn error_of<T>(result: &CodeResult<T>, is_recovery: bool) -> Option<AuthError> {
    match result {
        CodeResult::Accepted(_) => None,
        CodeResult::Wrong if is_recovery => Some(AuthError::invalid_backup_code()),
        CodeResult::Wrong => Some(AuthError::invalid_code()),
        CodeResult::NotEnabled if is_recovery => Some(AuthError::backup_codes_not_enabled()),
        CodeResult::NotEnabled => Some(AuthError::totp_not_enabled()),
        CodeResult::Locked => Some(AuthError::account_temporarily_locked()),
        CodeResult::TooManyAttempts => Some(AuthError::too_many_attempts()),
        CodeResult::UnknownSignIn => Some(AuthError::invalid_two_factor_cookie()),
    }
}
