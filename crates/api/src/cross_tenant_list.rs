//! Lists across all organizations, for a SUPER_ADMIN without an organization. The list of each organization is read in
//! one snapshot with the usual query, and the lists are merged in the order of the list. With `organizationId` the list
//! is sorted by the database as usual. See docs/api-contract.md#super_admin-without-an-active-organization.

use std::cmp::Ordering;

use domain::collation::{search_key, sort_key};

use common::error::{Error, Result};
use db::page::{Position, Slice, Window};

/// Maximum number of rows of a list without pages, to bound memory.
const ROWS_MAX: usize = 10_000;

/// A row with its sort key.
pub type Keyed<K, T> = (K, T);

/// The sort key of a row in a list by name: names that begin with the search text come first.
pub fn by_name<I>(search: Option<&str>, name: &str, id: I) -> (bool, String, I) {
    (!starts_with_search(search, name), sort_key(name), id)
}

/// Whether a name begins with the search text.
pub fn starts_with_search(search: Option<&str>, name: &str) -> bool {
    search.is_some_and(|search| search_key(name).starts_with(&search_key(search)))
}

/// Adds the rows of one more organization. Fails when there are too many.
pub fn add_rows<K, T>(all: &mut Vec<Keyed<K, T>>, rows: Vec<Keyed<K, T>>) -> Result<()> {
    all.extend(rows);
    if all.len() > ROWS_MAX {
        let message = "is required: all schools together have too many; name one";
        return Err(Error::invalid("organizationId", "too_many", message));
    }
    Ok(())
}

/// The rows of all organizations in the order of the list.
pub fn sorted<K: Ord, T>(mut all: Vec<Keyed<K, T>>) -> Vec<T> {
    all.sort_by(|(left, _), (right, _)| left.cmp(right));
    all.into_iter().map(|(_, row)| row).collect()
}

/// The sort direction of a paginated list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Ascending.
    Ascending,
    /// Descending; for times, newest first.
    Descending,
}

/// Merges the page of one more organization and keeps the first rows of both. A page that does not end its list has as
/// many rows as the window, so no row is skipped.
pub fn add_page<K: Ord, T>(
    merged: &mut Slice<T, K>,
    more: Slice<T, K>,
    window: &Window<K>,
    direction: Direction,
    position: impl Fn(&T) -> Position<K>,
) {
    let has_more = merged.next.is_some() || more.next.is_some();
    merged.rows.extend(more.rows);
    merged.rows.sort_by(|left, right| {
        let (left, right) = (position(left), position(right));
        let order = left.key.cmp(&right.key).then_with(|| left.id.cmp(&right.id));
        if direction == Direction::Descending {
            order.reverse()
        } else {
            order
        }
    });
    // A person who belongs to several organizations is listed once.
    merged.rows.dedup_by(|left, right| position(left) == position(right));
    let is_truncated = merged.rows.len() > window.limit;
    merged.rows.truncate(window.limit);
    merged.next = merged.rows.last().filter(|_| has_more || is_truncated).map(position);
}

/// An empty page.
pub fn empty_page<T, K>() -> Slice<T, K> {
    Slice {
        rows: Vec::new(),
        next: None,
    }
}

/// Reverses the order of keys for descending lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectedKey<K> {
    pub key: K,
    /// Whether the greatest key comes first.
    pub is_descending: bool,
}

impl<K: Ord> Ord for DirectedKey<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        let order = self.key.cmp(&other.key);
        if self.is_descending { order.reverse() } else { order }
    }
}

impl<K: Ord> PartialOrd for DirectedKey<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(number: i64) -> Position<i64> {
        Position {
            key: number,
            id: number.to_string(),
        }
    }

    /// The page of one organization, as the store returns it.
    fn page(school: &[i64], window: &Window<i64>) -> Slice<i64, i64> {
        let before = window.after.as_ref().map_or(i64::MAX, |after| after.key);
        let rows = school
            .iter()
            .copied()
            .filter(|row| *row < before)
            .take(window.limit + 1);
        window.cut(rows.collect(), |number: &i64| position(*number))
    }

    #[test]
    fn merged_pages_of_schools_skip_and_repeat_nothing() {
        let schools: [&[i64]; 4] = [&[90, 80, 70, 60, 50], &[95, 94, 93], &[], &[90, 51, 2, 1]];
        for limit in 1..=12 {
            let (mut seen, mut after) = (Vec::new(), None);
            loop {
                let window = Window { after, limit };
                let mut all = empty_page();
                for school in schools {
                    add_page(
                        &mut all,
                        page(school, &window),
                        &window,
                        Direction::Descending,
                        |number| position(*number),
                    );
                }
                seen.extend(all.rows);
                after = all.next;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(seen, [95, 94, 93, 90, 80, 70, 60, 51, 50, 2, 1], "{limit} a page");
        }
    }

    #[test]
    fn names_that_begin_with_the_text_come_first() {
        let mut rows = vec![
            (by_name(Some("bio"), "Microbiology", 1), "Microbiology"),
            (by_name(Some("bio"), "biology", 2), "biology"),
        ];
        add_rows(&mut rows, vec![(by_name(Some("bio"), "Biography", 3), "Biography")]).expect("few rows");
        assert_eq!(sorted(rows), ["Biography", "biology", "Microbiology"]);
    }
}
