//! `POST /converter`: converts documents, mostly to PDF, and caches results by key and format. The defects of the real
//! server are reproduced: a key always returns its first result, and all callers without a key share one result.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    extract::{Query, State},
    http::{HeaderMap, Uri, header},
    response::{IntoResponse, Json, Response},
};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::{
    blank, editor_config::is_valid_key, ooxml, ooxml::Unreadable, pdf, results, routes::bearer, simulator::Simulator,
    token::Claims,
};

/// Interval at which a waiting request polls its job.
const LOOK: Duration = Duration::from_secs(1);
/// Longest time a request waits: 1.5 times the limit of a conversion task.
const LONGEST: Duration = Duration::from_mins(30);

/// Jobs by `conv_<key>_<format>`.
#[derive(Default)]
pub(crate) struct Conversions(Mutex<HashMap<String, Job>>);

#[derive(Clone)]
enum Stage {
    RunningSimulator,
    Done { path: String },
    Failed(i64),
}

struct Job {
    stage: Stage,
    /// Number of polls that still return "not finished" although the job is done.
    polls_left: u32,
}

impl Conversions {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Job>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A validated conversion request.
#[derive(Clone)]
struct Order {
    job: String,
    url: String,
    file_type: String,
    output: String,
    title: String,
    asynchronous: bool,
}

/// What the response reports.
enum Outcome {
    Error(i64),
    NotYet,
    Done { url: String, file_type: String },
}

/// Handles `POST /converter` and its former URL.
pub(crate) async fn convert(
    State(simulator): State<Simulator>,
    uri: Uri,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let parameters = simulator
        .tokens()
        .request_parameters(&body, bearer(&simulator, &headers));
    let (outcome, asked) = match parameters {
        Err(_) => (Outcome::Error(-8), Value::Null),
        Ok(parameters) => {
            let origin = results::origin(simulator.settings(), &headers);
            let shard = query.get("shardkey").map(String::as_str);
            let outcome = match order(&parameters) {
                Err(error) => Outcome::Error(error),
                Ok(order) => carried_out(&simulator, &order, &origin, shard).await,
            };
            (outcome, Value::Object(parameters))
        }
    };
    let error = if let Outcome::Error(error) = outcome { error } else { 0 };
    simulator.request_log().push_request("converter", asked, error);
    let accept = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok())
        .unwrap_or("");
    let old_address = uri.path().ends_with("ConvertService.ashx");
    if accept.contains("xml") || (old_address && !accept.contains("json")) {
        return ([(header::CONTENT_TYPE, "text/xml; charset=utf-8")], as_xml(&outcome)).into_response();
    }
    Json(as_json(&outcome)).into_response()
}

