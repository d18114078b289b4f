//! Authentication: resolves a session cookie to a [`Caller`] with the role that counts in the organization of the
//! request. Every decision uses values read from the database on this request, never the session cookie cache.

pub mod api_token;
pub mod client_requests;
pub mod concurrency;
pub mod host_resolver;
pub mod maintenance;
pub mod origin;
pub mod password_hasher;
pub mod rate_limiter;
pub mod resource_tenant;
pub mod temporary_password;
pub mod uploads;

use std::sync::Arc;

use axum::extract::{ConnectInfo, MatchedPath, Request};
use axum::http::{HeaderMap, header};
use better_auth::cookie::{CookieNames, RequestCookies, SessionCookie, VerifyingSecrets};
use domain::access::{Access, EffectiveRole, MemberRole, PlatformRole, effective_role};
use domain::id::{OrganizationId, UserId};
use domain::second_factor::SecondFactorPolicy;
use domain::time::Timestamp;

use api_token::PresentedToken;
use common::clock;
use common::encryptor::{EncryptionPurpose, Encryptor};
use common::error::{Error, Result};
use common::settings::{RotatedSecret, Secret};
use db::platform::CrossTenantReason;
use db::platform::organizations::HostName;
use db::platform::resource_tenant::ResourceRef;
use db::platform::sessions::{OrganizationFacts, Session, SessionFacts, SessionUser};
use db::tenant_hint::TenantHints;
use db::{ActingToken, Actor, RequestContext, Store, Tenant};
use host_resolver::HostResolver;
use password_hasher::PasswordHasher;

/// The peer address of the connection.
pub type Peer = ConnectInfo<std::net::SocketAddr>;

/// The id of the current request, assigned by the outermost layer.
#[derive(Debug, Clone)]
pub struct RequestId(pub String);

/// Dependencies of authentication.
#[derive(Clone)]
pub struct Authenticator {
    store: Store,
    names: CookieNames,
    secret: RotatedSecret,
    host_resolver: HostResolver,
    password_hasher: PasswordHasher,
    tenant_hints: TenantHints,
    factor_encryptor: Arc<Encryptor>,
    factor_policy: SecondFactorPolicy,
}

/// Unverified credentials and context of a request, taken from its headers before any look-up.
pub struct RequestCredentials {
    /// The result of the origin check, where one is required.
    pub origin: Result<()>,
    /// The session token, if the signature of its cookie is valid.
    pub token: Option<String>,
    /// The API token, if the request names one; see [`api_token`].
    pub api_token: Option<PresentedToken>,
    /// The host that the request was sent to.
    pub host: Option<HostName>,
    /// The organization that the client displays (`X-Organization-Id`).
    pub shown: Option<ShownOrganization>,
    /// The object or organization that the address names, for a SUPER_ADMIN without an organization.
    pub resource: Option<ResourceRef>,
    /// The client address in the form that rate limits use.
    pub address: String,
    /// Whether the path is valid text. A malformed id names nothing (404).
    pub is_well_formed: bool,
    pub request_id: Option<String>,
}

/// The header in which a client names the organization that it displays.
pub const SHOWN_ORGANIZATION: &str = "x-organization-id";

/// The value of [`SHOWN_ORGANIZATION`]. `None` for a repeated or unreadable header, which names no organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownOrganization(Option<String>);

impl ShownOrganization {
    fn of(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(SHOWN_ORGANIZATION).iter();
        let first = values.next()?;
        let is_repeated = values.next().is_some();
        let id = first.to_str().ok().filter(|_| !is_repeated);
        Some(Self(id.map(str::to_owned)))
    }

    /// Rejects the request when the caller does not work in the named organization. A caller who is not a member of the
    /// organization of the request receives the same error for every id, so that ids cannot be probed.
    fn check(&self, facts: &SessionFacts) -> Result<()> {
        let active = facts.organization.as_ref();
        let own = active.filter(|active| active.member_role.is_some() || facts.user.role == PlatformRole::SuperAdmin);
        let is_same = own.is_some_and(|own| self.0.as_deref() == Some(own.tenant.id().as_str()));
        if is_same {
            Ok(())
        } else {
            Err(Error::OrganizationChanged)
        }
    }
}

