//! Which documents finishing a topic locks and reopening unlocks when a group works on several topics.

use serde_json::json;

use crate::finish::status;
use test_support::document_server_fixture::{DocumentServerFixture, path};
use test_support::topics::{id, topic};

/// A second topic of the first group, and three drafts: one on the fixture's topic, one on the second topic, one
/// without a topic.
struct TwoTopics {
    second: String,
    own: String,
    other: String,
    unlinked: String,
}

async fn two_topics(fixture: &DocumentServerFixture) -> TwoTopics {
    let ada = fixture.app.as_(&fixture.app.world.ada);
    let more = json!({"title": "Plants", "groupIds": [fixture.group]});
    let second = id(&topic(&ada, &fixture.app.world.seven_b, more).await);
    let rooms = format!("/workrooms/{}/documents", fixture.room);
    let new = |title: &str, topic: Option<&str>| json!({"title": title, "documentType": "word", "assignmentId": topic});
    let own = id(&ada.post(&rooms, new("Cells", Some(&fixture.topic))).await.expect(201));
    let other = id(&ada.post(&rooms, new("Plants", Some(&second))).await.expect(201));
    let unlinked = id(&ada.post(&rooms, new("Loose", None)).await.expect(201));
    TwoTopics {
        second,
        own,
        other,
        unlinked,
    }
}

with_both_editors_long!(finish_locks_unlinked_drafts_and_lists_open_documents, |fixture| {
    let ada = fixture.app.as_(&fixture.app.world.ada);
    let two = two_topics(fixture).await;
    let finishing = format!("/assignments/{}/finish", fixture.topic);
    let preview = ada.post(&format!("{finishing}?dryRun=1"), json!({})).await.expect(200);
    let drafts = preview["unlinkedDrafts"].as_array().unwrap();
    assert_eq!(drafts.len(), 1, "{drafts:?}");
    assert_eq!(
        (&drafts[0]["documentId"], &drafts[0]["title"], &drafts[0]["group"]["id"]),
        (&json!(two.unlinked), &json!("Loose"), &json!(fixture.group))
    );
    let topics = drafts[0]["topics"].as_array().unwrap();
    assert_eq!((topics.len(), &topics[0]["assignmentId"]), (1, &json!(two.second)));
    assert_eq!(topics[0]["title"], "Plants");
    let open = preview["openDocuments"].as_array().unwrap();
    assert_eq!(open.len(), 1, "{open:?}");
    assert_eq!(
        (
            &open[0]["documentId"],
            &open[0]["assignmentId"],
            &open[0]["assignmentTitle"]
        ),
        (&json!(two.other), &json!(two.second), &json!("Plants"))
    );
    assert_eq!(preview["lockedDocuments"], 2);
    assert_eq!(
        status(fixture, &two.unlinked).await.0,
        "DRAFT",
        "a preview locks nothing"
    );

    let done = fixture.finish().await;
    assert_eq!(done["lockedDocuments"], 2);
    assert_eq!(
        (&done["unlinkedDrafts"], &done["openDocuments"]),
        (&preview["unlinkedDrafts"], &preview["openDocuments"])
    );
    for document in [&two.own, &two.unlinked] {
        assert_eq!(status(fixture, document).await, (json!("LOCKED"), json!("DRAFT")));
    }
    assert_eq!(status(fixture, &two.other).await.0, "DRAFT");
    let again = fixture.finish().await;
    assert_eq!(
        (&again["unlinkedDrafts"], &again["openDocuments"]),
        (&json!([]), &preview["openDocuments"])
    );
    let log = ada
        .get(&format!("/activity-logs?assignmentId={}&action=FINISH", fixture.topic))
        .await
        .expect(200);
    assert_eq!(log["data"].as_array().unwrap().len(), 1);
    assert_eq!(log["data"][0]["details"]["openDocuments"], json!([two.other]));
});

