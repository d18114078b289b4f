//! Fixture of the matrix: one lesson for each situation, created through the API, and the users who call.

use reqwest::Method;
use serde_json::{Value, json};

use super::people::{GRADE, MatrixActor, OTHERS, actors};
use test_support::deletions::delete_group_of;
use test_support::rows::execute;
use test_support::topics::{LATER, id, link};
use test_support::{Client, LessonFixture, TestApp, TestClass, TestUser};

use test_support::samples::PIXEL;
/// An id that does not exist.
pub use test_support::samples::UNKNOWN_ID;
/// The ids of all objects of one lesson.
#[derive(Debug, Clone)]
pub struct LessonIds {
    pub class: String,
    pub subject: String,
    pub course: String,
    pub group: String,
    /// Another group of the class on the first topic, without members.
    pub other_group: String,
    pub topic: String,
    pub finished: String,
    pub link: String,
    pub own_file: String,
    /// A file of the other group.
    pub others_file: String,
    /// A file of all groups.
    pub shared_file: String,
    pub staged_file: String,
    pub group_file: String,
    pub room: String,
    pub draft: String,
    pub submitted: String,
    pub locked: String,
    /// A draft that another member created.
    pub others: String,
    /// A text that was saved after its document was deleted.
    pub late_text: String,
    /// A picture of the draft.
    pub image: String,
    pub submission: String,
    /// The copy of the document in the submission.
    pub copy: String,
    /// A file of the grade, which is a draft.
    pub grade_file: String,
    pub chat_file: String,
    pub message: String,
    pub feedback: String,
    /// The deletion of a group by the teacher.
    pub deletion: String,
}

/// The lessons, the actors, and further ids that paths and bodies name.
pub struct MatrixFixture {
    pub plain: LessonIds,
    pub hidden: LessonIds,
    /// A lesson whose topics are scheduled.
    pub unpublished: LessonIds,
    pub archived: LessonIds,
    pub draft: LessonIds,
    pub cotaught: LessonIds,
    pub unknown_lesson: LessonIds,
    pub actors: Vec<MatrixActor>,
    /// The actor in the member column where the group is hidden.
    pub dana: MatrixActor,
    pub base_lesson: LessonFixture,
    /// A teacher who is only a co-teacher.
    pub helper: String,
    /// A school that no other test data use.
    pub spare: String,
    /// A member whose account belongs to the `spare` school.
    pub shared: String,
    pub announcement: String,
    /// Direct message from the teacher to the member.
    pub direct: String,
}

const DOCX: &[u8] = include_bytes!("../../../../adapters/templates/blank.docx");

impl LessonIds {
    fn unknown() -> Self {
        let id = || UNKNOWN_ID.to_owned();
        Self {
            class: id(),
            subject: id(),
            course: id(),
            group: id(),
            other_group: id(),
            topic: id(),
            finished: id(),
            link: id(),
            own_file: id(),
            others_file: id(),
            shared_file: id(),
            staged_file: id(),
            group_file: id(),
            room: id(),
            draft: id(),
            submitted: id(),
            locked: id(),
            others: id(),
            late_text: id(),
            image: id(),
            submission: id(),
            copy: id(),
            grade_file: id(),
            chat_file: id(),
            message: id(),
            feedback: id(),
            deletion: id(),
        }
    }

