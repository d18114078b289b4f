//! A roster server: OneRoster REST and Schulconnex on a loopback port, with the data of a test, and with the faults that a
//! test asks for.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};

use super::fake_openid_provider::{encode, parse_form, read_request};

pub const ROSTER_CLIENT: &str = "groupwork";
pub const ROSTER_SECRET: &str = "roster secret with ü, & and :";

/// The lists of a server. The values are what the protocol sends.
#[derive(Debug, Clone, Default)]
pub struct RosterData {
    /// OneRoster lists by the last part of their path: `users`, `classes`, …
    pub lists: HashMap<&'static str, Vec<Value>>,
    /// The persons of Schulconnex.
    pub persons: Vec<Value>,
}

/// How a server deviates from the simplest correct one.
#[derive(Debug, Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the deviations are independent of each other"
)]
pub struct RosterHabits {
    /// Maximum number of rows of a page, whatever the limit of the request.
    pub page_max: Option<usize>,
    pub ignores_limit: bool,
    pub ignores_offset: bool,
    pub has_total: bool,
    pub has_links: bool,
    /// Whether requests with `sort` are rejected with 400.
    pub rejects_sort: bool,
    /// Whether the secret is accepted in the form only.
    pub rejects_basic: bool,
    /// The number of requests after which a token is no longer accepted.
    pub token_uses: Option<usize>,
    /// `expires_in` of tokens.
    pub token_seconds: Option<u64>,
    pub etag: Option<String>,
}

/// A request, as a fault sees it.
#[derive(Debug, Clone)]
pub struct RosterRequest {
    /// The last part of the path; `token` for the token endpoint.
    pub list: String,
    pub query: HashMap<String, String>,
    pub head: String,
    /// How many requests for this list there were before.
    pub earlier: usize,
}

impl RosterRequest {
    pub fn offset(&self) -> usize {
        self.query.get("offset").and_then(|text| text.parse().ok()).unwrap_or(0)
    }
}

/// A response.
#[derive(Debug, Clone)]
pub struct RosterReply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    /// The number of bytes of the body that are sent before the connection ends.
    pub cut_at: Option<usize>,
    /// A pause after each byte.
    pub drip: Option<Duration>,
}

impl RosterReply {
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.into(),
            cut_at: None,
            drip: None,
        }
    }

    pub fn json(body: &Value) -> Self {
        Self::new(200, body.to_string())
    }

    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// Replaces the response to a request, or changes the data before it is answered.
pub type RosterFault = Box<dyn FnMut(&RosterRequest, &mut RosterData) -> Option<RosterReply> + Send>;

/// A server on a loopback port. It stops when the value is dropped.
pub struct FakeRosterServer {
    /// The address that an administrator enters.
    pub url: String,
    pub token_url: String,
    state: Arc<ServerState>,
    serving: tokio::task::JoinHandle<()>,
}

#[derive(Default)]
struct ServerState {
    base: String,
    data: Mutex<RosterData>,
    habits: Mutex<RosterHabits>,
    fault: Mutex<Option<RosterFault>>,
    requests: Mutex<Vec<RosterRequest>>,
    /// Uses of each token.
    tokens: Mutex<Vec<usize>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FakeRosterServer {
    pub async fn start(data: RosterData) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(ServerState {
            base: base.clone(),
            data: Mutex::new(data),
            ..ServerState::default()
        });
        let shared = Arc::clone(&state);
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let state = Arc::clone(&shared);
                // A client that goes away early is no error.
                tokio::spawn(async move { serve(stream, &state).await.unwrap_or_default() });
            }
        });
        Self {
            url: format!("{base}/ims/oneroster/v1p1"),
            token_url: format!("{base}/token"),
            state,
            serving,
        }
    }

    pub fn habits(&self, change: impl FnOnce(&mut RosterHabits)) {
        change(&mut lock(&self.state.habits));
    }

    pub fn data(&self, change: impl FnOnce(&mut RosterData)) {
        change(&mut lock(&self.state.data));
    }

    /// Sets the fault of all further requests.
    pub fn fault(&self, fault: impl FnMut(&RosterRequest, &mut RosterData) -> Option<RosterReply> + Send + 'static) {
        *lock(&self.state.fault) = Some(Box::new(fault));
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<RosterRequest> {
        lock(&self.state.requests).clone()
    }

    /// Returns how often a list was requested.
    pub fn count(&self, list: &str) -> usize {
        self.requests().iter().filter(|request| request.list == list).count()
    }

    /// Returns the number of tokens that were issued.
    pub fn tokens(&self) -> usize {
        lock(&self.state.tokens).len()
    }
}

