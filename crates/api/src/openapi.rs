//! Completes the OpenAPI document generated from the routes: title, version, security schemes, error responses and
//! examples. The examples are requests and responses recorded by the tests (`docs/examples.json`).

use std::collections::BTreeMap;

use domain::access::{MemberRole, PlatformRole};
use domain::activity::{Action, Category};
use domain::assignment::{AssignmentOrder, AssignmentStatus};
use domain::class::ClassStatus;
use domain::course::CourseStatus;
use domain::group_assignment::SubmissionState;
use domain::import::ImportMode;
use domain::organization::OrganizationStatus;
use domain::text::Search;
use serde::Deserialize;
use serde_json::Value;
use utoipa::openapi::example::ExampleBuilder;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::schema::Type;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    Content, Header, HttpMethod, InfoBuilder, LicenseBuilder, ObjectBuilder, OpenApi, Ref, RefOr, Required, Response,
    ResponseBuilder, Schema, ServerBuilder,
};
use utoipa::{PartialSchema, ToSchema};

use super::direct_messages::BoxName;
use super::dry_run::DryRun;
use super::endpoint::{Row, operations};
use super::error_codes::{self, RouteProperties};
use super::response::ErrorBody;
use super::second_factor;
use super::valid::Switch;
use super::variants;
use common::error::Problem;

/// The recorded examples.
#[derive(Deserialize)]
struct Examples {
    /// One exchange per route, by `METHOD /path`.
    routes: BTreeMap<String, RecordedExample>,
    /// One error body per code.
    errors: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
struct RecordedExample {
    request: Option<Value>,
    /// The media type of the request body, if there is one.
    sent: Option<String>,
    status: u16,
    media: String,
    answer: Value,
}

const EXAMPLES: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples.json"));

/// The media type of a file of any type.
const EVERY_MEDIA: &str = "*/*";

const ABOUT: &str = "The server on which a school's groups work together.\n\n\
    **Signing in.** `POST /auth/sign-in/email` sets the session cookie, then `POST /auth/organization/set-active` \
    sets the active organization. On this page both work with *Execute*: the browser stores the cookie and sends it with \
    every later request. Other clients store the `better-auth.session_token` cookie themselves.\n\n\
    **Errors.** Every error has a stable `code`, a message, and the id of the request; the codes of each route are \
    listed at its responses. An object that the caller may not see is 404; one that the caller may see but not change \
    is 403.\n\n\
    **Examples** are recorded from real responses; long lists are shortened to two entries.";

/// Completes the document generated from the routes.
pub fn complete(mut document: OpenApi, rows: &[Row]) -> OpenApi {
    let examples: Examples = serde_json::from_str(EXAMPLES).expect("docs/examples.json was written by the tests");
    document.info = InfoBuilder::new()
        .title("groupwork")
        .description(Some(ABOUT))
        .version(env!("CARGO_PKG_VERSION"))
        .license(Some(LicenseBuilder::new().name(env!("CARGO_PKG_LICENSE")).build()))
        .build();
    let server = ServerBuilder::new()
        .url("/api")
        .description(Some("This service"))
        .build();
    document.servers = Some(vec![server]);
    let mut tags: Vec<&str> = Vec::new();
    let mut error_responses = BTreeMap::new();
    for row in rows {
        if !tags.contains(&row.noun) {
            tags.push(row.noun);
        }
        let item = document.paths.paths.get_mut(&row.path).expect("every row has its path");
        for (method, operation) in operations(item) {
            if super::endpoint::name(&method) == row.method {
                remove_null_body(operation);
                if creates(operation, &row.path) {
                    describe_key(operation);
                }
                add_example(operation, examples.routes.get(&format!("{} {}", row.method, row.path)));
                describe_errors(operation, row, &examples.errors, &mut error_responses);
            }
        }
    }
    for item in document.paths.paths.values_mut() {
        describe_versions(item);
    }
    let created: Vec<String> = versioned_paths(&document);
    for (path, item) in &mut document.paths.paths {
        if let Some(created) = item.post.as_mut().filter(|_| created.contains(path)) {
            describe_etag(created, "201");
        }
    }
    document.tags = Some(
        tags.into_iter()
            .map(|tag| TagBuilder::new().name(tag).build())
            .collect(),
    );
    let components = document.components.get_or_insert_default();
    components.responses.extend(error_responses);
    components
        .schemas
        .insert(ErrorBody::name().into_owned(), ErrorBody::schema());
    components
        .schemas
        .insert(Problem::name().into_owned(), Problem::schema());
    components
        .parameters
        .insert("ShownOrganization".to_owned(), shown_organization().into());
    components.parameters.insert("IfMatch".to_owned(), if_match().into());
    components
        .parameters
        .insert("IdempotencyKey".to_owned(), idempotency_key().into());
    components.schemas.extend(parameter_schemas());
    variants::name_variants(&mut components.schemas);
    for schema in components.schemas.values_mut() {
        variants::use_any_of(schema);
    }
    let cookie = "The cookie set by sign-in. Its name has the prefix `__Secure-` if FRONTEND_URL is https.";
    components.add_security_scheme(
        "session",
        SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::with_description(
            "better-auth.session_token",
            cookie,
        ))),
    );
    let token = "An API token of an organization (docs/api-tokens.md). `x-token-scope` is the scope that the route needs; for GET, \
                 `read` also opens what `provisioning` opens.";
    components.add_security_scheme(
        "apiToken",
        SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::with_description("X-API-Key", token))),
    );
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .bearer_format("JWT")
        .description(Some(
            "A token of the document server, signed with DOCSERVER_JWT_SECRET; its own header is a setting.",
        ))
        .build();
    components.add_security_scheme("documentServer", SecurityScheme::Http(bearer));
    document
}

