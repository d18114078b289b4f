//! Sorting and searching of names: sort keys of the CLDR root collation, and search keys without case and accents. Both
//! are stored with the name, so that SQLite and PostgreSQL compare bytes and return the same order.

use std::sync::LazyLock;

use icu_collator::options::CollatorOptions;
use icu_collator::{Collator, CollatorBorrowed};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

/// Version of the stored keys. Rows with keys of another version are recomputed by the schema migration. Increment it
/// when the collation data or a rule of this module changes; a test of this module compares sample keys.
pub const VERSION: &str = "1";

/// Maximum length of a sort key in bytes. PostgreSQL rejects index entries of more than 2,704 bytes. Truncation only
/// affects names that share their first hundred characters.
const MAX_BYTES: usize = 480;

/// Base64-like alphabet, six bits per digit, in ascending ASCII order, so that encoded keys compare like their bytes.
const DIGITS: &[u8; 64] = b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

static ROOT: LazyLock<CollatorBorrowed<'static>> = LazyLock::new(|| {
    Collator::try_new(icu_collator::CollatorPreferences::default(), CollatorOptions::default())
        .expect("the data of the root collation is compiled in")
});

/// Returns the stored sort key of a name: ASCII text whose byte order is the order of the CLDR root collation.
pub fn sort_key(name: &str) -> String {
    encode(&collation_key(name, MAX_BYTES))
}

/// Returns the stored sort key of a person: by surname, then by the whole name, which begins with the first name.
pub fn person_sort_key(name: &str, last_name: Option<&str>) -> String {
    let mut key = collation_key(surname(name, last_name), MAX_BYTES / 2);
    // Less than every byte of a collation key: a surname precedes longer surnames that begin with it.
    key.push(0);
    key.extend(collation_key(name, MAX_BYTES / 2));
    encode(&key)
}

/// Returns the normalized form of a text for searching, without case, accents and compatibility variants. Used both for
/// stored texts and for search terms.
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
    // A standalone accent decomposes to a space and the accent.
    key.trim().to_owned()
}

/// Returns the surname by which a person is sorted.
///
/// A recorded last name is used if the display name contains it; otherwise the last word of the display name is.
/// Leading lower-case particles, such as "von" or "de la", are skipped: "von Goethe" is sorted under G.
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
    // All words are in lower case: none of them is a particle.
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

/// Returns whether the character is an accent or a vowel point. Marks of other scripts that distinguish characters,
/// such as the vowel signs of Devanagari, have other combining classes and are kept.
fn is_accent(character: char) -> bool {
    matches!(canonical_combining_class(character), 10..=36 | 200..=255)
}

/// Returns the base characters of characters with a stroke and of ligatures, which have no Unicode decomposition.
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
