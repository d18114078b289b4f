//! Demo content besides the running lesson: subjects and homerooms, a finished and graded topic, another class, and
//! the second school.

use anyhow::Context as _;
use futures_util::future::try_join_all;
use serde_json::{Value, json};

use super::api_client::{ApiClient, ClientFactory, id, ids, page};
use super::lesson::{self, SESSION_SECONDS, SevenB};
use super::people::{DemoUser, School};
use common::clock;

/// The grades of the finished topic, one per group; the last groups submitted nothing.
const GRADES: [(&str, &str); 4] = [
    ("A", "Every hill is where it should be."),
    (
        "B+",
        "Good. Mind the distance between the lines: it says how steep it is.",
    ),
    ("B", "Solid work; the summit is missing."),
    ("C", "The lines may not cross. Look at page 12 once more."),
];

/// Creates everything, including the running lesson.
pub async fn seed(clients: &ClientFactory, school: &School) -> anyhow::Result<()> {
    let admin = clients
        .sign_in(&school.admin, &school.organization, SESSION_SECONDS)
        .await?;
    let geography = subject(&admin, "Geography", "GEO", "#2f7d4f").await?;
    let biology = subject(&admin, "Biology", "BIO", "#b3541e").await?;
    let seven_b = lesson::seed(clients, school, &geography).await?;
    homeroom(&admin, "7b", &school.ada, &school.seven_b).await?;
    homeroom(&admin, "8a", &school.tom, &school.eight_a).await?;
    seed_finished_topic(clients, school, &seven_b).await?;
    seed_second_class(clients, school, &biology).await?;
    seed_other_school(clients, school).await
}

async fn subject(admin: &ApiClient, name: &str, code: &str, color: &str) -> anyhow::Result<Value> {
    let new = json!({"name": name, "code": code, "color": color});
    admin.post("/subjects", new).await
}

async fn homeroom(admin: &ApiClient, name: &str, teacher: &DemoUser, students: &[DemoUser]) -> anyhow::Result<()> {
    let new = json!({"name": name, "academicYear": "2026/2027", "teacherId": teacher.id});
    let homeroom = admin.post("/homerooms", new).await?;
    let body = json!({"studentIds": ids(students)});
    admin
        .post(&format!("/homerooms/{}/students", id(&homeroom)), body)
        .await?;
    Ok(())
}

/// Creates a topic of last week in its own course, with published grades.
async fn seed_finished_topic(clients: &ClientFactory, school: &School, seven_b: &SevenB) -> anyhow::Result<()> {
    let ada = clients
        .sign_in(&school.ada, &school.organization, SESSION_SECONDS)
        .await?;
    let SevenB { class, geography } = seven_b;
    let course = lesson::course(
        &ada,
        class,
        geography,
        "Reading maps",
        "From the contour line to the mountain.",
    )
    .await?;
    let new = json!({
        "title": "Contour lines of a hill", "description": "Draw the contour lines of the hill on sheet 3.",
        "deadline": clock::now().plus_seconds(3_600), "classId": id(class), "courseId": id(&course), "gradeScale": "A to F",
    });
    let topic = ada.post("/assignments", new).await?;
    let mut groups = Vec::new();
    for (index, members) in school.seven_b.chunks(4).enumerate() {
        let new = json!({
            "classId": id(class), "courseId": id(&course), "name": format!("Map team {}", index + 1),
            "studentIds": ids(members), "assignmentId": id(&topic),
        });
        groups.push((ada.post("/groups", new).await?, members));
    }
    let works = groups
        .iter()
        .zip(GRADES)
        .map(async |((group, members), (value, feedback))| -> anyhow::Result<()> {
            let student = clients
                .sign_in(&members[0], &school.organization, SESSION_SECONDS)
                .await?;
            let document = upload(
                &student,
                group,
                "Hill",
                &["The lines of our hill, one for every ten metres."],
                &topic,
            )
            .await?;
            let path = format!("/workrooms/documents/{}/submit", id(&document));
            let submitted = student.post(&path, json!({"assignmentId": id(&topic)})).await?;
            let path = format!("/feedback/submissions/{}/grade", id(&submitted["submission"]));
            let grade = json!({"value": value, "feedback": feedback, "publish": true});
            ada.put(&path, grade).await?;
            Ok(())
        });
    try_join_all(works).await?;
    // The deadline was last week. Set now, so that no submission is late.
    let path = format!("/assignments/{}", id(&topic));
    let deadline = json!({"deadline": clock::now().plus_seconds(-6 * 86_400)});
    ada.patch(&path, deadline).await?;
    ada.post(&format!("{path}/finish"), json!({})).await?;
    let news = json!({"classId": id(class), "content": "Please bring your atlas on Thursday.", "subject": "Atlas"});
    ada.post("/messages", news).await?;
    Ok(())
}

