//! Names of uploaded files: displayed to users, and sanitized for headers and the file systems of clients. They are
//! never used as local paths.

use std::collections::HashSet;

use domain::text::FileName;
use unicode_normalization::UnicodeNormalization as _;

/// The maximum length in bytes. Most file systems allow 255, and browsers append to names ("name (1).pdf").
const MAX_BYTES: usize = 230;
/// Characters that Windows does not allow in names. Slashes are removed earlier.
const FORBIDDEN_CHARACTERS: &[char] = &['<', '>', ':', '"', '|', '?', '*', '/', '\\'];
/// Names that Windows reserves for devices, with any extension.
const DEVICES: &[&str] = &["con", "prn", "aux", "nul"];

/// Sanitizes an uploaded file name: removes folders, invisible characters and bidirectional marks.
pub fn sanitize(original: &str) -> FileName {
    let last = original.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_visible = |character: &char| !character.is_control() && !is_invisible(*character);
    let plain = last
        .chars()
        .filter(is_visible)
        .collect::<String>()
        .replace(FORBIDDEN_CHARACTERS, "_");
    let trimmed = plain.trim_matches(|character: char| character.is_whitespace() || character == '.');
    // "..docx" has lost its only dot: an extension without a name is left.
    let only_extension = plain.trim_start().starts_with('.') && !trimmed.contains('.') && !trimmed.is_empty();
    let named = match trimmed {
        "" => "file".to_owned(),
        extension if only_extension => format!("file.{extension}"),
        name if is_device(name) => format!("_{name}"),
        name => name.to_owned(),
    };
    FileName::stored(shortened(&named))
}

/// Returns the file name for a title and an extension, sanitized like [`sanitize`].
pub fn from_title(title: &str, extension: &str) -> FileName {
    // A slash in a title is not a folder.
    let flat = title.replace(FORBIDDEN_CHARACTERS, "_");
    sanitize(&format!("{flat}.{extension}"))
}

/// The maximum length of a name in an archive, in characters.
const ENTRY_MAX: usize = 100;
/// The maximum length without the longest extension.
const STEM_MAX: usize = ENTRY_MAX - ".docx".len();

/// The names in one folder of an archive: flat, sanitized, and unique on every file system.
#[derive(Debug, Default)]
pub struct EntryNames(HashSet<String>);

impl EntryNames {
    /// Creates a folder in which these names are taken.
    pub fn with_reserved(taken: &[&str]) -> Self {
        Self(taken.iter().map(|name| case_folded(name)).collect())
    }

    /// Returns a unique name for a title, without extension; adds a number if it is taken. The name is reserved for
    /// all extensions, so that a document and its PDF can share it.
    pub fn assign(&mut self, title: &str) -> String {
        let whole = from_title(title, "docx");
        let name = shortened_to(stem(whole.as_str()), STEM_MAX);
        let mut free = name.clone();
        let mut count = 1;
        while !self.0.insert(case_folded(&free)) {
            count += 1;
            let number = format!(" ({count})");
            free = format!("{}{number}", shortened_to(&name, STEM_MAX - number.len()));
        }
        free
    }
}

/// Normalizes a name as file systems that ignore case and Unicode composition compare it.
fn case_folded(name: &str) -> String {
    name.nfc().collect::<String>().to_uppercase().to_lowercase()
}

/// Truncates a name to a number of characters and to the byte limit, with room for an extension.
fn shortened_to(name: &str, characters: usize) -> String {
    let mut short = String::new();
    for character in name.chars().take(characters) {
        if short.len() + character.len_utf8() > MAX_BYTES - ".docx".len() {
            break;
        }
        short.push(character);
    }
    // Windows cannot open folders that end with a dot or a space.
    let end = short.trim_end_matches(|last: char| last.is_whitespace() || last == '.');
    if end.is_empty() {
        "file".to_owned()
    } else {
        end.to_owned()
    }
}

/// Returns a name without its extension.
pub fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Returns whether a character is invisible or changes the text direction (which makes "fdp.exe" look like
/// "exe.pdf"). Joiners are allowed: scripts and emoji need them.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{00AD}' | '\u{061C}' | '\u{180E}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{FFFE}' | '\u{FFFF}'
        | '\u{E0000}'..='\u{E007F}')
}

