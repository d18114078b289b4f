//! Reports all problems of a request at once. serde stops at the first error: the rejected value is recorded, replaced
//! by a placeholder that serde accepts, and the request is parsed again, until no error remains or a limit is reached.

use garde::Validate;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use serde_path_to_error::{Path, Segment};

use super::strict_json::StrictJson;
use common::error::Problem;

/// Maximum number of times a request is parsed.
const ATTEMPTS: usize = 400;
/// Maximum number of bytes parsed in total. For a large body only the first problems are reported.
const WORK: usize = 8 << 20;
/// Maximum number of problems in a response.
const PROBLEMS: usize = 100;

/// The codes of problems with fields.
mod code {
    pub const REQUIRED: &str = "required";
    pub const TOO_SHORT: &str = "too_short";
    pub const TOO_LONG: &str = "too_long";
    pub const TYPE: &str = "type";
    pub const FORMAT: &str = "format";
    pub const ENUM: &str = "enum";
    pub const UNKNOWN: &str = "unknown";
}

/// Parses a body and checks its limits. `problems` were found before, for example unknown fields.
pub fn body<T: DeserializeOwned + Validate<Context = ()>>(
    mut problems: Vec<Problem>,
    value: Value,
) -> Result<T, Vec<Problem>> {
    let size = || serde_json::to_vec(&value).map_or(WORK, |text| text.len());
    if let Ok(parsed) = serde_path_to_error::deserialize::<_, T>(StrictJson(&value)) {
        problems.extend(limits(&parsed));
        return if problems.is_empty() { Ok(parsed) } else { Err(problems) };
    }
    let attempts = (WORK / size().max(1)).clamp(1, ATTEMPTS);
    let mut search = ShapeSearch {
        value,
        problems,
        replaced: Vec::new(),
    };
    search.run::<T>(attempts);
    Err(search.problems)
}

/// Parses a query and checks its limits.
pub fn query<T: DeserializeOwned + Validate<Context = ()>>(query: &[u8]) -> Result<T, Vec<Problem>> {
    let mut pairs: Vec<(String, String)> = form_urlencoded::parse(query).into_owned().collect();
    let mut problems = Vec::new();
    loop {
        let text = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(&pairs)
            .finish();
        let deserializer = serde_urlencoded::Deserializer::new(form_urlencoded::parse(text.as_bytes()));
        match serde_path_to_error::deserialize::<_, T>(deserializer) {
            Ok(parsed) => {
                let in_limits = limits(&parsed);
                // Some parameters were removed before, so this request is invalid even if the rest is valid.
                problems.extend(in_limits);
                return if problems.is_empty() { Ok(parsed) } else { Err(problems) };
            }
            Err(error) => {
                let found = Found::of(&error);
                let key = found.problem.path.clone();
                let before = pairs.len();
                pairs.retain(|(name, _)| *name != key);
                let is_known = problems.iter().any(|problem: &Problem| problem.path == key);
                if !is_known {
                    problems.push(found.problem);
                }
                // A missing key cannot be removed.
                if is_known || pairs.len() == before || problems.len() >= PROBLEMS {
                    return Err(problems);
                }
            }
        }
    }
}

/// The limits that a parsed value violates.
pub fn limits<T: Validate<Context = ()>>(parsed: &T) -> Vec<Problem> {
    let Err(report) = parsed.validate() else {
        return Vec::new();
    };
    let problems = report.iter().map(|(path, error)| {
        let message = error.to_string();
        Problem::new(camel_case(&path.to_string()), code_of_limit(&message), message)
    });
    problems.collect()
}

/// The code of a violated limit, derived from its message: the checks of the model and of garde have no codes.
fn code_of_limit(message: &str) -> &'static str {
    let starts = |with: &[&str]| with.iter().any(|start| message.starts_with(start));
    if starts(&["is required", "needs ", "must not be null"]) {
        code::REQUIRED
    } else if starts(&["must be at most", "must have at most", "length is greater"]) || message.contains("too long") {
        code::TOO_LONG
    } else if starts(&["must be at least", "must not be empty", "length is lower"]) || message.contains("too short") {
        code::TOO_SHORT
    } else if starts(&["must be ADMIN, "]) {
        code::ENUM
    } else {
        code::FORMAT
    }
}

/// The search for all problems of one body.
struct ShapeSearch {
    value: Value,
    problems: Vec<Problem>,
    replaced: Vec<Replaced>,
}

/// A part of the body that was replaced because it was wrong or missing.
struct Replaced {
    path: String,
    /// Index of the next placeholder.
    next: usize,
}

impl ShapeSearch {
    fn run<T: DeserializeOwned + Validate<Context = ()>>(&mut self, attempts: usize) {
        for _ in 0..attempts {
            match serde_path_to_error::deserialize::<_, T>(StrictJson(&self.value)) {
                Ok(parsed) => {
                    let limits = limits(&parsed).into_iter();
                    let replaced = &self.replaced;
                    let own =
                        limits.filter(|problem| !replaced.iter().any(|part| is_within(&problem.path, &part.path)));
                    self.problems.extend(own);
                    return;
                }
                Err(error) => {
                    if !self.replace(Found::of(&error)) || self.problems.len() >= PROBLEMS {
                        return;
                    }
                }
            }
        }
    }

