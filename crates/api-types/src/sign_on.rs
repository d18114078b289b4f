//! Sign-on providers in responses.

use api_macros::view;
use domain::from_fields;
use domain::id::{ExternalIdentityId, SignOnProviderId};
use domain::sign_on::{AccountCreation, ExternalIdentity, LinkedBy, LinkingRule, SignOnPreset, SignOnProvider};
use domain::text::Name;
use domain::time::Timestamp;
use domain::user::Person;

/// A sign-on provider, as shown on the sign-in page.
#[view]
pub struct SignOnOptionView {
    /// `providerId` of `POST /auth/sign-in/sso`.
    id: SignOnProviderId,
    name: Name,
    preset: SignOnPreset,
}

view_from!(provider: SignOnProvider => SignOnOptionView { id, name, preset });

/// A sign-on provider, without its client secret.
#[view]
pub struct SignOnProviderView {
    id: SignOnProviderId,
    name: Name,
    preset: SignOnPreset,
    issuer: String,
    client_id: String,
    linking: LinkingRule,
    external_id_claim: String,
    account_creation: AccountCreation,
    role_claim: String,
    teacher_values: Vec<String>,
    domains: Vec<String>,
    is_enabled: bool,
    /// The redirect address to register at the provider.
    redirect_uri: String,
    /// The address for logout tokens to register at the provider.
    backchannel_logout_uri: String,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl SignOnProviderView {
    pub fn new(provider: SignOnProvider, redirect_uri: String, backchannel_logout_uri: String) -> Self {
        from_fields!(provider => Self {
            id, name, preset, issuer, client_id, linking, external_id_claim, account_creation, role_claim,
            teacher_values, domains, is_enabled, created_at, updated_at,
            redirect_uri: redirect_uri,
            backchannel_logout_uri: backchannel_logout_uri,
        })
    }
}

/// What a provider supports, read from it now.
#[view]
pub struct SignOnTestView {
    pub authorization_endpoint: String,
    /// Whether the provider can end its own session when a user signs out.
    pub supports_logout: bool,
    /// Whether the provider names itself in its responses (RFC 9207).
    pub announces_issuer: bool,
}

/// An identity at a sign-on provider.
#[view]
pub struct ExternalIdentityView {
    id: ExternalIdentityId,
    user: Person,
    /// `sub` at the provider.
    subject: String,
    linked_by: LinkedBy,
    created_at: Timestamp,
    last_sign_in_at: Option<Timestamp>,
}

impl ExternalIdentityView {
    pub fn new(identity: ExternalIdentity, user: Person) -> Self {
        from_fields!(identity => Self { id, subject, linked_by, created_at, last_sign_in_at, user: user })
    }
}
