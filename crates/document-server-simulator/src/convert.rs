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
    blank, editor_config::is_valid_key, legacy, ooxml, ooxml::DocumentError, pdf, results, routes::bearer,
    simulator::Simulator, token::TokenClaims,
};

/// Interval at which a waiting request polls its job.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Longest time a request waits: 1.5 times the limit of a conversion task.
const TIMEOUT: Duration = Duration::from_mins(30);
/// How often a conversion that hangs checks whether the fault has ended.
const HANGING_CONVERSION_CHECK: Duration = Duration::from_millis(20);

/// Jobs by `conv_<key>_<format>`.
#[derive(Default)]
pub(crate) struct ConversionJobs(Mutex<HashMap<String, ConversionJob>>);

#[derive(Clone)]
enum JobState {
    Running,
    Done { path: String },
    Failed(i64),
}

struct ConversionJob {
    state: JobState,
    /// Number of polls that still return "not finished" although the job is done.
    polls_left: u32,
}

impl ConversionJobs {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, ConversionJob>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A validated conversion request.
#[derive(Clone)]
struct ValidatedConversion {
    job: String,
    url: String,
    file_type: String,
    output: String,
    title: String,
    asynchronous: bool,
}

/// What the response reports.
enum ConversionStatus {
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
    let (status, parameters) = match parameters {
        Err(_) => (ConversionStatus::Error(-8), Value::Null),
        Ok(parameters) => {
            let origin = results::caller_origin(simulator.settings(), &headers);
            let shard = query.get("shardkey").map(String::as_str);
            let status = match parse_request(&parameters) {
                Err(error) => ConversionStatus::Error(error),
                Ok(request) => run_conversion(&simulator, &request, &origin, shard).await,
            };
            (status, Value::Object(parameters))
        }
    };
    let error = if let ConversionStatus::Error(error) = status {
        error
    } else {
        0
    };
    simulator.request_log().push_request("converter", parameters, error);
    let accept = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok())
        .unwrap_or("");
    let old_address = uri.path().ends_with("ConvertService.ashx");
    if accept.contains("xml") || (old_address && !accept.contains("json")) {
        return ([(header::CONTENT_TYPE, "text/xml; charset=utf-8")], render_xml(&status)).into_response();
    }
    Json(render_json(&status)).into_response()
}

/// Validates the parameters; the error is the protocol's error code.
fn parse_request(parameters: &TokenClaims) -> Result<ValidatedConversion, i64> {
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
    Ok(ValidatedConversion {
        job,
        url: text("url"),
        file_type: text("filetype").to_lowercase(),
        title: text("title"),
        output,
        asynchronous,
    })
}

