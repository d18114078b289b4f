//! Calls every route that changes something once. The activity log contains exactly the expected records and keeps them
//! after the objects are deleted. Users who can see the change receive an event. A new route must be added to the
//! scenario, or succeed with its sample body.

mod lesson;
mod preview;
mod school;
mod unrecorded_actions;

use std::collections::{BTreeSet, HashSet};

use api::endpoint::Row;
use api::router;
use common::clock;
use db::activity::LogEntry;
use domain::access::Access;
use domain::activity::{Action, Category, event};
use domain::time::Timestamp;
use serde_json::Value;

use self::preview::Preview;
use test_support::event_recorder::EventRecorder;
use test_support::request_context::ViewedAs;
use test_support::rows::texts;
use test_support::samples::{Ids, fill_path, sample};
use test_support::{Answer, Client, LessonFixture, TestApp, TestUser};

/// Routes whose action is not recorded in the log of a school, and why.
const WITHOUT_RECORD: &[(&str, &str, &str)] = &[
    (
        "PATCH",
        "/users/me",
        "a profile belongs to the person, not to one school",
    ),
    ("POST", "/admin/sign-on/{id}/test", "it only reads from the provider"),
    (
        "POST",
        "/admin/rosters/{id}/test",
        "it only reads from the roster server",
    ),
    (
        "POST",
        "/admin/rosters/{id}/runs/{runId}/confirm",
        "the run starts at once, so its records cannot be told apart: tests/api/rosters.rs",
    ),
    (
        "POST",
        "/users/me/email",
        "nothing has changed before the mail is answered",
    ),
    ("POST", "/users/me/export", "the person reads what is the person's own"),
    (
        "POST",
        "/workrooms/documents/{id}/callback",
        "the revisions of a document tell it",
    ),
    (
        "POST",
        "/workrooms/documents/{id}/commits",
        "the log of the document and its revisions name the authors",
    ),
    (
        "POST",
        "/workrooms/documents/{id}/images",
        "a picture is nothing before a commit names it",
    ),
    (
        "POST",
        "/workrooms/documents/{id}/flushed",
        "it changes nothing but how long a hand-in or a finish waits",
    ),
    (
        "POST",
        "/workrooms/{id}/messages",
        "what people say to each other is no business of the log (docs/api-contract.md#activity-log)",
    ),
    ("PATCH", "/workrooms/{id}/messages/{messageId}", "the same"),
    (
        "DELETE",
        "/workrooms/{id}/messages/{messageId}",
        "the message itself records it, and its row the sender",
    ),
    (
        "POST",
        "/workrooms/{id}/messages/attachments",
        "a file is nothing before a message names it",
    ),
    ("POST", "/workrooms/{id}/read", "a reading mark is its reader's alone"),
    (
        "POST",
        "/workrooms/documents/{id}/comments/read",
        "a reading mark is its reader's alone",
    ),
    (
        "POST",
        "/messages",
        "who writes to whom is for nobody else to read: tests/realtime/direct_messages.rs",
    ),
    ("POST", "/messages/{id}/read", "what a user reads is private"),
    ("DELETE", "/messages/{id}", "it goes out of one's own view alone"),
    ("POST", "/snippets", "text snippets are private to their user"),
    ("PATCH", "/snippets/{id}", "the same"),
    ("DELETE", "/snippets/{id}", "the same"),
    (
        "POST",
        "/tenants",
        "the record is the first of the new school's own log: tests/permissions/tenants.rs",
    ),
    (
        "POST",
        "/tenants/{id}/suspend",
        "nobody of a suspended school reads its log; tests/permissions/tenants.rs does as the platform",
    ),
    (
        "POST",
        "/tenants/{id}/activate",
        "it follows a suspension: tests/permissions/tenants.rs",
    ),
    (
        "DELETE",
        "/tenants/{id}",
        "the log goes with the school: tests/api/purge.rs",
    ),
];