/// The authenticated user with session and organization, read at the beginning of the request.
#[derive(Debug, Clone)]
pub struct Caller {
    pub user: SessionUser,
    pub session: Session,
    /// The effective role in the organization of the request.
    pub effective_role: EffectiveRole,
    /// The membership role, if the user is a member of the organization of the request.
    pub member_role: Option<MemberRole>,
    /// The organization of the request.
    pub tenant: Option<Tenant>,
    /// Whether a SUPER_ADMIN named an object or organization that does not exist.
    pub is_tenant_unknown: bool,
    /// The API token that the request was sent with.
    pub api_token: Option<ActingToken>,
    /// The time at which the request began. Rules use it as their clock.
    pub now: Timestamp,
    pub request_id: Option<String>,
}

impl Caller {
    /// The request context for database access; `None` without an organization.
    pub fn context(&self) -> Option<RequestContext> {
        let viewer = self.effective_role.viewer(self.user.id.clone())?;
        Some(RequestContext {
            tenant: self.tenant.clone()?,
            viewer,
            actor: self.actor(),
            now: self.now,
        })
    }

    /// The user as recorded in the activity log.
    pub fn actor(&self) -> Actor {
        Actor {
            api_token: self.api_token.clone(),
            ..actor(&self.user, &self.session, self.member_role, self.request_id.clone())
        }
    }

    /// The organization of the request, or [`Caller::missing_organization`] without one.
    pub fn organization(&self) -> Result<&OrganizationId> {
        self.tenant
            .as_ref()
            .map(Tenant::id)
            .ok_or_else(|| self.missing_organization())
    }

    /// The error for a request that needs an organization and has none.
    pub fn missing_organization(&self) -> Error {
        match self.effective_role {
            EffectiveRole::SuperAdmin if self.is_tenant_unknown => Error::NotFound,
            EffectiveRole::SuperAdmin => {
                let message = "is required: say which organization this is for, in the query or in the body";
                Error::invalid("organizationId", "required", message)
            }
            _ => Error::NoActiveOrganization,
        }
    }

    /// Whether this is a SUPER_ADMIN without any organization. Lists then span all organizations.
    pub fn is_cross_tenant(&self) -> bool {
        self.effective_role == EffectiveRole::SuperAdmin && self.tenant.is_none() && !self.is_tenant_unknown
    }

    /// Attaches the organization that a SUPER_ADMIN named. Marks the caller as lost when it does not exist.
    pub fn set_tenant(&mut self, resource: Option<OrganizationFacts>) {
        self.is_tenant_unknown = resource.is_none();
        self.tenant = resource.map(|resource| resource.tenant);
    }

    /// Whether the caller is this user.
    pub fn is(&self, user: &UserId) -> bool {
        self.user.id == *user
    }
}

/// A user as recorded in the activity log, with this session and role.
pub fn actor(user: &SessionUser, session: &Session, role: Option<MemberRole>, request_id: Option<String>) -> Actor {
    let role = match (user.role, role) {
        (PlatformRole::SuperAdmin, _) => "SUPER_ADMIN",
        (_, Some(role)) => role.as_str(),
        (_, None) => "none",
    };
    Actor {
        user: Some(user.id.clone()),
        name: user.name.clone(),
        role,
        impersonated_by: session.impersonated_by.clone(),
        api_token: None,
        request_id,
    }
}

impl Authenticator {
    pub fn new(
        store: Store,
        names: CookieNames,
        secret: RotatedSecret,
        host_resolver: HostResolver,
        factor_policy: SecondFactorPolicy,
    ) -> Result<Self> {
        let factor_encryptor = Arc::new(Encryptor::new(&secret, EncryptionPurpose::SecondFactor)?);
        Ok(Self {
            store,
            names,
            secret,
            host_resolver,
            password_hasher: PasswordHasher::default(),
            tenant_hints: TenantHints::default(),
            factor_encryptor,
            factor_policy,
        })
    }

