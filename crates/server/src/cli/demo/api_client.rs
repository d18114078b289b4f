//! An API client for the users of the demo: all demo content is created through the public API.

use anyhow::bail;
use domain::id::{OrganizationId, SessionId};
use reqwest::multipart::{Form, Part};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::Value;

use super::people::DemoUser;
use common::clock;
use db::Store;
use db::platform::CrossTenantReason;
use db::platform::sessions::Session;

/// A client for the running service.
#[derive(Clone)]
pub struct ClientFactory {
    http: Client,
    store: Store,
    base: String,
    origin: String,
    secret: String,
}

impl ClientFactory {
    /// Connects to the service at the first address, with the second as origin. The secret signs session cookies.
    pub fn new(store: Store, [base, origin]: [&str; 2], secret: &str) -> anyhow::Result<Self> {
        Ok(Self {
            http: Client::builder().no_proxy().build()?,
            store,
            base: base.to_owned(),
            origin: origin.to_owned(),
            secret: secret.to_owned(),
        })
    }

    /// Creates a session for a user, with a lifetime in seconds.
    pub async fn sign_in(
        &self,
        person: &DemoUser,
        organization: &OrganizationId,
        seconds: i64,
    ) -> anyhow::Result<ApiClient> {
        let now = clock::now();
        let session = Session {
            id: SessionId::new(clock::new_id()),
            token: better_auth::token::session_token(),
            user_id: person.id.clone(),
            expires_at: now.plus_seconds(seconds),
            created_at: now,
            updated_at: now,
            ip_address: None,
            user_agent: Some("groupwork demo".to_owned()),
            active_organization_id: Some(organization.clone()),
            impersonated_by: None,
            new_password_until: None,
            confirmed_at: None,
            sign_on: None,
        };
        let signed = better_auth::cookie::sign(&self.secret, &session.token);
        self.store
            .platform_write(CrossTenantReason::CommandLine, move |platform| {
                platform.insert_session(&session)
            })
            .await
            .map_err(anyhow::Error::new)?;
        Ok(ApiClient {
            http: self.http.clone(),
            base: self.base.clone(),
            origin: self.origin.clone(),
            cookie: format!("better-auth.session_token={signed}"),
        })
    }
}

/// A user of the demo who calls the API like a browser.
#[derive(Clone)]
pub struct ApiClient {
    http: Client,
    base: String,
    origin: String,
    cookie: String,
}

impl ApiClient {
    /// Sends a GET request.
    pub async fn get(&self, path: &str) -> anyhow::Result<Value> {
        send(path, self.request(Method::GET, path)).await
    }

    /// Sends a POST request.
    pub async fn post(&self, path: &str, body: Value) -> anyhow::Result<Value> {
        send(path, self.request(Method::POST, path).json(&body)).await
    }

    /// Sends a PUT request.
    pub async fn put(&self, path: &str, body: Value) -> anyhow::Result<Value> {
        send(path, self.request(Method::PUT, path).json(&body)).await
    }

    /// Sends a PATCH request.
    pub async fn patch(&self, path: &str, body: Value) -> anyhow::Result<Value> {
        send(path, self.request(Method::PATCH, path).json(&body)).await
    }

    /// Uploads a file with form fields.
    pub async fn upload(
        &self,
        path: &str,
        name: &str,
        bytes: Vec<u8>,
        fields: &[(&str, &str)],
    ) -> anyhow::Result<Value> {
        let mut form = Form::new();
        for (field, value) in fields {
            form = form.text((*field).to_owned(), (*value).to_owned());
        }
        let form = form.part("file", Part::bytes(bytes).file_name(name.to_owned()));
        send(path, self.request(Method::POST, path).multipart(form)).await
    }

    /// Builds a request below `/api` with the session cookie of the user.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}/api{path}", self.base));
        request.header("cookie", &self.cookie).header("origin", &self.origin)
    }
}

async fn send(path: &str, request: RequestBuilder) -> anyhow::Result<Value> {
    let response = request.send().await?;
    let (status, body) = (response.status(), response.text().await?);
    if !status.is_success() {
        bail!("{path} answered {status}: {body}");
    }
    Ok(serde_json::from_str(&body)?)
}

/// Returns the id in a response.
pub fn id(object: &Value) -> &str {
    object["id"].as_str().unwrap_or_default()
}

/// Returns the ids of users.
pub fn ids(people: &[DemoUser]) -> Vec<&str> {
    people.iter().map(|person| person.id.as_str()).collect()
}

/// Creates a document with a title and paragraphs.
pub fn page(title: &str, paragraphs: &[&str]) -> anyhow::Result<Vec<u8>> {
    let mut lines = vec![title.to_owned(), String::new()];
    lines.extend(paragraphs.iter().map(|&paragraph| paragraph.to_owned()));
    document_server_simulator::write_document(&document_server_simulator::blank_document("docx"), &lines)
        .map_err(|_| anyhow::anyhow!("the blank document can be written"))
}