/// Creates class 8a of another teacher, with a topic for this week.
async fn seed_second_class(clients: &ClientFactory, school: &School, biology: &Value) -> anyhow::Result<()> {
    let admin = clients
        .sign_in(&school.admin, &school.organization, SESSION_SECONDS)
        .await?;
    let tom = clients
        .sign_in(&school.tom, &school.organization, SESSION_SECONDS)
        .await?;
    let class = lesson::class(&tom, "8a", biology).await?;
    let roster = json!({"studentIds": ids(&school.eight_a)});
    admin.post(&format!("/classes/{}/students", id(&class)), roster).await?;
    let course = lesson::course(
        &tom,
        &class,
        biology,
        "Life in the pond",
        "Who lives in it, and on what.",
    )
    .await?;
    let new = json!({
        "title": "Who eats whom?", "description": "Draw the food web of our pond and explain three of its threads.",
        "deadline": clock::now().plus_seconds(2 * 86_400), "classId": id(&class), "courseId": id(&course),
    });
    let topic = tom.post("/assignments", new).await?;
    for (name, members) in ["Frogs", "Dragonflies", "Water fleas"]
        .iter()
        .zip(school.eight_a.chunks(4))
    {
        let new = json!({
            "classId": id(&class), "courseId": id(&course), "name": name, "studentIds": ids(members),
            "assignmentId": id(&topic),
        });
        let group = tom.post("/groups", new).await?;
        let student = clients
            .sign_in(&members[0], &school.organization, SESSION_SECONDS)
            .await?;
        upload(&student, &group, name, &["What we saw at the pond:"], &topic).await?;
    }
    Ok(())
}

/// Creates a second school, which members of the first one cannot see.
async fn seed_other_school(clients: &ClientFactory, school: &School) -> anyhow::Result<()> {
    let other = &school.other;
    let admin = clients
        .sign_in(&other.admin, &other.organization, SESSION_SECONDS)
        .await?;
    let zoe = clients
        .sign_in(&other.zoe, &other.organization, SESSION_SECONDS)
        .await?;
    let history = subject(&admin, "History", "HIS", "#5b3fa0").await?;
    let class = lesson::class(&zoe, "5c", &history).await?;
    let roster = json!({"studentIds": ids(&other.students)});
    admin.post(&format!("/classes/{}/students", id(&class)), roster).await?;
    let course = lesson::course(&zoe, &class, &history, "Castles", "Who built them, and why.").await?;
    let new = json!({
        "title": "A day in a castle", "deadline": clock::now().plus_seconds(86_400), "classId": id(&class),
        "courseId": id(&course),
    });
    let topic = zoe.post("/assignments", new).await?;
    let new = json!({
        "classId": id(&class), "courseId": id(&course), "name": "Knights", "studentIds": ids(&other.students),
        "assignmentId": id(&topic),
    });
    zoe.post("/groups", new).await?;
    Ok(())
}

async fn upload(
    student: &ApiClient,
    group: &Value,
    title: &str,
    text: &[&str],
    topic: &Value,
) -> anyhow::Result<Value> {
    let room = group["workRoomId"].as_str().context("workRoomId")?;
    let path = format!("/workrooms/{room}/documents");
    let fields = [("assignmentId", id(topic))];
    student
        .upload(&path, &format!("{title}.docx"), page(title, text)?, &fields)
        .await
}
