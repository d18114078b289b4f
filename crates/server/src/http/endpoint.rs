//! A route and who may call it, declared together: there is no `add` without an [`Access`]. The guard of each route walks
//! the specification's order: rate, origin, authenticate, resolve tenant, authorize.
//!
//! Whose rate it is shows only when the session was looked up, so that comes first; but a token whose owner has used up
//! his window is refused without a look-up. Who has no session is counted with his address.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use model::access::{Access, Standing};
use model::rate::Meter;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{HttpMethod, Ref, ResponseBuilder};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use super::auth as auth_words;
use super::context::App;
use super::pace::{self, Holding, Waiting};
use super::terms::Terms;
use super::valid;
use crate::actions::rates;
use crate::auth::rates::Exporting;
use crate::auth::{self, Caller, Claim};
use crate::changes;
use crate::error::{Error, Result};
use crate::store::Work;
use crate::store::platform::homes::Home;

/// One row of the table of routes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The method, upper-case.
    pub method: &'static str,
    /// The path below `/api`, with `{names}`.
    pub path: String,
    /// Who may call it.
    pub access: Access,
    /// What is counted of it and how long it may take.
    pub terms: Terms,
}

/// The routes of one noun with their access.
pub struct Endpoints {
    noun: &'static str,
    rows: Vec<Row>,
    router: OpenApiRouter<App>,
}

impl Endpoints {
    /// Begins the routes of a noun; the noun is their tag in the document.
    pub fn new(noun: &'static str) -> Self {
        Self {
            noun,
            rows: Vec::new(),
            router: OpenApiRouter::default(),
        }
    }

    /// Adds the handlers of one path and says who may call them.
    #[must_use]
    pub fn add(self, access: Access, routes: UtoipaMethodRouter<App>) -> Self {
        self.add_on(Terms::Usual, access, routes)
    }

    /// The same for routes that are served on other terms than usual.
    #[must_use]
    pub fn add_on(
        mut self,
        terms: Terms,
        access: Access,
        (schemas, mut paths, router): UtoipaMethodRouter<App>,
    ) -> Self {
        for (path, item) in &mut paths.paths {
            for (method, operation) in operations(item) {
                self.rows.push(Row {
                    method: name(&method),
                    path: path.clone(),
                    access,
                    terms,
                });
                describe(operation, self.noun, access);
            }
        }
        // The official client of `/auth` knows refusals by the library's words.
        let refuse: fn(Error) -> Response = if self.noun == "auth" {
            auth_words::refuse
        } else {
            Error::into_response
        };
        let route = Route { access, terms, refuse };
        let guarded = router.route_layer(from_fn(move |request: Request, next: Next| guard(route, request, next)));
        self.router = self.router.routes((schemas, paths, guarded));
        self
    }

    /// All of another noun's routes after these.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.rows.extend(other.rows);
        self.router = self.router.merge(other.router);
        self
    }

    /// The router with its document, and the table of rows.
    pub fn into_parts(self) -> (OpenApiRouter<App>, Vec<Row>) {
        (self.router, self.rows)
    }
}

/// What the guard knows of its route.
#[derive(Clone, Copy)]
struct Route {
    access: Access,
    terms: Terms,
    refuse: fn(Error) -> Response,
}

async fn guard(route: Route, request: Request, next: Next) -> Response {
    let waiting = request.extensions().get::<Waiting>().cloned().unwrap_or_default();
    let answer = serve(route, request, next);
    let answered = pace::within(route.terms.time(), &waiting, answer).await;
    answered.unwrap_or_else(|error| {
        tracing::warn!("a request took too long and was cut off");
        (route.refuse)(error)
    })
}

