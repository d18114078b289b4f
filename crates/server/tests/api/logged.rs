//! Every route that changes something, called once: the log has exactly the records that this page promises, and keeps
//! them when what they name is gone. A new route has to be written into the story, or to prove itself with its sample.

use std::collections::{BTreeSet, HashSet};

use groupwork::http::endpoint::Row;
use groupwork::http::router;
use model::access::Access;
use model::activity::{Action, Category, event};
use serde_json::{Value, json};

use crate::support::office::docx;
use crate::support::rows::texts;
use crate::support::samples::{Ids, Sample, sample};
use crate::support::{Answer, Client, Person, TestApp, Walk};

/// Routes whose doing is not for the log of a school, and why.
const UNLOGGED: &[(&str, &str, &str)] = &[
    (
        "PATCH",
        "/users/me",
        "a profile belongs to the person, not to one school",
    ),
    (
        "POST",
        "/users/me/email",
        "nothing has changed before the mail is answered",
    ),
    (
        "POST",
        "/workrooms/documents/{id}/callback",
        "the revisions of a document tell it",
    ),
    (
        "POST",
        "/tenants",
        "the record is the first of the new school's own log: tests/api/tenants.rs",
    ),
    (
        "POST",
        "/tenants/{id}/suspend",
        "nobody of a suspended school reads its log; tests/api/tenants.rs does as the platform",
    ),
    (
        "POST",
        "/tenants/{id}/activate",
        "it follows a suspension: tests/api/tenants.rs",
    ),
    (
        "DELETE",
        "/tenants/{id}",
        "the log goes with the school: tests/api/purge.rs",
    ),
];

struct Story<'a> {
    app: &'a TestApp,
    seen: HashSet<String>,
    of_north: HashSet<String>,
    called: BTreeSet<(String, String)>,
}

impl<'a> Story<'a> {
    async fn begin(app: &'a TestApp) -> Self {
        let mut story = Self {
            app,
            seen: HashSet::new(),
            of_north: HashSet::new(),
            called: BTreeSet::new(),
        };
        story.news().await;
        story
    }

    /// The records that are new, of whatever school, in alphabetical order: those of one moment have no other.
    async fn news(&mut self) -> Vec<String> {
        let query = "SELECT organization_id || '|' || id || '|' || category || '|' || action FROM activity_logs";
        let mut news = Vec::new();
        for record in texts(&self.app.database, query.to_owned()).await.into_iter().flatten() {
            let parts: Vec<&str> = record.split('|').collect();
            if self.seen.insert(parts[1].to_owned()) {
                let (category, action) = (Category::parse(parts[2]).unwrap(), Action::parse(parts[3]).unwrap());
                news.push(event(category, action));
                if parts[0] == self.app.world.north {
                    self.of_north.insert(parts[1].to_owned());
                }
            }
        }
        news.sort();
        news
    }

    /// Calls a route with these ids; it succeeds and leaves these records.
    async fn call(&mut self, person: &Person, route: &str, ids: &[&str], body: Value, expected: &[&str]) -> Value {
        let (method, template) = route.split_once(' ').unwrap();
        let path = with_ids(template, ids);
        let body = (!body.is_null()).then_some(body);
        let answer = self.app.as_(person).send(method.parse().unwrap(), &path, body).await;
        self.check(route, answer, expected).await
    }

    /// The same with a file.
    async fn send_file(
        &mut self,
        person: &Person,
        route: &str,
        ids: &[&str],
        (name, bytes): (&str, Vec<u8>),
        expected: &[&str],
    ) -> Value {
        let (method, template) = route.split_once(' ').unwrap();
        let answer = upload(&self.app.as_(person), method, &with_ids(template, ids), name, bytes).await;
        self.check(route, answer, expected).await
    }

    async fn check(&mut self, route: &str, answer: Answer, expected: &[&str]) -> Value {
        let (method, template) = route.split_once(' ').unwrap();
        let path = template.split('?').next().unwrap();
        self.called.insert((method.to_owned(), path.to_owned()));
        let said = String::from_utf8_lossy(&answer.bytes).into_owned();
        assert!(answer.status < 300, "{route}: {} {said}", answer.status);
        assert_eq!(self.news().await, expected, "{route}");
        answer.json()
    }
}

