//! The middleware of every route, in the specified order: rate limit, origin, authentication, organization,
//! authorization; and around it the timeout of the handler. See docs/api-contract.md#order-of-checks.
//!
//! Whose rate limit applies is known only after the session look-up, so that comes first. A token whose owner has
//! exhausted the limit is rejected without a look-up. Requests without a session are counted by address.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::Response;
use domain::access::{Access, EffectiveRole};
use domain::api_token::TokenScope;
use domain::id::UserId;
use domain::maintenance::ServedInMaintenance;
use domain::rate::Meter;

use super::anonymous_body::AnonymousBody;
use super::auth::renewal;
use super::body_timeout::{self, BodyWait, read_body};
use super::context::App;
use super::dry_run::{DryRun, DryRunMethods};
use super::export_body::ExportBody;
use super::idempotency;
use super::maintenance;
use super::route_limits::RouteLimits;
use super::valid;
use auth::{self, Caller, RequestCredentials};
use common::error::{Error, Result};
use common::fair_queue::Permit;
use db::fair_queue::TenantKey;
use db::platform::resource_tenant::ResourceRef;
use db::{Tenant, WriteTx};
use service::actions::rates;

/// The properties of a route that its guard needs.
#[derive(Clone, Copy)]
pub struct Route {
    /// Who may call the route.
    pub access: Access,
    /// The scope of API tokens that may call the route.
    pub tokens: Option<TokenScope>,
    /// Rate limit, permits and timeout of the route.
    pub limits: RouteLimits,
    /// The methods of the path that support a dry run.
    pub dry_runs: DryRunMethods,
    /// The requests that are served during maintenance.
    pub in_maintenance: ServedInMaintenance,
    /// Whether the route is served to a user who is required to have a second factor and has none.
    pub is_served_without_factor: bool,
    /// Whether the session of the caller is renewed. The routes of `/auth` renew it themselves.
    pub is_renewing: bool,
    /// Renders errors in the format of the route's noun.
    pub render_error: fn(Error) -> Response,
}

/// Serves a request within the timeout of its route.
pub async fn guard(route: Route, request: Request, next: Next) -> Response {
    let body_wait = request.extensions().get::<BodyWait>().cloned().unwrap_or_default();
    let response = serve(route, request, next);
    let result = body_timeout::with_timeout(route.limits.timeout(), &body_wait, response).await;
    result.unwrap_or_else(|error| {
        tracing::warn!("request timeout");
        (route.render_error)(error)
    })
}

async fn serve(route: Route, request: Request, next: Next) -> Response {
    let app = request
        .extensions()
        .get::<App>()
        .cloned()
        .expect("the router inserts the app into every request");
    let credentials = app.authenticator().credentials(&request, app.frontend_origin());
    let (mut meter, mut cookies) = (None, Vec::new());
    let client = credentials.address.clone();
    // Checked on the original query, but reported only to callers who may use the route.
    let dry_run = route.dry_runs.check(request.method(), request.uri());
    let maintenance = maintenance::check(route.in_maintenance, request.method(), app.maintenance());
    let authorized = match authorize(route, &app, credentials, request.method(), &mut meter)
        .await
        .and_then(|caller| maintenance.and(dry_run).map(|()| caller))
    {
        Ok(Some(caller)) => {
            if route.is_renewing {
                cookies = renewal::renew(&app, request.headers(), &caller).await;
            }
            let attached = attach_context(route, &app, caller, request).await;
            attached.map(|(request, permits)| (request, permits, None))
        }
        Ok(None) => {
            let (request, body) = AnonymousBody::limit(request, client);
            Ok((request, None, Some(body)))
        }
        Err(error) => Err(error),
    };
    let mut response = match authorized {
        // What was read of a body may be in memory; it counts until there is a response.
        Ok((request, None, _body)) => next.run(request).await,
        Ok((request, Some(permits), _)) => next
            .run(request)
            .await
            .map(|body| ExportBody::hold(body, permits.0, permits.1)),
        Err(error) => (route.render_error)(error),
    };
    for cookie in cookies.iter().filter_map(|cookie| HeaderValue::from_str(cookie).ok()) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    if let Some(meter) = meter {
        set_rate_limit_headers(&meter, response.headers_mut());
    }
    response
}

