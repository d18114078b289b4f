//! The running lesson of the demo: class 7b, eight groups on one topic in every possible state, and a group that
//! starts next week.

use anyhow::Context as _;
use futures_util::future::try_join_all;
use serde_json::{Value, json};

use super::api_client::{ApiClient, ClientFactory, id, ids, page};
use super::people::{DemoUser, School};
use common::clock;

/// The topic of the running lesson.
pub const TOPIC: &str = "Landforms: a one-page report";
/// The time in seconds from the start of the demo until the deadline.
const SECONDS: i64 = 38 * 60;
/// The lifetime in seconds of sessions that create the demo content.
pub const SESSION_SECONDS: i64 = 600;

const DESCRIPTION: &str = "Describe **your landform** on one page:\n\n\
    1. How did it come to be?\n2. Where on earth does one find it?\n3. Who and what lives there?\n\n\
    Name at least two sources. One document for each group.";

/// A group: name, paragraphs of its document, chat messages (member, text), state.
type GroupFixture = (
    &'static str,
    &'static [&'static str],
    &'static [(usize, &'static str)],
    WorkState,
);

/// The state of a group.
enum WorkState {
    Working,
    NeedsHelp(&'static str),
    Submitted,
    Returned(&'static str),
    Graded(&'static str, &'static str),
}

const GROUPS: [GroupFixture; 8] = [
    (
        "Rivers",
        &["A river begins where water collects, and it shapes the land on its way to the sea."],
        &[
            (0, "I begin with how rivers come to be."),
            (1, "Then I take the animals."),
        ],
        WorkState::Working,
    ),
    (
        "Volcanoes",
        &["A volcano grows with every eruption. Ours is 2,300 metres high."],
        &[(1, "One book says 2,300 metres, the other 2,450.")],
        WorkState::NeedsHelp("Which of our two sources should we believe?"),
    ),
    (
        "Glaciers",
        &["Ice flows, only very slowly.", "It leaves valleys in the form of a U."],
        &[(0, "Who writes about the moraines?"), (2, "Me.")],
        WorkState::Working,
    ),
    (
        "Deserts",
        &["Not every desert is made of sand; most are stone."],
        &[],
        WorkState::NeedsHelp("We cannot open the map."),
    ),
    (
        "Coasts",
        &[
            "Waves carry away in winter what they brought in summer.",
            "A cliff grows old from below: the sea hollows it out until it falls.",
            "Sources: our school book, page 41; the coast museum.",
        ],
        &[(0, "All read? Then I hand it in."), (1, "Yes!"), (2, "Do it.")],
        WorkState::Submitted,
    ),
    (
        "Islands",
        &["Some islands are mountains whose feet are wet, some were built by corals."],
        &[],
        WorkState::Working,
    ),
    (
        "Plains",
        &["Plains look empty and feed half of the world."],
        &[(0, "That was quick.")],
        WorkState::Returned("A good beginning. Please say where one finds plains, and name your two sources."),
    ),
    (
        "Caves",
        &[
            "Water dissolves limestone; give it a hundred thousand years.",
            "Bats, blind salamanders and moulds live where no light comes.",
            "Sources: our school book, page 52; the website of the show cave.",
        ],
        &[],
        WorkState::Graded("A-", "Clear, complete, and the salamander was new to me."),
    ),
];

/// Class 7b with its subject.
pub struct SevenB {
    pub class: Value,
    pub geography: Value,
}

/// Creates the class and its running lesson.
pub async fn seed(clients: &ClientFactory, school: &School, geography: &Value) -> anyhow::Result<SevenB> {
    let admin = clients
        .sign_in(&school.admin, &school.organization, SESSION_SECONDS)
        .await?;
    let ada = clients
        .sign_in(&school.ada, &school.organization, SESSION_SECONDS)
        .await?;
    let class = class(&ada, "7b", geography).await?;
    // Enrolled by the administrator, so that teachers may reset the passwords of these students.
    let roster = json!({"studentIds": ids(&school.seven_b)});
    admin.post(&format!("/classes/{}/students", id(&class)), roster).await?;
    let course = course(
        &ada,
        &class,
        geography,
        "Our earth",
        "How the land around us came to be.",
    )
    .await?;
    let topic = topic(&ada, &class, &course).await?;
    let checklist = page("Checklist", &["One page?", "Two sources?", "Read by all of us?"])?;
    let attachments = format!("/assignments/{}/attachments", id(&topic));
    ada.upload(&attachments, "Checklist.docx", checklist, &[]).await?;
    // Sequentially, because the order determines the numbers of the groups.
    let mut work = Vec::new();
    for (fixture, members) in GROUPS.iter().zip(school.seven_b.chunks(3)) {
        let new = json!({
            "classId": id(&class), "courseId": id(&course), "name": fixture.0, "studentIds": ids(members),
            "assignmentId": id(&topic), "requiredDocuments": 1,
        });
        work.push((ada.post("/groups", new).await?, members, fixture));
    }
    let works = work
        .iter()
        .map(|(group, members, fixture)| seed_group_work(clients, school, &ada, (group, members, fixture), &topic));
    try_join_all(works).await?;
    seed_next_week(&ada, &class, &course, &school.seven_b[..3]).await?;
    let geography = geography.clone();
    Ok(SevenB { class, geography })
}

/// Extends the deadline of an earlier lesson, so that there is always a running one.
pub async fn extend_deadline(clients: &ClientFactory, school: &School) -> anyhow::Result<()> {
    let ada = clients
        .sign_in(&school.ada, &school.organization, SESSION_SECONDS)
        .await?;
    if let Some(topic) = find(&ada).await?
        && topic["deadline"].as_str() < Some(&clock::now().plus_seconds(600).to_string())
    {
        let deadline = json!({"deadline": clock::now().plus_seconds(SECONDS)});
        ada.patch(&format!("/assignments/{}", id(&topic)), deadline).await?;
    }
    Ok(())
}

/// Returns the topic of the lesson while it runs.
pub async fn find(teacher: &ApiClient) -> anyhow::Result<Option<Value>> {
    let topics = teacher.get("/assignments?status=ACTIVE").await?;
    let mut topics = topics.as_array().cloned().unwrap_or_default();
    topics.retain(|topic| topic["title"] == TOPIC);
    Ok(topics.pop())
}

/// Creates a class with one subject, owned by the teacher.
pub async fn class(teacher: &ApiClient, name: &str, subject: &Value) -> anyhow::Result<Value> {
    let new = json!({"name": name, "academicYear": "2026/2027", "subjectIds": [id(subject)]});
    teacher.post("/classes", new).await
}

/// Creates a course of a class.
pub async fn course(
    teacher: &ApiClient,
    class: &Value,
    subject: &Value,
    name: &str,
    about: &str,
) -> anyhow::Result<Value> {
    let new = json!({"name": name, "classId": id(class), "subjectId": id(subject), "description": about});
    teacher.post("/courses", new).await
}

async fn topic(teacher: &ApiClient, class: &Value, course: &Value) -> anyhow::Result<Value> {
    let new = json!({
        "title": TOPIC, "description": DESCRIPTION, "deadline": clock::now().plus_seconds(SECONDS),
        "classId": id(class), "courseId": id(course), "gradeScale": "A to F",
    });
    teacher.post("/assignments", new).await
}

/// Creates the work of one group.
async fn seed_group_work(
    clients: &ClientFactory,
    school: &School,
    ada: &ApiClient,
    (group, members, fixture): (&Value, &[DemoUser], &GroupFixture),
    topic: &Value,
) -> anyhow::Result<()> {
    let (name, text, messages, state) = fixture;
    let sign_in = |person| clients.sign_in(person, &school.organization, SESSION_SECONDS);
    let people = try_join_all(members.iter().map(sign_in)).await?;
    let room = group["workRoomId"].as_str().context("workRoomId")?;
    for (member, content) in *messages {
        let message = json!({"content": content});
        people[*member]
            .post(&format!("/workrooms/{room}/messages"), message)
            .await?;
    }
    let documents = format!("/workrooms/{room}/documents");
    let fields = [("assignmentId", id(topic))];
    let document = people[0]
        .upload(&documents, &format!("{name}.docx"), page(name, text)?, &fields)
        .await?;
    let submit = async || -> anyhow::Result<String> {
        let body = json!({"assignmentId": id(topic)});
        let path = format!("/workrooms/documents/{}/submit", id(&document));
        let submitted = people[0].post(&path, body).await?;
        Ok(id(&submitted["submission"]).to_owned())
    };
    match state {
        WorkState::Working => {}
        WorkState::NeedsHelp(message) => {
            let path = format!("/groups/{}/help", id(group));
            people[0].post(&path, json!({"message": message})).await?;
        }
        WorkState::Submitted => {
            submit().await?;
        }
        WorkState::Returned(feedback) => {
            let path = format!("/feedback/submissions/{}/return", submit().await?);
            ada.post(&path, json!({"feedback": feedback})).await?;
        }
        WorkState::Graded(value, feedback) => {
            let grade = json!({"value": value, "feedback": feedback, "publish": true});
            ada.put(&format!("/feedback/submissions/{}/grade", submit().await?), grade)
                .await?;
        }
    }
    Ok(())
}

/// Creates a topic that students cannot see until their group starts.
async fn seed_next_week(ada: &ApiClient, class: &Value, course: &Value, members: &[DemoUser]) -> anyhow::Result<()> {
    let day = |days: i64| clock::now().plus_seconds(days * 86_400);
    let new = json!({
        "title": "Draw the map of an island", "description": "Invent an island and draw its map, with a scale and a legend.",
        "deadline": day(9), "classId": id(class), "courseId": id(course),
    });
    let topic = ada.post("/assignments", new).await?;
    let hidden = json!({
        "classId": id(class), "courseId": id(course), "name": "Next week: the map makers", "startDate": day(7),
        "studentIds": ids(members), "assignmentId": id(&topic),
    });
    ada.post("/groups", hidden).await?;
    Ok(())
}
