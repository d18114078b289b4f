//! Calls routes of the table as somebody who should find nothing, with the ids of somebody else's group: every GET with every
//! filter it has, and everything that changes something.

use std::collections::BTreeSet;

use api::endpoint::Row;
use api::router;
use model::access::Access;
use serde_json::Value;

use super::finder::found;
use crate::isolation::{call, filled};
use test_support::samples::{Ids, Sample, sample};
use test_support::{Answer, Client, LessonFixture, TestApp};

/// The routes, with what the document says of their parameters.
pub struct Table {
    rows: Vec<Row>,
    document: Value,
}

/// What somebody found where.
#[derive(Debug, Default)]
pub struct Finds {
    pub by_route: BTreeSet<(String, String)>,
}

impl Finds {
    /// Every mark that was found anywhere.
    pub fn all(&self) -> BTreeSet<String> {
        self.by_route.iter().map(|(_, mark)| mark.clone()).collect()
    }
}

/// Somebody who looks, and the marks he is looked over for.
pub struct Looker<'a> {
    pub app: &'a TestApp,
    pub client: Client,
    pub marks: &'a BTreeSet<String>,
    pub finds: Finds,
}

impl Table {
    pub fn read() -> Self {
        let (document, rows) = router::description();
        Self {
            rows,
            document: serde_json::to_value(document).unwrap(),
        }
    }

    /// What is read. Files of the page and links in letters name nothing of a school.
    fn gets(&self) -> impl Iterator<Item = &Row> {
        let names_other =
            |row: &&Row| row.path.starts_with("/docs/{") || row.path.starts_with("/auth/reset-password/{");
        self.rows
            .iter()
            .filter(move |row| row.method == "GET" && !names_other(row))
    }

    /// What else changes something. Whoever calls `/auth` or edits his profile changes himself: that would end the walk, or
    /// show in his groups; the notices of the document server have tests of their own.
    fn changes(&self) -> impl Iterator<Item = &Row> {
        let is_own =
            |row: &Row| row.path.starts_with("/auth/") || (row.method, row.path.as_str()) == ("PATCH", "/users/me");
        let changes = self.rows.iter().filter(|row| row.method != "GET");
        changes.filter(move |row| !is_own(row) && row.access != Access::DocumentServer)
    }

    /// Every question that the filters of a route allow, each filter alone.
    fn questions(&self, row: &Row, lesson: &LessonFixture, ids: &Ids) -> Vec<String> {
        let mut questions = vec![String::new()];
        if row.path.starts_with("/auth/") {
            return questions;
        }
        let parameters = self.document["paths"][&row.path]["get"]["parameters"].as_array();
        for parameter in parameters.into_iter().flatten().filter(|one| one["in"] == "query") {
            let name = parameter["name"].as_str().unwrap();
            for value in self.values(name, &parameter["schema"], lesson, ids) {
                questions.push(format!("?{name}={value}"));
            }
        }
        questions
    }

    /// What a filter is asked with. A filter that is neither an id, a switch nor a choice needs its line here.
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
            // Shorter than a mark: whoever repeats the question betrays nothing.
            "search" => vec!["qz".to_owned(), "qzo".to_owned(), "qzv".to_owned()],
            "needsHelp" | "mine" | "isActive" | "dryRun" => one("1"),
            "limit" => one("200"),
            "event" => one("GROUP_CREATE"),
            "after" => one("0"),
            "delimiter" => one(";"),
            "cursor" => one("AAAA"),
            "from" => one("2020-01-01T00:00:00Z"),
            "to" => one("2099-01-01T00:00:00Z"),
            "academicYear" => one("2026/2027"),
            other => panic!("say in marker/walk.rs with what ?{other}= is asked"),
        }
    }
}

impl Looker<'_> {
    /// Asks every question, of lists and of the objects of this lesson.
    pub async fn look(&mut self, table: &Table, lesson: &LessonFixture, ids: &Ids) {
        for row in table.gets() {
            let path = filled(self.app, lesson, &row.path);
            for question in table.questions(row, lesson, ids) {
                let asked = format!("{path}{question}");
                let answer = self.client.get(&asked).await;
                self.judge(row, &asked, &answer);
            }
        }
    }

    /// Tries every change; nothing that names an object may be granted.
    pub async fn meddle(&mut self, table: &Table, lesson: &LessonFixture, ids: &Ids, is_all_foreign: bool) {
        for row in table.changes() {
            let path = filled(self.app, lesson, &row.path);
            let answer = call(&self.client, row, &path, ids).await;
            let may_fit = !is_all_foreign || !row.path.contains('{') || answer.status >= 400;
            let said = String::from_utf8_lossy(&answer.bytes).into_owned();
            assert!(may_fit, "{} {path}: {} {said}", row.method, answer.status);
            let mut asked = path;
            if let Sample::Json(body) = sample(row.method, &row.path, ids) {
                asked.push_str(&body.to_string());
            }
            self.judge(row, &asked, &answer);
        }
    }

    /// Remembers the marks of an answer, but not the ids that stood in the question.
    fn judge(&mut self, row: &Row, asked: &str, answer: &Answer) {
        let mut bytes = answer.bytes.clone();
        for (name, value) in &answer.headers {
            bytes.push(b'\n');
            bytes.extend(name.as_str().as_bytes());
            bytes.push(b':');
            bytes.extend(value.as_bytes());
        }
        let mut held = found(&answer.bytes, self.marks);
        held.extend(found(&bytes[answer.bytes.len()..], self.marks));
        for mark in held.into_iter().filter(|mark| !asked.contains(mark.as_str())) {
            self.finds
                .by_route
                .insert((format!("{} {}", row.method, row.path), mark));
        }
    }
}
