//! The OpenAPI schemas of `/auth`. The routes read bodies field by field and write the objects of
//! `better_auth::object`, which have no schemas; these types describe both. Every response of every test is validated
//! against them (`crates/test-support/src/openapi_check.rs`).

#![expect(dead_code, reason = "the types only describe the objects of the library")]

use api_macros::{described, view};
use std::collections::BTreeMap;

use domain::access::{MemberRole, PlatformRole};
use domain::id::{InvitationId, MemberId, OrganizationId, PasskeyId, SessionId, UserId};
use domain::invitation::InvitationStatus;
use domain::time::Timestamp;

/// Sign-in with email address and password.
#[described]
pub struct AuthSignIn {
    email: String,
    password: String,
    /// Whether the cookies persist after the browser is closed. Defaults to true.
    remember_me: Option<bool>,
    /// The page to open after sign-in, on the origin of FRONTEND_URL.
    #[schema(rename = "callbackURL")]
    callback_url: Option<String>,
}

/// Sign-in with user name and password.
#[described]
pub struct AuthSignInUsername {
    /// `name@slug`, or the name alone if `organizationSlug`, the query parameter `org` or the host names the organization.
    username: String,
    password: String,
    /// Whether the cookies persist after the browser is closed. Defaults to true.
    remember_me: Option<bool>,
    /// The short name of the organization, present or former.
    organization_slug: Option<String>,
    /// The page to open after sign-in, on the origin of FRONTEND_URL.
    #[schema(rename = "callbackURL")]
    callback_url: Option<String>,
}

/// A user name to check.
#[described]
pub struct AuthUsername {
    /// The name alone, or `name@slug` with the short name of the active organization.
    username: String,
}

/// Whether a user name is free.
#[described]
pub struct AuthUsernameAvailable {
    available: bool,
}

/// The secret of a printed code.
#[described]
pub struct AuthSlip {
    token: String,
    /// Whether the cookies persist after the browser is closed. Defaults to true.
    remember_me: Option<bool>,
}

/// The password that replaces a provisional one.
#[described]
pub struct AuthNewPassword {
    new_password: String,
}

/// A sign-up, which is always rejected.
#[described]
pub struct AuthSignUp {
    name: String,
    #[schema(format = Email)]
    email: String,
    #[schema(min_length = 1)]
    password: String,
    image: Option<String>,
    #[schema(rename = "callbackURL")]
    callback_url: Option<String>,
    remember_me: Option<bool>,
}

/// The session created by a sign-in.
#[described]
pub struct AuthSignedIn {
    /// Whether `url` names a page to open next.
    redirect: bool,
    /// The session token, as in the cookie.
    token: String,
    /// The `callbackURL` of the request. Present only if the request has one.
    url: Option<String>,
    user: AuthUser,
}

/// A sign-in that waits for a second factor.
#[described]
pub struct AuthTwoFactorRedirect {
    /// Always true.
    two_factor_redirect: bool,
    /// The methods that the user can use: `totp` for the authenticator app, and `passkey`.
    two_factor_methods: Vec<String>,
}

/// The response of a sign-in.
#[described]
#[serde(untagged)]
pub enum AuthSignInResponse {
    SignedIn(Box<AuthSignedIn>),
    SecondFactorRequired(AuthTwoFactorRedirect),
}

/// An authenticator app to set up.
#[described]
pub struct AuthTwoFactorSetup {
    password: String,
    /// `totp` is the default; `otp` is not supported.
    method: Option<String>,
    /// The name of the service in the app.
    issuer: Option<String>,
}

/// The secret for the app, and recovery codes. It takes effect with the first code.
#[described]
pub struct AuthTwoFactorSecret {
    /// Always `totp`.
    method: String,
    #[schema(rename = "totpURI")]
    totp_uri: String,
    /// Shown once.
    backup_codes: Vec<String>,
}

/// The secret for the app.
#[described]
pub struct AuthTotpUri {
    #[schema(rename = "totpURI")]
    totp_uri: String,
}

/// A code of the app, or a recovery code.
#[described]
pub struct AuthFactorCode {
    code: String,
    /// Whether this browser needs no second factor for 30 days.
    trust_device: Option<bool>,
    /// Not supported for a sign-in.
    disable_session: Option<bool>,
}

/// The session after a correct code.
#[described]
pub struct AuthFactorVerified {
    token: String,
    user: AuthUser,
}

