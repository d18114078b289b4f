//! What people, programs and attackers send as an import (reliability T22): each file with the answer it has to get. A file
//! or a row that is refused leaves every table as it was.

use serde_json::{Value, json};

use crate::support::TestApp;
use crate::support::office::{archive, crowded, docx, liar, overlapping};
use crate::support::rosters::{
    HEADER, WIDE_HEADER, counted, counts, import, one_roster, one_roster_but, packed, students,
};
use crate::support::rows::execute;

/// A file, and the status, code and detail with which it is refused as a whole.
struct Refused {
    name: String,
    file: &'static str,
    bytes: Vec<u8>,
    status: u16,
    code: &'static str,
    path: Option<&'static str>,
}

fn refused(name: &str, file: &'static str, bytes: impl Into<Vec<u8>>, status: u16, code: &'static str) -> Refused {
    Refused {
        name: name.to_owned(),
        file,
        bytes: bytes.into(),
        status,
        code,
        path: None,
    }
}

fn header(name: &str, text: impl Into<Vec<u8>>) -> Refused {
    refused(name, "people.csv", text, 400, "IMPORT_HEADER")
}

fn type_of(name: &str, file: &'static str, bytes: impl Into<Vec<u8>>) -> Refused {
    refused(name, file, bytes, 415, "UNSUPPORTED_FILE_TYPE")
}

fn roster(name: &str, files: &[(&str, String)], path: &'static str) -> Refused {
    Refused {
        path: Some(path),
        ..refused(name, "roster.zip", packed(files), 400, "VALIDATION_ERROR")
    }
}

const ROW: &str = "mia@new.example,Mia,Meer,student";

fn utf16(text: &str, order: fn(u16) -> [u8; 2], mark: bool) -> Vec<u8> {
    let mark = mark.then_some(0xfeff_u16);
    mark.into_iter().chain(text.encode_utf16()).flat_map(order).collect()
}

fn tables() -> Vec<Refused> {
    let good = format!("{HEADER}\n{ROW}\n");
    let without = |column: &str| {
        let left: Vec<&str> = HEADER.split(',').filter(|name| *name != column).collect();
        format!("{}\n{ROW}\n", left.join(","))
    };
    let also = |column: &str| format!("{HEADER},{column}\n{ROW},x\n");
    let mut all = vec![
        Refused {
            path: Some("file"),
            ..refused("nothing at all", "people.csv", "", 400, "VALIDATION_ERROR")
        },
        header("only a byte order mark", "\u{feff}"),
        header("only blank lines", "\n\r\n\n"),
        header("two byte order marks", format!("\u{feff}\u{feff}{good}")),
        header("a header that never ends its quote", format!("\"{good}")),
        header("no header", format!("{ROW}\n")),
        header("tabs", good.replace(',', "\t")),
        header("pipes", good.replace(',', "|")),
        header("both separators", format!("{}\n", HEADER.replacen(',', ";", 1))),
        header("a homograph in the header", good.replacen("email", "\u{435}mail", 1)),
        header("an invisible character in the header", format!("\u{200b}{good}")),
        header("a million columns", format!("{HEADER}{}\n", ",x".repeat(1_000_000))),
        header("a header of a megabyte", format!("{HEADER},{}\n", "x".repeat(1 << 20))),
        header("a web page", "<!DOCTYPE html><html><script>alert(1)</script></html>"),
        header("JSON", "{\"users\": [{\"email\": \"mia@new.example\"}]}"),
        header("SQL", "INSERT INTO users VALUES ('mia'); DROP TABLE users;--"),
        header("a separator line of a spreadsheet", format!("sep=;\n{good}")),
        header("a comment", format!("# people\n{good}")),
        type_of(
            "UTF-16, little end first",
            "people.csv",
            utf16(&good, u16::to_le_bytes, true),
        ),
        type_of(
            "UTF-16, big end first",
            "people.csv",
            utf16(&good, u16::to_be_bytes, true),
        ),
        type_of(
            "UTF-16 without a mark",
            "people.csv",
            utf16(&good, u16::to_le_bytes, false),
        ),
        type_of(
            "UTF-32",
            "people.csv",
            good.chars()
                .flat_map(|c| u32::from(c).to_le_bytes())
                .collect::<Vec<_>>(),
        ),
        type_of(
            "Latin-1",
            "people.csv",
            [good.as_bytes(), b"g@new.example,Gr\xfc\xdfe,X,student\n"].concat(),
        ),
        type_of(
            "Windows-1252",
            "people.csv",
            [good.as_bytes(), b"g@new.example,\x80uro,X,student\n"].concat(),
        ),
        type_of(
            "a NUL in a cell",
            "people.csv",
            format!("{HEADER}\nmia@new.example,Mi\0a,X,student\n"),
        ),
        type_of("a NUL at the end", "people.csv", format!("{good}\0")),
        type_of("a cut character", "people.csv", [good.as_bytes(), b"\xc3"].concat()),
        type_of(
            "an overlong character",
            "people.csv",
            [good.as_bytes(), b"\xc0\x80"].concat(),
        ),
        type_of(
            "half a surrogate",
            "people.csv",
            [good.as_bytes(), b"\xed\xa0\x80"].concat(),
        ),
        type_of(
            "packed",
            "people.csv",
            b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03".to_vec(),
        ),
        type_of("an archive under this name", "people.csv", packed(&one_roster())),
        type_of("a spreadsheet", "people.xlsx", good.clone()),
        type_of("a text", "people.txt", good.clone()),
        type_of("a program", "people.csv.exe", good.clone()),
        type_of("without an ending", "people", good.clone()),
        type_of("a real document", "people.docx", docx("x")),
        Refused {
            path: Some("file"),
            ..refused(
                "a row too many",
                "people.csv",
                students(0, 50_001),
                400,
                "VALIDATION_ERROR",
            )
        },
    ];
    for column in ["email", "firstName", "lastName", "role"] {
        all.push(header(&format!("no {column}"), without(column)));
    }
    for column in [
        "password",
        "organizationId",
        "isAdmin",
        "id",
        "userId",
        "tenant",
        "__proto__",
        "",
        "email",
        "EMAIL",
        "=1+1",
    ] {
        all.push(header(&format!("also the column {column}"), also(column)));
    }
    all
}