/// Routes that emit no event, and why.
const WITHOUT_EVENT: &[(&str, &str, &str)] = &[
    (
        "POST",
        "/users/me/email",
        "nothing has changed before the mail is answered",
    ),
    ("POST", "/users/me/export", "a file for the person alone"),
    ("POST", "/admin/sign-on/{id}/test", "it only reads from the provider"),
    (
        "POST",
        "/admin/rosters/{id}/test",
        "it only reads from the roster server",
    ),
    (
        "POST",
        "/admin/rosters/{id}/runs/{runId}/confirm",
        "the run starts at once, so its records cannot be told apart: tests/api/rosters.rs",
    ),
    ("POST", "/admin/gdpr/export", "a file for one admin"),
    (
        "POST",
        "/workrooms/documents/{id}/callback",
        "only a document server can call it: tests/documents/conformance/saves.rs",
    ),
    (
        "POST",
        "/workrooms/documents/{id}/commits",
        "only pages with the open document receive it: tests/realtime/editor_rooms.rs",
    ),
    (
        "POST",
        "/workrooms/documents/{id}/playback",
        "nothing has changed for any page",
    ),
    (
        "POST",
        "/workrooms/documents/{id}/images",
        "a picture is nothing before a commit names it",
    ),
    (
        "POST",
        "/workrooms/documents/{id}/flushed",
        "it changes nothing but how long a submit or a finish waits",
    ),
    (
        "POST",
        "/workrooms/{id}/messages/attachments",
        "a file is nothing before a message names it",
    ),
    (
        "POST",
        "/messages/{id}/read",
        "a reading mark in the inbox of one person",
    ),
    ("DELETE", "/messages/{id}", "it leaves the view of one person"),
    (
        "DELETE",
        "/admin/sessions/{id}",
        "the connections of the session are closed",
    ),
    ("POST", "/tenants", "nobody works in the new organization yet"),
    (
        "PATCH",
        "/tenants/{id}",
        "the members of that organization receive it: tests/realtime/events.rs",
    ),
    (
        "POST",
        "/tenants/{id}/suspend",
        "the connections of its members are closed",
    ),
    (
        "POST",
        "/tenants/{id}/activate",
        "nobody is connected to a suspended organization",
    ),
    ("DELETE", "/tenants/{id}", "the connections of its members are closed"),
];

struct Scenario<'a> {
    app: &'a TestApp,
    listeners: EventRecorder,
    with_event: BTreeSet<(String, String)>,
    seen: HashSet<String>,
    of_north: HashSet<String>,
    called: BTreeSet<(String, String)>,
    /// Records for which the client has no sentence.
    untranslated: BTreeSet<String>,
}

impl<'a> Scenario<'a> {
    async fn begin(app: &'a TestApp) -> Self {
        let world = &app.world;
        let people = [&world.adam, &world.ada, &world.ben];
        let mut scenario = Self {
            app,
            listeners: EventRecorder::open(app, &people).await,
            with_event: BTreeSet::new(),
            seen: HashSet::new(),
            of_north: HashSet::new(),
            called: BTreeSet::new(),
            untranslated: BTreeSet::new(),
        };
        scenario.new_records().await;
        scenario
    }

    /// Returns the new records of all schools, sorted by name, because records of the same moment have no other order.
    async fn new_records(&mut self) -> Vec<String> {
        let query = "SELECT organization_id || '|' || id || '|' || category || '|' || action || '|' || entity_type
            FROM activity_logs";
        let mut new_records = Vec::new();
        for record in texts(&self.app.database, query.to_owned()).await.into_iter().flatten() {
            let parts: Vec<&str> = record.split('|').collect();
            if self.seen.insert(parts[1].to_owned()) {
                let (category, action) = (Category::parse(parts[2]).unwrap(), Action::parse(parts[3]).unwrap());
                self.untranslated.extend(untranslated(category, action, parts[4]));
                new_records.push(event(category, action));
                if parts[0] == self.app.world.north {
                    self.of_north.insert(parts[1].to_owned());
                }
            }
        }
        new_records.sort();
        new_records
    }

    /// Calls a route with these ids. The call must succeed and leave exactly these records.
    async fn call(&mut self, person: &TestUser, route: &str, ids: &[&str], body: Value, expected: &[&str]) -> Value {
        let (method, template) = route.split_once(' ').unwrap();
        let path = with_ids(template, ids);
        let body = (!body.is_null()).then_some(body);
        let preview = Preview::begin(self.app, route, &path).await;
        let client = self.app.as_(person);
        let shown = client.send(method.parse().unwrap(), &preview.path, body.clone()).await;
        preview.check(shown).await;
        let started = clock::now();
        let answer = self.app.as_(person).send(method.parse().unwrap(), &path, body).await;
        self.check(route, answer, expected, started).await
    }

    /// Calls a route that leaves no record but emits an event.
    async fn call_unrecorded(&mut self, person: &TestUser, route: &str, ids: &[&str], body: Value) -> Value {
        let started = clock::now();
        let answer = self.call(person, route, ids, body, &[]).await;
        self.expect_event(route, started).await;
        answer
    }

