//! Pagination: `limit`, an opaque `cursor`, and `{ "data": [..], "nextCursor": .. }`. See
//! docs/api-contract.md#lists-pages-and-order.

use api_macros::view;
use std::marker::PhantomData;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};

use db::page::{Position, Slice, Window};

/// Default number of rows of a page.
const LIMIT_DEFAULT: usize = 50;

/// Maximum number of rows of a page. A larger `limit` counts as this.
const LIMIT_MAX: usize = 200;

/// A paginated list. A cursor contains the name of its list and is rejected by every other list.
pub trait PaginatedList {
    /// The name of the list in cursors.
    const NAME: &'static str;
}

/// Declares the paginated lists.
macro_rules! lists {
    ($($(#[$doc:meta])* $list:ident = $name:literal,)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $list;

        impl PaginatedList for $list {
            const NAME: &'static str = $name;
        }
    )+};
}

lists! {
    /// The activity log.
    ActivityLogs = "activity-logs",
    /// The messages of a work room.
    RoomMessages = "room-messages",
    /// Deleted objects that can be restored.
    Deletions = "deletions",
    /// Direct messages and announcements.
    DirectMessages = "messages",
    /// Invitations of an organization.
    Invitations = "invitations",
    /// The members of the caller's organization.
    Members = "members",
    /// The members of any organization, for SUPER_ADMINs.
    TenantMembers = "tenant-members",
    /// Submissions of all topics.
    Overview = "overview",
    /// The identities of a sign-on provider.
    ExternalIdentities = "external-identities",
    /// The entries of a roster run.
    RosterEntries = "roster-entries",
    /// The runs of a roster source.
    RosterRuns = "roster-runs",
    /// Sessions in an organization.
    Sessions = "sessions",
    /// The users of an organization.
    Users = "users",
}

/// A page of a list that grows without bound.
#[view]
pub struct Page<T> {
    /// The rows of the page.
    pub data: Vec<T>,
    /// The `cursor` of the next page. Null on the last page.
    pub next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// Renders a slice of rows as a page of a list.
    pub fn of<L: PaginatedList, R, K: Serialize>(_: L, slice: Slice<R, K>, view: impl FnMut(R) -> T) -> Self {
        let next_cursor = slice.next.as_ref().map(write::<L, K>);
        Self {
            data: slice.rows.into_iter().map(view).collect(),
            next_cursor,
        }
    }
}

/// The `limit` of a query: at least 1; values above the maximum count as the maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(usize);

domain::valid_when_parsed!(Limit);

impl Default for Limit {
    fn default() -> Self {
        Self(LIMIT_DEFAULT)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // A number too large for `usize` counts as the maximum.
        match text.parse::<usize>() {
            _ if !is_number => Err(D::Error::custom("must be a whole number")),
            Ok(0) => Err(D::Error::custom("must be at least 1")),
            Ok(number) => Ok(Self(number.min(LIMIT_MAX))),
            Err(_) => Ok(Self(LIMIT_MAX)),
        }
    }
}

/// The `cursor` of a query: the `nextCursor` of the previous page of the same list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor<K, L>(Position<K>, PhantomData<L>);

domain::valid_when_parsed!(Cursor<K, L>, K, L);

impl<'de, K: DeserializeOwned, L: PaginatedList> Deserialize<'de> for Cursor<K, L> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let position =
            read::<L, K>(&text).ok_or_else(|| D::Error::custom("must be the nextCursor of a page of this list"))?;
        Ok(Self(position, PhantomData))
    }
}

/// The rows that `limit` and `cursor` select.
pub fn window<K, L>(limit: Option<Limit>, cursor: Option<Cursor<K, L>>) -> Window<K> {
    Window {
        after: cursor.map(|cursor| cursor.0),
        limit: limit.unwrap_or_default().0,
    }
}

fn write<L: PaginatedList, K: Serialize>(position: &Position<K>) -> String {
    let json = serde_json::to_vec(&(L::NAME, &position.key, &position.id))
        .expect("times, names and ids can be written as JSON");
    URL_SAFE_NO_PAD.encode(json)
}

fn read<L: PaginatedList, K: DeserializeOwned>(text: &str) -> Option<Position<K>> {
    let json = URL_SAFE_NO_PAD.decode(text).ok()?;
    let (list, key, id): (String, K, String) = serde_json::from_slice(&json).ok()?;
    // PostgreSQL cannot store NUL in text. No valid cursor contains it.
    (list == L::NAME && !id.contains('\0')).then_some(Position { key, id })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(text: &str) -> Option<usize> {
        let value = serde::de::value::StrDeserializer::<serde::de::value::Error>::new(text);
        Limit::deserialize(value).ok().map(|limit| limit.0)
    }

    #[test]
    fn page_limit_is_clamped_and_invalid_one_is_rejected() {
        assert_eq!(limit("1"), Some(1));
        assert_eq!(limit("200"), Some(200));
        assert_eq!(limit("201"), Some(200));
        assert_eq!(limit("99999999999999999999999999"), Some(200));
        for bad in ["", "0", "-1", "1.5", "ten", "+5"] {
            assert_eq!(limit(bad), None, "{bad}");
        }
    }

    #[test]
    fn cursor_roundtrips_and_forged_cursor_is_rejected() {
        let position = Position {
            key: 1_700_000_000_000_i64,
            id: "0190".to_owned(),
        };
        let cursor = write::<Sessions, _>(&position);
        assert_eq!(read::<Sessions, i64>(&cursor), Some(position));
        assert_eq!(read::<ActivityLogs, i64>(&cursor), None, "of another list");
        let name = Position {
            key: "élise".to_owned(),
            id: "0191".to_owned(),
        };
        let cursor = write::<Users, _>(&name);
        assert_eq!(read::<Users, String>(&cursor), Some(name.clone()));
        assert_eq!(read::<Users, i64>(&cursor), None);
        assert_eq!(read::<Members, String>(&cursor), None);
        for bad in ["", "x", "null", "W10", "!!!"] {
            assert_eq!(read::<Users, i64>(bad), None, "{bad}");
        }
    }
}
