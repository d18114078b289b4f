//! Valid, invalid and malicious import files, each with the expected response. A rejected file or row leaves all tables
//! unchanged.

mod archives;
mod rows;
mod tables;

use serde_json::{Value, json};

use self::archives::archives;
use self::rows::{rows, valid_tables};
use self::tables::tables;
use test_support::rosters::{WIDE_HEADER, counted, counts, import, packed};
use test_support::rows::execute;

/// A file and the status, code and detail with which it is rejected as a whole.
pub struct RejectedFile {
    pub name: String,
    pub file: &'static str,
    pub bytes: Vec<u8>,
    pub status: u16,
    pub code: &'static str,
    pub path: Option<&'static str>,
}

pub fn rejected_file(
    name: &str,
    file: &'static str,
    bytes: impl Into<Vec<u8>>,
    status: u16,
    code: &'static str,
) -> RejectedFile {
    RejectedFile {
        name: name.to_owned(),
        file,
        bytes: bytes.into(),
        status,
        code,
        path: None,
    }
}

pub fn invalid_header(name: &str, text: impl Into<Vec<u8>>) -> RejectedFile {
    rejected_file(name, "people.csv", text, 400, "IMPORT_HEADER")
}

pub fn unsupported_type(name: &str, file: &'static str, bytes: impl Into<Vec<u8>>) -> RejectedFile {
    rejected_file(name, file, bytes, 415, "UNSUPPORTED_FILE_TYPE")
}

pub fn invalid_roster(name: &str, files: &[(&str, String)], path: &'static str) -> RejectedFile {
    RejectedFile {
        path: Some(path),
        ..rejected_file(name, "roster.zip", packed(files), 400, "VALIDATION_ERROR")
    }
}

sqlite!(malformed_files_are_rejected_and_change_nothing, |app| {
    let adam = app.as_(&app.world.adam);
    let (tables, archives) = (tables(), archives());
    assert!(tables.len() + archives.len() >= 80, "{}", tables.len() + archives.len());
    let before = counted(app).await;
    for file in tables.into_iter().chain(archives) {
        for query in ["", "?dryRun=1"] {
            let answer = import(&adam, query, file.file, file.bytes.clone()).await;
            let context = String::from_utf8_lossy(&answer.bytes).into_owned();
            assert_eq!(answer.status, file.status, "{}: {context}", file.name);
            let body = answer.json();
            assert_eq!(body["code"], file.code, "{}: {context}", file.name);
            if let Some(path) = file.path {
                assert_eq!(body["details"][0]["path"], path, "{}: {context}", file.name);
            }
            if file.bytes.len() > 1 << 20 {
                break;
            }
        }
        assert_eq!(counted(app).await, before, "{}", file.name);
    }
    assert!(app.stored_files().is_empty());
});

sqlite!(invalid_rows_are_rejected_individually_and_change_nothing, |app| {
    let adam = app.as_(&app.world.adam);
    for name in ["twice", "Twice"] {
        let new = json!({"name": name, "academicYear": "2026/2027", "teacherId": app.world.ada.id});
        adam.post("/classes", new).await.expect(201);
    }
    let new = json!({"name": "Over", "academicYear": "2026/2027", "teacherId": app.world.ada.id, "status": "ARCHIVED"});
    let over = adam.post("/classes", new).await.expect(201)["id"]
        .as_str()
        .unwrap()
        .to_owned();
    for (person, id) in [(&app.world.ben, "TAKEN"), (&app.world.eli, "MINE")] {
        execute(
            &app.database,
            format!(
                "UPDATE members SET external_id = '{id}' WHERE user_id = '{}'",
                person.id
            ),
        )
        .await;
    }
    let rows = rows(app);
    assert!(rows.len() >= 65, "{}", rows.len());
    let before = counted(app).await;
    for (row, column, code) in &rows {
        let row = row.replace("ARCHIVED-CLASS", &over);
        let answer = import(&adam, "", "people.csv", format!("{WIDE_HEADER}\n{row}\n")).await;
        let report = answer.expect(200);
        let shown: String = row.chars().take(120).collect();
        assert_eq!(counts(&report), [0, 0, 0, 1], "{shown}: {report}");
        let error = &report["rows"][0]["errors"][0];
        assert_eq!(
            (&error["column"], &error["code"]),
            (&json!(column), &json!(code)),
            "{shown}: {report}"
        );
    }
    assert_eq!(counted(app).await, before);
    // All invalid rows in one table with a valid one: each row is processed independently.
    let mut table = format!("{WIDE_HEADER}\n");
    for (row, _, code) in rows.iter().filter(|(_, _, code)| *code != "quotes") {
        table.push_str(&row.replace("ARCHIVED-CLASS", &over));
        table.push('\n');
        assert_ne!(*code, "");
    }
    table += "good@new.example,Good,One,student,,,,\n";
    let report = import(&adam, "", "people.csv", table).await.expect(200);
    assert_eq!((&report["created"], &report["updated"]), (&json!(1), &json!(0)));
    let failed: Vec<&Value> = report["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["status"] == "failed")
        .collect();
    assert!(failed.len() >= 63, "{}", failed.len());
});

sqlite!(unusual_but_valid_files_are_imported, |app| {
    let adam = app.as_(&app.world.adam);
    for (name, table) in valid_tables() {
        let report = import(&adam, "", "People.CSV", table).await.expect(200);
        assert_eq!(counts(&report), [1, 0, 0, 0], "{name}: {report}");
    }
});