    /// Waits for an event of the call.
    async fn expect_event(&mut self, route: &str, started: Timestamp) {
        let (method, template) = route.split_once(' ').unwrap();
        let (method, path) = (method.to_owned(), template.split('?').next().unwrap().to_owned());
        let is_silent = WITHOUT_EVENT.iter().any(|row| row.0 == method && row.1 == path);
        let received = self.listeners.since(started, !is_silent).await;
        assert!(is_silent || !received.is_empty(), "{route} caused no event");
        self.with_event.insert((method, path));
    }

    /// Like `call`, with a file upload.
    async fn send_file(
        &mut self,
        person: &TestUser,
        route: &str,
        ids: &[&str],
        (name, bytes): (&str, Vec<u8>),
        expected: &[&str],
    ) -> Value {
        let (method, template) = route.split_once(' ').unwrap();
        let preview = Preview::begin(self.app, route, &with_ids(template, ids)).await;
        let client = self.app.as_(person);
        let shown = upload(&client, method, &preview.path, name, bytes.clone()).await;
        preview.check(shown).await;
        let started = clock::now();
        let answer = upload(&self.app.as_(person), method, &with_ids(template, ids), name, bytes).await;
        self.check(route, answer, expected, started).await
    }

    async fn check(&mut self, route: &str, answer: Answer, expected: &[&str], started: Timestamp) -> Value {
        let (method, template) = route.split_once(' ').unwrap();
        let path = template.split('?').next().unwrap();
        self.called.insert((method.to_owned(), path.to_owned()));
        let case = String::from_utf8_lossy(&answer.bytes).into_owned();
        assert!(answer.status < 300, "{route}: {} {case}", answer.status);
        assert_eq!(self.new_records().await, expected, "{route}");
        if !expected.is_empty() {
            self.expect_event(route, started).await;
        }
        answer.json()
    }
}

/// Returns the keys of activity.json that a record needs in both languages and that are missing. The sentence of the event
/// itself is about the object of its category, so records about other objects need their own.
fn untranslated(category: Category, action: Action, entity_type: &str) -> Vec<String> {
    let own_type = match category {
        Category::Auth => "user".to_owned(),
        Category::Tenant => "organization".to_owned(),
        category => category.as_str().to_lowercase(),
    };
    let event = event(category, action);
    let key = if entity_type == own_type || event.starts_with("HELP") {
        event
    } else {
        format!("{event}_{entity_type}")
    };
    let has_key = |language: &&str| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/src/i18n");
        let texts = std::fs::read_to_string(format!("{folder}/{language}/activity.json")).unwrap();
        let texts: Value = serde_json::from_str(&texts).unwrap();
        texts["activity"]["says"][&key].is_string()
    };
    let missing = ["en", "de"].into_iter().filter(|language| !has_key(language));
    missing
        .map(|language| format!("{language}: activity.says.{key}"))
        .collect()
}

fn with_ids(template: &str, ids: &[&str]) -> String {
    let mut ids = ids.iter();
    fill_path(template, |_| (*ids.next().unwrap()).to_owned())
}

async fn upload(client: &Client, method: &str, path: &str, name: &str, bytes: Vec<u8>) -> Answer {
    let file = reqwest::multipart::Part::bytes(bytes).file_name(name.to_owned());
    let form = reqwest::multipart::Form::new().part("file", file);
    let request = client.request(method.parse().unwrap(), path).multipart(form);
    client.finish(request).await
}

fn id(object: &Value) -> String {
    object["id"].as_str().unwrap().to_owned()
}

/// Calls a route that is not part of the scenario. Its sample body must succeed on a new lesson and leave a record.
async fn call_with_sample_body(scenario: &mut Scenario<'_>, row: &Row) {
    let app = scenario.app;
    let lesson = LessonFixture::create(app).await;
    scenario.new_records().await;
    let people = [&app.world.adam, &app.world.ada, &app.world.ben, &app.world.root];
    let mut case = String::new();
    for person in people {
        let (client, path) = (app.as_(person), lesson.path(app, &row.path));
        let started = clock::now();
        let sample = sample(row.method, &row.path, &Ids::of_lesson(app, &lesson));
        let answer = sample.send(&client, row.method, &path).await;
        if answer.status < 300 {
            let new_records = scenario.new_records().await;
            let (method, path) = (row.method, &row.path);
            assert!(
                !new_records.is_empty(),
                "{method} {path} left no record: tell it in tests/permissions/activity_log_coverage, or say there why it needs none"
            );
            scenario.expect_event(&format!("{method} {path}"), started).await;
            return;
        }
        case = format!("{} {}", answer.status, String::from_utf8_lossy(&answer.bytes));
    }
    let (method, path) = (row.method, &row.path);
    panic!(
        "{method} {path} is not in the scenario of tests/permissions/activity_log_coverage, and its sample fails: {case}"
    );
}