fn with_ids(template: &str, ids: &[&str]) -> String {
    let mut ids = ids.iter();
    let parts = template.split(['{', '}']).enumerate();
    let parts = parts.map(|(index, part)| if index % 2 == 0 { part } else { *ids.next().unwrap() });
    parts.collect()
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

async fn the_school(story: &mut Story<'_>) {
    let world = &story.app.world;
    let adam = &world.adam;
    let subject = story
        .call(adam, "POST /subjects", &[], json!({"name": "Art"}), &["SUBJECT_CREATE"])
        .await;
    let subject = id(&subject);
    let body = json!({"code": "ART"});
    story
        .call(
            adam,
            "PATCH /subjects/{id}",
            &[&subject],
            body.clone(),
            &["SUBJECT_UPDATE"],
        )
        .await;
    story.call(adam, "PATCH /subjects/{id}", &[&subject], body, &[]).await;
    story
        .call(
            adam,
            "DELETE /subjects/{id}",
            &[&subject],
            Value::Null,
            &["SUBJECT_DELETE"],
        )
        .await;
    let homeroom = story
        .call(
            adam,
            "POST /homerooms",
            &[],
            json!({"name": "7C"}),
            &["HOMEROOM_CREATE"],
        )
        .await;
    let homeroom = id(&homeroom);
    let (body, students) = (
        json!({"gradeLevel": "7"}),
        json!({"studentIds": [world.ben.id, world.cem.id]}),
    );
    story
        .call(adam, "PATCH /homerooms/{id}", &[&homeroom], body, &["HOMEROOM_UPDATE"])
        .await;
    let route = "POST /homerooms/{id}/students";
    story
        .call(adam, route, &[&homeroom], students.clone(), &["HOMEROOM_MEMBER_ADDED"])
        .await;
    story.call(adam, route, &[&homeroom], students, &[]).await;
    let (route, ids) = (
        "DELETE /homerooms/{id}/students/{studentId}",
        [homeroom.as_str(), &world.ben.id],
    );
    story
        .call(adam, route, &ids, Value::Null, &["HOMEROOM_MEMBER_REMOVED"])
        .await;
    story
        .call(
            adam,
            "DELETE /homerooms/{id}",
            &[&homeroom],
            Value::Null,
            &["HOMEROOM_DELETE"],
        )
        .await;
    let settings = json!({"metadata": {"features": {"teachersAddSubjects": true}}});
    story
        .call(adam, "PATCH /admin/settings", &[], settings.clone(), &["TENANT_UPDATE"])
        .await;
    story.call(adam, "PATCH /admin/settings", &[], settings, &[]).await;
    let sessions = story
        .app
        .as_(adam)
        .get(&format!("/admin/sessions?userId={}", world.eli.id))
        .await;
    let session = sessions.expect(200)["data"][0].clone();
    story
        .call(
            adam,
            "DELETE /admin/sessions/{id}",
            &[&id(&session)],
            Value::Null,
            &["AUTH_DELETE"],
        )
        .await;
}

async fn the_people(story: &mut Story<'_>) {
    let world = &story.app.world;
    let adam = &world.adam;
    let new = |name: &str| json!({"name": name, "email": format!("{name}@test.example"), "role": "STUDENT"});
    let member = async |story: &Story<'_>, name: &str| {
        let found = story.app.as_(adam).get(&format!("/admin/members?search={name}")).await;
        id(&found.expect(200)["data"][0])
    };
    let pupil = id(&story
        .call(adam, "POST /users", &[], new("nora"), &["USER_CREATE"])
        .await);
    let edit = json!({"name": "Nora N."});
    story
        .call(adam, "PATCH /users/{id}", &[&pupil], edit.clone(), &["USER_UPDATE"])
        .await;
    story.call(adam, "PATCH /users/{id}", &[&pupil], edit, &[]).await;
    let route = "POST /users/{id}/reset-password";
    story.call(adam, route, &[&pupil], json!({}), &["USER_UPDATE"]).await;
    let (route, teacher) = ("PATCH /admin/members/{id}", json!({"role": "teacher"}));
    let nora = member(story, "nora").await;
    story
        .call(adam, route, &[&nora], teacher.clone(), &["USER_ROLE_CHANGED"])
        .await;
    story.call(adam, route, &[&nora], teacher, &[]).await;
    story
        .call(adam, "DELETE /users/{id}", &[&pupil], Value::Null, &["USER_DELETE"])
        .await;
    story
        .call(adam, "POST /users", &[], new("otto"), &["USER_CREATE"])
        .await;
    let otto = member(story, "otto").await;
    let route = "DELETE /admin/members/{id}";
    story.call(adam, route, &[&otto], Value::Null, &["USER_DELETE"]).await;
}

