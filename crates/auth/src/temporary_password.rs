//! Generates temporary passwords. They are read from paper and typed by children: no characters that look alike, no
//! upper-case characters, in groups of four.

use better_auth::token;

/// Characters that cannot be confused.
const READABLE: &str = "abcdefghjkmnpqrstuvwxyz23456789";
/// Number of groups, and characters per group: 16 characters from an alphabet of 31, about 79 bits.
const GROUPS: usize = 4;
const GROUP: usize = 4;

/// Generates a random password.
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
}
