//! Names and pictures that users choose: students keep the name of the school's records unless the school allows
//! changes, names contain no invisible characters, and pictures on other hosts are rejected.

use serde_json::json;

use test_support::accounts::signed_in;

both!(students_change_their_name_only_where_the_school_allows_it, |app| {
    let (world, adam) = (&app.world, app.as_(&app.world.adam));
    let ben = signed_in(app, &world.ben).await;
    let names = ["Ada Teacher", "Benjamin"];
    for name in names {
        app.as_(&world.ben)
            .patch("/users/me", json!({"name": name}))
            .await
            .refused(403, "NAME_SET_BY_SCHOOL");
        ben.post("/auth/update-user", json!({"name": name}))
            .await
            .refused(403, "NAME_SET_BY_SCHOOL");
    }
    // The user can edit all other fields, and the same name is not a change.
    app.as_(&world.ben)
        .patch("/users/me", json!({"name": world.ben.name, "locale": "de"}))
        .await
        .expect(200);
    app.as_(&world.ada)
        .patch("/users/me", json!({"name": "Ada L."}))
        .await
        .expect(200);
    adam.patch(&format!("/users/{}", world.ben.id), json!({"name": "Ben B."}))
        .await
        .expect(200);
    let allow = |on: bool| json!({"metadata": {"features": {"studentsChangeNames": on}}});
    adam.patch("/admin/settings", allow(true)).await.expect(200);
    app.as_(&world.ben)
        .patch("/users/me", json!({"name": "Benjamin"}))
        .await
        .expect(200);
    adam.patch("/admin/settings", allow(false)).await.expect(200);
    app.as_(&world.ben)
        .patch("/users/me", json!({"name": "Ben"}))
        .await
        .refused(403, "NAME_SET_BY_SCHOOL");
});

both!(names_with_invisible_characters_are_rejected, |app| {
    let (adam, ada) = (app.as_(&app.world.adam), app.as_(&app.world.ada));
    for hidden in ["Ada\u{200b} Teacher", "\u{202e}rehcaeT adA", "\u{3164}", "\u{2800}"] {
        ada.patch("/users/me", json!({"name": hidden})).await.invalid("name");
        let new = json!({"name": hidden, "email": "ida@test.example", "role": "STUDENT"});
        adam.post("/users", new).await.invalid("name");
        let class = json!({"name": hidden, "academicYear": "2026/2027"});
        ada.post("/classes", class).await.invalid("name");
        let row = json!({"users": [
            {"email": "ida@test.example", "firstName": hidden, "lastName": "Newcomer", "role": "STUDENT"},
        ]});
        let imported = adam.post("/users/import", row).await.expect(200);
        assert_eq!(
            (&imported["created"], &imported["failed"]),
            (&json!(0), &json!(1)),
            "{imported}"
        );
    }
});

both!(pictures_of_other_hosts_are_refused, |app| {
    let ada = app.as_(&app.world.ada);
    for image in [
        "https://tracker.example/a.png",
        "/api/health",
        "//tracker.example/a.png",
    ] {
        ada.patch("/users/me", json!({"image": image})).await.invalid("image");
    }
    ada.patch("/users/me", json!({"image": null})).await.expect(200);
});
