//! Writes a small valid PDF from lines of text and extracts the text of such a PDF. Helvetica with `WinAnsi` encoding
//! only: other characters become question marks.

use std::fmt::Write as _;

const WIDTH: u32 = 595;
const HEIGHT: u32 = 842;
const MARGIN: u32 = 57;
const SIZE: u32 = 11;
const LEADING: u32 = 15;

/// Widths of Helvetica for the characters 32 to 126, in thousandths of the font size.
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
];

/// The `WinAnsi` characters from 128 to 159; NUL where undefined.
const HIGH: [char; 32] = [
    '€', '\0', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\0', 'Ž', '\0', '\0', '‘', '’', '“', '”', '•',
    '–', '—', '˜', '™', 'š', '›', 'œ', '\0', 'ž', 'Ÿ',
];

fn encode(character: char) -> u8 {
    if character == '\t' {
        return b' ';
    }
    let code = u32::from(character);
    if (32..127).contains(&code) || (160..256).contains(&code) {
        return u8::try_from(code).expect("the code is below 256");
    }
    let high = HIGH.iter().position(|known| *known == character && character != '\0');
    high.map_or(b'?', |at| 128 + u8::try_from(at).expect("the table has 32 entries"))
}

fn decode(byte: u8) -> char {
    match byte {
        128..=159 => HIGH[usize::from(byte - 128)],
        _ => char::from(byte),
    }
}

fn width(text: &[u8]) -> u32 {
    let thousandths: u32 = text
        .iter()
        .map(|byte| match byte {
            32..=126 => u32::from(WIDTHS[usize::from(byte - 32)]),
            _ => 600,
        })
        .sum();
    thousandths * SIZE / 1000
}

/// Wraps a paragraph at spaces, and within words that are wider than the page.
fn wrap(line: &str) -> Vec<Vec<u8>> {
    let room = WIDTH - 2 * MARGIN;
    let mut rows = vec![Vec::new()];
    for word in line.split(' ') {
        let word: Vec<u8> = word.chars().map(encode).collect();
        let row = rows.last_mut().expect("there is always one row");
        let needed = width(row) + width(b" ") + width(&word);
        if !row.is_empty() && needed <= room {
            row.push(b' ');
            row.extend(&word);
            continue;
        }
        if !row.is_empty() {
            rows.push(Vec::new());
        }
        for byte in word {
            let row = rows.last_mut().expect("there is always one row");
            if width(row) + width(&[byte]) > room {
                rows.push(vec![byte]);
            } else {
                row.push(byte);
            }
        }
    }
    rows
}

fn string_literal(row: &[u8]) -> String {
    let mut text = String::from("(");
    for byte in row {
        match byte {
            b'(' | b')' | b'\\' => {
                text.push('\\');
                text.push(char::from(*byte));
            }
            32..=126 => text.push(char::from(*byte)),
            _ => write!(text, "\\{byte:03o}").expect("writing to a string does not fail"),
        }
    }
    text.push(')');
    text
}

/// Returns a PDF with A4 pages and the title in its metadata.
pub fn document(title: &str, lines: &[String]) -> Vec<u8> {
    let rows: Vec<Vec<u8>> = lines.iter().flat_map(|line| wrap(line)).collect();
    let per_page = usize::try_from((HEIGHT - 2 * MARGIN) / LEADING).expect("a few dozen");
    let mut pages: Vec<&[Vec<u8>]> = rows.chunks(per_page).collect();
    if pages.is_empty() {
        pages.push(&[]);
    }
    // Objects: 1 catalog, 2 page tree, 3 font, 4 metadata, then alternately page and content.
    let kids: Vec<String> = (0..pages.len()).map(|page| format!("{} 0 R", 5 + 2 * page)).collect();
    let title: String = title.encode_utf16().fold("FEFF".into(), |mut text, unit| {
        write!(text, "{unit:04X}").expect("writing to a string does not fail");
        text
    });
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
        format!("<< /Title <{title}> /Producer (document server simulator) >>"),
    ];
    for (number, page) in pages.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Resources << /Font << /F1 3 0 R >> >> /Contents {} 0 R >>",
            6 + 2 * number
        ));
        let top = HEIGHT - MARGIN - SIZE;
        let mut content = format!("BT /F1 {SIZE} Tf {LEADING} TL {MARGIN} {top} Td\n");
        for row in *page {
            content.push_str(&string_literal(row));
            content.push_str(" Tj T*\n");
        }
        content.push_str("ET\n");
        objects.push(format!("<< /Length {} >>\nstream\n{content}endstream", content.len()));
    }
    assemble(&objects)
}

