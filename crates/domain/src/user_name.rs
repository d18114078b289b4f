//! User names for sign-in. A name is unique within the organization that created the account; `name@slug` names it on
//! the whole platform. A slug has no dot, so this form is never an email address.

use unicode_normalization::UnicodeNormalization as _;

use crate::collation::search_key;
use crate::text::{Slug, TextError, Username};

/// Maximum length of a user name with the short name of the organization.
pub const FULL_NAME_MAX: usize = Username::MAX + 1 + Slug::MAX;
/// Maximum length of a generated name, which leaves space for a number.
const GENERATED_MAX: usize = 40;
/// The user name of people whose name has no character that can be transliterated.
const FALLBACK: &str = "person";

/// A user name as typed at sign-in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedUserName {
    pub name: Username,
    /// The short name of the organization, after `@`.
    pub slug: Option<Slug>,
}

impl TypedUserName {
    /// Parses `name` or `name@slug`, regardless of case.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        let lower = text.trim().to_lowercase();
        let (name, slug) = match lower.rsplit_once('@') {
            Some((name, slug)) => (name, Some(Slug::try_from(slug)?)),
            None => (lower.as_str(), None),
        };
        Ok(Self {
            name: Username::try_from(name)?,
            slug,
        })
    }
}

/// Returns the form of a user name that is unique on the platform.
pub fn full_name(name: &Username, slug: &Slug) -> String {
    format!("{name}@{slug}")
}

/// Returns the user name for a new person, `first.last`.
pub fn generate(first_name: &str, last_name: &str) -> Username {
    // The first of several given names, as people are called.
    let first = part(first_name.split_whitespace().next().unwrap_or_default());
    let last = part(last_name);
    let joined = match (first.is_empty(), last.is_empty()) {
        (false, false) => format!("{first}.{last}"),
        _ => format!("{first}{last}"),
    };
    let name = limited(&joined, GENERATED_MAX);
    let name = if name.len() < Username::MIN { FALLBACK } else { name };
    Username::stored(name)
}

/// Returns the first of `base`, `base2`, `base3` .. that is not taken.
pub fn first_free(base: &Username, taken: impl Fn(&str) -> bool) -> Username {
    if !taken(base.as_str()) {
        return base.clone();
    }
    let mut number = 2_u32;
    loop {
        let numbered = format!("{base}{number}");
        if !taken(&numbered) {
            return Username::stored(numbered);
        }
        number += 1;
    }
}