async fn the_platform(story: &mut Story<'_>) {
    let world = &story.app.world;
    let (adam, root) = (&world.adam, &world.root);
    let users = json!({"users": [{"email": "ida@import.example", "firstName": "Ida", "role": "student"}]});
    story
        .call(adam, "POST /users/import", &[], users, &["USER_IMPORT"])
        .await;
    let new = json!({"name": "West", "slug": "west", "ownerEmail": "wes@test.example", "ownerName": "Wes"});
    let made = story
        .call(root, "POST /tenants", &[], new, &["TENANT_CREATE", "USER_CREATE"])
        .await;
    let west = id(&made["tenant"]);
    for (route, body, told) in [
        ("PATCH /tenants/{id}", json!({"name": "Far West"}), "TENANT_UPDATE"),
        ("POST /tenants/{id}/suspend", json!({}), "TENANT_UPDATE"),
        ("POST /tenants/{id}/activate", json!({}), "TENANT_UPDATE"),
    ] {
        story.call(root, route, &[&west], body, &[told]).await;
    }
    // The purge that follows takes the log along, perhaps before anybody could read it here.
    let (path, confirm) = (format!("/tenants/{west}"), json!({"confirm": "west"}));
    let gone = story
        .app
        .as_(root)
        .send(reqwest::Method::DELETE, &path, Some(confirm))
        .await;
    assert!(gone.status < 300, "{}", gone.status);
    story.called.insert(("DELETE".to_owned(), "/tenants/{id}".to_owned()));
    story.news().await;
}

