//! A measured process with a filled school, and the responses that are compared.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use crate::database_copies::DatabaseLocation;
use crate::lanes::{HttpLoad, Lane, Load, LoadTarget, MeasuredServer, Operation};
use crate::process::{ServiceProcess, StartOptions, get};
use crate::queries::PAGE;
use crate::seed::{self, BenchUser, BenchUsers, ChatRoom, MeasuredClass};

/// A filled school.
pub struct FilledSchool {
    pub measured: ServiceProcess,
    /// Its folder.
    pub folder: PathBuf,
    /// Its rows.
    pub rows: DatabaseLocation,
    /// The measured class.
    pub lesson: MeasuredClass,
    /// The rooms for chat messages.
    pub talks: Vec<ChatRoom>,
    /// Rows of the other classes, and records of the activity log.
    pub sizes: [usize; 2],
    /// The groups of the measured class.
    pub groups: RecordedResponse,
    /// A page of the activity log.
    pub log_page: RecordedResponse,
}

impl FilledSchool {
    /// Starts a process and fills its school with this multiple of the usual rows.
    pub async fn open(
        folder: &Path,
        results: SocketAddr,
        database_url: Option<&str>,
        times: usize,
    ) -> anyhow::Result<Self> {
        let measured = ServiceProcess::start(&StartOptions {
            database_url,
            ..StartOptions::usual(folder, results)
        })?;
        let rows = database_url.map_or_else(
            || DatabaseLocation::Sqlite(folder.join("groupwork.db")),
            |url| DatabaseLocation::Postgres(url.to_owned()),
        );
        let people = measured.people()?;
        let lesson = seed::lesson(&measured.base, people).await?;
        let classes = rows.copy_classes(seed::OTHER_CLASSES * times)?;
        let records = rows.copy_log(seed::LOG_ROWS * times)?;
        // After the copies: this class must not be copied.
        let talks = seed::talks(&measured.base, people, &lesson).await?;
        let path = format!("/api/groups?classId={}", lesson.class);
        let groups = RecordedResponse::new(&measured, "groups", &path, &people.teacher).await?;
        // Not the first page, which concurrent writes would change.
        let first = measured.get(&page_of_log(None), &people.admin).await?;
        let first: serde_json::Value = serde_json::from_slice(&first)?;
        let next = page_of_log(first["nextCursor"].as_str());
        let log_page = RecordedResponse::new(&measured, "log", &next, &people.admin).await?;
        Ok(Self {
            measured,
            folder: folder.to_owned(),
            rows,
            lesson,
            talks,
            sizes: [classes, records],
            groups,
            log_page,
        })
    }

    pub fn people(&self) -> anyhow::Result<&BenchUsers> {
        self.measured.people()
    }

    /// Creates a lane that requests a recorded response from the service.
    pub fn lane<'s>(&'s self, what: Operation, who: MeasuredServer, recorded: &'s RecordedResponse) -> Lane<'s> {
        let request = match who {
            MeasuredServer::Limit => &recorded.ask_memory,
            _ => &recorded.ask,
        };
        fixed(
            LoadTarget(what, who),
            self.measured.address,
            vec![self.measured.process()],
            request,
            &recorded.body,
        )
    }

    /// Creates a lane of chat messages.
    pub fn chat_lane(&self) -> Lane<'_> {
        let cookies = self.talks.iter().map(|talk| talk.student.cookie.clone()).collect();
        chat_lane(
            MeasuredServer::Service,
            self.measured.address,
            vec![self.measured.process()],
            &self.talks,
            cookies,
        )
    }
}

/// Creates a lane that repeats one request with a constant response.
pub fn fixed<'s>(
    target: LoadTarget,
    address: SocketAddr,
    processes: Vec<u32>,
    request: &'s [u8],
    body: &'s [u8],
) -> Lane<'s> {
    Lane {
        target,
        work: Load::Http(HttpLoad {
            address,
            processes,
            ask: Box::new(move |_, _| request.to_vec()),
            status: 200,
            body: Some(body),
        }),
    }
}

/// Creates a lane of messages by students with these cookies.
pub fn chat_lane(
    who: MeasuredServer,
    host: SocketAddr,
    processes: Vec<u32>,
    talks: &[ChatRoom],
    cookies: Vec<String>,
) -> Lane<'_> {
    let ask = move |connection: usize, count: u64| {
        let (room, cookie) = (
            &talks[connection % talks.len()].room,
            &cookies[connection % talks.len()],
        );
        let head = format!("Cookie: {cookie}\r\nOrigin: http://{host}\r\nContent-Type: application/json\r\n");
        let path = format!("/api/workrooms/{room}/messages");
        post(host, &path, &head, &chat_message(connection, count))
    };
    Lane {
        target: LoadTarget(Operation::SendMessage, who),
        work: Load::Http(HttpLoad {
            address: host,
            processes,
            ask: Box::new(ask),
            status: 201,
            body: None,
        }),
    }
}

/// Builds a POST request.
pub fn post(host: SocketAddr, path: &str, more: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n{more}\r\n{body}").into_bytes()
}

/// Builds the body of a chat message.
pub fn chat_message(connection: usize, count: u64) -> String {
    format!(
        "{{\"content\":\"We have looked at the onion, {connection} of us, for the {count}th time. What is next?\"}}"
    )
}

fn page_of_log(cursor: Option<&str>) -> String {
    let cursor = cursor.map(|cursor| format!("&cursor={cursor}"));
    format!("/api/activity-logs?limit={PAGE}{}", cursor.unwrap_or_default())
}

/// A request and its response, which the service also keeps in memory under a name.
pub struct RecordedResponse {
    /// The requested path.
    pub path: String,
    /// The request.
    pub ask: Vec<u8>,
    /// The request of the same response from memory.
    pub ask_memory: Vec<u8>,
    /// The body of the response.
    pub body: Vec<u8>,
}

impl RecordedResponse {
    /// Sends the request to the service once.
    pub async fn new(measured: &ServiceProcess, name: &str, path: &str, person: &BenchUser) -> anyhow::Result<Self> {
        let recorded = Self::of(measured.address, path, &person.cookie, name).await?;
        measured.record(name, recorded.body.clone()).await?;
        Ok(recorded)
    }

    /// Sends the request to any server once.
    pub async fn of(host: SocketAddr, path: &str, cookie: &str, name: &str) -> anyhow::Result<Self> {
        let body = get(&format!("http://{host}{path}"), cookie).await?;
        // Both requests have the cookie, so parsing their headers costs the same.
        let ask = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n").into_bytes();
        Ok(Self {
            path: path.to_owned(),
            ask: ask(path),
            ask_memory: ask(&format!("/memory/{name}")),
            body,
        })
    }
}