/// New recovery codes.
#[described]
pub struct AuthBackupCodes {
    status: bool,
    /// Shown once.
    backup_codes: Vec<String>,
}

/// A request of a code by email, which is not supported.
#[described]
pub struct AuthOtpRequest {
    trust_device: Option<bool>,
}

/// Options for `navigator.credentials.create`.
#[described]
pub struct AuthPasskeyRegisterOptions {
    challenge: String,
    rp: AuthPasskeyService,
    user: AuthPasskeyUser,
    pub_key_cred_params: Vec<AuthPasskeyAlgorithm>,
    /// In milliseconds.
    timeout: i64,
    /// The caller's passkeys; an authenticator that has one of them adds no other.
    exclude_credentials: Vec<AuthPasskeyDescriptor>,
    authenticator_selection: AuthPasskeySelection,
    /// Always `none`.
    attestation: String,
    extensions: AuthPasskeyExtensions,
    hints: Vec<String>,
}

/// The service as authenticators know it.
#[described]
pub struct AuthPasskeyService {
    name: String,
    /// The host of FRONTEND_URL.
    id: String,
}

/// The account as authenticators know it.
#[described]
pub struct AuthPasskeyUser {
    id: String,
    name: String,
    display_name: String,
}

/// An algorithm of public keys.
#[described]
pub struct AuthPasskeyAlgorithm {
    /// The COSE number: -7 (ES256), -8 (EdDSA), -257 (RS256).
    alg: i64,
    #[schema(rename = "type")]
    kind: String,
}

/// A credential that an authenticator may have.
#[described]
pub struct AuthPasskeyDescriptor {
    id: String,
    #[schema(rename = "type")]
    kind: String,
    transports: Option<Vec<String>>,
}

/// The authenticators that may add a passkey.
#[described]
pub struct AuthPasskeySelection {
    resident_key: String,
    user_verification: String,
    require_resident_key: bool,
    authenticator_attachment: Option<String>,
}

/// Extensions of the browser.
#[described]
pub struct AuthPasskeyExtensions {
    cred_props: bool,
}

/// A passkey to add.
#[described]
pub struct AuthPasskeyRegistration {
    /// The result of `navigator.credentials.create` as JSON (`RegistrationResponseJSON` of WebAuthn).
    #[schema(value_type = Object)]
    response: serde_json::Value,
    /// At most 80 characters.
    name: Option<String>,
    /// true is not supported.
    create_session: Option<bool>,
}

/// A passkey, as its owner sees it.
#[described]
pub struct AuthPasskey {
    id: PasskeyId,
    #[schema(required)]
    name: Option<String>,
    /// In COSE form, as base64.
    public_key: String,
    user_id: UserId,
    #[schema(rename = "credentialID")]
    credential_id: String,
    counter: i64,
    /// `singleDevice`, or `multiDevice` if it can be copied to other devices.
    device_type: String,
    /// Whether a copy exists.
    backed_up: bool,
    /// How browsers reach the authenticator, separated by commas.
    transports: String,
    created_at: Timestamp,
    /// The model of the authenticator; zeros if it is hidden.
    aaguid: String,
    #[schema(required)]
    last_used_at: Option<Timestamp>,
}

/// Options for `navigator.credentials.get`.
#[described]
pub struct AuthPasskeyAuthenticateOptions {
    challenge: String,
    /// The host of FRONTEND_URL.
    rp_id: String,
    /// In milliseconds.
    timeout: i64,
    /// `required`, or `preferred` in the second step of a sign-in.
    user_verification: String,
    /// The passkeys of the signed-in user, or of the user of the waiting sign-in.
    allow_credentials: Option<Vec<AuthPasskeyDescriptor>>,
}

/// An assertion of a passkey.
#[described]
pub struct AuthPasskeyAssertion {
    /// The result of `navigator.credentials.get` as JSON (`AuthenticationResponseJSON` of WebAuthn).
    #[schema(value_type = Object)]
    response: serde_json::Value,
}

/// A passkey to remove.
#[described]
pub struct AuthPasskeyReference {
    id: PasskeyId,
}

/// A passkey to rename.
#[described]
pub struct AuthPasskeyName {
    id: PasskeyId,
    /// 1 to 80 characters.
    name: String,
}