impl ValidatedConversion {
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

async fn run_conversion(
    simulator: &Simulator,
    request: &ValidatedConversion,
    origin: &str,
    shard: Option<&str>,
) -> ConversionStatus {
    let faults = simulator.faults().get();
    if let Some(error) = simulator.faults().take_conversion_error() {
        return ConversionStatus::Error(error);
    }
    start_job(simulator, request, faults.conversion_polls);
    let timeout = simulator.settings().scaled(TIMEOUT);
    let waiting = async {
        loop {
            match poll(simulator, request) {
                ConversionStatus::NotYet if !request.asynchronous => {
                    let pause = simulator.settings().scaled(POLL_INTERVAL).max(Duration::from_millis(1));
                    tokio::time::sleep(pause).await;
                }
                status => return status,
            }
        }
    };
    let status = tokio::time::timeout(timeout, waiting)
        .await
        .unwrap_or(ConversionStatus::Error(-2));
    match status {
        ConversionStatus::Done { url: path, file_type } => {
            let mut url = results::signed_url(simulator, &path, origin, &request.download_name());
            if let Some(shard) = shard {
                url = format!("{url}&shardkey={shard}");
            }
            ConversionStatus::Done { url, file_type }
        }
        other => other,
    }
}

/// Starts a job unless one exists for this key and format.
fn start_job(simulator: &Simulator, request: &ValidatedConversion, polls_left: u32) {
    let mut jobs = simulator.conversions().lock();
    if jobs.contains_key(&request.job) {
        return;
    }
    let job = ConversionJob {
        state: JobState::Running,
        polls_left,
    };
    jobs.insert(request.job.clone(), job);
    let (simulator, request) = (simulator.clone(), request.clone());
    // Not cancelled by a simulated crash: the conversion queue of the real server survives one.
    tokio::spawn(async move {
        while simulator.faults().get().conversion_hangs {
            tokio::time::sleep(HANGING_CONVERSION_CHECK).await;
        }
        let state = match convert_document(&simulator, &request).await {
            Ok(bytes) => {
                let name = format!("output.{}", request.extension());
                JobState::Done {
                    path: simulator.results().put(&format!("data/{}", request.job), &name, bytes),
                }
            }
            Err(error) => JobState::Failed(error),
        };
        if let Some(job) = simulator.conversions().lock().get_mut(&request.job) {
            job.state = state;
        }
    });
}

/// Returns the status of a job. A failure is reported once and then removed, so the same key can be converted again.
fn poll(simulator: &Simulator, request: &ValidatedConversion) -> ConversionStatus {
    let mut jobs = simulator.conversions().lock();
    let Some(job) = jobs.get_mut(&request.job) else {
        return ConversionStatus::Error(-6);
    };
    match job.state.clone() {
        JobState::Running => ConversionStatus::NotYet,
        JobState::Failed(error) => {
            jobs.remove(&request.job);
            ConversionStatus::Error(error)
        }
        JobState::Done { .. } if request.asynchronous && job.polls_left > 0 => {
            job.polls_left -= 1;
            ConversionStatus::NotYet
        }
        JobState::Done { path } => ConversionStatus::Done {
            url: path,
            file_type: request.extension().to_owned(),
        },
    }
}

async fn convert_document(simulator: &Simulator, request: &ValidatedConversion) -> Result<Bytes, i64> {
    let source = simulator.download(&request.url).await.ok_or(-4)?;
    let request = request.clone();
    let work = move || {
        let source = if source.is_empty() {
            blank::document(&request.file_type).into()
        } else {
            source
        };
        // Also an encrypted .docx, .xlsx or .pptx: it is a compound file instead of a zip archive.
        if legacy::is_legacy(&source) {
            return match request.extension() {
                "pdf" => Ok(pdf::document(&request.title, &legacy::lines(&source)?).into()),
                extension => legacy::converted(&source, extension).map(Bytes::from),
            };
        }
        let failed = |error| if error == DocumentError::TooLarge { -10 } else { -3 };
        let (kind, lines) = ooxml::read(&source).map_err(failed)?;
        match request.extension() {
            "pdf" if kind == ooxml::DocumentKind::Pdf => Ok(source),
            "pdf" => Ok(pdf::document(&request.title, &lines).into()),
            "txt" => Ok(lines.join("\n").into()),
            extension => Ok(ooxml::write(&blank::document(extension), &lines)
                .map_err(failed)?
                .into()),
        }
    };
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(-1))
}

fn render_json(status: &ConversionStatus) -> Value {
    match status {
        ConversionStatus::Error(error) => json!({"error": error}),
        ConversionStatus::NotYet => json!({"fileUrl": "", "percent": 0, "endConvert": false}),
        ConversionStatus::Done { url, file_type } => {
            json!({"fileUrl": url, "fileType": file_type, "percent": 100, "endConvert": true})
        }
    }
}

fn render_xml(status: &ConversionStatus) -> String {
    let fields = match status {
        ConversionStatus::Error(error) => format!("<Error>{error}</Error>"),
        ConversionStatus::NotYet => "<FileUrl/><FileType/><Percent>0</Percent><EndConvert>False</EndConvert>".into(),
        ConversionStatus::Done { url, file_type } => {
            let url = quick_xml::escape::escape(url.as_str());
            format!(
                "<FileUrl>{url}</FileUrl><FileType>{file_type}</FileType><Percent>100</Percent><EndConvert>True</EndConvert>"
            )
        }
    };
    format!(r#"<?xml version="1.0" encoding="utf-8"?><FileResult>{fields}</FileResult>"#)
}
