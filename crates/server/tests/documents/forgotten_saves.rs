//! A save that no callback delivered and that is recovered later is older than all saves since, whatever the clocks
//! show. The crash test found several ways to lose text that was written on top of it.

use document_server_simulator::Faults;

use test_support::document_server_fixture::{DocumentServerFixture, eventually};

/// Ben writes text, and no callback delivers it.
async fn write_forgotten_save(studio: &DocumentServerFixture, document: &str, text: &str) {
    studio.server.faults().update(|faults| faults.forgets_saves = true);
    let editor = studio.open(&studio.app.world.ben, document).await;
    editor.type_text(text).await.unwrap();
    assert!(!editor.close().await.unwrap().accepted);
    studio.server.set_faults(Faults::default());
    assert_eq!(studio.server.forgotten_keys().len(), 1);
}

studio!(text_typed_after_forgotten_save_is_kept, |studio| {
    let document = studio.document("Plan").await;
    write_forgotten_save(studio, &document, "\nfirst").await;
    let editor = studio.open(&studio.app.world.cem, &document).await;
    editor.type_text("\nsecond").await.unwrap();
    // Cem's last change is older than the time of the sweep.
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    studio.app.app.document_workflows().reconcile_once().await;
    assert!(editor.close().await.unwrap().accepted);
    let text = studio.text(&document).await;
    assert!(text.contains("first") && text.contains("second"), "{text}");
    studio.app.app.document_workflows().reconcile_once().await;
    assert_eq!(studio.text(&document).await, text);
    assert!(studio.server.forgotten_keys().is_empty());
});

studio!(forgotten_save_does_not_replace_later_save, |studio| {
    let document = studio.document("Plan").await;
    write_forgotten_save(studio, &document, "\nfirst").await;
    let editor = studio.open(&studio.app.world.cem, &document).await;
    editor.type_text("\nsecond").await.unwrap();
    assert_eq!(editor.press_save().await.unwrap(), 0);
    eventually(async || studio.text(&document).await.contains("second")).await;
    studio.app.app.document_workflows().reconcile_once().await;
    let text = studio.text(&document).await;
    assert!(text.contains("first") && text.contains("second"), "{text}");
    assert!(editor.close().await.unwrap().accepted);
});
