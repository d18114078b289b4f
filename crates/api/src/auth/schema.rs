//! The OpenAPI schemas of `/auth`. The routes read bodies field by field and write the objects of
//! `better_auth::object`, which have no schemas; these types describe both. Every response of every test is validated
//! against them (`crates/test-support/src/openapi_check.rs`).

#![expect(dead_code, reason = "the types only describe the objects of the library")]

use std::collections::BTreeMap;

use domain::access::{MemberRole, PlatformRole};
use domain::id::{InvitationId, MemberId, OrganizationId, PasskeyId, SessionId, UserId};
use domain::invitation::InvitationStatus;
use domain::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// Sign-in with email address and password.
#[derive(ToSchema)]
#[schema(as = AuthSignIn, rename_all = "camelCase")]
pub struct AuthSignIn {
    email: String,
    password: String,
    /// Whether the cookies persist after the browser is closed. Defaults to true.
    #[schema(nullable = false)]
    remember_me: Option<bool>,
    /// The page to open after sign-in, on the origin of FRONTEND_URL.
    #[schema(rename = "callbackURL", nullable = false)]
    callback_url: Option<String>,
}

/// Sign-in with user name and password.
#[derive(ToSchema)]
#[schema(as = AuthSignInUsername, rename_all = "camelCase")]
pub struct SignInUsername {
    /// `name@slug`, or the name alone if `organizationSlug`, the query parameter `org` or the host names the organization.
    username: String,
    password: String,
    /// Whether the cookies persist after the browser is closed. Defaults to true.
    #[schema(nullable = false)]
    remember_me: Option<bool>,
    /// The short name of the organization, present or former.
    #[schema(nullable = false)]
    organization_slug: Option<String>,
    /// The page to open after sign-in, on the origin of FRONTEND_URL.
    #[schema(rename = "callbackURL", nullable = false)]
    callback_url: Option<String>,
}

/// A user name to check.
#[derive(ToSchema)]
#[schema(as = AuthUsername)]
pub struct UsernameToCheck {
    /// The name alone, or `name@slug` with the short name of the active organization.
    username: String,
}

/// Whether a user name is free.
#[derive(ToSchema)]
#[schema(as = AuthUsernameAvailable)]
pub struct UsernameAvailable {
    available: bool,
}

/// The secret of a printed code.
#[derive(ToSchema)]
#[schema(as = AuthSlip, rename_all = "camelCase")]
pub struct Slip {
    token: String,
    /// Whether the cookies persist after the browser is closed. Defaults to true.
    #[schema(nullable = false)]
    remember_me: Option<bool>,
}

/// The password that replaces a provisional one.
#[derive(ToSchema)]
#[schema(as = AuthNewPassword, rename_all = "camelCase")]
pub struct PasswordChoice {
    new_password: String,
}

/// A sign-up, which is always rejected.
#[derive(ToSchema)]
#[schema(as = AuthSignUp, rename_all = "camelCase")]
pub struct SignUp {
    name: String,
    #[schema(format = Email)]
    email: String,
    #[schema(min_length = 1)]
    password: String,
    #[schema(nullable = false)]
    image: Option<String>,
    #[schema(rename = "callbackURL", nullable = false)]
    callback_url: Option<String>,
    #[schema(nullable = false)]
    remember_me: Option<bool>,
}

/// The session created by a sign-in.
#[derive(ToSchema)]
#[schema(as = AuthSignedIn)]
pub struct SignedIn {
    /// Whether `url` names a page to open next.
    redirect: bool,
    /// The session token, as in the cookie.
    token: String,
    /// The `callbackURL` of the request. Present only if the request has one.
    #[schema(nullable = false)]
    url: Option<String>,
    user: AuthUser,
}

/// A sign-in that waits for a second factor.
#[derive(ToSchema)]
#[schema(as = AuthTwoFactorRedirect, rename_all = "camelCase")]
pub struct TwoFactorRedirect {
    /// Always true.
    two_factor_redirect: bool,
    /// The methods that the user can use: `totp` for the authenticator app, and `passkey`.
    two_factor_methods: Vec<String>,
}

