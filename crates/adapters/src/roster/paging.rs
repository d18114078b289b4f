//! The pages of one OneRoster list. Servers differ: some link to the next page, some announce the number of records,
//! some do neither. Whatever they do, the list must be complete: rows that move while pages are read, a list that
//! shrinks, and a server that ignores the parameters are detected.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

use reqwest::header::HeaderMap;
use url::Url;

use super::RosterError;

/// The number of records that a request asks for.
pub(super) const PAGE_ROWS: u64 = 500;

/// What the headers of a page say about the list.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PageHeaders {
    /// `X-Total-Count`.
    total: Option<u64>,
    /// Whether there is a `Link` header.
    has_links: bool,
    /// The link to the next page.
    next: Option<String>,
}

impl PageHeaders {
    pub(super) fn parse(headers: &HeaderMap) -> Self {
        let header_values = |name: &str| headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        let links: Vec<_> = header_values("link").flat_map(links).collect();
        let is_next = |parameter: &&str| {
            let relations = parameter.trim().strip_prefix("rel=").unwrap_or_default();
            let mut relations = relations.trim_matches('"').split_whitespace();
            relations.any(|relation| relation.eq_ignore_ascii_case("next"))
        };
        let next = links
            .iter()
            .find(|(_, parameters)| parameters.iter().any(is_next))
            .map(|(target, _)| (*target).to_owned());
        Self {
            total: header_values("x-total-count")
                .next()
                .and_then(|text| text.trim().parse().ok()),
            has_links: !links.is_empty(),
            next,
        }
    }
}

/// Splits a `Link` header (RFC 8288) into targets and their parameters. Targets may contain commas, for example in a list
/// of fields, and quoted values any separator.
fn links(value: &str) -> Vec<(&str, Vec<&str>)> {
    let (mut links, mut rest) = (Vec::new(), value);
    while let Some((target, after)) = rest.split_once('<').and_then(|(_, link)| link.split_once('>')) {
        let (mut parameters, mut from) = (Vec::new(), 0);
        let (mut is_quoted, mut is_escaped) = (false, false);
        rest = "";
        for (at, character) in after.char_indices() {
            match character {
                _ if is_escaped => is_escaped = false,
                '\\' if is_quoted => is_escaped = true,
                '"' => is_quoted = !is_quoted,
                ';' | ',' if !is_quoted => {
                    parameters.push(&after[from..at]);
                    from = at + 1;
                    if character == ',' {
                        rest = &after[from..];
                        break;
                    }
                }
                _ => {}
            }
        }
        if rest.is_empty() {
            parameters.push(&after[from..]);
        }
        links.push((target, parameters));
    }
    links
}

/// The progress in one list.
pub(super) struct ListPages {
    resource: &'static str,
    /// Maximum number of rows.
    limit: usize,
    keys: RandomState,
    /// The page on which an id was seen last.
    seen: HashMap<u64, u32>,
    page: u32,
    /// Rows received, repeated ones included.
    received: u64,
    received_before_page: u64,
    /// Rows of this page that were not seen before.
    new_rows: u64,
    last: Option<u64>,
    last_of_former_page: Option<u64>,
    /// The offsets of the rows before pages, and their ids, to be checked at the end.
    boundaries: Vec<(u64, u64)>,
    total: Option<u64>,
    has_links: bool,
    /// Whether a page had more rows than the request asked for.
    ignores_limit: bool,
}

/// What follows a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NextPage {
    /// The URL of a link, as it was sent.
    Link(String),
    Offset(u64),
    End,
}

impl ListPages {
    pub(super) fn new(resource: &'static str, limit: usize) -> Self {
        Self {
            resource,
            limit,
            keys: RandomState::new(),
            seen: HashMap::new(),
            page: 0,
            received: 0,
            received_before_page: 0,
            new_rows: 0,
            last: None,
            last_of_former_page: None,
            boundaries: Vec::new(),
            total: None,
            has_links: false,
            ignores_limit: false,
        }
    }

    /// Whether no page was read yet.
    pub(super) const fn is_first(&self) -> bool {
        self.page == 0
    }

    /// Notes a row; returns whether it is new. A row may be repeated within one response. At the start of a page, rows of
    /// the former page are repeated if the list has grown, which loses none. Any other repetition means that the pages do
    /// not fit together, so that rows may be missing.
    pub(super) fn note(&mut self, id: &str) -> Result<bool, RosterError> {
        self.received += 1;
        if self.received > self.limit as u64 {
            return Err(RosterError::TooMany {
                resource: self.resource,
                limit: self.limit,
            });
        }
        let key = self.keys.hash_one(id);
        self.last = Some(key);
        if id.is_empty() {
            // It cannot be compared.
            self.new_rows += 1;
            return Ok(true);
        }
        match self.seen.insert(key, self.page) {
            None => {
                self.new_rows += 1;
                Ok(true)
            }
            Some(page) if page == self.page => Ok(false),
            Some(page) if page + 1 == self.page && self.new_rows == 0 => Ok(false),
            Some(_) => Err(RosterError::Inconsistent(self.resource)),
        }
    }

