//! Files that are damaged or made to harm.

use std::io::{Cursor, Write};

use docx::{DocxError, Limits, ReadOnlyReason, open, save};
use serde_json::json;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::support::no_images;

const TYPES: &str = r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"#;
const RELATIONSHIPS: &str = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>"#;
const WORD: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";

fn file_with(parts: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        let options = SimpleFileOptions::default().compression_method(method);
        writer.start_file(*name, options).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn file(document: &str) -> Vec<u8> {
    let parts: [(&str, &[u8]); 3] = [
        ("[Content_Types].xml", TYPES.as_bytes()),
        ("_rels/.rels", RELATIONSHIPS.as_bytes()),
        ("word/document.xml", document.as_bytes()),
    ];
    file_with(&parts, CompressionMethod::Stored)
}

fn body(inner: &str) -> Vec<u8> {
    file(&format!(
        "<w:document xmlns:w=\"{WORD}\"><w:body>{inner}</w:body></w:document>"
    ))
}

fn error(bytes: &[u8]) -> DocxError {
    open(bytes, &Limits::default()).unwrap_err()
}

#[test]
fn entities_when_declared_are_rejected() {
    let document = format!(
        "<!DOCTYPE w [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;\">]><w:document xmlns:w=\"{WORD}\"><w:body>\
         <w:p><w:r><w:t>&b;</w:t></w:r></w:p></w:body></w:document>"
    );
    assert_eq!(
        error(&file(&document)),
        DocxError::Damaged("it declares a document type".to_owned())
    );
    assert!(matches!(
        error(&body("<w:p><w:r><w:t>&unknown;</w:t></w:r></w:p>")),
        DocxError::Damaged(_)
    ));
}

#[test]
fn deep_nesting_when_opened_is_rejected() {
    let deep = format!("{}{}", "<w:sdt>".repeat(100_000), "</w:sdt>".repeat(100_000));
    assert_eq!(
        error(&body(&deep)),
        DocxError::TooLarge("its elements are nested too deeply")
    );
}

#[test]
fn part_that_unpacks_to_far_more_than_its_size_is_rejected() {
    let text = "a".repeat(20 << 20);
    let document =
        format!("<w:document xmlns:w=\"{WORD}\"><w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body></w:document>");
    let parts: [(&str, &[u8]); 3] = [
        ("[Content_Types].xml", TYPES.as_bytes()),
        ("_rels/.rels", RELATIONSHIPS.as_bytes()),
        ("word/document.xml", document.as_bytes()),
    ];
    let bytes = file_with(&parts, CompressionMethod::Deflated);
    assert!(bytes.len() < 100_000);
    assert_eq!(
        error(&bytes),
        DocxError::TooLarge("it unpacks to far more than its size")
    );
}

#[test]
fn attributes_when_too_many_or_too_long_are_rejected() {
    let many: Vec<String> = (0..1000).map(|number| format!(" a{number}=\"\"")).collect();
    let many = many.concat();
    assert!(matches!(error(&body(&format!("<w:p{many}/>"))), DocxError::TooLarge(_)));
    let twice = body("<w:p a=\"1\" a=\"2\"/>");
    assert!(matches!(error(&twice), DocxError::Damaged(_)));
    let letters: String = (0..300_000_u32)
        .filter_map(|number| char::from_u32(0x4e00 + number % 20_000))
        .collect();
    let long = body(&format!("<w:p a=\"{letters}{letters}\"/>"));
    assert!(matches!(error(&long), DocxError::TooLarge(_)));
}

#[test]
fn name_that_leads_outside_of_the_package_is_rejected() {
    let document = format!("<w:document xmlns:w=\"{WORD}\"><w:body/></w:document>");
    for name in ["../evil.xml", "/etc/passwd", "word/../../evil.xml", "C:/evil.xml"] {
        let bytes = file_with(
            &[
                ("[Content_Types].xml", TYPES.as_bytes()),
                ("_rels/.rels", RELATIONSHIPS.as_bytes()),
                ("word/document.xml", document.as_bytes()),
                (name, b""),
            ],
            CompressionMethod::Stored,
        );
        assert!(matches!(error(&bytes), DocxError::Damaged(_)), "{name}");
    }
}

#[test]
fn entries_that_differ_in_case_only_are_rejected() {
    let document = format!("<w:document xmlns:w=\"{WORD}\"><w:body/></w:document>");
    let bytes = file_with(
        &[
            ("[Content_Types].xml", TYPES.as_bytes()),
            ("_rels/.rels", RELATIONSHIPS.as_bytes()),
            ("word/document.xml", document.as_bytes()),
            ("word/Document.xml", document.as_bytes()),
        ],
        CompressionMethod::Stored,
    );
    assert_eq!(error(&bytes), DocxError::Damaged("it names an entry twice".to_owned()));
}

#[test]
fn bytes_that_are_no_archive_are_rejected() {
    for bytes in [&b""[..], b"PK", b"PK\x03\x04", b"%PDF-1.7", &[0; 1000]] {
        assert!(matches!(error(bytes), DocxError::Damaged(_)));
    }
}

#[test]
fn file_when_cut_off_or_changed_anywhere_does_not_panic() {
    let bytes = std::fs::read(crate::support::root().join("crates/adapters/templates/blank.docx")).unwrap();
    for end in (0..bytes.len()).step_by(7) {
        let _ = open(&bytes[..end], &Limits::default());
    }
    for index in (0..bytes.len()).step_by(3) {
        let mut changed = bytes.clone();
        changed[index] ^= 0x55;
        if let Ok(opened) = open(&changed, &Limits::default()) {
            let _ = save(&changed, &opened.document, &no_images, &Limits::default());
        }
    }
}

#[test]
fn document_xml_when_mutated_does_not_panic() {
    let inner = "<w:p><w:pPr><w:pStyle w:val=\"x\"/><w:numPr><w:ilvl w:val=\"9\"/><w:numId w:val=\"1\"/></w:numPr><w:sectPr/>\
        </w:pPr><w:r><w:rPr><w:b/></w:rPr><w:t xml:space=\"preserve\"> a </w:t><w:fldChar w:fldCharType=\"begin\"/></w:r>\
        <w:hyperlink r:id=\"a\"><w:r><w:tab/></w:r></w:hyperlink></w:p><w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val=\"2\"/>\
        <w:vMerge/></w:tcPr><w:p/></w:tc></w:tr></w:tbl>";
    let names = [
        "w:p", "w:r", "w:tc", "w:tr", "w:tbl", "w:pPr", "begin", "end", "w:vMerge", "\"2\"", "w:t",
    ];
    let values = [
        "w:tbl",
        "w:tr",
        "w:tc",
        "w:p",
        "begin",
        "end",
        "w:sdt",
        "\"-1\"",
        "\"99999999999\"",
        "w:x",
        "\"\"",
    ];
    for name in names {
        for value in values {
            let bytes = body(&inner.replace(name, value));
            if let Ok(opened) = open(&bytes, &Limits::default())
                && opened.read_only.is_none()
            {
                let saved = save(&bytes, &opened.document, &no_images, &Limits::default()).unwrap();
                assert!(saved.bytes == bytes, "{name} {value}");
            }
        }
    }
}

#[test]
fn strict_document_when_opened_is_read_only_with_a_reason() {
    let strict = "http://purl.oclc.org/ooxml/wordprocessingml/main";
    let bytes = file(&format!(
        "<w:document xmlns:w=\"{strict}\"><w:body><w:p/></w:body></w:document>"
    ));
    let opened = open(&bytes, &Limits::default()).unwrap();
    assert_eq!(opened.read_only, Some(ReadOnlyReason::Strict));
    let saved = save(&bytes, &opened.document, &no_images, &Limits::default());
    assert!(matches!(saved, Err(DocxError::ReadOnly(_))));
}

#[test]
fn elements_without_the_usual_prefix_when_opened_are_read_only() {
    let bytes = file(&format!(
        "<document xmlns=\"{WORD}\"><body><p><r><t>Text</t></r></p></body></document>"
    ));
    let opened = open(&bytes, &Limits::default()).unwrap();
    assert_eq!(opened.read_only, Some(ReadOnlyReason::Namespaces));
    assert_eq!(opened.document["content"][0]["content"][0]["text"], "Text");
}

#[test]
fn rich_text_that_is_no_document_when_saved_is_rejected() {
    let bytes = body("<w:p/>");
    for document in [
        json!(null),
        json!({"type": "paragraph"}),
        json!({"type": "doc", "content": [{"type": "image"}]}),
    ] {
        let saved = save(&bytes, &document, &no_images, &Limits::default());
        assert!(matches!(saved, Err(DocxError::InvalidDocument(_))), "{document}");
    }
    let mut deep = json!({"type": "paragraph"});
    for _ in 0..60 {
        deep = json!({"type": "blockquote", "content": [deep]});
    }
    let saved = save(
        &bytes,
        &json!({"type": "doc", "content": [deep]}),
        &no_images,
        &Limits::default(),
    );
    assert!(matches!(saved, Err(DocxError::InvalidDocument(_))));
}

#[test]
fn table_with_enormous_spans_when_saved_stays_small() {
    let cell = json!({"type": "table_cell", "attrs": {"colspan": 1000, "rowspan": 10_000}, "content": [{"type": "paragraph"}]});
    let row = json!({"type": "table_row", "content": [cell, cell, cell]});
    let document = json!({"type": "doc", "content": [{"type": "table", "content": [row]}]});
    let saved = save(&body("<w:p/>"), &document, &no_images, &Limits::default()).unwrap();
    assert!(saved.bytes.len() < 100_000);
}
