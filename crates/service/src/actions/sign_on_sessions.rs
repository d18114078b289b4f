//! Sessions that a sign-on provider opens and ends. The claims were verified before; here it is decided which account
//! they open. Every sign-in ends in [`sign_in::open_session`].

use domain::access::RoleLevel;
use domain::change::{SessionChange, SignOnChange};
use domain::id::{ExternalIdentityId, SessionId, SignOnProviderId, UserId};
use domain::invitation::EnrollmentTargets;
use domain::realtime::KillReason;
use domain::sign_on::{
    ATTEMPTS_MAX, ExternalIdentity, IdentityClaims, LinkedBy, LinkingRule, SignOnDenial, SignOnProvider, SignOnSession,
    may_link, may_sign_in,
};
use domain::text::{ExternalId, Name};
use domain::time::Timestamp;

use super::people::{self, NewPerson};
use super::second_factor::SignInBrowser;
use super::sign_in::{self, OpenedSession};
use crate::sign_on::SignOnIdentity;
use adapters::openid::LogoutRequest;
use common::clock;
use common::error::{Error, Result};
use db::platform::PlatformWriteTx;
use db::platform::sessions::Session;
use db::platform::sign_on::SignOnAttempt;
use db::{RequestContext, Tenant, WriteTx};

/// How long a logout token is remembered, in seconds. Older tokens are rejected for their age.
const LOGOUT_MEMORY: i64 = 30 * 60;

/// The result of a sign-on.
#[derive(Debug, Clone)]
pub enum SignOnResult {
    Verified {
        opened: OpenedSession,
        /// Whether the account was created for this sign-in.
        is_new_user: bool,
    },
    Denied(SignOnDenial),
}

/// Stores a sign-in that waits for the provider.
pub fn begin(tx: &mut PlatformWriteTx<'_>, attempt: &SignOnAttempt, now: Timestamp) -> Result<()> {
    if tx.count_sign_on_attempts(&attempt.organization_id, ATTEMPTS_MAX, now)? >= ATTEMPTS_MAX {
        return Err(Error::Overloaded);
    }
    tx.insert_sign_on_attempt(attempt)
}

/// Consumes the waiting sign-in of a browser, whatever follows, and returns it with its provider. The provider must be
/// the one that the address of the response names: a response of another provider belongs to no sign-in.
pub fn resume(
    tx: &mut PlatformWriteTx<'_>,
    provider: &SignOnProviderId,
    (state_digest, browser_digest): (&str, &str),
    now: Timestamp,
) -> Result<Option<(SignOnAttempt, Option<SignOnProvider>)>> {
    let attempt = tx.take_sign_on_attempt(state_digest, browser_digest, now)?;
    let Some(attempt) = attempt.filter(|attempt| attempt.provider_id == *provider) else {
        return Ok(None);
    };
    let found = tx.enabled_sign_on_provider(provider)?;
    Ok(Some((attempt, found.map(|(_, provider)| provider))))
}

/// Opens a session for verified claims: of the account that the identity belongs to, of one that a rule of the
/// organization links, or of a new one.
pub fn finish(
    tx: &mut PlatformWriteTx<'_>,
    provider: &SignOnProviderId,
    identity: &SignOnIdentity,
    session: &Session,
    browser: &SignInBrowser,
    now: Timestamp,
) -> Result<SignOnResult> {
    let claims = &identity.claims;
    let Some((tenant, provider)) = tx.enabled_sign_on_provider(provider)? else {
        return Ok(SignOnResult::Denied(SignOnDenial::NotLinked));
    };
    let mut is_new_user = false;
    let owner = |tx: &mut PlatformWriteTx<'_>| tx.owner_of_identity(&provider.id, &claims.issuer, &claims.subject, now);
    let mut found = owner(tx)?;
    if found.is_none() {
        lock(tx, &tenant, &provider, now)?;
        found = owner(tx)?;
    }
    if found.is_none() {
        let context = RequestContext::for_service(tenant, provider.name.as_str(), now);
        match tx.write_in_tenant(context, |tx| resolve(tx, &provider, claims))? {
            Ok(LinkedBy::Creation) => is_new_user = true,
            Ok(_) => {}
            Err(denial) => return Ok(SignOnResult::Denied(denial)),
        }
        found = owner(tx)?;
    }
    let Some(known) = found else {
        return Ok(SignOnResult::Denied(SignOnDenial::NotLinked));
    };
    if let Err(denial) = may_sign_in(&known.owner) {
        return Ok(SignOnResult::Denied(denial));
    }
    let user = known.owner.user;
    tx.lift_ban(&user, now)?;
    tx.record_sign_on(&known.id, &user, now)?;
    let session = Session {
        active_organization_id: Some(provider.organization_id.clone()),
        sign_on: Some(Box::new(SignOnSession {
            organization_id: provider.organization_id.clone(),
            provider_id: provider.id.clone(),
            subject: claims.subject.clone(),
            session: claims.session.clone(),
            id_token: identity.id_token.clone(),
        })),
        ..session.clone()
    };
    let opened = sign_in::open_session(tx, user, session, browser, now)?;
    Ok(SignOnResult::Verified { opened, is_new_user })
}

