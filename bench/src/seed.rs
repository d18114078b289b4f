//! The measured school: one class of 30 groups of five with a course and two topics, created through the API, and two
//! hundred more classes, copied row by row.

use anyhow::{Context as _, ensure};
use common::clock;
use db::Store;
use db::platform::CrossTenantReason;
use db::platform::organizations::NewOrganization;
use db::platform::sessions::Session;
use db::platform::users::NewUserAccount;
use domain::access::{MemberRole, PlatformRole};
use domain::id::{OrganizationId, SessionId, UserId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::server::AUTH_SECRET;

/// The password of every user.
pub const PASSWORD: &str = "a password to measure with";
/// Groups in the measured class.
pub const GROUPS: usize = 30;
/// Members of each group.
pub const MEMBERS: usize = 5;
/// Further classes of the same size.
pub const OTHER_CLASSES: usize = 200;
/// Records in the activity log.
pub const LOG_ROWS: usize = 200_000;
/// Documents to save, each in a different group.
pub const DOCUMENTS: usize = 8;

/// The users who send requests, with their sessions.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BenchUsers {
    /// Their organization.
    pub organization: String,
    pub admin: BenchUser,
    /// The teacher of the measured class.
    pub teacher: BenchUser,
    /// Its students, ordered by group, five per group.
    pub students: Vec<BenchUser>,
}

/// A user with a session in the school.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BenchUser {
    pub id: String,
    pub name: String,
    /// The email address.
    pub email: String,
    /// The token of the session.
    pub token: String,
    /// The session cookie.
    pub cookie: String,
}

/// The measured class.
#[derive(Debug, Clone)]
pub struct MeasuredClass {
    pub class: String,
    /// The documents, each with the student who writes it.
    pub documents: Vec<(String, BenchUser)>,
    subject: String,
}

/// A room and a student who sends messages in it.
#[derive(Debug, Clone)]
pub struct ChatRoom {
    pub room: String,
    pub student: BenchUser,
}

/// A client of the service that accepts only successful responses.
pub struct SeedClient<'b> {
    http: reqwest::Client,
    base: &'b str,
}

impl<'b> SeedClient<'b> {
    /// Creates a client for this base URL.
    pub fn new(base: &'b str) -> anyhow::Result<Self> {
        let http = reqwest::Client::builder().no_proxy().build()?;
        Ok(Self { http, base })
    }

    /// Sends a POST request and returns the response body.
    pub async fn post(&self, person: &BenchUser, path: &str, body: Value) -> anyhow::Result<Value> {
        let request = self.http.post(format!("{}/api{path}", self.base));
        let request = request.header("cookie", &person.cookie).header("origin", self.base);
        let answer = request.json(&body).send().await?;
        let (status, text) = (answer.status(), answer.text().await?);
        ensure!(status.is_success(), "POST {path} answered {status}: {text}");
        Ok(serde_json::from_str(&text)?)
    }

    /// Uploads a document to a room, with or without a topic; returns its id.
    pub async fn upload(
        &self,
        person: &BenchUser,
        (room, topic): (&str, Option<&str>),
        name: &str,
        bytes: Vec<u8>,
    ) -> anyhow::Result<String> {
        let part = reqwest::multipart::Part::bytes(bytes).file_name(name.to_owned());
        let mut form = reqwest::multipart::Form::new();
        if let Some(topic) = topic {
            form = form.text("assignmentId", topic.to_owned());
        }
        let form = form.part("file", part);
        let url = format!("{}/api/workrooms/{room}/documents", self.base);
        let request = self
            .http
            .post(url)
            .header("cookie", &person.cookie)
            .header("origin", self.base);
        let answer = request.multipart(form).send().await?;
        let (status, text) = (answer.status(), answer.text().await?);
        ensure!(status.is_success(), "the upload answered {status}: {text}");
        id(&serde_json::from_str(&text)?)
    }

    /// Creates a class of all students in groups, with its own subject.
    pub async fn class_of(&self, people: &BenchUsers, name: &str) -> anyhow::Result<SeededClass> {
        let subject = id(&self.post(&people.admin, "/subjects", json!({"name": name})).await?)?;
        self.class(people, name, &subject).await
    }

    /// Creates a class and returns the room of its first group.
    pub async fn room_of(&self, people: &BenchUsers, class: &str) -> anyhow::Result<String> {
        let class = self.class_of(people, class).await?;
        let (_, room) = class.groups.into_iter().next().context("a class without groups")?;
        Ok(room)
    }

    /// Creates a class of all students, in groups with a course.
    async fn class(&self, people: &BenchUsers, name: &str, subject: &str) -> anyhow::Result<SeededClass> {
        let teacher = &people.teacher;
        let class = json!({"name": name, "academicYear": "2026/2027", "subjectIds": [subject]});
        let class = id(&self.post(teacher, "/classes", class).await?)?;
        let students: Vec<&str> = people.students.iter().map(|student| student.id.as_str()).collect();
        let enrolment = json!({"studentIds": students});
        self.post(teacher, &format!("/classes/{class}/students"), enrolment)
            .await?;
        let course = json!({"name": "Cells", "classId": class, "subjectId": subject});
        let course = id(&self.post(teacher, "/courses", course).await?)?;
        let mut groups = Vec::new();
        for (number, members) in students.chunks(MEMBERS).enumerate() {
            let name = format!("The group with the number {number}");
            let new = json!({"classId": class, "courseId": course, "name": name, "studentIds": members});
            let group = self.post(teacher, "/groups", new).await?;
            let room = group["workRoomId"].as_str().context("workRoomId")?.to_owned();
            groups.push((id(&group)?, room));
        }
        Ok(SeededClass {
            id: class,
            course,
            groups,
        })
    }
}

