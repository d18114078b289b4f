//! Which passwords may be chosen: not those that everybody tries first, and nobody's own name. For hashes that were
//! imported and for temporary ones of our own making this is not asked.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::error::AuthError;
use crate::password::{LONGEST, SHORTEST, normalized};
use crate::predictable;

/// Written by hand: words of schools and keyboards.
const COMMON: &str = include_str!("common-passwords.txt");

/// Written by `scripts/make-password-list.py`: the most frequent of those that leaked.
const FREQUENT: &str = include_str!("frequent-passwords.txt");

/// An own word that is shorter stands in a password by chance.
const SHORTEST_OWN_WORD: usize = 3;

/// Why nobody may choose a password. The text is for the person who chose it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Weak {
    /// Fewer than [`SHORTEST`].
    #[error("is too short: choose at least 8 characters")]
    TooShort,
    /// More than [`LONGEST`].
    #[error("is too long: choose at most 128 characters")]
    TooLong,
    /// One of those that everybody tries first.
    #[error("is one of those that everybody tries first: choose several words, or a sentence of your own")]
    Common,
    /// A season and a year, one piece over and over, or neighbours on the keyboard.
    #[error("is easy to guess: choose several words, or a sentence of your own")]
    Predictable,
    /// Nothing but names of the person, an address, or the name of the school.
    #[error("is only a name or address of you or your school: choose several other words, or a sentence of your own")]
    Own,
}

impl From<Weak> for AuthError {
    /// The library's codes; its words say too little about what to do.
    fn from(weak: Weak) -> Self {
        let refusal = match weak {
            Weak::TooShort => return Self::password_too_short(),
            Weak::TooLong => return Self::password_too_long(),
            Weak::Common | Weak::Predictable | Weak::Own => Self::password_compromised(),
        };
        Self {
            message: format!("This password {weak}.").into(),
            ..refusal
        }
    }
}

/// The rules for a password that a person chose, or that somebody chose for him (not for hashes that were imported and
/// not for temporary ones of our own making). `own` holds well-known words about the person: names, addresses, schools.
pub fn check_new(password: &str, own: &[&str]) -> Result<(), Weak> {
    let length = password.encode_utf16().count();
    if length < SHORTEST {
        Err(Weak::TooShort)
    } else if length > LONGEST {
        Err(Weak::TooLong)
    } else if is_common(password) {
        Err(Weak::Common)
    } else if is_predictable(password) {
        Err(Weak::Predictable)
    } else if is_made_of(password, own) {
        Err(Weak::Own)
    } else {
        Ok(())
    }
}

/// Whether a new password is one of those everybody tries first, in any mixture of case, or one
/// character over and over.
pub fn is_common(password: &str) -> bool {
    let password = normalized(password).to_lowercase();
    let mut characters = password.chars();
    let first = characters.next();
    let repeats = first.is_some() && characters.all(|character| Some(character) == first);
    repeats || known_words().contains(password.as_str())
}

/// Whether a new password is one that is guessed without any list: a well-known word with digits, one piece over and over,
/// or neighbours of the alphabet or the keyboard.
pub fn is_predictable(password: &str) -> bool {
    let lower_case = normalized(password).to_lowercase();
    predictable::is_repeated(&lower_case)
        || predictable::is_sequential(&lower_case)
        || is_made_of(password, predictable::WORDS)
}

fn known_words() -> &'static HashSet<&'static str> {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| COMMON.lines().chain(FREQUENT.lines()).collect());
    &WORDS
}

/// Whether nothing is left of a password without these words, digits and separators.
fn is_made_of(password: &str, own: &[&str]) -> bool {
    let mut words: Vec<String> = own
        .iter()
        .flat_map(|text| {
            let text = normalized(text).to_lowercase();
            let mut words: Vec<String> = text
                .split(|character: char| !character.is_alphabetic())
                .map(str::to_owned)
                .collect();
            // Initials are part of an address, too.
            words.extend(text.split_once('@').map(|(name, _)| letters(name)));
            words.push(letters(&text));
            words
        })
        .filter(|word| word.chars().count() >= SHORTEST_OWN_WORD)
        .collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let letters = letters(&normalized(password).to_lowercase());
    if letters.is_empty() {
        return false;
    }
    let rest = words.iter().fold(letters, |rest, word| rest.replace(word.as_str(), ""));
    rest.is_empty()
}

