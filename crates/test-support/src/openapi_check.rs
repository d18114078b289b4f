//! Compares every response that a test receives with the OpenAPI document: an undocumented status, code or field fails
//! the test that received it. On request, it also records examples for the document:
//!
//! - `GROUPWORK_EXAMPLES=1 make test` (or a part of the tests) writes one real exchange of each route without a valid
//!   example to docs/examples.json; `make describe` then adds them to the document.
//! - `GROUPWORK_UNDOCUMENTED=/tmp/faults make test` lists undocumented responses in that file instead of failing tests.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::{Mutex, OnceLock};

use api::endpoint::Row;
use api::router;
use reqwest::Url;
use serde_json::{Value, json};

use super::{environment, openapi_examples};

/// The document with its routes.
pub struct OpenApiDocument {
    pub value: Value,
    pub rows: Vec<Row>,
}

/// Returns the document that this build of the service generates.
pub fn document() -> &'static OpenApiDocument {
    static DOCUMENT: OnceLock<OpenApiDocument> = OnceLock::new();
    DOCUMENT.get_or_init(|| {
        let (document, rows) = router::description();
        let value = serde_json::to_value(document).unwrap();
        OpenApiDocument { value, rows }
    })
}

/// One request with its response.
pub struct Exchange<'a> {
    pub method: &'a str,
    pub url: &'a Url,
    /// The body of the request, if it can be shown.
    pub request: Option<Value>,
    /// The media type of the request body.
    pub sent: &'a str,
    pub status: u16,
    pub media: &'a str,
    pub answer: &'a [u8],
    /// Whether the exchange belongs to the lesson whose exchanges are the examples of the document.
    pub is_of_lesson: bool,
}

/// Compares an exchange with the document.
#[track_caller]
pub fn check(exchange: &Exchange<'_>) {
    let Some(row) = document().route(exchange.method, exchange.url.path()) else {
        return; // An unknown path or method.
    };
    let faults = document().faults(row, exchange);
    if faults.is_empty() {
        openapi_examples::keep(row, exchange);
        return;
    }
    for fault in faults {
        let fault = format!("{} {}: {fault}", row.method, row.path);
        match environment("GROUPWORK_UNDOCUMENTED") {
            Some(path) => list(&path, &fault),
            None => panic!("{fault}"),
        }
    }
}

/// Appends a fault to the list, unless it is already there.
fn list(path: &str, fault: &str) {
    static KNOWN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if KNOWN.lock().unwrap().insert(fault.to_owned()) {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        writeln!(file.unwrap(), "{fault}").unwrap();
    }
}

impl OpenApiDocument {
    /// Returns the route that handles a path; a literal segment is preferred to a parameter.
    pub fn route(&self, method: &str, path: &str) -> Option<&Row> {
        let path = path.strip_prefix("/api")?;
        let asked: Vec<&str> = path.split('/').collect();
        let fits = |row: &&Row| {
            let parts: Vec<&str> = row.path.split('/').collect();
            let mut pairs = parts.iter().zip(&asked);
            row.method == method
                && parts.len() == asked.len()
                && pairs.all(|(part, word)| part == word || part.starts_with('{'))
        };
        let found = self.rows.iter().filter(fits);
        found.min_by_key(|row| row.path.matches('{').count())
    }

    /// Returns the documentation of a route.
    pub fn operation(&self, row: &Row) -> &Value {
        &self.value["paths"][&row.path][row.method.to_lowercase()]
    }

