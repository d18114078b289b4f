//! Holds every answer that a test gets against the OpenAPI document: a status, a code or a field that the document does
//! not know fails the test that met it. And records examples for the document, when asked to:
//!
//! - `GROUPWORK_EXAMPLES=1 make test` (or a part of the tests) writes one real exchange of each route that has none, or
//!   none that fits, to docs/examples.json; `make describe` then puts it into the document.
//! - `GROUPWORK_UNDOCUMENTED=/tmp/faults make test` lists what is undocumented there and fails no test for it.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::{Mutex, OnceLock};

use api::endpoint::Row;
use api::router;
use reqwest::Url;
use serde_json::{Value, json};

use super::{environment, recorded};

/// The document with its routes.
pub struct Document {
    pub value: Value,
    pub rows: Vec<Row>,
}

/// The document as the service of this build tells it.
pub fn document() -> &'static Document {
    static DOCUMENT: OnceLock<Document> = OnceLock::new();
    DOCUMENT.get_or_init(|| {
        let (document, rows) = router::description();
        let value = serde_json::to_value(document).unwrap();
        Document { value, rows }
    })
}

/// One request with its answer.
pub struct Exchange<'a> {
    pub method: &'a str,
    pub url: &'a Url,
    /// The body of the request, if it is one that can be shown.
    pub request: Option<Value>,
    /// The media type of the request.
    pub sent: &'a str,
    pub status: u16,
    pub media: &'a str,
    pub answer: &'a [u8],
    /// Whether it is part of the lesson whose exchanges are the examples of the document.
    pub is_of_lesson: bool,
}

/// Holds an exchange against the document.
#[track_caller]
pub fn check(exchange: &Exchange<'_>) {
    let Some(row) = document().route(exchange.method, exchange.url.path()) else {
        return; // Nobody's path, or another method.
    };
    let faults = document().faults(row, exchange);
    if faults.is_empty() {
        recorded::keep(row, exchange);
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

/// Appends a fault to the list, once.
fn list(path: &str, fault: &str) {
    static KNOWN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if KNOWN.lock().unwrap().insert(fault.to_owned()) {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        writeln!(file.unwrap(), "{fault}").unwrap();
    }
}

impl Document {
    /// The route that answers a path; a word in the path is preferred to a parameter.
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

    /// What the document says of a route.
    pub fn operation(&self, row: &Row) -> &Value {
        &self.value["paths"][&row.path][row.method.to_lowercase()]
    }

    /// Follows a reference, if this is one.
    pub fn resolved<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str() {
            Some(reference) => self.value.pointer(reference.trim_start_matches('#')).expect(reference),
            None => value,
        }
    }

    /// The codes that a route is documented to answer with a status.
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

    /// Notes where a value differs from its schema. Fields that the schema does not name are faults, too.
    pub fn compare(&self, schema: &Value, value: &Value, place: &str, faults: &mut Vec<String>) {
        let schema = self.resolved(schema);
        for key in ["oneOf", "anyOf"] {
            if let Some(choices) = schema[key].as_array() {
                let found = choices.iter().map(|choice| {
                    let mut faults = Vec::new();
                    self.compare(choice, value, place, &mut faults);
                    faults
                });
                // Where it fits none, the nearest tells most.
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
        // `Object` without properties documents nothing but that it is one.
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

    /// The schemas that together describe an object (`allOf`).
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
