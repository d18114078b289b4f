//! What is left to do when a document is frozen by a hand-in or a lock: the editors that may still be open are asked for
//! what they have. The row has changed already, so nothing here can be forgotten without the freeze itself.

use model::document::Document;
use model::document_kind::DocumentType;
use model::id::DocumentId;
use model::save::DocumentKey;
use model::time::Timestamp;

use super::saves::nonce;
use crate::document_server::DocumentServer;
use crate::error::Result;
use crate::store::Work;
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
    /// Whether it was frozen just now: what the document server kept of a session that is over is from before then.
    pub is_new: bool,
}

/// The sessions of a document that has just been frozen: the one people could join until now, and those known to be open.
/// They are written down in the unit that freezes, so that the sweep asks them should this instance not come to it.
pub fn freezes(
    work: &mut Work<'_>,
    document: &Document,
    former_key: Option<DocumentKey>,
    server: &DocumentServer,
) -> Result<Vec<Freeze>> {
    let sessions = work.editing_sessions(&document.id)?;
    freezes_among(work, document, former_key, &sessions, server)
}

/// The same, when the sessions are at hand.
pub fn freezes_among(
    work: &mut Work<'_>,
    document: &Document,
    former_key: Option<DocumentKey>,
    sessions: &[EditingSession],
    server: &DocumentServer,
) -> Result<Vec<Freeze>> {
    let freezes = sessions_to_ask(document, former_key, sessions, server);
    for freeze in &freezes {
        let is_written = |session: &EditingSession| {
            session.document_id == freeze.document && session.generation == freeze.generation
        };
        if !sessions.iter().any(is_written) {
            work.expect_session(&freeze.document, freeze.generation, &freeze.key)?;
        }
    }
    Ok(freezes)
}

/// The sessions of a document that was frozen before and may not have been asked, because something came between.
pub fn unasked(document: &Document, sessions: &[EditingSession], server: &DocumentServer) -> Vec<Freeze> {
    let left = sessions_to_ask(document, None, sessions, server).into_iter();
    left.map(|freeze| Freeze {
        is_new: false,
        ..freeze
    })
    .collect()
}

/// One session of a former key that was silent for long.
pub fn silent(session: EditingSession, frozen_at: Timestamp) -> Freeze {
    Freeze {
        nonce: nonce(frozen_at),
        document: session.document_id,
        generation: session.generation,
        key: session.document_key,
        is_new: false,
    }
}

fn sessions_to_ask(
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
        is_new: true,
    };
    keys.into_iter().map(freeze).collect()
}
