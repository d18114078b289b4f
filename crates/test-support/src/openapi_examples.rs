//! Records one real exchange of each route, and one error response of each code, for docs/examples.json. Exchanges of
//! the generated client's lesson (`generated_client.rs`) have priority, so that the examples form one scenario. An
//! existing example of another test is kept while it matches the document; of several candidates, the most informative
//! small one is recorded.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};

use api::endpoint::Row;
use common::clock;
use domain::time::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::environment;
use super::openapi_check::{Exchange, document};

/// The preferred size of an example in bytes.
const GOOD_SIZE: usize = 900;
/// The maximum size of a response that is considered, in bytes.
const LARGEST: usize = 50_000;
/// The maximum number of list entries in an example.
const LIST: usize = 2;
/// The maximum number of characters of a text in an example.
const TEXT: usize = 400;
/// The number of characters of a generated id.
const ID_LENGTH: usize = 36;
/// The moment at which examples are recorded, according to the document.
const RECORDED_AT: &str = "2026-09-01T08:00:00.000Z";

struct Kept {
    examples: Value,
    /// The costs of the examples of this run, by route or code; examples of earlier runs have no entry.
    costs: HashMap<String, usize>,
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples.json")
}

/// Returns the examples in the repository.
pub fn committed() -> Value {
    let text = std::fs::read_to_string(path()).unwrap_or_else(|_| "{}".to_owned());
    serde_json::from_str(&text).unwrap()
}

/// Returns the differences between an example and the document.
pub fn faults(row: &Row, example: &Value) -> Vec<String> {
    let (document, mut faults) = (document(), Vec::new());
    let operation = document.operation(row);
    let status = example["status"].to_string();
    let media = example["media"].as_str().unwrap_or_default();
    let content = &document.resolved(&operation["responses"][&status])["content"];
    if operation["responses"][&status].is_null() {
        faults.push(format!("the status {status} of its example is not documented"));
    }
    document.compare(
        &content[media]["schema"],
        &example["answer"],
        "the example answer",
        &mut faults,
    );
    let bodies = &operation["requestBody"]["content"];
    let body = &bodies[example["sent"].as_str().unwrap_or_default()];
    if bodies.is_object() && (body.is_null() || example["request"].is_null()) {
        faults.push("its example has no request that fits".to_owned());
    } else if bodies.is_object() {
        document.compare(&body["schema"], &example["request"], "the example request", &mut faults);
    }
    faults
}

/// Whether the text contains a marker that a test searches for: published as an example it would be found everywhere.
fn is_marked(text: &str) -> bool {
    let text = text.to_lowercase();
    ["-qz", "inner", "outer", "othermark"]
        .iter()
        .any(|mark| text.contains(mark))
}

/// Records an exchange if the run records examples and it is better than the present one. An exchange of the lesson has
/// priority over all others.
pub fn keep(row: &Row, exchange: &Exchange<'_>) {
    static RECORDING: OnceLock<bool> = OnceLock::new();
    if !*RECORDING.get_or_init(|| environment("GROUPWORK_EXAMPLES").is_some()) {
        return;
    }
    if exchange.answer.len() > LARGEST {
        return; // The document itself, and responses with lists of a whole school.
    }
    let text = String::from_utf8_lossy(exchange.answer);
    if is_marked(&text)
        || exchange
            .request
            .as_ref()
            .is_some_and(|request| is_marked(&request.to_string()))
    {
        return;
    }
    let answer = match exchange.media {
        "application/json" => serde_json::from_slice(exchange.answer).unwrap_or(Value::Null),
        media if media.starts_with("text/") => json!(text.lines().take(4).collect::<Vec<_>>().join("\r\n")),
        _ => return,
    };
    let answer = tidy(&answer);
    if exchange.status >= 400 {
        if let Some(code) = answer["code"].as_str() {
            keep_as("errors", code, answer.clone(), Rank::of(exchange, 0));
        }
        return;
    }
    let request = exchange.request.as_ref().map(tidy);
    let sent = request.as_ref().map(|_| exchange.sent);
    let (status, media) = (exchange.status, exchange.media);
    let example = json!({"request": request, "sent": sent, "status": status, "media": media, "answer": answer});
    if faults(row, &example).is_empty() {
        keep_as(
            "routes",
            &format!("{} {}", row.method, row.path),
            example,
            Rank::of(exchange, 1),
        );
    }
}

/// How an example is compared with others.
struct Rank {
    is_of_lesson: bool,
    /// 0 if the first example is as good as any other.
    weight: usize,
}

impl Rank {
    fn of(exchange: &Exchange<'_>, weight: usize) -> Self {
        Self {
            is_of_lesson: exchange.is_of_lesson,
            weight,
        }
    }
}

