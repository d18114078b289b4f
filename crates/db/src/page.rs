//! Pages of lists that grow without bound: a page goes on after the last row of the one before it, by key and id. There
//! is no offset anywhere, so that rows which come in meanwhile move nothing and the last page costs what the first does.

/// Where a page begins: after the row with this key and this id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position<K> {
    /// What the list is sorted by.
    pub key: K,
    /// Which row of those with the same key.
    pub id: String,
}

/// Which part of a list is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window<K> {
    /// The end of the page before; none for the first page.
    pub after: Option<Position<K>>,
    /// How many rows.
    pub limit: usize,
}

/// A part of a list, and where the next one begins, if there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice<T, K> {
    /// The rows.
    pub rows: Vec<T>,
    /// The end of this page, unless it is the last.
    pub next: Option<Position<K>>,
}

impl<K> Window<K> {
    /// How many rows to ask the database for: one more than is shown tells whether there is a next page.
    pub fn rows(&self) -> i64 {
        i64::try_from(self.limit + 1).unwrap_or(i64::MAX)
    }

    /// Cuts what the database answered to [`Self::rows`] down to the page.
    pub fn cut<T>(&self, mut rows: Vec<T>, position: impl Fn(&T) -> Position<K>) -> Slice<T, K> {
        let goes_on = rows.len() > self.limit;
        rows.truncate(self.limit);
        let next = rows.last().filter(|_| goes_on).map(position);
        Slice { rows, next }
    }
}

impl Window<i64> {
    /// The bound of a list that is sorted by time, newest first: `(created_at, id) < (key, id)`. It is always there, so
    /// that the index is entered at the right place on every page.
    pub fn newest_before(&self) -> (i64, &str) {
        self.after
            .as_ref()
            .map_or((i64::MAX, ""), |position| (position.key, &position.id))
    }
}

impl Window<String> {
    /// The bound of a list that is sorted by name: `(sort_key, id) > (key, id)`.
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
    fn only_a_page_with_more_behind_it_names_the_next() {
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
