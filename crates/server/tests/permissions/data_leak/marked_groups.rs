//! Two groups of one topic with a mark in every text. In the first, the students work. The second has not started, and
//! only Ada works in it.

use std::collections::BTreeSet;

use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use test_support::document_server_fixture::{DocumentServerFixture, path};
use test_support::samples::Ids;
use test_support::topics::id;
use test_support::{Client, LessonFixture, TestApp, TestUser};

/// A group with its marks.
pub struct MarkedGroup {
    /// Prefix of its marks.
    prefix: &'static str,
    /// The lesson, with the ids of this group.
    pub lesson: LessonFixture,
    /// Marks that its members may read.
    pub marks: BTreeSet<String>,
    /// Marks that only staff may read.
    pub staff_marks: BTreeSet<String>,
    /// Marks of deleted data.
    pub former_marks: BTreeSet<String>,
    /// Ids of all objects of the group.
    pub ids: BTreeSet<String>,
}

impl MarkedGroup {
    pub fn new(prefix: &'static str, lesson: LessonFixture) -> Self {
        let ids = BTreeSet::from([lesson.group.clone()]);
        let [marks, staff_marks, former_marks] = [const { BTreeSet::new() }; 3];
        Self {
            prefix,
            lesson,
            marks,
            staff_marks,
            former_marks,
            ids,
        }
    }

    /// Returns a unique text for a field, and records it as readable for members.
    pub fn mark(&mut self, field: &str) -> String {
        let mark = format!("qz{}-{field}-qz", self.prefix);
        self.marks.insert(mark.clone());
        mark
    }

    /// Like `mark`, for data that members cannot read.
    pub fn staff_mark(&mut self, field: &str) -> String {
        let mark = self.mark(field);
        self.marks.remove(&mark);
        self.staff_marks.insert(mark.clone());
        mark
    }

    /// Like `mark`, for data that members could read in the past.
    pub fn former_mark(&mut self, field: &str) -> String {
        let mark = self.mark(field);
        self.marks.remove(&mark);
        self.former_marks.insert(mark.clone());
        mark
    }

    /// Returns all marks and ids that no outsider may find.
    pub fn all_marks(&self) -> BTreeSet<String> {
        [&self.marks, &self.staff_marks, &self.former_marks, &self.ids]
            .into_iter()
            .flatten()
            .cloned()
            .collect()
    }

    /// Returns the content of the group's outline.
    pub fn outline(&self) -> BTreeSet<String> {
        let named = ["name", "display"].map(|field| format!("qz{}-{field}-qz", self.prefix));
        named.into_iter().chain([self.lesson.group.clone()]).collect()
    }

    /// Returns the ids that request bodies about the group contain.
    pub fn sample_ids(&self, app: &TestApp) -> Ids {
        Ids::of_lesson(app, &self.lesson)
    }

    fn record_id(&mut self, object: &Value) -> String {
        let id = id(object);
        self.ids.insert(id.clone());
        id
    }

    /// Runs all activity of the group. `worker` acts for the members: one of them, or Ada while the group is hidden.
    /// The work of `graded` is graded separately, and so is the work of `other`, if given.
    pub async fn run_lesson(
        &mut self,
        fixture: &DocumentServerFixture,
        worker: &TestUser,
        graded: &TestUser,
        other: Option<&TestUser>,
    ) {
        let (ada, member) = (fixture.app.as_(&fixture.app.world.ada), fixture.app.as_(worker));
        self.send_message_about_group(&ada, &fixture.app.world.adam).await;
        self.rename_group(&ada).await;
        self.set_own_task(&ada).await;
        self.write_in_chat(&member, &ada).await;
        self.write_documents(fixture, worker).await;
        self.submit(&member).await;
        self.grade_submission(&ada, &member, graded, other).await;
    }

