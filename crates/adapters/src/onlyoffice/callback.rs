//! Callbacks of the document server, parsed by their meaning. A callback is built from verified claims only and
//! processed elsewhere.

use std::collections::BTreeSet;

use domain::id::UserId;
use domain::save::{DocumentKey, History, HistoryChange};
use domain::time::Timestamp;
use serde_json::Value;

use super::DocumentServer;
use super::result_path::ResultPath;
use super::token::CallbackClaims;

/// A callback.
#[derive(Debug, Clone, PartialEq)]
pub enum Callback {
    /// A user joined or left the editing session.
    Editing {
        /// The users in the session now.
        users: Vec<UserId>,
        /// The users who joined.
        joined: Vec<UserId>,
        /// The users who left.
        left: Vec<UserId>,
    },
    /// A file to store.
    Save(SaveCallback),
    /// The last editor left without changes.
    Closed,
    /// The document server could not save. It keeps the changes until a callback is acknowledged.
    Failed {
        /// A corrupted result, which is kept for manual recovery.
        partial: Option<ResultPath>,
        /// The user data of the command that forced the save.
        nonce: Option<String>,
    },
    /// A save with an invalid URL, so that nothing can be downloaded.
    Unusable,
    /// A callback that does not affect content.
    Other,
}

/// A file to store.
#[derive(Debug, Clone, PartialEq)]
pub struct SaveCallback {
    /// Whether this is a forgotten save instead of a callback: it may be older than later saves.
    pub is_forgotten: bool,
    /// Whether the session has ended.
    pub is_final: bool,
    /// The location of the file.
    pub result: ResultPath,
    /// The extension according to the document server.
    pub file_type: Option<String>,
    /// When the last change was made.
    pub last_save: Option<Timestamp>,
    /// Whether an earlier forced save contained all changes.
    pub not_modified: bool,
    /// The last author.
    pub author: Option<UserId>,
    /// All authors.
    pub editors: Vec<UserId>,
    /// The history of the latest changes.
    pub history: History,
    /// The user data of the command that forced the save.
    pub nonce: Option<String>,
}

impl SaveCallback {
    /// Builds a save from a forgotten result, about which nothing else is known. The session counts as open.
    pub fn from_result(result: ResultPath) -> Self {
        Self {
            is_forgotten: true,
            is_final: false,
            result,
            file_type: None,
            last_save: None::<Timestamp>,
            not_modified: false,
            author: None,
            editors: Vec::new(),
            history: History::default(),
            nonce: None,
        }
    }
}

impl DocumentServer {
    /// Parses a callback; `None` if its key belongs to another installation.
    pub fn parse_callback(&self, claims: CallbackClaims) -> Option<(DocumentKey, Callback)> {
        let key = self.parse_key(&claims.key)?;
        let result = claims.url.as_deref().and_then(|url| self.result_path(url));
        let callback = match claims.status {
            1 => Callback::Editing {
                joined: users_of_action(&claims.actions, 1),
                left: users_of_action(&claims.actions, 0),
                users: claims.users.unwrap_or_default().into_iter().map(UserId::new).collect(),
            },
            2 | 6 => match result {
                Some(result) => Callback::Save(parse_save(claims, result)),
                None => Callback::Unusable,
            },
            3 | 7 => Callback::Failed {
                partial: result,
                nonce: claims.userdata.as_str().map(str::to_owned),
            },
            4 => Callback::Closed,
            _ => Callback::Other,
        };
        Some((key, callback))
    }
}

fn parse_save(claims: CallbackClaims, result: ResultPath) -> SaveCallback {
    let users = claims.users.unwrap_or_default();
    let authors = users.iter().cloned().chain(authors(&claims.history));
    let editors: BTreeSet<String> = authors.collect();
    SaveCallback {
        is_forgotten: false,
        is_final: claims.status == 2,
        result,
        file_type: claims
            .filetype
            .map(|extension| extension.trim_start_matches('.').to_ascii_lowercase()),
        last_save: claims.lastsave.as_deref().and_then(|text| Timestamp::parse(text).ok()),
        not_modified: claims.notmodified.unwrap_or(false),
        author: users.into_iter().next().map(UserId::new),
        editors: editors.into_iter().map(UserId::new).collect(),
        history: history(&claims.history),
        nonce: claims.userdata.as_str().map(str::to_owned),
    }
}

/// Returns the users of the actions of this type.
fn users_of_action(actions: &Value, kind: i64) -> Vec<UserId> {
    let actions = actions.as_array().into_iter().flatten();
    let own = actions.filter(|action| action.get("type").and_then(Value::as_i64) == Some(kind));
    own.filter_map(|action| Some(UserId::new(action.get("userid")?.as_str()?)))
        .collect()
}

/// Returns the users in a history.
fn authors(history: &Value) -> Vec<String> {
    let changes = history.get("changes").and_then(Value::as_array);
    let ids = changes
        .into_iter()
        .flatten()
        .filter_map(|change| change.pointer("/user/id")?.as_str());
    ids.map(str::to_owned).collect()
}

/// Parses the changes of a history; ignores those with another structure.
fn history(claim: &Value) -> History {
    let changes = claim.get("changes").and_then(Value::as_array).into_iter().flatten();
    let version = claim.get("serverVersion").and_then(Value::as_str);
    History::bounded(version, changes.filter_map(change))
}

fn change(claim: &Value) -> Option<HistoryChange> {
    // For example "2026-11-22 05:00:00", in UTC.
    let at = claim.get("created").and_then(Value::as_str);
    Some(HistoryChange {
        at: at.and_then(|text| Timestamp::parse(&format!("{}Z", text.replacen(' ', "T", 1))).ok()),
        user_id: UserId::new(claim.pointer("/user/id")?.as_str()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn history_is_truncated_and_stored_without_names() {
        let history_change = |number: usize| {
            json!({"created": format!("2026-11-22 05:{:02}:{:02}", number / 60, number % 60), "documentSha256": "x",
                "user": {"id": format!("u{number}"), "name": "Ben Student"}})
        };
        let mut changes: Vec<Value> = (0..250).map(history_change).collect();
        changes.extend([
            json!(null),
            json!({"created": "x", "user": "u"}),
            json!({"created": "x", "user": {"id": ""}}),
            json!({"created": "x", "user": {"id": "u".repeat(129)}}),
            json!({"created": "y".repeat(5000), "user": {"id": "last"}}),
        ]);
        let kept = history(&json!({"serverVersion": "9".repeat(1000), "changes": changes}));
        assert_eq!(kept.changes.len(), History::CHANGES_MAX);
        assert_eq!(kept.changes[0].user_id.as_str(), "u151");
        assert_eq!(kept.changes[0].at, Timestamp::parse("2026-11-22T05:02:31Z").ok());
        let last = &kept.changes[History::CHANGES_MAX - 1];
        assert_eq!((last.user_id.as_str(), last.at), ("last", None));
        let text = serde_json::to_string(&kept).unwrap_or_default();
        assert!(!text.contains("Ben Student") && text.len() < 8_000, "{}", text.len());
        for odd in [
            json!(null),
            json!([1]),
            json!({"changes": {"a": 1}}),
            json!({"changes": "x"}),
        ] {
            assert!(history(&odd).is_empty(), "{odd}");
        }
    }
}
