//! Substring search.

/// Converts a search text to a `LIKE` pattern for a `search_key` column: without case and accents, with wildcards
/// escaped.
pub(super) fn pattern(search: &str) -> String {
    let mut pattern = String::with_capacity(search.len());
    for character in domain::collation::search_key(search).chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}
