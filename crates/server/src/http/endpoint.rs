//! A route and who may call it, declared together: there is no `add` without an [`Access`]. The guard of each route walks
//! the specification's order: origin, authenticate, resolve tenant, authorize.

use axum::body::Body;
use axum::extract::Request;
use axum::http::header;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use model::access::{Access, Standing};
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{HttpMethod, Ref, ResponseBuilder};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use super::auth as auth_words;
use super::context::App;
use super::valid;
use crate::auth::{self, Caller, Claim};
use crate::error::{Error, Result};
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
    pub fn add(mut self, access: Access, (schemas, mut paths, router): UtoipaMethodRouter<App>) -> Self {
        for (path, item) in &mut paths.paths {
            for (method, operation) in operations(item) {
                self.rows.push(Row {
                    method: name(&method),
                    path: path.clone(),
                    access,
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
        let guarded = router.route_layer(from_fn(move |request: Request, next: Next| {
            guard(access, refuse, request, next)
        }));
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

async fn guard(access: Access, refuse: fn(Error) -> Response, mut request: Request, next: Next) -> Response {
    let app = request
        .extensions()
        .get::<App>()
        .cloned()
        .expect("router.rs puts the app into every request");
    let claim = app.gate().claim(&request, app.frontend_origin());
    let admitted = match admit(access, app.clone(), claim).await {
        Ok(Some(mut caller)) => {
            let has_body = !request.method().is_safe() && access.needs_organization();
            if caller.standing == Standing::SuperAdmin
                && let Some(uri) = auth::home::without_organization(request.uri())
            {
                *request.uri_mut() = uri;
            }
            let settled = if caller.is_everywhere() && has_body {
                settle(&app, &mut caller, request).await
            } else {
                Ok(request)
            };
            settled.map(|mut request| {
                request.extensions_mut().insert(caller);
                request
            })
        }
        Ok(None) => Ok(request),
        Err(error) => Err(error),
    };
    match admitted {
        Ok(request) => next.run(request).await,
        Err(error) => refuse(error),
    }
}

/// Lets the body say in which organization a SUPER_ADMIN without one writes. What is wrong with the body is said where it
/// is checked; here it only is not understood.
async fn settle(app: &App, caller: &mut Caller, request: Request) -> Result<Request> {
    if !valid::is_json(request.headers()) {
        return Ok(request);
    }
    let (mut parts, body) = request.into_parts();
    let mut bytes = valid::read_body(body, valid::JSON_LIMIT).await?;
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

/// The caller, where the route needs one. Public routes need no session; document-server routes ignore cookies and
/// verify their own token.
async fn admit(access: Access, app: App, claim: Claim) -> Result<Option<Caller>> {
    if matches!(access, Access::Anyone | Access::DocumentServer) {
        return Ok(None);
    }
    auth::authenticate(app.gate(), claim, access).await.map(Some)
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
