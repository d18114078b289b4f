//! OneRoster archives: users, classes, homerooms and enrollments are matched by their external ids.

use serde_json::{Value, json};

use test_support::rosters::{counted, counts, import, one_roster, one_roster_with, packed, statuses};
use test_support::rows::texts;
use test_support::{Client, TestApp};

async fn import_roster(client: &Client, query: &str, files: &[(&str, String)]) -> Value {
    import(client, query, "roster.zip", packed(files)).await.expect(200)
}

/// Returns the rows of a file: row number, status and columns of the errors.
fn rows_of_file(report: &Value, file: &str) -> Vec<(i64, String, Vec<String>)> {
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

fn row_result(row: i64, status: &str, columns: &[&str]) -> (i64, String, Vec<String>) {
    (
        row,
        status.to_owned(),
        columns.iter().map(|column| (*column).to_owned()).collect(),
    )
}

async fn find_class(app: &TestApp) -> Value {
    let classes = app
        .as_(&app.world.adam)
        .get("/classes?search=Mathematics")
        .await
        .expect(200);
    classes[0].clone()
}

both!(one_roster_import_creates_users_classes_and_homerooms, |app| {
    let adam = app.as_(&app.world.adam);
    let before = counted(app).await;
    let received = import_roster(&adam, "?dryRun=1", &one_roster()).await;
    assert_eq!(counted(app).await, before);
    let report = import_roster(&adam, "", &one_roster()).await;
    assert_eq!(statuses(&received), statuses(&report));
    assert_eq!(
        rows_of_file(&report, "users.csv"),
        [
            row_result(2, "created", &[]),
            row_result(3, "created", &[]),
            row_result(4, "created", &[]),
            row_result(5, "skipped", &[]),
            row_result(6, "skipped", &[]),
            row_result(7, "failed", &["orgSourcedIds"]),
            row_result(8, "created", &[]),
            row_result(9, "skipped", &[]),
        ]
    );
    assert_eq!(
        rows_of_file(&report, "classes.csv"),
        [
            row_result(2, "created", &[]),
            row_result(3, "created", &[]),
            row_result(4, "failed", &["sourcedId"])
        ]
    );
    assert_eq!(
        rows_of_file(&report, "enrollments.csv"),
        [
            row_result(2, "skipped", &[]),
            row_result(3, "created", &[]),
            row_result(4, "created", &[]),
            row_result(5, "created", &[]),
            row_result(6, "created", &[]),
            row_result(7, "failed", &["userSourcedId"]),
            row_result(8, "failed", &["userSourcedId"]),
            row_result(9, "skipped", &[]),
        ]
    );
    let class = find_class(app).await;
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

    let again = import_roster(&adam, "", &one_roster()).await;
    let [created, updated, _, failed] = counts(&again);
    assert_eq!((created, updated, failed), (0, 0, 4), "{again}");
});

both!(tobedeleted_rows_end_users_classes_and_enrollments, |app| {
    let adam = app.as_(&app.world.adam);
    import_roster(&adam, "", &one_roster()).await;
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
    let received = import_roster(&adam, "?dryRun=1", &files).await;
    let report = import_roster(&adam, "", &files).await;
    assert_eq!(statuses(&received), statuses(&report));
    assert_eq!(
        rows_of_file(&report, "users.csv"),
        [row_result(2, "updated", &[]), row_result(3, "skipped", &[])]
    );
    assert_eq!(rows_of_file(&report, "classes.csv")[2], row_result(2, "updated", &[]));
    assert_eq!(
        rows_of_file(&report, "enrollments.csv")[2],
        row_result(4, "updated", &[])
    );
    let class = find_class(app).await;
    assert_eq!(
        (&class["status"], &class["counts"]["students"]),
        (&json!("ARCHIVED"), &json!(0))
    );
    let left = "SELECT name FROM users WHERE email = 'sven@roster.example' AND NOT is_active";
    assert_eq!(texts(&app.database, left.to_owned()).await.len(), 1);
    let again = import_roster(&adam, "", &files).await;
    assert_eq!(
        (&again["created"], &again["updated"]),
        (&json!(0), &json!(0)),
        "{again}"
    );
});

both!(one_roster_import_cannot_deactivate_an_admin, |app| {
    let adam = app.as_(&app.world.adam);
    let claim = format!(
        "UPDATE members SET external_id = 'ADMIN-1' WHERE user_id = '{}'",
        app.world.olga.id
    );
    test_support::rows::execute(&app.database, claim).await;
    let users = "sourcedId,status,orgSourcedIds,role,givenName,familyName,email\nADMIN-1,tobedeleted,O1,student,O,O,o@roster.example\n";
    let mut files = one_roster_with("users.csv", Some(users));
    files.retain(|(name, _)| *name != "academicSessions.csv");
    let report = import_roster(&adam, "", &files).await;
    let rows = rows_of_file(&report, "users.csv");
    assert_eq!(rows, [row_result(2, "failed", &["sourcedId"])]);
    app.as_(&app.world.olga).get("/users/me").await.expect(200);
});

both!(version_1_2_reads_roles_from_roles_file, |app| {
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
    let received = import_roster(&adam, "?dryRun=1", &files).await;
    let report = import_roster(&adam, "", &files).await;
    assert_eq!(statuses(&received), statuses(&report));
    assert_eq!(
        rows_of_file(&report, "users.csv"),
        [
            row_result(2, "created", &[]),
            row_result(3, "created", &[]),
            row_result(4, "failed", &["primaryOrgSourcedId"]),
            row_result(5, "skipped", &[]),
            row_result(6, "failed", &["role"]),
        ]
    );
    assert_eq!(find_class(app).await["teacher"]["name"], json!("Tara Roster"));
});
