//! What the document server tells about a session, said by meaning. A notice is built from verified claims only; what
//! follows from it is decided elsewhere.

use std::collections::BTreeSet;

use model::id::UserId;
use model::save::{DocumentKey, History, HistoryChange};
use model::time::Timestamp;
use serde_json::Value;

use super::DocumentServer;
use super::result_path::ResultPath;
use super::token::CallbackClaims;

/// One notice.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// Somebody joined or left; these edit now.
    Editing {
        /// The editors.
        users: Vec<UserId>,
        /// Those who joined with this notice.
        joined: Vec<UserId>,
        /// Those who left with it.
        left: Vec<UserId>,
    },
    /// A file to be stored.
    Save(SaveNotice),
    /// The last editor left and nothing had changed.
    Closed,
    /// The document server could not put the file together; it keeps the changes as long as nobody says "fine".
    Failed {
        /// A damaged result, worth keeping beside the document.
        partial: Option<ResultPath>,
        /// What we said with the command that forced it.
        nonce: Option<String>,
    },
    /// A save whose address is none: nothing can be fetched from it.
    Unusable,
    /// Something that concerns no content.
    Other,
}

/// A file to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct SaveNotice {
    /// Whether it is no news but what the document server kept when nobody took it: older than whatever came since.
    pub is_forgotten: bool,
    /// Whether the session is over or goes on.
    pub is_final: bool,
    /// Where the file is.
    pub result: ResultPath,
    /// The extension the document server gave it.
    pub file_type: Option<String>,
    /// When its last change was made.
    pub last_save: Option<Timestamp>,
    /// Whether an earlier forced save had everything already.
    pub not_modified: bool,
    /// The last author.
    pub author: Option<UserId>,
    /// Everybody who wrote in it.
    pub editors: Vec<UserId>,
    /// Who changed what when, the last of it.
    pub history: History,
    /// What we said with the command that forced it.
    pub nonce: Option<String>,
}

impl SaveNotice {
    /// A result nobody says more about; the session goes on.
    pub fn of_result(result: ResultPath) -> Self {
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
    /// The session and the news of a notice; nothing when its key is none of ours.
    pub fn notice(&self, claims: CallbackClaims) -> Option<(DocumentKey, Notice)> {
        let key = self.parse_key(&claims.key)?;
        let result = claims.url.as_deref().and_then(|url| self.result_path(url));
        let notice = match claims.status {
            1 => Notice::Editing {
                joined: acted(&claims.actions, 1),
                left: acted(&claims.actions, 0),
                users: claims.users.unwrap_or_default().into_iter().map(UserId::new).collect(),
            },
            2 | 6 => match result {
                Some(result) => Notice::Save(save(claims, result)),
                None => Notice::Unusable,
            },
            3 | 7 => Notice::Failed {
                partial: result,
                nonce: claims.userdata.as_str().map(str::to_owned),
            },
            4 => Notice::Closed,
            _ => Notice::Other,
        };
        Some((key, notice))
    }
}

fn save(claims: CallbackClaims, result: ResultPath) -> SaveNotice {
    let users = claims.users.unwrap_or_default();
    let authors = users.iter().cloned().chain(authors(&claims.history));
    let editors: BTreeSet<String> = authors.collect();
    SaveNotice {
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

/// The people of the actions of this type.
fn acted(actions: &Value, kind: i64) -> Vec<UserId> {
    let actions = actions.as_array().into_iter().flatten();
    let own = actions.filter(|action| action.get("type").and_then(Value::as_i64) == Some(kind));
    own.filter_map(|action| Some(UserId::new(action.get("userid")?.as_str()?)))
        .collect()
}

/// The people a history names.
fn authors(history: &Value) -> Vec<String> {
    let changes = history.get("changes").and_then(Value::as_array);
    let ids = changes
        .into_iter()
        .flatten()
        .filter_map(|change| change.pointer("/user/id")?.as_str());
    ids.map(str::to_owned).collect()
}

/// The changes a notice tells of; what has another shape is left out.
fn history(claim: &Value) -> History {
    let changes = claim.get("changes").and_then(Value::as_array).into_iter().flatten();
    let version = claim.get("serverVersion").and_then(Value::as_str);
    History::bounded(version, changes.filter_map(change))
}

fn change(claim: &Value) -> Option<HistoryChange> {
    // "2026-11-22 05:00:00", which means UTC.
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
    fn a_history_is_kept_in_bounds_and_without_names() {
        let told = |number: usize| {
            json!({"created": format!("2026-11-22 05:{:02}:{:02}", number / 60, number % 60), "documentSha256": "x",
                "user": {"id": format!("u{number}"), "name": "Ben Student"}})
        };
        let mut changes: Vec<Value> = (0..250).map(told).collect();
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