    /// Ends a page and returns what to read next.
    pub(super) fn end_page(&mut self, headers: PageHeaders) -> Result<NextPage, RosterError> {
        let rows = self.received - self.received_before_page;
        if self.page > 0 && headers.total.is_some() && self.total.is_some() && headers.total != self.total {
            return Err(RosterError::Inconsistent(self.resource));
        }
        self.total = headers.total.or(self.total);
        self.has_links |= headers.has_links;
        self.ignores_limit |= rows > PAGE_ROWS;
        if rows > 0 && self.new_rows == 0 {
            // The same page again.
            return if self.ignores_limit && self.total.is_none() {
                self.received = self.received_before_page;
                Ok(NextPage::End)
            } else {
                Err(RosterError::Inconsistent(self.resource))
            };
        }
        if rows > 0 {
            let former = self.last_of_former_page;
            let offset = self.received_before_page.saturating_sub(1);
            self.boundaries.extend(former.map(|id| (offset, id)));
            self.last_of_former_page = self.last;
        }
        self.page += 1;
        self.received_before_page = self.received;
        self.new_rows = 0;
        Ok(match (headers.next, self.total) {
            _ if rows == 0 => NextPage::End,
            (Some(link), _) => NextPage::Link(link),
            (None, Some(total)) if self.received >= total => NextPage::End,
            (None, None) if self.has_links => NextPage::End,
            (None, _) => NextPage::Offset(self.received),
        })
    }

    /// Checks the announced number of rows at the end of the list.
    pub(super) fn check_total(&self) -> Result<(), RosterError> {
        match self.total {
            None => Ok(()),
            Some(total) if total == self.received || total == self.seen.len() as u64 => Ok(()),
            Some(expected) if self.received < expected => Err(RosterError::Truncated {
                resource: self.resource,
                expected,
                received: self.received,
            }),
            Some(_) => Err(RosterError::Inconsistent(self.resource)),
        }
    }

    /// Takes the rows that must still be where they were, if neither an announced number nor links protect against a
    /// list that shrank while it was read: rows behind a removed one move, and one is missed.
    pub(super) fn take_boundaries(&mut self) -> Vec<(u64, u64)> {
        if self.total.is_some() || self.has_links || self.ignores_limit {
            return Vec::new();
        }
        std::mem::take(&mut self.boundaries)
    }

    /// Whether a row of [`Self::take_boundaries`] has this id.
    pub(super) fn is_row(&self, key: u64, id: &str) -> bool {
        key == self.keys.hash_one(id)
    }
}