/// An operation that can return 412 accepts `If-Match`; it and the GET of its path return an `ETag`.
fn describe_versions(item: &mut PathItem) {
    let mut is_versioned = false;
    for (method, operation) in operations(item) {
        if operation.responses.responses.contains_key("412") {
            let condition = RefOr::Ref(Ref::new("#/components/parameters/IfMatch"));
            operation.parameters.get_or_insert_default().push(condition);
            if method != HttpMethod::Delete {
                describe_etag(operation, "200");
            }
            is_versioned = true;
        }
    }
    if let Some(read) = item.get.as_mut().filter(|_| is_versioned) {
        describe_etag(read, "200");
    }
}

/// The collection paths whose objects (`{id}`) have versions.
fn versioned_paths(document: &OpenApi) -> Vec<String> {
    let paths = document.paths.paths.iter().filter(|(_, item)| {
        let changed = item.patch.as_ref();
        changed.is_some_and(|operation| operation.responses.responses.contains_key("412"))
    });
    paths
        .filter_map(|(path, _)| path.strip_suffix("/{id}").map(str::to_owned))
        .collect()
}

fn describe_etag(operation: &mut Operation, status: &str) {
    if let Some(RefOr::T(response)) = operation.responses.responses.get_mut(status) {
        let version = ObjectBuilder::new().schema_type(Type::String).build();
        let mut header = Header::new(version);
        header.description = Some("The version of the object, for `If-Match`".to_owned());
        response.headers.insert("ETag".to_owned(), header.into());
    }
}

fn describe_key(operation: &mut Operation) {
    let key = RefOr::Ref(Ref::new("#/components/parameters/IdempotencyKey"));
    operation.parameters.get_or_insert_default().push(key);
    if let Some(RefOr::T(response)) = operation.responses.responses.get_mut("201") {
        let switch = ObjectBuilder::new().schema_type(Type::String).build();
        let mut header = Header::new(switch);
        header.description = Some("`true` if this is the response to an earlier request with the same key".to_owned());
        response
            .headers
            .insert("Idempotency-Replayed".to_owned(), header.into());
    }
}

/// The `Idempotency-Key` header of creating requests.
fn idempotency_key() -> Parameter {
    let key = ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(255))
        .pattern(Some("^[!-~]+$"))
        .build();
    ParameterBuilder::new()
        .name("Idempotency-Key")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "A unique value generated by the client for this request, for example a UUID. A request repeated with its key \
             within 24 hours creates nothing and receives the first response, without secrets. A key is valid for one user, \
             organization and route; another request with the same key is a 409 IDEMPOTENCY_KEY_REUSED.",
        ))
        .schema(Some(key))
        .build()
}

/// The `If-Match` header of mutating requests.
fn if_match() -> Parameter {
    let tags = ObjectBuilder::new().schema_type(Type::String).build();
    ParameterBuilder::new()
        .name("If-Match")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "The `ETag` of the object to change. If the object has another version, the response is 412 PRECONDITION_FAILED \
             with the current object, and nothing is changed. `*` matches any version; `W/` before a tag is ignored.",
        ))
        .schema(Some(tags))
        .build()
}

/// The `X-Organization-Id` header. Every route of an organization refers to this parameter.
fn shown_organization() -> Parameter {
    let id = ObjectBuilder::new().schema_type(Type::String).build();
    ParameterBuilder::new()
        .name("X-Organization-Id")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "The id of the organization that the client displays. If another organization or none is active, the response \
             is 409 ORGANIZATION_CHANGED, and nothing is done.",
        ))
        .schema(Some(id))
        .build()
}

/// The schemas of query parameters. utoipa collects only the schemas of bodies.
fn parameter_schemas() -> BTreeMap<String, RefOr<Schema>> {
    fn named<T: ToSchema>() -> (String, RefOr<Schema>) {
        (T::name().into_owned(), T::schema())
    }
    BTreeMap::from([
        named::<Search>(),
        named::<Action>(),
        named::<Category>(),
        named::<AssignmentOrder>(),
        named::<AssignmentStatus>(),
        named::<CourseStatus>(),
        named::<ClassStatus>(),
        named::<ImportMode>(),
        named::<MemberRole>(),
        named::<OrganizationStatus>(),
        named::<PlatformRole>(),
        named::<SubmissionState>(),
        named::<BoxName>(),
        named::<DryRun>(),
        named::<Switch>(),
    ])
}

