//! A user who loses access to a document while it is open is disconnected from the editor. All other editors stay
//! connected.

use reqwest::StatusCode;
use serde_json::json;

use test_support::WAIT_TIMEOUT;
use test_support::document_server_fixture::{eventually, path};
use test_support::text_editor::{AnyEditor, EditError};

/// Returns whether an editor was disconnected, or a page of the built-in editor can no longer write.
async fn is_dropped(editor: &AnyEditor) -> bool {
    match editor {
        AnyEditor::OnlyOffice(editor) => editor.view().await.unwrap().dropped.is_some(),
        AnyEditor::Builtin(page) => match page.type_text("+").await {
            Ok(()) => false,
            Err(EditError::Rejected(StatusCode::NOT_FOUND, _)) => true,
            Err(error) => panic!("{error:?}"),
        },
    }
}

/// Opens one document for Ada, Ben and Cem, and waits until the service has recorded them as editors.
async fn open_three_editors(
    fixture: &test_support::document_server_fixture::DocumentServerFixture,
    document: &str,
) -> [AnyEditor; 3] {
    let world = &fixture.app.world;
    let ada = fixture.open_editor(&world.ada, document).await;
    let ben = fixture.open_editor(&world.ben, document).await;
    let cem = fixture.open_editor(&world.cem, document).await;
    for editor in [&ada, &ben, &cem] {
        editor.type_text("here").await.unwrap();
    }
    let all_joined = |sent: &document_server_simulator::SentCallback| {
        sent.body["status"] == 1 && sent.body["users"].as_array().is_some_and(|users| users.len() == 3) && sent.accepted
    };
    if !fixture.is_builtin() {
        let joined = fixture.server.simulator().wait_for_callback(all_joined, WAIT_TIMEOUT);
        assert!(joined.await.is_some(), "the service was notified of three editors");
    }
    [ada, ben, cem]
}

with_both_editors_long!(start_date_in_future_closes_editors_of_students, |fixture| {
    let document = fixture.document("Report").await;
    let [ada, ben, cem] = open_three_editors(fixture, &document).await;
    let start = json!({"startDate": "2099-01-01T00:00:00Z"});
    let teacher = fixture.app.as_(&fixture.app.world.ada);
    teacher
        .patch(&format!("/groups/{}", fixture.group), start)
        .await
        .expect(200);
    eventually(async || is_dropped(&ben).await && is_dropped(&cem).await).await;
    assert!(!is_dropped(&ada).await, "the teacher still sees the group");
    fixture
        .app
        .as_(&fixture.app.world.ben)
        .get(&path(&document, "/editor-config"))
        .await
        .refused(404, "NOT_FOUND");
    // Their unsaved text is not lost.
    ada.close().await.unwrap();
    let text = fixture.text(&document).await;
    assert_eq!(text.matches("here").count(), 3);
});

with_both_editors_long!(student_who_leaves_group_loses_only_own_editor, |fixture| {
    let document = fixture.document("Report").await;
    let [ada, ben, cem] = open_three_editors(fixture, &document).await;
    let teacher = fixture.app.as_(&fixture.app.world.ada);
    let member = format!("/groups/{}/members/{}", fixture.group, fixture.app.world.ben.id);
    teacher.delete(&member).await.expect(200);
    eventually(async || is_dropped(&ben).await).await;
    assert!(!is_dropped(&cem).await && !is_dropped(&ada).await);
    // Joining also changes the membership and disconnects no editor.
    let back = json!({"userIds": [fixture.app.world.ben.id]});
    teacher
        .post(&format!("/groups/{}/members", fixture.group), back)
        .await
        .expect(200);
    teacher
        .delete(&format!(
            "/classes/{}/students/{}",
            fixture.app.world.seven_b.id, fixture.app.world.cem.id
        ))
        .await
        .expect(200);
    eventually(async || is_dropped(&cem).await).await;
    assert!(!is_dropped(&ada).await);
});

with_document_server!(editor_opened_after_removal_of_member_is_closed, |fixture| {
    let document = fixture.document("Report").await;
    let world = &fixture.app.world;
    let ada = fixture.open_editor(&world.ada, &document).await;
    let page = path(&document, "/editor-config");
    let config = fixture.app.as_(&world.ben).get(&page).await.expect(200);
    let adam = fixture.app.as_(&world.adam);
    adam.delete(&format!("/users/{}", world.ben.id)).await.expect(200);
    // The document server still accepts the earlier configuration.
    let ben = document_server_simulator::client::open(&fixture.server.url(), &config)
        .await
        .unwrap();
    let ben = AnyEditor::OnlyOffice(ben);
    eventually(async || is_dropped(&ben).await).await;
    assert!(!is_dropped(&ada).await);
});
