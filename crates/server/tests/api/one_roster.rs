//! OneRoster archives: users, classes, homerooms and enrollments are matched by their external ids.

use serde_json::{Value, json};

use test_support::rosters::{counted, counts, import, one_roster, one_roster_with, packed, statuses};
use test_support::rows::texts;
use test_support::{Client, TestApp};

async fn roster(client: &Client, query: &str, files: &[(&str, String)]) -> Value {
    import(client, query, "roster.zip", packed(files)).await.expect(200)
}

/// Returns the rows of a file: row number, status and columns of the errors.
fn of(report: &Value, file: &str) -> Vec<(i64, String, Vec<String>)> {
    let rows = report["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["file"] == file);
    rows.map(|row| {
        let errors = row["errors"].as_array().unwrap().iter();
        let columns = errors
            .map(|error| error["column"].as_str().unwrap().to_owned())
            .collect();
        (
            row["row"].as_i64().unwrap(),
            row["status"].as_str().unwrap().to_owned(),
            columns,
        )
    })
    .collect()
}

fn line(row: i64, status: &str, columns: &[&str]) -> (i64, String, Vec<String>) {
    (
        row,
        status.to_owned(),
        columns.iter().map(|column| (*column).to_owned()).collect(),
    )
}

async fn class(app: &TestApp) -> Value {
    let classes = app
        .as_(&app.world.adam)
        .get("/classes?search=Mathematics")
        .await
        .expect(200);
    classes[0].clone()
}

both!(an_export_becomes_people_classes_and_homerooms, |app| {
    let adam = app.as_(&app.world.adam);
    let before = counted(app).await;
    let told = roster(&adam, "?dryRun=1", &one_roster()).await;
    assert_eq!(counted(app).await, before);
    let report = roster(&adam, "", &one_roster()).await;
    assert_eq!(statuses(&told), statuses(&report));
    assert_eq!(
        of(&report, "users.csv"),
        [
            line(2, "created", &[]),
            line(3, "created", &[]),
            line(4, "created", &[]),
            line(5, "skipped", &[]),
            line(6, "skipped", &[]),
            line(7, "failed", &["orgSourcedIds"]),
            line(8, "failed", &["email"]),
            line(9, "skipped", &[]),
        ]
    );
    assert_eq!(
        of(&report, "classes.csv"),
        [
            line(2, "created", &[]),
            line(3, "created", &[]),
            line(4, "failed", &["sourcedId"])
        ]
    );
    assert_eq!(
        of(&report, "enrollments.csv"),
        [
            line(2, "skipped", &[]),
            line(3, "created", &[]),
            line(4, "created", &[]),
            line(5, "created", &[]),
            line(6, "created", &[]),
            line(7, "failed", &["userSourcedId"]),
            line(8, "failed", &["userSourcedId"]),
            line(9, "skipped", &[]),
        ]
    );
    let class = class(app).await;
    assert_eq!(
        (
            &class["teacher"]["name"],
            &class["academicYear"],
            &class["externalId"],
            &class["counts"]["students"]
        ),
        (&json!("Tara Roster"), &json!("2026/2027"), &json!("C1"), &json!(2))
    );
    let homeroom = adam.get("/homerooms?search=9c").await.expect(200);
    assert_eq!(
        (&homeroom[0]["studentCount"], &homeroom[0]["academicYear"]),
        (&json!(1), &json!("2026/2027"))
    );
    // Passwords in an export are ignored.
    assert!(
        texts(
            &app.database,
            "SELECT password FROM accounts WHERE password IS NOT NULL".to_owned()
        )
        .await
        .is_empty()
    );

    let again = roster(&adam, "", &one_roster()).await;
    let [created, updated, _, failed] = counts(&again);
    assert_eq!((created, updated, failed), (0, 0, 5), "{again}");
});

both!(what_is_to_be_deleted_ends_and_nothing_else, |app| {
    let adam = app.as_(&app.world.adam);
    roster(&adam, "", &one_roster()).await;
    let mut files = one_roster_with("users.csv", None);
    files.push((
        "users.csv",
        "sourcedId,status,orgSourcedIds,role,givenName,familyName,email\n\
        U2,tobedeleted,O1,student,Sven,Roster,sven@roster.example\nU99,tobedeleted,O1,student,X,X,x@roster.example\n"
            .to_owned(),
    ));
    for (name, text) in &mut files {
        match *name {
            "classes.csv" => *text = text.replace("C1,active", "C1,tobedeleted"),
            "enrollments.csv" => *text = text.replace("E3,active", "E3,tobedeleted"),
            _ => {}
        }
    }
    // The class is archived after its enrollments are removed.
    let told = roster(&adam, "?dryRun=1", &files).await;
    let report = roster(&adam, "", &files).await;
    assert_eq!(statuses(&told), statuses(&report));
    assert_eq!(
        of(&report, "users.csv"),
        [line(2, "updated", &[]), line(3, "skipped", &[])]
    );
    assert_eq!(of(&report, "classes.csv")[2], line(2, "updated", &[]));
    assert_eq!(of(&report, "enrollments.csv")[2], line(4, "updated", &[]));
    let class = class(app).await;
    assert_eq!(
        (&class["status"], &class["counts"]["students"]),
        (&json!("ARCHIVED"), &json!(0))
    );
    let left = "SELECT name FROM users WHERE email = 'sven@roster.example' AND NOT is_active";
    assert_eq!(texts(&app.database, left.to_owned()).await.len(), 1);
    let again = roster(&adam, "", &files).await;
    assert_eq!(
        (&again["created"], &again["updated"]),
        (&json!(0), &json!(0)),
        "{again}"
    );
});

both!(an_export_cannot_end_an_admin, |app| {
    let adam = app.as_(&app.world.adam);
    let claim = format!(
        "UPDATE members SET external_id = 'ADMIN-1' WHERE user_id = '{}'",
        app.world.olga.id
    );
    test_support::rows::execute(&app.database, claim).await;
    let users = "sourcedId,status,orgSourcedIds,role,givenName,familyName,email\nADMIN-1,tobedeleted,O1,student,O,O,o@roster.example\n";
    let mut files = one_roster_with("users.csv", Some(users));
    files.retain(|(name, _)| *name != "academicSessions.csv");
    let report = roster(&adam, "", &files).await;
    let rows = of(&report, "users.csv");
    assert_eq!(rows, [line(2, "failed", &["sourcedId"])]);
    app.as_(&app.world.olga).get("/users/me").await.expect(200);
});

both!(version_1_2_has_its_roles_in_a_file_of_their_own, |app| {
    let adam = app.as_(&app.world.adam);
    let users = "sourcedId,status,dateLastModified,enabledUser,username,userIds,givenName,familyName,middleName,identifier,email,sms,phone,agentSourcedIds,grades,password,userMasterIdentifier,resourceSourcedIds,preferredGivenName,preferredMiddleName,preferredFamilyName,primaryOrgSourcedId,pronouns\n\
        U1,,,true,,,Tara,Roster,,,tara@roster.example,,,,,,,,,,,O1,\n\
        U2,,,true,,,Sven,Roster,,,sven@roster.example,,,,,,,,,,,O1,\n\
        U3,,,true,,,Sina,Roster,,,sina@roster.example,,,,,,,,,,,O9,\n\
        U4,,,true,,,Adele,Roster,,,adele@roster.example,,,,,,,,,,,O1,\n\
        U5,,,true,,,Nora,Norole,,,nora@roster.example,,,,,,,,,,,O1,\n";
    let roles = "sourcedId,status,dateLastModified,userSourcedId,roleType,role,beginDate,endDate,orgSourcedId,userProfileSourcedId\n\
        R1,,,U1,secondary,student,,,O1,\nR2,,,U1,primary,teacher,,,O1,\nR3,,,U2,primary,student,,,O1,\nR4,,,U3,primary,student,,,O9,\n\
        R5,,,U4,primary,systemAdministrator,,,O1,\nR6,tobedeleted,,U5,primary,student,,,O1,\n";
    let mut files = one_roster_with("users.csv", Some(users));
    files.push(("roles.csv", roles.to_owned()));
    files[0] = ("manifest.csv", "propertyName,value\noneroster.version,1.2\n".to_owned());
    let told = roster(&adam, "?dryRun=1", &files).await;
    let report = roster(&adam, "", &files).await;
    assert_eq!(statuses(&told), statuses(&report));
    assert_eq!(
        of(&report, "users.csv"),
        [
            line(2, "created", &[]),
            line(3, "created", &[]),
            line(4, "failed", &["primaryOrgSourcedId"]),
            line(5, "skipped", &[]),
            line(6, "failed", &["role"]),
        ]
    );
    assert_eq!(class(app).await["teacher"]["name"], json!("Tara Roster"));
});
