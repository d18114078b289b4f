//! Sends callbacks like the real server: signed twice (body and header), with a header token that is shortened above a
//! size limit, and with retries only after a missing response, 429 or 5xx. What a failed delivery means for the
//! document is decided in `save`.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::{clock, faults::DuplicateDelivery, request_log::SentCallback, simulator::Simulator, token::Claims};

/// From this length on, the header token omits `history` and `changesurl`.
const HEADER_LIMIT: usize = 7168;
/// Delays before the second, third and fourth attempt.
const RETRY_AFTER: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];

/// A callback to be sent.
#[derive(Clone)]
pub(crate) struct Notice {
    pub(crate) key: String,
    pub(crate) status: u8,
    /// The callback URL. Without one the callback is not sent and counts as rejected.
    pub(crate) to: Option<String>,
    pub(crate) fields: Claims,
}

impl Notice {
    pub(crate) fn new(key: &str, status: u8, to: Option<String>) -> Self {
        let mut fields = Claims::new();
        fields.insert("key".into(), key.into());
        fields.insert("status".into(), status.into());
        Self {
            key: key.into(),
            status,
            to,
            fields,
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
pub(crate) struct Delivery {
    pub(crate) status: u8,
    pub(crate) accepted: bool,
}

/// A callback in the queue of its session.
pub(crate) struct Letter {
    pub(crate) notice: Notice,
    pub(crate) delivered: oneshot::Sender<Delivery>,
}

/// How a response affects retries.
enum Verdict {
    Accepted,
    Refused,
    TryAgain,
}

/// Starts the callback queue of a session. Callbacks are sent in order, except held ones, which are overtaken.
pub(crate) fn queue(simulator: &Simulator) -> mpsc::UnboundedSender<Letter> {
    let (sender, mut letters) = mpsc::unbounded_channel::<Letter>();
    let office = simulator.clone();
    simulator.spawn(async move {
        while let Some(Letter { notice, delivered }) = letters.recv().await {
            if office.faults().is_held(notice.status) {
                let held = office.clone();
                office.spawn(async move {
                    let _nobody_waits = delivered.send(deliver(&held, notice).await);
                });
            } else {
                let _nobody_waits = delivered.send(deliver(&office, notice).await);
            }
        }
    });
    sender
}

/// Sends a callback with retries, and twice when the duplicate fault is set.
pub(crate) async fn deliver(simulator: &Simulator, notice: Notice) -> Delivery {
    simulator.faults().wait_while_held(notice.status).await;
    let faults = simulator.faults().get();
    if let Some(slow) = faults.slow_callback
        && slow.status.is_none_or(|status| status == notice.status)
    {
        tokio::time::sleep(Duration::from_millis(slow.milliseconds)).await;
    }
    let doubled = faults.duplicate.filter(|_| matches!(notice.status, 2 | 6));
    let accepted = match doubled {
        None => with_retries(simulator, &notice).await,
        Some(DuplicateDelivery::Sequential) => {
            let first = with_retries(simulator, &notice).await;
            let second = with_retries(simulator, &notice).await;
            first || second
        }
        Some(DuplicateDelivery::Parallel) => {
            let (first, second) = tokio::join!(with_retries(simulator, &notice), with_retries(simulator, &notice));
            first || second
        }
    };
    Delivery {
        status: notice.status,
        accepted,
    }
}

async fn with_retries(simulator: &Simulator, notice: &Notice) -> bool {
    let Some(to) = &notice.to else { return false };
    // Only final saves are retried. A rejected forced save is sent again by the next forcesave command.
    let pauses: &[Duration] = if matches!(notice.status, 2 | 3) {
        &RETRY_AFTER
    } else {
        &[]
    };
    let mut attempt = 1;
    loop {
        match post(simulator, notice, to, attempt).await {
            Verdict::Accepted => return true,
            Verdict::Refused => return false,
            Verdict::TryAgain => {}
        }
        let Some(pause) = pauses.get(attempt as usize - 1) else {
            return false;
        };
        tokio::time::sleep(simulator.settings().pause(*pause)).await;
        attempt += 1;
    }
}

async fn post(simulator: &Simulator, notice: &Notice, to: &str, attempt: u32) -> Verdict {
    let settings = simulator.settings();
    let (body, header_token) = sealed(simulator, notice);
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
    let verdict = verdict(answer_status, &answer_body);
    simulator.request_log().push_callback(SentCallback {
        at: clock::now_millis(),
        key: notice.key.clone(),
        status: notice.status,
        to: to.to_owned(),
        attempt,
        body,
        header_token,
        answer_status,
        answer_body,
        accepted: matches!(verdict, Verdict::Accepted),
    });
    verdict
}

/// Returns the plain body including its token, and the token of the header.
fn sealed(simulator: &Simulator, notice: &Notice) -> (Value, String) {
    let tokens = simulator.tokens();
    let token = tokens.sign(notice.fields.clone());
    let mut plain = notice.fields.clone();
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
fn verdict(status: Option<u16>, body: &str) -> Verdict {
    match status {
        None | Some(429 | 500..=599) => Verdict::TryAgain,
        Some(200) => {
            let error = serde_json::from_str::<Value>(body)
                .ok()
                .and_then(|answer| answer.get("error").cloned());
            match error {
                Some(error) if error == 0 || error == "0" => Verdict::Accepted,
                _ => Verdict::Refused,
            }
        }
        Some(_) => Verdict::Refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_answer_is_a_yes_and_few_are_asked_again() {
        let accepted = |status, body| matches!(verdict(status, body), Verdict::Accepted);
        let again = |status| matches!(verdict(status, ""), Verdict::TryAgain);
        assert!(accepted(Some(200), r#"{"error":0}"#) && accepted(Some(200), r#"{"error":"0"}"#));
        assert!(!accepted(Some(201), r#"{"error":0}"#) && !accepted(Some(200), "OK"));
        assert!(!accepted(Some(200), r#"{"error":1}"#));
        assert!(again(None) && again(Some(429)) && again(Some(503)));
        assert!(!again(Some(404)) && !again(Some(302)) && !again(Some(204)));
    }
}
