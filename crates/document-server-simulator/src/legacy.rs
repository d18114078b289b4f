//! The text of files in older Office formats, as much of it as a test needs: readable runs of .doc, .xls and .ppt, and the
//! text of .rtf without its control words. Nothing here checks more than the first bytes and the names of the streams.

use crate::blank;
use crate::ooxml::{self, DocumentError};

/// The first bytes of a compound file.
const COMPOUND: &[u8] = b"\xd0\xcf\x11\xe0";
/// The shortest run of characters that counts as text.
const RUN: usize = 4;

/// Whether the bytes begin as a file of an older Office format, or as an encrypted one of any format.
pub(crate) fn is_legacy(bytes: &[u8]) -> bool {
    bytes.starts_with(COMPOUND) || bytes.starts_with(b"{\\rtf")
}

/// The lines of such a file. The error is the one of the protocol.
pub(crate) fn lines(bytes: &[u8]) -> Result<Vec<String>, i64> {
    if bytes.starts_with(b"{\\rtf") {
        return Ok(rtf_lines(bytes));
    }
    let has = |name: &str| {
        let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        bytes.windows(name.len()).any(|window| window == name)
    };
    let known = ["WordDocument", "Workbook", "Book", "PowerPoint Document"];
    if has("EncryptedPackage") || !known.iter().any(|name| has(name)) {
        return Err(-5);
    }
    Ok(runs(&bytes[COMPOUND.len()..]))
}

/// A document of this type with the lines of such a file.
pub(crate) fn converted(bytes: &[u8], output: &str) -> Result<Vec<u8>, i64> {
    ooxml::write(&blank::document(output), &lines(bytes)?)
        .map_err(|unreadable| if unreadable == DocumentError::TooLarge { -10 } else { -3 })
}

/// Runs of printable characters of one byte. Names of streams have two bytes for each character and are none.
fn runs(bytes: &[u8]) -> Vec<String> {
    bytes
        .split(|byte| !(byte.is_ascii_graphic() || *byte == b' '))
        .filter(|run| run.len() >= RUN)
        .map(|run| String::from_utf8_lossy(run).into_owned())
        .collect()
}

/// Text outside of control words and of groups that hold none of it.
fn rtf_lines(bytes: &[u8]) -> Vec<String> {
    let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    let mut rest = text.as_str();
    let (mut depth, mut hidden_below) = (0_usize, usize::MAX);
    let (mut lines, mut line) = (Vec::new(), String::new());
    while let Some(next) = rest.chars().next() {
        rest = &rest[next.len_utf8()..];
        match next {
            '{' => {
                depth += 1;
                let is_hidden = ["\\fonttbl", "\\colortbl", "\\stylesheet", "\\info", "\\*"]
                    .iter()
                    .any(|word| rest.starts_with(word));
                if is_hidden {
                    hidden_below = hidden_below.min(depth);
                }
            }
            '}' => {
                if depth == hidden_below {
                    hidden_below = usize::MAX;
                }
                depth = depth.saturating_sub(1);
            }
            '\\' => {
                let word: String = rest.chars().take_while(char::is_ascii_alphabetic).collect();
                rest = &rest[word.len()..];
                if word.is_empty() {
                    // \'hh is a character, \{ and \} are braces.
                    let hex = rest.strip_prefix('\'').and_then(|hex| hex.get(..2));
                    let code = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
                    let symbol = code.map(char::from).or_else(|| rest.chars().next());
                    let length = if code.is_some() {
                        3
                    } else {
                        symbol.map_or(0, char::len_utf8)
                    };
                    rest = &rest[length..];
                    if depth < hidden_below {
                        line.extend(symbol);
                    }
                    continue;
                }
                let number: usize = rest
                    .chars()
                    .take_while(|c| c.is_ascii_digit() || *c == '-')
                    .map(char::len_utf8)
                    .sum();
                rest = &rest[number..];
                rest = rest.strip_prefix(' ').unwrap_or(rest);
                if matches!(word.as_str(), "par" | "line") {
                    lines.push(std::mem::take(&mut line));
                }
            }
            '\r' | '\n' => {}
            other if depth < hidden_below => line.push(other),
            _ => {}
        }
    }
    lines.push(line);
    lines.retain(|line| !line.trim().is_empty());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rtf_text_is_read_without_its_control_words() {
        let rtf =
            br"{\rtf1\ansi{\fonttbl{\f0 Arial;}}{\*\generator Word;}\f0\fs24 Gr\'fc\'dfe \{us\}\par Second\b0  line.}";
        assert_eq!(lines(rtf), Ok(vec!["Grüße {us}".to_owned(), "Second line.".to_owned()]));
    }

    #[test]
    fn compound_file_without_a_known_stream_is_protected() {
        assert_eq!(lines(COMPOUND), Err(-5));
        assert!(is_legacy(COMPOUND) && !is_legacy(b"PK\x03\x04"));
    }
}
