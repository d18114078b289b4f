//! A client that sends real HTTP requests for one user, and the response type.

use std::time::Duration;

use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::app::FRONTEND;
use super::openapi_check::{self, Exchange};

/// Builds an HTTP client for requests to the service, which keeps unused connections for 2 seconds. The service closes a
/// connection that has no request for 10 seconds after it was opened, or for a minute after a response; a request that
/// arrives while it does so is lost. reqwest opens connections that it may not need when several requests are sent at once.
pub fn http_client() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .no_proxy()
        .pool_idle_timeout(Duration::from_secs(2))
}

#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    cookie: Option<String>,
    headers: HeaderMap,
}

pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
    request: String,
}

impl Client {
    pub fn new(base: &str, cookie: Option<String>) -> Self {
        let http = http_client()
            .redirect(reqwest::redirect::Policy::none())
            // The service uses plain HTTP here, and loading the system certificates takes milliseconds.
            .tls_certs_only([])
            .build()
            .unwrap();
        Self {
            http,
            base: base.to_owned(),
            cookie,
            headers: HeaderMap::new(),
        }
    }

    /// Returns a copy of the client with one more header, which replaces a default header of the same name.
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut changed = self.clone();
        changed.headers.insert(
            HeaderName::try_from(name).unwrap(),
            HeaderValue::try_from(value).unwrap(),
        );
        changed
    }

    /// Returns the session cookie of this client.
    pub fn cookie(&self) -> Option<&str> {
        self.cookie.as_deref()
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(Method::POST, path, Some(body)).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.send(Method::PUT, path, Some(body)).await
    }

    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send(Method::PATCH, path, Some(body)).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, None).await
    }

    pub async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        let request = self.request(method, path);
        self.finish(match body {
            Some(body) => request.json(&body),
            None => request,
        })
        .await
    }

    /// Uploads one file with additional form fields.
    pub async fn upload(&self, path: &str, name: &str, bytes: Vec<u8>, fields: &[(&str, &str)]) -> Answer {
        let mut form = reqwest::multipart::Form::new();
        for (key, value) in fields {
            form = form.text((*key).to_owned(), (*value).to_owned());
        }
        let file = reqwest::multipart::Part::bytes(bytes).file_name(name.to_owned());
        let mut shown = json!({"file": name});
        for (key, value) in fields {
            shown[*key] = json!(value);
        }
        let request = self.request(Method::POST, path).multipart(form.part("file", file));
        self.finish_showing(request, Some(shown)).await
    }

    /// Returns a request builder with the user's cookie and origin set, for requests with a custom shape.
    pub fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let mut headers = HeaderMap::new();
        if let Some(cookie) = &self.cookie {
            headers.insert("cookie", HeaderValue::try_from(cookie).unwrap());
            headers.insert("origin", HeaderValue::from_static(FRONTEND));
        }
        headers.extend(self.headers.clone());
        self.http
            .request(method, format!("{}/api{path}", self.base))
            .headers(headers)
    }

    pub async fn finish(&self, request: reqwest::RequestBuilder) -> Answer {
        self.finish_showing(request, None).await
    }

    /// Sends a request; `shown` is the body to record in the API documentation, for forms.
    pub async fn finish_showing(&self, request: reqwest::RequestBuilder, shown: Option<Value>) -> Answer {
        let request = request.build().unwrap();
        let (method, url) = (request.method().clone(), request.url().clone());
        let body = request.body().and_then(|body| body.as_bytes());
        let shown = shown.or_else(|| serde_json::from_slice(body?).ok());
        let media = |headers: &HeaderMap| {
            let value = headers.get("content-type").and_then(|value| value.to_str().ok());
            value
                .and_then(|value| value.split(';').next())
                .unwrap_or_default()
                .to_owned()
        };
        let sent = media(request.headers());
        let answer = self.http.execute(request).await.unwrap();
        let answer = Answer {
            status: answer.status().as_u16(),
            headers: answer.headers().clone(),
            bytes: answer.bytes().await.unwrap().to_vec(),
            request: format!("{method} {}", url.path()),
        };
        openapi_check::check(&Exchange {
            method: method.as_str(),
            url: &url,
            request: shown,
            sent: &sent,
            status: answer.status,
            media: &media(&answer.headers),
            answer: &answer.bytes,
            is_of_lesson: false,
        });
        answer
    }
}

impl Answer {
    /// Returns the body; fails if the status differs from the expected one.
    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(
            self.status,
            status,
            "{}: {}",
            self.request,
            String::from_utf8_lossy(&self.bytes)
        );
        self.json()
    }

    /// Returns the body of an error response; fails if status or code differ from the expected ones.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Value {
        let context = self.request.clone();
        let body = self.expect(status);
        assert_eq!(body["code"], code, "{context}: {body}");
        assert!(
            body["requestId"].is_string() && body["message"].is_string(),
            "{context}: {body}"
        );
        body
    }

    /// Requires a validation error that names this field.
    #[track_caller]
    pub fn invalid(self, path: &str) {
        let body = self.refused(400, "VALIDATION_ERROR");
        let named = body["details"]
            .as_array()
            .is_some_and(|details| details.iter().any(|d| d["path"] == path));
        assert!(named, "no detail names {path}: {body}");
    }

    pub fn json(&self) -> Value {
        if self.bytes.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&self.bytes).unwrap()
        }
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}
