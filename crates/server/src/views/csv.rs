//! Lines of comma-separated values as RFC 4180 wants them, with nothing in them that a spreadsheet would run.

/// One line with its end; every cell is quoted where it has to be.
pub fn line<T: AsRef<str>>(cells: impl IntoIterator<Item = T>) -> String {
    let mut line = String::new();
    for (index, text) in cells.into_iter().enumerate() {
        if index > 0 {
            line.push(',');
        }
        cell(&mut line, text.as_ref());
    }
    line.push_str("\r\n");
    line
}

fn cell(line: &mut String, text: &str) {
    // A spreadsheet takes a cell that begins like this for a formula and runs it; the quote makes it text.
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    let is_special = text.contains([',', ';', '"', '\r', '\n']) || text.trim() != text;
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

#[cfg(test)]
mod tests {
    use super::line;

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
    }
}
