//! Actions in a class, from its creation to its end.

use serde_json::{Value, json};

use super::{Scenario, id};
use test_support::office::docx;

/// Creates a class with a group. Returns the class, course, group and another group.
#[expect(clippy::too_many_lines, reason = "one scenario, told in its order")]
pub(super) async fn create_class(scenario: &mut Scenario<'_>) -> [String; 4] {
    let world = &scenario.app.world;
    let (ada, subject) = (&world.ada, &world.seven_b.subject);
    let new = json!({"name": "7x", "academicYear": "2026/2027"});
    let class = id(&scenario.call(ada, "POST /classes", &[], new, &["CLASS_CREATE"]).await);
    scenario
        .call(
            ada,
            "PATCH /classes/{id}",
            &[&class],
            json!({"semester": "1"}),
            &["CLASS_UPDATE"],
        )
        .await;
    let tom = json!({"userId": world.tom.id});
    scenario
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
    scenario
        .call(ada, route, &ids, Value::Null, &["CLASS_MEMBER_REMOVED"])
        .await;
    let students = json!({"studentIds": [world.ben.id, world.cem.id, world.dana.id]});
    scenario
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
    scenario.call(ada, route, &ids, completed, &["CLASS_UPDATE"]).await;
    let new = json!({"name": "Cells", "classId": class, "subjectId": subject});
    let course = id(&scenario.call(ada, "POST /courses", &[], new, &["COURSE_CREATE"]).await);
    let edit = json!({"description": "Plants"});
    scenario
        .call(ada, "PATCH /courses/{id}", &[&course], edit, &["COURSE_UPDATE"])
        .await;
    let new = json!({"classId": class, "courseId": course, "memberIds": [world.ben.id]});
    let group = id(&scenario.call(ada, "POST /groups", &[], new, &["GROUP_CREATE"]).await);
    let batch = json!({"classId": class, "courseId": course, "groups": [{"name": "A"}, {"name": "B"}]});
    let batch = scenario
        .call(ada, "POST /groups/batch", &[], batch, &["GROUP_CREATE", "GROUP_CREATE"])
        .await;
    let other = id(&batch[0]);
    scenario
        .call(
            ada,
            "PATCH /groups/{id}",
            &[&group],
            json!({"displayName": "Owls"}),
            &["GROUP_UPDATE"],
        )
        .await;
    let members = json!({"userIds": [world.cem.id]});
    scenario
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
    scenario
        .call(ada, route, &ids, json!({"toGroupId": other}), &["GROUP_MEMBER_MOVED"])
        .await;
    let (route, ids) = ("DELETE /groups/{id}/members/{userId}", [other.as_str(), &world.cem.id]);
    scenario
        .call(ada, route, &ids, Value::Null, &["GROUP_MEMBER_REMOVED"])
        .await;
    let generated = json!({
        "classId": class, "courseId": course, "groupSize": 2, "strategy": "random",
        "studentIds": [world.cem.id, world.dana.id],
    });
    let route = "POST /groups/generate";
    scenario.call(ada, route, &[], generated, &["GROUP_CREATE"]).await;
    let route = "POST /groups/{id}/attachments";
    let file = scenario
        .send_file(
            ada,
            route,
            &[&group],
            ("plan.txt", b"a plan".to_vec()),
            &["GROUP_UPDATE"],
        )
        .await;
    let route = "DELETE /groups/{id}/attachments/{attachmentId}";
    scenario
        .call(ada, route, &[&group, &id(&file)], Value::Null, &["GROUP_UPDATE"])
        .await;
    let help = "POST /groups/{id}/help";
    let message = json!({"message": "Stuck"});
    scenario
        .call(&world.ben, help, &[&group], message, &["HELP_REQUESTED"])
        .await;
    scenario
        .call(&world.ben, help, &[&group], json!({"message": "Really"}), &[])
        .await;
    let withdraw = "POST /groups/{id}/help/withdraw";
    scenario
        .call(&world.ben, withdraw, &[&group], json!({}), &["HELP_WITHDRAWN"])
        .await;
    scenario.call(&world.ben, withdraw, &[&group], json!({}), &[]).await;
    scenario
        .call(ada, "POST /groups/{id}/help/claim", &[&group], json!({}), &[])
        .await;
    let resolve = "POST /groups/{id}/help/resolve";
    scenario
        .call(ada, resolve, &[&group], json!({}), &["HELP_RESOLVED"])
        .await;
    scenario.call(ada, resolve, &[&group], json!({}), &[]).await;
    [class, course, group, other]
}

