//! A lesson in 7b, created through the API: a visible and a hidden group on one topic, a document, a file.

use common::clock;
use serde_json::{Value, json};

use super::deletions::delete_group_of;
use super::{TestApp, name_server, samples};

/// The ids of a lesson; [`LessonFixture::parameter`] returns the id for a path parameter.
#[derive(Debug, Clone)]
pub struct LessonFixture {
    pub homeroom: String,
    pub session: String,
    pub group: String,
    pub hidden_group: String,
    pub assignment: String,
    pub attachment: String,
    pub group_file: String,
    pub work_room: String,
    pub document: String,
    /// A picture of the document.
    pub image: String,
    /// A thread of comments on the document, and its comment.
    pub comment_thread: String,
    pub comment: String,
    pub announcement: String,
    pub message: String,
    pub chat_file: String,
    pub member: String,
    pub mail_domain: String,
    pub api_token: String,
    /// A sign-on provider of North, and an identity at it.
    pub sign_on_provider: String,
    pub roster_source: String,
    pub roster_run: String,
    pub external_identity: String,
    pub job: String,
    pub submission: String,
    pub link: String,
    pub copy: String,
    pub feedback: String,
    pub invitation: String,
    /// A text snippet of Ada.
    pub snippet: String,
    /// A shared rubric of Ada, which the topic uses.
    pub rubric: String,
    /// The deletion of a group of the class.
    pub deletion: String,
}

impl LessonFixture {
    /// Creates the lesson in Ada's class 7b: Ben and Cem in a visible group, Dana in a group that starts next week.
    #[expect(clippy::too_many_lines, reason = "one lesson from beginning to end")]
    pub async fn create(app: &TestApp) -> Self {
        let (ada, class) = (app.as_(&app.world.ada), &app.world.seven_b);
        let group = |name: &str, members: &[&str], start: Value| json!({"name": name, "classId": class.id, "courseId": class.course, "memberIds": members, "startDate": start});
        let visible = group("Rivers", &[&app.world.ben.id, &app.world.cem.id], Value::Null);
        let visible = ada.post("/groups", visible).await.expect(201);
        let hidden = group("Mountains", &[&app.world.dana.id], json!("2099-01-01T00:00:00Z"));
        let hidden = ada.post("/groups", hidden).await.expect(201);
        let topic = json!({
            "title": "Landforms", "description": "One page.", "deadline": "2099-01-01T00:00:00Z", "classId": class.id,
            "courseId": class.course, "groupIds": [visible["id"], hidden["id"]],
        });
        let topic = ada.post("/assignments", topic).await.expect(201);
        let path = format!("/assignments/{}/attachments", topic["id"].as_str().unwrap());
        let file = ada.upload(&path, "map.txt", b"a map".to_vec(), &[]).await.expect(201);
        let path = format!("/groups/{}/attachments", text(&visible, "id"));
        let group_file = ada
            .upload(&path, "river.txt", b"a river".to_vec(), &[])
            .await
            .expect(201);
        let room = text(&visible, "workRoomId");
        let new = json!({"title": "Report", "documentType": "word"});
        let document = app
            .as_(&app.world.ben)
            .post(&format!("/workrooms/{room}/documents"), new)
            .await
            .expect(201);
        let images = format!("/workrooms/documents/{}/images", text(&document, "id"));
        let ben = app.as_(&app.world.ben);
        let image = ben.upload(&images, "dot.png", samples::PIXEL.to_vec(), &[]).await;
        let image = image.expect(201);
        let comments = format!("/workrooms/documents/{}/comments", text(&document, "id"));
        // With a document server, there are no comments of the service.
        let answer = ben.post(&comments, json!({"text": "Which river?"})).await;
        let (comment_thread, comment) = if answer.status == 409 {
            (samples::UNKNOWN_ID.to_owned(), samples::UNKNOWN_ID.to_owned())
        } else {
            let thread = answer.expect(201);
            (text(&thread, "id"), text(&thread["comments"][0], "id"))
        };
        let announcement = json!({"classId": class.id, "content": "Bring your atlas."});
        let announcement = ada.post("/messages", announcement).await.expect(201);
        let (message, chat_file) = message(app, &room).await;
        let new = json!({"title": "Handed in", "documentType": "word"});
        let page = app
            .as_(&app.world.ben)
            .post(&format!("/workrooms/{room}/documents"), new)
            .await
            .expect(201);
        let submit = format!("/workrooms/documents/{}/submit", text(&page, "id"));
        let body = json!({"assignmentId": topic["id"]});
        let handed_in = app.as_(&app.world.ben).post(&submit, body).await.expect(200);
        let submission = text(&handed_in["submission"], "id");
        let context = json!({"submissionId": submission, "text": "Well done."});
        let feedback = ada.post("/feedback", context).await.expect(201);
        let (snippet, rubric) = grading_aids(app, &text(&topic, "id")).await;
        let adam = app.as_(&app.world.adam);
        let name = format!("7B {}", clock::new_id());
        let homeroom = adam.post("/homerooms", json!({"name": name})).await;
        let domain = json!({"domain": name_server::domain()});
        let domain = adam.post("/admin/domains", domain).await.expect(201);
        let token = json!({"name": name, "scopes": ["read"]});
        let token = adam.post("/admin/api-tokens", token).await.expect(201);
        // Nothing listens there.
        let provider = json!({
            "name": "School account", "preset": "OTHER", "issuer": "https://127.0.0.1:9", "clientId": "groupwork",
            "clientSecret": "secret",
        });
        let provider = text(&adam.post("/admin/sign-on", provider).await.expect(201), "id");
        let identities = format!("/admin/sign-on/{provider}/identities");
        let dana = json!({"userId": app.world.dana.id, "subject": "dana"});
        let identity = text(&adam.post(&identities, dana).await.expect(201), "id");
        let (roster_source, roster_run) = roster(app).await;
        let members = adam.get("/admin/members?search=ben").await.expect(200);
        let path = format!("/admin/sessions?userId={}", app.world.eli.id);
        let sessions = adam.get(&path).await.expect(200);
        Self {
            session: sessions["data"][0]["id"].as_str().unwrap_or_default().to_owned(),
            homeroom: text(&homeroom.expect(201), "id"),
            group: text(&visible, "id"),
            hidden_group: text(&hidden, "id"),
            assignment: text(&topic, "id"),
            attachment: text(&file, "id"),
            group_file: text(&group_file, "id"),
            work_room: room,
            document: text(&document, "id"),
            image: text(&image, "id"),
            comment_thread,
            comment,
            announcement: text(&announcement, "id"),
            message,
            chat_file,
            member: text(&members["data"][0], "id"),
            mail_domain: text(&domain, "id"),
            api_token: text(&token, "id"),
            sign_on_provider: provider,
            roster_source,
            roster_run,
            external_identity: identity,
            job: job(app).await,
            submission,
            link: text(&handed_in["groupAssignment"], "id"),
            copy: text(&handed_in["submission"]["documents"][0], "id"),
            feedback: text(&feedback, "id"),
            invitation: invitation(app).await,
            snippet,
            rubric,
            deletion: delete_group_of(app, &app.world.ada, &class.id).await,
        }
    }