fn assemble(objects: &[String]) -> Vec<u8> {
    // Bytes above 127 in the second line mark the file as binary.
    let mut bytes = b"%PDF-1.4\n%\xE2\xE3\xCF\xD3\n".to_vec();
    let mut table = String::new();
    for (number, object) in objects.iter().enumerate() {
        writeln!(table, "{:010} 00000 n ", bytes.len()).expect("writing to a string does not fail");
        bytes.extend(format!("{} 0 obj\n{object}\nendobj\n", number + 1).bytes());
    }
    let (start, count) = (bytes.len(), objects.len() + 1);
    let tail = format!(
        "xref\n0 {count}\n0000000000 65535 f \n{table}trailer\n<< /Size {count} /Root 1 0 R /Info 4 0 R >>\nstartxref\n{start}\n%%EOF\n"
    );
    bytes.extend(tail.bytes());
    bytes
}

/// Returns the text of a PDF made by [`document`], row by row; none for other bytes.
pub fn text(bytes: &[u8]) -> Option<String> {
    if !bytes.starts_with(b"%PDF-") {
        return None;
    }
    let body: String = bytes.iter().copied().map(char::from).collect();
    let rows = body
        .lines()
        .filter_map(|line| line.strip_suffix(") Tj T*")?.strip_prefix('('));
    Some(rows.map(unescape).collect::<Vec<String>>().join("\n"))
}

fn unescape(row: &str) -> String {
    let mut text = String::new();
    let mut rest = row;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(byte) = rest.get(..3).and_then(|octal| u8::from_str_radix(octal, 8).ok()) {
            text.push(decode(byte));
            rest = &rest[3..];
        } else {
            text.extend(rest.chars().next());
            rest = rest.get(1..).unwrap_or("");
        }
    }
    text + rest
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn pdf_text_roundtrips_special_characters() {
        let lines = vec!["Grüße (schön) \\ 5 €".to_owned(), String::new(), "Ende „so“".to_owned()];
        let pdf = document("Größe", &lines);
        assert_eq!(text(&pdf).unwrap(), lines.join("\n"));
        assert_eq!(text(b"PK"), None);
    }

    #[test]
    fn long_pdf_has_pages_and_valid_xref() {
        let long = "word ".repeat(400);
        let pdf = document("T", &vec![long; 20]);
        // Every byte above 127 becomes one dot, which keeps the offsets.
        let body: String = pdf
            .iter()
            .map(|b| if b.is_ascii() { char::from(*b) } else { '.' })
            .collect();
        assert!(body.matches("/Type /Page ").count() > 3);
        let start: usize = body
            .rsplit("startxref\n")
            .next()
            .unwrap()
            .lines()
            .next()
            .unwrap()
            .parse()
            .unwrap();
        assert!(body[start..].starts_with("xref\n"));
        for (number, entry) in body[start..].lines().skip(3).take(4).enumerate() {
            let at: usize = entry[..10].parse().unwrap();
            assert!(body[at..].starts_with(&format!("{} 0 obj", number + 1)));
        }
    }

    #[test]
    fn word_wider_than_page_is_wrapped() {
        let rows = wrap(&"x".repeat(500));
        assert!(rows.len() > 1);
        assert!(rows.iter().all(|row| width(row) <= WIDTH - 2 * MARGIN));
    }
}