/// A class with a group in it; answers class, course, group and another group.
async fn a_class(story: &mut Story<'_>) -> [String; 4] {
    let world = &story.app.world;
    let (ada, subject) = (&world.ada, &world.seven_b.subject);
    let new = json!({"name": "7x", "academicYear": "2026/2027"});
    let class = id(&story.call(ada, "POST /classes", &[], new, &["CLASS_CREATE"]).await);
    story
        .call(
            ada,
            "PATCH /classes/{id}",
            &[&class],
            json!({"semester": "1"}),
            &["CLASS_UPDATE"],
        )
        .await;
    let tom = json!({"userId": world.tom.id});
    story
        .call(
            ada,
            "POST /classes/{id}/teachers",
            &[&class],
            tom,
            &["CLASS_MEMBER_ADDED"],
        )
        .await;
    let (route, ids) = (
        "DELETE /classes/{id}/teachers/{userId}",
        [class.as_str(), &world.tom.id],
    );
    story
        .call(ada, route, &ids, Value::Null, &["CLASS_MEMBER_REMOVED"])
        .await;
    let students = json!({"studentIds": [world.ben.id, world.cem.id, world.dana.id]});
    story
        .call(
            ada,
            "POST /classes/{id}/students",
            &[&class],
            students,
            &["CLASS_MEMBER_ADDED"],
        )
        .await;
    let (route, ids) = (
        "PATCH /classes/{id}/students/{studentId}",
        [class.as_str(), &world.ben.id],
    );
    let completed = json!({"completedAt": "2026-11-20T12:00:00Z"});
    story.call(ada, route, &ids, completed, &["CLASS_UPDATE"]).await;
    let new = json!({"name": "Cells", "classId": class, "subjectId": subject});
    let course = id(&story.call(ada, "POST /courses", &[], new, &["COURSE_CREATE"]).await);
    let edit = json!({"description": "Plants"});
    story
        .call(ada, "PATCH /courses/{id}", &[&course], edit, &["COURSE_UPDATE"])
        .await;
    let new = json!({"classId": class, "courseId": course, "memberIds": [world.ben.id]});
    let group = id(&story.call(ada, "POST /groups", &[], new, &["GROUP_CREATE"]).await);
    let batch = json!({"classId": class, "courseId": course, "groups": [{"name": "A"}, {"name": "B"}]});
    let batch = story
        .call(ada, "POST /groups/batch", &[], batch, &["GROUP_CREATE", "GROUP_CREATE"])
        .await;
    let other = id(&batch[0]);
    story
        .call(
            ada,
            "PATCH /groups/{id}",
            &[&group],
            json!({"displayName": "Owls"}),
            &["GROUP_UPDATE"],
        )
        .await;
    let members = json!({"userIds": [world.cem.id]});
    story
        .call(
            ada,
            "POST /groups/{id}/members",
            &[&group],
            members,
            &["GROUP_MEMBER_ADDED"],
        )
        .await;
    let (route, ids) = (
        "POST /groups/{id}/members/{userId}/move",
        [group.as_str(), &world.cem.id],
    );
    story
        .call(ada, route, &ids, json!({"toGroupId": other}), &["GROUP_MEMBER_MOVED"])
        .await;
    let (route, ids) = ("DELETE /groups/{id}/members/{userId}", [other.as_str(), &world.cem.id]);
    story
        .call(ada, route, &ids, Value::Null, &["GROUP_MEMBER_REMOVED"])
        .await;
    let generated = json!({
        "classId": class, "courseId": course, "groupSize": 2, "strategy": "random",
        "studentIds": [world.cem.id, world.dana.id],
    });
    let route = "POST /groups/generate";
    story.call(ada, route, &[], generated, &["GROUP_CREATE"]).await;
    let route = "POST /groups/{id}/attachments";
    let file = story
        .send_file(
            ada,
            route,
            &[&group],
            ("plan.txt", b"a plan".to_vec()),
            &["GROUP_UPDATE"],
        )
        .await;
    let route = "DELETE /groups/{id}/attachments/{attachmentId}";
    story
        .call(ada, route, &[&group, &id(&file)], Value::Null, &["GROUP_UPDATE"])
        .await;
    let help = "POST /groups/{id}/help";
    let message = json!({"message": "Stuck"});
    story
        .call(&world.ben, help, &[&group], message, &["HELP_REQUESTED"])
        .await;
    story
        .call(&world.ben, help, &[&group], json!({"message": "Really"}), &[])
        .await;
    story
        .call(ada, "POST /groups/{id}/help/claim", &[&group], json!({}), &[])
        .await;
    let resolve = "POST /groups/{id}/help/resolve";
    story.call(ada, resolve, &[&group], json!({}), &["HELP_RESOLVED"]).await;
    story.call(ada, resolve, &[&group], json!({}), &[]).await;
    [class, course, group, other]
}

async fn a_topic(story: &mut Story<'_>, [class, course, group, other]: &[String; 4]) -> String {
    let ada = &story.app.world.ada;
    let new = json!({
        "title": "Leaves", "deadline": "2099-01-01T00:00:00Z", "classId": class, "courseId": course, "groupIds": [group],
    });
    let topic = id(&story
        .call(ada, "POST /assignments", &[], new, &["ASSIGNMENT_CREATE"])
        .await);
    let (update, edit) = (["ASSIGNMENT_UPDATE"], json!({"description": "Draw one."}));
    story
        .call(ada, "PATCH /assignments/{id}", &[&topic], edit, &update)
        .await;
    let route = "POST /assignments/{id}/attachments";
    let file = story
        .send_file(ada, route, &[&topic], ("leaf.txt", b"a leaf".to_vec()), &update)
        .await;
    let route = "DELETE /assignments/{id}/attachments/{attachmentId}";
    story
        .call(ada, route, &[&topic, &id(&file)], Value::Null, &update)
        .await;
    let bulk = ("PATCH /assignments/{id}/bulk", json!({"title": "Leaves and roots"}));
    story
        .call(ada, bulk.0, &[&topic], bulk.1, &["ASSIGNMENT_BULK_UPDATE"])
        .await;
    let dry = ("PATCH /assignments/{id}/bulk?dryRun=1", json!({"title": "Stems"}));
    story.call(ada, dry.0, &[&topic], dry.1, &[]).await;
    let (attach, groups) = ("POST /assignments/{id}/groups", json!({"groupIds": [other]}));
    story
        .call(ada, attach, &[&topic], groups.clone(), &["ASSIGNMENT_ATTACH"])
        .await;
    story.call(ada, attach, &[&topic], groups, &[]).await;
    let (route, ids) = ("PATCH /assignments/{id}/groups/{groupId}", [topic.as_str(), other]);
    story
        .call(ada, route, &ids, json!({"descriptionOverride": "Two."}), &update)
        .await;
    let route = "DELETE /assignments/{id}/groups/{groupId}";
    story.call(ada, route, &ids, Value::Null, &["ASSIGNMENT_DETACH"]).await;
    topic
}

