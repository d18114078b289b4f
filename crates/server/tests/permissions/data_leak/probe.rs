//! Calls routes as a user who must not find anything, with the ids of a group of other users: every GET with each of
//! its filters, and every change.

use std::collections::BTreeSet;

use api::endpoint::Row;
use api::router;
use domain::access::Access;
use serde_json::Value;

use super::mark_search::find_marks;
use crate::isolation::call;
use test_support::samples::{Ids, Sample, sample};
use test_support::{Answer, Client, LessonFixture, TestApp};

/// The routes, with their parameters from the OpenAPI document.
pub struct RouteTable {
    rows: Vec<Row>,
    document: Value,
}

/// The marks found, by route.
#[derive(Debug, Default)]
pub struct Leaks {
    pub by_route: BTreeSet<(String, String)>,
}

impl Leaks {
    /// Returns every mark that was found anywhere.
    pub fn all(&self) -> BTreeSet<String> {
        self.by_route.iter().map(|(_, mark)| mark.clone()).collect()
    }
}

/// A user who calls the routes, and the marks to search for in the responses.
pub struct Prober<'a> {
    pub app: &'a TestApp,
    pub client: Client,
    pub marks: &'a BTreeSet<String>,
    pub findings: Leaks,
}

impl RouteTable {
    pub fn read() -> Self {
        let (document, rows) = router::description();
        Self {
            rows,
            document: serde_json::to_value(document).unwrap(),
        }
    }

    /// Returns the read routes, except static pages and links in emails, which contain no data of a school. Searching the
    /// two megabytes of the OpenAPI document for every user takes longer than the service waits for a reader.
    fn read_routes(&self) -> impl Iterator<Item = &Row> {
        let contains_no_data = |path: &str| {
            path == "/openapi.json" || path.starts_with("/docs/{") || path.starts_with("/auth/reset-password/{")
        };
        self.rows
            .iter()
            .filter(move |row| row.method == "GET" && !contains_no_data(&row.path))
    }

    /// Returns the routes that change something. Excluded are `/auth` and the user's own profile, because these calls
    /// would end the session or change the data of the user's groups. Callbacks of the document server have their own
    /// tests.
    fn change_routes(&self) -> impl Iterator<Item = &Row> {
        let is_own =
            |row: &Row| row.path.starts_with("/auth/") || (row.method, row.path.as_str()) == ("PATCH", "/users/me");
        let changes = self.rows.iter().filter(|row| row.method != "GET");
        changes.filter(move |row| !is_own(row) && row.access != Access::DocumentServer)
    }

    /// Returns every query that the filters of a route allow, each filter alone.
    fn queries(&self, row: &Row, lesson: &LessonFixture, ids: &Ids) -> Vec<String> {
        let mut queries = vec![String::new()];
        if row.path.starts_with("/auth/") {
            return queries;
        }
        let parameters = self.document["paths"][&row.path]["get"]["parameters"].as_array();
        for parameter in parameters.into_iter().flatten().filter(|one| one["in"] == "query") {
            let name = parameter["name"].as_str().unwrap();
            for value in self.values(name, &parameter["schema"], lesson, ids) {
                queries.push(format!("?{name}={value}"));
            }
        }
        queries
    }

    /// Returns the values for a filter. A new filter that is not an id, a boolean or an enum must be added here.
    fn values(&self, name: &str, schema: &Value, lesson: &LessonFixture, ids: &Ids) -> Vec<String> {
        let one = |value: &str| vec![value.to_owned()];
        let named = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next());
        let choices = named.map_or(&schema["enum"], |named| {
            &self.document["components"]["schemas"][named]["enum"]
        });
        if let Some(choices) = choices.as_array() {
            return choices
                .iter()
                .map(|choice| choice.as_str().unwrap().to_owned())
                .collect();
        }
        match name {
            "classId" => one(&ids.class),
            "courseId" => vec![ids.course.clone(), "none".to_owned()],
            "subjectId" => one(&ids.subject),
            "assignmentId" => one(&ids.assignment),
            "groupId" | "groupIds" => one(&ids.group),
            "userId" | "teacherId" => one(&ids.user),
            "homeroomId" => one(&lesson.homeroom),
            "groupAssignmentId" => one(&lesson.link),
            "submissionId" => one(&lesson.submission),
            "documentId" => one(&lesson.document),
            "copyId" => one(&lesson.copy),
            // Shorter than a mark, so a response that repeats the query does not count as a leak.
            "search" => vec!["qz".to_owned(), "qzo".to_owned(), "qzv".to_owned()],
            "needsHelp" | "mine" | "isActive" | "dryRun" | "generation" => one("1"),
            "organizationSlug" => one("north"),
            "limit" => one("200"),
            "event" => one("GROUP_CREATE"),
            "after" | "since" => one("0"),
            "delimiter" => one(";"),
            "cursor" => one("AAAA"),
            "from" => one("2020-01-01T00:00:00Z"),
            "to" => one("2099-01-01T00:00:00Z"),
            "academicYear" => one("2026/2027"),
            other => panic!("say in data_leak/probe.rs with what ?{other}= is asked"),
        }
    }
}

impl Prober<'_> {
    /// Sends every query, for lists and for the objects of this lesson.
    pub async fn read_all(&mut self, table: &RouteTable, lesson: &LessonFixture, ids: &Ids) {
        for row in table.read_routes() {
            let path = lesson.path(self.app, &row.path);
            for query in table.queries(row, lesson, ids) {
                let asked = format!("{path}{query}");
                let answer = self.client.get(&asked).await;
                self.record_marks(row, &asked, &answer);
            }
        }
    }

    /// Tries every change. No change that names an object may succeed.
    pub async fn try_changes(&mut self, table: &RouteTable, lesson: &LessonFixture, ids: &Ids, is_all_foreign: bool) {
        for row in table.change_routes() {
            let path = lesson.path(self.app, &row.path);
            let answer = call(&self.client, row, &path, ids).await;
            let may_fit = !is_all_foreign || !row.path.contains('{') || answer.status >= 400;
            let context = String::from_utf8_lossy(&answer.bytes).into_owned();
            assert!(may_fit, "{} {path}: {} {context}", row.method, answer.status);
            let mut asked = path;
            if let Sample::Json(body) = sample(row.method, &row.path, ids) {
                asked.push_str(&body.to_string());
            }
            self.record_marks(row, &asked, &answer);
        }
    }

    /// Records the marks of a response, except the ids that the request contained.
    fn record_marks(&mut self, row: &Row, asked: &str, answer: &Answer) {
        let mut bytes = answer.bytes.clone();
        for (name, value) in &answer.headers {
            bytes.push(b'\n');
            bytes.extend(name.as_str().as_bytes());
            bytes.push(b':');
            bytes.extend(value.as_bytes());
        }
        let mut contained = find_marks(&answer.bytes, self.marks);
        contained.extend(find_marks(&bytes[answer.bytes.len()..], self.marks));
        for mark in contained.into_iter().filter(|mark| !asked.contains(mark.as_str())) {
            self.findings
                .by_route
                .insert((format!("{} {}", row.method, row.path), mark));
        }
    }
}
