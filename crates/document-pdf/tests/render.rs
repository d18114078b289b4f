//! Renders documents and reads the result with poppler's programs (`scripts/setup-tests` installs them).

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::io::Write as _;
use std::process::{Command, Stdio};

use document_pdf::{PdfError, PictureRef, RenderOptions, RenderedPdf, render};
use rich_text::Node;
use serde_json::{Value, json};

fn no_picture(_: PictureRef<'_>) -> Option<Vec<u8>> {
    None
}

fn try_render(blocks: Value, picture: &dyn Fn(PictureRef<'_>) -> Option<Vec<u8>>) -> Result<RenderedPdf, PdfError> {
    let document = json!({"type": "doc", "content": blocks});
    let document = Node::document_from_json(&document).unwrap();
    let options = RenderOptions {
        title: "River",
        language: "en-GB",
        picture,
    };
    render(&document, &options)
}

fn rendered(blocks: Value) -> RenderedPdf {
    let pdf = try_render(blocks, &no_picture).unwrap();
    assert!(pdf.is_accessible(), "PDF/UA-1");
    pdf
}

/// Runs a program of poppler with the PDF as its file.
fn poppler(program: &str, arguments: &[&str], pdf: &[u8]) -> String {
    let mut child = Command::new(program)
        .args(arguments)
        .args(["-", "-"].iter().take(if program == "pdftotext" { 2 } else { 1 }))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{program}: {error}; scripts/setup-tests installs poppler-utils"));
    let mut stdin = child.stdin.take().unwrap();
    let pdf = pdf.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&pdf));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "{program} {arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn text(pdf: &RenderedPdf) -> String {
    poppler("pdftotext", &[], &pdf.bytes)
}

/// The structure tree, one line for each element without its indentation.
fn structure(pdf: &RenderedPdf) -> Vec<String> {
    let printed = poppler("pdfinfo", &["-struct-text"], &pdf.bytes);
    printed
        .lines()
        .map(|line| line.trim().to_owned())
        .filter(|line| !line.is_empty())
        .collect()
}

fn pages(pdf: &RenderedPdf) -> usize {
    let info = poppler("pdfinfo", &[], &pdf.bytes);
    let line = info.lines().find_map(|line| line.strip_prefix("Pages:")).unwrap();
    line.trim().parse().unwrap()
}

fn paragraph(text: &str) -> Value {
    if text.is_empty() {
        return json!({"type": "paragraph"});
    }
    json!({"type": "paragraph", "content": [{"type": "text", "text": text}]})
}

fn cell(kind: &str, text: &str) -> Value {
    json!({"type": kind, "content": [paragraph(text)]})
}

/// A picture of one pixel.
const PNG: &[u8] = &[
    0x89, b'P', b'N', b'G', 13, 10, 26, 10, 0, 0, 0, 13, b'I', b'H', b'D', b'R', 0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0,
    0x3a, 0x7e, 0x9b, 0x55, 0, 0, 0, 10, b'I', b'D', b'A', b'T', 0x78, 0x9c, 0x63, 0x60, 0, 0, 0, 2, 0, 1, 0x48, 0xaf,
    0xa4, 0x71, 0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82,
];