/// The response of a sign-in.
#[derive(ToSchema)]
#[schema(as = AuthSignInResponse)]
#[serde(untagged)]
pub enum SignInResponse {
    SignedIn(Box<SignedIn>),
    SecondFactorRequired(TwoFactorRedirect),
}

/// An authenticator app to set up.
#[derive(ToSchema)]
#[schema(as = AuthTwoFactorSetup)]
pub struct TwoFactorSetup {
    password: String,
    /// `totp` is the default; `otp` is not supported.
    #[schema(nullable = false)]
    method: Option<String>,
    /// The name of the service in the app.
    #[schema(nullable = false)]
    issuer: Option<String>,
}

/// The secret for the app, and recovery codes. It takes effect with the first code.
#[derive(ToSchema)]
#[schema(as = AuthTwoFactorSecret, rename_all = "camelCase")]
pub struct TwoFactorSecret {
    /// Always `totp`.
    method: String,
    #[schema(rename = "totpURI")]
    totp_uri: String,
    /// Shown once.
    backup_codes: Vec<String>,
}

/// The secret for the app.
#[derive(ToSchema)]
#[schema(as = AuthTotpUri)]
pub struct TotpUri {
    #[schema(rename = "totpURI")]
    totp_uri: String,
}

/// A code of the app, or a recovery code.
#[derive(ToSchema)]
#[schema(as = AuthFactorCode, rename_all = "camelCase")]
pub struct FactorCode {
    code: String,
    /// Whether this browser needs no second factor for 30 days.
    #[schema(nullable = false)]
    trust_device: Option<bool>,
    /// Not supported for a sign-in.
    #[schema(nullable = false)]
    disable_session: Option<bool>,
}

/// The session after a correct code.
#[derive(ToSchema)]
#[schema(as = AuthFactorVerified)]
pub struct FactorVerified {
    token: String,
    user: AuthUser,
}

/// New recovery codes.
#[derive(ToSchema)]
#[schema(as = AuthBackupCodes, rename_all = "camelCase")]
pub struct BackupCodes {
    status: bool,
    /// Shown once.
    backup_codes: Vec<String>,
}

/// A request of a code by email, which is not supported.
#[derive(ToSchema)]
#[schema(as = AuthOtpRequest, rename_all = "camelCase")]
pub struct OtpRequest {
    #[schema(nullable = false)]
    trust_device: Option<bool>,
}

/// Options for `navigator.credentials.create`.
#[derive(ToSchema)]
#[schema(as = AuthPasskeyRegisterOptions, rename_all = "camelCase")]
pub struct RegisterOptions {
    challenge: String,
    rp: PasskeyService,
    user: PasskeyUser,
    pub_key_cred_params: Vec<PasskeyAlgorithm>,
    /// In milliseconds.
    timeout: i64,
    /// The caller's passkeys; an authenticator that has one of them adds no other.
    exclude_credentials: Vec<PasskeyDescriptor>,
    authenticator_selection: AuthenticatorSelection,
    /// Always `none`.
    attestation: String,
    extensions: PasskeyExtensions,
    hints: Vec<String>,
}

/// The service as authenticators know it.
#[derive(ToSchema)]
#[schema(as = AuthPasskeyService)]
pub struct PasskeyService {
    name: String,
    /// The host of FRONTEND_URL.
    id: String,
}

/// The account as authenticators know it.
#[derive(ToSchema)]
#[schema(as = AuthPasskeyUser, rename_all = "camelCase")]
pub struct PasskeyUser {
    id: String,
    name: String,
    display_name: String,
}

/// An algorithm of public keys.
#[derive(ToSchema)]
#[schema(as = AuthPasskeyAlgorithm)]
pub struct PasskeyAlgorithm {
    /// The COSE number: -7 (ES256), -8 (EdDSA), -257 (RS256).
    alg: i64,
    #[schema(rename = "type")]
    kind: String,
}

/// A credential that an authenticator may have.
#[derive(ToSchema)]
#[schema(as = AuthPasskeyDescriptor)]
pub struct PasskeyDescriptor {
    id: String,
    #[schema(rename = "type")]
    kind: String,
    #[schema(nullable = false)]
    transports: Option<Vec<String>>,
}

