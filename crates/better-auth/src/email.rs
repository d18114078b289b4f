//! Syntax of email addresses: the library's pattern, implemented without a regular expression. Whether an address
//! exists is not checked.

/// Returns whether the library accepts this text as an email address.
///
/// Before the `@`: dot-separated parts of alphanumeric characters and `_ ' + -`; the last character is not an
/// apostrophe. After it: at least two labels of alphanumeric characters and inner or final hyphens; the last label has
/// at least two characters, all of them alphabetic.
pub fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else {
        return false;
    };
    is_local(local) && is_domain(domain)
}

/// Normalizes an address for storage and comparison.
pub fn lower_case(text: &str) -> String {
    text.to_lowercase()
}

fn is_local(local: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_'+-".contains(&byte);
    !local.ends_with('\'') && local.split('.').all(|run| !run.is_empty() && run.bytes().all(allowed))
}

fn is_domain(domain: &str) -> bool {
    let Some((labels, top)) = domain.rsplit_once('.') else {
        return false;
    };
    top.len() >= 2 && top.bytes().all(|byte| byte.is_ascii_alphabetic()) && labels.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    label.starts_with(|first: char| first.is_ascii_alphanumeric())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn school_addresses_are_valid() {
        for address in ["ada@school.test", "o'brien@sub.school.test", "a.b+c@x1.de", "_@c-.de"] {
            assert!(is_email(address), "{address}");
        }
    }

    #[test]
    fn invalid_addresses_are_rejected() {
        for text in [
            "", "@", "a@b", "a@b.c", ".a@b.de", "a.@b.de", "a'@b.de", "a@@b.de", "a@-b.de", "a@b..de", "ä@b.de",
            "a@b.de\n",
        ] {
            assert!(!is_email(text), "{text:?}");
        }
    }

    #[test]
    fn stored_addresses_are_lower_case() {
        assert_eq!(lower_case("Ada@School.TEST"), "ada@school.test");
    }
}