/// A passkey that was renamed.
#[described]
pub struct AuthUpdatedPasskey {
    passkey: AuthPasskey,
}

/// An account as returned by `/auth`.
#[described]
pub struct AuthUser {
    name: String,
    /// A placeholder below `no-email.invalid` for accounts without an email address.
    email: String,
    email_verified: bool,
    #[schema(required)]
    image: Option<String>,
    created_at: Timestamp,
    updated_at: Timestamp,
    role: PlatformRole,
    banned: bool,
    #[schema(required)]
    ban_reason: Option<String>,
    #[schema(required)]
    ban_expires: Option<Timestamp>,
    /// Whether sign-in requires a second factor.
    two_factor_enabled: bool,
    /// The user name on the platform, `name@slug`.
    #[schema(required)]
    username: Option<String>,
    /// The user name in the organization that created the account.
    #[schema(required)]
    display_username: Option<String>,
    id: UserId,
}

/// A session, as its owner and SUPER_ADMINs see it.
#[described]
pub struct AuthSession {
    expires_at: Timestamp,
    token: String,
    created_at: Timestamp,
    updated_at: Timestamp,
    #[schema(required)]
    ip_address: Option<String>,
    #[schema(required)]
    user_agent: Option<String>,
    user_id: UserId,
    /// Null after sign-in, until set-active chooses an organization.
    #[schema(required)]
    active_organization_id: Option<OrganizationId>,
    /// The SUPER_ADMIN who impersonates this user.
    #[schema(required)]
    impersonated_by: Option<UserId>,
    id: SessionId,
}

/// A session with its user.
#[described]
pub struct AuthSessionAndUser {
    session: AuthSession,
    user: AuthUser,
}

/// The fields of the caller's session to change. A session has no field that its owner may write.
#[described]
pub struct AuthSessionUpdate {}

/// A response without further content.
#[described]
pub struct AuthSuccess {
    success: bool,
}

/// The sign-in through a provider to start. One of `providerId`, `organizationSlug`, `domain` and `email` names the
/// provider; otherwise the Host does.
#[described]
pub struct AuthSignOnStart {
    provider_id: Option<String>,
    organization_slug: Option<String>,
    domain: Option<String>,
    email: Option<String>,
    /// Among several providers, the one with this issuer.
    issuer: Option<String>,
    /// The page after the sign-in, on the origin of FRONTEND_URL.
    #[schema(rename = "callbackURL")]
    callback_url: String,
    /// The page for errors; default callbackURL.
    #[schema(rename = "errorCallbackURL")]
    error_callback_url: Option<String>,
    /// The page for users whose account was created; default callbackURL.
    #[schema(rename = "newUserCallbackURL")]
    new_user_callback_url: Option<String>,
    /// Sent to the provider; default `email`.
    login_hint: Option<String>,
}

/// A sign-in through a provider that was started.
#[described]
pub struct AuthSignOnStarted {
    /// The URL of the provider to which the browser is to be sent.
    url: String,
    /// Always true.
    redirect: bool,
}

/// The response of a provider as a form.
#[described]
pub struct AuthSignOnResponse {
    state: Option<String>,
    code: Option<String>,
    iss: Option<String>,
    error: Option<String>,
}

/// A request of a provider to end sessions.
#[described]
pub struct AuthSignOnLogout {
    #[schema(rename = "logout_token")]
    logout_token: String,
}

/// The result of a sign-out.
#[described]
pub struct AuthSignedOut {
    success: bool,
    /// Where the sign-on provider that opened the session ends its own session.
    url: Option<String>,
}

/// A response without further content.
#[described]
pub struct AuthStatus {
    status: bool,
}

/// A response without further content.
#[described]
pub struct AuthOk {
    ok: bool,
}

/// The session to end.
#[described]
pub struct AuthSessionToken {
    token: String,
}

/// A change of the caller's password.
#[described]
pub struct AuthPasswordChange {
    new_password: String,
    current_password: String,
    /// Whether all other sessions end and the current session is replaced.
    revoke_other_sessions: Option<bool>,
}

/// The result of a changed password.
#[described]
pub struct AuthPasswordChanged {
    /// The token of the session that replaces the current one. Null if the current session continues.
    #[schema(required)]
    token: Option<String>,
    user: AuthUser,
}

/// The caller's password.
#[described]
pub struct AuthPassword {
    password: String,
}

