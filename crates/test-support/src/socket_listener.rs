//! Events of one user's realtime connection, received by the official Socket.IO client on Node.

use std::collections::VecDeque;
use std::process::Stdio;
use std::time::Duration;

use domain::realtime::Event;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::app::FRONTEND;
use super::event_recorder::check;
use super::{TestApp, TestUser, WAIT_TIMEOUT};

const CLIENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/clients");

pub struct SocketListener {
    who: String,
    child: Child,
    orders: Option<ChildStdin>,
    lines: mpsc::UnboundedReceiver<(String, Value)>,
    unread: VecDeque<(String, Value)>,
}

/// Whether the official client is installed. Without it the test is skipped with a message, but in CI it fails.
pub fn clients_are_installed() -> bool {
    let modules = std::path::Path::new(CLIENTS).join("node_modules");
    let wanted = [
        "socket.io-client",
        "better-auth",
        "@seriousme/openapi-schema-validator",
        "openapi-fetch",
        "typescript",
    ];
    let there = wanted.iter().all(|name| modules.join(name).is_dir());
    if !there {
        assert!(
            super::environment("CI").is_none(),
            "the npm clients are required in CI: run scripts/setup-tests"
        );
        super::report_skipped("the npm clients are not installed; scripts/setup-tests installs them");
    }
    there
}

impl SocketListener {
    /// Connects as this user and waits until the server confirms that the rooms are joined and the client uses the
    /// WebSocket: a session that ends between two polls ends the connection with 401 instead of `session:revoked`.
    pub async fn connect(app: &TestApp, person: &TestUser) -> Self {
        Self::connect_at(&app.base, person).await
    }

    /// Like `connect`, for another instance.
    pub async fn connect_at(base: &str, person: &TestUser) -> Self {
        let mut options = options(base, Some(&person.cookie), Some(FRONTEND), &[]);
        options["reportsUpgrade"] = json!(true);
        let mut listener = Self::start(&person.name, &options);
        listener.expect("ready").await;
        listener.expect("upgrade").await;
        listener
    }

    /// Like `connect`, through a proxy without sticky sessions, where only the WebSocket transport keeps one connection.
    pub async fn connect_through_proxy(base: &str, person: &TestUser) -> Self {
        let options = options(base, Some(&person.cookie), Some(FRONTEND), &["websocket"]);
        let mut listener = Self::start(&person.name, &options);
        listener.expect("ready").await;
        listener
    }

    /// Connects with any cookie and origin; the resulting events are recorded.
    pub fn open(app: &TestApp, who: &str, cookie: Option<&str>, origin: Option<&str>, transports: &[&str]) -> Self {
        Self::start(who, &options(&app.base, cookie, origin, transports))
    }

    /// Connects with the event position of an earlier response; `ready` stays unread.
    pub fn open_since(app: &TestApp, person: &TestUser, since: &str) -> Self {
        let mut options = options(&app.base, Some(&person.cookie), Some(FRONTEND), &["websocket"]);
        options["since"] = json!(since);
        Self::start(&person.name, &options)
    }

    fn start(who: &str, options: &Value) -> Self {
        let mut child = Command::new("node")
            .arg("listen.mjs")
            .arg(options.to_string())
            .current_dir(CLIENTS)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (sender, receiver) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                let said: Value = serde_json::from_str(&line).unwrap();
                let event = said["event"].as_str().unwrap().to_owned();
                if sender.send((event, said["payload"].clone())).is_err() {
                    return;
                }
            }
        });
        Self {
            who: who.to_owned(),
            orders: child.stdin.take(),
            child,
            lines: receiver,
            unread: VecDeque::new(),
        }
    }

    /// Waits for the next such event and returns its payload; earlier events of other types stay unread.
    #[track_caller]
    pub fn expect(&mut self, event: &str) -> impl Future<Output = Value> {
        self.expect_where(event, |_| true)
    }

    /// Waits for the next such event whose payload matches.
    pub async fn expect_where(&mut self, event: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + WAIT_TIMEOUT;
        let found = |(name, payload): &(String, Value)| name == event && fits(payload);
        if let Some(at) = self.unread.iter().position(found) {
            return self.unread.remove(at).unwrap().1;
        }
        while let Ok(Some(line)) = timeout_at(deadline, self.received()).await {
            if found(&line) {
                return line.1;
            }
            self.unread.push_back(line);
        }
        panic!("{} did not hear {event}; unread: {:#?}", self.who, self.unread);
    }

    /// Whether a matching event has arrived or arrives within this time.
    pub async fn receives_within(&mut self, time: Duration, event: &str, fits: impl Fn(&Value) -> bool) -> bool {
        let deadline = Instant::now() + time;
        let found = |(name, payload): &(String, Value)| name == event && fits(payload);
        if self.unread.iter().any(found) {
            return true;
        }
        while let Ok(Some(line)) = timeout_at(deadline, self.received()).await {
            let is_it = found(&line);
            self.unread.push_back(line);
            if is_it {
                return true;
            }
        }
        false
    }

    /// Requires that only connection events are unread and that no other event arrives within this time. Students may
    /// also receive the presence of their groups (`group:presence`), and only staff that of the board
    /// (`board:activity`).
    pub async fn expect_no_event(&mut self, milliseconds: u64) {
        let deadline = Instant::now() + Duration::from_millis(milliseconds);
        while let Ok(Some(line)) = timeout_at(deadline, self.received()).await {
            self.unread.push_back(line);
        }
        let received: Vec<_> = self
            .unread
            .iter()
            .filter(|(event, _)| !["connect", "ready"].contains(&event.as_str()))
            .filter(|(event, _)| event != "group:presence")
            .filter(|(event, _)| event != "board:activity" || self.who.ends_with("Student"))
            .collect();
        assert!(received.is_empty(), "{} heard {received:#?}", self.who);
    }

    /// Returns the next event, validated against its schema unless the client library or a test emitted it.
    async fn received(&mut self) -> Option<(String, Value)> {
        let (event, payload) = self.lines.recv().await?;
        if Event::parse(&event).is_some() && payload.get("word").is_none() {
            check(&event, &payload);
        }
        Some((event, payload))
    }

    /// Returns the payloads of all such events received so far; they stay unread.
    pub fn all(&mut self, event: &str) -> Vec<Value> {
        while let Ok(line) = self.lines.try_recv() {
            self.unread.push_back(line);
        }
        let found = self.unread.iter().filter(|(name, _)| name == event);
        found.map(|(_, payload)| payload.clone()).collect()
    }

    /// Discards the events received so far, except such events.
    pub fn discard_except(&mut self, event: &str) {
        let kept = self.all(event);
        self.unread = kept.into_iter().map(|payload| (event.to_owned(), payload)).collect();
    }

    /// Discards the events received so far.
    pub fn discard(&mut self) {
        while let Ok(line) = self.lines.try_recv() {
            drop(line);
        }
        self.unread.clear();
    }

    /// Makes the client emit a message.
    pub async fn emit(&mut self, message: Value) {
        let orders = self.orders.as_mut().unwrap();
        orders.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    /// Disconnects and waits until the client process has exited.
    pub async fn disconnect(mut self) {
        drop(self.orders.take());
        self.child.wait().await.unwrap();
    }
}

/// The options of `listen.mjs`.
fn options(base: &str, cookie: Option<&str>, origin: Option<&str>, transports: &[&str]) -> Value {
    let mut options = json!({"baseUrl": base, "cookie": cookie, "origin": origin});
    if !transports.is_empty() {
        options["transports"] = json!(transports);
    }
    options
}