    pub fn names(&self) -> &CookieNames {
        &self.names
    }

    /// The secret that signs cookies.
    pub fn secret(&self) -> &str {
        self.secret.current().expose()
    }

    /// The secrets that cookies are verified with.
    pub fn verifying_secrets(&self) -> VerifyingSecrets<'_> {
        VerifyingSecrets {
            current: self.secret(),
            previous: self.secret.previous().map(Secret::expose),
        }
    }

    pub fn host_resolver(&self) -> &HostResolver {
        &self.host_resolver
    }

    /// Encrypts the secrets of second factors.
    pub fn factor_encryptor(&self) -> Arc<Encryptor> {
        Arc::clone(&self.factor_encryptor)
    }

    pub fn password_hasher(&self) -> &PasswordHasher {
        &self.password_hasher
    }

    /// Collects the credentials and context of a request without any look-up.
    pub fn credentials(&self, request: &Request, frontend_origin: &str) -> RequestCredentials {
        let peer = request.extensions().get::<Peer>().map(|peer| peer.0.ip());
        let address = self.host_resolver.client_address(request.headers(), peer);
        let is_well_formed = resource_tenant::is_well_formed(request.uri().path());
        RequestCredentials {
            origin: origin::check(request.method(), request.headers(), frontend_origin),
            token: self.token(request.headers()),
            api_token: PresentedToken::of(request.headers()),
            host: self.host_resolver.resolve(request.uri(), request.headers(), peer),
            shown: ShownOrganization::of(request.headers()),
            resource: resource_tenant::from_uri(
                request.uri(),
                request.extensions().get::<MatchedPath>().map(MatchedPath::as_str),
            )
            .filter(|_| is_well_formed),
            address: address.map(host_resolver::network_text).unwrap_or_default(),
            is_well_formed,
            request_id: request.extensions().get::<RequestId>().map(|id| id.0.clone()),
        }
    }

    /// The session token of the cookie, if its signature is valid. Two session cookies count as signed out, because an
    /// attacker may have set one of them.
    pub fn token(&self, headers: &HeaderMap) -> Option<String> {
        let cookies = RequestCookies::parse(headers.get_all(header::COOKIE));
        match cookies.session(&self.names, self.verifying_secrets()) {
            SessionCookie::Token(token) => Some(token),
            SessionCookie::Absent => None,
            SessionCookie::Ambiguous => {
                tracing::warn!("request with two session cookies treated as signed out");
                None
            }
        }
    }

    /// The organization that an object belongs to.
    pub async fn resolve_tenant(&self, resource: ResourceRef) -> Result<Option<OrganizationFacts>> {
        self.store
            .platform_read(CrossTenantReason::SuperAdmin, move |platform| {
                platform.find_resource_tenant(&resource)
            })
            .await
    }

    /// Whether the user is required to have a second factor and has none. An impersonation is exempt: it is the session of
    /// a SUPER_ADMIN, to whom the requirement applied before.
    fn is_second_factor_missing(&self, facts: &SessionFacts) -> bool {
        !facts.user.has_second_factor && facts.session.impersonated_by.is_none() && self.requires_second_factor(facts)
    }

    /// Whether the user is required to have a second factor in the organization of the session.
    pub fn requires_second_factor(&self, facts: &SessionFacts) -> bool {
        let organization = facts.organization.as_ref();
        let member_role = organization.and_then(|organization| organization.member_role);
        let required = organization.and_then(|organization| organization.required_members);
        self.factor_policy.requires(facts.user.role, member_role, required)
    }

    /// Reads session, user, organization and membership of a session token from the database.
    pub async fn find_session(
        &self,
        token: String,
        host: Option<HostName>,
        resource: Option<ResourceRef>,
    ) -> Result<Option<SessionFacts>> {
        let now = clock::now();
        let (tenant_hint, lookup_token) = (self.tenant_hints.get(&token), token.clone());
        let mut facts = self
            .store
            .platform_read_for(tenant_hint, CrossTenantReason::SessionLookup, move |platform| {
                let Some(mut facts) = platform.session(&lookup_token, now)? else {
                    return Ok(None);
                };
                if facts.organization.is_none()
                    && let Some(host) = &host
                {
                    let found = platform.organization_of_host(host, &facts.user.id)?;
                    facts.organization = found.map(|found| found.in_session(&facts.session));
                }
                let is_platform = facts.user.role == PlatformRole::SuperAdmin;
                if let Some(resource) = resource.filter(|_| is_platform && facts.organization.is_none()) {
                    facts.organization = platform.find_resource_tenant(&resource)?;
                }
                Ok(Some(facts))
            })
            .await?;
        if let Some(facts) = &mut facts {
            facts.is_second_factor_missing = self.is_second_factor_missing(facts);
        }
        if let Some(organization) = facts.as_ref().and_then(|facts| facts.organization.as_ref()) {
            self.tenant_hints.record(&token, organization.tenant.id());
        }
        Ok(facts)
    }
}