/// The authenticators that may add a passkey.
#[derive(ToSchema)]
#[schema(as = AuthPasskeySelection, rename_all = "camelCase")]
pub struct AuthenticatorSelection {
    resident_key: String,
    user_verification: String,
    require_resident_key: bool,
    #[schema(nullable = false)]
    authenticator_attachment: Option<String>,
}

/// Extensions of the browser.
#[derive(ToSchema)]
#[schema(as = AuthPasskeyExtensions, rename_all = "camelCase")]
pub struct PasskeyExtensions {
    cred_props: bool,
}

/// A passkey to add.
#[derive(ToSchema)]
#[schema(as = AuthPasskeyRegistration, rename_all = "camelCase")]
pub struct PasskeyRegistration {
    /// The result of `navigator.credentials.create` as JSON (`RegistrationResponseJSON` of WebAuthn).
    #[schema(value_type = Object)]
    response: serde_json::Value,
    /// At most 80 characters.
    #[schema(nullable = false)]
    name: Option<String>,
    /// true is not supported.
    #[schema(nullable = false)]
    create_session: Option<bool>,
}

/// A passkey, as its owner sees it.
#[derive(ToSchema)]
#[schema(as = AuthPasskey, rename_all = "camelCase")]
pub struct PasskeyObject {
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
#[derive(ToSchema)]
#[schema(as = AuthPasskeyAuthenticateOptions, rename_all = "camelCase")]
pub struct AuthenticateOptions {
    challenge: String,
    /// The host of FRONTEND_URL.
    rp_id: String,
    /// In milliseconds.
    timeout: i64,
    /// `required`, or `preferred` in the second step of a sign-in.
    user_verification: String,
    /// The passkeys of the signed-in user, or of the user of the waiting sign-in.
    #[schema(nullable = false)]
    allow_credentials: Option<Vec<PasskeyDescriptor>>,
}

/// An assertion of a passkey.
#[derive(ToSchema)]
#[schema(as = AuthPasskeyAssertion)]
pub struct PasskeyAssertion {
    /// The result of `navigator.credentials.get` as JSON (`AuthenticationResponseJSON` of WebAuthn).
    #[schema(value_type = Object)]
    response: serde_json::Value,
}

/// A passkey to remove.
#[derive(ToSchema)]
#[schema(as = AuthPasskeyReference)]
pub struct PasskeyReference {
    id: PasskeyId,
}

/// A passkey to rename.
#[derive(ToSchema)]
#[schema(as = AuthPasskeyName)]
pub struct PasskeyName {
    id: PasskeyId,
    /// 1 to 80 characters.
    name: String,
}

/// A passkey that was renamed.
#[derive(ToSchema)]
#[schema(as = AuthUpdatedPasskey)]
pub struct UpdatedPasskey {
    passkey: PasskeyObject,
}

/// An account as returned by `/auth`.
#[derive(ToSchema)]
#[schema(as = AuthUser, rename_all = "camelCase")]
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
#[derive(ToSchema)]
#[schema(as = AuthSession, rename_all = "camelCase")]
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
#[derive(ToSchema)]
#[schema(as = AuthSessionAndUser)]
pub struct SessionAndUser {
    session: AuthSession,
    user: AuthUser,
}

/// The fields of the caller's session to change. A session has no field that its owner may write.
#[derive(ToSchema)]
#[schema(as = AuthSessionUpdate)]
pub struct SessionUpdate {}

/// A response without further content.
#[derive(ToSchema)]
#[schema(as = AuthSuccess)]
pub struct Success {
    success: bool,
}

/// The sign-in through a provider to start. One of `providerId`, `organizationSlug`, `domain` and `email` names the
/// provider; otherwise the Host does.
#[derive(ToSchema)]
#[schema(as = AuthSignOnStart, rename_all = "camelCase")]
pub struct SignOnStart {
    #[schema(nullable = false)]
    provider_id: Option<String>,
    #[schema(nullable = false)]
    organization_slug: Option<String>,
    #[schema(nullable = false)]
    domain: Option<String>,
    #[schema(nullable = false)]
    email: Option<String>,
    /// Among several providers, the one with this issuer.
    #[schema(nullable = false)]
    issuer: Option<String>,
    /// The page after the sign-in, on the origin of FRONTEND_URL.
    #[schema(rename = "callbackURL")]
    callback_url: String,
    /// The page for errors; default callbackURL.
    #[schema(nullable = false, rename = "errorCallbackURL")]
    error_callback_url: Option<String>,
    /// The page for users whose account was created; default callbackURL.
    #[schema(nullable = false, rename = "newUserCallbackURL")]
    new_user_callback_url: Option<String>,
    /// Sent to the provider; default `email`.
    #[schema(nullable = false)]
    login_hint: Option<String>,
}

/// A sign-in through a provider that was started.
#[derive(ToSchema)]
#[schema(as = AuthSignOnStarted)]
pub struct SignOnStarted {
    /// The URL of the provider to which the browser is to be sent.
    url: String,
    /// Always true.
    redirect: bool,
}

/// The response of a provider as a form.
#[derive(ToSchema)]
#[schema(as = AuthSignOnResponse)]
pub struct SignOnResponse {
    #[schema(nullable = false)]
    state: Option<String>,
    #[schema(nullable = false)]
    code: Option<String>,
    #[schema(nullable = false)]
    iss: Option<String>,
    #[schema(nullable = false)]
    error: Option<String>,
}

/// A request of a provider to end sessions.
#[derive(ToSchema)]
#[schema(as = AuthSignOnLogout)]
pub struct SignOnLogout {
    logout_token: String,
}

/// The result of a sign-out.
#[derive(ToSchema)]
#[schema(as = AuthSignedOut)]
pub struct SignedOut {
    success: bool,
    /// Where the sign-on provider that opened the session ends its own session.
    #[schema(nullable = false)]
    url: Option<String>,
}

/// A response without further content.
#[derive(ToSchema)]
#[schema(as = AuthStatus)]
pub struct AuthStatus {
    status: bool,
}

/// A response without further content.
#[derive(ToSchema)]
#[schema(as = AuthOk)]
pub struct Ok {
    ok: bool,
}

/// The session to end.
#[derive(ToSchema)]
#[schema(as = AuthSessionToken)]
pub struct SessionToken {
    token: String,
}

/// A change of the caller's password.
#[derive(ToSchema)]
#[schema(as = AuthPasswordChange, rename_all = "camelCase")]
pub struct PasswordChange {
    new_password: String,
    current_password: String,
    /// Whether all other sessions end and the current session is replaced.
    #[schema(nullable = false)]
    revoke_other_sessions: Option<bool>,
}

/// The result of a changed password.
#[derive(ToSchema)]
#[schema(as = AuthPasswordChanged)]
pub struct PasswordChanged {
    /// The token of the session that replaces the current one. Null if the current session continues.
    #[schema(required)]
    token: Option<String>,
    user: AuthUser,
}

/// The caller's password.
#[derive(ToSchema)]
#[schema(as = AuthPassword)]
pub struct AuthPassword {
    password: String,
}

/// The account whose password is to be reset.
#[derive(ToSchema)]
#[schema(as = AuthResetRequest, rename_all = "camelCase")]
pub struct ResetRequest {
    #[schema(format = Email)]
    email: String,
    /// The page for the new password, on the origin of FRONTEND_URL.
    #[schema(nullable = false)]
    redirect_to: Option<String>,
}

/// The response for every address, known or not.
#[derive(ToSchema)]
#[schema(as = AuthResetRequested)]
pub struct ResetRequested {
    status: bool,
    message: String,
}

/// A new password with the token of the email.
#[derive(ToSchema)]
#[schema(as = AuthPasswordReset, rename_all = "camelCase")]
pub struct AuthPasswordReset {
    new_password: String,
    /// The token of the email. It may be sent in the query instead.
    #[schema(nullable = false)]
    token: Option<String>,
}

/// A confirmed address.
#[derive(ToSchema)]
#[schema(as = AuthAddressConfirmed)]
pub struct AddressConfirmed {
    status: bool,
    /// Always null.
    #[schema(required)]
    user: Option<String>,
}

/// The fields of the caller's account to change. At least one is required.
#[derive(ToSchema)]
#[schema(as = AuthUserUpdate)]
pub struct UserUpdate {
    #[schema(nullable = false)]
    name: Option<String>,
    /// Null or an empty string removes the picture. An address is rejected.
    image: Option<String>,
}

/// A sign-in method of the user.
#[derive(ToSchema)]
#[schema(as = AuthAccount, rename_all = "camelCase")]
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
#[derive(ToSchema)]
#[schema(as = AuthActiveOrganization, rename_all = "camelCase")]
pub struct ActiveOrganization {
    organization_id: Option<OrganizationId>,
    #[schema(nullable = false)]
    organization_slug: Option<String>,
}

/// An organization as returned by `/auth`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuthOrganization)]
pub struct AuthOrganization {
    name: String,
    slug: String,
    #[schema(required)]
    logo: Option<String>,
    created_at: Timestamp,
    /// A JSON object as text.
    #[schema(required)]
    metadata: Option<String>,
    id: OrganizationId,
}

/// An organization with its members and, for its administrators, its invitations.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuthFullOrganization)]
pub struct FullOrganization {
    #[serde(flatten)]
    organization: AuthOrganization,
    invitations: Vec<AuthInvitation>,
    members: Vec<AuthMember>,
}

/// A membership without its user.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuthMembership)]
pub struct AuthMembership {
    organization_id: OrganizationId,
    user_id: UserId,
    role: MemberRole,
    created_at: Timestamp,
    id: MemberId,
}

/// A membership with its user.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuthMember)]
pub struct AuthMember {
    #[serde(flatten)]
    membership: AuthMembership,
    user: MemberUser,
}

/// The user of a membership.
#[derive(Serialize, ToSchema)]
#[schema(as = AuthMemberUser)]
pub struct MemberUser {
    id: UserId,
    name: String,
    /// Empty if the caller may not see the address.
    email: String,
    #[schema(required)]
    image: Option<String>,
}

/// The members of an organization.
#[derive(ToSchema)]
#[schema(as = AuthMembers)]
pub struct Members {
    members: Vec<AuthMember>,
    /// Number of members, independent of limit and offset.
    total: u64,
}

/// The role of a member.
#[derive(ToSchema)]
#[schema(as = AuthMemberRole)]
pub struct AuthRole {
    role: MemberRole,
}

/// The permissions to check, by resource.
#[derive(ToSchema)]
#[schema(as = AuthPermissionsQuestion, rename_all = "camelCase")]
pub struct PermissionsQuestion {
    permissions: BTreeMap<String, Vec<String>>,
    #[schema(nullable = false)]
    organization_id: Option<OrganizationId>,
}

/// Whether the caller has all of these permissions.
#[derive(ToSchema)]
#[schema(as = AuthPermissions)]
pub struct AuthPermissions {
    /// Always null.
    #[schema(required)]
    error: Option<String>,
    success: bool,
}

/// The invitation to act on.
#[derive(ToSchema)]
#[schema(as = AuthInvitationId, rename_all = "camelCase")]
pub struct InvitationName {
    invitation_id: InvitationId,
}

/// An invitation as returned by `/auth`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuthInvitation)]
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
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuthOwnInvitation)]
pub struct OwnInvitation {
    #[serde(flatten)]
    invitation: AuthInvitation,
    organization_name: String,
}

/// An invitation for the caller's address, with details of the organization.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuthInvitationDetail)]
pub struct InvitationDetail {
    #[serde(flatten)]
    invitation: OwnInvitation,
    organization_slug: String,
    #[schema(required)]
    inviter_email: Option<String>,
}

/// An invitation that was accepted or declined.
#[derive(ToSchema)]
#[schema(as = AuthInvitationClosed)]
pub struct InvitationClosed {
    invitation: AuthInvitation,
    /// Null if the invitation was declined.
    #[schema(required)]
    member: Option<AuthMembership>,
}