    /// Returns the path of a route with the ids of this lesson.
    pub fn path(&self, app: &TestApp, path: &str) -> String {
        samples::fill_path(path, |name| self.parameter(app, path, name))
    }

    /// Returns the id for a path parameter of this name in this path.
    pub fn parameter(&self, app: &TestApp, path: &str, name: &str) -> String {
        let world = &app.world;
        match (path.split('/').nth(1).unwrap_or_default(), name) {
            ("tenants", "id") => world.north.clone(),
            ("admin", "id") if path.starts_with("/admin/members/") => self.member.clone(),
            ("admin", "id") if path.starts_with("/admin/invitations/") => self.invitation.clone(),
            ("subjects", "id") => world.seven_b.subject.clone(),
            ("admin", "id") if path.starts_with("/admin/sessions/") => self.session.clone(),
            ("deletions", "id") => self.deletion.clone(),
            ("homerooms", "id") => self.homeroom.clone(),
            ("classes", "id") => world.seven_b.id.clone(),
            ("courses", "id") => world.seven_b.course.clone(),
            ("groups", "id") | (_, "groupId") => self.group.clone(),
            ("assignments", "id") => self.assignment.clone(),
            ("workrooms", "id") if path.starts_with("/workrooms/documents/") => self.document.clone(),
            ("workrooms", "id") => self.work_room.clone(),
            ("feedback", "id") if path.starts_with("/feedback/submissions/") => self.submission.clone(),
            ("feedback", "id") if path.starts_with("/feedback/group-assignments/") => self.link.clone(),
            ("feedback", "id") if path.starts_with("/feedback/assignments/") => self.assignment.clone(),
            ("feedback", "id") => self.feedback.clone(),
            ("feedback", "documentId") => self.copy.clone(),
            ("messages", "id") => self.announcement.clone(),
            ("groups", "attachmentId") => self.group_file.clone(),
            ("admin", "id") if path.starts_with("/admin/domains/") => self.mail_domain.clone(),
            ("admin", "id") if path.starts_with("/admin/api-tokens/") => self.api_token.clone(),
            ("admin", "id") if path.starts_with("/admin/sign-on/") => self.sign_on_provider.clone(),
            ("admin", "id") if path.starts_with("/admin/rosters/") => self.roster_source.clone(),
            ("admin", "runId") => self.roster_run.clone(),
            ("admin", "identityId") => self.external_identity.clone(),
            ("tenants", "domainId") => self.mail_domain.clone(),
            ("admin", "id") if path.starts_with("/admin/gdpr/") => self.job.clone(),
            ("workrooms", "attachmentId") => self.chat_file.clone(),
            ("workrooms", "messageId") => self.message.clone(),
            (_, "imageId") => self.image.clone(),
            (_, "threadId") => self.comment_thread.clone(),
            (_, "commentId") => self.comment.clone(),
            (_, "attachmentId") => self.attachment.clone(),
            ("rubrics", "id") => self.rubric.clone(),
            ("snippets", "id") => self.snippet.clone(),
            ("users", "id") | (_, "userId" | "studentId") => world.ben.id.clone(),
            // The grades of the lesson have no files.
            (_, "fileId") => samples::UNKNOWN_ID.to_owned(),
            (_, "version") => "1".to_owned(),
            (_, "providerId") => self.sign_on_provider.clone(),
            (noun, name) => panic!("no sample for {{{name}}} of {noun}: add it to lesson_fixture.rs"),
        }
    }
}

