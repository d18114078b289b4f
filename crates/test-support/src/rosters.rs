//! Import files: CSV tables of users and OneRoster archives.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::office::archive;
use super::{Answer, Client, TestApp, row_counts};

pub const HEADER: &str = "email,firstName,lastName,role";
pub const WIDE_HEADER: &str = "email,firstName,lastName,role,externalId,homeroom,classes,passwordHash";

/// Imports a file of this name; `query` begins with a question mark or is empty.
pub async fn import(client: &Client, query: &str, name: &str, bytes: impl Into<Vec<u8>>) -> Answer {
    client
        .upload(&format!("/users/import{query}"), name, bytes.into(), &[])
        .await
}

/// Builds a table of these rows below the full header.
pub fn table(rows: &[&str]) -> String {
    format!("{WIDE_HEADER}\n{}\n", rows.join("\n"))
}

/// Builds a table of `count` students, numbered from `from`.
pub fn students(from: usize, count: usize) -> String {
    let rows = (from..from + count).map(|n| format!("s{n}@long.example,Sam{n},Long,student\n"));
    format!("{HEADER}\n{}", rows.collect::<String>())
}

/// Returns the results of the rows, without user ids.
pub fn statuses(report: &Value) -> Vec<Value> {
    let rows = report["rows"].as_array().unwrap().iter().cloned();
    rows.map(|mut row| {
        row.as_object_mut().unwrap().remove("userId");
        row
    })
    .collect()
}

/// Counts the rows of every table.
pub async fn counted(app: &TestApp) -> BTreeMap<String, i64> {
    let database = app.database.clone();
    tokio::task::spawn_blocking(move || row_counts::counts(&database))
        .await
        .unwrap()
}

/// Counts the rows by result: created, updated, skipped, failed.
pub fn counts(report: &Value) -> [i64; 4] {
    let rows = report["rows"].as_array().unwrap();
    ["created", "updated", "skipped", "failed"].map(|status| {
        let listed = rows.iter().filter(|row| row["status"] == status).count();
        assert_eq!(
            report[status],
            json!(listed),
            "the sum of {status} is not that of the rows"
        );
        report[status].as_i64().unwrap()
    })
}

/// Builds the files of a OneRoster 1.1 export of one school: a teacher, two students, a class, a homeroom.
pub fn one_roster() -> Vec<(&'static str, String)> {
    vec![
        ("manifest.csv", "propertyName,value\nmanifest.version,1.0\noneroster.version,1.1\nfile.users,bulk\n".into()),
        ("orgs.csv", "sourcedId,status,dateLastModified,name,type,identifier,parentSourcedId\nO1,active,,North,school,,\nO0,active,,District,district,,\n".into()),
        ("academicSessions.csv", "sourcedId,status,dateLastModified,title,type,startDate,endDate,parentSourcedId,schoolYear\nT1,active,,Autumn,term,2026-08-01,2027-01-31,,2027\n".into()),
        ("users.csv", "sourcedId,status,dateLastModified,enabledUser,orgSourcedIds,role,username,userIds,givenName,familyName,middleName,identifier,email,sms,phone,agentSourcedIds,grades,password\n\
            U1,active,,true,O1,teacher,,,Tara,Roster,,,tara@roster.example,,,,,\n\
            U2,active,,true,O1,student,,,Sven,Roster,,,sven@roster.example,,,,,secret\n\
            U3,active,,true,\"O1,O0\",student,,,Sina,Roster,,,sina@roster.example,,,,,\n\
            U4,active,,true,O1,guardian,,,Gina,Roster,,,gina@roster.example,,,,,\n\
            U5,active,,true,O1,administrator,,,Axel,Roster,,,axel@roster.example,,,,,\n\
            U6,active,,true,O9,student,,,Fred,Roster,,,fred@roster.example,,,,,\n\
            U7,active,,true,O1,student,,,Nils,Roster,,,,,,,,\n\
            U8,active,,false,O1,student,,,Olaf,Roster,,,olaf@roster.example,,,,,\n".into()),
        ("courses.csv", "sourcedId,status,title\nK1,active,Mathematics\n".into()),
        ("classes.csv", "sourcedId,status,dateLastModified,title,grades,courseSourcedId,classCode,classType,location,schoolSourcedId,termSourcedIds,subjects,subjectCodes,periods\n\
            C1,active,,Mathematics 9,09,K1,,scheduled,,O1,T1,,,\n\
            C2,active,,9c,09,K1,,homeroom,,O1,T1,,,\n\
            C3,active,,Without a teacher,09,K1,,scheduled,,O1,T1,,,\n".into()),
        ("enrollments.csv", "sourcedId,status,dateLastModified,classSourcedId,schoolSourcedId,userSourcedId,role,primary,beginDate,endDate\n\
            E1,active,,C1,O1,U1,teacher,true,,\n\
            E2,active,,C1,O1,U2,student,false,,\n\
            E3,active,,C1,O1,U3,student,false,,\n\
            E4,active,,C2,O1,U2,student,false,,\n\
            E5,active,,C2,O1,U1,teacher,true,,\n\
            E6,active,,C1,O1,U9,student,false,,\n\
            E7,active,,C1,O1,U3,student,false,,\n\
            E8,active,,C1,O1,U4,guardian,false,,\n".into()),
    ]
}

/// Like `one_roster`, with one file replaced or omitted.
pub fn one_roster_with(file: &str, text: Option<&str>) -> Vec<(&'static str, String)> {
    let mut files = one_roster();
    match text {
        None => files.retain(|(name, _)| *name != file),
        Some(text) => text.clone_into(&mut files.iter_mut().find(|(name, _)| *name == file).unwrap().1),
    }
    files
}

/// Builds an archive of these files.
pub fn packed(files: &[(&str, String)]) -> Vec<u8> {
    let entries: Vec<(&str, &[u8])> = files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    archive(&entries)
}