fn archives() -> Vec<Refused> {
    let zip = |name: &str, bytes: Vec<u8>| type_of(name, "roster.zip", bytes);
    let manifest = |text: &str| one_roster_but("manifest.csv", Some(text));
    let with = |name: &'static str, text: &str| {
        let mut files = one_roster();
        files.push((name, text.to_owned()));
        files
    };
    let slip = |name: &str| {
        let whole = one_roster();
        let mut entries: Vec<(&str, &[u8])> = whole.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
        entries.push((name, b"x"));
        archive(&entries)
    };
    let zeros = vec![b'\n'; 64 << 20];
    let inner = String::from_utf8_lossy(&archive(&[("users.csv", b"x")])).into_owned();
    let mut followed = packed(&one_roster());
    followed.extend_from_slice(b"MZ");
    let mut latin: Vec<(&str, Vec<u8>)> = one_roster()
        .into_iter()
        .map(|(name, text)| (name, text.into_bytes()))
        .collect();
    latin[3]
        .1
        .extend_from_slice(b"U10,active,,true,O1,student,,,Gr\xfc\xdfe,X,,,g@new.example,,,,,\n");
    let latin: Vec<(&str, &[u8])> = latin.iter().map(|(name, bytes)| (*name, bytes.as_slice())).collect();
    let mut all = vec![
        zip("a table under this name", HEADER.into()),
        zip(
            "an archive of nothing",
            b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0".to_vec(),
        ),
        zip("half an archive", packed(&one_roster())[..300].to_vec()),
        zip("a program behind the archive", followed),
        zip("a bomb", archive(&[("users.csv", &zeros)])),
        zip("a bomb that lies about its size", liar_roster()),
        zip("entries that share their bytes", overlapping(9_000)),
        zip("more entries than fit", crowded()),
        zip("Latin-1 within", archive(&latin)),
        roster("an archive in the archive", &with("inner.zip", &inner), "inner.zip"),
        roster("a program in the archive", &with("run.exe", "MZ"), "run.exe"),
        roster(
            "everything in a folder",
            &[("export/users.csv", "x".to_owned())],
            "export/users.csv",
        ),
        roster("names in capitals", &[("USERS.CSV", "x".to_owned())], "USERS.CSV"),
        roster(
            "a file of a Mac",
            &with("__MACOSX/._users.csv", "x"),
            "__MACOSX/._users.csv",
        ),
        roster(
            "another version",
            &manifest("propertyName,value\noneroster.version,1.0\n"),
            "manifest.csv",
        ),
        roster("no version", &manifest("propertyName,value\n"), "manifest.csv"),
        roster(
            "no users says the manifest",
            &manifest("propertyName,value\noneroster.version,1.1\nfile.users,absent\n"),
            "users.csv",
        ),
        roster(
            "two schools",
            &one_roster_but(
                "orgs.csv",
                Some("sourcedId,name,type\nO1,North,school\nO2,South,school\n"),
            ),
            "orgs.csv",
        ),
        roster(
            "no school",
            &one_roster_but("orgs.csv", Some("sourcedId,name,type\nO1,North,district\n")),
            "orgs.csv",
        ),
    ];
    for (name, bytes) in [("a document", docx("x")), ("a document that lies", liar())] {
        let path = Some("[Content_Types].xml");
        all.push(Refused {
            path,
            ..refused(name, "roster.zip", bytes, 400, "VALIDATION_ERROR")
        });
    }
    for needed in [
        "manifest.csv",
        "orgs.csv",
        "users.csv",
        "classes.csv",
        "enrollments.csv",
    ] {
        all.push(roster(&format!("no {needed}"), &one_roster_but(needed, None), needed));
    }
    for name in [
        "../users.csv",
        "/etc/users.csv",
        "C:/users.csv",
        "..\\users.csv",
        "a/../../users.csv",
    ] {
        all.push(zip(name, slip(name)));
    }
    for (file, path) in [
        ("users.csv", "users.csv: sourcedId"),
        ("classes.csv", "classes.csv: sourcedId"),
        ("enrollments.csv", "enrollments.csv: classSourcedId"),
        ("orgs.csv", "orgs.csv: sourcedId"),
        ("manifest.csv", "manifest.csv: propertyName"),
    ] {
        let bytes = packed(&one_roster_but(file, Some("a,b\n1,2\n")));
        all.push(Refused {
            path: Some(path),
            ..refused(
                &format!("a header of {file}"),
                "roster.zip",
                bytes,
                400,
                "IMPORT_HEADER",
            )
        });
    }
    let bytes = packed(&one_roster_but(
        "users.csv",
        Some("sourcedId,givenName,familyName,email\nU1,a,b,c@d.example\n"),
    ));
    all.push(Refused {
        path: Some("users.csv: role"),
        ..refused("no roles", "roster.zip", bytes, 400, "IMPORT_HEADER")
    });
    all
}