impl Drop for FakeRosterServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(mut stream: TcpStream, state: &ServerState) -> std::io::Result<()> {
    let (head, body) = read_request(&mut stream).await?;
    let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let list = path.rsplit('/').next().unwrap_or_default().to_owned();
    let request = {
        let mut requests = lock(&state.requests);
        let earlier = requests.iter().filter(|request| request.list == list).count();
        let request = RosterRequest {
            list,
            query: parse_form(query).into_iter().collect(),
            head,
            earlier,
        };
        requests.push(request.clone());
        request
    };
    let reply = reply(state, &request, path, &body);
    let mut head = format!("HTTP/1.1 {} Reply\r\nconnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        write!(head, "{name}: {value}\r\n").unwrap();
    }
    if reply.status != 304 {
        write!(head, "content-length: {}\r\n", reply.body.len()).unwrap();
    }
    stream.write_all(format!("{head}\r\n").as_bytes()).await?;
    let sent = &reply.body[..reply.cut_at.unwrap_or(reply.body.len())];
    match reply.drip {
        None => stream.write_all(sent).await?,
        Some(pause) => {
            for byte in sent {
                stream.write_all(&[*byte]).await?;
                tokio::time::sleep(pause).await;
            }
        }
    }
    stream.shutdown().await
}

fn reply(state: &ServerState, request: &RosterRequest, path: &str, body: &str) -> RosterReply {
    if let Some(fault) = &mut *lock(&state.fault)
        && let Some(reply) = fault(request, &mut lock(&state.data))
    {
        return reply;
    }
    let habits = lock(&state.habits).clone();
    if request.list == "token" {
        return token(state, request, body, &habits);
    }
    if !use_token(state, request, &habits) {
        return RosterReply::new(401, "{}");
    }
    if request.list == "personen-info" {
        return persons(state, request, &habits);
    }
    page(state, request, path, &habits)
}

