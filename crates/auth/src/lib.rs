//! Who asks: from the cookie to a [`Caller`] with his standing in the organization of the request. Everything that
//! decides is read from the store on every request; the cookie cache never decides (contract 6.1).

pub mod client_requests;
pub mod hashing;
pub mod home;
pub mod origin;
pub mod places;
pub mod rates;
pub mod temporary_password;
pub mod tenant;
pub mod uploads;

use axum::extract::{ConnectInfo, MatchedPath, Request};
use axum::http::{HeaderMap, header};
use better_auth::cookie::{CookieNames, RequestCookies, SessionCookie};
use model::access::{Access, MemberRole, PlatformRole, Standing, standing};
use model::id::{OrganizationId, UserId};
use model::time::Timestamp;

use common::clock;
use common::error::{Error, Result};
use common::settings::Secret;
use db::platform::PlatformProof;
use db::platform::homes::Home;
use db::platform::organizations::HostName;
use db::platform::sessions::{OrganizationFacts, Session, SessionFacts, User};
use db::whereabouts::Whereabouts;
use db::{Actor, Standpoint, Store, Tenant};
use hashing::Hashing;
use tenant::Hosts;

/// The peer's address as the listener saw it.
pub type Peer = ConnectInfo<std::net::SocketAddr>;

/// The id of the request at hand, as the outermost layer gave it.
#[derive(Debug, Clone)]
pub struct RequestId(pub String);

/// What is needed to find out who asks.
#[derive(Clone)]
pub struct Gate {
    store: Store,
    names: CookieNames,
    secret: Secret,
    hosts: Hosts,
    hashing: Hashing,
    whereabouts: Whereabouts,
}

/// What a request claims to be: nothing of it was looked up yet.
pub struct Claim {
    /// Whether it comes from our own page, where that matters.
    pub origin: Result<()>,
    /// The session token, its signature verified.
    pub token: Option<String>,
    /// The host it was sent to.
    pub host: Option<HostName>,
    /// The organization that the caller's page shows, if the request names one.
    pub shown: Option<ShownOrganization>,
    /// The object or organization the address names, for a SUPER_ADMIN without an organization.
    pub home: Option<Home>,
    /// Where it comes from, as limits count it.
    pub address: String,
    /// Whether its path is text that something could be called: an id that is none names nothing.
    pub is_well_formed: bool,
    /// The request's id.
    pub request_id: Option<String>,
}

/// The header with which a request names the organization that its page shows.
pub const SHOWN_ORGANIZATION: &str = "x-organization-id";

/// The content of [`SHOWN_ORGANIZATION`]: an id, or nothing readable, which names no organization.
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
    /// organization of the request gets the same error for every id, so that none can be guessed.
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

/// Who asks: plain values, read at the beginning of the request.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The person.
    pub user: User,
    /// The session he came with.
    pub session: Session,
    /// What he is in the organization of the request.
    pub standing: Standing,
    /// His role there, if he is a member.
    pub member_role: Option<MemberRole>,
    /// The organization of the request.
    pub tenant: Option<Tenant>,
    /// Whether a SUPER_ADMIN named an object, and thereby an organization, that does not exist.
    pub is_lost: bool,
    /// The request's clock.
    pub now: Timestamp,
    /// The request's id.
    pub request_id: Option<String>,
}

impl Caller {
    /// Where he stands, for the store; nothing without an organization.
    pub fn standpoint(&self) -> Option<Standpoint> {
        let viewer = self.standing.viewer(self.user.id.clone())?;
        Some(Standpoint {
            tenant: self.tenant.clone()?,
            viewer,
            actor: self.actor(),
            now: self.now,
        })
    }

    /// How the log names him.
    pub fn actor(&self) -> Actor {
        actor(&self.user, &self.session, self.member_role, self.request_id.clone())
    }

    /// The organization of the request, where one is needed.
    pub fn organization(&self) -> Result<&OrganizationId> {
        self.tenant.as_ref().map(Tenant::id).ok_or_else(|| self.homeless())
    }

    /// Why nothing can be done without an organization.
    pub fn homeless(&self) -> Error {
        match self.standing {
            Standing::SuperAdmin if self.is_lost => Error::NotFound,
            Standing::SuperAdmin => {
                let message = "is required: say which organization this is for, in the query or in the body";
                Error::invalid("organizationId", "required", message)
            }
            _ => Error::NoActiveOrganization,
        }
    }

    /// Whether this is a SUPER_ADMIN who works in no organization and named none: lists show him all of them.
    pub fn is_everywhere(&self) -> bool {
        self.standing == Standing::SuperAdmin && self.tenant.is_none() && !self.is_lost
    }

    /// Puts a SUPER_ADMIN who named an object into its organization, or nowhere when there is none.
    pub fn go_home(&mut self, home: Option<OrganizationFacts>) {
        self.is_lost = home.is_none();
        self.tenant = home.map(|home| home.tenant);
    }

    /// Whether this is the person.
    pub fn is(&self, user: &UserId) -> bool {
        self.user.id == *user
    }
}

/// How the log names a person with this session and role.
pub fn actor(user: &User, session: &Session, role: Option<MemberRole>, request_id: Option<String>) -> Actor {
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
        request_id,
    }
}

impl Gate {
    /// Joins what authentication needs.
    pub fn new(store: Store, names: CookieNames, secret: Secret, hosts: Hosts) -> Self {
        Self {
            store,
            names,
            secret,
            hosts,
            hashing: Hashing::default(),
            whereabouts: Whereabouts::default(),
        }
    }

