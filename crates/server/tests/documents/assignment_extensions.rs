//! Deadline extensions: one group gets more time while the deadline of the topic stays the same for all other groups.

use serde_json::{Value, json};

use test_support::document_server_fixture::{DocumentServerFixture, path};
use test_support::rows::texts;
use test_support::topics::{group, link};
use test_support::{Answer, TestUser};

const PAST: &str = "2026-01-01T00:00:00.000Z";
const FUTURE: &str = "2099-01-01T00:00:00.000Z";

/// Creates a second group on the topic, with Eli as its student and one document.
async fn other_group(fixture: &DocumentServerFixture) -> (String, String) {
    let (world, ada) = (&fixture.app.world, fixture.app.as_(&fixture.app.world.ada));
    let lakes = group(&ada, &world.seven_b, &[&world.eli], json!({})).await;
    ada.post(
        &format!("/assignments/{}/groups", fixture.topic),
        json!({"groupIds": [lakes]}),
    )
    .await
    .expect(200);
    let room = ada.get(&format!("/groups/{lakes}")).await.expect(200)["workRoomId"].clone();
    let document = fixture.document_in(room.as_str().unwrap(), "Lakes").await;
    (lakes, document)
}

async fn extend(fixture: &DocumentServerFixture, group: &str, until: Value) -> Value {
    let ada = fixture.app.as_(&fixture.app.world.ada);
    let path = format!("/assignments/{}/groups/{group}", fixture.topic);
    ada.patch(&path, json!({"lateAllowedUntil": until})).await.expect(200)
}

async fn unsubmit(fixture: &DocumentServerFixture, person: &TestUser, document: &str) -> Answer {
    let client = fixture.app.as_(person);
    client.post(&path(document, "/unsubmit"), json!({})).await
}

with_document_server!(extension_lets_only_its_group_submit_late, |fixture| {
    let (world, ada) = (&fixture.app.world, fixture.app.as_(&fixture.app.world.ada));
    let topic = format!("/assignments/{}", fixture.topic);
    let ours = fixture.document("Rivers").await;
    let (lakes, theirs) = other_group(fixture).await;
    ada.patch(&topic, json!({"deadline": PAST, "latePolicy": "BLOCK"}))
        .await
        .expect(200);
    // After the extension, even a teacher cannot submit late for the group.
    for person in [&world.ben, &world.ada] {
        fixture.submit(person, &ours).await.refused(409, "LATE_NOT_ALLOWED");
    }

    let extended = extend(fixture, &fixture.group, json!(FUTURE)).await;
    assert_eq!(
        (&extended["lateAllowedUntil"], &extended["assignment"]["deadline"]),
        (&json!(FUTURE), &json!(PAST))
    );
    let submitted = fixture.submit(&world.ben, &ours).await.expect(200);
    let submission = &submitted["submission"];
    assert_eq!(
        (&submission["isLate"], &submission["lateBySeconds"]),
        (&json!(false), &json!(0)),
        "lateness counts from the later of deadline and extension"
    );
    fixture
        .submit(&world.eli, &theirs)
        .await
        .refused(409, "LATE_NOT_ALLOWED");

    // The deadline of the topic does not change. Only the group's own students see the extension.
    let seen = ada.get(&topic).await.expect(200);
    assert_eq!((&seen["deadline"], &seen["stats"]["late"]), (&json!(PAST), &json!(0)));
    assert_eq!(
        (
            &link(&seen, &fixture.group)["lateAllowedUntil"],
            &link(&seen, &lakes)["lateAllowedUntil"]
        ),
        (&json!(FUTURE), &json!(null))
    );
    let bens = fixture.app.as_(&world.ben).get(&topic).await.expect(200);
    assert_eq!(
        (&bens["deadline"], &bens["groupAssignments"][0]["lateAllowedUntil"]),
        (&json!(PAST), &json!(FUTURE))
    );
    let elis = fixture.app.as_(&world.eli).get(&topic).await.expect(200);
    assert!(!elis.to_string().contains(FUTURE), "{elis}");

    // An expired extension permits no new submission. A submission made in time keeps its lateness of 0.
    unsubmit(fixture, &world.ben, &ours).await.expect(200);
    for over in [json!("2026-02-01T00:00:00Z"), json!(null)] {
        extend(fixture, &fixture.group, over).await;
        fixture.submit(&world.ben, &ours).await.refused(409, "LATE_NOT_ALLOWED");
    }
    let kept = "SELECT CAST(late_by_seconds AS TEXT) FROM submissions".to_owned();
    assert_eq!(texts(&fixture.app.database, kept).await, [Some("0".to_owned())]);
});

with_document_server!(lateness_counts_from_later_of_deadline_and_extension, |fixture| {
    let (world, ada) = (&fixture.app.world, fixture.app.as_(&fixture.app.world.ada));
    let topic = format!("/assignments/{}", fixture.topic);
    let document = fixture.document("Rivers").await;
    let late = async |deadline: &str, until: Value| {
        ada.patch(&topic, json!({"deadline": deadline})).await.expect(200);
        extend(fixture, &fixture.group, until).await;
        let submitted = fixture.submit(&world.cem, &document).await.expect(200);
        unsubmit(fixture, &world.cem, &document).await.expect(200);
        let submission = &submitted["submission"];
        let seconds = submission["lateBySeconds"].as_i64().unwrap();
        assert_eq!(submission["isLate"], json!(seconds > 0));
        seconds
    };
    let of_deadline = late(PAST, json!(null)).await;
    assert!(of_deadline > 0);
    // The extension is 31 days long and has expired: the submission is late by that much less.
    let of_extension = late(PAST, json!("2026-02-01T00:00:00Z")).await;
    let month = 31 * 24 * 60 * 60;
    assert!(of_extension > 0 && (of_extension - (of_deadline - month)).abs() < 3600);
    // An extension that ends before the deadline does not shorten the time.
    assert_eq!(late(FUTURE, json!(PAST)).await, 0);
    assert_eq!(late(PAST, json!(FUTURE)).await, 0);
});