/// Adds a run to a roster source at whose address nothing listens. The lessons of a school share the source, because the
/// number of sources is limited.
async fn roster(app: &TestApp) -> (String, String) {
    let adam = app.as_(&app.world.adam);
    let source = json!({
        "name": "Administration", "protocol": "ONE_ROSTER_1_2", "url": "https://127.0.0.1:9/roster",
        "tokenUrl": "https://127.0.0.1:9/token", "clientId": "groupwork", "clientSecret": "secret", "isNightly": false,
    });
    let sources = adam.get("/admin/rosters").await.expect(200);
    let source = match sources.as_array().and_then(|sources| sources.first()) {
        Some(shared) => text(shared, "id"),
        None => text(&adam.post("/admin/rosters", source).await.expect(201), "id"),
    };
    let (run, north) = (clock::new_id(), &app.world.north);
    let counts = r#"{"created":1}"#;
    let insert = format!(
        "INSERT INTO roster_runs (organization_id, id, source_id, kind, state, counts, applied, job_key, created_at)
        VALUES ('{north}', '{run}', '{source}', 'DRY_RUN', 'DONE', '{counts}', '{{}}', '{run}', 1)"
    );
    super::rows::execute(&app.database, insert).await;
    (source, run)
}

/// Creates a text snippet of Ada and a shared rubric, which the topic uses.
async fn grading_aids(app: &TestApp, topic: &str) -> (String, String) {
    let ada = app.as_(&app.world.ada);
    let snippet = ada.post("/snippets", json!({"text": "Name your sources."})).await;
    let rubric = ada.post("/rubrics", samples::sample_rubric()).await.expect(201);
    let rubric = text(&rubric, "id");
    ada.put(&format!("/assignments/{topic}/rubric"), json!({"rubricId": rubric}))
        .await
        .expect(200);
    (text(&snippet.expect(201), "id"), rubric)
}

/// Inserts a pending invitation of a teacher whose email is not sent yet.
async fn invitation(app: &TestApp) -> String {
    // Expires in the year 2100.
    let (id, far) = (clock::new_id(), 4_102_444_800_000_i64);
    let insert = format!(
        "INSERT INTO invitations (organization_id, id, email, name, role, expires_at, created_at, updated_at)
         VALUES ('{}', '{id}', '{id}@invited.example', 'Invited', 'teacher', {far}, 1, 1)",
        app.world.north
    );
    super::rows::execute(&app.database, insert).await;
    id
}

/// Sends a chat message with a file as Cem.
async fn message(app: &TestApp, room: &str) -> (String, String) {
    let (cem, path) = (app.as_(&app.world.cem), format!("/workrooms/{room}/messages"));
    let files = format!("{path}/attachments");
    let file = cem.upload(&files, "sketch.txt", b"a sketch".to_vec(), &[]).await;
    let file = text(&file.expect(201), "id");
    let context = json!({"content": "Look at this", "attachmentIds": [file]});
    (text(&cem.post(&path, context).await.expect(201), "id"), file)
}

/// Creates an export of Ben's data and waits until it has succeeded.
async fn job(app: &TestApp) -> String {
    let adam = app.as_(&app.world.adam);
    let asked = json!({"userId": app.world.ben.id});
    let job = text(&adam.post("/admin/gdpr/export", asked).await.expect(202), "id");
    while adam.get(&format!("/admin/gdpr/jobs/{job}")).await.expect(200)["status"] != "DONE" {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    job
}

fn text(object: &Value, key: &str) -> String {
    object[key].as_str().unwrap().to_owned()
}