fn is_device(name: &str) -> bool {
    let first = name.split('.').next().unwrap_or_default().trim().to_ascii_lowercase();
    let numbered = |port: &str| {
        first
            .strip_prefix(port)
            .is_some_and(|number| matches!(number.as_bytes(), [b'0'..=b'9']))
    };
    DEVICES.contains(&first.as_str()) || numbered("com") || numbered("lpt")
}

/// Truncates a long name before its extension.
fn shortened(name: &str) -> String {
    if name.len() <= MAX_BYTES && name.chars().count() <= FileName::MAX {
        return name.to_owned();
    }
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) if extension.len() <= 10 => (stem, format!(".{extension}")),
        _ => (name, String::new()),
    };
    let mut short = String::new();
    for (count, character) in stem.chars().enumerate() {
        let fits = short.len() + character.len_utf8() + extension.len() <= MAX_BYTES;
        if !fits || count + extension.len() >= FileName::MAX {
            break;
        }
        short.push(character);
    }
    format!("{}{extension}", short.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_name_drops_folders_and_invisible_characters() {
        for (original, expected) in [
            ("../../etc/passwd", "passwd"),
            ("C:\\Users\\ada\\plan.docx", "plan.docx"),
            ("plan\u{202E}xcod.exe", "planxcod.exe"),
            ("a\0b\r\nc.pdf", "abc.pdf"),
            ("..", "file"),
            ("", "file"),
            (".htaccess", "file.htaccess"),
            ("...docx", "file.docx"),
            ("CON.txt", "_CON.txt"),
            ("com1", "_com1"),
            ("community.txt", "community.txt"),
            ("what?.pdf", "what_.pdf"),
            ("  spaced .pdf  ", "spaced .pdf"),
            ("plan.docx. . ", "plan.docx"),
            ("Grüße 👩‍👩‍👧.odt", "Grüße 👩‍👩‍👧.odt"),
        ] {
            assert_eq!(sanitize(original).as_str(), expected, "{original:?}");
        }
    }

    #[test]
    fn long_file_name_keeps_its_extension() {
        for letter in ["x", "ü", "👩"] {
            let name = sanitize(&format!("{}.docx", letter.repeat(400)));
            assert!(name.as_str().len() <= MAX_BYTES && name.check().is_ok(), "{name}");
            assert_eq!(
                name.as_str().rsplit_once('.').map(|(_, extension)| extension),
                Some("docx")
            );
        }
    }

    #[test]
    fn archive_file_names_are_flat_short_and_unique() {
        let mut names = EntryNames::with_reserved(&["index.csv"]);
        for (title, expected) in [
            ("Plan", "Plan"),
            ("PLAN", "PLAN (2)"),
            ("plan", "plan (3)"),
            ("Plan (2)", "Plan (2) (2)"),
            ("Grün", "Grün"),
            ("Gru\u{308}n", "Gru\u{308}n (2)"),
            ("../../x", "_.._x"),
            ("a/b\\c", "a_b_c"),
            ("CON", "_CON"),
            ("x\0y", "xy"),
            ("abc\u{202E}fdp", "abcfdp"),
            ("مرحبا", "مرحبا"),
            ("👩‍👩‍👧", "👩‍👩‍👧"),
            ("Ends. ", "Ends"),
            ("..", "file"),
            ("", "file (2)"),
            ("index.csv", "index.csv (2)"),
        ] {
            assert_eq!(names.assign(title), expected, "{title:?}");
        }
        for letter in ["x", "ü", "👩"] {
            let long = [names.assign(&letter.repeat(300)), names.assign(&letter.repeat(300))];
            assert!(long[1].ends_with(" (2)"), "{long:?}");
            for name in long {
                assert!(name.chars().count() <= STEM_MAX && name.len() <= MAX_BYTES, "{name}");
            }
        }
    }

    #[test]
    fn title_with_slash_keeps_both_parts() {
        assert_eq!(from_title("Plan 1/2", "docx").as_str(), "Plan 1_2.docx");
        assert_eq!(from_title("..", "pdf").as_str(), "file.pdf");
    }
}