#[test]
fn document_with_every_element_has_a_structure_for_assistive_technology() {
    let link = json!([{"type": "link", "attrs": {"href": "https://example.org/map"}}]);
    let blocks = json!([
        {"type": "heading", "attrs": {"level": 1}, "content": [{"type": "text", "text": "The river"}]},
        {"type": "paragraph", "content": [
            {"type": "text", "text": "See "},
            {"type": "text", "text": "the map", "marks": link},
            {"type": "footnote", "attrs": {"text": "Measured in March."}},
            {"type": "image", "attrs": {"src": "map.png", "alt": "A map of the river"}},
        ]},
        {"type": "ordered_list", "attrs": {"start": 3}, "content": [{"type": "list_item", "content": [paragraph("third")]}]},
        {"type": "table", "content": [
            {"type": "table_row", "content": [cell("table_header", "Year"), cell("table_header", "Level")]},
            {"type": "table_row", "content": [cell("table_cell", "2026"), cell("table_cell", "")]},
        ]},
        {"type": "island_block", "attrs": {"id": "c1", "label": "Chart of levels", "kind": "chart"}},
        {"type": "blockquote", "content": [paragraph("quoted")]},
    ]);
    let png = |picture: PictureRef<'_>| (picture == PictureRef::Image("map.png")).then(|| PNG.to_vec());
    let pdf = try_render(blocks, &png).unwrap();
    assert!(pdf.is_accessible());

    let structure = structure(&pdf);
    let mut rest = structure.iter();
    for expected in [
        "H1",
        "\"The river\"",
        "P",
        "Link",
        "\"the map\"",
        "Reference",
        "Figure",
        "Note",
        "\"1 Measured in March.\"",
        "L",
        "LI",
        "Lbl",
        "\"3.\"",
        "LBody",
        "\"third\"",
        "Table",
        "TR",
        "TH",
        "\"Year\"",
        "TH",
        "TR",
        "TD",
        "\"2026\"",
        "TD",
        "\"[Chart of levels]\"",
        "BlockQuote",
        "\"quoted\"",
    ] {
        let is_found = |line: &String| line == expected || line.split([' ', ':', '(']).next() == Some(expected);
        assert!(rest.any(is_found), "{expected} in {structure:#?}");
    }
    let info = poppler("pdfinfo", &[], &pdf.bytes);
    for line in [
        "Title:           River",
        "Tagged:          yes",
        "PDF subtype:     PDF/UA-1",
    ] {
        assert!(
            info.contains(line) || line.starts_with("PDF subtype"),
            "{line} in {info}"
        );
    }
}