/// Resolves a link to the next page, which must not lead to another server: the access token is sent along.
pub(super) fn resolve_link(current: &Url, link: &str, resource: &'static str) -> Result<Url, RosterError> {
    let next = current.join(link).ok().filter(|next| next.origin() == current.origin());
    next.filter(|next| next != current).ok_or(RosterError::NotARoster {
        resource,
        reason: "its link to the next page leads to another server, or to the same page",
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;

    fn page(pages: &mut ListPages, ids: impl IntoIterator<Item = u64>) -> Result<NextPage, RosterError> {
        page_with(pages, ids, PageHeaders::default())
    }

    fn page_with(
        pages: &mut ListPages,
        ids: impl IntoIterator<Item = u64>,
        headers: PageHeaders,
    ) -> Result<NextPage, RosterError> {
        for id in ids {
            pages.note(&id.to_string())?;
        }
        pages.end_page(headers)
    }

    fn total(total: u64) -> PageHeaders {
        PageHeaders {
            total: Some(total),
            ..PageHeaders::default()
        }
    }

    fn code<T: std::fmt::Debug>(result: Result<T, RosterError>) -> &'static str {
        result.unwrap_err().code()
    }

    #[test]
    fn link_to_next_page_is_found_among_others() {
        let mut headers = HeaderMap::new();
        headers.append(
            "link",
            "<https://r.example/users?offset=0>; rel=\"first\"".parse().unwrap(),
        );
        let next = "</users?limit=2&offset=2>; title=\"x\"; rel=\"next\", <https://r.example/users?offset=4>; rel=last";
        headers.append("link", next.parse().unwrap());
        headers.append("x-total-count", " 5 ".parse().unwrap());
        let parsed = PageHeaders::parse(&headers);
        assert_eq!(parsed.next.as_deref(), Some("/users?limit=2&offset=2"));
        assert_eq!((parsed.total, parsed.has_links), (Some(5), true));
        let current = Url::parse("https://r.example/ims/users?offset=0").unwrap();
        let resolved = resolve_link(&current, "/users?limit=2&offset=2", "users").unwrap();
        assert_eq!(resolved.as_str(), "https://r.example/users?limit=2&offset=2");
        for link in [
            "https://evil.example/users",
            "http://r.example/users",
            "?offset=0",
            "https://r.example:444/",
        ] {
            assert_eq!(code(resolve_link(&current, link, "users")), "not_a_roster", "{link}");
        }
    }

    #[test]
    fn link_may_contain_commas_and_several_relations() {
        for text in [
            "</a>; title=\"<, \\\"\", <https://r.example/users?fields=id,name&offset=2>; title=\"a; <b>, c\"; rel=next",
            "<https://r.example/users?fields=id,name&offset=2>; rel=\"next\", </users?fields=id,name>; rel=\"first\"",
            "</users?fields=id,name>; rel=first,<https://r.example/users?fields=id,name&offset=2>;title=\"a, b\";rel=\"last Next\"",
        ] {
            let headers = HeaderMap::from_iter([(reqwest::header::LINK, text.parse().unwrap())]);
            let parsed = PageHeaders::parse(&headers);
            let expected = "https://r.example/users?fields=id,name&offset=2";
            assert_eq!(parsed.next.as_deref(), Some(expected), "{text}");
        }
        let headers = HeaderMap::from_iter([(reqwest::header::LINK, "</users>; rel=\"prev\"".parse().unwrap())]);
        let parsed = PageHeaders::parse(&headers);
        assert_eq!((parsed.next, parsed.has_links), (None, true));
    }

    #[test]
    fn list_without_headers_ends_with_an_empty_page_and_checks_its_boundaries() {
        let mut pages = ListPages::new("users", 100);
        assert_eq!(page(&mut pages, 0..3).unwrap(), NextPage::Offset(3));
        assert_eq!(page(&mut pages, 3..5).unwrap(), NextPage::Offset(5));
        assert_eq!(page(&mut pages, []).unwrap(), NextPage::End);
        let boundaries = pages.take_boundaries();
        assert_eq!(boundaries.len(), 1);
        let (offset, key) = boundaries[0];
        assert_eq!(
            (offset, pages.is_row(key, "2"), pages.is_row(key, "3")),
            (2, true, false)
        );
        let mut single = ListPages::new("users", 100);
        page(&mut single, 0..3).unwrap();
        page(&mut single, []).unwrap();
        assert!(single.take_boundaries().is_empty());
    }

    #[test]
    fn announced_number_must_be_delivered() {
        let mut pages = ListPages::new("users", 100);
        assert_eq!(page_with(&mut pages, 0..3, total(5)).unwrap(), NextPage::Offset(3));
        assert_eq!(page_with(&mut pages, 3..5, total(5)).unwrap(), NextPage::End);
        assert!(pages.check_total().is_ok());
        let mut short = ListPages::new("users", 100);
        page_with(&mut short, 0..3, total(5)).unwrap();
        assert_eq!(page_with(&mut short, [], total(5)).unwrap(), NextPage::End);
        assert_eq!(code(short.check_total()), "truncated");
        let mut shrunk = ListPages::new("users", 100);
        page_with(&mut shrunk, 0..3, total(5)).unwrap();
        assert_eq!(code(page_with(&mut shrunk, 3..4, total(4))), "inconsistent");
    }

    #[test]
    fn repeated_rows_are_accepted_where_none_can_be_missing() {
        let mut pages = ListPages::new("users", 100);
        page(&mut pages, [0, 1, 1, 2]).unwrap();
        assert!(page(&mut pages, [2, 3]).is_ok());
        let mut mixed = ListPages::new("users", 100);
        page(&mut mixed, [0, 1, 2]).unwrap();
        assert_eq!(code(page(&mut mixed, [3, 1])), "inconsistent");
        let mut stuck = ListPages::new("users", 100);
        page(&mut stuck, [0, 1, 2]).unwrap();
        assert_eq!(code(page(&mut stuck, [0, 1, 2])), "inconsistent");
    }

    #[test]
    fn server_that_ignores_limit_and_offset_is_read_once() {
        let mut pages = ListPages::new("users", 10_000);
        let rows = PAGE_ROWS + 100;
        assert_eq!(page(&mut pages, 0..rows).unwrap(), NextPage::Offset(rows));
        assert_eq!(page(&mut pages, 0..rows).unwrap(), NextPage::End);
        assert!(pages.check_total().is_ok() && pages.take_boundaries().is_empty());
    }

    #[test]
    fn endless_list_is_rejected() {
        let mut pages = ListPages::new("users", 100);
        assert_eq!(code(page(&mut pages, 0..200)), "too_many");
    }
}