async fn the_work(story: &mut Story<'_>, group: &str, topic: &str) {
    let world = &story.app.world;
    let (ada, ben) = (&world.ada, &world.ben);
    let shown = story.app.as_(ben).get(&format!("/groups/{group}")).await.expect(200);
    let room = shown["workRoomId"].as_str().unwrap().to_owned();
    let (route, new) = (
        "POST /workrooms/{id}/documents",
        json!({"title": "Page", "documentType": "word"}),
    );
    let page = id(&story
        .call(ben, route, &[&room], new.clone(), &["DOCUMENT_CREATE"])
        .await);
    let draft = id(&story.call(ben, route, &[&room], new, &["DOCUMENT_CREATE"]).await);
    let update = ["DOCUMENT_UPDATE"];
    let route = "PATCH /workrooms/documents/{id}";
    story
        .call(ben, route, &[&page], json!({"title": "Front page"}), &update)
        .await;
    let route = "PUT /workrooms/documents/{id}/content";
    for text in ["one", "two"] {
        story
            .send_file(ben, route, &[&page], ("page.docx", docx(text)), &update)
            .await;
    }
    let route = "POST /workrooms/documents/{id}/versions/{version}/restore";
    story.call(ben, route, &[&page, "1"], json!({}), &update).await;
    let route = "DELETE /workrooms/documents/{id}";
    story
        .call(ben, route, &[&draft], Value::Null, &["DOCUMENT_DELETE"])
        .await;
    let submit = "POST /workrooms/documents/{id}/submit";
    let body = json!({"assignmentId": topic});
    story
        .call(ben, submit, &[&page], body.clone(), &["SUBMISSION_SUBMIT"])
        .await;
    let route = "POST /workrooms/documents/{id}/unsubmit";
    story
        .call(ben, route, &[&page], json!({}), &["SUBMISSION_UNSUBMIT"])
        .await;
    story.call(ben, submit, &[&page], body, &["SUBMISSION_SUBMIT"]).await;
    let finish = "POST /assignments/{id}/finish";
    story
        .call(ada, finish, &[topic], json!({}), &["ASSIGNMENT_FINISH"])
        .await;
    story.call(ada, finish, &[topic], json!({}), &[]).await;
    let reopen = "POST /assignments/{id}/reopen";
    story
        .call(ada, reopen, &[topic], json!({}), &["ASSIGNMENT_REOPEN"])
        .await;
    story.call(ada, reopen, &[topic], json!({}), &[]).await;
}

async fn the_end(story: &mut Story<'_>, [class, course, group, other]: &[String; 4], topic: &str) {
    let world = &story.app.world;
    let (ada, adam) = (&world.ada, &world.adam);
    let body = json!({
        "name": "7x again", "academicYear": "2027/2028", "withCourses": true, "withTopics": true, "withStudents": true,
    });
    let told = [
        "ASSIGNMENT_CREATE",
        "CLASS_CREATE",
        "CLASS_MEMBER_ADDED",
        "COURSE_CREATE",
    ];
    story.call(ada, "POST /classes/{id}/clone", &[class], body, &told).await;
    let (route, ids) = (
        "DELETE /classes/{id}/students/{studentId}",
        [class.as_str(), &world.dana.id],
    );
    story
        .call(ada, route, &ids, Value::Null, &["CLASS_MEMBER_REMOVED"])
        .await;
    let (route, gone) = ("DELETE /assignments/{id}", ["ASSIGNMENT_DELETE"]);
    story.call(ada, route, &[topic], Value::Null, &gone).await;
    let route = "DELETE /groups/{id}";
    story.call(ada, route, &[other], Value::Null, &["GROUP_DELETE"]).await;
    let route = "DELETE /courses/{id}";
    story.call(ada, route, &[course], Value::Null, &["COURSE_DELETE"]).await;
    let route = "DELETE /classes/{id}?force=1";
    story.call(adam, route, &[class], Value::Null, &["CLASS_DELETE"]).await;
    story
        .app
        .as_(ada)
        .get(&format!("/groups/{group}"))
        .await
        .refused(404, "NOT_FOUND");
}

