//! The content of documents that were changed recently, so that a commit does not replay the log. The log in the database
//! decides: an entry is used only if it has the version that the log has.

use std::collections::HashMap;

use domain::document_log::DocumentLog;
use domain::id::DocumentId;
use rich_text::Node;

use super::commits;
use common::error::Result;
use db::ReadTx;

/// The maximum number of documents.
const DOCUMENTS_MAX: usize = 256;
/// The maximum size of all documents together, in units of the document model.
const SIZE_MAX: usize = 16_000_000;

/// Content by document and generation. Cloning is cheap, because content is shared.
#[derive(Debug, Clone, Default)]
pub struct OpenDocuments {
    contents: HashMap<(DocumentId, i64), CachedContent>,
    size: usize,
    uses: u64,
}

#[derive(Debug, Clone)]
struct CachedContent {
    version: i64,
    content: Node,
    used: u64,
}

impl OpenDocuments {
    /// Returns the content of a log at its head.
    pub fn content(&mut self, tx: &mut ReadTx<'_>, log: &DocumentLog) -> Result<Node> {
        let key = (log.document_id.clone(), log.generation);
        if let Some(open) = self.contents.get(&key).cloned() {
            if open.version == log.version {
                return Ok(open.content);
            }
            // Another instance appended commits.
            if open.version < log.version {
                let missing = tx.commits_since(&log.document_id, log.generation, open.version, i64::MAX)?;
                return commits::apply(open.content, &commits::parse_stored(&missing)?);
            }
        }
        commits::content(tx, log)
    }

    /// Records the content of a log at a version.
    pub fn insert(&mut self, log: &DocumentLog, version: i64, content: Node) {
        self.uses += 1;
        let key = (log.document_id.clone(), log.generation);
        let size = content.content_size();
        let open = CachedContent {
            version,
            content,
            used: self.uses,
        };
        let former = self.contents.insert(key, open);
        self.size += size;
        self.size -= former.map_or(0, |former| former.content.content_size());
        while self.contents.len() > DOCUMENTS_MAX || (self.size > SIZE_MAX && self.contents.len() > 1) {
            let oldest = self.contents.iter().min_by_key(|(_, open)| open.used);
            let Some(key) = oldest.map(|(key, _)| key.clone()) else {
                return;
            };
            let removed = self.contents.remove(&key);
            self.size -= removed.map_or(0, |removed| removed.content.content_size());
        }
    }
}
