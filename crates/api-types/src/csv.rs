//! Lines of comma-separated values as RFC 4180 wants them, with nothing in them that a spreadsheet would run.

/// One line with its end; every cell is quoted where it has to be.
pub fn line<T: AsRef<str>>(cells: impl IntoIterator<Item = T>) -> String {
    line_between(',', cells)
}

/// The same with another character between the cells.
pub fn line_between<T: AsRef<str>>(delimiter: char, cells: impl IntoIterator<Item = T>) -> String {
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
    // A spreadsheet takes a cell that begins like this for a formula and runs it; the quote makes it text.
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

/// Whether a text gets a quote before it. One that has such quotes already gets one more, so that none is lost on the way
/// back.
fn is_formula(text: &str) -> bool {
    let begin = text.trim_start_matches('\'');
    begin.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'])
}

/// The text of a cell as it was before [`line`] made it harmless.
pub fn plain(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|rest| is_formula(rest)).unwrap_or(cell)
}

#[cfg(test)]
mod tests {
    use super::{line, line_between, plain};

    #[test]
    fn cells_are_quoted_only_where_they_must_be() {
        assert_eq!(line(["a", "", "b c", "ä"]), "a,,b c,ä\r\n");
        assert_eq!(
            line(["a,b", "say \"hi\"", "two\nlines"]),
            "\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\"\r\n"
        );
    }

    #[test]
    fn formulas_become_text() {
        assert_eq!(
            line(["=1+1", "+1", "-1", "@x", "\tx"]),
            "\"'=1+1\",\"'+1\",\"'-1\",\"'@x\",\"'\tx\"\r\n"
        );
        assert_eq!(line(["7b", "1-2"]), "7b,1-2\r\n");
        assert_eq!(line_between(';', ["a", "b;c", "=1"]), "a;\"b;c\";\"'=1\"\r\n");
    }

    #[test]
    fn what_was_made_text_comes_back_as_it_was() {
        for text in ["=1+1", "'=1", "''-x", "'quoted'", "7b", "-", "+1"] {
            let written = line([text]);
            let cell = written.trim_end().trim_matches('"');
            assert_eq!(plain(cell), text);
        }
    }
}
