//! What the document server tells about a session, said by meaning. A notice is built from verified claims only; what
//! follows from it is decided elsewhere.

use std::collections::BTreeSet;

use model::id::UserId;
use model::save::DocumentKey;
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
    /// What we said with the command that forced it.
    pub nonce: Option<String>,
}

impl DocumentServer {
    /// The session and the news of a notice; nothing when its key is none of ours.
    pub fn notice(&self, claims: CallbackClaims) -> Option<(DocumentKey, Notice)> {
        let key = self.parse_key(&claims.key)?;
        let result = claims.url.as_deref().and_then(|url| self.result_path(url));
        let notice = match claims.status {
            1 => Notice::Editing {
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
        nonce: claims.userdata.as_str().map(str::to_owned),
    }
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