with_both_editors_long!(finish_links_drafts_in_the_same_transaction, |fixture| {
    let (ada, world) = (fixture.app.as_(&fixture.app.world.ada), &fixture.app.world);
    let two = two_topics(fixture).await;
    let finishing = format!("/assignments/{}/finish", fixture.topic);
    let dry = format!("{finishing}?dryRun=1");
    let links = |document: &str, topic: &str| json!({"links": [{"documentId": document, "assignmentId": topic}]});

    // A rejected request changes nothing, and a preview is rejected in the same way.
    let elsewhere = id(&topic(&ada, &world.seven_b, json!({"title": "Stones"})).await);
    let stranger = fixture.document_in(&fixture.hidden_room().await, "Hidden").await;
    let refused = [
        (links(&two.unlinked, &elsewhere), 409, "GROUP_NOT_ON_ASSIGNMENT"),
        (links(&stranger, &two.second), 409, "GROUP_NOT_ON_ASSIGNMENT"),
        (links("nowhere", &two.second), 404, "NOT_FOUND"),
        (links(&two.unlinked, "nowhere"), 404, "NOT_FOUND"),
        (
            json!({"links": [{"documentId": two.unlinked, "assignmentId": two.second}, {"documentId": two.unlinked, "assignmentId": fixture.topic}]}),
            400,
            "VALIDATION_ERROR",
        ),
        (
            json!({"links": [{"documentId": two.unlinked}]}),
            400,
            "VALIDATION_ERROR",
        ),
        (json!({"link": []}), 400, "VALIDATION_ERROR"),
    ];
    for (body, code, error) in refused {
        ada.post(&finishing, body.clone()).await.refused(code, error);
        ada.post(&dry, body).await.refused(code, error);
    }
    fixture
        .app
        .as_(&world.ben)
        .post(&finishing, links(&two.unlinked, &two.second))
        .await
        .refused(403, "FORBIDDEN_ROLE");
    assert_eq!(status(fixture, &two.own).await.0, "DRAFT", "the topic is not finished");
    assert_eq!(fixture.get_document(&two.unlinked).await["assignmentId"], json!(null));

    let preview = ada.post(&dry, links(&two.unlinked, &two.second)).await.expect(200);
    assert_eq!(fixture.get_document(&two.unlinked).await["assignmentId"], json!(null));
    let done = ada
        .post(&finishing, links(&two.unlinked, &two.second))
        .await
        .expect(200);
    for answer in [&preview, &done] {
        assert_eq!(
            (&answer["lockedDocuments"], &answer["unlinkedDrafts"]),
            (&json!(2), &json!([]))
        );
        let open: Vec<_> = answer["openDocuments"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["documentId"].clone())
            .collect();
        assert_eq!(open, [json!(two.other), json!(two.unlinked)]);
    }
    let linked = fixture.get_document(&two.unlinked).await;
    assert_eq!(
        (&linked["status"], &linked["assignmentId"]),
        (&json!("DRAFT"), &json!(two.second))
    );
    let log = ada
        .get(&format!("/activity-logs?targetId={}&action=UPDATE", two.unlinked))
        .await
        .expect(200);
    assert_eq!(log["data"].as_array().unwrap().len(), 1, "the link is in the log");
    // A repeated link changes nothing. A link to a finished topic is rejected.
    let again = ada
        .post(&finishing, links(&two.unlinked, &two.second))
        .await
        .expect(200);
    assert_eq!(again["alreadyFinished"], true);
    let late = fixture.document("Late").await;
    let finish_second = format!("/assignments/{}/finish", two.second);
    ada.post(&finish_second, links(&late, &fixture.topic))
        .await
        .refused(409, "ASSIGNMENT_FINISHED");
    ada.post(&finish_second, links(&two.own, &two.second))
        .await
        .refused(423, "DOCUMENT_LOCKED");
    let done = ada.post(&finish_second, links(&late, &two.second)).await.expect(200);
    assert_eq!(done["lockedDocuments"], 3);
    assert_eq!(fixture.get_document(&late).await["assignmentId"], json!(two.second));
});