    /// Creates a lesson with every situation. A `start` in the future hides its group.
    #[expect(clippy::too_many_lines, reason = "one lesson from beginning to end")]
    async fn create(app: &TestApp, set: LessonOptions<'_>) -> Self {
        let LessonOptions {
            teacher,
            members,
            class,
            course,
            subject,
            outer,
            inner,
            start,
        } = set;
        let teach = app.as_(teacher);
        let member_ids: Vec<&str> = members.iter().map(|person| person.id.as_str()).collect();
        // Members who cannot see their group cannot write in it.
        let author = members.first().filter(|_| start.is_null()).copied();
        let (author, second) = match author {
            Some(author) => (
                app.as_(author),
                members.get(1).map_or_else(|| app.as_(author), |second| app.as_(second)),
            ),
            None => (app.as_(teacher), app.as_(teacher)),
        };
        let group =
            json!({"name": outer, "classId": class, "courseId": course, "memberIds": member_ids, "startDate": start});
        let group = teach.post("/groups", group).await.expect(201);
        let other = json!({"name": "Others", "classId": class, "courseId": course});
        let other = id(&teach.post("/groups", other).await.expect(201));
        let room = group["workRoomId"].as_str().unwrap().to_owned();
        let group = id(&group);
        let topic = async |title: String| {
            let groups = json!([
                {"groupId": group, "descriptionOverride": inner},
                {"groupId": other, "descriptionOverride": OTHERS},
            ]);
            let topic = json!({
                "title": title, "description": "One page.", "deadline": LATER, "classId": class, "courseId": course,
                "isShared": false, "groups": groups,
            });
            teach.post("/assignments", topic).await.expect(201)
        };
        let (first, finished) = (topic(outer.to_owned()).await, topic(format!("{outer} past")).await);
        let the_link = id(link(&first, &group));
        let others_link = id(link(&first, &other));
        let (first, finished) = (id(&first), id(&finished));
        let files = format!("/assignments/{first}/attachments");
        let upload = async |client: &Client, path: &str, name: String, fields: &[(&str, &str)]| {
            let bytes = if name.split('.').next_back() == Some("docx") {
                DOCX.to_vec()
            } else {
                inner.as_bytes().to_vec()
            };
            id(&client.upload(path, &name, bytes, fields).await.expect(201))
        };
        let shared_file = upload(&teach, &files, "map.txt".to_owned(), &[]).await;
        let own = [("groupAssignmentId", the_link.as_str())];
        let own_file = upload(&teach, &files, format!("{inner}.txt"), &own).await;
        let of_others = [("groupAssignmentId", others_link.as_str())];
        let others_file = upload(&teach, &files, format!("{OTHERS}.txt"), &of_others).await;
        let staged = format!("{files}?staged=1");
        let staged_file = upload(&teach, &staged, "staged.txt".to_owned(), &[]).await;
        let group_file = upload(
            &teach,
            &format!("/groups/{group}/attachments"),
            format!("{inner}.txt"),
            &[],
        )
        .await;
        let documents = format!("/workrooms/{room}/documents");
        let document = async |client: &Client, state: &str| {
            let title = format!("{inner} {state}");
            upload(client, &documents, format!("{state}.docx"), &[("title", &title)]).await
        };
        let hand_in = async |document: &str, topic: &str| {
            let path = format!("/workrooms/documents/{document}/submit");
            author.post(&path, json!({"assignmentId": topic})).await.expect(200)
        };
        // Runs before the other documents are created, because finishing would lock documents without a topic.
        let locked = document(&author, "locked").await;
        hand_in(&locked, &finished).await;
        let finish = format!("/assignments/{finished}/finish");
        teach.send(Method::POST, &finish, None).await.expect(200);
        let draft = document(&author, "draft").await;
        // The first opening in the built-in editor begins the log of the document.
        let opened = format!("/workrooms/documents/{draft}/content");
        author.get(&opened).await.expect(200);
        let images = format!("/workrooms/documents/{draft}/images");
        let image = author.upload(&images, "dot.png", PIXEL.to_vec(), &[]).await;
        let image = id(&image.expect(201));
        let submitted = document(&author, "submitted").await;
        let others = document(&second, "others").await;
        let handed_in = hand_in(&submitted, &first).await;
        let submission = id(&handed_in["submission"]);
        let copy = id(&handed_in["submission"]["documents"][0]);
        for document in [&draft, &submitted, &locked] {
            comment(app, document).await;
        }
        let chat = format!("/workrooms/{room}/messages");
        let chat_file = upload(&author, &format!("{chat}/attachments"), format!("{inner}.txt"), &[]).await;
        let message = json!({"content": format!("{inner} says hello"), "attachmentIds": [chat_file]});
        let message = id(&author.post(&chat, message).await.expect(201));
        let of_staff = json!({"submissionId": submission, "text": GRADE, "visibility": "STAFF"});
        teach.post("/feedback", of_staff).await.expect(201);
        let feedback = json!({"submissionId": submission, "text": format!("{inner} is good")});
        let feedback = id(&teach.post("/feedback", feedback).await.expect(201));
        grade(app, &submission, &teacher.id).await;
        let files = format!("/feedback/submissions/{submission}/files");
        let grade_file = upload(&teach, &files, format!("{GRADE}.txt"), &[]).await;
        let late_text = late_text(app, class, &group, &draft).await;
        let deletion = delete_group_of(app, teacher, class).await;
        Self {
            class: class.to_owned(),
            subject: subject.to_owned(),
            course: course.to_owned(),
            group,
            other_group: other,
            topic: first,
            finished,
            link: the_link,
            own_file,
            others_file,
            shared_file,
            staged_file,
            group_file,
            room,
            draft,
            submitted,
            locked,
            others,
            late_text,
            image,
            submission,
            copy,
            grade_file,
            chat_file,
            message,
            feedback,
            deletion,
        }
    }

