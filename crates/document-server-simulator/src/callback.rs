//! Sends callbacks like the real server: signed twice (body and header), with a header token that is shortened above a
//! size limit, and with retries only after a missing response, 429 or 5xx. What a failed delivery means for the
//! document is decided in `save`.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::{clock, faults::DuplicateDelivery, request_log::SentCallback, simulator::Simulator, token::TokenClaims};

/// From this length on, the header token omits `history` and `changesurl`.
const HEADER_LIMIT: usize = 7168;
/// Delays before the second, third and fourth attempt.
const RETRY_AFTER: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];

/// A callback to be sent.
#[derive(Clone)]
pub(crate) struct OutgoingCallback {
    pub(crate) key: String,
    pub(crate) status: u8,
    /// The callback URL. Without one the callback is not sent and counts as rejected.
    pub(crate) to: Option<String>,
    pub(crate) fields: TokenClaims,
    /// The revision of the session that a forced save contains.
    pub(crate) forced_revision: Option<u64>,
}

impl OutgoingCallback {
    pub(crate) fn new(key: &str, status: u8, to: Option<String>) -> Self {
        let mut fields = TokenClaims::new();
        fields.insert("key".into(), key.into());
        fields.insert("status".into(), status.into());
        Self {
            key: key.into(),
            status,
            to,
            fields,
            forced_revision: None,
        }
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(name.into(), value.into());
        self
    }

    /// Adds `actions` with one entry; `kind` is 0 for disconnect, 1 for connect, 2 for the save button.
    pub(crate) fn action(self, kind: u8, user_id: &str) -> Self {
        self.with("actions", json!([{"type": kind, "userid": user_id}]))
    }
}

/// The result of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallbackDelivery {
    pub(crate) status: u8,
    pub(crate) accepted: bool,
}

/// A callback in the queue of its session.
pub(crate) struct QueuedCallback {
    pub(crate) callback: OutgoingCallback,
    pub(crate) delivered: oneshot::Sender<CallbackDelivery>,
}

/// How a response affects retries.
enum ResponseClass {
    Accepted,
    Rejected,
    Retry,
}

/// Starts the callback queue of a session. Callbacks are sent in order, except held ones, which are overtaken.
pub(crate) fn start_queue(simulator: &Simulator) -> mpsc::UnboundedSender<QueuedCallback> {
    let (sender, mut callback_queue) = mpsc::unbounded_channel::<QueuedCallback>();
    let handle = simulator.clone();
    simulator.spawn(async move {
        while let Some(QueuedCallback { callback, delivered }) = callback_queue.recv().await {
            if handle.faults().is_held(callback.status) {
                let held = handle.clone();
                handle.spawn(async move {
                    let _receiver_dropped = delivered.send(deliver(&held, callback).await);
                });
            } else {
                let _receiver_dropped = delivered.send(deliver(&handle, callback).await);
            }
        }
    });
    sender
}

/// Sends a callback with retries, and twice when the duplicate fault is set.
pub(crate) async fn deliver(simulator: &Simulator, callback: OutgoingCallback) -> CallbackDelivery {
    simulator.faults().wait_while_held(callback.status).await;
    let faults = simulator.faults().get();
    if let Some(slow) = faults.slow_callback
        && slow.status.is_none_or(|status| status == callback.status)
    {
        tokio::time::sleep(Duration::from_millis(slow.milliseconds)).await;
    }
    let doubled = faults.duplicate.filter(|_| matches!(callback.status, 2 | 6));
    let accepted = match doubled {
        None => send_with_retries(simulator, &callback).await,
        Some(DuplicateDelivery::Sequential) => {
            let first = send_with_retries(simulator, &callback).await;
            let second = send_with_retries(simulator, &callback).await;
            first || second
        }
        Some(DuplicateDelivery::Parallel) => {
            let (first, second) = tokio::join!(
                send_with_retries(simulator, &callback),
                send_with_retries(simulator, &callback)
            );
            first || second
        }
    };
    CallbackDelivery {
        status: callback.status,
        accepted,
    }
}

