//! A route, its access rule and its limits, declared together: there is no `add` without an [`Access`]. Each route is
//! wrapped in its [`guard`](super::guard).

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use domain::access::Access;
use domain::api_token::TokenScope;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{Operation, ParameterIn, PathItem};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{HttpMethod, Ref, RefOr};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use super::auth as auth_routes;
use super::context::App;
use super::dry_run::DryRunMethods;
use super::guard::{Route, guard};
use super::maintenance;
use super::route_limits::RouteLimits;
use super::second_factor;
use common::error::Error;

/// Who may call a route: users by their role, and programs whose API token has the scope. `Admin.or(Grades)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteAccess {
    pub users: Access,
    /// The scope that opens the route to API tokens.
    pub tokens: Option<TokenScope>,
}

impl From<Access> for RouteAccess {
    fn from(users: Access) -> Self {
        Self { users, tokens: None }
    }
}

/// Opens a route to API tokens.
pub trait OrTokens {
    /// Returns the access of users and of API tokens with this scope, which act as administrators.
    fn or(self, scope: TokenScope) -> RouteAccess;
}

impl OrTokens for Access {
    fn or(self, scope: TokenScope) -> RouteAccess {
        RouteAccess {
            users: self,
            tokens: Some(scope),
        }
    }
}

/// A row in the table of routes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The method in upper case.
    pub method: &'static str,
    /// The path template below `/api`.
    pub path: String,
    /// Who may call the route.
    pub access: Access,
    /// The scope of API tokens that may call the route.
    pub tokens: Option<TokenScope>,
    /// Rate limit, permits and timeout of the route.
    pub limits: RouteLimits,
    /// The noun of the route, its tag in the OpenAPI document.
    pub noun: &'static str,
}

/// Routes with their access rules and limits.
#[derive(Default)]
pub struct Endpoints {
    tag: &'static str,
    rows: Vec<Row>,
    /// Boxed, because every row of the table moves it.
    router: Box<OpenApiRouter<App>>,
}

impl Endpoints {
    /// Adds the routes of a noun, which is their tag in the OpenAPI document. Each noun has a frame of its own on the stack:
    /// in one expression, the intermediate values of all routes would need more than a megabyte.
    #[must_use]
    pub fn noun(mut self, noun: &'static str, add: impl FnOnce(Self) -> Self) -> Self {
        self.tag = noun;
        add(self)
    }

    /// Adds the handlers of one path: `GET PATCH /users/me`.
    ///
    /// # Panics
    ///
    /// If the methods or the path differ from those in the annotations of the handlers.
    #[must_use]
    pub fn add(
        mut self,
        access: impl Into<RouteAccess>,
        limits: RouteLimits,
        methods_and_path: &str,
        (schemas, mut paths, router): UtoipaMethodRouter<App>,
    ) -> Self {
        let RouteAccess { users: access, tokens } = access.into();
        let mut annotated = Vec::new();
        let mut dry_runs = DryRunMethods::default();
        for (path, item) in &mut paths.paths {
            for (method, operation) in operations(item) {
                dry_runs.add(name(&method), operation);
                annotated.push((name(&method), path.clone()));
                self.rows.push(Row {
                    method: name(&method),
                    path: path.clone(),
                    access,
                    tokens,
                    limits,
                    noun: self.tag,
                });
                describe(
                    operation,
                    self.tag,
                    name(&method),
                    path,
                    RouteAccess { users: access, tokens },
                );
            }
        }
        let (methods, path) = methods_and_path.rsplit_once(' ').unwrap_or_default();
        let mut declared: Vec<_> = methods.split(' ').map(|method| (method, path.to_owned())).collect();
        declared.sort_unstable();
        annotated.sort_unstable();
        assert_eq!(declared, annotated, "a row of routes.rs differs from its handlers");
        // The official client of `/auth` expects errors in the library's format.
        let render_error: fn(Error) -> Response = if self.tag == "auth" {
            auth_routes::render_error
        } else {
            Error::into_response
        };
        let route = Route {
            access,
            tokens,
            limits,
            dry_runs,
            in_maintenance: maintenance::served(access, path),
            is_served_without_factor: second_factor::is_served(access, path),
            is_renewing: self.tag != "auth" && !matches!(access, Access::Anyone | Access::DocumentServer),
            render_error,
        };
        let guarded = router.route_layer(from_fn(move |request: Request, next: Next| guard(route, request, next)));
        *self.router = std::mem::take(&mut *self.router).routes((schemas, paths, guarded));
        self
    }

