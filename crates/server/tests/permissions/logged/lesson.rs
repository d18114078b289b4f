//! Actions in a class, from its creation to its end.

use serde_json::{Value, json};

use super::{Story, id};
use test_support::office::docx;

/// Creates a class with a group. Returns the class, course, group and another group.
#[expect(clippy::too_many_lines, reason = "one story, told in its order")]
pub(super) async fn a_class(story: &mut Story<'_>) -> [String; 4] {
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

pub(super) async fn a_topic(story: &mut Story<'_>, [class, course, group, other]: &[String; 4]) -> String {
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
    let handout = (
        "POST /assignments/{id}/handouts",
        json!({"templateAttachmentId": id(&file)}),
    );
    story
        .call(ada, handout.0, &[&topic], handout.1, &["DOCUMENT_CREATE"])
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
    let (route, copy) = (
        "POST /assignments/{id}/clone",
        json!({"deadline": "2099-01-01T00:00:00Z"}),
    );
    let copy = id(&story.call(ada, route, &[&topic], copy, &["ASSIGNMENT_CREATE"]).await);
    let (route, gone) = ("DELETE /assignments/{id}", ["ASSIGNMENT_DELETE"]);
    story.call(ada, route, &[&copy], Value::Null, &gone).await;
    topic
}

pub(super) async fn the_work(story: &mut Story<'_>, group: &str, topic: &str) {
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
    let handed_in = story.call(ben, submit, &[&page], body, &["SUBMISSION_SUBMIT"]).await;
    the_judgement(story, &page, &handed_in, topic).await;
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

/// A teacher reviews a submission. At the end, the group submits again.
async fn the_judgement(story: &mut Story<'_>, page: &str, handed_in: &Value, topic: &str) {
    let world = &story.app.world;
    let (ada, ben, submission) = (&world.ada, &world.ben, id(&handed_in["submission"]));
    let (route, points) = ("PUT /feedback/submissions/{id}/grade", json!({"points": 1}));
    story
        .call(ada, route, &[&submission], points.clone(), &["SUBMISSION_GRADE"])
        .await;
    story.call(ada, route, &[&submission], points, &[]).await;
    let (route, value) = ("PUT /workrooms/documents/{id}/grade", json!({"value": "B"}));
    story.call(ada, route, &[page], value, &["SUBMISSION_GRADE"]).await;
    let route = "POST /assignments/{id}/grades/import";
    let table = format!("submissionId,userId,points\n{submission},,2\n").into_bytes();
    story
        .send_file(ada, route, &[topic], ("grades.csv", table), &["SUBMISSION_GRADE"])
        .await;
    let route = "POST /feedback/assignments/{id}/publish-grades";
    story
        .call(ada, route, &[topic], json!({}), &["SUBMISSION_GRADE_PUBLISH"])
        .await;
    story.call(ada, route, &[topic], json!({}), &[]).await;
    let said = json!({"submissionId": submission, "text": "Well done."});
    let said = id(&story.call(ada, "POST /feedback", &[], said, &["FEEDBACK_CREATE"]).await);
    let (route, text) = ("PATCH /feedback/{id}", json!({"text": "Very well done."}));
    story.call(ada, route, &[&said], text, &["FEEDBACK_UPDATE"]).await;
    let route = "DELETE /feedback/{id}";
    story
        .call(ada, route, &[&said], Value::Null, &["FEEDBACK_DELETE"])
        .await;
    let (route, words) = (
        "POST /feedback/submissions/{id}/return",
        json!({"feedback": "Once more."}),
    );
    story
        .call(ada, route, &[&submission], words, &["SUBMISSION_RETURN"])
        .await;
    let (route, body) = ("POST /workrooms/documents/{id}/submit", json!({"assignmentId": topic}));
    story.call(ben, route, &[page], body, &["SUBMISSION_SUBMIT"]).await;
}

pub(super) async fn the_end(story: &mut Story<'_>, [class, course, group, other]: &[String; 4], topic: &str) {
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
