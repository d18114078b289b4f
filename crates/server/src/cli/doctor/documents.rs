//! Checks the document server in each direction: the URL for browsers, the URL for this service, the token, and its
//! connection to this service. If saving fails, one of these four is usually wrong.

use std::time::Duration;

use axum::Router;
use domain::time::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::redirect::Policy;
use tokio::time::Instant;

use super::address::causes;
use super::{DoctorReport, Finding, fault};
use crate::cli::settings::{SAME_ORIGIN, has_editor_on_own_origin};
use crate::config::Config;
use adapters::onlyoffice::DocumentServer;
use adapters::onlyoffice::client::Conversion;
use api::server::Listener;
use common::clock;
use common::settings::address::origin_of;

/// The timeout of a page.
const SCRIPT_TIMEOUT: Duration = Duration::from_secs(10);
/// The timeout of a conversion; the first one of a document server is slow.
const CONVERSION_TIMEOUT: Duration = Duration::from_mins(1);
/// The maximum clock skew in seconds. Tokens are valid for minutes, so a larger skew invalidates many of them.
const CLOCK_SKEW_SECONDS_MAX: i64 = 30;

/// The page that the editor's script opens in a frame.
const EDITOR_PAGE: &str = "/web-apps/apps/documenteditor/main/index.html";
/// A document server redirects once, to the folder of its version.
const REDIRECTS_MAX: usize = 5;

/// Runs the checks until one fails.
pub async fn examine(config: &Config, found: &mut DoctorReport) {
    let (Some(public), Some(internal)) = (&config.docserver_url, &config.docserver_internal_url) else {
        let words = "none is set (DOCSERVER_URL): text documents open in the built-in editor, other kinds are downloaded and uploaded";
        return found.add("document server", Finding::Notice(words.to_owned()));
    };
    let own = config.api_internal_url.clone();
    let own = own.unwrap_or_else(|| config.serve.listen.local_url());
    let server = match DocumentServer::new(config.document_server(), &own, "doctor".to_owned()) {
        Ok(server) => server,
        Err(error) => return found.add("document server", fault(&error)),
    };
    if has_editor_on_own_origin(config) {
        found.add("its origin", Finding::Notice(SAME_ORIGIN.to_owned()));
    }
    found.add("for browsers", check_script(public).await);
    if let Some(fault) = check_editor_page(public).await {
        found.add("editor page", fault);
    }
    found.add("for this service", check_health(&server, internal).await);
    found.add("its clock", check_clock(internal).await);
    match server.list_forgotten().await {
        Ok(_) => found.add("its token", Finding::Fine("it takes our token".to_owned())),
        Err(error) => return found.add("its token", fault(&error)),
    }
    found.add("its way back", check_conversion(config, &server, &own).await);
}

/// Checks the editor's script at the URL for browsers, which may be in another network than this machine.
async fn check_script(public: &str) -> Finding {
    let url = format!("{public}/web-apps/apps/api/documents/api.js");
    match get(&url).await {
        Ok(answer) if answer.status().is_success() => Finding::Fine(format!("{public} has the editor")),
        Ok(answer) => Finding::Fault(format!("{url} answers {}; compare DOCSERVER_URL", answer.status())),
        Err(error) => Finding::Notice(format!(
            "this machine does not reach {public} ({}); browsers must reach it",
            causes(&error)
        )),
    }
}

/// Follows the redirects of the editor's page. A document server builds them from the forwarded host and scheme, so a
/// proxy that does not pass them sends browsers elsewhere. Returns `None` if the page cannot be judged.
async fn check_editor_page(public: &str) -> Option<Finding> {
    let mut url = format!("{public}{EDITOR_PAGE}");
    let origin = origin_of(public)?;
    for _ in 0..REDIRECTS_MAX {
        let answer = get_without_redirects(&url).await.ok()?;
        if answer.status().is_success() {
            return Some(Finding::Fine(format!("{url} is delivered")));
        }
        if !answer.status().is_redirection() {
            return None;
        }
        let target = answer.headers().get(reqwest::header::LOCATION)?.to_str().ok()?;
        let target = answer.url().join(target).ok()?;
        if origin_of(target.as_str()).as_ref() != Some(&origin) {
            return Some(Finding::Fault(format!(
                "{url} redirects to {target}: the proxy must pass X-Forwarded-Proto and X-Forwarded-Host"
            )));
        }
        url = target.into();
    }
    Some(Finding::Fault(format!("{public}{EDITOR_PAGE} redirects in a circle")))
}

async fn check_health(server: &DocumentServer, internal: &str) -> Finding {
    match server.is_healthy().await {
        Some(true) => Finding::Fine(format!("{internal} is healthy")),
        _ => Finding::Fault(format!(
            "{internal} does not say that it is healthy; compare DOCSERVER_INTERNAL_URL and its log"
        )),
    }
}

/// Compares its clock, from the `Date` header of a response, with ours.
async fn check_clock(internal: &str) -> Finding {
    let Ok(answer) = get(&format!("{internal}/healthcheck")).await else {
        return Finding::Notice("it does not answer".to_owned());
    };
    let date = answer
        .headers()
        .get(reqwest::header::DATE)
        .and_then(|value| value.to_str().ok());
    let Some(there) = date.and_then(|date| rfc2822::parse(date).ok()) else {
        return Finding::Notice("its answers carry no date".to_owned());
    };
    let there = Timestamp::from_millis(there.timestamp().as_millisecond());
    let apart = clock::now().seconds_since(there).abs();
    if apart > CLOCK_SKEW_SECONDS_MAX {
        Finding::Fault(format!(
            "it is {apart} s apart from ours: tokens become invalid; set both by NTP"
        ))
    } else {
        Finding::Fine("agrees with ours".to_owned())
    }
}

/// Requests the conversion of a page of this service to PDF and verifies the result.
async fn check_conversion(config: &Config, server: &DocumentServer, own: &str) -> Finding {
    // If the service is not running, a temporary server listens on its address.
    let page = Router::new().fallback(|| async { "groupwork doctor" });
    let stand_in = match config.serve.listen.bind().await {
        Ok(Listener::Tcp(listener)) => Some(tokio::spawn(async move { axum::serve(listener, page).await })),
        Ok(Listener::Unix(listener)) => Some(tokio::spawn(async move { axum::serve(listener, page).await })),
        Err(_) => None,
    };
    let conversion = Conversion {
        key: format!("doctor-{}", clock::new_id()),
        file_type: "txt",
        output_type: "pdf",
        url: format!("{own}/api/health"),
        title: "doctor.pdf".to_owned(),
    };
    let made = async {
        let result = server.convert(&conversion, Instant::now() + CONVERSION_TIMEOUT).await?;
        server.fetch(&result).await
    };
    let made = made.await;
    if let Some(stand_in) = stand_in {
        stand_in.abort();
    }
    match made {
        Ok(_) => Finding::Fine(format!("it fetched {} and made a PDF of it", conversion.url)),
        Err(error) => Finding::Fault(format!("{error} ({})", conversion.url)),
    }
}

async fn get(url: &str) -> reqwest::Result<reqwest::Response> {
    request(url, Policy::default()).await
}

async fn get_without_redirects(url: &str) -> reqwest::Result<reqwest::Response> {
    request(url, Policy::none()).await
}

async fn request(url: &str, redirects: Policy) -> reqwest::Result<reqwest::Response> {
    let client = reqwest::Client::builder().no_proxy().timeout(SCRIPT_TIMEOUT);
    client.redirect(redirects).build()?.get(url).send().await
}
