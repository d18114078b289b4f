//! Archives that are rejected as a whole.

use super::{RejectedFile, invalid_roster, rejected_file, unsupported_type};
use test_support::office::{archive, archive_with_false_sizes, archive_with_many_entries, docx, overlapping};
use test_support::rosters::{HEADER, one_roster, one_roster_with, packed};

#[expect(clippy::too_many_lines, reason = "a table of cases is read from top to bottom")]
pub fn archives() -> Vec<RejectedFile> {
    let zip = |name: &str, bytes: Vec<u8>| unsupported_type(name, "roster.zip", bytes);
    let manifest = |text: &str| one_roster_with("manifest.csv", Some(text));
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
        zip("a bomb that lies about its size", roster_with_false_size()),
        zip("entries that share their bytes", overlapping(9_000)),
        zip("more entries than fit", archive_with_many_entries()),
        zip("Latin-1 within", archive(&latin)),
        invalid_roster("an archive in the archive", &with("inner.zip", &inner), "inner.zip"),
        invalid_roster("a program in the archive", &with("run.exe", "MZ"), "run.exe"),
        invalid_roster(
            "everything in a folder",
            &[("export/users.csv", "x".to_owned())],
            "export/users.csv",
        ),
        invalid_roster("names in capitals", &[("USERS.CSV", "x".to_owned())], "USERS.CSV"),
        invalid_roster(
            "a file of a Mac",
            &with("__MACOSX/._users.csv", "x"),
            "__MACOSX/._users.csv",
        ),
        invalid_roster(
            "another version",
            &manifest("propertyName,value\noneroster.version,1.0\n"),
            "manifest.csv",
        ),
        invalid_roster("no version", &manifest("propertyName,value\n"), "manifest.csv"),
        invalid_roster(
            "no users says the manifest",
            &manifest("propertyName,value\noneroster.version,1.1\nfile.users,absent\n"),
            "users.csv",
        ),
        invalid_roster(
            "two schools",
            &one_roster_with(
                "orgs.csv",
                Some("sourcedId,name,type\nO1,North,school\nO2,South,school\n"),
            ),
            "orgs.csv",
        ),
        invalid_roster(
            "no school",
            &one_roster_with("orgs.csv", Some("sourcedId,name,type\nO1,North,district\n")),
            "orgs.csv",
        ),
    ];
    for (name, bytes) in [
        ("a document", docx("x")),
        ("a document that lies", archive_with_false_sizes()),
    ] {
        let path = Some("[Content_Types].xml");
        all.push(RejectedFile {
            path,
            ..rejected_file(name, "roster.zip", bytes, 400, "VALIDATION_ERROR")
        });
    }
    for needed in [
        "manifest.csv",
        "orgs.csv",
        "users.csv",
        "classes.csv",
        "enrollments.csv",
    ] {
        all.push(invalid_roster(
            &format!("no {needed}"),
            &one_roster_with(needed, None),
            needed,
        ));
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
        ("classes.csv", "classes.csv: sourcedId"),
        ("enrollments.csv", "enrollments.csv: classSourcedId"),
        ("orgs.csv", "orgs.csv: sourcedId"),
        ("manifest.csv", "manifest.csv: propertyName"),
    ] {
        let bytes = packed(&one_roster_with(file, Some("a,b\n1,2\n")));
        all.push(RejectedFile {
            path: Some(path),
            ..rejected_file(
                &format!("a header of {file}"),
                "roster.zip",
                bytes,
                400,
                "IMPORT_HEADER",
            )
        });
    }
    let bytes = packed(&one_roster_with(
        "users.csv",
        Some("sourcedId,givenName,familyName,email\nU1,a,b,c@d.example\n"),
    ));
    all.push(RejectedFile {
        path: Some("users.csv: role"),
        ..rejected_file("no roles", "roster.zip", bytes, 400, "IMPORT_HEADER")
    });
    all
}

/// Returns an export whose users file unpacks to far more than the declared size.
fn roster_with_false_size() -> Vec<u8> {
    let rows = "U1,active,,true,O1,student,,,A,B,,,a@b.example,,,,,\n".repeat(400_000);
    let files = one_roster_with("users.csv", Some(&rows));
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