pub(super) async fn create_topic(scenario: &mut Scenario<'_>, [class, course, group, other]: &[String; 4]) -> String {
    let ada = &scenario.app.world.ada;
    let new = json!({
        "title": "Leaves", "deadline": "2099-01-01T00:00:00Z", "classId": class, "courseId": course, "groupIds": [group],
    });
    let topic = id(&scenario
        .call(ada, "POST /assignments", &[], new, &["ASSIGNMENT_CREATE"])
        .await);
    let (update, edit) = (["ASSIGNMENT_UPDATE"], json!({"description": "Draw one."}));
    scenario
        .call(ada, "PATCH /assignments/{id}", &[&topic], edit, &update)
        .await;
    let route = "POST /assignments/{id}/attachments";
    let file = scenario
        .send_file(ada, route, &[&topic], ("leaf.txt", b"a leaf".to_vec()), &update)
        .await;
    let remind = ("POST /assignments/{id}/remind", json!({"content": "Please submit."}));
    scenario
        .call(ada, remind.0, &[&topic], remind.1, &["ASSIGNMENT_REMIND"])
        .await;
    let handout = (
        "POST /assignments/{id}/handouts",
        json!({"templateAttachmentId": id(&file)}),
    );
    scenario
        .call(ada, handout.0, &[&topic], handout.1, &["DOCUMENT_CREATE"])
        .await;
    let route = "DELETE /assignments/{id}/attachments/{attachmentId}";
    scenario
        .call(ada, route, &[&topic, &id(&file)], Value::Null, &update)
        .await;
    let bulk = ("PATCH /assignments/{id}/bulk", json!({"title": "Leaves and roots"}));
    scenario
        .call(ada, bulk.0, &[&topic], bulk.1, &["ASSIGNMENT_BULK_UPDATE"])
        .await;
    let dry = ("PATCH /assignments/{id}/bulk?dryRun=1", json!({"title": "Stems"}));
    scenario.call(ada, dry.0, &[&topic], dry.1, &[]).await;
    let (attach, groups) = ("POST /assignments/{id}/groups", json!({"groupIds": [other]}));
    scenario
        .call(ada, attach, &[&topic], groups.clone(), &["ASSIGNMENT_ATTACH"])
        .await;
    scenario.call(ada, attach, &[&topic], groups, &[]).await;
    let (route, ids) = ("PATCH /assignments/{id}/groups/{groupId}", [topic.as_str(), other]);
    scenario
        .call(ada, route, &ids, json!({"descriptionOverride": "Two."}), &update)
        .await;
    let (route, body) = ("POST /rubrics", test_support::samples::sample_rubric());
    let rubric = id(&scenario.call(ada, route, &[], body, &["FEEDBACK_CREATE"]).await);
    let (route, body) = ("PATCH /rubrics/{id}", json!({"title": "Talk"}));
    scenario.call(ada, route, &[&rubric], body, &["FEEDBACK_UPDATE"]).await;
    let (route, body) = ("PUT /assignments/{id}/rubric", json!({"rubricId": rubric}));
    scenario.call(ada, route, &[&topic], body, &update).await;
    let route = "DELETE /assignments/{id}/rubric";
    scenario.call(ada, route, &[&topic], Value::Null, &update).await;
    let route = "DELETE /rubrics/{id}";
    scenario
        .call(ada, route, &[&rubric], Value::Null, &["FEEDBACK_DELETE"])
        .await;
    let recorded = "POST /assignments/{id}/groups/{groupId}/submission";
    let body = json!({"note": "A talk"});
    scenario.call(ada, recorded, &ids, body, &["SUBMISSION_SUBMIT"]).await;
    let route = "DELETE /assignments/{id}/groups/{groupId}/submission";
    scenario
        .call(ada, route, &ids, Value::Null, &["SUBMISSION_UNSUBMIT"])
        .await;
    let (recorded, body) = ("POST /assignments/{id}/record-work", json!({"groupIds": [other]}));
    scenario
        .call(ada, recorded, &[&topic], body, &["SUBMISSION_SUBMIT"])
        .await;
    scenario
        .call(ada, route, &ids, Value::Null, &["SUBMISSION_UNSUBMIT"])
        .await;
    // Removed work stays in the history of the group.
    let route = "DELETE /assignments/{id}/groups/{groupId}?force=1";
    scenario
        .call(ada, route, &ids, Value::Null, &["ASSIGNMENT_DETACH"])
        .await;
    let (route, copy) = (
        "POST /assignments/{id}/clone",
        json!({"deadline": "2099-01-01T00:00:00Z"}),
    );
    let copy = id(&scenario.call(ada, route, &[&topic], copy, &["ASSIGNMENT_CREATE"]).await);
    let (route, gone) = ("DELETE /assignments/{id}", ["ASSIGNMENT_DELETE"]);
    scenario.call(ada, route, &[&copy], Value::Null, &gone).await;
    topic
}