async fn send_with_retries(simulator: &Simulator, callback: &OutgoingCallback) -> bool {
    let Some(to) = &callback.to else { return false };
    // Only final saves are retried. A rejected forced save is sent again by the next forcesave command.
    let pauses: &[Duration] = if matches!(callback.status, 2 | 3) {
        &RETRY_AFTER
    } else {
        &[]
    };
    let mut attempt = 1;
    loop {
        match send_once(simulator, callback, to, attempt).await {
            ResponseClass::Accepted => return true,
            ResponseClass::Rejected => return false,
            ResponseClass::Retry => {}
        }
        let Some(pause) = pauses.get(attempt as usize - 1) else {
            return false;
        };
        tokio::time::sleep(simulator.settings().scaled(*pause)).await;
        attempt += 1;
    }
}

async fn send_once(simulator: &Simulator, callback: &OutgoingCallback, to: &str, attempt: u32) -> ResponseClass {
    let settings = simulator.settings();
    let (body, header_token) = sign_body(simulator, callback);
    let request = simulator
        .http()
        .post(to)
        .header(
            &settings.token_header,
            format!("{}{header_token}", settings.token_prefix),
        )
        .json(&body)
        .timeout(settings.callback_timeout);
    let answer = async {
        let response = request.send().await?;
        let status = response.status().as_u16();
        Ok::<_, reqwest::Error>((status, response.text().await?))
    };
    let mut answer = answer.await.ok();
    if simulator.faults().take_lost_response() {
        answer = None;
    }
    let (answer_status, answer_body) = answer.map_or((None, String::new()), |(status, text)| (Some(status), text));
    let class = classify_response(answer_status, &answer_body);
    let accepted = matches!(class, ResponseClass::Accepted);
    // Applied before it is recorded: a test that sees the record can rely on its effect.
    simulator.apply_forced_result(callback, accepted);
    simulator.request_log().push_callback(SentCallback {
        at: clock::now_millis(),
        key: callback.key.clone(),
        status: callback.status,
        to: to.to_owned(),
        attempt,
        body,
        header_token,
        answer_status,
        answer_body,
        accepted,
    });
    class
}

/// Returns the plain body including its token, and the token of the header.
fn sign_body(simulator: &Simulator, callback: &OutgoingCallback) -> (Value, String) {
    let tokens = simulator.tokens();
    let token = tokens.sign(callback.fields.clone());
    let mut plain = callback.fields.clone();
    let mut header = tokens.sign_wrapped(plain.clone());
    if header.len() >= HEADER_LIMIT {
        plain.shift_remove("history");
        plain.shift_remove("changesurl");
        header = tokens.sign_wrapped(plain.clone());
    }
    plain.insert("token".into(), token.into());
    (Value::Object(plain), header)
}

/// Accepts exactly 200 with `error` 0 or "0". A missing response, 429 and 5xx are retried; everything else is rejected.
fn classify_response(status: Option<u16>, body: &str) -> ResponseClass {
    match status {
        None | Some(429 | 500..=599) => ResponseClass::Retry,
        Some(200) => {
            let error = serde_json::from_str::<Value>(body)
                .ok()
                .and_then(|answer| answer.get("error").cloned());
            match error {
                Some(error) if error == 0 || error == "0" => ResponseClass::Accepted,
                _ => ResponseClass::Rejected,
            }
        }
        Some(_) => ResponseClass::Rejected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_is_classified_as_accepted_retry_or_rejected() {
        let accepted = |status, body| matches!(classify_response(status, body), ResponseClass::Accepted);
        let again = |status| matches!(classify_response(status, ""), ResponseClass::Retry);
        assert!(accepted(Some(200), r#"{"error":0}"#) && accepted(Some(200), r#"{"error":"0"}"#));
        assert!(!accepted(Some(201), r#"{"error":0}"#) && !accepted(Some(200), "OK"));
        assert!(!accepted(Some(200), r#"{"error":1}"#));
        assert!(again(None) && again(Some(429)) && again(Some(503)));
        assert!(!again(Some(404)) && !again(Some(302)) && !again(Some(204)));
    }
}