    /// The students call for help twice: the first call is resolved, the second one stays open.
    pub async fn request_help(&mut self, app: &TestApp) {
        let (ben, ada) = (app.as_(&app.world.ben), app.as_(&app.world.ada));
        let help = format!("/groups/{}/help", self.lesson.group);
        let first = json!({"message": self.former_mark("first-call")});
        ben.post(&help, first).await.expect(200);
        ada.post(&format!("{help}/claim"), json!({})).await.expect(200);
        let note = json!({"note": self.staff_mark("handled")});
        ada.post(&format!("{help}/resolve"), note).await.expect(200);
        let second = json!({"message": self.mark("call")});
        ben.post(&help, second).await.expect(200);
    }

    /// Ada writes a message about the group to the head of the school.
    async fn send_message_about_group(&mut self, ada: &Client, adam: &TestUser) {
        let (subject, content) = (self.staff_mark("letter"), self.staff_mark("letter-content"));
        let mail = json!({"recipientIds": [adam.id], "subject": subject, "content": content});
        self.lesson.announcement = self.record_id(&ada.post("/messages", mail).await.expect(201));
    }

    async fn rename_group(&mut self, ada: &Client) {
        let names = json!({"name": self.mark("name"), "displayName": self.mark("display")});
        let group = format!("/groups/{}", self.lesson.group);
        let group = ada.patch(&group, names).await.expect(200);
        group["workRoomId"]
            .as_str()
            .unwrap()
            .clone_into(&mut self.lesson.work_room);
        self.ids.insert(self.lesson.work_room.clone());
        let files = format!("/groups/{}/attachments", self.lesson.group);
        let (name, content) = (self.mark("group-file"), self.mark("group-file-content"));
        let file = ada
            .upload(&files, &format!("{name}.txt"), content.into_bytes(), &[])
            .await;
        self.lesson.group_file = self.record_id(&file.expect(201));
    }

    async fn set_own_task(&mut self, ada: &Client) {
        let topic = format!("/assignments/{}", self.lesson.assignment);
        ada.patch(&topic, json!({"isShared": false})).await.expect(200);
        let own = json!({"descriptionOverride": self.mark("override")});
        let link = ada.patch(&format!("{topic}/groups/{}", self.lesson.group), own).await;
        let link = self.record_id(&link.expect(200));
        self.lesson.link.clone_from(&link);
        let (name, content) = (self.mark("own-file"), self.mark("own-file-content"));
        let fields = [("groupAssignmentId", link.as_str())];
        let files = format!("{topic}/attachments");
        let file = ada
            .upload(&files, &format!("{name}.txt"), content.into_bytes(), &fields)
            .await;
        self.lesson.attachment = self.record_id(&file.expect(201));
    }

    async fn write_in_chat(&mut self, member: &Client, ada: &Client) {
        let chat = format!("/workrooms/{}/messages", self.lesson.work_room);
        let (name, content) = (self.mark("chat-file"), self.mark("chat-file-content"));
        let files = format!("{chat}/attachments");
        let file = member
            .upload(&files, &format!("{name}.txt"), content.into_bytes(), &[])
            .await;
        self.lesson.chat_file = self.record_id(&file.expect(201));
        let context = json!({"content": self.former_mark("first-words"), "attachmentIds": [self.lesson.chat_file]});
        self.lesson.message = self.record_id(&member.post(&chat, context).await.expect(201));
        let message = format!("{chat}/{}", self.lesson.message);
        let corrected = json!({"content": self.mark("words")});
        member.patch(&message, corrected).await.expect(200);
        let answer = json!({"content": self.mark("answer"), "replyToId": self.lesson.message});
        self.record_id(&ada.post(&chat, answer).await.expect(201));
        let taken_back = json!({"content": self.former_mark("taken-back")});
        let taken_back = self.record_id(&member.post(&chat, taken_back).await.expect(201));
        member.delete(&format!("{chat}/{taken_back}")).await.expect(200);
        let by_the_other_way = json!({"groupId": self.lesson.group, "content": self.mark("group-message")});
        ada.post("/messages", by_the_other_way).await.expect(201);
        member
            .post(&format!("/workrooms/{}/read", self.lesson.work_room), json!({}))
            .await
            .expect(200);
    }