pub(super) async fn work_on_documents(scenario: &mut Scenario<'_>, group: &str, topic: &str) {
    let world = &scenario.app.world;
    let (ada, ben) = (&world.ada, &world.ben);
    let shown = scenario.app.as_(ben).get(&format!("/groups/{group}")).await.expect(200);
    let room = shown["workRoomId"].as_str().unwrap().to_owned();
    let (route, new) = (
        "POST /workrooms/{id}/documents",
        json!({"title": "Page", "documentType": "word"}),
    );
    let page = id(&scenario
        .call(ben, route, &[&room], new.clone(), &["DOCUMENT_CREATE"])
        .await);
    let draft = id(&scenario.call(ben, route, &[&room], new, &["DOCUMENT_CREATE"]).await);
    let update = ["DOCUMENT_UPDATE"];
    let route = "PATCH /workrooms/documents/{id}";
    scenario
        .call(ben, route, &[&page], json!({"title": "Front page"}), &update)
        .await;
    let route = "PUT /workrooms/documents/{id}/content";
    for text in ["one", "two"] {
        scenario
            .send_file(ben, route, &[&page], ("page.docx", docx(text)), &update)
            .await;
    }
    let route = "POST /workrooms/documents/{id}/versions/{version}/restore";
    scenario.call(ben, route, &[&page, "1"], json!({}), &update).await;
    let route = "DELETE /workrooms/documents/{id}";
    scenario
        .call(ben, route, &[&draft], Value::Null, &["DOCUMENT_DELETE"])
        .await;
    let submit = "POST /workrooms/documents/{id}/submit";
    let body = json!({"assignmentId": topic});
    scenario
        .call(ben, submit, &[&page], body.clone(), &["SUBMISSION_SUBMIT"])
        .await;
    let route = "POST /workrooms/documents/{id}/unsubmit";
    scenario
        .call(ben, route, &[&page], json!({}), &["SUBMISSION_UNSUBMIT"])
        .await;
    let handed_in = scenario.call(ben, submit, &[&page], body, &["SUBMISSION_SUBMIT"]).await;
    grade_submission(scenario, &page, &handed_in, topic).await;
    let finish = "POST /assignments/{id}/finish";
    scenario
        .call(ada, finish, &[topic], json!({}), &["ASSIGNMENT_FINISH"])
        .await;
    scenario.call(ada, finish, &[topic], json!({}), &[]).await;
    let reopen = "POST /assignments/{id}/reopen";
    scenario
        .call(ada, reopen, &[topic], json!({}), &["ASSIGNMENT_REOPEN"])
        .await;
    scenario.call(ada, reopen, &[topic], json!({}), &[]).await;
}

