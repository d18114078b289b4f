//! Passwords that the service makes up for somebody. They are read from paper and typed by children: no letters that look
//! alike, no shift key, in groups of four.

use better_auth::token;

/// Letters and digits that nobody takes for one another.
const READABLE: &str = "abcdefghjkmnpqrstuvwxyz23456789";
/// Groups of a password, and characters of a group: 16 of 31 possibilities each, about 79 bits.
const GROUPS: usize = 4;
const GROUP: usize = 4;

/// A fresh password.
pub fn generate() -> String {
    let mut password = String::new();
    let mut taken = 0;
    while taken < GROUPS * GROUP {
        // What is not readable is thrown away, so every readable character stays equally likely.
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
    fn a_temporary_password_is_readable_and_never_the_same() {
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