/// Looks up the session of the request, if it carries a token.
pub async fn find_session(
    authenticator: &Authenticator,
    credentials: &mut RequestCredentials,
) -> Result<Option<SessionFacts>> {
    match &credentials.token {
        Some(token) => {
            authenticator
                .find_session(token.clone(), credentials.host.take(), credentials.resource.clone())
                .await
        }
        None => Ok(None),
    }
}

/// Checks the origin, authenticates, compares `X-Organization-Id` with the resolved organization, and authorizes, in
/// this order. See docs/api-contract.md#order-of-checks.
pub fn authenticate(credentials: RequestCredentials, facts: Option<SessionFacts>, access: Access) -> Result<Caller> {
    credentials.origin?;
    let (names_resource, request_id) = (credentials.resource.is_some(), credentials.request_id);
    let facts = facts.ok_or(Error::Unauthenticated)?;
    if access.needs_organization() {
        if let Some(shown) = &credentials.shown {
            shown.check(&facts)?;
        }
        check_organization(&facts)?;
    }
    let is_tenant_unknown =
        names_resource && facts.user.role == PlatformRole::SuperAdmin && facts.organization.is_none();
    let caller = Caller {
        is_tenant_unknown,
        ..caller(facts, request_id)
    };
    if access.allows(caller.effective_role) {
        Ok(caller)
    } else {
        Err(Error::ForbiddenRole)
    }
}

/// Builds the caller from the facts of a session.
pub fn caller(facts: SessionFacts, request_id: Option<String>) -> Caller {
    let member_role = facts
        .organization
        .as_ref()
        .and_then(|organization| organization.member_role);
    Caller {
        effective_role: effective_role(facts.user.role, member_role),
        user: facts.user,
        session: facts.session,
        member_role,
        tenant: facts.organization.map(|organization| organization.tenant),
        is_tenant_unknown: false,
        api_token: None,
        now: clock::now(),
        request_id,
    }
}

/// Requires an organization that is active and a membership in it, of which a SUPER_ADMIN is exempt, and a second factor
/// if the user has to have one.
pub fn check_organization(facts: &SessionFacts) -> Result<()> {
    if facts.is_second_factor_missing {
        return Err(Error::SecondFactorRequired);
    }
    if facts.user.role == PlatformRole::SuperAdmin {
        return Ok(());
    }
    match &facts.organization {
        None => Err(Error::NoActiveOrganization),
        Some(organization) if organization.is_sign_on_foreign => Err(Error::SignedOnElsewhere),
        Some(organization) if organization.is_password_foreign => Err(Error::PasswordNotConfirmed),
        Some(organization) if organization.member_role.is_none() => Err(Error::NotAMember),
        Some(organization) if organization.suspended => Err(Error::OrganizationSuspended),
        Some(_) => Ok(()),
    }
}