/// Authenticates and authorizes the caller. Public routes need no session, but a session that is present is counted;
/// document server routes ignore cookies and verify their own token. `meter` is set to the rate limit of the response
/// headers.
async fn authorize(
    route: Route,
    app: &App,
    mut credentials: RequestCredentials,
    method: &Method,
    meter: &mut Option<Meter>,
) -> Result<Option<Caller>> {
    let Route { access, limits, .. } = route;
    if let (Some(scope), Some(_)) = (route.tokens, &credentials.api_token) {
        return authorize_token(route, scope, app, credentials, method, meter)
            .await
            .map(Some);
    }
    let is_public = matches!(access, Access::Anyone | Access::DocumentServer);
    let Some(rate) = limits.rate(access, method) else {
        // The route is public and not counted, so no caller is needed.
        return credentials.is_well_formed.then_some(None).ok_or(Error::NotFound);
    };
    let rate_limiter = app.rate_limiter();
    let exhausted = credentials
        .token
        .as_deref()
        .and_then(|token| rate_limiter.exhausted(rate, token));
    if let Some(exhausted) = exhausted {
        *meter = Some(exhausted);
        return Err(rate_limited(&exhausted));
    }
    let facts = match auth::find_session(app.authenticator(), &mut credentials).await {
        // A public route is served even when the session look-up fails.
        Err(error) if is_public => {
            tracing::warn!(%error, "session look-up failed on public route");
            None
        }
        facts => facts?,
    };
    let own = match &facts {
        None => rate_limiter.check_address(&credentials.address),
        Some(facts) => {
            let user = &facts.user.id;
            let default_status = rate_limiter.check_user(rate, user);
            if let (Some(default_status), Some(token)) = (&default_status, &credentials.token)
                && default_status.is_refused
            {
                rate_limiter.remember_exhausted(rate, token, *default_status);
            }
            let own = limits
                .user_rate()
                .filter(|_| default_status.is_none_or(|default_status| !default_status.is_refused));
            let own = own.and_then(|own| rate_limiter.check_user(own, user));
            // Of two limits, the response shows that of the route.
            *meter = own.or(default_status);
            *meter
        }
    };
    if let Some(own) = own.filter(|own| own.is_refused) {
        return Err(rate_limited(&own));
    }
    let is_well_formed = credentials.is_well_formed;
    let lacks_factor = facts.as_ref().is_some_and(|facts| facts.is_second_factor_missing);
    if lacks_factor && !route.is_served_without_factor {
        credentials.origin?;
        return Err(Error::SecondFactorRequired);
    }
    let caller = if is_public {
        facts.map(|facts| auth::caller(facts, credentials.request_id))
    } else {
        Some(auth::authenticate(credentials, facts, access)?)
    };
    is_well_formed.then_some(caller).ok_or(Error::NotFound)
}

/// Authenticates and authorizes a program with an API token. Each token has the rate limit of a user; a token that is
/// not valid counts as a request without a session.
async fn authorize_token(
    route: Route,
    scope: TokenScope,
    app: &App,
    credentials: RequestCredentials,
    method: &Method,
    meter: &mut Option<Meter>,
) -> Result<Caller> {
    let facts = match &credentials.api_token {
        Some(presented) => app.authenticator().find_api_token(presented).await?,
        None => None,
    };
    let rate_limiter = app.rate_limiter();
    let status = match &facts {
        None => rate_limiter.check_address(&credentials.address),
        Some(facts) => {
            let holder = UserId::new(format!("token {}", facts.token.id));
            let rate = route.limits.rate(route.access, method);
            *meter = rate.and_then(|rate| rate_limiter.check_user(rate, &holder));
            *meter
        }
    };
    if let Some(status) = status.filter(|status| status.is_refused) {
        return Err(rate_limited(&status));
    }
    let is_well_formed = credentials.is_well_formed;
    let caller = auth::api_token::authenticate_token(credentials, facts, scope, method)?;
    is_well_formed.then_some(caller).ok_or(Error::NotFound)
}

