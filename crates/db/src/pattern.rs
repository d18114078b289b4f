//! Searching by a part of a text.

/// A search text as a LIKE pattern over a `search_key` column: without case and accents, wildcards taken literally.
pub(super) fn pattern(search: &str) -> String {
    let mut pattern = String::with_capacity(search.len());
    for character in model::collation::search_key(search).chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}
