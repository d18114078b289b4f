//! A save that no callback delivered and that is recovered later is older than all saves since, whatever the clocks
//! show. The crash test found several ways to lose text that was written on top of it.

use document_server_simulator::Faults;

use test_support::document_server_fixture::{DocumentServerFixture, eventually};

/// Ben writes text, and no callback delivers it.
async fn write_forgotten_save(fixture: &DocumentServerFixture, document: &str, text: &str) {
    fixture.server.faults().update(|faults| faults.forgets_saves = true);
    let editor = fixture.open(&fixture.app.world.ben, document).await;
    editor.type_text(text).await.unwrap();
    assert!(!editor.close().await.unwrap().accepted);
    fixture.server.set_faults(Faults::default());
    assert_eq!(fixture.server.forgotten_keys().len(), 1);
}

with_document_server!(text_typed_after_forgotten_save_is_kept, |fixture| {
    let document = fixture.document("Plan").await;
    write_forgotten_save(fixture, &document, "\nfirst").await;
    let editor = fixture.open(&fixture.app.world.cem, &document).await;
    editor.type_text("\nsecond").await.unwrap();
    // Cem's last change is older than the time of the sweep.
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    fixture.app.app.document_workflows().reconcile_once().await;
    assert!(editor.close().await.unwrap().accepted);
    let text = fixture.text(&document).await;
    assert!(text.contains("first") && text.contains("second"), "{text}");
    fixture.app.app.document_workflows().reconcile_once().await;
    assert_eq!(fixture.text(&document).await, text);
    assert!(fixture.server.forgotten_keys().is_empty());
});

with_document_server!(forgotten_save_does_not_replace_later_save, |fixture| {
    let document = fixture.document("Plan").await;
    write_forgotten_save(fixture, &document, "\nfirst").await;
    let editor = fixture.open(&fixture.app.world.cem, &document).await;
    editor.type_text("\nsecond").await.unwrap();
    assert_eq!(editor.press_save().await.unwrap(), 0);
    eventually(async || fixture.text(&document).await.contains("second")).await;
    fixture.app.app.document_workflows().reconcile_once().await;
    let text = fixture.text(&document).await;
    assert!(text.contains("first") && text.contains("second"), "{text}");
    assert!(editor.close().await.unwrap().accepted);
});
