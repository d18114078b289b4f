//! What is left to do when a document is frozen by a hand-in or a lock: the editors that may still be open are asked for
//! what they have. The row has changed already, so nothing here can be forgotten without the freeze itself.

use model::document::Document;
use model::document_kind::DocumentType;
use model::id::DocumentId;
use model::save::DocumentKey;

use super::saves::nonce;
use crate::document_server::DocumentServer;
use crate::error::Result;
use crate::store::Scope;
use crate::store::saves::EditingSession;

/// One session of a document that may still be open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Freeze {
    /// The document.
    pub document: DocumentId,
    /// The generation of the session's key.
    pub generation: i64,
    /// The key as the document server knows it.
    pub key: String,
    /// The words that come back with the save we ask for.
    pub nonce: String,
}

/// The sessions of a document that has just been frozen: the one people could join until now, and those known to be open.
pub fn freezes(
    scope: &mut Scope<'_>,
    document: &Document,
    former_key: Option<DocumentKey>,
    server: &DocumentServer,
) -> Result<Vec<Freeze>> {
    let sessions = scope.editing_sessions(&document.id)?;
    Ok(freezes_of(document, former_key, &sessions, server))
}

/// The same, when the sessions are at hand.
pub fn freezes_of(
    document: &Document,
    former_key: Option<DocumentKey>,
    sessions: &[EditingSession],
    server: &DocumentServer,
) -> Vec<Freeze> {
    // PDFs are opened for reading only, and without a document server nothing is open.
    if document.document_type == DocumentType::Pdf || !server.is_configured() {
        return Vec::new();
    }
    let frozen_at = document.frozen_at().unwrap_or(document.updated_at);
    let former = former_key.map(|key| (key.generation, server.key(&key)));
    let open = sessions.iter().filter(|session| session.document_id == document.id);
    let open = open.filter(|session| session.generation < document.generation);
    let mut keys: Vec<(i64, String)> = former
        .into_iter()
        .chain(open.map(|session| (session.generation, session.document_key.clone())))
        .collect();
    keys.sort();
    keys.dedup();
    let freeze = |(generation, key)| Freeze {
        document: document.id.clone(),
        generation,
        key,
        nonce: nonce(frozen_at),
    };
    keys.into_iter().map(freeze).collect()
}
