//! Passwords that are guessed after the lists: a season with a year, a repeated piece, a sequence of the alphabet or
//! the keyboard. Pure functions over the lower-case, normalized password.

/// A password with fewer distinct characters counts as repeated, in whatever order.
const MIN_DISTINCT: usize = 4;
/// Maximum length of a repeated piece; a longer one counts as a password of its own.
const MAX_PIECE: usize = 7;
/// Minimum number of neighbours that form a sequence.
const MIN_SEQUENCE: usize = 3;
/// A password with fewer characters outside of sequences is predictable.
const MIN_OUTSIDE_SEQUENCES: usize = 2;

/// Rows in which neighbours are searched, in both directions.
const ROWS: [&str; 8] = [
    "abcdefghijklmnopqrstuvwxyz",
    "0123456789",
    "1234567890",
    "qwertyuiop",
    "qwertzuiopü",
    "asdfghjklöä",
    "zxcvbnm",
    "yxcvbnm",
];

/// Words that precede a year or a number in predictable passwords: seasons and months in English and German, the word
/// "password", and the name of this product.
pub const WORDS: &[&str] = &[
    "groupwork",
    "password",
    "passwort",
    "kennwort",
    "welcome",
    "willkommen",
    "spring",
    "summer",
    "autumn",
    "fall",
    "winter",
    "frühling",
    "fruehling",
    "frühjahr",
    "fruehjahr",
    "sommer",
    "herbst",
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "januar",
    "jänner",
    "jaenner",
    "februar",
    "märz",
    "maerz",
    "mai",
    "juni",
    "juli",
    "oktober",
    "dezember",
];

/// Returns whether the password is one short piece repeated, or uses very few characters.
pub fn is_repeated(password: &str) -> bool {
    let characters: Vec<char> = password.chars().collect();
    let mut different = characters.clone();
    different.sort_unstable();
    different.dedup();
    let longest = (characters.len() / 2).min(MAX_PIECE);
    let repeats = |piece: usize| {
        characters
            .iter()
            .zip(characters.iter().skip(piece))
            .all(|(a, b)| a == b)
    };
    different.len() < MIN_DISTINCT || (1..=longest).any(repeats)
}

/// Returns whether the password consists almost only of sequences of the alphabet or the keyboard.
pub fn is_sequential(password: &str) -> bool {
    let mut characters: Vec<char> = password.chars().collect();
    let length = characters.len();
    characters.dedup();
    let doubled = length - characters.len();
    let mut in_sequences = 0;
    let mut start = 0;
    while start < characters.len() {
        let run = ROWS
            .iter()
            .flat_map(|row| {
                [
                    sequence_length(&characters[start..], row.chars()),
                    sequence_length(&characters[start..], row.chars().rev()),
                ]
            })
            .max()
            .unwrap_or(1);
        if run >= MIN_SEQUENCE {
            in_sequences += run;
        }
        start += run.max(1);
    }
    in_sequences > 0 && in_sequences + doubled + MIN_OUTSIDE_SEQUENCES >= length
}

/// Returns how many leading characters follow each other in a row of keys.
fn sequence_length(characters: &[char], row: impl Iterator<Item = char>) -> usize {
    let Some(first) = characters.first() else { return 0 };
    let row = row.skip_while(|key| key != first);
    characters
        .iter()
        .zip(row)
        .take_while(|(character, key)| *character == key)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_piece_is_detected() {
        for repeated in [
            "abcabcabc",
            "12121212",
            "hundhund",
            "abcdabcdab",
            "aaaabbbb",
            "11223311",
            "zzzzzzzz",
        ] {
            assert!(is_repeated(repeated), "{repeated}");
        }
        for other in ["kreis-und-kreis", "kx7#pq2v", "12345678", "mississippi-delta"] {
            assert!(!is_repeated(other), "{other}");
        }
    }

    #[test]
    fn neighbouring_keys_are_sequential() {
        for sequential in [
            "12345678",
            "87654321",
            "abcdefgh",
            "abcd1234",
            "1234-5678",
            "qwertz12",
            "asdfghjk!",
            "11223344",
            "zyxwvuts",
            "1234567890",
            "qwerasdf",
        ] {
            assert!(is_sequential(sequential), "{sequential}");
        }
        for other in [
            "stunden und tage",
            "kx7#pq2v",
            "20261123",
            "dreieck und kreis",
            "abc-und-kreis",
            "",
        ] {
            assert!(!is_sequential(other), "{other}");
        }
    }
}
