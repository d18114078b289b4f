//! Percent-encoding exactly like `encodeURIComponent` and `decodeURIComponent` of JavaScript. For cookie values only;
//! paths and queries of URLs follow other rules.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The characters that `encodeURIComponent` escapes: all but alphanumeric characters and `- _ . ! ~ * ' ( )`.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

/// Escapes text like `encodeURIComponent`.
pub fn encode(text: &str) -> String {
    utf8_percent_encode(text, COMPONENT).to_string()
}

/// Decodes text; text with invalid escapes is returned unchanged, as in the library.
pub fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains('%') || !is_properly_escaped(text) {
        return Cow::Borrowed(text);
    }
    percent_decode_str(text).decode_utf8().unwrap_or(Cow::Borrowed(text))
}

fn is_properly_escaped(text: &str) -> bool {
    text.split('%').skip(1).all(|rest| {
        let digits = rest.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_match_javascript() {
        let kept = "ABCxyz019-_.!~*'()";
        assert_eq!(encode(kept), kept);
        assert_eq!(
            encode(" \"#$%&+,/:;<=>?@[\\]^`{|}"),
            "%20%22%23%24%25%26%2B%2C%2F%3A%3B%3C%3D%3E%3F%40%5B%5C%5D%5E%60%7B%7C%7D"
        );
        assert_eq!(encode("é\u{1f600}\0"), "%C3%A9%F0%9F%98%80%00");
    }

    #[test]
    fn escapes_are_decoded_in_either_case() {
        assert_eq!(decode("%C3%A9%2b%2B"), "é++");
        assert_eq!(decode("plain+text"), "plain+text");
    }

    #[test]
    fn invalid_escapes_are_kept() {
        for text in ["100%", "%zz", "%ff", "%4", "%41%zz", "%41%ff", "%%41"] {
            assert_eq!(decode(text), text);
        }
    }
}