async fn serve(route: Route, request: Request, next: Next) -> Response {
    let app = request
        .extensions()
        .get::<App>()
        .cloned()
        .expect("router.rs puts the app into every request");
    let claim = app.gate().claim(&request, app.frontend_origin());
    let mut meter = None;
    let admitted = match admit(route, &app, claim, request.method(), &mut meter).await {
        Ok(caller) => at_home(route.access, &app, caller, request).await,
        Err(error) => Err(error),
    };
    let outcome = match admitted {
        Ok((caller, request)) => turn(route, &app, caller).await.map(|admitted| (admitted, request)),
        Err(error) => Err(error),
    };
    let mut response = match outcome {
        Ok(((caller, exporting), mut request)) => {
            if let Some(caller) = caller {
                request.extensions_mut().insert(caller);
            }
            let response = next.run(request).await;
            match exporting {
                Some(exporting) => response.map(|body| Holding::keep(body, exporting)),
                None => response,
            }
        }
        Err(error) => (route.refuse)(error),
    };
    if let Some(meter) = meter {
        show(&meter, response.headers_mut());
    }
    response
}

/// Puts a SUPER_ADMIN without an organization into the one his address or his body names.
async fn at_home(
    access: Access,
    app: &App,
    caller: Option<Caller>,
    mut request: Request,
) -> Result<(Option<Caller>, Request)> {
    let Some(mut caller) = caller else {
        return Ok((None, request));
    };
    if caller.standing == Standing::SuperAdmin
        && let Some(uri) = auth::home::without_organization(request.uri())
    {
        *request.uri_mut() = uri;
    }
    let has_body = !request.method().is_safe() && access.needs_organization();
    if caller.is_everywhere() && has_body {
        request = settle(app, &mut caller, request).await?;
    }
    Ok((Some(caller), request))
}

/// Lets the body say in which organization a SUPER_ADMIN without one writes. What is wrong with the body is said where it
/// is checked; here it only is not understood.
async fn settle(app: &App, caller: &mut Caller, request: Request) -> Result<Request> {
    if !valid::is_json(request.headers()) {
        return Ok(request);
    }
    let (mut parts, body) = request.into_parts();
    let mut bytes = pace::read_body(body, valid::JSON_LIMIT).await?;
    if let Ok(object) = serde_json::from_slice(&bytes)
        && let Some(home) = auth::home::of_body(&object)
    {
        let is_outright = matches!(home, Home::Organization(_));
        caller.go_home(app.gate().home(home).await?);
        if is_outright {
            bytes = serde_json::to_vec(&auth::home::body_without_organization(object))?.into();
            parts.headers.insert(header::CONTENT_LENGTH, bytes.len().into());
        }
    }
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

/// The caller, if he may be served. Public routes need no session, but who has one is counted by it; document-server
/// routes ignore cookies and verify their own token. `meter` is what his answer says of his rate.
async fn admit(
    route: Route,
    app: &App,
    mut claim: Claim,
    method: &Method,
    meter: &mut Option<Meter>,
) -> Result<Option<Caller>> {
    let Route { access, terms, .. } = route;
    let is_public = matches!(access, Access::Anyone | Access::DocumentServer);
    let Some(rate) = terms.rate(access, method) else {
        // Nothing is counted and, as it is public, nobody has to be known.
        return claim.is_well_formed.then_some(None).ok_or(Error::NotFound);
    };
    let rates = app.rates();
    let spent = claim.token.as_deref().and_then(|token| rates.spent(rate, token));
    if let Some(spent) = spent {
        *meter = Some(spent);
        return Err(refused(&spent));
    }
    let facts = match auth::look_up(app.gate(), &mut claim).await {
        // A public route answers also when nobody can be looked up.
        Err(error) if is_public => {
            tracing::warn!(%error, "the caller of a public route could not be looked up");
            None
        }
        facts => facts?,
    };
    let own = match &facts {
        None => rates.address(&claim.address),
        Some(facts) => {
            let user = &facts.user.id;
            let usual = rates.person(rate, user);
            if let (Some(usual), Some(token)) = (&usual, &claim.token)
                && usual.is_refused
            {
                rates.remember_spent(rate, token, *usual);
            }
            let own = terms.own_rate().filter(|_| usual.is_none_or(|usual| !usual.is_refused));
            let own = own.and_then(|own| rates.person(own, user));
            // Of two limits the answer tells the one that is the route's own.
            *meter = own.or(usual);
            *meter
        }
    };
    if let Some(own) = own.filter(|own| own.is_refused) {
        return Err(refused(&own));
    }
    let is_well_formed = claim.is_well_formed;
    let caller = if is_public {
        facts.map(|facts| auth::caller(facts, claim.request_id))
    } else {
        Some(auth::authenticate(claim, facts, access)?)
    };
    is_well_formed.then_some(caller).ok_or(Error::NotFound)
}

/// Takes what only those who were admitted use up: a turn of the whole school, a place among the own exports.
async fn turn(route: Route, app: &App, caller: Option<Caller>) -> Result<(Option<Caller>, Option<Exporting>)> {
    let Some(known) = &caller else {
        return Ok((caller, None));
    };
    if let (Some(rate), Some(standpoint)) = (route.terms.shared_rate(), known.standpoint()) {
        let limit = app.rates().limit(rate);
        if limit.is_some() {
            let take = move |work: &mut Work<'_>| rates::take(work, &format!("{rate:?}"), limit);
            changes::perform(app.store(), app.bus(), standpoint, take).await?;
        }
    }
    let exporting = if route.terms == Terms::Export {
        app.rates().begin_export(&known.user.id)?
    } else {
        None
    };
    Ok((caller, exporting))
}

fn refused(meter: &Meter) -> Error {
    Error::RateLimited {
        retry_after: u64::try_from(meter.resets_in).unwrap_or(1).max(1),
    }
}

/// Tells a signed-in caller how much of his rate is left.
fn show(meter: &Meter, headers: &mut HeaderMap) {
    for (name, value) in [
        ("ratelimit-limit", meter.limit),
        ("ratelimit-remaining", meter.remaining),
        ("ratelimit-reset", meter.resets_in),
    ] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from(value));
    }
}