/// Validates the parameters; the error is the protocol's error code.
fn order(parameters: &Claims) -> Result<Order, i64> {
    let text = |name: &str| {
        parameters
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let (key, output) = (text("key"), text("outputtype").to_lowercase());
    if key.len() > 255 {
        return Err(-1);
    }
    if !key.is_empty() && !is_valid_key(&key) {
        return Err(-7);
    }
    if !["pdf", "pdfa", "docx", "xlsx", "pptx", "txt"].contains(&output.as_str()) || text("url").is_empty() {
        return Err(-7);
    }
    // Without a key all callers share one result; 513 is the protocol's number of the PDF format.
    let job = match (key.as_str(), output.as_str()) {
        ("", "pdf" | "pdfa") => "conv_undefined_513".into(),
        ("", _) => format!("conv_undefined_{output}"),
        _ => format!("conv_{key}_{output}"),
    };
    let asynchronous = parameters
        .get("async")
        .is_some_and(|value| *value == true || *value == "true");
    Ok(Order {
        job,
        url: text("url"),
        file_type: text("filetype").to_lowercase(),
        title: text("title"),
        output,
        asynchronous,
    })
}

impl Order {
    fn extension(&self) -> &str {
        if self.output == "pdfa" { "pdf" } else { &self.output }
    }

    fn download_name(&self) -> String {
        let stem = self
            .title
            .rsplit_once('.')
            .map_or(self.title.as_str(), |(stem, _)| stem);
        let stem = if stem.is_empty() { "output" } else { stem };
        format!("{stem}.{}", self.extension())
    }
}

async fn carried_out(simulator: &Simulator, order: &Order, origin: &str, shard: Option<&str>) -> Outcome {
    let faults = simulator.faults().get();
    if let Some(error) = faults.conversion_error {
        return Outcome::Error(error);
    }
    begin(simulator, order, faults.conversion_polls);
    let patience = simulator.settings().pause(LONGEST);
    let waiting = async {
        loop {
            match look(simulator, order) {
                Outcome::NotYet if !order.asynchronous => {
                    let pause = simulator.settings().pause(LOOK).max(Duration::from_millis(1));
                    tokio::time::sleep(pause).await;
                }
                outcome => return outcome,
            }
        }
    };
    let outcome = tokio::time::timeout(patience, waiting)
        .await
        .unwrap_or(Outcome::Error(-2));
    match outcome {
        Outcome::Done { url: path, file_type } => {
            let mut url = results::link(simulator, &path, origin, &order.download_name());
            if let Some(shard) = shard {
                url = format!("{url}&shardkey={shard}");
            }
            Outcome::Done { url, file_type }
        }
        other => other,
    }
}

/// Starts a job unless one exists for this key and format.
fn begin(simulator: &Simulator, order: &Order, polls_left: u32) {
    let mut jobs = simulator.conversions().lock();
    if jobs.contains_key(&order.job) {
        return;
    }
    let job = Job {
        stage: Stage::RunningSimulator,
        polls_left,
    };
    jobs.insert(order.job.clone(), job);
    let (simulator, order) = (simulator.clone(), order.clone());
    // Not cancelled by a simulated crash: the conversion queue of the real server survives one.
    tokio::spawn(async move {
        if simulator.faults().get().conversion_hangs {
            return;
        }
        let stage = match converted(&simulator, &order).await {
            Ok(bytes) => {
                let name = format!("output.{}", order.extension());
                Stage::Done {
                    path: simulator.results().put(&format!("data/{}", order.job), &name, bytes),
                }
            }
            Err(error) => Stage::Failed(error),
        };
        if let Some(job) = simulator.conversions().lock().get_mut(&order.job) {
            job.stage = stage;
        }
    });
}

/// Returns the status of a job. A failure is reported once and then removed, so the same key can be converted again.
fn look(simulator: &Simulator, order: &Order) -> Outcome {
    let mut jobs = simulator.conversions().lock();
    let Some(job) = jobs.get_mut(&order.job) else {
        return Outcome::Error(-6);
    };
    match job.stage.clone() {
        Stage::RunningSimulator => Outcome::NotYet,
        Stage::Failed(error) => {
            jobs.remove(&order.job);
            Outcome::Error(error)
        }
        Stage::Done { .. } if order.asynchronous && job.polls_left > 0 => {
            job.polls_left -= 1;
            Outcome::NotYet
        }
        Stage::Done { path } => Outcome::Done {
            url: path,
            file_type: order.extension().to_owned(),
        },
    }
}

async fn converted(simulator: &Simulator, order: &Order) -> Result<Bytes, i64> {
    let source = simulator.download(&order.url).await.ok_or(-4)?;
    let order = order.clone();
    let work = move || {
        let source = if source.is_empty() {
            blank::document(&order.file_type).into()
        } else {
            source
        };
        // An encrypted handle file is an OLE compound file instead of a zip archive.
        if source.starts_with(&[0xD0, 0xCF, 0x11, 0xE0]) {
            return Err(-5);
        }
        let failed = |unreadable| if unreadable == Unreadable::TooLarge { -10 } else { -3 };
        let (kind, lines) = ooxml::read(&source).map_err(failed)?;
        match order.extension() {
            "pdf" if kind == ooxml::Kind::Pdf => Ok(source),
            "pdf" => Ok(pdf::document(&order.title, &lines).into()),
            "txt" => Ok(lines.join("\n").into()),
            extension => Ok(ooxml::write(&blank::document(extension), &lines)
                .map_err(failed)?
                .into()),
        }
    };
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(-1))
}

fn as_json(outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Error(error) => json!({"error": error}),
        Outcome::NotYet => json!({"fileUrl": "", "percent": 0, "endConvert": false}),
        Outcome::Done { url, file_type } => {
            json!({"fileUrl": url, "fileType": file_type, "percent": 100, "endConvert": true})
        }
    }
}

fn as_xml(outcome: &Outcome) -> String {
    let fields = match outcome {
        Outcome::Error(error) => format!("<Error>{error}</Error>"),
        Outcome::NotYet => "<FileUrl/><FileType/><Percent>0</Percent><EndConvert>False</EndConvert>".into(),
        Outcome::Done { url, file_type } => {
            let url = quick_xml::escape::escape(url.as_str());
            format!(
                "<FileUrl>{url}</FileUrl><FileType>{file_type}</FileType><Percent>100</Percent><EndConvert>True</EndConvert>"
            )
        }
    };
    format!(r#"<?xml version="1.0" encoding="utf-8"?><FileResult>{fields}</FileResult>"#)
}
