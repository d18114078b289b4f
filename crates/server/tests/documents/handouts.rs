//! Handing out a file of a topic: every group gets one copy, including hidden groups.

use serde_json::{Value, json};

use test_support::office::docx;
use test_support::topics::{group, id, topic};

fn count(answer: &Value, list: &str) -> usize {
    answer[list].as_array().unwrap().len()
}

tenants!(handout_creates_one_copy_per_group, |app| {
    let (world, class) = (&app.world, &app.world.seven_b);
    let ada = app.as_(&world.ada);
    let seen = group(&ada, class, &[&world.ben], json!({})).await;
    let hidden = group(
        &ada,
        class,
        &[&world.dana],
        json!({"startDate": "2099-01-01T00:00:00Z"}),
    )
    .await;
    let later = group(&ada, class, &[&world.cem], json!({})).await;
    let made = id(&topic(&ada, class, json!({"groupIds": [seen, hidden]})).await);
    let bytes = docx("Fill me in");
    let files = format!("/assignments/{made}/attachments");
    let sheet = id(&ada
        .upload(&files, "Work sheet.docx", bytes.clone(), &[])
        .await
        .expect(201));
    let zip = test_support::office::archive(&[("a.txt", b"a")]);
    let other = id(&ada.upload(&files, "things.zip", zip, &[]).await.expect(201));
    let url = format!("/assignments/{made}/handouts");

    ada.post(&url, json!({"templateAttachmentId": other}))
        .await
        .invalid("templateAttachmentId");
    ada.post(&url, json!({"templateAttachmentId": "nobody"}))
        .await
        .refused(404, "NOT_FOUND");
    app.as_(&world.ben)
        .post(&url, json!({"templateAttachmentId": sheet}))
        .await
        .refused(403, "FORBIDDEN_ROLE");

    let first = ada.post(&url, json!({"templateAttachmentId": sheet})).await.expect(200);
    assert_eq!((count(&first, "documents"), count(&first, "had")), (2, 0), "{first}");
    let copy = first["documents"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["groupId"] == json!(seen))
        .unwrap();
    assert_eq!(
        (&copy["title"], &copy["assignmentId"]),
        (&json!("Work sheet"), &json!(made))
    );
    let (ben, dana) = (app.as_(&world.ben), app.as_(&world.dana));
    let path = format!("/workrooms/documents/{}", copy["id"].as_str().unwrap());
    assert_eq!(ben.get(&format!("{path}/download")).await.bytes, bytes);
    let unseen = first["documents"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["groupId"] == json!(hidden))
        .unwrap();
    dana.get(&format!("/workrooms/documents/{}", unseen["id"].as_str().unwrap()))
        .await
        .refused(404, "NOT_FOUND");
    let link = ada.get(&format!("/assignments/{made}")).await.expect(200);
    assert!(
        link["groupAssignments"]
            .as_array()
            .unwrap()
            .iter()
            .all(|link| link["status"] == "IN_PROGRESS"),
        "{link}"
    );

    // A repeated handout creates no second copy. Groups that were added later or deleted their copy get one.
    ada.post(&format!("/assignments/{made}/groups"), json!({"groupIds": [later]}))
        .await
        .expect(200);
    ada.delete(&path).await.expect(200);
    let again = ada
        .post(&url, json!({"templateAttachmentId": sheet, "title": "Once more"}))
        .await
        .expect(200);
    assert_eq!((count(&again, "documents"), count(&again, "had")), (2, 1), "{again}");
    let both = tokio::join!(
        ada.post(&url, json!({"templateAttachmentId": sheet})),
        ada.post(&url, json!({"templateAttachmentId": sheet}))
    );
    assert_eq!(
        count(&both.0.expect(200), "documents") + count(&both.1.expect(200), "documents"),
        0
    );

    // Deleting the copy of one group affects that group only. A finished topic hands nothing out.
    ada.post(&format!("/assignments/{made}/finish"), json!({}))
        .await
        .expect(200);
    ada.post(&url, json!({"templateAttachmentId": sheet}))
        .await
        .refused(409, "ASSIGNMENT_FINISHED");
});