    /// Resolves a `$ref`; other values are returned unchanged.
    pub fn resolved<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str() {
            Some(reference) => self.value.pointer(reference.trim_start_matches('#')).expect(reference),
            None => value,
        }
    }

    /// Returns the error codes that are documented for a route and a status.
    pub fn codes(&self, row: &Row, status: u16) -> Vec<&str> {
        let response = &self.operation(row)["responses"][status.to_string()];
        let codes = self.resolved(response)["x-codes"].as_array();
        codes.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    fn faults(&self, row: &Row, exchange: &Exchange<'_>) -> Vec<String> {
        let status = exchange.status;
        let response = &self.operation(row)["responses"][status.to_string()];
        let body: Value = serde_json::from_slice(exchange.answer).unwrap_or(Value::Null);
        let code = body["code"].as_str().filter(|_| status >= 400);
        if let Some(code) = code.filter(|code| !self.codes(row, status).contains(code)) {
            let more = self.codes(row, status).join(", ");
            return vec![format!(
                "answered {status} {code}; write (status = {status}, description = \"{code}, …\") into the responses \
                 of its #[utoipa::path] (documented so far: {more})"
            )];
        }
        if response.is_null() {
            return vec![format!(
                "answered {status}; write (status = {status}, ..) into the responses of its #[utoipa::path]"
            )];
        }
        let schema = &self.resolved(response)["content"]["application/json"]["schema"];
        let mut faults = Vec::new();
        if exchange.media == "application/json" && !schema.is_null() {
            self.compare(schema, &body, "the answer", &mut faults);
        }
        faults
    }

    /// Collects the differences between a value and its schema. Fields that the schema does not name are also faults.
    pub fn compare(&self, schema: &Value, value: &Value, place: &str, faults: &mut Vec<String>) {
        let schema = self.resolved(schema);
        for key in ["oneOf", "anyOf"] {
            if let Some(choices) = schema[key].as_array() {
                let found = choices.iter().map(|choice| {
                    let mut faults = Vec::new();
                    self.compare(choice, value, place, &mut faults);
                    faults
                });
                // If no alternative matches, the one with the fewest faults is the most informative.
                faults.extend(found.min_by_key(Vec::len).unwrap_or_default());
                return;
            }
        }
        if !is_of_type(&schema["type"], value) {
            let kinds = &schema["type"];
            let found = value.to_string();
            faults.push(format!("{place} is documented as {kinds} and was {found:.60}"));
            return;
        }
        if let Some(words) = schema["enum"].as_array()
            && !words.contains(value)
            && !value.is_null()
        {
            faults.push(format!("{place} is none of the documented words: {value}"));
        }
        match value {
            Value::Array(items) if !schema["items"].is_null() => {
                for item in items {
                    self.compare(&schema["items"], item, &format!("{place}[]"), faults);
                }
            }
            Value::Object(fields) => self.compare_object(schema, fields, place, faults),
            _ => {}
        }
    }

    fn compare_object(
        &self,
        schema: &Value,
        fields: &serde_json::Map<String, Value>,
        place: &str,
        faults: &mut Vec<String>,
    ) {
        let mut parts = Vec::new();
        self.parts(schema, &mut parts);
        let known = |name: &str| parts.iter().find_map(|part| part["properties"].get(name));
        let more = parts.iter().find_map(|part| part.get("additionalProperties"));
        // `Object` without properties documents only the type.
        let open = parts.iter().all(|part| part["properties"].is_null()) && more.is_none();
        for part in &parts {
            for name in part["required"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
            {
                if !fields.contains_key(name) {
                    faults.push(format!("{place}.{name} is documented as always there and was not"));
                }
            }
        }
        for (name, value) in fields {
            match (known(name), more) {
                (Some(schema), _) => self.compare(schema, value, &format!("{place}.{name}"), faults),
                (None, Some(more)) if more.is_object() => {
                    self.compare(more, value, &format!("{place}.{name}"), faults);
                }
                (None, Some(more)) if *more == json!(true) => {}
                (None, _) if open => {}
                (None, _) => faults.push(format!("{place}.{name} is not documented")),
            }
        }
    }

    /// Collects the schemas that together describe an object (`allOf`).
    fn parts<'a>(&'a self, schema: &'a Value, parts: &mut Vec<&'a Value>) {
        let schema = self.resolved(schema);
        parts.push(schema);
        for part in schema["allOf"].as_array().into_iter().flatten() {
            self.parts(part, parts);
        }
    }
}

fn is_of_type(kinds: &Value, value: &Value) -> bool {
    let is = |kind: &Value| match kind.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => true,
    };
    match kinds {
        Value::Array(kinds) => kinds.iter().any(is),
        Value::Null => true,
        kind => is(kind),
    }
}