both!(
    #[long_on_postgres]
    every_change_is_logged_and_records_outlive_objects,
    |app| {
        let mut scenario = Scenario::begin(app).await;
        school::change_school(&mut scenario).await;
        school::change_mail_domains(&mut scenario).await;
        school::change_api_tokens(&mut scenario).await;
        school::change_rosters(&mut scenario).await;
        school::follow_homeroom(&mut scenario).await;
        school::change_users(&mut scenario).await;
        school::change_tenants(&mut scenario).await;
        let made = lesson::create_class(&mut scenario).await;
        let topic = lesson::create_topic(&mut scenario, &made).await;
        lesson::work_on_documents(&mut scenario, &made[2], &topic).await;
        unrecorded_actions::act_in_work_room(&mut scenario, &made[0], &made[2]).await;
        lesson::delete_everything(&mut scenario, &made, &topic).await;

        // All records still exist, with the names that the objects had.
        let (mut kept, mut cursor) = (HashSet::new(), String::new());
        loop {
            let page = app
                .as_(&app.world.adam)
                .get(&format!("/activity-logs?limit=50{cursor}"))
                .await
                .expect(200);
            for record in page["data"].as_array().unwrap() {
                // An import affects many people and names none. An erasure record must not contain the erased name.
                let is_about = record["entityName"].is_string()
                    || record["event"] == "USER_IMPORT"
                    || record["details"]["erased"] == true;
                let is_named = is_about && !record["userName"].as_str().unwrap().is_empty();
                assert!(is_named && record["requestId"].is_string(), "{record}");
                kept.insert(id(record));
            }
            let Some(next) = page["nextCursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert!(scenario.of_north.is_subset(&kept) && kept.len() > 40);
        let [class, course, group, _] = &made;
        for (filter, event) in [
            (format!("classId={class}"), "CLASS_DELETE"),
            (format!("courseId={course}"), "COURSE_DELETE"),
            (format!("assignmentId={topic}"), "ASSIGNMENT_DELETE"),
            (format!("groupId={group}"), "SUBMISSION_SUBMIT"),
        ] {
            let found = app
                .as_(&app.world.adam)
                .get(&format!("/activity-logs?limit=200&{filter}"))
                .await;
            let found = found.expect(200);
            let mut events = found["data"].as_array().unwrap().iter().map(|record| &record["event"]);
            assert!(events.any(|found| found == event), "{filter}: {found}");
        }

        let (_, rows) = router::description();
        let changing = rows
            .iter()
            .filter(|row| row.method != "GET" && !row.path.starts_with("/auth/") && row.access != Access::Anyone);
        for row in changing {
            let is_called = scenario.called.contains(&(row.method.to_owned(), row.path.clone()));
            let is_unlogged = WITHOUT_RECORD
                .iter()
                .any(|(method, path, _)| *method == row.method && *path == row.path);
            if !is_called && !is_unlogged {
                call_with_sample_body(&mut scenario, row).await;
            }
            let route = (row.method.to_owned(), row.path.clone());
            let is_silent = WITHOUT_EVENT
                .iter()
                .any(|silent| silent.0 == route.0 && silent.1 == route.1);
            assert!(
                is_silent || scenario.with_event.contains(&route),
                "no event of {} {} was seen: call it in the scenario, or say in WITHOUT_EVENT why there is none",
                row.method,
                row.path
            );
        }
        assert_eq!(scenario.untranslated, BTreeSet::new());
    }
);

both!(
    /// A record that the database rejects is lost without an error of the request, so the CHECK of the category must list all.
    every_category_and_action_can_be_recorded,
    |app| {
        let world = &app.world;
        let context = app
            .request_context(&world.north, &world.adam.id, ViewedAs::Admin, clock::now())
            .await;
        let insert = |tx: &mut db::WriteTx<'_>| {
            for (index, category) in Category::ALL.iter().enumerate() {
                for action in Action::ALL {
                    let entry = LogEntry::new(*category, *action, "check", index, "Check");
                    tx.insert_log(&entry)?;
                }
            }
            Ok(())
        };
        app.app.transactor().write(context, insert).await.unwrap();
        let recorded = "SELECT DISTINCT category || ' ' || action FROM activity_logs WHERE entity_type = 'check'";
        let recorded = texts(&app.database, recorded.to_owned()).await;
        assert_eq!(recorded.len(), Category::ALL.len() * Action::ALL.len());
    }
);
