//! Contributions to a group's documents: minutes and saves from callbacks, never more than the elapsed time.

use serde_json::{Value, json};

use test_support::TestUser;
use test_support::document_server_fixture::{DocumentServerFixture, path};

fn of<'v>(list: &'v Value, person: &TestUser) -> &'v Value {
    let found = list
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["userId"] == json!(person.id));
    found.unwrap_or_else(|| panic!("{} is not in {list}", person.name))
}

/// Waits until `people` editors of the document are recorded.
async fn wait_for_editors(fixture: &DocumentServerFixture, document: &str, people: usize) {
    let text = format!("SELECT editors FROM editing_sessions WHERE document_id = '{document}'");
    let since = std::time::Instant::now();
    while since.elapsed() < test_support::WAIT_TIMEOUT {
        let text = text.clone();
        let found: Vec<String> = fixture
            .app
            .raw(move |connection| connection.fetch_all(made(text), &[], |row| row.only()).unwrap())
            .await;
        let editors = found
            .iter()
            .map(|list| serde_json::from_str::<Vec<String>>(list).unwrap().len());
        if editors.sum::<usize>() == people {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("{people} people were to be in the editor");
}

/// Simulates elapsed time: moves all recorded times `minutes` into the past.
async fn advance_time(fixture: &DocumentServerFixture, minutes: i64) {
    let millis = minutes * 60_000;
    let statements = [
        format!("UPDATE editing_sessions SET last_callback_at = last_callback_at - {millis}"),
        format!(
            "UPDATE document_contributions SET first_at = first_at - {millis}, last_at = last_at - {millis},
                counted_until = counted_until - {millis}"
        ),
    ];
    for statement in statements {
        fixture.app.raw(move |connection| run(connection, statement)).await;
    }
}

/// Converts a statement that the test builds at run time.
fn made(statement: String) -> &'static db::sql::Sql {
    let text: &'static str = Box::leak(statement.into_boxed_str());
    Box::leak(Box::new(db::sql::Sql::new(text)))
}

fn run(connection: &mut db::connection::Connection, statement: String) {
    connection.execute(made(statement), &[]).unwrap();
}

with_document_server!(contributions_count_minutes_and_saves_once, |fixture| {
    let world = &fixture.app.world;
    let ada = fixture.app.as_(&world.ada);
    let url = format!("/groups/{}/contributions", fixture.group);
    let nothing = ada.get(&url).await.expect(200);
    assert_eq!(
        nothing.as_array().unwrap().len(),
        2,
        "both members, before anybody wrote: {nothing}"
    );
    assert_eq!(
        (
            &of(&nothing, &world.ben)["minutes"],
            &of(&nothing, &world.ben)["firstEditedAt"]
        ),
        (&json!(0), &Value::Null)
    );

    let (essay, notes) = (fixture.document("Essay").await, fixture.document("Notes").await);
    let ben = fixture.open(&world.ben, &essay).await;
    wait_for_editors(fixture, &essay, 1).await;
    advance_time(fixture, 10).await;
    // Cem joins after Ben was alone for ten minutes.
    let cem = fixture.open(&world.cem, &essay).await;
    wait_for_editors(fixture, &essay, 2).await;
    advance_time(fixture, 5).await;
    // The same five minutes in a second document are not counted twice.
    let second = fixture.open(&world.ben, &notes).await;
    wait_for_editors(fixture, &notes, 1).await;
    advance_time(fixture, 5).await;
    cem.type_text("from Cem").await.unwrap();
    cem.close().await.unwrap();
    wait_for_editors(fixture, &essay, 1).await;
    second.close().await.unwrap();
    wait_for_editors(fixture, &notes, 0).await;
    ben.type_text("from Ben").await.unwrap();
    assert!(ben.close().await.unwrap().accepted);
    wait_for_editors(fixture, &essay, 0).await;
    let received = ada.get(&url).await.expect(200);
    let (of_ben, of_cem) = (of(&received, &world.ben), of(&received, &world.cem));
    assert_eq!(
        (&of_ben["minutes"], &of_cem["minutes"]),
        (&json!(20), &json!(10)),
        "{received}"
    );
    assert!(
        of_ben["saves"].as_i64().unwrap() >= 1 && of_cem["saves"].as_i64().unwrap() >= 1,
        "{received}"
    );
    assert_eq!(of_cem["documents"].as_array().unwrap().len(), 1, "{received}");
    assert_eq!(of_cem["documents"][0]["documentId"], json!(essay), "{received}");
    assert_eq!(of_ben["isMember"], json!(true));

    // A long time without callbacks counts as 240 minutes at most. A session that the document server lost counts as 0.
    let ben = fixture.open(&world.ben, &notes).await;
    wait_for_editors(fixture, &notes, 1).await;
    advance_time(fixture, 3 * 24 * 60).await;
    ben.close().await.unwrap();
    wait_for_editors(fixture, &notes, 0).await;
    let received = ada.get(&url).await.expect(200);
    assert_eq!(of(&received, &world.ben)["minutes"], json!(20 + 240), "{received}");
    let who = fixture.versions(&essay).await;
    assert!(
        who[0]["editors"].as_array().unwrap().contains(&json!(world.ben.id)),
        "{who:?}"
    );

    // Only teachers of the class see the contributions. They are deleted with the document.
    fixture
        .app
        .as_(&world.ben)
        .get(&url)
        .await
        .refused(403, "FORBIDDEN_ROLE");
    fixture.app.as_(&world.tom).get(&url).await.refused(404, "NOT_FOUND");
    for document in [&essay, &notes] {
        ada.delete(&path(document, "")).await.expect(200);
    }
    let gone = ada.get(&url).await.expect(200);
    assert_eq!(of(&gone, &world.ben)["minutes"], json!(0));
});