/// Ends the sessions that a logout token names. A token that was processed before has no effect.
pub fn end(
    tx: &mut PlatformWriteTx<'_>,
    provider: &SignOnProvider,
    request: &LogoutRequest,
    now: Timestamp,
) -> Result<()> {
    let expires_at = now.plus_seconds(LOGOUT_MEMORY);
    if !tx.insert_sign_on_logout(&provider.organization_id, &provider.id, &request.token_id, expires_at)? {
        return Ok(());
    }
    let ended = tx.end_sign_on_sessions(&provider.id, request.subject.as_deref(), request.session.as_deref())?;
    for (user, session) in ended {
        tx.record(ended_session(user, session));
    }
    Ok(())
}

fn ended_session(user: UserId, session: SessionId) -> SessionChange {
    SessionChange::Ended {
        user,
        sessions: vec![session],
        reason: KillReason::SignedOut,
    }
}

/// Locks the organization, so that concurrent first sign-ins of one identity are decided one after the other.
fn lock(tx: &mut PlatformWriteTx<'_>, tenant: &Tenant, provider: &SignOnProvider, now: Timestamp) -> Result<()> {
    let context = RequestContext::for_service(tenant.clone(), provider.name.as_str(), now);
    tx.write_in_tenant(context, |tx| tx.lock_membership_changes())
}

/// Links an unknown identity to the account that the rule of the organization finds, or creates an account.
fn resolve(
    tx: &mut WriteTx<'_>,
    provider: &SignOnProvider,
    claims: &IdentityClaims,
) -> Result<std::result::Result<LinkedBy, SignOnDenial>> {
    let held = tx.held_domains()?;
    let proven = claims.proven_address(&held).filter(|email| serves(provider, email));
    let candidate = match provider.linking {
        LinkingRule::Administrator => None,
        LinkingRule::ExternalId => match &claims.external_id {
            Some(external_id) => tx.link_candidate_of_external_id(&provider.id, external_id)?,
            None => None,
        },
        LinkingRule::VerifiedDomain => match proven {
            Some(email) => tx.link_candidate_of_address(&provider.id, email)?,
            None => None,
        },
    };
    if let Some(candidate) = candidate {
        if let Err(denial) = may_link(&candidate, provider.linking) {
            return Ok(Err(denial));
        }
        let by = match provider.linking {
            LinkingRule::VerifiedDomain => LinkedBy::VerifiedDomain,
            LinkingRule::ExternalId | LinkingRule::Administrator => LinkedBy::ExternalId,
        };
        return link(tx, provider, claims, &candidate.user, by);
    }
    create(tx, provider, claims, proven)
}

/// Returns whether an address may be used with the provider: it has no list of domains, or the domain is in it.
fn serves(provider: &SignOnProvider, email: &str) -> bool {
    let domain = email.rsplit_once('@').map(|(_, domain)| domain);
    domain.is_some_and(|domain| provider.serves_domain(domain))
}

/// Creates an account for an identity, if the organization wants that. The address must be a verified one of a domain that
/// the organization holds, so that no provider can take addresses of others.
fn create(
    tx: &mut WriteTx<'_>,
    provider: &SignOnProvider,
    claims: &IdentityClaims,
    proven: Option<&str>,
) -> Result<std::result::Result<LinkedBy, SignOnDenial>> {
    let Some(role) = provider.role_of_new_account(&claims.roles) else {
        return Ok(Err(SignOnDenial::NotLinked));
    };
    let Some(email) = proven else {
        return Ok(Err(SignOnDenial::AddressNotVerified));
    };
    if tx.account_of_address(email)?.is_some() {
        return Ok(Err(SignOnDenial::AccountExists));
    }
    let local_part = email.split('@').next().unwrap_or(email);
    let name = claims.name.as_deref().unwrap_or(local_part);
    let name = Name::try_from(name).unwrap_or_else(|_| Name::stored(local_part));
    let external_id = claims
        .external_id
        .as_deref()
        .and_then(|id| ExternalId::try_from(id).ok());
    let is_taken = match &external_id {
        Some(id) => tx.member_of_external_id(id.as_str())?.is_some(),
        None => false,
    };
    let person = NewPerson {
        name,
        email: Some(email.to_owned()),
        first_name: None,
        last_name: None,
        username: None,
        role,
        external_id: external_id.filter(|_| !is_taken),
    };
    let targets = EnrollmentTargets {
        class_ids: Vec::new(),
        homeroom_ids: Vec::new(),
    };
    let created = people::provision(tx, RoleLevel::SuperAdmin, &person, &targets, None, None)?;
    let Some(joined) = created.joined() else {
        return Ok(Err(SignOnDenial::AccountExists));
    };
    link(tx, provider, claims, &joined.person.id, LinkedBy::Creation)
}

fn link(
    tx: &mut WriteTx<'_>,
    provider: &SignOnProvider,
    claims: &IdentityClaims,
    user: &UserId,
    by: LinkedBy,
) -> Result<std::result::Result<LinkedBy, SignOnDenial>> {
    let identity = ExternalIdentity {
        id: ExternalIdentityId::new(clock::new_id()),
        provider_id: provider.id.clone(),
        issuer: claims.issuer.clone(),
        subject: claims.subject.clone(),
        user_id: user.clone(),
        linked_by: by,
        created_at: tx.now(),
        last_sign_in_at: None,
    };
    if !tx.insert_external_identity(&identity)? {
        return Ok(Err(SignOnDenial::LinkedToAnotherIdentity));
    }
    let user = tx.membership(user)?.user.person();
    tx.record(SignOnChange::IdentityLinked {
        provider: provider.clone(),
        user,
        by,
    });
    Ok(Ok(by))
}