fn keep_as(part: &str, name: &str, example: Value, Rank { is_of_lesson, weight }: Rank) {
    static KEPT: OnceLock<Mutex<Kept>> = OnceLock::new();
    let kept = KEPT.get_or_init(|| {
        let mut examples = committed();
        let known = |name: &str| {
            let mut rows = document().rows.iter();
            rows.find(|row| format!("{} {}", row.method, row.path) == name)
                .is_some_and(|row| faults(row, &committed()["routes"][name]).is_empty())
        };
        if let Some(routes) = examples["routes"].as_object_mut() {
            routes.retain(|name, _| known(name));
        }
        let costs = HashMap::new();
        Mutex::new(Kept { examples, costs })
    });
    let mut kept = kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    // Examples of the lesson cost less than all others.
    let cost = if is_of_lesson {
        cost(&example) * weight / 100
    } else {
        cost(&example) * weight + 1_000_000
    };
    let better = match kept.costs.get(name) {
        Some(before) => cost < *before,
        // From an earlier run, and still valid.
        None => is_of_lesson || kept.examples[part][name].is_null(),
    };
    if better {
        kept.costs.insert(name.to_owned(), cost);
        kept.examples[part][name] = example;
        let mut sorted = kept.examples.clone();
        sorted.sort_all_objects();
        // Fields keep the order of the service; only the names of routes and codes are sorted.
        for part in ["errors", "routes"] {
            for (name, example) in sorted[part].as_object_mut().unwrap() {
                *example = kept.examples[part][name].clone();
            }
        }
        StableIds::default().replace(&mut sorted, "");
        std::fs::write(path(), serde_json::to_string_pretty(&sorted).unwrap() + "\n").unwrap();
    }
}

/// Replaces generated ids by ids that depend only on the place where each is first, so that a new recording changes only
/// what is different. Equal ids stay equal.
#[derive(Default)]
struct StableIds {
    known: HashMap<String, String>,
}

impl StableIds {
    fn replace(&mut self, value: &mut Value, place: &str) {
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.replace(item, &format!("{place}/{index}"));
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields.iter_mut() {
                    self.replace(field, &format!("{place}/{name}"));
                }
            }
            Value::String(text) => *text = self.replace_in(text, place),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn replace_in(&mut self, text: &str, place: &str) -> String {
        let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
        while let Some(mail) = rest.chars().next() {
            let length = match rest.get(..ID_LENGTH) {
                Some(id) if is_generated_id(id) => {
                    let known = self.known.entry(id.to_owned()).or_insert_with(|| id_of_place(place));
                    shown.push_str(known);
                    ID_LENGTH
                }
                _ => {
                    shown.push(mail);
                    mail.len_utf8()
                }
            };
            rest = &rest[length..];
        }
        shown
    }
}

/// Whether a text has the form of a UUID of version 7.
fn is_generated_id(text: &str) -> bool {
    text.bytes().enumerate().all(|(index, byte)| match index {
        8 | 13 | 18 | 23 => byte == b'-',
        14 => byte == b'7',
        _ => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
    })
}

fn id_of_place(place: &str) -> String {
    let digest = Sha256::digest(place);
    let digits = format!("{:032x}", u128::from_be_bytes(digest[..16].try_into().unwrap()));
    format!(
        "{}-{}-7{}-8{}-{}",
        &digits[..8],
        &digits[8..12],
        &digits[13..16],
        &digits[17..20],
        &digits[20..32]
    )
}

/// The cost of an example: distance from the preferred size, empty lists, texts that test a limit.
fn cost(example: &Value) -> usize {
    let text = example.to_string();
    let texts_for_limits = usize::from(text.contains("xxxxx") || text.contains("aaaaa")) * 20_000;
    let padded = usize::from(text.contains(":\" ")) * 5_000;
    let empty = (text.matches("[]").count() + text.matches("null").count()) * 40 + text.matches("{}").count() * 300;
    let nothing = usize::from(matches!(&example["answer"], Value::Array(items) if items.is_empty())) * 5_000;
    text.len().abs_diff(GOOD_SIZE) + texts_for_limits + padded + empty + nothing
}

/// Shortens a value for the document: short lists and texts, no port of a test, no complete token.
fn tidy(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().take(LIST).map(tidy).collect(),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(name, value)| (name.clone(), tidy(value))).collect())
        }
        Value::String(text) => json!(tidy_text(text)),
        other => other.clone(),
    }
}

/// Moves a moment that the service has generated by the time between the recording and [`RECORDED_AT`], in whole minutes.
/// Moments in requests have no milliseconds.
fn stable_moment(text: &str) -> Option<String> {
    let moment = Timestamp::parse(text)
        .ok()
        .filter(|moment| moment.as_millis() % 1000 != 0)?;
    let base = Timestamp::parse(RECORDED_AT).ok()?;
    let minutes = (moment.as_millis() - clock::now().as_millis() + 30_000).div_euclid(60_000);
    Some(base.plus_seconds(minutes * 60).to_string())
}

fn tidy_text(text: &str) -> String {
    let is_token = text.starts_with("eyJ") && text.matches('.').count() == 2;
    if is_token {
        return "eyJhbGciOiJIUzI1NiJ9…".to_owned();
    }
    if let Some(moment) = stable_moment(text) {
        return moment;
    }
    let mut parts = text.split("http://127.0.0.1:");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shown.push_str("http://127.0.0.1:3000");
        shown.push_str(part.trim_start_matches(|character: char| character.is_ascii_digit()));
    }
    if shown.chars().count() > TEXT {
        shown = shown.chars().take(TEXT).chain(['…']).collect();
    }
    shown
}
