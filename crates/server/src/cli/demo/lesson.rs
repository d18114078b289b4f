//! The lesson of the demo, made through the service's own doors: two classes, a course, a running topic with eight groups
//! and real documents, one group that starts next week, one that asks for help.

use anyhow::{Context as _, bail};
use model::id::{OrganizationId, SessionId};
use reqwest::multipart::{Form, Part};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use super::people::{Person, School};
use crate::clock;
use crate::store::Store;
use crate::store::platform::PlatformProof;
use crate::store::platform::sessions::Session;

const LANDFORMS: [(&str, &str); 8] = [
    (
        "Rivers",
        "A river begins where water collects, and it shapes the land on its way to the sea.",
    ),
    (
        "Volcanoes",
        "A volcano grows with every eruption. Ours is 2,300 metres high.",
    ),
    (
        "Glaciers",
        "Ice flows, only very slowly. It leaves valleys in the form of a U.",
    ),
    ("Deserts", "Not every desert is made of sand; most are stone."),
    ("Coasts", "Waves carry away in winter what they brought in summer."),
    (
        "Islands",
        "Some islands are mountains whose feet are wet, some were built by corals.",
    ),
    ("Plains", "Plains look empty and feed half of the world."),
    ("Caves", "Water dissolves limestone; give it a hundred thousand years."),
];

/// Makes classes, groups, topics and documents for people who were just created.
pub async fn begin(store: &Store, base: &str, secret: &str, school: &School) -> anyhow::Result<()> {
    let sign_in = async |person: &Person| Caller::sign_in(store, base, secret, person, &school.organization).await;
    let (admin, ada, tom) = (
        sign_in(&school.admin).await?,
        sign_in(&school.ada).await?,
        sign_in(&school.tom).await?,
    );
    let geography = admin
        .post(
            "/subjects",
            json!({"name": "Geography", "code": "GEO", "color": "#2f7d4f"}),
        )
        .await?;
    let biology = admin
        .post(
            "/subjects",
            json!({"name": "Biology", "code": "BIO", "color": "#b3541e"}),
        )
        .await?;
    let ids = |people: &[Person]| people.iter().map(|person| person.id.to_string()).collect::<Vec<_>>();
    let (first, second) = school.students.split_at(12);
    let seven_b = class(&ada, "7b", &geography).await?;
    // The school enrols, so that teachers may give these students new passwords.
    admin
        .post(
            &format!("/classes/{}/students", id(&seven_b)),
            json!({"studentIds": ids(&school.students[..16])}),
        )
        .await?;
    let eight_a = class(&tom, "8a", &biology).await?;
    admin
        .post(
            &format!("/classes/{}/students", id(&eight_a)),
            json!({"studentIds": ids(second)}),
        )
        .await?;

    let course = course(&ada, &seven_b, &geography, "Our earth").await?;
    let landforms = topic(&ada, &seven_b, &course).await?;
    for (index, (name, text)) in LANDFORMS.iter().enumerate() {
        let members = &school.students[index * 2..index * 2 + 2];
        let group = ada
            .post(
                "/groups",
                json!({
                    "classId": id(&seven_b), "courseId": id(&course), "name": name, "memberIds": ids(members),
                    "assignmentId": id(&landforms), "requiredDocuments": 1,
                }),
            )
            .await?;
        let writer = sign_in(&members[0]).await?;
        let room = group["workRoomId"].as_str().context("workRoomId")?;
        let pages = page(name, text)?;
        let document = writer
            .upload(&format!("/workrooms/{room}/documents"), &format!("{name}.docx"), pages)
            .await?;
        match index {
            1 => {
                let message = json!({"message": "Which of our two sources should we believe?"});
                writer.post(&format!("/groups/{}/help", id(&group)), message).await?;
            }
            4 => {
                let hand_in = json!({"assignmentId": id(&landforms)});
                writer
                    .post(&format!("/workrooms/documents/{}/submit", id(&document)), hand_in)
                    .await?;
            }
            _ => {}
        }
    }
    let next_week = clock::now().plus_seconds(7 * 86_400);
    let hidden = json!({
        "classId": id(&seven_b), "courseId": id(&course), "name": "Next week: the map makers",
        "startDate": next_week, "memberIds": ids(&first[..3]),
    });
    ada.post("/groups", hidden).await?;
    Ok(())
}