/// The permits of a request: one of the concurrency limit until the response was computed, and one of the user's
/// exports until the response was read.
type RequestPermits = (Permit<TenantKey>, Option<Permit<UserId>>);

/// Attaches the caller and the request context, and acquires what only authorized requests use up: the shared rate of
/// the organization, an export of the user, and a permit for long-running operations.
async fn attach_context(
    route: Route,
    app: &App,
    mut caller: Caller,
    mut request: Request,
) -> Result<(Request, Option<RequestPermits>)> {
    let has_body = !request.method().is_safe() && route.access.needs_organization();
    if caller.effective_role == EffectiveRole::SuperAdmin
        && let Some(uri) = auth::resource_tenant::without_organization(request.uri())
    {
        *request.uri_mut() = uri;
    }
    if caller.is_cross_tenant() && has_body {
        request = resolve_tenant_from_body(app, &mut caller, request).await?;
    }
    if let (Some(rate), Some(context)) = (route.limits.organization_rate(), caller.context()) {
        let limit = app.rate_limiter().limit(rate);
        // A preview is not counted: a file is checked until it has no errors. Concurrent previews share the permits.
        if limit.is_some() && !DryRun::of(request.uri()).is_on() {
            let take = move |tx: &mut WriteTx<'_>| rates::consume(tx, &format!("{rate:?}:"), limit);
            app.transactor().write(context, take).await?;
        }
    }
    let export_permit = if route.limits == RouteLimits::Export {
        app.rate_limiter().acquire_export(&caller.user.id)?
    } else {
        None
    };
    let permits = match route.limits.operation_kind() {
        Some(kind) => {
            let organization = caller.tenant.as_ref().map(Tenant::id);
            Some((app.tenant_semaphore().acquire(kind, organization).await?, export_permit))
        }
        None => None,
    };
    let mut request = idempotency::attach(request).await?;
    request.extensions_mut().insert(caller);
    Ok((request, permits))
}

/// Resolves the organization of a SUPER_ADMIN without one from the body. Errors in the body are ignored here; the
/// handler reports them.
async fn resolve_tenant_from_body(app: &App, caller: &mut Caller, request: Request) -> Result<Request> {
    if !valid::is_json(request.headers()) {
        return Ok(request);
    }
    let (mut parts, body) = request.into_parts();
    let mut bytes = read_body(body, valid::JSON_LIMIT).await?;
    if let Ok(object) = serde_json::from_slice(&bytes)
        && let Some(resource) = auth::resource_tenant::from_body(&object)
    {
        let is_organization = matches!(resource, ResourceRef::Organization(_));
        caller.set_tenant(app.authenticator().resolve_tenant(resource).await?);
        if is_organization {
            bytes = serde_json::to_vec(&auth::resource_tenant::body_without_organization(object))?.into();
            parts.headers.insert(header::CONTENT_LENGTH, bytes.len().into());
        }
    }
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

fn rate_limited(meter: &Meter) -> Error {
    Error::RateLimited {
        retry_after: u64::try_from(meter.resets_in).unwrap_or(1).max(1),
    }
}

/// Sets the `RateLimit-*` headers of the response.
fn set_rate_limit_headers(meter: &Meter, headers: &mut HeaderMap) {
    for (name, value) in [
        ("ratelimit-limit", meter.limit),
        ("ratelimit-remaining", meter.remaining),
        ("ratelimit-reset", meter.resets_in),
    ] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from(value));
    }
}
