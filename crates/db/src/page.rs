//! Keyset pagination: a page begins after the last row of the previous one, by key and id. There is no offset, so
//! concurrent inserts do not shift pages, and the last page costs as much as the first.

/// A position in a list: after the row with this key and this id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position<K> {
    /// The value the list is sorted by.
    pub key: K,
    /// Distinguishes rows with the same key.
    pub id: String,
}

/// The requested part of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window<K> {
    /// The end of the previous page; `None` for the first page.
    pub after: Option<Position<K>>,
    /// Maximum number of rows.
    pub limit: usize,
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice<T, K> {
    pub rows: Vec<T>,
    /// The end of this page; `None` for the last page.
    pub next: Option<Position<K>>,
}

impl<K> Window<K> {
    /// Returns the `LIMIT` of the query: one row more than the page, to detect whether there is a next page.
    pub fn rows(&self) -> i64 {
        i64::try_from(self.limit + 1).unwrap_or(i64::MAX)
    }

    /// Truncates the result of a query with the limit [`Self::rows`] to the page.
    pub fn cut<T>(&self, mut rows: Vec<T>, position: impl Fn(&T) -> Position<K>) -> Slice<T, K> {
        let goes_on = rows.len() > self.limit;
        rows.truncate(self.limit);
        let next = rows.last().filter(|_| goes_on).map(position);
        Slice { rows, next }
    }
}

impl Window<i64> {
    /// Returns the bound of a list sorted by time, newest first: `(created_at, id) < (key, id)`. The first page has a
    /// bound as well, so that the same index scan serves every page.
    pub fn newest_before(&self) -> (i64, &str) {
        self.after
            .as_ref()
            .map_or((i64::MAX, ""), |position| (position.key, &position.id))
    }
}

impl Window<String> {
    /// Returns the bound of a list sorted by name: `(sort_key, id) > (key, id)`.
    pub fn names_after(&self) -> (&str, &str) {
        self.after
            .as_ref()
            .map_or(("", ""), |position| (&position.key, &position.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(limit: usize) -> Window<i64> {
        Window { after: None, limit }
    }

    #[test]
    fn only_page_with_successor_has_next_cursor() {
        let position = |number: &i64| Position {
            key: *number,
            id: number.to_string(),
        };
        let slice = window(2).cut(vec![3, 2, 1], position);
        assert_eq!(slice.rows, [3, 2]);
        assert_eq!(slice.next.map(|next| next.key), Some(2));
        let last = window(2).cut(vec![3, 2], position);
        assert_eq!((last.rows.len(), last.next), (2, None));
        assert_eq!(window(2).cut(Vec::new(), position).next, None);
    }
}