async fn class(teacher: &Caller, name: &str, subject: &Value) -> anyhow::Result<Value> {
    teacher
        .post(
            "/classes",
            json!({"name": name, "academicYear": "2026/2027", "subjectIds": [id(subject)]}),
        )
        .await
}

async fn course(teacher: &Caller, class: &Value, subject: &Value, name: &str) -> anyhow::Result<Value> {
    let new = json!({"name": name, "classId": id(class), "subjectId": id(subject),
        "description": "How the land around us came to be."});
    teacher.post("/courses", new).await
}

async fn topic(teacher: &Caller, class: &Value, course: &Value) -> anyhow::Result<Value> {
    let new = json!({
        "title": "Landforms: a one-page report",
        "description": "Describe your landform on one page: how it came to be, where one finds it, and what lives there.",
        "deadline": clock::now().plus_seconds(40 * 60), "classId": id(class), "courseId": id(course),
    });
    teacher.post("/assignments", new).await
}

fn page(name: &str, text: &str) -> anyhow::Result<Vec<u8>> {
    let lines = [name.to_owned(), String::new(), text.to_owned()];
    practice_document_server::write_document(&practice_document_server::blank_document("docx"), &lines)
        .map_err(|_| anyhow::anyhow!("the blank document can be written"))
}

fn id(object: &Value) -> &str {
    object["id"].as_str().unwrap_or_default()
}

/// Somebody of the demo who calls the service as a browser would.
struct Caller {
    http: Client,
    base: String,
    cookie: String,
}

impl Caller {
    async fn sign_in(
        store: &Store,
        base: &str,
        secret: &str,
        person: &Person,
        organization: &OrganizationId,
    ) -> anyhow::Result<Self> {
        let now = clock::now();
        let session = Session {
            id: SessionId::new(clock::new_id()),
            token: better_auth::token::session_token(),
            user_id: person.id.clone(),
            expires_at: now.plus_seconds(600),
            created_at: now,
            updated_at: now,
            ip_address: None,
            user_agent: Some("groupwork demo".to_owned()),
            active_organization_id: Some(organization.clone()),
            impersonated_by: None,
        };
        let cookie = format!(
            "better-auth.session_token={}",
            better_auth::cookie::sign(secret, &session.token)
        );
        store
            .platform_write(PlatformProof::command_line(), move |platform| {
                platform.insert_session(&session)
            })
            .await
            .map_err(anyhow::Error::new)?;
        Ok(Self {
            http: Client::builder().no_proxy().build()?,
            base: base.to_owned(),
            cookie,
        })
    }

    async fn post(&self, path: &str, body: Value) -> anyhow::Result<Value> {
        self.send(path, self.request(path).json(&body)).await
    }

    async fn upload(&self, path: &str, name: &str, bytes: Vec<u8>) -> anyhow::Result<Value> {
        let form = Form::new().part("file", Part::bytes(bytes).file_name(name.to_owned()));
        self.send(path, self.request(path).multipart(form)).await
    }

    fn request(&self, path: &str) -> RequestBuilder {
        let request = self.http.request(Method::POST, format!("{}/api{path}", self.base));
        request.header("cookie", &self.cookie).header("origin", &self.base)
    }

    async fn send(&self, path: &str, request: RequestBuilder) -> anyhow::Result<Value> {
        let answer = request.send().await?;
        let (status, body) = (answer.status(), answer.text().await?);
        if !status.is_success() {
            bail!("POST {path} answered {status}: {body}");
        }
        Ok(serde_json::from_str(&body)?)
    }
}