fn letters(text: &str) -> String {
    text.chars().filter(|character| character.is_alphabetic()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::password::check_length;

    #[test]
    fn common_passwords_are_recognised_in_every_case() {
        for common in [
            "password",
            "PassWord1",
            "12345678",
            "QWERTYUIOP",
            "iloveyou",
            "passwort",
            "\u{ff50}assword",
            "Trustno1",
            "chelsea1",
            "zzzzzzzzzz",
            "        ",
        ] {
            assert!(is_common(common), "{common}");
        }
        for rare in ["Zirkel und Lineal", "password-of-ada", "kx7#pq2v", ""] {
            assert!(!is_common(rare), "{rare}");
        }
    }

    #[test]
    fn nobody_chooses_his_own_name_or_address() {
        let ada = ["Ada Teacher-O'Neil", "ada.t@north.example"];
        for own in [
            "adateacher",
            "Ada.Teacher1815",
            "teacher ada!",
            "ada@north.example",
            "ada.t@north.example",
            "Ada.T-1815",
            "2026-north-ada",
            "\u{ff41}da12345",
        ] {
            assert_eq!(check_new(own, &ada), Err(Weak::Own), "{own}");
        }
        for fine in [
            "teachers pet",
            "ada likes maps",
            "73918264",
            "o'neil and the sea",
            "t4821-7736",
        ] {
            assert_eq!(check_new(fine, &ada), Ok(()), "{fine}");
        }
        assert_eq!(check_new("adateacher", &[]), Ok(()));
    }

    #[test]
    fn predictable_passwords_are_refused() {
        for weak in [
            "Sommer2026!",
            "Winter-2025/26",
            "herbst 2026",
            "Fr\u{fc}hling26",
            "MaiJuni2026",
            "Groupwork2026",
            "Group-Work-1",
            "Passwort2026!",
            "abcabcabc",
            "ADAADAADA",
            "qwertz12",
            "1234-5678",
        ] {
            let refusal = check_new(weak, &[]);
            assert!(
                matches!(refusal, Err(Weak::Predictable | Weak::Common)),
                "{weak}: {refusal:?}"
            );
        }
        let school = ["Gymnasium Nord", "gymnasium-nord"];
        for weak in ["gymnasium2026", "Nord-Gymnasium-1", "Gymnasium_Nord"] {
            assert_eq!(check_new(weak, &school), Err(Weak::Own), "{weak}");
        }
        for fine in [
            "sommer am see",
            "nordwind und gymnasium",
            "may the force",
            "fall into grace",
        ] {
            assert_eq!(check_new(fine, &school), Ok(()), "{fine}");
        }
    }

    #[test]
    fn a_refusal_says_what_to_do() {
        assert_eq!(check_new("1234567", &[]), Err(Weak::TooShort));
        assert_eq!(check_new(&"x".repeat(129), &[]), Err(Weak::TooLong));
        assert_eq!(check_new("iloveyou", &[]), Err(Weak::Common));
        assert_eq!(AuthError::from(Weak::TooShort), AuthError::password_too_short());
        assert_eq!(AuthError::from(Weak::TooLong), AuthError::password_too_long());
        for weak in [
            Weak::TooShort,
            Weak::TooLong,
            Weak::Common,
            Weak::Predictable,
            Weak::Own,
        ] {
            assert!(weak.to_string().contains("choose"), "{weak}");
        }
        assert!(
            AuthError::from(Weak::Own)
                .message
                .contains("choose several other words")
        );
    }

    #[test]
    fn the_list_holds_only_what_could_be_chosen() {
        let mut seen = HashSet::new();
        for common in COMMON.lines().chain(FREQUENT.lines()) {
            assert!(check_length(common).is_ok(), "{common} cannot be chosen anyway");
            assert_eq!(common, common.trim().to_lowercase(), "{common} is never compared");
            assert!(seen.insert(common), "{common} twice");
        }
        assert!(seen.len() >= 10_000, "only {} left", seen.len());
    }
}
