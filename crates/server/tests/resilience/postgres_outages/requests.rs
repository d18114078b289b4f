//! One request during an outage: the service itself must respond, and never with an internal error.

use reqwest::RequestBuilder;
use serde_json::Value;

use crate::crash::oracle::Oracle;
use test_support::WAIT_TIMEOUT;

/// Returns status and body. Returns `None`, and records a fault, if there was no response.
pub async fn send(request: RequestBuilder, oracle: &Oracle) -> Option<(u16, Value)> {
    // The service itself ends a request after 30 s, so a request without a response was lost.
    let answer = match request.timeout(WAIT_TIMEOUT).send().await {
        Ok(answer) => answer,
        Err(error) => {
            oracle.request_failed(&error);
            return None;
        }
    };
    let (status, path) = (answer.status().as_u16(), answer.url().path().to_owned());
    let may_return = answer.headers().contains_key("retry-after");
    let text = answer.text().await.unwrap_or_default();
    if status == 503 && !may_return {
        oracle.fault(format!("{path} answered 503 without Retry-After"));
    }
    if status >= 500 && status != 503 {
        oracle.fault(format!("{path} answered {status}: {text}"));
    }
    Some((status, serde_json::from_str(&text).unwrap_or(Value::Null)))
}
