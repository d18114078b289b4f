//! The sign-on providers of an organization and the identities at them, as administered by the organization.

use api_macros::{body, patch};
use domain::change::{SessionChange, SignOnChange};
use domain::domain_error::DomainError;
use domain::error_code::ErrorCode;
use domain::id::{ExternalIdentityId, SessionId, SignOnProviderId, UserId};
use domain::list::List;
use domain::mail_domain::MailDomainName;
use domain::patch::{FieldDiff, FieldPatch, not_null};
use domain::realtime::KillReason;
use domain::sign_on::{
    AccountCreation, ExternalIdentity, LinkedBy, LinkingRule, PROVIDER_DOMAINS_MAX, PROVIDERS_MAX, SUBJECT_MAX,
    SignOnPreset, SignOnProvider,
};
use domain::text::Name;

use super::text_checks::{is_plain, text_of};
use crate::sign_on::SignOn;
use common::clock;
use common::error::{Error, Result};
use db::WriteTx;
use db::sign_on::NamedIdentity;

/// A sign-on provider to add.
#[body]
pub struct NewSignOnProvider {
    /// Shown on the button of the sign-in page.
    pub name: Name,
    /// The product; it decides which instructions are shown.
    pub preset: SignOnPreset,
    /// The issuer, exactly as the provider names itself: `https://…`.
    #[garde(length(min = 1, max = 500))]
    pub issuer: String,
    #[garde(length(min = 1, max = 500), custom(is_plain))]
    pub client_id: String,
    /// Stored encrypted and never returned.
    #[garde(length(min = 1, max = 2000), custom(is_plain))]
    pub client_secret: String,
    /// How identities are linked to existing accounts; default ADMINISTRATOR.
    #[schema(nullable = false)]
    pub linking: Option<LinkingRule>,
    /// The claim with the `externalId` of the member, for EXTERNAL_ID.
    #[garde(inner(length(max = 200), custom(is_plain)))]
    #[schema(nullable = false, max_length = 200)]
    pub external_id_claim: Option<String>,
    /// Whether identities without an account get one; default NEVER.
    #[schema(nullable = false)]
    pub account_creation: Option<AccountCreation>,
    /// The claim with the role, for BY_CLAIM.
    #[garde(inner(length(max = 200), custom(is_plain)))]
    #[schema(nullable = false, max_length = 200)]
    pub role_claim: Option<String>,
    /// The values of the role claim that make a teacher.
    #[garde(dive, custom(are_short_if_given))]
    #[schema(nullable = false)]
    pub teacher_values: Option<List<String>>,
    /// The mail domains whose addresses select this provider; empty for all domains that the organization holds.
    #[garde(dive, custom(are_short_if_given))]
    #[schema(nullable = false)]
    pub domains: Option<List<String>>,
    /// Whether users can sign in; default true.
    #[schema(nullable = false)]
    pub is_enabled: Option<bool>,
}

/// The fields of a sign-on provider that a PATCH can change. The issuer is fixed: identities belong to it.
#[patch]
pub struct SignOnProviderEdit {
    /// Shown on the button of the sign-in page.
    #[garde(dive, custom(not_null))]
    pub name: FieldPatch<Name>,
    /// The product.
    #[garde(custom(not_null))]
    pub preset: FieldPatch<SignOnPreset>,
    #[garde(custom(not_null), custom(text_of(1, 500)))]
    pub client_id: FieldPatch<String>,
    /// Replaces the client secret.
    #[garde(custom(not_null), custom(text_of(1, 2000)))]
    pub client_secret: FieldPatch<String>,
    /// How identities are linked to existing accounts.
    #[garde(custom(not_null))]
    pub linking: FieldPatch<LinkingRule>,
    /// The claim with the `externalId` of the member.
    #[garde(custom(not_null), custom(text_of(0, 200)))]
    pub external_id_claim: FieldPatch<String>,
    /// Whether identities without an account get one.
    #[garde(custom(not_null))]
    pub account_creation: FieldPatch<AccountCreation>,
    /// The claim with the role.
    #[garde(custom(not_null), custom(text_of(0, 200)))]
    pub role_claim: FieldPatch<String>,
    /// The values of the role claim that make a teacher.
    #[garde(custom(not_null), custom(is_short_list))]
    pub teacher_values: FieldPatch<List<String>>,
    /// The mail domains whose addresses select this provider.
    #[garde(custom(not_null), custom(is_short_list))]
    pub domains: FieldPatch<List<String>>,
    /// Whether users can sign in. Setting it to false ends the sessions that the provider opened.
    #[garde(custom(not_null))]
    pub is_enabled: FieldPatch<bool>,
}