    async fn grade_submission(&mut self, ada: &Client, member: &Client, graded: &TestUser, other: Option<&TestUser>) {
        let back = json!({"feedback": self.mark("returned")});
        let give_back = format!("/feedback/submissions/{}/return", self.lesson.submission);
        ada.post(&give_back, back).await.expect(200);
        let again = json!({"assignmentId": self.lesson.assignment, "note": self.mark("note")});
        let document = self.lesson.document.clone();
        let handed_in = member.post(&path(&document, "/submit"), again).await.expect(200);
        self.lesson.submission = self.record_id(&handed_in["submission"]);
        self.lesson.copy = self.record_id(&handed_in["submission"]["documents"][0]);
        let about = self.lesson.submission.clone();
        let context = json!({"submissionId": about, "text": self.mark("feedback")});
        self.lesson.feedback = self.record_id(&ada.post("/feedback", context).await.expect(201));
        let among_us = json!({"submissionId": about, "text": self.staff_mark("staff-feedback"), "visibility": "STAFF"});
        self.record_id(&ada.post("/feedback", among_us).await.expect(201));
        let held_back = json!({"documentId": document, "text": self.staff_mark("draft-feedback"), "publish": false});
        self.record_id(&ada.post("/feedback", held_back).await.expect(201));
        let grade = format!("/feedback/submissions/{about}/grade");
        let draft = json!({"feedback": self.former_mark("draft-grade")});
        ada.put(&grade, draft).await.expect(200);
        let mut single = vec![json!({"userId": graded.id, "feedback": self.mark("single-grade")})];
        if let Some(other) = other {
            single.push(json!({"userId": other.id, "feedback": self.staff_mark("grade-of-another")}));
        }
        let out = json!({"value": self.mark("value"), "feedback": self.mark("grade"), "memberGrades": single, "publish": true});
        ada.put(&grade, out).await.expect(200);
    }

    async fn write_documents(&mut self, fixture: &DocumentServerFixture, worker: &TestUser) {
        let member = fixture.app.as_(worker);
        let documents = format!("/workrooms/{}/documents", self.lesson.work_room);
        let new = json!({"title": self.former_mark("first-title"), "documentType": "word"});
        let made = member.post(&documents, new).await.expect(201);
        self.lesson.document = self.record_id(&made);
        let typed = self.mark("typed");
        fixture.write(worker, &self.lesson.document, &typed).await;
        let title = json!({"title": self.mark("title")});
        member.patch(&path(&self.lesson.document, ""), title).await.expect(200);
        // A second document, which is uploaded and deleted.
        let content = self.former_mark("thrown-away-content");
        let name = self.former_mark("thrown-away");
        let part = Part::bytes(content.into_bytes()).file_name(format!("{name}.txt"));
        let upload = member
            .request(Method::POST, &documents)
            .multipart(Form::new().part("file", part));
        let brought = self.record_id(&member.finish(upload).await.expect(201));
        member.delete(&path(&brought, "")).await.expect(200);
        self.ids.remove(&brought);
    }

    async fn submit(&mut self, member: &Client) {
        let document = self.lesson.document.clone();
        let first = json!({"assignmentId": self.lesson.assignment, "note": self.former_mark("first-note")});
        let handed_in = member.post(&path(&document, "/submit"), first).await.expect(200);
        self.record_id(&handed_in["submission"]);
        let reason = json!({"reason": self.staff_mark("reason")});
        member.post(&path(&document, "/unsubmit"), reason).await.expect(200);
        let second = json!({"assignmentId": self.lesson.assignment, "note": self.mark("second-note")});
        let handed_in = member.post(&path(&document, "/submit"), second).await.expect(200);
        self.lesson.submission = self.record_id(&handed_in["submission"]);
    }
}