#[test]
fn headings_skip_no_level() {
    let tags = |levels: &[u16]| {
        let heading = |level| json!({"type": "heading", "attrs": {"level": level}, "content": [{"type": "text", "text": "Title"}]});
        let blocks = levels.iter().map(|level| heading(*level)).collect();
        let structure = structure(&rendered(blocks));
        let tags = structure.iter().filter_map(|line| line.split([' ', ':', '(']).next());
        let tags = tags.filter(|tag| tag.starts_with('H') && tag.len() == 2);
        tags.map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(tags(&[1, 2, 3, 2, 1]), "H1 H2 H3 H2 H1");
    assert_eq!(tags(&[4, 4, 4]), "H1 H1 H1");
    assert_eq!(tags(&[1, 3, 2, 4, 4, 1]), "H1 H2 H2 H3 H3 H1");
    assert_eq!(tags(&[3, 1, 4]), "H1 H1 H2");
}

#[test]
fn text_is_in_reading_order_with_page_number_and_characters_without_glyph() {
    let pdf = rendered(json!([paragraph("one 😀 ﬁ ä 水 مرحبا"), paragraph("two")]));
    let text = text(&pdf);
    let places: Vec<_> = ["one", "😀", "ä", "two"].iter().map(|word| text.find(word)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
    assert!(text.trim_end().ends_with('1'), "page number in {text}");
}

#[test]
fn control_characters_and_empty_blocks_are_left_out() {
    let pdf = rendered(json!([paragraph("a\u{1}b\u{feff}c\u{0}\td"), paragraph(""), {"type": "code_block"}]));
    assert!(text(&pdf).contains("abc"), "{}", text(&pdf));
}

#[test]
fn long_document_continues_on_further_pages() {
    let blocks: Vec<Value> = (0..200)
        .map(|number| paragraph(&format!("Paragraph {number}")))
        .collect();
    let pdf = rendered(Value::from(blocks));
    assert!((4..12).contains(&pages(&pdf)), "{}", pages(&pdf));
    assert!(text(&pdf).contains("Paragraph 199"));

    let breaks = json!([paragraph("a"), {"type": "page_break"}, paragraph("b")]);
    assert_eq!(pages(&rendered(breaks)), 2);
}

#[test]
fn heading_is_not_the_last_line_of_a_page() {
    for lines in 30..50 {
        let mut blocks: Vec<Value> = (0..lines).map(|number| paragraph(&format!("line {number}"))).collect();
        blocks
            .push(json!({"type": "heading", "attrs": {"level": 2}, "content": [{"type": "text", "text": "Heading"}]}));
        blocks.push(paragraph("below"));
        let text = text(&rendered(Value::from(blocks)));
        let page = text.split('\u{c}').find(|page| page.contains("Heading")).unwrap();
        assert!(page.contains("below"), "{lines} lines: {text}");
    }
}

#[test]
fn row_higher_than_a_page_is_divided_and_keeps_its_text() {
    let paragraphs: Vec<Value> = (0..150).map(|number| paragraph(&format!("line {number}"))).collect();
    let high = json!({"type": "table_cell", "content": paragraphs});
    let table =
        json!({"type": "table", "content": [{"type": "table_row", "content": [high, cell("table_cell", "aside")]}]});
    let pdf = rendered(json!([table]));
    assert!(pages(&pdf) > 2);
    let text = text(&pdf);
    assert!((0..150).all(|number| text.contains(&format!("line {number}"))) && text.contains("aside"));
}

#[test]
fn table_with_any_spans_keeps_its_text() {
    let span = |columns: u32, rows: u32, text: &str| {
        let attrs = json!({"colspan": columns, "rowspan": rows, "colwidth": [null, 10_000]});
        json!({"type": "table_cell", "attrs": attrs, "content": [paragraph(text)]})
    };
    for (columns, rows) in [(1, 1), (2, 1), (1, 3), (3, 10_000), (1_000, 10_000), (40, 2)] {
        let row = |name: &str| json!({"type": "table_row", "content": [span(columns, rows, &format!("{name}1")), span(1, 1, &format!("{name}2"))]});
        let table = json!({"type": "table", "content": [row("a"), {"type": "table_row"}, row("b"), row("c")]});
        let text = text(&rendered(json!([table])));
        assert!(
            ["a1", "a2", "b1", "b2", "c1", "c2"]
                .iter()
                .all(|name| text.contains(name)),
            "{columns}×{rows}: {text}"
        );
    }
    rendered(json!([{"type": "table", "content": [{"type": "table_row"}]}]));
}

#[test]
fn deeply_nested_document_is_rendered() {
    let wrap = |kind: &str, child: Value| match kind {
        "quote" => json!({"type": "blockquote", "content": [child]}),
        "list" => {
            json!({"type": "bullet_list", "content": [{"type": "list_item", "content": [paragraph("x"), child]}]})
        }
        _ => {
            json!({"type": "table", "content": [{"type": "table_row", "content": [{"type": "table_cell", "content": [child]}]}]})
        }
    };
    for (kind, levels) in [("quote", 46), ("list", 22), ("table", 14)] {
        let nested = (0..levels).fold(paragraph("innermost"), |child, _| wrap(kind, child));
        let text = text(&rendered(json!([nested])));
        assert!(text.replace('\n', "").contains("innermost"), "{kind}: {text}");
    }
}

#[test]
fn damaged_picture_is_printed_as_its_description() {
    let image =
        json!([{"type": "paragraph", "content": [{"type": "image", "attrs": {"src": "a.png", "alt": "A map"}}]}]);
    let cut = PNG.len() - 30;
    for bytes in [
        Vec::new(),
        b"no picture".to_vec(),
        PNG[..cut].to_vec(),
        b"\xff\xd8\xff\xe0".to_vec(),
        b"GIF89a".to_vec(),
    ] {
        let pdf = try_render(image.clone(), &|_| Some(bytes.clone())).unwrap();
        assert!(pdf.is_accessible() && text(&pdf).contains("A map"), "{bytes:?}");
    }
}

#[test]
fn document_with_too_many_pages_is_rejected() {
    let blocks = vec![json!({"type": "page_break"}); 2_001];
    assert_eq!(
        try_render(Value::from(blocks), &no_picture).err(),
        Some(PdfError::TooManyPages)
    );
    let text = paragraph(&"x".repeat(2_000_000));
    assert_eq!(try_render(json!([text]), &no_picture).err(), Some(PdfError::TooLarge));
}
