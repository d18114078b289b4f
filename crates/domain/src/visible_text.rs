//! Checks that a single-line text has a visible character and no hidden ones. Otherwise a student could choose a name
//! that looks like that of a teacher, or an invisible name.

use crate::text::TextError;

/// Rejects a text without a visible character or with hidden characters. Empty texts are checked elsewhere.
pub fn check(text: &str) -> Result<(), TextError> {
    if text.is_ascii() {
        // Control characters were rejected before, and a trimmed text does not consist of spaces.
        return Ok(());
    }
    let characters: Vec<char> = text.chars().collect();
    for (index, character) in characters.iter().enumerate() {
        let before = index.checked_sub(1).map(|index| characters[index]);
        let after = characters.get(index + 1).copied();
        if is_hidden(*character) && !is_part_of_sign(before, *character, after) {
            return Err(TextError::HiddenCharacter);
        }
    }
    let is_visible = |character: &char| !character.is_whitespace() && !is_hidden(*character) && !is_blank(*character);
    if characters.iter().any(is_visible) {
        Ok(())
    } else {
        Err(TextError::Invisible)
    }
}

/// Returns whether the character is hidden: format controls (bidirectional marks, zero-width characters, tags), line
/// separators, and characters that renderers ignore. Visible characters of these categories, such as the Arabic number
/// sign, are not included.
pub fn is_hidden(character: char) -> bool {
    matches!(character,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
        | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}'
        | '\u{FFFE}' | '\u{FFFF}' | '\u{13430}'..='\u{1343F}' | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Returns whether the character has a width but no glyph, apart from white space.
fn is_blank(character: char) -> bool {
    matches!(character, '\u{2800}' | '\u{1D159}')
}

/// Returns whether the character joins or modifies adjacent characters, as in emoji, keycaps and ideographic variants.
fn is_part_of_sign(before: Option<char>, character: char, after: Option<char>) -> bool {
    let is_sign = |character: char| matches!(character, '\u{2190}'..='\u{2BFF}' | '\u{1F000}'..='\u{1FAFF}');
    let is_ideograph = |character: char| matches!(character, '\u{2E80}'..='\u{2FDF}' | '\u{3001}'..='\u{3163}' | '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}');
    let Some(before) = before else { return false };
    match character {
        '\u{200D}' => (is_sign(before) || before == '\u{FE0F}') && after.is_some_and(is_sign),
        '\u{FE0F}' if matches!(before, '0'..='9' | '#' | '*') => after == Some('\u{20E3}'),
        '\u{FE00}'..='\u{FE0F}' => is_sign(before) || is_ideograph(before),
        '\u{E0100}'..='\u{E01EF}' => is_ideograph(before),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::{Name, Title};

    #[test]
    fn indistinguishable_names_are_rejected() {
        for hidden in [
            "Ada\u{200B} Teacher",
            "Ada\u{200D}Teacher",
            "Ada\u{200C}Teacher",
            "\u{202E}rehcaeT adA",
            "Ada \u{2066}Teacher\u{2069}",
            "Ada Teacher\u{FEFF}",
            "Ada\u{00AD}Teacher",
            "Ada\u{034F} Teacher",
            "Ada\u{FE0F} Teacher",
            "Ada\u{2028}Teacher",
            "\u{3164}",
            "Ada\u{E0041}",
        ] {
            assert_eq!(Name::try_from(hidden), Err(TextError::HiddenCharacter), "{hidden:?}");
        }
        assert_eq!(Name::try_from("\u{2800}\u{2800}"), Err(TextError::Invisible));
    }

    #[test]
    fn names_and_titles_of_all_scripts_are_allowed() {
        for name in [
            "Ada",
            "Zo\u{eb}",
            "Nguy\u{1ec5}n",
            "\u{5b89}\u{8fbb}\u{E0100}",
            "\u{0639}\u{0644}\u{064A}",
            "e\u{301}va",
        ] {
            assert!(Name::try_from(name).is_ok(), "{name:?}");
        }
        for title in [
            "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467} Familie",
            "\u{2764}\u{FE0F} Biologie",
            "1\u{FE0F}\u{20E3} Anfang",
        ] {
            assert!(Title::try_from(title).is_ok(), "{title:?}");
        }
    }

    proptest! {
        #[test]
        fn allowed_name_is_visible(text in "\\PC{0,12}") {
            if let Ok(name) = Name::try_from(text.as_str()) {
                let shows = |character: char| !character.is_whitespace() && !is_hidden(character);
                prop_assert!(name.as_str().chars().any(shows));
            }
        }
    }
}