    /// The cookie names of this installation.
    pub fn names(&self) -> &CookieNames {
        &self.names
    }

    /// The key that signs cookies.
    pub fn secret(&self) -> &str {
        self.secret.expose()
    }

    /// The host rules of this installation.
    pub fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// The turns at hashing passwords.
    pub fn hashing(&self) -> &Hashing {
        &self.hashing
    }

    /// What a request claims to be, before anything is looked up.
    pub fn claim(&self, request: &Request, frontend_origin: &str) -> Claim {
        let peer = request.extensions().get::<Peer>().map(|peer| peer.0.ip());
        let address = self.hosts.client_address(request.headers(), peer);
        let is_well_formed = home::is_well_formed(request.uri().path());
        Claim {
            origin: origin::check(request.method(), request.headers(), frontend_origin),
            token: self.token(request.headers()),
            host: self.hosts.name(request.uri(), request.headers(), peer),
            shown: ShownOrganization::of(request.headers()),
            home: home::named(
                request.uri(),
                request.extensions().get::<MatchedPath>().map(MatchedPath::as_str),
            )
            .filter(|_| is_well_formed),
            address: address.map(tenant::spelled).unwrap_or_default(),
            is_well_formed,
            request_id: request.extensions().get::<RequestId>().map(|id| id.0.clone()),
        }
    }

    /// The session token a request carries, if its signature holds. Two session cookies are none (reliability T11).
    pub fn token(&self, headers: &HeaderMap) -> Option<String> {
        let cookies = RequestCookies::parse(headers.get_all(header::COOKIE));
        match cookies.session(&self.names, self.secret()) {
            SessionCookie::Token(token) => Some(token),
            SessionCookie::Absent => None,
            SessionCookie::Ambiguous => {
                tracing::warn!("a request carries two session cookies; it counts as signed out");
                None
            }
        }
    }

    /// The organization an object is at home in.
    pub async fn home(&self, home: Home) -> Result<Option<OrganizationFacts>> {
        self.store
            .platform_read(PlatformProof::super_admin(), move |platform| platform.home_of(&home))
            .await
    }

    /// The facts behind a session token, read now: session, person, organization, membership.
    pub async fn facts(
        &self,
        token: String,
        host: Option<HostName>,
        home: Option<Home>,
    ) -> Result<Option<SessionFacts>> {
        let now = clock::now();
        let (line, asked) = (self.whereabouts.of(&token), token.clone());
        let facts = self
            .store
            .platform_read_for(line, PlatformProof::session_look_up(), move |platform| {
                let Some(mut facts) = platform.session(&asked, now)? else {
                    return Ok(None);
                };
                if facts.organization.is_none()
                    && let Some(host) = &host
                {
                    facts.organization = platform.organization_of_host(host, &facts.user.id)?;
                }
                let is_platform = facts.user.role == PlatformRole::SuperAdmin;
                if let Some(home) = home.filter(|_| is_platform && facts.organization.is_none()) {
                    facts.organization = platform.home_of(&home)?;
                }
                Ok(Some(facts))
            })
            .await?;
        if let Some(organization) = facts.as_ref().and_then(|facts| facts.organization.as_ref()) {
            self.whereabouts.note(&token, organization.tenant.id());
        }
        Ok(facts)
    }
}

/// Looks up the session a request claims to have.
pub async fn look_up(gate: &Gate, claim: &mut Claim) -> Result<Option<SessionFacts>> {
    match &claim.token {
        Some(token) => gate.facts(token.clone(), claim.host.take(), claim.home.clone()).await,
        None => Ok(None),
    }
}

/// Checks the origin, authenticates, resolves the tenant, compares it with the one that the page shows, and authorizes, in
/// this order (contract 2).
pub fn authenticate(claim: Claim, facts: Option<SessionFacts>, access: Access) -> Result<Caller> {
    claim.origin?;
    let (is_named, request_id) = (claim.home.is_some(), claim.request_id);
    let facts = facts.ok_or(Error::Unauthenticated)?;
    if access.needs_organization() {
        if let Some(shown) = &claim.shown {
            shown.check(&facts)?;
        }
        admit_to_organization(&facts)?;
    }
    let is_lost = is_named && facts.user.role == PlatformRole::SuperAdmin && facts.organization.is_none();
    let caller = Caller {
        is_lost,
        ..caller(facts, request_id)
    };
    if access.admits(caller.standing) {
        Ok(caller)
    } else {
        Err(Error::ForbiddenRole)
    }
}

/// The caller behind the facts of a session.
pub fn caller(facts: SessionFacts, request_id: Option<String>) -> Caller {
    let member_role = facts
        .organization
        .as_ref()
        .and_then(|organization| organization.member_role);
    Caller {
        standing: standing(facts.user.role, member_role),
        user: facts.user,
        session: facts.session,
        member_role,
        tenant: facts.organization.map(|organization| organization.tenant),
        is_lost: false,
        now: clock::now(),
        request_id,
    }
}

/// Needs an organization, membership in it, and that it is active; the platform's own people are exempt.
pub fn admit_to_organization(facts: &SessionFacts) -> Result<()> {
    if facts.user.role == PlatformRole::SuperAdmin {
        return Ok(());
    }
    match &facts.organization {
        None => Err(Error::NoActiveOrganization),
        Some(organization) if organization.is_password_foreign => Err(Error::PasswordNotConfirmed),
        Some(organization) if organization.member_role.is_none() => Err(Error::NotAMember),
        Some(organization) if organization.suspended => Err(Error::OrganizationSuspended),
        Some(_) => Ok(()),
    }
}