/// An identity to link to a member.
#[body]
pub struct NewExternalIdentity {
    /// The member.
    pub user_id: UserId,
    /// The subject (`sub`) at the provider.
    #[garde(length(bytes, min = 1, max = SUBJECT_MAX), custom(is_plain))]
    pub subject: String,
}

/// Entries of lists of claims and domains are short.
const ENTRY_MAX: usize = 260;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is required by garde")]
fn are_short(list: &List<String>, (): &()) -> garde::Result {
    let is_short =
        |entry: &String| !entry.is_empty() && entry.len() <= ENTRY_MAX && !entry.chars().any(char::is_control);
    if list.len() > PROVIDER_DOMAINS_MAX || !list.iter().all(is_short) {
        return Err(garde::Error::new("must have at most 20 short entries"));
    }
    Ok(())
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "garde needs it")]
fn are_short_if_given(list: &Option<List<String>>, (): &()) -> garde::Result {
    list.as_ref().map_or(Ok(()), |list| are_short(list, &()))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is required by garde")]
fn is_short_list(patch: &FieldPatch<List<String>>, (): &()) -> garde::Result {
    patch.value().map_or(Ok(()), |list| {
        garde::Validate::validate(list).map_err(|_| garde::Error::new("must not name the same entry twice"))?;
        are_short(list, &())
    })
}

/// Adds a provider.
pub fn add(tx: &mut WriteTx<'_>, new: &NewSignOnProvider, sign_on: &SignOn) -> Result<SignOnProvider> {
    let issuer = new.issuer.trim();
    if !sign_on.allows_issuer(issuer) {
        let message = "must begin with https://, without query, and must not be a private address";
        return Err(Error::invalid("issuer", "address_not_allowed", message));
    }
    tx.lock_membership_changes()?;
    DomainError::check_limit("sign-on providers", tx.count_sign_on_providers()? + 1, PROVIDERS_MAX)?;
    let id = SignOnProviderId::new(clock::new_id());
    let provider = SignOnProvider {
        organization_id: tx.organization().clone(),
        name: new.name.clone(),
        preset: new.preset,
        issuer: issuer.to_owned(),
        client_id: new.client_id.trim().to_owned(),
        client_secret: sign_on.encrypt(&id, new.client_secret.trim())?,
        linking: new.linking.unwrap_or(LinkingRule::Administrator),
        external_id_claim: new.external_id_claim.clone().unwrap_or_default().trim().to_owned(),
        account_creation: new.account_creation.unwrap_or(AccountCreation::Never),
        role_claim: new.role_claim.clone().unwrap_or_default().trim().to_owned(),
        teacher_values: new.teacher_values.clone().unwrap_or_default().0,
        domains: domains(new.domains.as_ref())?,
        is_enabled: new.is_enabled.unwrap_or(true),
        created_at: tx.now(),
        updated_at: tx.now(),
        id,
    };
    check(&provider)?;
    tx.insert_sign_on_provider(&provider)?;
    tx.record(SignOnChange::ProviderAdded {
        provider: provider.clone(),
    });
    Ok(provider)
}

/// Applies a PATCH.
pub fn edit(
    tx: &mut WriteTx<'_>,
    id: &SignOnProviderId,
    edit: &SignOnProviderEdit,
    sign_on: &SignOn,
) -> Result<SignOnProvider> {
    let mut provider = tx.lock_sign_on_provider(id)?;
    let edit = edit.clone();
    let mut changed = FieldDiff::new();
    changed.edit("name", &mut provider.name, edit.name)?;
    changed.edit("preset", &mut provider.preset, edit.preset)?;
    changed.edit("clientId", &mut provider.client_id, edit.client_id)?;
    changed.edit("linking", &mut provider.linking, edit.linking)?;
    changed.edit(
        "externalIdClaim",
        &mut provider.external_id_claim,
        edit.external_id_claim,
    )?;
    changed.edit("accountCreation", &mut provider.account_creation, edit.account_creation)?;
    changed.edit("roleClaim", &mut provider.role_claim, edit.role_claim)?;
    if let Some(values) = edit.teacher_values.value() {
        changed.write("teacherValues", &mut provider.teacher_values, values.0.clone());
    }
    if let Some(list) = edit.domains.value() {
        changed.write("domains", &mut provider.domains, domains(Some(list))?);
    }
    changed.edit("isEnabled", &mut provider.is_enabled, edit.is_enabled)?;
    let secret = edit.client_secret.value();
    if let Some(secret) = secret {
        provider.client_secret = sign_on.encrypt(id, secret.trim())?;
    }
    check(&provider)?;
    if changed.is_empty() && secret.is_none() {
        return Ok(provider);
    }
    provider.updated_at = tx.now();
    tx.update_sign_on_provider(&provider)?;
    if !provider.is_enabled && changed.has("isEnabled") {
        end_sessions(tx, id)?;
    }
    tx.record(SignOnChange::ProviderUpdated {
        provider: provider.clone(),
        changed,
        is_secret_replaced: secret.is_some(),
    });
    Ok(provider)
}

/// Removes a provider with its identities and ends the sessions that it opened. Accounts remain.
pub fn remove(tx: &mut WriteTx<'_>, id: &SignOnProviderId) -> Result<()> {
    let provider = tx.lock_sign_on_provider(id)?;
    end_sessions(tx, id)?;
    tx.delete_sign_on_provider(id)?;
    tx.record(SignOnChange::ProviderRemoved { provider });
    Ok(())
}

/// Links an identity to a member. The caller must outrank the member: who controls the provider can sign in as the
/// member.
pub fn link(tx: &mut WriteTx<'_>, id: &SignOnProviderId, new: &NewExternalIdentity) -> Result<NamedIdentity> {
    tx.lock_membership_changes()?;
    let provider = tx.lock_sign_on_provider(id)?;
    let role_level = tx.role_level()?;
    let membership = tx.membership(&new.user_id)?;
    role_level.may_act_on(membership.user.role, membership.member.role)?;
    if membership.user.role == domain::access::PlatformRole::SuperAdmin {
        return Err(DomainError::ForbiddenRank.into());
    }
    let identity = ExternalIdentity {
        id: ExternalIdentityId::new(clock::new_id()),
        provider_id: id.clone(),
        issuer: provider.issuer.clone(),
        subject: new.subject.clone(),
        user_id: new.user_id.clone(),
        linked_by: LinkedBy::Administrator,
        created_at: tx.now(),
        last_sign_in_at: None,
    };
    if !tx.insert_external_identity(&identity)? {
        return Err(Error::Conflict {
            code: ErrorCode::DuplicateIdentity,
            message: "The identity or the person is linked already; unlink it first.",
            path: "subject",
            existing_id: None,
        });
    }
    let person = membership.user.person();
    tx.record(SignOnChange::IdentityLinked {
        provider,
        user: person.clone(),
        by: LinkedBy::Administrator,
    });
    Ok(NamedIdentity { identity, person })
}

/// Unlinks an identity and ends the sessions that the provider opened for its user.
pub fn unlink(tx: &mut WriteTx<'_>, id: &SignOnProviderId, identity: &ExternalIdentityId) -> Result<()> {
    let provider = tx.lock_sign_on_provider(id)?;
    let found = tx.external_identity(id, identity)?;
    tx.delete_external_identity(id, identity)?;
    let user = found.identity.user_id;
    let sessions = tx.end_provider_sessions_of(id, &user)?;
    record_ended(tx, user, sessions);
    tx.record(SignOnChange::IdentityUnlinked {
        provider,
        user: found.person,
    });
    Ok(())
}

fn end_sessions(tx: &mut WriteTx<'_>, id: &SignOnProviderId) -> Result<()> {
    for (user, session) in tx.end_sessions_of_provider(id)? {
        record_ended(tx, user, vec![session]);
    }
    Ok(())
}

fn record_ended(tx: &mut WriteTx<'_>, user: UserId, sessions: Vec<SessionId>) {
    if !sessions.is_empty() {
        tx.record(SessionChange::Ended {
            user,
            sessions,
            reason: KillReason::Revoked,
        });
    }
}

/// Returns the domains in canonical form.
fn domains(list: Option<&List<String>>) -> Result<Vec<String>> {
    let list = list.map(|list| list.0.as_slice()).unwrap_or_default();
    let parse = |domain: &String| match MailDomainName::parse(domain) {
        Ok(name) => Ok(name.as_str().to_owned()),
        Err(bad) => Err(Error::invalid("domains", bad.code(), bad.to_string())),
    };
    list.iter().map(parse).collect()
}

/// Rejects rules without the claim that they need.
fn check(provider: &SignOnProvider) -> Result<()> {
    if provider.linking == LinkingRule::ExternalId && provider.external_id_claim.is_empty() {
        let message = "is required for this linking rule";
        return Err(Error::invalid("externalIdClaim", "required", message));
    }
    if provider.account_creation == AccountCreation::ByClaim && provider.role_claim.is_empty() {
        return Err(Error::invalid("roleClaim", "required", "is required for this rule"));
    }
    Ok(())
}
