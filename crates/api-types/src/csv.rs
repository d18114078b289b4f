//! CSV output (RFC 4180) that is safe against formula injection in spreadsheets.

/// Returns a row, terminated by CRLF. Cells are quoted where necessary.
pub fn format_row<T: AsRef<str>>(cells: impl IntoIterator<Item = T>) -> String {
    format_row_with(',', cells)
}

/// Like [`line`], with another delimiter.
pub fn format_row_with<T: AsRef<str>>(delimiter: char, cells: impl IntoIterator<Item = T>) -> String {
    let mut line = String::new();
    for (index, text) in cells.into_iter().enumerate() {
        if index > 0 {
            line.push(delimiter);
        }
        cell(&mut line, text.as_ref());
    }
    line.push_str("\r\n");
    line
}

fn cell(line: &mut String, text: &str) {
    // Spreadsheets evaluate a cell that begins like a formula; a leading apostrophe turns it into text.
    let is_formula = is_formula(text);
    let is_special = text.contains([',', ';', '\t', '"', '\r', '\n']) || text.trim() != text;
    if !is_formula && !is_special {
        line.push_str(text);
        return;
    }
    line.push('"');
    if is_formula {
        line.push('\'');
    }
    line.push_str(&text.replace('"', "\"\""));
    line.push('"');
}

/// Returns whether a text has to be prefixed with an apostrophe. This includes formulas that already have such a
/// prefix, so that [`unescape`] restores the original text.
fn is_formula(text: &str) -> bool {
    let begin = text.trim_start_matches('\'');
    begin.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'])
}

/// Returns the text of a cell as it was before [`format_row`] prefixed it.
pub fn unescape(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|rest| is_formula(rest)).unwrap_or(cell)
}

#[cfg(test)]
mod tests {
    use super::{format_row, format_row_with, unescape};

    #[test]
    fn csv_cell_is_quoted_only_if_required() {
        assert_eq!(format_row(["a", "", "b c", "ä"]), "a,,b c,ä\r\n");
        assert_eq!(
            format_row(["a,b", "say \"hi\"", "two\nlines"]),
            "\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\"\r\n"
        );
    }

    #[test]
    fn csv_formula_is_escaped_as_text() {
        assert_eq!(
            format_row(["=1+1", "+1", "-1", "@x", "\tx"]),
            "\"'=1+1\",\"'+1\",\"'-1\",\"'@x\",\"'\tx\"\r\n"
        );
        assert_eq!(format_row(["7b", "1-2"]), "7b,1-2\r\n");
        assert_eq!(format_row_with(';', ["a", "b;c", "=1"]), "a;\"b;c\";\"'=1\"\r\n");
    }

    #[test]
    fn escaped_csv_formula_is_read_back_unchanged() {
        for text in ["=1+1", "'=1", "''-x", "'quoted'", "7b", "-", "+1"] {
            let written = format_row([text]);
            let cell = written.trim_end().trim_matches('"');
            assert_eq!(unescape(cell), text);
        }
    }
}