fn ids_of(app: &TestApp, lesson: &Walk) -> Ids {
    Ids {
        class: app.world.seven_b.id.clone(),
        subject: app.world.seven_b.subject.clone(),
        course: app.world.seven_b.course.clone(),
        group: lesson.group.clone(),
        assignment: lesson.assignment.clone(),
        user: app.world.ben.id.clone(),
    }
}

/// A route the story does not know yet: its sample has to succeed on a fresh lesson, and to leave a record.
async fn unknown(story: &mut Story<'_>, row: &Row) {
    let app = story.app;
    let lesson = Walk::begin(app).await;
    story.news().await;
    let people = [&app.world.adam, &app.world.ada, &app.world.ben, &app.world.root];
    let mut said = String::new();
    for person in people {
        let parts = row.path.split(['{', '}']).enumerate();
        let parts = parts.map(|(index, part)| {
            if index % 2 == 0 {
                part.to_owned()
            } else {
                lesson.parameter(app, &row.path, part)
            }
        });
        let (client, path) = (app.as_(person), parts.collect::<String>());
        let answer = match sample(row.method, &row.path, &ids_of(app, &lesson)) {
            Sample::Empty => client.send(row.method.parse().unwrap(), &path, None).await,
            Sample::Json(body) => client.send(row.method.parse().unwrap(), &path, Some(body)).await,
            Sample::File(name) => upload(&client, row.method, &path, name, b"sample".to_vec()).await,
        };
        if answer.status < 300 {
            let news = story.news().await;
            let (method, path) = (row.method, &row.path);
            assert!(
                !news.is_empty(),
                "{method} {path} left no record: tell it in tests/api/logged.rs, or say there why it needs none"
            );
            return;
        }
        said = format!("{} {}", answer.status, String::from_utf8_lossy(&answer.bytes));
    }
    let (method, path) = (row.method, &row.path);
    panic!("{method} {path} is not in the story of tests/api/logged.rs, and its sample fails: {said}");
}

both!(every_change_is_recorded_and_the_record_outlives_it, |app| {
    let mut story = Story::begin(app).await;
    the_school(&mut story).await;
    the_people(&mut story).await;
    the_platform(&mut story).await;
    let made = a_class(&mut story).await;
    let topic = a_topic(&mut story, &made).await;
    the_work(&mut story, &made[2], &topic).await;
    the_end(&mut story, &made, &topic).await;

    // Everything that was recorded is still there, under the names it had.
    let (mut kept, mut cursor) = (HashSet::new(), String::new());
    loop {
        let page = app
            .as_(&app.world.adam)
            .get(&format!("/activity-logs?limit=50{cursor}"))
            .await
            .expect(200);
        for record in page["data"].as_array().unwrap() {
            // An import is about many people and names none.
            let is_about = record["entityName"].is_string() || record["event"] == "USER_IMPORT";
            let is_named = is_about && !record["userName"].as_str().unwrap().is_empty();
            assert!(is_named && record["requestId"].is_string(), "{record}");
            kept.insert(id(record));
        }
        let Some(next) = page["nextCursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert!(story.of_north.is_subset(&kept) && kept.len() > 40);
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
        let is_told = story.called.contains(&(row.method.to_owned(), row.path.clone()));
        let is_unlogged = UNLOGGED
            .iter()
            .any(|(method, path, _)| *method == row.method && *path == row.path);
        if !is_told && !is_unlogged {
            unknown(&mut story, row).await;
        }
    }
});