/// The account whose password is to be reset.
#[described]
pub struct AuthResetRequest {
    #[schema(format = Email)]
    email: String,
    /// The page for the new password, on the origin of FRONTEND_URL.
    redirect_to: Option<String>,
}

/// The response for every address, known or not.
#[described]
pub struct AuthResetRequested {
    status: bool,
    message: String,
}

/// A new password with the token of the email.
#[described]
pub struct AuthPasswordReset {
    new_password: String,
    /// The token of the email. It may be sent in the query instead.
    token: Option<String>,
}

/// A confirmed address.
#[described]
pub struct AuthAddressConfirmed {
    status: bool,
    /// Always null.
    #[schema(required)]
    user: Option<String>,
}

/// The fields of the caller's account to change. At least one is required.
#[described]
pub struct AuthUserUpdate {
    name: Option<String>,
    /// Null or an empty string removes the picture. An address is rejected.
    #[schema(nullable)]
    image: Option<String>,
}

/// A sign-in method of the user.
#[described]
pub struct AuthAccount {
    id: String,
    account_id: String,
    provider_id: String,
    user_id: UserId,
    created_at: Timestamp,
    updated_at: Timestamp,
    scopes: Vec<String>,
}

/// The organization to activate. The id takes precedence over the slug; null deactivates the current organization;
/// without both fields it is kept.
#[described]
pub struct AuthActiveOrganization {
    #[schema(nullable)]
    organization_id: Option<OrganizationId>,
    organization_slug: Option<String>,
}

/// An organization as returned by `/auth`.
#[view]
pub struct AuthOrganization {
    name: String,
    slug: String,
    logo: Option<String>,
    created_at: Timestamp,
    /// A JSON object as text.
    metadata: Option<String>,
    id: OrganizationId,
}

/// An organization with its members and, for its administrators, its invitations.
#[view]
pub struct AuthFullOrganization {
    #[serde(flatten)]
    organization: AuthOrganization,
    invitations: Vec<AuthInvitation>,
    members: Vec<AuthMember>,
}

/// A membership without its user.
#[view]
pub struct AuthMembership {
    organization_id: OrganizationId,
    user_id: UserId,
    role: MemberRole,
    created_at: Timestamp,
    id: MemberId,
}

/// A membership with its user.
#[view]
pub struct AuthMember {
    #[serde(flatten)]
    membership: AuthMembership,
    user: AuthMemberUser,
}

/// The user of a membership.
#[view]
pub struct AuthMemberUser {
    id: UserId,
    name: String,
    /// Empty if the caller may not see the address.
    email: String,
    image: Option<String>,
}

/// The members of an organization.
#[described]
pub struct AuthMembers {
    members: Vec<AuthMember>,
    /// Number of members, independent of limit and offset.
    total: u64,
}

/// The role of a member.
#[described]
pub struct AuthMemberRole {
    role: MemberRole,
}

/// The permissions to check, by resource.
#[described]
pub struct AuthPermissionsQuestion {
    permissions: BTreeMap<String, Vec<String>>,
    organization_id: Option<OrganizationId>,
}

/// Whether the caller has all of these permissions.
#[described]
pub struct AuthPermissions {
    /// Always null.
    #[schema(required)]
    error: Option<String>,
    success: bool,
}

/// The invitation to act on.
#[described]
pub struct AuthInvitationId {
    invitation_id: InvitationId,
}

/// An invitation as returned by `/auth`.
#[view]
pub struct AuthInvitation {
    organization_id: OrganizationId,
    email: String,
    role: MemberRole,
    status: InvitationStatus,
    expires_at: Timestamp,
    created_at: Timestamp,
    /// Empty if no person created the invitation.
    inviter_id: String,
    id: InvitationId,
}

/// An invitation for the caller's address.
#[view]
pub struct AuthOwnInvitation {
    #[serde(flatten)]
    invitation: AuthInvitation,
    organization_name: String,
}

/// An invitation for the caller's address, with details of the organization.
#[view]
pub struct AuthInvitationDetail {
    #[serde(flatten)]
    invitation: AuthOwnInvitation,
    organization_slug: String,
    inviter_email: Option<String>,
}

/// An invitation that was accepted or declined.
#[described]
pub struct AuthInvitationClosed {
    invitation: AuthInvitation,
    /// Null if the invitation was declined.
    #[schema(required)]
    member: Option<AuthMembership>,
}