    /// Records a problem and inserts a placeholder. Returns whether parsing again can find more problems.
    fn replace(&mut self, found: Found) -> bool {
        let Found {
            problem,
            steps,
            variant,
        } = found;
        let path = problem.path.clone();
        let is_missing = problem.code == code::REQUIRED;
        let is_unknown = problem.code == code::UNKNOWN;
        let is_of_stand_in = self.replaced.iter().any(|part| is_within(&path, &part.path));
        if !is_of_stand_in {
            self.problems.push(problem);
        }
        if is_unknown {
            return remove(&mut self.value, &steps);
        }
        // The rejected placeholder is the innermost one that contains the path.
        let failed = self.replaced.iter().rposition(|part| is_within(&path, &part.path));
        let at = match failed {
            // Only a part of the placeholder is missing, so that part gets its own.
            Some(_) if is_missing => None,
            failed => failed,
        };
        let at = at.unwrap_or_else(|| {
            self.replaced.push(Replaced { path, next: 0 });
            self.replaced.len() - 1
        });
        let part = &mut self.replaced[at];
        let stand_in = if let Some(variant) = variant {
            // The error names an accepted value.
            Value::String(variant)
        } else {
            let Some(stand_in) = stand_in(part.next) else {
                return false;
            };
            part.next += 1;
            stand_in
        };
        let steps = steps_of(&part.path, &steps);
        put(&mut self.value, &steps, stand_in)
    }
}

/// Placeholder values; most types accept one of them.
fn stand_in(number: usize) -> Option<Value> {
    let all = [
        Value::Null,
        json!("x"),
        json!(1),
        json!(true),
        json!([]),
        json!({}),
        json!("2030-01-01T00:00:00Z"),
        json!("08:00"),
        json!("23:00"),
    ];
    all.into_iter().nth(number)
}

/// A step of the path to a part of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Field(String),
    Entry(usize),
}

/// The first error of serde: its meaning and its path.
struct Found {
    problem: Problem,
    steps: Vec<Step>,
    /// A value that would be accepted, if the error names one.
    variant: Option<String>,
}

impl Found {
    fn of<E: std::fmt::Display>(error: &serde_path_to_error::Error<E>) -> Self {
        let text = error.inner().to_string();
        let mut steps = steps(error.path());
        let quoted = |prefix: &str| {
            let rest = text.strip_prefix(prefix)?;
            rest.split('`').next().map(str::to_owned)
        };
        let mut variant = None;
        let (code, message) = if let Some(field) = quoted("unknown field `") {
            // serde_path_to_error already includes the unknown key in the path.
            if steps.last() != Some(&Step::Field(field.clone())) {
                steps.push(Step::Field(field));
            }
            (code::UNKNOWN, "is not a field of this request".to_owned())
        } else if let Some(field) = quoted("missing field `") {
            steps.push(Step::Field(field));
            (code::REQUIRED, "is required".to_owned())
        } else if text.starts_with("unknown variant `") {
            variant = text
                .split("expected ")
                .nth(1)
                .and_then(|words| words.split('`').nth(1))
                .map(str::to_owned);
            (code::ENUM, text)
        } else {
            let is_type = [
                "invalid type",
                "must be an object",
                "invalid digit",
                "provided string was not",
            ]
            .iter()
            .any(|start| text.starts_with(start));
            (if is_type { code::TYPE } else { code::FORMAT }, text)
        };
        Self {
            problem: Problem::new(spelled(&steps), code, message),
            steps,
            variant,
        }
    }
}

fn steps(path: &Path) -> Vec<Step> {
    let step = |segment: &Segment| match segment {
        Segment::Seq { index } => Some(Step::Entry(*index)),
        Segment::Map { key } => Some(Step::Field(key.clone())),
        Segment::Enum { .. } | Segment::Unknown => None,
    };
    path.iter().filter_map(step).collect()
}

/// Formats a path: `groups[0].groupId`.
fn spelled(steps: &[Step]) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Field(name) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(name);
            }
            Step::Entry(index) => {
                path.push('[');
                path.push_str(&index.to_string());
                path.push(']');
            }
        }
    }
    path
}

/// The prefix of `steps` whose formatted path is `path`.
fn steps_of(path: &str, steps: &[Step]) -> Vec<Step> {
    let length = (0..=steps.len()).find(|length| spelled(&steps[..*length]) == path);
    steps[..length.unwrap_or(steps.len())].to_vec()
}

fn is_within(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer)
        .is_some_and(|rest| outer.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']))
}

/// The value that contains the last step.
fn parent<'v>(value: &'v mut Value, steps: &[Step]) -> Option<&'v mut Value> {
    let (_, before) = steps.split_last()?;
    let mut part = value;
    for step in before {
        part = match step {
            Step::Field(name) => part.get_mut(name)?,
            Step::Entry(index) => part.get_mut(*index)?,
        };
    }
    Some(part)
}

fn remove(value: &mut Value, steps: &[Step]) -> bool {
    match (parent(value, steps), steps.last()) {
        (Some(Value::Object(fields)), Some(Step::Field(name))) => fields.remove(name).is_some(),
        _ => false,
    }
}

fn put(value: &mut Value, steps: &[Step], stand_in: Value) -> bool {
    if steps.is_empty() {
        // The body itself is not an object, so its missing fields are not reported.
        *value = Value::Object(Map::new());
        return false;
    }
    match (parent(value, steps), steps.last()) {
        (Some(Value::Object(fields)), Some(Step::Field(name))) => {
            fields.insert(name.clone(), stand_in);
            true
        }
        (Some(Value::Array(entries)), Some(Step::Entry(index))) => match entries.get_mut(*index) {
            Some(entry) => {
                *entry = stand_in;
                true
            }
            None => false,
        },
        _ => false,
    }
}

/// Converts Rust field names, which limits are checked on, to JSON names.
fn camel_case(path: &str) -> String {
    let mut camel = String::with_capacity(path.len());
    let mut raise = false;
    for character in path.chars() {
        if character == '_' {
            raise = true;
        } else {
            camel.push(if raise {
                character.to_ascii_uppercase()
            } else {
                character
            });
            raise = false;
        }
    }
    camel
}

#[cfg(test)]
#[path = "shape_tests.rs"]
mod tests;