/// A created class.
pub struct SeededClass {
    pub id: String,
    pub course: String,
    /// Group ids, each with the id of its room.
    pub groups: Vec<(String, String)>,
}

/// Creates a class for chat messages; in other classes they would change the measured lists.
pub async fn talks(base: &str, people: &BenchUsers, lesson: &MeasuredClass) -> anyhow::Result<Vec<ChatRoom>> {
    let class = SeedClient::new(base)?.class(people, "7c", &lesson.subject).await?;
    let rooms = class.groups.into_iter().zip(people.students.chunks(MEMBERS));
    let talks = rooms.map(|((_, room), members)| ChatRoom {
        room,
        student: members[0].clone(),
    });
    Ok(talks.collect())
}

/// Inserts a school and its users.
pub async fn people(store: &Store) -> anyhow::Result<BenchUsers> {
    // One hash for all users, because hashing is slow and their passwords are equal.
    let password_hash = better_auth::password::hash(PASSWORD);
    let made = store.platform_write(CrossTenantReason::CommandLine, move |platform| {
        let now = clock::now();
        let new = NewOrganization {
            id: OrganizationId::new(clock::new_id()),
            name: "Measured school".to_owned(),
            slug: "measured".to_owned(),
            custom_domain: None,
        };
        let tenant = platform.insert_organization(&new, now)?;
        let mut join = |name: String, role: MemberRole| {
            let email = format!("{}@measured.example", name.replace(' ', ".").to_lowercase());
            let user = NewUserAccount::provisioned(&name, &email, PlatformRole::Student, Some(password_hash.clone()));
            platform.insert_user(&user, now)?;
            platform.insert_member(&tenant, &user.id, role, now)?;
            let session = session(&user.id, tenant.id());
            platform.insert_session(&session)?;
            let signed = better_auth::cookie::sign(AUTH_SECRET, &session.token);
            Ok::<_, common::error::Error>(BenchUser {
                id: user.id.to_string(),
                name,
                email,
                token: session.token,
                cookie: format!("better-auth.session_token={signed}"),
            })
        };
        Ok(BenchUsers {
            organization: tenant.id().to_string(),
            admin: join("Admin".to_owned(), MemberRole::Admin)?,
            teacher: join("Teacher".to_owned(), MemberRole::Teacher)?,
            students: (0..GROUPS * MEMBERS)
                .map(|number| join(format!("Student {number}"), MemberRole::Student))
                .collect::<Result<_, _>>()?,
        })
    });
    made.await.map_err(anyhow::Error::new)
}

fn session(user: &UserId, organization: &OrganizationId) -> Session {
    let now = clock::now();
    Session {
        id: SessionId::new(clock::new_id()),
        token: better_auth::token::session_token(),
        user_id: user.clone(),
        expires_at: now.plus_seconds(86_400),
        created_at: now,
        updated_at: now,
        ip_address: None,
        user_agent: Some("bench".to_owned()),
        active_organization_id: Some(organization.clone()),
        impersonated_by: None,
        new_password_until: None,
        confirmed_at: None,
        sign_on: None,
    }
}

/// Creates the measured class over HTTP, exactly as a teacher would.
pub async fn lesson(base: &str, people: &BenchUsers) -> anyhow::Result<MeasuredClass> {
    let asking = SeedClient::new(base)?;
    let teacher = &people.teacher;
    let subject = id(&asking
        .post(&people.admin, "/subjects", json!({"name": "Biology"}))
        .await?)?;
    let SeededClass {
        id: class,
        course,
        groups,
    } = asking.class(people, "7b", &subject).await?;
    let (groups, rooms): (Vec<_>, Vec<_>) = groups.into_iter().unzip();
    let text = "Look at an onion's skin under the microscope, draw what you see, and explain each part. ".repeat(3);
    let shared = json!({
        "title": "What a cell is made of", "description": text, "deadline": "2027-01-15T10:00:00Z",
        "classId": class, "courseId": course, "groupIds": groups,
    });
    asking.post(teacher, "/assignments", shared).await?;
    let own: Vec<Value> = groups
        .iter()
        .enumerate()
        .map(|(number, group)| json!({"groupId": group, "descriptionOverride": format!("{number}. {text}")}))
        .collect();
    let own = json!({
        "title": "One organ for each group", "description": text, "deadline": "2027-02-15T10:00:00Z",
        "classId": class, "courseId": course, "isShared": false, "groups": own,
    });
    asking.post(teacher, "/assignments", own).await?;
    let mut documents = Vec::new();
    for (number, room) in rooms.iter().take(DOCUMENTS).enumerate() {
        let writer = &people.students[number * MEMBERS];
        let new = json!({"title": "Our page", "documentType": "word"});
        let document = asking
            .post(writer, &format!("/workrooms/{room}/documents"), new)
            .await?;
        documents.push((id(&document)?, writer.clone()));
    }
    Ok(MeasuredClass {
        class,
        documents,
        subject,
    })
}

/// Returns the id of a JSON object.
pub fn id(object: &Value) -> anyhow::Result<String> {
    Ok(object["id"].as_str().context("an answer without id")?.to_owned())
}