    /// Returns the router with its OpenAPI document, and the table of routes.
    pub fn into_parts(self) -> (OpenApiRouter<App>, Vec<Row>) {
        (*self.router, self.rows)
    }
}

/// The operations of a path.
pub(super) fn operations(item: &mut PathItem) -> Vec<(HttpMethod, &mut Operation)> {
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

/// The name of a method in upper case.
pub(super) fn name(method: &HttpMethod) -> &'static str {
    match method {
        HttpMethod::Get => "GET",
        HttpMethod::Post => "POST",
        HttpMethod::Put => "PUT",
        HttpMethod::Patch => "PATCH",
        HttpMethod::Delete => "DELETE",
        _ => "OTHER",
    }
}

/// Adds tag, access rule, operation id and path parameters to an operation of the OpenAPI document. The error responses
/// are added in `openapi.rs`.
fn describe(operation: &mut Operation, noun: &str, method: &str, path: &str, access: RouteAccess) {
    let RouteAccess { users: access, tokens } = access;
    operation.tags = Some(vec![noun.to_owned()]);
    let extension = Extensions::builder().add("x-access", format!("{access:?}")).build();
    operation.extensions.get_or_insert_default().merge(extension);
    // Handlers of different nouns have equal names; client generators need a unique id per operation.
    operation.operation_id = Some(operation_name(method, path));
    for parameter in operation.parameters.iter_mut().flatten() {
        if let RefOr::T(parameter) = parameter
            && parameter.parameter_in == ParameterIn::Path
            && parameter.description.is_none()
        {
            parameter.description = describe_id(path, &parameter.name);
        }
    }
    if access.needs_organization() {
        let shown = RefOr::Ref(Ref::new("#/components/parameters/ShownOrganization"));
        operation.parameters.get_or_insert_default().push(shown);
    }
    let scheme = match access {
        Access::Anyone => None,
        Access::DocumentServer => Some("documentServer"),
        _ => Some("session"),
    };
    operation.security = Some(match scheme {
        Some(scheme) => vec![SecurityRequirement::new(scheme, Vec::<String>::new())],
        None => Vec::new(),
    });
    if let (Some(scope), Some(security)) = (tokens, &mut operation.security) {
        security.push(SecurityRequirement::new("apiToken", Vec::<String>::new()));
        let extension = Extensions::builder().add("x-token-scope", scope.as_str()).build();
        operation.extensions.get_or_insert_default().merge(extension);
    }
}

/// The operation id, unique because method and path are: `get_classes_id_students`.
fn operation_name(method: &str, path: &str) -> String {
    let words = path.split(|character: char| !character.is_ascii_alphanumeric());
    let words = words.filter(|word| !word.is_empty()).map(str::to_owned);
    let all: Vec<String> = std::iter::once(method.to_ascii_lowercase()).chain(words).collect();
    all.join("_")
}

/// The description of a path parameter: `{groupId}` is the id of a group, `{id}` that of the preceding segment. `None`
/// for other parameters, which have a description of their own.
fn describe_id(path: &str, name: &str) -> Option<String> {
    let what = if name == "id" {
        let before = path.split("/{id}").next()?.rsplit('/').next()?;
        match before {
            "classes" => "class".to_owned(),
            plural => plural.strip_suffix('s').unwrap_or(plural).replace('-', " "),
        }
    } else {
        let mut words = String::new();
        for character in name.strip_suffix("Id")?.chars() {
            if character.is_ascii_uppercase() {
                words.push(' ');
            }
            words.push(character.to_ascii_lowercase());
        }
        words
    };
    let article = if what.starts_with(['a', 'e', 'i', 'o']) {
        "an"
    } else {
        "a"
    };
    Some(format!("The id of {article} {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_id_is_described_by_its_object() {
        let of = |path, name| describe_id(path, name).unwrap_or_default();
        assert_eq!(of("/classes/{id}/teachers/{userId}", "id"), "The id of a class");
        assert_eq!(of("/classes/{id}/teachers/{userId}", "userId"), "The id of a user");
        assert_eq!(of("/workrooms/documents/{id}/pdf", "id"), "The id of a document");
        assert_eq!(of("/assignments/{id}", "id"), "The id of an assignment");
        assert_eq!(
            of("/a/{groupAssignmentId}", "groupAssignmentId"),
            "The id of a group assignment"
        );
        assert_eq!(describe_id("/x/{token}", "token"), None);
    }
}
