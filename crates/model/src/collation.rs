//! How names are sorted and found: sort keys of the CLDR root collation, and search keys without case and accents.
//! Both are stored with the name, so that SQLite and PostgreSQL compare bytes and return the same order.

use std::sync::LazyLock;

use icu_collator::options::CollatorOptions;
use icu_collator::{Collator, CollatorBorrowed};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

/// The version of the stored keys. Rows with keys of another version are computed again when the schema is migrated.
/// Raise it when the collation data or a rule of this module changes; a test of this module compares sample keys.
pub const VERSION: &str = "1";

/// The most bytes of a sort key. PostgreSQL refuses index entries of more than 2,704 bytes; what is cut off concerns names
/// that begin with the same hundred characters.
const MAX_BYTES: usize = 480;

/// Six bits each, in ascending ASCII order, so that encoded keys compare as their bytes do.
const DIGITS: &[u8; 64] = b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

static ROOT: LazyLock<CollatorBorrowed<'static>> = LazyLock::new(|| {
    Collator::try_new(icu_collator::CollatorPreferences::default(), CollatorOptions::default())
        .expect("the data of the root collation are part of the binary")
});

/// The stored sort key of a name: ASCII text whose byte order is the order of the CLDR root collation.
pub fn sort_key(name: &str) -> String {
    encode(&collation_key(name, MAX_BYTES))
}

/// The stored sort key of a person: by surname, then by the whole name, which begins with the first name.
pub fn person_sort_key(name: &str, last_name: Option<&str>) -> String {
    let mut key = collation_key(surname(name, last_name), MAX_BYTES / 2);
    // Below every byte of a collation key: a surname precedes the longer ones that begin with it.
    key.push(0);
    key.extend(collation_key(name, MAX_BYTES / 2));
    encode(&key)
}

/// The stored form of a text in which searches look, and the form of what they look for: without case, accents and
/// compatibility variants.
pub fn search_key(text: &str) -> String {
    let text = text.trim();
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let upper = text.nfkd().flat_map(char::to_uppercase);
    let folded = upper.flat_map(char::to_lowercase).nfkd();
    let mut key = String::with_capacity(text.len());
    for character in folded.filter(|character| !is_accent(*character)) {
        match base_letters(character) {
            Some(letters) => key.push_str(letters),
            None => key.push(character),
        }
    }
    // Accents that stand alone decompose to a space.
    key.trim().to_owned()
}

/// The word by which a person is sorted.
///
/// A recorded last name counts when the displayed name contains it; otherwise the last word of the displayed name does.
/// Leading words in lower case, such as "von" or "de la", do not count: "von Goethe" is sorted under G.
pub fn surname<'a>(name: &'a str, last_name: Option<&'a str>) -> &'a str {
    let recorded = last_name
        .map(str::trim)
        .filter(|last| !last.is_empty() && search_key(name).contains(&search_key(last)));
    if let Some(recorded) = recorded {
        return without_particles(recorded);
    }
    name.split_whitespace().next_back().unwrap_or(name)
}

fn without_particles(surname: &str) -> &str {
    let is_particle = |word: &str| word.chars().next().is_some_and(char::is_lowercase);
    let mut rest = surname;
    while let Some((word, behind)) = rest.split_once(char::is_whitespace) {
        if !is_particle(word) {
            return rest;
        }
        rest = behind.trim_start();
    }
    // All words in lower case: none of them is a particle.
    if is_particle(rest) { surname } else { rest }
}

fn collation_key(text: &str, max: usize) -> Vec<u8> {
    let mut key = Vec::with_capacity(text.len() + 16);
    let Ok(()) = ROOT.write_sort_key_to(text.trim(), &mut key);
    key.truncate(max);
    key
}

fn encode(key: &[u8]) -> String {
    let mut text = String::with_capacity(key.len().div_ceil(3) * 4);
    for chunk in key.chunks(3) {
        let bits = (0..3).fold(0, |bits, index| {
            bits << 8 | u32::from(chunk.get(index).copied().unwrap_or(0))
        });
        for digit in 0..=chunk.len() {
            text.push(char::from(DIGITS[(bits >> (18 - 6 * digit) & 63) as usize]));
        }
    }
    text
}

/// Accents and vowel points. Signs of other scripts that distinguish letters, such as the vowel signs of Devanagari, have
/// other combining classes and stay.
fn is_accent(character: char) -> bool {
    matches!(canonical_combining_class(character), 10..=36 | 200..=255)
}

/// Letters with a stroke and ligatures, which have no decomposition.
fn base_letters(character: char) -> Option<&'static str> {
    Some(match character {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'ð' | 'đ' => "d",
        'ħ' => "h",
        'ı' => "i",
        'ł' => "l",
        'ŧ' => "t",
        'þ' => "th",
        _ => return None,
    })
}

#[cfg(test)]
#[path = "collation_tests.rs"]
mod tests;
