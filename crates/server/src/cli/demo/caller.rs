//! People of the demo as callers of the service: everything that happens in the demo school comes through the doors that
//! everybody uses.

use anyhow::bail;
use model::id::{OrganizationId, SessionId};
use reqwest::multipart::{Form, Part};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::Value;

use super::people::Person;
use crate::clock;
use crate::store::Store;
use crate::store::platform::PlatformProof;
use crate::store::platform::sessions::Session;

/// The running service, seen from outside.
#[derive(Clone)]
pub struct Service {
    http: Client,
    store: Store,
    base: String,
    origin: String,
    secret: String,
}

impl Service {
    /// The service at the first address, for pages of the second, which signs its cookies with this secret.
    pub fn new(store: Store, [base, origin]: [&str; 2], secret: &str) -> anyhow::Result<Self> {
        Ok(Self {
            http: Client::builder().no_proxy().build()?,
            store,
            base: base.to_owned(),
            origin: origin.to_owned(),
            secret: secret.to_owned(),
        })
    }

    /// Lets somebody in, for so many seconds.
    pub async fn enter(&self, person: &Person, organization: &OrganizationId, seconds: i64) -> anyhow::Result<Caller> {
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
        };
        let signed = better_auth::cookie::sign(&self.secret, &session.token);
        self.store
            .platform_write(PlatformProof::command_line(), move |platform| {
                platform.insert_session(&session)
            })
            .await
            .map_err(anyhow::Error::new)?;
        Ok(Caller {
            http: self.http.clone(),
            base: self.base.clone(),
            origin: self.origin.clone(),
            cookie: format!("better-auth.session_token={signed}"),
        })
    }
}

/// Somebody of the demo who calls the service as a browser would.
#[derive(Clone)]
pub struct Caller {
    http: Client,
    base: String,
    origin: String,
    cookie: String,
}

impl Caller {
    /// Asks.
    pub async fn get(&self, path: &str) -> anyhow::Result<Value> {
        send(path, self.request(Method::GET, path)).await
    }

    /// Makes or does something.
    pub async fn post(&self, path: &str, body: Value) -> anyhow::Result<Value> {
        send(path, self.request(Method::POST, path).json(&body)).await
    }

    /// Writes something in its place.
    pub async fn put(&self, path: &str, body: Value) -> anyhow::Result<Value> {
        send(path, self.request(Method::PUT, path).json(&body)).await
    }

    /// Changes something.
    pub async fn patch(&self, path: &str, body: Value) -> anyhow::Result<Value> {
        send(path, self.request(Method::PATCH, path).json(&body)).await
    }

    /// Sends a file, with the fields that go along.
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

    /// A request below `/api` with the person's cookie.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}/api{path}", self.base));
        request.header("cookie", &self.cookie).header("origin", &self.origin)
    }
}

async fn send(path: &str, request: RequestBuilder) -> anyhow::Result<Value> {
    let answer = request.send().await?;
    let (status, body) = (answer.status(), answer.text().await?);
    if !status.is_success() {
        bail!("{path} answered {status}: {body}");
    }
    Ok(serde_json::from_str(&body)?)
}

/// The id of what the service answered.
pub fn id(object: &Value) -> &str {
    object["id"].as_str().unwrap_or_default()
}

/// The ids of people.
pub fn ids(people: &[Person]) -> Vec<&str> {
    people.iter().map(|person| person.id.as_str()).collect()
}

/// A document with these paragraphs under a title.
pub fn page(title: &str, paragraphs: &[&str]) -> anyhow::Result<Vec<u8>> {
    let mut lines = vec![title.to_owned(), String::new()];
    lines.extend(paragraphs.iter().map(|&paragraph| paragraph.to_owned()));
    document_server_simulator::write_document(&document_server_simulator::blank_document("docx"), &lines)
        .map_err(|_| anyhow::anyhow!("the blank document can be written"))
}