    /// Creates a lesson in an existing class.
    async fn in_class(
        app: &TestApp,
        teacher: &TestUser,
        members: &[&TestUser],
        class: &TestClass,
        (outer, inner): (&'static str, &'static str),
        start: Value,
    ) -> Self {
        let set = LessonOptions {
            teacher,
            members,
            class: &class.id,
            course: &class.course,
            subject: &class.subject,
            outer,
            inner,
            start,
        };
        Self::create(app, set).await
    }

    /// Creates a class and a lesson in it.
    async fn in_own_class(app: &TestApp, name: &str, outer: &'static str, inner: &'static str) -> Self {
        let world = &app.world;
        let ada = app.as_(&world.ada);
        let subject = &world.seven_b.subject;
        let class = json!({"name": name, "academicYear": "2025/2026", "subjectIds": [subject]});
        let class = id(&ada.post("/classes", class).await.expect(201));
        let students = json!({"studentIds": [world.ben.id, world.cem.id, world.eli.id]});
        ada.post(&format!("/classes/{class}/students"), students)
            .await
            .expect(200);
        let course = json!({"name": "Cells", "classId": class, "subjectId": subject});
        let course = id(&ada.post("/courses", course).await.expect(201));
        let set = LessonOptions {
            teacher: &world.ada,
            members: &[&world.ben, &world.cem],
            class: &class,
            course: &course,
            subject,
            outer,
            inner,
            start: Value::Null,
        };
        Self::create(app, set).await
    }
}

/// Parameters that differ between lessons.
struct LessonOptions<'a> {
    teacher: &'a TestUser,
    members: &'a [&'a TestUser],
    class: &'a str,
    course: &'a str,
    subject: &'a str,
    /// Marker in the data of outlines: names and titles.
    outer: &'static str,
    /// Marker in the inner data: task texts, documents, files, chat.
    inner: &'static str,
    start: Value,
}

/// Inserts a grade that is not published yet.
async fn grade(app: &TestApp, submission: &str, teacher: &str) {
    let grade = common::clock::new_id();
    let columns = "organization_id, id, submission_id, value, status, graded_by_id, graded_at, created_at, updated_at";
    let insert = format!(
        "INSERT INTO grades ({columns}) SELECT organization_id, '{grade}', id, '{GRADE}', 'DRAFT', '{teacher}', 6, 6, 6 \
         FROM submissions WHERE id = '{submission}'"
    );
    execute(&app.database, insert).await;
}

/// Inserts a thread with one comment by the creator of a document. Both have the id of the document.
async fn comment(app: &TestApp, document: &str) {
    let thread = format!(
        "INSERT INTO comment_threads (organization_id, id, document_id, created_at) \
         SELECT organization_id, id, id, 6 FROM documents WHERE id = '{document}'"
    );
    execute(&app.database, thread).await;
    let comment = format!(
        "INSERT INTO document_comments (organization_id, id, thread_id, author_id, text, created_at) \
         SELECT organization_id, id, id, created_by_id, 'Which one?', 6 FROM documents WHERE id = '{document}'"
    );
    execute(&app.database, comment).await;
}

/// Inserts a text that was saved after its document was deleted, with the bytes of another document.
async fn late_text(app: &TestApp, class: &str, group: &str, other: &str) -> String {
    let (document, text) = (common::clock::new_id(), common::clock::new_id());
    let now = common::clock::now().as_millis();
    let columns = "organization_id, id, class_id, class_name, group_id, group_name, title, file_extension, generation, \
        oldest_generation, is_open, deleted_at";
    let insert = format!(
        "INSERT INTO deleted_documents ({columns}) SELECT organization_id, '{document}', id, name, '{group}', '{group}', \
         '{group} late', 'docx', 1, 1, FALSE, {now} FROM classes WHERE id = '{class}'"
    );
    execute(&app.database, insert).await;
    let columns = "organization_id, id, document_id, generation, file_extension, file_key, size, sha256, received_at";
    let insert = format!(
        "INSERT INTO late_texts ({columns}) SELECT organization_id, '{text}', '{document}', 1, 'docx', file_key, size, sha256, \
         {now} FROM document_revisions WHERE document_id = '{other}'"
    );
    execute(&app.database, insert).await;
    text
}

