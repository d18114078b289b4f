//! Tables that are rejected as a whole.

use super::{RejectedFile, invalid_header, rejected_file, unsupported_type};
use test_support::office::docx;
use test_support::rosters::{HEADER, one_roster, packed, students};

const ROW: &str = "mia@new.example,Mia,Meer,student";

fn utf16(text: &str, order: fn(u16) -> [u8; 2], mark: bool) -> Vec<u8> {
    let mark = mark.then_some(0xfeff_u16);
    mark.into_iter().chain(text.encode_utf16()).flat_map(order).collect()
}

#[expect(clippy::too_many_lines, reason = "a table of cases is read from top to bottom")]
pub fn tables() -> Vec<RejectedFile> {
    let good = format!("{HEADER}\n{ROW}\n");
    let without = |column: &str| {
        let left: Vec<&str> = HEADER.split(',').filter(|name| *name != column).collect();
        format!("{}\n{ROW}\n", left.join(","))
    };
    let also = |column: &str| format!("{HEADER},{column}\n{ROW},x\n");
    let mut all = vec![
        RejectedFile {
            path: Some("file"),
            ..rejected_file("nothing at all", "people.csv", "", 400, "VALIDATION_ERROR")
        },
        invalid_header("only a byte order mark", "\u{feff}"),
        invalid_header("only blank lines", "\n\r\n\n"),
        invalid_header("two byte order marks", format!("\u{feff}\u{feff}{good}")),
        invalid_header("a header that never ends its quote", format!("\"{good}")),
        invalid_header("no header", format!("{ROW}\n")),
        invalid_header("tabs", good.replace(',', "\t")),
        invalid_header("pipes", good.replace(',', "|")),
        invalid_header("both separators", format!("{}\n", HEADER.replacen(',', ";", 1))),
        invalid_header("a homograph in the header", good.replacen("email", "\u{435}mail", 1)),
        invalid_header("an invisible character in the header", format!("\u{200b}{good}")),
        invalid_header("a million columns", format!("{HEADER}{}\n", ",x".repeat(1_000_000))),
        invalid_header("a header of a megabyte", format!("{HEADER},{}\n", "x".repeat(1 << 20))),
        invalid_header("a web page", "<!DOCTYPE html><html><script>alert(1)</script></html>"),
        invalid_header("JSON", "{\"users\": [{\"email\": \"mia@new.example\"}]}"),
        invalid_header("SQL", "INSERT INTO users VALUES ('mia'); DROP TABLE users;--"),
        invalid_header("a separator line of a spreadsheet", format!("sep=;\n{good}")),
        invalid_header("a comment", format!("# people\n{good}")),
        unsupported_type(
            "UTF-16, little end first",
            "people.csv",
            utf16(&good, u16::to_le_bytes, true),
        ),
        unsupported_type(
            "UTF-16, big end first",
            "people.csv",
            utf16(&good, u16::to_be_bytes, true),
        ),
        unsupported_type(
            "UTF-16 without a mark",
            "people.csv",
            utf16(&good, u16::to_le_bytes, false),
        ),
        unsupported_type(
            "UTF-32",
            "people.csv",
            good.chars()
                .flat_map(|c| u32::from(c).to_le_bytes())
                .collect::<Vec<_>>(),
        ),
        unsupported_type(
            "Latin-1",
            "people.csv",
            [good.as_bytes(), b"g@new.example,Gr\xfc\xdfe,X,student\n"].concat(),
        ),
        unsupported_type(
            "Windows-1252",
            "people.csv",
            [good.as_bytes(), b"g@new.example,\x80uro,X,student\n"].concat(),
        ),
        unsupported_type(
            "a NUL in a cell",
            "people.csv",
            format!("{HEADER}\nmia@new.example,Mi\0a,X,student\n"),
        ),
        unsupported_type("a NUL at the end", "people.csv", format!("{good}\0")),
        unsupported_type("a cut character", "people.csv", [good.as_bytes(), b"\xc3"].concat()),
        unsupported_type(
            "an overlong character",
            "people.csv",
            [good.as_bytes(), b"\xc0\x80"].concat(),
        ),
        unsupported_type(
            "half a surrogate",
            "people.csv",
            [good.as_bytes(), b"\xed\xa0\x80"].concat(),
        ),
        unsupported_type(
            "packed",
            "people.csv",
            b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03".to_vec(),
        ),
        unsupported_type("an archive under this name", "people.csv", packed(&one_roster())),
        unsupported_type("a spreadsheet", "people.xlsx", good.clone()),
        unsupported_type("a text", "people.txt", good.clone()),
        unsupported_type("a program", "people.csv.exe", good.clone()),
        unsupported_type("without an ending", "people", good.clone()),
        unsupported_type("a real document", "people.docx", docx("x")),
        RejectedFile {
            path: Some("file"),
            ..rejected_file(
                "a row too many",
                "people.csv",
                students(0, 50_001),
                400,
                "VALIDATION_ERROR",
            )
        },
    ];
    for column in ["firstName", "lastName", "role"] {
        all.push(invalid_header(&format!("no {column}"), without(column)));
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
        all.push(invalid_header(&format!("also the column {column}"), also(column)));
    }
    all
}
