//! One request during a storm: answered in time, by the service itself, and never with a fault of the service.

use std::time::{Duration, Instant};

use reqwest::RequestBuilder;
use serde_json::Value;

use crate::crash::ledger::Ledger;

/// No route that is asked here may take longer (contract 9: 30 s), on a machine that does other things besides.
const LIMIT: Duration = Duration::from_secs(45);

/// Status and body; nothing when no answer came, which is a fault.
pub async fn ask(request: RequestBuilder, ledger: &Ledger) -> Option<(u16, Value)> {
    let begun = Instant::now();
    let answer = match request.timeout(Duration::from_secs(90)).send().await {
        Ok(answer) => answer,
        Err(error) => {
            ledger.silent(&error);
            return None;
        }
    };
    let (status, path) = (answer.status().as_u16(), answer.url().path().to_owned());
    let may_return = answer.headers().contains_key("retry-after");
    let text = answer.text().await.unwrap_or_default();
    let took = begun.elapsed();
    if took > LIMIT {
        ledger.fault(format!("{path} took {took:?}"));
    }
    if status == 503 && !may_return {
        ledger.fault(format!("{path} answered 503 without Retry-After"));
    }
    if status >= 500 && status != 503 {
        ledger.fault(format!("{path} answered {status}: {text}"));
    }
    Some((status, serde_json::from_str(&text).unwrap_or(Value::Null)))
}
