//! A valid body for every route that takes one, so that tests over all routes pass validation. These tests fail for a
//! new route without an entry here.

use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use super::{Answer, Client, LessonFixture, TestApp};

/// An id that does not exist.
pub const UNKNOWN_ID: &str = "0190a1b2-0000-7000-8000-00000000dead";

/// The ids that a sample body references.
#[derive(Debug, Clone)]
pub struct Ids {
    pub class: String,
    pub subject: String,
    pub course: String,
    pub group: String,
    pub assignment: String,
    /// A file of that topic.
    pub attachment: String,
    pub submission: String,
    pub user: String,
    pub homeroom: String,
    /// A teacher.
    pub teacher: String,
}

impl Ids {
    /// The ids of a lesson in Ada's class 7b; the user is Ben.
    pub fn of_lesson(app: &TestApp, lesson: &LessonFixture) -> Self {
        let (class, lesson) = (app.world.seven_b.clone(), lesson.clone());
        Self {
            class: class.id,
            subject: class.subject,
            course: class.course,
            group: lesson.group,
            assignment: lesson.assignment,
            attachment: lesson.attachment,
            submission: lesson.submission,
            user: app.world.ben.id.clone(),
            homeroom: lesson.homeroom,
            teacher: app.world.ada.id.clone(),
        }
    }

    /// Ids that do not exist.
    pub fn unknown() -> Self {
        let id = || UNKNOWN_ID.to_owned();
        Self {
            class: id(),
            subject: id(),
            course: id(),
            group: id(),
            assignment: id(),
            attachment: id(),
            submission: id(),
            user: id(),
            homeroom: id(),
            teacher: id(),
        }
    }
}

/// Replaces each `{name}` of a route's path.
pub fn fill_path(path: &str, mut value: impl FnMut(&str) -> String) -> String {
    let parts = path.split(['{', '}']).enumerate();
    let parts = parts.map(|(index, part)| if index % 2 == 0 { part.to_owned() } else { value(part) });
    parts.collect()
}

/// Fills the placeholders of a route's path with ids that do not exist.
pub fn path_with_unknown_ids(path: &str) -> String {
    fill_path(path, |_| UNKNOWN_ID.to_owned())
}

