//! Documents that are read, changed and read again.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use super::*;

fn lines(of: &[&str]) -> Vec<String> {
    of.iter().map(|line| (*line).to_owned()).collect()
}

fn with_document_xml(xml: &str) -> Vec<u8> {
    let blank = blank::document("docx");
    let parts = BTreeMap::from([("word/document.xml".to_owned(), xml.as_bytes().to_vec())]);
    OfficePackage::open(&blank).unwrap().rewrite(&parts, &[]).unwrap()
}

fn document_xml(bytes: &[u8]) -> String {
    String::from_utf8(OfficePackage::open(bytes).unwrap().part("word/document.xml").unwrap()).unwrap()
}

#[test]
fn every_document_kind_roundtrips_lines() {
    for (file_type, kind) in [
        ("docx", DocumentKind::Word),
        ("xlsx", DocumentKind::Cell),
        ("pptx", DocumentKind::Slide),
    ] {
        let text = lines(&["First & <second>", "Grüße", "", " end "]);
        let written = write(&blank::document(file_type), &text).unwrap();
        assert_eq!(read(&written).unwrap(), (kind, text.clone()), "{file_type}");
        let mut longer = text.clone();
        longer.push("one more".into());
        let again = write(&written, &longer).unwrap();
        assert_eq!(read(&again).unwrap().1, longer, "{file_type}");
        assert_ne!(again, written);
    }
}

#[test]
fn paragraph_formatting_is_kept() {
    let xml = r#"<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:pPr><w:pStyle w:val="Heading1"/><w:tabs><w:tab w:val="left"/></w:tabs><w:rPr><w:i/></w:rPr></w:pPr><w:r><w:rPr><w:b/></w:rPr><w:t>Old</w:t></w:r><w:r><w:tab/><w:t>title</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>cell</w:t></w:r></w:p></w:tc></w:tr></w:tbl><w:p><w:r><w:t>a &amp; b &#228;</w:t></w:r></w:p><w:sectPr/></w:body></w:document>"#;
    let bytes = with_document_xml(xml);
    assert_eq!(read(&bytes).unwrap().1, lines(&["Old\ttitle", "cell", "a & b ä"]));
    let changed = write(&bytes, &lines(&["New title", "cell", "a & b ä"])).unwrap();
    let written = document_xml(&changed);
    assert!(written.contains(r#"<w:pStyle w:val="Heading1"/>"#), "{written}");
    assert!(
        written.contains("<w:r><w:rPr><w:b/></w:rPr><w:t xml:space=\"preserve\">New title</w:t></w:r>"),
        "{written}"
    );
    assert!(
        written.contains("<w:p><w:r><w:t>a &amp; b &#228;</w:t></w:r></w:p>"),
        "{written}"
    );
    let fewer = write(&bytes, &lines(&["a & b ä"])).unwrap();
    assert!(document_xml(&fewer).contains("<w:tc><w:p>"), "a cell keeps a paragraph");
}

#[test]
fn text_boxes_are_kept() {
    let xml = r#"<w:document xmlns:w="w"><w:body><w:p><w:r><w:t>outer</w:t><w:txbxContent><w:p><w:r><w:t>inner</w:t></w:r></w:p></w:txbxContent></w:r></w:p></w:body></w:document>"#;
    let bytes = with_document_xml(xml);
    assert_eq!(read(&bytes).unwrap().1, lines(&["outer"]));
    let longer = write(&bytes, &lines(&["outer", "next"])).unwrap();
    assert!(document_xml(&longer).contains("inner"));
    assert_eq!(read(&longer).unwrap().1, lines(&["outer", "next"]));
}

#[test]
fn lines_are_inserted_at_start_and_middle() {
    let start = write(&blank::document("docx"), &lines(&["b", "d"])).unwrap();
    let all = lines(&["a", "b", "c", "d"]);
    assert_eq!(read(&write(&start, &all).unwrap()).unwrap().1, all);
}

#[test]
fn plain_text_is_detected_and_binary_data_is_rejected() {
    assert_eq!(
        read(b"hello\nyou").unwrap(),
        (DocumentKind::Text, lines(&["hello", "you"]))
    );
    assert_eq!(read(&[0, 159, 146, 150]), Err(DocumentError::Unknown));
    assert!(matches!(
        read(b"PK\x03\x04 not an archive"),
        Err(DocumentError::Corrupt(_))
    ));
}

#[test]
fn zip_bomb_is_rejected() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("word/document.xml", SimpleFileOptions::default())
        .unwrap();
    let megabyte = vec![b' '; 1 << 20];
    for _ in 0..51 {
        zip.write_all(&megabyte).unwrap();
    }
    let bytes = zip.finish().unwrap().into_inner();
    assert_eq!(read(&bytes), Err(DocumentError::TooLarge));
}