/// An export whose users unpack to far more than they declare.
fn liar_roster() -> Vec<u8> {
    let rows = "U1,active,,true,O1,student,,,A,B,,,a@b.example,,,,,\n".repeat(400_000);
    let files = one_roster_but("users.csv", Some(&rows));
    let mut bytes = packed(&files);
    let declared = u32::try_from(rows.len()).unwrap().to_le_bytes();
    let places: Vec<usize> = (0..bytes.len() - 4)
        .filter(|at| bytes[*at..*at + 4] == declared)
        .collect();
    assert!(!places.is_empty(), "the size is declared somewhere");
    for at in places {
        bytes[at..at + 4].copy_from_slice(&4096_u32.to_le_bytes());
    }
    bytes
}

/// A row below the wide header, and the column and code with which it is refused.
type BadRow = (String, &'static str, &'static str);

fn rows(app: &TestApp) -> Vec<BadRow> {
    let world = &app.world;
    let mut all: Vec<BadRow> = Vec::new();
    for role in ["admin", "owner", "Owner", "SUPER_ADMIN"] {
        all.push((format!("mia@new.example,Mia,M,{role},,,,"), "role", "FORBIDDEN_RANK"));
    }
    for role in [
        "root",
        "\u{455}tudent",
        "student teacher",
        "1",
        "null",
        "teacher\u{200b}",
    ] {
        all.push((format!("mia@new.example,Mia,M,{role},,,,"), "role", "invalid"));
    }
    all.push(("mia@new.example,Mia,M,,,,,".into(), "role", "required"));
    all.push((",Mia,M,student,,,,".into(), "email", "required"));
    let long = format!("{}@new.example", "a".repeat(250));
    for email in [
        "nobody",
        "a b@new.example",
        "mi\u{430}@new.example",
        "\u{212a}im@new.example",
        &long,
        "a@b",
        "@new.example",
        "mia@new..example",
        "mailto:mia@new.example",
        "<mia@new.example>",
        "\u{202e}elpmaxe.wen@aim",
        "mia@new.example;zoe@new.example",
        "\"mia\nmeer@new.example\"",
        "=mia@new.example",
        "'; DROP TABLE users;--@x.example",
        "mia@\u{fe52}example.com",
    ] {
        all.push((format!("{email},Mia,M,student,,,,"), "email", "invalid"));
    }
    let name = "x".repeat(81);
    all.push(("mia@new.example,,,student,,,,".into(), "firstName", "required"));
    all.push((format!("mia@new.example,{name},M,student,,,,"), "firstName", "invalid"));
    all.push((format!("mia@new.example,M,{name},student,,,,"), "lastName", "invalid"));
    all.push(("mia@new.example,Mi\u{7}a,M,student,,,,".into(), "firstName", "invalid"));
    all.push(("mia@new.example,\"Mi\na\",M,student,,,,".into(), "firstName", "invalid"));
    all.push((
        "mia@new.example,Mia,\u{1b}[31mred,student,,,,".into(),
        "lastName",
        "invalid",
    ));
    all.push((
        format!("mia@new.example,{0},{0},student,,,,", "x".repeat(70)),
        "lastName",
        "invalid",
    ));
    all.push((
        format!("mia@new.example,Mia,M,student,{},,,", "x".repeat(121)),
        "externalId",
        "invalid",
    ));
    all.push((
        "mia@new.example,Mia,M,student,a\u{1}b,,,".into(),
        "externalId",
        "invalid",
    ));
    all.push((
        "mia@new.example,Mia,M,student,TAKEN,,,".into(),
        "externalId",
        "duplicate",
    ));
    all.push((
        "eli.student@test.example,Eli,E,student,OTHER,,,".into(),
        "externalId",
        "differs",
    ));
    all.push(("mia@new.example,Mia,M,teacher,,7b,,".into(), "homeroom", "student_only"));
    all.push((
        format!("mia@new.example,Mia,M,student,,{name},,"),
        "homeroom",
        "invalid",
    ));
    all.push((
        "mia@new.example,Mia,M,student,,0190a1b2-0000-7000-8000-000000000001,,".into(),
        "homeroom",
        "unknown",
    ));
    for class in [
        "no such class",
        "0190a1b2-0000-7000-8000-000000000001",
        &world.south_class.id,
        "9c",
        "7b;9c",
        "%",
        "7b' OR '1'='1",
    ] {
        all.push((
            format!("mia@new.example,Mia,M,student,,,{class},"),
            "classes",
            "unknown",
        ));
    }
    all.push(("mia@new.example,Mia,M,student,,,twice,".into(), "classes", "ambiguous"));
    all.push((
        "mia@new.example,Mia,M,student,,,ARCHIVED-CLASS,".into(),
        "classes",
        "CLASS_ARCHIVED",
    ));
    let many: Vec<String> = (0..101).map(|n| format!("c{n}")).collect();
    all.push((
        format!("mia@new.example,Mia,M,student,,,{},", many.join(";")),
        "classes",
        "too_many",
    ));
    all.push((
        format!("mia@new.example,Mia,M,student,,,{},", "x".repeat(121)),
        "classes",
        "invalid",
    ));
    for hash in [
        "plain",
        "salt:abcd",
        "$2b$10$abcdefghijklmnopqrstuv",
        "$argon2id$v=19$m=1,t=1,p=1$YQ$YQ",
        ":",
        &format!("a b:{}", "0".repeat(128)),
        &format!("s:{}", "A".repeat(128)),
        &format!("{}:{}", "s".repeat(300), "0".repeat(128)),
    ] {
        all.push((
            format!("mia@new.example,Mia,M,student,,,,\"{hash}\""),
            "passwordHash",
            "invalid",
        ));
    }
    all.push((
        "adam.admin@test.example,Adam,A,student,,,,".into(),
        "email",
        "FORBIDDEN_RANK",
    ));
    all.push((
        "OLGA.owner@test.example,Olga,O,teacher,,,,".into(),
        "email",
        "FORBIDDEN_RANK",
    ));
    all.push((
        "root.admin@test.example,Root,R,teacher,,,,".into(),
        "email",
        "not_found",
    ));
    all.push(("ben.student@test.example,Ben,B,teacher,,,,".into(), "role", "in_use"));
    all.push(("mia@new.example,Mia,M,student,,,,,,more".into(), "", "columns"));
    all.push((
        format!("mia@new.example,Mia,M,student{}", ",x".repeat(1_000_000)),
        "",
        "columns",
    ));
    all.push((
        format!("mia@new.example,{},M,student,,,,", "x".repeat(1 << 20)),
        "",
        "too_long",
    ));
    all.push(("mia@new.example,\"Mia,M,student,,,,".into(), "", "quotes"));
    all.push(("mia@new.example,Mia \"the 1st,M,student,,,,".into(), "", "quotes"));
    all
}

