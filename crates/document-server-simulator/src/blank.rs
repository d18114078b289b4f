//! Minimal valid documents, used when the source is empty, as on the real server.

use std::io::{Cursor, Write};

use zip::{ZipWriter, write::SimpleFileOptions};

const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#;
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const TYPES: &str = "application/vnd.openxmlformats-officedocument";

/// Returns an empty spreadsheet, presentation or, for every other type, text document.
pub fn document(file_type: &str) -> Vec<u8> {
    match file_type {
        "xlsx" => package(
            "xl/workbook.xml",
            "spreadsheetml.sheet.main+xml",
            &format!(
                r#"<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="{OFFICE}"><sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>"#
            ),
            &[(
                "xl/worksheets/sheet1.xml",
                "spreadsheetml.worksheet+xml",
                r#"<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData/></worksheet>"#,
            )],
            Some(("xl/_rels/workbook.xml.rels", "worksheet", "worksheets/sheet1.xml")),
        ),
        "pptx" => package(
            "ppt/presentation.xml",
            "presentationml.presentation.main+xml",
            r#"<p:presentation xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"><p:sldSz cx="12192000" cy="6858000"/><p:notesSz cx="6858000" cy="9144000"/></p:presentation>"#,
            &[],
            None,
        ),
        _ => package(
            "word/document.xml",
            "wordprocessingml.document.main+xml",
            r#"<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:sectPr><w:pgSz w:w="11906" w:h="16838"/></w:sectPr></w:body></w:document>"#,
            &[],
            None,
        ),
    }
}

fn package(
    main: &str,
    main_type: &str,
    body: &str,
    parts: &[(&str, &str, &str)],
    relation: Option<(&str, &str, &str)>,
) -> Vec<u8> {
    let mut overrides = String::new();
    for (name, kind) in std::iter::once((main, main_type)).chain(parts.iter().map(|part| (part.0, part.1))) {
        let signature = [
            r#"<Override PartName="/"#,
            name,
            r#"" ContentType=""#,
            TYPES,
            ".",
            kind,
            r#""/>"#,
        ];
        overrides.extend(signature);
    }
    let types = format!(
        r#"<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>"#
    );
    let relations = |kind: &str, target: &str| {
        format!(
            r#"<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" Type="{OFFICE}/{kind}" Target="{target}"/></Relationships>"#
        )
    };
    let mut entries = vec![
        ("[Content_Types].xml", types),
        ("_rels/.rels", relations("officeDocument", main)),
        (main, body.to_owned()),
    ];
    entries.extend(parts.iter().map(|(name, _, body)| (*name, (*body).to_owned())));
    if let Some((name, kind, target)) = relation {
        entries.push((name, relations(kind, target)));
    }
    let texts: Vec<(&str, String)> = entries
        .into_iter()
        .map(|(name, body)| (name, format!("{HEAD}{body}")))
        .collect();
    write_archive(&texts)
}

/// Writes a zip archive with these text entries, in this order.
pub(crate) fn write_archive(entries: &[(&str, String)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in entries {
        zip.start_file(*name, SimpleFileOptions::default())
            .and_then(|()| Ok(zip.write_all(text.as_bytes())?))
            .expect("writing to memory does not fail");
    }
    zip.finish().expect("writing to memory does not fail").into_inner()
}