fn operations(item: &mut PathItem) -> Vec<(HttpMethod, &mut Operation)> {
    [
        (HttpMethod::Get, &mut item.get),
        (HttpMethod::Post, &mut item.post),
        (HttpMethod::Put, &mut item.put),
        (HttpMethod::Patch, &mut item.patch),
        (HttpMethod::Delete, &mut item.delete),
    ]
    .into_iter()
    .filter_map(|(method, operation)| operation.as_mut().map(|operation| (method, operation)))
    .collect()
}

fn name(method: &HttpMethod) -> &'static str {
    match method {
        HttpMethod::Get => "GET",
        HttpMethod::Post => "POST",
        HttpMethod::Put => "PUT",
        HttpMethod::Patch => "PATCH",
        HttpMethod::Delete => "DELETE",
        _ => "OTHER",
    }
}

/// Writes the access and the errors every route of that access can answer into the document.
fn describe(operation: &mut Operation, noun: &str, access: Access) {
    operation.tags = Some(vec![noun.to_owned()]);
    let extension = Extensions::builder().add("x-access", format!("{access:?}")).build();
    operation.extensions.get_or_insert_default().merge(extension);
    let scheme = match access {
        Access::Anyone => None,
        Access::DocumentServer => Some("documentServer"),
        _ => Some("session"),
    };
    if let Some(scheme) = scheme {
        operation.security = Some(vec![SecurityRequirement::new(scheme, Vec::<String>::new())]);
    }
    let mut standard = vec![("400", "The request does not fit"), ("429", "Too many requests")];
    if access != Access::Anyone {
        standard.extend([
            ("401", "No session, or no token"),
            ("403", "Not for this caller"),
            ("404", "Unknown or invisible"),
        ]);
    }
    for (status, text) in standard {
        operation
            .responses
            .responses
            .entry(status.to_owned())
            .or_insert_with(|| {
                let content = utoipa::openapi::Content::new(Some(Ref::from_schema_name("ErrorBody")));
                ResponseBuilder::new()
                    .description(text)
                    .content("application/json", content)
                    .build()
                    .into()
            });
    }
}