/// Tables that are unusual and right.
fn accepted() -> Vec<(&'static str, String)> {
    let row = |n: usize| format!("ok{n}@new.example,Mia,Meer,student");
    let table = |n: usize| format!("{HEADER}\n{}\n", row(n));
    vec![
        ("a byte order mark", format!("\u{feff}{}", table(1))),
        ("semicolons", table(2).replace(',', ";")),
        (
            "semicolons and a mark",
            format!("\u{feff}{}", table(3).replace(',', ";")),
        ),
        ("line ends of Windows", table(4).replace('\n', "\r\n")),
        ("line ends of old Macs", table(5).replace('\n', "\r")),
        ("no line end", table(6).trim_end().to_owned()),
        ("blank lines", table(7).replace('\n', "\n\n\n")),
        ("empty rows of a spreadsheet", format!("{},,,\n,,,\n", table(8))),
        (
            "another order",
            format!("role,lastName,email,firstName\nteacher,M,{},Mia\n", "ok9@new.example"),
        ),
        ("another case", table(10).replace(HEADER, &HEADER.to_uppercase())),
        ("blanks around everything", table(11).replace(',', " , ")),
        (
            "everything in quotes",
            table(12)
                .replace(',', "\",\"")
                .replace('\n', "\"\n")
                .replace("\"\nok", "\"\n\"ok")
                .replacen("email", "\"email", 1),
        ),
        (
            "a quote in a name",
            format!("{HEADER}\nok13@new.example,\"Mia \"\"Mi\"\" M\",X,student\n"),
        ),
        (
            "a formula",
            format!("{HEADER}\nok14@new.example,=1+1,@SUM(A1),student\n"),
        ),
        (
            "many letters",
            format!("{HEADER}\nok15@new.example,Zoë 👩‍🔬,Ñandú 日本,student\n"),
        ),
        (
            "one name only",
            format!("{HEADER}\nok16@new.example,,Sukarno,student\n"),
        ),
        (
            "cells that are missing at the end",
            format!("{WIDE_HEADER}\n{}\n", row(17)),
        ),
        (
            "all columns",
            format!("{WIDE_HEADER}\nok18@new.example,Mia,M,student,X-18,10a,7b; 8a,\n"),
        ),
    ]
}

