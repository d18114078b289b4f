//! The simulated crowd: students in classes, each with a session, a room of their class and one raw socket.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use db::Database;
use futures_util::{Stream, StreamExt as _};
use tokio::task::JoinHandle;

use test_support::{AUTH_SECRET, World, raw_socket, rows};

/// The number of sockets that connect at the same time, which is about the length of the system's accept queue.
const AT_ONCE: usize = 1_000;

/// How long a client waits for its rooms before it retries.
const WAIT_TIMEOUT: Duration = Duration::from_secs(20);

/// Students that are inserted into the tables, the same number in each class.
pub struct Students {
    /// The ids of the classes.
    pub classes: Vec<String>,
    /// The session cookies, ordered by class.
    pub cookies: Vec<String>,
    class_size: usize,
}

impl Students {
    /// Inserts the classes and students into Ada's school. Ada teaches all the classes.
    pub async fn write(database: &Database, world: &World, classes: usize, class_size: usize) -> Self {
        let (north, ada, far) = (&world.north, &world.ada.id, i64::MAX / 4);
        let (mut sql, mut ids, mut cookies) = (String::from("BEGIN;"), Vec::new(), Vec::new());
        for class in 0..classes {
            let id = format!("crowd-class-{class}");
            write!(
                sql,
                "INSERT INTO classes (organization_id, id, name, name_key, academic_year, teacher_id, created_at, updated_at)
                    VALUES ('{north}', '{id}', 'Crowd {class}', 'crowd {class}', '2026/2027', '{ada}', 1, 1);
                INSERT INTO class_subjects (organization_id, class_id, subject_id)
                    VALUES ('{north}', '{id}', '{}');",
                world.seven_b.subject
            )
            .unwrap();
            for seat in 0..class_size {
                let student = class * class_size + seat;
                let token = format!("crowd-token-{student:020}");
                write!(
                    sql,
                    "INSERT INTO users (id, name, name_key, email, home_organization_id, created_at, updated_at)
                        VALUES ('crowd-{student}', 'C {student}', 'c {student}', 'c{student}@crowd.example', '{north}', 1, 1);
                    INSERT INTO members (organization_id, id, user_id, role, created_at)
                        VALUES ('{north}', 'crowd-{student}', 'crowd-{student}', 'student', 1);
                    INSERT INTO sessions (id, user_id, token, expires_at, active_organization_id, created_at, updated_at)
                        VALUES ('crowd-{student}', 'crowd-{student}', '{token}', {far}, '{north}', 1, 1);
                    INSERT INTO class_enrollments (organization_id, id, class_id, student_id, enrolled_at)
                        VALUES ('{north}', 'crowd-{student}', '{id}', 'crowd-{student}', 1);"
                )
                .unwrap();
                let signed = better_auth::cookie::sign(AUTH_SECRET, &token);
                cookies.push(format!("better-auth.session_token={signed}"));
            }
            ids.push(id);
        }
        sql.push_str("COMMIT;");
        rows::execute(database, sql).await;
        Self {
            classes: ids,
            cookies,
            class_size,
        }
    }

    /// Returns the first `count` students.
    pub fn first(&self, count: usize) -> Self {
        Self {
            classes: self.classes.clone(),
            cookies: self.cookies[..count].to_vec(),
            class_size: self.class_size,
        }
    }

    /// Returns the number of students.
    pub fn count(&self) -> usize {
        self.cookies.len()
    }

    /// Returns the class of a student.
    pub fn class_of(&self, student: usize) -> usize {
        student / self.class_size
    }
}

/// Collects what the sockets receive.
#[derive(Default)]
pub struct ReceivedEvents {
    /// The ids of the events of each socket, in the order of arrival.
    events: Mutex<BTreeMap<usize, Vec<String>>>,
    closed: Mutex<BTreeMap<usize, Instant>>,
}

/// One socket for each student.
pub struct StudentSockets {
    received: Arc<ReceivedEvents>,
    reading: Vec<JoinHandle<()>>,
    is_leaving: Arc<AtomicBool>,
    /// Open sockets from which the test does not read.
    non_reading: Vec<raw_socket::Socket>,
}

impl StudentSockets {
    /// Connects all sockets and waits until each has joined its rooms. After that the sockets in `non_reading` are not read.
    /// They connect last, because the server closes a socket that has sent no pong for 45 seconds.
    pub async fn connect_all(base: &str, students: &Students, non_reading: &BTreeSet<usize>) -> Self {
        let (last, first): (Vec<usize>, Vec<usize>) =
            (0..students.count()).partition(|student| non_reading.contains(student));
        let (received, is_leaving) = (Arc::<ReceivedEvents>::default(), Arc::<AtomicBool>::default());
        let mut reading = Vec::new();
        let opened = Self::open(base, students, first);
        tokio::pin!(opened);
        while let Some((student, socket)) = opened.next().await {
            reading.push(tokio::spawn(Self::read(
                student,
                socket,
                Arc::clone(&received),
                Arc::clone(&is_leaving),
            )));
        }
        let non_reading = Self::open(base, students, last).map(|(_, socket)| socket);
        Self {
            received,
            reading,
            is_leaving,
            non_reading: non_reading.collect().await,
        }
    }

    /// Connects the sockets of these students.
    fn open(base: &str, students: &Students, numbers: Vec<usize>) -> impl Stream<Item = (usize, raw_socket::Socket)> {
        futures_util::stream::iter(numbers)
            .map(move |student| async move { (student, Self::connect(base, &students.cookies[student]).await) })
            .buffer_unordered(AT_ONCE)
    }

    /// Connects like a real client: waits for a moment after a failed attempt and retries.
    async fn connect(base: &str, cookie: &str) -> raw_socket::Socket {
        let until = Instant::now() + Duration::from_mins(2);
        loop {
            let tried = async {
                let mut socket = raw_socket::Socket::try_open_at(base, cookie).await?;
                socket.receives("ready").await.then_some(socket)
            };
            if let Ok(Some(socket)) = tokio::time::timeout(WAIT_TIMEOUT, tried).await {
                return socket;
            }
            assert!(Instant::now() < until, "a socket did not get in");
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    }

    async fn read(
        student: usize,
        mut socket: raw_socket::Socket,
        received: Arc<ReceivedEvents>,
        is_leaving: Arc<AtomicBool>,
    ) {
        while let Some(frame) = socket.next().await {
            if let Some(payload) = frame.strip_prefix("42[\"class:updated\",") {
                let event = payload
                    .split_once("\"eventId\":\"")
                    .unwrap()
                    .1
                    .split('"')
                    .next()
                    .unwrap();
                let mut events = received.events.lock().unwrap();
                events.entry(student).or_default().push(event.to_owned());
            }
        }
        if !is_leaving.load(Ordering::Relaxed) {
            received.closed.lock().unwrap().insert(student, Instant::now());
        }
    }

    /// Returns the events of each socket.
    pub fn received(&self) -> BTreeMap<usize, Vec<String>> {
        self.received.events.lock().unwrap().clone()
    }

    /// Returns the sockets that the server closed, with the time.
    pub fn closed(&self) -> BTreeMap<usize, Instant> {
        self.received.closed.lock().unwrap().clone()
    }

    /// Closes all sockets at once, including those that are not read.
    pub fn disconnect(self) {
        self.is_leaving.store(true, Ordering::Relaxed);
        for reading in &self.reading {
            reading.abort();
        }
        drop(self.non_reading);
    }
}
