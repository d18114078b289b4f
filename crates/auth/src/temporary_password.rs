//! Generates temporary passwords. They are read from paper and typed by children: three short words of their language.
//! The lists are made by `scripts/words`; three of at least 2,048 words are at least 33 bits. That suffices because
//! attempts are limited and the password expires: of a hundred guesses an account allows from unknown addresses, one in
//! 86 million series would succeed.

use std::sync::LazyLock;

use better_auth::token;
use domain::text::Locale;

/// Characters that cannot be confused.
const READABLE: &str = "abcdefghjkmnpqrstuvwxyz23456789";
/// Number of groups, and characters per group: 16 characters from an alphabet of 31, about 79 bits.
const GROUPS: usize = 4;
const GROUP: usize = 4;
/// Number of words in a password.
const WORDS: usize = 3;

static GERMAN: LazyLock<Vec<&str>> = LazyLock::new(|| include_str!("../words/de.txt").split_whitespace().collect());
static ENGLISH: LazyLock<Vec<&str>> = LazyLock::new(|| include_str!("../words/en.txt").split_whitespace().collect());

/// Generates a random password of three words, in German for a German locale, otherwise in English.
pub fn generate_words(locale: Option<&Locale>) -> String {
    let is_german = locale.is_some_and(|locale| locale.as_str().starts_with("de"));
    let list: &[&str] = if is_german { &GERMAN } else { &ENGLISH };
    loop {
        let words: Vec<&str> = (0..WORDS).map(|_| list[token::random_below(list.len())]).collect();
        let password = words.join("-");
        if better_auth::password::check_new(&password, &[]).is_ok() {
            return password;
        }
    }
}

/// Generates a random password for owners and platform administrators, whose accounts are worth more attempts.
pub fn generate() -> String {
    let mut password = String::new();
    let mut taken = 0;
    while taken < GROUPS * GROUP {
        // Rejection sampling keeps every character equally likely.
        let random = token::random_text(GROUPS * GROUP);
        for character in random.chars().filter(|character| READABLE.contains(*character)) {
            if taken == GROUPS * GROUP {
                break;
            }
            if taken > 0 && taken % GROUP == 0 {
                password.push('-');
            }
            password.push(character);
            taken += 1;
        }
    }
    password
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_passwords_are_readable_and_distinct() {
        let (one, other) = (generate(), generate());
        assert_ne!(one, other);
        assert_eq!(one.len(), 19, "{one}");
        assert!(one.split('-').all(|group| group.len() == GROUP), "{one}");
        assert!(
            one.chars()
                .all(|character| character == '-' || READABLE.contains(character)),
            "{one}"
        );
        assert!(better_auth::password::check_new(&one, &[]).is_ok());
    }

    #[test]
    fn word_lists_have_enough_short_words() {
        for list in [&*GERMAN, &*ENGLISH] {
            assert!(list.len() >= 2048, "{}", list.len());
            let mut sorted = list.clone();
            sorted.dedup();
            assert_eq!(sorted.len(), list.len(), "a word is there twice");
            assert!(list.is_sorted());
            let is_short = |word: &&str| word.len() <= 9 && word.bytes().all(|byte| byte.is_ascii_lowercase());
            assert!(list.iter().all(is_short));
        }
    }

    #[test]
    fn password_consists_of_three_words_of_the_language() {
        for (locale, list) in [
            ("de", &GERMAN),
            ("de-CH", &GERMAN),
            ("en-GB", &ENGLISH),
            ("fr", &ENGLISH),
        ] {
            let locale = Locale::stored(locale);
            let (one, other) = (generate_words(Some(&locale)), generate_words(Some(&locale)));
            assert_ne!(one, other);
            let words: Vec<&str> = one.split('-').collect();
            assert_eq!(words.len(), WORDS, "{one}");
            assert!(words.iter().all(|word| list.contains(word)), "{one}");
        }
        assert!(generate_words(None).split('-').all(|word| ENGLISH.contains(&word)));
    }
}