both!(hostile_files_are_refused_and_change_nothing, |app| {
    let adam = app.as_(&app.world.adam);
    let (tables, archives) = (tables(), archives());
    assert!(tables.len() + archives.len() >= 80, "{}", tables.len() + archives.len());
    let before = counted(app).await;
    for file in tables.into_iter().chain(archives) {
        for query in ["", "?dryRun=1"] {
            let answer = import(&adam, query, file.file, file.bytes.clone()).await;
            let said = String::from_utf8_lossy(&answer.bytes).into_owned();
            assert_eq!(answer.status, file.status, "{}: {said}", file.name);
            let body = answer.json();
            assert_eq!(body["code"], file.code, "{}: {said}", file.name);
            if let Some(path) = file.path {
                assert_eq!(body["details"][0]["path"], path, "{}: {said}", file.name);
            }
            if file.bytes.len() > 1 << 20 {
                break;
            }
        }
        assert_eq!(counted(app).await, before, "{}", file.name);
    }
    assert!(app.kept_files().is_empty());
});

both!(hostile_rows_are_refused_one_by_one_and_change_nothing, |app| {
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
    // All at once, and a good one among them: every row stands for itself.
    let mut table = format!("{WIDE_HEADER}\n");
    for (row, _, code) in rows.iter().filter(|(_, _, code)| *code != "quotes") {
        table += &format!("{}\n", row.replace("ARCHIVED-CLASS", &over));
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

both!(unusual_files_that_are_right_are_taken, |app| {
    let adam = app.as_(&app.world.adam);
    for (name, table) in accepted() {
        let report = import(&adam, "", "People.CSV", table).await.expect(200);
        assert_eq!(counts(&report), [1, 0, 0, 0], "{name}: {report}");
    }
});