/// The request body of a route.
pub enum Sample {
    /// No body.
    Empty,
    /// A JSON body.
    Json(Value),
    /// A form with a file of this name.
    File(&'static str),
}

impl Sample {
    /// Sends the request.
    pub async fn send(self, client: &Client, method: &str, path: &str) -> Answer {
        let method: Method = method.parse().unwrap();
        match self {
            Self::Empty => client.send(method, path, None).await,
            Self::Json(body) => client.send(method, path, Some(body)).await,
            Self::File(name) => {
                let bytes: &[u8] = match name {
                    "sample.docx" => include_bytes!("../../adapters/templates/blank.docx"),
                    "sample.png" => PIXEL,
                    "sample.csv" => b"submissionId,userId,value,points,feedback\n",
                    _ => b"sample",
                };
                let form = Form::new().part("file", Part::bytes(bytes).file_name(name));
                client.finish(client.request(method, path).multipart(form)).await
            }
        }
    }
}

/// Returns the sample of a route.
pub fn sample(method: &str, path: &str, ids: &Ids) -> Sample {
    if method == "POST"
        && let Some(body) = administration_sample(path, ids)
    {
        return Sample::Json(body);
    }
    let body = match (method, path) {
        ("DELETE", "/tenants/{id}") => json!({"confirm": "sample"}),
        ("POST", "/tenants") => {
            json!({"name": "Sample", "slug": "sample", "ownerEmail": "sample@test.example", "ownerName": "Sample"})
        }
        ("GET" | "DELETE", _) => return Sample::Empty,
        ("POST", "/users") => {
            json!({"name": "Sample", "email": "sample@test.example", "role": "STUDENT", "classIds": [ids.class]})
        }
        ("PATCH", "/users/me") => json!({"locale": "de"}),
        ("POST", "/users/me/email") => json!({"newEmail": "sample@test.example", "password": "sample sample"}),
        ("POST", "/invitations/preview") => json!({"token": "sample"}),
        ("POST", "/invitations/accept") => json!({"token": "sample", "password": "Zirkel und Winkel"}),
        ("PATCH", "/admin/members/{id}") => json!({"role": "teacher"}),
        ("POST", "/users/import") => {
            json!({"users": [{"email": "sample@import.example", "firstName": "Sample", "role": "student"}]})
        }
        ("POST", "/classes") => json!({"name": "Sample", "academicYear": "2026/2027"}),
        ("POST", "/classes/{id}/students" | "/homerooms/{id}/students") => json!({"studentIds": [ids.user]}),
        ("POST", "/classes/{id}/following") => json!({"followsHomeroom": false}),
        ("POST", "/homerooms/classes") => {
            let homerooms = json!([{"homeroomId": ids.homeroom, "teacherId": ids.teacher}]);
            json!({"academicYear": "2031/2032", "homerooms": homerooms})
        }
        ("PATCH", "/classes/{id}/students/{studentId}") => json!({"completedAt": "2026-11-20T12:00:00Z"}),
        ("POST", "/classes/{id}/clone") => json!({"name": "Sample", "academicYear": "2027/2028"}),
        ("POST", "/classes/{id}/copies") => json!({"courseId": ids.course, "withFiles": true}),
        ("POST", "/courses/{id}/copies") => json!({"assignmentIds": [ids.assignment], "withFiles": true}),
        ("POST", "/classes/{id}/teachers" | "/admin/gdpr/export") => json!({"userId": ids.user}),
        ("POST", "/courses") => json!({"name": "Sample", "classId": ids.class, "subjectId": ids.subject}),
        ("POST", "/groups") => json!({"name": "Sample", "classId": ids.class, "courseId": ids.course}),
        ("POST", "/groups/batch") => json!({"classId": ids.class, "groups": [{"name": "Sample"}]}),
        ("POST", "/groups/generate") => json!({"classId": ids.class, "groupSize": 2, "strategy": "random"}),
        ("POST", "/groups/{id}/members") => json!({"userIds": [ids.user]}),
        ("POST", "/groups/{id}/members/{userId}/move") => json!({"toGroupId": ids.group}),
        ("POST", "/groups/{id}/help") => json!({"message": "Sample"}),
        ("POST", "/admin/gdpr/erase") => json!({"userId": ids.user, "dryRun": true}),
        ("POST", "/assignments") => {
            json!({"title": "Sample", "deadline": "2099-01-01T00:00:00Z", "classId": ids.class, "courseId": ids.course})
        }
        ("POST", "/assignments/{id}/clone") => {
            json!({"classId": ids.class, "courseId": ids.course, "deadline": "2099-01-01T00:00:00Z", "withFiles": true})
        }
        ("POST", "/assignments/{id}/remind") => json!({"content": "Sample"}),
        ("POST", "/assignments/{id}/handouts") => json!({"templateAttachmentId": ids.attachment}),
        ("POST", "/assignments/{id}/groups" | "/assignments/{id}/record-work") => json!({"groupIds": [ids.group]}),
        ("PATCH", "/assignments/{id}/groups/{groupId}") => json!({"descriptionOverride": "Sample"}),
        (
            "POST",
            "/assignments/{id}/attachments"
            | "/groups/{id}/attachments"
            | "/workrooms/{id}/messages/attachments"
            | "/feedback/submissions/{id}/files",
        ) => return Sample::File("sample.txt"),
        ("POST" | "PATCH", "/workrooms/{id}/messages" | "/workrooms/{id}/messages/{messageId}") => {
            json!({"content": "Sample"})
        }
        ("POST", "/workrooms/{id}/documents") => json!({"title": "Sample", "documentType": "word"}),
        (
            "POST" | "PATCH",
            "/workrooms/documents/{id}/comments"
            | "/workrooms/documents/{id}/comments/{threadId}/replies"
            | "/workrooms/documents/{id}/comments/{threadId}/replies/{commentId}",
        )
        | ("PATCH", "/feedback/{id}" | "/snippets/{id}")
        | ("POST", "/snippets") => json!({"text": "Sample"}),
        ("PATCH", "/workrooms/documents/{id}/comments/{threadId}") => json!({"isResolved": true}),
        ("PATCH", "/workrooms/documents/{id}" | "/assignments/{id}" | "/assignments/{id}/bulk") => {
            json!({"title": "Sample"})
        }
        ("PUT", "/feedback/submissions/{id}/grade" | "/workrooms/documents/{id}/grade") => json!({"points": 1}),
        ("POST", "/feedback") => json!({"submissionId": ids.submission, "text": "Sample"}),
        ("POST", "/feedback/submissions/{id}/return") => json!({"feedback": "Sample"}),
        ("POST", "/assignments/{id}/grades/import") => return Sample::File("sample.csv"),
        ("PUT", "/workrooms/documents/{id}/content") => return Sample::File("sample.docx"),
        ("POST", "/workrooms/documents/{id}/images") => return Sample::File("sample.png"),
        ("POST", "/workrooms/documents/{id}/playback") => json!({"generation": 1}),
        ("POST", "/workrooms/documents/{id}/commits") => commit(1, "sample", 0, "a"),
        ("POST", "/workrooms/documents/{id}/submit") => json!({"assignmentId": ids.assignment}),
        ("POST", "/messages") => json!({"recipientIds": [ids.user], "content": "Sample"}),
        ("POST", "/rubrics") => sample_rubric(),
        ("PATCH", "/rubrics/{id}") => json!({"title": "Sample"}),
        ("PUT", "/assignments/{id}/rubric") => json!({"isShown": true}),
        ("POST", "/assignments/{id}/groups/{groupId}/submission") => json!({"note": "Sample"}),
        ("PATCH", _) | ("POST", "/subjects" | "/homerooms") => json!({"name": "Sample"}),
        ("POST", path) if NO_ARGUMENTS.iter().any(|end| path.ends_with(end)) => json!({}),
        _ => panic!("no sample body for {method} {path}: add it to crates/test-support/src/samples.rs"),
    };
    Sample::Json(body)
}

/// Returns the sample of a POST route of the administration, if it has fields of its own.
fn administration_sample(path: &str, ids: &Ids) -> Option<Value> {
    let body = match path {
        "/admin/sign-on" => json!({
            "name": "Sample", "preset": "OTHER", "issuer": "https://id.sample-school.example", "clientId": "sample",
            "clientSecret": "sample",
        }),
        "/admin/rosters" => json!({
            "name": "Sample", "protocol": "ONE_ROSTER_1_2", "url": "https://roster.sample-school.example",
            "tokenUrl": "https://roster.sample-school.example/token", "clientId": "sample", "clientSecret": "sample",
        }),
        "/admin/rosters/{id}/runs" => json!({"isDryRun": true}),
        "/admin/rosters/{id}/runs/{runId}/confirm" => json!({"difference": "sample"}),
        "/admin/sign-on/{id}/identities" => json!({"userId": ids.user, "subject": "sample"}),
        "/admin/domains" | "/tenants/{id}/domains" => json!({"domain": "sample-school.example"}),
        "/admin/api-tokens" => json!({"name": "Sample", "scopes": ["read"]}),
        _ => return None,
    };
    Some(body)
}

/// Two criteria, with a range of points and with a fixed number.
pub fn sample_rubric() -> Value {
    json!({"title": "Poster", "isShared": true, "criteria": [
        {"title": "Sources", "levels": [
            {"label": "Missing", "minPoints": 0, "maxPoints": 0},
            {"label": "Named", "description": "Every picture has its source.", "minPoints": 4, "maxPoints": 4},
        ]},
        {"title": "Language", "description": "Spelling and style.", "levels": [
            {"label": "Weak", "minPoints": 0, "maxPoints": 2},
            {"label": "Good", "minPoints": 3, "maxPoints": 6},
        ]},
    ]})
}

/// A PNG of one pixel.
pub const PIXEL: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1, 8,
    6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 0x0d, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0xf8, 0xcf, 0xc0,
    0xf0, 0x1f, 0, 5, 0, 1, 0xff, 0x89, 0x99, 0x3d, 0x1d, 0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
];

/// Returns a commit that inserts a text at the beginning of the first paragraph.
pub fn commit(generation: i64, reference: &str, version: i64, text: &str) -> Value {
    let slice = json!({"content": [{"type": "text", "text": text}]});
    json!({
        "generation": generation, "ref": reference, "clientId": "sample", "version": version,
        "steps": [{"stepType": "replace", "from": 1, "to": 1, "slice": slice}],
    })
}

/// Actions whose body may be empty.
const NO_ARGUMENTS: &[&str] = &[
    "/test",
    "/flushed",
    "/resend",
    "/confirm",
    "/discard",
    "/check",
    "/publish-grades",
    "/read",
    "/me/export",
    "/resolve",
    "/claim",
    "/withdraw",
    "/finish",
    "/reopen",
    "/unsubmit",
    "/restore",
    "/suspend",
    "/activate",
    "/reset-password",
    "/reset-second-factor",
];