fn token(state: &ServerState, request: &RosterRequest, body: &str, habits: &RosterHabits) -> RosterReply {
    let form: HashMap<String, String> = parse_form(body).into_iter().collect();
    let text = |key: &str| form.get(key).map(String::as_str).unwrap_or_default();
    let credentials = [ROSTER_CLIENT, ROSTER_SECRET].map(encode).join(":");
    let basic = format!("authorization: Basic {}", STANDARD.encode(credentials));
    let has_basic = !habits.rejects_basic && request.head.lines().any(|line| line.eq_ignore_ascii_case(&basic));
    let has_form = text("client_id") == ROSTER_CLIENT && text("client_secret") == ROSTER_SECRET;
    if text("grant_type") != "client_credentials" || !(has_basic || has_form) {
        return RosterReply::new(401, r#"{"error":"invalid_client"}"#);
    }
    let mut tokens = lock(&state.tokens);
    tokens.push(0);
    let mut body = json!({"access_token": format!("token-{}", tokens.len()), "token_type": "Bearer"});
    if let Some(seconds) = habits.token_seconds {
        body["expires_in"] = json!(seconds);
    }
    RosterReply::json(&body)
}

/// Counts a use of the token; returns whether it is accepted.
fn use_token(state: &ServerState, request: &RosterRequest, habits: &RosterHabits) -> bool {
    let sent = request
        .head
        .lines()
        .find_map(|line| line.strip_prefix("authorization: Bearer token-"));
    let Some(number) = sent.and_then(|number| number.trim().parse::<usize>().ok()) else {
        return false;
    };
    let mut tokens = lock(&state.tokens);
    let Some(uses) = number.checked_sub(1).and_then(|index| tokens.get_mut(index)) else {
        return false;
    };
    *uses += 1;
    habits.token_uses.is_none_or(|most| *uses <= most)
}

fn persons(state: &ServerState, request: &RosterRequest, habits: &RosterHabits) -> RosterReply {
    let mut reply = RosterReply::json(&Value::Array(lock(&state.data).persons.clone()));
    if let Some(etag) = &habits.etag {
        let known = format!("if-none-match: {etag}");
        if request.head.lines().any(|line| line == known) {
            reply = RosterReply::new(304, "");
        }
        reply = reply.with("etag", etag.clone());
    }
    reply
}

fn page(state: &ServerState, request: &RosterRequest, path: &str, habits: &RosterHabits) -> RosterReply {
    if habits.rejects_sort && request.query.contains_key("sort") {
        return RosterReply::new(400, "{}");
    }
    let data = lock(&state.data);
    let Some((list, rows)) = data.lists.get_key_value(request.list.as_str()) else {
        return RosterReply::new(404, "{}");
    };
    let number = |key: &str, default: usize| {
        request
            .query
            .get(key)
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    };
    let offset = if habits.ignores_offset { 0 } else { number("offset", 0) };
    let mut limit = number("limit", 100).min(habits.page_max.unwrap_or(usize::MAX));
    if habits.ignores_limit {
        limit = usize::MAX;
    }
    let shown: Vec<&Value> = rows.iter().skip(offset).take(limit).collect();
    let key = if ["teachers", "students"].contains(list) {
        "users"
    } else {
        list
    };
    let mut reply = RosterReply::json(&json!({key: shown}));
    let end = offset + shown.len();
    if habits.has_total {
        reply = reply.with("x-total-count", rows.len().to_string());
    }
    if habits.has_links {
        let link = |offset: usize, relation: &str| {
            format!(
                "<{}{path}?limit={limit}&offset={offset}>; rel=\"{relation}\"",
                state.base
            )
        };
        let mut links = vec![link(0, "first")];
        if end < rows.len() {
            links.push(link(end, "next"));
        }
        reply = reply.with("link", links.join(", "));
    }
    reply
}

/// Builds OneRoster data of version 1.1: one school with `students` students in homerooms and courses of about 25, and a
/// teacher for each course.
pub fn one_roster_school(students: usize) -> RosterData {
    let classes = students.div_ceil(25).max(1);
    let reference = |id: String| json!({"sourcedId": id, "href": "https://r.example/x"});
    let user = |id: String, role: &str, name: &str, number: usize| {
        json!({
            "sourcedId": id, "status": "active", "enabledUser": "true", "role": role, "username": "",
            "givenName": format!("{name}{number}"), "familyName": "Roster", "orgs": [{"sourcedId": "O1"}],
            "dateLastModified": "2026-09-01T00:00:00Z", "userIds": [], "grades": ["07"],
        })
    };
    let mut users: Vec<Value> = (0..classes)
        .map(|n| user(format!("T{n:05}"), "teacher", "Tara", n))
        .collect();
    users.extend((0..students).map(|n| user(format!("U{n:05}"), "student", "Sam", n)));
    let class = |id: String, title: String, kind: &str| {
        json!({
            "sourcedId": id, "status": "active", "title": title, "classType": kind,
            "school": {"sourcedId": "O1"}, "terms": [{"sourcedId": "Y1"}], "course": {"sourcedId": "K1"},
        })
    };
    let mut all: Vec<Value> = (0..classes)
        .map(|n| class(format!("C{n:05}"), format!("Course {n}"), "scheduled"))
        .collect();
    all.extend((0..classes).map(|n| class(format!("H{n:05}"), format!("H{n}"), "homeroom")));
    let enrollment = |id: String, class: String, user: String, role: &str| {
        json!({
            "sourcedId": id, "status": "active", "role": role, "primary": if role == "teacher" { "true" } else { "false" },
            "class": reference(class), "user": reference(user), "school": {"sourcedId": "O1"},
        })
    };
    let mut enrollments = Vec::new();
    for n in 0..classes {
        enrollments.push(enrollment(
            format!("ET{n:05}"),
            format!("C{n:05}"),
            format!("T{n:05}"),
            "teacher",
        ));
    }
    for n in 0..students {
        for kind in ["C", "H"] {
            let class = format!("{kind}{:05}", n / 25);
            enrollments.push(enrollment(
                format!("E{kind}{n:05}"),
                class,
                format!("U{n:05}"),
                "student",
            ));
        }
    }
    let org = |id: &str, kind: &str| json!({"sourcedId": id, "status": "active", "name": "North", "type": kind});
    let session = json!({"sourcedId": "Y1", "status": "active", "title": "2026/27", "schoolYear": "2027"});
    RosterData {
        lists: HashMap::from([
            ("orgs", vec![org("O0", "district"), org("O1", "school")]),
            ("academicSessions", vec![session]),
            ("users", users),
            ("classes", all),
            ("enrollments", enrollments),
        ]),
        persons: Vec::new(),
    }
}

/// Builds the same school as Schulconnex sends it.
pub fn schulconnex_school(students: usize) -> RosterData {
    let classes = students.div_ceil(25).max(1);
    let group = |kind: &str, number: usize, roles: &[&str]| {
        let (id, title) = match kind {
            "Klasse" => (format!("H{number:05}"), format!("H{number}")),
            _ => (format!("C{number:05}"), format!("Course {number}")),
        };
        json!({
            "gruppe": {"id": id, "bezeichnung": title, "typ": kind, "laufzeit": {"vonlernperiode": "2026"}},
            "gruppenzugehoerigkeit": {"rollen": roles},
        })
    };
    let mut persons: Vec<Value> = (0..classes)
        .map(|n| {
            person(
                &format!("T{n:05}"),
                "Lehr",
                (&format!("Tara{n}"), "Roster"),
                vec![group("Kurs", n, &["Lehr"])],
            )
        })
        .collect();
    persons.extend((0..students).map(|n| {
        let groups = vec![group("Kurs", n / 25, &["Lern"]), group("Klasse", n / 25, &["Lern"])];
        person(&format!("U{n:05}"), "Lern", (&format!("Sam{n}"), "Roster"), groups)
    }));
    RosterData {
        persons,
        ..RosterData::default()
    }
}

/// Builds a person of Schulconnex with one context.
pub fn person(id: &str, role: &str, (first, last): (&str, &str), groups: Vec<Value>) -> Value {
    json!({
        "pid": id,
        "person": {"name": {"vorname": first, "familienname": last}},
        "personenkontexte": [{
            "id": format!("K-{id}"), "rolle": role, "personenstatus": "Aktiv",
            "organisation": {"id": "O1", "name": "North"}, "gruppen": groups,
        }],
    })
}

/// Returns the ids in a table of the archive, to compare sets.
pub fn column(table: &str, index: usize) -> HashSet<String> {
    let rows = table.lines().skip(1);
    rows.filter_map(|row| row.split(',').nth(index).map(|cell| cell.trim_matches('"').to_owned()))
        .collect()
}
