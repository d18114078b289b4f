//! A route, who may call it and on which terms, declared together: there is no `add` without an [`Access`]. What stands
//! before each route is its [`guard`](super::guard).

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use model::access::Access;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{HttpMethod, Ref, ResponseBuilder};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use super::auth as auth_words;
use super::context::App;
use super::guard::{Route, guard};
use super::terms::Terms;
use crate::error::Error;

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
