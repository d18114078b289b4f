//! Quick sign-in for the demo: its page contains a marker and then fetches the accounts that it offers as buttons.
//! Any other service has neither the marker nor the list.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{Method, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use super::people::{DemoUser, PASSWORD, School};

/// The path of the list. It is outside the API, because only the page in the same binary uses it.
const ACCOUNTS_PATH: &str = "/demo.json";
/// The marker in the page of the demo.
const META_TAG: &str = r#"<meta name="demo" content="/demo.json">"#;

/// Adds the quick sign-in to the router.
pub fn layer(router: Router, school: &School) -> Router {
    let accounts = accounts(school);
    router.layer(from_fn(move |request, next| handle(accounts.clone(), request, next)))
}

fn accounts(school: &School) -> Value {
    let account = |role: &str, person: &DemoUser| json!({"role": role, "name": person.name, "email": person.email});
    json!({
        "password": PASSWORD,
        "people": [
            account("teacher", &school.ada),
            account("student", &school.seven_b[0]),
            account("student", &school.seven_b[1]),
            account("admin", &school.admin),
            account("super", &school.root),
        ],
    })
}

async fn handle(accounts: Value, mut request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if is_read && path == ACCOUNTS_PATH {
        return ([(header::CACHE_CONTROL, "no-store")], Json(accounts)).into_response();
    }
    let is_page = !path.starts_with("/api") && !path.rsplit('/').next().unwrap_or_default().contains('.');
    if !is_page || *request.method() != Method::GET {
        return next.run(request).await;
    }
    // The marker is inserted into the uncompressed page; copies cached without it must not be used.
    request.headers_mut().remove(header::ACCEPT_ENCODING);
    request.headers_mut().remove(header::IF_NONE_MATCH);
    insert_meta_tag(next.run(request).await).await
}

async fn insert_meta_tag(page: Response) -> Response {
    if page.status() != StatusCode::OK {
        return page;
    }
    let (mut parts, body) = page.into_parts();
    let Ok(body) = body.collect().await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let text = String::from_utf8_lossy(&body.to_bytes()).replacen("<head>", &format!("<head>{META_TAG}"), 1);
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.remove(header::ETAG);
    Response::from_parts(parts, Body::from(text))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[tokio::test]
    async fn demo_meta_tag_is_inserted_once() {
        let page = Response::new(Body::from("<html><head><title>x</title></head></html>"));
        let body = insert_meta_tag(page)
            .await
            .into_body()
            .collect()
            .await
            .unwrap()
            .to_bytes();
        assert_eq!(body, format!("<html><head>{META_TAG}<title>x</title></head></html>"));
        assert!(META_TAG.contains(ACCOUNTS_PATH));
    }
}