/// An optional body may be absent but not `null`, as utoipa documents it.
fn remove_null_body(operation: &mut Operation) {
    let Some(RefOr::T(body)) = &mut operation.request_body else {
        return;
    };
    for content in body.content.values_mut() {
        if let RefOr::T(content) = content
            && let Some(RefOr::T(Schema::OneOf(choice))) = &mut content.schema
            && choice.items.iter().any(variants::is_null)
        {
            let mut others = std::mem::take(&mut choice.items).into_iter();
            content.schema = others.find(|item| !variants::is_null(item));
        }
    }
}

/// Adds the recorded exchange as example to the body and to the response with its status.
fn add_example(operation: &mut Operation, recorded: Option<&RecordedExample>) {
    let Some(RecordedExample {
        request,
        sent,
        status,
        media,
        answer,
    }) = recorded
    else {
        return;
    };
    if let Some(RefOr::T(body)) = &mut operation.request_body
        && let Some(RefOr::T(content)) = sent.as_ref().and_then(|sent| body.content.get_mut(sent))
    {
        content.example.clone_from(request);
    }
    if let Some(RefOr::T(response)) = operation.responses.responses.get_mut(&status.to_string()) {
        let is_file = response.content.contains_key(EVERY_MEDIA);
        // A handler without a declared response schema still has an example.
        let content = response
            .content
            .entry(if is_file { EVERY_MEDIA } else { media }.to_owned())
            .or_insert_with(|| RefOr::T(Content::default()));
        if let RefOr::T(content) = content {
            content.example = Some(answer.clone());
        }
    }
}

/// Replaces every error response of an operation by a described one, shared by all operations with the same codes.
fn describe_errors(
    operation: &mut Operation,
    row: &Row,
    recorded: &BTreeMap<String, Value>,
    error_responses: &mut BTreeMap<String, RefOr<Response>>,
) {
    let summary = operation.summary.clone().unwrap_or_default();
    for response in operation.responses.responses.values_mut() {
        if let RefOr::T(response) = response
            && response.description.is_empty()
        {
            response.description.clone_from(&summary);
        }
    }
    let mut by_status: BTreeMap<u16, Vec<String>> = BTreeMap::new();
    for (status, response) in &operation.responses.responses {
        if let (Ok(status @ 400..), RefOr::T(response)) = (status.parse(), response) {
            let named = error_codes::codes_in(&response.description).into_iter();
            by_status.entry(status).or_default().extend(named.map(str::to_owned));
        }
    }
    for (status, code) in error_codes::common_codes(route_properties(operation, row)) {
        by_status.entry(status).or_default().push(code.to_owned());
    }
    for (status, mut named) in by_status {
        named.sort();
        named.dedup();
        let described = operation.responses.responses.get(&status.to_string());
        let shaped = matches!(described, Some(RefOr::T(response)) if !response.content.is_empty());
        // An error with a body of its own (the readiness check) or without a code (a missing part) is kept.
        if named.is_empty() || shaped {
            continue;
        }
        let name = format!("{status}.{}", named.join("."));
        let shared = Ref::from_response_name(&name);
        error_responses
            .entry(name)
            .or_insert_with(|| error_response(&named, recorded).into());
        operation.responses.responses.insert(status.to_string(), shared.into());
    }
}

fn error_response(named: &[String], recorded: &BTreeMap<String, Value>) -> Response {
    let lines = named.iter().map(|code| {
        let meaning = error_codes::meaning(code).unwrap_or_default();
        format!("`{code}`: {meaning}")
    });
    let mut content = Content::new(Some(Ref::from_schema_name("ErrorBody")));
    for code in named {
        if let Some(body) = recorded.get(code) {
            let example = ExampleBuilder::new().value(Some(body.clone())).build();
            content.examples.insert(code.clone(), RefOr::T(example));
        }
    }
    ResponseBuilder::new()
        .description(lines.collect::<Vec<_>>().join("\n\n"))
        .content("application/json", content)
        .extensions(Some(Extensions::builder().add("x-codes", named).build()))
        .build()
}

/// Whether an operation accepts an `Idempotency-Key`: it creates an object within an organization.
fn creates(operation: &Operation, path: &str) -> bool {
    // A new organization has no keys yet, and its slug is unique.
    operation.responses.responses.contains_key("201") && path != "/tenants"
}

fn route_properties(operation: &Operation, row: &Row) -> RouteProperties {
    let reads =
        |media: &str| matches!(&operation.request_body, Some(RefOr::T(body)) if body.content.contains_key(media));
    RouteProperties {
        access: row.access,
        changes: row.method != "GET",
        creates: creates(operation, &row.path),
        json: reads("application/json"),
        form: reads("multipart/form-data"),
        auth: row.noun == "auth",
        tokens: row.tokens.is_some(),
        is_served_without_factor: second_factor::is_served(row.access, &row.path),
    }
}