impl MatrixFixture {
    /// Creates all lessons.
    pub async fn create(app: &TestApp) -> Self {
        let world = &app.world;
        let base_lesson = LessonFixture::create(app).await;
        let (seven_b, eight_a, south) = (&world.seven_b, &world.eight_a, &world.south_class);
        let (ben, cem) = (&world.ben, &world.cem);
        let words = ("Plainouter", "Plaininner");
        let plain = LessonIds::in_class(app, &world.ada, &[ben, cem], seven_b, words, Value::Null).await;
        let words = ("Hiddenouter", "Hiddeninner");
        let hidden = LessonIds::in_class(app, &world.ada, &[&world.dana], seven_b, words, json!(LATER)).await;
        let unpublished = LessonIds::in_own_class(app, "5z", "Unpublishedouter", "Unpublishedinner").await;
        // The API does not hide a topic from a group that has started.
        let schedule = format!(
            "UPDATE assignments SET publish_at = 4000000000000 WHERE class_id = '{}'",
            unpublished.class
        );
        execute(&app.database, schedule).await;
        let archived = LessonIds::in_own_class(app, "6z", "Archivedouter", "Archivedinner").await;
        let path = format!("/classes/{}", archived.class);
        let ada = app.as_(&world.ada);
        ada.patch(&path, json!({"status": "ARCHIVED"})).await.expect(200);
        let draft = LessonIds::in_own_class(app, "9z", "Draftouter", "Draftinner").await;
        let set_draft = format!("UPDATE classes SET status = 'DRAFT' WHERE id = '{}'", draft.class);
        execute(&app.database, set_draft).await;
        let words = ("Southouter", "Southinner");
        let foreign = LessonIds::in_class(app, &world.zoe, &[&world.zack], south, words, Value::Null).await;
        assert_ne!(foreign.group, plain.group);
        let words = ("Cotaughtouter", "Cotaughtinner");
        let cotaught = LessonIds::in_class(app, &world.tom, &[&world.finn], eight_a, words, Value::Null).await;
        let tom = app.as_(&world.tom);
        let path = format!("/classes/{}/teachers", cotaught.class);
        tom.post(&path, json!({"userId": world.ada.id})).await.expect(200);
        let adam = app.as_(&world.adam);
        let helper = json!({"name": "Hans Helper", "email": "hans@test.example", "role": "TEACHER"});
        let helper = id(&adam.post("/users", helper).await.expect(201));
        let path = format!("/classes/{}/teachers", plain.class);
        ada.post(&path, json!({"userId": helper})).await.expect(200);
        let spare = json!({"name": "Spare", "slug": "spare", "ownerEmail": "spare@test.example", "ownerName": "Spare"});
        let spare = app.as_(&world.root).post("/tenants", spare).await.expect(201);
        let (spare, shared) = (id(&spare["tenant"]), id(&spare["owner"]));
        let joined = format!(
            "INSERT INTO members (organization_id, id, user_id, role, created_at)
             VALUES ('{}', 'shared-member', '{shared}', 'teacher', 1)",
            world.north
        );
        execute(&app.database, joined).await;
        let announcement = json!({"classId": plain.class, "content": "The lesson begins later"});
        let announcement = id(&ada.post("/messages", announcement).await.expect(201));
        let direct = json!({"recipientIds": [ben.id], "content": "Plaininner for you"});
        let direct = id(&ada.post("/messages", direct).await.expect(201));
        let enrolled = json!({"studentIds": [ben.id]});
        let path = format!("/homerooms/{}/students", base_lesson.homeroom);
        adam.post(&path, enrolled).await.expect(200);
        // A teacher may reset the password only of students whom the school itself enrolled in the class.
        let enrolled = format!(
            "UPDATE class_enrollments SET enrolled_by = 'admin' WHERE student_id = '{}'",
            ben.id
        );
        execute(&app.database, enrolled).await;
        let (actors, dana) = actors(app);
        Self {
            plain,
            hidden,
            unpublished,
            archived,
            draft,
            cotaught,
            unknown_lesson: LessonIds::unknown(),
            actors,
            dana,
            base_lesson,
            helper,
            spare,
            shared,
            announcement,
            direct,
        }
    }

    /// Returns the lesson of a situation.
    pub fn lesson(&self, situation: &str) -> &LessonIds {
        match situation {
            "hidden" => &self.hidden,
            "unpublished" => &self.unpublished,
            "archived" => &self.archived,
            "draft" => &self.draft,
            "cotaught" => &self.cotaught,
            _ => &self.plain,
        }
    }
}