/// A teacher reviews a submission. At the end, the group submits again.
async fn grade_submission(scenario: &mut Scenario<'_>, page: &str, handed_in: &Value, topic: &str) {
    let world = &scenario.app.world;
    let (ada, ben, submission) = (&world.ada, &world.ben, id(&handed_in["submission"]));
    let (route, points) = ("PUT /feedback/submissions/{id}/grade", json!({"points": 1}));
    scenario
        .call(ada, route, &[&submission], points.clone(), &["SUBMISSION_GRADE"])
        .await;
    scenario.call(ada, route, &[&submission], points, &[]).await;
    let (route, value) = ("PUT /workrooms/documents/{id}/grade", json!({"value": "B"}));
    scenario.call(ada, route, &[page], value, &["SUBMISSION_GRADE"]).await;
    let (route, file) = (
        "POST /feedback/submissions/{id}/files",
        ("remarks.txt", b"Well drawn.".to_vec()),
    );
    let file = scenario
        .send_file(ada, route, &[&submission], file, &["SUBMISSION_GRADE"])
        .await;
    let file = id(&file);
    let route = "DELETE /feedback/submissions/{id}/files/{fileId}";
    scenario
        .call(ada, route, &[&submission, &file], Value::Null, &["SUBMISSION_GRADE"])
        .await;
    let route = "POST /assignments/{id}/grades/import";
    let table = format!("submissionId,userId,points\n{submission},,2\n").into_bytes();
    scenario
        .send_file(ada, route, &[topic], ("grades.csv", table), &["SUBMISSION_GRADE"])
        .await;
    let route = "POST /feedback/assignments/{id}/publish-grades";
    scenario
        .call(ada, route, &[topic], json!({}), &["SUBMISSION_GRADE_PUBLISH"])
        .await;
    scenario.call(ada, route, &[topic], json!({}), &[]).await;
    let context = json!({"submissionId": submission, "text": "Well done."});
    let context = id(&scenario
        .call(ada, "POST /feedback", &[], context, &["FEEDBACK_CREATE"])
        .await);
    let (route, text) = ("PATCH /feedback/{id}", json!({"text": "Very well done."}));
    scenario.call(ada, route, &[&context], text, &["FEEDBACK_UPDATE"]).await;
    let route = "DELETE /feedback/{id}";
    scenario
        .call(ada, route, &[&context], Value::Null, &["FEEDBACK_DELETE"])
        .await;
    let (route, words) = (
        "POST /feedback/submissions/{id}/return",
        json!({"feedback": "Once more."}),
    );
    scenario
        .call(ada, route, &[&submission], words, &["SUBMISSION_RETURN"])
        .await;
    let (route, body) = ("POST /workrooms/documents/{id}/submit", json!({"assignmentId": topic}));
    scenario.call(ben, route, &[page], body, &["SUBMISSION_SUBMIT"]).await;
}

pub(super) async fn delete_everything(
    scenario: &mut Scenario<'_>,
    [class, course, group, other]: &[String; 4],
    topic: &str,
) {
    let world = &scenario.app.world;
    let (ada, adam) = (&world.ada, &world.adam);
    let body = json!({
        "name": "7x again", "academicYear": "2027/2028", "withCourses": true, "withTopics": true, "withStudents": true,
    });
    let received = [
        "ASSIGNMENT_CREATE",
        "CLASS_CREATE",
        "CLASS_MEMBER_ADDED",
        "COURSE_CREATE",
    ];
    scenario
        .call(ada, "POST /classes/{id}/clone", &[class], body, &received)
        .await;
    let (route, body) = ("POST /courses/{id}/copies", json!({"assignmentIds": [topic]}));
    scenario.call(ada, route, &[course], body, &["ASSIGNMENT_CREATE"]).await;
    let (route, body) = ("POST /classes/{id}/copies", json!({"courseId": course}));
    let received = ["ASSIGNMENT_CREATE", "ASSIGNMENT_CREATE", "COURSE_CREATE"];
    scenario.call(ada, route, &[class], body, &received).await;
    let (route, ids) = (
        "DELETE /classes/{id}/students/{studentId}",
        [class.as_str(), &world.dana.id],
    );
    scenario
        .call(ada, route, &ids, Value::Null, &["CLASS_MEMBER_REMOVED"])
        .await;
    let (route, gone) = ("DELETE /assignments/{id}", ["ASSIGNMENT_DELETE"]);
    scenario.call(ada, route, &[topic], Value::Null, &gone).await;
    let route = "DELETE /groups/{id}";
    scenario
        .call(ada, route, &[other], Value::Null, &["GROUP_DELETE"])
        .await;
    let route = "DELETE /courses/{id}";
    scenario
        .call(ada, route, &[course], Value::Null, &["COURSE_DELETE"])
        .await;
    let route = "DELETE /classes/{id}?force=1";
    scenario
        .call(adam, route, &[class], Value::Null, &["CLASS_DELETE"])
        .await;
    scenario
        .app
        .as_(ada)
        .get(&format!("/groups/{group}"))
        .await
        .refused(404, "NOT_FOUND");
}