with_both_editors_long!(finish_and_reopen_leave_other_topics_documents_alone, |fixture| {
    let ada = fixture.app.as_(&fixture.app.world.ada);
    let two = two_topics(fixture).await;
    fixture.finish().await;
    let finish_second = format!("/assignments/{}/finish", two.second);
    let done = ada.send(reqwest::Method::POST, &finish_second, None).await.expect(200);
    assert_eq!(done["lockedDocuments"], 1, "the unlinked draft is locked already");
    let reopened = fixture.reopen().await;
    assert_eq!(
        (&reopened["unlockedDocuments"], &reopened["stillLockedDocuments"]),
        (&json!(1), &json!([two.unlinked]))
    );
    assert_eq!(status(fixture, &two.own).await.0, "DRAFT");
    assert_eq!(status(fixture, &two.other).await.0, "LOCKED");
});

with_document_server!(
    unlinked_document_stays_locked_while_another_topic_is_finished,
    |fixture| {
        let ada = fixture.app.as_(&fixture.app.world.ada);
        let two = two_topics(fixture).await;
        fixture.finish().await;
        let locked = fixture.get_document(&two.unlinked).await;
        assert_eq!(locked["lockedByAssignmentId"], json!(fixture.topic));
        ada.post(&format!("/assignments/{}/finish", two.second), json!({}))
            .await
            .expect(200);
        let reopening = format!("/assignments/{}/reopen", fixture.topic);
        let preview = ada.post(&format!("{reopening}?dryRun=1"), json!({})).await.expect(200);
        assert_eq!(preview["stillLockedDocuments"], json!([two.unlinked]));
        assert_eq!(
            fixture.get_document(&two.unlinked).await["lockedByAssignmentId"],
            json!(fixture.topic)
        );
        fixture.reopen().await;
        let passed = fixture.get_document(&two.unlinked).await;
        assert_eq!(
            (
                &passed["status"],
                &passed["statusBeforeLock"],
                &passed["lockedAt"],
                &passed["lockedByAssignmentId"]
            ),
            (
                &json!("LOCKED"),
                &json!("DRAFT"),
                &locked["lockedAt"],
                &json!(two.second)
            )
        );
        ada.patch(&path(&two.unlinked, ""), json!({"title": "X"}))
            .await
            .refused(423, "DOCUMENT_LOCKED");
        let log = ada
            .get(&format!("/activity-logs?assignmentId={}&action=REOPEN", fixture.topic))
            .await
            .expect(200);
        assert_eq!(log["data"][0]["details"]["stillLockedDocuments"], json!([two.unlinked]));
        let reopened = ada
            .post(&format!("/assignments/{}/reopen", two.second), json!({}))
            .await
            .expect(200);
        assert_eq!(
            (&reopened["unlockedDocuments"], &reopened["stillLockedDocuments"]),
            (&json!(2), &json!([]))
        );
        assert_eq!(status(fixture, &two.unlinked).await, (json!("DRAFT"), json!(null)));
    }
);

with_both_editors_long!(document_added_to_finished_topic_is_locked_with_it, |fixture| {
    let ada = fixture.app.as_(&fixture.app.world.ada);
    let two = two_topics(fixture).await;
    fixture.finish().await;
    let rooms = format!("/workrooms/{}/documents", fixture.room);
    let late = json!({"title": "Late", "documentType": "word", "assignmentId": fixture.topic});
    let late = id(&ada.post(&rooms, late).await.expect(201));
    let done = ada
        .post(&format!("/assignments/{}/finish", two.second), json!({}))
        .await
        .expect(200);
    assert_eq!(
        (&done["lockedDocuments"], &done["openDocuments"]),
        (&json!(2), &json!([]))
    );
    assert_eq!(
        fixture.get_document(&late).await["lockedByAssignmentId"],
        json!(fixture.topic)
    );
    ada.post(&format!("/assignments/{}/reopen", two.second), json!({}))
        .await
        .expect(200);
    assert_eq!(status(fixture, &late).await.0, "LOCKED", "its own topic is finished");
    fixture.reopen().await;
    assert_eq!(status(fixture, &late).await.0, "DRAFT");
});
