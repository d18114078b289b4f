//! Names people gave their files: kept for people to read, made harmless for headers and other machines' disks. They
//! never become a path of ours.

use model::text::FileName;

/// The longest name in bytes; most file systems stop at 255, and browsers add to it ("name (1).pdf").
const MAX_BYTES: usize = 230;
/// Characters that Windows refuses in names; a slash was cut away before.
const NOT_IN_NAMES: &[char] = &['<', '>', ':', '"', '|', '?', '*', '/', '\\'];
/// Names that Windows takes for devices, whatever follows the dot.
const DEVICES: &[&str] = &["con", "prn", "aux", "nul"];

/// A harmless form of the name a browser sent: no folders, nothing invisible, nothing that turns the reading direction.
pub fn safe(original: &str) -> FileName {
    let last = original.rsplit(['/', '\\']).next().unwrap_or_default();
    let visible = last
        .chars()
        .filter(|character| !character.is_control() && !is_invisible(*character));
    let plain: String = visible
        .map(|character| {
            if NOT_IN_NAMES.contains(&character) {
                '_'
            } else {
                character
            }
        })
        .collect();
    let trimmed = plain.trim_matches(|character: char| character.is_whitespace() || character == '.');
    // "..docx" has lost its only dot: what is left is an extension without a name.
    let only_extension = plain.trim_start().starts_with('.') && !trimmed.contains('.') && !trimmed.is_empty();
    let named = match trimmed {
        "" => "file".to_owned(),
        extension if only_extension => format!("file.{extension}"),
        name if is_device(name) => format!("_{name}"),
        name => name.to_owned(),
    };
    FileName::stored(shortened(&named))
}

/// The name of a file for a title and an extension, as harmless as [`safe`].
pub fn of_title(title: &str, extension: &str) -> FileName {
    // A slash in a title is no folder.
    let flat: String = title
        .chars()
        .map(|character| {
            if NOT_IN_NAMES.contains(&character) {
                '_'
            } else {
                character
            }
        })
        .collect();
    safe(&format!("{flat}.{extension}"))
}

/// A name without its extension.
pub fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Marks without width, and those that make "fdp.exe" read as "exe.pdf". Joiners stay: scripts and emoji need them.
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

/// Cuts a long name before its extension.
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
    fn folders_and_invisible_marks_are_gone() {
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
            assert_eq!(safe(original).as_str(), expected, "{original:?}");
        }
    }

    #[test]
    fn long_names_keep_their_extension() {
        for letter in ["x", "ü", "👩"] {
            let name = safe(&format!("{}.docx", letter.repeat(400)));
            assert!(name.as_str().len() <= MAX_BYTES && name.check().is_ok(), "{name}");
            assert_eq!(
                name.as_str().rsplit_once('.').map(|(_, extension)| extension),
                Some("docx")
            );
        }
    }

    #[test]
    fn a_title_with_a_slash_keeps_both_sides() {
        assert_eq!(of_title("Plan 1/2", "docx").as_str(), "Plan 1_2.docx");
        assert_eq!(of_title("..", "pdf").as_str(), "file.pdf");
    }
}
