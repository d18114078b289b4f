//! Rows that are rejected individually, and unusual tables that are valid.

use test_support::TestApp;
use test_support::rosters::{HEADER, WIDE_HEADER};

/// A row below the wide header, and the column and code with which it is rejected.
pub type InvalidRow = (String, &'static str, &'static str);

#[expect(clippy::too_many_lines, reason = "a table of cases is read from top to bottom")]
pub fn rows(app: &TestApp) -> Vec<InvalidRow> {
    let world = &app.world;
    let mut all: Vec<InvalidRow> = Vec::new();
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

/// Returns unusual tables that are valid.
pub fn valid_tables() -> Vec<(&'static str, String)> {
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