/// Returns whether a name is `base`, possibly followed by a number.
pub fn is_numbered(name: &str, base: &Username) -> bool {
    name.strip_prefix(base.as_str())
        .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Cuts a text and removes the separators at its end.
fn limited(text: &str, max: usize) -> &str {
    text.get(..max).unwrap_or(text).trim_end_matches(['.', '-'])
}

/// Transliterates a first or last name. Other characters separate words.
fn part(name: &str) -> String {
    let mut spelled = String::new();
    for character in name.nfc().flat_map(char::to_lowercase) {
        match letters(character) {
            Some(letters) => spelled.push_str(letters),
            None => spelled.push(character),
        }
    }
    let mut part = String::new();
    for character in search_key(&spelled).chars() {
        match character {
            'a'..='z' | '0'..='9' => part.push(character),
            // A combining mark without a base character here, and apostrophes: O'Brien is obrien.
            '\'' | '’' | '‘' | 'ʼ' | '`' | '´' => {}
            _ if part.ends_with('-') || part.is_empty() => {}
            _ => part.push('-'),
        }
    }
    part.trim_end_matches('-').to_owned()
}

/// The transliteration of a lower-case character that has a usual one; accents are removed elsewhere.
#[rustfmt::skip]
#[expect(clippy::match_same_arms, reason = "grouped by script")]
const fn letters(character: char) -> Option<&'static str> {
    Some(match character {
        // German, Nordic and Polish.
        'ä' | 'æ' => "ae", 'ö' | 'œ' => "oe", 'ü' => "ue", 'ß' => "ss", 'ø' => "oe", 'å' => "aa",
        'ð' => "d", 'þ' => "th", 'ł' => "l", 'đ' => "d", 'ı' => "i", 'ħ' => "h", 'ŋ' => "ng",
        // Cyrillic.
        'а' => "a", 'б' => "b", 'в' => "v", 'г' | 'ґ' => "g", 'д' => "d", 'е' | 'э' => "e", 'ё' => "jo", 'є' => "je",
        'ж' => "zh", 'з' => "z", 'и' | 'і' => "i", 'ї' => "ji", 'й' | 'ј' => "j", 'к' => "k", 'л' => "l", 'љ' => "lj",
        'м' => "m", 'н' => "n", 'њ' => "nj", 'о' => "o", 'п' => "p", 'р' => "r", 'с' => "s", 'т' => "t", 'у' => "u",
        'ў' => "w", 'ф' => "f", 'х' => "kh", 'ц' => "ts", 'ч' | 'ћ' => "ch", 'џ' => "dz", 'ш' => "sh", 'щ' => "shch",
        'ъ' | 'ь' => "", 'ы' => "y", 'ю' => "ju", 'я' => "ja", 'ђ' => "dj",
        // Greek.
        'α' | 'ά' => "a", 'β' => "v", 'γ' => "g", 'δ' => "d", 'ε' | 'έ' => "e", 'ζ' => "z", 'η' | 'ή' => "i",
        'θ' => "th", 'ι' | 'ί' | 'ϊ' | 'ΐ' => "i", 'κ' => "k", 'λ' => "l", 'μ' => "m", 'ν' => "n", 'ξ' => "x",
        'ο' | 'ό' => "o", 'π' => "p", 'ρ' => "r", 'σ' | 'ς' => "s", 'τ' => "t", 'υ' | 'ύ' | 'ϋ' | 'ΰ' => "y",
        'φ' => "f", 'χ' => "ch", 'ψ' => "ps", 'ω' | 'ώ' => "o",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn user_name_is_made_of_first_and_last_name() {
        for (first, last, name) in [
            ("Ben", "Lake", "ben.lake"),
            ("Jörg", "Müller-Groß", "joerg.mueller-gross"),
            ("André", "Čapek", "andre.capek"),
            ("Anna Maria", "de la Cruz", "anna.de-la-cruz"),
            ("Søren", "Ångström", "soeren.aangstroem"),
            ("Łukasz", "Wałęsa", "lukasz.walesa"),
            ("Юлия", "Щукина", "julija.shchukina"),
            ("Νίκος", "Παπαδόπουλος", "nikos.papadopoylos"),
            ("Sinéad", "O'Brien", "sinead.obrien"),
            ("", "Lake", "lake"),
            ("Ben", "", "ben"),
            ("محمد", "علي", "person"),
            ("A", "", "person"),
            ("J\u{f6}rg", "Mu\u{308}ller", "joerg.mueller"),
        ] {
            assert_eq!(generate(first, last).as_str(), name, "{first} {last}");
        }
    }

    #[test]
    fn taken_name_gets_next_free_number() {
        let base = Username::stored("ben.lake");
        let taken = ["ben.lake", "ben.lake2", "ben.lake4"];
        assert_eq!(first_free(&base, |name| taken.contains(&name)).as_str(), "ben.lake3");
        assert_eq!(first_free(&base, |_| false), base);
        assert!(is_numbered("ben.lake", &base) && is_numbered("ben.lake12", &base));
        assert!(!is_numbered("ben.lakes", &base));
    }

    #[test]
    fn typed_name_may_contain_slug_of_school() {
        let typed = TypedUserName::parse(" Ben.Lake@North ").unwrap();
        assert_eq!(typed.name.as_str(), "ben.lake");
        assert_eq!(typed.slug.as_ref().map(Slug::as_str), Some("north"));
        assert_eq!(TypedUserName::parse("ben.lake").unwrap().slug, None);
        for wrong in [
            "",
            "b",
            "ben@school.example",
            "ben lake",
            "ben@",
            "@north",
            "ben@@north",
            ".ben",
            "ben.",
        ] {
            assert!(TypedUserName::parse(wrong).is_err(), "{wrong:?}");
        }
    }

    proptest! {
        #[test]
        fn generated_name_is_valid(first in "\\PC{0,40}", last in "\\PC{0,90}") {
            let name = generate(&first, &last);
            prop_assert!(name.check().is_ok(), "{}", name);
            prop_assert!(name.as_str().len() <= GENERATED_MAX);
        }
    }
}
